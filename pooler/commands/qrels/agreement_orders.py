"""Whether disagreement changes the order of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from pooler.command import Cutoff, Given, Level, Option, Seed, command
from pooler.commands.qrels.agreement import population_line
from pooler.commands.qrels.agreement_rows import fetch_chosen, resolve_levels
from pooler.messages import say, warn
from pooler.reasons import REASONS
from pooler.result import Result, frozen_settings
from pooler.sources.source import Source
from pooler.sources.stored import CollectionQrels
from pooler.tables import REASON, RUN, Column, Table, View, listed
from store.analysis.agreement.order_stability import JudgeOrder, judge_average_precisions, judge_order
from store.analysis.agreement.votes import Cells, level_index, population_votes
from store.errors import ArgumentError, UnknownNameError
from store.text import counted, natural_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from store.analysis.agreement.votes import PopulationVotes
    from store.collection import Collection

SHOWN = 10
"""Pairs of runs, and of judges when there are too many, that people are shown."""
MOST_JUDGES = 4
"""Judges with a column of their own."""
MIXED_COLUMNS = ("map_mean", "map_low", "map_high")


@command
def agreement_orders(
    source: Annotated[Source, Given("pooler.cli.options:RankingJudgesOptions", "source")],
    *judges: Annotated[str, Option(hidden=True)],
    level: Level = None,
    mixtures: Annotated[int, Option(least=1, most=100_000)] = 1000,
    seed: Seed = 1,
    cutoff: Cutoff = None,
) -> JudgedOrders:
    """Compare the order of the runs under different judges, or different qrels.

    MAP of every run under each judge's judgements, how far the orders of runs agree (Kendall's tau, tau_AP),
    and which runs change places where the judge of each topic is drawn at random.

    Qrels by name, as `qrels define union --aggregate max` and `intersection --aggregate min` make them, are
    compared whole, as `evaluate` measures with them. Mixtures draw from the judges that are named; from all
    names where fewer than two are judges.

    Example: pooler agreement orders alice bob

    Example: pooler agreement orders alice bob strict --mixtures 100000

    mixtures : Random mixtures of judges, one drawn for each topic; Voorhees (2000) has 100,000.
    seed : Seed of the mixtures.

    Raises
    ------
    PoolerError
        If there is no run.
    ArgumentError
        If the scale has another level.
    """
    with source.judging(of_scale=isinstance(level, str)) as opinions:
        levels = resolve_levels(opinions.scale, () if level is None else (level,), all_of_them=False)
        drawn: list[int] | None = None
        facts: dict[str, Any] = {}
        graders = {one.name for one in opinions.grades.judges()}
        if opinions.collection is None or graders.issuperset(judges):
            votes, voters = fetch_chosen(opinions, judges, None)
            facts = voters.to_json()
        else:
            votes, facts["qrels"] = votes_of_qrels(opinions.collection, [*dict.fromkeys(judges)], level)
            own = [place for place, name in enumerate(votes.votes.judges) if name in graders]
            drawn = own if len(own) > 1 else [*range(len(votes.votes.judges))]
        ranked = opinions.rankings()
        if erased := opinions.erased():
            say(erased)
        cut = level_index(opinions.scale, levels[0]) if drawn is None else 1
        scores = judge_average_precisions(
            votes.votes,
            votes.document_numbers,
            ranked.tags,
            ranked.rankings,
            level_index=cut,
            cutoff=cutoff or 1000,
        )
        scores = scores[np.any(~np.isnan(scores), axis=(1, 2))]
        found = judge_order(scores, seed=seed, mixtures=mixtures, drawn=drawn)
        # Where no topic has a score under every judge.
        if not found.topics and len(found.judges) > 2 and drawn is None:
            with_two = judge_order(scores, seed=seed, mixtures=mixtures, min_judges=2)
            found = with_two if with_two.topics else found
        if lacking := missing_topics(found, votes.votes.judges, votes):
            warn(lacking)
    settings = frozen_settings(judges=list(votes.votes.judges), level=levels[0], **facts)
    return JudgedOrders(order=found, runs=ranked.tags, votes=votes, drawn=drawn, settings=settings)


def votes_of_qrels(
    opened: Collection, names: Sequence[str], level: int | str | None
) -> tuple[PopulationVotes, list[str]]:
    """Return what qrels, or judges, find relevant (1) or not (0) as votes by name; and versioned names."""
    if len(names) < 2:
        hint = "pooler qrels lists the names"
        raise ArgumentError("judges", "must be two names or more", names[0], hint=hint)
    labels, found = [], []
    for name in names:
        try:
            named = opened.qrels.named(name)
        except UnknownNameError as error:
            if rule := {"union": "max", "inter": "min"}.get(name[:5]):
                error.hint = f"pooler qrels define {name} --aggregate {rule}"
            raise
        final, least = CollectionQrels(named, opened, level).decided(opened)
        found.append({topic: (ids, grades >= least) for topic, (ids, grades) in final.by_topic().items()})
        labels.append(named.label)
    topics = sorted({topic for one in found for topic in one}, key=natural_key)
    codes = {topic: code for code, topic in enumerate(topics)}
    parts = [
        (codes[topic], number, *of_topic)
        for number, one in enumerate(found)
        for topic, of_topic in one.items()
    ]
    sizes = [ids.size for _, _, ids, _ in parts]
    cells = Cells(
        topics=tuple(topics),
        judges=tuple(names),
        scale_values=(0, 1),
        topic_codes=np.repeat([code for code, *_ in parts], sizes),
        documents=np.concatenate([ids for _, _, ids, _ in parts]),
        judge_codes=np.repeat([number for _, number, *_ in parts], sizes),
        places=np.concatenate([is_relevant for *_, is_relevant in parts]).astype(np.int64),
    )
    return population_votes(cells, least=1), labels


def is_partial(order: JudgeOrder) -> bool:
    """Return whether some judges have no score for some of the topics that are used."""
    return order.min_judges < len(order.judges)


def missing_topics(order: JudgeOrder, judges: Sequence[str], population: PopulationVotes) -> str | None:
    """Say which judges lack topics, and what to do; ``None`` when most topics have all scores."""
    used, left_out = len(order.topics), order.n_left_out
    if used > left_out and not is_partial(order):
        return None
    total = used + left_out
    if total == 0:
        if population.n_documents == 0:
            return "the judges share no document, so no run has a score; name others who do"
        return "no judge found a relevant document, so no run has a score"
    number = 0 if is_partial(order) else used
    words = f"{number} of {counted(total, 'topic')} {'has' if number == 1 else 'have'}"
    words = f"{words if number else 'no topic has'} a score under every judge"
    lacking = sorted(zip(order.n_scored, judges, strict=True), key=lambda pair: pair[0])
    if named := [f"{name} lacks {total - scored}" for scored, name in lacking if scored < total]:
        words += f" (nothing judged or nothing relevant: {listed(named)})"
    if is_partial(order):
        words += f"; so {counted(used, 'topic')} with a score under two judges or more"
        words += " is used" if used == 1 else " are used"
    if len(judges) == 2 or used == 0:
        return f"{words}; let them judge the same topics"
    pair = max(order.pairs, key=lambda pair: pair.n_topics)
    both = f"{judges[pair.first]} {judges[pair.second]}"
    return f"{words}; name judges of the same topics, as in: pooler agreement orders {both}"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class JudgedOrders(Result):
    """The order of the runs under different judges.

    Tables: `run_scores`, `order_pairs` of judges, `mixtures` of judges, `swaps` of runs.
    """

    order: JudgeOrder
    """Everything by index of judge and run."""
    runs: Sequence[str]
    """Axis of runs."""
    votes: PopulationVotes
    drawn: Sequence[int] | None = None
    """Judges that mixtures draw from, where qrels are compared, whole; ``None`` = judges alone, all drawn."""

    SHOWN = None

    @property
    def judges(self) -> tuple[str, ...]:
        """Axis of judges."""
        return tuple(self.votes.votes.judges)

    @property
    def tau_b(self) -> NDArray[np.float64]:
        """Shape (n_pairs,): Kendall's tau-b of every two judges' orders; NaN = undefined."""
        return np.array([np.nan if one.tau.tau is None else one.tau.tau for one in self.order.pairs])

    def _tables(self) -> Iterator[Table]:
        order = self.order
        mixed = order.mixtures
        scores = self._run_scores()
        yield scores.seen_as(*([self._scores_view(scores)] if len(order.topics) else []))
        yield self._order_pairs()
        mixtures = self._mixtures()
        yield mixtures.seen_as(*([] if mixed.reason is not None else [self._mixtures_view(mixtures)]))
        swaps = self._swaps()
        n_more = len(swaps) - SHOWN
        more = f"{counted(n_more, 'more pair')} of runs {'does' if n_more == 1 else 'do'}."
        view = View(
            swaps,
            rows=range(min(SHOWN, len(swaps))),
            title="Runs that change places",
            notes=[more] if n_more > 0 else [],
        )
        yield swaps.seen_as(*([view] if len(swaps) and mixed.reason is None else []))

    def _mixtures_view(self, table: Table) -> View:
        mixed = self.order.mixtures
        notes = [
            f"{mixed.n_mixtures:,} mixtures, seed {self.settings['seed']}, each compared with the order"
            " by mean.",
            "least, greatest: of all mixtures; low, high: 95 % of them lie between these.",
        ]
        if self.drawn is not None and len(self.drawn) < len(self.judges):
            notes.append(f"Drawn are {', '.join(self.judges[place] for place in self.drawn)}.")
        if not mixed.swaps:
            notes.append("No two runs change places in more than a few of them.")
        named = [str(one).replace("tau_ap", "tau_AP") for one in table.cells("coefficient")]
        table = replace(table, data={**table.data, "coefficient": named})
        title = "Order of the runs when the judge of each topic is drawn at random"
        return View(table, table.columns[:7], title=title, notes=notes)

    def _scores_view(self, table: Table) -> View:
        order = self.order
        who = "two judges or more" if is_partial(order) else "every judge"
        left_out = f"; {counted(order.n_left_out, 'other')} left out" * bool(order.n_left_out)
        lines = [f"{counted(len(order.topics), 'topic')} with a score under {who}{left_out}."]
        hidden: list[str] = []
        if is_partial(order) or len(order.judges) > MOST_JUDGES:
            hidden += [name for name in table.data if name.startswith("map_judge")]
        if is_partial(order):
            lines.append("No columns for judges, because their topics differ.")
        if order.mixtures.reason is not None:
            hidden += MIXED_COLUMNS
        columns = [column for column in table.columns if column.name not in hidden]
        level = self.settings["level"]
        title = f"MAP of the runs under each judge's judgements, relevant = grade {level} or more"
        if self.drawn is None:
            lines.append(population_line(self.votes))
        else:
            title = "MAP of the runs under each of the qrels"
            n_documents = counted(self.votes.n_documents, "document")
            lines.append(f"Measured over {n_documents}: each of the qrels with all that it judges.")
        return View(table, columns, title=title, notes=lines)

    def _run_scores(self) -> Table:
        """One row a run and judge would be long: one column a judge."""
        order, n_runs = self.order, len(self.runs)
        mixed, nothing = order.mixtures, [None] * n_runs
        columns: dict[Column, Any] = {RUN: self.runs}
        for judge, of_judge in zip(self.judges, order.judges, strict=True):
            # Under judges of different topics means are of other topics.
            scores = None if is_partial(order) else of_judge.scores
            columns[Column(f"map_judge_{judge}", "float", judge, digits=3)] = scores
        least = "least MAP in the mixtures of judges below"
        columns |= {
            Column("map_mean", "float", "mean", "of the judges' scores", digits=3): mixed.reference,
            Column("map_low", "float", "mix min", least, digits=3): mixed.lowest,
            Column("map_high", "float", "mix max", "the greatest", digits=3): mixed.highest,
        }
        known = {column: nothing if cells is None else cells for column, cells in columns.items()}
        table = Table.of_columns("run_scores", known)
        means = [-float(mean or 0) for mean in table.cells("map_mean")]  # type: ignore[arg-type]  # floats
        return table.take(sorted(range(n_runs), key=means.__getitem__))

    def _order_pairs(self) -> Table:
        pairs = self.order.pairs
        same = "1 = the same order of runs, -1 = the reverse"
        more_on_top = "the same with more weight on the top, the second judge's order taken as the true one"
        back = "tau_AP with the first judge's order taken as the true one"
        swapped = Column("swapped", "int", about="pairs of runs in opposite order")
        columns = {
            Column("first"): [self.judges[pair.first] for pair in pairs],
            Column("second"): [self.judges[pair.second] for pair in pairs],
            Column("topics", "int"): [pair.n_topics for pair in pairs],
            Column("tau", "float", about=same, digits=3): [pair.tau.tau for pair in pairs],
            Column("tau_ap", "float", "tau_AP", more_on_top, digits=3): [pair.tau_ap.tau for pair in pairs],
            Column("tau_ap_reversed", "float", "back", back, digits=3): [
                pair.tau_ap_reversed.tau for pair in pairs
            ],
            swapped: [pair.n_swapped for pair in pairs],
            REASON: [pair.tau.reason for pair in pairs],
        }
        table = Table.of_columns("order_pairs", columns)
        rows = None
        notes = []
        if len(self.judges) > MOST_JUDGES and len(table) > SHOWN:
            rows = table.order("tau")[:SHOWN]
            notes.append(f"The {SHOWN} lowest tau of {counted(len(table), 'pair')}.")
        if (reason := self.order.mixtures.reason) is not None:
            notes.append(f"No mixtures of judges: {REASONS[reason]}.")
        return table.seen_as(rows=rows, title="Are the runs in the same order?", notes=notes)

    def _mixtures(self) -> Table:
        names = ("mean", "least", "low", "median", "high", "greatest")
        columns = [Column("coefficient"), *(Column(name, "float", digits=3) for name in names)]
        columns += [
            Column(name, "int") for name in ("mixtures", "undefined", "topics", "left_out", "min_judges")
        ]
        columns.append(Column("reason"))
        order, mixed = self.order, self.order.mixtures
        facts = {"mixtures": mixed.n_mixtures, "undefined": mixed.n_undefined, "topics": mixed.n_topics}
        facts |= {"left_out": order.n_left_out, "min_judges": order.min_judges}
        rows: list[dict[str, Any]] = []
        for name, spread in (("tau", mixed.tau), ("tau_ap", mixed.tau_ap)):
            row: dict[str, Any] = {"coefficient": name, **facts, "reason": mixed.reason}
            if spread is not None:
                quantiles = spread.quantiles
                row |= {"mean": spread.mean, "least": spread.least, "greatest": spread.greatest}
                row |= {"low": quantiles[0], "median": quantiles[2], "high": quantiles[-1]}
            rows.append(row)
        return Table.of_rows("mixtures", columns, rows)

    def _swaps(self) -> Table:
        swaps = self.order.mixtures.swaps
        about = "share of mixtures in which the worse run comes out above the better one"
        columns = {
            Column("better"): [self.runs[swap.better] for swap in swaps],
            Column("worse"): [self.runs[swap.worse] for swap in swaps],
            Column("share", "float", "mixtures", about, digits=3): [swap.share for swap in swaps],
            Column("difference", "float", "MAP apart", digits=4): [swap.difference for swap in swaps],
        }
        return Table.of_columns("swaps", columns)
