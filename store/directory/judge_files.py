"""Judges, and what is left of those who were erased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from store.column_types import new_uid
from store.directory.moving import Incoming, Outgoing
from store.directory.tables import (
    id_column,
    integer_column,
    moment_column,
    moment_or_none_column,
    read_table,
    text_column,
    word_column,
    write_table,
    yes_no_column,
)
from store.erasures import fetch_erasures, removed_words
from store.errors import FaultList
from store.formats.lines import id_fault, read_text_lines
from store.models import ERASURE, JUDGE
from store.natural_order import natural_key
from store.records import JudgeKind

JUDGES = "judges.tsv"
ERASURES = "erasures.tsv"
_UID_LENGTH = 16
_KINDS = tuple(kind.value for kind in JudgeKind)
_JUDGE_COLUMNS = (
    id_column("judge"),
    word_column("kind", _KINDS),
    yes_no_column("disabled"),
    moment_column("created_at"),
    text_column("uid"),
    moment_or_none_column("renamed_at"),
)
_OLD_JUDGE_COLUMNS = _JUDGE_COLUMNS[:4]
"""Of directories written before a judge was the same in all copies of a collection."""
_ERASURE_COLUMNS = (
    moment_column("erased_at"),
    word_column("kind", _KINDS),
    integer_column("judgements", least=0),
    integer_column("events", least=0),
    text_column("uid"),
)


def write_judges(out: Outgoing) -> None:
    """Write every judge, by name; of those with new names, nothing that tells who it is."""
    hidden = out.wishes.anonymised
    rows = [
        (out.judges[row.id], row.kind, row.disabled, out.created_at if hidden else row.created_at,
         "" if hidden else row.uid, None if hidden else row.renamed_at)
        for row in out.session.execute(select(JUDGE))
    ]  # fmt: skip
    rows.sort(key=lambda row: natural_key(row[0]))
    with out.writer.text(JUDGES) as stream:
        out.counts["judges"] = write_table(_JUDGE_COLUMNS, rows, stream)
    kinds = Counter(kind for _, kind, *_ in rows)
    out.how.extend(f"Judges of kind {kind}: {n:,}." for kind, n in sorted(kinds.items()))


def read_judges(coming: Incoming) -> None:
    """Read what `write_judges` wrote; who has no identity gets one."""
    faults = coming.faults.of(JUDGES)
    columns = _OLD_JUDGE_COLUMNS if _is_old(coming.path(JUDGES)) else _JUDGE_COLUMNS
    names = [column.name for column in columns[1:]]

    def rows() -> Iterator[dict[str, Any]]:
        for line, (name, *values) in read_table(coming.path(JUDGES), columns, faults):
            about = {"uid": "", "renamed_at": None, **dict(zip(names, values, strict=True))}
            if name in coming.judges:
                faults.add(line, f"expected each judge once, got `{name}` again", "duplicate")
            elif _takes_uid(coming, line, about, faults):
                coming.judges[name] = len(coming.judges) + 1
                yield {"id": coming.judges[name], "name": name, **about}

    coming.insert(JUDGE, rows())


def _is_old(path: str) -> bool:
    """Say whether a list of judges has the columns of old."""
    first = next((line for _, line in read_text_lines(path, FaultList(path))), "")
    return first.split("\t") == [column.name for column in _OLD_JUDGE_COLUMNS]


def write_erasures(out: Outgoing) -> None:
    """Write what is left of judges who were erased; of anonymous ones without their identity."""
    found = fetch_erasures(out.session)
    if not found:
        return
    hidden = out.wishes.anonymised
    with out.writer.text(ERASURES) as stream:
        rows = (
            (one.erased_at, one.kind.value, one.judgements, one.events, "" if hidden else one.uid)
            for one in found
        )
        out.counts["erasures"] = write_table(_ERASURE_COLUMNS, rows, stream)
    out.counts["erased_judgements"] = sum(one.judgements for one in found)
    out.how.append(f"Erased: {removed_words(one.judgements for one in found)} (`{ERASURES}`).")


def read_erasures(coming: Incoming) -> None:
    """Read what `write_erasures` wrote."""
    if ERASURES not in coming.files:
        return
    faults = coming.faults.of(ERASURES)
    names = [column.name for column in _ERASURE_COLUMNS]

    def rows() -> Iterator[dict[str, Any]]:
        for line, values in read_table(coming.path(ERASURES), _ERASURE_COLUMNS, faults):
            about = dict(zip(names, values, strict=True))
            if about["judgements"] > about["events"]:
                message = f"expected at least {about['judgements']} events, got {about['events']}"
                faults.add(line, message, "value")
            elif _takes_uid(coming, line, about, faults):
                yield about

    coming.insert(ERASURE, rows())


def _takes_uid(coming: Incoming, line: int, values: dict[str, Any], faults: FaultList) -> bool:
    """Make an identity where a row has none; tell one that cannot be, or comes again."""
    values["uid"] = uid = values["uid"] or new_uid()
    if id_fault(uid) or len(uid) > _UID_LENGTH:
        faults.add(line, f"`uid`: expected a word of {_UID_LENGTH} characters, got {uid!r}", "uid")
        return False
    if uid in coming.uids:
        faults.add(line, f"expected each uid once, got {uid} again", "duplicate")
        return False
    coming.uids.add(uid)
    return True
