"""When judging could have stopped: real judgements replayed, the bound looked at after every document.

What was judged is the universe, so that its truth is known: of TREC-COVID and dl21 what their qrels have, of
CF all of its 1,239 documents. The best ranks of the runs (of CF, which has none, the first documents by words
in common with the question) are judged first; the rest is drawn at random, one by one. `-m long` prints the
table of docs/evidence.md.
"""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from store.analysis.pools.stopping import most_relevant
from store.records import State
from tests.helpers import cf_collection, trec_covid
from tests.helpers.model_judges import PEOPLE_LEVEL, grades_of, run_paths
from tests.pools.stopping_rules import at_most, stops_at_knee

TARGETS = (0.8, 0.9)
ERROR = 0.05


@dataclass(frozen=True)
class ReplayedTopic:
    """One topic with its truth: documents in the order of the runs."""

    relevant: NDArray[np.bool_]
    """Shape (n_documents,), the most promising first."""
    n_first: int
    """Documents judged before the rest is drawn."""


@cache
def covid() -> tuple[ReplayedTopic, ...]:
    """Take what TREC-COVID judged in round 1, by best rank; first the first two ranks of each run."""
    return tuple(
        _by_best_rank(
            {docno: grade >= trec_covid.MIN_GRADE for docno, grade in grades.items()},
            [ranking for (_, of), ranking in trec_covid.load_rankings().items() if of == topic],
            depth=2,
        )
        for topic, grades in sorted(trec_covid.load_qrels().items())
    )


@cache
def dl21() -> tuple[ReplayedTopic, ...]:
    """Take what NIST judged of dl21, relevant = 2 or 3, by best rank; first three ranks of each run."""
    grades: dict[str, dict[str, bool]] = {}
    for (topic, docno), grade in grades_of("nist").items():
        grades.setdefault(topic, {})[docno] = grade >= PEOPLE_LEVEL
    rankings: dict[str, list[list[str]]] = {topic: [] for topic in grades}
    for path in run_paths():
        of_run: dict[str, list[str]] = {}
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                topic, _, docno, *_ = line.split()
                of_run.setdefault(topic, []).append(docno)
        for topic, ranking in of_run.items():
            rankings[topic].append(ranking)
    return tuple(_by_best_rank(found, rankings[topic], depth=3) for topic, found in sorted(grades.items()))


@cache
def cf() -> tuple[ReplayedTopic, ...]:
    """Take all of CF, relevant = 1 or 2 by REW; first the 100 documents that share the rarest words."""
    documents = cf_collection.load_documents()
    words = [frozenset(re.findall("[a-z]{3,}", f"{one.title} {one.text}".lower())) for one in documents]
    frequency = Counter(word for bag in words for word in bag)
    relevant = {
        (one.topic, one.docno)
        for one in cf_collection.load_judgements()
        if one.judge == "REW" and one.state is State.JUDGED and (one.grade or 0) >= 1
    }
    topics = []
    for topic in cf_collection.load_topics():
        asked = frozenset(re.findall("[a-z]{3,}", topic.title.lower()))
        worth = [sum(math.log(len(words) / frequency[word]) for word in bag & asked) for bag in words]
        order = np.argsort(-np.array(worth), kind="stable")
        truth = np.array([(topic.topic, one.docno) in relevant for one in documents])
        topics.append(ReplayedTopic(truth[order], 100))
    return tuple(topics)


def _by_best_rank(grades: dict[str, bool], rankings: list[list[str]], *, depth: int) -> ReplayedTopic:
    """Order judged documents by their best rank in the runs, then by docno."""
    best: dict[str, int] = {}
    for ranking in rankings:
        for rank, docno in enumerate(ranking, 1):
            best[docno] = min(rank, best.get(docno, rank))
    order = sorted(grades, key=lambda docno: (best.get(docno, 10**6), docno))
    n_first = sum(best.get(docno, 10**6) <= depth for docno in order)
    return ReplayedTopic(np.array([grades[docno] for docno in order]), n_first)


