"""Runs whose documents are numbers: the same whoever reads them, and ranked as plain sorts do."""

from __future__ import annotations

import gzip
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooler.reading import parallel
from pooler.reading import whole as module
from pooler.reading.parallel import n_workers
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from pooler.reading.whole import NumberedRun, RunReader, judged_runs, ranked_runs, read_numbered
from store.analysis.arrays import RankedDocuments
from store.collection import Collection
from store.content.rankings import NumberedDocuments
from store.db.packing import unpack_floats, unpack_integers
from store.errors import ArgumentError, FormatError, PoolerError
from store.ranking import ORDERS, Order
from store.records import Ranking, Run, StoredRun
from tests.benchmarks.generate import generate
from tests.helpers.strategies import RunText, examples, run_texts
from tests.helpers.world import parse_scale, stored_rows


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
def test_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others read where there is much, each can open all files and there are processors; else this one."""
    monkeypatch.setattr(parallel, "PARALLEL_BYTES", 30)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1}, raising=False)
    files = [str(tmp_path / name) for name in ("a", "b")]
    for file in files:
        Path(file).write_text("1 Q0 a 1 2 t\n" * 2)
    assert n_workers(files) == 2
    os.mkfifo(tmp_path / "pipe")
    for some in (
        files[:1],
        *([*files, odd] for odd in ("-", str(tmp_path / "none"), str(tmp_path / "pipe"))),
    ):
        assert n_workers(some) == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0}, raising=False)
    assert n_workers(files) == 1


def imported_rows(entries: list[RunEntry], place: Path, workers: int) -> dict[str, list[tuple[object, ...]]]:
    """Import runs into a new collection and read its rows, but for the times."""
    numbered: defaultdict[int, NumberedDocuments] = defaultdict(NumberedDocuments)
    scale = parse_scale("0-2")
    with Collection.create(str(place), name="test", scale=scale, program="test") as collection:
        for one in read_numbered(entries, workers=workers):
            numbered[one.reader].extend(one.docnos())
            about = StoredRun(one.tag, "", contributes=True, sha256=one.sha256, file=one.file)
            collection.runs.add_packed(about, one.rankings, numbered[one.reader])
    rows = stored_rows(str(place))
    return {name: rows[name] for name in ("document", "topic", "ranking")}


def test_rows_do_not_depend_on_who_reads(tmp_path: Path) -> None:
    """One process or two, and whole runs in memory: the same ids and the same bytes."""
    files = generate(tmp_path / "runs", runs=7, topics=4, documents=60, seed=5)
    packed = tmp_path / "runs" / "zipped.gz"
    packed.write_bytes(gzip.compress(files[2].read_bytes().replace(b"c_run2", b"zipped")))
    blank = tmp_path / "runs" / "blank.run"  # a blank line is for the reference reader
    blank.write_bytes(files[3].read_bytes().replace(b"d_run3", b"blank") + b"\n")
    entries = [RunEntry(str(path)) for path in (*files[:4], packed, blank, *files[4:])]
    one = imported_rows(entries, tmp_path / "one.db", 1)
    assert imported_rows(entries, tmp_path / "two.db", 2) == one
    scale = parse_scale("0-2")
    place = str(tmp_path / "runs.db")
    with Collection.create(place, name="test", scale=scale, program="test") as collection:
        for entry in entries:
            collection.runs.add(read_run(entry.file))
    assert {name: stored_rows(place)[name] for name in one} == one


def test_two_other_processes_read(tmp_path: Path) -> None:
    """The reader reaches them, so that this process is not left to do all of it in silence."""
    files = generate(tmp_path / "runs", runs=4, topics=2, documents=20, seed=5)
    readers = {one.reader for one in read_numbered([RunEntry(str(path)) for path in files], workers=2)}
    assert len(readers) == 2
    assert os.getpid() not in readers


def test_errors_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    """Runs before a faulty file are given, then its fault is raised, whoever reads."""
    files = generate(tmp_path / "runs", runs=5, topics=2, documents=20, seed=5)
    files[3].write_text("1 Q0 a 1 wine t\n")
    entries = [RunEntry(str(path)) for path in files]
    for workers in (1, 2):
        coming = read_numbered(entries, workers=workers)
        assert [next(coming).file for _ in range(3)] == ["r000.run", "r001.run", "r002.run"]
        with pytest.raises(FormatError, match=r"r003\.run:1: expected a finite number"):
            next(coming)


@pytest.mark.slow
def test_workers_that_die_are_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the other processes die, this one reads what they had not."""
    files = generate(tmp_path / "runs", runs=5, topics=2, documents=20, seed=5)
    entries = [RunEntry(str(path)) for path in files]
    expected = imported_rows(entries, tmp_path / "one.db", 1)
    monkeypatch.setattr(module, "RunReader", DyingReader)
    assert imported_rows(entries, tmp_path / "two.db", 2) == expected


