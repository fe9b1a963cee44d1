"""How alike the grades of pairs are: the worked example of the reference, and what is always so."""

from __future__ import annotations

from store.analysis.duplicates import pair_consistency


def test_reference_vector_of_consistency() -> None:
    """Of {a, b} both are 1, of {d, e} one is: one of two pairs."""
    found = pair_consistency([(1, 1), (1, 0)], [0, 1])
    assert (found.pairs, found.same, found.share) == (2, 1, 0.5)


def test_consistency_has_no_order_within_a_pair() -> None:
    """Turning pairs round changes nothing; without a pair there is no share, nor an alpha."""
    pairs = [(0, 2), (1, 1), (2, 2), (0, 1), (0, 0)]
    assert pair_consistency(pairs, [0, 1, 2]) == pair_consistency([(b, a) for a, b in pairs], [0, 1, 2])
    nothing = pair_consistency([], [0, 1])
    assert (nothing.share, nothing.alpha, nothing.reason) == (None, None, "no-common-docs")
