"""Tables 1 to 3: AP by one judge beside the least and the random one, and its change at a rank."""

from __future__ import annotations

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
    n, r = (np.array([getattr(one, which) for one in pair.own]) for which in ("n_documents", "retrieved"))
    numbers = np.maximum(n, 1), np.maximum(r, 1)
    value, variance = (
        np.where(r > 0, make(*numbers), np.nan) for make in (of, variance_of_average_precision)
    )
    ap, sd = np.array([one.own for one in pair.own], dtype=np.float64), np.sqrt(variance)
    is_least = name == "table_1"
    n_so = int((ap <= value + (1e-12 if is_least else 2 * sd)).sum())
    which = "as bad as they could be" if is_least else "no better than a random order (+ 2 sd)"
    of_all = f"of {counted(int((r > 0).sum()), 'list')} with a relevant document"
    columns = {
        RUN: [one.run for one in pair.own],
        TOPIC: [one.topic for one in pair.own],
        Column("documents", "int", "N", "documents that the run lists"): n,
        Column("relevant", "int", "R", "relevant ones among them"): r,
        Column("ap", "float", "AP", "by eq. 1, with that R"): ap,
        Column("value", "float", heading): value,
        Column("sd", "float", show="never" if is_least else "always"): sd,
    }
    words = f"{n_so:,} {of_all} {'is' if n_so == 1 else 'are'} {which}."
    return Table.of_columns(name, columns, notes=[words, by_whom(pair)])


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
