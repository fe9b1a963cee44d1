"""`pooler agreement`: scikit-learn's numbers, overlaps of plain sets, words, and what others measured.

What was measured on real judgements was computed by scikit-learn 1.9.1, statsmodels 0.15.0 and krippendorff
0.9.0, and is written to four digits. A test is skipped where its data is absent.
"""

from __future__ import annotations

import gzip
import itertools
import re
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import cf_collection
from tests.helpers.run import JUDGES, Cli, read_trec, run_inside
from tests.helpers.shared_data import shared_data

GRADES = (0, 1, 2)


def grades_of(folder: Path, judge: str, topic: str | None = None) -> dict[tuple[str, str], int]:
    """Return a judge's grades by topic and docno, of one topic or all."""
    rows = read_trec(folder / "judgements" / f"{judge}.qrels", (0, 2, 3))
    return {(row[0], row[1]): int(row[2]) for row in rows if topic in (None, row[0])}


def pairs(answer: Any, **wanted: Any) -> list[dict[str, Any]]:
    """Return the rows of pairs, graded unless a level is wanted."""
    wanted = {"level": None, **wanted}
    return [row for row in answer["pairs"] if all(row[key] == wanted[key] for key in wanted)]


def test_agreement_equals_scikit_learn(cli: Cli, judged: Path) -> None:
    """Every pair's coefficients, graded and at both levels, are sklearn's: in all, and of some topics."""
    from sklearn.metrics import cohen_kappa_score, f1_score, jaccard_score

    answer = cli("agreement", "--by-topic", "--format", "json").fine().json()
    rows = {(r["first"], r["second"], r["topic"], r["level"]): r for r in answer["pairs"]}
    topics = sorted({topic for topic, _ in grades_of(judged, "strict")})
    assert len(rows) == 3 * 3 * (len(topics) + 1)
    for first, second in itertools.combinations(JUDGES, 2):
        for topic in (*topics[:2], "all"):
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
                if len({*a2, *b2}) > 1:
                    assert row["kappa"] == pytest.approx(cohen_kappa_score(a2, b2), abs=1e-12)
                else:
                    assert row["kappa"] is None
                    assert "single-grade" in row["reason"]
                if topic == "all":
                    found = [relevant_to(judged, level, one, first, second) for one in topics]
                    mean = [len(one & other) / len(one | other) for one, other in found if one | other]
                    assert row["macro_overlap"] == pytest.approx(sum(mean) / len(mean), abs=1e-12)
                    assert row["macro_topics"] == len(mean)


def relevant_to(folder: Path, level: int, topic: str, *judges: str) -> list[set[tuple[str, str]]]:
    """Return the documents of a topic that each judge finds relevant."""
    found = [grades_of(folder, judge, topic) for judge in judges]
    return [{pair for pair, grade in grades.items() if grade >= level} for grades in found]


def test_cross_tables_equal_scikit_learn(cli: Cli, judged: Path) -> None:
    """`cross_tables` is the cross table of every pair: first judge in rows, second in columns."""
    from sklearn.metrics import confusion_matrix

    rows = cli("agreement", "strict", "lenient", "--table", "cross_tables", "--format", "tsv").fine().tsv()
    mine, yours = grades_of(judged, "strict"), grades_of(judged, "lenient")
    expected = confusion_matrix(list(mine.values()), [yours[pair] for pair in mine], labels=GRADES)
    got = [[int(row[f"second_{grade}"]) for grade in GRADES] for row in rows]
    assert got == expected.tolist()
    assert {(row["first"], row["second"]) for row in rows} == {("strict", "lenient")}


def test_per_grade_is_f1_of_each_grade(cli: Cli, judged: Path) -> None:
    """`per_grade` says how likely the other judge gives a grade: F1 of that grade."""
    from sklearn.metrics import f1_score

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
    from sklearn.metrics import cohen_kappa_score

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


Row = dict[str, Any]


def pooler(folder: Path, *arguments: str | Path) -> Any:
    """Run a command on the collection of a folder."""
    return run_inside(*arguments, "--collection", folder / "collection.db").fine()


def measured(folder: Path, *arguments: str) -> dict[str, list[Row]]:
    """Measure agreement without intervals; return the tables by name."""
    answer = pooler(folder, "agreement", *arguments, "--resamples", "0", "--format", "json")
    tables: dict[str, list[Row]] = answer.json()
    return tables


