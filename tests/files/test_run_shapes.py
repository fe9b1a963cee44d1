"""Run files as users have them: read, warned of, or refused with what to type, which is typed here."""

from __future__ import annotations

import gzip
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.run import Cli, run_inside

_DOCUMENT = b"<DOC>\n<DOCNO>d1</DOCNO>\n" + b"word\n" * 250_000 + b"</DOC>\n"
PLAIN = b"1 Q0 d1 1 2.5 r\n1 Q0 d2 2 2.4 r\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r"),
        PLAIN.replace(b" ", b"\t"),
        b"# system r\n" + PLAIN + b"#1 Q0 d3 3 2 other\n",
        PLAIN.replace(b"d1", b"seg#1"),
    ],
)
@pytest.mark.parametrize("option", [(), ("--lenient",)])
def test_what_programs_write_is_read(content: bytes, option: tuple[str, ...], cli: Cli, here: Path) -> None:
    """Marks, line ends, tabs and comments are in order, `#` in a docno is of it, packed or not."""
    (here / "x.run").write_bytes(content)
    (here / "y.run.gz").write_bytes(gzip.compress(content))
    for name in ("x.run", "y.run.gz"):
        assert "run r, 1 topic, 2 documents" in cli("check", name, *option).fine().out


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"1048585\t7187158\t1\n1048585\t7187157\t2\n", [b"1048585 Q0 7187158 1 -1 x"]),
        (b"1 Q0 d1 1 4 my best run\n1 Q0 d2 2 3 my best run\n", [b"1 Q0 d1 1 4 x", b"1 Q0 d2 2 3 x"]),
        (b"1\tQ0\td1\t1\t4\t\n", [b"1 Q0 d1 1 4 x"]),
        (b"1 Q0 d1 1 4\n", [b"1 Q0 d1 1 4 x"]),
        (b"130\tQ0\t06_1\t1\t0,016\tLex\n", [b"130 Q0 06_1 1 0.016 Lex"]),
        (
            b"7\tQ0\tAlps report\t1\t9.5\tmini\n7\tQ0\tBern\t2\t8.1\tmini\n",
            [b"7\tQ0\tAlps_report\t1\t9.5\tmini"],
        ),
        (b"0 1 Q0 a 1 9.5 r\n1 1 Q0 b 2 9 r\n", [b"1 Q0 a 1 9.5 r", b"1 Q0 b 2 9 r"]),
        (b'"1" "Q0" "a" "1" "9.5" "r"\n', [b"1 Q0 a 1 9.5 r"]),
        (b'"1" Q0 "a" 1 9.5 "r"\n', [b"1 Q0 a 1 9.5 r"]),
        (b"1,Q0,a,1,9.5,r\n", [b"1 Q0 a 1 9.5 r"]),
        (b"1 Q0 d1\xc2\xa0 1 2.5 r\n", [b"1 Q0 d1  1 2.5 r"]),
        ("1 Q0 café 1 2.5 r\n".encode("latin-1"), ["1 Q0 café 1 2.5 r".encode()]),
        ("1 Q0 café 1 2.5 r\n".encode("utf-16"), ["1 Q0 café 1 2.5 r".encode()]),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_refusals_say_what_to_type(
    content: bytes, expected: list[bytes], pack: object, cli: Cli, here: Path
) -> None:
    """Read strictly or leniently a file is refused, and the command of the hint makes a run of it."""
    (here / "x.run").write_bytes(pack(content))  # type: ignore[operator]
    for option in ((), ("--lenient",)):
        if option and b"best" in content:
            continue  # its first six fields are those of a run
        answer = cli("check", "x.run", *option)
        assert (answer.code, "--lenient" in answer.out) == (1, False), answer.out
    answer = cli("check", "x.run")
    hint = re.search(r"hint: (.*?) writes it", answer.out)
    assert hint, answer.out
    made = subprocess.run(hint[1], shell=True, capture_output=True, check=True).stdout
    assert made.splitlines()[: len(expected)] == expected
    (here / "made.run").write_bytes(made)
    cli("check", "made.run").fine()


def test_lenient_says_what_it_took_for_what(cli: Cli, here: Path) -> None:
    """A field after the sixth is dropped with a warning, in every command and format."""
    (here / "x.run").write_text("1 Q0 a 1 2 r more\n1 Q0 b 2 1 r\n")
    (here / "x.qrels").write_text("1 0 a 1\n")
    assert "hint: `--lenient` reads" in cli("check", "x.run").out
    told = "line 1 has 7 fields: read field 3 as docno, 5 as score, 6 (`r`) as run tag, and dropped the rest"
    for words in (
        ["check", "x.run"],
        ["evaluate", "x.run", "--qrels", "x.qrels"],
        ["pool", "x.run", "--depth", "1"],
    ):
        answer = cli(*words, "--lenient").fine()
        assert (answer.out + answer.err).count(told) == 1


