"""70 million lines on Spark: the bytes of one machine, in 1.5 GB an executor."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.benchmarks.generate_scale import generate_scale
from tests.cli.spark.processes import below
from tests.helpers.run import environment, program, run_process

MOST_BYTES = 1_500_000_000
ENOUGH_BYTES = 8 * 2**30
KIB = 1024


def resident_bytes(pid: int) -> int:
    """Return the memory of a process that no other one has, and its share of the rest."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it has ended
    return sum(int(line.split()[1]) * KIB for line in lines if line.startswith("Pss:"))


@pytest.mark.java
@pytest.mark.long
def test_70_million_lines_need_no_more_than_an_executor_has(here: Path) -> None:
    """10 runs of 7,000 topics by 1,000 documents; Java and its workers together, at every moment."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    if shutil.disk_usage(here).free < ENOUGH_BYTES:
        pytest.skip("not run here for want of 8 GB of disk")
    files = [str(file) for file in generate_scale(here / "runs", 10, 7000, 1000, seed=1)]
    try:
        assert run_process("pool", *files, "--out", "here.txt", folder=here, timeout_s=600).returncode == 0
        process = subprocess.Popen(
            [*program(), "pool", *files, "--out", "spark.txt", "--engine", "spark"],
            cwd=here,
            env=environment({"SPARK_MASTER": "local[2]"}),
        )
        most = 0
        while process.poll() is None:
            most = max(most, sum(map(resident_bytes, below(process.pid))))
            time.sleep(0.2)
        assert process.returncode == 0
        for end in ("", ".manifest.json"):
            assert (here / f"spark.txt{end}").read_bytes() == (here / f"here.txt{end}").read_bytes()
        assert 0 < most <= MOST_BYTES
    finally:
        shutil.rmtree(here / "runs", ignore_errors=True)
