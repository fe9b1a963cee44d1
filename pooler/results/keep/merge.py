"""Copies of a collection brought together: what they brought, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from pooler.results.files import check_place, write_whole
from pooler.results.result import Progress, Result, frozen, heard
from pooler.results.source import opened_collection
from pooler.results.table import JUDGE, REASON, Column, Table, View
from pooler.telling import progress as shown_progress
from pooler.telling import warn
from store.errors import ArgumentError, FaultList, PoolerError
from store.formats.syntax.lines import read_text_lines
from store.records import Scale, State
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from store.collection import Collection
    from store.keeping.merge.copies import MergeConflict, Merged, Take

RuleName = Literal["latest", "earliest", "highest", "lowest", "unjudged"]
Key = tuple[str, str, str]
"""Topic, docno and judge."""

_KEYS = ("topic", "docno", "judge")
_TAKE = "take"
_RULES = get_args(RuleName)[:-1]
_WORDS = {"skip": "skipped", "unjudged": "unjudged", "cannot": "cannot"}
"""What may be taken beside a grade, and the state it is."""
_HOW = {
    "agreed": "both said the same",
    "decision": "a decision won against none",
    "by hand": "by hand",
    **{rule: f"by {rule}" for rule in get_args(RuleName)},
}
"""How copies that had gone on apart were settled, in words."""
_COLUMNS = {
    "judges": (
        JUDGE,
        Column("new", "int", "new events"),
        Column("there", "int", "there already"),
        *(Column(name.replace(" ", "_"), "int", words, show="if_any") for name, words in _HOW.items()),
    ),
    "copies": (
        Column("copy"),
        Column("part", "bool", show="if_any"),
        Column("what"),
        Column("new", "int", show="if_any"),
        Column("changed", "int", show="if_any"),
        Column("left_out", "int", "left out", show="if_any"),
    ),
    "conflicts": (
        *(Column(name) for name in _KEYS),
        Column("copy"),
        Column("says"),
        Column("by", heading="settled before", show="if_any"),
        Column("at", "moment", "decided at"),
        REASON,
        Column("note", show="if_any"),
        *(Column(rule, show="never") for rule in _RULES),
        Column("settled", show="if_any"),
        Column("took", show="if_any"),
    ),
}
"""Of every table. What each rule would let stand, people see from what copies say, and when."""


def merge(
    collection: str | Path | Collection,
    others: Sequence[str | Path],
    *,
    settle: RuleName | None = None,
    settle_by: str | Path | Mapping[Key, int | str] | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> MergeResult:
    """Take in what was done on copies of a collection; all of it, or nothing.

    Parameters
    ----------
    collection : str, Path or Collection
        Its file or URL, or the open collection.
    others : sequence of str or Path
        Copies, or parts that `pooler export work` made, or what its pages saved: files or URLs, only read.
    settle : {"latest", "earliest", "highest", "lowest", "unjudged"}, optional
        What stands where one judge decided differently on two copies: that decision, that grade, or
        none, so that the document goes back to the judge.
    settle_by : str, Path or mapping, optional
        What stands by hand, before any rule: a list that `write_conflicts` wrote, its column `take`
        filled in; or ``{(topic, docno, judge): take}``. A grade, ``"skip"``, ``"unjudged"``,
        ``"cannot"``, or a rule.
    dry_run : bool, optional
        Change nothing.

    Returns
    -------
    MergeResult
        Where a conflict is open, nothing was changed, and `is_done` is false.

    Raises
    ------
    FormatError
        With every fault of the list.
    UnknownNameError
        If something is settled that is no conflict.
    StoreError
        If one of them cannot be read, or is no copy of this collection.

    Notes
    -----
    Any order of merging gives the same, and merging twice changes nothing. Of what was erased on a
    copy, and is then erased here, the bytes go from the file with ``collection.erasures.scrub()``.
    """
    from store.keeping.merge.copies import SettleRule
    from store.keeping.merge.histories import HowToSettle

    with heard(progress) as said, opened_collection(collection) as opened:
        takes: dict[Key, Take] = {}
        if isinstance(settle_by, str | Path):
            takes = _read_takes(str(settle_by), opened.scale)
        elif settle_by is not None:
            takes = {key: _said(str(word), opened.scale) for key, word in settle_by.items()}
        wanted = HowToSettle(None if settle is None else SettleRule(settle), takes)
        done = opened.merge([*map(str, others)], wanted, dry_run=dry_run, progress=shown_progress)
        if isinstance(settle_by, str | Path) and not takes:
            warn(f"{settle_by} settles none: its column `take` is empty")
    by = str(settle_by) if isinstance(settle_by, str | Path) else len(takes) or None
    settings = frozen(others=[*map(str, others)], settle=settle, settle_by=by, dry_run=dry_run)
    made = MergeResult(merged=done, settings=settings)
    return replace(made, warnings=(*said.warnings, *made.doubts()))


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MergeResult(Result):
    """What a merge came to; tables: `judges`, `copies`, and `conflicts`, a row for what each copy says."""

    merged: Merged
    """Counts of judges and copies, and conflicts."""

    NAMES: ClassVar[tuple[str, ...]] = ("judges", "copies", "conflicts")

    @property
    def is_done(self) -> bool:
        """Whether anything could be changed: it was no trial, and no conflict is open."""
        return self.merged.is_done

    @property
    def open_conflicts(self) -> list[MergeConflict]:
        """Conflicts that nothing settles."""
        return self.merged.open_conflicts

    @property
    def settled_by_hand(self) -> list[MergeConflict]:
        """Conflicts settled by hand."""
        from store.keeping.merge.settle import BY_HAND

        return [one for one in self.merged.conflicts if one.settled == BY_HAND]

    def write_conflicts(self, path: str | Path) -> None:
        """Write what nothing settles to a new file, to be filled in for `settle_by`.

        One that is there is not replaced: somebody may have filled it in.
        """
        check_new(str(path))
        write_whole(str(path), self.conflict_lines(), private=True)

    def conflict_lines(self) -> Iterator[str]:
        """Yield a header and a line a conflict, with an empty column `take`.

        After those that are open come those settled by hand, with what was taken: the list then
        settles all of them.
        """
        yield "\t".join([*_KEYS, "says", *_RULES, _TAKE])
        for one in [*self.open_conflicts, *self.settled_by_hand] if self.open_conflicts else []:
            says = "; ".join(
                f"{', '.join(version.copies)}: {outcome_words(version.outcome)}"
                f"{_settled_words(version.settled)} at {version.judged_at:%Y-%m-%d %H:%M:%S}"
                for version in one.versions
            )
            take = "" if one.took is None else outcome_words(one.took)
            cells = (one.topic, one.docno, one.judge, sanitise_line(says), *_would(one).values(), take)
            yield "\t".join(cells)

    def doubts(self) -> list[str]:
        """Say what went, or was left out."""
        done, would = self.merged, self._would
        if self.open_conflicts:
            return []
        lines = [
            f"judge `{name}` {would}erased here, as on another copy, with everything the judge did"
            for name in done.erased
        ]
        lines += [
            f"{copy.name}: {n:,} {reason} {would}left out"
            for copy in done.copies
            for reason, n in copy.left_out.items()
            if n
        ]
        if done.n_emptied:
            what = counted(done.n_emptied, "note or reason", "notes and reasons")
            lines.append(f"{what} {would}removed here, as on another copy")
        return lines

    def words(self) -> str:
        """Say in a line what the merge did, or would."""
        done = self.merged
        if self.open_conflicts:
            return (
                f"{counted(len(self.open_conflicts), 'conflict')}: one judge, one document, different"
                " decisions; nothing was merged"
            )
        if done.is_nothing_new:
            is_left_out = any(copy.left_out.total() for copy in done.copies)
            return "nothing else is new" if is_left_out else "nothing new: everything is already here"
        words = counted(sum(one.new for one in done.judges), "new judgement event")
        if settled := sum(one.settled.total() for one in done.judges):
            words += f", {counted(settled, 'document')} that one judge had worked on in several copies"
        return words + (" (dry run: nothing was changed)" if self._would else "")

    def facts(self) -> Mapping[str, Any]:
        """Return whether it was done, and how many conflicts stop it."""
        return {"done": self.is_done, "open_conflicts": len(self.open_conflicts)}

    @property
    def _would(self) -> str:
        return "would be " if self.settings["dry_run"] else ""

    def shown(self) -> tuple[str, ...]:
        """Return the tables in which there is something."""
        return tuple(name for name in self.NAMES if len(self._table(name))) or self.NAMES[:1]

    def _table(self, name: str) -> Table:
        make = {"judges": self._judges, "copies": self._copies, "conflicts": self._conflicts}
        stops = self.open_conflicts and name != "conflicts"
        return Table.of_rows(name, _COLUMNS[name], () if stops else make[name]())

    def _views(self, name: str) -> Sequence[View]:
        shown = self.shown()
        if name not in shown:
            return []
        table = self._table(name)
        return [self._conflicts_view(table) if name == "conflicts" else View(table)]

    def _judges(self) -> Iterator[dict[str, Any]]:
        """Yield what each judge did."""
        for one in self.merged.judges:
            settled = {name.replace(" ", "_"): one.settled[name] for name in _HOW}
            yield {"judge": one.judge, "new": one.new, "there": one.there, **settled}

    def _copies(self) -> Iterator[dict[str, Any]]:
        """Yield what each copy brought beside judgements."""
        for one in self.merged.copies:
            for what in dict.fromkeys((*one.new, *one.changed, *one.left_out)):
                counts = {
                    "new": one.new[what] or None,
                    "changed": one.changed[what] or None,
                    "left_out": one.left_out[what] or None,
                }
                if any(counts.values()):
                    yield {"copy": one.name, "part": one.is_part, "what": what, **counts}

    def _conflicts(self) -> Iterator[dict[str, Any]]:
        """Yield what each copy says of each conflict: of the open ones, where there are any."""
        for one in self.open_conflicts or self.merged.conflicts:
            about = {
                "topic": one.topic,
                "docno": one.docno,
                "judge": one.judge,
                **_would(one),
                "settled": _how(one.settled),
                "took": None if one.took is None else outcome_words(one.took),
            }
            for version in one.versions:
                yield {
                    **about,
                    "copy": ", ".join(version.copies),
                    "says": outcome_words(version.outcome),
                    "by": _how(version.settled),
                    "at": version.judged_at,
                    "reason": version.reason or None,
                    "note": version.note or None,
                }

    def _conflicts_view(self, table: Table) -> View:
        """Say once what holds for all lines of a conflict; to the second, where minutes are alike."""
        found = self.open_conflicts or self.merged.conflicts
        once = [number == 0 for one in found for number in range(len(one.versions))]
        data = {name: table.cells(name) for name in table.data}
        for name in (*_KEYS, "settled", "took"):
            data[name] = [cell if is_first else "" for cell, is_first in zip(data[name], once, strict=True)]
        columns = list(table.columns)
        if any(map(_are_alike, found)):
            columns = [replace(one, kind="text") if one.name == "at" else one for one in columns]
            moments = [version.judged_at for one in found for version in one.versions]
            data["at"] = [f"{at.astimezone():%Y-%m-%d %H:%M:%S}" for at in moments]
        return View(replace(table, columns=columns, data=data))


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
        message = f"{path} already exists"
        raise PoolerError(message, hint="name another file: nothing is overwritten")


def _would(conflict: MergeConflict) -> dict[str, str]:
    """Say what would stand by each rule that chooses."""
    would = {rule.value: outcome_words(take) for rule, take in conflict.would.items()}
    return {rule: would[rule] for rule in _RULES}


def _settled_words(how: str | None) -> str:
    """Say that a settlement says so, not the judge."""
    if how is None:
        return ""
    return f", settled {'' if how == 'by hand' else 'by '}{how}, last event"


def _read_takes(path: str, scale: Scale) -> dict[Key, Take]:
    """Read what was filled in.

    Columns may come in any order, and others are passed over. An empty `take` settles nothing; that
    of a rule settles as it would. A `FormatError` has every fault of the file.
    """
    faults = FaultList(path)
    takes: dict[Key, Take] = {}
    seen: dict[Key, int] = {}
    lines = read_text_lines(path, faults)
    number, header = next(lines, (1, None))
    names = [] if header is None else header.split("\t")
    missing = [name for name in (*_KEYS, _TAKE) if name not in names]
    if header is not None and missing:
        faults.add(number, f"expected the column {missing[0]}, got {header!r}", "header")
    elif missing and not len(faults):
        faults.add(number, "expected a header, got an empty file", "header")
    for number, text in lines if not missing else ():
        if not text.strip():
            continue
        cells = text.split("\t")
        # Spreadsheets leave off empty cells at the end of a line.
        cells += [""] * (len(names) - len(cells))
        if len(cells) != len(names):
            faults.add(number, f"expected {len(names)} fields, got {len(cells)}", "fields")
            continue
        topic, docno, judge, word = (cells[names.index(name)] for name in (*_KEYS, _TAKE))
        key = topic, docno, judge
        if (first := seen.setdefault(key, number)) != number:
            faults.add(number, f"expected each conflict once, got that of line {first}", "twice")
        elif word.strip():
            take = _take(word.strip(), scale)
            if take is None:
                faults.add(number, f"`take`: expected {_may_be(scale)}, got {word!r}", "take")
            else:
                takes[key] = take
    faults.raise_if_any(hint="nothing was merged: correct the file, then run the command again")
    return takes


def _take(word: str, scale: Scale) -> Take | None:
    """Read one cell; ``None`` = it is neither a grade of the scale nor a word that is known."""
    from store.keeping.merge.copies import SettleRule, Take

    if word in _RULES:
        return Take(State.UNJUDGED, rule=SettleRule(word))
    if word in _WORDS:
        return Take(State(_WORDS[word]))
    grades = {str(value): value for value in scale.values}
    return Take(State.JUDGED, grades[word]) if word in grades else None


def _may_be(scale: Scale) -> str:
    """Say what may be taken."""
    values = ", ".join(map(str, scale.values))
    rules = f"{', '.join(_RULES[:-1])} or {_RULES[-1]}"
    return f"a grade of the scale ({values}), skip, unjudged, cannot, {rules}"


def _said(word: str, scale: Scale) -> Take:
    """Read what was said to stand."""
    take = _take(word, scale)
    if take is None:
        raise ArgumentError("settle_by", f"must be {_may_be(scale)}", word)
    return take


def _how(settled: str | None) -> str | None:
    """Say how a conflict was settled; ``None`` = it was not."""
    return None if settled is None else _HOW.get(settled, settled)


def _are_alike(conflict: MergeConflict) -> bool:
    """Tell whether two decisions of a conflict were made in one minute."""
    minutes = [version.judged_at.replace(second=0, microsecond=0) for version in conflict.versions]
    return len(set(minutes)) < len(minutes)
