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

Numbers have ten decimal places at most, and the program's own version is VERSION.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from pooler import __version__
from tests.helpers.run import Terminal, run

_COMMAND = re.compile(r"(?:printf '(?P<stdin>[^']*)' \| )?(?:COLUMNS=(?P<columns>\d+) )?pooler(?P<words>.*)")
_MOMENTS = (
    (re.compile(r"\d{4}-\d\d-\d\d"), "YYYY-MM-DD"),
    (re.compile(r"(?<!\d)\d\d-\d\d (?=\d\d:\d\d)"), "MM-DD "),
    (re.compile(r"\d\d:\d\d:\d\d\.\d{6}"), "hh:mm:ss.ffffff"),
    (re.compile(r"(?<!\d)\d\d:\d\d:\d\d"), "hh:mm:ss"),
    (re.compile(r"(?<![\d:])\d\d:\d\d(?![\d:])"), "hh:mm"),
    (re.compile(r"(?<= commands in )[\d.]+ s"), "n s"),
    (re.compile(r"(?<= retries; )[\d,]+ s"), "n s"),
    (re.compile(r"[\d,]+ bytes"), "n bytes"),
)


_LONG = re.compile(r"(?<![\w.])-?\d*\.\d{11,}(?:e[-+]?\d+)?(?![\w.])")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|(?<![\w.])\.\d+")


@dataclass(frozen=True)
class Transcript:
    """What a transcript file asks for, and what it says: commands, each with its answer."""

    start: str
    has_times: bool
    commands: tuple[str, ...]
    answers: tuple[str, ...]

    def text(self) -> str:
        """Return the file."""
        times = "@ times\n" * self.has_times
        asked = zip(self.commands, self.answers, strict=True)
        return f"@ {self.start}\n{times}" + "".join(f"\n$ {one}\n{answer}" for one, answer in asked)


def read_transcript(path: Path) -> Transcript:
    """Read a transcript; one without answers is a list of commands."""
    head, *asked = path.read_bytes().decode().split("\n$ ")
    start, *marks = head.strip().split("\n")
    pairs = [one.partition("\n") for one in asked]
    answers = tuple(answer.strip("\n") + "\n" if answer.strip("\n") else "" for _, _, answer in pairs)
    return Transcript(
        start.removeprefix("@ "), "@ times" in marks, tuple(one for one, _, _ in pairs), answers
    )


def play(transcript: Transcript, folder: Path) -> Transcript:
    """Run the commands in a folder, the current one; return what they answer now."""
    answers = []
    for command in transcript.commands:
        code, out, err = _answer(command, folder)
        out = out.replace("waiting for the disk\n", "")  # said where the machine is busy
        lines = [*_marked("| ", out), *_marked("! ", err), *([f"= {code}"] if code else [])]
        text = "".join(f"{line}\n" for line in lines).replace(str(folder), "FOLDER")
        text = without_sizes(to_ten_places(text)).replace(__version__, "VERSION")
        if transcript.has_times:
            for pattern, mask in _MOMENTS:
                text = pattern.sub(mask, text)
        answers.append(text)
    return replace(transcript, answers=tuple(answers))


def to_ten_places(text: str) -> str:
    """Round numbers of more than ten decimal places: the last ones differ from machine to machine."""
    return _LONG.sub(lambda found: repr(round(float(found[0]), 10) + 0.0), text)


def without_sizes(text: str) -> str:
    """Mask how large a page is that was written: every change of its look is another number."""
    return re.sub(r"\d+ kB", "n kB", text)


def changed_numbers(before: str, now: str) -> list[str]:
    """Name the numbers of an answer that are others now, in their order; exit codes are numbers, too."""
    old, new = _NUMBER.findall(before), _NUMBER.findall(now)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        f"{' '.join(old[a:b]) or 'nothing'} -> {' '.join(new[c:d]) or 'nothing'}"
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


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
