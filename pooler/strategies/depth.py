"""Depth pooling: the first documents of every run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from store.errors import ArgumentError


def depth_pool(rankings: Sequence[Sequence[str]], *, depth: int) -> list[str]:
    """Pool the first `depth` documents of every run, the likeliest relevant first.

    Parameters
    ----------
    rankings : sequence of sequence of str
        Docnos of one topic in rank order, one sequence a run; none twice in a run.
    depth : int
        Ranks taken from each run, at least 1; a shorter run gives all it has.

    Returns
    -------
    list of str
        The union [1]_, each docno once, in the order of NTCIRPOOL [2]_: documents returned by
        more runs first, then by the smaller sum of ranks, then by docno ascending bytewise. Only
        the first `depth` ranks count.

    Raises
    ------
    ArgumentError
        If `depth` is below 1.

    Notes
    -----
    The result does not depend on the order of the runs. O(n log n) for n documents taken.

    References
    ----------
    .. [1] Sparck Jones and van Rijsbergen, "Report on the need for and provision of an 'ideal'
       information retrieval test collection", British Library R&D Report 5266, 1975.
    .. [2] Sakai et al., "Relevance assessments for web search evaluation: should we randomise or
       prioritise the pooled documents?", *ACM TOIS* 40(4), 2022.

    Examples
    --------
    >>> depth_pool([["a", "b", "c"], ["b", "d"]], depth=2)
    ['b', 'a', 'd']
    """
    return list(depth_priorities(rankings, depth=depth))


def depth_priorities(rankings: Sequence[Sequence[str]], *, depth: int) -> dict[str, float]:
    """Pool the first `depth` documents of every run, and say why each stands where it does.

    Parameters
    ----------
    rankings, depth
        As for `depth_pool`.

    Returns
    -------
    dict of str to float
        By docno, in the order of `depth_pool`: the number of runs that returned the document,
        less a share below 1 that grows with the sum of its ranks. With n runs, the priority is
        in (n - 1, n).

    Raises
    ------
    ArgumentError
        If `depth` is below 1.

    Examples
    --------
    The ranks of b are 2 and 1; two runs at depth 2 have a sum of at most 4:

    >>> depth_priorities([["a", "b", "c"], ["b", "d"]], depth=2)["b"] == 2 - 3 / 5
    True
    """
    if depth < 1:
        raise ArgumentError("depth", "must be an integer >= 1", depth)
    n_runs: Counter[str] = Counter()
    rank_sums: defaultdict[str, int] = defaultdict(int)
    for ranking in rankings:
        taken = ranking[:depth]
        n_runs.update(taken)
        for rank, docno in enumerate(taken, start=1):
            rank_sums[docno] += rank
    ordered = sorted(n_runs, key=lambda docno: (-n_runs[docno], rank_sums[docno], docno))
    return {
        docno: n_runs[docno] - rank_sums[docno] / (n_runs[docno] * depth + 1) for docno in ordered
    }
