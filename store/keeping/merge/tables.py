"""What copies say of a row, declared a table at a time; and the one way in which any two rows become one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import and_, itemgetter, or_
from typing import Any

from sqlalchemy import Table, select, update
from sqlmodel import Session

from store.content.pools import is_same_plan
from store.db.raw import insert_one
from store.db.tables import ASSIGNMENT_PLAN, ERASURE, GUIDELINE, JUDGE, MODEL_JUDGE, POOL, RUN, SITTING
from store.judging.judges import rename
from store.keeping.merge.copies import Copy, Here

DIFFERENT = object()
"""What comes of two values that cannot be one."""
_NEVER = datetime.min.replace(tzinfo=UTC)

Values = Mapping[Any, Any]
"""Of a row, by the names of columns; row ids of other tables are those here."""


@dataclass(frozen=True, slots=True)
class United:
    """How the values of a column on two copies become one, or those of several that go together."""

    names: tuple[str, ...]
    unite: Callable[[Any, Any], Any]
    """In either order it gives the same; of several columns it is given, and gives, tuples."""
    told: str = ""
    """What is said of a row there and `mine` where that is `DIFFERENT`."""

    def of(self, mine: Values, row: Values) -> dict[str, Any] | None:
        """Return what two rows come to; ``None`` = they differ."""
        read = itemgetter(*self.names)
        united = self.unite(read(mine), read(row))
        if united is DIFFERENT:
            return None
        return dict(zip(self.names, united if len(self.names) > 1 else (united,), strict=True))


def fetch_rows(session: Session, table: Table) -> list[Values]:
    """Return all rows of a table by id."""
    return list(session.execute(select(table).order_by(table.c.id)).mappings())


def same(one: Any, other: Any) -> Any:
    """Let values be alike."""
    return one if one == other else DIFFERENT


def where_both(unite: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a value stand where the other copy knows none."""
    return lambda one, other: unite(one, other) if one and other else one or other


def united_values(
    here: Here, copy: Copy, columns: tuple[United, ...], mine: Values, row: Values
) -> dict[str, Any] | None:
    """Return what two rows come to; where they differ, note the first difference and return ``None``."""
    values: dict[str, Any] = {}
    for column in columns:
        found = column.of(mine, row)
        if found is None:
            here.differs(copy, column.told.format(mine=mine, row=row))
            return None
        values |= found
    return values


@dataclass(frozen=True, slots=True)
class MergedTable:
    """How rows of a table on two copies become one; other columns are alike, or of no account."""

    table: Table
    key: tuple[str, ...]
    """What a row is known by."""
    columns: tuple[United, ...] = ()
    noun: str = ""
    """What new rows are counted as; empty = they are not."""
    counted: tuple[str, ...] = ()
    """Columns whose change is counted."""
    is_another: str = ""
    """What is said of a new row whose name an`other` one has here; empty = rows have no names."""
    has_name_of_another: str = ""
    """What is said where `mine` would get a `name` that another one has."""
    order: tuple[str, ...] = ("id",)
    """In which the rows of a copy come in."""
    rename: Callable[[Session, str, str], Any] | None = None
    """What else is to be done when a row gets another name."""
    large: str = ""
    """A column that is alike where it is known: read of one row at a time."""
    id: str = "id"
    """The column of its row id."""

    def fetch(self, session: Session) -> list[Values]:
        """Return all rows, of a large column whether it is known."""
        order = [self.table.c[name] for name in self.order]
        columns = [
            one.is_not(None).label(self.large) if one.name == self.large else one for one in self.table.c
        ]
        return list(session.execute(select(*columns).order_by(*order)).mappings())

    def unite_all(self, here: Here, copy: Copy) -> tuple[dict[int, int], list[Values]]:
        """Take in the rows of a copy; return row ids here by those there, and the rows that are new."""
        read = itemgetter(*self.key)
        own = {read(row): row for row in self.fetch(here.session)}
        ids, new = {}, []
        for row in self.fetch(copy.session):
            mine = own.get(read(row))
            ids[row["id"]] = self.unite(here, copy, mine, row)
            new += [row] if mine is None else []
        return ids, new

    def unite(self, here: Here, copy: Copy, mine: Values | None, row: Values) -> int:
        """Take in a row of a copy and return its row id here; a difference is noted."""
        session = here.session
        if self.large:
            is_wanted = row[self.large] and not (mine and mine[self.large])
            its = select(self.table.c[self.large]).where(self.table.c.id == row["id"])
            row = {**row, self.large: copy.session.scalar(its) if is_wanted else None}
        if mine is None:
            if self.is_another and (other := self._called(session, row["name"])) is not None:
                here.differs(copy, self.is_another.format(row=row, other=other))
                return 0
            if self.noun:
                copy.count.new[self.noun] += 1
            return insert_one(session, self.table, {name: row[name] for name in row if name != "id"})
        row_id = int(mine[self.id])
        values = united_values(here, copy, self.columns, mine, row)
        if values is None:
            return row_id
        if self.large and row[self.large] is not None:
            values[self.large] = row[self.large]
            copy.count.changed[self.noun] += 1
        name = values.get("name")
        if name is not None and name != mine["name"]:
            if self._called(session, name) is not None:
                here.differs(copy, self.has_name_of_another.format(mine=mine, name=name))
                return row_id
            if self.rename is not None:
                self.rename(session, mine["name"], name)
        if any(mine[column] != value for column, value in values.items()):
            session.execute(update(self.table).where(self.table.c[self.id] == row_id).values(values))
        if self.counted:
            copy.count.changed[self.noun] += sum(mine[column] != values[column] for column in self.counted)
        return row_id

    def _called(self, session: Session, name: str) -> Values | None:
        """Return the row of a name here."""
        return session.execute(select(self.table).where(self.table.c.name == name)).mappings().first()


