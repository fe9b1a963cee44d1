"""`pooler audit --table corrected`: a model's scores corrected by people's grades of a sample."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pooler as p
from store.analysis.corrected import (
    NO_GRADE,
    NORMAL,
    Drawn,
    MeasureSpec,
    Population,
    calibrated_shares,
    corrected_ideal,
    corrected_measure,
    corrected_ndcg,
    corrected_precision,
    covariances,
    difference_scores,
    drawn,
    grade_counts,
)
from store.analysis.measures.average_precision import topic_interval
from tests.helpers.fixtures import made_once
from tests.helpers.model_judges import JUDGES, PEOPLE_LEVEL, grades_of, run_paths
from tests.helpers.run import Cli, Outcome, read_lines, write

JSON = ("--format", "json")
ORDER = ("d1", "d5", "d2", "d6", "d3", "d4", "d7", "d8")
HUMAN = {docno: int(docno in ("d1", "d3", "d5")) for docno in ORDER}
MODEL = {docno: int(docno <= "d4") for docno in ORDER}


@pytest.fixture
@made_once
def small(cli: Cli, here: Path) -> Path:
    """Make a collection of one topic: four of eight documents drawn, judged by ann; gpt judged all."""
    cli("init", "--scale", "0-1").fine()
    write(here / "x.run", *(f"1 Q0 {docno} 1 {-rank} x" for rank, docno in enumerate(ORDER)))
    write(here / "y.run", *(f"1 Q0 {docno} 1 {-rank} y" for rank, docno in enumerate(ORDER[::-1])))
    cli("import", "runs", "x.run", "y.run").fine()
    write(here / "gpt.qrels", *(f"1 0 {docno} {grade}" for docno, grade in MODEL.items()))
    cli("import", "judgements", "gpt.qrels", "--judge", "gpt", "--kind", "model").fine()
    cli("pool", "-s", "uniform", "-b", "4", "--seed", "3", "--name", "drawn", "--out", "drawn.txt").fine()
    write(here / "ann.qrels", *(f"1 0 {docno} {HUMAN[docno]}" for docno in sampled(here)))
    cli("import", "judgements", "ann.qrels", "--judge", "ann", "--kind", "human").fine()
    return here


def sampled(folder: Path) -> list[str]:
    """Return the documents that were drawn."""
    return [line.split()[1] for line in read_lines(folder / "drawn.txt")]


def corrected(
    cli: Cli, *measures: str, judge: str = "ann", model: str = "gpt", table: str = "corrected", **how: object
) -> Outcome:
    """Print a table of the scores by gpt."""
    words = [word for one in measures or ("P@5",) for word in ("-m", one)]
    words += [word for name, value in how.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    return cli("audit", model, "--against", judge, *words, "--table", table, "--resamples", "100", *JSON)


def row_of_x(cli: Cli, **how: Any) -> dict[str, Any]:
    """Return the row of run x."""
    rows = corrected(cli, **how).fine().whole()["corrected"]
    return next(row for row in rows if row["run"] == "x")


def notes(cli: Cli, *measures: str, judge: str = "ann") -> str:
    """Return what stands below the table, in one line."""
    words = [word for one in measures or ("P@5",) for word in ("-m", one)]
    table = ("--table", "corrected", "--resamples", "100")
    return " ".join(cli("audit", "gpt", "--against", judge, *words, *table).fine().out.split())


def test_score_and_interval_by_hand(cli: Cli, small: Path) -> None:
    """P@5, w = 1/5, of people alone: 8/4 sum over the sample of w y, and V = 8 var(w y)."""
    row = row_of_x(cli)
    off = [(docno in ORDER[:5]) / 5 * HUMAN[docno] for docno in sampled(small)]
    score = 2 * sum(off)
    mean = sum(off) / 4
    error = sqrt(8**2 * (1 - 4 / 8) / 4 * sum((one - mean) ** 2 for one in off) / 3)
    assert row["by_model"] == pytest.approx(3 / 5)
    assert row["score"] == pytest.approx(score)
    assert (row["low"], row["high"]) == pytest.approx((score - 1.96 * error, score + 1.96 * error))
    assert (row["topics_low"], row["topics_high"]) == (None, None)  # of one topic
    named = cli("audit", "gpt", "-m", "P@5", "--table", "corrected", "--sample", "drawn", *JSON).fine()
    assert named.whole()["corrected"] == corrected(cli).fine().whole()["corrected"]


def test_few_documents_leave_people_alone(cli: Cli, small: Path) -> None:
    """Fewer than 30 of a grade: nothing is learnt, which is said, and whether it helped is not known."""
    said = notes(cli)
    assert "Fewer than 30 judged documents of some grade of gpt: too few to learn from" in said
    assert "the model did not help" not in said
    assert "People judged 4 of 8 documents of pool drawn (50.0%); all else is by gpt" in said
    row = row_of_x(cli)
    assert (row["way"], row["se_calibrated"]) == ("people", None)
    assert small.exists()


def test_a_document_that_nobody_could_judge(cli: Cli, small: Path) -> None:
    """It is lost: the other three stand for eight; the bounds take it as not relevant and as relevant."""
    lost = sampled(small)[0]
    write(small / "bob.qrels", *(f"1 0 {docno} {HUMAN[docno]}" for docno in sampled(small)[1:]))
    cli("import", "judgements", "bob.qrels", "--judge", "bob", "--kind", "human").fine()
    row = row_of_x(cli, judge="bob")
    kept = [(docno in ORDER[:5]) / 5 * HUMAN[docno] for docno in sampled(small) if docno != lost]
    assert row["score"] == pytest.approx(8 / 3 * sum(kept))
    weight = (lost in ORDER[:5]) / 5
    assert (row["lowest"], row["highest"]) == pytest.approx((2 * sum(kept), 2 * (sum(kept) + weight)))
    assert "1 of 4 sampled documents without a grade: taken as lost at random" in notes(cli, judge="bob")


def test_what_cannot_be_corrected_is_refused(cli: Cli, small: Path) -> None:
    """Each in one line: no probabilities, random sizes, measures; files have no sampled pool."""
    cli("pool", "--depth", "3", "--name", "deep").fine()
    cli("pool", "-s", "statap", "-b", "2", "--seed", "1", "--name", "random").fine()
    draws = "hint: pooler pool --strategy uniform or stratified draws a sample"
    for sample, words in (
        ("deep", "pool `deep` does not have inclusion probabilities and strata"),
        ("random", "pool `random` is no stratified simple random sample"),
    ):
        failed = corrected(cli, sample=sample).failed(1).err
        assert words in failed
        assert draws in failed
    assert (
        "must be one of P@k, RBP, DCG@k, AP and nDCG@k" in corrected(cli, "RR", sample="drawn").failed(1).err
    )
    assert "there are 2 sampled pools" in corrected(cli).failed(1).err
    files = ("gpt.qrels", "x.run", "--qrels", "ann.qrels", "-m", "P@5", "--table", "corrected")
    assert "unknown table `corrected`" in cli("audit", *files).failed(1).err
    assert small.exists()


def test_a_stratum_without_a_judgement_is_refused(cli: Cli, here: Path) -> None:
    """Nothing stands for its documents; where the topic has none at all, it is left out."""
    cli("init", "--scale", "0-1").fine()
    write(here / "x.run", *(f"{topic} Q0 d{n} 1 {-n} x" for topic in "12" for n in range(8)))
    cli("import", "runs", "x.run").fine()
    write(here / "gpt.qrels", *(f"{topic} 0 d{n} 1" for topic in "12" for n in range(8)))
    cli("import", "judgements", "gpt.qrels", "--judge", "gpt", "--kind", "model").fine()
    strata = ("-s", "stratified", "--param", "strata=1:2:1,3:8:0.5", "--seed", "1")
    cli("pool", *strata, "--name", "drawn").fine()
    write(here / "ann.qrels", "1 0 d0 1", "1 0 d1 0")
    cli("import", "judgements", "ann.qrels", "--judge", "ann", "--kind", "human").fine()
    failed = corrected(cli).failed(1)
    assert "pool `drawn`, topic 1: no sampled document of a stratum of 6 is" in failed.err


@pytest.fixture
@made_once
def learnt(cli: Cli, here: Path) -> Path:
    """Make a collection of four topics with 60 documents each, for samples to be drawn of."""
    cli("init", "--scale", "0-2").fine()
    for tag, step in {"x": 1, "y": 7, "z": 11}.items():
        rows = [f"{t} Q0 d{step * n % 60:02} 1 {-n} {tag}" for t in range(1, 5) for n in range(60)]
        write(here / f"{tag}.run", *rows)
    cli("import", "runs", "x.run", "y.run", "z.run").fine()
    grades = {(t, n): (n * n + t) % 3 for t in range(1, 5) for n in range(60)}
    write(here / "gpt.qrels", *(f"{t} 0 d{n:02} {grade}" for (t, n), grade in grades.items()))
    people = {pair: max(0, grade - (sum(pair) % 4 == 0)) for pair, grade in grades.items()}
    write(here / "ann.qrels", *(f"{t} 0 d{n:02} {grade}" for (t, n), grade in people.items()))
    for judge, kind in {"gpt": "model", "ann": "human"}.items():
        cli("import", "judgements", f"{judge}.qrels", "--judge", judge, "--kind", kind).fine()
    return here


MEASURES = ("P@10", "RBP", "DCG@10", "AP", "nDCG@10")


def test_a_pool_judged_whole_gives_people_s_scores(cli: Cli, learnt: Path) -> None:
    """Whatever the model said: P, RBP, AP and nDCG are those of `evaluate`, and nothing is left open."""
    cli("pool", "-s", "uniform", "--budget", "60", "--seed", "1").fine()
    rows = corrected(cli, *MEASURES).fine().whole()["corrected"]
    for column, judge in {"score": "ann", "by_model": "gpt"}.items():
        plain = [part for measure in MEASURES for part in ("-m", measure)]
        told = cli("evaluate", "--qrels", judge, *plain, "--format", "json").fine().whole()["measures"]
        known = {(row["measure"].partition("(")[0], row["run"]): row["value"] for row in told}
        for row in rows:
            value = known[row["measure"], row["run"]]
            assert row[column] == pytest.approx(value, rel=1e-8), row["measure"]
    errors = [row["standard_error"] for row in rows if row["measure"] in ("P@10", "RBP", "DCG@10")]
    assert errors == pytest.approx([0] * 9, abs=1e-12)
    assert learnt.exists()


@pytest.mark.parametrize(("topics", "reason"), [("1", "too-few-topics"), ("12", None)])
def test_two_topics_are_enough_for_an_interval_over_topics(
    cli: Cli, learnt: Path, topics: str, reason: str | None
) -> None:
    """Of one there is none, and a reason."""
    write(learnt / "some.qrels", *(f"{topic} 0 d{n:02} {n % 2}" for topic in topics for n in range(60)))
    cli("import", "judgements", "some.qrels", "--judge", "bob", "--kind", "human").fine()
    cli("pool", "-s", "uniform", "--budget", "60", "--seed", "1").fine()
    rows = corrected(cli, judge="bob").fine().whole()["corrected"]
    assert {(row["reason"], row["topics_low"] is None) for row in rows} == {(reason, reason is not None)}


def test_calibrated_by_plain_loops(cli: Cli, learnt: Path) -> None:
    """P@10 of a sample by strata: shares of relevant by the model's grade, differences, strata by topic."""
    strata = "strata=1:10:0.8,11:60:0.6"
    cli("pool", "-s", "stratified", "--param", strata, "--depth", "60", "--seed", "1").fine()
    prels = cli("export", "prels", "--as", "xinfap", "--qrels", "ann").fine().out.splitlines()
    documents = [
        (topic, docno, (topic, stratum), rel != "-1")
        for topic, _, docno, stratum, rel in map(str.split, prels)
    ]
    model, people = (read_grades(learnt / f"{judge}.qrels") for judge in ("gpt", "ann"))
    sizes = {s: [one for one in documents if one[2] == s] for s in {one[2] for one in documents}}
    stands = {s: len(of) / sum(one[3] for one in of) for s, of in sizes.items()}
    shares = {}
    for grade in (0, 1, 2):
        drawn = [one for one in documents if one[3] and model[one[:2]] == grade]
        weight = sum(stands[one[2]] for one in drawn)
        relevant = sum(stands[one[2]] for one in drawn if people[one[:2]] >= 1)
        shares[grade] = (len(drawn) * relevant / weight + 1 / 2) / (len(drawn) + 1)
        assert len(drawn) >= 30
    rows = corrected(cli, "P@10").fine().whole()["corrected"]
    first = {
        tag: {f"d{step * n % 60:02}" for n in range(10)} for tag, step in {"x": 1, "y": 7, "z": 11}.items()
    }

    def variance(weights: dict[str, float]) -> float:
        total = 0.0
        for of in sizes.values():
            drawn = [one for one in of if one[3]]
            off = [
                weights.get(one[1], 0.0) / 40 * ((people[one[:2]] >= 1) - shares[model[one[:2]]])
                for one in drawn
            ]
            if len(drawn) < len(of):
                mean = sum(off) / len(off)
                spread = sum((one - mean) ** 2 for one in off) / (len(off) - 1)
                total += len(of) ** 2 * (1 - len(drawn) / len(of)) / len(drawn) * spread
        return total

    for row in rows:
        score = 0.0
        for one in documents:
            if one[1] in first[row["run"]]:
                score += shares[model[one[:2]]] / 40
                if one[3]:
                    score += stands[one[2]] * ((people[one[:2]] >= 1) - shares[model[one[:2]]]) / 40
        assert row["score"] == pytest.approx(score)
        assert row["standard_error"] == pytest.approx(sqrt(variance(dict.fromkeys(first[row["run"]], 1.0))))
    for row in corrected(cli, "P@10", table="corrected_pairs").fine().whole()["corrected_pairs"]:
        weights = {
            d: float(d in first[row["a"]]) - (d in first[row["b"]]) for d in first[row["a"]] | first[row["b"]]
        }
        assert row["standard_error"] == pytest.approx(sqrt(variance(weights)))
    assert {row["se_calibrated"] < row["se_people"] for row in rows} == {True}


