"""TREC-COVID round 1 as tests see it: runs in rank order, grades, official scores.

The files are read here by plain loops, so that a test of the project's own readers or arithmetic
has something else to be compared with. A test that asks for them is skipped where they are absent.
"""

from __future__ import annotations

import csv
import gzip
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from store.analysis.rankings import JudgedRankings, judged_rankings
from store.ranking import Order, rank_order
from tests.helpers.shared_data import shared_data

MIN_GRADE = 1
"""Least grade that counts as relevant in the official scores."""


def data_path(name: str) -> Path:
    """Return the path of one file or folder of the data, or skip the test."""
    return shared_data(f"trec-covid-r1/{name}")


@cache
def _read_runs(folder: str) -> dict[tuple[str, str], tuple[list[str], list[float], list[int]]]:
    """Read docnos, scores and stated ranks in file order, keyed by (tag, topic)."""
    lists: dict[tuple[str, str], tuple[list[str], list[float], list[int]]] = {}
    for path in sorted(data_path(folder).glob("*.gz")):
        tag = path.name.removesuffix(".gz")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                topic, _, docno, rank, score, _ = line.split()
                docnos, scores, ranks = lists.setdefault((tag, topic), ([], [], []))
                docnos.append(docno)
                scores.append(float(score))
                ranks.append(int(rank))
    return lists


@cache
def load_rankings(
    folder: str = "runs-top120", order: Order = "docno-asc"
) -> dict[tuple[str, str], list[str]]:
    """Return the docnos of every (tag, topic) in rank order."""
    rankings = {}
    for key, (docnos, scores, ranks) in _read_runs(folder).items():
        positions = rank_order(docnos, np.array(scores), np.array(ranks), order=order)
        rankings[key] = [docnos[position] for position in positions.tolist()]
    return rankings


@cache
def load_qrels() -> dict[str, dict[str, int]]:
    """Return the grades by topic and docno."""
    grades: dict[str, dict[str, int]] = {}
    with gzip.open(data_path("qrels-rnd1.txt.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, _, docno, grade = line.split()
            grades.setdefault(topic, {})[docno] = int(grade)
    return grades


@cache
def leaderboard() -> dict[str, dict[str, str]]:
    """Return the official row of every run, by tag: team, ndcg@10, bpref, MAP and so on."""
    with data_path("leaderboard.csv").open(encoding="utf-8", newline="") as lines:
        return {row["run"]: row for row in csv.DictReader(lines)}


@cache
def covid_arrays(
    folder: str = "runs-top120", order: Order = "docno-asc", cutoff: int = 120
) -> JudgedRankings:
    """Return runs and judgements as arrays; topics by number, runs by tag."""
    rankings, grades = load_rankings(folder, order), load_qrels()
    docnos = {docno for topic in grades.values() for docno in topic}
    docnos.update(docno for ranking in rankings.values() for docno in ranking)
    id_of = {docno: number for number, docno in enumerate(sorted(docnos))}

    def ids(named: list[str]) -> NDArray[np.int64]:
        return np.array([id_of[docno] for docno in named], dtype=np.int64)

    return judged_rankings(
        sorted(grades, key=int),
        sorted({tag for tag, _ in rankings}),
        {key: ids(ranking) for key, ranking in rankings.items()},
        {
            topic: (ids(list(found)), np.array(list(found.values())) >= MIN_GRADE)
            for topic, found in grades.items()
        },
        cutoff=cutoff,
    )
