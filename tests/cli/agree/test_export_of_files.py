"""`pooler export qrels FILE...`: what it writes of the same judgements in a collection."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests import cf_collection
from tests.cli.agree.test_agreement_of_files import FILES, filled
from tests.helpers.run import GARDEN, JUDGES, Cli, Outcome, by_rule, read_lines, read_trec, run_inside, write

STRICT = GARDEN / "judgements" / "strict.qrels"


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import the three judges of the sample collection."""
    files = dict(zip(JUDGES, FILES, strict=True))
    return filled(tmp_path_factory.mktemp("garden"), "0-2", files)


def exported(folder: Path, *options: str) -> str:
    """Return what a collection exports."""
    place = ("--collection", folder / "collection.db")
    return by_rule(run_inside, "export", "qrels", *options, *place).fine().out


def refused(*arguments: str | Path) -> Outcome:
    """Export; return how it was refused."""
    answer = run_inside("export", "qrels", *arguments).failed(1)
    assert not answer.out
    return answer


@pytest.mark.parametrize("level", [1, 2])
def test_grades_from_the_level_on_become_1(level: int) -> None:
    """Every line of a file is there with 1 or 0, counted in plain sight, and nothing else."""
    answer = run_inside("export", "qrels", STRICT, "--level", str(level)).fine()
    rows = read_trec(STRICT, (0, 1, 2, 3))
    expected = {(topic, it, docno, str(int(int(grade) >= level))) for topic, it, docno, grade in rows}
    assert {tuple(line.split(" ")) for line in answer.out.splitlines()} == expected
    counts = Counter(int(row[3]) for row in rows)
    assert f"84 judgements ({counts[0]} x 0, {counts[1]} x 1, {counts[2]} x 2)" in answer.err
    n_relevant = sum(count for grade, count in counts.items() if grade >= level)
    assert f"84 documents judged ({84 - n_relevant} x 0, {n_relevant} x 1)" in answer.err


@pytest.mark.parametrize(
    "options",
    [
        ("--judge", "strict", "--level", "2"),
        ("--aggregate", "majority", "--ties", "low", "--level", "1"),
        ("--aggregate", "majority", "--ties", "unresolved", "--level", "1"),
        ("--aggregate", "majority", "--ties", "high", "--level", "2", "--binary-first"),
        ("--aggregate", "median", "--ties", "high", "--level", "rigid"),
        ("--aggregate", "mean", "--level", "relaxed"),
        ("--aggregate", "min", "--level", "1"),
        ("--aggregate", "max", "--level", "2", "--judge", "strict", "--judge", "lenient"),
        ("--aggregate", "sum", "--level", "4"),
        ("--aggregate", "dawid-skene", "--level", "1"),
    ],
    ids=" ".join,
)
def test_several_files_give_what_their_collection_exports(garden: Path, options: tuple[str, ...]) -> None:
    """Every rule, tie rule and order of collapsing gives the bytes that `export qrels` writes."""
    bare = run_inside("export", "qrels", *FILES, *options, "--scale", "0-2").fine()
    assert bare.out == exported(garden, *options)


def test_graded_aggregate_is_what_the_collection_exports(garden: Path) -> None:
    """`--graded` keeps the grades, as an export without a level does."""
    options = ("--aggregate", "median", "--ties", "low")
    bare = run_inside("export", "qrels", *FILES, *options, "--graded").fine()
    assert bare.out == exported(garden, *options)


@pytest.mark.slow
def test_cf_files_give_what_their_collection_exports(tmp_path: Path) -> None:
    """Four judges of 4,819 documents: two of four found relevant, the same bytes both ways."""
    files = cf_collection.write_qrels(tmp_path)
    filled(tmp_path, "0-2", dict(files))
    options = ("--aggregate", "majority", "--ties", "high", "--binary-first", "--level", "1")
    bare = run_inside("export", "qrels", *files.values(), *options).fine()
    assert bare.out == exported(tmp_path, *options)
    assert sum(line.endswith(" 1") for line in bare.out.splitlines()) == 2267


