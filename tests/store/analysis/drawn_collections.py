"""Small test collections that Hypothesis draws, and their scores by definition, in fractions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from store.analysis.rankings import JudgedRankings
from tests.store.analysis.plain_lists import Grades, Lists, arrays_of, plain_ap

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
