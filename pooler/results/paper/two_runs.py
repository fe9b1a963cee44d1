"""Two runs of a collection as the paper looks at them, and how its tables write numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pooler.results.paper.judged_pair import AtRank, OwnScore
from pooler.results.result import Result
from pooler.results.variation.discovery import Discoveries
from store.analysis.agreement.populations import PopulationVotes
from store.analysis.significance.normality import NormalityPicture, normality_picture
from store.analysis.variation.collection import CollectionVariation, VariedPairs, pair_components
from store.analysis.variation.simulation import SimulatedMaps
from store.records import Scale


@dataclass(frozen=True, slots=False, eq=False, repr=False, kw_only=True)
class Redone(Result):
    """Two runs of a collection, their judges and their moments: what the tables are made of."""

    runs: tuple[str, str]
    """A, with the higher expected MAP, and B."""
    topics: Sequence[str]
    judges: Sequence[str]
    scale: Scale = field(repr=False)
    votes: PopulationVotes = field(repr=False)
    scores: Mapping[int, NDArray[np.float64]] = field(repr=False)
    """By level the AP of A and B by every judge, shape (n_topics, 2, n_judges); NaN where R = 0."""
    p: NDArray[np.float64] = field(repr=False)
    """Of every judged document, in [0, 1]."""
    varied: CollectionVariation = field(repr=False)
    """Moments of A and B, in this order."""
    discovered: Discoveries = field(repr=False)
    limits: Sequence[tuple[float, float, str]] = field(repr=False)
    """Of A - B if judged again, at 95%, and the law they are by: as judged, and with the documents found."""
    skewness: Sequence[Sequence[float]] = field(repr=False)
    """Of A, B and A - B, as judged and found; nothing where documents are too many for all outcomes."""
    at_rank: Sequence[AtRank] = field(repr=False)
    own: Sequence[OwnScore] = field(repr=False)
    simulated: tuple[SimulatedMaps, SimulatedMaps] | None = field(repr=False)
    """As judged, and with the documents found."""

    @property
    def rank(self) -> int:
        """The rank below the pool."""
        return int(self.settings["rank"])

    @cached_property
    def tested(self) -> VariedPairs:
        """The difference of A and B in the model, and its tests."""
        return pair_components(self.varied, (np.array([0]), np.array([1])))

    @cached_property
    def picture(self) -> NormalityPicture:
        """Figure 3: expected differences by topic beside the normal curve."""
        return normality_picture(self.varied.mean[0] - self.varied.mean[1])

    @cached_property
    def by_judge(self) -> list[tuple[int, str, NDArray[np.float64]]]:
        """Level, judge, and AP of A and B, shape (2, n), over the topics where both have one."""
        found = []
        for number, judge in enumerate(self.judges):
            for level, scores in self.scores.items():
                own = scores[:, :, number]
                found.append((level, judge, own[~np.isnan(own).any(axis=1)].T))
        return found


def letters(pair: Redone) -> str:
    """Say which run is A, and which B."""
    return f"A = {pair.runs[0]}, B = {pair.runs[1]}."


def by_whom(pair: Redone) -> str:
    """Say by whose judgement."""
    level = next(iter(pair.scores))
    return f"By judge {pair.judges[0]}, relevant = grade {level} or more."


def told(number: float | None, digits: int = 3) -> str:
    """Write a number; a dash = it is not defined, and no digit is shown as 0 that is none."""
    if number is None or np.isnan(number):
        return "-"
    least = 10.0**-digits
    return f"below {least:g}" if 0 < number < least / 2 else f"{number:.{digits}f}"


def share_text(share: float) -> str:
    """Write a share; a dash = it is not defined."""
    return "-" if np.isnan(share) else f"{share:.1%}"
