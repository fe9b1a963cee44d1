"""The sample collection as topics of two runs: lm-words-full and bm25-words, two judges.

Read from the files without any of the project's readers. What a grade is worth is 0, .8 and 1, and
a document's probability the mean over the judges, as in the project's reference of methods ("KG").
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from store.analysis.variation.collection import Topic

FOLDER = Path(__file__).parents[4] / "sample_collections" / "kitchen_garden"
RUNS = ("lm-words-full", "bm25-words")
JUDGES = ("strict", "lenient")
WORTH = {"0": 0.0, "1": 0.8, "2": 1.0}
DEPTH = 5


def chances() -> dict[str, dict[str, float]]:
    """Return the probability of every judged document, by topic."""
    found: dict[str, dict[str, list[float]]] = {}
    for judge in JUDGES:
        for line in (FOLDER / "judgements" / f"{judge}.qrels").read_text().splitlines():
            topic, _, docno, grade = line.split()
            found.setdefault(topic, {}).setdefault(docno, []).append(WORTH[grade])
    return {
        topic: {docno: sum(worth) / len(worth) for docno, worth in sorted(own.items())}
        for topic, own in sorted(found.items())
    }


def lists(tag: str) -> dict[str, list[str]]:
    """Return a run's documents in order, by topic: score down, ties docno down."""
    rows: dict[str, list[tuple[float, str]]] = {}
    for line in (FOLDER / "runs" / f"{tag}.run").read_text().splitlines():
        topic, _, docno, _, score, _ = line.split()
        rows.setdefault(topic, []).append((float(score), docno))
    return {topic: [docno for _, docno in sorted(own, reverse=True)][:1000] for topic, own in rows.items()}


def two_runs(
    flip: Literal["not-relevant", "unjudged"] | None = None,
    *,
    of: int = 1,
    scenario: Literal["own", "shared"] = "own",
) -> list[Topic]:
    """Make the topics, with one run's documents at rank 6 surely relevant if that is wanted.

    ``not-relevant`` turns those of probability 0, judged or not; ``unjudged`` those that nobody
    judged. With ``own`` no other run has them.
    """
    runs = [lists(tag) for tag in RUNS]
    topics = []
    for topic, judged in chances().items():
        p = {docno: chance for docno, chance in judged.items() if chance}
        ranks = [{docno: place for place, docno in enumerate(run[topic], 1)} for run in runs]
        listed = runs[of][topic]
        found = listed[DEPTH] if len(listed) > DEPTH else None
        turns = judged.get(found or "", 0.0) == 0 if flip == "not-relevant" else found not in judged
        if flip is not None and found is not None and turns:
            p[found] = 1.0
            if scenario == "own":
                ranks[1 - of].pop(found, None)
        rows = [[float(own.get(docno, np.inf)) for docno in p] for own in ranks]
        topics.append((np.array(list(p.values())), np.array(rows)))
    return topics
