"""`pooler pool` and `check`: files and collections, rounds, choices that are refused."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import shutil
from collections import Counter, defaultdict
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import get_args

import pytest

import pooler as p
from pooler import check, pool
from pooler.messages import Listener, listening
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, SamplingStrategy
from store.collection import Collection
from store.errors import ArgumentError, PoolerError
from store.ranking import Order
from store.records import Topic
from tests.helpers.run import GARDEN, Cli, read_lines, read_run_list, read_trec, run_process, write, write_run
from tests.helpers.trec_covid import data_path

ORDERS = get_args(Order)


def files_of(out: Path) -> tuple[bytes, bytes]:
    """Return the bytes of a pool and of its manifest."""
    return out.read_bytes(), Path(f"{out}.manifest.json").read_bytes()


def test_pool_is_the_union_of_the_first_documents(cli: Cli, garden: Path) -> None:
    """A plain count of the first five of every contributing run gives the same pairs and order."""
    union: dict[str, set[str]] = defaultdict(set)
    for row in read_run_list(garden / "runs.tsv"):
        if row["contributes"] == "no":
            continue
        lines = read_trec(garden / row["file"], (0, 2, 4))
        for topic, ranked in itertools.groupby(lines, key=lambda line: line[0]):
            best = sorted(ranked, key=lambda line: line[1], reverse=True)
            best.sort(key=lambda line: -float(line[2]))
            union[topic].update(docno for _, docno, _ in best[:5])
    expected = [f"{topic} {docno}" for topic in sorted(union) for docno in sorted(union[topic])]
    answer = cli("pool", "--runs", "runs.tsv", "--depth", "5").fine()
    assert answer.out.splitlines() == expected
    assert len(expected) == 84
    assert "84 pairs to judge in 8 topics, 8 to 15 per topic; depth 5 of 8 runs" in answer.err


@pytest.mark.parametrize("n_topics", [12, 13])
def test_sizes_of_many_topics_are_their_range(n_topics: int, cli: Cli, here: Path) -> None:
    """Each topic is named while that is one line to read."""
    write(
        here / "x.run",
        *(f"{topic} Q0 d{one} 1 {-one} x" for topic in range(n_topics) for one in range(topic + 1)),
    )
    said = cli("pool", "x.run", "--depth", "9", "--out", "x.pool").fine().err
    assert "1 to 9 per topic" in said
    assert ("\n  0: 1, 1: 2, 2: 3, 3: 4, " in said) == (n_topics == 12)


def test_pool_written_twice_is_the_same_bytes(cli: Cli, garden: Path) -> None:
    """The same input gives the same pool and manifest, also when the runs are named backwards."""
    runs = sorted(str(path.relative_to(garden)) for path in (garden / "runs").iterdir())
    options = ("--depth", "4", "--strategy", "uniform", "--budget", "3", "--seed", "11")
    cli("pool", *runs, "--out", garden / "first", *options).fine()
    cli("pool", *reversed(runs), "--out", garden / "second", *options).fine()
    assert files_of(garden / "first") == files_of(garden / "second")
    cli("pool", *runs, "--out", garden / "third", *options[:-1], "12").fine()
    assert files_of(garden / "third")[0] != files_of(garden / "first")[0]


def test_pool_on_stdout_is_the_pool_in_the_file(garden: Path) -> None:
    """Standard output has the bytes of `--out`, whatever the locale; words are on stderr."""
    write(garden / "odd.run", 'é Q0 "dö" 1 1.0 odd', "é Q0 日本 2 0.5 odd")
    settings_of_latin = {"PYTHONIOENCODING": "latin-1", "LC_ALL": "C"}
    to_file = run_process("pool", "odd.run", "--out", "pool.txt", folder=garden)
    to_pipe = run_process("pool", "odd.run", folder=garden, settings=settings_of_latin)
    assert (to_file.returncode, to_pipe.returncode) == (0, 0)
    assert to_file.stdout == b""
    assert to_pipe.stdout == (garden / "pool.txt").read_bytes()
    assert to_pipe.stdout.decode() == 'é "dö"\né 日本\n'
    assert b"2 pairs to judge in 1 topic" in to_pipe.stderr


def test_pool_reads_a_run_and_a_list_from_stdin(cli: Cli, garden: Path) -> None:
    """`-` is a run among files, or a list of runs; both give the pool of the files."""
    run = (garden / "runs" / "bm25-words.run").read_bytes()
    of_files = cli("pool", "runs/bm25-words.run", "runs/rm3-bigrams.run", "--depth", "5").fine().out
    piped = cli("pool", "-", "runs/rm3-bigrams.run", "--depth", "5", stdin=run).fine()
    assert piped.out == of_files
    listed = b"file\nruns/bm25-words.run\nruns/rm3-bigrams.run\n"
    assert cli("pool", "--runs", "-", "--depth", "5", stdin=listed).fine().out == of_files


def test_manifest_says_what_the_files_were(cli: Cli, garden: Path) -> None:
    """The manifest has the hash of every run, contributing or not, and no folder and no time."""
    cli("pool", "--runs", "runs.tsv", "--depth", "5", "--out", garden / "pool.txt").fine()
    manifest = json.loads((garden / "pool.txt.manifest.json").read_text("utf-8"))
    rows = {row["tag"]: row for row in read_run_list(garden / "runs.tsv")}
    assert [run["tag"] for run in manifest["runs"]] == sorted(rows)
    for run in manifest["runs"]:
        row = rows[run["tag"]]
        content = (garden / row["file"]).read_bytes()
        assert run["sha256"] == hashlib.sha256(content).hexdigest()
        assert run["file"] == Path(row["file"]).name
        assert run["documents"] == len(content.splitlines())
        assert run["contributes"] is (row["contributes"] == "yes")
    assert sum(manifest["sizes"].values()) == manifest["pairs"] == 84
    assert str(garden) not in json.dumps(manifest)


def test_manifest_goes_where_it_is_asked(cli: Cli, garden: Path) -> None:
    """`--manifest` names the manifest's file, also when the pool goes to stdout."""
    answer = cli("pool", "runs/bm25-words.run", "--depth", "1", "--manifest", "m.json").fine()
    assert len(answer.out.splitlines()) == 8
    assert json.loads((garden / "m.json").read_text("utf-8"))["pairs"] == 8
    assert not list(garden.glob("*.manifest.json"))


