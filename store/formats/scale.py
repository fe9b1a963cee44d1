"""Scales of grades as words, ranges and TOML files; codes of files on the scale; TOML read with its faults.

A TOML file has ``[[grade]]`` tables of ``value``, ``label`` and ``key``, and optional ``relaxed`` and
``rigid``. The key of 0 to 9 is the digit, of -1 to -4 one of ``-xyz``; any other value has `NO_KEY` unless
the file declares one, and judges find a letter for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from store.errors import ArgumentError, ContradictionError, Fault, FaultList, FormatError
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, is_regular_file, open_bytes
from store.formats.tables import GradedRow, duplicate_words
from store.records import Grade, Judgement, Qrel, Scale, State


def read_toml(path: str) -> dict[str, Any]:
    """Read a TOML file; raise `FormatError` if it is none, or has nesting or numbers beyond all bounds."""
    import tomllib

    try:
        with open_bytes(path) as file:
            read = tomllib.loads(file.read().removeprefix(BOM).decode())
    except (ValueError, RecursionError, DamagedDataError) as error:
        reason = "nesting that is too deep" if isinstance(error, RecursionError) else error
        raise FormatError(path, [Fault(None, f"expected TOML, got: {reason}")]) from error
    if any(not -(1 << 63) <= number < 1 << 63 for number in _integers(read)):
        raise FormatError(path, [Fault(None, "expected TOML, got: an integer of more than 64 bits")])
    return read


def _integers(value: object) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _integers(one)


_LARGEST = 999_999
"""Of any scale that is known; both engines and every format hold it."""
_RANGE = re.compile(r"(-?[0-9]{1,6})-(-?[0-9]{1,6})")
_LABELS: dict[int, tuple[str, ...]] = {
    2: ("not relevant", "relevant"),
    3: ("not relevant", "partially relevant", "relevant"),
    4: ("not relevant", "marginally relevant", "relevant", "highly relevant"),
}
_NEGATIVE_KEYS = "-xyz"
"""Keys of the grades -1 to -4: never a digit, which would name another grade."""

NO_KEY = ""
"""The key of a grade that no single key names, unless a scale file gives it one."""

_SCALE_HINT = "`--scale 0-2`, `--scale binary`, `--scale ntcir`, or `--scale FILE.toml`"


def parse_scale(text: str) -> Scale:
    """Read what `pooler init --scale` was given.

    ``LOW-HIGH``, ``binary``, ``ntcir`` (C, B, A, S), or the name of a TOML file. Relaxed is by default the
    least positive value and rigid the next above it: NTCIR's reading, rigid S, A; relaxed S, A, B.
    """
    if text == "binary":
        return _numbered(0, 1)
    if text == "ntcir":
        words = ("not relevant", "partially relevant", "relevant", "highly relevant")
        grades = tuple(
            Grade(value, f"{letter}: {label}", letter.lower())
            for value, (letter, label) in enumerate(zip("CBAS", words, strict=True))
        )
        return make_scale(grades)
    if match := _RANGE.fullmatch(text):
        low, high = int(match[1]), int(match[2])
        if not low < high <= low + 20:
            raise ArgumentError("scale", "must rise by 1 to 20 grades", text, hint=_SCALE_HINT)
        return _numbered(low, high)
    if not is_regular_file(text):
        requirement = "must be LOW-HIGH, binary, ntcir, or a TOML file that exists"
        raise ArgumentError("scale", requirement, text, hint=_SCALE_HINT)
    return _from_toml(text)


def make_scale(grades: tuple[Grade, ...], *, relaxed: int | None = None, rigid: int | None = None) -> Scale:
    """Make a scale of grades in any order; relaxed and rigid are by default the two least positive values.

    `ArgumentError` is raised if there are fewer than two grades, values or keys repeat (a key is one
    character that can be seen, or `NO_KEY`), or none is positive and `relaxed` is not given.
    """
    ordered = tuple(sorted(grades, key=lambda grade: grade.value))
    values = [grade.value for grade in ordered]
    keys = [grade.key for grade in ordered if grade.key != NO_KEY]
    if len(values) < 2 or len(set(values)) < len(values):
        raise ArgumentError("scale", "must have at least two grades, each once", values)
    usable = [key for key in {*keys} if len(key) == 1 and key.isprintable() and not key.isspace()]
    if len(usable) < len(keys):
        raise ArgumentError("scale", "must have a different one-character key a grade", keys)
    if not all(-_LARGEST <= value <= _LARGEST for value in values):
        raise ArgumentError("scale", f"must have grades from -{_LARGEST:,} to {_LARGEST:,}", None)
    positive = [value for value in values[1:] if value > 0]
    if relaxed is None:
        if not positive:
            raise ArgumentError("scale", "must have a positive grade, or name `relaxed`", values)
        relaxed = positive[0]
    if rigid is None:
        rigid = next((value for value in values if value > relaxed), None)
    for name, level in (("relaxed", relaxed), ("rigid", rigid)):
        if level is not None and level not in values[1:]:
            raise ArgumentError(name, f"must be one of {values[1:]}", level)
    if rigid is not None and rigid < relaxed:
        raise ArgumentError("rigid", f"must be at least relaxed ({relaxed})", rigid)
    return Scale(ordered, relaxed, rigid)


def scale_to_json(scale: Scale) -> dict[str, Any]:
    """Turn a scale into JSON values; `scale_from_json` reads them back."""
    return {
        "grades": [{"value": grade.value, "label": grade.label, "key": grade.key} for grade in scale.grades],
        "relaxed": scale.relaxed,
        "rigid": scale.rigid,
    }


def scale_from_json(data: Mapping[str, Any]) -> Scale:
    """Read what `scale_to_json` made."""
    grades = tuple(Grade(**grade) for grade in data["grades"])
    return Scale(grades, data["relaxed"], data["rigid"])


def _numbered(low: int, high: int) -> Scale:
    values = range(low, high + 1)
    words = _LABELS.get(len(values)) if low == 0 else None
    grades = tuple(
        Grade(value, words[index] if words else f"grade {value}", _key(value))
        for index, value in enumerate(values)
    )
    return make_scale(grades)


def _key(value: int) -> str:
    """Return the key of a small value, its digit or a letter for a negative one, else none."""
    if 0 <= value <= 9:
        return str(value)
    return _NEGATIVE_KEYS[-value - 1] if -len(_NEGATIVE_KEYS) <= value < 0 else NO_KEY


def _from_toml(path: str) -> Scale:
    data = read_toml(path)
    rows = data.get("grade")
    faults = FaultList(path)
    for key in data.keys() - {"grade", "relaxed", "rigid"}:
        faults.add(None, f"unknown key `{key}`; known: grade, relaxed, rigid")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        faults.add(None, "expected [[grade]] tables with `value` and `label`")
        rows = []
    grades = []
    for number, row in enumerate(rows, start=1):
        for key in row.keys() - {"value", "label", "key"}:
            faults.add(None, f"grade {number}: unknown key `{key}`; known: value, label, key")
        value, label = row.get("value"), row.get("label")
        key = row.get("key", _key(value) if isinstance(value, int) else NO_KEY)
        # bool is a kind of int in Python, and none in TOML.
        if not isinstance(value, int) or isinstance(value, bool):
            faults.add(None, f"grade {number}: expected an integer `value`, got {value!r}")
        elif not isinstance(label, str) or not label or not isinstance(key, str):
            faults.add(None, f"grade {number}: expected text for `label` and `key`")
        else:
            grades.append(Grade(value, label, key))
    levels: dict[str, int | None] = {"relaxed": None, "rigid": None}
    for name in levels:
        level = data.get(name)
        if level is not None and (not isinstance(level, int) or isinstance(level, bool)):
            faults.add(None, f"expected an integer for `{name}`, got {level!r}")
        else:
            levels[name] = level
    faults.raise_if_any()
    try:
        return make_scale(tuple(grades), relaxed=levels["relaxed"], rigid=levels["rigid"])
    except ArgumentError as error:
        raise FormatError(path, [Fault(None, error.message)]) from error


MOST_STEPS = 20
"""A scale rises by as many grades at most, as `store.formats.scale.parse_scale` has it."""


def scale_of_grades(grades: Collection[int]) -> Scale:
    """Return the scale of every integer from the lowest to the highest of some grades, none negative.

    A single grade is taken with those down to 0; 0 alone, or no grade at all, with 1. `ArgumentError` is
    raised if the grades lie too far apart to be one scale.
    """
    low, high = min(grades, default=0), max(grades, default=1)
    if low == high:
        low, high = 0, max(high, 1)
    if high - low > MOST_STEPS:
        hint = f"--scale FILE.toml declares the grades there are; --map {high}=N takes one as N"
        raise ArgumentError("scale", f"must be given: the grades go from {low} to {high}", None, hint=hint)
    return parse_scale(f"{low}-{high}")


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
    groups: dict[tuple[str, str, str], list[GradedRow]] = {}
    for row in rows:
        groups.setdefault((row.topic, row.docno, row.judge), []).append(row)
    kept: list[GradedRow] = []
    repeated: list[int] = []
    n_differing = n_dropped = n_refused = 0
    for group in groups.values():
        if len(group) == 1:
            kept += group
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


@dataclass(slots=True)
class DecodedQrels:
    """Lines of a file of grades, by judge, with their codes understood."""

    judged: dict[str, list[Qrel]] = field(default_factory=dict)
    """Judge to judgements; empty for a judge of whom the file has other lines only."""
    states: list[Judgement] = field(default_factory=list)
    """What judges skipped, or said cannot be judged."""
    n_unjudged_lines: int = 0
    """Lines that say "pooled, not judged": of several judges, more than `listed` has pairs."""
    n_not_pooled: int = 0
    """Lines that were passed over, as their code says "not pooled"."""
    repeats: RepeatCounts = field(default_factory=RepeatCounts)
    listed: dict[tuple[str, str], str] = field(default_factory=dict)
    """The iterations by (topic, docno) of lines that say "pooled, not judged"."""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    """(topic, docno) of every line, each once, in file order."""


def parse_codes(texts: Sequence[str]) -> dict[int, Meaning]:
    """Read ``--code CODE=MEANING`` options; `ContradictionError`: two say different things of one code."""
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
    """Read ``--map FROM=TO`` options; a code that `codes` says is no grade cannot be read as one."""
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
            state = State(what.value)
            decoded.states.append(Judgement(*pair, row.judge, state, None, iteration=row.iteration))
            continue
        grade = mapping.get(row.code, row.code)
        if grade not in values:
            message = f"expected a grade of the scale ({listed}), got {grade}"
            faults.add(row.line, message, "grade")
            continue
        of_judge.append(Qrel(row.topic, row.docno, grade, row.iteration))
    decoded.pairs = list(seen)
    return decoded


def _is_integer(text: str) -> bool:
    """Return whether text is an integer as a person would write it; no grade has more digits."""
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20
