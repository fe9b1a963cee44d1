"""Backups: whole or not at all, while others judge; and what becomes of them again."""

from __future__ import annotations

import contextlib
import multiprocessing
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.db.engine import collection_url
from store.db.files import seal_fault
from store.errors import SchemaError, StoreError
from store.keeping.backup import back_up, look_at_backup, restore
from store.keeping.verify import verify
from tests.helpers.world import JudgeAtWork, carry, change_stored, meanwhile, stored_rows
from tests.store.full_collection import fill, judge_to_file
from tests.strategies import examples

pytestmark = pytest.mark.slow

JUDGES = ("ann", "bob", "cy", "dee")
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.store.full_collection"])


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """Make a collection with a bit of everything."""
    fill(str(tmp_path / "full.db"))
    return tmp_path / "full.db"


def save(place: Path | str, file: Path, *, replaces: bool = False) -> Path:
    """Back a collection up."""
    return back_up(collection_url(str(place)), file, replaces=replaces).file


def bring(file: Path, place: Path, *, replaces: bool = False) -> Path | None:
    """Restore a backup; return the file that has what was there."""
    return restore(file, collection_url(str(place)), replaces=replaces).kept


def is_sealed(file: Path) -> bool:
    """Say whether a file is marked as sealed: by the application's id in the header of a SQLite file."""
    return file.read_bytes()[68:72] == b"pool"


def names(folder: Path) -> list[str]:
    """List a folder."""
    return sorted(path.name for path in folder.iterdir())


def events(name: str) -> set[tuple[str, str, int, int]]:
    """Return judge, docno, revision and grade of every graded event of topic 1."""
    with contextlib.closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True)) as connection:
        return set(
            connection.execute(
                "SELECT j.name, d.docno, e.revision, e.grade FROM judgement e"
                " JOIN judge j ON j.id = e.judge_id JOIN document d ON d.id = e.document_id"
                " WHERE e.grade IS NOT NULL AND e.topic_id = 1"
            )
        )


@contextlib.contextmanager
def four_judges(place: Path) -> Iterator[list[Path]]:
    """Let four processes judge; gives the files in which they note what was acknowledged."""
    stop = place.with_name("stop")
    told = [place.with_name(f"{judge}.told") for judge in JUDGES]
    at_work = [
        processes.Process(target=judge_to_file, args=(str(place), judge, str(file), str(stop)))
        for judge, file in zip(JUDGES, told, strict=True)
    ]
    for one in at_work:
        one.start()
    try:
        end = time.monotonic() + 30
        while not all(file.exists() and file.stat().st_size for file in told):
            assert time.monotonic() < end
            time.sleep(0.01)
        yield told
    finally:
        stop.touch()
        for one in at_work:
            one.join(30)
    assert [one.exitcode for one in at_work] == [0] * len(JUDGES)


def acknowledged(told: list[Path]) -> set[tuple[str, str, int, int]]:
    """Read what was acknowledged so far."""
    found = set()
    for file in told:
        whole = file.read_text("utf-8").rpartition("\n")[0]
        for line in whole.splitlines():
            judge, docno, revision, grade = line.split()
            found.add((judge, docno, int(revision), int(grade)))
    return found


def check_backups_at_work(full: Path, n_backups: int) -> int:
    """Take backups while four processes judge; return how many events the last one has."""
    file = full.with_name("b.backup")
    with four_judges(full) as told:
        for number in range(n_backups):
            before = acknowledged(told)
            made = back_up(collection_url(str(full)), file, replaces=number > 0)
            after_at_most = stored_rows(str(full))["judgement"]
            held = events(str(file))
            assert before <= held
            assert len(held) <= len(after_at_most)
            assert is_sealed(file)
            assert seal_fault(file) is None
            assert not [one for one in verify(collection_url(str(file))) if one.n_faults]
            with Collection(str(file)) as opened:
                assert opened.name == "full"
    assert not list(full.parent.glob(".*"))
    return made.n_events


@pytest.mark.slow
def test_backups_hold_what_was_acknowledged_before(full: Path) -> None:
    """Each of 8 backups taken while 4 processes judge opens, verifies and lacks no judgement."""
    assert check_backups_at_work(full, 8) > 100


@pytest.mark.long
def test_a_hundred_backups_hold_what_was_acknowledged_before(full: Path) -> None:
    """The same of 100 backups."""
    assert check_backups_at_work(full, 100) > 1000


def test_backup_is_of_the_moment_it_began(full: Path) -> None:
    """What is committed after the first look is not in it, not even in part."""
    before = stored_rows(str(full))

    def judge() -> None:
        with Collection(str(full)) as opened:
            JudgeAtWork(opened.desk("dee"), "1").grade("d05", 1)

    with meanwhile("count(*) FROM collection", judge):
        save(full, full.with_name("b.backup"))
    assert stored_rows(str(full.with_name("b.backup"))) == before
    assert stored_rows(str(full)) != before


