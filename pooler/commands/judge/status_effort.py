"""What judging cost, and which decisions were hasty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, Stored, command
from pooler.result import Result
from pooler.tables import DOCNO, GRADE, JUDGE, TOPIC, Column, Table, View, hidden
from store.errors import UnknownNameError

if TYPE_CHECKING:
    from store.judging.events import Effort
    from store.judging.models import ModelWork

_DWELL = ("dwell_lower_s", "dwell_median_s", "dwell_upper_s")


@command
def status_effort(
    collection: Stored,
    judges: Annotated[Sequence[str], Option("JUDGE...", "Default: all judges.")] = (),
    *,
    below: Annotated[float, Option("--below SECONDS", "A dwell below this counts as low.", least=0)] = 1.0,
) -> EffortResult:
    """Report what judging cost, and what was hasty.

    Dwell is how long a document was on the screen when it was decided; where a decision was taken back,
    the one that stands counts. Active time leaves out pauses but includes decisions taken back. The table
    `low_dwell` lists the documents decided at a low dwell.

    Example: pooler status effort --below 2 --table low_dwell

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
    """What judging cost; tables: `effort`, `models`, `low_dwell` decisions."""

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
        hasty = self._low_dwell()
        yield hasty.seen_as(notes=[] if len(hasty) else ["none"])

    def _effort(self) -> Table:
        below = self.settings["below"]
        columns = [
            JUDGE,
            Column("sittings", "int"),
            hidden("active_s"),
            Column("decided", "int"),
            *map(hidden, ("pace_s", *_DWELL)),
            Column("low_dwell", "int", f"<{below:g} s"),
            Column(
                "dropped_keys", "int", "dropped", "grade keys pressed too soon after the document appeared"
            ),
            Column("undone", "int", about="taken back"),
            hidden("imported", "int"),
            hidden("reason", "text"),
        ]
        return Table.of_rows("effort", columns, (_cost(one, below) for one in self.efforts), title="Effort")

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
        listed = ", ".join(f"{n:,} {reason}" for reason, n in sorted(reasons.items()))
        return Table.of_records(
            "models",
            columns,
            [one for one in self.models if one.answers],
            title="Models",
            notes=[f"could not be read: {listed}"] if listed else [],
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

    def _low_dwell(self) -> Table:
        below = self.settings["below"]
        quick = [
            (one.judge, document, document.dwell_ms / 1000)
            for one in self.efforts
            for document in one.documents
            if document.dwell_ms is not None and document.dwell_ms < below * 1000
        ]
        columns = {
            JUDGE: [judge for judge, _, _ in quick],
            TOPIC: [one.topic for _, one, _ in quick],
            DOCNO: [one.docno for _, one, _ in quick],
            Column("state"): [one.state.value for _, one, _ in quick],
            GRADE: [one.grade for _, one, _ in quick],
            Column("dwell_s", "float", "dwell s", digits=1): [dwell for _, _, dwell in quick],
            Column("active_s", "float", "active s", digits=1): [
                _seconds(one.active_ms) for _, one, _ in quick
            ],
            Column("judged_at", "moment"): [one.judged_at for _, one, _ in quick],
        }
        return Table.of_columns("low_dwell", columns, f"Decided below {below:g} s")


def _cost(one: Effort, below: float) -> dict[str, Any]:
    import numpy as np

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
        "low_dwell": sum(dwell < below for dwell in dwells) if dwells else None,
        "dropped_keys": one.dropped_keys,
        "undone": one.undone,
        "reason": None if dwells and spent else "no-times",
    }


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _quartiles(row: Mapping[str, Any]) -> str | None:
    cells = [row[name] for name in _DWELL]
    return None if cells[0] is None else "".join(f"{cell:5.1f}" for cell in cells)
