"""A judge's own words: per topic, kept as they are, shown harmless."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.collection import Collection
from store.errors import UnknownNameError
from store.records import JudgeKind, Topic
from tests.helpers.world import parse_scale, stored_rows


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make two topics and two judges."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    return collection


def test_terms_are_of_one_judge_and_one_topic(ready: Collection) -> None:
    """They come in the order given; other topics, other judges and other words stay apart."""
    ann, bob = ready.desk("ann"), ready.desk("bob")
    assert ann.terms("1") == ()
    ann.set_terms("1", ("zeta", "alpha"))
    bob.set_terms("1", ("beta",))
    ann.set_terms("2", ("gamma",))
    assert (ann.terms("1"), ann.terms("2")) == (("zeta", "alpha"), ("gamma",))
    assert (bob.terms("1"), bob.terms("2")) == (("beta",), ())
    ann.set_terms("1", ("alpha", "delta"))
    assert ready.desk("ann").terms("1") == ("alpha", "delta")
    ann.set_terms("1", ())
    assert (ann.terms("1"), ann.terms("2"), bob.terms("1")) == ((), ("gamma",), ("beta",))


def test_blank_terms_and_repetitions_are_left_out(ready: Collection) -> None:
    """What has no character to mark is no term; blanks around one do not make it another."""
    desk = ready.desk("ann")
    desk.set_terms("1", ("", " a ", "\t", "a", "A", "a b", "\u3000検索\u3000", "検索"))
    assert desk.terms("1") == ("a", "A", "a b", "検索")


def test_terms_cannot_steer_a_terminal(ready: Collection, collection_name: str) -> None:
    """Controls, NUL and lone surrogates are kept in the store and shown as what they are."""
    desk = ready.desk("ann")
    desk.set_terms("1", ("a\x1b[2J", "\x00", "b\nc", "\ud800"))
    assert desk.terms("1") == ("a␛[2J", "␀", "b c", "\ufffd")
    kept = [bytes(row[-1]) for row in stored_rows(collection_name)["judge_term"]]
    assert sorted(kept) == [b"\x00", b"a\x1b[2J", b"b\nc", b"\xed\xa0\x80"]


def test_unknown_topic_is_refused(ready: Collection, collection_name: str) -> None:
    """Nothing is stored for a topic that is not there."""
    with pytest.raises(UnknownNameError, match="unknown topic `9`"):
        ready.desk("ann").set_terms("9", ("a",))
    with pytest.raises(UnknownNameError, match="unknown topic `9`"):
        ready.desk("ann").terms("9")
    assert stored_rows(collection_name)["judge_term"] == []


@given(words=st.lists(st.text(st.sampled_from("ab \x00\ud800検"), max_size=4), max_size=6))
def test_words_come_back_once_each_in_order(ready: Collection, words: list[str]) -> None:
    """Whatever was there before, the words given are the words that come back."""
    desk = ready.desk("ann")
    desk.set_terms("1", tuple(words))
    stripped = [word.strip() for word in words]
    expected = [w for place, w in enumerate(stripped) if w and w not in stripped[:place]]
    shown = [word.replace("\x00", "␀").replace("\ud800", "\ufffd") for word in expected]
    assert desk.terms("1") == tuple(shown)


def test_two_sittings_of_a_judge_take_turns(postgres_url: str) -> None:
    """Words set in two sittings at once are those of one of them, and neither is refused."""
    scale = parse_scale("0-2")
    with Collection.create(postgres_url, name="x", scale=scale, program="x") as made:
        made.judges.add("ann", JudgeKind.HUMAN)
        made.topics.add([Topic("1", "one")])
        barrier, failed = threading.Barrier(4), []

        def set_often(word: str) -> None:
            desk = made.desk("ann")
            for number in range(10):
                barrier.wait()
                try:
                    desk.set_terms("1", (word, f"{word}{number}"))
                except Exception as error:  # noqa: BLE001 - all of them are looked at below
                    failed.append(error)

        threads = [threading.Thread(target=set_often, args=[word]) for word in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        first, second = made.desk("ann").terms("1")
        assert second == f"{first}9"
