"""Estimate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pooler.results.printed import Cell, Column, Format, Table
from pooler.results.source import entries_of, level_of_files, read_entries
from pooler.telling import say
from store.analysis.measures.incomplete import inferred_average_precision
from store.analysis.measures.sampled import (
    NOT_SAMPLED,
    UNGRADED,
    SampledPool,
    SampledRankings,
    sampled_rankings,
    statap_scores,
    stratified_scores,
)
from store.errors import FaultList, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pooler.cli.source_options import GivenPrinted as Given
    from store.analysis.arrays import RankedDocuments
    from store.formats.prels import PrelsRow
    from store.records import Scale


class FormName(StrEnum):
    """Formats of `store.formats.prels`; that of strata has the name of `export prels`, too."""

    XINF = "xinf"
    XINFAP = "xinfap"
    STATAP = "statap"

    @property
    def has_strata(self) -> bool:
        """Whether the file has strata, and no probabilities."""
        return self is not FormName.STATAP


NEEDS_PRELS = "--prels FILE goes with run files; without, RUN is a run tag of a collection"


_DRAWS = "pooler pool --strategy stratified, uniform or statap draws a sample"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
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
        return sum(int(np.sum(one.standing != NOT_SAMPLED)) for one in self.pools.values())

    @property
    def n_waiting(self) -> int:
        """Documents that were sampled and have no grade."""
        return sum(int(np.sum(one.standing == UNGRADED)) for one in self.pools.values())

    @property
    def n_relevant(self) -> int:
        """Documents that are judged relevant."""
        return sum(int(one.relevant(self.level).sum()) for one in self.pools.values())


def sample_of_collection(given: Given, pool: str | None) -> Sample:
    """Read runs, judgements and a sampled pool, default the only one, of a collection.

    Raises
    ------
    PoolerError
        If the pool is no sample, or nothing of it is judged; see `Given.load` as well.
    """
    try:
        judged = given.load(docnos=False)
    except PoolerError as error:
        if any(error.message.startswith(f"{run} is a file") for run in given.runs or []):
            error.hint = NEEDS_PRELS
        raise
    from store.collection import Collection

    with Collection(given.collection) as opened:
        name, pools = opened.grades.sampled_pools(judged.by_topic(), pool)
    if all(one.strata is None and one.inclusion is None for one in pools.values()):
        message = f"pool `{name}` is no sample: it has neither strata nor inclusion probabilities"
        raise PoolerError(message, hint=_DRAWS)
    return _with_grades(f"pool {name}", judged.ranked, pools, judged.level)


def sample_of_file(given: Given, prels: str, form: FormName) -> Sample:
    """Read run files and a prels file.

    With a scale, grades must be on it; of negative rels those off it are not judgements. Without
    one, negative rels are what the program of the form takes them for.

    Raises
    ------
    PoolerError
        If a file cannot be read, or nothing of the sample is judged.
    """
    from store.analysis.arrays import ranked_documents
    from store.formats.prels import NOT_SAMPLED as CODE_NOT_SAMPLED
    from store.formats.prels import read_statap, read_xinfap
    from store.formats.scale import parse_scale
    from store.grades.sampled import NO_JUDGEMENT, statap_pools, xinfap_pools

    scale = None if given.scale is None else parse_scale(given.scale)
    level = level_of_files(scale, level=given.level, rigid=given.rigid, relaxed=given.relaxed)
    entries = entries_of(given.runs or [], given.listed)
    # The sample is the smaller file: its faults are told before runs are read.
    if form.has_strata:
        strata = read_xinfap(prels, lenient=given.lenient).rows
        n_below = sum(row.code < CODE_NOT_SAMPLED for row in strata) if scale is None else 0
        strata = strata if scale is None else _on_scale(prels, strata, scale, CODE_NOT_SAMPLED)
        codes = [row.code for row in strata]
    else:
        chances = read_statap(prels, lenient=given.lenient).rows
        n_below = 0
        chances = chances if scale is None else _on_scale(prels, chances, scale, NO_JUDGEMENT)
        codes = [row.code for row in chances]
    if n_below:
        verb = "counts" if n_below == 1 else "count"
        say(f"{prels}: {counted(n_below, 'line')} with a rel below -1 {verb} as not sampled, as in"
            " sample_eval.pl; --scale declares negative grades")  # fmt: skip
    chosen = given.level is not None or given.rigid or given.relaxed
    if not chosen and max(codes) > level:
        say(f"relevant = grade {level} or more; another level with --level")

    runs = read_entries(entries, lenient=given.lenient)
    ranked = ranked_documents(runs, order=given.order.value)
    if form.has_strata:
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


def _with_grades(name: str, ranked: RankedDocuments, pools: Mapping[str, SampledPool], level: int) -> Sample:
    """Keep the topics of which something is judged."""
    kept = {topic: one for topic, one in pools.items() if one.graded.any()}
    if not kept:
        message = f"{name}: no sampled document is judged"
        raise PoolerError(message, hint="estimates rest on judged documents of the sample")
    return Sample(name, ranked, kept, level, len(pools) - len(kept))


CUTOFFS = (5, 10)
"""Ranks at which precision is estimated."""
STRATIFIED = ("xinfap", "infndcg", *(f"ip_{cutoff}" for cutoff in CUTOFFS))
NAMES = (*STRATIFIED, "infap", "statap")
"""The estimates, in the order of their columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimated scores of runs; axes are in the order of the tags and topics of the rankings."""

    rankings: SampledRankings
    values: Mapping[str, NDArray[np.float64]]
    """By name, shape (n_runs, n_topics); NaN = no sampled document of the topic is relevant. An
    estimate that the sample does not allow is not there."""
    reasons: Mapping[str, str]
    """By name, why an estimate is not in `values`: ``no-strata``, ``no-probabilities``, or
    ``uneven-sample`` where strata were judged at different rates."""
    variance: NDArray[np.float64] | None
    """Shape (n_runs, n_topics), of statAP."""
    by_strata: NDArray[np.float64] | None
    """Shape (n_topics,): estimated relevant documents; ``None`` = no strata."""
    by_probability: NDArray[np.float64] | None
    """Shape (n_topics,): estimated relevant documents; ``None`` = no probabilities."""
    found: NDArray[np.float64]
    """Shape (n_runs, n_topics): of those, in the lists of the runs; by strata where there are."""
    n_uncovered: int
    """Pooled documents of strata of which none is graded."""

    @property
    def relevant(self) -> NDArray[np.float64]:
        """Shape (n_topics,): estimated relevant documents, by strata where there are."""
        either = self.by_probability if self.by_strata is None else self.by_strata
        return np.zeros(len(self.rankings.topics)) if either is None else either

    def mean(self, name: str) -> NDArray[np.float64]:
        """Return the mean over topics where an estimate is defined; (n_runs,), NaN = nowhere."""
        values = self.values[name]
        n_defined = np.sum(~np.isnan(values), axis=1)
        mean = np.full(values.shape[0], np.nan)
        np.divide(np.nansum(values, axis=1), n_defined, out=mean, where=n_defined > 0)
        return mean

    def n_defined(self, name: str) -> int:
        """Count the topics of the mean of an estimate; they are the same for all runs."""
        return int(np.sum(~np.isnan(self.values[name][:1])))

    def standard_errors(self) -> NDArray[np.float64]:
        """Return the standard error of the mean statAP, shape (n_runs,).

        Topics were sampled independently: the root of the summed variances, divided by the number
        of topics. NaN where a variance is not known, or where the sum is below 0, as
        `store.analysis.measures.sampled` says that it may be.
        """
        if self.variance is None:
            return np.full(len(self.rankings.tags), np.nan)
        is_defined = ~np.isnan(self.values["statap"])
        total = np.sum(np.where(is_defined, self.variance, 0.0), axis=1)
        n_topics = np.sum(is_defined, axis=1)
        is_known = (total >= 0) & (n_topics > 0)
        errors = np.full(total.shape, np.nan)
        np.divide(np.sqrt(np.abs(total)), n_topics, out=errors, where=is_known)
        return errors


def estimates(
    ranked: RankedDocuments, pools: Mapping[str, SampledPool], *, cutoff: int, level: int
) -> Estimates:
    """Estimate all scores that a sample allows.

    Parameters
    ----------
    ranked : RankedDocuments
        The runs.
    pools : mapping of str to SampledPool
        The topics, of each of which a document is graded.
    cutoff : int
        Documents of a ranking that are looked at, and the most that `sample_eval.pl` lets a run
        return; at least 1.
    level : int
        Least grade that counts as relevant.

    Notes
    -----
    An estimate is there for all topics or for none: strata of half of them allow no mean.
    """
    rankings = sampled_rankings(ranked.tags, ranked.rankings, pools, cutoff=cutoff)
    values: dict[str, NDArray[np.float64]] = {}
    reasons: dict[str, str] = {}
    by_strata = by_probability = variance = None
    found = np.zeros(rankings.lengths.shape)
    n_uncovered = 0
    if all(pool.inclusion is not None for pool in pools.values()):
        sampled = statap_scores(rankings, cutoffs=CUTOFFS, level=level)
        values["statap"], variance = sampled.stat_ap, sampled.variance
        by_probability, found = sampled.n_relevant, sampled.n_relevant_retrieved
    else:
        reasons["statap"] = "no-probabilities"
    if all(pool.strata is not None for pool in pools.values()):
        strata = stratified_scores(rankings, cutoffs=CUTOFFS, max_retrieved=cutoff, level=level)
        columns = strata.inf_ap, strata.inf_ndcg, *strata.precision
        values |= dict(zip(STRATIFIED, columns, strict=True))
        by_strata, found = strata.n_relevant, strata.n_relevant_retrieved
        n_uncovered = int(strata.n_uncovered.sum())
        if all(map(_is_even, pools.values())):
            values["infap"] = _inferred(rankings, level)
        else:
            reasons["infap"] = "uneven-sample"
    else:
        reasons |= dict.fromkeys((*STRATIFIED, "infap"), "no-strata")
    return Estimates(
        rankings=rankings,
        values={name: values[name] for name in NAMES if name in values},
        reasons=reasons,
        variance=variance,
        by_strata=by_strata,
        by_probability=by_probability,
        found=found,
        n_uncovered=n_uncovered,
    )


def _is_even(pool: SampledPool) -> bool:
    """Tell whether the same share of every stratum is graded."""
    _, codes = np.unique(np.asarray(pool.strata), return_inverse=True)
    n_pooled = np.bincount(codes)
    n_graded = np.bincount(codes, pool.graded)
    return bool((n_graded * codes.size == n_pooled * np.count_nonzero(pool.graded)).all())


def _inferred(rankings: SampledRankings, level: int) -> NDArray[np.float64]:
    """Return infAP, shape (n_runs, n_topics): pooled documents without a grade are unjudged."""
    found = np.empty(rankings.lengths.shape)
    # The codes -1 and -2 of ranks without a pooled document pick the last two elements.
    none = [False, False]
    for topic, pool in enumerate(rankings.pools):
        places = rankings.places[:, topic]
        is_relevant = pool.relevant(level)
        relevant, judged = (np.append(one, none)[places] for one in (is_relevant, pool.graded))
        n_relevant = int(is_relevant.sum())
        found[:, topic] = inferred_average_precision(relevant, judged, places >= 0, n_relevant)
    return found


_HEADINGS = {
    "xinfap": "xinfAP",
    "infndcg": "infNDCG",
    "ip_5": "iP@5",
    "ip_10": "iP@10",
    "infap": "infAP",
    "statap": "statAP",
}
FEW_WAITING = 0.1
"""Share of a sample that may be unjudged before its estimates are called none."""
_CODES = {
    "no-strata": "the sample has no strata, so no xinfAP, infNDCG, iP@k and infAP",
    "no-probabilities": "the sample has no inclusion probabilities, so no statAP",
    "uneven-sample": "not the same share of every stratum is judged, so no infAP",
    "no-relevant": "no sampled document of the topic is relevant",
    "no-standard-error": "one judged document of a topic, or an estimated variance below 0",
}


def _facts(found: Estimates, sample: Sample) -> dict[str, Cell]:
    """Say what the sample is."""
    facts: dict[str, Cell] = {
        "sample": sample.name,
        "topics": len(found.rankings.topics),
        "topics_without_grade": sample.n_topics_without_grade,
        "topics_without_relevant": _n_without_relevant(found),
        "pooled": sample.n_pooled,
        "sampled": sample.n_sampled,
        "graded": sample.n_sampled - sample.n_waiting,
        "relevant": sample.n_relevant,
        "relevant_by_strata": _total(found.by_strata),
        "relevant_by_probability": _total(found.by_probability),
        "in_strata_without_grade": found.n_uncovered,
    }
    if reasons := _joined(found.reasons.values()):
        facts["reason"] = reasons
    return facts


def _runs(found: Estimates, fmt: Format) -> Table:
    """Make a row for every run."""
    means = {name: found.mean(name) for name in found.values}
    errors = found.standard_errors()
    missing = np.sum(found.rankings.lengths == 0, axis=1)
    table = Table("runs", _columns(fmt, topics=False, has_missing=bool(missing.any())))
    for run, tag in enumerate(found.rankings.tags):
        cells = {name: _number(means[name][run]) for name in means}
        error = _number(errors[run])
        has_statap = cells.get("statap") is not None
        table.rows.append({
            "run": tag, **cells, "statap_se": error,
            "found": float(found.found[run].sum()), "missing": int(missing[run]),
            "reason": _reason(found, cells, fmt, no_error=has_statap and error is None),
        })  # fmt: skip
    return table


def _by_topic(found: Estimates, fmt: Format) -> Table:
    """Make a row for every run and topic."""
    table = Table("by_topic", _columns(fmt, topics=True, has_missing=False))
    for run, tag in enumerate(found.rankings.tags):
        for place, topic in enumerate(found.rankings.topics):
            cells = {name: _number(values[run, place]) for name, values in found.values.items()}
            variance = np.nan if found.variance is None else found.variance[run, place]
            has_statap = cells.get("statap") is not None
            error = float(np.sqrt(variance)) if has_statap and variance >= 0 else None
            table.rows.append({
                "run": tag, "topic": topic, **cells, "statap_se": error,
                "found": float(found.found[run, place]),
                "relevant": float(found.relevant[place]),
                "relevant_by_strata": _at(found.by_strata, place),
                "relevant_by_probability": _at(found.by_probability, place),
                "missing": int(found.rankings.lengths[run, place] == 0),
                "reason": _reason(found, cells, fmt, no_error=has_statap and error is None),
            })  # fmt: skip
    return table


def _columns(fmt: Format, *, topics: bool, has_missing: bool) -> list[Column]:
    """Name the columns; programs get some that people find in the facts, or need not see."""
    is_table = fmt is Format.TABLE
    columns = [Column("run"), *([Column("topic")] if topics else [])]
    columns += [Column(name, heading) for name, heading in _HEADINGS.items()]
    columns += [Column("statap_se", "s.e."), Column("found", digits=1, can_go=True)]
    if topics and is_table:
        columns += [Column("relevant", digits=1, can_go=True)]
    elif topics:
        columns += [Column("relevant_by_strata"), Column("relevant_by_probability")]
    columns += [Column("missing")] if has_missing or not is_table else []
    return [*columns, Column("reason")]


def _words(found: Estimates, sample: Sample, tables: Sequence[Table]) -> list[str]:
    """Say what the columns mean, how far to trust them, and why some numbers are not there."""
    words = [
        "Estimates: what is judged stands for what was not sampled; what is not pooled counts as"
        " not relevant."
    ]
    if sample.n_waiting > FEW_WAITING * sample.n_sampled:
        words.append(
            f"{sample.n_waiting:,} of {counted(sample.n_sampled, 'sampled document')} are still"
            f" unjudged (more than {FEW_WAITING:.0%}): what is judged is then no sample, unless"
            " chance alone chose it. Judge them before these numbers are used."
        )
    if "xinfap" in found.values:
        words.append(
            "xinfAP: AP, stratum by stratum. infNDCG: nDCG, likewise. iP@5, iP@10: precision,"
            " likewise. All as sample_eval.pl has them; they may exceed 1, and come without a"
            " standard error."
        )
    if "infap" in found.values:
        words.append("infAP: AP, as if the pool were one stratum, as trec_eval has it.")
    if "statap" in found.values:
        words.append(
            "statAP: AP, a judged document standing for 1 / its probability of being sampled; it"
            " may exceed 1. s.e.: its standard error, by chance of the sample alone, not of the"
            " topics. In simulated samples AP was within twice that much 8 or 9 times of 10"
            f"{', and xinfAP strayed about as far' if 'xinfap' in found.values else ''}."
        )
    known = {"strata": found.by_strata, "probability": found.by_probability}
    ways = [way for way, number in known.items() if number is not None]
    of_topic = any(table.name == "by_topic" for table in tables)
    guessed = ", a third of a stratum without a judged document, so that it may be more"
    words.append(
        f"relevant by {', by '.join(ways)}: relevant documents estimated in all, of which"
        f" {sample.n_relevant:,} were seen. found: those in the run's lists, by {ways[0]}"
        f"{guessed if ways[0] == 'strata' else ''}."
        f"{f' relevant: those of the topic, by {ways[0]}.' if of_topic else ''}"
    )
    words += _means(found)
    seen = {code for table in tables for row in table.rows for code in _codes(row.get("reason"))}
    seen |= set(found.reasons.values())
    return words + [f"{code}: {_CODES[code]}." for code in _CODES if code in seen]


def _means(found: Estimates) -> list[str]:
    """Say over which topics means are."""
    n_topics, n_without = len(found.rankings.topics), _n_without_relevant(found)
    words = []
    if n_without:
        names = ", ".join(
            _HEADINGS[name] for name in found.values if found.n_defined(name) == n_topics - n_without
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
    if (found.rankings.lengths == 0).any():
        words.append(
            "missing: topics where the run has no document. It scores 0 there; both programs leave"
            " the topic out."
        )
    return words


def _n_without_relevant(found: Estimates) -> int:
    """Count the topics of which no sampled document is relevant."""
    return int(np.sum(found.relevant == 0))


def _reason(found: Estimates, cells: dict[str, float | None], fmt: Format, *, no_error: bool) -> str | None:
    """Say why estimates of a row are not there; people read in the facts what all rows lack."""
    codes = [] if fmt is Format.TABLE else [*found.reasons.values()]
    codes += ["no-relevant"] if None in cells.values() else []
    codes += ["no-standard-error"] if no_error else []
    return _joined(codes)


def _joined(codes: Iterable[str]) -> str | None:
    """Write codes, each once."""
    return ", ".join(dict.fromkeys(codes)) or None


def _codes(cell: Cell) -> list[str]:
    """Read what `_joined` wrote."""
    return str(cell).split(", ") if cell else []


def _at(values: NDArray[np.float64] | None, place: int) -> float | None:
    """Return one of several numbers, where there are any."""
    return None if values is None else float(values[place])


def _total(values: NDArray[np.float64] | None) -> float | None:
    """Return the sum of numbers, where there are any."""
    return None if values is None else float(values.sum())


def _number(value: float) -> float | None:
    """Return a number, or ``None`` where it is undefined."""
    return None if np.isnan(value) else float(value)
