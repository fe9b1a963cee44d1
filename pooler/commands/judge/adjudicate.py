"""Documents that judges decided differently, and what happened to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pooler.command import Option, QrelsName, Stored, command
from pooler.commands.judge.judge import MIN_DWELL_MS, MinDwell, Plain, Stay, begin, drafts_of, sit
from pooler.judge_kinds import warn_about_voters
from pooler.result import Result, frozen_settings
from pooler.tables import DOCNO, DOCUMENTS, TOPIC, Column, Table, View
from store.errors import ArgumentError, PoolerError
from store.judging.disagreements import Case, CellCount, GivenGrade, Selection, count_cells, gap_of, letter
from store.records import TieRule
from store.text import counted

if TYPE_CHECKING:
    from judge_ui.session.session import AdjudicatingSession
    from store.collection import Collection
    from store.records import Scale

    Mark = Callable[[GivenGrade], int | str]


@command
def adjudicate(
    collection: Stored,
    *,
    name: Annotated[str | None, Option("--judge NAME")] = None,
    names: bool = False,
    topic: Annotated[str | None, Option("--topic", "Only this topic.")] = None,
    gap: Annotated[
        int | None, Option("--gap N", "Only where two grades differ by N or more.", least=1)
    ] = None,
    unresolved: TieRule | None = None,
    qrels: QrelsName = None,
    plain: Plain = False,
    stay: Stay = False,
    min_dwell: MinDwell = MIN_DWELL_MS,
) -> DisagreementList | None:
    """Settle or list documents that judges have decided differently.

    The adjudicator sees the judges' grades, notes and passages as A, B, C; which judge is which changes
    from document to document. Where a person has judged, only people count, unless --qrels counts others: the
    kinds of judges of these count, and all of a kind.
    The outcome is the adjudicator's own judgement; nothing is overwritten. Notes and skips never count as
    a disagreement. Without --judge, the disagreements are listed, with how each was settled; the table
    `cells` counts them by the two grades, and by what they were settled as.

    Example: pooler adjudicate --gap 2

    Example: pooler adjudicate --judge zoe --gap 2

    name : Who decides: a judge of kind adjudicator. Without it, the disagreements are listed.
    names : In the list, name A, B and C. For the organiser only.
    gap : Only where two grades differ by N or more.
    unresolved : Only where this rule leaves the votes tied: what qrels of `--aggregate RULE --ties
        unresolved` leave out.

    Raises
    ------
    ArgumentError
        If there is no such rule.
    UnknownNameError
        If there are no such topic, judge or qrels.

    Notes
    -----
    One pass over the judgements.

    Examples
    --------
    >>> from pooler import adjudicate
    >>> adjudicate("collection.db", gap=2).table("disagreements").to_dict()["docno"]  # doctest: +SKIP
    ['KG-E-008']
    """
    if unresolved not in (None, *get_args(TieRule)):
        raise ArgumentError("unresolved", f"must be one of {', '.join(get_args(TieRule))}", unresolved)
    asked = replace(collection.disputes(qrels), topic=topic, gap=gap, unresolved=unresolved)
    if name is not None:
        if names:
            raise ArgumentError("names", "is of the list, without --judge", None)
        session = _session(collection, name, asked, plain=plain, advance=not stay, min_dwell=min_dwell / 1000)
        sit(session, plain=plain)
        return None
    area = collection.disagreements
    counts = area.voters(asked)
    warn_about_voters(counts, "stand side by side", is_headed=True)
    cases = tuple(area.all(asked))
    return DisagreementList(
        settings=frozen_settings(collection=collection.name, **counts.to_json()),
        cases=cases,
        cells=tuple(count_cells(cases)),
        scale=collection.scale,
        who=area.judge_names() if names else {},
        where=collection.where,
        why_none="" if cases else _why_none(area.count_deciders(asked), is_narrowed=not asked.is_whole),
    )


def _session(
    opened: Collection, name: str, selection: Selection, *, plain: bool, advance: bool, min_dwell: float
) -> AdjudicatingSession:
    from judge_ui.session.drafts import Drafts
    from judge_ui.session.session import AdjudicatingSession
    from pooler.version import __version__

    desk = opened.adjudication_desk(name, selection=selection, program=f"pooler {__version__}")
    begin(opened, desk, "adjudicate", plain=plain)
    warn_about_voters(desk.voters(), "stand side by side")
    if desk.is_idle():
        which = "" if selection.is_whole and selection.topic is None else " of that kind"
        message = f"there is nothing to adjudicate: no disagreement{which} is left for `{name}`"
        raise PoolerError(message, hint="pooler adjudicate shows them all")
    dwell = 0.0 if plain else min_dwell
    drafts = Drafts(drafts_of(opened.where, name))
    session = AdjudicatingSession(desk, min_dwell=dwell, advance=advance, drafts=drafts)
    if selection.topic is not None:
        session.open_topic(selection.topic)
    return session


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
    why_none: str

    def _tables(self) -> Iterator[Table]:
        from judge_ui.session.words import grade_mark

        known_to_judges = partial(grade_mark, self.scale)
        for made in (self._listed, self._counted):
            # People read grades as judges know them.
            yield made(_stored).seen_as(View(made(known_to_judges), of_rows="document"))

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
