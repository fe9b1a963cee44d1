"""The collection as a whole: one transaction a method, one content on either engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from store.collection import Collection
from store.content.rankings import NumberedDocuments
from store.db.database import Inside
from store.db.tables import TOPIC
from store.grades.definition import QrelsDefinition
from store.judging.codes import Access
from store.model_judge import ModelIdentity
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
    StoredRun,
    Topic,
)
from tests.helpers.world import (
    JudgeAtWork,
    make_pool,
    make_run,
    pairs_to_judge,
    parse_scale,
    statements,
    stored_run,
)
from tests.store.state_counts import state_counts

HUMAN = JudgeKind.HUMAN
IDS = ["1", "001", "NA", '"x', "2681119#1", "文書", "doc", "Doc", "é", "e\u0301"]


def fill(collection: Collection) -> None:
    """Put a bit of everything into a collection."""
    collection.topics.add([Topic("1", "wine", "d", "n"), Topic("001", "beer\0\ud800")])
    scores = [(docno, 1.0 / (place + 3)) for place, docno in enumerate(IDS)]
    collection.runs.add(make_run("bm25", {"1": scores, "001": scores[::-1]}, group="g"))
    entries = [
        PoolEntry(topic, docno, place, 0.1 * place, place, 1 / (place + 1))
        for topic in ("1", "001")
        for place, docno in enumerate(IDS)
    ]
    manifest = {"strategy": "depth", "seed": 3, "out_order": "priority", "q": "文"}
    collection.pools.add(Pool(entries, manifest, "main", "2", ("bm25",)))
    collection.documents.add(Document(docno, f"t {docno}", f"\0{docno}") for docno in IDS)
    collection.judges.add("ann", HUMAN)
    collection.judgements.add({"old": [Qrel("1", "zz", 2, "7")]}, JudgeKind.IMPORTED)
    sitting = JudgeAtWork(collection.desk("ann"), "1")
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
    target.topics.add(source.topics.all())
    for stored in source.runs.all():
        target.runs.add(stored_run(source, stored))
    for pool in source.pools.all():
        target.pools.add(source.pools.get(pool.name))
    documents = (source.documents.get(docno) for docno in sorted(source.documents.listed()))
    target.documents.add(document for document in documents if document is not None)
    for judge in source.judges.all():
        target.judges.add(judge.name, judge.kind)
    by_judge: dict[str, list[Judgement]] = {}
    for one in source.judgements.current():
        by_judge.setdefault(one.judge, []).append(one)
    pooled = pairs_to_judge(source)
    for judge in source.judges.all():
        desk = target.desk(judge.name)
        sittings = {topic: JudgeAtWork(desk, topic) for topic, _ in pooled}
        for one in by_judge.get(judge.name, []):
            if (one.topic, one.docno) not in pooled:
                assert one.grade is not None
                qrel = Qrel(one.topic, one.docno, one.grade, one.iteration)
                target.judgements.add({judge.name: [qrel]}, judge.kind)
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
    runs = [stored_run(collection, stored) for stored in collection.runs.all()]
    return {
        "scale": collection.scale,
        "topics": collection.topics.all(),
        "listed": (collection.topics.listed(), collection.documents.listed()),
        "documents": [collection.documents.get(docno) for docno in IDS],
        "runs": [(run.tag, run.sha256, run.file, run.group, run.contributes) for run in runs],
        "rankings": [
            (one.topic, one.docnos, one.scores.tobytes(), [] if one.ranks is None else [*one.ranks])
            for run in runs
            for one in run.rankings
        ],
        "pools": collection.pools.all(),
        "entries": [collection.pools.get(pool.name) for pool in collection.pools.all()],
        "pooled": pairs_to_judge(collection),
        "judges": collection.judges.all(),
        "judgements": {
            (one.topic, one.docno, one.judge): (
                one.state, one.grade, one.reason, one.note, one.iteration
            )
            for one in collection.judgements.current()
        },
        "progress": state_counts(collection),
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
    ranked = [collection.runs.ranked() for collection in both]
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
    run = make_run("new", {"5": [("new", 1.0)]})
    live = [PoolEntry("1", docno, place, sampled=False) for place, docno in enumerate(IDS)]
    collection.pools.add(Pool(live, {}, "live", budgets={"1": 2}))
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    listed = [[PoolEntry("6", "new8", 0)]]
    own = QrelsDefinition(judges=("old",), without_rulings=True)
    then = QrelsDefinition(as_of=datetime.now(UTC), events=1)
    votes = collection.grades.all_votes(own)

    def about(tag: str) -> StoredRun:
        return StoredRun(tag, "", contributes=True, sha256=tag, file=tag)

    return {
        "topics.add": lambda: collection.topics.add([Topic("7")]),
        "topics.all": collection.topics.all,
        "topics.listed": collection.topics.listed,
        "documents.add": lambda: collection.documents.add([Document("new2")]),
        "documents.get": lambda: collection.documents.get("1"),
        "documents.read": lambda: collection.documents.read(["1", "none"]),
        "documents.with_texts": collection.documents.with_texts,
        "documents.listed": collection.documents.listed,
        "documents.count_without_text": collection.documents.count_without_text,
        "runs.add": lambda: collection.runs.add(run),
        "runs.add_packed": lambda: collection.runs.add_packed(about("new7"), iter([]), NumberedDocuments()),
        "runs.all": collection.runs.all,
        "runs.sizes": collection.runs.sizes,
        "runs.top": lambda: collection.runs.top(depth=1),
        "documents.names": lambda: collection.documents.names([1]),
        "runs.ranked": collection.runs.ranked,
        "pools.add": lambda: collection.pools.add(make_pool({"6": ["new3"]})),
        "pools.add_by_topic": lambda: collection.pools.add_by_topic(listed, lambda: Pool([], {}, "by topic")),
        "pools.replace": lambda: collection.pools.replace(
            [[PoolEntry("6", "new9", 0)]], lambda: Pool([], {}, "by topic")
        ),
        "pool_changes.pair_states": collection.pool_changes.pair_states,
        "pool_changes.if_pooled": lambda: collection.pool_changes.if_pooled([("1", "NA"), ("6", "new10")]),
        "pools.draw": lambda: collection.pools.draw("live", "1", lambda _draws: "001"),
        "pools.remove_run": lambda: collection.pools.remove_run("bm25", {}),
        "pools.withdraw": lambda: collection.pools.withdraw("live"),
        "progress.count_judged": lambda: collection.progress.count_judged("main"),
        "pools.adaptive": collection.pools.adaptive,
        "pools.all": collection.pools.all,
        "pools.pairs": collection.pools.pairs,
        "documents.lengths": lambda: collection.documents.lengths([1]),
        "pools.get": lambda: collection.pools.get("main"),
        "judges.add": lambda: collection.judges.add("eve", HUMAN),
        "judges.all": collection.judges.all,
        "codes.give": lambda: collection.codes.give("ann"),
        "codes.judge_of": lambda: collection.codes.judge_of("a guess"),
        "codes.count": collection.codes.count,
        "codes.judge_called": lambda: collection.codes.judge_called("ann"),
        "codes.log_in": lambda: collection.codes.log_in(Access(1, "ann", HUMAN, "")),
        "codes.login_of": lambda: collection.codes.login_of("a guess"),
        "codes.log_out": lambda: collection.codes.log_out("a guess"),
        "codes.revoke": lambda: collection.codes.revoke("ann"),
        "judgements.add": lambda: collection.judgements.add(
            {"eve": [Qrel("8", "new4", 1)], "bob": []}, HUMAN, pool=make_pool({"9": ["new5"]}, name="p")
        ),
        "judgements.current": collection.judgements.current,
        "progress.counts": collection.progress.counts,
        "desk": lambda: collection.desk("ann"),
        "judges.set_disabled": lambda: collection.judges.set_disabled(["bob"], disabled=True),
        "assignments.make": lambda: collection.assignments.make(Scope(), no_plan, existing=Existing.ADD),
        "assignments.clear": lambda: collection.assignments.clear(Scope()),
        "assignments.topic_judges": collection.assignments.topic_judges,
        "assignments.workloads": collection.assignments.workloads,
        "progress.unclaimed": collection.progress.unclaimed,
        "progress.recent_times": lambda: collection.progress.recent_times(limit=5),
        "progress.effort": collection.progress.effort,
        "rejudging.outdated": collection.rejudging.outdated,
        "rejudging.reopen": collection.rejudging.reopen,
        "guidelines.add": lambda: collection.guidelines.add("Read all."),
        "guidelines.get": collection.guidelines.get,
        "guidelines.all": collection.guidelines.all,
        "adjudication_desk": lambda: collection.adjudication_desk("zoe"),
        "disagreements.all": collection.disagreements.all,
        "disagreements.count_deciders": collection.disagreements.count_deciders,
        "disagreements.judge_names": collection.disagreements.judge_names,
        "disagreements.voters": collection.disagreements.voters,
        "documents.texts": lambda: list(collection.documents.texts()),
        "documents.count_texts": collection.documents.count_texts,
        "grades.votes": collection.grades.votes,
        "grades.all_votes": lambda: collection.grades.all_votes(own),
        "grades.open_pairs": lambda: collection.grades.open_pairs(votes, QrelsDefinition()),
        "grades.final": lambda: collection.grades.final(own),
        "grades.sole": lambda: collection.grades.sole(own),
        "qrels.all": collection.qrels.all,
        "qrels.named": collection.qrels.named,
        "qrels.define": lambda: collection.qrels.define("strict", QrelsDefinition(aggregate="min")),
        "qrels.drop": lambda: collection.qrels.drop("strict"),
        "qrels.missing_events": lambda: collection.qrels.missing_events(then),
        "grades.sampled_pools": lambda: collection.grades.sampled_pools({}),
        "judgements.history": lambda: list(collection.judgements.history()),
        "lists.runs": collection.lists.runs,
        "lists.topics": collection.lists.topics,
        "lists.documents": collection.lists.documents,
        "lists.pools": collection.lists.pools,
        "lists.judges": collection.lists.judges,
        "details.run": lambda: collection.details.run("bm25"),
        "details.topic": lambda: collection.details.topic("1"),
        "details.document": lambda: collection.details.document("NA"),
        "details.pool": lambda: collection.details.pool("main"),
        "details.judge": lambda: collection.details.judge("ann"),
        "history.of_document": lambda: collection.history.of_document("1", "NA"),
        "history.everything": collection.history.everything,
        "documents.numbers": collection.documents.numbers,
        "grades.ungraded": lambda: collection.grades.ungraded({}, QrelsDefinition()),
        "assignments.places": collection.assignments.places,
        "clock_doubt": collection.clock_doubt,
        "grades.judges": collection.grades.judges,
        "grades.voters": collection.grades.voters,
        "grades.candidates": lambda: collection.grades.candidates(1),
        "as_it_stands": lambda: enter(collection.as_it_stands()),
        "being_filled": lambda: enter(collection.being_filled()),
        "judges.rename": lambda: collection.judges.rename("eve", "eva"),
        "erasures.erase": lambda: collection.erasures.erase("eva"),
        "erasures.all": collection.erasures.all,
        "models.add": lambda: collection.models.add("gpt", ModelIdentity("gpt-4o")),
        "models.all": collection.models.all,
        "models.answers": lambda: list(collection.models.answers("gpt")),
        "models.take": lambda: collection.models.take("gpt", []),
        "models.work": collection.models.work,
        "models.text_keys": collection.models.text_keys,
        "model_desk": lambda: collection.model_desk("gpt"),
    }


def enter(transaction: AbstractContextManager[Inside]) -> None:
    """Begin a transaction, look at something in it, and end it."""
    with transaction as inside:
        inside.session.execute(select(TOPIC.c.id))


_WRITERS = (
    "add", "draw", "give", "remove_run", "withdraw", "set_", "replace", "rename", "erase", "revoke", "clear",
    "define", "drop", "log_in",
)  # fmt: skip
"""How methods that write begin; those that find nothing to do here are not among them."""


def test_every_method_is_one_transaction(collection: Collection) -> None:
    """Each method begins once; those that only read send nothing that writes."""
    fill(collection)
    begun: list[object] = []

    def count(connection: object) -> None:
        begun.append(connection)

    methods = calls(collection)
    areas = {name for name, value in vars(Collection).items() if isinstance(value, cached_property)}
    own = {name for name in vars(Collection) if not name.startswith("_")}
    public = own - areas - {"close", "create", "fields", "look_alikes", "where", "verify"}
    public -= {"page_head", "import_work"}  # tests/store/keeping/test_import_work.py
    for area in areas:
        public |= {f"{area}.{name}" for name in vars(type(getattr(collection, area))) if name[0] != "_"}
    assert public == set(methods)
    event.listen(Engine, "begin", count)
    try:
        for name, call in methods.items():
            begun.clear()
            with statements() as sent:
                call()
            # Desks of adjudicators and models look at who the judge is besides.
            several = {"adjudication_desk": 2, "model_desk": 2}
            assert len(begun) == several.get(name, 1), name
            writes = any(statement.startswith(("INSERT", "UPDATE")) for statement, _ in sent)
            assert writes == name.rpartition(".")[2].startswith(_WRITERS), name
    finally:
        event.remove(Engine, "begin", count)


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
            collection.documents.add(broken(), all_texts=True)
        assert picture(collection) == before
    collection.documents.add([Document("half", "", "whole")], all_texts=True)
    assert collection.documents.get("half") == Document("half", "", "whole")
