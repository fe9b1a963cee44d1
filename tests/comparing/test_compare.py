"""`pooler compare`: tests of the difference of runs, on a collection and on bare files."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.helpers.oracles import average_precision, read_qrels, read_run
from tests.helpers.run import GARDEN, Cli, write

STRICT = GARDEN / "judgements" / "strict.qrels"
A, B, C = (GARDEN / "runs" / f"{tag}.run" for tag in ("bm25-words", "rm3-words-title", "lm-words-full"))


def scores_of(path: Path) -> NDArray[np.float64]:
    """Return trec_eval's AP by topic."""
    return np.array([*average_precision(read_qrels(STRICT), read_run(path)).values()])


def compared(cli: Cli, *words: str | Path) -> Any:
    """Compare runs in the order of trec_eval."""
    return cli("compare", "--qrels", STRICT, *words, "--order", "trec9", "--format", "json").fine().json()


def check_moments(row: dict[str, Any], first: NDArray[np.float64], second: NDArray[np.float64]) -> None:
    """Compare variances and covariance with NumPy's."""
    spread = np.cov(first, second)
    assert (row["variance_a"], row["variance_b"], row["covariance"]) == pytest.approx(
        (spread[0, 0], spread[1, 1], spread[0, 1])
    )


def exact_p(differences: NDArray[np.float64], resolution: float) -> float:
    """Set the signs of rounded differences in every way, as the definition says."""
    whole = [round(one / resolution) for one in differences]
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, whole, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(whole))
    ]
    return sum(one >= abs(sum(whole)) for one in sums) / len(sums)


def test_gmap_is_compared_by_logarithms(cli: Cli, here: Path) -> None:
    """The t test is that of the logarithms of AP, which is said; exp(A - B) is one GMAP by the other."""
    files = ("--qrels", STRICT, A, B, "-m", "GMAP", "--order", "trec9")
    found = cli("compare", *files, "--format", "json").fine()
    assert "exp(A - B) = GMAP of A / GMAP of B" in found.err
    first, second = map(scores_of, (A, B))
    [row] = found.json()["difference"]
    assert np.exp(row["difference"]) == pytest.approx(stats.gmean(first) / stats.gmean(second), rel=1e-12)
    assert " in ln GMAP, 95% interval " in found.whole()["facts"]["verdict"]["text"]
    t2 = found.json()["tests"][0]
    assert t2["p"] == pytest.approx(stats.ttest_rel(np.log(first), np.log(second)).pvalue, rel=1e-9)


def test_two_runs_get_every_test(cli: Cli, here: Path) -> None:
    """The p-values are SciPy's, and that of all assignments of signs."""
    found = compared(cli, A, B)
    first, second = map(scores_of, (A, B))
    differences = first - second
    [row] = found["difference"]
    assert row["difference"] == pytest.approx(np.mean(differences), abs=1e-12)
    interval = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx(tuple(interval), abs=1e-12)
    assert row["effect_size"] == pytest.approx(np.mean(differences) / np.std(differences, ddof=1))
    # What t2 calls significant: the quantile of t times the standard error.
    error = np.std(differences, ddof=1) / np.sqrt(8)
    assert row["needed"] == pytest.approx(stats.t(7).ppf(0.975) * error, rel=1e-9)
    assert row["variance"] == pytest.approx(np.var(differences, ddof=1), rel=1e-9)
    assert (row["better_a"], row["better_b"], row["same"]) == (5, 3, 0)
    check_moments(row, first, second)
    tests = {one["test"]: one for one in found["tests"]}
    students = {
        "t2: paired t": stats.ttest_rel(first, second),
        "t1: unpaired t": stats.ttest_ind(first, second),
        "Welch's t, unequal variances": stats.ttest_ind(first, second, equal_var=False),
    }
    for name, theirs in students.items():
        one = tests[name]
        assert (one["statistic"], one["p"], one["df"]) == pytest.approx(
            (theirs.statistic, theirs.pvalue, theirs.df), rel=1e-9
        )
        assert one["p_normal"] == pytest.approx(2 * stats.norm.sf(abs(theirs.statistic)))
    n_ahead, n_behind = ((sign * differences > 0.5e-4).sum() for sign in (1, -1))
    signs = stats.binomtest(n_ahead, n_ahead + n_behind).pvalue
    rounded, unrounded = (
        stats.wilcoxon(np.round(differences, digits), method="exact").pvalue for digits in (4, 12)
    )
    assert tests["sign test"]["statistic"] == n_ahead
    for name, *expected in (
        ("t2: paired t", students["t2: paired t"].pvalue, None, None),
        ("sign test", signs, 1e-4, None),
        ("Wilcoxon signed ranks", rounded, 1e-4, unrounded),
        ("exact randomisation", exact_p(differences, 1e-4), 1e-4, None),
    ):
        found_ones = [tests[name][column] for column in ("p", "rounded_to", "p_unrounded")]
        assert found_ones == [one and pytest.approx(one, abs=1e-12) for one in expected]
    assert 0.4 < tests["studentised bootstrap"]["p"] < 0.8


