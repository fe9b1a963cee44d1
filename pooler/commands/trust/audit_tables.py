"""The result of an audit: its numbers as tables, its verdict in words, and what people see of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pooler.commands.trust.audit_material import FIRST, Correction, correction
from pooler.result import Later, Result, fields_of
from pooler.sources.source import Source
from pooler.tables import DOCUMENTS, REASON, RUN, TOPIC, Column, Table, View, hidden
from store.analysis.agreement.intervals import FEW_TOPICS
from store.analysis.agreement.kappa import WEIGHTS, stacked_chance_corrected
from store.analysis.audit import CONCLUSIONS, DIGITS, AlternativeTest, cut_gain, kappas_at, rejections
from store.text import counted

if TYPE_CHECKING:
    from pooler.commands.trust.audit_material import AuditedGrades, AuditedRuns, MeasureAudit
    from store.analysis.agreement.intervals import Interval
    from store.analysis.audit import CutAgreement, LengthBias, OddsRatio

FEW_DOCUMENTS = 100
"""Documents that both sides graded, below which there is no verdict."""
LEAST_WINNING = 0.5
LEAST_TOP_TAU = 0.5

ALTERNATIVE = "Calderon, Reichart and Dror 2025"
CEILING = "people's own order on resampled topics; Voorhees 2001 asks .9, people reach .938 (Voorhees 2000)"
CONVENTION = "convention of this program"
HOLM = "t tests over topics, Holm"
PLAIN_T = "paired t tests, not adjusted"
BOOTSTRAP = "bootstrap over topics"

MEASURE = Column("measure")
LOW, HIGH = hidden("low"), hidden("high")
INTERVAL_REASON = hidden("interval_reason", "text")
CODES = {"one-topic": "too-few-topics", "no-topics": "too-few-topics", "no-variation": "same-difference"}
"""Reasons for no t test, or no interval, in the words of this page."""

WORDS = {
    "both": "significant by both, same direction",
    "opposite": "significant by both, opposite directions",
    "vanishes": "significant by people only",
    "appears": "significant by the audited judge only",
    "neither": "by neither, same direction",
    "neither-opposite": "by neither, other directions",
}


def _with_intervals(table: Table) -> list[Column]:
    found: list[Column] = []
    for column in table.columns:
        if column.name.endswith("low"):
            of = column.name.removesuffix("low")
            limits = (column.name, f"{of}high")
            if any(limit is not None for limit in table.cells(column.name)) or "reason" in table.data:
                found.append(Column(f"{of}interval", heading="95 %", interval=limits, digits=2))
        elif not column.name.endswith("high"):
            found.append(column)
    return found


def _verdict(found: Audit) -> Table:
    columns = [
        Column("says", heading="verdict", most=60),
        replace(MEASURE, show="if_any"),
        Column("number", "float"),
        LOW,
        HIGH,
        Column("threshold", "float"),
        Column("source", heading="whose threshold", most=40),
    ]
    settings = found.settings
    against = " and ".join(settings["against"])
    title = f"{settings['model']} against {against}"
    notes = [
        f"95 %: bootstrap over topics, {settings['resamples']:,} resamples, seed {settings['seed']}.",
        f"Everything is over documents that both graded; means are rounded to {DIGITS} decimals before runs"
        " are put in order.",
    ]
    return Table.of_records("verdict", columns, found.findings, title=title, notes=notes)


def _population(found: Audit) -> Table:
    counts = found.grades.counts
    columns = {Column("what"): [*counts], Column("count", "int"): [*counts.values()]}
    return Table.of_columns("population", columns, title="What was compared")


def _confusion(found: Audit) -> Table:
    values, table = found.grades.scale.values, found.grades.tables().sum(axis=0)
    name = found.settings["model"]
    columns: dict[Column, Any] = {
        Column("human", "int", "people"): np.repeat(values, len(values)),
        Column("model", "int"): [*values] * len(values),
        DOCUMENTS: table.ravel(),
    }
    crossed = {Column("human", "int", f"people \\ {name}"): list(values)} | {
        Column(f"model_{value}", "int", str(value)): table[:, place] for place, value in enumerate(values)
    }
    known = {one: kappa for one, kappa in grade_kappas(found).items() if kappa is not None}
    kappas = ", ".join(f"{one} {kappa:.4f}".removeprefix("none ") for one, kappa in known.items())
    notes = [f"Kappa of all grades: {kappas}."] if kappas else []
    notes.append(f"documents by people's grade (rows) and that of {name} (columns)")
    seen = View(Table.of_columns("confusion", crossed, title="Grades", notes=notes))
    return Table.of_columns("confusion", columns).seen_as(seen)


def grade_kappas(found: Audit) -> dict[str, float | None]:
    """Return Cohen's kappa of all grades, by the weights of disagreements; ``None`` = undefined."""
    table = found.grades.tables().sum(axis=0)
    kappas = {one: float(stacked_chance_corrected("cohen", table, one)) for one in WEIGHTS}
    return {one: None if np.isnan(kappa) else kappa for one, kappa in kappas.items()}


