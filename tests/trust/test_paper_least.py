"""`pooler paper least`: tables 1 and 2 of Kishida (2001), with the digits printed there."""

from __future__ import annotations

import pytest

from tests.helpers.run import Cli
from tests.vectors.kishida_tables import N_RELEVANT, TABLE_1, TABLE_2


def grid_of(text: str, title: str) -> dict[str, list[str]]:
    """Return the cells of one grid, by the heading of the row."""
    lines = text[text.index(title) :].split("\n\n")[0].splitlines()
    return {line.split()[0]: line.split()[1:] for line in lines[3:]}


@pytest.mark.parametrize(("title", "table"), [("Least AP", TABLE_1), ("Mean AP", TABLE_2)])
def test_tables_1_and_2_are_printed_as_in_the_paper(
    cli: Cli, title: str, table: dict[int, tuple[str, ...]]
) -> None:
    """Every cell has the paper's digits, and those it leaves empty are a dash."""
    grid = grid_of(cli("paper", "least").fine().out, title)
    for n_documents, cells in table.items():
        dashes = ("-",) * (len(N_RELEVANT) - len(cells))
        assert grid[str(n_documents)] == [*cells, *dashes]


def test_programs_get_every_digit_and_a_reason(cli: Cli) -> None:
    """The paper's 0011 has AP 5/12, and R = 5 of 4 documents is a reason, not a number."""
    found = cli("paper", "least", "-n", "4", "-r", "2,5", "--format", "json").fine().json()
    assert found["least"] == [
        {"documents": 4, "relevant": 2, "value": pytest.approx(5 / 12, abs=1e-15), "reason": None},
        {"documents": 4, "relevant": 5, "value": None, "reason": "more-relevant-than-documents"},
    ]
    # The six orders of two relevant documents among four: 1, 5/6, 3/4, 7/12, 1/2, 5/12.
    orders = (1, 5 / 6, 3 / 4, 7 / 12, 1 / 2, 5 / 12)
    assert found["mean"][0]["value"] == pytest.approx(sum(orders) / 6, abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-n", "0"), "`--documents` must be an integer >= 1"),
        (("-r", "a"), "`--relevant` must be integers"),
        (("-n", "10", "--size", "9"), "`--size` must be at least every N"),
    ],
)
def test_impossible_numbers_are_refused(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    """One line names the option and what it takes."""
    assert words in cli("paper", "least", *arguments).failed(1).err


def test_small_means_of_a_large_collection_are_not_shown_as_0(cli: Cli) -> None:
    """100 of 10,000 documents with one relevant: on average H_100 / 10000."""
    harmonic = sum(1 / rank for rank in range(1, 101))
    options = ("--size", "10000", "-n", "100", "-r", "1")
    grid = grid_of(cli("paper", "least", *options).fine().out, "Mean AP")
    assert grid["100"][0] == f"{harmonic / 10_000:.6f}"
