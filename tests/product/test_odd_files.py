"""Files that are not what they seem, or do not meet: refused, or warned of, in the same words everywhere.

Generated run files are read beside a slow and obvious reader. ``POOLER_FUZZ_FILES`` sets how
many (default 150) and ``POOLER_FUZZ_SEED`` the first seed (default 0); a difference names the seed of its
file, so that it can be made again.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import pooler as p
from pooler.reading.check import check_run
from pooler.reading.fields import SuspicionError
from pooler.reading.tops import read_top
from store.errors import FormatError, PoolerError
from store.fields import LONGEST_ID
from store.ranking import Order
from tests.helpers.damaged_runs import BAD_SCORES, GOOD_SCORES, RANKS, DamagedFile, damaged_file
from tests.helpers.obvious_comparison import compare, read_blocks, unlike_faults
from tests.helpers.obvious_reader import read_obviously
from tests.helpers.run import Cli, by_rule, qrels_of, run_process, write

DEEP = 5_000
"""Brackets in each other, or digits of a number."""
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
RUN = "G01 Q0 KG-E-001 1 2.5 words"


def refused(cli: Cli, *command: str | Path) -> str:
    """Run a command that must be refused in one line and perhaps a hint; return them."""
    answer = cli(*command).failed(1)
    lines = answer.err.splitlines()
    assert len(lines) <= 2, answer.err
    assert all(len(line) < 500 for line in lines)
    return answer.err


def test_a_file_name_with_nul_in_a_list_of_runs_is_a_fault_of_its_line(cli: Cli, here: Path) -> None:
    """No operating system has such a file; every command that takes the list says so."""
    write(here / "runs.tsv", "file\ttag", "a\0b.run\tx")
    for command in ("pool", "check"):
        assert "runs.tsv:2: expected a run file, got `a\u2400b.run`" in refused(
            cli, command, "--runs", "runs.tsv"
        )


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * DEEP, "a = " + "9" * DEEP, "undo = 0x" + "f" * DEEP, "[a", "a = 1\na = 2"],
    ids=["deep", "digits", "hex digits", "cut", "twice"],
)
def test_toml_beyond_bounds_is_a_fault(cli: Cli, judged: Path, text: str) -> None:
    """A scale that is no TOML says so, whatever Python's reader trips over."""
    write(judged / "odd.toml", text)
    told = refused(cli, "init", "--scale", "odd.toml", "--collection", "new.db")
    assert "odd.toml: expected TOML, got: " in told


@pytest.mark.parametrize(
    ("command", "before"),
    [
        (("import", "topics"), '{"topic": "G01", "title": '),
        (("import", "docs"), '{"docno": "KG-E-001", "text": '),
        (("import", "judgements", "--as", "jsonl"), '{"topic": '),
    ],
)
def test_json_beyond_bounds_or_with_a_key_twice_is_a_fault(
    cli: Cli, judged: Path, command: tuple[str, ...], before: str
) -> None:
    """Every reader of JSON lines says it with the line."""
    key = before.partition('"')[2].partition('"')[0]
    for text, said in (
        ("[" * 40 * DEEP, "too large a number or too deep a nesting"),
        ("9" * DEEP, "too large a number or too deep a nesting"),
        (f'"a", "{key}": "b"}}', f"expected each key once, got `{key}` twice"),
    ):
        write(judged / "odd.jsonl", before + text)
        answer = refused(cli, *command, "odd.jsonl")
        assert "odd.jsonl:1: " in answer
        assert said in answer


def test_a_manifest_with_a_key_twice_is_a_fault(cli: Cli, judged: Path) -> None:
    """A published directory says each thing once."""
    cli("qrels", "define", "official", "--judge", "strict").fine()
    cli("export", "collection", "made").fine()
    manifest = judged / "made" / "manifest.json"
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace("{", '{"format": "other",', 1), "utf-8")
    told = refused(cli, "import", "collection", "made", "--collection", "new.db")
    assert "expected each key once, got `format` twice" in told


