"""trec_eval's and ir_measures' answers, for tests of what the command line prints."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import ir_measures
import pytrec_eval

Qrels = Mapping[str, Mapping[str, int]]
Scores = dict[str, dict[str, float]]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read a qrels file with pytrec_eval; it may be gzipped."""
    qrels: dict[str, dict[str, int]] = pytrec_eval.parse_qrel(_lines(path))
    return qrels


def read_run(path: Path) -> Scores:
    """Read a run with pytrec_eval; it may be gzipped."""
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
