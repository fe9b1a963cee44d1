"""`pooler judges rename`: the same judge under another name."""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers.run import Cli


def test_renamed_judge_keeps_everything(cli: Cli, judged: Path) -> None:
    """Judgements, assignments and plans go by the new name; the old one is not known any more."""
    cli("judges", "add", "anna", "ben").fine()
    cli("assign", "--seed", "1").fine()
    answer = cli("judges", "rename", "anna", "hanna").fine()
    assert (answer.out, answer.err) == (
        "", "judge anna is hanna now\n1 plan named the judge, and now uses the new name\n"
        "the file was rewritten: no byte of what was removed is left in it\n"
        "backups and exports made before are unchanged: they have the old name\n",
    )  # fmt: skip
    rows = cli("show", "judges", "--format", "json").fine().json()
    assert [row["judge"] for row in rows] == ["ben", "hanna", "lenient", "middle", "strict"]
    assert "unknown judge `anna`" in cli("show", "judges", "anna").failed(1).err
    assert cli("show", "judges", "hanna", "--format", "json").fine().known()["assigned"] == 42
    cli("judges", "rename", "strict", "厳しい").fine()
    assert "厳しい" in cli("show", "judges").fine().out


def test_no_name_is_taken_from_anybody(cli: Cli, judged: Path) -> None:
    """A name in use, or one that is none, is refused with what to do."""
    before = cli("export", "judgements").fine().out
    refused = cli("judges", "rename", "strict", "middle").failed(3)
    assert "error: there is a judge `middle` already" in refused.err
    assert "hint: two judges stay two: choose another name" in refused.err
    assert "`NEW` must be one word" in cli("judges", "rename", "strict", "a b").failed(1).err
    assert "unknown judge `strit`" in cli("judges", "rename", "strit", "x").failed(1).err
    cli("judges", "rename", "strict").failed(2)
    assert cli("export", "judgements").fine().out == before


def test_pools_and_rounds_named_after_the_judge_are_told(cli: Cli, judged: Path) -> None:
    """They have the new name, and so has the file: the old one is in no byte of it."""
    cli("pool", "--depth", "6", "--name", "again-strict", "--round", "strict").fine()
    cli("pool", "--depth", "7", "--name", "more", "--round", "strict").fine()
    answer = cli("judges", "rename", "strict", "stern").fine()
    assert "pool again-strict is again-stern now" in answer.err
    assert "the round of pool more is renamed" in answer.err
    assert [row["round"] for row in cli("show", "pools", "--format", "json").json()][1:] == ["stern", "stern"]
    assert b"strict" not in (judged / "collection.db").read_bytes()


def test_notes_that_name_the_judge_stay_and_are_counted(cli: Cli, judged: Path) -> None:
    """Words of judges are never changed."""
    note = {"topic": "G01", "docno": "KG-E-002", "judge": "carla", "kind": "human", "state": "judged",
            "grade": 1, "reason": "", "note": "as strict says", "iteration": "0"}  # fmt: skip
    (judged / "notes.jsonl").write_text(json.dumps(note) + "\n", "utf-8")
    cli("import", "judgements", "notes.jsonl", "--as", "jsonl").fine()
    answer = cli("judges", "rename", "strict", "stern").fine()
    assert "the old name stays in 1 note or reason" in answer.err
    assert "as strict says" in cli("export", "judgements", "carla").fine().out


def test_plan_by_topic_names_nobody_any_more(cli: Cli, judged: Path) -> None:
    """Renamed, erased, exported without names: nothing tells who was to judge which topic."""
    cli("judges", "add", "anna", "ben").fine()
    topics = [row["topic"] for row in cli("show", "topics", "--format", "json").json()]
    lines = [f"{topic}\t{('anna', 'ben')[place % 2]}\n" for place, topic in enumerate(topics)]
    (judged / "authors.tsv").write_text("".join(lines), "utf-8")
    cli("assign", "--topic-judges", "authors.tsv").fine()
    cli("qrels", "define", "official", "--aggregate", "min").fine()
    cli("export", "collection", "public", "--anonymised").fine()
    files = [path for path in (judged / "public").rglob("*") if path.is_file()]
    assert [path.name for path in files if b"anna" in path.read_bytes()] == []
    cli("judges", "rename", "anna", "hanna").fine()
    assert b"anna" not in (judged / "collection.db").read_bytes().replace(b"hanna", b"")
    cli("judges", "erase", "hanna", "--yes").fine()
    assert b"hanna" not in (judged / "collection.db").read_bytes()
