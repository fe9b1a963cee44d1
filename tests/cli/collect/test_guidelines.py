"""`pooler guidelines`: set, shown, listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Action, Decision
from tests.helpers.run import Cli, write


@pytest.fixture
def empty(cli: Cli, here: Path) -> Path:
    """Work beside an empty collection."""
    cli("init").fine()
    return here


def test_versions_are_set_and_shown(cli: Cli, empty: Path) -> None:
    """Each text is a version; the same again is none; any can be printed as it was."""
    first = "# Wine\n\n- *any* part counts\n"
    (empty / "g.md").write_text(first, "utf-8")
    assert cli("guidelines", "set", "g.md").fine().err == "version 1 of the guidelines\n"
    again = cli("guidelines", "set", "g.md").fine().err
    assert again == "version 1 of the guidelines already has this text\n"
    cli("guidelines", "set", "-", stdin="判定基準".encode()).fine()
    assert cli("guidelines", "show").fine().out == "判定基準\n"
    assert cli("guidelines", "show", "--version", "1").fine().out == first
    rows = cli("guidelines", "list", "--format", "json").fine().json()
    assert [(row["version"], row["lines"], row["begins"]) for row in rows] == [
        (1, 3, "# Wine"),
        (2, 1, "判定基準"),
    ]
    assert all(row["created_at"].endswith("+00:00") for row in rows)


def test_outdated_judgements_are_told(cli: Cli, empty: Path) -> None:
    """A new version says how many judgements were made under older ones."""
    write(empty / "x.run", "1 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("judges", "add", "anna").fine()
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        desk.queue("1")
        desk.record(Decision("1", "a", Action.JUDGE, grade=1))
        desk.leave()
    told = cli("guidelines", "set", "-", stdin=b"a").fine().err
    assert told.splitlines() == [
        "version 1 of the guidelines",
        "1 judgement made under an older one: pooler status outdated",
    ]


def test_hostile_guidelines_reach_no_terminal(cli: Cli, empty: Path) -> None:
    """Escape sequences are stored as they are and printed as pictures."""
    text = "\x1b]0;owned\x07 \x1b[2J[red]x[/red]\u202e"
    cli("guidelines", "set", "-", stdin=text.encode()).fine()
    with Collection("collection.db") as opened:
        assert opened.guidelines.get().text == text
    shown = cli("guidelines", "show").fine().out
    assert shown == "␛]0;owned␇ ␛[2J[red]x[/red]\ufffd\n"
    for form in ("table", "tsv"):
        listed = cli("guidelines", "list", "--format", form).fine().out
        assert "\x1b" not in listed
        assert "[red]x[/red]" in listed


def test_long_first_line_is_cut_for_people_only(cli: Cli, empty: Path) -> None:
    """A table stays narrow; programs get the line, blank ones before it left out."""
    cli("guidelines", "set", "-", stdin=b"\n\n" + b"word " * 40).fine()
    assert max(map(len, cli("guidelines", "list").fine().out.splitlines())) < 80
    [row] = cli("guidelines", "list", "--format", "json").json()
    assert (row["begins"], row["lines"]) == (("word " * 40).strip(), 3)


def test_refusals(cli: Cli, empty: Path) -> None:
    """No guidelines, no such version, no text, another encoding, no file: each in words."""
    assert "no guidelines yet: pooler guidelines set FILE" in cli("guidelines", "list").fine().out
    missing = cli("guidelines", "show").failed(1).err
    assert "there is no guideline version yet" in missing
    assert "hint: pooler guidelines set FILE" in missing
    cli("guidelines", "set", "-", stdin=b"a").fine()
    unknown = cli("guidelines", "show", "--version", "3").failed(1).err
    assert "unknown guideline version `3`; known: `1`" in unknown
    assert "expected guidelines, got no text" in cli("guidelines", "set", "-").failed(1).err
    assert "-:1: expected UTF-8" in cli("guidelines", "set", "-", stdin=b"\xff").failed(1).err
    assert "no such file" in cli("guidelines", "set", "none.md").failed(1).err
    assert len(cli("guidelines", "list", "--format", "json").json()) == 1
