"""`pooler evaluate`: measures of runs, per topic and on average."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import Column, Format, Table, emit, say
from pooler.cli.judged import (
    AggregateOption,
    CollapseOption,
    CutoffOption,
    FileRunsOption,
    FileScaleOption,
    JudgeOption,
    OfOption,
    QrelsOption,
    TiesOption,
    WithoutRulingsOption,
    check_way,
    load_judged,
    policy_of,
)
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FormatOption,
    LenientOption,
    LevelOption,
    OrderName,
    OrderOption,
    RelaxedOption,
    RigidOption,
)
from store.errors import UnknownNameError

MEASURES = ("AP",)


def evaluate(
    ctx: typer.Context,
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Run tags (default all), or files with --qrels."),
    ] = None,
    measures: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="AP.", show_default="AP")
    ] = None,
    by_topic: Annotated[
        bool, typer.Option("--by-topic", "-q", help="One row a topic, too.")
    ] = False,
    qrels: QrelsOption = None,
    listed: FileRunsOption = None,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    collapse: CollapseOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    level: LevelOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    cutoff: CutoffOption = 1000,
    order: OrderOption = OrderName.TREC,
    scale: FileScaleOption = None,
    lenient: LenientOption = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Measure runs. The mean is over the judged topics that have a relevant document.

    A run without one of those topics scores 0 there, as with trec_eval -c. R counts every relevant
    document of the topic, retrieved or not. A topic without a relevant document has no AP.

    Example: pooler evaluate -m AP --judge alice

    Example: pooler evaluate --qrels judgements/strict.qrels runs/bm25-words.run --by-topic
    """
    from store.analysis.average_precision import average_precision, mean_average_precision
    from store.arrays import judged_arrays

    for measure in measures or ["AP"]:
        if measure not in MEASURES:
            raise UnknownNameError("measure", measure, MEASURES)
    check_way(ctx, qrels=qrels, scale=scale, collection=collection, listed=listed)
    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, collapse=collapse, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    judged = load_judged(
        runs or [], qrels=qrels, collection=collection, policy=policy, level=level, rigid=rigid,
        relaxed=relaxed, order=order.value, lenient=lenient, scale=scale,
        listed=listed,
    )  # fmt: skip
    arrays = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=cutoff)
    scores = average_precision(arrays.relevant(), arrays.n_relevant[None, :])
    means, n_topics = mean_average_precision(scores)
    missing = (arrays.lengths == 0).sum(axis=1)
    columns = [
        Column("run"), Column("topic"), Column("measure"), Column("value"), Column("reason"),
        Column("topics"), Column("missing"),
    ]  # fmt: skip
    if not by_topic:
        columns = [column for column in columns if column.name != "topic"]
    if not (n_topics == 0).any() and not (by_topic and (arrays.n_relevant == 0).any()):
        columns = [
            column for column in columns if column.name != "reason" or fmt is not Format.TABLE
        ]
    table = Table("measures", columns)
    for index, tag in enumerate(arrays.tags):
        if by_topic:
            for place, topic in enumerate(arrays.topics):
                defined = arrays.n_relevant[place] > 0
                value = float(scores[index, place]) if defined else None
                table.rows.append({"run": tag, "topic": topic, "measure": "AP", "value": value,
                                   "reason": None if defined else "no-relevant"})  # fmt: skip
        count = int(n_topics[index])
        table.rows.append({
            "run": tag, "topic": "all", "measure": "AP",
            "value": float(means[index]) if count else None,
            "reason": None if count else "no-relevant",
            "topics": count, "missing": int(missing[index]),
        })  # fmt: skip
    without = int((arrays.n_relevant == 0).sum())
    if without:
        say(f"{without} of {len(arrays.topics)} judged topics have no relevant document, so no AP")
    emit([table], fmt)