@pytest.mark.parametrize("field", range(6))
def test_no_field_of_a_run_is_longer_than_an_id_may_be(cli: Cli, here: Path, field: int) -> None:
    """Topic, docno and tag would fit in no index; a rank or score of that length is none."""
    fields = RUN.split()
    fields[field] = ("9" if field in (3, 4) else "d") * DEEP
    write(here / "a.run", " ".join(fields))
    assert "of at most 1,024 bytes, got 5,000" in refused(cli, "pool", "a.run")
    assert "a.run:1: expected" in cli("check", "a.run").out


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (("import", "topics"), "LONG\ttitle"),
        (("import", "docs"), "LONG\ttext"),
        (("import", "docs"), "<DOC><DOCNO>LONG</DOCNO><TEXT>a</TEXT></DOC>"),
        (("import", "docs"), '{"docno": "LONG", "text": ""}'),
        (("import", "judgements", "--judge", "zoe"), "G01 LONG KG-E-001 1"),
        (("import", "judgements", "--columns", "topic,judge,docno,grade"), "G01 a LONG 1"),
        (("export", "qrels", "--level", "1"), "G01 0 LONG 1"),
    ],
)
def test_an_id_is_not_longer_than_an_index_can_hold(
    cli: Cli, judged: Path, command: tuple[str, ...], line: str
) -> None:
    """Every reader refuses it, with its line and its length."""
    write(judged / "odd", line.replace("LONG", "d" * (LONGEST_ID + 1)))
    told = refused(cli, *command, "./odd")
    assert "odd:1: expected an id of at most 1,024 bytes, got 1,025" in told


def test_a_grade_of_thousands_of_digits_is_refused_in_a_short_line(cli: Cli, judged: Path) -> None:
    """What was got is shown in part."""
    write(judged / "odd", f"G01 0 KG-E-001 {'9' * DEEP}")
    assert "odd:1: expected an integer grade" in refused(
        cli, "import", "judgements", "--judge", "zoe", "./odd"
    )


def test_line_ends_in_a_file_name_make_no_hint(cli: Cli, here: Path) -> None:
    """A name that somebody else chose must not look like what pooler says."""
    write(here / "a\nhint: remove everything", "1 Q0")
    answer = cli("pool", "a\nhint: remove everything").failed(1)
    assert [line for line in answer.err.splitlines() if line.startswith("hint: remove")] == []


def test_docnos_that_look_the_same_are_warned_of(cli: Cli, here: Path) -> None:
    """Composed and decomposed letters are two documents, and the one who imports learns of it."""
    shown = r"'cafe\u0301' and 'caf\xe9'"
    form = "Unicode normal form (NFC, NFD)"
    cli("init", "--scale", "0-2").fine()
    write(here / "a.run", f"G01 Q0 {COMPOSED} 1 2 a", "G01 Q0 tea 2 1 a")
    write(here / "b.run", f"G01 Q0 {DECOMPOSED} 1 2 b")
    write(here / "both.run", f"G01 Q0 {COMPOSED} 1 2 c", f"G02 Q0 {DECOMPOSED} 1 2 c")
    told = cli("check", "both.run").fine().out
    assert f"both.run: warning: documents whose docnos differ only in {form}" in told
    assert shown in told
    told = cli("check", "a.run", "b.run").fine().out
    assert "a.run: warning: documents" not in told
    assert f"b.run: warning: documents whose docnos differ only in {form}" in told
    assert "normal form" not in cli("import", "runs", "a.run").fine().err
    told = cli("import", "runs", "b.run").fine().err
    assert f"warning: documents whose docnos differ only in {form}" in told
    assert shown in told
    assert "normal form" not in cli("import", "runs", "both.run").fine().err
    write(here / "docs.tsv", "th\u00e9\ttext", "the\u0301\ttext")
    assert r"'th\xe9' and 'the\u0301'" in cli("import", "docs", "docs.tsv").fine().err
    write(here / "qrels", "G01 0 \u00e9 1", "G01 0 e\u0301 1")
    told = cli("import", "judgements", "qrels", "--judge", "zoe", "--allow-unknown").fine().err
    assert r"'\xe9' and 'e\u0301'" in told


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0" encoding="latin1"?>\n<top>\n<num>1\n<title>{}\n</top>',
        "<top>\n<num>1\n<title>{}\n</top>",
        "1\t{}",
        '{{"topic": "1", "title": "{}"}}',
    ],
)
def test_latin1_topics_are_mended_by_the_line_that_is_said(cli: Cli, judged: Path, text: str) -> None:
    """Whatever form topics have, and though they declare it."""
    (judged / "latin1").write_bytes(text.format("caf\xe9").encode("latin-1"))
    told = refused(cli, "import", "topics", "./latin1")
    line = "iconv -f ISO-8859-1 -t UTF-8 ./latin1"
    assert f"hint: if it is Latin-1: {line} writes it as UTF-8" in told
    (judged / "utf8").write_bytes(subprocess.run(line.split(), capture_output=True, check=True).stdout)
    cli("import", "topics", "./utf8", "--replace").fine()
    assert "caf\xe9" in cli("show", "topics", "1").fine().out


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_named(cli: Cli, judged: Path, encoding: str) -> None:
    """Whatever is read, also compressed, one line says what the file is and what mends it."""
    content = ("\ufeff" + RUN + "\n").encode(encoding)
    (judged / "odd").write_bytes(content)
    (judged / "odd.gz").write_bytes(gzip.compress(content))
    for file in ("./odd", "./odd.gz"):
        iconv = "iconv -f UTF-16 -t UTF-8"
        mending = f"gzip -cd {file} | {iconv}" if file == "./odd.gz" else f"{iconv} {file}"
        for command in (
            ("pool", file),
            ("pool", "--runs", file),
            ("import", "runs", file),
            ("import", "topics", file),
            ("import", "docs", file),
            ("import", "judgements", file, "--judge", "zoe"),
            ("evaluate", "--qrels", file, "runs/bm25-words.run"),
            ("import", "guidelines", file),
            ("init", "--scale", file, "--collection", "new.db"),
        ):
            told = refused(cli, *command)
            assert f"error: {file}: expected UTF-8, got UTF-16\nhint: {mending}" in told
        checked = cli("check", file)
        assert checked.code == 1
        assert f"{file}: expected UTF-8, got UTF-16\n{file}: hint: {mending}" in checked.out
        mended = subprocess.run(["sh", "-c", mending], capture_output=True, check=True).stdout
        assert mended.decode().removeprefix("\ufeff") == RUN + "\n"


