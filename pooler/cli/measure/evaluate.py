"""Evaluate: scores of runs, and the list of measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit
from pooler.cli.source_options import GivenPrinted as Given
from pooler.cli.source_options import on_given_runs
from pooler.results.judge_kinds import titled
from pooler.results.printed import Cell, Column, Format, Table
from pooler.telling import say
from store.analysis.measures.names import ALIASES, DCGS, SIGNATURES, Signature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from store.analysis.measures.names import MeasureName
    from store.analysis.measures.table import Scores
    from store.analysis.rankings import GradedRankings


@on_given_runs
def evaluate(
    given: Given,
    *,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="AP, P@10, nDCG@10, RR(rel=2), ..., named as ir_measures does; may be repeated.",
            show_default="AP",
        ),
    ] = None,
    by_topic: Annotated[bool, typer.Option("--by-topic", "-q", help="One row a topic, too.")] = False,
    list_measures: Annotated[
        bool, typer.Option("--list", help="List the measures, and measure nothing.")
    ] = False,
) -> None:
    """Measure runs. The mean is over the judged topics that have a relevant document.

    A run without one of those topics scores 0 there, as with trec_eval -c. R counts every relevant
    document of the topic, retrieved or not. A topic without a relevant document has no AP; a
    measure that is defined without one, such as P@10, is a mean over all judged topics. A table has
    a column for each measure; --format json or tsv has a row.

    Example: pooler evaluate -m AP -m P@10 -m nDCG@10 --judge alice

    Example: pooler evaluate --qrels judgements/strict.qrels runs/bm25-words.run --by-topic
    """
    from pooler.results.measure.evaluate import known_measure, measure_judged

    if list_measures:
        show_measures(given.fmt)
        return
    texts = measures or ["AP"]
    for text in texts:
        known_measure(text)
    judged = given.load(docnos=False)
    names = list(dict.fromkeys(known_measure(text, level=judged.level) for text in texts))
    rankings, scores = measure_judged(judged, names, given.cutoff, is_given=given.names("cutoff"))
    _say_without_relevant(rankings, scores)
    rows = _rows(rankings, scores, by_topic=by_topic)
    has_reason = any(row["reason"] for row in rows)
    if given.fmt is Format.TABLE and len(names) > 1:
        table = _wide(rows, names, by_topic=by_topic, has_reason=has_reason)
        emit(titled([table], judged.kinds, given.fmt), given.fmt)
        return
    columns = [
        Column("run"), Column("topic"), Column("measure"), Column("value"), Column("reason"),
        Column("topics"), Column("missing"),
    ]  # fmt: skip
    left_out = set() if by_topic else {"topic"}
    left_out |= {"reason"} if given.fmt is Format.TABLE and not has_reason else set()
    caption = "topics: those of the mean; missing: judged ones where the run has no document."
    shown = [one for one in columns if one.name not in left_out]
    table = Table("measures", shown, rows, caption=caption)
    emit(titled([table], judged.kinds, given.fmt), given.fmt)


def _say_without_relevant(rankings: GradedRankings, scores: Sequence[Scores]) -> None:
    """Say how many topics are undefined, and for which measures."""
    without: dict[int, list[str]] = {}
    for one in scores:
        count = int(one.lacks_relevant.sum())
        without.setdefault(count, []).append(str(one.measure))
    for count, names in without.items():
        if count:
            n_topics = len(rankings.topics)
            say(f"{count} of {n_topics} judged topics have no relevant document, so no"
                f" {', '.join(names)}")  # fmt: skip


def _rows(rankings: GradedRankings, scores: Sequence[Scores], *, by_topic: bool) -> list[Mapping[str, Cell]]:
    """Make one row for each run and measure, by topic before the mean."""
    missing = (rankings.lengths == 0).sum(axis=1)
    rows: list[Mapping[str, Cell]] = []
    for index, tag in enumerate(rankings.tags):
        if by_topic:
            for place, topic in enumerate(rankings.topics):
                for one in scores:
                    reason = one.reason(index, place)
                    value = None if reason else _number(one, float(one.values[index, place]))
                    rows.append({"run": tag, "topic": topic, "measure": str(one.measure),
                                 "value": value, "reason": reason})  # fmt: skip
        for one in scores:
            count = int(one.n_defined[index])
            rows.append({
                "run": tag, "topic": "all", "measure": str(one.measure),
                "value": _number(one, float(one.overall[index])) if count else None,
                "reason": None if count else one.reason(index, 0),
                "topics": count, "missing": int(missing[index]),
            })  # fmt: skip
    return rows


def _number(scores: Scores, value: float) -> float | int:
    """Return a count as a whole number, anything else as it is."""
    return int(value) if scores.is_sum else value


def _wide(
    rows: Sequence[Mapping[str, Cell]], names: Sequence[MeasureName], *, by_topic: bool, has_reason: bool
) -> Table:
    """Make a table with a column for each measure."""
    columns = [Column("run"), *([Column("topic")] if by_topic else [])]
    columns += [Column(str(name)) for name in names]
    columns += [Column("reason")] if has_reason else []
    table = Table("measures", columns)
    for first in range(0, len(rows), len(names)):
        of_row = rows[first : first + len(names)]
        reasons = dict.fromkeys(str(row["reason"]) for row in of_row if row["reason"])
        table.rows.append({
            "run": of_row[0]["run"], "topic": of_row[0]["topic"],
            "reason": ", ".join(reasons) or None,
            **{str(row["measure"]): row["value"] for row in of_row},
        })  # fmt: skip
    missing = max((int(row.get("missing") or 0) for row in rows), default=0)
    if missing:
        table.caption = f"A run lacks up to {missing} of the judged topics and scores 0 there."
    return table


CAPTION = f"""\
@N: ranks that count; in brackets where it may be left out. (rel=N): least relevant
grade, instead of the level. dcg: {", ".join(DCGS)}.
docs: size of the collection. beta: how much more recall weighs than precision;
in Q, what gains weigh.
Upper and lower case are the same. Names of trec_eval are known: map, P_5, ndcg_cut_10, ..."""


def show_measures(fmt: Format) -> None:
    """Print every measure with what it can be told."""
    others: dict[str, list[str]] = {}
    for alias, name in ALIASES.items():
        others.setdefault(name, []).append(alias)
    rows: list[Mapping[str, Cell]] = [
        {
            "measure": name + _at(signature),
            "parameters": " ".join(f"{parameter}=" for parameter in signature.parameters) or None,
            "also": " ".join(others.get(name, ())) or None,
            "summary": signature.summary,
        }
        for name, signature in SIGNATURES.items()
    ]
    columns = [Column("measure"), Column("parameters"), Column("also"), Column("summary")]
    emit([Table("measures", columns, rows, caption=CAPTION)], fmt)


def _at(signature: Signature) -> str:
    """Show what stands after the name."""
    if signature.at is None:
        return ""
    at = "@RECALL" if signature.at == "recall" else "@N"
    return at if signature.is_at_required else f"[{at}]"
