"""Sensitivity: runs, pairs, each, missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.results.measure.conclusions import percent, rough
from pooler.results.reasons import undefined_pairs
from pooler.results.result import Progress, Result, frozen, heard, taken
from pooler.results.source import Source, source_of
from pooler.results.table import (
    DIFFERENCE,
    REASON,
    REASON_UNSEEN,
    RUN,
    RUN_A,
    RUN_B,
    T2_UNSEEN,
    TOPIC,
    TOPICS_UNSEEN,
    VARIANCE_UNSEEN,
    Column,
    Plot,
    Table,
    View,
    cells_where,
)
from pooler.telling import progress as telling
from pooler.telling import warn
from store.analysis.measures.average_precision import RMode
from store.analysis.rankings import UNJUDGED, JudgedRankings
from store.analysis.run_order import TIED_MAP
from store.analysis.significance.pairs import RunPairs
from store.analysis.undiscovered.each import EachDiscovery, each_discovery
from store.analysis.undiscovered.flips import ENDED, JUDGED, NO_RUN, At, Scenario
from store.analysis.undiscovered.missing import MissingBounds, MissingPairBounds
from store.analysis.undiscovered.missing import missing_bounds as bounds_of_runs
from store.analysis.undiscovered.missing import missing_pair_bounds as bounds_of_pairs
from store.analysis.undiscovered.pairs import (
    FIRST,
    NEITHER,
    SIGN_WORDS,
    PairDiscovery,
    PairSensitivity,
    pair_discovery,
    pair_sensitivity,
    sign_moves,
)
from store.analysis.undiscovered.sensitivity import Sensitivity, run_thresholds
from store.analysis.undiscovered.sensitivity import sensitivity as flip_each_run
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection

Sourced = Source | tuple[Any, Any]

_STATES = {"judged": JUDGED, "unjudged": UNJUDGED, "ended": ENDED, "no_run": NO_RUN}
_STATE_WORDS = {JUDGED: "judged", UNJUDGED: "unjudged", ENDED: "run ended", NO_RUN: "no documents"}
ALPHA = 0.05
"""Level at which notes count significant differences."""
SHOWN_EACH = 20
"""Documents of `--each` that people see unless they ask for more."""


def sensitivity(
    source: Sourced | Collection,
    *,
    depth: int | None = None,
    at: At | None = None,
    flips: int | None = None,
    scenario: Scenario = "shared",
    r: RMode = "pool",
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> SensitivityResult:
    """Turn the unjudged documents of each run in turn relevant, and order the runs anew.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is measured.
    depth : int, optional
        N, ranks from 1: documents at rank N+1 turn relevant. Default the depth of the collection's
        pools, where they have one; of no meaning with `at` ``"best"`` and ``"worst"``.
    at : {"next", "first", "best", "worst"}, optional
        Rank N+1; the first unjudged rank below N; the unjudged rank of the whole list that leaves
        the highest or the lowest AP. Default ``"next"``, or ``"first"`` where `flips` is given.
    flips : int, optional
        Unjudged ranks of one topic that turn relevant at once, from 1; default 1.
    scenario : {"shared", "own"}, optional
        Relevant in every run that retrieved the document, or in the run it is of alone; R grows for
        all others.
    r : {"pool", "own"}, optional
        R = relevant documents of the topic, or those that the run retrieved.
    cutoff : int, optional
        Ranks that are looked at.

    Returns
    -------
    SensitivityResult
        AP, MAP and the order of all runs before and after.

    Raises
    ------
    PoolerError
        If no depth is given and the pools have none or several.
    ArgumentError
        If a number is below 1.

    Notes
    -----
    Eq. 19 and 20 of Kishida (2001). O(runs^2 topics cutoff).

    Examples
    --------
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    >>> found = sensitivity((runs, {"1": {"x": 1}}), depth=1)
    >>> found.map_before.tolist(), found.map_after[0].tolist()
    ([1.0, 0.5], [1.0, 1.0])
    """
    with heard(progress) as said:
        found = source_of(source)
        at, depth, flips = _ranks(found, at, depth, flips)
        arrays = found.arrays(cutoff)
        result = flip_each_run(arrays, depth=depth, at=at, flips=flips, scenario=scenario, r_mode=r)
    own = {"depth": depth, "at": at, "flips": flips, "scenario": scenario, "r": r, "cutoff": cutoff}
    return SensitivityResult(
        **taken(result),
        runs=arrays.tags,
        topics=arrays.topics,
        settings=frozen(**own, **found.settings()),
        warnings=said.warnings,
        arrays=arrays,
        docnos=Docnos(arrays, found),
    )


def sensitivity_pairs(
    source: Sourced | Collection,
    *,
    depth: int | None = None,
    at: At | None = None,
    flips: int | None = None,
    scenario: Scenario = "shared",
    r: RMode = "pool",
    cutoff: int = 1000,
    limit: int | None = None,
    progress: Progress | None = None,
) -> SensitivityPairs:
    """Test the difference of every two runs before and after documents of either turn relevant.

    Parameters
    ----------
    source, depth, at, flips, scenario, r, cutoff, progress
        As for `sensitivity`; with `at` ``"best"`` or ``"worst"`` the one document of all topics is
        searched that moves each difference most away from 0, or towards it and past it.
    limit : int, optional
        Keep the pairs that come nearest to a swap or go furthest past it, these first.

    Returns
    -------
    SensitivityPairs
        The difference of MAP, t2 and its p of each pair, before and after.

    Raises
    ------
    PoolerError
        If there is one run only; see `sensitivity` as well.
    ArgumentError
        If `flips` is above 1 where one document is searched.

    Notes
    -----
    With ``scenario="own"`` and ``depth=100`` nearest to section 4.3 of Kishida (2001), which turns
    every document at rank 101 that is relevant with probability 0, judged or not.
    """
    with heard(progress) as said:
        found = source_of(source)
        if at in ("best", "worst") and (flips or 1) > 1:
            requirement = f"must be 1 with pairs at {at}: the search is for one document"
            raise ArgumentError("flips", requirement, flips)
        at, depth, flips = _ranks(found, at, depth, flips)
        arrays = found.arrays(cutoff)
        check_pair(arrays.tags)
        both, one = None, None
        with telling("topics", len(arrays.topics)) as advance:
            if at in ("best", "worst"):
                one = pair_discovery(
                    arrays, towards=at == "worst", scenario=scenario, r_mode=r, progress=advance
                )
            else:
                both = pair_sensitivity(
                    arrays, depth=depth, at=at, flips=flips, scenario=scenario, r_mode=r, progress=advance
                )
    own = {"depth": depth, "at": at, "flips": flips, "scenario": scenario, "r": r, "cutoff": cutoff}
    return SensitivityPairs(
        runs=arrays.tags,
        topics=arrays.topics,
        both=both,
        one=one,
        settings=frozen(**own, **found.settings(), limit=limit),
        warnings=said.warnings,
        arrays=arrays,
        docnos=Docnos(arrays, found),
        limit=limit,
    )


def sensitivity_each(
    source: Sourced | Collection, *, r: RMode = "pool", cutoff: int = 1000, progress: Progress | None = None
) -> SensitivityEach:
    """Turn every unjudged document relevant by itself, in every run that retrieved it.

    Parameters
    ----------
    source, r, cutoff, progress
        As for `sensitivity`.

    Returns
    -------
    SensitivityEach
        What each document does to MAPs and to the order of runs; those that swap most pairs first.

    Notes
    -----
    O(documents x runs) after an O(runs log runs) order a document.
    """
    with heard(progress) as said:
        found = source_of(source)
        arrays = found.arrays(cutoff)
        with telling("topics", len(arrays.topics)) as advance:
            result = each_discovery(arrays, r_mode=r, progress=advance)
    settings = frozen(r=r, cutoff=cutoff, **found.settings())
    return SensitivityEach(
        **taken(result),
        runs=arrays.tags,
        topics=arrays.topics,
        settings=settings,
        warnings=said.warnings,
        docnos=Docnos(arrays, found),
    )


def missing_bounds(
    source: Sourced | Collection, missing: int, *, r: RMode = "pool", cutoff: int = 1000
) -> MissingResult:
    """Bound AP and MAP if relevant documents of every topic went unjudged, wherever they are.

    Parameters
    ----------
    source, r, cutoff
        As for `sensitivity`.
    missing : int
        Relevant documents of each topic that nobody judged, from 1.

    Returns
    -------
    MissingResult
        The lowest and the highest of every run; both can come true.

    Raises
    ------
    ArgumentError
        If `missing` is below 1.
    """
    with heard() as said:
        found = source_of(source)
        arrays = found.arrays(cutoff)
        result = bounds_of_runs(arrays, missing, r_mode=r)
    settings = frozen(missing=missing, r=r, cutoff=cutoff, **found.settings())
    return MissingResult(
        **taken(result),
        runs=arrays.tags,
        topics=arrays.topics,
        settings=settings,
        warnings=said.warnings,
        arrays=arrays,
    )


def missing_pairs(
    source: Sourced | Collection,
    missing: int,
    *,
    r: RMode = "pool",
    cutoff: int = 1000,
    limit: int | None = None,
    progress: Progress | None = None,
) -> MissingPairs:
    """Bound the difference of every two runs as `missing_bounds` does the runs.

    Parameters
    ----------
    source, missing, r, cutoff
        As for `missing_bounds`.
    limit : int, optional
        Keep the pairs that come nearest to a swap or go furthest past it, these first.

    Returns
    -------
    MissingPairs
        Limits of each difference of MAP.
    """
    with heard(progress) as said:
        found = source_of(source)
        arrays = found.arrays(cutoff)
        check_pair(arrays.tags)
        with telling("topics", len(arrays.topics)) as advance:
            result = bounds_of_pairs(arrays, missing, r_mode=r, progress=advance)
    settings = frozen(missing=missing, r=r, cutoff=cutoff, limit=limit, **found.settings())
    return MissingPairs(
        **taken(result), runs=arrays.tags, settings=settings, warnings=said.warnings, limit=limit
    )


def check_pair(tags: Sequence[str]) -> None:
    """Raise `PoolerError` when there is one run only."""
    if len(tags) < 2:
        message = f"there is one run, `{tags[0]}`: a pair needs two"
        raise PoolerError(message, hint="name another run")


def _ranks(source: Source, at: At | None, depth: int | None, flips: int | None) -> tuple[At, int | None, int]:
    """Fill in what was not given; find the depth of the pools, and doubt another one."""
    at = at or ("next" if flips is None else "first")
    if at not in ("best", "worst"):
        judged = source.judged
        depth = judged.pool_depth(depth)
        if judged.pool_depths and depth not in judged.pool_depths:
            known = ", ".join(map(str, sorted(judged.pool_depths)))
            warn(f"depth {depth} is not that of the pool ({known})")
    return at, depth, flips or 1


@dataclass(frozen=True, slots=True, eq=False)
class Docnos:
    """What the documents of the arrays are called."""

    arrays: JudgedRankings
    source: Source

    def at(self, run: int, topic: int, column: int) -> str | None:
        """Return the docno at a rank, all counted from 0; ``None`` below the end of the run."""
        if column >= self.arrays.lengths[run, topic]:
            return None
        ranked = self.source.judged.ranked
        ids = ranked.rankings[self.arrays.tags[run], self.arrays.topics[topic]]
        return ranked.docnos[int(ids[column])]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SensitivityResult(Result, Sensitivity):
    """Scores before and after unjudged documents of one run turn relevant, run after run.

    Tables: `sensitivity`, a row a run; `topics`, a row a run and topic.
    """

    runs: Sequence[str]
    """Axis of runs."""
    topics: Sequence[str]
    """Axis of topics."""
    arrays: JudgedRankings = field(repr=False)
    """Rankings beside judgements."""
    docnos: Docnos = field(repr=False)

    NAMES: ClassVar[tuple[str, ...]] = ("sensitivity", "topics")

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        return [View(table, rows=None if name == "topics" else table.order("map_before", descending=True))]

    def plots(self) -> tuple[Plot, ...]:
        """Return the change of every run's MAP as bars."""
        table = self._sensitivity()
        return (
            Plot(
                table=table,
                kind="bars",
                label="run",
                value="change",
                notes=("change", "swapped"),
                title=f"{table.title}: change of each run's MAP",
                by="change",
            ),
        )

    def _sensitivity(self) -> Table:
        """Make a row a run."""
        where = {"next": "there", "first": "below that rank"}.get(self.at, "in its list")
        unjudged = f"topics where the run has an unjudged document {where}"
        judged = f"topics where the run has only judged documents {where}"
        if self.at == "next" and self.flips == 1:
            unjudged = "topics where the run's document at that rank is unjudged"
            judged = "topics where that document is judged"
        change = (
            "of the run's MAP, if its own documents were relevant; the MAPs of the other runs change, too"
        )
        of_orders = "of the order of all runs by MAP then and the order as judged"
        more_on_top = (
            f"{'the same' if self.flips == 1 else of_orders}, giving the first places most weight; a tie made"
            " or broken costs half as much as a swap"
        )
        counts = {name: (self.status == code).sum(axis=1) for name, code in _STATES.items()}
        before, after = self.map_before, np.diagonal(self.map_after)
        reasons = [
            "no-relevant" if isnan(score) else reason
            for score, reason in zip(before, self.tau_reason, strict=True)
        ]
        can_swap = np.array([reason not in ("no-relevant", "fewer-than-two") for reason in reasons])
        columns: dict[Column, Any] = {
            RUN: self.runs,
            Column("unjudged", "int", about=unjudged): counts["unjudged"],
            Column("judged", "int", about=judged): counts["judged"],
            Column("ended", "int", about="topics where the run's list ends earlier"): counts["ended"],
            Column("no_run", "int", "no run", "topics for which the run has no document", show="if_any"): (
                counts["no_run"]
            ),
        }
        if self.flips > 1:
            turned = "documents of all topics that turned relevant"
            columns[Column("turned", "int", about=turned)] = self.n_flipped()
        columns |= {
            Column("map_before", "float", "MAP"): before,
            Column("map_after", "float", "after", show="never"): np.where(np.isnan(before), np.nan, after),
            Column("change", "float", about=change): after - before,
            Column(
                "tau_b",
                "float",
                "tau-b",
                f"{of_orders}; 1 = the same, including ties",
                show="always" if self.flips == 1 else "never",
            ): self.tau_b,
            Column("tau_ap", "float", "tau_AP", more_on_top): self.tau_ap,
            Column("swapped", "int", about="pairs of runs that change places"): (
                cells_where(can_swap, self.n_swapped)
            ),
            REASON: reasons,
        }
        notes = [
            summary(self.status, at=self.at, depth=self.depth, flips=self.flips) + ".",
            *conclusion(self.runs, self),
            who_gains(self.scenario, self.r_mode),
        ]
        return Table.of_columns("sensitivity", columns, _title(self), notes)

    def _topics(self) -> Table:
        """Make a row a run and topic."""
        is_next = self.at == "next" and self.flips == 1
        lists = [(run, topic) for run in range(len(self.runs)) for topic in range(len(self.topics))]
        chosen = [[column for column in self.columns[at].tolist() if column >= 0] for at in lists]
        # What stands at rank N+1 is named, judged or not.
        named = chosen if not is_next or self.depth is None else [[self.depth]] * len(lists)
        columns: dict[Column, Any] = {
            RUN: [self.runs[run] for run, _ in lists],
            TOPIC: [self.topics[topic] for _, topic in lists],
            Column("docno", "texts"): [
                [docno for one in columns if (docno := self.docnos.at(*at, one))]
                for at, columns in zip(lists, named, strict=True)
            ],
        }
        if not is_next:
            columns[Column("rank", "ints")] = [[column + 1 for column in columns] for columns in chosen]
        threshold = (
            "a relevant document discovered at this rank of the run or below lowers its AP, one above does"
            " not; it may lie beyond the last rank. -: AP cannot fall"
        )
        thresholds = run_thresholds(self.arrays, r_mode=self.r_mode).ravel()
        change = Column("change", "float", about="of the run's AP, if its own documents were relevant")
        columns |= {
            Column("status"): [_STATE_WORDS[int(status)] for status in self.status.flat],
            Column("ap_before", "float", "AP"): self.ap_before.ravel(),
            Column("ap_after", "float", "after", show="never"): self.ap_after.ravel(),
            change: (self.ap_after - self.ap_before).ravel(),
            Column("threshold", "int", about=threshold): cells_where(thresholds != 0, thresholds),
            REASON: ["no-relevant" if isnan(score) else None for score in self.ap_before.flat],
        }
        notes = [
            summary(self.status, at=self.at, depth=self.depth, flips=self.flips) + ".",
            who_gains(self.scenario, self.r_mode),
        ]
        return Table.of_columns("topics", columns, _title(self), notes)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SensitivityPairs(Result):
    """The difference of every two runs before and after documents turn relevant; table: `pairs`."""

    runs: Sequence[str]
    topics: Sequence[str]
    both: PairSensitivity | None
    """After the documents of either run turned relevant; ``None`` where one document is searched."""
    one: PairDiscovery | None
    """The one document that moves each difference most."""
    arrays: JudgedRankings
    docnos: Docnos
    limit: int | None = None

    NAMES: ClassVar[tuple[str, ...]] = ("pairs",)

    def _pairs(self) -> Table:
        table = self._both_ways(self.both) if self.both is not None else self._single_documents()
        return table if self.limit is None else nearest(table, self.limit)

    def _both_ways(self, result: PairSensitivity) -> Table:
        """Make a row a pair, with the documents of either run turned relevant."""
        before, sides = result.before, {"a": result.after_first, "b": result.after_second}
        signs = {side: sign_moves(before.difference, after.difference) for side, after in sides.items()}
        reasons = _reasons(before, *sides.values())
        columns: dict[Column, Any] = {
            RUN_A: [self.runs[run] for run in result.first],
            RUN_B: [self.runs[run] for run in result.second],
            TOPICS_UNSEEN: before.n_topics,
            DIFFERENCE: before.difference,
            T2_UNSEEN: before.t,
            Column("p", "float", about="of t2, the paired t test (two-sided)"): before.p_t,
            VARIANCE_UNSEEN: before.variance,
        }
        for side, after in sides.items():
            run = side.upper()
            about = f"A - B once the documents of {run} are relevant; below 0 the two have swapped"
            columns |= {
                Column(f"difference_{side}", "float", f"{run}'s found", about): after.difference,
                Column(f"t2_{side}", "float", show="never"): after.t,
                Column(f"p_{side}", "float", "p"): after.p_t,
                Column(f"variance_{side}", "float", show="never"): after.variance,
                Column(f"drop_{side}", "float", show="never"): _drop(before.difference, after.difference),
                Column(f"variance_drop_{side}", "float", show="never"): (
                    _drop(before.variance, after.variance)
                ),
                Column(f"sign_{side}", show="never"): [SIGN_WORDS[int(sign)] for sign in signs[side]],
            }
        columns[REASON_UNSEEN] = reasons
        scenario, r_mode = self.settings["scenario"], self.settings["r"]
        ranks = {name: self.settings[name] for name in ("at", "depth", "flips")}
        notes = [
            summary(result.status, **ranks) + ".",
            f"Of {counted(len(reasons), 'pair')}, {int((signs['a'] == 1).sum()):,} swap with A's"
            f" documents, {int((signs['b'] == 1).sum()):,} with B's.",
            undefined_pairs(reasons),
            _significant(before, {"with A's documents": sides["a"], "with B's": sides["b"]}),
            who_gains(scenario, r_mode),
            "json and tsv have t2, the variances, and the shares by which both fall: Q and H of"
            " `required-difference`.",
        ]
        title = f"{flipped(**ranks)} turned relevant"
        return Table.of_columns("pairs", columns, title, notes)

    def _single_documents(self) -> Table:
        """Make a row a pair, with the one document that moves it most."""
        result = self.one
        assert result is not None
        before, after = result.before, result.after
        signs, reasons = sign_moves(before.difference, after.difference), _reasons(before, after)
        documents = [self._document(result, place) for place in range(len(reasons))]
        way = "towards 0, and beyond it" if self.settings["at"] == "worst" else "away from 0"
        most = (
            f"of all unjudged documents, inside and below the pool, the one that moves A - B most {way}; -:"
            " any document that neither run has"
        )
        swapped = "A - B with this one document relevant; below 0 the two have swapped"
        columns = {
            RUN_A: [self.runs[run] for run in result.first],
            RUN_B: [self.runs[run] for run in result.second],
            TOPICS_UNSEEN: before.n_topics,
            DIFFERENCE: before.difference,
            T2_UNSEEN: before.t,
            Column("p", "float", show="never"): before.p_t,
            TOPIC: [self.topics[topic] if topic >= 0 else None for topic in result.topic],
            Column("docno", most=24, about=most): [docno for docno, _, _ in documents],
            Column("rank_a", "int", "in A", "its rank"): [rank for _, rank, _ in documents],
            Column("rank_b", "int", "in B", "its rank"): [rank for _, _, rank in documents],
            Column("difference_after", "float", "after", swapped): after.difference,
            Column("t2_after", "float", show="never"): after.t,
            Column("p_after", "float", "p", "of t2, the paired t test (two-sided), after"): after.p_t,
            Column("sign", show="never"): [SIGN_WORDS[int(sign)] for sign in signs],
            REASON_UNSEEN: reasons,
        }
        notes = [
            f"One document swaps {int((signs == 1).sum()):,} of {counted(len(reasons), 'pair')}.",
            undefined_pairs(reasons),
            _significant(before, {"with that document": after}),
        ]
        return Table.of_columns("pairs", columns, notes=notes)

    def _document(self, result: PairDiscovery, place: int) -> tuple[str | None, int | None, int | None]:
        """Return the docno of a pair's document, and its ranks in A and B; ``None`` = not retrieved."""
        if result.holder[place] == NEITHER:
            return None, None, None
        first, second, topic = (int(one[place]) for one in (result.first, result.second, result.topic))
        holder, column = first if result.holder[place] == FIRST else second, int(result.column[place])
        code = int(self.arrays.documents[holder, topic, column])
        in_a, in_b = (_rank(self.arrays, run, topic, code) for run in (first, second))
        return self.docnos.at(holder, topic, column), in_a, in_b


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SensitivityEach(Result, EachDiscovery):
    """What each unjudged document alone does to the order of runs; table: `each`."""

    runs: Sequence[str]
    topics: Sequence[str]
    """Axis to which `topic` is an index."""
    docnos: Docnos

    NAMES: ClassVar[tuple[str, ...]] = ("each",)

    def _views(self, name: str) -> Sequence[View]:
        return [View(self._table(name), limit=SHOWN_EACH, of_rows="document")]

    def _table(self, name: str) -> Table:
        order = self.order()
        ranks = self.best_rank[order]
        columns = {
            TOPIC: [self.topics[topic] for topic in self.topic[order].tolist()],
            Column("docno", most=30): [
                self.docnos.at(run, topic, rank - 1)
                for run, topic, rank in zip(
                    self.best_run[order].tolist(), self.topic[order].tolist(), ranks.tolist(), strict=True
                )
            ],
            Column("runs", "int", about="runs that retrieved it"): self.n_runs_with[order],
            Column("best_rank", "int", "best rank", "its best rank"): ranks,
            Column("best_run", heading="in run", about="the run that has it there", most=20): [
                self.runs[run] for run in self.best_run[order].tolist()
            ],
            Column("up", "float", "MAP up", "the largest rise of a run's MAP"): self.up[order],
            Column("down", "float", about="the largest fall"): self.down[order],
            Column(
                "tau_b",
                "float",
                "tau-b",
                "of the order of all runs after it and the order as judged; 1 = the same",
            ): self.tau_b[order],
            Column("swapped", "int", about="pairs of runs that change places"): self.n_swapped[order],
        }
        return Table.of_columns(name, columns, notes=self._notes())

    def _notes(self) -> list[str]:
        """Say how many documents swap runs."""
        n_runs = int((~np.isnan(self.map_before)).sum())
        n_pairs = n_runs * (n_runs - 1) // 2
        n_all, n_swapping = self.code.size, int((self.n_swapped > 0).sum())
        most = int(self.n_swapped.max()) if n_all else 0
        notes = [
            f"{n_swapping:,} of {counted(n_all, 'document')} swap at least one pair of runs; none swaps"
            f" more than {most:,} of {counted(n_pairs, 'pair')}."
            if n_pairs and most
            else "None swaps a pair of runs."
            if n_pairs and n_all
            else "",
            "Each unjudged document, inside and below the pool, is made relevant by itself in every run"
            " that retrieved it; those that swap most pairs of runs come first.",
        ]
        if self.n_undefined:
            notes.append(
                f"{counted(self.n_undefined, 'document')} of topics without a relevant document change no"
                " MAP and are not shown."
            )
        return notes


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MissingResult(Result, MissingBounds):
    """Limits of every run's scores; tables: `missing`, a row a run; `topics`, a row a run and topic."""

    runs: Sequence[str]
    topics: Sequence[str]
    arrays: JudgedRankings = field(repr=False)

    NAMES: ClassVar[tuple[str, ...]] = ("missing", "topics")

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        return [View(table, rows=None if name == "topics" else table.order("map_before", descending=True))]

    def plots(self) -> tuple[Plot, ...]:
        """Return the limits of every run's MAP."""
        table = self._missing()
        return (
            Plot(
                table=table,
                kind="dots",
                label="run",
                value="map_before",
                low="map_low",
                high="map_high",
                notes=("map_before",),
                title=table.title,
                words=("MAP as judged", "low to high"),
                by="map_before",
            ),
        )

    def _n_unjudged(self) -> NDArray[np.int64]:
        """Count the unjudged documents of every run and topic."""
        counts = [
            np.count_nonzero(self.arrays.states_by_rank(topic) == UNJUDGED, axis=1)
            for topic in range(len(self.topics))
        ]
        return np.stack(counts, axis=1)

    def _limit_columns(self, score: str, of_run: str) -> list[Column]:
        """Return the columns that runs and topics have alike."""
        last = " or has them last" if self.r_mode == "own" else ""
        return [
            Column("unjudged", "int", about=f"documents in {of_run}"),
            Column("judged", "int"),
            Column(f"{score.lower()}_before", "float", score),
            Column(
                f"{score.lower()}_low",
                "float",
                "low",
                f"{score} if the run retrieved none of the missing ones{last}",
            ),
            Column(
                f"{score.lower()}_high",
                "float",
                "high",
                f"{score} if they are its first unjudged documents; both can happen",
            ),
        ]

    def _missing(self) -> Table:
        """Make a row a run."""
        unjudged, judged, before, low, high = self._limit_columns("MAP", "the run's lists")
        n_unjudged = self._n_unjudged().sum(axis=1)
        columns = {
            RUN: self.runs,
            unjudged: n_unjudged,
            judged: self.arrays.lengths.sum(axis=1) - n_unjudged,
            Column("no_run", "int", "no run", "topics for which the run has no document", show="if_any"): (
                (self.arrays.lengths == 0).sum(axis=1)
            ),
            before: self.map_before,
            low: self.map_low,
            high: self.map_high,
            Column("undefined", "int", about="topics without a relevant document", show="if_any"): (
                self.n_topics_undefined
            ),
            REASON: ["no-relevant" if isnan(score) else None for score in self.map_before],
        }
        return Table.of_columns("missing", columns, self._title())

    def _topics(self) -> Table:
        """Make a row a run and topic."""
        unjudged, judged, before, low, high = self._limit_columns("AP", "the run's list")
        n_unjudged, lengths = self._n_unjudged().ravel(), self.arrays.lengths.ravel()
        columns = {
            RUN: [tag for tag in self.runs for _ in self.topics],
            TOPIC: [*self.topics] * len(self.runs),
            unjudged: n_unjudged,
            judged: lengths - n_unjudged,
            before: self.ap_before.ravel(),
            low: self.ap_low.ravel(),
            high: self.ap_high.ravel(),
            Column("status"): [
                "unjudged" if n else "judged" if length else "no documents"
                for n, length in zip(n_unjudged, lengths, strict=True)
            ],
            REASON: ["no-relevant" if isnan(score) else None for score in self.ap_before.flat],
        }
        return Table.of_columns("topics", columns, self._title())

    def _title(self) -> str:
        """Say what is supposed."""
        missing = counted(self.n_missing, "relevant document")
        return f"Limits if {missing} of every topic went unjudged (R {self.r_mode})"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MissingPairs(Result, MissingPairBounds):
    """Limits of the difference of every two runs; table: `pairs`."""

    runs: Sequence[str]
    limit: int | None = None

    NAMES: ClassVar[tuple[str, ...]] = ("pairs",)

    def _pairs(self) -> Table:
        missed = counted(self.n_missing, "relevant document")
        if_missed = f"if {missed} of every topic went unjudged, wherever they are"
        attained = (
            "whether some documents are known to give the limit; otherwise it holds but may not be reached"
        )
        is_defined = self.n_topics > 0

        certain = cells_where(is_defined, self.low > TIED_MAP)
        reasons = [None if known else "no-topics" for known in is_defined]
        n_certain = certain.count(True)
        notes = [
            f"Of {counted(len(certain), 'pair')}, {n_certain:,} {'is' if n_certain == 1 else 'are'} certain.",
            undefined_pairs(reasons),
        ]
        columns = {
            RUN_A: [self.runs[run] for run in self.first],
            RUN_B: [self.runs[run] for run in self.second],
            TOPICS_UNSEEN: self.n_topics,
            DIFFERENCE: self.before,
            Column("low", "float", about=f"lower limit of A - B {if_missed}"): self.low,
            Column("low_attained", "bool", "attained", attained): cells_where(is_defined, self.low_attained),
            Column("high", "float", about="upper limit"): self.high,
            Column("high_attained", "bool", "attained"): cells_where(is_defined, self.high_attained),
            Column("certain", "bool", about="B cannot draw level or get ahead"): certain,
            REASON_UNSEEN: reasons,
        }
        table = Table.of_columns("pairs", columns, notes=notes)
        return table if self.limit is None else nearest(table, self.limit)


