"""What the imports have in common: the file they take, and how they word what they did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pooler.command import Option
from pooler.messages import warn
from pooler.result import Done, frozen_settings
from store.text import counted, look_alike_words

if TYPE_CHECKING:
    from store.collection import Collection
    from store.records import ImportReport

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
