"""Test collections as plain lists, and AP of a list by its definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from store.analysis.rankings import JudgedRankings, judged_rankings

Lists = dict[tuple[str, str], list[int]]
"""Documents in rank order, by (tag, topic)."""
Grades = dict[str, dict[int, bool]]
"""Whether each judged document is relevant, by topic."""


def arrays_of(rankings: Lists, grades: Grades, cutoff: int, tags: list[str] | None = None) -> JudgedRankings:
    """Put plain lists into arrays, runs and topics in alphabetical order unless told."""
    return judged_rankings(
        sorted(grades),
        sorted({tag for tag, _ in rankings}) if tags is None else tags,
        {key: np.array(documents, dtype=np.int64) for key, documents in rankings.items()},
        {
            topic: (np.array(list(found), dtype=np.int64), np.array(list(found.values()), bool))
            for topic, found in grades.items()
        },
        cutoff=cutoff,
    )


def plain_ap(relevant: list[bool], n_relevant: int) -> Fraction | None:
    """Compute AP exactly from a list of flags; ``None`` when R = 0."""
    found, total = 0, Fraction(0)
    for rank, flag in enumerate(relevant, start=1):
        if flag:
            found += 1
            total += Fraction(found, rank)
    return total / n_relevant if n_relevant else None
