"""Tables 1 to 3: AP by one judge beside the least and the random one, and its change at a rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pooler.results.paper.two_runs import Redone, by_whom
from pooler.results.table import RUN, TOPIC, Column, Table
from store.analysis.measures.chance import (
    expected_average_precision,
    least_average_precision,
    variance_of_average_precision,
)
from store.analysis.undiscovered.sensitivity import discovery_effect_below, discovery_range
from store.text import counted

_CHANCE = {
    "table_1": (least_average_precision, "least (eq. 4)"),
    "table_2": (expected_average_precision, "random (eq. 5)"),
}


def beside_chance(pair: Redone, name: str) -> Table:
    """Make tables 1 and 2: the AP of both runs (eq. 1) beside what their N and R give by chance."""
    of, heading = _CHANCE[name]
    rows = []
    for one in pair.own:
        known = one.retrieved > 0
        numbers = (np.array([max(one.n_documents, 1)]), np.array([max(one.retrieved, 1)]))
        rows.append(
            {
                "run": one.run,
                "topic": one.topic,
                "documents": one.n_documents,
                "relevant": one.retrieved,
                "ap": one.own,
                "value": float(of(*numbers)[0]) if known else None,
                "sd": float(np.sqrt(variance_of_average_precision(*numbers)[0])) if known else None,
            }
        )
    columns = [
        RUN,
        TOPIC,
        Column("documents", "int", "N", "documents that the run lists"),
        Column("relevant", "int", "R", "relevant ones among them"),
        Column("ap", "float", "AP", "by eq. 1, with that R"),
        Column("value", "float", heading),
        Column("sd", "float", show="never" if name == "table_1" else "always"),
    ]
    return Table.of_rows(name, columns, rows, notes=[_chance_words(name, rows), by_whom(pair)])


def _chance_words(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say how the runs do beside chance."""
    known = [row for row in rows if row["ap"] is not None]
    of_all = f"of {counted(len(known), 'list')} with a relevant document"
    if name == "table_1":
        n_worst = sum(row["ap"] <= row["value"] + 1e-12 for row in known)
        return f"{n_worst:,} {of_all} {_are(n_worst)} as bad as they could be."
    n_chance = sum(row["ap"] <= row["value"] + 2 * row["sd"] for row in known)
    return f"{n_chance:,} {of_all} {_are(n_chance)} no better than a random order (+ 2 sd)."


def table_3(pair: Redone) -> Table:
    """Make cells of quartiles of R and AP, with what eq. 19 gives there."""
    r = np.array([one.relevant for one in pair.own if one.relevant])
    ap = np.array([one.ap for one in pair.own if one.ap is not None])
    rows = []
    quarters = (0.25, 0.5, 0.75)
    counts = sorted({round(float(one)) for one in np.quantile(r, quarters)}) if r.size else []
    for count in counts:
        for before in sorted({float(one) for one in np.quantile(ap, quarters)}):
            limits = discovery_range(count, before, pair.rank)
            least = float(least_average_precision(pair.rank - 1, count)) if count < pair.rank else 2.0
            occurs = before >= least - 1e-12
            rows.append(
                {
                    "relevant": count,
                    "ap": before,
                    "change": discovery_effect_below(count, before, pair.rank) if occurs else None,
                    "low": None if limits is None else limits[0],
                    "high": None if limits is None else limits[1],
                }
            )
    columns = [
        Column("relevant", "int", "R", "quartiles of the topics' relevant documents"),
        Column("ap", "float", "AP", "quartiles of the AP of both runs"),
        Column("change", "float", "eq. 20", "- where it cannot occur: all R above already give more", 5),
        Column("low", "float", "least", "by eq. 19, whatever is not retrieved", 5),
        Column("high", "float", "greatest", digits=5),
    ]
    real = [one.change for one in pair.own if one.change is not None]
    words = (
        f"A relevant document at rank {pair.rank:,} would move one topic's AP by"
        f" {min(real):+.4f} to {max(real):+.4f}, {float(np.mean(real)):+.4f} on average, in"
        f" {counted(len(real), 'list')}."
        if real
        else f"No list has a document at rank {pair.rank:,} that is not relevant already."
    )
    return Table.of_rows("table_3", columns, rows, notes=[words, by_whom(pair)])


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
