"""The table of `pooler required-difference RUN RUN...`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pooler.results.agree.people import legend
from pooler.results.printed import Cell, Column, Format, Table
from pooler.results.reasons import undefined_pairs
from store.analysis.significance.pairs import neighbours
from store.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from store.analysis.undiscovered.required import RequiredOfPairs

FOR_PROGRAMS = frozenset({"topics", "variance", "k", "h_of", "turns", "reason"})
"""Columns that people are not shown: with them a row outgrows a screen."""


H_OF = "judging included"
"""Of which variance H is: of the scores as judged, which judging is a part of."""


def of_runs(
    tags: Sequence[str],
    found: RequiredOfPairs,
    fmt: Format,
    *,
    depth: int,
    variation: float | None,
    alpha: float,
    power: float,
    neighbours_only: bool = False,
) -> Table:
    """Make a row for every pair: what it has, what it needs, and whether that is enough.

    Of neighbours alone, in the order of their MAP, if that is wanted.
    """
    columns = [
        Column("a", "A"), Column("b", "B"), Column("topics"), Column("difference", "A - B"),
        Column("variance"), Column("k", "K", digits=2), Column("needed"), Column("enough"),
        Column("q", "Q", digits=2), Column("h", "H", digits=2),
        Column("needed_if_found", "if found"), Column("enough_if_found", "enough"),
        Column("h_of"), Column("turns"), Column("reason"),
    ]  # fmt: skip
    rows: list[Mapping[str, Cell]] = []
    every = np.arange(found.first.size)
    for place in (neighbours(found.first, found.second) if neighbours_only else every).tolist():
        first, second = found.first[place], found.second[place]
        difference = _number(found.before.difference, place)
        turns = found.reasons[place] == "order-turns"
        needed = _number(found.needed, place)
        if_found = _number(found.needed_if_found, place)
        rows.append({
            "a": tags[first], "b": tags[second], "topics": int(found.before.n_topics[place]),
            "difference": difference, "variance": _number(found.before.variance, place),
            "k": _number(found.variation_share, place), "needed": needed,
            "enough": _reaches(difference, needed),
            "q": None if turns else _number(found.difference_drop, place),
            "h": _number(found.variance_drop, place), "h_of": H_OF, "turns": turns,
            "needed_if_found": if_found,
            "enough_if_found": False if turns
            else _reaches(difference, if_found),
            "reason": found.reasons[place],
        })  # fmt: skip
    with_power = "" if power == 0.5 else f" with a probability of {power:g}"
    n_pairs = counted(len(rows), "pair") + (" of neighbours" if neighbours_only else "")
    n_enough, n_left = (sum(row[name] is True for row in rows)
                        for name in ("enough", "enough_if_found"))  # fmt: skip
    share = f", with the share K = {variation:g} of the variance left out" if variation else ""
    if variation is None:
        share = ", with the share K of the variance, which is by judging, left out"
    words = [
        "A is the run ahead. needed: the difference of MAP that a paired t test finds significant"
        f" at {alpha:g}{with_power} (eq. 23){share}. if found: the same were B's unjudged documents"
        f" at rank {depth + 1:,} relevant (eq. 24), when the difference falls by the share Q and"
        " the variance, judging included, by H; below 0 they rise."
        + (" K goes with an H of the variance without judging, which may be another." if share
           else "")
        + " enough: A - B reaches it.",
        undefined_pairs([None if row["reason"] is None else str(row["reason"]) for row in rows]),
        f"Enough as judged: {n_enough:,} of {n_pairs}; even then: {n_left:,}.",
    ]  # fmt: skip
    if fmt is Format.TABLE:
        hidden = FOR_PROGRAMS - ({"k"} if variation is None else set())
        columns = [column for column in columns if column.name not in hidden]
    caption = legend(words)
    return Table("required_difference", columns, rows, caption=caption)


def _number(values: NDArray[np.float64], place: int) -> float | None:
    """Return a number, or ``None`` where it is undefined."""
    return None if np.isnan(values[place]) else float(values[place])


def _reaches(difference: float | None, needed: float | None) -> bool | None:
    """Say whether a difference is enough; ``None`` where either is undefined."""
    return None if difference is None or needed is None else difference >= needed
