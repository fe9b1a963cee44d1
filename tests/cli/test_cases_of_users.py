"""Users' files through every command that joins or reads them: refused, or warned of, in the same words."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli, by_rule, qrels_of, write

RUN = b"1 Q0 d1 1 2 r\n1 Q0 d2 2 1 r\n"
FORM = "documents whose docnos differ only in Unicode normal form (NFC, NFD): 1"
EXCHANGED = "ranks and scores look exchanged"


def zipped(content: bytes) -> bytes:
    """Return an archive of one file."""
    with zipfile.ZipFile(archive := io.BytesIO(), "w") as made:
        made.writestr("x.run", content)
    return archive.getvalue()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (RUN, None),
        (gzip.compress(RUN[:14]) + gzip.compress(RUN[14:]), None),
        (bz2.compress(RUN), None),
        (gzip.compress(RUN)[:-9], "gzip data ends too early: the file is truncated"),
        (gzip.compress(RUN) + b"rest", "gzip data is damaged"),
        (bz2.compress(RUN)[:-9], "bz2 data ends too early: the file is truncated"),
        (zipped(RUN), "expected text, got a zip archive"),
    ],
    ids=["plain", "two gzips", "bz2", "cut gzip", "gzip and more", "cut bz2", "zip"],
)
@pytest.mark.parametrize("name", ["x.run", "x.gz", "x.bz2", "x.zip"])
def test_what_is_packed_is_known_by_what_it_is(
    content: bytes, fault: str | None, name: str, cli: Cli, here: Path
) -> None:
    """Whatever its name says: read whole, or refused with what it is."""
    (here / name).write_bytes(content)
    answer = cli("pool", name)
    if fault is None:
        assert answer.fine().out == "1 d1\n1 d2\n"
    else:
        assert answer.failed(1).err.startswith(f"error: {name}:")
        assert fault in answer.err


@pytest.mark.parametrize(
    "text",
    [
        "file\ttag\r\nruns\\x.run\tr\r\n",
        "\ufefffile\ttag\r\nruns/x.run\tr\r\n",
        "file,tag\nruns/x.run,r\n",
        '"tag","file"\r\n"r","runs\\x.run"\r\n',
    ],
)
def test_a_list_of_windows_names_its_runs(text: str, cli: Cli, here: Path) -> None:
    """Read by every command that takes one; a run that is not there is named with its line."""
    (here / "runs").mkdir()
    (here / "runs/x.run").write_bytes(RUN.replace(b"\n", b"\r\n"))
    (here / "list").write_bytes(text.encode())
    assert "runs/x.run: ok: run r, 1 topic, 2 documents" in cli("check", "--runs", "list").fine().out
    assert cli("pool", "--runs", "list").fine().out == "1 d1\n1 d2\n"
    (here / "list").write_bytes(text.replace("x.run", "none.run").encode())
    for command in ("check", "pool"):
        told = cli(command, "--runs", "list").failed(1).err
        assert told.startswith("error: list:2: there is no run file `runs")


@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        (["101 Q0 d 1 1 r"], ["101.1 0 d 1"], "without a part `.N` at the end, 1 of 1 would meet"),
        (["1 Q0 d 1 1 r"], ["001 0 d 1"], "without leading zeros, 1 of 1 would meet"),
        (["1 Q0 FT-1.txt 1 1 r"], ["1 0 FT-1 1"], "without an ending such as `.txt`, 1 of 1 would meet"),
        (["1 Q0 ft-1 1 1 r"], ["1 0 FT-1 1"], "in one case, 1 of 1 would meet"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "evaluate",
        "compare --runs",
        "diagnose",
        "replay",
        "sensitivity --depth 1",
        "qrels diff ./q ./q",
        "paper",
    ],
)
def test_runs_and_qrels_that_do_not_meet_are_refused_by_every_command(
    run: list[str], qrels: list[str], words: str, command: str, cli: Cli, here: Path
) -> None:
    """None gives the numbers of runs of which nothing is judged."""
    write(here / "x.run", *run)
    write(here / "y.run", *(line.replace(" r", " s") for line in run))
    write(here / "list", "file", "x.run", "y.run")
    write(here / "q", *qrels)
    files = ["list"] if command.endswith("--runs") else ["x.run", "y.run"]
    qrels_option = () if command == "qrels diff ./q ./q" else ("--qrels", "./q")
    told = cli(*command.split(), *files, *qrels_option).failed(1).err
    assert "error: no " in told
    assert words in told


@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        (["1 Q0 d1 1 2 r", "03 Q0 d1 1 2 r"], ["1 0 d1 1", "3 0 d1 1"], "1 of 1 would meet (`03` and `3`)"),
        (["1 Q0 cafe\u0301 1 2 r", "1 Q0 b 2 1 r"], ["1 0 caf\u00e9 1", "1 0 b 1"], FORM),
        (["1 Q0 d1 9.5 1 r", "1 Q0 d2 9.1 2 r", "1 Q0 d3 8.7 3 r"], ["1 0 d1 1"], EXCHANGED),
        (["1 Q0 d1 1 2 r"], ["1,d1,1"], "columns between commas"),
    ],
)
def test_what_is_warned_of_is_in_json_and_python_too(
    run: list[str], qrels: list[str], words: str, cli: Cli, here: Path
) -> None:
    """One line on stderr, one of `warnings` of either; `diagnose` joins the same and says the same."""
    write(here / "x.run", *run)
    write(here / "q", *qrels)
    for command in (("evaluate", "-m", "AP"), ("diagnose",)):
        answer = cli(*command, "x.run", "--qrels", "./q", "--format", "json").fine()
        found = [one for one in json.loads(answer.out)["warnings"] if words in one]
        assert len(found) == 1
        assert f"warning: {found[0]}\n" in answer.err
    for measure in (p.evaluate, p.diagnose):
        told = measure(p.source("x.run", qrels="./q")).warnings
        assert [one for one in told if words in one] == found


def test_look_alikes_are_warned_of_wherever_files_are_joined(cli: Cli, here: Path) -> None:
    """Runs with runs, and judges' files with judges' files; a file with itself has none."""
    for name, docno in (("nfc", "caf\u00e9"), ("nfd", "cafe\u0301")):
        write(here / f"{name}.run", f"1 Q0 {docno} 1 2 {name}", f"1 Q0 b 2 1 {name}")
        write(here / f"{name}.qrels", f"1 0 {docno} 1", "1 0 b 1")
    for command, kind in (
        ("pool", "run"),
        ("diagnose --depth 5", "run"),
        ("agreement", "qrels"),
        ("qrels diff", "qrels"),
        ("export qrels --level 1 --aggregate max", "qrels"),
    ):
        files = (
            qrels_of(f"nfc.{kind}", f"nfd.{kind}")
            if command == "agreement"
            else (f"nfc.{kind}", f"nfd.{kind}")
        )
        answer = cli(*command.split(), *files).fine()
        assert answer.err.count(FORM) == 1, command
    write(here / "nfc2.qrels", "1 0 caf\u00e9 0", "1 0 b 1")
    for command in ("qrels diff", "export qrels --level 1 --aggregate max"):
        assert FORM not in cli(*command.split(), "nfc.qrels", "nfc2.qrels").fine().err
    assert FORM not in cli("agreement", *qrels_of("nfc.qrels", "nfc2.qrels")).fine().err


def test_qrels_that_pooler_writes_for_beir_are_read_by_every_command(cli: Cli, judged: Path) -> None:
    """With their header and three columns they say what the qrels of four do."""
    by_rule(cli, "export", "collection", "made", "--as", "beir", "--judge", "strict").fine()
    (beir,) = (judged / "made").rglob("*.tsv")
    plain = judged / "judgements/strict.qrels"
    assert beir.read_text("utf-8").startswith("query-id\tcorpus-id\tscore\n")
    for command in ("evaluate runs/bm25-words.run --qrels", "export qrels --level 1"):
        ours, theirs = (cli(*command.split(), file).fine().out for file in (beir, plain))
        assert sorted(ours.splitlines()) == sorted(theirs.splitlines())
    counts = cli("qrels", "diff", plain, beir, "--format", "json").fine().json()["summary"]
    assert {one["what"] for one in counts if one["documents"]} <= {"same", "same but for the iteration"}


def test_what_is_read_once_is_joined_too(cli: Cli, here: Path) -> None:
    """A run of standard input is compared with the qrels, and counted."""
    write(here / "q", "1 0 d1 1")
    words = ("diagnose", "-", "--qrels", "./q", "-N", "9", "--table", "contributions", "--format", "tsv")
    rows = cli(*words, stdin=RUN).fine().tsv()
    assert (rows[0]["run"], rows[0]["documents"], rows[0]["unique_relevant"]) == ("r", "2", "1")
