"""Qrels and runs as dictionaries, in arrays; measures by their definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.measures.names import MeasureName
from store.analysis.rankings import GradedRankings, graded_rankings
from store.ranking import Order, rank_order

Qrels = Mapping[str, Mapping[str, int]]
Runs = Mapping[str, Mapping[str, Mapping[str, float]]]
DOCNOS = [f"d{number}" for number in range(12)]


def in_arrays(qrels: Qrels, runs: Runs, *, cutoff: int = 1000, order: Order = "trec") -> GradedRankings:
    """Rank the runs and look their documents' grades up; every grade is a judgement."""
    numbers: dict[str, int] = {}

    def ids(docnos: list[str]) -> NDArray[np.int64]:
        return np.array([numbers.setdefault(d, len(numbers)) for d in docnos], dtype=np.int64)

    rankings = {}
    for tag, by_topic in runs.items():
        for topic, scores in by_topic.items():
            docnos = list(scores)
            places = rank_order(docnos, np.array(list(scores.values())), order=order)
            rankings[tag, topic] = ids([docnos[place] for place in places.tolist()])
    judged = {
        topic: (ids(list(grades)), np.array(list(grades.values()), dtype=np.int64))
        for topic, grades in qrels.items()
    }
    return graded_rankings(sorted(qrels), sorted(runs), rankings, judged, cutoff=cutoff)


def one_list(labels: str, missed: str = "", *, cutoff: int = 1000) -> GradedRankings:
    """Take one list written a character a rank, `?` for unjudged, and grades not retrieved."""
    retrieved = {f"d{place}": label for place, label in enumerate(labels)}
    qrels = {docno: int(label) for docno, label in retrieved.items() if label != "?"}
    qrels |= {f"m{place}": int(label) for place, label in enumerate(missed)}
    run = {docno: -float(place) for place, docno in enumerate(retrieved)}
    return in_arrays({"t": qrels}, {"a": {"t": run} if run else {}}, cutoff=cutoff)


@st.composite
def evaluations(
    draw: st.DrawFn, *, ties: bool = False, best: int = 1
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Draw qrels of grades -2 to 3 with a `best` or higher in every topic, and two runs."""
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    for topic in ("t0", "t1", "t2")[: draw(st.integers(1, 3))]:
        grades = draw(st.dictionaries(st.sampled_from(DOCNOS), st.integers(-2, 3)))
        qrels[topic] = grades | {draw(st.sampled_from(DOCNOS)): draw(st.integers(best, 3))}
        for by_topic in runs.values():
            docnos = draw(st.lists(st.sampled_from(DOCNOS), min_size=1, unique=True))
            some = st.lists(st.integers(-1, 2), min_size=12, max_size=12)
            scores = draw(some if ties else st.permutations(range(12)))
            by_topic[topic] = {docno: float(value) for docno, value in zip(docnos, scores, strict=False)}
    return qrels, runs


def plain_gain(name: MeasureName, grades: Sequence[int]) -> float:
    """Compute DCG, rank by rank."""
    total = 0.0
    for rank, grade in enumerate(grades[: name.cutoff], start=1):
        worth = 2 ** max(0, grade) - 1 if name.dcg.startswith("exp") else max(0, grade)
        jarvelin = name.dcg.endswith("jarvelin")
        total += worth / (max(1.0, math.log2(rank)) if jarvelin else math.log2(rank + 1))
    return total
