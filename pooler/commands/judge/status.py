"""Status: how far each judge has come, what waits, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pooler.command import Stored, command
from pooler.judge_kinds import erased_words
from pooler.pools.idle import drawable, idle_words, missing_words
from pooler.result import Result
from pooler.tables import JUDGE, REASON_HIDDEN, TOPIC, Column, Table, View, hidden
from store.analysis.pools.pace import LEAST_DECISIONS, RECENT_DECISIONS, duration_words, forecast
from store.records import Grade, Judge, JudgeKind, Scale
from store.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from store.content.pools import StoredPool
    from store.judging.disagreements import Case
    from store.judging.models import StatedModel
    from store.judging.progress import Counts, Progress, Unclaimed


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
    the desk, without pauses.

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
    listed = ", ".join(f"{pool.name} ({_size(pool)})" for pool in pools) or "none"
    n_topics, n_runs = len(collection.topics.all()), len(collection.runs.all())
    words = [f"{counted(n_topics, 'topic')}, {counted(n_runs, 'run')}; pools: {listed}"]
    if adjudicators:
        words.append(_open_words(collection.disagreements.all()))
    words += _family_words(collection.models.all())
    words += _lie_idle(unclaimed)
    if unclaimed.is_assigned and (idle := drawable(pools)):
        words.append(idle_words(idle))
    if missing := missing_words(collection.documents.count_without_text()):
        words.append(f"{missing}: pooler import docs FILE")
    if not judges:
        words.append("no judges yet: pooler judges add NAME")
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

    return StatusResult(
        name=collection.name,
        where=collection.where,
        scale=scale,
        by_judge=cells(by_judge),
        make_topics=lambda: cells(progress.by_topic()),
        words=tuple(filter(None, words)),
        outside=f"judged, but in no pool{or_not}" if owes[by_judge.judges].any() else "",
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class StatusResult(Result):
    """How far each judge has come: tables `status`, a row a judge, and `topics`, a row a topic, too."""

    name: str
    """Of the collection."""
    where: str
    """Its file, or its URL without the password."""
    scale: Scale
    by_judge: Mapping[str, NDArray[Any]]
    """Cells by column; counts are ``None`` that an adjudicator does not have, times beside a reason."""
    make_topics: Callable[[], Mapping[str, NDArray[Any]]]
    """Makes the cells of a row a topic and judge: perhaps a million rows."""
    words: tuple[str, ...]
    """What no judge has to do, what is missing, what waits."""
    outside: str
    """What is counted as outside; empty where no judge has a pool to judge."""

    HAS_TOPICS = True

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
        lines.append(f"{counted(unassigned, 'pooled document')} unassigned: pooler assign --add")
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
        listed = "; ".join(f"{family}: {', '.join(names)}" for family, names in sorted(families.items()))
        several = any(len(names) > 1 for name, names in families.items() if name != "not declared")
        words.append(
            f"models by family: {listed}" + ("; those of one are not independent" if several else "")
        )
    if unknown := [one.judge for one in models if one.identity is None]:
        words.append(f"models whose identity is not stated: {', '.join(unknown)}")
    return words


def _open_words(cases: Sequence[Case]) -> str:
    from store.judging.disagreements import Settlement

    statuses = [case.status for case in cases if case.is_disagreement]
    n_open, n_changed = statuses.count(Settlement.OPEN), statuses.count(Settlement.CHANGED)
    waiting = f"{n_open:,} open" + (f", {n_changed:,} changed since" if n_changed else "")
    return f"{counted(len(statuses), 'disagreement')}, {waiting}: pooler adjudicate"


def _size(pool: StoredPool) -> str:
    if pool.budget is None:
        return counted(pool.pairs, "pair")
    return f"{pool.pairs:,} of {pool.budget:,} drawn"


def _grade_heading(grade: Grade) -> str:
    """Name a grade in a narrow column: its value, or the letter that the judges know it by."""
    return grade.key.upper() if grade.key.isalpha() else str(grade.value)
