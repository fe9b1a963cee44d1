"""The fast reader of run files: columns of bytes, and first documents, as the slow one has them."""

from __future__ import annotations

import gzip
import lzma
import os
import pickle
import struct
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pooler.reading.blocks import check_parts
from pooler.reading.docnos import DocnoNumbers
from pooler.reading.fields import LONGEST_FIELD, Q0, FieldColumn, SuspicionError, find_fields
from pooler.reading.numbers import parse_ranks, parse_scores
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run, whole_ranks
from pooler.reading.tops import RunTop, TopRanking, read_top, read_tops, take_top, top_of
from store.errors import ArgumentError, FormatError, PoolerError
from store.ranking import ORDERS, Order
from store.records import Ranking
from tests.benchmarks.generate import generate
from tests.helpers.obvious_comparison import read_blocks
from tests.helpers.obvious_reader import First, Row, first_of
from tests.helpers.run import started_processes
from tests.helpers.strategies import RunText, damaged, ids, run_texts, score_texts
from tests.helpers.trec_covid import data_path

fields_of_lines = st.lists(
    ids.map(str.encode) | st.binary(min_size=1, max_size=20).map(lambda raw: raw.replace(b"\0", b"a")),
    min_size=1,
    max_size=12,
)


@given(fields_of_lines, fields_of_lines, st.data())
def test_a_column_is_a_list_of_fields(fields: list[bytes], others: list[bytes], data: st.DataObject) -> None:
    """Any rows of it, and what is compared: words and keys, which are the same whatever stands beside."""
    column, numbers = FieldColumn.of(fields), st.integers(0, len(fields))
    rows = data.draw(st.lists(numbers.filter(lambda row: row < len(fields)), max_size=15))
    assert column[np.array(rows, np.int64)].packed() == b"\n".join(fields[row] for row in rows)
    start, end = data.draw(numbers), data.draw(numbers)
    assert [*column] == fields
    assert [*column[start:end]] == fields[start:end]
    words = column.words()
    for row, field in enumerate(fields):
        for other, another in enumerate(fields):
            assert all(word[row] == word[other] for word in words) == (field == another)
    assert column.changes().tolist() == [
        row for row in range(1, len(fields)) if fields[row] != fields[row - 1]
    ]
    keys = column.keys().tolist()
    assert len(set(keys)) == len(set(fields))  # few collide, none of these
    assert FieldColumn.of([*others, *fields]).keys().tolist()[len(others) :] == keys


def test_keys_of_docnos_that_differ_in_few_places_are_different() -> None:
    """Ids that count in the last characters of two words, as many do, do not collide."""
    numbers = range(300)
    docnos = [b"clueweb%03d-en000%04d" % (one, two) for one in numbers for two in numbers]
    assert len(np.unique(FieldColumn.of(docnos).keys())) == 300 * 300
    tops = [bytes([one]) * 7 + bytes([two]) for one in range(33, 126) for two in range(33, 126)]
    docnos = [one + two for one in tops[::7] for two in tops[::19]]
    assert len(np.unique(FieldColumn.of(docnos).keys())) == len(docnos)


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


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("top") / "x.run"


def compressed(kind: str, content: bytes) -> bytes:
    """Compress a file's content."""
    if kind == "gzip":
        return gzip.compress(content)
    if kind == "xz":
        return lzma.compress(content)
    zstandard = pytest.importorskip("zstandard", reason="the package zstandard is absent")
    packed: bytes = zstandard.ZstdCompressor().compress(content)
    return packed


def documents(top: RunTop) -> dict[str, tuple[object, ...]]:
    """Give what a `RunTop` says of each topic, in values that compare."""
    return {
        topic: (one.docnos, one.scores.tolist(), one.n_documents, one.n_tied_in, one.n_tied_out)
        for topic, one in top.topics.items()
    }


def facts(top: RunTop) -> tuple[object, ...]:
    """Give everything a `RunTop` says, in values that compare."""
    kept = (top.tag, top.file, top.sha256, top.depth, top.order, top.n_lines)
    return (*kept, top.group, top.contributes, list(documents(top).items()))


def outcome(read: Callable[[], RunTop]) -> object:
    """Give what reading gives: the documents, or the type and words of the error."""
    try:
        return facts(read())
    except PoolerError as error:
        return type(error), error.message, error.hint


any_texts = run_texts(whole_ranks=False) | run_texts(tidy=True) | run_texts(lenient=True)


@pytest.mark.slow
@given(data=st.data(), text=run_texts(tidy=True), order=st.sampled_from(["trec", "docno-asc"]))
def test_read_top_order_of_lines_changes_nothing(
    data: st.DataObject, text: RunText, order: Order, file: Path
) -> None:
    """For an order by score, the lines of a topic may stand in any order, and topics too."""
    file.write_bytes(text.content)
    first = documents(read_top(str(file), 3, order=order))
    shuffled = []
    for topic in data.draw(st.permutations(sorted({row[0] for row in text.rows}))):
        shuffled += data.draw(st.permutations([row for row in text.rows if row[0] == topic]))
    lines = [f"{topic} Q0 {docno} {rank} {score} {text.tag}\n" for topic, docno, rank, score in shuffled]
    file.write_text("".join(lines), "utf-8")
    assert documents(read_top(str(file), 3, order=order)) == first


