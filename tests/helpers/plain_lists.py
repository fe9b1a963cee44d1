"""Test collections as plain lists, drawn or written, and AP and tau_AP of them by definition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, permutations, product

import numpy as np
from hypothesis import strategies as st

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


N_KNOWN = 9
"""Documents that a run may retrieve are numbered 0 to N_KNOWN - 1."""


@dataclass(frozen=True)
class Drawn:
    """A collection in plain lists."""

    tags: list[str]
    rankings: Lists
    grades: Grades
    cutoff: int

    def arrays(self) -> JudgedRankings:
        """Put it into arrays, runs and topics in alphabetical order."""
        return arrays_of(self.rankings, self.grades, self.cutoff, self.tags)

    def listed(self, tag: str, topic: str) -> list[int]:
        """Return the documents within the cutoff."""
        return self.rankings.get((tag, topic), [])[: self.cutoff]

    def unjudged(self, tag: str, topic: str) -> list[int]:
        """Return the unjudged documents within the cutoff, from the top."""
        return [one for one in self.listed(tag, topic) if one not in self.grades[topic]]

    def relevant(self, topic: str) -> set[int]:
        """Return the relevant documents."""
        return {document for document, flag in self.grades[topic].items() if flag}

    def ap(
        self, tag: str, topic: str, r_mode: str, found: Collection[int] = (), n_more: int = 0
    ) -> Fraction | None:
        """Compute AP from scratch with more documents relevant.

        `found` turn relevant for this run; `n_more` are relevant that it does not have or that
        do not count for it, and are in its R. In mode ``own``, R counts of `found` what it has.
        """
        counted = self.relevant(topic) | set(found)
        flags = [document in counted for document in self.listed(tag, topic)]
        n_relevant = len(counted) if r_mode == "pool" else sum(flags)
        return plain_ap(flags, n_relevant + n_more)


@st.composite
def drawn_collections(draw: st.DrawFn, most_runs: int = 4, most_topics: int = 3) -> Drawn:
    """Draw short runs, missing topics, unretrieved relevant documents, topics without any."""
    tags = [f"r{number}" for number in range(draw(st.integers(2, most_runs)))]
    topics = [f"t{number}" for number in range(draw(st.integers(1, most_topics)))]
    rankings = {}
    for tag in tags:
        for topic in topics:
            order = draw(st.permutations(range(N_KNOWN)))
            length = draw(st.sampled_from([None, 0, 1, 3, 5, 7, 7, N_KNOWN]))
            if length is not None:
                rankings[tag, topic] = list(order[:length])
    graded = st.dictionaries(st.integers(0, N_KNOWN + 2), st.booleans(), max_size=6)
    grades = {topic: draw(graded) for topic in topics}
    return Drawn(tags, rankings, grades, draw(st.integers(2, N_KNOWN)))


def plain_mean(values: Iterable[Fraction | None]) -> Fraction | None:
    """Average what is defined."""
    defined = [value for value in values if value is not None]
    return sum(defined, Fraction(0)) / len(defined) if defined else None


def as_float(value: Fraction | None) -> float:
    """Return the value as arrays hold it."""
    return float("nan") if value is None else float(value)


def plain_tau_ap(estimate: Sequence[Fraction | float], truth: Sequence[Fraction | float]) -> float:
    """Average, over all orders of the estimate, the right runs above; few runs, no rounding.

    Scores are tied where they are equal. A pair tied in one of the scorings is half right, a pair
    tied in both is right. 2/(n - 1) (C(2)/1 + C(3)/2 + ...) - 1, the mean over the orders.
    """
    ranked = sorted(range(len(estimate)), key=lambda run: -estimate[run])
    groups = [list(group) for _, group in groupby(ranked, key=lambda run: estimate[run])]
    found = []
    for parts in product(*(permutations(group) for group in groups)):
        order = [run for part in parts for run in part]
        shares = Fraction(0)
        for n_above in range(1, len(order)):
            run = order[n_above]
            for other in order[:n_above]:
                ahead = compare(estimate[other], estimate[run])
                truly = compare(truth[other], truth[run])
                if ahead == truly:
                    shares += Fraction(1, n_above)
                elif 0 in (ahead, truly):
                    shares += Fraction(1, 2 * n_above)
        found.append(2 * shares / (len(order) - 1) - 1)
    return float(sum(found) / len(found))


def compare(one: Fraction | float, other: Fraction | float) -> int:
    """Return 1 where the one is higher, -1 where it is lower, 0 where both are equal."""
    return (one > other) - (one < other)
