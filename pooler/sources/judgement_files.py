"""Files of judgements as Source reads them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import chain, groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

from pooler.judge_kinds import own_grades_hint
from pooler.messages import progress, say, warn
from store.errors import ArgumentError, FaultList, PoolerError
from store.fields import id_fault
from store.formats import GradesFormat, JudgementsFormat
from store.formats.lines import PACKED, STDIN, piped
from store.formats.scale import (
    DecodedQrels,
    Meaning,
    RepeatCounts,
    Repeats,
    decode_rows,
    parse_codes,
    parse_map,
    settle_repeats,
)
from store.formats.tables import GradedRow, JudgedTable, ReadTable, parse_columns, read_columns
from store.records import JudgeKind, Judgement, PoolEntry, Qrel, Scale, State
from store.text import counted, natural_key

if TYPE_CHECKING:
    from store.grades.file_votes import FileVotes

Pair = tuple[str, str]
"""Topic and docno."""


PrelsName = Literal["xinfap", "statap"]


@dataclass(frozen=True, slots=True)
class SampleFile:
    """What a prels file holds, as judgements and as a pool."""

    kind: PrelsName
    rows: list[GradedRow]
    """Every line, without a judge; those of documents that were not sampled have the code for it."""
    entries: list[PoolEntry]
    """Topics in natural order, docnos bytewise."""
    methods: dict[Pair, int]
    """Of a statap file: methods that `method_of` would not give."""
    table: ReadTable[Any]


def method_of(probability: float) -> int:
    """Return the method code of a document when nothing else is known: 0 = certain to be chosen."""
    return 0 if probability == 1 else 1


Listed = dict[str, dict[str, list[str]]]
"""Docnos by topic by some value, as a manifest notes them."""


def pairs_listed(noted: Listed) -> dict[Pair, str]:
    """Read what `values_by_pair` made: the value of every pair."""
    return {
        (topic, docno): value
        for value, topics in noted.items()
        for topic, docnos in topics.items()
        for docno in docnos
    }


def values_by_pair(values: dict[Pair, int] | dict[Pair, str]) -> Listed:
    """Return pairs by their value, as a manifest notes them."""
    listed: Listed = {}
    for (topic, docno), value in sorted(values.items()):
        listed.setdefault(str(value), {}).setdefault(topic, []).append(docno)
    return listed


def read_sample(
    file: str, kind: PrelsName, faults: FaultList, *, judge_column: int | None, lenient: bool
) -> SampleFile:
    """Read a prels file; its faults are reported, and what has none is returned.

    Entries are numbered within their topics: those to judge, then the others.
    """
    from store.formats.prels import NOT_SAMPLED, read_statap, read_xinfap

    if judge_column is not None:
        raise ArgumentError("judge_column", "is for qrels; no column of a sample names a judge", judge_column)
    table: ReadTable[Any]
    methods = {}
    if kind == "xinfap":
        table = read_xinfap(file, lenient=lenient, faults=faults)
        rows = [GradedRow(row.line, row.topic, row.iteration, row.docno, "", row.code) for row in table.rows]
        sizes = Counter((row.topic, row.stratum) for row in table.rows)
        n_sampled = Counter((row.topic, row.stratum) for row in table.rows if row.code != NOT_SAMPLED)
        # Of a stratum that nothing was sampled from, no probability is known.
        shares = {stratum: n_sampled[stratum] / size or None for stratum, size in sizes.items()}
        entries = [
            PoolEntry(
                *(row.topic, row.docno, 0, None, row.stratum),
                inclusion_probability=shares[row.topic, row.stratum],
                sampled=row.code != NOT_SAMPLED,
            )
            for row in table.rows
        ]
    else:
        table = read_statap(file, lenient=lenient, faults=faults)
        rows = [GradedRow(row.line, row.topic, "0", row.docno, "", row.code) for row in table.rows]
        entries = [
            PoolEntry(row.topic, row.docno, 0, inclusion_probability=row.probability) for row in table.rows
        ]
        methods = {
            (row.topic, row.docno): row.method
            for row in table.rows
            if row.method != method_of(row.probability)
        }
    entries.sort(key=lambda entry: (natural_key(entry.topic), not entry.sampled, entry.docno))
    ordered = [
        replace(entry, position=position)
        for _, of_topic in groupby(entries, key=lambda entry: entry.topic)
        for position, entry in enumerate(of_topic)
    ]
    return SampleFile(kind, rows, ordered, methods, table)


EVERY_JUDGE = ("jsonl", "tsv")
"""Formats that name every judge, and say more than grades."""

COLUMNS_HINT = "a table of other columns: --columns docno,judge,grade --topic T"
"""What to type for what is in no format."""

UNKNOWN_HINT = "--allow-unknown keeps unknown topics and docnos"


@dataclass(frozen=True, slots=True)
class GradesFile:
    """What a file of grades holds."""

    rows: list[GradedRow]
    table: ReadTable[Any]
    noun: str
    """What kind of file it was read as."""
    sample: SampleFile | None = None
    hint: str = ""
    """What to type where documents come more than once."""


def read_source(
    file: str,
    reading: FileReading,
    scale: Scale,
    faults: FaultList,
    *,
    judge: str | None,
    sample: PrelsName | None = None,
) -> GradesFile:
    """Read a file of grades; its faults are reported, and what has none is returned.

    What comes twice is returned twice, but for a prels file, where it is a fault.
    """
    column, lenient, form = reading.judge_column, reading.lenient, reading.chosen
    if sample is not None:
        sampled = read_sample(file, sample, faults, judge_column=column, lenient=lenient)
        return GradesFile(_named(sampled.rows, judge), sampled.table, "prels", sampled)
    if form == "qrels":
        from store.formats.qrels import DUPLICATE, read_qrels

        qrels = read_qrels(file, lenient=lenient, judge_column=column, keep_repeats=True, faults=faults)
        given = [row for row in qrels.rows if DUPLICATE not in (row.iteration, row.judge)]
        if len(given) < len(qrels.rows):
            n_left_out = counted(len(qrels.rows) - len(given), "line")
            say(f"{file}: {n_left_out} left out: grades copied to near-duplicates")
        if not qrels.rows and faults.kept[0].code == "fields":
            faults.hint = faults.hint or COLUMNS_HINT
        return GradesFile(_named(given, judge), qrels, "qrels", hint=faults.hint or "")
    how: dict[str, Any] = {"lenient": lenient, "faults": faults}
    if form == "ntcir2":
        from store.formats.qrels import read_ntcir2

        table, noun = read_ntcir2(file, scale, **how), "NTCIR-2"
    elif form == "ntcireval":
        from store.formats.qrels import read_ntcireval

        table, noun = read_ntcireval(file, **how), "NTCIREVAL"
    else:
        names = reading.names
        table = read_columns(file, names, topic=reading.topic, judge=judge, **how)
        faults.hint = _header_hint(file, reading, judge, table, faults) or faults.hint
        noun = f"`{','.join(names)}`"
    return GradesFile(_named(table.rows, judge), table, noun)


def _named(rows: list[GradedRow], judge: str | None) -> list[GradedRow]:
    """Return rows that say whose they are themselves, or of one judge."""
    return rows if judge is None else [row._replace(judge=judge) for row in rows]


def warn_of_oddities(file: str, source: GradesFile) -> None:
    """Warn of grades that were written as floats, and of text that was not read."""
    table = source.table
    if table.layout.taken:
        warn(f"{file}: {table.layout.taken}")
    if table.n_float_grades:
        grades = counted(table.n_float_grades, "grade")
        warn(f"{file}: {grades} written as floats ({table.float_grade}), read as integers")
    if table.n_trailing:
        place = len(table.layout.columns.split())
        lines = f"text after field {place} was ignored on {table.n_trailing:,} lines"
        warn(f"{file}: {lines}; is it a {source.noun} file?")


def _header_hint(
    file: str, reading: FileReading, judge: str | None, table: JudgedTable, faults: FaultList
) -> str | None:
    """Say how to pass over a first line that names the columns; ``None`` where there is none."""
    first = faults.kept[0] if faults else None
    if first is None or first.line is None or first.code != "grade":
        return None
    if not table.rows or table.rows[0].line < first.line:  # the lines below must be grades
        return None
    skip = piped(file, f"tail -n +{first.line + 1}")
    words = ["pooler", "import", "judgements", "-", "--columns", ",".join(reading.names)]
    words += [] if reading.topic is None else ["--topic", reading.topic]
    words += [] if judge is None else ["--judge", judge]
    return f"without a header line: {skip} | {shlex.join(words)}"


def read_given_qrels(path: str, *, lenient: bool, faults: FaultList | None = None) -> JudgedTable:
    """Read qrels as evaluators do, and warn of lines that say what an earlier line says.

    Two grades of one document are a fault; with `faults`, they are added there and not raised.
    """
    from store.formats.qrels import read_qrels

    with _naming_judges(path):
        content = read_qrels(path, lenient=lenient, faults=faults)
    if content.layout.taken and not faults:
        warn(f"{path}: {content.layout.taken}")
    if content.n_same and not faults:
        warn(f"{path}: {alike_words(content.n_same, content.first_same)}")
    return content


def given_rows(path: str, *, lenient: bool) -> list[Qrel]:
    """Read qrels as `read_given_qrels` does, those without a peculiarity several times as fast."""
    from store.formats.qrels import read_plain_qrels

    if (rows := read_plain_qrels(path)) is not None:
        return [*rows]
    lines = read_given_qrels(path, lenient=lenient).rows
    return [Qrel(one.topic, one.docno, one.code, one.iteration) for one in lines]


@contextmanager
def _naming_judges(word: str) -> Iterator[None]:
    """Say of a word that reads as a file, and is none, how a judge of that name is named."""
    try:
        yield
    except PoolerError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            error.hint = error.hint or own_grades_hint(word)
        raise


def alike_words(number: int, first: int) -> str:
    """Say that lines are not counted, as each says what a line says that is.

    >>> alike_words(1, 7)
    '1 line not counted (line 7): repeats of another line'
    >>> alike_words(2, 7)
    '2 lines not counted (first: line 7): repeats of another line'
    """
    where = f"line {first}" if number == 1 else f"first: line {first}"
    return f"{counted(number, 'line')} not counted ({where}): repeats of another line"


_BESIDE_UNJUDGED = "(or not-pooled, skipped, cannot, unjudgeable)"
CODES_HINT = (
    f"--map FROM=TO reads one grade as another, --code CODE=unjudged as no judgement {_BESIDE_UNJUDGED}"
)
_NOTHING = (
    "{file}: every grade is 0: nothing is relevant; if the file lists relevant documents,"
    " --map 0=1 reads them so"
)
REPEATS_HINT = "--repeats first, last, highest or drop says which counts"


def untold(name: str, code: int) -> PoolerError:
    """Return the error that a code below 0 is neither declared to be nor not to be a grade."""
    hint = f"--code {code}=unjudged {_BESIDE_UNJUDGED}, or --code {code}=grade if it is one"
    return PoolerError(f"{name}: what does the code {code} mean?", hint=hint)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file, and whose judgements it holds."""

    file: str
    judge: str | None
    """``None`` = the file names its judges itself."""