def conclusion(tags: Sequence[str], result: Sensitivity) -> list[str]:
    """Say how far MAP moves, and for whose documents the order of runs changes most."""
    if not (result.status == UNJUDGED).any():
        return [
            "No run has an unjudged document there, so there was nothing to flip. About documents below"
            " the lists, or not retrieved, nothing is known."
        ]
    changes = np.diagonal(result.map_after) - result.map_before
    defined = np.flatnonzero(~np.isnan(changes))
    if not defined.size:
        return []
    least, most = (int(defined[pick(changes[defined])]) for pick in (np.argmin, np.argmax))
    lines = [
        f"MAP changes by {rough(changes[least])} ({tags[least]}) to {rough(changes[most])} ({tags[most]})."
    ]
    n_pairs = defined.size * (defined.size - 1) // 2
    if not n_pairs:
        return [f"MAP changes by {rough(changes[most])}."]
    swapped = result.n_swapped[defined]
    n_most, n_none = int(swapped.max()), int((swapped == 0).sum())
    pairs = f"Of {counted(n_pairs, 'pair')} of runs, "
    if not n_most:
        return [*lines, f"{pairs}none is swapped by any run's documents."]
    worst = tags[int(defined[np.argmax(swapped)])]
    return [
        *lines,
        f"{pairs}at most {n_most:,} ({percent(n_most, n_pairs)}) {'is' if n_most == 1 else 'are'}"
        f" swapped by one run's documents ({worst})"
        + (f"; those of {counted(n_none, 'run')} swap none." if n_none else "."),
    ]


