"""Which judge gets which documents.

By document, every document gets its judges on its own; by topic, a whole topic goes to the same
judges. Either way the numbers of documents of the judges are as equal as possible, and so are those
that pairs of judges have in common. A judge who has already decided on a document is one of those it
gets, and has that much less to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from pooler.strategies.rankings import raw_numbers
from store.errors import ArgumentError, PoolerError
from store.fields import LARGEST_SEED
from store.records import Assignable, AssignmentPlan, DisplayOrder, Existing, Place, Purpose
from store.text import natural_key

# Each draw has random numbers of its own, and so have those of `_PURPOSE` and `_JUDGE` below.
_SEQUENCE, _TIES, _TOPICS = 10, 11, 12


def choose_judges(
    by_topic: Mapping[str, Sequence[Assignable]],
    names: Sequence[str],
    sizes: Mapping[str, Sequence[int]],
    experience: Mapping[str, Mapping[str, int]],
    options: AssignmentOptions,
) -> dict[str, list[set[str]]]:
    """Choose the judges of every document, and return them with those who decided.

    The next judge is the one with the fewest documents in all, then the fewest in common with the
    document's other judges, then the fewest in the topic, then by chance. `by_topic` is in natural order
    and `names` ascending; `sizes` are at most the judges who may be chosen and those who have decided. By
    topic, a whole topic goes to that many judges, and `experience` counts, by topic and judge, the
    documents that the judge already has. A primary judge of a topic gets all of it, whatever the loads.
    """
    seed = options.seed
    chooser = _Chooser(by_topic, names, dict(options.primary))
    if options.by == "topic":
        numbers = {
            topic: raw_numbers(seed, topic, len(names) + 1, step=_TOPICS).tolist() for topic in by_topic
        }
        for topic in sorted(by_topic, key=lambda topic: (-len(by_topic[topic]), numbers[topic][-1])):
            known = [experience.get(topic, {}).get(name, 0) for name in names]
            preferred = chooser.best_of_topic(options.per_document, known, numbers[topic])
            chooser.fill(topic, sizes[topic], seed, preferred=preferred)
        return chooser.result()
    for topic in by_topic:
        chooser.fill(topic, sizes[topic], seed, preferred=frozenset())
    return chooser.result()


class _Chooser:
    """Who has what, while documents are given away; judges are numbered."""

    def __init__(
        self, by_topic: Mapping[str, Sequence[Assignable]], names: Sequence[str], primary: Mapping[str, str]
    ) -> None:
        self.by_topic = by_topic
        self.names = names
        self.primary = primary
        numbers = {name: number for number, name in enumerate(names)}
        self.kept = {
            topic: [{numbers[name] for name in one.decided if name in numbers} for one in documents]
            for topic, documents in by_topic.items()
        }
        self.chosen = {topic: [set(kept) for kept in some] for topic, some in self.kept.items()}
        self.loads = [0] * len(names)
        self.shared = [[0] * len(names) for _ in names]
        for some in self.kept.values():
            for kept in some:
                self._count(kept, set())

    def _count(self, new: set[int], old: set[int]) -> None:
        have = set(old)
        for judge in new:
            self.loads[judge] += 1
            for other in have:
                self.shared[judge][other] += 1
                self.shared[other][judge] += 1
            have.add(judge)

    def best_of_topic(self, n: int, known: Sequence[int], ties: Sequence[int]) -> frozenset[int]:
        best: list[int] = []
        for _ in range(n):
            rest = (judge for judge in range(len(self.names)) if judge not in best)
            best.append(
                min(
                    rest,
                    key=lambda judge: (
                        -known[judge],
                        self.loads[judge],
                        sum(self.shared[judge][other] for other in best),
                        ties[judge],
                    ),
                )
            )
        return frozenset(best)

    def fill(self, topic: str, sizes: Sequence[int], seed: int, *, preferred: frozenset[int]) -> None:
        documents, chosen = self.by_topic[topic], self.chosen[topic]
        n_judges = len(self.names)
        ties = raw_numbers(seed, topic, len(documents) * n_judges, step=_TIES).tolist()
        sequence = np.argsort(raw_numbers(seed, topic, len(documents), step=_SEQUENCE))
        loads, shared = self.loads, self.shared
        in_topic = Counter(judge for some in chosen for judge in some)
        own = self.primary.get(topic)
        for number in sequence.tolist():
            have, first = chosen[number], number * n_judges
            for _ in range(sizes[number] - len(documents[number].decided)):
                best = min(
                    (judge for judge in range(n_judges) if judge not in have),
                    key=lambda judge: (
                        self.names[judge] != own,
                        judge not in preferred,
                        loads[judge],
                        sum(shared[judge][other] for other in have),
                        in_topic[judge],
                        ties[first + judge],
                    ),
                )
                self._count({best}, have)
                in_topic[best] += 1
                have.add(best)

    def result(self) -> dict[str, list[set[str]]]:
        return {
            topic: [
                {self.names[judge] for judge in judges} | one.decided
                for judges, one in zip(self.chosen[topic], documents, strict=True)
            ]
            for topic, documents in self.by_topic.items()
        }


By = Literal["document", "topic"]

# Each draw has random numbers of its own, so that one more option does not change what others draw.
_PURPOSE, _JUDGE = 0, 1


@dataclass(frozen=True, slots=True)
class AssignmentOptions:
    """How documents are assigned, each value in its range; `ArgumentError` if they contradict each other."""

    seed: int
    """Not negative."""
    by: By = "document"
    per_document: int = 1
    """Judges of a document, from 1."""
    overlap: float = 0.0
    """Share of each topic's documents, in [0, 1], that `overlap_judges` judges get."""
    overlap_judges: int | None = None
    """More than `per_document`; ``None`` = one more."""
    calibration: int = 0
    """Documents of each topic that every judge gets."""
    order: DisplayOrder = "docno"
    existing: Existing = Existing.REFUSE
    """With `Existing.ADD`, documents that have a place are left alone."""
    primary: tuple[tuple[str, str], ...] = ()
    """Topic and judge: who gets all of the topic, as primary; the others there judge second."""
    lease_s: int | None = None
    """Seconds, from 1, a claimed document waits for a decision; ``None`` = assigned by name."""

    def __post_init__(self) -> None:
        if self.seed > LARGEST_SEED:
            raise ArgumentError("seed", f"must be at most {LARGEST_SEED}", self.seed)
        if self.overlap_judges is not None:
            if not self.overlap:
                raise ArgumentError("overlap_judges", "needs --overlap SHARE", None)
            if self.overlap_judges <= self.per_document:
                requirement = f"must be more than --per-document, which is {self.per_document}"
                raise ArgumentError("overlap_judges", requirement, self.overlap_judges)
        if self.primary and self.lease_s is not None:
            raise ArgumentError("topic_judges", "cannot be given with --claim, where anybody may claim", None)
        if self.by == "topic" and self.lease_s is not None:
            requirement = "cannot be `topic` with --claim: documents are claimed one by one"
            raise ArgumentError("by", requirement, None)

    @property
    def most_judges(self) -> int:
        """The most judges that a document gets, but for calibration."""
        if not self.overlap:
            return self.per_document
        return self.overlap_judges or self.per_document + 1


