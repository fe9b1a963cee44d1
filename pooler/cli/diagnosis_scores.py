"""The tables of `pooler diagnose --scores`: every reading of a score where judgements have gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from pooler.cli.agreement_words import legend
from pooler.cli.console import Cell, Column, Format, Table
from store.analysis.diagnosis_scores import Readings, coverage, readings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.cli.given import Given
    from pooler.cli.judged import Judged
    from store.analysis.diagnosis import Diagnosis
    from store.analysis.measure_names import MeasureName
    from store.analysis.measures import Scores

MEASURES = ("AP", "nDCG@10", "P@10", "RBP(p=0.8)")
NO_BOUNDS = "no-bounds"
NO_POOL = "no-pool"
CODES = {
    NO_BOUNDS: "the least and the most of this measure are not known",
    NO_POOL: "infAP needs to know which unjudged documents were pooled; --depth N says it",
    "no-relevant": "no topic has a relevant document",
    "no-documents": "the run has no document for any topic",
    "no-pairs": "no topic has a relevant document of the run and another",
    "no-not-relevant": "every document of the collection is relevant",
    "list-too-short": "every list of the run ends above rank R",
}


def scale_of(given: Given, judged: Judged, found: Diagnosis) -> tuple[int, ...]:
    """Return the grades that an unjudged document could have got.

    Those of the declared scale; without one, and where grades were added up, those that were given,
    0 and the least that is relevant.
    """
    if given.qrels is not None and given.scale is not None:
        from store.scale import parse_scale

        return parse_scale(given.scale).values
    if given.qrels is None and given.aggregate != "sum":
        if given.collapse == "before":
            return 0, 1
        from store.scored_collection import ScoredCollection

        with ScoredCollection(given.collection) as opened:
            return opened.scale.values
    seen = (grades.tolist() for grades in found.graded.judged_grades)
    return tuple(sorted({0, judged.level, *chain.from_iterable(seen)}))


def scores_tables(
    found: Diagnosis, measures: Sequence[MeasureName], scale: Sequence[int], fmt: Format
) -> list[Table]:
    """Make a row for each run and measure; for people, a table for each measure."""
    everything = readings(found.graded, measures, scale=scale)
    columns = [
        Column("run"), Column("score", "as judged"), Column("judged_only"), Column("low"),
        Column("high"), Column("residual", "RBP residual"), Column("reason"),
    ]  # fmt: skip
    caption = _words(everything, scale)
    if fmt is not Format.TABLE:
        columns.insert(1, Column("measure"))
        rows = list(chain.from_iterable(_rows(one, found.rankings.tags) for one in everything))
        return [Table("scores", columns, rows, caption=caption)]
    tables = [
        Table(str(one.scores.measure), columns, _rows(one, found.rankings.tags))
        for one in everything
    ]
    tables[-1].caption = caption
    return tables


def coverage_table(found: Diagnosis, level: int, judged_at: int) -> Table:
    """Make a row for each run: how much of it is judged, and the measures made for gaps."""
    pooled = None if found.pool is None else found.pool.holds
    of_runs = coverage(found.graded, level=level, cutoff=judged_at, pooled=pooled)
    rows: list[Mapping[str, Cell]] = []
    for run, tag in enumerate(found.rankings.tags):
        no_pool = NO_POOL if pooled is None else _why(of_runs.inferred_ap, run)
        judged = _number(of_runs.judged[run])
        none = "no-documents" if judged is None else None
        rows.append({
            "run": tag, "bpref": _number(of_runs.bpref.overall[run]),
            "infap": None if no_pool else _number(of_runs.inferred_ap.overall[run]),
            "judged": judged, "unj": _number(of_runs.unjudged[run]),
            "reason": _joined(_why(of_runs.bpref, run), no_pool, none),
        })  # fmt: skip
    columns = [
        Column("run"), Column("bpref"), Column("infap", "infAP"),
        Column("judged", f"judged@{judged_at}"), Column("unj", f"unj_{judged_at}"),
        Column("reason"),
    ]  # fmt: skip
    words = [
        "bpref passes over what is unjudged. infAP takes an unjudged document of the pool to be as"
        " likely relevant as the judged ones above it, which holds for a random sample of the pool,"
        " and one outside for not relevant.",
        f"judged@{judged_at}, as ir_measures has it: share of judged documents among the first"
        f" {judged_at:,} that there are. unj_{judged_at}, as trec_eval has it: share of"
        f" {judged_at:,} ranks that hold an unjudged document; where a list is shorter, the ranks"
        " below its end hold none.",
        *_codes(rows),
    ]
    return Table("coverage", columns, rows, title="runs and gaps", caption=legend(words))


def _rows(one: Readings, tags: Sequence[str]) -> list[Mapping[str, Cell]]:
    """Make the rows of one measure."""
    rows: list[Mapping[str, Cell]] = []
    for run, tag in enumerate(tags):
        rows.append({
            "run": tag, "measure": str(one.scores.measure),
            "score": _of_run(one.scores, run, one.scores.overall),
            "judged_only": _of_run(one.judged_only, run, one.judged_only.overall),
            "low": _of_run(one.scores, run, one.low),
            "high": _of_run(one.scores, run, one.high),
            "residual": _of_run(one.scores, run, one.residual),
            "reason": _joined(
                _why(one.scores, run), _why(one.judged_only, run),
                NO_BOUNDS if one.low is None else None,
            ),
        })  # fmt: skip
    return rows


def _words(everything: Sequence[Readings], scale: Sequence[int]) -> str:
    """Say what the columns mean."""
    words = [
        "as judged: unjudged documents count as not relevant. judged only: they are deleted and"
        " the others move up, which favours runs that did not feed the pool. low, high: over all"
        f" grades from {min(scale)} to {max(scale)} that the unjudged documents of the lists may"
        " have.",
    ]
    if any(one.residual is not None for one in everything):
        words.append(
            "RBP residual: what unjudged documents could add, and all that would follow below the"
            " end of each list; high looks at the list as it stands."
        )
    rows = [row for one in everything for row in _rows(one, ("",) * one.scores.overall.size)]
    return legend([*words, *_codes(rows)])


def _codes(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """Explain the reasons that stand in some rows."""
    seen = {code for row in rows for code in str(row["reason"] or "").split(", ")}
    return [f"{code}: {words}." for code, words in CODES.items() if code in seen]


def _of_run(scores: Scores, run: int, values: NDArray[np.float64] | None) -> float | int | None:
    """Return a value of a run, a count as a whole number; ``None`` where it is undefined."""
    if values is None or not scores.n_defined[run] or np.isnan(values[run]):
        return None
    return int(values[run]) if scores.is_sum else float(values[run])


def _why(scores: Scores, run: int) -> str | None:
    """Say why a run has no score."""
    return None if scores.n_defined[run] else scores.reason(run, 0)


def _joined(*reasons: str | None) -> str | None:
    """Write several reasons, each once."""
    return ", ".join(dict.fromkeys(reason for reason in reasons if reason)) or None


def _number(value: float) -> float | None:
    """Return a number, or ``None`` where it is undefined."""
    return None if np.isnan(value) else float(value)
