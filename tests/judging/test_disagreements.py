"""Disagreements: which there are, whose grades make one, and what rulings leave of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.judging import disagreements as told
from store.judging.adjudication import AdjudicationDesk
from store.judging.disagreements import (
    ALL,
    Case,
    GivenGrade,
    Ruling,
    Selection,
    Settlement,
    Vote,
    basis_of,
    count_cells,
    lettered,
)
from store.judging.events import ruling_of
from store.records import Action, JudgeKind, Qrel, State, Topic
from tests.helpers.strategies import examples
from tests.helpers.world import JudgeAtWork, change_stored, make_pool

AT = datetime(2026, 3, 1, tzinfo=UTC)
given_grades = st.one_of(st.none(), st.integers(-2, 3))


def case_of(*given: GivenGrade, ruling: Ruling | None = None, topic: str = "1", docno: str = "d") -> Case:
    """Make a case of judges 1, 2, ... and their verdicts."""
    votes = tuple(Vote(judge, given_grade) for judge, given_grade in enumerate(given, start=1))
    return Case(topic, docno, 1, 1, votes, ruling)


def test_no_letter_is_a_judge() -> None:
    """Over many documents each of the six orders of three judges comes about as often.

    Of 3,000 documents 500 each, give or take five standard deviations of 20.4.
    """
    votes = [Vote(judge, judge) for judge in (1, 2, 3)]
    orders = Counter(
        tuple(vote.judge for vote in lettered(f"{number % 50}", f"doc{number}", votes))
        for number in range(3000)
    )
    assert len(orders) == 6
    assert all(abs(count - 500) < 102 for count in orders.values())


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["judge", "cannot", "skip", "note", "mark", "undo"]), given_grades), max_size=12
)


@given(ACTIONS)
def test_standing_ruling_equals_a_stack_of_states(actions: list[tuple[str, GivenGrade]]) -> None:
    """Over any events, undo included, what stands is the top of a plain stack."""
    history: list[Any] = []
    stack: list[tuple[int, tuple[int, GivenGrade] | None]] = [(0, None)]
    for event, (name, grade) in enumerate(actions, start=1):
        action, undoes = Action(name), None
        document_states = stack[-1][1]
        if action is Action.UNDO:
            if len(stack) == 1:
                continue
            undoes, _ = stack.pop()
        elif action is Action.JUDGE:
            stack.append((event, (event, grade)))
        elif action is Action.CANNOT:
            grade = None
            stack.append((event, (event, None)))
        else:
            stack.append((event, None if action is Action.SKIP else document_states))
        state = {Action.JUDGE: State.JUDGED, Action.CANNOT: State.CANNOT}.get(action, State.SKIPPED)
        order = f"docno opinions:{event}"
        known: dict[str, Any] = {"undoes": undoes, "display_order": order, "judged_at": AT}
        known |= {"action": action, "state": state, "grade": grade}
        history.append(SimpleNamespace(id=event, revision=len(history) + 1, **known))
    ruling = ruling_of(7, history) if history else None
    expected = stack[-1][1]
    if expected is None:
        assert ruling is None
    else:
        event, grade = expected
        assert ruling == Ruling(7, grade, event, basis=str(event), at=AT)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=30))
def test_cells_of_two_judges_are_their_kappa_table(rows: Sequence[tuple[int, int]]) -> None:
    """A cell and its mirror image in scikit-learn's table add up to the cell counted here."""
    from sklearn.metrics import confusion_matrix

    counted = {count.cell: count.documents for count in count_cells(case_of(*row) for row in rows)}
    table = confusion_matrix(
        [row[0] for row in rows] or [0], [row[1] for row in rows] or [0], labels=[0, 1, 2]
    )
    for low, high in ((0, 1), (0, 2), (1, 2)):
        assert counted.get((low, high), 0) == table[low, high] + table[high, low]


