"""Hedge, MTF, RBP B and C, bandits: document by document, each choice knowing what came of those before.

References
----------
.. [1] Aslam, Pavlu and Savell, "A unified model for metasearch, pooling, and system
   evaluation", *CIKM* 2003, pp. 484-491, doi:10.1145/956863.956953.
.. [2] Cormack, Palmer and Clarke, "Efficient construction of large test collections", *SIGIR*
   1998, pp. 282-289, doi:10.1145/290941.291009.
.. [3] Moffat, Webber and Zobel, "Strategic system comparisons via targeted relevance
   judgments", *SIGIR* 2007, pp. 375-382, doi:10.1145/1277741.1277806.
.. [4] Losada, Parapar and Barreiro, "Multi-armed bandits for adjudicating documents in
   pooling-based evaluation of information retrieval systems", *Information Processing &
   Management* 53(5), pp. 1005-1025, 2017, doi:10.1016/j.ipm.2017.04.005.
.. [5] Lipani, Palotti, Lupu, Piroi, Zuccon and Hanbury, "Fixed-cost pooling strategies based
   on IR evaluation measures", *ECIR* 2017, doi:10.1007/978-3-319-56608-5_28.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from pooler.strategies.fixed import MOFFAT, PERSISTENCE, rbp_weights, take_values
from pooler.strategies.kinds import Adaptive, AdaptiveStrategy, Parameter, ParameterValue
from pooler.strategies.rankings import TIE_WITHIN, TopicRankings, descending, uniform_numbers
from store.analysis.pools.contributions import NO_DOCUMENT
from store.errors import ArgumentError, UnknownNameError


class Unobserved:
    """The documents of one topic that are still to be observed.

    O(n) to make and O(n) for all calls together, for n documents taken from all runs.

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b"]])
    >>> unobserved = Unobserved(rankings)
    >>> unobserved.remove(docnos.index("a"))
    >>> docnos[unobserved.head(0)], unobserved.n_left
    ('b', [2, 1])
    """

    def __init__(self, rankings: TopicRankings) -> None:
        self.places: list[list[tuple[int, int]]] = [[] for _ in range(rankings.n_documents)]
        """By document: the runs that returned it, ascending, each with its rank from 0."""
        self.n_left: list[int] = rankings.lengths.tolist()
        """By run: documents not observed yet."""
        self.n_observed = 0
        """Documents observed."""
        self._rows: list[list[int]] = rankings.documents.tolist()
        # Places before these are observed; where `head` looks on, and no part of the state.
        self._starts = [0] * rankings.n_runs
        self._is_left = bytearray(b"\1") * rankings.n_documents
        for run, row in enumerate(self._rows):
            for place, document in enumerate(row):
                if document == NO_DOCUMENT:
                    break
                self.places[document].append((run, place))

    @property
    def is_empty(self) -> bool:
        """Whether all documents have been observed."""
        return self.n_observed == len(self.places)

    def head(self, run: int) -> int:
        """Return the first document of a run that is not observed; there must be one."""
        row, place = self._rows[run], self._starts[run]
        while not self._is_left[row[place]]:
            place += 1
        self._starts[run] = place
        return row[place]

    def check(self, document: int) -> None:
        """Raise `ArgumentError` unless the document is one not observed before."""
        if not 0 <= document < len(self.places) or not self._is_left[document]:
            raise ArgumentError("document", "must be the number of a document not observed before", document)

    def remove(self, document: int) -> None:
        """Mark a document as observed; `ArgumentError` as for `check`."""
        self.check(document)
        self._is_left[document] = 0
        self.n_observed += 1
        for run, _ in self.places[document]:
            self.n_left[run] -= 1


class WeightedSums:
    """Find the document with the greatest sum over runs of factor times worth.

    `worth`, shape (n_runs, depth), is what every place of every run is worth, not negative; any number where
    there is no document. It stays; the runs' factors change from one choice to the next. Sums that are less
    than the greatest by at most a share `tie_within` of it tie with it: for terms that are not the same to
    the last bit on every machine.

    All sums are made anew for each choice: updating them would save little, and leave other last bits than a
    state made again from the judgements. O(n_runs * depth) for each choice.

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b", "c"]])
    >>> sums = WeightedSums(rankings, np.array([[2.0, 1.0], [2.0, 1.0]]), tie_within=1e-9)
    >>> docnos[sums.best([1.0, 1.0])], docnos[sums.best([1.0, 0.1])]
    ('b', 'a')
    """

    def __init__(self, rankings: TopicRankings, worth: NDArray[np.float64], *, tie_within: float) -> None:
        is_there = rankings.documents != NO_DOCUMENT
        self.unobserved = Unobserved(rankings)
        self.worth = np.where(is_there, worth, 0.0)
        """Shape (n_runs, depth); 0 where there is no document."""
        # What is no document goes to a place of its own, behind the last document.
        n_documents = rankings.n_documents
        self._documents = np.where(is_there, rankings.documents, n_documents).ravel().astype(np.intp)
        self._handicaps = np.zeros(n_documents + 1)
        self._handicaps[n_documents] = -np.inf
        self._share = 1 - tie_within

    def best(self, factors: list[float]) -> int | None:
        """Return the unobserved document with the greatest sum; ``None`` when all have been observed.

        `factors` are by run, and not negative.
        """
        if self.unobserved.is_empty:
            return None
        terms = np.array(factors)[:, np.newaxis] * self.worth
        sums = self._handicaps + np.bincount(self._documents, terms.ravel(), self._handicaps.size)
        return int(np.flatnonzero(sums >= sums.max() * self._share)[-1])

    def remove(self, document: int) -> None:
        """Mark a document as observed; see `Unobserved.remove`."""
        self.unobserved.remove(document)
        self._handicaps[document] = -np.inf


_UNITS = 1 << 1074
"""Units in 1: every finite float is a whole multiple of 2**-1074."""


def units(value: float) -> int:
    """Return a finite float as a whole number of units, exactly; sums of these are exact.

    >>> from_units(units(1e300) + units(0.1) - units(1e300))
    0.1
    """
    numerator, denominator = value.as_integer_ratio()
    return numerator * (_UNITS // denominator)


def from_units(number: int) -> float:
    """Return the float nearest to a number of units."""
    return number / _UNITS


class Hedge:
    r"""Judge what the runs recommend, weighted by how good their advice was.

    The smaller beta, in (0, 1), the faster a run loses weight.

    Notes
    -----
    With n documents in the union, a run r of length :math:`n_r` recommends each of them by

    .. math:: g_r(d) = \ln n - \ln \mathrm{rank}_r(d), \quad\text{or else}\quad
              \ln n - \frac{1}{n - n_r} \sum_{i=n_r}^{n-1} \ln i

    when it did not return d: about the mean over the ranks d can have. The next document is the
    unobserved one with the greatest :math:`\sum_r \omega_r g_r(d)`, where

    .. math:: \omega_r \propto \beta^{\mathrm{loss}_r}, \qquad \mathrm{loss}_r =
              \sum_{d\ \mathrm{judged}} \frac12 (-1)^{\mathrm{rel}(d)} g_r(d)    ([1]_)

    so before the first judgement all weights are alike. The bounds of the mean over missing
    ranks are those of Lipani et al.'s implementation. A document without a judgement gives
    neither loss nor gain. Documents tie when their sums differ by less
    than one part in 1e10: logarithms and powers are the C library's, whose last bits are not the
    same on every machine, and ranks 1 and 6 are to tie with ranks 2 and 3.

    What a run gives to documents it did not return is common to all documents, so it is taken
    from every :math:`g_r` when documents are compared, and weights are relative to the best run
    that has documents left. That changes no order, and keeps differences that would drown beside
    a great common part when one run has nearly all the weight; documents tie by what is left.
    Losses are summed without rounding, so the order of the judgements does not matter.

    O(n_runs * depth) for each document.

    Examples
    --------
    Both runs lead with a document of their own. When the first run's is not relevant, the second
    run is followed:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["d", "c"], ["a", "b"]])
    >>> state = Hedge(rankings, beta=0.1)
    >>> order = []
    >>> for relevant in False, True, True, False:
    ...     chosen = state.choose()
    ...     order.append(docnos[chosen])
    ...     state.observe(chosen, relevant)
    >>> order
    ['d', 'a', 'b', 'c']
    """

    def __init__(self, rankings: TopicRankings, *, beta: float) -> None:
        n_documents = rankings.n_documents
        lengths: list[int] = rankings.lengths.tolist()
        # numpy's logarithm depends on the processor.
        logs = [math.log(rank) for rank in range(1, n_documents + 1)]
        # The mean over i = n_r .. n - 1, that is over the places from n_r - 1 to n - 2 of `logs`.
        means = {n: math.fsum(logs[n - 1 : -1]) / (n_documents - n) for n in set(lengths) - {n_documents}}
        # A run that returned every document has no missing ranks; any number does.
        of_missing = [means.get(n, logs[-1]) for n in lengths]
        self._beta = beta
        self._missing = [logs[-1] - mean for mean in of_missing]
        """By run: what it recommends each document by that it did not return."""
        worth = np.array(of_missing)[:, np.newaxis] - np.array(logs[: rankings.depth])
        self._sums = WeightedSums(rankings, worth, tie_within=1e-10)
        self._worth = [[units(value) for value in row] for row in self._sums.worth.tolist()]
        self._more = [0] * rankings.n_runs
        """By run: twice the loss from what it recommends its own documents by beyond the
        others, in exact units."""
        self._more_floats = [0.0] * rankings.n_runs
        """The same as floats."""
        self._n_in_vain = 0
        """Judged documents that are not relevant, less those that are."""

    def choose(self) -> int | None:
        """Return the unobserved document recommended most; ``None`` = none left."""
        return None if self._sums.unobserved.is_empty else self._sums.best(self._weights())

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Record what was judged of a document; see `Adaptive.observe`."""
        self._sums.remove(document)
        if relevant is None:
            return
        sign = -1 if relevant else 1
        self._n_in_vain += sign
        for run, place in self._sums.unobserved.places[document]:
            self._more[run] += sign * self._worth[run][place]
            self._more_floats[run] = from_units(self._more[run])

    def _weights(self) -> list[float]:
        """Return the weights of the runs, 1 for the best one with documents left."""
        twice = np.array(self._missing) * self._n_in_vain + np.array(self._more_floats)
        # A run that has nothing left to recommend may be far better than those that have.
        losses = np.where(self._sums.unobserved.n_left, twice / 2, np.inf)
        return [self._beta**loss for loss in (losses - losses.min()).tolist()]