def test_ties_at_the_cut_are_told(cli: Cli, here: Path) -> None:
    """When the tie rule decides who is in, stderr says of how many rankings and names the worst."""
    write(here / "flat.run", *[f"1 Q0 d{number} {number} 1.0 flat" for number in range(5)])
    answer = cli("pool", "flat.run", "--depth", "2").fine()
    assert answer.out == "1 d3\n1 d4\n"
    assert "warning: 1 of 1 rankings have ties across depth 2" in answer.err
    assert "5 documents of run flat in topic 1: 2 in, 3 out" in answer.err
    assert cli("pool", "flat.run", "--depth", "2", "--order", "docno-asc").out == "1 d0\n1 d1\n"


def test_order_changes_the_pool_of_runs_with_ties(cli: Cli, here: Path) -> None:
    """Each order takes the documents that its rule says, worked out by hand."""
    # 16.00000001 and 16.0 are one 32-bit float; the stated ranks say c, a, b.
    write(here / "t.run", "1 Q0 b 3 16.00000001 t", "1 Q0 c 1 16.0 t", "1 Q0 a 2 16.0 t")
    first = {
        order: cli("pool", "t.run", "--depth", "1", "--order", order).fine().out.split()[1]
        for order in ORDERS
    }
    assert first == {"trec": "b", "trec9": "c", "docno-asc": "b", "rank": "c", "file": "b"}
    two = {
        order: cli("pool", "t.run", "--depth", "2", "--order", order).fine().out.split()[1::2]
        for order in ORDERS
    }
    assert two == {
        "trec": ["b", "c"],
        "trec9": ["b", "c"],
        "docno-asc": ["a", "b"],
        "rank": ["a", "c"],
        "file": ["b", "c"],
    }


