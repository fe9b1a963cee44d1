"""Runs measured with near-duplicates counted once, beside their scores as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pooler.results.source import Source, opened_collection
from pooler.results.table import RUN, Column, Table
from store.analysis.duplicates.counted_once import ClusterGrade, Treatment, counted_once
from store.analysis.measures.table import Scores
from store.analysis.rankings import GradedRankings
from store.analysis.run_order import tau_ap
from store.errors import ArgumentError
from store.formats.pairs import read_labels

Clusters = str | Path | Mapping[str, str]
"""A file of lines `docno cluster`, or the cluster of each docno."""
_TIED = 1e-12
"""Means over the same topics that differ by no more are equal."""
_WRITES_ONE = (
    "pooler duplicates --table documents --columns docno,cluster --format tsv --out FILE writes one of a"
    " collection"
)


def clusters_of(source: Source, clusters: Clusters | None) -> Mapping[str, str]:
    """Return the cluster of each docno that has near-duplicates: as given, or by the collection's texts."""
    if isinstance(clusters, Mapping):
        return clusters
    if clusters is not None:
        return read_labels(str(clusters), "cluster", lenient=source.lenient)
    if source.is_of_files:
        requirement = "must name a file of lines `docno cluster` where runs are files"
        raise ArgumentError("clusters", requirement, None, hint=_WRITES_ONE)
    from pooler.results.alike.texts import compare_texts
    from store.analysis.duplicates.join import THRESHOLD

    with opened_collection(source.collection) as opened:
        return compare_texts(opened, THRESHOLD, pooled=False).labels


def graded_once(
    source: Source, labels: Mapping[str, str], treatment: Treatment, grade: ClusterGrade
) -> Callable[[int], GradedRankings]:
    """Return what `Source.graded` is of a cutoff, with near-duplicates counted once."""
    judged = source.judged
    numbers = dict(judged.ranked.ids)
    by_topic: dict[str, tuple[list[int], list[int]]] = {}
    for row in judged.qrels:
        ids, grades = by_topic.setdefault(row.topic, ([], []))
        # Judged documents that no run retrieved need a number that no other one has.
        ids.append(numbers.setdefault(row.docno, (1 << 40) + len(numbers)))
        grades.append(row.grade)
    graded = {
        topic: (np.array(ids, dtype=np.int64), np.array(grades, dtype=np.int64))
        for topic, (ids, grades) in by_topic.items()
    }
    first: dict[str, int] = {}
    clusters = {
        numbers[docno]: first.setdefault(label, numbers[docno])
        for docno, label in labels.items()
        if docno in numbers
    }
    return lambda cutoff: counted_once(judged.ranked, graded, clusters, treatment, grade=grade, cutoff=cutoff)


_COLUMNS = (
    RUN,
    Column("measure"),
    Column("value", "float"),
    Column("kept", "float", about="with near-duplicates as they are"),
    Column("change", "float"),
    Column("place", "int"),
    Column("place_kept", "int", "before"),
    Column("lost", "int", about="places that the run loses"),
)


def _places(values: Sequence[float]) -> list[int | None]:
    """Return the place of every run, 1 = best; runs as good share the best one; undefined has none."""
    known = [value for value in values if value == value]
    return [None if value != value else 1 + sum(one > value + _TIED for one in known) for value in values]


def duplicates_table(
    runs: Sequence[str], scores: Sequence[Scores], kept: Sequence[Scores], clusters: int
) -> Table:
    """Set scores beside those with near-duplicates as they are."""
    rows: list[dict[str, Any]] = []
    notes = []
    for one, other in zip(scores, kept, strict=True):
        values, before = one.overall.tolist(), other.overall.tolist()
        places, places_before = _places(values), _places(before)
        measure = str(one.measure)
        for index in sorted(range(len(runs)), key=lambda run: places[run] or len(runs) + 1):
            new, old = places[index], places_before[index]
            row = {"run": runs[index], "measure": measure, "place": new, "place_kept": old}
            if new is not None:
                row["value"] = values[index]
            if old is not None:
                row["kept"] = before[index]
            if new is not None and old is not None:
                row |= {"change": values[index] - before[index], "lost": new - old}
            rows.append(row)
        defined = np.array([None not in both for both in zip(places, places_before, strict=True)])
        tau = tau_ap(one.overall[defined], other.overall[defined], tolerance=_TIED)
        order = f"tau_AP {tau.tau:.4f}" if tau.tau is not None else f"no tau_AP ({tau.reason})"
        notes.append(f"{measure}: {order} with the order of runs with near-duplicates as they are")
    notes.append(f"clusters of near-duplicates: {clusters:,}")
    return Table.of_rows("duplicates", _COLUMNS, rows, title="Near-duplicates counted once", notes=notes)
