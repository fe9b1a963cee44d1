"""The line mode: the same session over plain lines, for a judge and for an adjudicator.

Nothing is redrawn and nothing moves: what is printed stays, every question ends in ``> ``, and
the end of the input quits.
"""

from __future__ import annotations

import re
import select
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from operator import itemgetter
from typing import NamedTuple, TextIO

from judge_ui.session.adjudicating import AdjudicatingSession
from judge_ui.session.ending import (
    ALL_DECIDED,
    NextStep,
    conclusion,
    goal_words,
    last_topic,
    next_step,
    own_keys,
    tally,
)
from judge_ui.session.keys import OTHER_REASON, REASONS, Command, KeyTable, half_width, key_table
from judge_ui.session.messages import (
    NO_TEXT,
    clock_time,
    conflict_words,
    goodbye,
    guidelines_title,
    history_words,
    opinion_lines,
    refusal,
    remarks,
    result_text,
    skipped_words,
    state_words,
    text_shown,
    topic_name,
    warning_of_others,
)
from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult, tried
from judge_ui.text.finding import find_spans, query_terms, term_spans
from judge_ui.text.folding import Span
from judge_ui.text.marking import sentence_spans
from store.errors import PoolerError, UnknownNameError
from store.records import InboxLine, Scale, ShownDocument, State, Task
from store.text import counted, sanitise_line


class AnswerLine(StrEnum):
    """What only the line mode has."""

    RETRY = "retry"


Act = Command | AnswerLine


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
    AnswerLine.RETRY: Use("retry", "try again to save what could not be saved"),
    Command.HELP: Use("help", "these lines"),
    Command.QUIT: Use("quit", Command.QUIT.explanation),
}
"""Every command of the line mode in the order of the help."""

_FOLLOWED = frozenset(act for act, use in USES.items() if use.example)

_ALSO: Mapping[str, Act] = {"cannot": Command.CANNOT, "exit": Command.QUIT}


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
        self._scale = scale
        self._words: dict[str, Act] = dict(_ALSO) | {use.word: act for act, use in USES.items()}

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
        if rest and meaning in _FOLLOWED:
            return TypedAnswer(text, meaning, rest)
        slash = self._keys.name(Command.FIND)
        if half_width(text[:1]) == slash and not slash.isalnum():
            return TypedAnswer(text, Command.FIND, text[1:].strip())
        return TypedAnswer(text, None)

    def name(self, act: Act) -> str:
        """Name what to type for a command: a character where one is free, else its word."""
        name = "" if isinstance(act, AnswerLine) else self._keys.name(act)
        return name if len(name) == 1 else USES[act].word

    @property
    def grades(self) -> list[tuple[str, str]]:
        """What to type for every grade, and its name: the value only where it is not typed."""
        entries = []
        for grade in self._scale.grades:
            keys = self._keys.of_grade[grade.value]
            key = sanitise_line(next((one for one in keys if len(one) == 1), keys[0]))
            label = sanitise_line(grade.label)
            entries.append((key, label if key == str(grade.value) else f"{grade.value} {label}"))
        return entries

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

    def _meaning(self, text: str) -> int | Act | None:
        plain = _plain(text)
        if plain.lower() in self._words:
            return self._words[plain.lower()]
        meaning = self._keys.meaning(plain) if plain else None
        if meaning is None and len(plain) > 1:
            meaning = {str(value): value for value in self._scale.values}.get(plain)
        return meaning


def _plain(text: str) -> str:
    """Write full-width characters as those of ASCII, and every apostrophe alike."""
    return " ".join("".join(map(half_width, text)).replace("\u2019", "'").split())


YES = ("y", "yes", "ｙ")


class Talk:
    """Lines out and answers in."""

    def __init__(self, read: TextIO, write: TextIO) -> None:
        self._read = read
        self._write = write
        self.n_unused = 0
        """A script's answers that were given for documents it never came to."""
        self.n_ignored = 0
        """Those of them that were reported."""
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

    def ignore(self, words: str) -> None:
        """Print why an answer has no effect, and count it where a script gave it."""
        self.say(words)
        self.n_unused += not self.is_interactive

    def say_unused(self) -> None:
        """Print how many answers of a script were not used, if any."""
        if self.n_unused:
            were = "was" if self.n_unused == 1 else "were"
            self.say(f"{counted(self.n_unused, 'answer')} {were} ignored")
            self.n_ignored += self.n_unused
            self.n_unused = 0

    def _has_typed(self) -> bool:
        try:
            return bool(select.select([self._read], [], [], 0)[0])
        except (OSError, ValueError):  # no terminal after all, or none that can be asked
            return False


