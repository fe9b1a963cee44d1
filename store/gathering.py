"""From a collection to the ballots that a policy lets count, in one transaction."""

from __future__ import annotations

from sqlmodel import Session

from store.adjudication import fetch_judge_names, fetch_listed
from store.ballots import Ballots, StandingRuling, gather
from store.disagreements import ALL
from store.errors import ArgumentError
from store.judgements import fetch_judgements
from store.judges import fetch_judges
from store.keys import Keys
from store.policy import Policy
from store.records import JudgeKind, Scale


def fetch_ballots(
    session: Session, topics: Keys, documents: Keys, scale: Scale, policy: Policy
) -> Ballots:
    """Gather votes and rulings.

    Parameters
    ----------
    session : Session
        Any session.
    topics, documents : Keys
        Fresh.
    scale : Scale
        The declared grades.
    policy : Policy
        Whose grades count.

    Returns
    -------
    Ballots
        What `store.ballots.gather` makes of the current states and of the rulings that stand.

    Raises
    ------
    ArgumentError
        If choices do not go together, have no meaning on the scale, or an adjudicator is to vote.
    UnknownNameError
        If a judge that the policy names is not known.
    """
    policy.check()
    policy.check_scale(scale)
    judges = fetch_judges(session)
    if policy.judge is not None:
        own = fetch_judgements(session, topics, documents, judges=[policy.judge])
        return gather(own, scale, policy)
    adjudicators = {one.name for one in judges if one.kind is JudgeKind.ADJUDICATOR}
    for name in policy.of:
        if name in adjudicators:
            hint = "an adjudicator's rulings count, and are no votes"
            raise ArgumentError("--of", "must be judges, not adjudicators", name, hint=hint)
    voters = [*policy.of] or [one.name for one in judges if one.name not in adjudicators]
    if not (policy.rulings and adjudicators):
        votes = fetch_judgements(session, topics, documents, judges=voters)
        return gather(votes, scale, policy)
    names = fetch_judge_names(session)
    rulings = [
        StandingRuling(
            case.topic,
            case.docno,
            case.ruling.verdict,
            names[case.ruling.judge],
            case.status,
        )
        for case in fetch_listed(session, ALL)
        if case.ruling is not None
    ]
    votes = fetch_judgements(session, topics, documents, judges=[*voters, *adjudicators])
    return gather(votes, scale, policy, adjudicators=adjudicators, rulings=rulings)
