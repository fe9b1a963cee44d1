"""A small collection with every state there is, and plain counts of what stands in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from store.collection import Collection
from store.judging.states import StateCounts
from store.records import Action, Document, JudgeKind, Judgement, Qrel, State, Topic
from tests.helpers.world import JudgeAtWork, make_pool, make_run

RELAXED = 1
DOCNOS = ("a", "b", "c", "d", "e", "f")


def fill(collection: Collection) -> None:
    """Put two topics, three pools (one withdrawn), and all five states into a collection.

    Topic 1 has a to f in pool main, round 1, and a, g in pool late, round 2; topic 2 has a in main.
    Pool old, withdrawn, had h of topic 1. ann grades a 0, b 2, skips c, cannot judge d, notes e,
    and graded h 1 before its pool was withdrawn; bob grades c 1 and cannot judge b. An
    imported file grades z, of no pool, 2 in topic 3.
    """
    collection.topics.add([Topic("1", "wine", "about wine", "red"), Topic("2", "beer")])
    scores = [(docno, 9.0 - place) for place, docno in enumerate((*DOCNOS, "g", "z"))]
    collection.runs.add(make_run("bm25", {"1": scores, "2": scores[:2]}, group="words"))
    collection.runs.add(make_run("other", {"1": scores[::-1]}, contributes=False))
    main = {"1": list(DOCNOS), "2": ["a"]}
    collection.pools.add(make_pool(main, name="main", round="1", run_tags=("bm25",)))
    collection.pools.add(make_pool({"1": ["a", "g"]}, name="late", round="2"))
    collection.pools.add(make_pool({"1": ["h"]}, name="old", round="2"))
    collection.documents.add([Document("a", "A title", "text\x1b]0;owned\x07 of a")])
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    ann, bob = (JudgeAtWork(collection.desk(judge), "1") for judge in ("ann", "bob"))
    ann.grade("a", 0)
    ann.grade("b", 2)
    ann.act("c", Action.SKIP)
    ann.act("d", Action.CANNOT, reason="torn")
    ann.act("e", Action.NOTE, note="odd")
    ann.grade("h", 1)
    bob.grade("c", 1)
    bob.act("b", Action.CANNOT, reason="torn")
    for one in (ann, bob):
        one.desk.leave()
    imported = [Qrel("3", "z", 2, "7")]
    collection.judgements.add({"file": imported}, JudgeKind.IMPORTED)
    collection.pools.withdraw("old")


def pairs_of(collection: Collection, names: Iterable[str]) -> set[tuple[str, str]]:
    """Return topic and docno of what pools have to judge."""
    return {
        (entry.topic, entry.docno)
        for name in names
        for entry in collection.pools.get(name).entries
        if entry.sampled
    }


def plain_states(
    judgements: Iterable[Judgement], pooled: set[tuple[str, str]], topic: str | None = None
) -> StateCounts:
    """Count documents by standing, one after the other."""
    states: dict[tuple[str, str], list[Judgement]] = {pair: [] for pair in pooled}
    for one in judgements:
        states.setdefault((one.topic, one.docno), []).append(one)
    counts = dict.fromkeys(("pooled", "judged", "cannot", "skipped", "outside", "relevant"), 0)
    for pair, ones in states.items():
        if topic not in (None, pair[0]):
            continue
        has = {one.state for one in ones}
        grades = [one.grade for one in ones if one.grade is not None]
        counts["relevant"] += any(grade >= RELAXED for grade in grades)
        counts["pooled"] += pair in pooled
        if pair not in pooled:
            counts["outside"] += bool(grades)
        elif grades:
            counts["judged"] += 1
        elif State.CANNOT in has:
            counts["cannot"] += 1
        elif State.SKIPPED in has:
            counts["skipped"] += 1
    return StateCounts(**counts)


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one judge, for one topic or all."""

    pooled: int = 0
    judged: int = 0
    skipped: int = 0
    cannot: int = 0
    outside: int = 0
    by_grade: dict[int, int] = field(default_factory=dict)

    @property
    def unjudged(self) -> int:
        """What is left of the pool."""
        return self.pooled - self.judged - self.skipped - self.cannot


def state_counts(collection: Collection) -> dict[tuple[str, str], Counts]:
    """Return the counts of every topic and judge; under the empty topic those of all topics."""
    progress = collection.progress.counts()
    found: dict[tuple[str, str], Counts] = {}
    for counts in (progress.by_topic(), progress.by_judge()):
        topics = counts.topics.tolist() if counts.topics.size else [-1] * len(counts.judges)
        numbers = (counts.pooled, counts.judged, counts.skipped, counts.cannot, counts.outside)
        columns = [column.tolist() for column in (*numbers, counts.by_grade, counts.unjudged)]
        for topic, judge, *cells, grades, unjudged in zip(
            topics, counts.judges.tolist(), *columns, strict=True
        ):
            one = Counts(*cells, dict(zip(collection.scale.values, grades, strict=True)))
            assert one.unjudged == unjudged
            found["" if topic < 0 else progress.topics[topic], progress.judges[judge]] = one
    return found


def by_topic(collection: Collection) -> dict[tuple[str, str], Counts]:
    """Return the counts of every topic and judge."""
    return {pair: counts for pair, counts in state_counts(collection).items() if pair[0]}