def read_grades(path: Path) -> dict[tuple[str, str], int]:
    """Return the grades of a qrels file."""
    rows = [line.split() for line in read_lines(path)]
    return {(topic, docno): int(grade) for topic, _, docno, grade in rows}


def test_ndcg_has_its_sentence_and_bounds_are_silent(cli: Cli, learnt: Path) -> None:
    """The sentence stands where nDCG is, and only there."""
    cli("pool", "-s", "uniform", "--budget", "40", "--seed", "1").fine()
    words = "its interval covers about .87"
    assert words in notes(cli, "nDCG@10")
    assert words not in notes(cli, "DCG@10")
    rows = corrected(cli, "AP").fine().whole()["corrected"]
    assert {row["lowest"] for row in rows} == {None}
    assert {row["reason"] for row in rows} == {"not-linear"}
    with p.open_collection("collection.db") as collection:
        (found,) = p.audit(collection, "gpt", "ann", measures="AP", resamples=100).correction.by_measure
        assert found.by_topic.shape == (3, 4)
    assert learnt.exists()


BY_MODEL = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
BY_PEOPLE = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
WEIGHTS = np.where(np.isin(np.arange(1, 9), [1, 5, 2, 6, 3]), 0.2, 0.0)
"""Of eight documents in P@5 of the run d1 d5 d2 d6 d3."""
TWO_STRATA = np.repeat([0, 1], 4)
ONE_STRATUM = np.zeros(8, np.int64)


