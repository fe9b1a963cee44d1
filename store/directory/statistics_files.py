"""Counts of a directory: how every topic stands with every judge, and how far judges agree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from store.analysis.kappa import cohen_kappa
from store.analysis.pair_tables import all_pair_tables
from store.directory.moving import Outgoing
from store.directory.tables import (
    Column,
    float_or_none_column,
    id_column,
    integer_column,
    text_column,
    topic_column,
    write_table,
)
from store.natural_order import natural_key
from store.progress import count_states
from store.votes import fetch_votes

STATISTICS = "statistics.tsv"
AGREEMENT = "agreement.tsv"
_COUNTS = ("pooled", "judged", "unjudged", "skipped", "cannot", "outside")
_AGREEMENT_COLUMNS = (
    id_column("first"),
    id_column("second"),
    integer_column("documents"),
    float_or_none_column("same"),
    float_or_none_column("kappa"),
    float_or_none_column("linear"),
    float_or_none_column("quadratic"),
    text_column("reason"),
)


def write_statistics(out: Outgoing) -> None:
    """Write how many documents stand where, by topic and judge."""
    counted = count_states(out.session, out.topic_keys, out.scale)
    by_name = {
        (topic, out.disguise.name(judge)): counts for (topic, judge), counts in counted.items()
    }
    if not by_name:
        return
    columns: list[Column] = [topic_column(), id_column("judge"), *map(integer_column, _COUNTS)]
    columns += [integer_column(f"grade_{value}") for value in out.scale.values]
    in_order = sorted(by_name, key=lambda pair: (natural_key(pair[0]), natural_key(pair[1])))
    with out.writer.text(STATISTICS) as stream:
        rows = (
            (*pair, *(getattr(by_name[pair], name) for name in _COUNTS),
             *(by_name[pair].by_grade.get(value, 0) for value in out.scale.values))
            for pair in in_order
        )  # fmt: skip
        write_table(columns, rows, stream)


def write_agreement(out: Outgoing) -> None:
    """Write the agreement of every pair of judges with a document in common."""
    rows = sorted(_pairs(out), key=lambda row: (natural_key(row[0]), natural_key(row[1])))
    if rows:
        with out.writer.text(AGREEMENT) as stream:
            write_table(_AGREEMENT_COLUMNS, rows, stream)


def _pairs(out: Outgoing) -> Iterator[tuple[Any, ...]]:
    """Yield one row for each pair of judges."""
    votes = fetch_votes(out.session, out.topic_keys, out.scale.values).votes
    if len(votes.judges) < 2:
        return
    names = map(out.disguise.name, votes.judges)
    for pair, table in zip(combinations(names, 2), all_pair_tables(votes), strict=True):
        n_documents = int(table.sum())
        if not n_documents:
            continue
        is_turned = natural_key(pair[0]) > natural_key(pair[1])
        first, second = reversed(pair) if is_turned else pair
        counts = table.T if is_turned else table
        plain = cohen_kappa(counts)
        yield (first, second, n_documents, int(np.trace(counts)) / n_documents, plain.value,
               cohen_kappa(counts, "linear").value, cohen_kappa(counts, "quadratic").value,
               plain.reason or "")  # fmt: skip
