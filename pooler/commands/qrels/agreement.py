"""How far judges agree: coefficients of pairs and of all judges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np

from pooler.command import Given, Levels, Option, Seed, command
from pooler.commands.qrels import agreement_people as people
from pooler.commands.qrels.agreement_people import (
    FIRST,
    MOST_APART,
    MOST_PAIRS,
    PART,
    SECOND,
    Row,
    pair_columns,
)
from pooler.commands.qrels.agreement_rows import (
    JudgePart,
    against_rows,
    judges_rows,
    pair_rows,
    part_rows,
    parts_of,
)
from pooler.commands.qrels.agreement_settings import (
    ALL_LABELS,
    AgreementOptions,
    Pair,
    fetch_chosen,
    pairs_of,
    resolve_levels,
    settings_of,
)
from pooler.messages import say, warn
from pooler.result import Result, frozen_settings
from pooler.sources.source import source_of
from pooler.tables import GRADE, JUDGE, REASON, TOPIC, Column, Table, View, cells_where
from store.analysis.agreement.intervals import FEW_TOPICS
from store.analysis.agreement.overlap import stacked_specific
from store.analysis.agreement.tables import PairStack, all_pair_stacks, sharing_pairs
from store.errors import ArgumentError
from store.grades import Aggregate
from store.grades.definition import QrelsDefinition
from store.records import Ties
from store.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.sources.source import Measurable
    from store.analysis.agreement.votes import PopulationVotes

    Judged: TypeAlias = Measurable
else:  # a collection is loaded for no type
    Judged = Annotated[object, Given("pooler.cli.options:JudgesOptions", "source")]

MEASURES = {
    "alpha_ordinal": "alpha, ordinal",
    "alpha_nominal": "alpha, nominal",
    "alpha_interval": "alpha, interval",
    "fleiss": "Fleiss' kappa",
    "ac1": "AC1",
    "macro_overlap": "overlap of all",
}
ACROSS = {"kappa": "kappa", "quadratic": "kappa, quadratic", "ac1": "AC1", "macro_overlap": "overlap"}
"""Of people with models."""
GRADED = ("alpha_ordinal", "alpha_nominal", "alpha_interval", "fleiss")
BINARY = ("alpha_nominal", "fleiss", "macro_overlap")
ACROSS_GRADED, ACROSS_BINARY = ("kappa", "quadratic"), ("kappa", "macro_overlap")
_ALL_JUDGES = (
    Column("level", "int"),
    Column("coefficient"),
    *(Column(name, "float", digits=3) for name in ("value", "low", "high")),
    Column("band"),
    Column("n", "int"),
    Column("topics", "int"),
    Column("reason"),
    Column("interval_reason"),
)


def _all_view(
    rows: Sequence[Row],
    n_judges: int,
    options: AgreementOptions,
    *,
    skewed: Collection[int | None],
    part: JudgePart | None,
) -> View:
    """Show the agreement of all judges together, or of all of a part.

    AC1 at `skewed` levels (``None`` = graded), where one grade prevails.
    """
    across = part is not None and part.is_across
    named, graded, binary = (ACROSS, ACROSS_GRADED, ACROSS_BINARY) if across else (MEASURES, GRADED, BINARY)
    two_grades = len(options.scale.values) == 2
    chosen: list[Row] = []
    for row in rows:
        level, name = row["level"], str(row["coefficient"])
        if row["topic"] != "all" or (two_grades and level is None):
            continue
        if name not in (graded if level is None else binary) and not (name == "ac1" and level in skewed):
            continue
        measure = "alpha" if level is not None and name == "alpha_nominal" else named[name]
        shown = {**row, "on": "grades" if level is None else f"relevant {level}+", "measure": measure}
        has_reason = row["value"] is None or row.get("low") is not None or row.get("interval_reason")
        if options.kind != "none" and not has_reason:
            shown["interval_reason"] = "topics-only" if name == "macro_overlap" else "no-standard-error"
        chosen.append(shown)
    measures = {row["measure"] for row in chosen}
    lines = ["alpha, Fleiss' kappa: 1 = all agree, 0 = as by chance, below 0 = less than by chance."]
    if across:
        lines = ["Every label of a person is compared with every label of a model; N counts these pairs."]
    if "alpha, ordinal" in measures:
        lines.append("alpha, ordinal: a near miss counts less than a far one.")
    if "overlap of all" in measures:
        lines.append(
            "overlap of all: documents relevant to everybody among those relevant to anybody, averaged"
            " over topics that have any; N: documents that everybody graded."
        )
    if "AC1" in measures:
        lines.append(f"AC1: {people.ac1_column(binary=None not in skewed or two_grades).about}.")
    own = [Column("on"), Column("measure")]
    columns = [*own, Column("value", "float", digits=3)]
    columns += [people.interval_column("interval", "")] * (options.kind != "none")
    columns.append(Column("n", "int", "N", "" if across else "documents with at least two graders"))
    columns += [Column("topics", "int"), *people.band_column(options)]
    columns += [REASON] * (options.kind == "none")
    table = Table.of_rows("all_judges", [*own, *_ALL_JUDGES], chosen)
    lines += [people.bands_line(options)] if options.bands else []
    title = f"All {n_judges} judges together"
    if part is not None:
        title = "People with models" if across else f"All {n_judges} {part.name} together"
    return View(table, columns, title=title, notes=lines)


def _notes_once(views: Sequence[View]) -> list[View]:
    said: set[str] = set()
    found: list[View] = []
    for view in reversed(views):
        found.append(replace(view, notes=[note for note in view.notes or () if note not in said]))
        said |= {*(view.notes or ())}
    return found[::-1]


def _topics_view(rows: Sequence[Row], options: AgreementOptions, part: JudgePart | None) -> View:
    wanted: list[tuple[int | None, str, str]] = []
    if len(options.scale.values) > 2:
        wanted.append((None, "alpha_ordinal", "alpha"))
    for level in options.levels:
        wanted.append((level, "alpha_nominal", f"alpha {level}+"))
        wanted.append((level, "macro_overlap", f"overlap {level}+"))
    name_of = {(level, name): f"{name}_{level}" for level, name, _ in wanted}
    by_topic: dict[str, dict[str, Any]] = {}
    reasons: dict[str, dict[str, None]] = {}
    for row in rows:
        name = name_of.get((row["level"], str(row["coefficient"])))
        if row["topic"] == "all" or name is None:
            continue
        made = by_topic.setdefault(row["topic"], {"topic": row["topic"], "n": row["n"]})
        made[name] = row["value"]
        codes = reasons.setdefault(row["topic"], {})
        if row["reason"]:
            codes[str(row["reason"])] = None
    for topic, made in by_topic.items():
        made["reason"] = ", ".join(reasons[topic]) or None
    columns = [TOPIC, Column("n", "int", "N", "documents of the topic with at least two graders")]
    columns += [Column(name_of[level, name], "float", heading, digits=3) for level, name, heading in wanted]
    columns.append(Column("reason", about="for every dash in the row", show="if_any"))
    lines = ["overlap covers the documents that everybody graded."] if options.levels else []
    table = Table.of_rows("all_judges", columns, list(by_topic.values()))
    who = "judges" if part is None else part.name
    return View(table, title=f"All {who} together, topic by topic", notes=lines)


@command
def agreement(
    source: Judged,
    *judges: Annotated[str, Option(hidden=True)],
    levels: Annotated[Levels, Option(default="the relaxed and the rigid level; for json and tsv all")] = (),
    every_level: Annotated[bool, Option(hidden=True, for_people=False)] = True,
    against: Annotated[str | None, Option("--against JUDGE")] = None,
    aggregate: Annotated[Aggregate | None, Option(default="no such comparison")] = None,
    ties: Ties | None = None,
    binary_first: bool = False,
    interval: Annotated[
        Literal["topic", "item", "asymptotic", "none"] | None,
        Option(default="topic; none for pairs when there are more than 66"),
    ] = None,
    resamples: Annotated[int, Option(least=100, most=1_000_000)] = 10_000,
    seed: Seed = 1,
    bands: Literal["landis-koch", "ir-book", "krippendorff"] | None = None,
    by_topic: bool = False,
    all_pairs: bool = False,
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
    aggregate : With --against: compare one grade made of the others', too.
    ties : How majority and median break ties.
    binary_first : Make each grade binary at each level, then aggregate.
    interval : 95 % intervals: from resampled topics or documents, from standard errors, or none.
    resamples : How many times to resample.
    seed : Seed of resampling.
    bands : Add one author's words for the values of kappa and alpha.
    by_topic : Also show one row per topic.
    all_pairs : Show more than 66 pairs in full. In json and tsv, also list pairs that share no document;
        with more than 10 pairs these are otherwise only counted (pairs_apart).

    Raises
    ------
    UnknownNameError
        If a judge is not known.
    PoolerError
        If no judge has graded a document, or only one has.

    Notes
    -----
    Judges default to all people who graded, and all models, each apart, and people with models; where no
    person graded, imported judges, else models; never adjudicators. Krippendorff's alpha, Fleiss' kappa;
    Cohen's kappa plain and weighted, Scott's pi, Bennett's S, Gwet's AC, and the overlap of relevant
    documents. Bootstrap by topic: O(resamples topics) a pair.
    """
    rule = QrelsDefinition(aggregate=aggregate, ties=ties, binary_first=binary_first)
    if aggregate is None and binary_first:
        raise ArgumentError("binary_first", "needs --aggregate", None)
    if aggregate is not None and against is None:
        raise ArgumentError("aggregate", "is compared with a judge: --against JUDGE", aggregate)
    if aggregate == "sum":
        raise ArgumentError("aggregate", "must give grades of the scale; sums are none", "sum")
    rule.check()
    with source_of(source).judging(of_scale=any(isinstance(one, str) for one in levels)) as opinions:
        scale = opinions.scale
        options = AgreementOptions(
            scale=scale,
            levels=resolve_levels(scale, levels, all_of_them=every_level),
            has_levels=bool(levels),
            kind=interval or "topic",
            resamples=resamples,
            seed=seed,
            bands=bands,
            by_topic=by_topic,
        )
        chosen = fetch_chosen(opinions, judges, against, apart=True)
        votes, parts = chosen.votes, tuple(parts_of(chosen))
        names, topics = votes.votes.judges, votes.votes.topics
        every_pair = pairs_of(names, against)
        # Intervals of many pairs take long: they are made where somebody asks for them.
        intervals = options.kind != "none" and (interval is not None or len(every_pair) <= MOST_PAIRS)
        # A crowd has a million pairs that share no document: they are counted.
        leaves_out = not all_pairs and len(every_pair) > MOST_APART
        n_apart = 0
        together: list[dict[str, Any]] = []
        stacks: list[PairStack] = []
        stacked: list[Pair] = []
        if against is None:
            stacks, stacked = _stacks(votes, options, leaves_out=leaves_out)
        found: list[dict[str, Any]] = []
        if parts:
            for part in parts:
                own = votes if part.is_across else opinions.grades.votes(part.judges)
                rows, of_all, n_more = part_rows(
                    part, own, options, intervals=intervals, leaves_out=leaves_out
                )
                found, together, n_apart = found + rows, together + of_all, n_apart + n_more
        elif against is None:
            n_apart = len(every_pair) - len(stacked)
            found = pair_rows(stacks, stacked, topics, options, intervals=intervals)
            together = judges_rows(votes, options) if len(names) > 2 else []
        else:
            others = [first for first, _ in every_pair]
            wanted = None if aggregate is None else rule
            found = against_rows(votes, against, others, options, wanted, intervals=intervals)
            if leaves_out:
                shared, n_apart = people.sharing(found)
                found = [dict(row) for row in shared]
        has_intervals = (intervals and not (by_topic and not every_level)) or bool(together)
        _warn(found, n_apart, votes.n_topics, options, intervals=has_intervals)
        if erased := opinions.erased():
            say(erased)
    settings = settings_of(votes, options, against=against, rule=rule, voters=chosen.voters)
    settings["all_pairs"] = all_pairs
    if parts:
        settings["parts"] = {part.name: list(part.judges) for part in parts}
    return AgreementResult(
        found=found,
        n_pairs=len(every_pair),
        n_apart=n_apart,
        together=together,
        stacks=stacks,
        stacked=stacked,
        has_intervals=intervals,
        votes=votes,
        options=options,
        parts=parts,
        settings=frozen_settings(**settings),
    )


