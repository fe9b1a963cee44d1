"""The columns of run files: fields, scores, ranks and the numbers of docnos, each against the plain way."""

from __future__ import annotations

import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pooler.reading.blocks import check_parts
from pooler.reading.docnos import DocnoNumbers
from pooler.reading.fields import LONGEST_FIELD, Q0, FieldColumn, SuspicionError, find_fields
from pooler.reading.numbers import parse_ranks, parse_scores
from pooler.reading.strict import whole_ranks
from tests.helpers.strategies import RunText, damaged, ids, run_texts, score_texts

fields_of_lines = st.lists(
    ids.map(str.encode) | st.binary(min_size=1, max_size=20).map(lambda raw: raw.replace(b"\0", b"a")),
    min_size=1,
    max_size=12,
)


@given(fields_of_lines, st.data())
def test_packed_fields_are_those_of_the_lines(fields: list[bytes], data: st.DataObject) -> None:
    """Any lines, in any order and repeated, give their fields joined by newlines."""
    column = FieldColumn.of(fields)
    rows = data.draw(st.lists(st.integers(0, len(fields) - 1), max_size=15))
    expected = b"\n".join(fields[row] for row in rows)
    assert column[np.array(rows, np.int64)].packed() == expected
    assert [column[row] for row in range(len(column))] == fields


@given(fields_of_lines, st.integers(0, 12), st.integers(0, 12))
def test_slices_are_columns_of_some_lines(fields: list[bytes], start: int, end: int) -> None:
    """A slice of a column holds what the same slice of a list holds."""
    part = FieldColumn.of(fields)[start:end]
    assert [part[row] for row in range(len(part))] == fields[start:end]


@given(fields_of_lines)
def test_words_are_equal_exactly_where_fields_are(fields: list[bytes]) -> None:
    """Comparing all words is comparing the fields, whatever stands behind them in the block."""
    words = FieldColumn.of(fields).words()
    for row, field in enumerate(fields):
        for other, another in enumerate(fields):
            assert all(word[row] == word[other] for word in words) == (field == another)


@given(fields_of_lines)
def test_keys_of_equal_fields_are_equal(fields: list[bytes]) -> None:
    """No document twice in a topic goes unseen; so few others collide that none does here."""
    keys = FieldColumn.of(fields).keys().tolist()
    assert len(set(keys)) == len(set(fields))


@given(fields_of_lines, fields_of_lines)
def test_keys_are_the_same_whatever_stands_beside(fields: list[bytes], others: list[bytes]) -> None:
    """A document has one key in every block, so that it is seen twice across blocks too."""
    alone = [int(FieldColumn.of([field]).keys()[0]) for field in fields]
    together = FieldColumn.of([*others, *fields]).keys().tolist()
    assert together[len(others) :] == alone


def test_keys_of_docnos_that_differ_in_few_places_are_different() -> None:
    """Ids that count in the last characters of two words, as many do, do not collide."""
    numbers = range(300)
    docnos = [b"clueweb%03d-en000%04d" % (one, two) for one in numbers for two in numbers]
    assert len(np.unique(FieldColumn.of(docnos).keys())) == 300 * 300
    tops = [bytes([one]) * 7 + bytes([two]) for one in range(33, 126) for two in range(33, 126)]
    docnos = [one + two for one in tops[::7] for two in tops[::19]]
    assert len(np.unique(FieldColumn.of(docnos).keys())) == len(docnos)


@given(fields_of_lines)
def test_changes_are_where_a_field_differs_from_the_one_before(fields: list[bytes]) -> None:
    """Runs of equal fields begin where they begin in a list."""
    expected = [row for row in range(1, len(fields)) if fields[row] != fields[row - 1]]
    assert FieldColumn.of(fields).changes().tolist() == expected


