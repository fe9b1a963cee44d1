"""Numbers for docnos, against a dictionary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.docnos import DocnoNumbers
from pooler.reading.fields import FieldColumn

# Lengths on both sides of every word's end, and of the most words that are kept as words.
lengths = st.sampled_from([1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200])
docnos = st.builds(
    lambda stem, length, end: (stem * length)[:length] + end,
    st.sampled_from([b"a", b"ab", b"FR94", "é".encode(), b"\xff"]),
    lengths,
    st.sampled_from([b"", b"1", b"2", b"01"]),
)
columns = st.lists(st.lists(docnos, unique=True, min_size=1, max_size=30), max_size=12)


@given(content=columns, data=st.data())
def test_numbers_are_those_of_a_dictionary(content: list[list[bytes]], data: st.DataObject) -> None:
    """Docnos of any length have the numbers in which they were met; those not told yet may be forgotten."""
    numbers, expected, told = DocnoNumbers(), dict[bytes, int](), list[bytes]()
    for fields in content:
        got = numbers.number(FieldColumn.of(fields))
        assert got.tolist() == [expected.setdefault(one, len(expected)) for one in fields]
        assert len(numbers) == len(expected)
        if data.draw(st.booleans()):
            told += [one for one in numbers.taken().split(b"\n") if one]
            assert told == list(expected)
        elif data.draw(st.booleans()):
            numbers.forget(len(told))
            expected = {one: number for number, one in enumerate(told)}


def test_table_grows_and_keeps_its_numbers() -> None:
    """Tens of thousands of docnos, more than the first table holds, are found again."""
    names = [b"FR94%02d-%07d" % (number % 12, number * 7919 % 99_991) for number in range(50_000)]
    assert len(set(names)) == len(names)
    numbers = DocnoNumbers()
    for start in range(0, len(names), 777):
        numbers.number(FieldColumn.of(names[start : start + 777]))
    shuffled = names[::-3]
    got = numbers.number(FieldColumn.of(shuffled)).tolist()
    assert got == list(range(len(names)))[::-3]
    assert numbers.taken() == b"\n".join(names)


def test_docnos_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Docnos whose search begins at the same slot still have numbers of their own."""
    monkeypatch.setattr("pooler.reading.docnos._FACTOR", 0)
    numbers = DocnoNumbers()
    names = [b"document-%d" % number for number in range(60)]
    assert numbers.number(FieldColumn.of(names[:40])).tolist() == list(range(40))
    expected = [*range(40, 60), *range(39, -1, -1)]
    assert numbers.number(FieldColumn.of(names[::-1])).tolist() == expected
    # The first word of all the others, and nothing after it.
    assert numbers.number(FieldColumn.of([b"document"])).tolist() == [60]
    numbers.add(FieldColumn.of([b"f" * 90, b"g"]))
    assert numbers.find(FieldColumn.of([b"g", b"f" * 90, b"h"])).tolist() == [62, 61, -1]


@given(content=st.lists(docnos, min_size=1, max_size=40), n_known=st.integers(0, 40))
def test_what_was_not_met_is_not_found_and_stays_unknown(content: list[bytes], n_known: int) -> None:
    """Finding gives no number: those met before have theirs, all others none."""
    numbers = DocnoNumbers()
    known = list(dict.fromkeys(content[:n_known]))
    if known:
        numbers.number(FieldColumn.of(known))
    expected = [known.index(one) if one in known else -1 for one in content]
    assert numbers.find(FieldColumn.of(content)).tolist() == expected
    assert len(numbers) == len(known)
