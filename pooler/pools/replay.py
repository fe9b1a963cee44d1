"""What a strategy would have found.

A strategy is followed to the last document of the union of the runs. A judged document costs a
judgement, and an adaptive strategy gets its outcome. What is unjudged is passed over: it
costs nothing, the strategy learns that it has no judgement, and it is counted - or, if asked, it
costs a judgement and counts as not relevant. So strategies can be compared at equal cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pooler.pools.plan import SEED_HINT
from pooler.pools.runs import numbered
from pooler.strategies.kinds import (
    Adaptive,
    AdaptiveStrategy,
    AnyStrategy,
    FixedStrategy,
    ParameterValue,
    SamplingStrategy,
)
from pooler.strategies.rankings import TopicRankings, descending
from store.analysis.arrays import RankedDocuments
from store.analysis.measures.average_precision import RelevantRanks
from store.analysis.rankings import NOT_RELEVANT, RELEVANT, UNJUDGED
from store.analysis.run_order import TIED_MAP, TauResult, kendall_tau_b, tau_ap
from store.errors import ArgumentError
from store.records import Qrel
from store.text import natural_key

_OUTCOMES = {None: UNJUDGED, True: RELEVANT, False: NOT_RELEVANT}
_NO_IDS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedTopic:
    """The first documents of every run for one topic, and what is known of them."""

    rankings: TopicRankings
    outcomes: NDArray[np.int8]
    """Shape (n_documents,): `RELEVANT`, `NOT_RELEVANT` or `UNJUDGED`, by document number."""
    relevant: NDArray[np.int64]
    """Shape (n_relevant,): numbers of the relevant documents of the union, ascending, ..."""
    among_relevant: NDArray[np.int64]
    """... and the number of each in `RelevantRanks`."""


def judged_topics(
    ranked: RankedDocuments,
    qrels: Sequence[Qrel],
    *,
    level: int,
    depth: int,
    feeding: Collection[str] | None = None,
) -> list[JudgedTopic]:
    """Put the first documents of every run beside what is known of them."""
    by_topic: dict[str, dict[int, bool]] = {}
    n_relevant: Counter[str] = Counter()
    for qrel in qrels:
        judged = by_topic.setdefault(qrel.topic, {})
        is_relevant = qrel.grade >= level
        n_relevant[qrel.topic] += is_relevant
        number = ranked.ids.get(qrel.docno)
        if number is not None:
            judged[number] = is_relevant
    tags = sorted(ranked.tags if feeding is None else feeding)
    topics = []
    n_before = 0
    for topic in sorted(by_topic, key=natural_key):
        rows = [ranked.rankings.get((tag, topic)) for tag in tags]
        taken = [row[:depth] for row in rows if row is not None and row.size]
        rankings, ids = numbered(taken, ranked.docnos, topic)
        judged = by_topic[topic]
        outcomes = np.array([_OUTCOMES[judged.get(one)] for one in ids.tolist()], np.int8)
        relevant = np.flatnonzero(outcomes == RELEVANT)
        # Documents that no run retrieved come last in the numbers of `RelevantRanks`.
        known = np.sort(np.array([one for one, is_so in judged.items() if is_so], np.int64))
        among = n_before + np.searchsorted(known, ids[relevant])
        topics.append(JudgedTopic(rankings, outcomes, relevant, among))
        n_before += n_relevant[topic]
    return topics


Unjudged = Literal["pass", "nonrelevant"]
"""What a document without a judgement does: it is passed over, or it counts as not relevant."""

NEVER = np.iinfo(np.int64).max
"""Judgements after which a document is found that is in no feeding run."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicReplay:
    """How one strategy went through one topic."""

    order: NDArray[np.int64]
    """Shape (n_documents,): every document of the union, in the order it was drawn."""
    paid: NDArray[np.int64]
    """Shape (n_judgements,): places in `order`, from 0, of the documents that cost a judgement."""
    found: NDArray[np.int64]
    """Shape (n_judgements + 1,): relevant documents among the first 0, 1, ... judgements."""

    @property
    def n_judgements(self) -> int:
        """Judgements it took to come to the end."""
        return len(self.paid)


def check_replayable(
    strategy: AnyStrategy, seed: int | None, parameters: Mapping[str, ParameterValue] | None = None
) -> None:
    """Raise `ArgumentError` when a strategy cannot be followed document by document."""
    if isinstance(strategy, SamplingStrategy):
        requirement = "must order documents; a sample, drawn at once, has no order to replay"
        raise ArgumentError("strategy", requirement, strategy.name)
    if seed is None and _is_random(strategy, parameters):
        requirement = f"must be given: `{strategy.name}` chooses at random"
        raise ArgumentError("seed", requirement, seed, hint=SEED_HINT)


