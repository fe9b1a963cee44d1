"""Pools of Spark: the bytes, the words and the faults of one machine."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

import pooler as p
from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import FileRuns
from pooler.reading.run_list import as_entries
from pooler.reading.tops import read_tops
from pooler.spark import SparkRuns
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, ParameterValue, SamplingStrategy
from store.ranking import ORDERS, Order
from tests.benchmarks.generate import generate
from tests.helpers.run import Cli, Outcome, write, write_run
from tests.trec_covid import data_path

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.xdist_group("spark")]
MUST: dict[str, ParameterValue] = {"strata": "1:3:1,4:8:0.5"}
"""A parameter that has no default and is no number."""
CHOOSING = [row for row in STRATEGIES.values() if not isinstance(row, AdaptiveStrategy)]


def both(cli: Cli, here: Path, *arguments: str) -> list[tuple[Outcome, dict[str, bytes]]]:
    """Pool with each engine; return what was said, and the pool and manifest that were written."""
    found = []
    for engine in ("python", "spark"):
        said = cli("pool", *arguments, "--engine", engine, "--out", "new.txt")
        files = {path.name: path.read_bytes() for path in sorted(here.glob("new.txt*"))}
        for name in files:
            (here / name).unlink()
        found.append((said, files))
    return found


@pytest.mark.parametrize(
    "options",
    [
        "--depth 5",
        "--depth 20 --strategy rrf --budget 12",
        "--depth 20 --strategy comb-mnz --budget 7 --order docno-asc",
        "--depth 20 --strategy stratified --param strata=1:5:1,6:20:0.2 --seed 1 --order rank",
        "--depth 3 --annotated --order file",
        "--depth 8 --minus old.txt --budget 4",
    ],
)
def test_pool_manifest_and_words_are_those_of_one_machine(
    cli: Cli, garden: Path, spark: None, options: str
) -> None:
    """The sample collection, one run of which does not contribute: nothing that is written differs."""
    cli("pool", "--runs", "runs.tsv", "--depth", "4", "--out", "old.txt").fine()
    here, there = both(cli, garden, "--runs", "runs.tsv", *options.split())
    assert here[0].code == 0
    assert sorted(here[1]) == ["new.txt", "new.txt.manifest.json"]
    assert there == here


@pytest.mark.parametrize(
    ("order", "rows"),
    [(order, CHOOSING[place :: len(ORDERS)]) for place, order in enumerate(ORDERS)]
    + [pytest.param("trec", CHOOSING, marks=pytest.mark.long)],
    ids=[*ORDERS, "all"],
)
def test_every_strategy_chooses_the_same(
    tmp_path: Path, spark: None, order: Order, rows: list[AnyStrategy]
) -> None:
    """Every fixed and sampling strategy, in every rank order, with and without budgets."""
    files = as_entries([str(file) for file in generate(tmp_path, runs=4, topics=5, documents=30, seed=7)])
    there = SparkRuns(files, 12, order=order, lenient=False, with_scores=True)
    here = FileRuns(read_tops(files, 12, order=order))
    assert there.of_topic(here.topics[-1]).docnos == here.of_topic(here.topics[-1]).docnos
    for number, row in enumerate(rows):
        must = [one.name for one in row.parameters if one.default is None]
        given = {name: MUST.get(name, 0.9) for name in must}
        budgets: dict[str, int] = {"budget": 5} if number % 2 else {}
        if isinstance(row, SamplingStrategy):
            budgets = {"budget": 25}
        plan = Plan(strategy=row.name, parameters=given, seed=number, **budgets)
        one, other = (PoolBuild(runs, plan, version="1") for runs in (here, there))
        assert other.whole() == one.whole(), row.name
        for name in ("sizes", "overlap", "unique", "ties_at_cut", "n_rankings", "n_short", "n_constant"):
            assert getattr(other.statistics, name) == getattr(one.statistics, name), row.name


def test_faults_are_told_as_on_one_machine(cli: Cli, here: Path, spark: None) -> None:
    """Two faults of a file with their lines, then the other files with faults; nothing is written."""
    good = write_run(here, "good", {"1": "abc", "2": "xyz"})
    write(here / "bad.run", "1 Q0 a 1 3 bad", "1 Q0 b 2 2 bad more", "1 Q0 c 3 one bad")
    (here / "cut.gz").write_bytes(gzip.compress((here / good).read_bytes())[:-9])
    (here / "folder").mkdir()
    one, other = both(cli, here, good, "bad.run", "cut.gz", "none.run", "folder", good, "--depth", "2")
    assert one[0].failed(1).err.startswith("error: bad.run:2: expected 6 fields, got 7\nbad.run:3: ")
    assert "cannot be read either: `cut.gz`, `none.run`, `folder`" in one[0].err
    assert other == one
    assert not one[1]


def test_odd_runs_are_pooled_alike(cli: Cli, here: Path, spark: None) -> None:
    """Topics and docnos beyond ASCII, a run of two lines, topics of one run alone, one that none feeds."""
    write_run(here, "é", {"日本": "äöü", "10": "xyz", "9": "x"})
    write_run(here, "one", {"só": "z", "9": "x"})
    write_run(here, "fed", {"only": "z", "9": "ab"})
    write(
        here / "list", "file\tcontributes\tgroup", "é.run\tyes\tグループ", "one.run\tyes\t", "fed.run\tno\t"
    )
    one, other = both(cli, here, "--runs", "list", "--depth", "2", "--annotated", "--budget", "2")
    assert one[0].code == 0
    assert other == one


@pytest.mark.parametrize("what", ["tags", "tag-of-list", "nobody", "rank"])
def test_what_is_wrong_with_runs_together_is_told_alike(cli: Cli, here: Path, spark: None, what: str) -> None:
    """Two files of one tag, a tag the list does not state, no run that feeds pools, ranks that are none."""
    good = write_run(here, "good", {"1": "abc"})
    write(here / "again.run", "1 Q0 a x 3 good")
    write(here / "list", "file\ttag\tcontributes", f"{good}\t{'other' if what == 'tag-of-list' else ''}\tno")
    arguments = {"tags": (good, "again.run"), "rank": ("again.run", "--order", "rank")}
    one, other = both(cli, here, *arguments.get(what, ("--runs", "list")))
    assert one[0].failed(1)
    assert other == one


def test_files_of_hadoop_are_read_by_uri(cli: Cli, garden: Path, spark: None, far: str) -> None:
    """Through Hadoop by viewfs://, odd names and a pattern, and by file://: the same bytes."""
    runs = sorted((garden / "runs").glob("*.run"))
    names = ["a 1.run", "é a[1].gz", *(f"runs/{run.name}" for run in runs[2:])]
    for run, name in zip(runs, names[:2], strict=False):
        content = run.read_bytes()
        (garden / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    here = cli("pool", *names, "--depth", "9", "--out", "here.txt").fine()
    uris = [f"{far}/{names[0]}", *(f"file://{garden}/{name}".replace(" ", "%20") for name in names[1:3])]
    uris.append(f"{far}/runs/[!b]*.run")
    listed = [run for run in runs[3:] if run.name.startswith("b")]
    uris += [f"{far}/runs/{run.name}" for run in listed]
    there = cli("pool", *uris, "--depth", "9", "--out", "there.txt", "--engine", "spark").fine()
    assert there == here
    for end in ("", ".manifest.json"):
        assert (garden / f"there.txt{end}").read_bytes() == (garden / f"here.txt{end}").read_bytes()


def test_faults_of_hadoop_name_the_uri(cli: Cli, here: Path, spark: None, far: str) -> None:
    """A fault in a file, a file that is not there, one that Hadoop hides: by URI and line."""
    write(here / "bad.run", "1 Q0 a 1 3 bad", "1 Q0 b 2 2 bad more")
    write_run(here, "_x", {"1": "ab"})
    files = [f"{far}/{name}" for name in ("bad.run", "none.run", "_x.run", "no*.run")]
    said = cli("pool", *files, "--engine", "spark").failed(1).err
    others = ", ".join(f"`{file}`" for file in files[1:])
    assert said.startswith(f"error: {files[0]}:2: expected 6 fields, got 7\nhint: ")
    assert said.endswith(f"; cannot be read either: {others}\n")


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("hdfs://127.0.0.1:1/x.run", "cannot be read (ConnectException: Connection refused)"),
        ("hdfs://no-such-host.invalid/x.run", "cannot be read (UnknownHostException: no-such-host.invalid)"),
        ("s3a://bucket/x.run", "cannot be read (ClassNotFoundException: "),
        (
            "gopher://host/x.run",
            'cannot be read (UnsupportedFileSystemException: No FileSystem for scheme "gopher"',
        ),
    ],
)
def test_file_system_that_does_not_answer_is_told_in_a_line(
    cli: Cli, here: Path, spark: None, uri: str, words: str
) -> None:
    """Nobody there, no such host, no driver for it: one line and a hint, and nothing of Java's own."""
    said = cli("pool", uri, "--engine", "spark").failed(1).err
    first, hint = said.splitlines()
    assert first.startswith(f"error: {uri}: {words}")
    assert hint.startswith("hint: a URI is read by Hadoop")


