"""Looking up: texts, hits, the end of a topic."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from judge_ui.plain.answers import Answers
from judge_ui.plain.talk import Talk
from judge_ui.session.ending import NextStep, conclusion, goal_words, next_step, own_keys, tally
from judge_ui.session.keys import Command, half_width
from judge_ui.session.messages import NO_TEXT, guidelines_title, remarks, state_words, text_shown, topic_name
from judge_ui.session.session import JudgingSession
from judge_ui.text.finding import find_spans, query_terms, term_spans
from judge_ui.text.folding import Span
from judge_ui.text.sentences import sentence_spans
from store.records import Scale, ShownDocument, State, Task
from store.text import counted, sanitise_line


def where_it_stands(task: Task, scale: Scale) -> str:
    """Say in brackets how a document stands that something was done to before.

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
        spans = find_spans(text, rest) if rest else term_spans(text, self._of_topic())
        found = hits(text, sentence_spans(text), spans)
        what = f"`{sanitise_line(rest)}`" if rest else "words of the topic"
        nothing = NO_TEXT if page.text is None else f"no {what} in this document"
        self._talk.say(f"{counted(len(found), 'sentence')} with {what}" if found else nothing)
        if found:
            self._talk.say("\n".join(map(str, found)))

    def _of_topic(self) -> tuple[str, ...]:
        topic = self._session.topic
        return () if topic is None else query_terms(topic)

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
