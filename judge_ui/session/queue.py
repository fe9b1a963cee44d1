"""The open topic's documents, and which a list shows."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from judge_ui.session.words import TopicProgress
from store.errors import PoolerError, StoreError, UnknownNameError
from store.records import State, Task, Topic

if TYPE_CHECKING:
    from store.judging.desk import Desk

_BEATEN = 3
"""How often others may take what was counted as left before the judge sees it."""


class Drawing(Protocol):
    """Where the documents of adaptive pools come from, one at a time."""

    def draw(self, topic: str) -> bool:
        """Draw one more document into the queue of a topic; False = there is none left."""


class OpenQueue:
    """The documents of the topic that is open at a desk."""

    def __init__(self, desk: Desk, drawing: Drawing | None) -> None:
        self._desk = desk
        self._drawing = drawing
        self._undrawn = self._claimable = 0
        self._counts: Counter[State] = Counter()
        self._places: dict[str, int] = {}
        self.topic: Topic | None = None
        self.tasks: list[Task] = []
        self.index = 0

    @property
    def task(self) -> Task | None:
        """The document before the judge; ``None`` when no topic is open."""
        return self.tasks[self.index] if self.tasks else None

    @property
    def progress(self) -> TopicProgress:
        """Counts of the open topic; the total is the queue and what may still come into it."""
        return TopicProgress(
            len(self.tasks) + self._undrawn + self._claimable,
            self._counts[State.JUDGED],
            self._counts[State.SKIPPED],
            self._counts[State.CANNOT],
        )

    def here(self) -> Task:
        """Return the document before the judge, which there must be."""
        if self.task is None:
            raise UnknownNameError("document", "", ())
        return self.task

    def open(self, topic: str) -> int | None:
        """Open a topic and return the place of its first document without a decision.

        On an error what was open stays open.
        """
        before = dict(vars(self))
        try:
            self.turn_to(topic)
            self.index = -1
            return self.find_or_bring()
        except PoolerError:
            vars(self).update(before)
            raise

    def turn_to(self, topic: str) -> None:
        """Open a topic as it is, at its start; on an error what was open stays open."""
        opened = self._desk.topic(topic)
        self.load(topic)
        self.topic, self.index = opened, 0

    def load(self, topic: str) -> None:
        """Read the queue of a topic anew."""
        # In this order a document that comes in between is counted twice rather than lost.
        undrawn = 0 if self._drawing is None else self._desk.undrawn(topic)
        claimable = self._desk.claimable(topic)
        self._lay(self._desk.queue(topic))
        self._undrawn, self._claimable = undrawn, claimable

    def put(self, place: int, task: Task) -> None:
        """Note how the document at a place stands now."""
        self._counts[self.tasks[place].state] -= 1
        self._counts[task.state] += 1
        self.tasks[place] = task

    def find_or_bring(self) -> int | None:
        """Return the place of the next document without a decision, brought in if need be.

        `StoreError`: there are documents left, and others were faster again and again.
        """
        undecided, n_beaten = self.next_in(State.UNJUDGED), 0
        while undecided is None and self.topic and (self._undrawn or self._claimable):
            # Another judge may have drawn since the queue was read.
            undecided = self._look_again()
            if undecided is None and not self._bring(self.topic.topic):
                # Or has claimed the last: then there is none left once it is looked at again.
                undecided = self._look_again()
                n_beaten += 1
                if n_beaten == _BEATEN and undecided is None and self.progress.left:
                    raise StoreError(f"{self.progress.left} are left, but none is available right now")
        return undecided

    def look_ahead(self) -> Task | None:
        """Return the document that a decision would lead to; claims one if there is none."""
        following = self.next_in(State.UNJUDGED)
        if following in (None, self.index) and self.topic and self._claimable:
            if self._desk.claim(self.topic.topic):
                self._look_again()
            following = self.next_in(State.UNJUDGED)
        if following is None or following == self.index:
            return None
        return self.tasks[following]

    def next_in(self, state: State) -> int | None:
        """Return the place of the next document in a state, wrapping; the present one last."""
        n_tasks = len(self.tasks)
        places = ((self.index + step) % n_tasks for step in range(1, n_tasks + 1))
        return next((place for place in places if self.tasks[place].state is state), None)

    def place_of(self, docno: str) -> int | None:
        """Return the place of a document in the queue; ``None`` = it is no longer there."""
        return self._places.get(docno)

    def place_after(self, step: int) -> int | None:
        """Return the place one step from here, brought in if need be; ``None`` = no such place."""
        place = self.index + step
        if place == len(self.tasks) and self.next_in(State.UNJUDGED) is None:
            brought = self.find_or_bring()
            place = self.index + step if brought is None else brought
        return place if 0 <= place < len(self.tasks) else None

    def _look_again(self) -> int | None:
        here, index = self.task if self.index >= 0 else None, self.index
        if self.topic is not None:
            self.load(self.topic.topic)
        if here is not None:
            place = self.place_of(here.docno)
            if place is None:
                # It is on the screen: it stays there until the desk refuses a decision about it.
                place = min(index, len(self.tasks))
                self._lay([*self.tasks[:place], here, *self.tasks[place:]])
            self.index = place
        return self.next_in(State.UNJUDGED)

    def _lay(self, tasks: list[Task]) -> None:
        self.tasks = tasks
        self._counts = Counter(task.state for task in tasks)
        self._places = {task.docno: place for place, task in enumerate(tasks)}

    def _bring(self, topic: str) -> bool:
        """Claim or draw one more document; False = there is none."""
        if self._claimable and self._desk.claim(topic):
            return True
        return bool(self._undrawn and self._drawing and self._drawing.draw(topic))


class Filter(StrEnum):
    """What a list can be cut down to, besides a grade; states have the names of `State`."""

    ALL = "all"
    UNJUDGED = "unjudged"
    JUDGED = "judged"
    SKIPPED = "skipped"
    CANNOT = "cannot be judged"
    NOTED = "with a note"
    MARKED = "with passages"
    QUICK = "decided quickly"


def is_let_through(task: Task, wanted: Filter | int, quick_s: float) -> bool:
    """Return whether a document stands as a filter wants it, or has a grade value.

    A decision after fewer than `quick_s` seconds on the screen counts as quick; one whose time is not known
    does not.
    """
    if not isinstance(wanted, Filter):
        return task.state is State.JUDGED and task.grade == wanted
    is_decided = task.state in (State.JUDGED, State.CANNOT)
    others = {
        Filter.ALL: True,
        Filter.NOTED: bool(task.note),
        Filter.MARKED: bool(task.passages),
        Filter.QUICK: is_decided and task.dwell_ms is not None and task.dwell_ms < quick_s * 1000,
    }
    return others.get(wanted, task.state.name == wanted.name)
