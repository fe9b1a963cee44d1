"""`pooler import runs`: whole runs into a collection, read by several processes when it pays."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pooler.cli.console import counted, progress, say, warn
from store.errors import FaultList, FormatError, PoolerError

if TYPE_CHECKING:
    from pooler.numbered_runs import NumberedRun
    from pooler.run_list import RunEntry
    from store.collection import Collection
    from store.imports import ImportReport
    from store.runs import StoredRun

FILES_NAMED = 20
"""Up to this many run files, each gets its line."""


def import_runs(
    opened: Collection,
    entries: Sequence[RunEntry],
    *,
    lenient: bool,
    allow_unknown: bool,
    replace: bool,
) -> None:
    """Import run files in their order, one transaction a file, and say what was done."""
    from pooler.read_ahead import n_readers, read_numbered
    from store.imports import ImportReport
    from store.numbered_documents import NumberedDocuments
    from store.runs import StoredRun

    known_topics = set() if allow_unknown else opened.listed_topics()
    known_docnos = set() if allow_unknown else opened.listed_docnos()
    total, n_read, n_rankings = ImportReport(), 0, 0
    stale: list[str] = []
    kept_out: set[str] = set()
    numbered: defaultdict[int, NumberedDocuments] = defaultdict(NumberedDocuments)
    with (
        progress("runs", len(entries)) as advance,
        tempfile.TemporaryDirectory(prefix="pooler-") as folder,
    ):
        coming = read_numbered(entries, folder, lenient=lenient, workers=n_readers(entries))
        try:
            for entry, run in zip(entries, coming, strict=True):
                documents, met = numbered[run.reader], run.docnos()
                _refuse_unknown(entry.file, run, met, known_topics, known_docnos, lenient=lenient)
                documents.extend(met)
                about = StoredRun(run.tag, entry.group, entry.contributes, run.sha256, run.file)
                report = opened.add_packed_run(about, run.rankings(), documents, replace=replace)
                run.discard()
                total, n_read = total + report, n_read + 1
                n_rankings += len(run.topics)
                if entry.contributes and not report.added:
                    kept_out.add(run.tag)
                if report.replaced:
                    stale += _pools_of_another_file(opened, about)
                if len(entries) <= FILES_NAMED:
                    say(f"{entry.file}: run {run.tag}, {counted(len(run.topics), 'topic')}:"
                        f" {_done(report)}")  # fmt: skip
                advance(1)
        except PoolerError:
            if n_read or len(entries) > 1:
                say(f"stopped at {entries[n_read].file}: {n_read} of {len(entries)} files are in")
            raise
        finally:
            coming.close()
    say(f"{counted(len(entries), 'run')}: {total.added} added, {total.unchanged} there already,"
        f" {total.replaced} replaced; {counted(n_rankings, 'ranking')}")  # fmt: skip
    left_out = {run.tag for run in opened.runs() if not run.contributes} & kept_out
    if left_out:
        names = ", ".join(f"`{tag}`" for tag in sorted(left_out)[:10])
        warn(f"{names}: there already, and left out of pools; --replace lets a run contribute")
    for name in dict.fromkeys(stale):
        warn(f"pool `{name}` was made from another file of a run that is replaced now; pooler pool"
             f" --replace --name {name} --dry-run says what the new one changes")  # fmt: skip


def _pools_of_another_file(opened: Collection, run: StoredRun) -> list[str]:
    """Name the pools that were made from another file of a run."""
    return [
        pool.name
        for pool in opened.pools()
        for made_of in pool.manifest.get("runs", ())
        if made_of["tag"] == run.tag and made_of["sha256"] != run.sha256
    ]


def _done(report: ImportReport) -> str:
    """Word what the import of one run did."""
    if report.added:
        return "added"
    return "replaced" if report.replaced else "nothing new, it is there already"


def _refuse_unknown(
    file: str,
    run: NumberedRun,
    met: Sequence[str],
    topics: set[str],
    docnos: set[str],
    *,
    lenient: bool,
) -> None:
    """Refuse a run that names topics or docnos the collection does not have, with lines."""
    from pooler.check import check_run

    # Documents that its reader met before were looked at with the run that had them.
    unknown = topics and not topics.issuperset(run.topics)
    if not unknown and not (docnos and not docnos.issuperset(met)):
        return
    hint = "--allow-unknown keeps them"
    if run.run is not None:  # a pipe cannot be read a second time for the line numbers
        faults = FaultList(file)
        for ranking in run.run.rankings:
            if topics and ranking.topic not in topics:
                faults.add(None, f"expected a known topic, got `{ranking.topic}`", "unknown-topic")
            for docno in ranking.docnos:
                if docnos and docno not in docnos:
                    faults.add(None, f"expected a known docno, got `{docno}`", "unknown-docno")
        faults.raise_if_any(hint=hint)
    report = check_run(file, known_topics=topics or None, known_docnos=docnos or None,
                       lenient=lenient)  # fmt: skip
    raise FormatError(file, report.faults, n_faults=report.n_faults, hint=hint)
