"""Unjudged documents turned relevant, for every run or every two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Limit, Measured, Option, command
from pooler.messages import progress, warn
from pooler.reasons import joined, undefined_pairs
from pooler.result import Later, Result, fields_of, frozen_settings
from pooler.sources.source import Source
from pooler.tables import (
    DIFFERENCE,
    REASON,
    REASON_HIDDEN,
    RUN,
    RUN_A,
    RUN_B,
    T2_HIDDEN,
    TOPIC,
    TOPICS_HIDDEN,
    VARIANCE_HIDDEN,
    Column,
    Plot,
    Show,
    Table,
    cells_where,
)
from store.analysis.measures.average_precision import RMode
from store.analysis.rankings import RELEVANT, UNJUDGED, Depths, JudgedRankings
from store.analysis.run_order import TIED_MAP
from store.analysis.significance.pairs import check_pair
from store.analysis.undiscovered import (
    ENDED,
    JUDGED,
    NO_RUN,
    SIGN_WORDS,
    At,
    PairSensitivity,
    Scenario,
    Sensitivity,
    pair_sensitivity,
    run_thresholds,
    sign_moves,
)
from store.analysis.undiscovered import sensitivity as flip_each_run
from store.text import counted, percent, rough

_STATES = {"judged": JUDGED, "unjudged": UNJUDGED, "ended": ENDED, "no_run": NO_RUN}
_STATE_WORDS = {JUDGED: "judged", UNJUDGED: "unjudged", ENDED: "run ended", NO_RUN: "no documents"}
ALPHA = 0.05
"""Level at which notes count significant differences."""
_P = "of t2, the paired t test (two-sided)"


@command
def sensitivity(
    source: Measured,
    *,
    depth: Annotated[
        int | None, Option("--depth -N", least=1, default="the pools', where they have one")
    ] = None,
    at: Annotated[At | None, Option("--at", default="next; first with --flips")] = None,
    flips: Annotated[int | None, Option("--flips K", least=1, default="1")] = None,
    by: Literal["run", "pair"] = "run",
    scenario: Scenario = "shared",
    r: RMode = "pool",
    cutoff: Cutoff = None,
    limit: Limit = None,
) -> SensitivityResult:
    """Flip the unjudged documents at rank N+1, and see what moves.

    For each run in turn, all its unjudged documents at rank N+1 (one per topic) turn relevant, and AP
    changes by eq. 19 of Kishida (2001). A row shows the run's own MAP and its change, and what its
    flips do to the order of all runs: Kendall's tau-b, tau_AP, and the pairs that swap. The judgements are
    taken as they are, and only unjudged documents are flipped. The paper's own experiment (section 4.3)
    flips every document at rank 101 whose probability of relevance is 0, judged or not, within its
    model of judging errors: that is `pooler paper A B --table section_4_3`.

    Example: pooler sensitivity --depth 5 --qrels alice --plot changes.svg

    Example: pooler sensitivity --depth 5 --qrels judgements/strict.qrels runs/bm25-words.run

    depth : N: the pool's depth; rank N+1 is flipped.
    at : Which unjudged document to flip: the one at rank N+1 (next), or the first one below rank N (first).
    flips : Flip K unjudged documents per topic at once; with --at next, those at ranks N+1 to N+K that are
        unjudged.
    by : What a row is of: a run; a pair of runs, with the difference in MAP, t2 and p before and after.
    scenario : shared: every run that retrieved the document gains, the others have R+1. own: only the flipped
        run gains; all others have R+1, whether they retrieved it or not, also with --r own.
    r : R = relevant documents of the topic (pool), or those the run retrieved (own).
    limit : Pairs that are kept: those nearest to a swap or furthest past it, these first.

    Raises
    ------
    PoolerError
        If no depth is given and no pool is a depth pool; by pair, if there is one run.

    Notes
    -----
    Eq. 19 and 20 of Kishida (2001). O(runs^2 topics cutoff). By pair, with ``scenario="own"`` and
    ``depth=100``, it is nearest to section 4.3.

    Examples
    --------
    >>> from pooler import sensitivity
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    >>> found = sensitivity((runs, {"1": {"x": 1}}), depth=1)
    >>> found.map_before.tolist(), found.map_after[0].tolist()
    ([1.0, 0.5], [1.0, 1.0])
    """
    at = at or ("next" if flips is None else "first")
    # A collection that was given open may be closed when docnos are asked for.
    judged = source.read if isinstance(source.collection, str) else source.judged
    arrays = source.arrays(cutoff or 1000)
    known = {one.depth for one in judged.pools}
    if known and depth not in {None, *known}:
        warn(f"depth {depth} is not that of the pool ({', '.join(map(str, sorted(known)))})")
    source.say_pooled()
    depths = judged.depths(depth, arrays)
    how: dict[str, Any] = {"at": at, "flips": flips or 1, "scenario": scenario, "r_mode": r}
    both = None
    if by == "pair":
        check_pair(arrays.tags)
        with progress("topics", len(arrays.topics)) as advance:
            both = pair_sensitivity(arrays, depth=depths, **how, progress=advance)
    own = {"depth": depth_in_words(depths), "at": at, "flips": flips or 1, "cutoff": cutoff or 1000}
    return SensitivityResult(
        **fields_of(flip_each_run(arrays, depth=depths, **how)),
        both=both,
        arrays=arrays,
        source=source,
        settings=frozen_settings(**own, **source.settings()),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SensitivityResult(Result, Sensitivity):
    """Scores before and after unjudged documents of one run turn relevant, run after run.

    Tables: `sensitivity`, a row a run; `topics`, a row a run and topic; of `by` ``"pair"`` `pairs`.
    """

    both: PairSensitivity | None
    """Of every two runs, after the documents of either turned relevant."""
    arrays: JudgedRankings
    """Rankings beside judgements."""
    source: Source

    HAS_TOPICS = True

    def _tables(self) -> Iterator[Later]:
        if self.both is not None:
            yield Later(self._pairs)
        yield Later(self._sensitivity, by_name=self.both is not None)
        yield Later(self._topics, by_name=True)

    @property
    def runs(self) -> tuple[str, ...]:
        """Axis of runs."""
        return self.arrays.tags

    @property
    def topics(self) -> tuple[str, ...]:
        """Axis of topics."""
        return self.arrays.topics

    def docno(self, run: int, topic: int, column: int) -> str | None:
        """Return the docno at a rank, all counted from 0; ``None`` below the end of the run."""
        if column >= self.arrays.lengths[run, topic]:
            return None
        # What is read without docnos has none.
        ranked = self.source.read.ranked if self.source.read.grades is None else self.source.rankings
        return ranked.docnos[int(ranked.rankings[self.runs[run], self.topics[topic]][column])]

    def plots(self) -> tuple[Plot, ...]:
        """Return the change of every run's MAP as bars."""
        table = self._sensitivity()
        return (
            Plot(
                table=table,
                kind="bars",
                label="run",
                value="change",
                title=f"{table.title}: change of each run's MAP",
                by="change",
            ),
        )

    @property
    def _is_next(self) -> bool:
        return self.at == "next" and self.flips == 1

    @property
    def _title(self) -> str:
        depth, flips = self.settings["depth"], self.flips
        if self.at == "first":
            documents = "unjudged document" if flips == 1 else f"{flips} unjudged documents"
            return f"The first {documents} below rank {depth} turned relevant"
        return f"Unjudged documents at {ranks_below(depth, flips)} turned relevant"

    def _notes(self, *more: str) -> list[str]:
        """Say how many places are unjudged, judged and not there; more; and what the scenario supposes."""
        depth, flips = self.settings["depth"], self.flips
        n = {name: int((self.status == code).sum()) for name, code in _STATES.items()}
        looked = n["unjudged"] + n["judged"]
        text = f"At {ranks_below(depth)}, {n['unjudged']:,} of {looked:,} documents are unjudged"
        if not self._is_next:
            where = f"at {ranks_below(depth, flips)}" if self.at == "next" else f"below rank {depth}"
            text = f"{n['unjudged']:,} of {looked:,} rankings have an unjudged document {where}"
        parts = [text + ("" if n["unjudged"] else ": nothing to flip")]
        parts += [f"{n['ended']:,} rankings ended before it"] if n["ended"] else []
        parts += [f"{n['no_run']:,} times a run has no document for a topic"] if n["no_run"] else []
        counts = "of the topic" if self.r_mode == "pool" else "that the run retrieved"
        whom = "Relevant in every run that retrieved them; the others stay as they are"
        if self.scenario == "own":
            whom = "Relevant only in the run they belong to; for all others R grows"
        elif self.r_mode == "pool":
            whom = "Relevant in every run that retrieved them; for the others only R grows"
        gains = f"{whom} (scenario {self.scenario}). R: relevant documents {counts}."
        return [f"{'; '.join(parts)}.", *more, gains]

    def _sensitivity(self) -> Table:
        where = {"next": "there", "first": "below that rank"}.get(self.at, "in its list")
        unjudged = f"topics where the run has an unjudged document {where}"
        judged = f"topics where the run has only judged documents {where}"
        if self._is_next:
            unjudged = "topics where the run's document at that rank is unjudged"
            judged = "topics where that document is judged"
        change = "of the run's MAP, if its own documents were relevant"
        change += "; the MAPs of the other runs change, too"
        of_orders = "between the order of all runs by MAP then and the order as judged"
        more_on_top = (
            f"{'the same' if self.flips == 1 else of_orders}, giving the first places most weight; a tie made"
            " or broken costs half as much as a swap"
        )
        counts = {name: (self.status == code).sum(axis=1) for name, code in _STATES.items()}
        before = self.map_before
        reasons = [code or own for code, own in zip(_no_relevant(before), self.tau_reason, strict=True)]
        can_swap = np.array([reason not in ("no-relevant", "fewer-than-two") for reason in reasons])
        turned = Column("turned", "int", about="documents of all topics that turned relevant")
        same = f"{of_orders}; 1 = the same, including ties"
        show: Show = "always" if self.flips == 1 else "never"
        columns = {
            RUN: self.runs,
            Column("unjudged", "int", about=unjudged): counts["unjudged"],
            Column("judged", "int", about=judged): counts["judged"],
            Column("ended", "int", about="topics where the run's list ends earlier"): counts["ended"],
            Column("no_run", "int", "no run", "topics for which the run has no document", show="if_any"): (
                counts["no_run"]
            ),
            **({turned: self.n_flipped()} if self.flips > 1 else {}),
            Column("map_before", "float", "MAP"): before,
            Column("map_after", "float", "after", show="never"): (
                np.where(np.isnan(before), np.nan, np.diagonal(self.map_after))
            ),
            Column("change", "float", about=change): np.diagonal(self.map_after) - before,
            Column("tau_b", "float", "tau-b", same, show=show): self.tau_b,
            Column("tau_ap", "float", "tau_AP", more_on_top): self.tau_ap,
            Column("swapped", "int", about="pairs of runs that change places"): (
                cells_where(can_swap, self.n_swapped)
            ),
            REASON: reasons,
        }
        notes = self._notes(*conclusion(self.runs, self))
        table = Table.of_columns("sensitivity", columns, self._title, notes)
        return table.seen_as(rows=table.order("map_before", descending=True))

    def _topics(self) -> Table:
        lists = list(product(range(len(self.runs)), range(len(self.topics))))
        chosen = [[column for column in self.columns[at].tolist() if column >= 0] for at in lists]
        # What stands at rank N+1 is named, judged or not.
        depths = np.broadcast_to(self.depth, self.status.shape)
        named = [[depth] for depth in depths.ravel().tolist()] if self._is_next else chosen
        docnos = [
            [docno for column in columns if (docno := self.docno(*at, column))]
            for at, columns in zip(lists, named, strict=True)
        ]
        ranks = [[column + 1 for column in columns] for columns in chosen]
        threshold = (
            "a relevant document discovered at this rank of the run or below it lowers the run's AP, one"
            " discovered above does not; the rank may lie beyond the last. -: AP cannot fall"
        )
        thresholds = run_thresholds(self.arrays, r_mode=self.r_mode).ravel()
        change = Column("change", "float", about="of the run's AP, if its own documents were relevant")
        above = "all relevant documents of the topic stand above in this run, so that eq. 20 holds"
        columns = {
            RUN: [tag for tag in self.runs for _ in self.topics],
            TOPIC: [*self.topics] * len(self.runs),
            **({} if isinstance(self.depth, int) else {Column("depth", "int", "N"): depths.ravel()}),
            Column("docno", "texts"): docnos,
            **({} if self._is_next else {Column("rank", "ints"): ranks}),
            Column("status"): [_STATE_WORDS[int(status)] for status in self.status.flat],
            Column("ap_before", "float", "AP"): self.ap_before.ravel(),
            Column("ap_after", "float", "after", show="never"): self.ap_after.ravel(),
            change: (self.ap_after - self.ap_before).ravel(),
            Column("threshold", "int", about=threshold): cells_where(thresholds != 0, thresholds),
            Column("all_relevant_above", "bool", "above", above): self._all_above(chosen),
            REASON: _no_relevant(self.ap_before),
        }
        return Table.of_columns("topics", columns, self._title, self._notes())

    def _all_above(self, chosen: Sequence[Sequence[int]]) -> list[bool | None]:
        """Return whether all relevant documents are above what is flipped; ``None`` = nothing is."""
        found: list[bool | None] = []
        n_topics = len(self.topics)
        relevant = [self.arrays.states_by_rank(topic) == RELEVANT for topic in range(n_topics)]
        for place, columns in enumerate(chosen):
            run, topic = divmod(place, n_topics)
            n_relevant = self.arrays.n_relevant[topic]
            is_known = bool(columns) and n_relevant > 0
            n_above = relevant[topic][run, : min(columns, default=0)].sum()
            found.append(bool(n_above == n_relevant) if is_known else None)
        return found

    def _pairs(self) -> Table:
        result = self.both
        assert result is not None
        before, sides = result.before, {"a": result.after_first, "b": result.after_second}
        signs = {side: sign_moves(before.difference, after.difference) for side, after in sides.items()}
        tests = (before, *sides.values())
        reasons = [*map(joined, zip(*(one.t_reasons for one in tests), strict=True))]
        columns: dict[Column, Any] = {
            RUN_A: [self.runs[run] for run in result.first],
            RUN_B: [self.runs[run] for run in result.second],
            TOPICS_HIDDEN: before.n_topics,
            DIFFERENCE: before.difference,
            T2_HIDDEN: before.t,
            Column("p", "float", about=_P): before.p_t,
            VARIANCE_HIDDEN: before.variance,
        }
        for side, after in sides.items():
            run = side.upper()
            about = f"A - B once the documents of {run} are relevant; below 0 the two have swapped"
            unseen = {
                f"t2_{side}": after.t,
                f"p_{side}": after.p_t,
                f"variance_{side}": after.variance,
                f"drop_{side}": _drop(before.difference, after.difference),
                f"variance_drop_{side}": _drop(before.variance, after.variance),
            }
            columns[Column(f"difference_{side}", "float", f"{run}'s found", about)] = after.difference
            for name, values in unseen.items():
                is_p = name.startswith("p_")
                declared = Column(name, "float", "p" if is_p else "", show="always" if is_p else "never")
                columns[declared] = values
            columns[Column(f"sign_{side}", show="never")] = [SIGN_WORDS[int(move)] for move in signs[side]]
        columns[REASON_HIDDEN] = reasons
        n_swaps = {side: int((moves == 1).sum()) for side, moves in signs.items()}
        was, moves = before.p_t <= ALPHA, []
        for whose, after in (("A's documents", sides["a"]), ("B's", sides["b"])):
            become, cease = (after.p_t <= ALPHA) & ~was, was & ~(after.p_t <= ALPHA)
            n_become, n_cease = np.count_nonzero(become), np.count_nonzero(cease)
            moves.append(f"with {whose} {n_become:,} become so and {n_cease:,} cease to be")
        counts, gains = self._notes()
        notes = [
            counts,
            f"Of {counted(len(reasons), 'pair')}, {n_swaps['a']:,} swap with A's documents,"
            f" {n_swaps['b']:,} with B's.",
            undefined_pairs(reasons),
            f"Significant at {ALPHA:g} as judged: {np.count_nonzero(was):,}; {', '.join(moves)}.",
            gains,
            "json and tsv have t2, the variances, and the shares by which both fall: Q and H of"
            " `paper difference`.",
        ]
        return self._nearest(Table.of_columns("pairs", columns, self._title, notes))

    def _nearest(self, table: Table) -> Table:
        """Keep as many pairs as are asked for, nearest to a swap or furthest past it first; say so.

        Pairs without a difference are last.
        """
        if self.settings["limit"] is None:
            return table
        after = zip(*map(table.cells, ("difference_a", "difference_b")), strict=True)
        least = [min((cell for cell in cells if isinstance(cell, float)), default=inf) for cells in after]
        rows = sorted(range(len(table)), key=least.__getitem__)[: self.settings["limit"]]
        shown = f"Shown: {len(rows):,} of {counted(len(table), 'pair')}"
        words = f"{shown}, those furthest past a swap, or nearest to one."
        return replace(table.take(rows), notes=[words, *table.notes])


