"""`pooler paper`: the paper redone on the sample collection and on TREC-COVID, and its own numbers.

Expected numbers are of the project's reference of methods, sections 1 and 2, computed by a program that
shares nothing with this one; and, for its own tables, the paper's.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pooler as p
import store.analysis
from store.analysis.clusters import cluster_scores
from store.analysis.measures.average_precision import average_precision, least_average_precision, swap_effect
from store.analysis.measures.confusion import e_measure
from store.analysis.measures.gain import ideal_gain, normalised_gain
from store.analysis.significance.t_tests import paired_t_of_moments, unpaired_t_of_moments
from store.analysis.undiscovered import relative_drop, required_difference, round_up
from store.analysis.variation.collection import Components
from tests.helpers import kishida_tables
from tests.helpers.agreement_tables import assert_prints
from tests.helpers.fixtures import made_once
from tests.helpers.kishida_tables import (
    MISPRINTED,
    N_RELEVANT,
    N_TOPICS,
    N_TOPICS_OF_TABLE_6,
    TABLE_1,
    TABLE_2,
    TABLE_6,
    TABLE_7,
    TABLE_8,
)
from tests.helpers.oracles import first_documents, read_qrels, read_run
from tests.helpers.run import Cli, by_rule
from tests.helpers.trec_covid import data_path
from tests.trust.test_variation import cystic_fibrosis

VALUES = ("--value", "0=0", "--value", "1=.8", "--value", "2=1")
STRICT_AND_LENIENT = ("--judge", "strict", "--judge", "lenient")
TWO = ("lm-words-full", "bm25-words")
NEAR = {"rel": 0, "abs": 0.51e-8}


@pytest.fixture
@made_once
def sample(cli: Cli, here: Path, garden: Path) -> Path:
    """Work in a collection of the sample's runs with its strict and its lenient judge."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", *sorted((garden / "runs").glob("*.run"))).fine()
    for judge in ("strict", "lenient"):
        cli("import", "judgements", garden / "judgements" / f"{judge}.qrels", "--judge", judge).fine()
    return here


@pytest.fixture
def told(cli: Cli, sample: Path) -> dict[str, Any]:
    """Give all tables of the sample collection."""
    options = (*STRICT_AND_LENIENT, "--rank", "6", "--format", "json")
    found: dict[str, Any] = json.loads(by_rule(cli, "paper", *TWO, *VALUES, *options).fine().out)
    return found


@pytest.mark.vector("methods of the project, section 1.5")
def test_tables_1_to_4(told: dict[str, Any]) -> None:
    """Chance beside AP of judge 1, what stands at rank 6, and the patterns of grades."""
    least = {(row["run"], row["topic"]): row for row in told["table_1"]}
    random = {(row["run"], row["topic"]): row for row in told["table_2"]}
    expected = {
        "G01": (4, 0.44034091, 0.05684796, 0.15918832),
        "G02": (5, 0.4825, 0.06875939, 0.17969592),
        "G03": (5, 0.85833333, 0.06875939, 0.17969592),
    }
    for topic, (n_relevant, ap, worst, chance) in expected.items():
        row = least[TWO[0], topic]
        assert (row["documents"], row["relevant"]) == (45, n_relevant)
        assert (row["ap"], row["value"]) == pytest.approx((ap, worst), **NEAR)
        assert random[TWO[0], topic]["value"] == pytest.approx(chance, **NEAR)
    counts = {tuple(row["grades"]): row["documents"] for row in told["table_4"]}
    assert counts == {(2, 2): 19, (2, 1): 9, (2, 0): 3, (1, 1): 4, (1, 0): 12, (0, 0): 37}
    first, second = told["figure_2"]
    states = ("unjudged", "no_chance", "either_way", "relevant")
    assert [first[state] for state in states] == [2, 2, 3, 1]
    assert [second[state] for state in states] == [2, 3, 2, 1]


JUDGED = {
    ("strict", 1): (0.64511702, 0.60117247, 0.05297283, 0.06052572, 0.05300920, 0.36893920, 0.71217304,
                    0.71769279, 0.00748015, 1.43712609, 0.15068217, 0.19383625),
    ("strict", 2): (0.63016098, 0.59496216, 0.07845533, 0.07516838, 0.03824911, 0.25400607, 0.79949087,
                    0.80318344, 0.07712549, 0.35848769, 0.71997838, 0.73054615),
    ("lenient", 1): (0.74848237, 0.70976068, 0.02257383, 0.05460949, 0.02927107, 0.39421897, 0.69341938,
                     0.69935894, 0.01864118, 0.80216294, 0.42245871, 0.44883010),
    ("lenient", 2): (0.62976371, 0.62120224, 0.05461580, 0.05083402, 0.04716229, 0.07457110, 0.94055597,
                     0.94161102, 0.01112525, 0.22958244, 0.81841625, 0.82498037),
}  # fmt: skip
CELLS = ("variance_a", "variance_b", "covariance", "t1", "p_normal_t1", "p_t1", "variance", "t2",
         "p_normal_t2", "p_t2")  # fmt: skip


