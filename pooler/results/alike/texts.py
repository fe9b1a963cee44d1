"""The texts of a collection compared: near-duplicates, and the clusters they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pooler.telling import progress, say
from store.text import counted

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from store.analysis.duplicates.join import NearPairs
    from store.analysis.duplicates.shingles import ShingleSets
    from store.collection import Collection


@dataclass(frozen=True, eq=False)
class Compared:
    """Documents by docno, and how alike they are; places are those of `docnos`."""

    docnos: tuple[str, ...]
    ids: NDArray[np.int64]
    """Row ids."""
    sha256: tuple[str, ...]
    sets: ShingleSets
    pairs: NearPairs
    """Of documents that are no `twins` of an earlier one."""
    threshold: Fraction
    without_text: int
    """Documents that could not be compared."""

    @cached_property
    def clusters(self) -> list[list[int]]:
        """Places of the documents of every cluster of two or more, by the first docno."""
        from store.analysis.duplicates.clusters import components

        members: dict[int, list[int]] = {}
        for place, first in enumerate(components(self.pairs, self.sets.twins).tolist()):
            members.setdefault(first, []).append(place)
        return [places for places in members.values() if len(places) > 1]

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The number of its cluster, from 1, of every document that has near-duplicates."""
        numbered = enumerate(self.clusters, 1)
        return {self.docnos[place]: str(number) for number, places in numbered for place in places}

    @cached_property
    def _near(self) -> dict[tuple[int, int], tuple[int, int]]:
        columns = (self.pairs.first, self.pairs.second, self.pairs.shared, self.pairs.united)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return {(first, second): (shared, united) for first, second, shared, united in rows}

    def alike(self, one: int, other: int) -> tuple[int, int] | None:
        """Return shared and united shingles of two documents that are near; ``None`` = they are not."""
        first, second = sorted((int(self.sets.twins[one]), int(self.sets.twins[other])))
        if first == second:
            size = int(self.sets.sizes[first])
            return (size, size) if size else None
        return self._near.get((first, second))


def compare_texts(collection: Collection | None, threshold: Fraction, *, pooled: bool = True) -> Compared:
    """Compare the documents of a collection that have a text; by default those pooled or looked at.

    Without a collection nothing is compared.
    """
    import numpy as np

    from store.analysis.duplicates.join import near_pairs
    from store.analysis.duplicates.shingles import shingle_sets

    n_texts = without_text = 0
    if collection is not None:
        n_texts, without_text = collection.duplicates.count_texts(pooled=pooled)
    docnos, ids, sha256 = [], [], []

    def words() -> Iterator[str]:
        for one in () if collection is None else collection.duplicates.texts(pooled=pooled):
            docnos.append(one.docno)
            ids.append(one.document)
            sha256.append(one.sha256)
            yield one.words

    with progress("texts", n_texts) as advance:
        sets = shingle_sets(words(), advance=advance)
    if collection is not None:
        _say_what_is_compared(n_texts, without_text, int(sets.sizes.sum()))
    return Compared(
        docnos=tuple(docnos),
        ids=np.array(ids, dtype=np.int64),
        sha256=tuple(sha256),
        sets=sets,
        pairs=near_pairs(sets, threshold),
        threshold=threshold,
        without_text=without_text,
    )


def _say_what_is_compared(n_texts: int, without_text: int, n_shingles: int) -> None:
    """Say how much is compared, and what cannot be."""
    lacking = f"; {counted(without_text, 'document')} without a text" if without_text else ""
    if without_text and not n_texts:
        lacking += ": pooler import docs FILE imports the texts"
    say(f"{counted(n_texts, 'text')}, {n_shingles:,} shingles compared{lacking}")
