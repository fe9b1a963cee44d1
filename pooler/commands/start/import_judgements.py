"""`pooler import judgements`: grades of one judge, of every judge, of a model, of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as AnyCollection
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as changed
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pooler.command import Lenient, Option, Replace, Stored, command
from pooler.commands.start.importing import DataFile, imported, report_words
from pooler.messages import progress, say, warn
from pooler.result import Done
from pooler.sources.judgement_files import (
    CODES_HINT,
    COLUMNS_HINT,
    REPEATS_HINT,
    UNKNOWN_HINT,
    FileReading,
    GradesFile,
    SampleFile,
    read_source,
    say_repeats,
    values_by_pair,
    warn_if_nothing_relevant,
    warn_of_oddities,
)
from pooler.sources.meeting import add_unknown
from store.errors import ArgumentError, ConflictError, FaultList
from store.formats import ImportFormat, JudgementsFormat, LabelsFormat
from store.formats.scale import DecodedQrels, Meaning, Repeats, decode_rows, parse_codes, parse_map
from store.records import JudgeKind, Pool, PoolEntry, State
from store.text import counted, natural_key

if TYPE_CHECKING:
    from store.collection import Collection
    from store.event import JudgementEvent
    from store.formats.labels import Label
    from store.model_judge import Answer
    from store.records import ImportReport, Judgement

_ROW_S = 10e-6
"""What a row costs while the file is written to, in seconds."""
_PATIENCE_S = 2.0
_NAMES_SHOWN = 8


@command
def import_judgements(
    collection: Stored,
    file: DataFile,
    *,
    form: Annotated[ImportFormat | None, Option("--as", default="qrels")] = None,
    judge: Annotated[str | None, Option("--judge NAME")] = None,
    judge_column: Annotated[int | None, Option("--judge-column", least=2, most=2)] = None,
    columns: Annotated[str | None, Option("--input-columns --columns NAME,...")] = None,
    topic: Annotated[str | None, Option("--topic T")] = None,
    kind: Annotated[
        Literal["human", "model", "imported", "adjudicator"] | None,
        Option(default="imported; of jsonl and tsv files, what the file says of judges who are new"),
    ] = None,
    codes: Annotated[Sequence[str], Option("--code CODE=MEANING")] = (),
    repeats: Annotated[Repeats | None, Option(default="refuse")] = None,
    mapped: Annotated[Sequence[str], Option("--map FROM=TO")] = (),
    as_pool: Annotated[str | None, Option("--as-pool NAME")] = None,
    lenient: Lenient = False,
    allow_unknown: bool = False,
    replace: Replace = False,
) -> Done:
    """Import judgements: a qrels file of one judge, or another file of grades.

    A judged sample also becomes a pool. A file is imported whole or not at all. Answers of a
    model that cannot be read become "cannot be judged", with the reason, never grade 0; `judges add --model`
    says first who the model is.

    Example: pooler import judgements judgements/strict.qrels --judge carol --kind human

    Example: pooler import judgements crowd.txt --input-columns docno,judge,grade --topic G01

    form : qrels (topic iteration docno grade), ntcir2 (topic letter docno 0|1), ntcireval (topic docno
        L0..Ln), columns (see --input-columns), what `pooler export judgements` wrote: jsonl or tsv, of every
        judge; of a model, umbrela or answers (JSON lines with topic, docno, grade, and what is known
        besides); judged samples: xinfap (topic iteration docno stratum rel) or statap (topic docno rel method
        iprob).
    judge : The judge who made them.
    judge_column : The column of a qrels file that names the judge, instead of --judge.
    columns : What the columns of the file are, in order: docno and grade, and topic, iteration and judge
        where there are any; - skips a column.
    topic : With --input-columns: the topic of every line, where no column holds it.
    kind : The kind of judge.
    codes : A code that is not a grade: unjudged (pooled but not judged: goes into a pool, without a
        judgement), not-pooled (the line is ignored), skipped, cannot or unjudgeable (cannot be judged); or
        grade, if it is one.
    repeats : Which line counts where lines of the same topic, docno and judge differ. Identical lines count
        once.
    mapped : Read one grade as another.
    as_pool : Also make a pool of this name from all lines of the file.
    allow_unknown : Accept topics and docnos that no text, run or pool of the collection has.

    Raises
    ------
    FormatError
        With every fault of the file: of its format, unknown topics and docnos, what is no grade.
    ConflictError
        If a judge has graded a document otherwise, without `replace`.
    """
    from store.formats.irds import place_of

    path = place_of(str(file), "qrels")
    if form == "umbrela" or form == "answers":
        _refuse_any(
            f"is for other files: {form} has one answer a line, of a model",
            judge_column=judge_column,
            columns=columns,
            topic=topic,
            codes=codes,
            repeats=repeats,
            as_pool=as_pool,
            lenient=lenient,
            kind=None if kind == "model" else kind,
        )
        if judge is None:
            raise ArgumentError("judge", "must name the model that answered", None)
        mapping = parse_map(mapped, {})
        return _import_answers(
            collection, path, form, judge, mapping, allow_unknown=allow_unknown, replace=replace
        )
    sample = form if form == "xinfap" or form == "statap" else None
    reading = FileReading(
        form=None if form == "xinfap" or form == "statap" else form,
        columns=columns,
        topic=topic,
        judge_column=judge_column,
        lenient=lenient,
    )
    reading.check(judge, sample)
    chosen = reading.chosen
    if chosen == "jsonl" or chosen == "tsv":
        _refuse_any(
            f"is for files of grades; a {chosen} file already says it",
            judge=judge,
            codes=codes,
            mapped=mapped,
            as_pool=as_pool,
            repeats=repeats,
            lenient=lenient,
        )
        return _import_every_judge(
            collection, path, chosen, kind, allow_unknown=allow_unknown, replace=replace
        )
    if sample is not None:
        _refuse_any("is for files of grades; a sample has each document once", repeats=repeats)
    meanings = parse_codes(codes)
    mapping = parse_map(mapped, meanings)
    faults = FaultList(path)
    source = read_source(path, reading, collection.scale, faults, judge=judge, sample=sample)
    if source.sample is not None:
        meanings = _unjudged_codes(source.sample, collection.scale.values) | meanings
    decoded = _decode(
        collection, source, faults, meanings, mapping, repeats=repeats, allow_unknown=allow_unknown
    )
    if judge is not None:
        decoded.judged.setdefault(judge, [])
    pool = _pool_of_file(collection, path, source, decoded, judge=judge, as_pool=as_pool)
    n_judgements = sum(map(len, decoded.judged.values()))
    _say_wait(collection, n_judgements)
    with progress("judgements", n_judgements) as advance:
        report = collection.judgements.add(
            decoded.judged,
            JudgeKind(kind or "imported"),
            pool=pool,
            states=decoded.states,
            replace=replace,
            advance=advance,
        )
    warn_of_oddities(path, source)
    say_repeats(path, decoded.repeats, repeats)
    warn_if_nothing_relevant(path, decoded)
    _say_judgements(path, source, decoded, report, pool)
    return imported(collection, report)


def _refuse_any(requirement: str, **given: object) -> None:
    for name, value in given.items():
        if value:
            raise ArgumentError(name, requirement, None if value is True else value)


def _say_judgements(
    file: str, source: GradesFile, decoded: DecodedQrels, report: ImportReport, pool: Pool
) -> None:
    noun = "state" if decoded.states else "judgement"
    having = {name for name, rows in decoded.judged.items() if rows}
    having |= {one.judge for one in decoded.states}
    say(f"{file}: {report_words(report, noun)} of {_names_words(having or decoded.judged)}")
    skipped = sum(one.state is State.SKIPPED for one in decoded.states)
    for n, words in (
        (skipped, "were skipped"),
        (len(decoded.states) - skipped, "cannot be judged"),
        (decoded.n_not_pooled, "are not pooled, and are left out"),
    ):
        if n:
            say(f"{file}: {counted(n, 'line')} of documents that {words}")
    without = [name for name, rows in decoded.judged.items() if not rows]
    if without and len(decoded.judged) > 1:
        say(f"{file}: without a grade: {_names_words(without)}")
    if source.sample is not None:
        not_sampled = {(one.topic, one.docno) for one in pool.entries if not one.sampled}
        n_sampled = len(pool.entries) - len(not_sampled)
        listed = f", {len(not_sampled):,} not sampled" if not_sampled else ""
        say(f"{file}: pool {pool.name}: {counted(n_sampled, 'document')} sampled{listed}")
        if n_open := len(decoded.listed.keys() - not_sampled):
            say(f"{file}: sampled but not judged: {counted(n_open, 'document')}")
    elif decoded.listed:
        lines = counted(decoded.n_unjudged_lines, "line")
        pairs = counted(len(decoded.listed), "document")
        say(f"{file}: {lines} of {pairs} pooled but not judged: pool {pool.name}")


def _say_wait(opened: Collection, n_rows: int) -> None:
    """Say how long judges wait while rows are written to a SQLite file, where that is for long."""
    seconds = n_rows * _ROW_S
    if seconds > _PATIENCE_S and "://" not in opened.where:
        say(f"judges at work must wait some {seconds:.0f} s while {n_rows:,} rows are written")


def _names_words(names: AnyCollection[str]) -> str:
    """List judges, or count them where they are many."""
    if len(names) > _NAMES_SHOWN:
        return counted(len(names), "judge")
    return ", ".join(sorted(names))


def _decode(
    opened: Collection,
    source: GradesFile,
    faults: FaultList,
    meanings: dict[int, Meaning],
    mapping: dict[int, int],
    *,
    repeats: Repeats | None,
    allow_unknown: bool,
) -> DecodedQrels:
    """Turn rows into judgements, or refuse the file with all that is wrong with it.

    `faults` holds those of its format, if any; unknown ids and grades join them.
    """
    n_of_format = faults.count
    if not allow_unknown:
        topics, docnos = ([getattr(row, name) for row in source.rows] for name in ("topic", "docno"))
        add_unknown(opened, faults, topics, docnos)
    n_unknown = faults.count - n_of_format
    decoded = decode_rows(
        source.rows, opened.scale, codes=meanings, mapping=mapping, repeats=repeats or "refuse", faults=faults
    )
    hints = [faults.hint] if faults.hint else []
    if n_unknown:
        hints.append(UNKNOWN_HINT)
    n_repeated = decoded.repeats.n_refused
    if n_repeated:
        hints.append(REPEATS_HINT)
    if faults.count > n_of_format + n_unknown + n_repeated:
        hints.append(CODES_HINT)
    faults.raise_if_any(hint="; ".join(hints))
    return decoded


def _pool_of_file(
    opened: Collection,
    file: str,
    source: GradesFile,
    decoded: DecodedQrels,
    *,
    judge: str | None,
    as_pool: str | None,
) -> Pool:
    """Make the pool that a file speaks of, under a name that is free, or the one asked for if that is."""
    if source.sample is not None:
        pool = _sampled_pool(source.sample, decoded, file, as_pool or f"sample-{judge}")
    else:
        pairs = decoded.pairs if as_pool else decoded.listed
        entries: list[PoolEntry] = []
        position, topic_before = 0, ""
        for topic, docno in sorted(pairs, key=lambda pair: (natural_key(pair[0]), pair[1])):
            position = position + 1 if topic == topic_before else 0
            topic_before = topic
            entries.append(PoolEntry(topic, docno, position))
        manifest = {
            "strategy": "imported",
            "out_order": "docno",
            "file": Path(file).name,
            "sha256": source.table.sha256,
            "pairs": len(entries),
        }
        pool = Pool(entries, manifest, as_pool or f"unjudged-{judge or Path(file).name}")
    if as_pool:
        return pool
    # Numbered if other pools have its name: a file may come again, changed.
    taken = {one.name: None if one.withdrawn else one.manifest for one in opened.pools.all()}
    names = chain([pool.name], (f"{pool.name}-{number}" for number in count(2)))
    return changed(pool, name=next(one for one in names if taken.get(one, pool.manifest) == pool.manifest))


def _unjudged_codes(sample: SampleFile, grades: Sequence[int]) -> dict[int, Meaning]:
    """Return the codes that are no judgement: -1, unless a statap file has it for a grade."""
    from store.formats.prels import NOT_SAMPLED

    is_grade = sample.kind == "statap" and NOT_SAMPLED in grades
    return {} if is_grade else {NOT_SAMPLED: Meaning.UNJUDGED}


def _sampled_pool(sample: SampleFile, decoded: DecodedQrels, file: str, name: str) -> Pool:
    """Make the pool of a prels file.

    Its round is the commonest iteration. What the pool has no place for, and is needed to write
    the file again, stands in the manifest: methods, and iterations of documents not judged.
    """
    n_rows = Counter(row.iteration for row in sample.rows)
    commonest = min(n_rows, key=lambda iteration: (-n_rows[iteration], iteration))
    # The iterations of judged documents are kept with their judgements.
    judged = {(qrel.topic, qrel.docno) for qrels in decoded.judged.values() for qrel in qrels}
    iterations = {
        (row.topic, row.docno): row.iteration
        for row in sample.rows
        if row.iteration != commonest and (row.topic, row.docno) not in judged
    }
    manifest: dict[str, object] = {
        "strategy": "imported",
        "out_order": "docno",
        "file": Path(file).name,
        "sha256": sample.table.sha256,
        "pairs": sum(entry.sampled for entry in sample.entries),
        "listed": len(sample.entries),
        "prels": sample.kind,
    }
    if sample.methods:
        manifest["methods"] = values_by_pair(sample.methods)
    if iterations:
        manifest["iterations"] = values_by_pair(iterations)
    return Pool(sample.entries, manifest, name, commonest)


def _import_every_judge(
    opened: Collection,
    file: str,
    form: JudgementsFormat,
    kind: str | None,
    *,
    allow_unknown: bool,
    replace: bool,
) -> Done:
    """Import a file of judgements of every judge: whole histories, which are never replaced, or states.

    Judges who are new are of `kind`, or of the kind that the file says, or human; the others stay what they
    are. `FormatError` has every fault of the file; a grade off the scale and an unknown topic or docno too.
    """
    from store.formats.judgements import read_judgements
    from store.judging.rejudging import KnownVersions
    from store.keeping.histories import import_histories, import_states

    faults = FaultList(file)
    grades = {None, *opened.scale.values}
    listed = ", ".join(map(str, opened.scale.values))
    read = read_judgements(file, form, faults)
    events, states = read.events, read.states
    rows: list[JudgementEvent | Judgement] = [*events, *states]
    for line, row in zip(read.lines, rows, strict=True):
        if row.grade not in grades:
            message = f"expected a grade of the scale ({listed}), got {row.grade}"
            faults.add(line, message, "grade")
    if any(fault.code == "header" for fault in faults.kept):
        faults.hint = COLUMNS_HINT
    topics, docnos = ([getattr(row, name) for row in rows] for name in ("topic", "docno"))
    is_unknown = not allow_unknown and add_unknown(opened, faults, topics, docnos)
    faults.raise_if_any(hint=UNKNOWN_HINT if is_unknown else None)
    if events and replace:
        requirement = "is for current judgements; a history is never changed, only continued"
        raise ArgumentError("replace", requirement, None)
    judges = dict.fromkeys(row.judge for row in rows)
    said = {name: read.kinds.get(name) if kind is None else JudgeKind(kind) for name in judges}
    there = {judge.name: judge.kind for judge in opened.judges.all() if judge.name in said}
    kinds = {name: one or JudgeKind.HUMAN for name, one in said.items()}
    _say_wait(opened, len(rows))
    with opened.being_filled() as inside:
        keys = inside.session, inside.topics, inside.documents
        versions = KnownVersions(inside.session)
        n_unversioned = sum(versions.without_unknown(event) is not event for event in events)
        if events:
            report = import_histories(*keys, events, kinds)
        else:
            report = import_states(*keys, states, kinds, replace=replace)
    what = "event" if events else "judgement"
    say(f"{file}: {report_words(report, what)} of {counted(len(said), 'judge')}")
    _say_kinds(file, said, there, is_option=kind is not None)
    if read.n_of_copies:
        say(
            f"{file}: {counted(read.n_of_copies, 'event')} of copies of a collection that came together, read"
            " by the states they left"
        )
    if any(event.sitting for event in events):
        say(f"{file}: the sittings that events belong to were not kept")
    if n_unversioned:
        say(
            f"{file}: {counted(n_unversioned, 'event')} with versions of guidelines or topics that are not"
            " here; the version numbers were not kept"
        )
    return imported(opened, report)


def _say_kinds(
    file: str, said: Mapping[str, JudgeKind | None], there: Mapping[str, JudgeKind], *, is_option: bool
) -> None:
    """Warn of judges without a kind, and of those that are of another kind here."""
    unsaid = [name for name, kind in said.items() if kind is None and name not in there]
    if unsaid:
        warn(
            f"{file}: no line says of what kind {_names_quoted(unsaid)} is; without --kind, new"
            " judges count as human"
        )
    who = "--kind" if is_option else file
    for name, kind in sorted(said.items()):
        if kind is not None and there.get(name, kind) is not kind:
            warn(f"judge `{name}` stays {there[name]}, as recorded here; {who} says {kind}")


def _names_quoted(names: Iterable[str]) -> str:
    listed = sorted(names)
    more = len(listed) - _NAMES_SHOWN
    words = ", ".join(f"`{name}`" for name in listed[:_NAMES_SHOWN])
    return words if more <= 0 else f"{words} and {more} more"


def _import_answers(
    opened: Collection,
    file: str,
    form: LabelsFormat,
    judge: str,
    mapping: dict[int, int],
    *,
    allow_unknown: bool,
    replace: bool,
) -> Done:
    """Import the answers of a model, or refuse the file with all that is wrong with it, by line."""
    from store.formats.labels import MAP_HINT, read_labels

    identity = next((one.identity for one in opened.models.all() if one.judge == judge), None)
    if identity is not None and identity.grade_map != mapping:
        if mapping:
            message = f"model judge `{judge}` is another one: its card has another map of grades"
            raise ConflictError(message, hint="the map of its card is used where none is given")
        mapping = {**identity.grade_map}
    faults = FaultList(file)
    read = read_labels(file, form, opened.scale, mapping, faults)
    hints = [faults.hint] if faults.hint else []
    hints += [MAP_HINT] if any(fault.code == "grade" for fault in faults.kept) else []
    if len(read.models) > 1:
        listed = ", ".join(read.models)
        faults.add(None, f"expected the answers of one model, got those of {len(read.models)}: {listed}")
    answers = _placed(opened, read.labels, judge, faults)
    topics = [one.topic for one in read.labels if one.topic is not None]
    docnos = [one.docno for one in read.labels if one.docno is not None]
    if not allow_unknown and add_unknown(opened, faults, topics, docnos):
        hints.append(UNKNOWN_HINT)
    faults.raise_if_any(hint="; ".join(hints))
    judged = [one for one in answers if one.is_judgement]
    report = opened.models.take(judge, answers, replace=replace)
    parts = [f"{report.added:,} added"]
    parts += [
        f"{n:,} {what}" for n, what in ((report.replaced, "replaced"), (report.unchanged, "unchanged")) if n
    ]
    say(f"{file}: {counted(len(judged), 'answer')} of {judge}: {', '.join(parts)}")
    reasons = Counter(one.unreadable.value for one in judged if one.unreadable is not None)
    if reasons:
        listed = ", ".join(f"{n:,} {reason}" for reason, n in sorted(reasons.items()))
        say(
            f"{file}: {counted(reasons.total(), 'answer')} cannot be read, so the documents"
            f" cannot be judged: {listed}"
        )
    if read.unread:
        say(f"{file}: not read: {', '.join(f'`{name}`' for name in read.unread)}")
    if failed := sum(label.failed for label in read.labels):
        say(f"{file}: {counted(failed, 'request')} failed on the way: no judgement")
    if chances := sum(one.probabilities is not None for one in judged):
        say(f"{file}: {counted(chances, 'answer')} with probabilities of grades")
    if identity is None:
        warn(
            f"model `{judge}` is not described; before its first answers, `pooler judges add {judge}"
            " --model CARD.toml` does that"
        )
    elif read.models and read.models != (identity.model,):
        warn(f"{file} names the model {read.models[0]}, and the card of `{judge}` says {identity.model}")
    return imported(opened, report)


def _placed(opened: Collection, labels: Sequence[Label], judge: str, faults: FaultList) -> list[Answer]:
    """Say which topic and document each label is of; by their texts where it names none."""
    from store.judging.models import text_key
    from store.model_judge import Answer

    needs_texts = any(one.topic is None or one.docno is None for one in labels)
    texts = opened.models.text_keys() if needs_texts else None
    found: list[Answer] = []
    lines: dict[tuple[str, str], int] = {}
    for label in labels:
        names: list[str] = []
        for noun, name, text in (("topic", label.topic, label.query), ("docno", label.docno, label.passage)):
            if name is None and texts is not None:
                keys = texts.topics if noun == "topic" else texts.documents
                key = text_key(text)
                name = keys.get(key)
                if name is None:
                    what = "query" if noun == "topic" else "passage"
                    how_many = "several have" if key in keys else "none has"
                    faults.add(
                        label.line, f"expected the {what} of one {noun}, and {how_many} this text", "text"
                    )
                    break
            names.append(str(name))
        if len(names) < 2:
            continue
        pair = names[0], names[1]
        answer = Answer(judge, *pair, **label.values)
        if answer.is_judgement:
            if (first := lines.get(pair)) is not None:
                message = f"expected topic {pair[0]} `{pair[1]}` once, and line {first} has it, too"
                faults.add(label.line, message, "duplicate")
                continue
            lines[pair] = label.line
        found.append(answer)
    return found
