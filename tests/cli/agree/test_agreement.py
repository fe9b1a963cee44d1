"""`pooler agreement`: scikit-learn's numbers, plain sets' overlaps, and reasons for the rest."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix, f1_score, jaccard_score

from tests.helpers.run import JUDGES, Cli, read_trec

GRADES = (0, 1, 2)


def grades_of(folder: Path, judge: str, topic: str | None = None) -> dict[tuple[str, str], int]:
    """Return a judge's grades by topic and docno, of one topic or all."""
    rows = read_trec(folder / "judgements" / f"{judge}.qrels", (0, 2, 3))
    return {(row[0], row[1]): int(row[2]) for row in rows if topic in (None, row[0])}


def pairs(answer: Any, **wanted: Any) -> list[dict[str, Any]]:
    """Return the rows of pairs, graded unless a level is wanted."""
    wanted = {"level": None, **wanted}
    return [row for row in answer["pairs"] if all(row[key] == wanted[key] for key in wanted)]


def lines(judgements: dict[str, int]) -> list[str]:
    """Write grades of topic 1 by docno as qrels lines."""
    return [f"1 0 {docno} {grade}" for docno, grade in judgements.items()]


def test_agreement_equals_scikit_learn(cli: Cli, judged: Path) -> None:
    """Every pair's coefficients, graded and at both levels, in all and by topic, are sklearn's."""
    answer = cli("agreement", "--by-topic", "--format", "json").fine().json()
    rows = {(r["first"], r["second"], r["topic"], r["level"]): r for r in answer["pairs"]}
    topics = sorted({topic for topic, _ in grades_of(judged, "strict")})
    for first, second in itertools.combinations(JUDGES, 2):
        overlaps: dict[int, list[float]] = {1: [], 2: []}
        for topic in (*topics, "all"):
            named = None if topic == "all" else topic
            mine, yours = grades_of(judged, first, named), grades_of(judged, second, named)
            a, b = list(mine.values()), [yours[pair] for pair in mine]
            row = rows.pop((first, second, topic, None))
            assert row["n"] == len(a)
            assert row["raw"] == pytest.approx(sum(map(int.__eq__, a, b)) / len(a), abs=1e-12)
            for name, weights in (("kappa", None), ("linear", "linear"), ("quadratic", "quadratic")):
                kappa = cohen_kappa_score(a, b, labels=GRADES, weights=weights)
                assert row[name] == pytest.approx(kappa, abs=1e-12)
            counts = [a.count(grade) for grade in GRADES]
            assert row["first_marginals"] == list(counts)
            for level in (1, 2):
                row = rows.pop((first, second, topic, level))
                a2, b2 = [int(x >= level) for x in a], [int(x >= level) for x in b]
                if any(a2) or any(b2):
                    overlap = float(jaccard_score(a2, b2))
                    assert row["positive"] == pytest.approx(f1_score(a2, b2), abs=1e-12)
                    assert row["overlap"] == pytest.approx(overlap, abs=1e-12)
                    overlaps[level] += [] if topic == "all" else [overlap]
                if len({*a2, *b2}) > 1:
                    assert row["kappa"] == pytest.approx(cohen_kappa_score(a2, b2), abs=1e-12)
                else:
                    assert row["kappa"] is None
                    assert "single-grade" in row["reason"]
                if topic == "all":
                    mean = overlaps[level]
                    expected = sum(mean) / len(mean)
                    assert row["macro_overlap"] == pytest.approx(expected, abs=1e-12)
                    assert row["macro_topics"] == len(mean)
    assert not rows


def test_cross_tables_equal_scikit_learn(cli: Cli, judged: Path) -> None:
    """`cross_tables` is the cross table of every pair: first judge in rows, second in columns."""
    rows = cli("agreement", "strict", "lenient", "--table", "cross_tables", "--format", "tsv").fine().tsv()
    mine, yours = grades_of(judged, "strict"), grades_of(judged, "lenient")
    expected = confusion_matrix(list(mine.values()), [yours[pair] for pair in mine], labels=GRADES)
    got = [[int(row[f"second_{grade}"]) for grade in GRADES] for row in rows]
    assert got == expected.tolist()
    assert {(row["first"], row["second"]) for row in rows} == {("strict", "lenient")}


