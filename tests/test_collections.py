"""Real collections through the command line, against what others have measured on them.

TREC-COVID round 1, and the script of docs/ that makes a collection of it; TREC's own test files, the Cystic
Fibrosis collection, a web table pool. Where the data is absent a test is skipped. The numbers are those of
the collections' own documents (leaderboard, trec_eval's expected output) or counted with other programs.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.cf_collection import JUDGES as CF_JUDGES
from tests.helpers.cf_collection import data_path as cf_path
from tests.helpers.cf_collection import write_qrels
from tests.helpers.oracles import average_precision, mean, measured_ap, read_qrels, read_run
from tests.helpers.run import Outcome, read_lines, run_inside, write
from tests.helpers.trec_covid import data_path, leaderboard
from tests.readme_blocks import ROOT

pytestmark = pytest.mark.slow

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def shared(name: str) -> Path:
    """Return the path of a file or folder of the shared data, or skip the test."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not here")
    return path


def covid_list(folder: Path) -> Path:
    """Write the list of the 143 runs: tag, team, and whether NIST pooled them."""
    runs = data_path("runs-top120")
    rows = [
        f"{runs}/{tag}.gz\t{tag}\t{row['team']}\t{row['contributed judgments']}"
        for tag, row in leaderboard().items()
    ]
    return write(folder / "runs.tsv", "file\ttag\tgroup\tcontributes", *rows)


@pytest.fixture(scope="module")
def covid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import TREC-COVID round 1: topics, all 143 runs to rank 120, and NIST's judgements."""
    folder = tmp_path_factory.mktemp("covid")
    listed = covid_list(folder)
    made = ("--collection", folder / "collection.db")
    run_inside("init", "--scale", "0-2", *made).fine()
    run_inside("import", "topics", data_path("topics.covid-round1.xml"), *made).fine()
    run_inside("import", "runs", "--runs", listed, *made).fine()
    qrels = data_path("qrels-rnd1.txt.gz")
    run_inside("import", "judgements", qrels, "--judge", "nist", *made).fine()
    return folder


def in_covid(folder: Path, *arguments: str | Path) -> Outcome:
    """Run a command on the collection of a folder."""
    return run_inside(*arguments, "--collection", folder / "collection.db").fine()


@pytest.mark.vector("TREC-COVID round 1: castorini/TREC-COVID, commit be3ed3f")
def test_covid_pool_is_the_one_nist_judged(covid: Path) -> None:
    """Seven documents of the 56 pooled runs, ties by docno ascending, are NIST's pool.

    6,959 pairs, all of them judged, and among them every one of the 6,064 judged for round 1.
    """
    how = ("--depth", "7", "--order", "docno-asc")
    said = in_covid(covid, "pool", *how, "--out", covid / "stored.txt").err
    run_inside("pool", "--runs", covid / "runs.tsv", *how, "--out", covid / "files.txt").fine()
    for suffix in ("", ".manifest.json"):
        stored, files = (covid / f"{name}.txt{suffix}" for name in ("stored", "files"))
        assert stored.read_bytes() == files.read_bytes()
    assert "6,959 pairs to judge in 30 topics" in said
    assert "depth 7 of 56 runs" in said
    assert "5,454 of them (78%) come from one run only" in said
    [row] = in_covid(covid, "status", "--table", "status", "--format", "json").json()
    states = ("pooled", "judged", "unjudged", "skipped", "cannot", "outside")
    assert [row[state] for state in states] == [6959, 6959, 0, 0, 0, 1732]
    assert [row[f"grade_{grade}"] for grade in (0, 1, 2)] == [6339, 1115, 1237]
    pool = {tuple(line.split()) for line in read_lines(covid / "stored.txt")}
    first_round = {(topic, docno) for topic, label, docno, _ in exported(covid) if label == "1"}
    assert len(first_round) == 6064
    assert first_round <= pool


def exported(folder: Path) -> list[tuple[str, str, str, int]]:
    """Export the qrels of the only judge and read them back by hand."""
    lines = in_covid(folder, "export", "qrels").out.splitlines()
    fields = (line.split() for line in lines)
    return [(topic, label, docno, int(grade)) for topic, label, docno, grade in fields]


