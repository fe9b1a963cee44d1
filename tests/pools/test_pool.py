"""`pooler pool`: which documents of files and collections are chosen, what is said of them, and refused."""

from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter, defaultdict
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pooler as p
from pooler import pool
from pooler.messages import Listener, listening
from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import FileRuns
from pooler.reading.tops import RunTop
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, SamplingStrategy
from store.collection import Collection
from store.errors import ArgumentError
from store.ranking import Order
from store.records import Topic
from tests.helpers.run import GARDEN, Cli, read_run_list, read_trec, run_process, write
from tests.helpers.strategies import ids
from tests.helpers.strategy_play import top_run

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
        assert run["sha256"] == sha256(content).hexdigest()
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
    for budget in (7, 500):
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


def test_two_files_of_one_tag_may_be_the_same_file_twice(cli: Cli, here: Path) -> None:
    """Both are named; that one may go is said where they have the same bytes."""
    for second, is_same in (("1 Q0 a 1 2 x", True), ("1 Q0 b 1 2 x", False)):
        write(here / "one.run", "1 Q0 a 1 2 x")
        write(here / "two.run", second)
        told = cli("pool", "two.run", "one.run").failed(1).err
        assert "run tag `x` is that of two files, `one.run` and `two.run`" in told
        assert ("the files have the same bytes: leave one out" in told) == is_same


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


run_contents = st.dictionaries(
    ids, st.lists(ids, min_size=1, max_size=6, unique=True), min_size=1, max_size=3
)
systems = st.dictionaries(ids, run_contents, min_size=1, max_size=4)


@given(contents=systems, depth=st.integers(1, 6), data=st.data())
def test_build_pool_equals_counting_by_hand(
    contents: dict[str, dict[str, list[str]]], depth: int, data: st.DataObject
) -> None:
    """Pairs, sizes, overlap, uniques and short rankings are those of a plain count."""

    def built(runs: list[RunTop]) -> PoolBuild:
        return PoolBuild(FileRuns(runs), Plan(), version="1")

    runs = [top_run(tag, topics, depth=depth) for tag, topics in contents.items()]
    made = built(runs)
    entries = [*made.whole().entries]
    owners: dict[tuple[str, str], set[str]] = {}
    for tag, topics in contents.items():
        for topic, docnos in topics.items():
            for docno in docnos[:depth]:
                owners.setdefault((topic, docno), set()).add(tag)
    facts = made.statistics
    assert {(entry.topic, entry.docno) for entry in entries} == set(owners)
    assert facts.total == len(owners) == len(entries)
    assert facts.sizes == {
        topic: sum(pair[0] == topic for pair in owners) for topic in {pair[0] for pair in owners}
    }
    counts = [len(tags) for tags in owners.values()]
    assert facts.overlap == {count: counts.count(count) for count in sorted(set(counts))}
    assert facts.unique == {tag: sum(tags == {tag} for tags in owners.values()) for tag in contents}
    lengths = [len(docnos) for topics in contents.values() for docnos in topics.values()]
    assert facts.n_rankings == len(lengths)
    assert facts.n_short == sum(length < depth for length in lengths)
    # The order in which the runs are given changes nothing.
    again = built(data.draw(st.permutations(runs)))
    assert [*again.whole().entries] == entries
    assert (again.statistics.overlap, again.statistics.unique) == (facts.overlap, facts.unique)


@pytest.mark.vector("PoolBiasEstimators src/test/resources/TEST/TOY, commit ce84a2d")
def test_toy_runs_have_the_known_sizes_and_uniques() -> None:
    """Sizes as counted from the files; at depth 3 in topic 1 A to E bring 1, 2, 2, 3, 3 documents alone."""
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "toy-pool" / "runs"
    if not folder.exists():
        pytest.skip("the toy pool is not here")
    runs = sorted(map(str, folder.iterdir()))
    sizes = {1: [5, 4, 5], 2: [9, 8, 9], 3: [13, 12, 13], 5: [20, 20, 20], 10: [40, 38, 36]}
    assert {depth: p.pool(runs, depth=depth).sizes.tolist() for depth in sizes} == sizes
    brought: dict[str, list[str]] = {}
    for line in p.pool(runs, depth=3, annotated=True).file_lines(annotated=True):
        topic, docno, tag, *_ = line.split()
        if topic == "1":
            brought.setdefault(docno, []).append(tag)
    alone = Counter(tags[0] for tags in brought.values() if len(tags) == 1)
    assert alone == {"A": 1, "B": 2, "C": 2, "D": 3, "E": 3}


