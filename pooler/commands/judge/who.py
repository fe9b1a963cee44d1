"""Who judges where no name is given: asked once, and remembered for this collection on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pooler.messages import say, text_stdin, warn
from store.errors import ContradictionError, PoolerError
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from store.collection import Collection

_NAME_IT = "pooler judge --judge NAME names the judge, and so does POOLER_JUDGE"


def who_judges(opened: Collection) -> str:
    """Return who judged here last, else ask; `PoolerError`: no answer, or no judge of that name.

    Without a terminal what is remembered does not count: a script's judgements are not to depend on who sat
    at the machine before.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        missing = "must be given, or POOLER_JUDGE: there is no terminal to ask on"
        raise ContradictionError("--judge", missing, None, hint="pooler judge --judge NAME")
    left = _left_by_judge(opened)
    if not left:
        message = "no person can judge here yet"
        raise PoolerError(message, hint="pooler judges add NAME adds one")
    place = memory_of(opened.where)
    name = _remembered(place)
    if name in left:
        say(f"{sanitise_line(name)}, as last time; pooler judge --judge NAME for somebody else")
        return name
    name = _ask(left)
    _remember(place, opened.where, name)
    return name


def memory_of(where: str) -> Path:
    """Name the file in the user's state folder that remembers the judge of a collection; it may not be there.

    A name of its own for each collection, so that two that are opened at once do not meet in one file.
    """
    known = _in_full(where)
    # The standard says that a relative path is no folder.
    given = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(given) if Path(given).is_absolute() else Path("~/.local/state").expanduser()
    return folder / "pooler" / f"judge-{hashlib.sha256(known.encode()).hexdigest()[:16]}.json"


def _in_full(where: str) -> str:
    """Name a collection whatever the folder is that a command is run in."""
    return where if "://" in where else str(Path(where).resolve())


def _left_by_judge(opened: Collection) -> dict[str, str]:
    from pooler.commands.judge.status import status
    from store.records import JudgeKind

    rows: dict[Any, Any] = {row["judge"]: row for row in status(opened).table("status").to_records()}
    left = {}
    for judge in opened.judges.all():
        if judge.kind is JudgeKind.HUMAN and not judge.disabled:
            row = rows.get(judge.name, {})
            skipped = f", {row['skipped']:,} skipped" if row.get("skipped") else ""
            to_claim = f", {row['open_places']:,} open to any judge" if row.get("open_places") else ""
            left[judge.name] = f"{counted(row.get('left') or 0, 'document')} left{skipped}{to_claim}"
    return left


def _ask(left: dict[str, str]) -> str:
    names = list(left)
    width = max(len(sanitise_line(name)) for name in names)
    say("Who are you?")
    for number, name in enumerate(names, start=1):
        say(f"  {number}  {sanitise_line(name):{width}}  {left[name]}")
    while True:
        sys.stderr.write("your number or name > ")
        sys.stderr.flush()
        line = text_stdin().readline()
        if not line:
            message = "no judge was named"
            raise PoolerError(message, hint=_NAME_IT)
        answer = line.strip()
        if answer in left:
            return answer
        # A full-width digit counts, too; a name that is a number has been taken for the name.
        if answer.isdecimal() and len(answer) < 9 and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        if answer:
            say(f"{sanitise_line(answer)} is none of them; an organiser adds people with pooler judges add")


def _remembered(place: Path) -> str:
    """Read who judged last; empty = unknown."""
    with suppress(OSError, ValueError):
        known = json.loads(place.read_text("utf-8"))
        if isinstance(known, dict) and isinstance(known.get("judge"), str):
            return str(known["judge"])
    return ""


def _remember(place: Path, where: str, name: str) -> None:
    """Write down who judges, wholly or not at all; where that fails, they are asked again next time."""
    from store.db.files import made_whole

    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with made_whole(place, replaces=True) as part:
            part.write_text(json.dumps({"collection": _in_full(where), "judge": name}) + "\n", "utf-8")
    except (OSError, PoolerError) as error:
        warn(f"{place}: your name could not be remembered: {getattr(error, 'strerror', None) or error}")
