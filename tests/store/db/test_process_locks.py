"""Names held by one process against another, on both engines: given back, and free after a kill."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from store.collection import Collection
from store.db.process_locks import ProcessLocks
from tests.helpers.run import ROOT

HOLDER = """
import sys
from store.collection import Collection
from store.db.process_locks import ProcessLocks
held = ProcessLocks(Collection(sys.argv[1])._db.engine)
print(held.take("m", "1", "a"), held.take("m", "1", "a"), flush=True)
sys.stdin.readline()
held.give_back("m", "1", "a")
print("given back", flush=True)
sys.stdin.readline()
"""


@contextmanager
def holder(collection: Collection, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run another process that holds a name."""
    command = [sys.executable, "-c", HOLDER, name]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:  # type: ignore[call-overload]
        try:
            assert process.stdout.readline() == b"True False\n"
            yield process
        finally:
            process.kill()


def test_what_another_process_holds_is_not_given(collection: Collection, collection_name: str) -> None:
    """Until it gives it back; other names are free all the time."""
    held = ProcessLocks(collection._db.engine)
    with holder(collection, collection_name) as process:
        assert not held.take("m", "1", "a")
        assert held.take("m", "1", "b")
        assert held.take("n", "1", "a")
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"given back\n"
        assert held.take("m", "1", "a")
        assert not held.take("m", "1", "a")
    held.close()


def test_a_killed_process_holds_nothing(collection: Collection, collection_name: str) -> None:
    """No lease has to run out: the system lets go."""
    held = ProcessLocks(collection._db.engine)
    with holder(collection, collection_name) as process:
        assert not held.take("m", "1", "a")
        process.kill()
        process.wait()
        for _ in range(100):  # a server of its own notices a moment later
            if held.take("m", "1", "a"):
                break
            subprocess.run(["sleep", "0.05"], check=True)
        else:
            raise AssertionError
    held.close()
