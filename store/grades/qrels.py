"""A definition applied: one grade a document; what another tie rule would give; judges and a reference."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis import aggregation
from store.analysis.aggregation import DawidSkeneResult, dawid_skene
from store.analysis.agreement.tables import PairStack, pair_tables, stacks_of
from store.analysis.agreement.votes import (
    NO_GRADE,
    PopulationVotes,
    Votes,
    collapse_votes,
    level_index,
    votes_of_judges,
)
from store.analysis.arrays import Grades, cut_by_code
from store.errors import ArgumentError, PoolerError
from store.formats.qrels import QrelCells
from store.grades.definition import EQUAL, SINGLE_JUDGE, QrelsDefinition
from store.grades.opinions import NO_ROUND, REASONS, ROUNDS_DIFFER, AllVotes, CurrentRuling, LeftOut, Pair
from store.judging.disagreements import Settlement
from store.records import RANKS, Qrel, Scale, State

_BLOCK = 10_000
"""Rows made at a time."""


NOTHING_JUDGED = "nothing is judged yet"
"""Why there are no qrels before anybody has judged."""


@dataclass(frozen=True, slots=True, eq=False)
class GradeOutcome:
    """What happened to every document of `AllVotes.pairs`; all arrays have shape (n_pairs,)."""

    is_given: NDArray[np.bool_]
    """Whether it has a grade."""
    grades: NDArray[np.int64]
    """Values of the scale; 0 and 1 where a level is asked for; or sums. 0 where none is given."""
    is_tied: NDArray[np.bool_]
    """Whether its votes are tied, resolved or not, and no ruling decided."""
    is_ruled: NDArray[np.bool_]
    """Whether a ruling decided, on a grade or on none."""
    n_fewer_votes: int = 0
    """Documents that the rule graded by fewer votes than it wants: of sum, than others have; of Dawid-Skene,
    than three."""
    estimate: DawidSkeneResult | None = None

    def n_changed(self, other: GradeOutcome) -> int:
        """Count the documents that have another grade, or a grade in one of the two alone."""
        return int(np.count_nonzero((self.is_given != other.is_given) | (self.grades != other.grades)))

    def at(self, level: int) -> GradeOutcome:
        """Return the same, its grades collapsed at a level."""
        relevant = _relevant(self.grades, self.is_given, level)
        return GradeOutcome(self.is_given, relevant, self.is_tied, self.is_ruled)


def outcome_of(all_votes: AllVotes, definition: QrelsDefinition, level: int | None = None) -> GradeOutcome:
    """Apply a definition's rule to votes, and put rulings in its place; with a level, grades are 0 and 1.

    The votes are gathered for this checked definition, or for one that differs in ties and in what is made
    binary first alone.
    """
    n_pairs = all_votes.n_pairs
    is_given, is_tied, is_ruled = np.zeros((3, n_pairs), dtype=np.bool_)
    grades = np.zeros(n_pairs, dtype=np.int64)
    has_votes = np.ones(len(all_votes.rows), dtype=np.bool_)
    if definition.votes is not None:
        has_votes = all_votes.counts.sum(axis=1) >= definition.votes
    if definition.aggregate == "sum":
        sums, n_fewer = _sums(all_votes)
        is_given[all_votes.rows], grades[all_votes.rows] = has_votes, np.where(has_votes, sums, 0)
        if level is not None:
            check_sum(all_votes, level)
            grades = _relevant(grades, is_given, level)
        return GradeOutcome(is_given, grades, is_tied, is_ruled, n_fewer)
    place, values = None, np.array(all_votes.scale.values)
    if definition.binary_first and level is not None:
        place, values = level_index(all_votes.scale, level), np.array([0, 1])
    result, estimate = _apply(all_votes, definition, place)
    has_grade = (result.grades != NO_GRADE) & has_votes
    is_given[all_votes.rows] = has_grade
    grades[all_votes.rows[has_grade]] = values[result.grades[has_grade]]
    is_tied[all_votes.rows] = result.is_tied
    if level is not None and place is None:
        grades = _relevant(grades, is_given, level)
    for index, ruling in all_votes.rulings.items():
        given_grade = ruling.given_grade
        is_ruled[index], is_tied[index] = True, False
        is_given[index] = given_grade is not None
        if given_grade is None:
            grades[index] = 0
        else:
            grades[index] = given_grade if level is None else given_grade >= level
    n_fewer = 0 if estimate is None else estimate.n_below_three
    return GradeOutcome(is_given, grades, is_tied, is_ruled, n_fewer, estimate)


def _relevant(grades: NDArray[np.int64], is_given: NDArray[np.bool_], level: int) -> NDArray[np.int64]:
    return np.where(is_given, grades >= level, 0).astype(np.int64)


def _apply(
    all_votes: AllVotes, definition: QrelsDefinition, level_place: int | None
) -> tuple[aggregation.AggregateResult, DawidSkeneResult | None]:
    """Apply any rule but sum; with a level, to votes collapsed there. Dawid-Skene knows the rulings."""
    counts, values = all_votes.counts, all_votes.scale.values
    if level_place is not None:
        counts = np.add.reduceat(counts, [0, level_place], axis=1)
        values = (0, 1)
    match definition.aggregate:
        case "majority":
            return aggregation.majority(counts, ties=definition.ties or "unresolved"), None
        case "median":
            return aggregation.median(counts, ties=definition.ties or "unresolved"), None
        case "mean":
            return aggregation.mean_half_up(counts, values), None
        case "min":
            return aggregation.lowest(counts), None
        case "max":
            return aggregation.highest(counts), None
        case "dawid-skene":
            votes, fixed = all_votes.votes, all_votes.fixed
            if level_place is not None:
                votes = collapse_votes(votes, level_place)
                fixed = np.where(fixed == NO_GRADE, NO_GRADE, fixed >= level_place).astype(np.int64)
            found = dawid_skene(votes, fixed=fixed)
            return aggregation.AggregateResult(found.low, found.low, found.high), found
    return aggregation.agreed(counts), None


def check_sum(all_votes: AllVotes, level: int, name: str = "level") -> None:
    """Raise `ArgumentError` where every sum of grades, or none, can reach a level."""
    n_votes, values = all_votes.counts.sum(axis=1), all_votes.scale.values
    if n_votes.size:
        low = int((n_votes * values[0]).min())
        high = int((n_votes * values[-1]).max())
        if not low < level <= high:
            requirement = f"must be above {low} and at most {high}, as sums of grades can be here"
            raise ArgumentError(name, requirement, level)


def _sums(all_votes: AllVotes) -> tuple[NDArray[np.int64], int]:
    """Return the sum of grades of every document with a vote, and how many had fewer votes."""
    if all_votes.rulings:
        requirement = "must be another rule where rulings stand: a ruling is a grade, not a sum"
        raise ArgumentError("aggregate", requirement, "sum", hint="--without-rulings leaves the rulings out")
    n_votes = all_votes.counts.sum(axis=1)
    n_fewer = int(np.count_nonzero(n_votes < n_votes.max(initial=0)))
    return aggregation.grade_sums(all_votes.counts, all_votes.scale.values), n_fewer


_LEFT_OUT: tuple[LeftOut, ...] = get_args(LeftOut)
_GIVEN = -1
"""Stands for a document with a grade, or without a decision, in place of a reason."""


@dataclass(frozen=True, eq=False)
class FinalQrels:
    """One grade a (topic, docno), and how it came about; `decide` makes it."""

    all_votes: AllVotes
    outcome: GradeOutcome
    """Grades are those of the scale; or 0 and 1 where there is a level; or sums of grades."""
    definition: QrelsDefinition
    level: int | None = None
    """Least relevant grade, or sum; ``None`` = graded."""

    @property
    def judges(self) -> tuple[str, ...]:
        """Whose votes went in."""
        return self.all_votes.votes.judges

    @property
    def rule(self) -> str:
        """One of `store.grades.definition.AGGREGATES`, `SINGLE_JUDGE`, or `EQUAL`."""
        return self.definition.aggregate or (SINGLE_JUDGE if len(self.judges) <= 1 else EQUAL)

    @property
    def ties(self) -> str | None:
        """The tie rule."""
        return self.definition.ties

    @property
    def n_undecided(self) -> int:
        """Documents that judges graded, whose several grades no rule makes one."""
        is_told = self.ties == "unresolved" or self.definition.votes is not None
        return 0 if is_told else self.count_left_out("undecided")

    @property
    def n_few_votes(self) -> int:
        """Documents that are undecided and have fewer votes than the definition asks for."""
        is_few = self.all_votes.counts.sum(axis=1) < (self.definition.votes or 0)
        is_open = self._reasons[self.all_votes.rows] == _LEFT_OUT.index("undecided")
        return int(np.count_nonzero(is_few & is_open))

    def to_json(self) -> dict[str, Any]:
        """Return what a manifest says of the rule."""
        definition = self.definition
        return {
            "rule": self.rule,
            "ties": definition.ties,
            "binary_first": definition.binary_first,
            "level": self.level,
            "rulings": not definition.without_rulings,
        }

    @property
    def _rulings(self) -> Collection[CurrentRuling]:
        return self.all_votes.rulings.values()

    @property
    def adjudicators(self) -> tuple[str, ...]:
        """Whose rulings decided."""
        return tuple(sorted({ruling.adjudicator for ruling in self._rulings}))

    @property
    def n_documents(self) -> int:
        """Documents with a grade."""
        return int(np.count_nonzero(self.outcome.is_given))

    @property
    def n_topics(self) -> int:
        """Topics with a grade."""
        return len(np.unique(self.all_votes.topic_codes[self.outcome.is_given]))

    @cached_property
    def by_grade(self) -> dict[int, int]:
        """Documents by their grade, ascending."""
        found = np.unique(self.outcome.grades[self.outcome.is_given], return_counts=True)
        return dict(zip(*(part.tolist() for part in found), strict=True))

    @property
    def n_decided_by_ties(self) -> int:
        """Documents whose grade the tie rule decided.

        Of rule mean, means half-way between two grades; of Dawid-Skene, documents with two equally
        probable grades.
        """
        return int(np.count_nonzero(self.outcome.is_tied & self.outcome.is_given))

    @property
    def n_ruled(self) -> int:
        """Documents whose grade is an adjudicator's ruling."""
        return int(np.count_nonzero(self.outcome.is_ruled & self.outcome.is_given))

    @property
    def n_ruled_cannot(self) -> int:
        """Documents left out because an adjudicator found them impossible to judge."""
        return int(np.count_nonzero(self.outcome.is_ruled & ~self.outcome.is_given))

    @property
    def n_rulings_changed(self) -> int:
        """Rulings of either sort that count, though judges have decided otherwise since."""
        return sum(ruling.status is Settlement.CHANGED for ruling in self._rulings)

    @property
    def n_rulings_unneeded(self) -> int:
        """Rulings that count on documents that judges do not differ on, any more or ever."""
        return sum(ruling.status is Settlement.UNNEEDED for ruling in self._rulings)

    @property
    def n_mixed_iterations(self) -> int:
        """Documents whose judges worked in different rounds; their iteration is ``0``."""
        return int(np.count_nonzero(self.outcome.is_given & (self.all_votes.round_codes == ROUNDS_DIFFER)))

    @cached_property
    def rows(self) -> list[Qrel]:
        """Topics in natural order, docnos bytewise."""
        return [Qrel(topic, docno, grade, iteration) for topic, iteration, docno, grade in self.cells()]

    def cells(self) -> Iterator[QrelCells]:
        """Yield the same as the cells of a file's lines."""
        votes = self.all_votes
        # The place of each of the two codes that stand for no round is counted from the end.
        names = votes.topics, [*votes.rounds, "0", "0"], votes.docnos
        codes = votes.topic_codes, votes.round_codes, votes.docno_codes
        given = np.flatnonzero(self.outcome.is_given)
        for start in range(0, len(given), _BLOCK):
            block = given[start : start + _BLOCK]
            texts = (
                map(name.__getitem__, code[block].tolist()) for name, code in zip(names, codes, strict=True)
            )
            yield from zip(*texts, self.outcome.grades[block].tolist(), strict=True)

    def by_topic(self) -> Grades:
        """Return the grades by topic, in natural order, and document id of the collection they are of."""
        votes, given = self.all_votes, self.outcome.is_given
        assert votes.document_ids is not None
        ids, grades = votes.document_ids[votes.docno_codes[given]], self.outcome.grades[given]
        return cut_by_code(votes.topics, votes.topic_codes[given], ids, grades)

    @cached_property
    def _reasons(self) -> NDArray[np.int8]:
        """Why each document of the votes is left out: a place in `_LEFT_OUT`, or `_GIVEN`."""
        reasons = np.full(self.all_votes.n_pairs, _GIVEN, dtype=np.int8)
        for rank, reason in REASONS.items():
            reasons[self.all_votes.ranks == rank] = _LEFT_OUT.index(reason)
        reasons[self.all_votes.rows] = _LEFT_OUT.index("undecided")
        reasons[self.outcome.is_ruled] = _LEFT_OUT.index("cannot")
        reasons[self.outcome.is_given] = _GIVEN
        return reasons

    @property
    def left_out(self) -> dict[Pair, LeftOut]:
        """Documents without a grade that somebody looked at, and why.

        Their votes give no grade; no judge graded them and some could not; no judge did either and some
        skipped. What an adjudicator could not judge is ``cannot``.
        """
        votes, reasons = self.all_votes, self._reasons
        found: dict[Pair, LeftOut] = {}
        for index in np.flatnonzero(reasons != _GIVEN).tolist():
            pair = votes.topics[votes.topic_codes[index]], votes.docnos[votes.docno_codes[index]]
            found[pair] = _LEFT_OUT[reasons[index]]
        return found

    def count_left_out(self, reason: LeftOut) -> int:
        """Count the documents left out for one reason."""
        return int(np.count_nonzero(self._reasons == _LEFT_OUT.index(reason)))


