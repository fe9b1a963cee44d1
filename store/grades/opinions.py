"""What judges and adjudicators made of every document, ready for a rule to make one grade of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.votes import NO_GRADE, PLACE_OF_STATE, Votes, grade_counts, votes_from_rows
from store.errors import ArgumentError
from store.grades.definition import QrelsDefinition
from store.judging.disagreements import GivenGrade, Settlement
from store.judging.kinds import Voters
from store.records import RANKS, Judgement, Scale, State
from store.text import natural_key

LeftOut = Literal["undecided", "cannot", "skipped"]

Pair = tuple[str, str]
"""Topic and docno."""

REASONS: dict[int, LeftOut] = {RANKS[State.SKIPPED]: "skipped", RANKS[State.CANNOT]: "cannot"}
"""Why a document has no vote, by the rank of its state."""
NO_ROUND = -1
"""Stands for the round of a document without a grade."""
ROUNDS_DIFFER = -2
"""Stands for the round of a document that was graded in different ones."""


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


@dataclass(frozen=True, slots=True, eq=False)
class CurrentStates:
    """How documents stand now, in any order, each (topic, docno, judge) once; arrays of shape (n_states,)."""

    topics: Sequence[str]
    """In natural order."""
    docnos: Sequence[str]
    """Bytewise."""
    judges: Sequence[str]
    rounds: Sequence[str]
    topic_codes: NDArray[np.int64]
    docno_codes: NDArray[np.int64]
    judge_codes: NDArray[np.int64]
    places: NDArray[np.int64]
    """`PLACE_OF_STATE`, or 0 where there is a grade."""
    grades: NDArray[np.int64]
    round_codes: NDArray[np.int64]
    document_ids: NDArray[np.int64] | None = None
    """Of `docnos`, in a collection."""
    primary: NDArray[np.int64] | None = None
    """Shape (3, n_places): topic, docno and judge of assignments as primary, by their codes here."""


@dataclass(frozen=True, eq=False)
class AllVotes:
    """Votes and rulings; `gather` builds it."""

    scale: Scale
    topics: Sequence[str]
    """In natural order."""
    docnos: Sequence[str]
    """Bytewise."""
    topic_codes: NDArray[np.int64]
    """Shape (n_pairs,), ascending: of every document somebody looked at, the index into `topics`."""
    docno_codes: NDArray[np.int64]
    """Shape (n_pairs,), ascending within a topic: its index into `docnos`."""
    votes: Votes
    """Of judges; adjudicators have none."""
    rows: NDArray[np.int64]
    """Shape (votes.n_documents,): index into pairs of every document with a vote."""
    rounds: Sequence[str]
    round_codes: NDArray[np.int64]
    """Shape (n_pairs,): index into `rounds` of that in which it was graded, `NO_ROUND` or `ROUNDS_DIFFER`."""
    ranks: NDArray[np.int8]
    """Shape (n_pairs,): the highest of `RANKS` that a judge's state has."""
    rulings: Mapping[int, CurrentRuling]
    """By index into pairs."""
    document_ids: NDArray[np.int64] | None = None
    """Of `docnos`, in a collection."""
    voters: Voters = field(default_factory=Voters)
    """Whose votes and rulings these are, and who was left out."""
    n_beside_primary: int = 0
    """Decisions that do not count, as another judge is primary there."""

    @property
    def n_pairs(self) -> int:
        """Documents somebody looked at."""
        return len(self.topic_codes)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every document somebody looked at; topics in natural order, docnos bytewise."""
        codes = zip(self.topic_codes.tolist(), self.docno_codes.tolist(), strict=True)
        return tuple((self.topics[topic], self.docnos[docno]) for topic, docno in codes)

    @property
    def reasons(self) -> dict[Pair, LeftOut]:
        """Why documents that are skipped or cannot be judged have no vote."""
        ranked = zip(self.pairs, self.ranks.tolist(), strict=True)
        return {pair: REASONS[rank] for pair, rank in ranked if rank in REASONS}

    @property
    def is_settled(self) -> NDArray[np.bool_]:
        """Shape (n_pairs,): whether somebody graded it, or found that there is no grade to be given."""
        settled = np.isin(self.ranks, list(REASONS))
        settled[self.rows] = True
        settled[list(self.rulings)] = True
        return settled

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Votes by grade, shape (votes.n_documents, n_grades)."""
        return grade_counts(self.votes)

    @property
    def fixed(self) -> NDArray[np.int64]:
        """Shape (votes.n_documents,): place of the grade a ruling gave, else `NO_GRADE`."""
        place_of = {value: place for place, value in enumerate(self.scale.values)}
        given = np.full(self.n_pairs, NO_GRADE, dtype=np.int64)
        for index, ruling in self.rulings.items():
            if ruling.given_grade is not None:
                given[index] = place_of[ruling.given_grade]
        return given[self.rows]


