"""`pooler export`: its forms, of which probabilities are here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import check_out, erased_facts, erased_words, write_results
from pooler.cli.from_function import from_function
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    KindsOption,
    LevelOption,
    ManifestOption,
    OfOption,
    OutOption,
    RelaxedOption,
    RigidOption,
    kinds_of,
)
from pooler.cli.signature import command, option
from pooler.commands.qrels.export import export_judgements, export_pool
from pooler.commands.qrels.export_collection import export_collection
from pooler.commands.qrels.export_prels import export_prels
from pooler.commands.qrels.export_qrels import export_qrels
from pooler.commands.qrels.export_work import export_work
from pooler.commands.qrels.exporting import made_of, sha256_of, tell_voters
from pooler.messages import say
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from pooler.results.variation.probabilities import Probabilities
    from store.collection import Collection
    from store.grades.policy import Policy


def probabilities(
    out: OutOption = None,
    values: Annotated[
        list[str] | None,
        option(
            "--value GRADE=P",
            "The probability, from 0 to 1, that a document a judge gave this grade is relevant. Repeat for"
            " every grade of the scale.",
        ),
    ] = None,
    level: LevelOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    of: OfOption = None,
    kinds: KindsOption = None,
    manifest: ManifestOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write how likely each document is relevant, by its judges.

    A line is `topic docno p`. With --value, p is the mean over judges of the value of their grades;
    with --level, the share of judges who give that grade or more. Documents without a grade are left
    out; adjudicators do not count as judges here, and their rulings play no part.

    Example: pooler export probabilities --value 0=0 --value 1=0.8 --value 2=1 --out p.txt
    """
    from pooler.results.source import Source
    from pooler.results.variation import probabilities as results
    from store.analysis.collapse import level_of
    from store.collection import Collection
    from store.grades.policy import Policy

    check_out(out, manifest)
    with Collection(collection) as opened:
        cut = level_of(opened.scale, level=level, rigid=rigid, relaxed=relaxed)
        if values and cut is not None:
            requirement = "cannot be combined with a level: either of the two says what a grade is worth"
            raise ArgumentError("--value", requirement, None, hint=results.HINT)
        if not values and cut is None:
            requirement = "must be given for every grade, or a level instead"
            raise ArgumentError("--value", requirement, None, hint=results.HINT)
        policy = Policy(rulings=False, of=tuple(dict.fromkeys(of or ())), kinds=kinds_of(kinds))
        policy.check()
        found = results.probabilities(
            Source(collection=opened, policy=policy, level=level, rigid=rigid, relaxed=relaxed), values=values
        )
        rows = zip(found.topics, found.docnos, found.p.tolist(), strict=True)
        lines = [f"{topic} {docno} {p:.10g}" for topic, docno, p in rows]
        facts = _probabilities_facts(opened, found, policy, lines) | erased_facts(opened)
        erased = erased_words(opened)
    write_results({out: lines}, lambda: facts, manifest)
    how = f"share of judges at level {found.level}" if found.values is None else "mean value of grades"
    say(f"{counted(len(lines), 'document')}, {how}, {_judges_each(found)}")
    with Collection(collection) as opened:
        tell_voters(opened, [out], found.voters)
    if facts["without_a_grade"]:
        say(f"left out because they have no grade: {counted(facts['without_a_grade'], 'document')}")
    if erased:
        say(erased)


def _judges_each(found: Probabilities) -> str:
    assert found.n_judges is not None
    low, high = int(found.n_judges.min()), int(found.n_judges.max())
    many = f" to {high}" if high > low else ""
    return f"{counted(len(found.judges), 'judge')}, {low}{many} a document"


def _probabilities_facts(
    opened: Collection, found: Probabilities, policy: Policy, lines: Sequence[str]
) -> dict[str, Any]:
    from pooler.results.agree.qrels_words import judge_facts
    from store.formats.scale import scale_to_json

    assert found.n_judges is not None
    n_votes = Counter(found.n_judges.tolist())
    return {
        **made_of(opened),
        "columns": ["topic", "docno", "p"],
        "scale": scale_to_json(opened.scale),
        **judge_facts(opened.judges.all(), found.judges, policy, found.voters),
        "values": None if found.values is None else {str(grade): p for grade, p in found.values.items()},
        "level": found.level,
        "documents": len(lines),
        "by_number_of_judges": {str(n): n_votes[n] for n in sorted(n_votes)},
        "without_a_grade": found.without_grade,
        "sha256": sha256_of("".join(f"{line}\n" for line in lines)),
    }


app = typer.Typer(help="Write qrels and other files for evaluation programs.", no_args_is_help=True)
app.command("qrels")(from_function(export_qrels))
app.command("probabilities")(command(probabilities))
app.command("prels")(from_function(export_prels))
app.command("pool")(from_function(export_pool))
app.command("judgements")(from_function(export_judgements))
app.command("collection")(from_function(export_collection))
app.command("work")(from_function(export_work))
