"""Run files pooled by Spark, on many machines, into the bytes of one. No other file knows Spark.

A file is one piece of work, for the reader that one machine has too, so nothing is split and no fault lost.
Its rankings go to the worker of their topic through Spark's shuffle, which keeps them on disk and makes anew
what a dead worker held; what is said of the run goes to a part of its own, which is fetched first. A topic is
pooled by the code that one machine runs.
"""

from __future__ import annotations

import atexit
import logging
import os
import pickle
import shutil
import signal
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePath
from threading import Thread, current_thread, main_thread
from typing import Any, TypeVar
from urllib.parse import unquote
from uuid import uuid4

from pooler.pools.runs import FileRuns, TopicRuns, topic_runs
from pooler.reading.run_list import RunEntry
from pooler.reading.tops import RunTop, TopRanking, first_error, read_entry
from store.errors import ArgumentError, FormatError, PoolerError
from store.formats.lines import STDIN, is_regular_file
from store.records import Order

Given = TypeVar("Given")
Output = TypeVar("Output")
_File = tuple[int, str]
"""The place of a file among those that were named, and what Hadoop calls it: a pattern names several."""
_Row = tuple[str, tuple[_File, Any]]
"""A topic, a file and its ranking; or `_NO_TOPIC`, a file and what is said of its run, or its fault."""
_NO_TOPIC = ""
_TASKS_A_CORE = 8
"""Pieces of reading for each processor, so that a slow one does not hold up the rest ..."""
_PARTS_A_CORE = 4
"""... and parts that topics fall into."""
_END_S = 15.0
"""For so long Java may take to end."""
_SETTINGS = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.driver.maxResultSize": "0",  # a pool comes back whole
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
    "spark.python.worker.memory": "256m",  # of a worker's tables, before it goes on on disk
}
"""What is set unless the user's own settings of Spark say otherwise."""
_log = ""
"""Where Spark and Java write what they have to say; empty = Spark was not started here."""


class SparkRuns(FileRuns):
    """Runs read by Spark; what is said of them is here, and rankings stay there: a pool cannot tell."""

    def __init__(
        self, entries: Sequence[RunEntry], depth: int, *, order: Order, lenient: bool, with_scores: bool
    ) -> None:
        """Read the first documents of run files, as `read_tops` does, whose errors it has."""
        from pooler.version import __version__

        for entry in entries:
            path = Path(_path(entry) or ".")
            if entry.file == STDIN or not (path.is_dir() or is_regular_file(str(path)) or not path.exists()):
                requirement = "must be files: what can be read but once cannot go to a worker"
                raise ArgumentError("runs", requirement, entry.file)
        self._context = _started()
        how = {"depth": depth, "order": order, "lenient": lenient, "with_scores": with_scores}
        with _reported_in_a_line("Spark could not find the files"):
            rows, outcomes = self._rows(entries, _RunReader(how, __version__))
            self._n_parts = _PARTS_A_CORE * int(self._context.defaultParallelism)
        if rows is not None:
            part = partial(_part, n_parts=self._n_parts)
            self._sorted = rows.repartitionAndSortWithinPartitions(self._n_parts + 1, part)
            outcomes |= dict(row[1] for row in self._run(self._sorted, [self._n_parts]))
        read = {number for number, _ in outcomes}
        for number, entry in enumerate(entries):
            if number not in read:  # Hadoop hides names that begin with _ or .
                outcomes[number, ""] = PoolerError(f"{entry.file}: Hadoop did not bring it")
        files, tops, failed = [], [], []
        for file, outcome in sorted(outcomes.items(), key=itemgetter(0)):
            if isinstance(outcome, PoolerError):
                failed.append((file[1] or entries[file[0]].file, outcome))
            else:
                files.append(file)
                tops.append(outcome)
        if failed:
            raise first_error(failed)
        super().__init__(tops)
        places = {run.tag: place for place, run in enumerate(self.feeding)}
        self._places = {
            file: places[top.tag] for file, top in zip(files, tops, strict=True) if top.contributes
        }

    def _rows(
        self, entries: Sequence[RunEntry], reader: _RunReader
    ) -> tuple[Any, dict[_File, RunTop | PoolerError]]:
        """Let the files be read when they are needed, ``None`` = there is none; return faults beside them."""
        from py4j.protocol import Py4JJavaError

        here = [(number, entry, path) for number, entry in enumerate(entries) if (path := _path(entry))]
        parts: list[Any] = []
        faults: dict[_File, RunTop | PoolerError] = {}
        if here:
            n_tasks = min(len(here), _TASKS_A_CORE * int(self._context.defaultParallelism))
            parts.append(self._context.parallelize(here, n_tasks).mapPartitions(reader.rows_of))
        for number, entry in enumerate(entries):
            if _path(entry):
                continue
            try:
                files = self._context.binaryFiles(entry.file)
                files.getNumPartitions()
            except Py4JJavaError as error:
                hint = "a URI is read by Hadoop, by the settings of Spark: SPARK_CONF_DIR, HADOOP_CONF_DIR"
                faults[number, ""] = PoolerError(
                    f"{entry.file}: cannot be read ({_reason(error)})", hint=hint
                )
            else:
                parts.append(files.mapPartitions(partial(reader.brought, number=number, entry=entry)))
        return (self._context.union(parts) if parts else None), faults

    def of_topic(self, topic: str, *, scores: bool = False) -> TopicRuns:
        """Fetch the rankings of one topic."""
        return next(self._each([topic], _itself, {topic: None}, scores=scores))

    def for_each_topic(
        self, task: Callable[[TopicRuns, Given], Output], given: Mapping[str, Given], *, scores: bool = False
    ) -> Iterator[Output]:
        """Yield what a task makes of the rankings of each topic, topics in natural order."""
        return self._each(self.topics, task, given, scores=scores)

    def _each(
        self,
        topics: Sequence[str],
        task: Callable[[TopicRuns, Given], Output],
        given: Mapping[str, Given],
        *,
        scores: bool,
    ) -> Iterator[Output]:
        """Yield what a task makes of some topics, where their rankings are; the first error is raised."""
        given_to_all = self._context.broadcast({topic: given[topic] for topic in topics})
        worked = self._sorted.mapPartitions(_Worker(given_to_all, task, self._places, scores))
        parts = sorted({_part(topic, self._n_parts) for topic in topics})
        found = dict(self._run(worked, parts))
        given_to_all.unpersist()
        for topic in topics:
            made = pickle.loads(zlib.decompress(found.pop(topic)))
            if isinstance(made, PoolerError):
                raise made
            yield made

    def _run(self, rows: Any, parts: Sequence[int]) -> list[Any]:
        """Fetch some parts of what Spark makes, in a thread: this one hears Ctrl-C, and Spark drops it."""
        group, outcome = f"pooler {uuid4().hex}", Future[list[Any]]()

        def work() -> None:
            try:
                self._context.setJobGroup(group, "pooler", interruptOnCancel=True)
                outcome.set_result(list(self._context.runJob(rows, list, parts)))
            except Exception as error:  # noqa: BLE001 - raised by the thread that waits
                outcome.set_exception(error)

        Thread(target=work, daemon=True).start()
        try:
            with _reported_in_a_line("Spark could not do it"):
                return outcome.result()
        except BaseException:
            with suppress(Exception):
                self._context.cancelJobGroup(group)
            raise


