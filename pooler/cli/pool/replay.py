"""Replay: what a strategy would have found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit, write_lines
from pooler.cli.plots import Curve, plot_lines
from pooler.cli.source_options import GivenPrinted as Given
from pooler.cli.source_options import on_given_runs
from pooler.results.judge_kinds import titled
from pooler.results.printed import Cell, Column, Format, Table
from pooler.results.source import entries_of
from pooler.telling import progress, say
from store.errors import ArgumentError, PoolerError
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from pooler.pools.replay import JudgedTopic, OrderPoint, Point, TopicReplay, Unjudged
    from pooler.pools.runs import RunSet
    from pooler.results.source import Judged
    from pooler.strategies.kinds import AnyStrategy, ParameterValue
    from store.analysis.rankings import JudgedRankings
    from store.ranking import Order

FOUND_TITLE = "Relevant documents found, by judgements a topic"
DIGITS = 3
"""Decimals of shares and correlations for people: with four, budgets do not fit beside them."""


class Result:
    """All strategies on all topics.

    Parameters
    ----------
    arrays : JudgedRankings
        The runs that are put in order, and all judgements.
    topics : sequence of JudgedTopic
        The topics of `arrays`.
    followed : mapping of str to sequence of TopicReplay
        By the strategy as it was asked for, one a topic.
    budgets : sequence of (int or None), optional
        Judgements a topic; ``None`` in it is the last document. Default: a series.
    unjudged : {"pass", "nonrelevant"}
        What unjudged documents did.
    depth : int
        Ranks taken from each run.
    """

    def __init__(
        self,
        arrays: JudgedRankings,
        topics: Sequence[JudgedTopic],
        followed: Mapping[str, Sequence[TopicReplay]],
        budgets: Sequence[int | None] | None,
        *,
        unjudged: Unjudged,
        depth: int,
    ) -> None:
        from pooler.pools.replay import default_budgets

        self.arrays = arrays
        self.topics = topics
        self.followed = followed
        self.unjudged = unjudged
        self.depth = depth
        costs = [one.n_judgements for replays in followed.values() for one in replays]
        self.n_most = max(costs, default=0)
        """Judgements the longest topic takes."""
        if budgets is None:
            self.budgets = default_budgets(self.n_most)
        else:
            self.budgets = sorted({one or self.n_most for one in budgets})
        self.n_union = sum(len(topic.outcomes) for topic in topics)
        self.n_unjudged = sum(int((topic.outcomes < 0).sum()) for topic in topics)
        self.in_union = sum(len(topic.relevant) for topic in topics)
        """Relevant documents of the union of the runs, at the depth."""
        self.in_qrels = int(arrays.n_relevant.sum())

    @cached_property
    def points(self) -> dict[str, list[Point]]:
        """By strategy, one a budget."""
        from pooler.pools.replay import points

        return {label: points(replays, self.budgets) for label, replays in self.followed.items()}

    @cached_property
    def orders(self) -> dict[str, list[OrderPoint]]:
        """By strategy, one a budget."""
        from pooler.pools.replay import order_points
        from store.analysis.pools.growth import relevant_ranks

        ranks = relevant_ranks(self.arrays)
        return {
            label: order_points(ranks, self.topics, replays, self.budgets)
            for label, replays in self.followed.items()
        }

    def headings(self) -> list[str]:
        """Word the budgets for people."""
        return ["all" if one == self.n_most else f"{one:,}" for one in self.budgets]


def rows(result: Result) -> Table:
    """Make one row a budget and strategy."""
    names = ("strategy", "budget", "judgements", "passed_over", "relevant", "of_union", "of_qrels",
             "precision", "tau_b", "tau_ap", "reason")  # fmt: skip
    table = Table("replay", [Column(name) for name in names])
    for place in range(len(result.budgets)):
        for label in result.followed:
            point, order = result.points[label][place], result.orders[label][place]
            table.rows.append(
                _counts(label, point, result.in_union, result.in_qrels)
                | {
                    "tau_b": order.tau_b.tau,
                    "tau_ap": order.tau_ap.tau,
                    "reason": order.tau_b.reason or order.tau_ap.reason,
                }
            )
    return table


def topic_rows(result: Result) -> Table:
    """Make one row a topic, budget and strategy."""
    from pooler.pools.replay import points

    names = ("topic", "strategy", "budget", "judgements", "passed_over", "relevant", "of_union",
             "of_qrels", "precision", "reason")  # fmt: skip
    table = Table("replay", [Column(name) for name in names])
    for place, (name, topic) in enumerate(zip(result.arrays.topics, result.topics, strict=True)):
        in_qrels, in_union = int(result.arrays.n_relevant[place]), len(topic.relevant)
        reason = None if in_union else "none-in-union" if in_qrels else "no-relevant"
        at = {label: points([replays[place]], result.budgets) for label, replays in result.followed.items()}
        for index in range(len(result.budgets)):
            for label in result.followed:
                counts = _counts(label, at[label][index], in_union, in_qrels)
                no_judgement = None if counts["judgements"] else "no-judgements"
                table.rows.append({"topic": name, **counts, "reason": no_judgement or reason})
    return table


def _counts(label: str, point: Point, in_union: int, in_qrels: int) -> dict[str, Cell]:
    """Return what a strategy found, and the shares that are defined."""
    found, spent = point.n_relevant, point.n_judgements
    return {
        "strategy": label,
        "budget": point.budget,
        "judgements": spent,
        "passed_over": point.n_passed_over,
        "relevant": found,
        "of_union": found / in_union if in_union else None,
        "of_qrels": found / in_qrels if in_qrels else None,
        "precision": found / spent if spent else None,
    }


def tables(result: Result) -> list[Table]:
    """Make the tables for people: a row a strategy, a column a budget."""
    found = _grid("found", result, {
        label: [point.n_relevant for point in at] for label, at in result.points.items()
    })  # fmt: skip
    found.title = FOUND_TITLE
    spent = [point.n_judgements for point in next(iter(result.points.values()))]
    found.rows.insert(0, _grid_row("(judgements)", spent))
    found.caption = _found_caption(result)
    share = _grid("share", result, {
        label: [point.n_relevant / result.in_union if result.in_union else None for point in at]
        for label, at in result.points.items()
    })  # fmt: skip
    share.title = "Share of the relevant documents of the union"
    tau_b = _grid("tau_b", result, {
        label: [order.tau_b.tau for order in at] for label, at in result.orders.items()
    })  # fmt: skip
    tau_b.title = "Kendall's tau-b of the order of the runs by MAP with that of all judgements"
    tau_ap = _grid("tau_ap", result, {
        label: [order.tau_ap.tau for order in at] for label, at in result.orders.items()
    })  # fmt: skip
    tau_ap.title = "tau-AP of the same: the first places of the runs weigh most"
    reasons = {order.tau_b.reason for at in result.orders.values() for order in at} - {None}
    if reasons:
        tau_b.caption = tau_ap.caption = f"-: {', '.join(sorted(filter(None, reasons)))}"
    return [found, share, tau_b, tau_ap]


def tables_by_topic(result: Result) -> Table:
    """Make the table for people: a row a topic and strategy, a column a budget."""
    columns = [Column("topic"), Column("strategy"), *_budget_columns(result)]
    table = Table("found", columns, title=FOUND_TITLE)
    for place, topic in enumerate(result.arrays.topics):
        for label, replays in result.followed.items():
            found = [replays[place].n_found(budget) for budget in result.budgets]
            table.rows.append({"topic": topic, **_grid_row(label, found)})
    table.caption = _found_caption(result)
    return table


def curves(result: Result) -> list[str]:
    """Draw the relevant documents found, over the judgements a topic."""
    from pooler.pools.replay import found_by_budget

    most = min(result.budgets[-1], result.n_most)
    drawn = [
        Curve(sanitise_line(label), found_by_budget(replays, most).tolist())
        for label, replays in result.followed.items()
    ]
    return plot_lines(drawn, title="Relevant documents found", x_label="judgements a topic")


def _found_caption(result: Result) -> str:
    """Say what there is to be found, and what became of documents without a judgement."""
    lines = [
        f"{result.in_union:,} relevant documents are in the union of the runs,"
        f" {result.in_qrels:,} in the judgements."
    ]
    if result.n_unjudged:
        fate = (
            "passed over, at no cost"
            if result.unjudged == "pass"
            else "each a judgement that says not relevant"
        )
        lines.append(
            f"{result.n_unjudged:,} of the {result.n_union:,} documents of the union have no"
            f" judgement: {fate}."
        )
    if result.n_most in result.budgets:
        lines.append(f"all: to the last document, at most {result.n_most:,} judgements a topic.")
    return "\n".join(lines)


def _budget_columns(result: Result) -> list[Column]:
    """Make a column a budget."""
    return [Column(str(place), heading, DIGITS) for place, heading in enumerate(result.headings())]


def _grid(name: str, result: Result, cells: Mapping[str, Sequence[Cell]]) -> Table:
    """Make a table of a row a strategy and a column a budget."""
    table = Table(name, [Column("strategy"), *_budget_columns(result)])
    table.rows.extend(_grid_row(label, row) for label, row in cells.items())
    return table


def _grid_row(label: str, cells: Sequence[Cell]) -> dict[str, Cell]:
    """Make a row of a strategy."""
    return {"strategy": label} | {str(place): cell for place, cell in enumerate(cells)}


DEFAULT_STRATEGIES = ("take", "rrf", "borda", "rbp-a", "mtf", "hedge", "max-mean", "mm-ns", "rbp-b")
"""`take` is depth pooling that stops at the budget: what the others are compared with."""


class UnjudgedName(StrEnum):
    """What a document without a judgement does; see `pooler.pools.replay`."""

    PASS = "pass"
    NONRELEVANT = "nonrelevant"


@dataclass(frozen=True, slots=True)
class Contender:
    """A strategy with its parameters, as it was asked for."""

    label: str
    strategy: AnyStrategy
    parameters: dict[str, ParameterValue]


@on_given_runs
def replay(
    given: Given,
    *,
    strategies: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            metavar="NAME[:PARAM=VALUE,...]",
            help="Follow this strategy; may be repeated, as in -s take -s rrf:k=30.",
            show_default=", ".join(DEFAULT_STRATEGIES),
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", "-d", "-N", min=1, help="Documents taken from each run and topic.")
    ] = 100,
    budgets: Annotated[
        str | None,
        typer.Option(
            "--budgets",
            metavar="N,...",
            help="Judgements a topic at which to compare; `all` is to the last document.",
            show_default="10, 20, 50, 100, 200, 500 ... all",
        ),
    ] = None,
    unjudged: Annotated[
        UnjudgedName,
        typer.Option(
            "--unjudged",
            help="A document without a judgement is passed over and costs nothing (pass), or costs"
            " a judgement and counts as not relevant (nonrelevant).",
        ),
    ] = UnjudgedName.PASS,
    by_topic: Annotated[bool, typer.Option("--by-topic", "-q", help="One row a topic and strategy.")] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw relevant documents found against judgements.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Of strategies that choose at random.", show_default=False),
    ] = None,
) -> None:
    """Judge again in the order of each strategy: what it finds, and how soon the run order stands.

    Every topic gets the same budget of judgements. `take` is depth pooling that stops at the
    budget, the one to beat; `depth` lists the whole pool, documents of most runs first. Runs that
    do not contribute, as a collection or --runs says, are scored but not pooled.

    tau-b and tau-AP compare the order of all runs by MAP, with only the judgements spent so far,
    with their order by all judgements.

    Example: pooler replay --depth 5 --judge alice -s take -s rrf:k=10 --budgets 5,10,all --plot
    """
    from pooler.pools.replay import judged_topics, replay_topic
    from store.analysis.arrays import judged_arrays

    given.check()
    if plot and given.fmt is not Format.TABLE:
        raise ArgumentError("--plot", "is for people: it needs --format table", given.fmt.value)
    named = dict.fromkeys(strategies or _default_strategies())
    contenders = [_parse_contender(text, seed) for text in named]
    wanted = None if budgets is None else _parse_budgets(budgets)
    judged = given.load()
    feeding = _feeding(judged, of_files=given.qrels is not None)
    topics = judged_topics(judged.ranked, judged.qrels, level=judged.level, depth=depth, feeding=feeding)
    if any(one.strategy.uses_scores for one in contenders):
        of_runs = (
            _read_scores(given.runs or [], given.listed, depth, given.order.value, lenient=given.lenient)
            if given.qrels is not None
            else _stored_scores(given.collection, feeding, depth, given.order.value)
        )
        topics = _with_scores(topics, of_runs)
    followed: dict[str, list[TopicReplay]] = {}
    with progress("topics", len(contenders) * len(topics)) as advance:
        for one in contenders:
            followed[one.label] = []
            for topic in topics:
                followed[one.label].append(
                    replay_topic(one.strategy, topic, one.parameters, seed=seed, unjudged=unjudged.value)
                )
                advance(1)
    arrays = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=given.cutoff)
    result = Result(arrays, topics, followed, wanted, unjudged=unjudged.value, depth=depth)
    if not result.n_most:
        message = f"none of the first {depth} documents of any run is judged"
        raise PoolerError(message, hint="the runs and the judgements are of other topics?")
    _tell(judged, result, feeding, seed)
    if given.fmt is not Format.TABLE:
        table = topic_rows(result) if by_topic else rows(result)
        emit(titled([table], judged.kinds, given.fmt), given.fmt)
        return
    shown = [tables_by_topic(result)] if by_topic else tables(result)
    emit(titled(shown, judged.kinds, given.fmt), given.fmt)
    if plot:
        write_lines(None, ["", *curves(result)])


def _tell(judged: Judged, result: Result, feeding: Sequence[str], seed: int | None) -> None:
    """Say what was replayed, and what could not be."""
    topics = result.topics
    runs = counted(len(judged.ranked.tags), "run")
    if len(feeding) < len(judged.ranked.tags):
        runs = f"the {len(feeding):,} of {runs} that contribute; all are scored"
    say(f"{counted(len(topics), 'judged topic')}, the first {result.depth:,} documents of {runs}")
    if seed is not None:
        say(f"seed {seed}")
    empty = sum(not topic.rankings.n_documents for topic in topics)
    if empty:
        say(f"{empty:,} of them {'is' if empty == 1 else 'are'} in none of these runs")
    extra = len({topic for _, topic in judged.ranked.rankings} - set(result.arrays.topics))
    if extra:
        verbs = ("has", "is") if extra == 1 else ("have", "are")
        say(f"{counted(extra, 'topic')} of the runs {verbs[0]} no judgement and {verbs[1]} left out")


def _default_strategies() -> list[str]:
    """Return the default strategies that there are."""
    from pooler.strategies import STRATEGIES

    return [name for name in DEFAULT_STRATEGIES if name in STRATEGIES]


def _parse_contender(text: str, seed: int | None) -> Contender:
    """Read what `--strategy` was given.

    Raises
    ------
    UnknownNameError
        If there is no such strategy, or it has no such parameter.
    PoolerError
        If it cannot be replayed, a value cannot be used, or one that must be given is not.
    """
    from pooler.pools.replay import check_replayable
    from pooler.strategies import find_strategy

    name, _, listed = text.partition(":")
    strategy = find_strategy(name)
    check_replayable(strategy, seed)
    try:
        parameters = strategy.complete(_parse_parameters(listed, strategy))
    except ArgumentError as error:
        message = error.message.replace("--param ", f"--strategy {name}:")
        raise PoolerError(message, hint=error.hint) from None
    return Contender(text if listed else name, strategy, parameters)


def _parse_parameters(listed: str, strategy: AnyStrategy) -> dict[str, ParameterValue]:
    """Read `PARAM=VALUE,...`; raise `ArgumentError` when it is not that."""
    known = {parameter.name: parameter for parameter in strategy.parameters}
    given: dict[str, ParameterValue] = {}
    for part in listed.split(",") if listed else []:
        name, equals, value = part.partition("=")
        if not equals or name in given:
            requirement = "must be NAME, or NAME:PARAM=VALUE,PARAM=VALUE, each parameter once"
            raise ArgumentError("--strategy", requirement, f"{strategy.name}:{listed}")
        given[name] = known[name].parse(value) if name in known else value
    return given


def _parse_budgets(text: str) -> list[int | None]:
    """Read what `--budgets` was given; ``None`` is `all`."""
    budgets: list[int | None] = []
    for part in text.split(","):
        word = part.strip()
        if word == "all":
            budgets.append(None)
        elif word.isascii() and word.isdigit() and int(word) >= 1:
            budgets.append(int(word))
        else:
            raise ArgumentError("--budgets", "must be integers >= 1, or `all`, with commas", text)
    return budgets


def _feeding(judged: Judged, *, of_files: bool) -> list[str]:
    """Return the tags of the runs that contribute; raise `PoolerError` when there is none."""
    if not judged.feeding:
        message = "none of these runs contributes to pools"
        hint = "name a run that does: `pooler list runs` says which"
        if of_files:
            hint = "in the list of --runs, `contributes` says which do"
        raise PoolerError(message, hint=hint)
    return list(judged.feeding)


def _read_scores(
    runs: Sequence[str], listed: str | None, depth: int, order: Order, *, lenient: bool
) -> RunSet:
    """Read the first documents of run files once more, with their scores."""
    from pooler.pools.runs import FileRuns
    from pooler.reading.top import read_tops

    if "-" in (*runs, listed):
        message = "standard input cannot be read twice, as strategies on scores need"
        raise PoolerError(message, hint="write the run to a file and name that")
    return FileRuns(read_tops(entries_of(runs, listed), depth, order=order, lenient=lenient))


def _stored_scores(collection: str, tags: Sequence[str], depth: int, order: Order) -> RunSet:
    """Load the first documents of runs of the collection, with their scores."""
    from pooler.pools.runs import stored_runs
    from store.collection import Collection

    with Collection(collection) as opened:
        return stored_runs(opened, depth=depth, order=order, tags=tags, scores=True)


def _with_scores(topics: Sequence[JudgedTopic], runs: RunSet) -> list[JudgedTopic]:
    """Add the scores of the same ranks of the same runs to every topic."""
    added = []
    for topic in topics:
        rankings = topic.rankings
        if rankings.n_documents:
            table = runs.of_topic(rankings.topic, scores=True).rankings.scores
            rankings = replace(rankings, scores=table)
        added.append(replace(topic, rankings=rankings))
    return added