def _levels(found: Audit) -> Table:
    values = found.grades.scale.values
    declared = tuple(values.index(found.settings[name]) for name in ("level", "model_level"))
    columns = [
        Column("human", "int", "people from"),
        Column("model", "int", "model from"),
        Column("kappa", "float"),
        LOW,
        HIGH,
        Column("human_share", "float", "relevant by people", digits=3),
        Column("model_share", "float", "by model", digits=3),
        Column("declared", "bool", about="the two levels that scores are measured with"),
        REASON,
        INTERVAL_REASON,
    ]
    table = Table.of_records(
        "levels",
        columns,
        found.levels,
        title="Agreement on relevant or not, by level of either",
        human=lambda one: values[one.human],
        model=lambda one: values[one.model],
        low=lambda one: one.interval.low,
        high=lambda one: one.interval.high,
        declared=lambda one: (one.human, one.model) == declared,
        interval_reason=lambda one: None if one.reason else _code(one.interval.reason),
    )
    kept = [row for row, one in enumerate(found.levels) if one.kappa is not None]
    return table.seen_as(columns=_with_intervals(table), rows=kept or None, notes=_map_lines(found))


def _map_lines(found: Audit) -> list[str]:
    values = found.grades.scale.values
    known = [one for one in found.levels if one.kappa is not None]
    words = []
    for human in sorted({one.human for one in known}):
        of_level = [one for one in known if one.human == human]
        by_kappa = max(of_level, key=lambda one: one.kappa or 0)
        by_share = min(of_level, key=lambda one: abs((one.model_share or 0) - (one.human_share or 0)))
        words.append(
            f"{values[human]}+ of people is {values[by_kappa.model]}+ by kappa,"
            f" {values[by_share.model]}+ by share"
        )
    lines = [f"Map of grades: {'; '.join(words)}."] if words else []
    if better := better_cuts(found):
        best, gain, (low, high) = better[0], better[1], (better[2].low, better[2].high)
        limits = "" if low is None or high is None else f" ({low:.3f} to {high:.3f})"
        lines.append(
            f"Kappa is highest between {values[best.human]}+ of people and {values[best.model]}+ of the"
            f" model: by {gain:.4f}{limits}."
        )
    return lines


def _grades(found: Audit) -> Table:
    grades, values = found.grades, found.grades.scale.values
    table = grades.tables().sum(axis=0)
    cut = values.index(found.settings["level"])
    sizes = table.sum(axis=0)
    kept = np.flatnonzero(sizes)
    of_kept, n = table[:, kept], sizes[kept]
    about = f"share that people graded {found.settings['level']} or more"
    columns = {
        Column("model", "int", "model's grade"): [values[place] for place in kept],
        DOCUMENTS: n,
        Column("relevant", "float", about=about): of_kept[cut:].sum(axis=0) / n,
        Column("mean", "float", "people's mean grade", digits=3): np.array(values, np.float64) @ of_kept / n,
    }
    return Table.of_columns("grades", columns, title="What a grade of the model is worth")


