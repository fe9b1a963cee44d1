"""The fast reader of run files alone: `SuspicionError` where another one would have to read on."""

from __future__ import annotations

from pathlib import PurePath

from pooler.reading.blocks import BLOCK_BYTES, LineFacts, stream_rankings
from pooler.reading.tops import RunTop, take_top
from store.ranking import Order


def read_blocks(
    path: str, depth: int, *, order: Order, with_scores: bool = True, block_bytes: int = BLOCK_BYTES
) -> RunTop:
    """Read the first documents of every topic, so many bytes at a time."""
    facts = LineFacts()
    tops = dict(
        take_top(one, depth=depth, order=order, file=path, with_scores=with_scores)
        for one in stream_rankings(path, facts, block_bytes=block_bytes)
    )
    about = facts.tag.decode(), PurePath(path).name, facts.digest.hexdigest()
    return RunTop(*about, depth, order, tops, facts.n_lines)
