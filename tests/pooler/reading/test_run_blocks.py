"""`pooler.reading.blocks`: the fast reader gives the right answer or none."""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.blocks import RunTop, SuspicionError, read_blocks, top_of
from pooler.reading.strict import read_run
from store.errors import FormatError
from store.fields import id_fault
from store.ranking import ORDERS, Order
from tests.benchmarks.generate import generate
from tests.strategies import RunText, damaged, run_texts

pytestmark = pytest.mark.slow

blocks = st.sampled_from([1, 7, 40, 1 << 16])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("blocks") / "x.run"


def facts(top: RunTop) -> tuple[object, ...]:
    """Everything a `RunTop` says, in values that compare."""
    topics = [
        (topic, one.docnos, one.scores.tolist(), one.n_documents, one.n_tied_in, one.n_tied_out)
        for topic, one in top.topics.items()
    ]
    kept = (top.tag, top.file, top.sha256, top.depth, top.order, top.n_lines)
    return (*kept, top.group, top.contributes, topics)


@given(text=run_texts(tidy=True), depth=st.integers(1, 6), order=st.sampled_from(ORDERS), block_bytes=blocks)
def test_read_blocks_tidy_file_equals_whole_reading(
    text: RunText, depth: int, order: Order, block_bytes: int, file: Path
) -> None:
    """A file plainly in order is read fast, whatever the block size, and equals the slow way."""
    file.write_bytes(text.content)
    top = read_blocks(str(file), depth, order=order, block_bytes=block_bytes)
    assert facts(top) == facts(top_of(read_run(str(file)), depth, order=order))
    assert top.sha256 == hashlib.sha256(text.content).hexdigest()


@given(
    data=st.data(),
    text=run_texts() | run_texts(tidy=True) | run_texts(lenient=True, whole_ranks=False),
    order=st.sampled_from(ORDERS),
    block_bytes=blocks,
    lenient=st.booleans(),
)
def test_read_blocks_damaged_file_is_right_or_suspicious(
    data: st.DataObject, text: RunText, order: Order, block_bytes: int, *, lenient: bool, file: Path
) -> None:
    """Whatever the bytes, an answer is the one of the slow way, which finds no fault then."""
    file.write_bytes(data.draw(damaged(text.content)))
    try:
        top = read_blocks(str(file), 2, order=order, block_bytes=block_bytes)
    except SuspicionError:
        return
    assert facts(top) == facts(top_of(read_run(str(file), lenient=lenient), 2, order=order))


def test_read_blocks_every_forbidden_character_is_suspicious(file: Path) -> None:
    """No character that is a fault in an id gets past the fast reader."""
    forbidden = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if not 0xD800 <= code < 0xE000 and id_fault(f"a{chr(code)}b") is not None
    ]
    assert len(forbidden) > 90
    assert all(unicodedata.category(character) in {"Cc", "Cf", "Zs", "Zl", "Zp"} for character in forbidden)
    for character in forbidden:
        file.write_bytes(f"1 Q0 a{character}b 1 0.5 t\n".encode())
        with pytest.raises(SuspicionError):
            read_blocks(str(file), 1, order="trec")
        with pytest.raises(FormatError):
            read_run(str(file))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no line"),
        (b"1 Q0 a 1 1 t\n\n1 Q0 b 2 0 t\n", "six fields"),
        # Five fields and seven are twelve, as six and six are; so are seven and five.
        (b"1 Q0 a 1 1\n1 Q0 b 2 0 t t\n", "six fields"),
        (b"1 Q0 a 1 1 t 1\nQ0 b 2 0 t\n", "six fields"),
        (b"1 Q0 a 1 1 t\n1 Q0 b 2 0 u\n", "second tag"),
        (b"1 Q0 a 1 x t\n", "score"),
        (b"1 Q0 a 1 1 t\n1 Q0 a 2 0 t\n", "twice"),
        (b"1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 2 0 t\n", "two parts"),
        (b"1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 2 0 t\n2 Q0 b 2 0 t\n", "two parts"),
        (b"1 Q0 \xff 1 1 t\n", "UTF-8"),
        (b"1 Q0 \x01 1 1 t\n", "control"),
        (b"\x1f\x8b\x08rubbish", "gzip"),
    ],
)
def test_read_blocks_suspicions_are_raised(content: bytes, reason: str, file: Path) -> None:
    """Each thing that may be a fault makes the fast reader give up."""
    file.write_bytes(content)
    with pytest.raises(SuspicionError, match=reason):
        read_blocks(str(file), 1, order="trec")


def test_read_blocks_rank_that_is_no_integer_matters_to_order_rank_alone(file: Path) -> None:
    """Stated ranks are looked at only where they order the run."""
    file.write_bytes(b"1 Q0 a first 1 t\n")
    assert read_blocks(str(file), 1, order="trec").topics["1"].docnos == ["a"]
    with pytest.raises(SuspicionError, match="rank"):
        read_blocks(str(file), 1, order="rank")


@pytest.mark.parametrize("line", [b"#2 Q0 a 1 1 t", b" #2 Q0 a 1 1 t"])
def test_read_blocks_topic_like_a_comment_is_given_up(file: Path, line: bytes) -> None:
    """No topic begins with `#`: to trec_eval such a line is a comment."""
    file.write_bytes(b"1 Q0 a 1 1 t\n" + line + b"\n")
    with pytest.raises(SuspicionError, match="comment"):
        read_blocks(str(file), 1, order="trec")


