"""Near-duplicate documents: texts as sets of shingles, all pairs that share enough, their clusters.

A text is normalised (NFKC, case folded), and cut into words; Han characters, kana and Hangul syllables are
words of their own. A shingle is five words in a row, three in a text of fewer than 30, and all of a text
of fewer than three.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.kappa import stacked_alpha
from store.errors import ArgumentError

LENGTH = 5
"""Words of a shingle, ..."""
SHORT_LENGTH = 3
"""... in a text of fewer words than `SHORT_TEXT`."""
SHORT_TEXT = 30

_ALONE = "\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_ALONE += "\U00020000-\U0003ffff"
_WORD = re.compile(f"(?=\\w)[{_ALONE}]|(?:(?![{_ALONE}])\\w)+")
_PLAIN = re.compile(r"\w+")
"""The same of a text in which no character is a word of its own, in a third of the time."""
_HAS_ALONE = re.compile(f"[{_ALONE}]")


def words_of(text: str) -> list[str]:
    """Cut a text into normalised words.

    >>> words_of("The ﬁrst Straße, 東京の!")
    ['the', 'first', 'strasse', '東', '京', 'の']
    """
    plain = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return (_WORD if _HAS_ALONE.search(plain) else _PLAIN).findall(plain)


@dataclass(frozen=True, slots=True, eq=False)
class ShingleSets:
    """The sets of shingles of documents; a shingle that one document alone has is only counted."""

    sizes: NDArray[np.int64]
    """Shape (n_documents,): distinct shingles; 0 = no word."""
    starts: NDArray[np.int64]
    """Shape (n_documents + 1,): where the shingles of each document begin in `names`."""
    names: NDArray[np.int64]
    """Shingles that two documents have at least, numbered from the rarest; rising within a document."""
    twins: NDArray[np.int64]
    """Shape (n_documents,): the first document of the same words; of one without words itself. Documents
    that are not their own first have no shingles here, but their size."""


def shingle_sets(texts: Iterable[str], *, advance: Callable[[int], None] = lambda _: None) -> ShingleSets:
    """Turn texts into sets of shingles; each is read once and let go, and `advance` called with 1 after it.

    A shingle gets its number by numbering pairs of the number of its beginning and its next word, over and
    over: no hash, so no two shingles have one number. Beginnings that occur once are not gone on with.
    O(T log T) time for T words; some 45 bytes a word of memory at the peak.

    Examples
    --------
    >>> sets = shingle_sets(["a b c d", "A, b c e!", "a b c d", "?"])
    >>> sets.sizes.tolist(), sets.twins.tolist()  # of three words: a b c, b c d | a b c, b c e
    ([2, 2, 2, 0], [0, 1, 0, 3])
    >>> np.diff(sets.starts).tolist()  # `a b c` is the only one that two have
    [1, 1, 0, 0]
    """
    numbers: dict[str, int] = {}
    tokens, lengths, twins = array("i"), array("q"), array("q")
    first_of: dict[bytes, int] = {}
    for place, text in enumerate(texts):
        known = array("i", [numbers.setdefault(word, len(numbers)) for word in words_of(text)])
        twin = first_of.setdefault(known.tobytes(), place) if known else place
        twins.append(twin)
        lengths.append(len(known))
        if twin == place:
            tokens.extend(known)
        advance(1)
    n_words = len(numbers)
    del numbers, first_of
    own = np.frombuffer(twins, np.int64) if twins else np.empty(0, np.int64)
    size = np.frombuffer(lengths, np.int64) if lengths else np.empty(0, np.int64)
    is_first = own == np.arange(own.size)
    flat = np.frombuffer(tokens, np.int32) if tokens else np.empty(0, np.int32)
    sizes, documents, names = _numbered(flat, np.where(is_first, size, 0), n_words)
    order = np.lexsort((names, documents))
    starts = np.zeros(own.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(documents, minlength=own.size), out=starts[1:])
    return ShingleSets(sizes[own], starts, names[order], own)


def runs_of(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return runs of whole numbers, one after another: so many from each start on.

    >>> runs_of(np.array([7, 0, 3]), np.array([2, 0, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))


def _numbered(
    words: NDArray[np.int32], lengths: NDArray[np.int64], n_words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return sizes of sets, and of every shingle that two documents have its document and number."""
    of_shingle = np.where(lengths < SHORT_TEXT, np.minimum(lengths, SHORT_LENGTH), LENGTH)
    begins = np.cumsum(lengths) - lengths
    n_places = np.where(lengths > 0, lengths - of_shingle + 1, 0)
    alone = np.zeros(lengths.size, dtype=np.int64)
    documents, names, n_names = [], [], 0
    for length in np.unique(of_shingle[lengths > 0]).tolist():
        chosen = np.flatnonzero((of_shingle == length) & (lengths > 0))
        count = n_places[chosen]
        of_place = np.repeat(chosen.astype(np.int32), count)
        place = runs_of(begins[chosen], count).astype(np.int32)
        name, n_distinct = words[place], n_words
        is_repeated = (np.bincount(name, minlength=n_words) > 1)[name]
        for step in range(length):
            if step:
                name, n_distinct, is_repeated = _renumbered(
                    name.astype(np.int64) * n_words + words[place + step]
                )
            # A beginning that occurs once makes a shingle that occurs once.
            alone += np.bincount(of_place[~is_repeated], minlength=alone.size)
            name, place, of_place = name[is_repeated], place[is_repeated], of_place[is_repeated]
        document, name = np.divmod(np.unique(of_place.astype(np.int64) * n_distinct + name), n_distinct)
        documents.append(document)
        names.append(name + n_names)
        n_names += n_distinct
    document = np.concatenate(documents) if documents else np.empty(0, dtype=np.int64)
    name = np.concatenate(names) if names else np.empty(0, dtype=np.int64)
    sizes = alone + np.bincount(document, minlength=alone.size)
    n_documents = np.bincount(name, minlength=n_names)
    # The rarest first, and not at all what is in one document several times.
    rank = np.empty(n_names, dtype=np.int64)
    rank[np.argsort(n_documents, kind="stable")] = np.arange(n_names)
    is_shared = n_documents[name] > 1
    return sizes, document[is_shared], rank[name[is_shared]]


