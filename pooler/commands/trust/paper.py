"""Kishida (2001) redone on a collection: its tables and figures, each with what it says here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pooler.command import Given, Levels, Option, Seed, Share, command
from pooler.commands.qrels.agreement_rows import resolve_levels
from pooler.commands.trust.paper_tables import NEEDS_RANK, STATES, Below, Paper
from pooler.judge_kinds import warn_about_voters
from pooler.messages import progress, say, warn
from pooler.result import frozen_settings
from pooler.sources.probabilities import (
    Probable,
    Values,
    chances,
    check_any_judged,
    moments,
    parse_values,
    say_empty,
    with_chances,
)
from pooler.sources.source import Source
from pooler.sources.stored import check_named
from store.analysis.agreement.order_stability import judge_average_precisions
from store.analysis.agreement.votes import PopulationVotes, level_index
from store.analysis.arrays import RankedDocuments
from store.analysis.undiscovered import discovery_effect
from store.analysis.variation.collection import Flip, Gain, discovered_variation, discovery
from store.analysis.variation.moments import Empty, ProbableRankings, probable_rankings
from store.analysis.variation.simulation import REPETITIONS, simulate_maps
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.judging.kinds import Voters
from store.records import Scale
from store.text import counted


@command
def paper(
    source: Annotated[Source, Given("pooler.cli.options:TwoRunsOptions", "source")],
    *runs: Annotated[str, Option(hidden=True)],
    values: Annotated[
        Values | None,
        Option("--value GRADE=P", read=lambda _, texts: texts, repeated=True, default="the share of judges"),
    ] = None,
    rank: Annotated[
        int | None, Option("--rank N+1", least=1, default="the pools' depth + 1; of files none")
    ] = None,
    scenario: Gain = "own",
    flip: Flip = "not-relevant",
    empty: Empty = "given",
    simulate: Annotated[int, Option("--monte-carlo M", least=2)] = REPETITIONS,
    seed: Seed = 1,
    alpha: Share = 0.05,
    levels: Annotated[Levels, Option(default="every grade but the lowest")] = (),
    cutoff: Annotated[int, Option(least=1, hidden=True)] = 1000,
) -> Paper:
    """Redo the tables and figures of Kishida (2001) on two runs.

    Tables 1 to 8, figures 1 to 3 and section 4.3 in the order of the paper, each with a sentence on what it
    says here. A is the run with the higher expected MAP. Moments are exact where the paper simulates.

    Example: pooler paper bm25-words rm3-words-title --value 0=0 --value 1=.8 --value 2=1

    runs : Tags of two runs, in any order; default the two with the highest expected MAP.
    values : Table 4: how likely a document with this grade is relevant, for every grade of the scale; p of a
        document is the mean over its judges.
    rank : The rank below the pool; without it tables 3 and 8, figure 2 and section 4.3 are left out.
    scenario : Who gains from the documents at rank N+1 of B: B, as in the paper, or every run that has them.
    flip : Which are found relevant: all with no chance of it, as in the paper, or unjudged ones.
    empty : Where judging again leaves a topic without a relevant document: leave that outcome out, as AP
        does not exist (given), or count AP as 0, as trec_eval does (zero).
    simulate : Judge M times at random, as the paper does (100,000 times), beside the exact moments.
    seed : Seed of --monte-carlo.
    alpha : Level of significance, tables 7 and 8, two-sided.
    levels : Least relevant grade, for the judges' own MAPs; may be repeated.
    cutoff : Ranks that AP takes into account (trec_eval -M).

    Raises
    ------
    PoolerError
        If there are fewer than two runs, nothing is judged, or no document can be relevant.
    UnknownNameError
        If a run or a judge is not known.
    ArgumentError
        If one run alone is named, or the rank is below the cutoff.

    Notes
    -----
    Moments are exact where the paper simulates; see `variation`. Two runs of 50 topics take about a second.

    Examples
    --------
    >>> import pooler
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    >>> try:
    ...     pooler.paper(pooler.source(runs, qrels={"1": {"x": 1}}), rank=2)
    ... except pooler.PoolerError as error:
    ...     print(error.message)
    qrels have one grade per document, and do not show how judges differ
    """
    check_named(runs)
    if len(runs) > 2:
        raise ArgumentError("runs", "must be two runs, or none for the two highest", ", ".join(runs))
    if rank is not None and rank > cutoff:
        raise ArgumentError("rank", f"must be an integer from 1 to the cutoff, {cutoff:,}", rank)
    if rank is None and (source.is_of_files or source.judgements):
        say(f"left out, as no --rank is given: {', '.join(NEEDS_RANK)}")
    elif rank is None:
        rank = 1 + source.pool_depth()
    with source.judging(of_scale=any(isinstance(one, str) for one in levels)) as opinions:
        scale = opinions.scale
        whose = source.definition  # of the qrels of one judge this one
        voters_of = opinions.grades.voters(whose.judges, whose.kinds)
        votes = opinions.grades.votes(whose.judges or voters_of.voting, least=1)
        warn_about_voters(voters_of, "judge together", is_headed=True)
        n_first = int((votes.votes.judge_codes == 0).sum())
        if 0 < n_first < votes.votes.n_documents:
            of = f"{n_first:,} of {counted(votes.votes.n_documents, 'document')}"
            first = votes.votes.judges[0]
            warn(f"tables 1 to 3 are by judge {first} alone, who graded {of}; --qrels names another")
        ranked = opinions.rankings()
        p = _chances(votes, scale, values)
        probable = _probable(ranked, votes, p, rank, cutoff, empty)
        # Docnos are asked for when tables are made: what is open here may be closed by then.
        collection = None if opinions.collection is None else source.collection
        for tag in runs:
            if tag not in ranked.tags:
                raise UnknownNameError("run", tag, ranked.tags)
        if len(ranked.tags) < 2:
            message = f"there is one run, `{ranked.tags[0]}`: the paper compares two"
            raise PoolerError(message, hint="name another run")
        chosen = [ranked.tags.index(tag) for tag in runs] or [*range(len(ranked.tags))]
        means = moments(_rows(probable, chosen), empty).map_mean
        pair = [chosen[one] for one in np.argsort(-means, kind="stable")[:2].tolist()]
        first, second = (ranked.tags[run] for run in pair)
        cuts = resolve_levels(scale, levels, all_of_them=True)
        scores = {
            level: judge_average_precisions(
                votes.votes,
                votes.document_numbers,
                [first, second],
                ranked.rankings,
                level_index=level_index(scale, level),
                cutoff=cutoff,
            )
            for level in cuts
        }
        two = _rows(probable, pair)
        topics = two.by_topic()
        varied = moments(two, empty)
        say_empty(two.topics, varied)
        own = _scores_of_judge(ranked, votes, (first, second), level_index(scale, cuts[0]), rank)
    how: dict[str, Any] = {"repetitions": simulate, "seed": seed, "empty": empty}
    with progress("judgings", how["repetitions"]) as advance:
        simulated = simulate_maps(topics, **how, progress=advance)
    below = None
    if rank is not None:
        discovered = discovery(two, 1, rank=rank, flip=flip, gain=scenario)
        with progress("documents found", int(discovered.flipped.sum())) as advance:
            then = discovered_variation(discovered, varied, progress=advance)
        with progress("judgings with them", how["repetitions"]) as advance:
            again = simulate_maps(discovered.topics, **how, progress=advance)
        below = Below(rank, discovered, then, [_states(probable, run, rank) for run in pair], again)
    return Paper(
        runs=(first, second),
        topics=two.topics,
        judges=tuple(votes.votes.judges),
        scale=scale,
        votes=votes,
        scores=scores,
        p=p,
        varied=varied,
        below=below,
        loaded=Probable(two, ranked, {}, Voters(), 0, collection, {}),
        own=own,
        simulated=simulated,
        settings=frozen_settings(
            **source.named()
            | {
                "a": first,
                "b": second,
                "judges": [*votes.votes.judges],
                "levels": cuts,
                "values": None if values is None else parse_values(values, scale),
                "rank": rank,
                "order": source.order,
            }
            | voters_of.to_json()
        ),
    )


def _chances(votes: PopulationVotes, scale: Scale, values: Values | None) -> NDArray[np.float64]:
    """Compute how likely each document is relevant, of the grades of its judges; say how that is."""
    own = votes.votes
    check_any_judged(own.n_documents)
    counts = np.zeros((own.n_documents, own.n_grades), dtype=np.int64)
    np.add.at(counts, (own.documents, own.places), 1)
    p = chances(counts, None if values is None else parse_values(values, scale), 1)
    how = "share of judges" if values is None else "mean value of grades"
    n_open = int(((p > 0) & (p < 1)).sum())
    say(
        f"{counted(own.n_documents, 'document')}: p = {how}, {counted(len(own.judges), 'judge')};"
        f" {n_open:,} may be relevant or not"
    )
    return p


def _probable(
    ranked: RankedDocuments,
    votes: PopulationVotes,
    p: NDArray[np.float64],
    rank: int | None,
    cutoff: int,
    empty: Empty,
) -> ProbableRankings:
    own = votes.votes
    found = {
        topic: (votes.document_numbers[own.topic_codes == code], p[own.topic_codes == code])
        for code, topic in enumerate(own.topics)
        if (own.topic_codes == code).any()
    }
    probable = probable_rankings(
        list(found), ranked.tags, ranked.rankings, found, cutoff=cutoff, keep_rank=rank
    )
    return probable if empty == "zero" else with_chances(probable)


def _rows(probable: ProbableRankings, rows: Sequence[int]) -> ProbableRankings:
    return replace(
        probable,
        tags=tuple(probable.tags[row] for row in rows),
        ranks=tuple(ranks[list(rows)] for ranks in probable.ranks),
    )


def _states(probable: ProbableRankings, run: int, rank: int) -> Mapping[str, int]:
    """Count by topic what stands at rank N + 1 of a run, as `Below.at_rank` has it."""
    states = dict.fromkeys((*STATES, "elsewhere"), 0)
    for p, ranks, judged in zip(probable.probabilities, probable.ranks, probable.judged, strict=True):
        (there,) = np.nonzero(ranks[run] == rank)
        if not there.size:
            states["none"] += 1
        elif not judged[there[0]]:
            states["unjudged"] += 1
            states["elsewhere"] += int(np.isfinite(ranks[:, there[0]]).sum() > 1)
        else:
            chance = p[there[0]]
            states["no chance" if chance == 0 else "relevant" if chance == 1 else "either way"] += 1
    return states


def _scores_of_judge(
    ranked: RankedDocuments, votes: PopulationVotes, tags: Sequence[str], cut: int, rank: int | None
) -> list[dict[str, Any]]:
    """Score both runs by the first judge, a row a run and topic.

    `documents` is N, what the run lists; `retrieved` R of eq. 1, and `own` AP by it; `relevant` R of the
    topic, and `ap` AP by it; `change` by eq. 19, were the document at rank N + 1 relevant. ``None`` = R is 0,
    or the document is relevant, or there is none.
    """
    own = votes.votes
    documents = own.documents[(own.judge_codes == 0) & (own.places >= cut)]
    found = []
    for code, topic in enumerate(own.topics):
        wanted = votes.document_numbers[documents[own.topic_codes[documents] == code]]
        for tag in tags:
            listed = ranked.rankings.get((tag, topic), np.empty(0, np.int64))
            relevant = np.isin(listed, wanted)
            (places,) = np.nonzero(relevant)
            total = float((np.arange(1, places.size + 1) / (places + 1)).sum())
            change = None
            if rank and listed.size >= rank and not relevant[rank - 1] and wanted.size:
                change = float(discovery_effect(relevant, np.array(wanted.size))[rank - 1])
            found.append(
                {
                    "run": tag,
                    "topic": topic,
                    "documents": listed.size,
                    "retrieved": places.size,
                    "relevant": wanted.size,
                    "own": total / places.size if places.size else None,
                    "ap": total / wanted.size if wanted.size else None,
                    "change": change,
                }
            )
    return found
