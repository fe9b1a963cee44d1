"""How far judges agree: coefficients of pairs and of all judges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from pooler.command import Given, Levels, Option, Seed, command
from pooler.commands.qrels.agreement_rows import (
    ALL_LABELS,
    AgreementOptions,
    Pair,
    against_rows,
    fetch_chosen,
    judges_rows,
    pair_rows,
    pairs_of,
    resolve_levels,
)
from pooler.judge_kinds import kinds_words
from pooler.messages import say, warn
from pooler.reasons import joined
from pooler.result import Result, frozen_settings
from pooler.sources.source import Source
from pooler.tables import GRADE, JUDGE, REASON, TOPIC, Column, Table, View, cells_where
from store.analysis.agreement.intervals import FEW_TOPICS
from store.analysis.agreement.kappa import stacked_specific
from store.analysis.agreement.tables import all_pair_stacks, sharing_pairs
from store.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from store.analysis.agreement.votes import PopulationVotes

Row = Mapping[str, Any]

SKEWED = 0.8
"""Share of one grade above which kappa falls for its sake, and AC1 stands beside it."""

INTERVAL = (
    "95 %: the interval in which the number may lie with other topics (topic bootstrap, {resamples:,}"
    " resamples, seed {seed})."
)
FIRST, SECOND = Column("first"), Column("second")
N_ABOUT = "documents both graded"
_AT = Column("at", about="1+ = grades of 1 or more count as relevant")
SAME = Column("raw", "float", "same", "share with the same grade", digits=3)
KAPPA = Column(
    "kappa",
    "float",
    about="agreement beyond chance, 1 = always, 0 = as by chance, below 0 = less often than by chance",
    digits=3,
)
QUADRATIC = Column(
    "quadratic", "float", about="kappa in which a near miss counts less than a far one", digits=3
)
MOST_PAIRS = 66
"""Pairs that people are shown, and that have intervals unless they are asked for: those of 12 judges."""
MOST_APART = 10
"""Of more pairs, those without a common document are counted only."""
MOST_JUDGES = 20
"""Judges that are listed one by one."""
FEW_DOCUMENTS = 30
"""With fewer common documents the coefficients of a pair say little."""
MEASURES = {
    "alpha_ordinal": "alpha, ordinal",
    "alpha_nominal": "alpha, nominal",
    "alpha_interval": "alpha, interval",
    "fleiss": "Fleiss' kappa",
    "ac1": "AC1",
    "macro_overlap": "overlap of all",
}
GRADED = ("alpha_ordinal", "alpha_nominal", "alpha_interval", "fleiss")
BINARY = ("alpha_nominal", "fleiss", "macro_overlap")
_ALL_JUDGES = (
    Column("level", "int"),
    Column("coefficient"),
    *(Column(name, "float", digits=3) for name in ("value", "low", "high")),
    Column("n", "int"),
    Column("topics", "int"),
    Column("reason"),
    Column("interval_reason"),
)


def _all_view(
    rows: Sequence[Row], n_judges: int, options: AgreementOptions, skewed: Collection[int | None]
) -> View:
    """Show the agreement of all judges; AC1 at `skewed` levels, where one grade prevails."""
    two_grades = len(options.scale.values) == 2
    chosen: list[Row] = []
    for row in rows:
        level, name = row["level"], str(row["coefficient"])
        if row["topic"] != "all" or (two_grades and level is None):
            continue
        if name not in (GRADED if level is None else BINARY) and not (name == "ac1" and level in skewed):
            continue
        measure = "alpha" if level is not None and name == "alpha_nominal" else MEASURES[name]
        chosen.append({**row, "on": "grades" if level is None else f"relevant {level}+", "measure": measure})
    measures = {row["measure"] for row in chosen}
    lines = ["alpha, Fleiss' kappa: 1 = all agree, 0 = as by chance, below 0 = less than by chance."]
    if "alpha, ordinal" in measures:
        lines.append("alpha, ordinal: a near miss counts less than a far one.")
    if "overlap of all" in measures:
        lines.append(
            "overlap of all: documents relevant to everybody among those relevant to anybody, averaged"
            " over topics that have any; N: documents that everybody graded."
        )
    if "AC1" in measures:
        lines.append(f"AC1: {_ac1_column(binary=None not in skewed or two_grades).about}.")
    own = [Column("on"), Column("measure")]
    columns = [*own, Column("value", "float", digits=3)]
    columns += [_interval_column("interval", "")] * (options.resamples > 0)
    columns.append(Column("n", "int", "N", "documents with at least two graders"))
    columns += [Column("topics", "int")] + [REASON] * (not options.resamples)
    table = Table.of_rows("all_judges", [*own, *_ALL_JUDGES], chosen)
    return View(table, columns, title=f"All {n_judges} judges together", notes=lines)


def _topics_view(rows: Sequence[Row], options: AgreementOptions) -> View:
    wanted: list[tuple[int | None, str, str]] = []
    if len(options.scale.values) > 2:
        wanted.append((None, "alpha_ordinal", "alpha"))
    for level in options.levels:
        wanted.append((level, "alpha_nominal", f"alpha {level}+"))
        wanted.append((level, "macro_overlap", f"overlap {level}+"))
    name_of = {(level, name): f"{name}_{level}" for level, name, _ in wanted}
    by_topic: dict[str, dict[str, Any]] = {}
    codes: dict[str, list[str | None]] = {}
    for row in rows:
        name = name_of.get((row["level"], str(row["coefficient"])))
        if row["topic"] == "all" or name is None:
            continue
        made = by_topic.setdefault(row["topic"], {"topic": row["topic"], "n": row["n"]})
        made[name] = row["value"]
        codes.setdefault(row["topic"], []).append(row["reason"])
    for topic, made in by_topic.items():
        made["reason"] = joined(codes[topic])
    columns = [TOPIC, Column("n", "int", "N", "documents of the topic with at least two graders")]
    columns += [Column(name_of[level, name], "float", heading, digits=3) for level, name, heading in wanted]
    columns.append(Column("reason", about="for every dash in the row", show="if_any"))
    lines = ["overlap covers the documents that everybody graded."] if options.levels else []
    table = Table.of_rows("all_judges", columns, list(by_topic.values()))
    return View(table, title="All judges together, topic by topic", notes=lines)


@command
def agreement(
    source: Annotated[Source, Given("pooler.cli.options:JudgesOptions", "source")],
    *judges: Annotated[str, Option(hidden=True)],
    levels: Annotated[Levels, Option(default="the relaxed and the rigid level; for json and tsv all")] = (),
    every_level: Annotated[bool, Option(hidden=True, for_people=False)] = True,
    against: Annotated[str | None, Option("--against JUDGE")] = None,
    resamples: Annotated[
        int | None,
        Option(least=0, most=1_000_000, default="10,000; for pairs none when there are more than 66"),
    ] = None,
    seed: Seed = 1,
    by_topic: bool = False,
) -> AgreementResult:
    """Measure how far judges agree, all together and two by two.

    All together: Krippendorff's alpha and Fleiss' kappa. Two by two: Cohen's kappa, plain and quadratic
    on the declared scale and at every level of relevance, and the overlap of the relevant documents;
    json and tsv also have linear kappa, Scott's pi, Bennett's S and Gwet's AC. A number that does not
    exist is given as a reason (no-common-docs, one-doc, single-grade, no-relevant, one-topic), never as
    0 or 1. The table `per_grade` has the agreement on each grade, `cross_tables` each pair's grades.

    Example: pooler agreement --level 1 --by-topic

    Example: pooler agreement --qrels judgements/middle.qrels --qrels judgements/strict.qrels

    against : Compare every other judge, and all their labels together, with this one.
    resamples : How many times topics are resampled for the 95 % intervals; 0 = no intervals.
    seed : Seed of resampling.
    by_topic : Also show one row per topic.

    Raises
    ------
    UnknownNameError
        If a judge is not known.
    PoolerError
        If no judge has graded a document, or only one has.

    Notes
    -----
    Judges default to all people who graded; where no person graded, imported judges, else models; never
    adjudicators. Of more than ten pairs, those that share no document are only counted (pairs_apart).
    Krippendorff's alpha, Fleiss' kappa; Cohen's kappa plain and weighted, Scott's pi, Bennett's S, Gwet's AC,
    and the overlap of relevant documents. Bootstrap by topic: O(resamples topics) a pair.
    """
    with source.judging(of_scale=any(isinstance(one, str) for one in levels)) as opinions:
        scale = opinions.scale
        options = AgreementOptions(
            scale=scale,
            levels=resolve_levels(scale, levels, all_of_them=every_level),
            resamples=10_000 if resamples is None else resamples,
            seed=seed,
            by_topic=by_topic,
        )
        votes, voters = fetch_chosen(opinions, judges, against)
        every_pair = pairs_of(votes.votes.judges, against)
        # Intervals of many pairs take long: they are made where somebody asks for them.
        intervals = options.resamples > 0 and (resamples is not None or len(every_pair) <= MOST_PAIRS)
        n_apart = 0
        together: list[dict[str, Any]] = []
        if against is None:
            stacks = list(all_pair_stacks(votes, options.level_indices))
            named = every_pair
            # A crowd has a million pairs that share no document: they are counted.
            if len(every_pair) > MOST_APART:
                stacks, kept = sharing_pairs(stacks)
                named = [every_pair[number] for number in kept]
            n_apart = len(every_pair) - len(named)
            found = pair_rows(stacks, named, votes.votes.topics, options, intervals=intervals)
            together = judges_rows(votes, options) if len(votes.votes.judges) > 2 else []
        else:
            others = [first for first, _ in every_pair]
            found = against_rows(votes, against, others, options, intervals=intervals)
            if len(every_pair) > MOST_APART:
                shared, n_apart = sharing(found)
                found = [dict(row) for row in shared]
        numbers = [row["n"] for row in _of_judges(found, found[-1]["level"] if found else None)]
        if few := n_apart + sum(number < FEW_DOCUMENTS for number in numbers):
            pairs, share = counted(n_apart + len(numbers), "pair"), "shares" if few == 1 else "share"
            words = f"{few:,} of {pairs} {share} fewer than {FEW_DOCUMENTS} documents"
            warn(f"{words}: their kappas mean little")
        has_intervals = (intervals and not (by_topic and not every_level)) or bool(together)
        if has_intervals and options.resamples and 1 < votes.n_topics < FEW_TOPICS:
            warn(f"{votes.n_topics} topics: intervals of fewer than {FEW_TOPICS} topics are too narrow")
        if erased := opinions.erased():
            say(erased)
    settings: dict[str, Any] = {
        "documents": votes.n_documents,
        "topics": votes.n_topics,
        "judges": list(votes.votes.judges),
        **voters.to_json(),
        "scale": list(scale.values),
        "levels": list(options.levels),
        "interval_level": 0.95 if options.resamples else None,
        "resamples": options.resamples,
    }
    return AgreementResult(
        found=found,
        n_pairs=len(every_pair),
        n_apart=n_apart,
        together=together,
        has_intervals=intervals,
        votes=votes,
        options=options,
        settings=frozen_settings(**settings),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AgreementResult(Result):
    """How far judges agree.

    Tables: `judges`, what each did; `all_judges`, coefficients of all together; `pairs`, of every
    two, at every level (none = of the grades); `per_grade` and `cross_tables` of every pair.
    """

    found: list[dict[str, Any]]
    """Rows of the pairs, with every number, but for those left out."""
    n_pairs: int
    n_apart: int
    """Pairs left out, as they share no document."""
    together: list[dict[str, Any]]
    """Of all judges; empty for two, and against a reference."""
    has_intervals: bool
    """Whether pairs have intervals."""
    votes: PopulationVotes
    """The grades that were measured."""
    options: AgreementOptions

    SHOWN = 3

    @property
    def judges(self) -> tuple[str, ...]:
        """Who is measured."""
        return tuple(self.votes.votes.judges)

    @property
    def compared(self) -> tuple[Pair, ...]:
        """Axis of pairs of judges."""
        return tuple(dict.fromkeys((row["first"], row["second"]) for row in self._whole(self.found)))

    @property
    def levels(self) -> tuple[int | None, ...]:
        """Axis of levels; ``None`` = of the grades themselves."""
        return tuple(dict.fromkeys(row["level"] for row in self._whole(self.found)))

    @property
    def pairs(self) -> Mapping[str, NDArray[np.float64]]:
        """By coefficient its values, shape (n_levels, n_pairs); NaN = undefined, or not of that level."""
        names = [one.name for one in _pair_columns(by_topic=False) if one.kind == "float"]
        return {name: self._of_pairs(name) for name in names if not name.endswith(("_low", "_high"))}

    @property
    def intervals(self) -> Mapping[str, NDArray[np.float64]]:
        """By coefficient the ends of its intervals, shape (n_levels, n_pairs, 2); NaN = there is none."""
        names = ("kappa", "quadratic", "macro_overlap")
        ends = {name: [self._of_pairs(f"{name}{end}") for end in ("_low", "_high")] for name in names}
        return {name: np.stack(both, axis=-1) for name, both in ends.items()}

    @property
    def all_judges(self) -> Mapping[str, NDArray[np.float64]]:
        """By coefficient of all judges its values, shape (n_levels,); nothing of two judges."""
        found: dict[str, NDArray[np.float64]] = {}
        for row in self._whole(self.together):
            values = found.setdefault(row["coefficient"], np.full(len(self.levels), np.nan))
            values[self.levels.index(row["level"])] = np.nan if row["value"] is None else row["value"]
        return found

    def _of_pairs(self, name: str) -> NDArray[np.float64]:
        values = np.full((len(self.levels), len(self.compared)), np.nan)
        pairs = {pair: place for place, pair in enumerate(self.compared)}
        for row in self._whole(self.found):
            if row.get(name) is not None:
                values[self.levels.index(row["level"]), pairs[row["first"], row["second"]]] = row[name]
        return values

    def _whole(self, rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if row.get("topic", "all") == "all"]

    def kinds_of_voters(self) -> Mapping[str, int]:
        """Say nothing of kinds in rows: they are of two judges, or of all that `judges` lists."""
        return {}

    def facts(self) -> Mapping[str, Any]:
        """Return how many pairs share no document and are in no row."""
        return {"pairs_apart": self.n_apart} if self.n_apart else {}

    def _tables(self) -> Iterator[Table]:
        yield self._judges()
        by_topic = self.options.by_topic
        together: list[View] = []
        if self.together:
            skewed = _skewed_levels(self.found)
            together = [_all_view(self.together, len(self.judges), self.options, skewed)]
            together += [_topics_view(self.together, self.options)] * by_topic
        columns = [*[TOPIC] * by_topic, *_ALL_JUDGES]
        yield Table.of_rows("all_judges", columns, self.together).seen_as(*together)
        yield Table.of_rows("pairs", _pair_columns(by_topic=by_topic), self.found).seen_as(
            *self._pair_views(together)
        )
        stacks, stacked = all_pair_stacks(self.votes, self.options.level_indices), pairs_of(self.judges, None)
        if self.n_pairs > MOST_APART:
            stacks, kept = sharing_pairs(stacks)
            stacked = [stacked[number] for number in kept]
        if stacks:
            yield self._per_grade(stacks[0].tables, stacked)
            yield self._cross_tables(stacks[0].tables, stacked)

    def _judges(self) -> Table:
        votes, scale = self.votes, self.options.scale
        columns: dict[Column, Any] = {
            JUDGE: self.judges,
            Column("graded", "int"): votes.graded,
            Column("outside", "int", "left out", "graded, but not among these documents", show="if_any"): (
                votes.outside
            ),
            Column("skipped", "int", show="if_any"): votes.skipped,
            Column("cannot", "int", show="if_any"): votes.cannot,
        }
        for value, given in zip(scale.values, votes.given().T, strict=True):
            columns[Column(f"grade_{value}", "int", str(value))] = given
        table = Table.of_columns("judges", columns)
        kinds = self.settings.get("kinds", {})
        title = counted(len(table), "judge") + (f" ({kinds_words(kinds)})" if kinds else "")
        lines = [population_line(votes)]
        if left_out := [name for name in ("skipped", "cannot") if any(table.cells(name))]:
            lines.append(f"{' and '.join(left_out)}: looked at but given no grade, so not measured.")
        if len(table) > MOST_JUDGES:
            shown = [replace(one, about="") for one in table.columns]
            return table.seen_as(columns=shown, rows=[], title=title, notes=lines)
        grades = ", ".join(map(str, scale.values))
        lines.append(f"{grades}: how often each grade was given, of those measured.")
        return table.seen_as(title=title, notes=lines)

    def _per_grade(self, tables: NDArray[np.int64], stacked: Sequence[Pair]) -> Table:
        values = self.options.scale.values
        shares = stacked_specific(tables)
        given = tables.sum(axis=-1) + tables.sum(axis=-2)
        any_given = np.broadcast_to(given.any(axis=-1, keepdims=True), given.shape).ravel().tolist()
        columns = {
            FIRST: [first for first, _ in stacked for _ in values],
            SECOND: [second for _, second in stacked for _ in values],
            GRADE: [*values] * len(stacked),
            Column("given", "int"): given.ravel(),
            Column("agreement", "float", digits=3): cells_where(given.ravel() > 0, shares.ravel()),
            REASON: [
                None if count else "no-relevant" if others else "no-common-docs"
                for count, others in zip(given.ravel().tolist(), any_given, strict=True)
            ],
        }
        title = "How likely one judge gives a grade when the other does"
        return Table.of_columns("per_grade", columns, title)

    def _cross_tables(self, tables: NDArray[np.int64], stacked: Sequence[Pair]) -> Table:
        values = self.options.scale.values
        columns = [FIRST, SECOND, Column("first_grade", "int", "grade")]
        columns += [Column(f"second_{value}", "int", str(value)) for value in values]
        title = "Documents by the grades of both: the first judge's down, the second's across"
        rows = [
            {"first": first, "second": second, "first_grade": value}
            | {f"second_{other}": count for other, count in zip(values, line, strict=True)}
            for (first, second), counts in zip(stacked, tables.tolist(), strict=True)
            for value, line in zip(values, counts, strict=True)
        ]
        return Table.of_rows("cross_tables", columns, rows, title=title)

    def _pair_views(self, together: Sequence[View]) -> list[View]:
        options = self.options
        rows: Sequence[Row] = self.found
        if self.n_pairs == 1:
            rows = [row for row in rows if row["first"] != ALL_LABELS]
        views = _pair_views(rows, options, intervals=self.has_intervals, reference=self.settings["against"])
        ending = [apart_line(self.n_apart)]
        if any(map(_shows_intervals, [*together, *views])):
            ending.append(INTERVAL.format(resamples=options.resamples, seed=options.seed))
        if options.resamples and options.by_topic:
            ending.append("With --by-topic, pairs have no intervals.")
        elif options.resamples and not self.has_intervals:
            ending.append(f"Pairs have no intervals here: --resamples {options.resamples} computes them.")
        if views:
            views[-1] = replace(views[-1], notes=[*(views[-1].notes or ()), *filter(None, ending)])
        return views


def _pair_columns(*, by_topic: bool) -> list[Column]:
    names = ["raw", "kappa", "kappa_low", "kappa_high", "linear"]
    names += ["quadratic", "quadratic_low", "quadratic_high", "pi", "s"]
    names += ["ac1", "ac2", "alpha_ordinal", "alpha_nominal", "alpha_interval"]
    names += ["positive", "overlap", "macro_overlap", "macro_overlap_low", "macro_overlap_high"]
    return [
        FIRST,
        SECOND,
        *([TOPIC] if by_topic else []),
        Column("level", "int"),
        Column("n", "int"),
        *(Column(name, "float", digits=3) for name in names),
        Column("macro_topics", "int"),
        Column("first_marginals", "ints"),
        Column("second_marginals", "ints"),
        Column("reason"),
        Column("interval_reason"),
    ]


def population_line(population: PopulationVotes) -> str:
    """Say over how many documents agreement is measured, and which."""
    size = f"{counted(population.n_documents, 'document')} of"
    size += f" {counted(population.n_topics, 'topic')}"
    return f"Measured over {size}: those that at least two judges graded."


def _ac1_column(*, binary: bool) -> Column:
    what = "relevant or not relevant" if binary else "one grade"
    about = (
        f"shown next to kappa where {what} makes up more than {100 * SKEWED:.0f} % of what some pair gave;"
        " that alone can make kappa low"
    )
    return Column("ac1", "float", "AC1", about, digits=3)


def _interval_column(name: str, of: str) -> Column:
    low, high = (f"{of}_low", f"{of}_high") if of else ("low", "high")
    return Column(name, heading="95 %", interval=(low, high), digits=2)


def _shows_intervals(view: View) -> bool:
    """Return whether some row of a view shows an interval, not only a reason for none."""
    limits = [one.interval for one in view.columns if isinstance(one, Column) and one.interval]
    return any(cell is not None for low, _ in limits for cell in view.table.cells(low))


def _pair_views(
    rows: Sequence[Row], options: AgreementOptions, *, intervals: bool, reference: str | None
) -> list[View]:
    """Show pairs: agreement on grades, then on relevant or not; of many pairs those that agree least.

    `reference`: the second judge of every pair, who is named in the title then.
    """
    graded = [row for row in rows if row["level"] is None and len(options.scale.values) > 2]
    levels = [row for row in rows if row["level"] is not None]
    if not options.by_topic:
        levels.sort(key=lambda row: int(row["level"]))
    is_many = len({(row["first"], row["second"]) for row in rows}) > MOST_PAIRS
    has_intervals = intervals and not options.by_topic
    title = f"{'Pairs of judges' if reference is None else f'Each judge with {reference}'}: agreement on"
    views: list[View] = []
    for is_binary, chosen in ((False, graded), (True, levels)):
        if not chosen:
            continue
        if is_many:
            chosen = sorted(chosen, key=_least_first)
        skewed = bool(_skewed_levels(chosen))
        columns = [FIRST, SECOND] if reference is None else [Column("first", heading="judge")]
        columns += [_AT] * is_binary + [TOPIC] * options.by_topic
        width = max(len(_n_cell(row)) for row in chosen)
        n = Column("n", "int", "N", N_ABOUT)
        if any(map(_has_few, chosen)):
            few = f"{N_ABOUT}; *: fewer than {FEW_DOCUMENTS}, so the row means little"
            n = Column("n_marked", heading=f"{'N':>{width - 1}}", about=few)
        columns += [n, SAME, KAPPA] + [_interval_column("interval", "kappa")] * has_intervals
        lines = []
        if is_binary:
            about = "documents relevant to both among those relevant to either, averaged over topics"
            if has_intervals:
                about += "; its interval is in json and tsv"
            columns.append(Column("mean_overlap", "float", "overlap", about, digits=3))
        else:
            columns.append(QUADRATIC)
            # Beside AC1 there is no room for the second interval.
            if has_intervals and not skewed:
                columns.append(_interval_column("quadratic_interval", "quadratic"))
            elif has_intervals:
                lines.append("The interval of quadratic is in json and tsv.")
        columns += [_ac1_column(binary=is_binary)] * skewed
        columns += [REASON] * (not has_intervals)
        if any(row["first"] == ALL_LABELS for row in chosen):
            lines.append(
                f"{ALL_LABELS}: every label of the others, each compared by itself; its N"
                " counts labels, not documents."
            )
        cells = [
            {
                **row,
                "at": f"{row['level']}+",
                "n_marked": _n_cell(row).rjust(width),
                "mean_overlap": row.get("overlap") if row["topic"] != "all" else row.get("macro_overlap"),
            }
            for row in chosen
        ]
        declared = [*_pair_columns(by_topic=True), _AT, Column("n_marked"), Column("mean_overlap", "float")]
        table = Table.of_rows("pairs", declared, cells)
        what = "relevant or not" if is_binary else "grades"
        limit = MOST_PAIRS if is_many else None
        views.append(View(table, columns, title=f"{title} {what}", notes=lines, limit=limit, of_rows="pair"))
    return views


def sharing(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Leave out the pairs that share no document, and count them."""
    apart = {
        (row["first"], row["second"])
        for row in rows
        if row["n"] == 0 and is_judge(row["first"]) and row.get("topic", "all") == "all"
    }
    return [row for row in rows if (row["first"], row["second"]) not in apart], len(apart)


