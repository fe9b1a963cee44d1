"""`pooler ask` while others write, assign, interrupt or spend: what is kept, and what is asked."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from judge_ui.session.session import JudgingSession
from pooler.pools.live import LiveDrawing
from store.collection import Collection
from store.judging.models import ModelDesk
from store.records import Document, JudgeKind
from tests.cli.judge.test_model import answers, fill, judge, judgements
from tests.helpers.claiming import assign
from tests.helpers.run import environment, program, run_inside, write_run
from tests.model_server import ModelServer, model_server

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Run a server."""
    with model_server() as running:
        yield running


def hold_lock(file: str, server: ModelServer, seconds: float) -> threading.Thread:
    """Let another writer have a file for so long, from the third request on."""

    def write() -> None:
        while len(server.requests) < 3:
            time.sleep(0.005)
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        other.execute("ROLLBACK")
        other.close()

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.slow
@pytest.mark.parametrize(("patience_ms", "seconds"), [(None, 4.0), (300, 2.0)])
def test_answers_wait_for_another_writer(
    patience_ms: int | None,
    seconds: float,
    server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lock that outlasts a judge's patience, or every single try: each pair is asked and stored once."""
    if patience_ms is not None:
        monkeypatch.setattr(ModelDesk, "patience_ms", patience_ms)
    server.delay_s = 0.2
    file = fill(tmp_path / "c.db", server, {f"d{n}": "GRADE:1" for n in range(12)})
    other = hold_lock(file, server, seconds)
    judge(file, server).fine()
    other.join()
    assert len(server.requests) == len(judgements(file)) == len(answers(file)) == 12


def test_another_model_loses_no_answer_of_the_first(server: ModelServer, tmp_path: Path) -> None:
    """What is on its way when the server answers as another model is stored; nothing more is asked."""
    server.delay_s = 0.2
    names = [f"d{n:02}" for n in range(12)]
    third = sorted(names, key=lambda name: sha256(f"0\0001\0{name}".encode()).digest())[2]
    texts = dict.fromkeys(names, "GRADE:1") | {third: "FAULT:other-model"}
    file = fill(tmp_path / "c.db", server, texts)
    told = judge(file, server).failed(3)
    assert "two models are two judges" in told.err
    asked = {one.name for one in server.requests}
    assert judgements(file).keys() == asked - {third}
    assert third in asked
    assert 3 < len(asked) < 12


def test_a_document_that_was_given_away_is_counted(server: ModelServer, tmp_path: Path) -> None:
    """Everything is assigned to ann while four requests are out: they are lost, and no other is sent."""
    server.delay_s = 0.5
    file = fill(tmp_path / "c.db", server, {f"d{n}": "GRADE:1" for n in range(12)})

    def give_away() -> None:
        while len(server.requests) < 5:
            time.sleep(0.005)
        with Collection(file) as opened:
            opened.judges.add("ann", JudgeKind.HUMAN)
            assign(opened, ["ann"])

    thread = threading.Thread(target=give_away)
    thread.start()
    told = judge(file, server).fine()
    thread.join()
    assert len(server.requests) - len(judgements(file)) == 4
    assert "4 answers about documents of other judges: not stored" in told.err


def test_ctrl_c_ends_what_waits(server: ModelServer, tmp_path: Path) -> None:
    """The server asks to wait for 20 s: whoever waits is let go, and what was answered before stays."""
    server.delay_s = 0.5
    file = fill(tmp_path / "c.db", server, {"a": "FAULT:wait-20", "b": "FAULT:wait-20", "c": "GRADE:1"})
    options = ("--endpoint", server.base, "--yes", "--collection", file)
    with subprocess.Popen(
        [*program(), "ask", "m", *options], stderr=subprocess.PIPE, env=environment({})
    ) as process:
        while not {"a", "b"} & {one.name for one in server.requests}:
            time.sleep(0.01)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 2, err
    assert process.returncode == 130, err
    assert judgements(file).keys() <= {"c"}
    assert len(server.requests) < 4


def test_limits_are_of_all_answers(server: ModelServer, tmp_path: Path) -> None:
    """97 tokens an answer, and some 107 reckoned for the next: seven fit into 750, whoever begins anew."""
    file = fill(tmp_path / "c.db", server, {f"d{n:02}": "GRADE:0" for n in range(12)})
    for _ in range(3):
        told = judge(file, server, "--max-tokens-total", "750", "--concurrency", "1").failed(1)
        assert "679 tokens were used" in told.err  # 7 times 97
        assert "answers of this judge count; a greater --max-tokens-total goes on from here" in told.err
        assert len(server.requests) == len(judgements(file)) == 7
    judge(file, server, "--max-tokens-total", "1200", "--concurrency", "1").fine()
    judge(file, server, "--max-tokens-total", "1350", "--concurrency", "1", "--canaries", "4").failed(1)
    assert len(server.requests) == 13  # 1,261 tokens: one of 97 more would pass 1,350


def test_the_limit_of_cost_is_of_all_answers(server: ModelServer, tmp_path: Path) -> None:
    """90 tokens at 1 and 7 at 10 a million are 160e-6, of answers without a stored cost as well."""
    file = fill(tmp_path / "c.db", server, {f"d{n:02}": "GRADE:0" for n in range(12)})
    judge(file, server, "--max-tokens-total", "350", "--concurrency", "1").failed(1)
    assert len(server.requests) == 3
    for _ in range(2):
        limit = ("--price", "1,10", "--max-cost", "0.0018", "--concurrency", "1")
        told = judge(file, server, *limit).failed(1)
        assert "--max-cost: 0.0008 was spent" in told.err  # five; the next is taken for some 1.07e-3
        assert "answers of this judge count; a greater --max-cost goes on from here" in told.err
        assert len(server.requests) == 5
    judge(file, server, "--price", "1,10", "--max-cost", "0.1").fine()
    assert len(server.requests) == 12


def test_adaptive_pools_are_drawn_as_before_a_person(server: ModelServer, tmp_path: Path) -> None:
    """With the same grades a model is given the same documents, each after the answer about the last."""
    server.delay_s = 0.1
    file = fill(tmp_path / "m.db", server, {})
    docnos = "abcdefghi"
    grades = {docno: n % 3 for n, docno in enumerate(docnos)}
    for tag, order in (("up", docnos), ("down", docnos[::-1])):
        write_run(tmp_path, tag, {"1": order})
    runs = [tmp_path / "up.run", tmp_path / "down.run"]
    run_inside("import", "runs", *runs, "--collection", file).fine()
    run_inside("pool", "-s", "mtf", "--name", "live", "--depth", "9", "-b", "5", "--collection", file).fine()
    with Collection(file) as opened:
        opened.documents.add([Document(one, text=f"GRADE:{grades[one]} NAME:{one}") for one in docnos])
    shutil.copy(file, tmp_path / "p.db")
    with Collection(str(tmp_path / "p.db")) as opened:
        opened.judges.add("ann", JudgeKind.HUMAN)
        session = JudgingSession(opened.desk("ann"), min_dwell=0, drawing=LiveDrawing(opened))
        session.open_topic("1")
        while not session.is_complete:
            session.mark_shown()
            assert session.task is not None
            session.grade(grades[session.task.docno])
        session.desk.leave()
        by_person = [one.docno for one in sorted(opened.judgements.history(), key=lambda one: one.judged_at)]
    assert "5 may be drawn besides by adaptive pools" in judge(file, server, "--dry-run").fine().err
    judge(file, server).fine()
    assert [one.name for one in server.requests] == by_person
    assert len(by_person) == 5
    at = [one.at for one in server.requests]
    assert all(later - before >= 0.1 for before, later in pairwise(at))
    assert judgements(file) == {docno: ("judged", grades[docno], "") for docno in by_person}


def test_nothing_is_drawn_while_a_document_stays_unjudged(server: ModelServer, tmp_path: Path) -> None:
    """Documents without a text are not asked: the budget is not drawn empty over them."""
    file = fill(tmp_path / "m.db", server, {})
    write_run(tmp_path, "up", {"1": "abcdef"})
    run_inside("import", "runs", tmp_path / "up.run", "--collection", file).fine()
    run_inside("pool", "-s", "mtf", "--name", "live", "--depth", "6", "-b", "4", "--collection", file).fine()
    assert "1 document without a text" in judge(file, server).fine().err
    with Collection(file) as opened:
        assert [one.sampled for one in opened.pools.get("live").entries].count(True) == 1


def test_a_reply_that_names_no_model_is_recorded_as_that_and_told_once(
    server: ModelServer, tmp_path: Path
) -> None:
    """Two of three; the one that names its model is no other one."""
    texts = {"a": "FAULT:unnamed", "b": "FAULT:unnamed", "c": "GRADE:1"}
    file = fill(tmp_path / "c.db", server, texts)
    told = judge(file, server).fine()
    assert told.err.count("did not say which model it is in 2 answers: not stated") == 1
    assert judgements(file).keys() == texts.keys()
    name = server.judge if hasattr(server, "judge") else "m"
    shown = run_inside("show", "judges", name, "--collection", file, "--format", "json").fine().json()
    assert shown.facts["served_models"] == ["not stated", "stub-1"]