def test_read_blocks_line_without_end_is_given_up(file: Path) -> None:
    """A line of more than a megabyte is not gathered block by block."""
    file.write_bytes(b"x" * ((1 << 20) + (1 << 18)))
    with pytest.raises(SuspicionError, match="long line"):
        read_blocks(str(file), 1, order="trec")


@pytest.mark.parametrize("order", ORDERS)
def test_read_blocks_large_files_equal_whole_reading(order: Order, tmp_path: Path) -> None:
    """Files of several blocks, sorted or shuffled, with very many ties, are cut exactly."""
    for path in generate(tmp_path, runs=6, topics=2, documents=3000, seed=7):
        run = read_run(str(path))
        for depth in (1, 100):
            top = read_blocks(str(path), depth, order=order)
            assert facts(top) == facts(top_of(run, depth, order=order))


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("depth", [3, 700])
def test_read_blocks_topic_of_many_blocks_is_cut_exactly(order: Order, depth: int, tmp_path: Path) -> None:
    """A topic of a hundred blocks, many scores tied, some of 17 digits, is pruned on the way."""
    rng = np.random.default_rng(5)
    shows = ("{:.0f}".format, "{:.17g}".format, "{:.3e}".format)
    path = tmp_path / "x.run"
    for show in shows:
        scores = rng.choice(rng.normal(size=900), 20_000)
        path.write_text(
            "".join(
                f"1 Q0 d{number} {rank} {show(score)} t\n"
                for number, (rank, score) in enumerate(
                    zip(rng.integers(1, 5000, 20_000), scores, strict=True)
                )
            )
        )
        top = read_blocks(str(path), depth, order=order, block_bytes=1 << 12)
        assert facts(top) == facts(top_of(read_run(str(path)), depth, order=order))


def test_read_blocks_scores_that_float64_rounds_to_one_tie(file: Path) -> None:
    """Numbers of more digits than float64 has are compared as float64, at the cut too."""
    docnos = [f"d{number:04d}" for number in range(1000)]
    lines = [f"1 Q0 {docno} 1 0.1000000000000000{number:04d} t\n" for number, docno in enumerate(docnos)]
    file.write_text("".join(lines))
    for depth in (1, 10, 990):
        top = read_blocks(str(file), depth, order="trec")
        assert facts(top) == facts(top_of(read_run(str(file)), depth))
    assert top.topics["1"].n_tied_out > 0


@pytest.mark.parametrize("show", ["{:.17g}", "{:.20f}"])
@pytest.mark.parametrize("order", ["trec", "trec9"])
def test_read_blocks_scores_a_last_bit_apart_are_told_apart(show: str, order: Order, file: Path) -> None:
    """No document is lost where scores differ by less than approximate reading is off."""
    rng = np.random.default_rng(9)
    for start in (0.1, 11.3, 1234.567, 7e5):
        scores = start + np.spacing(start) * rng.integers(0, 40, 2000)
        lines = [f"1 Q0 d{n} 1 {show.format(score)} t\n" for n, score in enumerate(scores.tolist())]
        file.write_text("".join(lines))
        run = read_run(str(file))
        for depth in (1, 20, 60, 300):
            top = read_blocks(str(file), depth, order=order)
            assert facts(top) == facts(top_of(run, depth, order=order))


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (b"1 Q0 b 2 0 u\n", "second tag"),
        (b"1 Q0 a 2 0 t\n", "twice"),
        (b"2 Q0 b 2 0 t\n1 Q0 c 3 0 t\n", "two parts"),
    ],
)
def test_read_blocks_suspicions_across_blocks_are_raised(second: bytes, reason: str, file: Path) -> None:
    """What only two blocks together show is seen."""
    file.write_bytes(b"1 Q0 a 1 1 t\n" + second)
    with pytest.raises(SuspicionError, match=reason):
        read_blocks(str(file), 1, order="trec", block_bytes=13)


def test_read_blocks_without_scores_is_the_same_otherwise(file: Path) -> None:
    """Scores order the documents also when they are not kept."""
    file.write_text("1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n")
    top = read_blocks(str(file), 2, order="trec", with_scores=False).topics["1"]
    assert (top.docnos, top.packed_scores) == (["b", "a"], None)


def test_read_blocks_least_rank_of_64_bits_comes_first(file: Path) -> None:
    """The least stated rank there can be is the first, not wrapped round to the last."""
    file.write_text("1 Q0 a 5 1 t\n1 Q0 b -9223372036854775808 1 t\n1 Q0 c 4 1 t\n")
    assert read_blocks(str(file), 1, order="rank").topics["1"].docnos == ["b"]


def test_read_blocks_scores_equal_in_32_bits_tie_for_trec9(file: Path) -> None:
    """A document is not dropped for a difference that trec_eval 9 does not see."""
    file.write_text("1 Q0 a 1 16.00000002 t\n1 Q0 b 2 16.00000001 t\n1 Q0 c 3 16 t\n")
    assert read_blocks(str(file), 1, order="trec9").topics["1"].docnos == ["c"]
    assert read_blocks(str(file), 1, order="trec").topics["1"].docnos == ["a"]


def test_read_blocks_everything_tied_keeps_the_last_docnos(file: Path) -> None:
    """A long tie is cut by docno: the greatest bytewise come first."""
    docnos = [f"d{number:05d}" for number in range(20_000)]
    file.write_text("".join(f"1 Q0 {docno} 1 0 t\n" for docno in docnos))
    top = read_blocks(str(file), 3, order="trec").topics["1"]
    assert top.docnos == ["d19999", "d19998", "d19997"]
    assert (top.n_documents, top.n_tied_in, top.n_tied_out) == (20_000, 3, 19_997)
