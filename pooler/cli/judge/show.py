"""`pooler show`: everything known of one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import json_text, write_lines
from pooler.cli.dossier import emit_dossier
from pooler.cli.fit import MOST
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.results import listing, table
from pooler.results.listing import judge_cells, pool_cells, run_cells, standing_cells, topic_cells
from pooler.results.look import day, moment
from pooler.results.printed import Cell, Column, Format, Table
from store.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from store.judging.rejudging import TopicVersion
    from store.looking.details import TopicDossier
    from store.looking.lists import JudgeLine, RunLine, TopicLine
    from store.records import Scale

app = typer.Typer(help="Show everything known of one thing.", no_args_is_help=True)

SHOWN_SHA256 = 12
"""Digits of a hash that a table for people shows."""


def _printed(columns: Iterable[table.Column]) -> tuple[Column, ...]:
    """Return columns of a list as a dossier takes them."""
    return tuple(Column(one.name, one.heading, can_go=bool(one.can_go)) for one in columns)


STANDING, IN_POOL = _printed(listing.STANDING), _printed(listing.IN_POOL)
RUN_COLUMNS, POOL_COLUMNS = _printed(listing.RUN_COLUMNS), _printed(listing.POOL_COLUMNS)
JUDGE_COLUMNS = _printed(listing.JUDGE_COLUMNS)
_TITLE = Column("title", most=MOST)
_TOPIC_COLUMNS = (Column("topic"), _TITLE, Column("runs"), *STANDING)
_PARTS = ("description", "narrative")


@app.command("run")
def run(
    tag: Annotated[str, typer.Argument(metavar="TAG", help="The run's tag.")],
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a run: where it came from, the pools it fed, and what of it is pooled and judged.

    Example: pooler show run bm25-words
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        found = opened.details.run(tag)
        relaxed = opened.scale.relaxed
    facts = {**_cells(run_cells(found.line), fmt), "imported_at": moment(found.line.imported_at, fmt)}
    facts["pools"] = ", ".join(found.pools) or None
    for name in ("pooled", "judged", "relevant"):
        facts[f"documents_{name}"] = sum(getattr(one, name) for one in found.topics)
    columns = (Column("topic"), Column("documents"), Column("pooled"), Column("judged"),
               Column("relevant"))  # fmt: skip
    table = Table("by_topic", columns, caption=f"relevant: graded {relaxed} or more by somebody")
    for one in found.topics:
        table.rows.append({column.name: getattr(one, column.name) for column in columns})
    emit_dossier(facts, [table], fmt)


@app.command("topic")
def topic(
    number: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic's id.")],
    version: Annotated[
        int | None,
        typer.Option(
            "--version", min=1, help="Its text in this version, default the newest.", show_default=False
        ),
    ] = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a topic: its text, how its documents stand, who judged, and which runs have it.

    Where the text has changed, every version of it is listed, with the judgements made by it.

    Example: pooler show topic G01
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        found = opened.details.topic(number)
    shown = _version(found, version)
    facts = _cells(topic_cells(found.line), fmt)
    facts["version"] = shown.version
    if fmt is not Format.TABLE or shown.version != found.line.version:
        facts["newest_version"] = found.line.version
    facts["title"] = shown.topic.title or None
    facts |= {part: getattr(shown.topic, part) or None for part in _PARTS}
    facts["number_of_runs"] = facts.pop("runs")
    if fmt is Format.TABLE and (older := facts.pop("older")):
        facts["judged by older text"] = older
    pools = Table("pools", POOL_COLUMNS, [_cells(pool_cells(line), fmt) for line in found.pools])
    tables = [pools, _judges(found.judges, fmt), _runs(found.runs, fmt)]
    if len(found.versions) > 1 or fmt is not Format.TABLE:
        tables.insert(0, _versions(found, fmt))
    emit_dossier(facts, tables, fmt)


@app.command("doc")
def doc(
    docno: Annotated[str, typer.Argument(metavar="DOCNO", help="The document's docno.")],
    text: Annotated[bool, typer.Option("--text", help="Its text, too, at the end.")] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a document: its pools, the runs that retrieved it, and every current judgement.

    Ranks are in trec order. A document may be pooled for one topic and retrieved for another;
    for a topic without any row it is not pooled, and nobody has looked at it. How a judgement came
    about is told by `pooler history`.

    Example: pooler show doc KG-E-002 --text
    """
    from store.collection import Collection
    from store.text import sanitise

    with Collection(collection) as opened:
        found = opened.details.document(docno)
        scale = opened.scale
    document = found.document
    facts: dict[str, Cell] = {
        "docno": document.docno,
        "title": document.title or None,
        "listed": found.listed,
        "has_text": document.text is not None,
        "characters": None if document.text is None else len(document.text),
        "sha256": found.sha256 if fmt is not Format.TABLE else (found.sha256 or "")[:SHOWN_SHA256],
        "pooled": len({one.topic for one in found.poolings if one.sampled and not one.withdrawn}),
    }
    if text and fmt is not Format.TABLE:
        facts["text"] = document.text
    poolings = Table("pools", (
        Column("topic"), Column("pool"), Column("round"), Column("withdrawn"),
        Column("sampled", "to judge"), Column("position"), Column("priority"), Column("stratum"),
        Column("inclusion_probability", "probability"),
    ))  # fmt: skip
    for pooling in found.poolings:
        poolings.rows.append({column.name: getattr(pooling, column.name) for column in poolings.columns})
    retrievals = Table("retrieved", (
        Column("topic"), Column("run"), Column("rank"), Column("of"), Column("score", digits=6),
    ))  # fmt: skip
    for one in found.retrievals:
        retrievals.rows.append({column.name: getattr(one, column.name) for column in retrievals.columns})
    judgements = Table("judgements", (
        Column("topic"), Column("judge"), Column("kind"), Column("state"), Column("grade"),
        Column("label"), Column("reason", most=MOST), Column("note", most=MOST),
        Column("iteration", "round"),
        Column("revision"), Column("judged_at", "when"),
    ))  # fmt: skip
    for judged in found.standpoints:
        judgements.rows.append({
            "topic": judged.topic, "judge": judged.judge, "kind": judged.kind.value,
            "state": judged.state.value, "grade": judged.grade,
            "label": _label(scale, judged.grade), "reason": judged.reason or None,
            "note": judged.note or None, "iteration": judged.iteration,
            "revision": judged.revision, "judged_at": moment(judged.judged_at, fmt),
        })  # fmt: skip
    emit_dossier(facts, [poolings, judgements, retrievals], fmt)
    if text and fmt is Format.TABLE:
        shown = "(the text is not in the collection)" if document.text is None else document.text
        write_lines(None, ["", *sanitise(shown).removesuffix("\n").split("\n")])


