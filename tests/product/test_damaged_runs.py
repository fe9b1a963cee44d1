"""`pooler check`, and reading, against a slow and obvious reader, on thousands of generated files.

``POOLER_FUZZ_FILES`` sets how many files (default 500) and ``POOLER_FUZZ_SEED`` the first seed
(default 0); a difference names the seed of its file, so that it can be made again.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from pooler.reading.check import check_run
from pooler.reading.fields import SuspicionError
from pooler.reading.tops import read_top
from store.errors import FormatError, PoolerError
from store.ranking import Order
from tests.helpers.damaged_files import DamagedFile, damaged_file
from tests.helpers.fast_reader import read_blocks
from tests.helpers.generated_runs import BAD_SCORES, GOOD_SCORES, RANKS
from tests.helpers.obvious_comparison import compare, unlike_faults
from tests.helpers.obvious_reader import read_obviously
from tests.helpers.run import run_process

pytestmark = pytest.mark.slow

N_FILES = int(os.environ.get("POOLER_FUZZ_FILES", "500"))
FIRST_SEED = int(os.environ.get("POOLER_FUZZ_SEED", "0"))


@pytest.mark.slow
def test_generated_files_are_read_as_the_obvious_reader_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every generated file has the faults, or the content, that a slow obvious reader finds."""
    path = tmp_path / "x.run"
    seen: Counter[str] = Counter()
    differences: list[str] = []
    started = time.perf_counter()
    for seed in range(FIRST_SEED, FIRST_SEED + N_FILES):
        file = damaged_file(seed)
        path.write_bytes(file.content)
        for lenient in (False, True):
            try:
                outcome = compare(path, file, lenient=lenient)
            except Exception as error:  # noqa: BLE001 - told with the file that caused it
                outcome = f"{type(error).__name__}: {error}"
            mode = "lenient" if lenient else "strict"
            if isinstance(outcome, str):
                differences.append(f"seed {seed}, {mode}, {', '.join(file.steps)}: {outcome}")
            else:
                codes = {code for _, code in outcome.faults}
                codes |= {"damage"} if outcome.is_damaged else set()
                seen.update(f"{mode} {code}" for code in codes or {"accepted"})
        if len(differences) > 20:
            break
    if "POOLER_FUZZ_FILES" in os.environ:
        with capsys.disabled():
            counts = ", ".join(f"{name} {count:,}" for name, count in sorted(seen.items()))
            seconds = time.perf_counter() - started
            sys.stdout.write(f"\n{N_FILES:,} files from seed {FIRST_SEED}, {seconds:.0f} s: {counts}\n")
    assert not differences, "\n".join(differences)
    if N_FILES >= 2000:  # few enough of a kind would mean that the generator tests nothing
        assert min(seen["strict accepted"], seen["lenient accepted"]) > N_FILES // 6


def test_control_or_sign_anywhere_in_a_line_is_read_as_the_obvious_reader_reads_it(tmp_path: Path) -> None:
    """Whatever single odd byte slips into a line, faults and content are those it makes."""
    line = b"1 Q0 d 1 2 t\n"
    odd = [*range(36), *b"+-.0_e", *range(0x7E, 0x82), 0xA0, 0xC2, 0xEF, 0xFF]
    agree(
        tmp_path,
        [line[:place] + bytes([byte]) + line[place:] for place in range(len(line) + 1) for byte in odd],
    )


def test_any_odd_character_in_an_id_is_judged_as_the_obvious_reader_judges_it(tmp_path: Path) -> None:
    """Controls, blanks and formatting characters of Unicode, in topic, docno and tag."""
    odd = [
        chr(code)
        for code in range(0x80, 0x1_0000)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zs", "Zl", "Zp")
    ]
    assert len(odd) > 80
    lines = ["1{0} Q0 d 1 2 t\n", "1 Q0 {0}d 1 2 t\n", "1 Q0 d 1 2 t{0}u\n", "1 Q{0} d {0} 2 t\n"]
    agree(tmp_path, [line.format(character).encode() for line in lines for character in odd])