@dataclass(slots=True)
class JudgedFile:
    """What a file holds; `source` or `states` as it was read."""

    named: NamedFile
    source: GradesFile | None = None
    states: dict[tuple[str, str, str], tuple[int, Judgement]] = field(default_factory=dict)
    """By topic, docno and judge: the line that says how it stands last, and how."""
    kinds: dict[str, JudgeKind] = field(default_factory=dict)
    """Of judges who are named by the file, where it says so."""
    judgements: list[Judgement] = field(default_factory=list)
    """Set by `decode`."""
    listed: dict[Pair, str] = field(default_factory=dict)
    """Pairs of lines that say "pooled, not judged", and their iterations; set by `decode`."""


def is_file(text: str) -> bool:
    """Return whether an argument names a file that can be read: not a folder, and not nothing."""
    try:
        return text == STDIN or (Path(text).exists() and not Path(text).is_dir())
    except (OSError, ValueError):
        return False  # a name no file can have


def named_file(text: str, *, names_judges: bool = False) -> NamedFile:
    """Read an argument: a file named after its judge, or ``NAME=FILE``.

    A file whose name has a ``=`` is that file where there is one. ``NAME=`` is refused for one that
    names its judges itself.

    >>> named_file("runs/strict.qrels.gz"), named_file("ann=a.txt")
    (NamedFile(file='runs/strict.qrels.gz', judge='strict'), NamedFile(file='a.txt', judge='ann'))
    """
    name, sign, file = text.partition("=")
    if not sign or is_file(text):
        name, file = judge_of_file(text), text
    elif names_judges:
        raise ArgumentError("NAME=FILE", "is for a file of one judge", text, hint=f"leave `{name}=` out")
    if names_judges:
        return NamedFile(file, None)
    if fault := id_fault(name):
        hint = "NAME=FILE names the judge of a file"
        raise ArgumentError("FILE", f"must name its judge by one word ({fault})", text, hint=hint)
    return NamedFile(file, name)


