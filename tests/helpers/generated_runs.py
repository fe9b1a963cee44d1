"""Realistic runs from a seed, and the odd texts that come in them."""

from __future__ import annotations

from random import Random

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
