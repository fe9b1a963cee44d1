"""What `pooler replay` shows: tables for people, rows for programs, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pooler.cli.console import Cell, Column, Table
from pooler.cli.plot import Curve, plot_lines
from store.sanitise import sanitise_line

if TYPE_CHECKING:
    from pooler.judged_topics import JudgedTopic
    from pooler.replay import OrderPoint, Point, TopicReplay, Unjudged
    from store.analysis.judged_rankings import JudgedRankings

FOUND_TITLE = "Relevant documents found, by judgements a topic"
DIGITS = 3
"""Decimals of shares and correlations for people: with four, budgets do not fit beside them."""


class Result:
    """All strategies on all topics.

    Parameters
    ----------
    arrays : JudgedRankings
        The runs that are put in order, and all judgements.
    topics : sequence of JudgedTopic
        The topics of `arrays`.
    followed : mapping of str to sequence of TopicReplay
        By the strategy as it was asked for, one a topic.
    budgets : sequence of (int or None), optional
        Judgements a topic; ``None`` in it is the last document. Default: a series.
    unjudged : {"pass", "nonrelevant"}
        What unjudged documents did.
    depth : int
        Ranks taken from each run.
    """

    def __init__(
        self,
        arrays: JudgedRankings,
        topics: Sequence[JudgedTopic],
        followed: Mapping[str, Sequence[TopicReplay]],
        budgets: Sequence[int | None] | None,
        *,
        unjudged: Unjudged,
        depth: int,
    ) -> None:
        from pooler.replay import default_budgets

        self.arrays = arrays
        self.topics = topics
        self.followed = followed
        self.unjudged = unjudged
        self.depth = depth
        costs = [one.n_judgements for replays in followed.values() for one in replays]
        self.n_most = max(costs, default=0)
        """Judgements the longest topic takes."""
        if budgets is None:
            self.budgets = default_budgets(self.n_most)
        else:
            self.budgets = sorted({one or self.n_most for one in budgets})
        self.n_union = sum(len(topic.outcomes) for topic in topics)
        self.n_unjudged = sum(int((topic.outcomes < 0).sum()) for topic in topics)
        self.in_union = sum(len(topic.relevant) for topic in topics)
        """Relevant documents of the union of the runs, at the depth."""
        self.in_qrels = int(arrays.n_relevant.sum())

    @cached_property
    def points(self) -> dict[str, list[Point]]:
        """By strategy, one a budget."""
        from pooler.replay import points

        return {label: points(replays, self.budgets) for label, replays in self.followed.items()}

    @cached_property
    def orders(self) -> dict[str, list[OrderPoint]]:
        """By strategy, one a budget."""
        from pooler.replay import order_points
        from store.analysis.relevant_ranks import relevant_ranks

        ranks = relevant_ranks(self.arrays)
        return {
            label: order_points(ranks, self.topics, replays, self.budgets)
            for label, replays in self.followed.items()
        }

    def headings(self) -> list[str]:
        """Word the budgets for people."""
        return ["all" if one == self.n_most else f"{one:,}" for one in self.budgets]


def rows(result: Result) -> Table:
    """Make one row a budget and strategy."""
    names = ("strategy", "budget", "judgements", "passed_over", "relevant", "of_union", "of_qrels",
             "precision", "tau_b", "tau_ap", "reason")  # fmt: skip
    table = Table("replay", [Column(name) for name in names])
    for place in range(len(result.budgets)):
        for label in result.followed:
            point, order = result.points[label][place], result.orders[label][place]
            table.rows.append(
                _counts(label, point, result.in_union, result.in_qrels)
                | {
                    "tau_b": order.tau_b.tau,
                    "tau_ap": order.tau_ap.tau,
                    "reason": order.tau_b.reason or order.tau_ap.reason,
                }
            )
    return table


def topic_rows(result: Result) -> Table:
    """Make one row a topic, budget and strategy."""
    from pooler.replay import points

    names = ("topic", "strategy", "budget", "judgements", "passed_over", "relevant", "of_union",
             "of_qrels", "precision", "reason")  # fmt: skip
    table = Table("replay", [Column(name) for name in names])
    for place, (name, topic) in enumerate(zip(result.arrays.topics, result.topics, strict=True)):
        in_qrels, in_union = int(result.arrays.n_relevant[place]), len(topic.relevant)
        reason = None if in_union else "none-in-union" if in_qrels else "no-relevant"
        at = {
            label: points([replays[place]], result.budgets)
            for label, replays in result.followed.items()
        }
        for index in range(len(result.budgets)):
            for label in result.followed:
                counts = _counts(label, at[label][index], in_union, in_qrels)
                no_judgement = None if counts["judgements"] else "no-judgements"
                table.rows.append({"topic": name, **counts, "reason": no_judgement or reason})
    return table


def _counts(label: str, point: Point, in_union: int, in_qrels: int) -> dict[str, Cell]:
    """Return what a strategy found, and the shares that are defined."""
    found, spent = point.n_relevant, point.n_judgements
    return {
        "strategy": label,
        "budget": point.budget,
        "judgements": spent,
        "passed_over": point.n_passed_over,
        "relevant": found,
        "of_union": found / in_union if in_union else None,
        "of_qrels": found / in_qrels if in_qrels else None,
        "precision": found / spent if spent else None,
    }


def tables(result: Result) -> list[Table]:
    """Make the tables for people: a row a strategy, a column a budget."""
    found = _grid("found", result, {
        label: [point.n_relevant for point in at] for label, at in result.points.items()
    })  # fmt: skip
    found.title = FOUND_TITLE
    spent = [point.n_judgements for point in next(iter(result.points.values()))]
    found.rows.insert(0, _grid_row("(judgements)", spent))
    found.caption = _found_caption(result)
    share = _grid("share", result, {
        label: [point.n_relevant / result.in_union if result.in_union else None for point in at]
        for label, at in result.points.items()
    })  # fmt: skip
    share.title = "Share of the relevant documents of the union"
    tau_b = _grid("tau_b", result, {
        label: [order.tau_b.tau for order in at] for label, at in result.orders.items()
    })  # fmt: skip
    tau_b.title = "Kendall's tau-b of the order of the runs by MAP with that of all judgements"
    tau_ap = _grid("tau_ap", result, {
        label: [order.tau_ap.tau for order in at] for label, at in result.orders.items()
    })  # fmt: skip
    tau_ap.title = "tau-AP of the same: the first places of the runs weigh most"
    reasons = {order.tau_b.reason for at in result.orders.values() for order in at} - {None}
    if reasons:
        tau_b.caption = tau_ap.caption = f"-: {', '.join(sorted(filter(None, reasons)))}"
    return [found, share, tau_b, tau_ap]


def tables_by_topic(result: Result) -> Table:
    """Make the table for people: a row a topic and strategy, a column a budget."""
    columns = [Column("topic"), Column("strategy"), *_budget_columns(result)]
    table = Table("found", columns, title=FOUND_TITLE)
    for place, topic in enumerate(result.arrays.topics):
        for label, replays in result.followed.items():
            found = [replays[place].n_found(budget) for budget in result.budgets]
            table.rows.append({"topic": topic, **_grid_row(label, found)})
    table.caption = _found_caption(result)
    return table


def curves(result: Result) -> list[str]:
    """Draw the relevant documents found, over the judgements a topic."""
    from pooler.replay import found_by_budget

    most = min(result.budgets[-1], result.n_most)
    drawn = [
        Curve(sanitise_line(label), found_by_budget(replays, most).tolist())
        for label, replays in result.followed.items()
    ]
    return plot_lines(drawn, title="Relevant documents found", x_label="judgements a topic")


def _found_caption(result: Result) -> str:
    """Say what there is to be found, and what became of documents without a judgement."""
    lines = [
        f"{result.in_union:,} relevant documents are in the union of the runs,"
        f" {result.in_qrels:,} in the judgements."
    ]
    if result.n_unjudged:
        fate = (
            "passed over, at no cost"
            if result.unjudged == "pass"
            else "each a judgement that says not relevant"
        )
        lines.append(
            f"{result.n_unjudged:,} of the {result.n_union:,} documents of the union have no"
            f" judgement: {fate}."
        )
    if result.n_most in result.budgets:
        lines.append(f"all: to the last document, at most {result.n_most:,} judgements a topic.")
    return "\n".join(lines)


def _budget_columns(result: Result) -> list[Column]:
    """Make a column a budget."""
    return [Column(str(place), heading, DIGITS) for place, heading in enumerate(result.headings())]


def _grid(name: str, result: Result, cells: Mapping[str, Sequence[Cell]]) -> Table:
    """Make a table of a row a strategy and a column a budget."""
    table = Table(name, [Column("strategy"), *_budget_columns(result)])
    table.rows.extend(_grid_row(label, row) for label, row in cells.items())
    return table


def _grid_row(label: str, cells: Sequence[Cell]) -> dict[str, Cell]:
    """Make a row of a strategy."""
    return {"strategy": label} | {str(place): cell for place, cell in enumerate(cells)}