class DyingReader(RunReader):
    """Reads runs, but ends a worker's process at the third file."""

    home = os.getpid()

    def __reduce__(self) -> tuple[object, ...]:
        """Tell the other process whose copy it has."""
        return _copied, (self.home,)

    def read(self, entry: RunEntry) -> NumberedRun:
        """Read a run here, or up to the third in a worker."""
        if entry.file.endswith("r002.run") and os.getpid() != self.home:
            os._exit(1)
        return super().read(entry)


def _copied(home: int) -> DyingReader:
    reader = DyingReader()
    reader.home = home
    return reader


def sorted_lines(content: bytes, order: Order) -> dict[str, list[str]]:
    """Rank the lines of a run file by plain sorts, topic by topic."""
    topics: dict[str, list[tuple[str, float, int]]] = {}
    for line in content.decode().splitlines():
        if line.strip():
            topic, _, docno, rank, score, _ = line.split()
            topics.setdefault(topic, []).append((docno, float(score), int(rank)))
    for topic, lines in topics.items():
        if order == "rank":
            lines.sort(key=lambda one: one[2])
        elif order != "file":
            lines.sort(key=lambda one: one[0].encode(), reverse=order != "docno-asc")
            with np.errstate(all="ignore"):
                rounded = np.float32 if order == "trec9" else float
                lines.sort(key=lambda one: -float(rounded(one[1])))
        topics[topic] = lines
    return {topic: [docno for docno, _, _ in lines] for topic, lines in topics.items()}


