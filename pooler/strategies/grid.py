"""Grids: documents drawn by their weight in the rankings and by a model's grade, for corrected scores.

All topics are drawn together, to one budget. What people judge of the sample corrects what a model said of
all documents: `store.analysis.corrected`.

References
----------
.. [1] C. E. Sarndal, B. Swensson and J. Wretman, *Model Assisted Survey Sampling*, 1992, 3.7 and 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pooler.strategies.kinds import MODEL, Parameter, Sample, SamplingStrategy
from pooler.strategies.rankings import TopicRankings, raw_numbers
from pooler.strategies.sampling import DOCUMENT_STEP, least
from store.analysis.corrected.grid import allocation, stratum_spreads, weight_classes

CLASSES = 4
"""Classes of weight of `grid`."""
CLASSES_OF_TOPIC = 2
"""Classes of weight of `topicgrid`, in every topic."""


def draw_grid(
    rankings: Sequence[TopicRankings],
    *,
    grades: Sequence[NDArray[np.int64]],
    budget: int,
    seed: int,
    model_level: int,
) -> list[Sample]:
    r"""Draw from strata of four classes of weight by the model's grade, over all topics.

    Parameters
    ----------
    rankings : sequence of TopicRankings
        Of all topics.
    grades : sequence of ndarray of int64, shape (n_documents,)
        The model's grades of each topic's documents, `NO_GRADE` (-1) = none, a stratum of its own.
    budget : int
        Documents to draw from all topics together, at least two for each stratum; else `ArgumentError`.
    seed : int
        Every topic has a stream of its own; of a stratum those with the least numbers are drawn.
    model_level : int
        Least grade of the model that counts as relevant; it decides on sizes alone.

    Returns
    -------
    list of Sample
        Strata are numbered from 1 alike in all topics: by class of weight, the lightest first, then by grade
        ascending, those without a document passed over. The inclusion probability is the number drawn
        from the stratum over that of its documents. Values are the weights, :math:`a_d = \sum 1/rank` over
        the runs.

    Notes
    -----
    Classes have about the same total weight (`store.analysis.corrected.grid.weight_classes`); sizes are
    those of `allocation` there. O(n log n) for the documents of all topics.

    Examples
    --------
    Shares of the weight 1/4 (d), 1/4 + 1/3 (c) and so on of 25/12 are .12, .28, .52, 1: four classes.

    >>> from pooler.strategies.rankings import rankings_of
    >>> topic = rankings_of([["a", "b", "c", "d"]])[0]
    >>> (sample,) = draw_grid([topic], grades=[np.array([1, 0, 1, 0])], budget=9, seed=1, model_level=1)
    >>> sample.strata.tolist(), sample.inclusion.tolist()
    ([4, 3, 2, 1], [1.0, 1.0, 1.0, 1.0])
    """
    weights = [_weights(one) for one in rankings]
    classes = weight_classes(np.concatenate(weights), CLASSES)
    every = np.concatenate(grades)
    strata = np.unique(np.stack([classes, every]), axis=1, return_inverse=True)[1].reshape(-1)
    return _drawn(rankings, weights, strata, every >= model_level, budget, seed)


def draw_topic_grid(
    rankings: Sequence[TopicRankings],
    *,
    grades: Sequence[NDArray[np.int64]],
    budget: int,
    seed: int,
    model_level: int,
) -> list[Sample]:
    """Draw from strata of two classes of weight, by whether the model says relevant, in every topic.

    As `draw_grid`; strata are numbered from 1 in every topic: lighter documents before heavier ones, and of
    each those the model does not call relevant first. So topics are samples of their own, for measures such
    as AP, at the price of smaller strata.

    Examples
    --------
    d and c are light, b and a heavy; the model calls c and a relevant:

    >>> from pooler.strategies.rankings import rankings_of
    >>> topic = rankings_of([["a", "b", "c", "d"]])[0]
    >>> (sample,) = draw_topic_grid([topic], grades=[np.array([1, 0, 1, 0])], budget=9, seed=1, model_level=1)
    >>> sample.strata.tolist()
    [4, 3, 2, 1]
    """
    weights = [_weights(one) for one in rankings]
    said = [one >= model_level for one in grades]
    parts = [
        np.stack([np.full(one.size, number), weight_classes(one, CLASSES_OF_TOPIC), model])
        for number, (one, model) in enumerate(zip(weights, said, strict=True))
    ]
    strata = np.unique(np.concatenate(parts, axis=1), axis=1, return_inverse=True)[1].reshape(-1)
    found = _drawn(rankings, weights, strata, np.concatenate(said), budget, seed)
    return [
        replace(one, strata=(one.strata - one.strata.min(initial=1) + 1).astype(np.int32)) for one in found
    ]


def _weights(rankings: TopicRankings) -> NDArray[np.float64]:
    """Return the sum of 1 / rank over the runs, of every document."""
    return rankings.sum_by_rank(1.0 / np.arange(1, rankings.depth + 1))


def _drawn(
    rankings: Sequence[TopicRankings],
    weights: Sequence[NDArray[np.float64]],
    strata: NDArray[np.int64],
    relevant: NDArray[np.bool_],
    budget: int,
    seed: int,
) -> list[Sample]:
    """Draw from strata over the documents of all topics, and cut the sample into topics."""
    every = np.concatenate(weights)
    sizes = np.bincount(strata)
    taken = allocation(sizes, stratum_spreads(strata, every, relevant), budget)
    numbers = np.concatenate(
        [raw_numbers(seed, one.topic, one.n_documents, step=DOCUMENT_STEP) for one in rankings]
    )
    sampled = np.zeros(every.size, np.bool_)
    members = np.split(np.argsort(strata, kind="stable"), np.cumsum(sizes)[:-1])
    for documents, size in zip(members, taken.tolist(), strict=True):
        sampled[least(numbers, documents, size)] = True
    inclusion = (taken / sizes)[strata]
    ends = np.cumsum([one.size for one in weights])[:-1]
    parts = (np.split(one, ends) for one in (sampled, (strata + 1).astype(np.int32), inclusion, every))
    return [Sample(*one) for one in zip(*parts, strict=True)]


_PARAMETERS = (
    Parameter(MODEL, None, "a judge of kind model, or a qrels file of its grades", type=str),
    Parameter("model_level", 1, "least grade of the model that counts as relevant", type=int),
)

GRIDS = (
    SamplingStrategy(
        "grid",
        "weight in the rankings by a model's grade, all topics together",
        "Sarndal, Swensson and Wretman 1992",
        _PARAMETERS,
        draw_all=draw_grid,
        needs_budget=True,
    ),
    SamplingStrategy(
        "topicgrid",
        "weight in the rankings by a model's relevance, in every topic",
        "Sarndal, Swensson and Wretman 1992",
        _PARAMETERS,
        draw_all=draw_topic_grid,
        needs_budget=True,
    ),
)
"""In the order in which strategies are listed."""