def plan_assignment(
    documents: Iterable[Assignable], judges: Iterable[str], options: AssignmentOptions
) -> AssignmentPlan:
    """Choose judges for documents: the same places in whatever sequence the arguments are given.

    With these places and those that stay, every document planned has exactly as many judges as its purpose
    asks for, or as many as have decided on it, where that is more. Each (topic, docno) comes once; where
    places are claimed, only the number of judges counts: so many get a calibration document.

    Only the documents planned count as load. By document, loads differ by at most one where nothing is
    decided yet. By topic, the largest topics are given away first, each to those who have decided
    most in it or hold most of it, then to those with the fewest documents. A share of overlap is rounded to
    whole documents of each topic, halves up. A judge who has decided on a document and was not given it by
    name keeps it all the same. About 20 microseconds a document.

    `ArgumentError` if there are fewer judges than a document needs, or the order is by priority and a
    document has none; `PoolerError` if there is no judge.

    Examples
    --------
    >>> pooled = [Assignable("1", docno) for docno in ("a", "b", "c", "d")]
    >>> plan = plan_assignment(pooled, ["ann", "ben"], AssignmentOptions(seed=1))
    >>> sorted(place.judge for place in plan.places)
    ['ann', 'ann', 'ben', 'ben']
    """
    names = sorted(set(judges))
    _check_judges(names, options)
    every = list(documents)
    planned = sorted(
        (one for one in every if not (options.existing is Existing.ADD and one.has_place)),
        key=lambda one: (natural_key(one.topic), one.docno),
    )
    by_topic = {topic: list(some) for topic, some in groupby(planned, lambda one: one.topic)}
    for topic, judge in options.primary:
        if topic in by_topic and judge not in names:
            message = f"`{judge}` is the judge of topic `{topic}`, and not among those who get documents"
            raise PoolerError(message, hint="name them all, or --topic-judges FILE gives topics to others")
    purposes = {topic: _purposes(topic, some, options) for topic, some in by_topic.items()}
    sizes = {
        topic: [
            _size(one, purpose, names, options) for one, purpose in zip(some, purposes[topic], strict=True)
        ]
        for topic, some in by_topic.items()
    }
    if options.lease_s is None:
        experience: dict[str, Counter[str]] = {}
        for one in every:
            experience.setdefault(one.topic, Counter()).update(one.decided | one.holders)
        chosen = choose_judges(by_topic, names, sizes, experience, options)
        places = [
            place
            for topic, some in by_topic.items()
            for place in _places_by_name(some, chosen[topic], purposes[topic], options)
        ]
    else:
        places = [
            place
            for topic, some in by_topic.items()
            for place in _places_to_claim(some, sizes[topic], purposes[topic], options)
        ]
    counts = Counter(purpose.value for some in purposes.values() for purpose in some)
    manifest = {
        "by": options.by,
        "per_document": options.per_document,
        "overlap": options.overlap,
        "overlap_judges": options.most_judges if options.overlap else None,
        "calibration": options.calibration,
        "order": options.order,
        "seed": options.seed,
        "lease_s": options.lease_s,
        "existing": options.existing.value,
        "judges": names,
        **({"primary": dict(options.primary)} if options.primary else {}),
        "documents": {purpose.value: counts[purpose.value] for purpose in Purpose},
        "sizes": {topic: len(some) for topic, some in by_topic.items()},
        "decided": sum(len(one.decided) for some in by_topic.values() for one in some),
        "places": len(places),
    }
    return AssignmentPlan(places, manifest, options.lease_s)


