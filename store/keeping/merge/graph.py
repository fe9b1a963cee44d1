"""The events of one judge on one document, on copies that were worked on apart, as one graph.

On one machine events follow each other; where a copy was made, two may follow the same one. An
event is what it says (`Content`) and what it follows, so that the same event has the same identity
on every copy, and the union of graphs is that of sets: in any order, any number of times, it is the
same. (How documents lay before the judge is no part of it: where the judge was made anonymous, that
tells less.)

`placed` writes a graph as one row of revisions, always in the same order: an event after all it
follows, and where that leaves a choice the earlier one first.

=================  ========================================================================
`follows`          what an event follows
=================  ========================================================================
``None``           the event before it
a revision         that event: others stand between, which its judge had not seen
0                  none: it was the first on its copy
of a settlement    the event whose decision it took
=================  ========================================================================

A settlement follows every end that stands before it; where that cannot be said by its place alone,
it lists their revisions in `display_order`, as in ``settles:2,4``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from store.event import EVENT
from store.records import Action

_SETTLES = "settles:"

Id = bytes
"""Of an event: a hash of what it says and what it follows."""


class Content(NamedTuple):
    """What an event says, as the store keeps it: moments are text of one form, prose is bytes."""

    action: str
    state: str
    grade: int | None
    reason: bytes
    note: bytes
    iteration: str
    display_order: str | None
    judged_at: str
    guideline_version: int | None
    document_sha256: str | None
    topic_version: int | None
    settled: str | None
    other: tuple[Any, ...]
    """Every other field that an event says, as `OTHER` names them: nothing here looks at them."""
    passages: tuple[tuple[int, int, bytes], ...] = ()
    """Start, length and text, ascending."""


OTHER = {
    one.name: one.default
    for one in EVENT
    if one.role in ("said", "shown") and one.name not in Content._fields
}
"""What `Content.other` holds; a settlement, which no screen showed, has these values."""


class CopyEvent(NamedTuple):
    """An event where it stands on one copy."""

    content: Content
    undoes: int | None = None
    """A revision, as is `follows`; revisions count from 1."""
    follows: int | None = None
    tag: Any = None
    """The caller's own; of no meaning here."""


Chain = Sequence[CopyEvent]
"""All events of a judge on a document on one copy, by revision from 1 without gaps."""


@dataclass(slots=True)
class Node:
    """An event, wherever it is known."""

    identity: Id
    content: Content
    parents: frozenset[Id]
    """What it follows; more than one for a settlement alone."""
    undone: Id | None = None
    """What an undo takes back."""
    chosen: Id | None = None
    """Of a settlement: the event whose decision it took."""
    seen: dict[int, CopyEvent] = field(default_factory=dict)
    """As it stands on each copy that has it, by the copy's number."""

    @property
    def is_settlement(self) -> bool:
        """Whether no judge made it, but the coming together of copies."""
        return self.content.action == Action.SETTLE.value


Graph = dict[Id, Node]


class Placed(NamedTuple):
    """An event in its place among all."""

    node: Node
    revision: int
    undoes: int | None
    follows: int | None
    display_order: str | None


def united(chains: Mapping[int, Chain]) -> Graph:
    """Unite the events of several copies, by the number of the copy: each event once, by its identity."""
    graph: Graph = {}
    for copy, chain in chains.items():
        for node, event in zip(nodes_of(chain), chain, strict=True):
            known = graph.setdefault(node.identity, node)
            known.seen[copy] = event
            if known.chosen != node.chosen:
                # No part of what a settlement says: two ways of settling may come to the same.
                known.chosen = min(filter(None, (known.chosen, node.chosen)))
            orders = known.content.display_order, node.content.display_order
            # The less it tells, the earlier.
            order = min(orders, key=lambda one: (len(one or ""), one or ""))
            if order != orders[0]:
                known.content = known.content._replace(display_order=order)
    return graph


def in_order(graph: Graph) -> list[Node]:
    """Lay a graph in one row: every event after all that it follows.

    Of those that could come next the one whose time is the earliest, then by identity. Clocks may be wrong:
    they order only what nothing else does.
    """
    missing = {one: sum(parent in graph for parent in node.parents) for one, node in graph.items()}
    children: dict[Id, list[Id]] = {}
    for one, node in graph.items():
        for parent in node.parents:
            children.setdefault(parent, []).append(one)
    ready = [(graph[one].content.judged_at, one) for one, n in missing.items() if not n]
    heapify(ready)
    row: list[Node] = []
    while ready:
        _, one = heappop(ready)
        row.append(graph[one])
        for child in children.get(one, ()):
            missing[child] -= 1
            if not missing[child]:
                heappush(ready, (graph[child].content.judged_at, child))
    return row


def placed(row: Sequence[Node]) -> list[Placed]:
    """Give the events of a row, as `in_order` makes it, their revisions."""
    revisions = {node.identity: number for number, node in enumerate(row, start=1)}
    found: list[Placed] = []
    ends: dict[Id, None] = {}
    for number, node in enumerate(row, start=1):
        order = node.content.display_order
        parent: Id | None = None
        if node.is_settlement:
            parent = node.chosen
            listed = ",".join(map(str, sorted(revisions[one] for one in node.parents)))
            order = None if node.parents == ends.keys() else f"{_SETTLES}{listed}"
        elif node.parents:
            (parent,) = node.parents
        before = 0 if parent is None else revisions[parent]
        follows = None if before == number - 1 else before
        undoes = None if node.undone is None else revisions[node.undone]
        found.append(Placed(node, number, undoes, follows, order))
        for one in node.parents:
            ends.pop(one, None)
        ends[node.identity] = None
    return found


def identity_of(content: Content, parents: Iterable[Id], undone: Id | None) -> Id:
    """Return the identity of an event: a hash that is the same on every copy."""
    told = repr((content._replace(display_order=None)[:], sorted(parents), undone))
    return sha256(told.encode("ascii", "backslashreplace")).digest()


def ancestors_of(row: Sequence[Node]) -> dict[Id, frozenset[Id]]:
    """Return all that each event of a row follows, near or far; not itself."""
    found: dict[Id, frozenset[Id]] = {}
    for node in row:
        behind = (found[parent] | {parent} for parent in node.parents if parent in found)
        found[node.identity] = frozenset().union(*behind)
    return found


def nodes_of(chain: Chain) -> list[Node]:
    """Read what every event of a copy follows, in their order."""
    found: list[Node] = []
    ends: dict[Id, None] = {}
    for number, event in enumerate(chain):
        content = event.content
        before = number if event.follows is None else event.follows
        parent = found[before - 1].identity if before else None
        chosen: Id | None = None
        parents = frozenset(() if parent is None else (parent,))
        if content.action == Action.SETTLE.value:
            chosen, parents = parent, frozenset(ends)
            if (content.display_order or "").startswith(_SETTLES):
                listed = (content.display_order or "").removeprefix(_SETTLES).split(",")
                parents = frozenset(found[int(one) - 1].identity for one in listed)
        undone = None if event.undoes is None else found[event.undoes - 1].identity
        identity = identity_of(content, parents, undone)
        found.append(Node(identity, content, parents, undone, chosen))
        for one in parents:
            ends.pop(one, None)
        ends[identity] = None
    return found
