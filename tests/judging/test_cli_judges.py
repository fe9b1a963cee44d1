"""`pooler judges`: added once, of a kind, and listed with what each has judged."""

from __future__ import annotations

from pathlib import Path

from store.collection import Collection
from tests.helpers.run import Cli, write


def test_judges_are_added_once(cli: Cli, judged: Path) -> None:
    """A known name of the same kind is there already; another kind is refused."""
    answer = cli("judges", "add", "anna", "ben").fine()
    assert answer.err == "judge anna (human) added\njudge ben (human) added\n"
    assert "judge anna (human) already exists" in cli("judges", "add", "anna").fine().err
    refused = cli("judges", "add", "anna", "--kind", "model").failed(3)
    assert "judge `anna` is there as kind human, not model" in refused.err
    assert "hint: --kind human, or another name" in refused.err


def test_list_names_kind_and_work(cli: Cli, judged: Path) -> None:
    """Every judge stands in the list with kind and number of judgements."""
    cli("judges", "add", "審査員", "--kind", "adjudicator").fine()
    rows = cli("show", "judges", "--format", "json").fine().json()
    assert [(row["judge"], row["kind"], row["disabled"], row["judged"]) for row in rows] == [
        *((judge, "model", False, 84) for judge in ("lenient", "middle", "strict")),
        ("審査員", "adjudicator", False, 0),
    ]
    assert "審査員" in cli("show", "judges").fine().out


def test_list_counts_what_lies_in_no_pool(cli: Cli, here: Path) -> None:
    """Of 4 documents in no pool, 2 that cannot be judged and 1 skipped stand as in `show judges`."""
    cli("init", "--scale", "0-2").fine()
    write(here / "q", "1 0 a -1", "1 0 b -1", "1 0 c -2", "1 0 d 2")
    codes = ("--code", "-1=cannot", "--code", "-2=skipped")
    cli("import", "judgements", "q", "--judge", "me", *codes).fine()
    [row] = cli("show", "judges", "--format", "json").fine().json()
    assert (row["judged"], row["cannot"], row["skipped"]) == (1, 2, 1)
    shown = cli("show", "judges", "me", "--format", "json").fine().known()
    assert {name: shown[name] for name in ("judged", "cannot", "skipped")} == {
        "judged": 1, "cannot": 2, "skipped": 1,
    }  # fmt: skip


def test_disabled_judges_get_no_desk_and_keep_what_they_judged(cli: Cli, judged: Path) -> None:
    """Disabled and enabled again by name; work that is left with them is counted."""
    cli("judges", "add", "anna", "ben").fine()
    cli("assign", "--seed", "1").fine()
    answer = cli("judges", "disable", "anna", "strict", "anna").fine()
    assert answer.err == (
        "judge anna disabled\njudge strict disabled\n42 documents assigned to anna have no"
        " decision: pooler assign --replace gives them to others\n"
    )
    assert "judge anna was already disabled" in cli("judges", "disable", "anna").fine().err
    refused = cli("judge", "--judge", "anna", "--plain").failed(3).err
    assert refused == "error: judge `anna` is disabled\nhint: pooler judges enable anna\n"
    rows = cli("show", "judges", "--format", "json").fine().json()
    states = {row["judge"]: (row["disabled"], row["judged"]) for row in rows}
    assert (states["anna"], states["strict"], states["ben"]) == ((True, 0), (True, 84), (False, 0))
    assert cli("judges", "enable", "anna", "ben").fine().err == (
        "judge anna enabled\njudge ben was not disabled\n"
    )


def test_what_a_disabled_judge_claimed_needs_no_command(cli: Cli, judged: Path) -> None:
    """A claim without a decision comes to others by itself; `assign` is named for names alone."""
    cli("judges", "add", "anna").fine()
    cli("assign", "--claim", "--topic", "G01").fine()
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        assert desk.claim("G01")
        said = cli("judges", "disable", "anna").fine().err
    assert said == (
        "judge anna disabled\n3 documents claimed by anna without a decision: others may claim"
        " them when the lease has run out\n"
    )


def test_unknown_judge_disables_nobody(cli: Cli, judged: Path) -> None:
    """One wrong name among several changes nothing."""
    cli("judges", "add", "anna").fine()
    refused = cli("judges", "disable", "anna", "bne").failed(1)
    assert "unknown judge `bne`" in refused.err
    rows = cli("show", "judges", "--format", "json").fine().json()
    assert not any(row["disabled"] for row in rows)