def _itself(of_topic: TopicRuns, _given: None) -> TopicRuns:
    return of_topic


def _path(entry: RunEntry) -> str:
    """Return the path of a file, here as on a worker; empty = Hadoop has it."""
    for start in ("file://localhost/", "file:///"):
        if entry.file.startswith(start):
            return "/" + unquote(entry.file.removeprefix(start))
    if "://" in entry.file:
        return ""
    return entry.file if entry.file == STDIN else os.path.abspath(entry.file)  # noqa: PTH100 - links stay


def _part(topic: str, n_parts: int) -> int:
    """Say which part a topic belongs to: the last one is of the runs themselves."""
    return n_parts if topic == _NO_TOPIC else zlib.crc32(topic.encode()) % n_parts


@dataclass(frozen=True, slots=True)
class _RunReader:
    how: Mapping[str, Any]
    """Depth, order and so on, as `read_entry` takes them."""
    version: str
    """Of the pooler that asks."""

    def rows_of(self, files: Iterable[tuple[int, RunEntry, str]]) -> Iterator[_Row]:
        for number, entry, path in files:
            yield from self._read((number, ""), entry, path)

    def brought(self, files: Iterable[tuple[str, bytes]], number: int, entry: RunEntry) -> Iterator[_Row]:
        """Read files that Hadoop has brought, each from a file of its name for a while."""
        for uri, content in files:
            with tempfile.TemporaryDirectory(prefix="pooler-run-") as folder:
                path = Path(folder, PurePath(uri).name)
                path.write_bytes(content)
                yield from self._read((number, uri), replace(entry, file=uri), str(path))

    def _read(self, file: _File, entry: RunEntry, path: str) -> Iterator[_Row]:
        """Read one run; yield its rankings, if it contributes, and the run without them, or its fault."""
        from pooler.version import __version__

        if __version__ != self.version:
            message = f"a worker has pooler {__version__}, and this machine {self.version}"
            hint = "install the same version on every worker"
            yield _NO_TOPIC, (file, PoolerError(message, hint=hint))
            return
        try:
            top = read_entry(replace(entry, file=path), **self.how)
        except PoolerError as error:
            yield _NO_TOPIC, (file, _renamed(error, path, entry.file))
            return
        for topic, ranking in top.topics.items() if top.contributes else ():
            yield topic, (file, ranking)
        heads = {
            topic: replace(one, packed_docnos=b"", packed_scores=None) for topic, one in top.topics.items()
        }
        yield _NO_TOPIC, (file, replace(top, topics=heads))


