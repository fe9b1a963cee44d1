"""The line mode: the same session over plain lines, for screen readers, scripts and slow lines.

Nothing is redrawn and nothing moves: what is printed stays, every question ends in ``> ``, and
the end of the input quits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TextIO

from judge_ui.grades import grade_entries
from judge_ui.keys import OTHER_REASON, REASONS, Command, half_width, key_table
from judge_ui.messages import (
    ALL_DECIDED,
    NO_TEXT,
    clock_time,
    counted,
    goodbye,
    said,
    standing,
    tally,
    topic_name,
)
from judge_ui.session import JudgingSession, Outcome, Result
from store.errors import PoolerError
from store.records import Scale, State, Task
from store.sanitise import sanitise_line

_COMMANDS = {
    Command.SKIP: "skip",
    Command.CANNOT: "can't",
    Command.NOTE: "note",
    Command.UNDO: "undo",
    Command.NEXT: "next",
    Command.PREVIOUS: "previous",
    Command.TOPIC: "topic",
    Command.HELP: "help",
    Command.QUIT: "quit",
}
"""Commands of the line mode, in the order of the prompt, and the words that mean them too."""

_ALSO = {"cannot": Command.CANNOT}
"""Other words of a command."""

_INBOX = "topics"
"""The word that goes back to the topics: there is no escape key here."""


def run_plain(session: JudgingSession, read: TextIO, write: TextIO) -> int:
    """Run the line mode until the judge quits or the input ends.

    Parameters
    ----------
    session : JudgingSession
        What it drives; the caller ends it. A topic that is open is judged first. A script can
        answer as soon as a document is printed only where its ``min_dwell`` is 0.
    read, write : TextIO
        Where answers come from and words go to.

    Returns
    -------
    int
        0.
    """
    judge = _PlainJudge(session, read, write)
    try:
        judge.run()
    except EOFError:
        judge.say("")
    judge.say(goodbye(session))
    return 0


class _Leave(Exception):  # noqa: N818 - a way out, not an error
    """The judge leaves the open topic."""


class _PlainJudge:
    """One line-mode sitting; the parameters are those of `run_plain`."""

    def __init__(self, session: JudgingSession, read: TextIO, write: TextIO) -> None:
        self._session = session
        self._read = read
        self._write = write
        self._keys = key_table(session.scale)
        self._printed: tuple[str, str] | None = None
        self._words = _ALSO | {word: command for command, word in _COMMANDS.items()}

    def say(self, line: str) -> None:
        """Print one line."""
        self._write.write(line + "\n")
        self._write.flush()

    def run(self) -> None:
        """Go from topic to topic; raises `EOFError` at the end of the input or of the sitting."""
        if self._session.topic is None:
            self._choose_topic()
        while True:
            self._printed = None
            with suppress(_Leave):
                self._judge_topic()
            self._choose_topic()

    def _ask(self, question: str) -> str:
        """Print a question and read the answer; raises `EOFError` at the end of the input."""
        self._write.write(f"{question} > ")
        self._write.flush()
        line = self._read.readline()
        if not line:
            raise EOFError
        return line.strip()

    def _choose_topic(self) -> None:
        """List the topics and open one."""
        lines = self._session.inbox()
        self.say(f"Topics of {self._session.judge_name}")
        for line in lines:
            name = sanitise_line(f"{line.topic} {line.title}".rstrip())
            self.say(
                f"  {name}: {counted(line.documents, 'document')}, {line.judged} judged, "
                f"{line.skipped} skipped, {line.cannot} cannot be judged, {line.left} left"
            )
        if not lines:
            self.say("  none: no pool holds a document for you")
        first = next((line.topic for line in lines if line.left), None)
        default = f"Enter = {sanitise_line(first)}, " if first is not None else ""
        while True:
            answer = self._ask(f"topic? {default}{self._key(Command.QUIT)} quits")
            known = {line.topic for line in lines}
            if answer not in known and self._meaning(answer) is Command.QUIT:
                raise EOFError
            chosen = answer or first
            if chosen is None:
                self.say(ALL_DECIDED)
                continue
            try:
                self._session.open_topic(chosen)
            except PoolerError as error:
                self.say(sanitise_line(error.message))
            else:
                return

    def _judge_topic(self) -> None:
        """Judge the open topic until the judge leaves it."""
        self._say_topic()
        self._say_grades()
        while True:
            if self._say_document():
                self._session.mark_shown()
            self._answer(self._ask(self._prompt()))

    def _meaning(self, answer: str) -> int | Command | None:
        """Say what an answer means: a key, or a word in any case."""
        return self._words.get(answer.lower(), self._keys.meaning(answer))

    def _answer(self, answer: str) -> None:
        """Do what an answer means."""
        session = self._session
        meaning = self._meaning(answer)
        if isinstance(meaning, Command):
            commands: dict[Command, Callable[[], object]] = {
                Command.SKIP: partial(self._decide, session.skip),
                Command.CANNOT: self._cannot,
                Command.NOTE: self._note,
                Command.UNDO: lambda: self._tell(session.undo),
                Command.NEXT: lambda: self._move(session.go_next, "this is the last document"),
                Command.PREVIOUS: lambda: self._move(
                    session.go_previous, "this is the first document"
                ),
                Command.TOPIC: self._say_topic,
                Command.HELP: self._say_help,
            }
            if meaning is Command.QUIT:
                raise EOFError
            if meaning in commands:
                commands[meaning]()
        elif meaning is not None:
            self._decide(partial(session.grade, meaning))
        elif answer.lower() == _INBOX:
            raise _Leave
        elif answer:
            help_key = self._key(Command.HELP)
            self.say(f"{sanitise_line(answer)!r} means nothing here; {help_key} lists the answers")

    def _tell(self, act: Callable[[], Result]) -> Result:
        """Let the session act and print what came of it."""
        try:
            result = act()
        except PoolerError as error:
            result = Result(Outcome.FAILED, error.message)
        if result.outcome is not Outcome.CONFIRM:
            saved = f" (saved {clock_time(result.saved_at)})" if result.saved_at else ""
            self.say(f"{said(result)}{saved}")
        return result

    def _decide(self, act: Callable[..., Result]) -> None:
        """Let the session decide, asking first where it wants that; sum up at the end."""
        left = self._session.progress.left
        result = self._tell(act)
        if result.outcome is Outcome.CONFIRM:
            if self._ask(f"{said(result)} y/n").lower() not in ("y", "yes"):
                return
            result = self._tell(partial(act, confirmed=True))
        if left and self._session.is_complete:
            self._sum_up()

    def _cannot(self) -> None:
        """Ask why the document cannot be judged."""
        listed = ", ".join(f"{key} {reason}" for key, reason in REASONS)
        answer = half_width(self._ask(f"why? {listed}, Enter = back"))
        reason = dict(REASONS).get(answer, "")
        if answer == OTHER_REASON:
            reason = self._ask("in your words, Enter = back")
        if reason:
            self._decide(partial(self._session.cannot, reason))

    def _note(self) -> None:
        """Ask for a note."""
        task = self._session.task
        if task is None:
            return
        if task.note:
            self.say(f"note so far: {sanitise_line(task.note)}")
        answer = self._ask("note? Enter = as it was, - = none")
        if answer:
            self._tell(partial(self._session.note, "" if answer == "-" else answer))

    def _move(self, go: Callable[[], bool], otherwise: str) -> None:
        """Go to another document."""
        try:
            moved = go()
        except PoolerError as error:
            self.say(sanitise_line(error.message))
        else:
            if not moved:
                self.say(otherwise)

    def _sum_up(self) -> None:
        """Print the counts of a topic that is done, and ask what to do next."""
        session = self._session
        self.say(f"\n{topic_name(session)}: {ALL_DECIDED}")
        for name, count in tally(session.tasks, session.scale):
            self.say(f"  {name}: {count}")
        skipped = session.progress.skipped
        more = f"{self._key(Command.SKIP)} = the {skipped} skipped, " if skipped else ""
        answer = self._ask(
            f"Enter = topics, {more}{self._key(Command.UNDO)} = undo, "
            f"d = stay with the documents, {self._key(Command.QUIT)} quits"
        )
        meaning = self._meaning(answer)
        if meaning is Command.QUIT:
            raise EOFError
        if meaning is Command.UNDO:
            self._tell(session.undo)
        elif meaning is Command.SKIP and skipped:
            session.go_to_state(State.SKIPPED)
        elif answer.lower() != "d":
            raise _Leave

    def _say_topic(self) -> None:
        """Print the topic."""
        topic = self._session.topic
        if topic is None:
            return
        self.say(f"\nTopic {topic_name(self._session)}")
        for name, text in (("Description", topic.description), ("Narrative", topic.narrative)):
            if text.strip():
                self.say(f"{name}: {text.strip()}")

    def _say_grades(self) -> None:
        """Print the grades and their keys."""
        names = (f"{key} = {name}" for key, name in grade_entries(self._session.scale))
        self.say(f"Grades: {', '.join(names)}")

    def _say_help(self) -> None:
        """Print every answer and what it does."""
        self._say_grades()
        for command, word in _COMMANDS.items():
            self.say(f"  {self._key(command)} or {word}")
        self.say(f"  {_INBOX}: back to the topics")

    def _say_document(self) -> bool:
        """Print the document before the judge, unless it was printed last; False = unreadable."""
        topic, task = self._session.topic, self._session.task
        if topic is None or task is None:
            self.say("nothing to judge in this topic")
            raise _Leave
        if self._printed == (topic.topic, task.docno):
            return True
        if self._printed is not None and self._printed[0] != topic.topic:
            self._say_topic()
        stands = _where_it_stands(task, self._session.scale)
        self.say(f"\nDocument {sanitise_line(task.docno)}{stands}")
        try:
            page = self._session.page()
        except PoolerError as error:
            self.say(f"this document could not be read: {sanitise_line(error.message)}")
            return False
        if page.title:
            self.say(f"Title: {page.title}")
        self.say(NO_TEXT if page.text is None else page.text)
        self._printed = (topic.topic, task.docno)
        return True

    def _prompt(self) -> str:
        """Write the question after a document."""
        progress = self._session.progress
        done = f"{progress.total - progress.left}/{progress.total}"
        commands = (
            f"{self._key(command)} {word}"
            for command, word in _COMMANDS.items()
            if command is not Command.HELP
        )
        return f"\n{done} {_grade_keys(self._session.scale)}, {', '.join(commands)}"

    def _key(self, command: Command) -> str:
        """Name what to type for a command: a character where one is free, else its word."""
        name = self._keys.name(command)
        return name if len(name) == 1 else _COMMANDS[command]


def _where_it_stands(task: Task, scale: Scale) -> str:
    """Say how a document stands that has been seen before."""
    stands = "" if task.state is State.UNJUDGED else f" ({standing(task, scale)})"
    return f"{stands} (note: {sanitise_line(task.note)})" if task.note else stands


def _grade_keys(scale: Scale) -> str:
    """Name the grade keys in short."""
    keys = [sanitise_line(grade.key) for grade in scale.grades]
    consecutive = "".join(keys) in "0123456789"
    return f"grade {keys[0]}-{keys[-1]}" if consecutive else f"grade {'/'.join(keys)}"