def depth_in_words(depth: Depths) -> int | str:
    """Return a depth as it is told: a number, or ``7-10`` where runs and topics have several."""
    return depth if isinstance(depth, int) else f"{depth.min():,}-{depth.max():,}"


def ranks_below(depth: int | str, number: int = 1) -> str:
    """Name the first ranks below a pool.

    >>> ranks_below(7), ranks_below(7, 3), ranks_below("7-10")
    ('rank 8', 'ranks 8 to 10', 'rank N+1 (N 7-10)')
    """
    first, last = (f"{depth + more:,}" if isinstance(depth, int) else f"N+{more}" for more in (1, number))
    words = f"rank {first}" if number == 1 else f"ranks {first} to {last}"
    return words if isinstance(depth, int) else f"{words} (N {depth})"


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
        if changes[least] < changes[most]
        else f"MAP changes by {rough(changes[most])}{' in every run' * (defined.size > 1)}."
    ]
    n_pairs = defined.size * (defined.size - 1) // 2
    if not n_pairs:
        return lines
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


def _no_relevant(scores: NDArray[np.float64]) -> list[str | None]:
    return ["no-relevant" if np.isnan(score) else None for score in scores.flat]


def _drop(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by what shares numbers fall; NaN where one was 0 or is undefined."""
    is_known = ~np.isnan(after) & (np.abs(before) > TIED_MAP)
    left = np.full(before.shape, np.nan)
    np.divide(after, before, out=left, where=is_known)
    return 1 - left