def test_longest_field_at_the_end_is_read() -> None:
    """Windows on the last field stay inside the block, also when all before it are longer."""
    fields = [b"x" * LONGEST_FIELD, b"y" * (LONGEST_FIELD - 1), b"z"]
    column = FieldColumn.of(fields)
    assert column.packed() == b"\n".join(fields)
    assert len(set(column.keys().tolist())) == 3


def with_end(content: bytes) -> bytes:
    """End the last line."""
    return content if content.endswith(b"\n") else content + b"\n"


def columns_of(block: bytes) -> list[list[bytes]]:
    """Find fields and give them column by column, without the second."""
    return [list(column) for field, column in enumerate(find_fields(block)) if field != Q0]


def obvious_columns(block: bytes) -> list[list[bytes]]:
    """Split line by line."""
    rows = [line.split() for line in block.split(b"\n")[:-1]]
    return [[row[field] for row in rows] for field in (0, 2, 3, 4, 5)]


@given(run_texts(tidy=True))
def test_fields_of_lines_in_order_are_found(text: RunText) -> None:
    """Between any blanks, with any line ends, the fields are those of splitting each line."""
    block = with_end(text.content)
    assert columns_of(block) == obvious_columns(block)


@given(st.data(), run_texts() | run_texts(lenient=True))
def test_fields_of_any_lines_are_found_or_suspicious(data: st.DataObject, text: RunText) -> None:
    """Whatever the bytes, the answer is right or none."""
    block = with_end(data.draw(damaged(text.content)))
    try:
        found = columns_of(block)
    except SuspicionError:
        return
    assert all(len(line.split()) == 6 for line in block.split(b"\n")[:-1])
    assert found == obvious_columns(block)


@given(st.lists(st.sampled_from([b"a", b"bc", b" ", b"  ", b"\t", b"\r", b"\n", b"\r\n"]), max_size=40))
def test_blanks_anywhere_are_right_or_suspicious(pieces: list[bytes]) -> None:
    """Leading, doubled and trailing blanks, and line ends among them, mislead nothing."""
    block = with_end(b"".join(pieces))
    is_in_order = all(len(line.split()) == 6 for line in block.split(b"\n")[:-1])
    if any(
        len(cell.split()) > 1
        for line in block.split(b"\n")
        if line.count(b"\t") == 5
        for cell in line.split(b"\t")
    ):
        with pytest.raises(SuspicionError):
            find_fields(block)
    elif is_in_order:
        assert columns_of(block) == obvious_columns(block)
    else:
        with pytest.raises(SuspicionError, match="six fields"):
            find_fields(block)


@pytest.mark.parametrize(
    "block",
    [
        b"1 Q0 a 1 1 t\n" * 3,
        b"1\tQ0\ta\t1\t1\tt\n" * 3,
        b"1 Q0 a 1 1 t\r\n" * 3,
        b"1 Q0\ta 1 1 t\n" * 3,
        b"1 Q0 a 1 1 t \n" * 3,
        b"1 Q0 a 1 1 t\n1 Q0 a 1 1 t\r\n",
        b"1 Q0 a 1 1 t\r\n1 Q0 a 1 1 t\n",
        b"1 Q0 a 1 1 t\r\n 1 Q0 a 1 1 t\r\n",
        b"1 Q0 a 1 1 t\r\r\n",
        b"\x0b1 Q0 a 1\x0c1 t\n",
    ],
)
def test_layouts_are_read(block: bytes) -> None:
    """Single blanks, tabs and Windows line ends, alone and mixed, are all in order."""
    assert columns_of(block) == obvious_columns(block)


