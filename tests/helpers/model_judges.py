"""Data on models as judges, as tests see it; a test that asks for what is absent is skipped, and says so.

`dl21` is the TREC 2021 Deep Learning passage track: 63 runs, the grades of NIST, and those of three
language models for the same documents. `alttest` has annotations of three data sets by people and by
models, for the alternative annotator test. The files are read here by plain loops.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.helpers.shared_data import shared_data

JUDGES = {
    "umbrela": ("umbrela_gpt-4_zeroshot.qrels.gz", 2),
    "gpt-4o": ("binary_gpt-4o.qrels.gz", 1),
    "llama": ("binary_llama3.2.qrels.gz", 1),
}
"""File and least relevant grade of each model; NIST's is 2."""
PEOPLE_LEVEL = 2


def dl21(name: str) -> Path:
    """Return a file of the Deep Learning track."""
    return shared_data(f"dl21/{name}")


@cache
def grades_of(judge: str) -> dict[tuple[str, str], int]:
    """Return the grades of a model, or of NIST, by topic and docno."""
    name = "nist.qrels.gz" if judge == "nist" else JUDGES[judge][0]
    with gzip.open(dl21(name), "rt", encoding="utf-8") as lines:
        rows = [line.split() for line in lines]
    return {(topic, docno): int(grade) for topic, _, docno, grade in rows}


def run_paths() -> list[Path]:
    """Return the 63 runs, by name."""
    return sorted(dl21("runs").glob("*.gz"))


def annotations(name: str, who: str) -> dict[str, dict[str, Any]]:
    """Return labels by annotator and item; `who` is human or llm."""
    labels = shared_data(f"alttest/{name}.{who}_annotations.json.gz")
    with gzip.open(labels, "rt", encoding="utf-8") as file:
        found: dict[str, dict[str, Any]] = json.load(file)
    return found
