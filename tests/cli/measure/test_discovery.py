"""`pooler variation --discover`: the paper's section 4.3 on the sample collection and on TREC-COVID.

Expected numbers are of the project's reference of methods, section 2.4: computed by a program that
shares nothing with this one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import pooler
from store.analysis.variation.lists import ProbableRankings
from store.analysis.variation.simulation import simulate_maps
from tests.cli.measure.test_variation_of_collections import cystic_fibrosis
from tests.helpers.run import Cli
from tests.trec_covid import data_path

VALUES = ("--value", "0=0", "--value", "1=.8", "--value", "2=1")
TWO = ("lm-words-full", "bm25-words")


@pytest.fixture
def two_judges(cli: Cli, here: Path, garden: Path) -> Path:
    """Work in a collection of the sample's runs with its strict and its lenient judge."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", *sorted((garden / "runs").glob("*.run"))).fine()
    for judge in ("strict", "lenient"):
        cli("import", "judgements", garden / "judgements" / f"{judge}.qrels", "--judge", judge).fine()
    return here


KG = {
    # scenario, flip, whose: found; MAPs; variances of the difference; t2, p; P(B > A)
    ("own", "not-relevant", 1): (5, 0.5937134312, 0.6560624104, 0.0118126234, 0.0037181396,
                                 -1.6225614830, 0.1487129871, 0.9994105390),
    ("own", "not-relevant", 0): (4, 0.6816822471, 0.5809035907, 0.0179749902, 0.0039302581,
                                 2.1260781600, 0.0710806528, 8.4026e-6),
    ("own", "unjudged", 1): (2, 0.6482441887, 0.6525478737, 0.0057237861, 0.0048403718,
                             -0.1608954513, 0.8767207587, 0.5388261903),
    ("shared", "not-relevant", 1): (5, 0.6774455030, 0.6560624104, 0.0057671781, 0.0039419882,
                                    0.7964047241, 0.4519565231, 0.1653152846),
    ("shared", "unjudged", 1): (2, 0.6605902849, 0.6525478737, 0.0062114220, 0.0048404206,
                                0.2886261996, 0.7812272441, 0.3344895460),
}  # fmt: skip


@pytest.mark.vector("methods of the project, section 2.4")
@pytest.mark.parametrize("case", KG)
def test_sample_collection(cli: Cli, two_judges: Path, case: tuple[str, str, int]) -> None:
    """Moments, tests and order before and after, each way of finding."""
    scenario, flip, whose = case
    options = ("--rank", "6", "--scenario", scenario, "--flip", flip)
    done = cli(
        "variation", *TWO, *VALUES, "--discover", TWO[whose], *options, "--pairs", "--format", "json"
    ).fine()
    (row,) = done.json()
    found, mean_a, mean_b, topics, judging, t2, p, above = KG[case]
    assert (row["a"], row["b"], row["of"], row["found"]) == (*TWO, TWO[whose], found)
    near = {"rel": 0, "abs": 0.51e-10}
    assert (row["mean_a"], row["mean_b"]) == pytest.approx((0.6769530748, 0.6406148975), **near)
    assert (row["mean_a_found"], row["mean_b_found"]) == pytest.approx((mean_a, mean_b), **near)
    assert row["topic_variance_found"] == pytest.approx(topics, **near)
    assert row["judging_variance_found"] == pytest.approx(judging, **near)
    assert row["t2_removed_found"] == pytest.approx(t2, rel=0, abs=0.51e-9)  # of two a digit less is known
    assert row["p_t2_removed_found"] == pytest.approx(p, **near)
    assert row["reversed"] == pytest.approx(0.0811933471, **near)
    assert row["reversed_found"] == pytest.approx(above, **near)
    assert (row["covariance_topics"], row["covariance_judging"]) == pytest.approx(
        (0.0331736939, 0.0041516599), **near
    )
    assert row["turns"] == (mean_b > mean_a)


