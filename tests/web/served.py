"""`pooler serve` as a process."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.collection import Collection
from tests.helpers.run import environment, program

PATIENCE_S = 60.0


def codes_of(file: Path | str, *judges: str) -> dict[str, str]:
    """Give codes to judges."""
    with Collection(str(file)) as opened:
        return {judge: opened.codes.give(judge) for judge in judges}


class Served:
    """A server that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said = ""
        threading.Thread(target=self._hear, daemon=True).start()
        end = time.monotonic() + PATIENCE_S
        while "stops it" not in self.said:
            assert process.poll() is None, self.said
            assert time.monotonic() < end, self.said
            time.sleep(0.01)
        found = re.search(r"judges open (\S+) [^/]*(?:http\S+)/progress, code (\S+)", self.said)
        assert found is not None
        self.origin, self.organiser_code = found.groups()

    def _hear(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line


@contextmanager
def serving(file: Path | str, *options: str) -> Iterator[Served]:
    """Serve a collection at any free port, or that of the options."""
    port = () if "--port" in options else ("--port", "0")
    process = subprocess.Popen(
        [*program(), "serve", *port, "--collection", str(file), *options],
        stderr=subprocess.PIPE,
        text=True,
        env=environment({}),
    )
    try:
        yield Served(process)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE_S)
        if process.stderr is not None:
            process.stderr.close()