def test_file_name_that_is_no_utf8_is_escaped_in_the_manifest(garden: Path) -> None:
    """A run file whose name is no UTF-8 is pooled, and its manifest is JSON all the same."""
    name = b"caf\xe9.run"
    shutil.copyfile(GARDEN / "runs" / "bm25-words.run", bytes(garden) + b"/" + name)
    ran = run_process("pool", name, "--depth", "1", "--out", "pool.txt", folder=garden)
    assert ran.returncode == 0, ran.stderr
    manifest = json.loads((garden / "pool.txt.manifest.json").read_text("utf-8"))
    assert manifest["runs"][0]["file"] == "caf\udce9.run"


def test_file_that_is_no_earlier_pool_is_not_overwritten(cli: Cli, garden: Path) -> None:
    """`--out *.run` names the first run file by mistake; an earlier pool is replaced as asked."""
    runs = ("runs/bm25-words.run", "runs/rm3-bigrams.run")
    before = (garden / runs[0]).read_bytes()
    refused = cli("pool", "--depth", "2", "--out", *runs).failed(1)
    assert "already exists, and is not an earlier result" in refused.err
    assert (garden / runs[0]).read_bytes() == before
    cli("pool", *runs, "--depth", "2", "--out", "p.txt").fine()
    cli("pool", *runs, "--depth", "3", "--out", "p.txt").fine()
    same = cli("pool", *runs, "--out", "q.txt", "--manifest", "q.txt").failed(1)
    assert "cannot be both" in same.err


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


@pytest.mark.parametrize(("row", "order"), [*zip(AT_ONCE, cycle(ORDERS), strict=False)])
def test_pools_of_files_and_of_a_collection_have_the_same_bytes(
    cli: Cli, judged: Path, row: AnyStrategy, order: str
) -> None:
    """With every strategy, in every rank order: the same pool and manifest both ways."""
    common = [*options_of(row.name), "--depth", "8", "--name", "other", "--order", order, "--round", "2"]
    common += ["--annotated"] * (row.name in ("depth", "take"))
    cli("pool", "--runs", "runs.tsv", "--out", "a.txt", *common).fine()
    cli("pool", "--out", "b.txt", *common).fine()
    assert files_of(judged / "a.txt") == files_of(judged / "b.txt")
    assert b'"round": "2"' in files_of(judged / "b.txt")[1]


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
        (["-s", "rrf", "--param", "k"], "`--param` must be NAME=VALUE"),
        (["-s", "rrf", "--param", "k=x"], "`--param k` must be a number"),
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
        (["-s", "none.py:f"], "none.py: no such file"),
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


ISR = (
    "import numpy as np",
    "",
    "def isr(rankings, *, power=2.0):",
    '    """By 1 / rank^power, times the number of runs."""',
    "    ranks = np.arange(1, rankings.depth + 1)",
    "    return rankings.n_returning() * rankings.sum_by_rank(1 / ranks**power)",
)
SHORT_RUNS = {"a": {"1": {"x": 3.0, "y": 2.0, "z": 1.0}}, "b": {"1": {"y": 9.0, "w": 8.0}}}


@pytest.fixture
def mine(here: Path) -> Path:
    """Write a file with a strategy."""
    return write(here / "mine.py", *ISR)


