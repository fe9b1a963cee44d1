"""Several judges' grades as counts by document: the votes of the ballots, without a docno."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlmodel import Session

from store.errors import ArgumentError
from store.judges import judge_id
from store.keys import Keys
from store.models import JUDGE
from store.natural_order import natural_key
from store.records import JudgeKind
from store.votes import newest_events


@dataclass(frozen=True, slots=True, eq=False)
class TalliedGrades:
    """How many judges gave a document each grade, over documents with a grade."""

    judges: tuple[str, ...]
    """Who gave a grade, by name; adjudicators are no judges here."""
    by_topic: Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]]
    """Topics in natural order; ids of documents ascending, shape (n_documents,), and judges by the
    grade they gave, grades of the scale ascending, shape (n_documents, n_grades)."""

    @property
    def n_documents(self) -> int:
        """Graded (topic, document) pairs."""
        return sum(ids.size for ids, _ in self.by_topic.values())

    def judges_a_document(self) -> tuple[int, int]:
        """Return the least and the greatest number of judges of a document; 0 without any."""
        votes = [counts.sum(axis=1) for _, counts in self.by_topic.values()]
        numbers = np.concatenate(votes) if votes else np.zeros(1, dtype=np.int64)
        return int(numbers.min()), int(numbers.max())


def fetch_tallied_grades(
    session: Session, topics: Keys, scale_values: Sequence[int], *, of: Sequence[str] = ()
) -> TalliedGrades:
    """Count the current grades of judges by document.

    Parameters
    ----------
    session : Session
        Any session.
    topics : Keys
        Fresh.
    scale_values : sequence of int
        The declared grades, ascending.
    of : sequence of str, optional
        These judges alone; default all but adjudicators.

    Returns
    -------
    TalliedGrades
        The counts of `store.ballots.Ballots` under the same choice of judges; no topic where
        nobody graded anything.

    Raises
    ------
    UnknownNameError
        If a judge is not known.
    ArgumentError
        If an adjudicator is named, or a grade is not on the scale.

    Notes
    -----
    About half a microsecond an event; `store.gathering.fetch_ballots` takes some fifty.
    """
    rows = session.execute(select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.kind)).all()
    adjudicators = {row.id for row in rows if row.kind == JudgeKind.ADJUDICATOR.value}
    chosen = {judge_id(session, name): name for name in of}
    for number, name in chosen.items():
        if number in adjudicators:
            hint = "an adjudicator's rulings count, and are no votes"
            raise ArgumentError("--of", "must be judges, not adjudicators", name, hint=hint)
    names = chosen or {row.id: row.name for row in rows if row.id not in adjudicators}
    numbers = np.array(sorted(names), dtype=np.int64)
    events = newest_events(session.connection(), numbers)
    topic_of, document_of, judge_of, _, grade_of = events[:, events[3] == 0]
    values = np.array(scale_values, dtype=np.int64)
    places = np.minimum(np.searchsorted(values, grade_of), values.size - 1)
    if not (is_known := values[places] == grade_of).all():
        off = int(grade_of[int(np.argmin(is_known))])
        raise ArgumentError("grade", f"must be one of {list(scale_values)}", off)
    order = np.lexsort((document_of, topic_of))
    topic_of, document_of, places = topic_of[order], document_of[order], places[order]
    is_new = np.ones(order.size, dtype=np.bool_)
    is_new[1:] = (topic_of[1:] != topic_of[:-1]) | (document_of[1:] != document_of[:-1])
    cells = (np.cumsum(is_new) - 1) * values.size + places
    n_documents = int(np.count_nonzero(is_new))
    counts = np.bincount(cells, minlength=n_documents * values.size)
    counts = counts.astype(np.int64, copy=False).reshape(n_documents, values.size)
    topic_of, document_of = topic_of[is_new], document_of[is_new]
    own, starts = np.unique(topic_of, return_index=True)
    found = {
        topics.names[number]: part
        for number, *part in zip(
            own.tolist(),
            np.split(document_of, starts[1:]),
            np.split(counts, starts[1:]),
            strict=False,  # nothing splits into one empty part
        )
    }
    return TalliedGrades(
        judges=tuple(sorted(names[number] for number in np.unique(judge_of).tolist())),
        by_topic={topic: (found[topic][0], found[topic][1])
                  for topic in sorted(found, key=natural_key)},
    )  # fmt: skip
