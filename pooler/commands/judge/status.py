"""Status: how far each judge has come, what waits, and how long the rest will take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from pooler.command import Option, Stored, command
from pooler.commands.judge.status_next import next_command, stage_of, typed
from pooler.judge_kinds import erased_words
from pooler.messages import say
from pooler.pools.live import drawable, idle_words, missing_words
from pooler.result import Message, Result, messages_of
from pooler.tables import DOCNO, GRADE, JUDGE, REASON_HIDDEN, TOPIC, Column, Table, View, hidden, listed
from store.analysis.pools.pace import LEAST_DECISIONS, RECENT_DECISIONS, duration_words, forecast
from store.errors import ArgumentError, UnknownNameError
from store.records import Grade, Judge, JudgeKind, Scale
from store.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from store.judging.disagreements import Case
    from store.judging.events import Effort
    from store.judging.models import ModelWork, StatedModel
    from store.judging.progress import Counts, Progress, Unclaimed
    from store.judging.rejudging import Outdated


_UNSEEN = (
    *(hidden(name, "int") for name in ("left", "undrawn", "open_places", "unassigned")),
    *map(hidden, ("pace_s", "forecast_s", "forecast_low_s", "forecast_high_s")),
    hidden("timed", "int"),
    REASON_HIDDEN,
)
_PACE = (
    JUDGE,
    Column("left", "int"),
    Column("pace_s", "float", "s each", "mean active time of the latest decisions, without pauses", digits=1),
    Column("timed", "int", "decisions"),
    Column("forecast", heading="at this pace"),
    Column("range", heading="90% interval"),
)


@command
def status(collection: Stored) -> StatusResult:
    """Show how far each judge has got, and how long the rest will take.

    Pooled = in any pool that is not withdrawn; once documents are assigned, what is assigned to that judge.
    Documents judged outside of that are counted apart. Unjudged, skipped, cannot be judged and grade 0 are
    four different things. An adjudicator has no pool to get through: their judged documents are rulings.
    Left = unjudged, plus what adaptive pools may still draw; once documents are assigned, they draw
    nothing. The forecast is the mean active time of the judge's latest decisions, times left: minutes at
    the desk, without pauses. The last line is the command to type next.

    Example: pooler status --by-topic

    Raises
    ------
    StoreError
        If the collection cannot be read.

    Notes
    -----
    The 90% interval of the forecast is that of `store.analysis.pools.pace.forecast`. Counts alone are read,
    no judgements: a few queries whatever the size.

    Examples
    --------
    >>> from pooler import status
    >>> status("collection.db").table("status").to_dict()["unjudged"]  # doctest: +SKIP
    [119, 102]
    """
    progress = collection.progress.counts()
    unclaimed = collection.progress.unclaimed()
    times = collection.progress.recent_times(limit=RECENT_DECISIONS)
    judges = {judge.name: judge for judge in collection.judges.all()}
    adjudicators = {name for name, judge in judges.items() if judge.kind is JudgeKind.ADJUDICATOR}
    by_judge = progress.by_judge()
    pools = [pool for pool in collection.pools.all() if not pool.withdrawn]
    sizes = [
        counted(one.pairs, "pair") if one.budget is None else f"{one.pairs:,} of {one.budget:,} drawn"
        for one in pools
    ]
    named = ", ".join(f"{one.name} ({size})" for one, size in zip(pools, sizes, strict=True)) or "none"
    runs = collection.runs.all()
    words = [f"{counted(len(collection.topics.all()), 'topic')}, {counted(len(runs), 'run')}; pools: {named}"]
    if pools and (late := [one.tag for one in runs if not one.contributes]):
        ways = (
            "pooler diagnose tells the cost; pooler import runs FILE --replace, pooler pool --add let one in"
        )
        words.append(f"{counted(len(late), 'run')} kept out of pools ({listed(late, 3)}): {ways}")
    cases = collection.disagreements.all(collection.disputes()) if adjudicators else None
    if cases is not None:
        words.append(_open_words(cases))
    words += _family_words(collection.models.all())
    words += _lie_idle(unclaimed)
    if unclaimed.is_assigned and (idle := drawable(pools)):
        words.append(idle_words(idle))
    texts = collection.documents.count_without_text()
    if missing := missing_words(texts):
        words.append(missing)
    if not judges:
        words.append("no judges yet")
    words.append(erased_words(collection))
    or_not = ", or not assigned to that judge" if unclaimed.is_assigned else ""
    scale = collection.scale
    owes = np.array([name not in adjudicators for name in progress.judges], dtype=np.bool_)

    def cells(counts: Counts) -> dict[str, Any]:
        named = {
            "topic": np.array(progress.topics, dtype=object)[counts.topics],
            "judge": np.array(progress.judges, dtype=object)[counts.judges],
        }
        pace = _pace(progress, counts, judges, times, unclaimed)
        return {**named, **_states(counts, scale, owes[counts.judges]), **pace}

    seen = cells(by_judge)
    here = [name for name in progress.judges if name not in adjudicators and not judges[name].disabled]
    unjudged = dict(zip(seen["judge"], seen["unjudged"], strict=True))
    stage = stage_of(
        collection,
        judges=[*judges.values()],
        left=dict(zip(seen["judge"], seen["left"], strict=True)),
        unjudged={name: unjudged.get(name, 0) for name in here},
        judgements=int(by_judge.by_grade.sum()),
        unclaimed=unclaimed,
        cases=cases,
        pools=pools,
        texts=texts,
    )
    return StatusResult(
        name=collection.name,
        where=collection.where,
        scale=scale,
        next=typed(next_command(stage), collection.where),
        by_judge=seen,
        make_topics=lambda: cells(progress.by_topic()),
        words=tuple(filter(None, words)),
        outside=f"judged, but in no pool{or_not}" if owes[by_judge.judges].any() else "",
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class StatusResult(Result):
    """How far each judge has come: tables `status`, a row a judge, and `topics`, a row a topic, too."""

    name: str
    where: str
    scale: Scale
    next: str
    """The command to type next."""
    by_judge: Mapping[str, NDArray[Any]]
    """Cells by column; counts are ``None`` that an adjudicator does not have, times beside a reason."""
    make_topics: Callable[[], Mapping[str, NDArray[Any]]]
    """Makes the cells of a row a topic and judge: perhaps a million rows."""
    words: tuple[str, ...]
    """What no judge has to do, what is missing, what waits."""
    outside: str
    """What is counted as outside; empty where no judge has a pool to judge."""

    HAS_TOPICS = True

    def facts(self) -> Mapping[str, Any]:
        """Return what to type next."""
        return {"next": self.next}

    def closing(self) -> Sequence[Message]:
        """Say what to type next."""
        return messages_of([f"next: {self.next}"])

    def _tables(self) -> Iterator[Table]:
        status = self._of("status", self.by_judge)
        rows = [row for row in status.to_records() if row["left"] is not None]
        pace = []
        if any(row["timed"] for row in rows):
            words = [{**row, "forecast": _forecast(row), "range": _range(row)} for row in rows]
            pace = [View(Table.of_rows("pace", _PACE, words))]
        yield status.seen_as(View(status), *pace)
        topics = self._of("topics", self.make_topics())
        yield topics.seen_as(View(topics), *pace)

    def _of(self, name: str, cells: Mapping[str, NDArray[Any]]) -> Table:
        columns = [
            *([TOPIC] if name == "topics" else []),
            JUDGE,
            *(Column(one, "int") for one in ("pooled", "judged", "unjudged", "skipped", "cannot")),
            Column("outside", "int", about=self.outside),
            *(Column(f"grade_{one.value}", "int", _grade_heading(one)) for one in self.scale.grades),
            *_UNSEEN,
        ]
        grades = ", ".join(f"{_grade_heading(grade)} {grade.label}" for grade in self.scale.grades)
        notes = [*self.words, *([f"grades: {grades}"] if len(cells["judge"]) else [])]
        data = {column: cells[column.name] for column in columns}
        return Table.of_columns(name, data, f"{self.name} ({self.where})", notes)


def _states(counts: Counts, scale: Scale, owes: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Count documents by state; who owes no pool is an adjudicator: judged are the rulings."""

    def owed(values: NDArray[np.int64]) -> NDArray[Any]:
        return values if owes.all() else np.where(owes, values, np.array(None))

    return {
        "pooled": owed(counts.pooled),
        "judged": np.where(owes, counts.judged, counts.judged + counts.outside),
        "unjudged": owed(counts.unjudged),
        "skipped": counts.skipped,
        "cannot": counts.cannot,
        "outside": owed(counts.outside),
        **{f"grade_{value}": n for value, n in zip(scale.values, counts.by_grade.T, strict=True)},
    }