def summary(status: NDArray[np.int8], *, at: str, depth: int | None, flips: int) -> str:
    """Say how many of the places looked at are unjudged, judged and not there."""
    n = {name: int((status == code).sum()) for name, code in _STATES.items()}
    looked = n["unjudged"] + n["judged"]
    if at == "next" and flips == 1 and depth is not None:
        text = f"At rank {depth + 1}, {n['unjudged']:,} of {looked:,} documents are unjudged"
    else:
        where = {
            "next": f" at ranks {(depth or 0) + 1} to {(depth or 0) + flips}",
            "first": f" below rank {depth}",
        }.get(at, "")
        text = f"{n['unjudged']:,} of {looked:,} rankings have an unjudged document{where}"
    parts = [text + ("" if n["unjudged"] else ": nothing to flip")]
    parts += [f"{n['ended']:,} rankings ended before it"] if n["ended"] else []
    parts += [f"{n['no_run']:,} times a run has no document for a topic"] if n["no_run"] else []
    return "; ".join(parts)


def _title(result: Sensitivity) -> str:
    """Say what is supposed."""
    return f"{flipped(at=result.at, depth=result.depth, flips=result.flips)} turned relevant"


def who_gains(scenario: Scenario, r_mode: RMode) -> str:
    """Say what `--scenario` and `--r` suppose."""
    if scenario == "own":
        whom = "Relevant only in the run they belong to; for all others R grows"
    elif r_mode == "pool":
        whom = "Relevant in every run that retrieved them; for the others only R grows"
    else:
        whom = "Relevant in every run that retrieved them; the others stay as they are"
    counts = "of the topic" if r_mode == "pool" else "that the run retrieved"
    return f"{whom} (scenario {scenario}). R: relevant documents {counts}."


