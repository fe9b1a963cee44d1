"""The line mode: the same session over plain lines, for a judge and for an adjudicator.

Nothing is redrawn and nothing moves: what is printed stays, every question ends in ``> ``, and
the end of the input quits.
"""

from __future__ import annotations

import select
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from threading import Timer
from typing import NamedTuple, TextIO

from judge_ui.session.keys import OTHER_REASON, REASONS, Command, KeyTable, half_width, key_table
from judge_ui.session.messages import (
    ALL_DECIDED,
    NO_TEXT,
    NextStep,
    clock_time,
    conclusion,
    conflict_words,
    goal_words,
    goodbye,
    guidelines_title,
    history_words,
    last_topic,
    next_step,
    opinion_lines,
    own_keys,
    refusal,
    remarks,
    result_text,
    skipped_words,
    state_words,
    tally,
    text_shown,
    topic_name,
    warning_of_others,
)
from judge_ui.session.queue import Filter
from judge_ui.session.session import AdjudicatingSession, JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult, tried
from judge_ui.text.finding import Span, find_spans, query_terms, term_spans
from judge_ui.text.marking import sentence_spans
from store.errors import PoolerError
from store.records import InboxLine, Scale, ShownDocument, State
from store.text import counted, sanitise_line

RETRY = "retry"
"""A command that only the line mode has."""

Act = Command | str


class Use(NamedTuple):
    """How a command of the line mode is used."""

    word: str
    explanation: str
    example: str = ""
    """Of what may follow the word; empty = nothing may."""


_REASONS = ", ".join(f"{key} {reason}" for key, reason in REASONS)

USES: Mapping[Act, Use] = {
    Command.SKIP: Use("skip", Command.SKIP.explanation),
    Command.CANNOT: Use(
        "can't", f"cannot be judged; asks why, unless one of these follows: {_REASONS}", "c 2"
    ),
    Command.NOTE: Use("note", "write or change the note; - removes it", "note ask Ann"),
    Command.UNDO: Use("undo", Command.UNDO.explanation),
    Command.NEXT: Use("next", Command.NEXT.explanation),
    Command.FIND: Use(
        "find", "sentences with these words; by default, with the topic's words", "find bridge"
    ),
    RETRY: Use(RETRY, "try again to save what could not be saved"),
    Command.HELP: Use("help", "these lines"),
    Command.QUIT: Use("quit", Command.QUIT.explanation),
}
"""Every command of the line mode in the order of the help."""

_WORDS: Mapping[str, Act] = {
    "cannot": Command.CANNOT,
    "exit": Command.QUIT,
    **{use.word: act for act, use in USES.items()},
}


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """What was answered."""

    text: str
    """As it was typed."""
    meaning: int | Act | None
    """A grade value, a command, or nothing."""
    rest: str = ""
    """What follows the command, as it was typed."""


