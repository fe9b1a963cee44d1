"""Scores of runs by any measure, of a judged sample too; which values recall and precision can take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Measured, Option, command
from pooler.commands.measure.leaderboard import orders_table
from pooler.commands.measure.measured import known_measure, measured
from pooler.messages import say, warn
from pooler.reasons import joined
from pooler.result import Progress, Result, collect_warnings, facts_view, frozen_settings
from pooler.sources.judged import level_of_files
from pooler.sources.source import Measurable, Source, opened_collection, source_of
from pooler.tables import REASON, RUN, TOPIC, Column, Table, View, hidden
from store.analysis.measures.average_precision import topic_interval
from store.analysis.measures.names import MEASURES, MeasureName, Scores
from store.analysis.measures.ranked import Attainable, attainable_precision, attainable_recall
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError, FaultList, PoolerError
from store.formats.prels import NOT_SAMPLED as CODE_NOT_SAMPLED
from store.formats.prels import read_statap, read_xinfap
from store.formats.scale import parse_scale
from store.records import Scale
from store.text import counted

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments
    from store.analysis.measures.sampled import SampledPool, SampledRankings, SampleScores
    from store.formats.prels import PrelsRow


_FORMS = "--as xinf (topic iteration docno stratum rel) or statap (topic docno rel method iprob)"
PRELS_HINT = "run files go with --prels FILE; without it, RUN is the tag of a run of the collection"
_ERROR = Column(
    "standard_error",
    "float",
    "s.e.",
    "standard error of statAP, from the sampling only, not from the topics. In simulated samples, AP was"
    " within twice that 8 or 9 times out of 10, and xinfAP strayed about as far",
    show="if_any",
)

_INTERVAL = Column(
    "interval",
    heading="95 %",
    about="t interval over topics; pooler compare tests whether runs differ",
    interval=("low", "high"),
    digits=3,
)


@command
def evaluate(
    source: Measured,
    measures: Annotated[Sequence[str | MeasureName], Option("--measure -m MEASURE", default="AP")] = ("AP",),
    *,
    threshold: Annotated[float | None, Option("--threshold SCORE", default="none")] = None,
    without: Annotated[
        str | Path | Mapping[str, Mapping[str, int]] | None,
        Option("--without QRELS", read=lambda _name, text: text),
    ] = None,
    sample: Annotated[str | None, Option("--sample NAME", default="the only one")] = None,
    prels: Annotated[str | None, Option("--prels FILE")] = None,
    form: Annotated[FormName | None, Option("--as xinf|statap")] = None,
    leaderboards: Annotated[Sequence[str], Option("--leaderboard FILE")] = (),
    cutoff: Cutoff = None,
) -> Evaluation:
    """Score runs. Means are over the judged topics that have a relevant document.

    A run without documents for one of those topics scores 0 there, as with trec_eval -c. R counts every
    relevant document of the topic, retrieved or not. AP does not exist for a topic without a relevant
    document; a measure that does, such as P@10, is a mean over all judged topics.

    xinfAP, infNDCG, iP@k and statAP are estimated from a judged sample, a pool of the collection or a file:
    what is judged stands in for what is not. infAP beside them is of that sample, too, else of all pools.

    Example: pooler evaluate -m AP -m P@10 -m nDCG@10 --qrels alice

    Example: pooler evaluate -m xinfAP -m infAP --prels sampled.prels --as xinf runs/bm25-words.run

    measures : AP, P@10, nDCG@10, RR(rel=2), ..., named as in ir_measures; may be repeated.
    threshold : Least score of a document that counts as retrieved.
    without : Qrels, by name or a file: documents that they judge, whatever the grade, are left out of runs
        and qrels, and ranks close up (residual collection).
    sample : A sampled pool of the collection.
    prels : A judged sample and run files, without a collection.
    form : With --prels: xinf (topic iteration docno stratum rel), or statap (topic docno rel method iprob).
    leaderboards : Scores by another program, lines of run, measure, topic or all, score, or nuggetizer's
        metrics: how far the orders of runs agree; may be repeated.

    Raises
    ------
    UnknownNameError
        If a measure is not known.
    ArgumentError
        If a measure has parameters that it cannot have, or looks deeper than it may; if the threshold is NaN,
        or runs are not in the order of their scores; if the form of a sample is not named.
    PoolerError
        If a pool is no sample, or nothing of it is judged.

    Notes
    -----
    Names of trec_eval are known, too. Means have t intervals over topics, which treat these as a sample of
    topics like them. O(runs topics cutoff) for each measure.

    Examples
    --------
    >>> from pooler import evaluate
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0}}}
    >>> found = evaluate((runs, {"1": {"x": 1, "y": 0}}), ["AP", "P@1"])
    >>> found.measures, found.mean.tolist()
    (('AP', 'P@1'), [[1.0, 0.0], [1.0, 0.0]])
    """
    listed = [measures] if isinstance(measures, str) else measures
    if not listed:
        raise ArgumentError("measures", "must name one or more", list(measures))
    if threshold is not None and np.isnan(threshold):
        raise ArgumentError("threshold", "must be a number", threshold)
    if threshold is not None and source.order in ("rank", "file"):
        raise ArgumentError("threshold", "needs runs in the order of their scores, not --order", source.order)
    known = [*map(known_measure, listed)]
    takes_sample = sample or prels or any(MEASURES[one.name].is_sampled for one in known)
    of_sample = [
        one for one in known if takes_sample and (MEASURES[one.name].is_sampled or one.name == "infAP")
    ]
    others = [one for one in known if one not in of_sample]
    if takes_sample and not of_sample:
        requirement = "is for measures of a sample: xinfAP, infNDCG, iP@k, statAP, infAP"
        raise ArgumentError("sample" if prels is None else "prels", requirement, takes_sample)
    if threshold is not None and of_sample:
        raise ArgumentError("threshold", f"is not for {of_sample[0]}, which is of a sample", threshold)
    if without is not None and of_sample:
        raise ArgumentError("without", f"is not for {of_sample[0]}, which is of a sample", without)
    source = source if without is None else source.residual(without)
    estimated = None
    scores: dict[MeasureName, Scores] = {}
    if of_sample:
        judged = _judged_sample(source, sample, prels, form, others)
        estimated = _estimated(*judged, of_sample, 1000 if cutoff is None else cutoff)
        lists: GradedRankings | SampledRankings = estimated.found.rankings
    if others:
        level = source.numbered.level  # measures need no docnos
        pairs = zip(listed, known, strict=True)
        known = [one if one in of_sample else known_measure(measure, level=level) for measure, one in pairs]
        names = [*dict.fromkeys(one for one in known if one not in of_sample)]
        lists, measured_ones = measured(source, names, cutoff, threshold)
        source.say_pooled()
        no_value: dict[int, list[str]] = {}
        for one in measured_ones:
            no_value.setdefault(int(one.lacks_relevant.sum()), []).append(str(one.measure))
        for n, lacking in no_value.items():
            if n:
                of = f"{n:,} of {len(lists.topics):,} judged topics"
                say(f"{of} have no relevant document, so no {', '.join(lacking)}")
        scores = dict(zip(names, measured_ones, strict=True))
    if estimated is not None:
        scores |= {one: estimated.scores(one, lists.topics) for one in of_sample}
    asked = tuple(dict.fromkeys(known))
    found = tuple(scores[one] for one in asked)
    settings = source.settings() if prels is None or source.is_of_files else source.named(with_qrels=False)
    if estimated is not None:
        settings |= {"level": estimated.level, "order": source.order}
    return Evaluation(
        runs=lists.tags,
        topics=lists.topics,
        missing=np.asarray((lists.lengths == 0).sum(axis=1), dtype=np.int64),
        scores=found,
        estimated=estimated,
        orders=orders_table(leaderboards, found, lists.tags, lists.topics) if leaderboards else None,
        settings=frozen_settings(measures=[*map(str, asked)], **settings),
    )


def _judged_sample(
    source: Source, pool: str | None, prels: str | None, form: FormName | None, others: Sequence[MeasureName]
) -> tuple[str, RankedDocuments, Mapping[str, SampledPool], int]:
    """Return the pool's or file's name, runs, the sample that is named, or the only one, and the level."""
    from store.grades.sampled import NO_JUDGEMENT, statap_pools, xinfap_pools

    if prels is None:
        if form is not None:
            raise ArgumentError("form", "is of a prels file", form, hint=PRELS_HINT)
        if source.is_of_files:
            requirement = "must name the judged sample: qrels do not describe it"
            raise ArgumentError("prels", requirement, None, hint=_FORMS)
        judged = source.numbered
        with opened_collection(source.collection) as opened:
            name, pools = opened.grades.sampled_pools(judged.by_topic(), pool)
        if all(one.strata is None and one.inclusion is None for one in pools.values()):
            message = f"pool `{name}` is no sample: it has neither strata nor inclusion probabilities"
            hint = "pooler pool --strategy stratified, uniform or statap draws a sample"
            raise PoolerError(message, hint=hint)
        return f"pool {name}", judged.ranked, pools, judged.level
    if pool is not None:
        raise ArgumentError("sample", "and a prels file exclude each other", pool)
    if form is None:
        raise ArgumentError("form", "must say which form the prels file has", form, hint=_FORMS)
    if not source.is_of_files:
        if others:
            requirement = f"{others[0]} is of qrels, which a prels file is not"
            raise ArgumentError("measures", requirement, None, hint="--qrels FILE names them, too")
        if (named := source.option("qrels")) is not None:
            requirement = "is for a collection; a prels file already has one grade per document"
            raise ArgumentError("qrels", requirement, named)
    if not (source.option("runs") or source.option("listed")):
        raise PoolerError("no run file is named", hint="name run files, or a list of them with --runs FILE")
    # With a scale grades must be on it, and negative rels off it are not judgements; without one negative
    # rels are what the program of the form takes them for.
    declared = source.option("scale")
    scale = None if declared is None else parse_scale(declared)
    level = level_of_files(scale, source.option("level"))
    # The sample is the smaller file: its faults are told before runs are read.
    is_statap = form == "statap"
    rows: Sequence[Any] = (read_statap if is_statap else read_xinfap)(prels, lenient=source.lenient).rows
    n_below = 0
    if scale is not None:
        rows = _on_scale(prels, rows, scale, NO_JUDGEMENT if is_statap else CODE_NOT_SAMPLED)
    elif not is_statap:
        n_below = sum(row.code < CODE_NOT_SAMPLED for row in rows)
    if n_below:
        verb = "counts" if n_below == 1 else "count"
        say(
            f"{prels}: {counted(n_below, 'line')} with a rel below -1 {verb} as not sampled, as in"
            " sample_eval.pl; --scale declares negative grades"
        )
    if source.option("level") is None and max(row.code for row in rows) > level:
        say(f"relevant = grade {level} or more; another level with --level")
    ranked = source.file_rankings
    if is_statap:
        pools = statap_pools(ranked, rows)
    else:
        pools = xinfap_pools(ranked, rows, negatives_judged=scale is not None)
    name = "standard input" if prels == "-" else Path(prels).name
    return name, ranked, pools, level


def _estimated(
    name: str,
    ranked: RankedDocuments,
    pools: Mapping[str, SampledPool],
    level: int,
    names: Sequence[MeasureName],
    cutoff: int,
) -> Estimated:
    from store.analysis.measures.sampled import estimates

    kept = {topic: one for topic, one in pools.items() if one.graded.any()}
    if not kept:
        message = f"{name}: no sampled document is judged"
        raise PoolerError(message, hint="estimates need judged documents of the sample")
    for one in names:
        if one.rel not in (None, 1, level):
            requirement = f"must have the level {level} of the sample"
            raise ArgumentError("measures", requirement, str(one), hint=f"--level {one.rel} sets it for all")
    precisions = sorted({one.cutoff for one in names if one.name == "iP" and one.cutoff is not None})
    found = estimates(ranked, kept, cutoff=cutoff, level=level, cutoffs=precisions)
    made = Estimated(name, kept, level, len(pools) - len(kept), found)
    made.tell()
    return made


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """What was estimated from a judged sample."""

    name: str
    """The pool, or the file."""
    pools: Mapping[str, SampledPool]
    """Topics of which a document is graded, in natural order; at least one."""
    level: int
    """Least relevant grade."""
    n_topics_without_grade: int
    found: SampleScores

    def tell(self) -> None:
        """Tell what the sample lacks."""
        if self.n_topics_without_grade:
            n_topics = counted(self.n_topics_without_grade, "topic")
            say(f"{self.name}: {n_topics} without a judged document left out")
        if n_waiting := self.facts()["sampled"] - self.facts()["graded"]:
            verb = "has" if n_waiting == 1 else "have"
            does = {
                "statAP": "statAP is too low",
                "xinfAP": "in estimates by strata, the judged ones stand for them",
            }
            effects = "; ".join(words for name, words in does.items() if name in self.found.values)
            warn(f"{counted(n_waiting, 'sampled document')} {verb} no grade: {effects}")
        if self.found.n_uncovered:
            n_pooled = counted(self.found.n_uncovered, "pooled document")
            warn(
                f"{n_pooled} in strata without a judged document: counted as not relevant in all measures but"
                " iP@k, where a third of them counts as relevant, as in sample_eval.pl"
            )

    def facts(self) -> dict[str, Any]:
        """Return what the sample is; only of strata is it known which documents it is of."""
        from store.analysis.measures.sampled import NOT_SAMPLED, UNGRADED

        pools = self.pools.values()
        is_known = all(pool.strata is not None for pool in pools)
        n_sampled = sum(int(np.sum(one.states != NOT_SAMPLED)) for one in pools)
        by_strata, by_probability = (
            None if values is None else float(values.sum())
            for values in (self.found.by_strata, self.found.by_probability)
        )
        return {
            "sample": self.name,
            "topics": len(self.found.rankings.topics),
            "topics_without_grade": self.n_topics_without_grade,
            "topics_without_relevant": int(np.sum(self.found.relevant == 0)),
            "pooled": sum(pool.documents.size for pool in pools) if is_known else None,
            "sampled": n_sampled,
            "graded": n_sampled - sum(int(np.sum(one.states == UNGRADED)) for one in pools),
            "relevant": sum(int(one.relevant(self.level).sum()) for one in pools),
            "relevant_by_strata": by_strata,
            "relevant_by_probability": by_probability,
            "in_strata_without_grade": self.found.n_uncovered,
        }

    def words(self) -> list[str]:
        """Say how far to trust the numbers, and over which topics means are."""
        found, facts = self.found, self.facts()
        n_sampled, n_waiting = facts["sampled"], facts["sampled"] - facts["graded"]
        words = [
            "Estimates: what is judged stands for what was not sampled; what is not pooled counts as"
            " not relevant."
        ]
        if n_waiting > FEW_WAITING * n_sampled:
            words.append(
                f"{n_waiting:,} of {counted(n_sampled, 'sampled document')} are still"
                f" unjudged (more than {FEW_WAITING:.0%}): the judged ones are then not a sample, unless"
                " only chance chose them. Judge the rest before using these numbers."
            )
        known = {"strata": found.by_strata, "probability": found.by_probability}
        ways = [way for way, number in known.items() if number is not None]
        words.append(
            f"relevant by {', by '.join(ways)}: relevant documents estimated in all, of which"
            f" {facts['relevant']:,} were seen."
        )
        if n_without := facts["topics_without_relevant"]:
            n_topics = facts["topics"]
            names = ", ".join(name for name in found.values if found.n_defined(name) == n_topics - n_without)
            verb = "has" if n_without == 1 else "have"
            line = (
                f"{counted(n_without, 'topic')} of {n_topics:,} {verb} no relevant document in the"
                f" sample, so no {names}; means leave such topics out, as statAP_MQ_eval does."
            )
            if "xinfAP" in found.values:
                line += (
                    f" sample_eval.pl counts them as 0: its means of xinfAP are"
                    f" {n_topics - n_without}/{n_topics} of these."
                )
            words.append(line)
        return words

    def scores(self, name: MeasureName, topics: Sequence[str]) -> Scores:
        """Return one measure over topics, of which the sample may lack some."""
        key, found = str(replace(name, rel=None)), self.found
        if alone := [topic for topic in found.rankings.topics if topic not in topics]:
            message = f"topic {alone[0]} of the sample has no judgement in the qrels"
            raise PoolerError(message, hint="measure by one of the two at a time")
        values = np.full((len(found.rankings.tags), len(topics)), np.nan)
        n_defined = np.zeros(len(values), dtype=np.int64)
        lacks = np.zeros(len(topics), dtype=np.bool_)
        overall = np.full(len(values), np.nan)
        if key in found.values:
            at = [topics.index(topic) for topic in found.rankings.topics]
            values[:, at] = found.values[key]
            lacks[at] = np.isnan(found.values[key]).all(axis=0)
            overall = found.mean(key)
            n_defined = np.count_nonzero(~np.isnan(values), axis=1)
        why: Any = found.reasons.get(key, "not-sampled")
        return Scores(name, values, overall, n_defined, is_sum=False, lacks_relevant=lacks, other_reason=why)

    def errors(self, topics: Sequence[str]) -> NDArray[np.float64]:
        """Return standard errors of statAP, shape (n_runs, n_topics + 1), those of the mean last."""
        found = self.found
        errors = np.full((len(found.rankings.tags), len(topics) + 1), np.nan)
        if found.variance is not None:
            is_known = ~np.isnan(found.values["statAP"]) & (found.variance >= 0)
            at = [topics.index(topic) for topic in found.rankings.topics]
            errors[:, at] = np.sqrt(found.variance, where=is_known, out=np.full(is_known.shape, np.nan))
            errors[:, -1] = found.standard_errors()
        return errors


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Evaluation(Result):
    """Scores of runs.

    Tables: `measures`, a row a run and measure; `topics`, a row a run, topic and measure, the mean
    as topic `all`. People see a column a measure. Of a sample `found`, too: a row a run and topic, relevant
    documents estimated in its list and in all. Of leaderboards `orders`: a row a measure of ours and theirs.
    """

    runs: tuple[str, ...]
    """Axis of runs."""
    topics: tuple[str, ...]
    """Axis of topics: the judged ones."""
    missing: NDArray[np.int64]
    """Shape (n_runs,): judged topics for which the run has no document."""
    scores: tuple[Scores, ...]
    """By measure."""
    estimated: Estimated | None = None
    """Of a judged sample, where a measure is."""
    orders: Table | None = None
    """Beside leaderboards: how far the orders of runs agree."""

    HAS_TOPICS = True

    @property
    def measures(self) -> tuple[str, ...]:
        """Axis of measures."""
        return tuple(str(one.measure) for one in self.scores)

    @property
    def values(self) -> NDArray[np.float64]:
        """Shape (n_measures, n_runs, n_topics); NaN = undefined, see `reasons`."""
        return np.stack([one.values for one in self.scores])

    @property
    def mean(self) -> NDArray[np.float64]:
        """Shape (n_measures, n_runs): over the defined topics; of counts their sum. NaN = none is."""
        return np.stack([one.overall for one in self.scores])

    @property
    def interval(self) -> NDArray[np.float64]:
        """Shape (2, n_measures, n_runs): limits of the 95 % t interval of `mean`; of GMAP, of the logarithms.

        NaN where fewer than two topics are defined, and of sums.
        """
        limits = np.full((2, len(self.scores), len(self.runs)), np.nan)
        for place, one in enumerate(self.scores):
            if not one.is_sum:
                limits[:, place] = topic_interval(one.values)
                if MEASURES[one.measure.name].is_geometric:
                    limits[:, place] = np.exp(limits[:, place])
        return limits

    @property
    def n_topics(self) -> NDArray[np.int64]:
        """Shape (n_measures, n_runs): topics that `mean` is over."""
        return np.stack([one.n_defined for one in self.scores])

    @property
    def reasons(self) -> tuple[tuple[tuple[str | None, ...], ...], ...]:
        """Why a value is NaN, as `values` by measure, run and topic; ``None`` = it is not."""
        return tuple(
            tuple(
                tuple(one.reason(run, topic) for topic in range(len(self.topics)))
                for run in range(len(self.runs))
            )
            for one in self.scores
        )

    def facts(self) -> Mapping[str, Any]:
        """Return what the sample is, where there is one."""
        return {} if self.estimated is None else self.estimated.facts()

    def _tables(self) -> Iterator[Table]:
        facts = {name: fact for name, fact in self.facts().items() if fact}
        for name in ("measures", "topics"):
            table = self._long(by_topic=name == "topics")
            wide = table if len(self.scores) == 1 and not facts else self._wide(table)
            best_first = wide.order("value" if wide is table else self.measures[0], descending=True)
            columns: list[str | Column] = [*wide.columns]
            if wide is table and name == "measures" and any(low is not None for low in table.cells("low")):
                columns.insert(columns.index(REASON), _INTERVAL)
            view = View(wide, columns, rows=None if name == "topics" else best_first)
            yield table.seen_as(*([facts_view(facts)] if facts and name == "measures" else []), view)
        if self.estimated is not None:
            yield self._found(self.estimated.found)
        if self.orders is not None:
            yield self.orders

    def shown(self) -> tuple[str, ...]:
        """Return the names of the tables that a command shows by default."""
        return ("measures",) if self.orders is None else ("measures", "orders")

    def _found(self, found: SampleScores) -> Table:
        n_runs, topics = len(found.rankings.tags), found.rankings.topics
        way = "strata" if found.by_strata is not None else "probability"
        about = f"relevant documents in the run's lists, {way}"
        if way == "strata":
            about += ", a third of a stratum without a judged document, so that it may be more"
        columns: dict[Column, Any] = {
            RUN: np.repeat(found.rankings.tags, len(topics)).tolist(),
            TOPIC: [*topics] * n_runs,
            Column("found", "float", about=about, digits=1): found.found.ravel(),
        }
        for name, values in (("strata", found.by_strata), ("probability", found.by_probability)):
            column = Column(
                f"relevant_by_{name}",
                "float",
                "relevant",
                f"those of the topic, {name}",
                digits=1,
                show="always" if name == way else "never",
            )
            columns[column] = [None] * found.found.size if values is None else np.tile(values, n_runs)
        return Table.of_columns("found", columns)

    def _long(self, *, by_topic: bool) -> Table:
        is_geometric = any(MEASURES[one.measure.name].is_geometric for one in self.scores)
        columns = [
            RUN,
            *([TOPIC] if by_topic else []),
            Column("measure"),
            Column("value", "float", about=LOGARITHMS if by_topic and is_geometric else ""),
            *([] if self.estimated is None else [_ERROR]),
            REASON,
            Column("topics", "int", about="topics of the mean"),
            Column("missing", "int", about="judged topics where the run has no document"),
            *([] if by_topic else [hidden("low"), hidden("high"), hidden("interval_reason", "text")]),
        ]
        limits = self.interval
        missing = self.missing.tolist()
        errors = None if self.estimated is None else self.estimated.errors(self.topics)
        rows: list[dict[str, Any]] = []
        for index, tag in enumerate(self.runs):
            for place, topic in enumerate(self.topics) if by_topic else ():
                for one in self.scores:
                    value = _number(one, float(one.values[index, place]))
                    row = {"run": tag, "topic": topic, "measure": str(one.measure), "value": value}
                    rows.append(
                        row | {"reason": one.reason(index, place)} | _error(one, errors, index, place)
                    )
            for place, one in enumerate(self.scores):
                count = int(one.n_defined[index])
                value = _number(one, float(one.overall[index])) if count else None
                row = {"run": tag, "topic": "all", "measure": str(one.measure), "value": value}
                row |= {"reason": None if count else one.reason(index, 0), "topics": count}
                low, high = limits[:, place, index].tolist()
                why = "no-mean" if one.is_sum else "too-few-topics" if count == 1 else None
                row |= {"low": low, "high": high, "interval_reason": why}
                rows.append(row | {"missing": missing[index]} | _error(one, errors, index, -1))
        return Table.of_rows("topics" if by_topic else "measures", columns, rows)

    def _wide(self, table: Table) -> Table:
        first = [one for one in table.columns if one in (RUN, TOPIC)]
        step = len(self.scores)
        columns: dict[Column, Any] = {one: table.cells(one.name)[::step] for one in first}
        reasons: list[Any] = table.cells("reason")
        values = table.cells("value")
        for place, one in enumerate(self.scores):
            about = "" if self.estimated is None else ABOUT.get(one.measure.name, "")
            if table.name == "topics" and MEASURES[one.measure.name].is_geometric:
                about = LOGARITHMS
            columns[Column(str(one.measure), "float", about=about)] = values[place::step]
            if self.estimated is not None and one.measure.name == "statAP":
                columns[_ERROR] = table.cells("standard_error")[place::step]
        columns[REASON] = [joined(reasons[row : row + step]) for row in range(0, len(table), step)]
        missing = int(self.missing.max(initial=0))
        notes = [f"A run lacks up to {missing} of the judged topics and scores 0 there." if missing else ""]
        if missing and self.estimated is not None:
            notes = [f"{notes[0][:-1]}; both programs leave the topic out."]
        if self.estimated is not None and table.name == "measures":
            notes += self.estimated.words()
        return Table.of_columns(table.name, columns, notes=notes)


def _error(
    scores: Scores, errors: NDArray[np.float64] | None, run: int, place: int
) -> dict[str, float | str | None]:
    """Return the standard error of statAP, or why there is none; nothing for other measures."""
    if errors is None or scores.measure.name != "statAP":
        return {}
    error = float(errors[run, place])
    value = scores.overall[run] if place < 0 else scores.values[run, place]
    lacks = np.isnan(error) and not np.isnan(value)
    return {"standard_error": error} | ({"reason": "no-standard-error"} if lacks else {})


def _number(scores: Scores, value: float) -> float | int | None:
    """Return a count as a whole number, anything else as it is."""
    return int(value) if scores.is_sum and value == value else value


FormName = Literal["xinf", "xinfap", "statap"]
"""Of a prels file: topic, iteration, docno, stratum and rel; or topic, docno, rel, method and iprob."""
LOGARITHMS = "of a topic the logarithm of AP, of all the geometric mean of AP"
FEW_WAITING = 0.1
"""Share of a sample that may be unjudged before its estimates are called none."""
ABOUT = {
    "xinfAP": "AP estimated stratum by stratum, as in sample_eval.pl; it may exceed 1, and has no standard"
    " error",
    "infNDCG": "nDCG, likewise",
    "iP": "precision, likewise",
    "infAP": "AP as if the pool were one stratum, as in trec_eval",
    "statAP": "AP with each judged document standing for 1 / its probability of being sampled; it may"
    " exceed 1",
}
"""What the measures of a sample are, for the lines below a table."""


def _on_scale(path: str, rows: Sequence[PrelsRow], scale: Scale, no_judgement: int) -> list[PrelsRow]:
    """Check grades against a scale, and give negative rels off it the code of no judgement."""
    faults = FaultList(path)
    grades = ", ".join(map(str, scale.values))
    checked = []
    for row in rows:
        if row.code in scale.values and row.code != no_judgement:
            checked.append(row)
        elif row.code < 0:
            checked.append(row._replace(code=no_judgement))
        else:
            message = f"expected a grade of the scale ({grades}), got {row.code}"
            faults.add(row.line, message, "grade")
    faults.raise_if_any(hint="--scale declares the grades there are")
    return checked


def attainable(source: Measurable, rank: int = 10, *, progress: Progress | None = None) -> AttainableValues:
    """Report which values precision and recall at a rank can take, topic by topic.

    `rank` is N, at least 1. What runs found plays no part: the judgements tell R of every topic.

    Raises
    ------
    ArgumentError
        If `rank` is below 1.

    Notes
    -----
    P@N goes from 0 to min(1, R/N) in steps of 1/N, R@N from 0 to min(1, N/R) in steps of 1/R.

    Examples
    --------
    Five relevant documents, N = 10: no run has a P@10 above a half.

    >>> qrels = {"1": {str(number): 1 for number in range(5)}}
    >>> found = attainable(({"a": {"1": {"0": 1.0}}}, qrels), 10)
    >>> found.precision.highest.tolist(), found.recall.step.tolist()
    ([0.5], [0.2])
    """
    with collect_warnings(progress) as collected:
        found = source_of(source)
        rankings = found.graded(rank)
        n_relevant = rankings.n_relevant(found.level)
    return AttainableValues(
        topics=tuple(rankings.topics),
        n_relevant=n_relevant,
        precision=attainable_precision(n_relevant, rank),
        recall=attainable_recall(n_relevant, rank),
        settings=frozen_settings(rank=rank, **found.settings()),
        warnings=collected.warnings,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AttainableValues(Result):
    """Values of P@N and R@N that can occur; table: `attainable`, a row a topic and measure."""

    topics: tuple[str, ...]
    """Axis of topics: the judged ones."""
    n_relevant: NDArray[np.int64]
    """Shape (n_topics,): R."""
    precision: Attainable
    recall: Attainable

    def _tables(self) -> Iterator[Table]:
        both, rank = (self.precision, self.recall), self.settings["rank"]
        # Of each topic P, and then R.
        highest = np.stack([one.highest for one in both], axis=1).ravel()
        step = np.stack([one.step for one in both], axis=1).ravel()
        is_missing = np.isnan(highest)
        columns = {
            TOPIC: np.repeat(self.topics, 2).tolist(),
            Column("relevant", "int", "R", "relevant documents of the topic"): np.repeat(self.n_relevant, 2),
            Column("measure"): [f"P@{rank}", f"R@{rank}"] * len(self.topics),
            Column("least", "float"): np.where(is_missing, np.nan, 0.0),
            Column("greatest", "float"): highest,
            Column("step", "float", about="what one more relevant document adds"): step,
            REASON: ["no-relevant" if missing else None for missing in is_missing],
        }
        yield Table.of_columns("attainable", columns)