def pair(tables: dict[str, list[Row]], first: str, second: str, level: int | None = None) -> Row:
    """Return the row of two judges at a level, or graded."""
    wanted = ({first, second}, level)
    rows = [one for one in tables["pairs"]
            if ({one["first"], one["second"]}, one["level"]) == wanted]  # fmt: skip
    assert len(rows) == 1
    return rows[0]


def check_pairs(tables: dict[str, list[Row]], expected: list[Any], *levels: int) -> None:
    """Compare kappa, linear and quadratic kappa of grades, and kappa at levels, of some pairs."""
    for first, second, *kappas in expected:
        graded = pair(tables, first, second)
        found = [graded[name] for name in ("kappa", "linear", "quadratic")]
        found += [pair(tables, first, second, level)["kappa"] for level in levels]
        assert found == [about(one) for one in kappas], (first, second)


def of_all(tables: dict[str, list[Row]], coefficient: str, level: int | None = None) -> float:
    """Return a coefficient of all judges together."""
    [value] = [row["value"] for row in tables["all_judges"]
               if (row["coefficient"], row["level"]) == (coefficient, level)]  # fmt: skip
    return float(value)


def test_judges_of_one_grade_have_a_reason_in_the_place_of_a_value(cli: Cli, here: Path) -> None:
    """It stands where the interval would, or in a column of its own where no interval is asked for."""
    names = [f"--qrels=./{judge}.qrels" for judge in "abc"]
    for judge in "abc":
        Path(f"{judge}.qrels").write_text("1 0 x 0\n1 0 y 0\n2 0 z 0\n")
    for resamples, expected in (
        ("0", "alpha, ordinal - 3 2 single-grade"),
        ("9", "alpha, ordinal - single-grade 3 2"),
    ):
        shown = cli("agreement", *names, "--scale", "0-2", "--resamples", resamples).fine().out
        assert f"grades {expected}\n" in re.sub(" +", " ", shown)


about = partial(pytest.approx, abs=5e-5)


@pytest.fixture(scope="module")
def cf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import the Cystic Fibrosis collection: documents, questions, four judges."""
    folder = tmp_path_factory.mktemp("cf")
    qrels = cf_collection.write_qrels(folder)
    pooler(folder, "init", "--scale", "0-2")
    pooler(folder, "import", "topics", cf_collection.write_topics(folder))
    pooler(folder, "import", "docs", cf_collection.write_documents(folder), "--all")
    for judge, path in qrels.items():
        pooler(folder, "import", "judgements", path, "--judge", judge, "--kind", "human")
    return folder


CF_PAIRS = [
    ("REW", "colleagues", 0.4003, 0.5659, 0.7202, 0.4955, 0.6710),
    ("REW", "post-docs", 0.4736, 0.6266, 0.7639, 0.5654, 0.7146),
    ("REW", "JBW", 0.0605, 0.1662, 0.2732, -0.0537, 0.4589),
    ("colleagues", "post-docs", 0.3795, 0.5512, 0.7109, 0.5062, 0.6199),
    ("colleagues", "JBW", -0.0120, 0.0967, 0.2079, -0.1106, 0.3883),
    ("post-docs", "JBW", 0.0539, 0.1580, 0.2624, -0.0477, 0.4431),
]  # fmt: skip
"""Two judges; kappa, linear, quadratic, binary at 1 and at 2."""


def test_pairs_of_cf_judges_agree_as_measured(cf: Path) -> None:
    """Kappas of the 4,819 documents."""
    listed = measured(cf)
    check_pairs(listed, CF_PAIRS, 1, 2)
    assert {row["n"] for row in listed["pairs"]} == {4819}


def test_all_cf_judges_agree_as_measured(cf: Path) -> None:
    """Alpha and Fleiss' kappa of four judges."""
    listed = measured(cf)
    expected = {"alpha_nominal": 0.2040, "alpha_ordinal": 0.4269, "alpha_interval": 0.4792, "fleiss": 0.2040}
    for coefficient, value in expected.items():
        assert of_all(listed, coefficient) == about(value)
    assert of_all(listed, "fleiss", 1) == about(0.2035)


