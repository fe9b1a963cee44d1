"""`pooler effort`: what judging cost, hasty decisions, drift; or why nothing is known."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.cli.desk_work import DOCNOS, judge_topic
from tests.helpers.run import Cli, write


def report(cli: Cli, *options: str) -> dict[str, list[dict[str, object]]]:
    """Return the tables as programs are given them."""
    tables: dict[str, list[dict[str, object]]] = cli(
        "effort", *options, "--format", "json"
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
    assert "low_dwell" not in report(cli)
    assert [
        (row["judge"], row["topic"], row["docno"], row["grade"], row["dwell_s"], row["active_s"])
        for row in report(cli, "--list")["low_dwell"]
    ] == [("anna", "1", "d7", 0, 0.75, 0.5), ("anna", "2", "d7", 0, 0.75, 0.5)]
    for below, n_low in (("2.25", 2), ("2.2501", 4)):
        tables = report(cli, "--list", "--below", below)
        assert tables["effort"][0]["low_dwell"] == len(tables["low_dwell"]) == n_low
    assert report(cli, "--list", "--below", "0")["low_dwell"] == []
    table = cli("effort", "--list").fine().out
    assert "Decided below 1 s" in table
    assert "<1 s" in table


def test_drift_by_hand(cli: Cli, worked: Path) -> None:
    """Quarters are of each topic in the order of decisions; the trend is inside topics."""
    rows = {(row["judge"], row["measure"]): row for row in report(cli)["drift"]}
    grade = rows["anna", "grade"]
    assert [grade[f"quarter_{number}"] for number in (1, 2, 3, 4)] == [2.0, 1.0, 0.5, 0.0]
    # A topic: ties of 2, 3 and 3 leave 28 - 7 = 21 pairs, all falling.
    assert grade["tau"] == pytest.approx(-42 / math.sqrt(56 * 42))
    # 18 V = 8 * 7 * 21 - (2 * 1 * 9 + 3 * 2 * 11 + 3 * 2 * 11) = 1026 a topic; z = -42 / sqrt(114).
    z = 42 / math.sqrt(2 * 1026 / 18)
    assert grade["p"] == pytest.approx(math.erfc(z / math.sqrt(2)))
    assert (grade["n"], grade["reason"]) == (16, None)
    relevant = rows["anna", "relevant"]
    assert [relevant[f"quarter_{number}"] for number in (1, 2, 3, 4)] == [1.0, 1.0, 0.5, 0.0]
    # The second document took 3 s before, taken back: 8 10 20 10 in the first quarter.
    seconds = rows["anna", "seconds"]
    assert [seconds[f"quarter_{number}"] for number in (1, 2, 3, 4)] == [10.0, 5.5, 3.5, 1.25]
    assert rows["gpt", "grade"]["reason"] == "no-times"
    assert rows["gpt", "grade"]["quarter_1"] is None


def test_level_and_topics_of_drift(cli: Cli, worked: Path) -> None:
    """--level says what counts as relevant; --by-topic adds each topic, with p only if it may."""
    rows = report(cli, "anna", "--level", "2", "--by-topic")["drift"]
    assert [(row["topic"], row["measure"]) for row in rows] == [
        (topic, measure) for topic in (None, "1", "2") for measure in ("relevant", "grade", "seconds")
    ]
    assert [rows[0][f"quarter_{number}"] for number in (1, 2, 3, 4)] == [1.0, 0.0, 0.0, 0.0]
    assert (rows[4]["p"], rows[4]["reason"], rows[4]["n"]) == (None, "fewer-than-10", 8)
    table = cli("effort", "anna", "--by-topic").fine().out
    assert "fewer-than-10" in table
    cli("effort", "--level", "7").failed(1)


def test_best_first_order_is_warned_of(cli: Cli, worked: Path) -> None:
    """Where the likely relevant documents come first, falling grades are no drift."""
    assert "likely to be relevant" not in cli("effort").fine().out
    write(worked / "y.run", *[f"3 Q0 {d} 1 {-n} y" for n, d in enumerate(DOCNOS)])
    cli("import", "runs", "y.run").fine()
    cli("pool", "--name", "more", "--add").fine()
    cli("assign", "ben", "--pool", "more", "--order", "priority").fine()
    judge_topic("ben", "3", [1] * 8, [1.0] * 8)
    warned = cli("effort").fine().out
    assert "documents likely to be relevant came first, so grades fall" in warned
    assert "so grades fall even without drift: ben" in " ".join(warned.split())
    assert max(map(len, warned.splitlines())) <= 80


def test_chosen_judges(cli: Cli, worked: Path) -> None:
    """Judges can be named; one without an event has no row, an unknown one is an error."""
    assert [row["judge"] for row in report(cli, "gpt")["effort"]] == ["gpt"]
    assert report(cli, "ben") == {"effort": [], "models": [], "drift": []}
    assert "nobody has judged anything" in cli("effort", "ben").fine().out
    assert "unknown judge `eve`" in cli("effort", "eve").failed(1).err
    tsv = cli("effort", "--format", "tsv", "--table", "drift").fine().tsv()
    assert {row["judge"] for row in tsv} == {row["judge"] for row in report(cli)["drift"]}


def test_empty_collection(cli: Cli, here: Path) -> None:
    """Without judges there is nothing to report, and that is said."""
    cli("init").fine()
    answer = cli("effort", "--list").fine().out
    assert "nobody has judged anything" in answer
    assert "nobody has graded four documents of a topic here" in answer
