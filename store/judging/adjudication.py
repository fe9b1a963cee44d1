"""The adjudicator's desk and queries.

People count where one has graded, else the next of `store.judging.kinds.SORTS`, unless kinds or two judges
are named; disabled judges too: their judgements stand. A document counts whether it is in a pool or not, as
it does in the tables of kappa.

What it gives holds no judge's name; its queries name no run, rank, score or pool, and no judge
but the adjudicator. Records, undo, notes and passages are a judge's: see `store.judging.desk.Desk`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Engine, Row, Select, and_, func, or_, select, tuple_
from sqlmodel import Session

from store.content.lookup import fetch_topic_names, topic_id
from store.db.database import Area
from store.db.engine import reading
from store.db.keys import fetch_docnos
from store.db.tables import JUDGE, JUDGEMENT, TOPIC
from store.errors import StoreError, UnknownNameError
from store.judging.desk import Desk, Queued, inbox_line
from store.judging.disagreements import (
    ALL,
    Case,
    CellCount,
    Disagreement,
    GivenGrade,
    Opinion,
    Ruling,
    Selection,
    Settlement,
    Vote,
    count_cells,
    display_order,
    gap_of,
    latest_ruling,
    letter,
    lettered,
    read_basis,
)
from store.judging.events import Pair, current_events, fetch_current, fetch_shown_passages, ruling_of
from store.judging.judges import fetch_identities, fetch_judge_names, fetch_voters_of_kinds, judge_named
from store.judging.kinds import Voters, kinds_of
from store.records import DECIDED, Action, AsOf, Decision, InboxLine, JudgeKind, Scale, State, Task, Undone
from store.text import natural_key, sanitise, sanitise_line

_IS_ADJUDICATOR = JUDGE.c.kind == JudgeKind.ADJUDICATOR.value


def fetch_cases(
    session: Session,
    selection: Selection = ALL,
    *,
    topic: int | None = None,
    document: int | None = None,
    until: AsOf | None = None,
) -> list[Case]:
    """Return every document in disagreement or ruled on; topics in natural order, docnos bytewise.

    Of a selection, whose judges are heard counts here. `until`: as it was then.
    """
    voters = fetch_voters_of_kinds(session, selection.kinds)
    kinds = voters.voting_kinds
    rulings, identities = _fetch_rulings(session, topic, document, until)
    votes: dict[Pair, list[Vote]] = {pair: [] for pair in rulings}
    for row in session.execute(_disputed_votes(topic, document, until)):
        kind = JudgeKind(row.kind)
        vote = Vote(row.judge_id, row.grade, row.id, row.reason, row.note, row.iteration, kind)
        votes.setdefault((row.topic_id, row.document_id), []).append(vote)
    docnos = fetch_docnos(session, {key[1] for key in votes})
    numbers = fetch_topic_names(session)
    cases = []
    for key, cast in votes.items():
        number, docno = numbers[key[0]], docnos[key[1]]
        own_rulings = rulings.get(key, [])
        latest = latest_ruling(own_rulings, identities)
        given = tuple(vote for vote in cast if vote.kind in kinds)
        in_order = lettered(number, docno, given)
        others = tuple(vote for vote in cast if vote.kind not in kinds)
        rulers = frozenset(ruling.judge for ruling in own_rulings)
        cases.append(Case(number, docno, *key, in_order, latest, rulers, others, kinds_of(voters)))
    # An adjudicator may have skipped a document, or noted something, on which judges agree now.
    cases = [case for case in cases if case.ruling is not None or case.is_disagreement]
    return sorted(cases, key=lambda case: (natural_key(case.topic), case.docno))


def fetch_listed(session: Session, selection: Selection, *, until: AsOf | None = None) -> list[Case]:
    """Return the disagreements that are wanted; if by topic alone, rulings no longer needed, too."""
    _check_topic(session, selection)
    return [
        case
        for case in fetch_cases(session, selection, until=until)
        if selection.takes(case)
        or (selection.is_whole and not case.is_disagreement and selection.topic in (None, case.topic))
    ]


def _check_topic(session: Session, selection: Selection) -> None:
    if selection.topic is not None:
        topic_id(session, selection.topic)


def _disputed_votes(topic: int | None, document: int | None, until: AsOf | None) -> Select[Any]:
    newest = current_events(topic=topic, until=until)
    if document is not None:
        newest = newest.where(JUDGEMENT.c.document_id == document)
    key = (JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id)
    names = ("id", "judge_id", "topic_id", "document_id", "grade", "reason", "note", "iteration")
    decided = (
        newest.join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .where(~_IS_ADJUDICATOR, JUDGEMENT.c.state.in_(DECIDED))
        .with_only_columns(
            *(JUDGEMENT.c[name] for name in names),
            JUDGE.c.kind,
            func.min(JUDGEMENT.c.grade).over(partition_by=key).label("lowest"),
            func.max(JUDGEMENT.c.grade).over(partition_by=key).label("highest"),
            func.count(JUDGEMENT.c.grade).over(partition_by=key).label("n_grades"),
            func.count().over(partition_by=key).label("n_votes"),
        )
        .subquery()
    )
    differ = decided.c.lowest != decided.c.highest
    some_cannot = and_(decided.c.n_grades > 0, decided.c.n_grades < decided.c.n_votes)
    ruled = _adjudicators_events(topic, document, until).with_only_columns(*key)
    is_ruled = tuple_(decided.c.topic_id, decided.c.document_id).in_(ruled)
    query = select(*(decided.c[name] for name in (*names, "kind")))
    return query.where(or_(differ, some_cannot, is_ruled))


def _adjudicators_events(topic: int | None, document: int | None, until: AsOf | None) -> Select[Any]:
    query = select(JUDGEMENT).join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id).where(_IS_ADJUDICATOR)
    if topic is not None:
        query = query.where(JUDGEMENT.c.topic_id == topic)
    if until is not None:
        query = query.where(until.took(JUDGEMENT))
    return query if document is None else query.where(JUDGEMENT.c.document_id == document)


def _fetch_rulings(
    session: Session, topic: int | None, document: int | None, until: AsOf | None
) -> tuple[dict[Pair, list[Ruling]], dict[int, str]]:
    """Return the rulings that stand, by topic and document, and what tells adjudicators apart."""
    rows = session.execute(_adjudicators_events(topic, document, until).order_by(JUDGEMENT.c.revision)).all()
    identities = fetch_identities(session) if rows else {}
    histories: dict[tuple[Pair, int], list[Row[Any]]] = {}
    for row in rows:
        histories.setdefault(((row.topic_id, row.document_id), row.judge_id), []).append(row)
    rulings: dict[Pair, list[Ruling]] = {}
    for (pair, judge), history in histories.items():
        ruling = ruling_of(judge, history)
        if ruling is not None:
            rulings.setdefault(pair, []).append(ruling)
    return rulings, identities


class AdjudicationDesk(Desk):
    """One adjudicator's work on one collection, in one sitting.

    The queue has what judges disagree on and no other adjudicator has settled. A document whose judges have
    decided otherwise since it was settled comes again, without a decision; the old one stands till then.
    """

    def __init__(
        self,
        engine: Engine,
        judge: str,
        scale: Scale,
        *,
        program: str = "",
        selection: Selection = ALL,
        fields: tuple[str, ...] = (),
    ) -> None:
        super().__init__(engine, judge, scale, program=program, fields=fields)
        self._cases: dict[tuple[int, int], Case] = {}
        with reading(engine) as session:
            kind = judge_named(session, judge, "kind").kind
        if kind != JudgeKind.ADJUDICATOR:
            message = f"judge `{judge}` is of kind {kind}, but only adjudicators decide disagreements"
            raise StoreError(message, hint="pooler judges add NAME --kind adjudicator makes one")
        self.select(selection)

    @property
    def selection(self) -> Selection:
        """Which disagreements are wanted."""
        return self._selection

    def select(self, selection: Selection) -> None:
        """Select other disagreements; takes effect when a queue is read."""
        with reading(self._engine) as session:
            _check_topic(session, selection)
        self._selection = selection

    def voters(self) -> Voters:
        """Return how many judges of each kind count, without their names."""
        with reading(self._engine) as session:
            return fetch_voters_of_kinds(session, self._selection.kinds)

    def cells(self) -> list[CellCount]:
        """Count the disagreements by the two grades given, whatever gap and cell are wanted."""
        wanted = replace(self._selection, gap=None, cell=None)
        with reading(self._engine) as session:
            return count_cells(filter(wanted.takes, fetch_cases(session, wanted)))

    def disagreement(self, topic: str, docno: str) -> Disagreement:
        """Return how the judges stand to a document, as they stood when the queue was read."""
        case = self._case(topic, docno)
        if case is None:
            raise UnknownNameError("document", docno, self._document_ids)
        with reading(self._engine) as session:
            documents = {vote.event: case.document_id for vote in case.votes}
            passages = fetch_shown_passages(session, documents)
        opinions = tuple(
            Opinion(
                letter(place),
                State.CANNOT if vote.given_grade is None else State.JUDGED,
                vote.given_grade,
                sanitise_line(vote.reason),
                sanitise(vote.note),
                passages.get(vote.event, ()),
            )
            for place, vote in enumerate(case.votes)
        )
        ruling = case.ruling or Ruling(0, None)
        basis = read_basis(ruling.basis or "")
        return Disagreement(opinions, gap_of(case.given_grades), case.status, ruling.given_grade, basis)

    def given(self, topic: str, docno: str) -> tuple[GivenGrade, ...]:
        """Return the grades of A, B, C on a document, as they stood when the queue was read."""
        case = self._case(topic, docno)
        return () if case is None else case.given_grades

    def is_idle(self) -> bool:
        """Return whether there is no disagreement left to settle, nor any that this one settled."""
        return not self.inbox()

    def inbox(self) -> list[InboxLine]:
        """Return the topics with a disagreement in natural order."""
        with reading(self._engine) as session:
            own = fetch_current(session, self._judge_id)
            titles = {row.number: row.title for row in session.execute(select(TOPIC.c.number, TOPIC.c.title))}
            cases: dict[str, list[Case]] = {}
            for case in self._wanted(fetch_cases(session, self._selection)):
                cases.setdefault(case.topic, []).append(case)
        lines = []
        for topic in sorted(cases, key=natural_key):
            events = [
                (case, own[pair])
                for case in cases[topic]
                if (pair := (case.topic_id, case.document_id)) in own
            ]
            seen = [(_state_shown(case, State(event.state)), event.judged_at) for case, event in events]
            lines.append(inbox_line(topic, titles[topic], len(cases[topic]), seen))
        return lines

    def queue(self, topic: str) -> list[Task]:
        """Return the documents of a topic that judges disagree on, by docno, each as it stands."""
        return [self._as_shown(topic, task) for task in super().queue(topic)]

    def undrawn(self, topic: str) -> int:  # noqa: ARG002 - the desk's method
        """Return 0: an unjudged document is no disagreement."""
        return 0

    def claimable(self, topic: str) -> int:  # noqa: ARG002 - the desk's method
        """Return 0: disagreements are not claimed."""
        return 0

    def claim(self, topic: str) -> bool:  # noqa: ARG002 - the desk's method
        """Return False: disagreements are not claimed."""
        return False

    def record(self, decision: Decision, *, is_strict: bool = False) -> Task:
        """Append a decision as the adjudicator's own judgement; see `Desk.record`."""
        task = super().record(decision, is_strict=is_strict)
        if decision.action not in (Action.NOTE, Action.MARK):
            self._look_again(decision.topic, decision.docno)
        return self._as_shown(decision.topic, task)

    def record_and_undo(self, decision: Decision) -> Task:
        """Record a decision and take it back at once; see `Desk.record_and_undo`."""
        task = super().record_and_undo(decision)
        self._look_again(decision.topic, decision.docno)
        return self._as_shown(decision.topic, task)

    def undo(self, of: tuple[str, str, int] | None = None) -> Undone | None:
        """Take back this sitting's latest event that is not taken back yet; see `Desk.undo`."""
        undone = super().undo(of)
        if undone is None:
            return None
        self._look_again(undone.topic, undone.task.docno)
        return undone._replace(task=self._as_shown(undone.topic, undone.task))

    def _queue(self, session: Session, topic: int) -> list[Queued]:
        cases = self._wanted(fetch_cases(session, self._selection, topic=topic))
        self._cases |= {(case.topic_id, case.document_id): case for case in cases}
        return [
            Queued(one.document_id, one.docno, display_order(one.given_grades, one.kinds), one.iteration)
            for one in cases
        ]

    def _hold(self, session: Session, values: Mapping[str, Any]) -> None:
        """Do nothing: adjudicators need no place, even where documents are assigned."""

    def _case(self, topic: str, docno: str) -> Case | None:
        return self._cases.get((self._topic_ids.get(topic, 0), self._document_ids.get(docno, 0)))

    def _wanted(self, cases: Iterable[Case]) -> list[Case]:
        return [
            case
            for case in cases
            if self._selection.takes(case) and (case.status not in _DONE or self._judge_id in case.rulers)
        ]

    def _look_again(self, topic: str, docno: str) -> None:
        """Find out which ruling stands on a document now; the votes stay as they were shown."""
        case = self._case(topic, docno)
        if case is None:
            return
        with reading(self._engine) as session:
            found = fetch_cases(session, self._selection, topic=case.topic_id, document=case.document_id)
        now = found[0] if found else replace(case, ruling=None, rulers=frozenset())
        key = (case.topic_id, case.document_id)
        self._cases[key] = replace(case, ruling=now.ruling, rulers=now.rulers)

    def _as_shown(self, topic: str, task: Task) -> Task:
        """Return how a document stands: what was decided on another disagreement is still to do."""
        case = self._case(topic, task.docno)
        if case is None or _state_shown(case, task.state) is task.state:
            return task
        return replace(task, state=State.UNJUDGED, grade=None, reason="", dwell_ms=None)