def decide(all_votes: AllVotes, definition: QrelsDefinition, level: int | None = None) -> FinalQrels:
    """Choose the grade of every document of votes gathered for a definition; with a level, 0 or 1.

    `ArgumentError` is raised if choices have no meaning on the sums of grades, or need a level; `PoolerError`
    if nothing was judged, or not by those who are to.
    """
    if definition.binary_first and level is None:
        hint = "--level N, rigid or relaxed says what is relevant"
        requirement = "must come with a level: graded qrels are not made binary"
        raise ArgumentError("binary_first", requirement, None, hint=hint)
    if not all_votes.votes.n_documents and not all_votes.rulings:
        hint = "pooler judge makes judgements; pooler import judgements reads them"
        message = NOTHING_JUDGED
        if definition.sole:
            message = f"judge `{definition.sole}` has judged nothing"
        elif definition.aggregate == "primary" and all_votes.n_beside_primary:
            message = "no document is judged by a judge to whom it is assigned as primary"
            hint = "--primary FILE says who is primary: a line a topic, TOPIC TAB JUDGE"
        elif definition.judges:
            message = f"nothing is judged by {', '.join(definition.judges)}"
        elif definition.erased:
            message = "the judges who are named were erased"
            hint = "pooler qrels define NAME says anew whose judgements count"
        elif definition.kinds:
            message = f"nothing is judged by judges of kind {' or '.join(definition.kinds)}"
        raise PoolerError(message, hint=hint)
    return FinalQrels(all_votes, outcome_of(all_votes, definition, level), definition, level)


