"""`pooler evaluate` by measures of a sample: the program's own numbers, slow loops, files and collections."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from store.analysis.arrays import RankedDocuments
from store.analysis.measures.sampled import GRADED, NOT_SAMPLED, SampledPool, estimates, sampled_pool
from tests.helpers.oracles import STRICT, average_precision, mean, read_qrels, runs_of
from tests.helpers.run import Cli, write

EPSILON = 1e-5
V5 = ["51 0 d1 1 1", "51 0 d2 1 0", "51 0 d3 1 2", "51 0 d4 2 -1", "51 0 d5 2 1", "51 0 d6 2 0",
      "51 0 d7 2 -1"]  # fmt: skip
PROGRAM = {"xinfAP": 0.8056, "infNDCG": 0.7616, "iP@5": 0.6, "iP@10": 0.4}
"""What `sample_eval.pl` printed for it, with four decimals."""
STRATA = ("stratified", "--param", "strata=1:2,3:9:0.4", "--budget", "12")

EVERY = [word for name in ("xinfAP", "infNDCG", "iP@5", "iP@10", "infAP", "statAP") for word in ("-m", name)]

Rows = dict[str, dict[str, Any]]
Sample = dict[str, tuple[int, int, float]]
"""Stratum, rel (-1 = not sampled) and probability, by docno."""


def estimated(cli: Cli, *options: str | Path) -> tuple[dict[str, Any], Rows]:
    """Return the facts, and the rows by run, and by run and topic: every estimate under its name."""
    found = cli("evaluate", *EVERY, *options, "--format", "json").fine().whole()
    rows: Rows = {}
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
        assert {name: round(row[name], 4) for name in PROGRAM} == PROGRAM
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


def slow_strata(sample: Sample, ranked: list[str]) -> dict[str, float | None]:
    """Score a list as `sample_eval.pl` does, document by document; no relevant one = ``None``."""
    strata = sorted({stratum for stratum, _, _ in sample.values()})
    rels = {one: [rel for stratum, rel, _ in sample.values() if stratum == one] for one in strata}
    size = {one: len(rels[one]) for one in strata}
    graded = {one: sum(rel >= 0 for rel in rels[one]) for one in strata}
    relevant = {one: sum(rel > 0 for rel in rels[one]) for one in strata}
    total = sum(relevant[one] * size[one] / graded[one] for one in strata if graded[one])
    pooled_above, graded_above, relevant_above = (dict.fromkeys(strata, 0) for _ in range(3))
    precisions = dict.fromkeys(strata, 0.0)
    gains = dict.fromkeys(strata, 0.0)
    found = [0.0]

    def estimate() -> float:
        return sum(
            pooled_above[one] * (relevant_above[one] + EPSILON) / (graded_above[one] + 3 * EPSILON)
            for one in strata
        )

    for rank, docno in enumerate(ranked, start=1):
        if docno in sample:
            stratum, rel, _ = sample[docno]
            if rel > 0:
                precisions[stratum] += (1 + estimate()) / rank
                gains[stratum] += rel / math.log2(rank + 1)
                relevant_above[stratum] += 1
            pooled_above[stratum] += 1
            graded_above[stratum] += rel >= 0
        found.append(estimate())
    found += [found[-1]] * 10
    scores: dict[str, float | None] = {"iP@5": found[5] / 5, "iP@10": found[10] / 10}
    scores |= {"found": found[-1], "relevant_by_strata": total, "xinfAP": None, "infNDCG": None}
    if total:
        scores["xinfAP"] = sum(
            relevant[one] * size[one] / graded[one] / total * precisions[one] / relevant[one]
            for one in strata
            if relevant[one]
        )
        best, start = 0.0, 0.0
        for grade in (3, 2, 1):
            count = sum(rels[one].count(grade) * size[one] / graded[one]
                        for one in strata if graded[one])  # fmt: skip
            rank_of = start + 1
            while rank_of <= start + count + 1e-9:
                best += grade / math.log2(rank_of + 1)
                rank_of += 1
            start += count
        gained = sum(pooled_above[one] * gains[one] / graded_above[one]
                     for one in strata if graded_above[one])  # fmt: skip
        scores["infNDCG"] = gained / best
    return scores


def slow_statap(sample: Sample, ranked: list[str]) -> dict[str, float | None]:
    """Score a list as `statAP_MQ_eval_v4.pl` does, pair by pair."""
    chances = {docno: chance for docno, (_, rel, chance) in sample.items() if rel > 0}
    n_graded = sum(rel >= 0 for _, rel, _ in sample.values())
    total = sum(1 / chance for chance in chances.values())
    if not total:
        return {"statAP": None, "relevant_by_probability": 0.0}
    terms, above = [], 0.0
    for rank, docno in enumerate(ranked, start=1):
        if docno in chances:
            terms.append((chances[docno], (1 + above) / rank, 1 / rank))
            above += 1 / chances[docno]
    score = sum(precision / chance for chance, precision, _ in terms) / total
    terms += [(chance, 0.0, 0.0) for docno, chance in chances.items() if docno not in ranked]
    values = [(precision - score) / chance for chance, precision, _ in terms]
    own = sum((1 - chance) * value**2 for (chance, _, _), value in zip(terms, values, strict=True))
    pairs = sum(one * other for place, one in enumerate(values)
                for other_place, other in enumerate(values) if place != other_place)  # fmt: skip
    below = last = 0.0
    for chance, _, reciprocal in reversed(terms):
        last += below**2 * (1 - chance) / chance**2
        below += reciprocal / chance
    n_retrieved = sum(rel >= 0 for docno, (_, rel, _) in sample.items() if docno in ranked)
    variance = (own - pairs / (n_graded - 1) + last) / total**2 / (n_retrieved + 0.1) * n_graded
    return {"statAP": score, "relevant_by_probability": total, "variance": min(variance, 1.0)}


def some_topics(rng: random.Random) -> tuple[dict[str, Sample], dict[str, dict[str, list[str]]]]:
    """Make samples of six topics, one without a relevant document, and two runs."""
    samples = {}
    for number in range(1, 7):
        grades = (0, 0, 0, 1, 2, 3) if number != 2 else (0,)
        sample = {}
        for document in rng.sample(range(40), rng.randint(12, 30)):
            stratum = rng.randint(1, 3)
            rel = rng.choice(grades) if stratum == 1 or rng.random() < 0.5 else -1
            sample[f"d{document}"] = (stratum, rel, rng.choice([1.0, 0.5, 0.25, 0.0625]))
        # Of no more than two documents a variance can be anything.
        samples[str(number)] = sample | {"d40": (1, grades[-1], 0.5), "d41": (1, 0, 0.5)}
    docnos = [f"d{number}" for number in range(45)]
    runs = {
        tag: {topic: rng.sample(docnos, rng.randint(4, 45)) for topic in samples if topic != gap}
        for tag, gap in (("x", ""), ("y", "5"))
    }
    return samples, runs


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_slow_loops(cli: Cli, here: Path, seed: int) -> None:
    """Random strata, grades and probabilities, from files; means over the topics that have one."""
    samples, runs = some_topics(random.Random(seed))
    files = [write_ranking(here, tag, topics) for tag, topics in runs.items()]
    lines = [(topic, docno, *one) for topic, sample in samples.items()
             for docno, one in sample.items()]  # fmt: skip
    write(here / "x", *(f"{topic} 0 {docno} {stratum} {rel}" for topic, docno, stratum, rel, _ in lines))
    write(here / "s", *(
        f"{topic} {docno} {rel} {int(chance < 1)} {chance}"
        for topic, docno, _, rel, chance in lines if rel >= 0
    ))  # fmt: skip
    for kind, form, slow in (("x", "xinf", slow_strata), ("s", "statap", slow_statap)):
        _, rows = estimated(cli, "--prels", kind, "--as", form, *files)
        for tag, topics in runs.items():
            expected = {topic: slow(sample, topics.get(topic, []))
                        for topic, sample in samples.items()}  # fmt: skip
            total = sum(one.get("variance") or 0 for one in expected.values())
            if total > 1e-12:
                error = math.sqrt(total) / 5
                assert rows[tag]["se"] == pytest.approx(error, rel=1e-9)
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
    assert round(rows["r"]["infNDCG"], 4) == PROGRAM["infNDCG"]
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
@pytest.mark.parametrize("rates", [(1.0, 0.3, 0.1), (0.5, 0.5, 0.5), (0.2, 0.2, 0.2)])
def test_standard_error_is_worth_what_the_caption_says(rates: tuple[float, ...]) -> None:
    """20 topics, 200 samples: AP is within two in 8 or 9 of 10, and xinfAP strays about as far."""
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
    for _ in range(200):
        pools = {topic: draw_sample(rng, rel, np.array(rates)) for topic, rel in rels.items()}
        scores = estimates(documents, pools, cutoff=1000, level=1)
        [error] = scores.standard_errors()
        inside.append(abs(scores.mean("statAP")[0] - np.mean(true)) <= 2 * error)
        errors.append(error)
        strays.append(scores.mean("xinfAP")[0] - np.mean(true))
    assert 0.75 <= np.mean(inside) <= 0.95
    assert 0.5 <= np.sqrt(np.mean(np.square(strays))) / np.mean(errors) <= 1.4
