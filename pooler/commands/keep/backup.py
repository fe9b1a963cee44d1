"""A collection saved as one file, made of one again, migrated, and checked against its own rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pooler.command import Option, Place, command, screen
from pooler.messages import progress, say
from pooler.result import Done, Result, frozen_settings
from pooler.tables import Column, Table
from store.text import counted


@command
def backup(
    collection: Place,
    file: Annotated[str | Path, Option("FILE", "The backup: a new file.")],
    *,
    replace: bool = False,
) -> Done:
    """Save the whole collection as one file, while judges work.

    The file is checked once written and sealed with a checksum; it appears whole or not at all. It has
    every judgement saved before it was started. (A file copied by hand may lack the latest judgements.)
    `pooler restore FILE` turns it into a collection again.

    Example: pooler backup monday.backup

    replace : Replace FILE, if it is an earlier backup of this collection.
    """
    from store.db.engine import collection_url, display
    from store.keeping.backup import back_up

    url = collection_url(str(collection))
    made = back_up(url, Path(file), replaces=replace, progress=progress)
    size = f"{made.n_bytes / 1e6:,.1f} MB"
    say(f"{file}: {counted(made.n_events, 'judgement event')}, {size}; checked and sealed")
    say(f"to restore: pooler restore {file} --collection {display(url)} --replace")
    return Done(counts=frozen_settings(events=made.n_events, bytes=made.n_bytes))


@command
def restore(
    collection: Place,
    file: Annotated[str | Path, Option("FILE", "A backup; it stays as it is.")],
    *,
    replace: bool = False,
    with_erased: bool = False,
) -> Done:
    """Make a collection from a backup: a new one, or in place of one.

    A collection moves to a server, or back to a file, by `pooler backup` at the one and `pooler restore`
    at the other, whose postgresql:// URL is --collection. The backup is checked first. With --replace the
    existing collection is saved as FILE.replaced; a damaged one is set aside as it is, as FILE.damaged.
    No judge may be at work in it. A backup with judges who have been erased since is refused without
    --with-erased.

    Example: pooler restore friday.backup --collection again.db

    replace : Replace the existing collection, after saving it next to itself.
    with_erased : Bring back judges who have been erased since.
    """
    from store.db.engine import collection_url, display
    from store.keeping.backup import restore as make

    url = collection_url(str(collection))
    done = make(Path(file), url, replaces=replace, with_erased=with_erased, progress=progress)
    say(f"{display(url)}: {counted(done.backup.n_events, 'judgement event')} of {file}")
    if done.was_damaged:
        say(f"what was there is damaged; it is kept as it was in {done.kept}")
    elif done.kept is not None:
        say(f"what was there is saved in {done.kept}")
    return Done(counts=frozen_settings(events=done.backup.n_events, kept=done.kept))


@screen
def upgrade(collection: Place, *, no_backup: bool = False) -> None:
    """Back up a collection and migrate it to this program's schema.

    The backup of a collection file is FILE.SCHEMA.backup beside it, checked before the first step
    (pooler restore turns it into a collection again). All steps are taken, or none. A collection on a
    server is backed up by the server's own tools: pg_dump, and then --no-backup here. What pooler 0.2.0
    and earlier wrote is carried over by files: docs/upgrade.md.

    Example: pooler upgrade

    no_backup : Do not back up first, because pg_dump or you have done so. Required for a postgresql://
        collection.
    """
    from store.db.engine import collection_url, display
    from store.keeping.backup import upgrade as migrate

    url = collection_url(str(collection))
    done = migrate(url, backs_up=not no_backup, progress=progress)
    kept = f"; the old state is in {done.backup}" if done.backup else "; no backup was made"
    if done.before != done.after:
        say(f"{display(url)}: schema {done.before} -> {done.after}{kept}")
    else:
        say(f"{display(url)} is up to date (schema {done.after})")


if TYPE_CHECKING:
    from store.collection import Collection
    from store.keeping.verify import Verified

    Checked: TypeAlias = str | Path | Collection
else:
    Checked = Place  # nothing of the database is loaded for a type


@command
def verify(collection: Checked) -> Verification:
    """Check the collection against its own rules.

    Checked are the file and its references, digests of what was written, texts and their hashes, the
    scale, guidelines, judges, assignments, runs and rankings, pools, and the history of every
    judgement. Others may work on it meanwhile. The exit code is 1 when there is a fault.

    Example: pooler verify

    Raises
    ------
    StoreError
        If it cannot be opened at all, is no collection, or of another schema. One that is damaged may not
        open, and is checked by its name.

    Notes
    -----
    Time grows with the rows of the collection.
    """
    from store.db.engine import collection_url, display
    from store.keeping.verify import verify as check

    if isinstance(collection, str | Path):
        url = collection_url(str(collection))
        checks = check(url, progress=progress)
    else:
        url = collection_url(collection.where)
        checks = collection.verify(progress=progress)
    found = Verification(checks=tuple(checks), where=display(url))
    if found.n_faults:
        say(f"{found.where} has {counted(found.n_faults, 'fault')}")
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Verification(Result):
    """What every check found; table `verify`."""

    checks: tuple[Verified, ...]
    where: str
    """The file, or the URL without its password."""

    @property
    def n_faults(self) -> int:
        """Faults of all checks."""
        return sum(one.n_faults for one in self.checks)

    def facts(self) -> Mapping[str, Any]:
        """Return how many faults there are."""
        return {"faults": self.n_faults}

    @property
    def exit_code(self) -> int:
        """1 where there is a fault."""
        return int(self.n_faults > 0)

    def _tables(self) -> Iterator[Table]:
        notes = [line for one in self.checks for line in _in_words(one)] or ["no fault found"]
        columns = {
            Column("check"): [one.name for one in self.checks],
            Column("what"): [one.what for one in self.checks],
            Column("checked", "int"): [one.n_checked for one in self.checks],
            Column("faults", "int"): [one.n_faults for one in self.checks],
            Column("examples", show="never"): ["; ".join(one.examples) or None for one in self.checks],
            Column("advice", show="never"): [one.advice if one.n_faults else None for one in self.checks],
        }
        yield Table.of_columns("verify", columns, title=f"verify ({self.where})", notes=notes)


def _in_words(one: Verified) -> Iterator[str]:
    if not one.n_faults:
        return
    yield from (f"{one.name}: {example}" for example in one.examples)
    if more := one.n_faults - len(one.examples):
        yield f"{one.name}: and {more:,} more"
    yield f"  what to do: {one.advice}"
