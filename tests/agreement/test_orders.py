"""Whether disagreement between judges changes the order of runs, and AP of runs by each judge alone."""

from __future__ import annotations

import itertools
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import pooler as p
from store.analysis.agreement.order_stability import QUANTILES, judge_average_precisions, judge_order
from store.analysis.agreement.votes import Votes, votes_from_rows
from store.analysis.run_order import TauResult, tau_ap
from tests.helpers.oracles import average_precision, mean, read_qrels, read_run
from tests.helpers.plain_lists import plain_ap
from tests.helpers.run import JUDGES, Cli
from tests.helpers.strategies import examples

NAN = float("nan")
TWO_BY_TWO = np.array([[[0.9, 0.5], [0.5, 0.6]], [[0.6, 0.6], [0.5, 0.9]]])
"""Two topics, two runs, two judges. Twice the MAPs of the four mixtures, judges of the topics in
order: AA 1.5 and 1.0; AB 1.5 and 1.4; BA 1.1 and 1.1; BB 1.1 and 1.5."""


@pytest.mark.slow
def test_four_mixtures_by_hand() -> None:
    """Of four equally likely mixtures two keep the order, one ties and one turns it round."""
    result = judge_order(TWO_BY_TWO, seed=3, mixtures=10_000)
    mixtures = result.mixtures
    # Means over judges: .7 and .55, .6 and .7: .65 against .625.
    assert mixtures.reference == pytest.approx((0.65, 0.625))
    assert (mixtures.reason, mixtures.n_topics, mixtures.n_mixtures) == (None, 2, 10_000)
    assert mixtures.n_undefined == pytest.approx(2500, abs=170)  # standard deviation 43
    (swap,) = mixtures.swaps
    assert (swap.better, swap.worse) == (0, 1)
    assert swap.difference == pytest.approx(0.025)
    assert swap.n_mixtures == pytest.approx(2500, abs=170)
    assert swap.share == swap.n_mixtures / 10_000
    defined = 10_000 - mixtures.n_undefined
    assert mixtures.tau is not None
    assert mixtures.tau.mean == pytest.approx(1 - 2 * swap.n_mixtures / defined)
    assert (mixtures.tau.least, mixtures.tau.greatest) == (-1.0, 1.0)
    assert mixtures.tau.quantiles == (-1.0, -1.0, 1.0, 1.0, 1.0)
    assert mixtures.lowest == pytest.approx((0.55, 0.5))
    assert mixtures.highest == pytest.approx((0.75, 0.75))


