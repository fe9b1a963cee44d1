"""Documents judged differently: votes, rulings, and the state of each disagreement.

Pure, and without names: a judge is a row id here, and a letter on the adjudicator's screen. Only
decisions count: notes, reasons, skips and marked passages are never a disagreement.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from itertools import combinations
from typing import TYPE_CHECKING

from store.judging.kinds import SORTS
from store.records import JudgeKind, Passage, State

if TYPE_CHECKING:
    from store.records import TieRule

GivenGrade = int | None
"""What a decision came to: a grade of the scale; ``None`` = cannot be judged."""

CANNOT = "cannot"
"""How the given grade ``None`` is written."""

_KIND, _GIVEN = f"(?:{'|'.join(SORTS)})", f"(?:-?[0-9]{{1,9}}|{CANNOT})"
_BASIS = re.compile(rf"docno opinions(?: of ({_KIND}(?:,{_KIND})*))?:((?:{_GIVEN}(?:,{_GIVEN})*)?)", re.ASCII)


def is_disagreement(given_grades: Sequence[GivenGrade]) -> bool:
    """Return whether given grades differ; fewer than two never do."""
    return len(set(given_grades)) > 1


def gap_of(given_grades: Sequence[GivenGrade]) -> int | None:
    """Return the largest difference of two grades; ``None`` when no two differ, or against `cannot`."""
    grades = [given_grade for given_grade in given_grades if given_grade is not None]
    return (max(grades) - min(grades) or None) if grades else None


def in_order(given_grades: Iterable[GivenGrade]) -> list[GivenGrade]:
    """Sort given grades: grades ascending, then `cannot`."""
    return sorted(given_grades, key=rank_of)


def basis_of(given_grades: Iterable[GivenGrade]) -> str:
    """Write given grades in order, without their judges: the same disagreement is the same text."""
    return ",".join(CANNOT if one is None else str(one) for one in in_order(given_grades))


def read_basis(basis: str) -> tuple[GivenGrade, ...]:
    """Read what `basis_of` wrote."""
    words = basis.split(",") if basis else []
    return tuple(None if word == CANNOT else int(word) for word in words)


def display_order(given_grades: Iterable[GivenGrade], kinds: Sequence[str] = ()) -> str:
    """Return the display order for the event of a ruling: which given grades were seen, of which kinds.

    Without kinds the votes of all kinds counted.
    """
    of = f" of {','.join(kinds)}" if kinds else ""
    return f"docno opinions{of}:{basis_of(given_grades)}"


def seen_opinions(order: str | None) -> tuple[str | None, tuple[str, ...]]:
    """Read given grades and kinds out of what `display_order` wrote; ``None`` = it was not written so."""
    found = _BASIS.fullmatch(order or "")
    return (None, ()) if found is None else (found[2], tuple(found[1].split(",")) if found[1] else ())


def rank_of(given_grade: GivenGrade) -> tuple[bool, int]:
    """Return the key by which given grades are sorted."""
    return given_grade is None, given_grade or 0


_NEVER = datetime.min.replace(tzinfo=UTC)


class Settlement(StrEnum):
    """Whether a disagreement is settled."""

    OPEN = "open"
    SETTLED = "settled"
    CHANGED = "changed since"
    """Settled once; then judges decided otherwise, and they disagree in another way."""
    UNNEEDED = "no longer needed"
    """Settled once; the judges no longer disagree."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One judge's decision on one document."""

    judge: int
    """Row id."""
    given_grade: GivenGrade
    event: int = 0
    """Row id of the judgement event."""
    reason: str = ""
    note: str = ""
    iteration: str = "0"
    kind: JudgeKind = JudgeKind.HUMAN


@dataclass(frozen=True, slots=True)
class Ruling:
    """An adjudicator's decision that stands."""

    judge: int
    """Row id of the adjudicator."""
    given_grade: GivenGrade
    event: int = 0
    basis: str | None = None
    """The given grades it was made on, as `basis_of` writes them; ``None`` = not known."""
    at: datetime | None = None
    """When; ``None`` = not known, before all others."""
    kinds: tuple[str, ...] = ()
    """Of the judges who gave them, of `store.judging.kinds.SORTS`; none = of every judge."""


@dataclass(frozen=True, slots=True)
class Case:
    """A document that judges disagree on, or that an adjudicator has ruled on."""

    topic: str
    docno: str
    topic_id: int
    document_id: int
    votes: tuple[Vote, ...]
    """In the order of the letters: `lettered`."""
    ruling: Ruling | None = None
    """The latest of all adjudicators' (`latest_ruling`)."""
    rulers: frozenset[int] = frozenset()
    """Adjudicators, by row id, who have a ruling that stands."""
    others: tuple[Vote, ...] = ()
    """Votes of kinds that do not count."""
    kinds: tuple[str, ...] = ()
    """Who counts, as a ruling on it notes: see `Ruling.kinds`."""

    @property
    def given_grades(self) -> tuple[GivenGrade, ...]:
        """The given grades in the order of the letters."""
        return tuple(vote.given_grade for vote in self.votes)

    @property
    def is_disagreement(self) -> bool:
        """Whether the judges' decisions differ now."""
        return is_disagreement(self.given_grades)

    @property
    def status(self) -> Settlement:
        """Whether it is settled."""
        ruling = self.ruling
        if ruling is None:
            return Settlement.OPEN
        # A ruling stands while the votes it was based on are the same, whichever kinds vote now; but one on
        # what models said settles nothing between people.
        wanted = {kind for name in ruling.kinds for kind in SORTS[name]}
        voters = (*self.votes, *self.others)
        then = [vote.given_grade for vote in voters if vote.kind in wanted or not wanted]
        here = {vote.kind for vote in self.votes}
        first = next((set(sort) & here for sort in SORTS.values() if not here.isdisjoint(sort)), set())
        covers = not wanted or first <= wanted
        if covers and ruling.basis in (None, basis_of(then)):
            return Settlement.SETTLED if is_disagreement(then) else Settlement.UNNEEDED
        return Settlement.CHANGED if self.is_disagreement else Settlement.UNNEEDED

    @property
    def iteration(self) -> str:
        """The judges' round, ``0`` when they worked in different ones."""
        rounds = {vote.iteration for vote in self.votes}
        return rounds.pop() if len(rounds) == 1 else "0"


