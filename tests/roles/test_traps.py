"""What PostgreSQL does otherwise than one would think, each shown on the server."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from store.collection import Collection
from store.db.login import Role
from store.roles.functions import MOST_HELD
from store.roles.statements import SETTINGS
from tests.helpers.run import run_inside, write
from tests.roles.served import Served

pytestmark = pytest.mark.slow


def test_default_privileges_take_nothing_from_public(served: Served) -> None:
    """A schema's can only add: a new function is everybody's, but for those of the roles."""
    with served.connected() as connection:
        connection.execute(
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC"
        )
        connection.execute("CREATE FUNCTION late() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
        may = "SELECT has_function_privilege(%s, %s, 'EXECUTE')"
        rita = served.login("rita")
        assert connection.execute(may, (rita, "late()")).fetchone() == (True,)
        assert connection.execute(may, (rita, "pooler_claim(integer, integer)")).fetchone() == (False,)
    with served.connected("rita") as connection, pytest.raises(InsufficientPrivilege):
        connection.execute("SELECT pooler_claim(1, 1)")


def test_an_identity_needs_no_sequence(served: Served) -> None:
    """A serial would need USAGE, which tells how many events there are, and lets anybody burn the numbers."""
    with served.connected() as connection:
        (kind,) = connection.execute(
            "SELECT attidentity::text FROM pg_attribute WHERE attrelid = 'judgement'::regclass AND"
            " attname = 'id'"
        ).fetchone() or ("",)
        assert kind == "d"
    for what in ("nextval('judgement_id_seq')", "last_value FROM judgement_id_seq"):
        with served.connected("alice") as connection, pytest.raises(InsufficientPrivilege):
            connection.execute(f"SELECT {what}")


def test_a_savepoint_parts_an_event_from_its_passage(served: Served) -> None:
    """Within one, the event's xmin is the savepoint's: a save uses none."""
    for savepoint in (False, True):
        with served.connected("alice") as connection:
            event = insert_event(connection, served, savepoint=savepoint)
            passage = "INSERT INTO passage (judgement_id, start, length, text) VALUES (%s, 0, 1, 'x')"
            if savepoint:
                with pytest.raises(InsufficientPrivilege, match="row-level security"):
                    connection.execute(passage, (event,))
            else:
                connection.execute(passage, (event,))


def insert_event(connection: psycopg.Connection, served: Served, *, savepoint: bool) -> int:
    """Let alice judge one of her documents again, by hand."""
    (me,) = connection.execute("SELECT pooler_me()").fetchone() or (0,)
    (sitting,) = connection.execute(
        "INSERT INTO sitting (judge_id, started_at, seen_at, host, process, program)"
        " VALUES (%s, now(), now(), '', 0, '') RETURNING id",
        (me,),
    ).fetchone() or (0,)
    if savepoint:
        connection.execute("SAVEPOINT one")
    (event,) = connection.execute(
        "INSERT INTO judgement (topic_id, document_id, judge_id, revision, action, state, grade,"
        " reason, note,"
        " iteration, judged_at, dropped_keys, sitting_id)"
        " SELECT topic_id, document_id, judge_id, revision + 1, 'judge', 'judged', 2, '', '', '0',"
        " clock_timestamp(), 0, %s FROM judgement ORDER BY id LIMIT 1 RETURNING id",
        (sitting,),
    ).fetchone() or (0,)
    if savepoint:
        connection.execute("RELEASE SAVEPOINT one")
    return event


def test_settings_of_a_group_do_not_reach_its_members(served: Served) -> None:
    """Shown on the group; so each judge's login has its own."""
    group = f"garden_{served.tag}_{Role.JUDGE}"
    served.as_admin(f"ALTER ROLE {group} SET lock_timeout = '7s'")
    with served.connected("alice") as connection:
        found = {name: connection.execute(f"SHOW {name}").fetchone() for name in SETTINGS}
    served.as_admin(f"ALTER ROLE {group} RESET lock_timeout")
    assert found == {
        "idle_in_transaction_session_timeout": ("30s",),
        "statement_timeout": ("1min",),
        "lock_timeout": ("10s",),
    }


