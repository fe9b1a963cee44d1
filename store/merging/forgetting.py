"""Notes and reasons that were removed on one copy, removed from what the others still have of them.

A judge who is made anonymous may take the notes along (`store.people.anonymise`). The events stay,
so they must be known as the same ones on a copy that was made before; and what was removed must not
come back with it, nor in events that were made there later and have kept an old note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from store.merging.event_graph import Chain, Event, Id, nodes_of

_WORDS = ("note", "reason")


def without_forgotten(chains: Mapping[int, Chain]) -> dict[int, Chain]:
    """Empty notes and reasons that one of several copies has emptied.

    Parameters
    ----------
    chains : mapping of int to Chain
        The events of one judge on one document, by the number of the copy.

    Returns
    -------
    dict of int to Chain
        The same events. Of an event that is the same on two copies but for its note, which is empty
        on one of them, the note is empty; so it is in those after it that had kept it. Likewise
        reasons. Two notes that differ are of two events, and stay.
    """
    found = dict(chains)
    words = {word: {value for chain in chains.values() for value in _values(chain, word)}
             for word in _WORDS}  # fmt: skip
    if len(chains) < 2 or all(len(values) < 2 for values in words.values()):
        return found
    bare = {copy: nodes_of([_with(event, note=b"", reason=b"") for event in chain])
            for copy, chain in chains.items()}  # fmt: skip
    for word in _WORDS:
        told: dict[Id, set[bytes]] = {}
        for copy, chain in chains.items():
            for node, value in zip(bare[copy], _values(chain, word), strict=True):
                told.setdefault(node.identity, set()).add(value)
        emptied = {one for one, values in told.items() if b"" in values and len(values) == 2}
        for copy, chain in chains.items() if emptied else ():
            gone: dict[Id, bytes] = {}
            cleaned: list[Event] = []
            values = _values(chain, word)
            for node, event, value in zip(bare[copy], found[copy], values, strict=True):
                is_kept = any(gone.get(parent) == value for parent in node.parents)
                if value and (node.identity in emptied or is_kept):
                    gone[node.identity] = value
                    event = _with(event, **{word: b""})
                cleaned.append(event)
            found[copy] = cleaned
    return found


def _values(chain: Chain, word: str) -> Sequence[bytes]:
    """Return the notes or the reasons of a chain."""
    return [getattr(event.content, word) for event in chain]


def _with(event: Event, **words: Any) -> Event:
    """Return an event with another note or reason."""
    return event._replace(content=event.content._replace(**words))
