"""The tables of `pooler variation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pooler.results.agree.people import legend
from pooler.results.printed import Cell, Column, Format, Table
from store.analysis.significance.pairs import neighbours
from store.analysis.variation.collection import CollectionVariation, pair_components, run_components
from store.analysis.variation.intervals import IntervalLaw, RunIntervals
from store.analysis.variation.order import Method, Reversals
from store.analysis.variation.simulation import SimulatedMaps
from store.text import counted

_UNJUDGED_WORDS = [
    "Documents that nobody judged may be relevant here: they count among all relevant ones, and"
    " may move MAP far. How likely that is nobody has seen: these are guesses, not scores, and the"
    " error of the guess is in none of the intervals."
]
_WHO_JUDGES = (
    "Judging again is supposed to decide each document by itself, relevant with its probability p:"
    " the share of its judges, or what its grade is worth. A judge who is stricter throughout moves"
    " all MAPs together, and further than that."
)
_NOTHING_VARIES = (
    "Every document is surely relevant or surely not, so that nothing varies: of how judges differ"
    " nothing is known here."
)


_INTERVAL_WORDS: Mapping[IntervalLaw, str] = {
    "enumeration": "by all outcomes",
    "inversion": "by the inverted law of MAP",
    "normal": "by the normal law",
}
_LAW_WORDS: Mapping[Method, str] = {
    "enumeration": "all outcomes",
    "likely": "the likely outcomes",
    "skewness": "the normal law corrected for skewness",
    "mixture": "a mixture of normal laws",
    "normal": "the normal law",
}


def of_runs(
    tags: Sequence[str],
    varied: CollectionVariation,
    scores: NDArray[np.float64] | None,
    intervals: RunIntervals,
    simulated: SimulatedMaps | None,
    fmt: Format,
    *,
    turned: Reversals | None = None,
    has_unjudged: bool = False,
) -> Table:
    """Make a row for every run."""
    parts = run_components(varied)
    rows: list[Mapping[str, Cell]] = []
    for run, tag in enumerate(tags):
        mean, spread = float(parts.mean[run]), float(parts.by_judging[run])
        row: dict[str, Cell] = {
            "run": tag, "topics": parts.n_topics, "mean": mean, "sd": spread,
            "low": float(intervals.low[run]), "high": float(intervals.high[run]),
            "law": intervals.law, "interval_error": _number(intervals.error[run]),
            "topic_variance": _number(parts.topic_variance[run]),
            "judging_variance": _number(parts.judging_variance[run]),
            "share": _number(parts.share[run]), "map_variance": _number(parts.of_mean[run]),
            "moments_error": varied.error,
        }  # fmt: skip
        if scores is not None:
            row["judged"] = _number(scores[run])
        if simulated is not None:
            row["mc_mean"] = float(simulated.moments.mean[run])
            row["mc_sd"] = float(simulated.moments.covariance[run, run] ** 0.5)
        rows.append(row)
    columns = [
        Column("run"), Column("topics"), Column("judged"), Column("mean", "expected"),
        Column("sd"), Column("low"), Column("high"), Column("topic_variance"),
        Column("judging_variance"), Column("share"), Column("map_variance"),
        Column("mc_mean", "simulated"), Column("mc_sd", "sd"), Column("law"),
        Column("interval_error"), Column("moments_error"),
    ]  # fmt: skip
    hidden = {
        "topics", "topic_variance", "judging_variance", "map_variance", "law", "interval_error",
        "moments_error",
    }  # fmt: skip
    lines = [
        f"expected: mean MAP over {counted(parts.n_topics, 'topic')} if judges like these judged"
        " again; sd: its standard deviation, the topics being the same; low, high: about 95% of"
        f" judgings, {_INTERVAL_WORDS[intervals.law]}.",
        "share: how much of the variance of single topics is by judging, not between them.",
    ]
    if scores is not None:
        lines.append("judged: MAP by the judgements that were chosen.")
    varies = bool(np.any(parts.by_judging > 0))
    lines.append(_WHO_JUDGES if varies else _NOTHING_VARIES)
    lines += _UNJUDGED_WORDS if has_unjudged else []
    if turned is not None and varies:
        lines.append(tau_words(varied, turned, scores))
    lines += _simulation_words(simulated)
    return Table("variation", _shown(columns, rows, hidden, fmt), rows, caption=legend(lines))


def tau_words(varied: CollectionVariation, turned: Reversals, scores: NDArray[np.float64] | None) -> str:
    """Say how far another judging leaves the order of the runs as it is."""
    tau = turned.tau(run_components(varied).mean if scores is None else scores)
    whose = "expected MAP" if scores is None else "MAP as judged"
    return (
        f"Between the orders of the runs by another judging and by {whose}, Kendall's tau is"
        f" {tau:.2f} on average (1 = the same order)."
    )


def of_pairs(
    tags: Sequence[str],
    varied: CollectionVariation,
    found: Reversals,
    simulated: SimulatedMaps | None,
    fmt: Format,
    *,
    has_unjudged: bool = False,
    neighbours_only: bool = False,
) -> Table:
    """Make a row for every two runs, or every two neighbours; the one with the higher mean first.

    Neighbours come in the order of their means.
    """
    tested = pair_components(varied, (found.first, found.second))
    p_values, parts = tested.p_values(), tested.components
    rows: list[Mapping[str, Cell]] = []
    every = np.arange(found.first.size)
    for place in neighbours(found.first, found.second) if neighbours_only else every:
        first, second = found.first[place], found.second[place]
        one = found.single.get((int(first), int(second)))
        row: dict[str, Cell] = {
            "a": tags[first], "b": tags[second], "topics": parts.n_topics,
            "difference": float(parts.mean[place]), "sd": float(parts.by_judging[place]),
            "topic_variance": _number(parts.topic_variance[place]),
            "judging_variance": _number(parts.judging_variance[place]),
            "k": _number(parts.share[place]),
            "reversed": float(found.reversed[place]),
            "tied": None if one is None else one.tied,
            "law": "normal" if one is None else one.method,
            "reversed_error": _number(found.error[place]),
            "moments_error": varied.error,
        }  # fmt: skip
        for name, p in p_values.items():
            row[name] = _number(getattr(tested, name)[place])
            row[f"p_{name}"] = _number(p[place])
        if simulated is not None:
            row["mc_reversed"] = float(simulated.above[second, first])
        rows.append(row)
    columns = [
        Column("a", "A"), Column("b", "B"), Column("topics"), Column("difference", "A - B"),
        Column("sd"), Column("topic_variance"), Column("judging_variance"), Column("k", "K"),
        Column("t1_removed"), Column("p_t1_removed"), Column("t1_included"),
        Column("p_t1_included"), Column("t2_removed"), Column("p_t2_removed", "p without"),
        Column("t2_included"), Column("p_t2_included", "p with"), Column("reversed"),
        Column("tied"), Column("law"),
        Column("reversed_error"), Column("mc_reversed", "simulated"), Column("moments_error"),
    ]  # fmt: skip
    hidden = {
        "topics", "topic_variance", "judging_variance", "tied", "law", "reversed_error",
        "moments_error", "t1_removed", "p_t1_removed", "t1_included", "p_t1_included",
        "t2_removed", "t2_included",
    }  # fmt: skip
    n_open = sum(float(str(row["reversed"])) >= 0.05 for row in rows)
    lines = [
        "A - B: expected difference of MAP, A being the run ahead; sd: how far another judging of"
        " the same topics moves it; K: how much of the variance of the differences by topic is by"
        " judging; p without, with that part: of the paired t test (eq. 9, two-sided).",
        f"reversed: how likely another judging puts B above A: {n_open:,} of"
        f" {counted(len(rows), 'pair')}{' of neighbours' if neighbours_only else ''} in 5% or"
        f" more. {_laws(rows)}",
        *(_UNJUDGED_WORDS if has_unjudged else []),
        *_simulation_words(simulated),
        *([] if simulated is None else contradicted(rows, simulated.moments.repetitions)),
    ]
    return Table("pairs", _shown(columns, rows, hidden, fmt), rows, caption=legend(lines))


def _laws(rows: Sequence[Mapping[str, Cell]]) -> str:
    """Say by which laws the order was found, and what errors they have."""
    by_law: dict[str, list[float]] = {}
    for row in rows:
        error = row["reversed_error"]
        by_law.setdefault(str(row["law"]), []).append(error if isinstance(error, float) else float("nan"))
    words = []
    for law, name in _LAW_WORDS.items():
        errors = np.array(by_law.get(law, []))
        if not errors.size:
            continue
        of_all = "" if len(by_law) == 1 else f" ({errors.size:,})"
        known = errors[~np.isnan(errors)]
        about = "" if law == "enumeration" or not known.size else f", off by some {known.max():.1g}"
        words.append(f"{name}{of_all}{about}")
    return f"By {'; '.join(words)}."


def _simulation_words(simulated: SimulatedMaps | None) -> list[str]:
    """Say how the simulation was made."""
    if simulated is None:
        return []
    moments = simulated.moments
    return [f"simulated: the same from {moments.repetitions:,} judgings by chance, seed"
            f" {moments.seed}."]  # fmt: skip


def contradicted(rows: Sequence[Mapping[str, Cell]], repetitions: int) -> list[str]:
    """Name the pairs whose order the simulation tells otherwise, chance and error allowed for."""
    names = []
    for row in rows:
        share, error = float(str(row["mc_reversed"])), row["reversed_error"]
        # Four standard errors, by the share with two judgings of either kind added.
        smoothed = (share * repetitions + 2) / (repetitions + 4)
        chance = 4 * (smoothed * (1 - smoothed) / repetitions) ** 0.5
        told = error if isinstance(error, float) else 0.0
        if abs(share - float(str(row["reversed"]))) > told + chance:
            names.append(f"{row['a']} - {row['b']}")
    if not names:
        return []
    more = "" if len(names) == 1 else f" and {counted(len(names) - 1, 'other pair')}"
    return [
        f"The simulation contradicts `reversed` of {names[0]}{more} by more than chance and the"
        " error told: go by `simulated` there."
    ]


def _shown(
    columns: list[Column], rows: list[Mapping[str, Cell]], hidden: set[str], fmt: Format
) -> list[Column]:
    """Leave out columns that nobody asked for and, for people, those that outgrow a screen."""
    there = {name for row in rows for name in row}
    left_out = hidden if fmt is Format.TABLE else set()
    return [column for column in columns if column.name in there - left_out]


def _number(value: float) -> float | None:
    """Return a number, or ``None`` where it is undefined."""
    return None if np.isnan(value) else float(value)
