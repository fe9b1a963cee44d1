"""Commands that are killed, or interrupted, at any moment: all of it is done, or nothing, and they go on.

Commands that write are killed (`kill -9`) at moments from a fixed seed, and then given again: imports, pools,
backups, restores and exports, of a collection in a file and on a PostgreSQL server. After each kill the
collection and every file are as before the command or as after it (an import of run files does whole files),
and what the command said to be done is done; `pooler verify` finds nothing. The same command then goes
through, and everything is as if there had been no kill, with nothing left over from it. Forty kills on each
engine: `pytest -m long tests/keeping/test_kills.py`, which prints its figures. Ctrl-C and `kill` come at any
moment of every example of help.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from sqlalchemy import text

from pooler.interrupts import Interrupted, Terminated
from store.collection import Collection
from tests.helpers.gallery import EXAMPLES
from tests.helpers.postgres import empty_schema
from tests.helpers.run import environment, program, run_inside, write
from tests.helpers.saved_pages import block, record, save
from tests.helpers.world import carry, count_rows, engine_of

TOPICS = [f"T{number}" for number in range(5)]
N_DOCUMENTS, N_RANKED = 600, 120
COMMANDS = """
    backup friday.backup --replace --collection HERE
    restore friday.backup --collection THERE
    export collection again --collection HERE
    import runs r3.run r4.run r5.run --collection HERE
    restore friday.backup --replace --collection HERE
    pool --depth 60 --name deep --out deep.txt --collection HERE
    import work ann.judged.jsonl --collection HERE
    export work --all pages --collection HERE
    import collection published --collection THERE
    import docs texts.jsonl --all --collection HERE
    pool r0.run r1.run r2.run r3.run --depth 100 --out pool.txt
    export judgements --history --out all.jsonl --collection HERE
    import judgements carol.qrels --judge carol --kind human --collection HERE
    backup new.backup --collection HERE
    import topics more.jsonl --collection HERE
    export qrels bob --out bob.qrels --collection HERE
"""
"""HERE is the collection, and THERE a place for another one."""
LOADED = 0.5
"""About the share of a command's time after which Python and what it imports are loaded."""
REFUSED_AGAIN = ("already exists", "already holds a collection", "expected a new or empty folder")
"""What is said, with nothing done, of what a command has made that replaces nothing."""
CHANGING = re.compile(
    rb'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)?|\b[0-9a-f]{64}\b|"uid": "[0-9a-f]+"'
)
"""Moments, hashes of what has moments in it, and identities of judges, which are drawn by chance."""
LEFT_OVER = re.compile(r"\.(.+)\.[0-9a-f]{12}\.(part|old)(-wal|-shm|-journal)?")
State = dict[str, list[bytes]]
"""Lines by collection and by name of a file or folder."""
NAME = "pooler-killed"
"""By which a server knows whether anything of a killed process still goes on."""


