"""Fixtures of the judging interface: small collections, a clock that is set by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pytest
from textual import _wait

from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.errors import PoolerError
from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.world import new_collection

# The Pilot looks every 20 ms whether the screen is at rest, at least twice a key; the same share of
# work in a shorter while says the same, and the tests of screens take two thirds of the time.
_wait.SLEEP_GRANULARITY, _wait.SLEEP_IDLE = 1 / 200, 1 / 200 / 20

ENGLISH = Topic(
    "12",
    "bridge maintenance",
    "Which bridges are maintained on a schedule?",
    "A relevant document names a schedule.",
)
JAPANESE = Topic("0013", "情報検索の評価", "テストコレクションに関する文書", "構築法を述べていること。")

Maker = Callable[..., Collection]


@pytest.fixture
def collection_file(tmp_path: Path) -> Path:
    """Name the file that `make_collection` makes."""
    return tmp_path / "collection.db"


@pytest.fixture
def make_collection(collection_file: Path) -> Iterator[Maker]:
    """Give a maker of collections: topics, each with its documents in display order."""
    made: list[Collection] = []

    def make(
        queues: Mapping[Topic, Sequence[Document]],
        *,
        scale: str = "0-2",
        manifest: Mapping[str, Any] = MappingProxyType({}),
    ) -> Collection:
        collection = new_collection(str(collection_file), scale)
        made.append(collection)
        entries = [
            PoolEntry(topic.topic, document.docno, position)
            for topic, documents in queues.items()
            for position, document in enumerate(documents)
        ]
        collection.topics.add(list(queues))
        collection.pools.add(Pool(entries, dict(manifest)))
        collection.documents.add([one for documents in queues.values() for one in documents])
        for judge in ("alice", "bob"):
            collection.judges.add(judge, JudgeKind.HUMAN)
        return collection

    yield make
    for collection in made:
        collection.close()


@pytest.fixture
def two_topics(make_collection: Maker) -> Collection:
    """Make a collection of two topics: four English documents, two Japanese ones."""
    english = [Document(f"e{n}", f"Bridge {n}", f"Text of bridge {n}.") for n in range(4)]
    japanese = [Document(f"j{n}", f"研究 {n}", f"検索の評価 {n}。") for n in range(2)]
    return make_collection({ENGLISH: english, JAPANESE: japanese})


@pytest.fixture
def events(collection_file: Path) -> Callable[[], list[dict[str, Any]]]:
    """Give a reader of every event of the collection, oldest first, straight from the file."""

    def read() -> list[dict[str, Any]]:
        with closing(sqlite3.connect(collection_file)) as connection:
            connection.row_factory = sqlite3.Row
            query = (
                "SELECT j.*, d.docno, d.sha256, judge.name AS judge FROM judgement j"
                " JOIN document d ON d.id = j.document_id JOIN judge ON judge.id = j.judge_id"
                " ORDER BY j.id"
            )
            return [dict(row) for row in connection.execute(query)]

    return read


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    """Give a clock that is set by hand."""
    return Clock()


Session = TypeVar("Session", bound=JudgingSession)


def shown(session: Session) -> Session:
    """Show the document before the judge, and return the session."""
    session.mark_shown()
    return session


class NothingToDraw:
    """A source of documents that fails."""

    def draw(self, topic: str) -> bool:  # noqa: ARG002 - the session's protocol
        message = "the runs of pool `live` have changed since it was made"
        raise PoolerError(message)
