"""`pooler collapse`: files of graded judgements to binary qrels, without a collection."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.options import (
    AggregateOption,
    CodeOption,
    CollapseOption,
    ColumnsOption,
    InputOption,
    JudgeColumnOption,
    JudgeOption,
    LenientOption,
    MapOption,
    OfOption,
    RelaxedOption,
    RepeatsOption,
    RigidOption,
    ScaleOption,
    TiesOption,
    TopicOption,
    policy_of,
)
from pooler.cli.qrels_files import (
    GradedOption,
    ManifestOption,
    QrelsLevelsOption,
    QrelsOutOption,
    UnjudgedOption,
    check_files,
    write_files,
)
from pooler.results.judgement_files import Reading
from pooler.results.source import Source
from store.errors import PoolerError


def collapse(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Qrels files, each of one judge, named as the file, or NAME=FILE; - is stdin.",
        ),
    ],
    out: QrelsOutOption = None,
    level: QrelsLevelsOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    graded: GradedOption = False,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    collapse_: CollapseOption = None,
    of: OfOption = None,
    without_rulings: Annotated[
        bool,
        typer.Option(
            "--without-rulings",
            help="Leave adjudicators out, whom jsonl and tsv files may name: what their rulings"
            " decide, a collection knows.",
        ),
    ] = False,
    unjudged: UnjudgedOption = None,
    scale_text: ScaleOption = None,
    codes: CodeOption = None,
    mapped: MapOption = None,
    repeats: RepeatsOption = None,
    form: InputOption = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    judge_column: JudgeColumnOption = None,
    lenient: LenientOption = False,
    manifest: ManifestOption = None,
) -> None:
    """Make one binary qrels file of graded ones, or of several judges'.

    Grades from the level on become 1, the others 0. Documents that a file lists as pooled and not
    judged (--code -1=unjudged), skipped and unjudgeable ones are left out and counted; none becomes
    grade 0. Needs no collection.

    Example: pooler collapse judgements/strict.qrels --level 2 --out strict-2.qrels

    Example: pooler collapse judgements/*.qrels --level 1 --aggregate majority --ties low
    """
    from pooler.results.agree.aggregate import qrels_at, tell_qrels

    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, collapse=collapse_, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    reading = Reading(form=form, columns=columns, topic=topic, judge_column=judge_column,
                      scale=scale_text, codes=codes, mapped=mapped, repeats=repeats,
                      lenient=lenient)  # fmt: skip
    if not (level or graded or rigid or relaxed):
        message = "from which grade on is a document relevant?"
        hint = "--level N, or --rigid or --relaxed of a --scale; --graded keeps the grades"
        raise PoolerError(message, hint=hint)
    made = qrels_at(
        Source(judgements=files, reading=reading), policy, levels=level or (), rigid=rigid, relaxed=relaxed,
        graded=graded, unjudged=unjudged, check=lambda wanted: check_files(wanted, out, manifest),
    )  # fmt: skip
    write_files(made, out, manifest)
    tell_qrels(made)
