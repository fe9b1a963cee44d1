"""`pooler list`: what there is in a collection, one row a thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit, erased_words
from pooler.cli.fit import fit_titles
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.results.look import day, moment
from pooler.results.printed import Cell, Column, Format, Table, explained, without_empty, without_same
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from store.judging.states import Standing
    from store.looking.lists import JudgeLine, PoolLine, RunLine, TopicLine

app = typer.Typer(help="List what there is, one row a thing, with its counts.", no_args_is_help=True)

DEFAULT_LIMIT = 50
"""Documents that a table for people shows; programs get all."""
SHOWN_SHA256 = 12
"""Digits of a hash that a table for people shows."""

STANDING = (
    Column("pooled"),
    Column("judged"),
    Column("cannot"),
    Column("skipped"),
    Column("unjudged"),
    Column("outside"),
    Column("relevant"),
)
"""How documents stand with all judges together: `store.judging.states`."""
IN_POOL = tuple(column for column in STANDING if column.name not in ("pooled", "outside"))
"""The same, of the documents of one pool."""

RUN_COLUMNS = (
    Column("run"),
    Column("group"),
    Column("contributes"),
    Column("topics"),
    Column("documents"),
    Column("pools"),
    Column("file", can_go=True),
    Column("sha256", can_go=True),
    Column("imported_at", "imported", can_go=True),
)
TOPIC_COLUMNS = (
    Column("topic"),
    Column("title"),
    Column("listed"),
    Column("version"),
    Column("runs"),
    *STANDING,
    Column("older", "by older text"),
)
POOL_COLUMNS = (
    Column("pool"),
    Column("round"),
    Column("strategy"),
    Column("depth"),
    Column("topics"),
    Column("documents"),
    Column("budget"),
    *IN_POOL,
    Column("runs", can_go=True),
    Column("withdrawn"),
    Column("made_at", "made", can_go=True),
)
JUDGE_COLUMNS = (
    Column("judge"),
    Column("kind"),
    Column("disabled"),
    Column("topics"),
    Column("judged"),
    Column("cannot"),
    Column("skipped"),
    Column("undecided"),
    Column("relevant"),
    Column("events"),
    Column("last_at", "last", can_go=True),
)

TopicOption = Annotated[
    str | None, typer.Option("--topic", metavar="TOPIC", help="Of this topic alone.", show_default=False)
]
PoolOption = Annotated[
    str | None,
    typer.Option("--pool", metavar="NAME", help="Of this pool alone, withdrawn or not.", show_default=False),
]
JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME", help="Count only what this judge did.", show_default=False),
]
_EMPTY = {
    "runs": "no runs: pooler import runs FILE...",
    "topics": "no topics: pooler import topics FILE",
    "documents": "no documents: pooler import docs FILE",
    "pools": "no pools: pooler pool --depth 10",
    "judges": "no judges: pooler judges add NAME",
    "rounds": "no rounds: a pool or a judgement begins one",
}


@app.command("runs")
def runs(
    topic: TopicOption = None,
    pool: PoolOption = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the runs: how much each retrieved, how many pools it fed, and its file.

    Of a topic: the runs that have it, with its documents. Of a pool: the runs that fed it.

    Example: pooler list runs --topic G01
    """
    from store.collection import Collection
    from store.judging.states import Sought

    with Collection(collection) as opened:
        lines = opened.lists.runs(Sought(topic=topic, pool=pool))
    table = Table("runs", RUN_COLUMNS, [run_row(line, fmt) for line in lines])
    _emit(table, fmt, counted(len(lines), "run"), is_filtered=bool(topic or pool))


