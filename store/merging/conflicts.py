"""Decisions that differ between copies, as they are told to whoever settles them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from store.merging.event_graph import Node
from store.merging.report import Conflict, Version
from store.merging.settling import Rule, Settled, Take, choose
from store.records import Action, State


def conflict_of(
    name: tuple[str, str, str], found: Settled, where: Sequence[str], *, was_settled: bool
) -> Conflict:
    """Say what copies say of a document.

    Parameters
    ----------
    name : tuple of str
        Topic, docno and judge.
    found : Settled
        With decisions that differ.
    where : sequence of str
        What collections are called, by their number: the one that is written to is 0.
    was_settled : bool
        Whether that one had it settled before.

    Returns
    -------
    Conflict
    """
    would = {rule: choose(found.stands, rule).outcome for rule in Rule}
    would[Rule.UNJUDGED] = Take(State.UNJUDGED)
    last = found.row[-1].content
    earlier = next((node.content.settled for node in found.before), None)
    versions = [_version(stand.end, stand.decider, where) for stand in found.stands]
    versions += [_version(node, node, where) for node in found.outdated]
    return Conflict(
        *name,
        tuple(versions),
        would,
        None if found.is_open else earlier or found.how,
        None if found.is_open else Take(State(last.state), last.grade),
        was_settled,
    )


def _version(end: Node, decider: Node, where: Sequence[str]) -> Version:
    """Say where a decision stands, and what it is."""
    content = decider.content
    return Version(
        tuple(where[side] for side in sorted(end.seen)),
        Take(State(end.content.state), end.content.grade),
        Action(content.action),
        datetime.fromisoformat(content.judged_at).replace(tzinfo=UTC),
        content.reason.decode("utf-8", "surrogatepass"),
        end.content.note.decode("utf-8", "surrogatepass"),
        content.settled,
    )
