"""A hostile session per role: SQL by hand, by somebody with the password of a login."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from tests.roles.served import LOGINS, Served

pytestmark = pytest.mark.slow

REFUSED = "refused"
"""The server says no: 42501, or what a guarded session is told."""
NO = {"42501": REFUSED, "0A000": REFUSED, "25006": REFUSED}


@dataclass(frozen=True)
class Attempt:
    """One thing that is tried, and what each role gets for it."""

    what: str
    sql: tuple[str, ...]
    judge: Any
    adjudicator: Any
    reader: Any
    drawer: Any


def told(what: str, sql: str | tuple[str, ...], *answers: Any) -> Attempt:
    """Make an attempt; one answer is everybody's."""
    statements = (sql,) if isinstance(sql, str) else sql
    return Attempt(what, statements, *(answers * 4 if len(answers) == 1 else answers))


EVENT = (
    "INSERT INTO judgement (topic_id, document_id, judge_id, revision, action, state, grade, reason,"
    " note, iteration,"
    " judged_at, dropped_keys, sitting_id, undoes) VALUES ({topic}, {document}, {judge}, {revision},"
    " '{action}',"
    " '{state}', {grade}, '', '', '0', clock_timestamp() - interval '{ago}', 0, {sitting}, {undoes})"
)
SITTING = (
    "INSERT INTO sitting (judge_id, started_at, seen_at, host, process, program)"
    " VALUES ({me}, now(), now(), 'h', 1, 'p')"
)
MINE = "(SELECT max(id) FROM sitting)"


def event(**changed: Any) -> tuple[str, str]:
    """Write an event of alice on a document of hers, changed in one way; `{{}}` are filled in later."""
    values: dict[str, Any] = {
        "topic": "{topic}",
        "document": "{document}",
        "judge": "{me}",
        "revision": "{next}",
        "action": "judge",
        "state": "judged",
        "grade": 1,
        "ago": "0 s",
        "sitting": MINE,
        "undoes": "NULL",
    }
    return SITTING, EVENT.format(**{**values, **changed})


