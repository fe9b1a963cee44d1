r"""Transcripts: commands, and under each what it answered, to the byte.

A transcript begins with a line `@ START`, the folder it starts in (see `START`), and perhaps
`@ times`, where what it prints holds moments of its own. After that::

    $ pooler status                  run in this process, in the folder
    $ COLUMNS=60 pooler status       the same, its stdout a terminal of 60 columns
    $ printf '1\nq\n' | pooler ...   with this on stdin
    $ cat pool.txt                   anything else is run by bash
    | a line of stdout
    ! a line of stderr
    | a last line without its newline\
    = 2                              an exit code that is not 0
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.run import Terminal, run

_COMMAND = re.compile(r"(?:printf '(?P<stdin>[^']*)' \| )?(?:COLUMNS=(?P<columns>\d+) )?pooler(?P<words>.*)")
_MOMENTS = (
    (re.compile(r"\d{4}-\d\d-\d\d"), "YYYY-MM-DD"),
    (re.compile(r"(?<!\d)\d\d-\d\d (?=\d\d:\d\d)"), "MM-DD "),
    (re.compile(r"\d\d:\d\d:\d\d\.\d{6}"), "hh:mm:ss.ffffff"),
    (re.compile(r"(?<!\d)\d\d:\d\d:\d\d"), "hh:mm:ss"),
    (re.compile(r"(?<![\d:])\d\d:\d\d(?![\d:])"), "hh:mm"),
    (re.compile(r"(?<= commands in )[\d.]+ s"), "n s"),
    (re.compile(r"[\d,]+ bytes"), "n bytes"),
)


@dataclass(frozen=True)
class Transcript:
    """What a transcript file asks for, and what it says."""

    start: str
    has_times: bool
    commands: list[str]
    text: str


def read_transcript(path: Path) -> Transcript:
    """Read a transcript; one without answers is a list of commands."""
    text = path.read_bytes().decode()
    lines = text.split("\n")
    marks = [line.removeprefix("@ ") for line in lines if line.startswith("@ ")]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return Transcript(marks[0], "times" in marks, commands, text)


def play(transcript: Transcript, folder: Path) -> str:
    """Run the commands in a folder, the current one, and write the transcript anew."""
    written = [f"@ {transcript.start}"] + ["@ times"] * transcript.has_times
    for command in transcript.commands:
        code, out, err = _answer(command, folder)
        written += ["", f"$ {command}", *_marked("| ", out), *_marked("! ", err)]
        if code:
            written.append(f"= {code}")
    text = "\n".join(written).replace(str(folder), "FOLDER") + "\n"
    if transcript.has_times:
        for pattern, mask in _MOMENTS:
            text = pattern.sub(mask, text)
    return text


def _answer(command: str, folder: Path) -> tuple[int, str, str]:
    """Run one command; return its exit code, stdout and stderr."""
    match = _COMMAND.fullmatch(command)
    if match is None:
        ran = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=False)
        return ran.returncode, ran.stdout.decode(), ran.stderr.decode()
    columns = match["columns"]
    out, err = Terminal() if columns else io.StringIO(), io.StringIO()
    typed = (match["stdin"] or "").replace("\\n", "\n").encode()
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8")
    os.environ["COLUMNS"] = columns or "80"
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = int(run(shlex.split(match["words"])))
    finally:
        sys.stdin = stdin
    return code, out.getvalue(), err.getvalue()


def _marked(mark: str, text: str) -> list[str]:
    """Put a mark before every line; a backslash stands for a last newline that is not there."""
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\\"
    else:
        lines.pop()
    return [f"{mark}{line}" if line else mark.rstrip() for line in lines]
