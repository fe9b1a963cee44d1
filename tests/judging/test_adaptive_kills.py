"""Adaptive judging that is killed anywhere goes on as if it had not been."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from judge_ui.session.session import JudgingSession
from pooler.pools.live import LiveDrawing
from store.collection import Collection
from store.records import JudgeKind
from tests.helpers.judging_process import judging
from tests.helpers.run import run_inside
from tests.helpers.world import stored_rows

TOPICS = ("1", "2", "3", "4", "5", "6")
BUDGET = 14
STRATEGIES = ("mtf", "thompson", "max-mean", "hedge", "rbp-b")

SKIP = "s"
ANSWERS = ("0", "0", "1", "2", SKIP)


def answer(topic: str, docno: str) -> str:
    """Return what the judge types before a document: always the same."""
    return random.Random(f"{topic} {docno}").choice(ANSWERS)


class Trace(NamedTuple):
    """What a collection says of drawing and judging."""

    draws: list[tuple[str, int, str]]
    """Topic, number and docno of every draw, in order."""
    events: list[tuple[str, str, str, int | None, int]]
    """Topic, docno, action, grade and revision of every event, in order."""


def trace(file: Path) -> Trace:
    """Read what was drawn and judged."""
    rows = stored_rows(str(file))
    topics = {row[0]: row[1] for row in rows["topic"]}
    docnos = {row[0]: row[1] for row in rows["document"]}
    with Collection(str(file)) as collection:
        entries = collection.pools.get("live").entries
    draws = sorted((one.topic, one.position, one.docno) for one in entries if one.sampled)
    events = [
        (topics[topic], docnos[document], action, grade, revision)
        for _, topic, document, _, revision, action, _, _, grade, *_ in sorted(rows["judgement"])
    ]
    return Trace(draws, events)


def never_stopped(file: Path, topics: Sequence[str]) -> Trace:
    """Judge topics to the end in this process, without a stop."""
    with Collection(str(file)) as collection:
        session = JudgingSession(collection.desk("ann"), min_dwell=0, drawing=LiveDrawing(collection))
        for topic in topics:
            session.open_topic(topic)
            while not session.is_through:  # skipped is not decided, and stays
                session.mark_shown()
                assert session.task is not None
                typed = answer(topic, session.task.docno)
                session.skip() if typed == SKIP else session.grade(int(typed))
        session.desk.leave()
    return trace(file)


def judged_and_killed(
    file: Path, topics: Sequence[str], n_kills: int, *, seed: str, forked: bool
) -> Counter[str]:
    """Judge topics to the end in processes of which the first so many are killed.

    Each is killed a random time after a random question was answered, or before the first one.

    Returns
    -------
    Counter of str
        How often a process was killed where: before it asked anything; having stored the last
        answer or not; having drawn a document that is not decided yet or not.
    """
    dice = random.Random(seed)
    where: Counter[str] = Counter()
    # A forked process needs no second to import itself.
    start_s, answer_s = (0.1, 0.04) if forked else (1.0, 0.04)
    for topic in topics:
        is_done = False
        while not is_done:
            n_answers = dice.choice([0, 1, 1, 2, 3]) if where.total() < n_kills else BUDGET + 1
            with judging(file, topic, forked=forked) as process:
                docno: str | None = ""
                for _ in range(n_answers):
                    docno = process.ask()
                    if docno is None:
                        break
                    process.type(answer(topic, docno))
                is_done = docno is None
                if is_done:
                    process.end()
                    continue
                time.sleep(dice.random() * (answer_s if n_answers else start_s))
                process.kill()
            where[place(file, topic, docno)] += 1
    return where


def place(file: Path, topic: str, docno: str | None) -> str:
    """Say where a process was killed, from what it left behind."""
    if not docno:
        return "at the start"
    left = trace(file)
    decided = {event[1] for event in left.events if event[0] == topic}
    if docno not in decided:
        return "answer not stored"
    drawn = {draw[2] for draw in left.draws if draw[0] == topic}
    return "next document drawn" if drawn - decided else "next document not drawn"


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make, for each strategy, a collection of six runs that it may draw 14 documents from."""
    folder = tmp_path_factory.mktemp("adaptive")
    dice = random.Random(20010101)
    runs = []
    for tag in "abcdef":
        lines = []
        for topic in TOPICS:
            docnos = dice.sample([f"d{number:03}" for number in range(120)], 40)
            lines += [f"{topic} Q0 {docno} 0 {-rank} {tag}" for rank, docno in enumerate(docnos)]
        runs.append(folder / f"{tag}.run")
        runs[-1].write_text("".join(f"{line}\n" for line in lines), "utf-8")
    plain = str(folder / "plain.db")
    run_inside("init", "--scale", "0-2", "--collection", plain).fine()
    run_inside("import", "runs", *runs, "--collection", plain).fine()
    with Collection(plain) as collection:
        collection.judges.add("ann", JudgeKind.HUMAN)
    for strategy in STRATEGIES:
        file = folder / f"{strategy}.db"
        shutil.copy(plain, file)
        options = ("--name", "live", "--seed", "7", "-b", str(BUDGET), "--collection", file)
        run_inside("pool", "-s", strategy, *options).fine()
    return folder


def check_kills(
    pooled: Path, tmp_path: Path, strategy: str, topics: Sequence[str], n_kills: int, *, forked: bool
) -> Counter[str]:
    """Compare judging that was killed so often with judging that was not; say where it was."""
    smooth, killed = tmp_path / "smooth.db", tmp_path / "killed.db"
    shutil.copy(pooled / f"{strategy}.db", smooth)
    shutil.copy(pooled / f"{strategy}.db", killed)
    expected = never_stopped(smooth, topics)
    assert len(expected.draws) == len(expected.events) == BUDGET * len(topics)
    seed = f"{strategy} {n_kills}"
    where = judged_and_killed(killed, topics, n_kills, seed=seed, forked=forked)
    found = trace(killed)
    assert found.draws == expected.draws
    assert found.events == expected.events
    assert where.total() == n_kills
    return where


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_killed_judging_goes_on_as_if_it_had_not_been(pooled: Path, tmp_path: Path, strategy: str) -> None:
    """Killed at four random points, it draws the same documents and stores the same decisions."""
    check_kills(pooled, tmp_path, strategy, TOPICS[:1], 4, forked=True)


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_judging_killed_often_goes_on_as_if_it_had_not_been(
    pooled: Path, tmp_path: Path, strategy: str
) -> None:
    """The same at 20 points (a sixth of `POOLER_KILLS`), of processes as users start them."""
    n_kills = int(os.environ.get("POOLER_KILLS", "120")) // 6
    check_kills(pooled, tmp_path, strategy, TOPICS, n_kills, forked=False)
