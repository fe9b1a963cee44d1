"""The collection as a whole: one transaction a method; lists and dossiers beside a plain walk; the demo."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from inspect import signature
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from pooler.commands.start.demo import NEXT, STEPS
from store.collection import Collection
from store.errors import UnknownNameError
from store.judging.states import StateCounts
from store.records import Action, JudgeKind, Qrel, State
from tests.helpers.filled_collection import fill, pairs_of, plain_states
from tests.helpers.run import GARDEN, Cli
from tests.helpers.strategies import examples
from tests.helpers.world import JudgeAtWork, make_pool, make_run, parse_scale, statements, stored_run


def test_collection_reopens_as_it_was_made(collection_name: str, tmp_path: Path) -> None:
    """Name and scale come back, letters and negative grades too."""
    file = tmp_path / "scale.toml"
    file.write_text(
        '[[grade]]\nvalue = -2\nlabel = "がらくた"\nkey = "j"\n[[grade]]\nvalue = 0\nlabel = "no"\n'
        '[[grade]]\nvalue = 1\nlabel = "yes"\nkey = "はい"[0:0]\n'.replace('"はい"[0:0]', '"y"')
    )
    scale = parse_scale(str(file))
    with Collection.create(collection_name, name="ワイン", scale=scale, program="x") as made:
        assert (made.name, made.scale) == ("ワイン", scale)
        where = made.where
    with Collection(collection_name) as opened:
        assert (opened.name, opened.scale, opened.where) == ("ワイン", scale, where)


ASKED = """
    documents.get a | documents.read a | pools.get main | progress.count_judged main | codes.judge_of guess
    codes.judge_called ann | codes.login_of guess | desk ann
    details.run bm25 | details.topic 1 | details.document a | details.pool main | details.judge ann
    history.of_document 1 a
