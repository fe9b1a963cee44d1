"""The list of runs: a file that says what the run files themselves do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from store.errors import Fault, FaultList, FormatError, nearest
from store.formats.lines import STDIN, id_fault, read_text_lines

COLUMNS = ("file", "tag", "group", "contributes")
_YES = frozenset({"yes", "1", "true", ""})
_NO = frozenset({"no", "0", "false"})


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run file, and what is known of the run beside it."""

    file: str
    """Path of the run file; ``-`` is standard input."""
    tag: str | None = None
    """The run tag the file must have; ``None`` = whatever it has."""
    group: str = ""
    """The organisation or kind of system; empty = none given."""
    contributes: bool = True
    """Whether the run feeds pools."""

    def check_tag(self, tag: str) -> None:
        """Raise `FormatError` when the file's tag is not the one that was stated."""
        if self.tag is not None and self.tag != tag:
            message = f"expected run tag `{self.tag}`, as the list of runs says, got `{tag}`"
            raise FormatError(self.file, [Fault(None, message, "tag")])


def as_entries(runs: Sequence[str | RunEntry]) -> list[RunEntry]:
    """Make a `RunEntry` of every plain path."""
    return [RunEntry(run) if isinstance(run, str) else run for run in runs]


def read_run_list(path: str) -> list[RunEntry]:
    r"""Read a list of runs.

    Parameters
    ----------
    path : str
        A file of cells between tabs. The first line names the columns: ``file`` and, in any
        order, ``tag``, ``group`` and ``contributes`` (yes, no, 1, 0, true, false; empty = yes).
        Blank lines are passed over; ``-`` is standard input.

    Returns
    -------
    list of RunEntry
        In file order. A relative run file is one beside the list, or beneath its folder; of a
        list from standard input, beneath the working folder.

    Raises
    ------
    FormatError
        If a column is unknown, there twice, or missing; a line has another number of cells; a
        cell cannot be used; a run file is named twice; or the list is empty.
    PoolerError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
    ...     _ = file.write("file\tgroup\tcontributes\n/runs/bm25.gz\tacme\tno\n")
    ...     file.flush()
    ...     read_run_list(file.name)
    [RunEntry(file='/runs/bm25.gz', tag=None, group='acme', contributes=False)]
    """
    faults = FaultList(path)
    folder = PurePath() if path == STDIN else PurePath(path).parent
    columns: list[str] | None = None
    entries: list[RunEntry] = []
    first_lines: dict[str, int] = {}
    for number, line in read_text_lines(path, faults):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if columns is None:
            columns = cells
            _check_columns(columns, number, faults)
            faults.raise_if_any()
            continue
        if len(cells) != len(columns):
            faults.add(number, f"expected {len(columns)} cells, got {len(cells)}", "cells")
            continue
        entry = _entry(dict(zip(columns, cells, strict=True)), number, folder, faults)
        if entry is None:
            continue
        first = first_lines.setdefault(entry.file, number)
        if first != number:
            faults.add(number, f"run file `{entry.file}` is on line {first} already", "duplicate")
        entries.append(entry)
    if not entries and not faults:
        faults.add(None, "expected a header line and at least one run, got none", "empty")
    faults.raise_if_any()
    return entries


def _check_columns(columns: list[str], number: int, faults: FaultList) -> None:
    """Tell what is wrong with the header."""
    for name in dict.fromkeys(columns):
        if name not in COLUMNS:
            known = ", ".join(f"`{item}`" for item in nearest(name, COLUMNS))
            faults.add(number, f"expected columns among {known}, got `{name}`", "column")
        elif columns.count(name) > 1:
            faults.add(number, f"expected column `{name}` once", "column")
    if "file" not in columns:
        faults.add(number, "expected a column `file`", "column")


def _entry(
    cells: dict[str, str], number: int, folder: PurePath, faults: FaultList
) -> RunEntry | None:
    """Make an entry of one line; ``None`` after a fault."""
    count = faults.count
    file = cells["file"]
    if not file or file == STDIN:
        faults.add(number, f"expected a run file, got `{file}`", "file")
    tag, group = cells.get("tag") or None, cells.get("group", "")
    for name, text in (("tag", tag), ("group", group)):
        if text and (message := id_fault(text)):
            faults.add(number, f"{name}: {message}", "id")
    stated = cells.get("contributes", "").lower()
    if stated not in _YES | _NO:
        faults.add(number, f"expected `contributes` to be yes or no, got `{stated}`", "contributes")
    if faults.count > count:
        return None
    return RunEntry(str(Path(folder, file)), tag, group, stated in _YES)