def test_per_grade_is_f1_of_each_grade(cli: Cli, judged: Path) -> None:
    """`per_grade` says how likely the other judge gives a grade: F1 of that grade."""
    rows = cli("agreement", "strict", "lenient", "--format", "json").fine().json()
    mine, yours = grades_of(judged, "strict"), grades_of(judged, "lenient")
    a, b = list(mine.values()), [yours[pair] for pair in mine]
    expected = f1_score(a, b, labels=GRADES, average=None).tolist()
    assert [row["agreement"] for row in rows["per_grade"]] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("mine", "yours", "n", "reason"),
    [
        (["1 0 a 1"], ["1 0 b 1"], 0, "no-common-docs"),
        (["1 0 a 1"], ["1 0 a 1"], 1, "one-doc"),
        (["1 0 a 0", "1 0 b 0"], ["1 0 a 0", "1 0 b 0"], 2, "single-grade"),
    ],
)
def test_degenerate_pair_has_a_reason_and_no_number(
    cli: Cli, collection_of: Callable[..., None], mine: list[str], yours: list[str], n: int, reason: str
) -> None:
    """Where a coefficient does not exist JSON says null and why, TSV nothing, people a dash."""
    collection_of(me=mine, you=yours)
    answer = cli("agreement", "--format", "json").fine().json()
    for level in (None, 1, 2):
        [row] = pairs(answer, level=level)
        assert (row["n"], row["kappa"], row["linear"], row["pi"]) == (n, None, None, None)
        assert reason in row["reason"]
        assert (row["kappa_low"], row["kappa_high"]) == (None, None)
    rows = cli("agreement", "--table", "pairs", "--format", "tsv").fine().tsv()
    cells = rows[0]
    assert (cells["kappa"], cells["n"]) == ("", str(n))
    table = cli("agreement").fine().out
    assert reason in table
    assert "nan" not in table.lower()


