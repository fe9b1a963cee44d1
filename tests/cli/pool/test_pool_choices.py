"""`pooler pool --strategy`: every strategy, budgets, samples, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, SamplingStrategy
from tests.helpers.run import Cli, read_lines, write

AT_ONCE = [row for row in STRATEGIES.values() if not isinstance(row, AdaptiveStrategy)]
GIVEN = {"stratified": ["--param", "strata=1:2:1,3:8:0.5"]}
"""Parameters that must be given."""


def options_of(name: str) -> list[str]:
    """Return the options that a strategy cannot do without."""
    row = STRATEGIES[name]
    options = ["--strategy", name, *GIVEN.get(name, [])]
    if isinstance(row, SamplingStrategy):
        options += ["--seed", "5"]
        if row.needs_budget:
            options += ["--budget", "6"]
    return options


@pytest.mark.parametrize("name", [row.name for row in AT_ONCE])
def test_every_strategy_pools_alike_from_files_and_collection(cli: Cli, judged: Path, name: str) -> None:
    """The same pool and manifest both ways."""
    common = ["--depth", "8", "--name", "other"]
    cli("pool", "--runs", "runs.tsv", "--out", "a.txt", *options_of(name), *common).fine()
    cli("pool", "--out", "b.txt", *options_of(name), *common).fine()
    assert (judged / "a.txt").read_bytes() == (judged / "b.txt").read_bytes()
    manifests = [(judged / f"{one}.txt.manifest.json").read_bytes() for one in "ab"]
    assert manifests[0] == manifests[1]


@pytest.mark.parametrize("name", [row.name for row in AT_ONCE if row.name != "stratified"])
def test_a_budget_is_met_exactly(cli: Cli, judged: Path, name: str) -> None:
    """Every topic has the smaller of the budget and of its union."""
    union = Counter(
        line.split()[0] for line in cli("pool", "--runs", "runs.tsv", "--depth", "8").fine().out.splitlines()
    )
    options = ["--runs", "runs.tsv", "--depth", "8", "--strategy", name, "--seed", "5"]
    for budget in (1, 7, 20, 500):
        lines = cli("pool", *options, "--budget", str(budget)).fine().out.splitlines()
        sizes = Counter(line.split()[0] for line in lines)
        assert sizes == {topic: min(budget, size) for topic, size in union.items()}


def test_take_stops_inside_a_rank(cli: Cli, here: Path) -> None:
    """With three documents: both first ones (b has it twice), then the one second rank."""
    for tag, docnos in {"x": "ac", "y": "ba", "z": "bd"}.items():
        rows = [f"1 Q0 {docno} {rank} {9 - rank} {tag}" for rank, docno in enumerate(docnos, 1)]
        write(here / f"{tag}.run", *rows)
    answer = cli("pool", "x.run", "y.run", "z.run", "-s", "take", "-b", "3")
    # Rank 1: b by two runs, a by one. Rank 2: c and d by one run each, so the later docno, d.
    assert answer.fine().out.splitlines() == ["1 a", "1 b", "1 d"]


def test_manifest_says_what_chose(cli: Cli, here: Path) -> None:
    """Strategy, all its parameters, budget and seed stand in the manifest."""
    write(here / "x.run", "1 Q0 a 1 2 x", "1 Q0 b 2 1 x")
    cli("pool", "x.run", "-s", "rrf", "--param", "k=10", "-b", "1", "-o", "p.txt").fine()
    manifest = json.loads((here / "p.txt.manifest.json").read_text())
    assert manifest["strategy"] == "rrf"
    assert manifest["parameters"] == {"depth": 100, "k": 10}
    assert (manifest["budget"], manifest["seed"]) == (1, None)
    assert read_lines(here / "p.txt") == ["1 a"]


def test_constant_scores_and_budgets_too_large_are_told(cli: Cli, here: Path) -> None:
    """They are defined, used, and said."""
    write(here / "x.run", "1 Q0 a 1 2 x", "1 Q0 b 2 2 x")
    write(here / "y.run", "1 Q0 a 1 1 y", "2 Q0 c 1 1 y")
    answer = cli("pool", "x.run", "y.run", "-s", "comb-sum", "-b", "9").fine()
    assert "3 of 3 rankings have a single score, which counts as 0.5" in answer.err
    assert "2 topics of 2 have fewer documents than the budget: all are taken" in answer.err
    assert answer.out.splitlines() == ["1 a", "1 b", "2 c"]


def test_list_names_every_strategy_with_its_source(cli: Cli) -> None:
    """Table, JSON and TSV hold the same rows."""
    rows = cli("show", "strategies", "--format", "json").fine().json()
    assert [row["strategy"] for row in rows] == list(STRATEGIES)
    assert all(row["source"] and row["summary"] for row in rows)
    assert {row["kind"] for row in rows} == {"fixed", "adaptive", "sample"}
    assert cli("show", "strategies", "--format", "tsv").fine().tsv()[0]["strategy"] == "depth"
    assert "Cormack, Clarke and Büttcher 2009" in cli("show", "strategies").fine().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-s", "rff"], "unknown strategy `rff`; known: `rrf`"),
        (["-s", "rrf", "--param", "q=1"], "unknown parameter of `rrf` `q`; known: `k`"),
        (["-s", "rrf", "--param", "k"], "`--param` must be NAME=VALUE"),
        (["-s", "rrf", "--param", "k=x"], "`--param k` must be a number"),
        (["-s", "rrf", "--param", "k=-1"], "`--param k` must be a number"),
        (["-s", "rrf", "--param", "k=nan"], "`--param k` must be a number"),
        (["-s", "rrf", "--param", "k=1", "--param", "k=2"], "must give `k` once"),
        (["-s", "stratified", "--seed", "1"], "`--param strata` must be given"),
        (["-s", "mtf"], "must choose all documents at once"),
        (["-s", "uniform", "--seed", "1"], "`--budget` is needed by `uniform`"),
        (["-s", "uniform", "-b", "3"], "`--seed` must be an integer >= 0"),
        (["--level", "1"], "is for adaptive strategies, and `depth` is not"),
        (["--add"], "`--add` is for a collection"),
        (["-s", "uniform", "--seed", "1", "-b", "1", "--minus", "q.txt"], "must not leave out"),
        (["-s", "stratified", "--seed", "1", "--param", "strata=1:101:1"], "must be >= 101"),
        (["--minus", "none.txt"], "none.txt: no such file"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    cli: Cli, here: Path, options: list[str], words: str
) -> None:
    """One line says what was wrong, and nothing is written."""
    write(here / "x.run", "1 Q0 a 1 2 x", "1 Q0 b 2 1 x", "2 Q0 a 1 1 x")
    write(here / "q.txt", "1 a")
    answer = cli("pool", "x.run", "-o", "p.txt", *options).failed(1)
    assert words in answer.err
    assert answer.out == ""
    assert not (here / "p.txt").exists()


def test_minus_leaves_out_the_pairs_of_a_pool_file(cli: Cli, here: Path) -> None:
    """Only what the file does not list is left; faults of the file are told by line."""
    write(here / "x.run", "1 Q0 a 1 2 x", "1 Q0 b 2 1 x", "2 Q0 a 1 1 x")
    write(here / "old.txt", "1 a", "", "3 z")
    assert cli("pool", "x.run", "--minus", "old.txt").fine().out.splitlines() == ["1 b", "2 a"]
    write(here / "old.txt", "1 a", "1 a 0", "1 a")
    answer = cli("pool", "x.run", "--minus", "old.txt").failed(1)
    assert "old.txt:2: expected 2 fields, topic and docno, got 3" in answer.err
    assert "old.txt:3: document `a` of topic `1` is already there, on line 1" in answer.err
