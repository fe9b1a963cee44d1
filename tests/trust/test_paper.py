"""`pooler paper`: the paper redone on the sample collection and on TREC-COVID, and its own tables.

Expected numbers are of the project's reference of methods, section 1.5, computed by a program that shares
nothing with this one; and, for its own tables, the paper's.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.run import Cli, by_rule
from tests.trec_covid import data_path
from tests.vectors import kishida_tables

VALUES = ("--value", "0=0", "--value", "1=.8", "--value", "2=1")
STRICT_AND_LENIENT = ("--judge", "strict", "--judge", "lenient")
TWO = ("lm-words-full", "bm25-words")
NEAR = {"rel": 0, "abs": 0.51e-8}


@pytest.fixture
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
        ((*TWO, "--rank", "6", "--value", "0=0"), "every grade of the scale"),
        ((*TWO, "--rank", "6", "--qrels", "nobody"), "nobody"),
        ((*TWO, "--rank", "6", "--alpha", "2"), "alpha"),
        (("a", "b", "c", "--rank", "6"), "must be two runs"),
    ],
)
def test_refusals(cli: Cli, sample: Path, arguments: tuple[str, ...], words: str) -> None:
    """One line each."""
    refused = cli("paper", *arguments)
    assert refused.code in (1, 2)
    assert words in refused.err


def test_letters_of_a_scale(cli: Cli, here: Path, garden: Path) -> None:
    """Grades of an NTCIR scale may be named by their letters."""
    cli("init", "--scale", "ntcir").fine()
    cli("import", "runs", *(garden / "runs" / f"{tag}.run" for tag in TWO)).fine()
    cli("import", "judgements", garden / "judgements" / "strict.qrels", "--judge", "strict").fine()
    numbers = ("--value", "0=0", "--value", "1=.4", "--value", "2=.8", "--value", "3=1")
    letters = ("--value", "C=0", "--value", "B=.4", "--value", "A=.8", "--value", "S=1")
    options = ("--rank", "6", "--table", "table_4", "--format", "json")
    first, second = (cli("paper", *TWO, *values, *options).fine() for values in (numbers, letters))
    assert first.json() == second.json()


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


def test_two_runs_alike_have_no_difference_and_no_needed_one(cli: Cli, tiny: Path) -> None:
    """A - B is 0 in every topic: no t, no p, no Q, and nothing that would be significant."""
    shown = cli("paper", "a.run", "c.run", *JUDGES, "--rank", "3").fine().out
    words = " ".join(shown.split())
    assert "the difference would be 0.0000 instead of 0.0000, p - instead of -; there was no order." in words
    assert "None: nothing varies." in words
    assert "nan" not in shown


def test_one_topic_has_no_variance(cli: Cli, tiny: Path) -> None:
    """What needs two topics is a dash with its reason."""
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