def test_all_pairs_are_compared_and_adjusted(cli: Cli, here: Path) -> None:
    """Each pair has its own test; Holm steps down; Tukey's p is of SciPy's studentised range."""
    rows = compared(cli, A, B, C)
    scores = {path.stem: scores_of(path) for path in (A, B, C)}
    assert [(row["a"], row["b"]) for row in rows] == list(itertools.combinations(scores, 2))
    for row in rows:
        first, second = scores[row["a"]], scores[row["b"]]
        check_moments(row, first, second)
        t = stats.ttest_rel(first, second)
        assert (row["t"], row["df"]) == pytest.approx((t.statistic, t.df))
        assert row["p_normal"] == pytest.approx(2 * stats.norm.sf(abs(t.statistic)))
    exact = [exact_p(scores[row["a"]] - scores[row["b"]], 1e-4) for row in rows]
    assert [row["p_randomisation"] for row in rows] == pytest.approx(exact, abs=1e-12)
    in_order = sorted(range(3), key=exact.__getitem__)
    running, holm = 0.0, [0.0] * 3
    for place, index in enumerate(in_order):
        running = max(running, min(1.0, (3 - place) * exact[index]))
        holm[index] = running
    assert [row["p_holm"] for row in rows] == pytest.approx(holm, abs=1e-12)
    table = np.array([*scores.values()])
    residual = table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean()
    n_runs, n_topics = table.shape
    degrees = (n_runs - 1) * (n_topics - 1)
    error = np.sqrt((residual**2).sum() / degrees / n_topics)
    for row in rows:
        q = abs(row["difference"]) / error
        p = stats.studentized_range.sf(q, n_runs, degrees)
        assert row["p_tukey"] == pytest.approx(p, abs=1e-6)
        assert row["p_tukey_randomised"] == pytest.approx(p, abs=0.1)
    # SciPy has one way: with each topic's mean taken off, but of the degrees of freedom within runs.
    one_way = stats.f_oneway(*(table - table.mean(axis=0))).statistic
    f = one_way * degrees / (n_runs * (n_topics - 1))
    options = ("--order", "trec9", "--format", "json")
    facts = cli("compare", "--qrels", STRICT, A, B, C, *options).fine().whole()["facts"]
    assert facts == pytest.approx({"f": f, "p_of_f": stats.f.sf(f, n_runs - 1, degrees)})


def test_a_baseline_is_compared_with_each_other_run(cli: Cli, here: Path) -> None:
    """`--against` gives the rows of the other runs, with the adjustment of so many tests."""
    rows = compared(cli, "--against", A.stem, A, B, C)
    assert [(row["a"], row["b"]) for row in rows] == [(B.stem, A.stem), (C.stem, A.stem)]
    known = {frozenset((row["a"], row["b"])): row["p_randomisation"] for row in compared(cli, A, B, C)}
    assert all(row["p_randomisation"] == known[frozenset((row["a"], row["b"]))] for row in rows)