@pytest.mark.parametrize(
    ("rule", "relevant"),
    [
        (("1", "max"), 4819),  # any judge
        (("1", "majority", "--ties", "high", "--binary-first"), 2267),  # two of 4
        (("1", "majority", "--ties", "low", "--binary-first"), 1655),  # three
        (("1", "min"), 1188),  # all
        (("2", "max"), 1927),
        (("4", "sum"), 1544),
    ],
)
def test_rules_of_collapse_find_as_many_relevant(cf: Path, rule: tuple[str, ...], relevant: int) -> None:
    """Relevant pairs of the four judges, by rule, are as counted."""
    level, *how = rule
    pooler(cf, "qrels", "define", "official", "--aggregate", *how)
    qrels = pooler(cf, "export", "qrels", "--level", level).out.splitlines()
    assert len(qrels) == 4819
    assert sum(line.endswith(" 1") for line in qrels) == relevant


def test_cf_qrels_of_other_programs_say_how_many_went_in(cf: Path) -> None:
    """A qrels file of one judge has every grade as often as its source."""
    qrels = pooler(cf, "export", "qrels", "JBW").out.splitlines()
    counts = [sum(line.endswith(f" {grade}") for line in qrels) for grade in (0, 1, 2)]
    assert counts == [1365, 2043, 1411]


