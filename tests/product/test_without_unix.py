"""Pooling, measuring and judging line by line need no module that Unix alone has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.run import GARDEN, ROOT

pytestmark = pytest.mark.slow

# What Windows lacks is taken away before the program is imported; libraries keep it.
AS_ON_WINDOWS = """
import os, select, signal, sys
import asyncio, numpy, subprocess, sqlalchemy, tempfile  # which look themselves at the system they are on

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
for name in (
    "fork O_CLOEXEC O_NOFOLLOW O_DIRECTORY O_NONBLOCK fchmod fchown chown getuid geteuid getgid getegid"
    " sched_getaffinity setsid killpg statvfs mkfifo posix_fadvise pread register_at_fork"
).split():
    if hasattr(os, name):
        delattr(os, name)
for name in ("pthread_sigmask", "SIGHUP", "SIGKILL", "SIGALRM", "SIGWINCH", "alarm", "setitimer"):
    if hasattr(signal, name):
        delattr(signal, name)

def of_sockets(*waited):
    if sys._getframe(1).f_globals["__name__"].startswith("judge_ui"):
        raise OSError(10038, "An operation was attempted on something that is not a socket")
    return waits(*waited)

waits, select.select = select.select, of_sockets
from pooler.cli.main import main
main()
"""


def test_an_organiser_and_a_judge_come_through(tmp_path: Path) -> None:
    """From run files to qrels, scores, a backup and a report; a judge decides line by line."""

    def pooler(*words: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-c", AS_ON_WINDOWS, *words],
            cwd=tmp_path,
            input=given,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "POOLER_COLLECTION": "new.db"},
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    runs = sorted(map(str, (GARDEN / "runs").glob("*.run")))
    assert len(pooler("pool", *runs, "--depth", "5").splitlines()) == 84
    pooler("init", "--scale", "0-2")
    pooler("import", "topics", str(GARDEN / "topics.jsonl"))
    pooler("import", "docs", str(GARDEN / "documents.jsonl"))
    pooler("import", "runs", *runs)
    pooler("pool", "--depth", "5")
    pooler("judges", "add", "alice")
    pooler("assign")
    assert "2 decisions" in pooler("judge", "--judge", "alice", "--plain", given="\n2\n0\nquit\n")
    assert len(pooler("export", "judgements").splitlines()) >= 2
    assert pooler("export", "qrels").splitlines()[0].startswith("G01 0 ")
    assert "AP" in pooler("evaluate", "-m", "AP")
    pooler("verify")
    pooler("backup", "copy.db")
    pooler("export", "collection", "folder")