READS = (
    told("count all judgements", "SELECT count(*) FROM judgement", "{own}", 0, "{all}", "{all}"),
    told("whose judgements", "SELECT count(DISTINCT judge_id) FROM judgement", 1, 0, "{judges}", "{judges}"),
    told("another's by its id", "SELECT grade FROM judgement WHERE id = {bobs}", None, None, 2, 2),
    told(
        "a leaky predicate before the policy",
        "SELECT count(*) FROM judgement WHERE CASE WHEN judge_id = {bob} THEN 1 / (grade - grade)"
        " ELSE 1 END = 1",
        "{own}",
        0,
        "22012",
        "22012",
    ),
    told("another's note", "SELECT note FROM judgement WHERE id = {bobs}", None, None, b"why 2", REFUSED),
    told("names of judges", "SELECT count(name) FROM judge", 1, 1, "{named}", "{named}"),
    told("who has which login", "SELECT count(*) FROM pooler_login", REFUSED, REFUSED, 3, REFUSED),
    told("identities of judges", "SELECT count(uid) FROM judge", REFUSED, REFUSED, "{named}", REFUSED),
    told("runs", "SELECT count(*) FROM run", REFUSED, REFUSED, "{runs}", "{runs}"),
    told("rankings", "SELECT count(*) FROM ranking", REFUSED, REFUSED, "{rankings}", "{rankings}"),
    told("which runs fed a pool", "SELECT count(*) FROM pool_run", REFUSED, REFUSED, "{fed}", "{fed}"),
    told("the plan of a pool", "SELECT count(manifest) FROM pool", REFUSED, REFUSED, 1, 1),
    told("the name of a pool", "SELECT count(name) FROM pool", REFUSED, REFUSED, 1, 1),
    told("a priority",
         "SELECT count(priority) FROM pool_entry", REFUSED, REFUSED, "{priorities}", "{priorities}"),
    told(
        "the order by priority",
        "SELECT count(*) FROM (SELECT document_id FROM pool_entry ORDER BY priority) one",
        REFUSED,
        REFUSED,
        "{pooled}",
        "{pooled}",
    ),
    told("a stratum", "SELECT count(stratum) FROM pool_entry", REFUSED, REFUSED, 0, 0),
    told("a probability", "SELECT count(inclusion_probability) FROM pool_entry", REFUSED, REFUSED, 0, 0),
    told("what was not drawn", "SELECT count(*) FROM pool_entry WHERE NOT sampled", 0),
    told("the purpose of a place",
         "SELECT count(purpose) FROM assignment", REFUSED, REFUSED, "{places}", REFUSED),
    told(
        "others' and open places",
        "SELECT count(*) FROM assignment WHERE judge_id IS DISTINCT FROM {me}",
        0,
        REFUSED,
        "{others}",
        REFUSED,
    ),
    told("the plan of places", "SELECT count(manifest) FROM assignment_plan", REFUSED, REFUSED, 1, REFUSED),
    told("others' sittings", "SELECT count(*) FROM sitting WHERE judge_id <> {alice}", 0, 0, 1, REFUSED),
    told("a model's answers", "SELECT count(*) FROM answer", REFUSED, REFUSED, 0, REFUSED),
    told("who a model is", "SELECT count(*) FROM model_judge", REFUSED, REFUSED, 0, REFUSED),
    told("who was erased", "SELECT count(*) FROM erasure", REFUSED, REFUSED, 0, REFUSED),
    told("all columns of a table", "SELECT count(one) FROM (SELECT * FROM pool) one", REFUSED, REFUSED, 1, 1),
    told(
        "samples of grades in the statistics",
        "SELECT count(*) FROM pg_stats WHERE tablename = 'judgement' AND most_common_vals IS NOT NULL",
        0,
    ),
    told(
        "others' statements",
        "SELECT count(*) FROM pg_stat_activity WHERE usename <> current_user AND query NOT LIKE '<%'"
        " AND query <> ''",
        0,
    ),
    told("others' passwords", "SELECT count(*) FROM pg_authid", REFUSED),
    told("the next number of an event", "SELECT nextval('judgement_id_seq')", REFUSED),
    told("a file of the server", "SELECT pg_read_file('PG_VERSION')", REFUSED),
    told("a program of the server", "COPY judge TO PROGRAM 'cat'", REFUSED),
    told("opinions", "SELECT count(*) FROM pooler_votes(NULL, NULL)", REFUSED, "{votes}", REFUSED, REFUSED),
    told("who graded", "SELECT count(*) FROM pooler_graders()", REFUSED, "{kinds}", REFUSED, REFUSED),
    told("policies switched off", ("SET row_security = off", "SELECT count(*) FROM judgement"), REFUSED),
)  # fmt: skip
WRITES = (
    told("judge as bob", event(judge="{bob}"), REFUSED),
    told("judge in bob's sitting", event(sitting="{sitting_of_bob}"), REFUSED),
    told("judge without a sitting", event(sitting="NULL"), REFUSED),
    told("a grade off the scale", event(grade=7), REFUSED),
    told("back-dated by an hour", event(ago="1 hour"), REFUSED),
    told("dated tomorrow", event(ago="-1 day"), REFUSED),
    told("a revision with a gap", event(revision="{next} + 4"), REFUSED),
    # For an adjudicator the first is a ruling on what judges decided differently.
    told("the same revision again", event(revision="{next} - 1"), REFUSED, 1, REFUSED, REFUSED),
    told("a document without a place", event(document="{no_place}", revision=1), REFUSED),
    told("a document in no pool", event(document="{no_pool}", revision=1), REFUSED),
    told("a grade by a note", event(action="note", grade=2), REFUSED),
    told("a state that is not its action's", event(action="skip"), REFUSED),
    told("an undo of bob's event", event(action="undo", undoes="{bobs}"), REFUSED),
    told("an undo that restores another grade", event(action="undo", undoes="{alices}", grade=2), REFUSED),
    told("its own judgement", event(), 1, REFUSED, REFUSED, REFUSED),
    told("change a grade in place", "UPDATE judgement SET grade = 0", REFUSED),
    told("remove judgements", "DELETE FROM judgement", REFUSED),
    told("empty the table", "TRUNCATE judgement CASCADE", REFUSED),
    told("lock the table", "LOCK TABLE judgement IN ACCESS EXCLUSIVE MODE", REFUSED),
    told("stop imports", "LOCK TABLE collection IN SHARE ROW EXCLUSIVE MODE", REFUSED),
    told("stop assignments", "LOCK TABLE assignment IN ROW SHARE MODE", REFUSED),
    told("take every open place", "UPDATE assignment SET judge_id = {me} WHERE judge_id IS NULL", REFUSED),
    told("claim", "SELECT count(*) FROM pooler_claim({topic}, 2)", 2, REFUSED, REFUSED, REFUSED),
    told("claim 500 at once", "SELECT count(*) FROM pooler_claim({topic}, 500)", REFUSED),
    told("hold a document without a place",
         "SELECT pooler_hold({topic}, {no_pool}, true)", False, REFUSED, REFUSED, REFUSED),
    told("a passage for bob's event", "INSERT INTO passage (judgement_id, start, length, text) VALUES"
         " ({bobs}, 0, 1, 'x')", REFUSED),
    told("a passage for an old event", "INSERT INTO passage (judgement_id, start, length, text) VALUES"
         " ({alices}, 0, 1, 'x')", REFUSED),
    told("sit as bob", SITTING.replace("{me}", "{bob}"), REFUSED),
    told("end bob's sitting",
         "UPDATE sitting SET ended_at = now() WHERE id = {sitting_of_bob}", 0, 0, REFUSED, REFUSED),
    told("words for bob", "INSERT INTO judge_term (judge_id, topic_id, position, term)"
         " VALUES ({bob}, {topic}, 0, 'x')",
         REFUSED),
    told("be bob", "UPDATE pooler_login SET login = session_user WHERE judge_id = {bob}", REFUSED),
    told("rename oneself", "UPDATE judge SET name = 'x'", REFUSED),
    told("enable oneself", "UPDATE judge SET disabled = false", REFUSED),
    told("lock bob's row", "SELECT id FROM judge WHERE id = {bob} FOR KEY SHARE", REFUSED),
    told("withdraw the pool", "UPDATE pool SET withdrawn = true", REFUSED),
    told("undraw a document", "UPDATE pool_entry SET sampled = false", REFUSED, REFUSED, REFUSED, 0),
    told("answer a request for a draw", "UPDATE pooler_draw SET drawn = true", REFUSED, REFUSED, REFUSED, 0),
    told("more topics", "INSERT INTO topic (number) VALUES ('x')", REFUSED),
    told("the text of a document", "UPDATE document SET text = 'x'", REFUSED),
    told("the scale", "UPDATE collection SET scale = '{{}}'", REFUSED),
    told("be an organiser", "SET ROLE {organisers}", REFUSED),
    told("be bob's login", "SET SESSION AUTHORIZATION {login_of_bob}", REFUSED),
    told("a table that stands before another", "CREATE TEMP TABLE judge (id integer)", REFUSED),
    told("a function of one's own",
         "CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS 'SELECT 1'", REFUSED),
    told("a schema of one's own", "CREATE SCHEMA mine", REFUSED),
    told("a login", "CREATE ROLE eve LOGIN", REFUSED),
    told("another policy", "CREATE POLICY p ON judgement USING (true)", REFUSED),
    told("no policies", "ALTER TABLE judgement DISABLE ROW LEVEL SECURITY", REFUSED),
    told("no foreign keys", "SET session_replication_role = replica", REFUSED),
    told("end bob's connections", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename ="
         " '{login_of_bob}' UNION ALL SELECT NULL LIMIT 1", None),
)  # fmt: skip


