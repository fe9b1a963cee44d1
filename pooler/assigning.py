"""Which judge gets which documents, and in what order: from a pool to places, without a database.

By document, every document gets its judges on its own; by topic, a whole topic goes to the same
judges. Either way the judges come out with as many documents each as can be, and pairs of judges
with as many in common. What somebody has decided already counts: that judge is one of those the
document gets, and has that much less to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from pooler.judge_choice import choose_judges
from pooler.randomness import raw_numbers
from store.errors import ArgumentError, PoolerError
from store.natural_order import natural_key
from store.seats import Assignable, AssignmentPlan, Existing, Place, Purpose

By = Literal["document", "topic"]
DisplayOrder = Literal["docno", "random", "priority"]

# Each has random numbers of its own, so that one option more leaves the others' as they are.
_PURPOSE, _JUDGE = 0, 1


@dataclass(frozen=True, slots=True)
class AssignmentOptions:
    """How documents are assigned.

    Raises
    ------
    ArgumentError
        If they contradict each other.
    """

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
    lease_s: int | None = None
    """Seconds, from 1, a claimed document waits for a decision; ``None`` = assigned by name."""

    def __post_init__(self) -> None:
        """Check that the options go together."""
        for name, value, least in (
            ("--per-document", self.per_document, 1),
            ("--calibration", self.calibration, 0),
            ("--lease", 1 if self.lease_s is None else self.lease_s, 1),
            ("--seed", self.seed, 0),
        ):
            if value < least:
                raise ArgumentError(name, f"must be an integer >= {least}", value)
        if not 0 <= self.overlap <= 1:
            raise ArgumentError("--overlap", "must be a share from 0 to 1", self.overlap)
        if self.overlap_judges is not None:
            if not self.overlap:
                raise ArgumentError("--overlap-judges", "needs --overlap SHARE", None)
            if self.overlap_judges <= self.per_document:
                requirement = f"must be more than --per-document, which is {self.per_document}"
                raise ArgumentError("--overlap-judges", requirement, self.overlap_judges)
        if self.by == "topic" and self.lease_s is not None:
            requirement = "cannot be `topic` with --claim: documents are claimed one by one"
            raise ArgumentError("--by", requirement, None)

    @property
    def most_judges(self) -> int:
        """The most judges that a document gets, but for calibration."""
        if not self.overlap:
            return self.per_document
        return self.overlap_judges or self.per_document + 1


def plan_assignment(
    documents: Iterable[Assignable], judges: Iterable[str], options: AssignmentOptions
) -> AssignmentPlan:
    """Choose judges for documents.

    Parameters
    ----------
    documents : iterable of Assignable
        Each (topic, docno) once.
    judges : iterable of str
        Who is to judge, by name. Where places are to be claimed, only their number counts: so
        many judges get a calibration document.
    options : AssignmentOptions
        How.

    Returns
    -------
    AssignmentPlan
        The places to be made. With them, and with the places that stay, every document planned has
        exactly as many judges as its purpose asks for; or as many as have decided on it, where
        that is more.

    Raises
    ------
    ArgumentError
        If there are fewer judges than a document needs, or the order is by priority and a document
        has none.
    PoolerError
        If there is no judge.

    Notes
    -----
    The same places for the same arguments, in whatever sequence they are given. Loads are those
    of the documents planned; what judges have elsewhere does not count. By document they differ
    by at most one wherever decisions that stand allow it. By topic, the largest topics are given
    away first, each to those who have decided most in it, then to those with the fewest
    documents.

    A share of overlap is rounded to whole documents of each topic, halves up. A judge who has
    decided on a document and was not given it by name keeps it all the same.

    About 20 microseconds a document.

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
    by_topic = _planned(every, options)
    purposes = {topic: _purposes(topic, some, options) for topic, some in by_topic.items()}
    sizes = {
        topic: [_size(one, purpose, names, options)
                for one, purpose in zip(some, purposes[topic], strict=True)]
        for topic, some in by_topic.items()
    }  # fmt: skip
    if options.lease_s is None:
        chosen = choose_judges(
            by_topic,
            names,
            sizes,
            seed=options.seed,
            topic_judges=options.per_document if options.by == "topic" else None,
            experience=_experience(every),
        )
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
        "documents": {purpose.value: counts[purpose.value] for purpose in Purpose},
        "sizes": {topic: len(some) for topic, some in by_topic.items()},
        "decided": sum(len(one.decided) for some in by_topic.values() for one in some),
        "places": len(places),
    }
    return AssignmentPlan(places, manifest, options.lease_s)


