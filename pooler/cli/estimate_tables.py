"""The tables of `pooler estimate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pooler.cli.agreement_words import legend
from pooler.cli.console import Cell, Column, Format, Table, counted
from pooler.cli.dossier import emit_dossier
from pooler.cli.estimate_sample import Sample
from pooler.cli.estimate_scores import Estimates

_HEADINGS = {
    "xinfap": "xinfAP",
    "infndcg": "infNDCG",
    "ip_5": "iP@5",
    "ip_10": "iP@10",
    "infap": "infAP",
    "statap": "statAP",
}
FEW_WAITING = 0.1
"""Share of a sample that may be unjudged before its estimates are called none."""
_CODES = {
    "no-strata": "the sample has no strata, so no xinfAP, infNDCG, iP@k and infAP",
    "no-probabilities": "the sample has no inclusion probabilities, so no statAP",
    "uneven-sample": "not the same share of every stratum is judged, so no infAP",
    "no-relevant": "no sampled document of the topic is relevant",
    "no-standard-error": "one judged document of a topic, or an estimated variance below 0",
}


def show(found: Estimates, sample: Sample, fmt: Format, *, by_topic: bool) -> None:
    """Print the facts of the sample, a row for every run, and if asked for every topic of it."""
    tables = [_by_topic(found, fmt)] if by_topic else []
    tables.append(_runs(found, fmt))
    tables[-1].caption = legend(_words(found, sample, tables))
    facts = _facts(found, sample)
    if fmt is Format.TABLE:  # what is not known has a reason below, and 0 goes without saying
        facts = {name: fact for name, fact in facts.items() if fact}
    emit_dossier(facts, tables, fmt)


def _facts(found: Estimates, sample: Sample) -> dict[str, Cell]:
    """Say what the sample is."""
    facts: dict[str, Cell] = {
        "sample": sample.name,
        "topics": len(found.rankings.topics),
        "topics_without_grade": sample.n_topics_without_grade,
        "topics_without_relevant": _n_without_relevant(found),
        "pooled": sample.n_pooled,
        "sampled": sample.n_sampled,
        "graded": sample.n_sampled - sample.n_waiting,
        "relevant": sample.n_relevant,
        "relevant_by_strata": _total(found.by_strata),
        "relevant_by_probability": _total(found.by_probability),
        "in_strata_without_grade": found.n_uncovered,
    }
    if reasons := _joined(found.reasons.values()):
        facts["reason"] = reasons
    return facts


def _runs(found: Estimates, fmt: Format) -> Table:
    """Make a row for every run."""
    means = {name: found.mean(name) for name in found.values}
    errors = found.standard_errors()
    missing = np.sum(found.rankings.lengths == 0, axis=1)
    table = Table("runs", _columns(fmt, topics=False, has_missing=bool(missing.any())))
    for run, tag in enumerate(found.rankings.tags):
        cells = {name: _number(means[name][run]) for name in means}
        error = _number(errors[run])
        has_statap = cells.get("statap") is not None
        table.rows.append({
            "run": tag, **cells, "statap_se": error,
            "found": float(found.found[run].sum()), "missing": int(missing[run]),
            "reason": _reason(found, cells, fmt, no_error=has_statap and error is None),
        })  # fmt: skip
    return table


def _by_topic(found: Estimates, fmt: Format) -> Table:
    """Make a row for every run and topic."""
    table = Table("by_topic", _columns(fmt, topics=True, has_missing=False))
    for run, tag in enumerate(found.rankings.tags):
        for place, topic in enumerate(found.rankings.topics):
            cells = {name: _number(values[run, place]) for name, values in found.values.items()}
            variance = np.nan if found.variance is None else found.variance[run, place]
            has_statap = cells.get("statap") is not None
            error = float(np.sqrt(variance)) if has_statap and variance >= 0 else None
            table.rows.append({
                "run": tag, "topic": topic, **cells, "statap_se": error,
                "found": float(found.found[run, place]),
                "relevant": float(found.relevant[place]),
                "relevant_by_strata": _at(found.by_strata, place),
                "relevant_by_probability": _at(found.by_probability, place),
                "missing": int(found.rankings.lengths[run, place] == 0),
                "reason": _reason(found, cells, fmt, no_error=has_statap and error is None),
            })  # fmt: skip
    return table


def _columns(fmt: Format, *, topics: bool, has_missing: bool) -> list[Column]:
    """Name the columns; programs get some that people find in the facts, or need not see."""
    is_table = fmt is Format.TABLE
    columns = [Column("run"), *([Column("topic")] if topics else [])]
    columns += [Column(name, heading) for name, heading in _HEADINGS.items()]
    columns += [Column("statap_se", "s.e."), Column("found", digits=1, can_go=True)]
    if topics and is_table:
        columns += [Column("relevant", digits=1, can_go=True)]
    elif topics:
        columns += [Column("relevant_by_strata"), Column("relevant_by_probability")]
    columns += [Column("missing")] if has_missing or not is_table else []
    return [*columns, Column("reason")]


def _words(found: Estimates, sample: Sample, tables: Sequence[Table]) -> list[str]:
    """Say what the columns mean, how far to trust them, and why some numbers are not there."""
    words = [
        "Estimates: what is judged stands for what was not sampled; what is not pooled counts as"
        " not relevant."
    ]
    if sample.n_waiting > FEW_WAITING * sample.n_sampled:
        words.append(
            f"{sample.n_waiting:,} of {counted(sample.n_sampled, 'sampled document')} are still"
            f" unjudged (more than {FEW_WAITING:.0%}): what is judged is then no sample, unless"
            " chance alone chose it. Judge them before these numbers are used."
        )
    if "xinfap" in found.values:
        words.append(
            "xinfAP: AP, stratum by stratum. infNDCG: nDCG, likewise. iP@5, iP@10: precision,"
            " likewise. All as sample_eval.pl has them; they may exceed 1, and come without a"
            " standard error."
        )
    if "infap" in found.values:
        words.append("infAP: AP, as if the pool were one stratum, as trec_eval has it.")
    if "statap" in found.values:
        words.append(
            "statAP: AP, a judged document standing for 1 / its probability of being sampled; it"
            " may exceed 1. s.e.: its standard error, by chance of the sample alone, not of the"
            " topics. In simulated samples AP was within twice that much 8 or 9 times of 10"
            f"{', and xinfAP strayed about as far' if 'xinfap' in found.values else ''}."
        )
    known = {"strata": found.by_strata, "probability": found.by_probability}
    ways = [way for way, number in known.items() if number is not None]
    of_topic = any(table.name == "by_topic" for table in tables)
    words.append(
        f"relevant by {', by '.join(ways)}: relevant documents estimated in all, of which"
        f" {sample.n_relevant:,} were seen. found: those in the run's lists, by {ways[0]}."
        f"{f' relevant: those of the topic, by {ways[0]}.' if of_topic else ''}"
    )
    words += _means(found)
    seen = {code for table in tables for row in table.rows for code in _codes(row.get("reason"))}
    seen |= set(found.reasons.values())
    return words + [f"{code}: {_CODES[code]}." for code in _CODES if code in seen]


def _means(found: Estimates) -> list[str]:
    """Say over which topics means are."""
    n_topics, n_without = len(found.rankings.topics), _n_without_relevant(found)
    words = []
    if n_without:
        names = ", ".join(
            _HEADINGS[name]
            for name in found.values
            if found.n_defined(name) == n_topics - n_without
        )
        verb = "has" if n_without == 1 else "have"
        line = (
            f"{counted(n_without, 'topic')} of {n_topics:,} {verb} no relevant document in the"
            f" sample, so no {names}; means leave such topics out, as statAP_MQ_eval does."
        )
        if "xinfap" in found.values:
            line += (
                f" sample_eval.pl counts them as 0: its means of xinfAP are"
                f" {n_topics - n_without}/{n_topics} of these."
            )
        words.append(line)
    if (found.rankings.lengths == 0).any():
        words.append(
            "missing: topics where the run has no document. It scores 0 there; both programs leave"
            " the topic out."
        )
    return words


def _n_without_relevant(found: Estimates) -> int:
    """Count the topics of which no sampled document is relevant."""
    return int(np.sum(found.relevant == 0))


def _reason(
    found: Estimates, cells: dict[str, float | None], fmt: Format, *, no_error: bool
) -> str | None:
    """Say why estimates of a row are not there; people read in the facts what all rows lack."""
    codes = [] if fmt is Format.TABLE else [*found.reasons.values()]
    codes += ["no-relevant"] if None in cells.values() else []
    codes += ["no-standard-error"] if no_error else []
    return _joined(codes)


def _joined(codes: Iterable[str]) -> str | None:
    """Write codes, each once."""
    return ", ".join(dict.fromkeys(codes)) or None


def _codes(cell: Cell) -> list[str]:
    """Read what `_joined` wrote."""
    return str(cell).split(", ") if cell else []


def _at(values: NDArray[np.float64] | None, place: int) -> float | None:
    """Return one of several numbers, where there are any."""
    return None if values is None else float(values[place])


def _total(values: NDArray[np.float64] | None) -> float | None:
    """Return the sum of numbers, where there are any."""
    return None if values is None else float(values.sum())


def _number(value: float) -> float | None:
    """Return a number, or ``None`` where it is undefined."""
    return None if np.isnan(value) else float(value)
