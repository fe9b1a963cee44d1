"""Files of judgements as the command line names them, each read as what its judges said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from pooler.cli.console import counted, progress, say, warn
from pooler.cli.judgement_sources import EVERY_JUDGE, Source, read_source
from store.errors import ArgumentError, FaultList, PoolerError

if TYPE_CHECKING:
    from pooler.cli.judgement_reading import Reading
    from store.codes import DecodedQrels
    from store.file_votes import FileVotes
    from store.formats.judgement_files import JudgementsFormat
    from store.formats.qrels_columns import QrelsColumns
    from store.records import JudgeKind, Judgement, Scale
    from store.repeats import RepeatCounts, Repeats

STDIN = "-"
COMPRESSED = (".gz", ".xz", ".zst")
CODES_HINT = "--map FROM=TO reads one grade as another, --code CODE=unjudged as no judgement"
_NOTHING = (
    "{file}: every grade is 0: nothing is relevant; if the file lists relevant documents,"
    " --map 0=1 reads them so"
)
REPEATS_HINT = "--repeats first, last, highest or drop says which counts"

Pair = tuple[str, str]
"""Topic and docno."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file, and whose judgements it holds."""

    file: str
    judge: str | None
    """``None`` = the file names its judges itself."""


@dataclass(slots=True)
class JudgedFile:
    """What a file holds; one of `columns`, `source` and `states` as it was read."""

    named: NamedFile
    columns: QrelsColumns | None = None
    source: Source | None = None
    states: dict[tuple[str, str, str], tuple[int, Judgement]] = field(default_factory=dict)
    """By topic, docno and judge: the line that says how it stands last, and how."""
    kinds: dict[str, JudgeKind] = field(default_factory=dict)
    """Of judges who are named by the file, where it says so."""
    judgements: list[Judgement] = field(default_factory=list)
    """Set by `decode`."""
    listed: dict[Pair, str] = field(default_factory=dict)
    """Pairs of lines that say "pooled, not judged", and their iterations; set by `decode`."""


def is_file(text: str) -> bool:
    """Say whether an argument names a file that can be read: not a folder, and not nothing."""
    try:
        return text == STDIN or (Path(text).exists() and not Path(text).is_dir())
    except (OSError, ValueError):
        return False  # a name no file can have


def named_file(text: str, *, names_judges: bool = False) -> NamedFile:
    """Read an argument: a file named after its judge, or ``NAME=FILE``.

    Parameters
    ----------
    text : str
        A file whose name has a ``=`` is that file where there is one.
    names_judges : bool, default=False
        Whether files name their judges themselves, so that ``NAME=`` cannot.

    Raises
    ------
    ArgumentError
        If the name cannot be a judge's, or the file names its judges itself.

    Examples
    --------
    >>> named_file("runs/strict.qrels.gz"), named_file("ann=a.txt")
    (NamedFile(file='runs/strict.qrels.gz', judge='strict'), NamedFile(file='a.txt', judge='ann'))
    """
    from store.formats.lines import id_fault

    name, sign, file = text.partition("=")
    if not sign or is_file(text):
        name, file = judge_of_file(text), text
    elif names_judges:
        hint = f"leave `{name}=` out"
        raise ArgumentError("NAME=FILE", "is for a file of one judge", text, hint=hint)
    if names_judges:
        return NamedFile(file, None)
    if fault := id_fault(name):
        hint = "NAME=FILE names the judge of a file"
        raise ArgumentError("FILE", f"must name its judge by one word ({fault})", text, hint=hint)
    return NamedFile(file, name)


def judge_of_file(file: str) -> str:
    """Return the name of a file without folder, compression and the last extension.

    Examples
    --------
    >>> judge_of_file("a/qrels-rnd1.txt.gz"), judge_of_file("gpt-4.1.qrels"), judge_of_file("-")
    ('qrels-rnd1', 'gpt-4.1', 'stdin')
    """
    if file == STDIN:
        return "stdin"
    path = PurePath(file)
    return PurePath(path.stem).stem if path.suffix in COMPRESSED else path.stem


