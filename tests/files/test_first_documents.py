"""The first documents of run files, by the fast way, the slow one, or whichever is right."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import pickle
import sys
import threading
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.fields import SuspicionError
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from pooler.reading.tops import RunTop, TopRanking, read_top, read_tops, take_top, top_of
from store.errors import ArgumentError, FormatError, PoolerError
from store.fields import id_fault
from store.ranking import ORDERS, Order
from store.records import Ranking
from tests.benchmarks.generate import generate
from tests.helpers.fast_reader import read_blocks
from tests.helpers.started import started_processes
from tests.helpers.strategies import RunText, damaged, ids, run_texts

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


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
@given(data=st.data(), text=any_texts, depth=st.integers(1, 6), order=st.sampled_from(ORDERS))
def test_read_top_has_one_answer(
    data: st.DataObject, text: RunText, depth: int, order: Order, file: Path
) -> None:
    """Fast or slow, sound or damaged: the same documents, or the same refusal with the same words."""
    is_damaged, lenient = data.draw(st.booleans()), data.draw(st.booleans())
    file.write_bytes(data.draw(damaged(text.content)) if is_damaged else text.content)
    slow, fast = (
        outcome(lambda: top_of(read_run(str(file), lenient=lenient), depth, order=order)),
        outcome(lambda: read_top(str(file), depth, order=order, lenient=lenient)),
    )
    assert fast == slow


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
    folder = DATA / "trec-covid-r1" / "runs-top120"
    if not folder.exists():
        pytest.skip("the TREC-COVID runs are absent")
    for path in sorted(folder.glob("*.gz")):
        assert facts(read_top(str(path), 10, order=order)) == facts(
            top_of(read_run(str(path)), 10, order=order)
        )


blocks = st.sampled_from([1, 7, 40, 1 << 16])


@pytest.mark.slow
@given(text=run_texts(tidy=True), depth=st.integers(1, 6), order=st.sampled_from(ORDERS), block_bytes=blocks)
def test_read_blocks_tidy_file_equals_whole_reading(
    text: RunText, depth: int, order: Order, block_bytes: int, file: Path
) -> None:
    """A file plainly in order is read fast, whatever the block size, and equals the slow way."""
    file.write_bytes(text.content)
    top = read_blocks(str(file), depth, order=order, block_bytes=block_bytes)
    assert facts(top) == facts(top_of(read_run(str(file)), depth, order=order))
    assert top.sha256 == hashlib.sha256(text.content).hexdigest()


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def slow_top(rows: list[tuple[str, float, int]], depth: int, order: Order) -> tuple[object, ...]:
    """Sort all documents by the words of the rule, and count ties across the cut."""
    # UTF-8 bytes as numbers, turned round where docnos descend; the end sorts after all of them.
    descending = {row[0]: [-byte for byte in row[0].encode()] + [1] for row in rows}
    keys = {
        "trec": lambda row: (-row[1], descending[row[0]]),
        "trec9": lambda row: (-float(np.float32(row[1])), descending[row[0]]),
        "docno-asc": lambda row: (-row[1], row[0].encode()),
        "rank": lambda row: (row[2],),
        "file": lambda _row: (0,),
    }
    ordered = sorted(rows, key=keys[order])  # stable, so file order is kept
    taken, left = ordered[:depth], ordered[depth:]
    n_in = n_out = 0
    if left and order != "file":
        last = keys[order](taken[-1])[0]
        n_out = sum(keys[order](row)[0] == last for row in left)
        n_in = sum(keys[order](row)[0] == last for row in taken) if n_out else 0
    return [row[0] for row in taken], [row[1] for row in taken], n_in, n_out


@given(rows=rankings, depth=st.integers(1, 13), order=st.sampled_from(ORDERS))
def test_take_top_equals_sorting_by_the_rule(
    rows: list[tuple[str, float, int]], depth: int, order: Order
) -> None:
    """The first documents, their scores and the ties across the cut follow the rule's words."""
    docnos, scores, ranks = zip(*rows, strict=True)
    ranking = Ranking("1", [*docnos], np.array(scores, np.float64), np.array(ranks, np.int64))
    _, top = take_top(ranking, depth=depth, order=order, file="")
    found = (top.docnos, top.scores.tolist(), top.n_tied_in, top.n_tied_out)
    assert found == slow_top(rows, depth, order)
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


def test_top_ranking_takes_little_memory_and_few_bytes() -> None:
    """A hundred documents of 16 characters take their bytes, and little more, in a pickle too."""
    docnos = [f"FR940104-0-{number:05d}" for number in range(100)]
    top = TopRanking.of(docnos, np.zeros(100), 1000)
    assert len(pickle.dumps(top, pickle.HIGHEST_PROTOCOL)) < 100 * (16 + 1 + 8) + 150
    assert not hasattr(top, "__dict__")


def test_top_ranking_without_scores_says_so() -> None:
    """Scores that were not kept are no numbers, but an error."""
    ranking = Ranking("1", ["a", "b"], np.ones(2), None)
    _, top = take_top(ranking, depth=1, order="trec", file="", with_scores=False)
    assert (top.docnos, len(top), top.n_tied_in) == (["b"], 1, 1)
    with pytest.raises(ArgumentError, match="`with_scores` must be true to have scores"):
        _ = top.scores