@pytest.fixture(scope="module")
def known(served: Served) -> dict[str, Any]:
    """Find out what an attacker would like to know, and how much there is, as the owner."""
    one = served.value
    judges = "(SELECT id FROM judge WHERE name = '{}')"
    alice, bob = one(f"SELECT {judges.format('alice')}"), one(f"SELECT {judges.format('bob')}")
    own = f"SELECT {{}} FROM judgement WHERE judge_id = {alice} ORDER BY id LIMIT 1"
    values = {
        "alice": alice,
        "bob": bob,
        "topic": one(own.format("topic_id")),
        "document": one(own.format("document_id")),
        "next": one(own.format("revision")) + 1,
        "alices": one(own.format("id")),
        "bobs": one(f"SELECT id FROM judgement WHERE judge_id = {bob} ORDER BY id LIMIT 1"),
        "sitting_of_bob": one(f"SELECT id FROM sitting WHERE judge_id = {bob} LIMIT 1"),
        "no_place": one(
            "SELECT document_id FROM assignment place WHERE topic_id = 1 AND NOT EXISTS (SELECT FROM"
            " assignment one"
            f" WHERE one.document_id = place.document_id AND one.topic_id = 1 AND one.judge_id ="
            f" {alice}) LIMIT 1"
        ),
        "no_pool": one("SELECT id FROM document WHERE id NOT IN (SELECT document_id FROM pool_entry"
                       " WHERE topic_id = 1)"
                       " LIMIT 1"),
        "own": one(f"SELECT count(*) FROM judgement WHERE judge_id = {alice}"),
        "all": one("SELECT count(*) FROM judgement"),
        "judges": one("SELECT count(DISTINCT judge_id) FROM judgement"),
        "named": one("SELECT count(*) FROM judge"),
        "runs": one("SELECT count(*) FROM run"),
        "rankings": one("SELECT count(*) FROM ranking"),
        "fed": one("SELECT count(*) FROM pool_run"),
        "priorities": one("SELECT count(priority) FROM pool_entry"),
        "pooled": one("SELECT count(*) FROM pool_entry"),
        "places": one("SELECT count(*) FROM assignment"),
        "organisers": f"garden_{served.tag}_organiser",
        "login_of_bob": served.login("bob"),
    }  # fmt: skip
    values["votes"] = len(disputed(served))
    values["kinds"] = len(graders(served))
    return values