class MoveToFront:
    """Stay with a run while it gives relevant documents, else go to the best other run.

    Every run has a priority; all begin alike. The next document is the first unobserved one of
    the current run, at the beginning the first run by tag. When it is relevant, the run stays
    the current one. When it is not, the run's priority falls by 1, and the other run of the
    highest priority becomes the current one (no other left: the same run). A run without
    unobserved documents leaves, and the run of the highest priority follows it. Documents
    observed already are passed over and change no priority.

    Notes
    -----
    [2]_ begins at a random run and breaks ties at random; here the run tag decides, ascending, so
    that judging can be replayed. Topics are apart (the local form of [2]_).

    A document that is not the one `choose` names, as when a late judgement changes the past,
    counts as taken from the run at whose head (first unobserved document) it stands: the current
    run if it is one of them, else that of the highest priority. Relevant, it makes this run the
    current one; not relevant, it lowers the run's priority, and the current run goes only if it
    is this run. At the head of no run, it is marked as observed and no more. A document without
    a judgement is only marked, too, wherever it stands.

    O(n_runs) for each document, and O(n) in all for n documents taken from all runs.

    Examples
    --------
    a is relevant, so its run goes on; b is not, and the other run takes over:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["d", "c"]])
    >>> state = MoveToFront(rankings)
    >>> for relevant in True, False, False, False:
    ...     chosen = state.choose()
    ...     print(docnos[chosen], relevant)
    ...     state.observe(chosen, relevant)
    a True
    b False
    d False
    c False
    """

    def __init__(self, rankings: TopicRankings) -> None:
        self._unobserved = Unobserved(rankings)
        self._priorities = [0] * rankings.n_runs
        self._current = self._best_run()

    def choose(self) -> int | None:
        """Return the first unobserved document of the current run; ``None`` = none left."""
        return None if self._current is None else self._unobserved.head(self._current)

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Record what was judged of a document; see `Adaptive.observe`."""
        self._unobserved.check(document)
        charged = None if relevant is None else self._charged_run(document)
        self._unobserved.remove(document)
        if charged is not None and relevant:
            self._current = charged
        elif charged is not None:
            self._priorities[charged] -= 1
            if charged == self._current:
                other = self._best_run(but=charged)
                self._current = charged if other is None else other
        if self._current is not None and not self._unobserved.n_left[self._current]:
            self._current = self._best_run()

    def _charged_run(self, document: int) -> int | None:
        current, head = self._current, self._unobserved.head
        if current is not None and head(current) == document:
            return current
        runs = (run for run, _ in self._unobserved.places[document] if head(run) == document)
        return max(runs, key=self._priorities.__getitem__, default=None)

    def _best_run(self, but: int | None = None) -> int | None:
        left = (run for run, n in enumerate(self._unobserved.n_left) if n and run != but)
        # `max` takes the first of equals.
        return max(left, key=self._priorities.__getitem__, default=None)


class RbpB:
    r"""Judge what takes the most uncertainty from the RBP of the runs.

    The smaller the persistence p, in (0, 1), the more the first ranks count.

    Notes
    -----
    The next document is the unobserved one with the greatest

    .. math:: s(d) = \sum_r w_r(d)\,\mathrm{res}_r, \qquad
              w_r(d) = (1 - p) p^{\mathrm{rank}_r(d) - 1}    (Method B of [3]_)

    over the runs that returned d, where the residual of a run is what its RBP may still change
    by: 1 less the weights of its judged documents. Made anew after every judgement, for each
    topic by itself ([3]_ lets the documents of all topics compete). What relevance the judgements
    found does not matter here. A document without a judgement leaves the residuals as they are.
    Sums that differ by less than `pooler.strategies.rankings.TIE_WITHIN` tie, since 0.8 is no float
    and its powers are rounded.

    The residual is summed from what is left, that is from the weights of the documents not judged
    and from :math:`p^n` for all after the n-th and last, since nothing exact would be left of 1
    less nearly 1. These sums have no rounding. So the state depends on which documents were
    judged, and not on their order, nor on the machine. Far down, where products of weight and
    residual are too small for a float, they are 0, and docno alone decides.

    O(n_runs * depth) for each document.

    Examples
    --------
    a and b are both first once. When a has been judged, half of its run's RBP is known, so c,
    second there, has 1/4 * 1/2, and b has all its 1/2:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "c"], ["b"]])
    >>> state = RbpB(rankings, p=0.5)
    >>> state.observe(docnos.index("a"), True)
    >>> docnos[state.choose()]
    'b'
    """

    def __init__(self, rankings: TopicRankings, *, p: float) -> None:
        weights = rbp_weights(rankings.depth, p=p)
        shape = rankings.documents.shape
        worth = np.broadcast_to(weights, shape)
        self._sums = WeightedSums(rankings, worth, tie_within=TIE_WITHIN)
        self._weights = [units(weight) for weight in weights.tolist()]
        powers = np.cumprod(np.full(rankings.depth, p)).tolist()
        lengths = rankings.lengths.tolist()
        self._residuals = [units(powers[n - 1]) + sum(self._weights[:n]) for n in lengths]
        """By run: what its RBP may still change by, in exact units."""
        self._bases = [0] * rankings.n_runs
        """By run: weights of its relevant documents, in exact units."""
        self._factors = [self._factor(run) for run in range(rankings.n_runs)]

    def choose(self) -> int | None:
        """Return the unobserved document of the greatest value; ``None`` = none left."""
        return self._sums.best(self._factors)

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Record what was judged of a document; see `Adaptive.observe`."""
        self._sums.remove(document)
        if relevant is None:
            return
        for run, place in self._sums.unobserved.places[document]:
            self._residuals[run] -= self._weights[place]
            if relevant:
                self._bases[run] += self._weights[place]
            self._factors[run] = self._factor(run)

    def _factor(self, run: int) -> float:
        return from_units(self._residuals[run])


