"""Start-up of the command line.

`POOLER_BENCH_REPEATS` says how often each command is timed (three times that, default 3).
"""

from __future__ import annotations

import sys

import pytest

from tests.benchmarks.test_pool_speed import REPEATS, median, timed

PROGRAM = (sys.executable, "-m", "pooler.cli.main")


@pytest.mark.benchmark
def test_start_up_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """Print how long `pooler --help` takes beside an empty Python process."""
    lines = ["start-up, medians"]
    for name, command in (
        ("python -c pass", (sys.executable, "-c", "pass")),
        ("pooler --help", (*PROGRAM, "--help")),
        ("pooler check --help", (*PROGRAM, "check", "--help")),
    ):
        one = median([timed(*command) for _ in range(3 * REPEATS)])
        lines.append(f"  {name:20} wall {one.wall:6.3f} s  processor {one.processor:6.3f} s")
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")
