"""Measures of a judged sample: as NIST's programs print them, by slow loops, of files and collections."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.arrays import RankedDocuments
from store.analysis.measures.sampled import (
    GRADED,
    NOT_SAMPLED,
    UNGRADED,
    SampledPool,
    StatapScores,
    StratifiedScores,
    estimates,
    sampled_pool,
    sampled_rankings,
    statap_scores,
    stratified_scores,
)
from store.errors import ArgumentError
from tests.helpers.fixtures import made_once
from tests.helpers.oracles import STRICT, average_precision, mean, read_qrels, runs_of
from tests.helpers.run import Cli, write


def test_probability_of_what_was_not_sampled_may_be_unknown_or_none() -> None:
    """A stratum of which nothing is drawn has probability 0."""
    pool = sampled_pool([1, 2, 3], [-1, -1, 1], [0, 0, 0], inclusion=[np.nan, 0, 0.5])
    assert pool.inclusion is not None
    assert pool.inclusion.tolist()[1:] == [0, 0.5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, 1], [1, 1], [0, 0], {}), "once, but got 1"),
        (([1], [1], [0], {"inclusion": [0.0]}), "above 0"),
        (([1], [0], [0], {"inclusion": [np.nan]}), "above 0"),
        (([1], [-1], [0], {"inclusion": [1.5]}), "at most 1"),
    ],
)
def test_pool_that_cannot_be_is_refused(given: tuple, message: str) -> None:  # type: ignore[type-arg]
    """Each argument by name."""
    documents, states, grades, others = given
    with pytest.raises(ArgumentError, match=message):
        sampled_pool(documents, states, grades, **others)


Sample = dict[int, tuple[int, float]]
"""Grade and inclusion probability of every sampled document."""


def statap_pool(sample: Sample) -> SampledPool:
    """Make a pool of graded documents."""
    return sampled_pool(
        list(sample),
        [1] * len(sample),
        [grade for grade, _ in sample.values()],
        inclusion=[chance for _, chance in sample.values()],
    )


def statap_of(sample: Sample, *some_lists: list[int], level: int = 1) -> StatapScores:
    """Score runs for one topic."""
    tags = [f"r{number}" for number in range(len(some_lists))]
    ranked = {(tag, "t"): np.array(one, dtype=np.int64)
              for tag, one in zip(tags, some_lists, strict=True)}  # fmt: skip
    arrays = sampled_rankings(tags, ranked, {"t": statap_pool(sample)}, cutoff=1000)
    return statap_scores(arrays, level=level)


def test_statap_of_the_program() -> None:
    """18 graded of 30 documents; a run of 40 and its first 9.

    The values are what the arithmetic of `statAP_MQ_eval_v4.pl` printed with 14 decimals.
    """
    sample = {i: ((i * i // 3) % 4, (1 + i % 8) / 8) for i in range(30) if (7 * i) % 5 < 3}
    ranked = [(17 * k + 5) % 40 for k in range(40)]
    scores = statap_of(sample, ranked, ranked[:9])
    assert scores.n_relevant == pytest.approx([28.86666666666667], abs=1e-13)
    assert scores.stat_ap[:, 0] == pytest.approx([0.86269406925296, 0.26772731160722], abs=1e-13)
    assert scores.variance[:, 0] == pytest.approx([0.20168337949087, 0.17229659013086], abs=1e-13)
    assert scores.n_relevant_retrieved[:, 0] == pytest.approx([28.86666666666667, 12], abs=1e-13)


some_lists = st.lists(st.integers(0, 35), unique=True, min_size=1)


graded = st.dictionaries(
    st.integers(0, 20),
    st.tuples(st.integers(-1, 3), st.one_of(st.floats(0.05, 1), st.sampled_from([0.25, 0.5, 1]))),
    min_size=1,
)


def slow_statap(sample: Sample, ranked: Sequence[int], level: int = 1) -> dict[str, float | None]:
    """Score a list as `statAP_MQ_eval_v4.pl` does, pair by pair."""
    chances = {document: chance for document, (grade, chance) in sample.items() if grade >= level}
    n_graded = sum(grade >= 0 for grade, _ in sample.values())
    total = sum(1 / chance for chance in chances.values())
    if not total:
        return {"statAP": None, "relevant_by_probability": 0.0, "found": 0.0}
    terms, above = [], 0.0
    for rank, document in enumerate(ranked, start=1):
        if document in chances:
            terms.append((chances[document], (1 + above) / rank, 1 / rank))
            above += 1 / chances[document]
    score = sum(precision / chance for chance, precision, _ in terms) / total
    terms += [(chance, 0.0, 0.0) for document, chance in chances.items() if document not in ranked]
    values = [(precision - score) / chance for chance, precision, _ in terms]
    own = sum((1 - chance) * value**2 for (chance, _, _), value in zip(terms, values, strict=True))
    pairs = sum(one * other for place, one in enumerate(values)
                for other_place, other in enumerate(values) if place != other_place)  # fmt: skip
    below = last = 0.0
    for chance, _, reciprocal in reversed(terms):
        last += below**2 * (1 - chance) / chance**2
        below += reciprocal / chance
    n_retrieved = sum(grade >= 0 for document, (grade, _) in sample.items() if document in ranked)
    found = {"statAP": score, "relevant_by_probability": total, "found": above}
    if n_graded < 2:
        return found
    variance = (own - pairs / (n_graded - 1) + last) / total**2 / (n_retrieved + 0.1) * n_graded
    return found | {"variance": min(variance, 1.0)}


@given(sample=graded, ranked=some_lists, level=st.integers(1, 3))
def test_statap_of_any_sample_is_that_of_the_loops(sample: Sample, ranked: list[int], level: int) -> None:
    """R-hat and statAP of documents that stand for 1/pi each."""
    scores = statap_of(sample, ranked, level=level)
    expected = slow_statap(sample, ranked, level)
    assert scores.n_relevant[0] == pytest.approx(expected["relevant_by_probability"], rel=1e-12)
    assert scores.n_relevant_retrieved[0, 0] == pytest.approx(expected["found"], rel=1e-12)
    value = np.nan if expected["statAP"] is None else expected["statAP"]
    assert scores.stat_ap[0, 0] == pytest.approx(value, rel=1e-12, nan_ok=True)


def test_undefined_and_empty() -> None:
    """Nothing relevant sampled; one document graded; a run with nothing for the topic."""
    nothing = statap_of({1: (0, 0.5), 2: (0, 1.0)}, [1, 2])
    for values in (nothing.stat_ap, nothing.variance):
        assert np.isnan(values).all()
    one = statap_of({1: (1, 0.5)}, [1], [])
    assert one.stat_ap[:, 0].tolist() == [1.0, 0.0]
    assert np.isnan(one.variance).all()


def test_pool_without_probabilities_is_refused() -> None:
    """Strata alone are not enough."""
    arrays = sampled_rankings(["r"], {}, {"t": sampled_pool([1], [1], [1], strata=[1])}, cutoff=10)
    with pytest.raises(ArgumentError, match="inclusion probabilities"):
        statap_scores(arrays, level=1)


Rows = list[tuple[int, int, int]]
"""Document, stratum and rel; -1 = not sampled."""


def pool_of(rows: Rows) -> SampledPool:
    """Make a pool from the columns of a prels file."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    states = np.where(columns[2] < 0, NOT_SAMPLED, GRADED)
    return sampled_pool(columns[0], states, columns[2], strata=columns[1])