def prepare(folder: Path) -> None:
    """Make a collection, and files to import and to replace."""
    dice = random.Random(20010101)
    docnos = [f"D{number:04}" for number in range(N_DOCUMENTS)]
    for number in range(6):
        rows = (
            f"{topic} Q0 {docno} {rank} {N_RANKED - rank} r{number}"
            for topic in TOPICS
            for rank, docno in enumerate(dice.sample(docnos, N_RANKED))
        )
        write(folder / f"r{number}.run", *rows)
    write(folder / "topics.jsonl", *(f'{{"topic": "{one}", "title": "title {one}"}}' for one in TOPICS))
    write(folder / "more.jsonl", *(f'{{"topic": "M{n}", "title": "more {n}"}}' for n in range(600)))
    texts = ((one, "words of it " * dice.randrange(20, 60)) for one in docnos)
    write(folder / "texts.jsonl", *(f'{{"docno": "{one}", "text": "{words}"}}' for one, words in texts))
    here = ("--collection", folder / "c.db")
    run_inside("init", "--scale", "0-2", "--name", "killed", *here).fine()
    run_inside("qrels", "define", "official", "--aggregate", "min", *here).fine()  # whoever judged
    run_inside("import", "topics", folder / "topics.jsonl", *here).fine()
    runs = [folder / f"r{number}.run" for number in range(3)]
    run_inside("import", "runs", *runs, *here).fine()
    run_inside("pool", "--depth", "20", *here).fine()
    run_inside("judges", "add", "ann", *here).fine()
    with Collection(str(folder / "c.db")) as opened:
        pooled = [(one.topic, one.docno) for one in opened.pools.get("pool").entries]
    for judge in ("bob", "carol"):
        rows = (f"{topic} 0 {docno} {dice.randrange(3)}" for topic, docno in pooled)
        write(folder / f"{judge}.qrels", *rows)
    imported = folder / "bob.qrels"
    run_inside("import", "judgements", imported, "--judge", "bob", "--kind", "human", *here).fine()
    imported.unlink()
    page = folder / "ann.html"
    run_inside("export", "work", "ann", "--out", page, *here).fine()
    steps = [record(docno, 1, "judge", topic=topic, grade=dice.randrange(3)) for topic, docno in pooled]
    save(folder / "ann.judged.jsonl", block(page, "head"), steps)
    page.unlink()
    run_inside("backup", folder / "friday.backup", *here).fine()
    run_inside("export", "collection", folder / "published", *here).fine()
    run_inside("judges", "add", "dan", *here).fine()  # what is replaced is not what replaces it


class Ended(NamedTuple):
    """How a command ended, what it said, and the seconds of a processor that it used."""

    code: int
    said: str
    used_s: float


class Undisturbed(NamedTuple):
    """The states before and after a command that nobody disturbed, and how it ended."""

    before: State
    whole: State
    ended: Ended


