"""`pooler export ntcir`."""

from __future__ import annotations

import io
from typing import Annotated, Literal

from pooler.cli.console import check_out, erased_facts, erased_words, write_results
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, GradedOptions
from pooler.cli.signature import command, option
from pooler.commands.qrels.exporting import made_of, sha256_of, tell_voters
from pooler.messages import say
from store.errors import ArgumentError


@command
def ntcir(
    kind: Annotated[
        Literal["ntcir2", "ntcireval"],
        option(
            "--as",
            "ntcir2 (topic letter docno 0|1, in the two files PREFIX.rigid and PREFIX.relaxed; the letters"
            " are the keys of the scale, or --letters), or ntcireval (topic docno L0..Ln, in the file"
            " PREFIX; default stdout).",
        ),
    ],
    out: Annotated[str | None, option("--out -o PREFIX", "The file, or the two files.")] = None,
    letters: Annotated[
        str | None,
        option(
            "--letters LETTERS",
            "With ntcir2: a letter for each grade of the scale, lowest first, such as CBA.",
        ),
    ] = None,
    *,
    whose: GradedOptions,
    manifest: Annotated[str | None, option("--manifest FILE", "Default: PREFIX.manifest.json.")] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write qrels in an NTCIR format: grades as letters, or as levels L0 to Ln.

    Documents without a grade are left out and counted. These files have no place for judging rounds.

    Example: pooler export ntcir --as ntcireval --aggregate majority --ties low --out web.rel
    """
    from pooler.results.agree.qrels_words import qrels_facts, tell_final
    from pooler.results.judge_kinds import warn_about_voters
    from store.analysis.collapse import level_of
    from store.collection import Collection
    from store.formats.ntcir import letters_of, write_ntcir2, write_ntcireval
    from store.grades.qrels import decide

    has_letters = kind == "ntcir2"
    if has_letters and out in (None, "-"):
        requirement = "must be given with --as ntcir2, which writes PREFIX.rigid and PREFIX.relaxed"
        raise ArgumentError("--out", requirement, out)
    if has_letters and whose.aggregate == "sum":
        requirement = "must give a grade of the scale with --as ntcir2, and a sum is none"
        raise ArgumentError("--aggregate", requirement, whose.aggregate)
    if not has_letters and letters is not None:
        raise ArgumentError("--letters", "is for --as ntcir2", letters)
    policy = whose.policy()
    beside = manifest or (None if out in (None, "-") else f"{out}.manifest.json")
    paths = [f"{out}.rigid", f"{out}.relaxed"] if has_letters else [out]
    for path in paths:
        check_out(path, beside)
    with Collection(collection) as opened:
        scale = opened.scale
        readings: dict[str, int | None] = {"graded": None}
        if has_letters:
            named = letters_of(scale, letters)
            rigid = level_of(scale, level=None, rigid=True, relaxed=False)
            readings = {"rigid": rigid, "relaxed": scale.relaxed}
        all_votes = opened.grades.all_votes(policy)
        final = decide(all_votes, policy)
        texts = []
        for level in readings.values():
            buffer = io.StringIO()
            if has_letters:
                write_ntcir2(final.rows, scale, level, buffer, letters=letters)
            else:
                write_ntcireval(final.rows, buffer)
            texts.append(buffer.getvalue())
        n_open = len(opened.grades.open_pairs(all_votes))
        facts = {
            **made_of(opened),
            "format": kind,
            **erased_facts(opened),
            **qrels_facts(opened.judges.all(), final, scale, n_open),
            "files": [
                {"reading": reading, "level": level, "sha256": sha256_of(text)}
                for (reading, level), text in zip(readings.items(), texts, strict=True)
            ],
        }
        erased = erased_words(opened)
        if has_letters:
            facts["letters"] = {str(grade): letter for grade, letter in named.items()}
    files = {path: text.splitlines() for path, text in zip(paths, texts, strict=True)}
    write_results(files, lambda: facts, beside)
    tell_final(final, all_votes, n_open)
    n_rounds = len({row.iteration for row in final.rows})
    if n_rounds > 1:
        say(f"these files cannot say which of {n_rounds:,} rounds a document was judged in")
    warn_about_voters(all_votes.voters)
    with Collection(collection) as opened:
        tell_voters(opened, paths, all_votes.voters)
    if erased:
        say(erased)
