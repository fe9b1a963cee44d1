"""Import topics, documents, runs and judgements."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace as with_changes
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pooler.command import Lenient, Option, Place, Replace, RunList, Stored, TrackRules, command
from pooler.commands.start.importing import FILE_WORDS, DataFile, imported, report_words
from pooler.files import write_lines
from pooler.messages import progress, say, warn
from pooler.result import Done, frozen_settings
from pooler.sources.files import entries_of
from pooler.sources.meeting import Ids, check_topics, find_fit, watched
from store.errors import ArgumentError, PoolerError
from store.formats import DocumentFormat, TopicFormat
from store.formats.markup import Markup
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from pooler.reading.run_list import RunEntry
    from store.collection import Collection
    from store.keeping.work import WorkDone
    from store.records import ImportReport, StoredRun, Topic

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
    """Import topics: TREC <top> SGML, TREC-COVID XML, TSV, or JSONL.

    Columns of TSV (with or without a header) and keys of JSONL: topic (or id, qid, query_id, number,
    ...), title (or query, text), description, narrative.

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
    from store.formats.irds import place_of
    from store.formats.texts import read_topics

    path = place_of(str(file), "queries")
    topics = read_topics(path, format=form, doubt=_warner(path))
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
    from store.formats.irds import place_of
    from store.formats.texts import Fields, read_documents
    from store.records import ImportReport

    chosen = None if fields is None else _field_names(fields)
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
            if words := text_words(report, has_pool=has_pool):
                say(f"{file}: {words}")
            if found.left_out:
                say(f"{file}: {left_out_words(found.left_out, collection.fields)}")
            if found.missing:
                warn(f"{file}: no document has {' or '.join(f'`{name}`' for name in found.missing)}")
            advance(1)
    if (now := collection.fields) != before:
        say(f"judges are shown above the text: {', '.join(now) or 'the title alone'}")
    return imported(collection, total)


def _field_names(text: str) -> list[str]:
    """Read names of fields with commas between them; ``-`` = none."""
    names = [] if text.strip() == "-" else [name.strip() for name in text.split(",")]
    lower = [name.lower() for name in names]
    if not all(names) or len(set(lower)) < len(lower) or {"docno", "title", "text"} & {*lower}:
        requirement = "must be names of fields, each once, and none of docno, title and text"
        hint = "as in --fields url,date; --fields - shows none"
        raise ArgumentError("fields", requirement, text, hint=hint)
    return names


def text_words(report: ImportReport, *, has_pool: bool) -> str | None:
    """Word how many documents of a file are stored with their text; ``None`` = all are.

    Examples
    --------
    >>> from store.records import ImportReport
    >>> text_words(ImportReport(added=106, left_out=32), has_pool=True)
    'of its 106 documents 74 are stored with their text, 32 only as a docno: they are in no pool...'
    """
    if not report.left_out and not report.without_text:
        return None
    n_texts = report.total - report.left_out - report.without_text
    words = f"of its {counted(report.total, 'document')} {n_texts:,} are stored with their text"
    if report.without_text:
        words += f", {report.without_text:,} have no text in the file"
    if report.left_out:
        why = "they are in no pool" if has_pool else "there is no pool yet"
        words += (
            f", {report.left_out:,} only as a docno: {why} (import the file again after pooler pool,"
            " or use --all)"
        )
    return words


def left_out_words(left_out: Counter[str], kept: Sequence[str]) -> str:
    """Say which fields of documents were not kept, the most frequent first, and how they would be.

    Examples
    --------
    >>> from collections import Counter
    >>> left_out_words(Counter(date=106, url=1), ["author"])
    'fields left out: date (106 documents), url (1 document); --fields author,date,url keeps and shows them'
    """
    most = left_out.most_common(_FIELDS_SHOWN)
    listed = [f"{sanitise_line(name)} ({counted(n, 'document')})" for name, n in most]
    listed += [f"and {len(left_out) - len(most)} more"] if len(left_out) > len(most) else []
    names = ",".join([*kept, *(sanitise_line(name) for name, _ in most)])
    return f"fields left out: {', '.join(listed)}; --fields {names} keeps and shows them"


