"""`pooler export ntcir`: one grade a document, in the formats of NTCIR."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import check_out, counted, say, write_json, write_lines
from pooler.cli.erased import erased_facts, erased_words
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.policy_options import (
    AggregateOption,
    JudgeOption,
    OfOption,
    RuleName,
    TiesOption,
    WithoutRulingsOption,
    policy_of,
)
from store.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.collection import Collection
    from store.final_qrels import FinalQrels
    from store.records import Qrel, Scale


class NtcirName(StrEnum):
    """Formats of `store.formats.ntcir2` and `store.formats.ntcireval`."""

    NTCIR2 = "ntcir2"
    NTCIREVAL = "ntcireval"


@dataclass(frozen=True, slots=True)
class _File:
    """One file, ready to be written."""

    path: str | None
    reading: str | None
    """``rigid`` or ``relaxed``; ``None`` = it has grades alone."""
    level: int | None
    text: str


def ntcir(
    kind: Annotated[
        NtcirName,
        typer.Option(
            "--as",
            help="ntcir2 (topic letter docno 0|1, in the two files PREFIX.rigid and"
            " PREFIX.relaxed; the letters are the keys of the scale, or --letters), or ntcireval"
            " (topic docno L0..Ln, in the file PREFIX; default stdout).",
            show_default=False,
        ),
    ],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="PREFIX", help="The file, or two.")
    ] = None,
    letters: Annotated[
        str | None,
        typer.Option(
            "--letters",
            metavar="LETTERS",
            help="With ntcir2: a letter for each grade of the scale, the lowest first, as CBA.",
            show_default=False,
        ),
    ] = None,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    manifest: Annotated[
        str | None,
        typer.Option("--manifest", metavar="FILE", help="Default: PREFIX.manifest.json."),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write qrels in a format of NTCIR: grades as letters, or as levels L0 to Ln.

    Documents without a grade are left out and counted. Judging rounds have no place in these files.

    Example: pooler export ntcir --as ntcireval --aggregate majority --ties low --out web.rel
    """
    from pooler.cli.judge_kinds import kind_counts, tell_kinds
    from pooler.cli.policy_report import who_judged
    from store.collection import Collection
    from store.final_qrels import decide
    from store.formats.ntcir2 import letters_of

    if kind is NtcirName.NTCIR2 and out in (None, "-"):
        requirement = "must be given with --as ntcir2, which writes PREFIX.rigid and PREFIX.relaxed"
        raise ArgumentError("--out", requirement, out)
    if kind is NtcirName.NTCIR2 and aggregate is RuleName.SUM:
        requirement = "must give a grade of the scale with --as ntcir2, and a sum is none"
        raise ArgumentError("--aggregate", requirement, aggregate.value)
    if kind is not NtcirName.NTCIR2 and letters is not None:
        raise ArgumentError("--letters", "is for --as ntcir2", letters)
    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    beside = manifest or (None if out in (None, "-") else f"{out}.manifest.json")
    for suffix in (".rigid", ".relaxed") if kind is NtcirName.NTCIR2 else ("",):
        check_out(None if out is None else f"{out}{suffix}", beside)
    with Collection(collection) as opened:
        readings = _readings(kind, opened.scale, letters)
        ballots = opened.ballots(policy)
        final = decide(ballots, policy)
        files = [_file(out, *one, final.rows, opened.scale, letters) for one in readings]
        n_open = len(opened.pooled_rounds().keys() - final.pairs - final.left_out.keys())
        facts = {**_manifest(opened, kind, final, files, n_open), **erased_facts(opened)}
        erased, kinds = erased_words(opened), kind_counts(opened.judges(), final.judges)
        if kind is NtcirName.NTCIR2:
            named = letters_of(opened.scale, letters)
            facts["letters"] = {str(grade): letter for grade, letter in named.items()}
    for file in files:
        write_lines(file.path, file.text.splitlines(), manifest=beside)
    if beside is not None:
        write_json(beside, facts, private=True)
    _report(final, who_judged(final, ballots), n_open)
    tell_kinds(kinds)
    if erased:
        say(erased)


def _readings(
    kind: NtcirName, scale: Scale, letters: str | None
) -> list[tuple[str | None, int | None]]:
    """Return what is written: the readings and their levels, or the grades alone."""
    from store.analysis.collapse import level_of
    from store.formats.ntcir2 import letters_of

    if kind is NtcirName.NTCIREVAL:
        return [(None, None)]
    letters_of(scale, letters)
    rigid = level_of(scale, level=None, rigid=True, relaxed=False)
    return [("rigid", rigid), ("relaxed", scale.relaxed)]


def _file(
    out: str | None,
    reading: str | None,
    level: int | None,
    rows: Sequence[Qrel],
    scale: Scale,
    letters: str | None,
) -> _File:
    """Make one file."""
    from store.formats.ntcir2 import write_ntcir2
    from store.formats.ntcireval import write_ntcireval

    buffer = io.StringIO()
    if reading is None:
        write_ntcireval(rows, buffer)
        return _File(out, reading, level, buffer.getvalue())
    write_ntcir2(rows, scale, level, buffer, letters=letters)
    return _File(f"{out}.{reading}", reading, level, buffer.getvalue())


def _manifest(
    opened: Collection, kind: NtcirName, final: FinalQrels, files: Sequence[_File], n_open: int
) -> dict[str, Any]:
    """Say what was exported and how; no times, so that equal qrels have equal manifests."""
    from pooler import __version__
    from pooler.cli.policy_report import policy_facts
    from store.scale import scale_to_json

    by_grade = Counter(row.grade for row in final.rows)
    return {
        "tool": "pooler",
        "version": __version__,
        "collection": opened.name,
        "format": kind.value,
        "scale": scale_to_json(opened.scale),
        **policy_facts(opened, final),
        "topics": len({row.topic for row in final.rows}),
        "judged": len(final.rows),
        "by_grade": {str(grade): count for grade, count in sorted(by_grade.items())},
        "left_out": {
            "tied_unresolved": final.count_left_out("tied"),
            "skipped": final.count_left_out("skipped"),
            "cannot_be_judged": final.count_left_out("cannot"),
        },
        "pooled_and_unjudged": n_open,
        "files": [
            {
                "reading": file.reading or "graded",
                "level": file.level,
                "sha256": hashlib.sha256(file.text.encode()).hexdigest(),
            }
            for file in files
        ],
    }


def _report(final: FinalQrels, who: str, n_open: int) -> None:
    """Say on stderr what was written and what was not."""
    from pooler.cli.policy_report import tell_decisions, tell_few_votes, tell_rulings, tell_tied

    grades = Counter(row.grade for row in final.rows)
    how_many = ", ".join(f"{count:,} x {grade}" for grade, count in sorted(grades.items()))
    say(f"{counted(len(final.rows), 'document')} judged ({how_many}); {who}")
    tell_decisions(final)
    tell_few_votes(final)
    tell_tied([final])
    tell_rulings(final)
    skipped, cannot = (final.count_left_out(reason) for reason in ("skipped", "cannot"))
    if skipped or cannot:
        say(f"left out: {skipped:,} skipped, {cannot:,} cannot be judged")
    if n_open:
        say(f"pooled and unjudged: {counted(n_open, 'document')}, left out")
    n_rounds = len({row.iteration for row in final.rows})
    if n_rounds > 1:
        say(f"which of {n_rounds:,} rounds a document was judged in was not written")
