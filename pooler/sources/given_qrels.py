"""Qrels of a file or of memory: which documents have a grade, and which were pooled without one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pooler.messages import say, warn
from pooler.sources.judgement_files import read_given_qrels, untold
from store.errors import FaultList
from store.formats.qrels import DUPLICATE
from store.formats.scale import Meaning, understood
from store.formats.tables import GradedRow
from store.records import Qrel, Scale
from store.text import counted


@dataclass(frozen=True, slots=True)
class GivenQrels:
    """One grade a document."""

    name: str
    rows: Sequence[Qrel]
    pooled: dict[str, list[str]]
    """By topic, documents that were pooled and have no grade."""
    untold: Sequence[int]
    """Codes below -1 of which nobody told what they mean; they are among the grades."""

    def refuse_untold(self) -> None:
        """Raise `PoolerError` where an untold code may mean that a document is unjudged."""
        if self.untold:
            raise untold(self.name, self.untold[0])

    def warn_of_untold(self) -> None:
        """Warn of what counts as judged and not relevant, as nobody told what it means."""
        if self.untold:
            n = counted(sum(row.grade in self.untold for row in self.rows), "document")
            warn(
                f"{self.name}: {n} with {code_words(self.untold)} counted as judged and not relevant;"
                f" --code {self.untold[0]}=grade|unjudged|not-pooled|skipped|cannot says what it means"
            )


def given_qrels(
    qrels: str | Sequence[Qrel], *, codes: Sequence[str], scale: Scale | None, lenient: bool
) -> GivenQrels:
    """Read a file, or take what is in memory; see `understood` of `codes`.

    Grades of a file must be on the scale, if there is one, but for untold codes.
    """
    name, values = qrels if isinstance(qrels, str) else "qrels", set(scale.values) if scale else set()
    faults = FaultList(name)
    lines: Sequence[GradedRow] = ()
    if isinstance(qrels, str):
        lines = read_given_qrels(name, lenient=lenient, faults=faults).rows
        qrels = [Qrel(one.topic, one.docno, one.code, one.iteration) for one in lines]
    meanings, unclear = understood((row.grade for row in qrels), codes, values)
    no_grades = {code for code, what in meanings.items() if what is not Meaning.GRADE}
    off = {line.code for line in lines} - values - no_grades - {*unclear} if scale else set()
    for line in lines if off else ():
        if line.code in off:
            known = ", ".join(map(str, sorted(values)))
            faults.add(line.line, f"expected a grade of the scale ({known}), got {line.code}", "grade")
    faults.raise_if_any(hint="--scale declares the grades there are" if off else None)
    graded = [row for row in qrels if row.grade not in no_grades]
    if n_given := sum(row.iteration == DUPLICATE for row in graded):
        say(f"{name}: {counted(n_given, 'grade')} copied to near-duplicates counted as well")
    pooled: dict[str, list[str]] = {}
    listed = no_grades - {code for code, what in meanings.items() if what is Meaning.NOT_POOLED}
    found = [row for row in qrels if row.grade in listed] if listed else []
    for row in found:
        pooled.setdefault(row.topic, []).append(row.docno)
    if found:
        by = code_words({row.grade for row in found})
        say(f"{name}: {counted(len(found), 'pooled document')} without a grade ({by})")
    return GivenQrels(name, graded, pooled, unclear)


def code_words(codes: Iterable[int]) -> str:
    """Name codes, as `code -1` or `codes -3, -2`."""
    found = sorted(codes)
    return f"code{'s' * (len(found) > 1)} {', '.join(map(str, found))}"