def test_documents_and_what_is_said(cli: Cli, two_judges: Path) -> None:
    """Which documents are found, who judged them, and that this is the paper's section."""
    options = ("--discover", TWO[1], "--rank", "6", "--flip", "not-relevant")
    rows = cli("variation", *TWO, *VALUES, *options, "--table", "documents", "--format", "json").fine().json()
    found = [(row["topic"], row["docno"], row["judged"]) for row in rows if row["found"]]
    assert found == [
        ("G01", "KG-E-010", False), ("G03", "KG-E-006", True), ("G04", "KG-E-019", False),
        ("G05", "KG-J-019", True), ("G08", "KG-J-003", True),
    ]  # fmt: skip
    own = cli("variation", *TWO, *VALUES, *options, "--scenario", "own").fine()
    assert "This is section 4.3 of Kishida (2001)." in " ".join(own.out.split())
    shared = cli("variation", *TWO, *VALUES, *options).fine()
    assert "4.3" not in shared.out


def test_all_runs_in_turn(cli: Cli, two_judges: Path) -> None:
    """A row a run, as that run alone gives it; of pairs the lower run is found."""
    options = (*VALUES, "--rank", "6", "--format", "json")
    rows = cli("variation", *options, "--discover", "all").fine().json()
    assert len(rows) == 9
    for row in rows[:3]:
        (alone,) = cli("variation", *options, "--discover", row["run"]).fine().json()
        assert alone == pytest.approx(row)
    pairs = cli("variation", *options, "--discover", "all", "--pairs").fine().json()
    assert len(pairs) == 36
    assert all(row["of"] == row["b"] and row["mean_a"] >= row["mean_b"] for row in pairs)


def test_rank_of_the_pool(cli: Cli, two_judges: Path) -> None:
    """It is one below the pool of the collection; without a pool it has to be said."""
    refused = cli("variation", *TWO, *VALUES, "--discover", TWO[1])
    assert refused.code == 1
    assert "how deep is the pool?" in refused.err
    cli("pool", "--depth", "5").fine()
    told = cli("variation", *TWO, *VALUES, "--discover", TWO[1], "--format", "json").fine().json()
    asked = cli("variation", *TWO, *VALUES, "--discover", TWO[1], "--rank", "6", "--format", "json")
    assert told == asked.fine().json()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rank", "6"), "`--rank` needs --discover"),
        (("--discover", "nobody", "--rank", "6"), "nobody"),
        (
            ("--discover", "bm25-words", "--rank", "6", "--plot", "a.svg"),
            "`--plot` has no meaning with --discover",
        ),
        (("--discover", "bm25-words", "--neighbours", "--pairs"), "`--neighbours` has no meaning"),
    ],
)
def test_refusals(cli: Cli, two_judges: Path, options: tuple[str, ...], words: str) -> None:
    """One line each, and exit code 1 or 2."""
    refused = cli("variation", *options)
    assert refused.code in (1, 2)
    assert words in refused.err


TC = {
    ("own", "not-relevant", 1): (27, 0.2729878592, 0.2654029695, 0.0121664490, 0.0010985138,
                                 0.3766413304, 0.7091820101),
    ("own", "not-relevant", 0): (25, 0.2783188662, 0.2617378250, 0.0122437095, 0.0011047256,
                                 0.8207594978, 0.4184792479),
    ("own", "unjudged", 1): (24, 0.2734277180, 0.2653442939, 0.0121902895, 0.0011008340,
                             0.4010042581, 0.6913564036),
    ("shared", "not-relevant", 1): (27, 0.2741242769, 0.2654029695, 0.0121191005, 0.0010989425,
                                    0.4339173648, 0.6675595976),
    ("shared", "unjudged", 1): (24, 0.2740250637, 0.2653442939, 0.0121144961, 0.0011010923,
                                0.4319825359, 0.6689491279),
}  # fmt: skip


