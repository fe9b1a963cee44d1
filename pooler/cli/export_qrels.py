"""`pooler export qrels`: one grade a document, for evaluators."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import check_out, counted, say, warn, write_json, write_lines
from pooler.cli.judged import AggregateOption, JudgeOption, TiesOption
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    LevelOption,
    RelaxedOption,
    RigidOption,
)

if TYPE_CHECKING:
    from store.analysis.aggregation import Ties
    from store.collection import Collection
    from store.final_qrels import FinalQrels


def qrels(
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Default stdout.")
    ] = None,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    level: LevelOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
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
    """Write qrels (topic iteration docno grade): graded, or binary at a level.

    Skipped and unjudgeable documents are left out and counted; none becomes grade 0.

    Example: pooler export qrels --aggregate majority --ties low --out qrels.txt
    """
    from store.analysis.collapse import level_of
    from store.collection import Collection
    from store.errors import ArgumentError
    from store.final_qrels import final_qrels
    from store.formats.qrels import write_qrels
    from store.records import Qrel

    check_out(out, manifest)
    with Collection(collection) as opened:
        cut = level_of(opened.scale, level=level, rigid=rigid, relaxed=relaxed)
        grades = opened.scale.values if cut is None else ()
        if unjudged is not None and (unjudged >= 0 or unjudged in grades):
            # Evaluators take a code above 0 for relevant.
            requirement = "must be a negative code that is no grade of the scale"
            raise ArgumentError("--unjudged", requirement, unjudged)
        rule: Ties | None = None if ties is None else ties.value
        names = None if judge is None else [judge]
        final = final_qrels(
            opened.judgements(names), opened.scale, judge=judge, aggregate=aggregate, ties=rule
        )
        rows = [
            row if cut is None else Qrel(row.topic, row.docno, int(row.grade >= cut), row.iteration)
            for row in final.rows
        ]
        by_grade = Counter(row.grade for row in rows)
        # Skipped, unjudgeable and tied documents are no unjudged ones.
        rounds = opened.pooled_rounds()
        open_pairs = rounds.keys() - final.pairs - final.left_out.keys()
        if unjudged is not None:
            rows += [Qrel(*pair, unjudged, rounds[pair]) for pair in open_pairs]
        buffer = io.StringIO()
        write_qrels(rows, buffer)
        text = buffer.getvalue()
        facts = _manifest(opened, final, cut, unjudged, by_grade, len(open_pairs), text)
    write_lines(out, text.splitlines())
    if manifest is not None or out not in (None, "-"):
        write_json(manifest or f"{out}.manifest.json", facts)
    _report(final, len(open_pairs), by_grade, unjudged)


def _manifest(
    opened: Collection,
    final: FinalQrels,
    level: int | None,
    unjudged: int | None,
    by_grade: Counter[int],
    n_open: int,
    text: str,
) -> dict[str, object]:
    """Say what was exported and how; no times, so that equal qrels have equal manifests."""
    from pooler import __version__
    from store.scale import scale_to_json

    kinds = {judge.name: judge.kind.value for judge in opened.judges()}
    return {
        "tool": "pooler",
        "version": __version__,
        "collection": opened.name,
        "scale": scale_to_json(opened.scale),
        "judges": [{"name": name, "kind": kinds[name]} for name in final.judges],
        "rule": final.rule,
        "ties": final.ties,
        "level": level,
        "topics": len({row.topic for row in final.rows}),
        "judged": len(final.rows),
        "by_grade": {str(grade): count for grade, count in sorted(by_grade.items())},
        "decided_by_tie_rule": final.n_decided_by_ties,
        "left_out": {
            "tied_unresolved": final.count_left_out("tied"),
            "skipped": final.count_left_out("skipped"),
            "cannot_be_judged": final.count_left_out("cannot"),
        },
        "pooled_and_unjudged": n_open,
        "unjudged_code": unjudged,
        "mixed_iterations": final.n_mixed_iterations,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def _report(final: FinalQrels, n_open: int, by_grade: Counter[int], unjudged: int | None) -> None:
    """Say on stderr what was written and what was not."""
    grades = ", ".join(f"{count:,} x {grade}" for grade, count in sorted(by_grade.items()))
    who = (
        f"judge {final.judges[0]}"
        if final.rule == "single judge"
        else (f"{final.rule} of {len(final.judges)} judges, ties {final.ties}")
    )
    say(f"{len(final.rows):,} documents judged ({grades}); {who}")
    if final.ties is not None and final.ties != "unresolved":
        say(f"the tie rule decided {final.n_decided_by_ties:,} of them")
    tied, skipped, cannot = (
        final.count_left_out(reason) for reason in ("tied", "skipped", "cannot")
    )
    if tied:
        warn(f"{counted(tied, 'document')} left out: tied votes, unresolved")
    if skipped or cannot:
        say(f"left out: {skipped:,} skipped, {cannot:,} cannot be judged")
    if n_open:
        how = "left out" if unjudged is None else f"written with code {unjudged}"
        say(f"pooled and unjudged: {counted(n_open, 'document')}, {how}")
    if final.n_mixed_iterations:
        say(f"{final.n_mixed_iterations:,} documents were judged in different rounds: iteration 0")