@app.command("topics")
def topics(
    pool: PoolOption = None,
    judge: JudgeOption = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the topics, and how the documents of each stand with all judges together.

    Every pooled document is in one state: judged by somebody; else found impossible to judge;
    else skipped; else unjudged. Outside: judged by somebody, but in no pool. Relevant: graded at
    the scale's relaxed level or above by somebody, pooled or not; with --pool, in that pool.
    Version: of the topic's text; by older text: judgements made at a desk by another text than now,
    `pooler rejudge --why topic`.

    Example: pooler list topics
    """
    from store.collection import Collection
    from store.judging.states import Sought

    with Collection(collection) as opened:
        lines = opened.lists.topics(Sought(pool=pool, judge=judge))
        standings = [line.standing for line in lines]
        note = relevance_note(opened.scale.relaxed, standings, pool, judge)
    table = Table("topics", TOPIC_COLUMNS, [topic_row(line, fmt) for line in lines])
    caption = f"{counted(len(lines), 'topic')}; {note}"
    _emit(table, fmt, caption, is_filtered=bool(pool or judge))


@app.command("docs")
def docs(
    topic: TopicOption = None,
    pool: PoolOption = None,
    judge: JudgeOption = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            help="Most documents to list.",
            show_default=f"{DEFAULT_LIMIT} in a table for people, else all",
        ),
    ] = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the documents by docno: which have a text, and for how many topics each is what.

    The states are those of `pooler list topics`, counted over topics: pooled 2, judged 1 is a
    document pooled for two topics and judged for one. Of a topic: documents pooled, judged or
    otherwise looked at for it. Of a judge: documents they did anything to.

    Example: pooler list docs --topic G01
    """
    from store.collection import Collection
    from store.judging.states import Sought

    if limit is None and fmt is Format.TABLE:
        limit = DEFAULT_LIMIT
    with Collection(collection) as opened:
        found = opened.lists.documents(Sought(topic, pool, judge), limit=limit)
        standings = [one.standing for one in found.lines]
        note = relevance_note(opened.scale.relaxed, standings, pool, judge)
    columns = (Column("docno"), Column("title"), Column("text"), Column("listed"),
               Column("pools"), *STANDING)  # fmt: skip
    table = Table("documents", columns)
    for line in found.lines:
        table.rows.append({
            "docno": line.docno, "title": line.title if line.has_text else None,
            "text": line.has_text, "listed": line.listed, "pools": line.pools,
            **standing_cells(line.standing),
        })  # fmt: skip
    n = len(found.lines)
    size = counted(n, "document") if n == found.total else f"{n:,} of {found.total:,} documents"
    size += "" if n == found.total else ": --limit shows more"
    _emit(table, fmt, f"{size}\n{note}", is_filtered=bool(topic or pool or judge))


@app.command("pools")
def pools(
    topic: TopicOption = None,
    judge: JudgeOption = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the pools, and how the documents of each stand with all judges together.

    A document that is in several pools is counted in each of them. The states are those of
    `pooler list topics`. Withdrawn pools are listed; what they alone hold is not pooled any more.

    Example: pooler list pools
    """
    from store.collection import Collection
    from store.judging.states import Sought

    with Collection(collection) as opened:
        lines = opened.lists.pools(Sought(topic=topic, judge=judge))
        note = relevance_note(opened.scale.relaxed, judge=judge)
    table = Table("pools", POOL_COLUMNS, [pool_row(line, fmt) for line in lines])
    caption = f"{counted(len(lines), 'pool')}; {note}"
    _emit(table, fmt, caption, is_filtered=bool(topic or judge))


@app.command("judges")
def judges(
    topic: TopicOption = None,
    pool: PoolOption = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the judges, and what each did: as it stands now, in pools or not.

    Undecided: documents with a note or a marked passage alone, or whose decision was taken back.
    Events are all there ever were. What still lies before each judge is told by `pooler status`.

    Example: pooler list judges
    """
    from store.collection import Collection
    from store.judging.states import Sought

    with Collection(collection) as opened:
        lines = opened.lists.judges(Sought(topic=topic, pool=pool))
        relaxed, erased = opened.scale.relaxed, erased_words(opened)
    table = Table("judges", JUDGE_COLUMNS, [judge_row(line, fmt) for line in lines])
    caption = f"{counted(len(lines), 'judge')}; relevant: graded {relaxed} or more"
    _emit(table, fmt, caption, is_filtered=False, last=erased)


@app.command("rounds")
def rounds(
    topic: TopicOption = None,
    judge: JudgeOption = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the rounds: the iteration labels that pools give, and judgements carry.

    A document in pools of several rounds is counted in the round of its oldest pool, so that
    rounds add up. Judgements: current grades of all judges with the label, pooled or not.

    Example: pooler list rounds
    """
    from store.collection import Collection
    from store.judging.states import Sought

    with Collection(collection) as opened:
        lines = opened.lists.rounds(Sought(topic=topic, judge=judge))
        note = relevance_note(opened.scale.relaxed, judge=judge)
    columns = (Column("round"), Column("pools"), Column("withdrawn"), Column("topics"),
               Column("documents"), *IN_POOL, Column("judgements"))  # fmt: skip
    table = Table("rounds", columns)
    for line in lines:
        table.rows.append({
            "round": line.round, "pools": ", ".join(line.pools) or None,
            "withdrawn": ", ".join(line.withdrawn) or None, "topics": line.topics,
            "documents": line.standing.pooled, **standing_cells(line.standing),
            "judgements": line.judgements,
        })  # fmt: skip
    _emit(table, fmt, f"{counted(len(lines), 'round')}; {note}", is_filtered=bool(topic or judge))


def run_row(line: RunLine, fmt: Format) -> dict[str, Cell]:
    """Return the cells of a run; for people the hash is short, and the time without its hour."""
    sha256 = line.sha256[:SHOWN_SHA256] if fmt is Format.TABLE else line.sha256
    return {
        "run": line.tag, "group": line.group or None, "contributes": line.contributes,
        "topics": line.topics, "documents": line.documents, "pools": line.pools,
        "file": line.file, "sha256": sha256, "imported_at": day(line.imported_at, fmt),
    }  # fmt: skip


def topic_row(line: TopicLine, fmt: Format) -> dict[str, Cell]:
    """Return the cells of a topic."""
    return {
        "topic": line.topic, "title": line.title, "listed": line.listed,
        "version": line.version, "runs": line.runs, **standing_cells(line.standing),
        "older": line.older or None if fmt is Format.TABLE else line.older,
    }  # fmt: skip


def pool_row(line: PoolLine, fmt: Format) -> dict[str, Cell]:
    """Return the cells of a pool; for people the time without its hour."""
    parameters = line.manifest.get("parameters", {})
    depth = parameters.get("depth")
    return {
        "pool": line.name, "round": line.round, "strategy": line.manifest.get("strategy"),
        "depth": depth if isinstance(depth, int) else None, "topics": line.topics,
        "documents": line.standing.pooled, "budget": line.budget,
        **standing_cells(line.standing), "runs": line.runs, "withdrawn": line.withdrawn,
        "made_at": day(line.created_at, fmt),
    }  # fmt: skip


def judge_row(line: JudgeLine, fmt: Format) -> dict[str, Cell]:
    """Return the cells of a judge."""
    return {
        "judge": line.name, "kind": line.kind.value, "disabled": line.disabled,
        "topics": line.topics, "judged": line.judged, "cannot": line.cannot,
        "skipped": line.skipped, "undecided": line.undecided, "relevant": line.relevant,
        "events": line.events,
        "last_at": None if line.last_at is None else moment(line.last_at, fmt),
    }  # fmt: skip


def standing_cells(standing: Standing) -> dict[str, Cell]:
    """Return the cells of `STANDING`."""
    return {column.name: getattr(standing, column.name) for column in STANDING}


def relevance_note(
    relaxed: int, standing: Iterable[Standing] = (), pool: str | None = None, judge: str | None = None
) -> str:
    """Say what counts as relevant, and as outside where something does."""
    words = f"relevant: graded {relaxed} or more by {judge or 'somebody'}"
    if any(one.outside for one in standing):
        words += f"; outside: judged, but {'in no pool' if pool is None else f'not in {pool}'}"
    return words


def _emit(table: Table, fmt: Format, caption: str, *, is_filtered: bool, last: str = "") -> None:
    """Write a list; for people without empty columns, and with a word on an empty list."""
    if fmt is Format.TABLE:
        table.columns = without_empty(table.columns, table.rows) or table.columns
        names = [column.heading or column.name for column in table.columns]
        table.columns, same = without_same(table.columns, table.rows)
        fit_titles(table)
        empty = f"no {table.name} of that" if is_filtered else _EMPTY[table.name]
        words = [line for line in explained(names) if line.partition(" ")[0] not in caption]
        table.caption = "\n".join(filter(None, (same, *words, caption))) if table.rows else empty
        table.caption += f"\n{last}" if last else ""
    emit([table], fmt)
