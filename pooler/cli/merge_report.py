"""What a merge came to, in tables and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pooler.cli.conflict_file import outcome_words
from pooler.cli.console import Cell, Column, Format, Table, counted, emit, say, warn
from pooler.cli.moments import moment

if TYPE_CHECKING:
    from store.merging.report import Conflict, CopyCount, JudgeCount, Merged

_RULES = ("latest", "earliest", "highest", "lowest")
HOW = {
    "agreed": "said the same",
    "decision": "a decision stood against none",
    "by hand": "by hand",
    **{rule: f"by {rule}" for rule in (*_RULES, "unjudged")},
}
"""How copies that had gone on apart were settled, in words."""
_JUDGES = (
    Column("judge"),
    Column("new", "new events"),
    Column("there", "there already"),
    *(Column(name.replace(" ", "_"), words) for name, words in HOW.items()),
)
_COPIES = (
    Column("copy"),
    Column("part"),
    Column("what"),
    Column("new"),
    Column("changed"),
    Column("left_out", "left out"),
)
_WOULD = tuple(map(Column, _RULES))
"""What each rule would let stand; people see it from what copies say, and when."""
_CONFLICTS = (
    Column("topic"),
    Column("docno"),
    Column("judge"),
    Column("copy"),
    Column("says"),
    Column("by", "settled before"),
    Column("at", "decided at"),
    Column("reason"),
    Column("note"),
    *_WOULD,
    Column("settled"),
    Column("took"),
)


def emit_report(done: Merged, fmt: Format) -> None:
    """Write what a merge came to: judges, copies, conflicts; or the conflicts that stop it."""
    is_open = bool(done.open_conflicts)
    tables = [
        _judges([] if is_open else done.judges, fmt),
        _copies([] if is_open else done.copies),
        _conflicts(done.open_conflicts if is_open else done.conflicts, fmt),
    ]
    if fmt is Format.TABLE:
        tables = [_without_empty(table) for table in tables if table.rows]
    if tables:
        emit(tables, fmt)


def say_what_came(done: Merged, *, dry_run: bool) -> None:
    """Say in a few lines what a merge did, or would."""
    would = "would be " if dry_run else ""
    new = sum(one.new for one in done.judges)
    settled = sum(one.settled.total() for one in done.judges)
    for name in done.erased:
        warn(f"judge `{name}` {would}erased here, as on another copy: all that judge did is gone")
    for copy in done.copies:
        for reason, n in copy.left_out.items():
            if n:
                warn(f"{copy.name}: {n:,} {reason} {would}left out")
    if done.n_emptied:
        what = counted(done.n_emptied, "note or reason", "notes and reasons")
        warn(f"{what} {would}removed here, as on another copy")
    if done.is_nothing_new:
        is_left_out = any(copy.left_out.total() for copy in done.copies)
        say("nothing new beside them" if is_left_out else "nothing new: all of it is here already")
        return
    parts = [f"{counted(new, 'new judgement event')}"]
    if settled:
        parts.append(
            f"{counted(settled, 'document')} that one judge had worked on in several copies"
        )
    say(f"{', '.join(parts)}{' (a trial: nothing was changed)' if dry_run else ''}")


def _judges(judges: Iterable[JudgeCount], fmt: Format) -> Table:
    """Make the table of judges."""
    table = Table("judges", _JUDGES)
    for one in judges:
        row: dict[str, Cell] = {"judge": one.judge, "new": one.new, "there": one.there}
        for name in HOW:
            row[name.replace(" ", "_")] = one.settled[name] or (None if fmt is Format.TABLE else 0)
        table.rows.append(row)
    return table


def _copies(copies: Iterable[CopyCount]) -> Table:
    """Make the table of what copies brought beside judgements."""
    table = Table("copies", _COPIES)
    for one in copies:
        whats = dict.fromkeys((*one.new, *one.changed, *one.left_out))
        for what in whats:
            numbers = one.new[what], one.changed[what], one.left_out[what]
            if any(numbers):
                table.rows.append({
                    "copy": one.name, "part": one.is_part, "what": what,
                    "new": numbers[0] or None, "changed": numbers[1] or None,
                    "left_out": numbers[2] or None,
                })  # fmt: skip
    return table


def _conflicts(conflicts: Sequence[Conflict], fmt: Format) -> Table:
    """Make the table of conflicts, a line for what each copy says."""
    table = Table("conflicts", _CONFLICTS)
    to_the_second = fmt is Format.TABLE and any(map(_are_alike, conflicts))
    for one in conflicts:
        would = {rule.value: outcome_words(take) for rule, take in one.would.items()}
        about: dict[str, Cell] = {
            "topic": one.topic, "docno": one.docno, "judge": one.judge,
            **{rule: would[rule] for rule in _RULES},
            "settled": _how(one.settled),
            "took": None if one.took is None else outcome_words(one.took),
        }  # fmt: skip
        for number, version in enumerate(one.versions):
            # For people, what holds for all lines stands in the first alone.
            shown = dict.fromkeys(about, "") if number and fmt is Format.TABLE else about
            table.rows.append({
                **shown, "copy": ", ".join(version.copies), "says": outcome_words(version.outcome),
                "by": _how(version.settled),
                "at": f"{version.judged_at.astimezone():%Y-%m-%d %H:%M:%S}" if to_the_second
                else moment(version.judged_at, fmt), "reason": version.reason or None,
                "note": version.note or None,
            })  # fmt: skip
    return _without_empty(table) if fmt is Format.TABLE else table


def _how(settled: str | None) -> str | None:
    """Say how a conflict was settled; ``None`` = it was not."""
    return None if settled is None else HOW.get(settled, settled)


def _are_alike(conflict: Conflict) -> bool:
    """Tell whether two decisions of a conflict were made in one minute."""
    moments = [moment(version.judged_at, Format.TABLE) for version in conflict.versions]
    return len(set(moments)) < len(moments)


def _without_empty(table: Table) -> Table:
    """Return a table without columns in which there is nothing."""
    kept = [
        column
        for column in table.columns
        if column.name in ("judge", "new", "there", "copy")
        or (
            column not in _WOULD
            and any(row.get(column.name) not in (None, "", False) for row in table.rows)
        )
    ]
    return Table(table.name, kept, table.rows, table.title, table.caption)
