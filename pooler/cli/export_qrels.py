"""`pooler export qrels`: one grade a document, for evaluators."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import check_out, counted, say, write_json, write_lines
from pooler.cli.judged import (
    AggregateOption,
    CollapseOption,
    JudgeOption,
    OfOption,
    TiesOption,
    WithoutRulingsOption,
    policy_of,
)
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, RelaxedOption, RigidOption
from store.errors import ArgumentError

if TYPE_CHECKING:
    from store.ballots import Ballots
    from store.collection import Collection
    from store.final_qrels import FinalQrels
    from store.flips import Flip
    from store.records import Qrel

_LEVEL = "{level}"
"""What stands in a file name for the level."""


@dataclass(frozen=True, slots=True)
class _File:
    """One file of qrels, ready to be written."""

    level: int | None
    final: FinalQrels
    flips: list[Flip]
    by_grade: Counter[int]
    text: str


def qrels(
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Default stdout. {level} in it becomes graded, 1, 2, ...",
        ),
    ] = None,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    collapse: CollapseOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    levels: Annotated[
        list[int] | None,
        typer.Option(
            "--level",
            metavar="N",
            help="Least grade (or sum of grades) that counts as relevant: 0 and 1 are written; may"
            " be repeated, with {level} in --out.",
            show_default=False,
        ),
    ] = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    graded: Annotated[
        bool, typer.Option("--graded", help="Write the grades, too, beside binary qrels.")
    ] = False,
    unjudged: Annotated[
        int | None,
        typer.Option(
            "--unjudged",
            metavar="CODE",
            help="Also write pooled documents that nobody looked at, with this code (as -1).",
            show_default=False,
        ),
    ] = None,
    manifest: Annotated[
        str | None,
        typer.Option("--manifest", metavar="FILE", help="Default: the file, .manifest.json added."),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write qrels (topic iteration docno grade): graded, or binary at a level, or several of them.

    Skipped and unjudgeable documents are left out and counted; none becomes grade 0. An
    adjudicator's ruling is the grade wherever one stands, whatever the rule.

    Example: pooler export qrels --aggregate majority --ties low --out qrels.txt
    """
    from store.analysis.collapse import levels_of
    from store.collection import Collection
    from store.final_qrels import decide
    from store.flips import flips_of
    from store.records import Qrel

    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, collapse=collapse, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    with Collection(collection) as opened:
        scale = opened.scale
        wanted = levels_of(
            scale, levels=levels or (), rigid=rigid, relaxed=relaxed, graded=graded,
            sums=policy.rule == "sum",
        )  # fmt: skip
        _check_names(wanted, out, manifest)
        _check_code(unjudged, scale.values if None in wanted else ())
        policies = [replace(policy, level=level) for level in wanted]
        if len(wanted) > 1 and wanted[0] is None:
            # Grades are not collapsed, whatever is said of the binary files beside them.
            policies[0] = replace(policies[0], collapse="after")
        ballots = opened.ballots(policies[-1])
        rounds = opened.pooled_rounds()
        files = []
        # Beside binary files the graded one need not say how relevance would change.
        at_levels = scale.values[1:] if len(wanted) == 1 else ()
        for one in policies:
            final = decide(ballots, one)
            flips = flips_of(ballots, one, at_levels)
            by_grade = Counter(row.grade for row in final.rows)
            # Skipped, unjudgeable and tied documents are no unjudged ones.
            open_pairs = rounds.keys() - final.pairs - final.left_out.keys()
            rows = list(final.rows)
            if unjudged is not None:
                rows += [Qrel(*pair, unjudged, rounds[pair]) for pair in open_pairs]
            files.append(_File(one.level, final, flips, by_grade, _text(rows)))
        facts = [_manifest(opened, file, unjudged, len(open_pairs)) for file in files]
    for file, entries in zip(files, facts, strict=True):
        path = _path(out, file.level)
        write_lines(path, file.text.splitlines(), manifest=_path(manifest, file.level))
        if manifest is not None or path not in (None, "-"):
            write_json(_path(manifest, file.level) or f"{path}.manifest.json", entries)
    _report(files, ballots, len(open_pairs), unjudged)


