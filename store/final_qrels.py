"""From several judges' judgements to one grade a document: the qrels of a collection."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from store.ballots import Ballots, LeftOut, StandingRuling, gather
from store.disagreements import Status
from store.errors import PoolerError
from store.outcome import outcome_of
from store.policy import SINGLE_JUDGE, Policy
from store.records import Judgement, Qrel, Scale


@dataclass(frozen=True, slots=True)
class FinalQrels:
    """One grade a (topic, docno), and how it came about."""

    rows: list[Qrel]
    """Topics in natural order, docnos bytewise. Graded; or 0 and 1 where the policy has a level;
    or sums of grades."""
    judges: tuple[str, ...]
    """Whose votes went in."""
    rule: str
    """``single judge``, or one of `store.policy.RULES`."""
    ties: str | None = None
    policy: Policy = field(default_factory=Policy)
    adjudicators: tuple[str, ...] = ()
    """Whose rulings decided."""
    n_decided_by_ties: int = 0
    """Documents whose grade the tie rule decided; of rule mean, means half-way between two
    grades; of Dawid-Skene, documents with two equally probable grades."""
    n_ruled: int = 0
    """Documents whose grade is an adjudicator's ruling."""
    n_ruled_cannot: int = 0
    """Documents left out because an adjudicator found them impossible to judge."""
    n_rulings_changed: int = 0
    """Rulings of either sort that count, though judges have decided otherwise since."""
    n_rulings_unneeded: int = 0
    """Rulings that count on documents that judges do not differ on, any more or ever."""
    left_out: dict[tuple[str, str], LeftOut] = field(default_factory=dict)
    """(topic, docno) of documents without a grade that somebody looked at, and why: their votes
    are tied; nobody graded them and somebody could not; nobody did either and somebody skipped.
    What an adjudicator could not judge is ``cannot``."""
    n_mixed_iterations: int = 0
    """Documents whose judges worked in different rounds; their iteration is ``0``."""
    n_fewer_votes: int = 0
    """Documents that the rule graded by fewer votes than it wants: of rule sum, than other
    documents have; of Dawid-Skene, than three; of other rules 0."""
    n_iterations: int | None = None
    """Of Dawid-Skene's estimate; ``None`` = another rule."""
    converged: bool = True
    """False = Dawid-Skene's estimate still moved when it stopped."""
    pairs: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """(topic, docno) of `rows`."""

    def count_left_out(self, reason: LeftOut) -> int:
        """Count the documents left out for one reason."""
        return list(self.left_out.values()).count(reason)


def final_qrels(
    judgements: Sequence[Judgement],
    scale: Scale,
    policy: Policy | None = None,
    *,
    adjudicators: Collection[str] = (),
    rulings: Sequence[StandingRuling] = (),
) -> FinalQrels:
    """Choose the grade of every judged document.

    Parameters
    ----------
    judgements : sequence of Judgement
        The current states of any judges, each (topic, docno, judge) once.
    scale : Scale
        The declared grades.
    policy : Policy, optional
        Whose grades count, and what becomes of several; by default the only judge's, and rulings.
    adjudicators : collection of str
        Judges who have no vote.
    rulings : sequence of StandingRuling
        What adjudicators decided, each (topic, docno) once.

    Returns
    -------
    FinalQrels
        Skipped and unjudgeable documents are counted, never graded.

    Raises
    ------
    ArgumentError
        If choices do not go together, or have no meaning on the scale or the sums of grades.
    PoolerError
        If nothing was judged, several judges judged and the policy names neither a judge nor a
        rule, or the rule cannot work with so few judges.

    Notes
    -----
    The order of judgements changes nothing. `Collection.final_qrels` reads all this from a
    collection.

    Examples
    --------
    >>> from store.records import State
    >>> from store.scale import parse_scale
    >>> rows = [
    ...     Judgement("1", "a", "ann", State.JUDGED, 0),
    ...     Judgement("1", "a", "bob", State.JUDGED, 2),
    ... ]
    >>> final_qrels(rows, parse_scale("0-2"), Policy(rule="majority", ties="high")).rows
    [Qrel(topic='1', docno='a', grade=2, iteration='0')]
    """
    policy = policy or Policy()
    policy.check()
    policy.check_scale(scale)
    ballots = gather(judgements, scale, policy, adjudicators=adjudicators, rulings=rulings)
    return decide(ballots, policy)


def decide(ballots: Ballots, policy: Policy) -> FinalQrels:
    """Choose the grade of every document of ballots gathered for a policy; see `final_qrels`."""
    if not ballots.votes.n_documents and not ballots.rulings:
        message = "nothing is judged yet"
        if policy.judge:
            message = f"judge `{policy.judge}` has judged nothing"
        elif policy.of:
            message = f"nothing is judged by {', '.join(policy.of)}"
        raise PoolerError(message, hint="pooler judge, or pooler import judgements")
    outcome = outcome_of(ballots, policy)
    rows: list[Qrel] = []
    left_out: dict[tuple[str, str], LeftOut] = {}
    n_mixed = 0
    grades, is_tied = outcome.grades.tolist(), outcome.is_tied.tolist()
    is_ruled = outcome.is_ruled.tolist()
    for index, is_given in enumerate(outcome.is_given.tolist()):
        pair = ballots.pairs[index]
        if is_given:
            iteration = ballots.iterations.get(pair, "0")
            n_mixed += iteration is None
            rows.append(Qrel(*pair, grades[index], iteration or "0"))
        elif is_ruled[index]:
            left_out[pair] = "cannot"
        elif is_tied[index]:
            left_out[pair] = "tied"
        elif pair in ballots.reasons:
            left_out[pair] = ballots.reasons[pair]
    estimate = outcome.estimate
    rulings = ballots.rulings.values()
    return FinalQrels(
        rows=rows,
        judges=ballots.votes.judges,
        rule=policy.rule or SINGLE_JUDGE,
        ties=policy.ties,
        policy=policy,
        adjudicators=tuple(sorted({ruling.adjudicator for ruling in rulings})),
        n_decided_by_ties=int(np.count_nonzero(outcome.is_tied & outcome.is_given)),
        n_ruled=int(np.count_nonzero(outcome.is_ruled & outcome.is_given)),
        n_ruled_cannot=int(np.count_nonzero(outcome.is_ruled & ~outcome.is_given)),
        n_rulings_changed=sum(ruling.status is Status.CHANGED for ruling in rulings),
        n_rulings_unneeded=sum(ruling.status is Status.UNNEEDED for ruling in rulings),
        left_out=left_out,
        n_mixed_iterations=n_mixed,
        n_fewer_votes=outcome.n_fewer_votes,
        n_iterations=None if estimate is None else estimate.n_iterations,
        converged=estimate is None or estimate.converged,
        pairs=frozenset((row.topic, row.docno) for row in rows),
    )
