"""Files of qrels that a policy makes of votes: graded, or binary at levels."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import check_out, write_json, write_lines
from pooler.telling import say, warn
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from store.grades.opinions import Ballots
    from store.grades.policy import Policy
    from store.grades.qrels import FinalQrels, Flip
    from store.records import Judge, Qrel, Scale

LEVEL = "{level}"
"""What stands in a file name for the level."""

Pair = tuple[str, str]
"""Topic and docno."""

QrelsOutOption = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Default stdout. {level} in it becomes graded, 1, 2, ..."
    ),
]
QrelsLevelsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--level",
        metavar="N",
        help="Least grade (or sum of grades) that counts as relevant: 0 and 1 are written; may"
        " be repeated, with {level} in --out.",
        show_default=False,
    ),
]
GradedOption = Annotated[bool, typer.Option("--graded", help="Write the grades, too, beside binary qrels.")]
UnjudgedOption = Annotated[
    int | None,
    typer.Option(
        "--unjudged",
        metavar="CODE",
        help="Also write pooled documents that nobody looked at, with this code (as -1).",
        show_default=False,
    ),
]
ManifestOption = Annotated[
    str | None, typer.Option("--manifest", metavar="FILE", help="Default: the file, .manifest.json added.")
]


@dataclass(frozen=True, slots=True)
class QrelsText:
    """One file of qrels, ready to be written."""

    level: int | None
    """``None`` = graded."""
    final: FinalQrels
    flips: list[Flip]
    by_grade: Counter[int]
    text: str


@dataclass(frozen=True, slots=True)
class QrelsTexts:
    """Every file that was asked for."""

    files: list[QrelsText]
    n_open: int
    """Documents pooled that nobody looked at."""
    unjudged: int | None
    """The code they are written with; ``None`` = they are left out."""


def check_files(
    wanted: Sequence[int | None], scale: Scale, *, out: str | None, manifest: str | None, unjudged: int | None
) -> None:
    """Refuse names and codes before any work.

    Parameters
    ----------
    wanted : sequence of int or None
        Levels of the files; ``None`` = graded.
    scale : Scale
        The declared grades.
    out, manifest : str or None
        Where files go; `LEVEL` stands for the level.
    unjudged : int or None
        The code of pooled documents that nobody looked at.

    Raises
    ------
    ArgumentError
        If several files would have one name, or evaluators would misread the code.
    PoolerError
        If a file cannot be written, or is no earlier result.
    """
    if len(wanted) > 1:
        known = ", ".join(map(level_word, wanted))
        for name, path in (("--out", out), ("--manifest", manifest)):
            if LEVEL not in (path or "") and (name == "--out" or path is not None):
                requirement = f"must contain {LEVEL} where {len(wanted)} files are written"
                hint = f"as in --out qrels.{LEVEL}.txt: {LEVEL} becomes {known}"
                raise ArgumentError(name, requirement, path, hint=hint)
    for level in wanted:
        check_out(path_at(out, level), path_at(manifest, level))
    grades = scale.values if None in wanted else ()
    if unjudged is not None and (unjudged >= 0 or unjudged in grades):
        # Evaluators take a code above 0 for relevant.
        requirement = "must be a negative code that is no grade of the scale"
        raise ArgumentError("--unjudged", requirement, unjudged)


def policies_at(policy: Policy, wanted: Sequence[int | None]) -> list[Policy]:
    """Return the policy at every level; its ballots are gathered by the last one."""
    policies = [replace(policy, level=level) for level in wanted]
    if len(wanted) > 1 and wanted[0] is None:
        # Grades are not collapsed, whatever is said of the binary files beside them.
        policies[0] = replace(policies[0], collapse="after")
    return policies


def make_files(
    ballots: Ballots, policies: Sequence[Policy], rounds: Mapping[Pair, str], *, unjudged: int | None
) -> QrelsTexts:
    """Apply policies to votes.

    Parameters
    ----------
    ballots : Ballots
        Votes and rulings.
    policies : sequence of Policy
        Of `policies_at`.
    rounds : mapping of (str, str) to str
        Every pooled topic and docno, and its iteration.
    unjudged : int or None
        The code of pooled documents that nobody looked at; ``None`` = they are left out.

    Raises
    ------
    ArgumentError, PoolerError
        As `store.grades.qrels.decide` does.
    """
    from store.grades.qrels import decide, flips_of
    from store.records import Qrel

    # Beside binary files the graded one need not say how relevance would change.
    at_levels = ballots.scale.values[1:] if len(policies) == 1 else ()
    files = []
    n_open = 0
    for one in policies:
        final = decide(ballots, one)
        # Skipped, unjudgeable and tied documents are no unjudged ones.
        open_pairs = rounds.keys() - final.pairs - final.left_out.keys()
        rows = list(final.rows)
        if unjudged is not None:
            rows += [Qrel(*pair, unjudged, rounds[pair]) for pair in open_pairs]
        by_grade = Counter(row.grade for row in final.rows)
        flips = flips_of(ballots, one, at_levels)
        files.append(QrelsText(one.level, final, flips, by_grade, _text(rows)))
        n_open = len(open_pairs)
    return QrelsTexts(files, n_open, unjudged)


def write_files(
    made: QrelsTexts,
    judges: Sequence[Judge],
    scale: Scale,
    origin: Mapping[str, Any],
    *,
    out: str | None,
    manifest: str | None,
) -> None:
    """Write qrels, each with its manifest unless it goes to stdout.

    Parameters
    ----------
    made : QrelsTexts
        What to write.
    judges : sequence of Judge
        Every judge of the collection, or of the files.
    scale : Scale
        The declared grades.
    origin : mapping of str to object
        The entries of the manifest that say where the judgements come from.
    out, manifest : str or None
        As for `check_files`.

    Raises
    ------
    PoolerError
        If a file cannot be written.
    """
    facts = [_manifest(made, file, judges, scale, origin) for file in made.files]
    for file, entries in zip(made.files, facts, strict=True):
        path, beside = path_at(out, file.level), path_at(manifest, file.level)
        write_lines(path, file.text.splitlines(), manifest=beside)
        if manifest is not None or path not in (None, "-"):
            write_json(beside or f"{path}.manifest.json", entries, private=True)


def tell_files(
    made: QrelsTexts, ballots: Ballots, judges: Sequence[Judge], *, has_collection: bool = True
) -> None:
    """Say on stderr what was written and what was not."""
    from pooler.results.agree.aggregate import tell_decisions, tell_few_votes, tell_rulings, tell_tied
    from pooler.results.judge_kinds import tell_kinds, who_judged
    from store.judging.kinds import kind_counts

    for file in made.files:
        final = file.final
        grades = ", ".join(f"{count:,} x {one}" for one, count in sorted(file.by_grade.items()))
        label = "" if len(made.files) == 1 else f"{level_word(file.level)}: "
        n_judged = counted(len(final.rows), "document")
        say(f"{label}{n_judged} judged ({grades}); {who_judged(final, ballots)}")
        if file.level is not None and final.rows and not file.by_grade[1]:
            warn(f"no document is relevant at level {file.level}")
        if file.level is None and len(final.rows) > 1 and set(file.by_grade) == {0}:
            warn("every grade is 0: no document is relevant; `import judgements --map 0=1` reads"
                 " lists of relevant documents")  # fmt: skip
        tell_decisions(final, file.flips)
        tell_few_votes(final)
    tell_tied([file.final for file in made.files], has_collection=has_collection)
    final = made.files[0].final
    tell_kinds(kind_counts(judges, final.judges))
    tell_rulings(final)
    skipped, cannot = (final.count_left_out(reason) for reason in ("skipped", "cannot"))
    if skipped or cannot:
        say(f"left out: {skipped:,} skipped, {cannot:,} cannot be judged")
    if made.n_open:
        how = "left out" if made.unjudged is None else f"written with code {made.unjudged}"
        say(f"pooled and unjudged: {counted(made.n_open, 'document')}, {how}")
    if final.n_mixed_iterations:
        n_mixed = counted(final.n_mixed_iterations, "document")
        say(f"judged in different rounds: {n_mixed}, iteration 0")


def path_at(template: str | None, level: int | None) -> str | None:
    """Put the level into the name of a file."""
    return None if template is None else template.replace(LEVEL, level_word(level))


def level_word(level: int | None) -> str:
    """Say what stands for `LEVEL`."""
    return "graded" if level is None else str(level)


def _text(rows: Sequence[Qrel]) -> str:
    """Return the bytes of a file of qrels."""
    from store.formats.qrels import write_qrels

    buffer = io.StringIO()
    write_qrels(rows, buffer)
    return buffer.getvalue()


def _manifest(
    made: QrelsTexts, file: QrelsText, judges: Sequence[Judge], scale: Scale, origin: Mapping[str, Any]
) -> dict[str, Any]:
    """Say what was made and how; no times, so that equal qrels have equal manifests."""
    from pooler import __version__
    from pooler.results.agree.aggregate import policy_facts
    from store.formats.scale import scale_to_json

    final = file.final
    return {
        "tool": "pooler",
        "version": __version__,
        **origin,
        "scale": scale_to_json(scale),
        **policy_facts(judges, final, file.flips),
        "topics": len({row.topic for row in final.rows}),
        "judged": len(final.rows),
        "by_grade": {str(grade): count for grade, count in sorted(file.by_grade.items())},
        "left_out": {
            "tied_unresolved": final.count_left_out("tied"),
            "skipped": final.count_left_out("skipped"),
            "cannot_be_judged": final.count_left_out("cannot"),
        },
        "pooled_and_unjudged": made.n_open,
        "unjudged_code": made.unjudged,
        "mixed_iterations": final.n_mixed_iterations,
        "sha256": hashlib.sha256(file.text.encode()).hexdigest(),
    }
