"""`pooler export probabilities`: how likely every judged document is relevant."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import check_out, counted, say, write_json, write_lines
from pooler.cli.erased import erased_facts, erased_words
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    LevelOption,
    RelaxedOption,
    RigidOption,
)
from pooler.cli.policy_options import OfOption
from pooler.cli.probability_options import HINT, parse_values
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from store.ballots import Ballots
    from store.collection import Collection
    from store.policy import Policy


def probabilities(
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Default stdout.")
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--value",
            metavar="GRADE=P",
            help="What a judge's grade is worth: the probability, from 0 to 1, that the document is"
            " relevant. Once for every grade of the scale.",
            show_default=False,
        ),
    ] = None,
    level: LevelOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    of: OfOption = None,
    manifest: Annotated[
        str | None,
        typer.Option("--manifest", metavar="FILE", help="Default: the file, .manifest.json added."),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write `topic docno p`: the probability that a document is relevant, by all its judges.

    With --value it is the mean over the judges of what their grades are worth, with --level the
    share of judges who give that grade or more. Documents that nobody graded are not in it;
    adjudicators are no judges here, and their rulings play no part.

    Example: pooler export probabilities --value 0=0 --value 1=0.8 --value 2=1 --out p.txt
    """
    from pooler.cli.judge_kinds import kind_counts, tell_kinds
    from store.analysis.collapse import level_index, level_of
    from store.analysis.relevance_probability import share_probabilities, value_probabilities
    from store.collection import Collection
    from store.policy import Policy

    check_out(out, manifest)
    with Collection(collection) as opened:
        cut = level_of(opened.scale, level=level, rigid=rigid, relaxed=relaxed)
        if values and cut is not None:
            requirement = "cannot go with a level: one of the two says what a grade is worth"
            raise ArgumentError("--value", requirement, None, hint=HINT)
        if not values and cut is None:
            requirement = "must be given for every grade, or a level in its place"
            raise ArgumentError("--value", requirement, None, hint=HINT)
        worth = parse_values(values or (), opened.scale.values) if cut is None else None
        policy = Policy(rulings=False, of=tuple(dict.fromkeys(of or ())))
        ballots = opened.ballots(policy)
        if not ballots.votes.n_documents:
            message = "no judge has judged anything yet"
            raise PoolerError(message, hint="pooler judge, or pooler import judgements")
        if worth is not None:
            found = value_probabilities(ballots.counts, list(worth.values()))
        else:
            place = level_index(opened.scale, cut or 0)
            found = share_probabilities(ballots.counts, place)
        pairs = [ballots.pairs[row] for row in ballots.rows.tolist()]
        lines = [
            f"{topic} {docno} {p:.10g}"
            for (topic, docno), p in zip(pairs, found.tolist(), strict=True)
        ]
        facts = _manifest(opened, ballots, policy, worth, cut, lines) | erased_facts(opened)
        erased, kinds = erased_words(opened), kind_counts(opened.judges(), ballots.votes.judges)
    write_lines(out, lines, manifest=manifest)
    if manifest is not None or out not in (None, "-"):
        write_json(manifest or f"{out}.manifest.json", facts, private=True)
    how = "share of judges" if worth is None else "mean value of grades"
    how += f" at level {cut}" if worth is None else ""
    say(f"{counted(len(lines), 'document')}, {how}, {_judges_each(ballots)}")
    tell_kinds(kinds)
    if facts["without_a_grade"]:
        say(f"left out, no grade: {counted(facts['without_a_grade'], 'document')}")
    if erased:
        say(erased)


def _judges_each(ballots: Ballots) -> str:
    """Say how many judges a document has."""
    n_judges = counted(len(ballots.votes.judges), "judge")
    low, high = int(ballots.counts.sum(axis=1).min()), int(ballots.counts.sum(axis=1).max())
    return f"{n_judges}, {low}" + (f" to {high}" if high > low else "") + " a document"


def _manifest(
    opened: Collection,
    ballots: Ballots,
    policy: Policy,
    worth: dict[int, float] | None,
    cut: int | None,
    lines: Sequence[str],
) -> dict[str, Any]:
    """Say what was exported and how; no times, so that equal files have equal manifests."""
    from pooler import __version__
    from pooler.cli.policy_report import judge_facts
    from store.scale import scale_to_json

    n_votes = ballots.counts.sum(axis=1)
    by_judges = {str(n): int((n_votes == n).sum()) for n in sorted({*n_votes.tolist()})}
    text = "".join(f"{line}\n" for line in lines)
    return {
        "tool": "pooler",
        "version": __version__,
        "collection": opened.name,
        "columns": ["topic", "docno", "p"],
        "scale": scale_to_json(opened.scale),
        **judge_facts(opened, ballots.votes.judges, policy),
        "values": None if worth is None else {str(grade): p for grade, p in worth.items()},
        "level": cut,
        "documents": len(lines),
        "by_number_of_judges": by_judges,
        "without_a_grade": len(ballots.pairs) - len(lines),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
