"""Show the runs, topics, documents, pools, judges and so on, or all of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, Stored, command
from pooler.commands.look import details
from pooler.commands.look.details import Shown
from pooler.judge_kinds import erased_words
from pooler.result import Result
from pooler.tables import Column, Table, View
from store.errors import ArgumentError
from store.text import counted, sanitise

if TYPE_CHECKING:
    from store.collection import Collection
    from store.judging.states import Sought

SHOWN_DOCUMENTS = 50
"""Documents that people see unless they ask for more."""
_GUIDELINE_COLUMNS = (
    Column("version", "int"),
    Column("created_at", "moment", "made"),
    Column("lines", "int"),
    Column("begins"),
)
_MOST = 40
"""Characters that people see of how guidelines begin."""

OfTopic = Annotated[str | None, Option("--topic TOPIC", "Without a name: only this topic.")]
OfPool = Annotated[str | None, Option("--pool NAME", "Without a name: only this pool, withdrawn or not.")]
OfJudge = Annotated[str | None, Option("--judge NAME", "Without a name: count only what this judge did.")]


@command
def show_runs(
    collection: Stored,
    tag: Annotated[str | None, Option("TAG", "The run; default all.")] = None,
    *,
    topic: OfTopic = None,
    pool: OfPool = None,
) -> Shown:
    """Show the runs: how much each retrieved, how many pools it fed, and its file.

    With --topic: the runs that have it, with their documents. With --pool: the runs that fed it. Of one
    run: where it came from, the pools it fed, and what of it is pooled and judged.

    Example: pooler show runs --topic G01

    Example: pooler show runs bm25-words

    Raises
    ------
    UnknownNameError
        If there is no such run, topic or pool.
    """
    if tag is not None:
        _refuse(topic=topic, pool=pool)
        return details.run_details(collection, tag)
    sought = _sought(topic, pool)
    rows = map(details.run_cells, collection.lists.runs(sought))
    table = _list(collection, "runs", details.RUN_COLUMNS, rows, sought, "pooler import runs FILE...")
    return Shown(found=[_short(table, "sha256", lambda one: one[: details.SHOWN_SHA256])])


@command
def show_topics(
    collection: Stored,
    topic: Annotated[str | None, Option("TOPIC", "The topic; default all.")] = None,
    *,
    version: Annotated[int | None, Option(least=1)] = None,
    pool: OfPool = None,
    judge: OfJudge = None,
) -> Shown:
    """Show the topics, with the state of each one's documents over all judges.

    Every pooled document is in one state: judged by somebody; otherwise found impossible to judge;
    otherwise skipped; otherwise unjudged. Outside: judged by somebody, but in no pool. Relevant: graded
    at or above the scale's relaxed level by somebody, pooled or not; with --pool, in that pool.
    Version: of the topic's text. By older text: judgements made with another text than the current one;
    see `pooler status outdated --why topic`. Of one topic: its text, with every version of it where it has
    changed, the state of its documents, its judges, and the runs that have it.

    Example: pooler show topics

    Example: pooler show topics G01

    version : Of one topic: show this version of its text; default the newest.

    Raises
    ------
    UnknownNameError
        If there is no such topic, version, pool or judge.
    """
    if topic is not None:
        _refuse(pool=pool, judge=judge)
        return details.topic_details(collection, topic, version)
    if version is not None:
        raise ArgumentError("version", "needs a topic", None)
    sought = _sought(None, pool, judge)
    rows = map(details.topic_cells, collection.lists.topics(sought))
    table = _list(collection, "topics", details.TOPIC_COLUMNS, rows, sought, "pooler import topics FILE")
    return Shown(found=[table])


@command
def show_docs(
    collection: Stored,
    docno: Annotated[str | None, Option("DOCNO", "The document; default all.")] = None,
    *,
    topic: OfTopic = None,
    pool: OfPool = None,
    judge: OfJudge = None,
    limit: Annotated[int | None, Option(hidden=True, for_people=SHOWN_DOCUMENTS)] = None,
) -> Shown:
    """Show the documents: which have a text, and for how many topics each is pooled or judged.

    The states are those of `pooler show topics`, counted over topics: pooled 2, judged 1 is a document
    pooled for two topics and judged for one. With --topic: documents that are pooled, judged or
    otherwise looked at for it. With --judge: documents this judge did anything to. Of one document: its
    pools, the runs that retrieved it, with ranks in trec order, every current judgement, and, as the table
    `text`, its text; `pooler history` shows how a judgement came about.

    Example: pooler show docs --topic G01

    Example: pooler show docs KG-E-002 --table text

    Raises
    ------
    UnknownNameError
        If there is no such document, topic, pool or judge.

    Notes
    -----
    No more documents are read than `limit`, by docno; of one document every ranking of its topics is.
    """
    if docno is not None:
        _refuse(topic=topic, pool=pool, judge=judge)
        return details.document_details(collection, docno)
    sought = _sought(topic, pool, judge)
    found = collection.lists.documents(sought, limit=limit)
    rows = [
        details.cells_of(
            one, details.DOCUMENT_COLUMNS, title=one.title if one.has_text else None, text=one.has_text
        )
        for one in found.lines
    ]
    columns, empty = details.DOCUMENT_COLUMNS, "pooler import docs FILE"
    table = _list(collection, "documents", columns, rows, sought, empty, total=found.total)
    return Shown(found=[table.seen_as(limit=SHOWN_DOCUMENTS, of_rows="document")])


@command
def show_pools(
    collection: Stored,
    name: Annotated[str | None, Option("NAME", "The pool; default all.")] = None,
    *,
    topic: OfTopic = None,
    judge: OfJudge = None,
) -> Shown:
    """Show the pools, with the state of each one's documents over all judges.

    A document that is in several pools counts in each of them. The states are those of `pooler show
    topics`. Withdrawn pools are listed; documents that only they hold no longer count as pooled. Of one
    pool: how it was chosen, from which runs, and the state of its documents by topic.

    Example: pooler show pools

    Example: pooler show pools pool

    Raises
    ------
    UnknownNameError
        If there is no such pool, topic or judge.
    """
    if name is not None:
        _refuse(topic=topic, judge=judge)
        return details.pool_details(collection, name)
    sought = _sought(topic, None, judge)
    rows = map(details.pool_cells, collection.lists.pools(sought))
    table = _list(collection, "pools", details.POOL_COLUMNS, rows, sought, "pooler pool --depth 10")
    return Shown(found=[table])


@command
def show_judges(
    collection: Stored,
    name: Annotated[str | None, Option("NAME", "The judge; default all.")] = None,
    *,
    topic: OfTopic = None,
    pool: OfPool = None,
) -> Shown:
    """Show the judges, and what each has done.

    Counts are of what stands now, in pools or not. Undecided: documents with only a note or a marked
    passage, or whose decision was taken back. Events counts everything ever done. Of one judge: what they
    did, topic by topic and sitting by sitting. `pooler status` shows what each judge still has to do, and
    `pooler status effort` what judging cost.

    Example: pooler show judges

    Example: pooler show judges alice

    Raises
    ------
    UnknownNameError
        If there is no such judge, topic or pool.
    """
    if name is not None:
        _refuse(topic=topic, pool=pool)
        return details.judge_details(collection, name)
    sought = _sought(topic, pool)
    rows = map(details.judge_cells, collection.lists.judges(sought))
    table = _list(collection, "judges", details.JUDGE_COLUMNS, rows, sought, "pooler judges add NAME")
    return Shown(found=[replace(table, notes=[*table.notes, erased_words(collection)])])


@command
def show_guidelines(
    collection: Stored, version: Annotated[int | None, Option("VERSION", least=1)] = None
) -> Shown:
    """Show the versions of the judging guidelines, or the text of one, as it is.

    Example: pooler show guidelines

    version : The version whose text is printed; default a list of all.

    Raises
    ------
    UnknownNameError
        If there is no such version.
    """
    if version is not None:
        found = collection.guidelines.get(version)
        page = sanitise(found.text).removesuffix("\n").split("\n")
        facts = {"version": found.version, "created_at": found.created_at}
        return Shown(known=facts, found=[details.text_table(found.text)], page=page)
    rows: list[dict[str, Any]] = []
    for one in collection.guidelines.all():
        lines = one.text.splitlines()
        begins = next(line.strip() for line in lines if line.strip())
        rows.append(details.cells_of(one, _GUIDELINE_COLUMNS, lines=len(lines), begins=begins))
    notes = [counted(len(rows), "version") if rows else "no guidelines yet: pooler import guidelines FILE"]
    table = Table.of_rows("guidelines", _GUIDELINE_COLUMNS, rows, notes=notes)
    return Shown(
        found=[_short(table, "begins", lambda one: one if len(one) <= _MOST else f"{one[: _MOST - 3]}...")]
    )


@command
def show_strategies() -> Result:
    """Show the strategies that choose documents, and their parameters.

    Example: pooler show strategies
    """
    from pooler.commands.look.strategies import list_strategies

    return list_strategies()


@command
def show_measures() -> Result:
    """Show the measures that score runs.

    Example: pooler show measures
    """
    from pooler.commands.measure.measures import list_measures

    return list_measures()


def _refuse(**narrowing: str | None) -> None:
    """Raise `ArgumentError` for what narrows a list, where one thing is named."""
    for name, value in narrowing.items():
        if value is not None:
            raise ArgumentError(name, "is for a list, without a name", None)


def _sought(topic: str | None = None, pool: str | None = None, judge: str | None = None) -> Sought:
    from store.judging.states import Sought

    return Sought(topic=topic, pool=pool, judge=judge)


def _list(
    collection: Collection,
    name: str,
    columns: Sequence[Column],
    rows: Iterable[Mapping[str, Any]],
    sought: Sought,
    empty: str,
    *,
    total: int | None = None,
) -> Table:
    """Make the table of a list, and say how long it is; `empty`: the command that would fill it."""
    rows = list(rows)
    by = "" if name == "judges" else f" by {sought.judge or 'somebody, person or model'}"
    about = {
        "outside": f"judged, but {'in no pool' if sought.pool is None else f'not in {sought.pool}'}",
        "relevant": f"graded {collection.scale.relaxed} or more{by}",
    }
    columns = [replace(column, about=about.get(column.name, column.about)) for column in columns]
    size = counted(len(rows), name.removesuffix("s"))
    if not rows:
        is_narrowed = name != "judges" and any((sought.topic, sought.pool, sought.judge))
        size = f"no such {name}" if is_narrowed else f"no {name}: {empty}"
    elif total is not None and len(rows) < total:
        size = f"{len(rows):,} of {total:,} {name}: --limit shows more"
    return Table.of_rows(name, columns, rows, notes=[size])


def _short(table: Table, column: str, shorten: Callable[[str], str]) -> Table:
    """Return the table, of which people see the cells of a column shortened."""
    cells = [*map(shorten, table.data[column])]
    return table.seen_as(View(replace(table, data={**table.data, column: cells})))