OPTIONS = {"cutoffs": (5, 10), "max_retrieved": 1000, "level": 1}


def scores_of(rows: Rows, *lists: list[int], **options: object) -> StratifiedScores:
    """Score runs for one topic."""
    tags = [f"r{number}" for number in range(len(lists))]
    ranked = {(tag, "t"): np.array(one, dtype=np.int64)
              for tag, one in zip(tags, lists, strict=True)}  # fmt: skip
    arrays = sampled_rankings(tags, ranked, {"t": pool_of(rows)}, cutoff=1000)
    return stratified_scores(arrays, **OPTIONS | options)  # type: ignore[arg-type]


ARITHMETIC: Rows = [(i, 1 + i % 3, (i * i // 3) % 4 if (7 * i) % 5 < 3 else -1) for i in range(30)]
LONG = [(17 * k + 5) % 40 for k in range(40)]
PROGRAM = {
    # max_retrieved, length: infAP, infNDCG, inum_rel_ret, iP5, iP10, iP20, as printed.
    (1000, 40): (0.56195712291000, 0.59415417657948, 14.99997500012500,
                 0.39999400017999, 0.59999300015000, 0.63749555213586),
    (10, 40): (0.23765334878349, 0.32373494792670, 5.99993000149996,
               0.39999400017999, 0.59999300015000, 0.29999650007500),
    (1000, 9): (0.15843556585566, 0.28745287753936, 5.99993000149996,
                0.39999400017999, 0.59999300015000, 0.29999650007500),
}  # fmt: skip


@pytest.mark.parametrize(("max_retrieved", "length"), PROGRAM)
def test_values_of_the_program(max_retrieved: int, length: int) -> None:
    """Three strata, grades 0 to 3, documents outside the pool; with the cap of 10 below R-hat 15.

    The values are what the arithmetic of `sample_eval.pl` printed with 14 decimals.
    """
    inf_ap, inf_ndcg, retrieved, *precisions = PROGRAM[max_retrieved, length]
    scores = scores_of(ARITHMETIC, LONG[:length], max_retrieved=max_retrieved, cutoffs=[5, 10, 20])
    assert scores.n_relevant[0] == pytest.approx(15, abs=1e-13)
    assert scores.inf_ap[0, 0] == pytest.approx(inf_ap, abs=1e-13)
    assert scores.inf_ndcg[0, 0] == pytest.approx(inf_ndcg, abs=1e-13)
    assert scores.n_relevant_retrieved[0, 0] == pytest.approx(retrieved, abs=1e-13)
    assert scores.precision[:, 0, 0] == pytest.approx(precisions, abs=1e-13)


def plain_scores(
    rows: Rows, ranked: list[int], level: int, max_retrieved: int
) -> tuple[float, float, float, list[float]]:
    """Compute R-hat, xinfAP, infNDCG and the relevant documents expected down to each rank.

    Document by document, as `sample_eval.pl` does; 0 where nothing is relevant, as there.
    """
    place = {document: (stratum, rel) for document, stratum, rel in rows}
    strata = sorted({stratum for _, stratum, _ in rows})
    pooled = {c: sum(stratum == c for _, stratum, _ in rows) for c in strata}
    graded = {c: sum(stratum == c and rel >= 0 for _, stratum, rel in rows) for c in strata}
    expected, gains = 0.0, {}
    for c in strata:
        for value in sorted({rel for _, _, rel in rows if rel > 0}):
            found = sum(stratum == c and rel == value for _, stratum, rel in rows)
            if found:
                gains[value] = gains.get(value, 0.0) + found * pooled[c] / graded[c]
                expected += found * pooled[c] / graded[c] if value >= level else 0
    above = {c: [0, 0, 0] for c in strata}  # pooled, graded, relevant
    sums, gained = dict.fromkeys(strata, 0.0), dict.fromkeys(strata, 0.0)
    by_rank = [0.0]
    for rank, document in enumerate(ranked[:max_retrieved], start=1):
        c, rel = place.get(document, (None, -1))
        if c is not None and rel >= level:
            sums[c] += 1 / rank + by_rank[-1] / rank
        if c is not None:
            above[c][0] += 1
            above[c][1] += rel >= 0
            above[c][2] += rel >= level
            gained[c] += max(rel, 0) / math.log2(rank + 1)
        by_rank.append(sum(n * (r + 1e-5) / (s + 3e-5) for n, s, r in above.values()))
    ap = sum(pooled[c] / graded[c] * sums[c] for c in strata if sums[c])
    ap = ap / expected * max(1.0, expected / max_retrieved) if expected else 0.0
    dcg = sum(n * gained[c] / s for c, (n, s, _) in above.items() if s)
    best = start = 0.0
    for value in sorted(gains, reverse=True):
        rank = start + 1
        while rank <= start + gains[value]:
            best += value / math.log2(rank + 1)
            if rank >= max_retrieved:
                break
            rank += 1
        start += gains[value]
    return expected, ap, dcg / best if best else 0.0, by_rank


strata_rows = st.lists(
    st.tuples(st.integers(0, 25), st.integers(1, 4), st.integers(-1, 3)),
    min_size=1,
    unique_by=lambda row: row[0],
)


@given(
    rows=strata_rows,
    ranked=st.lists(st.integers(0, 30), unique=True),
    level=st.integers(1, 3),
    max_retrieved=st.sampled_from([1, 4, 1000]),
    apart=st.sampled_from([1, 10**6]),
)
def test_any_sample_has_the_scores_of_the_loops(
    rows: Rows, ranked: list[int], level: int, max_retrieved: int, apart: int
) -> None:
    """Strata sampled in part, not at all, absent from the run; documents outside the pool; ids far apart."""
    rows = [(document * apart, stratum, rel) for document, stratum, rel in rows]
    ranked = [document * apart for document in ranked]
    scores = scores_of(
        rows, ranked, cutoffs=[1, 3, 50], level=level, max_retrieved=max_retrieved
    )  # fmt: skip
    _, ap, ndcg, by_rank = plain_scores(rows, ranked, level, max_retrieved)
    assert np.isnan(scores.inf_ap[0, 0]) == (not any(rel >= level for _, _, rel in rows))
    assert np.isnan(scores.inf_ndcg[0, 0]) == (not any(rel > 0 for _, _, rel in rows))
    assert np.nan_to_num(scores.inf_ap[0, 0]) == pytest.approx(ap, rel=1e-12)
    assert np.nan_to_num(scores.inf_ndcg[0, 0]) == pytest.approx(ndcg, rel=1e-12)
    assert scores.n_relevant_retrieved[0, 0] == pytest.approx(by_rank[-1], rel=1e-12)
    for row, cutoff in enumerate((1, 3, 50)):
        expected = by_rank[min(cutoff, len(by_rank) - 1)] / cutoff
        assert scores.precision[row, 0, 0] == pytest.approx(expected, rel=1e-12)


def test_stratum_without_a_grade_is_counted_apart() -> None:
    """Its documents add nothing to R-hat, and a third of each to what a run found."""
    scores = scores_of([(0, 1, 1), (1, 2, -1), (2, 2, -1)], [1, 2, 0], [], cutoffs=[2])
    assert scores.n_relevant.tolist() == [1.0]
    assert scores.n_uncovered.tolist() == [2]
    assert scores.n_relevant_retrieved[:, 0] == pytest.approx([1 + 2 / 3, 0], abs=3e-5)
    assert scores.precision[0, :, 0] == pytest.approx([1 / 3, 0], abs=3e-5)
    assert scores.inf_ap[:, 0] == pytest.approx([(1 + 2 / 3) / 3, 0], abs=3e-5)
    assert scores.inf_ndcg[:, 0] == pytest.approx([1 / math.log2(4), 0])


def test_sampled_without_a_grade_is_as_not_sampled() -> None:
    """The estimate rests on what is graded."""
    ranked = {("r", "t"): np.array([1, 2, 3, 4])}
    grades = [2, 0, 1, 0]
    found = []
    for states in (UNGRADED, NOT_SAMPLED):
        pool = sampled_pool([1, 2, 3, 4], [1, states, 1, states], grades, strata=[1, 1, 1, 1])
        scores = stratified_scores(sampled_rankings(["r"], ranked, {"t": pool}, cutoff=10), **OPTIONS)
        found.append((scores.inf_ap[0, 0], scores.inf_ndcg[0, 0], scores.n_relevant[0]))
    assert found[0] == found[1]
    assert found[0][2] == 4.0


def test_what_cannot_be_scored_is_refused() -> None:
    """Pools without strata."""
    pool = sampled_pool([1], [1], [1], inclusion=[1.0])
    arrays = sampled_rankings(["r"], {}, {"t": pool}, cutoff=10)
    with pytest.raises(ArgumentError, match="strata"):
        stratified_scores(arrays, **OPTIONS)


EPSILON = 1e-5
V5 = ["51 0 d1 1 1", "51 0 d2 1 0", "51 0 d3 1 2", "51 0 d4 2 -1", "51 0 d5 2 1", "51 0 d6 2 0",
      "51 0 d7 2 -1"]  # fmt: skip
PRINTED = {"xinfAP": 0.8056, "infNDCG": 0.7616, "iP@5": 0.6, "iP@10": 0.4}
"""What `sample_eval.pl` printed for it, with four decimals."""
STRATA = ("stratified", "--param", "strata=1:2,3:9:0.4", "--budget", "12")

EVERY = [word for name in ("xinfAP", "infNDCG", "iP@5", "iP@10", "infAP", "statAP") for word in ("-m", name)]

Tables = dict[str, dict[str, Any]]


def estimated(cli: Cli, *options: str | Path) -> tuple[dict[str, Any], Tables]:
    """Return the facts, and the rows by run, and by run and topic: every estimate under its name."""
    found = cli("evaluate", *EVERY, *options, "--format", "json").fine().whole()
    rows: Tables = {}
    for one in found["topics"]:
        key = one["run"] if one["topic"] == "all" else f"{one['run']} {one['topic']}"
        row = rows.setdefault(key, {"reason": ""})
        row[one["measure"]] = one["value"]
        row["reason"] += f", {one['reason'] or ''}"
        row |= {"missing": one["missing"]} if one["topic"] == "all" else {}
        row |= {"se": one["standard_error"]} if one["measure"] == "statAP" else {}
    for one in found["found"]:
        rows[f"{one['run']} {one['topic']}"] |= one
    return found["facts"], rows


def write_ranking(path: Path, tag: str, topics: dict[str, list[str]]) -> str:
    """Write a run file and return its name."""
    write(path / f"{tag}.run", *(
        f"{topic} Q0 {docno} 0 {-rank} {tag}"
        for topic, docnos in topics.items() for rank, docno in enumerate(docnos)
    ))  # fmt: skip
    return f"{tag}.run"


@pytest.fixture
@made_once
def small(cli: Cli, here: Path) -> Path:
    """Work beside the strata and the run that `sample_eval.pl` scored, and a collection of both."""
    write(here / "p", *V5)
    write_ranking(here, "r", {"51": ["d1", "d4", "d5", "d2", "d8", "d3"]})
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "r.run").fine()
    cli("import", "judgements", "p", "--as", "xinfap", "--judge", "me").fine()
    return here


@pytest.mark.vector("sample_eval.pl")
@pytest.mark.parametrize("options", ["--sample sample-me", "", "--prels p --as xinf r.run"])
def test_small_vector_of_the_program_comes_out(cli: Cli, small: Path, options: str) -> None:
    """Of the collection's pool by name, the only sampled one, and the file itself."""
    facts, rows = estimated(cli, *options.split())
    for row in (rows["r"], rows["r 51"]):
        assert {name: round(row[name], 4) for name in PRINTED} == PRINTED
    assert (rows["r 51"]["relevant_by_strata"], facts["relevant_by_strata"]) == (4.0, 4.0)
    assert [facts[name] for name in ("pooled", "sampled", "graded", "relevant")] == [7, 5, 5, 3]


@pytest.fixture
def drawn(cli: Cli, judged: Path) -> Callable[..., None]:
    """Give a function that draws a sample of the sample collection's runs."""

    def draw(*options: str) -> None:
        cli("pool", "--strategy", *options, "--seed", "3", "--name", "drawn").fine()

    return draw


def test_whole_sample_has_the_scores_of_its_qrels(cli: Cli, judged: Path, drawn: Callable[..., None]) -> None:
    """At rate 1 by topic: AP, nDCG and P of pytrec_eval, but for the program's small constants."""
    import pytrec_eval

    drawn("stratified", "--param", "strata=1:2:1,3:5:1", "--depth", "5")
    facts, rows = estimated(cli, *STRICT, "--sample", "drawn")
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    assert (facts["pooled"], facts["graded"]) == (84, 84)
    n_relevant = sum(grade > 0 for grades in qrels.values() for grade in grades.values())
    assert facts["relevant_by_strata"] == facts["relevant_by_probability"] == n_relevant
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "P_5,10", "infAP"})
    for tag, run in runs_of(judged).items():
        theirs = evaluator.evaluate(run)
        for topic, scores in theirs.items():
            row = rows[f"{tag} {topic}"]
            assert row["statAP"] == pytest.approx(scores["map"], rel=1e-13)
            assert row["infAP"] == pytest.approx(scores["infAP"], rel=1e-13)
            assert row["infNDCG"] == pytest.approx(scores["ndcg"], rel=1e-12)
            for name, other in (("xinfAP", "map"), ("iP@5", "P_5"), ("iP@10", "P_10")):
                assert row[name] == pytest.approx(scores[other], abs=4 * EPSILON)
        expected = mean(average_precision(qrels, run).values())
        assert rows[tag]["statAP"] == pytest.approx(expected, rel=1e-13)


