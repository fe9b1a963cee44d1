"""Streams, progress, words, asking.

stdout is data; stderr is words and progress. Everything shown is sanitised; nothing in data is
ever read as markup.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import IntEnum
from typing import Any, TextIO

from pooler.results.files import check_manifest as check_manifest
from pooler.results.files import check_out as check_out
from pooler.results.files import check_place as check_place
from pooler.results.files import earlier_result, write_whole
from pooler.results.files import json_text as json_text
from pooler.results.judge_kinds import erased_facts as erased_facts
from pooler.results.judge_kinds import erased_words as erased_words
from pooler.streams import on_terminal
from pooler.telling import say
from store.errors import ContradictionError, FormatError, PoolerError, StoreError
from store.text import sanitise

FILE_HINT = "nothing in this file was used: correct it, then run the command again"


class ExitCode(IntEnum):
    """What the shell is told."""

    OK = 0
    DATA = 1
    """A file, an argument or the data is at fault."""
    USAGE = 2
    """Wrong options: what typer finds, and two that contradict each other."""
    STORE = 3
    """The collection could not do it."""
    WARNED = 4
    """Nothing is at fault, and a rule that warns is broken."""
    INTERRUPTED = 130
    TERMINATED = 143


def write_lines(
    path: str | None, lines: Iterable[str], *, manifest: str | None = None, private: bool = False
) -> None:
    """Write lines to a file, complete or not at all, or to stdout.

    Say so when that replaces an earlier result.

    `manifest`: that of an earlier result; by default beside it. `private`: a new file is for its owner alone,
    since judges are named in it.
    """
    if path is None or path == "-":
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    replaced = earlier_result(path, manifest or f"{path}.manifest.json")
    write_whole(path, lines, private=private)
    if replaced is not None:
        say(replaced)


def write_json(path: str, data: Mapping[str, Any], *, private: bool = False) -> None:
    """Write a JSON file as a whole, or to stdout; keys sorted. See `write_lines` of `private`."""
    text = json_text(data, indent=2, sort_keys=True)
    if path == "-":
        sys.stdout.write(f"{text}\n")
    else:
        write_whole(path, [text], private=private)


def write_manifest(
    out: str | None, manifest: str | None, facts: Mapping[str, Any], *, private: bool = False
) -> None:
    """Write a manifest where it is asked for, else beside its file; of stdout there is none."""
    if manifest is not None or out not in (None, "-"):
        write_json(manifest or f"{out}.manifest.json", facts, private=private)


def show_error(error: PoolerError) -> ExitCode:
    """Write an error and its hint to stderr; return the exit code it deserves."""
    hint = error.hint or (FILE_HINT if isinstance(error, FormatError) else None)
    for words in (f"error: {error.message}", f"hint: {hint}" if hint else ""):
        if words:
            sys.stderr.write(on_terminal(sanitise(words), sys.stderr) + "\n")
    if isinstance(error, ContradictionError):
        return ExitCode.USAGE
    return ExitCode.STORE if isinstance(error, StoreError) else ExitCode.DATA


def set_up_stdout() -> None:
    """Let stdout take every text; in files and pipes it is UTF-8, as in the files of `--out`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def text_stdin() -> TextIO:
    """Return stdin as text: UTF-8 from files and pipes; what is none becomes U+FFFD."""
    # Once a line has been read it can be said no more.
    if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors != "replace":
        encoding = sys.stdin.encoding if sys.stdin.isatty() else "utf-8"
        sys.stdin.reconfigure(encoding=encoding, errors="replace")
    return sys.stdin


def discard_stdout() -> None:
    """Forget what stdout cannot take; the interpreter would complain when it flushes."""
    with suppress(OSError, ValueError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def ask(question: str, *, yes: bool) -> None:
    """Ask on stderr whether to go on, unless the answer is known; any but yes is a `PoolerError`."""
    if yes:
        return
    say(f"{question} This cannot be taken back. Type yes to go on:")
    answer = text_stdin().readline().strip()
    if answer.lower() != "yes":
        message = "nothing was changed: the answer was not yes"
        raise PoolerError(message, hint="--yes goes on without asking")