def _length(found: Audit) -> Table:
    length = found.length
    names = ("shortest", "middle", "longest") if len(length.parts) == 4 else ("part",) * 3
    rows: list[dict[str, Any]] = [
        {"which": name, "from": one.shortest, "to": one.longest, "documents": one.n}
        | {"human": one.human, "model": one.model, "difference": one.model - one.human}
        | {**_limits(one.interval), "interval_reason": _code(one.interval.reason)}
        for name, one in zip([*names[: len(length.parts) - 1], "all"], length.parts, strict=False)
    ]
    rows = rows or [{"which": "all"}]
    rows[-1]["reason"] = length.reason
    columns = [
        Column("which", heading="length"),
        Column("from", "int", about="characters of the text"),
        Column("to", "int"),
        DOCUMENTS,
        Column("human", "float", "by people", "mean grade", digits=3),
        Column("model", "float", "by model", digits=3),
        Column("difference", "float", about="by the model less by people", digits=3),
        LOW,
        HIGH,
        REASON,
        INTERVAL_REASON,
    ]
    notes = ["Where people grade longer documents higher, a model blind to length has rho below 0."]
    if length.rho is not None:
        low, high = length.interval.low, length.interval.high
        limits = "" if low is None or high is None else f" (95 %: {low:.2f} to {high:.2f})"
        notes.insert(0, f"Spearman's rho of length and difference: {length.rho:.3f}{limits}.")
    return Table.of_rows("length", columns, rows, title="Grades by length of document", notes=notes)


def _topics(found: Audit) -> Table:
    values = found.grades.scale.values
    cuts = (values.index(found.settings[name]) for name in ("level", "model_level"))
    by_topic = found.grades.tables()
    sizes = by_topic.sum(axis=(1, 2))
    kept = np.flatnonzero(sizes)
    kappas = kappas_at(by_topic[kept], *cuts)
    columns = {
        TOPIC: [found.grades.topics[code] for code in kept.tolist()],
        DOCUMENTS: sizes[kept],
        Column("kappa", "float"): kappas,
        REASON: ["single-grade" if np.isnan(one) else None for one in kappas.tolist()],
    }
    notes = []
    defined = kappas[np.isfinite(kappas)]
    if defined.size:
        spread = np.quantile(defined, [0, 0.25, 0.5, 0.75, 1])
        notes = [f"lowest, quartiles and highest: {' '.join(f'{one:.3f}' for one in spread)}"]
    return Table.of_columns("topics", columns, title="Kappa by topic", notes=notes)


def _orders(found: Audit) -> Table:
    rows: list[dict[str, Any]] = []
    for part in found.by_measure:
        order = part.order
        row: dict[str, Any] = {"measure": part.name, "topics": part.n_topics, "left_out": part.n_left_out}
        row |= {"runs": int(part.ranked.sum()), "reason": "too-few-topics"}
        if order is not None:
            best = found.runs[np.flatnonzero(part.ranked)[order.best]]
            row |= {"tau_b": order.tau.tau, "tau_ap": order.tau_ap.tau, "tau_top": order.tau_top.tau}
            row |= _limits(order.tau_interval, "tau_b_") | _limits(order.tau_ap_interval, "tau_ap_")
            row |= _limits(order.tau_top_interval, "tau_top_")
            row |= {"ceiling": order.ceiling, "top": order.n_top, "best": best}
            row |= {"best_place": order.best_place, "reason": order.tau.reason or order.tau_top.reason}
        rows.append(row)
    top = found.settings["top"]
    columns = [
        MEASURE,
        Column("topics", "int", show="if_varied"),
        Column("left_out", "int", show="never"),
        Column("runs", "int", show="if_varied"),
        Column("tau_b", "float", "tau-b"),
        *map(hidden, ("tau_b_low", "tau_b_high")),
        Column(
            "ceiling",
            "float",
            about="mean tau-b of people's order on resampled topics and on all: what another set of topics"
            " would give",
        ),
        Column(
            "tau_ap",
            "float",
            "tau_AP",
            "down the order of the model; two runs tied in one order are half right, in both right",
        ),
        *map(hidden, ("tau_ap_low", "tau_ap_high")),
        Column("top", "int", about=f"runs at or above place {top} by people"),
        Column("tau_top", "float", "tau-b of these"),
        *map(hidden, ("tau_top_low", "tau_top_high")),
        Column("best", show="never"),
        Column("best_place", "int", "best run", "place of people's best run by the model"),
        REASON,
    ]
    note = "A tau of resampled topics is lower on the average than that of all, as the ceiling is below 1."
    return Table.of_rows("orders", columns, rows, title="Order of the runs", notes=[note])