@pytest.mark.slow
def test_read_top_order_rank_needs_integer_ranks(file: Path) -> None:
    """Order rank refuses a run whose stated ranks are no integers, and says where."""
    file.write_text("1 Q0 a first 1 t\n")
    with pytest.raises(ArgumentError, match="needs stated ranks that are integers") as caught:
        read_top(str(file), 1, order="rank")
    assert caught.value.hint == "run `x.run` has no such ranks in topic `1`"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd"])
def test_read_top_compressed_equals_plain(kind: str, tmp_path: Path) -> None:
    """A compressed file gives what its content gives, its hash too."""
    (path,) = generate(tmp_path, runs=1, topics=3, documents=400, seed=3)
    packed = tmp_path / "packed"
    packed.write_bytes(compressed(kind, path.read_bytes()))
    assert facts(read_top(str(packed), 20))[2:] == facts(read_top(str(path), 20))[2:]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd"])
def test_read_top_truncated_data_is_refused(kind: str, tmp_path: Path) -> None:
    """A compressed file that ends early is a fault, not a shorter run."""
    (path,) = generate(tmp_path, runs=1, topics=3, documents=400, seed=3)
    packed = compressed(kind, path.read_bytes())
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match=f"{kind} data ends too early") as caught:
        read_top(str(path), 20)
    assert [fault.code for fault in caught.value.faults][-1] == kind


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("content", [b"1 Q0 a 1 2 t\n\n", b"1 Q0 a 1 x t\n"])
def test_read_top_named_pipe_is_read_once(content: bytes, tmp_path: Path) -> None:
    """A pipe, as the shell's `<(...)` makes it, is read although it cannot be read again."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    try:
        if b"x" in content:
            with pytest.raises(FormatError, match="pipe:1: expected a finite number"):
                read_top(str(pipe), 1)
        else:
            assert read_top(str(pipe), 1).topics["1"].docnos == ["a"]
    finally:
        writer.join()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_read_tops_keeps_the_order_of_runs(workers: int, tmp_path: Path) -> None:
    """Runs come back in the order given, with group and contribution, from any processes."""
    files = generate(tmp_path, runs=5, topics=2, documents=50, seed=2)
    files[3].write_bytes(files[3].read_bytes()[:2000].rpartition(b"\n")[0])
    entries = [
        RunEntry(str(path), group=f"g{number}", contributes=number % 2 == 0)
        for number, path in enumerate(files)
    ]
    told: list[int] = []
    tops = read_tops(entries, 10, workers=workers, progress=told.append)
    assert [top.file for top in tops] == [path.name for path in files]
    assert [top.group for top in tops] == ["g0", "g1", "g2", "g3", "g4"]
    assert [top.contributes for top in tops] == [True, False, True, False, True]
    assert sum(told) == 5
    for top, path in zip(tops, files, strict=True):
        assert documents(top) == documents(top_of(read_run(str(path)), 10))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_read_tops_has_as_many_processes_as_asked_for(workers: int, tmp_path: Path) -> None:
    """All processes but this one are started, and no more; the runs are those of one process."""
    files = [str(path) for path in generate(tmp_path, runs=6, topics=2, documents=20, seed=2)]
    with started_processes() as started:
        limit = time.monotonic() + 10

        def wait_for_all(n_done: int) -> None:
            """Hold this process until the others are there; they would have nothing to do."""
            while len(started) < workers - 1 and time.monotonic() < limit:
                time.sleep(0.01)

        tops = read_tops(files, 5, workers=workers, progress=wait_for_all)
    assert len(started) == workers - 1
    assert [facts(top) for top in tops] == [facts(read_top(path, 5)) for path in files]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_read_tops_without_scores_are_the_same_otherwise(workers: int, tmp_path: Path) -> None:
    """Scores that are not kept have ordered the documents all the same."""
    files = [str(path) for path in generate(tmp_path, runs=3, topics=2, documents=50, seed=2)]
    with Path(files[2]).open("a") as file:
        file.write("\n")  # a blank line: this one is read slowly
    tops = read_tops(files, 10, with_scores=False, workers=workers)
    for top, full in zip(tops, read_tops(files, 10), strict=True):
        for topic, one in top.topics.items():
            assert one.packed_scores is None
            assert one.docnos == full.topics[topic].docnos
            assert one.n_tied_out == full.topics[topic].n_tied_out


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_read_tops_first_bad_file_is_told_and_the_others_named(workers: int, tmp_path: Path) -> None:
    """The faults are those of the first bad file in the order given, from any processes."""
    files = generate(tmp_path, runs=4, topics=1, documents=5, seed=2)
    with files[1].open("a") as bad:
        bad.write("1 Q0 x 1 1.0 b_run1 more\n" * 30)
    files[3].write_text("")
    missing = tmp_path / "gone.run"
    with pytest.raises(FormatError, match=r"r001\.run:6: expected 6 fields, got 7") as caught:
        read_tops([str(path) for path in [*files, missing]], 10, workers=workers)
    error = caught.value
    assert error.path == str(files[1])
    assert (len(error.faults), error.n_faults, error.line) == (25, 30, 6)
    lenient = "`--lenient` reads the first six fields, as trec_eval does"
    assert error.hint == f"{lenient}; cannot be read either: `{files[3]}`, `{missing}`"


@pytest.mark.slow
@pytest.mark.parametrize(("n_others", "more"), [(10, ""), (11, " and 1 more")])
def test_read_tops_names_ten_other_bad_files(n_others: int, more: str, tmp_path: Path) -> None:
    """Beyond the first bad file ten are named, and the rest are counted."""
    files = [str(tmp_path / f"{number:02}.run") for number in range(1 + n_others)]
    with pytest.raises(PoolerError, match=r"00\.run: no such file") as caught:
        read_tops(files, 10, workers=1)
    named = ", ".join(f"`{file}`" for file in files[1:11])
    assert str(caught.value.hint).endswith(f"cannot be read either: {named}{more}")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("order", ORDERS)
def test_read_top_all_submitted_runs_equal_whole_reading(order: Order) -> None:
    """All 143 runs give the same first documents by the fast way and the slow one."""
    for path in sorted(data_path("runs-top120").glob("*.gz")):
        assert facts(read_top(str(path), 10, order=order)) == facts(
            top_of(read_run(str(path)), 10, order=order)
        )


blocks = st.sampled_from([1, 7, 40, 1 << 16])


@pytest.mark.slow
def test_read_blocks_rank_that_is_no_integer_matters_to_order_rank_alone(file: Path) -> None:
    """Stated ranks are looked at only where they order the run."""
    file.write_bytes(b"1 Q0 a first 1 t\n")
    assert read_blocks(str(file), 1, order="trec").topics["1"].docnos == ["a"]
    with pytest.raises(SuspicionError, match="rank"):
        read_blocks(str(file), 1, order="rank")


@pytest.mark.slow
def test_read_blocks_line_without_end_is_given_up(file: Path) -> None:
    """A line of more than a megabyte is not gathered block by block."""
    file.write_bytes(b"x" * ((1 << 20) + (1 << 18)))
    with pytest.raises(SuspicionError, match="long line"):
        read_blocks(str(file), 1, order="trec")


@pytest.mark.slow
def test_read_blocks_least_rank_of_64_bits_comes_first(file: Path) -> None:
    """The least stated rank there can be is the first, not wrapped round to the last."""
    file.write_text("1 Q0 a 5 1 t\n1 Q0 b -9223372036854775808 1 t\n1 Q0 c 4 1 t\n")
    assert read_blocks(str(file), 1, order="rank").topics["1"].docnos == ["b"]


rankings = st.lists(
    st.tuples(ids, st.integers(-2, 2) | st.sampled_from([16.0, 16.00000001]), st.integers(-1, 3)),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[0],
)


@given(rows=rankings, depth=st.integers(1, 13), order=st.sampled_from(ORDERS))
def test_take_top_equals_sorting_by_the_rule(
    rows: list[tuple[str, float, int]], depth: int, order: Order
) -> None:
    """The first documents, their scores and the ties across the cut follow the rule's words."""
    docnos, scores, ranks = zip(*rows, strict=True)
    expected = first_of([Row(*row) for row in rows], depth, order)
    ranking = Ranking("1", [*docnos], np.array(scores, np.float64), np.array(ranks, np.int64))
    _, top = take_top(ranking, depth=depth, order=order, file="")
    assert First(top.docnos, top.scores.tolist(), top.n_tied_in, top.n_tied_out) == expected
    assert top.n_documents == len(rows)
    assert top.scores.dtype == np.float64