"""
"""Methods that read, beside those that need nothing to be told."""


def test_a_look_is_one_transaction_and_changes_nothing(collection: Collection) -> None:
    """Each method that reads begins once, and sends nothing that writes."""
    collection.guidelines.add("# One")
    fill(collection)
    collection.judgements.current()  # indexes are looked at once, on a connection of their own
    methods: dict[str, list[str]] = {}
    for area in [name for name, value in vars(Collection).items() if isinstance(value, cached_property)]:
        for name, method in vars(type(getattr(collection, area))).items():
            if name[0] != "_":
                needed = [one for one in signature(method).parameters.values() if one.default is one.empty]
                methods |= {} if needed[1:] else {f"{area}.{name}": []}
    assert len(methods) > 30
    for words in re.split(r"[|\n]", ASKED.strip()):
        name, *told = words.split()
        methods[name] = told
    begun: list[object] = []
    listen: tuple[Any, str, Any] = (Engine, "begin", begun.append)
    event.listen(*listen)
    try:
        for name, told in methods.items():
            begun.clear()
            with statements() as sent:
                found = attrgetter(name)(collection)(*told)
                _ = list(found) if isinstance(found, Iterator) else found
            assert len(begun) == 1, name
            assert not [one for one, _ in sent if one.startswith(("INSERT", "UPDATE", "DELETE"))], name
    finally:
        event.remove(*listen)


def test_two_objects_see_each_others_rows(collection: Collection, collection_name: str) -> None:
    """Ids that one object adds are known to the other at its next call."""
    with Collection(collection_name) as other:
        for number in range(3):
            for one, tag in ((collection, "mine"), (other, "theirs")):
                docnos = [(f"{tag}{number}", 2.0), (f"both{number}", 1.0)]
                one.runs.add(make_run(f"{tag}{number}", {f"{tag}": docnos, "both": docnos}))
        for one in (collection, other):
            for stored in one.runs.all():
                for ranking in stored_run(one, stored).rankings:
                    assert ranking.docnos == [stored.tag, f"both{stored.tag[-1]}"]


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.sampled_from("abcd"),
        st.sampled_from(["0", "1", "2", "skip", "cannot", "note", "undo"]),
    ),
    max_size=14,
)


def test_topics_keep_the_states_apart(collection: Collection) -> None:
    """Of seven pooled documents three are judged, one cannot be, and three nobody decided on.

    c is judged by bob, though ann skipped it; b by ann, though bob could not; d alone cannot be
    judged; e has a note alone; h was judged in a pool that is withdrawn, so it is outside.
    """
    fill(collection)
    lines = {line.topic: line for line in collection.lists.topics()}
    assert list(lines) == ["1", "2", "3"]
    assert lines["1"].counts == StateCounts(pooled=7, judged=3, cannot=1, skipped=0, outside=1, relevant=3)
    assert lines["1"].counts.unjudged == 3
    assert lines["2"].counts == StateCounts(pooled=1)
    assert lines["3"].counts == StateCounts(outside=1, relevant=1)
    told = [(line.title, line.listed, line.runs) for line in lines.values()]
    assert told == [("wine", True, 2), ("beer", True, 1), ("", False, 0)]


def test_pools_count_their_own_documents(collection: Collection) -> None:
    """A document in two pools counts in both."""
    fill(collection)
    lines = {line.name: line for line in collection.lists.pools()}
    assert list(lines) == ["main", "late", "old"]
    assert lines["main"].counts == StateCounts(7, judged=3, cannot=1, relevant=2)
    assert lines["late"].counts == StateCounts(2, judged=1)
    assert lines["old"].counts == StateCounts(1, judged=1, relevant=1)
    assert [(line.withdrawn, line.topics, line.runs) for line in lines.values()] == [
        (False, 2, 1),
        (False, 1, 0),
        (True, 1, 0),
    ]


def test_judges_are_told_with_what_they_did(collection: Collection) -> None:
    """States of the moment are counted apart; events are all there were."""
    fill(collection)
    lines = {line.name: line for line in collection.lists.judges()}
    told = {
        name: (line.judged, line.cannot, line.skipped, line.undecided, line.relevant, line.events)
        for name, line in lines.items()
    }
    assert told == {"ann": (3, 1, 1, 1, 2, 6), "bob": (1, 1, 0, 0, 1, 2), "file": (1, 0, 0, 0, 1, 1)}
    assert all(line.last_at is not None for line in lines.values())


def test_runs_are_told_with_what_they_retrieved(collection: Collection) -> None:
    """Topics, documents over them, and pools fed."""
    fill(collection)
    lines = collection.lists.runs()
    told = [(one.tag, one.topics, one.documents, one.pools, one.contributes) for one in lines]
    assert told == [("bm25", 2, 10, 1, True), ("other", 1, 8, 0, False)]
    assert collection.runs.sizes() == {one.tag: (one.topics, one.documents) for one in lines}


def test_documents_are_counted_over_topics(collection: Collection) -> None:
    """Document a is pooled for two topics in two pools, judged for one; z is outside in topic 3."""
    fill(collection)
    found = collection.lists.documents()
    lines = {line.docno: line for line in found.lines}
    assert list(lines) == ["a", "b", "c", "d", "e", "f", "g", "h", "z"]
    assert (lines["a"].pools, lines["a"].has_text, lines["a"].title) == (2, True, "A title")
    assert lines["a"].counts == StateCounts(2, judged=1)
    assert lines["d"].counts == StateCounts(1, cannot=1)
    assert lines["h"].counts == StateCounts(0, outside=1, relevant=1)
    assert (lines["z"].pools, lines["z"].counts) == (0, StateCounts(outside=1, relevant=1))
    total = sum(line.counts.unjudged for line in found.lines)
    assert total == sum(line.counts.unjudged for line in collection.lists.topics())


def test_documents_can_be_limited_and_chosen(collection: Collection) -> None:
    """The limit cuts and the total stays; a topic chooses what is pooled or looked at for it."""
    fill(collection)
    cut = collection.lists.documents(limit=2)
    assert ([line.docno for line in cut.lines], cut.total) == (["a", "b"], 9)

    for topic, docnos in (("1", "abcdefgh"), ("2", "a")):
        assert "".join(line.docno for line in collection.lists.documents(topic).lines) == docnos
    [line] = collection.lists.documents("2", limit=1).lines
    assert line.counts == StateCounts(1)


@pytest.mark.slow
@settings(max_examples=examples(5))
@given(steps=ACTS, withdrawn=st.booleans())
def test_counts_are_those_of_a_plain_walk(
    steps: list[tuple[str, str, str]], withdrawn: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever two judges do and undo, every list adds up to what the current states say."""
    file: Path = tmp_path_factory.mktemp("walk") / "c.db"
    with Collection.create(str(file), name="x", scale=parse_scale("0-2"), program="x") as made:
        made.pools.add(make_pool({"1": ["a", "b", "c"]}, name="one", round="1"))
        made.pools.add(make_pool({"1": ["c", "d"]}, name="two", round="2"))
        made.judgements.add({"old": [Qrel("1", "a", 1), Qrel("1", "x", 0)]}, JudgeKind.IMPORTED)
        for judge in ("ann", "bob"):
            made.judges.add(judge, JudgeKind.HUMAN)
        sittings = {judge: JudgeAtWork(made.desk(judge), "1") for judge in ("ann", "bob")}
        for judge, docno, what in steps:
            sitting = sittings[judge]
            if what.isdigit():
                sitting.grade(docno, int(what))
            elif what == "undo":
                sitting.undo()
            else:
                sitting.act(docno, Action(what), reason="r" if what == "cannot" else "",
                            note="n" if what == "note" else None)  # fmt: skip
        if withdrawn:
            made.pools.withdraw("one")
        used = ["two"] if withdrawn else ["one", "two"]
        pooled, current = pairs_of(made, used), made.judgements.current()
        expected = plain_states(current, pooled)
        [topic] = made.lists.topics()
        assert topic.counts == expected
        for line in made.lists.pools():
            inside = pairs_of(made, [line.name])
            theirs = [one for one in current if (one.topic, one.docno) in inside]
            assert line.counts == plain_states(theirs, inside)
        documents = made.lists.documents().lines
        for name in ("pooled", "judged", "cannot", "skipped", "outside", "relevant"):
            told = sum(getattr(one.counts, name) for one in documents)
            assert told == getattr(expected, name)


