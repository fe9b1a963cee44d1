"""Who is in, and who may try a code, by a clock that is set by hand."""

from __future__ import annotations

import pytest

from pooler.serving.admission import GUESSES_OF_ALL, IDLE_S, LONGEST_S, Guesses, Visits
from store.judging.codes import Access
from tests.judge_ui.conftest import Clock

ALICE, BOB = Access(1, "alice", "a"), Access(2, "bob", "b")


def test_five_wrong_codes_a_minute() -> None:
    """The sixth waits until the first is a minute old; another address need not."""
    clock = Clock()
    guesses = Guesses(clock)
    waits = []
    for _ in range(6):
        waits.append(guesses.begin("192.0.2.1"))
        clock.wait(2)
    assert waits == [0, 0, 0, 0, 0, 50]
    assert guesses.begin("192.0.2.2") == 0
    clock.wait(47.9)  # 59.9 s after the first
    assert guesses.begin("192.0.2.1") == 1
    clock.wait(0.1)
    assert guesses.begin("192.0.2.1") == 0
    assert guesses.begin("192.0.2.1") > 0


def test_right_code_costs_nothing() -> None:
    """Of whoever enters right codes none is counted, and at most five are looked at at once."""
    guesses = Guesses(Clock())
    for _ in range(20):
        assert guesses.begin("192.0.2.1") == 0
        guesses.forget("192.0.2.1")
    assert [guesses.begin("192.0.2.1") > 0 for _ in range(6)] == [False] * 5 + [True]


def test_all_addresses_together_have_a_limit() -> None:
    """Somebody with many addresses cannot try more than the cap."""
    guesses = Guesses(Clock())
    tried = [guesses.begin(f"192.0.{number // 250}.{number % 250}") for number in range(GUESSES_OF_ALL + 3)]
    assert [wait == 0 for wait in tried] == [True] * GUESSES_OF_ALL + [False] * 3


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("2001:db8::1", "2001:db8::ffff", True),  # one network of 64 bits
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("unix:", "unix:", True),
    ],
)
def test_addresses_of_one_network_are_one(one: str, other: str, *, is_one: bool) -> None:
    """Whoever has an IPv6 network has 2**64 addresses, and five guesses."""
    guesses = Guesses(Clock())
    assert [guesses.begin(one) for _ in range(5)] == [0] * 5
    assert (guesses.begin(other) > 0) is is_one


def test_visit_ends_idle_or_old() -> None:
    """After half an hour without a key, and after twelve hours with keys."""
    clock = Clock()
    visits = Visits(clock)
    idle, busy = visits.begin(ALICE), visits.begin(BOB)
    clock.wait(IDLE_S - 1)
    visit = visits.find(busy)
    assert visit is not None
    assert visits.find(idle) is not None
    visits.touch(visit)
    clock.wait(1)
    assert visits.find(idle) is None
    for _ in range(int(LONGEST_S // IDLE_S) * 2 - 3):
        clock.wait(IDLE_S / 2)
        assert visits.lasts(visit)
        visits.touch(visit)
    clock.wait(IDLE_S / 2)
    assert not visits.lasts(visit)
    assert visits.find(busy) is None


def test_visit_ends_with_its_code() -> None:
    """Another code of the same judge, or none, ends it; another name does not."""
    visits = Visits(Clock())
    alice, bob = visits.begin(ALICE), visits.begin(BOB)
    visits.keep([ALICE._replace(judge="alison"), BOB._replace(sha256="new")])
    visit = visits.find(alice)
    assert visit is not None
    assert visit.access.judge == "alison"
    assert visits.find(bob) is None
    visits.keep([])
    assert not visits.lasts(visit)


def test_cookie_is_secret_and_not_kept() -> None:
    """Two visits have two cookies of 256 bits, of which hashes are kept; a made-up one is nobody's."""
    visits = Visits(Clock())
    first, second = visits.begin(ALICE), visits.begin(ALICE)
    assert len({first, second}) == 2
    assert min(len(first), len(second)) >= 43  # 256 bits in base64
    assert first.encode() not in visits._visits
    assert visits.find("") is visits.find("é\ud800") is visits.find(first[:-1]) is None
    assert visits.end(first) is not None
    assert visits.find(first) is None
    assert visits.find(second) is not None


def test_fifth_browser_of_a_judge_ends_the_oldest() -> None:
    """A code that is entered again and again does not fill the memory."""
    visits = Visits(Clock())
    cookies = [visits.begin(ALICE) for _ in range(5)]
    assert [visits.find(one) is not None for one in cookies] == [False, True, True, True, True]
