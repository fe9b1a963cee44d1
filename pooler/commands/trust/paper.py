"""Kishida (2001) redone on a collection: its tables and figures, each with what it says here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from pooler.command import Given, Levels, Option, Seed, Share, command
from pooler.commands.measure.compare import normality_plot
from pooler.commands.qrels.agreement_rows import resolve_levels
from pooler.commands.trust.scores_of_two_runs import (
    beside_chance,
    figure_1,
    figure_2,
    table_3,
    table_4,
    table_5,
)
from pooler.commands.trust.tests_of_two_runs import figure_3, needed, section_4_3, table_6
from pooler.commands.trust.two_runs import (
    STATES,
    Below,
    TwoRuns,
    document_chances,
    higher_two,
    put_together,
    rounded,
    rows_of,
    scores_of_judge,
    share_text,
    states_at_rank,
)
from pooler.judge_kinds import warn_about_voters
from pooler.messages import progress, say
from pooler.result import frozen_settings
from pooler.sources.probabilities import Values, moments, parse_values, say_empty
from pooler.sources.source import Source
from pooler.sources.stored import check_named
from pooler.tables import RUN, TOPIC, Column, Plot, Table
from store.analysis.agreement.order_stability import judge_average_precisions
from store.analysis.agreement.votes import level_index
from store.analysis.significance.t_tests import shapiro_wilk
from store.analysis.variation.collection import run_components
from store.analysis.variation.discovery import Flip, Gain, discovered_variation, discovery
from store.analysis.variation.lists import Empty
from store.analysis.variation.simulation import REPETITIONS, simulate_maps
from store.errors import ArgumentError, PoolerError, UnknownNameError

MOST_TOPICS = 16
"""Rows of tables 1 and 2 that people see."""
SMALL_SHARE = 0.1
"""Share of the variance, and of a MAP, below which the paper calls an effect small (its section 5)."""
MOVED = 0.01
"""Difference of p from which on it counts as moved."""
_ALWAYS = ("Judgements of different documents are taken for independent, and p from few judges is coarse.",)


def _typed(_: str, texts: list[str]) -> list[str]:
    """Take values as they were typed: what grades there are is not known yet."""
    return texts


@command
def paper(
    source: Annotated[Source, Given("pooler.cli.options:TwoRunsOptions", "source")],
    *runs: Annotated[str, Option(hidden=True)],
    values: Annotated[
        Values | None, Option("--value GRADE=P", read=_typed, repeated=True, default="the share of judges")
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
    >>> pooler.paper(pooler.source(runs, qrels={"1": {"x": 1}}), rank=2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    store.errors.PoolerError: qrels have one grade per document, ...
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
        voters_of = opinions.grades.voters(source.whose.judges, source.whose.kinds)
        votes = opinions.grades.votes(source.whose.judges or voters_of.voting, least=1)
        warn_about_voters(voters_of, "judge together")
        ranked = opinions.rankings()
        made = put_together(ranked, votes, scale, rank, values, cutoff, empty)
        # Docnos are asked for when tables are made: what is open here may be closed by then.
        loaded = replace(made, collection=None if opinions.collection is None else source.collection)
        for tag in runs:
            if tag not in ranked.tags:
                raise UnknownNameError("run", tag, ranked.tags)
        if len(ranked.tags) < 2:
            message = f"there is one run, `{ranked.tags[0]}`: the paper compares two"
            raise PoolerError(message, hint="name another run")
        pair = higher_two(loaded.rankings, runs, empty)
        cuts = resolve_levels(scale, levels, all_of_them=True)
        scores = {
            level: judge_average_precisions(
                votes.votes,
                votes.document_numbers,
                [ranked.tags[run] for run in pair],
                ranked.rankings,
                level_index=level_index(scale, level),
                cutoff=cutoff,
            )
            for level in cuts
        }
        first, second = pair
        two = rows_of(loaded.rankings, pair)
        topics = two.by_topic()
        varied = moments(two, empty)
        say_empty(two.topics, varied)
        documents = scores_of_judge(ranked, votes, [ranked.tags[run] for run in pair], scale, cuts[0], rank)
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
        below = Below(rank, discovered, then, states_at_rank(loaded.rankings, pair, rank), again)
    return Paper(
        runs=(ranked.tags[first], ranked.tags[second]),
        topics=two.topics,
        judges=tuple(votes.votes.judges),
        scale=scale,
        votes=votes,
        scores=scores,
        p=document_chances(votes, scale, values),
        varied=varied,
        below=below,
        loaded=replace(loaded, rankings=two),
        own=documents,
        simulated=simulated,
        settings=frozen_settings(
            **source.named()
            | {
                "a": ranked.tags[first],
                "b": ranked.tags[second],
                "judges": [*votes.votes.judges],
                "levels": cuts,
                "values": None if values is None else parse_values(values, scale),
                "rank": rank,
                "order": source.order,
            }
            | voters_of.to_json()
        ),
    )


def verdicts(pair: TwoRuns) -> Table:
    """Say which statements of the paper's section 5 hold here."""
    tested, parts = pair.tested, run_components(pair.varied)
    t1, t2 = abs(float(tested.t1_removed[0])), abs(float(tested.t2_removed[0]))
    shares = parts.share
    drops = (pair.varied.map_mean - pair.found.found.map_mean) / pair.varied.map_mean
    p, after = (one.p_values()["t2_removed"][0] for one in (tested, pair.tested_found))
    rows = [
        ("pairing the topics makes the test sharper: |t2| > |t1|", t2 > t1, f"{rounded(t2)}, {rounded(t1)}"),
        (
            f"judging is a small part of the variance: below {SMALL_SHARE:.0%} in A and B",
            bool((shares < SMALL_SHARE).all()),
            ", ".join(map(share_text, shares)),
        ),
        (
            f"found documents move each MAP by less than {SMALL_SHARE:.0%}",
            bool((np.abs(drops) < SMALL_SHARE).all()),
            ", ".join(f"{-drop:+.1%}" for drop in drops),
        ),
        (
            f"and yet they move p of the paired test by more than {MOVED:g}",
            bool(abs(after - p) > MOVED),
            f"{rounded(p)} to {rounded(after)}",
        ),
    ]
    statements, holds, numbers = zip(*rows, strict=True)
    columns = {
        Column("statement", about="of section 5 of the paper"): statements,
        Column("holds", "bool", "here"): holds,
        Column("numbers"): numbers,
    }
    false = sum(not one for one in holds)
    words = "All four hold here, too." if not false else f"{false} of the 4 statements do not hold here."
    return Table.of_columns("verdicts", columns, notes=[words, *_ALWAYS])


