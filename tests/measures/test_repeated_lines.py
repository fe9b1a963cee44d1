"""Qrels that a command is given: what a line says twice counts once, and two grades are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.run import GARDEN, Cli, qrels_of

STRICT = GARDEN / "judgements" / "strict.qrels"
RUNS = tuple(str(GARDEN / "runs" / f"{tag}.run") for tag in ("bm25-words", "tfidf-words"))
GIVEN = ("--qrels", "./q", *RUNS)
COMMANDS = [
    ("evaluate", *GIVEN),
    ("evaluate", *GIVEN, "--scale", "0-2"),
    ("compare", *GIVEN),
    ("sensitivity", *GIVEN, "--depth", "5"),
    ("diagnose", *GIVEN),
    ("variation", *GIVEN, "--value", "0=0", "--value", "1=.5", "--value", "2=1"),
    ("pool", "next", *GIVEN, "--value", "0=0", "--value", "1=.5", "--value", "2=1"),
    ("replay", *GIVEN, "-s", "take", "--depth", "10"),
    ("diagnose", *GIVEN, "--depth", "5", "--table", "contributions"),
    ("qrels", "diff", "./q", STRICT),
    ("export", "qrels", "./q", "--level", "1"),
    ("agreement", *qrels_of("./q", STRICT)),
]


def repeated(folder: Path, *more: str) -> int:
    """Write the sample's judgements and more lines to `q`; return the number of the first line."""
    lines = STRICT.read_text("utf-8").splitlines()
    (folder / "q").write_text("\n".join([*lines, *more]) + "\n", "utf-8")
    return len(lines) + 1


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_lines_that_say_what_an_earlier_one_says_count_once(
    command: tuple[str, ...], cli: Cli, here: Path
) -> None:
    """The result is that of the file without them, and they are told once."""
    repeated(here)
    plain = cli(*command).fine()
    assert "not counted" not in plain.err
    lines = STRICT.read_text("utf-8").splitlines()
    number = repeated(here, lines[3], lines[0], lines[3])
    told = cli(*command).fine()
    assert told.out == plain.out
    words = f"./q: 3 lines not counted (first: line {number}): repeats of another line\n"
    assert told.err.count(words) == told.err.count("not counted") == 1
    is_evaluator = command[0] not in ("export", "agreement")
    assert (f"warning: {words}" in told.err) == is_evaluator


@pytest.mark.parametrize("options", [(), ("--scale", "0-1")], ids=["codes", "scale"])
def test_two_grades_of_a_document_are_refused_with_all_other_faults(
    options: tuple[str, ...], cli: Cli, here: Path
) -> None:
    """Each is told with its line and the line it contradicts; what is alike is no fault."""
    lines = ("1 0 a 1", "1 0 b 0", "1 0 a 1", "1 0 a 0", "1 0 c", "1 0 b 1", "1 0 d 2")
    (here / "q").write_text("\n".join(lines) + "\n")
    told = cli("evaluate", *GIVEN, *options).failed(1).err
    places = re.findall(r"^(?:error: )?./q:([0-9]+): ", told, re.MULTILINE)
    assert places == ["4", "5", "6"] + (["7"] if options else [])
    assert "docno `a` with grade 0; line 1 has it with grade 1" in told
    assert "docno `b` with grade 1; line 2 has it with grade 0" in told
    assert "not counted" not in told
    assert ("--scale declares" in told) == bool(options)
