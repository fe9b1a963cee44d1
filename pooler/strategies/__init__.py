"""How documents are chosen for judging: one family a file, and the table of them all.

A strategy is pure: the rankings of one topic in, documents out (`pooler.strategies.kinds`).
"""

from __future__ import annotations

from pooler.strategies.adaptive import Hedge, MoveToFront, RbpB, RbpC
from pooler.strategies.bandits import EpsilonGreedy, MaxMean, MaxMeanNonStationary, Thompson, Ucb1Tuned
from pooler.strategies.depth import depth_then_strategy, depth_values, take_values
from pooler.strategies.fusion import (
    borda_values,
    comb_anz_values,
    comb_max_values,
    comb_med_values,
    comb_min_values,
    comb_mnz_values,
    comb_sum_values,
    condorcet_values,
    count_values,
    dcg_values,
    isr_values,
    log_isr_values,
    rbc_values,
    rbp_a_values,
    rrf_values,
)
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, FixedStrategy, Parameter, SamplingStrategy
from pooler.strategies.sampling import draw_statap, draw_stratified, draw_uniform, last_rank
from store.errors import UnknownNameError

ADAPTIVE = (
    AdaptiveStrategy(
        name="rbp-b",
        summary="by what the document may still change of the runs' RBP",
        source="Moffat, Webber and Zobel 2007",
        parameters=(Parameter("p", 0.8, "persistence", least=0, most=1, is_open=True),),
        start=RbpB,
    ),
    AdaptiveStrategy(
        name="rbp-c",
        summary="as rbp-b, and runs that found more count more",
        source="Moffat, Webber and Zobel 2007",
        parameters=(Parameter("p", 0.8, "persistence", least=0, most=1, is_open=True),),
        start=RbpC,
    ),
    AdaptiveStrategy(
        name="mtf",
        summary="Move-To-Front: stay with a run while it gives relevant documents",
        source="Cormack, Palmer and Clarke 1998",
        start=MoveToFront,
    ),
    AdaptiveStrategy(
        name="hedge",
        summary="runs are experts, weighted by how good their advice was",
        source="Aslam, Pavlu and Savell 2003",
        parameters=(Parameter("beta", 0.1, "the smaller, the faster", least=0, most=1, is_open=True),),
        start=Hedge,
    ),
    AdaptiveStrategy(
        name="max-mean",
        summary="bandit: the run with the best share of relevant documents",
        source="Losada, Parapar and Barreiro 2017",
        start=MaxMean,
    ),
    AdaptiveStrategy(
        name="mm-ns",
        summary="max-mean where old judgements fade",
        source="Losada, Parapar and Barreiro 2017",
        parameters=(Parameter("rho", 0.0, "what the past counts", least=0, most=1),),
        start=MaxMeanNonStationary,
    ),
    AdaptiveStrategy(
        name="thompson",
        summary="bandit: a run as often as it is likely the best",
        source="Losada, Parapar and Barreiro 2017",
        start=Thompson,
        needs_seed=True,
    ),
    AdaptiveStrategy(
        name="ucb1-tuned",
        summary="bandit: the run that could be the best",
        source="Losada, Parapar and Barreiro 2017",
        start=Ucb1Tuned,
    ),
    AdaptiveStrategy(
        name="epsilon-greedy",
        summary="bandit: any run at first, then more and more the best",
        source="Losada, Parapar and Barreiro 2017",
        parameters=(
            Parameter("c", 0.01, "the greater, the more at random", least=0, is_open=True),
            Parameter("d", 0.1, "the smaller, the more", least=0, most=1, is_open=True),
        ),
        start=EpsilonGreedy,
        needs_seed=True,
    ),
)
"""The adaptive strategies that another one can go on with."""

