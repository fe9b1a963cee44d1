"""`pooler next`: the documents whose judgement settles the order of the runs soonest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import emit
from pooler.cli.measure.probability_options import EmptyOption, EmptyRule, ProbabilitiesOption, ValueOption
from pooler.cli.source_options import GivenPrinted as Given
from pooler.cli.source_options import on_given_runs
from pooler.results.judge_kinds import titled
from pooler.results.measure.probabilities import say_empty
from pooler.results.printed import Cell, Column, Format, Table
from pooler.telling import progress, say
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from pooler.results.measure.probabilities import Probable
    from store.analysis.variation.next import NextDocuments

LIMIT = 20
"""Documents listed unless told otherwise."""


@on_given_runs
def next_(
    given: Given,
    *,
    values: ValueOption = None,
    probabilities: ProbabilitiesOption = None,
    unjudged: Annotated[
        str,
        typer.Option(
            "--unjudged",
            metavar="P|by-rank",
            help="How likely a document is relevant that a run retrieved and nobody judged: by its"
            " best rank, as a curve fitted to the judged ones says, or one probability for all.",
        ),
    ] = "by-rank",
    empty: EmptyOption = EmptyRule.GIVEN,
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence",
            help="Pairs of runs whose order another judging keeps with this probability are"
            " settled, and no document is asked for on their account.",
        ),
    ] = 0.95,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            metavar="ROWS",
            help="The most documents.",
            show_default="20; all in json and tsv without --pool",
        ),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(
            "--pool",
            metavar="NAME",
            help="Add the documents to the collection as a pool, each topic's in this order, for"
            " `pooler judge` to follow; an older pool's come first, unless `pooler assign JUDGE"
            " --pool NAME --order priority` gives out these alone.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the documents whose judgement would settle the order of the runs soonest.

    Where judges differ, or nobody judged, a document may be relevant or not, and so may MAP differ.
    A row is a document, and what part of the variance of the differences between runs a certain
    judgement of it would take away. Two runs are one comparison; of more, every pair counts that is
    not settled.

    Example: pooler next bm25-words rm3-words-title

    Example: pooler next --limit 50 --pool second-look
    """
    from pooler.results.measure.probabilities import load_probable
    from store.analysis.variation.collection import collection_variation
    from store.analysis.variation.next import next_documents

    if not 0.5 < confidence < 1:
        raise ArgumentError("--confidence", "must be above 0.5 and below 1", confidence)
    if pool is not None and (given.qrels is not None or given.listed is not None):
        raise ArgumentError("--pool", "is for a collection, and there are files alone", pool)
    loaded = load_probable(
        given.probable_source(probabilities), cutoff=given.cutoff, values=values,
        probabilities=probabilities, unjudged=unjudged, empty=empty.value,
    )  # fmt: skip
    probable = loaded.rankings
    if len(probable.tags) < 2:
        message = f"there is one run, `{probable.tags[0]}`: an order needs two"
        raise PoolerError(message, hint="name another run")
    topics = list(zip(probable.probabilities, probable.ranks, strict=True))
    with progress("topics", 2 * len(topics)) as advance:
        varied = collection_variation(topics, empty=empty.value, progress=advance)
        found = next_documents(topics, varied, confidence=confidence, progress=advance)
    say_empty(probable.topics, varied)
    n_runs = len(probable.tags)
    _say_what_is_settled(found, n_runs, confidence)
    shown = limit or (LIMIT if given.fmt is Format.TABLE or pool is not None else found.gain.size)
    rows = _rows(loaded, found, shown)
    if pool is not None:
        _add_pool(
            given, pool, rows, probable.tags,
            confidence=confidence, unjudged=unjudged, empty=empty, kinds=loaded.kinds,
        )  # fmt: skip
    if rows or given.fmt is not Format.TABLE:
        table = _table(rows, found, probable.tags, given.fmt)
        emit(titled([table], loaded.kinds, given.fmt), given.fmt)


def _say_what_is_settled(found: NextDocuments, n_runs: int, confidence: float) -> None:
    """Say how many pairs are settled, on stderr."""
    n_pairs = n_runs * (n_runs - 1) // 2
    n_settled = n_pairs - found.n_unsettled
    if n_pairs == 1:
        words = "is" if n_settled else "is not"
        say(f"the order of the two runs {words} settled at {confidence:g}")
    else:
        say(f"{n_settled:,} of {counted(n_pairs, 'pair')} of runs are settled at {confidence:g}")
    if n_settled == n_pairs:
        say("nothing needs judging on account of the order")