def by_name(ranked: RankedDocuments, tag: str) -> dict[str, list[str]]:
    """Give a run's docnos in rank order, by topic."""
    assert ranked.docnos == {number: docno for docno, number in ranked.ids.items()}
    return {
        topic: [ranked.docnos[number] for number in numbers.tolist()]
        for (of, topic), numbers in ranked.rankings.items()
        if of == tag
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give one folder to all examples."""
    return tmp_path_factory.mktemp("ranked")


@pytest.mark.slow
@settings(max_examples=examples(50))
@given(
    texts=st.lists(run_texts(), min_size=1, max_size=3, unique_by=lambda text: text.tag),
    order=st.sampled_from(ORDERS),
    is_in_memory=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_runs_of_files_and_of_memory_rank_as_plain_sorts_do(
    texts: list[RunText], order: Order, is_in_memory: list[bool], folder: Path
) -> None:
    """In every order; documents are numbered as they are met, run after run and line after line."""
    named: list[RunEntry | Run] = []
    for place, text in enumerate(texts):
        path = folder / f"{place}.run"
        path.write_bytes(text.content)
        named.append(read_run(str(path)) if is_in_memory[place] else RunEntry(str(path)))
    ranked = ranked_runs(named, order=order)
    assert ranked.tags == tuple(text.tag for text in texts)
    for text in texts:
        assert by_name(ranked, text.tag) == sorted_lines(text.content, order)
    met = [docno for text in texts for _, docno, _, _ in text.rows]
    assert list(ranked.ids) == list(dict.fromkeys(met))


@pytest.mark.slow
@settings(max_examples=examples(50))
@given(
    data=st.data(),
    texts=st.lists(run_texts(), min_size=1, max_size=3, unique_by=lambda text: text.tag),
    order=st.sampled_from(ORDERS),
)
def test_judged_documents_alone_have_the_ranks_that_all_have(
    data: st.DataObject, texts: list[RunText], order: Order, folder: Path
) -> None:
    """Whatever is judged: it stands where plain sorts put it, between numbers that nothing else has."""
    entries = []
    for place, text in enumerate(texts):
        (folder / f"{place}.run").write_bytes(text.content)
        entries.append(RunEntry(str(folder / f"{place}.run")))
    met = [docno for text in texts for _, docno, _, _ in text.rows]
    judged = data.draw(st.sets(st.sampled_from([*met, "", "\0", "unmet", "x" * 90]), max_size=20))
    ranked = judged_runs(entries, judged, order=order)
    assert ranked.tags == tuple(text.tag for text in texts)
    assert (ranked.ids.keys(), sorted(ranked.ids.values())) == (judged, [*range(len(judged))])
    docnos = {number: docno for docno, number in ranked.ids.items()}
    for text in texts:
        for topic, lines in sorted_lines(text.content, order).items():
            numbers = ranked.rankings[text.tag, topic].tolist()
            assert len(set(numbers)) == len(lines)
            expected = [docno if docno in judged else None for docno in lines]
            assert [docnos.get(number) for number in numbers] == expected


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_other_processes_read_the_same(order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes number documents each for itself; what comes of it is as of one."""
    entries = [RunEntry(str(path)) for path in generate(tmp_path, runs=5, topics=3, documents=40, seed=3)]
    alone = ranked_runs(entries, order=order)
    monkeypatch.setattr(parallel, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(parallel, "n_processors", lambda: 2)
    together = ranked_runs(entries, order=order)
    assert (together.tags, together.ids) == (alone.tags, alone.ids)
    assert together.rankings.keys() == alone.rankings.keys()
    for key, numbers in alone.rankings.items():
        assert together.rankings[key].tolist() == numbers.tolist()
    for entry, tag in zip(entries, alone.tags, strict=True):
        assert by_name(alone, tag) == sorted_lines(Path(entry.file).read_bytes(), order)


@pytest.mark.slow
def test_two_runs_of_one_tag_need_names(tmp_path: Path) -> None:
    """A list of runs gives each a name of its own; without, they are refused."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"1 Q0 {name} 1 1 t\n")
    files = [str(tmp_path / name) for name in ("a", "b")]
    with pytest.raises(ArgumentError, match="must each have their own tag, but got 't'"):
        ranked_runs([RunEntry(file) for file in files])
    named = ranked_runs([RunEntry(file, name=name) for file, name in zip(files, "xy", strict=True)])
    assert [by_name(named, tag) for tag in named.tags] == [{"1": ["a"]}, {"1": ["b"]}]
    with pytest.raises(FormatError, match="expected run tag `u`"):
        ranked_runs([RunEntry(files[0], tag="u")])


@pytest.mark.slow
def test_ranks_that_are_no_integers_order_nothing(tmp_path: Path) -> None:
    """Order rank is refused; a topic in two parts is read line by line, and ranks as one."""
    (tmp_path / "a").write_text("1 Q0 x - 1 t\n")
    with pytest.raises(ArgumentError, match="needs stated ranks"):
        ranked_runs([RunEntry(str(tmp_path / "a"))], order="rank")
    (tmp_path / "b").write_text("1 Q0 x 1 1 t\n2 Q0 y 1 1 t\n1 Q0 z 1 2 t\n")
    with pytest.raises(FormatError, match="goes on after topic"):
        ranked_runs([RunEntry(str(tmp_path / "b"))])
    ranked = ranked_runs([RunEntry(str(tmp_path / "b"))], lenient=True)
    assert by_name(ranked, "t") == {"1": ["z", "x"], "2": ["y"]}
