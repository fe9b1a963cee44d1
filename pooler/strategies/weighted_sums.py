"""The best unobserved document when every run says what its documents are worth."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pooler.strategies.unobserved import Unobserved
from pooler.topic_rankings import NO_DOCUMENT, TopicRankings


class WeightedSums:
    r"""Find the document with the greatest sum over runs of factor times worth.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    worth : ndarray of float64, shape (n_runs, depth)
        What every place of every run is worth, not negative; any number where there is no
        document. It stays; the runs' factors change from one choice to the next.
    tie_within : float, default=0.0
        Sums that are less than the greatest by at most this share of it tie with it. For terms
        that are not the same to the last bit on every machine.

    Notes
    -----
    With ``tie_within=0`` the answer is the one of sums that are rounded once, at their end:
    documents with the same terms tie exactly, and the order of runs has no part in it. To this
    end the sums of all documents are made anew for each choice, in plain floats, and those so
    near to the greatest that rounding may have decided are made again, with `math.fsum`. Updating
    the sums instead would save little, and leave other last bits than a state made again from the
    judgements.

    O(n_runs * depth) for each choice.

    Examples
    --------
    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b", "c"]])
    >>> sums = WeightedSums(rankings, np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> docnos[sums.best([1.0, 1.0])], docnos[sums.best([1.0, 0.1])]
    ('b', 'a')
    """

    def __init__(
        self, rankings: TopicRankings, worth: NDArray[np.float64], *, tie_within: float = 0.0
    ) -> None:
        is_there = rankings.documents != NO_DOCUMENT
        self.unobserved = Unobserved(rankings)
        self.worth = np.where(is_there, worth, 0.0)
        """Shape (n_runs, depth); 0 where there is no document."""
        self._rows: list[list[float]] = self.worth.tolist()
        # What is no document goes to a place of its own, behind the last document.
        n_documents = rankings.n_documents
        self._documents = (
            np.where(is_there, rankings.documents, n_documents).ravel().astype(np.intp)
        )
        self._handicaps = np.zeros(n_documents + 1)
        self._handicaps[n_documents] = -np.inf
        self._is_exact = not tie_within
        # Twice the bound on the relative error of a sum of n_runs positive terms, and then some.
        self._share = 1 - (tie_within or (rankings.n_runs + 2) * 2.0**-52)

    def best(self, factors: list[float]) -> int | None:
        """Return the unobserved document with the greatest sum; ties: docno descending.

        Parameters
        ----------
        factors : list of float
            By run, not negative.

        Returns
        -------
        int or None
            The document; ``None`` when all have been observed.
        """
        if self.unobserved.is_empty:
            return None
        terms = np.array(factors)[:, np.newaxis] * self.worth
        sums = self._handicaps + np.bincount(self._documents, terms.ravel(), self._handicaps.size)
        near = np.flatnonzero(sums >= sums.max() * self._share).tolist()
        if self._is_exact and len(near) > 1:
            return max(near, key=lambda document: (self._exact_sum(document, factors), document))
        return int(near[-1])

    def remove(self, document: int) -> None:
        """Take a document as observed; see `Unobserved.remove`."""
        self.unobserved.remove(document)
        self._handicaps[document] = -np.inf

    def _exact_sum(self, document: int, factors: list[float]) -> float:
        """Return the sum of a document, rounded once."""
        places = self.unobserved.places[document]
        return math.fsum(factors[run] * self._rows[run][place] for run, place in places)
