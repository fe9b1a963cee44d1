"""The list of runs: a file that says what the run files themselves do not.

Cells stand between tabs, or between commas as in CSV. The first line names the columns, which
`docs/reference/files.md` has. No two runs may have one name. A relative run file is one beside the list, or
beneath its folder; of a list from standard input, beneath the working folder.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from pooler.reading.results import layout_of
from store.errors import Fault, FaultList, FormatError, nearest
from store.fields import id_fault
from store.formats.lines import RUN_LIST, STDIN, read_text_lines, report_kind

NO_MODEL = "none"
"""What a list says of a run that uses no model."""
COLUMNS = ("file", "tag", "name", "group", "contributes", "models")
_YES = frozenset({"yes", "1", "true", ""})
_NO = frozenset({"no", "0", "false"})


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run file, and what is known of the run beside it."""

    file: str
    """Path of the run file; ``-`` is standard input."""
    tag: str | None = None
    """The run tag the file must have; ``None`` = any."""
    group: str = ""
    contributes: bool = True
    name: str | None = None
    """What the run is called instead of its tag, where files are measured; ``None`` = its tag."""
    models: tuple[str, ...] | None = None

    def called(self, tag: str) -> str:
        """Return what a run is called whose file has this tag; `FormatError`: another tag was stated."""
        if self.tag is not None and self.tag != tag:
            message = f"expected run tag `{self.tag}`, as the list of runs says, got `{tag}`"
            raise FormatError(self.file, [Fault(None, message, "tag")])
        return self.name or tag

    is_told: bool = field(default=False, repr=False, compare=False)
    """Whether the list said that of some run, so that the others feed pools because it did not."""
    titles: Mapping[str, str] | None = field(default=None, repr=False, compare=False)
    """Topics by title, for queries that a table of results names by their text; ``None`` = not known."""

    def check_tag(self, tag: str) -> None:
        """Raise `FormatError` when the file's tag is not the one that was stated, or not the name."""
        if self.called(tag) != tag:
            message = (
                f"expected run tag `{self.name}`, as the list of runs names the run, got `{tag}`:"
                " another name is for files that are measured, with --qrels"
            )
            raise FormatError(self.file, [Fault(None, message, "tag")])


def as_entries(runs: Sequence[str | RunEntry]) -> list[RunEntry]:
    """Make a `RunEntry` of every plain path."""
    return [RunEntry(run) if isinstance(run, str) else run for run in runs]


def read_run_list(path: str) -> list[RunEntry]:
    """Read a list of runs, in file order: cells between tabs, ``-`` is standard input."""
    faults = FaultList(path)
    folder = PurePath() if path == STDIN else PurePath(path).parent
    columns: list[str] | None = None
    separator = "\t"
    entries: list[RunEntry] = []
    first_lines: dict[tuple[str, str], int] = {}
    for number, line in read_text_lines(path, faults):
        if not line.strip():
            continue
        if columns is None and "\t" not in line and "," in line:
            separator = ","
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
        if columns is None:
            columns = cells
            if "file" not in cells and path != STDIN and layout_of(line.encode()):
                return [RunEntry(path)]  # one run, in the place of a list
            _check_columns(columns, number, faults)
            if faults:
                report_kind(faults, RUN_LIST)
            faults.raise_if_any()
            continue
        if len(cells) != len(columns):
            faults.add(number, f"expected {len(columns)} cells, got {len(cells)}", "cells")
            continue
        entry = _entry(dict(zip(columns, cells, strict=True)), number, folder, faults)
        if entry is None:
            continue
        for what, text in (("run file", entry.file), ("name", entry.name)):
            first = number if text is None else first_lines.setdefault((what, text), number)
            if first != number:
                faults.add(number, f"{what} `{text}` is on line {first} already", "duplicate")
        entries.append(entry)
    if not entries and not faults:
        faults.add(None, "expected a header line and at least one run, got none", "empty")
    faults.raise_if_any()
    return entries


def _check_columns(columns: list[str], number: int, faults: FaultList) -> None:
    for name in dict.fromkeys(columns):
        if name not in COLUMNS:
            known = ", ".join(f"`{item}`" for item in nearest(name, COLUMNS))
            faults.add(number, f"expected columns among {known}, got `{name}`", "column")
        elif columns.count(name) > 1:
            faults.add(number, f"expected column `{name}` once", "column")
    if "file" not in columns:
        faults.add(number, "expected a column `file`", "column")


def _entry(cells: dict[str, str], number: int, folder: PurePath, faults: FaultList) -> RunEntry | None:
    count = faults.count
    file = cells["file"]
    if not file or file == STDIN or "\0" in file:
        faults.add(number, f"expected a run file, got `{file}`", "file")
    tag, name, group = cells.get("tag") or None, cells.get("name") or None, cells.get("group", "")
    for column, text in (("tag", tag), ("name", name), ("group", group)):
        if text and (message := id_fault(text)):
            faults.add(number, f"{column}: {message}", "id")
    models = _models(cells.get("models", ""))
    if NO_MODEL in (models or ()):
        faults.add(
            number, f"expected `models` to be names or `{NO_MODEL}`, got `{cells['models']}`", "models"
        )
    stated = cells.get("contributes", "").lower()
    if stated not in _YES | _NO:
        faults.add(number, f"expected `contributes` to be yes or no, got `{stated}`", "contributes")
    path = Path(folder, file)
    if "\\" in file and not path.exists():
        path = Path(folder, file.replace("\\", "/"))
    if faults.count == count and "://" not in file and not path.exists():
        faults.add(number, f"there is no run file `{file}`", "file")
    if faults.count > count:
        return None
    is_told = "contributes" in cells
    return RunEntry(str(path), tag, group, stated in _YES, name, models, is_told)


def _models(text: str) -> tuple[str, ...] | None:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    return () if names == (NO_MODEL,) else names or None
