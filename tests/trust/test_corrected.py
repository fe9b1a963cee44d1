"""`pooler audit --table corrected`: a model's scores corrected by people's grades of a sample."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import pytest

import pooler as p
from tests.helpers.run import Cli, Outcome, read_lines, write

JSON = ("--format", "json")

ORDER = ("d1", "d5", "d2", "d6", "d3", "d4", "d7", "d8")
HUMAN = {docno: int(docno in ("d1", "d3", "d5")) for docno in ORDER}
MODEL = {docno: int(docno <= "d4") for docno in ORDER}


@pytest.fixture
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
