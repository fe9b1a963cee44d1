"""Where a collection names its judges beside the list of them, and other names in their place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Table, select, update
from sqlmodel import Session

from store.directory.disguise import Disguise
from store.models import ASSIGNMENT_PLAN, JUDGE, JUDGEMENT, POOL
from store.natural_order import natural_key

_LISTS = ("judge", "judges")
"""Keys of manifests that hold names of judges and nothing else."""
_POOL_KEYS = {"name", "pools", "replaced"}
"""Keys of manifests that hold names of pools."""


@dataclass(frozen=True, slots=True)
class Named:
    """Where names of judges stand, beside the list of judges."""

    plans: int = 0
    """Plans of pools and of assignments."""
    pools: tuple[str, ...] = ()
    """Pools whose name or round holds one, as they were called."""
    events: int = 0
    """Events of whatever judge whose round holds one."""


def rename_in_lists(session: Session, old: str, new: str) -> int:
    """Put a name in place of another wherever a plan lists judges; return how many plans did.

    Names of pools, rounds and files stay: somebody gave them, and other copies of the collection
    know them by these.
    """
    n_plans = 0
    for table in (ASSIGNMENT_PLAN, POOL):
        for row_id, manifest in _manifests(session, table):
            listed = {key: manifest[key] for key in _LISTS if key in manifest}
            renamed = {key: _renamed(value, old, new) for key, value in listed.items()}
            if renamed != listed:
                _write(session, table, row_id, {**manifest, **renamed})
                n_plans += 1
    return n_plans


def replace_names(session: Session, names: Mapping[str, str], *, dry_run: bool = False) -> Named:
    """Put other names in place of judges', wherever a collection names them beside their list.

    Parameters
    ----------
    session : Session
        A bulk writing session; with `dry_run` any.
    names : mapping of str to str
        Old to new.
    dry_run : bool, default=False
        Whether only to say where they stand.

    Returns
    -------
    Named

    Notes
    -----
    These are the places where `store.directory.disguise` hides a name that is published: the names
    and rounds of pools, the rounds of events, and the plans of both pools and assignments, as words
    of their own: ``ann`` is not within ``annotated``, nor within the name of a judge ``ann-2``. The
    seed of an assignment that names one of them goes: with it, and a name that is guessed, the
    order of that judge's documents could be drawn again.
    """
    disguise = disguise_among(session, names)
    renamed_pools = _rename_pools(session, disguise, dry_run=dry_run)
    n_plans = 0
    for table in (ASSIGNMENT_PLAN, POOL):
        for row_id, manifest in _manifests(session, table):
            new = {
                key: manifest[key] if _is_resorted(manifest[key], value) else value
                for key, value in disguise.manifest(manifest).items()
            }
            for key in _POOL_KEYS & manifest.keys():
                new[key] = _mapped(manifest[key], renamed_pools)
            if new == manifest:
                continue
            n_plans += 1
            if table is ASSIGNMENT_PLAN:
                new.pop("seed", None)
            if not dry_run:
                _write(session, table, row_id, new)
    n_events = _rename_rounds(session, disguise, dry_run=dry_run)
    return Named(n_plans, tuple(renamed_pools), n_events)


def rounds_and_pools_with(session: Session, name: str) -> Named:
    """Say where a name stands that `rename_in_lists` leaves alone."""
    found = replace_names(session, {name: ""}, dry_run=True)
    return Named(0, found.pools, found.events)


def disguise_among(session: Session, names: Mapping[str, str]) -> Disguise:
    """Return other names for some judges; a longer name that holds one of them is another's."""
    everybody = session.scalars(select(JUDGE.c.name))
    return Disguise({**{name: name for name in everybody}, **names})


def _is_resorted(old: Any, new: Any) -> bool:
    """Say whether a list differs in its order alone."""
    if old is new or not isinstance(old, list):
        return False
    return Counter(map(str, old)) == Counter(map(str, new))


def _rename_pools(session: Session, disguise: Disguise, *, dry_run: bool) -> dict[str, str]:
    """Rename pools and their rounds; return old to new names of those that change in either."""
    rows = session.execute(select(POOL.c.id, POOL.c.name, POOL.c.round).order_by(POOL.c.id)).all()
    taken = {row.name for row in rows}
    renamed: dict[str, str] = {}
    for row in rows:
        wanted, label = disguise.within(row.name), disguise.iteration(row.round)
        if (wanted, label) == (row.name, row.round):
            continue
        new, number = wanted, 1
        while new != row.name and new in taken:
            number += 1
            new = f"{wanted}-{number}"
        taken.add(new)
        renamed[row.name] = new
        if not dry_run:
            values = {"name": new, "round": label}
            session.execute(update(POOL).where(POOL.c.id == row.id).values(values))
    return renamed


def _rename_rounds(session: Session, disguise: Disguise, *, dry_run: bool) -> int:
    """Rename rounds that events carry; return how many events do."""
    labels = session.scalars(select(JUDGEMENT.c.iteration).distinct()).all()
    n_events = 0
    for label in labels:
        new = disguise.iteration(label)
        if new == label:
            continue
        is_its: ColumnElement[bool] = JUDGEMENT.c.iteration == label
        n_events += len(session.scalars(select(JUDGEMENT.c.id).where(is_its)).all())
        if not dry_run:
            session.execute(update(JUDGEMENT).where(is_its).values(iteration=new))
    return n_events


def _manifests(session: Session, table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the row id and the manifest of every plan."""
    query = select(table.c.id, table.c.manifest).order_by(table.c.id)
    for row_id, text in session.execute(query).all():
        yield row_id, json.loads(text)


def _write(session: Session, table: Table, row_id: int, manifest: Mapping[str, Any]) -> None:
    """Store a manifest in place of another."""
    text = json.dumps(manifest, sort_keys=True)
    session.execute(update(table).where(table.c.id == row_id).values(manifest=text))


def _mapped(value: Any, names: Mapping[str, str]) -> Any:
    """Put names in place of others: alone, or in a list, whose order stays."""
    if isinstance(value, list):
        return [names.get(one, one) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def _renamed(value: Any, old: str, new: str) -> Any:
    """Put a name in place of another: alone, or in a list, which is sorted anew then."""
    if value == old:
        return new
    if isinstance(value, list) and old in value:
        return sorted((new if one == old else one for one in value), key=natural_key)
    return value
