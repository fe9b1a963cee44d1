"""Steps that harm a run file, or only make it odd; each draws what it does from a generator."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.helpers.generated_runs import (
    BAD_SCORES,
    GOOD_SCORES,
    IDS,
    ODD_BLANKS,
    ODD_PIECES,
    RANKS,
    run_rows,
    written,
)

Step = Callable[[Random, bytes], bytes]
"""What makes another file of a file."""


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines with their ends; one empty line when there is none."""
    lines = content.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1]) or [b""]


def a_line(rng: Random, lines: list[bytes]) -> int:
    """Choose a line, the first and the last more often than others."""
    return rng.choice([0, len(lines) - 1, rng.randrange(len(lines)), rng.randrange(len(lines))])


def with_field(rng: Random, content: bytes, place: int, texts: list[str]) -> bytes:
    """Put another text in one column of one to three lines."""
    lines = lines_of(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        number = a_line(rng, lines)
        fields = lines[number].split()
        if len(fields) > place:
            fields[place] = rng.choice(texts).encode()
            lines[number] = b" ".join(fields) + b"\n"
    return b"".join(lines)


def odd_scores(rng: Random, content: bytes) -> bytes:
    """Write finite numbers oddly."""
    return with_field(rng, content, 4, GOOD_SCORES)


def odd_ranks(rng: Random, content: bytes) -> bytes:
    """Write anything as stated rank."""
    return with_field(rng, content, 3, RANKS)


def odd_q0(rng: Random, content: bytes) -> bytes:
    """Write anything as second field."""
    return with_field(rng, content, 1, ["Q1", "0", "q0", "\x07", "#", "\ufeff", "\u00a0", "x" * 99])


def odd_docnos(rng: Random, content: bytes) -> bytes:
    """Name documents oddly."""
    return with_field(rng, content, 2, IDS)


def odd_line_ends(rng: Random, content: bytes) -> bytes:
    """End some lines, or all, otherwise."""
    end = rng.choice([b"\r\n", b"\r\r\n", b"\t\n", b" \r\n", b"\x0c\n", b"\x0b\n"])
    chance = rng.choice([0.1, 0.5, 1])
    return b"".join(
        line.removesuffix(b"\n") + end if rng.random() < chance else line for line in lines_of(content)
    )


def blank_lines(rng: Random, content: bytes) -> bytes:
    """Put blank lines between the others."""
    lines = lines_of(content)
    for _ in range(rng.choice([1, 2, 5])):
        lines.insert(rng.randint(0, len(lines)), rng.choice([b"\n", b" \n", b"\r\n", b"\t\x0c\r\n"]))
    return b"".join(lines)


def no_last_line_end(rng: Random, content: bytes) -> bytes:
    """Leave out the last line end."""
    return content.rstrip(b"\r\n")


def wide_blanks(rng: Random, content: bytes) -> bytes:
    """Put many blanks between fields, and before and after lines."""
    wide = rng.choice([b"  ", b"\t\t", b" \t", b" \x0b\x0c\r ", b" " * 200])
    content = content.replace(b" ", wide)
    return rng.choice([content, wide + content, content.replace(b"\n", b"\n" + wide)])


def shuffled_within_topics(rng: Random, content: bytes) -> bytes:
    """Mix the lines of each topic."""
    lines = [line.removesuffix(b"\n") + b"\n" for line in lines_of(content)]
    places = {}
    for line in lines:
        fields = line.split()
        if fields:
            places.setdefault(fields[0], len(places))
    rng.shuffle(lines)
    lines.sort(key=lambda line: places.get((line.split() or [b""])[0], -1))
    return b"".join(lines)


ODD_STEPS: list[Step] = [
    odd_scores,
    odd_ranks,
    odd_q0,
    odd_docnos,
    odd_line_ends,
    blank_lines,
    no_last_line_end,
    wide_blanks,
    shuffled_within_topics,
]
"""What most often leaves a file in order."""


def flip_a_bit(rng: Random, content: bytes) -> bytes:
    """Flip one bit."""
    data = bytearray(content or b"\x00")
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def put_a_piece(rng: Random, content: bytes) -> bytes:
    """Put a few bytes somewhere, or in place of others."""
    start = rng.randint(0, len(content))
    end = start + rng.choice([0, 0, 1, 5])
    return content[:start] + rng.choice(ODD_PIECES) + content[end:]


def cut_bytes(rng: Random, content: bytes) -> bytes:
    """Take a few bytes away."""
    start = rng.randint(0, len(content))
    return content[:start] + content[start + rng.choice([1, 2, 9, 80]) :]


def cut_end(rng: Random, content: bytes) -> bytes:
    """End the file too early."""
    return content[: rng.randint(0, len(content))]


def cut_line(rng: Random, content: bytes) -> bytes:
    """Cut one line short, with or without its end."""
    lines = lines_of(content)
    number = a_line(rng, lines)
    line = lines[number]
    lines[number] = line[: rng.randint(0, len(line))] + rng.choice([b"", b"\n"])
    return b"".join(lines)


def join_lines(rng: Random, content: bytes) -> bytes:
    """Make one line of two."""
    lines = lines_of(content)
    number = a_line(rng, lines)
    lines[number] = lines[number].rstrip(b"\n") + rng.choice([b"", b" ", b"\r"])
    return b"".join(lines)


def part_a_line(rng: Random, content: bytes) -> bytes:
    """Make two lines of one."""
    place = rng.randint(0, len(content))
    return content[:place] + b"\n" + content[place:]


def swap_lines(rng: Random, content: bytes) -> bytes:
    """Let two lines change places."""
    lines = lines_of(content)
    one, other = a_line(rng, lines), a_line(rng, lines)
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def repeat_lines(rng: Random, content: bytes) -> bytes:
    """Copy one line, or many, somewhere else."""
    lines = lines_of(content)
    start = a_line(rng, lines)
    part = lines[start : start + rng.choice([1, 1, 3, 40])]
    place = rng.choice([start, len(lines), rng.randint(0, len(lines))])
    return b"".join(lines[:place] + part + lines[place:])


def same_document(rng: Random, content: bytes) -> bytes:
    """Give a line the document of another line of its topic, and change nothing else."""
    lines = lines_of(content)
    rows = [line.split() for line in lines]
    one = a_line(rng, lines)
    others = [
        number
        for number, row in enumerate(rows)
        if number != one and len(row) == 6 and row[0] == (rows[one] or [b""])[0]
    ]
    if len(rows[one]) == 6 and others:
        other = rng.choice([others[0], others[-1], rng.choice(others)])
        lines[other] = lines[other].replace(rows[other][2], rows[one][2], 1)
    return b"".join(lines)


def mixed_lines(rng: Random, content: bytes) -> bytes:
    """Mix all lines, so that topics are split."""
    lines = lines_of(content)
    rng.shuffle(lines)
    return b"".join(lines)


def another_run(rng: Random, content: bytes) -> bytes:
    """Append another run, which may have the same topics."""
    return content + written(rng, run_rows(rng))


def two_tags(rng: Random, content: bytes) -> bytes:
    """Give some lines other tags."""
    return with_field(rng, content, 5, ["u", "v", "T", "bm25 ", "\u00a0", "t\x00"])


def odd_blank(rng: Random, content: bytes) -> bytes:
    """Put something in place of one blank, or of all."""
    blank = rng.choice(ODD_BLANKS).encode()
    if rng.random() < 0.3:
        return content.replace(b" ", blank)
    places = [place for place, byte in enumerate(content[:5000]) if byte in b" \t"]
    if not places:
        return blank + content
    place = rng.choice(places)
    return content[:place] + blank + content[place + 1 :]


def other_fields(rng: Random, content: bytes) -> bytes:
    """Add fields to some lines, or all, or take some away."""
    lines = lines_of(content)
    n_more, chance = rng.choice([-5, -1, -1, 1, 1, 2, 30]), rng.choice([0.05, 0.3, 1])
    for number, line in enumerate(lines):
        if rng.random() < chance or number == 0:
            fields = line.split()
            fields = fields[:n_more] if n_more < 0 else fields + [b"more"] * n_more
            lines[number] = b" ".join(fields) + b"\n"
    return b"".join(lines)


def bad_scores(rng: Random, content: bytes) -> bytes:
    """Write no numbers as scores."""
    return with_field(rng, content, 4, BAD_SCORES)


def bad_ids(rng: Random, content: bytes) -> bytes:
    """Put a bad character in a topic id, a docno or a tag of one line or of the lines like it."""
    lines = lines_of(content)
    fields = lines[a_line(rng, lines)].split()
    if not fields:
        return content
    text = rng.choice(fields)
    place = rng.choice([0, len(text), rng.randint(0, len(text))])
    other = text[:place] + rng.choice(ODD_PIECES) + text[place:]
    return content.replace(text, other, rng.choice([1, 2, -1]))


def twin_ids(rng: Random, content: bytes) -> bytes:
    """Put in two lines whose ids look alike and are not: invalid bytes, and how they are shown."""
    lines = lines_of(content)
    place = a_line(rng, lines)
    fields = lines[place].split()
    if len(fields) < 6:
        return content
    column = rng.choice([0, 2, 2, 5])
    twins = [(b"\xff", b"\\xff"), ("é".encode(), "e\u0301".encode()), (b"\xc0\x80", b"\x00"),
             (b"\xff", b"\xfe"), ("Å".encode(), "\u212b".encode()), (b"x", "ｘ".encode()),
             (b"", "\u200d".encode()), (b"\xff", "\ufffd".encode())]  # fmt: skip
    pair = []
    for ending in rng.choice(twins):
        other = list(fields)
        other[column] += ending
        pair.append(b" ".join(other) + b"\n")
    lines[place : place + 1] = pair
    return b"".join(lines)


def byte_order_mark(rng: Random, content: bytes) -> bytes:
    """Put byte order marks before the file, a line, or all lines."""
    mark = rng.choice(["\ufeff", "\ufeff", "\ufeff\ufeff", " \ufeff", "\ufeff\n"]).encode()
    lines = lines_of(content)
    number = a_line(rng, lines)
    return rng.choice(
        [
            mark + content,
            mark + content,
            b"".join(lines[:number]) + mark + b"".join(lines[number:]),
            mark + content.replace(b"\n", b"\n" + mark),
            content + mark,
        ]
    )


def comments(rng: Random, content: bytes) -> bytes:
    """Put in lines with `#`, or make comments of lines."""
    lines = lines_of(content)
    for _ in range(rng.choice([1, 2, 4])):
        number = a_line(rng, lines)
        if rng.random() < 0.5:
            lines[number] = rng.choice([b"#", b"# ", b" #"]) + lines[number]
        else:
            new = [b"# topic Q0 docno rank score tag\n", b"#\n", b" # a b c d e\n", b"#a b c 1 2 t\n"]
            lines.insert(number, rng.choice([*new, b"#\x00\xff\n"]))
    return b"".join(lines)


def zero_bytes(rng: Random, content: bytes) -> bytes:
    """Put in zero bytes, as a disk that was full does."""
    place = rng.choice([0, len(content), rng.randint(0, len(content))])
    return content[:place] + b"\x00" * rng.choice([1, 7, 512]) + content[place:]


def old_line_ends(rng: Random, content: bytes) -> bytes:
    """End lines with a carriage return alone."""
    return content.replace(b"\n", b"\r", rng.choice([1, 2, -1]))


def long_field(rng: Random, content: bytes) -> bytes:
    """Make one field very long."""
    size = rng.choice([300, 5000, 70_000])
    return with_field(rng, content, rng.randrange(6), ["9" * size, "x" * size, "日" * size])


def long_line(rng: Random, content: bytes) -> bytes:
    """Make one line very long, by fields or by blanks."""
    place = rng.randint(0, len(content))
    piece, size = rng.choice([b" ", b" x", b"\r", b"\x00"]), rng.choice([5000, 140_000])
    if rng.random() < 0.05:
        size = 1_100_000
    return content[:place] + piece * (size // len(piece)) + content[place:]


def as_utf_16(rng: Random, content: bytes) -> bytes:
    """Write the file in UTF-16 or UTF-32."""
    text = content.decode("utf-8", "replace")
    return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32"]))


def as_latin_1(rng: Random, content: bytes) -> bytes:
    """Write the file, with a letter beyond ASCII in it, in Latin 1 or Shift JIS."""
    letter, encoding = rng.choice([("é", "latin-1"), ("ß", "cp1252"), ("日", "shift_jis")])
    text = content.decode("utf-8", "replace").replace("d", letter, rng.choice([1, -1]))
    return text.encode(encoding, "replace")


BAD_STEPS: list[Step] = [
    flip_a_bit,
    put_a_piece,
    put_a_piece,
    cut_bytes,
    cut_end,
    cut_line,
    join_lines,
    part_a_line,
    swap_lines,
    repeat_lines,
    same_document,
    same_document,
    same_document,
    mixed_lines,
    another_run,
    two_tags,
    odd_blank,
    odd_blank,
    other_fields,
    bad_scores,
    bad_scores,
    bad_ids,
    bad_ids,
    twin_ids,
    byte_order_mark,
    comments,
    comments,
    zero_bytes,
    old_line_ends,
    long_field,
    long_line,
    as_utf_16,
    as_latin_1,
]
"""What most often leaves a file with a fault."""
