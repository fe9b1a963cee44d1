"""Run files of every kind that can come in, from a seed: sound, odd, damaged, and no runs at all.

Each is a realistic run, most of them put through a few steps that harm it or only make it odd, and
some of them compressed and then harmed again. The same seed gives the same bytes.
"""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import zstandard

from tests.helpers.damage_steps import (
    BAD_STEPS,
    ODD_STEPS,
    Step,
    flip_a_bit,
    lines_of,
    same_document,
    swap_lines,
    two_tags,
)
from tests.helpers.generated_runs import ODD_PIECES, run_rows, written


@dataclass(frozen=True)
class DamagedFile:
    """A file, and how it came to be."""

    seed: int
    content: bytes
    steps: tuple[str, ...]
    """What was done, in order."""
    known_topics: frozenset[str]
    known_docnos: frozenset[str]
    """Most topics and docnos of the run there was at first."""


def damaged_file(seed: int) -> DamagedFile:
    """Make the file of a seed."""
    rng = Random(seed)
    rows = run_rows(rng)
    known_topics = frozenset(row[0] for row in rows if rng.random() < 0.98)
    known_docnos = frozenset(row[2] for row in rows if rng.random() < 0.995)
    steps = [f"run of {len(rows)} lines"]
    if rng.random() < 0.06:
        make = rng.choice(NO_RUNS)
        steps = [make.__name__]
        content = make(rng, written(rng, rows))
    else:
        content = written(rng, rows)
        n_odd = rng.choice([0, 0, 0, 1, 2])
        n_bad = rng.choice([0, 0, 1, 1, 1, 2, 3, 8])
        chosen = rng.choices(ODD_STEPS, k=n_odd) + rng.choices(BAD_STEPS, k=n_bad)
        if len(rows) > 400:  # what a fast reader may not see, since it is far away
            chosen = chosen[:1] + rng.choice([[], [], [same_document], [swap_lines], [two_tags]])
        for step in chosen:
            steps.append(step.__name__)
            content = step(rng, content)
    if rng.random() < 0.18:
        content = compressed(rng, content, steps)
    return DamagedFile(seed, content, tuple(steps), known_topics, known_docnos)


def compressed(rng: Random, content: bytes, steps: list[str]) -> bytes:
    """Compress a file, in one member or two, and perhaps harm what comes out."""
    kind = rng.choice(list(PACKERS))
    pack = PACKERS[kind]
    steps.append(kind)
    padding = rng.choice([b"", b"", b"\x00" * 4, b"\x00" * 3, b"\x00" * 512])
    how = rng.choice(["whole", "whole", "whole", "members", "members", "ended", "ended", "flipped",
                      "more", "padded", "again", "mixed", "split"])  # fmt: skip
    steps.append(how)
    packed = pack(content)
    place = rng.randint(0, len(content))
    if how == "members":
        return pack(content[:place]) + padding + pack(content[place:])
    if how == "ended":
        packed += rng.choice([b"", pack(b"1 Q0 d 1 1 t\n")])
        return packed[: -rng.choice([1, 2, 4, 8, rng.randint(1, len(packed))])]
    if how == "flipped":
        for _ in range(rng.choice([1, 1, 3])):
            packed = flip_a_bit(rng, packed)
        return packed
    if how == "more":
        more = [b"x", b"\n", b"1 Q0 d 1 1 t\n", packed[:1], packed[:7], packed[1:], rng.randbytes(9)]
        return packed + padding + rng.choice(more)
    if how == "padded":
        return packed + padding
    if how == "again":
        return pack(packed)
    if how == "mixed":
        return packed + rng.choice(list(PACKERS.values()))(content)
    if how == "split":
        return content[:place] + pack(content[place:])
    return packed


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def _zstd_stream(content: bytes) -> bytes:
    """Compress as a pipe does: with neither size nor checksum."""
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return packer.compress(content) + packer.flush()


def _zstd_skippable(content: bytes) -> bytes:
    return _zstd(content) + b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "xz": lzma.compress,
    "zstd": _zstd,
    "zstd-stream": _zstd_stream,
    "zstd-skippable": _zstd_skippable,
}


def nothing(rng: Random, content: bytes) -> bytes:
    """Leave the file empty."""
    return b""


def only_blanks(rng: Random, content: bytes) -> bytes:
    """Write blanks and line ends."""
    return b"".join(rng.choices([b" ", b"\t", b"\n", b"\r", b"\x0b", b"\x0c"], k=rng.randint(1, 60)))


def only_marks(rng: Random, content: bytes) -> bytes:
    """Write nothing but a byte order mark, or the first bytes of compressed files."""
    return rng.choice([b"\xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\n", b"\x1f", b"\x1f\x8b",
                       b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd",
                       b"\x28\xb5", b"\xff\xfe", b"\x00", b"#", b"PK\x03\x04"])  # fmt: skip


def only_comments(rng: Random, content: bytes) -> bytes:
    """Make a comment of every line."""
    return b"".join(b"#" + line for line in lines_of(content))


def random_bytes(rng: Random, content: bytes) -> bytes:
    """Write any bytes."""
    return rng.randbytes(rng.choice([1, 10, 300, 5000]))


def random_pieces(rng: Random, content: bytes) -> bytes:
    """Write pieces of lines in any order."""
    pieces = [*ODD_PIECES, b" ", b" ", b" ", b"\n", b"1", b"Q0", b" d 1 1 t\n", b"1 Q0 d 1 1 t\n"]
    return b"".join(rng.choices(pieces, k=rng.choice([3, 20, 200])))


def qrels(rng: Random, content: bytes) -> bytes:
    """Write judgements of the documents, not the run."""
    rows = [line.split() for line in lines_of(content)]
    return b"".join(b"%s 0 %s %d\n" % (row[0], row[2], len(row[2]) % 3) for row in rows if row[4:])


def other_format(rng: Random, content: bytes) -> bytes:
    """Write what else people hand in: a table with a head, JSON, a web page."""
    table = b"topic,Q0,docno,rank,score,tag\n" + content.replace(b" ", b",").replace(b"\t", b",")
    head = b"topic Q0 docno rank score tag\n" + content
    json = b'{"301": {"d1": 1.0, "d2": 0.5}}\n'
    page = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head>\n</html>\n"
    return rng.choice([table, head, json, page])


NO_RUNS: list[Step] = [
    nothing,
    only_blanks,
    only_marks,
    only_comments,
    random_bytes,
    random_pieces,
    qrels,
    other_format,
]
"""What makes something else of a run."""
