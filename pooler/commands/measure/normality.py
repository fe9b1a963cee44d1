"""Differences over topics beside the normal curve, as figure 3 of Kishida (2001) draws them."""

from __future__ import annotations

import numpy as np

from pooler.tables import Column, Plot, Table
from store.analysis.significance.t_tests import NormalityPicture

_POINTS = 1000
"""Of a curve that is drawn, between which it is straight."""


def normality_plot(picture: NormalityPicture, what: str) -> tuple[Plot, ...]:
    """Draw differences over topics beside the normal curve, where they have one."""
    if picture.reason is not None:
        return ()
    grid = np.linspace(picture.differences[0], picture.differences[-1], _POINTS)
    below = np.searchsorted(picture.differences, grid, side="right")
    of_curve = Column("normal", "float", "normal curve of the same mean and variance")
    columns = {
        Column("difference", "float", what): np.concatenate([picture.differences, grid]),
        Column("share", "float", "topics"): np.concatenate([picture.shares, picture.shares[below - 1]]),
        of_curve: np.concatenate([picture.normal, picture.curve(grid)]),
    }
    table = Table.of_columns("curve", columns).sort("difference")
    return (
        Plot(
            table=table,
            kind="lines",
            label="difference",
            parts=("share", "normal"),
            stepped=("share",),
            axis=f"Share of {picture.n_topics} topics whose {what} is no larger",
            ends=(0, 1),
            title=f"Share of topics by {what}",
            below=f"The two curves are at most {picture.largest_distance:.3f} apart.",
        ),
    )
