"""`pooler status effort`: what judging cost, hasty decisions; or why nothing is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.run import Cli


def report(cli: Cli, *options: str) -> dict[str, list[dict[str, object]]]:
    """Return the tables as programs are given them."""
    tables: dict[str, list[dict[str, object]]] = cli(
        "status", "effort", *options, "--format", "json"
    ).fine().json()  # fmt: skip
    return tables


def test_costs_by_hand(cli: Cli, worked: Path) -> None:
    """Active time has what was taken back; quartiles are of the decisions that stand."""
    anna, gpt = report(cli)["effort"]
    # 8 and 20, twice 7 + 6 + 5 + 4 + 3 + 2 + .5, and twice 3 taken back.
    assert (anna["judge"], anna["sittings"], anna["active_s"]) == ("anna", 2, 89.0)
    assert (anna["decided"], anna["pace_s"]) == (16, 89 / 16)
    # Dwells .75 2.25 3.25 4.25 5.25 6.25 7.25 twice, 8.25 20.25: places 3.75, 7.5, 11.25 of 0-15.
    quartiles = [anna[f"dwell_{name}_s"] for name in ("lower", "median", "upper")]
    assert quartiles == pytest.approx([3.0, 4.75, 6.5])
    assert (anna["low_dwell"], anna["dropped_keys"], anna["undone"]) == (2, 2, 2)
    assert (anna["imported"], anna["reason"]) == (0, None)
    assert gpt == {**dict.fromkeys(anna), "judge": "gpt", "decided": 2, "imported": 2, "reason": "no-times"}


def test_low_dwell_is_listed_when_asked(cli: Cli, worked: Path) -> None:
    """The documents decided below the threshold are listed; the threshold is an option."""
    assert [
        (row["judge"], row["topic"], row["docno"], row["grade"], row["dwell_s"], row["active_s"])
        for row in report(cli)["low_dwell"]
    ] == [("anna", "1", "d7", 0, 0.75, 0.5), ("anna", "2", "d7", 0, 0.75, 0.5)]
    for below, n_low in (("2.25", 2), ("2.2501", 4)):
        tables = report(cli, "--below", below)
        assert tables["effort"][0]["low_dwell"] == len(tables["low_dwell"]) == n_low
    assert report(cli, "--below", "0")["low_dwell"] == []
    assert "<1 s" in cli("status", "effort").fine().out
    assert "Decided below 1 s" in cli("status", "effort", "--table", "low_dwell").fine().out


def test_chosen_judges(cli: Cli, worked: Path) -> None:
    """Judges can be named; one without an event has no row, an unknown one is an error."""
    assert [row["judge"] for row in report(cli, "gpt")["effort"]] == ["gpt"]
    assert report(cli, "ben") == {"effort": [], "models": [], "low_dwell": []}
    assert "no document is judged" in cli("status", "effort", "ben").fine().out
    assert "unknown judge `eve`" in cli("status", "effort", "eve").failed(1).err
    tsv = cli("status", "effort", "--format", "tsv", "--table", "effort").fine().tsv()
    assert {row["judge"] for row in tsv} == {row["judge"] for row in report(cli)["effort"]}


def test_empty_collection(cli: Cli, here: Path) -> None:
    """Without judges there is nothing to report, and that is said."""
    cli("init").fine()
    answer = cli("status", "effort").fine().out
    assert "no document is judged" in answer
