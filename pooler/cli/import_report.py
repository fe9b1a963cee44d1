"""Words for what an import did, and for texts that are still to be imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pooler.cli.console import counted, say, warn

if TYPE_CHECKING:
    from store.collection import Collection
    from store.documents import TextCounts
    from store.imports import ImportReport


_ROW_S = 30e-6
"""What a row costs while the file is written to, in seconds."""
_PATIENCE_S = 2.0


@contextmanager
def importing(where: str) -> Iterator[Collection]:
    """Open a collection to import into; warn at the end of documents that look like others."""
    from store.collection import Collection
    from store.look_alikes import look_alike_words

    with Collection(where) as opened:
        yield opened
        if opened.look_alikes:
            warn(look_alike_words(opened.look_alikes))


def say_wait(opened: Collection, n_rows: int) -> None:
    """Say how long judges wait while rows are written to a SQLite file, where that is for long."""
    seconds = n_rows * _ROW_S
    if seconds > _PATIENCE_S and "://" not in opened.where:
        say(f"judges at work wait some {seconds:.0f} s while {n_rows:,} rows are written")


def report_words(report: ImportReport, noun: str) -> str:
    """Word what an import did; `noun` is one of the things imported."""
    if not report.changed:
        return f"nothing new, {counted(report.unchanged, noun)} there already"
    parts = [f"{counted(report.added, noun)} added"] if report.added or not report.texts else []
    parts += [f"the text of {counted(report.texts, noun)} added"] if report.texts else []
    parts += [f"{report.replaced:,} replaced"] if report.replaced else []
    parts += [f"{report.unchanged:,} there already"] if report.unchanged else []
    return ", ".join(parts)


def text_words(report: ImportReport, *, has_pool: bool) -> str | None:
    """Word how many documents of a file are here with their text; ``None`` = all are.

    Examples
    --------
    >>> from store.imports import ImportReport
    >>> text_words(ImportReport(added=106, left_out=32), has_pool=True)
    'of its 106 documents 74 are here with their text, 32 as a docno alone: they are in no pool...'
    """
    if not report.left_out and not report.without_text:
        return None
    n_texts = report.total - report.left_out - report.without_text
    words = f"of its {counted(report.total, 'document')} {n_texts:,} are here with their text"
    if report.without_text:
        words += f", {report.without_text:,} have none in the file"
    if report.left_out:
        why = "they are in no pool" if has_pool else "there is no pool yet"
        words += (
            f", {report.left_out:,} as a docno alone: {why} (import the file again after pooler"
            " pool, or use --all)"
        )
    return words


def missing_words(counts: TextCounts) -> str | None:
    """Word how many documents that judges are or may be shown have no text; ``None`` = none.

    Examples
    --------
    >>> from store.documents import TextCounts
    >>> missing_words(TextCounts(missing=2, pooled=11))
    '2 of 11 pooled documents have no text'
    >>> missing_words(TextCounts(11, 11, 13, 13))
    '11 of 11 pooled documents have no text, nor have 13 of 13 others that adaptive pools may draw'
    >>> missing_words(TextCounts(0, 11, 3, 13))
    '3 of 13 documents that adaptive pools may draw have no text'
    """
    pooled = f"{counts.missing:,} of {counted(counts.pooled, 'pooled document')} have no text"
    drawable = f"{counts.missing_undrawn:,} of {counts.undrawn:,}"
    if counts.missing and counts.missing_undrawn:
        return f"{pooled}, nor have {drawable} others that adaptive pools may draw"
    if counts.missing:
        return pooled
    if counts.missing_undrawn:
        return f"{drawable} documents that adaptive pools may draw have no text"
    return None