class Answers:
    """Reads answers as the keys and words of one scale.

    Examples
    --------
    >>> from judge_ui.session.keys import key_table
    >>> from store.formats.scale import parse_scale
    >>> scale = parse_scale("0-3")
    >>> answers = Answers(key_table(scale), scale)
    >>> answers.read("２").meaning, answers.read("SKIP").meaning
    (2, <Command.SKIP: 'skip'>)
    >>> answers.read("/ bridge").rest, answers.read("2 2").meaning
    ('bridge', None)
    """

    def __init__(self, keys: KeyTable, scale: Scale) -> None:
        self._keys = keys
        self._values = {str(value): value for value in scale.values}
        self.grades: list[tuple[str, str]] = []
        """What to type for every grade, and its name: the value only where it is not typed."""
        for grade in scale.grades:
            key = sanitise_line(keys.of_grade[grade.value])
            label = sanitise_line(grade.label)
            self.grades.append((key, label if key == str(grade.value) else f"{grade.value} {label}"))

    def read(self, text: str) -> TypedAnswer:
        """Return what an answer means: a command by all of it, or by its first word where more may follow.

        Case does not matter, and letters may be full width. A grade is meant by its key or, where the value
        is no single character, by its value; never by a part of an answer.
        """
        text = text.strip()
        whole = self._meaning(text)
        if whole is not None:
            return TypedAnswer(text, whole)
        first, rest = (*text.split(maxsplit=1), "", "")[:2]
        meaning = self._meaning(first)
        if rest and isinstance(meaning, Command) and meaning in USES and USES[meaning].example:
            return TypedAnswer(text, meaning, rest)
        slash = self._keys.name(Command.FIND)
        if half_width(text[:1]) == slash and not slash.isalnum():
            return TypedAnswer(text, Command.FIND, text[1:].strip())
        return TypedAnswer(text, None)

    def name(self, act: Act) -> str:
        """Name what to type for a command: a character where one is free, else its word."""
        name = self._keys.name(act) if isinstance(act, Command) else ""
        return name if len(name) == 1 else USES[act].word

    @property
    def grade_keys(self) -> str:
        """What to type for a grade, in short, as in ``grade 0-3``."""
        keys = [key for key, _ in self.grades]
        consecutive = "".join(keys) in "0123456789"
        return f"grade {keys[0]}-{keys[-1]}" if consecutive else f"grade {'/'.join(keys)}"

    def names(self, act: Act) -> str:
        """Name everything that means a command, as in ``s or skip``."""
        name, word = self.name(act), USES[act].word
        return word if name == word else f"{name} or {word}"

    def help_lines(self) -> list[str]:
        """Write every answer and what it does."""
        lines = ["Grades: each is saved at once"]
        lines += [f"  {key}: {name}" for key, name in self.grades]
        lines.append("Commands: a key or a word, in any case")
        for act, use in USES.items():
            word, _, rest = use.example.partition(" ")
            # A key that the scale takes is not the command's.
            example = f", as in `{self.name(act) if len(word) == 1 else word} {rest}`" if word else ""
            lines.append(f"  {self.names(act)}: {use.explanation}{example}")
        lines.append("The end of the input quits.")
        return lines

    def _meaning(self, text: str) -> int | Act | None:
        # Full-width characters are those of ASCII, and every apostrophe is alike.
        plain = " ".join("".join(map(half_width, text)).replace("\u2019", "'").split())
        if plain.lower() in _WORDS:
            return _WORDS[plain.lower()]
        meaning = self._keys.meaning(plain) if plain else None
        return self._values.get(plain) if meaning is None and len(plain) > 1 else meaning


YES = ("y", "yes", "ｙ")


class Talk:
    """Lines out and answers in."""

    def __init__(self, read: TextIO, write: TextIO) -> None:
        self._read = read
        self._write = write
        self.is_interactive = read.isatty()
        """Whether somebody types the answers: a script gives them before it has seen anything."""

    def say(self, text: str = "") -> None:
        """Print a line, or several."""
        self._write.write(text if text.endswith("\n") else f"{text}\n")
        self._write.flush()

    def ask(self, question: str) -> str:
        """Print a question and return the answer without blanks around it.

        `EOFError` at the end of the input.
        """
        self._write.write(f"{question} > ")
        self._write.flush()
        line = self._read.readline()
        if not line:
            raise EOFError
        return line.strip()

    def forget_typed(self) -> None:
        """Drop the lines that were typed before there was a question to answer, and say so.

        What is pasted or typed ahead is meant for what is on the terminal already. A script's answers are all
        there from the start, and none is dropped.
        """
        dropped = 0
        while self.is_interactive and self._has_typed():
            if not self._read.readline():
                raise EOFError
            dropped += 1
        if dropped:
            self.say(f"{counted(dropped, 'line')} typed too early: ignored")

    def _has_typed(self) -> bool:
        try:
            return bool(select.select([self._read], [], [], 0)[0])
        except (OSError, ValueError):  # no terminal after all, or none that can be asked
            return False


_START = itemgetter(0)