def gather(
    judgements: Sequence[Judgement],
    scale: Scale,
    definition: QrelsDefinition,
    *,
    adjudicators: Collection[str] = (),
    rulings: Sequence[CurrentRuling] = (),
) -> AllVotes:
    """Arrange what a definition lets count: each (topic, docno, judge) once, rulings each (topic, docno).

    Adjudicators' judgements are no votes, unless these are the own grades of one.
    """
    named: tuple[Judgement | CurrentRuling, ...] = (*judgements, *rulings)
    topics = sorted({one.topic for one in named}, key=natural_key)
    docnos = sorted({one.docno for one in named})
    judges = sorted({one.judge for one in judgements})
    rounds = sorted({one.iteration for one in judgements})
    numbers = [{name: code for code, name in enumerate(names)} for names in (topics, docnos, judges, rounds)]
    topic_of, docno_of, judge_of, round_of = numbers
    rows = [
        (
            topic_of[one.topic],
            docno_of[one.docno],
            judge_of[one.judge],
            PLACE_OF_STATE.get(one.state, 0),
            NO_GRADE if one.grade is None else one.grade,
            round_of[one.iteration],
        )
        for one in judgements
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 6).T
    states = CurrentStates(topics, docnos, judges, rounds, *columns)
    return arrange(states, scale, definition, adjudicators=adjudicators, rulings=rulings)


def arrange(
    states: CurrentStates,
    scale: Scale,
    definition: QrelsDefinition,
    *,
    adjudicators: Collection[str] = (),
    rulings: Sequence[CurrentRuling] = (),
) -> AllVotes:
    """Arrange states as `gather` does; topics and docnos of rulings are among theirs."""
    chosen = set(definition.judges)
    if definition.sole is not None:
        adjudicators = ()
    has_rulings = not definition.without_rulings
    rulings = rulings if has_rulings else ()
    if mapping := dict(definition.map):
        grades = states.grades.copy()
        for source, target in mapping.items():
            grades[(states.grades == source) & (states.places == 0)] = target
        states = replace(states, grades=grades)
        rulings = [
            one if (was := one.given_grade) is None else replace(one, given_grade=mapping.get(was, was))
            for one in rulings
        ]
    rules = np.array([name in adjudicators for name in states.judges], dtype=np.bool_)
    is_voter = ~rules & np.array([not chosen or name in chosen for name in states.judges], dtype=np.bool_)
    kept = (is_voter | rules & has_rulings)[states.judge_codes]
    beside = _beside_primary(states, definition, kept & is_voter[states.judge_codes])
    kept &= ~beside
    judge_codes, places, round_codes = (
        column[kept] for column in (states.judge_codes, states.places, states.round_codes)
    )
    width = max(len(states.docnos), 1)
    topic_of = {topic: code for code, topic in enumerate(states.topics if rulings else ())}
    docno_of = {docno: code for code, docno in enumerate(states.docnos if rulings else ())}
    numbered = [topic_of[one.topic] * width + docno_of[one.docno] for one in rulings]
    ruled = np.array(numbered, dtype=np.int64)
    numbers = np.concatenate([ruled, (states.topic_codes * width + states.docno_codes)[kept]])
    pairs, index = np.unique(numbers, return_inverse=True)
    of_rulings, index = index[: len(ruled)].tolist(), index[len(ruled) :]
    ranks = np.zeros(len(pairs), dtype=np.int8)
    for state, rank in RANKS.items():
        ranks[index[places == PLACE_OF_STATE.get(state, 0)]] = rank
    is_judged, is_vote = places == 0, is_voter[judge_codes]
    voted = is_judged & is_vote
    of_votes = _rounds(index[voted], round_codes[voted], len(pairs))
    others = is_judged & ~is_vote
    of_others = _rounds(index[others], round_codes[others], len(pairs))
    topic_codes = pairs // width
    row_of_votes = index[voted]
    return AllVotes(
        scale=scale,
        topics=states.topics,
        docnos=states.docnos,
        topic_codes=topic_codes,
        docno_codes=pairs % width,
        votes=_votes(states, np.flatnonzero(kept)[voted], row_of_votes, scale),
        rows=np.flatnonzero(np.bincount(row_of_votes)),
        rounds=states.rounds,
        round_codes=np.where(of_votes == NO_ROUND, of_others, of_votes),
        ranks=ranks,
        rulings=dict(zip(of_rulings, rulings, strict=True)),
        document_ids=states.document_ids,
        n_beside_primary=int(np.count_nonzero(beside)),
    )