def test_the_role_that_is_set_is_not_who_it_is(served: Served) -> None:
    """`session_user` says who connected, in the owner's functions too; `current_user` is the owner."""
    with served.connected() as connection:
        connection.execute(
            "CREATE FUNCTION who() RETURNS text LANGUAGE sql SECURITY DEFINER"
            " AS 'SELECT session_user || '' '' || current_user'"
        )
        assert connection.execute("SELECT who()").fetchone() == (f"owner_{served.tag} owner_{served.tag}",)
    with served.connected("alice") as connection:
        connection.execute(f"SET LOCAL ROLE garden_{served.tag}_judge")
        with_role = connection.execute("SELECT pooler_me(), current_user::text").fetchone()
        connection.execute("RESET ROLE")
        without = connection.execute("SELECT pooler_me()").fetchone()
        assert with_role == (*(without or ()), f"garden_{served.tag}_judge")


def test_an_advisory_lock_is_anybodys(served: Served) -> None:
    """A reader can hold any number for ever: no judge's save and no import waits for one."""
    with served.connected("rita", autocommit=True) as held:
        for number in (0x706F6F6C, 1, 2):
            held.execute("SELECT pg_advisory_lock(%s)", (number,))
        with Collection(served.url("otto")) as collection:
            assert not collection.judges.add("alice", collection.judges.all()[0].kind)
        with Collection(served.url("alice")) as collection:
            desk = collection.desk("alice")
            desk.set_terms("G01", ("soil",))
            assert desk.terms("G01") == ("soil",)
            desk.set_terms("G01", ())


def test_a_row_that_is_guarded_cannot_be_copied_in(served: Served, tmp_path: Path) -> None:
    """PostgreSQL refuses COPY then, its owner's too; the program inserts row by row."""
    with served.connected() as connection, pytest.raises(psycopg.errors.FeatureNotSupported):
        connection.execute("COPY judgement FROM STDIN")
    qrels = write(tmp_path / "late.qrels", "G01 0 KG-E-002 2", "G01 0 KG-E-008 0")
    words = ("import", "judgements", qrels, "--judge", "late", "--kind", "imported")
    run_inside(*words, "--collection", served.url("otto")).fine()
    grades = (
        "SELECT array_agg(grade ORDER BY grade) FROM judgement JOIN judge ON judge.id = judge_id"
        " WHERE name = 'late'"
    )
    assert served.value(grades) == [0, 2]


def test_whoever_chose_ids_could_stop_everybody(served: Served) -> None:
    """An id that comes next would be refused to whoever judges next: nobody but organisers may give one."""
    with served.connected("alice") as connection, pytest.raises(InsufficientPrivilege):
        connection.execute(
            "INSERT INTO sitting (id, judge_id, started_at, seen_at, host, process, program)"
            " VALUES (1000000, (SELECT pooler_me()), now(), now(), '', 0, '')"
        )


def test_places_cannot_be_hoarded_one_by_one(served: Served) -> None:
    """Neither by claims nor by holds, decided or not: a judge has at most 100 that it did nothing at."""
    with served.connected() as connection:
        # Many more places, all open: a plan of them for every document of a topic.
        (n_places,) = connection.execute(
            "WITH made AS (INSERT INTO assignment (topic_id, document_id, position, purpose,"
            " plan_id, display_order)"
            " SELECT topic.id, document.id, 0, 'primary', (SELECT max(id) FROM assignment_plan), 'docno'"
            " FROM topic, document RETURNING id) SELECT count(*) FROM made"
        ).fetchone() or (0,)
        connection.commit()
    try:
        assert n_places > MOST_HELD
        with served.connected("bob") as connection:
            pairs = connection.execute(
                "SELECT topic.id, document.id FROM topic, document ORDER BY 1, 2"
            ).fetchall()
            taken = 0
            refused = pytest.raises(InsufficientPrivilege, match=f"more than {MOST_HELD} documents are held")
            with refused:
                for pair in pairs:
                    connection.execute("SELECT pooler_hold(%s, %s, true)", pair)
                    taken += 1
            assert MOST_HELD - 10 < taken <= MOST_HELD + 10  # but for those it holds already
    finally:
        with served.connected() as connection:
            connection.execute(
                "DELETE FROM assignment WHERE position = 0 AND judge_id IS NULL AND id > %s", (0,)
            )
            connection.commit()
