"""Runs, qrels and collections as a notebook takes them in hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from pooler.sources.files import named_runs, read_named
from pooler.sources.memory import runs_given
from pooler.sources.stored import DEFAULT_COLLECTION
from pooler.tables import DOCNO, DOCUMENTS, GRADE, RUN, TOPIC, Column, Table
from store.errors import ArgumentError
from store.records import Qrel, Run

if TYPE_CHECKING:
    from store.collection import Collection


class ReadRuns(Mapping[str, "Run"]):
    """Runs by their tags, in the order of the files; ranked where they are measured."""

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self._runs = dict(runs)

    def __getitem__(self, tag: str) -> Run:
        return self._runs[tag]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"{len(self):,} runs: {', '.join(self)}"

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return ``{tag: {topic: {docno: score}}}``; a docno twice cannot be, the reader refuses it."""
        return {
            tag: {one.topic: dict(zip(one.docnos, one.scores.tolist(), strict=True)) for one in run.rankings}
            for tag, run in self.items()
        }

    def tables(self) -> tuple[Table, ...]:
        """Return one table, `runs`: tag, group, whether it feeds pools, topics, documents, file."""
        runs = self._runs.values()
        columns = {
            RUN: [*self],
            Column("group", show="if_any"): [run.group for run in runs],
            Column("contributes", "bool"): [run.contributes for run in runs],
            Column("topics", "int"): [len(run.rankings) for run in runs],
            DOCUMENTS: [sum(len(one.docnos) for one in run.rankings) for run in runs],
            Column("file"): [run.file for run in runs],
        }
        return (Table.of_columns("runs", columns),)


class ReadQrels(Sequence["Qrel"]):
    """The documents of a qrels file, in its order, with their codes: `pooler.source` says what -1 means.

    `warnings` has what is odd about the file, such as columns that no header names.
    """

    def __init__(self, rows: Sequence[Qrel], warnings: Sequence[str] = ()) -> None:
        self._rows, self.warnings = list(rows), tuple(warnings)

    @overload
    def __getitem__(self, place: int) -> Qrel: ...
    @overload
    def __getitem__(self, place: slice) -> list[Qrel]: ...
    def __getitem__(self, place: int | slice) -> Qrel | list[Qrel]:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        topics = {row.topic for row in self._rows}
        return f"{len(self):,} documents of {len(topics):,} topics"

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return ``{topic: {docno: grade}}``, as evaluators take it."""
        grades: dict[str, dict[str, int]] = {}
        for row in self._rows:
            grades.setdefault(row.topic, {})[row.docno] = row.grade
        return grades

    def tables(self) -> tuple[Table, ...]:
        """Return one table, `qrels`: topic, iteration, docno, grade."""
        columns = [TOPIC, Column("iteration"), DOCNO, GRADE]
        return (Table.of_records("qrels", columns, self._rows),)


def read_runs(*paths: str | Path, runs: str | Path | None = None, lenient: bool = False) -> ReadRuns:
    r"""Read run files.

    Parameters
    ----------
    *paths : str or Path
        Run files, plain or compressed (gzip, xz, bz2, zstd), or patterns of them.
    runs : str or Path, optional
        A list of run files: TSV with a column `file`, and optionally `tag`, `group`, `contributes`.
    lenient : bool, optional
        Follow trec_eval where it accepts more.

    Returns
    -------
    ReadRuns
        Run by tag.

    Raises
    ------
    FormatError
        With every fault of a file, and its line.
    ArgumentError
        If two runs have the same tag.

    Notes
    -----
    About 0.3 microseconds a line. Functions that measure take paths, too, and read them once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".run") as file:
    ...     _ = file.write("51 Q0 d2 1 0.9 bm25\n51 Q0 d1 2 0.4 bm25\n")
    ...     file.flush()
    ...     read_runs(file.name).to_dict()
    {'bm25': {'51': {'d2': 0.9, 'd1': 0.4}}}
    """
    found: dict[str, Run] = {}
    named = named_runs(runs_given(paths), runs)
    for run in read_named(named, lenient=lenient):
        if run.tag in found:
            hint = "a column `name` in the list of runs gives each a name of its own"
            raise ArgumentError("runs", "must each have their own tag", run.tag, hint=hint)
        found[run.tag] = run
    return ReadRuns(found)


def read_qrels(path: str | Path, *, lenient: bool = False) -> ReadQrels:
    r"""Read a qrels file: topic, iteration, docno, grade.

    Parameters
    ----------
    path : str or Path
        Plain or compressed.
    lenient : bool, optional
        Follow trec_eval where it accepts more.

    Returns
    -------
    ReadQrels
        Every document with its code, such as -1 for one that was pooled and not judged.

    Raises
    ------
    FormatError
        With every fault of the file; two grades of one document are one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".qrels") as file:
    ...     _ = file.write("51 0 d1 2\n51 0 d2 0\n51 0 d3 -1\n")
    ...     file.flush()
    ...     read_qrels(file.name).to_dict()
    {'51': {'d1': 2, 'd2': 0, 'd3': -1}}
    """
    from pooler.result import collect_warnings
    from pooler.sources.judgement_files import given_rows

    with collect_warnings() as collected:
        rows = given_rows(str(path), lenient=lenient)
    return ReadQrels(rows, collected.warnings)


def open_collection(url: str | Path = DEFAULT_COLLECTION) -> Collection:
    """Open a collection: one SQLite file or one PostgreSQL database.

    Parameters
    ----------
    url : str or Path, optional
        A file, or ``postgresql://...``.

    Returns
    -------
    Collection
        A context manager; `close` closes it.

    Raises
    ------
    StoreError
        If there is no collection there, or it cannot be reached.
    SchemaError
        If its schema is older or newer than this program's.
    """
    from store.collection import Collection

    return Collection(str(url))
