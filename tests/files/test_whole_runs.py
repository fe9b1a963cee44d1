"""Whole runs whose documents are numbers, the same whoever reads them; work shared between processes."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooler.reading import parallel
from pooler.reading import whole as module
from pooler.reading.parallel import n_workers, share
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from pooler.reading.whole import NumberedRun, RunReader, judged_runs, ranked_runs, read_numbered
from store.analysis.arrays import RankedDocuments
from store.collection import Collection
from store.content.rankings import NumberedDocuments
from store.db.packing import unpack_floats, unpack_integers
from store.errors import (
    SHOWN_FAULTS,
    ArgumentError,
    ConflictError,
    Fault,
    FormatError,
    PoolerError,
    UnknownNameError,
)
from store.ranking import ORDERS, Order
from store.records import Ranking, Run, StoredRun
from tests.benchmarks.generate import generate
from tests.helpers.obvious_reader import Row, first_of
from tests.helpers.run import started_processes
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
    topics: dict[str, list[Row]] = {}
    for line in content.decode().splitlines():
        if line.strip():
            topic, _, docno, rank, score, _ = line.split()
            topics.setdefault(topic, []).append(Row(docno, float(score), int(rank)))
    firsts = {topic: first_of(rows, len(rows), order) for topic, rows in topics.items()}
    return {topic: first.docnos for topic, first in firsts.items() if first is not None}


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
@settings(max_examples=examples(20))
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
@settings(max_examples=examples(20))
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


ERRORS = [
    PoolerError("gone", hint="look"),
    FormatError("a.run", [Fault(3, "bad", "score")] * SHOWN_FAULTS, n_faults=40, hint="mend"),
    ArgumentError("depth", "must be an integer", "x"),
    UnknownNameError("run", "alcie", ["bob", "alice"]),
    ConflictError("locked"),
]


def ignore(_n_done: int) -> None:
    """Take no notice of progress."""


def fail(number: int) -> int:
    """Raise one of `ERRORS`."""
    raise ERRORS[number]


def die_elsewhere(number: int, *, home: int, folder: Path) -> int:
    """End the process, unless it is `home`, which waits until another one has come."""
    if os.getpid() != home:
        (folder / f"{os.getpid()}").touch()
        os._exit(1)
    wait_for(folder, 1)
    return number * 2


def wait_for(folder: Path, n_files: int) -> None:
    """Wait until so many files are there."""
    deadline = time.monotonic() + 60
    while len(list(folder.iterdir())) < n_files and time.monotonic() < deadline:
        time.sleep(0.01)


def meet(number: int, *, folder: Path, n_processes: int) -> int:
    """Wait until so many processes are here; return which one this is."""
    (folder / f"{os.getpid()}").touch()
    print("what a task prints is no answer", number)  # noqa: T201 - the point of a test
    wait_for(folder, n_processes)
    return os.getpid()


def fail_elsewhere(number: int, *, home: int, folder: Path) -> int:
    """Raise what is no user's error, unless this is `home`, which waits until it was."""
    if os.getpid() != home:
        (folder / f"{os.getpid()}").touch()
        raise ZeroDivisionError
    wait_for(folder, 1)
    return number


@pytest.mark.slow
def test_share_errors_keep_all_their_facts() -> None:
    """An error comes back as a value with its type, message, hint and every attribute."""
    outcomes = share(fail, range(len(ERRORS)), workers=2, progress=ignore)
    for outcome, error in zip(outcomes, ERRORS, strict=True):
        assert type(outcome) is type(error)
        assert isinstance(outcome, PoolerError)
        assert str(outcome) == str(error)
        assert vars(outcome) == vars(error)


@pytest.mark.slow
def test_share_dead_workers_leave_the_work_to_this_process(tmp_path: Path) -> None:
    """When a worker dies at an item, all results are there nevertheless."""
    task = partial(die_elsewhere, home=os.getpid(), folder=tmp_path)
    told: list[int] = []
    assert share(task, range(6), workers=3, progress=told.append) == [0, 2, 4, 6, 8, 10]
    assert sum(told) == 6