def test_topics_are_in_natural_order_and_samples_say_their_chances() -> None:
    """Topic 9 comes before topic 10, and `009` is another; two of four documents had a chance of 2/4 each."""
    runs = {"x": {"10": {"b": 2.0, "a": 1.0}, "9": {"c": 1.0}, "009": {"c": 1.0}}}
    assert list(pool(runs, depth=2).file_lines()) == ["009 c", "9 c", "10 a", "10 b"]
    ranked = {"x": {"1": {docno: -float(rank) for rank, docno in enumerate("abcd")}}}
    entries = pool(ranked, strategy="uniform", budget=2, seed=1).pool.entries
    assert sorted(entry.docno for entry in entries) == ["a", "b", "c", "d"]
    assert {(entry.stratum, entry.inclusion_probability) for entry in entries} == {(1, 0.5)}


def test_build_pool_manifest_says_how_to_build_it_again() -> None:
    """The manifest holds everything, in JSON values, without times and folders."""
    runs = [
        top_run("y", {"2": ["b", "a", "c"], "10": ["a"]}, depth=2, group="acme"),
        top_run("x", {"2": ["a"]}, depth=2),
    ]
    pool = PoolBuild(FileRuns(runs), Plan(seed=7, name="first", round="1.5"), version="1").whole()
    assert (pool.name, pool.round, pool.run_tags) == ("first", "1.5", ("x", "y"))
    facts = ("tag", "group", "contributes", "file", "sha256", "topics", "documents")
    assert json.loads(json.dumps(pool.manifest)) == {
        "tool": "pooler",
        "version": "1",
        "name": "first",
        "round": "1.5",
        "strategy": "depth",
        "parameters": {"depth": 2},
        "order": "trec",
        "out_order": "docno",
        "seed": 7,
        "runs": [
            dict(zip(facts, ("x", "", True, "x.run", "sha-x", 1, 1), strict=True)),
            dict(zip(facts, ("y", "acme", True, "y.run", "sha-y", 2, 4), strict=True)),
        ],
        "topics": 2,
        "pairs": 3,
        "sizes": {"2": 2, "10": 1},
    }


def test_manifest_says_what_was_left_out() -> None:
    """Two pools without different pairs have different manifests: how many, and their hash."""
    runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}}
    some = [{("1", "a")}, {("1", "b")}, {("1", "b"), ("1", "a")}]
    one, other, both = (pool(runs, without=pairs).manifest["without"] for pairs in some)
    # The hash of the sorted lines: sha256sum of "1 a" and of "1 a", "1 b", each with its newline.
    assert one == {"pairs": 1, "sha256": sha256(b"1 a\n").hexdigest()} != other
    assert both == {"pairs": 2, "sha256": sha256(b"1 a\n1 b\n").hexdigest()}
    assert "without" not in pool(runs).manifest


def test_a_document_not_chosen_is_nobodys() -> None:
    """A budget of two a topic by the number of runs takes x and y of topic 1, which no run has alone."""
    # At depth 2 topic 1 has x of a and c, y of all, w of b; topic 2 has x of a, u and t of c.
    lists = {"a": {"1": "xyz", "2": "x"}, "b": {"1": "ywv"}, "c": {"1": "xy", "2": "ut"}}
    runs = {
        tag: {topic: {docno: -float(rank) for rank, docno in enumerate(row)} for topic, row in of.items()}
        for tag, of in lists.items()
    }
    found = pool(runs, depth=2, strategy="count", budget=2)
    assert (found.sizes.tolist(), found.statistics.overlap) == ([2, 2], {1: 2, 2: 1, 3: 1})
    assert (found.unique.sum(), found.unique[found.runs.index("b")]) == (2, 0)
