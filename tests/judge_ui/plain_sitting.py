"""A sitting in line mode as tests hold it: answers, and what happens between two of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from judge_ui.plain import run_plain
from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.records import Judgement

Step = str | Callable[[], Any]
"""An answer, or something that happens before the next one is read."""


class Typist(io.StringIO):
    """Gives answers one by one.

    Parameters
    ----------
    steps : sequence of Step
        What is answered, and what happens in between.
    is_terminal : bool
        Whether they come from a terminal, not from a file.
    """

    def __init__(self, steps: tuple[Step, ...], *, is_terminal: bool) -> None:
        super().__init__()
        self._steps = list(steps)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        """Say whether somebody types."""
        return self._is_terminal

    def readline(self, *_: Any) -> str:
        """Return the next answer; empty at the end."""
        while self._steps:
            step = self._steps.pop(0)
            if isinstance(step, str):
                return f"{step}\n"
            step()
        return ""


def sit(
    collection: Collection, *steps: Step, topic: str | None = "12", typed: bool = False, **options: Any
) -> str:
    """Let alice give answers and return everything that was printed.

    Parameters
    ----------
    collection : Collection
        Where.
    *steps : Step
        What is answered, and what happens in between.
    topic : str, optional
        The topic that is open at the start.
    typed : bool
        Whether she sits at a terminal.
    **options
        Of the session.
    """
    session = JudgingSession(collection.desk("alice"), **{"min_dwell": 0, "quick": 0} | options)
    if topic is not None:
        session.open_topic(topic)
    write = io.StringIO()
    run_plain(session, Typist(steps, is_terminal=typed), write)
    session.desk.leave()
    return write.getvalue()


def states(collection: Collection) -> dict[str, Judgement]:
    """Return alice's judgements by docno."""
    return {judgement.docno: judgement for judgement in collection.judgements.current(["alice"])}


def after(printed: str, answer: int) -> str:
    """Return what was printed after an answer, counted from 0 and without it, to the next one."""
    return printed.split(" > ")[answer + 1]
