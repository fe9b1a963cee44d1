"""Streams, progress, words, asking.

stdout is data; stderr is words and progress. Everything shown is sanitised; nothing in data is
ever read as markup.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from enum import IntEnum

from pooler.files import check_manifest as check_manifest
from pooler.files import check_out as check_out
from pooler.files import check_place as check_place
from pooler.files import json_text as json_text
from pooler.files import write_json as write_json
from pooler.files import write_lines as write_lines
from pooler.files import write_results as write_results
from pooler.judge_kinds import erased_facts as erased_facts
from pooler.judge_kinds import erased_words as erased_words
from pooler.messages import say
from pooler.streams import on_terminal, text_stdin
from store.errors import ContradictionError, PoolerError, StoreError
from store.text import sanitise


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


def show_error(error: PoolerError) -> ExitCode:
    """Write an error and its hint to stderr; return the exit code it deserves."""
    for words in error.lines():
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