Drawn = dict[int, tuple[int, int, float]]
"""Stratum, rel (-1 = not sampled) and probability of documents."""


def some_topics(rng: random.Random) -> tuple[dict[str, Drawn], dict[str, dict[str, list[int]]]]:
    """Make samples of six topics, one without a relevant document, and two runs."""
    samples = {}
    for number in range(1, 7):
        grades = (0, 0, 0, 1, 2, 3) if number != 2 else (0,)
        sample = {}
        for document in rng.sample(range(40), rng.randint(12, 30)):
            stratum = rng.randint(1, 3)
            rel = rng.choice(grades) if stratum == 1 or rng.random() < 0.5 else -1
            sample[document] = (stratum, rel, rng.choice([1.0, 0.5, 0.25, 0.0625]))
        # Of no more than two documents a variance can be anything.
        samples[str(number)] = sample | {40: (1, grades[-1], 0.5), 41: (1, 0, 0.5)}
    runs = {
        tag: {topic: rng.sample(range(45), rng.randint(4, 45)) for topic in samples if topic != gap}
        for tag, gap in (("x", ""), ("y", "5"))
    }
    return samples, runs


def of_strata(sample: Drawn, ranked: list[int]) -> dict[str, float | None]:
    """Return what the loops say of a list, by the names of the table."""
    rows = [(document, stratum, rel) for document, (stratum, rel, _) in sample.items()]
    total, ap, ndcg, by_rank = plain_scores(rows, ranked, 1, 1000)
    expected = by_rank + [by_rank[-1]] * 10
    scores: dict[str, float | None] = {"iP@5": expected[5] / 5, "iP@10": expected[10] / 10}
    scores |= {"found": by_rank[-1], "relevant_by_strata": total}
    return scores | {"xinfAP": ap if total else None, "infNDCG": ndcg if total else None}


