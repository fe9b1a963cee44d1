"""`pooler export qrels`, and back: letters in two files, and levels in one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.run import Cli, by_rule, write

LINES = ["2 0 d1 3", "2 0 d2 2", "10 0 d1 1", "10 0 d0 0"]

RIGID = "2\tS\td1\t1\n2\tA\td2\t1\n10\tC\td0\t0\n10\tB\td1\t0\n"
"""By hand of `LINES`: S and A are relevant; topics in natural order, docnos bytewise."""

RELAXED = "2\tS\td1\t1\n2\tA\td2\t1\n10\tC\td0\t0\n10\tB\td1\t1\n"
LEVELS = "2 d1 L3\n2 d2 L2\n10 d0 L0\n10 d1 L1\n"


@pytest.fixture
def lettered(here: Path, collection_of: Callable[..., None]) -> Path:
    """Work beside a collection of the scale of NTCIR, one judge in it."""
    collection_of("ntcir", me=LINES)
    return here


def test_letters_go_into_two_files(cli: Cli, lettered: Path) -> None:
    """The rigid and the relaxed file differ in the last column; the manifest has both hashes."""
    told = cli("export", "qrels", "--as", "ntcir2", "--out", "n").fine()
    assert (lettered / "n.rigid").read_text("utf-8") == RIGID
    assert (lettered / "n.relaxed").read_text("utf-8") == RELAXED
    assert "4 documents judged (1 x 0, 1 x 1, 1 x 2, 1 x 3); judge me" in told.err
    facts = json.loads((lettered / "n.manifest.json").read_text("utf-8"))
    assert facts["files"] == [
        {"reading": name, "level": level, "sha256": hashlib.sha256(text.encode()).hexdigest()}
        for name, level, text in (("rigid", 2, RIGID), ("relaxed", 1, RELAXED))
    ]
    assert (facts["rule"], facts["judged"]) == ("single judge", 4)
    assert facts["letters"] == {"0": "C", "1": "B", "2": "A", "3": "S"}
    again = cli("export", "qrels", "--as", "ntcir2", "--out", "n").fine().err
    assert "n.rigid: replaced an earlier result (single judge me)" in again
    assert "n.relaxed: replaced an earlier result (single judge me)" in again


@pytest.mark.parametrize(
    ("form", "name", "content"),
    [("ntcir2", "rigid", RIGID), ("ntcir2", "relaxed", RELAXED), ("ntcireval", "levels", LEVELS)],
)
def test_files_come_back_byte_for_byte(cli: Cli, here: Path, form: str, name: str, content: str) -> None:
    """A file that is imported and exported has its bytes again; its grades are the scale's."""
    cli("init", "--scale", "ntcir").fine()
    (here / "in").write_text(content, "utf-8", newline="")
    cli("import", "judgements", "in", "--as", form, "--judge", "me").fine()
    assert cli("export", "qrels").fine().out == "2 0 d1 3\n2 0 d2 2\n10 0 d0 0\n10 0 d1 1\n"
    cli("export", "qrels", "--as", form, "--out", "out").fine()
    out = "out" if form == "ntcireval" else f"out.{name}"
    assert (here / out).read_bytes() == content.encode()


