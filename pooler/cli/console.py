"""Streams, progress, words, asking.

stdout is data; stderr is words and progress. Everything shown is sanitised; nothing in data is
ever read as markup.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import IntEnum
from typing import Any

from pooler.messages import say
from pooler.results.files import check_manifest as check_manifest
from pooler.results.files import check_out as check_out
from pooler.results.files import check_place as check_place
from pooler.results.files import earlier_result, write_whole
from pooler.results.files import json_text as json_text
from pooler.results.judge_kinds import erased_facts as erased_facts
from pooler.results.judge_kinds import erased_words as erased_words
from pooler.streams import on_terminal, text_stdin
from store.errors import ContradictionError, FormatError, PoolerError, StoreError
from store.text import sanitise

FILE_HINT = "nothing in this file was used: correct it, then run the command again"


class ExitCode(IntEnum):
    """The exit code for the shell."""

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
    path: str | None, lines: Iterable[str], *, private: bool = False, first: Callable[[], None] | None = None
) -> None:
    """Write lines to a file, complete or not at all, or to stdout.

    `private`: a new file is for its owner alone, since judges are named in it. `first` is called before the
    file has its name; see `write_whole`.
    """
    if path is None or path == "-":
        sys.stdout.writelines(f"{line}\n" for line in lines)
        if first is not None:
            first()
    else:
        write_whole(path, lines, private=private, first=first)


def write_results(
    files: Mapping[str | None, Iterable[str]],
    facts: Callable[[], Mapping[str, Any]],
    manifest: str | None,
    *,
    private: bool = False,
    names_judges: bool = True,
) -> None:
    """Write results, each to a file or to stdout, and their manifest; say which replace earlier ones.

    Parameters
    ----------
    files : mapping
        Lines by path.
    facts : callable
        Gives what the manifest says, when the lines of the first file are written.
    manifest : str or None
        Its path; by default beside a file, and of stdout there is none.
    private : bool, default=False
        Whether new files are for their owner alone.
    names_judges : bool, default=True
        Whether a new manifest is.
    """
    paths = [path for path in files if path is not None and path != "-"]
    beside = manifest or (f"{paths[0]}.manifest.json" if paths else None)
    replaced = [] if beside is None else [earlier_result(path, beside) for path in paths]
    waiting = [] if beside is None else [beside]

    def write_manifest() -> None:
        while waiting:
            write_json(waiting.pop(), facts(), private=names_judges)

    for path, lines in files.items():
        write_lines(path, lines, private=private, first=write_manifest)
    for words in filter(None, replaced):
        say(words)


def write_json(path: str, data: Mapping[str, Any], *, private: bool = False) -> None:
    """Write a JSON file as a whole, or to stdout; keys sorted. See `write_lines` of `private`."""
    text = json_text(data, indent=2, sort_keys=True)
    if path == "-":
        sys.stdout.write(f"{text}\n")
    else:
        write_whole(path, [text], private=private)


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


def discard_stdout() -> None:
    """Forget what stdout cannot take; the interpreter would complain when it flushes."""
    with suppress(OSError, ValueError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def confirm(question: str, *, yes: bool) -> None:
    """Ask on stderr whether to go on, unless the answer is known; any but yes is a `PoolerError`."""
    if yes:
        return
    say(f"{question} This cannot be taken back. Type yes to go on:")
    answer = text_stdin().readline().strip()
    if answer.lower() != "yes":
        message = "nothing was changed: the answer was not yes"
        raise PoolerError(message, hint="--yes goes on without asking")
