"""`pooler.reading.blocks`: the first documents of run files, by the fast way or the slow one."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.blocks import RunTop, read_top, read_tops, top_of
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from store.errors import ArgumentError, FormatError, PoolerError
from store.ranking import ORDERS, Order
from tests.benchmarks.generate import generate
from tests.pooler.started import started_processes
from tests.strategies import RunText, damaged, run_texts

pytestmark = pytest.mark.slow

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"


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


@given(text=run_texts() | run_texts(tidy=True), depth=st.integers(1, 6), order=st.sampled_from(ORDERS))
def test_read_top_valid_file_equals_whole_reading(
    text: RunText, depth: int, order: Order, file: Path
) -> None:
    """The first documents are those of the whole run, for every order and layout of lines."""
    file.write_bytes(text.content)
    assert facts(read_top(str(file), depth, order=order)) == facts(
        top_of(read_run(str(file)), depth, order=order)
    )


@given(text=run_texts(lenient=True), depth=st.integers(1, 6), order=st.sampled_from(ORDERS))
def test_read_top_lenient_equals_whole_reading(text: RunText, depth: int, order: Order, file: Path) -> None:
    """Split topics, comments, extra fields and a second tag are read as `read_run` reads them."""
    file.write_bytes(text.content)
    assert facts(read_top(str(file), depth, order=order, lenient=True)) == facts(
        top_of(read_run(str(file), lenient=True), depth, order=order)
    )


@given(data=st.data(), text=run_texts(whole_ranks=False), order=st.sampled_from(ORDERS))
def test_read_top_damaged_file_has_one_verdict(
    data: st.DataObject, text: RunText, order: Order, file: Path
) -> None:
    """Fast or slow, the same files are refused, with the same words."""
    file.write_bytes(data.draw(damaged(text.content)))
    lenient = data.draw(st.booleans())
    slow, fast = (
        outcome(lambda: top_of(read_run(str(file), lenient=lenient), 2, order=order)),
        outcome(lambda: read_top(str(file), 2, order=order, lenient=lenient)),
    )
    assert fast == slow


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


def test_read_top_order_rank_needs_integer_ranks(file: Path) -> None:
    """Order rank refuses a run whose stated ranks are no integers, and says where."""
    file.write_text("1 Q0 a first 1 t\n")
    with pytest.raises(ArgumentError, match="needs stated ranks that are integers") as caught:
        read_top(str(file), 1, order="rank")
    assert caught.value.hint == "run `x.run` has no such ranks in topic `1`"


@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd"])
def test_read_top_compressed_equals_plain(kind: str, tmp_path: Path) -> None:
    """A compressed file gives what its content gives, its hash too."""
    (path,) = generate(tmp_path, runs=1, topics=3, documents=400, seed=3)
    packed = tmp_path / "packed"
    packed.write_bytes(compressed(kind, path.read_bytes()))
    assert facts(read_top(str(packed), 20))[2:] == facts(read_top(str(path), 20))[2:]


@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd"])
def test_read_top_truncated_data_is_refused(kind: str, tmp_path: Path) -> None:
    """A compressed file that ends early is a fault, not a shorter run."""
    (path,) = generate(tmp_path, runs=1, topics=3, documents=400, seed=3)
    packed = compressed(kind, path.read_bytes())
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match=f"{kind} data ends too early") as caught:
        read_top(str(path), 20)
    assert [fault.code for fault in caught.value.faults][-1] == kind


def test_read_top_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input, which cannot be read twice, is read once, faults and all."""
    good, bad = b"1 Q0 a 1 2 t\n", b"1 Q0 a 1 x t\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(good)))
    assert read_tops(["-"], 1)[0].topics["1"].docnos == ["a"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bad)))
    with pytest.raises(FormatError, match=r"^-:1: expected a finite number"):
        read_top("-", 1)


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


@pytest.mark.parametrize(("n_others", "more"), [(10, ""), (11, " and 1 more")])
def test_read_tops_names_ten_other_bad_files(n_others: int, more: str, tmp_path: Path) -> None:
    """Beyond the first bad file ten are named, and the rest are counted."""
    files = [str(tmp_path / f"{number:02}.run") for number in range(1 + n_others)]
    with pytest.raises(PoolerError, match=r"00\.run: no such file") as caught:
        read_tops(files, 10, workers=1)
    named = ", ".join(f"`{file}`" for file in files[1:11])
    assert str(caught.value.hint).endswith(f"cannot be read either: {named}{more}")


def test_read_tops_stated_tag_must_be_the_files(tmp_path: Path) -> None:
    """A tag that the list of runs states otherwise is an error."""
    (path,) = generate(tmp_path, runs=1, topics=1, documents=5, seed=2)
    assert read_tops([RunEntry(str(path), tag="a_run0")], 1)[0].tag == "a_run0"
    with pytest.raises(FormatError, match="expected run tag `other`, as the list of runs says"):
        read_tops([RunEntry(str(path), tag="other")], 1)


def test_read_tops_arguments_are_checked() -> None:
    """An unknown order is the caller's error."""
    with pytest.raises(ArgumentError, match="`order` must be one of"):
        read_tops([], 1, order="best")  # type: ignore[arg-type] - the point of the test
    assert read_tops([], 1) == []


@pytest.mark.parametrize("order", ORDERS)
def test_read_top_submitted_runs_equal_whole_reading(order: Order) -> None:
    """Runs as submitted give the same first documents by the fast way and the slow one."""
    folder = DATA / "trec-covid-r1" / "runs-top120"
    if not folder.exists():
        pytest.skip("the TREC-COVID runs are absent")
    for path in sorted(folder.glob("*.gz"))[::20]:
        assert facts(read_top(str(path), 7, order=order)) == facts(
            top_of(read_run(str(path)), 7, order=order)
        )


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