@dataclass(frozen=True, slots=True)
class Change:
    """Documents that fare otherwise under another choice, each counted once."""

    added: int = 0
    """They have a grade under the other choice alone."""
    removed: int = 0
    """They have a grade under the choice that was made alone."""
    changed: int = 0
    """They have a grade under both, and another one; of relevance, relevant or not."""

    def to_json(self) -> dict[str, int]:
        """Return what a manifest says of it."""
        return {"added": self.added, "removed": self.removed, "changed": self.changed}


@dataclass(frozen=True, slots=True)
class Flip:
    """How many documents would fare otherwise under one other choice."""

    option: Literal["ties", "binary_first"]
    value: str | bool
    """The other choice."""
    grades: Change | None
    """``None`` = there is a level, or the choice is of no matter to grades."""
    relevance: dict[int, Change] = field(default_factory=dict)
    """By level."""


def flips_of(
    all_votes: AllVotes, definition: QrelsDefinition, level: int | None = None, levels: Sequence[int] = ()
) -> list[Flip]:
    """Count the documents that hang on the tie rule, and on whether grades are made binary first.

    The other tie rules of majority and median; then, for every rule that aggregates but sum, binary before
    or after it, relevance compared at `levels` where there is no level.
    """
    if definition.aggregate in (None, "primary", "sum"):
        return []
    chosen = outcome_of(all_votes, definition, level)
    is_graded = level is None
    wanted = tuple(levels) if level is None else (level,)
    flips = []
    for ties in aggregation.TIES if definition.aggregate in aggregation.TIE_RULES else ():
        if ties == definition.ties:
            continue
        other = outcome_of(all_votes, replace(definition, ties=ties), level)
        change = _change(chosen, other)
        if is_graded:
            relevance = {one: _change(chosen.at(one), other.at(one)) for one in wanted}
            flips.append(Flip("ties", ties, change, relevance))
        else:
            flips.append(Flip("ties", ties, None, dict.fromkeys(wanted, change)))
    turned = replace(definition, binary_first=not definition.binary_first)
    relevance = {}
    for one in wanted:
        there = outcome_of(all_votes, turned, one)
        relevance[one] = _change(chosen.at(one) if is_graded else chosen, there)
    return [*flips, Flip("binary_first", turned.binary_first, None, relevance)] if relevance else flips