@dataclass
class Tally:
    """What came of many replays of one collection."""

    n: int = 0
    wrong: int = 0
    wrong_once: int = 0
    stopped: int = 0
    short: int = 0
    """Stopped with less than the target found."""
    judged: int = 0
    documents: int = 0
    recall: float = 0.0
    knee_short: int = 0
    knee_judged: int = 0

    def row(self, name: str, target: float) -> str:
        """Write it as a row of the table."""
        return (
            f"| {name} | {target:g} | {self.n:,} | {self.wrong_once / self.n:.1%} |"
            f" {self.wrong / self.n:.1%} |"
            f" {self.stopped / self.n:.0%} | {self.short / self.n:.1%} | {self.recall / self.n:.3f} |"
            f" {1 - self.judged / self.documents:.0%} | {self.knee_short / self.n:.0%} |"
            f" {1 - self.knee_judged / self.documents:.0%} |"
        )


def replay(topics: tuple[ReplayedTopic, ...], n_times: int, seed: int) -> dict[float, Tally]:
    """Judge every topic several times, the rest in another random order each time; by target."""
    rng, tallies = np.random.default_rng(seed), {target: Tally() for target in TARGETS}
    for topic in topics:
        total = int(topic.relevant.sum())
        if not total:
            continue
        head, tail = topic.relevant[: topic.n_first], topic.relevant[topic.n_first :]
        found, hidden = int(head.sum()), int(tail.sum())
        knee_at = next(
            (n for n in range(10, topic.relevant.size, 5) if stops_at_knee(topic.relevant[:n].tolist())),
            topic.relevant.size,
        )
        at_knee = int(topic.relevant[:knee_at].sum())
        for _ in range(n_times):
            hits = np.append(0, np.cumsum(rng.permutation(tail)))
            looks = list(enumerate(hits.tolist()))
            most = np.array([most_relevant(tail.size, n, k) for n, k in looks])
            is_wrong = bool((most < hidden).any())
            # The hypergeometric limit is below the truth where so few would be as unlikely as this.
            is_wrong_once = any(at_most(k, tail.size, hidden, n) <= ERROR for n, k in looks)
            all_found = found + hits
            for target, tally in tallies.items():
                reached = np.flatnonzero(all_found >= target * np.maximum(found + most, 1))
                at = int(reached[0]) if reached.size else tail.size
                tally.n += 1
                tally.wrong += is_wrong
                tally.wrong_once += is_wrong_once
                tally.stopped += at < tail.size
                tally.short += all_found[at] < target * total - 1e-9
                tally.recall += all_found[at] / total
                tally.judged += topic.n_first + at
                tally.documents += topic.relevant.size
                tally.knee_judged += knee_at
                tally.knee_short += at_knee < target * total - 1e-9
    return tallies


def collections() -> Iterator[tuple[str, tuple[ReplayedTopic, ...]]]:
    """Give the collections that are here."""
    yield "TREC-COVID round 1", covid()
    yield "dl21", dl21()
    yield "CF", cf()


@pytest.mark.long
@pytest.mark.parametrize("make", [covid, dl21, cf], ids=["covid", "dl21", "cf"])
def test_the_bound_holds_on_real_judgements(make: object) -> None:
    """Wrong at some look in no more topics than it says, but for chance; and something is saved."""
    assert callable(make)
    topics = make()
    if len(topics) > 40:
        topics = topics[::3]
    tally = replay(topics, 1, seed=1)[0.8]
    allowed = ERROR * tally.n + 2.33 * math.sqrt(tally.n * ERROR * (1 - ERROR))
    assert tally.wrong <= allowed
    assert tally.short <= allowed
    assert tally.judged < tally.documents


@pytest.mark.long
def test_replays_of_the_evidence_page(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of docs/evidence.md: 20 random orders of every topic."""
    for name, topics in collections():
        for target, tally in replay(topics, 20 if name != "CF" else 5, seed=29).items():
            with capsys.disabled():
                print(tally.row(name, target))  # noqa: T201 - a row of the page
            assert tally.wrong <= ERROR * tally.n + 2.33 * math.sqrt(tally.n * ERROR * (1 - ERROR))