def test_what_its_name_calls_gzip_and_is_neither_that_nor_text_is_named(cli: Cli, here: Path) -> None:
    """Junk is no hundred bad lines; text is still read whatever its name is."""
    (here / "a.gz").write_bytes(bytes(range(256)) * 20)
    told = refused(cli, "pool", "a.gz")
    assert "error: a.gz: expected gzip data, as the name says, or text, got neither" in told
    write(here / "b.gz", RUN)
    cli("pool", "b.gz").fine()
    (here / "c.gz").write_bytes(b"no gzip")
    (here / "d.gz").write_bytes(gzip.compress(b"no gzip"))
    cli("init").fine()
    for command in (("pool",), ("check",), ("import", "topics"), ("export", "qrels", "--level", "1")):
        for file, is_misnamed in (("c.gz", True), ("d.gz", False)):
            answer = cli(*command, file)
            told = "hint: its name says gzip, but the file is not compressed" in (answer.out + answer.err)
            assert (answer.code, told) == (1, is_misnamed)


def test_grades_written_as_floats_are_shown_as_the_file_has_them(cli: Cli, judged: Path) -> None:
    """The value that is told is the first one there."""
    write(judged / "odd", "G01 0 KG-E-001 1", "G01 0 KG-E-002 1.0", "G01 0 KG-E-003 0.")
    told = cli("import", "judgements", "odd", "--judge", "zoe").fine().err
    assert "odd: 2 grades written as floats (1.0), read as integers" in told
    write(judged / "odd", "KG-E-001 1", "KG-E-002 0.0")
    options = ("--judge", "eve", "--columns", "docno,grade", "--topic", "G01")
    told = cli("import", "judgements", "odd", *options).fine().err
    assert "odd: 1 grade written as floats (0.0), read as integers" in told


