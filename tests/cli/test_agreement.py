"""`pooler agreement`: scikit-learn's numbers, plain sets' overlaps, and reasons for the rest."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix, f1_score, jaccard_score

from tests.cli.command_line import JUDGES, read_trec
from tests.cli.conftest import Cli

GRADES = (0, 1, 2)
COEFFICIENTS = ("raw", "kappa", "kappa_se", "linear", "quadratic", "binary", "positive", "overlap")


def grades_of(folder: Path, judge: str, topic: str | None = None) -> dict[tuple[str, str], int]:
    """Return a judge's grades by topic and docno, of one topic or all."""
    rows = read_trec(folder / "judgements" / f"{judge}.qrels", (0, 2, 3))
    return {(row[0], row[1]): int(row[2]) for row in rows if topic in (None, row[0])}


@pytest.mark.parametrize("level", [1, 2])
def test_agreement_equals_scikit_learn(cli: Cli, judged: Path, level: int) -> None:
    """Every pair's coefficients, at both levels and topic by topic, are scikit-learn's."""
    answer = cli("agreement", "--level", str(level), "--by-topic", "--format", "json").fine().json()
    rows = {(row["first"], row["second"], row["topic"]): row for row in answer["agreement"]}
    topics = sorted({topic for topic, _ in grades_of(judged, "strict")})
    overlaps: dict[tuple[str, str], list[float]] = {}
    for first, second in itertools.combinations(JUDGES, 2):
        for topic in ("all", *topics):
            named = None if topic == "all" else topic
            mine, yours = grades_of(judged, first, named), grades_of(judged, second, named)
            a, b = list(mine.values()), [yours[pair] for pair in mine]
            row = rows.pop((first, second, topic))
            assert row["n"] == len(a)
            assert row["raw"] == pytest.approx(sum(map(int.__eq__, a, b)) / len(a), abs=1e-12)
            for name, weights in (
                ("kappa", None),
                ("linear", "linear"),
                ("quadratic", "quadratic"),
            ):
                kappa = cohen_kappa_score(a, b, labels=GRADES, weights=weights)
                assert row[name] == pytest.approx(kappa, abs=1e-12)
            a2, b2 = [int(x >= level) for x in a], [int(x >= level) for x in b]
            if any(a2) or any(b2):
                assert row["positive"] == pytest.approx(f1_score(a2, b2), abs=1e-12)
                overlap = float(jaccard_score(a2, b2))
                assert row["overlap"] == pytest.approx(overlap, abs=1e-12)
                if topic != "all":
                    overlaps.setdefault((first, second), []).append(overlap)
            if len({*a2, *b2}) > 1:
                assert row["binary"] == pytest.approx(cohen_kappa_score(a2, b2), abs=1e-12)
            else:
                assert row["binary"] is None
                assert "binary: single-grade" in row["reason"]
            counts = [a.count(grade) for grade in GRADES]
            assert row["first_marginals"] == "/".join(map(str, counts))
    assert not rows
    for row in answer["agreement"]:
        if row["topic"] == "all":
            mean = overlaps[row["first"], row["second"]]
            assert row["macro_overlap"] == pytest.approx(sum(mean) / len(mean), abs=1e-12)
            assert row["macro_topics"] == len(mean)


def test_cross_tables_equal_scikit_learn(cli: Cli, judged: Path) -> None:
    """`--tables` gives the cross table of every pair: first judge in rows, second in columns."""
    rows = cli("agreement", "strict", "lenient", "--tables", "--format", "tsv").fine().tsv()
    cross = [row for row in rows if row["table"] == "cross_tables"]
    mine, yours = grades_of(judged, "strict"), grades_of(judged, "lenient")
    expected = confusion_matrix(list(mine.values()), [yours[pair] for pair in mine], labels=GRADES)
    got = [[int(row[f"second_{grade}"]) for grade in GRADES] for row in cross]
    assert got == expected.tolist()
    assert {(row["first"], row["second"]) for row in cross} == {("strict", "lenient")}