@pytest.mark.vector("methods of the project, section 1.5")
def test_tables_5_and_6(told: dict[str, Any]) -> None:
    """MAPs and tests by judge and level, and in the model with judging removed and included."""
    maps = {(row["run"], row["judge"], row["level"]): row for row in told["table_5"]}
    tests = {(row["judge"], row["level"]): row for row in told["table_6"]}
    for (judge, level), (map_a, map_b, *cells) in JUDGED.items():
        found = [maps[run, judge, level]["mean"] for run in TWO]
        assert found == pytest.approx([map_a, map_b], **NEAR)
        assert [tests[judge, level][name] for name in CELLS] == pytest.approx(cells, **NEAR)
    model = [maps[run, "(model)", None] for run in TWO]
    assert [row["mean"] for row in model] == pytest.approx([0.6769530748, 0.6406148975], **NEAR)
    assert [row["topic_variance"] for row in model] == pytest.approx([0.0300131330, 0.0476943198], **NEAR)
    assert [row["judging_variance"] for row in model] == pytest.approx([0.0079244969, 0.0054998385], **NEAR)
    removed, included = (tests[f"(model, judging {which})", None] for which in ("removed", "included"))
    assert [removed[name] for name in ("t1", "p_normal_t1", "p_t1", "t2", "p_normal_t2", "p_t2")] == (
        pytest.approx(
            [0.3687031066, 0.7123490329, 0.7178648938, 0.9643123417, 0.3348893552, 0.3670125], **NEAR
        )
    )
    assert [included[name] for name in ("t1", "p_t1", "t2", "p_t2")] == pytest.approx(
        [0.3404655602, 0.7385607697, 0.8005994584, 0.4496775], **NEAR
    )
    assert removed["covariance"] == pytest.approx(0.0331736939, **NEAR)
    assert included["covariance"] == pytest.approx(0.0331736939 + 0.0041516599, **NEAR)


@pytest.mark.vector("methods of the project, section 1.5")
def test_figure_3_and_tables_7_and_8(cli: Cli, sample: Path, told: dict[str, Any]) -> None:
    """Points and curve; what is needed, with the reading of H that belongs to the variance used."""
    points = [(row["difference"], row["share"], row["normal"]) for row in told["figure_3"]]
    expected = [
        (-0.09447135, 0.125, 0.10985587), (-0.09139818, 0.25, 0.11536868), (-0.03611111, 0.375, 0.24833411),
        (-0.00979319, 0.5, 0.33257327), (0.10100021, 0.625, 0.72796802), (0.10486111, 0.75, 0.73985652),
        (0.15177348, 0.875, 0.86060675), (0.16484444, 1, 0.88603054),
    ]  # fmt: skip
    assert [cell for point in points for cell in point] == pytest.approx(
        [cell for point in expected for cell in point], **NEAR
    )
    options = ("--rank", "6", "--scenario", "shared", "--flip", "unjudged", "--format", "json")
    shared = json.loads(by_rule(cli, "paper", *TWO, *VALUES, *options).fine().out)
    cells = {
        (name, row["judging"], row["topics"]): row for name in ("table_7", "table_8") for row in shared[name]
    }
    for n_topics, whole, removed, found in (
        (8, 0.10732725, 0.08910612, 0.39711049),
        (50, 0.03648481, 0.03029073, 0.13499369),
        (150, 0.02071272, 0.01719628, 0.07663699),
    ):
        assert cells["table_7", "included", n_topics]["difference"] == pytest.approx(whole, **NEAR)
        assert cells["table_7", "removed", n_topics]["difference"] == pytest.approx(removed, **NEAR)
        assert cells["table_8", "included", n_topics]["difference"] == pytest.approx(found, **NEAR)
    row = cells["table_8", "included", 8]
    assert (row["variance"], row["q"], row["h"]) == pytest.approx(
        (0.0164810806, 0.77867874, 0.3294224564), **NEAR
    )
    assert cells["table_8", "removed", 8]["k"] == pytest.approx(0.3107208625, **NEAR)
    assert cells["table_8", "removed", 8]["h"] == pytest.approx(0.4532230273, **NEAR)
    assert {row["reason"] for row in told["table_8"]} == {"order-turns"}


def test_words(cli: Cli, sample: Path) -> None:
    """Each table has a sentence of its own, with its numbers, and false statements are the news."""
    page = " ".join(cli("paper", *TWO, *VALUES, "--rank", "6").fine().out.split())
    for sentence in (
        "2 of the 4 statements do not hold here.",
        "Of the variance of the MAP of A, 79.1% is the choice of topics and 20.9% judging; of B 89.7% and",
        "Rank 6 of B is unjudged in 2 of 8 topics, of A in 2.",
        "28 documents (33.3 %) may turn out either way.",
        "Pairing the topics takes p from 0.739 to 0.450; taking the judging out, to 0.367.",
        "Shapiro and Wilk's W is 0.8815, p 0.195: the differences look like a normal law at 5%; the curves"
        " are at most 0.228 apart.",
        "Had the document at rank 6 of B been relevant in 5 topics (as in the paper), the difference would be"
        " -0.0623 instead of 0.0363 (Q = 2.72), p 0.149 instead of 0.367; the order turns.",
        "With 8 topics a difference of 0.1074 is needed; A and B, 0.0363 apart, do not reach it.",
        "None: the order turns.",
    ):
        assert sentence in page


