"""What a report is made of: everything that is read and computed, and the commands that print the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, TypeVar

from pooler.commands.judge.status import status
from pooler.commands.look.show import show_judges, show_pools
from pooler.commands.qrels.agreement import AgreementResult, agreement
from pooler.commands.trust.audit import audit
from pooler.commands.trust.audit_tables import Audit
from pooler.commands.trust.diagnose import JUDGED_AT, Diagnosis, diagnose, is_sampled, made_otherwise
from pooler.commands.trust.sensitivity import depth_in_words
from pooler.judge_kinds import kinds_words
from pooler.messages import Listener, listening
from pooler.sources.command_lines import CommandLines
from pooler.sources.judged import Judged
from pooler.sources.source import Source, opened_collection
from store.errors import PoolerError
from store.judging.kinds import SORTS
from store.records import JudgeKind, Scale
from store.text import counted

if TYPE_CHECKING:
    from pooler.tables import Table
    from store.collection import Collection

Found = TypeVar("Found")
MOST_DRAWN = 20
"""Runs of one chart."""
MOST_WITH_INTERVALS = 45
"""Pairs of judges up to which the bootstrap of every pair is worth its time."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """What a collection has besides runs and judgements."""

    name: str
    scale: Scale
    pools: Table
    judges: Table
    progress: Table
    agreement: AgreementResult | str
    """Of everybody whose grades may count, for statements on two judges, or why there is none."""
    by_kind: Mapping[str, AgreementResult | str]
    """Of people, models and imported judges by themselves, or why there is none."""
    audits: Mapping[str, Audit | str]
    """Of every model, where people judged, too: against these, or why there is none."""
    level: int
    """Least relevant grade of `agreement`."""
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
    """As the report was asked for."""
    limit: int
    """Runs, or pairs of runs, of one chart."""

    def first(
        self, table: Table, which: str, what: str = "run", plural: str | None = None
    ) -> tuple[Table, str]:
        """Return as many rows as a chart shows, and a note of how many there are."""
        n = len(table)
        if n <= self.limit:
            return table, self.counted(counted(n, what, plural))
        some = f"{self.limit:,} of {counted(n, what, plural)} ({which}; `--limit {n}` draws all)"
        return table.head(self.limit), self.counted(some)

    def counted(self, what: str) -> str:
        """Write of how many things something is: of some, and of topics and judgements."""
        found = self.diagnosis.found
        n_judged = int(found.topics.judged.sum())
        return (
            f"{what}, {counted(len(found.rankings.topics), 'topic')}, {counted(n_judged, 'judged document')}"
        )

    @property
    def depth(self) -> int | str | None:
        """N of every run, ``7-10`` where runs and topics have several; ``None`` = not known.

        Runs that fed no pool have one, too, which may be another than the pool's.
        """
        found = self.diagnosis.found
        if self.told_depth is not None or found.pool is None:
            return self.told_depth
        if self.source.judged.pools:
            return depth_in_words(self.source.judged.depths(None, found.rankings))
        return found.pool.depth

    @property
    def one_depth(self) -> int | None:
        """The same where it is one number, for functions and commands."""
        return self.depth if isinstance(self.depth, int) else None

    @property
    def own_depth(self) -> Sequence[str]:
        """The option that gives a command the depth, where the report has one."""
        return () if self.told_depth is None else ("--depth", str(self.told_depth))


def gather(
    source: Source, told: Source, depth: int | None, values: list[str], look: int | None, out: str, limit: int
) -> Material:
    """Read runs and judgements, and diagnose the pool, for a page in `out` with commands of `told`."""
    judged = source.judged
    stored = None if source.is_of_files else _of_collection(source)
    with listening(Listener()):  # warnings are on the page
        diagnosis = diagnose(source, depth=depth, judged_at=JUDGED_AT, cutoff=look or 1000)
    commands = CommandLines(told, judged.files, look, values, out)
    return Material(source, judged, commands, look or 1000, diagnosis, stored, depth, limit)


def _of_collection(source: Source) -> Stored:
    definition = source.whose
    with opened_collection(source.collection) as opened:
        scale = opened.scale
        # Of sums the level is a sum; every judge gives grades.
        level = scale.relaxed if definition.aggregate == "sum" else source.level_of_judges(scale)
        pools = [pool for pool in opened.pools.all() if not pool.withdrawn]
        kinds = definition.kinds or tuple(SORTS)
        found = _or_why(
            lambda: _agreement(opened, level, opened.grades.voters(definition.judges, kinds).voting)
        )
        return Stored(
            name=opened.name,
            scale=scale,
            pools=show_pools(opened).table("pools"),
            judges=show_judges(opened).table("judges"),
            progress=status(opened).table("status"),
            agreement=found,
            by_kind={} if isinstance(found, str) else _by_kind(opened, level, found),
            audits=_audits(source, opened, level),
            level=level,
            made_otherwise=[f"{one.name} {made}" for one in pools if (made := made_otherwise(one.manifest))],
            is_sampled=any(is_sampled(one.manifest) for one in pools),
        )


def _by_kind(opened: Collection, level: int, found: AgreementResult) -> dict[str, AgreementResult | str]:
    names: dict[str, list[str]] = {}
    for judge in opened.judges.all():
        if judge.name in found.judges:
            names.setdefault(judge.kind.value, []).append(judge.name)
    if len(names) == 1:
        return dict.fromkeys(names, found)
    by_kind: dict[str, AgreementResult | str] = {}
    for kind in (one for one in JudgeKind if one in names):
        if len(names[kind]) < 2:
            of_kind = kinds_words({kind: 2})[2:]
            by_kind[kind] = f"Agreement needs two, and {names[kind][0]} is the only one of {of_kind}"
        else:
            by_kind[kind] = _or_why(partial(_agreement, opened, level, names[kind]))
    return by_kind


def _audits(source: Source, opened: Collection, level: int) -> dict[str, Audit | str]:
    definition, judges = source.definition, opened.grades.voters(kinds=tuple(SORTS)).voting
    kinds = {judge.name: judge.kind for judge in opened.judges.all()}
    people = [name for name in definition.judges or judges if kinds[name] == JudgeKind.HUMAN]
    models = [name for name in judges if kinds[name] == JudgeKind.MODEL]
    if not people or not models:
        return {}
    rule, ties = (definition.aggregate, definition.ties) if len(people) > 1 else (None, None)
    if len(people) > 1 and rule in (None, "primary", "sum"):
        return dict.fromkeys(models, "an audit takes one person's grades, or several people's by a rule")
    how: dict[str, Any] = {"aggregate": rule, "ties": ties, "level": level}
    return {model: _or_why(partial(audit, source, model, people, **how)) for model in models}


def _agreement(opened: Collection, level: int, judges: Sequence[str]) -> AgreementResult:
    resamples = None if comb(len(judges), 2) <= MOST_WITH_INTERVALS else 0
    return agreement(Source(collection=opened), *judges, levels=(level,), resamples=resamples)


def _or_why(make: Callable[[], Found]) -> Found | str:
    """Return what is made, in silence, as what there is to say is on the page; or why it is not made."""
    try:
        with listening(Listener()):
            return make()
    except PoolerError as error:
        return error.message
