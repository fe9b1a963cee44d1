"""`pooler replay`: what strategies would have found on a collection that is judged already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import Format, counted, emit, progress, say, write_lines
from pooler.cli.given import Given, on_given_runs
from pooler.cli.replay_tables import Result, curves, rows, tables, tables_by_topic, topic_rows
from pooler.cli.runs_given import entries_of
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from pooler.cli.judged import Judged
    from pooler.judged_topics import JudgedTopic
    from pooler.replay import TopicReplay
    from pooler.run_set import RunSet
    from pooler.strategies.kinds import AnyStrategy, ParameterValue
    from store.ranking import Order

DEFAULT_STRATEGIES = ("take", "rrf", "borda", "rbp-a", "mtf", "hedge", "max-mean", "mm-ns", "rbp-b")
"""`take` is depth pooling that stops at the budget: what the others are compared with."""


class UnjudgedName(StrEnum):
    """What a document without a judgement does; see `pooler.replay`."""

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
        int,
        typer.Option("--depth", "-d", "-N", min=1, help="Documents taken from each run and topic."),
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
    by_topic: Annotated[
        bool, typer.Option("--by-topic", "-q", help="One row a topic and strategy.")
    ] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw relevant documents found against judgements.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, help="Of strategies that choose at random.", show_default=False
        ),
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
    from pooler.judged_topics import judged_topics
    from pooler.replay import replay_topic
    from store.arrays import judged_arrays

    given.check()
    if plot and given.fmt is not Format.TABLE:
        raise ArgumentError("--plot", "is for people: it needs --format table", given.fmt.value)
    named = dict.fromkeys(strategies or _default_strategies())
    contenders = [_parse_contender(text, seed) for text in named]
    wanted = None if budgets is None else _parse_budgets(budgets)
    judged = given.load()
    feeding = _feeding(judged, of_files=given.qrels is not None)
    topics = judged_topics(
        judged.ranked, judged.qrels, level=judged.level, depth=depth, feeding=feeding
    )
    if any(one.strategy.uses_scores for one in contenders):
        of_runs = (
            _read_scores(
                given.runs or [], given.listed, depth, given.order.value, lenient=given.lenient
            )
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
                    replay_topic(
                        one.strategy, topic, one.parameters, seed=seed, unjudged=unjudged.value
                    )
                )
                advance(1)
    arrays = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=given.cutoff)
    result = Result(arrays, topics, followed, wanted, unjudged=unjudged.value, depth=depth)
    if not result.n_most:
        message = f"none of the first {depth} documents of any run is judged"
        raise PoolerError(message, hint="the runs and the judgements are of other topics?")
    _tell(judged, result, feeding, seed)
    if given.fmt is not Format.TABLE:
        emit([topic_rows(result) if by_topic else rows(result)], given.fmt)
        return
    emit([tables_by_topic(result)] if by_topic else tables(result), given.fmt)
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
        say(
            f"{counted(extra, 'topic')} of the runs {verbs[0]} no judgement and {verbs[1]} left out"
        )


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
    from pooler.replay import check_replayable
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
    from pooler.run_set import FileRuns
    from pooler.top import read_tops

    if "-" in (*runs, listed):
        message = "standard input cannot be read twice, as strategies on scores need"
        raise PoolerError(message, hint="write the run to a file and name that")
    return FileRuns(read_tops(entries_of(runs, listed), depth, order=order, lenient=lenient))


def _stored_scores(collection: str, tags: Sequence[str], depth: int, order: Order) -> RunSet:
    """Load the first documents of runs of the collection, with their scores."""
    from pooler.stored_runs import stored_runs
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