def judge_of_file(file: str) -> str:
    """Return the name of a file without folder, compression and the last extension.

    >>> judge_of_file("a/qrels-rnd1.txt.gz"), judge_of_file("gpt-4.1.qrels"), judge_of_file("-")
    ('qrels-rnd1', 'gpt-4.1', 'stdin')
    """
    if file == STDIN:
        return "stdin"
    path = PurePath(file)
    return PurePath(path.stem).stem if path.suffix in PACKED else path.stem


def read_files(texts: Sequence[str], reading: FileReading) -> list[JudgedFile]:
    """Read files of judgements, no two of one judge; what their codes mean is not decided yet.

    A `FormatError` has every fault of the first file that has one.
    """
    files = [named_file(text, names_judges=reading.names_judges) for text in texts]
    first_of: dict[str, NamedFile] = {}
    for one in files:
        if one.judge is not None and (first := first_of.setdefault(one.judge, one)) is not one:
            message = f"{first.file} and {one.file} would both be judge `{one.judge}`"
            hint = f"NAME=FILE names the judge of a file, as in {one.judge}-2={one.file}"
            raise PoolerError(message, hint=hint)
    # One kind of file needs the scale to be read at all; a mistyped scale is told before reading.
    scale = reading.declared()
    found = []
    with progress("files", len(files)) as advance:
        for named in files:
            found.append(_read(named, reading, scale))
            advance(1)
    first_in: dict[str, str] = {}
    for read in found:
        names = {row.judge for row in read.source.rows} if read.source is not None else set()
        names |= {state.judge for _, state in read.states.values()}
        for name in sorted(names):
            if (other := first_in.setdefault(name, read.named.file)) != read.named.file:
                message = f"judge `{name}` is in {other} and in {read.named.file}"
                raise PoolerError(message, hint="put what one judge said into one file")
    return found