def named_files(texts: Sequence[str], *, names_judges: bool) -> list[NamedFile]:
    """Read arguments, and refuse two files of one name; see `named_file`."""
    files = [named_file(text, names_judges=names_judges) for text in texts]
    first_of: dict[str, NamedFile] = {}
    for one in files:
        if one.judge is not None and (first := first_of.setdefault(one.judge, one)) is not one:
            message = f"{first.file} and {one.file} would both be of judge `{one.judge}`"
            hint = f"NAME=FILE names the judge of a file, as in {one.judge}-2={one.file}"
            raise PoolerError(message, hint=hint)
    return files


def read_files(
    texts: Sequence[str], reading: Reading, votes: FileVotes | None = None
) -> list[JudgedFile]:
    """Read files of judgements; what their codes mean is not decided yet.

    Parameters
    ----------
    texts : sequence of str
        The arguments.
    reading : Reading
        How to read them.
    votes : FileVotes, optional
        Whose numberings files may be read into as columns, without an object a line.

    Raises
    ------
    FormatError
        With every fault of the first file that has one.
    ArgumentError, PoolerError
        If options or names do not go together, or a file cannot be opened.
    """
    files = named_files(texts, names_judges=reading.names_judges)
    # One kind of file needs the scale to be read at all; a mistyped scale is told before reading.
    scale = reading.declared()
    found = []
    with progress("files", len(files)) as advance:
        for named in files:
            found.append(_read(named, reading, scale, votes))
            advance(1)
    _check_judges(found)
    return found


def scale_of(files: Sequence[JudgedFile], reading: Reading, levels: Iterable[int] = ()) -> Scale:
    """Return the declared scale, or the one that reaches over all grades, and say which.

    Parameters
    ----------
    files : sequence of JudgedFile
        As read.
    reading : Reading
        How they were read.
    levels : iterable of int
        Levels that cut the scale in two wherever they lie.

    Raises
    ------
    ArgumentError
        If there is a negative code, of which nobody says whether it is a grade; or grades too far
        apart.
    """
    from store.seen_scale import scale_of_grades

    if (declared := reading.declared()) is not None:
        return declared
    grades: set[int] = set()
    no_grades, mapping = reading.no_grades, reading.mapping
    meanings = reading.meanings
    for one in files:
        codes = _codes(one)
        here = {mapping.get(code, code) for code in codes - no_grades}
        unsaid = {mapping.get(code, code) for code in codes - meanings.keys()}
        if min(unsaid, default=0) < 0:
            code = min(unsaid)
            hint = f"--code {code}=unjudged, or --scale {code}-{max(max(here), 1)} if it is a grade"
            message = f"{one.named.file}: what does the code {code} mean?"
            raise PoolerError(message, hint=hint)
        grades |= here
    cuts = [cut for level in levels for cut in (level - 1, level) if level > 0]
    found = scale_of_grades(grades | set(cuts))
    say(f"scale {found.values[0]}-{found.values[-1]}, as far as the grades in the files go;"
        " --scale declares another")  # fmt: skip
    return found


def decode(files: Iterable[JudgedFile], scale: Scale, reading: Reading) -> None:
    """Turn what was read as rows or states into judgements of a scale.

    Raises
    ------
    FormatError
        If a grade is not on the scale, with every line that has one.
    """
    for one in files:
        if one.source is not None:
            _decode_rows(one, one.source, scale, reading)
        elif one.columns is None:
            _decode_states(one, scale)


