"""The line mode: the same session over plain lines, for screen readers, scripts and slow lines.

Nothing is redrawn and nothing moves: what is printed stays, every question ends in ``> ``, and
the end of the input quits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from judge_ui.afterwards import Afterwards
from judge_ui.keys import Command, KeyTable, key_table
from judge_ui.messages import ALL_DECIDED, counted, forecast_words, goodbye, live_words
from judge_ui.plain.answers import Act, Answer, Answers, Line
from judge_ui.plain.deciding import Deciding
from judge_ui.plain.moving import Moving
from judge_ui.plain.reading import Reading
from judge_ui.plain.summary import sum_up
from judge_ui.plain.talk import Talk
from judge_ui.session import JudgingSession
from store.errors import PoolerError, UnknownNameError
from store.records import InboxLine
from store.sanitise import sanitise_line

_SHORT = (
    Command.SKIP,
    Command.CANNOT,
    Command.NOTE,
    Command.UNDO,
    Command.NEXT,
    Command.QUIT,
    Command.HELP,
)
"""Commands that every question names; the help names the others."""


def run_plain(
    session: JudgingSession,
    read: TextIO,
    write: TextIO,
    *,
    keys: KeyTable | None = None,
    page: int = 0,
    width: int = 80,
) -> int:
    """Run the line mode until the judge quits or the input ends.

    Parameters
    ----------
    session : JudgingSession
        What it drives; the caller ends it. A topic that is open is judged first. A script can
        answer as soon as a document is printed only where its ``min_dwell`` is 0.
    read, write : TextIO
        Where answers come from and words go to. Where `read` is no terminal its answers are a
        script's: they are taken in order, one for each question about a document, and nobody is
        asked to begin.
    keys : KeyTable, optional
        Default those of the scale.
    page : int, default=0
        Terminal lines of a document that are printed at once; 0 = all of it.
    width : int, default=80
        Cells on a terminal line.

    Returns
    -------
    int
        0.
    """
    talk = Talk(read, write, page=page, width=width)
    return PlainJudge(session, talk, keys or key_table(session.scale)).sit()


_ELSEWHERE = frozenset(
    {
        Command.NEXT,
        Command.PREVIOUS,
        Line.GO,
        Command.LIST,
        Line.PROGRESS,
        Command.HISTORY,
        Command.TOPIC,
        Command.GUIDELINES,
        Command.INBOX,
    }
)
"""Commands that need no document, and decide about none."""


class _Leave(Exception):  # noqa: N818 - a way out, not an error
    """The judge leaves the open topic."""


class PlainJudge:
    """One line-mode sitting.

    Parameters
    ----------
    session : JudgingSession
        What it drives.
    talk : Talk
        Lines out and answers in.
    keys : KeyTable
        What a key means.
    """

    def __init__(self, session: JudgingSession, talk: Talk, keys: KeyTable) -> None:
        self._session = session
        self._talk = talk
        self._answers = Answers(keys, session.scale)
        self._reading = reading = Reading(session, talk, self._answers)
        self._deciding = deciding = Deciding(session, talk, self._answers, reading)
        self._printed: tuple[str, str] | None = None
        self._is_unread = False
        self._moving = moving = Moving(session, talk)
        self._commands: dict[Act, Callable[[str], bool | None]] = {
            Command.SKIP: lambda _: deciding.skip(),
            Command.CANNOT: deciding.cannot,
            Command.NOTE: deciding.note,
            Command.UNDO: lambda _: deciding.undo(),
            Command.REDO: lambda _: deciding.redo(),
            Command.MARK: deciding.mark,
            Line.UNMARK: deciding.unmark,
            Line.RETRY: lambda _: talk.say("nothing waits to be saved"),
            Command.NEXT: lambda _: self._next(),
            Command.PREVIOUS: lambda _: moving.previous(),
            Line.GO: self._go,
            Command.LIST: reading.listing,
            Line.PROGRESS: lambda _: reading.progress(),
            Command.HISTORY: reading.history,
            Command.TOPIC: lambda _: reading.topic(),
            Command.GUIDELINES: lambda _: reading.guidelines(),
            Line.AGAIN: reading.again,
            Command.FIND: reading.find,
            Command.NEXT_HIT: lambda _: reading.hit(1),
            Command.PREVIOUS_HIT: lambda _: reading.hit(-1),
            Command.TERMS: reading.terms,
            Line.SENTENCES: reading.numbered,
            Command.HELP: lambda _: reading.help(),
            Command.INBOX: lambda _: self._leave(),
        }

    def sit(self) -> int:
        """Judge until the judge quits or the input ends; return 0."""
        with suppress(EOFError):
            self._go_from_topic_to_topic()
        self._talk.say()
        self._deciding.finish()
        self._talk.say(goodbye(self._session))
        return 0

    def _go_from_topic_to_topic(self) -> None:
        """Judge; raises `EOFError` at the end of the input or of the sitting."""
        if self._session.topic is None:
            self._choose_topic()
        while True:
            with suppress(_Leave):
                self._judge_topic()
            self._choose_topic()

    def _choose_topic(self) -> None:
        """List the topics and open one."""
        lines = self._session.inbox()
        self._talk.say(f"Topics of {self._session.judge_name}")
        for line in lines:
            name = sanitise_line(f"{line.topic} {line.title}".rstrip())
            self._talk.say(
                f"  {name}: {counted(line.documents, 'document')}, {line.judged} judged, "
                f"{line.skipped} skipped, {line.cannot} cannot be judged, {line.left} left"
            )
        if not lines:
            self._talk.say("  none: no pool holds a document for you")
        words = forecast_words(self._session.forecast(sum(line.left for line in lines)))
        if words:
            self._talk.say(words)
        while not self._open(lines):
            pass

    def _open(self, lines: list[InboxLine]) -> bool:
        """Ask for a topic and open it; False = there is none of that name."""
        first = next((line.topic for line in lines if line.left), None)
        default = f"Enter = {sanitise_line(first)}, " if first is not None else ""
        answer = self._talk.ask(f"topic? {default}{self._answers.name(Command.QUIT)} quits")
        known = {line.topic for line in lines}
        if answer not in known and self._answers.read(answer).meaning is Command.QUIT:
            raise EOFError
        chosen = answer or first
        if chosen is None:
            self._talk.say(ALL_DECIDED)
            return False
        while True:
            try:
                self._session.open_topic(chosen)
            except UnknownNameError as error:
                self._say_error(error)
                return False
            except PoolerError as error:
                self._say_error(error)
                if not self._tries_again(chosen):
                    return False
            else:
                self._deciding.say_unused()
                return True

    def _tries_again(self, topic: str) -> bool:
        """Ask whether to try once more to open a topic; a script gets no further than this."""
        leave = self._answers.name(Command.QUIT)
        name = sanitise_line(topic)
        while True:
            text = self._talk.ask(f"{name} is not open. Enter or retry = try again, {leave} quits")
            meaning = self._answers.read(text).meaning
            if meaning is Command.QUIT:
                raise EOFError
            if not text or meaning is Line.RETRY:
                return True
            if self._talk.is_interactive:
                self._talk.say(f"{sanitise_line(text)!r} was not used")
                return False
            self._deciding.leave_unused()

    def _judge_topic(self) -> None:
        """Judge the open topic until the judge leaves it."""
        self._printed = None
        self._moving.end_round()
        self._begin()
        if self._session.tasks and self._session.is_complete:
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
        """Say what the topic is, and have that acknowledged by whoever is new to it."""
        session, talk, reading = self._session, self._talk, self._reading
        with suppress(PoolerError):
            if sittings := session.live_elsewhere():
                topic = session.topic.topic if session.topic else ""
                talk.say(f"Warning: {live_words(sittings, topic)}")
        reading.topic()
        reading.grades()
        with suppress(PoolerError):
            reading.forecast()
        if not session.needs_briefing:
            return
        try:
            if session.guidelines() is not None:
                reading.guidelines()
        except PoolerError as error:
            self._say_error(error)
        while talk.is_interactive:
            leave = self._answers.name(Command.QUIT)
            answer = self._answers.read(
                talk.ask_after(f"\n{leave} quits", "Enter = the first document")
            )
            if not answer.text:
                break
            self._answer_briefing(answer)
        session.needs_briefing = False

    def _answer_briefing(self, answer: Answer) -> None:
        """Take an answer before the first document: nothing that decides."""
        if answer.meaning is Command.QUIT:
            raise EOFError
        if answer.meaning in (Command.INBOX, Command.TOPIC, Command.GUIDELINES, Command.HELP):
            self._do(answer)
        else:
            self._talk.say(f"{sanitise_line(answer.text)!r} was not used: no document is here yet")

    def _answer(self, answer: Answer) -> None:
        """Do what an answer means."""
        meaning, session = answer.meaning, self._session
        if meaning is Command.QUIT:
            raise EOFError
        left, settled = session.progress.left, False
        if self._awaits_retry and meaning is not Command.HELP:
            self._is_unread = bool(answer.text) and meaning is not Line.RETRY
            if self._is_unread:
                self._deciding.leave_unused()
        elif self._waits(meaning):
            settled = self._deciding.wait(answer)
        elif isinstance(meaning, int):
            if self._is_unread:
                self._talk.say("not graded: the document could not be read")
            else:
                settled = self._deciding.grade(meaning)
        elif meaning is None or meaning not in self._commands:
            self._go_on_or_wonder(answer)
        else:
            settled = self._do(answer)
        if settled and self._moving.is_round:
            self._next()
        elif settled and left and session.is_complete:
            self._sum_up()

    @property
    def _awaits_retry(self) -> bool:
        """Whether a script has to ask for a document that could not be read."""
        return self._is_unread and not self._talk.is_interactive

    def _waits(self, meaning: Act | int | None) -> bool:
        """Say whether an answer is for a decision that is not saved, or a document not here."""
        if meaning is Command.HELP:
            return False
        if self._session.pending is not None:
            return True
        can_go = self._talk.is_interactive and meaning in _ELSEWHERE
        return bool(self._session.trouble) and not can_go

    def _do(self, answer: Answer) -> bool:
        """Carry out a command; say whether a decision is settled."""
        command = self._commands[answer.meaning]  # type: ignore[index] # not a grade
        try:
            return bool(command(answer.rest))
        except PoolerError as error:
            self._say_error(error)
            return False

    def _go_on_or_wonder(self, answer: Answer) -> None:
        """Print more, or say that an answer means nothing."""
        if answer.text:
            help_key = self._answers.name(Command.HELP)
            self._talk.say(
                f"{sanitise_line(answer.text)!r} means nothing here; {help_key} lists the answers"
            )
        else:
            self._talk.show_more()

    def _next(self) -> None:
        """Go to the next document, of the round if there is one; sum up after the last."""
        moving = self._moving
        if not (moving.next_of_round() if moving.is_round else moving.next()):
            self._sum_up()

    def _go(self, rest: str) -> None:
        """Go to a document and print it, even if it is the one that is here."""
        if self._moving.go(rest):
            self._printed = None

    def _leave(self) -> None:
        """Go back to the topics."""
        raise _Leave

    def _sum_up(self) -> None:
        """Sum up the topic, and do what the judge wants after it."""
        self._moving.end_round()
        wish = sum_up(self._session, self._talk, self._answers, len(self._moving.quick))
        if wish is Afterwards.QUIT:
            raise EOFError
        if wish is Afterwards.INBOX:
            raise _Leave
        self._printed = None
        if wish is Afterwards.UNDO:
            self._deciding.undo()
        elif wish is not Afterwards.STAY:
            is_skipped = wish is Afterwards.SKIPPED
            self._moving.begin_round(self._moving.skipped if is_skipped else self._moving.quick)
            self._next()

    def _say_document(self) -> None:
        """Print the document before the judge, unless it was printed last."""
        session = self._session
        if session.trouble or self._awaits_retry:
            self._printed = None
            return
        if session.topic is None or session.task is None:
            self._talk.say("nothing to judge in this topic")
            raise _Leave
        here = (session.topic.topic, session.task.docno)
        if self._printed != here:
            self._talk.forget_typed()
            if self._printed is not None and self._printed[0] != here[0]:
                self._moving.end_round()
                self._reading.topic()
            try:
                self._read_document()
            except PoolerError as error:
                self._is_unread = True
                self._talk.say(f"this document could not be read: {sanitise_line(error.message)}")
                return
            self._is_unread = False
            self._printed = here
            self._deciding.say_unused()
        session.mark_shown(self._reading.page)

    def _read_document(self) -> None:
        """Print the document before the judge."""
        self._reading.document()

    def _say_error(self, error: PoolerError) -> None:
        """Print what went wrong."""
        hint = f"; {error.hint}" if error.hint else ""
        self._talk.say(sanitise_line(f"{error.message}{hint}"))

    def _prompt(self) -> str:
        """Write the question after a document."""
        waiting = self._deciding.waiting_question()
        if self._is_unread and not waiting:
            leave = self._answers.name(Command.QUIT)
            waiting = f"no document is here. Enter or retry = try again, {leave} quits"
        if waiting:
            return f"\n{waiting}"
        progress = self._session.progress
        done = f"{progress.total - progress.left}/{progress.total}"
        commands = ", ".join(f"{self._answers.name(one)} {one}" for one in _SHORT)
        more = f"; {self._talk.more}" if self._talk.more else ""
        return f"\n{done} {self._answers.grade_keys}, {commands}{more}"
