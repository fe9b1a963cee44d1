"""The line mode of an adjudicator: what the judges said is printed before each document."""

from __future__ import annotations

from typing import TextIO

from judge_ui.adjudicating import AdjudicatingSession
from judge_ui.keys import KeyTable, key_table
from judge_ui.opinions import history_words, opinion_lines
from judge_ui.plain.judging import PlainJudge
from judge_ui.plain.talk import Talk
from store.sanitise import sanitise_line


def run_plain_adjudication(
    session: AdjudicatingSession,
    read: TextIO,
    write: TextIO,
    *,
    keys: KeyTable | None = None,
    page: int = 0,
    width: int = 80,
) -> int:
    """Run the line mode until the adjudicator quits or the input ends.

    Parameters are those of `judge_ui.plain.judging.run_plain`.

    Returns
    -------
    int
        0.
    """
    talk = Talk(read, write, page=page, width=width)
    return _PlainAdjudicator(session, talk, keys or key_table(session.scale)).sit()


class _PlainAdjudicator(PlainJudge):
    """One line-mode sitting of an adjudicator; see `PlainJudge` for the parameters."""

    def __init__(self, session: AdjudicatingSession, talk: Talk, keys: KeyTable) -> None:
        super().__init__(session, talk, keys)
        self._adjudicating = session

    def _read_document(self) -> None:
        """Print what the judges said, and the document."""
        self._say_opinions()
        super()._read_document()

    def _say_opinions(self) -> None:
        """Print what the judges said."""
        scale, task = self._session.scale, self._session.task
        found = self._adjudicating.disagreement()
        if found is None or task is None:
            return
        gap = f", gap {found.gap}" if found.gap is not None else ""
        self._talk.say(f"\nDisagreement on {sanitise_line(task.docno)}{gap}")
        for opinion in found.opinions:
            head, *rest = opinion_lines(opinion, scale)
            self._talk.say(head)
            for line in rest:
                self._talk.say(f"  {line}")
        if words := history_words(found, scale):
            self._talk.say(words)
