"""`pooler import`: topics, documents, runs, judgements."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Collection as AnyCollection
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.collect.exchange import (
    AsOption,
    FromOption,
    file_or_dataset,
    import_file,
    importing,
    left_out_words,
    parse_fields,
    report_words,
    sampled_pool,
    say_sample,
    say_wait,
    text_words,
    unjudged_codes,
    whole_collection,
)
from pooler.cli.collect.identity import IdentityOptions, import_labels
from pooler.cli.collect.import_work import work
from pooler.cli.collect.judges import KindName
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AllowUnknownOption,
    CollectionOption,
    LenientOption,
    RepeatsOption,
    ReplaceOption,
    RunsOption,
    TopicOption,
    TrackRulesOption,
)
from pooler.cli.signature import argument, command, option
from pooler.messages import progress, say, warn
from pooler.results.judgement_files import (
    CODES_HINT,
    REPEATS_HINT,
    UNKNOWN_HINT,
    FileReading,
    GradesFile,
    read_source,
    say_repeats,
    warn_if_nothing_relevant,
    warn_of_oddities,
)
from pooler.results.meeting import Ids, add_unknown, check_met, find_fit, watched
from pooler.results.named_runs import entries_of
from store.errors import ArgumentError, FaultList, PoolerError
from store.formats import DocumentFormat, ImportFormat, TopicFormat
from store.readable import Markup
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pooler.reading.run_list import RunEntry
    from store.collection import Collection
    from store.formats.codes import DecodedQrels, Meaning, Repeats
    from store.looking.lists import TopicLine
    from store.records import ImportReport, Pool, StoredRun, Topic

_NAMES_SHOWN = 8
_FILE_HELP = "- is stdin; .gz, .xz, .bz2, .zst are fine."
FileArgument = Annotated[str | None, argument("FILE", _FILE_HELP)]


def judgements(
    file: FileArgument = None,
    dataset: FromOption = None,
    form: Annotated[
        ImportFormat | None,
        option(
            "--format",
            "qrels (topic iteration docno grade; the default), ntcir2 (topic letter docno 0|1), ntcireval"
            " (topic docno L0..Ln), columns (see --input-columns), what `pooler export judgements` wrote:"
            " jsonl or tsv, of every judge; of a model, umbrela or answers (JSON lines with topic, docno,"
            " grade, and what is known besides).",
        ),
    ] = None,
    kind_of_sample: AsOption = None,
    judge: Annotated[str | None, option("--judge NAME", "The judge who made them.")] = None,
    judge_column: Annotated[
        int | None,
        option(
            "--judge-column",
            "The column of a qrels file that names the judge, instead of --judge.",
            min=2,
            max=2,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        option(
            "--input-columns --columns NAME,...",
            "What the columns of the file are, in order: docno and grade, and topic, iteration and judge"
            " where there are any; - skips a column.",
        ),
    ] = None,
    topic: TopicOption = None,
    kind: Annotated[
        KindName | None,
        option(
            "--kind",
            "The kind of judge. Default: imported; for jsonl and tsv files, what the file says, and only for"
            " judges who are new.",
        ),
    ] = None,
    codes: Annotated[
        list[str] | None,
        option(
            "--code CODE=MEANING",
            "A code that is not a grade: unjudged (pooled but not judged: goes into a pool, without a"
            " judgement), not-pooled (the line is ignored), skipped, cannot or unjudgeable (cannot be"
            " judged); or grade, if it is one.",
        ),
    ] = None,
    repeats: RepeatsOption = None,
    mapped: Annotated[list[str] | None, option("--map FROM=TO", "Read one grade as another.")] = None,
    as_pool: Annotated[
        str | None, option("--as-pool NAME", "Also make a pool of this name from all lines of the file.")
    ] = None,
    lenient: LenientOption = False,
    allow_unknown: AllowUnknownOption = False,
    replace: ReplaceOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    stated: IdentityOptions,
) -> None:
    """Import judgements: a qrels file of one judge, or another file of grades.

    With --as it is a prels file, a judged sample. A file is imported whole or not at all. Answers of a
    model that cannot be read become "cannot be judged", with the reason, never grade 0; --model and the
    options below it describe the model.

    Example: pooler import judgements judgements/strict.qrels --judge carol --kind human

    Example: pooler import judgements crowd.txt --input-columns docno,judge,grade --topic G01
    """
    from store.formats.codes import Meaning, parse_codes, parse_map
    from store.records import JudgeKind

    file = file_or_dataset(file, dataset, "qrels")
    if form == "umbrela" or form == "answers":
        for name, value in (
            ("--as", kind_of_sample),
            ("--judge-column", judge_column),
            ("--input-columns", columns),
            ("--topic", topic),
            ("--code", codes),
            ("--repeats", repeats),
            ("--as-pool", as_pool),
            ("--lenient", lenient or None),
            ("--kind", None if kind in (None, "model") else kind),
        ):
            if value:
                requirement = f"is for other files: {form} has one answer a line, of a model"
                raise ArgumentError(name, requirement, value)
        if judge is None:
            raise ArgumentError("--judge", "must name the model that answered", None)
        mapping = parse_map(mapped or [], {})
        with importing(collection) as opened:
            import_labels(
                opened,
                file,
                form,
                judge=judge,
                stated=stated,
                mapping=mapping,
                allow_unknown=allow_unknown,
                replace=replace,
            )
        return
    stated.refuse_any(f"with --format {form or 'qrels'}")
    reading = FileReading(form=form, columns=columns, topic=topic, judge_column=judge_column, lenient=lenient)
    wanted = reading.options(judge, kind_of_sample)
    if wanted.form == "jsonl" or wanted.form == "tsv":
        for name, value in (
            ("--judge", judge),
            ("--code", codes),
            ("--map", mapped),
            ("--as-pool", as_pool),
            ("--repeats", repeats),
            ("--lenient", lenient or None),
        ):
            if value:
                requirement = f"is for files of grades; a {wanted.form} file already says it"
                raise ArgumentError(name, requirement, value)
        with importing(collection) as opened:
            import_file(opened, file, wanted.form, kind=kind, allow_unknown=allow_unknown, replace=replace)
        return
    if repeats is not None and kind_of_sample is not None:
        requirement = "is for files of grades; a sample has each document once"
        raise ArgumentError("--repeats", requirement, str(repeats))
    meanings = parse_codes(codes or [])
    mapping = parse_map(mapped or [], meanings)
    faults = FaultList(file)
    with importing(collection) as opened:
        source = read_source(file, wanted, opened.scale, faults)
        if source.sample is not None:
            unsampled = unjudged_codes(source.sample, opened.scale.values)
            meanings = dict.fromkeys(unsampled, Meaning.UNJUDGED) | meanings
        decoded = _decode(
            opened, source, faults, meanings, mapping, repeats=repeats, allow_unknown=allow_unknown
        )
        if judge is not None:
            decoded.judged.setdefault(judge, [])
        pool = _pool_of_file(opened, file, source, decoded, judge=judge, as_pool=as_pool)
        n_judgements = sum(map(len, decoded.judged.values()))
        say_wait(opened, n_judgements)
        with progress("judgements", n_judgements) as advance:
            report = opened.judgements.add(
                decoded.judged,
                JudgeKind(kind or "imported"),
                pool=pool,
                states=decoded.states,
                replace=replace,
                advance=advance,
            )
        warn_of_oddities(file, source)
        say_repeats(file, decoded.repeats, repeats)
        warn_if_nothing_relevant(file, decoded)
        _say_judgements(file, source, decoded, report, pool)


def _say_judgements(
    file: str, source: GradesFile, decoded: DecodedQrels, report: ImportReport, pool: Pool
) -> None:
    noun = "state" if decoded.states else "judgement"
    having = {name for name, rows in decoded.judged.items() if rows}
    having |= {one.judge for one in decoded.states}
    say(f"{file}: {report_words(report, noun)} of {_names_words(having or decoded.judged)}")
    _say_others(file, decoded)
    if source.sample is not None:
        say_sample(file, pool, decoded)
    elif decoded.unjudged:
        lines = counted(decoded.n_unjudged_lines, "line")
        pairs = counted(len(decoded.unjudged), "document")
        say(f"{file}: {lines} of {pairs} pooled but not judged: pool {pool.name}")


def _say_others(file: str, decoded: DecodedQrels) -> None:
    from store.records import State

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
    from store.formats.codes import decode_rows

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


def _names_words(names: AnyCollection[str]) -> str:
    if len(names) > _NAMES_SHOWN:
        return counted(len(names), "judge")
    return ", ".join(sorted(names))


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
    from dataclasses import replace

    from store.records import Pool, PoolEntry
    from store.text import natural_key

    if source.sample is not None:
        pool = sampled_pool(source.sample, decoded, file, as_pool or f"sample-{judge}")
    else:
        pairs = decoded.pairs if as_pool else decoded.unjudged
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
    return pool if as_pool else replace(pool, name=_free_name(opened, pool))


def _free_name(opened: Collection, pool: Pool) -> str:
    """Return the pool's name, numbered if other pools have it: a file may come again, changed."""
    taken = {one.name: None if one.withdrawn else one.manifest for one in opened.pools.all()}
    names = chain([pool.name], (f"{pool.name}-{number}" for number in count(2)))
    return next(name for name in names if taken.get(name, pool.manifest) == pool.manifest)


