"""`pooler.reading.strict`: reading run files, and what is a fault."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from pooler.reading.strict import SPLIT_HINT, read_run, whole_ranks
from store.errors import FormatError, PoolerError
from tests.strategies import RunText, run_texts

LENIENT_HINT = "`--lenient` reads the first six fields, as trec_eval does"
BLANKS_HINT = "a run line is topic, Q0, docno, rank, score and run tag, none of them with a blank"
DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("runs") / "x.run"


def faults_of(path: Path, *, lenient: bool = False) -> list[tuple[int | None, str]]:
    """Lines and codes of a file's faults."""
    with pytest.raises(FormatError) as caught:
        read_run(str(path), lenient=lenient)
    return [(fault.line, fault.code) for fault in caught.value.faults]


@given(text=run_texts(whole_ranks=False))
def test_read_run_valid_file_gives_what_is_written(text: RunText, file: Path) -> None:
    """Every field of a file without faults comes back, in file order."""
    file.write_bytes(text.content)
    run = read_run(str(file))
    rows = [
        (ranking.topic, docno, score)
        for ranking in run.rankings
        for docno, score in zip(ranking.docnos, ranking.scores.tolist(), strict=True)
    ]
    assert rows == [(topic, docno, float(score)) for topic, docno, _, score in text.rows]
    assert run.tag == text.tag
    assert run.file == "x.run"
    assert run.sha256 == hashlib.sha256(text.content).hexdigest()
    for ranking in run.rankings:
        ranks = [rank for topic, _, rank, _ in text.rows if topic == ranking.topic]
        if ranking.ranks is None:
            assert {"x", "1.5", "1_0", str(2**70)} & set(ranks)
        else:
            assert ranking.ranks.tolist() == [int(rank) for rank in ranks]


@given(text=run_texts(lenient=True))
def test_read_run_lenient_reads_what_trec_eval_reads(text: RunText, file: Path) -> None:
    """Lenient reading joins topics, skips comments and extra fields, and takes the last tag."""
    file.write_bytes(text.content)
    run = read_run(str(file), lenient=True)
    assert run.tag == text.tag
    for ranking in run.rankings:
        of_topic = [row for row in text.rows if row[0] == ranking.topic]
        assert ranking.docnos == [docno for _, docno, _, _ in of_topic]
        assert ranking.scores.tolist() == [float(score) for _, _, _, score in of_topic]
    assert [ranking.topic for ranking in run.rankings] == list(dict.fromkeys(row[0] for row in text.rows))


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        (b"1 Q0 a 1 2\n", [(1, "fields")]),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t more\n", [(2, "fields")]),
        (b"1 Q0 a 1 2 t\n\n1 Q0 b 2 abc t\n", [(3, "score")]),
        (b"1 Q0 a 1 1_0 t\n", [(1, "score")]),
        (b"1 Q0 a 1 nan t\n1 Q0 b 1 -inf t\n1 Q0 c 1 1e999 t\n", [(n, "score") for n in (1, 2, 3)]),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n1 Q0 a 3 0 t\n", [(3, "duplicate")]),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n1 Q0 c 3 1 t\n", [(3, "split-topic")]),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1 u\n1 Q0 c 3 1 t\n1 Q0 d 3 1 u\n", [(2, "tag")]),
        (b"1 Q0 a\x07 1 2 t\n", [(1, "id")]),
        (b"1\x7f Q0 a 1 2 t\n1\x7f Q0 b 1 2 t\n", [(1, "id")]),
        (b"1 Q0 a 1 2 \xff\n", [(1, "id")]),
        ("1 Q0 a\u202e 1 2 t\n".encode(), [(1, "id")]),
        ("1 Q0 a\u3000b 1 2 t\n".encode(), [(1, "id")]),
        (b"", [(None, "empty")]),
        (b"\n \r\n\t\n", [(None, "empty")]),
        (b"1 Q0 a\x07 1 x t u\n1 Q0 b\x07 1 x t\n", [(1, "fields"), (2, "id"), (2, "score")]),
    ],
)
def test_read_run_bad_file_tells_line_and_code(
    content: bytes, faults: list[tuple[int | None, str]], tmp_path: Path
) -> None:
    """Each kind of fault is told with its line, and all of a file at once."""
    path = tmp_path / "x.run"
    path.write_bytes(content)
    assert faults_of(path) == faults


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 Q0 a 1 2\n", r"x\.run:1: expected 6 fields, got 5\n"),
        (b"1 Q0 a 1 abc t\n", r"x\.run:1: expected a finite number as score, got `abc`$"),
        (
            b"9 Q0 a 1 2 t\n9 Q0 b 2 1 t\n9 Q0 a 3 0 t\n",
            r"x\.run:3: document `a` is in topic `9` already, on line 1$",
        ),
        (
            b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n",
            r"x\.run:3: topic `1` began on line 1 and goes on after topic `2`\n",
        ),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1 u\n", r"x\.run:2: expected one run tag, `t`, got also `u`$"),
        (b"1 Q0 a\x07 1 2 t\n", r"x\.run:1: docno: expected an id without control characters"),
        (b"1 Q0 \xff 1 2 t\n", r"x\.run:1: docno: expected an id in UTF-8, got b'\\xff'\n"),
        (b"", r"x\.run: expected run lines, got none$"),
    ],
)
def test_read_run_bad_file_says_what_was_expected(content: bytes, message: str, tmp_path: Path) -> None:
    """A fault says what was expected and what was got, where there is both."""
    path = tmp_path / "x.run"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_run(str(path))


