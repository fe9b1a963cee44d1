"""Rankings beside probabilities; tilted laws.

A topic is two arrays: how probably each document is judged relevant, and its rank in every run.
Documents that are surely not relevant only occupy ranks, and are left out.

Under the law tilted by t, which weighs an outcome by :math:`t^R`, judgements stay independent,
document i being relevant with :math:`q_i = p_i t / (1 - p_i (1 - t))`. All exact moments of average
precision are integrals over t of plain sums of the :math:`q_i`.

An outcome of judging may leave a topic without a relevant document, and AP undefined. Kishida (2001)
does not speak of that: in the paper's data it does not occur. There are two rules for R = 0, `Empty`:

``given``
    The law given that some document is relevant, in every topic: AP is defined in all that is left,
    as everywhere else, and topics stay independent of each other.
``zero``
    AP counts as 0, as trec_eval has it for a topic of the qrels without a relevant document.

Where a document is surely relevant, both are the same. Where none can be, ``given`` has no law and
such a topic has to be left out, while with ``zero`` its AP is 0 for certain, and counts in means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.arguments import check_cutoff, check_integer
from store.analysis.quadrature import Rule
from store.errors import ArgumentError

SUPPOSED = -1
"""Id of an unseen relevant document; see `probable_rankings`."""

Probabilities = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
"""Topic to the ids of the documents that have a probability, each once, and the probabilities;
both shape (n_judged,)."""


@dataclass(frozen=True, slots=True, eq=False)
class ProbableRankings:
    """Runs and probabilities over the evaluation topics; build it with `probable_rankings`.

    Every tuple of arrays has one array a topic. Documents ascend by id; those that are supposed
    (`SUPPOSED`) come last.
    """

    topics: tuple[str, ...]
    """The evaluation topics: those with probabilities."""
    tags: tuple[str, ...]
    """The runs."""
    probabilities: tuple[NDArray[np.float64], ...]
    """Shape (n_documents,), in [0, 1]: that the document is judged relevant."""
    ranks: tuple[NDArray[np.float64], ...]
    """Shape (n_runs, n_documents): rank from 1 on; infinite = not retrieved within the cutoff."""
    ids: tuple[NDArray[np.int64], ...]
    """Shape (n_documents,): ids of documents, or `SUPPOSED`."""
    judged: tuple[NDArray[np.bool_], ...]
    """Shape (n_documents,): whether the probability is the document's own, not the default of
    unjudged ones."""
    cutoff: int
    """Ranks that count, at least 1."""

    def by_topic(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return probabilities and ranks of each topic."""
        return list(zip(self.probabilities, self.ranks, strict=True))


