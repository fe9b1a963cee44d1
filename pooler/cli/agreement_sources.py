"""What `pooler agreement` measures: the judges of a collection, or files, a judge each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pooler.cli.console import progress
from pooler.cli.erased import erased_words
from pooler.cli.judged_files import STDIN, fill, is_file, read_files, scale_of
from pooler.cli.options import DEFAULT_COLLECTION
from pooler.cli.runs_given import entries_of, read_entry
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from pooler.cli.agreement_settings import Judged
    from pooler.cli.judgement_reading import Reading
    from store.arrays import RankedDocuments
    from store.ranking import Order
    from store.records import Run, Scale


@dataclass(frozen=True, slots=True)
class Runs:
    """What is said of the runs whose order is compared."""

    order: Order
    files: Sequence[str]
    listed: str | None
    """A list of run files."""
    wanted: bool


@dataclass(frozen=True, slots=True)
class Source:
    """Where judgements come from, and runs."""

    judged: Judged
    scale: Scale
    ranked: Callable[[], RankedDocuments]
    names: Sequence[str] | None
    """Judges that were asked for; ``None`` = all."""
    are_files: bool
    erased: Callable[[], str] = str
    """Says how much of erased judges is gone; empty where nothing is."""


@contextmanager
def measured(
    names: Sequence[str],
    reading: Reading,
    runs: Runs,
    *,
    collection: str,
    is_chosen: bool,
    has_reading: bool,
) -> Iterator[Source]:
    """Open the collection, or read the files.

    Parameters
    ----------
    names : sequence of str
        The arguments: judges or files.
    reading : Reading
        How files are read.
    runs : Runs
        Which runs, where their order is wanted.
    collection : str
        Its file or URL.
    is_chosen : bool
        Whether it was named on the command line.
    has_reading : bool
        Whether rigid or relaxed relevance is asked for, which a declared scale alone tells.

    Raises
    ------
    ArgumentError, PoolerError
        If options are of the one way and arguments of the other, or are at fault in themselves.
    """
    if _are_files(names, collection, is_chosen=is_chosen):
        yield _from_files(names, reading, runs, has_reading=has_reading)
        return
    reading.refuse()
    for option, value in (("--run", runs.files), ("--runs", runs.listed)):
        if value:
            requirement = "is for files; a collection has runs of its own"
            raise ArgumentError(option, requirement, str(value))
    _check_there(names, collection)
    from store.collection import Collection

    with Collection(collection) as opened:
        yield Source(opened, opened.scale, lambda: opened.ranked_documents(order=runs.order),
                     names or None, are_files=False,
                     erased=lambda: erased_words(opened))  # fmt: skip


def _are_files(names: Sequence[str], collection: str, *, is_chosen: bool) -> bool:
    """Say whether arguments are files; refuse those that may be judges as well."""
    if is_chosen:
        return False
    found = [name for name in names if _is_named_file(name)]
    if not found:
        return False
    others = [name for name in names if name not in found]
    if others:
        message = f"{others[0]} is no file, and {found[0]} is one"
        hint = f"name files alone; --collection {collection} says that they are judges"
        raise PoolerError(message, hint=hint)
    words = [name for name in found if Path(name).name == name and not _has_file_shape(name)]
    if words and _is_there(collection):
        message = f"`{words[0]}` may be a judge of {collection} or a file"
        hint = f"./{words[0]} is the file; --collection {collection} says that they are judges"
        raise PoolerError(message, hint=hint)
    return True


def _is_named_file(name: str) -> bool:
    """Say whether an argument is a file or ``NAME=FILE``."""
    _, sign, file = name.partition("=")
    return is_file(name) or (bool(sign) and is_file(file))


def _has_file_shape(name: str) -> bool:
    """Say whether a word looks like the name of a file rather than that of a judge."""
    return name == STDIN or "=" in name or bool(Path(name).suffix)


def _is_there(collection: str) -> bool:
    """Say whether there is a collection; a URL is believed."""
    return "://" in collection or Path(collection).exists()


def _check_there(names: Sequence[str], collection: str) -> None:
    """Raise `PoolerError` where an argument is no file and there is nothing else it could be."""
    if names and collection == DEFAULT_COLLECTION and not _is_there(collection):
        message = f"{names[0]}: there is no such file, and no {collection} with judges either"
        raise PoolerError(message, hint="name files of judgements; or pooler init")


def _from_files(names: Sequence[str], reading: Reading, runs: Runs, *, has_reading: bool) -> Source:
    """Read files of judgements, and runs where they are wanted."""
    from store.arrays import RankedDocuments, ranked_documents
    from store.file_votes import FileVotes

    if has_reading and reading.scale is None:
        hint = "--scale 0-3 declares it; or --level N"
        raise ArgumentError("--rigid", "and --relaxed need a declared scale", None, hint=hint)
    ranked = RankedDocuments((), {}, {}, {})
    if runs.wanted:
        entries = entries_of(runs.files, runs.listed)
        if not entries:
            message = "--matters compares the order of runs, and no run is named"
            raise PoolerError(message, hint="--run FILE, once for each; or --runs LIST")

        def read() -> Iterator[Run]:
            with progress("runs", len(entries)) as advance:
                for entry in entries:
                    yield read_entry(entry, lenient=reading.lenient)
                    advance(1)

        ranked = ranked_documents(read(), order=runs.order)
    votes = FileVotes(ranked.ids)
    files = read_files(names, reading, votes)
    scale = scale_of(files, reading)
    fill(votes, files, scale, reading)
    return Source(votes, scale, lambda: ranked, None, are_files=True)