@dataclass(frozen=True)
class World:
    """A folder in which a command works, and where its collections are."""

    folder: Path
    places: dict[str, str]
    """By HERE and THERE."""

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """Start a command."""
        words = [self.places.get(word, word) for word in shlex.split(command)]
        return subprocess.Popen(
            [*program(), *words],
            cwd=self.folder,
            env=environment({"PGAPPNAME": NAME}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def run(self, command: str, *, killed_after_s: float = math.inf) -> Ended:
        """Run a command to its end, or until it has used so many seconds of a processor."""
        process, used_s = self.start(command), 0.0
        used = Path(f"/proc/{process.pid}/schedstat")
        while process.poll() is None:
            used_s = int(used.read_text().split()[0]) / 1e9
            if used_s >= killed_after_s:
                process.kill()
            time.sleep(0.001)
        _, said = process.communicate()
        for place in self.places.values():
            wait_until_gone(place)
        return Ended(process.returncode, said.decode(), used_s)

    def state(self) -> State:
        """Return the lines of every collection and of everything in the folder that has a name."""
        found = {name: lines_of(place) for name, place in self.places.items()}
        for path in sorted(self.folder.iterdir()):
            if path.suffix == ".backup" or path.name.startswith("c.db.replaced"):
                found[path.name] = lines_of(str(path))
            elif path.is_dir() and not path.name.startswith("."):
                found[path.name] = [one for file in sorted(path.rglob("*")) if file.is_file()
                                    for one in (file.name.encode(), *masked(file))]  # fmt: skip
            elif path.name.endswith(("-shm", "-wal")):
                continue  # who is killed leaves them; who opens the file next plays them in
            elif path.is_file() and not path.name.startswith((".", "c.db", "there.db")):
                found[path.name] = masked(path)
        return {name: lines for name, lines in found.items() if lines}

    def verify(self) -> None:
        """Assert that the program finds nothing wrong with its collections."""
        for place in self.places.values():
            if lines_of(place):
                run_inside("verify", "--collection", place).fine()

    def leftovers(self) -> list[Path]:
        """Return what was being made when a command was killed."""
        return [path for path in self.folder.iterdir() if path.name.startswith(".")]


def masked(file: Path) -> list[bytes]:
    """Return the lines of a file without what changes from time to time."""
    return CHANGING.sub(b"*", file.read_bytes()).splitlines()


def lines_of(place: str) -> list[bytes]:
    """Return all that a collection holds, as lines; nothing where there is none."""
    if "://" in place:
        return lines_exported(place) if count_rows(place) else []
    if not Path(place).exists():
        return []
    content = b"".join(path.read_bytes() for path in map(Path, (place, f"{place}-wal")) if path.exists())
    if content not in KNOWN:  # most states have a file that another one had
        KNOWN[content] = lines_exported(place)
    return KNOWN[content]


KNOWN: dict[bytes, list[bytes]] = {}
"""What is in files of these bytes."""


def lines_exported(place: str) -> list[bytes]:
    """Export a collection, and return the lines of its tables."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        run_inside("export", "collection", out, "--collection", place).fine()
        return [line for file in sorted((out / "tables").iterdir()) for line in masked(file)]


def wait_until_gone(place: str) -> None:
    """Wait until a server has ended what a killed process had asked for."""
    if "://" not in place:
        return
    busy = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name")
    end = time.monotonic() + 60
    with engine_of(place) as engine, engine.connect() as connection:
        while connection.execute(busy, {"name": NAME}).scalar():
            assert time.monotonic() < end
            connection.rollback()
            time.sleep(0.01)


class Worlds:
    """Makes a world anew for every trial.

    Parameters
    ----------
    prepared : Path
        The folder that `prepare` made.
    folder : Path
        Where worlds are made.
    server : str or None
        Where their collections are; ``None`` = in files.
    """

    def __init__(self, prepared: Path, folder: Path, server: str | None) -> None:
        self._prepared = prepared
        self._folder = folder
        self._server = server
        self._known: dict[str, Undisturbed] = {}

    @property
    def commands(self) -> list[str]:
        """All that can be run here."""
        first, *found = (line.strip() for line in COMMANDS.strip().splitlines())
        if self._server is None:
            return [first, *found]
        found.remove("restore friday.backup --replace --collection HERE")  # only a file can be replaced
        return [*found, first]

    def make(self) -> World:
        """Make one."""
        folder = self._folder / "world"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._prepared, folder)
        if self._server is None:
            return World(folder, {"HERE": str(folder / "c.db"), "THERE": str(folder / "there.db")})
        world = World(folder, {name: empty_schema(self._server) for name in ("HERE", "THERE")})
        carry(folder / "c.db", world.places["HERE"])
        (folder / "c.db").unlink()
        return world

    def undisturbed(self, command: str) -> Undisturbed:
        """Run a command that nobody disturbs."""
        if command not in self._known:
            world = self.make()
            before, ended = world.state(), world.run(command)
            assert ended.code == 0, ended.said
            self._known[command] = Undisturbed(before, world.state(), ended)
            assert self._known[command].whole != before
        return self._known[command]


def check_stepwise(found: list[bytes], before: list[bytes], whole: list[bytes], said: str) -> int:
    """Assert that an import of run files has done whole files, and those it told of; return how many."""
    assert {*before} <= {*found} <= {*whole}
    n_done = 0
    for tag in ("r3", "r4", "r5"):
        of_run = re.compile(rb'"(run|tag)": "%s"' % tag.encode())
        wanted, own = ([one for one in lines if of_run.search(one)] for lines in (whole, found))
        assert own in ([], wanted)
        assert own or f"{tag}.run:" not in said
        n_done += bool(own)
    return n_done


def check_kill(worlds: Worlds, command: str, dice: random.Random) -> Counter[str]:
    """Kill a command once, give it again, and count what there was in between."""
    before, whole, undisturbed = worlds.undisturbed(command)
    while True:
        world = worlds.make()
        ended = world.run(command, killed_after_s=dice.uniform(LOADED, 1) * undisturbed.used_s)
        if ended.code < 0:
            break
    found, said = world.state(), ended.said
    is_stepwise = command.startswith("import runs")
    for name in {*before, *whole, *found}:
        states = [before.get(name), whole.get(name)]
        if name.startswith("c.db.replaced"):
            assert found.get(name) in (None, before["HERE"]), command
        elif is_stepwise and name == "HERE":
            check_stepwise(found[name], before[name], whole[name], said)
        else:
            assert found.get(name) in states, (command, name, said)
    told = undisturbed.said.splitlines()[-1] in said.splitlines()
    assert not told or found == whole, (command, said)
    world.verify()
    left = world.leftovers()
    for path in left:
        matched = LEFT_OVER.fullmatch(path.name)
        assert matched is not None, path.name
        assert matched[1] in {*whole, "c.db", "there.db", "c.db.replaced"}, path.name
        for inside in (path, *path.rglob("*")):
            os.utime(inside, (1, 1))  # as it is a day later
    code, again, _ = world.run(command)
    is_refused = any(words in again for words in REFUSED_AGAIN)
    assert code == 0 or (is_refused and found == whole), (command, again)
    end = world.state()
    saved = [end.pop(name) for name in [*end] if name.startswith("c.db.replaced")]
    assert all(one in (before["HERE"], whole["HERE"]) for one in saved)
    assert end == {name: lines for name, lines in whole.items() if not name.startswith("c.db.replaced")}
    assert is_refused or not world.leftovers(), command
    world.verify()
    is_before, is_whole = found == before, found == whole
    return Counter(
        {
            "kills": 1,
            "said to be done": told,
            "not begun or undone": is_before,
            "done": is_whole,
            "done in part, in whole files": not (is_before or is_whole),
            "left something over": bool(left),
        }
    )


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make what every trial begins with."""
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder)
    return folder


@pytest.fixture(params=["sqlite", "postgresql"])
def worlds(request: pytest.FixtureRequest, prepared: Path, tmp_path: Path) -> Worlds:
    """Make worlds on each engine in turn."""
    server = None if request.param == "sqlite" else request.getfixturevalue("postgres_server")
    return Worlds(prepared, tmp_path, server)


@pytest.mark.parametrize(
    "n_kills", [pytest.param(1, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.long)]
)
def test_killed_commands_do_all_or_nothing(
    worlds: Worlds, n_kills: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command in turn, until there were so many kills."""
    began, found = time.monotonic(), Counter[str]()
    dice = random.Random(26)
    for command in itertools.islice(itertools.cycle(worlds.commands), n_kills):
        found += check_kill(worlds, command, dice)
    assert found["kills"] == n_kills
    with capsys.disabled():
        counts = ", ".join(f"{n} {words}" for words, n in found.items())
        print(f"\n{counts}; none lost, moved, doubled or half-written, in {time.monotonic() - began:.0f} s")  # noqa: T201 - figures for whoever runs it by hand


START = (
    "import signal; from pooler.cli import main; process = main._run_process\n"
    "def heard():\n"
    "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])\n"
    "    return process()\n"
    "main._run_process = heard; main.main()"
)
"""What comes before is Python's own start, which acts on signals as Python does."""
CODES = {signal.SIGINT: Interrupted.code, signal.SIGTERM: Terminated.code}
WRITING = {one.line: one for one in EXAMPLES if "--port" not in one.options}
"""The examples of all commands, by the line that help shows."""
STEPWISE = ("pooler import runs ", "pooler demo ", "pooler ask ")
"""What they finished before the interrupt stays."""
IMPORTS = "import judgements judgements/strict.qrels --judge another --kind model"
N_RUNS = 20
"""Files of an import that is interrupted."""
FAST = [name for name in WRITING if "import docs" in name or "export collection" in name]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """How an interrupted process ended, and what is there afterwards."""

    code: int
    said: str
    files: dict[str, int]
    rows: dict[str, int]


def press(planted: Path, folder: Path, name: str, number: signal.Signals, *after_s: float) -> Interrupt:
    """Run a command in a copy of the folder; send it a signal after each so many seconds."""
    shutil.copytree(planted, folder)
    return run_and_press(folder, shlex.join(WRITING[name].words(folder)), number, *after_s)


def run_and_press(folder: Path, command: str, number: signal.Signals, *after_s: float) -> Interrupt:
    """Run a command in a folder; send it a signal after each so many seconds."""
    with running(folder, command) as process:
        began = time.monotonic()
        for moment in after_s:
            time.sleep(max(0.0, began + moment - time.monotonic()))
            # As a terminal does: to the workers, too.
            if process.poll() is None:
                os.killpg(process.pid, number)
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        said = process.stderr.read().decode()
    return Interrupt(process.returncode, said, files_of(folder), rows_of(folder / "collection.db"))


def running(folder: Path, command: str) -> subprocess.Popen[bytes]:
    """Start a command; signals are held back until it can act on them, however slow its start."""
    held = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        return subprocess.Popen(
            [sys.executable, "-c", START, *shlex.split(command)],
            cwd=folder,
            env=environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def files_of(folder: Path) -> dict[str, int]:
    """Return the files by name, but for those that SQLite makes and removes; sizes of results."""
    return {
        path.relative_to(folder).as_posix(): 0 if path.suffix == ".db" else path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def rows_of(file: Path) -> dict[str, int]:
    """Return the number of rows of every table."""
    with closing(sqlite3.connect(file)) as connection:
        names = [name for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]  # fmt: skip
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                for name in names}  # fmt: skip


@pytest.fixture(scope="session")
def completed(
    planted: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Interrupt, float]]:
    """Give a function that runs a command to its end: what is there then, and the time it took."""
    known: dict[str, tuple[Interrupt, float]] = {}

    def run_through(name: str) -> tuple[Interrupt, float]:
        if name not in known:
            folder = tmp_path_factory.mktemp("whole") / "garden"
            began = time.monotonic()
            ended = press(planted, folder, name, signal.SIGINT)
            known[name] = ended, time.monotonic() - began
        return known[name]

    return run_through


def check(name: str, ended: Interrupt, planted: Path, complete: Interrupt, number: int, at: str) -> None:
    """Assert that a command which was interrupted left all or nothing, and said so in a line."""
    before, rows_before = files_of(planted), rows_of(planted / "collection.db")
    where = f"{name}, signal {number} {at}: {ended.said}"
    assert ended.code in (complete.code, CODES[signal.Signals(number)]), where
    if ended.code == complete.code:
        assert (ended.files, ended.rows) == (complete.files, complete.rows), where
        return
    lines = [line for line in ended.said.splitlines() if line.startswith("interrupted")]
    assert len(lines) == 1, where
    assert "Traceback" not in ended.said, where
    assert "nothing was saved" not in lines[0] or ended.rows == rows_before, where
    assert "ignored" not in ended.said, where
    new = ended.files.items() - before.items()
    if name.startswith(STEPWISE):
        assert not [path for path in ended.files if "part" in path or "/.pooler" in path], where
        assert all(rows_before[table] <= n <= complete.rows[table]
                   for table, n in ended.rows.items()), where  # fmt: skip
        return
    assert new <= complete.files.items() - before.items(), where
    assert ended.rows in (rows_before, complete.rows), where


@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
def test_interrupt_in_the_middle_leaves_all_or_nothing(
    name: str, planted: Path, completed: Callable[[str], tuple[Interrupt, float]], tmp_path: Path
) -> None:
    """Ctrl-C is exit code 130, one line, and no half of anything; pressed twice it is the same."""
    complete, took_s = completed(name)
    assert complete.code == 0, complete.said
    moment = took_s * 0.7
    ended = press(planted, tmp_path / "g", name, signal.SIGINT, moment, moment + 0.03)
    check(name, ended, planted, complete, signal.SIGINT, f"at {moment:.3f} s")


@pytest.mark.slow
def test_import_that_was_interrupted_goes_on_where_it_stopped(planted: Path, tmp_path: Path) -> None:
    """Run files that are in stay; called again, `import runs` skips them and takes the rest."""
    folder = tmp_path / "g"
    shutil.copytree(planted, folder)
    for run in range(N_RUNS):
        write(folder / f"{run}.run", *(f"G01 Q0 d{n} 0 {-n} r{run}" for n in range(5000)))
    names = " ".join(f"{run}.run" for run in range(N_RUNS))
    n_before = rows_of(folder / "collection.db")["run"]
    with running(folder, f"import runs {names}") as process:
        patience = time.monotonic() + 60
        while rows_of(folder / "collection.db")["run"] == n_before:
            assert time.monotonic() < patience
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
    assert process.returncode == Interrupted.code
    n_in = rows_of(folder / "collection.db")["run"] - n_before
    assert 0 < n_in < N_RUNS
    again = run_and_press(folder, f"import runs {names}", signal.SIGINT)
    assert again.code == 0
    assert f"{N_RUNS - n_in} added, {n_in} already there" in again.said


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["destructor", "module lock", "attribute name", "half a module"])
def test_interrupt_that_python_loses_is_raised_again(kind: str, tmp_path: Path) -> None:
    """Where Python reports an exception, or makes another of it, Ctrl-C still ends the command."""
    here = {
        "destructor": "class Odd:\n    def __del__(self): signal.raise_signal(signal.SIGINT); f()\nOdd()",
        "module lock": "class Odd: pass\nodd = Odd()\n"
        "kept = weakref.ref(odd, lambda _: (signal.raise_signal(signal.SIGINT), f()))\ndel odd",
        "attribute name": "class Odd:\n"
        "    def __set_name__(self, *_): signal.raise_signal(signal.SIGINT); f()\n"
        "type('Named', (), {'odd': Odd()})",
        "half a module": "import logging\ndel logging.disable\nsignal.raise_signal(signal.SIGINT); f()",
    }[kind]
    code = (
        "import signal, sys, time, weakref\nfrom pooler import interrupts\nfrom pooler.cli import main\n"
        "def f(): return 1\n"
        "def work():\n    exec(ODD)\n    time.sleep(30)\n    return 0\n"
        f"ODD = {here!r}\n"
        "interrupts.catch_interrupts()\nsys.exit(main._until_interrupted(work))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        timeout=25,
        check=False,
    )
    assert (ran.returncode, ran.stderr.decode().count("\n")) == (130, 1), ran.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("kill(); commit(self)", "nothing was saved; what was in progress is undone"),
        ("commit(self); kill()", "what was saved stays; nothing was in progress"),
    ],
)
def test_what_is_said_around_a_commit_is_true(moment: str, said: str, planted: Path, tmp_path: Path) -> None:
    """Just before it nothing is in; just after it everything is, although the command failed."""
    folder = tmp_path / "g"
    shutil.copytree(planted, folder)
    before = rows_of(folder / "collection.db")["judgement"]
    code = (
        "import os, signal, sqlmodel\n"
        "def kill(): os.kill(os.getpid(), signal.SIGTERM)\n"
        "commit = sqlmodel.Session.commit\n"
        f"def wrapped(self): {moment}\n"
        "sqlmodel.Session.commit = wrapped\n"
        "from pooler.cli import main; main.main()"
    )
    command = IMPORTS.split()
    ran = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=folder,
        env=environment({}),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == Terminated.code
    assert ran.stderr.decode().splitlines()[-1] == f"interrupted: {said}"
    assert (rows_of(folder / "collection.db")["judgement"] > before) == moment.endswith("kill()")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