def test_several_levels_are_several_files(garden: Path, here: Path) -> None:
    """With {level} in --out every level is a file of its own, with a manifest that says how."""
    options = ("--aggregate", "median", "--ties", "low", "--graded", "--level", "1", "--level", "2")
    run_inside("export", "qrels", *FILES, *options, "--out", "q.{level}.txt").fine()
    place = ("--collection", garden / "collection.db")
    by_rule(run_inside, "export", "qrels", *options, "--out", "e.{level}.txt", *place).fine()
    for level in ("graded", "1", "2"):
        assert (here / f"q.{level}.txt").read_bytes() == (here / f"e.{level}.txt").read_bytes()
        made, there = (
            json.loads((here / f"{name}.{level}.txt.manifest.json").read_text("utf-8")) for name in "qe"
        )
        assert [file["judge"] for file in made.pop("files")] == list(JUDGES)
        assert there.pop("collection")
        assert made.pop("qrels") == "qrels"
        assert there.pop("qrels").startswith("ruled@")
        assert made == there
    assert "must contain {level}" in refused(*FILES, *options, "--out", "q.txt").err


def test_iterations_and_ids_survive_byte_for_byte(here: Path) -> None:
    """The second column stays; topics, docnos are text: 001 is not 1, NA and quotes are ids."""
    lines = ("001 0.5 NA 2", "1 2 'x\"y 0", "1 2 NA 1", "é 3 日本#2 2")
    write(here / "q.qrels", *lines)
    answer = run_inside("export", "qrels", here / "q.qrels", "--level", "2").fine()
    assert sorted(answer.out.splitlines()) == sorted(
        ["001 0.5 NA 1", "1 2 'x\"y 0", "1 2 NA 0", "é 3 日本#2 1"]
    )


def test_judges_of_different_rounds_leave_iteration_0(here: Path) -> None:
    """A document that two files have in different rounds has iteration 0, and they are counted."""
    a = write(here / "a.qrels", "1 1 d1 2", "1 1 d2 0")
    b = write(here / "b.qrels", "1 2 d1 1", "1 1 d2 1")
    answer = run_inside("export", "qrels", a, b, "--aggregate", "max", "--level", "1").fine()
    assert answer.out.splitlines() == ["1 0 d1 1", "1 1 d2 1"]
    assert "judged in different rounds: 1 document, iteration 0" in answer.err


def test_documents_pooled_and_not_judged_stay_so(here: Path) -> None:
    """A line with the code of unjudged documents becomes no grade; --unjudged writes it again."""
    a = write(here / "a.qrels", "1 0 d1 2", "1 7 d2 -1", "1 0 d3 -1")
    b = write(here / "b.qrels", "1 0 d1 1", "1 0 d3 0")
    one = run_inside("export", "qrels", a, "--level", "1", "--code", "-1=unjudged").fine()
    assert run_inside("export", "qrels", a, "--level", "1").fine().out == one.out
    assert one.out == "1 0 d1 1\n"
    assert "pooled and unjudged: 2 documents, left out" in one.err
    written = run_inside("export", "qrels", a, "--level", "1", "--code", "-1=unjudged", "--unjudged", "-1")
    assert written.fine().out.splitlines() == ["1 0 d1 1", "1 7 d2 -1", "1 0 d3 -1"]
    both = run_inside("export", "qrels", a, b, "--aggregate", "min", "--level", "1", "--code",
                      "-1=unjudged", "--unjudged", "-2").fine()  # fmt: skip
    assert both.out.splitlines() == ["1 0 d1 1", "1 7 d2 -2", "1 0 d3 0"]
    graded = run_inside("export", "qrels", a, "--level", "1", "--scale", "-1-2").fine()
    assert graded.out.splitlines() == ["1 0 d1 1", "1 7 d2 0", "1 0 d3 0"]


