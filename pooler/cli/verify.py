"""`pooler verify`: a collection checked against its own rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pooler.cli.console import Column, ExitCode, Format, Table, counted, emit, progress, say
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption

if TYPE_CHECKING:
    from store.verification import Verified

COLUMNS = (
    Column("check"),
    Column("what"),
    Column("checked"),
    Column("faults"),
    Column("examples"),
    Column("advice"),
)


def verify(
    fmt: FormatOption = Format.TABLE, collection: CollectionOption = DEFAULT_COLLECTION
) -> None:
    """Check the collection against its own rules, and say what to do about each fault.

    The file and its references, every value, the scale, guidelines, judges, sittings, places,
    texts and their hashes, runs and rankings, pools, and the history of every judgement. Others may
    work on it meanwhile. What killed commands left beside it is named. The exit code is 1 when
    there is a fault.

    Example: pooler verify --collection wine.db
    """
    from store.database import collection_url, display
    from store.leftovers import leftovers
    from store.sanitise import sanitise_line
    from store.verification import verify as check
    from store.whole_files import real_place

    url = collection_url(collection)
    results = check(url, progress=progress)
    n_faults = sum(one.n_faults for one in results)
    if fmt is Format.TABLE:
        table = Table("verify", COLUMNS[:4], title=f"verify ({display(url)})")
        table.caption = "\n".join(line for one in results for line in _in_words(one))
        table.caption = table.caption or "no fault found"
    else:
        table = Table("verify", COLUMNS)
    for one in results:
        table.rows.append(
            {
                "check": one.name,
                "what": one.what,
                "checked": one.n_checked,
                "faults": one.n_faults,
                "examples": "; ".join(one.examples) or None,
                "advice": one.advice if one.n_faults else None,
            }
        )
    emit([table], fmt)
    if url.get_backend_name() == "sqlite":
        for left in leftovers(real_place(Path(url.database or "")).parent):
            say(f"note: {sanitise_line(left.told)}")
    if n_faults:
        say(f"{display(url)} has {counted(n_faults, 'fault')}")
        raise typer.Exit(ExitCode.DATA)


def _in_words(one: Verified) -> list[str]:
    """Say the faults of a check, and what to do about them."""
    if not one.n_faults:
        return []
    more = one.n_faults - len(one.examples)
    lines = [f"{one.name}: {example}" for example in one.examples]
    if more:
        lines.append(f"{one.name}: and {more:,} more")
    return [*lines, f"  what to do: {one.advice}"]