def test_run_tells_what_of_it_is_pooled_and_judged(collection: Collection) -> None:
    """Of eight documents for topic 1 seven are pooled, three judged and two of them relevant."""
    fill(collection)
    found = collection.details.run("bm25")
    assert (found.line.group, found.pools) == ("words", ("main",))
    told = [(one.topic, one.documents, one.pooled, one.judged, one.relevant)
            for one in found.topics]  # fmt: skip
    assert told == [("1", 8, 7, 3, 2), ("2", 2, 1, 0, 0)]


def test_topic_tells_its_pools_judges_and_runs(collection: Collection) -> None:
    """Counts are of the topic alone: main has six documents for it, one more for another."""
    fill(collection)
    found = collection.details.topic("1")
    assert (found.topic.title, found.topic.narrative) == ("wine", "red")
    assert [(one.name, one.counts.pooled) for one in found.pools] == [("main", 6), ("late", 2), ("old", 1)]
    assert [(one.name, one.judged) for one in found.judges] == [("ann", 3), ("bob", 1)]
    assert [(one.tag, one.documents) for one in found.runs] == [("bm25", 8), ("other", 8)]


def test_document_tells_pools_runs_and_judgements(collection: Collection) -> None:
    """Every pool and ranking that has it, and every judge's state; never another document's."""
    fill(collection)
    found = collection.details.document("a")
    assert found.document.text == "text\x1b]0;owned\x07 of a"
    assert [(one.topic, one.pool, one.position, one.sampled) for one in found.poolings] == [
        ("1", "main", 0, True),
        ("1", "late", 0, True),
        ("2", "main", 0, True),
    ]
    # other has topic 1 in file order z to a, with bm25's scores: the best are the same.
    told = [(one.topic, one.run, one.rank, one.of, one.score) for one in found.retrievals]
    assert told == [("1", "bm25", 1, 8, 9.0), ("1", "other", 1, 8, 9.0), ("2", "bm25", 1, 2, 9.0)]
    [judge_state] = found.judge_states
    assert (judge_state.topic, judge_state.judge, judge_state.grade) == ("1", "ann", 0)
    noted = collection.details.document("e").judge_states
    assert [(one.state, one.grade, one.note) for one in noted] == [(State.UNJUDGED, None, "odd")]
    assert collection.details.document("z").document.text is None


