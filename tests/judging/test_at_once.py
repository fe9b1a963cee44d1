"""Several programs at one collection: at once, killed, before a file that is archived or gone."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from judge_ui.session.session import JudgingSession
from pooler.pools.live import LiveDrawing
from store.collection import Collection
from store.db.engine import writing
from store.errors import ConflictError, StoreError
from store.judging.assignments import claim, hold
from store.judging.desk import Desk
from store.records import Action, Decision, Existing, JudgeKind, State, Topic
from tests.helpers.claiming import (
    PEOPLE,
    assign,
    assign_open,
    claim_and_judge,
    decisions,
    held,
    places,
    shown,
    sit,
    take,
)
from tests.helpers.judging_process import judging
from tests.helpers.places import held_place, let_lapse
from tests.helpers.run import run_inside
from tests.helpers.world import (
    JudgeAtWork,
    change_stored,
    judge_in_turn,
    make_pool,
    new_collection,
    parse_scale,
    race,
    stored_rows,
)

pytestmark = pytest.mark.slow  # several processes

FORTY = [f"d{number:02d}" for number in range(40)]
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.helpers.claiming", "tests.helpers.world"])


@pytest.fixture
def pooled(collection: Collection, collection_name: str) -> Iterator[str]:
    """Make a pool of 40 documents and judges j0 to j7."""
    collection.pools.add(make_pool({"1": FORTY}))
    for number in range(8):
        collection.judges.add(f"j{number}", JudgeKind.HUMAN)
    collection.close()
    return collection_name


def run_all(target: Callable[..., None], arguments: list[tuple[Any, ...]]) -> list[int | None]:
    """Run one process for each tuple of arguments and return their exit codes."""
    started = [processes.Process(target=target, args=args) for args in arguments]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    return [process.exitcode for process in started]


def revisions(name: str) -> dict[tuple[int, int], list[int]]:
    """Give the revisions of every (judge, document), sorted."""
    found: dict[tuple[int, int], list[int]] = {}
    for _, _, document, judge, revision, *_ in stored_rows(name)["judgement"]:
        found.setdefault((judge, document), []).append(revision)
    return {pair: sorted(numbers) for pair, numbers in found.items()}


def test_two_judges_at_once_lose_nothing(pooled: str) -> None:
    """Two processes write 80 events each on the same documents; all are there, each once."""
    barrier = processes.Barrier(2)
    codes = run_all(judge_in_turn, [(pooled, f"j{number}", barrier, 80) for number in range(2)])
    assert codes == [0, 0]
    found = revisions(pooled)
    assert len(found) == 2 * len(FORTY)
    assert set(map(tuple, found.values())) == {(1, 2)}
    sittings = stored_rows(pooled)["sitting"]
    assert len({row[6] for row in sittings}) == 2


def test_same_judge_twice_one_wins(pooled: str) -> None:
    """Of two processes that grade one document at once, one writes and the other is told."""
    barrier = processes.Barrier(2)
    pipes = [processes.Pipe() for _ in range(2)]
    codes = run_all(race, [(pooled, "j0", barrier, sender) for _, sender in pipes])
    assert codes == [0, 0]
    (won, lost), (other_won, other_lost) = (receiver.recv() for receiver, _ in pipes)
    assert sorted(won + other_won) == FORTY
    assert (sorted(lost), sorted(other_lost)) == (sorted(other_won), sorted(won))
    assert set(map(tuple, revisions(pooled).values())) == {(1,)}


@pytest.mark.slow
def test_eight_judges_on_one_file(tmp_path: Path) -> None:
    """Eight processes write 20 events each into one SQLite file without being refused."""
    name = str(tmp_path / "wine.db")
    with new_collection(name) as made:
        made.pools.add(make_pool({"1": FORTY[:10]}))
        for number in range(8):
            made.judges.add(f"j{number}", JudgeKind.HUMAN)
    barrier = processes.Barrier(8)
    codes = run_all(judge_in_turn, [(name, f"j{number}", barrier, 20) for number in range(8)])
    assert codes == [0] * 8
    found = revisions(name)
    assert Counter(map(tuple, found.values())) == {(1, 2): 80}


def test_two_who_make_one_collection(collection_name: str) -> None:
    """Of several who make a collection in one place at once, one does and the rest are refused."""
    scale = parse_scale("0-2")
    barrier = threading.Barrier(4)
    answers: list[str] = []

    def make(number: int) -> None:
        barrier.wait()
        try:
            Collection.create(collection_name, name=str(number), scale=scale, program="x").close()
        except StoreError as error:
            answers.append(error.message)
        else:
            answers.append("made")

    threads = [threading.Thread(target=make, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count("made") == 1
    assert len(answers) == 4
    assert len(stored_rows(collection_name)["collection"]) == 1


ANN, CAT = 1, 3
"""Row ids."""


def waits(act: threading.Thread, seconds: float = 0.3) -> bool:
    """Start a thread and say whether it is still at it after a while."""
    act.start()
    act.join(seconds)
    return act.is_alive()


def test_claims_pass_over_what_others_are_claiming(postgres_url: str) -> None:
    """On PostgreSQL a claim waits for no other judge's: it takes the next documents at once."""
    with made_pool(postgres_url) as pooled:
        assign_open(pooled, 1)
        with writing(pooled._db.engine) as session:
            assert claim(session, ANN, 1, n=2) == [1, 2]
            assert take(pooled, "ben", 2) == [3, 4]
            assert take(pooled, "cat", 9) == [5, 6]
        assert take(pooled, "cat", 1) == []