@pytest.mark.parametrize(
    ("mine", "yours", "n", "reason"),
    [
        (["1 0 a 1"], ["1 0 b 1"], 0, "no-common-docs"),
        (["1 0 a 1"], ["1 0 a 1"], 1, "one-doc"),
        (["1 0 a 0", "1 0 b 0"], ["1 0 a 0", "1 0 b 0"], 2, "single-grade"),
    ],
)
def test_degenerate_pair_has_a_reason_and_no_number(
    cli: Cli,
    collection_of: Callable[..., None],
    mine: list[str],
    yours: list[str],
    n: int,
    reason: str,
) -> None:
    """Where a coefficient does not exist JSON says null and why, TSV nothing, people a dash."""
    collection_of(me=mine, you=yours)
    [row] = cli("agreement", "--format", "json").fine().json()["agreement"]
    assert (row["n"], row["kappa"], row["linear"], row["binary"]) == (n, None, None, None)
    assert f"kappa: {reason}" in row["reason"]
    [cells] = cli("agreement", "--format", "tsv").fine().tsv()
    assert (cells["kappa"], cells["n"]) == ("", str(n))
    table = cli("agreement").fine().out
    assert reason in table
    assert "nan" not in table.lower()


def test_pair_without_relevant_documents_has_no_overlap(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """Two judges who found nothing relevant agree on everything and overlap on nothing."""
    collection_of(me=["1 0 a 0", "1 0 b 0"], you=["1 0 a 0", "1 0 b 0"])
    [row] = cli("agreement", "--format", "json").fine().json()["agreement"]
    assert (row["raw"], row["positive"], row["overlap"]) == (1.0, None, None)
    assert "overlap: no-relevant" in row["reason"]
    assert (row["macro_overlap"], row["macro_topics"]) == (None, 0)


def test_kappa_uses_the_declared_scale_not_the_used_grades(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """A grade that nobody gave keeps its place: 0 and 3 are three grades apart on 0-3.

    Pairs (0,0) (0,1) (3,3) (3,3), marginals 2 0 0 2 and 1 1 0 2. Linear: cost 1 against
    (2*1*1 + 2*2*3 + 2*1*3 + 2*1*2) / 4 = 6 by chance, so 5/6; on the used grades 0, 1, 3 it would
    be 1 - 1 / ((2*1 + 2*2*2 + 2*1*2 + 2*1*1) / 4) = 3/4. Quadratic: 1 - 4 / (2 + 36 + 18 + 8).
    """
    mine = ["1 0 a 0", "1 0 b 0", "1 0 c 3", "1 0 d 3"]
    yours = ["1 0 a 0", "1 0 b 1", "1 0 c 3", "1 0 d 3"]
    collection_of("0-3", me=mine, you=yours)
    [row] = cli("agreement", "--format", "json").fine().json()["agreement"]
    assert row["linear"] == pytest.approx(5 / 6, abs=1e-12)
    assert row["quadratic"] == pytest.approx(15 / 16, abs=1e-12)


def test_named_judges_stand_as_they_are_named(cli: Cli, judged: Path) -> None:
    """The first judge named is the first of the pair; kappa does not depend on that."""
    there = cli("agreement", "strict", "middle", "--format", "json").fine().json()["agreement"][0]
    back = cli("agreement", "middle", "strict", "--format", "json").fine().json()["agreement"][0]
    assert (there["first"], there["second"]) == ("strict", "middle")
    assert (there["first_marginals"], there["second_marginals"]) == ("52/13/19", "44/19/21")
    assert (back["first"], back["first_marginals"]) == ("middle", "44/19/21")
    assert [there[name] for name in COEFFICIENTS] == [back[name] for name in COEFFICIENTS]


def test_judge_without_judgements_has_no_common_documents(cli: Cli, judged: Path) -> None:
    """A judge who has not begun is a pair with a reason, not an error."""
    cli("judges", "add", "anna").fine()
    [row] = cli("agreement", "anna", "strict", "--format", "json").fine().json()["agreement"]
    assert (row["n"], row["kappa"]) == (0, None)
    assert "no-common-docs" in row["reason"]