def test_a_judges_name_is_whose_tables_1_to_3_are(cli: Cli, tiny: Path) -> None:
    """Ann's relevant document is first in a and second in b; Bob's and the file's the other way round."""
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "a.run", "b.run").fine()
    found = "1 0 y 1\n2 0 z 1\n"
    judges = {"ann": "1 0 x 1\n2 0 x 1\n", "bob": "1 0 x 0\n2 0 x 0\n" + found, "trec": found}
    for judge, lines in judges.items():
        (tiny / judge).write_text(lines)
        kind = "imported" if judge == "trec" else "human"
        cli("import", "judgements", judge, "--judge", judge, "--kind", kind).fine()
    table = ("--rank", "3", "--table", "table_1")
    told = cli("paper", *table).fine()
    assert "tables 1 to 3 are by judge ann alone, who graded 2 of 4 documents; --qrels names" in told.err
    assert "By judge ann alone, the first of 2 (--qrels names another)" in told.out
    for judge in ("bob", "trec"):
        assert f"By judge {judge}; relevant" in cli("paper", *table, "--qrels", judge).fine().out
        rows = cli("paper", *table, "--qrels", judge, "--format", "json").fine().json()
        assert {(row["run"], row["ap"]) for row in rows} == {("a", 0.5), ("b", 1.0)}
    for command in (("agreement",), ("design", "overlap")):
        assert "--qrels counts only `bob`" in cli(*command, "--qrels", "bob").failed(1).err


def test_files_and_collection_say_the_same(cli: Cli, sample: Path, garden: Path) -> None:
    """One file a judge, and two run files; A is the higher run whatever the order."""
    options = (*VALUES, "--rank", "6", "--format", "json")
    stored = json.loads(by_rule(cli, "paper", *TWO, *options, *STRICT_AND_LENIENT).fine().out)
    files = [
        argument
        for judge in ("strict", "lenient")
        for argument in ("--qrels", f"{judge}={garden / 'judgements' / f'{judge}.qrels'}")
    ]
    runs = [garden / "runs" / f"{tag}.run" for tag in reversed(TWO)]
    found = json.loads(cli("paper", *runs, *files, "--scale", "0-2", *options).fine().out)
    for name in ("table_1", "table_4", "table_5", "table_6", "figure_3", "section_4_3", "table_8"):
        for row, other in zip(found[name], stored[name], strict=True):
            assert row == pytest.approx(other, rel=1e-9)


def test_two_highest_runs_by_default(cli: Cli, sample: Path) -> None:
    """Those that `variation` has at the top."""
    rows = cli("variation", *VALUES, "--format", "json").fine().json()
    best = sorted(rows, key=lambda row: -row["mean"])[:2]
    told = json.loads(cli("paper", *VALUES, "--rank", "6", "--format", "json").fine().out)
    assert [told["settings"]["a"], told["settings"]["b"]] == [row["run"] for row in best]


def test_simulation_stands_beside(cli: Cli, sample: Path) -> None:
    """The paper's own way, within five standard errors."""
    options = ("--rank", "6", "--monte-carlo", "20000", "--table", "table_5", "--format", "json")
    rows = cli("paper", *TWO, *VALUES, *options).fine().json()
    for run in TWO:
        exact, simulated = (
            next(row for row in rows if (row["run"], row["judge"]) == (run, who))
            for who in ("(model)", "(simulated)")
        )
        error = (exact["judging_variance"] / 8 / 20000) ** 0.5
        assert simulated["mean"] == pytest.approx(exact["mean"], abs=5 * error)
        assert simulated["judging_variance"] == pytest.approx(exact["judging_variance"], rel=0.05)


def test_page(cli: Cli, sample: Path) -> None:
    """One file without script, in the paper's order, the false statements first."""
    cli("paper", *TWO, *VALUES, "--rank", "6", "--html", "paper.html").fine()
    page = (sample / "paper.html").read_text("utf-8")
    assert "<script" not in page
    assert page.index("Does not hold") < page.index("Holds:")
    assert page.count("<svg") == 3
    (sample / "other.txt").write_text("mine")
    refused = cli("paper", *TWO, *VALUES, "--rank", "6", "--html", "other.txt")
    assert refused.code == 1
    assert (sample / "other.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((TWO[0], "--rank", "6"), "must name two, or none"),
        ((TWO[0], TWO[0], "--rank", "6"), "must name each run once"),
        ((TWO[0], "nobody", "--rank", "6"), "nobody"),
        (TWO, "how deep is the pool?"),
        (("a", "b", "c", "--rank", "6"), "must be two runs"),
    ],
)
def test_refusals(cli: Cli, sample: Path, arguments: tuple[str, ...], words: str) -> None:
    """One line each."""
    refused = cli("paper", *arguments)
    assert refused.code in (1, 2)
    assert words in refused.err


@pytest.mark.vector("Kishida (2001), tables 1, 2, 3, 6, 7 and 8")
def test_tables_of_the_paper(cli: Cli) -> None:
    """206 cells of five tables follow as printed; of table 6 all but three, which have their erratum."""
    told = json.loads(cli("paper", "sources", "--format", "json").fine().out)
    tables = ("table_1", "table_2", "table_3", "table_7", "table_8")
    assert sum(row["same"] for name in tables for row in told[name]) == 206
    assert [len(told[name]) for name in tables] == [41, 36, 9, 80, 40]
    printed = {(row["row"], row["column"]): row["printed"] for row in told["table_1"]}
    for n, texts in kishida_tables.TABLE_1.items():
        for r, text in zip(kishida_tables.N_RELEVANT, texts, strict=False):
            assert float(printed[f"N={n}", f"R={r}"]) == float(text)
    printed = {(row["row"], row["column"]): row["printed"] for row in told["table_7"]}
    for k, rows in kishida_tables.TABLE_7.items():
        for variance, texts in rows.items():
            for n_topics, text in zip(kishida_tables.N_TOPICS, texts, strict=True):
                place = f"K={float(k):g}, s2={float(variance):g}", f"L={n_topics}"
                assert float(printed[place]) == float(text)
    wrong = [(row["row"], row["column"]) for row in told["table_6"] if not row["same"]]
    assert wrong == [("judge 2, relevant or partially", name) for name in ("t1", "p(t1), normal", "p(t1), t")]
    assert all(row["erratum"] for row in told["table_6"] if not row["same"])
    cannot = [f"{row['row']}, {row['column']}" for row in told["table_3"] if row["erratum"]]
    assert cannot == ["R=50, AP=0.1", "R=50, AP=0.3", "R=100, AP=0.1", "R=100, AP=0.3", "R=100, AP=0.5"]


