"""The adjudicating state machine: judging, with the judges' opinions beside each document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judge_ui.session.messages import given_grade_mark
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult
from store.judging.disagreements import Disagreement, GivenGrade, Settlement

if TYPE_CHECKING:
    from store.judging.adjudication import AdjudicationDesk


class AdjudicatingSession(JudgingSession):
    """One adjudicator at one terminal."""

    desk: AdjudicationDesk

    def disagreement(self) -> Disagreement | None:
        """Return how the judges stand to the document; ``None`` when there is no document."""
        if self.topic is None or self.task is None:
            return None
        return self.desk.disagreement(self.topic.topic, self.task.docno)

    def given(self, docno: str) -> tuple[GivenGrade, ...]:
        """Return what the judges A, B, C gave a document of the open topic."""
        return () if self.topic is None else self.desk.given(self.topic.topic, docno)

    def select_cell(self, cell: tuple[GivenGrade, GivenGrade] | None) -> bool:
        """Select the documents of one cell, or of all; return whether the open topic, read anew, has any.

        Raises as `open_topic` does.
        """
        self._check_saved()
        self.desk.select(replace(self.desk.selection, cell=cell))
        if self.topic is not None:
            self.open_topic(self.topic.topic)
        return self.task is not None

    def skip(self, *, confirmed: bool = False) -> KeyResult:
        """Leave the document for later; asks first when it has a grade.

        What was settled once stays so until it is settled anew: then nothing is written.
        """
        found = self.disagreement()
        if found is None or found.status is not Settlement.CHANGED or self.pending is not None:
            return super().skip(confirmed=confirmed)
        self.touch()
        mark = given_grade_mark(self.scale, found.outcome)
        return KeyResult(KeyOutcome.UNCHANGED, f"left for later; {mark} stands till then{self._go_on()}")
