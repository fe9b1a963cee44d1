"""What was carried over, in tables and in words: never a judgement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pooler.results.table import DOCNO, TOPIC, Column, Table

if TYPE_CHECKING:
    from store.judging.carried import CarriedOver

CARRIED_COLUMNS = (
    TOPIC,
    DOCNO,
    Column("source", about="shown to judges in its place"),
    Column("similarity", "float", about="Jaccard of the shingles of both", digits=2),
    Column("state", about="what is carried over now"),
    Column("pooled", "bool", show="never"),
    Column("carried_at", "moment", "carried"),
    Column("ended_at", "moment", "released", show="if_any"),
)
STATE_WORDS = {
    "carried": "the source's grade is carried over",
    "waiting": "nobody has graded the source yet",
    "looked-at": "somebody has decided on the document itself, or skipped it: that stands",
    "drawn": "an adaptive or sampled pool has drawn the document, so it is shown itself",
    "source-cannot": "the source cannot be judged, so the document is shown itself",
    "text-changed": "one of the texts is another now, so the document is shown itself",
    "source-not-pooled": "the source is in no pool, so the document is shown itself",
    "source-carried": "the source is carried over itself, so the document is shown itself",
    "released": "the document is shown itself",
}
"""What the states of `store.judging.carried.CarriedState` mean."""


def carried_table(carried: Sequence[CarriedOver]) -> Table:
    """Make the table."""
    states = dict.fromkeys(one.state.value for one in carried)
    return Table.of_records(
        "carried",
        CARRIED_COLUMNS,
        carried,
        title="Carried over from near-duplicates",
        notes=[f"{state}: {STATE_WORDS[state]}" for state in states],
        state=lambda one: one.state.value,
        pooled=lambda one: one.is_pooled,
    )


def carried_words(
    carried: Sequence[CarriedOver], docno: str, grades: Mapping[str, int | None]
) -> Iterator[str]:
    """Say in whose place a document of a topic is shown, or which in its own.

    `grades`: of the documents that are shown, by docno, where one follows without a rule.
    """
    for one in carried:
        if one.docno == docno:
            words = f"{one.source} is shown in its place, a near-duplicate (Jaccard {one.similarity:.2f})"
            grade = grades.get(one.source) if one.holds else None
            what = STATE_WORDS[one.state.value] if grade is None else f"its grade is {grade}"
            yield f"carried over, not judged: {words}; {what}"
    stands_for = [
        f"{one.docno} ({one.similarity:.2f})" for one in carried if one.source == docno and one.holds
    ]
    if stands_for:
        yield f"shown in the place of near-duplicates: {', '.join(stands_for)}"