@pytest.mark.parametrize("name", WRITING)
def test_signal_at_any_moment_leaves_all_or_nothing(
    name: str,
    number: signal.Signals,
    planted: Path,
    completed: Callable[[str], tuple[Interrupt, float]],
    tmp_path: Path,
) -> None:
    """From the first import to the last byte: a signal ends the command, and leaves no half."""
    complete, took_s = completed(name)
    assert complete.code == 0, complete.said
    random_moments = random.Random(f"{name} {number}")
    for trial in range(int(os.environ.get("POOLER_INTERRUPTS", "1"))):
        moment = random_moments.uniform(0.0, took_s)
        second = moment + random_moments.choice((0.001, 0.02, 0.2))
        ended = press(planted, tmp_path / str(trial), name, number, moment, second)
        check(name, ended, planted, complete, number, f"at {moment:.3f} s of {took_s:.3f}")
        if ended.code:
            verified = run_inside("verify", "--collection", tmp_path / str(trial) / "collection.db")
            assert verified.code == 0, verified.err
            if name.startswith("pooler import "):  # called again, they do what was left
                folder = tmp_path / str(trial)
                again = run_and_press(folder, shlex.join(WRITING[name].words(folder)), number)
                assert (again.code, again.rows) == (0, complete.rows), again.said
        shutil.rmtree(tmp_path / str(trial))