def test_any_score_or_rank_is_read_as_the_obvious_reader_reads_it(tmp_path: Path) -> None:
    """A field that is odd on its own, beside plain ones and first or last in the file."""
    texts = [f"1 Q0 a 1 {score} t\n1 Q0 b 2 0.25 t\n" for score in GOOD_SCORES + BAD_SCORES]
    texts += [f"1 Q0 b 2 -7 t\n1 Q0 a 1 {score} t" for score in GOOD_SCORES + BAD_SCORES]
    texts += [f"1 Q0 a {rank} 1 t\n1 Q0 b 2 1 t\n2 Q0 b 1 9 t\n" for rank in RANKS]
    agree(tmp_path, [text.encode() for text in texts])


def agree(folder: Path, contents: list[bytes]) -> None:
    """Compare what the project and the obvious reader say of sound or slightly odd files."""
    path = folder / "x.run"
    for number, content in enumerate(contents):
        path.write_bytes(content)
        file = DamagedFile(4 * number + 1, content, (), frozenset(), frozenset())
        for lenient in (False, True):
            outcome = compare(path, file, lenient=lenient)
            assert not isinstance(outcome, str), f"{content!r}: {outcome}"


def test_command_line_tells_faults_of_generated_files_without_a_traceback(tmp_path: Path) -> None:
    """The command itself ends with 1 for files with faults and 0 for others, in words only."""
    files = {f"{seed}.run": damaged_file(seed) for seed in range(FIRST_SEED, FIRST_SEED + 20)}
    for name, file in files.items():
        (tmp_path / name).write_bytes(file.content)
    given_grades = {name: read_obviously(file.content, lenient=False) for name, file in files.items()}
    bad = {name for name, given_grade in given_grades.items() if given_grade.faults or given_grade.is_damaged}
    # Two files of one tag are a fault of their own, so only the first of each tag is taken.
    tags = {given_grades[name].tag: name for name in reversed(files) if name not in bad}
    good = list(tags.values())
    assert bad
    assert good
    answer = run_process("check", *files, "--format", "json", folder=tmp_path)
    assert (answer.returncode, b"Traceback" in answer.stderr) == (1, False), answer.stderr.decode()
    rows = [row for row in json.loads(answer.stdout)["check"] if row["kind"] == "fault"]
    told = {row["file"] for row in rows if not (row["code"] == "tag" and row["line"] is None)}
    assert told == bad
    for names, code in ((good, 0), (sorted(bad), 1)):
        answer = run_process("check", *names, "--depth", "2", folder=tmp_path)
        assert answer.returncode == code, answer.stderr.decode()
        assert b"Traceback" not in answer.stderr + answer.stdout
    answer = run_process("check", *files, "--lenient", "--order", "rank", folder=tmp_path)
    assert b"Traceback" not in answer.stderr + answer.stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.run", "no such file or directory"),
        ("folder", "is a directory"),
        ("file/x.run", "not a directory"),
        ("loop", "too many levels of symbolic links"),
        pytest.param("x" * 300, "file name too long", id="long"),
        ("socket", "no such device or address"),
        ("nul\0.run", "expected a file name, got one with a NUL character"),
    ],
)
def test_what_cannot_be_opened_is_told_in_words(name: str, message: str, tmp_path: Path) -> None:
    """A path that leads to no file is one error that names it."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for lenient in (False, True):
            with pytest.raises(PoolerError, match=message):
                check_run(f"{tmp_path}/{name}", lenient=lenient)
        with pytest.raises(PoolerError, match=message):
            read_top(f"{tmp_path}/{name}", 10)


def test_file_that_may_not_be_read_is_told_in_words(tmp_path: Path) -> None:
    """A file without the right to read it is one error that names it."""
    path = tmp_path / "x.run"
    path.write_bytes(b"1 Q0 d 1 1 t\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    with pytest.raises(PoolerError, match=r"x\.run: permission denied"):
        check_run(str(path))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here fails to be read")
def test_file_that_fails_to_be_read_is_told_in_words() -> None:
    """A file that can be opened and not read is one error that names it."""
    with pytest.raises(PoolerError, match=r"/proc/self/mem: input/output error"):
        check_run("/proc/self/mem")
    with pytest.raises(PoolerError, match=r"/proc/self/mem: input/output error"):
        read_top("/proc/self/mem", 10)


def test_null_device_is_an_empty_file() -> None:
    """The null device has no run line."""
    report = check_run(os.devnull)
    assert [(fault.line, fault.code) for fault in report.faults] == [(None, "empty")]
    with pytest.raises(FormatError, match="expected run lines, got none"):
        read_top(os.devnull, 10)


def test_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    """What comes through a named pipe, in whatever pieces, has the verdict of a file."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for seed in range(60):
        content = damaged_file(seed).content
        given_grade = read_obviously(content, lenient=False)
        writer = threading.Thread(target=write_in_pieces, args=(path, content), daemon=True)
        writer.start()
        report = check_run(str(path))
        writer.join()
        assert unlike_faults(report, given_grade) is None, f"seed {seed}"