@pytest.mark.vector("methods of the project, section 1.3")
def test_table_6_from_table_5(cli: Cli) -> None:
    """Our values of two columns, to the digits of the reference."""
    rows = cli("paper", "sources", "--table", "table_6", "--format", "json").fine().json()
    values = {(row["row"], row["column"]): row["value"] for row in rows}
    names = ("A - B", "t1", "p(t1), normal", "p(t1), t", "t2", "p(t2), normal", "p(t2), t")
    for column, cells in {
        "judge 2, relevant or partially": (0.04796, 1.09426344, 0.27383945, 0.27636738, 1.65329244,
                                           0.09827136, 0.10429693),
        "model, judging included": (0.04615, 1.05116090, 0.29318470, 0.29562106, 1.72807959, 0.08397396,
                                    0.08990884),
    }.items():  # fmt: skip
        found = [values[column, name] for name in names]
        assert found == pytest.approx(cells, rel=0, abs=0.51e-8)


@pytest.mark.vector("methods of the project, section 1.5")
def test_trec_covid(cli: Cli, here: Path) -> None:
    """Two whole runs of round 1: MAPs of the model, tests by the judge, figure 3."""
    tags = ("sab20.1.meta.docs", "run1")
    for tag in tags:
        shutil.copy(data_path(f"runs-full/{tag}.gz"), here / f"{tag}.gz")
    qrels = data_path("qrels-rnd1.txt.gz")
    values = ("--value", "0=0", "--value", "1=.5", "--value", "2=1")
    options = ("--qrels", f"nist={qrels}", "--scale", "0-2", "--rank", "101", "--format", "json")
    told = json.loads(cli("paper", *(f"{tag}.gz" for tag in tags), *options, *values).fine().out)
    tests = {(row["judge"], row["level"]): row for row in told["table_6"]}
    assert [tests["nist", 1][name] for name in CELLS] == pytest.approx(
        [0.01806752, 0.03009286, 0.01625750, 1.16143640, 0.24546447, 0.25022204, 0.01564538, 2.03773299,
         0.04157664, 0.05079126], **NEAR
    )  # fmt: skip
    model = [row["mean"] for row in told["table_5"] if row["judge"] == "(model)"]
    assert model == pytest.approx([0.2785934278, 0.2666098150], **NEAR)
    assert [row["difference"] for row in told["figure_3"][:3]] == pytest.approx(
        [-0.31375658, -0.19571096, -0.13471346], **NEAR
    )


@pytest.mark.vector("methods of the project, sections 1.5, 1.6, 2.1, 2.3 and 2.4")
def test_moments_by_topic_and_what_is_found(told: dict[str, Any], cli: Cli, sample: Path) -> None:
    """Expected AP, variances and covariance of each topic, the documents found, Q, and the normal law."""
    judges = (*STRICT_AND_LENIENT, "--rank", "6", "--format", "json")
    by_topic = by_rule(cli, "paper", *TWO, *VALUES, *judges, "--table", "topics").fine().json()
    rows = {row["topic"]: row for row in by_topic}
    expected = {
        "G01": (0.5439068182, 0.3921333333, 0.0088198631, 0.0030686387, 0.0049354552),
        "G05": (0.9605555556, 0.9966666667, 0.0140768519, 0.0002666667, 0.0010722222),
        "G08": (0.5132853968, 0.6046835807, 0.0107679431, 0.0263173899, 0.0142609482),
    }
    names = ("mean_a", "mean_b", "variance_a", "variance_b", "covariance")
    for topic, numbers in expected.items():
        assert [rows[topic][name] for name in names] == pytest.approx(numbers, rel=0, abs=0.51e-10)
    assert {topic: row["docno"] for topic, row in rows.items() if row["docno"]} == {
        "G01": "KG-E-010", "G03": "KG-E-006", "G04": "KG-E-019", "G05": "KG-J-019", "G08": "KG-J-003",
    }  # fmt: skip
    then = [sum(row[f"mean_{run}_found"] for row in rows.values()) / 8 for run in "ab"]
    assert then == pytest.approx((0.5937134312, 0.6560624104), rel=0, abs=1e-10)
    whats = {row["what"]: row for row in told["section_4_3"]}
    order = whats["B above A if judged again: how likely"]
    assert (order["before"], order["found"]) == pytest.approx((0.0754655876, 0.9980865461), **NEAR)
    limits = [whats[name]["before"] for name in ("A - B if judged again: at least (95%)", "and at most")]
    assert limits == pytest.approx((-0.013250, 0.085927), rel=0, abs=0.51e-6)
    assert told["facts"] == {
        "w": pytest.approx(0.88151676, **NEAR),
        "p_normality": pytest.approx(0.19471089, **NEAR),
        "largest_distance": pytest.approx(0.22796802, **NEAR),
    }
    assert [row["q"] for row in told["table_8"]] == pytest.approx([2.7157981988] * 10, rel=0, abs=1e-10)


QRELS = {"one": "1 0 x 1\n1 0 y 0\n2 0 x 1\n2 0 z 0\n", "two": "1 0 x 1\n1 0 y 1\n2 0 x 1\n2 0 z 0\n"}


