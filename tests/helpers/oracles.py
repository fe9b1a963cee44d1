"""trec_eval's and ir_measures' answers; the sample collection's runs, and qrels that a report supposes."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Qrels = Mapping[str, Mapping[str, int]]
Scores = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]
"""Grade by topic and docno."""

STRICT = ("--qrels", "strict", "--order", "trec9")
"""The judge whose qrels are read, and the order of ties of trec_eval 9."""


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read a qrels file with pytrec_eval; it may be gzipped."""
    import pytrec_eval

    qrels: dict[str, dict[str, int]] = pytrec_eval.parse_qrel(_lines(path))
    return qrels


def read_run(path: Path) -> Scores:
    """Read a run with pytrec_eval; it may be gzipped."""
    import pytrec_eval

    scores: Scores = pytrec_eval.parse_run(_lines(path))
    return scores


def _lines(path: Path) -> list[str]:
    """Return the lines of a text file, gzipped or not."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return content.decode("utf-8").splitlines()


def average_precision(qrels: Qrels, run: Scores, *, level: int = 1) -> dict[str, float]:
    """Return pytrec_eval's AP of every topic of the qrels with a relevant document, as with -c."""
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map"}, relevance_level=level)
    found = evaluator.evaluate(run)
    return {
        topic: found.get(topic, {"map": 0.0})["map"]
        for topic, grades in qrels.items()
        if any(grade >= level for grade in grades.values())
    }


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean."""
    listed = list(values)
    return sum(listed) / len(listed)


def measured_ap(qrels: Path, run: Path, *, level: int = 1) -> dict[str, float]:
    """Return ir_measures' AP by topic, of files that ir_measures reads itself."""
    import ir_measures

    measure = ir_measures.AP(rel=level)
    rows = ir_measures.iter_calc(
        [measure], list(ir_measures.read_trec_qrels(str(qrels))), list(ir_measures.read_trec_run(str(run)))
    )
    return {row.query_id: row.value for row in rows}


def first_documents(run: Scores, topic: str, depth: int) -> list[str]:
    """Return the first documents of a topic in trec_eval's order."""
    ranked = run.get(topic, {})
    return sorted(sorted(ranked, reverse=True), key=lambda docno: -ranked[docno])[:depth]


def swapped_pairs(before: Sequence[float], after: Sequence[float]) -> int:
    """Count the pairs that stand in the opposite order, ties apart."""
    return sum(
        (before[one] - before[other]) * (after[one] - after[other]) < -1e-20
        for one in range(len(before))
        for other in range(one)
    )


def runs_of(folder: Path) -> dict[str, Scores]:
    """Read every run of the sample collection, by tag."""
    return {path.stem: read_run(path) for path in sorted((folder / "runs").iterdir())}


def unjudged_of(qrels: Grades, run: Scores, topic: str) -> list[str]:
    """Return the unjudged documents of a run in trec_eval's order."""
    return [one for one in first_documents(run, topic, 1000) if one not in qrels[topic]]


def with_relevant(qrels: Grades, added: dict[str, list[str]]) -> Grades:
    """Return qrels with documents added, by topic, as relevant ones."""
    return {topic: {**grades, **dict.fromkeys(added.get(topic, []), 1)} for topic, grades in qrels.items()}
