r"""Texts as sets of shingles: runs of a few words, numbered so that equal numbers are equal words.

A text is normalised (NFKC, case folded), and cut into words; Han characters, kana and Hangul syllables are
words of their own. A shingle is five words in a row, three in a text of fewer than 30, and all of a text
of fewer than three.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    Examples
    --------
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

    @property
    def n_documents(self) -> int:
        """Documents."""
        return self.sizes.size


def shingle_sets(texts: Iterable[str], *, advance: Callable[[int], None] = lambda _: None) -> ShingleSets:
    """Turn texts into sets of shingles.

    Parameters
    ----------
    texts : iterable of str
        Each is read once and let go.
    advance : callable, optional
        Called with 1 after each.

    Returns
    -------
    ShingleSets

    Notes
    -----
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
    """Give names numbers from 0 as they rise; say how many there are, and which occur more than once."""
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
