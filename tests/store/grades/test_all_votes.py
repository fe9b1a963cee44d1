"""`store.grades.votes`: whose votes are fetched from a collection."""

from __future__ import annotations

from store.collection import Collection
from store.db.engine import reading
from store.db.keys import topic_keys
from store.grades.definition import QrelsDefinition
from store.grades.opinions import AllVotes
from store.grades.votes import fetch_all_votes
from store.records import JudgeKind, Qrel
from tests.helpers.world import engine_of, parse_scale


def ballots_of(name: str, policy: QrelsDefinition) -> AllVotes:
    """Fetch the ballots of a collection of scale 0-2."""
    topics = topic_keys()
    with engine_of(name) as engine, reading(engine) as session:
        topics.refresh(session)
        return fetch_all_votes(session, topics, parse_scale("0-2"), policy)


def test_votes_are_of_the_judges_that_the_policy_names(collection_name: str, collection: Collection) -> None:
    """One named judge votes alone, and so does the only one of a choice; else both judges vote."""
    said = {"ann": [Qrel("1", "a", 2)], "bob": [Qrel("1", "a", 0), Qrel("1", "b", 1)]}
    collection.judgements.add(said, kind=JudgeKind.HUMAN)
    for policy in (QrelsDefinition(judges=("bob",), without_rulings=True), QrelsDefinition(judges=("bob",))):
        alone = ballots_of(collection_name, policy)
        assert alone.votes.judges == ("bob",)
        assert alone.pairs == (("1", "a"), ("1", "b"))
        assert alone.counts.tolist() == [[1, 0, 0], [0, 1, 0]]
    both = ballots_of(collection_name, QrelsDefinition(aggregate="max"))
    assert both.votes.judges == ("ann", "bob")
    assert both.counts.tolist() == [[1, 0, 1], [0, 1, 0]]
