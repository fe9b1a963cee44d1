"""What `import` makes of files that hold more than grades: collections, histories, samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.signature import argument, option
from pooler.interrupts import tidy_when_killed
from pooler.messages import progress, say, warn
from pooler.results.judgement_files import COLUMNS_HINT, UNKNOWN_HINT, Pair, PrelsName, SampleFile
from pooler.results.meeting import add_unknown
from store.errors import ArgumentError, ContradictionError, FaultList
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pooler.cli.collect.judges import KindName
    from store.collection import Collection
    from store.formats import JudgementsFormat
    from store.formats.codes import DecodedQrels
    from store.records import ImportReport, JudgeKind, Pool


def whole_collection(
    folder: Annotated[Path, argument("DIR", "The folder that `pooler export collection` wrote.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Make a new collection from an exported directory.

    The result is the collection that was exported. The hash of every file is checked first; after any
    fault nothing is made.

    Example: pooler import collection published --collection garden.db
    """
    from store.keeping.directory import read_directory

    with tidy_when_killed():
        where, counts = read_directory(collection, folder, progress=progress)
    nouns = {name: name for name in ("topic", "document", "run", "pool", "judge")}
    nouns["judgement"] = "judgement event"
    what = ", ".join(counted(counts.get(name, 0), noun) for name, noun in nouns.items())
    say(f"made {where}: {what}")


_ROW_S = 10e-6
"""What a row costs while the file is written to, in seconds."""
_PATIENCE_S = 2.0


@contextmanager
def importing(where: str) -> Iterator[Collection]:
    """Open a collection to import into; warn at the end of documents that look like others."""
    from store.collection import Collection
    from store.text import look_alike_words

    with Collection(where) as opened:
        yield opened
        if opened.look_alikes:
            warn(look_alike_words(opened.look_alikes))


def say_wait(opened: Collection, n_rows: int) -> None:
    """Say how long judges wait while rows are written to a SQLite file, where that is for long."""
    seconds = n_rows * _ROW_S
    if seconds > _PATIENCE_S and "://" not in opened.where:
        say(f"judges at work must wait some {seconds:.0f} s while {n_rows:,} rows are written")


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


def parse_fields(text: str) -> list[str]:
    """Read names of fields with commas between them; ``-`` = none."""
    names = [] if text.strip() == "-" else [name.strip() for name in text.split(",")]
    lower = [name.lower() for name in names]
    if not all(names) or len(set(lower)) < len(lower) or {"docno", "title", "text"} & {*lower}:
        requirement = "must be names of fields, each once, and none of docno, title and text"
        hint = "as in --fields url,date; --fields - shows none"
        raise ArgumentError("--fields", requirement, text, hint=hint)
    return names


_FIELDS_SHOWN = 8


def left_out_words(left_out: Counter[str], kept: Sequence[str]) -> str:
    """Say which fields of documents were not kept, the most frequent first, and how they would be.

    Examples
    --------
    >>> from collections import Counter
    >>> left_out_words(Counter(date=106, url=1), ["author"])
    'fields left out: date (106 documents), url (1 document); --fields author,date,url keeps and shows them'
    """
    most = left_out.most_common(_FIELDS_SHOWN)
    judges = [f"{sanitise_line(name)} ({counted(n, 'document')})" for name, n in most]
    judges += [f"and {len(left_out) - len(most)} more"] if len(left_out) > len(most) else []
    names = ",".join([*kept, *(sanitise_line(name) for name, _ in most)])
    return f"fields left out: {', '.join(judges)}; --fields {names} keeps and shows them"


_NAMES_SHOWN = 8


def import_file(
    opened: Collection,
    file: str,
    form: JudgementsFormat,
    *,
    kind: KindName | None,
    allow_unknown: bool,
    replace: bool,
) -> None:
    """Import a file of judgements of every judge.

    Whole histories, which are never replaced, or current states.

    Judges who are new are of `kind`, or of the kind that the file says, or human; the others stay what they
    are. `FormatError` has every fault of the file; a grade off the scale and an unknown topic or docno too.
    """
    from store.formats.judgements import read_judgements
    from store.judging.rejudging import KnownVersions
    from store.keeping.histories import import_histories, import_states
    from store.records import JudgeKind

    faults = FaultList(file)
    grades = {None, *opened.scale.values}
    listed = ", ".join(map(str, opened.scale.values))
    read = read_judgements(file, form, faults)
    events, states = read.events, read.states
    of_lines = [(line, one.grade) for line, one in zip(read.lines, events, strict=True)]
    of_lines += zip(states.lines.tolist(), states.column("grade"), strict=True)
    for line, grade in of_lines:
        if grade not in grades:
            message = f"expected a grade of the scale ({listed}), got {grade}"
            faults.add(line, message, "grade")
    if any(fault.code == "header" for fault in faults.kept):
        faults.hint = COLUMNS_HINT
    topics, docnos = (
        [*(getattr(one, name) for one in events), *states.column(name)] for name in ("topic", "docno")
    )
    is_unknown = not allow_unknown and add_unknown(opened, faults, topics, docnos)
    faults.raise_if_any(hint=UNKNOWN_HINT if is_unknown else None)
    if events and replace:
        requirement = "is for current judgements; a history is never changed, only continued"
        raise ArgumentError("--replace", requirement, None)
    judges = chain((event.judge for event in events), states.values["judge"])
    said = {name: read.kinds.get(name) if kind is None else JudgeKind(kind) for name in judges}
    there = {judge.name: judge.kind for judge in opened.judges.all() if judge.name in said}
    kinds = {name: one or JudgeKind.HUMAN for name, one in said.items()}
    say_wait(opened, len(events) + len(states))
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