def _bias(found: Audit) -> Table:
    rows: list[dict[str, Any]] = []
    for part in found.by_measure:
        if part.bias is None:
            rows.append({"measure": part.name, "reason": "too-few-topics"})
            continue
        of_runs = np.where(part.ranked, part.bias.of_runs, np.nan)
        least, most = int(np.nanargmin(of_runs)), int(np.nanargmax(of_runs))
        row: dict[str, Any] = {"measure": part.name, "bias": part.bias.mean, **_limits(part.bias.interval)}
        row |= {"least": float(of_runs[least]), "least_run": found.runs[least]}
        row |= {"most": float(of_runs[most]), "most_run": found.runs[most]}
        row |= {"off": int(np.sum(part.bias.p_holm <= found.settings["alpha"]))}
        row |= {"correlation": part.bias.correlation, "interval_reason": _code(part.bias.interval.reason)}
        rows.append(row)
    columns = [
        MEASURE,
        Column("bias", "float", about="mean over runs of the model's score less people's"),
        LOW,
        HIGH,
        Column("least", "float"),
        Column("least_run", heading="of run"),
        Column("most", "float"),
        Column("most_run", heading="of run "),
        Column("off", "int", about=f"runs that gain more or less than all do (t, Holm, {_alpha(found)})"),
        Column("correlation", "float", digits=2, about="of a run's bias and its score by people"),
        REASON,
        INTERVAL_REASON,
    ]
    notes = []
    low = [row["measure"] for row in rows if (row.get("correlation") or 0) < 0]
    if low:
        notes = [f"{', '.join(low)}: good runs gain least, as at a ceiling, which hides what favours them."]
    return Table.of_rows("bias", columns, rows, title="Scores", notes=notes)


def _runs(found: Audit) -> Table:
    assert found.audited is not None
    rows: list[dict[str, Any]] = []
    for part in found.by_measure:
        by_human, by_model = (_places(scores, part) for scores in (part.human, part.model))
        for run, tag in enumerate(found.runs):
            audited, used = found.audited, found.audited.models[run]
            row: dict[str, Any] = {"measure": part.name, "run": tag}
            row |= {"group": audited.groups[run] or None, "circular": bool(audited.is_circular[run])}
            row |= {"models": None if used is None else list(used) or ["none"]}
            row |= {"human": float(part.human[run]), "human_place": by_human[run]}
            row |= {"model": float(part.model[run]), "model_place": by_model[run]}
            if part.bias is None:
                rows.append(row | {"reason": "too-few-topics"})
                continue
            own = part.bias.own[run]
            row |= {"bias": float(part.bias.of_runs[run]), "own": own.difference, "t": own.t, "p": own.p}
            rows.append(row | {"p_holm": float(part.bias.p_holm[run]), "reason": _code(own.reason)})
    columns = [
        MEASURE,
        RUN,
        Column("group", show="if_any"),
        Column("models", "texts", show="if_any"),
        Column("circular", "bool", show="if_varied", usual=(False,)),
        Column("human", "float", "by people"),
        Column("human_place", "int", "place"),
        Column("model", "float", "by model"),
        Column("model_place", "int", "place "),
        Column("bias", "float"),
        Column("own", "float", "own bias", about="bias less the mean bias of the runs"),
        Column("t", "float", digits=2),
        Column("p", "float", show="never"),
        Column("p_holm", "float", "p, Holm"),
        REASON,
    ]
    return Table.of_rows("runs", columns, rows, title="Scores of runs")


def _places(scores: Any, part: MeasureAudit) -> list[int | None]:
    """Return the place of every run among those that are ranked; of another the one it would take."""
    rounded = np.round(scores, DIGITS)
    if np.isnan(rounded).any():
        return [None] * len(rounded)
    ranked = rounded[part.ranked]
    return [int(1 + np.sum(ranked > one)) for one in rounded.tolist()]


