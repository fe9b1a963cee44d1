"""Details: everything known of one run, topic, document, pool or judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from pooler.results.look.listing import (
    IN_POOL,
    JUDGE_COLUMNS,
    POOL_COLUMNS,
    RUN_COLUMNS,
    SHOWN_SHA256,
    STATE_COLUMNS,
    cells_of,
    judge_cells,
    pool_cells,
    run_cells,
    topic_cells,
)
from pooler.results.result import Result, facts_view, frozen_settings
from pooler.results.table import DOCUMENTS, GRADE, JUDGE, RUN, TOPIC, Column, Table, View
from store.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from store.collection import Collection
    from store.judging.models import ModelWork, StatedModel
    from store.judging.rejudging import TopicVersion
    from store.overview import JudgeLine, TopicDetails, TopicLine

Kind = Literal["run", "topic", "doc", "pool", "judge"]

_SHA256 = 64
"""Digits of a whole one."""
_UNSHOWN = {"text", "older", "prompt_text"}
"""Facts that are too long for a table."""
_MOST = 40
"""Columns of a terminal that a text has at most."""
_PAGE = 80
_TITLE = Column("title", show="if_any", most=_MOST)
_WORDS = {
    "listed": "named by a topics or documents file, not only by runs or qrels",
    "outside": "judged, but in no pool",
    "round": "label of a pool, which its judgements carry in column 2 of qrels",
    "undecided": "with only a note or a passage, or with a decision taken back",
}
"""What facts are, by their names, as the columns of lists say it."""


def _explained(columns: Iterable[Column]) -> list[Column]:
    return [replace(one, about=_WORDS.get(one.name, one.about)) for one in columns]


_POOLINGS = (
    TOPIC,
    Column("pool"),
    Column("round", about=_WORDS["round"], show="if_varied"),
    Column("withdrawn", "bool", show="if_varied", usual=(False,)),
    Column("sampled", "bool", "chosen"),
    Column("position", "int", about="place in the order in which judges see the topic, from 0"),
    Column("priority", "float", about="what the strategy gave the document, higher first", show="if_any"),
    Column("stratum", "int", show="if_any"),
    Column("inclusion_probability", "float", "probability", show="if_any"),
)
_RETRIEVALS = (TOPIC, RUN, Column("rank", "int"), Column("of", "int"), Column("score", "float", digits=6))
_JUDGEMENTS = (
    TOPIC,
    JUDGE,
    Column("kind"),
    Column("state", show="if_varied", usual=("judged",)),
    GRADE,
    Column("label", show="if_any"),
    Column("reason", show="if_any", most=_MOST),
    Column("note", show="if_any", most=_MOST),
    Column("iteration", heading="round", about=_WORDS["round"], show="if_varied"),
    Column("revision", "int", show="if_varied", usual=(1,)),
    Column("judged_at", "moment", "when"),
)
_SITTINGS = (
    Column("sitting", "int"),
    Column("started_at", "moment", "started"),
    Column("seen_at", "moment", "last seen"),
    Column("ended_at", "moment", "ended", show="if_any"),
    Column("host", show="if_any", can_go=1),
    Column("program", show="if_any", can_go=1),
    Column("events", "int"),
)
_VERSIONS = (
    Column("version", "int"),
    Column("changed_at", "moment", "since", show="if_any"),
    Column("judgements", "int", "judged by it"),
)


def details(
    collection: Collection, kind: Kind, name: str, *, version: int | None = None, text: bool = False
) -> Details:
    """Tell everything known of one thing.

    Parameters
    ----------
    collection : Collection
        Open.
    kind : {"run", "topic", "doc", "pool", "judge"}
        What it is.
    name : str
        Its tag, id, docno or name.
    version : int, optional
        Of a topic, the version of its text, from 1; default the newest.
    text : bool, default=False
        Of a document, its text among the facts, too.

    Returns
    -------
    Details
        Facts, and tables that depend on the kind.

    Raises
    ------
    ArgumentError
        If the kind is none of these, or has no version or text.
    UnknownNameError
        If there is no such thing, or no such version.

    Notes
    -----
    A few queries; of a document every ranking of its topics is read.

    Examples
    --------
    >>> from store.collection import Collection
    >>> with Collection("collection.db") as opened:  # doctest: +SKIP
    ...     details(opened, "run", "bm25").facts()["documents"]
    360
    """
    if kind not in get_args(Kind):
        raise ArgumentError("kind", f"must be one of {', '.join(get_args(Kind))}", kind)
    if version is not None and kind != "topic":
        raise ArgumentError("version", "is only for topics", None)
    if text and kind != "doc":
        raise ArgumentError("text", "is only for documents", None)
    ways: dict[str, Callable[[Collection, str], _Found]] = {
        "run": _run,
        "topic": partial(_topic, version=version),
        "doc": partial(_document, with_text=text),
        "pool": _pool,
        "judge": _judge,
    }
    known, tables = ways[kind](collection, name)
    return Details(
        settings=frozen_settings(
            collection=collection.name, kind=kind, name=name, version=version, text=text
        ),
        known=known,
        found=tuple(tables),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Details(Result):
    """Everything known of one thing: facts, and tables that depend on its kind."""

    known: Mapping[str, Any]
    """Facts; the first names the thing, ``None`` = undefined."""
    found: tuple[Table, ...]

    def names(self) -> tuple[str, ...]:
        """Return the names of the tables of this kind of thing."""
        return tuple(table.name for table in self.found)

    def facts(self) -> Mapping[str, Any]:
        """Return what is one value."""
        return self.known

    def views(self, *names: str) -> tuple[View, ...]:
        """Return the facts as a table and the tables that have rows; each word is explained once."""
        if names:
            return Result.views(self, *names)
        views = [self._facts_view()]
        explained = {name.replace("_", " ") for name in self.known if name in _WORDS}
        for table in self.found:
            is_only_version = table.name == "versions" and len(table) == 1
            if len(table) and not is_only_version:
                columns = [replace(one, about="") if one.title in explained else one for one in table.columns]
                explained |= {one.title for one in table.columns if one.about}
                views.append(View(table, columns, title=table.title or table.name.replace("_", " ")))
        return tuple(views)

    def _table(self, name: str) -> Table:
        return next(table for table in self.found if table.name == name)

    def _facts_view(self) -> View:
        """Make the table of facts; the first names the thing, so it is the heading."""
        shown = {name: value for name, value in self.known.items() if name not in _UNSHOWN}
        if shown.get("newest_version") == shown.get("version"):
            shown.pop("newest_version", None)
        for name in ("fields", "markup"):
            if shown.get(name, "") is None:  # few documents have any
                del shown[name]
        if self.known.get("older"):
            shown["judged with older text"] = self.known["older"]
        for name in ("sha256", "identity", "prompt"):
            if len(shown.get(name) or "") == _SHA256:
                shown[name] = shown[name][:SHOWN_SHA256]
        shown = {
            name: ", ".join(map(str, one)) if isinstance(one, list) else one for name, one in shown.items()
        }
        notes = [f"{name}: {words}." for name, words in _WORDS.items() if name in shown]
        view = facts_view(shown, notes)
        names, values = view.declared()
        return replace(view, columns=[names, replace(values, most=_PAGE - 2 - max(map(len, shown)))])


_Found = tuple[dict[str, Any], Sequence[Table]]


def _run(collection: Collection, tag: str) -> _Found:
    found = collection.details.run(tag)
    facts = {**run_cells(found.line), "pools": list(found.pools) or None}
    for name in ("pooled", "judged", "relevant"):
        facts[f"documents_{name}"] = sum(getattr(one, name) for one in found.topics)
    relevant = f"graded {collection.scale.relaxed} or more by somebody, person or model"
    columns = [
        TOPIC,
        *(Column(name, "int") for name in ("documents", "pooled", "judged")),
        Column("relevant", "int", about=relevant),
    ]
    return facts, [Table.of_records("by_topic", columns, found.topics)]


def _topic(collection: Collection, number: str, *, version: int | None) -> _Found:
    found = collection.details.topic(number)
    shown = _version(found, version)
    facts = {**topic_cells(found.line), "version": shown.version, "newest_version": found.line.version}
    facts["title"] = shown.topic.title or None
    facts |= {part: getattr(shown.topic, part) or None for part in ("description", "narrative")}
    facts["number_of_runs"] = facts.pop("runs")
    kept = ("run", "group", "contributes", "documents")
    runs = [column for column in RUN_COLUMNS if column.name in kept]
    return facts, [
        Table.of_records("versions", _VERSIONS, found.versions),
        Table.of_rows("pools", POOL_COLUMNS, map(pool_cells, found.pools)),
        _judges(found.judges),
        Table.of_rows("runs", runs, map(run_cells, found.runs)),
    ]


def _document(collection: Collection, docno: str, *, with_text: bool) -> _Found:
    found = collection.details.document(docno)
    document = found.document
    facts: dict[str, Any] = {
        "docno": document.docno,
        "title": document.title or None,
        "fields": [f"{name}: {value}" for name, value in document.fields] or None,
        "markup": document.markup,
        "listed": found.listed,
        "has_text": document.text is not None,
        "characters": None if document.text is None else len(document.text),
        "sha256": found.sha256,
        "pooled": len({one.topic for one in found.poolings if one.sampled and not one.withdrawn}),
    }
    if with_text:
        facts["text"] = document.text
    scale = collection.scale
    judgements = Table.of_records(
        "judgements",
        _JUDGEMENTS,
        found.judge_states,
        label=lambda one: None if one.grade is None else scale.label(one.grade),
        reason=lambda one: one.reason or None,
        note=lambda one: one.note or None,
    )
    return facts, [
        Table.of_records("pools", _POOLINGS, found.poolings),
        judgements,
        Table.of_records("retrieved", _RETRIEVALS, found.retrievals),
    ]


def _pool(collection: Collection, name: str) -> _Found:
    found = collection.details.pool(name)
    facts = pool_cells(found.line)
    facts["number_of_topics"] = facts.pop("topics")
    facts["number_of_runs"] = facts.pop("runs")
    facts["display_order"] = found.display_order or None
    manifest = found.line.manifest
    facts |= {key: _plain(manifest.get(key)) for key in ("order", "seed")}
    version = manifest.get("version")
    facts["program"] = None if version is None else f"pooler {version}"
    for key, value in manifest.get("parameters", {}).items():
        facts.setdefault(key, _plain(value))
    columns = [TOPIC, _TITLE, DOCUMENTS, *IN_POOL]
    runs = Table.of_rows("runs", [RUN], [{"run": tag} for tag in found.runs])
    return facts, [_topics(found.topics, columns), _judges(found.judges), runs]


def _judge(collection: Collection, name: str) -> _Found:
    found = collection.details.judge(name)
    facts = judge_cells(found.line)
    facts["number_of_topics"] = facts.pop("topics")
    facts |= {"added_at": found.created_at, "assigned": found.assigned}
    facts["number_of_sittings"] = len(found.sittings)
    del facts["model"], facts["family"]
    if found.stated is not None:
        facts |= _model_facts(found.stated, found.work)
    columns = [TOPIC, _TITLE, Column("runs", "int", show="if_varied"), *_explained(STATE_COLUMNS)]
    sittings = Table.of_records(
        "sittings",
        _SITTINGS,
        found.sittings,
        sitting=lambda one: one.number,
        host=lambda one: one.host or None,
        program=lambda one: one.program or None,
    )
    return facts, [_topics(found.topics, columns), sittings]


def _model_facts(stated: StatedModel, work: ModelWork | None) -> dict[str, Any]:
    from store.model_judge import NOT_STATED

    identity = stated.identity
    if identity is None:
        return {"identity": NOT_STATED}
    fields = [f"topic.{one}" for one in identity.topic_fields]
    fields += [f"doc.{one}" for one in identity.document_fields]
    if identity.max_characters is not None:
        fields.append(
            f"at most {identity.max_characters:,} characters of a document, cut at the {identity.cut}"
        )
    facts: dict[str, Any] = {
        "identity": identity.sha256,
        "model": identity.model,
        "revision": identity.revision,
        "endpoint": identity.endpoint,
        "host": identity.host,
        "prompt": identity.prompt_sha256,
        "prompt_text": stated.prompt,
        "parameters": [f"{name}={json.dumps(value)}" for name, value in sorted(identity.parameters.items())],
        "parser": NOT_STATED
        if identity.parser == NOT_STATED
        else f"{identity.parser}, version {identity.parser_version}",
        "grades_read_as": [f"{old}={new}" for old, new in sorted(identity.grade_map.items())],
        "shown": fields or NOT_STATED,
        "family": identity.family or NOT_STATED,
        "stated_at": stated.stated_at,
    }
    if work is not None:
        facts |= {
            "judged_from": work.first_at,
            "judged_to": work.last_at,
            "answers": work.answers,
            "unreadable": [f"{n:,} {reason}" for reason, n in work.unreadable.items()],
            "served_models": list(work.served_models),
            "fingerprints": list(work.fingerprints),
        }
    return facts


def _version(found: TopicDetails, version: int | None) -> TopicVersion:
    for one in reversed(found.versions):
        if version in (None, one.version):
            return one
    known = [str(one.version) for one in found.versions]
    raise UnknownNameError(f"version of topic {found.line.topic}", str(version), known)


def _topics(lines: Iterable[TopicLine], columns: Sequence[Column]) -> Table:
    rows = (cells_of(one, columns, documents=one.counts.pooled) for one in lines)
    return Table.of_rows("topics", columns, rows)


def _judges(lines: Iterable[JudgeLine]) -> Table:
    columns = [column for column in JUDGE_COLUMNS if column.name != "topics"]
    return Table.of_rows("judges", columns, map(judge_cells, lines))


def _plain(value: Any) -> Any:
    """Return a value of a manifest; what is no single value as JSON text."""
    if value is None or isinstance(value, str | int | float):
        return value
    return json.dumps(value, ensure_ascii=False)