def _rows(loaded: Probable, found: NextDocuments, limit: int) -> list[Mapping[str, Cell]]:
    """Make a row for every document, the most telling first."""
    probable = loaded.rankings
    chosen = range(min(limit, found.gain.size))
    places = [(int(found.topic[row]), int(found.document[row])) for row in chosen]
    rows: list[Mapping[str, Cell]] = []
    so_far = 0.0
    for row, ((topic, document), docno) in enumerate(zip(places, loaded.docnos(places), strict=True)):
        ranks = probable.ranks[topic][:, document]
        share = float(found.gain[row]) / found.variance
        so_far += share
        known: dict[str, Cell] = {
            "topic": probable.topics[topic], "docno": docno,
            "p": float(probable.probabilities[topic][document]),
            "judged": bool(probable.judged[topic][document]), "share": share, "so_far": so_far,
            "gain": float(found.gain[row]), "best_rank": _rank(ranks.min()),
        }  # fmt: skip
        if len(ranks) == 2:
            known |= {"rank_a": _rank(ranks[0]), "rank_b": _rank(ranks[1])}
        rows.append(known)
    return rows


def _rank(rank: np.float64) -> int | None:
    """Return a rank, or ``None`` = not retrieved."""
    return int(rank) if rank < float("inf") else None


def _table(rows: Sequence[Mapping[str, Cell]], found: NextDocuments, tags: Sequence[str],
           fmt: Format) -> Table:  # fmt: skip
    """Make the table of documents."""
    of_two = len(tags) == 2
    columns = [Column("topic"), Column("docno", most=32), Column("p"), Column("judged")]
    columns += [Column("rank_a", "in A"), Column("rank_b", "in B")] if of_two else []
    columns += [Column("best_rank")] if not of_two or fmt is not Format.TABLE else []
    columns += [Column("share"), Column("so_far")]
    columns += [Column("gain")] if fmt is not Format.TABLE else []
    what = "between the two runs" if of_two else "between runs that are not settled"
    lines = [
        "p: how likely the document is relevant; share: how much of the uncertainty (variance)",
        f"{what} a certain judgement of it takes away, on average;",
        "so far: at least so much with all above it."
        f" {len(rows):,} of {counted(found.gain.size, 'document')} that would tell something.",
    ]
    if of_two:
        lines.insert(0, f"A: {tags[0]}, B: {tags[1]}.")
    return Table("next", columns, list(rows), caption="\n".join(lines))


def _add_pool(
    given: Given,
    name: str,
    rows: Sequence[Mapping[str, Cell]],
    tags: Sequence[str],
    *,
    confidence: float,
    unjudged: str,
    empty: EmptyRule,
    kinds: Mapping[str, int],
) -> None:
    """Add the documents to the collection as a pool, in this order within each topic."""
    from pooler import __version__
    from store.collection import Collection
    from store.records import Pool, PoolEntry
    from store.text import natural_key

    by_topic: dict[str, list[Mapping[str, Cell]]] = {}
    for row in rows:
        by_topic.setdefault(str(row["topic"]), []).append(row)
    entries = [
        PoolEntry(topic, str(row["docno"]), position, priority=float(str(row["gain"])))
        for topic in sorted(by_topic, key=natural_key)
        for position, row in enumerate(by_topic[topic])
    ]
    if not entries:
        say(f"no document would tell anything: pool `{name}` was not made")
        return
    with Collection(given.collection) as opened:
        facts: dict[str, Any] = {
            "tool": "pooler", "version": __version__, "strategy": "next", "name": name,
            "round": "0", "order": given.order.value, "out_order": "priority",
            "parameters": {
                "confidence": confidence, "unjudged": unjudged, "limit": len(rows),
                **({"empty": "zero"} if empty is EmptyRule.ZERO else {}),
            },
            "runs": [
                {"tag": run.tag, "group": run.group, "contributes": run.tag in tags,
                 "file": run.file, "sha256": run.sha256}
                for run in opened.runs.all()
            ],
            "sizes": {topic: len(some) for topic, some in by_topic.items()},
            "pairs": len(rows), "topics": len(by_topic),
            **({"kinds": dict(kinds)} if kinds else {}),
        }  # fmt: skip
        older = next((one.name for one in opened.pools.all() if not one.withdrawn), name)
        is_new = opened.pools.add(Pool(entries, facts, name=name, run_tags=tuple(tags)))
    say(f"pool `{name}`: {counted(len(rows), 'document')} of {counted(len(by_topic), 'topic')}"
        + ("" if is_new else ", was there already, the same"))  # fmt: skip
    if older != name:
        command = f"pooler assign JUDGE --pool {name} --order priority"
        say(f"judges see the documents of older pools first; `{command}` gives out these alone")
    say("`pooler next`, once they are judged, says whether the order is settled")