def _groups(found: Audit) -> Table:
    assert found.audited is not None
    rows: list[dict[str, Any]] = []
    members = found.audited.members()
    for part in found.by_measure:
        for (kind, name), gain in part.favours.items():
            of_it, test = members[kind, name], gain.test
            assert part.bias is not None
            p_holm = part.p_holm[kind, name]
            row: dict[str, Any] = {"measure": part.name, "kind": kind, "name": name}
            row |= {"runs": int(of_it.sum()), "others": int((~of_it).sum())}
            row |= {"bias": float(part.bias.of_runs[of_it].mean()), "gain": test.difference}
            row |= {"t": test.t, "p": test.p, "p_holm": None if np.isnan(p_holm) else p_holm}
            row |= {"reason": _code(test.reason), "interval_reason": _code(gain.interval.reason)}
            rows.append(row | _limits(gain.interval))
    columns = [
        MEASURE,
        Column("kind", about="runs of one group, or that use one model"),
        Column("name"),
        Column("runs", "int"),
        Column("others", "int", show="never"),
        Column("bias", "float"),
        Column("gain", "float", about="bias less that of the other runs, over topics"),
        LOW,
        HIGH,
        Column("t", "float", digits=2),
        Column("p", "float", show="never"),
        Column("p_holm", "float", "p, Holm"),
        REASON,
        INTERVAL_REASON,
    ]
    silent = sum(one is None for one in found.audited.models)
    notes = []
    if found.odds and silent:
        notes = [f"{counted(silent, 'run')} say nothing of models and count among the others."]
    return Table.of_rows("groups", columns, rows, title="Groups of runs", notes=notes)


def _documents(found: Audit) -> Table:
    rows = []
    for name, odds in found.odds.items():
        row: dict[str, Any] = {"name": name, "own": name == found.settings["family"]}
        if odds is not None:
            row |= {"exposed": odds.n_exposed, "others": odds.n_others, "odds_ratio": odds.value}
            row |= _limits(odds.interval)
        rows.append(row | {"reason": "no-others" if row.get("odds_ratio") is None else None})
    columns = [
        Column("name", heading="model"),
        Column("own", "bool", about="the audited judge's own"),
        Column(
            "exposed", "int", "theirs alone", f"documents among the first {FIRST} of runs that use it alone"
        ),
        Column("others", "int", about="of some other run"),
        Column(
            "odds_ratio",
            "float",
            "odds ratio",
            "of being relevant by the audited judge, at equal topic and grade by people (Mantel-Haenszel);"
            " an interval above 1 is favour",
            digits=3,
        ),
        LOW,
        HIGH,
        REASON,
    ]
    return Table.of_rows("documents", columns, rows, title="Documents of runs that use models")


def _pairs(found: Audit) -> Table:
    rows: list[dict[str, Any]] = []
    for part in found.by_measure:
        row: dict[str, Any] = {"measure": part.name, "reason": None if part.conclusions else "too-few-topics"}
        for name, counts in zip(CONCLUSIONS, part.conclusions, strict=False):
            key = name.replace("-", "_")
            row |= dict(zip((key, f"{key}_turned"), counts, strict=True))
        rows.append(row)
    columns = [MEASURE]
    for name in CONCLUSIONS:
        columns.append(Column(name.replace("-", "_"), "int", about=WORDS[name]))
        if name in ("vanishes", "appears"):
            columns.append(Column(f"{name}_turned", "int", "turned" + " " * (name == "appears")))
    columns.append(REASON)
    n_runs = {int(part.ranked.sum()) for part in found.by_measure}
    note = f"Paired t tests at {_alpha(found)}, two-sided, not adjusted for the number of pairs."
    note += " Turned: the runs stand the other way round."
    title = f"Pairs of {max(n_runs, default=0)} runs whose difference is significant"
    return Table.of_rows("pairs", columns, rows, title=title, notes=[note])


