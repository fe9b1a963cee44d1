"""Measuring and comparing runs: from arrays, and as whole processes, beside pytrec_eval.

`POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000 documents (default 20; 120 is a
track's), `POOLER_BENCH_REPEATS` how often each thing is timed (default 3). SQLite. Targets: AP from
arrays 40 times and the process 8 times as fast as the peer's; all pairs of 120 runs in 60 s; the
exact test of 50 topics in 10 ms and of 250 in 100 ms.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from store.analysis.arrays import graded_arrays, grades_by_topic, judged_arrays
from store.analysis.measures.average_precision import average_precision
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.significance.randomisation import randomisation_test
from store.collection import Collection
from store.grades.policy import Policy
from tests.benchmarks.generate import generate
from tests.benchmarks.timing import (
    DOCUMENTS,
    PROGRAM,
    REPEATS,
    RUNS,
    TOPICS,
    in_folder,
    is_here,
    repeated,
    seconds,
    timed,
)

PEER = """
import sys, pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
for path in sys.argv[2:]:
    with open(path) as file:
        run = pytrec_eval.parse_run(file)
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    print(path, sum(one["map"] for one in scores.values()) / len(scores))
"""
MEASURES = ("AP", "P@10", "nDCG@10", "Rprec", "RR", "R@100")


def write_qrels(place: Path, runs: list[str]) -> None:
    """Judge the first 100 documents of every fifth run at random: one in eight is relevant."""
    rng = np.random.default_rng(1)
    pairs = set()
    for path in runs[::5]:
        seen: dict[str, int] = {}
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            topic, _, docno, *_ = line.split()
            seen[topic] = seen.get(topic, 0) + 1
            if seen[topic] <= 100:
                pairs.add((topic, docno))
    grades = rng.choice([0, 1, 2], size=len(pairs), p=[0.875, 0.0625, 0.0625])
    lines = [
        f"{topic} 0 {docno} {grade}\n" for (topic, docno), grade in zip(sorted(pairs), grades, strict=True)
    ]
    place.write_text("".join(lines), encoding="utf-8")


def evaluate_speed(folder: Path) -> None:
    """Print the times of measuring and comparing beside the peer's."""
    files = [str(path) for path in generate(folder / "runs", RUNS, TOPICS, DOCUMENTS, seed=1)]
    qrels = folder / "qrels"
    write_qrels(qrels, files)
    chosen = ("--collection", str(folder / "c.db"))
    timed(*PROGRAM, "init", *chosen)
    timed(*PROGRAM, "import", "runs", *files, *chosen)
    timed(*PROGRAM, "import", "judgements", str(qrels), "--judge", "j", *chosen)
    print(f"{RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents, medians of {REPEATS}")
    _arrays(folder / "c.db", qrels, files)
    own = repeated(*PROGRAM, "evaluate", "--format", "tsv", *chosen)
    print(f"  pooler evaluate, whole process     {own}")
    if is_here("pytrec_eval"):
        peer = repeated(sys.executable, "-c", PEER, str(qrels), *files)
        print(f"  pytrec_eval, whole process         {peer}  {peer.wall / own.wall:5.1f} times")
    else:
        print("  pytrec_eval: peer absent")
    own = timed(*PROGRAM, "compare", "--format", "tsv", *chosen)
    print(f"  pooler compare, {RUNS * (RUNS - 1) // 2:,} pairs  {own.wall:14.3f} s")
    rng = np.random.default_rng(2)
    for n_topics in (50, 250):
        differences = rng.normal(0.02, 0.15, n_topics)
        taken = seconds(lambda differences=differences: randomisation_test(differences))
        print(f"  exact randomisation test, {n_topics:3} topics  {taken * 1e3:8.2f} ms")


def _arrays(place: Path, qrels: Path, files: list[str]) -> None:
    """Time AP from loaded arrays beside the peer's on loaded runs."""
    with Collection(str(place)) as collection:
        ranked = collection.runs.ranked((), order="trec9")
        rows = collection.grades.final(Policy()).rows
    binary = judged_arrays(ranked, rows, level=1, cutoff=DOCUMENTS)
    relevant, n_relevant = binary.relevant(), binary.n_relevant
    graded = graded_arrays(ranked, grades_by_topic(ranked, rows), cutoff=DOCUMENTS)
    names = [parse_measure(text) for text in MEASURES]
    own = seconds(lambda: average_precision(relevant, n_relevant[None, :]))
    print(f"  AP from relevance by rank          {own:8.3f} s")
    print(f"  AP from grades by rank             {seconds(lambda: evaluate(graded, names[:1])):8.3f} s")
    taken = seconds(lambda: evaluate(graded, names))
    print(f"  {len(MEASURES)} measures from grades by rank     {taken:8.3f} s")
    if not is_here("pytrec_eval"):
        return
    import pytrec_eval

    with qrels.open(encoding="utf-8") as file:
        judged = pytrec_eval.parse_qrel(file)
    runs = []
    for path in files:
        with Path(path).open(encoding="utf-8") as file:
            runs.append(pytrec_eval.parse_run(file))
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"map"})
    peer = seconds(lambda: [evaluator.evaluate(run) for run in runs])
    print(f"  pytrec_eval on loaded runs         {peer:8.3f} s  {peer / own:5.1f} times")


if __name__ == "__main__":
    in_folder(evaluate_speed)