def test_collection_gives_what_its_files_give(cli: Cli, judged: Path) -> None:
    """Another measure, a judge and named runs."""
    options = ("-m", "nDCG@10", "--plot", "a.svg", "--format", "json")
    for first, second in ((A, B), (B, A)):
        named = first.stem, second.stem, "--qrels", "strict"
        stored = cli("compare", *named, *options).fine().json()
        assert (stored["difference"][0]["a"], stored["difference"][0]["b"]) == named[:2]
        assert cli("compare", first, second, "--qrels", STRICT, *options).fine().json() == stored
    assert set(stored) == {"difference", "tests", "topics", "normality"}
    shares = [row["share"] for row in stored["normality"]]
    assert shares == pytest.approx([n / 8 for n in range(1, 9)])
    everything = cli("compare", "--qrels", "strict").fine().out
    assert "Of 36 pairs" in everything


def test_undefined_is_a_reason(cli: Cli, here: Path) -> None:
    """Two runs that are the same have no t, and one topic has no variance."""
    write(here / "q", "1 0 a 1", "2 0 b 1", "3 0 c 0")
    for tag in ("x", "y"):
        write(here / f"{tag}.run", *(f"{t} Q0 {d} 1 1 {tag}" for t, d in (("1", "a"), ("2", "z"))))
    answer = cli("compare", "--qrels", "./q", "x.run", "y.run", "--format", "json").fine()
    tests = {row["test"]: (row["p"], row["reason"]) for row in answer.json()["tests"]}
    assert tests["t2: paired t"] == (None, "no-variation")
    assert tests["Wilcoxon signed ranks"] == (None, "no-difference")
    assert tests["exact randomisation"] == (1.0, None)
    assert "1 topic without a relevant document: no AP there" in answer.err
    # The words of other tables, on resamples, do not hold here.
    shown = " ".join(cli("compare", "--qrels", "./q", "x.run", "y.run").fine().out.split())
    assert "no-variation: the same difference in every topic." in shown
    assert "no-difference: no topic has a difference that does not round to 0." in shown
    write(here / "q1", "1 0 a 1")
    shown = cli("compare", "--qrels", "./q1", "x.run", "y.run").fine().out
    assert "one-topic: one topic where both runs have a score." in shown


def test_refusals_say_what_to_do(cli: Cli, here: Path) -> None:
    """Too few runs, an unknown one, before any judgement too, options of two runs with several."""
    cli("init").fine()
    cli("import", "runs", A).fine()
    assert "unknown run `nobody`" in cli("compare", "bm25-words", "nobody").failed(1).err
    alone = cli("compare", "--qrels", STRICT, A).failed(1)
    assert "there is one run, `bm25-words`: a comparison needs two" in alone.err
    unknown = cli("compare", "--qrels", STRICT, A, B, "--against", "nobody").failed(1)
    assert "unknown run `nobody`" in unknown.err
    several = cli("compare", "--by-topic", "--qrels", STRICT, A, B, C).failed(1)
    assert "unknown table `topics`; known: `pairs`" in several.err
    assert "`--alpha` must be between 0 and 1" in cli("compare", "--alpha", "2").failed(1).err


def test_a_tag_where_a_file_is_meant_is_told_of(cli: Cli, here: Path) -> None:
    """With --qrels runs are files, those of --runs too: the error says so, before any is read."""
    write(here / "runs.tsv", "file", str(A), str(B))
    options = ("compare", "--qrels", STRICT, "bm25-words", "rm3-words-title")
    assert (
        "hint: with --qrels FILE, and no collection here, a RUN is a file, not a tag"
        in cli(*options).failed(1).err
    )
    answer = cli(*options, "--runs", "runs.tsv").failed(1).err
    assert "error: bm25-words: no such file" in answer
    assert (
        "hint: with --qrels FILE, and no collection here, a RUN is a file, not the tag of one of --runs"
        in answer
    )
