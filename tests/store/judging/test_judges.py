"""Judges: one word each, of one kind, and known by name."""

from __future__ import annotations

import os
import socket
from threading import Thread

import pytest

from store.collection import Collection
from store.errors import ArgumentError, ConflictError, StoreError, UnknownNameError
from store.records import Action, Judge, JudgeKind
from tests.helpers.world import JudgeAtWork, change_stored, make_pool, meanwhile, parse_scale, stored_rows


def test_judges_come_back_bytewise_sorted(collection: Collection) -> None:
    """Names sort by their UTF-8 bytes on both engines; those alike but for case stay apart."""
    kinds = list(JudgeKind)
    names = ["bob", "Bob", "ann", "Émile", "emile", "赤松", "z", "A1", "\U0001f377", "\uff21"]
    for number, name in enumerate(names):
        assert collection.judges.add(name, kinds[number % 4])
    expected = sorted(names, key=lambda name: name.encode())
    assert [judge.name for judge in collection.judges.all()] == expected
    assert Judge("Bob", JudgeKind.MODEL) in collection.judges.all()


def test_same_judge_again_changes_nothing(collection: Collection, collection_name: str) -> None:
    """Adding a judge who is there tells so and writes nothing."""
    assert collection.judges.add("ann", JudgeKind.HUMAN)
    before = stored_rows(collection_name)
    assert not collection.judges.add("ann", JudgeKind.HUMAN)
    assert stored_rows(collection_name) == before


def test_other_kind_is_refused(collection: Collection, collection_name: str) -> None:
    """A name stands for one kind of judge."""
    collection.judges.add("gpt", JudgeKind.MODEL)
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match="`gpt` is there as kind model, not human") as caught:
        collection.judges.add("gpt", JudgeKind.HUMAN)
    assert caught.value.hint == "--kind model, or another name"
    assert stored_rows(collection_name) == before


def test_name_must_be_one_clean_word(collection: Collection) -> None:
    """A name that could not stand in a file or on a terminal is refused."""
    controls = ["ann\n", "a\tb", "a\0b", "a\x1b[2J", "\u202eann", "\ud800"]
    for name in ["", " ", "ann b", "a\u3000b", *controls]:
        with pytest.raises(ArgumentError, match="`judge` must be one word"):
            collection.judges.add(name, JudgeKind.HUMAN)
    assert collection.judges.all() == []


def test_unknown_judge_is_told_how_to_be_added(collection: Collection) -> None:
    """A desk of nobody names the known judges, nearest first, and the command to add one."""
    collection.judges.add("alice", JudgeKind.HUMAN)
    with pytest.raises(UnknownNameError, match="unknown judge `alcie`; known: `alice`") as caught:
        collection.desk("alcie")
    assert caught.value.hint is not None
    assert "pooler show judges" in caught.value.hint


def test_disabled_judge_has_no_desk(collection: Collection, collection_name: str) -> None:
    """A disabled judge is listed as such and may not sit down."""
    collection.judges.add("ann", JudgeKind.HUMAN)
    change_stored(collection_name, "UPDATE judge SET disabled = TRUE")
    assert collection.judges.all() == [Judge("ann", JudgeKind.HUMAN, disabled=True)]
    with pytest.raises(StoreError, match="judge `ann` is disabled"):
        collection.desk("ann")


def test_judges_are_disabled_and_enabled_by_name(collection: Collection, collection_name: str) -> None:
    """Those that changed are told; with an unknown name among them nobody is changed."""
    for name in ("ann", "ben", "cat"):
        collection.judges.add(name, JudgeKind.HUMAN)
    assert collection.judges.set_disabled(["cat", "ann"], disabled=True) == ["cat", "ann"]
    assert collection.judges.set_disabled(["ann", "ben"], disabled=True) == ["ben"]
    assert [judge.disabled for judge in collection.judges.all()] == [True, True, True]
    assert collection.judges.set_disabled(["ann"], disabled=False) == ["ann"]
    before = stored_rows(collection_name)
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        collection.judges.set_disabled(["ben", "eve"], disabled=False)
    assert stored_rows(collection_name) == before


def test_two_who_add_one_judge_at_once(postgres_url: str) -> None:
    """When two programs add the same judge at the same moment, one adds and the other sees it."""
    answers: list[bool] = []
    with Collection.create(postgres_url, name="x", scale=parse_scale("0-1"), program="x") as one:

        def add_too() -> None:
            with Collection(postgres_url) as other:
                answers.append(other.judges.add("ann", JudgeKind.HUMAN))

        thread = Thread(target=add_too)
        with meanwhile("INSERT INTO judge", lambda: (thread.start(), thread.join(0.3))):
            answers.append(one.judges.add("ann", JudgeKind.HUMAN))
        thread.join()
        assert sorted(answers) == [False, True]
        assert len(one.judges.all()) == 1


def test_sitting_is_kept_from_first_event_to_leaving(collection: Collection, collection_name: str) -> None:
    """A sitting begins with the first event, names its machine and process, and is ended."""
    collection.judges.add("ann", JudgeKind.HUMAN)
    collection.pools.add(make_pool({"1": ["a"]}))
    sitting = JudgeAtWork(collection.desk("ann", program="pooler 9"), "1")
    sitting.desk.page("a")
    sitting.desk.leave()
    assert stored_rows(collection_name)["sitting"] == []
    sitting.grade("a", 1)
    ((_, _, started, seen, ended, host, process, program, *_),) = stored_rows(collection_name)["sitting"]
    assert (host, process, program) == (socket.gethostname(), os.getpid(), "pooler 9")
    assert (started, ended) == (seen, None)
    sitting.desk.leave()
    sitting.desk.leave()
    ((_, _, started, seen, ended, *_),) = stored_rows(collection_name)["sitting"]
    assert ended == seen
    assert ended > started
    sitting.act("a", Action.SKIP)
    assert len(stored_rows(collection_name)["sitting"]) == 2