def test_pair_without_relevant_documents_has_no_overlap(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Two judges who found nothing relevant agree on everything and overlap on nothing."""
    collection_of(me=["1 0 a 0", "1 0 b 0"], you=["1 0 a 0", "1 0 b 0"])
    [row] = pairs(cli("agreement", "--format", "json").fine().json(), level=1)
    assert (row["raw"], row["positive"], row["overlap"]) == (1.0, None, None)
    assert row["reason"] == "single-grade, no-relevant"
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
    [row] = pairs(cli("agreement", "--format", "json").fine().json())
    assert row["linear"] == pytest.approx(5 / 6, abs=1e-12)
    assert row["quadratic"] == pytest.approx(15 / 16, abs=1e-12)


def test_named_judges_stand_as_they_are_named(cli: Cli, judged: Path) -> None:
    """The first judge named is the first of the pair; kappa does not depend on that."""
    [there] = pairs(cli("agreement", "strict", "middle", "--format", "json").fine().json())
    [back] = pairs(cli("agreement", "middle", "strict", "--format", "json").fine().json())
    assert (there["first"], there["second"]) == ("strict", "middle")
    assert (there["first_marginals"], there["second_marginals"]) == ([52, 13, 19], [44, 19, 21])
    assert (back["first"], back["first_marginals"]) == ("middle", [44, 19, 21])
    for name in ("raw", "kappa", "kappa_se", "linear", "quadratic", "pi", "s", "ac1", "ac2"):
        assert there[name] == pytest.approx(back[name], abs=1e-12)


def test_judge_without_judgements_has_no_common_documents(cli: Cli, judged: Path) -> None:
    """A judge who has not begun is a pair with a reason when named, and else is not there."""
    cli("judges", "add", "anna").fine()
    [row] = pairs(cli("agreement", "anna", "strict", "--format", "json").fine().json())
    assert (row["n"], row["kappa"], row["reason"]) == (0, None, "no-common-docs")
    everybody = cli("agreement", "--format", "json").fine().json()
    assert [row["judge"] for row in everybody["judges"]] == list(JUDGES)


def test_adjudicator_is_no_judge_unless_named(cli: Cli, here: Path, judged: Path) -> None:
    """Rulings on what judges disagree about say nothing of how far they agree."""
    ((topic, docno), *_) = grades_of(judged, "strict")
    (here / "zoe.qrels").write_text(f"{topic} 0 {docno} 1\n", "utf-8")
    cli("import", "judgements", "zoe.qrels", "--judge", "zoe", "--kind", "adjudicator").fine()
    answer = cli("agreement", "--format", "json").fine().json()
    assert answer.settings["judges"] == list(JUDGES)
    named = cli("agreement", "zoe", "strict", "--format", "json").fine().json()
    assert named.settings["judges"] == ["zoe", "strict"]


@pytest.mark.vector("Krippendorff 2011: 4 observers, 12 units, a published example")
def test_all_judges_together_have_krippendorffs_alphas(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Alpha of four judges with missing cells, to the digits Krippendorff prints."""
    observers = {"a": "123321412...", "b": "1233224125.3", "c": ".3332342251.",
                 "d": "12332441251."}  # fmt: skip
    collection_of("1-5", **{
        name: [f"1 0 u{place} {grade}" for place, grade in enumerate(grades) if grade != "."]
        for name, grades in observers.items()
    })  # fmt: skip
    answer = cli("agreement", "--format", "json").fine().json()
    found = {row["coefficient"]: row for row in answer["all_judges"] if row["level"] is None}
    for name, printed in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        assert found[f"alpha_{name}"]["value"] == pytest.approx(printed, abs=5e-4)
    assert next(iter(found)) == "alpha_ordinal"
    assert found["fleiss"]["n"] == 11  # the twelfth unit has one grade
    assert found["fleiss"]["interval_reason"] == "one-topic"


def test_positive_agreement_of_all_is_that_of_their_pairs(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """How likely another judge finds relevant what one does, over all pairs of judges."""
    grades = {"a": "1110.", "b": "1100.", "c": "10011"}
    collection_of("binary", **{
        name: [f"1 0 d{place} {grade}" for place, grade in enumerate(given) if grade != "."]
        for name, given in grades.items()
    })  # fmt: skip
    answer = cli("agreement", "--level", "1", "--format", "json").fine().json()
    [found] = [row for row in answer["all_judges"] if row["coefficient"] == "positive"]
    # d0: 3 of 3, 6 ordered pairs of 6; d1: 2 of 3, 2 of 4; d2: 1 of 3, 0 of 2; d3: 1 of 3, 0 of 2.
    assert (found["value"], found["n"]) == (8 / 14, 4)


def test_two_judges_need_no_table_of_all(cli: Cli, judged: Path) -> None:
    """All judges together are a pair when there are two."""
    answer = cli("agreement", "strict", "middle", "--format", "json").fine().json()
    assert answer["all_judges"] == []
    assert "together" not in cli("agreement", "strict", "middle").fine().out


def test_skipped_documents_are_counted_apart(cli: Cli, judged: Path) -> None:
    """A document that a judge skipped is not measured."""
    cli("judges", "add", "anna").fine()
    cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=b"1\ns\n").fine()
    answer = cli("agreement", "anna", "strict", "--format", "json").fine().json()
    [anna, _] = answer["judges"]
    assert (anna["graded"], anna["skipped"]) == (1, 1)
    assert pairs(answer)[0]["n"] == 1


def test_against_compares_all_with_one(cli: Cli, judged: Path) -> None:
    """Every other judge against the reference, and every label of theirs thrown together."""
    answer = cli("agreement", "--against", "strict", "--format", "json").fine().json()
    rows = {row["first"]: row for row in pairs(answer)}
    assert list(rows) == ["(all labels)", "lenient", "middle"]
    assert {row["second"] for row in rows.values()} == {"strict"}
    reference = grades_of(judged, "strict")
    labels: list[int] = []
    truth: list[int] = []
    for judge in ("lenient", "middle"):
        theirs = grades_of(judged, judge)
        kappa = cohen_kappa_score(list(theirs.values()), [reference[p] for p in theirs])
        assert rows[judge]["kappa"] == pytest.approx(kappa, abs=1e-12)
        labels += theirs.values()
        truth += [reference[p] for p in theirs]
    together = rows["(all labels)"]
    assert together["n"] == len(labels)
    for name, weights in (("kappa", None), ("quadratic", "quadratic")):
        expected = cohen_kappa_score(labels, truth, weights=weights)
        assert together[name] == pytest.approx(expected, abs=1e-12)
    assert answer["all_judges"] == []


@pytest.mark.parametrize("collapse", ["before", "after"])
def test_aggregate_of_the_others_is_compared_with_the_reference(
    cli: Cli, collection_of: Callable[..., None], collapse: str
) -> None:
    """The others' majority against the reference; collapsing first gives another majority.

    Document a has grades 0, 1, 2: tied, the lowest is 0; at level 1 it is 0, 1, 1: relevant.
    """
    collection_of(
        x=lines({"a": 0, "b": 2, "c": 0, "d": 1}),
        y=lines({"a": 1, "b": 2, "c": 0, "d": 1}),
        z=lines({"a": 2, "b": 1, "c": 1, "d": 0}),
        truth=lines({"a": 1, "b": 2, "c": 0, "d": 0}),
    )
    rule = ("--aggregate", "majority", "--ties", "low", *(["--binary-first"] if collapse == "before" else []))
    answer = cli("agreement", "--against", "truth", *rule, "--format", "json").fine().json()
    named = [row for row in answer["pairs"] if row["first"].startswith("(majority")]
    levels = [row["level"] for row in named]
    assert levels == ([1, 2] if collapse == "before" else [None, 1, 2])
    [at_1] = [row for row in named if row["level"] == 1]
    majority = [1, 1, 0, 1] if collapse == "before" else [0, 1, 0, 1]
    expected = cohen_kappa_score(majority, [1, 1, 0, 0])
    assert at_1["kappa"] == pytest.approx(expected, abs=1e-12)
    assert at_1["first_marginals"] == [majority.count(0), majority.count(1)]


def test_intervals_hold_the_number_and_repeat_with_the_seed(cli: Cli, judged: Path) -> None:
    """The same seed gives the same interval, another one nearly; the number lies inside."""

    def answer(*options: str) -> dict[str, Any]:
        [row] = pairs(cli("agreement", "strict", "lenient", *options, "--format", "json")
                      .fine().json())  # fmt: skip
        return row

    one, again, other = answer(), answer(), answer("--seed", "7")
    assert one == again
    assert one["kappa_low"] < one["kappa"] < one["kappa_high"]
    assert other["kappa_low"] != one["kappa_low"]
    assert other["kappa_low"] == pytest.approx(one["kappa_low"], abs=0.02)
    error = answer("--interval", "asymptotic")
    width = error["kappa_high"] - error["kappa_low"]
    assert width == pytest.approx(2 * 1.959964 * error["kappa_se"], rel=1e-6)
    none = answer("--interval", "none")
    assert (none["kappa_low"], none["interval_reason"]) == (None, None)
    assert "seed 1" in cli("agreement", "strict", "lenient").fine().out


def test_interval_alpha_takes_the_distances_of_grades(
    cli: Cli, collection_of: Callable[..., None], here: Path
) -> None:
    """On the scale 0, 1, 10 a 10 is far from a 1; krippendorff 0.9.0 gives .470412."""
    grades = [f'[[grade]]\nvalue = {value}\nlabel = "{value}"\nkey = "{key}"\n'
              for value, key in ((0, "a"), (1, "b"), (10, "c"))]  # fmt: skip
    (here / "scale.toml").write_text("".join(grades), "utf-8")
    collection_of("scale.toml", x=["1 0 a 0", "1 0 b 1", "1 0 c 10", "1 0 d 10"],
                  y=["1 0 a 1", "1 0 b 1", "1 0 c 10", "1 0 d 0"])  # fmt: skip
    [row] = [one for one in cli("agreement", "--format", "json").fine().json()["pairs"]
             if one["level"] is None]  # fmt: skip
    assert row["alpha_interval"] == pytest.approx(0.47041198501872660, abs=1e-12)