GUIDELINES = MergedTable(
    GUIDELINE,
    ("version",),
    (
        United(
            ("text",),
            same,
            "version {row[version]} of the guidelines has another text: judgements made under it there and"
            " here were made under different rules",
        ),
        United(("created_at",), min),
    ),
    "versions of the guidelines",
    order=("version",),
)
RUNS = MergedTable(
    RUN,
    ("tag",),
    (
        United(("sha256",), same, "run `{row[tag]}` is another file ({row[file]}, here {mine[file]})"),
        United(("group",), where_both(same), "run `{row[tag]}` is of group {row[group]}, here {mine[group]}"),
        United(("contributes",), and_),
        United(("priority",), max),
        United(("file",), min),
        United(("imported_at",), min),
        United(("header",), where_both(max)),
    ),
    "runs",
    counted=("contributes",),
    large="as_handed_in",
)
"""A run that one copy has taken out of the pools contributes no more."""


def _newest_name(*named: tuple[datetime | None, str]) -> tuple[datetime | None, str]:
    """Return the name that was given last, and when."""
    return max(named, key=lambda one: (one[0] or _NEVER, one[1]))


JUDGES = MergedTable(
    JUDGE,
    ("uid",),
    (
        United(("kind",), same, "judge `{row[name]}` is of kind {row[kind]}, here {mine[kind]}"),
        United(("renamed_at", "name"), _newest_name),
        United(("uid",), min),
        United(("disabled",), or_),
        United(("created_at",), min),
    ),
    "judges",
    counted=("name", "disabled"),
    order=("uid",),
    is_another="judge `{row[name]}` is another judge here; rename one of them",
    has_name_of_another="judge `{mine[name]}` is called `{name}` there, as another judge is here",
    rename=rename,
)
MODELS = MergedTable(
    MODEL_JUDGE,
    ("judge_id",),
    (
        United(
            ("identity", "sha256", "family"),
            same,
            "model judge `{mine[judge]}` is another one there: its identity or family differs",
        ),
        United(("prompt",), where_both(same), "model judge `{mine[judge]}` has another prompt there"),
        United(("stated_at",), min),
    ),
    order=("judge_id",),
    id="judge_id",
)
ERASURES = MergedTable(
    ERASURE,
    ("uid",),
    (United(("judgements",), max), United(("events",), max), United(("erased_at",), min)),
    order=("uid",),
)
"""The counts are those of whoever erased the judge, the larger ones where several did: what copies still
had depends on which of them came together before."""


def _known_host(one: tuple[str, int], other: tuple[str, int]) -> tuple[str, int]:
    """Return host and process; where one copy has forgotten them, they are not known."""
    return one if bool(one[0]) == bool(other[0]) else ("", 0)


def sittings(topics: Mapping[int, str]) -> MergedTable:
    """Make the table of sittings: one has gone on as far as the copy knows that knows the most."""

    def latest(*seen: tuple[datetime, int | None]) -> tuple[datetime, int | None]:
        return max(seen, key=lambda one: (one[0], "" if one[1] is None else topics[one[1]]))

    return MergedTable(
        SITTING,
        ("started_at",),
        (
            United(("seen_at", "topic_id"), latest),
            United(("ended_at",), where_both(max)),
            United(("host", "process"), _known_host),
            United(("program",), min),
        ),
        "sittings",
        order=("started_at", "id"),
    )


PLANS = MergedTable(
    ASSIGNMENT_PLAN, ("created_at", "lease_s"), noun="plans of assignment", order=("created_at", "id")
)


def _one_plan(*named: tuple[str, str]) -> Any:
    """Return manifest and name of a pool: one that was replaced has given up its name."""
    plans = [json.loads(manifest) for manifest, _ in named]
    if not is_same_plan(*({**plan, "replaced": None} for plan in plans)):
        return DIFFERENT
    names = [("replaced" in plan, name) for plan, (_, name) in zip(plans, named, strict=True)]
    return max((manifest for manifest, _ in named), key=lambda text: (len(text), text)), max(names)[1]


POOLS = MergedTable(
    POOL,
    ("created_at",),
    (
        United(("round", "display_order"), same, "pool `{mine[name]}` has another round or order there"),
        United(("manifest", "name"), _one_plan, "pool `{mine[name]}` was made by another plan there"),
        United(("withdrawn",), or_),
        United(("created_at",), min),
    ),
    "pools",
    counted=("withdrawn",),
    is_another="pool `{row[name]}` is another pool here, made {other[created_at]:%Y-%m-%d %H:%M:%S} UTC",
    has_name_of_another="pool `{mine[name]}` is called `{name}` there, as another one is here",
)
"""What is withdrawn on one copy is withdrawn."""