def _say_kinds(
    file: str, said: Mapping[str, JudgeKind | None], there: Mapping[str, JudgeKind], *, is_option: bool
) -> None:
    """Warn of judges without a kind, and of those that are of another kind here."""
    unsaid = [name for name, kind in said.items() if kind is None and name not in there]
    if unsaid:
        warn(
            f"{file}: no line says of what kind {_names_words(unsaid)} is; without --kind, new"
            " judges count as human"
        )
    who = "--kind" if is_option else file
    for name, kind in sorted(said.items()):
        if kind is not None and there.get(name, kind) is not kind:
            warn(f"judge `{name}` stays {there[name]}, as recorded here; {who} says {kind}")


def _names_words(names: Iterable[str]) -> str:
    listed = sorted(names)
    more = len(listed) - _NAMES_SHOWN
    words = ", ".join(f"`{name}`" for name in listed[:_NAMES_SHOWN])
    return words if more <= 0 else f"{words} and {more} more"


FromOption = Annotated[
    str | None,
    option("--from irds:NAME", "A dataset of ir_datasets instead of a file, if it is on this machine."),
]


def file_or_dataset(file: str | None, dataset: str | None, entity: str) -> str:
    """Return the one of the two that was named, as its reader takes it; see `store.formats.irds`."""
    from store.formats.irds import place_of

    if dataset is not None and file is None:
        return place_of(dataset, entity)
    if file is not None and dataset is None:
        return file
    requirement = "must be named, or --from irds:NAME: one of the two"
    raise ContradictionError("FILE", requirement, file)


Listed = dict[str, dict[str, list[str]]]
"""Docnos by topic by some value, as a manifest notes them."""


AsOption = Annotated[
    PrelsName | None,
    option(
        "--as",
        "The file is a judged sample: xinfap (topic iteration docno stratum rel) or statap (topic docno"
        " rel method iprob). It also becomes a pool.",
    ),
]


def unjudged_codes(sample: SampleFile, grades: Sequence[int]) -> set[int]:
    """Return the codes that are no judgement: -1, unless a statap file has it for a grade."""
    from store.formats.prels import NOT_SAMPLED

    is_grade = sample.kind == "statap" and NOT_SAMPLED in grades
    return set() if is_grade else {NOT_SAMPLED}


def sampled_pool(sample: SampleFile, decoded: DecodedQrels, file: str, name: str) -> Pool:
    """Make the pool of a prels file.

    Its round is the commonest iteration. What the pool has no place for, and is needed to write
    the file again, stands in the manifest: methods, and iterations of documents not judged.
    """
    from store.records import Pool

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
        manifest["methods"] = _listed(sample.methods)
    if iterations:
        manifest["iterations"] = _listed(iterations)
    return Pool(sample.entries, manifest, name, commonest)


def say_sample(file: str, pool: Pool, decoded: DecodedQrels) -> None:
    """Say what was made of a prels file, and what of it was not judged."""
    not_sampled = {(one.topic, one.docno) for one in pool.entries if not one.sampled}
    n_sampled = len(pool.entries) - len(not_sampled)
    listed = f", {len(not_sampled):,} not sampled" if not_sampled else ""
    say(f"{file}: pool {pool.name}: {counted(n_sampled, 'document')} sampled{listed}")
    if n_open := len(set(decoded.unjudged) - not_sampled):
        say(f"{file}: sampled but not judged: {counted(n_open, 'document')}")


def pairs_listed(manifest_part: Listed) -> dict[Pair, str]:
    """Read what `sampled_pool` noted in a manifest: the value of every pair."""
    return {
        (topic, docno): value
        for value, topics in manifest_part.items()
        for topic, docnos in topics.items()
        for docno in docnos
    }


def _listed(values: dict[Pair, int] | dict[Pair, str]) -> Listed:
    listed: Listed = {}
    for (topic, docno), value in sorted(values.items()):
        listed.setdefault(str(value), {}).setdefault(topic, []).append(docno)
    return listed