def of_probabilities(sample: Drawn, ranked: list[int]) -> dict[str, float | None]:
    """Return what the loops say of the documents that are graded."""
    scores = slow_statap({one: (rel, chance) for one, (_, rel, chance) in sample.items() if rel >= 0}, ranked)
    del scores["found"]  # of a prels file by strata alone
    return scores


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_slow_loops(cli: Cli, here: Path, seed: int) -> None:
    """Random strata, grades and probabilities, from files; means over the topics that have one."""
    samples, runs = some_topics(random.Random(seed))
    files = [
        write_ranking(here, tag, {topic: [f"d{one}" for one in ranked] for topic, ranked in topics.items()})
        for tag, topics in runs.items()
    ]
    lines = [(topic, f"d{one}", *of) for topic, sample in samples.items() for one, of in sample.items()]
    write(here / "x", *(f"{topic} 0 {docno} {stratum} {rel}" for topic, docno, stratum, rel, _ in lines))
    write(here / "s", *(
        f"{topic} {docno} {rel} {int(chance < 1)} {chance}"
        for topic, docno, _, rel, chance in lines if rel >= 0
    ))  # fmt: skip
    for kind, form, slow in (("x", "xinf", of_strata), ("s", "statap", of_probabilities)):
        _, rows = estimated(cli, "--prels", kind, "--as", form, *files)
        for tag, topics in runs.items():
            expected = {topic: slow(sample, topics.get(topic, [])) for topic, sample in samples.items()}
            total = sum(one.get("variance") or 0 for one in expected.values())
            if total > 1e-12:
                assert rows[tag]["se"] == pytest.approx(math.sqrt(total) / 5, rel=1e-9)
            for topic, scores in expected.items():
                row = rows[f"{tag} {topic}"]
                assert ("no-relevant" in row["reason"]) == (topic == "2")
                variance = scores.pop("variance", None)
                for name, score in scores.items():
                    assert row[name] == (None if score is None else pytest.approx(score, rel=1e-9))
                if variance is not None and abs(variance) > 1e-12:
                    root = pytest.approx(math.sqrt(abs(variance)), rel=1e-9)
                    assert row["se"] == (root if variance > 0 else None)
            for name in {"xinfAP", "infNDCG", "iP@5", "iP@10", "statAP"} & expected["1"].keys():
                defined = [one[name] for one in expected.values() if one[name] is not None]
                assert rows[tag][name] == pytest.approx(mean(defined), rel=1e-9)
                assert len(defined) == (6 if name.startswith("iP") else 5)