@app.command("pool")
def pool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The pool's name.")],
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a pool: how it was chosen, from which runs, and how its documents stand by topic.

    Example: pooler show pool pool
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        found = opened.details.pool(name)
    facts = {**_cells(pool_cells(found.line), fmt), "made_at": moment(found.line.created_at, fmt)}
    for name_ in ("pooled", "outside"):  # of one pool they say nothing
        del facts[name_]
    facts["number_of_topics"] = facts.pop("topics")
    facts["number_of_runs"] = facts.pop("runs")
    facts["display_order"] = found.display_order or None
    manifest = found.line.manifest
    facts |= {key: _fact(manifest.get(key)) for key in ("order", "seed")}
    version = manifest.get("version")
    facts["program"] = None if version is None else f"pooler {version}"
    for key, value in manifest.get("parameters", {}).items():
        facts.setdefault(key, _fact(value))
    topics = _topics(found.topics)
    topics.columns = (Column("topic"), _TITLE, Column("documents"), *IN_POOL)
    runs = Table("runs", (Column("run"),), [{"run": tag} for tag in found.runs])
    emit_dossier(facts, [topics, _judges(found.judges, fmt), runs], fmt)


@app.command("judge")
def judge(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The judge's name.")],
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a judge: what they did, topic by topic and sitting by sitting.

    Pooled is what pools hold, whoever it is assigned to; what is left to a judge is told by
    `pooler status`, and what it cost them by `pooler effort`.

    Example: pooler show judge alice
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        found = opened.details.judge(name)
    facts = _cells(judge_cells(found.line), fmt)
    facts["number_of_topics"] = facts.pop("topics")
    facts |= {"added_at": moment(found.created_at, fmt), "assigned": found.assigned}
    facts["number_of_sittings"] = len(found.sittings)
    sittings = Table("sittings", (
        Column("sitting"), Column("started_at", "started"), Column("seen_at", "last seen"),
        Column("ended_at", "ended"), Column("host", can_go=True),
        Column("program", can_go=True), Column("events"),
    ))  # fmt: skip
    for one in found.sittings:
        ended = None if one.ended_at is None else moment(one.ended_at, fmt)
        sittings.rows.append({
            "sitting": one.number, "started_at": moment(one.started_at, fmt),
            "seen_at": moment(one.seen_at, fmt), "ended_at": ended, "host": one.host or None,
            "program": one.program or None, "events": one.events,
        })  # fmt: skip
    emit_dossier(facts, [_topics(found.topics), sittings], fmt)


def _cells(row: Mapping[str, Any], fmt: Format) -> dict[str, Cell]:
    """Return the cells of a list as a dossier takes them: moments written, for people short."""
    cells = dict(row)
    for name in ("imported_at", "made_at"):
        if name in cells:
            cells[name] = day(cells[name], fmt)
    if cells.get("last_at") is not None:
        cells["last_at"] = moment(cells["last_at"], fmt)
    if fmt is Format.TABLE and "sha256" in cells:
        cells["sha256"] = cells["sha256"][:SHOWN_SHA256]
    return cells


def _version(found: TopicDossier, version: int | None) -> TopicVersion:
    """Return a version of a topic's text; raise `UnknownNameError` for one that is not there."""
    for one in reversed(found.versions):
        if version in (None, one.version):
            return one
    known = [str(one.version) for one in found.versions]
    raise UnknownNameError(f"version of topic {found.line.topic}", str(version), known)


def _versions(found: TopicDossier, fmt: Format) -> Table:
    """Make the table of a topic's versions."""
    table = Table("versions", (
        Column("version"), Column("changed_at", "since"), Column("judgements", "judged by it"),
    ))  # fmt: skip
    for one in found.versions:
        since = None if one.changed_at is None else moment(one.changed_at, fmt)
        table.rows.append({"version": one.version, "changed_at": since, "judgements": one.judgements})
    return table


def _topics(lines: Iterable[TopicLine]) -> Table:
    """Make the table of topics."""
    rows = [
        {"topic": line.topic, "title": line.title, "runs": line.runs,
         "documents": line.standing.pooled, **standing_cells(line.standing)}
        for line in lines
    ]  # fmt: skip
    return Table("topics", _TOPIC_COLUMNS, [*rows])


def _judges(lines: Iterable[JudgeLine], fmt: Format) -> Table:
    """Make the table of judges."""
    columns = [column for column in JUDGE_COLUMNS if column.name != "topics"]
    return Table("judges", columns, [_cells(judge_cells(line), fmt) for line in lines])


def _runs(lines: Iterable[RunLine], fmt: Format) -> Table:
    """Make the table of runs that have a topic."""
    kept = ("run", "group", "contributes", "documents")
    columns = [column for column in RUN_COLUMNS if column.name in kept]
    return Table("runs", columns, [_cells(run_cells(line), fmt) for line in lines])


def _label(scale: Scale, grade: int | None) -> str | None:
    """Name a grade."""
    return None if grade is None else scale.label(grade)


def _fact(value: object) -> Cell:
    """Write a value of a manifest in one cell."""
    if value is None or isinstance(value, str | int | float):
        return value
    return json_text(value)
