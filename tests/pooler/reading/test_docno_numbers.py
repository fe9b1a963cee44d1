"""Numbers for docnos, against a dictionary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.blocks import SuspicionError
from pooler.reading.columns import FieldColumn
from pooler.reading.docnos import DocnoNumbers

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
    """Docnos of any length have the numbers in which they were met; some are forgotten."""
    numbers, expected = DocnoNumbers(), dict[bytes, int]()
    for fields in content:
        got = numbers.number(FieldColumn.of(fields))
        assert got.tolist() == [expected.setdefault(one, len(expected)) for one in fields]
        assert len(numbers) == len(expected)
        known = data.draw(st.integers(0, len(expected)))
        assert numbers.since(known) == b"\n".join(list(expected)[known:])
        if data.draw(st.booleans()):
            numbers.forget(known)
            expected = dict(list(expected.items())[:known])


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
    assert numbers.since(0) == b"\n".join(names)


def test_docnos_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Docnos whose search begins at the same slot still have numbers of their own."""
    monkeypatch.setattr("pooler.reading.docnos._FACTORS", [0] * 8)
    numbers = DocnoNumbers()
    names = [b"document-%d" % number for number in range(60)]
    assert numbers.number(FieldColumn.of(names[:40])).tolist() == list(range(40))
    expected = [*range(40, 60), *range(39, -1, -1)]
    assert numbers.number(FieldColumn.of(names[::-1])).tolist() == expected
    # The first word of all the others, and nothing after it.
    assert numbers.number(FieldColumn.of([b"document"])).tolist() == [60]


def test_docno_twice_in_a_column() -> None:
    """A new docno that is there twice is refused; one met before has its number twice."""
    numbers = DocnoNumbers()
    for docno in (b"a", b"a" * 100):
        with pytest.raises(SuspicionError, match="twice"):
            numbers.number(FieldColumn.of([docno, b"b" * len(docno), docno]))
    numbers = DocnoNumbers()
    numbers.number(FieldColumn.of([b"a"]))
    assert numbers.number(FieldColumn.of([b"a", b"b", b"a"])).tolist() == [0, 1, 0]
