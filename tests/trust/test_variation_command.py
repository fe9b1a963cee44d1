"""`pooler variation` on the sample collection, and where judges really differ: on CF and on llmjudge."""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
import sys
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from statistics import variance
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.helpers import cf_collection
from tests.helpers.oracles import first_documents, mean, read_qrels, runs_of
from tests.helpers.run import GARDEN, Cli
from tests.trust.outcomes import Enumerated, Topic, all_maps, enumerated

pytestmark = pytest.mark.slow

JUDGES = ("strict", "middle", "lenient")


def topics_of(folder: Path, level: int = 1) -> dict[str, Topic]:
    """Read how likely documents are relevant, by the share of judges, and the runs' ranks."""
    qrels = [read_qrels(folder / "judgements" / f"{judge}.qrels") for judge in JUDGES]
    runs = [run for _, run in sorted(runs_of(folder).items())]
    found = {}
    for topic in qrels[0]:
        share = {docno: sum(one[topic][docno] >= level for one in qrels) / 3
                 for docno in qrels[0][topic]}  # fmt: skip
        likely = [docno for docno, p in share.items() if p]
        ranks = np.full((len(runs), len(likely)), np.inf)
        for row, run in zip(ranks, runs, strict=True):
            listed = first_documents(run, topic, 1000)
            row[:] = [listed.index(docno) + 1 if docno in listed else np.inf for docno in likely]
        found[topic] = (np.array([share[docno] for docno in likely]), ranks)
    return found


@cache
def outcomes_of(folder: Path) -> list[Enumerated]:
    """Look at every outcome of judging each topic."""
    return [enumerated(*topic) for topic in topics_of(folder).values()]


ORDER = ("--order", "trec9")


def rows_of(cli: Cli, *options: str) -> list[dict[str, Any]]:
    """Return the rows of the first table."""
    found: list[dict[str, Any]] = cli("variation", *options, "--format", "json").fine().json()
    return found


def test_runs_have_the_moments_of_all_outcomes(cli: Cli, judged: Path) -> None:
    """Mean, standard deviation and components, from runs and qrels by enumeration."""
    outcomes = outcomes_of(judged)
    rows = rows_of(cli, *ORDER)
    assert [row["run"] for row in rows] == sorted(runs_of(judged))
    for place, row in enumerate(rows):
        means = [float(one.mean[place]) for one in outcomes]
        variances = [float(one.covariance[place, place]) for one in outcomes]
        spread = math.sqrt(sum(variances)) / len(outcomes)
        assert row["mean"] == pytest.approx(mean(means), abs=1e-12)
        assert row["sd"] == pytest.approx(spread, abs=1e-12)
        limits = (mean(means) - 1.959964 * spread, min(mean(means) + 1.959964 * spread, 1))
        assert (row["low"], row["high"]) == pytest.approx(limits, abs=1e-6)
        assert row["law"] == "normal"
        between, within = variance(means), mean(variances)
        assert row["topic_variance"] == pytest.approx(between)
        assert row["judging_variance"] == pytest.approx(within)
        assert row["share"] == pytest.approx(within / (within + between))
        assert row["map_variance"] == pytest.approx((within + between) / len(outcomes))
        assert row["moments_error"] <= 1e-12
        w, p = stats.shapiro(means)
        assert (row["w"], row["p_normality"]) == pytest.approx((w, p))
    cells = {(row["run"], row["topic"]): row for row in rows_of(cli, *ORDER, "--by-topic")}
    assert len(cells) == 9 * 8
    for (place, tag), (topic, one) in product(
        enumerate(sorted(runs_of(judged))), zip(topics_of(judged), outcomes, strict=True)
    ):
        assert cells[tag, topic]["mean"] == pytest.approx(float(one.mean[place]), abs=1e-12)
        spread = float(one.covariance[place, place])
        assert cells[tag, topic]["judging_variance"] == pytest.approx(spread, abs=1e-12)