def test_covid_documents_of_one_run_are_relevant_as_counted(covid: Path) -> None:
    """Of the 5,454 pairs that one run alone brought, 1,070 are graded 1 or more."""
    how = ("--depth", "7", "--order", "docno-asc", "--annotated")
    lines = run_inside("pool", "--runs", covid / "runs.tsv", *how).fine().out.splitlines()
    brought = Counter(tuple(line.split()[:2]) for line in lines)
    alone = {pair for pair, n_runs in brought.items() if n_runs == 1}
    assert len(alone) == 5454
    grades = {(topic, docno): grade for topic, _, docno, grade in exported(covid)}
    assert sum(grades[topic, docno] >= 1 for topic, docno in alone) == 1070


@pytest.mark.parametrize(
    ("order", "depth", "unjudged", "deep_enough"),
    [("trec", 7, 1978, 4270), ("docno-asc", 10, 2211, 4262), ("trec", 10, 2205, 4262)],
)
def test_covid_unjudged_documents_below_the_pool(
    covid: Path, order: str, depth: int, unjudged: int, deep_enough: int
) -> None:
    """The documents at rank N+1 that nobody judged are as many as counted, over all 143 runs."""
    how = ("--depth", str(depth), "--order", order, "--cutoff", "120", "--format", "json")
    check_below_the_pool(in_covid(covid, "sensitivity", *how).json(), unjudged, deep_enough)


def check_below_the_pool(rows: list[dict[str, Any]], unjudged: int, deep_enough: int) -> None:
    """Compare the sums of a table of `sensitivity` with what was counted."""
    assert len(rows) == 143
    assert sum(row["unjudged"] for row in rows) == unjudged
    assert sum(row["unjudged"] + row["judged"] for row in rows) == deep_enough
    assert all(row["unjudged"] + row["judged"] + row["ended"] + row["no_run"] == 30 for row in rows)


def test_covid_sensitivity_of_files_is_that_of_the_collection(covid: Path) -> None:
    """All 143 run files and the qrels file give the collection's table, to the last digit; as counted."""
    how = ("--depth", "7", "--order", "docno-asc", "--cutoff", "120", "--format", "json")
    stored = in_covid(covid, "sensitivity", *how).json()
    check_below_the_pool(stored, 1993, 4270)
    files = sorted(str(path) for path in data_path("runs-top120").iterdir())
    qrels = ("--qrels", data_path("qrels-rnd1.txt.gz"))
    by_tag = {row["run"]: row for row in run_inside("sensitivity", *how, *qrels, *files).json()}
    for row in stored:
        other = by_tag.pop(row["run"])
        assert other["map_after"] == pytest.approx(row["map_after"], abs=1e-14)
        for name in ("unjudged", "judged", "ended", "map_before", "swapped"):
            assert other[name] == row[name]
    assert not by_tag


def whole_runs() -> list[Path]:
    """Return the 14 runs that are here to their last document."""
    return sorted(data_path("runs-full").glob("*.gz"))


@pytest.mark.parametrize(("order", "different"), [("trec9", []), ("trec", ["BERT"])])
def test_covid_map_is_the_leaderboards(order: str, different: list[str]) -> None:
    """MAP of the whole runs is the official one to all four decimals printed.

    The leaderboard was made with scores of 32 bits (`trec9`); BERT alone has scores that only 64
    bits tell apart.
    """
    qrels = data_path("qrels-rnd1.txt.gz")
    command = (
        "evaluate",
        "--qrels",
        qrels,
        *whole_runs(),
        "--order",
        order,
        "--table",
        "measures",
        "--format",
        "json",
    )
    rows = run_inside(*command).fine().json()
    assert len(rows) == 14
    assert {row["topics"] for row in rows} == {30}
    unlike = [row["run"] for row in rows if f"{row['value']:.4f}" != leaderboard()[row["run"]]["MAP"]]
    assert unlike == different


