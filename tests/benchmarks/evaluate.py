"""AP of runs in files, in dicts and in data frames, beside pytrec_eval and ir_measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.benchmarks.generate import generate
from tests.benchmarks.timing import POOLER, PROGRAM, PYTHON, compare, folder, peer, timed, timed_call

RUNS = {"1 run": 1, "24 runs": 24, "129 runs": 129}
TOPICS, DOCUMENTS = 50, 1000
GIVEN = {"1 run": 1, "10 runs": 10, "30 runs": 30}

PYTREC_EVAL = """
import sys, pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
for path in sys.argv[2:]:
    with open(path) as file:
        run = pytrec_eval.parse_run(file)
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    print(path, sum(one["map"] for one in scores.values()) / len(scores))
"""
IR_MEASURES = """
import sys, ir_measures
qrels = list(ir_measures.read_trec_qrels(sys.argv[1]))
for path in sys.argv[2:]:
    print(path, ir_measures.calc_aggregate([ir_measures.AP], qrels, ir_measures.read_trec_run(path)))
"""
MADE = """
import random, sys
rng = random.Random(1)
docs = [f"FT9{n:05}" for n in range(3000)]
topics = [str(topic) for topic in range(401, 451)]
qrels = {topic: {one: int(rng.random() < .05) for one in rng.sample(docs, 1500)} for topic in topics}
runs = {
    f"r{n}": {topic: {one: 1000 - j + .5 for j, one in enumerate(rng.sample(docs, 1000))} for topic in topics}
    for n in range(int(sys.argv[1]))
}
"""
GIVEN_TO_POOLER = """
import pooler
def call():
    pooler.evaluate(pooler.source(runs, qrels=qrels, level=1), ["AP"]).mean
"""
FRAMES = """
import {library} as library
def framed(run):
    names = ("topic", "docno", "score")
    columns = zip(*((topic, *one) for topic, those in run.items() for one in those.items()))
    return library.{make}(dict(zip(names, map(list, columns))))
runs = {{tag: framed(run) for tag, run in runs.items()}}
"""
GIVEN_TO_PYTREC_EVAL = """
import pytrec_eval
def call():
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map"})
    [evaluator.evaluate(run) for run in runs.values()]
"""


def write_qrels(place: Path, runs: list[str]) -> None:
    """Judge the first 100 documents of every fifth run at random: one in eight is relevant."""
    rng = np.random.default_rng(1)
    pairs = set()
    for path in runs[::5]:
        seen: dict[str, int] = {}
        for line in Path(path).read_text("utf-8").splitlines():
            topic, _, docno, *_ = line.split()
            seen[topic] = seen.get(topic, 0) + 1
            if seen[topic] <= 100:
                pairs.add((topic, docno))
    grades = rng.choice([0, 1, 2], size=len(pairs), p=[0.875, 0.0625, 0.0625])
    lines = zip(sorted(pairs, key=lambda pair: int(pair[0])), grades, strict=True)
    place.write_text("".join(f"{topic} 0 {docno} {grade}\n" for (topic, docno), grade in lines))


def evaluate(place: Path) -> None:
    """Print the tables."""
    files = [str(path) for path in generate(place / "runs", RUNS["129 runs"], TOPICS, DOCUMENTS, seed=1)]
    qrels = str(place / "qrels")
    write_qrels(place / "qrels", files)
    compare(
        f"Scores of run files: AP, {TOPICS} topics, {DOCUMENTS:,} lines a topic",
        RUNS,
        {
            POOLER: lambda size: timed(*PROGRAM, "evaluate", "--qrels", qrels, *files[: RUNS[size]]),
            **{
                name: lambda size, code=code: timed(*PYTHON, code, qrels, *files[: RUNS[size]])
                for name, code in {
                    peer("pytrec-eval-terrier", "pytrec_eval"): PYTREC_EVAL,
                    peer("ir_measures"): IR_MEASURES,
                }.items()
            },
        },
    )
    given = {
        f"{POOLER}, dicts": MADE + GIVEN_TO_POOLER,
        f"{POOLER}, {peer('pandas')}": MADE
        + FRAMES.format(library="pandas", make="DataFrame")
        + GIVEN_TO_POOLER,
        f"{POOLER}, {peer('polars')}": MADE
        + FRAMES.format(library="polars", make="DataFrame")
        + GIVEN_TO_POOLER,
        f"{POOLER}, {peer('pyarrow')}": MADE
        + FRAMES.format(library="pyarrow", make="table")
        + GIVEN_TO_POOLER,
        f"{peer('pytrec-eval-terrier', 'pytrec_eval')}, dicts": MADE + GIVEN_TO_PYTREC_EVAL,
        peer("ranx"): "",
    }
    compare(
        f"Scores of runs in memory: AP, {TOPICS} topics, {DOCUMENTS:,} documents a topic; a second call",
        GIVEN,
        {
            name: lambda size, code=code: timed_call(code, str(GIVEN[size]))
            for name, code in given.items()
            if "absent," not in name
        },
    )


if __name__ == "__main__":
    with folder() as made:
        evaluate(made)