def test_function_of_a_file_values_the_documents(cli: Cli, mine: Path, here: Path) -> None:
    """By inverse squares y has 2 (1/4 + 1), x 1, w 1/4 and z 1/9; parameters are those of the function."""
    found = p.pool(SHORT_RUNS, strategy="mine.py:isr")
    assert {one.docno: one.priority for one in found.pool.entries} == pytest.approx(
        {"y": 2.5, "x": 1, "w": 1 / 4, "z": 1 / 9}
    )
    assert found.manifest["strategy"] == "mine.py:isr"
    assert found.manifest["strategy_sha256"] == sha256(mine.read_bytes()).hexdigest()
    assert found.manifest["parameters"] == {"depth": 100, "power": 2.0}
    write(here / "a.run", "1 Q0 x 1 3 a", "1 Q0 y 2 2 a")
    given = ("-s", f"{mine}:isr", "--param", "power=3", "--budget", "1", "--out", "p.txt")
    cli("pool", "a.run", *given).fine()
    manifest = json.loads((here / "p.txt.manifest.json").read_text())
    assert (manifest["strategy"], manifest["parameters"]["power"]) == ("mine.py:isr", 3.0)
    assert (here / "p.txt").read_text() == "1 x\n"


def test_function_replays_and_is_added_to(cli: Cli, judged: Path) -> None:
    """`replay` compares it, and a pool of it in a collection goes on with --add."""
    write(judged / "mine.py", *ISR)
    rows = cli("replay", "--qrels", "strict", "-s", "take", "-s", "mine.py:isr:power=1", "--format", "json")
    assert {one["strategy"] for one in rows.fine().json()} == {"take", "mine.py:isr:power=1"}
    cli("pool", "-s", "mine.py:isr", "--budget", "3", "--name", "own").fine()
    cli("pool", "--add", "--budget", "40", "--name", "more").fine()
    manifests = {one["pool"]: one for one in cli("show", "pools", "--format", "json").fine().json()}
    assert manifests["more"]["strategy"] == "mine.py:isr"
    write(judged / "mine.py", *ISR, "# another file")
    refused = cli("pool", "-s", "mine.py:isr", "--budget", "3", "--name", "own").failed(3).err
    assert "the file of its strategy" in refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(rankings):\n    return 1 / 0", "`mine.py:f`, topic `1`: line 2: ZeroDivisionError: division"),
        ("def f(rankings):\n    return [1.0]", "`mine.py:f`, topic `1`: must return 4 finite numbers"),
        ("def f(rankings):\n    return [float('nan')] * 4", "must return 4 finite numbers"),
        ("def f(rankings):\n    rankings.documents[0] = 0", "line 2: ValueError: assignment destination is"),
        ("def f(rankings, *more): ...", "parameter `more` must have a name, and be a number or a text"),
        ("def f(rankings, *, is_x=True): ...", "parameter `is_x` must have a name"),
        ("def f(rankings, *, k): ...", "must be given: a number"),
        ("def g(rankings): ...", "unknown function `f`; known: `g`"),
        ("def f(rankings)", "mine.py: line 1: SyntaxError: expected ':'"),
        ("import none_of_these", "mine.py: line 1: ModuleNotFoundError: No module named 'none_of_these'"),
    ],
)
def test_mistakes_are_told_in_one_line(here: Path, text: str, words: str) -> None:
    """With the file and its line, or the topic."""
    write(here / "mine.py", text)
    with pytest.raises(p.PoolerError) as told:
        p.pool(SHORT_RUNS, strategy="mine.py:f")
    assert words in str(told.value)
    assert "\n" not in str(told.value)


@pytest.fixture
def two_runs(cli: Cli, here: Path) -> Path:
    """Pool two runs of two topics at depth 2 as round 1, and judge a of topic 1 and e of 2."""
    cli("init", "--scale", "0-2").fine()
    first = write_run(here, "first", {"1": "abc", "2": "ef"})
    second = write_run(here, "second", {"1": "bdz"})
    cli("import", "runs", first, second).fine()
    cli("pool", "--depth", "2", "--round", "1", "--order", "docno-asc").fine()
    write(here / "q.txt", "1 1 a 2", "2 1 e 0", "1 1 y 1")
    cli("import", "judgements", "q.txt", "--judge", "ann").fine()
    return here


