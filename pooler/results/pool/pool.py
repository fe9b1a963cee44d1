"""pool: the documents to judge, chosen from runs; the facts of a pool; the strategies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from pooler.pools.annotated import annotated_lines
from pooler.pools.contents import PoolStatistics
from pooler.pools.plan import Plan, PoolBuild, TopicPool
from pooler.pools.runs import RunSet
from pooler.reading.blocks import TieAtCut
from pooler.results.files import WritesFile
from pooler.results.idle import idle_words, way_out
from pooler.results.meeting import check_runs
from pooler.results.pool.options import DEPTH
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Engine, Source, source
from pooler.results.table import DOCNO, RUN, TOPIC, Column, Table, listed
from pooler.strategies import STRATEGIES, find_strategy
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, Parameter, SamplingStrategy
from pooler.strategies.own import is_own
from pooler.version import __version__
from store.errors import ArgumentError
from store.formats.pairs import Classes, read_classes, read_pairs
from store.ranking import Order
from store.records import Pool, Run, Workloads
from store.text import counted, natural_key

if TYPE_CHECKING:
    from store.collection import Collection

BARE_SHOWN = 10
"""Topics without a pooled document are named up to this many."""
TOPICS_SHOWN = 60
"""Pool sizes are listed topic by topic up to this many topics."""


def pool(
    runs: Source | Collection | str | Path | Iterable[str | Path | Run] | Mapping[str, Any],
    *,
    strategy: str = "depth",
    depth: int | None = None,
    budget: int | None = None,
    seed: int | None = None,
    order: Order = "trec",
    without: str | Path | Set[tuple[str, str]] | None = None,
    one_of: Classes | None = None,
    annotated: bool = False,
    lenient: bool = False,
    name: str = "pool",
    round_label: str = "0",
    engine: Engine = "python",
    progress: Progress | None = None,
    **parameters: Any,
) -> PoolResult:
    """Choose the documents to judge from the first documents of every run.

    Parameters
    ----------
    runs : Source, Collection, str, Path, iterable or mapping
        Run files, what `read_runs` returns, ``{tag: {topic: {docno: score}}}``, or a collection,
        which stays as it is. A source says itself in what order its runs are, and how they are read.
    strategy : str, optional
        A name of `strategies`, but of none that is adaptive; or ``FILE.py:function``, a function of your
        own, from `pooler.strategies.rankings.TopicRankings` to a value for each document.
    depth : int, optional
        Ranks taken from each run and topic, from 1; default 100.
    budget : int, optional
        The most documents of a topic, from 1.
    seed : int, optional
        Of strategies that are random, which need one; from 0.
    order : {"trec", "trec9", "docno-asc", "rank", "file"}, optional
        Of documents within a run.
    without : str, Path or set of (str, str), optional
        Pairs of topic and docno that are left out, or the file that lists them.
    one_of : str, Path or mapping of docno to class, optional
        Classes of near-duplicates, or the file that `Duplicates.write` made: of each the first document by
        priority is pooled, none where `without` has one.
    annotated : bool, optional
        Read scores, too, for `PoolResult.file_lines` with runs, ranks and scores.
    lenient : bool, optional
        Read files by trec_eval's own rules.
    name, round_label : str, optional
        Of the pool, for its manifest; judgements carry the round into column 2 of qrels.
    engine : {"python", "spark"}, optional
        Who reads run files and pools topics: this machine, or Spark, on as many as it has (extra
        ``spark``, and Java). Pool and manifest are the same, to the byte. Spark reads what its
        workers see by path, and URIs (``hdfs://``, ``s3a://``) through Hadoop; SPARK_MASTER in the
        environment says where it is (default ``local[*]``, all processors of this machine), and once
        started it lasts as long as this process. It pays from some 100 GB of runs, or where they lie in
        HDFS or S3.
    **parameters
        Of the strategy, as ``k=60``; what is left out takes its default.

    Returns
    -------
    PoolResult
        The pool, its manifest, and what it is made of.

    Raises
    ------
    UnknownNameError
        If there is no such strategy, or it has no such parameter.
    ArgumentError
        If a value cannot be used, the strategy is adaptive, or no run contributes.
    FormatError
        If a file has a fault.
    PoolerError
        If Spark is asked for and is not there, or cannot do it.

    Notes
    -----
    The same for every order of the runs; ties never depend on chance. O(n log n) for the n
    documents within the depth of all runs.

    Examples
    --------
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "z": 1.0}}}
    >>> found = pool(runs, depth=1)
    >>> list(found.file_lines()), found.sizes.tolist(), found.unique.tolist()
    (['1 x', '1 y'], [2], [1, 1])
    >>> [entry.docno for entry in pool(runs, strategy="rrf", k=10, budget=1).pool.entries]
    ['y']
    """
    chosen = find_strategy(strategy)
    if isinstance(chosen, AdaptiveStrategy):
        hint = "pooler pool without files pools the runs of a collection; pooler replay tries it on files"
        requirement = "must choose all documents at once, without judgements, when files are pooled"
        raise ArgumentError("strategy", requirement, strategy, hint=hint)
    if engine not in get_args(Engine):
        raise ArgumentError("engine", "must be python or spark", engine)
    if engine == "spark" and is_own(strategy):
        raise ArgumentError("strategy", "must be one of pooler's on Spark, which has no such file", strategy)
    plan = Plan(
        strategy=strategy, parameters=parameters, budget=budget, seed=seed, name=name, round=round_label
    )
    known = read_pairs(str(without)) if isinstance(without, str | Path) else without
    classes = None if one_of is None else read_classes(one_of)
    with collect_warnings(progress) as collected:
        given = _source_of(runs, order, lenient=lenient)
        deep, scores = DEPTH if depth is None else depth, annotated or chosen.uses_scores
        tops: RunSet
        if engine == "spark":
            from pooler.spark import SparkRuns

            files = given.run_files()
            tops = SparkRuns(files, deep, order=given.order, lenient=given.lenient, with_scores=scores)
        else:
            tops = given.tops(deep, scores=scores)
        check_runs(tops)
        build = PoolBuild(tops, plan, version=__version__, known=known, classes=classes)
        topics = [*build.topics()]
    facts, manifest = build.statistics(), build.manifest()
    settings = frozen_settings(
        strategy=strategy,
        depth=tops.depth,
        budget=budget,
        seed=seed,
        order=tops.order,
        without=str(without) if isinstance(without, str | Path) else None,
        one_of=str(one_of) if isinstance(one_of, str | Path) else None,
        annotated=annotated,
        lenient=lenient,
        name=name,
        round_label=round_label,
        parameters=dict(build.parameters),
        **given.named(),
    )
    return PoolResult(
        topics=[*facts.sizes],
        runs=[*facts.unique],
        sizes=np.array([*facts.sizes.values()], np.int64),
        unique=np.array([*facts.unique.values()], np.int64),
        ties_at_cut=facts.ties_at_cut,
        statistics=facts,
        manifest=manifest,
        build=build,
        chosen=topics,
        settings=settings,
        warnings=(*collected.warnings, *run_warnings(facts, manifest)),
    )


def _source_of(runs: Any, order: Order, *, lenient: bool) -> Source:
    if isinstance(runs, Source):
        return runs
    from store.collection import Collection

    if isinstance(runs, Collection):
        return Source(collection=runs, order=order)
    return source(runs, qrels=(), order=order, lenient=lenient)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class PoolResult(WritesFile, Result):
    """A pool; tables: `sizes`, a row a topic; `runs`, a row a run; `documents`; `ties`."""

    topics: Sequence[str]
    """In natural order."""
    runs: Sequence[str]
    """Tags of those that contribute."""
    sizes: NDArray[np.int64]
    """Shape (topics,): documents to judge."""
    unique: NDArray[np.int64]
    """Shape (runs,): documents of the pool that no other run has."""
    ties_at_cut: Sequence[TieAtCut]
    """Rankings in which a tie rule decided what is in."""
    statistics: PoolStatistics = field(repr=False)
    manifest: Mapping[str, Any]
    """All that is needed to make the same pool again."""
    build: PoolBuild = field(repr=False)
    chosen: Sequence[TopicPool] = field(repr=False)

    NAMES: ClassVar[tuple[str, ...]] = ("sizes", "runs", "documents", "ties")

    @property
    def pool(self) -> Pool:
        """The pool as a collection takes it: `collection.pools.add(found.pool)`."""
        return self.build.pool(entry for topic in self.chosen for entry in topic.entries())

    def file_lines(self, *, annotated: bool = False) -> Iterator[str]:
        """Return the lines of a pool file, `topic docno`; with runs, ranks and scores if asked."""
        if annotated:
            if not self.settings["annotated"]:
                raise ArgumentError(
                    "annotated", "must be asked of `pool`, which reads scores then", annotated
                )
            return annotated_lines(self.build.runs, self.pool)
        return (f"{topic.topic} {docno}" for topic in self.chosen for docno in topic.to_judge)

    def words(self) -> list[str]:
        """Say how large the pool is, topic by topic, and how far runs overlap."""
        return size_words(self.statistics, self.manifest)

    def doubts(self) -> list[str]:
        """Say what there is to doubt about the pool: ties at the cut, short rankings, and so on."""
        return run_warnings(self.statistics, self.manifest)

    def _sizes(self) -> Table:
        columns = {TOPIC: self.topics, Column("documents", "int", about="to judge"): self.sizes}
        return Table.of_columns("sizes", columns, notes=self.words())

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


def list_strategies() -> Strategies:
    """List the strategies there are.

    Returns
    -------
    Strategies
        Their names, kinds, parameters with defaults, and sources.

    Examples
    --------
    >>> list_strategies().table("strategies").head(1).to_dict()["strategy"]
    ['depth']
    """
    return Strategies()


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Strategies(Result):
    """The strategies; table: `strategies`, a row each."""

    NAMES: ClassVar[tuple[str, ...]] = ("strategies",)

    def _table(self, name: str) -> Table:
        columns = [
            Column("strategy"),
            Column("kind"),
            Column("parameters", "texts"),
            Column("summary"),
            Column("source"),
        ]
        return Table.of_records(
            name,
            columns,
            STRATEGIES.values(),
            notes=_NOTES,
            strategy=lambda one: one.name,
            kind=_kind,
            parameters=lambda one: [*map(_parameter, one.parameters)],
        )


_NOTES = (
    "fixed: all documents at once; adaptive: while judging goes on; sample: at random.",
    "comb-*: scores scaled to 0-1 within a run and topic, 0.5 where they are all equal.",
    "FILE.py:function: your own, from the rankings of a topic to a value for each document.",
    "k=60: a parameter and its default, changed by --param k=30; p=...: must be given.",
)


def _kind(row: AnyStrategy) -> str:
    if isinstance(row, AdaptiveStrategy):
        return "adaptive"
    return "sample" if isinstance(row, SamplingStrategy) else "fixed"


def _parameter(parameter: Parameter) -> str:
    default = parameter.default
    shown = f"{default:g}" if isinstance(default, float) else default
    return f"{parameter.name}={'...' if default is None else shown}"
