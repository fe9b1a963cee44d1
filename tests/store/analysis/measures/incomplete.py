"""Qrels and runs as dictionaries, in arrays, for the tests of incomplete judgements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.rankings import GradedRankings, graded_rankings
from store.ranking import Order, rank_order

Qrels = Mapping[str, Mapping[str, int]]
Runs = Mapping[str, Mapping[str, Mapping[str, float]]]
DOCNOS = [f"d{number}" for number in range(10)]


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


def unjudged_below(rankings: GradedRankings, least: int = 0) -> GradedRankings:
    """Take grades below a least one for no judgement at all, as trec_eval -J does below 0."""
    judged = rankings.relevant(least)
    kept = [grades[grades >= least] for grades in rankings.judged_grades]
    grades = np.where(judged, rankings.grades, np.int32(0))
    return replace(rankings, grades=grades, judged=judged, judged_grades=tuple(kept))


@st.composite
def evaluations(
    draw: st.DrawFn, *, least: int = -1, most: int = 2
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Draw qrels of up to 3 topics, grade `most` in each, and two runs without ties."""
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    for number in range(draw(st.integers(1, 3))):
        topic = f"t{number}"
        grades = st.integers(least, most)
        qrels[topic] = draw(st.dictionaries(st.sampled_from(DOCNOS), grades))
        # Where no grade reaches the level trec_eval reads memory that is not its own.
        qrels[topic][draw(st.sampled_from(DOCNOS))] = most
        for by_topic in runs.values():
            docnos = draw(st.lists(st.sampled_from(DOCNOS), min_size=1, unique=True))
            by_topic[topic] = {docno: -float(place) for place, docno in enumerate(docnos)}
    return qrels, runs