def test_pool_tells_its_topics_and_judges(collection: Collection) -> None:
    """Judges of other documents are not told, nor topics without a document of the pool."""
    fill(collection)
    found = collection.details.pool("late")
    # ann graded a 0, and nobody g; what is relevant to the topic is outside of this pool.
    counts = StateCounts(2, judged=1, outside=3)
    assert [(one.topic, one.counts) for one in found.topics] == [("1", counts)]
    assert [(one.name, one.judged) for one in found.judges] == [("ann", 1)]
    assert (found.runs, found.display_order) == ((), "docno")
    assert collection.details.pool("main").runs == ("bm25",)


def test_judge_tells_topics_and_sittings(collection: Collection) -> None:
    """One's own counts alone; a file never sat down, and nothing is assigned to anybody."""
    fill(collection)
    found = collection.details.judge("ann")
    [topic] = found.topics
    assert topic.counts == StateCounts(7, judged=2, cannot=1, skipped=1, outside=1, relevant=2)
    [sitting] = found.sittings
    assert (sitting.number, sitting.events, found.assigned) == (1, 6, None)
    assert sitting.ended_at is not None
    imported = collection.details.judge("file")
    assert ([one.topic for one in imported.topics], imported.sittings) == (["3"], ())


@pytest.mark.parametrize("what", ["run", "topic", "document", "pool", "judge"])
def test_unknown_thing_is_refused(collection: Collection, what: str) -> None:
    """What is not there is said, with what is."""
    fill(collection)
    dossier: Callable[[str], object] = getattr(collection.details, what)
    with pytest.raises(UnknownNameError, match=f"unknown {what} `nope`; known: "):
        dossier("nope")


@pytest.mark.slow
def test_demo_runs_the_chain_and_leaves_nothing(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step succeeds, well under a minute, and neither folder nor collection is left."""
    temporary = here / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("POOLER_COLLECTION", "mine.db")
    started = time.monotonic()
    answer = cli("demo").fine()
    assert time.monotonic() - started < 60
    for _, command in STEPS:
        assert f"$ {command}\n" in answer.err
    assert "agreement on grades" in answer.out
    assert list(temporary.iterdir()) == []
    assert [path.name for path in here.iterdir()] == ["tmp"]


@pytest.mark.slow
def test_kept_demo_is_a_collection_to_go_on_with(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--keep` fills an empty folder, as it makes one for most pages; the commands named last work there."""
    (here / "garden").mkdir()
    cli("demo", "--keep", "garden").fine()
    assert not list((here / "garden").glob("collection.db-*"))
    monkeypatch.chdir(here / "garden")
    for line in NEXT:
        command = line.partition("#")[0].split()
        assert command[0] == "pooler"
        cli(*command[1:]).fine()
    qrels = (here / "garden" / "qrels.txt").read_text("utf-8").splitlines()
    assert len(qrels) == 84
    assert (here / "garden" / "runs.tsv").read_bytes() == (GARDEN / "runs.tsv").read_bytes()


def test_folder_with_something_in_it_is_refused_and_kept(cli: Cli, here: Path) -> None:
    """`--keep` touches nothing that is there; where no folder can be made, that is said."""
    (here / "garden").mkdir()
    (here / "garden" / "mine.txt").write_text("mine", "utf-8")
    assert "garden already exists and is not empty" in cli("demo", "--keep", "garden").failed(1).err
    assert [path.name for path in (here / "garden").iterdir()] == ["mine.txt"]
    assert "mine.txt/garden" in cli("demo", "--keep", "garden/mine.txt/garden").failed(1).err