@pytest.fixture
def tiny(here: Path) -> Path:
    """Write two runs of two topics, a copy of the first, and what two judges say."""
    write = {
        "a": "1 Q0 x 1 9 a\n1 Q0 y 2 8 a\n2 Q0 x 1 9 a\n2 Q0 z 2 8 a\n",
        "b": "1 Q0 y 1 9 b\n1 Q0 x 2 8 b\n2 Q0 z 1 9 b\n2 Q0 x 2 8 b\n",
    }
    for name in ("one", "two"):
        (here / f"{name}.qrels").write_text(QRELS[name])
        (here / f"{name}1.qrels").write_text(QRELS[name][:16])
    for name, lines in (*write.items(), ("c", write["a"].replace(" a\n", " c\n"))):
        (here / f"{name}.run").write_text(lines)
        (here / f"{name}1.run").write_text("".join(line for line in lines.splitlines(keepends=True)[:2]))
    return here


JUDGES = ("--qrels", "one.qrels", "--qrels", "two.qrels", "--scale", "binary")


def test_two_runs_alike_or_of_one_topic_have_no_needed_difference(cli: Cli, tiny: Path) -> None:
    """A - B is 0 in every topic: no t, no p, no Q, nothing significant; one topic has no variance."""
    shown = cli("paper", "a.run", "c.run", *JUDGES, "--rank", "3").fine().out
    words = " ".join(shown.split())
    assert "the difference would be 0.0000 instead of 0.0000, p - instead of -; there was no order." in words
    assert "None: nothing varies." in words
    assert "nan" not in shown
    judges = ("--qrels", "one1.qrels", "--qrels", "two1.qrels", "--scale", "binary")
    shown = cli("paper", "a1.run", "b1.run", *judges, "--rank", "3").fine().out
    assert "None: one topic has no variance." in " ".join(shown.split())
    assert "nan" not in shown


def test_files_without_a_rank_have_the_tables_that_need_none(cli: Cli, tiny: Path) -> None:
    """The same as with one; the depth of a collection that happens to be there is not taken."""
    cli("init", "--scale", "binary").fine()
    cli("import", "runs", "a.run", "b.run").fine()
    cli("pool", "--depth", "1").fine()
    command = ("paper", "a.run", "b.run", *JUDGES, "--seed", "1", "--format", "json")
    without, whole = cli(*command).fine(), cli(*command, "--rank", "3").fine().whole()
    assert "left out, as no --rank is given: verdicts, table_3, figure_2" in without.err
    tables = {name: rows for name, rows in without.whole().items() if name not in ("settings", "facts")}
    assert {f"table_{n}" for n in (1, 2, 4, 5, 6, 7)} | {"figure_1", "figure_3"} == {*tables} - {"warnings"}
    assert tables == {name: whole[name] for name in tables}
    cli(*command[:-2], "--html", "page.html").fine()
    assert "Table 4" in (tiny / "page.html").read_text("utf-8")
    assert "unknown table `table_3`" in cli(*command, "--table", "table_3").failed(1).err


@pytest.mark.parametrize("more", [("--format", "tsv"), ("--out", "page.html")])
def test_page_is_written_when_all_else_is_right(cli: Cli, tiny: Path, more: tuple[str, ...]) -> None:
    """A refusal leaves no page."""
    again = cli("paper", "a.run", "b.run", *JUDGES, "--rank", "3", "--html", "page.html", *more)
    assert again.code != 0
    assert not (tiny / "page.html").exists()


SECTION = ("--table", "section_4_3", "--format", "json")


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
def test_section_4_3(cli: Cli, sample: Path, case: tuple[str, str]) -> None:
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


def test_what_is_said_of_documents_that_are_found(cli: Cli, sample: Path) -> None:
    """In how many topics, and whether that is the paper's way."""
    options = ("paper", *TWO, *VALUES, "--rank", "6", "--table", "section_4_3")
    own = " ".join(cli(*options).fine().out.split())
    assert "been relevant in 5 topics (as in the paper)" in own
    assert "simulated: 20,000 random judgings, seed 1." in own
    more = ("--scenario", "shared", "--flip", "unjudged", "--monte-carlo", "100", "--seed", "3")
    shared = " ".join(cli(*options, *more).fine().out.split())
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
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] * (case[0] == "own")) for case in TC]
)
def test_section_4_3_of_trec_covid(cli: Cli, here: Path, case: tuple[str, str]) -> None:
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
    """Means and variances before and after documents are found, judged 20,000 times."""
    if which == "sample":
        cli("init", "--scale", "0-2").fine()
        cli("import", "runs", *(garden / "runs" / f"{tag}.run" for tag in TWO)).fine()
        for judge in ("strict", "middle", "lenient"):
            cli("import", "judgements", garden / "judgements" / f"{judge}.qrels", "--judge", judge).fine()
    else:
        cystic_fibrosis(cli, here, frozenset(TWO))
    n, n_topics = 20_000, 8 if which == "sample" else 12
    for scenario in ("own", "shared"):
        for flip in ("not-relevant", "unjudged"):
            options = ("--rank", "6", "--scenario", scenario, "--flip", flip, "--monte-carlo", str(n))
            rows = section(cli, *options)
            for exact, drawn in (("before", "simulated"), ("found", "simulated_found")):
                spread = rows["and by judging"][exact]
                assert rows["and by judging"][drawn] == pytest.approx(spread, rel=0.04)
                error = (spread / n_topics / n) ** 0.5
                assert rows["A - B"][drawn] == pytest.approx(rows["A - B"][exact], abs=4.5 * error)


