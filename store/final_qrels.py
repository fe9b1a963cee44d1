"""From several judges' judgements to one grade a document: the qrels of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from store.analysis.aggregation import Ties, majority
from store.analysis.grade_matrix import grade_matrix
from store.errors import ArgumentError, PoolerError
from store.records import Judgement, Qrel, Scale, State

LeftOut = Literal["tied", "cannot", "skipped"]


@dataclass(frozen=True, slots=True)
class FinalQrels:
    """One grade a (topic, docno), and how it came about."""

    rows: list[Qrel]
    """Graded; topics in natural order, docnos bytewise."""
    judges: tuple[str, ...]
    """Whose judgements went in."""
    rule: str
    """``single judge`` or ``majority``."""
    ties: str | None = None
    n_decided_by_ties: int = 0
    """Documents whose grade the tie rule decided."""
    left_out: dict[tuple[str, str], LeftOut] = field(default_factory=dict)
    """(topic, docno) of documents without a grade that somebody looked at, and why: their votes
    are tied; nobody graded them and somebody could not; nobody did either and somebody skipped."""
    n_mixed_iterations: int = 0
    """Documents whose judges worked in different rounds; their iteration is ``0``."""
    pairs: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """(topic, docno) of `rows`."""

    def count_left_out(self, reason: LeftOut) -> int:
        """Count the documents left out for one reason."""
        return list(self.left_out.values()).count(reason)


def final_qrels(
    judgements: Sequence[Judgement],
    scale: Scale,
    *,
    judge: str | None = None,
    aggregate: str | None = None,
    ties: Ties | None = None,
) -> FinalQrels:
    """Choose the grade of every judged document.

    Parameters
    ----------
    judgements : sequence of Judgement
        The current states; of the named judge alone when `judge` is given.
    scale : Scale
        The declared grades.
    judge : str, optional
        Take this judge's grades.
    aggregate : {"majority"}, optional
        Take the most frequent grade of all judges.
    ties : {"low", "high", "unresolved"}, optional
        What a tie of grades gives; needed by `aggregate`.

    Returns
    -------
    FinalQrels
        Skipped and unjudgeable documents are counted, never graded.

    Raises
    ------
    ArgumentError
        If `judge` and `aggregate` are both given, or one of `aggregate` and `ties` without the
        other.
    PoolerError
        If nothing was judged, or several judges judged and neither `judge` nor `aggregate` is
        given.
    """
    judged = [one for one in judgements if one.state is State.JUDGED]
    names = tuple(sorted({one.judge for one in judged}))
    if judge is not None and aggregate is not None:
        raise ArgumentError("--judge", "and --aggregate exclude each other", judge)
    if aggregate is None and judge is None and len(names) > 1:
        message = f"{len(names)} judges judged ({', '.join(names)}); whose grades are meant?"
        hint = "--judge NAME takes one, --aggregate majority --ties low|high|unresolved all"
        raise PoolerError(message, hint=hint)
    if aggregate is not None and aggregate != "majority":
        raise ArgumentError("--aggregate", "must be majority", aggregate)
    if aggregate is not None and ties is None:
        hint = "low or high take that one of the tied grades, unresolved leaves the document out"
        requirement = "must be low, high or unresolved with --aggregate"
        raise ArgumentError("--ties", requirement, ties, hint=hint)
    if ties is not None and aggregate is None:
        raise ArgumentError("--ties", "is a rule of --aggregate majority, which is absent", ties)
    if not judged:
        message = f"judge `{judge}` has judged nothing" if judge else "nothing is judged yet"
        raise PoolerError(message, hint="pooler judge, or pooler import judgements")
    matrix = grade_matrix(judgements, scale.values)
    result = majority(matrix, ties=ties or "low")
    iterations: dict[tuple[str, str], set[str]] = {}
    states: dict[tuple[str, str], set[State]] = {}
    for one in judgements:
        pair = (one.topic, one.docno)
        states.setdefault(pair, set()).add(one.state)
        if one.state is State.JUDGED:
            iterations.setdefault(pair, set()).add(one.iteration)
    rows: list[Qrel] = []
    left_out: dict[tuple[str, str], LeftOut] = {}
    n_mixed = 0
    for pair, grade in zip(matrix.pairs, result.grades.tolist(), strict=True):
        if grade >= 0:
            rounds = iterations[pair]
            n_mixed += len(rounds) > 1
            iteration = next(iter(rounds)) if len(rounds) == 1 else "0"
            rows.append(Qrel(*pair, scale.values[grade], iteration))
        elif State.JUDGED in states[pair]:
            left_out[pair] = "tied"
        elif State.CANNOT in states[pair]:
            left_out[pair] = "cannot"
        elif State.SKIPPED in states[pair]:
            left_out[pair] = "skipped"
    return FinalQrels(
        rows=rows,
        judges=names,
        rule="single judge" if aggregate is None else aggregate,
        ties=None if aggregate is None else ties,
        n_decided_by_ties=0 if ties == "unresolved" else int(np.sum(result.low != result.high)),
        left_out=left_out,
        n_mixed_iterations=n_mixed,
        pairs=frozenset((row.topic, row.docno) for row in rows),
    )