def _annotators(found: Audit) -> Table:
    test, names = found.test, found.settings["against"]
    rows = [{"person": name} | fields_of(each) for name, each in zip(names, test.people, strict=False)]
    rows = rows or [{"person": name, "reason": test.reason} for name in names]
    columns = [
        Column("person"),
        Column("n", "int", "N", "documents that this person, another one and the model graded"),
        Column(
            "model_wins", "float", "model wins", "share where the model is as near to the others or nearer"
        ),
        Column("person_wins", "float", "person wins"),
        Column("difference", "float"),
        Column("t", "float", digits=3),
        Column("p", "float"),
        Column("rejected", "bool", "replaceable", "by Benjamini and Yekutieli at 5 %"),
        Column("t_of_topics", "float", "t of topics", digits=3),
        Column("p_of_topics", "float", show="never"),
        REASON,
    ]
    nearness = "same grades" if found.settings["nominal"] else "distance of grades"
    notes = []
    if test.winning_rate is not None and test.advantage is not None:
        rate, advantage = f"{test.winning_rate:.2f}", f"{test.advantage:.4f}"
        notes.append(f"Winning rate {rate} (1/2 passes), advantage probability {advantage}.")
    notes.append(
        f"Each person in turn is left out and compared with the model, by {nearness}, epsilon"
        f" {found.settings['epsilon']:g}. t takes documents as independent, which those of a topic are not."
    )
    table = Table.of_rows("annotators", columns, rows, title="Alternative annotator test", notes=notes)
    return table if test.people else table.seen_as(columns=["person", "reason"])


def _limits(interval: Interval, of: str = "") -> dict[str, float | None]:
    return {f"{of}low": interval.low, f"{of}high": interval.high}


def _code(reason: str | None) -> str | None:
    return None if reason is None else CODES.get(reason, reason)


def _alpha(found: Audit) -> str:
    return f"{found.settings['alpha']:g}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence, with its number, and the threshold it was held against."""

    says: str
    measure: str | None = None
    number: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    source: str = ""


def better_cuts(found: Audit) -> tuple[CutAgreement, float, Interval] | None:
    """Find the best other level of people at the judge's own, or the reverse; ``None`` = none is better.

    With it by how much its kappa is higher than that of both as declared.
    """
    values, settings = found.grades.scale.values, found.settings
    declared = values.index(settings["level"]), values.index(settings["model_level"])
    at = {(one.human, one.model): one for one in found.levels if one.kappa is not None}
    if declared not in at:
        return None
    others = [one for cut, one in at.items() if cut[0] == declared[0] or cut[1] == declared[1]]
    best = max(others, key=lambda one: one.kappa or 0.0)
    cut, gain = (best.human, best.model), (best.kappa or 0.0) - (at[declared].kappa or 0.0)
    if cut == declared:
        return None
    drawn = {name: settings[name] for name in ("seed", "resamples")}
    return best, gain, cut_gain(found.grades.tables(), cut, declared, **drawn)


def _findings(found: Audit) -> Iterator[Finding]:
    """Yield the verdict, the most important first; of too few topics or documents that there is none."""
    both = found.grades.both
    n_topics = int(np.unique(found.grades.topic_codes[both]).size)
    n_documents = int(np.count_nonzero(both))
    if n_topics < FEW_TOPICS:
        says = f"No verdict: fewer than {FEW_TOPICS} topics have a document that both graded"
        yield Finding(says, None, n_topics, threshold=FEW_TOPICS, source=CONVENTION)
    if n_documents < FEW_DOCUMENTS:
        says = f"No verdict: both graded fewer than {FEW_DOCUMENTS} documents"
        yield Finding(says, None, n_documents, threshold=FEW_DOCUMENTS, source=CONVENTION)
    if n_topics < FEW_TOPICS or n_documents < FEW_DOCUMENTS:
        return
    against = [_replacing(found.test)]
    for part in found.by_measure:
        against += _favours(part, found.runs, found.settings["alpha"])
    if any(one.number is not None for one in against):
        yield Finding("Cannot replace people, for the reasons that follow")
    else:
        yield Finding("Nothing here says that people cannot be replaced; that is no proof that they can")
    yield from against
    yield from _level_findings(found)
    limits = found.length.interval
    if limits.low is not None and limits.high is not None and (limits.low > 0 or limits.high < 0):
        says = (
            f"The longer a document, the {'higher' if limits.low > 0 else 'lower'} its grade beside people's"
        )
        source = f"Spearman's rho; {BOOTSTRAP}"
        yield Finding(says, None, found.length.rho, limits.low, limits.high, 0.0, source)
    for part in found.by_measure:
        yield from _order_findings(part)


