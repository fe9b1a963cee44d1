"""An adjudicator's desk: documents that judges disagree on, each judge a letter.

What it gives holds no judge's name; its queries name no run, rank, score or pool, and no judge
but the adjudicator. Records, undo, notes and passages are a judge's: see `store.desk.Desk`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Engine, select
from sqlmodel import Session

from store.adjudication import fetch_cases, fetch_pair, select_cases
from store.database import reading
from store.desk import Desk
from store.disagreements import (
    ALL,
    Case,
    CellCount,
    Disagreement,
    Opinion,
    Ruling,
    Selection,
    Status,
    count_cells,
    letter,
)
from store.errors import StoreError, UnknownNameError
from store.judgements import current_events
from store.models import JUDGE, TOPIC, JudgementRow
from store.natural_order import natural_key
from store.passages import fetch_shown_passages
from store.queues import Queued
from store.records import (
    DECIDED,
    Action,
    Decision,
    InboxLine,
    JudgeKind,
    Scale,
    State,
    Task,
    Undone,
)
from store.sanitise import sanitise, sanitise_line
from store.verdicts import display_order, gap_of, read_basis


class AdjudicationDesk(Desk):
    """One adjudicator's work on one collection, in one sitting.

    The queue has what judges disagree on, but for documents that another adjudicator has settled.
    A document whose judges have decided otherwise since it was settled comes again, without a
    decision; in the store the old one stands until there is another.

    Parameters
    ----------
    engine : Engine
        Of the collection.
    judge : str
        A judge of kind adjudicator who is not disabled.
    scale : Scale
        The declared grades.
    program : str
        Name and version of the front end, kept with the sitting.
    selection : Selection
        Which disagreements are wanted.

    Raises
    ------
    UnknownNameError
        If the judge is not known, or what the selection names.
    StoreError
        If the judge is disabled, or no adjudicator.
    """

    def __init__(
        self,
        engine: Engine,
        judge: str,
        scale: Scale,
        *,
        program: str = "",
        selection: Selection = ALL,
    ) -> None:
        super().__init__(engine, judge, scale, program=program)
        self._cases: dict[tuple[int, int], Case] = {}
        with reading(engine) as session:
            kind = session.scalar(select(JUDGE.c.kind).where(JUDGE.c.id == self._judge_id))
        if kind != JudgeKind.ADJUDICATOR:
            message = f"judge `{judge}` is of kind {kind}, and adjudicators decide disagreements"
            raise StoreError(message, hint="pooler judges add NAME --kind adjudicator makes one")
        self.select(selection)

    @property
    def selection(self) -> Selection:
        """Which disagreements are wanted."""
        return self._selection

    def select(self, selection: Selection) -> None:
        """Want other disagreements; takes effect when a queue is read.

        Raises as the constructor does for what is not known.
        """
        with reading(self._engine) as session:
            fetch_pair(session, selection)
        self._selection = selection

    def cells(self) -> list[CellCount]:
        """Count the disagreements by the two verdicts, whatever gap and cell are wanted."""
        wanted = replace(self._selection, gap=None, cell=None)
        with reading(self._engine) as session:
            cases = select_cases(session, fetch_cases(session), wanted)
            return count_cells(cases, fetch_pair(session, wanted))

    def disagreement(self, topic: str, docno: str) -> Disagreement:
        """Return how the judges stand to a document, as they stood when the queue was read.

        Raises
        ------
        UnknownNameError
            If it is not in a queue that was read.
        """
        key = (self._topic_ids.get(topic, 0), self._document_ids.get(docno, 0))
        case = self._cases.get(key)
        if case is None:
            raise UnknownNameError("document", docno, self._document_ids)
        with reading(self._engine) as session:
            events = {vote.event: case.document_id for vote in case.votes}
            passages = fetch_shown_passages(session, events)
        opinions = tuple(
            Opinion(
                letter(place),
                State.CANNOT if vote.verdict is None else State.JUDGED,
                vote.verdict,
                sanitise_line(vote.reason),
                sanitise(vote.note),
                passages.get(vote.event, ()),
            )
            for place, vote in enumerate(case.votes)
        )
        gap, ruling = gap_of(case.verdicts), case.ruling
        if ruling is None:
            return Disagreement(opinions, gap, case.status)
        basis = read_basis(ruling.basis or "")
        return Disagreement(opinions, gap, case.status, ruling.verdict, basis)

    def is_idle(self) -> bool:
        """Say whether there is no disagreement left to settle, nor any that this one settled."""
        return not self.inbox()

    def inbox(self) -> list[InboxLine]:
        """Return the topics with a disagreement in natural order."""
        with reading(self._engine) as session:
            own = {
                (event.topic_id, event.document_id): event
                for event in session.execute(current_events(judges=[self._judge_id]))
            }
            titles = {
                row.number: row.title
                for row in session.execute(select(TOPIC.c.number, TOPIC.c.title))
            }
            cases: dict[str, list[Case]] = {}
            for case in self._wanted(session, fetch_cases(session)):
                cases.setdefault(case.topic, []).append(case)
        lines = []
        for topic in sorted(cases, key=natural_key):
            events = [
                (case, own[pair])
                for case in cases[topic]
                if (pair := (case.topic_id, case.document_id)) in own
            ]
            states = [_state_shown(case, State(event.state)) for case, event in events]
            lines.append(
                InboxLine(
                    topic,
                    sanitise_line(titles[topic]),
                    len(cases[topic]),
                    states.count(State.JUDGED),
                    states.count(State.SKIPPED),
                    states.count(State.CANNOT),
                    max((event.judged_at for _, event in events), default=None),
                )
            )
        return lines

    def queue(self, topic: str) -> list[Task]:
        """Return the documents of a topic that judges disagree on, by docno, each as it stands."""
        return [self._as_shown(topic, task) for task in super().queue(topic)]

    def undrawn(self, topic: str) -> int:  # noqa: ARG002 - the desk's method
        """Return 0: a document that nobody has judged is no disagreement."""
        return 0

    def claimable(self, topic: str) -> int:  # noqa: ARG002 - the desk's method
        """Return 0: disagreements are not claimed."""
        return 0

    def claim(self, topic: str) -> bool:  # noqa: ARG002 - the desk's method
        """Return False: disagreements are not claimed."""
        return False

    def record(self, decision: Decision) -> Task:
        """Append a decision as the adjudicator's own judgement; see `Desk.record`."""
        task = super().record(decision)
        key = self._ids(decision)
        case = self._cases.get(key)
        if case is not None and decision.action in (Action.JUDGE, Action.CANNOT):
            ruling = Ruling(self._judge_id, task.grade, basis=case.basis)
            rulers = case.rulers | {self._judge_id}
            self._cases[key] = replace(case, ruling=ruling, rulers=rulers)
        elif decision.action in (Action.SKIP, Action.REOPEN):
            self._look_again(decision.topic, decision.docno)
        return self._as_shown(decision.topic, task)

    def keep(self, decision: Decision) -> Task:
        """Note a decision and take it back at once; see `Desk.keep`."""
        task = super().keep(decision)
        self._look_again(decision.topic, decision.docno)
        return self._as_shown(decision.topic, task)

    def undo(self) -> Undone | None:
        """Take back this sitting's latest event that is not taken back yet; see `Desk.undo`."""
        undone = super().undo()
        if undone is None:
            return None
        self._look_again(undone.topic, undone.task.docno)
        return undone._replace(task=self._as_shown(undone.topic, undone.task))

    def _queue(self, session: Session, topic: int) -> list[Queued]:
        """Return the disagreements of a topic that are wanted, by docno."""
        cases = self._wanted(session, fetch_cases(session, topic=topic))
        self._cases |= {(case.topic_id, case.document_id): case for case in cases}
        return [
            Queued(case.document_id, case.docno, display_order(case.verdicts), case.iteration)
            for case in cases
        ]

    def _hold(self, session: Session, row: JudgementRow) -> None:
        """Hold nothing: whatever is assigned to judges, adjudicators need no place."""

    def _wanted(self, session: Session, cases: Iterable[Case]) -> list[Case]:
        """Return the wanted disagreements that no other adjudicator has settled."""
        return [
            case
            for case in select_cases(session, cases, self._selection)
            if case.status is not Status.SETTLED or self._judge_id in case.rulers
        ]

    def _look_again(self, topic: str, docno: str) -> None:
        """Find out which ruling stands on a document now; the votes stay as they were shown."""
        key = (self._topic_ids.get(topic, 0), self._document_ids.get(docno, 0))
        case = self._cases.get(key)
        if case is None:
            return
        with reading(self._engine) as session:
            found = fetch_cases(session, topic=key[0], document=key[1])
        now = found[0] if found else None
        self._cases[key] = replace(
            case,
            ruling=None if now is None else now.ruling,
            rulers=frozenset() if now is None else now.rulers,
        )

    def _as_shown(self, topic: str, task: Task) -> Task:
        """Say how a document stands: what was decided on another disagreement is still to do."""
        key = (self._topic_ids.get(topic, 0), self._document_ids.get(task.docno, 0))
        case = self._cases.get(key)
        if case is None or _state_shown(case, task.state) is task.state:
            return task
        return replace(task, state=State.UNJUDGED, grade=None, reason="", dwell_ms=None)


def _state_shown(case: Case, state: State) -> State:
    """Say how a document stands with an adjudicator, given the state that is stored."""
    is_stale = case.status is Status.CHANGED and state in DECIDED
    return State.UNJUDGED if is_stale else state
