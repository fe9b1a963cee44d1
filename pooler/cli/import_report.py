"""Words for what an import did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.console import counted

if TYPE_CHECKING:
    from store.imports import ImportReport


def report_words(report: ImportReport, noun: str) -> str:
    """Word what an import did; `noun` is one of the things imported."""
    if not report.changed:
        return f"nothing new, {counted(report.unchanged, noun)} there already"
    parts = [f"{counted(report.added, noun)} added"] if report.added or not report.texts else []
    parts += [f"the text of {counted(report.texts, noun)} added"] if report.texts else []
    parts += [f"{report.replaced:,} replaced"] if report.replaced else []
    parts += [f"{report.unchanged:,} there already"] if report.unchanged else []
    return ", ".join(parts)