@pytest.mark.parametrize(
    "block",
    [
        b"1 Q0 a 1 1\n1 Q0 b 2 0 t t\n",  # five and seven are twelve, as six and six are
        b"1  Q0 a 1 1\n1 Q0 b 2 0 t t\n",
        b"1  Q0 a 1 1 t 1 Q0 b 2 0 t\n\n",
        b"\n1  Q0 a 1 1 t\n1 Q0 b 2 0 t",
        b"1 Q0 a 1  t\n",  # as many blanks as between six fields
        b" Q0 a 1 1 t\n",
        b"1 Q0 a 1 1 \n",
        b"1 Q0 a 1 1 t\rx\n",  # blanks as of a Windows line end, and a field between
        b"1 Q0 a 1 1 t\r\n1 Q0 b 1 1 t\rx\n",
    ],
)
def test_other_numbers_of_fields_are_suspicious(block: bytes) -> None:
    """Counting all fields, or all blanks, is not enough to pass."""
    with pytest.raises(SuspicionError, match="six fields"):
        find_fields(block)


@pytest.mark.parametrize("code", [*range(9), *range(14, 32), 127])
@pytest.mark.parametrize("line", [b"1 Q0 a%cb 1 1 t\n", b"1  Q0 a%cb 1 1 t\n", b"1 Q0%ca 1 1 t\n"])
def test_controls_are_suspicious_in_any_layout(code: int, line: bytes) -> None:
    """No ASCII control that is no blank gets past, in a field or instead of a blank."""
    with pytest.raises(SuspicionError, match="control"):
        find_fields(b"1 Q0 a 1 1 t\n" + line % code)


def test_field_as_long_as_can_be_is_read_and_a_longer_one_is_not() -> None:
    """Very long fields are left to the reader that goes line by line."""
    docno = b"d" * LONGEST_FIELD
    assert columns_of(b"1 Q0 %b 1 1 t\n" % docno)[1] == [docno]
    with pytest.raises(SuspicionError, match="very long field"):
        find_fields(b"1 Q0 %bd 1 1 t\n" % docno)


few_keys = st.lists(st.integers(0, 30) | st.integers(0, 30).map(lambda key: key << 58), max_size=12)


@given(st.lists(few_keys, min_size=1, max_size=4))
def test_parts_pass_exactly_when_none_has_a_key_twice(parts: list[list[int]]) -> None:
    """A key may be in several parts, each of them another topic, but not twice in one."""
    parts = [part for part in parts if part] or [[1]]
    keys = np.array([key for part in parts for key in part], np.uint64)
    firsts = np.cumsum([0, *map(len, parts)])[:-1].tolist()
    if all(len(set(part)) == len(part) for part in parts):
        check_parts(keys, firsts)
    else:
        with pytest.raises(SuspicionError, match="twice"):
            check_parts(keys, firsts)


@pytest.mark.parametrize("n_lines", [2, 100, 20_000])
def test_one_document_twice_is_found_wherever_it_stands(n_lines: int) -> None:
    """Any two lines of a large part may be those of the same document."""
    rng = np.random.default_rng(n_lines)
    keys = FieldColumn.of([b"d%d" % number for number in range(n_lines)]).keys()
    check_parts(keys, [0])
    for _ in range(50):
        one, other = rng.choice(n_lines, 2, replace=False)
        changed = keys.copy()
        changed[one] = changed[other]
        with pytest.raises(SuspicionError, match="twice"):
            check_parts(changed, [0])
        if one != other and min(one, other) < (middle := max(one, other)):
            check_parts(changed, [0, middle])


plain_texts = st.tuples(
    st.sampled_from(["", "", "-", "+", "--"]),
    st.text("0123456789", max_size=17),
    st.sampled_from(["", ".", ".."]),
    st.text("0123456789", max_size=17),
).map("".join)
exponent_texts = st.tuples(
    plain_texts, st.sampled_from("eE"), st.sampled_from(["", "-", "+"]), st.integers(0, 25).map(str)
).map("".join)
odd_texts = st.text("0123456789.-+e_", min_size=1, max_size=6)
texts = score_texts | plain_texts.filter(bool) | exponent_texts | odd_texts


