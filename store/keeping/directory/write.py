"""A whole collection into a directory: complete, or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from store.db.database import Inside
from store.db.tables import JUDGE, JUDGE_TERM, SITTING, TABLES
from store.errors import ArgumentError, PoolerError
from store.formats.scale import scale_from_json
from store.judging.judges import Disguise, are_disguised, disguise_of
from store.judging.kinds import Heard
from store.keeping.directory.layouts import check_layout, is_kept, write_layout
from store.keeping.directory.manifest import MANIFEST, README, file_fault, manifest_text, read_manifest
from store.keeping.directory.parts import PARTS
from store.keeping.directory.qrels import write_agreement, write_all_qrels, write_statistics
from store.keeping.directory.readme import readme
from store.keeping.directory.tables import About, ExportChoice, Outgoing, Writer, check_target, made_beside
from store.keeping.progress import Progress, no_progress


@dataclass(frozen=True, slots=True)
class Written:
    """What an export wrote."""

    counts: Mapping[str, int]
    qrels: list[dict[str, Any]]
    """What the manifest says of every file of qrels."""
    n_idle: int
    """Judges who have graded nothing."""
    n_files: int
    n_bytes: int
    names_kept: bool
    """Whether judges were to have new names and have had them before."""
    heard: Heard
    """Whose grades became those of the qrels; nobody where every judge has qrels of their own."""
    rewritten_runs: tuple[str, ...] = ()
    """Tags of runs whose file as handed in was not there to be copied."""


def write_directory(
    transaction: AbstractContextManager[Inside],
    target: Path,
    export_choice: ExportChoice,
    *,
    program: str,
    replaces: bool = False,
    progress: Progress = no_progress,
) -> Written:
    """Write a whole collection into a directory, as it stands at one moment; or leave `target` as it was.

    `target` is not there or empty; with `replaces` also an earlier export that nobody has changed since.
    Equal collections give equal bytes, but for new names of judges, which are drawn by chance: nobody who
    knows the judges can draw them again. Judges who have such names already keep them.
    """
    layout = export_choice.layout
    check_layout(export_choice)
    check_target(target)
    if target.exists() and any(target.iterdir()):
        _check_replaceable(target, replaces=replaces)
    private = not export_choice.anonymised
    with made_beside(target, private=private) as folder, transaction as inside:
        writer = Writer(folder, partial(is_kept, layout))
        out = _outgoing(inside, export_choice, writer, progress)
        for part in PARTS:
            part.write(out)
        write_layout(out)
        qrels = write_all_qrels(out)
        write_statistics(out)
        write_agreement(out)
        writer.write(README, readme(out, qrels.files))
        writer.write(MANIFEST, manifest_text(out, qrels.files, program=program))
    facts = writer.files.values()
    n_bytes = sum(one.n_bytes for one in facts)
    names_kept = export_choice.anonymised and not out.disguise.is_on
    return Written(
        out.counts,
        qrels.files,
        qrels.n_idle,
        len(facts),
        n_bytes,
        names_kept,
        qrels.heard,
        tuple(out.rewritten_runs),
    )


def _check_replaceable(target: Path, *, replaces: bool) -> None:
    """Refuse a folder that is no earlier export, or has something of its own."""
    if not (target / MANIFEST).is_file():
        message = f"{target} already exists, and is not an exported collection"
        raise PoolerError(message, hint="name another folder, or remove this one first")
    if not replaces:
        message = f"{target} already exists"
        raise PoolerError(message, hint="--replace takes its place; or name another folder")
    manifest = read_manifest(target)
    files = {**manifest.files, README: manifest.readme}
    changed = next((name for name in files if file_fault(target, name, files[name])), None)
    if changed is not None:
        message = f"{target}: {changed} is not as it was exported"
        raise PoolerError(message, hint="keep what is yours elsewhere, then remove the folder")
    for parent, _, names in os.walk(target):
        for name in names:
            path = (Path(parent) / name).relative_to(target).as_posix()
            if path not in files and path != MANIFEST:
                message = f"{target}: {path} is not of the export, and would be lost"
                raise PoolerError(message, hint="move it elsewhere first, or name another folder")


def _outgoing(inside: Inside, export_choice: ExportChoice, writer: Writer, progress: Progress) -> Outgoing:
    """Look at the collection as a whole."""
    row = inside.session.execute(select(TABLES["collection"])).one()
    fields = json.loads(row.fields or "[]") if export_choice.texts else ()
    scale = scale_from_json(json.loads(row.scale))
    about = About(row.name, scale, row.created_at, row.created_by, tuple(fields))
    names = {one.id: one for one in inside.session.execute(select(JUDGE))}
    judges = [one.name for one in names.values()]
    disguise = Disguise({})
    if export_choice.anonymised:
        hosts = select(func.count(SITTING.c.id)).where(SITTING.c.host != "")
        is_nobody = (
            are_disguised(judges)
            and all(one.created_at == row.created_at for one in names.values())
            and not inside.session.scalar(hosts)
            and not inside.session.scalar(select(func.count(JUDGE_TERM.c.id)))
        )
        disguise = Disguise({}) if is_nobody else disguise_of(judges)
    if unknown := {export_choice.policy.judge} - {None, *judges}:
        raise ArgumentError("judge", "must be a judge of the collection", unknown.pop())
    return Outgoing(
        session=inside.session,
        about=about,
        topic_keys=inside.topics,
        document_keys=inside.documents,
        judges={row_id: disguise.name(one.name) for row_id, one in names.items()},
        disguise=disguise,
        export_choice=export_choice,
        writer=writer,
        progress=progress,
    )
