"""`pooler export qrels`: the qrels of a collection by name, or made of judges' files."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pooler.cli.console import check_out, erased_facts, erased_words, write_results
from pooler.cli.keep.export_formats import made_of, sha256_of
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CodeOption,
    CollectionOption,
    ColumnsOption,
    InputOption,
    JudgeColumnOption,
    LenientOption,
    MapOption,
    RepeatsOption,
    RuleOptions,
    ScaleOption,
    TopicOption,
)
from pooler.cli.qrels_files import QrelsOptions, tell_file_name, tell_rises
from pooler.cli.signature import argument, command, option
from pooler.messages import say
from pooler.results.judgement_files import FileReading
from pooler.results.source import Source
from store.errors import ArgumentError, PoolerError
from store.grades.definition import is_file_word

if TYPE_CHECKING:
    from store.grades.definition import NamedQrels
    from store.grades.qrels import FinalQrels
    from store.records import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules(RuleOptions):
    """How the judgements of files become one."""

    PANEL: ClassVar[str] = "Files of judges; what a collection does, its definition says"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How files of judgements are read."""

    PANEL: ClassVar[str] = "Files of judges; what a collection does, its definition says"

    scale: ScaleOption = None
    codes: CodeOption = None
    mapped: MapOption = None
    repeats: RepeatsOption = None
    form: InputOption = None
    columns: ColumnsOption = None
    topic: TopicOption = None
    judge_column: JudgeColumnOption = None
    lenient: LenientOption = False