def sample_of(strata: NDArray[np.int64], rows: tuple[int, ...]) -> Drawn:
    """Return the sample in which these rows are judged, of one topic."""
    return drawn(np.zeros(strata.size, np.int64), strata, np.isin(np.arange(strata.size), rows))


def two_strata() -> Iterator[Drawn]:
    """Draw every sample of two documents from each of two strata."""
    for first, second in product(combinations(range(4), 2), combinations(range(4, 8), 2)):
        yield sample_of(TWO_STRATA, (*first, *second))


def one_stratum() -> Iterator[Drawn]:
    """Draw every sample of four documents of eight."""
    for rows in combinations(range(8), 4):
        yield sample_of(ONE_STRATUM, rows)


def estimated(sample: Drawn, share: float) -> tuple[float, float]:
    """Return the score with a share of the model's gains as the prediction, and its variance."""
    rows = sample.judged
    residuals = BY_PEOPLE[rows] - share * BY_MODEL[rows]
    expected = np.array([[share * WEIGHTS @ BY_MODEL]])
    score = difference_scores(expected, WEIGHTS[rows][None], residuals, sample)
    return float(score[0, 0]), float(covariances((WEIGHTS[rows] * residuals)[None], sample)[0, 0])


@pytest.mark.parametrize(
    ("samples", "share", "variance"),
    [
        (two_strata, 0, Fraction(7, 75)),
        (two_strata, 0.5, Fraction(23, 300)),
        (two_strata, 1, Fraction(2, 25)),
        (one_stratum, 0, Fraction(3, 35)),
        (one_stratum, 1 / 3, Fraction(12, 175)),
        (one_stratum, 0.5, Fraction(47, 700)),
        (one_stratum, 1, Fraction(16, 175)),
    ],
)
def test_all_samples_are_unbiased_with_unbiased_variances(
    samples: Callable[[], Iterator[Drawn]], share: float, variance: Fraction
) -> None:
    """36 samples of two strata and 70 of one: the mean is P@5 = 3/5, the variance is the mean of V.

    Of one stratum it is larger with all of the model's gains than with people alone.
    """
    scores, variances = np.array([estimated(sample, share) for sample in samples()]).T
    assert scores.size == (36 if samples is two_strata else 70)
    assert scores.mean() == pytest.approx(3 / 5)
    assert scores.var() == pytest.approx(float(variance))
    assert variances.mean() == pytest.approx(float(variance))


