"""`pooler export qrels`: graded, binary at levels, or in NTCIR's forms."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pooler.command import Manifest, Option, Stored, Whose, command
from pooler.commands.qrels.exporting import made_of, sha256_of, tell_file_name, tell_rises
from pooler.messages import say
from pooler.results.files import check_out, write_results
from pooler.results.judge_kinds import erased_facts, erased_words, warn_about_voters
from pooler.results.result import Done, frozen_settings
from pooler.results.source import Source
from store.errors import ArgumentError

if TYPE_CHECKING:
    from store.collection import Collection
    from store.grades.policy import Policy
    from store.grades.qrels import FinalQrels
    from store.judging.kinds import Voters

LEVEL = "{level}"
"""What stands in a file name for the level."""
Target = Annotated[
    str | Path | None, Option("--out -o FILE", "Default stdout. {level} in it becomes graded, 1, 2, ...")
]


@command
def export_qrels(
    collection: Stored,
    whose: Whose = None,
    *,
    form: Annotated[Literal["trec", "ntcir2", "ntcireval"], Option("--as")] = "trec",
    letters: Annotated[str | None, Option(default="the keys of the scale")] = None,
    levels: Annotated[Sequence[int], Option("--level N")] = (),
    rigid: bool = False,
    relaxed: bool = False,
    graded: bool = False,
    unjudged: Annotated[int | None, Option("--unjudged CODE")] = None,
    one_of: Annotated[str | Path | None, Option("--one-of CLASSES")] = None,
    out: Target = None,
    manifest: Manifest = None,
) -> Done:
    """Write qrels: graded, or binary at one or more levels.

    Documents that were skipped or cannot be judged are left out and counted; none becomes grade 0. An
    adjudicator's ruling, where one stands, is the grade, whatever the rule. NTCIR's forms have no place for
    judging rounds.

    Example: pooler export qrels --aggregate majority --ties low --out qrels.txt

    Example: pooler export qrels --as ntcireval --aggregate majority --ties low --out web.rel

    form : trec: topic iteration docno grade. ntcir2: topic letter docno 0|1, in the two files FILE.rigid and
        FILE.relaxed. ntcireval: topic docno L0..Ln.
    letters : With ntcir2: a letter for each grade of the scale, lowest first, such as CBA.
    levels : Least grade (or sum of grades) that counts as relevant: 0s and 1s are written. May be repeated,
        with {level} in --out.
    rigid : Relevant = at or above the scale's rigid level, the stricter one (NTCIR: S, A).
    relaxed : Relevant = at or above the scale's relaxed level, the milder one (NTCIR: S, A, B).
    graded : Also write the graded qrels.
    unjudged : Also write unjudged pooled documents, with this code (such as -1).
    one_of : Also write unjudged documents, with `duplicate` as the iteration and the grade of the judged
        documents of their class (lines `docno class`, as in `pooler pool`).
    """
    from store.grades.policy import Policy

    policy = whose or Policy()
    if form != "ntcir2" and letters is not None:
        raise ArgumentError("letters", "is for --as ntcir2", letters)
    if form == "trec":
        source = Source(collection=collection)
        voters = write_qrels(
            source,
            policy,
            out,
            manifest,
            levels=levels,
            rigid=rigid,
            relaxed=relaxed,
            graded=graded,
            unjudged=unjudged,
            one_of=one_of,
        )
        tell_rises(collection, voters)
        return Done()
    own = {"levels": levels, "rigid": rigid, "relaxed": relaxed, "graded": graded, "one_of": one_of}
    for name, value in (own | {"unjudged": unjudged is not None}).items():
        if value:
            raise ArgumentError(name, f"is not used with --as {form}, which has its own levels", None)
    return _write_ntcir(collection, policy, form, letters, out, manifest)


def write_qrels(
    source: Source, policy: Policy, out: str | Path | None, manifest: str | Path | None, **wanted: Any
) -> Voters:
    """Write qrels, each with its manifest unless it goes to stdout, and say what is in them.

    `wanted`: which, as `pooler.results.agree.aggregate.qrels_at` takes it.
    """
    from pooler.results.agree.aggregate import qrels_at, tell_qrels

    def check(levels: Sequence[int | None]) -> None:
        if len(levels) > 1:
            known = ", ".join(map(_level_word, levels))
            for name, path in (("out", out), ("manifest", manifest)):
                if LEVEL not in str(path or "") and (name == "out" or path is not None):
                    requirement = f"must contain {LEVEL} where {len(levels)} files are written"
                    hint = f"as in --out qrels.{LEVEL}.txt: {LEVEL} becomes {known}"
                    raise ArgumentError(name, requirement, path, hint=hint)
        for level in levels:
            check_out(_path_at(out, level), _path_at(manifest, level))

    made = qrels_at(source, policy, check=check, **wanted)
    for one in made:
        path, beside = (_path_at(given, one.final.policy.level) for given in (out, manifest))
        write_results({path: one.file_lines()}, lambda one=one: one.manifest, beside)  # type: ignore[misc]
    tell_qrels(made)
    voters = made[0].final.all_votes.voters
    tell_file_name([out], voters)
    return voters


def _path_at(template: str | Path | None, level: int | None) -> str | None:
    return None if template is None else str(template).replace(LEVEL, _level_word(level))


def _level_word(level: int | None) -> str:
    return "graded" if level is None else str(level)


def _write_ntcir(
    opened: Collection,
    policy: Policy,
    form: str,
    letters: str | None,
    out: str | Path | None,
    manifest: str | Path | None,
) -> Done:
    """Write letters, or levels L0 to Ln."""
    from pooler.results.agree.qrels_words import qrels_facts, tell_final
    from store.analysis.collapse import level_of
    from store.formats.ntcir import letters_of, write_ntcir2, write_ntcireval
    from store.grades.qrels import decide

    has_letters, is_stdout = form == "ntcir2", out in (None, "-")
    if has_letters and is_stdout:
        requirement = "must be given with --as ntcir2, which writes FILE.rigid and FILE.relaxed"
        raise ArgumentError("out", requirement, out)
    if has_letters and policy.rule == "sum":
        requirement = "must give a grade of the scale with --as ntcir2, and a sum is none"
        raise ArgumentError("--aggregate", requirement, policy.rule)
    beside = manifest or (None if is_stdout else f"{out}.manifest.json")
    paths = [f"{out}.rigid", f"{out}.relaxed"] if has_letters else [out]
    for path in paths:
        check_out(path, beside)
    scale = opened.scale
    readings: dict[str, int | None] = {"graded": None}
    more = {}
    if has_letters:
        more = {"letters": {str(grade): letter for grade, letter in letters_of(scale, letters).items()}}
        rigid = level_of(scale, level=None, rigid=True, relaxed=False)
        readings = {"rigid": rigid, "relaxed": scale.relaxed}
    all_votes = opened.grades.all_votes(policy)
    final: FinalQrels = decide(all_votes, policy)
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
        "format": form,
        **erased_facts(opened),
        **qrels_facts(opened.judges.all(), final, scale, n_open),
        "files": [
            {"reading": reading, "level": level, "sha256": sha256_of(text)}
            for (reading, level), text in zip(readings.items(), texts, strict=True)
        ],
        **more,
    }
    files = {path: text.splitlines() for path, text in zip(paths, texts, strict=True)}
    write_results(files, lambda: facts, beside)
    tell_final(final, all_votes, n_open)
    n_rounds = len({row.iteration for row in final.rows})
    if n_rounds > 1:
        say(f"these files cannot say which of {n_rounds:,} rounds a document was judged in")
    warn_about_voters(all_votes.voters)
    tell_file_name(paths, all_votes.voters)
    tell_rises(opened, all_votes.voters)
    if erased := erased_words(opened):
        say(erased)
    return Done(counts=frozen_settings(documents=final.n_documents))