def test_runs_that_are_no_files_are_refused(cli: Cli, here: Path, spark: None) -> None:
    """Standard input, and runs in memory, cannot go to a worker."""
    said = cli("pool", "-", "--engine", "spark").failed(1).err
    assert said.startswith(
        "error: `RUN` must be files: what can be read but once cannot go to a worker, but got '-'"
    )
    with pytest.raises(p.ArgumentError, match="`engine` must not be spark for runs in memory"):
        p.pool({"a": {"1": {"x": 1.0}}}, engine="spark")


def test_python_gets_the_same_result(garden: Path, cli: Cli, spark: None) -> None:
    """The function of the API returns what that of one machine does, annotated lines too."""
    here, there = (
        p.pool(str(garden / "runs/*.run"), depth=6, annotated=True, engine=engine)
        for engine in ("python", "spark")
    )
    assert there.manifest == here.manifest
    assert [*there.file_lines(annotated=True)] == [*here.file_lines(annotated=True)]
    assert there.table("documents").to_records() == here.table("documents").to_records()
    assert there.ties_at_cut == here.ties_at_cut


@pytest.mark.long
def test_trec_covid_has_the_hash_of_one_machine(cli: Cli, here: Path, spark: None) -> None:
    """All 143 runs of TREC-COVID, depth 100: the pool that a plain reading of the files gives."""
    files = sorted(data_path("runs-top120").glob("*.gz"))
    assert len(files) == 143
    (one, written), (other, again) = both(cli, here, *map(str, files), "--depth", "100")
    assert other == one.fine()
    assert again == written
    top = {}
    for file in files:
        lists: dict[str, list[tuple[float, str]]] = {}
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                topic, _, docno, _, score, _ = line.split()
                lists.setdefault(topic, []).append((float(score), docno))
        for topic, documents in lists.items():
            top.setdefault(int(topic), set()).update(docno for _, docno in sorted(documents)[-100:])
    plain = "".join(f"{topic} {docno}\n" for topic in sorted(top) for docno in sorted(top[topic]))
    assert hashlib.sha256(again["new.txt"]).digest() == hashlib.sha256(plain.encode()).digest()
