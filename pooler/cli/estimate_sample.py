"""The runs and the judged sample that `pooler estimate` works on, of a collection or of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pooler.cli.console import counted, say
from pooler.cli.estimate_options import NEEDS_PRELS, FormName
from pooler.cli.given import Given
from pooler.cli.judged_level import level_of_files
from pooler.cli.runs_given import entries_of, read_entries
from store.analysis.sampled_pool import NOT_SAMPLED, UNGRADED, SampledPool
from store.errors import FaultList, PoolerError

if TYPE_CHECKING:
    from store.arrays import RankedDocuments
    from store.formats.prels import PrelsRow
    from store.records import Scale

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
    from store.scored_collection import ScoredCollection

    with ScoredCollection(given.collection) as opened:
        name, pools = opened.sampled_pools(judged.by_topic(), pool)
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
    from store.arrays import ranked_documents
    from store.formats.prels import NOT_SAMPLED as CODE_NOT_SAMPLED
    from store.formats.prels import read_statap, read_xinfap
    from store.sampled_grades import NO_JUDGEMENT, statap_pools, xinfap_pools
    from store.scale import parse_scale

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


def _on_scale(
    path: str, rows: Sequence[PrelsRow], scale: Scale, no_judgement: int
) -> list[PrelsRow]:
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
) -> Sample:
    """Keep the topics of which something is judged."""
    kept = {topic: one for topic, one in pools.items() if one.graded.any()}
    if not kept:
        message = f"{name}: no sampled document is judged"
        raise PoolerError(message, hint="estimates rest on judged documents of the sample")
    return Sample(name, ranked, kept, level, len(pools) - len(kept))