def grids_of(text: str) -> list[dict[str, list[str]]]:
    """Return the cells of every grid, by the heading of the row."""
    return [
        {line.split()[0]: line.split()[1:] for line in block.splitlines()[3:]}
        for block in text.strip().split("\n\n")
    ]


def test_tables_1_and_2_are_printed_as_in_the_paper(cli: Cli) -> None:
    """Every cell has the paper's digits, and those it leaves empty are a dash."""
    grids = grids_of(cli("paper", "least").fine().out)
    for grid, table in zip(grids, (TABLE_1, TABLE_2), strict=False):
        for n_documents, cells in table.items():
            assert grid[str(n_documents)] == [*cells, *["-"] * (len(N_RELEVANT) - len(cells))]


def test_programs_get_every_digit_and_a_reason(cli: Cli) -> None:
    """The paper's 0011 has AP 5/12, and R = 5 of 4 documents is a reason, not a number."""
    found = cli("paper", "least", "-n", "4", "-r", "2,5", "--format", "json").fine().json()
    assert found["least"] == [
        {"documents": 4, "relevant": 2, "value": pytest.approx(5 / 12, abs=1e-15), "reason": None},
        {"documents": 4, "relevant": 5, "value": None, "reason": "more-relevant-than-documents"},
    ]
    # The six orders of two relevant documents among four: 1, 5/6, 3/4, 7/12, 1/2, 5/12.
    orders = (1, 5 / 6, 3 / 4, 7 / 12, 1 / 2, 5 / 12)
    assert found["mean"][0]["value"] == pytest.approx(sum(orders) / 6, abs=1e-15)


def test_small_means_of_a_large_collection_are_not_shown_as_0(cli: Cli) -> None:
    """100 of 10,000 documents with one relevant: on average H_100 / 10000."""
    harmonic = sum(1 / rank for rank in range(1, 101))
    options = ("--size", "10000", "-n", "100", "-r", "1")
    _, grid, _ = grids_of(cli("paper", "least", *options).fine().out)
    assert grid["100"][0] == f"{harmonic / 10_000:.6f}"


def test_tables_7_and_8_are_printed_as_in_the_paper(cli: Cli) -> None:
    """All 80 and 40 cells; Q and H go together."""
    q, h = (",".join(values) for values in zip(*map(str.split, TABLE_8), strict=True))
    for table, options in ((TABLE_7, ("--variation", ",".join(TABLE_7))), (TABLE_8, ("-Q", q, "-H", h))):
        expected = [{key: list(cells) for key, cells in grid.items()} for grid in table.values()]
        assert grids_of(cli("paper", "difference", *options).fine().out) == expected