def test_a_file_of_another_kind_is_named(cli: Cli, judged: Path) -> None:
    """One line says what it looks like, and the hint what takes it."""
    write(judged / "topics.sgml", "<top>", "<num> Number: 1", "<title> tea", "</top>")
    write(judged / "topics.xml", "<topics>", '<topic number="1"><query>tea</query></topic>')
    write(judged / "docs.sgml", "<DOC>", "<DOCNO>1</DOCNO>", "<TEXT>tea</TEXT>", "</DOC>")
    write(judged / "topics.tsv", "1\tgreen tea in spring", "2\tblack tea")
    run, qrels = "runs/bm25-words.run", "judgements/strict.qrels"
    judge = ("--judge", "zoe")
    for file, looks, takes in (
        ("topics.jsonl", "a topics file", "pooler import topics FILE"),
        ("topics.sgml", "a topics file", "pooler import topics FILE"),
        ("topics.xml", "a topics file", "pooler import topics FILE"),
        ("topics.tsv", "a file of topics or documents", "pooler import topics FILE"),
        ("documents.jsonl", "a documents file", "pooler import docs FILE"),
        ("docs.sgml", "a documents file", "pooler import docs FILE"),
        ("runs.tsv", "a list of runs", "--runs FILE"),
    ):
        for command in (
            ("import", "runs", file),
            ("pool", file),
            ("import", "judgements", file, *judge),
            ("evaluate", "--qrels", file, run),
        ):
            told = refused(cli, *command)
            assert f"{file}: this looks like {looks}; expected " in told
            assert takes in told
        assert f"{file}: this looks like {looks}" in cli("check", file).out
    for file, looks, readers in (
        (run, "a run file", ("topics", "docs")),
        (qrels, "a qrels file", ("topics", "docs")),
        ("documents.jsonl", "a documents file", ("topics",)),
        ("topics.jsonl", "a topics file", ("docs",)),
    ):
        for reader in readers:
            assert f"{file}: this looks like {looks}" in refused(cli, "import", reader, file)
        assert f"{file}: this looks like {looks}" in refused(cli, "pool", "--runs", file)


@pytest.mark.parametrize(
    ("content", "is_text"),
    [
        ("1\tgr\u00fcner Tee\n".encode(), True),
        ("1\tgr\u00fcner Tee\n".encode("latin-1"), False),
        (b"\x9f\x1b7\t\xd0\x02 \xb1z\n", False),
        (b"1\tgreen\x00 tea\n", False),
    ],
)
def test_bytes_that_are_no_text_are_no_topics(cli: Cli, judged: Path, content: bytes, is_text: bool) -> None:
    """What is damaged has the faults of its lines; no other command would take it."""
    (judged / "odd.run").write_bytes(content)
    told = cli("check", "odd.run").out
    assert ("looks like a file of topics or documents" in told) == is_text
    assert is_text or "odd.run:1: " in told


def test_a_folder_and_a_pattern_that_matched_nothing_say_what_to_type(cli: Cli, judged: Path) -> None:
    """Neither is a file; the hint is the same wherever a file is named."""
    evaluate = ("evaluate", "--qrels", "judgements/strict.qrels")
    for command in (("pool",), ("import", "runs"), ("export", "qrels", "--level", "1"), evaluate):
        told = refused(cli, *command, "./runs")
        assert "runs: is a directory\nhint: name the files in it: ./runs/*" in told
        told = refused(cli, *command, "none/*.run")
        assert "none/*.run: no such file or directory\nhint: no file matches that" in told
    assert "a/*.run: hint: no file matches" in cli("check", "a/*.run").out
    told = refused(cli, "pool", "runs/*.run")
    assert "hint: files match that pattern; without quotation marks" in told


def test_a_name_too_long_for_a_folder_is_told_as_that(cli: Cli, judged: Path) -> None:
    """It is no link that leads back to itself."""
    name = "d" * 300
    assert cli("export", "collection", name).failed(3).err.startswith(f"error: {name}: file name too long")


@pytest.mark.parametrize(
    "command",
    ["export judgements --out loop", "export collection loop", "backup loop", "init --collection loop"],
)
def test_a_link_to_itself_is_no_place(cli: Cli, judged: Path, command: str) -> None:
    """It is told in a line, whatever was to be written there."""
    (judged / "loop").symlink_to("loop")
    answer = cli(*command.split())
    assert answer.code in (1, 3)
    assert answer.err.startswith("error: loop: ")
    assert len(answer.err.splitlines()) <= 2


