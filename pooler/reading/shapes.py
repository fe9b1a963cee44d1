"""What the fields of run lines are, where they are not plainly six, and what to type then.

Nothing is advised that does not make a run of the lines at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import PurePath

from store.fields import topic_fault
from store.formats.lines import BOM, STDIN, piped

LOOKED_AT = 200
"""Lines at the beginning of a file that say what it is."""
LENIENT_HINT = "`--lenient` reads the first six fields, as trec_eval does"
BLANKS_HINT = "a run line is topic, Q0, docno, rank, score and run tag, none of them with a blank"
_NO_BREAK = b"\xc2\xa0"
_NO_INDEX = "without its first column"


def number_of(field: bytes) -> float | None:
    """Return the finite number that a field says; ``None`` = it says none."""
    try:
        number = float(field)
    except ValueError:
        return None
    return number if isfinite(number) and b"_" not in field else None


def fields_of(line: bytes) -> list[bytes]:
    """Split a line at its tabs, where it has five and other blanks in a field; else at all blanks.

    Blanks in the last field are left to lenient reading, where it can recognise them.
    """
    fields, cells = line.split(), [cell.strip() for cell in line.split(b"\t")]
    if len(cells) != 6 or cells == fields or not any(len(cell.split()) > 1 for cell in cells):
        return fields
    return fields if len(cells[-1].split()) > 1 and can_be_cut(fields) else cells


def can_be_cut(fields: Sequence[bytes]) -> bool:
    """Return whether the first six of more fields are those of a run, whatever the others are.

    Rank and score, two numbers with a field behind them, can then stand nowhere else: a docno of several
    words or a column before the topic moves them on.
    """
    is_number = [number_of(field) is not None for field in fields[3:]]
    places = [place for place in range(len(is_number) - 2) if is_number[place] and is_number[place + 1]]
    is_odd = fields[2] == b"Q0" or any(map(is_quoted, fields))
    return places == [0] and not is_odd


def is_quoted(field: bytes) -> bool:
    """Return whether a field, or words that it is one of, stand between quotation marks."""
    return len(field) > 1 and (field.startswith(b'"') or field.endswith(b'"'))


def exchanged(lines: Iterable[bytes]) -> str | None:
    """Return a message if ranks and scores look exchanged in the first lines; ``None`` = they do not.

    The scores count up in every topic, and the ranks fall, otherwise than by one.
    """
    topics: dict[bytes, list[tuple[float, float]]] = {}
    for fields in (line.split() for line in lines if line.strip() and not line.startswith(b"#")):
        rank, score = map(number_of, fields[3:5]) if len(fields) > 5 else (None, None)
        if rank is None or score is None:
            return None
        topics.setdefault(fields[0], []).append((rank, score))
    pairs = [pair for rows in topics.values() for pair in pairwise(rows)]
    steps = {(after[0] - before[0], after[1] - before[1]) for before, after in pairs}
    if len(pairs) < 2 or steps <= {(-1, 1), (0, 1)} or any(rank > 0 or score != 1 for rank, score in steps):
        return None
    return "ranks and scores look exchanged: ranks fall from line to line, and scores count 1, 2, 3"


_Change = Callable[[bytes], bytes]


def advice(path: str, lines: Sequence[bytes]) -> str | None:
    """Return what to type so that lines of a file are a run; ``None`` = they are one, or nothing is known."""
    bare = (line.removeprefix(BOM) for line in lines)
    said = [line for line in bare if line.strip() and not line.startswith(b"#")]
    if not said or _are_run(map(fields_of, said)):
        return None
    rows = [line.split() for line in said]
    name = "run" if path == STDIN else PurePath(path).name.split(".")[0]
    name = re.sub(r"[^A-Za-z0-9-]+", "_", name) or "run"
    is_cut = any(len(row) > 6 for row in rows)
    is_cut &= all(len(row) == 6 or (len(row) > 6 and can_be_cut(row)) for row in rows)
    has_words = is_cut and len(rows) > 1 and len({(*row[5:],) for row in rows}) == 1
    if is_cut and not has_words and _are_run((row[:6] for row in rows), has_one_tag=False):
        return LENIENT_HINT
    # Numbers of lines differ from line to line; topics do not, and stand before Q0.
    is_indexed = len({row[0] for row in rows}) == len(rows) and all(row[1:2] != [b"Q0"] for row in rows)
    for program, change, how in _commands(name, 0 if has_words else 5):
        if how == _NO_INDEX and not is_indexed:
            continue
        if _are_run(fields_of(change(line)) for line in said):
            return f"{piped(path, program)} writes it {how}"
    return BLANKS_HINT if any(len(row) != 6 for row in rows) else None


def _commands(name: str, n_untagged: int) -> list[tuple[str, _Change, str]]:
    """List programs, what they make of a line, and how they write it; `n_untagged` fields: 0 = any."""
    tag = name.encode()
    return [
        (
            f"awk '{{print $1, $2, $3, $4, $5, \"{name}\"}}'",
            _of_fields(n_untagged, lambda row: [*row[:5], tag]),
            f"with the run tag `{name}`",
        ),
        (
            f'awk \'{{print $1, "Q0", $2, $3, -$3, "{name}"}}\'',
            _of_fields(3, lambda row: [row[0], b"Q0", *row[1:], b"-" + row[2], tag]),
            f"as a run with the tag `{name}`, scored by its ranks",
        ),
        ("awk '{print $2, $3, $4, $5, $6, $7}'", _of_fields(7, lambda row: row[1:]), _NO_INDEX),
        (
            'awk \'{gsub(",", ".", $5); print}\'',
            _of_fields(6, lambda row: [*row[:4], row[4].replace(b",", b"."), row[5]]),
            "with decimal points",
        ),
        ('awk \'{gsub("\\"", ""); print}\'', _replacing(b'"', b""), "without quotation marks"),
        ('awk \'{gsub(",", " "); print}\'', _replacing(b",", b" "), "with blanks for commas"),
        (
            'LC_ALL=C awk \'{gsub("\\302\\240", " "); print}\'',
            _replacing(_NO_BREAK, b" "),
            "with plain blanks",
        ),
        (
            "iconv -f ISO-8859-1 -t UTF-8",
            lambda line: line.decode("latin-1").encode(),
            "as UTF-8, if it is in Latin-1",
        ),
        ('awk \'{gsub(" ", "_"); print}\'', _replacing(b" ", b"_"), "with `_` for the blanks in its ids"),
    ]


def _replacing(old: bytes, new: bytes) -> _Change:
    return lambda line: line.replace(old, new)


def _of_fields(n_fields: int, make: Callable[[list[bytes]], list[bytes]]) -> _Change:
    """Change a line of so many fields, 0 = any, and make nothing of another."""

    def change(line: bytes) -> bytes:
        row = line.split()
        return b" ".join(make(row)) if n_fields in (0, len(row)) else b""

    return change


def _are_run(rows: Iterable[list[bytes]], *, has_one_tag: bool = True) -> bool:
    tags = set()
    for row in rows:
        if len(row) != 6 or row[2] == b"Q0" or any(map(is_quoted, row)):
            return False
        if number_of(row[3]) is None or number_of(row[4]) is None:
            return False
        try:
            if any(topic_fault(row[place].decode()) for place in (0, 2, 5)):
                return False
        except UnicodeDecodeError:
            return False
        tags.add(row[5])
    return len(tags) == 1 or not has_one_tag