def _check_judges(names: Sequence[str], options: AssignmentOptions) -> None:
    if options.lease_s is not None and not options.calibration:
        return
    if not names:
        raise PoolerError("there is no judge to assign documents to", hint="pooler judges add NAME")
    if options.lease_s is not None:
        return
    requirement = f"must be at most the number of judges, which is {len(names)}"
    if options.per_document > len(names):
        raise ArgumentError("per_document", requirement, options.per_document)
    if options.most_judges > len(names):
        raise ArgumentError("overlap_judges", requirement, options.most_judges)


def _purposes(topic: str, documents: Sequence[Assignable], options: AssignmentOptions) -> list[Purpose]:
    n_documents = len(documents)
    n_overlap = int(n_documents * options.overlap + 0.5)
    numbers = raw_numbers(options.seed, topic, n_documents, step=_PURPOSE)
    purposes = [Purpose.PRIMARY] * n_documents
    for place, number in enumerate(np.argsort(numbers, kind="stable").tolist()):
        if place < options.calibration:
            purposes[number] = Purpose.CALIBRATION
        elif place < options.calibration + n_overlap:
            purposes[number] = Purpose.OVERLAP
    return purposes


def _size(document: Assignable, purpose: Purpose, names: Iterable[str], options: AssignmentOptions) -> int:
    """Return how many judges a document is to have, those who decided among them."""
    if purpose is Purpose.CALIBRATION:
        return max(len(document.decided.union(names)), options.per_document)
    return options.most_judges if purpose is Purpose.OVERLAP else options.per_document


def _places_by_name(
    documents: Sequence[Assignable],
    judges: Sequence[Set[str]],
    purposes: Sequence[Purpose],
    options: AssignmentOptions,
) -> list[Place]:
    new = [having - one.holders for one, having in zip(documents, judges, strict=True)]
    places: list[Place] = []
    for judge in sorted(set().union(*new)):
        own = [number for number, having in enumerate(new) if judge in having]
        sequence, seed = _ordered([documents[number] for number in own], judge, options)
        for position, place in enumerate(sequence):
            number = own[place]
            one, purpose = documents[number], purposes[number]
            author = dict(options.primary).get(one.topic)
            if judge == author:
                purpose = Purpose.PRIMARY
            elif author is not None and purpose is Purpose.PRIMARY:
                purpose = Purpose.OVERLAP
            places.append(Place(one.topic, one.docno, judge, purpose, position, options.order, seed))
    return sorted(places, key=lambda place: (place.position, place.docno, place.judge))


def _places_to_claim(
    documents: Sequence[Assignable],
    sizes: Sequence[int],
    purposes: Sequence[Purpose],
    options: AssignmentOptions,
) -> list[Place]:
    sequence, seed = _ordered(documents, None, options)
    places: list[Place] = []
    for position, number in enumerate(sequence):
        one = documents[number]
        judges: list[str | None] = [*sorted(one.decided - one.holders)]
        judges += [None] * (sizes[number] - len(one.decided))
        places += [
            Place(one.topic, one.docno, judge, purposes[number], position, options.order, seed)
            for judge in judges
        ]
    return places


def _ordered(
    documents: Sequence[Assignable], judge: str | None, options: AssignmentOptions
) -> tuple[list[int], int | None]:
    """Put documents of a topic, given by docno, in the order for a judge; ``None`` = for any judge.

    Returns their numbers in order, and the seed of a random one.
    """
    numbers = range(len(documents))
    if options.order == "docno":
        return list(numbers), None
    if options.order == "random":
        seed = options.seed
        if judge is not None:
            seed = int(raw_numbers(seed, judge, 1, step=_JUDGE)[0]) >> 32
        # The same order as a pool displays its documents in with this seed.
        drawn = raw_numbers(seed, documents[0].topic, len(documents))
        return np.argsort(drawn, kind="stable").tolist(), seed
    rank: list[tuple[int, float]] = []
    for one in documents:
        if one.priority is None:
            reason = f"needs priorities, but `{one.docno}` of topic `{one.topic}` has none"
            hint = "imported pools have no priorities; --order random needs none"
            raise ArgumentError("order", reason, None, hint=hint)
        rank.append((one.pool, -one.priority))
    # The greater docno first where priorities are equal, as everywhere; sorting is stable.
    return sorted(sorted(numbers, reverse=True), key=rank.__getitem__), None
