"""`pooler agreement`: scikit-learn's numbers, plain sets' overlaps, reasons for the rest, and its words."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from itertools import combinations
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
    none = answer("--resamples", "0")
    assert (none["kappa_low"], none["interval_reason"]) == (None, None)
    assert "seed 1" in cli("agreement", "strict", "lenient").fine().out


def lines_of(judgements: dict[str, int], topic: str = "1") -> list[str]:
    """Write grades of a topic by docno as qrels lines_of."""
    return [f"{topic} 0 {docno} {grade}" for docno, grade in judgements.items()]


def test_many_pairs_have_those_first_that_agree_least(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Of 78 pairs people see 66, and how to see all; programs get all; intervals where they are asked for."""
    judges = {
        f"j{judge:02d}": lines_of({f"d{n:02d}": (n * (judge + 3) // 5) % 3 for n in range(35)})
        for judge in range(13)
    }
    collection_of(**judges)
    ran = cli("agreement", "--table", "pairs").fine()
    rows = [line.split() for line in ran.out.partition("relevant or not")[0].splitlines() if line[:1] == "j"]
    assert len(rows) == 66
    kappas = [float(line[4]) for line in rows]
    assert kappas == sorted(kappas)
    assert "66 of 78 pairs; --limit 78 shows all" in ran.out
    answer = cli("agreement", "--format", "json").fine().json()
    assert len(pairs(answer)) == 78
    assert {row["kappa_low"] for row in answer["pairs"]} == {None}
    measured = sorted(row["kappa"] for row in pairs(answer) if row["kappa"] is not None)
    assert kappas == pytest.approx(measured[:66], abs=5e-4)
    answer = cli("agreement", "--format", "json", "--level", "1", "--resamples", "100").fine().json()
    assert {row["interval_reason"] for row in answer["pairs"]} == {"one-topic"}


def row_of(shown: str, *cells: str) -> list[str]:
    """Return the cells of the one row that starts with these."""
    [found] = [line.split() for line in shown.splitlines() if line.split()[: len(cells)] == [*cells]]
    return found


def test_all_judges_together_say_what_they_rest_on(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Fleiss and alpha count documents with two graders, the overlap those everybody graded."""
    collection_of(
        "binary",
        x=[*lines_of(dict.fromkeys("abcd", 1)), *lines_of({"a": 1, "b": 0}, "2")],
        y=[*lines_of({"a": 1, "b": 0, "c": 1}), *lines_of({"a": 1}, "2")],
        z=lines_of({"a": 1, "b": 1}),
    )
    shown = cli("agreement", "--resamples", "0").fine().out
    # Two graders: a, b and c of topic 1, a of topic 2. Three: a and b of topic 1.
    assert row_of(shown, "relevant", "1+", "Fleiss'")[-2:] == ["4", "2"]
    assert row_of(shown, "relevant", "1+", "overlap")[-2:] == ["2", "1"]
    assert "documents with at least two graders" in shown
    assert "documents that everybody" in shown
    assert "95 %" not in shown
    by_topic = cli("agreement", "--by-topic").fine().out
    [_, _, by_topic] = by_topic.partition("topic by topic\n")
    assert row_of(by_topic, "2", "1")[-1] == "no-common-docs"
    assert "reason: for every dash in the row" in by_topic


def test_pairs_that_share_nothing_are_counted_when_there_are_many(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """Of 15 pairs of 6 judges, of whom three and three share documents, people see 6."""
    halves = {name: {f"{name[0]}{n}": n % 3 for n in range(35)} for name in
              ("a1", "a2", "a3", "b1", "b2", "b3")}  # fmt: skip
    collection_of(**{name: lines_of(grades) for name, grades in halves.items()})
    shown = cli("agreement", "--level", "1").fine().out
    assert "\n9 pairs share no document.\n" in shown
    there = {tuple(line.split()[:2]) for line in shown.splitlines()}
    for first, second in combinations(halves, 2):
        assert ((first, second) in there) == (first[0] == second[0])
    counted = cli("agreement", "--format", "json").fine().json()
    assert {(row["first"], row["second"]) for row in counted["pairs"]} == {
        (first, second) for first, second in combinations(halves, 2) if first[0] == second[0]
    }
    assert counted.facts["pairs_apart"] == 9
    plan = cli("design", "overlap").fine().out
    assert "9 pairs share no document." in plan
    assert "no-common-docs" not in plan


def test_words_on_intervals_stand_where_intervals_are(cli: Cli, judged: Path) -> None:
    """Topic by topic pairs have none, and it is said; the line on them is left out then."""
    two = ("agreement", "strict", "lenient")
    shown = cli(*two).fine().out
    assert "95 %: the interval in which the number may lie" in shown
    said = cli(*two, "--by-topic").fine()
    assert "With --by-topic, pairs have no intervals." in said.out
    assert "may lie" not in said.out
    assert "too narrow" not in said.err
    assert "nterval" not in cli(*two, "--resamples", "0").fine().out
    cli("judges", "add", "anna").fine()
    assert "may lie" not in cli("agreement", "strict", "anna").fine().out


def judge_topics(folder: Path, cli: Cli, **topics: str) -> None:
    """Import what each new judge finds of some topics: the grades of `middle`."""
    all_lines = (folder / "judgements" / "middle.qrels").read_text("utf-8").splitlines()
    for judge, wanted in topics.items():
        path = folder / f"{judge}.qrels"
        kept = [line for line in all_lines if line.split()[0] in wanted.split()]
        path.write_text("".join(f"{line}\n" for line in kept), "utf-8")
        cli("import", "judgements", path, "--judge", judge).fine()


def test_orders_compares_the_order_of_runs(cli: Cli, judged: Path) -> None:
    """Each judge's MAP of the runs is what `evaluate` prints, and orders are compared."""
    answer = cli("agreement", "orders", "--mixtures", "50", "--format", "json").fine().json()
    assert set(answer) == {"run_scores", "order_pairs", "mixtures", "swaps"}
    for judge in JUDGES:
        rows = cli("evaluate", "--qrels", judge, "--table", "measures", "--format", "json").fine().json()
        expected = {row["run"]: row["value"] for row in rows}
        got = {row["run"]: row[f"map_judge_{judge}"] for row in answer["run_scores"]}
        assert got == pytest.approx(expected, abs=1e-12)
    assert [(row["first"], row["second"]) for row in answer["order_pairs"]] == [
        *itertools.combinations(JUDGES, 2)
    ]
    shown = cli("agreement", "orders").fine().out
    assert "1,000 mixtures, seed 1" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--against", "nobody"), "unknown judge `nobody`"), (("--level", "3"), "`--level` must be above 0")],
)
def test_options_that_do_not_go_together_are_refused(
    cli: Cli, judged: Path, options: tuple[str, ...], message: str
) -> None:
    """The message names the option and what it needs; nothing is computed."""
    assert message in cli("agreement", *options).failed(1).err


def test_orders_without_a_common_topic_takes_topics_of_two_judges(cli: Cli, judged: Path) -> None:
    """Who lacks how many topics is said, and what to type; judges' own means are not compared."""
    judge_topics(judged, cli, anna="G01 G02 G03", bert="G04 G05", carl="G04 G05 G06")
    ran = cli("agreement", "orders", "anna", "bert", "carl", "strict").fine()
    # Documents that two graded are of G01 to G06, where `strict` found something everywhere.
    assert "warning: no topic has a score under every judge" in ran.err
    for words in ("anna lacks", "bert lacks", "carl lacks", "agreement orders anna strict"):
        assert words in ran.err
    assert "6 topics with a score under two judges or more are used" in ran.err
    assert "No columns for judges, because their topics differ." in ran.out
    answer = cli("agreement", "orders", "anna", "bert", "carl", "strict", "--format", "json")
    tables = answer.fine().json()
    assert {row["map_judge_anna"] for row in tables["run_scores"]} == {None}
    assert [(row["topics"], row["min_judges"]) for row in tables["mixtures"]] == [(6, 2)] * 2
