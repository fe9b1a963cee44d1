"""What a report is made of: everything that is read and computed before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pooler.cli.report.commands import Commands
from pooler.results.printed import Cell, Table
from store.errors import PoolerError

if TYPE_CHECKING:
    from pooler.cli.source_options import GivenPrinted as Given
    from pooler.results.agree.agreement import Coefficients
    from pooler.results.source import Judged, Source
    from store.analysis.pools.diagnosis import Diagnosis
    from store.analysis.rankings import JudgedRankings
    from store.collection import Collection

JUDGED_AT = 10
LOW_DWELL = 1.0
"""What `pooler effort` takes for a low dwell, in seconds."""
MOST_WITH_INTERVALS = 45
"""Pairs of judges up to which the bootstrap of every pair is worth its time."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """What a collection has besides runs and judgements."""

    name: str
    grades: str
    """The scale in words."""
    pools: Table
    judges: Table
    progress: Table
    costs: Table
    agreement: Coefficients | None
    cross_tables: Table | None
    level: int
    """Least relevant grade of `agreement`."""
    kinds: Mapping[str, int]
    """Judges of each kind in `agreement`, where there are several kinds."""
    has_intervals: bool
    n_grades: int
    reason: str = ""
    """Why there is no agreement."""
    made_otherwise: tuple[str, ...] = ()
    """How pools were made that are there and are no depth pools."""
    is_sampled: bool = False
    """Whether some pool is a sample."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Runs, judgements, the diagnosis of the pool, and the collection."""

    given: Given
    commands: Commands
    source: Source
    judged: Judged
    rankings: JudgedRankings
    diagnosis: Diagnosis
    stored: Stored | None
    """``None`` = the runs are files."""
    own_depth: tuple[str, ...]
    """``--depth N`` where the report was told the depth."""
    order: Mapping[Cell, int] = field(default_factory=dict)
    """Place of each run by its MAP, the best first."""

    @property
    def depth(self) -> int | None:
        """The pool's depth; ``None`` = not known."""
        told = int(self.own_depth[1]) if self.own_depth else None
        return told if self.diagnosis.pool is None else self.diagnosis.pool.depth


def gather(given: Given, depth: int | None, extra: tuple[str, ...], out: str) -> Material:
    """Read runs and judgements, and diagnose the pool, for a page in the file `out`.

    Raises
    ------
    PoolerError
        As `Given.load`.
    """
    import numpy as np

    from pooler.results.measure.diagnose import look

    source = given.source()
    judged = source.judged
    stored = None if given.qrels is not None else _of_collection(given, judged)
    rankings = source.arrays(given.cutoff)
    diagnosis = look(source, depth, JUDGED_AT, cutoff=given.cutoff)
    scores = np.nan_to_num(diagnosis.scores.ap.overall, nan=-1.0)
    best = np.argsort(-scores, kind="stable").tolist()
    return Material(
        given=given,
        commands=Commands(given, judged.files, extra, out),
        source=source,
        judged=judged,
        rankings=rankings,
        diagnosis=diagnosis,
        stored=stored,
        own_depth=() if depth is None else ("--depth", str(depth)),
        order={diagnosis.rankings.tags[run]: place for place, run in enumerate(best)},
    )


def _of_collection(given: Given, judged: Judged) -> Stored:
    """Read what a collection has besides."""
    from pooler.cli.options import policy_of
    from pooler.results.look.effort import effort
    from pooler.results.look.listing import listing
    from pooler.results.look.status import status
    from pooler.results.measure.diagnose import is_sampled, made_otherwise
    from pooler.results.printed import printed
    from pooler.results.source import level_of_collection
    from store.collection import Collection
    from store.judging.kinds import kind_counts
    from store.judging.states import Sought

    policy = policy_of(
        judge=given.judge, aggregate=given.aggregate, ties=given.ties, collapse=given.collapse,
        of=given.of, without_rulings=given.without_rulings,
    )  # fmt: skip
    with Collection(given.collection) as opened:
        scale = opened.scale
        level = judged.level
        if policy.rule != "sum":
            level = level_of_collection(
                scale, policy, level=given.level, rigid=given.rigid, relaxed=given.relaxed
            )
        lines = opened.lists.pools(Sought())
        pools = printed(listing(opened, "pools").table("pools"))
        manifests = {line.name: line.manifest for line in lines if not line.withdrawn}
        judges = printed(listing(opened, "judges").table("judges"))
        progress = printed(status(opened).table("status"))
        costs = printed(effort(opened, below=LOW_DWELL).table("effort"))
        agreement = cross_tables = None
        has_intervals, reason = False, ""
        try:
            agreement, cross_tables, has_intervals = _agreement(opened, level)
        except PoolerError as error:
            reason = error.message
        return Stored(
            name=opened.name,
            grades="Grades: " + ", ".join(f"{grade.value} {grade.label}" for grade in scale.grades) + ";",
            pools=pools,
            judges=judges,
            progress=progress,
            costs=costs,
            agreement=agreement,
            cross_tables=cross_tables,
            level=level,
            kinds={}
            if agreement is None
            else kind_counts(opened.judges.all(), set(map(str, agreement.judges.cells("judge")))),
            has_intervals=has_intervals,
            n_grades=len(scale.values),
            reason=reason,
            made_otherwise=tuple(
                f"{name} {made}" for name, one in manifests.items() if (made := made_otherwise(one))
            ),
            is_sampled=any(map(is_sampled, manifests.values())),
        )


def _agreement(opened: Collection, level: int) -> tuple[Coefficients, Table, bool]:
    """Measure how far judges agree, with intervals unless they are too many."""
    from math import comb

    from pooler.results.agree.agreement import agreement
    from pooler.results.agree.settings import fetch_chosen
    from pooler.results.printed import printed
    from pooler.results.source import Source
    from pooler.telling import Listener, listening

    votes = fetch_chosen(opened.grades, None, None, population="common", unlisted_as=None)
    with_intervals = comb(len(votes.votes.judges), 2) <= MOST_WITH_INTERVALS
    with listening(Listener()):  # what there is to say is on the page
        found = agreement(
            Source(collection=opened), levels=(level,), interval="topic" if with_intervals else "none",
            all_pairs=True,
        )  # fmt: skip
    return found.made, printed(found.table("cross_tables")), with_intervals
