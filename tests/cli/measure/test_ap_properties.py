"""`pooler ap-properties`: tables 1, 2 and 3 of Kishida (2001), with the digits printed there."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
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
    grid = grid_of(cli("ap-properties").fine().out, title)
    for n_documents, cells in table.items():
        dashes = ("-",) * (len(N_RELEVANT) - len(cells))
        assert grid[str(n_documents)] == [*cells, *dashes]


def test_table_3_leaves_out_what_cannot_occur(cli: Cli) -> None:
    """R = 10 is printed as in the paper; R = 50 at AP .1 and .3, and R = 100, cannot be."""
    answer = cli("ap-properties", "--rank", "101", "--relevant", "10,50,100").fine()
    grid = grid_of(answer.out.replace("\n-:", "\n\n-:"), "Change of AP")
    assert grid == {
        "10": ["0.00081", "-0.01737", "-0.03555"],
        "50": ["-", "-", "0.00010"],
        "100": ["-", "-", "-"],
    }
    assert "cannot occur" in answer.out


def test_limits_of_a_change_say_what_they_suppose(cli: Cli) -> None:
    """No list of four with two relevant documents above rank 4 has AP .9, yet a change is told.

    Their APs are 1, 5/6 and 7/12; between, AP is taken to be possible, and that is said.
    """
    answer = cli("ap-properties", "--rank", "4", "--relevant", "2", "--ap", "0.9").fine()
    # Eq. 19 with both above the rank: (3/4 - .9) / 3.
    assert grid_of(answer.out, "Greatest change")["2"] == ["-0.05000"]
    assert "\nleast, greatest: as if AP could take any value between" in answer.out
    assert "as if AP could take any value" in cli("ap-properties", "--help").fine().out


def test_programs_get_every_digit_and_a_reason(cli: Cli) -> None:
    """The paper's 0011 has AP 5/12, and R = 5 of 4 documents is a reason, not a number."""
    found = cli("ap-properties", "-n", "4", "-r", "2,5", "--format", "json").fine().json()
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
        (("-n", "0"), "`--documents` must be integers >= 1"),
        (("-r", "a"), "`--relevant` must be integers >= 1"),
        (("-n", "10", "--size", "9"), "`--size` must be at least every N"),
        (("--rank", "5", "--ap", "x"), "`--ap` must be numbers"),
        (("--rank", "5", "-r", "2", "--ap", "1.5"), "`--ap` must be between 0 and 1, but got 1.5"),
    ],
)
def test_impossible_numbers_are_refused(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    """One line names the option and what it takes."""
    assert words in cli("ap-properties", *arguments).failed(1).err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--swap", "2,3", "--rank", "5"), "`--rank` has no meaning with --swap"),
        (("--swap", "2,3", "--relevant", "10"), "`--relevant` has no meaning with --swap"),
        (("--ranks", "1,2"), "`--ranks` needs --swap"),
        (("--rank", "5", "--size", "10"), "`--size` has no meaning with --rank"),
        (("--ap", "0.2"), "`--ap` needs --rank"),
    ],
)
def test_options_without_effect_are_refused(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    """As contradictions of options are: exit code 2."""
    refused = cli("ap-properties", *arguments)
    assert refused.code == 2
    assert words in refused.err


def test_small_means_of_a_large_collection_are_not_shown_as_0(cli: Cli) -> None:
    """100 of 10,000 documents with one relevant: on average H_100 / 10000."""
    harmonic = sum(1 / rank for rank in range(1, 101))
    options = ("--size", "10000", "-n", "100", "-r", "1")
    grid = grid_of(cli("ap-properties", *options).fine().out, "Mean AP")
    assert grid["100"][0] == f"{harmonic / 10_000:.6f}"


def test_function_and_command_have_the_same_defaults(cli: Cli, here: Path) -> None:
    """What is not said is the same in both: documents, and the values of AP that are looked for."""
    printed = cli("ap-properties", "--rank", "101", "--relevant", "10,50", "--format", "json").fine().whole()
    found = p.ap_properties(relevant=[10, 50], rank=101)
    for name in found.names():
        assert [dict(row) for row in found.table(name).to_records()] == printed[name], name
