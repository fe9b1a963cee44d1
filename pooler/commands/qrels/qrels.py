"""Qrels of a collection by name: listed, defined, dropped; and two compared, with what that does to runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from pooler.command import Given, Lenient, Option, OptionalPlace, RankOrder, RunList, Stored, command
from pooler.commands.qrels.final_qrels import qrels_at
from pooler.judge_kinds import warn_about_qrels, warn_about_voters, who_judged
from pooler.messages import say, warn
from pooler.result import Done, Result, fields_of, frozen_settings
from pooler.sources.judgement_files import given_rows, untold
from pooler.sources.meeting import doubt_forms
from pooler.sources.memory import runs_given
from pooler.sources.source import Source
from pooler.sources.stored import topic_judges_of
from pooler.tables import DOCNO, DOCUMENTS, REASON, RUN, TOPIC, Column, Table, View
from store.analysis.arrays import judged_arrays
from store.analysis.pools.differences import ChangeKind, Code, OrderEffect, QrelsDiff, order_effect
from store.analysis.pools.differences import qrels_diff as differences_of
from store.errors import PoolerError
from store.formats.scale import Meaning, understood
from store.grades.definition import NamedQrels, QrelsDefinition, is_file_word
from store.records import Qrel, Run
from store.text import counted, look_alikes


@command
def qrels(collection: Stored) -> QrelsList:
    """List the qrels of the collection by name, with their versions.

    `official` is there from the start, and is what is measured with unless --qrels names others: the grade
    of the judge to whom the document is assigned as primary, else the only grade, else equal grades; an
    adjudicator's ruling stands above every rule. A judge's name stands for that judge's own grades.

    Example: pooler qrels

    Examples
    --------
    >>> import tempfile
    >>> import pooler as p
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = p.init(f"{folder}/wine.db")
    ...     [one.label for one in p.qrels(f"{folder}/wine.db").found]
    ['official@1']
    """
    found = collection.qrels.all()
    counts: list[int | None] = []
    newest = set[str]()
    for one in found:
        counts.append(None)
        if one.name not in newest:
            with suppress(PoolerError):  # nothing can be said of it, or of no level
                counts[-1] = collection.grades.final(one.definition).n_documents
        newest.add(one.name)
    graders = collection.grades.voters(kinds=("human", "model", "imported")).graders
    judges = tuple(sorted(one for one in graders if not is_file_word(one)))
    return QrelsList(found=tuple(found), documents=tuple(counts), judges=judges)


@command
def qrels_define(
    collection: Stored,
    name: Annotated[str, Option("NAME", "What the qrels are to be called: no judge's name.")],
    definition: Annotated[QrelsDefinition | None, Given("pooler.cli.options:DefinitionOptions")] = None,
    *,
    default: bool = False,
) -> NamedQrels:
    """Define qrels: whose judgements count, and how several grades become one.

    Defining a name again makes its next version; earlier ones stay and are named as in official@1. With
    --as-of now the qrels are those of this moment, whatever is judged later.

    Example: pooler qrels define official --aggregate majority --ties low

    Example: pooler qrels define published --aggregate majority --ties low --as-of now

    default : Measure with these where no qrels are named; without a rule, with those that have the name.

    Examples
    --------
    >>> import tempfile
    >>> import pooler as p
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = p.init(f"{folder}/wine.db")
    ...     p.qrels_define(f"{folder}/wine.db", "strict", p.Qrels(aggregate="min")).label
    'strict@1'
    """
    from store.grades.qrels import check_sum  # arrays, and what they are made of

    definition = definition or QrelsDefinition()
    if default and not definition.to_json():
        collection.qrels.named(name)  # its error says which names are near
    if definition.primary:
        topic_judges_of(collection, dict(definition.primary))
    named = collection.qrels.define(name, definition, default=default)
    until = named.definition.as_of
    if until is not None and until > datetime.now(UTC):
        moment = until.isoformat(sep=" ", timespec="seconds")
        warn(f"{named.label}: judgements count until {moment}, which is to come; --as-of now ends it")
    try:
        if named.definition.binary_first:
            say(f"{named.label}: {named.definition.words}; counted at a level, --level N where they are used")
            warn_about_voters(collection.grades.voters(named.definition.judges, named.definition.kinds))
            return named
        final = collection.grades.final(named.definition)
        for option, least in (("--relaxed", named.definition.relaxed), ("--rigid", named.definition.rigid)):
            if least is not None:
                check_sum(final.all_votes, least, option)
    except PoolerError as error:
        warn(f"{named.label}: {error.message}")
        return named
    words = f"{named.label}: {counted(final.n_documents, 'document')}, {who_judged(final)}"
    if final.ties in ("low", "high") and (n := final.n_decided_by_ties):
        other = "high" if final.ties == "low" else "low"
        words += f"; the tie rule decided {n:,} (--ties {other} would change them)"
    say(words)
    warn_about_qrels(collection, named, final)
    warn_about_voters(final.all_votes.voters)
    return named


@command
def qrels_drop(
    collection: Stored, name: Annotated[str, Option("NAME", "Not `official`, nor the default.")]
) -> Done:
    """Drop qrels of the collection, with all their versions, whose numbers are never given again.

    Example: pooler qrels drop strict
    """
    versions = collection.qrels.drop(name)
    say(f"`{name}` is dropped: {counted(versions, 'version')}")
    return Done(counts=frozen_settings(versions=versions))


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class QrelsList(Result):
    """The definitions of a collection: the default first; then by name, the newest version first."""

    found: tuple[NamedQrels, ...]
    documents: tuple[int | None, ...]
    """Documents with a grade, of the newest version of each name."""
    judges: tuple[str, ...]
    """Judges whose names stand for their own grades."""

    def _tables(self) -> Iterator[Table]:
        columns: dict[Column, list[Any]] = {
            Column("qrels"): [one.name for one in self.found],
            Column("version", "int"): [one.version for one in self.found],
            Column("default", "bool"): [one.is_default for one in self.found],
            Column("rule"): [one.definition.words for one in self.found],
            DOCUMENTS: [*self.documents],
            Column("defined", "moment"): [one.created_at for one in self.found],
        }
        names = ", ".join(self.judges)
        notes = [f"By a judge's name, that judge's own grades: {names}."] if names else []
        if None in self.documents:
            notes.append("documents -: not counted, of older versions and where the rule cannot be used.")
        yield Table.of_columns("qrels", columns, "Qrels by name", notes=notes)


NOT_LISTED = "not listed"
USUAL = (ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.CHANGED)
"""Kinds of differences that are shown also where there are none."""


@command
def qrels_diff(
    a: Annotated[
        str | Path | Iterable[Qrel],
        Option("A", "The older qrels: a name, or a file.", read=lambda _name, text: text),
    ],
    b: Annotated[str | Path | Iterable[Qrel], Option("B", "The newer qrels.", read=lambda _name, text: text)],
    runs: Annotated[
        str | Iterable[str | Run] | Mapping[str, Any],
        Option(
            "RUN...",
            "Run files, to see what the difference does to their order.",
            read=lambda _name, text: text,
            repeated=True,
        ),
    ] = (),
    *,
    listed: RunList = None,
    level: int = 1,
    codes: Annotated[Sequence[str], Option("--code CODE=MEANING")] = (),
    cutoff: Annotated[int, Option(least=1)] = 1000,
    order: RankOrder = "trec",
    lenient: Lenient = False,
    collection: OptionalPlace = None,
) -> QrelsDifference:
    """Compare two qrels, grade by grade: names of the collection's, or files.

    Not listed, listed as unjudged (the code -1) and judged are three states: a document listed as
    unjudged in A and graded in B counts as judged now, not as added. "Became" and "ceased" count
    changed grades that cross --level; where the rule of one makes grades binary first, both are compared as
    0 and 1 at that level. With runs: MAP under both, each over its own topics with a
    relevant document; Kendall's tau-b; tau_AP weighted by the first places of A's order (back: of B's);
    and the pairs of runs that swap. Files need no collection.

    Example: pooler qrels diff judgements/lenient.qrels judgements/strict.qrels runs/bm25-words.run -q

    Example: pooler qrels diff strict lenient --table differences

    level : Least grade that counts as relevant.
    codes : A code in the files that is not a grade: unjudged (pooled but not judged), not-pooled, skipped,
        cannot or unjudgeable (cannot be judged); or grade, if it is one.
    cutoff : Ranks that AP takes into account (trec_eval -M).

    Examples
    --------
    >>> import pooler as p
    >>> from store.records import Qrel
    >>> found = p.qrels_diff([Qrel("1", "x", 1)], [Qrel("1", "x", 0), Qrel("1", "y", 1)])
    >>> [(one.docno, str(one.kind)) for one in found.differences]
    [('x', 'changed'), ('y', 'added')]
    """
    names = [str(one) if isinstance(one, str | Path) else "memory" for one in (a, b)]
    sources = {
        place: Source(qrels=one, collection=collection)
        for place, one in enumerate((a, b))
        if isinstance(one, str) and not is_file_word(one)
    }
    for place, one in sources.items():
        names[place] = one.qrels_name
    is_binary = any(one.definition.binary_first for one in sources.values())
    rows = [
        qrels_at(sources[place], levels=(level if is_binary else None,), publishes=False)[0].qrels
        if place in sources
        else _rows(one, lenient=lenient)
        for place, one in enumerate((a, b))
    ]
    meanings: dict[int, Meaning] = {}
    for name, part in zip(names, rows, strict=True):
        known, untold_codes = understood((one.grade for one in part), codes)
        if untold_codes:
            raise untold(name, untold_codes[0])
        meanings |= known
    no_grades = {code for code, what in meanings.items() if what is not Meaning.GRADE}
    if is_binary:
        say(f"binary first: both are compared as relevant (1) or not (0) at level {level}")
        for place in {0, 1} - sources.keys():
            rows[place] = [
                row if row.grade in no_grades else row._replace(grade=int(row.grade >= level))
                for row in rows[place]
            ]
        level = 1
    absent = {code for code, what in meanings.items() if what is Meaning.NOT_POOLED}
    first, second = ([one for one in part if one.grade not in absent] for part in rows)
    doubt_forms(look_alikes(docnos := {one.docno for one in (*first, *second)}, docnos))
    found = differences_of(first, second, unjudged=no_grades)
    files, effect = [*runs_given(runs)], None
    if files or listed is not None:
        judged = [[one for one in part if one.grade not in no_grades] for part in (first, second)]
        how: dict[str, Any] = {"listed": listed, "order": order, "lenient": lenient, "tells_level": False}
        ranked = Source(files, qrels=[*judged[0], *judged[1]], **how).read.ranked
        effect = order_effect(*(judged_arrays(ranked, part, level=level, cutoff=cutoff) for part in judged))
        if effect.n_topics_before != effect.n_topics_after:
            before, after = (counted(n, "topic") for n in (effect.n_topics_before, effect.n_topics_after))
            warn(f"MAP is over {before} with A and {after} with B: those with a relevant document")
        if effect.tau.reason is not None:
            say(f"the order of runs has no tau: {effect.tau.reason}")
    settings = frozen_settings(
        a=names[0], b=names[1], runs=tuple(one for one in files if isinstance(one, str))
    )
    return QrelsDifference(**fields_of(found), effect=effect, least=level, settings=settings)


def _rows(qrels: str | Path | Iterable[Qrel], *, lenient: bool) -> list[Qrel]:
    if not isinstance(qrels, str | Path):
        return list(qrels)
    return given_rows(str(qrels), lenient=lenient)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class QrelsDifference(Result, QrelsDiff):
    """What differs, and what it does.

    Tables: `summary`, counts by kind; `pairs`, documents by their codes in A and in B; with runs `runs` and
    `order`; `topics`, those that differ; `differences`, documents.
    """

    effect: OrderEffect | None
    """MAPs and orders under both; ``None`` without runs."""
    least: int
    """Least grade that counts as relevant: the level, or 1 where grades are binary first."""

    HAS_TOPICS = True

    def shown(self) -> tuple[str, ...]:
        """Return what a command shows."""
        return tuple(name for name in self.names() if name not in ("topics", "differences"))

    def _tables(self) -> Iterator[Table]:
        unsaid = {kind.value for kind, n in self.counts().items() if not n and kind not in USUAL}
        table = self._summary()
        yield table.seen_as(rows=[row for row, what in enumerate(table.cells("what")) if what not in unsaid])
        yield self._pairs().seen_as(View(self._crossed()))
        if self.effect is not None:
            for table in (self._runs(self.effect), self._order(self.effect)):
                yield table if len(table) else table.seen_as()
        table = self._topics()
        said = [column for column in table.columns if column.name.replace("_", " ") not in unsaid]
        yield table.seen_as(columns=said)
        before, after = Column("before", "int", "A"), Column("after", "int", "B")
        columns = [TOPIC, DOCNO, before, after, Column("what")]
        yield Table.of_records("differences", columns, self.differences, what=lambda one: one.kind.value)

    def _summary(self) -> Table:
        counts = {"same": self.n_same} | {kind.value: n for kind, n in self.counts().items()}
        became, ceased = self.crossings(self.least)
        counts |= {"became relevant": became, "ceased to be relevant": ceased}
        counts["same but for the iteration"] = self.n_iterations
        title = f"{self.settings['a']} and {self.settings['b']}"
        columns = {Column("what"): [*counts], DOCUMENTS: [*counts.values()]}
        return Table.of_columns("summary", columns, title)

    def _codes(self, place: int) -> list[Code]:
        """Return the codes of A or of B: not listed first, then ascending."""
        codes = {pair[place] for pair in self.pairs}
        return sorted(codes, key=lambda code: (code is not None, code or 0))

    def _pairs(self) -> Table:
        pairs = [pair for pair in product(self._codes(0), self._codes(1)) if pair in self.pairs]
        columns = {
            Column("before", "int"): [before for before, _ in pairs],
            Column("after", "int"): [after for _, after in pairs],
            DOCUMENTS: [self.pairs[pair] for pair in pairs],
        }
        return Table.of_columns("pairs", columns)

    def _crossed(self) -> Table:
        befores, afters = self._codes(0), self._codes(1)
        columns = [Column("before", heading="A \\ B")]
        columns += [Column(f"after_{after}", "int", _code(after)) for after in afters]
        data: dict[str, list[Any]] = {"before": [_code(before) for before in befores]}
        for after in afters:
            data[f"after_{after}"] = [
                None if before is None and after is None else self.pairs.get((before, after), 0)
                for before in befores
            ]
        note = "documents by their grade in A (rows) and in B (columns)"
        return Table("pairs", columns, data, notes=[note])

    def _topics(self) -> Table:
        names = {kind: kind.value.replace(" ", "_") for kind in self.counts()}
        by_topic: dict[str, dict[ChangeKind, int]] = {}
        for one in self.differences:
            by_topic.setdefault(one.topic, dict.fromkeys(ChangeKind, 0))[one.kind] += 1
        columns = [TOPIC, Column("same", "int"), *(Column(name, "int") for name in names.values())]
        rows = [
            {"topic": topic, "same": self.same[topic]} | {name: counts[kind] for kind, name in names.items()}
            for topic, counts in by_topic.items()
        ]
        note = f"{counted(len(by_topic), 'topic')} of {len(self.same):,} differ"
        return Table.of_rows("topics", columns, rows, notes=[note])

    def _runs(self, effect: OrderEffect) -> Table:
        before, after = np.asarray(effect.map_before), np.asarray(effect.map_after)
        is_defined = ~(np.isnan(before) | np.isnan(after))
        columns = {
            RUN: effect.tags,
            Column("map_before", "float", "MAP A"): before,
            Column("map_after", "float", "MAP B"): after,
            Column("change", "float"): after - before,
            Column("place_before", "int", "place A"): effect.places_before,
            Column("place_after", "int", "place B"): effect.places_after,
            REASON: [None if known else "no-relevant" for known in is_defined],
        }
        return Table.of_columns("runs", columns)

    def _order(self, effect: OrderEffect) -> Table:
        reason = effect.tau.reason
        columns = {
            Column("runs", "int"): [len(effect.tags)],
            Column("topics_before", "int", "topics A"): [effect.n_topics_before],
            Column("topics_after", "int", "topics B"): [effect.n_topics_after],
            Column("tau_b", "float", "tau-b"): [effect.tau.tau],
            Column("tau_ap", "float", "tau_AP"): [effect.tau_ap.tau],
            Column("tau_ap_reversed", "float", "tau_AP back"): [effect.tau_ap_reversed.tau],
            Column("swapped", "int"): [None if reason == "fewer-than-two" else effect.n_swapped],
            REASON: [reason],
        }
        return Table.of_columns("order", columns)


def _code(code: Code) -> str:
    return NOT_LISTED if code is None else str(code)