@pytest.mark.parametrize("n_fields", [1, 40])
def test_read_run_an_id_may_have_1024_bytes(n_fields: int, tmp_path: Path) -> None:
    """One byte more is a fault that says which field; a long line of short fields is none."""
    path = tmp_path / "x.run"
    path.write_bytes(b"1 Q0 %s 1 2 t%s\n" % (b"d" * 1024, b" " * n_fields))
    assert read_run(str(path)).rankings[0].docnos == ["d" * 1024]
    path.write_bytes(b"1 Q0 %s 1 2 t\n1 Q0 a 1 2 t\n" % (b"d" * 1025))
    with pytest.raises(FormatError, match=r"x\.run:1: expected .* of at most 1,024 bytes, got 1,025$"):
        read_run(str(path))


def test_read_run_many_faults_keeps_25_and_counts_all(tmp_path: Path) -> None:
    """A file of bad lines shows the first 25 and says how many more there are."""
    path = tmp_path / "x.run"
    path.write_bytes(b"too short\n" * 40)
    with pytest.raises(FormatError, match="and 15 more faults") as caught:
        read_run(str(path))
    assert len(caught.value.faults) == 25
    assert caught.value.n_faults == 40


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"1 Q0 a 1 2 t more\n", LENIENT_HINT),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n", SPLIT_HINT),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", None),  # joined, the topic has `a` twice
        (b"7 Q0 Alps report 1 9.5 t\n7 Q0 b 2 9 t\n", BLANKS_HINT),
        (b"7 Q0 doc 12 1 9.5 t\n7 Q0 doc 15 2 9 t\n", BLANKS_HINT),  # its first column is no index
        (b"7 0 doc 12 1 9.5 t\n7 0 doc 15 2 9 t\n", BLANKS_HINT),
        (b"7 Q0 Alps 2 1 9.5 t\n7 Q0 b 2 9 t\n", BLANKS_HINT),
        (b'"1" Q0 "a" 1 2 "t" more\n', BLANKS_HINT),
    ],
)
def test_read_run_hint_names_lenient_where_it_helps(content: bytes, hint: str | None, tmp_path: Path) -> None:
    """The hint tells of `--lenient` when that would read the file, and only then."""
    path = tmp_path / "x.run"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_run(str(path))
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        (b"1 Q0 a 1 abc t\n", [(1, "score")]),
        (b"1 Q0 a 1 2\n", [(1, "fields")]),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", [(3, "duplicate")]),
        (b"1 Q0 a\x07 1 2 t\n", [(1, "id")]),
        (b"# nothing else\n", [(None, "empty")]),
    ],
)
def test_read_run_lenient_still_refuses_what_changes_results(
    content: bytes, faults: list[tuple[int | None, str]], tmp_path: Path
) -> None:
    """Lenient reading never guesses a score, drops a document or keeps one twice."""
    path = tmp_path / "x.run"
    path.write_bytes(content)
    assert faults_of(path, lenient=True) == faults


def test_read_run_gzip_equals_plain(tmp_path: Path) -> None:
    """A gzip file reads as its content, whatever its name, and has the content's hash."""
    content = b"1 Q0 a 1 2 t\n"
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    assert read_run(str(packed)).sha256 == read_run(str(plain)).sha256
    assert read_run(str(packed)).rankings[0].docnos == ["a"]


