"""`pooler agreement`: how far judges agree, all together and pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pooler.cli.agreement_options import (
    SEED,
    AgainstOption,
    AllPairsOption,
    AssumeOption,
    BandsOption,
    ByTopicOption,
    IntervalOption,
    JudgesArgument,
    LevelsOption,
    ManifestOption,
    MattersOption,
    MixturesOption,
    PerGradeOption,
    PlanOption,
    PopulationName,
    PopulationOption,
    ResamplesOption,
    SeedOption,
    TablesOption,
    UnlistedAsOption,
)
from pooler.cli.agreement_settings import (
    Asked,
    check_options,
    chosen_judges,
    flat,
    resolve_levels,
    settings_of,
)
from pooler.cli.console import (
    Cell,
    Column,
    Format,
    Table,
    check_place,
    counted,
    emit,
    warn,
    write_json,
)
from pooler.cli.judged import (
    AggregateOption,
    CollapseOption,
    CutoffOption,
    TiesOption,
    policy_of,
)
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FormatOption,
    OrderName,
    OrderOption,
    RelaxedOption,
    RigidOption,
)
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from pooler.cli.agreement_settings import Pair
    from store.analysis.populations import PopulationVotes
    from store.policy import Policy


def agreement(
    names: JudgesArgument = None,
    level: LevelsOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    population: PopulationOption = PopulationName.COMMON,
    unlisted_as: UnlistedAsOption = None,
    against: AgainstOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    collapse: CollapseOption = None,
    interval: IntervalOption = None,
    resamples: ResamplesOption = 10_000,
    seed: SeedOption = SEED,
    bands: BandsOption = None,
    by_topic: ByTopicOption = False,
    per_grade: PerGradeOption = False,
    tables: TablesOption = False,
    all_pairs: AllPairsOption = False,
    plan: PlanOption = None,
    assume: AssumeOption = None,
    matters: MattersOption = False,
    mixtures: MixturesOption = 1000,
    cutoff: CutoffOption = 1000,
    order: OrderOption = OrderName.TREC,
    manifest: ManifestOption = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Measure how far judges agree: all of them together, and every two of them.

    All together: Krippendorff's alpha and Fleiss' kappa. Two by two: Cohen's kappa, plain and
    quadratic on the declared scale, at every level of relevance, and the overlap of the relevant
    documents; json and tsv have linear kappa, Scott's pi, Bennett's S and Gwet's AC too. A number
    that does not exist is a reason (no-common-docs, one-doc, single-grade, no-relevant,
    one-topic), never 0 or 1.

    Example: pooler agreement --level 1 --by-topic
    """
    from store.collection import Collection

    check_place(manifest)
    policy = policy_of(judge=None, aggregate=aggregate, ties=ties, collapse=collapse)
    check_options(policy, against=against, plan=plan, assume=assume, matters=matters)
    if assume is not None and plan is not None:
        from pooler.cli.agreement_plan import assumed_table

        emit([assumed_table(assume, plan)], fmt)
        return
    with Collection(collection) as opened:
        scale = opened.scale
        all_levels = fmt is not Format.TABLE and not matters
        levels = resolve_levels(
            scale, level or (), rigid=rigid, relaxed=relaxed, all_of_them=all_levels
        )
        if matters and len(levels) > 1:
            if level or rigid or relaxed:
                raise ArgumentError("--level", "must be one with --matters", list(levels))
            levels = levels[:1]
        chosen = chosen_judges(opened, names, against)
        votes = opened.votes(chosen, population=population.value, unlisted_as=unlisted_as)
        ranked = opened.ranked_documents(order=order.value) if matters else None
    asked = Asked(
        scale=scale, levels=levels, kind="topic" if interval is None else interval.value,
        resamples=resamples, seed=seed, bands=None if bands is None else bands.value,
        by_topic=by_topic, has_levels=bool(level) or rigid or relaxed,
    )  # fmt: skip
    judges = votes.votes.judges
    if len(judges) < 2:
        message = f"agreement needs two judges, and there is {', '.join(judges) or 'none'}"
        raise PoolerError(message, hint="pooler judges list; pooler import judgements")
    settings = settings_of(votes, asked, against=against, policy=policy)
    if manifest is not None:
        write_json(manifest, settings)
    if plan is not None:
        from pooler.cli.agreement_plan import pairs_of, plan_for_people, plan_table

        table = plan_table(votes, pairs_of(judges, against), plan, asked)
        emit([plan_for_people(table) if fmt is Format.TABLE else table], fmt)
        return
    if ranked is not None:
        from pooler.cli.agreement_matters import (
            judge_order_of,
            matters_for_people,
            matters_tables,
        )

        if not ranked.tags:
            message = "there is no run in the collection"
            raise PoolerError(message, hint="pooler import runs")
        cut = asked.level_indices[0]
        found = judge_order_of(votes, ranked, level_index=cut, cutoff=cutoff,
                               mixtures=mixtures, seed=seed)  # fmt: skip
        made = matters_tables(found, judges, ranked.tags)
        if fmt is Format.TABLE:
            made = matters_for_people(made, found, levels[0], seed)
        emit(made, fmt)
        return
    _report(votes, asked, settings, fmt, against=against, policy=policy, per_grade=per_grade,
            tables=tables, all_pairs=all_pairs, pairs_too=interval is not None)  # fmt: skip


