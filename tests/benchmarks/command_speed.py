"""Start-up of the command line, beside that of an empty Python process.

`POOLER_BENCH_REPEATS` says how often each command is timed (three times that, default 3).
"""

from __future__ import annotations

import sys

from tests.benchmarks.timing import PROGRAM, REPEATS, repeated


def start_up_speed() -> None:
    """Print how long `pooler --help` takes beside an empty Python process."""
    print("start-up, medians")
    for name, command in (
        ("python -c pass", (sys.executable, "-c", "pass")),
        ("pooler --help", (*PROGRAM, "--help")),
        ("pooler check --help", (*PROGRAM, "check", "--help")),
    ):
        print(f"  {name:20} {repeated(*command, repeats=3 * REPEATS)}")


if __name__ == "__main__":
    start_up_speed()