@pytest.mark.parametrize("damage", ["truncated", "damaged", "followed"])
def test_read_run_bad_gzip_is_a_fault(damage: str, tmp_path: Path) -> None:
    """Gzip data that ends early, is altered, or has rubbish behind it is told as a fault."""
    lines = [f"1 Q0 d{number} {number} {-number}.5 t\n" for number in range(5000)]
    packed = bytearray(gzip.compress("".join(lines).encode()))
    if damage == "truncated":
        del packed[len(packed) // 2 :]
    elif damage == "damaged":
        packed[-8] ^= 1  # the checksum
    else:
        packed += b"rubbish"
    path = tmp_path / "x.run.gz"
    path.write_bytes(packed)
    assert [code for _, code in faults_of(path)][-1] == "gzip"


def test_read_run_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 Q0 a 1 2 t\n")))
    run = read_run("-")
    assert run.tag == "t"
    assert run.file == "-"


def test_read_run_no_file_says_so(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(PoolerError, match=r"gone\.run: no such file or directory"):
        read_run(str(tmp_path / "gone.run"))


@pytest.mark.parametrize("column", [0, 2, 5])
@pytest.mark.parametrize(
    "forbidden",
    ["\x00", "\x1b", "\x1c", "\x7f", "\x85", "\x9b", "\xa0", "\u061c", "\u200f", "\u2066", "\u3000"],
)
def test_read_run_forbidden_character_in_an_id_is_a_fault(
    column: int, forbidden: str, tmp_path: Path
) -> None:
    """A control, bidirectional control or blank beyond ASCII is refused in topic, docno and tag."""
    fields = ["1", "Q0", "d", "1", "0.5", "t"]
    fields[column] = f"a{forbidden}b"
    path = tmp_path / "x.run"
    path.write_bytes(" ".join(fields).encode())
    assert faults_of(path) == [(1, "id")]


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([b"1", b"+2", b"-3", b"007"], [1, 2, -3, 7]),
        ([b"1", b"two"], None),
        ([b"1_0"], None),
        ([b"1.0"], None),
        ([str(2**63 - 1).encode()], [2**63 - 1]),
        ([str(2**63).encode()], None),
        ([b"9" * 5000], None),
    ],
)
def test_whole_ranks_integers_of_64_bits_only(ranks: list[bytes], expected: list[int] | None) -> None:
    """Stated ranks are all integers that fit 64 bits, or there are none."""
    found = whole_ranks(ranks)
    assert (None if found is None else found.tolist()) == expected
    assert found is None or found.dtype == np.int64


@pytest.mark.vector("trec_eval test/results.trunc: 584 lines, 5 with text after the sixth field")
def test_read_run_trec_eval_file_needs_lenient() -> None:
    """trec_eval's own file with junk at line ends is refused by line, and read leniently."""
    path = DATA / "trec-eval-test" / "results.trunc"
    if not path.exists():
        pytest.skip("trec_eval's test files are absent")
    with pytest.raises(FormatError, match=r"results\.trunc:1: expected 6 fields, got 9") as caught:
        read_run(str(path))
    assert caught.value.hint == LENIENT_HINT
    found = [fault.line for fault in caught.value.faults if fault.code == "fields"]
    lines = path.read_bytes().splitlines()
    assert found == [number for number, line in enumerate(lines, 1) if len(line.split()) > 6]
    run = read_run(str(path), lenient=True)
    assert run.tag == "STANDARD"
    assert [ranking.topic for ranking in run.rankings] == ["301", "303"]
    assert sum(len(ranking.docnos) for ranking in run.rankings) == 584


def test_topic_like_a_comment_is_a_fault(tmp_path: Path) -> None:
    """Qrels of a topic that begins with `#` would be comments to trec_eval."""
    file = tmp_path / "x.run"
    file.write_bytes(b"1 Q0 a 1 1 t\n #2 Q0 a 1 1 t\n")
    with pytest.raises(FormatError, match=r"x\.run:2: topic id: expected no `#`, a comment"):
        read_run(str(file))


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (b"1 0 a 2\n\n2 0 b -1\n", ["qrels"]),
        (b"\xef\xbb\xbf1 0 a 2.0\r\n", ["qrels"]),
        # A grade that is none; three fields; a run line among them; runs cut off after the rank.
        (b"1 0 a 2\n1 0 b x\n", ["fields", "fields"]),
        (b"1 0 a 2\n1 0 b\n", ["fields", "fields"]),
        (b"1 0 a 2\n1 Q0 b 1 2 t\n", ["fields"]),
        (b"1 Q0 a 1\n1 Q0 b 2\n", ["fields", "fields"]),
    ],
)
def test_read_run_qrels_file_is_told_in_one_line(content: bytes, codes: list[str], tmp_path: Path) -> None:
    """Where all lines are those of a qrels file that is the one fault, with what to type."""
    path = tmp_path / "x.qrels"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_run(str(path))
    assert [fault.code for fault in caught.value.faults] == codes
    if codes == ["qrels"]:
        assert "this looks like a qrels file (4 columns" in caught.value.message
        assert "expected a run (6 columns" in caught.value.message
        assert "`pooler import judgements FILE`" in (caught.value.hint or "")