@pytest.mark.parametrize("draw", [STRATA, ("uniform", "--budget", "6"), ("statap", "--budget", "5")])
def test_exported_sample_gives_the_numbers_of_its_pool(
    cli: Cli, judged: Path, drawn: Callable[..., None], draw: tuple[str, ...]
) -> None:
    """Half judged, with judgements outside the sample: the file says the same as the collection."""
    drawn(*draw, "--depth", "9")
    ours, here = estimated(cli, "--qrels", "strict")
    assert ours["sampled"] > ours["graded"] > ours["relevant"] > 0
    runs = sorted(str(path) for path in Path("runs").iterdir())
    for kind, form in (("xinfap", "xinf"), ("statap", "statap")):
        export = ("export", "prels", "--as", kind, "--pool", "drawn", "--qrels", "strict")
        cli(*export, "--out", kind).fine()
        facts, there = estimated(cli, "--prels", kind, "--as", form, *runs)
        assert facts["topics_without_grade"] <= ours["topics_without_grade"]
        names = ["statAP", "se", "relevant_by_probability"]
        if kind == "xinfap":
            names = ["xinfAP", "infNDCG", "iP@5", "iP@10", "infAP", "found", "relevant_by_strata"]
        assert set(there) == set(here)
        for key, row in there.items():
            for name in names:
                if name in row:  # summed in another order
                    tolerance = 0 if kind == "xinfap" else 1e-12
                    value = here[key][name]
                    assert row[name] == (value and pytest.approx(value, rel=tolerance, abs=0))