def _report(
    votes: PopulationVotes,
    asked: Asked,
    settings: dict[str, Any],
    fmt: Format,
    *,
    against: str | None,
    policy: Policy,
    per_grade: bool,
    tables: bool,
    all_pairs: bool,
    pairs_too: bool,
) -> None:
    """Compute the coefficients and show them."""
    from pooler.cli import agreement_people as people
    from pooler.cli import agreement_rows as rows
    from pooler.cli.agreement_against import against_rows
    from pooler.cli.agreement_plan import pairs_of
    from store.analysis.pair_stacks import all_pair_stacks

    judges, topics = votes.votes.judges, votes.votes.topics
    pairs: list[Pair] = pairs_of(judges, against)
    many = len(pairs) > people.MOST_PAIRS
    intervals = asked.kind != "none" and (pairs_too or not many)
    together: list[dict[str, Cell]] = []
    stacks = []
    if against is None or per_grade or tables:
        stacks = all_pair_stacks(votes, asked.level_indices)
    if against is None:
        found = rows.pair_rows(stacks, pairs, topics, asked, intervals=intervals)
        together = rows.judges_rows(votes, asked) if len(judges) > 2 else []
    else:
        others = [first for first, _ in pairs]
        rule = None if policy.rule is None else policy
        found = against_rows(votes, against, others, asked, rule, intervals=intervals)
    extra = []
    every = list(combinations(judges, 2))
    if per_grade:
        extra.append(rows.grade_table(stacks[0], every, asked.scale))
    if tables:
        extra.append(rows.cross_tables(stacks[0], every, asked.scale))
    judge_table = rows.judge_table(votes, asked)
    _warn(found, votes.n_topics, asked, intervals=intervals or bool(together))
    if fmt is not Format.TABLE:
        columns = [Column(name) for name in settings]
        emit(
            [
                Table("settings", columns, [{key: flat(value) for key, value in settings.items()}]),
                judge_table,
                Table("all_judges", rows.judges_columns(by_topic=asked.by_topic), list(together)),
                Table("pairs", rows.pair_columns(by_topic=asked.by_topic), list(found)),
                *extra,
            ],
            fmt,
        )
        return
    shown = [people.judges_for_people(judge_table, votes, asked)]
    if together:
        skewed = people.is_skewed(found)
        shown.append(people.all_for_people(together, len(judges), asked, skewed=skewed))
        if asked.by_topic:
            shown.append(people.topics_for_people(together, asked))
    rest = ""
    of_pairs: Sequence[people.Row] = found
    if many and not all_pairs:
        of_pairs, rest = people.ends_of(found)
    shown += people.pairs_for_people(of_pairs, asked, intervals=intervals,
                                     binary=asked.has_levels or not rest)  # fmt: skip
    line = (
        "" if asked.by_topic and not together else people.interval_line(asked, intervals=intervals)
    )
    ending = (shown[-1].caption, rest, line, *people.code_lines(shown))
    shown[-1].caption = "\n".join(part for part in ending if part)
    emit([*shown, *extra], fmt)


def _warn(rows: Sequence[dict[str, Cell]], n_topics: int, asked: Asked, *, intervals: bool) -> None:
    """Say where the numbers stand on little."""
    from pooler.cli.agreement_people import FEW_DOCUMENTS, is_judge
    from store.analysis.resampling import FEW_TOPICS

    level = rows[-1]["level"] if rows else None
    numbers = [
        row["n"] for row in rows
        if row["level"] == level and row["topic"] == "all" and is_judge(row["first"])
    ]  # fmt: skip
    few = sum(isinstance(number, int) and number < FEW_DOCUMENTS for number in numbers)
    if few:
        share = "shares" if few == 1 else "share"
        warn(f"{few:,} of {counted(len(numbers), 'pair')} {share} fewer than {FEW_DOCUMENTS}"
             " documents: their kappas say little")  # fmt: skip
    if intervals and asked.kind == "topic" and 1 < n_topics < FEW_TOPICS:
        warn(f"{n_topics} topics: intervals of fewer than {FEW_TOPICS} topics are too narrow")