_DONE = (Settlement.SETTLED, Settlement.UNNEEDED)
"""A ruling stands on the grades that there are."""


def _state_shown(case: Case, state: State) -> State:
    """Return how a document stands with an adjudicator, given the state that is stored."""
    is_stale = case.status is Settlement.CHANGED and state in DECIDED
    return State.UNJUDGED if is_stale else state


class Disagreements(Area):
    """Documents of a collection that judges judged differently."""

    def all(self, selection: Selection = ALL) -> list[Case]:
        """Return those that are wanted; see `fetch_listed`."""
        with self._db.reading() as session:
            return fetch_listed(session, selection)

    def voters(self, selection: Selection = ALL) -> Voters:
        """Choose whose decisions count; see `fetch_voters_of_kinds`."""
        with self._db.reading() as session:
            return fetch_voters_of_kinds(session, selection.kinds)

    def count_deciders(self, selection: Selection = ALL) -> int:
        """Count the voting judges who have decided on any document: those who can disagree."""
        with self._db.reading() as session:
            kinds = fetch_voters_of_kinds(session, selection.kinds).voting_kinds
            decided = (
                current_events()
                .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
                .where(JUDGE.c.kind.in_({one.value for one in kinds}), JUDGEMENT.c.state.in_(DECIDED))
                .with_only_columns(func.count(JUDGEMENT.c.judge_id.distinct()))
            )
            return int(session.scalar(decided) or 0)

    def judge_names(self) -> dict[int, str]:
        """Return the names of all judges by row id, as `Case` has them."""
        with self._db.reading() as session:
            return fetch_judge_names(session)
