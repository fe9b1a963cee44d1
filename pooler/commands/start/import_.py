"""Import topics, documents, runs and judgements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Collection as AnyCollection
from dataclasses import replace as with_changes
from difflib import get_close_matches
from functools import partial
from itertools import chain, count
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pooler.command import Lenient, Option, Place, Replace, RunList, Stored, TrackRules, command
from pooler.files import write_lines
from pooler.judge_kinds import warn_about_name
from pooler.messages import progress, say, warn
from pooler.reading.results import ids_by_title
from pooler.result import Done, frozen_settings
from pooler.sources import judgement_files
from pooler.sources.files import entries_of
from pooler.sources.meeting import Ids, add_unknown, check_topics, find_fit, watched
from pooler.tables import listed as listed_names
from store.errors import ArgumentError, ConflictError, FaultList, PoolerError
from store.formats import DocumentFormat, ImportFormat, JudgementsFormat, LabelsFormat, TopicFormat
from store.formats.irds import place_of
from store.formats.json_lines import json_line
from store.formats.judgements import read_judgements
from store.formats.labels import MAP_HINT, NO_GRADE_HINTS, read_labels
from store.formats.markup import Markup
from store.formats.prels import NOT_SAMPLED
from store.formats.scale import DecodedQrels, Meaning, Repeats, decode_rows, parse_codes, parse_map
from store.formats.texts import Fields, read_documents, read_guidelines
from store.formats.topics import read_topics
from store.model_judge import Answer
from store.records import ImportReport, JudgeKind, Pool, PoolEntry, State, StoredRun
from store.text import counted, look_alike_words, natural_key, sanitise_line

if TYPE_CHECKING:
    from pooler.reading.run_list import RunEntry
    from store.collection import Collection
    from store.event import JudgementEvent
    from store.formats.labels import Label
    from store.records import Judgement, Topic


_SHOWN = 25
"""Topics that are named one by one."""
_FIELDS_SHOWN = 8
_FILES_NAMED = 20
"""Up to this many run files, each gets its line."""
_REFUSED = ".refused.jsonl"


@command
def import_topics(
    collection: Stored,
    file: DataFile,
    *,
    form: Annotated[TopicFormat, Option("--as")] = "auto",
    replace: Replace = False,
) -> Done:
    """Import topics as tracks publish them: tags (SGML, XML), TSV, CSV, JSONL, or lines 1:title.

    Tags, columns of a table with a header, keys of JSON: topic (or id, qid, query_id, number, ...), title
    (or query, text), description, narrative. Other text becomes lines of the narrative, under its name.

    With --replace, a topic whose text is different gets a new version. Judgements keep the version they
    were made by, and `pooler status outdated --why topic` lists those made with another text.

    Example: pooler import topics topics.jsonl

    form : auto: recognised from the content.

    Raises
    ------
    FormatError
        With every fault of the file; nothing is imported then.
    ConflictError
        If a topic is there with another text, without `replace`.
    """
    path = place_of(str(file), "queries")
    topics = read_topics(path, format=form, doubt=_warner(path), tell=lambda words: say(f"{path}: {words}"))
    texts = {one.topic: one for one in collection.topics.all()}
    versions = {line.topic: line.version for line in collection.lists.topics()}
    if not collection.topics.listed():
        here = Ids("the collection's runs, pools and judgements", texts.keys())
        check_topics(here, Ids(path, {one.topic for one in topics}), shares="ours")
    report = collection.topics.add(topics, replace=replace)
    say(f"{path}: {report_words(report, 'topic')}")
    lines = {line.topic: line for line in collection.lists.topics()}
    changed = [topic for topic in topics if lines[topic.topic].version > versions.get(topic.topic, 1)]
    for topic in changed[:_SHOWN]:
        line = lines[topic.topic]
        words = f"topic {line.topic} has version {line.version} of its text"
        if _bare(texts[topic.topic]) == _bare(topic):
            words += ", which differs only in blanks and line ends"
        if line.older:
            words += f"; {counted(line.older, 'judgement')} made with another text"
        say(words)
    if len(changed) > _SHOWN:
        say(f"and {len(changed) - _SHOWN:,} more topics likewise: pooler show topics")
    if older := sum(lines[topic.topic].older for topic in changed):
        say(
            f"{counted(older, 'judgement')} made with another text than the current one:"
            " pooler status outdated --why topic"
        )
    return imported(collection, report)


def _bare(topic: Topic) -> tuple[list[str], ...]:
    return topic.title.split(), topic.description.split(), topic.narrative.split()


def _warner(file: str) -> Callable[[str], None]:
    return lambda words: warn(f"{file}: {words}")


@command
def import_docs(
    collection: Stored,
    files: Annotated[
        Sequence[str], Option("FILE...", f"{FILE_WORDS} irds:NAME is a dataset of ir_datasets.")
    ],
    *,
    form: Annotated[DocumentFormat, Option("--as")] = "auto",
    all_texts: Annotated[bool, Option("--all")] = False,
    fields: Annotated[str | None, Option("--fields NAME,...", default="as last time, at first none")] = None,
    markup: Annotated[Markup | None, Option(default="as last time, at first plain")] = None,
    replace: Replace = False,
) -> Done:
    """Import documents: JSONL, TREC <DOC> SGML, or TSV. Only texts of pooled documents are kept.

    Keys of JSONL and columns of TSV (with or without a header): docno (or id, doc_id, ...), title if there
    is one, text (or contents, body, abstract). Other keys, columns and elements outside <TEXT> are fields,
    kept where --fields names them; the others are listed.

    Each file is one transaction. Run again, also after an interruption, the command leaves out what is
    already stored.

    Example: pooler import docs documents.jsonl

    form : auto: recognised from the content.
    all_texts : Also store the text of documents that are in no pool.
    fields : Fields of a document to keep, and to show above its text in this order, as in
        url,date,author; - shows none.
    markup : Markup of the texts: judges read plain text, and one key shows the source.

    Raises
    ------
    FormatError
        With every fault of a file; the files before it are in.
    """
    chosen = None
    if fields is not None:
        chosen = [] if fields.strip() == "-" else [name.strip() for name in fields.split(",")]
        lower = [name.lower() for name in chosen]
        if not all(chosen) or len(set(lower)) < len(lower) or {"docno", "title", "text"} & {*lower}:
            requirement = "must be names of fields, each once, and none of docno, title and text"
            hint = "as in --fields url,date; --fields - shows none"
            raise ArgumentError("fields", requirement, fields, hint=hint)
    total = ImportReport()
    has_pool = bool(collection.pools.all())
    known = {*collection.documents.numbers()}
    known = known if known > collection.documents.listed() else set()
    before = collection.fields
    with progress("documents", len(files)) as advance:
        for file in (place_of(str(one), "docs") for one in files):
            found = Fields(collection.fields if chosen is None else chosen)
            records = read_documents(file, format=form, doubt=_warner(file), fields=found, markup=markup)
            records = watched(file, records, known)
            report = collection.documents.add(records, all_texts=all_texts, replace=replace, fields=chosen)
            total += report
            say(f"{file}: {report_words(report, 'document')}")
            if report.left_out or report.without_text:
                n_texts = report.total - report.left_out - report.without_text
                words = f"of its {counted(report.total, 'document')} {n_texts:,} are stored with their text"
                if report.without_text:
                    words += f", {report.without_text:,} have no text in the file"
                if report.left_out:
                    why = "they are in no pool" if has_pool else "there is no pool yet"
                    words += (
                        f", {report.left_out:,} only as a docno: {why} (import the file again after pooler"
                        " pool, or use --all)"
                    )
                say(f"{file}: {words}")
            if found.left_out:
                most = found.left_out.most_common(_FIELDS_SHOWN)
                names = [f"{sanitise_line(name)} ({counted(n, 'document')})" for name, n in most]
                n_more = len(found.left_out) - len(most)
                names += [f"and {n_more} more"] if n_more else []
                keep = ",".join([*collection.fields, *(sanitise_line(name) for name, _ in most)])
                say(f"{file}: fields left out: {', '.join(names)}; --fields {keep} keeps and shows them")
            if found.missing:
                warn(f"{file}: no document has {' or '.join(f'`{name}`' for name in found.missing)}")
            advance(1)
    if (now := collection.fields) != before:
        say(f"judges are shown above the text: {', '.join(now) or 'the title alone'}")
    return imported(collection, total)


@command
def import_runs(
    collection: Stored,
    files: Annotated[Sequence[str], Option("RUN...", FILE_WORDS)] = (),
    *,
    runs: RunList = None,
    search: Annotated[Sequence[str], Option("--search FILE.py")] = (),
    depth: Annotated[int, Option("--depth -N", least=1)] = 100,
    group: str = "",
    late: bool = False,
    lenient: Lenient = False,
    replace: Replace = False,
    rules: TrackRules = None,
) -> Done:
    """Import runs: run files, CSV of results, or a search function.

    Each file is one transaction. Run again, also after an interruption, the command leaves out runs that
    are already stored. With --rules of a track, nothing is imported if a run is refused.

    A run file has lines of topic, Q0, docno, rank, score, tag. CSV has a header: query (or topic, qid), docno
    (or document, doc_id), score or rank, and maybe run; a query may be named by its text, a topic's title.

    Example: pooler import runs runs/*.run --group bm25

    search : Call `search(query: str, k: int)` of this file with the title of each topic. It gives tuples,
        dicts or objects of docno, score and, if there are, title and text, the best first; texts are stored.
        The run is called as the file is; may be repeated.
    depth : N: k of --search.
    group : The organisation or kind of system of these runs.
    late : These runs do not feed pools (contributes = no).

    Raises
    ------
    FormatError
        With every fault of a file; the files before it are in.
    """
    entries = entries_of([*map(str, files)], None if runs is None else str(runs), group)
    titles = ids_by_title(collection.topics.all())
    entries = [with_changes(one, titles=titles, contributes=one.contributes and not late) for one in entries]
    if not (entries or search):
        raise PoolerError("no run file is named", hint="name run files, or a list of them with --runs FILE")
    if rules is not None and search:
        raise ArgumentError("rules", "is for run files, and --search makes none", None)
    if rules is not None:
        from pooler.commands.start.check import check_entries
        from pooler.reading.rules import RULES

        before = {run.tag: run.group for run in collection.runs.all()}
        found = check_entries(entries, rules=str(rules), submitted=before, lenient=lenient)
        if not found.ok:
            n_bad = sum(report.n_faults > 0 for report in found.reports)
            refused = f"{rules}: {n_bad:,} of {counted(len(entries), 'run')} refused"
            hint = "nothing is imported; `pooler check --rules` has a row for each run"
            raise PoolerError("\n".join([*found.faults, refused]), hint=hint)
        for report in found.reports:
            for one in report.warnings:
                if one.code in RULES:
                    warn(f"{report.path}: {one.message}")
    how: dict[str, bool] = {"lenient": lenient, "replace": replace}
    total = _import(collection, entries, **how) if entries else ImportReport()
    for file in search:
        about = {"group": group, "contributes": not late}
        total += _import_search(collection, file, depth, about, replace=replace)
    return imported(collection, total)


def _import_search(opened: Collection, file: str, depth: int, about: Any, *, replace: bool) -> ImportReport:
    """Store what a search function finds, and the texts that came with it: all of it, or nothing."""
    from pooler.sources.search import search_topics

    known = opened.topics.all()
    topics = [one for one in known if one.title.strip()]
    if not topics:
        hint = "pooler import topics FILE"
        raise PoolerError("the collection has no topic with a title, which is the query", hint=hint)
    if n_without := len(known) - len(topics):
        warn(f"{counted(n_without, 'topic')} without a title, which is the query: not asked for")
    run, documents = search_topics(file, topics, depth)
    if not replace and any(one.tag == run.tag and one.sha256 != run.sha256 for one in opened.runs.all()):
        hint = "--replace takes the new results"
        raise ConflictError(f"run `{run.tag}` exists with other results", hint=hint)
    texts = opened.documents.add(documents, all_texts=True, replace=replace)
    report = opened.runs.add(with_changes(run, **about), replace=replace)
    results = counted(sum(len(one.docnos) for one in run.rankings), "result")
    done = "replaced" if report.replaced else "added" if report.added else "nothing new, already there"
    say(f"{file}: run {run.tag}, {counted(len(run.rankings), 'topic')}, {results}: {done}")
    if documents:
        say(f"{file}: titles and texts: {report_words(texts, 'document')}")
    return report


def _import(opened: Collection, entries: Sequence[RunEntry], *, lenient: bool, replace: bool) -> ImportReport:
    from pooler.reading.check import first_of
    from pooler.reading.whole import read_numbered
    from store.content.rankings import NumberedDocuments

    stored, texts = Ids("the collection", opened.topics.listed()), opened.documents.listed()
    retrieved: set[str] = set()
    total, n_read, n_rankings = ImportReport(), 0, 0
    stale: list[str] = []
    kept_out: set[str] = set()
    numbered: defaultdict[int, NumberedDocuments] = defaultdict(NumberedDocuments)
    with progress("runs", len(entries)) as advance:
        coming = read_numbered(entries, lenient=lenient)
        try:
            for entry, run in zip(entries, coming, strict=True):
                documents, met = numbered[run.reader], run.docnos()
                topics = {one.topic for one in run.rankings}
                check_topics(Ids(entry.file, topics), stored, shares="ours")
                if texts:
                    retrieved.update(met)
                documents.extend(met)
                about = StoredRun(run.tag, entry.group, entry.contributes, run.sha256, run.file)
                report = opened.runs.add_packed(about, run.rankings, documents, replace=replace)
                total, n_read = total + report, n_read + 1
                n_rankings += len(run.rankings)
                if entry.contributes and not report.added:
                    kept_out.add(run.tag)
                if report.replaced:
                    stale += [
                        pool.name
                        for pool in opened.pools.all()
                        for made_of in pool.manifest.get("runs", ())
                        if made_of["tag"] == about.tag and made_of["sha256"] != about.sha256
                    ]
                if len(entries) <= _FILES_NAMED:
                    done = "replaced" if report.replaced else "nothing new, already there"
                    done = "added" if report.added else done
                    say(f"{entry.file}: run {run.tag}, {counted(len(run.rankings), 'topic')}: {done}")
                if against := [one.topic for one in run.rankings if one.is_contradicted]:
                    found = f"the stated ranks are against the scores in {first_of(against)}"
                    warn(f"{entry.file}: {found}: scores count, unless --order rank")
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
    return total


@command
def import_guidelines(
    collection: Stored, file: Annotated[str | Path, Option("FILE", "Markdown, UTF-8; - is stdin.")]
) -> Done:
    """Import a text as the newest version of the judging guidelines.

    Every judgement keeps the version it was made by. The text of the newest version again changes nothing.

    Example: pooler import guidelines guidelines.md
    """
    from store.judging.rejudging import Why

    newest, is_new = collection.guidelines.add(read_guidelines(str(file)))
    if not is_new:
        say(f"version {newest.version} of the guidelines already has this text")
    else:
        outdated = collection.rejudging.outdated(why=[Why.GUIDELINES]).rows
        say(f"version {newest.version} of the guidelines")
        if outdated:
            under = "under an older one" if newest.version > 1 else "before there were any"
            say(f"{counted(len(outdated), 'judgement')} made {under}: pooler status outdated")
    return Done(counts=frozen_settings(version=newest.version, is_new=is_new))


@command
def import_work(
    collection: Stored,
    files: Annotated[Sequence[str], Option("FILE...", "Files saved on pages: NAME.judged.jsonl.")],
    *,
    prefer: Literal["page", "stored"] | None = None,
) -> Done:
    """Bring back what was judged on the pages of `pooler export work`.

    It is done again as the page's judge, with the checks of the judging screen, at the page's times: all
    of a file, or on an error nothing of it, and the other files all the same. Importing a file twice
    changes nothing; a later file of the same page brings what is new. A decision on a document that left
    the pool, or is other judges' now, is stored as judged outside the pool. What cannot be stored at all
    goes to FILE.refused.jsonl, with the reason.

    Example: pooler import work ann.judged.jsonl

    prefer : What stands where a judge decided otherwise elsewhere since the page was made: what the page
        says, or what is stored. Both stay in the history.
    """
    n_new, n_stopped = 0, 0
    if doubt := collection.clock_doubt():
        warn(doubt)
    for file in files:
        try:
            done = collection.import_work(Path(file), prefer=prefer, keep=partial(_keep, f"{file}{_REFUSED}"))
        except (PoolerError, OSError) as error:
            if len(files) == 1:
                raise
            if isinstance(error, OSError):
                error = PoolerError(f"{file}: {error.strerror or error}")
            for line in error.lines():
                say(line)
            n_stopped += 1
            continue
        n_new += done.new
        there = f", {done.there:,} there already" if done.there else ""
        say(f"{file}: {counted(done.new, 'new event')} of `{done.judge}`{there}")
        if done.overruled:
            what = counted(done.overruled, "decision")
            say(f"{file}: {what} noted and taken back: what was stored stands")
        if done.outside:
            what = f"{counted(done.outside, 'document')} no longer `{done.judge}`'s to judge"
            warn(f"{file}: {what}: stored as judged outside the pool")
        if done.refused:
            what = counted(len(done.refused), "record")
            warn(f"{file}: {what} cannot be stored: see {file}{_REFUSED}")
    if n_stopped:
        say(f"{n_stopped:,} of {counted(len(files), 'file')} not imported, as said above")
    return Done(counts=frozen_settings(events=n_new, files_stopped=n_stopped), code=int(n_stopped > 0))


def _keep(place: str, refused: Iterable[dict[str, Any]]) -> None:
    write_lines(place, map(json_line, refused), private=True)


@command
def import_collection(
    collection: Place,
    folder: Annotated[str | Path, Option("DIR", "The folder that `pooler export collection` wrote.")],
) -> Done:
    """Make a new collection from an exported directory.

    The result is the collection that was exported. The hash of every file is checked first; after any
    fault nothing is made.

    Example: pooler import collection published --collection garden.db
    """
    from store.keeping.directory import read_directory

    where, counts = read_directory(str(collection), Path(folder), progress=progress)
    nouns = {name: name for name in ("topic", "document", "run", "pool", "judge")}
    nouns["judgement"] = "judgement event"
    what = ", ".join(counted(counts.get(name, 0), noun) for name, noun in nouns.items())
    say(f"made {where}: {what}")
    return Done(counts=frozen_settings(**{name: counts.get(name, 0) for name in nouns}))


FILE_WORDS = "- is stdin; .gz, .xz, .bz2, .zst are fine."
DataFile = Annotated[str | Path, Option("FILE", f"{FILE_WORDS} irds:NAME is a dataset of ir_datasets.")]


def imported(opened: Collection, report: ImportReport) -> Done:
    """Return what an import did; warn of documents that look like others."""
    if opened.look_alikes:
        warn(look_alike_words(opened.look_alikes))
    counts = {name: getattr(report, name) for name in ("added", "unchanged", "replaced")}
    return Done(counts=frozen_settings(**counts))


def report_words(report: ImportReport, noun: str) -> str:
    """Word what an import did; `noun` is one of the things imported."""
    if not report.changed:
        return f"nothing new, {counted(report.unchanged, noun)} already there"
    is_more = report.texts or report.described
    parts = [f"{counted(report.added, noun)} added"] if report.added or not is_more else []
    parts += [f"the text of {counted(report.texts, noun)} added"] if report.texts else []
    parts += [f"fields or markup of {counted(report.described, noun)} added"] if report.described else []
    parts += [f"{report.replaced:,} replaced"] if report.replaced else []
    parts += [f"{report.unchanged:,} already there"] if report.unchanged else []
    return ", ".join(parts)


_ROW_S = 10e-6
"""What a row costs while the file is written to, in seconds."""
_PATIENCE_S = 2.0
_NAMES_SHOWN = 8
_NO_DIGITS = str.maketrans("", "", "0123456789")


@command
def import_judgements(
    collection: Stored,
    file: DataFile,
    *,
    form: Annotated[ImportFormat | None, Option("--as", default="qrels")] = None,
    judge: Annotated[str | None, Option("--judge NAME")] = None,
    judge_column: Annotated[int | None, Option("--judge-column", least=2, most=2)] = None,
    columns: Annotated[str | None, Option("--columns NAME,...")] = None,
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

    Example: pooler import judgements crowd.txt --columns docno,judge,grade --topic G01

    form : qrels (topic iteration docno grade), ntcir2 (topic letter docno 0|1), ntcireval (topic docno
        L0..Ln), columns (see --columns), what `pooler export judgements` wrote: jsonl or tsv, of every
        judge; of a model, umbrela or answers (JSON lines with topic, docno, grade, and what is known
        besides); judged samples: xinfap (topic iteration docno stratum rel) or statap (topic docno rel method
        iprob).
    judge : The judge who made them.
    judge_column : The column of a qrels file that names the judge, instead of --judge.
    columns : What the columns of the file are, in order: docno and grade, and topic, iteration and judge
        where there are any; - skips a column.
    topic : With --columns: the topic of every line, where no column holds it.
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
    path = place_of(str(file), "qrels")
    there = [one.name for one in collection.judges.all()]
    if judge is not None:
        warn_about_name(judge)
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
        if no_grade := [one for one in mapping if one < min(0, *collection.scale.values)]:
            requirement = "must read a grade as another, and what is below every grade is none"
            raise ArgumentError("mapped", requirement, str(no_grade[0]), hint=NO_GRADE_HINTS[form])
        return _import_answers(
            collection, path, form, judge, mapping, allow_unknown=allow_unknown, replace=replace
        )
    sample = form if form == "xinfap" or form == "statap" else None
    reading = judgement_files.FileReading(
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
    source = judgement_files.read_source(path, reading, collection.scale, faults, judge=judge, sample=sample)
    n_of_format = faults.count
    if not allow_unknown:
        topics, docnos = ([getattr(row, name) for row in source.rows] for name in ("topic", "docno"))
        add_unknown(collection, faults, topics, docnos)
    n_unknown = faults.count - n_of_format
    sampled, scale = source.sample, collection.scale
    # -1 is no judgement of a sample, unless a statap file has it for a grade.
    if sampled is not None and not (sampled.kind == "statap" and NOT_SAMPLED in scale.values):
        meanings = {NOT_SAMPLED: Meaning.UNJUDGED} | meanings
    decoded = decode_rows(
        source.rows, scale, codes=meanings, mapping=mapping, repeats=repeats or "refuse", faults=faults
    )
    hints = [faults.hint] if faults.hint else []
    n_repeated = decoded.repeats.n_refused
    hints += [judgement_files.UNKNOWN_HINT] * (n_unknown > 0) + [judgement_files.REPEATS_HINT] * (
        n_repeated > 0
    )
    hints += [judgement_files.CODES_HINT] * (faults.count > n_of_format + n_unknown + n_repeated)
    faults.raise_if_any(hint="; ".join(hints))
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
    judgement_files.warn_of_oddities(path, source)
    judgement_files.say_repeats(path, decoded.repeats, repeats)
    judgement_files.warn_if_nothing_relevant(path, decoded)
    noun = "state" if decoded.states else "judgement"
    having = {name for name, rows in decoded.judged.items() if rows}
    having |= {one.judge for one in decoded.states}
    say(f"{path}: {report_words(report, noun)} of {_names_words(having or decoded.judged)}")
    for name in sorted(decoded.judged.keys() - {*there}):
        others = [one for one in there if one.translate(_NO_DIGITS) != name.translate(_NO_DIGITS)]
        if near := get_close_matches(name, others, 1, 0.8):
            warn(
                f"judge `{name}` is new, and not `{near[0]}`; pooler judges erase {quote(name)} takes it back"
            )
    skipped = sum(one.state is State.SKIPPED for one in decoded.states)
    for n, words in (
        (skipped, "were skipped"),
        (len(decoded.states) - skipped, "cannot be judged"),
        (decoded.n_not_pooled, "are not pooled, and are left out"),
    ):
        if n:
            say(f"{path}: {counted(n, 'line')} of documents that {words}")
    without = [name for name, rows in decoded.judged.items() if not rows]
    if without and len(decoded.judged) > 1:
        say(f"{path}: without a grade: {_names_words(without)}")
    if sampled is not None:
        not_sampled = {(one.topic, one.docno) for one in pool.entries if not one.sampled}
        n_sampled = len(pool.entries) - len(not_sampled)
        listed_too = f", {len(not_sampled):,} not sampled" if not_sampled else ""
        say(f"{path}: pool {pool.name}: {counted(n_sampled, 'document')} sampled{listed_too}")
        if n_open := len(decoded.listed.keys() - not_sampled):
            say(f"{path}: sampled but not judged: {counted(n_open, 'document')}")
    elif decoded.listed:
        lines = counted(decoded.n_unjudged_lines, "line")
        pairs = counted(len(decoded.listed), "document")
        say(f"{path}: {lines} of {pairs} pooled but not judged: pool {pool.name}")
    return imported(collection, report)


def _refuse_any(requirement: str, **given: object) -> None:
    for name, value in given.items():
        if value:
            got = ", ".join(value) if isinstance(value, list | tuple) else value
            raise ArgumentError(name, requirement, None if value is True else got)


def _say_wait(opened: Collection, n_rows: int) -> None:
    seconds = n_rows * _ROW_S
    if seconds > _PATIENCE_S and "://" not in opened.where:
        say(f"judges at work must wait some {seconds:.0f} s while {n_rows:,} rows are written")


def _names_words(names: AnyCollection[str]) -> str:
    if len(names) > _NAMES_SHOWN:
        return counted(len(names), "judge")
    return ", ".join(sorted(names))


def _pool_of_file(
    opened: Collection,
    file: str,
    source: judgement_files.GradesFile,
    decoded: DecodedQrels,
    *,
    judge: str | None,
    as_pool: str | None,
) -> Pool:
    """Make the pool that a file speaks of, under a name that is free, or the one asked for if that is.

    The round of a sample is its commonest iteration. What the pool has no place for, and is needed to write
    the file again, stands in the manifest: methods, and iterations of documents not judged.
    """
    sample = source.sample
    table = source.table if sample is None else sample.table
    manifest: dict[str, object] = {"strategy": "imported", "out_order": "docno", "file": Path(file).name}
    manifest["sha256"] = table.sha256
    if sample is None:
        entries: list[PoolEntry] = []
        position, topic_before = 0, ""
        pairs = decoded.pairs if as_pool else decoded.listed
        for topic, docno in sorted(pairs, key=lambda pair: (natural_key(pair[0]), pair[1])):
            position = position + 1 if topic == topic_before else 0
            topic_before = topic
            entries.append(PoolEntry(topic, docno, position))
        manifest["pairs"] = len(entries)
        pool = Pool(entries, manifest, as_pool or f"unjudged-{judge or Path(file).name}")
    else:
        n_rows = Counter(row.iteration for row in sample.rows)
        commonest = min(n_rows, key=lambda iteration: (-n_rows[iteration], iteration))
        # The iterations of judged documents are kept with their judgements.
        judged = {(qrel.topic, qrel.docno) for qrels in decoded.judged.values() for qrel in qrels}
        iterations = {
            (row.topic, row.docno): row.iteration
            for row in sample.rows
            if row.iteration != commonest and (row.topic, row.docno) not in judged
        }
        manifest["pairs"] = sum(entry.sampled for entry in sample.entries)
        manifest |= {"listed": len(sample.entries), "prels": sample.kind}
        if sample.methods:
            manifest["methods"] = judgement_files.values_by_pair(sample.methods)
        if iterations:
            manifest["iterations"] = judgement_files.values_by_pair(iterations)
        pool = Pool(sample.entries, manifest, as_pool or f"sample-{judge}", commonest)
    if as_pool:
        return pool
    # Numbered if other pools have its name: a file may come again, changed.
    taken = {one.name: None if one.withdrawn else one.manifest for one in opened.pools.all()}
    names = chain([pool.name], (f"{pool.name}-{number}" for number in count(2)))
    return with_changes(
        pool, name=next(one for one in names if taken.get(one, pool.manifest) == pool.manifest)
    )


def _import_every_judge(
    opened: Collection,
    file: str,
    form: JudgementsFormat,
    kind_given: str | None,
    *,
    allow_unknown: bool,
    replace: bool,
) -> Done:
    """Import a file of judgements of every judge: whole histories, which are never replaced, or states.

    Judges who are new are of `kind_given`, or of the kind that the file says, or human; the others stay what
    they are. `FormatError` has every fault of the file.
    """
    from store.judging.rejudging import KnownVersions
    from store.keeping.histories import import_histories, import_states

    faults = FaultList(file)
    grades = {None, *opened.scale.values}
    of_scale = ", ".join(map(str, opened.scale.values))
    read = read_judgements(file, form, faults)
    events, states = read.events, read.states
    rows: list[JudgementEvent | Judgement] = [*events, *states]
    for line, row in zip(read.lines, rows, strict=True):
        if row.grade not in grades:
            message = f"expected a grade of the scale ({of_scale}), got {row.grade}"
            faults.add(line, message, "grade")
    if any(fault.code == "header" for fault in faults.kept):
        faults.hint = judgement_files.COLUMNS_HINT
    topics, docnos = ([getattr(row, name) for row in rows] for name in ("topic", "docno"))
    is_unknown = not allow_unknown and add_unknown(opened, faults, topics, docnos)
    faults.raise_if_any(hint=judgement_files.UNKNOWN_HINT if is_unknown else None)
    if events and replace:
        requirement = "is for current judgements; a history is never changed, only continued"
        raise ArgumentError("replace", requirement, None)
    judges = dict.fromkeys(row.judge for row in rows)
    given = {name: read.kinds.get(name) if kind_given is None else JudgeKind(kind_given) for name in judges}
    there = {judge.name: judge.kind for judge in opened.judges.all() if judge.name in given}
    kinds = {name: one or JudgeKind.HUMAN for name, one in given.items()}
    _say_wait(opened, len(rows))
    with opened.being_filled() as inside:
        versions = KnownVersions(inside.session)
        n_unversioned = sum(versions.without_unknown(event) is not event for event in events)
        if events:
            report = import_histories(inside, events, kinds)
        else:
            report = import_states(inside, states, kinds, replace=replace)
    what = "event" if events else "judgement"
    say(f"{file}: {report_words(report, what)} of {counted(len(given), 'judge')}")
    without_kind = [name for name, kind in given.items() if kind is None and name not in there]
    if without_kind:
        names = [f"`{name}`" for name in sorted(without_kind)]
        warn(
            f"{file}: no line says of what kind {listed_names(names, _NAMES_SHOWN)} is; without --kind, new"
            " judges count as human"
        )
    who = "--kind" if kind_given is not None else file
    for name, kind in sorted(given.items()):
        if kind is not None and there.get(name, kind) is not kind:
            warn(f"judge `{name}` stays {there[name]}, as recorded here; {who} says {kind}")
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
    identity = next((one.identity for one in opened.models.all() if one.judge == judge), None)
    if identity is not None and identity.grade_map != mapping:
        if mapping:
            message = f"model judge `{judge}` is another one: its card has another map of grades"
            raise ConflictError(message, hint="the map of its card is used where none is given")
        mapping = {**identity.grade_map}
    faults = FaultList(file)
    read = read_labels(file, form, opened.scale, mapping, faults)
    hints = [faults.hint] if faults.hint else []
    codes = {fault.code for fault in faults.kept} & {"grade", "no-grade"}
    hints += ([MAP_HINT] if "grade" in codes else []) + ([NO_GRADE_HINTS[form]] if codes else [])
    if len(read.models) > 1:
        listed = ", ".join(read.models)
        faults.add(None, f"expected the answers of one model, got those of {len(read.models)}: {listed}")
    answers = _placed(opened, read.labels, judge, faults)
    topics = [one.topic for one in read.labels if one.topic is not None]
    docnos = [one.docno for one in read.labels if one.docno is not None]
    if not allow_unknown and add_unknown(opened, faults, topics, docnos):
        hints.append(judgement_files.UNKNOWN_HINT)
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
