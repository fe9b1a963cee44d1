"""One budget of judgements, shared among topics."""

from __future__ import annotations

from collections.abc import Sequence


def share_budget(total: int, sizes: Sequence[int]) -> list[int]:
    """Share a budget so that every topic gets the same, as far as its documents go.

    Parameters
    ----------
    total : int
        Judgements for all topics together, not negative.
    sizes : sequence of int
        Documents there are for each topic, topics in natural order.

    Returns
    -------
    list of int
        Documents to judge for each topic, never more than there are; their sum is the smaller of
        `total` and the sum of `sizes`.

    Notes
    -----
    Every topic starts with an equal whole share; while judgements are left over, each topic that
    has more documents gets one more [1]_. When the last round overdraws, the first topics of it
    keep their document. ([1]_ takes the surplus from the topics with the smallest share, which can
    leave a topic of one document with none.)

    References
    ----------
    .. [1] Lipani et al., "Fixed-cost pooling strategies", *IEEE TKDE* 33(4), 2021; the sharing is
       that of their program (`findTopicSizes`).

    Examples
    --------
    Ten judgements: 1 + 3 + 3 to begin with, since the first topic has only one document; then the
    others get one each, and the second topic one more:

    >>> share_budget(10, [1, 9, 9])
    [1, 5, 4]
    """
    if not sizes:
        return []
    left = min(total, sum(sizes))
    shares = [min(size, total // len(sizes)) for size in sizes]
    left -= sum(shares)
    while left:
        for index, size in enumerate(sizes):
            if left and shares[index] < size:
                shares[index] += 1
                left -= 1
    return shares