def _beside_primary(
    states: CurrentStates, definition: QrelsDefinition, votes: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which of some states do not count, as another judge is primary, shape (n_states,).

    Where the primary judge must decide, these are all of others; else those of others on documents that
    the primary judge has decided on.
    """
    must_decide = definition.aggregate == "primary"
    no_state = np.zeros(votes.shape, dtype=np.bool_)
    if definition.aggregate not in (None, "primary"):
        return no_state
    width, n_judges = max(len(states.docnos), 1), max(len(states.judges), 1)
    documents = states.topic_codes * width + states.docno_codes
    is_primary = no_state.copy()
    if states.primary is not None:
        topics, docnos, judges = states.primary
        places = (topics * width + docnos) * n_judges + judges
        is_primary = np.isin(documents * n_judges + states.judge_codes, places)
    if definition.primary:
        judge_of = dict(definition.primary)
        codes = {name: code for code, name in enumerate(states.judges)}
        of_topic = np.array([codes.get(judge_of.get(one, ""), -1) for one in states.topics], dtype=np.int64)
        is_told = np.array([one in judge_of for one in states.topics], dtype=np.bool_)[states.topic_codes]
        is_primary = np.where(is_told, of_topic[states.topic_codes] == states.judge_codes, is_primary)
    if must_decide:
        return votes & ~is_primary
    decides = votes & is_primary & np.isin(states.places, [0, PLACE_OF_STATE[State.CANNOT]])
    return votes & ~is_primary & np.isin(documents, documents[decides])


def _rounds(index: NDArray[np.int64], codes: NDArray[np.int64], n_pairs: int) -> NDArray[np.int64]:
    rounds = np.full(n_pairs, NO_ROUND, dtype=np.int64)
    rounds[index] = codes
    rounds[index[rounds[index] != codes]] = ROUNDS_DIFFER
    return rounds


def _votes(states: CurrentStates, chosen: NDArray[np.int64], rows: NDArray[np.int64], scale: Scale) -> Votes:
    topic_codes, judge_codes, grades = (
        column[chosen] for column in (states.topic_codes, states.judge_codes, states.grades)
    )
    values = np.array(scale.values, dtype=np.int64)
    places = np.minimum(np.searchsorted(values, grades), len(values) - 1)
    off = np.flatnonzero(values[places] != grades)
    if off.size:
        one = int(chosen[off[0]])
        topic, docno = states.topics[states.topic_codes[one]], states.docnos[states.docno_codes[one]]
        where = f"(topic `{topic}`, document `{docno}`, judge `{states.judges[states.judge_codes[one]]}`)"
        raise ArgumentError("grade", f"must be one of {list(scale.values)} {where}", int(states.grades[one]))
    codes = sorted(np.flatnonzero(np.bincount(judge_codes)).tolist(), key=states.judges.__getitem__)
    new_code = np.zeros(len(states.judges), dtype=np.int64)
    new_code[codes] = np.arange(len(codes))
    return votes_from_rows(
        topic_codes,
        rows,
        new_code[judge_codes],
        places,
        topics=states.topics,
        judges=[states.judges[code] for code in codes],
        scale_values=scale.values,
    )
