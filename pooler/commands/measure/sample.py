"""A judged sample, of a pool of the collection or of a prels file: what stands for what was not judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pooler.messages import say, warn
from pooler.sources.judged import level_of_files
from pooler.sources.source import Source, opened_collection
from store.analysis.measures.sampled import NOT_SAMPLED, UNGRADED, SampledPool, SampleScores
from store.errors import FaultList, PoolerError
from store.records import Scale
from store.text import counted

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments
    from store.formats.prels import PrelsRow

FormName = Literal["xinf", "xinfap", "statap"]
"""Of a prels file: topic, iteration, docno, stratum and rel; or topic, docno, rel, method and iprob."""
FEW_WAITING = 0.1
"""Share of a sample that may be unjudged before its estimates are called none."""
_DRAWS = "pooler pool --strategy stratified, uniform or statap draws a sample"
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


def sample_of_collection(source: Source, pool: str | None) -> JudgedSample:
    """Read runs, judgements and a sampled pool, default the only one, of a collection."""
    judged = source.numbered
    with opened_collection(source.collection) as opened:
        name, pools = opened.grades.sampled_pools(judged.by_topic(), pool)
    if all(one.strata is None and one.inclusion is None for one in pools.values()):
        message = f"pool `{name}` is no sample: it has neither strata nor inclusion probabilities"
        raise PoolerError(message, hint=_DRAWS)
    return _with_grades(f"pool {name}", judged.ranked, pools, judged.level)


def sample_of_file(source: Source, prels: str, form: FormName) -> JudgedSample:
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


def tell_of_sample(sample: JudgedSample, found: SampleScores) -> None:
    """Tell what the sample lacks."""
    if sample.n_topics_without_grade:
        n_topics = counted(sample.n_topics_without_grade, "topic")
        say(f"{sample.name}: {n_topics} without a judged document left out")
    if n_waiting := sample.n_waiting:
        verb = "has" if n_waiting == 1 else "have"
        does = {
            "statAP": "statAP is too low",
            "xinfAP": "in estimates by strata, the judged ones stand for them",
        }
        effects = "; ".join(words for name, words in does.items() if name in found.values)
        warn(f"{counted(n_waiting, 'sampled document')} {verb} no grade: {effects}")
    if found.n_uncovered:
        n_pooled = counted(found.n_uncovered, "pooled document")
        warn(
            f"{n_pooled} in strata without a judged document: counted as not relevant in all measures but"
            " iP@k, where a third of them counts as relevant, as in sample_eval.pl"
        )


def facts_of_sample(sample: JudgedSample, found: SampleScores) -> dict[str, Any]:
    """Return what the sample is."""
    return {
        "sample": sample.name,
        "topics": len(found.rankings.topics),
        "topics_without_grade": sample.n_topics_without_grade,
        "topics_without_relevant": n_without_relevant(found),
        "pooled": sample.n_pooled,
        "sampled": sample.n_sampled,
        "graded": sample.n_sampled - sample.n_waiting,
        "relevant": sample.n_relevant,
        "relevant_by_strata": _total(found.by_strata),
        "relevant_by_probability": _total(found.by_probability),
        "in_strata_without_grade": found.n_uncovered,
    }


def words_on_sample(sample: JudgedSample, found: SampleScores) -> list[str]:
    """Say how far to trust the numbers, and over which topics means are."""
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
    if n_without := n_without_relevant(found):
        n_topics = len(found.rankings.topics)
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


def n_without_relevant(found: SampleScores) -> int:
    """Count the topics without a relevant document in the sample."""
    return int(np.sum(found.relevant == 0))


def _total(values: Any) -> float | None:
    """Return the sum of numbers, where there are any."""
    return None if values is None else float(values.sum())