def test_one_judge_twice_waits_for_itself(postgres_url: str) -> None:
    """On PostgreSQL two programs of one judge never get two places of one document."""
    with made_pool(postgres_url) as pooled:
        assign_open(pooled, 2)
        got: list[list[int]] = []
        thread = threading.Thread(target=lambda: got.append(take(pooled, "ann", 2)))
        with writing(pooled._db.engine) as session:
            assert claim(session, ANN, 1, n=2) == [1, 2]
            assert waits(thread)
        thread.join()
        assert got == [[3, 4]]


def test_late_judge_and_a_new_one_never_both_decide(postgres_url: str) -> None:
    """On PostgreSQL a late decision and another judge's claim of the place exclude each other."""
    with made_pool(postgres_url) as pooled:
        assign_open(pooled, 1)
        take(pooled, "ann", 6)
        let_lapse(postgres_url)
        with writing(pooled._db.engine) as session:
            hold(session, ANN, 1, 1, decided=True)
            assert take(pooled, "ben", 1) == [2]
        late = sit(pooled, "ann")
        errors: list[ConflictError] = []

        def decide() -> None:
            try:
                late.grade("c", 1)
            except ConflictError as error:
                errors.append(error)

        thread = threading.Thread(target=decide)
        with writing(pooled._db.engine) as session:
            assert claim(session, CAT, 1, n=1) == [3]
            assert waits(thread)
        thread.join()
        assert len(errors) == 1
        assert decisions(postgres_url) == {}


def test_assigning_waits_for_decisions_that_are_being_written(postgres_url: str) -> None:
    """On PostgreSQL a decision that was under way counts: it is not given to another judge."""
    with made_pool(postgres_url) as pooled:
        late = sit(pooled, "ann")
        late.desk._sit()
        thread = threading.Thread(target=lambda: assign(pooled, ["ben"], existing=Existing.REPLACE))
        with writing(pooled._db.engine) as session:
            hold(session, ANN, 1, 1, decided=True)
            assert waits(thread)
        thread.join()
        assert shown(pooled, "ben") == list("abcdef")


@contextlib.contextmanager
def made_pool(name: str) -> Iterator[Collection]:
    """Make a collection with the pool and the judges of `pooled`."""
    with new_collection(name) as collection:
        collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a", "b"]}))
        for judge in PEOPLE:
            collection.judges.add(judge, JudgeKind.HUMAN)
        yield collection


