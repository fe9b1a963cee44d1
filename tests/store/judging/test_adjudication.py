"""Which documents the store says are in disagreement, and what it says became of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.errors import UnknownNameError
from store.judging.adjudication import AdjudicationDesk
from store.judging.disagreements import ALL, GivenGrade, Selection, Settlement, basis_of
from store.records import Action, JudgeKind, Qrel, State, Topic
from tests.helpers.world import JudgeAtWork, change_stored, make_pool
from tests.strategies import examples

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
def ready(collection: Collection) -> Collection:
    """Make a collection with a judge of every kind, two adjudicators, and a pool of a, b, c."""
    for name, kind in KINDS.items():
        collection.judges.add(name, kind)
    collection.topics.add([Topic("1", "wine")])
    collection.pools.add(make_pool({"1": ["a", "b", "c"]}, round="3"))
    return collection


@pytest.fixture
def listed(ready: Collection) -> Lister:
    """Give a function that lists what is in disagreement: verdicts and status by docno."""

    def fetch(selection: Selection = EVERY) -> dict[str, tuple[str, Settlement]]:
        return {
            case.docno: (basis_of(case.given_grades), case.status)
            for case in ready.disagreements.all(selection)
        }

    return fetch


def sit(collection: Collection, judge: str, topic: str = "1") -> JudgeAtWork:
    """Sit down as a judge or as an adjudicator."""
    if KINDS[judge] is JudgeKind.ADJUDICATOR:
        return JudgeAtWork(collection.adjudication_desk(judge, selection=EVERY), topic)
    return JudgeAtWork(collection.desk(judge), topic)


def test_judges_of_every_kind_count(ready: Collection, listed: Lister) -> None:
    """A person, a model and an imported file disagree with each other alike."""
    ready.judgements.add({"old": [Qrel("1", "a", 0), Qrel("1", "b", 1)]}, JudgeKind.IMPORTED)
    assert listed() == {}
    ready.judgements.add({"gpt": [Qrel("1", "a", 2), Qrel("1", "c", 1)]}, JudgeKind.MODEL)
    assert listed() == {"a": ("0,2", Settlement.OPEN)}
    sit(ready, "ann").grade("b", 2)
    assert listed() == {"a": ("0,2", Settlement.OPEN), "b": ("1,2", Settlement.OPEN)}


def test_people_alone_count_where_one_has_graded(ready: Collection, listed: Lister) -> None:
    """Else imported files, else models."""
    ready.judges.add("bob", JudgeKind.HUMAN)
    models = {"gpt": [Qrel("1", "a", 2), Qrel("1", "b", 0)], "qwen": [Qrel("1", "a", 1)]}
    ready.judgements.add(models, JudgeKind.MODEL)
    assert listed(ALL) == {"a": ("1,2", Settlement.OPEN)}
    ready.judgements.add({"old": [Qrel("1", "a", 0), Qrel("1", "b", 1)]}, JudgeKind.IMPORTED)
    assert listed(ALL) == {}
    sit(ready, "ann").grade("a", 0)
    JudgeAtWork(ready.desk("bob"), "1").grade("b", 2)
    assert listed(ALL) == {}
    JudgeAtWork(ready.desk("bob"), "1").grade("a", 1)
    assert listed(ALL) == {"a": ("0,1", Settlement.OPEN)}
    assert listed(Selection(kinds=("human", "model"))) == {
        "a": ("0,1,1,2", Settlement.OPEN),
        "b": ("0,2", Settlement.OPEN),
    }
    heard = ready.disagreements.voters
    assert (heard().counts, heard().counts_left_out) == ({"human": 2}, {"model": 2, "imported": 1})


def test_a_ruling_stands_whoever_is_heard(ready: Collection, listed: Lister) -> None:
    """Made on the grades of people and a model, it is no older for people alone; a new grade makes it so.

    Made on people's grades, it stands whatever models say afterwards.
    """
    ready.judges.add("bob", JudgeKind.HUMAN)
    ready.judgements.add({"gpt": [Qrel("1", "a", 2)]}, JudgeKind.MODEL)
    sit(ready, "ann").grade("a", 0)
    bob = JudgeAtWork(ready.desk("bob"), "1")
    bob.grade("a", 1)
    sit(ready, "zoe").grade("a", 1)
    assert listed(ALL) == {"a": ("0,1", Settlement.SETTLED)}
    ready.judgements.add({"old": [Qrel("1", "a", 0)]}, JudgeKind.IMPORTED)
    assert listed(ALL) == {"a": ("0,1", Settlement.CHANGED)}
    zoe = JudgeAtWork(ready.adjudication_desk("zoe"), "1")
    zoe.grade("a", 1)
    assert listed(ALL) == {"a": ("0,1", Settlement.SETTLED)}
    ready.judgements.add({"qwen": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    assert listed(ALL) == {"a": ("0,1", Settlement.SETTLED)}
    assert listed(EVERY) == {"a": ("0,0,1,1,2", Settlement.SETTLED)}
    bob.grade("a", 2)
    assert listed(ALL) == {"a": ("0,2", Settlement.CHANGED)}


def test_a_ruling_on_models_settles_nothing_between_people(ready: Collection, listed: Lister) -> None:
    """It stands until people have judged the document, whoever else they judged, and comes again then."""
    ready.judges.add("bob", JudgeKind.HUMAN)
    models = {"gpt": [Qrel("1", "a", 2)], "qwen": [Qrel("1", "a", 1)]}
    ready.judgements.add(models, JudgeKind.MODEL)
    JudgeAtWork(ready.adjudication_desk("zoe"), "1").grade("a", 1)
    ann, bob = sit(ready, "ann"), JudgeAtWork(ready.desk("bob"), "1")
    ann.grade("c", 1)
    assert listed(ALL) == {"a": ("", Settlement.SETTLED)}
    ann.grade("a", 0)
    assert listed(ALL) == {"a": ("0", Settlement.UNNEEDED)}
    bob.grade("a", 2)
    assert listed(ALL) == {"a": ("0,2", Settlement.CHANGED)}
    assert listed(Selection(kinds=("model",))) == {"a": ("1,2", Settlement.SETTLED)}
    assert ready.history.of_document("1", "a").ruling_status is Settlement.CHANGED


def test_adjudicator_is_no_party(ready: Collection, listed: Lister) -> None:
    """What adjudicators decided never makes a disagreement, with a judge or with each other."""
    qrels = {"zoe": [Qrel("1", "a", 0), Qrel("1", "b", 0)], "yan": [Qrel("1", "b", 2)]}
    ready.judgements.add(qrels, JudgeKind.ADJUDICATOR)
    sit(ready, "ann").grade("a", 2)
    assert {status for _, status in listed().values()} == {Settlement.UNNEEDED}


def test_disabled_judge_still_counts(ready: Collection, listed: Lister, collection_name: str) -> None:
    """Judgements stand when their judge may judge no more."""
    sit(ready, "ann").grade("a", 2)
    sit(ready, "gpt").grade("a", 1)
    change_stored(collection_name, "UPDATE judge SET disabled = TRUE WHERE name = 'ann'")
    assert listed() == {"a": ("1,2", Settlement.OPEN)}


def test_only_decisions_are_disagreements(ready: Collection, listed: Lister) -> None:
    """The same grade with other notes, the same `cannot` with other reasons, a skip: all agree."""
    ann, gpt = sit(ready, "ann"), sit(ready, "gpt")
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


def test_decision_taken_back_is_none(ready: Collection, listed: Lister) -> None:
    """After an undo there is nobody to disagree with."""
    ann, gpt = sit(ready, "ann"), sit(ready, "gpt")
    ann.grade("a", 1)
    gpt.grade("a", 2)
    assert list(listed()) == ["a"]
    gpt.undo()
    assert listed() == {}


def test_document_in_no_pool_counts(ready: Collection, listed: Lister) -> None:
    """Two imported files disagree whether or not their documents were pooled, as in kappa."""
    qrels = {"ann": [Qrel("7", "x", 0)], "old": [Qrel("7", "x", 1)]}
    for judge, lines in qrels.items():
        ready.judgements.add({judge: lines}, KINDS[judge])
    assert listed() == {"x": ("0,1", Settlement.OPEN)}


def test_imported_ruling_settles(ready: Collection, listed: Lister) -> None:
    """A ruling from a file settles what there is, on whatever grounds it was made."""
    ready.judgements.add({"old": [Qrel("1", "a", 0)]}, JudgeKind.IMPORTED)
    ready.judgements.add({"gpt": [Qrel("1", "a", 2)]}, JudgeKind.MODEL)
    ready.judgements.add({"zoe": [Qrel("1", "a", 1)]}, JudgeKind.ADJUDICATOR)
    assert listed() == {"a": ("0,2", Settlement.SETTLED)}


def test_latest_ruling_is_the_outcome(ready: Collection) -> None:
    """Of two adjudicators' rulings the later one counts, and both are stored."""
    sit(ready, "ann").grade("a", 0)
    sit(ready, "gpt").grade("a", 2)
    first, second = sit(ready, "zoe"), sit(ready, "yan")
    first.grade("a", 2)
    second.grade("a", 1)
    (case,) = ready.disagreements.all(EVERY)
    names = ready.disagreements.judge_names()
    assert case.ruling is not None
    assert (names[case.ruling.judge], case.ruling.given_grade) == ("yan", 1)
    assert {names[judge] for judge in case.rulers} == {"zoe", "yan"}
    stored = {(one.judge, one.grade) for one in ready.judgements.current(["zoe", "yan"])}
    assert stored == {("zoe", 2), ("yan", 1)}


