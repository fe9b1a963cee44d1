"""Topics: added once, text as it came, ids as text."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.errors import ConflictError
from store.records import ImportReport, JudgeKind, Qrel, Topic
from tests.helpers.world import make_pool, stored_rows

WINE = Topic("1", "wine", "Which wines go with fish?", "A wine list alone is not relevant.")
BEER = Topic("2", "beer", "How is beer brewed?", "")


def test_topics_come_back(collection: Collection) -> None:
    """Every field comes back as it went in."""
    assert collection.topics.add([WINE, BEER]) == ImportReport(added=2)
    assert collection.topics.all() == [WINE, BEER]


def test_same_topics_again_change_nothing(collection: Collection, collection_name: str) -> None:
    """Importing the same topics again is counted and writes nothing."""
    collection.topics.add([WINE, BEER])
    before = stored_rows(collection_name)
    for replace in (False, True):
        report = collection.topics.add([BEER, WINE], replace=replace)
        assert report == ImportReport(unchanged=2)
        assert not report.changed
    assert stored_rows(collection_name) == before


def test_other_text_is_refused_or_taken(collection: Collection, collection_name: str) -> None:
    """A topic that differs in any field is refused with all the rest, or taken by `replace`."""
    collection.topics.add([WINE])
    others = [
        Topic("1", "wines", WINE.description, WINE.narrative),
        Topic("1", "wines", "", WINE.narrative),
        Topic("1", "wines", "", ""),
    ]
    for n_topics, other in enumerate(others, start=1):
        new = Topic(f"new-{n_topics}")
        before = stored_rows(collection_name)
        with pytest.raises(ConflictError, match="topic `1` exists with another text") as caught:
            collection.topics.add([new, other])
        assert caught.value.hint == f"--replace takes the new text, as version {n_topics + 1} of it"
        assert stored_rows(collection_name) == before
        report = collection.topics.add([new, other], replace=True)
        assert report == ImportReport(added=1, replaced=1)
        assert collection.topics.all()[0] == other
        assert len(stored_rows(collection_name)["topic"]) == n_topics + 1


def test_topic_known_from_elsewhere_gets_its_text(collection: Collection) -> None:
    """A topic that a pool or a qrels file named first is not listed until a topics file comes."""
    collection.pools.add(make_pool({"1": ["a"]}))
    collection.judgements.add({"ann": [Qrel("3", "a", 1)]}, JudgeKind.HUMAN)
    assert collection.topics.listed() == set()
    assert collection.topics.all() == [Topic("1"), Topic("3")]
    assert collection.topics.add([WINE, BEER]) == ImportReport(added=2)
    assert collection.topics.listed() == {"1", "2"}
    assert collection.topics.all() == [WINE, BEER, Topic("3")]


def test_topic_without_text_is_listed(collection: Collection) -> None:
    """A topics file may name a topic without a word about it."""
    assert collection.topics.add([Topic("1")]) == ImportReport(added=1)
    assert collection.topics.listed() == {"1"}
    assert collection.topics.add([Topic("1")]) == ImportReport(unchanged=1)


def test_text_is_kept_raw(collection: Collection) -> None:
    """NUL, escapes, lone surrogates and line ends of any kind come back as they went in."""
    raw = Topic("1", "a\0b\x1b[2J", "\ud800 and \udfff", "line\r\nline\rline\u2028酒 \U0001f377")
    collection.topics.add([raw])
    assert collection.topics.all() == [raw]


def test_ids_are_text_in_natural_order(collection: Collection) -> None:
    """Ids that look alike stay apart; digits in them sort by value, all else bytewise."""
    ids = ["10", "9", "009", "1", "001", "T2", "t2", "T10", "NA", '"x', "ワイン", "1.0"]
    collection.topics.add([Topic(number) for number in ids])
    found = [topic.topic for topic in collection.topics.all()]
    # The first part is compared first: empty before any letter, then the number.
    assert found == ["001", "1", "1.0", "009", "9", "10", '"x', "NA", "T2", "T10", "t2", "ワイン"]
    assert collection.topics.add([Topic(number) for number in ids]) == ImportReport(unchanged=12)


def test_no_topics_are_no_topics(collection: Collection) -> None:
    """An empty list is added without complaint."""
    assert collection.topics.add([]) == ImportReport()
    assert collection.topics.all() == []