def probable_rankings(
    topics: Sequence[str],
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.signedinteger]],
    probabilities: Probabilities,
    *,
    cutoff: int,
    unjudged: float = 0.0,
    keep_zero: bool = False,
    keep_rank: int | None = None,
    extra_relevant: int = 0,
) -> ProbableRankings:
    """Put rankings and probabilities of relevance side by side in arrays.

    Parameters
    ----------
    topics, tags : sequence of str
        The evaluation topics and the runs, in the order of the result.
    rankings : mapping of (tag, topic) to integer ndarray, shape (n_documents,)
        Document ids in rank order, each once. A run without an entry for a topic retrieved
        nothing there. Entries of other runs and topics are not used.
    probabilities : mapping of topic to (ids, p)
        Documents that have a probability, retrieved or not: ids, ndarray of int64, each once, and
        p, ndarray of float64 in [0, 1], both of shape (n_judged,). Every one of `topics` has an
        entry, which may be empty.
    cutoff : int
        Ranks that count, at least 1; documents below are not retrieved.
    unjudged : float, default=0.0
        The probability, in [0, 1], of every document that a run retrieved within the cutoff and that
        has none of its own.
    keep_zero : bool, default=False
        Keep documents of probability 0. They change no score, but a gradient asks what it would
        be worth to find them relevant.
    keep_rank : int, optional
        Keep documents of probability 0 that some run has at this rank: what is found there is
        asked of `store.analysis.variation.collection`.
    extra_relevant : int, default=0
        Suppose so many more documents a topic, surely relevant, that no run retrieved: 1 makes R
        one more, as in section 4.3 of Kishida (2001).

    Returns
    -------
    ProbableRankings
        Equal documents are equal columns of all runs.

    Notes
    -----
    O(m log m) a topic for m documents retrieved and judged. The result takes ``8 (n_runs + 2) + 1`` bytes a
    document that is kept, 1 kB at 120 runs.

    Examples
    --------
    Document 30 is surely not relevant, 10 is unjudged, and no run retrieved 40:

    >>> arrays = probable_rankings(
    ...     ["t1"],
    ...     ["a", "b"],
    ...     {("a", "t1"): np.array([30, 20, 10]), ("b", "t1"): np.array([10])},
    ...     {"t1": (np.array([20, 30, 40]), np.array([0.5, 0.0, 1.0]))},
    ...     cutoff=1000,
    ...     unjudged=0.1,
    ... )
    >>> arrays.ids[0].tolist(), arrays.probabilities[0].tolist(), arrays.judged[0].tolist()
    ([10, 20, 40], [0.1, 0.5, 1.0], [False, True, True])
    >>> arrays.ranks[0].tolist()
    [[3.0, 2.0, inf], [1.0, inf, inf]]
    """
    check_cutoff(cutoff)
    check_integer("extra_relevant", extra_relevant, 0)
    _check_probabilities("unjudged", np.asarray([unjudged], dtype=np.float64))
    found: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]] = []
    for topic in topics:
        own, p = _own(probabilities, topic)
        lists = [np.asarray(rankings.get((tag, topic), ())[:cutoff], dtype=np.int64) for tag in tags]
        ids = np.unique(np.concatenate([own, *lists]))
        values, judged = np.full(ids.size, unjudged, dtype=np.float64), np.zeros(ids.size, dtype=np.bool_)
        places = np.searchsorted(ids, own)
        values[places], judged[places] = p, True
        ranks = np.full((len(tags), ids.size + extra_relevant), np.inf)
        for row, one in enumerate(lists):
            ranks[row, np.searchsorted(ids, one)] = np.arange(1, one.size + 1)
            if np.isfinite(ranks[row]).sum() < one.size:
                requirement = "must hold each document of a ranking once"
                raise ArgumentError("rankings", requirement, (tags[row], topic))
        kept = (values > 0) | keep_zero
        if keep_rank is not None:
            kept |= (ranks[:, : ids.size] == keep_rank).any(axis=0)
        # Supposed documents come last, and no run has them.
        more = np.ones(extra_relevant, dtype=np.bool_)
        found.append(
            (
                np.append(values[kept], more),
                ranks[:, np.append(kept, more)],
                np.append(ids[kept], np.full(extra_relevant, SUPPOSED)),
                np.append(judged[kept], ~more),
            )
        )
    return ProbableRankings(
        topics=tuple(topics),
        tags=tuple(tags),
        probabilities=tuple(one[0] for one in found),
        ranks=tuple(one[1] for one in found),
        ids=tuple(one[2] for one in found),
        judged=tuple(one[3] for one in found),
        cutoff=cutoff,
    )