def test_list_keeps_what_is_no_longer_needed(ready: Collection, listed: Lister) -> None:
    """When judges come to agree, the outcome stays in the list, but in no selection of gaps."""
    ann, gpt = sit(ready, "ann"), sit(ready, "gpt")
    ann.grade("a", 0)
    gpt.grade("a", 2)
    ann.grade("b", 0)
    gpt.grade("b", 1)
    sit(ready, "zoe").grade("a", 1)
    ann.grade("a", 2)
    expected = {"a": ("2,2", Settlement.UNNEEDED), "b": ("0,1", Settlement.OPEN)}
    assert listed() == listed(replace(EVERY, topic="1")) == expected
    assert list(listed(replace(EVERY, gap=1))) == ["b"]


def test_skipped_by_the_adjudicator_alone_is_not_listed(
    ready: Collection, listed: Lister
) -> None:  # fmt: skip
    """What an adjudicator looked at and left is no ruling."""
    ann, gpt = sit(ready, "ann"), sit(ready, "gpt")
    ann.grade("a", 0)
    gpt.grade("a", 2)
    sit(ready, "zoe").act("a", Action.SKIP, note="later")
    assert listed() == {"a": ("0,2", Settlement.OPEN)}
    ann.grade("a", 2)
    assert listed() == {}


