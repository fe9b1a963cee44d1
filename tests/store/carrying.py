"""Near-duplicates carried over, whatever their texts are."""

from __future__ import annotations

from store.collection import Collection
from store.judging.carried import Alike


def carry(made: Collection, *pairs: tuple[str, str], topic: str = "1") -> int:
    """Carry documents over from others, as if 4 of their 5 shingles were alike."""
    with made.as_it_stands() as inside:
        topics, ids = dict(inside.topics.ids), dict(inside.documents.ids)
    sha256 = {one.docno: one.sha256 for one in made.duplicates.texts(pooled=False)}
    return made.duplicates.carry(
        [
            Alike(topics[topic], ids[docno], ids[source], 4, 5, sha256[docno], sha256[source])
            for docno, source in pairs
        ]
    )
