"""Graded to binary: which grades count as relevant.

A level is a grade value: a document is relevant when its grade is at least the level. Arrays that
hold places on the scale instead of values are cut at `level_index`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError
from store.records import Scale


def collapse(grades: NDArray[np.int64], level: int) -> NDArray[np.int8]:
    """Turn grades of judged documents, of any shape, into 1 where the grade is at least a level, else 0.

    They must be integers. No value means "not judged" here: a grade may be negative, so the caller leaves
    documents without a grade out.

    >>> collapse(np.array([-2, 0, 1, 3]), 1).tolist()
    [0, 0, 1, 1]
    """
    grades = np.asarray(grades)
    if not np.issubdtype(grades.dtype, np.integer):
        raise ArgumentError("grades", "must be integers", str(grades.dtype))
    return (grades >= level).astype(np.int8)


def collapse_table(tables: NDArray[np.int64], level_index: int) -> NDArray[np.int64]:
    """Collapse graded tables to not relevant and relevant.

    Parameters
    ----------
    tables : ndarray of int64, shape (..., n_grades, n_grades)
        One table or a stack of them; `ArgumentError` if they are not square.
    level_index : int
        Index into the scale of the least relevant grade, from 1 to ``n_grades - 1``; else `ArgumentError`.

    Returns
    -------
    ndarray of int64, shape (..., 2, 2)
        The same documents; index 0 is not relevant, 1 relevant.

    Examples
    --------
    >>> collapse_table(np.array([[5, 1, 0], [2, 3, 1], [0, 1, 4]]), 1).tolist()
    [[5, 1], [2, 9]]
    """
    tables = np.asarray(tables)
    if tables.ndim < 2 or tables.shape[-1] != tables.shape[-2]:
        raise ArgumentError("tables", "must be square", f"shape {tables.shape}")
    if not 1 <= level_index < tables.shape[-1]:
        requirement = f"must be an integer from 1 to {tables.shape[-1] - 1}"
        raise ArgumentError("level_index", requirement, level_index)
    rows = np.add.reduceat(tables, [0, level_index], axis=-2)
    return np.add.reduceat(rows, [0, level_index], axis=-1).astype(np.int64)


def level_of(
    scale: Scale, *, level: int | None = None, rigid: bool = False, relaxed: bool = False
) -> int | None:
    """Resolve the three ways to name a level.

    Parameters
    ----------
    scale : Scale
        The declared scale; it says what rigid and relaxed mean.
    level : int, optional
        A level by value.
    rigid, relaxed : bool, default=False
        NTCIR's two readings: highly relevant and relevant only; or partially relevant too.

    Returns
    -------
    int or None
        The least relevant grade; ``None`` when none of the three was given: stay graded.

    Raises
    ------
    ArgumentError
        If more than one of the three is given, `level` does not cut the scale in two, or `rigid` is asked of
        a scale with one relevant grade.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> ntcir = parse_scale("ntcir")
    >>> level_of(ntcir, rigid=True), level_of(ntcir, relaxed=True), level_of(ntcir, level=3)
    (2, 1, 3)
    >>> level_of(ntcir) is None
    True
    """
    given = [] if level is None else [f"--level {level}"]
    given += ["--rigid"] * rigid + ["--relaxed"] * relaxed
    if len(given) > 1:
        hint = "give one of them; without any, grades stay as they are"
        requirement = "must be the only one of --level, --rigid and --relaxed"
        raise ArgumentError(given[0].split()[0].lstrip("-"), requirement, " ".join(given), hint=hint)
    if rigid:
        if scale.rigid is None:
            requirement = "must be asked of a scale with two relevant grades or more"
            hint = f"`--relaxed` is grade {scale.relaxed}, the only relevant one"
            raise ArgumentError("rigid", requirement, list(scale.values), hint=hint)
        return scale.rigid
    if relaxed:
        return scale.relaxed
    return None if level is None else scale.check_level(level)


def levels_of(
    scale: Scale,
    *,
    levels: Sequence[int] = (),
    rigid: bool = False,
    relaxed: bool = False,
    graded: bool = False,
    sums: bool = False,
) -> list[int | None]:
    """Resolve several levels at once, and whether the grades are wanted beside.

    Parameters
    ----------
    scale, rigid, relaxed
        As for `level_of`, with its errors; sums have neither reading.
    levels : sequence of int
        Levels by value.
    graded : bool, default=False
        Whether the grades are wanted as they are.
    sums : bool, default=False
        Whether levels are cuts of sums of grades, which the scale knows nothing of.

    Returns
    -------
    list of int or None
        Each level once: graded (``None``) first, then ascending; ``[None]`` where nothing is given.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> levels_of(parse_scale("ntcir"), levels=[3], rigid=True, relaxed=True, graded=True)
    [None, 1, 2, 3]
    >>> levels_of(parse_scale("ntcir"))
    [None]
    """
    if sums and (rigid or relaxed):
        requirement = "must be asked of grades; sums of grades have no such reading"
        hint = "--level N is the least sum that counts as relevant"
        raise ArgumentError("rigid" if rigid else "relaxed", requirement, "sum", hint=hint)
    found: set[int | None] = set()
    found |= set(levels) if sums else {scale.check_level(level) for level in levels}
    found |= {level_of(scale, rigid=True)} if rigid else set()
    found |= {level_of(scale, relaxed=True)} if relaxed else set()
    ascending = sorted(level for level in found if level is not None)
    return [None, *ascending] if graded or not ascending else [*ascending]


def level_index(scale: Scale, level: int) -> int:
    """Return the place on the scale of the least grade that is at least a level, from 1.

    `ArgumentError` if the level, which need not be a value of the scale, does not cut it in two.

    >>> from store.formats.scale import parse_scale
    >>> level_index(parse_scale("0-3"), 2), level_index(parse_scale("-2-2"), 1)
    (2, 3)
    """
    scale.check_level(level)
    return next(index for index, value in enumerate(scale.values) if value >= level)