def test_covid_exported_qrels_give_the_official_map(covid: Path) -> None:
    """Both evaluators read the exported qrels and come to the official MAP of all whole runs."""
    in_covid(covid, "export", "qrels", "--out", covid / "exported.qrels")
    qrels = read_qrels(covid / "exported.qrels")
    files = whole_runs()
    command = ("evaluate", "--qrels", covid / "exported.qrels", *files, "--order", "trec9")
    rows = {
        row["run"]: row
        for row in run_inside(*command, "--table", "measures", "--format", "json").fine().json()
    }
    for path in files:
        tag = path.name.removesuffix(".gz")
        run = read_run(path)
        official = leaderboard()[tag]["MAP"]
        value = rows[tag]["value"]
        assert value == pytest.approx(mean(average_precision(qrels, run).values()), abs=1e-12)
        assert f"{value:.4f}" == official
    lines = [f"{topic} Q0 {docno} 0 {score!r} x" for topic, ranked in read_run(files[0]).items()
             for docno, score in ranked.items()]  # fmt: skip
    plain = write(covid / "plain.run", *lines)
    assert (
        f"{mean(measured_ap(covid / 'exported.qrels', plain).values()):.4f}"
        == (leaderboard()[files[0].name.removesuffix(".gz")]["MAP"])
    )


# Cystic Fibrosis: four judges.

CF_KAPPAS = """
REW colleagues          0.4003 0.5659 0.7202  0.4955  0.6710
REW post-docs           0.4736 0.6266 0.7639  0.5654  0.7146
REW JBW                 0.0605 0.1662 0.2732 -0.0537  0.4589
colleagues post-docs    0.3795 0.5512 0.7109  0.5062  0.6199
colleagues JBW         -0.0120 0.0967 0.2079 -0.1106  0.3883
post-docs JBW           0.0539 0.1580 0.2624 -0.0477  0.4431
"""
"""scikit-learn 1.9.1: kappa, linear, quadratic, at level 1, at level 2, over the 4,819 pairs."""


def test_cf_agreement_is_scikit_learns(tmp_path: Path) -> None:
    """All six pairs of judges have scikit-learn's kappas to four decimals, negative ones too."""
    cf_path("cfquery")
    made = ("--collection", tmp_path / "cf.db")
    run_inside("init", "--scale", "0-2", *made).fine()
    for judge, path in write_qrels(tmp_path).items():
        said = run_inside("import", "judgements", path, "--judge", judge, *made).fine().err
        assert "4,819 judgements added" in said
    command = ("agreement", *CF_JUDGES, "--resamples", "0", "--format", "json", *made)
    pairs = run_inside(*command).fine().json()["pairs"]
    graded, one, two = ([row for row in pairs if row["level"] == level] for level in (None, 1, 2))
    assert len(graded) == len(one) == len(two) == 6
    for line, row, low, high in zip(CF_KAPPAS.strip().splitlines(), graded, one, two, strict=True):
        first, second, *expected = line.split()
        assert (row["first"], row["second"], row["n"]) == (first, second, 4819)
        got = (row["kappa"], row["linear"], row["quadratic"], low["kappa"], high["kappa"])
        assert [f"{value:.4f}" for value in got] == expected
    assert graded[0]["first_marginals"] == [2587, 1128, 1104]
    assert graded[2]["second_marginals"] == [1365, 2043, 1411]


# trec_eval's own test files.


def trec_eval_map(name: str) -> dict[str, str]:
    """Return the map lines of one of trec_eval's expected outputs, by topic."""
    lines = (line.split() for line in read_lines(shared("trec-eval-test") / name))
    return {fields[1]: fields[2] for fields in lines if fields[0] == "map"}


def printed(rows: list[dict[str, str]]) -> dict[str, str]:
    """Round the values of `evaluate --by-topic --format tsv` as trec_eval prints them."""
    return {row["topic"]: f"{float(row['value']):.4f}" for row in rows}


