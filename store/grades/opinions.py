"""What judges and adjudicators made of every document, ready for a rule to make one grade of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.votes import NO_GRADE, Votes, grade_counts, votes_from_rows
from store.errors import ArgumentError
from store.grades.policy import Policy
from store.judging.disagreements import GivenGrade, Settlement
from store.records import RANKS, Judgement, Scale, State
from store.text import natural_key

LeftOut = Literal["tied", "cannot", "skipped"]

Pair = tuple[str, str]
"""Topic and docno."""

_REASONS: dict[int, LeftOut] = {RANKS[State.SKIPPED]: "skipped", RANKS[State.CANNOT]: "cannot"}
"""Why a document has no vote, by the rank of its state."""


@dataclass(frozen=True, slots=True)
class CurrentRuling:
    """An adjudicator's decision on a document, the latest of all adjudicators'."""

    topic: str
    docno: str
    given_grade: GivenGrade
    """A grade; ``None`` = cannot be judged."""
    adjudicator: str
    status: Settlement = Settlement.SETTLED
    """Whether the judges have decided otherwise since; the ruling stands all the same."""


@dataclass(frozen=True, eq=False)
class AllVotes:
    """Votes and rulings; `gather` builds it."""

    scale: Scale
    pairs: tuple[Pair, ...]
    """Every document somebody looked at; topics in natural order, docnos bytewise."""
    votes: Votes
    """Of judges; adjudicators have none."""
    rows: NDArray[np.int64]
    """Shape (votes.n_documents,): index into `pairs` of every document with a vote."""
    iterations: Mapping[Pair, str | None]
    """The round that a document was judged in; ``None`` = in different ones."""
    reasons: Mapping[Pair, LeftOut]
    """Why documents without a vote have none."""
    rulings: Mapping[int, CurrentRuling]
    """By index into `pairs`."""

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Votes by grade, shape (votes.n_documents, n_grades)."""
        return grade_counts(self.votes)

    @property
    def fixed(self) -> NDArray[np.int64]:
        """Shape (votes.n_documents,): place of the grade a ruling gave, else `NO_GRADE`."""
        place_of = {value: place for place, value in enumerate(self.scale.values)}
        given = np.full(len(self.pairs), NO_GRADE, dtype=np.int64)
        for index, ruling in self.rulings.items():
            if ruling.given_grade is not None:
                given[index] = place_of[ruling.given_grade]
        return given[self.rows]


def gather(
    judgements: Sequence[Judgement],
    scale: Scale,
    policy: Policy,
    *,
    adjudicators: Collection[str] = (),
    rulings: Sequence[CurrentRuling] = (),
) -> AllVotes:
    """Arrange what the policy lets count: each (topic, docno, judge) once, rulings each (topic, docno).

    Adjudicators' judgements are no votes, unless the policy names one as its single judge.
    """
    if policy.judge is not None:
        adjudicators, rulings, chosen = (), (), {policy.judge}
    else:
        rulings = rulings if policy.rulings else ()
        chosen = set(policy.of)
    votes: list[Judgement] = []
    document_states: dict[Pair, int] = {}
    rounds: dict[Pair, str | None] = {}
    ruled_in: dict[Pair, str | None] = {}
    for one in judgements:
        pair = (one.topic, one.docno)
        is_vote = one.judge not in adjudicators
        if (chosen and one.judge not in chosen) if is_vote else not policy.rulings:
            continue
        document_states[pair] = max(document_states.get(pair, 0), RANKS[one.state])
        if one.state is State.JUDGED:
            known = rounds if is_vote else ruled_in
            same = known.setdefault(pair, one.iteration) == one.iteration
            known[pair] = one.iteration if same else None
            if is_vote:
                votes.append(one)
    rulings_of = {(ruling.topic, ruling.docno): ruling for ruling in rulings}
    by_topic: dict[str, list[str]] = {}
    for topic, docno in document_states.keys() | rulings_of.keys():
        by_topic.setdefault(topic, []).append(docno)
    topics = sorted(by_topic, key=natural_key)
    pairs = tuple((topic, docno) for topic in topics for docno in sorted(by_topic[topic]))
    index_of = {pair: index for index, pair in enumerate(pairs)}
    rows = np.array([index_of[one.topic, one.docno] for one in votes], dtype=np.int64)
    return AllVotes(
        scale=scale,
        pairs=pairs,
        votes=_votes(votes, rows, topics, scale),
        rows=np.unique(rows),
        iterations=ruled_in | rounds,
        reasons={pair: _REASONS[rank] for pair, rank in document_states.items() if rank in _REASONS},
        rulings={index_of[pair]: ruling for pair, ruling in rulings_of.items()},
    )


def _votes(votes: Sequence[Judgement], rows: NDArray[np.int64], topics: Sequence[str], scale: Scale) -> Votes:
    """Arrange graded judgements by document and judge."""
    judges = sorted({one.judge for one in votes})
    judge_of = {judge: code for code, judge in enumerate(judges)}
    topic_of = {topic: code for code, topic in enumerate(topics)}
    place_of: dict[int | None, int] = {value: place for place, value in enumerate(scale.values)}
    places = np.array([place_of.get(one.grade, NO_GRADE) for one in votes], dtype=np.int64)
    off = np.flatnonzero(places == NO_GRADE)
    if off.size:
        one = votes[int(off[0])]
        where = f"(topic `{one.topic}`, document `{one.docno}`, judge `{one.judge}`)"
        raise ArgumentError("grade", f"must be one of {list(scale.values)} {where}", one.grade)
    return votes_from_rows(
        np.array([topic_of[one.topic] for one in votes], dtype=np.int64),
        rows,
        np.array([judge_of[one.judge] for one in votes], dtype=np.int64),
        places,
        topics=topics,
        judges=judges,
        scale_values=scale.values,
    )