def _renumbered(names: NDArray[np.int64]) -> tuple[NDArray[np.int32], int, NDArray[np.bool_]]:
    """Give names numbers from 0 as they rise; return how many there are, and which occur more than once."""
    order = np.argsort(names)
    rising = names[order]
    is_new = np.ones(names.size, dtype=np.bool_)
    is_new[1:] = rising[1:] != rising[:-1]
    del rising
    number = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    n_distinct = int(number[-1]) + 1 if names.size else 1
    found = np.empty(names.size, dtype=np.int32)
    found[order] = number
    del order
    is_repeated = np.bincount(number, minlength=n_distinct) > 1
    return found, n_distinct, is_repeated[found]


_AT_ONCE = 4_000_000
"""Pairs that are made, or shingles that are compared, at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """Pairs of documents, each once; all arrays have shape (n_pairs,)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    """Places of documents, `first` < `second`; pairs rise by both."""
    shared: NDArray[np.int64]
    """Shingles that both have."""
    united: NDArray[np.int64]
    """Shingles that one has at least; the Jaccard is ``shared / united``."""


def as_threshold(threshold: float | str | Fraction) -> Fraction:
    """Read a least Jaccard as it is written; `ArgumentError` if it is not above 0 and at most 1.

    >>> as_threshold(0.8)
    Fraction(4, 5)
    """
    try:
        least = Fraction(str(threshold))
    except (ValueError, ZeroDivisionError):
        least = Fraction(0)
    if not 0 < least <= 1:
        raise ArgumentError("threshold", "must be above 0 and at most 1", threshold)
    return least


