"""A collection on a real PostgreSQL server, owned by no superuser, with a login for every role."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from sqlalchemy import NullPool, create_engine, make_url, text

from store.collection import Collection
from store.db.engine import as_login
from store.db.login import Role
from store.records import Action, Decision
from tests.helpers.run import GARDEN, run_inside

LOGINS = {
    "alice": Role.JUDGE,
    "bob": Role.JUDGE,
    "ann": Role.ADJUDICATOR,
    "rita": Role.READER,
    "dora": Role.DRAWER,
    "otto": Role.ORGANISER,
}
"""Who has which role; judges have logins of other names than their own."""


@dataclass(frozen=True, slots=True)
class Served:
    """A collection on a server."""

    owner: str
    """The address as the tables' owner opens it."""
    admin: str
    """The address of the server's superuser, to the same database."""
    tag: str

    def login(self, who: str) -> str:
        """Name a login: the whole server shares its names."""
        return f"{who}_{self.tag}"

    def url(self, who: str) -> str:
        """Return the address as a login opens it."""
        return as_login(self.owner, self.login(who))

    @contextmanager
    def connected(self, who: str = "", **options: Any) -> Iterator[psycopg.Connection[Any]]:
        """Connect as a login, by default as the owner, as any program could; what is done is taken back."""
        with psycopg.connect(self.url(who) if who else self.owner, **options) as connection:
            yield connection
            connection.rollback()

    def as_admin(self, *statements: str) -> None:
        """Run statements as the superuser, for good."""
        with psycopg.connect(self.admin, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def value(self, query: str) -> Any:
        """Ask the owner for one value."""
        with self.connected() as connection:
            row = connection.execute(query).fetchone()
            return None if row is None else row[0]


def empty_database(server: str, *, can_grant: bool = True) -> Served:
    """Make an owner who is no superuser, and an empty database of its own."""
    tag = uuid.uuid4().hex[:8]
    admin = make_url(server).set(drivername="postgresql+psycopg")
    engine = create_engine(admin, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"CREATE ROLE owner_{tag} LOGIN {'CREATEROLE' if can_grant else ''}"))
        connection.execute(text(f"CREATE DATABASE garden_{tag} OWNER owner_{tag}"))
    here = admin.set(drivername="postgresql", database=f"garden_{tag}")
    owner = as_login(here.render_as_string(hide_password=False), f"owner_{tag}")
    return Served(owner, here.render_as_string(hide_password=False), tag)


def fill(served: Served, *, assigned: bool) -> None:
    """Put the sample collection in, with people, a model's grades, and places or an adaptive pool."""
    here = ("--collection", served.owner)
    pooled = ("pool", "--depth", "3")
    drawn = ("pool", "--strategy", "mtf", "--depth", "5", "--budget", "6")
    for command in (
        ("init", "--scale", "0-2"),
        ("import", "topics", GARDEN / "topics.jsonl"),
        ("import", "runs", *sorted((GARDEN / "runs").glob("*.run"))),
        pooled if assigned else drawn,
        ("import", "docs", GARDEN / "documents.jsonl"),
        ("import", "judgements", GARDEN / "judgements" / "strict.qrels", "--judge", "gpt", "--kind", "model"),
        ("judges", "add", "alice", "bob"),
        ("judges", "add", "ann", "--kind", "adjudicator"),
        *((("assign", "--claim", "--per-document", "2", "--seed", "1"),) if assigned else ()),
    ):
        run_inside(*command, *here).fine()


def let_in(served: Served) -> None:
    """Give every login its role."""
    with Collection(served.owner) as collection:
        for who, role in LOGINS.items():
            judge = who if role in (Role.JUDGE, Role.ADJUDICATOR) else None
            collection.roles.grant(served.login(who), role, judge=judge)


def judge_some(place: str, judge: str, n: int, *, grade: int = 1, topic: str = "G01") -> list[str]:
    """Judge the first documents of a topic that are not judged, each with a note; return them."""
    judged = []
    with Collection(place) as collection:
        desk = collection.desk(judge, program="test")
        desk.claim(topic)
        for place_of, task in enumerate([one for one in desk.queue(topic) if not one.revision][:n]):
            page = desk.page(task.docno)
            note = f"why {grade}"
            desk.record(
                Decision(
                    topic,
                    task.docno,
                    Action.JUDGE,
                    grade,
                    note=note,
                    position=place_of,
                    document_sha256=page.sha256,
                )
            )
            judged.append(task.docno)
        desk.leave()
    return judged
