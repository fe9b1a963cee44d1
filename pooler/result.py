"""What every function of the API returns: arrays, and the tables and views that tell them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import count, islice
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from pooler.judge_kinds import view_with_kinds, with_kinds
from pooler.messages import Listener, current_listener, listening
from pooler.tables import Column, Plot, Table, View, render_view, written
from store.errors import UnknownNameError

Progress = Callable[[int], None]
"""Called with steps done."""

Message = tuple[Literal["say", "warn"], str]
"""Something to say, or to doubt."""


def messages_of(words: Iterable[str] = (), doubts: Iterable[str] = ()) -> list[Message]:
    """Return words to say, and then warnings."""
    return [*(("say", one) for one in words), *(("warn", one) for one in doubts)]


NOTEBOOK_ROWS = 60
"""Rows of a view that a notebook shows."""
AXES = ("measures", "judges", "runs", "topics")
"""Attributes of results that name what its arrays are about."""


class Later:
    """A table that is made when somebody asks for it, by the method of its name after an underscore."""

    def __init__(self, make: Callable[[], Table], *, by_name: bool = False) -> None:
        self._make = make
        self.name = make.__name__.removeprefix("_")
        self.by_name = by_name
        """Whether it is made for those alone who name it: it is long, or costs much."""

    @cached_property
    def table(self) -> Table:
        """The table, made once."""
        return self._make()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result:
    """Base of the results; a subclass is a frozen dataclass, with slots.

    It yields its tables in the order of their importance, in `_tables`: they have every number, under the
    names that `--format json` uses, and say what people see of them. In a notebook the first stands
    for the result.
    """

    __slots__ = ()

    settings: Mapping[str, Any] = field(default_factory=lambda: frozen_settings())
    """Every parameter, as it was taken; `kinds` where judges of several kinds vote together."""
    warnings: tuple[str, ...] = ()
    """What there is to doubt about the data."""
    _so_far: list[Any] = field(default_factory=list, init=False)
    """Tables made so far, each once, after what yields the others."""

    SHOWN: ClassVar[int | None] = 1
    """How many of them a command shows by default, as the end of a slice; ``None`` = all."""
    PAGE: ClassVar[str] = ""
    """What makes a page of it, `module:function`: its command has --html."""
    IS_FILE: ClassVar[bool] = False
    """Whether a command shows no table of it but its `lines`: what it makes is a file."""
    HAS_TOPICS: ClassVar[bool] = False
    """Whether one of them, named `topics`, has a row a topic."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the tables there are, but for those that only who names them gets."""
        return tuple(one.name for one in self._each() if not getattr(one, "by_name", False))

    def all_names(self) -> tuple[str, ...]:
        """Return the names of the tables there are, of all."""
        return tuple(one.name for one in self._each())

    def table(self, name: str) -> Table:
        """Return one table; `UnknownNameError`: there is none of that name."""
        for one in self._each():
            if one.name == name:
                made = one.table if isinstance(one, Later) else one
                return with_kinds(made, self.kinds_of_voters())
        raise UnknownNameError("table", name, self.all_names())

    def tables(self) -> tuple[Table, ...]:
        """Return every table."""
        return tuple(map(self.table, self.names()))

    @classmethod
    def blank(cls) -> Result | None:
        """Return one without rows, where making one changes something: by it what is to be shown is checked.

        ``None`` = it changes nothing.
        """
        return None

    def _tables(self) -> Iterator[Table | Later]:
        """Yield the tables, the one that answers the question first; what is not asked for is not made."""
        yield from ()

    def _each(self) -> Iterator[Table | Later]:
        if not self._so_far:
            self._so_far.append(self._tables())
        for place in count(1):
            if place == len(self._so_far):
                made = next(self._so_far[0], None)
                if made is None:
                    return
                self._so_far.append(made)
            yield self._so_far[place]

    def views(self, *names: str) -> tuple[View, ...]:
        """Return what people see of some tables, by default of those that a command shows."""
        shown: list[View] = []
        for table in map(self.table, names or self.shown()):
            shown += [View(table)] if table.seen is None else table.seen
        if shown:
            shown[0] = view_with_kinds(shown[0], self.kinds_of_voters())
        return tuple(_explained_once(shown))

    def kinds_of_voters(self) -> Mapping[str, int]:
        """Return judges of each kind who vote together, where there are several kinds."""
        kinds: Mapping[str, int] = self.settings.get("kinds", {})
        return kinds

    def shown(self) -> tuple[str, ...]:
        """Return the names of the tables that a command shows by default."""
        return tuple(one.name for one in islice(self._each(), self.SHOWN))

    def closing(self) -> Sequence[Message]:
        """Return what a command says below it; `warnings` has the doubts, too."""
        return ()

    @property
    def exit_code(self) -> int:
        """What the command ends with: 1 where what was looked at is at fault."""
        return 0

    def plots(self) -> tuple[Plot, ...]:
        """Return what can be drawn."""
        return ()

    def facts(self) -> Mapping[str, Any]:
        """Return what is one value and no table."""
        return {}

    def last_line(self) -> str:
        """Return the sentence that people read last on stdout; empty = there is none."""
        return ""

    def lines(self) -> Iterator[str] | None:
        """Return what people read instead of tables, where the field has a form of lines for it."""
        return None

    def __repr__(self) -> str:
        axes = ((name, getattr(self, name, None)) for name in AXES)
        sizes = [f"{len(axis):,} {name}" for name, axis in axes if isinstance(axis, Sequence) and axis]
        of_what = f" of {', '.join(sizes)}" if sizes else ""
        return f"{type(self).__name__}{of_what}\ntables: {', '.join(self.names())}"

    def _repr_html_(self) -> str:
        return html(self.views()[0])


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Done(Result):
    """What an action did, in numbers and in words; there are no tables."""

    counts: Mapping[str, Any] = field(default_factory=lambda: frozen_settings())
    """What was done, by name."""
    messages: tuple[str, ...] = ()
    """Sentences, as the command line shows them."""
    written: tuple[str, ...] = ()
    """Lines that went into no file, because none was named."""
    code: int = 0
    """What the command ends with."""

    def facts(self) -> Mapping[str, Any]:
        """Return the numbers."""
        return self.counts

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return self.code

    def __repr__(self) -> str:
        return "\n".join((*self.messages, *(f"warning: {one}" for one in self.warnings)))

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"


