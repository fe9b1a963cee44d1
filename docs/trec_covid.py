"""Make a collection of what TREC-COVID published of its first round, and measure how far it can be trusted.

`python trec_covid.py TOPICS QRELS LEADERBOARD RUNS FOLDER` reads the topics (XML), the qrels, the official
scores (CSV: run, team, contributed judgments, ndcg@10, p@5 ...) and a folder of run files, each called after
its run, gzipped or not. All that it makes is in FOLDER: the collection, tables, qrels, a report. Only pooler
and what Python brings are needed. The same bytes each time, but for the collection, which knows when it was
made, and the day below the report.
"""

from __future__ import annotations

import csv
import gzip
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

DEPTH = ["--depth", "7"]
"""Each contributing run gave its first seven documents; documents with one score went by docno, ascending."""
ORDER = ["--order", "docno-asc"]
VALUES = [word for value in ("0=0", "1=0.5", "2=1") for word in ("--value", value)]
"""An assumption, as nothing was judged twice: a second assessor would find half of the partially relevant
documents relevant, all of the relevant ones, and none of the others."""
SCORES = {"p@5": "P@5", "ndcg@10": "nDCG@10"}
"""Official scores that runs cut at rank 120 have, too; in `evaluate` by trec_eval's order."""


def lines_of(path: Path) -> list[str]:
    """Read the lines of a text file, gzipped or not."""
    content = path.read_bytes()
    return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode().splitlines()


def pooler(folder: Path, *words: str | Path) -> None:
    """Run a command in the folder; show it, and what it says."""
    shown = [word.name if isinstance(word, Path) else word for word in words]
    print("$ pooler", shlex.join(shown), flush=True)  # noqa: T201 - a script of its own
    ran = subprocess.run(["pooler", *map(str, words)], cwd=folder, check=False)
    if ran.returncode:
        sys.exit(f"pooler {words[0]} failed, see above; what was made until then is in {folder}")


def run_list(runs: Path, official: Iterable[dict[str, str]]) -> str:
    """List the runs with their teams, and which of them fed the pool; say which are missing."""
    listed, missing = ["file\ttag\tgroup\tcontributes"], []
    for row in sorted(official, key=lambda row: row["run"]):
        tag = row["run"]
        file = next((one for one in (tag, f"{tag}.gz") if (runs / one).exists()), None)
        listed.append(f"runs/{file}\t{tag}\t{row['team']}\t{row['contributed judgments']}")
        missing += [] if file else [tag]
    if missing:
        sys.exit(f"{len(missing)} runs are not in the folder of runs: {', '.join(missing[:5])} ...")
    return "\n".join(listed) + "\n"


def compare_scores(folder: Path, official: Iterable[dict[str, str]]) -> str:
    """Count the runs whose scores are the published ones, to the four decimals that these have."""
    with (folder / "scores.tsv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        ours = {(row["run"], row["measure"]): float(row["value"]) for row in rows}
    rows_of = [*official]
    same = [
        all(abs(ours[row["run"], name] - float(row[column])) < 1e-4 for column, name in SCORES.items())
        for row in rows_of
    ]
    return f"{sum(same)} of {len(same)} runs have the {' and '.join(SCORES.values())} that were published"


def main(topics: Path, qrels: Path, leaderboard: Path, runs: Path, folder: Path) -> None:
    """Make everything in a new folder."""
    with leaderboard.open(encoding="utf-8", newline="") as lines:
        official = [*csv.DictReader(lines)]
    published = lines_of(qrels)
    listed = run_list(runs, official)
    folder.mkdir(parents=True)
    (folder / "runs").symlink_to(runs.resolve())
    (folder / "runs.tsv").write_text(listed, "utf-8")
    pooler(folder, "check", "--runs", "runs.tsv", *DEPTH, *ORDER, "--format", "tsv", "--out", "check.tsv")
    pooler(folder, "init", "--name", "TREC-COVID round 1", "--scale", "0-2")
    pooler(folder, "import", "topics", topics.resolve())
    pooler(folder, "import", "runs", "--runs", "runs.tsv")
    pooler(folder, "pool", *DEPTH, *ORDER)
    pooler(folder, "import", "judgements", qrels.resolve(), "--judge", "nist", "--kind", "human")
    pooler(folder, "export", "qrels", "official", "--out", "round1.qrels")
    again = {*map(tuple, map(str.split, lines_of(folder / "round1.qrels")))}
    if again != {*map(tuple, map(str.split, published))}:
        sys.exit("the qrels that were exported are not those that were published")
    measures = [word for name in SCORES.values() for word in ("-m", name)]
    measures += ["--order", "trec9"]
    pooler(folder, "evaluate", *measures, "--format", "tsv", "--out", "scores.tsv")
    before = [line for line in published if line.split()[1] == "0.5"]
    (folder / "before.qrels").write_text("\n".join(before) + "\n", "utf-8")
    residual = ["--without", "before.qrels", "--format", "tsv", "--out", "residual.tsv"]
    pooler(folder, "evaluate", *measures, *residual)
    pooler(folder, "diagnose", *ORDER, "--format", "json", "--out", "diagnosis.json")
    pooler(folder, "sensitivity", *ORDER, "--format", "tsv", "--out", "sensitivity.tsv")
    pooler(folder, "variation", *VALUES, *ORDER, "--format", "tsv", "--out", "variation.tsv")
    pooler(folder, "report", "report.html", *VALUES, *ORDER, "--title", "TREC-COVID, round 1")
    print(compare_scores(folder, official))  # noqa: T201


if __name__ == "__main__":
    paths = [Path(word) for word in sys.argv[1:]]
    if len(paths) != 5 or paths[4].exists() or not all(path.exists() for path in paths[:4]):
        sys.exit("usage: python trec_covid.py TOPICS QRELS LEADERBOARD RUNS FOLDER, which must not exist yet")
    main(*paths)
