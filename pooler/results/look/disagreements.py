"""Documents that judges decided differently, and what happened to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from pooler.results.judge_kinds import warn_about_voters
from pooler.results.result import Result, collect_warnings, frozen_settings
from pooler.results.table import DOCNO, DOCUMENTS, TOPIC, Column, Table, View
from store.errors import ArgumentError
from store.judging.disagreements import Case, CellCount, GivenGrade, Selection, count_cells, gap_of, letter
from store.judging.kinds import check_kinds
from store.records import TieRule
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.records import Scale

    Mark = Callable[[GivenGrade], int | str]


def disagreements(
    collection: Collection,
    *,
    topic: str | None = None,
    gap: int | None = None,
    unresolved: TieRule | None = None,
    kinds: Sequence[str] = (),
    names: bool = False,
) -> DisagreementList:
    """List the documents that two judges or more decided differently, and what happened to them.

    Parameters
    ----------
    collection : Collection
        Open.
    topic : str, optional
        Of this topic alone.
    gap : int, optional
        Where two grades differ by so much or more; from 1.
    unresolved : {"majority", "median"}, optional
        Where this rule leaves the votes tied.
    kinds : sequence of {"human", "model", "imported"}, optional
        Whose decisions count; default as everywhere: people, where one has graded.
    names : bool, default=False
        Who A, B and C are. For the organiser alone: adjudicators judge blind.

    Returns
    -------
    DisagreementList
        Tables `disagreements`, a row a document, by topic and docno, with rulings that are no
        longer needed where no kind is asked for; and `cells`, their number by the two grades.

    Raises
    ------
    ArgumentError
        If there is no such rule or kind.
    UnknownNameError
        If there is no such topic.

    Notes
    -----
    One pass over the judgements.

    Examples
    --------
    >>> from store.collection import Collection
    >>> with Collection("collection.db") as opened:  # doctest: +SKIP
    ...     disagreements(opened, gap=2).table("disagreements").to_dict()["docno"]
    ['KG-E-008']
    """
    wanted: dict[str, Any] = {"topic": topic, "gap": gap, "unresolved": unresolved}
    area = collection.disagreements
    with collect_warnings() as collected:
        asked = selection(**wanted, kinds=kinds)
        counts = area.voters(asked)
        warn_about_voters(counts, "stand side by side")
    cases = tuple(area.all(asked))
    who = area.judge_names()
    return DisagreementList(
        settings=frozen_settings(collection=collection.name, **wanted, names=names, **counts.to_json()),
        warnings=collected.warnings,
        cases=cases,
        cells=tuple(count_cells(cases)),
        scale=collection.scale,
        who=who if names else {},
        where=collection.where,
        why_none="" if cases else _why_none(area.count_deciders(asked), is_narrowed=not asked.is_whole),
    )


def selection(
    *, topic: str | None, gap: int | None, unresolved: TieRule | None, kinds: Sequence[str]
) -> Selection:
    """Check which disagreements are wanted; the parameters are those of `disagreements`."""
    if unresolved not in (None, *get_args(TieRule)):
        raise ArgumentError("unresolved", f"must be one of {', '.join(get_args(TieRule))}", unresolved)
    return Selection(topic, gap, unresolved=unresolved, kinds=check_kinds(kinds))


def _stored(given_grade: GivenGrade) -> int | str:
    return "cannot" if given_grade is None else given_grade


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DisagreementList(Result):
    """What judges disagree on; tables: `disagreements`, and `cells`: their number by two grades."""

    cases: tuple[Case, ...]
    """By topic and docno; the votes of each are A, B, C."""
    cells: tuple[CellCount, ...]
    scale: Scale
    who: Mapping[int, str]
    """Names of judges, where they are shown."""
    where: str
    """Of the collection."""
    why_none: str
    """Why there is no case; empty where there is one."""

    NAMES: ClassVar[tuple[str, ...]] = ("disagreements", "cells")

    def _table(self, name: str, mark: Mark = _stored) -> Table:
        return self._listed(mark) if name == "disagreements" else self._counted(mark)

    def _views(self, name: str) -> Sequence[View]:
        from judge_ui.session.messages import given_grade_mark

        # People read grades as judges know them.
        return [View(self._table(name, partial(given_grade_mark, self.scale)), of_rows="document")]

    def _listed(self, mark: Mark) -> Table:
        columns = [
            TOPIC,
            DOCNO,
            Column("grades", "texts"),
            Column("gap", "int"),
            Column("status"),
            Column("outcome", "given_grade"),
        ]
        if self.settings["names"]:
            columns += [Column("judges", "texts"), Column("adjudicator")]
        counts = Counter(case.status for case in self.cases)
        parts = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()))
        note = self.why_none or f"{counted(len(self.cases), 'document')}: {parts}"
        rows = (_row(case, self.who, mark) for case in self.cases)
        title = f"Disagreements ({self.where})"
        return Table.of_rows("disagreements", columns, rows, title=title, notes=[note])

    def _counted(self, mark: Mark) -> Table:
        outcomes = {f"as_{_stored(one)}": one for one in (*self.scale.values, None)}
        columns = [
            Column("first", "given_grade", "one gave"),
            Column("second", "given_grade", "another gave"),
            DOCUMENTS,
            Column("settled", "int"),
            *(Column(name, "int", f"as {mark(one)}") for name, one in outcomes.items()),
        ]
        rows = [
            {"first": mark(one.cell[0]), "second": mark(one.cell[1])}
            | {"documents": one.documents, "settled": one.settled}
            | {name: one.outcomes.get(given_grade, 0) for name, given_grade in outcomes.items()}
            for one in self.cells
        ]
        note = "A document with three different grades counts in three rows."
        notes = [note if rows else "no disagreement to count"]
        return Table.of_rows("cells", columns, rows, title="Disagreements by the two grades", notes=notes)


def _row(case: Case, who: Mapping[int, str], mark: Mark) -> dict[str, Any]:
    votes = [(letter(place), vote) for place, vote in enumerate(case.votes)]
    ruling = case.ruling
    named = {"judges": [f"{one}={who[vote.judge]}" for one, vote in votes]} if who else {}
    return {
        "topic": case.topic,
        "docno": case.docno,
        "grades": [f"{one}={mark(vote.given_grade)}" for one, vote in votes],
        "gap": gap_of(case.given_grades),
        "status": case.status.value,
        "outcome": None if ruling is None else mark(ruling.given_grade),
        "adjudicator": who[ruling.judge] if who and ruling is not None else None,
        **named,
    }


def _why_none(n_deciders: int, *, is_narrowed: bool) -> str:
    if n_deciders < 2:
        who = "no judge has" if n_deciders == 0 else "only one judge has"
        return f"no disagreement: fewer than two judges have judged; {who} so far"
    if is_narrowed:
        return "no disagreement of that kind"
    return "no disagreement: wherever two judges decided, they decided the same"