def near_pairs(sets: ShingleSets, threshold: float | str | Fraction) -> NearPairs:
    r"""Find every pair of documents with a Jaccard of at least a threshold, and no other pair.

    Parameters
    ----------
    sets : ShingleSets
    threshold : float, str or Fraction
        In (0, 1], else `ArgumentError`; a float stands for what it is written as, so that 0.8 is 4/5.

    Returns
    -------
    NearPairs
        Of documents that are their own `ShingleSets.twins`: what has the same words as another stands in its
        place. Jaccards are compared in integers, without rounding.

    Notes
    -----
    The prefix filter [1]_, [2]_. With :math:`|A \cap B| \ge t |A \cup B|` two sets share at least
    :math:`\lceil t |A| \rceil` elements, so one of the first :math:`|A| - \lceil t |A| \rceil + 1` of A, in
    an order of all elements, is among the same first elements of B. Only these are looked up, the rarest
    coming first; pairs whose sizes differ too much are dropped (:math:`|A| < t |B|`), the others counted.
    Nothing is left to chance. O(candidates) after sorting; n documents that are all alike make
    n (n - 1) / 2 pairs.

    References
    ----------
    .. [1] S. Chaudhuri, V. Ganti and R. Kaushik, "A primitive operator for similarity joins in data
       cleaning", *ICDE* 2006, doi:10.1109/ICDE.2006.9.
    .. [2] R. J. Bayardo, Y. Ma and R. Srikant, "Scaling up all pairs similarity search", *WWW* 2007, 131-140,
       doi:10.1145/1242572.1242591.

    Examples
    --------
    >>> from store.analysis.duplicates import shingle_sets
    >>> river = "quick brown fox jumps over the lazy dog near the old river bank today"
    >>> sets = shingle_sets([f"The {river}", f"the {river}!", f"The {river.replace('dog', 'cat')}"])
    >>> near_pairs(sets, 0.6).shared.tolist(), sets.twins.tolist()  # 13 shingles of three words each
    ([10], [0, 0, 2])
    >>> near_pairs(sets, 0.65).shared.tolist()
    []
    """
    least = as_threshold(threshold)
    found: list[NDArray[np.int64]] = [np.empty((4, 0), dtype=np.int64)]
    n = sets.sizes.size
    known = np.empty(0, dtype=np.int64)
    for candidates in _candidates(sets, least):
        new = np.setdiff1d(candidates, known, assume_unique=True)
        known = np.union1d(known, new)
        first, second = np.divmod(new, n)
        shared = count_shared(sets, first, second)
        united = sets.sizes[first] + sets.sizes[second] - shared
        is_near = shared * least.denominator >= united * least.numerator
        found.append(np.stack([first, second, shared, united])[:, is_near])
    pairs = np.concatenate(found, axis=1)
    return NearPairs(*pairs[:, np.lexsort((pairs[1], pairs[0]))])