def help_lines(answers: Answers) -> list[str]:
    """Write every answer and what it does."""
    lines = ["Grades: each is saved at once"]
    lines += [f"  {key}: {name}" for key, name in answers.grades]
    lines.append("Commands: a key or a word, in any case")
    for act, use in USES.items():
        word, _, rest = use.example.partition(" ")
        # A key that the scale takes is not the command's.
        example = f", as in `{answers.name(act) if len(word) == 1 else word} {rest}`" if word else ""
        lines.append(f"  {answers.names(act)}: {use.explanation}{example}")
    lines.append("The end of the input quits.")
    return lines


def where_it_stands(task: Task, scale: Scale) -> str:
    """Return in brackets how a document stands that was decided on before.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> where_it_stands(Task("d1", State.JUDGED, 1, "odd", "", 1), parse_scale("binary"))
    ' (judged: 1 relevant) (note: odd)'
    """
    state = [] if task.state is State.UNJUDGED else [state_words(task, scale)]
    return "".join(f" ({one})" for one in state + _remarks(task))


def _remarks(task: Task) -> list[str]:
    note = [f"note: {sanitise_line(task.note)}"] if task.note else []
    passages = [f"{counted(len(task.passages), 'passage')} marked"] if task.passages else []
    return note + passages


_START = itemgetter(0)


@dataclass(frozen=True, slots=True)
class Hit:
    """One or more hits that stand in the same sentence, ready to be printed."""

    line: int
    """Of the text, from 1."""
    sentence: int
    """From 1; 0 = before the first."""
    text: str
    """The sentence with its hits in double brackets; with the next ones if a hit reaches there."""

    def __str__(self) -> str:
        return f"line {self.line}, sentence {self.sentence}: {self.text}"


def marked_text(text: str, spans: Sequence[Span], start: int = 0, end: int | None = None) -> str:
    """Write a part of a text with its hits in double brackets.

    Examples
    --------
    >>> marked_text("the bridge of Dee", [(4, 10), (14, 17)])
    'the [[bridge]] of [[Dee]]'
    """
    end = len(text) if end is None else end
    pieces: list[str] = []
    done = start
    for first, last in spans:
        if start <= first and last <= end:
            pieces += text[done:first], "[[", text[first:last], "]]"
            done = last
    pieces.append(text[done:end])
    return "".join(pieces)


def hits(text: str, sentences: Sequence[Span], spans: Sequence[Span]) -> list[Hit]:
    r"""Gather hits, each with the sentence it begins in.

    Examples
    --------
    >>> text = "A bridge. None.\nBridge!"
    >>> [
    ...     (hit.line, hit.sentence, hit.text)
    ...     for hit in hits(text, [(0, 9), (10, 15), (16, 23)], [(2, 8), (16, 22)])
    ... ]
    [(1, 1, 'A [[bridge]].'), (2, 3, '[[Bridge]]!')]
    """
    line_starts = [0, *(newline.end() for newline in re.finditer("\n", text))]
    groups: list[tuple[int, Span, list[Span]]] = []
    for start, end in spans:
        if groups and end <= groups[-1][1][1]:
            groups[-1][2].append((start, end))
            continue
        number = bisect_right(sentences, start, key=_START)
        last = bisect_right(sentences, end - 1, key=_START)
        # A hit outside every sentence is still a hit.
        begins = [start, *(sentence[0] for sentence in sentences[max(number - 1, 0) : number])]
        ends = [end, *(sentence[1] for sentence in sentences[max(last - 1, 0) : last])]
        groups.append((number, (min(begins), max(ends)), [(start, end)]))
    blanks = str.maketrans("\n\t", "  ")
    return [
        Hit(bisect_right(line_starts, group[0][0]), number, marked_text(text, group, *part).translate(blanks))
        for number, part, group in groups
    ]


