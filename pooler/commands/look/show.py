"""List runs, topics, documents, pools, judges and so on, or show all of one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, Stored, command
from pooler.judge_kinds import erased_words
from pooler.result import Result, facts_view
from pooler.tables import DOCNO, DOCUMENTS, GRADE, JUDGE, RUN, TOPIC, Column, Table, View
from store.errors import ArgumentError, UnknownNameError
from store.model_judge import NOT_STATED
from store.text import counted, sanitise

if TYPE_CHECKING:
    from store.collection import Collection
    from store.judging.models import ModelWork, StatedModel
    from store.overview import JudgeLine, PoolLine, RunLine, TopicLine


SHOWN_DOCUMENTS = 50
"""Documents that people see unless they ask for more."""
_GUIDELINE_COLUMNS = (
    Column("version", "int"),
    Column("created_at", "moment", "made"),
    Column("lines", "int"),
    Column("begins"),
)

SHOWN_SHA256 = 12
"""Digits of a hash that people see."""
_WORDS = {
    "listed": "named by a topics or documents file, not only by runs or qrels",
    "outside": "judged, but in no pool",
    "round": "label of a pool, which its judgements carry in column 2 of qrels",
    "undecided": "with only a note or a passage, or with a decision taken back",
}
"""What facts and columns are, by their names."""
_LISTED = Column("listed", "bool", about=_WORDS["listed"], show="if_varied", usual=(True, False))
_POOLED = Column("pooled", "int")
_JUDGED = Column("judged", "int")
_CANNOT = Column("cannot", "int", show="if_varied", usual=(0,))
_SKIPPED = Column("skipped", "int", show="if_varied", usual=(0,))
_UNJUDGED = Column("unjudged", "int", show="if_varied", usual=(0,))
_OUTSIDE = Column("outside", "int", about=_WORDS["outside"], show="if_varied", usual=(0,))
_RELEVANT = Column("relevant", "int")

STATE_COLUMNS = (_POOLED, _JUDGED, _CANNOT, _SKIPPED, _UNJUDGED, _OUTSIDE, _RELEVANT)
"""How documents stand with all judges together: `store.judging.states`."""
IN_POOL = (_JUDGED, _CANNOT, _SKIPPED, _UNJUDGED, _RELEVANT)
"""The same, of the documents of one pool."""
RUN_COLUMNS = (
    RUN,
    Column("group", show="if_any"),
    Column("contributes", "bool"),
    Column("topics", "int", show="if_varied"),
    DOCUMENTS,
    Column("pools", "int"),
    Column("file", show="if_any", can_go=1),
    Column("sha256", show="if_any", can_go=1),
    Column("imported_at", "day", "imported", show="if_varied", can_go=1),
)
TOPIC_COLUMNS = (
    TOPIC,
    Column("title", show="if_any", most=24),
    _LISTED,
    Column("version", "int"),
    Column("runs", "int", show="if_varied"),
    *STATE_COLUMNS,
    Column("older", "int", "with older text", show="if_any"),
)
DOCUMENT_COLUMNS = (
    DOCNO,
    Column("title", show="if_any", most=12),
    Column("text", "bool", show="if_varied", usual=(True, False)),
    _LISTED,
    Column("pools", "int"),
    *STATE_COLUMNS,
)
POOL_COLUMNS = (
    Column("pool"),
    Column("round", about=_WORDS["round"], show="if_varied"),
    Column("strategy", show="if_any"),
    Column("depth", "int", show="if_any"),
    Column("topics", "int", show="if_varied"),
    DOCUMENTS,
    Column("budget", "int", show="if_any"),
    *IN_POOL,
    Column("runs", "int", show="if_varied", can_go=1),
    Column("withdrawn", "bool", show="if_varied", usual=(False,)),
    Column("made_at", "day", "made", show="if_varied", can_go=1),
)
JUDGE_COLUMNS = (
    JUDGE,
    Column("kind"),
    Column("model", show="if_any", about="as stated"),
    Column("family", show="if_any"),
    Column("disabled", "bool", show="if_varied", usual=(False,)),
    Column("topics", "int", show="if_varied"),
    _JUDGED,
    _CANNOT,
    _SKIPPED,
    Column("undecided", "int", about=_WORDS["undecided"], show="if_varied", usual=(0,)),
    _RELEVANT,
    Column("events", "int"),
    Column("last_at", "moment", "last", show="if_any", can_go=1),
)
_SHA256 = 64
"""Digits of a whole one."""
_UNSHOWN = {"older", "prompt_text"}
"""Facts that are too long for a table."""
_MOST = 40
"""Columns of a terminal that a text has at most."""
_PAGE = 80
_TITLE = Column("title", show="if_any", most=_MOST)
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


@command
def show_runs(
    collection: Stored, tag: Annotated[str | None, Option("TAG", "The run; default all.")] = None
) -> Shown:
    """Show the runs: how much each retrieved, how many pools it fed, and its file.

    Of one run: where it came from, the pools it fed, and what of it is pooled and judged.

    Example: pooler show runs

    Example: pooler show runs bm25-words

    Raises
    ------
    UnknownNameError
        If there is no such run.
    """
    if tag is not None:
        return _run_details(collection, tag)
    rows = map(run_cells, collection.lists.runs())
    table = _list(collection, "runs", RUN_COLUMNS, rows, "pooler import runs FILE...")
    return Shown(found=[_short(table, "sha256", lambda one: one[:SHOWN_SHA256])])


@command
def show_topics(
    collection: Stored,
    topic: Annotated[str | None, Option("TOPIC", "The topic; default all.")] = None,
    *,
    version: Annotated[int | None, Option(least=1)] = None,
) -> Shown:
    """Show the topics, with the state of each one's documents over all judges.

    Every pooled document is in one state: judged by somebody; otherwise found impossible to judge;
    otherwise skipped; otherwise unjudged. Outside: judged by somebody, but in no pool. Relevant: graded
    at or above the scale's relaxed level by somebody, pooled or not. Version: of the topic's text. By
    older text: judgements made with another text than the current one; see `pooler status outdated --why
    topic`. Of one topic: its text, with every version of it where it has changed, the state of its
    documents, its judges, and the runs that have it.

    Example: pooler show topics

    Example: pooler show topics G01

    version : Of one topic: show this version of its text; default the newest.

    Raises
    ------
    UnknownNameError
        If there is no such topic or version.
    """
    if topic is not None:
        return _topic_details(collection, topic, version)
    if version is not None:
        raise ArgumentError("version", "needs a topic", None)
    rows = (cells_of(one, TOPIC_COLUMNS) for one in collection.lists.topics())
    table = _list(collection, "topics", TOPIC_COLUMNS, rows, "pooler import topics FILE")
    return Shown(found=[table])


@command
def show_docs(
    collection: Stored,
    docno: Annotated[str | None, Option("DOCNO", "The document; default all.")] = None,
    *,
    topic: Annotated[str | None, Option("--topic TOPIC", "Without a name: only this topic.")] = None,
    limit: Annotated[int | None, Option(hidden=True, for_people=SHOWN_DOCUMENTS)] = None,
) -> Shown:
    """Show the documents: which have a text, and for how many topics each is pooled or judged.

    The states are those of `pooler show topics`, counted over topics: pooled 2, judged 1 is a document
    pooled for two topics and judged for one. With --topic: documents that are pooled, judged or otherwise
    looked at for it. Of one document: its pools, the runs that retrieved it, with ranks in trec order,
    every current judgement, and, as the table `text`, its text; `pooler history` shows how a judgement
    came about.

    Example: pooler show docs --topic G01

    Example: pooler show docs KG-E-002 --table text

    Raises
    ------
    UnknownNameError
        If there is no such document or topic.

    Notes
    -----
    No more documents are read than `limit`, by docno; of one document every ranking of its topics is.
    """
    if docno is not None:
        if topic is not None:
            raise ArgumentError("topic", "is for a list, without a name", None)
        return _document_details(collection, docno)
    found = collection.lists.documents(topic, limit=limit)
    rows = [
        cells_of(one, DOCUMENT_COLUMNS, title=one.title if one.has_text else None, text=one.has_text)
        for one in found.lines
    ]
    columns, empty = DOCUMENT_COLUMNS, "pooler import docs FILE"
    table = _list(collection, "documents", columns, rows, empty, total=found.total)
    is_part = len(table) < found.total
    return Shown(found=[table.seen_as(limit=SHOWN_DOCUMENTS, of_rows="document", is_part=is_part)])


@command
def show_pools(
    collection: Stored, name: Annotated[str | None, Option("NAME", "The pool; default all.")] = None
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
        If there is no such pool.
    """
    if name is not None:
        return _pool_details(collection, name)
    rows = map(pool_cells, collection.lists.pools())
    table = _list(collection, "pools", POOL_COLUMNS, rows, "pooler pool --depth 10")
    return Shown(found=[table])


