"""The hook of MkDocs: puts what is made of the program where a page says `<!-- made: NAME -->`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # MkDocs loads this file by its path
    sys.path.insert(0, str(ROOT))

from docs.generate import api, columns, commands, messages, tables, vectors  # noqa: E402 - found by the line above

_MARK = re.compile(r"^<!-- made: ([a-z ]+) -->$", re.MULTILINE)
MADE: dict[str, Callable[[], str]] = {
    "commands": commands.page,
    "columns": columns.section,
    "messages": messages.page,
    "reasons": messages.reasons,
    "checks": messages.checks,
    "measures": tables.measures,
    "strategies": tables.strategies,
    "events": tables.events,
    "errata": tables.errata,
    "api": api.page,
    "vectors": vectors.page,
}
"""What makes each part of a page."""


@cache
def made(name: str) -> str:
    """Return a part, made once however often pages are built."""
    return MADE[name]()


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the parts that a page asks for into it."""
    return _MARK.sub(lambda mark: made(mark[1]), markdown)


_PATH = re.compile(r"(?<=<code>)[\w./:]*/[\w./:*]*(?=</code>)")
_WORDS = re.compile(r"(?<!>)<code>[^<]*(?=</code>)")  # among the words of a sentence; no cell, no block
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def on_page_content(html: str, **_: Any) -> str:
    """Let a path in code break at its parts, so that tables keep within a telephone, and no option break."""
    html = _WORDS.sub(lambda words: _OPTION.sub(r"<span>\g<0></span>", words[0]), html)
    return _PATH.sub(lambda path: re.sub(r"(/|::|_)", r"\1<wbr>", path[0]), html)
