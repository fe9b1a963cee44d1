"""`pooler judges`: added once, of a kind, and listed with what each has judged."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli


def test_judges_are_added_once(cli: Cli, judged: Path) -> None:
    """A known name of the same kind is there already; another kind is refused."""
    answer = cli("judges", "add", "anna", "ben").fine()
    assert answer.err == "judge anna (human) added\njudge ben (human) added\n"
    assert "judge anna (human) is there already" in cli("judges", "add", "anna").fine().err
    refused = cli("judges", "add", "anna", "--kind", "model").failed(3)
    assert "judge `anna` is there as kind human, not model" in refused.err
    assert "hint: --kind human, or another name" in refused.err


def test_list_names_kind_and_work(cli: Cli, judged: Path) -> None:
    """Every judge stands in the list with kind and number of judgements."""
    cli("judges", "add", "審査員", "--kind", "adjudicator").fine()
    rows = cli("judges", "list", "--format", "json").fine().json()
    assert [(row["judge"], row["kind"], row["disabled"], row["judged"]) for row in rows] == [
        *((judge, "model", False, 84) for judge in ("lenient", "middle", "strict")),
        ("審査員", "adjudicator", False, 0),
    ]
    assert "審査員" in cli("judges", "list").fine().out