def start_claiming(
    name: str, n_processes: int, n_documents: int, *, whim: float, patience_s: float
) -> list[ForkServerProcess]:
    """Start processes that claim the documents of one pool, k=2; three are one and the same judge.

    Nobody waits for the judges who go for good: others take what they had claimed.
    """
    docnos = [f"d{number:03d}" for number in range(n_documents)]
    with new_collection(name) as collection:
        collection.pools.add(make_pool({"1": docnos}))
        for number in range(n_processes):
            collection.judges.add(f"j{number}", JudgeKind.HUMAN)
        assign_open(collection, 2, lease_s=1)
    start = time.monotonic() + 1
    started = []
    for number in range(n_processes):
        judge = f"j{number}" if number > 2 else "j0"
        # The first ones stay to the end, whatever happens.
        steady = number < n_processes // 3
        arguments = (name, judge, number, patience_s, 0.0 if steady else whim, start)
        process = processes.Process(target=claim_and_judge, args=arguments)
        process.start()
        started.append(process)
    return started


def check_exactly_two(name: str, n_documents: int) -> None:
    """Check that every document has two judges with decisions, and no place is left over."""
    decided = decisions(name)
    assert len(decided) == n_documents
    assert {len(judges) for judges in decided.values()} == {2}
    rows = places(name)
    assert len(rows) == 2 * n_documents
    assert {(docno, judge) for _, docno, judge, _ in rows} == {
        (docno, judge) for docno, judges in decided.items() for judge in judges
    }
    assert not any(lease for *_, lease in rows)
    with Collection(name) as collection:
        for judge in collection.judges.all():
            desk: Desk = collection.desk(judge.name)
            assert desk.claim("1") is False
            assert desk.claimable("1") == 0
            for task in desk.queue("1"):
                assert task.state is State.JUDGED


def kill_some(started: list[ForkServerProcess], n: int, seconds: float) -> None:
    """Kill some of the unsteady processes at random moments, and wait for all to end."""
    dice = random.Random(4)
    time.sleep(1)
    n_steady = len(started) // 3
    for process in dice.sample(started[n_steady:], n):
        time.sleep(dice.random() * seconds / n)
        process.kill()
    for process in started:
        process.join(120)
    # 0 = saw it through, 7 = went without a word, -9 = killed.
    assert [process.exitcode for process in started[:n_steady]] == [0] * n_steady
    assert {process.exitcode for process in started} <= {0, 7, -9}


@pytest.mark.slow
def test_twelve_processes_claim_every_document_exactly_twice(collection_name: str) -> None:
    """Twelve processes, some killed, some gone without a word: two judges each, none abandoned."""
    started = start_claiming(collection_name, 12, 24, whim=0.1, patience_s=60)
    kill_some(started, 3, 0.5)
    check_exactly_two(collection_name, 24)


@pytest.fixture
def desks(collection: Collection) -> tuple[Desk, Desk]:
    """Let ann claim three of six documents at each of two desks."""
    collection.pools.add(make_pool({"1": list("abcdef")}))
    for name in PEOPLE:
        collection.judges.add(name, JudgeKind.HUMAN)
    assign_open(collection, 1)
    first, second = collection.desk("ann"), collection.desk("ann")
    assert first.claim("1")
    assert second.claim("1")
    return first, second


@pytest.mark.slow
def test_leaving_one_desk_keeps_what_the_other_has(
    desks: tuple[Desk, Desk], collection: Collection, collection_name: str
) -> None:
    """No place is another judge's while a desk of its holder is alive; the last one clears up."""
    first, second = desks
    JudgeAtWork(first, "1").grade("a", 1)
    first.leave()
    assert held(collection_name, "ann") == list("abcdef")
    assert not collection.desk("ben").claim("1")
    second.leave()
    assert held(collection_name, "ann") == ["a"]
    assert collection.desk("ben").claim("1")


@pytest.mark.slow
def test_a_desk_long_silent_keeps_nothing(desks: tuple[Desk, Desk], collection_name: str) -> None:
    """What a dead program claimed goes back with what the live one did."""
    _, second = desks
    second.beat("1")
    change_stored(collection_name, "UPDATE sitting SET seen_at = '2001-01-01 00:00:00.000000' WHERE id = 1")
    second.leave()
    assert held(collection_name, "ann") == []


