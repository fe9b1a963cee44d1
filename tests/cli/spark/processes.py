"""The processes that a command starts, as Linux lists them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def below(root: int) -> dict[int, str]:
    """Return the command lines of the processes that descend from one."""
    found: dict[int, str] = {}
    for pid in children(root):
        with suppress(OSError):  # it has ended
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            found |= {pid: words.decode("utf-8", "replace"), **below(pid)}
    return found


def children(pid: int) -> list[int]:
    """Return the processes that one has started, by whichever of its threads."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def workers(root: int) -> list[int]:
    """Return the workers of Python: children of Spark's daemon, which looks like them."""
    daemons = [pid for pid, words in below(root).items() if "pyspark.daemon" in words]
    return [worker for daemon in daemons for worker in children(daemon)]


def executors(root: int) -> list[int]:
    """Return the executors, each a Java of its own."""
    return [pid for pid, words in below(root).items() if "CoarseGrainedExecutorBackend" in words]


def is_running(pid: int) -> bool:
    """Say whether a process is there, and not only its name."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
