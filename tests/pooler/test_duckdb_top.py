"""`pooler.duckdb_top`: the same first documents as the reference reader, or none at all."""

from __future__ import annotations

import gzip
import hashlib
import math
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pooler.duckdb_top import read_top_duckdb, require_duckdb
from pooler.run_lines import SuspicionError
from pooler.runs import read_run
from pooler.top import read_top, read_tops, top_of
from pooler.top_ranking import RunTop
from store.errors import ArgumentError, PoolerError
from store.ranking import Order
from tests.benchmarks.generate import SCORE_FORMATS, generate
from tests.benchmarks.generate_scale import generate_scale
from tests.cli.command_line import run_process
from tests.strategies import RunText, damaged, examples, run_texts

pytest.importorskip("duckdb")
pytestmark = pytest.mark.slow

SCORE_ORDERS: tuple[Order, ...] = ("trec", "trec9", "docno-asc")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("duckdb") / "x.run"


def facts(top: RunTop) -> tuple[object, ...]:
    """Give everything a `RunTop` says, scores as their bits."""
    kept = (top.tag, top.file, top.sha256, top.depth, top.order, top.n_lines)
    topics = [
        (topic, one.docnos, one.packed_scores, one.n_documents, one.n_tied_in, one.n_tied_out)
        for topic, one in top.topics.items()
    ]
    return (*kept, top.group, top.contributes, topics)


def agrees(path: Path, depth: int, order: Order) -> bool:
    """Say whether DuckDB read the file; fail when it did and the line-by-line reader differs."""
    try:
        top = read_top_duckdb(str(path), depth, order=order)
    except SuspicionError:
        return False
    assert facts(top) == facts(top_of(read_run(str(path)), depth, order=order))
    return True


plain_ids = st.text("ab01.-_\"'#,;|", min_size=1, max_size=4)
plain_scores = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-100, 100).map("{:.17g}".format),
    st.decimals(-9, 9, places=1).map(str),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)
odd_scores = st.sampled_from(
    [
        "+-1",
        "1_0",
        "nan",
        "nan(1)",
        "-inf",
        "1e999",
        "0x1",
        "1,5",
        "",
        "-0",
        "1e",
        "\u0661",
        "1\x00",
    ]
)


@st.composite
def plain_files(draw: st.DrawFn) -> bytes:
    """Draw a file that is nearly always plainly in order: what DuckDB should read."""
    blank = draw(st.sampled_from(" \t"))
    tag = draw(plain_ids)
    some_scores = draw(st.lists(plain_scores, min_size=1, max_size=6))
    if draw(st.integers(0, 5)) == 0:
        some_scores.append(draw(odd_scores))
    lines = [
        blank.join((topic, "Q0", docno, "1", draw(st.sampled_from(some_scores)), tag))
        for topic in draw(st.lists(plain_ids, min_size=1, max_size=3, unique=True))
        for docno in draw(st.lists(plain_ids, min_size=1, max_size=9, unique=True))
    ]
    return ("\n".join(lines) + draw(st.sampled_from(["", "\n"]))).encode()


@given(content=plain_files(), depth=st.integers(1, 5), order=st.sampled_from(SCORE_ORDERS))
@example(content=b"1 Q0 a 1 +-1 t\n", depth=1, order="trec")
@example(content=b"1 Q0 a 1 1_0 t\n", depth=1, order="trec")
@example(content=b"1 Q0 a 1 2 t\n1 Q0 b 1 1_0 t\n", depth=1, order="trec")
@example(content=b"1_ Q0 a 1 1_0 t\n", depth=1, order="trec")
@example(content=b"1 Q0 a 1 0 t\n1 Q0 b 1 -0 t\n", depth=1, order="trec")
@example(content=b"1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 1 1 t\n", depth=1, order="trec")
@example(content=b"1 Q0 a 1 1 t\n1 Q0 a 1 2 t\n", depth=1, order="trec")
@example(content=b"1 Q0 a 1 1 t\n1 Q0 b 1 2 u\n", depth=1, order="trec")
@example(content=b"1 Q0  1 1 t\n", depth=1, order="trec")
@example(content=b"1 Q0 a 1 1\n1 Q0 b 1 1 t t\n", depth=1, order="trec")
@example(content=b"1 Q0 a 1 1 t\n1 Q0 b\r 1 1 t\n", depth=1, order="trec")
@example(content=b"# Q0 a 1 1 t\n", depth=1, order="trec")
def test_read_top_duckdb_plain_files_equal_line_by_line_reading(
    content: bytes, depth: int, order: Order, file: Path
) -> None:
    """Whatever DuckDB reads of a plain file, the line-by-line reader reads to the last bit."""
    file.write_bytes(content)
    agrees(file, depth, order)


