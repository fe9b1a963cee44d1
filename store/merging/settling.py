"""What stands where copies of a collection had gone on apart: found, or asked for.

A graph (`store.merging.event_graph`) with several ends is closed by a settlement: an event that no
judge made, which follows all of them and says how the document stands. It depends on nothing but
the ends and the rule, so whoever settles comes to the same. What nobody has built upon is taken
off again before the ends are looked at: with one copy more there may be more of them.

How the document stands with the judge is decided by the event that decided each end: the grade, the
skip, the finding that it cannot be judged, the reopening, the undo. A note or a mark decides
nothing. So:

- an end is passed over when another end's decision was made knowing its own (a note was written on
  one copy, and on the other the grade was changed);
- of the others, a decision (a grade, or that it cannot be judged) stands against what is none
  (skipped, put back, taken back);
- two decisions that differ are a conflict. Nothing here chooses between them without a rule
  (`Rule`) or a ruling by hand (`Take`).

Note and passages of a settlement are those of the end that stands; where on another copy they were
changed knowing them, the changed ones. Every event stays in the history in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from store.merging.event_graph import Graph, Id, Node, ancestors_of, identity_of, in_order
from store.records import DECIDED, Action, State

AGREED = "agreed"
"""The ends say the same."""
DECISION = "decision"
"""A decision stood against what is none."""
BY_HAND = "by hand"
_STATES = {state.value: state for state in State}


class Rule(StrEnum):
    """Which of two decisions of one judge on one document stands."""

    LATEST = "latest"
    EARLIEST = "earliest"
    HIGHEST = "highest"
    """The highest grade; one that cannot be judged has none."""
    LOWEST = "lowest"
    UNJUDGED = "unjudged"
    """Neither: the document goes back to the judge."""


class Take(NamedTuple):
    """What shall stand, said by hand."""

    state: State
    grade: int | None = None
    rule: Rule | None = None
    """Of the decisions that differ, the one that this rule chooses; state and grade are passed over
    then."""


@dataclass(frozen=True, slots=True)
class Stand:
    """One of the decisions that differ."""

    end: Node
    decider: Node
    """The event that decided it: the end itself, or one that only notes and marks follow."""

    @property
    def outcome(self) -> Take:
        """What was decided."""
        return _outcome(self.end)


@dataclass(frozen=True, slots=True)
class Settled:
    """The events of a judge on a document, brought together."""

    row: list[Node]
    """In their order; the last one says how the document stands."""
    how: str | None = None
    """A rule, `AGREED`, `DECISION` or `BY_HAND`; ``None`` = there was one end."""
    is_conflict: bool = False
    """Whether decisions differed, settled now or before."""
    stands: tuple[Stand, ...] = ()
    """Of a conflict: the decisions, the earliest in the row first."""
    is_open: bool = False
    """Whether it is a conflict that nothing settles; `row` is without its end then."""


def settle(graph: Graph, *, rule: Rule | None = None, take: Take | None = None) -> Settled:
    """Lay the events of several copies in one row, and close it where it has several ends.

    Parameters
    ----------
    graph : Graph
        From `store.merging.event_graph.united`; changed here.
    rule : Rule, optional
        How a conflict is settled that is not settled yet.
    take : Take, optional
        How this conflict is settled; goes before the rule, and before what was settled earlier.

    Returns
    -------
    Settled

    Notes
    -----
    A conflict that was settled on one of the copies, by whatever rule, stays so while its ends are
    the same; what was settled by hand goes before what a rule made.
    """
    former = _taken_off(graph)
    row = in_order(graph)
    ends = _ends(row)
    if len(ends) < 2:
        return Settled(row)
    ancestors = ancestors_of(row)
    stands = _standing(graph, ancestors, ends)
    decided = [one for one in stands if one.outcome.state in DECIDED]
    if len({one.outcome for one in decided}) < 2:
        skipped = [one for one in stands if one.outcome.state is State.SKIPPED]
        chosen = (decided or skipped or stands)[-1]
        how = AGREED if len({one.outcome for one in stands}) == 1 else DECISION
        made = _settlement(graph, ancestors, ends, chosen, how)
        return Settled([*row, _as_known(made, former)], how)
    found = tuple(decided)
    named = None
    if take is not None and take.rule is not None:
        named = choose(found, take.rule)
        take = named.outcome
    earlier = _still_valid(former, ends, take)
    if earlier is not None:
        return Settled([*row, earlier], earlier.content.settled, is_conflict=True, stands=found)
    if take is not None:
        same = (one for one in reversed(decided) if one.outcome == take)
        chosen = named or next(same, decided[-1])
        how, outcome = BY_HAND, take
    elif rule is not None:
        chosen = choose(found, rule)
        how, outcome = rule.value, chosen.outcome
        if rule is Rule.UNJUDGED:
            outcome = Take(State.UNJUDGED)
    else:
        return Settled(row, is_conflict=True, stands=found, is_open=True)
    made = _settlement(graph, ancestors, ends, chosen, how, outcome)
    return Settled([*row, _as_known(made, former)], how, is_conflict=True, stands=found)


def choose(stands: Sequence[Stand], rule: Rule) -> Stand:
    """Return the decision that a rule would let stand.

    Parameters
    ----------
    stands : sequence of Stand
        Decisions in the order of their row. Among equal ones the last is taken.
    rule : Rule
        With `Rule.UNJUDGED` none stands; the last is returned.
    """
    if rule is Rule.EARLIEST:
        return min(stands, key=lambda one: one.decider.content.judged_at)
    key: Callable[[Stand], Any]
    if rule is Rule.LATEST:
        key = _judged_at
    elif rule is Rule.HIGHEST:
        key = _grade
    elif rule is Rule.LOWEST:
        key = _negative_grade
    else:
        return stands[-1]
    best: Any = max(key(one) for one in stands)
    return next(one for one in reversed(stands) if key(one) == best)


def _judged_at(one: Stand) -> str:
    return one.decider.content.judged_at


def _grade(one: Stand) -> tuple[bool, int]:
    grade = one.outcome.grade
    return grade is not None, grade or 0


def _negative_grade(one: Stand) -> tuple[bool, int]:
    grade = one.outcome.grade
    return grade is not None, -(grade or 0)


def _taken_off(graph: Graph) -> list[Node]:
    """Take off settlements that nobody has built upon, and return them."""
    taken: list[Node] = []
    while True:
        followed = {parent for node in graph.values() for parent in node.parents}
        loose = [node for one, node in graph.items() if node.is_settlement and one not in followed]
        if not loose:
            return taken
        taken += [graph.pop(node.identity) for node in loose]


def _as_known(made: Node, former: Sequence[Node]) -> Node:
    """Return a settlement as some copy has it already, or as it was made."""
    return next((node for node in former if node.identity == made.identity), made)


def _ends(row: Sequence[Node]) -> list[Node]:
    """Return the events that none follows, in their order."""
    followed = {parent for node in row for parent in node.parents}
    return [node for node in row if node.identity not in followed]


def _standing(
    graph: Graph, ancestors: dict[Id, frozenset[Id]], ends: Sequence[Node]
) -> list[Stand]:
    """Return the ends that no other end's decision was made knowing, each with its decider."""
    deciders = {end.identity: _decider(graph, end) for end in ends}
    stands: list[Stand] = []
    for end in ends:
        own = deciders[end.identity]
        others = [one for one in deciders.values() if one is not None and one is not own]
        if own is None:
            is_passed_over = bool(others)
        else:
            is_passed_over = any(own.identity in ancestors[one.identity] for one in others)
        if not is_passed_over:
            stands.append(Stand(end, own or end))
    return stands