def test_add_lists_only_what_is_new(cli: Cli, two_runs: Path) -> None:
    """A late run adds its own documents as the next round, planned as the first pool was."""
    cli("import", "runs", write_run(two_runs, "late", {"1": "ay", "2": "eg"})).fine()
    answer = cli("pool", "--add", "--out", "new.txt").fine()
    # The pool had a b d of topic 1, e f of topic 2; late brings a y and e g at depth 2.
    assert read_lines(two_runs / "new.txt") == ["1 y", "2 g"]
    assert "1 of the pairs are already judged, and stay so" in answer.err
    assert "pool `pool-2`, round 2, is in the collection" in answer.err
    manifest = json.loads((two_runs / "new.txt.manifest.json").read_text())
    assert (manifest["parameters"], manifest["order"]) == ({"depth": 2}, "docno-asc")
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(7, 3, 0)]
    exported = cli("export", "qrels", "ann").fine().out.splitlines()
    assert exported == ["1 1 a 2", "1 1 y 1", "2 1 e 0"]
    again = cli("pool", "--add").fine()
    assert "every document is in a pool already: nothing to add" in again.err


def test_add_takes_what_is_said_and_keeps_the_rest(cli: Cli, two_runs: Path) -> None:
    """Deeper with --add lists what the deeper pool has more, in the same order rule."""
    cli("pool", "--add", "--depth", "3", "--name", "deep", "--round", "1.5", "-o", "new.txt").fine()
    assert read_lines(two_runs / "new.txt") == ["1 c", "1 z"]
    manifest = json.loads((two_runs / "new.txt.manifest.json").read_text())
    assert (manifest["name"], manifest["round"], manifest["order"]) == ("deep", "1.5", "docno-asc")
    # Rounds count on from the highest: after 1 and 1.5 comes 2.
    cli("pool", "--add", "-s", "rrf", "--param", "k=1", "--depth", "9").fine()


def test_add_needs_a_pool_and_a_round_it_can_count(cli: Cli, two_runs: Path) -> None:
    """Without a pool built from runs, or without a number to count on, it says what to do."""
    cli("pool", "--name", "named", "--round", "spring", "--depth", "3").fine()
    cli("import", "runs", write_run(two_runs, "late", {"3": "q"})).fine()
    assert "round 2" in cli("pool", "--add").fine().err
    cli("init", "--scale", "0-2", "--collection", "empty.db").fine()
    cli("import", "runs", "first.run", "--collection", "empty.db").fine()
    answer = cli("pool", "--add", "--collection", "empty.db").failed(1)
    assert "--add needs a pool to add to" in answer.err
    cli("pool", "--round", "spring", "--collection", "empty.db").fine()
    answer = cli("pool", "--add", "--depth", "9", "--collection", "empty.db").failed(1)
    assert "`--round` must be given, since no round is a number" in answer.err


def test_unpool_shows_and_takes_out_what_a_run_alone_brought(cli: Cli, two_runs: Path) -> None:
    """The documents leave the pool, the judged one stays judged and counts as outside."""
    dry = cli("pool", "drop", "first", "--dry-run", "--format", "json").fine()
    rows = [(row["topic"], row["docno"], row["rank"], row["state"], row["grade"]) for row in dry.json()]
    # b is second's too; a, e and f are first's alone.
    assert rows == [("1", "a", 1, "judged", 2), ("2", "e", 1, "judged", 0), ("2", "f", 2, "unjudged", None)]
    assert "3 documents that only `first` brought would leave the pools; 2 of them are judged" in dry.err
    before = cli("export", "pool").fine().out
    assert cli("pool", "drop", "first", "--format", "json").fine().json() == dry.json()
    assert cli("export", "pool").fine().out.splitlines() == ["1 b", "1 d"]
    assert len(before.splitlines()) == 5
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(2, 0, 3)]
    # What is left is the pool of the other run alone.
    cli("pool", "second.run", "--depth", "2", "--order", "docno-asc", "-o", "alone.txt").fine()
    assert read_lines(two_runs / "alone.txt") == ["1 b", "1 d"]
    answer = cli("pool", "drop", "first").failed(1)
    assert "run `first` does not feed any pool, nor will it" in answer.err
    assert "nothing to take out: it was added with --late, or taken out before" in answer.err
    assert "pooler show runs first" in answer.err
    cli("show", "runs", "first").fine()
    # It feeds no later pool either.
    assert "depth 100 of 1 run" in cli("pool", "--name", "later").fine().err