def test_programs_get_every_digit(cli: Cli) -> None:
    """Without drops it is t times the standard error; a wanted power adds a second quantile."""
    from scipy import stats

    for power in (0.5, 0.8):
        options = ("--variance", "0.03", "--power", str(power), "--format", "json")
        rows = cli("paper", "difference", *options).fine().json()
        assert [row["topics"] for row in rows] == list(N_TOPICS)
        for row in rows:
            law = stats.t(row["topics"] - 1)
            quantiles = law.ppf(0.975) + (law.ppf(power) if power > 0.5 else 0)
            error = (0.03 / row["topics"]) ** 0.5
            assert row["difference"] == pytest.approx(quantiles * error, rel=1e-10)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("least", "-n", "0"), "`--documents` must be an integer >= 1"),
        (("least", "-r", "a"), "`--relevant` must be integers"),
        (("least", "-n", "10", "--size", "9"), "`--size` must be at least every N"),
        (("difference", "-K", "1"), "`--variation` must be at least 0 and below 1"),
        (("difference", "-Q", "1"), "`--drop` must be below 1"),
        (("difference", "-Q", ".1,.2", "-H", ".1,.2,.3"), "`--variance-drop` must be one number"),
        (("difference", "--variance", "-1"), "`--variance` must be a number >= 0"),
        (("difference", "--topics", "1"), "`--topics` must be an integer >= 2"),
        (("difference", "--alpha", "0"), "`--alpha` must be between 0 and 1"),
        (("difference", "--power", "0.3"), "`--power` must be a number >= 0.5"),
    ],
)
def test_impossible_numbers_are_refused(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    """One line names the option and what it takes."""
    refused = cli("paper", *arguments)
    assert refused.code in (1, 2)
    assert words in refused.err


def test_tables_say_of_which_variance_h_is(cli: Cli) -> None:
    """With K = 0 of the whole, as s2 is; with K of what judging leaves; from Q = 1 on of none."""
    options = ("-Q", "0.1", "-H", "0.1", "--topics", "50", "--variance", "0.03")
    for share, which in (("0", "with judging"), ("0.1", "without judging")):
        text = cli("paper", "difference", *options, "-K", share).fine().out
        assert f"K={share}, Q=0.1, H=0.1, of the variance {which}" in text
    rows = cli("paper", "difference", *options, "-K", "0,0.1", "--format", "json").fine().json()
    assert [row["h_of"] for row in rows] == ["judging included", "judging removed"]
    assert "the order turns" in cli("paper", "difference", "-Q", "1.2").failed(1).err


@pytest.mark.parametrize("cutoff", [5, 1])
def test_own_r_is_of_the_documents_retrieved(cli: Cli, judged: Path, cutoff: int) -> None:
    """Eq. 1 by a loop, on every topic of a run that is cut; a list without a relevant document has none."""
    qrels, run = (
        read_qrels(judged / "judgements" / "strict.qrels"),
        read_run(judged / "runs" / "bm25-words.run"),
    )
    rows = cli(
        "evaluate", "bm25-words", "--qrels", "strict", "-m", "OwnAP", "--cutoff", str(cutoff), "--by-topic",
        "--order", "trec9", "--format", "json",
    ).fine().json()  # fmt: skip
    values = {row["topic"]: row["value"] for row in rows if row["topic"] != "all"}
    assert {row["measure"] for row in rows} == {"OwnAP"}
    for topic, grades in qrels.items():
        flags = [grades.get(docno, 0) >= 1 for docno in first_documents(run, topic, cutoff)]
        precisions = [sum(flags[: place + 1]) / (place + 1) for place, flag in enumerate(flags) if flag]
        expected = pytest.approx(sum(precisions) / len(precisions), abs=1e-12) if precisions else None
        assert values[topic] == expected
    assert (None in values.values()) == (cutoff == 1)


def test_swap_by_equation_6() -> None:
    """The paper's example: 11000 to 10100 loses 1/6 of AP; with both uses on 11000 nothing."""
    (row,) = p.swap_of_ranks([1, 2], 2, 3).table("swap").to_records()
    assert (row["before"], row["after"], row["change"], row["as_printed"]) == pytest.approx(
        (1, 5 / 6, -1 / 6, 0), abs=1e-12
    )
    # 0101 to 1001: (1/2 + 2/4) / 2 becomes (1 + 2/4) / 2.
    found = p.swap_of_ranks([2, 4], 1, 2)
    assert (found.before, found.after) == pytest.approx((0.5, 0.75))
    with pytest.raises(p.ArgumentError, match="must name one relevant rank and one other"):
        p.swap_of_ranks([1, 2], 1, 2)


@pytest.mark.vector("the articles and the slides, printed")
def test_worked_examples_of_the_other_sources_follow_but_for_their_errata() -> None:
    """What does not follow is what the list of errata names."""
    found = p.paper_sources()
    wrong = {one.row for name in ("articles", "slides") for one in found.cells[name] if not one.same}
    assert wrong == {
        "E of a perfect set, P = R = 1", "DCG@5 of 4, 1, 4, 2, 1", "nDCG@5 of 4, 1, 4, 2, 1",
        "nDCG@5 of 1, 1, 2, 4, 4", "IDCG@5",
    }  # fmt: skip
    assert all(one.erratum for name in ("articles", "slides") for one in found.cells[name] if not one.same)
    assert [len(found.cells[name]) for name in ("articles", "slides")] == [13, 33]


@pytest.mark.vector("slides, CG: R1 to R5 are 4, 1, 4, 2, 1")
def test_gain_of_the_slides() -> None:
    """4 + 1 + 4 + 2 + 1; of the first three 9; a grade below 0 gains nothing."""
    grades = {"v": 4, "w": 1, "x": 4, "y": 2, "z": 1, "u": -2}
    run = {"a": {"1": {docno: -float(rank) for rank, docno in enumerate(grades)}}}
    source = p.source(run, qrels={"1": grades}, codes=["-2=grade"])
    assert p.evaluate(source, ["CG@5", "CG@3", "CG"]).mean.tolist() == [[12.0], [9.0], [12.0]]


@pytest.mark.vector("Kishida 2001, sections 4.2.2, 4.3 and 5; recomputed")
def test_numbers_of_the_running_text() -> None:
    """5.01% and 5.37% are needed; K is 3.5%, 6.2% and 13%; undiscovered documents take 17%."""
    without, within = (float(required_difference(s2, 53)) for s2 in (0.0330, 0.03300 + 0.00487))
    assert_prints("0.05007143", without)
    assert_prints("0.05363900", within)
    assert_prints("0.05358940", float(required_difference(0.0378, 53)))
    assert round_up([without, within]).tolist() == [0.0501, 0.0537]
    judging, topics = np.array([0.00188, 0.00299, 0.00487]), np.array([0.05171, 0.04558, 0.0378 - 0.00487])
    shares = Components(np.zeros(3), topics, judging, 53).share
    for digits, share in zip(("0.03508", "0.06156", "0.129"), shares.tolist(), strict=True):
        assert_prints(digits, share)
    assert_prints("0.01170", 0.27973 - 0.26803)
    assert_prints("0.01969", 0.32588 - 0.30619)
    drops = relative_drop(
        [0.27973, 0.32588, 0.32588 - 0.27973, 0.0330], [0.26803, 0.30619, 0.30619 - 0.26803, 0.0294]
    )
    for digits, drop in zip(("0.0418", "0.0604", "0.173", "0.109"), drops.tolist(), strict=True):
        assert_prints(digits, drop)
    # Table 7 against table 8, variance .03 and 50 topics: 4.93% grows to 5.5%.
    wider = required_difference(0.03, 50, difference_drop=0.15, variance_drop=0.10)
    assert_prints("0.0550", float(round_up(wider)))


@pytest.mark.parametrize(("variance", "n_topics", "alpha"), [(0.03, 50, 0.05), (0.2, 7, 0.01)])
def test_required_difference_is_just_significant(variance: float, n_topics: int, alpha: float) -> None:
    """A paired t test of the difference that eq. 23 requires has p = alpha."""
    needed = float(required_difference(variance, n_topics, alpha=alpha))
    assert paired_t_of_moments(needed, variance, n_topics).p == pytest.approx(alpha, rel=1e-9)


def power_of(difference: float, variance: float, n_topics: int) -> float:
    """Compute the power of the two-sided 5% paired t test, exactly."""
    from scipy import stats

    shift = difference / np.sqrt(variance / n_topics)
    limit = stats.t.ppf(0.975, n_topics - 1)
    above = stats.nct.sf(limit, n_topics - 1, shift)
    return float(above + stats.nct.cdf(-limit, n_topics - 1, shift))


@pytest.mark.parametrize("n_topics", [30, 50, 150])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.9, 0.95])
def test_wanted_power_is_had(n_topics: int, power: float) -> None:
    """The noncentral t has the wanted power at the returned difference, to within .007."""
    needed = float(required_difference(0.04, n_topics, power=power))
    assert power_of(needed, 0.04, n_topics) == pytest.approx(power, abs=0.007)


