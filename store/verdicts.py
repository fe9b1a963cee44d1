"""Verdicts: what decisions on a document came to, how far apart they are, and how they are written.

Pure, and without judges. Only decisions are verdicts: notes, reasons, skips and marked passages
never are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from store.errors import ArgumentError
from store.records import Scale

Verdict = int | None
"""What a decision came to: a grade of the scale; ``None`` = cannot be judged."""

CANNOT = "cannot"
"""How the verdict ``None`` is written."""

_CANNOT_WORDS = (CANNOT, "cant", "can't")
_BASIS = "docno opinions:"


def is_disagreement(verdicts: Sequence[Verdict]) -> bool:
    """Say whether verdicts differ; fewer than two never do.

    Examples
    --------
    >>> is_disagreement([2, 2, 0]), is_disagreement([2, None]), is_disagreement([None, None])
    (True, True, False)
    """
    return len(set(verdicts)) > 1


def gap_of(verdicts: Sequence[Verdict]) -> int | None:
    """Return the largest difference of two grades, in values of the scale.

    Returns
    -------
    int or None
        At least 1; ``None`` when no two grades differ: a grade against `cannot` has no gap.

    Examples
    --------
    >>> gap_of([0, 3, 1]), gap_of([2, None]), gap_of([-2, 0, None])
    (3, None, 2)
    """
    grades = [verdict for verdict in verdicts if verdict is not None]
    return (max(grades) - min(grades) or None) if grades else None


def in_order(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Sort verdicts: grades ascending, then `cannot`."""
    return sorted(verdicts, key=rank_of)


def basis_of(verdicts: Iterable[Verdict]) -> str:
    """Write verdicts in order, whoever gave which: the same disagreement is the same text.

    Examples
    --------
    >>> basis_of([2, None, 0])
    '0,2,cannot'
    """
    return ",".join(CANNOT if one is None else str(one) for one in in_order(verdicts))


def read_basis(basis: str) -> tuple[Verdict, ...]:
    """Read what `basis_of` wrote.

    Examples
    --------
    >>> read_basis("0,2,cannot"), read_basis("")
    ((0, 2, None), ())
    """
    words = basis.split(",") if basis else []
    return tuple(None if word == CANNOT else int(word) for word in words)


def display_order(verdicts: Iterable[Verdict]) -> str:
    """Say for the event of a ruling how the documents lay, and which verdicts were seen.

    Examples
    --------
    >>> seen_basis(display_order([2, None, 0])), seen_basis("docno"), seen_basis(None)
    ('0,2,cannot', None, None)
    """
    return _BASIS + basis_of(verdicts)


def seen_basis(order: str | None) -> str | None:
    """Read the verdicts out of what `display_order` wrote; ``None`` = it was not written so."""
    return order.removeprefix(_BASIS) if order and order.startswith(_BASIS) else None


def parse_cell(text: str, scale: Scale) -> tuple[Verdict, Verdict]:
    """Read a cell of the kappa table: two of grade, its letter, and `cant`, with a comma.

    Raises
    ------
    ArgumentError
        If it is no such thing, or the same twice.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> parse_cell("S,c", parse_scale("ntcir")), parse_cell("cant,0", parse_scale("0-2"))
    ((0, 3), (0, None))
    """
    meanings: dict[str, Verdict] = dict.fromkeys(_CANNOT_WORDS)
    meanings |= {grade.key.lower(): grade.value for grade in scale.grades}
    meanings |= {grade.key: grade.value for grade in scale.grades}
    meanings |= {str(grade.value): grade.value for grade in scale.grades}
    words = [word.strip() for word in text.split(",")]
    names = [word if word in meanings else word.lower() for word in words]
    found = {meanings[name] for name in names if name in meanings}
    if len(words) != 2 or len(found) != 2:
        known = ", ".join([*map(str, scale.values), "cant"])
        raise ArgumentError("--cell", f"must be two of {known}, as in 0,2", text)
    first, second = in_order(found)
    return first, second


def rank_of(verdict: Verdict) -> tuple[bool, int]:
    """Say where a verdict stands among others."""
    return verdict is None, verdict or 0
