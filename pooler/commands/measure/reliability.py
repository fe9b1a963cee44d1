"""How far the order of runs, and their scores, would be the same with other topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.reasons import REASONS
from pooler.tables import REASON, Column, Plot, Table
from store.analysis.significance.generalizability import order_on_new_topics, score_components
from store.analysis.variation.collection import expected_tau, expected_tau_ap
from store.text import counted, percent

TARGET = 0.95
"""Reliability of the order from which on it counts as reached."""
ORDER = "E rho2"


def reliability_table(scores: NDArray[np.float64], topics: Sequence[int], *, alpha: float = 0.05) -> Table:
    """Make a row for every number of topics; `scores`: shape (n_runs, n_topics), all finite."""
    found = score_components(scores)
    of = f"{1 - alpha:.0%}"
    columns: dict[Column, Any] = {Column("topics", "int"): topics}
    for name, heading, about, one in (
        ("order", ORDER, "how far so many topics fix the order of the runs, from 0 to 1", found.order(alpha)),
        ("level", "Phi", "how far they fix their scores", found.level(alpha)),
    ):
        value, low, high = one.at(topics)
        columns[Column(name, "float", heading, about, digits=3)] = value
        columns[Column(f"{name}_low", "float", of, digits=3)] = low
        columns[Column(f"{name}_high", "float", "to", digits=3)] = high
    means, above = scores.mean(axis=1), order_on_new_topics(scores, topics, found)
    about = "Kendall's tau to expect between the order here and that of so many new topics"
    columns[Column("tau", "float", about=about, digits=3)] = [expected_tau(one, means) for one in above]
    columns[Column("tau_ap", "float", "tau_AP", "the same, first places counting most", digits=3)] = [
        expected_tau_ap(one, means) for one in above
    ]
    columns[REASON] = [found.reason] * len(topics)
    title = "Reliability of the order and of the scores with so many topics"
    return Table.of_columns("reliability", columns, title=title, notes=reliability_notes(scores, alpha=alpha))


def reliability_notes(scores: NDArray[np.float64], *, alpha: float = 0.05) -> list[str]:
    """Say in sentences how far these topics fix the order of the runs, and how many would."""
    n_runs, n_topics = scores.shape
    found = score_components(scores)
    if found.reason is not None:
        return [f"How reliable the order of the runs is over topics is not known: {REASONS[found.reason]}."]
    order = found.order(alpha)
    value, low, high = (float(one) for one in order.at(n_topics))
    needed, _, most = order.needed(TARGET)
    words = f"With these {n_topics:,} topics {ORDER} is {value:.3f} ({low:.3f} to {high:.3f})"
    if needed is None:
        words += ": nothing shows that these runs differ at all."
    else:
        upper = f"{most:,} to be safe" if most is not None else "no number is safe"
        verb = "has reached" if value >= TARGET else "is short of"
        words += f", which {verb} {TARGET:g}: that takes {counted(needed, 'topic')}, {upper}."
    whole = sum(found.variances)
    of_run, of_topic, rest = (percent(one, whole) for one in found.variances)
    return [
        words,
        f"Of the variance of one score {of_run} comes from the run, {of_topic} from the topic, {rest} from"
        f" neither. The runs count as a sample of systems, and there are {n_runs:,}; among runs that are more"
        " alike, more topics are needed.",
    ]


def reliability_plot(table: Table, *, alpha: float = 0.05) -> Plot:
    """Draw the reliability of the order by topics."""
    return Plot(
        table=table,
        kind="dots",
        label="topics",
        value="order",
        low="order_low",
        high="order_high",
        axis=ORDER,
        ends=(0, 1),
        title="How far so many topics fix the order of the runs",
        words=(ORDER, f"{1 - alpha:.0%} interval"),
    )