PLACES = np.arange(4, dtype=np.int32).reshape(1, 1, 4)
GRADES = np.array([1.0, 0.0, 1.0, 1.0])
OF_MODEL = np.array([1.0, 1.0, 0.0, 1.0])


def sums_of() -> tuple[list[float], list[float]]:
    """Return Q-hat and R-hat of every sample of two of four documents, ab ac ad bc bd cd.

    With a prediction whose sum is that of people, R-hat = sum x is known, so both are read off AP-hat.
    """
    q, r = [], []
    for rows in combinations(range(4), 2):
        sample = sample_of(np.zeros(4, np.int64), rows)
        total = OF_MODEL.sum() + np.sum((GRADES - OF_MODEL)[list(rows)] * 2)
        found = corrected_precision(PLACES, OF_MODEL, GRADES[list(rows)], sample, is_cut=False)
        q.append(float(found[0, 0] * total))
        r.append(float(total))
    return q, r


def test_average_precision_of_every_sample() -> None:
    """Q-hat 1/4 21/4 11/4 3/4 1/4 21/4, mean 29/12 = Q; R-hat 1 5 3 3 1 5, mean 3."""
    q, r = sums_of()
    assert q == pytest.approx([1 / 4, 21 / 4, 11 / 4, 3 / 4, 1 / 4, 21 / 4])
    assert r == [1, 5, 3, 3, 1, 5]
    assert np.mean(q) == pytest.approx(29 / 12)


def test_average_precision_of_a_pool_judged_whole() -> None:
    """Whatever is expected: AP of 1 0 1 1 is (1 + 2/3 + 3/4) / 3; without R it is not defined."""
    sample = sample_of(np.zeros(4, np.int64), (0, 1, 2, 3))
    for expected in (OF_MODEL, np.full(4, 0.3), np.zeros(4), np.full(4, 9.0)):
        found = corrected_precision(PLACES, expected, GRADES, sample)
        assert found.ravel().tolist() == pytest.approx([29 / 36])
    assert np.isnan(corrected_precision(PLACES, np.zeros(4), np.zeros(4), sample)).all()


def test_calibrated_shares_weigh_by_inclusion() -> None:
    """Grade 1: relevant w 4/2, not w 3/1 of n = 2: (2 x 2/5 + 1/2) / 3; four grades get 1/4 each."""
    strata = np.array([0, 0, 0, 0, 1, 1, 1])
    sample = sample_of(strata, (0, 1, 4))
    model = np.array([1, 0, 0, 0, 1, NO_GRADE, 0])
    shares = calibrated_shares(model, np.array([1, 0, 0]), 2, sample)
    assert shares[0, 1] == pytest.approx((2 * (2 / 5) + 1 / 2) / 3)
    assert shares[1, 1] == pytest.approx((1 * 0 + 1 / 2) / 2)
    assert shares[5].tolist() == [0, 0]
    of_four = calibrated_shares(model, np.array([3, 0, 0]), 4, sample)
    assert of_four[0].tolist() == pytest.approx(
        [(2 * 3 / 5 + 1 / 4) / 3, 1 / 12, 1 / 12, (2 * 2 / 5 + 1 / 4) / 3]
    )
    assert grade_counts(model, sample).tolist() == [1, 2]