@st.composite
def scored(draw: st.DrawFn) -> NDArray[np.float64]:
    """Draw AP of a few topics, runs and judges, in tenths so that there are ties, some missing."""
    n_topics, n_runs = draw(st.integers(1, 5)), draw(st.integers(2, 5))
    n_judges = draw(st.integers(2, 4))
    tenths = draw(
        st.lists(
            st.integers(0, 10), min_size=n_topics * n_runs * n_judges, max_size=n_topics * n_runs * n_judges
        )
    )
    ap = np.array(tenths).reshape(n_topics, n_runs, n_judges) / 10
    for topic, judge in itertools.product(range(n_topics), range(n_judges)):
        if draw(st.integers(0, 4)) == 0:
            ap[topic, :, judge] = NAN
    return ap


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(scored(), st.integers(0, 2**66))
def test_equals_plain_loops(ap: NDArray[np.float64], seed: int) -> None:
    """Drawing a judge a topic and averaging fractions gives every number of the result."""
    from scipy import stats

    n_topics, n_runs, n_judges = ap.shape
    tenths = {
        (t, r, j): Fraction(round(ap[t, r, j] * 10), 10)
        for t, r, j in np.ndindex(*ap.shape)
        if not np.isnan(ap[t, r, j])
    }
    who = [[j for j in range(n_judges) if (t, 0, j) in tenths] for t in range(n_topics)]
    used = [t for t in range(n_topics) if len(who[t]) >= 2]
    result = judge_order(ap, seed=seed, mixtures=40, min_judges=2, shown_share=0)
    assert result.topics == tuple(used)
    assert result.n_left_out == n_topics - len(used)
    for j, judge in enumerate(result.judges):
        own = [t for t in used if j in who[t]]
        assert judge.n_topics == len(own)
        if own:
            maps = [sum(tenths[t, r, j] for t in own) / len(own) for r in range(n_runs)]
            assert judge.scores == pytest.approx([float(one) for one in maps])
        else:
            assert judge.scores is None
    mixtures = result.mixtures
    if not used:
        assert (mixtures.reason, mixtures.tau) == ("no-common-topics", None)
        return
    reference = [sum(sum(tenths[t, r, j] for j in who[t]) / len(who[t]) for t in used) for r in range(n_runs)]
    if len(set(reference)) == 1:
        assert mixtures.reason == "all-tied"
        return
    bits = np.random.PCG64(seed)
    drawn = []
    for t in used:
        raw = [int(one) >> 32 for one in bits.random_raw(40)]
        drawn.append([who[t][one * len(who[t]) >> 32] for one in raw])
    taus, taus_ap, counts = [], [], dict.fromkeys(itertools.permutations(range(n_runs), 2), 0)
    for m in range(40):
        scores = [sum(tenths[t, r, js[m]] for t, js in zip(used, drawn, strict=True)) for r in range(n_runs)]
        for a, b in counts:
            counts[a, b] += reference[a] > reference[b] and scores[a] < scores[b]
        if len(set(scores)) > 1:
            x, y = ([sorted(set(one)).index(x) for x in one] for one in (scores, reference))
            taus.append(float(stats.kendalltau(x, y).statistic))
            taus_ap.append(tau_ap(np.array(x, float), np.array(y, float)).tau)
    assert mixtures.n_undefined == 40 - len(taus)
    if taus:
        assert mixtures.tau is not None
        assert mixtures.tau.mean == pytest.approx(sum(taus) / len(taus))
        assert mixtures.tau_ap is not None
        assert mixtures.tau_ap.mean == pytest.approx(np.mean(taus_ap))
        assert mixtures.tau.least == pytest.approx(min(taus))
        assert mixtures.tau.greatest == pytest.approx(max(taus))
        assert mixtures.tau.quantiles == pytest.approx(np.quantile(taus, QUANTILES).tolist())
    else:
        assert mixtures.tau is None
    assert {(s.better, s.worse): s.n_mixtures for s in mixtures.swaps} == {
        pair: n for pair, n in counts.items() if n
    }
    times = [swap.n_mixtures for swap in mixtures.swaps]
    assert times == sorted(times, reverse=True)


@pytest.mark.slow
def test_mixtures_of_a_track_fit_into_little_memory() -> None:
    """143 runs of 30 topics: what is held is a number a topic, and two correlations, a mixture."""
    ap = np.random.default_rng(6).random((30, 143, 3))
    tracemalloc.start()
    try:
        result = judge_order(ap, seed=1, mixtures=5000, drawn=[0, 2])
        assert tracemalloc.get_traced_memory()[1] < 5e6  # scores of all mixtures alone are 5.7 MB
    finally:
        tracemalloc.stop()
    assert result.mixtures.reference == pytest.approx(ap[:, :, [0, 2]].mean(axis=(0, 2)))
    assert len(result.pairs) == 3