def test_unpool_refuses_what_it_cannot_tell(cli: Cli, two_runs: Path) -> None:
    """Unknown names, replaced runs, and pools whose strategy looked at every run."""
    assert "unknown run `third`" in cli("pool", "drop", "third").failed(1).err
    assert "unknown pool `pol`" in cli("pool", "drop", "first", "--pool", "pol").failed(1).err
    cli("pool", "-s", "mtf", "--name", "live").fine()
    words = "what `mtf` chose depends on every run"
    assert words in cli("pool", "drop", "first", "--pool", "live").failed(1).err
    assert words in cli("pool", "drop", "first", "--dry-run").fine().err
    write_run(two_runs, "second", {"1": "xyz"})
    answer = cli("import", "runs", "second.run", "--replace").fine()
    assert "pooler pool --replace --name pool --dry-run says" in answer.err
    cli("pool", "--replace", "--name", "pool", "--dry-run").fine()
    words = "its run `second` has been replaced since"
    assert words in cli("pool", "drop", "first", "--pool", "pool").failed(1).err
    # Without --pool both pools keep what they have, and the run feeds no later one.
    answer = cli("pool", "drop", "first", "--format", "json").fine()
    assert answer.json() == []
    assert answer.err.count("keeps its documents") == 2
    assert "depth 100 of 1 run" in cli("pool", "--name", "later").fine().err


def test_a_run_that_has_fed_no_pool_yet_feeds_no_later_one(cli: Cli, two_runs: Path) -> None:
    """A run may be withdrawn before it is pooled; nothing leaves the pools, which is said."""
    cli("import", "runs", write_run(two_runs, "new", {"1": "vw"})).fine()
    before = cli("export", "pool").fine().out
    dry = cli("pool", "drop", "new", "--dry-run").fine()
    assert "run `new` has fed no pool yet\n`new` would contribute to no later pool" in dry.err
    answer = cli("pool", "drop", "new", "--format", "json").fine()
    assert answer.json() == []
    assert "`new` contributes to no later pool" in answer.err
    assert cli("export", "pool").fine().out == before
    assert "(left out: `new`, not contributing)" in cli("pool", "--add").fine().err


def test_what_was_taken_out_comes_back_on_demand_alone(cli: Cli, two_runs: Path) -> None:
    """Importing the same file again leaves the run out, and says so; --replace lets it in."""
    cli("pool", "drop", "first").fine()
    write(two_runs / "runs.tsv", "file\tgroup\tcontributes", "first.run\tg\tyes", "second.run\tg\tyes")
    answer = cli("import", "runs", "--runs", "runs.tsv").fine()
    assert "warning: `first`: already there, and left out of pools; --replace" in answer.err
    assert "nothing to add (left out: `first`, not contributing)" in cli("pool", "--add").fine().err
    answer = cli("import", "runs", "first.run", "--replace").fine()
    assert "left out" not in answer.err
    rows = cli("diagnose", "--table", "contributions", "--format", "json").fine().json()
    assert [(row["run"], row["group"]) for row in rows] == [("first", "g"), ("second", "g")]
    assert "3 pairs to judge" in cli("pool", "--add").fine().err


def test_a_pool_can_be_withdrawn(cli: Cli, two_runs: Path) -> None:
    """Its documents are in no pool, what is judged stays, and another pool may take them."""
    assert "`RUN` must be given, or --pool NAME" in cli("pool", "drop").failed(1).err
    assert "unknown pool `pol`" in cli("pool", "drop", "--pool", "pol").failed(1).err
    words = "pool `pool` would be withdrawn: 5 documents, of which 2 are judged"
    assert words in cli("pool", "drop", "--pool", "pool", "--dry-run").fine().err
    assert "is withdrawn" in cli("pool", "drop", "--pool", "pool").fine().err
    assert "was already withdrawn" in cli("pool", "drop", "--pool", "pool").fine().err
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["outside"]) for row in status] == [(0, 3)]
    cli("pool", "--name", "again").fine()
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(7, 2, 1)]


