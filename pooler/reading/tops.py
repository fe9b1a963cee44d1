"""Step 4, for a pool: the first documents of each topic. Docnos are made of no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.reading.blocks import WholeRanking, read_each
from pooler.reading.docnos import column_of
from pooler.reading.fields import DOCNO, SuspicionError
from pooler.reading.parallel import share_files
from pooler.reading.run_list import RunEntry, as_entries
from store.errors import ArgumentError, PoolerError
from store.ranking import check_order, compared_scores, rank_order, ties_at_cut
from store.records import Order, Ranking, Run


@dataclass(frozen=True, slots=True)
class TopRanking:
    """The first documents of one run for one topic, in little memory."""

    packed_docnos: bytes
    """Docnos in UTF-8, joined by newlines; empty when there is none."""
    packed_scores: bytes | None
    """Scores as float64 of this machine; ``None`` = not kept."""
    n_documents: int
    """Of the whole ranking."""
    n_tied_in: int = 0
    """Documents taken that tie with one not taken: equal scores, or ranks where these order the run."""
    n_tied_out: int = 0
    """Not taken that tie with the last one taken; both are 0, or neither."""

    @staticmethod
    def of(
        docnos: Sequence[str], scores: NDArray[np.float64] | None, n_documents: int, *n_tied: int
    ) -> TopRanking:
        """Pack docnos, none of them empty or with a newline in it, and scores."""
        packed_scores = None if scores is None else scores.astype(np.float64).tobytes()
        return TopRanking("\n".join(docnos).encode(), packed_scores, n_documents, *n_tied)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle in little time and few bytes."""
        return TopRanking, tuple(getattr(self, name) for name in self.__slots__)

    def __len__(self) -> int:
        return self.packed_docnos.count(b"\n") + 1 if self.packed_docnos else 0

    @property
    def docnos(self) -> list[str]:
        """Docnos in rank order; unpacked anew each time."""
        return self.packed_docnos.decode().split("\n") if self.packed_docnos else []

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores in rank order, shape (len(self),), read-only; `ArgumentError` if not kept."""
        if self.packed_scores is None:
            raise ArgumentError("with_scores", "must be true to have scores", got=False)
        return np.frombuffer(self.packed_scores, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RunTop:
    """The first documents of one run, topic by topic."""

    tag: str
    file: str
    sha256: str
    """Hash of the whole file, uncompressed."""
    depth: int
    order: Order
    topics: dict[str, TopRanking]
    """By topic id, in file order."""
    n_lines: int
    """Lines of the file that name a document; the sum of `TopRanking.n_documents`."""
    group: str = ""
    contributes: bool = True


@dataclass(frozen=True, slots=True)
class TieAtCut:
    """Documents of one topic that tie across the cut, so that a tie rule decided."""

    tag: str
    topic: str
    n_in: int
    n_out: int


def take_top(
    ranking: WholeRanking | Ranking, *, depth: int, order: Order, file: str, with_scores: bool = True
) -> tuple[str, TopRanking]:
    """Return the topic of a ranking and its first documents; `ArgumentError`: its ranks order nothing."""
    scores, ranks = ranking.scores, None
    docnos = ranking.column(DOCNO) if isinstance(ranking, WholeRanking) else column_of(ranking.docnos)
    if order == "rank" and (ranks := ranking.ranks) is None:
        if isinstance(ranking, WholeRanking):
            raise SuspicionError("a stated rank")
        hint = f"run `{file}` has no such ranks in topic `{ranking.topic}`"
        raise ArgumentError("order", "needs stated ranks that are integers", order, hint=hint)
    first: slice | NDArray[np.int64] = slice(depth)
    tied = 0, 0
    if not is_ranked(scores, order):
        compared = compared_scores(scores, order)
        # The complement reverses the order of all integers, where the minus sign overflows.
        rows = _can_be_first(compared if ranks is None else ~ranks, depth)
        of_rows = None if ranks is None else ranks[rows]
        places = rows[rank_order(docnos[rows], scores[rows], of_rows, order=order)]
        first = places[:depth]
        tied = ties_at_cut(compared[places] if ranks is None else ranks[places], depth)
    packed_scores = scores[first].tobytes() if with_scores else None
    return ranking.topic, TopRanking(docnos[first].packed(), packed_scores, len(docnos), *tied)


def _can_be_first(worth: NDArray[Any], depth: int) -> NDArray[np.int64]:
    """Return the lines that can be among the first `depth`, whatever a tie rule says."""
    place = worth.size - depth
    if place <= 0:
        return np.arange(worth.size)
    is_sorted = (worth[1:] <= worth[:-1]).all()
    return np.flatnonzero(worth >= (worth[depth - 1] if is_sorted else np.partition(worth, place)[place]))


def is_ranked(scores: NDArray[np.float64], order: Order) -> bool:
    """Return whether documents with these scores stand in rank order already, and none tie.

    ``False`` may mean that it is not known.
    """
    if order == "rank":
        return False
    compared = compared_scores(scores, order)
    return order == "file" or bool((compared[1:] < compared[:-1]).all())


def read_top(
    path: str,
    depth: int,
    *,
    order: Order = "trec",
    lenient: bool = False,
    with_scores: bool = True,
    titles: Mapping[str, str] | None = None,
) -> RunTop:
    """Read the first documents of every topic of a run file: as ``top_of(read_run(path), depth)``."""
    check_order(order)
    how: dict[str, Any] = {"depth": depth, "order": order, "file": PurePath(path).name}
    make = partial(take_top, with_scores=with_scores, **how)
    return _top_of(*read_each(path, make, lenient=lenient, titles=titles), depth, order)


def top_of(run: Run, depth: int, *, order: Order = "trec", with_scores: bool = True) -> RunTop:
    """Take the first documents of every topic of a run in memory, topics in the order of the run."""
    check_order(order)
    how: dict[str, Any] = {"depth": depth, "order": order, "file": run.file or run.tag}
    return _top_of(run, [take_top(one, with_scores=with_scores, **how) for one in run.rankings], depth, order)


def _top_of(run: Run, tops: list[tuple[str, TopRanking]], depth: int, order: Order) -> RunTop:
    n_lines = sum(top.n_documents for _, top in tops)
    facts = run.tag, run.file, run.sha256, depth, order, dict(tops), n_lines
    return RunTop(*facts, run.group, run.contributes)


def read_tops(
    runs: Sequence[str | RunEntry],
    depth: int,
    *,
    order: Order = "trec",
    lenient: bool = False,
    with_scores: bool = True,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[RunTop]:
    """Read the first documents of many run files, in their order, whatever the number of processes."""
    check_order(order)
    entries = as_entries(runs)
    task = partial(read_entry, depth=depth, order=order, lenient=lenient, with_scores=with_scores)
    files = [entry.file for entry in entries]
    outcomes = share_files(task, entries, files, workers=workers, progress=progress)
    failed = [(file, one) for file, one in zip(files, outcomes, strict=True) if isinstance(one, PoolerError)]
    if failed:
        raise first_error(failed)
    return [one for one in outcomes if isinstance(one, RunTop)]


def read_entry(entry: RunEntry, *, depth: int, order: Order, lenient: bool, with_scores: bool) -> RunTop:
    """Read the first documents of one run of a list."""
    how: dict[str, Any] = {"order": order, "lenient": lenient, "with_scores": with_scores}
    top = read_top(entry.file, depth, titles=entry.titles, **how)
    entry.check_tag(top.tag)
    return replace(top, group=entry.group, contributes=entry.contributes)


def first_error(failed: list[tuple[str, PoolerError]]) -> PoolerError:
    """Return the first of the errors of some files, with the names of the others in its hint."""
    (_, first), *others = failed
    if others:
        names = ", ".join(f"`{file}`" for file, _ in others[:10])
        if len(others) > 10:
            names += f" and {len(others) - 10} more"
        hint = f"cannot be read either: {names}"
        first.hint = f"{first.hint}; {hint}" if first.hint else hint
    return first
