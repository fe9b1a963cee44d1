"""Two runs beside several judges, as the paper looks at them, and how its tables write numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pooler.messages import say
from pooler.result import Result
from pooler.sources.probabilities import (
    Probable,
    Values,
    chances,
    check_any_judged,
    moments,
    parse_values,
    with_chances,
)
from store.analysis.agreement.votes import PopulationVotes, level_index
from store.analysis.arrays import RankedDocuments
from store.analysis.significance.t_tests import NormalityPicture, normality_picture
from store.analysis.undiscovered.pairs import relative_drop
from store.analysis.undiscovered.sensitivity import discovery_effect
from store.analysis.variation.collection import CollectionVariation, VariedPairs, pair_components
from store.analysis.variation.discovery import Discovery
from store.analysis.variation.lists import Empty, ProbableRankings, probable_rankings
from store.analysis.variation.simulation import SimulatedMaps
from store.errors import ArgumentError
from store.judging.kinds import Voters
from store.records import Scale
from store.text import counted


def document_chances(votes: PopulationVotes, scale: Scale, values: Values | None) -> NDArray[np.float64]:
    """Compute how likely each document is relevant, of the grades of its judges."""
    own = votes.votes
    counts = np.zeros((own.n_documents, own.n_grades), dtype=np.int64)
    np.add.at(counts, (own.documents, own.places), 1)
    return chances(counts, None if values is None else parse_values(values, scale), 1)


def put_together(
    ranked: RankedDocuments,
    votes: PopulationVotes,
    scale: Scale,
    rank: int | None,
    values: Values | None,
    cutoff: int,
    empty: Empty,
) -> Probable:
    """Put runs and probabilities side by side."""
    own = votes.votes
    check_any_judged(own.n_documents)
    p = document_chances(votes, scale, values)
    found = {
        topic: (votes.document_numbers[own.topic_codes == code], p[own.topic_codes == code])
        for code, topic in enumerate(own.topics)
        if (own.topic_codes == code).any()
    }
    how = "share of judges" if values is None else "mean value of grades"
    n_open = int(((p > 0) & (p < 1)).sum())
    say(
        f"{counted(own.n_documents, 'document')}: p = {how}, {counted(len(own.judges), 'judge')};"
        f" {n_open:,} may be relevant or not"
    )
    probable = probable_rankings(
        list(found), ranked.tags, ranked.rankings, found, cutoff=cutoff, keep_rank=rank
    )
    kept = probable if empty == "zero" else with_chances(probable)
    n_left_out = len(probable.topics) - len(kept.topics)
    return Probable(kept, ranked, {}, Voters(), n_left_out, None, {"level": None})


def rows_of(probable: ProbableRankings, rows: Sequence[int]) -> ProbableRankings:
    """Keep some runs."""
    return replace(
        probable,
        tags=tuple(probable.tags[row] for row in rows),
        ranks=tuple(ranks[list(rows)] for ranks in probable.ranks),
    )


def higher_two(probable: ProbableRankings, named: Sequence[str], empty: Empty) -> tuple[int, int]:
    """Return rows of the two runs, the one with the higher expected MAP first."""
    tags = probable.tags
    chosen = [tags.index(tag) for tag in named] or [*range(len(tags))]
    varied = moments(rows_of(probable, chosen), empty)
    first, second = np.argsort(-varied.map_mean, kind="stable")[:2].tolist()
    return chosen[first], chosen[second]


State = Literal["none", "unjudged", "no chance", "either way", "relevant"]
"""Of the document at rank N + 1: the list is shorter, it is unjudged, p is 0, between 0 and 1, or 1."""
STATES: tuple[State, ...] = ("none", "unjudged", "no chance", "either way", "relevant")


@dataclass(frozen=True, slots=True)
class AtRank:
    """Documents at rank N + 1 of one run, counted by topic."""

    states: Mapping[State, int]
    elsewhere: int
    """Of the unjudged ones, how many another run retrieved."""


def states_at_rank(probable: ProbableRankings, pair: tuple[int, int], rank: int) -> list[AtRank]:
    """Count what stands at rank N + 1 of both runs."""
    found = []
    for run in pair:
        states = dict.fromkeys(STATES, 0)
        elsewhere = 0
        for p, ranks, judged in zip(probable.probabilities, probable.ranks, probable.judged, strict=True):
            (there,) = np.nonzero(ranks[run] == rank)
            if not there.size:
                states["none"] += 1
            elif not judged[there[0]]:
                states["unjudged"] += 1
                elsewhere += int(np.isfinite(ranks[:, there[0]]).sum() > 1)
            else:
                chance = p[there[0]]
                states["no chance" if chance == 0 else "relevant" if chance == 1 else "either way"] += 1
        found.append(AtRank(states, elsewhere))
    return found


@dataclass(frozen=True, slots=True)
class OwnScore:
    """One run in one topic by one judge, with R of the documents that it retrieved (eq. 1)."""

    run: str
    topic: str
    n_documents: int
    """N, documents that the run lists."""
    retrieved: int
    """R of eq. 1."""
    relevant: int
    """R of the whole topic."""
    own: float | None
    """AP by eq. 1; ``None`` = R is 0."""
    ap: float | None
    """AP with R of the topic."""
    change: float | None
    """By eq. 19, were the document at rank N + 1 relevant; ``None`` = it is, or there is none."""


def scores_of_judge(
    ranked: RankedDocuments,
    votes: PopulationVotes,
    tags: Sequence[str],
    scale: Scale,
    level: int,
    rank: int | None,
) -> list[OwnScore]:
    """Score both runs by the first judge at one level."""
    own = votes.votes
    is_relevant = (own.judge_codes == 0) & (own.places >= level_index(scale, level))
    documents = own.documents[is_relevant]
    found = []
    for code, topic in enumerate(own.topics):
        wanted = votes.document_numbers[documents[own.topic_codes[documents] == code]]
        for tag in tags:
            listed = ranked.rankings.get((tag, topic), np.empty(0, np.int64))
            relevant = np.isin(listed, wanted)
            (places,) = np.nonzero(relevant)
            total = float((np.arange(1, places.size + 1) / (places + 1)).sum())
            change = None
            if rank and listed.size >= rank and not relevant[rank - 1] and wanted.size:
                change = float(discovery_effect(relevant, np.array(wanted.size))[rank - 1])
            found.append(
                OwnScore(
                    tag,
                    topic,
                    listed.size,
                    places.size,
                    wanted.size,
                    total / places.size if places.size else None,
                    total / wanted.size if wanted.size else None,
                    change,
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class Below:
    """What stands at rank N + 1, and what there would be with the documents of B there found relevant."""

    rank: int
    discovered: Discovery
    """The documents at this rank of B, and the topics with them found relevant."""
    found: CollectionVariation
    """Moments of A and B then."""
    at_rank: Sequence[AtRank]
    """Of A and of B."""
    simulated: SimulatedMaps


@dataclass(frozen=True, slots=False, eq=False, repr=False, kw_only=True)
class TwoRuns(Result):
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
    below: Below | None = field(repr=False)
    """``None`` = of files without a rank."""
    loaded: Probable = field(repr=False)
    own: Sequence[OwnScore] = field(repr=False)
    simulated: SimulatedMaps = field(repr=False)
    """As judged."""

    @property
    def found(self) -> Below:
        """What is found at rank N + 1; `ArgumentError` without a rank."""
        if self.below is None:
            raise ArgumentError("rank", "must be the rank below the pool", None)
        return self.below

    @cached_property
    def tested(self) -> VariedPairs:
        """The difference of A and B in the model, and its tests."""
        return pair_components(self.varied, (np.array([0]), np.array([1])))

    @cached_property
    def tested_found(self) -> VariedPairs:
        """The same with the documents found."""
        return pair_components(self.found.found, (np.array([0]), np.array([1])))

    @property
    def difference_drop(self) -> float:
        """Q, share by which the difference falls then; 1 or more = the order turns, NaN = there is none."""
        return float(relative_drop(self.tested.components.mean, self.tested_found.components.mean)[0])

    def variance_drop(self, *, judging: bool) -> float:
        """H, share by which the variance over topics falls, with or without judging; NaN = it is 0."""
        sides = [one.components for one in (self.tested, self.tested_found)]
        variances = [one.topic_variance + (one.judging_variance if judging else 0.0) for one in sides]
        return float(relative_drop(*variances)[0])

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


def letters(pair: TwoRuns) -> str:
    """Say which run is A, and which B."""
    return f"A = {pair.runs[0]}, B = {pair.runs[1]}."


def by_whom(pair: TwoRuns) -> str:
    """Say by whose judgement."""
    level = next(iter(pair.scores))
    n = len(pair.judges)
    first = f" alone, the first of {n} (the --judge named first is taken)" if n > 1 else ""
    return f"By judge {pair.judges[0]}{first}; relevant = grade {level} or more."


def rounded(number: float | None, digits: int = 3) -> str:
    """Write a number; a dash = it is not defined, and no digit is shown as 0 that is none."""
    if number is None or np.isnan(number):
        return "-"
    least = 10.0**-digits
    return f"below {least:g}" if 0 < number < least / 2 else f"{number:.{digits}f}"


def share_text(share: float) -> str:
    """Write a share; a dash = it is not defined."""
    return "-" if np.isnan(share) else f"{share:.1%}"
