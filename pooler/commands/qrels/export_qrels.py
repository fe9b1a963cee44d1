"""`pooler export qrels`: graded, binary at levels, or in NTCIR's forms."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pooler.command import Given, Manifest, Option, command, levels_of
from pooler.commands.qrels.exporting import sha256_of, tell_voters
from pooler.commands.qrels.made import QrelsResult, qrels_at, tell_qrels
from pooler.files import check_out, write_results
from pooler.messages import say
from pooler.sources.source import Source
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from store.grades.definition import NamedQrels

LEVEL = "{level}"
"""What stands in a file name for the level."""


@command
def export_qrels(
    source: Annotated[Source, Given("pooler.cli.options:GivenQrelsOptions", "source")],
    *,
    form: Annotated[Literal["trec", "ntcir2", "ntcireval"], Option("--as")] = "trec",
    letters: Annotated[
        str | None, Option("--letters LETTERS", default="the keys of the scale; of sums CBA")
    ] = None,
    level: Annotated[
        int | str | Sequence[int | str] | None,
        Option("--level N|rigid|relaxed", read=levels_of, repeated=True),
    ] = None,
    graded: bool = False,
    unjudged: Annotated[int | None, Option("--unjudged CODE")] = None,
    one_of: Annotated[str | Path | None, Option("--one-of CLASSES")] = None,
    out: Annotated[str | Path | None, Option("--out -o FILE")] = None,
    manifest: Manifest = None,
) -> QrelsResult:
    """Write qrels: graded, or binary at one or more levels.

    Documents that were skipped or cannot be judged are left out and counted; none becomes grade 0. Where
    judges gave a document different grades, and no rule says what then, nothing is written.

    Example: pooler export qrels official --level 1 --out qrels.txt

    Example: pooler export qrels judgements/*.qrels --level 1 --aggregate majority --ties low

    form : trec: topic iteration docno grade; ntcir2: topic letter docno 0|1, in OUT.rigid and OUT.relaxed;
        ntcireval: topic docno L0..Ln.
    letters : With ntcir2: a letter for each grade of the scale, lowest first, such as CBA.
    level : Write 0s and 1s: least relevant grade, or sum; may be repeated, with {level} in --out.
    graded : Also write the graded qrels.
    unjudged : Also write unjudged pooled documents, with this code (such as -1).
    one_of : Also write unjudged documents of these classes, with the grade of the judged ones and the
        iteration `duplicate`.
    out : Default stdout. {level} in it becomes graded, 1, 2, ...

    Raises
    ------
    PoolerError
        If nothing is judged; if judges differ on a document, and no rule says what then.

    Notes
    -----
    One application of the rule, and one for each other choice that would change something.

    Sources: Dawid & Skene (1979).

    Examples
    --------
    >>> import pooler as p
    >>> made = p.export_qrels(p.source(qrels={"1": {"a": 2, "b": 0, "c": -1}}))
    >>> made.qrels
    [Qrel(topic='1', docno='a', grade=2, iteration='0'), Qrel(topic='1', docno='b', grade=0, iteration='0')]
    >>> made.counts["judged"], made.counts["unjudged"], made.written
    (2, 1, ('1 0 a 2', '1 0 b 0'))
    """
    is_stdout = out in (None, "-")
    if form != "ntcir2" and letters is not None:
        raise ArgumentError("letters", "is for --as ntcir2", letters)
    if form != "trec":
        refused = {"level": level is not None, "graded": graded, "one_of": one_of}
        for name, value in (refused | {"unjudged": unjudged is not None}).items():
            if value:
                raise ArgumentError(name, f"is not used with --as {form}, which has its own levels", None)
    paths: list[str | Path | None] = [out]
    beside = manifest
    if form == "ntcir2":
        if is_stdout:
            requirement = "must be given with --as ntcir2, which writes OUT.rigid and OUT.relaxed"
            raise ArgumentError("out", requirement, out)
        paths, beside = [f"{out}.rigid", f"{out}.relaxed"], manifest or f"{out}.manifest.json"

    def check(levels: Sequence[int | None]) -> None:
        if len(levels) > 1:
            known = ", ".join(map(_level_word, levels))
            for name, path in (("out", out), ("manifest", manifest)):
                if LEVEL not in str(path or "") and (name == "out" or path is not None):
                    requirement = f"must contain {LEVEL} where {len(levels)} files are written"
                    hint = f"as in --out qrels.{LEVEL}.txt: {LEVEL} becomes {known}"
                    raise ArgumentError(name, requirement, path, hint=hint)
        for one in levels:
            for path in paths:
                check_out(_path_at(path, one), _path_at(beside, one))

    levels = [level] if level is None or isinstance(level, int | str) else [*level]
    wanted = [*levels, None] if graded or not levels else levels
    made = qrels_at(source, levels=wanted, unjudged=unjudged, one_of=one_of, check=check)
    first = made[0]
    if form == "trec":
        for one in made:
            at, facts_at = (_path_at(path, one.final.level) for path in (out, manifest))
            write_results({at: one.file_lines()}, lambda one=one: one.manifest, facts_at)  # type: ignore[misc]
    else:
        texts, facts = _of_ntcir(form, letters, source.named_qrels, first)
        files = {path: text.splitlines() for path, text in zip(paths, texts, strict=True)}
        write_results(files, lambda: {**first.manifest_facts, "format": form, **facts}, beside)
    tell_qrels(made)
    n_mixed, n_rounds = first.final.n_mixed_iterations, len({row.iteration for row in first.qrels})
    if form == "trec" and n_mixed:
        say(f"judged in different rounds: {counted(n_mixed, 'document')}, iteration 0")
    if form != "trec" and n_rounds > 1:
        say(f"these files cannot say which of {n_rounds:,} rounds a document was judged in")
    if first.erased:
        say(first.erased)
    of_files = source.judgements or source.is_of_files
    tell_voters(None if of_files else source.collection, paths, first.all_votes.voters)
    return replace(first, others=tuple(made[1:]))


def _path_at(template: str | Path | None, level: int | None) -> str | None:
    return None if template is None else str(template).replace(LEVEL, _level_word(level))


def _level_word(level: int | None) -> str:
    return "graded" if level is None else str(level)


def _of_ntcir(
    form: str, letters: str | None, named: NamedQrels, one: QrelsResult
) -> tuple[list[str], dict[str, Any]]:
    """Return the texts of the files, and what their manifest says of them.

    A sum has the letter of the level of its definition that it reaches.
    """
    from store.formats.qrels import letters_of, write_ntcir2, write_ntcireval
    from store.formats.scale import parse_scale

    rows, scale, definition = one.qrels, one.all_votes.scale, named.definition
    texts: list[str] = []
    readings: dict[str, int | None] = {"graded": None}
    more = {}
    if form == "ntcireval":
        texts.append(_text(write_ntcireval, rows))
    else:
        if definition.aggregate != "sum":
            of_grades = letters_of(scale, letters)
            readings = {"rigid": definition.level_named(scale, "rigid"), "relaxed": scale.relaxed}
            cuts = [*readings.values()]
            more["letters"] = {str(grade): letter for grade, letter in of_grades.items()}
        else:
            relaxed, rigid = definition.relaxed, definition.rigid
            if relaxed is None or rigid is None:
                requirement = "must be defined with --relaxed and --rigid: a sum has no letter of the scale"
                name = "NAME" if named.version is None else named.name
                hint = f"pooler qrels define {name} --aggregate sum --relaxed SUM --rigid SUM"
                raise ArgumentError("form", requirement, form, hint=hint)
            scale, letters, cuts = parse_scale("0-2"), letters or "CBA", [2, 1]
            rows = [replace(row, grade=(row.grade >= relaxed) + (row.grade >= rigid)) for row in rows]
            readings = {"rigid": rigid, "relaxed": relaxed}
            sums = ("", f"{relaxed}", f"{rigid}")
            more["letters"] = dict(zip(sums, letters_of(scale, letters).values(), strict=True))
        texts += [_text(write_ntcir2, rows, scale, cut, letters=letters) for cut in cuts]
    files = [
        {"reading": reading, "level": level, "sha256": sha256_of(text)}
        for (reading, level), text in zip(readings.items(), texts, strict=True)
    ]
    return texts, {"files": files, **more}


def _text(write: Callable[..., None], *what: Any, **how: Any) -> str:
    buffer = io.StringIO()
    write(*what, buffer, **how)
    return buffer.getvalue()
