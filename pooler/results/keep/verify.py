"""A collection checked against its own rules, and what to do about each fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pooler.messages import progress as shown_progress
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.table import Column, Table

if TYPE_CHECKING:
    from store.collection import Collection
    from store.keeping.verify import Verified


def verify(collection: str | Path | Collection, *, progress: Progress | None = None) -> Verification:
    """Check a collection against its own rules.

    Parameters
    ----------
    collection : str, Path or Collection
        Its file or URL, or the open collection; one that is damaged may not open, and is checked by
        its name. It is only read, and others may work on it.

    Returns
    -------
    Verification
        One check a row, the most basic first.

    Raises
    ------
    StoreError
        If it cannot be opened at all, is no collection, or of another schema.

    Notes
    -----
    Every reference, hash and digest, and the history of every judgement; time grows with the rows of
    the collection.
    """
    from store.db.engine import collection_url, display
    from store.keeping.verify import verify as check

    with collect_warnings(progress) as collected:
        if isinstance(collection, str | Path):
            url = collection_url(str(collection))
            checks = check(url, progress=shown_progress)
        else:
            url = collection_url(collection.where)
            checks = collection.verify(progress=shown_progress)
    return Verification(
        checks=tuple(checks), where=display(url), settings=frozen_settings(), warnings=collected.warnings
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Verification(Result):
    """What every check found; table `verify`."""

    checks: tuple[Verified, ...]
    where: str
    """The file, or the URL without its password."""

    NAMES: ClassVar[tuple[str, ...]] = ("verify",)

    @property
    def n_faults(self) -> int:
        """Faults of all checks."""
        return sum(one.n_faults for one in self.checks)

    def facts(self) -> Mapping[str, Any]:
        """Return how many faults there are."""
        return {"faults": self.n_faults}

    def _table(self, name: str) -> Table:
        notes = [line for one in self.checks for line in _in_words(one)] or ["no fault found"]
        columns = {
            Column("check"): [one.name for one in self.checks],
            Column("what"): [one.what for one in self.checks],
            Column("checked", "int"): [one.n_checked for one in self.checks],
            Column("faults", "int"): [one.n_faults for one in self.checks],
            Column("examples", show="never"): ["; ".join(one.examples) or None for one in self.checks],
            Column("advice", show="never"): [one.advice if one.n_faults else None for one in self.checks],
        }
        return Table.of_columns(name, columns, title=f"verify ({self.where})", notes=notes)


def _in_words(one: Verified) -> Iterator[str]:
    if not one.n_faults:
        return
    yield from (f"{one.name}: {example}" for example in one.examples)
    if more := one.n_faults - len(one.examples):
        yield f"{one.name}: and {more:,} more"
    yield f"  what to do: {one.advice}"
