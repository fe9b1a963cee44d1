"""Who is in, and who may try a code, by a clock that is set by hand."""

from __future__ import annotations

import pytest
from pooler.serving.admission import GUESSES_OF_ALL, IDLE_S, LONGEST_S, Guesses, Logins

from store.judging.judges import Access
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
    logins = Logins(clock)
    idle, busy = logins.begin(ALICE), logins.begin(BOB)
    clock.wait(IDLE_S - 1)
    login = logins.find(busy)
    assert login is not None
    assert logins.find(idle) is not None
    logins.touch(login)
    clock.wait(1)
    assert logins.find(idle) is None
    for _ in range(int(LONGEST_S // IDLE_S) * 2 - 3):
        clock.wait(IDLE_S / 2)
        assert logins.lasts(login)
        logins.touch(login)
    clock.wait(IDLE_S / 2)
    assert not logins.lasts(login)
    assert logins.find(busy) is None


def test_visit_ends_with_its_code() -> None:
    """Another code of the same judge, or none, ends it; another name does not."""
    logins = Logins(Clock())
    alice, bob = logins.begin(ALICE), logins.begin(BOB)
    logins.end_outdated([ALICE._replace(judge="alison"), BOB._replace(sha256="new")])
    login = logins.find(alice)
    assert login is not None
    assert login.access.judge == "alison"
    assert logins.find(bob) is None
    logins.end_outdated([])
    assert not logins.lasts(login)


def test_cookie_is_secret_and_not_kept() -> None:
    """Two visits have two cookies of 256 bits, of which hashes are kept; a made-up one is nobody's."""
    logins = Logins(Clock())
    first, second = logins.begin(ALICE), logins.begin(ALICE)
    assert len({first, second}) == 2
    assert min(len(first), len(second)) >= 43  # 256 bits in base64
    assert first.encode() not in logins._logins
    assert logins.find("") is logins.find("é\ud800") is logins.find(first[:-1]) is None
    assert logins.end(first) is not None
    assert logins.find(first) is None
    assert logins.find(second) is not None


def test_fifth_browser_of_a_judge_ends_the_oldest() -> None:
    """A code that is entered again and again does not fill the memory."""
    logins = Logins(Clock())
    cookies = [logins.begin(ALICE) for _ in range(5)]
    assert [logins.find(one) is not None for one in cookies] == [False, True, True, True, True]
