"""Merge, its report, conflicts as a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.collect.judges import tell_others, tell_scrubbed
from pooler.cli.console import ExitCode, check_place, emit, write_lines
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.results.look.status import moment
from pooler.results.printed import Cell, Column, Format, Table
from pooler.telling import progress, say, warn
from store.errors import FaultList, PoolerError
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from store.keeping.merge.copies import Conflict, CopyCount, JudgeCount, Merged, Take
    from store.records import Scale

_KEYS = ("topic", "docno", "judge")
_TAKE = "take"
_RULES = ("latest", "earliest", "highest", "lowest")
_WORDS = {"skip": "skipped", "unjudged": "unjudged", "cannot": "cannot"}
"""What may be taken beside a grade, and the state it is."""


def outcome_words(take: Take) -> str:
    """Write what was decided as the column `take` has it.

    Examples
    --------
    >>> from store.keeping.merge.settle import Take
    >>> from store.records import State
    >>> outcome_words(Take(State.JUDGED, 2)), outcome_words(Take(State.SKIPPED))
    ('2', 'skip')
    """
    if take.grade is not None:
        return str(take.grade)
    return next((word for word, state in _WORDS.items() if state == take.state), str(take.state))


def check_new(path: str) -> None:
    """Refuse to write a list of conflicts over a file: somebody may have filled it in."""
    check_place(path)
    if Path(path).exists():
        message = f"{path} is there already"
        raise PoolerError(message, hint="name another file: nothing is overwritten")


def write_conflicts(path: str, conflicts: Sequence[Conflict], by_hand: Sequence[Conflict] = ()) -> None:
    """Write conflicts, one a line, with an empty column `take`.

    After them come those settled by hand, with what was taken: the list then settles all of them.
    """
    write_lines(path, _lines([*conflicts, *by_hand]), private=True)


def _lines(conflicts: Iterable[Conflict]) -> Iterator[str]:
    """Yield the header and a line for each conflict."""
    yield "\t".join([*_KEYS, "says", *_RULES, _TAKE])
    for one in conflicts:
        says = "; ".join(
            f"{', '.join(version.copies)}: {outcome_words(version.outcome)}"
            f"{_settled_words(version.settled)} at {version.judged_at:%Y-%m-%d %H:%M:%S}"
            for version in one.versions
        )
        would = {rule.value: outcome_words(take) for rule, take in one.would.items()}
        rules = (would[rule] for rule in _RULES)
        take = "" if one.took is None else outcome_words(one.took)
        cells = (one.topic, one.docno, one.judge, sanitise_line(says), *rules, take)
        yield "\t".join(cells)


def _settled_words(how: str | None) -> str:
    """Say that a settlement says so, not the judge."""
    if how is None:
        return ""
    return f", settled {'' if how == 'by hand' else 'by '}{how}, last event"


def read_takes(path: str, scale: Scale) -> dict[tuple[str, str, str], Take]:
    """Read what was filled in.

    Parameters
    ----------
    path : str
        A table with a header: the columns topic, docno, judge and take in any order; others are
        passed over. An empty `take` settles nothing; that of a rule settles as it would.
    scale : Scale
        Of the collection.

    Returns
    -------
    dict of tuple of str to Take
        By topic, docno and judge.

    Raises
    ------
    FormatError
        With every fault of the file.
    """
    from store.formats.lines import read_text_lines

    faults = FaultList(path)
    takes: dict[tuple[str, str, str], Take] = {}
    seen: dict[tuple[str, str, str], int] = {}
    places: list[int] = []
    width = 0
    for number, text in read_text_lines(path, faults):
        cells = text.split("\t")
        if not places:
            missing = [name for name in (*_KEYS, _TAKE) if name not in cells]
            if missing:
                faults.add(number, f"expected the column {missing[0]}, got {text!r}", "header")
                break
            places, width = [cells.index(name) for name in (*_KEYS, _TAKE)], len(cells)
            continue
        if not text.strip():
            continue
        # Spreadsheets leave off empty cells at the end of a line.
        cells += [""] * (width - len(cells))
        if len(cells) != width:
            faults.add(number, f"expected {width} fields, got {len(cells)}", "fields")
            continue
        topic, docno, judge, word = (cells[place] for place in places)
        key = topic, docno, judge
        if (first := seen.setdefault(key, number)) != number:
            faults.add(number, f"expected each conflict once, got that of line {first}", "twice")
            continue
        if word.strip():
            take = _take(word.strip(), scale)
            if take is None:
                values = ", ".join(map(str, scale.values))
                message = (
                    f"`take`: expected a grade of the scale ({values}), skip, unjudged, cannot,"
                    f" {', '.join(_RULES[:-1])} or {_RULES[-1]}, got {word!r}"
                )
                faults.add(number, message, "take")
            else:
                takes[key] = take
    if not places and not len(faults):
        faults.add(1, "expected a header, got an empty file", "header")
    faults.raise_if_any(hint="nothing was merged: correct the file, then run the command again")
    return takes


def _take(word: str, scale: Scale) -> Take | None:
    """Read one cell; ``None`` = it is neither a grade of the scale nor a word that is known."""
    from store.keeping.merge.copies import Rule, Take
    from store.records import State

    if word in _RULES:
        return Take(State.UNJUDGED, rule=Rule(word))
    if word in _WORDS:
        return Take(State(_WORDS[word]))
    grades = {str(value): value for value in scale.values}
    return Take(State.JUDGED, grades[word]) if word in grades else None


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
        parts.append(f"{counted(settled, 'document')} that one judge had worked on in several copies")
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
        or (column not in _WOULD and any(row.get(column.name) not in (None, "", False) for row in table.rows))
    ]
    return Table(table.name, kept, table.rows, table.title, table.caption)


class RuleName(StrEnum):
    """The rules of `store.keeping.merge.settle`, which is not imported for `--help`."""

    LATEST = "latest"
    EARLIEST = "earliest"
    HIGHEST = "highest"
    LOWEST = "lowest"
    UNJUDGED = "unjudged"


def merge(
    others: Annotated[
        list[str],
        typer.Argument(metavar="OTHER...", help="Copies: SQLite files or postgresql:// URLs; only read."),
    ],
    settle: Annotated[
        RuleName | None,
        typer.Option(
            help="Where one judge decided differently on two copies: the latest or the earliest"
            " decision stands, the highest or the lowest grade, or the document goes back to the"
            " judge (unjudged)."
        ),
    ] = None,
    settle_by: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Settle by hand: the list of --conflicts, its column `take` filled in with a"
            " grade, skip, unjudged, cannot, or a rule: latest, earliest, highest or lowest."
            " Goes before --settle.",
        ),
    ] = None,
    conflicts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write what nothing settles as TSV, with an empty column `take`; with --settle-by"
            " also what is settled by hand.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would come, and change nothing.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Take in what was done on copies of the collection.

    Copies are files that were copied (`pooler backup`, `pooler copy`), parts made by `pooler export
    work`, or databases; they are only read. Every event keeps its judge, time and sitting. What was
    made new on a copy comes too: documents, runs, pools, guidelines, judges, places; what was
    erased there, a judge or notes, goes here. All of it is taken in, or nothing. Any order of
    merging gives the same, and merging twice changes nothing.

    Where one judge went on with one document on two copies, a decision stands against a skip, and a
    grade changed on one copy against a note on the other. Two decisions that differ are a conflict:
    without --settle or --settle-by nothing is merged, all of them are listed, and the exit code is
    1. Both decisions stay in the history. So does what was settled by hand: it stands, and once a
    copy brings a decision not known then, it is one of the two that differ.

    Example: pooler merge ann.db bob.db --dry-run

    Example: pooler merge ann.db bob.db --settle latest
    """
    from store.collection import Collection
    from store.keeping.merge.copies import Rule
    from store.keeping.merge.histories import Wanted
    from store.keeping.merge.settle import BY_HAND

    if conflicts is not None:
        check_new(conflicts)
    rule = None if settle is None else Rule(settle.value)
    with Collection(collection) as opened, tidy_when_killed():
        takes = {} if settle_by is None else read_takes(settle_by, opened.scale)
        wanted = Wanted(rule, takes)
        done = opened.merge(others, wanted, dry_run=dry_run, progress=progress)
    found = done.open_conflicts
    if settle_by is not None and not takes:
        warn(f"{settle_by} settles none: its column `take` is empty")
    if conflicts is not None:
        by_hand = [one for one in done.conflicts if one.settled == BY_HAND]
        write_conflicts(conflicts, found, by_hand if found else ())
        say(f"{conflicts}: {_listed(len(found), len(by_hand) if found else 0)}")
    emit_report(done, fmt)
    if not found:
        say_what_came(done, dry_run=dry_run)
        if done.is_done and (done.erased or done.n_emptied):
            _scrub(collection)
        return
    say(f"{counted(len(found), 'conflict')}: one judge, one document, different decisions;"
        " nothing was merged")  # fmt: skip
    if conflicts is None:
        say("hint: --settle RULE settles all of them; --conflicts FILE writes a list to be filled"
            " in for --settle-by")  # fmt: skip
    else:
        say("hint: fill in the column `take`, then the same command with"
            f" --settle-by {conflicts} in place of --conflicts")  # fmt: skip
    raise typer.Exit(ExitCode.DATA)


def _listed(n_open: int, n_by_hand: int) -> str:
    """Say how many conflicts a list has."""
    more = f", and {n_by_hand:,} settled by hand with what was taken" if n_by_hand else ""
    return f"{counted(n_open, 'conflict')}{more}"


def _scrub(collection: str) -> None:
    """Write the file anew without the bytes of what was removed from it."""
    from store.collection import Collection

    with Collection(collection) as opened:
        tell_scrubbed(opened.erasures.scrub())
    tell_others("what was removed here is in them, and a merge brings none of it back")