def test_a_budget_with_add_counts_new_documents(cli: Cli, two_runs: Path) -> None:
    """Two more of every topic are two that no pool has, as far as there are any."""
    cli("import", "runs", write_run(two_runs, "late", {"1": "aqrst", "2": "e"})).fine()
    cli("pool", "--add", "-s", "take", "--depth", "5", "--budget", "2", "-o", "new.txt").fine()
    # By best rank: q at 2; then c, z (of the first two runs) and r at 3, the later docno first.
    assert read_lines(two_runs / "new.txt") == ["1 q", "1 z"]


@pytest.mark.slow
@pytest.mark.vector("TREC-COVID round 1: castorini/TREC-COVID, commit be3ed3f")
def test_late_runs_of_trec_covid(cli: Cli, here: Path) -> None:
    """To the 56 runs savantx_nist_run_3 adds 155 documents, of which 2 are judged; BBGhelani1 none."""
    with data_path("leaderboard.csv").open(encoding="utf-8", newline="") as file:
        names = [row["run"] for row in csv.DictReader(file) if row["contributed judgments"] == "yes"]
    runs = [data_path(f"runs-top120/{name}.gz") for name in names]
    late = data_path("runs-top120/savantx_nist_run_3.gz")
    options = ("--depth", "7", "--order", "docno-asc")
    cli("pool", *runs, *options, "-o", "56.txt").fine()
    assert len(read_lines(here / "56.txt")) == 6959
    cli("pool", *runs, late, *options, "--minus", "56.txt", "-o", "late.txt").fine()
    new = set(read_lines(here / "late.txt"))
    assert len(new) == 155
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", *runs).fine()
    cli("pool", *options, "--round", "1").fine()
    cli("import", "judgements", data_path("qrels-rnd1.txt.gz"), "--judge", "nist").fine()
    cli("import", "runs", late).fine()
    answer = cli("pool", "--add", "-o", "added.txt").fine()
    assert set(read_lines(here / "added.txt")) == new
    assert "2 of the pairs are already judged" in answer.err
    gone = cli("pool", "drop", "savantx_nist_run_3", "--format", "json").fine().json()
    assert {f"{row['topic']} {row['docno']}" for row in gone} == new
    assert sum(row["state"] == "judged" for row in gone) == 2
    # Its seven best of every topic are all pooled: counted by hand with a sorted list and a set.
    cli("import", "runs", data_path("runs-top120/BBGhelani1.gz")).fine()
    assert "nothing to add" in cli("pool", "--add").fine().err


def test_topics_without_a_pooled_document_are_named(cli: Cli, two_runs: Path) -> None:
    """By hand: the runs have topics 1 and 2; 3 to 14 come from a topics file, twelve in all."""
    write(two_runs / "t.tsv", *[f"{number}\ttitle {number}" for number in range(1, 15)])
    cli("import", "topics", "t.tsv").fine()
    words = (
        "warning: 12 of 14 topics without a pooled document: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and"
        " 2 more; no contributing run has a document"
    )
    dry = cli("pool", "--depth", "3", "--name", "deep", "--dry-run").fine()
    assert words in dry.err
    assert words in cli("pool", "--depth", "3", "--name", "deep").fine().err
    # A late run alone has topic 3: an adaptive pool may draw from it, and one of 1 and 2 cannot.
    cli("import", "runs", write_run(two_runs, "late", {"3": "q"})).fine()
    live = cli("pool", "-s", "mtf", "--name", "live").fine()
    assert "warning: 11 of 14 topics without a pooled document: 4, 5" in live.err