def _renamed(error: PoolerError, path: str, name: str) -> PoolerError:
    hint = None if error.hint is None else error.hint.replace(path, name)
    if isinstance(error, FormatError):
        return FormatError(name, error.faults, n_faults=error.n_faults, hint=hint)
    return PoolerError(error.message.replace(path, name), hint=hint) if type(error) is PoolerError else error


@dataclass(frozen=True, slots=True)
class _Worker:
    given_to_all: Any
    """Broadcast: by topic what the task is told."""
    task: Callable[[TopicRuns, Any], Any]
    places: Mapping[_File, int]
    """The place of each run in `RunSet.feeding`."""
    scores: bool

    def __call__(self, rows: Iterable[_Row]) -> Iterator[tuple[str, bytes]]:
        """Work on one topic after another; what comes of each is packed, an error too."""
        for topic, of_topic in groupby(rows, key=itemgetter(0)):
            if topic in self.given_to_all.value:
                tops: list[tuple[int, TopRanking]] = [(self.places[file], top) for _, (file, top) in of_topic]
                tops.sort(key=itemgetter(0))
                made: Any
                try:
                    made = self.task(
                        topic_runs(topic, tops, scores=self.scores), self.given_to_all.value[topic]
                    )
                except PoolerError as error:
                    made = error
                yield topic, zlib.compress(pickle.dumps(made), 1)


def _started() -> Any:
    """Return the SparkContext of this process, or start one, which lasts as long as the process.

    `PoolerError`: there is no PySpark, no Java, or the master that SPARK_MASTER names does not take it.
    """
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
    except ImportError as error:
        message = "pooling on Spark needs the package pyspark"
        raise PoolerError(message, hint="pip install 'pooler[spark]'") from error
    if SparkContext._active_spark_context is not None:
        return SparkContext._active_spark_context
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java" if not home else str(Path(home, "bin", "java"))) is None:
        where = f"in JAVA_HOME, {home}" if home else "on the PATH"
        message = f"Spark needs Java, and there is none {where}"
        raise PoolerError(message, hint="install a Java runtime, version 17 or later (headless is enough)")
    global _log
    descriptor, _log = tempfile.mkstemp(prefix="pooler-spark-", suffix=".log")
    atexit.register(_end)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)  # it would show traces where Java ends
    first = SparkConf(loadDefaults=False).setAppName("pooler")
    if master := os.environ.get("SPARK_MASTER"):
        first.setMaster(master)
    with (
        os.fdopen(descriptor, "wb") as log,
        warnings.catch_warnings(action="ignore"),  # PySpark doubts versions of pandas, which is not used
        _reported_in_a_line("Spark could not start"),
    ):
        SparkContext._ensure_initialized(gateway=launch_gateway(first, {"stdout": log, "stderr": log}))
        conf = SparkConf()
        for name, value in _SETTINGS.items():
            conf.setIfMissing(name, value)
        if conf.get("spark.master", "").startswith("local"):
            conf.setIfMissing("spark.driver.host", "127.0.0.1")
            conf.setIfMissing("spark.driver.bindAddress", "127.0.0.1")
        before = signal.getsignal(signal.SIGINT)
        context = SparkContext(conf=conf)
        if current_thread() is main_thread():  # PySpark takes Ctrl-C for itself
            signal.signal(signal.SIGINT, before)
        return context


def _end() -> None:
    """End Spark and Java, and remove their log unless it was named."""
    from pyspark import SparkContext

    with suppress(Exception):  # Java may be gone
        SparkContext._active_spark_context.stop()
    with suppress(Exception):
        java = SparkContext._gateway.proc
        java.stdin.close()  # it waits for the end of its input, to end its workers and itself
        java.wait(_END_S)
    if _log:
        Path(_log).unlink(missing_ok=True)


@contextmanager
def _reported_in_a_line(what: str) -> Iterator[None]:
    """Tell what Spark or Java raise in one line; the rest is in the log that it names, which is then kept."""
    global _log
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        hint = f"all that Spark said: {_log}" if _log else None
        _log = ""
        raise PoolerError(f"{what}: {_reason(error)}", hint=hint) from None


def _reason(error: Exception) -> str:
    cause = getattr(error, "java_exception", None)
    while cause is not None and cause.getCause() is not None:
        cause = cause.getCause()
    name = type(error).__name__ if cause is None else str(cause.getClass().getSimpleName())
    lines = [line.strip() for line in str(error if cause is None else cause.getMessage() or "").splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "Driver stacktrace"))]
    if not lines:
        return name
    # What a task of Python raised stands at the end of its trace.
    return (
        lines[-1] if cause is None or name in ("SparkException", "PythonException") else f"{name}: {lines[0]}"
    )
