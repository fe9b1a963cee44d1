"""`pooler sensitivity`: what if documents that nobody judged are relevant after all."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit, write_lines
from pooler.cli.source_options import Given, on_given_runs
from pooler.results.judge_kinds import titled
from pooler.results.printed import Format, Table
from pooler.telling import progress, warn
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from pooler.results.measure.sensitivity import Docnos
    from store.analysis.measures.average_precision import RMode
    from store.analysis.rankings import JudgedRankings
    from store.analysis.undiscovered.flips import At, Scenario


class ScenarioName(StrEnum):
    """Scenarios of `store.analysis.undiscovered.sensitivity`."""

    SHARED = "shared"
    OWN = "own"


class AtName(StrEnum):
    """Where documents turn relevant: `store.analysis.undiscovered.flips`."""

    NEXT = "next"
    FIRST = "first"
    BEST = "best"
    WORST = "worst"


class RModeName(StrEnum):
    """What R counts."""

    POOL = "pool"
    OWN = "own"


@on_given_runs
def sensitivity(
    given: Given,
    *,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            "-N",
            min=1,
            help="N: the pool's depth; rank N+1 is flipped. Of no use with --at best or worst,"
            " --missing and --each, which look at whole lists.",
            show_default="the pools', where they have one",
        ),
    ] = None,
    at: Annotated[
        AtName | None,
        typer.Option(
            "--at",
            help="Flip rank N+1 (next), the first unjudged rank below N (first), or the unjudged"
            " rank of the whole list that moves AP most up (best) or most down (worst); with"
            " --pairs, best and worst find the one document that moves each difference most.",
            show_default="next; first with --flips",
        ),
    ] = None,
    flips: Annotated[
        int | None,
        typer.Option(
            "--flips",
            min=1,
            metavar="K",
            help="Flip K unjudged ranks of a topic at once; with --at next, those of the ranks N+1"
            " to N+K that are unjudged.",
            show_default="1",
        ),
    ] = None,
    missing: Annotated[
        int | None,
        typer.Option(
            "--missing",
            min=1,
            metavar="K",
            help="The lowest and highest AP and MAP if K relevant documents of every topic went"
            " unjudged, wherever they are.",
            show_default=False,
        ),
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            help="One row for every two runs: difference of MAP, t2 and p, before and"
            " after; with --missing, its limits.",
        ),
    ] = False,
    each: Annotated[
        bool,
        typer.Option(
            "--each", help="One row for every unjudged document: what it alone does to the order of runs."
        ),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            metavar="ROWS",
            help="Of --each and --pairs: the most rows; of pairs those that come nearest to a swap"
            " or go furthest past it.",
            show_default="20 of --each; all in json and tsv, and of --pairs",
        ),
    ] = None,
    scenario: Annotated[
        ScenarioName,
        typer.Option(
            "--scenario",
            help="shared: every run that retrieved the document gains, the others have R+1."
            " own: only the flipped run gains, all others have R+1, retrieved or not, also with"
            " --r own; with --pairs nearest to the paper's section 4.3, see above.",
        ),
    ] = ScenarioName.SHARED,
    r_mode: Annotated[
        RModeName,
        typer.Option("--r", help="R = relevant documents of the topic (pool), or of the run (own)."),
    ] = RModeName.POOL,
    by_topic: Annotated[bool, typer.Option("--by-topic", "-q", help="One row a run and topic.")] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw the change of each run's MAP; with --missing its limits.")
    ] = False,
) -> None:
    """Flip the unjudged documents at rank N+1 to relevant and see what moves.

    For every run in turn, all its unjudged documents at rank N+1 (one a topic) turn relevant:
    AP changes by eq. 19 of Kishida 2001. A row shows the run's own MAP and its change, and what its
    flips do to the order of all runs: Kendall's tau-b, tau_AP, and pairs that swap. Nearest to the
    paper's section 4.3 is --depth 100 --scenario own --pairs, which flips what nobody judged; the
    paper flips every document at rank 101 that is relevant with probability 0, judged or not, and
    computes with its model of judging.

    Example: pooler sensitivity --depth 5 --judge alice --plot

    Example: pooler sensitivity --each --qrels judgements/strict.qrels runs/bm25-words.run
    """
    from pooler.cli.plots import change_lines, check_plot, limit_lines, plot_width
    from pooler.results.measure.sensitivity import Docnos
    from store.analysis.arrays import judged_arrays

    at_name = at or (AtName.NEXT if flips is None else AtName.FIRST)
    whole_lists = at_name in (AtName.BEST, AtName.WORST) or missing is not None or each
    _check_options(scenario, at=at, flips=flips, missing=missing, limit=limit,
                   pairs=pairs, each=each, by_topic=by_topic, plot=plot)  # fmt: skip
    if plot:
        check_plot(given.fmt)
    judged = given.load()
    if not whole_lists:
        depth = judged.pool_depth(depth)
    arrays = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=given.cutoff)
    if not whole_lists and judged.pool_depths and depth not in judged.pool_depths:
        known = ", ".join(map(str, sorted(judged.pool_depths)))
        warn(f"depth {depth} is not that of the pool ({known})")
    how = _How(at_name.value, depth, flips or 1, scenario.value, r_mode.value, given.fmt)
    docnos = Docnos(arrays, judged.ranked)
    if each:
        table = _each(arrays, docnos, how, limit)
    elif missing is not None:
        table = _missing(arrays, missing, how, limit, pairs=pairs, by_topic=by_topic)
    elif pairs:
        table = _pairs(arrays, docnos, how, limit)
    else:
        table = _runs(arrays, docnos, how, by_topic=by_topic)
    emit(titled([table], judged.kinds, given.fmt), given.fmt)
    if plot:
        draw = change_lines if missing is None else limit_lines
        write_lines(None, ["", *draw(table, width=plot_width(sys.stdout))])


@dataclass(frozen=True, slots=True)
class _How:
    """What turns relevant for whom."""

    at: At
    depth: int | None
    flips: int
    scenario: Scenario
    r_mode: RMode
    fmt: Format


def _check_options(
    scenario: ScenarioName,
    *,
    at: AtName | None,
    flips: int | None,
    missing: int | None,
    limit: int | None,
    pairs: bool,
    each: bool,
    by_topic: bool,
    plot: bool,
) -> None:
    """Refuse what does not go together."""
    rows = {"--each": each, "--pairs": pairs, "--by-topic": by_topic}
    chosen = [name for name, is_given in rows.items() if is_given]
    if len(chosen) > 1:
        raise ArgumentError(chosen[0], f"excludes {chosen[1]}: a row is one thing", "both")
    if plot and chosen:
        raise ArgumentError("--plot", f"draws a line a run: it excludes {chosen[0]}", "both")
    for name, is_given in (("--each", each), ("--missing", missing is not None)):
        if not is_given:
            continue
        if each and missing is not None:
            raise ArgumentError("--each", "excludes --missing", "both")
        for other, value in (("--at", at), ("--flips", flips)):
            if value is not None:
                raise ArgumentError(other, f"has no meaning with {name}", str(value))
        if scenario is ScenarioName.OWN:
            requirement = f"must be shared with {name}: a document is relevant in every run"
            raise ArgumentError("--scenario", requirement, scenario.value)
    if pairs and at in (AtName.BEST, AtName.WORST) and (flips or 1) > 1:
        requirement = f"must be 1 with --pairs --at {at}: the search is for one document"
        raise ArgumentError("--flips", requirement, flips)
    if limit is not None and not each and not pairs:
        raise ArgumentError("--limit", "is of --each and --pairs, which are absent", limit)


def _runs(arrays: JudgedRankings, docnos: Docnos, how: _How, *, by_topic: bool) -> Table:
    """Flip the documents of each run in turn."""
    from pooler.results.measure import sensitivity as tables
    from store.analysis.undiscovered.sensitivity import sensitivity as analyse

    result = analyse(arrays, depth=how.depth, at=how.at, flips=how.flips, scenario=how.scenario,
                     r_mode=how.r_mode)  # fmt: skip
    if by_topic:
        return tables.by_topic(arrays, result, docnos, how.fmt)
    return tables.by_run(arrays, result, how.fmt)


def _pairs(arrays: JudgedRankings, docnos: Docnos, how: _How, limit: int | None) -> Table:
    """Test every two runs before and after."""
    from pooler.results.measure import sensitivity as tables
    from store.analysis.undiscovered.pairs import pair_discovery, pair_sensitivity

    check_pair(arrays)
    with progress("topics", len(arrays.topics)) as advance:
        if how.at in ("best", "worst"):
            towards = how.at == "worst"
            found = pair_discovery(arrays, towards=towards, scenario=how.scenario,
                                   r_mode=how.r_mode, progress=advance)  # fmt: skip
        else:
            both = pair_sensitivity(arrays, depth=how.depth, at=how.at, flips=how.flips,
                                    scenario=how.scenario, r_mode=how.r_mode,
                                    progress=advance)  # fmt: skip
    if how.at in ("best", "worst"):
        table = tables.single_documents(arrays, found, docnos, how.fmt, towards=towards)
    else:
        table = tables.both_ways(arrays, both, how.fmt, at=how.at, depth=how.depth, flips=how.flips,
                                 scenario=how.scenario, r_mode=how.r_mode)  # fmt: skip
    return table if limit is None else tables.nearest(table, limit)


def _missing(
    arrays: JudgedRankings, missing: int, how: _How, limit: int | None, *, pairs: bool, by_topic: bool
) -> Table:
    """Bound what the documents that are missing can do."""
    if pairs:
        from pooler.results.measure import sensitivity as tables
        from store.analysis.undiscovered.missing import missing_pair_bounds

        check_pair(arrays)
        with progress("topics", len(arrays.topics)) as advance:
            limits = missing_pair_bounds(arrays, missing, r_mode=how.r_mode, progress=advance)
        table = tables.missing_by_pair(arrays, limits, how.fmt)
        return table if limit is None else tables.nearest(table, limit)
    from pooler.results.measure import sensitivity as tables
    from store.analysis.undiscovered.missing import missing_bounds

    bounds = missing_bounds(arrays, missing, r_mode=how.r_mode)
    return (tables.missing_by_topic if by_topic else tables.missing_by_run)(arrays, bounds, how.fmt)


def _each(arrays: JudgedRankings, docnos: Docnos, how: _How, limit: int | None) -> Table:
    """Turn every unjudged document relevant by itself."""
    from pooler.results.measure.sensitivity import each_table
    from store.analysis.undiscovered.each import each_discovery

    with progress("topics", len(arrays.topics)) as advance:
        found = each_discovery(arrays, r_mode=how.r_mode, progress=advance)
    most = 20 if limit is None and how.fmt is Format.TABLE else limit
    return each_table(arrays, found, docnos, most)


def check_pair(arrays: JudgedRankings) -> None:
    """Raise `PoolerError` when there is one run only."""
    if len(arrays.tags) < 2:
        message = f"there is one run, `{arrays.tags[0]}`: a pair needs two"
        raise PoolerError(message, hint="name another run")