RUNS = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"d": 2.0}}, "y": {"1": {"b": 3.0, "e": 2.0}}}


class Heard(Listener):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def say(self, message: str) -> None:
        """Keep words."""
        self.words.append(message)

    def warn(self, message: str) -> None:
        """Keep a doubt."""
        self.words.append(message)


def test_a_pool_has_sizes_uniques_and_doubts() -> None:
    """What there is to doubt is in the warnings; of topics that do not meet a listener hears at once."""
    listener = Heard()
    with listening(listener):
        found = pool(RUNS, depth=2)
    alone = "1 of 2 topics of one run alone: `2`"
    assert listener.words == [alone]
    assert (found.topics, found.sizes.tolist()) == (["1", "2"], [3, 1])
    assert (found.runs, found.unique.tolist()) == (["x", "y"], [2, 1])
    assert found.warnings == (alone, "1 of 3 rankings have fewer than 2 documents")
    assert found.manifest["parameters"] == {"depth": 2}
    assert found.table("documents").to_dict()["docno"] == ["a", "b", "e", "d"]
    with pytest.raises(ArgumentError, match="annotated"):
        found.file_lines(annotated=True)
    annotated = pool(RUNS, depth=1, annotated=True)
    assert next(annotated.file_lines(annotated=True)) == "1 a x - 1 3.0"


def test_a_pool_of_memory_goes_into_a_collection(collection: Collection) -> None:
    """The pool has entries as a collection takes them."""
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    collection.pools.add(pool(RUNS, depth=1).pool)
    assert [one.pairs for one in collection.pools.all()] == [3]


def test_faults_and_warnings_are_sentences_with_their_place(tmp_path: Path) -> None:
    """A sound file is a row of kind ok; a fault has a line, and the result says whether all is well."""
    sound, broken = tmp_path / "a.run", tmp_path / "b.run"
    sound.write_text("".join(f"1 Q0 d{rank} {rank} {20 - rank} a\n" for rank in range(1, 12)))
    broken.write_text("1 Q0 d 1 nan b\n")
    found = check(sound, broken, depth=10)
    assert not found.ok
    assert check(sound).ok
    assert len(found.faults) == found.n_faults == 1
    assert found.faults[0].startswith(f"{broken}:1: ")
    assert found.warnings == ()
    kinds = {row["kind"]: row for row in found.table("check").to_records()}
    assert kinds["ok"]["count"] == 11
    assert kinds["fault"] == {**kinds["fault"], "line": 1, "code": "score", "file": str(broken)}
    assert found.settings["runs"] == (str(sound), str(broken))


def test_a_check_needs_a_file() -> None:
    """Nothing named is no success."""
    with pytest.raises(PoolerError, match="no run file is named"):
        check()


def test_two_processes_check_as_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads a file, reports come in the order named, docnos that look alike in two files too."""
    lines = {
        "a": "1 Q0 caf\u00e9 1 2 a\n1 Q0 d 2 2 a\n",
        "b": "1 Q0 cafe\u0301 0 1 b\n",
        "c": "1 Q0 d 1 nan c\n",
        "d": "1 Q9 d x 1 a\n",
    }
    files = [str(tmp_path / name) for name in (*lines, "missing")]
    for file, text in zip(files, lines.values(), strict=False):
        Path(file).write_text(text, encoding="utf-8")
    alone = check(*files, depth=1)
    monkeypatch.setattr("pooler.reading.parallel.PARALLEL_BYTES", 0)
    monkeypatch.setattr("pooler.reading.parallel.n_processors", lambda: 2)
    together = check(*files, depth=1)
    assert together.reports == alone.reports
    assert [{one.code for one in report.warnings} for report in alone.reports] == [
        {"ties", "ties-at-cut", "rank-order"},
        {"rank-zero", "look-alike"},
        set(),
        {"rank-number", "q0"},
        set(),
    ]
    assert [set(report.fault_counts) for report in alone.reports] == [
        set(),
        set(),
        {"score"},
        {"tag"},
        {"open"},
    ]