def _pace(
    progress: Progress,
    counts: Counts,
    judges: Mapping[str, Judge],
    times: Mapping[str, Sequence[int]],
    unclaimed: Unclaimed,
) -> dict[str, NDArray[Any]]:
    def lying(part: Mapping[str, int]) -> NDArray[np.int64]:
        of_topics = np.array([part.get(topic, 0) for topic in progress.topics], dtype=np.int64)
        return of_topics[counts.topics] if counts.topics.size else np.full(size, of_topics.sum())

    size = counts.judges.size
    undrawn, nothing = lying(unclaimed.undrawn), np.full(size, None)
    is_assigned = unclaimed.is_assigned
    # Many rows have the same left to the same judge.
    left = counts.unjudged + undrawn
    n_left = int(left.max(initial=0)) + 1
    known, rows = np.unique(counts.judges * n_left + left, return_inverse=True)
    paces = [
        _pace_of(
            judges[progress.judges[code // n_left]], times[progress.judges[code // n_left]], code % n_left
        )
        for code in known.tolist()
    ]
    columns = ("left", "pace_s", "forecast_s", "timed", "forecast_low_s", "forecast_high_s", "reason")
    return {
        "undrawn": undrawn,
        "open_places": lying(unclaimed.open_places) if is_assigned else nothing,
        "unassigned": lying(unclaimed.unassigned) if is_assigned else nothing,
        **{name: np.array([pace.get(name) for pace in paces], dtype=object)[rows] for name in columns},
    }


def _pace_of(judge: Judge, times: Sequence[int], left: int) -> dict[str, Any]:
    if judge.disabled:
        return {"reason": "disabled"}
    if judge.kind is not JudgeKind.HUMAN:
        return {"reason": judge.kind.value}
    made = forecast(times, left)
    row: dict[str, Any] = {"left": made.left, "pace_s": made.pace, "timed": made.n}
    row |= {"forecast_s": made.seconds, "forecast_low_s": made.low, "forecast_high_s": made.high}
    if made.pace is None:
        row["reason"] = "no-times" if made.n == 0 else f"fewer-than-{LEAST_DECISIONS}"
    return row


def _forecast(row: Mapping[str, Any]) -> str:
    if not row["left"]:
        return "nothing left"
    if row["forecast_s"] is not None:
        return duration_words(row["forecast_s"])
    return "too few decisions" if row["timed"] else "no decision yet"


def _range(row: Mapping[str, Any]) -> str | None:
    low, high = row["forecast_low_s"], row["forecast_high_s"]
    if not row["left"] or low is None or high is None:
        return None
    first, last = (duration_words(end).removeprefix("about ") for end in (low, high))
    if first == last:
        return first
    return f"{first.removesuffix(' min') if last.endswith(' min') else first} to {last}"


def _lie_idle(unclaimed: Unclaimed) -> list[str]:
    lines = []
    if undrawn := sum(unclaimed.undrawn.values()):
        lines.append(f"left includes {undrawn:,} that adaptive pools may still draw")
    if places := sum(unclaimed.open_places.values()):
        lines.append(f"{counted(places, 'assignment')} open to any judge, counted for no judge")
    if lapsed := sum(unclaimed.lapsed.values()):
        lines.append(f"{counted(lapsed, 'claim')} lapsed: others may claim them")
    if unassigned := sum(unclaimed.unassigned.values()):
        lines.append(f"{counted(unassigned, 'pooled document')} unassigned")
    if drawn := sum(unclaimed.drawn.values()):
        documents = counted(drawn, "document")
        lines.append(f"{documents} that adaptive pools drew cannot be assigned")
    return lines


def _family_words(models: Sequence[StatedModel]) -> list[str]:
    """Group models by their families, as declared: those of one are not independent."""
    families: dict[str, list[str]] = {}
    for one in models:
        if one.identity is not None:
            families.setdefault(one.identity.family or "not declared", []).append(one.judge)
    words = []
    if families:
        found = "; ".join(f"{family}: {', '.join(names)}" for family, names in sorted(families.items()))
        several = any(len(names) > 1 for name, names in families.items() if name != "not declared")
        words.append(f"models by family: {found}" + ("; those of one are not independent" if several else ""))
    if unknown := [one.judge for one in models if one.identity is None]:
        words.append(f"models whose identity is not stated: {', '.join(unknown)}")
    return words


def _open_words(cases: Sequence[Case]) -> str:
    from store.judging.disagreements import Settlement

    statuses = [case.status for case in cases if case.is_disagreement]
    n_open, n_changed = statuses.count(Settlement.OPEN), statuses.count(Settlement.CHANGED)
    waiting = f"{n_open:,} open" + (f", {n_changed:,} changed since" if n_changed else "")
    return f"{counted(len(statuses), 'disagreement')}, {waiting}"


def _grade_heading(grade: Grade) -> str:
    """Name a grade in a narrow column: its value, or the letter that the judges know it by."""
    return grade.key.upper() if grade.key.isalpha() else str(grade.value)


_DWELL = ("dwell_lower_s", "dwell_median_s", "dwell_upper_s")
LOW_DWELL_S = 1
"""Seconds; decisions after less are counted as hasty."""


@command
def status_effort(
    collection: Stored, judges: Annotated[Sequence[str], Option("JUDGE...", "Default: all judges.")] = ()
) -> EffortResult:
    """Report what judging cost.

    Dwell is how long a document was on the screen when it was decided; where a decision was taken back,
    the one that stands counts. Active time leaves out pauses but includes decisions taken back.

    Example: pooler status effort

    Raises
    ------
    UnknownNameError
        If a judge is not known.
    """
    known = [judge.name for judge in collection.judges.all()]
    for name in judges:
        if name not in known:
            raise UnknownNameError("judge", name, known)
    found = tuple(one for one in collection.progress.effort() if not judges or one.judge in judges)
    work = tuple(one for one in collection.models.work() if not judges or one.judge in judges)
    return EffortResult(efforts=found, models=work)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class EffortResult(Result):
    """What judging cost; tables: `effort`, `models`."""

    efforts: tuple[Effort, ...]
    """By judge: sittings, and every document decided."""
    models: tuple[ModelWork, ...] = ()
    """What models answered, by judge; of those who have judged or answered."""

    SHOWN = 2

    def _tables(self) -> Iterator[Table]:
        costs = self._effort()
        yield costs.seen_as(self._costs_view(costs))
        models = self._models()
        yield models if len(models) else models.seen_as()

    def _effort(self) -> Table:
        columns = [
            JUDGE,
            Column("sittings", "int"),
            hidden("active_s"),
            Column("decided", "int"),
            *map(hidden, ("pace_s", *_DWELL)),
            Column("low_dwell", "int", f"<{LOW_DWELL_S} s"),
            Column(
                "dropped_keys", "int", "dropped", "grade keys pressed too soon after the document appeared"
            ),
            Column("undone", "int", about="taken back"),
            hidden("imported", "int"),
            hidden("reason", "text"),
        ]
        return Table.of_rows("effort", columns, map(_cost, self.efforts), title="Effort")

    def _models(self) -> Table:
        """Add up what the answers of models cost; canaries are left out."""
        columns = [
            JUDGE,
            Column("answers", "int"),
            Column("judged", "int", about="answers with a grade"),
            Column("unreadable", "int", "cannot", "answers that could not be read"),
            Column("failed", "int", show="if_varied", usual=(0,), about="requests without a reply"),
            Column("retries", "int", show="if_varied", usual=(0,)),
            Column("prompt_tokens", "int", "prompt", "tokens, as of the next", show="if_any"),
            Column("cached_tokens", "int", "cached", show="if_any"),
            Column("completion_tokens", "int", "completion", show="if_any"),
            Column("reasoning_tokens", "int", "reasoning", show="if_any"),
            Column("cost", "float", digits=4, show="if_any"),
            Column("cost_each", "float", "each", "cost of a judgement with a grade", digits=6, show="if_any"),
            Column("seconds", "float", digits=1, show="if_any", about="of all requests, added up"),
            Column("first_at", "moment", "from", show="if_any"),
            Column("last_at", "moment", "to", show="if_any"),
        ]
        reasons: Counter[str] = Counter()
        for one in self.models:
            reasons.update(one.unreadable)
        unread = ", ".join(f"{n:,} {reason}" for reason, n in sorted(reasons.items()))
        return Table.of_records(
            "models",
            columns,
            [one for one in self.models if one.answers],
            title="Models",
            notes=[f"could not be read: {unread}"] if unread else [],
            cost_each=lambda one: None if one.cost is None or not one.judged else one.cost / one.judged,
            unreadable=lambda one: sum(one.unreadable.values()),
        )

    def _costs_view(self, table: Table) -> View:
        minutes = Column("minutes", "int", about="active, without pauses")
        dwell = Column("dwell", heading="dwell quartiles", about="seconds on the screen until decided")
        judge, sittings, decided, *rest = [column for column in table.columns if column.show != "never"]
        records: list[dict[str, Any]] = table.to_records()
        rows = [{**row, "dwell": _quartiles(row)} for row in records]
        for row in rows:
            row["minutes"] = None if row["active_s"] is None else round(row["active_s"] / 60)
        timeless = [str(row["judge"]) for row in rows if row["reason"]]
        notes = [f"without times, as imported or a model's: {', '.join(timeless)}"] if timeless else []
        columns = [judge, sittings, minutes, decided, dwell, *rest]
        if not rows:
            columns, notes = [replace(one, about="") for one in columns], ["no document is judged"]
        return View(Table.of_rows("effort", columns, rows, title="Effort"), notes=notes)


def _cost(one: Effort) -> dict[str, Any]:
    row: dict[str, Any] = {"judge": one.judge, "imported": one.elsewhere}
    if not one.sittings:
        return {**row, "decided": one.elsewhere, "reason": "no-times"}
    dwells = [document.dwell_ms / 1000 for document in one.documents if document.dwell_ms is not None]
    spent = [document.active_ms / 1000 for document in one.documents if document.active_ms is not None]
    quartiles = np.quantile(dwells, (0.25, 0.5, 0.75)).tolist() if dwells else [None] * 3
    return {
        **row,
        "sittings": one.sittings,
        "active_s": _seconds(one.active_ms),
        "decided": len(one.documents) + one.elsewhere,
        "pace_s": sum(spent) / len(spent) if spent else None,
        **dict(zip(_DWELL, quartiles, strict=True)),
        "low_dwell": sum(dwell < LOW_DWELL_S for dwell in dwells) if dwells else None,
        "dropped_keys": one.dropped_keys,
        "undone": one.undone,
        "reason": None if dwells and spent else "no-times",
    }


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _quartiles(row: Mapping[str, Any]) -> str | None:
    cells = [row[name] for name in _DWELL]
    return None if cells[0] is None else "".join(f"{cell:5.1f}" for cell in cells)


_OUTDATED = (
    JUDGE,
    TOPIC,
    DOCNO,
    Column("state", show="never"),
    GRADE,
    Column("guidelines", "int", show="never"),
    Column("judged_at", "moment", show="never"),
    Column("why", "texts"),
    Column("obstacle", about="why it is not put back", show="if_any"),
    Column("topic_version", "int", show="never"),
)
_OBSTACLES = {
    "judge-disabled": "their judge is disabled",
    "not-pooled": "they are in no pool",
    "not-assigned": "they are not assigned to their judge",
}


@command
def status_outdated(
    collection: Stored,
    *,
    judges: Annotated[Sequence[str], Option("--judge NAME", "Only this judge; may be repeated.")] = (),
    topics: Annotated[Sequence[str], Option("--topic TOPIC", "Only this topic; may be repeated.")] = (),
    why: Annotated[Sequence[str], Option("--why REASON")] = (),
    requeue: bool = False,
) -> OutdatedJudgements:
    """List judgements whose guidelines or texts have changed since.

    With --requeue each becomes unjudged again: the grade stays in the history, but leaves the qrels until
    its judge gives another. Documents that no judge would see again are left alone. Imported judgements are
    never listed, since the texts they were made with are unknown.

    Example: pooler status outdated --why text

    why : Only for this reason; may be repeated: guidelines, text (the document's text changed),
        text-came-later, topic (the topic's text changed).
    requeue : Make them unjudged again, for their judges to repeat.

    Raises
    ------
    ArgumentError
        If a reason is none of these.
    UnknownNameError
        If there is no such judge or topic.
    ConflictError
        If a judge was at work on one of the documents at this very moment; nothing is put back.

    Notes
    -----
    One pass over the judgements of the judges.
    """
    from store.judging.rejudging import Why

    known = [one.value for one in Why]
    if wrong := [one for one in why if one not in known]:
        raise ArgumentError("why", f"must be some of {', '.join(known)}", wrong[0])
    reasons = [Why(one) for one in why]
    outdated = collection.rejudging.outdated(judges=judges, topics=topics, why=reasons)
    put_back: Sequence[Outdated] = ()
    if requeue:
        put_back = collection.rejudging.reopen(judges=judges, topics=topics, why=reasons)
    found = OutdatedJudgements(
        judgements=tuple(put_back if requeue else outdated.rows),
        newest_version=outdated.newest_version,
        n_imported=outdated.n_imported,
    )
    if requeue:
        say(_put_back(put_back))
        left = Counter(one.obstacle for one in outdated.rows if one.obstacle is not None)
        for obstacle, count in sorted(left.items()):
            say(f"{counted(count, 'judgement')} not put back: {_OBSTACLES[obstacle]}")
    elif outdated.rows:
        free = sum(one.obstacle is None for one in outdated.rows)
        say(f"nothing is changed; --requeue puts {counted(free, 'document')} back for their judges")
    if outdated.n_imported:
        not_looked = f"{counted(outdated.n_imported, 'imported judgement')} not looked at"
        say(f"{not_looked}: the texts they were made with are unknown")
    return found


def _put_back(rows: Sequence[Outdated]) -> str:
    if not rows:
        return "nothing was put back"
    judges = len({one.judge for one in rows})
    graded = sum(one.grade is not None for one in rows)
    return (
        f"{counted(len(rows), 'document')} put back for {counted(judges, 'judge')};"
        f" {counted(graded, 'grade')} left the qrels until they are judged again"
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class OutdatedJudgements(Result):
    """Judgements that rest on something that has changed, or those of them that were put back."""

    judgements: tuple[Outdated, ...]
    newest_version: int | None
    """Of the guidelines; ``None`` = there are none."""
    n_imported: int

    def facts(self) -> Mapping[str, Any]:
        """Return the newest version of the guidelines, and how many judgements were not looked at."""
        return {"newest_guidelines": self.newest_version, "imported": self.n_imported}

    def _tables(self) -> Iterator[Table]:
        notes, versions = [*self._counted()], attrgetter("guideline_version")
        yield Table.of_records("outdated", _OUTDATED, self.judgements, notes=notes, guidelines=versions)

    def _counted(self) -> Iterator[str]:
        rows = self.judgements
        if not rows:
            yield "no judgement rests on older guidelines or another text of topic or document"
            return
        reasons = Counter(reason.value for one in rows for reason in one.why)
        words = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
        yield f"{counted(len(rows), 'judgement')}: {words}"
        if self.newest_version is not None:
            yield f"guidelines now: version {self.newest_version}"
        if any(one.grade is None for one in rows):
            yield "grade -: cannot be judged"
