"""The tables of `pooler sensitivity --missing` by run and by topic."""

from __future__ import annotations

from math import isnan

import numpy as np

from pooler.cli.agreement_words import legend
from pooler.cli.console import Column, Format, Table, counted
from store.analysis.judged_rankings import UNJUDGED, JudgedRankings
from store.analysis.missing_documents import MissingBounds


def by_run(arrays: JudgedRankings, bounds: MissingBounds, fmt: Format) -> Table:
    """Make the table of runs."""
    columns = [
        Column("run"), Column("unjudged"), Column("judged"), Column("no_run", "no run"),
        Column("map_before", "MAP"), Column("map_low", "low"), Column("map_high", "high"),
        Column("undefined"), Column("reason"),
    ]  # fmt: skip
    table = Table("missing", columns, title=_title(bounds))
    n_unjudged = np.zeros(len(arrays.tags), dtype=np.int64)
    for topic in range(len(arrays.topics)):
        n_unjudged += np.count_nonzero(arrays.standing_by_rank(topic) == UNJUDGED, axis=1)
    n_documents = arrays.lengths.sum(axis=1)
    n_without = (arrays.lengths == 0).sum(axis=1)
    for index, tag in enumerate(arrays.tags):
        before = float(bounds.map_before[index])
        table.rows.append({
            "run": tag, "unjudged": int(n_unjudged[index]),
            "judged": int(n_documents[index] - n_unjudged[index]),
            "no_run": int(n_without[index]),
            "map_before": _number(before), "map_low": _number(float(bounds.map_low[index])),
            "map_high": _number(float(bounds.map_high[index])),
            "undefined": int(bounds.n_topics_undefined[index]),
            "reason": "no-relevant" if isnan(before) else None,
        })  # fmt: skip
    if fmt is Format.TABLE:
        kept = {name for row in table.rows for name, cell in row.items() if cell}
        optional = {"no_run", "undefined", "reason"} - kept
        table.columns = [column for column in columns if column.name not in optional]
    table.caption = _caption(bounds, "MAP")
    return table


def by_topic(arrays: JudgedRankings, bounds: MissingBounds, fmt: Format) -> Table:
    """Make the table of runs and topics."""
    columns = [
        Column("run"), Column("topic"), Column("unjudged"), Column("judged"),
        Column("ap_before", "AP"), Column("ap_low", "low"), Column("ap_high", "high"),
        Column("status"), Column("reason"),
    ]  # fmt: skip
    table = Table("missing", columns, title=_title(bounds))
    n_unjudged = np.stack(
        [
            np.count_nonzero(arrays.standing_by_rank(topic) == UNJUDGED, axis=1)
            for topic in range(len(arrays.topics))
        ],
        axis=1,
    )
    for index, tag in enumerate(arrays.tags):
        for place, topic in enumerate(arrays.topics):
            before = float(bounds.ap_before[index, place])
            length, unjudged = int(arrays.lengths[index, place]), int(n_unjudged[index, place])
            status = "unjudged" if unjudged else "judged" if length else "no documents"
            table.rows.append({
                "run": tag, "topic": topic, "unjudged": unjudged, "judged": length - unjudged,
                "ap_before": _number(before),
                "ap_low": _number(float(bounds.ap_low[index, place])),
                "ap_high": _number(float(bounds.ap_high[index, place])),
                "status": status, "reason": "no-relevant" if isnan(before) else None,
            })  # fmt: skip
    if fmt is Format.TABLE and not any(row["reason"] for row in table.rows):
        table.columns = columns[:-1]
    table.caption = _caption(bounds, "AP")
    return table


def _caption(bounds: MissingBounds, mean: str) -> str:
    """Say what the columns are."""
    return legend([
        f"unjudged, judged: documents in the run's lists. low: {mean} if the run retrieved none of"
        " the missing ones"
        + (" or has them last" if bounds.r_mode == "own" else "")
        + ", high: if they are its first unjudged documents; both can come true."
    ])  # fmt: skip


def _title(bounds: MissingBounds) -> str:
    """Say what is supposed."""
    missing = counted(bounds.n_missing, "relevant document")
    return f"Limits if {missing} of every topic went unjudged (R {bounds.r_mode})"


def _number(value: float) -> float | None:
    """Return a number, or ``None`` for NaN."""
    return None if isnan(value) else value