@pytest.mark.slow
def test_share_other_processes_take_part(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each of three processes does one of three items, this one the first; they may print."""
    told: list[int] = []
    task = partial(meet, folder=tmp_path, n_processes=3)
    with started_processes() as started:
        pids = share(task, range(3), workers=3, progress=told.append)
    assert len(started) == 2
    assert pids[0] == os.getpid()
    assert len(set(pids)) == 3
    assert told == [1, 1, 1]
    written = capfd.readouterr()
    assert (written.out.count("is no answer 0"), written.err.count("is no answer")) == (1, 2)


@pytest.mark.slow
def test_share_worker_loads_the_task_and_nothing_else(tmp_path: Path) -> None:
    """A worker takes numpy and the readers, but not the main module, which needs no guard."""
    (tmp_path / "task.py").write_text(
        "import os, sys, time, pathlib, pooler.reading.blocks\n"
        "def modules(folder):\n"
        "    (pathlib.Path(folder) / str(os.getpid())).touch()\n"
        "    while len(os.listdir(folder)) < 2:\n"
        "        time.sleep(0.01)\n"
        "    return os.getpid(), sorted(sys.modules)\n"
    )
    (tmp_path / "here").mkdir()
    (tmp_path / "script.py").write_text(
        "import sys, typer, task\n"
        "from pooler.reading.parallel import share\n"
        "print('main module')\n"
        "folder = sys.argv[1]\n"
        "answers = share(task.modules, [folder] * 2, workers=2, progress=lambda n: None)\n"
        "print(answers[0][0] != answers[1][0], 'typer' in answers[0][1])\n"
        "heavy = {'typer', 'rich', 'multiprocessing', 'concurrent.futures', 'sqlmodel', 'lzma'}\n"
        "print(sorted(heavy & set(answers[1][1])), 'numpy' in answers[1][1])\n"
    )
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "here")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["main module", "True True", "[] True"]
    assert done.stderr == ""


@pytest.mark.slow
def test_share_interrupt_ends_the_workers_quietly(tmp_path: Path) -> None:
    """Ctrl-C, which reaches all processes of a terminal, shows one trace: that of the first."""
    script = tmp_path / "script.py"
    script.write_text(
        "import signal, time\n"
        "from pooler.reading.parallel import share\n"
        # A shell lets what it starts in the background ignore the signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('ready', flush=True)\n"
        # Short ones: Python notices a signal between two of them, if not within one.
        "share(time.sleep, [0.1] * 600, workers=2, progress=lambda n: None)\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    with pytest.raises(ProcessLookupError):  # nobody of the group is left
        os.killpg(process.pid, 0)


@pytest.mark.slow
def test_share_bug_in_a_worker_is_met_again_here(tmp_path: Path) -> None:
    """What a task should not raise does not end the work, unless it is raised here too."""
    task = partial(fail_elsewhere, home=os.getpid(), folder=tmp_path)
    assert share(task, range(4), workers=2, progress=ignore) == [0, 1, 2, 3]


@pytest.mark.slow
def test_share_task_that_cannot_be_sent_is_done_here() -> None:
    """A function of no module is no task for a worker, but one for this process."""
    assert share(lambda number: number + 1, range(3), workers=2, progress=ignore) == [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [0, 1])
def test_share_more_workers_than_items(n_items: int) -> None:
    """Workers without work are no obstacle."""
    assert share(str, range(n_items), workers=4, progress=ignore) == ["0"][:n_items]


@pytest.mark.slow
def test_share_a_bug_is_not_hidden() -> None:
    """An exception that is no user's error is raised as it is."""
    with pytest.raises(TypeError):
        share(len, [1], workers=1, progress=ignore)