@dataclass(frozen=True, slots=True)
class Opinion:
    """How a document stands with one judge as an adjudicator sees it: without the judge's name."""

    letter: str
    state: State
    """Judged or cannot."""
    grade: int | None
    reason: str
    note: str
    passages: tuple[Passage, ...] = ()
    """In characters of `Page.text`."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A document in disagreement as an adjudicator sees it, fit for a terminal."""

    opinions: tuple[Opinion, ...]
    gap: int | None
    status: Settlement
    outcome: GivenGrade = None
    """What was decided before; has no meaning where `status` is open."""
    outcome_on: tuple[GivenGrade, ...] = ()
    """The given grades that it was decided on; empty = not known."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which disagreements are wanted; whatever is ``None`` is not asked for."""

    topic: str | None = None
    gap: int | None = None
    """Least difference between two grades, in values of the scale."""
    cell: tuple[GivenGrade, GivenGrade] | None = None
    """Some two judges gave these two grades, in either order."""
    unresolved: TieRule | None = None
    """A rule that leaves the grades tied, as they stand now."""
    kinds: tuple[str, ...] = ()
    """Kinds of judges who count, of `store.judging.kinds.SORTS`; none = people, where one graded."""

    @property
    def is_whole(self) -> bool:
        """Whether every disagreement is wanted, of a topic or of all."""
        return self == Selection(self.topic, kinds=self.kinds)

    def takes(self, case: Case) -> bool:
        """Return whether a case is wanted."""
        if self.topic is not None and case.topic != self.topic:
            return False
        given_grades = case.given_grades
        if not case.is_disagreement:
            return False
        if self.gap is not None and (gap_of(given_grades) or 0) < self.gap:
            return False
        if self.unresolved is not None:
            from store.analysis.aggregation import leaves_tied  # loads numpy

            grades = [given_grade for given_grade in given_grades if given_grade is not None]
            if not leaves_tied(self.unresolved, grades):
                return False
        return self.cell is None or set(self.cell) <= set(given_grades)


ALL = Selection()
"""Every disagreement."""


@dataclass(frozen=True, slots=True)
class CellCount:
    """One cell of the kappa table, both of its triangles together."""

    cell: tuple[GivenGrade, GivenGrade]
    """Grades ascending, then cannot."""
    documents: int
    """In disagreement, with some two judges in this cell; one with three given grades is in three."""
    settled: int
    outcomes: dict[GivenGrade, int]
    """How often the settled ones were settled as what."""


def lettered(topic: str, docno: str, votes: Iterable[Vote]) -> tuple[Vote, ...]:
    """Order votes by their letters A, B, C, ...

    By a hash of topic, document and judge: always the same for a document, and no letter is a judge.
    """

    def place(vote: Vote) -> bytes:
        key = f"{topic}\0{docno}\0{vote.judge}"
        return sha256(key.encode("utf-8", "surrogatepass")).digest()

    return tuple(sorted(votes, key=place))


def letter(place: int) -> str:
    """Return the letter of the vote at a place: A to Z, then AA."""
    text = ""
    place += 1
    while place:
        place, digit = divmod(place - 1, 26)
        text = chr(ord("A") + digit) + text
    return text


def latest_ruling(rulings: Iterable[Ruling], identities: Mapping[int, str]) -> Ruling | None:
    """Return which of several adjudicators' rulings on a document counts: the latest.

    Of two at one moment by the adjudicators' identities, which an export and import leaves as they are.
    """
    return max(rulings, key=lambda one: (one.at or _NEVER, identities.get(one.judge, "")), default=None)


def count_cells(cases: Iterable[Case]) -> list[CellCount]:
    """Count disagreements by the two grades given and what was settled."""
    documents: Counter[tuple[GivenGrade, GivenGrade]] = Counter()
    outcomes: dict[tuple[GivenGrade, GivenGrade], Counter[GivenGrade]] = {}
    for case in cases:
        for first, second in combinations(in_order(set(case.given_grades)), 2):
            documents[first, second] += 1
            if case.ruling is not None and case.status is Settlement.SETTLED:
                settled = outcomes.setdefault((first, second), Counter())
                settled[case.ruling.given_grade] += 1
    counts = []
    for cell in sorted(documents, key=lambda cell: (rank_of(cell[0]), rank_of(cell[1]))):
        settled = outcomes.get(cell, Counter())
        counts.append(CellCount(cell, documents[cell], settled.total(), dict(settled)))
    return counts
