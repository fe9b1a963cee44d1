"""`pooler import topics --replace`: a text that is corrected after judging began."""

from __future__ import annotations

import json
from pathlib import Path

from store.collection import Collection
from store.records import Action, Decision, JudgeKind
from tests.helpers.run import Cli
from tests.helpers.world import make_pool, stored_rows


def topics_file(folder: Path, name: str, **titles: str) -> str:
    """Write a topics file of titles."""
    lines = [json.dumps({"topic": topic, "title": title}) for topic, title in titles.items()]
    (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return name


def judged_once(folder: Path, cli: Cli) -> None:
    """Make a collection of two topics, of which anna judged two documents of the first."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "topics", topics_file(folder, "old.jsonl", t1="wine", t2="beer")).fine()
    with Collection("collection.db") as opened:
        opened.pools.add(make_pool({"t1": ["a", "b"], "t2": ["a"]}))
        opened.judges.add("anna", JudgeKind.HUMAN)
    judge("t1", a=1, b=2)


def judge(topic: str, **grades: int) -> None:
    """Let anna grade documents of a topic, as a screen does."""
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        desk.topic(topic)
        tasks = {task.docno: task for task in desk.queue(topic)}
        for docno, grade in grades.items():
            seen = tasks[docno].revision
            desk.record(Decision(topic, docno, Action.JUDGE, grade=grade, seen_revision=seen))
        desk.leave()


def test_correction_is_a_version_and_says_what_rests_on_the_old(cli: Cli, here: Path) -> None:
    """From the refusal to the corrected judgement, by what each command tells to do next."""
    judged_once(here, cli)
    new = topics_file(here, "new.jsonl", t1="red wine", t2="beer")
    before = stored_rows("collection.db")
    refused = cli("import", "topics", new).failed(3)
    assert "error: topic `t1` exists with another text" in refused.err
    assert "hint: --replace takes the new text, as version 2 of it" in refused.err
    assert stored_rows("collection.db") == before
    answer = cli("import", "topics", new, "--replace").fine()
    assert answer.err == (
        "new.jsonl: 0 topics added, 1 replaced, 1 already there\n"
        "topic t1 has version 2 of its text; 2 judgements made with another text\n"
        "2 judgements made with another text than the current one: pooler status outdated --why topic\n"
    )
    rows = cli("show", "topics", "--format", "json").fine().json()
    assert [(row["topic"], row["version"], row["older"]) for row in rows] == [
        ("t1", 2, 2), ("t2", 1, 0),
    ]  # fmt: skip
    assert "with older text" in cli("show", "topics").fine().out
    shown = [line.split() for line in cli("show", "topics", "t1").fine().out.splitlines()]
    assert ["judged", "with", "older", "text", "2"] in shown
    rows = cli("status", "outdated", "--why", "topic", "--format", "json").fine().json()
    assert [(row["docno"], row["why"], row["topic_version"]) for row in rows] == [
        ("a", ["topic"], 1), ("b", ["topic"], 1),
    ]  # fmt: skip
    assert cli("status", "outdated", "--why", "text", "--format", "json").fine().json() == []
    cli("status", "outdated", "--why", "topic", "--requeue").fine()
    judge("t1", a=0)
    assert "no judgement rests on" in cli("status", "outdated").fine().out
    events = cli("history", "t1", "a", "--format", "json").fine().known()
    assert events["newest_topic_version"] == 2
    assert [(one["action"], one["topic_version"]) for one in events["events"]] == [
        ("judge", 1), ("reopen", None), ("judge", 2),
    ]  # fmt: skip
    assert "topic text" in cli("history", "t1", "a").fine().out


def test_every_version_can_be_seen(cli: Cli, here: Path) -> None:
    """The newest by default, an older one by number, and the unknown one by what there is."""
    judged_once(here, cli)
    cli("import", "topics", topics_file(here, "new.jsonl", t1="red wine"), "--replace").fine()
    shown = cli("show", "topics", "t1", "--format", "json").fine().known()
    assert (shown["title"], shown["version"], shown["newest_version"]) == ("red wine", 2, 2)
    assert [(one["version"], one["judgements"]) for one in shown["versions"]] == [(1, 2), (2, 0)]
    assert shown["versions"][0]["changed_at"] is None
    old = cli("show", "topics", "t1", "--version", "1", "--format", "json").fine().known()
    assert (old["title"], old["version"], old["newest_version"]) == ("wine", 1, 2)
    assert "judged by it" in cli("show", "topics", "t1").fine().out
    assert "judged by it" not in cli("show", "topics", "t2").fine().out
    refused = cli("show", "topics", "t1", "--version", "3").failed(1)
    assert "unknown version of topic t1 `3`; known: `1`, `2`" in refused.err


def test_blanks_alone_are_a_version_and_are_said(cli: Cli, here: Path) -> None:
    """Texts are bytes: one more blank is another text, which differs in nothing else."""
    judged_once(here, cli)
    new = topics_file(here, "new.jsonl", t1="wine ")
    answer = cli("import", "topics", new, "--replace").fine()
    assert (
        "topic t1 has version 2 of its text, which differs only in blanks and line ends;"
        " 2 judgements made with another text" in answer.err
    )
    again = cli("import", "topics", new, "--replace").fine()
    assert again.err == "new.jsonl: nothing new, 1 topic already there\n"