@pytest.mark.parametrize("end", ["", "\n"])
def test_exchanged_ranks_and_scores_are_warned_of(end: str, cli: Cli, here: Path) -> None:
    """By the fast reader and, after a blank line, by the slow one; a run in order is not."""
    swapped = "1 Q0 d1 9.5 1 r\n1 Q0 d2 9.1 2 r\n1 Q0 d3 8.7 3 r\n"
    (here / "x.run").write_text(swapped + end)
    (here / "y.run").write_text("1 Q0 d1 3 1 y\n1 Q0 d2 2 2 y\n1 Q0 d3 1 3 y\n")
    (here / "x.qrels").write_text("1 0 d1 1\n")
    for words in (["check"], ["evaluate", "--qrels", "x.qrels"], ["pool", "--depth", "1"]):
        answer = cli(*words, "x.run", "y.run").fine()
        assert (answer.out + answer.err).count("ranks and scores look exchanged") == 1


@pytest.mark.parametrize("size", [280, 281, 600, 1024, 1025])
def test_docnos_of_1024_bytes_are_read_everywhere(size: int, cli: Cli, here: Path) -> None:
    """And those of more nowhere."""
    docno, other = "d" * size, "d" * (size - 1) + "e"
    (here / "x.run").write_text(f"1 Q0 {docno} 1 2 r\n1 Q0 {other} 2 1 r\n")
    (here / "x.qrels").write_text(f"1 0 {docno if size <= 1024 else 'a'} 1\n")
    (here / "x.tsv").write_text(f"{docno}\ttext\n{other}\ttext\n")
    codes = [
        cli(*words.split()).code
        for words in (
            "check x.run",
            "evaluate x.run --qrels x.qrels",
            "pool x.run --depth 1",
            "init --collection c.db --scale 0-1",
            "import docs x.tsv --collection c.db",
            "import runs x.run --collection c.db",
        )
    ]
    assert codes == ([0] * 6 if size <= 1024 else [1, 1, 1, 0, 1, 1])


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (
            "x.run.gz",
            gzip.compress(PLAIN * 40_000),
            "gzip data of at most 1,000,000 bytes, or 100 times what",
        ),
        ("x.run", PLAIN + b"d" * 1_000_001, "x.run:3: expected a line of at most 1,000,000 bytes, got more"),
        ("x.tsv", b"d1\t" + b"d" * 1_000_001, "x.tsv:1: expected a line of at most 1,000,000 bytes"),
        ("x.trec", _DOCUMENT, "x.trec:1: expected a `<DOC>` of at most 1,000,000 bytes, got more"),
    ],
    ids=["unpacked", "line", "line of documents", "document"],
)
def test_what_files_hold_has_a_limit(
    name: str, content: bytes, fault: str, cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a file unpacks to, a line and a document; the hint names what lifts it, and that does."""
    (here / name).write_bytes(content)
    cli("init", "--collection", "c.db", "--scale", "0-1").fine()
    words = ["check", name] if "run" in name else ["import", "docs", name, "--collection", "c.db"]
    monkeypatch.setenv("POOLER_MOST_MB", "1")
    answer = cli(*words)
    assert answer.code == 1
    assert fault in answer.out + answer.err
    assert "hint: POOLER_MOST_MB=" in answer.out + answer.err
    monkeypatch.setenv("POOLER_MOST_MB", "2")
    answer = cli(*words)
    assert "at most 2,000,000" not in answer.out + answer.err
    assert "run" in name or answer.code == 0


_WORDS = st.lists(st.sampled_from(["a", "b", "2", "0", "Q0", "9.5", "x1"]), min_size=1, max_size=4)


@given(
    topic=st.sampled_from(["7", "t"]),
    before=st.sampled_from([[], ["0"], ["0", "1"], ["Q0"]]),
    q0=st.sampled_from(["Q0", "0"]),
    docno=_WORDS,
    tag=st.lists(st.sampled_from(["r", "my", "best"]), min_size=1, max_size=3),
)
def test_nothing_lenient_is_taken_for_another_column(
    topic: str,
    before: list[str],
    q0: str,
    docno: list[str],
    tag: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Columns before the topic, docnos and tags of several words: the document is read whole, or none is."""
    file = tmp_path_factory.getbasetemp() / "lenient.run"
    names = [" ".join([*docno, str(number)]) for number in range(2)] if len(docno) > 1 else ["d0", "d1"]
    file.write_text(
        "".join(
            f"{' '.join([*before, topic, q0, name, str(rank), f'{9 - rank}.5', *tag])}\n"
            for rank, name in enumerate(names, start=1)
        )
    )
    answer = run_inside("pool", str(file), "--depth", "5", "--lenient")
    if answer.code == 0:
        assert [line.split()[1] for line in answer.out.splitlines()] == sorted(names)
        assert not before
        assert len(docno) == 1
    else:
        assert before or len(docno) > 1, answer.err