def scale_of(files: Sequence[JudgedFile], reading: FileReading, levels: Iterable[int] = ()) -> Scale:
    """Return the declared scale, or the one that reaches over all grades, and say which.

    Levels cut the scale in two wherever they lie. A negative code that is not declared to be or not to be
    a grade is an error.
    """
    from store.formats.scale import scale_of_grades

    if -1 in reading.meanings and -1 not in parse_codes(reading.codes or []):
        for one in files:
            if -1 in codes_of(one):
                say(f"{one.named.file}: code -1 is pooled and unjudged; --code -1=grade if it is a grade")
    if (declared := reading.declared()) is not None:
        return declared
    grades: set[int] = set()
    mapping, meanings = reading.mapping, reading.meanings
    no_grades = {code for code, what in meanings.items() if what is not Meaning.GRADE}
    for one in files:
        codes = codes_of(one)
        unsaid = {mapping.get(code, code) for code in codes - meanings.keys()}
        if min(unsaid, default=0) < 0:
            raise untold(one.named.file, min(unsaid))
        grades |= {mapping.get(code, code) for code in codes - no_grades}
    cuts = [cut for level in levels for cut in (level - 1, level) if level > 0]
    found = scale_of_grades(grades | set(cuts))
    say(f"scale {found.values[0]}-{found.values[-1]}, from the grades in the files; --scale declares another")
    return found


