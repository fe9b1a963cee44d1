"""What the codes of an imported file mean on the declared scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from store.errors import ArgumentError, FaultList
from store.formats.judged_tables import GradedRow
from store.formats.qrels import QrelRow
from store.records import Qrel, Scale

UNJUDGED = "unjudged"


@dataclass(slots=True)
class DecodedQrels:
    """Lines of a file of grades, by judge, with their codes understood."""

    judged: dict[str, list[Qrel]] = field(default_factory=dict)
    """Judge to judgements."""
    unjudged: list[tuple[str, str]] = field(default_factory=list)
    """(topic, docno) of lines that say "pooled, not judged", each once."""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    """(topic, docno) of every line, each once, in file order."""


def parse_codes(texts: Sequence[str]) -> set[int]:
    """Read ``--code CODE=unjudged`` options.

    Returns
    -------
    set of int
        The codes that mean "pooled, not judged".

    Raises
    ------
    ArgumentError
        If one is not of that form.

    Examples
    --------
    >>> parse_codes(["-1=unjudged"])
    {-1}
    """
    codes = set()
    for text in texts:
        code, _, meaning = text.partition("=")
        if meaning != UNJUDGED or not _is_integer(code):
            requirement = "must be CODE=unjudged with an integer code"
            hint = "a code that is a grade needs no --code; --map 10=3 turns one into another"
            raise ArgumentError("--code", requirement, text, hint=hint)
        codes.add(int(code))
    return codes


def parse_map(texts: Sequence[str]) -> dict[int, int]:
    """Read ``--map FROM=TO`` options.

    Raises
    ------
    ArgumentError
        If one is not of that form, or two map the same code.

    Examples
    --------
    >>> parse_map(["10=3", "4=3"])
    {10: 3, 4: 3}
    """
    mapping: dict[int, int] = {}
    for text in texts:
        source, _, target = text.partition("=")
        if not (_is_integer(source) and _is_integer(target)) or int(source) in mapping:
            raise ArgumentError("--map", "must be FROM=TO, two integers, each FROM once", text)
        mapping[int(source)] = int(target)
    return mapping


def graded_rows(
    rows: Iterable[QrelRow], *, judge: str | None, judge_column: int | None = None
) -> Iterator[GradedRow]:
    """Yield the lines of a qrels file with whose judgements they are.

    Parameters
    ----------
    rows : iterable of QrelRow
        As read.
    judge : str or None
        Whose judgements all are; ``None`` when column 2 says it.
    judge_column : {None, 2}
        The column that names the judge, counted from 1; it is no judging round then.

    Examples
    --------
    >>> row = QrelRow(1, "51", "ann", "d1", 2)
    >>> [one.judge for one in graded_rows([row], judge=None, judge_column=2)]
    ['ann']
    """
    for line, topic, iteration, docno, code in rows:
        name = iteration if judge is None else judge
        label = "0" if judge_column == 2 else iteration
        yield GradedRow(line, topic, label, docno, name, code)


def decode_rows(
    rows: Iterable[GradedRow],
    scale: Scale,
    *,
    unjudged: set[int] | None = None,
    mapping: Mapping[int, int] | None = None,
    faults: FaultList,
) -> DecodedQrels:
    """Turn the rows of a file into judgements of the declared scale.

    Parameters
    ----------
    rows : iterable of GradedRow
        Each names its judge.
    scale : Scale
        The declared grades.
    unjudged : set of int, optional
        Codes that mean "pooled, not judged".
    mapping : mapping of int to int, optional
        Codes to read as others.
    faults : FaultList
        Where codes that are not on the scale are told, with their lines.
    """
    decoded = DecodedQrels()
    mapping, unjudged = mapping or {}, unjudged or set()
    values = set(scale.values)
    listed = ", ".join(map(str, scale.values))
    seen: dict[tuple[str, str], None] = {}
    open_pairs: dict[tuple[str, str], None] = {}
    for row in rows:
        pair = (row.topic, row.docno)
        seen[pair] = None
        if row.code in unjudged:
            open_pairs[pair] = None
            continue
        grade = mapping.get(row.code, row.code)
        if grade not in values:
            message = f"expected a grade of the scale ({listed}), got {grade}"
            faults.add(row.line, message, "grade")
            continue
        qrel = Qrel(row.topic, row.docno, grade, row.iteration)
        decoded.judged.setdefault(row.judge, []).append(qrel)
    decoded.pairs, decoded.unjudged = list(seen), list(open_pairs)
    return decoded


def _is_integer(text: str) -> bool:
    """Say whether text is an integer as a person would write it; no grade has more digits."""
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20
