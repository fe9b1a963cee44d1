"""A collection checked against its own rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pooler.command import Place, command
from pooler.messages import progress, say
from pooler.result import Result
from pooler.tables import Column, Table
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.keeping.verify import Verified

    Checked: TypeAlias = str | Path | Collection
else:
    Checked = Place  # nothing of the database is loaded for a type


@command
def verify(collection: Checked) -> Verification:
    """Check the collection against its own rules.

    It checks the file and its references, digests of what was written, texts and their hashes, the
    scale, guidelines, judges, assignments, runs and rankings, pools, and the history of every
    judgement. Others may work on it meanwhile. The exit code is 1 if there is a fault.

    Example: pooler verify

    Raises
    ------
    StoreError
        If it cannot be opened at all, is not a collection, or has another schema. A damaged one may not open:
        then give its path.

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
