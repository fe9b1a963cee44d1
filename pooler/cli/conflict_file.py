"""Conflicts of a merge as a table with an empty column, and that table filled in by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pooler.cli.console import check_place, write_lines
from store.errors import FaultList, PoolerError
from store.sanitise import sanitise_line

if TYPE_CHECKING:
    from store.merging.report import Conflict
    from store.merging.settling import Take
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
    >>> from store.merging.settling import Take
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


def write_conflicts(
    path: str, conflicts: Sequence[Conflict], by_hand: Sequence[Conflict] = ()
) -> None:
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
    from store.merging.settling import Rule, Take
    from store.records import State

    if word in _RULES:
        return Take(State.UNJUDGED, rule=Rule(word))
    if word in _WORDS:
        return Take(State(_WORDS[word]))
    grades = {str(value): value for value in scale.values}
    return Take(State.JUDGED, grades[word]) if word in grades else None
