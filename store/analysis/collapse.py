"""Graded to binary: which grades count as relevant.

A level is a grade value: a document is relevant when its grade is at least the level. Arrays that
hold places on the scale instead of values are cut at `level_index`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.records import Scale


def collapse(grades: NDArray[np.int64], level: int) -> NDArray[np.int8]:
    """Turn grades of judged documents, of any shape, into 1 where the grade is at least a level, else 0.

    No value means "not judged" here: a grade may be negative, so the caller leaves
    documents without a grade out.

    >>> collapse(np.array([-2, 0, 1, 3]), 1).tolist()
    [0, 0, 1, 1]
    """
    return (grades >= level).astype(np.int8)


def collapse_table(tables: NDArray[np.int64], level_index: int) -> NDArray[np.int64]:
    """Collapse graded tables to not relevant and relevant.

    Parameters
    ----------
    tables : ndarray of int64, shape (..., n_grades, n_grades)
        One table or a stack of them.
    level_index : int
        Index into the scale of the least relevant grade, from 1 to ``n_grades - 1``.

    Returns
    -------
    ndarray of int64, shape (..., 2, 2)
        The same documents; index 0 is not relevant, 1 relevant.

    Examples
    --------
    >>> collapse_table(np.array([[5, 1, 0], [2, 3, 1], [0, 1, 4]]), 1).tolist()
    [[5, 1], [2, 9]]
    """
    rows = np.add.reduceat(tables, [0, level_index], axis=-2)
    return np.add.reduceat(rows, [0, level_index], axis=-1).astype(np.int64)


def level_index(scale: Scale, level: int) -> int:
    """Return the place on the scale of the least grade that is at least a level, from 1.

    `ArgumentError` if the level, which need not be a value of the scale, does not cut it in two.

    >>> from store.formats.scale import parse_scale
    >>> level_index(parse_scale("0-3"), 2), level_index(parse_scale("-2-2"), 1)
    (2, 3)
    """
    scale.check_level(level)
    return next(index for index, value in enumerate(scale.values) if value >= level)
