"""Commands that write are killed (`kill -9`) at moments from a fixed seed, and then given again.

Imports, pools, backups, restores and exports, of a collection in a file and on a PostgreSQL server. After
each kill the collection and every file are as before the command or as after it (an import of run files does
whole files), and what the command said to be done is done; `pooler verify` finds nothing. The same command
then goes through, and everything is as if there had been no kill, with nothing left over from it. Forty kills
on each engine: `pytest -m long tests/keeping/test_killed_commands.py`, which prints its figures.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import re
import shlex
import shutil
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from sqlalchemy import text

from store.collection import Collection
from tests.helpers.postgres import empty_schema
from tests.helpers.run import environment, program, run_inside, write
from tests.helpers.saved_pages import block, record, save
from tests.helpers.world import carry, count_rows, engine_of

TOPICS = [f"T{number:02}" for number in range(10)]
N_DOCUMENTS, N_RANKED = 2000, 300
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
    write(folder / "more.jsonl", *(f'{{"topic": "M{n}", "title": "more {n}"}}' for n in range(2000)))
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
    if not count_rows(place) if "://" in place else not Path(place).exists():
        return []
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
        found = [line.strip() for line in COMMANDS.strip().splitlines()]
        if self._server is not None:  # only a file can be replaced
            found.remove("restore friday.backup --replace --collection HERE")
        return found

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
    "n_kills", [pytest.param(2, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.long)]
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