def _replacing(test: AlternativeTest) -> Finding:
    if test.winning_rate is None:
        why = "one person graded" if test.reason == "one-human" else "no two people graded the same documents"
        says = f"Whether it does as well as one more person is not known: {why}"
        return Finding(says, threshold=LEAST_WINNING, source=ALTERNATIVE)
    of_all = f"of {len(test.people)} people"
    if test.winning_rate < LEAST_WINNING:
        says = f"It does not do as well as one more person: too small a share {of_all} can be replaced"
        return Finding(says, None, test.winning_rate, threshold=LEAST_WINNING, source=ALTERNATIVE)
    # Only what speaks against is among the reasons.
    says = f"It does as well as one more person: {test.winning_rate:.2f} {of_all} can be replaced"
    by_topics = sum(rejections([one.p_of_topics for one in test.people], 0.05))
    return Finding(f"{says}, and {by_topics} with topics as units", source=ALTERNATIVE)


def _favours(part: MeasureAudit, runs: Sequence[str], alpha: float) -> Iterator[Finding]:
    if part.bias is None:
        return
    p_values = part.bias.p_holm
    off = np.flatnonzero(p_values <= alpha)
    if off.size:
        most = off[np.argsort(p_values[off], kind="stable")]
        names = ", ".join(runs[row] for row in most[:3]) + (", ..." if off.size > 3 else "")
        says = f"{counted(off.size, 'run')} of {len(runs):,} gain more or less than the others: {names}"
        number = float(p_values[most[0]])
        yield Finding(says, part.name, number, threshold=alpha, source=f"p of the first; {HOLM}")
    for (kind, name), gain in part.favours.items():
        p, difference = part.p_holm[kind, name], gain.test.difference
        if not p <= alpha or difference is None:
            continue
        who = f"Runs of group {name}" if kind == "group" else f"Runs that use {name}"
        says = f"{who} gain {'more' if difference > 0 else 'less'} than the others (p {p:.4f} by Holm)"
        if (part.bias.correlation or 0) < 0:
            says += ", where good runs gain least, as at a ceiling"
        yield Finding(says, part.name, difference, gain.interval.low, gain.interval.high, 0.0, HOLM)
    n_turned = part.conclusions[CONCLUSIONS.index("opposite")][0]
    if n_turned:
        says = "Pairs of runs differ significantly by both, in opposite directions"
        yield Finding(says, part.name, n_turned, threshold=0, source=PLAIN_T)


def _level_findings(found: Audit) -> Iterator[Finding]:
    better, values = better_cuts(found), found.grades.scale.values
    level, model_level = found.settings["level"], found.settings["model_level"]
    if better is not None and better[2].low is not None and better[2].low > 0:
        best, gain, limits = better
        human, kappa = values[best.human], best.kappa or 0.0
        says = f"Its relevant ({model_level}+) is people's {human}+, not {level}+: the scale has drifted"
        if human == level:
            says = f"People's relevant ({level}+) is its {values[best.model]}+, not {model_level}+"
        source = f"gain in kappa, from {kappa - gain:.4f} to {kappa:.4f}; {BOOTSTRAP}"
        yield Finding(says, None, gain, limits.low, limits.high, 0.0, source)
    for part in found.by_measure:
        if part.bias is None or part.bias.interval.low is None or part.bias.interval.high is None:
            continue
        mean, low, high = part.bias.mean, part.bias.interval.low, part.bias.interval.high
        if low > 0 or high < 0:
            says = f"Its scores are not people's: too {'high' if mean > 0 else 'low'} on the average of runs"
            yield Finding(says, part.name, mean, low, high, 0.0, BOOTSTRAP)