@pytest.fixture(scope="module")
def dl20(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import NIST and five model judges; those who said yes or no said grade 2 or 0."""
    folder = tmp_path_factory.mktemp("dl20")
    pooler(folder, "init", "--scale", "0-5")
    files = {
        "nist": ("qrels.dl20-passage.txt.gz", ()),
        "umbrella": ("umbrella_gpt-4_zeroshot_dl20.txt.gz", ()),
        "exam": ("qrels.max.exam_selfrate_graded_dl20.txt.gz", ()),
        "gpt4": ("binary_gpt4_dl20.txt.gz", ("--map", "1=2")),
        "gpt4o": ("binary_gpt4o_dl20.txt.gz", ("--map", "1=2")),
        "llama3.2": ("binary_llama3.2_dl20.txt.gz", ("--map", "1=2")),
    }
    for judge, (name, mapped) in files.items():
        file = shared_data(f"dl20-nist-vs-llm/{name}")
        pooler(folder, "import", "judgements", file, "--judge", judge, *mapped)
    return folder


@pytest.mark.slow
def test_model_judges_agree_with_nist_as_measured(dl20: Path) -> None:
    """Judges on different scales, with documents missing, one of them mapped."""
    tables = measured(dl20, "--against", "nist", "--level", "2")
    assert pair(tables, "umbrella", "nist")["kappa"] == about(0.3254)
    assert pair(tables, "exam", "nist")["kappa"] == about(0.1407)
    at_2 = {"umbrella": (0.4266, 11_386), "exam": (0.1786, 11_386), "gpt4": (0.3512, 11_354),
            "gpt4o": (0.3665, 11_381), "llama3.2": (0.1789, 11_386)}  # fmt: skip
    for judge, (kappa, n) in at_2.items():
        row = pair(tables, judge, "nist", 2)
        assert (row["kappa"], row["n"]) == (about(kappa), n)


@pytest.fixture(scope="module")
def web_crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import 15,567 labels of 177 workers, and the reference, as one topic."""
    folder = tmp_path_factory.mktemp("web-crowd")
    crowd, truth = shared_data("web-crowd/web_crowd.txt.gz"), shared_data("web-crowd/web_truth.txt.gz")
    pooler(folder, "init", "--scale", "1-5")
    pooler(folder, "import", "judgements", crowd, "--columns", "docno,judge,grade", "--topic", "T")
    pooler(folder, "import", "judgements", truth, "--columns", "docno,grade", "--topic", "T",
           "--judge", "reference")  # fmt: skip
    return folder


@pytest.mark.slow
def test_a_crowd_agrees_as_measured(web_crowd: Path) -> None:
    """177 workers with few common documents: alpha of all, and kappa of three pairs."""
    workers = [str(number) for number in range(1, 178)]
    tables = measured(web_crowd, *workers)
    assert of_all(tables, "alpha_nominal") == about(0.2104)
    assert of_all(tables, "alpha_ordinal") == about(0.3828)
    assert all(row["n"] for row in tables["pairs"])
    for first, second, n, *kappas in [
        ("1", "3", 440, 0.4895, 0.6397, 0.7471),
        ("3", "12", 405, 0.4566, 0.6207, 0.7230),
        ("3", "16", 402, 0.4743, 0.5932, 0.6600),
    ]:
        row = pair(tables, first, second)
        assert row["n"] == n
        assert [row[name] for name in ("kappa", "linear", "quadratic")] == list(map(about, kappas))


@pytest.mark.slow
def test_every_label_of_a_crowd_against_the_reference(web_crowd: Path) -> None:
    """All labels of all workers, thrown together, against one judge."""
    tables = measured(web_crowd, "--against", "reference")
    [row] = [one for one in tables["pairs"] if one["n"] == 15_539 and one["level"] is None]
    assert (row["kappa"], row["quadratic"]) == (about(0.4313), about(0.6024))
    shown = pooler(
        web_crowd, "agreement", "--against", "reference", "--resamples", "0", "--table", "pairs"
    ).out
    first = shown.partition("──\n")[2].splitlines()[0]
    assert first.startswith("(all labels)")
    assert "--limit" in shown


def llmjudge_files() -> dict[str, Path]:
    """Return the files of the model judges and the human, by judge."""
    scores = sorted(shared_data("llmjudge/scores").glob("*.txt.gz"))
    files = {path.name.removesuffix(".txt.gz"): path for path in scores}
    return files | {"human": shared_data("llmjudge/llmjudge_test_qrel_idx.txt.gz")}


@pytest.fixture(scope="module")
def llmjudge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import one human and 33 model judges from one file that names them in column 2."""
    folder = tmp_path_factory.mktemp("llmjudge")
    lines = []
    for judge, path in llmjudge_files().items():
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            topic, _, docno, grade = line.split()
            lines.append(f"{topic} {judge} {docno} {grade}\n")
    (folder / "all.qrels").write_text("".join(lines), "utf-8")
    pooler(folder, "init", "--scale", "0-3")
    pooler(folder, "import", "judgements", folder / "all.qrels", "--judge-column", "2",
           "--map", "10=3", "--map", "5=3")  # fmt: skip
    return folder


LLMJUDGE_PAIRS = [
    ("human", "willia-umbrela1", 0.2863, 0.3963, 0.5044, 0.3985),
    ("human", "h2oloo-zeroshot2", 0.2589, 0.3426, 0.4191, 0.3278),
    ("human", "RMITIR-llama70B", 0.2654, 0.3867, 0.4887, 0.3916),
    ("NISTRetrieval-instruct0", "NISTRetrieval-instruct1", 0.9965, 0.9971, 0.9979, 0.9989),
    ("h2oloo-fewself", "willia-umbrela1", 0.6487, 0.7638, 0.8561, 0.7607),
    ("Olz-gpt4o", "RMITIR-GPT4o", 0.5226, 0.6975, 0.8359, 0.8245),
    ("TREMA-nuggets", "prophet-setting4", 0.0807, 0.0900, 0.0944, 0.0602),
]
"""Two judges; kappa, linear, quadratic, binary at 2."""


@pytest.mark.slow
def test_one_human_and_33_models_agree_as_measured(llmjudge: Path) -> None:
    """34 judges on the same documents, grades off the scale mapped onto it."""
    tables = measured(llmjudge)
    check_pairs(tables, LLMJUDGE_PAIRS, 2)
    assert of_all(tables, "fleiss") == about(0.3007)
    assert of_all(tables, "fleiss", 2) == about(0.4225)
    assert of_all(tables, "alpha_nominal") == about(0.3007)
    assert of_all(tables, "alpha_ordinal") == about(0.5269)


@pytest.mark.parametrize(("judge", "docnos"), [("RMITIR-llama70B", ["p3021", "p8935"]),
                                               ("h2oloo-zeroshot2", ["p8028"])])  # fmt: skip
def test_a_grade_off_the_scale_is_refused_by_its_line(tmp_path: Path, judge: str, docnos: list[str]) -> None:
    """Every line with a grade that was not declared is named; nothing is imported."""
    path = llmjudge_files()[judge]
    pooler(tmp_path, "init", "--scale", "0-3")
    answer = run_inside("import", "judgements", path, "--judge", judge, "--collection",
                        tmp_path / "collection.db").failed(1)  # fmt: skip
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    off = [number for number, line in enumerate(lines, 1) if int(line.split()[3]) > 3]
    assert [lines[number - 1].split()[2] for number in off] == docnos
    assert all(f"{path}:{number}:" in answer.err for number in off)
    assert "--map" in answer.err
    assert not pooler(tmp_path, "export", "judgements").out