@given(st.lists(texts, min_size=1, max_size=5), st.sampled_from([1, 60]))
@example(["9007199254740993", "1"], 1)
@example(["9102.754080496083"], 1)  # 16 digits: dividing the rounded integer would end in 4
@example(["1.2.3", "4"], 1)
@example([".", "5"], 1)
@example(["-0", "1"], 1)
@example(["-0e5", "-0.0e-3"], 60)
@example(["1e5.", "2e1"], 60)
@example(["1e+", "e5"], 60)
@example(["0.1", "-0.30000000000000004"], 1)
@example(["123456789012345.6", "0.1234567890123456"], 1)
@example(["1" * 24, "-" + "1" * 24, "0." + "1" * 23], 1)
@example(["0" * 300 + "1.5", "2"], 1)
def test_scores_any_text_equal_float_bit_for_bit(some: list[str], times: int) -> None:
    """A column gives the very bits that `float` gives, or ValueError when one field has none."""
    fields = [text.encode() for text in some * times if len(text) <= 256]
    try:
        expected = [float(field) for field in fields]
    except ValueError:
        expected = None
    if expected is None or "_" in "".join(some) or not np.isfinite(expected).all():
        with pytest.raises(ValueError, match="could not convert"):
            parse_scores(FieldColumn.of(fields))
    elif fields:
        assert parse_scores(FieldColumn.of(fields)).tobytes() == struct.pack(f"{len(fields)}d", *expected)


@given(
    st.lists(st.tuples(st.floats(1e-5, 1e5), st.integers(0, 3), st.integers(0, 20)), min_size=1, max_size=9)
)
def test_scores_in_the_middle_between_two_floats(some: list[tuple[float, int, int]]) -> None:
    """Numbers at and near the middle between floats, cut after any digit, are rounded as `float` does."""
    exact = [(Fraction(one) + Fraction(np.nextafter(one, np.inf))) / 2 for one, _, _ in some]
    fields = [
        f"{int(middle * 10**n_digits) + beside}e-{n_digits}"
        if n_digits > 17
        else f"{Decimal(int(middle * 10**n_digits) + beside).scaleb(-n_digits):f}"
        for middle, (_, beside, n_digits) in zip(exact, some, strict=True)
    ]
    scores = parse_scores(FieldColumn.of([field.encode() for field in fields]))
    assert scores.tolist() == [*map(float, fields)]


@pytest.mark.parametrize("text", ["nan", "-inf", "infinity", "1e999", "1_000", "abc", "0x1p3", "1e"])
@pytest.mark.parametrize("others", [[], ["1.5"], ["1e5"], ["1e5"] * 99])
def test_scores_not_finite_numbers_raise(text: str, others: list[str]) -> None:
    """What is no finite number is refused, alone and in company."""
    with pytest.raises(ValueError, match="could not convert"):
        parse_scores(FieldColumn.of([field.encode() for field in [*others, text]]))


rank_texts = (
    st.integers(-9, 99).map(str)
    | st.integers(-(2**64), 2**64).map(str)
    | st.sampled_from(["007", "+5", "1.5", "5.", "1_0", "x", "-", "9" * 15, "9" * 16, "9" * 40])
)


@given(st.lists(rank_texts, min_size=1, max_size=6), st.sampled_from([1, 60]))
def test_ranks_equal_the_slow_way(some: list[str], times: int) -> None:
    """Ranks are the integers of the slow way, or none where it finds none."""
    fields = [text.encode() for text in some * times]
    expected, found = whole_ranks(fields), parse_ranks(FieldColumn.of(fields))
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())


# Lengths on both sides of every word's end, and of the most words that are kept as words.
lengths = st.sampled_from([1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200])
docnos = st.builds(
    lambda stem, length, end: (stem * length)[:length] + end,
    st.sampled_from([b"a", b"ab", b"FR94", "é".encode(), b"\xff"]),
    lengths,
    st.sampled_from([b"", b"1", b"2", b"01"]),
)
columns = st.lists(st.lists(docnos, min_size=1, max_size=30), max_size=12)


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