def test_unknown_topic_of_a_selection_is_refused(ready: Collection) -> None:
    """In a list and at a desk."""
    message = "unknown topic `2`; known: `1`"
    with pytest.raises(UnknownNameError, match=message):
        ready.disagreements.all(Selection("2"))
    with pytest.raises(UnknownNameError, match=message):
        ready.adjudication_desk("zoe", selection=Selection("2"))


StateCounts = tuple[int, GivenGrade, tuple[str, ...]]
"""When it was decided, what, and on which verdicts."""


@dataclass
class Ledger:
    """A plain account of what everybody decided: one stack of standings a judge and document."""

    stacks: dict[tuple[str, str], list[StateCounts | None]] = field(default_factory=dict)
    done: dict[str, list[str]] = field(default_factory=dict)
    ticks: count[int] = field(default_factory=count)

    def document_states(self, judge: str, docno: str) -> StateCounts | None:
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
        new: StateCounts | None = (next(self.ticks), given_grade, self.text(docno))
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
@settings(max_examples=examples(10))
@given(STEPS)
def test_queue_and_list_equal_a_plain_account(
    ready: Collection, steps: list[tuple[str, str, str, int]]
) -> None:
    """After any work of judges and adjudicators, queues, inboxes and list are what it says."""
    topic = f"t{next(TOPICS)}"
    ready.pools.add(make_pool({topic: list(DOCNOS)}, name=topic))
    sittings = {judge: sit(ready, judge, topic) for judge in KINDS}
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
    names = ready.disagreements.judge_names()
    cases = ready.disagreements.all(replace(EVERY, topic=topic))
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