def disputed(served: Served) -> list[Any]:
    """Return the decisions on documents that judges decided differently, as the owner's desk finds them."""
    from store.collection import Collection
    from store.judging.disagreements import Selection

    with Collection(served.owner) as collection:
        every = Selection(kinds=("human", "imported", "model"))
        return [vote for case in collection.disagreements.all(every) for vote in case.votes]


def graders(served: Served) -> set[str]:
    """Return the kinds of judges who graded something, as the owner finds them."""
    from store.collection import Collection

    with Collection(served.owner) as collection:
        heard = collection.grades.heard()
        return {one.kind for one in heard.judges if one.name in heard.graders} | set(heard.counts_left_out)


def tried(connection: psycopg.Connection[Any], statements: tuple[str, ...]) -> Any:
    """Try statements and take them back: the last one's first value, rows changed, or the refusal."""
    try:
        for statement in statements:
            cursor = connection.execute(statement)
        if cursor.description is None:
            return cursor.rowcount
        row = cursor.fetchone()
        return None if row is None else row[0]
    except psycopg.Error as error:
        return NO.get(error.sqlstate or "", error.sqlstate)
    finally:
        connection.rollback()


@pytest.mark.parametrize("who", ["alice", "ann", "rita", "dora"])
def test_sql_by_hand(served: Served, known: dict[str, Any], who: str) -> None:
    """Whatever is tried gives what is its own, or nothing: all attempts of a role, told together."""
    role = str(LOGINS[who])
    me = served.value(f"SELECT coalesce((SELECT id FROM judge WHERE name = '{who}'), 0)")
    others = served.value(f"SELECT count(*) FROM assignment WHERE judge_id IS DISTINCT FROM {me}")
    values = {**known, "me": me, "others": others}
    wrong = []
    with served.connected(who) as connection:
        for attempt in (*READS, *WRITES):
            wanted = getattr(attempt, role)
            if isinstance(wanted, str) and wanted.startswith("{"):
                wanted = values[wanted.strip("{}")]
            got = tried(connection, tuple(one.format(**values) for one in attempt.sql))
            if got != wanted:
                wrong.append(f"{attempt.what}: expected {wanted!r}, got {got!r}")
    assert wrong == []


def test_a_disabled_judge_sees_nothing(served: Served) -> None:
    """From the next statement on, also in a session that is open; enabled again, all is as before."""
    with served.connected("bob", autocommit=True) as connection:
        count = "SELECT count(*) FROM document"
        before = connection.execute(count).fetchone()
        served.as_admin("UPDATE judge SET disabled = true WHERE name = 'bob'")
        try:
            assert connection.execute(count).fetchone() == (0,)
            assert connection.execute("SELECT count(*) FROM judgement").fetchone() == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT pooler_claim(1, 1)")
        finally:
            served.as_admin("UPDATE judge SET disabled = false WHERE name = 'bob'")
        assert before is not None
        assert connection.execute(count).fetchone() == before
