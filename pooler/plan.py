"""The plan of a pool carried out: runs in, documents to judge out, with a manifest.

The manifest says all that is needed to build the same pool again: the hash of every run, the
order within runs, strategy, parameters, display order, seed and version. It holds no times and no
folders, so the same input gives the same bytes on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from pooler.strategies import find_strategy
from pooler.top_ranking import RunTop, TieAtCut
from store.errors import ArgumentError, PoolerError
from store.ranking import Order, check_order, natural_key
from store.records import Pool, PoolEntry

OutOrder = Literal["docno", "priority", "random"]
OUT_ORDERS: tuple[OutOrder, ...] = get_args(OutOrder)


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """What a pool is made of. Runs that do not contribute are not counted."""

    sizes: dict[str, int]
    """Documents to judge by topic, topics in natural order."""
    total: int
    """(topic, docno) pairs of the pool."""
    ties_at_cut: list[TieAtCut]
    """Rankings in which a tie rule decided what is in, by run tag, then topic."""
    overlap: dict[int, int]
    """Pairs by the number of runs that returned them, that number ascending."""
    unique: dict[str, int]
    """Pairs that no other run returned, by run tag; every contributing run has its key."""
    n_rankings: int
    """Rankings: one for every run and each of its topics."""
    n_short: int
    """Rankings with fewer documents than the depth."""


@dataclass(frozen=True, slots=True)
class PoolResult:
    """A pool, and what it is made of."""

    pool: Pool
    statistics: PoolStatistics


def build_pool(
    runs: Sequence[RunTop],
    *,
    strategy: str = "depth",
    depth: int,
    order: Order = "trec",
    out_order: str = "docno",
    seed: int | None = None,
    name: str = "pool",
    round_label: str = "0",
    version: str,
) -> PoolResult:
    """Build a pool from the first documents of runs.

    Parameters
    ----------
    runs : sequence of RunTop
        Read at this `depth` and `order`, with a tag of its own each. Only those that contribute
        feed the pool; the others stand in the manifest.
    strategy : str, default="depth"
        A name of `pooler.strategies.STRATEGIES`.
    depth : int
        Ranks taken from each run, at least 1.
    order : {"trec", "trec9", "docno-asc", "rank", "file"}, default="trec"
        What ordered the runs, see `store.ranking`.
    out_order : {"docno", "priority", "random"}, default="docno"
        How a topic's documents are shown to judges: by docno ascending bytewise, by the
        strategy's priority, or shuffled.
    seed : int, optional
        Seed of the shuffle, not negative; needed by ``random``, and used by nothing else.
    name : str, default="pool"
        Name of the pool.
    round_label : str, default="0"
        Iteration label that judgements of this pool carry into qrels.
    version : str
        Version of this program, for the manifest.

    Returns
    -------
    PoolResult
        The same for every order of `runs`: topics are in natural order, runs by tag.

    Raises
    ------
    ArgumentError
        If an argument cannot be used, no run contributes, or a run was read at another depth or
        order.
    UnknownNameError
        If there is no such strategy.
    PoolerError
        If two runs have the same tag.

    Notes
    -----
    O(n log n) for n documents taken from all runs. Every topic is shuffled by its own stream, from
    the seed and the topic's id, so a topic more or less leaves the others as they are.

    Examples
    --------
    >>> from pooler.top_ranking import TopRanking
    >>> def run(tag, docnos):
    ...     top = TopRanking(docnos, np.arange(len(docnos), 0.0, -1.0), len(docnos))
    ...     return RunTop(tag, f"{tag}.run", "", 2, "trec", {"51": top}, len(docnos))
    >>> result = build_pool([run("x", ["d3", "d1"]), run("y", ["d1"])], depth=2, version="1")
    >>> list(pool_lines(result.pool)), result.statistics.unique
    (['51 d1', '51 d3'], {'x': 1, 'y': 0})
    """
    plan = find_strategy(strategy)
    if depth < 1:
        raise ArgumentError("depth", "must be an integer >= 1", depth)
    check_order(order)
    _check_out_order(out_order, seed)
    by_tag = sorted(runs, key=lambda run: run.tag)
    _check_runs(by_tag, depth, order)
    feeding = [run for run in by_tag if run.contributes]
    if not feeding:
        raise ArgumentError("runs", "must hold a run that contributes", [run.tag for run in runs])

    entries: list[PoolEntry] = []
    sizes: dict[str, int] = {}
    overlap: Counter[int] = Counter()
    unique = {run.tag: 0 for run in feeding}
    for topic in sorted({topic for run in feeding for topic in run.topics}, key=natural_key):
        tops = {run.tag: run.topics[topic].docnos for run in feeding if topic in run.topics}
        chosen = plan.choose(list(tops.values()), depth=depth)
        shown = _display_order(chosen, out_order, seed, topic)
        entries += [
            PoolEntry(topic, docno, position, chosen[docno]) for position, docno in enumerate(shown)
        ]
        sizes[topic] = len(shown)
        n_runs: Counter[str] = Counter()
        for docnos in tops.values():
            n_runs.update(docnos)
        overlap.update(n_runs[docno] for docno in chosen)
        for tag, docnos in tops.items():
            unique[tag] += sum(n_runs[docno] == 1 for docno in docnos)

    manifest: dict[str, Any] = {
        "tool": "pooler",
        "version": version,
        "name": name,
        "round": round_label,
        "strategy": strategy,
        "parameters": {"depth": depth},
        "order": order,
        "out_order": out_order,
        "seed": seed,
        "runs": [_manifest_run(run) for run in by_tag],
        "topics": len(sizes),
        "pairs": len(entries),
        "sizes": sizes,
    }
    statistics = PoolStatistics(
        sizes=dict(sizes),
        total=len(entries),
        ties_at_cut=_ties_at_cut(feeding),
        overlap=dict(sorted(overlap.items())),
        unique=unique,
        n_rankings=sum(len(run.topics) for run in feeding),
        n_short=sum(top.n_documents < depth for run in feeding for top in run.topics.values()),
    )
    tags = tuple(run.tag for run in feeding)
    return PoolResult(Pool(entries, manifest, name, round_label, tags), statistics)


def pool_lines(pool: Pool) -> Iterator[str]:
    """Yield the lines `topic docno` of a pool, in display order, without line ends."""
    for entry in pool.entries:
        yield f"{entry.topic} {entry.docno}"


def _check_out_order(out_order: str, seed: int | None) -> None:
    """Raise `ArgumentError` unless documents can be shown in this order."""
    if out_order not in OUT_ORDERS:
        raise ArgumentError("out_order", f"must be one of {', '.join(OUT_ORDERS)}", out_order)
    if out_order == "random" and (seed is None or seed < 0):
        hint = "`--seed 1`: the same seed gives the same order again"
        requirement = "must be an integer >= 0 when the order is random"
        raise ArgumentError("seed", requirement, seed, hint=hint)


def _check_runs(by_tag: Sequence[RunTop], depth: int, order: Order) -> None:
    """Raise unless every run has its own tag, and this depth and order."""
    for run in by_tag:
        if run.depth != depth:
            requirement = f"must be {run.depth}, the depth run `{run.tag}` was read at"
            raise ArgumentError("depth", requirement, depth)
        if run.order != order:
            requirement = f"must be {run.order}, the order run `{run.tag}` was read in"
            raise ArgumentError("order", requirement, order)
    for run, following in pairwise(by_tag):
        if run.tag == following.tag:
            files = sorted((run.file, following.file))
            message = f"run tag `{run.tag}` is that of two files, `{files[0]}` and `{files[1]}`"
            is_same = run.sha256 == following.sha256
            hint = "the files have the same bytes: leave one out" if is_same else None
            raise PoolerError(message, hint=hint)


def _display_order(
    chosen: dict[str, float], out_order: str, seed: int | None, topic: str
) -> list[str]:
    """Order the documents of one topic for judging."""
    if out_order == "priority":
        return list(chosen)
    docnos = sorted(chosen)
    if out_order == "docno":
        return docnos
    # numpy promises the bits of a generator to stay the same between versions, but not its
    # shuffles (NEP 19); so the documents are sorted by random numbers.
    stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(topic.encode())))
    numbers = stream.random_raw(len(docnos))
    return [docnos[index] for index in np.argsort(numbers, kind="stable").tolist()]


def _manifest_run(run: RunTop) -> dict[str, Any]:
    """Describe a run in JSON values."""
    return {
        "tag": run.tag,
        "group": run.group,
        "contributes": run.contributes,
        "file": run.file,
        "sha256": run.sha256,
        "topics": len(run.topics),
        "documents": run.n_lines,
    }


def _ties_at_cut(runs: Sequence[RunTop]) -> list[TieAtCut]:
    """List the ties across the cut, by run tag, then topic."""
    return [
        TieAtCut(run.tag, topic, run.topics[topic].n_tied_in, run.topics[topic].n_tied_out)
        for run in runs
        for topic in sorted(run.topics, key=natural_key)
        if run.topics[topic].n_tied_in
    ]