app = typer.Typer(help="Import topics, documents, runs and judgements.", no_args_is_help=True)
app.command("judgements")(command(judgements))
app.command("collection")(whole_collection)
app.command("work")(work)


@app.command("guidelines")
def guidelines(
    file: Annotated[str, argument("FILE", "Markdown, UTF-8; - is stdin.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Import a text as the newest version of the judging guidelines.

    Every judgement keeps the version it was made by. The text of the newest version again changes nothing.

    Example: pooler import guidelines guidelines.md
    """
    from store.collection import Collection
    from store.formats.documents import read_guidelines
    from store.judging.rejudging import Why

    text = read_guidelines(file)
    with Collection(collection) as opened:
        newest, is_new = opened.guidelines.add(text)
        outdated = opened.rejudging.outdated(why=[Why.GUIDELINES]).rows if is_new else ()
    if not is_new:
        say(f"version {newest.version} of the guidelines already has this text")
        return
    say(f"version {newest.version} of the guidelines")
    if outdated:
        say(f"{counted(len(outdated), 'judgement')} made under an older one: pooler status outdated")


@app.command("topics")
def topics(
    file: FileArgument = None,
    dataset: FromOption = None,
    fmt: Annotated[TopicFormat, option("--format", "Default: recognised from the content.")] = "auto",
    replace: ReplaceOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Import topics: TREC <top> SGML, TREC-COVID XML, TSV, or JSONL.

    Columns of TSV (with or without a header) and keys of JSONL: topic (or id, qid, query_id, number,
    ...), title (or query, text), description, narrative.

    With --replace, a topic whose text is different gets a new version. Judgements keep the version they
    were made by, and `pooler status outdated --why topic` lists those made with another text.

    Example: pooler import topics topics.jsonl
    """
    from store.collection import Collection
    from store.formats.topics import read_topics

    file = file_or_dataset(file, dataset, "queries")
    with Collection(collection) as opened:
        read = read_topics(file, format=fmt, doubt=_warner(file))
        import_topics(opened, file, read, replace=replace)


@app.command("docs")
def docs(
    files: Annotated[list[str] | None, argument("FILE...", _FILE_HELP)] = None,
    dataset: FromOption = None,
    fmt: Annotated[DocumentFormat, option("--format", "Default: recognised from the content.")] = "auto",
    all_texts: Annotated[
        bool, option("--all", "Also store the text of documents that are in no pool.")
    ] = False,
    fields: Annotated[
        str | None,
        option(
            "--fields NAME,...",
            "Fields of a document to keep, and to show above its text in this order, as in"
            " url,date,author; - shows none. Default: as last time, at first none.",
        ),
    ] = None,
    markup: Annotated[
        Markup | None,
        option(
            "--markup",
            "Markup of the texts: judges read plain text, and one key shows the source. Default: as last"
            " time, at first plain.",
        ),
    ] = None,
    replace: ReplaceOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Import documents: JSONL, TREC <DOC> SGML, or TSV. Only texts of pooled documents are kept.

    Keys of JSONL and columns of TSV (with or without a header): docno (or id, doc_id, ...), title if there
    is one, text (or contents, body, abstract). Other keys, columns and elements outside <TEXT> are fields,
    kept where --fields names them; the others are listed.

    Each file is one transaction. Run again, also after an interruption, the command leaves out what is
    already stored.

    Example: pooler import docs documents.jsonl
    """
    from store.formats.documents import Fields, read_documents

    if not files or dataset is not None:
        files = [file_or_dataset(files[0] if files else None, dataset, "docs")]
    chosen = None if fields is None else parse_fields(fields)
    with importing(collection) as opened, progress("documents", len(files)) as advance:
        has_pool = bool(opened.pools.all())
        known = {*opened.documents.numbers()}
        known = known if known > opened.documents.listed() else set()
        before = opened.fields
        for file in files:
            found = Fields(opened.fields if chosen is None else chosen)
            records = read_documents(file, format=fmt, doubt=_warner(file), fields=found, markup=markup)
            records = watched(file, records, known)
            report = opened.documents.add(records, all_texts=all_texts, replace=replace, fields=chosen)
            say(f"{file}: {report_words(report, 'document')}")
            if words := text_words(report, has_pool=has_pool):
                say(f"{file}: {words}")
            if found.left_out:
                say(f"{file}: {left_out_words(found.left_out, opened.fields)}")
            if found.missing:
                warn(f"{file}: no document has {' or '.join(f'`{name}`' for name in found.missing)}")
            advance(1)
        if (now := opened.fields) != before:
            say(f"judges are shown above the text: {', '.join(now) or 'the title alone'}")


@app.command("runs")
def runs(
    files: Annotated[list[str] | None, argument("RUN...", _FILE_HELP)] = None,
    listed: RunsOption = None,
    group: Annotated[str, option("--group", "The organisation or kind of system of these runs.")] = "",
    late: Annotated[bool, option("--late", "These runs do not feed pools (contributes = no).")] = False,
    lenient: LenientOption = False,
    replace: ReplaceOption = False,
    rules: TrackRulesOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Import run files (topic Q0 docno rank score tag).

    Each file is one transaction. Run again, also after an interruption, the command leaves out runs that
    are already stored. With --rules of a track, nothing is imported if a run is refused.

    Example: pooler import runs runs/*.run --group bm25
    """
    from dataclasses import replace as with_changes

    entries = entries_of(files or [], listed, group)
    if late:
        entries = [with_changes(entry, contributes=False) for entry in entries]
    if not entries:
        message = "no run file is named"
        raise PoolerError(message, hint="name run files, or a list of them with --runs FILE")
    with importing(collection) as opened:
        if rules is not None:
            _refuse_by_rules(opened, rules, entries, lenient=lenient)
        import_runs(opened, entries, lenient=lenient, replace=replace)


def _refuse_by_rules(opened: Collection, rules: str, entries: Sequence[RunEntry], *, lenient: bool) -> None:
    from pooler.commands.start.check import check_entries
    from pooler.reading.rules import RULES

    before = {run.tag: run.group for run in opened.runs.all()}
    found = check_entries(entries, rules=rules, submitted=before, lenient=lenient)
    if not found.ok:
        n_bad = sum(report.n_faults > 0 for report in found.reports)
        message = "\n".join([*found.faults, f"{rules}: {n_bad:,} of {counted(len(entries), 'run')} refused"])
        raise PoolerError(message, hint="nothing is imported; `pooler check --rules` has a row for each run")
    for report in found.reports:
        for one in report.warnings:
            if one.code in RULES:
                warn(f"{report.path}: {one.message}")


def _warner(file: str) -> Callable[[str], None]:
    return lambda words: warn(f"{file}: {words}")


FILES_NAMED = 20
"""Up to this many run files, each gets its line."""


def import_runs(opened: Collection, entries: Sequence[RunEntry], *, lenient: bool, replace: bool) -> None:
    """Import run files in their order, one transaction a file, and say what was done."""
    from pooler.reading.whole import n_readers, read_numbered
    from store.content.rankings import NumberedDocuments
    from store.records import ImportReport, StoredRun

    stored, texts = Ids("the collection", opened.topics.listed()), opened.documents.listed()
    retrieved: set[str] = set()
    total, n_read, n_rankings = ImportReport(), 0, 0
    stale: list[str] = []
    kept_out: set[str] = set()
    numbered: defaultdict[int, NumberedDocuments] = defaultdict(NumberedDocuments)
    with progress("runs", len(entries)) as advance, tempfile.TemporaryDirectory(prefix="pooler-") as folder:
        coming = read_numbered(entries, folder, lenient=lenient, workers=n_readers(entries))
        try:
            for entry, run in zip(entries, coming, strict=True):
                documents, met = numbered[run.reader], run.docnos()
                check_met("topic", Ids(entry.file, {*run.topics}), stored, shares="ours")
                if texts:
                    retrieved.update(met)
                documents.extend(met)
                entry = entry.with_header(run.header)
                about = StoredRun(run.tag, entry.group, entry.contributes, run.sha256, run.file, run.header)
                report = opened.runs.add_packed(about, run.rankings(), documents, replace=replace)
                run.discard()
                total, n_read = total + report, n_read + 1
                n_rankings += len(run.topics)
                if entry.contributes and not report.added:
                    kept_out.add(run.tag)
                if report.replaced:
                    stale += _pools_of_another_file(opened, about)
                if len(entries) <= FILES_NAMED:
                    say(f"{entry.file}: run {run.tag}, {counted(len(run.topics), 'topic')}: {_done(report)}")
                advance(1)
        except PoolerError:
            if n_read or len(entries) > 1:
                say(f"stopped at {entries[n_read].file}: {n_read:,} of {len(entries):,} files are in")
            raise
        finally:
            coming.close()
    say(
        f"{counted(len(entries), 'run')}: {total.added} added, {total.unchanged} already there,"
        f" {total.replaced} replaced; {counted(n_rankings, 'ranking')}"
    )
    if bare := retrieved - texts:
        words = f"{len(bare):,} of {counted(len(retrieved), 'document')} of these runs have no text"
        fit = find_fit(sorted(bare), texts) if bare == retrieved else None
        say(words) if fit is None else warn(f"{words}; {fit}")
    left_out = {run.tag for run in opened.runs.all() if not run.contributes} & kept_out
    if left_out:
        names = ", ".join(f"`{tag}`" for tag in sorted(left_out)[:10])
        warn(f"{names}: already there, and left out of pools; --replace lets a run contribute")
    for name in dict.fromkeys(stale):
        warn(
            f"pool `{name}` was made from another file of a run that is replaced now; pooler pool"
            f" --replace --name {name} --dry-run says what the new one changes"
        )


def _pools_of_another_file(opened: Collection, run: StoredRun) -> list[str]:
    return [
        pool.name
        for pool in opened.pools.all()
        for made_of in pool.manifest.get("runs", ())
        if made_of["tag"] == run.tag and made_of["sha256"] != run.sha256
    ]


def _done(report: ImportReport) -> str:
    if report.added:
        return "added"
    return "replaced" if report.replaced else "nothing new, already there"


_SHOWN = 25
"""Topics that are named one by one."""


def import_topics(opened: Collection, file: str, topics: Sequence[Topic], *, replace: bool) -> None:
    """Add topics, and say which got a new version of their text, and what rests on older ones."""
    texts = {one.topic: one for one in opened.topics.all()}
    versions = {line.topic: line.version for line in opened.lists.topics()}
    if not opened.topics.listed():
        here = Ids("the collection's runs, pools and judgements", texts.keys())
        check_met("topic", here, Ids(file, {one.topic for one in topics}), shares="ours")
    report = opened.topics.add(topics, replace=replace)
    say(f"{file}: {report_words(report, 'topic')}")
    lines = {line.topic: line for line in opened.lists.topics()}
    changed = [topic for topic in topics if lines[topic.topic].version > versions.get(topic.topic, 1)]
    for topic in changed[:_SHOWN]:
        say(_change(lines[topic.topic], texts[topic.topic], topic))
    if len(changed) > _SHOWN:
        say(f"and {len(changed) - _SHOWN:,} more topics likewise: pooler show topics")
    older = sum(lines[topic.topic].older for topic in changed)
    if older:
        say(
            f"{counted(older, 'judgement')} made with another text than the current one:"
            " pooler status outdated --why topic"
        )


def _change(line: TopicLine, old: Topic, new: Topic) -> str:
    words = f"topic {line.topic} has version {line.version} of its text"
    if _bare(old) == _bare(new):
        words += ", which differs only in blanks and line ends"
    if line.older:
        words += f"; {counted(line.older, 'judgement')} made with another text"
    return words


def _bare(topic: Topic) -> tuple[list[str], ...]:
    return topic.title.split(), topic.description.split(), topic.narrative.split()
