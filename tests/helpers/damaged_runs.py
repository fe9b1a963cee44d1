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

GOOD_SCORES = [
    *("0", "-0", "-0.0", "+0", "+1", "1.", ".5", "-.5", "-5.", "1e5", "1E-5", "1e+05", "0.1"),
    *("0.10", "00000.1", "16", "16.0", "16.00000001", "15.99999999", "16777217", "1e-400"),
    *("4.9e-324", "2e-324", "3e-324", "2.2250738585072011e-308", "1.7976931348623158e308"),
    *("-1.7976931348623157e308", "3.4028235e38", "3.5e38", "-3.5e38", "1e-46", "9007199254740993"),
    *("9007199254740992.99999", "123456789012345678", "999999999999999", "99999999999999999"),
    *("0.000000000000001", ".000000000000000", "-00000000000000.1", "18446744073709551616"),
    *("0" * 400, "9" * 300, "-" + "9" * 308, "0." + "0" * 350 + "1", "1" + "0" * 308),
    *("0." + "3" * 800, "1" * 400 + "e-200", "0e999999999", "1e-999999999", "0" * 5000 + "7"),
]
"""Finite numbers, among them those where rounding and fast conversion go wrong first."""
BAD_SCORES = [
    *("nan", "NaN", "-nan", "nan(1)", "inf", "-inf", "+inf", "Infinity", "1_000", "1__0", "_1"),
    *("1_", "0x1p3", "0x10", "-0X1.8P+1", "0b1", "0o7", "1,5", "1e", "e5", ".", "-", "+", "--1"),
    *("+-1", "- 1", "1-2", "1.2.3", "1..2", "-.", "1e5.5", "1e+", "1e--5", "1d5", "1f", "1L"),
    *("1e999", "-1e999", "9" * 400, "1e99999999999", "1.797693134862315808e308", "abc", "None"),
    *("True", '"1"', "1%", "$1", "1;", "1#", "#", "１.５", "１", "٣", "1e٣", "²", "½", "−1"),
    *("1\u00a0", "\u30001", "1\u2028", "1\x00", "\x001", "1\x1c", "\x1f1", "1\x85", "1\u200b"),
    *("\ufeff1", "9" * 5000, "1" * 5000 + "e", "1/2", "1j", "∞"),
]
"""What is no finite number, though some program reads it as one."""
RANKS = [
    *("0", "1", "-1", "01", "+3", "-0", "1.0", "1.5", "1e3", "x", "-", "1_0", "９", "nan", "0x1"),
    *(str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1), str(2**70), "9" * 5000),
    *("0" * 30 + "7", "1\x00", "\x07", "日", "1\u00a0", "#"),
]
"""Stated ranks, which may be any bytes."""
ODD_BLANKS = [
    *(" ", "  ", "\t", " \t ", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85"),
    *("\u00a0", "\u1680", "\u180e", "\u2000", "\u2003", "\u200b", "\u2028", "\u2029", "\u202f"),
    *("\u205f", "\u2060", "\u3000", "\ufeff", "\x00", "\x08", "\x1a", ",", ";", "\n", "\\t"),
]
"""Blanks to some program or other."""
ODD_PIECES = [
    *(text.encode() for text in ODD_BLANKS),
    *(text.encode() for text in ("日本", "é", "e\u0301", "😀", "\u202e", "\u2066", "\u061c")),
    *(text.encode() for text in ("\u200d", "\u00ad", "\ue000", "\U000e0001", "\uffff", "ＡＢ")),
    *(b"\xff", b"\xfe", b"\xc0\x80", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xa0"),
    *(b"\\xff", b"\\", b'"', b"'", b"#", b"-", b"+", b"_", b".", b"0", b"e", b"\x7f", b"\x1b[2J"),
    *(b"\x01", b"\x1b]0;x\x07", b"\r\n", b"\n\n", b"\n#", b" # ", b"<DOC>", b"&amp;", b"NA", b"null"),
    *(b"\n1 Q0 d1 1 1 t\n", b"\n301 0 d1 1\n", b"nan", b"inf", b"1_0", b"\xef\xbb\xbf"),
]
"""Bytes to put anywhere."""
IDS = [
    *("1", "01", "001", "1.0", "NA", "nan", "null", "-1", "a_1", '"', "'", "\\", "\\xff", "日本"),
    *("é", "e\u0301", "😀", "7#1", "a#", "B", "b", "A", "=1+1", "a,b", "x/y:z", "%s", "[red]", "ｘ"),
    *("clueweb09-en0000-00-00000", "FBIS3-10082", "LA010189-0001", "x" * 300, "\u200dx", "~"),
]
"""Topic ids, docnos and tags in order, though some program trips over them."""


def run_rows(rng: Random) -> list[list[str]]:
    """Make the fields of a realistic run, each topic's lines together."""
    n_documents = rng.choice([1, 2, 5, 10, 20, 20])
    n_topics = rng.choice([1, 2, 3, 5])
    is_long = rng.random() < 0.01  # some of these longer than what a fast reader takes at a time
    if is_long:
        n_documents, n_topics = rng.choice([(2000, 1), (300, 8), (900, 3), (40, 50), (1, 500)])
    topics = [str(301 + number) for number in range(n_topics)]
    names = ["d{}", "FBIS3-{:05}", "{}", "{:03}", "clueweb09-en0000-00-{:05}", "日{}", "{:090}"]
    name = rng.choice(names)
    later_name = rng.choice([name, rng.choice(names)])
    tag = rng.choice(["t", "bm25", "run-1", "ｔ"])
    if rng.random() < 0.3:
        topics[: len(IDS)] = rng.sample(IDS, min(len(IDS), n_topics))
        tag = rng.choice(IDS)
    q0 = rng.choice(["Q0", "Q0", "Q0", "0", "q0", "\x07"])
    if is_long and rng.random() < 0.6:
        q0, tag = "Q" * 200, tag + "t" * 220
    style = rng.choice(["fixed", "fixed", "repr", "exponent", "ties", "whole", "odd", "negative",
                        "digits", "digits", "near"])  # fmt: skip
    first_rank = rng.choice([0, 1, 1])
    some = rng.choices(GOOD_SCORES, k=4)
    # Numbers that differ by less than float64 tells apart, or hardly more.
    stem = rng.choice(["9007199254740990", "0.1000000000000000", f"{rng.gauss(0, 9):.15f}", "-7."])
    near = ["", "0", "5", "00", "49999999", *(str(rng.randrange(10**6)) for _ in range(5))]
    rows = []
    for topic in topics:
        numbers = rng.sample(range(2 * n_documents + 3), n_documents)
        docnos = [name.format(number) for number in numbers[: n_documents // 2]]
        docnos += [later_name.format(-number - 1) for number in numbers[n_documents // 2 :]]
        if rng.random() < 0.2:
            docnos[: len(IDS)] = rng.sample(IDS, min(len(IDS), n_documents))
        values = [rng.gauss(10, 5) for _ in docnos]
        if rng.random() < 0.7:
            values.sort(reverse=True)
        for rank, (docno, value) in enumerate(zip(docnos, values, strict=True), first_rank):
            score = {
                "fixed": f"{value:.4f}",
                "repr": repr(value),
                "exponent": f"{value:.6e}",
                "ties": f"{value:.0f}" if rank % 2 else f"{round(value)}.00",
                "whole": str(1000 - rank),
                "odd": rng.choice(some),
                "negative": f"-{rank}.{rank % 7}",
                "digits": any_digits(rng) if style == "digits" else "",
                "near": stem + rng.choice(near),
            }[style]
            rows.append([topic, q0, docno, str(rank), score, tag])
    if rng.random() < 0.05:
        for row in rows:
            row[3] = rng.choice(RANKS)
    return rows


def any_digits(rng: Random) -> str:
    """Write a number of up to 24 digits in any of the ways there are."""
    digits = "".join(rng.choices("0123456789", k=rng.choice([1, 3, 8, 15, 16, 17, 18, 19, 24])))
    place = rng.randint(0, len(digits))
    point = rng.choice(["", ".", "."])
    exponent = rng.choice(["", "", "", "", f"e{rng.randint(-330, 300)}", f"E+{rng.randint(0, 30)}"])
    return rng.choice(["", "", "-", "+"]) + digits[:place] + point + digits[place:] + exponent


def written(rng: Random, rows: list[list[str]]) -> bytes:
    """Write the lines of a run the way some program does."""
    blank = rng.choice([" ", " ", "\t", "\t", "  ", " \t", "\x0b"])
    end = rng.choice(["\n", "\n", "\n", "\r\n", " \n"])
    return "".join(blank.join(row) + end for row in rows).encode()


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