def hit_lines(text: str, spans: Sequence[Span]) -> list[str]:
    r"""Write the sentences that have hits, with these in double brackets; a hit may reach into the next ones.

    Examples
    --------
    >>> hit_lines("A bridge. None.\nBridge!", [(2, 8), (16, 22)])
    ['line 1, sentence 1: A [[bridge]].', 'line 2, sentence 3: [[Bridge]]!']
    """
    sentences = sentence_spans(text)
    lines = []
    at = place = newlines = 0
    while at < len(spans):
        first = spans[at][0]
        number = max(bisect_right(sentences, first, key=_START), 1)
        newlines += text.count("\n", place, first)
        done, end = sentences[number - 1]
        place, end, written = first, max(end, first + 1), ""
        while at < len(spans) and spans[at][0] < end:
            start, stop = spans[at]
            end = max(end, sentences[bisect_right(sentences, stop - 1, key=_START) - 1][1])
            written += f"{text[done:start]}[[{text[start:stop]}]]"
            done, at = stop, at + 1
        written = (written + text[done:end]).translate(_BLANKS)
        lines.append(f"line {newlines + 1}, sentence {number}: {written}")
    return lines


_BLANKS = str.maketrans("\n\t", "  ")


TO_TOPICS = "topics"
"""What to type after a topic to leave its skipped documents: no command, lest one typed too often leaves."""

_SETTLED = (KeyOutcome.SAVED, KeyOutcome.STUCK, KeyOutcome.UNCHANGED)
"""Outcomes after which a decision stands in the store."""

_SHORT = (Command.SKIP, Command.CANNOT, Command.NOTE, Command.UNDO, Command.NEXT, Command.QUIT, Command.HELP)
"""Commands that every question names; the help names the others."""

_AGAIN = "Enter or retry = try again"
_SOON_S = 1.0
"""After so long it is said that a decision waits to be written."""


def run_plain(session: JudgingSession, read: TextIO, write: TextIO) -> int:
    """Run the line mode until the judge quits or the input ends; return how many answers were ignored.

    The caller ends the session.

    Where `read` is no terminal its answers are a script's: taken in order, one for each question about a
    document, and the judge is not asked to begin. A script can answer as soon as a document is printed only
    where the session's ``min_dwell`` is 0.
    """
    return PlainJudge(session, Talk(read, write), key_table(session.scale)).sit()


class _Leave(Exception):  # noqa: N818 - a way out, not an error
    """The judge leaves the open topic."""