def test_backup_from_a_server(full: Path, postgres_url: str) -> None:
    """A backup of a PostgreSQL collection is the same file's worth of rows, and can be restored."""
    carry(str(full), postgres_url)
    file = save(postgres_url, full.with_name("b.backup"))
    assert stored_rows(str(file)) == stored_rows(str(full))
    assert is_sealed(file)
    change_stored(postgres_url, "UPDATE collection SET name = 'renamed'")
    with pytest.raises(StoreError, match="backup of another collection, `full`"):
        save(postgres_url, file, replaces=True)
    bring(file, full.with_name("new.db"))
    assert stored_rows(str(full.with_name("new.db"))) == stored_rows(str(full))


@pytest.mark.slow
def test_restored_to_a_server(full: Path, postgres_url: str) -> None:
    """A backup is restored into an empty database, and not into one that has a collection."""
    file = save(full, full.with_name("b.backup"))
    restore(file, collection_url(postgres_url))
    with Collection(postgres_url) as there, Collection(str(full)) as here:
        assert sorted(there.judgements.current(), key=repr) == sorted(here.judgements.current(), key=repr)
    with pytest.raises(StoreError, match="already holds"):
        restore(file, collection_url(postgres_url))
    with pytest.raises(StoreError, match="only a collection file can be replaced") as told:
        restore(file, collection_url(postgres_url), replaces=True)
    assert told.value.hint == "pooler backup saves it; restore into an empty database"


@pytest.mark.slow
def test_what_is_no_backup_stays(full: Path) -> None:
    """A file that is there stays, unless it is an earlier backup of the same collection."""
    file, other = full.with_name("b.backup"), full.with_name("other.db")
    save(full, file)
    fill(str(other), seed=2)
    change_stored(str(other), "UPDATE collection SET name = 'other'")
    notes = full.with_name("notes.txt")
    notes.write_text("by hand " * 50)
    empty = full.with_name("empty")
    empty.touch()
    with pytest.raises(StoreError, match="already exists"):
        save(full, file)
    before = {path.name: path.read_bytes() for path in full.parent.iterdir()}
    for there, why in ((other, "a backup of another collection, `other`"),
                       (notes, "is no backup"), (empty, "is no backup"),
                       (full, "is the collection itself")):  # fmt: skip
        with pytest.raises(StoreError, match=why):
            save(full, there, replaces=True)
    assert {path.name: path.read_bytes() for path in full.parent.iterdir()} == before
    for place in (full.with_name("no") / "b", full.parent):
        with pytest.raises(StoreError, match="cannot be written"):
            save(full, place)
    save(full, file, replaces=True)


def test_more_judgements_are_never_replaced_by_fewer(full: Path) -> None:
    """A file with more judgement events than the collection is not taken for an old backup."""
    file = save(full, full.with_name("b.backup"))
    with Collection(str(file)) as worked_on:
        JudgeAtWork(worked_on.desk("dee"), "1").grade("d05", 1)
    with pytest.raises(StoreError, match="has 1 judgement events more"):
        save(full, file, replaces=True)


def test_damaged_text_is_not_saved(full: Path) -> None:
    """A text that is not what its hash says is not sealed, and a good backup stays."""
    file = save(full, full.with_name("b.backup"))
    before = file.read_bytes()
    with contextlib.closing(sqlite3.connect(full)) as connection:
        connection.execute("UPDATE document SET text = x'6261' WHERE docno = 'd03'")
        connection.commit()
    with pytest.raises(StoreError, match="`d03` has another title or text") as told:
        save(full, file, replaces=True)
    assert "nothing was saved" in (told.value.hint or "")
    with pytest.raises(StoreError, match="damaged"):
        save(full, full.with_name("c.backup"))
    assert names(full.parent) == ["b.backup", "full.db"]
    assert file.read_bytes() == before
    aside = bring(file, full, replaces=True)
    assert aside is not None
    assert b"ba" in {row[4] for row in stored_rows(str(aside))["document"]}


def test_backup_that_is_worked_on_is_no_longer_sealed(full: Path) -> None:
    """Reading a backup changes no byte of it; the first event takes the seal off."""
    file = save(full, full.with_name("b.backup"))
    before = file.read_bytes()
    with Collection(str(file)) as opened:
        assert opened.judgements.current()
    assert file.read_bytes() == before
    with Collection(str(file)) as opened:
        JudgeAtWork(opened.desk("dee"), "1").grade("d05", 1)
        assert not [one for one in verify(collection_url(str(file))) if one.n_faults]
    assert not is_sealed(file)
    assert not [one for one in verify(collection_url(str(file))) if one.n_faults]


def test_restored_collection_is_the_one_that_was_saved(full: Path) -> None:
    """A restored collection has every row, is not sealed, and can be worked on."""
    file, new = save(full, full.with_name("b.backup")), full.with_name("new.db")
    assert bring(file, new) is None
    assert stored_rows(str(new)) == stored_rows(str(full))
    assert not is_sealed(new)
    with Collection(str(new)) as opened:
        JudgeAtWork(opened.desk("dee"), "1").grade("d05", 1)
    assert is_sealed(file)
    assert seal_fault(file) is None
    with pytest.raises(StoreError, match="already exists"):
        bring(file, new)