@pytest.mark.vector("methods of the project, section 2.4")
@pytest.mark.parametrize("case", TC)
def test_trec_covid(cli: Cli, here: Path, case: tuple[str, str, int]) -> None:
    """Two whole runs of round 1, the document at rank 101."""
    scenario, flip, whose = case
    tags = ("sab20.1.meta.docs", "run1")
    for tag in tags:
        shutil.copy(data_path(f"runs-full/{tag}.gz"), here / f"{tag}.gz")
    options = ("--value", "0=0", "--value", "1=.5", "--value", "2=1", "--rank", "101")
    (row,) = cli(
        "variation", *(f"{tag}.gz" for tag in tags), "--qrels", data_path("qrels-rnd1.txt.gz"), *options,
        "--scenario", scenario, "--flip", flip, "--discover", tags[whose], "--pairs", "--format", "json",
    ).fine().json()  # fmt: skip
    found, mean_a, mean_b, topics, judging, t2, p = TC[case]
    near = {"rel": 0, "abs": 0.51e-10}
    assert row["found"] == found
    assert (row["mean_a_found"], row["mean_b_found"]) == pytest.approx((mean_a, mean_b), **near)
    assert row["topic_variance_found"] == pytest.approx(topics, **near)
    assert row["judging_variance_found"] == pytest.approx(judging, **near)
    assert row["t2_removed_found"] == pytest.approx(t2, **near)
    assert row["p_t2_removed_found"] == pytest.approx(p, **near)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["sample", pytest.param("cystic fibrosis", marks=pytest.mark.long)])
def test_simulation_beside_every_number(cli: Cli, here: Path, garden: Path, which: str) -> None:
    """Means, variances and orders before and after each run's documents are found, judged 100,000 times."""
    runs = ("bm25-words", "tfidf-words", "lm-words-full", "rm3-words-title", "bm25-stems-full")
    if which == "sample":
        cli("init", "--scale", "0-2").fine()
        cli("import", "runs", *(garden / "runs" / f"{tag}.run" for tag in runs)).fine()
        for judge in ("strict", "middle", "lenient"):
            cli("import", "judgements", garden / "judgements" / f"{judge}.qrels", "--judge", judge).fine()
    else:
        cystic_fibrosis(cli, here, frozenset(runs))
    n_judgings = 100_000
    scores: list[float] = []
    for scenario in ("own", "shared"):
        found = pooler.discoveries(
            "collection.db",
            rank=6,
            scenario=scenario,
            flip="not-relevant",
            pairs=True,
            values={0: 0, 1: 0.5, 2: 1},
        )
        probable: ProbableRankings = found.loaded.rankings
        base = tuple(zip(probable.probabilities, probable.ranks, strict=True))
        rounds = [(base, found.before, None)]
        rounds += [(one.topics, then, one.run) for one, then in zip(found.found, found.after, strict=True)]
        for number, (topics, exact, whose) in enumerate(rounds):
            if whose is None and scenario == "shared":
                continue  # the same as with own
            simulated = simulate_maps(topics, repetitions=n_judgings, seed=100 + number)
            moments, variances = simulated.moments, np.diagonal(exact.map_covariance)
            scores += ((moments.mean - exact.map_mean) / moments.mean_error).tolist()
            scores += ((np.diagonal(moments.covariance) - variances) / moments.variance_error).tolist()
            for one in found.compared or ():
                if whose is not None and found.found[one.which].run != whose:
                    continue
                order = one.order_before if whose is None else one.order_after
                share = float(simulated.above[one.second, one.first])
                chance = (max(share * (1 - share), 1e-5) / n_judgings) ** 0.5
                off = max(abs(share - order.below) - (order.error or 0), 0)
                scores.append(off / chance)
    sizes = np.abs(scores)
    assert sizes.size > 100
    assert sizes.max() < 4.5
    assert (sizes > 3).mean() <= 0.01