@pytest.mark.slow
def test_judges_without_a_common_topic() -> None:
    """Judges of different topics cannot be compared."""
    ap = np.full((2, 3, 3), NAN)
    ap[0, :, :2] = 0.5
    ap[1, :, 1:] = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    result = judge_order(ap, seed=1)
    assert (result.topics, result.n_left_out) == ((), 2)
    assert result.mixtures.reason == "no-common-topics"
    with_two = judge_order(ap, seed=1, mixtures=5, min_judges=2)
    none = TauResult(None, "no-common-topics")
    assert with_two.pairs[1].tau == with_two.pairs[1].tau_ap_reversed == none
    assert with_two.pairs[1].n_swapped is None
    assert [pair.n_topics for pair in with_two.pairs] == [1, 0, 1]
    assert with_two.pairs[0].tau == TauResult(None, "all-tied")
    assert with_two.pairs[2].tau == TauResult(1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ap", "reason"),
    [
        (TWO_BY_TWO[:, :, :1], "one-judge"),
        (TWO_BY_TWO[:, :1], "fewer-than-two"),
        (TWO_BY_TWO[:0], "no-common-topics"),
        (np.full((2, 3, 2), 0.25), "all-tied"),
        (np.full((2, 3, 2), NAN), "no-common-topics"),
    ],
)
def test_nothing_to_compare(ap: NDArray[np.float64], reason: str) -> None:
    """Data that cannot be compared give a reason and no number."""
    mixtures = judge_order(ap, seed=1).mixtures
    assert (mixtures.reason, mixtures.tau, mixtures.tau_ap) == (reason, None, None)
    assert (mixtures.n_mixtures, mixtures.swaps) == (0, ())


Graded = dict[tuple[int, int, int], int]
"""Place of the grade, by (topic, document, judge)."""
Ranked = dict[tuple[int, int], list[int]]
"""Documents in rank order, by (run, topic)."""
N_JUDGES, N_RUNS, N_TOPICS, N_DOCUMENTS = 3, 3, 2, 9


def votes_of(graded: Graded) -> Votes:
    """Make votes of grades 0 to 2."""
    keys = np.array(sorted(graded), dtype=np.int64).reshape(-1, 3)
    return votes_from_rows(
        keys[:, 0],
        keys[:, 1],
        keys[:, 2],
        np.array([graded[key] for key in sorted(graded)], dtype=np.int64),
        topics=[f"t{topic}" for topic in range(N_TOPICS)],
        judges=[f"j{judge}" for judge in range(N_JUDGES)],
        scale_values=(0, 1, 2),
    )


def scores_of(graded: Graded, ranked: Ranked, *, level_index: int, cutoff: int) -> NDArray[np.float64]:
    """Score plain lists; a document has its number as id."""
    votes = votes_of(graded)
    documents = sorted({key[:2] for key in graded})
    ids = [one for _, one in documents]
    return judge_average_precisions(
        votes,
        np.array(ids, dtype=np.int64),
        [f"r{run}" for run in range(N_RUNS)],
        {(f"r{run}", f"t{topic}"): np.array(one) for (run, topic), one in ranked.items()},
        level_index=level_index,
        cutoff=cutoff,
    )


grades = st.dictionaries(
    st.tuples(st.integers(0, N_TOPICS - 1), st.integers(0, N_DOCUMENTS - 1), st.integers(0, N_JUDGES - 1)),
    st.integers(0, 2),
    max_size=40,
)
rankings = st.dictionaries(
    st.tuples(st.integers(0, N_RUNS - 1), st.integers(0, N_TOPICS - 1)),
    st.lists(st.integers(0, N_DOCUMENTS - 1), unique=True),
    max_size=6,
)


@settings(max_examples=examples(60))
@given(grades, rankings, st.integers(1, 2), st.integers(1, 10))
def test_equals_plain_lists(graded: Graded, ranked: Ranked, level: int, cutoff: int) -> None:
    """Every score is AP of the list by its definition, with R of the judge."""
    scores = scores_of(graded, ranked, level_index=level, cutoff=cutoff)
    assert scores.shape == (N_TOPICS, N_RUNS, N_JUDGES)
    for topic, run, judge in np.ndindex(*scores.shape):
        here = (topic, judge, True)
        found = {d for (t, d, j), place in graded.items() if (t, j, place >= level) == here}
        flags = [one in found for one in ranked.get((run, topic), [])[:cutoff]]
        expected = plain_ap(flags, len(found))
        if expected is None:
            assert np.isnan(scores[topic, run, judge])
        else:
            assert scores[topic, run, judge] == pytest.approx(float(expected), abs=1e-14)


NAMES = (*JUDGES, "union", "intersection")


