"""The line mode: a judge's decisions and moves; an adjudicator's.

Nothing is redrawn and nothing moves: what is printed stays, every question ends in ``> ``, and
the end of the input quits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TextIO

from judge_ui.plain.answers import Act, Answer, AnswerLine, Answers, numbers
from judge_ui.plain.reading import LineReading, sum_up
from judge_ui.plain.talk import Talk
from judge_ui.session.adjudicating import AdjudicatingSession
from judge_ui.session.keys import OTHER_REASON, REASONS, Command, KeyTable, half_width, key_table
from judge_ui.session.messages import (
    ALL_DECIDED,
    NextStep,
    clock_time,
    conflict_words,
    counted,
    forecast_words,
    goodbye,
    history_words,
    live_words,
    opinion_lines,
    said,
)
from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult
from store.errors import PoolerError, UnknownNameError
from store.records import InboxLine, Passage
from store.text import sanitise_line

_SETTLED = (KeyOutcome.SAVED, KeyOutcome.STUCK, KeyOutcome.UNCHANGED)
"""Outcomes after which a decision stands in the store."""


class Deciding:
    """Lets the session decide, asks what it wants asked, and says what came of it."""

    def __init__(self, session: JudgingSession, talk: Talk, answers: Answers, reading: LineReading) -> None:
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
        """Take an answer while a decision is not saved or no document could be brought.

        Tell whether that is settled.

        Where somebody types, another decision about the document takes the place of the one that waits, and
        anything else makes it tried once more. A script's answers were given without knowing of any of this,
        and its next grade is meant for the next document: it gets no further unless it says retry, or undo at
        once.
        """
        session, meaning = self._session, answer.meaning
        if meaning is Command.UNDO and not self._n_unused:
            self.undo()
            return False
        if not answer.text or meaning is AnswerLine.RETRY:
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

    def tell(self, act: Callable[[], KeyResult], message: str = "", *, ask: bool = True) -> KeyResult:
        """Let the session act, and say what came of it, or `message` where it was saved.

        `ask`: whether to ask what is to stand where the same judge decided elsewhere.
        """
        try:
            result = act()
        except PoolerError as error:
            result = KeyResult(KeyOutcome.FAILED, error.message)
        if result.outcome is KeyOutcome.CONFLICT and ask:
            return self._settle()
        if result.outcome is not KeyOutcome.CONFIRM:
            if message and result.outcome is KeyOutcome.SAVED:
                result = replace(result, message=message)
            saved = f" (saved {clock_time(result.saved_at)})" if result.saved_at else ""
            if words := f"{said(result)}{saved}":
                self._talk.say(words)
        if result.outcome is KeyOutcome.FAILED:
            self._talk.forget_typed()
        return result

    def _decide(self, act: Callable[..., KeyResult]) -> bool:
        """Let the session decide, asking first where it wants that; say whether it is settled."""
        result = self.tell(act)
        if result.outcome is KeyOutcome.CONFIRM:
            if self._talk.ask(f"{said(result)} y/n").lower() not in ("y", "yes", "ｙ"):
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


class Moving:
    """Moves the session, one step, to a place, or along a round of documents."""

    def __init__(self, session: JudgingSession, talk: Talk) -> None:
        self._session = session
        self._talk = talk
        self._round: list[str] | None = None
        self._gone_over: set[tuple[str, str]] = set()

    @property
    def is_round(self) -> bool:
        """Whether a round is under way."""
        return self._round is not None

    def end_round(self) -> None:
        """Go the usual way again."""
        self._round = None

    @property
    def skipped(self) -> list[str]:
        """The documents of the topic that were left for later."""
        return [self._session.tasks[place].docno for place in self._session.places(Filter.SKIPPED)]

    @property
    def quick(self) -> list[str]:
        """The documents that were decided quickly and not gone over since."""
        places = self._session.places(Filter.QUICK)
        docnos = [self._session.tasks[place].docno for place in places]
        return [docno for docno in docnos if (self._topic, docno) not in self._gone_over]

    def begin_round(self, docnos: list[str]) -> None:
        """Remember the documents that are to be gone over."""
        self._round = docnos

    def next_of_round(self) -> bool:
        """Go to the next document of the round; False = that was the last."""
        while self._round:
            docno = self._round.pop(0)
            place = self._place(docno)
            if place is not None:
                self._session.go_to(place)
                self._gone_over.add((self._topic, docno))
                more = f"{len(self._round)} more" if self._round else "the last"
                self._talk.say(f"{more} to go over")
                return True
        return False

    def next(self) -> bool:
        """Go to the next document; False = the topic is done and there is none."""
        if self._session.go_next():
            return True
        if not self._session.is_complete:
            self._talk.say("this is the last document")
        return not self._session.is_complete

    def previous(self) -> None:
        """Go to the previous document."""
        if not self._session.go_previous():
            self._talk.say("this is the first document")

    def go(self, rest: str) -> bool:
        """Go to a document by its number or its docno; say whether there is one."""
        n_tasks = len(self._session.tasks)
        wanted = rest or self._talk.ask("where to? a number of the list or a docno, Enter = back")
        if not wanted:
            return False
        named = self._place(wanted)
        chosen = None if wanted.startswith("0") else numbers(wanted, n_tasks)
        place = named if chosen is None or len(chosen) > 1 else chosen[0] - 1
        if place is None:
            self._talk.say(
                f"{sanitise_line(wanted)!r} is neither a number from 1 to {n_tasks} nor a docno of this topic"
            )
            return False
        if named is not None and named != place:
            self._talk.say(f"by number; the docno {sanitise_line(wanted)} is number {named + 1}")
        self._session.go_to(place)
        return True

    @property
    def _topic(self) -> str:
        """The id of the open topic."""
        return self._session.topic.topic if self._session.topic else ""

    def _place(self, docno: str) -> int | None:
        """Return the place of a document; ``None`` = it is not in the queue."""
        tasks = self._session.tasks
        return next((place for place, task in enumerate(tasks) if task.docno == docno), None)


_SHORT = (Command.SKIP, Command.CANNOT, Command.NOTE, Command.UNDO, Command.NEXT, Command.QUIT, Command.HELP)
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
    """Run the line mode until the judge quits or the input ends; return 0. The caller ends the session.

    Where `read` is no terminal its answers are a script's: taken in order, one for each question about a
    document, and nobody is asked to begin. A script can answer as soon as a document is printed only where
    the session's ``min_dwell`` is 0. `page`: lines of a document printed at once, 0 = all of it.
    """
    talk = Talk(read, write, page=page, width=width)
    return PlainJudge(session, talk, keys or key_table(session.scale)).sit()


_ELSEWHERE = frozenset(
    {
        Command.NEXT,
        Command.PREVIOUS,
        AnswerLine.GO,
        Command.LIST,
        AnswerLine.PROGRESS,
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
    """One line-mode sitting."""

    def __init__(self, session: JudgingSession, talk: Talk, keys: KeyTable) -> None:
        self._session = session
        self._talk = talk
        self._answers = Answers(keys, session.scale)
        self._reading = reading = LineReading(session, talk, self._answers)
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
            AnswerLine.UNMARK: deciding.unmark,
            AnswerLine.RETRY: lambda _: talk.say("nothing waits to be saved"),
            Command.NEXT: lambda _: self._next(),
            Command.PREVIOUS: lambda _: moving.previous(),
            AnswerLine.GO: self._go,
            Command.LIST: reading.listing,
            AnswerLine.PROGRESS: lambda _: reading.progress(),
            Command.HISTORY: reading.history,
            Command.TOPIC: lambda _: reading.topic(),
            Command.GUIDELINES: lambda _: reading.guidelines(),
            AnswerLine.AGAIN: reading.again,
            Command.FIND: reading.find,
            Command.NEXT_HIT: lambda _: reading.hit(1),
            Command.PREVIOUS_HIT: lambda _: reading.hit(-1),
            Command.TERMS: reading.terms,
            AnswerLine.SENTENCES: reading.numbered,
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
            if not text or meaning is AnswerLine.RETRY:
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
            answer = self._answers.read(talk.ask_after(f"\n{leave} quits", "Enter = the first document"))
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
            self._is_unread = bool(answer.text) and meaning is not AnswerLine.RETRY
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
            self._talk.say(f"{sanitise_line(answer.text)!r} means nothing here; {help_key} lists the answers")
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
        if wish is NextStep.QUIT:
            raise EOFError
        if wish is NextStep.INBOX:
            raise _Leave
        self._printed = None
        if wish is NextStep.UNDO:
            self._deciding.undo()
        elif wish is not NextStep.STAY:
            is_skipped = wish is NextStep.SKIPPED
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


def run_plain_adjudication(
    session: AdjudicatingSession,
    read: TextIO,
    write: TextIO,
    *,
    keys: KeyTable | None = None,
    page: int = 0,
    width: int = 80,
) -> int:
    """Run the line mode until the adjudicator quits or the input ends; see `run_plain`."""
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