@given(data=st.data(), text=run_texts(tidy=True) | run_texts())
def test_read_top_duckdb_damaged_files_equal_or_are_refused(
    data: st.DataObject, text: RunText, file: Path
) -> None:
    """A damaged file is refused, or gives what the line-by-line reader gives."""
    file.write_bytes(data.draw(damaged(text.content)))
    agrees(file, data.draw(st.integers(1, 4)), data.draw(st.sampled_from(SCORE_ORDERS)))


@given(data=st.data(), content=plain_files())
def test_read_top_duckdb_damaged_plain_files_equal_or_are_refused(
    data: st.DataObject, content: bytes, file: Path
) -> None:
    """A file one byte from being plainly in order is refused, or read as by the reference."""
    file.write_bytes(data.draw(damaged(content)))
    agrees(file, data.draw(st.integers(1, 4)), "trec")


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(scores=st.lists(plain_scores, min_size=50, max_size=200))
def test_read_top_duckdb_numbers_have_the_bits_of_float(scores: list[str], file: Path) -> None:
    """DuckDB reads a decimal of any length to the float64 that `float` gives."""
    good = [text for text in scores if math.isfinite(float(text)) and float(text) != 0.0]
    lines = [f"1 Q0 d{number} 1 {text} t\n" for number, text in enumerate(["1", *good])]
    file.write_text("".join(lines))
    top = read_top_duckdb(str(file), len(lines), order="trec").topics["1"]
    expected = {f"d{number}": float(text) for number, text in enumerate(["1", *good])}
    assert dict(zip(top.docnos, top.scores.tolist(), strict=True)) == expected


@pytest.mark.parametrize("order", SCORE_ORDERS)
def test_read_top_duckdb_generated_files_equal(order: Order, tmp_path: Path) -> None:
    """Files of every score format give the same; those plainly in order are not refused."""
    files = generate(tmp_path, runs=10, topics=4, documents=300, seed=5)
    read = [number for number, path in enumerate(files) if agrees(path, 20, order)]
    # Windows line ends are left to the others; so are whole numbers, with more ties than are kept.
    refused = {7, *(n for n in range(10) if n % len(SCORE_FORMATS) == 5)}
    assert set(range(10)) - set(read) <= refused
    assert set(read) >= {0, 1, 2, 3, 4, 6, 8, 9}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "first line"),
        (b"1  Q0 a 1 1 t\n", "first line"),
        (b"1 Q0 a 1 1 t\r\n", "first line"),
        ("1 Q0 日 1 1 t\n".encode(), "first line"),
        (b"\xef\xbb\xbf1 Q0 a 1 1 t\n", "first line"),
        (gzip.compress(b"1 Q0 a 1 1 t\n", mtime=0), "first line"),
        (b"1 Q0 a 1 x t\n", "a line"),
        (b"1 Q0 a\x7f 1 1 t\n", "not printable"),
        (b"1 Q0 a 1 1 t\n\n", "a line"),
        (b"1 Q0 a 1 1 t\n2 Q0 b 1 1  t\n", "Number of Columns"),
        (b"1 Q0 a 1 1 t\n2 Q0  1 1 t\n", "an empty field"),
        (b"1 Q0 a 1 1 t\n1 Q0 b\t 1 1 t\n", "an empty field"),
        (b"1 Q0 a 1 1 t\n1 Q0 b\tc 1 1 t\n", "a blank that is no separator"),
        (b"1 Q0 a 1 1 t\n1 Q0 b 1 1 u\n", "a second tag"),
        (b"1 Q0 a 1 1 t\n1 Q0 a 1 1 t\n", "a document twice"),
        (b"1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 1 1 t\n", "two parts"),
        (b"# Q0 a 1 1 t\n", "a comment"),
        (b"1 Q0 a 1 nan t\n", "a score"),
        (b"1_ Q0 a 1 1_0 t\n", "a score"),
        (b"1 Q0 a 1 1_0 t\n", "a score|underscore"),
        (b"1 Q0 a 1 -0.0 t\n", "a negative zero"),
    ],
)
def test_read_top_duckdb_refuses(content: bytes, reason: str, file: Path) -> None:
    """What may be a fault, or is not to be known from one query, is left to the other readers."""
    file.write_bytes(content)
    with pytest.raises(SuspicionError, match=reason):
        read_top_duckdb(str(file), 1, order="trec")


@pytest.mark.slow
def test_read_top_duckdb_fault_beyond_the_first_block_is_seen(tmp_path: Path) -> None:
    """Faults are looked for to the end of the file, and across the blocks it is read by."""
    (path,) = generate(tmp_path, runs=1, topics=4, documents=2000, seed=5)
    good = path.read_bytes()
    assert len(good) > 300_000
    assert agrees(path, 20, "trec")
    for place in (65_535, 65_536, 131_072, 290_000, len(good) - 2):
        for bad in (b"\x07", b"\xff", b"  ", b"\n", b"\t"):
            path.write_bytes(good[:place] + bad + good[place + 1 :])
            assert not agrees(path, 20, "trec")


