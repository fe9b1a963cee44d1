"""Run files checked, and brought into a collection, beside peers that only read them."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.evaluate import DOCUMENTS, RUNS, TOPICS
from tests.benchmarks.generate import generate
from tests.benchmarks.generate_scale import generate_scale
from tests.benchmarks.timing import POOLER, PROGRAM, PYTHON, Timing, compare, folder, peer, timed

PYTREC_EVAL = """
import sys, pytrec_eval
for path in sys.argv[1:]:
    with open(path) as file:
        pytrec_eval.parse_run(file)
"""
IR_MEASURES = """
import sys, ir_measures
for path in sys.argv[1:]:
    for _ in ir_measures.read_trec_run(path):
        pass
"""
POLARS = """
import sys, polars
for path in sys.argv[1:]:
    polars.read_csv(path, separator=" ", has_header=False)
"""
LINES = {"0.7 M lines": 100, "2 M lines": 300, "7 M lines": 1000}
"""Topics of one run."""


def read(place: Path) -> None:
    """Print the tables."""
    files = [str(path) for path in generate(place / "runs", RUNS["129 runs"], TOPICS, DOCUMENTS, seed=1)]

    def imported(size: str) -> Timing:
        collection = place / "c.db"
        collection.unlink(missing_ok=True)
        timed(*PROGRAM, "init", "--collection", str(collection))
        return timed(*PROGRAM, "import", "runs", "--collection", str(collection), *files[: RUNS[size]])

    compare(
        f"Reading run files of several kinds, {TOPICS} topics, {DOCUMENTS:,} lines a topic",
        RUNS,
        {
            f"{POOLER} check": lambda size: timed(*PROGRAM, "check", *files[: RUNS[size]]),
            f"{POOLER} import runs": imported,
            **{
                name: lambda size, code=code: timed(*PYTHON, code, *files[: RUNS[size]])
                for name, code in {
                    f"{peer('pytrec-eval-terrier', 'pytrec_eval')} parse_run": PYTREC_EVAL,
                    f"{peer('ir_measures')} read_trec_run": IR_MEASURES,
                }.items()
            },
        },
    )
    large = {
        size: [str(path) for path in generate_scale(place / size.replace(" ", ""), 7, n, DOCUMENTS, seed=1)]
        for size, n in LINES.items()
    }
    compare(
        "Reading seven large run files with one blank between fields",
        LINES,
        {
            f"{POOLER} check": lambda size: timed(*PROGRAM, "check", *large[size]),
            f"{peer('polars')} read_csv, no field checked": lambda size: timed(*PYTHON, POLARS, *large[size]),
        },
    )


if __name__ == "__main__":
    with folder() as made:
        read(made)