def fill(votes: FileVotes, files: Sequence[JudgedFile], scale: Scale, reading: Reading) -> None:
    """Give judgements to whoever measures them, files in order, judges of one file by name.

    Raises
    ------
    FormatError
        If a grade is not on the scale, with every line that has one.
    """
    from store.records import JudgeKind

    unjudged, mapping = reading.unjudged, reading.mapping
    votes.scale = scale
    for one in files:
        if one.columns is not None:
            values = {mapping.get(code, code) for code in _codes(one) - unjudged}
            if values <= set(scale.values):
                if values == {0} and len(one.columns.codes) > 1:
                    warn(_NOTHING.format(file=one.named.file))
                votes.add_columns(str(one.named.judge), one.columns, unjudged=unjudged,
                                  mapping=mapping)  # fmt: skip
                continue
            # Some line is at fault: it is found where lines have numbers.
            one.source, one.columns = _source(one.named, reading, scale), None
        decode([one], scale, reading)
        names = sorted({row.judge for row in one.judgements}) if one.named.judge is None \
            else [one.named.judge]  # fmt: skip
        votes.add_judgements(
            one.judgements,
            {name: one.kinds.get(name, JudgeKind.IMPORTED) for name in names},
            listed=one.listed,
            is_named=one.named.judge is not None,
        )


def _read(
    named: NamedFile, reading: Reading, scale: Scale | None, votes: FileVotes | None
) -> JudgedFile:
    """Read one file."""
    if reading.wanted(named.judge).form in EVERY_JUDGE:
        return _read_states(named, reading)
    if votes is not None and reading.is_plain:
        from store.formats.qrels_columns import read_qrels_columns

        columns = read_qrels_columns(named.file, votes.topics, votes.docnos)
        if columns is not None:
            return JudgedFile(named, columns=columns)
    return JudgedFile(named, source=_source(named, reading, scale))


def _source(named: NamedFile, reading: Reading, scale: Scale | None) -> Source:
    """Read a file of grades line by line."""
    from store.repeats import Repeats, settle_repeats
    from store.scale import parse_scale

    wanted = reading.wanted(named.judge)
    if wanted.form == "ntcir2" and scale is None:
        requirement = "must say what the letters of an ntcir2 file are"
        raise ArgumentError("--scale", requirement, None, hint="--scale ntcir")
    faults = FaultList(named.file)
    source = read_source(named.file, wanted, scale or parse_scale("binary"), faults)
    if faults and reading.repeats in (None, Repeats.REFUSE):
        settle_repeats(source.rows, lambda row: (0, row.code), Repeats.REFUSE, faults)
    faults.raise_if_any(hint=faults.hint)
    if source.n_float_grades:
        grades = counted(source.n_float_grades, "grade")
        shown = f"({source.float_grade}), read as integers"
        warn(f"{named.file}: {grades} written as floats {shown}")
    if source.n_trailing:
        warn(f"{named.file}: text after field {source.n_fields} was ignored on"
             f" {source.n_trailing:,} lines; is it a {source.noun} file?")  # fmt: skip
    return source


def _read_states(named: NamedFile, reading: Reading) -> JudgedFile:
    """Read a file of every judge: how documents stand now, or all that happened to them."""
    from store.formats.judgement_files import iterate_judgements
    from store.formats.judgements import JudgementEvent
    from store.records import Judgement

    one = JudgedFile(named)
    faults = FaultList(named.file)
    form: JudgementsFormat = "jsonl" if reading.wanted(None).form == "jsonl" else "tsv"
    for line, state, kind in iterate_judgements(named.file, form, faults):
        if isinstance(state, JudgementEvent):
            found = Judgement(
                state.topic, state.docno, state.judge, state.state, state.grade,
                reason=state.reason, note=state.note, iteration=state.iteration,
            )  # fmt: skip
        else:
            found = state
        key = (found.topic, found.docno, found.judge)
        # Revisions of one key come in order: the last one is how the document stands.
        one.states[key] = line, found
        if kind is not None:
            one.kinds[found.judge] = kind
    faults.raise_if_any()
    return one


def _codes(one: JudgedFile) -> set[int]:
    """Return every code of a file."""
    if one.columns is not None:
        import numpy as np

        return set(np.unique(one.columns.codes).tolist())
    if one.source is not None:
        return {row.code for row in one.source.rows}
    return {state.grade for _, state in one.states.values() if state.grade is not None}


