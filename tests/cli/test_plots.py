"""`--plot FILE.svg`: what the tables say, drawn."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.helpers.run import Cli, write, write_run

VALUES = ("--value", "0=.1", "--value", "1=.8", "--value", "2=1")
COMMANDS = {
    "compare": ("compare", "bm25-words", "rm3-words-title", "--qrels", "strict"),
    "curves": ("evaluate", "curves", "--qrels", "strict"),
    "sensitivity": ("sensitivity", "--qrels", "strict", "--depth", "5"),
    "variation": ("variation", "--qrels", "strict", *VALUES),
    "pairs": ("variation", "--qrels", "strict", *VALUES, "--by", "pair"),
    "replay": ("replay", "--qrels", "strict", "--depth", "5", "-s", "take", "-s", "mtf"),
    "topics": ("design", "topics", "--qrels", "strict"),
    "depth": ("design", "depth", "--qrels", "strict"),
}


def texts(file: str | Path) -> list[str]:
    """Return what is written in a drawing, from top to bottom in each of its parts."""
    root = ElementTree.parse(file).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", COMMANDS)
def test_drawing_stands_beside_the_tables(cli: Cli, judged: Path, name: str) -> None:
    """Tables are what they are without it, for programs too; the file needs no style of elsewhere."""
    plain = cli(*COMMANDS[name]).fine()
    drawn = cli(*COMMANDS[name], "--plot", "a.svg").fine()
    assert (drawn.out, drawn.err) == (plain.out, plain.err)
    assert cli(*COMMANDS[name], "--plot", "b.svg", "--format", "json").fine().json()
    first = (judged / "a.svg").read_text("utf-8")
    assert first == (judged / "b.svg").read_text("utf-8")
    assert "var(" not in first
    assert len(texts("a.svg")) > 5
    ids = re.findall(r'id="([^"]+)"', first)
    assert len(ids) == len(set(ids))


def test_bars_are_the_changes_the_largest_first(cli: Cli, judged: Path) -> None:
    """A label and its number a row."""
    cli(*COMMANDS["sensitivity"], "--plot", "a.svg").fine()
    rows = cli(*COMMANDS["sensitivity"], "--format", "json").fine().json()
    rows.sort(key=lambda row: -row["change"])
    said = [text for text in texts("a.svg") if re.fullmatch(r"[a-z].*-.*|\d\.\d{4}", text)]
    assert said == [text for row in rows for text in (row["run"], f"{row['change']:.4f}")]


def test_six_lines_are_drawn_in_one_field(cli: Cli, judged: Path) -> None:
    """More strategies than that are several fields, each with its own legend."""
    names = ("take", "rrf", "borda", "mtf", "hedge", "max-mean", "mm-ns")
    options = [word for name in names for word in ("-s", name)]
    cli("replay", "--qrels", "strict", "--depth", "5", *options, "--plot", "a.svg").fine()
    assert texts("a.svg").count("judgements per topic") == 2
    assert set(names) <= {*texts("a.svg")}
    cli("replay", "--qrels", "strict", "--depth", "5", "-s", "take", "--plot", "b.svg").fine()
    assert texts("b.svg")[0] == "Relevant documents found: take"
    cli(*COMMANDS["curves"], "--plot", "c.svg").fine()
    said = texts("c.svg")
    assert "Precision by recall, the 6 best of 9 runs by mean precision" in said


def test_differences_are_drawn_beside_the_normal_curve(cli: Cli, judged: Path) -> None:
    """Of two runs; where there is no curve nothing is written, and that is said."""
    cli(*COMMANDS["compare"], "--plot", "a.svg").fine()
    said = texts("a.svg")
    assert "normal curve of the same mean and variance" in said
    assert any(text.startswith("The two curves are at most ") for text in said)
    write(judged / "q", "1 0 a 1", "2 0 b 0")
    files = [write_run(judged, name, {"1": "a", "2": "b"}) for name in "xy"]
    told = cli("compare", "--qrels", "./q", *files, "--plot", "b.svg").fine().err
    assert "b.svg: not written, since there is nothing to draw" in told
    assert not (judged / "b.svg").exists()


def test_a_drawing_replaces_a_drawing_alone(cli: Cli, judged: Path) -> None:
    """Any other file is refused before any work, by its name or by what is in it."""
    cli(*COMMANDS["sensitivity"], "--plot", "a.svg").fine()
    cli(*COMMANDS["sensitivity"], "--plot", "a.svg").fine()
    assert (judged / "a.svg").stat().st_mode & 0o077 == 0o044
    mine = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    (judged / "notes.svg").write_text(mine, "utf-8")
    for name, words in (
        ("notes.svg", "must be new, or a drawing that pooler made"),
        ("runs/bm25-words.run", "must be a file whose name ends in .svg"),
        ("gone/a.svg", "there is no folder gone"),
    ):
        assert words in cli(*COMMANDS["sensitivity"], "--plot", name).failed(1).err
    assert (judged / "notes.svg").read_text("utf-8") == mine