def test_trec_eval_prints_the_same_map() -> None:
    """The plain case, the graded qrels at level 2, and the messy run give trec_eval's numbers."""
    data = shared("trec-eval-test")
    by_topic = ("--by-topic", "--format", "tsv")
    run, qrels = data / "results.test.gz", ("--qrels", data / "qrels.test.gz")
    got = printed(run_inside("evaluate", *qrels, run, *by_topic).fine().tsv())
    assert got == trec_eval_map("out.test.aq")
    assert got["all"] == "0.1785" == trec_eval_map("out.test")["all"]
    graded = ("--qrels", data / "qrels.rel_level.gz", "--level", "2")
    got = printed(run_inside("evaluate", *graded, run, *by_topic).fine().tsv())
    assert got == trec_eval_map("out.test.aql")
    messy = data / "results.trunc"
    refused = run_inside("evaluate", *qrels, messy, *by_topic).failed(1)
    assert "results.trunc:1: expected 6 fields, got 9" in refused.err
    assert "hint: `--lenient`" in refused.err
    lenient = ("evaluate", *qrels, messy, *by_topic, "--lenient")
    assert printed(run_inside(*lenient).fine().tsv()) == trec_eval_map("out.test.aqc")
    got = printed(run_inside(*lenient, "--cutoff", "100").fine().tsv())
    assert got == trec_eval_map("out.test.aqcM")


def test_comments_of_trec_eval_are_passed_over() -> None:
    """Qrels with comment lines are read, as trec_eval 10 reads them."""
    data = shared("trec-eval-test")
    qrels, run = data / "qrels.test.with-comments.gz", data / "results.test.gz"
    for options in ((), ("--lenient",)):
        found = run_inside(
            "evaluate", "--qrels", qrels, run, *options, "--table", "measures", "--format", "json"
        ).fine()
        assert f"{found.json()[0]['value']:.4f}" == "0.1785"


def test_three_judgement_groups_are_three_judges(tmp_path: Path) -> None:
    """One qrels file with three groups in column 2 becomes three judges; -1 is pooled, not judged.

    Counted in the file: 3,681, 3,681 and 3,000 lines, of them 304 with code -1 in each group.
    """
    qrels = shared("trec-eval-test") / "qrels.123.gz"
    made = ("--collection", tmp_path / "c.db")
    run_inside("init", "--scale", "0-6", *made).fine()
    refused = run_inside("import", "judgements", qrels, "--judge-column", "2", *made).failed(1)
    assert "got -1" in refused.err
    codes = ("--judge-column", "2", "--code", "-1=unjudged")
    run_inside("import", "judgements", qrels, *codes, *made).fine()
    rows = run_inside("show", "judges", "--format", "json", *made).fine().json()
    assert {row["judge"]: row["judged"] for row in rows} == {"0": 3377, "1": 3377, "2": 2696}
    assert {row["kind"] for row in rows} == {"imported"}
    command = ("agreement", "--resamples", "0", "--format", "json", *made)
    rows = run_inside(*command).fine().json()["pairs"]
    pairs = [row for row in rows if row["level"] is None]
    assert [(row["first"], row["second"]) for row in pairs] == [("0", "1"), ("0", "2"), ("1", "2")]
    for row in pairs:
        assert row["n"] == common_judged(qrels, row["first"], row["second"])


def common_judged(qrels: Path, first: str, second: str) -> int:
    """Count the pairs that two groups of a gzipped qrels file grade 0 or more."""
    by_group = defaultdict(set)
    for line in gzip.decompress(qrels.read_bytes()).decode().splitlines():
        topic, group, docno, grade = line.split()
        if int(grade) >= 0:
            by_group[group].add((topic, docno))
    return len(by_group[first] & by_group[second])


def test_negative_codes_need_to_be_declared(tmp_path: Path) -> None:
    """The 304 lines of -1 are faults until they are said to be unjudged, and come back as -1."""
    qrels = shared("trec-eval-test") / "qrels.rel_level.gz"
    made = ("--collection", tmp_path / "c.db")
    run_inside("init", "--scale", "0-4", *made).fine()
    command = ("import", "judgements", qrels, "--judge", "nist", *made)
    refused = run_inside(*command).failed(1)
    assert "qrels.rel_level.gz: and 279 more faults" in refused.err
    run_inside(*command, "--code", "-1=unjudged").fine()
    out = run_inside("export", "qrels", "--unjudged", "-1", *made).fine().out.splitlines()
    counts = Counter(line.split()[3] for line in out)
    assert counts == {"-1": 304, "0": 2818, "1": 462, "2": 14, "3": 77, "4": 6}
    lines = gzip.decompress(qrels.read_bytes()).decode().splitlines()
    assert sorted(out) == sorted(" ".join(line.split()) for line in lines)


