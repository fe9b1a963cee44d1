"""The sample collection's runs and strict qrels, and the qrels that a report supposes."""

from __future__ import annotations

from pathlib import Path

from tests.cli.oracles import Scores, first_documents, read_run

Grades = dict[str, dict[str, int]]
"""Grade by topic and docno."""

STRICT = ("--qrels", "strict", "--order", "trec9")


"""The judge whose qrels are read, and the order of ties of trec_eval 9."""


def runs_of(folder: Path) -> dict[str, Scores]:
    """Read every run of the sample collection, by tag."""
    return {path.stem: read_run(path) for path in sorted((folder / "runs").iterdir())}


def unjudged_of(qrels: Grades, run: Scores, topic: str) -> list[str]:
    """Return the unjudged documents of a run in trec_eval's order."""
    return [one for one in first_documents(run, topic, 1000) if one not in qrels[topic]]


def with_relevant(qrels: Grades, added: dict[str, list[str]]) -> Grades:
    """Return qrels with documents added, by topic, as relevant ones."""
    return {topic: {**grades, **dict.fromkeys(added.get(topic, []), 1)} for topic, grades in qrels.items()}