STRATEGIES: dict[str, AnyStrategy] = {
    strategy.name: strategy
    for strategy in (
        FixedStrategy(
            name="depth",
            summary="the first documents of every run (a budget: what most runs returned)",
            source="Sparck Jones and van Rijsbergen 1975",
            values=depth_values,
        ),
        FixedStrategy(
            name="take",
            summary="by best rank, then by the runs that gave it: stops at the budget",
            source="Lipani et al. 2017",
            values=take_values,
        ),
        FixedStrategy(
            name="count",
            summary="by the number of runs that returned the document",
            source="Lipani et al. 2017",
            values=count_values,
        ),
        FixedStrategy(
            name="borda",
            summary="by Borda points: most for a run's first, the rest shared by what it lacks",
            source="Aslam and Montague 2001",
            values=borda_values,
        ),
        FixedStrategy(
            name="comb-min",
            summary="by the least score",
            source="Fox and Shaw 1993",
            uses_scores=True,
            values=comb_min_values,
        ),
        FixedStrategy(
            name="comb-max",
            summary="by the greatest score",
            source="Fox and Shaw 1993",
            uses_scores=True,
            values=comb_max_values,
        ),
        FixedStrategy(
            name="comb-sum",
            summary="by the sum of the scores",
            source="Fox and Shaw 1993",
            uses_scores=True,
            values=comb_sum_values,
        ),
        FixedStrategy(
            name="comb-anz",
            summary="by the mean score",
            source="Fox and Shaw 1993",
            uses_scores=True,
            values=comb_anz_values,
        ),
        FixedStrategy(
            name="comb-mnz",
            summary="by the sum of the scores times the runs",
            source="Fox and Shaw 1993",
            uses_scores=True,
            values=comb_mnz_values,
        ),
        FixedStrategy(
            name="comb-med",
            summary="by the median score",
            source="Fox and Shaw 1993",
            uses_scores=True,
            values=comb_med_values,
        ),
        FixedStrategy(
            name="rrf",
            summary="by the sum of 1 / (k + rank)",
            source="Cormack, Clarke and Büttcher 2009",
            parameters=(Parameter("k", 60.0, "added to every rank: the larger, the flatter", least=0),),
            values=rrf_values,
        ),
        FixedStrategy(
            name="isr",
            summary="by the sum of 1 / rank^2, times the number of runs",
            source="Mourão, Martins and Magalhães 2015",
            values=isr_values,
        ),
        FixedStrategy(
            name="log-isr",
            summary="by the sum of 1 / rank^2, times the logarithm of the number of runs + 1",
            source="Mourão, Martins and Magalhães 2015",
            values=log_isr_values,
        ),
        FixedStrategy(
            name="rbc",
            summary="by the sum of (1 - phi) phi^(rank - 1)",
            source="Bailey et al. 2017",
            parameters=(
                Parameter("phi", None, "persistence, 0.8 to 0.98 as a rule", least=0, most=1, is_open=True),
            ),
            values=rbc_values,
        ),
        FixedStrategy(
            name="condorcet",
            summary="by the number of documents that fewer runs prefer",
            source="Montague and Aslam 2002",
            values=condorcet_values,
        ),
        FixedStrategy(
            name="dcg",
            summary="by the sum of 1 / log2(rank + 1)",
            source="Lipani et al. 2017",
            values=dcg_values,
        ),
        FixedStrategy(
            name="rbp-a",
            summary="by the sum of (1 - p) p^(rank - 1)",
            source="Moffat, Webber and Zobel 2007",
            parameters=(Parameter("p", 0.8, "persistence", least=0, most=1, is_open=True),),
            values=rbp_a_values,
        ),
        *ADAPTIVE,
        depth_then_strategy(ADAPTIVE),
        SamplingStrategy(
            name="uniform",
            summary="a simple random sample of the union, of exactly the budget",
            source="Yilmaz and Aslam 2006",
            draw=draw_uniform,
            needs_budget=True,
        ),
        SamplingStrategy(
            name="stratified",
            summary="ranges of best ranks, each sampled at a rate of its own",
            source="Yilmaz, Kanoulas and Aslam 2008",
            parameters=(Parameter("strata", None, "FROM:TO:RATE,... as 1:10:1,11:100:0.1", type=str),),
            draw=draw_stratified,
            least_depth=last_rank,
        ),
        SamplingStrategy(
            name="statap",
            summary="documents that runs rank high are likelier, and all have a chance",
            source="Pavlu and Aslam 2007",
            draw=draw_statap,
            needs_budget=True,
        ),
    )
}
"""Every strategy by name, in the order they are listed."""


def find_strategy(name: str) -> AnyStrategy:
    """Return the strategy of that name.

    Raises
    ------
    UnknownNameError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> find_strategy("depth").source
    'Sparck Jones and van Rijsbergen 1975'
    """
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownNameError("strategy", name, STRATEGIES) from None
