"""Runs read for a collection: what is stored is the same whoever reads them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from pooler.reading.whole import NumberedRun, RunReader
from store.db.packing import unpack_floats, unpack_integers
from store.errors import FormatError, PoolerError
from store.records import Ranking, Run
from tests.benchmarks.generate import generate


def as_run(one: NumberedRun, docnos: list[str]) -> Run:
    """Turn what a reader made back into a run in file order."""
    rankings = []
    for packed in one.rankings:
        in_file = np.argsort(unpack_integers(packed.positions, packed.length))
        numbers = np.frombuffer(packed.documents, "<i4")[in_file].tolist()
        ranks = None
        if packed.ranks is not None:
            ranks = unpack_integers(packed.ranks, packed.length)[in_file]
        scores = unpack_floats(packed.scores)[in_file]
        rankings.append(Ranking(packed.topic, [docnos[place] for place in numbers], scores, ranks))
    return Run(one.tag, rankings, one.sha256, file=one.file)


def assert_same(got: Run, expected: Run) -> None:
    """Compare two runs, scores bit for bit."""
    assert (got.tag, got.sha256, got.file) == (expected.tag, expected.sha256, expected.file)
    assert [one.topic for one in got.rankings] == [one.topic for one in expected.rankings]
    for one, other in zip(got.rankings, expected.rankings, strict=True):
        assert one.docnos == other.docnos
        assert one.scores.view(np.int64).tolist() == other.scores.view(np.int64).tolist()
        assert (one.ranks is None) == (other.ranks is None)
        if one.ranks is not None and other.ranks is not None:
            assert one.ranks.tolist() == other.ranks.tolist()


def check_reader(reader: RunReader, path: Path, docnos: list[str], *, lenient: bool) -> None:
    """See that a reader and `read_run` say the same of a file, a run or a fault."""
    fault = None
    try:
        expected = read_run(str(path), lenient=lenient)
    except PoolerError as error:
        fault = error.message
    if fault is not None:
        with pytest.raises(PoolerError) as caught:
            reader.read(RunEntry(str(path)))
        assert caught.value.message == fault
        return
    one = reader.read(RunEntry(str(path)))
    docnos += one.docnos()
    assert_same(as_run(one, docnos), expected)


lines = st.lists(
    st.builds(
        " ".join,
        st.tuples(
            st.sampled_from(["1", "1", "2", "10"]),
            st.just("Q0"),
            st.sampled_from(["a", "b", "c", "doc-of-many-letters", "é", "x" * 70]),
            st.sampled_from(["0", "1", "2", "7", "1.5", "x"]),
            st.sampled_from(["1", "1.0", "2.5", "-0", "1e3", "nan", "3.00000000000000000001"]),
            st.sampled_from(["t", "t", "t", "t", "u"]),
        ),
    )
    | st.sampled_from(["", "# 1 Q0 a 1 2 t", "1 Q0 a 1 2 t more"]),
    max_size=8,
)


@given(files=st.lists(st.tuples(lines, st.booleans(), st.booleans()), min_size=1, max_size=4))
def test_any_file_is_read_as_by_the_reference_reader(
    files: list[tuple[list[str], bool, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A reader gives the runs and the faults of `read_run`, file after file, with few numbers."""
    folder = tmp_path_factory.mktemp("runs")
    for lenient in (False, True):
        reader = RunReader(lenient=lenient)
        docnos: list[str] = []
        for number, (content, by_topic, has_end) in enumerate(files):
            ordered = sorted(content, key=lambda line: line.split(" ")[0]) if by_topic else content
            path = folder / f"{number}.run"
            path.write_text("\n".join(ordered) + "\n" * has_end, encoding="utf-8")
            check_reader(reader, path, docnos, lenient=lenient)
            assert len(set(docnos)) == len(docnos)


def test_topics_that_go_beyond_blocks(tmp_path: Path) -> None:
    """Topics of many blocks, sorted or not, come in one piece."""
    reader, docnos = RunReader(), list[str]()
    for path in generate(tmp_path / "runs", runs=7, topics=3, documents=4000, seed=3):
        check_reader(reader, path, docnos, lenient=False)


def test_document_in_two_blocks_is_a_fault(tmp_path: Path) -> None:
    """A document twice in a topic is seen though its lines stand in different blocks."""
    path = tmp_path / "r.run"
    long = [f"1 Q0 a-document-with-a-long-name-{number} 1 {-number} t" for number in range(20_000)]
    path.write_text("\n".join(["1 Q0 a 1 9 t", "1 Q0 b 2 8 t", *long, "1 Q0 a 3 7 t"]) + "\n")
    with pytest.raises(FormatError, match=r"r\.run:20003: document `a` is in topic `1` already"):
        RunReader().read(RunEntry(str(path)))


def test_what_was_read_before_a_doubt_is_read_again(tmp_path: Path) -> None:
    """A topic in two parts is joined by lenient reading; its documents are told all the same."""
    path = tmp_path / "r.run"
    path.write_text("1 Q0 a 1 9 t\n2 Q0 b 1 8 t\n1 Q0 c 2 7 t\n")
    reader = RunReader(lenient=True)
    one = reader.read(RunEntry(str(path)))
    assert one.docnos() == ["a", "c", "b"]
    assert_same(as_run(one, one.docnos()), read_run(str(path), lenient=True))


def test_stated_tag_is_checked(tmp_path: Path) -> None:
    """A file with another tag than the list of runs says is refused, and leaves nothing behind."""
    (path,) = generate(tmp_path / "runs", runs=1, topics=9, documents=50, seed=1)
    reader = RunReader()
    with pytest.raises(FormatError, match="expected run tag `other`"):
        reader.read(RunEntry(str(path), tag="other"))
    one = reader.read(RunEntry(str(path)))
    assert_same(as_run(one, one.docnos()), read_run(str(path)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe_is_read_once(tmp_path: Path) -> None:
    """A pipe gives its run."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    entry = RunEntry(str(pipe))
    writer = threading.Thread(target=pipe.write_text, args=("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n",))
    writer.start()
    one = RunReader().read(entry)
    writer.join()
    assert one.docnos() == ["a", "b"]
    assert [(ranking.topic, ranking.length) for ranking in one.rankings] == [("1", 2)]
