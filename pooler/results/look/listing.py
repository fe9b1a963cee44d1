"""Lists: what there is in a collection, one row a thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from pooler.results.judge_kinds import erased_words
from pooler.results.result import Result, frozen_settings
from pooler.results.table import DOCNO, DOCUMENTS, JUDGE, RUN, TOPIC, Column, Table, View
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.overview import DocumentLine, JudgeLine, PoolLine, RunLine, TopicLine
    from store.records import Guideline

Kind = Literal["runs", "topics", "docs", "pools", "judges", "guidelines"]

SHOWN_DOCUMENTS = 50
"""Documents that people see unless they ask for more."""
SHOWN_SHA256 = 12
"""Digits of a hash that people see."""
_ROUND = "label of a pool, which its judgements carry in column 2 of qrels"
_LISTED = Column(
    "listed",
    "bool",
    about="named by a topics or documents file, not only by runs or qrels",
    show="if_varied",
    usual=(True, False),
)
_POOLED = Column("pooled", "int")
_JUDGED = Column("judged", "int")
_CANNOT = Column("cannot", "int", show="if_varied", usual=(0,))
_SKIPPED = Column("skipped", "int", show="if_varied", usual=(0,))
_UNJUDGED = Column("unjudged", "int", show="if_varied", usual=(0,))
_OUTSIDE = Column("outside", "int", show="if_varied", usual=(0,))
_RELEVANT = Column("relevant", "int")

STATE_COLUMNS = (_POOLED, _JUDGED, _CANNOT, _SKIPPED, _UNJUDGED, _OUTSIDE, _RELEVANT)
"""How documents stand with all judges together: `store.judging.states`."""
IN_POOL = (_JUDGED, _CANNOT, _SKIPPED, _UNJUDGED, _RELEVANT)
"""The same, of the documents of one pool."""
RUN_COLUMNS = (
    RUN,
    Column("group", show="if_any"),
    Column("contributes", "bool"),
    Column("topics", "int", show="if_varied"),
    DOCUMENTS,
    Column("pools", "int"),
    Column("file", show="if_any", can_go=1),
    Column("sha256", show="if_any", can_go=1),
    Column("imported_at", "day", "imported", show="if_varied", can_go=1),
)
TOPIC_COLUMNS = (
    TOPIC,
    Column("title", show="if_any", most=24),
    _LISTED,
    Column("version", "int"),
    Column("runs", "int", show="if_varied"),
    *STATE_COLUMNS,
    Column("older", "int", "with older text", show="if_any"),
)
DOCUMENT_COLUMNS = (
    DOCNO,
    Column("title", show="if_any", most=12),
    Column("text", "bool", show="if_varied", usual=(True, False)),
    _LISTED,
    Column("pools", "int"),
    *STATE_COLUMNS,
)
POOL_COLUMNS = (
    Column("pool"),
    Column("round", about=_ROUND, show="if_varied"),
    Column("strategy", show="if_any"),
    Column("depth", "int", show="if_any"),
    Column("topics", "int", show="if_varied"),
    DOCUMENTS,
    Column("budget", "int", show="if_any"),
    *IN_POOL,
    Column("runs", "int", show="if_varied", can_go=1),
    Column("withdrawn", "bool", show="if_varied", usual=(False,)),
    Column("made_at", "day", "made", show="if_varied", can_go=1),
)
JUDGE_COLUMNS = (
    JUDGE,
    Column("kind"),
    Column("model", show="if_any", about="as stated"),
    Column("family", show="if_any"),
    Column("disabled", "bool", show="if_varied", usual=(False,)),
    Column("topics", "int", show="if_varied"),
    _JUDGED,
    _CANNOT,
    _SKIPPED,
    Column(
        "undecided",
        "int",
        about="with only a note or a passage, or with a decision taken back",
        show="if_varied",
        usual=(0,),
    ),
    _RELEVANT,
    Column("events", "int"),
    Column("last_at", "moment", "last", show="if_any", can_go=1),
)
_GUIDELINE_COLUMNS = (
    Column("version", "int"),
    Column("created_at", "moment", "made"),
    Column("lines", "int"),
    Column("begins"),
)


def cells_of(line: Any, columns: Sequence[Column], **others: Any) -> dict[str, Any]:
    """Return the cells of a row: its own values, how its documents stand, or others where these are given."""
    stand = getattr(line, "counts", line)
    return {
        name: others[name] if name in others else getattr(line if hasattr(line, name) else stand, name)
        for name in (column.name for column in columns)
    }


def run_cells(line: RunLine) -> dict[str, Any]:
    """Return the cells of `RUN_COLUMNS`."""
    return cells_of(line, RUN_COLUMNS, run=line.tag, group=line.group or None)


def topic_cells(line: TopicLine) -> dict[str, Any]:
    """Return the cells of `TOPIC_COLUMNS`."""
    return cells_of(line, TOPIC_COLUMNS)


def pool_cells(line: PoolLine) -> dict[str, Any]:
    """Return the cells of `POOL_COLUMNS`."""
    depth = line.manifest.get("parameters", {}).get("depth")
    return cells_of(
        line,
        POOL_COLUMNS,
        pool=line.name,
        strategy=line.manifest.get("strategy"),
        depth=depth if isinstance(depth, int) else None,
        documents=line.counts.pooled,
        made_at=line.created_at,
    )


def judge_cells(line: JudgeLine) -> dict[str, Any]:
    """Return the cells of `JUDGE_COLUMNS`."""
    return cells_of(line, JUDGE_COLUMNS, judge=line.name, kind=line.kind.value)


def _document_cells(line: DocumentLine) -> dict[str, Any]:
    title = line.title if line.has_text else None
    return cells_of(line, DOCUMENT_COLUMNS, title=title, text=line.has_text)


def _guideline_cells(version: Guideline) -> dict[str, Any]:
    """Return the cells of `_GUIDELINE_COLUMNS`; the first line is the first that is not blank."""
    lines = version.text.splitlines()
    begins = next(line.strip() for line in lines if line.strip())
    return cells_of(version, _GUIDELINE_COLUMNS, lines=len(lines), begins=begins)


@dataclass(frozen=True, slots=True)
class _List:
    """What a list of one kind has."""

    columns: tuple[Column, ...]
    cells: Callable[[Any], dict[str, Any]]
    takes: tuple[str, ...]
    """What it can be narrowed to."""
    empty: str
    """Said where there is nothing."""


_LISTS = {
    "runs": _List(RUN_COLUMNS, run_cells, ("topic", "pool"), "no runs: pooler import runs FILE..."),
    "topics": _List(TOPIC_COLUMNS, topic_cells, ("pool", "judge"), "no topics: pooler import topics FILE"),
    "docs": _List(
        DOCUMENT_COLUMNS, _document_cells, ("topic", "pool", "judge"), "no documents: pooler import docs FILE"
    ),
    "pools": _List(POOL_COLUMNS, pool_cells, ("topic", "judge"), "no pools: pooler pool --depth 10"),
    "judges": _List(JUDGE_COLUMNS, judge_cells, ("topic", "pool"), "no judges: pooler judges add NAME"),
    "guidelines": _List(
        _GUIDELINE_COLUMNS, _guideline_cells, (), "no guidelines yet: pooler import guidelines FILE"
    ),
}


def listing(
    collection: Collection,
    kind: Kind,
    *,
    topic: str | None = None,
    pool: str | None = None,
    judge: str | None = None,
    limit: int | None = None,
) -> Listing:
    """List what there is of one kind, with its counts.

    Parameters
    ----------
    collection : Collection
        Open.
    kind : {"runs", "topics", "docs", "pools", "judges", "guidelines"}
        What a row is; of guidelines a version.
    topic : str, optional
        Of this topic alone; not of topics and guidelines.
    pool : str, optional
        Of this pool alone, withdrawn or not; not of pools and guidelines.
    judge : str, optional
        Count only what this judge did; not of runs, judges and guidelines.
    limit : int, optional
        Documents that are read at most, by docno; from 1. Other kinds are read whole.

    Returns
    -------
    Listing
        One table, named as the kind; ``docs`` are `documents`.

    Raises
    ------
    ArgumentError
        If the kind is none of these, or is not narrowed to what is given.
    UnknownNameError
        If there is no such topic, pool or judge.

    Notes
    -----
    A few queries for any size; of documents O(documents log documents) without a limit.

    Examples
    --------
    >>> from store.collection import Collection
    >>> with Collection("collection.db") as opened:  # doctest: +SKIP
    ...     listing(opened, "runs", topic="G01").table("runs").to_dict()["documents"]
    [45, 45]
    """
    from store.judging.states import Sought

    if kind not in get_args(Kind):
        raise ArgumentError("kind", f"must be one of {', '.join(get_args(Kind))}", kind)
    given = {"topic": topic, "pool": pool, "judge": judge}
    for name, value in given.items():
        if value is not None and name not in _LISTS[kind].takes:
            raise ArgumentError(name, f"does not narrow a list of {kind}", value)
    sought = Sought(topic=topic, pool=pool, judge=judge)
    total: int | None = None
    lines: Sequence[Any]
    if kind == "docs":
        found = collection.lists.documents(sought, limit=limit)
        lines, total = found.lines, found.total
    elif kind == "guidelines":
        lines = collection.guidelines.all()
    else:
        lines = getattr(collection.lists, kind)(sought)
    return Listing(
        settings=frozen_settings(collection=collection.name, kind=kind, limit=limit, **given),
        kind=kind,
        rows=tuple(map(_LISTS[kind].cells, lines)),
        total=len(lines) if total is None else total,
        relaxed=collection.scale.relaxed,
        erased=erased_words(collection) if kind == "judges" else "",
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Listing(Result):
    """What there is of one kind: one table, of a row a thing."""

    kind: Kind
    rows: tuple[Mapping[str, Any], ...]
    total: int
    """Things there are, with those that a limit left out."""
    relaxed: int
    """Least grade that counts as relevant."""
    erased: str
    """What is gone with judges that were erased, in words; of judges alone."""

    def names(self) -> tuple[str, ...]:
        """Return the name of the only table."""
        return ("documents" if self.kind == "docs" else self.kind,)

    def _table(self, name: str) -> Table:
        pool, judge = self.settings["pool"], self.settings["judge"]
        by = "" if self.kind == "judges" else f" by {judge or 'somebody, person or model'}"
        about = {
            "outside": f"judged, but {'in no pool' if pool is None else f'not in {pool}'}",
            "relevant": f"graded {self.relaxed} or more{by}",
        }
        columns = [
            replace(column, about=about.get(column.name, column.about))
            for column in _LISTS[self.kind].columns
        ]
        return Table.of_rows(name, columns, self.rows, notes=[*self._size(name), self.erased])

    def _size(self, name: str) -> list[str]:
        if not self.rows:
            is_narrowed = any(self.settings[one] for one in ("topic", "pool", "judge"))
            return [f"no such {name}" if is_narrowed and self.kind != "judges" else _LISTS[self.kind].empty]
        if len(self.rows) < self.total:
            return [f"{len(self.rows):,} of {self.total:,} {name}: --limit shows more"]
        return [counted(self.total, self._noun(name))]

    def _noun(self, name: str) -> str:
        return "version" if self.kind == "guidelines" else name.removesuffix("s")

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        if self.kind == "runs":
            short = [sha256[:SHOWN_SHA256] for sha256 in table.data["sha256"]]
            table = replace(table, data={**table.data, "sha256": short})
        if self.kind == "guidelines":
            short = [text if len(text) <= 40 else f"{text[:37]}..." for text in table.data["begins"]]
            table = replace(table, data={**table.data, "begins": short})
        limit = SHOWN_DOCUMENTS if self.kind == "docs" else None
        return [View(table, limit=limit, of_rows=self._noun(name))]
