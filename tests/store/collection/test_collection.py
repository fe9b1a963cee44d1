"""The collection as a whole: one transaction a method, one content on either engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from store.collection.collection import Collection
from store.collection.listed import ListedCollection
from store.collection.measured import MeasuredCollection
from store.collection.pooled import PooledCollection
from store.collection.portable import PortableCollection
from store.collection.scored import ScoredCollection
from store.collection.staffed import StaffedCollection
from store.collection.watched import WatchedCollection
from store.content.opened import Inside, OpenCollection
from store.content.runs import StoredRun
from store.db.document_numbers import NumberedDocuments
from store.db.tables import TOPIC
from store.formats.scale import parse_scale
from store.grades.policy import Policy
from store.records import (
    Action,
    Assignable,
    AssignmentPlan,
    Document,
    Existing,
    JudgeKind,
    Judgement,
    Pool,
    PoolEntry,
    Qrel,
    Scope,
    State,
    Topic,
)
from tests.store.outside import Sitting, make_pool, make_run, statements

HUMAN = JudgeKind.HUMAN
IDS = ["1", "001", "NA", '"x', "2681119#1", "文書", "doc", "Doc", "é", "e\u0301"]


def fill(collection: Collection) -> None:
    """Put a bit of everything into a collection."""
    collection.add_topics([Topic("1", "wine", "d", "n"), Topic("001", "beer\0\ud800")])
    scores = [(docno, 1.0 / (place + 3)) for place, docno in enumerate(IDS)]
    collection.add_run(make_run("bm25", {"1": scores, "001": scores[::-1]}, group="g"))
    entries = [
        PoolEntry(topic, docno, place, 0.1 * place, place, 1 / (place + 1))
        for topic in ("1", "001")
        for place, docno in enumerate(IDS)
    ]
    manifest = {"strategy": "depth", "seed": 3, "out_order": "random", "q": "文"}
    collection.add_pool(Pool(entries, manifest, "main", "2", ("bm25",)))
    collection.add_documents(Document(docno, f"t {docno}", f"\0{docno}") for docno in IDS)
    collection.add_judge("ann", HUMAN)
    collection.import_judgements({"old": [Qrel("1", "zz", 2, "7")]}, JudgeKind.IMPORTED)
    sitting = Sitting(collection.desk("ann"), "1")
    sitting.grade("1", 2)
    sitting.act("001", Action.JUDGE, grade=0, note="日本語 \0 \ud800")
    sitting.act("NA", Action.SKIP)
    sitting.act('"x', Action.CANNOT, reason="torn", note="n")
    sitting.act("文書", Action.NOTE, note="only a note")
    sitting.grade("doc", 1)
    sitting.undo()
    sitting.desk.leave()


def copy(source: Collection, target: Collection) -> None:
    """Copy a collection by nothing but its public methods."""
    target.add_topics(source.topics())
    for stored in source.runs():
        target.add_run(source.read_run(stored))
    for pool in source.pools():
        target.add_pool(source.pool(pool.name))
    documents = (source.document(docno) for docno in sorted(source.listed_docnos()))
    target.add_documents(document for document in documents if document is not None)
    for judge in source.judges():
        target.add_judge(judge.name, judge.kind)
    by_judge: dict[str, list[Judgement]] = {}
    for one in source.judgements():
        by_judge.setdefault(one.judge, []).append(one)
    pooled = set(source.pooled_rounds())
    for judge in source.judges():
        desk = target.desk(judge.name)
        sittings = {topic: Sitting(desk, topic) for topic, _ in pooled}
        for one in by_judge.get(judge.name, []):
            if (one.topic, one.docno) not in pooled:
                assert one.grade is not None
                qrel = Qrel(one.topic, one.docno, one.grade, one.iteration)
                target.import_judgements({judge.name: [qrel]}, judge.kind)
                continue
            action = {
                State.JUDGED: Action.JUDGE,
                State.SKIPPED: Action.SKIP,
                State.CANNOT: Action.CANNOT,
                State.UNJUDGED: Action.NOTE,
            }[one.state]
            sittings[one.topic].act(one.docno, action, grade=one.grade, reason=one.reason, note=one.note)


def picture(collection: Collection) -> dict[str, Any]:
    """Take down what a collection holds, but for moments and revisions."""
    runs = [collection.read_run(stored) for stored in collection.runs()]
    return {
        "scale": collection.scale,
        "topics": collection.topics(),
        "listed": (collection.listed_topics(), collection.listed_docnos()),
        "documents": [collection.document(docno) for docno in IDS],
        "runs": [(run.tag, run.sha256, run.file, run.group, run.contributes) for run in runs],
        "rankings": [
            (one.topic, one.docnos, one.scores.tobytes(), [] if one.ranks is None else [*one.ranks])
            for run in runs
            for one in run.rankings
        ],
        "pools": collection.pools(),
        "entries": [collection.pool(pool.name) for pool in collection.pools()],
        "pooled": set(collection.pooled_rounds()),
        "judges": collection.judges(),
        "judgements": {
            (one.topic, one.docno, one.judge): (
                one.state, one.grade, one.reason, one.note, one.iteration
            )
            for one in collection.judgements()
        },
        "progress": collection.progress(),
        "inbox": [
            (line.topic, line.title, line.documents, line.judged, line.skipped, line.cannot)
            for line in collection.desk("ann").inbox()
        ],
        "order": [task.docno for task in collection.desk("ann").queue("1")],
    }  # fmt: skip


@pytest.fixture
def both(tmp_path: Path, postgres_url: str) -> Iterator[tuple[Collection, Collection]]:
    """Make an empty collection on each engine."""
    scale = parse_scale("0-2")
    with (
        Collection.create(str(tmp_path / "x.db"), name="x", scale=scale, program="x") as sqlite,
        Collection.create(postgres_url, name="x", scale=scale, program="x") as postgres,
    ):
        yield sqlite, postgres


@pytest.mark.parametrize("turn", [1, -1], ids=["to PostgreSQL", "to SQLite"])
def test_copy_on_the_other_engine_is_equal(both: tuple[Collection, Collection], turn: int) -> None:
    """Runs, pools, judgements and notes copied to the other engine are the same there."""
    source, target = both[::turn]
    fill(source)
    copy(source, target)
    expected, found = picture(source), picture(target)
    for part, value in expected.items():
        assert found[part] == value, part
    assert len(expected["judgements"]) == 7


@pytest.mark.slow
def test_same_steps_give_equal_collections(both: tuple[Collection, Collection]) -> None:
    """The same calls on both engines leave the same content, row ids included."""
    for collection in both:
        fill(collection)
    sqlite, postgres = both
    assert picture(sqlite) == picture(postgres)
    ranked = [collection.ranked_documents() for collection in both]
    assert ranked[0].docnos == ranked[1].docnos
    for key, ids in ranked[0].rankings.items():
        assert ids.tolist() == ranked[1].rankings[key].tolist()


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


def no_plan(documents: Sequence[Assignable]) -> AssignmentPlan:
    """Assign nothing."""
    return AssignmentPlan([], {})


def calls(collection: Collection) -> dict[str, Callable[[], object]]:
    """List every public method with what it needs."""
    stored = collection.runs()[0]
    run = make_run("new", {"5": [("new", 1.0)]})
    live = [PoolEntry("1", docno, place, sampled=False) for place, docno in enumerate(IDS)]
    collection.add_pool(Pool(live, {}, "live", budgets={"1": 2}))
    collection.add_judge("zoe", JudgeKind.ADJUDICATOR)
    listed = [[PoolEntry("6", "new8", 0)]]

    def about(tag: str) -> StoredRun:
        return StoredRun(tag, "", contributes=True, sha256=tag, file=tag)

    return {
        "add_topics": lambda: collection.add_topics([Topic("7")]),
        "topics": collection.topics,
        "listed_topics": collection.listed_topics,
        "add_documents": lambda: collection.add_documents([Document("new2")]),
        "document": lambda: collection.document("1"),
        "listed_docnos": collection.listed_docnos,
        "count_pooled_without_text": collection.count_pooled_without_text,
        "add_run": lambda: collection.add_run(run),
        "add_rankings": lambda: collection.add_rankings(about("new6"), iter(run.rankings)),
        "add_packed_run": lambda: collection.add_packed_run(about("new7"), iter([]), NumberedDocuments()),
        "runs": collection.runs,
        "run_sizes": collection.run_sizes,
        "top_documents": lambda: collection.top_documents(depth=1),
        "docnos": lambda: collection.docnos([1]),
        "read_run": lambda: collection.read_run(stored),
        "ranked_documents": collection.ranked_documents,
        "add_pool": lambda: collection.add_pool(make_pool({"6": ["new3"]})),
        "add_pool_by_topic": lambda: collection.add_pool_by_topic(listed, lambda: Pool([], {}, "by topic")),
        "replace_pool": lambda: collection.replace_pool(
            [[PoolEntry("6", "new9", 0)]], lambda: Pool([], {}, "by topic")
        ),
        "pair_standings": collection.pair_standings,
        "prospects": lambda: collection.prospects([("1", "NA"), ("6", "new10")]),
        "draw": lambda: collection.draw("live", "1", lambda _draws: "001"),
        "unpool": lambda: collection.unpool("bm25", {}),
        "withdraw_pool": lambda: collection.withdraw_pool("live"),
        "count_judged": lambda: collection.count_judged("main"),
        "pools": collection.pools,
        "pool": lambda: collection.pool("main"),
        "pooled_rounds": collection.pooled_rounds,
        "add_judge": lambda: collection.add_judge("eve", HUMAN),
        "judges": collection.judges,
        "import_judgements": lambda: collection.import_judgements(
            {"eve": [Qrel("8", "new4", 1)], "bob": []}, HUMAN, pool=make_pool({"9": ["new5"]}, name="p")
        ),
        "judgements": collection.judgements,
        "progress": collection.progress,
        "desk": lambda: collection.desk("ann"),
        "set_disabled": lambda: collection.set_disabled(["bob"], disabled=True),
        "assign": lambda: collection.assign(Scope(), no_plan, existing=Existing.ADD),
        "clear_places": lambda: collection.clear_places(Scope()),
        "workloads": collection.workloads,
        "unclaimed": collection.unclaimed,
        "recent_times": lambda: collection.recent_times(limit=5),
        "effort": collection.effort,
        "outdated": collection.outdated,
        "reopen_outdated": collection.reopen_outdated,
        "add_guideline": lambda: collection.add_guideline("Read all."),
        "guideline": collection.guideline,
        "guidelines": collection.guidelines,
        "adjudication_desk": lambda: collection.adjudication_desk("zoe"),
        "disagreements": collection.disagreements,
        "disagreement_cells": collection.disagreement_cells,
        "count_deciders": collection.count_deciders,
        "judge_names": collection.judge_names,
        "votes": collection.votes,
        "ballots": lambda: collection.ballots(Policy(judge="old")),
        "final_qrels": lambda: collection.final_qrels(Policy(judge="old")),
        "sole_grades": lambda: collection.sole_grades(Policy(judge="old")),
        "sampled_pools": lambda: collection.sampled_pools({}),
        "histories": lambda: list(collection.histories()),
        "append_histories": lambda: collection.append_histories([]),
        "run_lines": collection.run_lines,
        "topic_lines": collection.topic_lines,
        "document_lines": collection.document_lines,
        "pool_lines": collection.pool_lines,
        "judge_lines": collection.judge_lines,
        "round_lines": collection.round_lines,
        "run_dossier": lambda: collection.run_dossier("bm25"),
        "topic_dossier": lambda: collection.topic_dossier("1"),
        "document_dossier": lambda: collection.document_dossier("NA"),
        "pool_dossier": lambda: collection.pool_dossier("main"),
        "judge_dossier": lambda: collection.judge_dossier("ann"),
        "chronicle": lambda: collection.chronicle("1", "NA"),
        "annals": collection.annals,
        "as_it_stands": lambda: enter(collection.as_it_stands()),
        "being_filled": lambda: enter(collection.being_filled()),
        "rename_judge": lambda: collection.rename_judge("eve", "eva"),
        "anonymise_judges": lambda: collection.anonymise_judges(["eva"]),
        "erase_judge": lambda: collection.erase_judge("judge-1"),
        "erasures": collection.erasures,
        "scrub": collection.scrub,
    }


def enter(transaction: AbstractContextManager[Inside]) -> None:
    """Begin a transaction, look at something in it, and end it."""
    with transaction as inside:
        inside.session.execute(select(TOPIC.c.id))


_WRITERS = (
    "add_", "draw", "import", "unpool", "withdraw", "set_", "replace", "rename", "anonymise",
    "erase_",
)  # fmt: skip
"""How methods that write are called; those that find nothing to do here are not among them."""


def test_every_method_is_one_transaction(collection: Collection) -> None:
    """Each method begins once; those that only read send nothing that writes."""
    fill(collection)
    begun: list[object] = []

    def count(connection: object) -> None:
        begun.append(connection)

    methods = calls(collection)
    layers = (
        Collection,
        StaffedCollection,
        MeasuredCollection,
        PortableCollection,
        ListedCollection,
        OpenCollection,
        PooledCollection,
        ScoredCollection,
        WatchedCollection,
    )
    own = {name for layer in layers for name in vars(layer)}
    public = {name for name in own if not name.startswith("_")} - {"close", "create", "look_alikes", "where"}
    assert public == set(methods)
    event.listen(Engine, "begin", count)
    try:
        for name, call in methods.items():
            begun.clear()
            with statements() as sent:
                call()
            # A desk of an adjudicator looks at the kind of the judge besides; a file is written
            # anew outside of transactions.
            assert len(begun) == {"adjudication_desk": 2, "scrub": 0}.get(name, 1), name
            writes = any(statement.startswith(("INSERT", "UPDATE")) for statement, _ in sent)
            assert writes == name.startswith(_WRITERS), name
    finally:
        event.remove(Engine, "begin", count)


def test_two_objects_see_each_others_rows(collection: Collection, collection_name: str) -> None:
    """Ids that one object adds are known to the other at its next call."""
    with Collection(collection_name) as other:
        for number in range(3):
            for one, tag in ((collection, "mine"), (other, "theirs")):
                docnos = [(f"{tag}{number}", 2.0), (f"both{number}", 1.0)]
                one.add_run(make_run(f"{tag}{number}", {f"{tag}": docnos, "both": docnos}))
        for one in (collection, other):
            for stored in one.runs():
                for ranking in one.read_run(stored).rankings:
                    assert ranking.docnos == [stored.tag, f"both{stored.tag[-1]}"]


def test_failure_in_any_import_leaves_the_object_working(collection: Collection) -> None:
    """An error inside an import is the caller's own, and the next call is as good as before."""

    def broken() -> Iterator[Document]:
        yield Document("half", "", "x")
        message = "unplugged"
        raise OSError(message)

    fill(collection)
    before = picture(collection)
    for _ in range(2):
        with pytest.raises(OSError, match="unplugged"):
            collection.add_documents(broken(), all_texts=True)
        assert picture(collection) == before
    collection.add_documents([Document("half", "", "whole")], all_texts=True)
    assert collection.document("half") == Document("half", "", "whole")
