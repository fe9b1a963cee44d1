"""Tables and votes for the tests of agreement: drawn, or written one character a grade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from store.analysis.agreement.kappa import RelevantCounts
from store.analysis.agreement.votes import Votes, votes_from_rows
from store.records import Judgement, State
from store.text import natural_key

Table = NDArray[np.int64]
MISSING = "."


@st.composite
def graded_tables(draw: st.DrawFn, *, min_grades: int = 2, max_grades: int = 5) -> Table:
    """Draw a table of 2 to 5 declared grades, often with grades that one or both never use."""
    n_grades = draw(st.integers(min_grades, max_grades))
    counts = st.one_of(st.just(0), st.integers(0, 30))
    table = draw(arrays(np.int64, (n_grades, n_grades), elements=counts))
    used = draw(arrays(np.bool_, (2, n_grades)))
    if used.any(axis=1).all() and draw(st.booleans()):
        table = table * used[0][:, np.newaxis] * used[1]
    return table


@st.composite
def drawn_votes(draw: st.DrawFn, *, max_judges: int = 4, max_documents: int = 8) -> Votes:
    """Draw votes of a few judges on a few documents of up to 3 topics, cells missing."""
    n_grades = draw(st.integers(2, 4))
    n_judges = draw(st.integers(1, max_judges))
    grades = st.one_of(st.just(MISSING), st.sampled_from("0123"[:n_grades]))
    document = st.tuples(*[grades] * n_judges).map("".join)
    rows = draw(st.lists(st.tuples(st.integers(0, 2), document), max_size=max_documents))
    return votes_in(
        [text for _, text in rows], range(n_grades), topics=[topic for topic, _ in rows], n_judges=n_judges
    )


def votes_in(
    documents: Sequence[str],
    scale: Sequence[int],
    *,
    topics: Sequence[int] | None = None,
    n_judges: int | None = None,
) -> Votes:
    """Take votes from documents written one digit a judge, `.` for not judged."""
    values = list(scale)
    rows = [
        (0 if topics is None else topics[number], number, judge, values.index(int(grade)))
        for number, document in enumerate(documents)
        for judge, grade in enumerate(document)
        if grade != MISSING
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    width = max(map(len, documents), default=0) if n_judges is None else n_judges
    return votes_from_rows(
        *columns,
        topics=["1"] if topics is None else ["1", "2", "3"],
        judges=[f"judge {number}" for number in range(width)],
        scale_values=values,
    )


def votes_of(judgements: Iterable[Judgement], scale: Sequence[int]) -> Votes:
    """Take the current grades of judgements; what was skipped or cannot be judged is no vote."""
    rows = sorted(judgements, key=lambda row: row.revision)
    topics = sorted({row.topic for row in rows}, key=natural_key)
    docnos, judges = (sorted({getattr(row, name) for row in rows}) for name in ("docno", "judge"))
    current = {(row.topic, row.docno, row.judge): row for row in rows}
    places = [{name: place for place, name in enumerate(names)} for names in (topics, docnos, judges)]
    columns = [
        [*(of[name] for of, name in zip(places, key, strict=True)), list(scale).index(row.grade or 0)]
        for key, row in current.items()
        if row.state is State.JUDGED
    ]
    return votes_from_rows(
        *np.array(columns, dtype=np.int64).reshape(-1, 4).T, topics=topics, judges=judges, scale_values=scale
    )


def texts_of(votes: Votes) -> list[str]:
    """Write votes one place a judge, document by document, `.` for not judged."""
    cells = np.full((votes.n_documents, len(votes.judges)), MISSING, dtype=object)
    cells[votes.documents, votes.judge_codes] = [str(place) for place in votes.places.tolist()]
    return ["".join(row) for row in cells]


def two_columns(first: str, second: str, scale: Sequence[int] = (0, 1, 2, 3)) -> Votes:
    """Take the votes of two judges, each written one character a document."""
    return votes_in(["".join(pair) for pair in zip(first, second, strict=True)], scale)


def expand(table: Table) -> tuple[Table, Table]:
    """Turn a table back into two columns of grades."""
    rows, columns = np.indices(table.shape)
    counts = table.ravel()
    return np.repeat(rows.ravel(), counts), np.repeat(columns.ravel(), counts)


def relevant_in(tables: Table) -> RelevantCounts:
    """Count two judges' relevant documents, one entry a table of shape (2, 2)."""
    common = tables.sum(axis=(1, 2))
    return RelevantCounts(common, tables[:, 1, 1], np.asarray(common - tables[:, 0, 0]))
