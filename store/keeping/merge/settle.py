"""What stands where ends differ; the closing event.

A graph (`store.keeping.merge.graph`) with several ends is closed by a settlement: an event that no
judge made, which follows all of them and says how the document stands.

How the document stands with the judge is decided by the event that decided each end: the grade, the
skip, the finding that it cannot be judged, the reopening, the undo. A note or a mark decides
nothing. So:

- an end is passed over when another end's decision was made knowing its own (a note was written on
  one copy, and on the other the grade was changed);
- of the others, a decision (a grade, or that it cannot be judged) stands against what is none
  (skipped, put back, taken back);
- two decisions that differ are a conflict. Nothing here chooses between them without a rule
  (`SettleRule`) or a ruling by hand (`Take`).

Note and passages of a settlement are those of the end that stands. A value stands at an end since
the event that gave it, its setter: what was put in its place on another copy, by an event that knew
that one, is taken instead; of two notes of which neither knew the other, the one at the end that
stands. A settlement gives nothing of its own: its values are those of an event before it.

What a rule made, or what made itself, depends on nothing but the ends and the rule: while nobody has
built upon it, it is taken off before the ends are looked at, and made anew over all of them. It stands,
whatever rule is asked for now, while it knew every decision that stands now; where a new one differs, its
conflict is open again.

A ruling by hand is an event like a judge's, never taken off: a decision of its own, made knowing all it
follows, so that the decisions before it are passed over, and a new one that differs is a conflict with it.
Ruling again is one more event. A ruling given before a third copy came, and the same one given after, are
two events; where both come together they agree.

The graph after a merge is thus the union of the events of judges and hands, closed by a function of that
union and the rule: the same in any order, two by two or all at once, and however often, as long as the
rule is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from typing import Any

from store.keeping.merge.copies import MergeConflict, SettleRule, Take, Version
from store.keeping.merge.graph import OTHER, Content, Graph, Id, Node, ancestors_of, identity_of, in_order
from store.records import DECIDED, Action, State

Ancestors = Mapping[Id, frozenset[Id]]
"""Of every event, in the order of the row: `store.keeping.merge.graph.ancestors_of`."""


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

    The same for the same ends, whoever makes it, with no time of its own.

    `ends` are in the order of the row; `taken` is one of them, or before them. `decider` is what decided
    that: guidelines and texts are those that this rests on. `how` is the rule, or another word for it.
    """
    is_same = (state.value, grade) == (taken.content.state, taken.content.grade)
    content = taken.content._replace(
        action=Action.SETTLE.value,
        state=state.value,
        grade=grade,
        reason=taken.content.reason if is_same else b"",
        note=_Kept(graph, ancestors, attrgetter("note")).value(ends, taken),
        display_order=None,
        judged_at=max(node.content.judged_at for node in ends),
        other=(*OTHER.values(),),
        guideline_version=decider.content.guideline_version,
        document_sha256=decider.content.document_sha256,
        topic_version=decider.content.topic_version,
        settled=how,
        passages=_Kept(graph, ancestors, attrgetter("passages")).value(ends, taken),
    )
    parents = frozenset(node.identity for node in ends)
    return Node(identity_of(content, parents, None), content, parents, None, taken.identity)