def test_take_top_ranks_of_64_bits_are_told_apart() -> None:
    """Stated ranks that float64 rounds to one number do not tie."""
    ranks = np.array([2**62 + 1, 2**62], np.int64)
    _, top = take_top(Ranking("1", ["a", "b"], np.zeros(2), ranks), depth=1, order="rank", file="")
    assert (top.docnos, top.n_tied_in, top.n_tied_out) == (["b"], 0, 0)


@given(rows=st.lists(st.tuples(ids, st.floats(allow_nan=False)), max_size=9), tied=st.integers(0, 9))
def test_top_ranking_gives_back_what_it_packs(rows: list[tuple[str, float]], tied: int) -> None:
    """Docnos, scores to the last bit and counts survive packing, and pickling."""
    docnos = [docno for docno, _ in rows]
    scores = np.array([score for _, score in rows], np.float64)
    made = TopRanking.of(docnos, scores, 20, tied, tied + 1)
    for top in (made, pickle.loads(pickle.dumps(made))):
        assert top.docnos == docnos
        assert top.packed_docnos == "\n".join(docnos).encode()
        assert top.scores.tobytes() == scores.tobytes()
        assert (len(top), top.n_documents) == (len(rows), 20)
        assert (top.n_tied_in, top.n_tied_out) == (tied, tied + 1)
