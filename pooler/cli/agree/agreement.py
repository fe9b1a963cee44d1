"""Agreement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import check_manifest, emit, erased_words, write_json
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AggregateOption,
    CodeOption,
    CollapseOption,
    CollectionOption,
    ColumnsOption,
    CutoffOption,
    FormatOption,
    InputOption,
    JudgeColumnOption,
    LenientOption,
    MapOption,
    OrderName,
    OrderOption,
    RelaxedOption,
    RepeatsOption,
    RigidOption,
    RunsOption,
    ScaleOption,
    TiesOption,
    TopicOption,
    policy_of,
)
from pooler.results.agree.settings import (
    ALL_LABELS,
    Asked,
    check_options,
    check_together,
    fetch_chosen,
    resolve_levels,
    settings_of,
)
from pooler.results.judgement_files import STDIN, Reading, fill, is_file, read_files, scale_of
from pooler.results.printed import Cell, Format
from pooler.results.source import entries_of, names_collection, read_entry
from pooler.telling import progress, say, warn
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pooler.results.agree.settings import Judged
    from store.analysis.agreement.populations import PopulationVotes
    from store.analysis.arrays import RankedDocuments
    from store.grades.policy import Policy
    from store.ranking import Order
    from store.records import Run, Scale

SEED = 1
RESAMPLES = 10_000
MIXTURES = 1000
CUTOFF = 1000


class PopulationName(StrEnum):
    """The populations of `store.analysis.agreement.populations`."""

    COMMON = "common"
    LISTED = "listed"
    POOLED = "pooled"
    COLLECTION = "collection"


class IntervalName(StrEnum):
    """The intervals of `store.analysis.agreement.tables`."""

    TOPIC = "topic"
    ITEM = "item"
    ASYMPTOTIC = "asymptotic"
    NONE = "none"


class BandsName(StrEnum):
    """The lists of words of `store.analysis.agreement.kappa`."""

    LANDIS_KOCH = "landis-koch"
    IR_BOOK = "ir-book"
    KRIPPENDORFF = "krippendorff"


JudgesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="JUDGE|FILE...",
        help="Two or more judges; default all who graded, but for adjudicators. Or files, without"
        " a collection: each holds the judgements of one judge, named as the file, or NAME=FILE.",
    ),
]
LevelsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--level",
        help="Least grade that counts as relevant; may be repeated.  [default: the relaxed and"
        " the rigid level; for json and tsv all]",
        show_default=False,
    ),
]
PopulationOption = Annotated[
    PopulationName,
    typer.Option(
        "--population",
        help="Documents to measure over: graded by two judges (common), by any (listed), in a"
        " pool (pooled; of files: in any line of them), or all of the collection.",
    ),
]
UnlistedAsOption = Annotated[
    int | None,
    typer.Option(
        "--unlisted-as",
        metavar="GRADE",
        help="Take documents of the population that a judge has not judged as this grade;"
        " never those skipped.",
        show_default=False,
    ),
]
AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="JUDGE",
        help="Compare every other judge, and all their labels together, with this one.",
        show_default=False,
    ),
]
IntervalOption = Annotated[
    IntervalName | None,
    typer.Option(
        "--interval",
        help="95 % intervals: from resampled topics or documents, from standard errors, none."
        "  [default: topic; none for pairs when there are more than 66]",
        show_default=False,
    ),
]
ResamplesOption = Annotated[
    int, typer.Option("--resamples", min=100, max=1_000_000, help="Of topics or documents.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Of resamples and mixtures.")]
BandsOption = Annotated[
    BandsName | None,
    typer.Option("--bands", help="Add words for kappa and alpha, by their author.", show_default=False),
]
ByTopicOption = Annotated[bool, typer.Option("--by-topic", help="One row a topic, too.")]
PerGradeOption = Annotated[bool, typer.Option("--per-grade", help="The agreement on each grade, too.")]
TablesOption = Annotated[bool, typer.Option("--tables", help="The cross table of grades of every pair, too.")]
AllPairsOption = Annotated[
    bool,
    typer.Option(
        "--all-pairs",
        help="Show more than 66 pairs in full; json and tsv list pairs that share no document, too,"
        " which of more than 10 pairs are a number (pairs_apart) otherwise.",
    ),
]
PlanOption = Annotated[
    float | None,
    typer.Option(
        "--plan",
        metavar="WIDTH",
        help="Instead, say how many documents judges must share for an interval this wide.",
        show_default=False,
    ),
]
AssumeOption = Annotated[
    str | None,
    typer.Option(
        "--assume",
        metavar="KAPPA,SHARE",
        help="With --plan, before anything is judged: the kappa and the share of relevant"
        " documents to expect.",
        show_default=False,
    ),
]
MattersOption = Annotated[
    bool, typer.Option("--matters", help="Instead, compare the order of the runs under different judges.")
]
MixturesOption = Annotated[
    int, typer.Option("--mixtures", min=1, help="With --matters: random mixtures of judges.")
]
RunFilesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        metavar="FILE",
        help="With --matters and files of judgements: a run file; may be repeated.",
        show_default=False,
    ),
]
ManifestOption = Annotated[
    str | None,
    typer.Option("--manifest", metavar="FILE", help="Write the settings here, as JSON.", show_default=False),
]


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
    from pooler.results.judge_kinds import tell_kinds
    from store.judging.kinds import kind_counts

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
        from pooler.results.agree.sharing import assumed_table

        emit([assumed_table(assume, plan)], fmt)
        return
    with measured(
        names or (), reading, Runs(order.value, run_files or (), listed, wanted=matters),
        collection=collection, is_chosen=names_collection(ctx), has_reading=rigid or relaxed,
    ) as source:  # fmt: skip
        scale = source.scale
        all_levels = fmt is not Format.TABLE and not matters
        levels = resolve_levels(scale, level or (), rigid=rigid, relaxed=relaxed, all_of_them=all_levels)
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
        from pooler.results.agree.sharing import pairs_of, plan_for_people, plan_table

        pairs = pairs_of(votes.votes.judges, against)
        table = plan_table(votes, pairs, plan, asked)
        if fmt is Format.TABLE:
            table = plan_for_people(table, reference=against, n_pairs=len(pairs))
        emit([table], fmt)
    elif ranked is not None:
        from pooler.cli.agree.matters import show_matters

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
    from pooler.results.agree import people
    from pooler.results.agree import people as words
    from pooler.results.agree.agreement import (
        all_for_people,
        coefficients,
        extra_tables,
        for_programs,
        topics_for_people,
    )

    made = coefficients(votes, asked, against=against, policy=policy, per_grade=per_grade,
                        tables=tables, pairs_too=pairs_too,
                        all_pairs=all_pairs and fmt is not Format.TABLE)  # fmt: skip
    pairs, found, together, n_apart = made.pairs, made.found, made.together, made.n_apart
    extra = extra_tables(made, asked, per_grade=per_grade, tables=tables)
    of_pairs_shown = made.intervals and not (asked.by_topic and fmt is Format.TABLE)
    _warn(found, n_apart, votes.n_topics, asked, intervals=of_pairs_shown or bool(together))
    if fmt is not Format.TABLE:
        settings |= {"pairs_apart": n_apart} if n_apart else {}
        emit(for_programs(made, settings, extra, by_topic=asked.by_topic), fmt)
        return
    shown = [people.judges_for_people(made.judges, votes, asked, kinds)]
    of_pairs: Sequence[words.Row] = found
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


def _warn(
    rows: Sequence[dict[str, Cell]], n_apart: int, n_topics: int, asked: Asked, *, intervals: bool
) -> None:
    """Say where the numbers stand on little; `n_apart` pairs are in no row."""
    from pooler.results.agree.people import FEW_DOCUMENTS, is_judge
    from store.analysis.agreement.intervals import FEW_TOPICS

    level = rows[-1]["level"] if rows else None
    numbers = [
        row["n"] for row in rows
        if row["level"] == level and row["topic"] == "all" and is_judge(row["first"])
    ]  # fmt: skip
    few = n_apart + sum(isinstance(number, int) and number < FEW_DOCUMENTS for number in numbers)
    if few:
        share = "shares" if few == 1 else "share"
        pairs = counted(n_apart + len(numbers), "pair")
        warn(f"{few:,} of {pairs} {share} fewer than {FEW_DOCUMENTS} documents: their kappas say"
             " little")  # fmt: skip
    if intervals and asked.kind == "topic" and 1 < n_topics < FEW_TOPICS:
        warn(f"{n_topics} topics: intervals of fewer than {FEW_TOPICS} topics are too narrow")


@dataclass(frozen=True, slots=True)
class Runs:
    """What is said of the runs whose order is compared."""

    order: Order
    files: Sequence[str]
    listed: str | None
    """A list of run files."""
    wanted: bool


@dataclass(frozen=True, slots=True)
class Source:
    """Where judgements come from, and runs."""

    judged: Judged
    scale: Scale
    ranked: Callable[[], RankedDocuments]
    names: Sequence[str] | None
    """Judges that were asked for; ``None`` = all."""
    are_files: bool
    erased: Callable[[], str] = str
    """Says how much of erased judges is gone; empty where nothing is."""


@contextmanager
def measured(
    names: Sequence[str], reading: Reading, runs: Runs, *, collection: str, is_chosen: bool, has_reading: bool
) -> Iterator[Source]:
    """Open the collection, or read the files.

    Parameters
    ----------
    names : sequence of str
        The arguments: judges or files.
    reading : Reading
        How files are read.
    runs : Runs
        Which runs, where their order is wanted.
    collection : str
        Its file or URL.
    is_chosen : bool
        Whether it was named on the command line.
    has_reading : bool
        Whether rigid or relaxed relevance is asked for, which a declared scale alone tells.

    Raises
    ------
    ArgumentError, PoolerError
        If options are of the one way and arguments of the other, or are at fault in themselves.
    """
    if _are_files(names, collection, is_chosen=is_chosen):
        yield _from_files(names, reading, runs, has_reading=has_reading)
        return
    reading.refuse()
    for option, value in (("--run", runs.files), ("--runs", runs.listed)):
        if value:
            requirement = "is for files; a collection has runs of its own"
            raise ArgumentError(option, requirement, str(value))
    _check_there(names, collection)
    from store.collection import Collection

    with Collection(collection) as opened:
        yield Source(opened.grades, opened.scale, lambda: opened.runs.ranked(order=runs.order),
                     names or None, are_files=False,
                     erased=lambda: erased_words(opened))  # fmt: skip


def _are_files(names: Sequence[str], collection: str, *, is_chosen: bool) -> bool:
    """Say whether arguments are files; refuse those that may be judges as well."""
    if is_chosen:
        return False
    found = [name for name in names if _is_named_file(name)]
    if not found:
        return False
    others = [name for name in names if name not in found]
    if others:
        message = f"{others[0]} is no file, and {found[0]} is one"
        hint = f"name files alone; --collection {collection} says that they are judges"
        raise PoolerError(message, hint=hint)
    words = [name for name in found if Path(name).name == name and not _has_file_shape(name)]
    if words and _is_there(collection):
        message = f"`{words[0]}` may be a judge of {collection} or a file"
        hint = f"./{words[0]} is the file; --collection {collection} says that they are judges"
        raise PoolerError(message, hint=hint)
    return True


def _is_named_file(name: str) -> bool:
    """Say whether an argument is a file or ``NAME=FILE``."""
    _, sign, file = name.partition("=")
    return is_file(name) or (bool(sign) and is_file(file))


def _has_file_shape(name: str) -> bool:
    """Say whether a word looks like the name of a file rather than that of a judge."""
    return name == STDIN or "=" in name or bool(Path(name).suffix)


def _is_there(collection: str) -> bool:
    """Say whether there is a collection; a URL is believed."""
    return "://" in collection or Path(collection).exists()


def _check_there(names: Sequence[str], collection: str) -> None:
    """Raise `PoolerError` where an argument is no file and there is nothing else it could be."""
    if names and collection == DEFAULT_COLLECTION and not _is_there(collection):
        message = f"{names[0]}: there is no such file, and no {collection} with judges either"
        raise PoolerError(message, hint="name files of judgements; or pooler init")


def _from_files(names: Sequence[str], reading: Reading, runs: Runs, *, has_reading: bool) -> Source:
    """Read files of judgements, and runs where they are wanted."""
    from store.analysis.arrays import RankedDocuments, ranked_documents
    from store.grades.file_votes import FileVotes

    if has_reading and reading.scale is None:
        hint = "--scale 0-3 declares it; or --level N"
        raise ArgumentError("--rigid", "and --relaxed need a declared scale", None, hint=hint)
    ranked = RankedDocuments((), {}, {}, {})
    if runs.wanted:
        entries = entries_of(runs.files, runs.listed)
        if not entries:
            message = "--matters compares the order of runs, and no run is named"
            raise PoolerError(message, hint="--run FILE, once for each; or --runs LIST")

        def read() -> Iterator[Run]:
            with progress("runs", len(entries)) as advance:
                for entry in entries:
                    yield read_entry(entry, lenient=reading.lenient)
                    advance(1)

        ranked = ranked_documents(read(), order=runs.order)
    votes = FileVotes(ranked.ids)
    files = read_files(names, reading, votes)
    scale = scale_of(files, reading)
    fill(votes, files, scale, reading)
    return Source(votes, scale, lambda: ranked, None, are_files=True)