def _candidates(sets: ShingleSets, least: Fraction) -> Iterator[NDArray[np.int64]]:
    """Yield pairs that share a shingle of their prefixes, as first * n + second: rising, once a block."""
    n, sizes = sets.sizes.size, sets.sizes
    counts = np.diff(sets.starts)
    prefix = sizes - -(-sizes * least.numerator // least.denominator) + 1
    # Shingles that no other document has are the rarest: they come first and find none.
    taken = np.clip(prefix - (sizes - counts), 0, counts)
    documents = np.repeat(np.arange(n), taken)
    names = sets.names[runs_of(sets.starts[:-1], taken)]
    # Within a shingle by size: all that are near enough stand behind, up to a place.
    order = np.lexsort((documents, sizes[documents], names))
    documents, names = documents[order], names[order]
    width = int(sizes.max(initial=0)) + 1
    largest = sizes[documents] * least.denominator // least.numerator
    rising = names * width + sizes[documents]
    reach = np.searchsorted(rising, names * width + np.minimum(largest, width - 1), "right")
    n_after = reach - np.arange(documents.size) - 1
    for block in _blocks(n_after):
        at, some = np.arange(block.start, block.stop), n_after[block]
        one, other = documents[np.repeat(at, some)], documents[runs_of(at + 1, some)]
        yield np.unique(np.minimum(one, other) * n + np.maximum(one, other))


def _blocks(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Cut rows into blocks of no more than `_AT_ONCE` things together, or of one row."""
    total = np.cumsum(sizes)
    start = 0
    while start < sizes.size:
        done = int(total[start - 1]) if start else 0
        stop = max(int(np.searchsorted(total, done + _AT_ONCE, "right")), start + 1)
        yield slice(start, stop)
        start = stop


def count_shared(sets: ShingleSets, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the shingles that pairs of documents have in common, shape (n_pairs,).

    `first` and `second` are places of documents, their `twins` taken in their place.
    """
    first, second = sets.twins[first], sets.twins[second]
    counts = np.diff(sets.starts)
    found = np.empty(first.size, dtype=np.int64)
    n_names = int(sets.names.max(initial=0)) + 1
    for block in _blocks(counts[first] + counts[second]):
        keys = np.concatenate([_keyed(sets, documents[block], n_names) for documents in (first, second)])
        keys.sort()
        repeated = keys[1:][keys[1:] == keys[:-1]] // n_names
        found[block] = np.bincount(repeated, minlength=block.stop - block.start)
    same = first == second
    found[same] = sets.sizes[first[same]]
    return found


def _keyed(sets: ShingleSets, documents: NDArray[np.int64], n_names: int) -> NDArray[np.int64]:
    """Return the shingles of documents, each with the place of its document before it."""
    counts = np.diff(sets.starts)[documents]
    at = runs_of(sets.starts[documents], counts)
    return np.repeat(np.arange(documents.size), counts) * n_names + sets.names[at]


MOST_COMPARED = 2_000_000
"""Pairs of a cluster that are compared to find the least Jaccard."""


def components(pairs: NearPairs, twins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put together what chains of near pairs join, shape (n_documents,): the least place of each cluster.

    >>> chain = NearPairs(*np.array([[0, 1], [1, 4], [8, 8], [9, 9]]))
    >>> components(chain, np.array([0, 1, 1, 3, 4])).tolist()
    [0, 0, 0, 3, 0]
    """
    parent = twins.tolist()

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for first, second in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        one, other = root(first), root(second)
        parent[max(one, other)] = min(one, other)
    return np.array([root(place) for place in range(len(parent))], dtype=np.int64)


def least_shared(sets: ShingleSets, members: Sequence[int]) -> tuple[int, int] | None:
    """Return shared and united shingles of the two members of a cluster that are least alike.

    ``None`` = there are more than `MOST_COMPARED` pairs. Of one text there is nothing to compare: all of it.
    """
    places = np.unique(sets.twins[np.array(members, dtype=np.int64)])
    if places.size * (places.size - 1) // 2 > MOST_COMPARED:
        return None
    if places.size < 2:
        size = int(sets.sizes[places[0]])
        return size, size
    one, other = np.triu_indices(places.size, 1)
    first, second = places[one], places[other]
    shared = count_shared(sets, first, second)
    united = sets.sizes[first] + sets.sizes[second] - shared
    least = int(np.argmin(shared / united))
    return int(shared[least]), int(united[least])


@dataclass(frozen=True, slots=True)
class PairConsistency:
    """How alike the grades of pairs are."""

    pairs: int
    same: int
    """With equal grades."""
    alpha: float | None
    """Krippendorff's, ordinal: the two of a pair have no order. ``None`` = undefined."""
    reason: str | None
    """Why it is: ``no-common-docs`` (no pair), ``one-doc`` (one pair), ``single-grade`` (no other grade)."""

    @property
    def share(self) -> float | None:
        """Share of the pairs with equal grades; ``None`` = there is no pair."""
        return self.same / self.pairs if self.pairs else None


def pair_consistency(pairs: Sequence[tuple[int, int]], values: Sequence[int]) -> PairConsistency:
    """Measure how alike the two grades of pairs are.

    Grades stand in either order, and are of the scale `values`, ascending. A pair is a
    unit of two votes of which neither is the first, so that alpha, and not kappa, corrects for chance.

    >>> pair_consistency([(1, 1), (0, 0), (1, 0)], [0, 1]).same
    2
    >>> pair_consistency([(1, 1)], [0, 1]).reason
    'one-doc'
    """
    place = {value: index for index, value in enumerate(values)}
    table = np.zeros((len(values), len(values)), dtype=np.int64)
    for one, other in pairs:
        table[place[one], place[other]] += 1
    alpha = float(stacked_alpha(table + table.T))
    reason = "single-grade" if np.isnan(alpha) else None
    if len(pairs) < 2:
        reason = "one-doc" if pairs else "no-common-docs"
    return PairConsistency(len(pairs), int(np.trace(table)), None if reason else alpha, reason)
