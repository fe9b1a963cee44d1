"""A pool: its documents, what it is made of, and what there is to say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.files import WritesFile
from pooler.pools.annotated import annotated_lines
from pooler.pools.change import PoolChange
from pooler.pools.contents import PoolStatistics
from pooler.pools.idle import idle_words, way_out
from pooler.pools.plan import PoolBuild, TopicPool
from pooler.reading.blocks import TieAtCut
from pooler.result import Later, Message, Result
from pooler.tables import DOCNO, RUN, TOPIC, Column, Table, listed
from store.errors import ArgumentError
from store.records import Pool, Workloads
from store.text import counted, natural_key

BARE_SHOWN = 10
"""Topics without a pooled document are named up to this many."""
TOPICS_SHOWN = 60
"""Pool sizes are listed topic by topic up to this many topics."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class PoolResult(WritesFile, Result):
    """A pool; tables: `sizes`, a row a topic; `runs`, a row a run; `ties`; `documents`."""

    build: PoolBuild = field(repr=False)
    chosen: Sequence[TopicPool] | None = field(default=None, repr=False)
    """``None`` = of a collection: its documents are chosen again where they are asked for."""
    change: PoolChange | None = None
    """Of a collection's pools."""
    is_nothing: bool = False
    """Whether every document is in a pool of the collection already."""
    is_new: bool = False
    """Whether the pool was not in the collection before."""
    former: str | None = None
    """The name that the replaced pool has now."""
    messages: Sequence[Message] = ()
    """What there is to say of it, in order."""

    IS_FILE = True

    def _tables(self) -> Iterator[Later]:
        yield Later(self._sizes)
        yield Later(self._runs)
        yield Later(self._ties)
        yield Later(self._documents, by_name=True)

    def closing(self) -> Sequence[Message]:
        """Return what a command says below it."""
        return self.messages

    @property
    def words(self) -> list[str]:
        """What there is to say that is no doubt."""
        return [words for kind, words in self.messages if kind == "say"]

    @property
    def statistics(self) -> PoolStatistics:
        """What it is made of."""
        return self.build.statistics()

    @property
    def manifest(self) -> Mapping[str, Any]:
        """All that is needed to make the same pool again."""
        return self.build.manifest()

    @property
    def topics(self) -> Sequence[str]:
        """In natural order."""
        return [*self.statistics.sizes]

    @property
    def runs(self) -> Sequence[str]:
        """Tags of those that contribute."""
        return [*self.statistics.unique]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Documents to judge, shape (topics,)."""
        return np.array([*self.statistics.sizes.values()], np.int64)

    @property
    def unique(self) -> NDArray[np.int64]:
        """Documents of the pool that no other run has, shape (runs,)."""
        return np.array([*self.statistics.unique.values()], np.int64)

    @property
    def ties_at_cut(self) -> Sequence[TieAtCut]:
        """Rankings in which a tie rule decided what is in."""
        return self.statistics.ties_at_cut

    @property
    def pool(self) -> Pool:
        """The pool as a collection takes it: `collection.pools.add(found.pool)`."""
        if self.chosen is None:
            return self.build.again().result().pool
        return self.build.pool(entry for topic in self.chosen for entry in topic.entries())

    def file_lines(self, *, annotated: bool = False) -> Iterator[str]:
        """Return the lines of a pool file, `topic docno`; with runs, ranks and scores if asked."""
        if annotated:
            if not self.settings["annotated"]:
                raise ArgumentError(
                    "annotated", "must be asked of `pool`, which reads scores then", annotated
                )
            return annotated_lines(self.build.runs, self.pool)
        if self.chosen is None:
            return self.build.again().lines()
        return (f"{topic.topic} {docno}" for topic in self.chosen for docno in topic.to_judge)

    def lines(self) -> Iterator[str] | None:
        """Return what goes to stdout: the lines of the file, unless they went into one, or a collection."""
        is_shown = self.settings["out"] == "-" or (self.chosen is not None and self.settings["out"] is None)
        return self.file_lines(annotated=self.settings["annotated"]) if is_shown else iter(())

    def _sizes(self) -> Table:
        columns = {TOPIC: self.topics, Column("documents", "int", about="to judge"): self.sizes}
        return Table.of_columns("sizes", columns, notes=size_words(self.statistics, self.manifest))

    def _runs(self) -> Table:
        unique = Column("unique", "int", about="documents that no other run has")
        return Table.of_columns("runs", {RUN: self.runs, unique: self.unique})

    def _ties(self) -> Table:
        ties = self.ties_at_cut
        columns = {
            RUN: [tie.tag for tie in ties],
            TOPIC: [tie.topic for tie in ties],
            Column("inside", "int", about="tied documents within the depth"): [tie.n_in for tie in ties],
            Column("outside", "int", about="those with the same score beyond it"): [
                tie.n_out for tie in ties
            ],
        }
        return Table.of_columns("ties", columns)

    def _documents(self) -> Table:
        columns = [
            TOPIC,
            DOCNO,
            Column("priority", "float"),
            Column("sampled", "bool"),
            Column("stratum", "int", show="if_any"),
            Column("inclusion", "float", about="probability of being sampled", show="if_any"),
        ]
        entries = self.pool.entries
        return Table.of_records(
            "documents", columns, entries, inclusion=lambda one: one.inclusion_probability
        )


def size_words(facts: PoolStatistics, manifest: Mapping[str, Any]) -> list[str]:
    """Say how large a pool is, and how far runs overlap."""
    depth, strategy = manifest["parameters"]["depth"], manifest["strategy"]
    sizes = list(facts.sizes.values())
    n_runs = sum(run["contributes"] for run in manifest["runs"])
    least, most = min(sizes, default=0), max(sizes, default=0)
    spread = f", {least:,} to {most:,} per topic" if least < most else f", {most:,} per topic"
    by = "" if strategy == "depth" else f"{strategy}, "
    lines = [
        f"{counted(facts.total, 'pair')} to judge in {counted(len(sizes), 'topic')}{spread};"
        f" {by}depth {depth:,} of {counted(n_runs, 'run')}"
    ]
    if len(sizes) <= TOPICS_SHOWN:
        lines.append("  " + ", ".join(f"{topic}: {size:,}" for topic, size in facts.sizes.items()))
    alone = facts.overlap.get(1, 0)
    if facts.total:
        returned = sum(count * pairs for count, pairs in facts.overlap.items())
        lines.append(
            f"{alone:,} of them ({_percent(alone, facts.total)}) come from one run only; on average"
            f" {returned / facts.total:.1f} runs bring a document"
        )
    if "one_of" in manifest:
        left_out = counted(manifest["one_of"]["left_out"], "document")
        lines.append(f"{left_out} left out: near-duplicates of documents that are pooled")
    if facts.n_not_sampled:
        lines.append(
            f"{counted(facts.n_not_sampled, 'more pair')} in the strata, not sampled (in a collection,"
            " `pooler export prels` lists them)"
        )
    return lines


def bare_warnings(known: Set[str], pooled: Set[str], retrieved: Set[str]) -> list[str]:
    """Doubt topics that have no pooled document, and those that no contributing run retrieved any for.

    `known`: topics that a topics file named; empty = nothing to doubt.
    """
    bare = sorted(known - pooled, key=natural_key)
    if not bare:
        return []
    named = listed(bare, BARE_SHOWN)
    words = f"{len(bare):,} of {counted(len(known), 'topic')} without a pooled document: {named}"
    n_missed = len(set(bare) - retrieved)
    if n_missed:
        which = "" if n_missed == len(bare) else f" for {n_missed:,} of them"
        words += f"; no contributing run has a document{which}"
    return [words]


def _percent(part: int, whole: int) -> str:
    """Write a share in whole percent; 0% is none of it, and 100% all.

    >>> _percent(59_694, 59_846), _percent(1, 1_000), _percent(1, 4), _percent(7, 7)
    ('over 99%', 'under 1%', '25%', '100%')
    """
    if part == 0 or part == whole:
        return f"{part / whole:.0%}"
    if 200 * part <= whole:
        return "under 1%"
    if 200 * (whole - part) <= whole:
        return "over 99%"
    return f"{part / whole:.0%}"


def draw_words(manifest: Mapping[str, Any], budgets: Mapping[str, int], workloads: Workloads) -> list[str]:
    """Say what an adaptive pool draws from; where anything is assigned, nothing is drawn."""
    depth, strategy = manifest["parameters"]["depth"], manifest["strategy"]
    n_runs = sum(run["contributes"] for run in manifest["runs"])
    verb = "could" if workloads.is_assigned else "will"
    return [
        f"{strategy} {verb} draw up to {counted(sum(budgets.values()), 'document')} in"
        f" {counted(len(budgets), 'topic')}, one by one as they are judged; a hit is grade"
        f" {manifest['level']} or more; depth {depth:,} of {counted(n_runs, 'run')}"
    ]


def idle_warnings(manifest: Mapping[str, Any], workloads: Workloads) -> list[str]:
    """Doubt that anybody draws from an adaptive pool where documents are assigned."""
    return [f"{idle_words([manifest['name']])}; {way_out(workloads)}"] if workloads.is_assigned else []


def run_warnings(facts: PoolStatistics, manifest: Mapping[str, Any]) -> list[str]:
    """Doubt ties at the cut, short rankings, budgets that cannot be spent, constant scores."""
    depth = manifest["parameters"]["depth"]
    lines = []
    if facts.ties_at_cut:
        worst = max(facts.ties_at_cut, key=lambda tie: tie.n_in + tie.n_out)
        lines.append(
            f"{len(facts.ties_at_cut):,} of {facts.n_rankings:,} rankings have ties across"
            f" depth {depth:,}, so the order decided; for example, {worst.n_in + worst.n_out:,} documents of"
            f" run {worst.tag} in topic {worst.topic}: {worst.n_in:,} in, {worst.n_out:,} out"
        )
    if facts.n_short:
        lines.append(
            f"{facts.n_short:,} of {facts.n_rankings:,} rankings have fewer than {depth:,} documents"
        )
    if facts.n_below_budget:
        lines.append(
            f"{counted(facts.n_below_budget, 'topic')} of {len(facts.sizes):,} have fewer documents"
            " than the budget: all are taken"
        )
    if facts.n_constant and "strategy_sha256" not in manifest:
        lines.append(
            f"{facts.n_constant:,} of {facts.n_rankings:,} rankings have a single score, which counts as 0.5"
        )
    return lines