def _planned(
    documents: Iterable[Assignable], options: AssignmentOptions
) -> dict[str, list[Assignable]]:
    """Return the documents to plan, by docno, of topics in natural order."""
    planned = sorted(
        (one for one in documents if not (options.existing is Existing.ADD and one.has_place)),
        key=lambda one: (natural_key(one.topic), one.docno),
    )
    return {topic: list(some) for topic, some in groupby(planned, lambda one: one.topic)}


def _experience(documents: Iterable[Assignable]) -> dict[str, Counter[str]]:
    """Count the documents of each topic that are each judge's already."""
    experience: dict[str, Counter[str]] = {}
    for one in documents:
        experience.setdefault(one.topic, Counter()).update(one.decided | one.holders)
    return experience


def _check_judges(names: Sequence[str], options: AssignmentOptions) -> None:
    """Refuse too few judges."""
    if options.lease_s is not None and not options.calibration:
        return
    if not names:
        message = "there is no judge to assign documents to"
        raise PoolerError(message, hint="pooler judges add NAME")
    if options.lease_s is not None:
        return
    requirement = f"must be at most the number of judges, which is {len(names)}"
    if options.per_document > len(names):
        raise ArgumentError("--per-document", requirement, options.per_document)
    if options.most_judges > len(names):
        raise ArgumentError("--overlap-judges", requirement, options.most_judges)


def _purposes(
    topic: str, documents: Sequence[Assignable], options: AssignmentOptions
) -> list[Purpose]:
    """Draw the purposes of a topic's documents."""
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


def _size(
    document: Assignable, purpose: Purpose, names: Iterable[str], options: AssignmentOptions
) -> int:
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
    """Make the places of a topic, each in its judge's own order."""
    new = [having - one.holders for one, having in zip(documents, judges, strict=True)]
    places: list[Place] = []
    for judge in sorted(set().union(*new)):
        own = [number for number, having in enumerate(new) if judge in having]
        sequence, display_order = _ordered([documents[number] for number in own], judge, options)
        for position, place in enumerate(sequence):
            number = own[place]
            one = documents[number]
            places.append(
                Place(one.topic, one.docno, judge, purposes[number], position, display_order)
            )
    return sorted(places, key=lambda place: (place.position, place.docno, place.judge))


def _places_to_claim(
    documents: Sequence[Assignable],
    sizes: Sequence[int],
    purposes: Sequence[Purpose],
    options: AssignmentOptions,
) -> list[Place]:
    """Make the places of a topic: those of judges who decided, the others open."""
    sequence, display_order = _ordered(documents, None, options)
    places: list[Place] = []
    for position, number in enumerate(sequence):
        one = documents[number]
        judges: list[str | None] = [*sorted(one.decided - one.holders)]
        judges += [None] * (sizes[number] - len(one.decided))
        places += [
            Place(one.topic, one.docno, judge, purposes[number], position, display_order)
            for judge in judges
        ]
    return places


def _ordered(
    documents: Sequence[Assignable], judge: str | None, options: AssignmentOptions
) -> tuple[list[int], str]:
    """Lay documents of a topic, given by docno, before a judge; ``None`` = before whoever comes.

    Returns their numbers in order, and what the order is called.
    """
    numbers = range(len(documents))
    if options.order == "docno":
        return list(numbers), "docno"
    if options.order == "random":
        seed = options.seed
        if judge is not None:
            seed = int(raw_numbers(seed, judge, 1, step=_JUDGE)[0]) >> 32
        # As a pool lays its documents at random with this seed.
        drawn = raw_numbers(seed, documents[0].topic, len(documents))
        return np.argsort(drawn, kind="stable").tolist(), f"random:{seed}"
    rank: list[tuple[int, float]] = []
    for one in documents:
        if one.priority is None:
            reason = f"needs priorities, and `{one.docno}` of topic `{one.topic}` has none"
            hint = "a pool has them when its strategy ranks documents; --order random needs none"
            raise ArgumentError("--order", reason, None, hint=hint)
        rank.append((one.pool, -one.priority))
    # The greater docno first where priorities are equal, as everywhere; sorting is stable.
    return sorted(sorted(numbers, reverse=True), key=rank.__getitem__), "priority"
