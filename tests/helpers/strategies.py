"""Hypothesis strategies for the nouns of the project: ids, scores, run files.

Everything is small and full of coincidences: equal scores written differently, docnos that sort
differently as text and as numbers, ranks that disagree with scores.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("POOLER_EXAMPLES", "20"))
"""Examples that Hypothesis makes for a test of pure functions."""


def examples(number: int) -> int:
    """Return how many examples a test of another cost makes: as many times more as is asked for.

    5 for what uses a database, files or a screen; more than 20 for what is cheap and rarely wrong.
    """
    return max(5, number * EXAMPLES // 20)


ids = st.one_of(
    st.sampled_from(["1", "01", "9", "10", "NA", "null", '"', "a_1", "B", "a", "日本", "é", "7#1"]),
    st.text("ab01.-/日", min_size=1, max_size=3),
)
"""Topic ids, docnos, tags. None begins a comment line unless it is put first on a line."""

score_texts = st.one_of(
    st.integers(-2, 2).map(str),
    st.sampled_from(["1.0", "1.00", "1e0", "10E-1", "-0", "-0.0", ".5", "5.", "+1", "0.1", "0.10"]),
    st.decimals(-99, 99, places=2).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(10**14, 10**18).map(str),
    st.sampled_from(["16", "16.0", "16.00000001", "15.99999999", "1e300", "2e300"]),
)
"""Finite numbers as they stand in run files; some are equal as 32-bit floats alone."""


@dataclass(frozen=True)
class RunText:
    """A run file and what it says."""

    content: bytes
    tag: str
    rows: list[tuple[str, str, str, str]]
    """Topic, docno, rank and score fields in file order."""


@st.composite
def run_rows(draw: st.DrawFn, *, whole_ranks: bool = True) -> list[tuple[str, str, str, str]]:
    """Draw the lines of a run, each topic's together: topic, docno, rank, score."""
    topics = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    ranks = st.integers(-1, 9).map(str)
    if not whole_ranks:
        ranks |= st.sampled_from(["x", "1.5", "1_0", str(2**70)])
    rows = []
    for topic in topics:
        docnos = draw(st.lists(ids, min_size=1, max_size=12, unique=True))
        some = st.sampled_from(draw(st.lists(score_texts, min_size=1, max_size=3)))
        rows += [(topic, docno, draw(ranks), draw(some)) for docno in docnos]
    return rows


@st.composite
def run_texts(
    draw: st.DrawFn, *, lenient: bool = False, tidy: bool = False, whole_ranks: bool = True
) -> RunText:
    """Draw a run file without faults.

    `lenient` mixes the lines of topics, adds comments, fields after the sixth, a byte order mark
    and a second tag; `tidy` leaves out blank lines.
    """
    rows = draw(run_rows(whole_ranks=whole_ranks))
    tag = draw(ids)
    blanks = st.sampled_from([" ", "\t", "  ", " \t"])
    edges = st.sampled_from(["", "", " ", "\t"])
    ends = st.sampled_from(["\n", "\r\n"])
    last_tag = tag
    if lenient:
        rows = draw(st.permutations(rows))
        last_tag = draw(ids.filter(lambda one: not re.fullmatch(r"[0-9.-]+", one)))
    lines = []
    for number, (topic, docno, rank, score) in enumerate(rows):
        is_last = number == len(rows) - 1
        fields = [topic, "Q0", docno, rank, score, last_tag if is_last else tag]
        is_cut = rank.lstrip("-").isdecimal() and not re.fullmatch(r"[0-9.-]+", fields[-1])
        if lenient and is_cut and draw(st.integers(0, 4)) == 0:
            fields += ["more", "\x07"]
        # A comment begins with `#`, so an id that does needs a blank before it.
        edge = " " if lenient and topic.startswith("#") else draw(edges)
        lines.append(edge + draw(blanks).join(fields) + draw(edges) + draw(ends))
        if lenient and draw(st.integers(0, 4)) == 0:
            lines.append(f"# {docno}\n")
        if not tidy and draw(st.integers(0, 9)) == 0:
            lines.append(draw(edges) + "\n")
    content = "".join(lines)
    if draw(st.booleans()):
        content = content.rstrip("\r\n")
    mark = "\ufeff" if lenient and draw(st.booleans()) else ""
    return RunText((mark + content).encode(), last_tag, rows)


_PIECES = [
    *(bytes([code]) for code in (0, 1, 7, 9, 10, 13, 28, 31, 32, 35, 45, 46, 48, 95, 127, 128, 255)),
    *(text.encode() for text in ("\x85", "\xa0", "\u202e", "\u2028", "\u3000", "\ufeff", "日", "é")),
    *(b"nan", b"inf", b"1e999", b"\n\n", b" x", b"\n1 Q0 a 1 1 t\n"),
]


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw a file with a few bytes changed, added, taken away or moved."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 1, 8])))
        kind = draw(st.sampled_from(["piece", "line", "cut"]))
        if kind == "piece":
            data[start:end] = draw(st.sampled_from(_PIECES))
        elif kind == "line":
            lines = bytes(data).splitlines(keepends=True)
            if lines:
                data += draw(st.sampled_from(lines))
        else:
            del data[start:end]
    return bytes(data)