def write_in_pieces(path: Path, content: bytes) -> None:
    """Write one byte, then another, then the rest, to a reader that may go away."""
    try:
        with path.open("wb", buffering=0) as file:
            for piece in (content[:1], content[1:2], content[2:5], content[5:]):
                file.write(piece)
                time.sleep(0.001)
    except BrokenPipeError:
        pass


@pytest.mark.parametrize("column", [0, 2])
def test_invalid_bytes_are_not_the_text_that_shows_them(column: int, tmp_path: Path) -> None:
    r"""An id with the byte 0xff is another id than one with the four characters `\xff`."""
    path = tmp_path / "x.run"
    rows = [[b"1", b"Q0", b"d", b"1", b"2", b"t"], [b"1", b"Q0", b"d", b"2", b"1", b"t"]]
    rows[0][column] += b"\xff"
    rows[1][column] += b"\\xff"
    path.write_bytes(b"".join(b" ".join(row) + b"\n" for row in rows))
    known = {rows[1][column].decode()}
    if column == 0:
        report = check_run(str(path), known_topics=known)
        expected = [(1, "id"), (1, "unknown-topic")]
    else:
        report = check_run(str(path), known_docnos=known)
        expected = [(1, "id"), (1, "unknown-docno")]
    assert [(fault.line, fault.code) for fault in report.faults] == expected


@pytest.mark.parametrize("length", [1, 7, 8, 9, 16, 17, 90, 255, 300])
@pytest.mark.parametrize("other_length", [2, 8, 12, 100, 256, 257])
def test_document_twice_is_found_whatever_stands_between(
    length: int, other_length: int, tmp_path: Path
) -> None:
    """A document twice in a topic is a fault, however long it and the others are."""
    path = tmp_path / "x.run"
    docnos = ["d" * length, "e" * 2, "x" * other_length, "f" * 2, "d" * length]
    path.write_text("".join(f"1 Q0 {docno} 1 1.5 t\n" for docno in docnos))
    assert [fault.line for fault in check_run(str(path)).faults] == [5]
    for block_bytes in (1, 20, 40, 100, 10_000):  # a line or more at a time
        with pytest.raises(SuspicionError):
            read_blocks(str(path), 2, order="trec", block_bytes=block_bytes)
    with pytest.raises(FormatError, match="is in topic `1` already, on line 1"):
        read_top(str(path), 2)


def test_judgements_given_as_a_run_are_refused(tmp_path: Path) -> None:
    """A qrels file is told once as what it is, not line by line, strict or lenient."""
    path = tmp_path / "x.qrels"
    path.write_bytes(b"301 0 FT911-3 0\n301 0 FT911-4 1\n302 0 FT911-3 2\n")
    for lenient in (False, True):
        report = check_run(str(path), lenient=lenient)
        assert report.fault_counts == {"qrels": 1}
        assert [fault.line for fault in report.faults] == [None]
        orders: tuple[Order, ...] = ("trec", "rank")
        for order in orders:
            with pytest.raises(FormatError, match="looks like a qrels file"):
                read_top(str(path), 10, order=order, lenient=lenient)