def _stacks(
    votes: PopulationVotes, options: AgreementOptions, *, leaves_out: bool
) -> tuple[list[PairStack], list[Pair]]:
    """Count the grades of every two judges, or of those alone who share a document."""
    stacks = list(all_pair_stacks(votes, options.level_indices))
    stacked = pairs_of(votes.votes.judges, None)
    if not leaves_out:
        return stacks, stacked
    stacks, kept = sharing_pairs(stacks)
    return stacks, [stacked[number] for number in kept]


def _warn(
    rows: Sequence[Row], n_apart: int, n_topics: int, options: AgreementOptions, *, intervals: bool
) -> None:
    """Say where the numbers stand on little; `n_apart` pairs are in no row."""
    level = rows[-1]["level"] if rows else None
    numbers = [row["n"] for row in people.of_judges(rows, level)]
    few = n_apart + sum(number < people.FEW_DOCUMENTS for number in numbers)
    if few:
        pairs, share = counted(n_apart + len(numbers), "pair"), "shares" if few == 1 else "share"
        words = f"{few:,} of {pairs} {share} fewer than {people.FEW_DOCUMENTS} documents"
        warn(f"{words}: their kappas mean little")
    if intervals and options.kind == "topic" and 1 < n_topics < FEW_TOPICS:
        warn(f"{n_topics} topics: intervals of fewer than {FEW_TOPICS} topics are too narrow")


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
    stacks: list[PairStack]
    """Contingency tables of every two judges; empty against a reference."""
    stacked: list[Pair]
    """The pairs of `stacks`."""
    has_intervals: bool
    """Whether pairs have intervals."""
    votes: PopulationVotes
    """The grades that were measured."""
    options: AgreementOptions
    parts: tuple[JudgePart, ...] = ()
    """Who is measured apart from the others: people, people with models, models; empty = all together."""

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
        names = [one.name for one in pair_columns(by_topic=False) if one.kind == "float"]
        return {name: self._of_pairs(name) for name in names if not name.endswith(("_low", "_high"))}

    @property
    def intervals(self) -> Mapping[str, NDArray[np.float64]]:
        """By coefficient the ends of its intervals, shape (n_levels, n_pairs, 2); NaN = there is none."""
        names = ("kappa", "quadratic", "macro_overlap")
        ends = {name: [self._of_pairs(f"{name}{end}") for end in ("_low", "_high")] for name in names}
        return {name: np.stack(both, axis=-1) for name, both in ends.items()}

    @property
    def all_judges(self) -> Mapping[str, NDArray[np.float64]]:
        """By coefficient of all judges its values, shape (n_levels,); nothing of two judges.

        Where people and models are measured apart, those of the first part; `all_judges` the table has all.
        """
        found: dict[str, NDArray[np.float64]] = {}
        first = self.parts[0].name if self.parts else None
        for row in self._whole(self.together):
            if row.get("part") != first:
                continue
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

    def _whole(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if row.get("topic", "all") == "all"]

    def kinds_of_voters(self) -> Mapping[str, int]:
        """Say nothing of kinds in rows: they are of two judges, or of all that `judges` lists."""
        return {}

    def facts(self) -> Mapping[str, Any]:
        """Return how many pairs share no document and are in no row."""
        return {"pairs_apart": self.n_apart} if self.n_apart else {}

    def _tables(self) -> Iterator[Table]:
        judges = self._judges()
        kinds = self.settings.get("kinds", {})
        yield judges.seen_as(people.judges_view(judges, self.votes, self.options, kinds))
        columns = [*([PART] if self.parts else []), *([TOPIC] if self.options.by_topic else []), *_ALL_JUDGES]
        together = _notes_once([*self._all_views()]) if self.together else []
        yield Table.of_rows("all_judges", columns, self.together).seen_as(*together)
        columns = pair_columns(by_topic=self.options.by_topic, in_parts=bool(self.parts))
        yield Table.of_rows("pairs", columns, self.found).seen_as(*self._pair_views(together))
        stacks, stacked = self.stacks, self.stacked
        if not stacks:
            leaves_out = not self.settings["all_pairs"] and self.n_pairs > MOST_APART
            stacks, stacked = _stacks(self.votes, self.options, leaves_out=leaves_out)
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
        return Table.of_columns("judges", columns)

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

    def _all_views(self) -> Iterator[View]:
        options = self.options
        for part in self.parts or (None,):
            together, skewed = _of_part(self.together, part), people.skewed_levels(_of_part(self.found, part))
            yield _all_view(together, len((part or self).judges), options, skewed=skewed, part=part)
            if options.by_topic and not (part and part.is_across):
                yield _topics_view(together, options, part)

    def _pair_views(self, together: Sequence[View]) -> list[View]:
        options = self.options
        rows: Sequence[Row] = self.found
        if self.n_pairs == 1:
            rows = [row for row in rows if row["first"] != ALL_LABELS]
        rest, n_apart = "", self.n_apart
        if not n_apart and self.n_pairs > MOST_APART:
            rows, n_apart = people.sharing(rows)
        if self.n_pairs - n_apart > MOST_PAIRS and not self.settings["all_pairs"]:
            rows, rest = people.ends_of(rows)
        show = partial(
            self._shown_pairs,
            rows,
            intervals=self.has_intervals,
            reference=self.settings["against"],
            binary=options.has_levels or not rest,
        )
        intervals = []
        if any(map(people.shows_intervals, [*together, *show()])):
            intervals.append(people.interval_line(options))
        if options.kind != "none" and options.by_topic:
            intervals.append("With --by-topic, pairs have no intervals.")
        elif options.kind != "none" and not self.has_intervals:
            intervals.append("Pairs have no intervals here: --interval topic computes them.")
        return show(ending=[people.apart_line(n_apart), *rest.split("\n"), *intervals])

    def _shown_pairs(self, rows: Sequence[Row], *, ending: Sequence[str] = (), **how: Any) -> list[View]:
        """Show pairs, those of each part under a title of its own; `ending` is a note at the end."""
        parts: Sequence[JudgePart | None] = self.parts or (None,)
        views: list[View] = []
        for part in parts:
            who = f"Pairs of {part.name if part else 'judges'}"
            who = "People with models" if part and part.is_across else who
            said = ending if part is parts[-1] else ()
            views += people.pair_views(_of_part(rows, part), self.options, who=who, ending=said, **how)
        return views


def _of_part(rows: Sequence[Row], part: JudgePart | None) -> list[Row]:
    """Return the rows of a part; ``None`` = of all judges together."""
    return [row for row in rows if part is None or row["part"] == part.name]