def test_pairs_have_the_moments_of_all_outcomes(cli: Cli, judged: Path) -> None:
    """The run ahead is A; K, t2 both ways and p; and how likely they swap, by all of 2^17 outcomes."""
    outcomes, tags = outcomes_of(judged), sorted(runs_of(judged))
    rows = rows_of(cli, "--by", "pair", *ORDER)
    assert len(rows) == 9 * 8 // 2
    law = stats.t(len(outcomes) - 1)
    for row in rows:
        a, b = tags.index(row["a"]), tags.index(row["b"])
        differences = [float(one.mean[a] - one.mean[b]) for one in outcomes]
        own = mean([float(one.covariance[a, a] + one.covariance[b, b] - 2 * one.covariance[a, b])
                    for one in outcomes])  # fmt: skip
        between = variance(differences)
        assert (row["w"], row["p_normality"]) == pytest.approx(tuple(stats.shapiro(differences)))
        assert row["difference"] == pytest.approx(mean(differences), abs=1e-12)
        assert row["difference"] >= 0
        assert row["k"] == pytest.approx(own / (own + between))
        for name, whole in (("removed", between), ("included", between + own)):
            t = mean(differences) / math.sqrt(whole / len(outcomes))
            assert row[f"t2_{name}"] == pytest.approx(t)
            assert row[f"p_t2_{name}"] == pytest.approx(2 * law.sf(t))
        z = mean(differences) / math.sqrt(own / len(outcomes))
        assert row["reversed"] == pytest.approx(stats.norm.sf(z), abs=1e-12)
    maps, chances = all_maps([*topics_of(judged).values()])
    for row in rows:
        exact = float(chances[maps[:, tags.index(row["b"])] - maps[:, tags.index(row["a"])] > 1e-12].sum())
        error = math.sqrt(exact * (1 - exact) / 20_000)
        assert row["simulated"] == pytest.approx(exact, abs=4 * error + 1e-4)
        assert row["simulated_error"] == pytest.approx(error, abs=1e-4)
        assert row["law"] == "simulated"
        # What is documented of the normal law for so few uncertain documents.
        assert row["reversed"] == pytest.approx(exact, abs=0.04)


def test_simulation_stands_beside(cli: Cli, judged: Path) -> None:
    """Within five standard errors of the exact numbers, and the same for a seed."""
    options = (*ORDER, "--monte-carlo", "20000", "--seed", "5", "--format", "json")
    rows = cli("variation", *options).fine().json()
    for row in rows:
        assert row["mc_mean"] == pytest.approx(row["mean"], abs=5 * row["sd"] / 20000**0.5)
        assert row["mc_sd"] == pytest.approx(row["sd"], rel=0.05)
    assert cli("variation", *options).fine().json() == rows
    pairs = cli("variation", "--by", "pair", *options).fine().json()
    assert pairs == rows_of(cli, "--by", "pair", *ORDER, "--seed", "5")
    assert pairs != rows_of(cli, "--by", "pair", *ORDER)


def test_files_and_a_collection_agree(cli: Cli, judged: Path) -> None:
    """Probabilities of a file, of qrels by value, and one more relevant document a topic."""
    table = ("--table", "probabilities", "--format", "tsv", "--out", "p.txt")
    cli("variation", "--level", "1", *table).fine()
    runs = [f"runs/{tag}.run" for tag in sorted(runs_of(judged))]
    expected = rows_of(cli)
    assert rows_of(cli, *runs, "--probabilities", "p.txt") == [pytest.approx(row) for row in expected]
    graded = ("--qrels", "judgements/strict.qrels", "--value", "0=0", "--value", "1=1")
    sure = rows_of(cli, *runs, *graded, "--value", "2=1")
    scores = cli(
        "evaluate", *runs, "--qrels", "judgements/strict.qrels", "--table", "measures", "--format", "json"
    ).fine()
    for row, score in zip(sure, scores.json(), strict=True):
        assert row["sd"] == 0
        assert (row["mean"], row["judged"]) == pytest.approx((score["value"], score["value"]))
    more = rows_of(cli, "--extra-relevant", "1")
    assert all(one["mean"] < row["mean"] for one, row in zip(more, expected, strict=True))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bm25-words", "--by", "pair"), "there is one run, `bm25-words`: a pair needs two"),
        (("--value", "0=0", "--value", "1=0", "--value", "2=0"), "no document can be relevant"),
        (("nobody",), "unknown run `nobody`"),
        (("--unjudged", "nan"), "`--unjudged` must be a number from 0 to 1, but got"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, judged: Path, arguments: tuple[str, ...], words: str) -> None:
    """In one line."""
    refused = cli("variation", *arguments)
    assert (bool(refused.code), words in refused.err) == (True, True)