def test_sample_of_one_rate_has_the_inferred_ap_of_trec_eval(
    cli: Cli, judged: Path, drawn: Callable[..., None]
) -> None:
    """pytrec_eval on the exported file, its column of strata taken out: -1 = pooled, not judged."""
    import pytrec_eval

    drawn("uniform", "--budget", "6", "--depth", "5")
    _, rows = estimated(cli, *STRICT)
    export = ("export", "prels", "--as", "xinfap", "--pool", "drawn", "--qrels", "strict")
    lines = [line.split() for line in cli(*export).fine().out.splitlines()]
    qrels: dict[str, dict[str, int]] = {}
    for topic, _, docno, _, code in lines:
        qrels.setdefault(topic, {})[docno] = int(code)
    assert sum(int(line[4]) >= 0 for line in lines) == 48
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"})
    for tag, run in runs_of(judged).items():
        for topic, scores in evaluator.evaluate(run).items():
            expected = pytest.approx(scores["infAP"], rel=1e-12) if max(qrels[topic].values()) > 0 else None
            assert rows[f"{tag} {topic}"]["infAP"] == expected


def test_documents_of_two_choices_are_certain(cli: Cli, small: Path) -> None:
    """Method 2 of a statap file counts as it does for the program, in the collection as well."""
    write(small / "s", "51 d1 1 1 0.5", "51 d5 2 2 0.25", "51 d6 0 1 0.5")
    bring = ("import", "judgements", "s", "--as", "statap", "--judge", "you", "--as-pool", "two")
    cli(*bring).fine()
    facts, rows = estimated(cli, "--sample", "two", "--qrels", "you")
    _, there = estimated(cli, "--prels", "s", "--as", "statap", "r.run")
    # d1 at rank 1 for two, d5 at rank 3 for itself alone: (2 * 1 + 1 * (1 + 2) / 3) / 3.
    assert facts["relevant_by_probability"] == 3.0
    assert rows["r"]["statAP"] == pytest.approx(1.0, rel=1e-15)
    assert there["r"] == rows["r"]
    assert "no-strata" in rows["r"]["reason"]
    assert (facts["pooled"], rows["r"]["xinfAP"]) == (None, None)


def test_topics_without_relevant_or_judged_documents_are_told(cli: Cli, small: Path) -> None:
    """The one has no AP, no zero, and leaves the mean; the other is left out altogether."""
    more = ["52 0 d1 1 0", "52 0 d2 1 -1", "53 0 d1 1 -1", "54 0 d9 1 1"]
    write(small / "p", *V5, *more)
    options = ("evaluate", *EVERY, "--prels", "p", "--as", "xinf", "r.run")
    facts, rows = estimated(cli, "--prels", "p", "--as", "xinf", "r.run")
    assert (facts["topics"], facts["topics_without_relevant"]) == (3, 1)
    assert facts["topics_without_grade"] == 1
    assert "r 53" not in rows
    assert (rows["r 52"]["xinfAP"], rows["r 52"]["iP@5"]) == (None, 0.0)
    assert "no-relevant" in rows["r 52"]["reason"]
    assert (rows["r 54"]["xinfAP"], rows["r"]["missing"]) == (0.0, 2)
    # `sample_eval.pl` has 0.8056 and 0 for its two topics; a topic it leaves out is 0 here.
    assert rows["r"]["xinfAP"] == pytest.approx(0.8056 / 2, abs=5e-5)
    assert rows["r"]["iP@5"] == pytest.approx(0.6 / 3, abs=5e-5)
    answer = cli(*options).fine()
    words = " ".join(answer.out.split())
    assert "1 topic of 3 has no relevant document in the sample, so no xinfAP, infNDCG;" in words
    assert "its means of xinfAP are 2/3 of these" in words
    assert "scores 0 there; both programs leave the topic out." in words
    assert "p: 1 topic without a judged document left out" in answer.err


