"""The adjudicating state machine: judging, with the judges' opinions beside each document.

Knows no screen and no database: it drives a desk (`store.judging.adjudication.AdjudicationDesk`, or
anything with its methods).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from judge_ui.session.desks import DeskLike
from judge_ui.session.messages import given_grade_mark
from judge_ui.session.session import MIN_DWELL_S, JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult
from store.judging.disagreements import CellCount, Disagreement, GivenGrade, Selection, Settlement


class AdjudicationDeskLike(DeskLike, Protocol):
    """What an adjudicating session needs of a desk."""

    @property
    def selection(self) -> Selection:
        """Return which disagreements are wanted."""

    def select(self, selection: Selection) -> None:
        """Want other disagreements."""

    def cells(self) -> list[CellCount]:
        """Count the disagreements by the two verdicts."""

    def disagreement(self, topic: str, docno: str) -> Disagreement:
        """Return how the judges stand to a document."""


class AdjudicatingSession(JudgingSession):
    """One adjudicator at one terminal."""

    def __init__(
        self,
        desk: AdjudicationDeskLike,
        *,
        min_dwell: float = MIN_DWELL_S,
        advance: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(desk, min_dwell=min_dwell, advance=advance, clock=clock)
        self._disagreements = desk

    @property
    def selection(self) -> Selection:
        """Which disagreements are wanted."""
        return self._disagreements.selection

    @property
    def cells(self) -> list[CellCount]:
        """The disagreements counted by the two verdicts, whatever cell is wanted."""
        return self._disagreements.cells()

    def disagreement(self) -> Disagreement | None:
        """Return how the judges stand to the document; ``None`` when there is no document."""
        if self.topic is None or self.task is None:
            return None
        return self._disagreements.disagreement(self.topic.topic, self.task.docno)

    def select_cell(self, cell: tuple[GivenGrade, GivenGrade] | None) -> bool:
        """Want the documents of one cell, or of all, and read the open topic anew.

        Tell whether it has such a document.

        Raises as `open_topic` does.
        """
        self._check_saved()
        self._disagreements.select(replace(self.selection, cell=cell))
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
