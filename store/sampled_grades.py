"""Sampled pools with their grades as arrays, of prels files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from store.analysis.sampled_pool import GRADED, NOT_SAMPLED, SampledPool, sampled_pool
from store.arrays import RankedDocuments
from store.formats.prels import NOT_SAMPLED as CODE_NOT_SAMPLED
from store.formats.prels import PrelsRow, StatapRow, XinfapRow
from store.natural_order import natural_key

NO_JUDGEMENT = -999
"""The rel, and all below, that statAP_MQ_eval passes over."""
CHOSEN_OTHERWISE = (0, 2)
"""Methods of a statap file by which a document is judged whatever the sample."""


def xinfap_pools(
    ranked: RankedDocuments, rows: Iterable[XinfapRow], *, negatives_judged: bool = False
) -> dict[str, SampledPool]:
    """Take stratified pools from the rows of a file `topic iteration docno stratum rel`.

    Parameters
    ----------
    ranked : RankedDocuments
        The runs, with docnos.
    rows : iterable of XinfapRow
        Every pooled document, each once a topic.
    negatives_judged : bool, default=False
        Only -1 means `not sampled`, and other negatives, as junk has, are judgements. By default
        every negative rel means `not sampled`, as it does for `sample_eval.pl`.

    Returns
    -------
    dict of str to SampledPool
        Topics in natural order; by the numbers that documents have in the rankings.

    Notes
    -----
    The format has no code for a document that was sampled and has no grade. O(n log n).

    Examples
    --------
    >>> ranked = RankedDocuments(("x",), {}, {"a": 4}, {4: "a"})
    >>> rows = [XinfapRow("t", "0", "b", 2, -1), XinfapRow("t", "0", "a", 1, 2)]
    >>> pool = xinfap_pools(ranked, rows)["t"]
    >>> pool.documents.tolist(), pool.standing.tolist(), pool.strata.tolist()
    ([4, 5], [1, -1], [1, 2])
    """
    found = {}
    for topic, documents, lines in _numbered(ranked, rows):
        codes = np.array([line.code for line in lines], dtype=np.int64)
        is_not_sampled = codes == CODE_NOT_SAMPLED if negatives_judged else codes < 0
        strata = np.array([line.stratum for line in lines], dtype=np.int64)
        standing = np.where(is_not_sampled, NOT_SAMPLED, GRADED)
        found[topic] = sampled_pool(documents, standing, codes, strata=strata)
    return found


def statap_pools(
    ranked: RankedDocuments, rows: Iterable[StatapRow], *, collisions_certain: bool = True
) -> dict[str, SampledPool]:
    """Take samples with probabilities from the rows of a file `topic docno rel method iprob`.

    Parameters
    ----------
    ranked : RankedDocuments
        The runs, with docnos.
    rows : iterable of StatapRow
        The judged documents, each once a topic.
    collisions_certain : bool, default=True
        A document of method 2, which the sample chose and another method as well, counts as certain
        to be judged whatever its iprob, as it does for NIST's `statAP_MQ_eval`. Method 0 is certain
        by its iprob already.

    Returns
    -------
    dict of str to SampledPool
        Topics in natural order; by the numbers that documents have in the rankings. A rel of -999
        or below means `not sampled`; other negatives are judgements.

    Notes
    -----
    The file lists no documents that were not sampled, so that nothing is known of the pool's size.
    O(n log n).

    Examples
    --------
    >>> ranked = RankedDocuments(("x",), {}, {"a": 4}, {4: "a"})
    >>> rows = [StatapRow("t", "a", 1, 1, 0.5), StatapRow("t", "b", 0, 2, 0.25)]
    >>> statap_pools(ranked, rows)["t"].inclusion.tolist()
    [0.5, 1.0]
    """
    found = {}
    for topic, documents, lines in _numbered(ranked, rows):
        codes = np.array([line.code for line in lines], dtype=np.int64)
        standing = np.where(codes <= NO_JUDGEMENT, NOT_SAMPLED, GRADED)
        inclusion = np.array([line.probability for line in lines])
        if collisions_certain:
            methods = np.array([line.method for line in lines])
            inclusion[np.isin(methods, CHOSEN_OTHERWISE)] = 1.0
        found[topic] = sampled_pool(documents, standing, codes, inclusion=inclusion)
    return found


def _numbered(
    ranked: RankedDocuments, rows: Iterable[PrelsRow]
) -> Iterator[tuple[str, NDArray[np.int64], list[PrelsRow]]]:
    """Yield every topic in natural order, the numbers of its documents, and its rows."""
    by_topic: dict[str, list[PrelsRow]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    unranked = 1 + max(ranked.docnos, default=0)
    for topic in sorted(by_topic, key=natural_key):
        lines = by_topic[topic]
        # Pooled documents that no run retrieved need a number all the same.
        numbers = [ranked.ids.get(line.docno, unranked + place) for place, line in enumerate(lines)]
        yield topic, np.array(numbers, dtype=np.int64), lines