class RbpC(RbpB):
    r"""Judge what takes the most uncertainty from the RBP of the runs that are likely good.

    Notes
    -----
    As `RbpB`, with

    .. math:: s(d) = \sum_r w_r(d)\,\mathrm{res}_r\,(\mathrm{base}_r + \mathrm{res}_r / 2)^3
              (Method C of [3]_)

    where the base of a run is what its RBP is already: the weights of its documents judged
    relevant. So base + residual / 2 is the middle of what its RBP can be, and the third power
    prefers the runs at the top.

    Examples
    --------
    Method B would leave the run of a, since b has 0.2 * 1 and c 0.16 * 0.8. Method C stays when a
    is relevant: c has 0.16 * 0.8 * (0.2 + 0.4)**3 = 0.028, and b 0.2 * 1 * 0.5**3 = 0.025.

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "c"], ["b"]])
    >>> state = RbpC(rankings, p=0.8)
    >>> state.observe(docnos.index("a"), True)
    >>> docnos[state.choose()]
    'c'
    """

    def _factor(self, run: int) -> float:
        residual = from_units(self._residuals[run])
        middle = from_units(self._bases[run]) + residual / 2
        return residual * (middle * middle * middle)


class Bandit(ABC):
    """Choose a run by what its documents were worth; then its first unobserved document.

    Every run with unobserved documents is an arm, and to judge a document is to pull it. The
    reward is 1 for a relevant document and 0 for another one [4]_. A subclass says which arm to
    pull next.

    Notes
    -----
    The reward is credited to every run that returned the document, anywhere in the ranking as it
    was cut; so does MaxMean in Lipani et al.'s implementation, whose other bandits credit the arm
    pulled alone. So it does not matter from which arm a document came, and `observe` takes any
    document alike. A document without a judgement earns nothing, and counts as no pull.
    """

    def __init__(self, rankings: TopicRankings, *, rho: float = 1) -> None:
        self._unobserved = Unobserved(rankings)
        self._rho = rho
        self._hits: list[float] = [0] * rankings.n_runs
        """By run: relevant documents among those judged."""
        self._judged: list[float] = [0] * rankings.n_runs
        """By run: judged documents."""
        self._means = [1 / 2] * rankings.n_runs

    def choose(self) -> int | None:
        """Return the first unobserved document of the best arm; ``None`` = none left."""
        arms = [run for run, n_left in enumerate(self._unobserved.n_left) if n_left]
        return self._unobserved.head(self._arm(arms)) if arms else None

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Record what was judged of a document; see `Adaptive.observe`."""
        self._unobserved.remove(document)
        if relevant is None:
            return
        for run, _ in self._unobserved.places[document]:
            hits = self._hits[run] = self._rho * self._hits[run] + relevant
            judged = self._judged[run] = self._rho * self._judged[run] + 1
            self._means[run] = (1 + hits) / (2 + judged)

    @abstractmethod
    def _arm(self, arms: list[int]) -> int:
        """Return the arm to pull next, of those there are: runs, ascending, at least one."""


class MaxMean(Bandit):
    r"""Pull the arm of the greatest expected reward.

    A judgement still counts rho, in [0, 1], after the next one of its run: with 0 the last one alone counts.

    Notes
    -----
    .. math:: \mu_r = (1 + \mathrm{hits}_r) / (2 + \mathrm{judged}_r)

    the mean of a Beta distribution that was uniform before the first judgement (MM of [4]_, which
    breaks ties at random). At every judgement of a document it returned, and at no other, a run gets

    .. math:: \mathrm{hits}_r \leftarrow \rho\,\mathrm{hits}_r + \mathrm{rel}, \quad
              \mathrm{judged}_r \leftarrow \rho\,\mathrm{judged}_r + 1    (MM-NS of [4]_)

    so with ``rho=0`` the mean is 2/3 after a relevant document, 1/3 after another one, and 1/2 before the
    first.

    Examples
    --------
    b was in both runs and is relevant; a, in the first one only, is not. So the second run is
    worth 2/3, the first 2/4, and the second gives d:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "d"]])
    >>> state = MaxMean(rankings)
    >>> state.observe(docnos.index("a"), False)
    >>> state.observe(docnos.index("b"), True)
    >>> docnos[state.choose()]
    'd'

    With ``rho=0`` the first run's latest document alone counts, which was not relevant:

    >>> rankings, docnos = rankings_of([["a", "b", "c", "d"], ["e"]])
    >>> state = MaxMean(rankings, rho=0)
    >>> for docno, relevant in ("a", True), ("b", True), ("c", False):
    ...     state.observe(docnos.index(docno), relevant)
    >>> docnos[state.choose()]
    'e'
    """

    def _arm(self, arms: list[int]) -> int:
        # `max` takes the first of equals. Equal fractions of small numbers are equal floats.
        return max(arms, key=self._means.__getitem__)


class Thompson(Bandit):
    r"""Draw what every arm may be worth, and pull the one that drew the most.

    Notes
    -----
    .. math:: \theta_r \sim \mathrm{Beta}(1 + \mathrm{hits}_r, 1 + \mathrm{misses}_r)

    and the arm of the greatest :math:`\theta_r` is pulled ([6]_; "BLA" in [4]_).

    For whole numbers, Beta(a, b) is the distribution of the a-th smallest of a + b - 1 uniform
    numbers [7]_, and this is how it is drawn: no distribution of numpy, no logarithm of the
    machine has a part in it. After n observed documents they are the first of the topic's random stream
    of step n: 1 + hits + misses of them for the first arm by tag, and so on.

    O(j log j) for each document, where j is the sum over runs of judged documents, counted once for
    each run.

    References
    ----------
    .. [6] Thompson, "On the likelihood that one unknown probability exceeds another in view of
       the evidence of two samples", *Biometrika* 25, pp. 285-294, 1933.
    .. [7] David and Nagaraja, *Order Statistics*, 3rd edition, 2003, section 2.3.

    Examples
    --------
    Before the first judgement each arm is worth one uniform number, and the greatest wins:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a"], ["b"], ["c"]], topic="51")
    >>> uniform_numbers(7, "51", 3, step=0).round(2).tolist()
    [0.55, 0.36, 0.19]
    >>> docnos[Thompson(rankings, seed=7).choose()]
    'a'
    """

    def __init__(self, rankings: TopicRankings, *, seed: int) -> None:
        super().__init__(rankings)
        self._seed = seed
        self._topic = rankings.topic

    def _arm(self, arms: list[int]) -> int:
        hits = np.array([self._hits[run] for run in arms], np.intp)
        counts = np.array([self._judged[run] for run in arms], np.intp) + 1
        # One row an arm; what is beyond its numbers is sorted to the end.
        rows = np.full((len(arms), counts.max()), 2.0)
        numbers = uniform_numbers(
            self._seed, self._topic, int(counts.sum()), step=self._unobserved.n_observed
        )
        rows[np.arange(rows.shape[1]) < counts[:, np.newaxis]] = numbers
        rows.sort(axis=1)
        # The first of equals.
        return arms[int(rows[np.arange(len(arms)), hits].argmax())]


_LOSADA = "Losada, Parapar and Barreiro 2017"
_RHO = Parameter("rho", 0.0, "weight of past judgements", least=0, most=1)
ADAPTIVE = (
    AdaptiveStrategy(
        "rbp-b",
        "by how much the document could still change the runs' RBP",
        MOFFAT,
        (PERSISTENCE,),
        start=RbpB,
    ),
    AdaptiveStrategy(
        "rbp-c", "as rbp-b, with more weight for runs that found more", MOFFAT, (PERSISTENCE,), start=RbpC
    ),
    AdaptiveStrategy(
        "mtf",
        "Move-To-Front: stay with a run while it gives relevant documents",
        "Cormack, Palmer and Clarke 1998",
        start=MoveToFront,
    ),
    AdaptiveStrategy(
        "hedge",
        "runs are experts, weighted by how good their advice was",
        "Aslam, Pavlu and Savell 2003",
        (Parameter("beta", 0.1, "the smaller, the faster", least=0, most=1, is_open=True),),
        start=Hedge,
    ),
    AdaptiveStrategy(
        "max-mean", "bandit: the run with the best share of relevant documents", _LOSADA, start=MaxMean
    ),
    AdaptiveStrategy("mm-ns", "max-mean where old judgements fade", _LOSADA, (_RHO,), start=MaxMean),
    AdaptiveStrategy(
        "thompson",
        "bandit: each run as often as it is likely to be the best",
        _LOSADA,
        start=Thompson,
        needs_seed=True,
    ),
)
"""Those that another one can go on with, in the order in which strategies are listed."""


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
    it makes its first choice: the DepthN kinds of [5]_. Any document is observed alike, of the
    depth pool or not. O(1) for each document, and the inner strategy's cost.

    Examples
    --------
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

    def needs_seed(parameters: Mapping[str, ParameterValue]) -> bool:
        strategy = find(parameters["then"])
        return strategy.needs_seed_for(strategy.complete({}))

    def start(rankings: TopicRankings, *, then: str, first: int, seed: int | None = None) -> DepthThen:
        seeded = {"seed": seed} if needs_seed({"then": then}) else {}
        state = find(then).start(rankings, **seeded, **find(then).complete({}))
        return DepthThen(rankings, state, first=first)

    return AdaptiveStrategy(
        name="depth-then",
        summary="the first documents of every run, then an adaptive strategy",
        source="Lipani et al. 2017",
        parameters=(
            Parameter("then", "mtf", "the adaptive strategy that follows", type=str),
            Parameter("first", 10, "ranks of every run judged first", type=int, least=1),
        ),
        start=start,
        least_budget=lambda rankings, *, first, **_then: depth_pool_size(rankings, first=first),
        needs_seed_with=needs_seed,
    )