class PlainJudge:
    """One line-mode sitting."""

    def __init__(self, session: JudgingSession, talk: Talk, keys: KeyTable) -> None:
        self._session = session
        self._talk = talk
        self._say = talk.say
        self._answers = Answers(keys, session.scale)
        self._page: ShownDocument | None = None
        """What was printed last; ``None`` = it could not be read."""
        self._printed: tuple[str, str] | None = None
        self._is_unread = False
        self._round: list[str] | None = None
        """Skipped documents that are still to be gone over; ``None`` = the usual way is gone."""
        self._n_unused = 0
        """A script's answers that were given for documents it never came to."""
        self._n_ignored = 0
        """Those of them that were reported."""
        self._n_unasked = 0
        """Documents without a text that a script graded: it cannot be asked first."""

    def sit(self) -> int:
        """Judge until the judge quits or the input ends; return how many answers were ignored."""
        with suppress(EOFError):
            if self._session.topic is None:
                self._choose_topic()
            while True:
                with suppress(_Leave):
                    self._judge_topic()
                self._choose_topic()
        self._say()
        self._finish()
        self._say(goodbye(self._session))
        return self._n_ignored

    def _finish(self) -> None:
        """Try a last time to write what is not saved, before the sitting ends.

        A decision that met another one elsewhere is taken back: the other was never asked about.
        """
        self._say_unused()
        if self._n_unasked:
            self._say(f"{counted(self._n_unasked, 'document')} graded without a text to judge")
        with suppress(EOFError):
            if self._session.pending is not None:
                self._tell(self._session.retry, ask=False)
            if self._session.conflict is not None:
                self._tell(self._session.keep_theirs, ask=False)

    def _say_unused(self) -> None:
        if self._n_unused:
            were = "was" if self._n_unused == 1 else "were"
            self._say(f"{counted(self._n_unused, 'answer')} {were} ignored")
            self._n_ignored += self._n_unused
            self._n_unused = 0

    def _choose_topic(self) -> None:
        lines = self._session.desk.inbox()
        self._say(f"Topics of {self._session.desk.judge_name}")
        for line in lines:
            name = sanitise_line(f"{line.topic} {line.title}".rstrip())
            self._say(
                f"  {name}: {counted(line.documents, 'document')}, {line.judged} judged, "
                f"{line.skipped} skipped, {line.cannot} cannot be judged, {line.left} left"
            )
        if not lines:
            self._say("  none: no pool holds a document for you")
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
            self._say("the goal is reached where documents are left" if is_left else ALL_DECIDED)
            return False
        if chosen not in known:
            self._say(f"`{sanitise_line(chosen)}` is none of these topics")
            self._n_unused += not self._talk.is_interactive
            return False
        while True:
            try:
                self._session.open_topic(chosen)
            except PoolerError as error:
                self._say(refusal(error))
                if not self._tries_again(chosen):
                    return False
            else:
                self._say_unused()
                return True

    def _tries_again(self, topic: str) -> bool:
        """Ask whether to try once more to open a topic; a script gets no further than this."""
        leave = self._answers.name(Command.QUIT)
        while True:
            text = self._talk.ask(f"{sanitise_line(topic)} is not open. {_AGAIN}, {leave} quits")
            meaning = self._answers.read(text).meaning
            if meaning is Command.QUIT:
                raise EOFError
            if not text or meaning == RETRY:
                return True
            if self._talk.is_interactive:
                self._say(f"{sanitise_line(text)!r} was ignored")
                return False
            self._n_unused += 1

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
        session, talk = self._session, self._talk
        if warning := warning_of_others(session):
            self._say(f"Warning: {warning}")
        self._say_topic()
        self._say(f"Grades: {', '.join(f'{key} = {name}' for key, name in self._answers.grades)}")
        if not session.needs_briefing:
            return
        try:
            if (found := session.desk.guidelines()) is not None:
                self._say(f"\n{guidelines_title(found)}")
                self._say(found.text.strip("\n"))
        except PoolerError as error:
            self._say(refusal(error))
        while talk.is_interactive:
            leave = self._answers.name(Command.QUIT)
            answer = self._answers.read(talk.ask(f"\n{leave} quits, Enter = the first document"))
            if not answer.text:
                break
            if answer.meaning is Command.QUIT:
                raise EOFError
            if answer.meaning is Command.HELP:
                self._say("\n".join(self._answers.help_lines()))
            else:
                self._say(f"{sanitise_line(answer.text)!r} was ignored: no document is shown yet")
        session.needs_briefing = False

    def _say_topic(self) -> None:
        topic = self._session.topic
        if topic is None:
            return
        self._say(f"\nTopic {topic_name(self._session)}")
        for name, text in (("Description", topic.description), ("Narrative", topic.narrative)):
            if text.strip():
                self._say(f"{name}: {text.strip()}")

    def _say_document(self) -> None:
        session = self._session
        if session.trouble or self._awaits_retry:
            self._printed = None
            return
        here = session.here
        if here is None:
            self._say("nothing to judge in this topic")
            raise _Leave
        if self._printed != here:
            self._talk.forget_typed()
            if self._printed is not None and self._printed[0] != here[0]:
                self._round = None
                self._say_topic()
            try:
                self._say_opinions()
                self._read_out()
            except PoolerError as error:
                self._is_unread = True
                self._say(f"this document could not be read: {sanitise_line(error.message)}")
                return
            self._is_unread = False
            self._printed = here
            self._say_unused()
        session.mark_shown(self._page)

    def _say_opinions(self) -> None:
        scale, task, session = self._session.scale, self._session.task, self._session
        found = session.disagreement() if isinstance(session, AdjudicatingSession) else None
        if found is None or task is None:
            return
        gap = f", gap {found.gap}" if found.gap is not None else ""
        self._say(f"\nDisagreement on {sanitise_line(task.docno)}{gap}")
        for opinion in found.opinions:
            self._say("\n  ".join(opinion_lines(opinion, scale)))
        if words := history_words(found, scale):
            self._say(words)

    def _read_out(self) -> None:
        """Print the document: in brackets how it stands, if it was decided on before; then all of it."""
        self._page = None
        task = self._session.task
        if task is None:
            return
        judged = "judged: " if task.state is State.JUDGED else ""
        standing = [f"{judged}{state_words(task, self._session.scale)}"]
        standing = [] if task.state is State.UNJUDGED else standing
        standing += [f"note: {sanitise_line(task.note)}"] if task.note else []
        standing += [f"{counted(len(task.passages), 'passage')} marked"] if task.passages else []
        self._say(f"\nDocument {sanitise_line(task.docno)}{''.join(f' ({one})' for one in standing)}")
        self._page = page = self._session.page()
        title = [("Title", page.title)] if page.title else []
        for name, value in [*title, *remarks(page)]:
            self._say(f"{name}: {value}")
        self._say(text_shown(page))

    def _prompt(self) -> str:
        session, name = self._session, self._answers.name
        undo, leave = name(Command.UNDO), name(Command.QUIT)
        if session.pending is not None:
            unsaved = f"NOT SAVED: {sanitise_line(session.pending.words)}"
            return f"\n{unsaved}. {_AGAIN}, {undo} = give it up, {leave} quits"
        if session.trouble or self._is_unread:
            back = f", {undo} undo" if session.trouble else ""
            return f"\nno document is shown. {_AGAIN}{back}, {leave} quits"
        progress = session.progress
        done = f"{progress.decided}/{progress.total}{skipped_words(progress.skipped, ', ')}"
        commands = ", ".join(f"{name(one)} {one}" for one in _SHORT)
        return f"\n{done} {self._answers.grade_keys}, {commands}"

    def _answer(self, answer: TypedAnswer) -> None:
        meaning, session = answer.meaning, self._session
        if meaning is Command.QUIT:
            raise EOFError
        before, settled = session.progress, False
        if self._awaits_retry and meaning is not Command.HELP:
            self._is_unread = bool(answer.text) and meaning != RETRY
            self._n_unused += self._is_unread
        elif self._waits(meaning):
            settled = self._wait(answer)
        elif isinstance(meaning, int):
            if self._is_unread:
                self._say("not graded: the document could not be read")
            else:
                settled = self._grade(meaning)
        elif meaning in USES:
            try:
                settled = self._do(meaning, answer.rest)
            except PoolerError as error:
                self._say(refusal(error))
        elif answer.text:
            help_key = self._answers.name(Command.HELP)
            self._say(f"{sanitise_line(answer.text)!r} is not an answer here; {help_key} lists the answers")
        if settled and self._round is not None:
            self._next()
        elif settled and session.reaches_end(before):
            self._sum_up()
        elif settled and session.offers_end():
            if self._talk.is_interactive:
                self._sum_up()
            else:
                # A script's next answer is meant for the next document.
                self._say(goal_words(session))

    @property
    def _awaits_retry(self) -> bool:
        """Whether a script has to ask for a document that could not be read."""
        return self._is_unread and not self._talk.is_interactive

    def _waits(self, meaning: Act | int | None) -> bool:
        """Return whether an answer is for a decision that is not saved, or a document not here."""
        if meaning is Command.HELP:
            return False
        can_go = self._talk.is_interactive and meaning is Command.NEXT
        return self._session.pending is not None or (bool(self._session.trouble) and not can_go)

    def _wait(self, answer: TypedAnswer) -> bool:
        """Read an answer while a decision is not saved or no document came; return whether it is settled.

        Where somebody types, another decision about the document takes the place of the one that waits, and
        anything else makes it tried once more. A script's answers were given without knowing of any of this,
        and its next grade is meant for the next document: it gets no further unless it says retry, or undo at
        once.
        """
        session, meaning = self._session, answer.meaning
        settled = False
        if meaning is Command.UNDO and not self._n_unused:
            self._tell(session.undo)
        elif not answer.text or meaning == RETRY:
            settled = self._tell(session.retry).outcome in _SETTLED
            if settled:
                self._say_unused()
        elif not self._talk.is_interactive:
            self._n_unused += 1
        elif session.trouble:
            self._say(f"{sanitise_line(answer.text)!r} was ignored: no document is shown")
        elif isinstance(meaning, int):
            settled = self._grade(meaning)
        elif meaning in (Command.SKIP, Command.CANNOT):
            settled = self._do(meaning, answer.rest)
        else:
            settled = self._tell(session.retry).outcome in _SETTLED
            if session.pending is None:
                self._say(f"{sanitise_line(answer.text)!r} was ignored: answer again")
        return settled

    def _do(self, act: Act | None, rest: str) -> bool:
        if act is Command.SKIP:
            return self._decide(self._session.skip)
        if act is Command.CANNOT:
            return self._cannot(rest)
        if act is Command.NOTE:
            self._note(rest)
        elif act is Command.UNDO:
            self._tell(self._session.undo)
        elif act is Command.NEXT:
            self._next()
        elif act is Command.FIND:
            self._find(rest)
        elif act is Command.HELP:
            self._say("\n".join(self._answers.help_lines()))
        else:
            self._say("nothing is left to save")
        return False

    def _grade(self, value: int) -> bool:
        """Give a grade; a script is not asked first, as its next answer is meant for the next document."""
        act = partial(self._session.grade, value, revises=not self._talk.is_interactive)
        if self._talk.is_interactive:
            return self._decide(act)
        result = self._tell(act)
        if result.outcome is KeyOutcome.CONFIRM:
            self._n_unasked += 1
            result = self._tell(partial(act, confirmed=True))
        return result.outcome in _SETTLED

    def _cannot(self, rest: str) -> bool:
        reasons = dict(REASONS)
        key = half_width(rest)
        while key not in reasons and len(key) < 2:
            key = half_width(self._talk.ask(f"why? {_REASONS}, Enter = back"))
            if not key:
                return False
            if key not in reasons:
                self._say(f"{sanitise_line(key)!r} is none of these")
                key = ""
        reason = reasons.get(key, rest)
        if key == OTHER_REASON:
            reason = self._talk.ask("in your words, Enter = back")
            self._talk.forget_typed()  # of a text that was pasted the first line is taken
        return bool(reason) and self._decide(partial(self._session.cannot, reason))

    def _note(self, rest: str) -> None:
        if not rest:
            if self._session.task is not None and self._session.task.note:
                self._say(f"note so far: {sanitise_line(self._session.task.note)}")
            rest = self._talk.ask("note? Enter = keep it, - = none")
            self._talk.forget_typed()  # of a text that was pasted the first line is taken
        if rest:
            self._tell(partial(self._session.note, "" if rest == "-" else rest))

    def _find(self, rest: str) -> None:
        if not rest:
            rest = self._talk.ask("find what? Enter = words of the topic")
        page, topic = self._page or self._session.page(), self._session.topic
        text = page.text or ""
        terms = () if topic is None else query_terms(topic)
        lines = hit_lines(text, find_spans(text, rest) if rest else term_spans(text, terms))
        what = f"`{sanitise_line(rest)}`" if rest else "words of the topic"
        nothing = NO_TEXT if page.text is None else f"no {what} in this document"
        self._say("\n".join([f"{counted(len(lines), 'sentence')} with {what}", *lines]) if lines else nothing)

    def _next(self) -> None:
        """Go to the next document, of the round if there is one; sum up after the last."""
        session = self._session
        if self._round is None:
            if session.go_next():
                return
            if not session.is_through:
                self._say("this is the last document")
                return
        while left := self._round:
            place = session.queue.place_of(left.pop(0))
            if place is not None:
                session.go_to(place)
                self._say(f"{len(left) or 'the last'}{' more' if left else ''} to go over")
                return
        self._sum_up()

    def _sum_up(self) -> None:
        session = self._session
        self._round = None
        self._say(f"\n{topic_name(session)}: {conclusion(session)}")
        for name, count in tally(session.tasks, session.scale):
            self._say(f"  {name}: {count}")
        if words := goal_words(session):
            self._say(words)
        step = self._ask_next_step()
        if step is NextStep.QUIT:
            raise EOFError
        if step is NextStep.INBOX:
            raise _Leave
        self._printed = None
        if step is NextStep.UNDO:
            self._tell(session.undo)
        elif step is NextStep.SKIPPED:
            self._round = session.docnos(Filter.SKIPPED)
            self._next()

    def _ask_next_step(self) -> NextStep:
        n_skipped, may_end = self._session.progress.skipped, self._session.is_at_goal
        own = own_keys(lambda key: self._answers.read(key).meaning)
        stay, name = own[NextStep.STAY], self._answers.name
        is_first = n_skipped > 0 and not may_end
        to_skipped, to_topics = ("Enter", TO_TOPICS) if is_first else (name(Command.SKIP), "Enter")
        offers = {
            NextStep.SKIPPED: f"{to_skipped} = the {n_skipped} skipped" if n_skipped else "",
            NextStep.INBOX: f"{to_topics} = {'stop here, ' if may_end else ''}topics",
            NextStep.UNDO: f"{name(Command.UNDO)} = undo",
            NextStep.STAY: f"{stay} = {'go on judging' if may_end else 'stay with the documents'}",
            NextStep.QUIT: f"{name(Command.QUIT)} quits",
        }
        while text := self._talk.ask(", ".join(filter(None, offers.values()))):
            if text.lower() == TO_TOPICS:
                return NextStep.INBOX
            step = next_step(self._answers.read(text).meaning, half_width(text).lower(), own)
            if step is not None and offers.get(step):
                return step
            self._say(f"{sanitise_line(text)!r} means nothing here")
            self._n_unused += not self._talk.is_interactive
        return NextStep.SKIPPED if is_first else NextStep.INBOX

    def _decide(self, act: Callable[..., KeyResult]) -> bool:
        """Let the session decide, asking first where it wants that; return whether it is settled."""
        result = self._tell(act)
        if result.outcome is KeyOutcome.CONFIRM:
            if self._talk.ask(f"{result_text(result)} y/n").lower() not in YES:
                return False
            result = self._tell(partial(act, confirmed=True))
        return result.outcome in _SETTLED

    def _tell(self, act: Callable[[], KeyResult], *, ask: bool = True) -> KeyResult:
        """Let the session act, and print the outcome.

        `ask`: whether to ask what is to stand where the same judge decided elsewhere.
        """
        wait = Timer(_SOON_S, self._say, ["waiting for the disk"])
        wait.start()
        try:
            result = tried(act)
        finally:
            wait.cancel()
        if result.outcome is KeyOutcome.CONFLICT and ask:
            return self._settle()
        if result.outcome is not KeyOutcome.CONFIRM:
            saved = f" (saved {clock_time(result.saved_at)})" if result.saved_at else ""
            if words := f"{result_text(result)}{saved}":
                self._say(words)
        if result.outcome is KeyOutcome.FAILED:
            self._talk.forget_typed()
        return result

    def _settle(self) -> KeyResult:
        self._talk.forget_typed()
        while (conflict := self._session.conflict) is not None:
            happened, replacing = conflict_words(conflict, self._session.scale)
            self._say(happened)
            answer = self._talk.ask(f"k = keep that, r = {replacing}; both stay in the history")
            answer = "".join(map(half_width, answer)).lower()
            if answer in ("k", "keep"):
                result = self._tell(self._session.keep_theirs)
            elif answer in ("r", "replace"):
                result = self._tell(self._session.replace_theirs)
            else:
                self._say("k or r")
                continue
            if result.outcome is not KeyOutcome.FAILED or self._session.conflict is None:
                return result
        return KeyResult(KeyOutcome.NOTHING)