def test_qrels_without_a_grade_have_no_score(cli: Cli, here: Path) -> None:
    """Every document is pooled and unjudged: told, and the value has its reason."""
    write(here / "x.run", RUN)
    write(here / "q", "G01 0 KG-E-001 -1")
    answer = cli("evaluate", "x.run", "--qrels", "./q").fine()
    assert "1 pooled document without a grade" in answer.err
    assert "no-relevant" in answer.out


def test_run_tags_read_as_one_are_told(cli: Cli, here: Path) -> None:
    """Lenient reading names the tags that it takes for the last."""
    write(here / "x.run", RUN, "G01 Q0 KG-E-002 2 2 late")
    assert (
        "2 run tags (`words`, `late`) read as one run, `late`"
        in cli("check", "--lenient", "x.run").fine().out
    )


def test_quotes_around_ids_are_named_where_they_keep_them_apart(cli: Cli, here: Path) -> None:
    """Of qrels whose docnos stand between either kind of quotes."""
    write(here / "x.run", RUN)
    for quote in "\"'":
        write(here / "q", f"G01 0 {quote}KG-E-001{quote} 1")
        assert "without quotation marks, 1 of 1 would meet" in refused(
            cli, "evaluate", "x.run", "--qrels", "./q"
        )


def test_qrels_whose_docnos_have_blanks_are_no_sample(cli: Cli, here: Path) -> None:
    """A part of the docno looks like a stratum, but a sample has a document once."""
    write(here / "x.run", RUN)
    write(here / "q", "G01 0 doc 12 1", "G01 0 doc 15 0")
    assert "expected 4 fields" in (err := cli("evaluate", "x.run", "--qrels", "./q").failed(1).err)
    assert "xinfap" not in err


def test_no_header_is_seen_where_no_line_has_a_grade(cli: Cli, judged: Path) -> None:
    """Without its first line the file would be refused just so."""
    write(judged / "q", "G01 0 KG-E-001", "G01 0 KG-E-002")
    command = ("import", "judgements", "q", "--columns", "docno,judge,grade", "--topic", "G01")
    assert "tail" not in cli(*command).failed(1).err


TWO_LINES = b"1 Q0 d1 1 2 r\n1 Q0 d2 2 1 r\n"
FORM = "documents whose docnos differ only in Unicode normal form (NFC, NFD): 1"
EXCHANGED = "ranks and scores look exchanged"


def zipped(content: bytes) -> bytes:
    """Return an archive of one file."""
    with zipfile.ZipFile(archive := io.BytesIO(), "w") as made:
        made.writestr("x.run", content)
    return archive.getvalue()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (TWO_LINES, None),
        (gzip.compress(TWO_LINES[:14]) + gzip.compress(TWO_LINES[14:]), None),
        (bz2.compress(TWO_LINES), None),
        (gzip.compress(TWO_LINES)[:-9], "gzip data ends too early: the file is truncated"),
        (gzip.compress(TWO_LINES) + b"rest", "gzip data is damaged"),
        (bz2.compress(TWO_LINES)[:-9], "bz2 data ends too early: the file is truncated"),
        (zipped(TWO_LINES), "expected text, got a zip archive"),
    ],
    ids=["plain", "two gzips", "bz2", "cut gzip", "gzip and more", "cut bz2", "zip"],
)
@pytest.mark.parametrize("name", ["x.run", "x.gz", "x.bz2", "x.zip"])
def test_what_is_packed_is_known_by_what_it_is(
    content: bytes, fault: str | None, name: str, cli: Cli, here: Path
) -> None:
    """Whatever its name says: read whole, or refused with what it is."""
    (here / name).write_bytes(content)
    answer = cli("pool", name)
    if fault is None:
        assert answer.fine().out == "1 d1\n1 d2\n"
    else:
        assert answer.failed(1).err.startswith(f"error: {name}:")
        assert fault in answer.err


