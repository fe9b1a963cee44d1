"""A whole collection into a directory: complete, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from store.db.database import Inside
from store.db.tables import DOCUMENT, JUDGE, POOL, TABLES
from store.errors import ArgumentError
from store.formats.scale import scale_from_json
from store.judging.judges import Disguise, are_disguised, count_notes, disguise_of
from store.judging.kinds import Heard
from store.keeping.directory.contract import (
    ExportChoice,
    Outgoing,
    pool_manifest,
    write_all_qrels,
    write_contract,
)
from store.keeping.directory.folder import MANIFEST, README, Writer, check_target, made_beside, manifest_text
from store.keeping.directory.readme import readme
from store.keeping.directory.tables import count_rows, table_lines
from store.keeping.progress import Progress, no_progress
from store.records import JudgeKind


@dataclass(frozen=True, slots=True)
class Written:
    """What an export wrote."""

    counts: Mapping[str, int]
    """Rows by table, and ``texts``, ``notes`` (reasons too), ``as_handed_in`` (runs)."""
    qrels: list[dict[str, Any]]
    """What `qrels.json` says of every file of qrels."""
    n_idle: int
    """Judges who have graded nothing."""
    n_files: int
    n_bytes: int
    names_kept: bool
    """Whether judges were to have new names and have had them before."""
    heard: Heard
    """Whose grades became those of the qrels; nobody where every judge has qrels of their own."""


def write_directory(
    transaction: AbstractContextManager[Inside],
    target: Path,
    choice: ExportChoice,
    *,
    program: str,
    replaces: bool = False,
    progress: Progress = no_progress,
) -> Written:
    """Write a whole collection into a directory, as it stands at one moment; or leave `target` as it was.

    `target` is not there or empty; with `replaces` also an earlier export that nobody has changed since.
    The same collection gives the same bytes, but for new names of judges, which are drawn by chance: nobody
    who knows the judges can draw them again. Judges who have such names already keep them.
    """
    choice.check()
    check_target(target, replaces=replaces)
    with made_beside(target, private=not choice.anonymised) as folder, transaction as inside:
        about = inside.session.execute(select(TABLES["collection"])).one()
        out = _outgoing(inside, choice, Writer(folder), progress, about)
        tables = {name: n for name, n in out.counts.items() if name in TABLES}
        if choice.layout == "pooler":
            with progress("tables", len(tables)) as advance:
                for file, lines in table_lines(inside.session, tables, choice.left_out, _renamed(out, about)):
                    out.writer.lines(file, lines)
                    advance(1)
        write_contract(out)
        qrels = write_all_qrels(out)
        with out.writer.text(README) as stream:
            stream.write(readme(out, about.name, qrels.files))
        tool, _, version = program.partition(" ")
        options = {"layout": choice.layout, "left_out": choice.left_out}
        said = {"tool": tool, "version": version, "name": about.name, "options": options, "counts": tables}
        out.writer.lines(MANIFEST, [manifest_text(out.writer.files, said)])
    sizes = [facts.bytes for facts in out.writer.files.values()]
    names_kept = choice.anonymised and not out.disguise.is_on
    return Written(out.counts, qrels.files, qrels.n_idle, len(sizes), sum(sizes), names_kept, qrels.heard)


def _outgoing(
    inside: Inside, choice: ExportChoice, writer: Writer, progress: Progress, about: Any
) -> Outgoing:
    """Look at the collection as a whole."""
    session = inside.session
    rows = session.execute(select(JUDGE)).all()
    judges = [one.name for one in rows]
    if unknown := {choice.policy.judge} - {None, *judges}:
        raise ArgumentError("judge", "must be a judge of the collection", unknown.pop())
    is_nobody = are_disguised(judges) and all(one.created_at == about.created_at for one in rows)
    disguise = disguise_of(judges) if choice.anonymised and not is_nobody else Disguise({})
    pools: dict[int, str] = {}
    for row_id, name in session.execute(select(POOL.c.id, POOL.c.name).order_by(POOL.c.id)):
        wanted = pools[row_id] = disguise.within(name)
        number = 1
        while [*pools.values()].count(pools[row_id]) > 1:
            number += 1
            pools[row_id] = f"{wanted}-{number}"
    has_text = select(func.count()).select_from(DOCUMENT).where(DOCUMENT.c.text.is_not(None))
    counts = count_rows(session, choice.left_out)
    counts["texts"] = (session.scalar(has_text) or 0) if choice.texts else 0
    is_told = choice.layout == "pooler" and choice.notes
    counts["notes"] = count_notes(session, [one.id for one in rows]) if is_told else 0
    return Outgoing(
        session=session,
        inside=inside,
        scale=scale_from_json(json.loads(about.scale)),
        choice=choice,
        disguise=disguise,
        judges={one.id: disguise.name(one.name) for one in rows},
        pools=pools,
        kinds={disguise.name(one.name): JudgeKind(one.kind) for one in rows},
        writer=writer,
        progress=progress,
        counts=counts,
    )


def _renamed(out: Outgoing, about: Any) -> dict[str, Callable[[Any], Any]]:
    """Return what writes the values of tables in which judges or runs are named: see `table_lines`."""
    disguise, names = out.disguise, dict(zip(_old_pools(out), out.pools.values(), strict=True))

    def of_pool(text: str) -> str:
        return json.dumps(pool_manifest(text, out.choice, disguise), sort_keys=True)

    def of_plan(text: str) -> str:
        # With the seed, and a name that is guessed, a judge's order could be drawn again.
        plan = {key: value for key, value in json.loads(text).items() if key != "seed"}
        pools = {"pools": [names.get(one, one) for one in plan["pools"]]} if "pools" in plan else {}
        return json.dumps(disguise.manifest({**plan, "pools": []}) | pools, sort_keys=True)

    renamed: dict[str, Callable[[Any], Any]] = {}
    if not out.choice.runs or disguise.is_on:
        renamed["pool.manifest"] = of_pool
    if out.choice.anonymised:
        renamed["judge.created_at"] = lambda _: about.created_at.isoformat()
    if disguise.is_on:
        renamed |= {
            "judge.name": disguise.name,
            "pool.name": names.__getitem__,
            "assignment_plan.manifest": of_plan,
            **dict.fromkeys(("pool.round", "judgement.iteration"), disguise.iteration),
            **dict.fromkeys(("assignment.display_order", "judgement.display_order"), disguise.order),
        }
    return renamed


def _old_pools(out: Outgoing) -> list[str]:
    """Return the names of the pools in the collection, the oldest first."""
    return list(out.session.scalars(select(POOL.c.name).order_by(POOL.c.id)))