def test_cells_say_what_was_settled_as_what() -> None:
    """A cell knows its documents and outcomes; a ruling on other grades settles nothing.

    A document with three verdicts is in three cells.
    """
    cases = [
        case_of(0, 2, ruling=Ruling(9, 2, basis="0,2")),
        case_of(2, 0, ruling=Ruling(9, None, basis="0,2")),
        case_of(0, 2, ruling=Ruling(9, 1, basis="0,1")),
        case_of(1, None, 2),
        case_of(1, 1, ruling=Ruling(9, 1, basis="0,1")),
    ]
    counts = count_cells(cases)
    assert [(one.cell, one.documents, one.settled, one.outcomes) for one in counts] == [
        ((0, 2), 3, 2, {2: 1, None: 1}),
        ((1, 2), 1, 0, {}),
        ((1, None), 1, 0, {}),
        ((2, None), 1, 0, {}),
    ]


@given(
    st.lists(given_grades, min_size=1, max_size=4),
    st.one_of(st.none(), st.integers(1, 5)),
    st.one_of(st.none(), st.tuples(given_grades, given_grades).filter(lambda cell: cell[0] != cell[1])),
)
def test_selection_equals_looking_at_every_two_judges(
    given: list[GivenGrade], gap: int | None, cell: tuple[GivenGrade, GivenGrade] | None
) -> None:
    """Gap and cell ask whether some two judges stand so to each other."""
    twos = [(one, other) for one in given for other in given if one != other]
    expected = bool(twos)
    if gap is not None:
        expected &= any(None not in two and two[0] - two[1] >= gap for two in twos)  # type: ignore[operator]
    if cell is not None:
        expected &= cell in twos
    assert Selection(gap=gap, cell=cell).takes(case_of(*given)) == expected


def test_unresolved_is_what_a_rule_leaves_tied() -> None:
    """Three grades are tied by majority, two middle ones by median; `cannot` is no vote."""
    majority, median = (Selection(unresolved=rule) for rule in ("majority", "median"))  # type: ignore[arg-type]
    for verdicts_, expected in (
        ((0, 1, 2), (True, False)),
        ((0, 0, 1, 2), (False, True)),
        ((0, 2), (True, True)),
        ((0, 0, 2), (False, False)),
        ((0, None, 2), (True, True)),
        ((0, None), (False, False)),
        ((1, 1), (False, False)),
    ):
        case = case_of(*verdicts_)
        assert (majority.takes(case), median.takes(case)) == expected


def test_basis_is_written_and_read() -> None:
    """In the order of grades, then cannot; an order that a desk of a judge wrote has none."""
    assert told.basis_of([2, None, 0]) == "0,2,cannot"
    assert (told.read_basis("0,2,cannot"), told.read_basis("")) == ((0, 2, None), ())
    told_of = told.display_order([1, 0], ("human", "model"))
    assert told_of == "docno opinions of human,model:0,1"
    assert told.seen_opinions(told_of) == ("0,1", ("human", "model"))
    assert told.seen_opinions(told.display_order([2, 0]))[1] == told.seen_opinions(None)[1] == ()
    for foreign in ("docno opinions of martian:0,1", "docno opinions of ,:0", "docno opinions of human:foo"):
        assert told.seen_opinions(foreign) == (None, ())
    seen = [told.seen_opinions(order)[0] for order in (told.display_order([2, None, 0]), "docno", None)]
    assert seen == ["0,2,cannot", None, None]


def test_letters_go_on_after_z() -> None:
    """As the columns of a spreadsheet do."""
    assert [told.letter(place) for place in (0, 25, 26, 27 * 26)] == ["A", "Z", "AA", "AAA"]


KINDS = {
    "ann": JudgeKind.HUMAN,
    "gpt": JudgeKind.MODEL,
    "old": JudgeKind.IMPORTED,
    "zoe": JudgeKind.ADJUDICATOR,
    "yan": JudgeKind.ADJUDICATOR,
}
DOCNOS = ("a", "b")
EVERY = Selection(kinds=("human", "imported", "model"))
Lister = Callable[..., dict[str, tuple[str, Settlement]]]