@dataclass(slots=True)
class _Kept:
    """One value at the ends of a graph."""

    graph: Graph
    ancestors: Ancestors
    read: Callable[[Content], Any]
    _setters: dict[Id, Id | None] = field(default_factory=dict)

    def value(self, ends: Sequence[Node], chosen: Node) -> Any:
        """Return what a settlement of the ends keeps that takes one of them, or one before them."""
        found = self._newest([end.identity for end in ends], chosen.identity)
        return self._at(chosen.identity if found is None else found)

    def _at(self, event: Id) -> Any:
        return self.read(self.graph[event].content)

    def _newest(self, ends: Sequence[Id], chosen: Id) -> Id | None:
        """Return the setter of what is kept; ``None`` = it is empty from the first event on."""
        own = self._setter(chosen)
        setters = [one for one in map(self._setter, ends) if one is not None]
        newer = [one for one in setters if own is None or own in self.ancestors[one]]
        newest = [one for one in newer if not any(one in self.ancestors[two] for two in newer)]
        return newest[-1] if newest else own

    def _setter(self, end: Id) -> Id | None:
        """Return the event that gave an end its value; ``None`` as of `_newest`."""
        if end not in self._setters:
            self._setters[end] = self._found_setter(self.graph[end])
        return self._setters[end]

    def _found_setter(self, node: Node) -> Id | None:
        value = self._at(node.identity)
        while node.parents and not node.is_settlement:
            (parent,) = node.parents
            if self._at(parent) != value:
                return node.identity
            node = self.graph[parent]
        if not node.is_settlement:
            return node.identity if value else None
        if node.chosen is not None:
            found = self._newest([one for one in self.ancestors if one in node.parents], node.chosen)
            if self._at(node.chosen if found is None else found) == value:
                return found
        # It was settled otherwise than it would be now.
        return node.identity


AGREED = "agreed"
"""The ends say the same."""
DECISION = "decision"
"""A decision stood against what is none."""
BY_HAND = "by hand"
_RULES = {rule.value: rule for rule in SettleRule}


@dataclass(frozen=True, slots=True)
class Stand:
    """One of the decisions that differ."""

    end: Node
    decider: Node
    """The event that decided it: the end itself, or one that only notes and marks follow, and
    settlements that took it."""

    @property
    def outcome(self) -> Take:
        """What was decided."""
        return _outcome(self.end)

    @property
    def ruling(self) -> Node | None:
        """The ruling by hand by which it stands; ``None`` = a judge's decision, or a rule's."""
        return self.decider if self.decider.content.settled == BY_HAND else None

    @property
    def is_decision(self) -> bool:
        """Whether it stands against what is none; a ruling by hand does, even to skip."""
        return self.ruling is not None or self.outcome.state in DECIDED


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
    """Of a conflict: the decisions, in the order in which they stand in the row."""
    is_open: bool = False
    """Whether it is a conflict that nothing settles; `row` is without its end then."""
    before: tuple[Node, ...] = ()
    """Of a conflict that had been settled: the settlements by which it stands, made before."""
    outdated: tuple[Node, ...] = ()
    """Of a conflict: settlements by rules that did not know all of its decisions."""


def settle(graph: Graph, *, rule: SettleRule | None = None, take: Take | None = None) -> Settled:
    """Lay the events of several copies in one row, and close it where it has several ends.

    `graph` is changed.

    `rule` settles a conflict that is not settled yet; `take` goes before the rule, and before what was
    settled earlier. A conflict that a rule settled on one of the copies, whichever it was, stays so while no
    new decision has come; two rules that come to different things are a conflict again. What was settled by
    hand is ruled on again by `take` alone.
    """
    former = _taken_off(graph)
    row = in_order(graph)
    ends = _ends(row)
    if len(ends) < 2 and take is None:
        return Settled(row)
    ancestors = ancestors_of(row)
    stands = _document_states(graph, ancestors, ends)
    decided = tuple(one for one in stands if one.is_decision)

    def closed(chosen: Stand, how: str, outcome: Take | None = None) -> list[Node]:
        state, grade, _ = outcome or chosen.outcome
        made = closing(graph, ancestors, ends, chosen.end, chosen.decider, how, state, grade)
        # As some copy has it already, or as it was made.
        return [*row, next((node for node in former if node.identity == made.identity), made)]

    if len({one.outcome for one in decided}) > 1:
        before, outdated = _knowing(former, ancestors, decided)
        if take is not None:
            chosen, outcome = _taken(decided, take)
            how = BY_HAND
            before = ()
        else:
            earlier = _rule_of(decided, before)
            before = () if earlier is None else before
            valid = earlier or rule
            if valid is None:
                return Settled(row, None, True, decided, is_open=True, outdated=outdated)
            chosen, how = choose(decided, valid), valid.value
            outcome = _by_rule(decided, valid)
        return Settled(closed(chosen, how, outcome), how, True, decided, before=before, outdated=outdated)
    ruling = next((one.ruling for one in decided if one.ruling is not None), None)
    ruled: tuple[Stand, ...] = ()
    if take is not None and ruling is not None:
        ruled = _ruled_on(graph, ancestors, ruling) or decided
        chosen, outcome = _taken(ruled, take)
        if outcome != decided[-1].outcome:
            return Settled(closed(chosen, BY_HAND, outcome), BY_HAND, True, ruled)
    before = () if ruling is None else (ruling,)
    if len(ends) < 2:
        return Settled(row, None, bool(ruled), ruled, before=before)
    skipped = [one for one in stands if one.outcome.state is State.SKIPPED]
    chosen = (decided or skipped or stands)[-1]
    how = AGREED if len({one.outcome for one in stands}) == 1 else DECISION
    return Settled(closed(chosen, how), how, bool(ruled), ruled, before=before)


