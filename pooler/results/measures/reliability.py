"""How far scores, and the order of the runs, would be the same with other topics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.results.measures.pilot import TOPICS, load_pilot
from pooler.results.reasons import REASONS
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Measurable, source_of
from pooler.results.table import REASON, Column, Plot, Table, View, hidden
from store.analysis.run_order import TIED_MAP, kendall_tau_b
from store.analysis.significance.generalizability import (
    LEAST,
    ScoreComponents,
    order_on_new_topics,
    score_components,
)
from store.analysis.significance.tukey import RandomisedTukeyTest, randomised_tukey_test
from store.analysis.variation.order import expected_tau, expected_tau_ap
from store.errors import ArgumentError
from store.text import counted, percent

TARGETS = (0.9, 0.95)
SPLITS = 200
"""Halvings of the topics."""
LEVELS = ("E rho2", "Phi")
"""Of the order of the runs, and of their scores."""


def reliability(
    source: Measurable,
    *,
    topics: Sequence[int] | None = None,
    target: Sequence[float] = TARGETS,
    alpha: float = 0.05,
    measure: str = "AP",
    seed: int = 1,
    cutoff: int | None = None,
    progress: Progress | None = None,
) -> ReliabilityResult:
    """Estimate how far the order of runs, and their scores, would be the same with other topics.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is measured; only topics where every run has a score.
    topics : sequence of int, optional
        Numbers of topics, from 2; default those at hand and 30, 50, 100, 150.
    target : sequence of float, optional
        Reliabilities that are to be reached, in (0, 1).
    alpha : float, optional
        Level of significance, in (0, 1); intervals cover 1 - it.
    measure : str, optional
        As for `evaluate`.
    seed : int, optional
        Of permutations, and of halves of the topics.
    cutoff : int, optional
        As for `evaluate`.

    Returns
    -------
    ReliabilityResult
        Components of the variance, coefficients, topics needed, orders to expect, and pairs with their p.

    Raises
    ------
    ArgumentError
        If a number is out of its range.
    PoolerError
        If there are fewer than two runs, or topics with a score in every run.
    UnknownNameError
        If the measure is not known.

    Notes
    -----
    Generalizability of runs x topics: Brennan (2001); Urbano, Marrero and Martín (2013). Discriminative power
    by the randomised Tukey test: Sakai (2006), Carterette (2012).

    Examples
    --------
    >>> grades = {str(topic): {"x": 1, "y": topic % 2} for topic in range(4)}
    >>> runs = {
    ...     tag: {str(topic): {doc: -place for place, doc in enumerate(docs)} for topic in range(4)}
    ...     for tag, docs in {"a": "xyz", "b": "zxy", "c": "yzx"}.items()
    ... }
    >>> found = reliability((runs, grades))
    >>> found.table("components").cells("component")
    ['runs', 'topics', 'residual']
    """
    for name, numbers in (("target", target), ("alpha", (alpha,))):
        for number in numbers:
            if not 0 < number < 1:
                raise ArgumentError(name, "must be above 0 and below 1", number)
    for number in topics or ():
        if number < 2:
            raise ArgumentError("topics", "must be integers >= 2", number)
    with collect_warnings(progress) as collected:
        found = source_of(source)
        pilot = load_pilot(found, measure, cutoff)
        tested = randomised_tukey_test(pilot.scores, seed=seed)
    n_topics = pilot.scores.shape[1]
    return ReliabilityResult(
        runs=pilot.runs,
        scores=pilot.scores,
        found=score_components(pilot.scores),
        tested=tested,
        settings=frozen_settings(
            topics=[*(topics or sorted({n_topics, *TOPICS}))],
            target=[*target],
            alpha=alpha,
            measure=str(pilot.measure),
            seed=seed,
            cutoff=cutoff,
            **found.settings(),
        ),
        warnings=collected.warnings,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ReliabilityResult(Result):
    """How reliable scores are over topics.

    Tables: `components` of the variance; `reliability`, a row a number of topics; `needed`, a row a target;
    `orders` to expect with new topics; `discriminative`, one row; `pairs`, by p.
    """

    runs: Sequence[str]
    """Axis of runs."""
    scores: NDArray[np.float64]
    """Shape (n_runs, n_topics)."""
    found: ScoreComponents
    tested: RandomisedTukeyTest

    NAMES: ClassVar[tuple[str, ...]] = (
        "components",
        "reliability",
        "needed",
        "orders",
        "discriminative",
        "pairs",
    )
    SHOWN = -1

    @property
    def _n_topics(self) -> int:
        return int(self.scores.shape[1])

    def _components(self) -> Table:
        """Make a row for runs, topics and the rest."""
        alpha = self.settings["alpha"]
        parts = self.found.intervals(alpha)
        whole = sum(one.value for one in parts)
        columns = {
            Column("component"): ["runs", "topics", "residual"],
            Column("variance", "float", digits=5): [one.value for one in parts],
            Column("low", "float", f"{1 - alpha:.0%}", digits=5): [one.low for one in parts],
            Column("high", "float", "to", digits=5): [one.high for one in parts],
            Column("share", "float", digits=2, about="of the variance of one score"): [
                one.value / whole for one in parts
            ],
            hidden("mean_square"): self.found.mean_squares,
            hidden("df", "int"): self.found.freedom,
            REASON: [self.found.reason] * 3,
        }
        notes = [
            f"{self.settings['measure']} of {counted(len(self.runs), 'run')} in {self._n_topics:,} topics.",
            "The intervals take scores as normal: where they are skewed, or runs come in families, those of"
            " topics and residual are too narrow.",
        ]
        negative = [name for name, one in zip(("runs", "topics"), parts, strict=False) if one.value == 0]
        if negative:
            notes.append(f"Estimated below 0, and so taken as 0: {', '.join(negative)}.")
        return Table.of_columns(
            "components", columns, title="Where the variance of scores comes from", notes=notes
        )

    def _reliability(self) -> Table:
        """Make a row for every number of topics, of both coefficients."""
        alpha, numbers = self.settings["alpha"], self.settings["topics"]
        columns: dict[Column, Any] = {Column("topics", "int"): numbers}
        about = {
            "order": "how far so many topics fix the order of the runs, from 0 to 1",
            "level": "how far they fix their scores",
        }
        for name, heading, one in zip(
            about, LEVELS, (self.found.order(alpha), self.found.level(alpha)), strict=True
        ):
            value, low, high = one.at(numbers)
            columns[Column(name, "float", heading, about[name], digits=3)] = value
            columns[Column(f"{name}_low", "float", f"{1 - alpha:.0%}", digits=3)] = low
            columns[Column(f"{name}_high", "float", "to", digits=3)] = high
        columns[REASON] = [self.found.reason] * len(numbers)
        return Table.of_columns("reliability", columns, title="Reliability with so many topics")

    def _needed(self) -> Table:
        """Make a row for every target and coefficient."""
        alpha, rows = self.settings["alpha"], []
        for name, one in zip(LEVELS, (self.found.order(alpha), self.found.level(alpha)), strict=True):
            for target in self.settings["target"]:
                row: dict[str, Any] = {"coefficient": name, "target": target, "reason": self.found.reason}
                if self.found.reason is None:
                    value, least, most = one.needed(target)
                    row |= {"topics": value, "low": least, "high": most}
                    row["reason"] = "runs-not-apart" if value is None else None
                rows.append(row)
        columns = [
            Column("coefficient"),
            Column("target", "float", digits=2),
            Column("topics", "int"),
            Column("low", "int", f"{1 - alpha:.0%}"),
            Column("high", "int", "to"),
            REASON,
        ]
        notes = self._verdict()
        if any(row.get("topics") and row.get("high") is None for row in rows):
            notes.append("-: no number of topics is known to be enough.")
        return Table.of_rows("needed", columns, rows, title="Topics needed", notes=notes)

    def _verdict(self) -> list[str]:
        """Say what follows for the order of the runs."""
        if self.found.reason is not None:
            return []
        value, low, high = (float(one) for one in self.found.order(self.settings["alpha"]).at(self._n_topics))
        needed, _, most = self.found.order(self.settings["alpha"]).needed(max(self.settings["target"]))
        target = max(self.settings["target"])
        words = f"With these {self._n_topics:,} topics {LEVELS[0]} is {value:.3f} ({low:.3f} to {high:.3f})"
        if needed is None:
            return [f"{words}: nothing shows that these runs differ at all."]
        upper = f"{most:,} to be safe" if most is not None else "no number is safe"
        verb = "has reached" if value >= target else "is short of"
        return [
            f"{words}, which {verb} {target:g}: that takes {counted(needed, 'topic')}, {upper}.",
            "Only runs as different from each other as these: among runs that are more alike, more topics are"
            f" needed. The runs count as a sample of systems, and there are {len(self.runs):,}.",
        ]

    def _orders(self) -> Table:
        """Make a row for every number of new topics, and one of the halves of these."""
        means, numbers = self.scores.mean(axis=1), self.settings["topics"]
        rows: list[dict[str, Any]] = []
        every = order_on_new_topics(self.scores, [*numbers, math.inf], self.found)
        for n, above in zip([*numbers, None], every, strict=True):
            why = self.found.reason
            row = {"topics": n, "tau": expected_tau(above, means), "tau_ap": expected_tau_ap(above, means)}
            rows.append(row | {"order": "new topics" if n else "infinitely many", "reason": why})
        columns = [
            Column("order", heading="against"),
            Column("topics", "int"),
            Column("tau", "float", about="Kendall's tau to expect with the order of the runs here", digits=3),
            Column("tau_ap", "float", "tau_AP", "the same, first places counting most", digits=3),
            REASON,
        ]
        return Table.of_rows(
            "orders", columns, rows, title="The order to expect with new topics", notes=self._halves()
        )

    def _halves(self) -> list[str]:
        """Say what halves of the topics show of each other beside what is expected of them."""
        n = self._n_topics // 2
        bits, expected, taus = np.random.PCG64(self.settings["seed"]), [], []
        for _ in range(SPLITS if n >= LEAST and self.found.reason is None else 0):
            order = np.argsort(bits.random_raw(self._n_topics))
            first, second = (self.scores[:, part] for part in (order[:n], order[n : 2 * n]))
            found = score_components(first)
            tau = kendall_tau_b(first.mean(axis=1), second.mean(axis=1), tolerance=TIED_MAP).tau
            if tau is not None and found.reason is None:
                expected.append(expected_tau(order_on_new_topics(first, n, found), first.mean(axis=1)))
                taus.append(tau)
        if not taus:
            return []
        return [
            f"As a check, random halves of {n:,} topics: tau between two is {np.mean(taus):.3f} on average,"
            f" and one half predicts {np.mean(expected):.3f}; if that is much more, the table is too hopeful."
        ]

    def _discriminative(self) -> Table:
        """Make one row on how many pairs differ."""
        alpha, tested = self.settings["alpha"], self.tested
        least = tested.least_significant(alpha)
        n_pairs = len(self.runs) * (len(self.runs) - 1) // 2
        power = tested.share_significant(alpha)
        n_significant = None if math.isnan(power) else round(power * n_pairs)
        columns = {
            Column("pairs", "int"): [n_pairs],
            Column("significant", "int"): [n_significant],
            Column("power", "float", "share", f"of pairs with p <= {alpha:g}: the discriminative power", 3): [
                power
            ],
            Column("least", "float", "difference", f"above which every pair has p <= {alpha:g}", digits=4): [
                least
            ],
            hidden("permutations", "int"): [tested.permutations],
            REASON: [tested.reason or ("no-least-difference" if math.isnan(least) else None)],
        }
        exact = "all" if tested.is_exact else f"{tested.permutations:,} random"
        notes = [
            f"p by Tukey's randomised test, which allows for all pairs: {exact} permutations of the runs in"
            f" each topic{'' if tested.is_exact else f' (--seed {tested.seed})'}."
        ]
        return Table.of_columns("discriminative", columns, title="Pairs of runs told apart", notes=notes)

    def _pairs(self) -> Table:
        """List every two runs, the smallest p first: the curve of achieved significance."""
        first, second = np.triu_indices(len(self.runs), 1)
        differences, p = self.tested.differences[first, second], self.tested.p[first, second]
        behind = differences < 0
        first, second = np.where(behind, second, first), np.where(behind, first, second)
        order = np.argsort(-np.abs(differences), kind="stable")  # p falls with the difference
        columns = {
            Column("place", "int"): np.arange(1, order.size + 1),
            Column("a", heading="A", about="the run ahead"): [self.runs[run] for run in first[order]],
            Column("b", heading="B"): [self.runs[run] for run in second[order]],
            Column("difference", "float", "A - B"): np.abs(differences)[order],
            Column("p", "float"): p[order],
            REASON: [self.tested.reason] * order.size,
        }
        return Table.of_columns("pairs", columns)

    def _views(self, name: str) -> Sequence[View]:
        return [View(self._table(name), limit=20 if name == "pairs" else None, of_rows="pair")]

    def plots(self) -> tuple[Plot, ...]:
        """Return the reliability of the order by topics, and the p of every pair, ascending."""
        if self.found.reason is not None:
            return ()
        return (
            Plot(
                table=self._reliability(),
                kind="dots",
                label="topics",
                value="order",
                low="order_low",
                high="order_high",
                axis=LEVELS[0],
                ends=(0, 1),
                title="How far so many topics fix the order of the runs",
                words=(LEVELS[0], f"{1 - self.settings['alpha']:.0%} interval"),
            ),
            Plot(
                table=self._pairs(),
                kind="lines",
                label="place",
                parts=("p",),
                axis="p",
                ends=(0, 1),
                title="Achieved significance: p of every pair of runs, ascending",
            ),
        )


def in_short(found: ReliabilityResult) -> str:
    """Say in a sentence how reliable the order of the runs is."""
    if found.found.reason is not None:
        return (
            f"How reliable the order of the runs is over topics is not known: {REASONS[found.found.reason]}."
        )
    [record] = found.table("discriminative").to_records()
    orders = found.table("orders").to_records()[0]
    n_pairs: Any = record["pairs"]
    apart = percent(record["significant"], n_pairs)  # type: ignore[arg-type]  # numbers, as there is no reason
    return (
        f"{found._verdict()[0]} With as many new topics, the tau to expect is {orders['tau']:.2f}; {apart} of"
        f" {counted(n_pairs, 'pair')} of runs differ significantly when all are compared at once."
    )