@pytest.fixture
def seated(collection: Collection) -> Collection:
    """Make a collection with a judge of every kind, two adjudicators, and a pool of a, b, c."""
    for name, kind in KINDS.items():
        collection.judges.add(name, kind)
    collection.topics.add([Topic("1", "wine")])
    collection.pools.add(make_pool({"1": ["a", "b", "c"]}, round="3"))
    return collection


@pytest.fixture
def listed(seated: Collection) -> Lister:
    """Give a function that lists what is in disagreement: verdicts and status by docno."""

    def fetch(selection: Selection = EVERY) -> dict[str, tuple[str, Settlement]]:
        return {
            case.docno: (basis_of(case.given_grades), case.status)
            for case in seated.disagreements.all(selection)
        }

    return fetch


def sit_down(collection: Collection, judge: str, topic: str = "1") -> JudgeAtWork:
    """Sit down as a judge or as an adjudicator."""
    if KINDS[judge] is JudgeKind.ADJUDICATOR:
        return JudgeAtWork(collection.adjudication_desk(judge, selection=EVERY), topic)
    return JudgeAtWork(collection.desk(judge), topic)


def test_judges_of_every_kind_count(seated: Collection, listed: Lister) -> None:
    """A person, a model and an imported file disagree with each other alike."""
    seated.judgements.add({"old": [Qrel("1", "a", 0), Qrel("1", "b", 1)]}, JudgeKind.IMPORTED)
    assert listed() == {}
    seated.judgements.add({"gpt": [Qrel("1", "a", 2), Qrel("1", "c", 1)]}, JudgeKind.MODEL)
    assert listed() == {"a": ("0,2", Settlement.OPEN)}
    sit_down(seated, "ann").grade("b", 2)
    assert listed() == {"a": ("0,2", Settlement.OPEN), "b": ("1,2", Settlement.OPEN)}


def test_cannot_counts_of_a_kind_that_graded_nothing(seated: Collection, listed: Lister) -> None:
    """A model that could not judge its only document differs from the person who graded it."""
    sit_down(seated, "ann").grade("a", 2)
    sit_down(seated, "gpt").act("a", Action.CANNOT)
    assert listed() == {"a": ("2,cannot", Settlement.OPEN)}
    assert seated.disagreements.count_deciders(EVERY) == 2


def test_people_alone_count_where_one_has_graded(seated: Collection, listed: Lister) -> None:
    """Else imported files, else models."""
    seated.judges.add("bob", JudgeKind.HUMAN)
    models = {"gpt": [Qrel("1", "a", 2), Qrel("1", "b", 0)], "qwen": [Qrel("1", "a", 1)]}
    seated.judgements.add(models, JudgeKind.MODEL)
    assert listed(ALL) == {"a": ("1,2", Settlement.OPEN)}
    seated.judgements.add({"old": [Qrel("1", "a", 0), Qrel("1", "b", 1)]}, JudgeKind.IMPORTED)
    assert listed(ALL) == {}
    sit_down(seated, "ann").grade("a", 0)
    JudgeAtWork(seated.desk("bob"), "1").grade("b", 2)
    assert listed(ALL) == {}
    JudgeAtWork(seated.desk("bob"), "1").grade("a", 1)
    assert listed(ALL) == {"a": ("0,1", Settlement.OPEN)}
    assert listed(Selection(kinds=("human", "model"))) == {
        "a": ("0,1,1,2", Settlement.OPEN),
        "b": ("0,2", Settlement.OPEN),
    }
    heard = seated.disagreements.voters
    assert (heard().counts, heard().counts_left_out) == ({"human": 2}, {"model": 2, "imported": 1})