def topics(pair: TwoRuns) -> Table:
    """Give the moments of every topic, before and after, and the document of B that is found."""
    after, one = pair.found.found, pair.found.discovered
    places = [(place, int(one.documents[place])) for place in np.flatnonzero(one.flipped).tolist()]
    flipped = dict(zip([place for place, _ in places], pair.loaded.docnos(places), strict=True))
    columns = {
        TOPIC: pair.topics,
        Column("mean_a", "float", "E(A)", "expected AP"): pair.varied.mean[0],
        Column("mean_b", "float", "E(B)"): pair.varied.mean[1],
        Column("variance_a", "float", "V(A)", "by judging"): pair.varied.covariance[:, 0, 0],
        Column("variance_b", "float", "V(B)"): pair.varied.covariance[:, 1, 1],
        Column("covariance", "float", "Cov"): pair.varied.covariance[:, 0, 1],
        Column("docno", about="the document of B that is found relevant"): [
            flipped.get(place) for place in range(len(pair.topics))
        ],
        Column("mean_a_found", "float", "E(A) then"): after.mean[0],
        Column("mean_b_found", "float", "E(B) then"): after.mean[1],
    }
    return Table.of_columns("topics", columns)


TABLES: dict[str, tuple[str, Callable[[TwoRuns], Table]]] = {
    "verdicts": ("What the paper would say of this collection", verdicts),
    "table_1": ("Table 1: AP beside the least there can be", partial(beside_chance, name="table_1")),
    "table_2": ("Table 2: AP beside that of a random order", partial(beside_chance, name="table_2")),
    "table_3": ("Table 3: change of AP by one relevant document at rank {rank:,}", table_3),
    "figure_1": ("Figure 1: two processes, the choice of topics and judging", figure_1),
    "figure_2": ("Figure 2: the documents at rank {rank:,}", figure_2),
    "table_4": ("Table 4: how likely documents are relevant, by their judges' grades", table_4),
    "table_5": ("Table 5: MAP and variance, by judge and by the model", table_5),
    "table_6": ("Table 6: tests of the difference of A and B", table_6),
    "figure_3": ("Figure 3: expected differences by topic, and the normal curve", figure_3),
    "section_4_3": ("Section 4.3: the documents at rank {rank:,} of B found relevant", section_4_3),
    "table_7": ("Table 7: difference needed (eq. 23)", partial(needed, name="table_7")),
    "table_8": (
        "Table 8: difference needed if the documents at rank {rank:,} were found (eq. 24)",
        partial(needed, name="table_8"),
    ),
    "topics": ("Moments by topic", topics),
}
"""Title and maker of each table, in the paper's order."""
NEEDS_RANK = ("verdicts", "table_3", "figure_2", "section_4_3", "table_8", "topics")
"""What is of the documents at rank N + 1."""


