"""`pooler import judgements`: what judges elsewhere said."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import counted, say, warn
from pooler.cli.import_prels import (
    AsOption,
    SampleFile,
    read_sample,
    sampled_pool,
    say_sample,
    unjudged_codes,
)
from pooler.cli.import_report import report_words
from pooler.cli.judges import Kind
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AllowUnknownOption,
    CollectionOption,
    LenientOption,
    ReplaceOption,
)
from store.errors import ConflictError, FaultList, PoolerError

if TYPE_CHECKING:
    from store.collection import Collection
    from store.formats.qrels import QrelsFile
    from store.records import Pool


def judgements(
    file: Annotated[
        str, typer.Argument(metavar="QRELS", help="- is stdin; .gz, .xz, .zst are fine.")
    ],
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
            help="The column that names the judge, instead of --judge.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[Kind, typer.Option("--kind", help="What kind of judge.")] = Kind.IMPORTED,
    codes: Annotated[
        list[str] | None,
        typer.Option(
            "--code",
            metavar="CODE=unjudged",
            help="A code that means pooled, not judged: it makes a pool entry and no judgement.",
        ),
    ] = None,
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
    """Import a qrels file (topic iteration docno grade) as the judgements of a judge.

    With --as it is a prels file: a judged sample.

    Example: pooler import judgements alice.qrels --judge alice --kind human
    """
    from dataclasses import replace as with_changes

    from store.codes import decode_qrels, parse_codes, parse_map
    from store.collection import Collection
    from store.formats.qrels import read_qrels
    from store.records import JudgeKind

    if (judge is None) == (judge_column is None):
        message = "whose judgements are these?"
        raise PoolerError(message, hint="--judge NAME, or --judge-column 2; one of the two")
    unjudged, mapping = parse_codes(codes or []), parse_map(mapped or [])
    with Collection(collection) as opened:
        content: QrelsFile | SampleFile
        if kind_of_sample is None:
            content = read_qrels(file, lenient=lenient, judge_column=judge_column)
        else:
            content = read_sample(file, kind_of_sample, judge_column=judge_column, lenient=lenient)
            unjudged |= unjudged_codes(content, opened.scale.values)
        faults = FaultList(file)
        known_topics = set() if allow_unknown else opened.listed_topics()
        known_docnos = set() if allow_unknown else opened.listed_docnos()
        for row in content.rows:
            if known_topics and row.topic not in known_topics:
                faults.add(row.line, f"unknown topic `{row.topic}`", "unknown-topic")
            if known_docnos and row.docno not in known_docnos:
                faults.add(row.line, f"unknown docno `{row.docno}`", "unknown-docno")
        faults.raise_if_any(hint="--allow-unknown keeps them")
        decoded = decode_qrels(
            content.rows,
            opened.scale,
            judge=judge,
            judge_column=judge_column,
            unjudged=unjudged,
            mapping=mapping,
            faults=faults,
        )
        hint = "--map FROM=TO reads one grade as another, --code CODE=unjudged as no judgement"
        faults.raise_if_any(hint=hint)
        if judge is not None:
            decoded.judged.setdefault(judge, [])
        if isinstance(content, SampleFile):
            pool = sampled_pool(content, decoded, file, as_pool or f"sample-{judge}")
        elif as_pool:
            pool = _pool_of_file(file, content.sha256, decoded.pairs, as_pool)
        else:
            wanted = f"unjudged-{judge or Path(file).name}"
            pool = _pool_of_file(file, content.sha256, decoded.unjudged, wanted)
        if as_pool:
            _check_free(opened, pool)
        else:
            pool = with_changes(pool, name=_free_name(opened, pool))
        report = opened.import_judgements(
            decoded.judged, JudgeKind(kind.value), pool=pool, replace=replace
        )
    if content.n_float_grades:
        warn(f"{file}: {content.n_float_grades:,} grades are written as floats (2.0); read as"
             " integers")  # fmt: skip
    is_sample = isinstance(content, SampleFile)
    if content.n_trailing:
        last, noun = (5, "prels") if is_sample else (4, "qrels")
        warn(f"{file}: text after field {last} was ignored on {content.n_trailing:,} lines; is it a"
             f" {noun} file?")  # fmt: skip
    names = ", ".join(sorted(decoded.judged))
    say(f"{file}: {report_words(report, 'judgement')} of {names}")
    if is_sample:
        say_sample(file, pool, decoded)
    elif decoded.unjudged:
        lines = counted(len(decoded.unjudged), "line")
        say(f"{file}: {lines} of documents pooled and not judged: pool {pool.name}")


def _pool_of_file(file: str, sha256: str, pairs: list[tuple[str, str]], name: str) -> Pool:
    """Make a pool of the pairs that a qrels file lists."""
    from store.ranking import natural_key
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
