"""The event that closes a graph with several ends: a settlement, as `store.merging.settling` asks.

Its note and passages are those of the end that stands, or what was put in their place. A value
stands at an end since the event that gave it, its setter. What was put in its place on another
copy, by an event that knew that one, is taken instead; of two notes of which neither knew the
other, the one at the end that stands. A settlement gives nothing of its own: its values are those
of an event before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.merging.event_graph import Graph, Id, Node, identity_of
from store.records import Action, State

Ancestors = Mapping[Id, frozenset[Id]]
"""Of every event, in the order of the row: `store.merging.event_graph.ancestors_of`."""


def closing(
    graph: Graph,
    ancestors: Ancestors,
    ends: Sequence[Node],
    taken: Node,
    decider: Node,
    how: str,
    state: State,
    grade: int | None,
) -> Node:
    """Make the event that follows all ends.

    Parameters
    ----------
    graph : Graph
        With all events.
    ancestors : Ancestors
        Of every event in it.
    ends : sequence of Node
        What is settled, in the order of the row.
    taken : Node
        The event whose decision it takes: one of the ends, or one before them.
    decider : Node
        What decided that: guidelines and texts are those that this rests on.
    how : str
        The rule, or another word for how it was settled.
    state, grade
        How the document stands.

    Returns
    -------
    Node
        The same for the same ends, whoever makes it: it has no time of its own.
    """
    is_same = (state.value, grade) == (taken.content.state, taken.content.grade)
    content = taken.content._replace(
        action=Action.SETTLE.value,
        state=state.value,
        grade=grade,
        reason=taken.content.reason if is_same else b"",
        note=_Kept(graph, ancestors, _note).value(ends, taken),
        display_order=None,
        position=None,
        shown_at=None,
        judged_at=max(node.content.judged_at for node in ends),
        dwell_ms=None,
        active_ms=None,
        dropped_keys=0,
        guideline_version=decider.content.guideline_version,
        document_sha256=decider.content.document_sha256,
        topic_version=decider.content.topic_version,
        settled=how,
        passages=_Kept(graph, ancestors, _passages).value(ends, taken),
    )
    parents = frozenset(node.identity for node in ends)
    return Node(identity_of(content, parents, None), content, parents, None, taken.identity)


def _note(node: Node) -> bytes:
    return node.content.note


def _passages(node: Node) -> tuple[tuple[int, int, bytes], ...]:
    return node.content.passages


@dataclass(slots=True)
class _Kept:
    """One value at the ends of a graph."""

    graph: Graph
    ancestors: Ancestors
    read: Callable[[Node], Any]
    _setters: dict[Id, Id | None] = field(default_factory=dict)

    def value(self, ends: Sequence[Node], chosen: Node) -> Any:
        """Return what a settlement of the ends keeps that takes one of them, or one before them."""
        setter = self._kept(ends, chosen)
        return self.read(chosen if setter is None else self.graph[setter])

    def _kept(self, ends: Sequence[Node], chosen: Node) -> Id | None:
        """Return the setter of what is kept; ``None`` = it is empty from the first event on."""
        setters = [self._setter(end) for end in ends]
        own = self._setter(chosen)
        if own is None:
            newer = [one for one in setters if one is not None]
        else:
            newer = [one for one in setters if one is not None and own in self.ancestors[one]]
        newest = [one for one in newer if not any(one in self.ancestors[two] for two in newer)]
        return newest[-1] if newest else own

    def _setter(self, end: Node) -> Id | None:
        """Return the event that gave an end its value; ``None`` as of `_kept`."""
        if end.identity not in self._setters:
            self._setters[end.identity] = self._found_setter(end)
        return self._setters[end.identity]

    def _found_setter(self, end: Node) -> Id | None:
        node, value = end, self.read(end)
        while node.parents and not node.is_settlement:
            (parent,) = node.parents
            if self.read(self.graph[parent]) != value:
                return node.identity
            node = self.graph[parent]
        if not node.is_settlement:
            return node.identity if value else None
        if node.chosen is not None:
            taken = self.graph[node.chosen]
            settled = [self.graph[one] for one in self.ancestors if one in node.parents]
            found = self._kept(settled, taken)
            if self.read(taken if found is None else self.graph[found]) == value:
                return found
        # It was settled otherwise than it would be now.
        return node.identity
