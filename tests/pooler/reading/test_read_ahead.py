"""Runs read by other processes: what is stored is the same whoever reads them."""

from __future__ import annotations

import gzip
import os
from collections import defaultdict
from pathlib import Path

import pytest

from pooler.reading import whole as module
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from pooler.reading.whole import NumberedRun, RunReader, n_readers, read_numbered
from store.collection import Collection
from store.content.rankings import NumberedDocuments
from store.errors import FormatError
from store.records import StoredRun
from tests.benchmarks.generate import generate
from tests.helpers.world import parse_scale, stored_rows


def test_number_of_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes read when there is much to read and there are processors; else this one."""
    monkeypatch.setattr(module, "PARALLEL_BYTES", 30)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1}, raising=False)
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        path.write_text("1 Q0 a 1 2 t\n" * 2)
    entries = [RunEntry(str(path)) for path in paths]
    assert n_readers(entries) == module.READERS
    assert n_readers(entries[:1]) == n_readers([*entries, RunEntry("-")]) == 1
    assert n_readers([*entries, RunEntry(str(tmp_path / "missing"))]) == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0}, raising=False)
    assert n_readers(entries) == 1


def imported_rows(entries: list[RunEntry], place: Path, workers: int) -> dict[str, list[tuple[object, ...]]]:
    """Import runs into a new collection and read its rows, but for the times."""
    numbered: defaultdict[int, NumberedDocuments] = defaultdict(NumberedDocuments)
    scale = parse_scale("0-2")
    with Collection.create(str(place), name="test", scale=scale, program="test") as collection:
        for one in read_numbered(entries, workers=workers):
            numbered[one.reader].extend(one.docnos())
            about = StoredRun(one.tag, "", contributes=True, sha256=one.sha256, file=one.file)
            collection.runs.add_packed(about, one.rankings, numbered[one.reader])
    rows = stored_rows(str(place))
    return {name: rows[name] for name in ("document", "topic", "ranking")}


def test_rows_do_not_depend_on_who_reads(tmp_path: Path) -> None:
    """One process or two, and whole runs in memory: the same ids and the same bytes."""
    files = generate(tmp_path / "runs", runs=7, topics=4, documents=60, seed=5)
    packed = tmp_path / "runs" / "zipped.gz"
    packed.write_bytes(gzip.compress(files[2].read_bytes().replace(b"c_run2", b"zipped")))
    blank = tmp_path / "runs" / "blank.run"  # a blank line is for the reference reader
    blank.write_bytes(files[3].read_bytes().replace(b"d_run3", b"blank") + b"\n")
    entries = [RunEntry(str(path)) for path in (*files[:4], packed, blank, *files[4:])]
    one = imported_rows(entries, tmp_path / "one.db", 1)
    assert imported_rows(entries, tmp_path / "two.db", 2) == one
    scale = parse_scale("0-2")
    place = str(tmp_path / "runs.db")
    with Collection.create(place, name="test", scale=scale, program="test") as collection:
        for entry in entries:
            collection.runs.add(read_run(entry.file))
    assert {name: stored_rows(place)[name] for name in one} == one


def test_errors_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    """Runs before a faulty file are given, then its fault is raised, whoever reads."""
    files = generate(tmp_path / "runs", runs=5, topics=2, documents=20, seed=5)
    files[3].write_text("1 Q0 a 1 wine t\n")
    entries = [RunEntry(str(path)) for path in files]
    for workers in (1, 2):
        coming = read_numbered(entries, workers=workers)
        assert [next(coming).file for _ in range(3)] == ["r000.run", "r001.run", "r002.run"]
        with pytest.raises(FormatError, match=r"r003\.run:1: expected a finite number"):
            next(coming)


@pytest.mark.slow
def test_workers_that_die_are_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the other processes die, this one reads what they had not."""
    files = generate(tmp_path / "runs", runs=5, topics=2, documents=20, seed=5)
    entries = [RunEntry(str(path)) for path in files]
    expected = imported_rows(entries, tmp_path / "one.db", 1)
    monkeypatch.setattr(module, "RunReader", DyingReader)
    assert imported_rows(entries, tmp_path / "two.db", 2) == expected


class DyingReader(RunReader):
    """Reads runs, but ends a worker's process at the third file."""

    home = os.getpid()

    def __reduce__(self) -> tuple[object, ...]:
        """Tell the other process whose copy it has."""
        return _copied, (self.home,)

    def read(self, entry: RunEntry) -> NumberedRun:
        """Read a run here, or up to the third in a worker."""
        if entry.file.endswith("r002.run") and os.getpid() != self.home:
            os._exit(1)
        return super().read(entry)


def _copied(home: int) -> DyingReader:
    reader = DyingReader()
    reader.home = home
    return reader
