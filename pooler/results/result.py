"""What every function of the API returns: arrays, and the tables and views that tell them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pooler.results.table import Table, View, see
from pooler.telling import Listener, listening, now_listening
from store.errors import UnknownNameError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Progress = Callable[[int], None]
"""Called with steps done."""

NOTEBOOK_ROWS = 60
"""Rows of a view that a notebook shows."""


class Result:
    """Base of the results; a subclass is a frozen dataclass with `settings` and `warnings`.

    `tables` has every number, under the names that `--format json` uses; `views` are what the
    command shows to people. In a notebook the first view stands for the result.
    """

    __slots__ = ()

    settings: Mapping[str, Any]
    """Every parameter, as it was taken."""
    warnings: tuple[str, ...]
    """What there is to doubt about the data."""

    def tables(self) -> tuple[Table, ...]:
        """Return every table, for programs."""
        raise NotImplementedError

    def views(self) -> tuple[View, ...]:
        """Return what people see, in order."""
        return tuple(View(table) for table in self.tables())

    def facts(self) -> Mapping[str, Any]:
        """Return what is one value and no table."""
        return {}

    def table(self, name: str) -> Table:
        """Return one table.

        Raises
        ------
        UnknownNameError
            If there is none of that name.
        """
        found = {table.name: table for table in self.tables()}
        if name not in found:
            raise UnknownNameError("table", name, found)
        return found[name]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{table.name} ({len(table):,} rows)" for table in self.tables())
        kept = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__} of {kept}\ntables: {sizes}"

    def _repr_html_(self) -> str:
        return html(self.views()[0])


def frozen(**settings: Any) -> Mapping[str, Any]:
    """Return settings that cannot be changed."""
    return MappingProxyType(settings)


def html(view: View) -> str:
    """Write a view as an HTML table, at most `NOTEBOOK_ROWS` rows of it."""
    limit = min(view.limit or NOTEBOOK_ROWS, NOTEBOOK_ROWS)
    rows = range(len(view.table)) if view.rows is None else view.rows
    shown = see(View(view.table, view.columns, rows[:limit], view.title, view.notes))
    align = ["right" if column.is_number else "left" for column in shown.columns]
    heads = "".join(
        f'<th style="text-align:{side}">{escape(column.title)}</th>'
        for column, side in zip(shown.columns, align, strict=True)
    )
    lines = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{side}">{escape(cell)}</td>'
            for cell, side in zip(row, align, strict=True)
        )
        + "</tr>"
        for row in zip(*shown.cells, strict=True)
    )
    more = f"<p>{limit:,} of {len(rows):,} rows</p>" if len(rows) > limit else ""
    title = f"<caption>{escape(shown.title)}</caption>" if shown.title else ""
    words = "<br>".join(map(escape, shown.caption))
    return f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>{more}<p>{words}</p>"


class _Heard(Listener):
    """Keeps warnings, hands on everything, and calls back with steps done."""

    def __init__(self, outer: Listener, progress: Progress | None) -> None:
        self._outer = outer
        self._progress = progress
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings so far, each once."""
        return tuple(self._warnings)

    def say(self, message: str) -> None:
        self._outer.say(message)

    def warn(self, message: str) -> None:
        self._warnings[message] = None
        self._outer.warn(message)

    def progress(self, label: str, total: int) -> AbstractContextManager[Progress]:
        return self._outer.progress(label, total) if self._progress is None else self._counted(label, total)

    @contextmanager
    def _counted(self, label: str, total: int) -> Iterator[Progress]:
        with self._outer.progress(label, total) as advance:

            def both(steps: int) -> None:
                advance(steps)
                assert self._progress is not None
                self._progress(steps)

            yield both


@contextmanager
def heard(progress: Progress | None = None) -> Iterator[_Heard]:
    """Keep the warnings of what is done inside, for the result; count its steps.

    Examples
    --------
    >>> from pooler.telling import warn
    >>> with heard() as said:
    ...     warn("few topics")
    >>> said.warnings
    ('few topics',)
    """
    found = _Heard(now_listening(), progress)
    with listening(found):
        yield found
