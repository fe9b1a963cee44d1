"""`pooler paper difference`: tables 7 and 8 of Kishida (2001), rounded up as they are there."""

from __future__ import annotations

import pytest
from scipy import stats

from tests.helpers.run import Cli
from tests.vectors.kishida_tables import N_TOPICS, TABLE_7, TABLE_8


def grids_of(text: str) -> list[dict[str, list[str]]]:
    """Return the cells of every grid, by the variance."""
    return [
        {line.split()[0]: line.split()[1:] for line in block.splitlines()[3:]}
        for block in text.strip().split("\n\n")
    ]


def test_table_7_is_printed_as_in_the_paper(cli: Cli) -> None:
    """All 80 cells."""
    shares = ",".join(TABLE_7)
    grids = grids_of(cli("paper", "difference", "--variation", shares).fine().out)
    expected = [{key: list(cells) for key, cells in table.items()} for table in TABLE_7.values()]
    assert grids == expected


def test_table_8_is_printed_as_in_the_paper(cli: Cli) -> None:
    """All 40 cells; Q and H go together."""
    drops = [key.split() for key in TABLE_8]
    q, h = (",".join(values) for values in zip(*drops, strict=True))
    grids = grids_of(cli("paper", "difference", "-Q", q, "-H", h).fine().out)
    expected = [{key: list(cells) for key, cells in table.items()} for table in TABLE_8.values()]
    assert grids == expected


def test_programs_get_every_digit(cli: Cli) -> None:
    """Without drops it is t times the standard error; a wanted power adds a second quantile."""
    for power in (0.5, 0.8):
        options = ("--variance", "0.03", "--power", str(power), "--format", "json")
        rows = cli("paper", "difference", *options).fine().json()
        assert [row["topics"] for row in rows] == list(N_TOPICS)
        for row in rows:
            law = stats.t(row["topics"] - 1)
            quantiles = law.ppf(0.975) + (law.ppf(power) if power > 0.5 else 0)
            error = (0.03 / row["topics"]) ** 0.5
            assert row["difference"] == pytest.approx(quantiles * error, rel=1e-10)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-K", "1"), "`--variation` must be at least 0 and below 1"),
        (("-Q", "1"), "`--drop` must be below 1"),
        (("-Q", ".1,.2", "-H", ".1,.2,.3"), "`--variance-drop` must be one number"),
        (("--variance", "-1"), "`--variance` must be a number >= 0"),
        (("--topics", "1"), "`--topics` must be an integer >= 2"),
        (("--alpha", "0"), "`--alpha` must be between 0 and 1"),
        (("--power", "0.3"), "`--power` must be a number >= 0.5"),
    ],
)
def test_impossible_numbers_are_refused(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    """One line names the option and what it takes."""
    refused = cli("paper", "difference", *arguments)
    assert refused.code in (1, 2)
    assert words in refused.err


def test_tables_say_of_which_variance_h_is(cli: Cli) -> None:
    """With K = 0 of the whole, as s2 is; with K of what judging leaves; from Q = 1 on of none."""
    options = ("-Q", "0.1", "-H", "0.1", "--topics", "50", "--variance", "0.03")
    for share, which in (("0", "with judging"), ("0.1", "without judging")):
        text = cli("paper", "difference", *options, "-K", share).fine().out
        assert f"K={share}, Q=0.1, H=0.1, of the variance {which}" in text
    rows = cli("paper", "difference", *options, "-K", "0,0.1", "--format", "json").fine().json()
    assert [row["h_of"] for row in rows] == ["judging included", "judging removed"]
    assert "the order turns" in cli("paper", "difference", "-Q", "1.2").failed(1).err