def flipped(*, at: str, depth: int | None, flips: int) -> str:
    """Name the documents that turn relevant, for a title."""
    first = (depth or 0) + 1
    if at == "next":
        ranks = f"rank {first}" if flips == 1 else f"ranks {first} to {first + flips - 1}"
        return f"Unjudged documents at {ranks}"
    documents = "unjudged document" if flips == 1 else f"{flips} unjudged documents"
    leave = "leaves" if flips == 1 else "leave"
    return {
        "first": f"The first {documents} below rank {first - 1}",
        "best": f"The {documents} of each list that {leave} the highest AP",
        "worst": f"The {documents} of each list that {leave} the lowest AP",
    }[at]


def nearest(table: Table, limit: int) -> Table:
    """Keep the pairs that come nearest to a swap, or go furthest past it, these first, and say so.

    Pairs without a difference are last.
    """
    names = [
        name for name in ("difference_a", "difference_b", "difference_after", "low") if name in table.data
    ]
    after = zip(*(table.cells(name) for name in names), strict=True)
    least = [min((cell for cell in cells if isinstance(cell, float)), default=inf) for cells in after]
    rows = sorted(range(len(table)), key=lambda row: least[row])[:limit]
    words = (
        f"Shown: {len(rows):,} of {counted(len(table), 'pair')}, those furthest past a swap, or nearest to"
        " one."
    )
    return replace(table.take(rows), notes=[words, *table.notes])


