"""Disks that are full, fail or are closed: what was told as saved is saved; files are whole or not there."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from errno import EIO, ENOSPC
from pathlib import Path

import pytest

from store.collection import Collection
from store.db.engine import collection_url
from store.db.files import SIDE_FILES, made_whole, place_beside
from store.errors import StoreError
from store.keeping.verify import verify
from tests.helpers.forked_pooler import forked_pooler
from tests.helpers.run import GARDEN, PROGRAM, run

SOURCE = Path(__file__).with_name("failing_io.c")
GRADES = 6
SAVED = re.compile(r"\(saved \d\d:\d\d:\d\d\)")


def pooler(
    folder: Path, *arguments: str, answers: str = "", environment: Mapping[str, str] | None = None,
    largest: int | None = None, program: Sequence[str | Path] = PROGRAM,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run the command line as a process, its files no larger than some bytes."""

    def limit() -> None:
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    return subprocess.run(
        [*program, *arguments],
        cwd=folder,
        input=answers,
        capture_output=True,
        text=True,
        # Python would cut the files that it keeps of modules at that size, too, and say nothing.
        env=dict(os.environ)
        | {"POOLER_COLLECTION": "c.db", "PYTHONDONTWRITEBYTECODE": "1"}
        | dict(environment or {}),
        preexec_fn=limit,
        timeout=120,
        check=False,
    )


def judge(folder: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Let ann grade documents of a script, each retried once where that fails."""
    answers = "2\nretry\n" * GRADES + "q\n"
    arguments = ("judge", "--judge", "ann", "--topic", "G01", "--plain")
    return pooler(folder, *arguments, answers=answers, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a collection with a pool and a judge, once."""
    folder = tmp_path_factory.mktemp("pooled")
    name = str(folder / "c.db")
    here = ["--collection", name]
    for command in (
        ["init", "--scale", "0-2"],
        ["import", "topics", str(GARDEN / "topics.jsonl")],
        ["import", "docs", str(GARDEN / "documents.jsonl"), "--all"],
        ["import", "runs", *map(str, sorted((GARDEN / "runs").glob("*.run")))],
        ["pool", "--depth", "5"],
        ["judges", "add", "ann"],
    ):
        assert run([*command, *here]) == 0
    return folder


def copied(pooled: Path, folder: Path) -> Path:
    """Copy the collection into a folder."""
    folder.mkdir(exist_ok=True)
    shutil.copy(pooled / "c.db", folder / "c.db")
    return folder


def check(folder: Path, *done: subprocess.CompletedProcess[str]) -> None:
    """Every fault was told in a line, none as damage, and the collection keeps its rules."""
    for one in done:
        told = one.stdout + one.stderr
        assert "Traceback" not in told
        assert "damaged" not in told, told
        assert one.returncode in (0, 1, 3), told
    assert not [one for one in verify(collection_url(str(folder / "c.db"))) if one.n_faults]


def decisions(folder: Path) -> int:
    """Count ann's decisions."""
    with Collection(str(folder / "c.db")) as collection:
        return len(collection.judgements.current(["ann"]))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of two megabytes; only an administrator may make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(made, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Leave a few kilobytes of a file system."""
    file = folder / "filling"
    room = shutil.disk_usage(folder).free - 8192
    file.write_bytes(bytes(max(room, 0)))
    return file


@pytest.mark.slow
def test_a_full_disk_is_called_full_and_judging_goes_on_when_it_is_not(
    small_disk: Path, pooled: Path, programs: Path
) -> None:
    """What was told as saved is in the collection; after some room is made the rest is saved."""
    copied(pooled, small_disk)
    filling = fill(small_disk)
    program = [programs / "pooler"]
    full = judge(small_disk, program=program)
    assert "the disk is full: " in full.stdout + full.stderr
    documents = str(GARDEN / "documents.jsonl")
    imported = pooler(small_disk, "import", "docs", documents, "--replace", program=program)
    backup = pooler(small_disk, "backup", "b.backup", program=program)
    filling.unlink()
    check(small_disk, full, imported, backup)
    assert decisions(small_disk) == len(SAVED.findall(full.stdout))
    again = judge(small_disk, program=program)
    check(small_disk, again)
    assert "disk" not in again.stdout + again.stderr
    assert decisions(small_disk) == len(SAVED.findall(full.stdout + again.stdout)) > 0


READING = (
    ("status",),
    ("show", "judges", "ann"),
    ("history",),
    ("evaluate", "-m", "AP", "--judge", "ann"),
    ("export", "qrels", "--judge", "ann"),
    ("verify",),
)


@pytest.mark.slow
@pytest.mark.parametrize("log", [False, True], ids=["closed", "killed"])
def test_on_a_full_disk_what_reads_reads(
    small_disk: Path, pooled: Path, programs: Path, tmp_path: Path, *, log: bool
) -> None:
    """As with room, to the byte; with the log of a program that was killed too."""
    folder = copied(pooled, tmp_path / "graded")
    program = [programs / "pooler"]
    judge(folder, program=program)
    if log:
        killed = (
            "import os, sqlite3; c = sqlite3.connect('c.db'); c.execute('PRAGMA wal_autocheckpoint = 0');"
            "c.execute('CREATE TABLE logged (a)'); c.execute('DROP TABLE logged'); os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", killed], cwd=folder, check=False)
    for name in ("c.db", "c.db-wal"):
        if (folder / name).exists():
            shutil.copy(folder / name, small_disk / name)
    (small_disk / "filling").write_bytes(bytes(shutil.disk_usage(small_disk).free))
    for command in READING:
        full, with_room = (pooler(one, *command, program=program) for one in (small_disk, folder))
        assert (full.returncode, full.stdout) == (with_room.returncode, with_room.stdout), full.stderr
    assert "the disk is full" in judge(small_disk, program=program).stdout
    (small_disk / "filling").unlink()
    assert SAVED.search(judge(small_disk, program=program).stdout)


@pytest.mark.slow
def test_a_limit_of_a_file_s_size_is_no_damage(tmp_path: Path, pooled: Path) -> None:
    """The hint names limits, as there is room on the disk."""
    folder = copied(pooled, tmp_path / "limited")
    size = (folder / "c.db").stat().st_size
    done = judge(folder, largest=20_000)
    assert "the disk took no more (SQLITE_" in done.stdout + done.stderr
    backup = pooler(folder, "backup", "b.backup", largest=size // 2)
    assert backup.returncode != 0
    assert not list(folder.glob("*backup*"))
    check(folder, done, backup)
    assert decisions(folder) == len(SAVED.findall(done.stdout))


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a `pooler` of which single calls can be made to fail."""
    folder = tmp_path_factory.mktemp("failing")
    built = folder / "failing.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", built, SOURCE, "-ldl"], check=True)
    with forked_pooler(folder, LD_PRELOAD=str(built)) as program:
        yield program


