"""`pooler agreement`: how far judges agree, all together and pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import typer

from pooler.cli.agreement_options import (
    CUTOFF,
    MIXTURES,
    RESAMPLES,
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
    RunFilesOption,
    SeedOption,
    TablesOption,
    UnlistedAsOption,
)
from pooler.cli.agreement_settings import (
    ALL_LABELS,
    Asked,
    check_options,
    check_together,
    fetch_chosen,
    resolve_levels,
    settings_of,
)
from pooler.cli.console import (
    Cell,
    Format,
    check_manifest,
    counted,
    emit,
    say,
    warn,
    write_json,
)
from pooler.cli.judgement_reading import (
    CodeOption,
    ColumnsOption,
    InputOption,
    JudgeColumnOption,
    MapOption,
    Reading,
    RepeatsOption,
    ScaleOption,
    TopicOption,
)
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FormatOption,
    LenientOption,
    OrderName,
    OrderOption,
    RelaxedOption,
    RigidOption,
    RunsOption,
)
from pooler.cli.policy_options import (
    AggregateOption,
    CollapseOption,
    CutoffOption,
    TiesOption,
    names_collection,
    policy_of,
)
from store.errors import ArgumentError

if TYPE_CHECKING:
    from store.analysis.populations import PopulationVotes
    from store.policy import Policy


def agreement(
    ctx: typer.Context,
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
    resamples: ResamplesOption = RESAMPLES,
    seed: SeedOption = SEED,
    bands: BandsOption = None,
    by_topic: ByTopicOption = False,
    per_grade: PerGradeOption = False,
    tables: TablesOption = False,
    all_pairs: AllPairsOption = False,
    plan: PlanOption = None,
    assume: AssumeOption = None,
    matters: MattersOption = False,
    mixtures: MixturesOption = MIXTURES,
    cutoff: CutoffOption = CUTOFF,
    order: OrderOption = OrderName.TREC,
    run_files: RunFilesOption = None,
    listed: RunsOption = None,
    form: InputOption = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    judge_column: JudgeColumnOption = None,
    scale_text: ScaleOption = None,
    codes: CodeOption = None,
    mapped: MapOption = None,
    repeats: RepeatsOption = None,
    lenient: LenientOption = False,
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

    Example: pooler agreement judgements/middle.qrels judgements/strict.qrels --scale 0-2
    """
    from pooler.cli.agreement_sources import Runs, measured
    from pooler.cli.judge_kinds import kind_counts, tell_kinds

    check_manifest(manifest)
    reading = Reading(form=form, columns=columns, topic=topic, judge_column=judge_column,
                      scale=scale_text, codes=codes, mapped=mapped, repeats=repeats,
                      lenient=lenient)  # fmt: skip
    policy = policy_of(judge=None, aggregate=aggregate, ties=ties, collapse=collapse)
    check_options(policy, against=against, plan=plan, assume=assume, matters=matters)
    has_levels = bool(level) or rigid or relaxed
    given = {
        "JUDGE...": bool(names), "--level": bool(level), "--rigid": rigid, "--relaxed": relaxed,
        "--population": population is not PopulationName.COMMON, "--against": against is not None,
        "--unlisted-as": unlisted_as is not None, "--aggregate": aggregate is not None,
        "--interval": interval is not None, "--resamples": resamples != RESAMPLES,
        "--seed": seed != SEED, "--bands": bands is not None, "--by-topic": by_topic,
        "--per-grade": per_grade, "--tables": tables, "--all-pairs": all_pairs,
        "--mixtures": mixtures != MIXTURES, "--cutoff": cutoff != CUTOFF,
        "--order": order is not OrderName.TREC, "--manifest": manifest is not None,
        "--run": bool(run_files), "--runs": listed is not None,
        **{name: bool(value) for name, value in reading.given().items()},
    }  # fmt: skip
    check_together(given, plan=plan is not None, assume=assume is not None, matters=matters)
    if assume is not None and plan is not None:
        from pooler.cli.agreement_plan import assumed_table

        emit([assumed_table(assume, plan)], fmt)
        return
    with measured(
        names or (), reading, Runs(order.value, run_files or (), listed, wanted=matters),
        collection=collection, is_chosen=names_collection(ctx), has_reading=rigid or relaxed,
    ) as source:  # fmt: skip
        scale = source.scale
        all_levels = fmt is not Format.TABLE and not matters
        levels = resolve_levels(
            scale, level or (), rigid=rigid, relaxed=relaxed, all_of_them=all_levels
        )
        if matters and len(levels) > 1:
            if has_levels:
                raise ArgumentError("--level", "must be one with --matters", list(levels))
            levels = levels[:1]
        votes = fetch_chosen(
            source.judged, source.names, against, are_files=source.are_files,
            population=population.value, unlisted_as=unlisted_as,
        )  # fmt: skip
        ranked = source.ranked() if matters else None
        erased = source.erased()
        kinds = kind_counts(source.judged.judges(), votes.votes.judges)
    tell_kinds(kinds, "are measured together")
    asked = Asked(
        scale=scale, levels=levels, kind="topic" if interval is None else interval.value,
        resamples=resamples, seed=seed, bands=None if bands is None else bands.value,
        by_topic=by_topic, has_levels=has_levels,
    )  # fmt: skip
    settings = settings_of(votes, asked, against=against, policy=policy, kinds=kinds)
    if manifest is not None:
        write_json(manifest, settings, private=True)
    if plan is not None:
        from pooler.cli.agreement_plan import pairs_of, plan_for_people, plan_table

        pairs = pairs_of(votes.votes.judges, against)
        table = plan_table(votes, pairs, plan, asked)
        if fmt is Format.TABLE:
            table = plan_for_people(table, reference=against, n_pairs=len(pairs))
        emit([table], fmt)
    elif ranked is not None:
        from pooler.cli.agreement_matters import show_matters

        show_matters(votes, ranked, asked, fmt, cutoff=cutoff, mixtures=mixtures)
    else:
        _report(votes, asked, settings, fmt, against=against, policy=policy, per_grade=per_grade,
                tables=tables, all_pairs=all_pairs, pairs_too=interval is not None,
                kinds=kinds)  # fmt: skip
    if erased:
        say(erased)


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
    kinds: Mapping[str, int],
) -> None:
    """Compute the coefficients and show them."""
    from pooler.cli import agreement_people as people
    from pooler.cli import agreement_words as words
    from pooler.cli.agreement_tables import coefficients, extra_tables, for_programs
    from pooler.cli.agreement_together import all_for_people, topics_for_people

    made = coefficients(votes, asked, against=against, policy=policy, per_grade=per_grade,
                        tables=tables, pairs_too=pairs_too)  # fmt: skip
    pairs, found, together = made.pairs, made.found, made.together
    every = list(combinations(votes.votes.judges, 2))
    extra = extra_tables(made.stacks, every, asked, per_grade=per_grade, tables=tables, every=True)
    of_pairs_shown = made.intervals and not (asked.by_topic and fmt is Format.TABLE)
    _warn(found, votes.n_topics, asked, intervals=of_pairs_shown or bool(together))
    if fmt is not Format.TABLE:
        if len(pairs) > people.MOST_APART and not all_pairs:
            listed, n_apart = people.sharing(found)
            settings |= {"pairs_apart": n_apart} if n_apart else {}
            extra = extra_tables(made.stacks, every, asked, per_grade=per_grade, tables=tables,
                                 every=False)  # fmt: skip
            made = replace(made, found=[dict(row) for row in listed])
        emit(for_programs(made, settings, extra, by_topic=asked.by_topic), fmt)
        return
    shown = [people.judges_for_people(made.judges, votes, asked, kinds)]
    of_pairs: Sequence[words.Row] = found
    n_apart = 0
    if len(pairs) > people.MOST_APART:
        of_pairs, n_apart = people.sharing(found)
        extra = extra_tables(made.stacks, every, asked, per_grade=per_grade, tables=tables,
                             every=False)  # fmt: skip
    if len(pairs) == 1:
        of_pairs = [row for row in of_pairs if row["first"] != ALL_LABELS]
    if together:
        skewed = people.skewed_levels(found)
        shown.append(all_for_people(together, len(votes.votes.judges), asked, skewed=skewed))
        if asked.by_topic:
            shown.append(topics_for_people(together, asked))
    rest = ""
    if len(pairs) - n_apart > people.MOST_PAIRS and not all_pairs:
        of_pairs, rest = people.ends_of(of_pairs)
    shown += people.pairs_for_people(of_pairs, asked, intervals=made.intervals, reference=against,
                                     binary=asked.has_levels or not rest)  # fmt: skip
    has_intervals = any(map(words.shows_intervals, shown))
    of_intervals = [words.interval_line(asked)] if has_intervals else []
    if asked.kind != "none" and asked.by_topic:
        of_intervals.append("No intervals of pairs beside topics: without --by-topic they have"
                            " them.")  # fmt: skip
    elif asked.kind != "none" and not made.intervals:
        of_intervals.append("No intervals of pairs: --interval topic computes them.")
    ending = [people.apart_line(n_apart), rest, *of_intervals, *words.code_lines(shown)]
    shown[-1].caption = words.legend([shown[-1].caption, *ending])
    for table in extra:
        if not any(row.get("reason") for row in table.rows):
            table.columns = [column for column in table.columns if column.name != "reason"]
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
