"""How far two MAPs have to be apart, and what AP is at least and by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.messages import progress as report_progress
from pooler.results.reasons import undefined_pairs
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Measurable, Source, source_of
from pooler.results.table import (
    DIFFERENCE,
    REASON_HIDDEN,
    RUN_A,
    RUN_B,
    TOPICS_HIDDEN,
    VARIANCE_HIDDEN,
    Column,
    Table,
    View,
    cells_where,
    hidden,
)
from pooler.results.undiscovered.base import depth_in_words, ranks_below
from store.analysis.measures.average_precision import average_precision, gains
from store.analysis.measures.chance import (
    expected_average_precision,
    least_average_precision,
    swap_effect,
    variance_of_average_precision,
)
from store.analysis.significance.pairs import check_pair
from store.analysis.significance.pairs import neighbours as next_to_each_other
from store.analysis.undiscovered.flips import Scenario
from store.analysis.undiscovered.pairs import (
    PairSensitivity,
    RequiredOfPairs,
    pair_sensitivity,
    required_of_pairs,
    round_up,
)
from store.analysis.undiscovered.pairs import required_difference as required
from store.analysis.undiscovered.sensitivity import discovery_effect_below, discovery_range
from store.errors import ArgumentError
from store.text import counted

VARIANCES = (0.01, 0.03, 0.05, 0.07, 0.09)
TOPICS = (30, 50, 100, 150)
DOCUMENTS = (10, 20, 30, 40, 50, 100, 300, 400, 500, 1000)
RELEVANT = (5, 10, 30, 50, 100, 500)
H_OF = "judging included"
"""Of which variance H is: of the scores as judged, which judging is a part of."""


def required_difference(
    source: Measurable | None = None,
    *,
    variation: float | Sequence[float] | None = 0.0,
    alpha: float = 0.05,
    power: float = 0.5,
    depth: int | None = None,
    scenario: Scenario = "shared",
    neighbours: bool = False,
    cutoff: int = 1000,
    variance: Sequence[float] = VARIANCES,
    topics: Sequence[int] = TOPICS,
    drops: Sequence[tuple[float, float]] = ((0.0, 0.0),),
    progress: Progress | None = None,
) -> RequiredDifference:
    """Compute the difference of two MAPs that a paired t test finds significant.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels), optional
        For every two runs, by their own scores; without, for the numbers given below.
    variation : float, sequence of float or None, optional
        K: share of the variance that is there because judges vary, to be left out, in [0, 1). With
        runs one number, or ``None`` = what each pair has by the collection's judges.
    alpha : float, optional
        Level of significance, two-sided, in (0, 1).
    power : float, optional
        Wanted probability of a significant result, in [0.5, 1); 0.5 = the smallest difference that
        is significant when it is what was observed.
    depth, scenario, cutoff : optional
        With runs, as for `sensitivity`: the lower run's unjudged documents at rank N+1 are found.
    neighbours : bool, optional
        With runs: those next to each other by MAP alone, in order.
    variance : sequence of float, optional
        Of the differences of two runs over topics.
    topics : sequence of int, optional
        Numbers of topics, from 2.
    drops : sequence of (float, float), optional
        Q, below 1: the share by which the difference falls once undiscovered documents are known;
        and H, by which the variance falls.

    Returns
    -------
    RequiredDifference
        Of runs a row a pair: what it has, what it needs, and whether that is enough.

    Raises
    ------
    ArgumentError
        If a number is out of its range.

    Notes
    -----
    Eq. 23 and 24 of Kishida (2001), tables 7 and 8.

    Examples
    --------
    >>> found = required_difference(variance=[0.05], topics=[50])
    >>> [round(cell, 4) for cell in found.table("required_difference").cells("difference")]
    [0.0635]
    """
    if not 0 < alpha < 1:
        raise ArgumentError("alpha", "must be above 0 and below 1", alpha)
    if not 0.5 <= power < 1:
        raise ArgumentError("power", "must be at least 0.5 and below 1", power)
    chosen: dict[str, Any] = {"variation": variation, "alpha": alpha, "power": power}
    if source is None:
        shares = [0.0] if variation is None else np.atleast_1d(variation).tolist()
        chosen |= {"variance": [*variance], "topics": [*topics], "drops": [list(one) for one in drops]}
        grids = [
            (
                share,
                q,
                h,
                required(
                    np.array(variance)[:, None],
                    np.array(topics),
                    variation_share=share,
                    difference_drop=q,
                    variance_drop=h,
                    alpha=alpha,
                    power=power,
                ),
            )
            for share, (q, h) in product(shares, drops)
        ]
        return RequiredDifference(grids=tuple(grids), settings=frozen_settings(**chosen))
    with collect_warnings(progress) as collected:
        found = source_of(source)
        share = None if variation is None else float(np.atleast_1d(variation)[0])
        judged, arrays = found.judged, found.arrays(cutoff)
        depths = judged.depths(depth, arrays)
        check_pair(arrays.tags)
        with report_progress("topics", len(arrays.topics)) as advance:
            moved = pair_sensitivity(arrays, depth=depths, scenario=scenario, progress=advance)
        by_judges = _shares_by_judges(found, cutoff, arrays.tags, moved) if share is None else share
        pairs = required_of_pairs(moved, variation_share=by_judges, alpha=alpha, power=power)
    chosen |= {
        "depth": depth_in_words(depths),
        "scenario": scenario,
        "neighbours": neighbours,
        "cutoff": cutoff,
    }
    return RequiredDifference(
        pairs=pairs,
        runs=arrays.tags,
        settings=frozen_settings(**chosen, **found.settings()),
        warnings=collected.warnings,
    )


def _shares_by_judges(
    source: Source, cutoff: int, tags: Sequence[str], moved: PairSensitivity
) -> NDArray[np.float64]:
    """Compute K of every pair from how the judges differ; 0 where nothing varies."""
    from pooler.results.variation.probabilities import load_probable, moments, say_empty
    from store.analysis.variation.collection import pair_components

    probable = load_probable(source, cutoff=cutoff, judged=source.judged).rankings
    varied = moments(probable)
    say_empty(probable.topics, varied)
    rows = np.array([probable.tags.index(tag) for tag in tags])
    pairs = rows[moved.first], rows[moved.second]
    return np.nan_to_num(pair_components(varied, pairs).components.share)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RequiredDifference(Result):
    """What difference is significant; table: `required_difference`, a row a pair, or a number asked."""

    pairs: RequiredOfPairs | None = None
    """Of every two runs."""
    runs: Sequence[str] = ()
    """Axis of runs."""
    grids: Sequence[tuple[float, float, float, NDArray[np.float64]]] = ()
    """K, Q, H, and differences of shape (variances, topics)."""

    NAMES: ClassVar[tuple[str, ...]] = ("required_difference",)

    @property
    def difference(self) -> NDArray[np.float64]:
        """The difference in MAP that is significant (eq. 23); NaN = undefined.

        Of pairs of runs shape (n_pairs,), in the order of `pairs`; of numbers shape
        (n_grids, n_variances, n_topics).
        """
        if self.pairs is not None:
            return self.pairs.needed
        return np.stack([values for *_, values in self.grids])

    def _table(self, name: str) -> Table:  # noqa: ARG002 - there is one
        return self._of_numbers() if self.pairs is None else self._of_runs(self.pairs)

    def _views(self, name: str) -> Sequence[View]:
        if self.pairs is not None:
            return [View(self._table(name))]
        alpha, power = self.settings["alpha"], self.settings["power"]
        title = f"Difference needed at {alpha:g}" + ("" if power == 0.5 else f", power {power:g}")
        down, across = self.settings["variance"], self.settings["topics"]
        views = []
        for share, q, h, values in self.grids:
            words = f"{title}; K={share:g}, Q={q:g}, H={h:g}"
            words += f", of the variance {'without' if share else 'with'} judging" if h else ""
            grid = grid_of(name, ("variance", "s2", down), ("topics", "L", across), round_up(values))
            views.append(View(grid, title=words))
        return views

    def _of_numbers(self) -> Table:
        rows = [
            (share, q, h, "judging removed" if share else "judging included", variance, n_topics, needed)
            for share, q, h, values in self.grids
            for variance, line in zip(self.settings["variance"], values.tolist(), strict=True)
            for n_topics, needed in zip(self.settings["topics"], line, strict=True)
        ]
        columns = [
            *(Column(name, "float") for name in "kqh"),
            Column("h_of"),
            Column("variance", "float"),
            Column("topics", "int"),
            Column("difference", "float"),
        ]
        cells = dict(zip(columns, zip(*rows, strict=True), strict=True))
        return Table.of_columns("required_difference", cells)

    def _of_runs(self, found: RequiredOfPairs) -> Table:
        variation, power, depth = (self.settings[name] for name in ("variation", "power", "depth"))
        with_power = "" if power == 0.5 else f" with a probability of {power:g}"
        share = f", with the share K = {variation:g} of the variance left out" if variation else ""
        if variation is None:
            share = ", with the share K of the variance, which comes from judging, left out"
        of_h = "; below 0 it rises"
        of_h += "; where K is not 0, H is of the variance without judging, which may differ" if share else ""
        places = np.arange(found.first.size)
        if self.settings["neighbours"]:
            places = np.array(next_to_each_other(found.first, found.second), dtype=np.int64)
        reasons = [found.reasons[place] for place in places]
        turns = np.array([reason == "order-turns" for reason in reasons], np.bool_)
        difference, needed = found.before.difference[places], found.needed[places]
        if_found = found.needed_if_found[places]
        is_known = ~np.isnan(difference)
        enough = cells_where(is_known & ~np.isnan(needed), difference >= needed)
        never = turns | np.array([reason == "above-one" for reason in reasons], np.bool_)
        reached = cells_where(never | (is_known & ~np.isnan(if_found)), ~never & (difference >= if_found))
        about_needed = (
            "the difference in MAP that a paired t test finds significant at"
            f" {self.settings['alpha']:g}{with_power} (eq. 23){share}"
        )
        about_h = f"share by which the variance, judging included, falls then{of_h}"
        columns = {
            RUN_A: [self.runs[run] for run in found.first[places]],
            RUN_B: [self.runs[run] for run in found.second[places]],
            TOPICS_HIDDEN: found.before.n_topics[places],
            DIFFERENCE: difference,
            VARIANCE_HIDDEN: found.before.variance[places],
            Column(
                "k",
                "float",
                "K",
                "share of the variance that comes from judging",
                digits=2,
                show="always" if variation is None else "never",
            ): found.variation_share[places],
            Column("needed", "float", about=about_needed): needed,
            Column("enough", "bool", about="A - B reaches it"): enough,
            Column(
                "q", "float", "Q", "share by which the difference falls then; below 0 it rises", digits=2
            ): np.where(turns, np.nan, found.difference_drop[places]),
            Column("h", "float", "H", about_h, digits=2): found.variance_drop[places],
            Column(
                "needed_if_found",
                "float",
                "if found",
                f"the same if B's unjudged documents at {ranks_below(depth)} were relevant (eq. 24)",
            ): if_found,
            Column("enough_if_found", "bool", "reached", "A - B reaches that, too"): reached,
            hidden("h_of", "text"): [H_OF] * len(places),
            hidden("turns", "bool"): turns,
            REASON_HIDDEN: reasons,
        }
        n_pairs = counted(len(places), "pair") + (" of neighbours" if self.settings["neighbours"] else "")
        notes = [
            f"Enough as judged: {enough.count(True):,} of {n_pairs}; even with B's documents relevant:"
            f" {reached.count(True):,}.",
            undefined_pairs(reasons),
        ]
        return Table.of_columns("required_difference", columns, notes=notes)


Axis = tuple[str, str, Sequence[float]]
"""Of a grid: for programs, for people, and its values."""


def grid_of(name: str, down: Axis, across: Axis, values: NDArray[np.float64], *, digits: int = 4) -> Table:
    """Lay values out by two things: one runs down, the other across."""
    # The heading of a row is text, so that people see 0.05 and not 0.0500.
    columns = [Column(down[0], heading=down[1])]
    columns += [Column(f"{place:g}", "float", f"{across[1]}={place:g}", digits=digits) for place in across[2]]
    data: dict[str, Any] = {down[0]: [f"{place:g}" for place in down[2]]}
    data |= {f"{place:g}": values[:, number] for number, place in enumerate(across[2])}
    return Table(name, columns, data)


def ap_properties(
    documents: Sequence[int] = DOCUMENTS,
    relevant: Sequence[int] = RELEVANT,
    *,
    size: int | None = None,
    rank: int | None = None,
    ap: Sequence[float] = (0.1, 0.3, 0.5),
    as_printed: bool = False,
) -> ApProperties:
    """Compute what AP is at least, and on average in random order.

    Parameters
    ----------
    documents : sequence of int, optional
        N: ranks of the list.
    relevant : sequence of int, optional
        R: relevant documents.
    size : int, optional
        The list holds N of so many documents, and not all relevant ones need be among them.
    rank : int, optional
        Instead, by how much AP changes when the document at this rank turns relevant.
    ap : sequence of float, optional
        With `rank`: AP before, in [0, 1].
    as_printed : bool, optional
        With `rank`: eq. 20 also where it cannot occur, as table 3 of the paper has it.

    Returns
    -------
    ApProperties
        Values by N and R, or by R and AP; NaN where it cannot occur.

    Raises
    ------
    ArgumentError
        If the size is below an N.

    Notes
    -----
    Eq. 4, 5, 19 and 20 of Kishida (2001), tables 1 to 3.

    Examples
    --------
    >>> [round(cell, 4) for cell in ap_properties([10], [5]).table("least").cells("value")]
    [0.3544]
    """
    if rank is not None:
        grids = _changes(rank, relevant, ap)
        cannot = None
        if as_printed:
            printed = np.array([[discovery_effect_below(r, one, rank) for one in ap] for r in relevant])
            cannot, grids["change"] = np.isnan(grids["change"]), printed
        settings = frozen_settings(relevant=[*relevant], rank=rank, ap=[*ap], as_printed=as_printed)
        return ApProperties(
            down=("relevant", "R", relevant),
            across=("ap", "AP", ap),
            grids=grids,
            cannot=cannot,
            settings=settings,
        )
    if size is not None and size < max(documents):
        raise ArgumentError("size", "must be at least every N", size)
    arguments = np.array(documents)[:, None], np.array(relevant), size
    grids = {
        "least": least_average_precision(*arguments),
        "mean": expected_average_precision(*arguments),
        "standard_deviation": np.sqrt(variance_of_average_precision(*arguments)),
    }
    settings = frozen_settings(documents=[*documents], relevant=[*relevant], size=size)
    return ApProperties(
        down=("documents", "N", documents), across=("relevant", "R", relevant), grids=grids, settings=settings
    )


def _changes(rank: int, relevant: Sequence[int], ap: Sequence[float]) -> dict[str, NDArray[np.float64]]:
    change = np.full((len(relevant), len(ap)), np.nan)
    limits = np.full((2, len(relevant), len(ap)), np.nan)
    for line, count in enumerate(relevant):
        # With all R above the rank, AP is at least that of the worst order.
        least = float(least_average_precision(rank - 1, count)) if count < rank else 2.0
        for place, before in enumerate(ap):
            if before >= least - 1e-12:
                change[line, place] = discovery_effect_below(count, before, rank)
            found = discovery_range(count, before, rank)
            if found is not None:
                limits[:, line, place] = found
    return {"change": change, "least": limits[0], "greatest": limits[1]}


def swap_of_ranks(ranks: Sequence[int], first: int, second: int, n_relevant: int | None = None) -> Swap:
    """Compute what AP becomes when the documents at two ranks change places, one of them relevant.

    Parameters
    ----------
    ranks : sequence of int
        Ranks of the relevant documents in the list, from 1.
    first, second : int
        The two ranks, one of which is among `ranks`.
    n_relevant : int, optional
        R; default as many as the list holds.

    Returns
    -------
    Swap
        AP before and after, and the paper's two uses of eq. 6 on the ranking before.

    Raises
    ------
    ArgumentError
        If both documents are relevant or neither is, or R is below the number of `ranks`.

    Notes
    -----
    Eq. 6 of Kishida (2001). Its second use has to be on the ranking after the first: with both on the
    ranking before, as the paper writes, 11000 to 10100 would change nothing.

    Examples
    --------
    >>> found = swap_of_ranks([1, 2], 2, 3)
    >>> round(found.before, 4), round(found.after, 4), round(found.both_on_before, 4)
    (1.0, 0.8333, 0.0)
    """
    wanted = sorted(set(ranks))
    if (first in wanted) == (second in wanted):
        raise ArgumentError("swap", "must name one relevant rank and one other", [first, second])
    source, target = (first, second) if first in wanted else (second, first)
    relevant = np.isin(np.arange(1, max(*wanted, source, target) + 1), wanted)
    count = relevant.sum() if n_relevant is None else n_relevant
    before = float(average_precision(relevant, np.array(count)))
    change = float(swap_effect(relevant, count, source, target))
    gain = gains(relevant)
    naive = float(gain[target - 1] - gain[source - 1]) / int(count)
    settings = frozen_settings(ranks=wanted, swap=[first, second], n_relevant=int(count))
    return Swap(before=before, after=before + change, both_on_before=naive, settings=settings)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Swap(Result):
    """AP before and after two documents change places; table: `swap`."""

    before: float
    after: float
    both_on_before: float
    """Change by eq. 6 with both uses on the ranking before, as the paper writes it."""

    NAMES: ClassVar[tuple[str, ...]] = ("swap",)

    def _swap(self) -> Table:
        first, second = self.settings["swap"]
        columns: dict[Column, Any] = {
            Column("first", "int", "rank"): [first],
            Column("second", "int", "and rank"): [second],
            Column("before", "float", "AP"): [self.before],
            Column("after", "float"): [self.after],
            Column("change", "float", about="by eq. 6, its second use on the ranking after the first"): [
                self.after - self.before
            ],
            Column("as_printed", "float", "as printed", "both uses on the ranking before, as in the paper"): [
                self.both_on_before
            ],
        }
        return Table.of_columns("swap", columns)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ApProperties(Result):
    """Values of AP, or changes of it, by two numbers.

    Tables: `least`, `mean`, `standard_deviation` by N and R; with a rank `change`, `least`,
    `greatest` by R and AP.
    """

    down: Axis
    across: Axis
    grids: Mapping[str, NDArray[np.float64]]
    cannot: NDArray[np.bool_] | None = None
    """As `change`: its cells that cannot occur, where it has them as printed."""

    SHOWN = None

    def names(self) -> tuple[str, ...]:
        """Return the names of the tables."""
        return tuple(self.grids)

    def _table(self, name: str) -> Table:
        reason = "more-relevant-than-documents" if self.down[0] == "documents" else "cannot-occur"
        values = self.grids[name]
        empty = self.cannot if name == "change" and self.cannot is not None else np.isnan(values)
        down, across = self.down[2], self.across[2]
        columns = {
            Column(self.down[0], "float"): [place for place in down for _ in across],
            Column(self.across[0], "float"): [*across] * len(down),
            Column("value", "float"): values.ravel(),
            Column("reason"): [reason if is_empty else None for is_empty in empty.flat],
        }
        return Table.of_columns(name, columns)

    def _views(self, name: str) -> Sequence[View]:
        values, rank, size = self.grids[name], self.settings.get("rank"), self.settings.get("size")
        notes = []
        if rank is None:
            title = {
                "least": "Least AP: all relevant documents last (eq. 4)",
                "mean": "Mean AP in random order (eq. 5)",
                "standard_deviation": "Standard deviation of AP in random order",
            }[name]
            digits = 3 if size is None else 6
            notes = [] if size is None else [f"N of {size:,} documents, R of which are relevant"]
        else:
            digits = 5
            above = f"that can occur, with no relevant document below rank {rank} (eq. 19)"
            title = f"{name.title()} change {above}"
            if name == "change":
                title = f"Change of AP when the document at rank {rank} turns relevant (eq. 20)"
                if np.isnan(values).any():
                    notes = [
                        "-: cannot occur, since all R documents above that rank already give a higher AP"
                    ]
            elif name == "greatest":
                notes = [
                    "least, greatest: as if AP could take any value between those of the worst and the"
                    " best order"
                ]
        table = grid_of(name, self.down, self.across, values, digits=digits)
        if name == "change" and self.cannot is not None:
            table = self._marked(table)
            notes = ["*: cannot occur, since all R documents above that rank already give a higher AP"]
        return [View(table, title=title, notes=notes)]

    def _marked(self, table: Table) -> Table:
        assert self.cannot is not None
        columns, data = [table.columns[0]], {table.columns[0].name: table.cells(table.columns[0].name)}
        for column, cannot in zip(table.columns[1:], self.cannot.T.tolist(), strict=True):
            columns.append(Column(column.name, heading=column.heading))
            data[column.name] = [
                f"{value:8.5f}{'*' if is_so else ''}"
                for value, is_so in zip(table.cells(column.name), cannot, strict=True)
            ]
        return Table(table.name, columns, data)