def _check_names(wanted: Sequence[int | None], out: str | None, manifest: str | None) -> None:
    """Raise `ArgumentError` when several files would have one name, or a file has no place."""
    if len(wanted) > 1:
        known = ", ".join(map(_name, wanted))
        for name, path in (("--out", out), ("--manifest", manifest)):
            if _LEVEL not in (path or "") and (name == "--out" or path is not None):
                requirement = f"must contain {_LEVEL} where {len(wanted)} files are written"
                hint = f"as in --out qrels.{_LEVEL}.txt: {_LEVEL} becomes {known}"
                raise ArgumentError(name, requirement, path, hint=hint)
    for level in wanted:
        check_out(_path(out, level), _path(manifest, level))


def _path(template: str | None, level: int | None) -> str | None:
    """Put the level into the name of a file."""
    return None if template is None else template.replace(_LEVEL, _name(level))


def _name(level: int | None) -> str:
    """Say what stands for `{level}`."""
    return "graded" if level is None else str(level)


def _check_code(unjudged: int | None, grades: Sequence[int]) -> None:
    """Raise `ArgumentError` for a code of unjudged documents that evaluators would misread."""
    if unjudged is not None and (unjudged >= 0 or unjudged in grades):
        # Evaluators take a code above 0 for relevant.
        requirement = "must be a negative code that is no grade of the scale"
        raise ArgumentError("--unjudged", requirement, unjudged)


def _text(rows: Sequence[Qrel]) -> str:
    """Return the bytes of a file of qrels."""
    from store.formats.qrels import write_qrels

    buffer = io.StringIO()
    write_qrels(rows, buffer)
    return buffer.getvalue()


def _manifest(opened: Collection, file: _File, unjudged: int | None, n_open: int) -> dict[str, Any]:
    """Say what was exported and how; no times, so that equal qrels have equal manifests."""
    from pooler import __version__
    from pooler.cli.policy_report import policy_facts
    from store.scale import scale_to_json

    final = file.final
    return {
        "tool": "pooler",
        "version": __version__,
        "collection": opened.name,
        "scale": scale_to_json(opened.scale),
        **policy_facts(opened, final, file.flips),
        "topics": len({row.topic for row in final.rows}),
        "judged": len(final.rows),
        "by_grade": {str(grade): count for grade, count in sorted(file.by_grade.items())},
        "left_out": {
            "tied_unresolved": final.count_left_out("tied"),
            "skipped": final.count_left_out("skipped"),
            "cannot_be_judged": final.count_left_out("cannot"),
        },
        "pooled_and_unjudged": n_open,
        "unjudged_code": unjudged,
        "mixed_iterations": final.n_mixed_iterations,
        "sha256": hashlib.sha256(file.text.encode()).hexdigest(),
    }


def _report(files: Sequence[_File], ballots: Ballots, n_open: int, unjudged: int | None) -> None:
    """Say on stderr what was written and what was not."""
    from pooler.cli.policy_report import (
        tell_decisions,
        tell_few_votes,
        tell_rulings,
        tell_tied,
        who_judged,
    )

    for file in files:
        final = file.final
        grades = ", ".join(f"{count:,} x {one}" for one, count in sorted(file.by_grade.items()))
        label = "" if len(files) == 1 else f"{_name(file.level)}: "
        n_judged = counted(len(final.rows), "document")
        say(f"{label}{n_judged} judged ({grades}); {who_judged(final, ballots)}")
        tell_decisions(final, file.flips)
        tell_few_votes(final)
    tell_tied([file.final for file in files])
    final = files[0].final
    tell_rulings(final)
    skipped, cannot = (final.count_left_out(reason) for reason in ("skipped", "cannot"))
    if skipped or cannot:
        say(f"left out: {skipped:,} skipped, {cannot:,} cannot be judged")
    if n_open:
        how = "left out" if unjudged is None else f"written with code {unjudged}"
        say(f"pooled and unjudged: {counted(n_open, 'document')}, {how}")
    if final.n_mixed_iterations:
        n_mixed = counted(final.n_mixed_iterations, "document")
        say(f"judged in different rounds: {n_mixed}, iteration 0")