@command
def import_runs(
    collection: Stored,
    files: Annotated[Sequence[str], Option("RUN...", FILE_WORDS)] = (),
    *,
    runs: RunList = None,
    group: str = "",
    late: bool = False,
    lenient: Lenient = False,
    replace: Replace = False,
    rules: TrackRules = None,
) -> Done:
    """Import run files (topic Q0 docno rank score tag).

    Each file is one transaction. Run again, also after an interruption, the command leaves out runs that
    are already stored. With --rules of a track, nothing is imported if a run is refused.

    Example: pooler import runs runs/*.run --group bm25

    group : The organisation or kind of system of these runs.
    late : These runs do not feed pools (contributes = no).

    Raises
    ------
    FormatError
        With every fault of a file; the files before it are in.
    """
    entries = entries_of([*map(str, files)], None if runs is None else str(runs), group)
    if late:
        entries = [with_changes(entry, contributes=False) for entry in entries]
    if not entries:
        message = "no run file is named"
        raise PoolerError(message, hint="name run files, or a list of them with --runs FILE")
    if rules is not None:
        _refuse_by_rules(collection, rules, entries, lenient=lenient)
    return imported(collection, _import(collection, entries, lenient=lenient, replace=replace))


def _refuse_by_rules(
    opened: Collection, rules: str | Path, entries: Sequence[RunEntry], *, lenient: bool
) -> None:
    from pooler.commands.start.check import check_entries
    from pooler.reading.rules import RULES

    before = {run.tag: run.group for run in opened.runs.all()}
    found = check_entries(entries, rules=str(rules), submitted=before, lenient=lenient)
    if not found.ok:
        n_bad = sum(report.n_faults > 0 for report in found.reports)
        message = "\n".join([*found.faults, f"{rules}: {n_bad:,} of {counted(len(entries), 'run')} refused"])
        raise PoolerError(message, hint="nothing is imported; `pooler check --rules` has a row for each run")
    for report in found.reports:
        for one in report.warnings:
            if one.code in RULES:
                warn(f"{report.path}: {one.message}")


def _import(opened: Collection, entries: Sequence[RunEntry], *, lenient: bool, replace: bool) -> ImportReport:
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
                check_topics(Ids(entry.file, {*run.topics}), stored, shares="ours")
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
                if len(entries) <= _FILES_NAMED:
                    done = "replaced" if report.replaced else "nothing new, already there"
                    done = "added" if report.added else done
                    say(f"{entry.file}: run {run.tag}, {counted(len(run.topics), 'topic')}: {done}")
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


def _pools_of_another_file(opened: Collection, run: StoredRun) -> list[str]:
    return [
        pool.name
        for pool in opened.pools.all()
        for made_of in pool.manifest.get("runs", ())
        if made_of["tag"] == run.tag and made_of["sha256"] != run.sha256
    ]


@command
def import_guidelines(
    collection: Stored, file: Annotated[str | Path, Option("FILE", "Markdown, UTF-8; - is stdin.")]
) -> Done:
    """Import a text as the newest version of the judging guidelines.

    Every judgement keeps the version it was made by. The text of the newest version again changes nothing.

    Example: pooler import guidelines guidelines.md
    """
    from store.formats.texts import read_guidelines
    from store.judging.rejudging import Why

    newest, is_new = collection.guidelines.add(read_guidelines(str(file)))
    if not is_new:
        say(f"version {newest.version} of the guidelines already has this text")
    else:
        outdated = collection.rejudging.outdated(why=[Why.GUIDELINES]).rows
        say(f"version {newest.version} of the guidelines")
        if outdated:
            say(f"{counted(len(outdated), 'judgement')} made under an older one: pooler status outdated")
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
        _tell_work(file, done)
        n_new += done.new
    if n_stopped:
        say(f"{n_stopped:,} of {counted(len(files), 'file')} not imported, as said above")
    return Done(counts=frozen_settings(events=n_new, files_stopped=n_stopped), code=int(n_stopped > 0))


def _keep(place: str, refused: Iterable[dict[str, Any]]) -> None:
    from store.formats.json_lines import json_line

    write_lines(place, map(json_line, refused), private=True)


def _tell_work(file: str, done: WorkDone) -> None:
    there = f", {done.there:,} there already" if done.there else ""
    say(f"{file}: {counted(done.new, 'new event')} of `{done.judge}`{there}")
    if done.overruled:
        say(f"{file}: {counted(done.overruled, 'decision')} noted and taken back: what was stored stands")
    if done.outside:
        documents = counted(done.outside, "document")
        warn(f"{file}: {documents} no longer `{done.judge}`'s to judge: stored as judged outside the pool")
    if done.refused:
        what = counted(len(done.refused), "record")
        warn(f"{file}: {what} cannot be stored: see {file}{_REFUSED}")


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
