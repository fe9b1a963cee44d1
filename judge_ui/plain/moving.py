"""From document to document in the line mode, nothing decided."""

from __future__ import annotations

from judge_ui.listing import Filter
from judge_ui.plain.answers import numbers
from judge_ui.plain.talk import Talk
from judge_ui.session import JudgingSession
from store.sanitise import sanitise_line


class Moving:
    """Moves the session, one step, to a place, or along a round of documents.

    Parameters
    ----------
    session : JudgingSession
        What moves.
    talk : Talk
        Where it is asked and said.
    """

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
                f"{sanitise_line(wanted)!r} is neither a number from 1 to {n_tasks} "
                "nor a docno of this topic"
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
