"""Several processes judge at once: no judgement is lost, doubled or overwritten."""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.errors import StoreError
from store.records import JudgeKind
from tests.helpers.world import judge_in_turn, make_pool, parse_scale, race, stored_rows

DOCNOS = [f"d{number:02d}" for number in range(40)]
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.helpers.world"])


@pytest.fixture
def pooled(collection: Collection, collection_name: str) -> Iterator[str]:
    """Make a pool of 40 documents and judges j0 to j7."""
    collection.pools.add(make_pool({"1": DOCNOS}))
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
    """Two processes write 200 events each on the same documents; all are there, each once."""
    barrier = processes.Barrier(2)
    codes = run_all(judge_in_turn, [(pooled, f"j{number}", barrier, 200) for number in range(2)])
    assert codes == [0, 0]
    found = revisions(pooled)
    assert len(found) == 2 * len(DOCNOS)
    assert set(map(tuple, found.values())) == {(1, 2, 3, 4, 5)}
    sittings = stored_rows(pooled)["sitting"]
    assert len({row[6] for row in sittings}) == 2


def test_same_judge_twice_one_wins(pooled: str) -> None:
    """Of two processes that grade one document at once, one writes and the other is told."""
    barrier = processes.Barrier(2)
    pipes = [processes.Pipe() for _ in range(2)]
    codes = run_all(race, [(pooled, "j0", barrier, sender) for _, sender in pipes])
    assert codes == [0, 0]
    (won, lost), (other_won, other_lost) = (receiver.recv() for receiver, _ in pipes)
    assert sorted(won + other_won) == DOCNOS
    assert (sorted(lost), sorted(other_lost)) == (sorted(other_won), sorted(won))
    assert set(map(tuple, revisions(pooled).values())) == {(1,)}


@pytest.mark.slow
def test_eight_judges_on_one_file(tmp_path: Path) -> None:
    """Eight processes write 50 events each into one SQLite file without being refused."""
    name = str(tmp_path / "wine.db")
    with Collection.create(name, name="x", scale=parse_scale("0-2"), program="x") as made:
        made.pools.add(make_pool({"1": DOCNOS[:10]}))
        for number in range(8):
            made.judges.add(f"j{number}", JudgeKind.HUMAN)
    barrier = processes.Barrier(8)
    codes = run_all(judge_in_turn, [(name, f"j{number}", barrier, 50) for number in range(8)])
    assert codes == [0] * 8
    found = revisions(name)
    assert Counter(map(tuple, found.values())) == {(1, 2, 3, 4, 5): 80}


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
