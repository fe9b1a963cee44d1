"""Measures of incomplete judgements from arrays, beside pytrec_eval and ir_measures.

`POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000 documents (default 20; 120 is a
track's), `POOLER_BENCH_REPEATS` how often each thing is timed (default 3). Targets: bpref and
judged@k from arrays at least 10 times as fast as pytrec_eval on loaded runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.bounds import score_bounds
from store.analysis.measures.gain import rank_biased_precision, rbp_residual
from store.analysis.measures.names import parse_measure
from store.analysis.measures.ranked import bpref_of, condensed, inferred_ap_of, judged_share, unjudged_share
from store.analysis.rankings import GradedRankings, graded_rankings
from tests.benchmarks.timing import DOCUMENTS, REPEATS, RUNS, TOPICS, is_here, seconds

CORPUS = 5000
"""Documents of a topic that runs choose from."""
DEPTH = 100


def drawn() -> tuple[dict[tuple[str, str], NDArray[np.int64]], dict[str, dict[int, int]]]:
    """Draw runs, and judge the first ranks of every fifth run: one in eight is relevant."""
    rng = np.random.default_rng(3)
    rankings, judged = {}, {}
    for number in range(TOPICS):
        topic = str(number)
        worth = rng.normal(0, 2, CORPUS)
        pool: set[int] = set()
        for run in range(RUNS):
            order = np.argsort(-(worth + rng.normal(0, 1, CORPUS)))[:DOCUMENTS]
            rankings[f"run{run:03}", topic] = order
            if run % 5 == 0:
                pool.update(order[:DEPTH].tolist())
        grades = rng.choice([0, 1, 2], size=len(pool), p=[0.875, 0.0625, 0.0625])
        judged[topic] = dict(zip(sorted(pool), grades.tolist(), strict=True))
    return rankings, judged


def diagnose_speed() -> None:
    """Print the times, the peers' beside, and see that both say the same."""
    lists, judged = drawn()
    topics, tags = sorted(judged), sorted({tag for tag, _ in lists})
    in_two = {t: (np.array(list(g)), np.array(list(g.values()))) for t, g in judged.items()}
    rankings = graded_rankings(topics, tags, lists, in_two, cutoff=DOCUMENTS)
    work = {
        "judged@10": lambda: judged_share(rankings.judged, rankings.lengths, 10),
        "unj_1000": lambda: unjudged_share(rankings.judged, rankings.lengths, 1000),
        "bpref": lambda: bpref_of(rankings, 1),
        "infAP": lambda: inferred_ap_of(rankings, 1),
        "RBP with residual": lambda: (
            rank_biased_precision(rankings.relevant(1), p=0.8),
            rbp_residual(rankings.judged, rankings.lengths, p=0.8),
        ),
        "condensed lists": lambda: condensed(rankings),
    }
    for text in ("P@10", "AP", "nDCG"):
        name = parse_measure(text)
        work[f"bounds of {text}"] = lambda name=name: score_bounds(rankings, [name], scale=(0, 1, 2))
    taken = {name: seconds(function) for name, function in work.items()}
    print(f"{RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents, medians of {REPEATS}")
    print(*(f"  {name:32} {time:9.4f} s" for name, time in taken.items()), sep="\n")
    _peers(rankings, lists, judged, taken)


def _peers(
    rankings: GradedRankings,
    lists: dict[tuple[str, str], NDArray[np.int64]],
    judged: dict[str, dict[int, int]],
    taken: dict[str, float],
) -> None:
    """Time the peers on loaded runs."""
    if not (is_here("pytrec_eval") and is_here("ir_measures")):
        print("  pytrec_eval, ir_measures: peer absent")
        return
    import ir_measures
    import pytrec_eval

    qrels = {t: {str(d): g for d, g in grades.items()} for t, grades in judged.items()}
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for (tag, topic), order in lists.items():
        scores = {str(docno): -float(place) for place, docno in enumerate(order.tolist())}
        runs.setdefault(tag, {})[topic] = scores
    for measure, own in (("bpref", "bpref"), ("infAP", "infAP"), ("num_nonrel_judged_ret", "judged@10")):
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {measure})
        peer = seconds(lambda one=evaluator: [one.evaluate(run) for run in runs.values()])
        print(f"  pytrec_eval {measure:22} {peer:7.3f} s  {peer / taken[own]:7.1f} times ours, {own}")
    provider = ir_measures.parse_measure("Judged@10")
    peer = seconds(lambda: [list(provider.iter_calc(qrels, run)) for run in runs.values()])
    print(
        f"  ir_measures Judged@10              {peer:7.3f} s  {peer / taken['judged@10']:7.1f}"
        " times ours, judged@10"
    )
    found = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"}).evaluate(runs[rankings.tags[0]])
    expected = [found[topic]["bpref"] for topic in rankings.topics]
    np.testing.assert_allclose(np.nan_to_num(bpref_of(rankings, 1)[0]), expected, rtol=1e-12)


if __name__ == "__main__":
    diagnose_speed()