def test_rounding_up_leaves_whole_digits() -> None:
    """A number with so many digits stays, whatever its last bit."""
    assert round_up([0.1 + 0.2, 0.3, 0.30001, 0.0], 4).tolist() == [0.3, 0.3, 0.3001, 0.0]
    assert float(round_up(0.123, 2)) == 0.13


ERRATA = " ".join((store.analysis.__doc__ or "").split())
SLIDES = np.array([4, 1, 4, 2, 1])


def ap(text: str) -> float:
    """Compute AP of a string of ones and zeros, R being its ones."""
    relevant = np.array([letter == "1" for letter in text])
    return float(average_precision(relevant, np.array(text.count("1"))))


def t1_of_misprint(variance_b: str) -> float | None:
    """Compute t1 of the misprinted column of table 6 from table 5."""
    column = TABLE_6[MISPRINTED]
    difference = float(column.map_a) - float(column.map_b)
    variance_a = sum(map(float, column.variance_a))
    return unpaired_t_of_moments(difference, variance_a, float(variance_b), N_TOPICS_OF_TABLE_6).t


def mean_of_judges(maps: list[str]) -> float:
    """Average the MAPs of the four judged columns of table 6."""
    judged = [value for value, name in zip(maps, TABLE_6, strict=True) if "judge" in name]
    assert len(judged) == 4
    return math.fsum(map(float, judged)) / 4


def slides_ndcg(grades: list[int]) -> float:
    """Compute nDCG with the discount of the slides."""
    return float(normalised_gain(np.array([grades]), [SLIDES], discount="jarvelin")[0])


def slides_dcg(grades: list[int]) -> float:
    """Compute DCG with the discount of the slides: none at rank 1, log2 of the rank below."""
    return sum(grade / max(math.log2(rank), 1) for rank, grade in enumerate(grades, start=1))


CLUSTERS = np.array([[5, 1, 1], [1, 4, 3], [2, 2, 6]])


@pytest.mark.vector("the paper, the articles and the slides, printed and recomputed")
@pytest.mark.parametrize(
    ("entry", "printed", "corrected", "computed"),
    [
        ("1110000001 (.85)", "111000001", ".85", ap("1110000001")),
        ("as it stands has .8611", "111000001", ".8611", ap("111000001")),
        ("1011100000 (.8042)", "101110000", ".8042", ap("1011100000")),
        (".0567, .3118 and 1 for", "table 3", ".0567", least_average_precision(100, 10)),
        (".0567, .3118 and 1 for", "table 3", ".3118", least_average_precision(100, 50)),
        ("gives t1 1.0943", "1.0583", "1.0943", t1_of_misprint("0.05288")),
        ("would give 1.0585", ".05288", "1.0585", t1_of_misprint("0.05988")),
        ("is 12.9%", '"about 12%"', "12.9", 100 * 0.00487 / 0.0378),
        (".28410 and .33441", ".27973", ".28410", mean_of_judges([one.map_b for one in TABLE_6.values()])),
        (".28410 and .33441", ".32588", ".33441", mean_of_judges([one.map_a for one in TABLE_6.values()])),
        ("1 - 2 / (1/P + 1/R), 0", ".5 for a perfect set", "0", e_measure(1.0, 1.0)),
        ("is 10.1925", "10.70", "10.1925", ideal_gain([SLIDES], discount="jarvelin")[0]),
        ("is .8785", ".83", ".8785", slides_ndcg([4, 1, 4, 2, 1])),
        ("exact logarithms, 6.9846", "6.98 is", "6.9846", slides_dcg([1, 1, 2, 4, 4])),
        ("give 6.99", "of two decimals that it shows", "6.99", 1 + 1 + 2 / 1.58 + 4 / 2 + 4 / 2.32),
        ("gives .05364", "5.37%", ".05364", required_difference(0.03787, 53)),
        ("that table 6 has for it, .05359", ".0378 ", ".05359", required_difference(0.0378, 53)),
        ("is .6853", ".65", ".6853", slides_ndcg([1, 1, 2, 4, 4])),
        ("gives .6 and .6", ".598, F .599", ".6", cluster_scores(CLUSTERS).inverse_purity),
        ("gives .6 and .6", ".598, F .599", ".6", cluster_scores(CLUSTERS).f),
    ],
)
def test_numbers_of_the_list_are_computed(entry: str, printed: str, corrected: str, computed: float) -> None:
    """What is printed and what is right stand in the list, and the right one is what comes out."""
    assert entry in ERRATA
    assert printed in ERRATA
    assert corrected in entry
    assert_prints(corrected, float(computed))


def test_swap_by_the_printed_rule_is_nothing() -> None:
    """11000 to 10100: eq. 6 twice on the first ranking cancels; S falls by 1/3."""
    relevant = np.array([True, True, False, False, False])
    assert "11000 to 10100 would change S by 0, but it falls by 1/3" in ERRATA
    assert float(swap_effect(relevant, 2, 2, 3)) * 2 == pytest.approx(-1 / 3, rel=1e-14)
