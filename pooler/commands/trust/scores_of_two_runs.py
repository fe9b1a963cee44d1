"""Tables 1 to 5, figures 1 and 2: the scores of both runs, and what judging adds to their variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.commands.trust.two_runs import STATES, TwoRuns, by_whom, letters, rounded, share_text
from pooler.tables import DOCUMENTS, RUN, TOPIC, Column, Table
from store.analysis.measures.average_precision import (
    expected_average_precision,
    least_average_precision,
    variance_of_average_precision,
)
from store.analysis.undiscovered.sensitivity import discovery_effect_below, discovery_range
from store.analysis.variation.collection import run_components
from store.text import counted, percent

_CHANCE = {
    "table_1": (least_average_precision, "least (eq. 4)"),
    "table_2": (expected_average_precision, "random (eq. 5)"),
}


def beside_chance(pair: TwoRuns, name: str) -> Table:
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


def table_3(pair: TwoRuns) -> Table:
    """Make cells of quartiles of R and AP, with what eq. 19 gives there."""
    r = np.array([one.relevant for one in pair.own if one.relevant])
    ap = np.array([one.ap for one in pair.own if one.ap is not None])
    rows, rank = [], pair.found.rank
    quarters = (0.25, 0.5, 0.75)
    counts = sorted({round(float(one)) for one in np.quantile(r, quarters)}) if r.size else []
    for count in counts:
        for before in sorted({float(one) for one in np.quantile(ap, quarters)}):
            limits = discovery_range(count, before, rank)
            least = float(least_average_precision(rank - 1, count)) if count < rank else 2.0
            occurs = before >= least - 1e-12
            rows.append(
                {
                    "relevant": count,
                    "ap": before,
                    "change": discovery_effect_below(count, before, rank) if occurs else None,
                    "low": None if limits is None else limits[0],
                    "high": None if limits is None else limits[1],
                }
            )
    columns = [
        Column("relevant", "int", "R", "quartiles of the topics' relevant documents"),
        Column("ap", "float", "AP", "quartiles of the AP of both runs"),
        Column("change", "float", "eq. 20", "- where it cannot occur: all R above already give more", 5),
        Column("low", "float", "least", "by eq. 19, for any number not retrieved", 5),
        Column("high", "float", "greatest", digits=5),
    ]
    real = [one.change for one in pair.own if one.change is not None]
    words = (
        f"A relevant document at rank {rank:,} would move one topic's AP by"
        f" {min(real):+.4f} to {max(real):+.4f}, {float(np.mean(real)):+.4f} on average, in"
        f" {counted(len(real), 'list')}."
        if real
        else f"No list has a document at rank {rank:,} that is not relevant already."
    )
    return Table.of_rows("table_3", columns, rows, notes=[words, by_whom(pair)])


def figure_1(pair: TwoRuns) -> Table:
    """Count what the two processes, choosing topics and judging, add to the uncertainty of MAP."""
    parts = run_components(pair.varied)
    own = pair.votes.votes
    each = np.bincount(own.documents, minlength=own.n_documents)
    n_topics = len(pair.topics)
    topic_sd, judging_sd = np.sqrt(parts.topic_variance / n_topics), parts.by_judging
    rows = [
        {"what": "topics", "value": str(n_topics)},
        {"what": "judged documents", "value": f"{own.n_documents:,}"},
        {
            "what": "of them may be relevant or not (0 < p < 1)",
            "value": f"{int(((pair.p > 0) & (pair.p < 1)).sum()):,}",
        },
        {"what": "judges a document", "value": _span(each)},
        *(
            {"what": f"sd of the MAP of {name} by {which}", "value": rounded(float(sd[run]), 4)}
            for run, name in enumerate("AB")
            for which, sd in (("choice of topics", topic_sd), ("judging", judging_sd))
        ),
    ]
    share = parts.share
    words = (
        f"Of the variance of the MAP of A, {share_text(1 - share[0])} is the choice of topics and"
        f" {share_text(share[0])} judging; of B {share_text(1 - share[1])} and {share_text(share[1])}."
    )
    columns = [Column("what", heading="two processes"), Column("value")]
    return Table.of_rows("figure_1", columns, rows, notes=[words])


def figure_2(pair: TwoRuns) -> Table:
    """Count what stands at rank N + 1."""
    about = {
        "none": "topics in which the list is shorter",
        "unjudged": "without a judgement",
        "no chance": "judged, and p is 0",
        "either way": "0 < p < 1",
        "relevant": "p is 1",
    }
    columns: dict[Column, Any] = {RUN: pair.runs}
    for state in STATES:
        counts = [one.states[state] for one in pair.found.at_rank]
        columns[Column(state.replace(" ", "_"), "int", about=about[state])] = counts
    elsewhere = Column("elsewhere", "int", about="of the unjudged ones, those that another run retrieved")
    columns[elsewhere] = [one.elsewhere for one in pair.found.at_rank]
    n_topics = len(pair.topics)
    words = (
        f"Rank {pair.found.rank:,} of B is unjudged in {pair.found.at_rank[1].states['unjudged']:,} of"
        f" {counted(n_topics, 'topic')}, of A in {pair.found.at_rank[0].states['unjudged']:,}."
    )
    return Table.of_columns("figure_2", columns, notes=[words])


def table_4(pair: TwoRuns) -> Table:
    """Count documents by the grades of their judges."""
    own = pair.votes.votes
    patterns: dict[tuple[int, ...], list[float]] = {}
    starts = np.searchsorted(own.documents, np.arange(own.n_documents + 1))
    for document in range(own.n_documents):
        grades = own.places[starts[document] : starts[document + 1]]
        key = tuple(sorted((own.scale_values[place] for place in grades.tolist()), reverse=True))
        patterns.setdefault(key, []).append(float(pair.p[document]))
    keys = sorted(patterns, key=lambda key: (-len(key), [-grade for grade in key]))
    n_open = int(((pair.p > 0) & (pair.p < 1)).sum())
    words = f"{counted(n_open, 'document')} ({percent(n_open, pair.p.size)}) may turn out either way."
    columns = {
        Column("grades", "ints", about="of the judges of a document, in any order"): [*map(list, keys)],
        Column("judges", "int", show="if_varied"): [*map(len, keys)],
        DOCUMENTS: [len(patterns[key]) for key in keys],
        Column("p", "float", about="how likely such a document is relevant"): [
            patterns[key][0] for key in keys
        ],
    }
    return Table.of_columns("table_4", columns, notes=[words])


def table_5(pair: TwoRuns) -> Table:
    """Make a row for every judge and level, and one for the model."""
    rows: list[dict[str, Any]] = []
    for level, judge, scores in pair.by_judge:
        for run, own in zip(pair.runs, scores, strict=True):
            rows.append(
                {
                    "run": run,
                    "judge": judge,
                    "level": level,
                    "topics": own.size,
                    "mean": float(own.mean()) if own.size else None,
                    "variance": float(own.var(ddof=1)) if own.size > 1 else None,
                }
            )
    parts = run_components(pair.varied)
    for number, run in enumerate(pair.runs):
        topic, judging = float(parts.topic_variance[number]), float(parts.judging_variance[number])
        rows.append(
            {
                "run": run,
                "judge": "(model)",
                "level": None,
                "topics": len(pair.topics),
                "mean": float(parts.mean[number]),
                "variance": topic + judging,
                "topic_variance": topic,
                "judging_variance": judging,
                "share": float(parts.share[number]),
            }
        )
        simulated = pair.simulated
        rows.append(
            {
                "run": run,
                "judge": "(simulated)",
                "level": None,
                "topics": len(pair.topics),
                "mean": float(simulated.mean[number]),
                "judging_variance": float(simulated.covariance[number, number] * len(pair.topics)),
            }
        )
    columns = [
        RUN,
        Column("judge"),
        Column("level", "int", about="least relevant grade"),
        Column("topics", "int", show="if_varied"),
        Column("mean", "float", "MAP"),
        Column("variance", "float", "s2", "over topics, of the model with judging included"),
        Column("topic_variance", "float", "by topics", "of the expected AP, over topics"),
        Column("judging_variance", "float", "by judging", "mean over topics; simulated: L times that of MAP"),
        Column("share", "float", about="how much of the variance is by judging"),
    ]
    a, b = map(share_text, parts.share)
    words = f"Judging makes up {a} of the variance of A, {b} of B."
    return Table.of_rows("table_5", columns, rows, notes=[words, letters(pair)])


def _span(numbers: NDArray[np.int64]) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low} to {high}"
