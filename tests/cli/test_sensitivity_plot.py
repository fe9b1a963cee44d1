"""`pooler sensitivity --plot`: what the table says of each run, on a line of numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.run import Cli, run, write, write_run
from tests.trec_covid import data_path

STRICT = ("--judge", "strict", "--depth", "5")


def plotted(cli: Cli, *options: str | Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the lines of the plot below what the command says without, and the table's rows."""
    plain = cli("sensitivity", *options).fine().out
    drawn = cli("sensitivity", *options, "--plot").fine().out
    assert drawn.startswith(f"{plain}\n")
    rows: list[dict[str, Any]] = cli("sensitivity", *options, "--format", "json").fine().json()
    return drawn.removeprefix(f"{plain}\n").splitlines(), rows


def test_bars_are_the_changes_the_largest_first(cli: Cli, judged: Path) -> None:
    """The last of 42 columns is the largest change; the others are in proportion, from a line at 0.

    80 columns less a label of 18, its gap of 2, and notes of 7 with gaps of 2 are 42.
    """
    lines, rows = plotted(cli, *STRICT)
    assert lines[0] == "Unjudged documents at rank 6 turned relevant: change of each run's MAP"
    assert lines[1].split() == ["run", "change", "swapped"]
    rows.sort(key=lambda row: -row["change"])
    top = rows[0]["change"]
    for line, row in zip(lines[2:-2], rows, strict=True):
        tag, bar, change, swapped = line.split()
        assert (tag, change) == (row["run"], f"{row['change']:+.4f}")
        assert (bar[0], swapped) == ("|", str(row["swapped"]))
        assert bar[1:] == "+" * int(row["change"] / top * 41 + 0.5)
    assert all(line.isascii() and len(line) <= 80 for line in lines)


def test_undefined_is_named_and_not_drawn(cli: Cli, here: Path) -> None:
    """A run without a relevant document has no AP of its own: words stand where a bar would.

    R being the run's own, x has AP 1, and 1 with another one at rank 2. Its tag is long, y's wide.
    """
    long, wide = "x" * 60, "京都大学の長い名前のラン" * 3
    write(here / "q", "1 0 a 1", "1 0 c 0")
    runs = [write_run(here, long, {"1": "ab"})]
    write(here / "y.run", *[f"1 Q0 {docno} {place} {-place} {wide}" for place, docno in
                            enumerate("cd", start=1)])  # fmt: skip
    options = ("--qrels", "q", *runs, "y.run", "--depth", "1", "--r", "own")
    lines, rows = plotted(cli, *options)
    assert [row["reason"] for row in rows].count("no-relevant") == 1
    [words] = [line for line in lines if "undefined: no-relevant" in line]
    assert words.startswith("京都大学")
    assert "o" not in words.replace("no-relevant", "")
    assert not {"+", "|", "["} & set(words)
    left = "".join(line.split(" ")[0] for line in lines)
    assert long in left
    assert wide in left


def test_terminals_give_the_width(
    judged: Path, on_terminal: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal of 120 columns the longest bar goes further; on one of 40 nothing is wider."""

    def show() -> int:
        return run(["sensitivity", *STRICT, "--plot"])

    for width, n_columns in ((120, 82), (80, 42)):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = on_terminal(show)
        [bar] = [line for line in lines if line.startswith("rm3-words-title") and "+" in line]
        assert bar.count("+", 0, -16) == n_columns - 1
    monkeypatch.setenv("COLUMNS", "40")
    lines = on_terminal(show)
    start = max(place for place, line in enumerate(lines) if not line)
    assert len(lines) - start > 12
    assert all(len(line) <= 40 for line in lines[start:])


@pytest.mark.parametrize("other", ["--pairs", "--by-topic"])
def test_plot_is_of_runs(cli: Cli, judged: Path, other: str) -> None:
    """Where a row is something else there is no plot, and none for programs."""
    both = cli("sensitivity", *STRICT, "--plot", other).failed(2)
    assert f"`--plot` draws one line per run: it excludes {other}" in both.err
    refused = cli("sensitivity", *STRICT, "--plot", "--format", "tsv").failed(1)
    assert "`--plot` needs --format table, but got 'tsv'" in refused.err


@pytest.mark.slow
def test_every_run_of_trec_covid_has_its_line(cli: Cli) -> None:
    """143 runs of TREC-COVID round 1: one line each, within 80 columns, the axis at both ends."""
    runs = sorted(data_path("runs-top120").iterdir())
    lines, rows = plotted(cli, "--depth", "7", "--qrels", data_path("qrels-rnd1.txt.gz"), *runs)
    assert len(rows) == 143
    assert [line.split()[0] for line in lines[4:-2]] == [
        row["run"] for row in sorted(rows, key=lambda row: -row["change"])
    ]
    assert (lines[2], lines[3]) == (lines[-1], lines[-2])
    assert all(len(line) <= 80 for line in lines)
