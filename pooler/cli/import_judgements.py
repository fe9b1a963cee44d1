"""`pooler import judgements`: what judges elsewhere said."""

from __future__ import annotations

from collections.abc import Collection as AnyCollection
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import counted, progress, say, warn
from pooler.cli.import_histories import import_file
from pooler.cli.import_prels import AsOption, sampled_pool, say_sample, unjudged_codes
from pooler.cli.import_report import importing, report_words, say_wait
from pooler.cli.judged_files import REPEATS_HINT, say_repeats, warn_if_nothing_relevant
from pooler.cli.judgement_reading import RepeatsOption, TopicOption
from pooler.cli.judgement_sources import (
    EVERY_JUDGE,
    UNKNOWN_HINT,
    FileFormat,
    Source,
    Wanted,
    read_source,
    wanted_of,
)
from pooler.cli.judges import Kind
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AllowUnknownOption,
    CollectionOption,
    LenientOption,
    ReplaceOption,
)
from store.errors import ArgumentError, ConflictError, FaultList, UnknownNameError

if TYPE_CHECKING:
    from store.codes import DecodedQrels, Meaning
    from store.collection import Collection
    from store.records import Pool
    from store.repeats import Repeats

_NAMES_SHOWN = 8


def judgements(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="- is stdin; .gz, .xz, .zst are fine.")
    ],
    form: Annotated[
        FileFormat | None,
        typer.Option(
            "--format",
            help="qrels (topic iteration docno grade; the default), ntcir2 (topic letter docno"
            " 0|1), ntcireval (topic docno L0..Ln), columns (see --columns), or what `pooler"
            " export judgements` wrote: jsonl or tsv, of every judge.",
            show_default=False,
        ),
    ] = None,
    kind_of_sample: AsOption = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="NAME", help="Whose they are.", show_default=False),
    ] = None,
    judge_column: Annotated[
        int | None,
        typer.Option(
            "--judge-column",
            min=2,
            max=2,
            help="The column of a qrels file that names the judge, instead of --judge.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAME,...",
            help="The columns of the file in order: docno and grade, and what there is of topic,"
            " iteration and judge; - is passed over.",
            show_default=False,
        ),
    ] = None,
    topic: TopicOption = None,
    kind: Annotated[
        Kind | None,
        typer.Option(
            "--kind",
            help="What kind of judge. Default imported; of jsonl and tsv files what each says, and"
            " for judges who are new alone.",
            show_default=False,
        ),
    ] = None,
    codes: Annotated[
        list[str] | None,
        typer.Option(
            "--code",
            metavar="CODE=MEANING",
            help="A code that is no grade: unjudged (pooled, not judged: a pool entry and no"
            " judgement), not-pooled (passed over), skipped, cannot (be judged), or grade.",
        ),
    ] = None,
    repeats: RepeatsOption = None,
    mapped: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FROM=TO", help="Read one grade as another."),
    ] = None,
    as_pool: Annotated[
        str | None,
        typer.Option(
            "--as-pool",
            metavar="NAME",
            help="All lines of the file are a pool of this name, too.",
            show_default=False,
        ),
    ] = None,
    lenient: LenientOption = False,
    allow_unknown: AllowUnknownOption = False,
    replace: ReplaceOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Import judgements: a qrels file of one judge, or another file of grades.

    With --as it is a prels file: a judged sample. All or nothing of a file is taken.

    Example: pooler import judgements alice.qrels --judge alice --kind human

    Example: pooler import judgements crowd.txt --columns docno,judge,grade --topic web
    """
    from store.codes import Meaning, parse_codes, parse_map

    wanted = wanted_of(
        form,
        sample=kind_of_sample,
        judge=judge,
        judge_column=judge_column,
        columns=columns,
        topic=topic,
        lenient=lenient,
    )
    if wanted.form in EVERY_JUDGE:
        for name, value in (("--judge", judge), ("--code", codes), ("--map", mapped),
                            ("--as-pool", as_pool), ("--repeats", repeats),
                            ("--lenient", lenient or None)):  # fmt: skip
            if value:
                requirement = f"is for files of grades, and a {wanted.form} file says more"
                raise ArgumentError(name, requirement, value)
        with importing(collection) as opened:
            import_file(
                opened,
                file,
                "jsonl" if wanted.form is FileFormat.JSONL else "tsv",
                kind=kind,
                allow_unknown=allow_unknown,
                replace=replace,
            )
        return
    if repeats is not None and kind_of_sample is not None:
        requirement = "is for files of grades; a sample has each document once"
        raise ArgumentError("--repeats", requirement, str(repeats))
    meanings, mapping = parse_codes(codes or []), parse_map(mapped or [])
    faults = FaultList(file)
    with importing(collection) as opened:
        if topic is not None and not allow_unknown:
            _check_topic(opened, topic)
        source = read_source(file, wanted, opened.scale, faults)
        if source.sample is not None:
            unsampled = unjudged_codes(source.sample, opened.scale.values)
            meanings = dict.fromkeys(unsampled, Meaning.UNJUDGED) | meanings
        _import_grades(
            opened,
            file,
            source,
            wanted,
            faults,
            kind=kind or Kind.IMPORTED,
            meanings=meanings,
            mapping=mapping,
            repeats=repeats,
            as_pool=as_pool,
            allow_unknown=allow_unknown,
            replace=replace,
        )


def _import_grades(
    opened: Collection,
    file: str,
    source: Source,
    wanted: Wanted,
    faults: FaultList,
    *,
    kind: Kind,
    meanings: dict[int, Meaning],
    mapping: dict[int, int],
    repeats: Repeats | None,
    as_pool: str | None,
    allow_unknown: bool,
    replace: bool,
) -> None:
    """Import a file of grades, and the pool it speaks of."""
    from dataclasses import replace as with_changes

    from store.records import JudgeKind

    decoded = _decode(
        opened, source, faults, meanings=meanings, mapping=mapping, repeats=repeats,
        allow_unknown=allow_unknown,
    )  # fmt: skip
    judge = wanted.judge
    if judge is not None:
        decoded.judged.setdefault(judge, [])
    if source.sample is not None:
        pool = sampled_pool(source.sample, decoded, file, as_pool or f"sample-{judge}")
    elif as_pool:
        pool = _pool_of_file(file, source.sha256, decoded.pairs, as_pool)
    else:
        name = f"unjudged-{judge or Path(file).name}"
        pool = _pool_of_file(file, source.sha256, decoded.unjudged, name)
    if as_pool:
        _check_free(opened, pool)
    else:
        pool = with_changes(pool, name=_free_name(opened, pool))
    n_judgements = sum(map(len, decoded.judged.values()))
    say_wait(opened, n_judgements)
    with progress("judgements", n_judgements) as advance:
        report = opened.import_judgements(
            decoded.judged, JudgeKind(kind.value), pool=pool, states=decoded.states,
            replace=replace, advance=advance,
        )  # fmt: skip
    if source.n_float_grades:
        warn(f"{file}: {counted(source.n_float_grades, 'grade')} written as floats"
             f" ({source.float_grade}), read as integers")  # fmt: skip
    if source.n_trailing:
        warn(f"{file}: text after field {source.n_fields} was ignored on {source.n_trailing:,}"
             f" lines; is it a {source.noun} file?")  # fmt: skip
    say_repeats(file, decoded.repeats, repeats)
    warn_if_nothing_relevant(file, decoded)
    noun = "state" if decoded.states else "judgement"
    say(f"{file}: {report_words(report, noun)} of {_names_words(decoded.judged)}")
    _say_others(file, decoded)
    if source.sample is not None:
        say_sample(file, pool, decoded)
    elif decoded.unjudged:
        lines = counted(decoded.n_unjudged_lines, "line")
        pairs = counted(len(decoded.unjudged), "document")
        say(f"{file}: {lines} of {pairs} pooled and not judged: pool {pool.name}")


def _say_others(file: str, decoded: DecodedQrels) -> None:
    """Say of which lines no grade was made, and who has no grade in the file."""
    from store.records import State

    skipped = sum(one.state is State.SKIPPED for one in decoded.states)
    for n, words in ((skipped, "were skipped"),
                     (len(decoded.states) - skipped, "cannot be judged"),
                     (decoded.n_not_pooled, "are not pooled, and are passed over")):  # fmt: skip
        if n:
            say(f"{file}: {counted(n, 'line')} of documents that {words}")
    without = [name for name, rows in decoded.judged.items() if not rows]
    if without and len(decoded.judged) > 1:
        say(f"{file}: without a grade: {_names_words(without)}")


def _decode(
    opened: Collection,
    source: Source,
    faults: FaultList,
    *,
    meanings: dict[int, Meaning],
    mapping: dict[int, int],
    repeats: Repeats | None,
    allow_unknown: bool,
) -> DecodedQrels:
    """Turn rows into judgements, or refuse the file with all that is wrong with it, by line.

    `faults` holds those of its format, if any; unknown ids and grades join them.
    """
    from store.codes import decode_rows
    from store.repeats import Repeats

    n_of_format = faults.count
    known_topics = set() if allow_unknown else opened.listed_topics()
    known_docnos = set() if allow_unknown else opened.listed_docnos()
    for row in source.rows:
        if known_topics and row.topic not in known_topics:
            faults.add(row.line, f"unknown topic `{row.topic}`", "unknown-topic")
        if known_docnos and row.docno not in known_docnos:
            faults.add(row.line, f"unknown docno `{row.docno}`", "unknown-docno")
    n_unknown = faults.count - n_of_format
    decoded = decode_rows(
        source.rows, opened.scale, codes=meanings, mapping=mapping,
        repeats=repeats or Repeats.REFUSE, faults=faults,
    )  # fmt: skip
    hints = [faults.hint] if faults.hint else []
    if n_unknown:
        hints.append(UNKNOWN_HINT)
    n_repeated = decoded.repeats.n_refused
    if n_repeated:
        hints.append(REPEATS_HINT)
    if faults.count > n_of_format + n_unknown + n_repeated:
        hints.append("--map FROM=TO reads one grade as another, --code CODE=unjudged as no"
                     " judgement")  # fmt: skip
    faults.raise_if_any(hint="; ".join(hints))
    return decoded


def _check_topic(opened: Collection, topic: str) -> None:
    """Refuse a topic of the command line that no topics file named, where there is such a file."""
    known = opened.listed_topics()
    if known and topic not in known:
        raise UnknownNameError("topic", topic, known, hint="--topic; --allow-unknown keeps it")


def _names_words(names: AnyCollection[str]) -> str:
    """Name the judges, or count them where they are many."""
    if len(names) > _NAMES_SHOWN:
        return counted(len(names), "judge")
    return ", ".join(sorted(names))


def _pool_of_file(file: str, sha256: str, pairs: list[tuple[str, str]], name: str) -> Pool:
    """Make a pool of the pairs that a qrels file lists."""
    from store.natural_order import natural_key
    from store.records import Pool, PoolEntry

    entries: list[PoolEntry] = []
    position, topic_before = 0, ""
    for topic, docno in sorted(pairs, key=lambda pair: (natural_key(pair[0]), pair[1])):
        position = position + 1 if topic == topic_before else 0
        topic_before = topic
        entries.append(PoolEntry(topic, docno, position))
    manifest = {"strategy": "imported", "out_order": "docno", "file": Path(file).name,
                "sha256": sha256, "pairs": len(entries)}  # fmt: skip
    return Pool(entries, manifest, name)


def _check_free(opened: Collection, pool: Pool) -> None:
    """Refuse a pool whose name another one has."""
    if _free_name(opened, pool) != pool.name:
        message = f"there is another pool named `{pool.name}`"
        raise ConflictError(message, hint="another --as-pool NAME")


def _free_name(opened: Collection, pool: Pool) -> str:
    """Return the pool's name, numbered if other pools have it: a file may come again, changed."""
    taken = {one.name: None if one.withdrawn else one.manifest for one in opened.pools()}
    names = chain([pool.name], (f"{pool.name}-{number}" for number in count(2)))
    return next(name for name in names if taken.get(name, pool.manifest) == pool.manifest)
