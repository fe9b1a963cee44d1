"""Looking up: texts in pages, hits, lists, the end of a topic."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from judge_ui.plain.answers import FILTER_WORDS, Answers, numbers
from judge_ui.plain.talk import Talk
from judge_ui.session.ending import (
    NextStep,
    conclusion,
    forecast_of_others,
    goal_words,
    next_step,
    own_keys,
    tally,
)
from judge_ui.session.keys import Command, half_width
from judge_ui.session.messages import (
    NO_TEXT,
    clock_time,
    counted,
    day_or_time,
    document_states,
    event_words,
    forecast_words,
    given_words,
    guidelines_title,
    remarks,
    text_shown,
    topic_name,
)
from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import grade_name
from judge_ui.text.finding import find_spans, query_terms, term_spans
from judge_ui.text.folding import Span
from judge_ui.text.sentences import sentence_spans
from store.records import Passage, Scale, SeenEvent, ShownDocument, State, Task
from store.text import sanitise_line


def where_it_stands(task: Task, scale: Scale) -> str:
    """Say in brackets how a document stands that something was done to before.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> where_it_stands(Task("d1", State.JUDGED, 1, "odd", "", 1), parse_scale("binary"))
    ' (judged: 1 relevant) (note: odd)'
    """
    stands = [] if task.state is State.UNJUDGED else [document_states(task, scale)]
    return "".join(f" ({one})" for one in stands + _remarks(task))


def list_line(
    place: int, task: Task, scale: Scale, *, is_here: bool, title: str = "", remark: str = ""
) -> str:
    """Write one document of a list; its number is its place, from 1.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> task = Task("d4", State.UNJUDGED, None, "odd", "", 1)
    >>> list_line(3, task, parse_scale("binary"), is_here=True, title="Oaks", remark="A 1  B 0  gap 1")
    '4 d4: no decision yet, A 1  B 0  gap 1, note: odd, you are here; Oaks'
    """
    stands = "no decision yet" if task.state is State.UNJUDGED else document_states(task, scale)
    if task.judged_at is not None and task.state is not State.UNJUDGED:
        stands += f", {day_or_time(task.judged_at, datetime.now().astimezone())}"
    here = ["you are here"] if is_here else []
    told = [stands, *([remark] if remark else []), *_remarks(task), *here]
    return f"{place + 1} {sanitise_line(task.docno)}: {', '.join(told)}{f'; {title}' if title else ''}"


def event_line(event: SeenEvent, scale: Scale, *, named: bool) -> str:
    """Write one thing that was done.

    Named, it stands among those of a sitting: with its topic and document, and the time of day alone. Else
    among those of a document: with the date, and where it was done if not in this sitting.
    """
    words = event_words(event, scale)
    if named:
        name = sanitise_line(f"{event.topic} {event.docno}")
        return f"{clock_time(event.judged_at)} {name}: {words}"
    host = f" on {sanitise_line(event.host)}" if event.host else ""
    elsewhere = "" if event.is_here else f" (in another sitting{host})"
    return f"{event.judged_at.astimezone():%Y-%m-%d %H:%M:%S} {words}{elsewhere}"


def _remarks(task: Task) -> list[str]:
    """Name the note and the passages of a document."""
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
        self._sentences: list[Span] | None = None
        self._wanted = ""
        self._hits: list[Hit] | None = None
        self._at = -1

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
        self._talk.show(found.text.strip("\n"))

    def document(self) -> None:
        """Print the document before the judge."""
        session, task = self._session, self._session.task
        self.page = self._sentences = self._hits = None
        self._wanted = ""
        if task is not None:
            self._say_name()
            self.page = session.page()
            self._show(text_shown(self.page))

    def again(self, rest: str) -> None:
        """Print the document again, the words that were looked for marked if that is wanted."""
        page = self._read()
        if rest.lower() not in ("", "hits"):
            self._talk.say("again prints the document; again hits marks the words in it")
            return
        self._say_name()
        text = page.text
        self._show(marked_text(text, self._spans(text)) if rest and text else text_shown(page))

    def raw(self) -> None:
        """Print the document as it came, with its markup; passages are marked in it as it is read."""
        page = self._read()
        if page.readable is None:
            self._talk.say("this document is shown as it came: its text has no markup")
        else:
            self._talk.show_document(text_shown(page, is_raw=True))

    def listing(self, rest: str) -> None:
        """Print the documents of the topic, or some of them."""
        session = self._session
        wanted = self._answers.wanted(rest)
        if wanted is None:
            self._talk.say(f"{sanitise_line(rest)!r} is none of: {FILTER_WORDS}")
            return
        places = session.places(wanted)
        of = "" if wanted is Filter.ALL else f" of {len(session.tasks)}"
        name = str(wanted) if isinstance(wanted, Filter) else grade_name(session.scale, wanted)
        self._talk.say(f"{name}: {counted(len(places), 'document')}{of}")
        if places:
            self._talk.show(
                list_line(
                    place,
                    (task := session.tasks[place]),
                    session.scale,
                    is_here=place == session.index,
                    title=session.title(task.docno),
                    remark=given_words(session.given(task.docno), session.scale),
                )
                for place in places
            )

    def progress(self) -> None:
        """Print how much of the topic is done, and how long the rest will take."""
        session = self._session
        progress, here = session.progress, session.index + 1
        self._talk.say(
            f"{topic_name(session)}: you are at document {here} of {progress.total};"
            f" {progress.judged} judged, {progress.skipped} skipped,"
            f" {progress.cannot} cannot be judged, {progress.left} left"
        )
        self.forecast()

    def forecast(self) -> None:
        """Print how long the rest of the topic will take, where that can be said."""
        if words := forecast_words(self._session.forecast()):
            self._talk.say(words)

    def history(self, rest: str) -> None:
        """Print what was done in this sitting, or ever to the document before the judge."""
        session = self._session
        if rest.lower() not in ("", "here"):
            self._talk.say("`history` shows this sitting, `history here` this document")
            return
        events = session.events_here() if rest else session.desk.events()
        of = "on this document" if rest else "in this sitting"
        self._talk.say(f"{counted(len(events), 'event')} {of}, the newest first")
        if events:
            self._talk.show(event_line(event, session.scale, named=not rest) for event in events)

    def find(self, rest: str) -> None:
        """Print the places of the document that have some words."""
        if not rest:
            rest = self._talk.ask("find what? Enter = words of the topic and your own")
        self._wanted, self._hits, self._at = rest, None, -1
        found = self._find()
        what = f"`{sanitise_line(rest)}`" if rest else "words of the topic or your own"
        nothing = NO_TEXT if self._read().text is None else f"no {what} in this document"
        self._talk.say(f"{counted(len(found), 'sentence')} with {what}" if found else nothing)
        if found:
            self._talk.show(map(str, found))

    def hit(self, step: int) -> None:
        """Print the next place that has the words, or the one before."""
        found = self._find()
        if not found:
            self._talk.say("no such words in this document")
            return
        if self._at < 0:
            self._at = 0 if step > 0 else len(found) - 1
        else:
            self._at = (self._at + step) % len(found)
        self._talk.say(f"hit {self._at + 1} of {len(found)}")
        self._talk.show([str(found[self._at])])

    def terms(self, rest: str) -> None:
        """Print the words that are looked for in this topic, and take others of the judge's own."""
        session = self._session
        if session.topic is not None and not rest:
            self._say_terms()
            rest = self._talk.ask("your own words? separated by commas, Enter = keep them")
        if rest:
            session.set_own_terms("" if rest == "-" else rest)
            self._wanted, self._hits, self._at = "", None, -1
            self._say_terms()

    def numbered(self, rest: str) -> None:
        """Print the sentences of the document, or some of them, with their numbers."""
        text, spans = self.text(), self.sentences()
        chosen = numbers(rest, len(spans)) if rest else range(1, len(spans) + 1)
        if not spans:
            self._talk.say("this document has no sentences")
        elif chosen is None:
            self._talk.say(f"sentences 3-9 prints some of them; there are {len(spans)}")
        else:
            self._talk.show(
                f"{number}{' (marked)' if self.reached(spans[number - 1]) else ''} "
                + " ".join(text[slice(*spans[number - 1])].split("\n"))
                for number in chosen
            )

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What is marked in the document."""
        return self._session.task.passages if self._session.task else ()

    def reached(self, *sentences: Span) -> list[Passage]:
        """Return the marked passages that reach into sentences."""
        return [
            one
            for one in self.passages
            if any(one.start < end and start < one.end for start, end in sentences)
        ]

    def sentences(self) -> list[Span]:
        """Return where the sentences of the document are."""
        if self._sentences is None:
            self._sentences = sentence_spans(self.text())
        return self._sentences

    def text(self) -> str:
        """Return the text of the document; empty where there is none."""
        return self._read().text or ""

    def _read(self) -> ShownDocument:
        """Return the document before the judge."""
        if self.page is None or self._session.task is None:
            self.page = self._session.page()
        return self.page

    def _say_name(self) -> None:
        task = self._session.task
        if task is not None:
            stands = where_it_stands(task, self._session.scale)
            self._talk.say(f"\nDocument {sanitise_line(task.docno)}{stands}")

    def _show(self, text: str) -> None:
        if self.page is not None:
            title = [("Title", self.page.title)] if self.page.title else []
            for name, value in [*title, *remarks(self.page)]:
                self._talk.say(f"{name}: {value}")
        self._talk.show_document(text)

    def _spans(self, text: str) -> list[Span]:
        """Find the words that were asked for last, else those of the topic and the judge's own."""
        if self._wanted:
            return find_spans(text, self._wanted)
        return term_spans(text, self._session.terms)

    def _find(self) -> list[Hit]:
        """Return the places that have the words."""
        if self._hits is None:
            text = self.text()
            self._hits = hits(text, self.sentences(), self._spans(text))
        return self._hits

    def _say_terms(self) -> None:
        topic, own = self._session.topic, self._session.own_terms
        of_topic = query_terms(topic) if topic else ()
        self._talk.say(f"words of the topic: {', '.join(of_topic) or 'none'}")
        self._talk.say(f"your own: {', '.join(own) or 'none'}")


