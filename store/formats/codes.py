"""Codes of files mapped onto the declared scale, and lines that are repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from store.errors import ArgumentError, ContradictionError, FaultList
from store.formats.tables import GradedRow, duplicate_words
from store.records import Judgement, Qrel, Scale, State

Repeats = Literal["refuse", "first", "last", "highest", "drop"]
"""What is done with a topic, docno and judge that come twice with different grades.

``refuse``: every line after the first is a fault; ``highest``: the highest grade counts, and a code that is
no grade is below all grades; ``drop``: none of the lines counts.
"""


@dataclass(frozen=True, slots=True)
class RepeatCounts:
    """How often judgements came again."""

    n_same: int = 0
    """Lines that repeat the one that counts for the same topic, docno and judge."""
    n_differing: int = 0
    """Topics, docnos and judges of which lines say different things."""
    n_dropped: int = 0
    """Lines of `n_differing` whose word does not count."""
    n_refused: int = 0
    """Lines reported as faults."""
    first_same: int = 0
    """The first line of `n_same`, by its number; 0 = there is none."""


def settle_repeats(
    rows: Iterable[GradedRow],
    meaning: Callable[[GradedRow], tuple[int, int]],
    rule: Repeats,
    faults: FaultList,
) -> tuple[list[GradedRow], RepeatCounts]:
    """Keep one row of each topic, docno and judge, in the order in which these first came.

    Rows that say the same have equal `meaning`, a higher grade a greater one; rows alike are one row under
    every rule. ``refuse`` reports the lines that differ from the first, with the code ``duplicate``.
    """
    groups: dict[tuple[str, str, str], GradedRow | list[GradedRow]] = {}
    for row in rows:
        key = (row.topic, row.docno, row.judge)
        known = groups.setdefault(key, row)
        if isinstance(known, list):
            known.append(row)
        elif known is not row:
            groups[key] = [known, row]
    kept: list[GradedRow] = []
    repeated: list[int] = []
    n_differing = n_dropped = n_refused = 0
    for group in groups.values():
        if not isinstance(group, list):
            kept.append(group)
            continue
        first = meaning(group[0])
        others = [row for row in group if meaning(row) != first]
        n_differing += bool(others)
        if rule == "refuse":
            n_refused += len(others)
            for row in others:
                faults.add(row.line, duplicate_words(row, group[0]), "duplicate")
        if others and rule == "drop":
            n_dropped += len(group)
            continue
        chosen = group[0]
        if others and rule == "highest":
            chosen = max(group, key=meaning)
        elif others and rule == "last":
            chosen = group[-1]
        kept.append(chosen)
        meant = meaning(chosen)
        same = [row.line for row in group if row is not chosen and meaning(row) == meant]
        repeated += same
        n_dropped += len(group) - 1 - len(same)
    first_same = min(repeated, default=0)
    return kept, RepeatCounts(len(repeated), n_differing, n_dropped, n_refused, first_same)


class Meaning(StrEnum):
    """What a code of a file says of a topic, docno and judge: one of the five states."""

    NOT_POOLED = "not-pooled"
    """Nothing: the line is passed over."""
    UNJUDGED = "unjudged"
    """In a pool, and not judged."""
    SKIPPED = "skipped"
    CANNOT = "cannot"
    """Cannot be judged."""
    GRADE = "grade"
    """A grade of the scale, as every code that is not named."""


MEANINGS = {**{one.value: one for one in Meaning}, "unjudgeable": Meaning.CANNOT}
"""What may be written for each; a state may have two words."""
_STATES = {Meaning.SKIPPED: State.SKIPPED, Meaning.CANNOT: State.CANNOT}


@dataclass(slots=True)
class DecodedQrels:
    """Lines of a file of grades, by judge, with their codes understood."""

    judged: dict[str, list[Qrel]] = field(default_factory=dict)
    """Judge to judgements; empty for a judge of whom the file has other lines only."""
    states: list[Judgement] = field(default_factory=list)
    """What judges skipped, or said cannot be judged."""
    n_unjudged_lines: int = 0
    """Lines that say "pooled, not judged": of several judges, more than `unjudged` has pairs."""
    n_not_pooled: int = 0
    """Lines that were passed over, as their code says "not pooled"."""
    repeats: RepeatCounts = field(default_factory=RepeatCounts)
    listed: dict[tuple[str, str], str] = field(default_factory=dict)
    """The iterations of `unjudged`."""
    unjudged: list[tuple[str, str]] = field(default_factory=list)
    """(topic, docno) of lines that say "pooled, not judged", each once."""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    """(topic, docno) of every line, each once, in file order."""


def parse_codes(texts: Sequence[str]) -> dict[int, Meaning]:
    """Read ``--code CODE=MEANING`` options.

    `ArgumentError` is raised if one is not of that form, `ContradictionError` if two say different things of
    one code.
    """
    codes: dict[int, Meaning] = {}
    for text in texts:
        code, _, word = text.partition("=")
        meaning = MEANINGS.get(word)
        if meaning is None or not _is_integer(code):
            known = ", ".join(MEANINGS)
            requirement = f"must be CODE=MEANING, an integer and one of {known}"
            hint = "as in --code -1=unjudged; --map 10=3 reads one grade as another"
            raise ArgumentError("codes", requirement, text, hint=hint)
        if codes.setdefault(int(code), meaning) is not meaning:
            requirement = f"must give a code one meaning (it has {codes[int(code)]})"
            raise ContradictionError("codes", requirement, text)
    return codes


def understood(
    codes: Iterable[int], texts: Sequence[str], grades: Iterable[int] = ()
) -> tuple[dict[int, Meaning], list[int]]:
    """Return what codes of qrels mean that are no usual grades, and which of them were not declared.

    What `texts` say (``CODE=MEANING``) holds, then that `grades` are such. Otherwise -1 is pooled and
    unjudged; what is below is untold, and read as a grade: judged, and not relevant.

    >>> understood([2, 0, -1, -2, -3], ["-3=skipped"])
    ({-3: <Meaning.SKIPPED: 'skipped'>, -1: <Meaning.UNJUDGED: 'unjudged'>}, [-2])
    """
    meanings = parse_codes(texts)
    below = {code for code in codes if code < 0} - meanings.keys() - set(grades)
    if -1 in below:
        meanings[-1] = Meaning.UNJUDGED
    return meanings, sorted(below - {-1})


def parse_map(texts: Sequence[str], codes: Mapping[int, Meaning]) -> dict[int, int]:
    """Read ``--map FROM=TO`` options; a code that `codes` says is no grade cannot be read as one.

    `ArgumentError` is raised if one is not of that form, `ContradictionError` if two map a code otherwise, or
    one maps a code that is no grade.
    """
    mapping: dict[int, int] = {}
    for text in texts:
        source, _, target = text.partition("=")
        if not (_is_integer(source) and _is_integer(target)):
            raise ArgumentError("mapped", "must be FROM=TO, two integers", text)
        if mapping.setdefault(int(source), int(target)) != int(target):
            requirement = f"must read a grade as one other (it has {mapping[int(source)]})"
            raise ContradictionError("map", requirement, text)
        meaning = codes.get(int(source), Meaning.GRADE)
        if meaning is not Meaning.GRADE:
            requirement = f"must map grades, and --code {source}={meaning} says that it is none"
            raise ContradictionError("map", requirement, text, hint="leave out one of the two")
    return mapping


def decode_rows(
    rows: Iterable[GradedRow],
    scale: Scale,
    *,
    codes: Mapping[int, Meaning] | None = None,
    mapping: Mapping[int, int] | None = None,
    repeats: Repeats = "refuse",
    faults: FaultList,
) -> DecodedQrels:
    """Turn the rows of a file, which name their judges, into judgements of the declared scale.

    `codes` says what codes mean that are no grades, `mapping` which codes are read as others. Codes that are
    not on the scale are added to `faults` with their lines, as are repeats that are refused.
    """
    decoded = DecodedQrels()
    mapping, codes = mapping or {}, codes or {}
    values = set(scale.values)
    listed = ", ".join(map(str, scale.values))
    order = {meaning: place for place, meaning in enumerate(Meaning)}

    def meaning(row: GradedRow) -> tuple[int, int]:
        what = codes.get(row.code, Meaning.GRADE)
        is_grade = what is Meaning.GRADE
        return order[what], mapping.get(row.code, row.code) if is_grade else 0

    kept, decoded.repeats = settle_repeats(rows, meaning, repeats, faults)
    seen: dict[tuple[str, str], None] = {}
    for row in kept:
        what = codes.get(row.code, Meaning.GRADE)
        of_judge = decoded.judged.setdefault(row.judge, [])
        if what is Meaning.NOT_POOLED:
            decoded.n_not_pooled += 1
            continue
        pair = (row.topic, row.docno)
        seen[pair] = None
        if what is Meaning.UNJUDGED:
            decoded.n_unjudged_lines += 1
            decoded.listed.setdefault(pair, row.iteration)
            continue
        if what is not Meaning.GRADE:
            state = _STATES[what]
            decoded.states.append(Judgement(*pair, row.judge, state, None, iteration=row.iteration))
            continue
        grade = mapping.get(row.code, row.code)
        if grade not in values:
            message = f"expected a grade of the scale ({listed}), got {grade}"
            faults.add(row.line, message, "grade")
            continue
        of_judge.append(Qrel(row.topic, row.docno, grade, row.iteration))
    decoded.pairs, decoded.unjudged = list(seen), list(decoded.listed)
    return decoded


def _is_integer(text: str) -> bool:
    """Return whether text is an integer as a person would write it; no grade has more digits."""
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20
