"""What strategies would have found on topics that are judged already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Measured, Option, command
from pooler.messages import progress, say
from pooler.pools.plan import DEPTH
from pooler.pools.replay import (
    JudgedTopic,
    TopicReplay,
    Unjudged,
    check_replayable,
    counts_by_budget,
    default_budgets,
    found_by_budget,
    judged_topics,
    order_points,
    replay_topic,
)
from pooler.reasons import REASONS
from pooler.result import Later, Result, frozen_settings
from pooler.sources.judged import Judged
from pooler.sources.source import Source
from pooler.strategies import find_strategy
from pooler.strategies.kinds import AnyStrategy, ParameterValue
from pooler.tables import REASON, TOPIC, Column, Plot, Table, View
from store.analysis.measures.average_precision import relevant_ranks
from store.errors import ArgumentError, PoolerError
from store.text import counted

DEFAULT_STRATEGIES = ("take", "rrf", "borda", "rbp-a", "mtf", "hedge", "max-mean", "mm-ns", "rbp-b")
"""`take` is depth pooling that stops at the budget: what the others are compared with."""
DIGITS = 3
"""Decimals of shares and correlations for people: with four, budgets do not fit beside them."""
_FOUND = "Relevant documents found, by judgements per topic"


_COLUMNS = (
    Column("strategy"),
    Column("budget", "int", about="judgements per topic, at most"),
    Column("judgements", "int", about="those spent"),
    Column("passed_over", "int", about="documents without a judgement that cost nothing", show="if_any"),
    Column("relevant", "int", about="documents found"),
    Column("of_union", "float", about="share of the relevant documents within the depth", digits=DIGITS),
    Column("of_qrels", "float", about="share of all relevant documents", digits=DIGITS),
    Column("precision", "float", about="relevant documents among the judgements spent", digits=DIGITS),
)


def _budgets(option: str, text: str) -> list[int | None]:
    budgets: list[int | None] = []
    for part in text.split(","):
        word = part.strip()
        if word == "all":
            budgets.append(None)
        elif word.isascii() and word.isdigit() and int(word) >= 1:
            budgets.append(int(word))
        else:
            raise ArgumentError(option, "must be integers >= 1, or `all`, with commas", text)
    return budgets


@command
def replay(
    source: Measured,
    strategies: Annotated[
        Sequence[str], Option("--strategy -s NAME[:PARAM=VALUE,...]", default=", ".join(DEFAULT_STRATEGIES))
    ] = (),
    *,
    depth: Annotated[int, Option("--depth -d -N", least=1)] = DEPTH,
    budgets: Annotated[
        Sequence[int | None] | None,
        Option("--budgets N,...", read=_budgets, default="10, 20, 50, 100, 200, 500 ... all"),
    ] = None,
    unjudged: Unjudged = "pass",
    seed: Annotated[int | None, Option("--seed", least=0)] = None,
    cutoff: Cutoff = None,
) -> Replay:
    """Repeat the judging in each strategy's order, and compare them.

    Every topic gets the same budget of judgements. `take` is depth pooling that stops at the budget,
    the one to beat; `depth` lists the whole pool, documents of most runs first. Runs that do not
    contribute (as recorded in the collection or in --runs) are scored but not pooled.

    tau-b and tau_AP compare two orders of all runs by MAP: by the judgements spent so far, and by all
    judgements.

    Example: pooler replay --depth 5 --qrels alice -s take -s rrf:k=10 --budgets 5,10,all --plot found.svg

    strategies : A strategy to follow, or FILE.py:function; may be repeated, as in -s take -s rrf:k=30.
    depth : Documents taken from each run for each topic.
    budgets : Judgements per topic at which to compare; `all` goes to the last document.
    unjudged : A document without a judgement is skipped at no cost (pass), or costs a judgement and counts as
        not relevant (nonrelevant).
    seed : Seed of random strategies.

    Raises
    ------
    UnknownNameError
        If there is no such strategy, or it has no such parameter.
    ArgumentError
        If a strategy cannot be replayed, or a number cannot be used.
    PoolerError
        If no run contributes, or nothing within the depth is judged.

    Notes
    -----
    What has not been judged by a budget counts as not relevant, and a topic without a relevant document found
    so far is in no run's mean; in `budgets` ``None`` is the last document. O(topics) runs of each strategy,
    and O(places + runs^2) a budget.

    Examples
    --------
    >>> from pooler import replay
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "z": 1.0}}}
    >>> found = replay((runs, {"1": {"x": 0, "y": 1, "z": 0}}), ["take"], budgets=[1, 2, None])
    >>> found.budgets, found.found[0, 0].tolist()
    ((1, 2, 3), [1, 1, 1])
    """
    named = [strategies] if isinstance(strategies, str) else strategies or DEFAULT_STRATEGIES
    contenders = [_contender(text, seed) for text in dict.fromkeys(named)]
    if any(one is not None and one < 1 for one in budgets or ()):
        raise ArgumentError("budgets", "must be integers >= 1, or None", budgets)
    judged = source.judged
    if not judged.feeding:
        hint = "name a run that does: `pooler show runs` says which"
        if source.is_of_files:
            hint = "the column `contributes` in the list of --runs FILE says which do"
        raise PoolerError("none of these runs contributes to pools", hint=hint)
    feeding = [*judged.feeding]
    topics = judged_topics(judged.ranked, judged.qrels, level=judged.level, depth=depth, feeding=feeding)
    if any(strategy.uses_scores for _, strategy, _ in contenders):
        topics = _with_scores(topics, source, depth, feeding)
    followed: list[list[TopicReplay]] = [[] for _ in contenders]
    how: dict[str, Any] = {"seed": seed, "unjudged": unjudged}
    with progress("topics", len(contenders) * len(topics)) as advance:
        for (_, strategy, parameters), replays in zip(contenders, followed, strict=True):
            for topic in topics:
                replays.append(replay_topic(strategy, topic, parameters, **how))
                advance(1)
    n_most = max((one.n_judgements for replays in followed for one in replays), default=0)
    if not n_most:
        message = f"none of the first {depth} documents of any run is judged"
        raise PoolerError(message, hint="are the runs and the judgements of different topics?")
    arrays = source.arrays(cutoff or 1000)
    _tell(judged, topics, arrays.topics, feeding, depth, seed)
    at = default_budgets(n_most) if budgets is None else sorted({one or n_most for one in budgets})
    ranks = relevant_ranks(arrays)
    orders = [order_points(ranks, topics, replays, at) for replays in followed]
    counts = np.stack([counts_by_budget(replays, at) for replays in followed])
    settings = frozen_settings(
        strategies=tuple(label for label, _, _ in contenders),
        budgets=tuple(at),
        cutoff=cutoff or 1000,
        **source.settings(),
    )
    return Replay(
        strategies=settings["strategies"],
        topics=arrays.topics,
        budgets=settings["budgets"],
        judgements=counts[:, 0],
        found=counts[:, 1],
        passed_over=counts[:, 2],
        curves=np.stack([found_by_budget(replays, min(at[-1], n_most)) for replays in followed]),
        tau_b=np.array([[tau_b.tau for tau_b, _ in of_one] for of_one in orders], np.float64),
        tau_ap=np.array([[tau_ap.tau for _, tau_ap in of_one] for of_one in orders], np.float64),
        tau_reasons=[[tau_b.reason or tau_ap.reason for tau_b, tau_ap in of_one] for of_one in orders],
        in_union=np.array([len(topic.relevant) for topic in topics], np.int64),
        in_qrels=arrays.n_relevant,
        n_most=n_most,
        n_union=sum(len(topic.outcomes) for topic in topics),
        n_unjudged=sum(int((topic.outcomes < 0).sum()) for topic in topics),
        settings=settings,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Replay(Result):
    """Strategies followed; tables: `replay`, a row a budget and strategy; `topics`, by topic, too."""

    strategies: Sequence[str]
    """As they were asked for."""
    topics: Sequence[str]
    budgets: Sequence[int]
    """Judgements a topic, ascending."""
    judgements: NDArray[np.int64]
    """Shape (strategies, topics, budgets), as the next two: spent, at most the budget."""
    found: NDArray[np.int64]
    """Relevant documents."""
    passed_over: NDArray[np.int64]
    """Unjudged documents that cost nothing."""
    curves: NDArray[np.int64]
    """Shape (strategies, n + 1): relevant documents after 0 to n judgements a topic."""
    tau_b: NDArray[np.float64]
    """Shape (strategies, budgets), as `tau_ap`: of the order of the runs; NaN where undefined."""
    tau_ap: NDArray[np.float64]
    tau_reasons: Sequence[Sequence[str | None]]
    """Why one of these is undefined: ``no-relevant``, ``fewer-than-two``, ``all-tied``."""
    in_union: NDArray[np.int64]
    """Shape (topics,): relevant documents within the depth of a run that contributes."""
    in_qrels: NDArray[np.int64]
    """Shape (topics,): relevant documents."""
    n_most: int
    """Judgements that the longest topic takes."""
    n_union: int
    """Documents within the depth."""
    n_unjudged: int
    """Those of them without a judgement."""

    HAS_TOPICS = True

    def _tables(self) -> Iterator[Later]:
        yield Later(self._replay)
        yield Later(self._topics, by_name=True)

    def facts(self) -> Mapping[str, Any]:
        """Return what there was to find."""
        return {
            "relevant_in_union": int(self.in_union.sum()),
            "relevant_in_qrels": int(self.in_qrels.sum()),
            "documents_in_union": self.n_union,
            "unjudged_in_union": self.n_unjudged,
            "most_judgements": self.n_most,
        }

    def plots(self) -> tuple[Plot, ...]:
        """Return the relevant documents found, over the judgements a topic."""
        spent = Column("judgements", "int", "judgements per topic")
        found = (Column(name, "int", name) for name in self.strategies)
        columns = {spent: np.arange(self.curves.shape[1]), **dict(zip(found, self.curves, strict=True))}
        plot = Plot(
            table=Table.of_columns("curves", columns),
            kind="lines",
            label="judgements",
            parts=self.strategies,
            axis="documents",
            title="Relevant documents found",
        )
        return (plot,)

    def _replay(self) -> Table:
        rows = [
            {
                **self._row(one, place, np.s_[:]),
                "tau_b": self.tau_b[one, place],
                "tau_ap": self.tau_ap[one, place],
                "reason": self.tau_reasons[one][place],
            }
            for place in range(len(self.budgets))
            for one in range(len(self.strategies))
        ]
        of_orders = "Kendall's, between the order of the runs by MAP and the order by all judgements"
        of_tops = "the same, giving the first places most weight"
        columns = [
            *_COLUMNS,
            Column("tau_b", "float", "tau-b", of_orders, DIGITS),
            Column("tau_ap", "float", "tau-AP", of_tops, DIGITS),
            REASON,
        ]
        return Table.of_rows("replay", columns, rows).seen_as(*self._grids())

    def _topics(self) -> Table:
        rows = [
            {"topic": topic, **self._row(one, place, number), "reason": self._reason(one, number, place)}
            for number, topic in enumerate(self.topics)
            for place in range(len(self.budgets))
            for one in range(len(self.strategies))
        ]
        topics, strategies = zip(*product(self.topics, self.strategies), strict=True)
        names = {"topic": topics, "strategy": strategies}
        found = self.found.swapaxes(0, 1).reshape(-1, len(self.budgets))
        grid = self._grid("found", names, found, "int", title=_FOUND, notes=self._notes())
        return Table.of_rows("topics", [TOPIC, *_COLUMNS, REASON], rows).seen_as(grid)

    def _row(self, one: int, place: int, topics: int | slice) -> dict[str, Any]:
        at = one, topics, place
        spent, found = int(self.judgements[at].sum()), int(self.found[at].sum())
        in_union, in_qrels = int(self.in_union[topics].sum()), int(self.in_qrels[topics].sum())
        return {
            "strategy": self.strategies[one],
            "budget": self.budgets[place],
            "judgements": spent,
            "passed_over": int(self.passed_over[at].sum()),
            "relevant": found,
            "of_union": found / in_union if in_union else None,
            "of_qrels": found / in_qrels if in_qrels else None,
            "precision": found / spent if spent else None,
        }

    def _reason(self, one: int, topic: int, place: int) -> str | None:
        if not self.judgements[one, topic, place]:
            return "no-judgements"
        if self.in_union[topic]:
            return None
        return "none-in-union" if self.in_qrels[topic] else "no-relevant"

    def _grids(self) -> list[View]:
        labels = {"strategy": self.strategies}
        found = self.found.sum(axis=1)
        spent = self.judgements[:1].sum(axis=1)
        in_union = self.in_union.sum()
        share = found / in_union if in_union else np.full(found.shape, np.nan)
        codes = {one.split(", ")[0] for of_one in self.tau_reasons for one in of_one if one is not None}
        of_tau_b = "Kendall's tau-b of the order of the runs by MAP and the order by all judgements"
        of_tau_ap = "tau_AP the same, giving the first places most weight"
        why = [f"-: undefined, because {REASONS[code]}." for code in sorted(codes)]
        return [
            self._grid(
                "found",
                {"strategy": ["(judgements)", *self.strategies]},
                np.concatenate([spent, found]),
                "int",
                title=_FOUND,
                notes=self._notes(),
            ),
            self._grid("share", labels, share, title="Share of the relevant documents of the union"),
            self._grid("tau_b", labels, self.tau_b, title=of_tau_b, notes=why),
            self._grid("tau_ap", labels, self.tau_ap, title=of_tau_ap, notes=why),
        ]

    def _grid(
        self,
        name: str,
        labels: Mapping[str, Sequence[str]],
        cells: NDArray[Any],
        kind: Any = "float",
        *,
        title: str,
        notes: Sequence[str] = (),
    ) -> View:
        heads = ["all" if one == self.n_most else f"{one:,}" for one in self.budgets]
        columns = [Column(head.replace(",", ""), kind, head, digits=DIGITS) for head in heads]
        data = dict(zip((column.name for column in columns), cells.T, strict=True))
        return View(Table(name, [*map(Column, labels), *columns], {**labels, **data}, title, notes))

    def _notes(self) -> list[str]:
        lines = [
            f"{self.in_union.sum():,} relevant documents are in the union of the runs,"
            f" {self.in_qrels.sum():,} in the judgements."
        ]
        if self.n_unjudged:
            fate = "passed over, at no cost"
            if self.settings["unjudged"] != "pass":
                fate = "each costs a judgement that says not relevant"
            n_union = f"{self.n_union:,} documents of the union"
            lines.append(f"{self.n_unjudged:,} of the {n_union} have no judgement: {fate}.")
        if self.n_most in self.budgets:
            lines.append(f"all: to the last document, at most {self.n_most:,} judgements per topic.")
        return lines


def _tell(
    judged: Judged,
    topics: Sequence[JudgedTopic],
    names: Sequence[str],
    feeding: Sequence[str],
    depth: int,
    seed: int | None,
) -> None:
    runs = counted(len(judged.ranked.tags), "run")
    if len(feeding) < len(judged.ranked.tags):
        runs = f"the {len(feeding):,} of {runs} that contribute; all are scored"
    say(f"{counted(len(topics), 'judged topic')}, the first {depth:,} documents of {runs}")
    if seed is not None:
        say(f"seed {seed}")
    empty = sum(not topic.rankings.n_documents for topic in topics)
    if empty:
        say(f"{empty:,} of them {'is' if empty == 1 else 'are'} in none of these runs")
    extra = len({topic for _, topic in judged.ranked.rankings} - set(names))
    if extra:
        verbs = ("has", "is") if extra == 1 else ("have", "are")
        say(f"{counted(extra, 'topic')} of the runs {verbs[0]} no judgement and {verbs[1]} left out")


def _contender(text: str, seed: int | None) -> tuple[str, AnyStrategy, dict[str, ParameterValue]]:
    """Return the name by which a strategy was asked for, the strategy, and its parameters."""
    name, _, listed = text.partition(":")
    if name.endswith(".py"):
        function, _, listed = listed.partition(":")
        name = f"{name}:{function}"
    strategy = find_strategy(name)
    check_replayable(strategy, seed)
    try:
        parameters = strategy.complete(_parameters(listed, strategy))
    except ArgumentError as error:
        name = f"--strategy {name}:{error.name}"
        raise ArgumentError(name, error.requirement, error.got, hint=error.hint) from None
    return text if listed else name, strategy, parameters


def _parameters(listed: str, strategy: AnyStrategy) -> dict[str, ParameterValue]:
    """Read `PARAM=VALUE,...`; raise `ArgumentError` when it is not that."""
    known = {parameter.name: parameter for parameter in strategy.parameters}
    given: dict[str, ParameterValue] = {}
    for part in listed.split(",") if listed else []:
        name, equals, value = part.partition("=")
        if not equals or name in given:
            requirement = "must be NAME, or NAME:PARAM=VALUE,PARAM=VALUE, each parameter once"
            raise ArgumentError("strategy", requirement, f"{strategy.name}:{listed}")
        given[name] = known[name].parse(value) if name in known else value
    return given


def _with_scores(
    topics: Sequence[JudgedTopic], source: Source, depth: int, feeding: Sequence[str]
) -> list[JudgedTopic]:
    """Add the scores of the same ranks of the same runs to every topic: they are read once more."""
    runs = source.tops(depth, scores=True, tags=feeding)
    added = []
    for topic in topics:
        rankings = topic.rankings
        if rankings.n_documents:
            rankings = replace(rankings, scores=runs.of_topic(rankings.topic, scores=True).rankings.scores)
        added.append(replace(topic, rankings=rankings))
    return added