@command
def qrels(
    words: Annotated[
        list[str] | None,
        argument(
            "[NAME|FILE...]",
            "Qrels of the collection by name, default `official`; or files, each of one judge and called by"
            " its file name, or NAME=FILE, - is stdin.",
        ),
    ] = None,
    layout: Annotated[
        Literal["trec", "ntcir2", "ntcireval"],
        option(
            "--as",
            "trec: topic iteration docno grade; ntcir2: topic letter docno 0|1, in the two files OUT.rigid"
            " and OUT.relaxed; ntcireval: topic docno L0..Ln.",
        ),
    ] = "trec",
    letters: Annotated[
        str | None,
        option(
            "--letters LETTERS",
            "With ntcir2: a letter for each grade of the scale, lowest first, such as CBA.",
            show_default="the keys of the scale; of sums CBA: not, relaxed and rigid relevant",
        ),
    ] = None,
    one_of: Annotated[
        str | None,
        option(
            "--one-of CLASSES",
            "Also write unjudged documents, with `duplicate` as the iteration and the grade of the judged"
            " documents of their class (lines `docno class`, as in `pooler pool`).",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    options: QrelsOptions,
    rule: FileRules,
    files_read: ReadingOptions,
) -> None:
    """Write qrels: graded, or binary at one or more levels.

    Documents that were skipped or cannot be judged are left out and counted; none becomes grade 0. Where
    judges gave a document different grades, and no rule says what then, nothing is written.

    Example: pooler export qrels official --level 1 --out qrels.txt

    Example: pooler export qrels judgements/*.qrels --level 1 --aggregate majority --ties low
    """
    given = [one for one in words or [] if is_file_word(one)]
    if given:
        source = Source(
            judgements=words or [], qrels=rule.definition(), reading=FileReading(**asdict(files_read))
        )
        if len(given) < len(words or []):
            message = f"`{next(one for one in words or [] if one not in given)}` is a name, {given[0]} a file"
            raise PoolerError(message, hint="./NAME is the file of that name")
    else:
        _refuse_rules(rule, files_read)
        if len(words or []) > 1:
            raise ArgumentError("NAME", "must be one: each has a file of its own", " ".join(words or []))
        source = Source(collection=collection, qrels=words[0] if words else None)
    if layout == "trec":
        if letters is not None:
            raise ArgumentError("--letters", "is for --as ntcir2", letters)
        voters = options.write(source, one_of=one_of)
        if not given:
            tell_rises(collection, voters)
        return
    if given:
        raise ArgumentError("--as", "must be trec for files of judges", layout)
    for name, value in (("level", options.levels), ("graded", options.graded), ("one_of", one_of)):
        if value:
            raise ArgumentError(name, f"is not used with --as {layout}, which has its own levels", None)
    _write_ntcir(source, layout, letters, options, collection)


def _refuse_rules(rule: FileRules, reading: ReadingOptions) -> None:
    """Refuse options on files where the qrels are a collection's."""
    for options in (rule, reading):
        for one in fields(options):
            if getattr(options, one.name):
                hint = (
                    f"pooler qrels define NAME --{one.name.replace('_', '-')} ...: pooler export qrels NAME"
                )
                requirement = "is for files of judges"
                raise ArgumentError(one.name, requirement, None, hint=hint if options is rule else None)


def _write_ntcir(
    source: Source, form: str, letters: str | None, options: QrelsOptions, collection: str
) -> None:
    """Write one of NTCIR's forms, which have no place for the rounds of judging."""
    from pooler.results.agree.aggregate import check_decided
    from pooler.results.agree.qrels_words import qrels_facts, tell_final
    from pooler.results.judge_kinds import warn_about_voters
    from store.collection import Collection
    from store.formats.ntcir import write_ntcir2, write_ntcireval
    from store.grades.qrels import decide

    out, named, has_letters = options.out, source.named_qrels, form == "ntcir2"
    if has_letters and out in (None, "-"):
        requirement = "must be given with --as ntcir2, which writes OUT.rigid and OUT.relaxed"
        raise ArgumentError("--out", requirement, out)
    if not has_letters and letters is not None:
        raise ArgumentError("--letters", "is for --as ntcir2", letters)
    if options.unjudged is not None:
        raise ArgumentError(
            "--unjudged", f"is not used with --as {form}: unjudged documents have no form", None
        )
    beside = options.manifest or (None if out in (None, "-") else f"{out}.manifest.json")
    paths = [f"{out}.rigid", f"{out}.relaxed"] if has_letters else [out]
    for path in paths:
        check_out(path, beside)
    with Collection(collection) as opened:
        all_votes = opened.grades.all_votes(named.definition)
        final = decide(all_votes, named.definition)
        check_decided(named, final)
        readings: dict[str, int | None] = {"graded": None}
        facts: dict[str, Any] = {}
        texts = []
        if has_letters:
            lettered = _lettered(opened.scale, named, final, letters)
            readings, facts["letters"] = lettered.readings, lettered.of_grades
            for level in lettered.cuts:
                buffer = io.StringIO()
                write_ntcir2(lettered.rows, lettered.scale, level, buffer, letters=lettered.letters)
                texts.append(buffer.getvalue())
        else:
            buffer = io.StringIO()
            write_ntcireval(final.rows, buffer)
            texts.append(buffer.getvalue())
        n_open = len(opened.grades.open_pairs(all_votes, named.definition))
        facts = {
            **made_of(opened),
            "format": form,
            "qrels": named.label,
            **erased_facts(opened),
            **qrels_facts(opened.judges.all(), final, opened.scale, n_open),
            "files": [
                {"reading": reading, "level": level, "sha256": sha256_of(text)}
                for (reading, level), text in zip(readings.items(), texts, strict=True)
            ],
            **facts,
        }
        erased = erased_words(opened)
    files = {path: text.splitlines() for path, text in zip(paths, texts, strict=True)}
    write_results(files, lambda: facts, beside)
    tell_final(final, all_votes, n_open)
    n_rounds = len({row.iteration for row in final.rows})
    if n_rounds > 1:
        say(f"these files cannot say which of {n_rounds:,} rounds a document was judged in")
    warn_about_voters(all_votes.voters)
    tell_file_name(paths, all_votes.voters)
    tell_rises(collection, all_votes.voters)
    if erased:
        say(erased)


@dataclass(frozen=True, slots=True)
class _Lettered:
    """Grades as NTCIR-2 writes them."""

    rows: list[Any]
    scale: Scale
    cuts: list[int | None]
    """Of the rigid and the relaxed file, on that scale."""
    letters: str | None
    readings: dict[str, int | None]
    """The least grade, or sum, that each reading takes for relevant."""
    of_grades: dict[str, str]


def _lettered(scale: Scale, named: NamedQrels, final: FinalQrels, letters: str | None) -> _Lettered:
    """Return grades with their letters; a sum has that of the level of its definition that it reaches."""
    from store.formats.ntcir import letters_of
    from store.formats.scale import parse_scale

    definition = named.definition
    if definition.aggregate != "sum":
        try:
            of_grades = {str(grade): letter for grade, letter in letters_of(scale, letters).items()}
        except ArgumentError as error:
            raise error.named("the scale" if error.name == "scale" else "--letters") from error
        rigid = definition.level_named(scale, "rigid")
        readings = {"rigid": rigid, "relaxed": scale.relaxed}
        return _Lettered(final.rows, scale, [*readings.values()], letters, readings, of_grades)
    relaxed, rigid = definition.relaxed, definition.rigid
    if relaxed is None or rigid is None:
        requirement = "must be defined with --relaxed and --rigid, as a sum has no letter of the scale"
        hint = f"pooler qrels define {named.name} --aggregate sum --relaxed SUM --rigid SUM"
        raise ArgumentError("--as", requirement, "ntcir2", hint=hint)
    classes, letters = parse_scale("0-2"), letters or "CBA"
    rows = [replace(one, grade=(one.grade >= relaxed) + (one.grade >= rigid)) for one in final.rows]
    named_letters = letters_of(classes, letters)
    of_grades = {"": named_letters[0], f"{relaxed}": named_letters[1], f"{rigid}": named_letters[2]}
    return _Lettered(rows, classes, [2, 1], letters, {"rigid": rigid, "relaxed": relaxed}, of_grades)
