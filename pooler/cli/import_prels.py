"""Prels files as `pooler import judgements --as` reads them: a sampled pool and its judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import counted, say
from store.errors import ArgumentError, FaultList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.codes import DecodedQrels
    from store.formats.prels import XinfapRow
    from store.formats.qrels import QrelRow
    from store.natural_order import NaturalKey
    from store.records import Pool, PoolEntry

Pair = tuple[str, str]
"""Topic and docno."""

Listed = dict[str, dict[str, list[str]]]
"""Docnos by topic by some value, as a manifest notes them."""


class PrelsName(StrEnum):
    """Formats of `store.formats.prels`."""

    XINFAP = "xinfap"
    STATAP = "statap"


AsOption = Annotated[
    PrelsName | None,
    typer.Option(
        "--as",
        help="The file is a judged sample: xinfap (topic iteration docno stratum rel) or statap"
        " (topic docno rel method iprob). It makes a pool, too.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class SampleFile:
    """What a prels file holds, as judgements and as a pool."""

    kind: PrelsName
    rows: list[QrelRow]
    """Every line; those of documents that were not sampled have the code for it."""
    entries: list[PoolEntry]
    """Topics in natural order, docnos bytewise."""
    methods: dict[Pair, int]
    """Of a statap file: methods that `method_of` would not give."""
    n_trailing: int
    sha256: str
    n_float_grades: int = 0


def method_of(probability: float) -> int:
    """Return the method code of a document when nothing else is known: 0 = certain to be chosen."""
    return 0 if probability == 1 else 1


def read_sample(
    file: str, kind: PrelsName, faults: FaultList, *, judge_column: int | None, lenient: bool
) -> SampleFile:
    """Read a prels file; its faults are told, and what has none is returned.

    Raises
    ------
    ArgumentError
        If a column is to name the judge: there is none that could.
    """
    from store.formats.prels import read_statap, read_xinfap
    from store.formats.qrels import QrelRow
    from store.records import PoolEntry

    if judge_column is not None:
        requirement = "is for qrels; no column of a sample names a judge"
        raise ArgumentError("--judge-column", requirement, judge_column)
    if kind is PrelsName.XINFAP:
        xinfap = read_xinfap(file, lenient=lenient, faults=faults)
        rows = [
            QrelRow(row.line, row.topic, row.iteration, row.docno, row.code) for row in xinfap.rows
        ]
        entries = _stratified(xinfap.rows)
        return SampleFile(kind, rows, _ordered(entries), {}, xinfap.n_trailing, xinfap.sha256)
    statap = read_statap(file, lenient=lenient, faults=faults)
    rows = [QrelRow(row.line, row.topic, "0", row.docno, row.code) for row in statap.rows]
    entries = [
        PoolEntry(row.topic, row.docno, 0, inclusion_probability=row.probability)
        for row in statap.rows
    ]
    methods = {
        (row.topic, row.docno): row.method
        for row in statap.rows
        if row.method != method_of(row.probability)
    }
    return SampleFile(kind, rows, _ordered(entries), methods, statap.n_trailing, statap.sha256)


def unjudged_codes(sample: SampleFile, grades: Sequence[int]) -> set[int]:
    """Return the codes that are no judgement: -1, unless a statap file has it for a grade."""
    from store.formats.prels import NOT_SAMPLED

    is_grade = sample.kind is PrelsName.STATAP and NOT_SAMPLED in grades
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
        "sha256": sample.sha256,
        "pairs": sum(entry.sampled for entry in sample.entries),
        "listed": len(sample.entries),
        "prels": sample.kind.value,
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
        say(f"{file}: sampled and not judged: {counted(n_open, 'document')}")


def pairs_listed(manifest_part: Listed) -> dict[Pair, str]:
    """Read what `sampled_pool` noted in a manifest: the value of every pair."""
    return {
        (topic, docno): value
        for value, topics in manifest_part.items()
        for topic, docnos in topics.items()
        for docno in docnos
    }


def _listed(values: dict[Pair, int] | dict[Pair, str]) -> Listed:
    """List pairs by value, then topic."""
    listed: Listed = {}
    for (topic, docno), value in sorted(values.items()):
        listed.setdefault(str(value), {}).setdefault(topic, []).append(docno)
    return listed


def _stratified(rows: Sequence[XinfapRow]) -> list[PoolEntry]:
    """Make entries of xinfap rows: a stratum's probability is the share of it that was sampled."""
    from store.formats.prels import NOT_SAMPLED
    from store.records import PoolEntry

    sizes = Counter((row.topic, row.stratum) for row in rows)
    n_sampled = Counter((row.topic, row.stratum) for row in rows if row.code != NOT_SAMPLED)
    entries = []
    for row in rows:
        stratum = (row.topic, row.stratum)
        # Of a stratum that nothing was sampled from, no probability is known.
        share = n_sampled[stratum] / sizes[stratum] or None
        is_sampled = row.code != NOT_SAMPLED
        entries.append(PoolEntry(row.topic, row.docno, 0, None, row.stratum, share, is_sampled))
    return entries


def _ordered(entries: Iterable[PoolEntry]) -> list[PoolEntry]:
    """Sort entries and number them within their topics: those to judge, then the others."""
    from dataclasses import replace

    from store.natural_order import natural_key

    def place(entry: PoolEntry) -> tuple[NaturalKey, bool, str]:
        return natural_key(entry.topic), not entry.sampled, entry.docno

    ordered: list[PoolEntry] = []
    for entry in sorted(entries, key=place):
        is_first = not ordered or ordered[-1].topic != entry.topic
        ordered.append(replace(entry, position=0 if is_first else ordered[-1].position + 1))
    return ordered