# A real pool of seven runs.


@pytest.mark.vector("Web-Table-Retrieval-Benchmark, commit 9309976")
def test_web_table_pool_holds_every_judged_pair(tmp_path: Path) -> None:
    """Twenty documents of the seven runs are 7,032 pairs; 6,949 of them are judged, none outside.

    The grades are written as floats. Most of the 83 unjudged pairs are in five topics.
    """
    data = shared("wtr-pool")
    made = ("--collection", tmp_path / "c.db")
    run_inside("init", "--scale", "0-2", *made).fine()
    run_inside("import", "runs", *sorted((data / "pool-runs").iterdir()), *made).fine()
    said = run_inside("pool", "--depth", "20", *made).fine().err
    assert "7,032 pairs to judge in 60 topics" in said
    qrels = data / "rel_table_qrels.txt.gz"
    said = run_inside("import", "judgements", qrels, "--judge", "crowd", *made).fine().err
    assert "6,949 grades written as floats" in said
    rows = run_inside("status", "--by-topic", "--format", "json", *made).fine().json()
    totals = {state: sum(row[state] for row in rows) for state in ("pooled", "judged", "unjudged")}
    assert totals == {"pooled": 7032, "judged": 6949, "unjudged": 83}
    assert {row["outside"] for row in rows} == {0}
    left = {row["topic"]: row["unjudged"] for row in rows}
    assert {topic: left[topic] for topic in ("28", "2", "40", "9", "16")} == {
        "28": 15, "2": 14, "40": 7, "9": 5, "16": 4,
    }  # fmt: skip
    assert [sum(row[f"grade_{grade}"] for row in rows) for grade in (0, 1, 2)] == [4703, 1271, 975]


_DAY = re.compile(r"(?<=Written by pooler )\S+ on [0-9-]+")
FILES = ("topics.covid-round1.xml", "qrels-rnd1.txt.gz", "leaderboard.csv", "runs-top120")


def made(folder: Path, programs: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    words = [sys.executable, ROOT / "docs" / "trec_covid.py", *files, folder]
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    return subprocess.run([*map(str, words)], env=env, capture_output=True, text=True, check=False)


def test_it_makes_the_same_bytes_twice(programs: Path, tmp_path: Path) -> None:
    """All but the collection, of every twelfth run; scores are the official ones, qrels the published ones.

    What it makes of all runs is on the page docs/trec-covid.md, which a test of its own runs.
    """
    listed = read_lines(data_path("leaderboard.csv"))
    board = write(tmp_path / "leaderboard.csv", *listed[:1], *listed[1::12])
    files = [*map(data_path, FILES[:2]), board, data_path(FILES[3])]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        ran = made(folder, programs, *files)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "12 of 12 runs have the P@5 and nDCG@10 that were published" in ran.stdout
    names = [{path.name for path in folder.iterdir()} for folder in folders]
    assert names[0] == names[1] > {"report.html", "scores.tsv", "round1.qrels"}
    for name in names[0] - {"collection.db", "runs"}:
        one, two = (_DAY.sub("", (folder / name).read_text("utf-8")) for folder in folders)
        assert one == two, name


def test_missing_runs_are_named_before_anything_is_made(programs: Path, tmp_path: Path) -> None:
    """A folder of runs that lacks some of the leaderboard's is refused, and so is one that is there."""
    files = [data_path(name) for name in FILES[:3]]
    (tmp_path / "runs").mkdir()
    ran = made(tmp_path / "new", programs, *files, tmp_path / "runs")
    assert ran.returncode == 1
    assert ran.stderr.startswith("143 runs are not in the folder of runs: 10x10.prf.unipd.it, ")
    assert not (tmp_path / "new").exists()
    assert made(tmp_path, programs, *files, tmp_path / "runs").stderr.startswith("usage: ")