def test_ideal_lies_between_whole_numbers() -> None:
    """2.5 of level 1, of them 1.25 of level 2; a count above the lower level's or below 0 is cut."""
    d = [1.0, 1 / np.log2(3), 0.5]
    once = d[0] + d[1] + d[2] / 2
    assert corrected_ideal(np.array([[2.5, 1.25]]), np.ones(2), 3)[0] == pytest.approx(once + d[0] + d[1] / 4)
    assert corrected_ideal(np.array([[2.5, 7.0]]), np.ones(2), 3)[0] == pytest.approx(2 * once)
    assert corrected_ideal(np.array([[-1.0, 2.0]]), np.ones(2), 3)[0] == 0
    assert corrected_ideal(np.array([[9.0]]), np.ones(1), 3)[0] == pytest.approx(sum(d))


def test_interval_of_any_number_of_topics_has_the_t_of_scipy() -> None:
    """Of 0s and a 1, the standard error of whose mean is that mean, the half width is t times the mean."""
    from scipy.special import stdtrit

    for n in (*range(2, 200), 249, 250, 5_000, 10_001):
        scores = np.zeros(n)
        scores[0] = 1.0
        low, high = topic_interval(scores)
        assert float(high - low) * n / 2 == pytest.approx(float(stdtrit(n - 1, 0.975)), rel=1e-12)


def population_of(sample: Drawn) -> Population:
    """Return the eight documents as a population with one run, which has no ninth."""
    return Population(
        sample=sample,
        places=np.array([[[0, 4, 1, 5, 2]]], np.int32),
        people=BY_PEOPLE[sample.judged].astype(np.int64),
        model=BY_MODEL.astype(np.int64),
        levels=np.array([0, 1]),
        level=1,
        model_level=1,
    )


P5 = MeasureSpec("P@5", "linear", np.full(5, 0.2))


def test_measures_of_a_population() -> None:
    """The sample d1 d2 d5 d7; two judged documents of a grade are fewer than 30, so nothing is learnt."""
    found = corrected_measure(population_of(sample_of(TWO_STRATA, (0, 1, 4, 6))), P5)
    assert found.scores.tolist() == pytest.approx([4 / 5])
    assert found.by_model.tolist() == pytest.approx([3 / 5])
    assert found.way == "people"
    assert found.covariance is not None
    assert found.covariance.tolist() == [[pytest.approx(4 / 25)]]
    assert found.helped is None


def test_bounds_of_lost_documents() -> None:
    """Nobody could judge d2: 2/5 each for d1 and d5, 0 or 2/5 for d2; without it d1 stands for four."""
    lost = sample_of(TWO_STRATA, (0, 4, 6))
    whole = sample_of(TWO_STRATA, (0, 1, 4, 6))
    found = corrected_measure(population_of(lost), P5, whole=whole)
    assert found.bounds is not None
    assert found.bounds.ravel().tolist() == pytest.approx([4 / 5, 6 / 5])
    assert found.scores.tolist() == pytest.approx([0.2 * 4 + 0.2 * 2])


def test_a_topic_where_people_find_nothing() -> None:
    """Judged whole, AP and nDCG are not defined, whatever the model said; P is 0."""
    nothing = replace(population_of(sample_of(ONE_STRATUM, tuple(range(8)))), people=np.zeros(8, np.int64))
    gain = MeasureSpec("nDCG@5", "nDCG", 1 / np.log2(np.arange(2, 7)), np.array([0.0, 1.0]))
    average = MeasureSpec("AP", "AP", np.ones(5))
    precision, *others = (corrected_measure(nothing, spec) for spec in (P5, average, gain))
    assert precision.scores.tolist() == [pytest.approx(0)]
    assert all(np.isnan(one.scores).all() for one in others)
    assert all(np.isfinite(one.by_model).all() for one in others)


DEPTH = 100
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Track:
    """Every pair that NIST graded, topic by topic, and where the 63 runs have it."""

    pairs: list[tuple[str, str]]
    topics: NDArray[np.int64]
    n_topics: int
    places: NDArray[np.int32]
    """Shape (n_runs, n_topics, 100): place among the documents of the topic; -1 = not graded, -2 = none."""
    starts: NDArray[np.int64]
    """First row of every topic."""

    def weights(self, worth: Array) -> Array:
        """Return what a gain of each pair adds to each run's mean, shape (n_runs, n_pairs)."""
        found = np.zeros((len(self.places), len(self.pairs)))
        for topic, start in enumerate(self.starts):
            rows, ranks = np.nonzero(self.places[:, topic] >= 0)
            found[rows, start + self.places[rows, topic, ranks]] = worth[ranks] / self.n_topics
        return found

    def by_topic(self, weights: Array, gains: Array) -> Array:
        """Return sums of weights times gains, shape (n_runs, n_topics)."""
        return np.add.reduceat(weights * gains, self.starts, axis=1)

    def grades(self, judge: str) -> NDArray[np.int64]:
        """Return a judge's grades; -1 = none."""
        known = grades_of(judge)
        return np.array([known.get(pair, -1) for pair in self.pairs])

    def attention(self) -> Array:
        """Return the sum of 1 / rank over the runs, of every pair."""
        return self.weights(1 / np.arange(1, DEPTH + 1)).sum(axis=0) * self.n_topics


