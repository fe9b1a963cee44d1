"""`pooler import guidelines` and `pooler show guidelines`."""

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
    assert cli("import", "guidelines", "g.md").fine().err == "version 1 of the guidelines\n"
    again = cli("import", "guidelines", "g.md").fine().err
    assert again == "version 1 of the guidelines already has this text\n"
    cli("import", "guidelines", "-", stdin="判定基準".encode()).fine()
    assert cli("show", "guidelines", "2").fine().out == "判定基準\n"
    assert cli("show", "guidelines", "1").fine().out == first
    rows = cli("show", "guidelines", "--format", "json").fine().json()
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
    told = cli("import", "guidelines", "-", stdin=b"a").fine().err
    assert told.splitlines() == [
        "version 1 of the guidelines",
        "1 judgement made under an older one: pooler status outdated",
    ]


def test_hostile_guidelines_reach_no_terminal(cli: Cli, empty: Path) -> None:
    """Escape sequences are stored as they are and printed as pictures."""
    text = "\x1b]0;owned\x07 \x1b[2J[red]x[/red]\u202e"
    cli("import", "guidelines", "-", stdin=text.encode()).fine()
    with Collection("collection.db") as opened:
        assert opened.guidelines.get().text == text
    shown = cli("show", "guidelines", "1").fine().out
    assert shown == "␛]0;owned␇ ␛[2J[red]x[/red]\ufffd\n"
    for form in ("table", "tsv"):
        listed = cli("show", "guidelines", "--format", form).fine().out
        assert "\x1b" not in listed
        assert "[red]x[/red]" in listed


def test_long_first_line_is_cut_for_people_only(cli: Cli, empty: Path) -> None:
    """A table stays narrow; programs get the line, blank ones before it left out."""
    cli("import", "guidelines", "-", stdin=b"\n\n" + b"word " * 40).fine()
    assert max(map(len, cli("show", "guidelines").fine().out.splitlines())) < 80
    [row] = cli("show", "guidelines", "--format", "json").json()
    assert (row["begins"], row["lines"]) == (("word " * 40).strip(), 3)


def test_refusals(cli: Cli, empty: Path) -> None:
    """No guidelines, no such version, no text, another encoding, no file: each in words."""
    assert "no guidelines yet: pooler import guidelines FILE" in cli("show", "guidelines").fine().out
    missing = cli("show", "guidelines", "1").failed(1).err
    assert "there is no guideline version yet" in missing
    assert "hint: pooler import guidelines FILE" in missing
    cli("import", "guidelines", "-", stdin=b"a").fine()
    unknown = cli("show", "guidelines", "3").failed(1).err
    assert "unknown guideline version `3`; known: `1`" in unknown
    assert "expected guidelines, got no text" in cli("import", "guidelines", "-").failed(1).err
    assert "-:1: expected UTF-8" in cli("import", "guidelines", "-", stdin=b"\xff").failed(1).err
    assert "no such file" in cli("import", "guidelines", "none.md").failed(1).err
    assert len(cli("show", "guidelines", "--format", "json").json()) == 1


def test_the_text_of_a_version_is_printed_as_it_is(cli: Cli, empty: Path) -> None:
    """It goes to stdout or a file as it is; programs get its lines."""
    cli("import", "guidelines", "-", stdin=b"# Be strict\n").fine()
    assert cli("show", "guidelines", "1").fine().out == "# Be strict\n"
    known = cli("show", "guidelines", "1", "--format", "json").fine().known()
    assert (known["version"], known["text"]) == (1, [{"text": "# Be strict"}])
    cli("show", "guidelines", "1", "--out", "g.md").fine()
    assert (empty / "g.md").read_text("utf-8") == "# Be strict\n"