@dataclass(frozen=True, slots=False, eq=False, repr=False, kw_only=True)
class Paper(TwoRuns):
    """Tables and figures of the paper for two runs of a collection.

    Tables: `verdicts`, what its section 5 says, true or false here; `table_1` to `table_8`, `figure_1` to
    `figure_3`, `section_4_3`, in the paper's order; `topics`, the moments they rest on. Of files without a
    rank those that rest on it are not there.
    """

    PAGE = "pooler.commands.trust.paper_page:paper_report"

    def _tables(self) -> Iterator[Table]:
        for name, (_, make) in TABLES.items():
            if self.below is not None or name not in NEEDS_RANK:
                is_long = name in ("table_1", "table_2") and len(self.topics) > MOST_TOPICS
                yield make(self).seen_as(title=self.title(name), limit=MOST_TOPICS if is_long else None)

    def shown(self) -> tuple[str, ...]:
        """Return what the paper prints."""
        return tuple(
            name for name in TABLES if name != "topics" and (self.below is not None or name not in NEEDS_RANK)
        )

    def facts(self) -> Mapping[str, Any]:
        """Return the test of normality of figure 3, and how far its two curves are apart."""
        w, p = shapiro_wilk(self.picture.differences)
        return {"w": w, "p_normality": p, "largest_distance": self.picture.largest_distance}

    def title(self, name: str) -> str:
        """Return what a table or figure is called."""
        return TABLES[name][0].format(rank=self.below and self.below.rank)

    def drawings(self) -> dict[str, Plot]:
        """Return the figures by name; figure 3 where the differences have a law."""
        parts = run_components(self.varied)
        variances = {
            RUN: self.runs,
            Column("topic_variance", "float", "topics"): parts.topic_variance,
            Column("judging_variance", "float", "judging"): parts.judging_variance,
        }
        found = {
            "figure_1": Plot(
                table=Table.of_columns("figure_1", variances),
                kind="stacks",
                label="run",
                parts=("topic_variance", "judging_variance"),
                axis="variance of AP",
                title=self.title("figure_1"),
            )
        }
        if self.below is not None:
            found["figure_2"] = Plot(
                table=self.table("figure_2"),
                kind="stacks",
                label="run",
                parts=[state.replace(" ", "_") for state in STATES],
                axis="topics",
                title=self.title("figure_2"),
            )
        for one in normality_plot(self.picture, "expected difference"):
            found["figure_3"] = replace(one, title=self.title("figure_3"))
        return found
