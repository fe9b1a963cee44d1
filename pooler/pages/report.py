"""A page as a function returns it: shown in a notebook, written to a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path

from pooler.files import write_whole
from pooler.messages import say
from pooler.pages.page import START, ReportPage, Section, render
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
        """Write the page to a file that its owner alone can read, new or in place of an earlier page."""
        if check_replaceable(path):
            say(f"{path}: replaced an earlier page")
        write_whole(str(path), [self.html.removesuffix("\n")], private=True)
        say(f"{path}: {counted(len(self.html.encode()) // 1024, 'kB', 'kB')}, to be opened in a browser")

    def __repr__(self) -> str:
        titles = ", ".join(section.title for section in self.sections)
        return f"Report: {self.page.title}\nsections: {titles}"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:40em;border:0"></iframe>'


def check_replaceable(path: str | Path, argument: str = "path") -> bool:
    """Return whether there is a page of pooler's; `ArgumentError`: it is something else, and not empty."""
    path = Path(path)
    if str(path) == "-":
        raise ArgumentError(argument, "must be a file", "-")
    if not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(len(START))
    if start not in (b"", START.encode()):
        hint = "name another file, or remove this one first"
        requirement = "must be new, or a page that pooler wrote: it is something else"
        raise ArgumentError(argument, requirement, str(path), hint=hint)
    return bool(start)


def written_by() -> str:
    """Return which program wrote a page, and when."""
    return f"Written by pooler {__version__} on {datetime.now(UTC):%Y-%m-%d}."
