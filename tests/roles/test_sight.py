"""Every table and column is decided about, and the server has just what was decided."""

from __future__ import annotations

import pytest
from sqlmodel import SQLModel

from store.collection import Collection
from store.db.login import LIMITED, Role
from store.roles.sight import EXTRA_TABLES, SIGHT, TABLE_NAMES
from tests.roles.served import Served

COLUMNS = {
    name: tuple(table.columns.keys()) for name, table in SQLModel.metadata.tables.items()
} | EXTRA_TABLES


@pytest.mark.parametrize("role", LIMITED)
def test_every_column_is_shown_or_withheld(role: Role) -> None:
    """A column that is added later is in neither, and this fails until somebody has decided about it."""
    assert set(TABLE_NAMES) == COLUMNS.keys() == SIGHT[role].keys()
    for table, sight in SIGHT[role].items():
        assert sorted((*sight.sees, *sight.withheld)) == sorted(COLUMNS[table]), table


@pytest.mark.parametrize("role", LIMITED)
def test_what_a_role_writes_it_may_name(role: Role) -> None:
    """No right to write is to a column that is not there, and none to an id."""
    for table, sight in SIGHT[role].items():
        for writing in sight.writes:
            assert set(writing.columns) <= set(COLUMNS[table]) - {"id"}, table
            assert bool(writing.columns) == (writing.kind != "DELETE")


def test_blindness_is_as_the_reference_lists_it() -> None:
    """What a judge must never see: runs, manifests, priorities, strata, purposes, models' answers."""
    hidden = {
        *(f"run.{name}" for name in COLUMNS["run"]),
        *(f"ranking.{name}" for name in COLUMNS["ranking"]),
        *(f"pool_run.{name}" for name in COLUMNS["pool_run"]),
        *(f"answer.{name}" for name in COLUMNS["answer"]),
        *(f"model_judge.{name}" for name in COLUMNS["model_judge"]),
        *("pool.name", "pool.manifest", "assignment.purpose", "assignment_plan.manifest", "judge.uid"),
        *(
            "pool_entry.priority",
            "pool_entry.stratum",
            "pool_entry.inclusion_probability",
            "pooler_login.login",
        ),
    }
    for role in (Role.JUDGE, Role.ADJUDICATOR):
        seen = {f"{table}.{name}" for table, sight in SIGHT[role].items() for name in sight.sees}
        assert not seen & hidden


@pytest.mark.slow
def test_the_server_has_what_was_decided(served: Served) -> None:
    """Made by `pooler grant`, the rights of every role to every column are those of the table."""
    with Collection(served.owner) as collection:
        assert collection.roles.faults() == []


BROKEN = {
    "CREATE TABLE answers_2 (id integer)": "nothing was decided about who sees the table `answers_2`",
    "ALTER TABLE judgement ADD COLUMN mood text; GRANT SELECT (mood) ON judgement TO {judge}": (
        "`judgement.mood`: `{judge}` may SELECT it"
    ),
    "GRANT SELECT ON pool TO {judge}": "`pool.manifest`: `{judge}` may SELECT it",
    "GRANT SELECT (purpose) ON assignment TO {judge}": "`assignment.purpose`: `{judge}` may SELECT it",
    "GRANT UPDATE (grade) ON judgement TO {judge}": "`judgement.grade`: `{judge}` may UPDATE it",
    "GRANT DELETE ON judgement TO {judge}": "`judgement`: `{judge}` may DELETE",
    "GRANT INSERT ON judgement TO {reader}": "`judgement`: `{reader}` may INSERT",
    "REVOKE SELECT ON topic FROM {reader}": "`topic`: `{reader}` may not read it",
    "ALTER TABLE judgement NO FORCE ROW LEVEL SECURITY": (
        "`judgement`: row-level security is not on, or not for its owner too"
    ),
    "ALTER TABLE passage DISABLE ROW LEVEL SECURITY": (
        "`passage`: row-level security is not on, or not for its owner too"
    ),
    "DROP POLICY pooler_judge ON judgement": "`judgement`: the policy `pooler_judge` is missing",
    "CREATE POLICY all_of_it ON judgement USING (true)": (
        "`judgement`: the policy `all_of_it` lets PUBLIC see or change more rows"
    ),
    "ALTER POLICY pooler_judge ON judgement TO PUBLIC": "`judgement`: the policy `pooler_judge` is another",
    "CREATE FUNCTION peek() RETURNS integer LANGUAGE sql AS 'SELECT 1'": "everybody may call peek()",
    "GRANT EXECUTE ON FUNCTION pooler_votes TO {judge}": (
        "pooler_votes(in_topic integer, in_document integer): others may call it than adjudicator, organiser"
    ),
    "ALTER FUNCTION pooler_claim RESET search_path": (
        "pooler_claim(in_topic integer, n integer) runs as its owner, and takes the caller's search_path"
    ),
    "GRANT USAGE ON SEQUENCE topic_id_seq TO {judge}": "`{judge}` may use the sequence `topic_id_seq`",
    "GRANT TEMPORARY ON DATABASE {database} TO PUBLIC": "everybody on the server may make temporary tables",
    "GRANT {reader} TO {alice}": "login `{alice}` has more than one role: judge, reader",
    "ALTER ROLE {alice} BYPASSRLS": "login `{alice}` stands above every right",
    "ALTER ROLE {judge} LOGIN": "`{judge}` is more than a group",
}
"""What somebody could do to a server, and what is said of it."""


@pytest.mark.slow
@pytest.mark.parametrize("change", BROKEN)
def test_a_fault_of_the_server_is_told(served: Served, change: str) -> None:
    """In the words of the fault; the change itself is taken back."""
    names = {role.value: f"garden_{served.tag}_{role}" for role in Role}
    names |= {"alice": served.login("alice"), "database": f"garden_{served.tag}"}
    from sqlalchemy import text
    from sqlmodel import Session

    from store.db.engine import collection_url, engine_at
    from store.roles.grants import faults_of_roles

    with engine_at(collection_url(served.admin)) as engine, Session(engine) as session:
        session.execute(text(change.format(**names)))
        assert BROKEN[change].format(**names) in list(faults_of_roles(session))
        session.rollback()