def _decider(graph: Graph, end: Node) -> Node | None:
    """Return the event that decided how a document stands at an end; ``None`` = none did."""
    node = end
    while node.content.action in (Action.NOTE.value, Action.MARK.value):
        if not node.parents:
            return None
        (parent,) = node.parents
        node = graph[parent]
    return node


def _still_valid(former: Sequence[Node], ends: Sequence[Node], take: Take | None) -> Node | None:
    """Return the settlement of just these ends that was made before; ``None`` = none, or several.

    Several that come to the same are one; with `take`, only one that took it.
    """
    own = {end.identity for end in ends}
    fitting = [node for node in former if node.parents == own]
    by_hand = [node for node in fitting if node.content.settled == BY_HAND]
    fitting = by_hand or fitting
    if take is not None:
        fitting = [node for node in by_hand if _outcome(node) == take]
    if len({_outcome(node) for node in fitting}) != 1:
        return None
    return min(fitting, key=lambda node: (node.content.settled or "", node.identity))


def _outcome(node: Node) -> Take:
    return Take(_STATES[node.content.state], node.content.grade)


def _settlement(
    graph: Graph,
    ancestors: dict[Id, frozenset[Id]],
    ends: Sequence[Node],
    chosen: Stand,
    how: str,
    outcome: Take | None = None,
) -> Node:
    """Make the event that follows all ends."""
    end = chosen.end
    given = outcome or chosen.outcome
    rests_on = chosen.decider.content
    is_same = given == chosen.outcome

    def kept(read: Callable[[Node], Any]) -> Any:
        return _latest(graph, ancestors, ends, end, read)

    content = end.content._replace(
        action=Action.SETTLE.value,
        state=given.state.value,
        grade=given.grade,
        reason=end.content.reason if is_same else b"",
        note=kept(lambda node: node.content.note),
        display_order=None,
        position=None,
        shown_at=None,
        judged_at=max(node.content.judged_at for node in ends),
        dwell_ms=None,
        active_ms=None,
        dropped_keys=0,
        guideline_version=rests_on.guideline_version,
        document_sha256=rests_on.document_sha256,
        topic_version=rests_on.topic_version,
        settled=how,
        passages=kept(lambda node: node.content.passages),
    )
    parents = frozenset(node.identity for node in ends)
    return Node(identity_of(content, parents, None), content, parents, None, end.identity)


def _latest(
    graph: Graph,
    ancestors: dict[Id, frozenset[Id]],
    ends: Sequence[Node],
    chosen: Node,
    read: Callable[[Node], Any],
) -> Any:
    """Return a value of the chosen end, or the one that was put in its place knowing it."""
    setters = [_setter(graph, end, read) for end in ends]
    own = _setter(graph, chosen, read)
    if own is None:
        newer = [one for one in setters if one is not None]
    else:
        newer = [one for one in setters if one is not None and own in ancestors[one]]
    newest = [one for one in newer if not any(one in ancestors[other] for other in newer)]
    return read(graph[newest[-1]]) if newest else read(chosen)


def _setter(graph: Graph, end: Node, read: Callable[[Node], Any]) -> Id | None:
    """Return the event that gave an end its value; ``None`` = it is empty from the first on."""
    node, value = end, read(end)
    while node.parents and not node.is_settlement:
        (parent,) = node.parents
        if read(graph[parent]) != value:
            return node.identity
        node = graph[parent]
    return node.identity if value or node.is_settlement else None