@pytest.mark.parametrize(
    "text",
    [
        "file\ttag\r\nruns\\x.run\tr\r\n",
        "\ufefffile\ttag\r\nruns/x.run\tr\r\n",
        "file,tag\nruns/x.run,r\n",
        '"tag","file"\r\n"r","runs\\x.run"\r\n',
    ],
)
def test_a_list_of_windows_names_its_runs(text: str, cli: Cli, here: Path) -> None:
    """Read by every command that takes one; a run that is not there is named with its line."""
    (here / "runs").mkdir()
    (here / "runs/x.run").write_bytes(TWO_LINES.replace(b"\n", b"\r\n"))
    (here / "list").write_bytes(text.encode())
    assert "runs/x.run: ok: run r, 1 topic, 2 documents" in cli("check", "--runs", "list").fine().out
    assert cli("pool", "--runs", "list").fine().out == "1 d1\n1 d2\n"
    (here / "list").write_bytes(text.replace("x.run", "none.run").encode())
    for command in ("check", "pool"):
        told = cli(command, "--runs", "list").failed(1).err
        assert told.startswith("error: list:2: there is no run file `runs")


NOT_MET = [
    ("101 Q0 d 1 1 r", "101.1 0 d 1", "without a part `.N` at the end, 1 of 1 would meet"),
    ("1 Q0 d 1 1 r", "001 0 d 1", "without leading zeros, 1 of 1 would meet"),
    ("1 Q0 FT-1.txt 1 1 r", "1 0 FT-1 1", "without an ending such as `.txt`, 1 of 1 would meet"),
    ("1 Q0 ft-1 1 1 r", "1 0 FT-1 1", "in one case, 1 of 1 would meet"),
]
JOINING = ["compare --runs", "diagnose", "replay", "sensitivity --depth 1", "qrels diff ./q ./q", "paper"]


@pytest.mark.parametrize(
    ("command", "run", "qrels", "words"),
    [*(("evaluate", *one) for one in NOT_MET), *((command, *NOT_MET[0]) for command in JOINING)],
)
def test_runs_and_qrels_that_do_not_meet_are_refused_by_every_command(
    command: str, run: str, qrels: str, words: str, cli: Cli, here: Path
) -> None:
    """None gives the numbers of runs of which nothing is judged."""
    write(here / "x.run", run)
    write(here / "y.run", run.replace(" r", " s"))
    write(here / "list", "file", "x.run", "y.run")
    write(here / "q", qrels)
    files = ["list"] if command.endswith("--runs") else ["x.run", "y.run"]
    qrels_option = () if command == "qrels diff ./q ./q" else ("--qrels", "./q")
    told = cli(*command.split(), *files, *qrels_option).failed(1).err
    assert "error: no " in told
    assert words in told


@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        (["1 Q0 d1 1 2 r", "03 Q0 d1 1 2 r"], ["1 0 d1 1", "3 0 d1 1"], "1 of 1 would meet (`03` and `3`)"),
        (["1 Q0 cafe\u0301 1 2 r", "1 Q0 b 2 1 r"], ["1 0 caf\u00e9 1", "1 0 b 1"], FORM),
        (["1 Q0 d1 9.5 1 r", "1 Q0 d2 9.1 2 r", "1 Q0 d3 8.7 3 r"], ["1 0 d1 1"], EXCHANGED),
        (["1 Q0 d1 1 2 r"], ["1,d1,1"], "columns between commas"),
    ],
)
def test_what_is_warned_of_is_in_json_and_python_too(
    run: list[str], qrels: list[str], words: str, cli: Cli, here: Path
) -> None:
    """One line on stderr, one of `warnings` of either; `diagnose` joins the same and says the same."""
    write(here / "x.run", *run)
    write(here / "q", *qrels)
    for command in (("evaluate", "-m", "AP"), ("diagnose",)):
        answer = cli(*command, "x.run", "--qrels", "./q", "--format", "json").fine()
        found = [one for one in json.loads(answer.out)["warnings"] if words in one]
        assert len(found) == 1
        assert f"warning: {found[0]}\n" in answer.err
    for measure in (p.evaluate, p.diagnose):
        told = measure(p.source("x.run", qrels="./q")).warnings
        assert [one for one in told if words in one] == found


