"""A page as a function returns it: shown in a notebook, written to a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path

from pooler.files import write_whole
from pooler.messages import say
from pooler.pages.page import ReportPage, Section, render
from pooler.version import __version__
from store.errors import ArgumentError
from store.text import counted


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page: its sections of sentences, tables and figures, and what a browser shows."""

    page: ReportPage

    @property
    def sections(self) -> tuple[Section, ...]:
        """What stands on the page; the first says it in short."""
        return self.page.sections

    @cached_property
    def html(self) -> str:
        """The page as one file."""
        return render(self.page)

    def write(self, path: str | Path) -> None:
        """Write the page to a file that its owner alone can read; a file that is there must be a page."""
        check_replaceable(path)
        write_whole(str(path), [self.html.removesuffix("\n")], private=True)
        say(f"{path}: {counted(len(self.html.encode()) // 1024, 'kB', 'kB')}, to be opened in a browser")

    def __repr__(self) -> str:
        titles = ", ".join(section.title for section in self.sections)
        return f"Report: {self.page.title}\nsections: {titles}"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:40em;border:0"></iframe>'


def check_replaceable(path: str | Path) -> None:
    """Raise `ArgumentError` for a file that is there, not empty, and no page."""
    path = Path(path)
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(100).lstrip().lower()
    if start and not start.startswith((b"<!doctype html", b"<html")):
        raise ArgumentError("path", "must be new, or a page: it is something else", str(path))


def written_by() -> str:
    """Return which program wrote a page, and when."""
    return f"Written by pooler {__version__} on {datetime.now(UTC):%Y-%m-%d}."