def test_what_is_not_judged_yet_is_told(cli: Cli, small: Path) -> None:
    """Sampled documents that wait, and strata of which nothing is judged."""
    write(small / "q", "51 0 d1 1", "51 0 d2 0")
    cli("import", "judgements", "q", "--judge", "late").fine()
    answer = cli("evaluate", *EVERY, "--qrels", "late").fine()
    assert "warning: 3 sampled documents have no grade: statAP is too low" in answer.err
    assert "warning: 4 pooled documents in strata without a judged document" in answer.err
    # Of stratum 2 nothing is known: d1 stands for 1 * 3/2 documents.
    facts, rows = estimated(cli, "--qrels", "late")
    assert (facts["relevant_by_strata"], facts["in_strata_without_grade"]) == (1.5, 4)
    assert rows["r"]["xinfAP"] == pytest.approx(1.0)
    # Two in the second stratum of 51 and none of 52 are two; with one of 53 they are three.
    whole = ["51 0 d1 1 1", "51 0 d2 2 -1", "51 0 d3 2 -1", "52 0 d1 1 1"]
    for lines, expected in ((whole, 2), ([*whole, "53 0 d1 1 1", "53 0 d2 2 -1"], 3)):
        write(small / "p", *lines)
        facts, _ = estimated(cli, "--prels", "p", "--as", "xinf", "r.run")
        assert facts["in_strata_without_grade"] == expected


def test_negative_rels_are_judgements_where_the_scale_has_them(cli: Cli, small: Path) -> None:
    """As sample_eval.pl has it -2 is not sampled, and that is said; on a declared scale it is."""
    write(small / "p", "51 0 d1 1 1", "51 0 d4 1 -2", "51 0 d2 1 -1")
    options = ("--prels", "p", "--as", "xinf", "r.run")
    facts, _ = estimated(cli, *options)
    assert (facts["graded"], facts["relevant_by_strata"]) == (1, 3.0)
    told = "p: 1 line with a rel below -1 counts as not sampled, as in sample_eval.pl"
    assert told in cli("evaluate", *EVERY, *options).fine().err
    facts, _ = estimated(cli, *options, "--scale", "-2-1")
    assert (facts["graded"], facts["relevant_by_strata"]) == (2, 1.5)
    facts, _ = estimated(cli, *options, "--scale", "0-1")
    assert facts["graded"] == 1
    refused = cli("evaluate", *EVERY, *options, "--scale", "2-3").failed(1)
    assert "p:1: expected a grade of the scale (2, 3), got 1" in refused.err


def test_level_and_cutoff(cli: Cli, small: Path) -> None:
    """At level 2 one document of three, and the same infNDCG; a cutoff is the most that a run may return."""
    answer = cli("evaluate", *EVERY, "--prels", "p", "--as", "xinfap", "r.run").fine()
    assert "relevant = grade 1 or more; another level with --level" in answer.err
    facts, rows = estimated(cli, "--level", "2")
    assert (facts["relevant"], facts["relevant_by_strata"]) == (1, 1.0)
    assert round(rows["r"]["infNDCG"], 4) == PRINTED["infNDCG"]
    # Fewer than the 4 relevant ones: the program multiplies by 4/2.
    _, rows = estimated(cli, "--cutoff", "2")
    assert rows["r"]["xinfAP"] == pytest.approx(1 / 4 * 4 / 2, abs=1e-4)


def test_which_sample_is_meant(cli: Cli, judged: Path, drawn: Callable[..., None]) -> None:
    """None, a pool that is no sample, one, and two: the only one needs no name."""
    ask = ("evaluate", *EVERY, "--qrels", "strict")
    assert "there is no sampled pool in the collection" in cli(*ask).failed(1).err
    refused = cli(*ask, "--sample", "pool").failed(1)
    assert "pool `pool` is no sample: it has neither strata nor inclusion" in refused.err
    assert "hint: pooler pool --strategy stratified, uniform or statap draws" in refused.err
    drawn("uniform", "--budget", "6")
    facts, _ = estimated(cli, "--qrels", "strict")
    assert facts["sample"] == "pool drawn"
    cli("pool", "--strategy", "uniform", "--budget", "5", "--seed", "1", "--name", "other").fine()
    assert "there are 2 sampled pools: drawn, other" in cli(*ask).failed(1).err
    assert "unknown pool `dawn`" in cli(*ask, "--sample", "dawn").failed(1).err
    cli("pool", "drop", "--pool", "other").fine()
    assert estimated(cli, "--qrels", "strict")[0] == facts


FILES = "--prels p --as xinf"


REFUSED = [
    ("--qrels ./p r.run", "`--prels` must name the judged sample"),
    ("--prels p r.run", "`--as` must say which form the prels file has"),
    ("--as statap", "`--as` is of a prels file"),
    ("--runs p", "`--runs` is for files"),
    ("--scale 0-2", "`--scale` is for files"),
    ("r.run", "r.run is a file, not a run tag of the collection"),
    (f"{FILES} r", "r: no such file"),
    (FILES, "no run file is named"),
    (f"{FILES} r.run --qrels me", "`--qrels` is for a collection"),
    (f"{FILES} r.run --sample p", "`--sample` and a prels file exclude each other"),
    (f"{FILES} r.run -m AP", "`--measure` AP is of qrels, which a prels file is not"),
    (f"{FILES} r.run --level rigid", "`--level` needs a declared scale"),
    ("--prels p --as statap r.run", "all its lines could be xinfap lines"),
    ("--prels none --as xinf r.run", "none: no such file"),
    ("--prels empty --as xinf r.run", "no sampled document is judged"),
]


