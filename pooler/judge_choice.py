"""Which judges each document gets: loads and common documents of pairs even, the rest by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pooler.even_loads import even_out
from pooler.randomness import raw_numbers
from store.seats import Assignable

# Each has random numbers of its own, also beside those of `pooler.assigning`.
_SEQUENCE, _TIES, _TOPICS = 10, 11, 12


def choose_judges(
    by_topic: Mapping[str, Sequence[Assignable]],
    names: Sequence[str],
    sizes: Mapping[str, Sequence[int]],
    *,
    seed: int,
    topic_judges: int | None = None,
    experience: Mapping[str, Mapping[str, int]],
) -> dict[str, list[set[str]]]:
    """Choose the judges of every document.

    Parameters
    ----------
    by_topic : mapping of str to sequence of Assignable
        The documents; topics in natural order.
    names : sequence of str
        Who may be chosen; ascending.
    sizes : mapping of str to sequence of int
        How many judges each document is to have, at most as many as may be chosen and those who
        have decided on it.
    seed : int
        Not negative.
    topic_judges : int, optional
        Every topic goes as a whole to so many; default every document on its own.
    experience : mapping of str to mapping of str to int
        By topic and judge, the documents there that are the judge's already.

    Returns
    -------
    dict of str to list of set of str
        Those who decided, and the judges chosen.

    Notes
    -----
    The next judge of a document is the one with the fewest documents in all, then the fewest in
    the topic, then the fewest in common with the document's other judges, then by chance. Decisions
    that stand may leave loads less even than can be; `pooler.even_loads` repairs that.
    """
    chooser = _Chooser(by_topic, names)
    if topic_judges is None:
        for topic in by_topic:
            chooser.fill(topic, sizes[topic], seed, preferred=frozenset())
        chooser.even_out()
    else:
        numbers = {topic: raw_numbers(seed, topic, len(names) + 1, step=_TOPICS).tolist()
                   for topic in by_topic}  # fmt: skip
        largest_first = sorted(
            by_topic, key=lambda topic: (-len(by_topic[topic]), numbers[topic][-1])
        )
        for topic in largest_first:
            known = [experience.get(topic, {}).get(name, 0) for name in names]
            preferred = chooser.best_of_topic(topic_judges, known, numbers[topic])
            chooser.fill(topic, sizes[topic], seed, preferred=preferred)
    return chooser.result()


class _Chooser:
    """Who has what, while documents are given away; judges are numbered."""

    def __init__(self, by_topic: Mapping[str, Sequence[Assignable]], names: Sequence[str]) -> None:
        self.by_topic = by_topic
        self.names = names
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
        """Count judges who get a document that others have."""
        have = set(old)
        for judge in new:
            self.loads[judge] += 1
            for other in have:
                self.shared[judge][other] += 1
                self.shared[other][judge] += 1
            have.add(judge)

    def best_of_topic(self, n: int, known: Sequence[int], ties: Sequence[int]) -> frozenset[int]:
        """Choose the judges of a whole topic."""
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

    def fill(
        self, topic: str, sizes: Sequence[int], seed: int, *, preferred: frozenset[int]
    ) -> None:
        """Choose the judges that the documents of a topic lack."""
        documents, chosen = self.by_topic[topic], self.chosen[topic]
        n_judges = len(self.names)
        ties = raw_numbers(seed, topic, len(documents) * n_judges, step=_TIES).tolist()
        sequence = np.argsort(raw_numbers(seed, topic, len(documents), step=_SEQUENCE))
        loads, shared = self.loads, self.shared
        in_topic = Counter(judge for some in chosen for judge in some)
        for number in sequence.tolist():
            have, first = chosen[number], number * n_judges
            for _ in range(sizes[number] - len(documents[number].decided)):
                best = min(
                    (judge for judge in range(n_judges) if judge not in have),
                    key=lambda judge: (
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

    def even_out(self) -> None:
        """Repair loads that decisions have left uneven."""
        if max(self.loads, default=0) - min(self.loads, default=0) < 2:
            return
        kept, seats = (self._array(some) for some in (self.kept, self.chosen))
        even_out(seats, seats & ~kept)
        rows = iter(seats)
        self.chosen = {
            topic: [set(np.flatnonzero(next(rows)).tolist()) for _ in some]
            for topic, some in self.chosen.items()
        }

    def _array(self, of_topics: Mapping[str, Sequence[set[int]]]) -> NDArray[np.bool_]:
        """Write who has what as an array, a row a document."""
        rows = [row for some in of_topics.values() for row in some]
        array = np.zeros((len(rows), len(self.names)), np.bool_)
        for number, row in enumerate(rows):
            array[number, list(row)] = True
        return array

    def result(self) -> dict[str, list[set[str]]]:
        """Return the names of all who have each document."""
        return {
            topic: [
                {self.names[judge] for judge in judges} | one.decided
                for judges, one in zip(self.chosen[topic], documents, strict=True)
            ]
            for topic, documents in self.by_topic.items()
        }