def test_look_alikes_are_warned_of_wherever_files_are_joined(cli: Cli, here: Path) -> None:
    """Runs with runs, and judges' files with judges' files; a file with itself has none."""
    for name, docno in (("nfc", "caf\u00e9"), ("nfd", "cafe\u0301")):
        write(here / f"{name}.run", f"1 Q0 {docno} 1 2 {name}", f"1 Q0 b 2 1 {name}")
        write(here / f"{name}.qrels", f"1 0 {docno} 1", "1 0 b 1")
    for command, kind in (
        ("pool", "run"),
        ("diagnose --depth 5", "run"),
        ("agreement", "qrels"),
        ("qrels diff", "qrels"),
        ("export qrels --level 1 --aggregate max", "qrels"),
    ):
        files = (
            qrels_of(f"nfc.{kind}", f"nfd.{kind}")
            if command == "agreement"
            else (f"nfc.{kind}", f"nfd.{kind}")
        )
        answer = cli(*command.split(), *files).fine()
        assert answer.err.count(FORM) == 1, command
    write(here / "nfc2.qrels", "1 0 caf\u00e9 0", "1 0 b 1")
    for command in ("qrels diff", "export qrels --level 1 --aggregate max"):
        assert FORM not in cli(*command.split(), "nfc.qrels", "nfc2.qrels").fine().err
    assert FORM not in cli("agreement", *qrels_of("nfc.qrels", "nfc2.qrels")).fine().err


def test_qrels_that_pooler_writes_for_beir_are_read_by_every_command(cli: Cli, judged: Path) -> None:
    """With their header and three columns they say what the qrels of four do."""
    by_rule(cli, "export", "collection", "made", "--as", "beir", "--judge", "strict").fine()
    (beir,) = (judged / "made").rglob("*.tsv")
    plain = judged / "judgements/strict.qrels"
    assert beir.read_text("utf-8").startswith("query-id\tcorpus-id\tscore\n")
    for command in ("evaluate runs/bm25-words.run --qrels", "export qrels --level 1"):
        ours, theirs = (cli(*command.split(), file).fine().out for file in (beir, plain))
        assert sorted(ours.splitlines()) == sorted(theirs.splitlines())
    counts = cli("qrels", "diff", plain, beir, "--format", "json").fine().json()["summary"]
    assert {one["what"] for one in counts if one["documents"]} <= {"same", "same but for the iteration"}


def test_what_is_read_once_is_joined_too(cli: Cli, here: Path) -> None:
    """A run of standard input is compared with the qrels, and counted."""
    write(here / "q", "1 0 d1 1")
    words = ("diagnose", "-", "--qrels", "./q", "-N", "9", "--table", "contributions", "--format", "tsv")
    rows = cli(*words, stdin=TWO_LINES).fine().tsv()
    assert (rows[0]["run"], rows[0]["documents"], rows[0]["unique_relevant"]) == ("r", "2", "1")


N_FILES = int(os.environ.get("POOLER_FUZZ_FILES", "150"))
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


@pytest.mark.slow
def test_control_or_sign_anywhere_in_a_line_is_read_as_the_obvious_reader_reads_it(tmp_path: Path) -> None:
    """Whatever single odd byte slips into a line, faults and content are those it makes."""
    line = b"1 Q0 d 1 2 t\n"
    odd = [*range(36), *b"+-.0_e", *range(0x7E, 0x82), 0xA0, 0xC2, 0xEF, 0xFF]
    agree(
        tmp_path,
        [line[:place] + bytes([byte]) + line[place:] for place in range(len(line) + 1) for byte in odd],
    )


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_file_that_may_not_be_read_is_told_in_words(tmp_path: Path) -> None:
    """A file without the right to read it is one error that names it."""
    path = tmp_path / "x.run"
    path.write_bytes(b"1 Q0 d 1 1 t\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    with pytest.raises(PoolerError, match=r"x\.run: permission denied"):
        check_run(str(path))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here fails to be read")
def test_file_that_fails_to_be_read_is_told_in_words() -> None:
    """A file that can be opened and not read is one error that names it."""
    with pytest.raises(PoolerError, match=r"/proc/self/mem: input/output error"):
        check_run("/proc/self/mem")
    with pytest.raises(PoolerError, match=r"/proc/self/mem: input/output error"):
        read_top("/proc/self/mem", 10)


@pytest.mark.slow
def test_null_device_is_an_empty_file() -> None:
    """The null device has no run line."""
    report = check_run(os.devnull)
    assert [(fault.line, fault.code) for fault in report.faults] == [(None, "empty")]
    with pytest.raises(FormatError, match="expected run lines, got none"):
        read_top(os.devnull, 10)


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