def test_unjudged_documents_are_named_where_they_count(cli: Cli, judged: Path) -> None:
    """The table says so when they may be relevant, and not by default."""
    words = "Unjudged documents may be relevant here"
    for more in ((), ("--by", "pair")):
        assert words in cli("variation", "--unjudged", "0.1", *more).fine().out
        assert words not in cli("variation", *more).fine().out
        assert words not in cli("variation", "--extra-relevant", "1", *more).fine().out


def test_probabilities_have_two_digits_and_the_seed_is_said(cli: Cli, judged: Path) -> None:
    """Small ones are below .01; a share has its standard error beside."""
    two = ("variation", "--by", "pair", "bm25-stems-full", "bm25-words")
    (row,) = cli(*two, "--format", "json").fine().json()
    assert 0 < row["reversed"] < 0.01
    shown = cli(*two).fine().out
    cells = shown.splitlines()[2].split()
    assert cells[-3:] == ["<.01", f"{row['simulated']:.4f}", f"{row['simulated_error']:.4f}"]
    assert "simulated: 20,000 random judgings, seed 1." in shown
    assert (
        "simulated: 50 random judgings, seed 7." in cli(*two, "--monte-carlo", "50", "--seed", "7").fine().out
    )


def test_people_read_variances_and_normality_of_every_run(cli: Cli, judged: Path) -> None:
    """The numbers of the json, below the table."""
    found = {row["run"]: row for row in rows_of(cli, *ORDER)}
    shown = cli("variation", *ORDER).fine().out.partition("Expected AP over topics\n")[2].splitlines()
    assert shown[0].split() == ["run", "sigma_mu^2", "sigma_d^2", "W", "p", "of", "W"]
    for line in shown[2 : 2 + len(found)]:
        tag, *cells = line.split()
        names = ("topic_variance", "judging_variance", "w", "p_normality")
        assert cells == [f"{found[tag][name]:.4f}" for name in names]


LLMJUDGE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "llmjudge" / "scores"
JUDGED_BY = ("--monte-carlo", "20000", "--seed", "3", "--format", "json")
RANKERS = ("Olz-gpt4o", "h2oloo-fewself", "RMITIR-llama70B", "willia-umbrela1", "TREMA-nuggets")
"""Model judges whose grades order the passages: the runs. The others say how likely each is."""


