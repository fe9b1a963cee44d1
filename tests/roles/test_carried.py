"""Near-duplicates at a judge's own login: that another judge decided on one is told to nobody."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from store.collection import Collection
from store.records import Action
from tests.helpers.world import JudgeAtWork
from tests.roles.served import Served, empty_database, fill, let_in
from tests.store.carrying import carry

pytestmark = pytest.mark.slow

TOPIC = "G01"


@pytest.fixture
def served(postgres_server: str) -> Served:
    """Give a collection whose documents are claimed, and that nobody has looked at."""
    made = empty_database(postgres_server)
    fill(made, assigned=True)
    made.as_admin("DELETE FROM judgement")
    let_in(made)
    return made


def carried_of(served: Served, who: str) -> list[Any]:
    """Ask as a login, by hand, of every document to be judged whether it is carried over."""
    with served.connected(who) as connection:
        query = "SELECT document_id FROM pool_entry WHERE pooler_is_carried(topic_id, document_id) ORDER BY 1"
        return connection.execute(query).fetchall()


def test_others_decisions_on_near_duplicates_do_not_show(served: Served) -> None:
    """Neither that bob had one before him and graded it, nor that its source cannot be judged."""
    with Collection(served.url("bob")) as bobs:
        desk = bobs.desk("bob")
        desk.claim(TOPIC)
        sitting = JudgeAtWork(desk, TOPIC)
        first, second, third = list(sitting.tasks)[:3]
        with Collection(served.owner) as whole:
            others = [docno for docno in queue_of(whole) if docno not in sitting.tasks]
            assert carry(whole, (second, first), (others[0], third), topic=TOPIC) == 2
        assert {second, *others[:1]}.isdisjoint(JudgeAtWork(bobs.desk("bob"), TOPIC).tasks)
        before = carried_of(served, "alice")
        sitting.grade(second, 1)
        sitting.act(third, Action.CANNOT, reason="torn")
        assert second in JudgeAtWork(bobs.desk("bob"), TOPIC).tasks
        desk.leave()
    assert carried_of(served, "alice") == before
    with served.connected("alice") as connection, pytest.raises(psycopg.Error):
        connection.execute("SELECT * FROM pooler_carried()")


def queue_of(whole: Collection) -> list[str]:
    """Return the documents of the topic that are to be judged."""
    return [one.docno for one in whole.pools.get("pool").entries if one.topic == TOPIC]
