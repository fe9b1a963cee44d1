"""What a report is made of: everything that is read and computed before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from pooler.reporting.commands import CommandLines
from pooler.results.measure.diagnose import Diagnosis, diagnose, is_sampled, made_otherwise
from pooler.results.source import Judged, Source, opened_collection
from pooler.telling import Listener, listening
from store.errors import PoolerError
from store.judging.kinds import SORTS

if TYPE_CHECKING:
    from pooler.results.agree.agreement import AgreementResult
    from pooler.results.table import Table
    from store.collection import Collection

JUDGED_AT = 10
"""Ranks of which the share of judged documents is shown."""
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
    n_grades: int
    pools: Table
    judges: Table
    progress: Table
    costs: Table
    agreement: AgreementResult | None
    kinds: Sequence[str]
    """The kinds of judges of `agreement` where there are others, or the report was told."""
    has_intervals: bool
    level: int
    """Least relevant grade of `agreement`."""
    reason: str
    """Why there is no agreement."""
    made_otherwise: Sequence[str]
    """How pools were made that are there and are no depth pools."""
    is_sampled: bool
    """Whether some pool is a sample."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Runs, judgements, the diagnosis of the pool, and the collection."""

    source: Source
    judged: Judged
    commands: CommandLines
    cutoff: int
    diagnosis: Diagnosis
    stored: Stored | None
    """``None`` = the runs are files."""
    told_depth: int | None
    """As the report was told."""

    @property
    def depth(self) -> int | None:
        """The pool's depth; ``None`` = not known."""
        pool = self.diagnosis.found.pool
        return self.told_depth if pool is None else pool.depth

    @property
    def own_depth(self) -> Sequence[str]:
        """The option that tells a command the depth, where the report was told."""
        return () if self.told_depth is None else ("--depth", str(self.told_depth))


def gather(
    source: Source, depth: int | None, values: Sequence[str], cutoff: int | None, out: str
) -> Material:
    """Read runs and judgements, and diagnose the pool, for a page in the file `out`."""
    judged = source.judged
    stored = None if source.is_of_files else _of_collection(source)
    with listening(Listener()):  # what there is to say is on the page
        diagnosis = diagnose(source, depth=depth, judged_at=JUDGED_AT, cutoff=cutoff or 1000)
    commands = CommandLines(source, judged.files, cutoff, values, out)
    return Material(source, judged, commands, cutoff or 1000, diagnosis, stored, depth)


def _of_collection(source: Source) -> Stored:
    """Read what a collection has besides."""
    from pooler.results.look.effort import effort
    from pooler.results.look.listing import listing
    from pooler.results.look.status import status
    from pooler.results.source import level_of_collection
    from store.grades.policy import Policy

    policy = source.option("policy") or Policy()
    with opened_collection(source.collection) as opened:
        scale = opened.scale
        # Of sums the level is a sum; every judge gives grades.
        level = source.level if policy.rule == "sum" else level_of_collection(scale, policy, **source.levels)
        pools = [pool for pool in opened.pools.all() if not pool.withdrawn]
        found, reason, has_intervals = None, "", False
        kinds: Sequence[str] = ()
        try:
            found, kinds, has_intervals = _agreement(opened, level, policy.kinds)
        except PoolerError as error:
            reason = error.message
        return Stored(
            name=opened.name,
            grades="Grades: " + ", ".join(f"{grade.value} {grade.label}" for grade in scale.grades) + ";",
            n_grades=len(scale.values),
            pools=listing(opened, "pools").table("pools"),
            judges=listing(opened, "judges").table("judges"),
            progress=status(opened).table("status"),
            costs=effort(opened, below=LOW_DWELL).table("effort"),
            agreement=found,
            kinds=kinds,
            has_intervals=has_intervals,
            level=level,
            reason=reason,
            made_otherwise=[f"{one.name} {made}" for one in pools if (made := made_otherwise(one.manifest))],
            is_sampled=any(is_sampled(one.manifest) for one in pools),
        )


def _agreement(
    opened: Collection, level: int, kinds: Sequence[str]
) -> tuple[AgreementResult, Sequence[str], bool]:
    """Measure how far judges agree, with intervals unless they are too many; and of which kinds they are.

    Where judges of several kinds graded, they are those whom everything else on the page is by, unless
    single judges are named there.
    """
    from pooler.results.agree.agreement import agreement

    heard = opened.grades.heard(kinds=kinds)
    if heard.left_out:
        kinds = [sort for sort, of_sort in SORTS.items() if not heard.counts.keys().isdisjoint(of_sort)]
    has_intervals = comb(len(heard.voters), 2) <= MOST_WITH_INTERVALS
    with listening(Listener()):  # what there is to say is on the page
        found = agreement(
            Source(collection=opened),
            levels=(level,),
            kinds=kinds,
            interval="topic" if has_intervals else "none",
            all_pairs=True,
        )
    return found, kinds, has_intervals
