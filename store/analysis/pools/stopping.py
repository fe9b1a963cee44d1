r"""When judging of a topic can stop: bounds on recall from documents judged at random.

Of N unjudged documents, n are drawn at random and judged, and k of them are relevant; f
relevant ones were found before. How many of the N are relevant, K, is not known; an upper limit :math:`K_U`
makes a lower limit of recall, :math:`(f + k) / (f + K_U)`. Without a random sample there is none.

References
----------
.. [1] Waudby-Smith and Ramdas, "Confidence sequences for sampling without replacement", *NeurIPS* 2020,
   arXiv:2006.04347: the prior-posterior ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import lgamma
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE = 0.95
"""Of a bound, by default."""
PRIOR = (1.0, 50.0)
"""Of the beta-binomial distribution that weighs how many are relevant: few. Chosen before anything is seen;
the bound holds with every choice, and is tightest where it comes near."""


def most_relevant(
    n_documents: int,
    n_judged: int,
    n_relevant: int,
    *,
    confidence: float = CONFIDENCE,
    prior: tuple[float, float] = PRIOR,
) -> int:
    r"""Bound how many documents are relevant, so that the bound holds however often one looks.

    Parameters
    ----------
    n_documents : int
        N >= 0, those the sample is drawn from.
    n_judged : int
        n, from 0 to N: the first documents of a random order, all judged.
    n_relevant : int
        k, from 0 to n: the relevant ones among them.
    confidence : float, default=0.95
        Above 0 and below 1.
    prior : (float, float), default=(1, 50)
        Parameters a and b, above 0, of the beta-binomial prior of K.

    Returns
    -------
    int
        :math:`K_U`, from k to N - n + k; N where nothing is judged.

    Notes
    -----
    The prior-posterior ratio [1]_: a number K of relevant documents stays possible while

    .. math:: \frac{\mathrm{BB}_{N,a,b}(K)}{\mathrm{BB}_{N-n,\,a+k,\,b+n-k}(K-k)}
              = \frac{B(a+k, b+n-k) / B(a, b)}{K^{\underline{k}}\,(N-K)^{\underline{n-k}} / N^{\underline{n}}}
              < \frac{1}{1 - confidence}

    In the true K the ratio is a martingale that begins with 1, so the probability that the true K is ever
    dropped, at any n, is at most 1 - confidence (Ville's inequality). The ratio is log-convex in K, and at
    most 1 where the likelihood is greatest: the limit is found by bisection, O(log N).

    Examples
    --------
    300 of 900 documents judged at random, none relevant; 3 relevant:

    >>> most_relevant(900, 300, 0), most_relevant(900, 300, 3)
    (12, 27)
    """
    a, b = prior
    n_others = n_judged - n_relevant
    known = (
        _log_beta(a + n_relevant, b + n_others)
        - _log_beta(a, b)
        + lgamma(n_documents + 1)
        - lgamma(n_documents - n_judged + 1)
    )

    def is_possible(relevant: int) -> bool:
        others = n_documents - relevant
        drawn = lgamma(relevant + 1) - lgamma(relevant - n_relevant + 1)
        drawn += lgamma(others + 1) - lgamma(others - n_others + 1)
        return known - drawn < -math.log1p(-confidence)

    most = n_documents - n_others
    likeliest = n_relevant * (n_documents + 1) // n_judged if n_judged else most
    return _last(is_possible, min(max(likeliest, n_relevant), most), most)


def least_sample(
    n_documents: int, n_found: int, recall: float, *, limit: Callable[[int, int, int], int] = most_relevant
) -> int | None:
    """Return how many random documents must be judged for a target, if none of them is relevant.

    Parameters
    ----------
    n_documents : int
        N, those to draw from.
    n_found : int
        Relevant documents found, f >= 0.
    recall : float
        The target, above 0 and below 1.
    limit : callable
        Another limit of how many are relevant, of N, n and k; as `most_relevant` with another confidence.

    Returns
    -------
    int or None
        From 0 to N; ``None`` = nothing is found yet, and recall has no meaning.

    Examples
    --------
    >>> least_sample(900, 40, 0.8), least_sample(900, 40, 0.9)
    (328, 603)
    """
    if n_found < 1:
        return None
    most_more = math.floor(n_found / recall - n_found + 1e-9)
    return n_documents - _last(
        lambda left: limit(n_documents, n_documents - left, 0) <= most_more, 0, n_documents
    )


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The documents of one topic, of which some were drawn at random: arrays of shape (n_documents,)."""

    graded: NDArray[np.bool_]
    """Whether a grade stands; what is skipped or cannot be judged has none."""
    relevant: NDArray[np.bool_]
    """Whether it is graded relevant."""
    known: NDArray[np.bool_]
    """Whether it was graded before the sample was drawn: the sample does not speak for it."""
    strata: NDArray[np.int64]
    """Of the sample, any numbers."""
    sampled: NDArray[np.bool_]
    places: NDArray[np.int64]
    """Place of each sampled document in the order in which they are shown."""
    is_shuffled: bool
    """Whether that order is random, so that its beginning is a sample, too."""


@dataclass(frozen=True, slots=True)
class RecallBound:
    """What is known of the recall of one topic."""

    found: int
    """Relevant documents found, in any way."""
    n_random: int
    """Documents that the sample speaks for."""
    judged: int
    """Of those the ones drawn at random and graded, ..."""
    relevant: int
    """... and the relevant ones among these."""
    waiting: int
    """Documents that were drawn and have no grade."""
    open: int
    """Documents outside the sample without a grade: each counts as relevant until it has one."""
    more: int | None
    """At most so many relevant documents are not found; ``None`` beside a reason."""
    recall: float | None
    """At least so great, in [0, 1]; ``None`` beside a reason."""
    reason: str | None
    """``sample-unjudged``: nothing of the sample is graded; ``sample-contradicted``: more relevant documents
    were found by other ways than it allows, so it is one of the few that are wrong, or was not random;
    ``no-relevant``: nothing relevant is found, so that recall has no meaning, though `more` may have."""
    needed: int | None = None
    """Random documents to judge for a target, if none of them nor of `open` is relevant; ``None`` = it was
    not asked for, nothing is found yet, or there are several strata."""


def recall_bound(
    candidates: Candidates, *, confidence: float = CONFIDENCE, target: float | None = None
) -> RecallBound:
    r"""Bound the recall of one topic, so that the bound holds however often one looks.

    Parameters
    ----------
    candidates : Candidates
        All documents that recall is about.
    confidence : float, default=0.95
        Above 0 and below 1.
    target : float, optional
        Recall for which `needed` is given, above 0 and below 1.

    Notes
    -----
    A stratum of which a part was drawn is bounded by `most_relevant`; one drawn whole only where all are, and
    in random order. Several share 1 - confidence equally. Documents without a grade count as relevant: those
    of the sample that stand before judged ones, and those for which the sample does not speak. So a bound
    never gains by what is skipped. Of a random order every beginning may be taken, since the bounds of all
    hold at once; of another order only the whole sample. O(n log n), and O(log n) for each gap in the order.

    Examples
    --------
    Six documents, of which two were known, and two of the other four are drawn and judged:

    >>> import numpy as np
    >>> yes = np.array([True, False, False, False, False, False])
    >>> candidates = Candidates(
    ...     graded=np.array([True, True, True, True, False, False]),
    ...     relevant=yes,
    ...     known=np.array([True, True, False, False, False, False]),
    ...     strata=np.ones(6, np.int64),
    ...     sampled=np.array([False, False, True, True, False, False]),
    ...     places=np.arange(6),
    ...     is_shuffled=True,
    ... )
    >>> bound = recall_bound(candidates)
    >>> bound.found, bound.more, round(bound.recall, 4)
    (1, 2, 0.3333)
    """
    numbers = sorted({*candidates.strata.tolist()})
    members = {number: (candidates.strata == number) for number in numbers}
    random = [number for number, of in members.items() if not candidates.sampled[of].all()]
    if not random and candidates.is_shuffled:
        random = numbers
    error = (1 - confidence) / max(len(random), 1)
    strata = [_stratum(candidates, members[number] & ~candidates.known, 1 - error) for number in random]
    spoken_for = candidates.known.copy()
    for number in numbers:
        if number not in random:
            spoken_for |= members[number]
    n_open = int((spoken_for & ~candidates.graded).sum())
    elsewhere = int((spoken_for & candidates.relevant).sum())
    found = elsewhere + sum(one.found for one in strata)
    limits = [one.most() for one in strata]
    most = elsewhere + n_open + sum(limits)
    judged = sum(one.judged for one in strata)
    waiting = sum(one.waiting for one in strata)
    reason = None
    if any(one.n_documents for one in strata) and not judged:
        reason = "sample-unjudged"
    elif any(limit < one.found for limit, one in zip(limits, strata, strict=True)):
        reason = "sample-contradicted"
    elif not found:
        reason = "no-relevant"
    return RecallBound(
        found=found,
        n_random=sum(one.n_documents for one in strata),
        judged=judged,
        relevant=sum(one.relevant for one in strata),
        waiting=waiting,
        open=n_open,
        more=most - found if reason in (None, "no-relevant") else None,
        recall=None if reason else found / most,
        reason=reason,
        needed=None if target is None or len(strata) != 1 else strata[0].needed(elsewhere, target),
    )


@dataclass(frozen=True, slots=True)
class _Stratum:
    """Documents of which some were drawn at random."""

    n_documents: int
    beginnings: tuple[tuple[int, int], ...]
    """Beginnings of the random order: how many documents, and how many of them may be relevant."""
    judged: int
    relevant: int
    waiting: int
    found: int
    """Relevant documents, drawn or not."""
    without: int
    """Documents without a grade."""
    confidence: float

    def most(self) -> int:
        """Return how many documents are relevant at most; fewer than found where these refute the sample."""
        if not self.without:
            return self.found
        return min([self.found + self.without, *(self._limit(*one) for one in self.beginnings)])

    def needed(self, elsewhere: int, target: float) -> int | None:
        """Return how many random documents are to be judged for a target, if none of them is relevant."""
        found = elsewhere + self.found
        if not found:
            return None
        most = math.floor(found / target - elsewhere + 1e-9)
        n_left = self.n_documents - self.judged

        def reaches(left: int) -> bool:
            limit = self._limit(self.n_documents - left, self.relevant)
            return max(min(limit, self.found + left), self.found) <= most

        return n_left - _last(reaches, 0, n_left)

    def _limit(self, n_judged: int, n_relevant: int) -> int:
        return most_relevant(self.n_documents, n_judged, n_relevant, confidence=self.confidence)


def _stratum(candidates: Candidates, of: NDArray[np.bool_], confidence: float) -> _Stratum:
    import numpy as np

    drawn = np.flatnonzero(of & candidates.sampled)
    drawn = drawn[np.argsort(candidates.places[drawn], kind="stable")]
    graded, relevant = candidates.graded[drawn], candidates.relevant[drawn]
    ends = np.array([drawn.size], np.int64)
    if candidates.is_shuffled:
        # Behind the last of several graded documents; what stands there without a grade ends a beginning.
        ends = np.flatnonzero(graded & ~np.append(graded[1:], False)) + 1
    may_be = np.append(0, np.cumsum(relevant | ~graded))
    return _Stratum(
        n_documents=int(of.sum()),
        beginnings=tuple(zip(ends.tolist(), may_be[ends].tolist(), strict=True)),
        judged=int(graded.sum()),
        relevant=int(relevant.sum()),
        waiting=int((~graded).sum()),
        found=int((of & candidates.relevant).sum()),
        without=int((of & ~candidates.graded).sum()),
        confidence=confidence,
    )


def _last(is_so: Callable[[int], bool], first: int, last: int) -> int:
    """Return the last number of a range of which something is so; it is of the first, up to some number."""
    while first < last:
        middle = (first + last + 1) // 2
        if is_so(middle):
            first = middle
        else:
            last = middle - 1
    return first


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