def choose(stands: Sequence[Stand], rule: SettleRule) -> Stand:
    """Return the decision that a rule would let stand, of decisions in the order of their row.

    Among equal ones the last is taken; with `SettleRule.EARLIEST` the first. With `SettleRule.UNJUDGED` none
    stands; the last is returned.
    """
    if rule is SettleRule.EARLIEST:
        return min(stands, key=_judged_at)
    if rule not in _BEST:
        return stands[-1]
    return max(reversed(stands), key=_BEST[rule])


def _judged_at(one: Stand) -> str:
    return one.decider.content.judged_at


def _grade(one: Stand, sign: int = 1) -> tuple[bool, int]:
    """Order grades; what has none comes before all."""
    grade = one.outcome.grade
    return grade is not None, sign * (grade or 0)


_BEST: dict[SettleRule, Callable[[Stand], Any]] = {
    SettleRule.LATEST: _judged_at,
    SettleRule.HIGHEST: _grade,
    SettleRule.LOWEST: partial(_grade, sign=-1),
}


def _by_rule(stands: Sequence[Stand], rule: SettleRule) -> Take:
    """Return what a rule makes of decisions that differ."""
    return Take(State.UNJUDGED) if rule is SettleRule.UNJUDGED else choose(stands, rule).outcome


def _taken(stands: Sequence[Stand], take: Take) -> tuple[Stand, Take]:
    """Return the decision that a ruling by hand takes, and what shall stand.

    Where it is none of them, the last is taken for what it rests on.
    """
    if take.rule is not None:
        named = choose(stands, take.rule)
        return named, named.outcome
    same = (one for one in reversed(stands) if one.outcome == take)
    return next(same, stands[-1]), take


def _taken_off(graph: Graph) -> list[Node]:
    """Take off settlements that no hand made and nobody has built upon, and return them."""
    taken: list[Node] = []
    while True:
        followed = {parent for node in graph.values() for parent in node.parents}
        loose = [
            node
            for one, node in graph.items()
            if node.is_settlement and node.content.settled != BY_HAND and one not in followed
        ]
        if not loose:
            return taken
        taken += [graph.pop(node.identity) for node in loose]


