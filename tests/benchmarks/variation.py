"""How MAP would vary under other judges, and a report; no other program does this."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.evaluate import DOCUMENTS, TOPICS, write_qrels
from tests.benchmarks.generate import generate
from tests.benchmarks.timing import POOLER, PROGRAM, compare, folder, timed

RUNS = {"2 runs": 2, "24 runs": 24, "129 runs": 129}
GRADES = ("--value", "0=.1", "--value", "1=.7", "--value", "2=.9")
COMMANDS = {
    "variation": ("variation", *GRADES),
    "variation --by pair, every grade certain": ("variation", "--by", "pair"),
    "variation --by pair, every document uncertain": ("variation", "--by", "pair", *GRADES),
}


def variation(place: Path) -> None:
    """Print the table."""
    files = [str(path) for path in generate(place / "runs", RUNS["129 runs"], TOPICS, DOCUMENTS, seed=1)]
    write_qrels(place / "qrels", files)
    judged = ("--qrels", str(place / "qrels"))
    compare(
        f"How MAP would vary under other judges, and a report, {TOPICS} topics, {DOCUMENTS:,} lines a topic",
        RUNS,
        {
            f"{POOLER} {name}": lambda size, words=words: timed(
                *PROGRAM, *words, *judged, *files[: RUNS[size]]
            )
            for name, words in (COMMANDS | {"report": ("report", str(place / "page.html"))}).items()
        },
        repeats=1,
    )


if __name__ == "__main__":
    with folder() as made:
        variation(made)