@cache
def population() -> Track:
    """Read the track: documents by score descending, then docno descending."""
    pairs = sorted(grades_of("nist"))
    names = sorted({topic for topic, _ in pairs})
    codes = {name: code for code, name in enumerate(names)}
    topics = np.array([codes[topic] for topic, _ in pairs])
    starts = np.searchsorted(topics, np.arange(len(names)))
    rows = {pair: row for row, pair in enumerate(pairs)}
    files = run_paths()
    places = np.full((len(files), len(names), DEPTH), -2, np.int32)
    for run, path in enumerate(files):
        lists: dict[str, list[tuple[float, str]]] = {}
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                topic, _, docno, _, score, *_ = line.split()
                lists.setdefault(topic, []).append((float(score), docno))
        for topic, ranking in lists.items():
            code = codes[topic]
            for rank, (_, docno) in enumerate(sorted(ranking, reverse=True)[:DEPTH]):
                row = rows.get((topic, docno))
                places[run, code, rank] = -1 if row is None else row - starts[code]
    return Track(pairs, topics, len(names), places, starts)


def cells(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give every combination that occurs a number."""
    return np.unique(np.stack(parts), axis=1, return_inverse=True)[1].ravel()


def weight_classes(weights: Array, n_classes: int) -> NDArray[np.int64]:
    """Cut pairs, by weight ascending, into classes of about the same total weight."""
    order = np.argsort(weights, kind="stable")
    reached = np.cumsum(weights[order])
    classes = np.zeros(weights.size, np.int64)
    classes[order] = np.minimum(n_classes * (reached / reached[-1]), n_classes - 1).astype(np.int64)
    return classes


def allocation(sizes: NDArray[np.int64], spreads: Array, total: int) -> NDArray[np.int64]:
    """Draw two of each stratum, or all; share the rest by size x spread, rounded down, then one by one."""
    taken = np.minimum(2, sizes).astype(np.int64)
    left = total - int(taken.sum())
    shares = sizes * spreads
    while left:
        is_open = taken < sizes
        wanted = np.floor(left * (shares / shares[is_open].sum())).astype(np.int64)
        more = np.where(is_open, np.minimum(wanted, sizes - taken), 0)
        if not more.any():
            break
        taken += more
        left -= int(more.sum())
    for _ in range(left):
        taken[np.argmax(np.where(taken < sizes, shares / (taken + 1), -1.0))] += 1
    return taken


def strata_of(design: str, judge: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the stratum of every pair, and whether the model says relevant."""
    track = population()
    model = track.grades(judge)
    relevant = model >= JUDGES[judge][1]
    heavy = track.attention()
    if design == "simple":
        return np.zeros(len(model), np.int64), relevant
    if design == "topic":
        return track.topics, relevant
    if design == "grid":
        return cells(weight_classes(heavy, 4), model), relevant
    classes = np.concatenate(
        [weight_classes(heavy[track.topics == topic], 2) for topic in range(track.n_topics)]
    )
    return cells(track.topics, classes, relevant), relevant


def sizes_to_draw(design: str, judge: str, total: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return strata, and how many documents of each are drawn."""
    track = population()
    strata, relevant = strata_of(design, judge)
    sizes = np.bincount(strata)
    if design == "simple":
        return strata, np.array([total])
    if design == "topic":
        exact = total * sizes / sizes.sum()
        taken = np.floor(exact).astype(np.int64)
        taken[np.argsort(taken - exact, kind="stable")[: total - taken.sum()]] += 1
        return strata, taken
    guessed = np.zeros(sizes.size)
    guessed[strata] = np.where(relevant, 0.25, 0.1)
    squares = np.bincount(strata, track.attention() ** 2) / sizes
    return strata, allocation(sizes, np.sqrt(squares * guessed), total)


def samples(design: str, judge: str, total: int, n_redraws: int, seed: int = 1) -> Iterator[Drawn]:
    """Draw samples, each afresh."""
    track = population()
    strata, taken = sizes_to_draw(design, judge, total)
    members = [np.flatnonzero(strata == stratum) for stratum in range(taken.size)]
    generator = np.random.default_rng(seed)
    for _ in range(n_redraws):
        judged = np.zeros(strata.size, np.bool_)
        for rows, n in zip(members, taken.tolist(), strict=True):
            judged[generator.choice(rows, n, replace=False)] = True
        yield drawn(track.topics, strata, judged)


def relevance(judge: str) -> tuple[Array, Array]:
    """Return people's relevance and the model's, 0 or 1."""
    track = population()
    people = track.grades("nist") >= PEOPLE_LEVEL
    return people.astype(float), (track.grades(judge) >= JUDGES[judge][1]).astype(float)


def calibrated(judge: str, people: Array, sample: Drawn) -> Array:
    """Return the calibrated prediction of every pair's relevance."""
    outcomes = people[sample.judged].astype(np.int64)
    return calibrated_shares(population().grades(judge), outcomes, 2, sample)[:, 1]


def scores_of(weights: Array, predicted: Array, people: Array, sample: Drawn) -> Array:
    """Return mean scores of the runs."""
    rows = sample.judged
    expected = population().by_topic(weights, predicted)
    return difference_scores(expected, weights[:, rows], people[rows] - predicted[rows], sample).sum(axis=1)


RANKS = np.arange(1, 101)
WORTH = {"P@10": (RANKS <= 10) / 10, "RBP": 0.2 * 0.8 ** (RANKS - 1.0)}
LEVELS = np.arange(4)
SHARES = {541: "5 %", 1083: "10 %", 2166: "20 %"}
OF_PRECISION = [
    ("umbrela", 1083, "simple", (0.0882, 0.942), (0.0691, 0.938), (0.0554, 0.946)),
    ("umbrela", 1083, "topic", (0.0872, 0.944), (0.0685, 0.941), (0.0545, 0.951)),
    ("umbrela", 1083, "topicgrid", (0.0647, 0.905), (0.0604, 0.943), (0.0479, 0.949)),
    ("umbrela", 1083, "grid", (0.0526, 0.903), (0.0520, 0.927), (0.0406, 0.951)),
    ("umbrela", 541, "grid", (0.0845, 0.876), (0.0823, 0.901), (0.0647, 0.947)),
    ("umbrela", 2166, "grid", (0.0299, 0.915), (0.0304, 0.939), (0.0235, 0.948)),
    ("gpt-4o", 1083, "grid", (0.0531, 0.899), (0.0569, 0.915), (0.0420, 0.948)),
    ("llama", 1083, "grid", (0.0555, 0.901), (0.0724, 0.921), (0.0474, 0.947)),
]
"""Judge, pairs, design; error and coverage of people, diff, calibrated."""
OF_RBP = [
    ("umbrela", 541, 0.0525, 0.946),
    ("umbrela", 1083, 0.0323, 0.950),
    ("umbrela", 2166, 0.0181, 0.948),
    ("gpt-4o", 1083, 0.0335, 0.949),
    ("llama", 1083, 0.0379, 0.948),
]
OF_TOPICS = {
    ("P@10", 1083): (0.0475, -0.0008, 0.772, 0.953),
    ("P@10", 2166): (0.0281, -0.0001, 0.864, 0.951),
    ("AP", 1083): (0.0187, 0.0049, 0.871, 0.947),
    ("AP", 2166): (0.0114, -0.0012, 0.919, 0.944),
    ("nDCG@10", 1083): (0.0356, 0.0264, 0.875, 0.870),
    ("nDCG@10", 2166): (0.0221, 0.0121, 0.911, 0.928),
}
"""Error, bias, tau-b, coverage of the topics' interval, with `topicgrid`, umbrela."""


def tau_b(first: Array, second: Array) -> float:
    """Return SciPy's tau-b of rounded scores: sums of tenths in another order differ in the last bit."""
    from scipy.stats import kendalltau

    return float(kendalltau(np.round(first, 10), np.round(second, 10)).statistic)


def error(differences: list[Array]) -> float:
    """Return the root mean square over redraws, averaged over runs."""
    return float(np.sqrt(np.mean(np.square(differences), axis=0)).mean())


def linear(
    judge: str, total: int, design: str, measure: str, n_redraws: int
) -> dict[str, tuple[float, float]]:
    """Return error and coverage by way."""
    track = population()
    people, model = relevance(judge)
    weights = track.weights(WORTH[measure])
    truth = weights @ people
    differences: dict[str, list[Array]] = {}
    covered: dict[str, list[NDArray[np.bool_]]] = {}
    for sample in samples(design, judge, total, n_redraws):
        rows = sample.judged
        of_sample = weights[:, rows]
        expected = {
            "people": np.zeros(people.size),
            "diff": model,
            "calibrated": calibrated(judge, people, sample),
        }
        for way, predicted in expected.items():
            off = scores_of(weights, predicted, people, sample) - truth
            variance = np.diag(covariances(of_sample * (people[rows] - predicted[rows]), sample))
            differences.setdefault(way, []).append(off)
            covered.setdefault(way, []).append(np.abs(off) <= NORMAL * np.sqrt(variance))
    return {way: (error(off), float(np.mean(covered[way]))) for way, off in differences.items()}


def check_precision(row: tuple, n_redraws: int, *, within: float) -> None:  # type: ignore[type-arg]
    """Hold a row against the table of the reference."""
    judge, total, design, *expected = row
    found = linear(judge, total, design, "P@10", n_redraws)
    for way, (size, coverage) in zip(("people", "diff", "calibrated"), expected, strict=True):
        assert found[way][0] == pytest.approx(size, rel=0.1), way
        assert found[way][1] == pytest.approx(coverage, abs=within), way


@pytest.mark.slow
def test_precision_of_a_grid_quickly() -> None:
    """100 redraws of 10 %: as the reference, coverage within two Monte Carlo errors."""
    check_precision(OF_PRECISION[3], 100, within=0.03)


@pytest.mark.long
@pytest.mark.parametrize("row", OF_PRECISION, ids=lambda row: f"{row[0]}-{SHARES[row[1]]}-{row[2]}")
def test_precision_as_in_the_reference(row: tuple) -> None:  # type: ignore[type-arg]
    """1,000 redraws: errors within a tenth, coverage within .01."""
    check_precision(row, 1000, within=0.01)


@pytest.mark.long
@pytest.mark.parametrize("row", OF_RBP, ids=lambda row: f"{row[0]}-{SHARES[row[1]]}")
def test_rbp_as_in_the_reference(row: tuple[str, int, float, float]) -> None:
    """1,000 redraws of RBP with a grid, calibrated."""
    judge, total, size, coverage = row
    found = linear(judge, total, "grid", "RBP", 1000)["calibrated"]
    assert found[0] == pytest.approx(size, rel=0.1)
    assert found[1] == pytest.approx(coverage, abs=0.01)


def by_topic(track: Track, sample: Drawn, judge: str) -> dict[str, Array]:
    """Estimate scores by topic."""
    grades, model = track.grades("nist"), track.grades(judge)
    people = (grades >= JUDGES["umbrela"][1]).astype(float)
    judged, n = sample.judged, track.n_topics
    relevant = calibrated_shares(model, people[judged].astype(np.int64), 2, sample)[:, 1]
    precision = track.weights(WORTH["P@10"] * n)
    gain = track.weights(n * (RANKS <= 10) / np.log2(RANKS + 1))
    shares = calibrated_shares(model, grades[judged], 4, sample)
    gains = shares @ LEVELS
    counts = []
    for level in (1, 2, 3):
        expected = shares[:, level:].sum(axis=1)
        extra = ((grades[judged] >= level) - expected[judged]) / sample.inclusion
        counts.append(
            np.bincount(sample.topics, expected, minlength=n)
            + np.bincount(sample.topics[judged], extra, minlength=n)
        )
    residuals = grades[judged] - gains[judged]
    found = difference_scores(track.by_topic(gain, gains), gain[:, judged], residuals, sample)
    off = people[judged] - relevant[judged]
    return {
        "P@10": difference_scores(track.by_topic(precision, relevant), precision[:, judged], off, sample),
        "AP": corrected_precision(track.places, relevant, people[judged], sample),
        "nDCG@10": corrected_ndcg(found, corrected_ideal(np.stack(counts, axis=1), np.ones(3), 10)),
    }


def redrawn_topics(judge: str, total: int, n_redraws: int) -> Iterator[tuple[Track, Drawn]]:
    """Draw topics with replacement, and of every one a sample afresh."""
    track = population()
    strata, taken = sizes_to_draw("topicgrid", judge, total)
    ends = np.append(track.starts, len(track.pairs))
    generator = np.random.default_rng(1)
    for _ in range(n_redraws):
        picked = generator.integers(0, track.n_topics, track.n_topics)
        sizes = ends[picked + 1] - ends[picked]
        rows = np.concatenate([np.arange(ends[topic], ends[topic + 1]) for topic in picked])
        topics = np.repeat(np.arange(track.n_topics), sizes)
        codes = cells(topics, strata[rows])
        judged = np.zeros(rows.size, np.bool_)
        for code in range(codes.max() + 1):
            members = np.flatnonzero(codes == code)
            judged[generator.choice(members, taken[strata[rows[members[0]]]], replace=False)] = True
        starts = np.searchsorted(topics, np.arange(track.n_topics))
        pairs = [track.pairs[row] for row in rows.tolist()]
        again = Track(pairs, topics, track.n_topics, track.places[:, picked], starts)
        yield again, drawn(topics, codes, judged)


def of_topics(total: int, n_redraws: int) -> dict[str, tuple[float, float, float, float]]:
    """Return by measure error, bias, tau-b and coverage of the topics' interval."""
    track = population()
    whole = drawn(track.topics, track.topics, np.ones(len(track.pairs), np.bool_))
    truth = {name: one.mean(axis=1) for name, one in by_topic(track, whole, "umbrela").items()}
    scores: dict[str, list[Array]] = {name: [] for name in truth}
    covered: dict[str, list[NDArray[np.bool_]]] = {name: [] for name in truth}
    for sample in samples("topicgrid", "umbrela", total, n_redraws):
        for name, one in by_topic(track, sample, "umbrela").items():
            scores[name].append(one.mean(axis=1))
    for again, sample in redrawn_topics("umbrela", total, n_redraws):
        for name, one in by_topic(again, sample, "umbrela").items():
            low, high = topic_interval(one)
            covered[name].append((low <= truth[name]) & (truth[name] <= high))
    return {
        name: (
            error([one - truth[name] for one in scores[name]]),
            float(np.mean([one - truth[name] for one in scores[name]])),
            float(np.mean([tau_b(truth[name], one) for one in scores[name]])),
            float(np.mean(covered[name])),
        )
        for name in truth
    }


@pytest.mark.long
@pytest.mark.parametrize("total", [1083, 2166])
def test_measures_of_topics_as_in_the_reference(total: int) -> None:
    """150 redraws, as the reference: coverage of intervals within .03, twice its Monte Carlo error."""
    for name, found in of_topics(total, 150).items():
        size, bias, tau, coverage = OF_TOPICS[name, total]
        assert found[0] == pytest.approx(size, rel=0.1), name
        assert found[1] == pytest.approx(bias, abs=0.003), name
        assert found[2] == pytest.approx(tau, abs=0.015), name
        assert found[3] == pytest.approx(coverage, abs=0.03), name
