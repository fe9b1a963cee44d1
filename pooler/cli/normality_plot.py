"""Figure 3 of Kishida (2001) in plain characters: differences beside the normal curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store.analysis.normality import NormalityPicture

POINT, CURVE = "o", "."


def normality_lines(picture: NormalityPicture, *, width: int = 72, height: int = 17) -> list[str]:
    """Draw the share of topics whose difference is no larger, and the normal distribution.

    Parameters
    ----------
    picture : NormalityPicture
        With a curve.
    width, height : int
        Columns and lines between the axes, at least 20 and 2.

    Returns
    -------
    list of str
        Lines without blanks at their ends; a point hides the curve behind it.
    """
    import numpy as np

    low, high = float(picture.differences[0]), float(picture.differences[-1])
    grid = [[" "] * width for _ in range(height)]
    columns = np.linspace(low, high, width)
    for column, share in enumerate(picture.curve(columns)):
        grid[_row(float(share), height)][column] = CURVE
    for difference, share in zip(picture.differences, picture.shares, strict=True):
        column = round((float(difference) - low) / (high - low) * (width - 1))
        grid[_row(float(share), height)][column] = POINT
    labels = {_row(share, height): f"{share:.1f}" for share in (0.0, 0.5, 1.0)}
    lines = [f"Share of {picture.n_topics} topics with a difference no larger"]
    lines += [
        f"{labels.get(row, ''):>4} |{''.join(cells)}".rstrip() for row, cells in enumerate(grid)
    ]
    lines.append("     +" + "-" * width)
    ends = f"{low:.4f}", f"{high:.4f}"
    lines.append(f"      {ends[0]}{ends[1]:>{width - len(ends[0])}}")
    lines.append(f"{POINT} a topic   {CURVE} normal curve of the same mean and variance")
    lines.append(f"They are at most {picture.largest_distance:.3f} apart.")
    return lines


def _row(share: float, height: int) -> int:
    """Return the line of a share, from 0 at the top."""
    return height - 1 - round(share * (height - 1))
