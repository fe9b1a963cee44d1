"""`pooler.strategies.rankings`: numbers that a seed gives again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.rankings import raw_numbers, uniform_numbers
from tests.strategies import ids

seeds = st.integers(0, 9) | st.integers(0, 2**64)
steps = st.none() | st.integers(0, 9) | st.integers(0, 2**33)
M32, M64, M128 = 2**32 - 1, 2**64 - 1, 2**128 - 1


def words(number: int) -> list[int]:
    """Cut a number into 32-bit words, the lowest first."""
    parts = [number & M32]
    while number := number >> 32:
        parts.append(number & M32)
    return parts


def seed_state(seed: int, key: list[int]) -> list[int]:
    """Mix a seed and a key into four 64-bit words, as O'Neill's `seed_seq_fe` and NEP 19 say."""
    entropy = words(seed)
    if key:
        entropy += [0] * (4 - len(entropy))
        for part in key:
            entropy += words(part)
    constant = 0x43B0D7E5

    def hashed(value: int) -> int:
        nonlocal constant
        value ^= constant
        constant = constant * 0x931E8875 & M32
        value = value * constant & M32
        return value ^ value >> 16

    def mixed(one: int, other: int) -> int:
        value = (0xCA01F9DD * one - 0x4973F715 * other) & M32
        return value ^ value >> 16

    pool = [hashed(part) for part in (entropy + [0] * 4)[:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = mixed(pool[target], hashed(pool[source]))
    for part in entropy[4:]:
        for target in range(4):
            pool[target] = mixed(pool[target], hashed(part))
    constant = 0x8B51F9DD
    state = []
    for number in range(8):
        value = pool[number % 4] ^ constant
        constant = constant * 0x58F38DED & M32
        value = value * constant & M32
        state.append(value ^ value >> 16)
    return [state[number] | state[number + 1] << 32 for number in range(0, 8, 2)]


def pcg64(state_words: list[int], n_numbers: int) -> list[int]:
    """Draw from PCG XSL RR 128/64, as O'Neill (2014) defines it."""
    multiplier = 2549297995355413924 << 64 | 4865540595714422341
    start = state_words[0] << 64 | state_words[1]
    increment = ((state_words[2] << 64 | state_words[3]) << 1 | 1) & M128
    state = (increment + start) * multiplier + increment & M128
    numbers = []
    for _ in range(n_numbers):
        state = state * multiplier + increment & M128
        folded = state >> 64 ^ state & M64
        turn = state >> 122
        numbers.append((folded >> turn | folded << (64 - turn)) & M64)
    return numbers


@given(seed=seeds, topic=ids, step=steps, n_numbers=st.integers(0, 5))
def test_raw_numbers_equal_the_published_generator(
    seed: int, topic: str, step: int | None, n_numbers: int
) -> None:
    """The bits are those of PCG64 written out by hand: no version of numpy may change them."""
    key = list(topic.encode()) + ([] if step is None else [256, step])
    numbers = raw_numbers(seed, topic, n_numbers, step=step)
    assert numbers.dtype == np.uint64
    assert numbers.tolist() == pcg64(seed_state(seed, key), n_numbers)


def test_raw_numbers_of_another_key_are_others() -> None:
    """Another seed, topic or step has a stream of its own."""
    keys = [
        (seed, topic, step)
        for seed in (0, 1, 2**40)
        for topic in ("1", "01", "11", "a", "é", "\x01")
        for step in (None, 0, 1, 49)
    ]
    firsts = {int(raw_numbers(seed, topic, 1, step=step)[0]) for seed, topic, step in keys}
    assert len(firsts) == len(keys)


@given(seed=seeds, topic=ids, few=st.integers(0, 20), more=st.integers(0, 20))
def test_raw_numbers_asked_for_more_begin_the_same(seed: int, topic: str, few: int, more: int) -> None:
    """How many are drawn does not change which."""
    longer = raw_numbers(seed, topic, few + more).tolist()
    assert longer[:few] == raw_numbers(seed, topic, few).tolist()


@given(seed=seeds, topic=ids, step=steps)
def test_uniform_numbers_are_the_upper_53_bits(seed: int, topic: str, step: int | None) -> None:
    """Each is in [0, 1) and keeps the 53 upper of 64 random bits exactly."""
    numbers = uniform_numbers(seed, topic, 20, step=step)
    assert ((numbers >= 0) & (numbers < 1)).all()
    bits = [number >> 11 for number in raw_numbers(seed, topic, 20, step=step).tolist()]
    assert [int(number * 2**53) for number in numbers.tolist()] == bits


def test_uniform_numbers_are_uniform() -> None:
    """Of 100,000 numbers a tenth falls into each tenth, within five standard deviations."""
    counts = np.histogram(uniform_numbers(3, "51", 100_000), bins=10, range=(0, 1))[0]
    # The standard deviation of a count is sqrt(100,000 * 0.1 * 0.9) = 95.
    assert np.abs(counts - 10_000).max() < 475


def test_raw_numbers_negative_seed_is_refused() -> None:
    """A seed is a natural number."""
    with pytest.raises(ValueError, match="non-negative"):
        raw_numbers(-1, "51", 1)