class LineReading:
    """Prints what is asked for; decides nothing."""

    def __init__(self, session: JudgingSession, talk: Talk, answers: Answers) -> None:
        self._session = session
        self._talk = talk
        self._answers = answers
        self.page: ShownDocument | None = None
        """What was printed last; ``None`` = it could not be read."""

    def topic(self) -> None:
        """Print the topic."""
        topic = self._session.topic
        if topic is None:
            return
        self._talk.say(f"\nTopic {topic_name(self._session)}")
        for name, text in (("Description", topic.description), ("Narrative", topic.narrative)):
            if text.strip():
                self._talk.say(f"{name}: {text.strip()}")

    def guidelines(self) -> None:
        """Print the newest guidelines."""
        found = self._session.desk.guidelines()
        if found is None:
            self._talk.say("there are no guidelines: the topic says what is relevant")
            return
        self._talk.say(f"\n{guidelines_title(found)}")
        self._talk.say(found.text.strip("\n"))

    def document(self) -> None:
        """Print the document before the judge."""
        session, task = self._session, self._session.task
        self.page = None
        if task is not None:
            task = self._session.task
            if task is not None:
                state = where_it_stands(task, self._session.scale)
                self._talk.say(f"\nDocument {sanitise_line(task.docno)}{state}")
            self.page = session.page()
            self._show(text_shown(self.page))

    def find(self, rest: str) -> None:
        """Print the places of the document that have some words."""
        if not rest:
            rest = self._talk.ask("find what? Enter = words of the topic")
        page = self._read()
        text = page.text or ""
        topic = self._session.topic
        terms = () if topic is None else query_terms(topic)
        spans = find_spans(text, rest) if rest else term_spans(text, terms)
        found = hits(text, sentence_spans(text), spans)
        what = f"`{sanitise_line(rest)}`" if rest else "words of the topic"
        nothing = NO_TEXT if page.text is None else f"no {what} in this document"
        self._talk.say(f"{counted(len(found), 'sentence')} with {what}" if found else nothing)
        if found:
            self._talk.say("\n".join(map(str, found)))

    def _read(self) -> ShownDocument:
        if self.page is None or self._session.task is None:
            self.page = self._session.page()
        return self.page

    def _show(self, text: str) -> None:
        if self.page is not None:
            title = [("Title", self.page.title)] if self.page.title else []
            for name, value in [*title, *remarks(self.page)]:
                self._talk.say(f"{name}: {value}")
        self._talk.say(text)


TO_TOPICS = "topics"
"""What to type after a topic to leave its skipped documents: no command, lest one typed too often leaves."""


def sum_up(session: JudgingSession, talk: Talk, answers: Answers) -> NextStep:
    """Print the counts of a topic that is done, and ask what to do next; `EOFError` when the input ends."""
    talk.say(f"\n{topic_name(session)}: {conclusion(session)}")
    for name, count in tally(session.tasks, session.scale):
        talk.say(f"  {name}: {count}")
    n_skipped = session.progress.skipped
    if words := goal_words(session):
        talk.say(words)
    own = own_keys(lambda key: answers.read(key).meaning)
    stay = own[NextStep.STAY]
    undo, leave = map(answers.name, (Command.UNDO, Command.QUIT))
    is_first, may_end = n_skipped > 0 and not session.is_at_goal, session.is_at_goal
    to_skipped = "Enter" if is_first else answers.name(Command.SKIP)
    to_topics = TO_TOPICS if is_first else "Enter"
    offers = {
        NextStep.SKIPPED: f"{to_skipped} = the {n_skipped} skipped" if n_skipped else "",
        NextStep.INBOX: f"{to_topics} = {'stop here, ' if may_end else ''}topics",
        NextStep.UNDO: f"{undo} = undo",
        NextStep.STAY: f"{stay} = {'go on judging' if may_end else 'stay with the documents'}"
        if stay
        else "",
        NextStep.QUIT: f"{leave} quits",
    }
    question = ", ".join(filter(None, offers.values()))
    while text := talk.ask(question):
        if text.lower() == TO_TOPICS:
            return NextStep.INBOX
        step = next_step(answers.read(text).meaning, half_width(text).lower(), own)
        if step is not None and offers.get(step):
            return step
        talk.ignore(f"{sanitise_line(text)!r} means nothing here")
    return NextStep.SKIPPED if is_first else NextStep.INBOX


_SETTLED = (KeyOutcome.SAVED, KeyOutcome.STUCK, KeyOutcome.UNCHANGED)
"""Outcomes after which a decision stands in the store."""


class Deciding:
    """Lets the session decide, asks what it wants to know, and prints the outcome."""

    def __init__(self, session: JudgingSession, talk: Talk) -> None:
        self._session = session
        self._talk = talk
        self._n_unasked = 0

    def grade(self, value: int) -> bool:
        """Give a grade. A script is not asked first, as its next answer is meant for the next document.

        Questions that a script cannot be asked are counted, and printed at the end.
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
        """Ask why the document cannot be judged; return whether that is settled."""
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
        """Read an answer while a decision is not saved or no document came; return whether it is settled.

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
        """Let the session act, and print the outcome.

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
        """Let the session act; return whether a decision is settled."""
        return self.tell(act).outcome in _SETTLED

    def decide(self, act: Callable[..., KeyResult], *, confirmed: bool = False) -> bool:
        """Let the session decide, asking first where it wants that; return whether it is settled."""
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
    document, and the judge is not asked to begin. A script can answer as soon as a document is printed only
    where the session's ``min_dwell`` is 0.
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
        """Print the topic, and have it acknowledged the first time."""
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
        """Carry out a command; return whether a decision is settled."""
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
            unsaved = f"NOT SAVED: {sanitise_line(session.pending.words)}"
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