def test_what_is_replaced_is_saved_first(full: Path) -> None:
    """Restoring over a collection keeps what was there, its latest judgement too."""
    file = save(full, full.with_name("b.backup"))
    saved = stored_rows(str(full))
    with Collection(str(full)) as opened:
        sitting = JudgeAtWork(opened.desk("dee"), "1")
        sitting.grade("d05", 1)
        with pytest.raises(StoreError, match="`dee` may be judging"):
            bring(file, full, replaces=True)
        sitting.desk.leave()
        worked = stored_rows(str(full))
        # Whoever has it open goes on with what was restored.
        kept = bring(file, full, replaces=True)
        assert len(opened.judgements.current()) > 0
        assert stored_rows(str(full)) == saved
    assert kept == full.with_name("full.db.replaced")
    assert stored_rows(str(kept)) == worked
    assert bring(kept, full, replaces=True) == full.with_name("full.db.replaced-2")
    assert stored_rows(str(full)) == worked
    assert not is_sealed(full)
    assert not [one for one in verify(collection_url(str(full))) if one.n_faults]


def test_damaged_collection_is_put_aside(full: Path) -> None:
    """A collection that cannot be read gives way to its backup, and stays beside it as it was."""
    file, saved = save(full, full.with_name("b.backup")), stored_rows(str(full))
    damaged = full.read_bytes()[:20_000]
    full.write_bytes(damaged)
    with pytest.raises(StoreError, match="already exists"):
        bring(file, full)
    kept = bring(file, full, replaces=True)
    assert kept == full.with_name("full.db.damaged")
    assert kept.read_bytes() == damaged
    assert stored_rows(str(full)) == saved


def test_erased_judge_comes_back_only_when_asked(full: Path) -> None:
    """A backup with judges who were erased since replaces nothing without `with_erased`."""
    file = save(full, full.with_name("b.backup"))
    with Collection(str(full)) as opened:
        opened.erasures.erase("ann")
    before = stored_rows(str(full))
    with pytest.raises(StoreError, match="still has 1 judge who was erased in") as told:
        bring(file, full, replaces=True)
    assert "pooler judges erase NAME" in (told.value.hint or "")
    assert stored_rows(str(full)) == before
    bring(save(full, full.with_name("c.backup")), full, replaces=True)
    restore(file, collection_url(str(full)), replaces=True, with_erased=True)
    with Collection(str(full)) as opened:
        assert "ann" in {judge.name for judge in opened.judges.all()}


def test_database_of_something_else_is_not_replaced(full: Path) -> None:
    """Another program's database stays where it is."""
    file, other = save(full, full.with_name("b.backup")), full.with_name("other.db")
    with contextlib.closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE shelf (book TEXT)")
    before = other.read_bytes()
    with pytest.raises(SchemaError, match="a database of another program"):
        bring(file, other, replaces=True)
    with pytest.raises(SchemaError, match="is not a pooler collection"):
        bring(other, full.with_name("new.db"))
    assert other.read_bytes() == before


def test_left_over_log_is_not_played_into_a_restored_file(full: Path) -> None:
    """The log of a collection that was moved away is named, and nothing is put beside it."""
    file, new = save(full, full.with_name("b.backup")), full.with_name("new.db")
    new.with_name("new.db-wal").write_bytes(b"x" * 5000)
    with pytest.raises(StoreError, match=r"new.db-wal was left by another collection"):
        bring(file, new)
    assert not new.exists()


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a backup for the tests that damage copies of it."""
    folder = tmp_path_factory.mktemp("sealed")
    fill(str(folder / "full.db"))
    return save(folder / "full.db", folder / "b.backup")


@settings(max_examples=examples(20))
@given(data=st.data())
def test_every_flipped_bit_of_a_backup_is_seen(sealed: Path, data: st.DataObject) -> None:
    """A backup with any one bit flipped is refused, and makes no collection."""
    content = bytearray(sealed.read_bytes())
    bit = data.draw(st.integers(0, len(content) * 8 - 1))
    content[bit // 8] ^= 1 << bit % 8
    damaged, new = sealed.with_name("damaged"), sealed.with_name("new.db")
    damaged.write_bytes(content)
    try:
        with pytest.raises(StoreError):
            bring(damaged, new)
        assert not new.exists()
    finally:
        for path in sealed.parent.glob("damaged*"):
            path.unlink()


@pytest.mark.parametrize("bit", [60 * 8, 63 * 8 + 7, *range(68 * 8, 72 * 8)])
def test_flipped_bit_of_the_seal_is_seen(sealed: Path, tmp_path: Path, bit: int) -> None:
    """The mark of the seal and its checksum confirm each other."""
    content = bytearray(sealed.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    (tmp_path / "damaged").write_bytes(content)
    with pytest.raises(StoreError, match=r"its seal is broken|its checksum does not match"):
        look_at_backup(tmp_path / "damaged")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_truncated_backup_is_refused(sealed: Path, tmp_path: Path, share: float) -> None:
    """A backup that ends too early is refused and makes no collection."""
    content = sealed.read_bytes()
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(StoreError):
        look_at_backup(damaged)
    with pytest.raises(StoreError):
        bring(damaged, tmp_path / "new.db")
    assert names(tmp_path) == ["damaged"]