def decode(files: Iterable[JudgedFile], scale: Scale, reading: FileReading) -> None:
    """Turn what was read as rows or states into judgements of a scale."""
    values, scale_hint = {None, *scale.values}, "--scale declares the grades there are"
    for one in files:
        file = one.named.file
        faults = FaultList(file)
        if one.source is not None:
            decoded = decode_rows(
                one.source.rows,
                scale,
                codes=reading.meanings,
                mapping=reading.mapping,
                repeats=reading.repeats or "refuse",
                faults=faults,
            )
            hints = [*filter(None, [one.source.hint]), REPEATS_HINT] if decoded.repeats.n_refused else []
            if len(faults) > decoded.repeats.n_refused:
                hints.append(f"{CODES_HINT}; {scale_hint}")
            faults.raise_if_any(hint="; ".join(hints))
            say_repeats(file, decoded.repeats, reading.repeats)
            warn_if_nothing_relevant(file, decoded)
            one.judgements = [
                Judgement(row.topic, row.docno, judge, State.JUDGED, row.grade, iteration=row.iteration)
                for judge, rows in decoded.judged.items()
                for row in rows
            ]
            one.judgements += decoded.states
            one.listed = decoded.listed
        else:
            listed = ", ".join(map(str, scale.values))
            for line, state in one.states.values():
                if state.grade not in values:
                    faults.add(line, f"expected a grade of the scale ({listed}), got {state.grade}", "grade")
            faults.raise_if_any(hint=scale_hint)
            one.judgements = [state for _, state in one.states.values()]


def fill(votes: FileVotes, files: Sequence[JudgedFile], scale: Scale, reading: FileReading) -> None:
    """Give judgements to anyone who measures them, files in order, judges of one file by name."""
    votes.scale = scale
    for one in files:
        decode([one], scale, reading)
        names = (
            sorted({row.judge for row in one.judgements}) if one.named.judge is None else [one.named.judge]
        )
        votes.add_judgements(
            one.judgements,
            {name: one.kinds.get(name, JudgeKind.IMPORTED) for name in names},
            listed=one.listed,
            is_named=one.named.judge is not None,
        )


def _read(named: NamedFile, reading: FileReading, scale: Scale | None) -> JudgedFile:
    reading.check(named.judge)
    form = reading.chosen
    if form in EVERY_JUDGE:
        for name in ("codes", "mapped", "repeats", "lenient"):
            if value := getattr(reading, name):
                raise ArgumentError(name, f"is for files of grades, and a {form} file says more", value)
        return _read_states(named, "jsonl" if form == "jsonl" else "tsv")
    with _naming_judges(named.file):
        return JudgedFile(named, source=_source(named, reading, scale))


def _source(named: NamedFile, reading: FileReading, scale: Scale | None) -> GradesFile:
    from store.formats.scale import parse_scale

    if reading.chosen == "ntcir2" and scale is None:
        requirement = "must say what the letters of an ntcir2 file are"
        raise ArgumentError("scale", requirement, None, hint="--scale ntcir")
    faults = FaultList(named.file)
    source = read_source(named.file, reading, scale or parse_scale("binary"), faults, judge=named.judge)
    if faults and reading.repeats in (None, "refuse"):
        settle_repeats(source.rows, lambda row: (0, row.code), "refuse", faults)
    faults.raise_if_any(hint=faults.hint)
    warn_of_oddities(named.file, source)
    return source


def _read_states(named: NamedFile, form: JudgementsFormat) -> JudgedFile:
    from store.formats.judgements import read_judgements

    faults = FaultList(named.file)
    read = read_judgements(named.file, form, faults)
    faults.raise_if_any()
    names = ("topic", "docno", "judge", "state", "grade", "reason", "note", "iteration")
    after = (Judgement(**{name: getattr(event, name) for name in names}) for event in read.events)
    one = JudgedFile(named, kinds=read.kinds)
    for line, found in zip(read.lines, chain(after, read.states), strict=True):
        # Revisions of one key come in order: the last one is how the document stands.
        one.states[found.topic, found.docno, found.judge] = line, found
    return one


def codes_of(one: JudgedFile) -> set[int]:
    """Return every code of a file."""
    if one.source is not None:
        return {row.code for row in one.source.rows}
    return {state.grade for _, state in one.states.values() if state.grade is not None}


def say_repeats(file: str, counts: RepeatCounts, rule: Repeats | None) -> None:
    """Say what came more than once, and what was done with it."""
    if counts.n_same:
        say(f"{file}: {alike_words(counts.n_same, counts.first_same)}")
    if counts.n_differing:
        say(
            f"{file}: {counted(counts.n_differing, 'judgement')} came more than once, with different grades;"
            f" --repeats {rule}: {counted(counts.n_dropped, 'line')} left out"
        )


def warn_if_nothing_relevant(file: str, decoded: DecodedQrels) -> None:
    """Warn of a file of which every grade is 0, as lists of relevant documents are written."""
    grades = [row.grade for rows in decoded.judged.values() for row in rows]
    if len(grades) > 1 and not any(grades):
        warn(_NOTHING.format(file=file))