def sum_up(session: JudgingSession, talk: Talk, answers: Answers, n_quick: int) -> NextStep:
    """Print the counts of a topic that is done, and ask what to do next; `EOFError` when the input ends."""
    talk.say(f"\n{topic_name(session)}: {conclusion(session)}")
    for name, count in tally(session.tasks, session.scale):
        talk.say(f"  {name}: {count}")
    n_skipped = session.progress.skipped
    if n_quick:
        talk.say(f"  decided in under {session.quick_s:g} s: {n_quick}")
    forecast = forecast_of_others(session)
    if words := "" if forecast is None else forecast_words(forecast):
        talk.say(f"other topics: {words}")
    if words := goal_words(session):
        talk.say(words)
    own = own_keys(lambda key: answers.read(key).meaning)
    stay, again = own[NextStep.STAY], own[NextStep.QUICK]
    undo, leave = map(answers.name, (Command.UNDO, Command.QUIT))
    is_first, may_end = n_skipped > 0 and not session.is_at_goal, session.is_at_goal
    to_skipped = "Enter" if is_first else answers.name(Command.SKIP)
    to_topics = answers.name(Command.INBOX) if is_first else "Enter"
    offers = {
        NextStep.SKIPPED: f"{to_skipped} = the {n_skipped} put off" if n_skipped else "",
        NextStep.INBOX: f"{to_topics} = {'stop here, ' if may_end else ''}topics",
        NextStep.UNDO: f"{undo} = undo",
        NextStep.STAY: f"{stay} = {'go on judging' if may_end else 'stay with the documents'}"
        if stay
        else "",
        NextStep.QUICK: f"{again} = go over the {n_quick} quick" if again and n_quick else "",
        NextStep.QUIT: f"{leave} quits",
    }
    question = ", ".join(filter(None, offers.values()))
    while text := talk.ask(question):
        step = next_step(answers.read(text).meaning, half_width(text).lower(), own)
        if step is not None and offers[step]:
            return step
        talk.say(f"{sanitise_line(text)!r} means nothing here")
    return NextStep.SKIPPED if is_first else NextStep.INBOX