def _decode_rows(one: JudgedFile, source: Source, scale: Scale, reading: Reading) -> None:
    """Understand the codes of a file of grades."""
    from store.codes import decode_rows
    from store.records import Judgement, State
    from store.repeats import Repeats

    faults = FaultList(one.named.file)
    decoded = decode_rows(
        source.rows, scale, codes=reading.meanings, mapping=reading.mapping,
        repeats=reading.repeats or Repeats.REFUSE, faults=faults,
    )  # fmt: skip
    hints = [REPEATS_HINT] if decoded.repeats.n_refused else []
    if len(faults) > decoded.repeats.n_refused:
        hints.append(f"{CODES_HINT}; --scale declares the grades there are")
    faults.raise_if_any(hint="; ".join(hints))
    say_repeats(one.named.file, decoded.repeats, reading.repeats)
    warn_if_nothing_relevant(one.named.file, decoded)
    one.judgements = [
        Judgement(row.topic, row.docno, judge, State.JUDGED, row.grade, iteration=row.iteration)
        for judge, rows in decoded.judged.items()
        for row in rows
    ]
    one.judgements += decoded.states
    one.listed = decoded.listed


def say_repeats(file: str, counts: RepeatCounts, rule: Repeats | None) -> None:
    """Say what came more than once, and what was done with it."""
    if counts.n_alike:
        say(f"{file}: {counted(counts.n_alike, 'line')} not counted: an earlier line says the same")
    if counts.n_differing:
        say(f"{file}: {counted(counts.n_differing, 'judgement')} came again with other grades;"
            f" --repeats {rule}: {counted(counts.n_dropped, 'line')} left out")  # fmt: skip


def warn_if_nothing_relevant(file: str, decoded: DecodedQrels) -> None:
    """Warn of a file of which every grade is 0, as lists of relevant documents are written."""
    grades = [row.grade for rows in decoded.judged.values() for row in rows]
    if len(grades) > 1 and not any(grades):
        warn(_NOTHING.format(file=file))


def _decode_states(one: JudgedFile, scale: Scale) -> None:
    """Check the grades of a file of every judge."""
    faults = FaultList(one.named.file)
    values = {None, *scale.values}
    listed = ", ".join(map(str, scale.values))
    for line, state in one.states.values():
        if state.grade not in values:
            faults.add(line, f"expected a grade of the scale ({listed}), got {state.grade}",
                       "grade")  # fmt: skip
    faults.raise_if_any(hint="--scale declares the grades there are")
    one.judgements = [state for _, state in one.states.values()]


def _check_judges(files: Sequence[JudgedFile]) -> None:
    """Refuse a judge whom two files name."""
    first_in: dict[str, str] = {}
    for one in files:
        names = {row.judge for row in one.source.rows} if one.source is not None else set()
        names |= {state.judge for _, state in one.states.values()}
        for name in sorted(names):
            if (other := first_in.setdefault(name, one.named.file)) != one.named.file:
                message = f"judge `{name}` is in {other} and in {one.named.file}"
                raise PoolerError(message, hint="put what one judge said into one file")


def tell(files: Sequence[JudgedFile]) -> None:
    """Say on stderr what each file holds: judgements by grade, and what is none."""
    for one in files:
        grades = Counter(row.grade for row in one.judgements if row.grade is not None)
        by_grade = ", ".join(f"{count:,} x {grade}" for grade, count in sorted(grades.items()))
        words = counted(grades.total(), "judgement") + (f" ({by_grade})" if by_grade else "")
        states = Counter(str(row.state) for row in one.judgements)
        for state, noun in (("skipped", "skipped"), ("cannot", "cannot be judged"),
                            ("unjudged", "without a decision")):  # fmt: skip
            words += f", {states[state]:,} {noun}" if states[state] else ""
        words += f", {len(one.listed):,} pooled and not judged" if one.listed else ""
        say(f"{one.named.file}: {words}")