def tell(files: Sequence[JudgedFile]) -> None:
    """Say on stderr what each file holds: judgements by grade, and what is none."""
    for one in files:
        grades = Counter(row.grade for row in one.judgements if row.grade is not None)
        by_grade = ", ".join(f"{count:,} x {grade}" for grade, count in sorted(grades.items()))
        words = counted(grades.total(), "judgement") + (f" ({by_grade})" if by_grade else "")
        states = Counter(str(row.state) for row in one.judgements)
        for state, noun in (
            ("skipped", "skipped"),
            ("cannot", "cannot be judged"),
            ("unjudged", "without a decision"),
        ):
            words += f", {states[state]:,} {noun}" if states[state] else ""
        words += f", {len(one.listed):,} pooled and not judged" if one.listed else ""
        say(f"{one.named.file}: {words}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """The options as given; ``None`` = not given."""

    form: GradesFormat | None = None
    columns: str | None = None
    topic: str | None = None
    judge_column: int | None = None
    scale: str | None = None
    codes: Sequence[str] | None = None
    mapped: Sequence[str] | None = None
    repeats: Repeats | None = None
    lenient: bool = False

    @property
    def names_judges(self) -> bool:
        """Whether the files themselves say whose judgements they hold."""
        names = [] if self.columns is None else [one.strip() for one in self.columns.split(",")]
        return self.form in EVERY_JUDGE or self.judge_column is not None or "judge" in names

    @property
    def meanings(self) -> dict[int, Meaning]:
        """What codes mean that are named; -1 is pooled and unjudged where it is no grade of the scale."""
        named, scale = parse_codes(self.codes or []), self.declared()
        mapped = parse_map(self.mapped or [], named)
        is_grade = -1 in mapped or (scale is not None and -1 in scale.values)
        return named if is_grade else {-1: Meaning.UNJUDGED} | named

    @property
    def mapping(self) -> dict[int, int]:
        """Codes to be read as others."""
        return parse_map(self.mapped or [], parse_codes(self.codes or []))

    @property
    def chosen(self) -> GradesFormat:
        """The form of the files."""
        return self.form or ("qrels" if self.columns is None else "columns")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are named, if any."""
        return () if self.columns is None else parse_columns(self.columns)

    def check(self, judge: str | None, sample: PrelsName | None = None) -> None:
        """Raise an error where the options do not go together for a file of a judge.

        Without one the file names its judges itself.
        """
        chosen, columns = self.chosen, self.columns
        if chosen == "columns" and columns is None:
            hint = "as in --columns docno,judge,grade"
            raise ArgumentError("columns", "must name the columns of the file", None, hint=hint)
        given: list[tuple[str, object, GradesFormat]] = [
            ("columns", columns, "columns"),
            ("topic", self.topic, "columns"),
            ("form", sample, "qrels"),
            ("judge_column", self.judge_column, "qrels"),
        ]
        for name, value, its_format in given:
            if value is not None and chosen != its_format:
                requirement = f"is for files of format {its_format}, and this is one of {chosen}"
                raise ArgumentError(name, requirement, value)
        whose = [judge is not None, self.judge_column is not None, "judge" in self.names]
        if chosen not in EVERY_JUDGE and sum(whose) != 1:
            hints = {
                "qrels": "--judge NAME or --judge-column 2, one of the two; --as jsonl or tsv for what"
                f" `pooler export judgements` wrote; {COLUMNS_HINT}",
                "columns": "--judge NAME, or --columns docno,judge,grade; one of the two",
            }
            raise PoolerError("whose judgements are these?", hint=hints.get(chosen, "--judge NAME says it"))

    def declared(self) -> Scale | None:
        """Return the declared scale; ``None`` = none is."""
        from store.formats.scale import parse_scale

        return None if self.scale is None else parse_scale(self.scale)

    def refuse(self) -> None:
        """Raise `ArgumentError` for the first option that was given: there are no files."""
        for name in (one.name for one in fields(self)):
            if value := getattr(self, name):
                hint = "name files of judgements, or leave it out: a collection has it all"
                requirement = "is for files, and these are judges of a collection"
                raise ArgumentError(name, requirement, str(value), hint=hint)