def _explained_once(views: Sequence[View]) -> list[View]:
    explained: set[tuple[str, str]] = set()
    found: list[View] = []
    for view in reversed(views):
        declared = view.declared()
        own = {(one.title.strip(), one.about) for one in declared if one.about}
        if own & explained:
            columns = [
                replace(one, about="") if (one.title.strip(), one.about) in explained else one
                for one in declared
            ]
            view = replace(view, columns=columns)
        explained |= own
        found.append(view)
    return _said_once(found[::-1])


def _said_once(views: Sequence[View]) -> list[View]:
    """Leave out of each view the notes that one above it has; a word such as "none" is the view's own."""
    said: set[str] = set()
    found: list[View] = []
    for view in views:
        notes = view.shown().notes
        is_new = said.isdisjoint(notes)
        found.append(view if is_new else replace(view, notes=[one for one in notes if one not in said]))
        said.update(one for one in notes if " " in one)
    return found


def facts_view(facts: Mapping[str, Any], notes: Sequence[str] = ()) -> View:
    """Return single facts as people read them: two columns, under the first as their heading."""
    texts = {
        name.replace("_", " "): f"{fact:,.4g}" if isinstance(fact, float) else written(fact, Column("fact"))
        for name, fact in facts.items()
    }
    (first, value), *others = texts.items()
    columns = [Column("name", heading=first), Column("value", heading=value or "-")]
    rows = [{"name": name, "value": text or "-"} for name, text in others]
    return View(Table.of_rows("facts", columns, rows, notes=notes), is_whole=True)


def fields_of(found: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, for a result that has them, too."""
    return {one.name: getattr(found, one.name) for one in fields(found)}


def frozen_settings(**settings: Any) -> Mapping[str, Any]:
    """Return settings that cannot be changed."""
    return MappingProxyType(settings)


def html(view: View) -> str:
    """Write a view as an HTML table, at most `NOTEBOOK_ROWS` rows of it."""
    from html import escape

    limit = min(view.limit or NOTEBOOK_ROWS, NOTEBOOK_ROWS)
    rows = range(len(view.table)) if view.rows is None else view.rows
    shown = render_view(replace(view, rows=rows[:limit]))
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


class _WarningCollector(Listener):
    """Keeps what it hears and hands it on, each warning once, and calls back with steps done."""

    def __init__(self, outer: Listener, progress: Progress | None) -> None:
        self._outer = outer
        self._progress = progress
        self.warnings: tuple[str, ...] = ()
        self.messages: list[str] = []
        self.written: list[str] = []

    def say(self, message: str) -> None:
        self.messages.append(message)
        self._outer.say(message)

    def write(self, lines: Iterable[str]) -> list[str]:
        unwritten = self._outer.write(lines)
        self.written += unwritten
        return unwritten

    def warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings += (message,)
            self._outer.warn(message)

    def note(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings += (message,)
            self._outer.note(message)

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Progress]:
        with self._outer.progress(label, total) as advance:

            def both(steps: int) -> None:
                advance(steps)
                if self._progress is not None:
                    self._progress(steps)

            yield both


@contextmanager
def collect_warnings(progress: Progress | None = None) -> Iterator[_WarningCollector]:
    """Keep the warnings of what is done inside, for the result; count its steps.

    >>> from pooler.messages import warn
    >>> with collect_warnings() as collected:
    ...     warn("few topics")
    >>> collected.warnings
    ('few topics',)
    """
    found = _WarningCollector(current_listener(), progress)
    with listening(found):
        yield found
