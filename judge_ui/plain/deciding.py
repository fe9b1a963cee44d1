"""What a judge decides in the line mode, and the questions that may come of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from judge_ui.keys import OTHER_REASON, REASONS, Command, half_width
from judge_ui.messages import clock_time, conflict_words, counted, said
from judge_ui.outcomes import Outcome, Result
from judge_ui.plain.answers import Answer, Answers, Line, numbers
from judge_ui.plain.reading import Reading
from judge_ui.plain.talk import Talk
from judge_ui.session import JudgingSession
from store.errors import PoolerError
from store.records import Passage
from store.sanitise import sanitise_line

_SETTLED = (Outcome.SAVED, Outcome.STUCK, Outcome.UNCHANGED)
"""Outcomes after which a decision stands in the store."""


class Deciding:
    """Lets the session decide, asks what it wants asked, and says what came of it.

    Parameters
    ----------
    session : JudgingSession
        What decides.
    talk : Talk
        Where it is asked and said.
    answers : Answers
        Names the commands.
    reading : Reading
        Knows the document.
    """

    def __init__(
        self, session: JudgingSession, talk: Talk, answers: Answers, reading: Reading
    ) -> None:
        self._session = session
        self._talk = talk
        self._answers = answers
        self._reading = reading
        self._n_unused = 0
        """A script's answers that were given for documents it never came to."""

    def grade(self, value: int) -> bool:
        """Give a grade; say whether the document is decided."""
        return self._decide(partial(self._session.grade, value))

    def skip(self) -> bool:
        """Leave the document for later; say whether that is settled."""
        return self._decide(self._session.skip)

    def cannot(self, rest: str) -> bool:
        """Ask why the document cannot be judged; say whether that is settled."""
        answer = rest
        if not answer:
            listed = ", ".join(f"{key} {reason}" for key, reason in REASONS)
            answer = self._talk.ask(f"why? {listed}, Enter = back")
        reasons = dict(REASONS)
        key = half_width(answer)
        reason = reasons.get(key, rest)
        if key == OTHER_REASON:
            reason = self._ask_words("in your words, Enter = back")
        return bool(reason) and self._decide(partial(self._session.cannot, reason))

    def note(self, rest: str) -> None:
        """Ask for a note."""
        task = self._session.task
        if task is None:
            return
        if not rest:
            if task.note:
                self._talk.say(f"note so far: {sanitise_line(task.note)}")
            rest = self._ask_words("note? Enter = as it was, - = none")
        if rest:
            self.tell(partial(self._session.note, "" if rest == "-" else rest))

    def mark(self, rest: str) -> None:
        """Mark sentences as evidence."""
        spans = self._reading.sentences()
        if not spans:
            self._talk.say("this document has no sentences to mark")
            return
        if not rest:
            self._reading.numbered("")
            rest = self._talk.ask_after("which? as in 3-5", "Enter = back")
        chosen = numbers(rest, len(spans)) if rest else []
        if chosen is None:
            self._talk.say(f"mark 3-5 marks sentences 3 to 5; there are {len(spans)}")
        elif chosen:
            text, task = self._reading.text(), self._session.task
            before = task.passages if task else ()
            ranges = [(spans[first - 1][0], spans[last - 1][1]) for first, last in _runs(chosen)]
            passages = {Passage(start, end - start, text[start:end]) for start, end in ranges}
            self._mark(before + tuple(passages.difference(before)))

    def unmark(self, rest: str) -> None:
        """Mark no longer the passages that reach into some sentences, or any."""
        spans, task = self._reading.sentences(), self._session.task
        passages = task.passages if task else ()
        if not passages:
            self._talk.say("no passage of this document is marked")
            return
        chosen = numbers(rest, len(spans)) if rest else list(range(1, len(spans) + 1))
        if chosen is None:
            self._talk.say(f"unmark 3-5 takes sentences 3 to 5; there are {len(spans)}")
            return
        taken = [spans[number - 1] for number in chosen]
        kept = tuple(
            one
            for one in passages
            if rest and not any(one.start < end and start < one.end for start, end in taken)
        )
        if kept == passages:
            self._talk.say("no marked passage reaches into that")
        else:
            self._mark(kept)

    def undo(self) -> None:
        """Take back the latest event."""
        self.tell(self._session.undo)

    def redo(self) -> bool:
        """Do again what was undone; say whether that is settled."""
        return self.tell(self._session.redo).outcome in _SETTLED

    def retry(self) -> bool:
        """Write again what could not be saved; say whether it is now."""
        return self.tell(self._session.retry).outcome in _SETTLED

    def waiting_question(self) -> str:
        """Ask what to do where a decision is not saved or no document is here; else empty."""
        pending = self._session.pending
        undo, leave = self._answers.name(Command.UNDO), self._answers.name(Command.QUIT)
        if pending is not None:
            return (
                f"NOT SAVED: {sanitise_line(pending.said)}. Enter or retry = try again, "
                f"{undo} = give it up, {leave} quits"
            )
        if self._session.trouble:
            return f"no document is here. Enter or retry = try again, {undo} undo, {leave} quits"
        return ""

    def wait(self, answer: Answer) -> bool:
        """Take an answer while a decision is not saved, or no document could be brought.

        Parameters
        ----------
        answer : Answer
            To the question; not quit.

        Returns
        -------
        bool
            Whether a decision is settled now.

        Notes
        -----
        Where somebody types, another decision about the document takes the place of the one that
        waits, and anything else makes it tried once more. A script's answers were given without
        knowing of any of this, and its next grade is meant for the next document: so it gets no
        further, unless it says retry, or undo at once.
        """
        session, meaning = self._session, answer.meaning
        if meaning is Command.UNDO and not self._n_unused:
            self.undo()
            return False
        if not answer.text or meaning is Line.RETRY:
            settled = self.retry()
            if settled:
                self.say_unused()
            return settled
        if self._talk.is_interactive and session.trouble:
            self._talk.say(f"{sanitise_line(answer.text)!r} was not used: no document is here")
            return False
        if self._talk.is_interactive:
            if isinstance(meaning, int):
                return self.grade(meaning)
            if meaning is Command.SKIP:
                return self.skip()
            if meaning is Command.CANNOT:
                return self.cannot(answer.rest)
            settled = self.retry()
            if session.pending is None:
                self._talk.say(f"{sanitise_line(answer.text)!r} was not used: answer again")
            return settled
        self.leave_unused()
        return False

    def leave_unused(self) -> None:
        """Count an answer of a script that was meant for another document than is here."""
        self._n_unused += 1

    def say_unused(self) -> None:
        """Say how many answers were not used, if any."""
        if self._n_unused:
            were = "was" if self._n_unused == 1 else "were"
            self._talk.say(f"{counted(self._n_unused, 'answer')} {were} not used")
            self._n_unused = 0

    def finish(self) -> None:
        """Try a last time to write what is not saved, before the sitting ends.

        A decision that met another one elsewhere is taken back: the other was never asked about.
        """
        self.say_unused()
        with suppress(EOFError):
            if self._session.pending is not None:
                self.tell(self._session.retry, ask=False)
            if self._session.conflict is not None:
                self.tell(self._session.keep_theirs, ask=False)

    def tell(self, act: Callable[[], Result], message: str = "", *, ask: bool = True) -> Result:
        """Let the session act, and say what came of it.

        Parameters
        ----------
        act : callable
            A method of the session.
        message : str, optional
            What to say when it was saved, instead of what the session says.
        ask : bool, default=True
            Whether to ask what is to stand where the same judge decided elsewhere.
        """
        try:
            result = act()
        except PoolerError as error:
            result = Result(Outcome.FAILED, error.message)
        if result.outcome is Outcome.CONFLICT and ask:
            return self._settle()
        if result.outcome is not Outcome.CONFIRM:
            if message and result.outcome is Outcome.SAVED:
                result = replace(result, message=message)
            saved = f" (saved {clock_time(result.saved_at)})" if result.saved_at else ""
            if words := f"{said(result)}{saved}":
                self._talk.say(words)
        if result.outcome is Outcome.FAILED:
            self._talk.forget_typed()
        return result

    def _decide(self, act: Callable[..., Result]) -> bool:
        """Let the session decide, asking first where it wants that; say whether it is settled."""
        result = self.tell(act)
        if result.outcome is Outcome.CONFIRM:
            if self._talk.ask(f"{said(result)} y/n").lower() not in ("y", "yes", "ｙ"):
                return False
            result = self.tell(partial(act, confirmed=True))
        return result.outcome in _SETTLED

    def _settle(self) -> Result:
        """Ask which of two decisions of the same judge is to stand."""
        self._talk.forget_typed()
        while (conflict := self._session.conflict) is not None:
            happened, replacing = conflict_words(conflict, self._session.scale)
            self._talk.say(happened)
            answer = self._talk.ask(f"k = keep that, r = {replacing}; both stay in the history")
            answer = "".join(map(half_width, answer)).lower()
            if answer in ("k", "keep"):
                result = self.tell(self._session.keep_theirs)
            elif answer in ("r", "replace"):
                result = self.tell(self._session.replace_theirs)
            else:
                self._talk.say("k or r")
                continue
            if result.outcome is not Outcome.FAILED or self._session.conflict is None:
                return result
        return Result(Outcome.NOTHING)

    def _mark(self, passages: tuple[Passage, ...]) -> None:
        """Keep passages, and say which sentences they are in."""
        now = f"{counted(len(passages), 'passage')} marked"
        self.tell(partial(self._session.mark, passages), now)

    def _ask_words(self, question: str) -> str:
        """Ask for words; of a text that was pasted the first line is taken."""
        words = self._talk.ask(question)
        self._talk.forget_typed()
        return words


def _runs(chosen: list[int]) -> list[tuple[int, int]]:
    """Gather numbers that follow each other.

    Examples
    --------
    >>> _runs([1, 3, 4, 5])
    [(1, 1), (3, 5)]
    """
    runs: list[tuple[int, int]] = []
    for number in chosen:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