def test_levels_go_to_stdout_and_may_be_sums(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Two judges' grades 0 to 2 give L0 to L4, as in the NTCIR WWW tasks."""
    collection_of(a=["1 0 d1 2", "1 0 d2 1", "1 0 d3 0"], b=["1 0 d1 2", "1 0 d2 2", "1 0 d3 0"])
    told = by_rule(cli, "export", "qrels", "--as", "ntcireval", "--aggregate", "sum").fine()
    assert told.out == "1 d1 L4\n1 d2 L3\n1 d3 L0\n"
    assert "sum of 2 judges" in told.err
    majority = ("--aggregate", "majority", "--ties", "unresolved")
    told = by_rule(cli, "export", "qrels", "--as", "ntcireval", *majority).fine()
    assert told.out == "1 d1 L2\n1 d3 L0\n"
    assert "1 document left out: undecided" in told.err


def test_rounds_that_are_not_written_are_told(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Judging rounds have no place in these files, and stderr says so."""
    collection_of(me=["1 1 d1 2", "1 2 d2 1"])
    told = cli("export", "qrels", "--as", "ntcireval").fine().err
    assert "these files cannot say which of 2 rounds a document was judged in" in told


def test_scale_without_letters_is_refused(cli: Cli, here: Path, collection_of: Callable[..., None]) -> None:
    """Digits are no letters; the hint names scales that have them, and nothing is written."""
    collection_of(me=["1 0 d1 2"])
    refused = cli("export", "qrels", "--as", "ntcir2", "--out", "n").failed(1).err
    assert "`the scale` must have a letter for every grade, for NTCIR-2 files" in refused
    assert "; `pooler export qrels --as ntcir2 --letters CBA` names one a grade, lowest first" in refused
    assert "`pooler init --scale ntcir` makes a collection whose keys are letters" in refused
    write(here / "in", "1\tA\td1\t1")
    refused = cli("import", "judgements", "in", "--as", "ntcir2", "--judge", "x").failed(1).err
    assert "`the scale` must have a letter for every grade" in refused
    assert not list(here.glob("n.*"))


def test_letters_may_be_named_at_export(cli: Cli, here: Path, collection_of: Callable[..., None]) -> None:
    """On a scale of digits `--letters` says which letter each grade has, lowest first."""
    collection_of(me=["1 0 d1 2", "1 0 d2 1", "1 0 d3 0"])
    options = ("export", "qrels", "--as", "ntcir2", "--out", "n", "--letters")
    cli(*options, "cBA").fine()
    assert (here / "n.rigid").read_text("utf-8") == "1\tA\td1\t1\n1\tB\td2\t0\n1\tC\td3\t0\n"
    facts = json.loads((here / "n.manifest.json").read_text("utf-8"))
    assert facts["letters"] == {"0": "C", "1": "B", "2": "A"}
    for letters in ("CB", "CBAS", "CBb", "CB1", "CBÄ", ""):
        refused = cli(*options, letters).failed(1).err
        assert "`--letters` must be 3 different letters, one for each of 0, 1, 2" in refused
    refused = cli("export", "qrels", "--as", "ntcireval", "--letters", "CBA").failed(1).err
    assert "`--letters` is for --as ntcir2" in refused


def test_what_the_rule_decided_and_left_out_is_told(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """The tie rule, skips and documents with fewer votes are on stderr, as of `export qrels`."""
    collection_of(a=["1 0 d1 2", "1 0 d2 1"], b=["1 0 d1 0"])
    cli("judges", "add", "anna").fine()
    write(here / "s", json.dumps({"topic": "1", "docno": "d9", "judge": "anna", "state": "skipped",
          "grade": None, "reason": "", "note": "", "iteration": "0"}))  # fmt: skip
    cli("import", "judgements", "s", "--as", "jsonl", "--allow-unknown").fine()
    rule = ("--aggregate", "majority", "--ties", "high", "--kinds", "human,imported")
    told = by_rule(cli, "export", "qrels", "--as", "ntcireval", *rule).fine()
    assert told.out == "1 d1 L2\n1 d2 L1\n"
    assert "majority of 2 judges (1 to 2 votes a document), ties high" in told.err
    assert "the tie rule decided 1 of them" in told.err
    assert "left out: 1 skipped, 0 cannot be judged" in told.err


def test_negative_grades_are_no_levels(cli: Cli, here: Path, collection_of: Callable[..., None]) -> None:
    """A grade below 0 cannot be an L-code."""
    write(here / "s.toml", "relaxed = 1", *(f'[[grade]]\nvalue = {one}\nlabel = "x"'
                                            for one in (-2, 0, 1)))  # fmt: skip
    collection_of("s.toml", me=["1 0 d1 -2", "1 0 d2 1"])
    refused = cli("export", "qrels", "--as", "ntcireval", "--out", "n").failed(1).err
    assert "`grade` cannot be written as a level L0 to Ln when it is negative, but got [-2]" in refused
    assert not (here / "n").exists()


def test_options_that_cannot_be_are_refused(cli: Cli, lettered: Path) -> None:
    """NTCIR-2 needs a name for its two files, and grades of the scale; no file is harmed."""
    for out in ([], ["--out", "-"]):
        refused = by_rule(cli, "export", "qrels", "--as", "ntcir2", *out).failed(1).err
        assert "`--out` must be given with --as ntcir2" in refused
    options = ("--as", "ntcir2", "--out", "n")
    refused = by_rule(cli, "export", "qrels", *options, "--aggregate", "sum").failed(1).err
    assert "`--as` must be defined with --relaxed and --rigid: a sum has no letter of the scale" in refused
    write(lettered / "n.relaxed", "mine")
    assert "n.relaxed: already exists" in by_rule(cli, "export", "qrels", *options).failed(1).err
    assert (lettered / "n.relaxed").read_text("utf-8") == "mine\n"
    assert not (lettered / "n.rigid").exists()


def test_binary_scale_with_letters_has_no_rigid_file(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Where one grade alone is relevant there is no rigid reading, and no pair of files."""
    write(here / "s.toml", *(f'[[grade]]\nvalue = {value}\nlabel = "x"\nkey = "{key}"'
                             for value, key in ((0, "b"), (1, "a"))))  # fmt: skip
    collection_of("s.toml", me=["1 0 d1 1"])
    refused = cli("export", "qrels", "--as", "ntcir2", "--out", "n").failed(1).err
    assert "`--level` must be relaxed on a scale with one relevant grade" in refused