def test_what_does_not_go_together_is_refused(cli: Cli, small: Path) -> None:
    """In one line that says what to do; nothing on stdout."""
    write(small / "empty", "51 0 d1 1 -1")
    for options, words in REFUSED:
        answer = cli("evaluate", *EVERY, *options.split()).failed(1)
        assert words in answer.err, options
        assert answer.out == ""
    alone = cli("evaluate", "-m", "AP", "--sample", "sample-me").failed(1)
    assert "`--sample` is for measures of a sample: xinfAP" in alone.err
    cut = cli("evaluate", "-m", "iP@5", "--threshold", "3").failed(1)
    assert "`--threshold` is not for iP@5, which is of a sample" in cut.err
    level = cli("evaluate", "-m", "xinfAP", "-m", "infAP(rel=2)", "--qrels", "me").failed(1)
    assert "`--measure` must have the level 1 of the sample" in level.err
    write(small / "other.qrels", "52 0 d1 1")
    both = cli("evaluate", "-m", "AP", "-m", "xinfAP", *FILES.split(), "--qrels", "other.qrels", "r.run")
    assert both.code == 1
    assert "must not be one of a judged sample" in cli("compare", "-m", "statAP").failed(1).err


def test_measures_of_a_sample_stand_beside_others(cli: Cli, judged: Path, drawn: Callable[..., None]) -> None:
    """Each is what it is alone, in the order asked for; of files qrels and sample are both named."""
    drawn("uniform", "--budget", "6", "--depth", "5")
    asked = ("-m", "statAP", "-m", "AP", "-m", "xinfAP")
    found = cli("evaluate", *asked, "--qrels", "strict", "--format", "json").fine().whole()
    assert [row["measure"] for row in found["measures"][:3]] == ["statAP", "AP", "xinfAP"]
    _, estimates_alone = estimated(cli, "--qrels", "strict")
    plain = cli("evaluate", "--qrels", "strict", "--format", "json").fine().whole()
    expected = {(row["run"], "AP"): row["value"] for row in plain["measures"]}
    for run in {row["run"] for row in found["measures"]}:
        expected |= {(run, name): estimates_alone[run][name] for name in ("statAP", "xinfAP")}
    assert {(row["run"], row["measure"]): row["value"] for row in found["measures"]} == expected
    cli("export", "prels", "--as", "xinfap", "--pool", "drawn", "--qrels", "strict", "--out", "p").fine()
    runs = sorted(str(path) for path in Path("runs").iterdir())
    files = ("--qrels", "judgements/strict.qrels", "--prels", "p", "--as", "xinf", *runs)
    bare = cli("evaluate", "-m", "AP", "-m", "xinfAP", *files, "--format", "json").fine().whole()
    values = {(row["run"], row["measure"]): row["value"] for row in bare["measures"]}
    assert values == {key: value for key, value in expected.items() if key[1] != "statAP"}


def draw_sample(rng: np.random.Generator, rel: np.ndarray, rates: np.ndarray) -> SampledPool:
    """Sample documents of three strata at their rates, exactly."""
    strata = np.digitize(np.arange(rel.size), [20, 100])
    chosen = np.zeros(rel.size, dtype=bool)
    chances = np.empty(rel.size)
    for stratum, rate in enumerate(rates):
        members = np.flatnonzero(strata == stratum)
        n_chosen = round(rate * members.size)
        chosen[rng.choice(members, n_chosen, replace=False)] = True
        chances[members] = n_chosen / members.size
    document_states = np.where(chosen, GRADED, NOT_SAMPLED)
    return sampled_pool(np.arange(rel.size), document_states, rel, strata=strata, inclusion=chances)


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(1.0, 0.3, 0.1), (0.2, 0.2, 0.2)])
def test_standard_error_is_worth_what_the_caption_says(rates: tuple[float, ...]) -> None:
    """20 topics, 100 samples: AP is within two in 8 or 9 of 10, and xinfAP strays about as far."""
    rng = np.random.default_rng(1)
    worth = np.exp(-np.arange(200) / 40)
    rels, rankings, true = {}, {}, []
    for number in range(20):
        rel = np.zeros(200, dtype=np.int64)
        rel[rng.choice(200, 40, replace=False, p=worth / worth.sum())] = 1
        ranked = np.argsort(np.arange(200) + rng.normal(0, 40, 200))
        rels[str(number)], rankings["r", str(number)] = rel, ranked
        found = np.cumsum(rel[ranked]) / np.arange(1, 201)
        true.append(found[rel[ranked] == 1].mean())
    documents = RankedDocuments(("r",), rankings, {}, {})
    inside, errors, strays = [], [], []
    for _ in range(100):
        pools = {topic: draw_sample(rng, rel, np.array(rates)) for topic, rel in rels.items()}
        scores = estimates(documents, pools, cutoff=1000, level=1)
        [error] = scores.standard_errors()
        inside.append(abs(scores.mean("statAP")[0] - np.mean(true)) <= 2 * error)
        errors.append(error)
        strays.append(scores.mean("xinfAP")[0] - np.mean(true))
    assert 0.75 <= np.mean(inside) <= 0.95
    assert 0.5 <= np.sqrt(np.mean(np.square(strays))) / np.mean(errors) <= 1.4