def apart_line(number: int) -> str:
    """Say how many pairs are left out; empty when none is."""
    return f"{counted(number, 'pair')} {'shares' if number == 1 else 'share'} no document." if number else ""


def _least_first(row: Row) -> tuple[bool, bool, bool, float]:
    """Order pairs by kappa: all labels first; pairs of few documents, and those without kappa, last."""
    kappa = row["kappa"]
    return is_judge(row["first"]), _has_few(row), kappa is None, kappa or 0.0


def _of_judges(rows: Sequence[Row], level: int | None) -> list[Row]:
    """Return the rows of pairs of judges at a level, over all topics."""
    at_level = [row for row in rows if row["level"] == level and row["topic"] == "all"]
    return [row for row in at_level if is_judge(row["first"])]


def _skewed_levels(rows: Sequence[Row]) -> set[int | None]:
    """Return the levels, ``None`` = graded, at which one grade is more than `SKEWED` of what a pair gave."""
    found = set()
    for row in rows:
        if row.get("topic", "all") != "all" or row["n"] < FEW_DOCUMENTS:
            continue
        sides = (row["first_marginals"], row["second_marginals"])
        given = [one + other for one, other in zip(*sides, strict=True)]
        if max(given) > SKEWED * sum(given):
            found.add(row["level"])
    return found


def is_judge(name: object) -> bool:
    """Tell a judge from all labels, which stand in brackets."""
    return not str(name).startswith("(")


def _has_few(row: Row) -> bool:
    return bool(row["topic"] == "all" and row["n"] < FEW_DOCUMENTS)


def _n_cell(row: Row) -> str:
    return f"{row['n']:,}{'*' if _has_few(row) else ' '}"