def check_agreement(runs: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> None:
    """Compare with the simulation: means and deviations, and how often pairs swap."""
    n_judgings = 20_000
    for row in runs:
        assert row["sd"] > 0
        assert row["moments_error"] <= 1e-12
        assert row["mc_mean"] == pytest.approx(row["mean"], abs=5 * row["sd"] / n_judgings**0.5)
        assert row["mc_sd"] == pytest.approx(row["sd"], rel=5 / math.sqrt(2 * n_judgings))
    for row in pairs:
        error = math.sqrt(max(row["reversed"] * (1 - row["reversed"]), 1e-4) / n_judgings)
        # Beside chance: what the normal law is off by.
        assert row["simulated"] == pytest.approx(row["reversed"], abs=5 * error + 0.02)


NAMES = frozenset({"24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35"})
"""Topics of CF that are looked at."""


def cystic_fibrosis(cli: Cli, folder: Path, tags: frozenset[str]) -> None:
    """Make a collection of four judges, and of runs by the sample collection's ranking code."""
    documents = [
        {"docno": one.docno, "title": one.title or "", "text": one.text or ""}
        for one in cf_collection.load_documents()
    ]
    topics = [
        {"topic": one.topic, "title": one.title, "description": "", "narrative": ""}
        for one in cf_collection.load_topics()
        if one.topic in NAMES
    ]
    ranking = ranking_code()
    cli("init", "--scale", "0-2").fine()
    for spec in ranking.RUNS:
        if spec.tag in tags:
            path = folder / f"{spec.tag}.run"
            path.write_text(ranking.render_run(spec, documents, topics), encoding="utf-8")
            cli("import", "runs", path).fine()
    for judge, path in cf_collection.write_qrels(folder).items():
        kept = [line for line in path.read_text("utf-8").splitlines() if line.split()[0] in NAMES]
        path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        cli("import", "judgements", path, "--judge", judge).fine()


def test_four_judges_of_cystic_fibrosis(cli: Cli, tmp_path: Path) -> None:
    """Runs made of the collection's own text by the sample collection's ranking code."""
    cystic_fibrosis(cli, tmp_path, frozenset({"bm25-words", "tfidf-words"}))
    runs = cli("variation", *JUDGED_BY).fine().json()
    assert {row["topics"] for row in runs} == {len(NAMES)}
    check_agreement(runs, cli("variation", "--by", "pair", *JUDGED_BY).fine().json())


def ranking_code() -> ModuleType:
    """Load the program that makes the sample collection's runs."""
    spec = importlib.util.spec_from_file_location("ranking_code", GARDEN / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def grades_of(judge: str) -> list[tuple[str, str, int]]:
    """Return topic, passage and grade of one model judge."""
    with gzip.open(LLMJUDGE / f"{judge}.txt.gz", "rt", encoding="utf-8") as lines:
        return [(topic, passage, int(grade))
                for topic, _, passage, grade in map(str.split, lines)]  # fmt: skip


def test_model_judges_of_passages(cli: Cli, here: Path) -> None:
    """Runs: passages by one model's grade, ties by docno; p: the other models at 2 or more."""
    if not LLMJUDGE.exists():
        pytest.skip("the model judges of llmjudge are not here")
    others = sorted(
        path.name.removesuffix(".txt.gz")
        for path in LLMJUDGE.iterdir()
        if path.name.removesuffix(".txt.gz") not in RANKERS
    )
    votes: Counter[tuple[str, str]] = Counter()
    pairs = {(topic, passage) for topic, passage, _ in grades_of(others[0])}
    for judge in others:
        votes.update((topic, passage) for topic, passage, grade in grades_of(judge) if grade >= 2)
    lines = [f"{topic} {passage} {votes[topic, passage] / len(others)!r}\n"
             for topic, passage in sorted(pairs)]  # fmt: skip
    Path("p.txt").write_text("".join(lines), encoding="utf-8")
    for judge in RANKERS:
        by_topic: dict[str, list[tuple[int, str]]] = {}
        for topic, passage, grade in grades_of(judge):
            by_topic.setdefault(topic, []).append((-grade, passage))
        listed = [
            f"{topic} Q0 {passage} {rank} {5000 - rank} {judge}\n"
            for topic, graded in by_topic.items()
            for rank, (_, passage) in enumerate(sorted(graded), start=1)
        ]
        Path(f"{judge}.run").write_text("".join(listed), encoding="utf-8")
    files = [f"{judge}.run" for judge in RANKERS]
    options = (*files, "--probabilities", "p.txt", *JUDGED_BY)
    runs = cli("variation", *options).fine().json()
    assert len(runs) == len(RANKERS)
    assert {row["topics"] for row in runs} == {25}
    found = cli("variation", "--by", "pair", *options).fine().json()
    check_agreement(runs, found)
    assert any(row["reversed"] > 0.05 for row in found), json.dumps(found)
