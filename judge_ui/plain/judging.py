"""The line mode: a judge's decisions and moves; an adjudicator's.

Nothing is redrawn and nothing moves: what is printed stays, every question ends in ``> ``, and
the end of the input quits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TextIO

from judge_ui.plain.answers import Act, AnswerLine, Answers, TypedAnswer
from judge_ui.plain.reading import LineReading, sum_up
from judge_ui.plain.talk import YES, Talk, help_lines
from judge_ui.session.adjudicating import AdjudicatingSession
from judge_ui.session.ending import ALL_DECIDED, NextStep, goal_words, last_topic
from judge_ui.session.keys import OTHER_REASON, REASONS, Command, KeyTable, half_width, key_table
from judge_ui.session.messages import (
    clock_time,
    conflict_words,
    goodbye,
    history_words,
    opinion_lines,
    refusal,
    result_text,
    skipped_words,
    warning_of_others,
)
from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult, tried
from store.errors import PoolerError, UnknownNameError
from store.records import InboxLine
from store.text import counted, sanitise_line

_SETTLED = (KeyOutcome.SAVED, KeyOutcome.STUCK, KeyOutcome.UNCHANGED)
"""Outcomes after which a decision stands in the store."""


class Deciding:
    """Lets the session decide, asks what it wants asked, and says what came of it."""

    def __init__(self, session: JudgingSession, talk: Talk) -> None:
        self._session = session
        self._talk = talk
        self._n_unasked = 0

    def grade(self, value: int) -> bool:
        """Give a grade. A script is not asked first, as its next answer is meant for the next document.

        What it would have been asked about is counted, and told at the end.
        """
        act = partial(self._session.grade, value)
        if self._talk.is_interactive:
            return self.decide(act)
        result = self.tell(act)
        if result.outcome is KeyOutcome.CONFIRM:
            self._n_unasked += 1
            result = self.tell(partial(act, confirmed=True))
        return result.outcome in _SETTLED

    def cannot(self, rest: str) -> bool:
        """Ask why the document cannot be judged; say whether that is settled."""
        listed, reasons = ", ".join(f"{key} {reason}" for key, reason in REASONS), dict(REASONS)
        key = half_width(rest)
        while key not in reasons and len(key) < 2:
            key = half_width(self._talk.ask(f"why? {listed}, Enter = back"))
            if not key:
                return False
            if key not in reasons:
                self._talk.say(f"{sanitise_line(key)!r} is none of these")
                key = ""
        reason = reasons.get(key, rest)
        if key == OTHER_REASON:
            reason = self._talk.ask("in your words, Enter = back")
            self._talk.forget_typed()  # of a text that was pasted the first line is taken
        return bool(reason) and self.decide(partial(self._session.cannot, reason))

    def note(self, rest: str) -> None:
        """Ask for a note."""
        task = self._session.task
        if task is None:
            return
        if not rest:
            if task.note:
                self._talk.say(f"note so far: {sanitise_line(task.note)}")
            rest = self._talk.ask("note? Enter = keep it, - = none")
            self._talk.forget_typed()  # of a text that was pasted the first line is taken
        if rest:
            self.tell(partial(self._session.note, "" if rest == "-" else rest))

    def undo(self) -> None:
        """Take back the latest event."""
        self.tell(self._session.undo)

    def wait(self, answer: TypedAnswer) -> bool:
        """Take an answer while a decision is not saved or no document could be brought; say if it is settled.

        Where somebody types, another decision about the document takes the place of the one that waits, and
        anything else makes it tried once more. A script's answers were given without knowing of any of this,
        and its next grade is meant for the next document: it gets no further unless it says retry, or undo at
        once.
        """
        session, talk, meaning = self._session, self._talk, answer.meaning
        settled = False
        if meaning is Command.UNDO and not talk.n_unused:
            self.undo()
        elif not answer.text or meaning is AnswerLine.RETRY:
            settled = self.settles(session.retry)
            if settled:
                talk.say_unused()
        elif not talk.is_interactive:
            talk.n_unused += 1
        elif session.trouble:
            talk.say(f"{sanitise_line(answer.text)!r} was ignored: no document is shown")
        elif isinstance(meaning, int):
            settled = self.grade(meaning)
        elif meaning is Command.SKIP:
            settled = self.decide(session.skip)
        elif meaning is Command.CANNOT:
            settled = self.cannot(answer.rest)
        else:
            settled = self.settles(session.retry)
            if session.pending is None:
                talk.say(f"{sanitise_line(answer.text)!r} was ignored: answer again")
        return settled

    def finish(self) -> None:
        """Try a last time to write what is not saved, before the sitting ends.

        A decision that met another one elsewhere is taken back: the other was never asked about.
        """
        self._talk.say_unused()
        if self._n_unasked:
            self._talk.say(f"{counted(self._n_unasked, 'document')} graded without a text to judge")
        with suppress(EOFError):
            if self._session.pending is not None:
                self.tell(self._session.retry, ask=False)
            if self._session.conflict is not None:
                self.tell(self._session.keep_theirs, ask=False)

    def tell(self, act: Callable[[], KeyResult], *, ask: bool = True) -> KeyResult:
        """Let the session act, and say what came of it.

        `ask`: whether to ask what is to stand where the same judge decided elsewhere.
        """
        result = tried(act)
        if result.outcome is KeyOutcome.CONFLICT and ask:
            return self._settle()
        if result.outcome is not KeyOutcome.CONFIRM:
            saved = f" (saved {clock_time(result.saved_at)})" if result.saved_at else ""
            if words := f"{result_text(result)}{saved}":
                self._talk.say(words)
        if result.outcome is KeyOutcome.FAILED:
            self._talk.forget_typed()
        return result

    def settles(self, act: Callable[[], KeyResult]) -> bool:
        """Let the session act, and say whether a decision is settled."""
        return self.tell(act).outcome in _SETTLED

    def decide(self, act: Callable[..., KeyResult], *, confirmed: bool = False) -> bool:
        """Let the session decide, asking first where it wants that; say whether it is settled."""
        result = self.tell(partial(act, confirmed=True) if confirmed else act)
        if result.outcome is KeyOutcome.CONFIRM:
            if self._talk.ask(f"{result_text(result)} y/n").lower() not in YES:
                return False
            result = self.tell(partial(act, confirmed=True))
        return result.outcome in _SETTLED

    def _settle(self) -> KeyResult:
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
            if result.outcome is not KeyOutcome.FAILED or self._session.conflict is None:
                return result
        return KeyResult(KeyOutcome.NOTHING)


_SHORT = (Command.SKIP, Command.CANNOT, Command.NOTE, Command.UNDO, Command.NEXT, Command.QUIT, Command.HELP)
"""Commands that every question names; the help names the others."""


def run_plain(session: JudgingSession, read: TextIO, write: TextIO, *, keys: KeyTable | None = None) -> int:
    """Run the line mode until the judge quits or the input ends; return how many answers were ignored.

    The caller ends the session.

    Where `read` is no terminal its answers are a script's: taken in order, one for each question about a
    document, and nobody is asked to begin. A script can answer as soon as a document is printed only where
    the session's ``min_dwell`` is 0.
    """
    talk = Talk(read, write)
    return PlainJudge(session, talk, keys or key_table(session.scale)).sit()


_AGAIN = "Enter or retry = try again"


class _Leave(Exception):  # noqa: N818 - a way out, not an error
    """The judge leaves the open topic."""


class PlainJudge:
    """One line-mode sitting."""

    def __init__(self, session: JudgingSession, talk: Talk, keys: KeyTable) -> None:
        self._session = session
        self._talk = talk
        self._answers = Answers(keys, session.scale)
        self._reading = reading = LineReading(session, talk, self._answers)
        self._deciding = deciding = Deciding(session, talk)
        self._printed: tuple[str, str] | None = None
        self._is_unread = False
        self._round: list[str] | None = None
        """Skipped documents that are still to be gone over; ``None`` = the usual way is gone."""
        self._commands: dict[Act, Callable[[str], bool | None]] = {
            Command.SKIP: lambda _: deciding.decide(session.skip),
            Command.CANNOT: deciding.cannot,
            Command.NOTE: deciding.note,
            Command.UNDO: lambda _: deciding.undo(),
            AnswerLine.RETRY: lambda _: talk.say("nothing is left to save"),
            Command.NEXT: lambda _: self._next(),
            Command.FIND: reading.find,
            Command.HELP: lambda _: self._help(),
        }

    def sit(self) -> int:
        """Judge until the judge quits or the input ends; return how many answers were ignored."""
        with suppress(EOFError):
            if self._session.topic is None:
                self._choose_topic()
            while True:
                with suppress(_Leave):
                    self._judge_topic()
                self._choose_topic()
        self._talk.say()
        self._deciding.finish()
        self._talk.say(goodbye(self._session))
        return self._talk.n_ignored

    def _choose_topic(self) -> None:
        lines = self._session.desk.inbox()
        self._talk.say(f"Topics of {self._session.desk.judge_name}")
        for line in lines:
            name = sanitise_line(f"{line.topic} {line.title}".rstrip())
            self._talk.say(
                f"  {name}: {counted(line.documents, 'document')}, {line.judged} judged, "
                f"{line.skipped} skipped, {line.cannot} cannot be judged, {line.left} left"
            )
        if not lines:
            self._talk.say("  none: no pool holds a document for you")
        while not self._open(lines):
            pass

    def _open(self, lines: list[InboxLine]) -> bool:
        """Ask for a topic and open it; False = there is none of that name."""
        ended = self._session.may_end
        undecided = (line.topic for line in lines if line.left and line.topic not in ended)
        skipped = (line.topic for line in lines if line.skipped and line.topic not in ended)
        first = last_topic(lines, ended) or next(undecided, next(skipped, None))
        default = f"Enter = {sanitise_line(first)}, " if first is not None else ""
        answer = self._talk.ask(f"topic? {default}{self._answers.name(Command.QUIT)} quits")
        known = {line.topic for line in lines}
        if answer not in known and self._answers.read(answer).meaning is Command.QUIT:
            raise EOFError
        chosen = answer or first
        if chosen is None:
            is_left = any(line.left or line.skipped for line in lines)
            self._talk.say("the goal is reached where documents are left" if is_left else ALL_DECIDED)
            return False
        while True:
            try:
                self._session.open_topic(chosen)
            except PoolerError as error:
                self._talk.say(refusal(error))
                if isinstance(error, UnknownNameError) or not self._tries_again(chosen):
                    return False
            else:
                self._talk.say_unused()
                return True

    def _tries_again(self, topic: str) -> bool:
        """Ask whether to try once more to open a topic; a script gets no further than this."""
        leave = self._answers.name(Command.QUIT)
        name = sanitise_line(topic)
        while True:
            text = self._talk.ask(f"{name} is not open. {_AGAIN}, {leave} quits")
            meaning = self._answers.read(text).meaning
            if meaning is Command.QUIT:
                raise EOFError
            if not text or meaning is AnswerLine.RETRY:
                return True
            if self._talk.is_interactive:
                self._talk.say(f"{sanitise_line(text)!r} was ignored")
                return False
            self._talk.n_unused += 1

    def _judge_topic(self) -> None:
        self._printed = None
        self._round = None
        self._begin()
        if self._session.tasks and self._session.is_through:
            # Or a script run twice would grade one document again and again.
            self._sum_up()
        while True:
            self._say_document()
            answer = self._answers.read(self._talk.ask(self._prompt()))
            self._session.touch()
            self._answer(answer)
            if self._session.pending is None:
                self._session.beat()

    def _begin(self) -> None:
        """Say what the topic is, and have that acknowledged the first time."""
        session, talk, reading = self._session, self._talk, self._reading
        if warning := warning_of_others(session):
            talk.say(f"Warning: {warning}")
        reading.topic()
        names = (f"{key} = {name}" for key, name in self._answers.grades)
        talk.say(f"Grades: {', '.join(names)}")
        if not session.needs_briefing:
            return
        try:
            if session.desk.guidelines() is not None:
                reading.guidelines()
        except PoolerError as error:
            talk.say(refusal(error))
        while talk.is_interactive:
            leave = self._answers.name(Command.QUIT)
            answer = self._answers.read(talk.ask(f"\n{leave} quits, Enter = the first document"))
            if not answer.text:
                break
            if answer.meaning is Command.QUIT:
                raise EOFError
            if answer.meaning is Command.HELP:
                self._help()
            else:
                talk.say(f"{sanitise_line(answer.text)!r} was ignored: no document is shown yet")
        session.needs_briefing = False

    def _answer(self, answer: TypedAnswer) -> None:
        meaning, session = answer.meaning, self._session
        if meaning is Command.QUIT:
            raise EOFError
        before, settled = session.progress, False
        if self._awaits_retry and meaning is not Command.HELP:
            self._is_unread = bool(answer.text) and meaning is not AnswerLine.RETRY
            if self._is_unread:
                self._talk.n_unused += 1
        elif self._waits(meaning):
            settled = self._deciding.wait(answer)
        elif isinstance(meaning, int):
            if self._is_unread:
                self._talk.say("not graded: the document could not be read")
            else:
                settled = self._deciding.grade(meaning)
        elif meaning is None or meaning not in self._commands:
            if answer.text:
                help_key = self._answers.name(Command.HELP)
                wondered = (
                    f"{sanitise_line(answer.text)!r} is not an answer here; {help_key} lists the answers"
                )
                self._talk.say(wondered)
        else:
            settled = self._do(answer)
        if settled and self._round is not None:
            self._next()
        elif settled and session.reaches_end(before):
            self._sum_up()
        elif settled and session.offers_end():
            if self._talk.is_interactive:
                self._sum_up()
            else:
                # A script's next answer is meant for the next document.
                self._talk.say(goal_words(session))

    @property
    def _awaits_retry(self) -> bool:
        """Whether a script has to ask for a document that could not be read."""
        return self._is_unread and not self._talk.is_interactive

    def _waits(self, meaning: Act | int | None) -> bool:
        """Return whether an answer is for a decision that is not saved, or a document not here."""
        if meaning is Command.HELP:
            return False
        if self._session.pending is not None:
            return True
        can_go = self._talk.is_interactive and meaning is Command.NEXT
        return bool(self._session.trouble) and not can_go

    def _do(self, answer: TypedAnswer) -> bool:
        """Carry out a command; say whether a decision is settled."""
        command = self._commands[answer.meaning]  # type: ignore[index] # not a grade
        try:
            return bool(command(answer.rest))
        except PoolerError as error:
            self._talk.say(refusal(error))
            return False

    def _help(self) -> None:
        for line in help_lines(self._answers):
            self._talk.say(line)

    def _next(self) -> None:
        """Go to the next document, of the round if there is one; sum up after the last."""
        session = self._session
        if self._round is not None:
            if not self._next_of_round(self._round):
                self._sum_up()
        elif not session.go_next():
            if session.is_through:
                self._sum_up()
            else:
                self._talk.say("this is the last document")

    def _next_of_round(self, left: list[str]) -> bool:
        """Go to the next document of a round; False = that was the last."""
        while left:
            docno = left.pop(0)
            place = self._session.queue.place_of(docno)
            if place is not None:
                self._session.go_to(place)
                self._talk.say(f"{len(left) or 'the last'}{' more' if left else ''} to go over")
                return True
        return False

    def _sum_up(self) -> None:
        self._round = None
        step = sum_up(self._session, self._talk, self._answers)
        if step is NextStep.QUIT:
            raise EOFError
        if step is NextStep.INBOX:
            raise _Leave
        self._printed = None
        if step is NextStep.UNDO:
            self._deciding.undo()
        elif step is not NextStep.STAY:
            self._round = self._session.docnos(Filter.SKIPPED)
            self._next()

    def _say_document(self) -> None:
        """Print the document before the judge, unless it was printed last."""
        session = self._session
        if session.trouble or self._awaits_retry:
            self._printed = None
            return
        here = session.here
        if here is None:
            self._talk.say("nothing to judge in this topic")
            raise _Leave
        if self._printed != here:
            self._talk.forget_typed()
            if self._printed is not None and self._printed[0] != here[0]:
                self._round = None
                self._reading.topic()
            try:
                self._say_opinions()
                self._reading.document()
            except PoolerError as error:
                self._is_unread = True
                self._talk.say(f"this document could not be read: {sanitise_line(error.message)}")
                return
            self._is_unread = False
            self._printed = here
            self._talk.say_unused()
        session.mark_shown(self._reading.page)

    def _prompt(self) -> str:
        session, name = self._session, self._answers.name
        undo, leave = name(Command.UNDO), name(Command.QUIT)
        if session.pending is not None:
            unsaved = f"NOT SAVED: {sanitise_line(session.pending.said)}"
            return f"\n{unsaved}. {_AGAIN}, {undo} = give it up, {leave} quits"
        if session.trouble or self._is_unread:
            back = f", {undo} undo" if session.trouble else ""
            return f"\nno document is shown. {_AGAIN}{back}, {leave} quits"
        progress = session.progress
        done = f"{progress.decided}/{progress.total}{skipped_words(progress.skipped, ', ')}"
        commands = ", ".join(f"{name(one)} {one}" for one in _SHORT)
        return f"\n{done} {self._answers.grade_keys}, {commands}"

    def _say_opinions(self) -> None:
        scale, task, session = self._session.scale, self._session.task, self._session
        found = session.disagreement() if isinstance(session, AdjudicatingSession) else None
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