def _knowing(
    former: Sequence[Node], ancestors: dict[Id, frozenset[Id]], decided: Sequence[Stand]
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the settlements by rules that knew all of some decisions, and those that did not."""
    wanted = {one.decider.identity for one in decided}
    knowing: list[Node] = []
    outdated: list[Node] = []
    for node in former:
        if node.content.settled in _RULES:
            known = node.parents.union(*(ancestors.get(one, ()) for one in node.parents))
            (knowing if wanted <= known else outdated).append(node)
    return tuple(knowing), tuple(outdated)


def _rule_of(decided: Sequence[Stand], former: Sequence[Node]) -> SettleRule | None:
    """Return the rule by which decisions were settled; ``None`` = none, or several that differ.

    Of several that come to the same, the first by name.
    """
    rules = sorted({_RULES[str(node.content.settled)] for node in former})
    if len({_by_rule(decided, rule) for rule in rules}) != 1:
        return None
    return rules[0]


def _ends(row: Sequence[Node]) -> list[Node]:
    """Return the events that none follows, in their order."""
    followed = {parent for node in row for parent in node.parents}
    return [node for node in row if node.identity not in followed]


def _document_states(graph: Graph, ancestors: dict[Id, frozenset[Id]], ends: Sequence[Node]) -> list[Stand]:
    """Return the ends that no other end's decision was made knowing, each with its decider."""
    found = [(end, _decider(graph, end)) for end in ends]
    deciders = {end.identity: None if one is None else _taken_from(graph, one) for end, one in found}
    is_any = any(one is not None for one in deciders.values())

    def knows(end: Node, settler: Node | None, other: Node) -> bool:
        """Say whether an end was decided knowing what another one's decision was."""
        one, two = deciders[end.identity], deciders[other.identity]
        if settler is None or one is None or two is None or one is two:
            return False
        return two.identity in ancestors[settler.identity]

    def is_passed_over(end: Node, settler: Node | None) -> bool:
        if settler is None:
            return is_any
        # Settlements by two rules may know each other's decisions: then both stand.
        return any(knows(other, one, end) and not knows(end, settler, other) for other, one in found)

    # Three may know each other in a circle: then all stand.
    document_states = [end for end, one in found if not is_passed_over(end, one)] or ends
    stands = [Stand(end, deciders[end.identity] or end) for end in document_states]
    # In the order of their decisions, so that a note changes nothing where they are alike.
    places = {one: place for place, one in enumerate(ancestors)}
    return sorted(stands, key=lambda one: places[one.decider.identity])


def _decider(graph: Graph, end: Node) -> Node | None:
    """Return the event that decided how a document stands at an end; ``None`` = none did."""
    node = end
    while node.content.action in (Action.NOTE.value, Action.MARK.value):
        if not node.parents:
            return None
        (parent,) = node.parents
        node = graph[parent]
    return node


def _taken_from(graph: Graph, decider: Node) -> Node:
    """Return what a settlement took as it was: a judge's decision, or a ruling by hand."""
    node = decider
    while node.is_settlement and node.content.settled != BY_HAND and node.chosen is not None:
        taken = _decider(graph, graph[node.chosen])
        if taken is None or _outcome(taken) != _outcome(node):
            break
        node = taken
    return node


def _ruled_on(graph: Graph, ancestors: dict[Id, frozenset[Id]], ruling: Node) -> tuple[Stand, ...]:
    """Return the decisions that a ruling by hand was about, or the one that it replaced."""
    while True:
        # In the order of the row, as `ancestors` is.
        ends = [graph[one] for one in ancestors if one in ruling.parents]
        stands = [one for one in _document_states(graph, ancestors, ends) if one.is_decision]
        if len(stands) != 1 or stands[0].ruling is None:
            return tuple(stands)
        ruling = stands[0].ruling


def _outcome(node: Node) -> Take:
    return Take(State(node.content.state), node.content.grade)


def conflict_of(
    name: tuple[str, str, str], found: Settled, where: Sequence[str], *, was_settled: bool
) -> MergeConflict:
    """Say what copies say of a document with decisions that differ, by topic, docno and judge.

    `where`: what collections are called, by their number: the one that is written to is 0, and `was_settled`
    says whether that one had it settled before.
    """
    would = {rule: choose(found.stands, rule).outcome for rule in SettleRule}
    would[SettleRule.UNJUDGED] = Take(State.UNJUDGED)
    last = found.row[-1].content
    earlier = next((node.content.settled for node in found.before), None)
    versions = [_version(stand.end, stand.decider, where) for stand in found.stands]
    versions += [_version(node, node, where) for node in found.outdated]
    return MergeConflict(
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
