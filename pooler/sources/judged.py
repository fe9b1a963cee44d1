"""Judgements beside the runs they measure: levels, depths, pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from store.errors import ArgumentError, PoolerError
from store.grades.definition import QrelsDefinition
from store.judging.kinds import Voters
from store.records import Qrel, Scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.analysis.arrays import Grades, RankedDocuments
    from store.analysis.pools.contributions import FedPool
    from store.analysis.rankings import Depths, JudgedRankings

Level: TypeAlias = "int | str | None"
"""A grade, ``rigid`` or ``relaxed``; ``None`` = the relaxed one."""


def level_of_files(scale: Scale | None, level: Level) -> int:
    """Return the least relevant grade of files: 1, or the relaxed one of their scale."""
    if scale is not None:
        return QrelsDefinition().level_on(scale, level)
    if isinstance(level, str):
        hint = "--scale 0-3 or --scale ntcir declares it; or --level N"
        raise ArgumentError("level", "needs a declared scale to be rigid or relaxed", level, hint=hint)
    return 1 if level is None else level


@dataclass(frozen=True, slots=True)
class GivenQrels:
    """One grade a document, as a maker of qrels reads them."""

    name: str
    rows: Sequence[Qrel]
    level: int
    """Least grade that is relevant."""
    pooled: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By topic, documents that were pooled and have no grade."""
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By topic and docno why documents that somebody looked at have no grade: skipped, cannot, undecided."""
    untold: Sequence[int] = ()
    """Codes below -1 without a declared meaning; they are among the grades."""
    voters: Voters = field(default_factory=Voters)
    """Whose judgements these are; for files unknown."""


def code_words(codes: Iterable[int]) -> str:
    """Name codes, as `code -1` or `codes -3, -2`."""
    found = sorted(codes)
    return f"code{'s' * (len(found) > 1)} {', '.join(map(str, found))}"


@dataclass(frozen=True, slots=True)
class Judged:
    """Runs, the qrels they are measured with, and what counts as relevant."""

    ranked: RankedDocuments
    qrels: Sequence[Qrel]
    level: int
    grades: Grades | None = None
    """Instead of `qrels`, which are empty then, where no docno is needed; see `by_topic`."""
    pools: tuple[FedPool, ...] = ()
    """The collection's depth pools, withdrawn ones left out; none for bare files."""
    feeding: tuple[str, ...] = ()
    """Tags of the runs that contribute to pools, in order; not told where `grades` are given."""
    tells_feeding: bool = True
    """Whether somebody said which runs contribute; run files without a list that says so do not."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group of each run, by its tag; empty = none. Not told where `grades` are given."""
    voters: Voters = field(default_factory=Voters)
    """Whose judgements these are, and who was left out; for files unknown."""
    files: Mapping[str, str] = field(default_factory=dict)
    """File of each run, by its tag; empty for a collection."""
    pooled: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """By topic, documents that were pooled and have no grade."""
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """As of `GivenQrels`; not told where `grades` are given."""
    given: GivenQrels | None = None
    """What `qrels` are of where they are of files; ``None`` = a collection."""
    emptied: tuple[str, ...] = ()
    """Topics without a judgement that was not made before; see `pooler.sources.residual`."""

    def by_topic(self) -> Grades:
        """Return the grades by topic and document id."""
        from store.analysis.arrays import grades_by_topic

        return grades_by_topic(self.ranked, self.qrels) if self.grades is None else self.grades

    def depths(self, depth: int | None, arrays: JudgedRankings) -> Depths:
        """Return the depth that was given, or that of every run in every topic, one number where they agree.

        `PoolerError` where none is given and no pool is a depth pool; see `depths_fed`.
        """
        from store.analysis.pools.contributions import depths_fed

        if depth is None and self.pools:
            return depths_fed(self.pools, arrays.tags, arrays.topics)
        return only_depth(frozenset()) if depth is None else depth


def only_depth(depths: Set[int], option: str = "depth") -> int:
    """Return the depth of the pools, if they have one, else raise `PoolerError`.

    `option` states it, or with ``rank`` the rank below it.
    """
    if len(depths) == 1:
        return next(iter(depths))
    known = ", ".join(map(str, sorted(depths)))
    message = f"the pools have the depths {known}" if known else "how deep is the pool?"
    guess = "" if known else "; pooler diagnose says what the judgements look like"
    deep = max(depths, default=10)
    hint = f"--rank {deep + 1}" if option == "rank" else f"--depth {deep}"
    where = f"where the pool has the first {deep} documents of each run: those at rank {deep + 1}"
    raise PoolerError(message, hint=f"{hint} {where} are taken to be relevant{guess}")
