"""Twenty judges who claim from one SQLite file, while an import and two poolings write to it.

`POOLER_BENCH_JUDGES` (default 20), `POOLER_BENCH_DOCUMENTS` a topic (default 400).
"""

from __future__ import annotations

import os
import random
import statistics
import time
from pathlib import Path

from tests.benchmarks.timing import in_folder
from tests.helpers.run import run_inside
from tests.judge_ui.many_judges import Judge, ended, pooler, prepare, work

JUDGES = int(os.environ.get("POOLER_BENCH_JUDGES", "20"))
DOCUMENTS = int(os.environ.get("POOLER_BENCH_DOCUMENTS", "400"))
IMPORTED = 100_000
THINK_S = 0.5
PEER = "20 bare writers, ms: behind a lock file p50 53, p95 112, longest 155; without 51, 249, 696"


def runs_and_qrels(folder: Path) -> tuple[list[str], str]:
    """Write runs to be pooled, and judgements to be imported."""
    runs = [folder / f"run{number}.run" for number in range(4)]
    for file in runs:
        file.write_text(
            "".join(f"2 Q0 {file.stem}-{n} {n + 1} {1000 - n} {file.stem}\n" for n in range(1000))
        )
    qrels = folder / "gpt.qrels"
    qrels.write_text("".join(f"{1 + n % 2} 0 y{n // 2} {n % 3}\n" for n in range(IMPORTED)))
    return [str(file) for file in runs], str(qrels)


def twenty_judges_an_import_and_two_poolings(folder: Path) -> None:
    """Nobody fails to start, nothing is NOT SAVED, and nothing is lost."""
    place = str(folder / "c.db")
    names = prepare(place, documents=DOCUMENTS, judges=JUDGES)
    runs, qrels = runs_and_qrels(folder)
    run_inside("import", "runs", *runs, "--collection", place).fine()
    judges = [Judge(place, name, random.Random(name)) for name in names]
    began = time.monotonic()
    gpt = ("--judge", "gpt", "--kind", "model", "--allow-unknown")
    beside = [
        pooler(place, "import", "judgements", qrels, *gpt),
        pooler(place, "pool", "--depth", "100", "--name", "one"),
        pooler(place, "pool", "--depth", "200", "--name", "two"),
    ]
    work(judges, THINK_S)
    took = time.monotonic() - began
    answers = [one for judge in judges for one in judge.waits]
    waits = sorted(wait * 1000 for _, wait in answers)
    p95, p99 = (waits[int(len(waits) * share)] for share in (0.95, 0.99))
    print(
        f"{JUDGES} judges, {2 * DOCUMENTS} decisions, {took:.0f} s, {len(answers)} answers, imports beside",
        f"ms: p50 {statistics.median(waits):.0f}, p95 {p95:.0f}, p99 {p99:.0f}, longest {waits[-1]:.0f}",
        f"{sum(judge.n_unsaved for judge in judges)} NOT SAVED, "
        f"{sum(judge.n_void for judge in judges)} without a document, "
        f"{sum(not judge.saved for judge in judges)} not started",
        PEER,
        *(f"exit {code}: {line}" for code, line in map(ended, beside)),
        sep="\n",
    )
    assert sum(len(judge.saved) for judge in judges) == 2 * DOCUMENTS


if __name__ == "__main__":
    in_folder(twenty_judges_an_import_and_two_poolings)