def _reasons(*tests: RunPairs) -> list[str | None]:
    """Say why pairs have no t2 before or after; ``None`` = they have them all."""
    by_pair = zip(*(one.t_reasons for one in tests), strict=True)
    return [", ".join(dict.fromkeys(filter(None, reasons))) or None for reasons in by_pair]


def _drop(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by what shares numbers fall; NaN where one was 0 or is undefined."""
    is_known = ~np.isnan(after) & (np.abs(before) > TIED_MAP)
    left = np.full(before.shape, np.nan)
    np.divide(after, before, out=left, where=is_known)
    return 1 - left


def _significant(before: RunPairs, afters: Mapping[str, RunPairs]) -> str:
    """Say how many pairs are significant as judged, and how many come and cease to be."""
    was = before.p_t <= ALPHA
    moves = [
        f"{with_what} {np.count_nonzero((after.p_t <= ALPHA) & ~was):,} become so and"
        f" {np.count_nonzero(was & ~(after.p_t <= ALPHA)):,} cease to be"
        for with_what, after in afters.items()
    ]
    return f"Significant at {ALPHA:g} as judged: {np.count_nonzero(was):,}; {', '.join(moves)}."


def _rank(arrays: JudgedRankings, run: int, topic: int, code: int) -> int | None:
    """Return the rank that a run gave a document; ``None`` = it did not retrieve it."""
    columns = np.flatnonzero(arrays.documents[run, topic] == code)
    return int(columns[0]) + 1 if columns.size else None
