"""`pooler diff`: two qrels files compared, and what the difference does to runs."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit
from pooler.cli.options import CutoffOption, FormatOption, LenientOption, OrderName, OrderOption, RunsOption
from pooler.results.printed import Cell, Column, Format, Table
from pooler.telling import progress, say, warn
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from store.analysis.arrays import RankedDocuments
    from store.analysis.pools.differences import Code, Kind, OrderEffect, QrelsDiff
    from store.analysis.rankings import JudgedRankings
    from store.records import Qrel, Run

NOT_LISTED = "not listed"
USUAL = ("added", "removed", "changed")
"""Kinds of differences that people are told of, even that there is none."""


def diff(
    before: Annotated[str, typer.Argument(metavar="A.qrels", help="The older qrels file.")],
    after: Annotated[str, typer.Argument(metavar="B.qrels", help="The newer qrels file.")],
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Run files: what the difference does to their order."),
    ] = None,
    listed: RunsOption = None,
    by_topic: Annotated[bool, typer.Option("--by-topic", "-q", help="One row a topic that differs.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="One row a document that differs.")] = False,
    level: Annotated[int, typer.Option("--level", help="Least grade that counts as relevant.")] = 1,
    negative_grades: Annotated[
        bool,
        typer.Option(
            "--negative-grades",
            help="Negative codes are grades of the scale; otherwise they are documents pooled and"
            " not judged, as in trec_eval.",
        ),
    ] = False,
    cutoff: CutoffOption = 1000,
    order: OrderOption = OrderName.TREC,
    lenient: LenientOption = False,
    fmt: FormatOption = Format.TABLE,
) -> None:
    """Compare two qrels files: what was added, removed and changed, by grade in A and in B.

    Not listed, listed as unjudged (a negative code), and judged are three states; a judgement that
    came where a document was listed as unjudged is now judged, not added. Became and ceased:
    changed grades that cross --level. With runs: MAP under both, each over the topics of its qrels
    with a relevant document, Kendall's tau-b, tau_AP with the first places of A's order (back: of
    B's), and pairs of runs that swap. Needs no collection.

    Example: pooler diff old.qrels new.qrels runs/bm25-words.run --by-topic
    """
    from store.analysis.pools.differences import qrels_diff

    first, second = (_read(path, lenient=lenient) for path in (before, after))
    found = qrels_diff(first, second, negative_grades=negative_grades)
    tables = [_summary(found, level, fmt, f"{before} and {after}"), _pairs(found, fmt)]
    if by_topic:
        tables.append(_topics(found, fmt))
    if list_:
        tables.append(_differences(found))
    if runs or listed is not None:
        arrays = _arrays(runs or [], listed, (first, second), level=level, cutoff=cutoff,
                         order=order, negative_grades=negative_grades, lenient=lenient)  # fmt: skip
        tables += _effect(*arrays)
    if fmt is Format.TABLE:
        tables = [table for table in tables if table.rows]
    emit(tables, fmt)


def _read(path: str, *, lenient: bool) -> list[Qrel]:
    """Read a qrels file, its codes as they are."""
    from pooler.results.judgement_files import read_given_qrels
    from store.records import Qrel

    rows = read_given_qrels(path, lenient=lenient).rows
    return [Qrel(row.topic, row.docno, row.code, row.iteration) for row in rows]


def _summary(found: QrelsDiff, level: int, fmt: Format, title: str) -> Table:
    """Make the table of counts."""
    table = Table("summary", (Column("what"), Column("documents")), title=title)
    counts: dict[str, int] = {"same": found.n_same}
    counts |= {kind.value: n for kind, n in _shown(found.counts(), fmt).items()}
    became, ceased = found.crossings(level)
    counts |= {"became relevant": became, "ceased to be relevant": ceased}
    counts["same but for the iteration"] = found.n_iterations
    table.rows = [{"what": what, "documents": n} for what, n in counts.items()]
    return table


def _shown(counts: Mapping[Kind, int], fmt: Format) -> dict[Kind, int]:
    """Return the counts; for people without those of unjudged documents that are 0."""
    return {kind: n for kind, n in counts.items() if n or kind in USUAL or fmt is not Format.TABLE}


def _pairs(found: QrelsDiff, fmt: Format) -> Table:
    """Make the table of grades in A by grades in B; for programs one row a pair of grades."""
    befores = _in_order({before for before, _ in found.pairs})
    afters = _in_order({after for _, after in found.pairs})
    if fmt is not Format.TABLE:
        columns = [Column("before"), Column("after"), Column("documents")]
        rows = [
            {"before": before, "after": after, "documents": found.pairs[before, after]}
            for before in befores
            for after in afters
            if (before, after) in found.pairs
        ]
        return Table("pairs", columns, [*rows])
    columns = [Column("before", "A \\ B")]
    columns += [Column(f"after_{after}", _code(after)) for after in afters]
    table = Table("pairs", columns)
    for before in befores:
        row: dict[str, Cell] = {"before": _code(before)}
        for after in afters:
            is_nothing = before is None and after is None
            row[f"after_{after}"] = None if is_nothing else found.pairs.get((before, after), 0)
        table.rows.append(row)
    table.caption = "documents by their grade in A (rows) and in B (columns)"
    return table


def _topics(found: QrelsDiff, fmt: Format) -> Table:
    """Make the table of topics that differ."""
    from store.analysis.pools.differences import Kind

    names = {kind: kind.value.replace(" ", "_") for kind in _shown(found.counts(), fmt)}
    columns = [Column("topic"), Column("same"), *map(Column, names.values())]
    table = Table("topics", columns)
    by_topic: dict[str, dict[Kind, int]] = {}
    for one in found.differences:
        by_topic.setdefault(one.topic, dict.fromkeys(Kind, 0))[one.kind] += 1
    for topic, counts in by_topic.items():
        cells = {name: counts[kind] for kind, name in names.items()}
        table.rows.append({"topic": topic, "same": found.same[topic], **cells})
    table.caption = f"{counted(len(by_topic), 'topic')} of {len(found.same):,} differ"
    return table


def _differences(found: QrelsDiff) -> Table:
    """Make the list of documents that differ."""
    columns = (Column("topic"), Column("docno"), Column("before", "A"), Column("after", "B"),
               Column("what"))  # fmt: skip
    table = Table("differences", columns)
    for one in found.differences:
        table.rows.append({"topic": one.topic, "docno": one.docno, "before": one.before,
                           "after": one.after, "what": one.kind.value})  # fmt: skip
    return table


def _arrays(
    files: Sequence[str],
    listed: str | None,
    qrels: Sequence[Sequence[Qrel]],
    *,
    level: int,
    cutoff: int,
    order: OrderName,
    negative_grades: bool,
    lenient: bool,
) -> tuple[JudgedRankings, JudgedRankings]:
    """Read the runs once, and lay both qrels over them."""
    from pooler.results.source import entries_of, read_entry
    from store.analysis.arrays import judged_arrays, ranked_documents

    entries = entries_of(files, listed)

    def read() -> Iterator[Run]:
        with progress("runs", len(entries)) as advance:
            for entry in entries:
                yield read_entry(entry, lenient=lenient)
                advance(1)

    ranked: RankedDocuments = ranked_documents(read(), order=order.value)
    judged = [[one for one in part if one.grade >= 0 or negative_grades] for part in qrels]
    first, second = (judged_arrays(ranked, part, level=level, cutoff=cutoff) for part in judged)
    return first, second


def _effect(first: JudgedRankings, second: JudgedRankings) -> list[Table]:
    """Make the tables of what the difference does to the order of runs."""
    from store.analysis.pools.differences import order_effect

    effect = order_effect(first, second)
    columns = (Column("run"), Column("map_before", "MAP A"), Column("map_after", "MAP B"),
               Column("change"), Column("place_before", "place A"),
               Column("place_after", "place B"), Column("reason"))  # fmt: skip
    table = Table("runs", columns)
    for index, tag in enumerate(effect.tags):
        old, new = float(effect.map_before[index]), float(effect.map_after[index])
        is_defined = not (isnan(old) or isnan(new))
        table.rows.append({
            "run": tag, "map_before": None if isnan(old) else old,
            "map_after": None if isnan(new) else new, "change": new - old if is_defined else None,
            "place_before": effect.places_before[index],
            "place_after": effect.places_after[index],
            "reason": None if is_defined else "no-relevant",
        })  # fmt: skip
    if all(row["reason"] is None for row in table.rows):
        table.columns = columns[:-1]
    if effect.n_topics_before != effect.n_topics_after:
        numbers = (effect.n_topics_before, effect.n_topics_after)
        first_words, second_words = (counted(n, "topic") for n in numbers)
        warn(f"MAP is over {first_words} with A and {second_words} with B,"
             " those with a relevant document")  # fmt: skip
    return [table, _order(effect)]


def _order(effect: OrderEffect) -> Table:
    """Make the table of coefficients."""
    columns = (Column("runs"), Column("topics_before", "topics A"),
               Column("topics_after", "topics B"), Column("tau_b", "tau-b"),
               Column("tau_ap", "tau_AP"), Column("tau_ap_reversed", "tau_AP back"),
               Column("swapped"), Column("reason"))  # fmt: skip
    reason = effect.tau.reason
    row: dict[str, Cell] = {
        "runs": len(effect.tags), "topics_before": effect.n_topics_before,
        "topics_after": effect.n_topics_after, "tau_b": effect.tau.tau,
        "tau_ap": effect.tau_ap.tau, "tau_ap_reversed": effect.tau_ap_reversed.tau,
        "swapped": None if reason == "fewer-than-two" else effect.n_swapped, "reason": reason,
    }  # fmt: skip
    table = Table("order", columns, [row])
    if reason is not None:
        say(f"the order of runs has no tau: {reason}")
    return table


def _in_order(codes: set[Code]) -> list[Code]:
    """Sort codes: not listed first, then ascending."""
    return sorted(codes, key=lambda code: (code is not None, code or 0))


def _code(code: Code) -> str:
    """Name a code."""
    return NOT_LISTED if code is None else str(code)