def test_a_ruling_stands_whoever_is_heard(seated: Collection, listed: Lister) -> None:
    """Made on the grades of people and a model, it is no older for people alone; a new grade makes it so.

    Made on people's grades, it stands whatever models say afterwards.
    """
    seated.judges.add("bob", JudgeKind.HUMAN)
    seated.judgements.add({"gpt": [Qrel("1", "a", 2)]}, JudgeKind.MODEL)
    sit_down(seated, "ann").grade("a", 0)
    bob = JudgeAtWork(seated.desk("bob"), "1")
    bob.grade("a", 1)
    sit_down(seated, "zoe").grade("a", 1)
    assert listed(ALL) == {"a": ("0,1", Settlement.SETTLED)}
    seated.judgements.add({"old": [Qrel("1", "a", 0)]}, JudgeKind.IMPORTED)
    assert listed(ALL) == {"a": ("0,1", Settlement.CHANGED)}
    zoe = JudgeAtWork(seated.adjudication_desk("zoe"), "1")
    zoe.grade("a", 1)
    assert listed(ALL) == {"a": ("0,1", Settlement.SETTLED)}
    seated.judgements.add({"qwen": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    assert listed(ALL) == {"a": ("0,1", Settlement.SETTLED)}
    assert listed(EVERY) == {"a": ("0,0,1,1,2", Settlement.SETTLED)}
    bob.grade("a", 2)
    assert listed(ALL) == {"a": ("0,2", Settlement.CHANGED)}


def test_a_ruling_on_models_settles_nothing_between_people(seated: Collection, listed: Lister) -> None:
    """It stands until people have judged the document, whoever else they judged, and comes again then."""
    seated.judges.add("bob", JudgeKind.HUMAN)
    models = {"gpt": [Qrel("1", "a", 2)], "qwen": [Qrel("1", "a", 1)]}
    seated.judgements.add(models, JudgeKind.MODEL)
    JudgeAtWork(seated.adjudication_desk("zoe"), "1").grade("a", 1)
    ann, bob = sit_down(seated, "ann"), JudgeAtWork(seated.desk("bob"), "1")
    ann.grade("c", 1)
    assert listed(ALL) == {"a": ("", Settlement.SETTLED)}
    ann.grade("a", 0)
    assert listed(ALL) == {"a": ("0", Settlement.UNNEEDED)}
    bob.grade("a", 2)
    assert listed(ALL) == {"a": ("0,2", Settlement.CHANGED)}
    assert listed(Selection(kinds=("model",))) == {"a": ("1,2", Settlement.SETTLED)}
    assert seated.history.of_document("1", "a").ruling_status is Settlement.CHANGED


def test_adjudicator_is_no_party(seated: Collection, listed: Lister) -> None:
    """What adjudicators decided never makes a disagreement, with a judge or with each other."""
    qrels = {"zoe": [Qrel("1", "a", 0), Qrel("1", "b", 0)], "yan": [Qrel("1", "b", 2)]}
    seated.judgements.add(qrels, JudgeKind.ADJUDICATOR)
    sit_down(seated, "ann").grade("a", 2)
    assert {status for _, status in listed().values()} == {Settlement.UNNEEDED}
    seated.judgements.add({"old": [Qrel("1", "a", 1)]}, JudgeKind.IMPORTED)
    assert listed()["a"] == ("1,2", Settlement.SETTLED)  # a ruling of a file, on whatever grounds it was made


def test_disabled_judge_still_counts(seated: Collection, listed: Lister, collection_name: str) -> None:
    """Judgements stand when their judge may judge no more."""
    sit_down(seated, "ann").grade("a", 2)
    sit_down(seated, "gpt").grade("a", 1)
    change_stored(collection_name, "UPDATE judge SET disabled = TRUE WHERE name = 'ann'")
    assert listed() == {"a": ("1,2", Settlement.OPEN)}


def test_only_decisions_are_disagreements(seated: Collection, listed: Lister) -> None:
    """The same grade with other notes, the same `cannot` with other reasons, a skip: all agree."""
    ann, gpt = sit_down(seated, "ann"), sit_down(seated, "gpt")
    ann.act("a", Action.JUDGE, grade=1, note="clear")
    gpt.act("a", Action.JUDGE, grade=1, note="doubtful")
    ann.act("b", Action.CANNOT, reason="torn")
    gpt.act("b", Action.CANNOT, reason="wrong language")
    ann.grade("c", 1)
    gpt.act("c", Action.SKIP)
    assert listed() == {}
    gpt.act("c", Action.NOTE, note="hm")
    assert listed() == {}
    gpt.grade("b", 0)
    assert listed() == {"b": ("0,cannot", Settlement.OPEN)}


def test_document_in_no_pool_counts(seated: Collection, listed: Lister) -> None:
    """Two imported files disagree whether or not their documents were pooled, as in kappa."""
    qrels = {"ann": [Qrel("7", "x", 0)], "old": [Qrel("7", "x", 1)]}
    for judge, lines in qrels.items():
        seated.judgements.add({judge: lines}, KINDS[judge])
    assert listed() == {"x": ("0,1", Settlement.OPEN)}


Decided = tuple[int, GivenGrade, tuple[str, ...]]
"""When it was decided, what, and on which verdicts."""


def test_latest_ruling_is_the_outcome(seated: Collection) -> None:
    """Of two adjudicators' rulings the later one counts, and both are stored."""
    sit_down(seated, "ann").grade("a", 0)
    sit_down(seated, "gpt").grade("a", 2)
    first, second = sit_down(seated, "zoe"), sit_down(seated, "yan")
    first.grade("a", 2)
    second.grade("a", 1)
    (case,) = seated.disagreements.all(EVERY)
    names = seated.disagreements.judge_names()
    assert case.ruling is not None
    assert (names[case.ruling.judge], case.ruling.given_grade) == ("yan", 1)
    assert {names[judge] for judge in case.rulers} == {"zoe", "yan"}
    stored = {(one.judge, one.grade) for one in seated.judgements.current(["zoe", "yan"])}
    assert stored == {("zoe", 2), ("yan", 1)}


@dataclass
class Ledger:
    """A plain account of what everybody decided: one stack of standings a judge and document."""

    stacks: dict[tuple[str, str], list[Decided | None]] = field(default_factory=dict)
    done: dict[str, list[str]] = field(default_factory=dict)
    ticks: count[int] = field(default_factory=count)

    def document_states(self, judge: str, docno: str) -> Decided | None:
        """Return what stands."""
        return self.stacks.get((judge, docno), [None])[-1]

    def given_grades(self, docno: str) -> dict[str, GivenGrade]:
        """Return the verdicts of those who are no adjudicators."""
        found = {}
        for judge, kind in KINDS.items():
            now = self.document_states(judge, docno)
            if kind is not JudgeKind.ADJUDICATOR and now is not None:
                found[judge] = now[1]
        return found

    def disagree(self, docno: str) -> bool:
        """Say whether some two differ."""
        found = list(self.given_grades(docno).values())
        return any(one != other for one in found for other in found)

    def text(self, docno: str) -> tuple[str, ...]:
        """Return the verdicts without their judges."""
        return tuple(sorted(map(str, self.given_grades(docno).values())))

    def act(self, judge: str, docno: str, action: str, grade: int) -> None:
        """Note an event."""
        given_grade: GivenGrade = grade if action == "judge" else None
        new: Decided | None = (next(self.ticks), given_grade, self.text(docno))
        if action == "skip":
            new = None
        elif action == "note":
            new = self.document_states(judge, docno)
        self.stacks.setdefault((judge, docno), [None]).append(new)
        self.done.setdefault(judge, []).append(docno)

    def undo(self, judge: str) -> None:
        """Note an undo."""
        if self.done.get(judge):
            self.stacks[judge, self.done[judge].pop()].pop()

    def status(self, docno: str) -> tuple[Settlement, str, GivenGrade] | None:
        """Say what has become of a document, and who settled it as what; ``None`` = nothing."""
        rulings = [
            (*now, judge)
            for judge, kind in KINDS.items()
            if kind is JudgeKind.ADJUDICATOR and (now := self.document_states(judge, docno))
        ]
        if not rulings:
            return (Settlement.OPEN, "", None) if self.disagree(docno) else None
        _, given_grade, grounds, judge = max(rulings)
        if not self.disagree(docno):
            return Settlement.UNNEEDED, judge, given_grade
        same = grounds == self.text(docno)
        return Settlement.SETTLED if same else Settlement.CHANGED, judge, given_grade


STEPS = st.lists(
    st.tuples(
        st.sampled_from([*KINDS, "zoe", "zoe"]),
        st.sampled_from(DOCNOS),
        st.sampled_from(["judge", "judge", "judge", "cannot", "skip", "note", "undo"]),
        st.integers(0, 2),
    ),
    min_size=15,
    max_size=40,
)
TOPICS = count()


def _take(sitting: JudgeAtWork, docno: str, action: str, grade: int) -> None:
    """Let a judge or an adjudicator do one thing."""
    if action == "judge":
        sitting.grade(docno, grade)
    else:
        sitting.act(docno, Action(action), note="n" if action == "note" else None)


@pytest.mark.slow
@settings(max_examples=examples(5))
@given(STEPS)
def test_queue_and_list_equal_a_plain_account(
    seated: Collection, steps: list[tuple[str, str, str, int]]
) -> None:
    """After any work of judges and adjudicators, queues, inboxes and list are what it says."""
    topic = f"t{next(TOPICS)}"
    seated.pools.add(make_pool({topic: list(DOCNOS)}, name=topic))
    sittings = {judge: sit_down(seated, judge, topic) for judge in KINDS}
    ledger = Ledger()
    for judge, docno, action, grade in steps:
        sitting = sittings[judge]
        sitting.look()
        if action == "undo":
            sitting.undo()
            ledger.undo(judge)
        elif docno in sitting.tasks:
            _take(sitting, docno, action, grade)
            ledger.act(judge, docno, action, grade)
    expected = {docno: found for docno in DOCNOS if (found := ledger.status(docno))}
    names = seated.disagreements.judge_names()
    cases = seated.disagreements.all(replace(EVERY, topic=topic))
    assert {
        case.docno: (
            case.status,
            names[case.ruling.judge] if case.ruling else "",
            case.ruling.given_grade if case.ruling else None,
        )
        for case in cases
    } == expected
    for case in cases:
        votes = {names[vote.judge]: vote.given_grade for vote in case.votes}
        assert votes == ledger.given_grades(case.docno)
    for judge in ("zoe", "yan"):
        _check_queue(sittings[judge], topic, judge, ledger, expected)


def _check_queue(
    sitting: JudgeAtWork,
    topic: str,
    judge: str,
    ledger: Ledger,
    expected: dict[str, tuple[Settlement, str, GivenGrade]],
) -> None:
    """Compare an adjudicator's queue and inbox with the account."""
    tasks = {task.docno: task for task in sitting.look()}
    wanted = {
        docno
        for docno, (status, _, _) in expected.items()
        if status in (Settlement.OPEN, Settlement.CHANGED)
        or (status is Settlement.SETTLED and ledger.document_states(judge, docno))
    }
    assert set(tasks) == wanted
    assert isinstance(sitting.desk, AdjudicationDesk)
    for docno, task in tasks.items():
        own = ledger.document_states(judge, docno)
        status, _, given_grade = expected[docno]
        view = sitting.desk.disagreement(topic, docno)
        assert view.status is status
        if status is Settlement.CHANGED or own is None:
            assert (task.grade, task.state in (State.UNJUDGED, State.SKIPPED)) == (None, True)
        else:
            assert task.state is (State.CANNOT if own[1] is None else State.JUDGED)
            assert task.grade == own[1]
        if status is not Settlement.OPEN:
            assert view.outcome == given_grade
    lines = {line.topic: line for line in sitting.desk.inbox()}
    if not tasks:
        assert topic not in lines
        return
    states = [task.state for task in tasks.values()]
    line = lines[topic]
    assert (line.documents, line.judged, line.skipped, line.cannot) == (
        len(tasks),
        states.count(State.JUDGED),
        states.count(State.SKIPPED),
        states.count(State.CANNOT),
    )
