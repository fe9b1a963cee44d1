"""Estimate: scores of runs from a judged sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pooler.messages import say, warn
from pooler.results.judged import level_of_files
from pooler.results.reasons import REASONS, joined
from pooler.results.result import Progress, Result, collect_warnings, facts_view, frozen_settings
from pooler.results.source import Measurable, Source, opened_collection, source_of
from pooler.results.table import REASON, RUN, TOPIC, Column, Table, View
from store.analysis.measures.estimates import NAMES, SampleScores, estimates
from store.analysis.measures.sampled import NOT_SAMPLED, UNGRADED, SampledPool
from store.errors import ArgumentError, FaultList, PoolerError
from store.records import Scale
from store.text import counted

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments
    from store.formats.prels import PrelsRow

PRELS_HINT = "run files need --prels FILE; without it, RUN is the tag of a run of the collection"
FEW_WAITING = 0.1
"""Share of a sample that may be unjudged before its estimates are called none."""
_DRAWS = "pooler pool --strategy stratified, uniform or statap draws a sample"
_FORMS = "form: xinf (topic iteration docno stratum rel) or statap (topic docno rel method iprob)"


def estimate(
    source: Measurable,
    *,
    pool: str | None = None,
    prels: str | None = None,
    form: FormName | None = None,
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> Estimates:
    """Estimate the scores of runs from a judged sample: xinfAP, infNDCG, statAP and their like.

    What is judged stands for what is not: xinfAP, infNDCG and iP@k need strata, as sample_eval.pl
    reads them, infAP the same share of each, and statAP how likely each document was to be sampled.

    Parameters
    ----------
    source : Source or Collection
        The runs, and of a collection the judgements. With `prels` its runs are files, and its level
        and scale are of that file.
    pool : str, optional
        A sampled pool of the collection; default the only one.
    prels : str, optional
        A file of a judged sample instead.
    form : {"xinf", "statap"}, optional
        Of that file: topic, iteration, docno, stratum and rel; or topic, docno, rel, method and
        iprob.
    cutoff : int, optional
        Documents of a ranking that count, from 1, as in sample_eval.pl.

    Returns
    -------
    Estimates
        Of every run and topic; a topic of which no sampled document is relevant has none but iP@k,
        and is left out of means; a run without a topic scores 0 there.

    Raises
    ------
    PoolerError
        If the pool is no sample, nothing of it is judged, or a file cannot be read.
    ArgumentError, UnknownNameError
        If the form of a file is not named, or there is no such pool.
    """
    whole = source_of(source)
    if prels is None and whole.is_of_files:
        requirement = "must name the judged sample: qrels do not describe it"
        raise ArgumentError("prels", requirement, None, hint=_FORMS)
    with collect_warnings(progress) as collected:
        if prels is None:
            sample = _of_collection(whole, pool)
            settings = whole.settings()
        else:
            if form is None or form not in get_args(FormName):
                raise ArgumentError("form", "must say which form the prels file has", form, hint=_FORMS)
            sample = _of_file(whole, prels, form)
            settings = whole.named() | {"level": sample.level, "order": whole.order}
        found = estimates(sample.ranked, sample.pools, cutoff=cutoff, level=sample.level)
        _tell(sample, found)
    return Estimates(
        runs=found.rankings.tags,
        topics=found.rankings.topics,
        scores=found,
        sample=sample,
        settings=frozen_settings(pool=pool, prels=prels, form=form, cutoff=cutoff, **settings),
        warnings=collected.warnings,
    )


FormName = Literal["xinf", "xinfap", "statap"]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSample:
    """Runs, and a judged sample by topic."""

    name: str
    """The pool, or the file."""
    ranked: RankedDocuments
    pools: Mapping[str, SampledPool]
    """Topics of which a document is graded, in natural order; at least one."""
    level: int
    """Least relevant grade."""
    n_topics_without_grade: int

    @property
    def n_pooled(self) -> int | None:
        """Documents that the sample is of; ``None`` = not known, only those sampled are listed."""
        if any(pool.strata is None for pool in self.pools.values()):
            return None
        return sum(pool.documents.size for pool in self.pools.values())

    @property
    def n_sampled(self) -> int:
        """Documents that were sampled."""
        return sum(int(np.sum(one.states != NOT_SAMPLED)) for one in self.pools.values())

    @property
    def n_waiting(self) -> int:
        """Documents that were sampled and have no grade."""
        return sum(int(np.sum(one.states == UNGRADED)) for one in self.pools.values())

    @property
    def n_relevant(self) -> int:
        """Documents that are judged relevant."""
        return sum(int(one.relevant(self.level).sum()) for one in self.pools.values())


def _of_collection(source: Source, pool: str | None) -> JudgedSample:
    """Read runs, judgements and a sampled pool, default the only one, of a collection."""
    try:
        judged = source.numbered
    except PoolerError as error:
        if any(error.message.startswith(f"{run} is a file") for run in source.option("runs")):
            error.hint = PRELS_HINT
        raise
    with opened_collection(source.collection) as opened:
        name, pools = opened.grades.sampled_pools(judged.by_topic(), pool)
    if all(one.strata is None and one.inclusion is None for one in pools.values()):
        message = f"pool `{name}` is no sample: it has neither strata nor inclusion probabilities"
        raise PoolerError(message, hint=_DRAWS)
    return _with_grades(f"pool {name}", judged.ranked, pools, judged.level)


def _of_file(source: Source, prels: str, form: FormName) -> JudgedSample:
    """Read run files and a prels file.

    With a scale, grades must be on it; of negative rels those off it are not judgements. Without
    one, negative rels are what the program of the form takes them for.
    """
    from store.formats.prels import NOT_SAMPLED as CODE_NOT_SAMPLED
    from store.formats.prels import read_statap, read_xinfap
    from store.formats.scale import parse_scale
    from store.grades.sampled import NO_JUDGEMENT, statap_pools, xinfap_pools

    declared = source.option("scale")
    scale = None if declared is None else parse_scale(declared)
    level = level_of_files(scale, source.option("level"))
    # The sample is the smaller file: its faults are told before runs are read.
    if form != "statap":
        strata = read_xinfap(prels, lenient=source.lenient).rows
        n_below = sum(row.code < CODE_NOT_SAMPLED for row in strata) if scale is None else 0
        strata = strata if scale is None else _on_scale(prels, strata, scale, CODE_NOT_SAMPLED)
        codes = [row.code for row in strata]
    else:
        chances = read_statap(prels, lenient=source.lenient).rows
        n_below = 0
        chances = chances if scale is None else _on_scale(prels, chances, scale, NO_JUDGEMENT)
        codes = [row.code for row in chances]
    if n_below:
        verb = "counts" if n_below == 1 else "count"
        say(
            f"{prels}: {counted(n_below, 'line')} with a rel below -1 {verb} as not sampled, as in"
            " sample_eval.pl; --scale declares negative grades"
        )
    if source.option("level") is None and max(codes) > level:
        say(f"relevant = grade {level} or more; another level with --level")

    ranked = source.file_rankings
    if form != "statap":
        pools = xinfap_pools(ranked, strata, negatives_judged=scale is not None)
    else:
        pools = statap_pools(ranked, chances)
    name = "standard input" if prels == "-" else Path(prels).name
    return _with_grades(name, ranked, pools, level)


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


def _with_grades(
    name: str, ranked: RankedDocuments, pools: Mapping[str, SampledPool], level: int
) -> JudgedSample:
    kept = {topic: one for topic, one in pools.items() if one.graded.any()}
    if not kept:
        message = f"{name}: no sampled document is judged"
        raise PoolerError(message, hint="estimates need judged documents of the sample")
    return JudgedSample(name, ranked, kept, level, len(pools) - len(kept))


def _tell(sample: JudgedSample, found: SampleScores) -> None:
    if sample.n_topics_without_grade:
        n_topics = counted(sample.n_topics_without_grade, "topic")
        say(f"{sample.name}: {n_topics} without a judged document left out")
    if n_waiting := sample.n_waiting:
        verb = "has" if n_waiting == 1 else "have"
        does = {
            "statap": "statAP is too low",
            "xinfap": "in estimates by strata, the judged ones stand for them",
        }
        effects = "; ".join(words for name, words in does.items() if name in found.values)
        warn(f"{counted(n_waiting, 'sampled document')} {verb} no grade: {effects}")
    if found.n_uncovered:
        n_pooled = counted(found.n_uncovered, "pooled document")
        warn(
            f"{n_pooled} in strata without a judged document: counted as not relevant in all measures but"
            " iP@k, where a third of them counts as relevant, as in sample_eval.pl"
        )


_OF_ESTIMATES = (
    (
        "xinfap",
        "xinfAP",
        "AP estimated stratum by stratum, as in sample_eval.pl; it may exceed 1, and has no standard error",
    ),
    ("infndcg", "infNDCG", "nDCG, likewise"),
    ("ip_5", "iP@5", "precision, likewise"),
    ("ip_10", "iP@10", "precision, likewise"),
    ("infap", "infAP", "AP as if the pool were one stratum, as in trec_eval"),
    (
        "statap",
        "statAP",
        "AP with each judged document standing for 1 / its probability of being sampled; it may exceed 1",
    ),
)
"""Name, heading and meaning of every estimate."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Estimates(Result):
    """Estimated scores; tables: `runs`, a row a run, and `by_topic`, a row a run and topic."""

    runs: Sequence[str]
    topics: Sequence[str]
    scores: SampleScores = field(repr=False)
    """By estimate and topic, and of how many relevant documents."""
    sample: JudgedSample = field(repr=False)

    NAMES: ClassVar[tuple[str, ...]] = ("runs", "by_topic")

    @property
    def values(self) -> Mapping[str, NDArray[np.float64]]:
        """By estimate, as `xinfap`, shape (n_runs, n_topics); NaN = nothing of the topic is relevant."""
        return self.scores.values

    @property
    def mean(self) -> Mapping[str, NDArray[np.float64]]:
        """By estimate the means over topics where it is defined, shape (n_runs,)."""
        return {name: self.scores.mean(name) for name in self.scores.values}

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Of the mean statAP, shape (n_runs,); NaN = not known."""
        return self.scores.standard_errors()

    def facts(self) -> Mapping[str, Any]:
        """Return what the sample is."""
        found, sample = self.scores, self.sample
        facts: dict[str, Any] = {
            "sample": sample.name,
            "topics": len(self.topics),
            "topics_without_grade": sample.n_topics_without_grade,
            "topics_without_relevant": self._n_without_relevant(),
            "pooled": sample.n_pooled,
            "sampled": sample.n_sampled,
            "graded": sample.n_sampled - sample.n_waiting,
            "relevant": sample.n_relevant,
            "relevant_by_strata": _total(found.by_strata),
            "relevant_by_probability": _total(found.by_probability),
            "in_strata_without_grade": found.n_uncovered,
        }
        return facts | ({"reason": joined(found.reasons.values())} if found.reasons else {})

    def _views(self, name: str) -> Sequence[View]:
        """Show the sample before the runs; what all rows lack is stated there, and not in each."""
        table = self._table(name)
        of_all = set(self.scores.reasons.values())
        cells = [str(cell or "").split(", ") for cell in table.cells("reason")]
        own = [joined(code for code in codes if code not in of_all) for codes in cells]
        table = replace(table, data={**table.data, "reason": own})
        if name == "by_topic":
            return [View(table)]
        facts = {name: fact for name, fact in self.facts().items() if fact}
        words = [f"{code}: {REASONS[code]}." for code in dict.fromkeys(self.scores.reasons.values())]
        first = next(iter(self.scores.values))
        rows = table.order(first, descending=True)
        return [facts_view(facts, words), View(table, rows=rows)]

    def _runs(self) -> Table:
        found = self.scores
        means = {name: found.mean(name) for name in found.values}
        missing = np.sum(found.rankings.lengths == 0, axis=1)
        data = {
            "run": self.runs,
            **means,
            "statap_se": found.standard_errors(),
            "found": found.found.sum(axis=1),
            "missing": missing,
        }
        return self._made("runs", [RUN], data, len(self.runs))

    def _by_topic(self) -> Table:
        found, n_runs = self.scores, len(self.runs)
        errors = np.full(found.found.shape, np.nan)
        if found.variance is not None:
            is_known = ~np.isnan(found.values["statap"]) & (found.variance >= 0)
            np.sqrt(found.variance, out=errors, where=is_known)
        data: dict[str, Any] = {
            "run": [run for run in self.runs for _ in self.topics],
            "topic": [*self.topics] * n_runs,
            **{name: values.ravel() for name, values in found.values.items()},
            "statap_se": errors.ravel(),
            "found": found.found.ravel(),
            **{
                f"relevant_by_{way}": [None] * found.found.size if one is None else np.tile(one, n_runs)
                for way, one in (("strata", found.by_strata), ("probability", found.by_probability))
            },
            "missing": (found.rankings.lengths == 0).astype(np.int64).ravel(),
        }
        return self._made("by_topic", [RUN, TOPIC], data, n_runs * len(self.topics))

    def _made(self, name: str, first: Sequence[Column], data: dict[str, Any], n_rows: int) -> Table:
        """Make a table of what it has of the columns, with why estimates of a row are not there."""
        found = self.scores
        columns = [*first, *self._columns(of_topic=name == "by_topic")]
        data |= {one: [None] * n_rows for one in NAMES if one not in data}
        undefined = np.any([np.isnan(data[one]) for one in found.values], axis=0)
        no_error = np.zeros(n_rows, np.bool_)
        if "statap" in found.values:
            no_error = np.isnan(data["statap_se"]) & ~np.isnan(data["statap"])
        data["reason"] = [
            joined(
                [*found.reasons.values(), *["no-relevant"] * bool(none), *["no-standard-error"] * bool(error)]
            )
            for none, error in zip(undefined, no_error, strict=True)
        ]
        notes = self._words() if name == "runs" else []
        return Table(name, columns, data, title=name.replace("_", " "), notes=notes)

    def _columns(self, *, of_topic: bool) -> list[Column]:
        found = self.scores
        way = "strata" if found.by_strata is not None else "probability"
        also = ", and xinfAP strayed about as far" if "xinfap" in found.values else ""
        guessed = ""
        if way == "strata":
            guessed = ", a third of a stratum without a judged document, so that it may be more"
        columns = [
            Column(name, "float", heading, about, show="if_any") for name, heading, about in _OF_ESTIMATES
        ]
        columns += [
            Column(
                "statap_se",
                "float",
                "s.e.",
                "standard error of statAP, from the sampling only, not from the topics. In simulated"
                " samples, AP was within twice that 8 or 9 times out of 10" + also,
                show="if_any",
            ),
            Column(
                "found",
                "float",
                about=f"relevant documents in the run's lists, {way}{guessed}",
                digits=1,
                can_go=1,
            ),
        ]
        if of_topic:
            columns += [
                Column(
                    f"relevant_by_{one}",
                    "float",
                    "relevant",
                    f"those of the topic, {one}",
                    digits=1,
                    can_go=1,
                    show="always" if one == way else "never",
                )
                for one in ("strata", "probability")
            ]
        about = "topics where the run has no document. It scores 0 there; both programs leave the topic out"
        return [*columns, Column("missing", "int", about=about, show="if_any"), REASON]

    def _words(self) -> list[str]:
        """Say how far to trust the numbers, and over which topics means are."""
        found, sample = self.scores, self.sample
        words = [
            "Estimates: what is judged stands for what was not sampled; what is not pooled counts as"
            " not relevant."
        ]
        if sample.n_waiting > FEW_WAITING * sample.n_sampled:
            words.append(
                f"{sample.n_waiting:,} of {counted(sample.n_sampled, 'sampled document')} are still"
                f" unjudged (more than {FEW_WAITING:.0%}): the judged ones are then not a sample, unless"
                " only chance chose them. Judge the rest before using these numbers."
            )
        known = {"strata": found.by_strata, "probability": found.by_probability}
        ways = [way for way, number in known.items() if number is not None]
        words.append(
            f"relevant by {', by '.join(ways)}: relevant documents estimated in all, of which"
            f" {sample.n_relevant:,} were seen."
        )
        if n_without := self._n_without_relevant():
            n_topics = len(self.topics)
            names = ", ".join(
                heading
                for name, heading, _ in _OF_ESTIMATES
                if name in found.values and found.n_defined(name) == n_topics - n_without
            )
            verb = "has" if n_without == 1 else "have"
            line = (
                f"{counted(n_without, 'topic')} of {n_topics:,} {verb} no relevant document in the"
                f" sample, so no {names}; means leave such topics out, as statAP_MQ_eval does."
            )
            if "xinfap" in found.values:
                line += (
                    f" sample_eval.pl counts them as 0: its means of xinfAP are"
                    f" {n_topics - n_without}/{n_topics} of these."
                )
            words.append(line)
        return words

    def _n_without_relevant(self) -> int:
        return int(np.sum(self.scores.relevant == 0))


def _total(values: NDArray[np.float64] | None) -> float | None:
    """Return the sum of numbers, where there are any."""
    return None if values is None else float(values.sum())
