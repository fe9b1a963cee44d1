"""Start-up, and the import of whole runs into a collection: time, memory, and size of the file.

`POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000 documents (default 20; 120 is a
track's), `POOLER_BENCH_REPEATS` how often each command is timed (default 3).
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.benchmarks.generate import generate
from tests.benchmarks.test_pool_speed import DOCUMENTS, REPEATS, RUNS, TOPICS, median, timed

PROGRAM = (sys.executable, "-m", "pooler.cli.main")
PARSE = """
import sys, pytrec_eval
for path in sys.argv[1:]:
    with open(path) as file:
        pytrec_eval.parse_run(file)
"""


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


@pytest.mark.benchmark
def test_import_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the time of importing runs beside that of the peer's reader, which stores nothing."""
    files = [str(path) for path in generate(tmp_path / "runs", RUNS, TOPICS, DOCUMENTS, seed=1)]
    taken, sizes = [], []
    for number in range(REPEATS):
        place = tmp_path / f"c{number}.db"
        chosen = ("--collection", str(place))
        timed(*PROGRAM, "init", *chosen)
        taken.append(timed(*PROGRAM, "import", "runs", *files, *chosen))
        sizes.append(place.stat().st_size / 1e6)
    one = median(taken)
    lines = [
        f"import of {RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents, medians of {REPEATS}",
        f"  pooler import        wall {one.wall:6.2f} s  processor {one.processor:6.2f} s"
        f"  memory {one.memory:4.0f} MiB  file {max(sizes):5.1f} MB",
    ]
    if importlib.util.find_spec("pytrec_eval") is None:
        lines.append("  pytrec_eval  peer absent")
    else:
        peer = median([timed(sys.executable, "-c", PARSE, *files) for _ in range(REPEATS)])
        lines.append(
            f"  pytrec_eval reading  wall {peer.wall:6.2f} s  processor {peer.processor:6.2f} s"
            f"  memory {peer.memory:4.0f} MiB  (keeps nothing)"
        )
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")