def _own(probabilities: Probabilities, topic: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ids and probabilities of one topic, checked but for repeated ids."""
    if topic not in probabilities:
        raise ArgumentError("topics", "must all have probabilities", topic)
    ids = np.asarray(probabilities[topic][0], dtype=np.int64)
    p = np.asarray(probabilities[topic][1], dtype=np.float64)
    if ids.shape != p.shape or ids.ndim != 1:
        requirement = f"must hold as many probabilities as ids for topic `{topic}`"
        raise ArgumentError("probabilities", requirement, f"{p.size} and {ids.size}")
    if np.unique(ids).size != ids.size:
        raise ArgumentError("probabilities", "must hold each document of a topic once", topic)
    _check_probabilities("probabilities", p)
    return ids, p


def _check_probabilities(name: str, p: NDArray[np.float64]) -> None:
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        raise ArgumentError(name, "must be from 0 to 1", float(p[int(np.argmax(wrong))]))


@dataclass(frozen=True, slots=True, eq=False)
class JudgedLists:
    """Checked documents of one topic, and where runs have them."""

    probabilities: NDArray[np.float64]
    """Shape (n_documents,)."""
    ranks: NDArray[np.float64]
    """Shape (n_runs, n_documents); infinite where a run has not retrieved a document."""
    order: NDArray[np.int64]
    """Shape (n_runs, n_documents): documents by rank, those not retrieved last."""
    n_retrieved: NDArray[np.int64]
    """Shape (n_runs,): how many of `order` were retrieved."""

    def without(self, dropped: NDArray[np.bool_]) -> JudgedLists:
        """Leave documents out, those of probability 0 mostly; they only occupy ranks."""
        if not dropped.any():
            return self
        return _lists(self.probabilities[~dropped], self.ranks[:, ~dropped])


@dataclass(frozen=True, slots=True, eq=False)
class Tilted:
    """One topic's judgements at every node; arrays of shape (n_nodes, n_documents)."""

    rule: Rule
    q: NDArray[np.float64]
    """Probabilities of relevance."""
    v: NDArray[np.float64]
    """Variances ``q (1 - q)``; 0 where p is 0 or 1."""
    d: NDArray[np.float64]
    """``1 - p (1 - t)``."""
    density: NDArray[np.float64]
    """Shape (n_nodes,): G(t) / t, G being the mean of t^R."""


def check_lists(probabilities: ArrayLike, ranks: ArrayLike) -> JudgedLists:
    """Check the documents of a topic; raise `ArgumentError` if a shape or a value is wrong.

    `probabilities`, shape (n_documents,), are from 0 to 1; `ranks`, shape (n_runs, n_documents),
    from 1 on, each once in a run, or infinite = not retrieved.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    places = np.asarray(ranks, dtype=np.float64)
    # Written so that NaN is out of range; as plain reductions, since this is done often.
    if p.ndim != 1 or not (p.min(initial=0.0) >= 0 and p.max(initial=1.0) <= 1):
        raise ArgumentError("probabilities", "must be a row of numbers from 0 to 1", p.tolist())
    if places.ndim != 2 or places.shape[1] != p.size:
        requirement = f"must have the shape (n_runs, {p.size})"
        raise ArgumentError("ranks", requirement, places.shape)
    if not places.min(initial=1.0) >= 1:
        raise ArgumentError("ranks", "must be at least 1, or infinite", places.tolist())
    lists = _lists(p, places)
    for row, order, size in zip(places, lists.order, lists.n_retrieved.tolist(), strict=True):
        ordered = row[order[:size]]
        if (ordered[1:] == ordered[:-1]).any():
            requirement = "must not repeat a rank within a run"
            raise ArgumentError("ranks", requirement, places.tolist())
    return lists


def _lists(p: NDArray[np.float64], places: NDArray[np.float64]) -> JudgedLists:
    return JudgedLists(p, places, places.argsort(axis=1), (places < np.inf).sum(axis=1))


def tilt(probabilities: NDArray[np.float64], rule: Rule) -> Tilted:
    """Compute the law of the judgements at every node of a rule for their window.

    O(n_nodes n_documents). The product G is a sum of logarithms: plain, thousands of factors lose
    digits.
    """
    pt = probabilities * rule.t[:, None]
    # A sum of what is not negative: 1 - p u has no digits left where p and u are nearly 1.
    d = (1 - probabilities) + pt
    q = pt / d
    v = q * (1 - probabilities) / d
    logs = logarithms(d, probabilities * rule.u[:, None]).sum(axis=1)
    density = np.exp(logs - logarithms(rule.t, rule.u.copy()))
    return Tilted(rule, q, v, d, density)


def logarithms(d: NDArray[np.float64], lacking: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ln d of numbers in (0, 1] from d and from `lacking`, 1 - d, which is overwritten.

    Neither has the rounding error of the difference from 1.
    """
    is_small = d < 0.125
    lacking[is_small] = 0.0
    logs = np.log1p(-lacking)
    logs[is_small] = np.log(d[is_small])
    return logs


def run_sums(
    q: NDArray[np.float64], lists: JudgedLists, run: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Compute the mean of S, the sum of precisions of a run, and what each document adds to it.

    `q`, shape (n_nodes, n_documents), are probabilities of relevance. The mean, shape (n_nodes,), is
    :math:`E_t S = \sum_i (q_i / a_i) (1 + \sum_{a_k < a_i} q_k)`. The other, of the shape of `q`, is
    :math:`h_i = (1 / a_i) (1 + \sum_{a_k < a_i} q_k) + \sum_{a_k > a_i} q_k / a_k`: by how much S is
    larger on average with document i relevant than without; 0 where it was not retrieved.
    """
    order = lists.order[run, : lists.n_retrieved[run]]
    w = 1 / lists.ranks[run, order]
    ordered = q[:, order]
    before = ordered.cumsum(axis=1)
    before -= ordered
    before += 1
    before *= w
    mean = (ordered * before).sum(axis=1)
    ordered *= w
    before[:, :-1] += ordered[:, :0:-1].cumsum(axis=1)[:, ::-1]
    h = np.zeros(q.shape)
    h[:, order] = before
    return mean, h


Empty = Literal["given", "zero"]
"""What happens to outcomes without a relevant document."""


def chance_of_any(probabilities: NDArray[np.float64]) -> float:
    """Compute 1 - P(R = 0) of independent documents, with all its digits where it is small.

    In [0, 1]; 0 only where every probability is.

    >>> chance_of_any(np.array([0.5, 0.5])), chance_of_any(np.array([1e-20]))
    (0.75, 1e-20)
    """
    if (probabilities == 1).any():
        return 1.0
    return float(-np.expm1(np.log1p(-probabilities).sum()))


def chance_left(probabilities: NDArray[np.float64], empty: Empty) -> float:
    """Return the probability of a topic's outcomes that count by the rule: 1 with ``zero``."""
    if empty not in ("given", "zero"):
        raise ArgumentError("empty", "must be given or zero", empty)
    return 1.0 if empty == "zero" else chance_of_any(probabilities)


def check_chances(probabilities: Sequence[ArrayLike], empty: Empty) -> None:
    """Raise `ArgumentError` if a topic, of which these are the probabilities, has no outcome that counts."""
    for place, p in enumerate(probabilities):
        if not chance_left(np.asarray(p, dtype=np.float64), empty):
            requirement = "must each have a document that may be relevant, or `empty` be zero"
            raise ArgumentError("topics", requirement, place)
