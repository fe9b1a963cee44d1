"""`pooler judge --model` while others write, assign, interrupt or spend: what is kept, and what is asked."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.judging.models.desk import ModelDesk
from tests.cli.judge.test_model import answers, fill, judge, judgements
from tests.model_server import ModelServer, model_server


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
        monkeypatch.setattr(ModelDesk, "_patience_ms", patience_ms)
    server.delay_s = 0.2
    file = fill(tmp_path / "c.db", server, {f"d{n}": "GRADE:1" for n in range(12)})
    other = hold_lock(file, server, seconds)
    judge(file, server).fine()
    other.join()
    assert len(server.requests) == len(judgements(file)) == len(answers(file)) == 12
