"""Adaptive pools drawn by a program of the organiser for judges who may not."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from pooler.pools.serving import DrawingService, RequestedDrawing
from store.collection import Collection
from store.errors import PoolerError, StoreError
from store.records import Action, Decision
from tests.helpers.run import environment, program, run_inside
from tests.roles.served import Served, empty_database, fill, let_in

pytestmark = pytest.mark.slow


@contextmanager
def service(served: Served, who: str = "dora") -> Iterator[list[str]]:
    """Let a thread draw as `pooler draw --serve` does; give what it says."""
    stop, said = threading.Event(), list[str]()

    def work() -> None:
        with Collection(served.url(who)) as collection:
            DrawingService(collection, said.append).serve(stop.is_set)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield said
    finally:
        stop.set()
        thread.join(30)


def drawn_as(served: Served, topic: str) -> list[str]:
    """Return what is drawn for a topic, in order, as the owner sees it."""
    query = (
        "SELECT coalesce(array_agg(docno ORDER BY entry.position), '{}') FROM pool_entry entry"
        " JOIN document ON document.id = document_id JOIN topic ON topic.id = topic_id"
        f" WHERE sampled AND number = '{topic}'"
    )
    return list(served.value(query))


def grade_all(collection: Collection, topic: str, draws: int) -> None:
    """Draw and grade: relevant, not, relevant, ..., as alice."""
    desk, drawing = collection.desk("alice"), RequestedDrawing(collection)
    for number in range(draws):
        assert drawing.draw(topic)
        task = next(one for one in desk.queue(topic) if not one.revision)
        desk.record(Decision(topic, task.docno, Action.JUDGE, 1 - number % 2))
    desk.leave()


def test_what_is_drawn_is_what_a_judge_would_have_drawn(drawn: Served, tmp_path: Path) -> None:
    """The same documents in the same order as in a file in which judges draw themselves: grades count."""
    from pooler.pools.live import LiveDrawing

    with service(drawn) as said, Collection(drawn.url("alice")) as collection:
        grade_all(collection, "G01", 4)
    assert [line.split(", ")[0] for line in said] == ["topic G01: a document"] * 4
    file = str(tmp_path / "own.db")
    run_inside("backup", file, "--collection", drawn.owner).fine()
    with Collection(file) as collection:
        desk, drawing = collection.desk("bob"), LiveDrawing(collection)
        for number in range(4):
            assert drawing.draw("G02")
            task = next(one for one in desk.queue("G02") if not one.revision)
            desk.record(Decision("G02", task.docno, Action.JUDGE, 1 - number % 2))
        wanted = [task.docno for task in desk.queue("G02")]
    with service(drawn), Collection(drawn.url("alice")) as collection:
        grade_all(collection, "G02", 4)
    assert drawn_as(drawn, "G02") == wanted
    assert run_inside("verify", "--collection", drawn.owner).fine()
    assert drawn.value("SELECT count(*) FROM pool_entry WHERE sampled AND checksum IS NULL") == 0


def test_nothing_is_drawn_for_whoever_judges_nothing(drawn: Served) -> None:
    """A pool cannot be drawn to its end: what is drawn must have been looked at first."""
    with service(drawn), Collection(drawn.url("bob")) as collection:
        drawing = RequestedDrawing(collection)
        assert drawing.draw("G03")
        for _ in range(3):
            assert drawing.draw("G03")
    assert len(drawn_as(drawn, "G03")) == 1


def test_nobody_answers(drawn: Served) -> None:
    """One line that says who has to start what; what was asked is answered once somebody does."""
    with Collection(drawn.url("alice")) as collection:
        with pytest.raises(StoreError, match="does not answer") as told:
            RequestedDrawing(collection, answer_s=0.1).draw("G04")
        assert told.value.hint == "an organiser: pooler draw --serve"
        assert drawn_as(drawn, "G04") == []
    answer = run_inside("draw", "--collection", drawn.url("dora")).fine()
    assert "1 request answered" in answer.err
    assert len(drawn_as(drawn, "G04")) == 1


def test_the_budget_ends_and_a_fault_is_told(postgres_server: str) -> None:
    """False when nothing is left; a pool whose runs have changed is told to the judge, with the fault."""
    served = empty_database(postgres_server)
    fill(served, assigned=False)
    let_in(served)
    with service(served, "otto"), Collection(served.url("alice")) as collection:
        grade_all(collection, "G05", 6)
        assert not RequestedDrawing(collection).draw("G05")
        with served.connected() as connection:
            connection.execute("UPDATE run SET sha256 = repeat('0', 64)")
            connection.commit()
    with (
        service(served),
        Collection(served.url("alice")) as collection,
        pytest.raises(PoolerError, match="have changed since it was made"),
    ):
        RequestedDrawing(collection).draw("G06")


def test_requests_are_checked(drawn: Served, served: Served) -> None:
    """A topic without a budget, a collection whose documents are assigned: no row is written."""
    for where, topic in ((drawn, "(SELECT max(id) + 1 FROM topic)"), (served, "1")):
        with where.connected("alice") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT pooler_want({topic})")


def test_the_program_goes_on_after_the_server_was_gone(drawn: Served) -> None:
    """Its connections are cut; it says so, connects again and answers; Ctrl-C ends it in a line."""
    command = [*program(), "draw", "--serve", "--collection", drawn.url("dora")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment({})) as process:
        assert process.stderr is not None
        try:
            assert "drawing for judges who ask" in process.stderr.readline()
            cut = (
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename ="
                f" '{drawn.login('dora')}'"
            )
            time.sleep(0.5)
            drawn.as_admin(cut)
            assert "trying again in 1 s" in process.stderr.readline()
            with Collection(drawn.url("alice")) as collection:
                assert RequestedDrawing(collection, answer_s=20).draw("G07")
            process.send_signal(signal.SIGINT)
            rest = process.stderr.read()
        finally:
            process.kill()
    assert "topic G07: a document" in rest
    assert "Traceback" not in rest
    assert rest.splitlines()[-1].startswith("interrupted: ")


def test_judging_in_lines_draws_by_the_service(drawn: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge's own login judges an adaptive pool as any other."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("G08\n1\n0\nq\n"))
    with service(drawn):
        answer = run_inside("judge", "--plain", "--collection", drawn.url("bob"))
    assert "all saved" in answer.out, answer
    assert len(drawn_as(drawn, "G08")) >= 2
    assert os.environ.get("PGUSER") is None
