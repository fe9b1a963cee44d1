"""What a pool owes to its runs, what it missed, and how far scores can move for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Given, Limit, Option, PoolDepth, command
from pooler.commands.measure.measured import known_measure
from pooler.commands.trust.conclusions import conclusions
from pooler.messages import say, warn
from pooler.pools.contents import annotated_rows, contributions, depth_curve
from pooler.pools.plan import DEPTH
from pooler.pools.runs import RunSet
from pooler.reasons import joined
from pooler.result import Later, Result, facts_view, frozen_settings
from pooler.sources.judged import Judged
from pooler.sources.meeting import check_runs
from pooler.sources.source import Source, opened_collection
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import SamplingStrategy
from pooler.tables import DOCNO, REASON, RUN, TOPIC, Column, Show, Table, View, cells_where, hidden
from store.analysis.measures.bounds import Readings, readings
from store.analysis.measures.names import Scores
from store.analysis.pools.diagnosis import DepthPool, DepthSource, LeftOut
from store.analysis.pools.diagnosis import PoolDiagnosis as Looked
from store.analysis.pools.diagnosis import diagnose as analyse
from store.analysis.pools.leave_out import NOT_RANKED
from store.analysis.rankings import Depths
from store.formats.scale import parse_scale
from store.text import counted

Fact = str | int | float | bool | None
JUDGED_AT = 10
"""Ranks of which the share of judged documents is looked at, unless told otherwise."""
LEAST_RANKS = 20
"""Ranks that are shown by default, however shallow the pool."""
MEASURES = ("AP", "nDCG@10", "P@10", "RBP(p=0.8)")
NO_BOUNDS = "no-bounds"
_SOURCES = {"given": "as given", "pool": "as the collection was pooled", "inferred": "as the judgements look"}
SIBLINGS_FALL = ", when the other runs of its group have lost theirs too"
"""What the place of a run is that is left out with its group."""
Diagnosable = Annotated[Source, Given("pooler.cli.options:DiagnosedOptions", "source")]
"""Runs, and judgements where there are any."""


@command
def diagnose(
    source: Diagnosable,
    *,
    depth: PoolDepth = None,
    by: Annotated[
        Literal["run", "group"] | None,
        Option("--by", default="group, where a group fed the pool with several runs"),
    ] = None,
    judged_at: Annotated[
        int | None, Option("--judged-at", least=1, default="10, or --cutoff where that is less")
    ] = None,
    measures: Annotated[
        Sequence[str], Option("--measure -m MEASURE", default="AP, nDCG@10, P@10, RBP(p=0.8)")
    ] = (),
    cutoff: Cutoff = None,
    limit: Limit = None,
) -> Diagnosis:
    """Show what a pool owes to its runs, and what it missed.

    Each run that fed the pool is scored as if it had been submitted late: without the documents that only its
    group brought (only the run itself, where no group is known). Conclusions come first, in words.
    Other people's collections need no import: the depth and the runs that fed the pool are inferred
    from the judgements unless --depth and --runs FILE give them; a column `name` in that file tells
    runs with the same tag apart. Where only a sample of the pool was judged, use
    `pooler evaluate -m xinfAP` (or infNDCG, statAP).

    Tables are runs, topics, ranks (down to twice the depth and at least 20, unless --limit asks for
    more), contributors (documents that 1, 2, 3, ... runs brought), scores (as judged, from judged documents
    only, and their limits); and by name alone contributions (what each run or group brought, and what only it
    brought), depths (the pool at every depth) and documents (a row a document and run). The last three need
    no judgements.

    Example: pooler diagnose --qrels judgements/strict.qrels --runs runs.tsv --depth 5

    Example: pooler diagnose --runs runs.tsv --depth 20 --table depths

    by : Leave out whole groups of runs, as given in the list of runs, or one run at a time; in the table
        contributions, what a row is of.
    judged_at : The rank down to which to count judged documents.
    measures : In the table scores: a measure named as in `show measures`; may be repeated.
    limit : Rows of the table ranks.

    Raises
    ------
    ArgumentError, UnknownNameError
        If a number is below 1, or a measure is none.

    Examples
    --------
    >>> from pooler import diagnose
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "z": 1.0}}}
    >>> found = diagnose((runs, {"1": {"x": 1, "y": 0}}), depth=1)
    >>> found.conclusions[0]
    'All 2 documents of the pool, the first document of each of 2 runs, are judged.'
    >>> diagnose((runs, {}), depth=2).table("depths").to_dict()["pairs"]
    [2, 3]
    """
    ranks = cutoff or 1000
    judged_at = min(JUDGED_AT, ranks) if judged_at is None else judged_at
    names = [text for text in measures or MEASURES if measures or (known_measure(text).cutoff or 0) <= ranks]
    for text in names:
        known_measure(text)
    settings = {"judged_at": judged_at, "measures": tuple(names), "cutoff": ranks}
    if not _is_judged(source):
        say("nothing is judged, so nothing counts as judged or relevant")
        own = frozen_settings(**settings, **source.named(), order=source.order)
        return Diagnosis(analysed=None, left_out=None, conclusions=(), source=source, settings=own)
    judged = source.judged
    _check_pools(source, depth=depth)
    rankings = source.arrays(ranks)
    pool_depth: Depths | None = depth
    known_by: DepthSource = "given"
    if depth is None and judged.pools:
        pool_depth, known_by = judged.depths(None, rankings), "pool"
    groups = [judged.groups.get(tag, "") for tag in rankings.tags]
    feeding = np.array([tag in judged.feeding for tag in rankings.tags])
    found = analyse(
        rankings,
        source.graded(ranks),
        level=judged.level,
        depth=pool_depth,
        source=known_by,
        contributing=feeding if judged.tells_feeding else None,
        groups=groups,
        judged_at=judged_at,
        pooling=source.pooling(ranks),
    )
    if by == "group" and (found.pool is None or found.pool.by_group is None):
        warn("no group has several runs, so leaving out groups means leaving out runs")
    left = chosen_left(found, by=by)
    return Diagnosis(
        analysed=found,
        left_out=left,
        conclusions=tuple(conclusions(found, left, judged_at)),
        source=source,
        settings=frozen_settings(**settings, **source.settings()),
    )


def _is_judged(source: Source) -> bool:
    if source.is_of_files:
        return bool(source.option("qrels"))
    with opened_collection(source.collection) as opened:
        return any(True for _ in opened.judgements.current())


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Diagnosis(Result):
    """A pool seen from every side.

    Tables: `runs`, a row a run; `topics`, `ranks`, `contributors`; `scores`, a row a run and measure;
    and by name alone `contributions`, a row a run or group; `depths`; `documents`, a row a document and run.
    Where nothing is judged there are the last three alone.
    """

    conclusions: tuple[str, ...]
    """What a careful organiser concludes: whole sentences with their numbers."""
    analysed: Looked | None = field(repr=False)
    """``None`` = nothing is judged."""
    left_out: LeftOut | None
    """Runs or groups left out in turn; ``None`` = there is no pool."""
    source: Source = field(repr=False)

    HAS_TOPICS = True

    def _tables(self) -> Iterator[Table | Later]:
        is_known = self.analysed is not None
        if is_known:
            contributors = () if self.found.pool is None else (self._contributors,)
            of_judged = (self._runs, self._topics, self._ranks, *contributors, self._scores)
            yield from map(Later, of_judged)
        yield Later(self._contributions, by_name=is_known)
        yield Later(self._depths, by_name=is_known)
        yield Later(self._documents, by_name=True)

    @property
    def found(self) -> Looked:
        """What was found, where something is judged."""
        assert self.analysed is not None
        return self.analysed

    @property
    def runs(self) -> tuple[str, ...]:
        """Axis of runs."""
        return self.found.rankings.tags

    @property
    def topics(self) -> tuple[str, ...]:
        """Axis of topics."""
        return self.found.rankings.topics

    @property
    def judged(self) -> Judged:
        """The runs and the judgements."""
        return self.source.judged

    def _scale(self) -> tuple[int, ...]:
        """Return the grades that an unjudged document could have got.

        Those of the declared scale; without one, and where grades were added up, those that were given,
        0 and the least that is relevant.
        """
        source = self.source
        scale, definition = source.option("scale"), source.definition
        if source.is_of_files and scale is not None:
            return parse_scale(scale).values
        if not source.is_of_files and definition.aggregate != "sum":
            if definition.binary_first:
                return 0, 1
            with opened_collection(source.collection) as opened:
                return opened.scale.values
        seen = (grades.tolist() for grades in self.found.graded.judged_grades)
        return tuple(sorted({0, source.level, *chain.from_iterable(seen)}))

    def facts(self) -> Mapping[str, Any]:
        """Return what the pool is, and what follows."""
        if self.analysed is None:
            return {}
        return {**facts(self.found, self.left_out), "conclusions": self.conclusions}

    def _runs(self) -> Table:
        table = runs_table(self.found, self.left_out, self.judged.groups, self.settings["judged_at"])
        known, title = facts(self.found, self.left_out), "What follows"
        # A table of no rows, below which the conclusions stand, before all others.
        sentences = [f"- {sentence}" for sentence in self.conclusions]
        follows = Table.of_columns("conclusions", {Column("conclusion", heading=title): []}, title, sentences)
        return table.seen_as(
            View(follows),
            facts_view(
                known, [f"{name.replace('_', ' ')}: {FACTS[name]}." for name in known if name in FACTS]
            ),
            rows=table.order("ap", descending=True),
        )

    def _scores(self) -> Table:
        scale, level = self._scale(), self.judged.level
        names = dict.fromkeys(known_measure(one, level=level) for one in self.settings["measures"])
        everything = readings(self.found.graded, list(names), scale=scale)
        about_judged = (
            "they are removed and the others move up, which favours runs that did not feed the pool"
        )
        about_low = (
            f"the lowest over all grades from {min(scale)} to {max(scale)} that the unjudged documents of the"
            " lists may have"
        )
        about_residual = (
            "what unjudged documents, and everything below the end of each list, could add; high looks at the"
            " list as it is"
        )
        rows = [(one, run) for one in everything for run in range(len(self.runs))]

        def cells(values: Callable[[Readings], NDArray[np.float64] | None]) -> list[float | int | None]:
            return [_of_run(one.scores, run, values(one)) for one, run in rows]

        columns = {
            RUN: [self.runs[run] for _, run in rows],
            Column("measure"): [str(one.scores.measure) for one, _ in rows],
            Column("score", "float", "as judged", "unjudged documents count as not relevant"): (
                cells(lambda one: one.scores.overall)
            ),
            Column("judged_only", "float", about=about_judged): [
                _of_run(one.judged_only, run, one.judged_only.overall) for one, run in rows
            ],
            Column("low", "float", about=about_low): cells(lambda one: one.low),
            Column("high", "float", about="the most"): cells(lambda one: one.high),
            Column("residual", "float", "RBP residual", about_residual, show="if_any"): (
                cells(lambda one: one.residual)
            ),
            REASON: [
                joined([_why(one.scores, run), _why(one.judged_only, run), NO_BOUNDS * (one.low is None)])
                for one, run in rows
            ],
        }
        table = Table.of_columns("scores", columns, "scores")
        measures = table.cells("measure")
        tables = {str(one): table.where([cell == one for cell in measures]) for one in measures}
        shown = [column for column in table.columns if column.name != "measure"]
        return table.seen_as(
            *(View(one, shown, one.order("score", descending=True), name) for name, one in tables.items())
        )

    def _topics(self) -> Table:
        counts = [
            Column("pooled", "int", "in pool"),
            Column("pool_judged", "int", "judged there"),
            Column("pool_relevant", "int", "relevant there"),
            Column("pool_not_relevant", "int", "not relevant"),
            Column("pool_unjudged", "int", "unjudged there"),
            Column("judged", "int", "judged in all"),
            Column("relevant", "int", "relevant in all"),
            Column("outside", "int", about="judged, but in no pool"),
        ]
        counts = counts if self.found.pool is not None else counts[-3:-1]
        cells = {one.name: getattr(self.found.topics, one.name) for one in counts}
        return Table("topics", [TOPIC, *counts], {"topic": self.topics, **cells}, "topics")

    def _ranks(self) -> Table:
        """Make a row for every rank down to a limit.

        By default twice the pool's depth, and `LEAST_RANKS` at least.
        """
        pool, counts, limit = self.found.pool, self.found.ranks, self.settings["limit"]
        width = counts.documents.size
        if limit is None:
            limit = max(LEAST_RANKS, 0 if pool is None else 2 * pool.deepest)
        n_ranks = min(limit, width)
        about = "those that the runs have at the rank, over all topics"
        columns: dict[Column, Any] = {
            Column("rank", "int"): range(1, n_ranks + 1),
            Column("documents", "int", about=about): counts.documents[:n_ranks],
            Column("judged", "int"): counts.judged[:n_ranks],
            Column("unjudged", "int"): counts.unjudged[:n_ranks],
            Column("share_unjudged", "float"): counts.unjudged_share()[:n_ranks],
        }
        if pool is not None:

            def by_rank(entering: NDArray[np.int64]) -> list[int]:
                # The runs that fed the pool may all end above the others.
                return [int(entering[:, place : place + 1].sum()) for place in range(n_ranks)]

            new = (
                f"those that no run of the pool has at a higher rank; down to rank {pool.span} they"
                " entered the pool"
            )
            columns |= {
                Column("entering", "int", "new", new): by_rank(pool.first.documents),
                Column("entering_judged", "int", "new judged"): by_rank(pool.first.judged),
                Column("entering_relevant", "int", "new relevant"): by_rank(pool.first.relevant),
            }
        notes = [f"{width - limit:,} more ranks: --limit {width}."] if width > limit else []
        return Table.of_columns("ranks", columns, "ranks", notes)

    def _contributors(self) -> Table:
        assert self.found.pool is not None
        brought = self.found.pool.brought
        numbers = np.flatnonzero(brought.documents)
        about = "of the pool that this many of the runs brought"
        columns = {
            Column("runs", "int"): numbers,
            Column("documents", "int", about=about): brought.documents[numbers],
            Column("judged", "int"): brought.judged[numbers],
            Column("relevant", "int"): brought.relevant[numbers],
        }
        return Table.of_columns("contributors", columns, "contributors")

    def _top(self, *, scores: bool = False) -> RunSet:
        depth = self.settings["depth"]
        if depth is None:
            pool = None if self.analysed is None else self.analysed.pool
            depth = DEPTH if pool is None else pool.deepest
        found = self.source.as_pooled.tops(depth, scores=scores)
        if self.source.is_of_files:
            check_runs(found)
        return found

    def _relevant(self) -> dict[tuple[str, str], bool]:
        """Return whether judged pairs of topic and docno are relevant."""
        if self.analysed is None:
            return {}
        return {(row.topic, row.docno): row.grade >= self.judged.level for row in self.judged.qrels}

    def _contributions(self) -> Table:
        runs = self._top()
        what = self.settings["by"] or "run"
        brought = contributions(runs, self._relevant(), depth=runs.depth, by_group=what == "group")
        groups = {run.tag: run.group for run in runs.feeding}
        columns: dict[Column, Any] = {Column(what): brought.names}
        if what == "run" and any(groups.values()):
            columns[Column("group")] = [groups[run] or None for run in brought.names]
        within = f"pairs of topic and document within depth {runs.depth}"
        columns |= {
            Column("documents", "int", about=within): brought.documents.sum(axis=1),
            Column("unique", "int", about=f"those that no other {what} has"): brought.unique.sum(axis=1),
            Column("unique_judged", "int"): brought.unique_judged.sum(axis=1),
            Column("unique_relevant", "int"): brought.unique_relevant.sum(axis=1),
        }
        return Table.of_columns("contributions", columns)

    def _depths(self) -> Table:
        curve = depth_curve(self._top(), self._relevant())
        new = "those that the pool one rank less deep does not have"
        columns = {
            Column("depth", "int"): np.arange(1, curve.pairs.size + 1),
            Column("pairs", "int", about="pairs of topic and document in the pool of that depth"): (
                curve.pairs
            ),
            Column("new", "int", about=new): np.diff(curve.pairs, prepend=0),
            Column("judged", "int"): curve.judged,
            Column("relevant", "int"): curve.relevant,
            Column("of_one_run", "int", about="pairs that only one run brought"): curve.unique,
        }
        return Table.of_columns("depths", columns)

    def _documents(self) -> Table:
        columns = [TOPIC, DOCNO, RUN, Column("group"), Column("rank", "int"), Column("score", "float")]
        rows = (row._asdict() for row in annotated_rows(self._top(scores=True)))
        return Table.of_rows("documents", columns, rows)


def chosen_left(found: Looked, *, by: str | None = None) -> LeftOut | None:
    """Return the groups left out, or the runs where they are asked for or no group fed with two.

    ``None`` where there is no pool.
    """
    pool = found.pool
    if pool is None:
        return None
    groups = pool.by_group
    if groups is None or by == "run" or not (by == "group" or has_siblings(pool)):
        return pool.by_run
    return groups


def has_siblings(pool: DepthPool) -> bool:
    """Return whether some group fed the pool with several runs."""
    if pool.by_group is None:
        return False
    owners = pool.by_group.scores.withdrawn.owners[pool.contributing]
    return np.unique(owners).size < owners.size


def facts(found: Looked, left: LeftOut | None) -> dict[str, Fact]:
    """Say what the pool is, a name and a value each."""
    rankings, pool = found.rankings, found.pool
    n_topics = len(rankings.topics)
    known: dict[str, Fact] = {
        "diagnosis": f"{counted(len(rankings.tags), 'run')}, {counted(n_topics, 'topic')}",
        "judged": int(found.topics.judged.sum()),
        "relevant": int(found.topics.relevant.sum()),
    }
    if pool is None or left is None:
        return known | {"depth": None, "reason": found.reason}
    errors, missed, alone = left.errors, pool.missed, pool.by_run
    known |= {
        "depth": pool.depth if pool.depth == pool.deepest else pool.span,
        "depth_known": _SOURCES[pool.source],
        "contributing_runs": int(pool.contributing.sum()),
        "runs_known": _SOURCES["given" if found.knows_runs else "inferred"],
        "pool": pool.n_pairs,
        "pool_judged": pool.n_judged,
        "pool_unjudged": pool.n_unjudged,
        "judged_outside_pool": pool.n_outside,
        "left_out": "whole groups" if left is pool.by_group else "single runs",
        "unique": int(left.unique.sum()),
        "mean_change_left_out": errors.mae,
        "rank_changes_left_out": errors.sre,
        "rank_changes_significant": errors.sre_significant,
        "tau_all_left_out": errors.tau_b.tau,
        "tau_ap_all_left_out": errors.tau_ap.tau,
        "newcomer_loses": left.adjusted.bias,
    }
    if left is pool.by_group:
        known |= {
            "unique_by_run": int(alone.unique.sum()),
            "mean_change_by_run": alone.errors.mae,
            "newcomer_loses_by_run": alone.adjusted.bias,
        }
    known |= {
        "relevant_to_twice_the_depth": missed.expected,
        "relevant_low": missed.low,
        "relevant_high": missed.high,
        "relevant_known_there": missed.n_known,
    }
    return known if missed.reason is None else known | {"reason": missed.reason}


FACTS = {
    "judged_outside_pool": "judged, but not among these documents",
    "unique": "documents of the pool that only one run, or group, brought",
    "mean_change_left_out": "of AP, when runs or groups are left out in turn",
    "rank_changes_left_out": "places that each run gains or loses by being left out, added up",
    "rank_changes_significant": "those past a run whose scores differ significantly",
    "tau_all_left_out": "Kendall's tau of the orders before and after",
    "tau_ap_all_left_out": "the same by tau_AP, which gives the first places more weight",
    "newcomer_loses": "mean loss of AP of a run left out (Webber and Park)",
    "unique_by_run": "as unique, for single runs; so are the next two",
    "relevant_to_twice_the_depth": "a guess, between relevant low and relevant high",
    "relevant_known_there": "those of them already judged relevant",
}
"""What facts are."""


def runs_table(found: Looked, left: LeftOut | None, groups: Mapping[str, str], judged_at: int) -> Table:
    """Make a row for every run, in the order of the rankings."""
    tags, scores, pool = found.rankings.tags, found.scores, found.pool
    lower, _, upper = scores.bounds.means()
    columns: dict[Column, Any] = {
        RUN: tags,
        Column("group", can_go=1, show="if_any"): [groups.get(tag) or None for tag in tags],
    }
    if pool is not None:
        columns[
            Column("contributes", "bool", "fed", "whether it fed the pool", can_go=1, show="if_varied")
        ] = pool.contributing
    share = f"share of the first {judged_at:,} documents that are judged"
    lowest = "the lowest that AP could be, depending on the unjudged documents of the run's own list"
    columns |= {
        Column("judged", "float", f"judged@{judged_at}", share): scores.judged.overall,
        Column("ap", "float", "AP"): scores.ap.overall,
        Column("bpref", "float", can_go=1): scores.bpref.overall,
        Column("condensed", "float", "judged AP", "AP of the judged documents only", can_go=1): (
            scores.condensed_ap.overall
        ),
        Column("low", "float", about=lowest): lower,
        Column("high", "float", about="the highest that AP could be"): upper,
    }
    if pool is not None and left is not None:
        columns |= _left_out_columns(pool, left)
    return Table.of_columns("runs", columns, "runs")


def _left_out_columns(pool: DepthPool, left: LeftOut) -> dict[Column, Any]:
    late, feeds = left.scores, pool.contributing
    owners = late.withdrawn.owners
    is_late = np.isin(owners, owners[feeds])
    before, after = late.rank_before, late.rank_after

    def of_feeding(counts: NDArray[np.int64]) -> list[int | None]:
        return cells_where(feeds, counts[owners])

    of_groups = left is pool.by_group
    who = "group" if of_groups else "run"
    all_fed = bool(feeds.all())
    alone = f"documents that no other {who} brought to the pool"
    columns: dict[Column, Any] = {
        Column("unique", "int", about=alone): of_feeding(left.unique),
        Column("unique_relevant", "int", "relevant", "relevant ones among them"): (
            of_feeding(left.unique_relevant)
        ),
    }
    change = "of AP, if its unique documents had not been judged"
    change += "" if all_fed else "; -: the run fed no pool"
    columns |= {
        hidden("ap_left_out"): np.where(is_late, late.score_after, np.nan),
        Column("change", "float", about=change): np.where(is_late, late.difference(), np.nan),
    }
    if of_groups:
        about = "without what only this run brought, whatever its group brought"
        by_run = np.where(feeds, pool.by_run.scores.difference(), np.nan)
        columns[Column("change_by_run", "float", "by run", about, can_go=1)] = by_run
    adjusted = (
        "AP, plus, for runs that fed no pool, the mean loss of those that did (Webber and Park), assuming"
        " the former are like the latter"
    )
    show: Show = "never" if all_fed else "always"
    return columns | {
        Column("rank", "int", about="place among all runs"): cells_where(before != NOT_RANKED, before),
        Column(
            "rank_left_out",
            "int",
            "late",
            "its place without its unique documents" + SIBLINGS_FALL * of_groups,
        ): (cells_where(is_late & (after != NOT_RANKED), after)),
        Column("tau", "float", about="between the orders of all runs now and then", show="never"): np.where(
            is_late, late.tau_b[owners], np.nan
        ),
        Column("adjusted", "float", about=adjusted, can_go=1, show=show): left.adjusted.scores,
    }


def _of_run(scores: Scores, run: int, values: NDArray[np.float64] | None) -> float | int | None:
    """Return a value of a run, a count as a whole number; ``None`` where it is undefined."""
    if values is None or not scores.n_defined[run] or np.isnan(values[run]):
        return None
    return int(values[run]) if scores.is_sum else float(values[run])


def _why(scores: Scores, run: int) -> str | None:
    return None if scores.n_defined[run] else scores.reason(run, 0)


def _check_pools(source: Source, *, depth: int | None) -> None:
    if source.is_of_files:
        return
    with opened_collection(source.collection) as opened:
        pools = [pool for pool in opened.pools.all() if not pool.withdrawn]
    others = [f"pool `{pool.name}` {made}" for pool in pools if (made := made_otherwise(pool.manifest))]
    if others and depth is None:
        what = "; ".join(others)
        warn(f"{what}: what follows describes a depth pool of the same runs; --depth N chooses its depth")
    if any(is_sampled(pool.manifest) for pool in pools):
        say("`pooler evaluate -m xinfAP -m statAP` scores runs from a sample of a pool")


def made_otherwise(manifest: Mapping[str, Any]) -> str | None:
    """Say how a pool was made; ``None`` = by depth alone."""
    strategy = manifest.get("strategy")
    budget = manifest.get("budget")
    if strategy == "depth" and budget is None:
        return None
    by = f"was made by `{strategy}`" if strategy else "was not made here"
    return by if budget is None else f"{by} with {budget:,} documents per topic"


def is_sampled(manifest: Mapping[str, Any]) -> bool:
    """Return whether a pool is a sample."""
    name = manifest.get("strategy")
    return name in STRATEGIES and isinstance(STRATEGIES[name], SamplingStrategy)