def _is_random(strategy: AnyStrategy, parameters: Mapping[str, ParameterValue] | None) -> bool:
    if not isinstance(strategy, AdaptiveStrategy):
        return False
    return strategy.needs_seed if parameters is None else strategy.needs_seed_for(parameters)


def replay_topic(
    strategy: AnyStrategy,
    topic: JudgedTopic,
    parameters: Mapping[str, ParameterValue],
    *,
    seed: int | None = None,
    unjudged: Unjudged = "pass",
) -> TopicReplay:
    """Follow a strategy through one topic to the last document."""
    check_replayable(strategy, seed, parameters)
    given: dict[str, ParameterValue | None] = dict(parameters)
    if not topic.rankings.n_documents:
        order = _NO_IDS
    elif isinstance(strategy, FixedStrategy):
        order = descending(strategy.values(topic.rankings, **given))
    elif isinstance(strategy, AdaptiveStrategy):
        if _is_random(strategy, parameters):
            given["seed"] = seed
        order = _follow(strategy.start(topic.rankings, **given), topic.outcomes, unjudged)
    outcomes = topic.outcomes[order]
    paid = np.flatnonzero(outcomes != UNJUDGED) if unjudged == "pass" else np.arange(order.size)
    found = np.concatenate(([0], np.cumsum(outcomes[paid] == RELEVANT)))
    return TopicReplay(order, paid, found)


def _follow(state: Adaptive, outcomes: NDArray[np.int8], unjudged: Unjudged) -> NDArray[np.int64]:
    known = {RELEVANT: True, NOT_RELEVANT: False, UNJUDGED: None if unjudged == "pass" else False}
    relevant = [known[outcome] for outcome in outcomes.tolist()]
    order = []
    while (document := state.choose()) is not None:
        state.observe(document, relevant[document])
        order.append(document)
    return np.array(order, np.int64)


def default_budgets(n_most: int) -> list[int]:
    """Return budgets to look at: 10, 20, 50, 100, 200, 500 and so on, and the last of all."""
    budgets = []
    step = 10
    while step < n_most:
        budgets += [step * times for times in (1, 2, 5) if step * times < n_most]
        step *= 10
    return [*budgets, n_most] if n_most else []


def found_by_budget(replays: Sequence[TopicReplay], n_most: int) -> NDArray[np.int64]:
    """Count the relevant documents of all topics after 0, 1, ... `n_most` judgements in each."""
    total = np.zeros(n_most + 1, np.int64)
    for replay in replays:
        found = replay.found[: n_most + 1]
        total[: found.size] += found
        total[found.size :] += found[-1]
    return total


def counts_by_budget(replays: Sequence[TopicReplay], budgets: Sequence[int]) -> NDArray[np.int64]:
    """Count what a strategy spent, found and passed over in every topic at several budgets.

    Shape (3, n_topics, n_budgets): judgements, relevant ones among them, unjudged documents drawn for nothing
    until a judgement more would be spent.
    """
    counts = np.zeros((3, len(replays), len(budgets)), np.int64)
    for place, one in enumerate(replays):
        spent = np.minimum(budgets, one.n_judgements)
        drawn = np.append(one.paid, len(one.order))[spent]
        counts[:, place] = spent, one.found[spent], drawn - spent
    return counts


def order_points(
    ranks: RelevantRanks,
    topics: Sequence[JudgedTopic],
    replays: Sequence[TopicReplay],
    budgets: Sequence[int],
) -> list[tuple[TauResult, TauResult]]:
    """Compare the order of the runs by MAP at several budgets with that by all judgements: tau-b and tau-AP.

    What has not been judged by then counts as not relevant, and a topic without a relevant document found is
    in no run's mean. Undefined while none has been found: reason ``no-relevant``.
    """
    found_after = np.full(ranks.topic_of.shape, NEVER, np.int64)
    for topic, replay in zip(topics, replays, strict=True):
        after = np.full(topic.outcomes.shape, NEVER, np.int64)
        after[replay.order[replay.paid]] = np.arange(1, replay.n_judgements + 1)
        found_after[topic.among_relevant] = after[topic.relevant]
    truth, _ = ranks.mean_average_precision(np.ones(found_after.shape, np.bool_))
    compared = []
    for budget in budgets:
        is_found = found_after <= budget
        if not is_found.any():
            compared.append((TauResult(None, "no-relevant"), TauResult(None, "no-relevant")))
            continue
        estimate, _ = ranks.mean_average_precision(is_found)
        tau_b = kendall_tau_b(estimate, truth, tolerance=TIED_MAP)
        compared.append((tau_b, tau_ap(estimate, truth, tolerance=TIED_MAP)))
    return compared