def test_skipped_and_unjudgeable_documents_are_left_out_and_counted(here: Path) -> None:
    """Documents without a grade in a file of states never become grade 0; rulings are not lost."""
    head = "topic\tdocno\tjudge\tkind\tstate\tgrade\treason\tnote\titeration"
    states = ("judged\t2", "skipped\t", "cannot\t", "unjudged\t")
    cells = [f"1\td{number}\tann\thuman\t{state}\t\t\t0" for number, state in enumerate(states, 1)]
    file = write(here / "all.tsv", head, *cells)
    answer = run_inside("export", "qrels", file, "--input", "tsv", "--level", "1").fine()
    assert answer.out == "1 0 d1 1\n"
    assert "1 skipped, 1 cannot be judged, 1 without a decision" in answer.err
    assert "left out: 1 skipped, 1 cannot be judged" in answer.err
    ruling = "1\td2\teve\tadjudicator\tjudged\t1\t\t\t0"
    file = write(here / "ruled.tsv", head, *cells, ruling)
    assert "--without-rulings" in refused(file, "--input", "tsv", "--level", "1").err
    without = run_inside("export", "qrels", file, "--input", "tsv", "--level", "1", "--without-rulings")
    assert without.fine().out == "1 0 d1 1\n"


def test_a_level_beyond_the_grades_needs_no_scale(here: Path) -> None:
    """Grades that happen not to reach the level, or all do, are no fault of the file."""
    write(here / "q.qrels", "1 0 d1 2", "1 0 d2 3")
    for level, relevant in (("1", "1 1"), ("3", "0 1"), ("5", "0 0")):
        answer = run_inside("export", "qrels", here / "q.qrels", "--level", level).fine()
        assert " ".join(line.split()[3] for line in answer.out.splitlines()) == relevant
        is_warned = f"warning: no document is relevant at level {level}" in answer.err
        assert is_warned is (level == "5")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*FILES, "--level", "1"), "28 documents undecided"),
        ((FILES[0], "--level", "rigid"), "needs a declared scale"),
        ((FILES[0], "--scale", "0-2", "--level", "3"), "at most 2"),
        ((FILES[0], "--scale", "0-1", "--level", "1"), "expected a grade of the scale (0, 1)"),
        ((*FILES, "--level", "1", "--aggregate", "majority"), "--ties"),
        ((*FILES, "--level", "1", "--judge", "nobody"), "unknown judge `nobody`"),
        ((*FILES, "--level", "1", "--aggregate", "max", "--judge", "strcit"), "`strict`"),
        ((FILES[0], FILES[0], "--level", "1", "--aggregate", "max"), "would both be judge"),
        ((FILES[0], "--level", "1", "--unjudged", "0"), "negative code"),
        (("gone.qrels", "--level", "1"), "no such file"),
        ((FILES[0], "--level", "1", "--out", "no/such/place"), "there is no folder"),
        ((FILES[0], "--binary-first"), "`--binary-first` must come with a level"),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_refused_in_a_line(here: Path, arguments: tuple[str, ...], words: str) -> None:
    """A wrong option is told in words, and no file is begun."""
    assert words in refused(*arguments).err
    assert not list(here.iterdir())


def test_a_qrels_file_is_never_replaced_by_its_collapse(cli: Cli, here: Path) -> None:
    """`--out` over the input is refused; over an earlier result it replaces that, and says so."""
    file = write(here / "q.qrels", "1 0 d1 2")
    before = read_lines(file)
    assert "not an earlier result" in refused(file, "--level", "1", "--out", file).err
    assert read_lines(file) == before
    for level in ("1", "2"):
        answer = cli("export", "qrels", file, "--level", level, "--out", "out.qrels").fine()
    assert "replaced an earlier result (single judge q, level 1)" in answer.err
    answer = cli("export", "qrels", "-", "--level", "1", stdin=file.read_bytes()).fine()
    assert answer.out == "1 0 d1 1\n"