@pytest.mark.slow
def test_another_judges_desk_keeps_nothing(
    desks: tuple[Desk, Desk], collection: Collection, collection_name: str
) -> None:
    """Only desks of the same judge hold a judge's places."""
    collection.desk("ben").beat("1")
    for desk in desks:
        desk.leave()
    assert held(collection_name, "ann") == []


@pytest.mark.slow
def test_a_start_waits_for_others_as_any_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first document is shown a claim waits; after it, the judge is told soon."""
    monkeypatch.setattr(Desk, "patience_ms", 20)
    name = str(tmp_path / "c.db")
    with new_collection(name) as made:
        made.topics.add([Topic("1", "one")])
        made.pools.add(make_pool({"1": "abcdef"}))
        made.judges.add("ann", JudgeKind.HUMAN)
    held_place(name, "1", "abcdef", None, lease_s=600)
    with Collection(name) as opened, closing(sqlite3.connect(name)) as other:
        desk = opened.desk("ann")
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        claimed: list[bool] = []
        start = threading.Thread(target=lambda: claimed.append(desk.claim("1")))
        start.start()
        time.sleep(0.5)
        other.execute("ROLLBACK")
        start.join()
        assert claimed == [True]
        desk.page("a")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="did not finish in time"):
            desk.claim("1")
        other.execute("ROLLBACK")


READ = """
import os, sys
import store.collection, store.judging.desk, store.analysis.arrays
import store.grades.qrels, store.errors
from sqlalchemy.dialects.sqlite import pysqlite
if os.getuid() == 0:
    os.setuid(65534)
with store.collection.Collection("c.db") as opened:
    print(opened.name, sum(pool.pairs for pool in opened.pools.all()))
    try:
        opened.judges.add("late", "human")
    except store.errors.StoreError as error:
        print(error)
"""


@pytest.fixture
def archive() -> Iterator[Path]:
    """Make a folder that everybody may read and nobody but the superuser may write."""
    with tempfile.TemporaryDirectory(prefix="pooler-archive-") as name:
        folder = Path(name)
        with new_collection(str(folder / "c.db")) as made:
            made.pools.add(make_pool({"1": "a"}))
        (folder / "c.db").chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="no user ids here")
def test_archived_file_can_be_read_and_not_written(archive: Path) -> None:
    """Without any right to write beside it, reports work, and writing is refused in words."""
    done = subprocess.run(
        [sys.executable, "-c", READ], cwd=archive, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "test 1"
    assert "may be read but not written" in done.stdout


def test_file_that_was_removed_is_not_written_to(tmp_path: Path) -> None:
    """A judgement is never called saved when it went into a file that nobody can find again."""
    path = tmp_path / "c.db"
    with new_collection(str(path)) as made:
        made.pools.add(make_pool({"1": "a"}))
        made.judges.add("ann", JudgeKind.HUMAN)
        desk = made.desk("ann")
        desk.queue("1")
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(StoreError, match="is gone: it was moved or deleted"):
            desk.record(Decision("1", "a", Action.JUDGE, 1))


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
def adaptive(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    adaptive: Path, tmp_path: Path, strategy: str, topics: Sequence[str], n_kills: int, *, forked: bool
) -> Counter[str]:
    """Compare judging that was killed so often with judging that was not; say where it was."""
    smooth, killed = tmp_path / "smooth.db", tmp_path / "killed.db"
    shutil.copy(adaptive / f"{strategy}.db", smooth)
    shutil.copy(adaptive / f"{strategy}.db", killed)
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
def test_killed_judging_goes_on_as_if_it_had_not_been(adaptive: Path, tmp_path: Path, strategy: str) -> None:
    """Killed at four random points, it draws the same documents and stores the same decisions."""
    check_kills(adaptive, tmp_path, strategy, TOPICS[:1], 4, forked=True)


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_judging_killed_often_goes_on_as_if_it_had_not_been(
    adaptive: Path, tmp_path: Path, strategy: str
) -> None:
    """The same at 20 points (a sixth of `POOLER_KILLS`), of processes as users start them."""
    n_kills = int(os.environ.get("POOLER_KILLS", "120")) // 6
    check_kills(adaptive, tmp_path, strategy, TOPICS, n_kills, forked=False)