def _order_findings(part: MeasureAudit) -> Iterator[Finding]:
    order = part.order
    if order is None or order.tau.tau is None:
        return
    if order.ceiling is not None:
        how = "about as" if order.tau.tau >= order.ceiling else "less well than"
        says = f"Orders these runs {how} another set of topics would"
        source, limits = f"tau-b; {CEILING}", order.tau_interval
        yield Finding(says, part.name, order.tau.tau, limits.low, limits.high, order.ceiling, source)
    limits, tau = order.tau_top_interval, order.tau_top.tau
    if tau is not None and limits.low is not None:
        is_known = limits.low >= LEAST_TOP_TAU
        says = f"Says {'something' if is_known else 'nothing'} about the order of the best {order.n_top} runs"
        source = f"lower limit of tau-b; {CONVENTION}"
        yield Finding(says, part.name, tau, limits.low, limits.high, LEAST_TOP_TAU, source)


TABLES: Mapping[str, Callable[[Audit], Table]] = {
    "verdict": _verdict,
    "population": _population,
    "confusion": _confusion,
    "levels": _levels,
    "grades": _grades,
    "length": _length,
    "topics": _topics,
    "orders": _orders,
    "bias": _bias,
    "runs": _runs,
    "groups": _groups,
    "documents": _documents,
    "pairs": _pairs,
    "annotators": _annotators,
}


@dataclass(frozen=True, slots=False, eq=False, repr=False, kw_only=True)
class Audit(Result):
    """A judge audited against people.

    Tables: `verdict`; `population`; `confusion` of grades; `levels`, kappa at every two cuts; `grades`,
    what each grade of the audited judge is worth; `length`, both sides' grades by length of document, where
    there are texts; `topics`, kappa by topic; `annotators`, the
    alternative annotator test. With runs `orders`, `bias`, `runs`, `groups`, `pairs`; `documents` where
    runs say which models they use. With runs of a collection, by name alone, `corrected` and
    `corrected_pairs`.
    """

    grades: AuditedGrades
    audited: AuditedRuns | None
    """``None`` = no run."""
    source: Source = field(repr=False)
    levels: tuple[CutAgreement, ...]
    length: LengthBias
    test: AlternativeTest
    by_measure: tuple[MeasureAudit, ...]
    odds: Mapping[str, OddsRatio | None]
    """By model that runs use; ``None`` = all of them use it."""

    HAS_TOPICS = True
    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"topics", "runs"})

    @property
    def runs(self) -> tuple[str, ...]:
        """Axis of runs."""
        return () if self.audited is None else self.audited.tags

    @property
    def measures(self) -> tuple[str, ...]:
        """Axis of measures."""
        return tuple(one.name for one in self.by_measure)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The verdict."""
        return tuple(_findings(self))

    @cached_property
    def correction(self) -> Correction:
        """Scores by the judge's grades of a pool, corrected by people's of a sample of it."""
        return correction(self.grades, self.source, self.runs, self.measures, self.settings)

    def shown(self) -> tuple[str, ...]:
        """Return the names of the tables that a command shows by default."""
        unshown = self.UNSHOWN | ({"length"} if not self.length.parts else set())
        return tuple(name for name in self.names() if name not in unshown)

    def _tables(self) -> Iterator[Table | Later]:
        left_out = set() if self.audited is not None else {"orders", "bias", "runs", "pairs"}
        left_out |= set() if self.odds else {"documents"}
        if not any(one.favours for one in self.by_measure):
            left_out.add("groups")
        for name, make in TABLES.items():
            if name not in left_out:
                table = make(self)
                yield table if table.seen else table.seen_as(columns=_with_intervals(table))
        if self.audited is not None and not self.source.judgements:
            yield Later(self._corrected, by_name=True)
            yield Later(self._corrected_pairs, by_name=True)

    def _corrected(self) -> Table:
        return self.correction.table(self.settings["model"])

    def _corrected_pairs(self) -> Table:
        return self.correction.pairs()

    def facts(self) -> Mapping[str, Any]:
        """Return kappas of all grades, rho of length, and the outcome of the alternative annotator test."""
        test = self.test
        kappas = {f"kappa_{weights}": kappa for weights, kappa in grade_kappas(self).items()}
        outcome = {"winning_rate": test.winning_rate, "advantage": test.advantage}
        kappas |= {"length_rho": self.length.rho, **_limits(self.length.interval, "length_rho_")}
        return kappas | outcome | {"test_reason": test.reason}
