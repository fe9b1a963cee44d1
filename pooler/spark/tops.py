"""The first documents of runs on Spark: read where the files are, put together topic by topic.

A file is one piece of work, for the reader that one machine has too, so nothing is split and no fault
lost. Its rankings then go to the worker of their topic, through Spark's shuffle; what is said of the run
goes to a part of its own, which is fetched first. Spark keeps both on disk, and makes anew what a dead
worker held.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from typing import Any, TypeVar

from pooler.reading.blocks import RunTop, TopRanking
from pooler.reading.run_list import RunEntry
from pooler.reading.top import first_error, read_entry
from pooler.spark.files import FilePlace, as_file, by_key, find_files, hadoop_paths, renamed
from pooler.spark.session import run_job, spark_context, told_in_a_line
from store.errors import PoolerError
from store.ranking import Order

Given = TypeVar("Given")
Made = TypeVar("Made")
TopicTask = Callable[[str, Sequence[tuple[int, TopRanking]], Given], Made]
"""From a topic, the rankings that runs have for it (places in `SparkTops.heads`, ascending) and what it is
told to what it makes of them."""

_TASKS_A_CORE = 8
"""Pieces of reading for each processor, so that a slow one does not hold up the rest ..."""
_PARTS_A_CORE = 4
"""... and parts that topics fall into."""
_NO_TOPIC = ""
_Row = tuple[str, tuple[int, Any]]
"""A topic, the number of a file, and its ranking; or `_NO_TOPIC`, and what is said of the run."""


@dataclass(frozen=True, slots=True)
class _RunReader:
    """How a worker reads run files."""

    how: Mapping[str, Any]
    """Depth, order and so on, as `read_entry` takes them."""
    topics: frozenset[str] | None
    """Of which topics rankings are wanted; ``None`` = of all."""
    is_measured: bool
    version: str

    def paths(self, files: Iterable[Sequence[tuple[int, FilePlace]]]) -> Iterator[_Row]:
        """Read files that this machine sees."""
        for some in files:
            for number, place in some:
                yield from self._read(number, place.entry, place.path or "")

    def contents(
        self,
        files: Iterable[tuple[str, bytes]],
        places: Mapping[int, FilePlace],
        numbers: Mapping[str, list[int]],
    ) -> Iterator[_Row]:
        """Read files that Hadoop has brought."""
        for key, content in files:
            for number in numbers.get(key, ()):
                entry = places[number].entry
                with as_file(PurePath(key).name, content) as path:
                    yield from self._read(number, entry, path)

    def _read(self, number: int, entry: RunEntry, path: str) -> Iterator[_Row]:
        """Read one run; yield its rankings, if it contributes, and the run without them, or its fault."""
        try:
            self._check_version()
            if self.is_measured:
                top = read_entry(replace(entry, file=path, name=None), **self.how)
                top = replace(top, tag=entry.called(top.tag), contributes=True)
            else:
                top = read_entry(replace(entry, file=path), **self.how)
        except PoolerError as error:
            yield _NO_TOPIC, (number, renamed(error, path, entry.file))
            return
        for topic, ranking in top.topics.items() if top.contributes else ():
            if self.topics is None or topic in self.topics:
                yield topic, (number, ranking)
        heads = {
            topic: replace(one, packed_docnos=b"", packed_scores=None) for topic, one in top.topics.items()
        }
        yield _NO_TOPIC, (number, replace(top, topics=heads))

    def _check_version(self) -> None:
        """Raise `PoolerError` where this worker has another pooler than who asked."""
        from pooler import __version__

        if __version__ != self.version:
            message = f"a worker has pooler {__version__}, and this machine {self.version}"
            raise PoolerError(message, hint="install the same version on every worker")


def _unread(place: FilePlace) -> PoolerError:
    """Return the fault of a file that Hadoop named and did not bring."""
    return PoolerError(f"{place.entry.file}: Hadoop did not bring it")


def _part(topic: str, n_parts: int) -> int:
    """Say which part a topic belongs to: the last one is of the runs themselves."""
    return n_parts if topic == _NO_TOPIC else zlib.crc32(topic.encode()) % n_parts


@dataclass(frozen=True, slots=True)
class _Worker:
    """What a worker does with the topics of a part."""

    told: Any
    """Broadcast: the task, and by topic what it is told, pickled."""

    def __call__(self, rows: Iterable[_Row]) -> Iterator[tuple[str, bytes]]:
        """Work on one topic after another; what comes of each is packed, an error too."""
        task, given = pickle.loads(self.told.value)
        for topic, of_topic in groupby(rows, key=itemgetter(0)):
            if topic in given:
                tops = sorted((row[1] for row in of_topic), key=itemgetter(0))
                yield topic, zlib.compress(pickle.dumps(_made(task, topic, tops, given[topic])), 1)


def _made(task: TopicTask[Any, Any], topic: str, tops: Sequence[tuple[int, TopRanking]], given: bytes) -> Any:
    """Return what a task makes of a topic, or why it cannot."""
    try:
        return task(topic, tops, pickle.loads(given))
    except PoolerError as error:
        return error


class SparkTops:
    """Runs whose first documents Spark holds; made, every file has been read."""

    heads: list[RunTop]
    """The runs in the order of the files, rankings without documents."""

    def __init__(
        self,
        entries: Sequence[RunEntry],
        depth: int,
        *,
        order: Order = "trec",
        lenient: bool = False,
        with_scores: bool = False,
        topics: Iterable[str] | None = None,
        is_measured: bool = False,
        master: str | None = None,
    ) -> None:
        """Read the first documents of run files, as `read_tops` does, whose errors it has.

        `topics`: of these alone rankings are kept. `is_measured`: all runs count, by the names they are
        measured by. `master`: see `spark_context`.
        """
        from pooler import __version__

        self._context = spark_context(master)
        how = {"depth": depth, "order": order, "lenient": lenient, "with_scores": with_scores}
        wanted = None if topics is None else frozenset(topics)
        reader = _RunReader(how, wanted, is_measured, __version__)
        places = dict(enumerate(find_files(self._context, entries)))
        n_cores = int(self._context.defaultParallelism)
        self._n_parts = _PARTS_A_CORE * n_cores
        with told_in_a_line("Spark could not find the files"):
            rows = self._rows(reader, places, _TASKS_A_CORE * n_cores)
        outcomes: dict[int, RunTop | PoolerError] = {
            number: place.fault for number, place in places.items() if place.fault is not None
        }
        if rows is not None:
            part = partial(_part, n_parts=self._n_parts)
            self._sorted = rows.repartitionAndSortWithinPartitions(self._n_parts + 1, part)
            n_tasks = int(rows.getNumPartitions()) + 1
            found = self._run(lambda: self._fetch(self._sorted, [self._n_parts]), "reading", n_tasks)
            outcomes |= dict(one for _, one in found)
        self.heads = []
        failed = []
        for number, place in places.items():
            outcome = outcomes.get(number) or _unread(place)
            if isinstance(outcome, PoolerError):
                failed.append((place.entry.file, outcome))
            else:
                self.heads.append(outcome)
        if failed:
            raise first_error(failed)

    def _rows(self, reader: _RunReader, places: Mapping[int, FilePlace], n_tasks: int) -> Any:
        """Let the files be read when they are needed: the largest first; ``None`` = there is none."""
        sound = {number: place for number, place in places.items() if place.fault is None}
        largest_first = sorted(sound.items(), key=lambda item: -item[1].n_bytes)
        here = [item for item in largest_first if item[1].path is not None]
        there = dict(item for item in largest_first if item[1].path is None)
        parts = []
        if here:
            n_here = min(len(here), n_tasks)
            dealt = [here[first::n_here] for first in range(n_here)]
            parts.append(self._context.parallelize(dealt, n_here).mapPartitions(reader.paths))
        if there:
            numbers = by_key(there)
            contents = partial(reader.contents, places=there, numbers=numbers)
            files = self._context.binaryFiles(hadoop_paths([*numbers]), min(len(numbers), n_tasks))
            parts.append(files.mapPartitions(contents))
        return self._context.union(parts) if parts else None

    def each(
        self, topics: Sequence[str], task: TopicTask[Given, Made], given: Mapping[str, Given]
    ) -> Iterator[Made]:
        """Yield what a task makes of each topic, where its rankings are; topics in the order given.

        `given` has what it is told of each. A topic that no run has is done here. The first error of a topic
        is raised.
        """
        packed = {topic: pickle.dumps(given[topic]) for topic in topics}
        told = self._context.broadcast(pickle.dumps((task, packed)))
        worked = self._sorted.mapPartitions(_Worker(told))
        parts = [*range(self._n_parts)]
        found = dict(self._run(lambda: self._fetch(worked, parts), "topics", len(parts)))
        told.unpersist()
        for topic in topics:
            blob = found.pop(topic, None)
            made = (
                _made(task, topic, [], packed[topic]) if blob is None else pickle.loads(zlib.decompress(blob))
            )
            if isinstance(made, PoolerError):
                raise made
            yield made

    def _fetch(self, rows: Any, parts: Sequence[int]) -> list[Any]:
        """Fetch some parts; for the thread of a job."""
        return list(self._context.runJob(rows, list, parts))

    def _run(self, job: Callable[[], list[Any]], label: str, n_tasks: int) -> list[Any]:
        return run_job(self._context, job, label, n_tasks)
