"""How the process of one judge is started: with which command, which settings, and at which address.

The one place that decides it. The process knows its judge by the code that was entered, and of the settings
of the server's account what is listed here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from pooler.serving.inside import DRIVER

_PASSED_ON = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
_PASSED_ON_TO_POSTGRESQL = (
    "PGUSER",
    "PGPASSWORD",
    "PGSSLCERT",
    "PGSSLKEY",
    "PGHOST",
    "PGHOSTADDR",
    "PGPORT",
    "PGDATABASE",
    "PGPASSFILE",
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGSSLMODE",
    "PGSSLROOTCERT",
    "PGCONNECT_TIMEOUT",
)
_PROGRAM = "from pooler.cli.main import main; main()"


@dataclass(frozen=True, slots=True)
class Start:
    """A command without a shell, and all of its environment."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


def start_of(judge: str, collection: str, *, width: int, height: int) -> Start:
    """Return how the screen of a judge is started, for a window of so many columns and rows."""
    passed_on: tuple[str, ...] = _PASSED_ON
    if "://" in collection:
        passed_on += _PASSED_ON_TO_POSTGRESQL
    environment = {name: os.environ[name] for name in passed_on if name in os.environ}
    environment |= {
        "POOLER_COLLECTION": collection,
        "TEXTUAL_DRIVER": DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "TERM_PROGRAM": "textual",
        "COLUMNS": str(width),
        "ROWS": str(height),
        "PYTHONUTF8": "1",
    }
    # -P: nothing in the folder where the server was started is taken for a module.
    return Start((sys.executable, "-P", "-c", _PROGRAM, "judge", f"--judge={judge}"), environment)