def _change(here: GradeOutcome, there: GradeOutcome) -> Change:
    added = int(np.count_nonzero(there.is_given & ~here.is_given))
    removed = int(np.count_nonzero(here.is_given & ~there.is_given))
    return Change(added, removed, here.n_changed(there) - added - removed)


def pairs_together(
    population: PopulationVotes, pairs: Sequence[tuple[str, str]], level_indices: Sequence[int]
) -> tuple[list[PairStack], list[PairStack]]:
    """Count how two judges graded the same documents, of some pairs.

    One pair for each of `pairs`, and one of all of them thrown together, in which a document counts once
    for each pair of judges who graded it. `level_indices`: see `store.analysis.agreement.tables.stacks_of`.
    """
    by_topic = np.array(
        [pair_tables(population.votes, first=first, second=second) for first, second in pairs]
    )
    together = by_topic.sum(axis=0)[np.newaxis]
    return stacks_of(by_topic, level_indices), stacks_of(together, level_indices)


def votes_alone(votes: Votes, judges: Sequence[str], scale: Scale) -> AllVotes:
    """Return the votes of some judges as rules take them: without rounds, states and rulings.

    Documents are those of `votes`, in their order, and have no names: arrays say which is which.
    """
    voted = np.isin(votes.judge_codes, [votes.judge_index(judge) for judge in judges])
    return AllVotes(
        scale=scale,
        topics=votes.topics,
        docnos=(),
        topic_codes=votes.topic_codes,
        docno_codes=np.arange(votes.n_documents),
        votes=votes_of_judges(votes, judges),
        rows=np.unique(votes.documents[voted]),
        rounds=(),
        round_codes=np.full(votes.n_documents, NO_ROUND, dtype=np.int64),
        ranks=np.full(votes.n_documents, RANKS[State.JUDGED], dtype=np.int8),
        rulings={},
    )