@pytest.mark.parametrize("name", ["a*.run", "a[b].run", "x'y.run", "p=1.run", "é.run", "x.run.gz"])
def test_read_top_duckdb_file_names_are_taken_as_they_are(name: str, tmp_path: Path) -> None:
    """A name that means more to DuckDB than a name is refused, or read as the file it names."""
    (tmp_path / "ab.run").write_text("1 Q0 other 1 1 t\n")
    path = tmp_path / name
    path.write_text("1 Q0 a 1 1 t\n")
    assert agrees(path, 1, "trec") == (not set(name) & {"*", "["})


def test_read_top_duckdb_standard_input_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-` is standard input even where a file has that name, and is left to the other readers."""
    (tmp_path / "-").write_text("1 Q0 a 1 1 t\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SuspicionError, match="no regular file"):
        read_top_duckdb("-", 1, order="trec")


def test_read_top_duckdb_many_ties_in_the_first_topics_are_made_room_for(file: Path) -> None:
    """A file whose first topics tie at the cut is read all the same; constant scores are not."""
    numbers = range(40)
    file.write_text("".join(f"1 Q0 d{number} 1 {-(number // 8)} t\n" for number in numbers))
    for order in SCORE_ORDERS:
        assert agrees(file, 3, order)
    same = "".join(f"1 Q0 d{number} 1 7 t\n" for number in numbers)
    file.write_text(same)
    with pytest.raises(SuspicionError, match="too many ties"):
        read_top_duckdb(str(file), 3, order="trec")
    file.write_text("".join(f"0 Q0 d{number} 1 {number} t\n" for number in range(20_000)) + same)
    with pytest.raises(SuspicionError, match="more ties at the cut than were looked at"):
        read_top_duckdb(str(file), 3, order="trec")


def test_read_top_duckdb_without_scores(file: Path) -> None:
    """Scores are left out where they are not wanted, as by the other readers."""
    file.write_text("1 Q0 a 1 1 t\n")
    top = read_top_duckdb(str(file), 1, order="trec", with_scores=False)
    expected = read_top(str(file), 1, with_scores=False)
    assert top.topics["1"].packed_scores == expected.topics["1"].packed_scores


@pytest.mark.parametrize("order", ["rank", "file"])
def test_read_top_duckdb_orders_without_scores_are_refused(order: Order, file: Path) -> None:
    """What orders a run by its ranks or lines is left to the other readers."""
    file.write_text("1 Q0 a 1 1 t\n")
    with pytest.raises(SuspicionError, match="order"):
        read_top_duckdb(str(file), 1, order=order)


@pytest.mark.parametrize("workers", [1, 2])
def test_read_tops_engines_agree(workers: int, tmp_path: Path) -> None:
    """Files that DuckDB refuses are read by the others, in their place among the rest."""
    files = [str(path) for path in generate(tmp_path, runs=8, topics=3, documents=200, seed=7)]
    tops = read_tops(files, 15, engine="duckdb", workers=workers)
    expected = read_tops(files, 15, workers=1)
    assert list(map(facts, tops)) == list(map(facts, expected))


def test_read_tops_engines_tell_the_same_fault(file: Path) -> None:
    """A fault is worded by the reference reader, whatever read first."""
    file.write_text("1 Q0 a 1 x t\n")
    with pytest.raises(PoolerError, match=r"x\.run:1: expected a finite number as score"):
        read_tops([str(file)], 1, engine="duckdb")


def test_read_tops_unknown_engine_is_refused() -> None:
    """An engine that there is not is the caller's error."""
    with pytest.raises(ArgumentError, match="`--engine` must be one of python, duckdb"):
        read_tops([], 1, engine="spark")  # type: ignore[arg-type] - the point of the test


def test_engine_without_the_package_names_it(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """Without the package the user is told what to install, before anything is read."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(PoolerError, match=r"pip install 'pooler\[duckdb\]'"):
        require_duckdb()
    with pytest.raises(PoolerError, match=r"pip install 'pooler\[duckdb\]'"):
        read_tops([str(file.with_name("absent.run"))], 1, engine="duckdb")


def test_pool_engines_write_the_same_bytes(tmp_path: Path) -> None:
    """`pooler pool` writes the same pool and manifest by either engine."""
    files = generate_scale(tmp_path / "runs", runs=5, topics=3, documents=100, seed=1)
    hashes = []
    for engine in ("python", "duckdb"):
        out = tmp_path / f"{engine}.txt"
        options = ("--depth", "10", "--out", out, "--engine", engine)
        done = run_process("pool", *files, *options, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        manifest = Path(f"{out}.manifest.json").read_bytes()
        hashes.append(hashlib.sha256(out.read_bytes() + manifest).hexdigest())
    assert hashes[0] == hashes[1]


def test_pool_engine_is_for_run_files(tmp_path: Path) -> None:
    """A collection's runs are read already, so an engine for them is refused."""
    done = run_process("pool", "--engine", "duckdb", folder=tmp_path)
    assert b"`--engine` must be" in done.stderr or b"`--engine` is for run files" in done.stderr
    assert done.returncode != 0
