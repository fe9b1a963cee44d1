"""`pooler collapse`: files of graded judgements to binary qrels, without a collection."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

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
)
from pooler.results.judgement_files import Reading
from store.errors import ArgumentError, PoolerError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pooler.results.judgement_files import JudgedFile
    from store.grades.policy import Policy
    from store.records import Judge


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
    from pooler.cli.qrels_files import check_files, make_files, policies_at, tell_files, write_files
    from pooler.results.judgement_files import decode, read_files, scale_of, tell
    from store.analysis.collapse import levels_of
    from store.grades.opinions import gather

    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, collapse=collapse_, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    reading = Reading(form=form, columns=columns, topic=topic, judge_column=judge_column,
                      scale=scale_text, codes=codes, mapped=mapped, repeats=repeats,
                      lenient=lenient)  # fmt: skip
    _check_levels(reading, has_level=bool(level) or graded, has_reading=rigid or relaxed)
    found = read_files(files, reading)
    is_sum = policy.rule == "sum"
    scale = scale_of(found, reading, () if is_sum else level or ())
    wanted = levels_of(scale, levels=level or (), rigid=rigid, relaxed=relaxed, graded=graded,
                       sums=is_sum)  # fmt: skip
    check_files(wanted, scale, out=out, manifest=manifest, unjudged=unjudged)
    policies = policies_at(policy, wanted)
    for one in (policies[0], policies[-1]):
        one.check()
        one.check_scale(scale)
    decode(found, scale, reading)
    judges = _judges(found)
    adjudicators = _check_judges(judges, policy)
    judgements = [one for file in found for one in file.judgements]
    _check_any(found)
    ballots = gather(judgements, scale, policies[-1], adjudicators=adjudicators)
    rounds = {pair: iteration for file in found for pair, iteration in file.listed.items()}
    made = make_files(ballots, policies, rounds, unjudged=unjudged)
    tell(found)
    write_files(made, judges, scale, {"files": _origins(found)}, out=out, manifest=manifest)
    tell_files(made, ballots, judges, has_collection=False)


def _check_levels(reading: Reading, *, has_level: bool, has_reading: bool) -> None:
    """Refuse to guess what is relevant."""
    if has_reading and reading.scale is None:
        hint = "--scale 0-3 or --scale ntcir declares it; or --level N"
        raise ArgumentError("--rigid", "and --relaxed need a declared scale", None, hint=hint)
    if not (has_level or has_reading):
        message = "from which grade on is a document relevant?"
        hint = "--level N, or --rigid or --relaxed of a --scale; --graded keeps the grades"
        raise PoolerError(message, hint=hint)


def _judges(files: Sequence[JudgedFile]) -> list[Judge]:
    """Return every judge of the files, by name."""
    from store.records import Judge, JudgeKind

    kinds: dict[str, JudgeKind] = {}
    for file in files:
        names = {one.judge for one in file.judgements}
        names |= set() if file.named.judge is None else {file.named.judge}
        kinds |= {name: file.kinds.get(name, JudgeKind.IMPORTED) for name in names}
    return [Judge(name, kinds[name]) for name in sorted(kinds)]


def _check_judges(judges: Sequence[Judge], policy: Policy) -> set[str]:
    """Refuse judges whom no file names; return the adjudicators, whose rulings files cannot say."""
    from store.records import JudgeKind

    known = [one.name for one in judges]
    for name in (*policy.of, *([] if policy.judge is None else [policy.judge])):
        if name not in known:
            raise UnknownNameError("judge", name, known)
    adjudicators = {one.name for one in judges if one.kind is JudgeKind.ADJUDICATOR}
    for name in policy.of:
        if name in adjudicators:
            hint = "an adjudicator's rulings count, and are no votes"
            raise ArgumentError("--of", "must be judges, not adjudicators", name, hint=hint)
    if adjudicators and policy.rulings and policy.judge is None:
        message = f"{', '.join(sorted(adjudicators))} made rulings, and which of them stand only"
        message += " a collection knows"
        hint = "pooler import judgements and export qrels; --without-rulings leaves them out"
        raise PoolerError(message, hint=hint)
    return adjudicators


def _check_any(files: Sequence[JudgedFile]) -> None:
    """Refuse files in which nobody judged anything."""
    from store.records import State

    states = {one.state for file in files for one in file.judgements}
    if State.JUDGED not in states:
        names = ", ".join(file.named.file for file in files)
        message = f"{names}: nothing is judged here"
        raise PoolerError(message)


def _origins(files: Sequence[JudgedFile]) -> list[dict[str, Any]]:
    """Say for a manifest which files the judgements are from."""
    return [
        {
            "file": PurePath(one.named.file).name,
            "judge": one.named.judge,
            "sha256": None if one.source is None else one.source.sha256,
        }
        for one in files
    ]
