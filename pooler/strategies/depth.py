"""Depth, take, shallow then adaptive.

References
----------
.. [1] Sparck Jones and van Rijsbergen, "Report on the need for and provision of an 'ideal'
   information retrieval test collection", British Library R&D Report 5266, 1975.
.. [2] Sakai et al., "Relevance assessments for web search evaluation: should we randomise or
   prioritise the pooled documents?", *ACM TOIS* 40(4), 2022.
.. [3] Lipani, Palotti, Lupu, Piroi, Zuccon and Hanbury, "Fixed-cost pooling strategies based
   on IR evaluation measures", *ECIR* 2017, doi:10.1007/978-3-319-56608-5_28.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from pooler.strategies.kinds import Adaptive, AdaptiveStrategy, FixedStrategy, Parameter, ParameterValue
from pooler.strategies.rankings import TopicRankings, descending
from store.analysis.pools.contributions import NO_DOCUMENT
from store.errors import UnknownNameError


def depth_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value the documents of a depth pool by how likely they are relevant.

    The pool itself is the union of the rankings, cut at the depth [1]_; a shorter run gives all
    it has. The values order it for judges, as NTCIRPOOL does [2]_.

    The number of runs that returned the document, less a share below 1 that grows with the
    sum of its ranks: documents of more runs first, then those of the smaller sum of ranks.
    With n runs, the value is in (n - 1, n). O(n) for n documents taken from all runs.

    Examples
    --------
    The ranks of b are 2 and 1; two runs at depth 2 have a sum of at most 4:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "d"]], depth=2)
    >>> dict(zip(docnos, depth_values(rankings).tolist()))["b"] == 2 - 3 / 5
    True
    """
    n_returning = rankings.n_returning()
    rank_sums = rankings.sum_by_rank(np.arange(1.0, rankings.depth + 1))
    values: NDArray[np.float64] = n_returning - rank_sums / (n_returning * rankings.depth + 1)
    return values


def take_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by their best rank in any run.

    Minus the best rank of the document (TakeN of [3]_), plus a share below 1 that grows with the number
    of runs that gave it this rank.

    Notes
    -----
    The first N documents are depth pools of growing depth, the last of them cut short so that
    exactly N are taken. [3]_ breaks ties at random; here more runs at the best rank come first,
    then docno descending. O(n) for n documents taken from all runs.

    Examples
    --------
    Two runs have b first:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "c"], ["b", "a"], ["b"]])
    >>> dict(zip(docnos, take_values(rankings).tolist()))
    {'a': -0.75, 'b': -0.5, 'c': -1.75}
    """
    best = rankings.best_ranks()
    is_there = rankings.documents != NO_DOCUMENT
    ranks = np.broadcast_to(np.arange(1, rankings.depth + 1), is_there.shape)[is_there]
    documents = rankings.documents[is_there]
    at_best = np.bincount(documents[ranks == best[documents]], minlength=rankings.n_documents)
    values: NDArray[np.float64] = at_best / (rankings.n_runs + 1) - best
    return values


DEPTH = (
    FixedStrategy(
        "depth",
        "the first documents of every run (a budget: what most runs returned)",
        "Sparck Jones and van Rijsbergen 1975",
        values=depth_values,
    ),
    FixedStrategy(
        "take",
        "by best rank, then by the runs that gave it: stops at the budget",
        "Lipani et al. 2017",
        values=take_values,
    ),
)
"""In the order in which strategies are listed."""


def depth_pool_size(rankings: TopicRankings, *, first: int) -> int:
    """Count the documents that some run has at a rank of at most `first`, from 1.

    So many are judged before the adaptive part begins: a smaller budget never reaches it.

    >>> from pooler.strategies.rankings import rankings_of
    >>> depth_pool_size(rankings_of([["a", "b"], ["b"]])[0], first=1)
    2
    """
    return int((rankings.best_ranks() <= first).sum())


class DepthThen:
    """Judge the first documents of every run, then go on with another strategy, at its beginning.

    The documents of the depth pool come by best rank (the order of the strategy ``take``). The
    inner strategy observes each of them as it comes, so that it has learned from all of them when
    it makes its first choice: the DepthN kinds of [3]_. Any document is observed alike, of the
    depth pool or not. O(1) for each document, and the inner strategy's cost.

    Examples
    --------
    >>> from pooler.strategies.adaptive import MoveToFront
    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["c", "d"]])
    >>> state = DepthThen(rankings, MoveToFront(rankings), first=1)
    >>> for relevant in True, False, True, True:
    ...     chosen = state.choose()
    ...     print(docnos[chosen], end=" ")
    ...     state.observe(chosen, relevant)
    c a d b
    """

    def __init__(self, rankings: TopicRankings, inner: Adaptive, *, first: int) -> None:
        self._inner = inner
        size = depth_pool_size(rankings, first=first)
        # By best rank, so the depth pool comes first.
        self._waiting = dict.fromkeys(descending(take_values(rankings))[:size].tolist())
        """Documents of the depth pool not observed yet, in order."""

    def choose(self) -> int | None:
        """Return the next document of the depth pool, and after it the inner strategy's."""
        return next(iter(self._waiting), None) if self._waiting else self._inner.choose()

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Record what was judged of a document; see `Adaptive.observe`."""
        self._inner.observe(document, relevant)
        self._waiting.pop(document, None)


def depth_then_strategy(adaptive: Iterable[AdaptiveStrategy]) -> AdaptiveStrategy:
    """Return the table's row for `DepthThen`, which can go on with any of `adaptive`, at its defaults.

    Its `start` and `needs_seed_for` raise `UnknownNameError` when the parameter ``then`` names none of them.
    """
    inner = {strategy.name: strategy for strategy in adaptive}

    def find(name: ParameterValue) -> AdaptiveStrategy:
        if name not in inner:
            raise UnknownNameError("adaptive strategy", str(name), inner)
        return inner[str(name)]

    def start(rankings: TopicRankings, *, then: str, first: int, seed: int | None = None) -> DepthThen:
        strategy = find(then)
        parameters = strategy.complete({})
        if strategy.needs_seed_for(parameters):
            state = strategy.start(rankings, seed=seed, **parameters)
        else:
            state = strategy.start(rankings, **parameters)
        return DepthThen(rankings, state, first=first)

    def least_budget(
        rankings: TopicRankings,
        *,
        then: str,  # noqa: ARG001 - all parameters come by name
        first: int,
    ) -> int:
        return depth_pool_size(rankings, first=first)

    def needs_seed(parameters: Mapping[str, ParameterValue]) -> bool:
        strategy = find(parameters["then"])
        return strategy.needs_seed_for(strategy.complete({}))

    return AdaptiveStrategy(
        name="depth-then",
        summary="the first documents of every run, then an adaptive strategy",
        source="Lipani et al. 2017",
        parameters=(
            Parameter("then", "mtf", "the adaptive strategy that follows", type=str),
            Parameter("first", 10, "ranks of every run judged first", type=int, least=1),
        ),
        start=start,
        least_budget=least_budget,
        needs_seed_with=needs_seed,
    )