def test_union_and_intersection_beside_the_judges(cli: Cli, judged: Path) -> None:
    """MAP is trec_eval's of grades put together by hand, tau SciPy's; mixtures draw from the judges alone."""
    from scipy.stats import kendalltau

    for number, name in enumerate(("union", "intersection")):
        unknown = cli("agreement", "orders", *NAMES[: 4 + number]).failed(1).err
        assert f"unknown qrels `{name}`" in unknown
        cli(*unknown.rpartition("hint: pooler ")[2].split()).fine()
    assert "from 1 to 100000" in cli("agreement", "orders", "--mixtures", "100001").failed(2).err
    grades = {judge: read_qrels(judged / "judgements" / f"{judge}.qrels") for judge in JUDGES}
    for name, rule in (("union", max), ("intersection", min)):
        grades[name] = {
            topic: {docno: rule(grades[judge][topic][docno] for judge in JUDGES) for docno in of_topic}
            for topic, of_topic in grades["strict"].items()
        }
    expected: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    runs = {path.stem: read_run(path) for path in (judged / "runs").iterdir()}
    ap = {name: {run: average_precision(grades[name], runs[run]) for run in runs} for name in NAMES}
    common = set.intersection(*(set(of[run]) for of in ap.values() for run in runs))
    for name in NAMES:
        expected[name] = {run: mean(ap[name][run][topic] for topic in common) for run in runs}
    how = ("--mixtures", "300", "--order", "trec9", "--format", "json")
    shown = cli("agreement", "orders", *NAMES, *how).fine()
    tables = shown.whole()
    assert tables["settings"]["qrels"] == [*JUDGES, "union@1", "intersection@1"]
    for name in NAMES:
        got = {row["run"]: row[f"map_judge_{name}"] for row in tables["run_scores"]}
        assert got == pytest.approx(expected[name], abs=1e-12)
    taus = {(row["first"], row["second"]): row["tau"] for row in tables["order_pairs"]}
    assert len(taus) == 10
    for (first, second), tau in taus.items():
        x, y = ([round(expected[name][run], 12) for run in runs] for name in (first, second))
        assert tau == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
    of_judges = cli("agreement", "orders", *JUDGES, *how).fine().whole()
    for row in tables["mixtures"]:
        row["min_judges"] = len(JUDGES)
    assert (tables["mixtures"], tables["swaps"]) == (of_judges["mixtures"], of_judges["swaps"])
    assert f"Drawn are {', '.join(JUDGES)}." in cli("agreement", "orders", *NAMES).fine().out


def test_versions_and_rules_at_a_level(cli: Cli, judged: Path) -> None:
    """Old versions and rules of a level are compared, all drawn; one name, or an unknown one, is refused."""
    lines = (judged / "judgements" / "middle.qrels").read_text("utf-8").splitlines(keepends=True)
    Path("half.qrels").write_text("".join(lines[1::2]), "utf-8")
    cli("import", "judgements", "half.qrels", "--judge", "half").fine()
    both = ("--judge", "strict", "--judge", "middle")
    cli("qrels", "define", "twice", "--aggregate", "max", *both).fine()
    rule = ("--aggregate", "majority", "--ties", "low", "--binary-first")
    cli("qrels", "define", "twice", *rule, *both).fine()
    names = ("twice@1", "twice@2", "half")
    found = p.agreement_orders("collection.db", *names, level=2, mixtures=20)
    assert (found.order.n_left_out, found.drawn) == (0, [0, 1, 2])
    for name, scores in zip(names, found.order.judges, strict=True):
        how = ("--qrels", name, "--level", "2", "--format", "json", "--table", "measures")
        rows = cli("evaluate", *how).fine().json()
        assert dict(zip(found.runs, scores.scores or (), strict=True)) == pytest.approx(
            {row["run"]: row["value"] for row in rows}
        )
    assert "must be two names or more" in cli("agreement", "orders", "twice").failed(1).err
    assert "unknown qrels `twise`" in cli("agreement", "orders", "strict", "twise").failed(1).err