COMMANDS = {
    "sitting": (),
    "import": ("import", "judgements", str(GARDEN / "judgements" / "strict.qrels"), "--judge", "old"),
    "backup": ("backup", "c.db.saved"),
}


@pytest.mark.cc
@pytest.mark.slow
@pytest.mark.parametrize("error", [EIO, ENOSPC], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("what", COMMANDS)
def test_whichever_call_fails(
    what: str, error: int, failing: Path, pooled: Path, tmp_path: Path, every_call: int
) -> None:
    """A write, a synchronising, a cut: the n-th of a command fails, for every n-th of all."""

    def go(number: int) -> tuple[Path, subprocess.CompletedProcess[str]]:
        folder = copied(pooled, tmp_path / str(number))
        environment = {
            "FAIL_NAME": str(folder),
            "FAIL_AT": str(number),
            "FAIL_COUNT": str(tmp_path / "count"),
            "FAIL_ERROR": str(error),
        }
        if what == "sitting":
            return folder, judge(folder, environment=environment, program=[failing])
        return folder, pooler(folder, *COMMANDS[what], environment=environment, program=[failing])

    folder, whole = go(0)
    check(folder, whole)
    assert whole.returncode == 0
    n_calls = (tmp_path / "count").stat().st_size
    assert n_calls > 10
    n_failed = 0
    first = 1 if error == EIO or every_call == 1 else 1 + every_call // 2
    for number in range(first, n_calls + 1, every_call):
        folder, done = go(number)
        check(folder, done)
        said = len(SAVED.findall(done.stdout))
        if what == "sitting":
            assert decisions(folder) == said
        n_failed += done.returncode != 0 or "disk" in done.stdout
        shutil.rmtree(folder)
    assert n_failed > 0


@pytest.fixture(params=[28, pytest.param(1, marks=pytest.mark.long)], ids=["some", "all"])
def every_call(request: pytest.FixtureRequest) -> int:
    """Say how many calls go by between two that fail; one of each error is between two of the other."""
    return int(request.param)


# Modes do not bind an administrator who has all rights.
BOUND = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@pytest.fixture
def closed(judged: Path) -> Iterator[Path]:
    """Give a collection in a folder that is closed, beside one that is open."""
    if BOUND and not shutil.which("setpriv"):
        pytest.skip("an administrator cannot give up rights here")
    folder = judged / "closed"
    folder.mkdir()
    shutil.copy("collection.db", folder / "c.db")
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


def told_in(folder: Path, words: str) -> list[str]:
    """Run a command in the folder, and return what it says on stderr."""
    line = [*BOUND, *map(str, PROGRAM), *words.split()]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.stderr.splitlines()


@pytest.mark.slow
def test_the_folder_is_named_and_what_reads_goes_on(closed: Path) -> None:
    """SQLite would say that the file cannot be written, or not be opened."""
    (following,) = told_in(closed, "status --collection c.db")
    assert following.startswith("next: pooler ")
    assert told_in(closed, "judges add x --collection c.db") == [
        "error: c.db: its folder may be read but not written",
        f"hint: what only reads goes on; to write, chmod u+w {closed}, or pooler backup FILE and restore it"
        " elsewhere",
    ]
    refused = ["error: n.db: cannot be written: permission denied", "hint: name another file"]
    assert told_in(closed, "init --collection n.db") == refused
    assert told_in(closed, "restore ../collection.db --collection n.db") == refused
    assert told_in(closed, "restore c.db --collection n.db") == refused
    # The hint, typed.
    assert "checked and sealed" in told_in(closed, "backup ../c.backup --collection c.db")[0]


@pytest.mark.slow
def test_a_folder_that_takes_no_files_is_not_blamed_on_a_name_nobody_gave(judged: Path) -> None:
    """The error is of the file that was named."""
    assert told_in(judged, "backup /proc/b --collection collection.db")[0].startswith("error: /proc/b: ")


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit, OSError, GeneratorExit])
def test_failure_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    """However the block ends early, no file is left, and one that was there stays."""
    target = tmp_path / "b"
    target.write_text("before")

    def fail() -> None:
        with made_whole(target, replaces=True) as part:
            part.write_text("half")
            for name in SIDE_FILES:
                part.with_name(part.name + name).touch()
            raise failure

    with pytest.raises(failure):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert target.read_text() == "before"


def test_what_a_killed_command_left_is_removed_after_a_day(tmp_path: Path) -> None:
    """Of the same target alone."""
    target, yesterday = tmp_path / "b", time.time() - 90_000
    left, fresh, other = place_beside(target), place_beside(target), place_beside(tmp_path / "c")
    log = left.with_name(left.name + "-wal")
    for path in (left, log, fresh, other):
        path.touch()
    for path in (left, log, other):
        os.utime(path, (yesterday, yesterday))
    with pytest.raises(OSError, match="disk"), made_whole(target):
        raise OSError("disk")
    assert {*tmp_path.iterdir()} == {fresh, other}
    with made_whole(target) as part:
        part.write_text("whole")
    assert {*tmp_path.iterdir()} == {target, fresh, other}


def test_file_that_came_meanwhile_stays(tmp_path: Path) -> None:
    """What another process made under the name in the meantime is not replaced."""
    target = tmp_path / "b"

    def make() -> None:
        with made_whole(target) as part:
            part.write_text("ours")
            target.write_text("theirs")

    with pytest.raises(StoreError, match="was made by somebody else meanwhile"):
        make()
    assert target.read_text() == "theirs"