@command
def show_judges(
    collection: Stored, name: Annotated[str | None, Option("NAME", "The judge; default all.")] = None
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
        If there is no such judge.
    """
    if name is not None:
        return _judge_details(collection, name)
    rows = map(judge_cells, collection.lists.judges())
    table = _list(collection, "judges", JUDGE_COLUMNS, rows, "pooler judges add NAME")
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
        facts = {"version": found.version, "created_at": found.created_at}
        page = sanitise(found.text).removesuffix("\n").split("\n")
        return Shown(known=facts, found=[text_table(found.text)], page=page)
    rows: list[dict[str, Any]] = []
    for one in collection.guidelines.all():
        lines = one.text.splitlines()
        begins = next(line.strip() for line in lines if line.strip())
        rows.append(cells_of(one, _GUIDELINE_COLUMNS, lines=len(lines), begins=begins))
    notes = [counted(len(rows), "version") if rows else "no guidelines yet: pooler import guidelines FILE"]
    table = Table.of_rows("guidelines", _GUIDELINE_COLUMNS, rows, notes=notes)
    return Shown(
        found=[_short(table, "begins", lambda one: one if len(one) <= _MOST else f"{one[: _MOST - 3]}...")]
    )


@command
def show_strategies() -> Shown:
    """Show the strategies that choose documents, and their parameters.

    Example: pooler show strategies
    """
    return list_strategies()


@command
def show_measures() -> Shown:
    """Show the measures that score runs.

    Example: pooler show measures
    """
    return list_measures()


def list_strategies() -> Shown:
    """List the strategies there are.

    Returns
    -------
    Shown
        Their names, kinds, parameters with defaults, and sources.

    Examples
    --------
    >>> list_strategies().table("strategies").head(1).to_dict()["strategy"]
    ['depth']
    """
    from pooler.commands.look.lists import strategies_table

    return Shown(found=[strategies_table()])


def list_measures() -> Shown:
    """List the measures, what they can be told, and what else they are called.

    Examples
    --------
    >>> list_measures().table("measures").to_records()[0]["measure"]
    'AP[@N]'
    """
    from pooler.commands.look.lists import measures_table

    return Shown(found=[measures_table()])


def _list(
    collection: Collection,
    name: str,
    columns: Sequence[Column],
    rows: Iterable[Mapping[str, Any]],
    empty: str,
    *,
    total: int | None = None,
) -> Table:
    """Make the table of a list, and say how long it is; `empty`: the command that would fill it."""
    rows = list(rows)
    by = "" if name == "judges" else " by somebody, person or model"
    about = {
        "outside": "judged, but in no pool",
        "relevant": f"graded {collection.scale.relaxed} or more{by}",
    }
    columns = [replace(column, about=about.get(column.name, column.about)) for column in columns]
    size = counted(len(rows), name.removesuffix("s"))
    if not rows:
        size = f"no {name}: {empty}"
    elif total is not None and len(rows) < total:
        size = f"{len(rows):,} of {total:,} {name}: --limit shows more"
    return Table.of_rows(name, columns, rows, notes=[size])


def _short(table: Table, column: str, shorten: Callable[[str], str]) -> Table:
    """Return the table, of which people see the cells of a column shortened."""
    cells = [*map(shorten, table.data[column])]
    return table.seen_as(View(replace(table, data={**table.data, column: cells})))


def cells_of(line: Any, columns: Sequence[Column], **others: Any) -> dict[str, Any]:
    """Return the cells of a row: its own values, how its documents stand, or others where these are given."""
    stand = getattr(line, "counts", line)
    return {
        name: others[name] if name in others else getattr(line if hasattr(line, name) else stand, name)
        for name in (column.name for column in columns)
    }


def run_cells(line: RunLine) -> dict[str, Any]:
    """Return the cells of `RUN_COLUMNS`."""
    return cells_of(line, RUN_COLUMNS, run=line.tag, group=line.group or None)


def pool_cells(line: PoolLine) -> dict[str, Any]:
    """Return the cells of `POOL_COLUMNS`."""
    depth = line.manifest.get("parameters", {}).get("depth")
    return cells_of(
        line,
        POOL_COLUMNS,
        pool=line.name,
        strategy=line.manifest.get("strategy"),
        depth=depth if isinstance(depth, int) else None,
        documents=line.counts.pooled,
        made_at=line.created_at,
    )


def judge_cells(line: JudgeLine) -> dict[str, Any]:
    """Return the cells of `JUDGE_COLUMNS`."""
    return cells_of(line, JUDGE_COLUMNS, judge=line.name, kind=line.kind.value)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Shown(Result):
    """What there is of one kind, a row a thing; or facts on one thing, and the tables of its kind."""

    known: Mapping[str, Any] = field(default_factory=dict)
    """Facts; the first names the thing, ``None`` = undefined."""
    found: Sequence[Table]
    page: Sequence[str] | None = None
    """Lines that people read instead of tables."""

    def _tables(self) -> Iterator[Table]:
        yield from self.found

    def facts(self) -> Mapping[str, Any]:
        """Return what is one value."""
        return self.known

    def lines(self) -> Iterator[str] | None:
        """Return a text as it is, where it is what was asked for."""
        return None if self.page is None else iter(self.page)

    def views(self, *names: str) -> tuple[View, ...]:
        """Return, of one thing, its facts as a table and the tables with rows; a word is explained once."""
        if names or not self.known:
            return Result.views(self, *names)
        views = [self._facts_view()]
        explained = {name.replace("_", " ") for name in self.known if name in _WORDS}
        for table in self.found:
            is_only_version = table.name == "versions" and len(table) == 1
            if len(table) and not is_only_version and table.name != "text":
                columns = [replace(one, about="") if one.title in explained else one for one in table.columns]
                explained |= {one.title for one in table.columns if one.about}
                views.append(View(table, columns, title=table.title or table.name.replace("_", " ")))
        return tuple(views)

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


def text_table(text: str | None) -> Table:
    """Return a text, a row a line."""
    lines = [] if text is None else text.removesuffix("\n").split("\n")
    notes = ["the text is not in the collection"] if text is None else []
    return Table.of_columns("text", {Column("text", most=_PAGE): lines}, notes=notes)


def _run_details(collection: Collection, tag: str) -> Shown:
    found = collection.details.run(tag)
    facts = {**run_cells(found.line), "pools": list(found.pools) or None}
    for name in ("pooled", "judged", "relevant"):
        facts[f"documents_{name}"] = sum(getattr(one, name) for one in found.topics)
    relevant = f"graded {collection.scale.relaxed} or more by somebody, person or model"
    columns = [TOPIC, Column("documents", "int"), _POOLED, _JUDGED, replace(_RELEVANT, about=relevant)]
    return Shown(known=facts, found=[Table.of_records("by_topic", columns, found.topics)])


def _topic_details(collection: Collection, number: str, version: int | None) -> Shown:
    """Tell of a topic, with a version of its text, default the newest."""
    found = collection.details.topic(number)
    shown = next((one for one in reversed(found.versions) if version in (None, one.version)), None)
    if shown is None:
        known = [str(one.version) for one in found.versions]
        raise UnknownNameError(f"version of topic {found.line.topic}", str(version), known)
    facts = {
        **cells_of(found.line, TOPIC_COLUMNS),
        "version": shown.version,
        "newest_version": found.line.version,
    }
    facts["title"] = shown.topic.title or None
    facts |= {part: getattr(shown.topic, part) or None for part in ("description", "narrative")}
    facts["number_of_runs"] = facts.pop("runs")
    kept = ("run", "group", "contributes", "documents")
    runs = [column for column in RUN_COLUMNS if column.name in kept]
    tables = [
        Table.of_records("versions", _VERSIONS, found.versions),
        Table.of_rows("pools", POOL_COLUMNS, map(pool_cells, found.pools)),
        _judges(found.judges),
        Table.of_rows("runs", runs, map(run_cells, found.runs)),
    ]
    return Shown(known=facts, found=tables)


def _document_details(collection: Collection, docno: str) -> Shown:
    """Tell of a document; every ranking of its topics is read."""
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
    scale = collection.scale
    judgements = Table.of_records(
        "judgements",
        _JUDGEMENTS,
        found.judge_states,
        label=lambda one: None if one.grade is None else scale.label(one.grade),
        reason=lambda one: one.reason or None,
        note=lambda one: one.note or None,
    )
    tables = [
        Table.of_records("pools", _POOLINGS, found.poolings),
        judgements,
        Table.of_records("retrieved", _RETRIEVALS, found.retrievals),
        text_table(document.text),
    ]
    return Shown(known=facts, found=tables)


def _pool_details(collection: Collection, name: str) -> Shown:
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
    return Shown(known=facts, found=[_topics(found.topics, columns), _judges(found.judges), runs])


def _judge_details(collection: Collection, name: str) -> Shown:
    found = collection.details.judge(name)
    facts = judge_cells(found.line)
    facts["number_of_topics"] = facts.pop("topics")
    facts |= {"added_at": found.created_at, "assigned": found.assigned}
    facts["number_of_sittings"] = len(found.sittings)
    del facts["model"], facts["family"]
    if found.stated is not None:
        facts |= _model_facts(found.stated, found.work)
    columns = [TOPIC, _TITLE, Column("runs", "int", show="if_varied"), *STATE_COLUMNS]
    sittings = Table.of_records(
        "sittings",
        _SITTINGS,
        found.sittings,
        sitting=lambda one: one.number,
        host=lambda one: one.host or None,
        program=lambda one: one.program or None,
    )
    return Shown(known=facts, found=[_topics(found.topics, columns), sittings])


def _model_facts(stated: StatedModel, work: ModelWork | None) -> dict[str, Any]:
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
