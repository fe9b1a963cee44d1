"""`pooler.reading.whole`: whole rankings, by the fast way or the slow one."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.blocks import LineFacts, stream_rankings
from pooler.reading.fields import SuspicionError
from pooler.reading.strict import read_run
from pooler.reading.whole import read_whole
from store.errors import PoolerError
from store.records import Run
from tests.benchmarks.generate import generate
from tests.strategies import RunText, damaged, run_texts


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("whole") / "x.run"


def facts(run: Run) -> tuple[object, ...]:
    """Give everything a `Run` says, in values that compare."""
    rankings = [
        (
            one.topic,
            one.docnos,
            one.scores.dtype,
            one.scores.tobytes(),
            None if one.ranks is None else (one.ranks.dtype, one.ranks.tolist()),
        )
        for one in run.rankings
    ]
    return run.tag, run.sha256, run.file, run.group, run.contributes, rankings


def outcome(read: Callable[[], Run]) -> object:
    """Give what reading gives: the run, or the type and words of the error."""
    try:
        return facts(read())
    except PoolerError as error:
        return type(error), error.message, error.hint


any_texts = run_texts(whole_ranks=False) | run_texts(tidy=True) | run_texts(lenient=True)


@given(data=st.data(), text=any_texts, is_damaged=st.booleans())
def test_read_whole_equals_the_slow_reader(
    data: st.DataObject, text: RunText, *, is_damaged: bool, file: Path
) -> None:
    """Topics, scores to the last bit, ranks and hash are those of `read_run`; so is a refusal."""
    file.write_bytes(data.draw(damaged(text.content)) if is_damaged else text.content)
    for lenient in (False, True):
        slow = outcome(lambda lenient=lenient: read_run(str(file), lenient=lenient))
        assert outcome(lambda lenient=lenient: read_whole(str(file), lenient=lenient)) == slow


@given(text=run_texts(tidy=True), block_bytes=st.sampled_from([1, 7, 40, 1 << 16]))
def test_stream_rankings_of_any_block_size_are_those_of_the_run(
    text: RunText, block_bytes: int, file: Path
) -> None:
    """One ranking after another, in file order, is the run; tag and hash are known at the end."""
    file.write_bytes(text.content)
    seen = LineFacts()
    streamed = list(stream_rankings(str(file), seen, block_bytes=block_bytes))
    whole = read_run(str(file))
    assert (seen.tag.decode(), seen.digest.hexdigest()) == (whole.tag, whole.sha256)
    assert seen.n_lines == sum(len(one.docnos) for one in streamed) == len(text.rows)
    for one, ranking in zip(streamed, whole.rankings, strict=True):
        assert (one.topic, one.docnos) == (ranking.topic, ranking.docnos)
        assert one.scores.tobytes() == ranking.scores.tobytes()
        assert one.ranks is not None
        assert ranking.ranks is not None
        assert one.ranks.tolist() == ranking.ranks.tolist()


def test_stream_rankings_fault_far_below_comes_after_rankings(tmp_path: Path) -> None:
    """What was yielded before a suspicion has to be undone by the caller."""
    (path,) = generate(tmp_path, runs=1, topics=30, documents=1000, seed=3)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[-1]]))
    taken = []
    with pytest.raises(SuspicionError, match="a document twice"):
        taken.extend(stream_rankings(str(path), LineFacts()))
    rankings = stream_rankings(str(path), LineFacts())
    assert next(rankings).topic == "1"
    rankings.close()  # type: ignore[attr-defined] - a generator; an open file would be a warning


def test_stream_rankings_document_twice_in_two_blocks_is_seen(file: Path) -> None:
    """A document that comes again in another block of its topic is a suspicion."""
    file.write_bytes(b"1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 a 3 1 t\n")
    with pytest.raises(SuspicionError, match="a document twice"):
        list(stream_rankings(str(file), LineFacts(), block_bytes=13))


def test_read_whole_large_files_equal_the_slow_reader(tmp_path: Path) -> None:
    """Files of several blocks, in every layout and score format, plain or compressed."""
    for path in generate(tmp_path, runs=8, topics=3, documents=3000, seed=7):
        slow = facts(read_run(str(path)))
        assert facts(read_whole(str(path))) == slow
        packed = path.with_suffix(".gz")
        packed.write_bytes(gzip.compress(path.read_bytes(), 1))
        run = read_whole(str(packed))
        assert (run.tag, run.sha256, *facts(run)[3:]) == (slow[0], slow[1], *slow[3:])
        assert run.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
