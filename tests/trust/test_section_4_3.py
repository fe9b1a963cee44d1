"""`pooler paper --table section_4_3`: the documents at rank N+1 of B found relevant while judgements vary.

Expected numbers are of the project's reference of methods, section 2.4: computed by a program that
shares nothing with this one.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.run import Cli
from tests.trec_covid import data_path
from tests.trust.test_variation_of_collections import cystic_fibrosis

VALUES = ("--value", "0=0", "--value", "1=.8", "--value", "2=1")
TWO = ("lm-words-full", "bm25-words")
SECTION = ("--table", "section_4_3", "--format", "json")


@pytest.fixture
def two_judges(cli: Cli, here: Path, garden: Path) -> Path:
    """Work in a collection of the sample's runs with its strict and its lenient judge."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", *sorted((garden / "runs").glob("*.run"))).fine()
    for judge in ("strict", "lenient"):
        cli("import", "judgements", garden / "judgements" / f"{judge}.qrels", "--judge", judge).fine()
    return here


def section(cli: Cli, *arguments: Any) -> dict[str, dict[str, float]]:
    """Return the numbers of section 4.3, by what they are."""
    rows = cli("paper", *arguments, *SECTION).fine().json()
    return {row["what"]: row for row in rows}


KG = {
    # scenario, flip: found; MAPs; variances of the difference; t2, p; P(B > A) by all outcomes
    ("own", "not-relevant"): (5, 0.5937134312, 0.6560624104, 0.0118126234, 0.0037181396,
                                 -1.6225614830, 0.1487129871, 0.9994105390),
    ("own", "unjudged"): (2, 0.6482441887, 0.6525478737, 0.0057237861, 0.0048403718,
                             -0.1608954513, 0.8767207587, 0.5388261903),
    ("shared", "not-relevant"): (5, 0.6774455030, 0.6560624104, 0.0057671781, 0.0039419882,
                                    0.7964047241, 0.4519565231, 0.1653152846),
    ("shared", "unjudged"): (2, 0.6605902849, 0.6525478737, 0.0062114220, 0.0048404206,
                                0.2886261996, 0.7812272441, 0.3344895460),
}  # fmt: skip


WHATS = ("MAP of A", "MAP of B", "variance of the differences by topics", "and by judging",
         "t2, judging removed", "its p")  # fmt: skip


@pytest.mark.vector("methods of the project, section 2.4")
@pytest.mark.parametrize("case", KG)
def test_sample_collection(cli: Cli, two_judges: Path, case: tuple[str, str]) -> None:
    """Moments, tests and order before and after, each way of finding; draws are near all outcomes."""
    scenario, flip = case
    rows = section(cli, *TWO, *VALUES, "--rank", "6", "--scenario", scenario, "--flip", flip)
    _, *numbers, above = KG[case]
    found = [rows[what]["found"] for what in WHATS]
    assert found == pytest.approx(numbers, rel=0, abs=0.51e-9)
    assert [rows[what]["before"] for what in WHATS[:2]] == pytest.approx((0.6769530748, 0.6406148975))
    order, error = rows["B above A if judged again: how likely"], rows["standard error of that share"]
    for side, exact in (("simulated", 0.0811933471), ("simulated_found", above)):
        assert order[side] == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)
        assert error[side] == pytest.approx((order[side] * (1 - order[side]) / 20_000) ** 0.5)
    # What is documented of the normal law for 28 uncertain documents.
    assert (order["before"], order["found"]) == pytest.approx((0.0811933471, above), abs=0.04)


def test_documents_and_what_is_said(cli: Cli, two_judges: Path) -> None:
    """Which documents are found, in how many topics, and whether that is the paper's way."""
    options = (*TWO, *VALUES, "--rank", "6")
    rows = cli("paper", *options, "--table", "topics", "--format", "json").fine().json()
    assert {row["topic"]: row["docno"] for row in rows if row["docno"]} == {
        "G01": "KG-E-010", "G03": "KG-E-006", "G04": "KG-E-019", "G05": "KG-J-019", "G08": "KG-J-003",
    }  # fmt: skip
    own = " ".join(cli("paper", *options, "--table", "section_4_3").fine().out.split())
    assert "been relevant in 5 topics (as in the paper)" in own
    assert "simulated: 20,000 random judgings, seed 1." in own
    more = ("--scenario", "shared", "--flip", "unjudged", "--monte-carlo", "100", "--seed", "3")
    shared = " ".join(cli("paper", *options, *more, "--table", "section_4_3").fine().out.split())
    assert "been relevant in 2 topics (shared, unjudged)" in shared
    assert "simulated: 100 random judgings, seed 3." in shared


TC = {
    ("own", "not-relevant"): (27, 0.2729878592, 0.2654029695, 0.0121664490, 0.0010985138,
                                 0.3766413304, 0.7091820101),
    ("own", "unjudged"): (24, 0.2734277180, 0.2653442939, 0.0121902895, 0.0011008340,
                             0.4010042581, 0.6913564036),
    ("shared", "not-relevant"): (27, 0.2741242769, 0.2654029695, 0.0121191005, 0.0010989425,
                                    0.4339173648, 0.6675595976),
    ("shared", "unjudged"): (24, 0.2740250637, 0.2653442939, 0.0121144961, 0.0011010923,
                                0.4319825359, 0.6689491279),
}  # fmt: skip


@pytest.mark.vector("methods of the project, section 2.4")
@pytest.mark.parametrize("case", TC)
def test_trec_covid(cli: Cli, here: Path, case: tuple[str, str]) -> None:
    """Two whole runs of round 1, the document at rank 101."""
    scenario, flip = case
    tags = ("sab20.1.meta.docs", "run1")
    for tag in tags:
        shutil.copy(data_path(f"runs-full/{tag}.gz"), here / f"{tag}.gz")
    values = ("--value", "0=0", "--value", "1=.5", "--value", "2=1", "--scale", "0-2", "--rank", "101")
    rows = section(
        cli, *(f"{tag}.gz" for tag in tags), "--qrels", f"nist={data_path('qrels-rnd1.txt.gz')}", *values,
        "--scenario", scenario, "--flip", flip,
    )  # fmt: skip
    _, *numbers = TC[case]
    assert [rows[what]["found"] for what in WHATS] == pytest.approx(numbers, rel=0, abs=0.51e-10)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["sample", pytest.param("cystic fibrosis", marks=pytest.mark.long)])
def test_simulation_beside_every_moment(cli: Cli, here: Path, garden: Path, which: str) -> None:
    """Means and variances before and after documents are found, judged 100,000 times."""
    if which == "sample":
        cli("init", "--scale", "0-2").fine()
        cli("import", "runs", *(garden / "runs" / f"{tag}.run" for tag in TWO)).fine()
        for judge in ("strict", "middle", "lenient"):
            cli("import", "judgements", garden / "judgements" / f"{judge}.qrels", "--judge", judge).fine()
    else:
        cystic_fibrosis(cli, here, frozenset(TWO))
    n, n_topics = 100_000, 8 if which == "sample" else 12
    for scenario in ("own", "shared"):
        for flip in ("not-relevant", "unjudged"):
            options = ("--rank", "6", "--scenario", scenario, "--flip", flip, "--monte-carlo", str(n))
            rows = section(cli, *options)
            for exact, drawn in (("before", "simulated"), ("found", "simulated_found")):
                spread = rows["and by judging"][exact]
                assert rows["and by judging"][drawn] == pytest.approx(spread, rel=0.04)
                error = (spread / n_topics / n) ** 0.5
                assert rows["A - B"][drawn] == pytest.approx(rows["A - B"][exact], abs=4.5 * error)
