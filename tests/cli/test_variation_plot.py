"""`pooler variation --plot`: runs by expected MAP, and how likely they change places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.run import Cli, write, write_run

PASSED = "passed: how likely judging again is to put the run below above this one"


def plotted(cli: Cli, *options: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the lines of the plot below what the command says without, and the table's rows."""
    plain = cli("variation", *options).fine().out
    drawn = cli("variation", *options, "--plot").fine().out
    assert drawn.startswith(f"{plain}\n")
    rows: list[dict[str, Any]] = cli("variation", *options, "--format", "json").fine().json()
    return drawn.removeprefix(f"{plain}\n").splitlines(), rows


def test_dots_and_intervals_are_those_of_the_table(cli: Cli, judged: Path) -> None:
    """From the lowest low to the highest high are 52 columns; the highest mean comes first.

    80 columns less a label of 18, its gap of 2, and a note of 6 with its gap of 2 are 52. What
    passes a run is what `--pairs` says of it and the next.
    """
    lines, rows = plotted(cli)
    assert lines[:2] == ["Expected MAP", f"{'run':74}passed"]
    rows.sort(key=lambda row: -row["mean"])
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    pairs = cli("variation", "--pairs", "--format", "json").fine().json()
    reversed_of = {frozenset((pair["a"], pair["b"])): pair["reversed"] for pair in pairs}
    for place, row in enumerate(rows):
        line = lines[2 + place]
        area = [" "] * 52
        ends = [int((row[name] - low) / (high - low) * 51 + 0.5) for name in ("low", "high")]
        area[ends[0] : ends[1] + 1] = "-" * (ends[1] + 1 - ends[0])
        area[ends[0]], area[ends[1]] = "[", "]"
        area[int((row["mean"] - low) / (high - low) * 51 + 0.5)] = "o"
        assert line[:72] == f"{row['run']:20}{''.join(area)}"
        following = rows[place + 1]["run"] if place + 1 < len(rows) else None
        chance = reversed_of[frozenset((row["run"], following))] if following else None
        expected = "-" if chance is None else "<.01" if chance < 0.01 else f"{chance:.2f}"
        assert line[72:].strip() == expected
    assert lines[-2:] == ["o expected MAP  [---] low to high, about 95% of outcomes", PASSED]
    assert all(line.isascii() and len(line) <= 80 for line in lines)


def test_one_run_is_passed_by_none(cli: Cli, judged: Path) -> None:
    """A run alone has its interval, and no words about others."""
    lines, _ = plotted(cli, "bm25-words")
    assert lines[2].split()[0] == "bm25-words"
    assert lines[2].endswith("  -")
    assert "o expected MAP  [---] low to high, about 95% of outcomes" in lines
    assert lines[-1].startswith("The two curves are at most ")


def test_bars_of_pairs_are_their_probabilities(cli: Cli, judged: Path) -> None:
    """Every pair that is listed has a bar, the most likely to turn about first."""
    lines, rows = plotted(cli, "--pairs", "bm25-words", "tfidf-words", "lm-words-full")
    assert lines[0] == "How likely judging again is to put the second run above the first"
    assert lines[1].split() == ["pair", "reversed"]
    rows.sort(key=lambda row: -row["reversed"])
    top = rows[0]["reversed"]
    for line, row in zip(lines[2:-2], rows, strict=True):
        assert line.startswith(f"{row['a']} > {row['b']}  ")
        assert line.endswith("  <.01" if row["reversed"] < 0.01 else f"  {row['reversed']:.2f}")
        # 80 columns less a label of 27, its gap of 2, and a note of 8 with its gap of 2 are 41.
        assert line.count("#") == int(row["reversed"] / top * 40 + 0.5)


def test_small_probabilities_have_short_bars(cli: Cli, judged: Path) -> None:
    """The axis reaches .05 where the probability of the pair does not."""
    lines, rows = plotted(cli, "--pairs", "bm25-words", "lm-words-full")
    (row,) = rows
    assert 0 < row["reversed"] < 0.05
    assert any(line.split()[-1:] == ["0.05"] for line in lines)
    bar = next(line for line in lines if line.startswith(f"{row['a']} >"))
    # 80 columns less a label of 26, its gap of 2, and a note of 8 with its gap of 2 are 42.
    assert bar.count("#") == int(row["reversed"] / 0.05 * 41 + 0.5)


def test_neighbours_keep_their_order(cli: Cli, judged: Path) -> None:
    """With --neighbours bars go down the order of the runs."""
    lines, rows = plotted(cli, "--pairs", "--neighbours")
    assert len(rows) == 8
    starts = [f"{row['a']} > {row['b']} "[:30] for row in rows]
    shown = [line[:30] for line in lines[2:-2] if " > " in line]
    assert [start.split()[0] for start in starts] == [line.split()[0] for line in shown]


def test_of_many_pairs_the_most_likely_are_drawn(cli: Cli, here: Path) -> None:
    """Of 66 pairs 45 have bars, and that is said; labels are folded by their width."""
    docnos = "abcdefghijkl"
    write(here / "q", *[f"1 0 {docno} {place % 2}" for place, docno in enumerate(docnos)])
    runs = [
        write_run(here, f"漬物石-{place:02}", {"1": docnos[place:] + docnos[:place]}) for place in range(12)
    ]
    options = ("--qrels", "q", *runs, "--value", "0=0.2", "--value", "1=0.7", "--pairs")
    lines, rows = plotted(cli, *options)
    assert len(rows) == 66
    assert lines[0] == ("How likely judging again is to put the second run above the first: the 45 most")
    assert lines[1] == "likely of 66 pairs"
    # Title and headings, the axis at both ends.
    assert len(lines) == 3 + 2 + 45 + 2
    drawn = [float(line.split()[-1]) for line in lines[5:-2]]
    assert drawn == sorted((round(row["reversed"], 2) for row in rows), reverse=True)[:45]


@pytest.mark.parametrize("options", [(), ("--pairs",)])
def test_plot_is_for_people(cli: Cli, judged: Path, options: tuple[str, ...]) -> None:
    """Programs are refused as by `replay`."""
    refused = cli("variation", *options, "--plot", "--format", "json").failed(1)
    assert "`--plot` needs --format table, but got 'json'" in refused.err
