"""Pools made by Spark are those of one machine; what it refuses, how it ends, what it holds."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
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
from tests.benchmarks.generate_scale import generate_scale
from tests.helpers.run import Cli, Outcome, environment, program, run_process, write, write_run
from tests.helpers.trec_covid import data_path


def on_spark(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that starts Spark: all of them go to one worker."""
    return pytest.mark.java(pytest.mark.slow(pytest.mark.xdist_group("spark")(test)))


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a URI under which Hadoop's own viewfs shows this session's temporary files."""
    base = tmp_path_factory.getbasetemp()
    folder = tmp_path_factory.mktemp("spark")
    settings = f"spark.hadoop.fs.viewfs.mounttable.far.link./all file://{base}\n"
    (folder / "spark-defaults.conf").write_text(settings, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "SPARK_CONF_DIR", str(folder))
        yield "viewfs://far/all"


@pytest.fixture(scope="session")
def spark(hadoop: str) -> Iterator[None]:
    """Let Spark have two processors; once started, it lasts for the session."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "SPARK_MASTER", "local[2]")
        yield


@pytest.fixture
def far(hadoop: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the URI of the test's own folder."""
    return f"{hadoop}/{tmp_path.relative_to(tmp_path_factory.getbasetemp())}"


def below(root: int) -> dict[int, str]:
    """Return the command lines of the processes that descend from one."""
    found: dict[int, str] = {}
    for pid in children(root):
        with suppress(OSError):  # it has ended
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            found |= {pid: words.decode("utf-8", "replace"), **below(pid)}
    return found


def children(pid: int) -> list[int]:
    """Return the processes that one has started, by whichever of its threads."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def workers(root: int) -> list[int]:
    """Return the workers of Python: children of Spark's daemon, which looks like them."""
    daemons = [pid for pid, words in below(root).items() if "pyspark.daemon" in words]
    return [worker for daemon in daemons for worker in children(daemon)]


def executors(root: int) -> list[int]:
    """Return the executors, each a Java of its own."""
    return [pid for pid, words in below(root).items() if "CoarseGrainedExecutorBackend" in words]


def is_running(pid: int) -> bool:
    """Say whether a process is there, and not only its name."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


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


@on_spark
@pytest.mark.parametrize(
    "options",
    [
        "--depth 20 --strategy rrf --budget 12",
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


@on_spark
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


@on_spark
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


@on_spark
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


@on_spark
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


@on_spark
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


@on_spark
def test_faults_of_hadoop_name_the_uri(cli: Cli, here: Path, spark: None, far: str) -> None:
    """A fault in a file, a file that is not there, one that Hadoop hides: by URI and line."""
    write(here / "bad.run", "1 Q0 a 1 3 bad", "1 Q0 b 2 2 bad more")
    write_run(here, "_x", {"1": "ab"})
    files = [f"{far}/{name}" for name in ("bad.run", "none.run", "_x.run", "no*.run")]
    said = cli("pool", *files, "--engine", "spark").failed(1).err
    others = ", ".join(f"`{file}`" for file in files[1:])
    assert said.startswith(f"error: {files[0]}:2: expected 6 fields, got 7\nhint: ")
    assert said.endswith(f"; cannot be read either: {others}\n")


@on_spark
@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("hdfs://127.0.0.1:1/x.run", "cannot be read (ConnectException: Connection refused)"),
        (
            "gopher://host/x.run",
            'cannot be read (UnsupportedFileSystemException: No FileSystem for scheme "gopher"',
        ),
    ],
)
def test_file_system_that_does_not_answer_is_told_in_a_line(
    cli: Cli, here: Path, spark: None, uri: str, words: str
) -> None:
    """Nobody there, no driver for it: one line and a hint, and nothing of Java's own."""
    said = cli("pool", uri, "--engine", "spark").failed(1).err
    first, hint = said.splitlines()
    assert first.startswith(f"error: {uri}: {words}")
    assert hint.startswith("hint: a URI is read by Hadoop")


@on_spark
def test_runs_that_are_no_files_are_refused(cli: Cli, here: Path, spark: None) -> None:
    """Standard input, and runs in memory, cannot go to a worker."""
    said = cli("pool", "-", "--engine", "spark").failed(1).err
    assert said.startswith(
        "error: `RUN` must be files: what can be read but once cannot go to a worker, but got '-'"
    )
    with pytest.raises(p.ArgumentError, match="`engine` must not be spark for runs in memory"):
        p.pool({"a": {"1": {"x": 1.0}}}, engine="spark")


@on_spark
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


@pytest.fixture
def run_file(here: Path) -> str:
    """Write a run."""
    return write_run(here, "a", {"1": "xyz"})


def test_without_pyspark_the_extra_is_named(cli: Cli, run_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, and what brings it."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    told = "error: pooling on Spark needs the package pyspark\nhint: pip install 'pooler[spark]'\n"
    assert cli("pool", run_file, "--engine", "spark").failed(1).err == told


@pytest.mark.parametrize("home", [None, "/nowhere"])
def test_without_java_it_is_said_what_to_install(
    here: Path, run_file: str, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    """No `java` on the PATH, or none where JAVA_HOME says."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    settings = {"PATH": "/nowhere"} | ({"JAVA_HOME": home} if home else {})
    told = run_process("pool", run_file, "--engine", "spark", folder=here, settings=settings)
    where = "in JAVA_HOME, /nowhere" if home else "on the PATH"
    assert told.stderr.decode() == (
        f"error: Spark needs Java, and there is none {where}\n"
        "hint: install a Java runtime, version 17 or later (headless is enough)\n"
    )


def test_what_does_not_go_together_is_refused(cli: Cli, run_file: str) -> None:
    """Spark for a collection, and an engine that is none."""
    cli("init").fine()
    assert "`--engine` spark is for run files" in cli("pool", "--engine", "spark").failed(1).err
    with pytest.raises(p.ArgumentError, match="`engine` must be python or spark, but got 'ray'"):
        p.pool(run_file, engine="ray")  # type: ignore[arg-type]


def test_uri_without_spark_names_the_engine(cli: Cli, run_file: str) -> None:
    """One machine reads no URI."""
    said = cli("pool", "hdfs://host/a.run").failed(1).err
    assert said == (
        "error: hdfs://host/a.run: no such file or directory\n"
        "hint: `pool` reads files by URI with --engine spark\n"
    )


PATIENCE_S = 300.0


@pytest.fixture
def runs(here: Path) -> list[str]:
    """Write some runs, as many lines as take Spark a moment."""
    return [
        f"runs/{file.name}" for file in generate(here / "runs", runs=30, topics=20, documents=600, seed=5)
    ]


@pytest.fixture
def started(here: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start `pooler pool` on Spark; its temporary files are in `tmp`."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    (here / "tmp").mkdir()
    begun: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, master: str = "local[2]") -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*program(), "pool", *arguments, "--depth", "50", "--out", "spark.txt", "--engine", "spark"],
            cwd=here,
            env=environment({"TMPDIR": str(here / "tmp"), "SPARK_MASTER": master}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def first(find: Callable[[], list[int]], process: subprocess.Popen[bytes]) -> int:
    """Wait until there is such a process."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and process.poll() is None:
        if found := find():
            return found[0]
        time.sleep(0.01)
    pytest.fail(f"there is none: {process.communicate()[1].decode()}")


def is_gone(pids: set[int]) -> bool:
    """Wait until some processes have ended."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if not any(map(is_running, pids)):
            return True
        time.sleep(0.05)
    return False


@on_spark
@pytest.mark.long
@pytest.mark.parametrize("master", ["local[2,4]", "local-cluster[2,1,1024]"])
def test_what_is_killed_in_between_changes_nothing(
    cli: Cli, here: Path, runs: list[str], started: Callable[..., subprocess.Popen[bytes]], master: str
) -> None:
    """A worker of Python dies, or one of two executors with what it had read: another takes its place."""
    process = started(*runs, master=master)
    victim = worker = first(lambda: workers(process.pid), process)
    if "cluster" in master:
        victim = next(pid for pid in executors(process.pid) if worker in below(pid))
    os.kill(victim, signal.SIGKILL)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said.decode()
    assert cli("pool", *runs, "--depth", "50", "--out", "here.txt").fine().err == said.decode()
    for end in ("", ".manifest.json"):
        assert (here / f"spark.txt{end}").read_bytes() == (here / f"here.txt{end}").read_bytes()
    assert "cluster" in master or not [*(here / "tmp").iterdir()]


@on_spark
@pytest.mark.long
@pytest.mark.parametrize(
    ("sign", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]
)
def test_interrupt_ends_all_of_it(
    here: Path,
    runs: list[str],
    started: Callable[..., subprocess.Popen[bytes]],
    sign: signal.Signals,
    code: int,
) -> None:
    """Ctrl-C on a terminal, and `kill`: one line, nothing written, no process and no file left."""
    process = started(*runs)
    first(lambda: workers(process.pid), process)
    family = set(below(process.pid))
    if sign == signal.SIGINT:
        os.killpg(process.pid, sign)
    else:
        process.send_signal(sign)
    out, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (code, b""), said.decode()
    assert said.decode() == "interrupted: what was finished stays; what was in progress is undone\n"
    assert is_gone(family)
    assert not [*(here / "tmp").iterdir()]
    assert not [*here.glob("spark.txt*")]


@on_spark
def test_java_that_cannot_run_spark_is_told_in_a_line(here: Path, run_file: str) -> None:
    """A Java that is too old: Spark's own words, the log is named."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    (here / "bin").mkdir()
    java = here / "bin" / "java"
    words = "has been compiled by a more recent version of the Java Runtime"
    java.write_text(f"#!/bin/sh\necho 'java.lang.UnsupportedClassVersionError: Main {words}' >&2\nexit 1\n")
    java.chmod(0o755)
    settings = {"JAVA_HOME": str(here), "SPARK_MASTER": "local[2]"}
    said = run_process("pool", run_file, "--engine", "spark", folder=here, settings=settings)
    first_line, hint = said.stderr.decode().splitlines()
    assert (said.returncode, said.stdout) == (1, b"")
    assert first_line.startswith("error: Spark could not start: ")
    assert hint.startswith("hint: all that Spark said: ")
    log = Path(hint.rpartition(" ")[2])
    assert words in log.read_text("utf-8")
    log.unlink()


MOST_BYTES = 1_500_000_000
ENOUGH_BYTES = 8 * 2**30
KIB = 1024


def resident_bytes(pid: int) -> int:
    """Return the memory of a process that no other one has, and its share of the rest."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it has ended
    return sum(int(line.split()[1]) * KIB for line in lines if line.startswith("Pss:"))


@pytest.mark.java
@pytest.mark.long
def test_70_million_lines_need_no_more_than_an_executor_has(here: Path) -> None:
    """10 runs of 7,000 topics by 1,000 documents; Java and its workers together, at every moment."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    if shutil.disk_usage(here).free < ENOUGH_BYTES:
        pytest.skip("not run here for want of 8 GB of disk")
    files = [str(file) for file in generate_scale(here / "runs", 10, 7000, 1000, seed=1)]
    try:
        assert run_process("pool", *files, "--out", "here.txt", folder=here, timeout_s=600).returncode == 0
        process = subprocess.Popen(
            [*program(), "pool", *files, "--out", "spark.txt", "--engine", "spark"],
            cwd=here,
            env=environment({"SPARK_MASTER": "local[2]"}),
        )
        most = 0
        while process.poll() is None:
            most = max(most, sum(map(resident_bytes, below(process.pid))))
            time.sleep(0.2)
        assert process.returncode == 0
        for end in ("", ".manifest.json"):
            assert (here / f"spark.txt{end}").read_bytes() == (here / f"here.txt{end}").read_bytes()
        assert 0 < most <= MOST_BYTES
    finally:
        shutil.rmtree(here / "runs", ignore_errors=True)
