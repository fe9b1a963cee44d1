"""Judgement files as other programs and people write them: read and said, or refused with what to type."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import pooler
from tests.helpers.run import Cli, qrels_of

QUEPID = '"query","docid","rating"\n"red shoes","a1","3"\n"red shoes","b2","0"\n'
TWO = "7 anna x#z 2\n7 bert x#z 1\n7 anna y 0\n7 bert y 0\n"
PLACES = (
    "columns between {}, without a header, taken for {}; `import judgements --columns` takes other columns"
)
NAMES = "columns taken by their names: {}"
GRADES = {"1": {"d1": 3, "d2": 0}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# spring\n1 0 d1 3\n#1 0 d3 1\n1 0 d2 0\n", ""),
        ("\ufeff1 0 d1 3\r\n1 0 d2 0\r\n", ""),
        ("1 0 d1 3\r1 0 d2 0\r", ""),
        ("query-id\tcorpus-id\tscore\n1\td1\t3\n1\td2\t0\n", ""),
        ("query-id\t0\tcorpus-id\tscore\n1\t0\td1\t3\n1\t0\td2\t0\n", ""),
        ("1,0,d1,3\n1,0,d2,0\n", PLACES.format("commas", "topic, iteration, docno, grade")),
        ("1, 0, d1, 3\n1, 0, d2, 0\n", PLACES.format("commas", "topic, iteration, docno, grade")),
        ("1|d1|3\n1|d2|0\n", PLACES.format("bars", "topic, docno, grade")),
        ("1;d1;3\n1;d2;0\n", PLACES.format("semicolons", "topic, docno, grade")),
        ("1 d1 3\n1 d2 0\n", PLACES.format("blanks", "topic, docno, grade")),
        (
            "query_id,doc_id,relevance\n1,d1,3\n1,d2,0\n",
            NAMES.format("`query_id` = topic, `doc_id` = docno, `relevance` = grade"),
        ),
        (
            '"Rating";"who";"Doc ID";"Query"\n"3";"x;y";"d1";"1"\n"0";"z";"d2";"1"\n',
            NAMES.format("`Rating` = grade, `who` is passed over, `Doc ID` = docno, `Query` = topic"),
        ),
    ],
)
def test_a_table_is_read_wherever_qrels_are_and_what_was_taken_is_said(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    """`evaluate`, `agreement`, `import judgements` and Python read the same grades, and say the same once."""
    monkeypatch.chdir(tmp_path)
    Path("q").write_bytes(text.encode())
    Path("strict.qrels").write_text("1 0 d1 3\n1 0 d2 0\n")
    Path("a.run").write_text("1 Q0 d2 1 2 r\n1 Q0 d1 2 1 r\n")
    collection = ("--collection", "c.db")
    cli("init", "--scale", "0-3", *collection).fine()
    warning = f"warning: ./q: {said}\n" if said else ""
    for command in (
        ("evaluate", "-m", "AP", "--qrels", "./q", "a.run"),
        ("agreement", *qrels_of("strict.qrels", "./q")),
        ("import", "judgements", "./q", "--judge", "me", *collection),
    ):
        told = cli(*command).fine().err
        assert (told.count("warning: ./q"), warning in told) == (bool(said), True), told
    assert cli("export", "qrels", *collection).fine().out == "1 0 d1 3\n1 0 d2 0\n"
    answer = json.loads(cli("evaluate", "--qrels", "./q", "a.run", "--format", "json").fine().out)
    assert answer["measures"][0]["value"] == 0.5
    assert answer.get("warnings", []) == ([f"./q: {said}"] if said else [])
    read = pooler.read_qrels("./q")
    assert (read.to_dict(), list(read.warnings)) == (GRADES, [f"./q: {said}"] if said else [])


def test_columns_told_by_position_are_cut_at_any_separator(cli: Cli, tmp_path: Path) -> None:
    """`--columns` says which column is what, whatever stands between them."""
    for number, mark in enumerate((",", ";", "|", "\t", " ", ", ")):
        file = tmp_path / f"{number}.csv"
        file.write_text(f"d1{mark}2{mark}1\nd2{mark}0{mark}1\n")
        collection = ("--collection", str(tmp_path / f"{number}.db"))
        cli("init", *collection).fine()
        options = ("--columns", "docno,grade,topic", "--judge", "me", *collection)
        cli("import", "judgements", str(file), *options).fine()
        assert cli("export", "qrels", *collection).fine().out == "1 0 d1 2\n1 0 d2 0\n"


@pytest.mark.parametrize(
    ("text", "fault", "command", "mended"),
    [
        (
            b"1 0 caf\xe9 1\n",
            "./q:1: expected UTF-8, got byte 0xe9 in `caf\\xe9`",
            "iconv -f ISO-8859-1 -t UTF-8 ./q",
            {"1": {"café": 1}},
        ),
        (
            "1\xa00\xa0d1\xa01\n".encode(),
            "./q:1: expected 4 fields (topic iteration docno grade), got 1",
            r"LC_ALL=C sed 's/\xC2\xA0/ /g' ./q",
            {"1": {"d1": 1}},
        ),
        (
            b"1 0 a 1.6666666666666667\n1 0 b 2.0\n1 0 c 0.3333\n",
            "./q:1: expected an integer grade, got `1.6666666666666667`",
            "awk '$4 ~ /^[0-9]+[.]/ {$4 = int($4 + 0.5)} {print}' ./q",
            {"1": {"a": 2, "b": 2, "c": 0}},
        ),
        (
            b"1,a,1.5\n1,b,-1\n1,c,0.25\n",
            "./q:1: expected an integer grade, got `1.5`",
            "awk -F',' -v OFS=',' '$3 ~ /^[0-9]+[.]/ {$3 = int($3 + 0.5)} {print}' ./q",
            {"1": {"a": 2, "b": -1, "c": 0}},
        ),
        (
            QUEPID.encode(),
            "./q:2: expected an id without blanks, got 'red shoes'",
            "sed 's/ /_/g' ./q",
            {"red_shoes": {"a1": 3, "b2": 0}},
        ),
        (
            b"red shoes\ta1\t3\nred shoes\tb2\t0\n",  # four fields between blanks, too
            "./q:1: expected an id without blanks, got 'red shoes'",
            "sed 's/ /_/g' ./q",
            {"red_shoes": {"a1": 3, "b2": 0}},
        ),
        (
            b"1,d1,0,1\n1,d2,0,0\n1,d3,0,2\n",
            "./q: expected `topic iteration docno grade`, got `0` in column 3 of all 3 lines",
            "awk -F',' -v OFS=',' '{print $1, $3, $2, $4}' ./q",
            {"1": {"d1": 1, "d2": 0, "d3": 2}},
        ),
    ],
)
def test_the_line_to_type_mends_the_file(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: bytes,
    fault: str,
    command: str,
    mended: dict[str, dict[str, int]],
) -> None:
    """What the hint says is run on the file that drew it, and what comes out is read."""
    monkeypatch.chdir(tmp_path)
    Path("q").write_bytes(text)
    Path("a.run").write_text("1 Q0 d1 1 2 r\n")
    for words in (("evaluate", "--qrels", "./q", "a.run"), ("agreement", *qrels_of("./q", "q2=./q"))):
        told = cli(*words).failed(1).err
        assert told.startswith(f"error: {fault}")
        assert command in told
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True).stdout
    Path("mended").write_bytes(done)
    assert pooler.read_qrels("mended").to_dict() == mended


@pytest.mark.parametrize("text", [b"1, 0, a b, 1\n2, 0, a b, 1\n", b"1, a, 1.5\n1, b, 0.5\n"])
def test_nothing_is_to_be_typed_that_does_not_mend_the_file(cli: Cli, here: Path, text: bytes) -> None:
    """Blanks beside separators are no part of ids, and neither sed nor awk knows that."""
    (here / "q").write_bytes(text)
    told = cli("agreement", *qrels_of("./q", "q2=./q")).failed(1).err
    assert not re.search(r"\b(sed|awk) ", told)


@pytest.mark.parametrize(
    ("text", "fault", "command", "exported"),
    [
        (
            TWO,
            "./q: expected the grades of one judge, got those of 2 in column 2: anna, bert",
            "pooler import judgements ./q --judge-column 2",
            {"anna": "7 0 x#z 2\n7 0 y 0\n", "bert": "7 0 x#z 1\n7 0 y 0\n"},
        ),
        (
            "1 a 0 0 1\n1 b 1 1 0.25\n",
            "./q: this looks like a prels file, statap (topic docno rel method iprob);",
            "pooler import judgements ./q --judge NAME --as statap",
            {"NAME": "1 0 a 0\n1 0 b 1\n"},
        ),
        (
            "1 0 a 3 2\n1 0 b 3 -1\n1 0 c 5 1\n",
            "./q: this looks like a prels file, xinfap (topic iteration docno stratum rel);",
            "pooler import judgements ./q --judge NAME --as xinfap",
            {"NAME": "1 0 a 2\n1 0 c 1\n"},
        ),
    ],
)
def test_a_file_of_another_kind_is_named_with_the_command_that_reads_it(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    fault: str,
    command: str,
    exported: dict[str, str],
) -> None:
    """Several judges, and judged samples: the hint is run, and the collection has what the file says."""
    monkeypatch.chdir(tmp_path)
    Path("q").write_text(text)
    Path("a.run").write_text("1 Q0 d1 1 2 r\n")
    cli("init").fine()
    told = cli("evaluate", "--qrels", "./q", "a.run").failed(1).err
    assert told.startswith(f"error: {fault}")
    assert f"hint: {command} " in told
    assert command in cli("import", "judgements", "./q", "--judge", "me").failed(1).err
    cli(*shlex.split(command)[1:]).fine()
    for judge, lines in exported.items():
        told = cli("export", "qrels", judge).fine().out
        assert re.sub(r"(?m)^(\S+) \S+ ", r"\1 0 ", told) == lines


@pytest.mark.parametrize("n_bytes", [1024, 1025])
def test_the_longest_docno_is_the_same_for_all_readers(cli: Cli, tmp_path: Path, n_bytes: int) -> None:
    """1,024 bytes are an id in every format, one more is none."""
    name = "é" * 511 + "d" * (n_bytes - 1022)
    (tmp_path / "a.run").write_text("1 Q0 d1 1 2 r\n")
    state = {"topic": "1", "docno": name, "judge": "me", "state": "judged", "grade": 1}
    state |= {"reason": "", "note": "", "iteration": "0"}
    formats = {
        "qrels": (f"1 0 {name} 1", ("--judge", "me")),
        "comma": (f"1,{name},1", ("--judge", "me")),
        "columns": (f"{name} 1", ("--judge", "me", "--columns", "docno,grade", "--topic", "1")),
        "ntcireval": (f"1 {name} L1", ("--judge", "me", "--as", "ntcireval")),
        "xinfap": (f"1 0 {name} 0 1", ("--judge", "me", "--as", "xinfap")),
        "statap": (f"1 {name} 1 0 1", ("--judge", "me", "--as", "statap")),
        "answers": (
            json.dumps({"topic": "1", "docno": name, "grade": 1}),
            ("--judge", "me", "--as", "answers"),
        ),
        "jsonl": (json.dumps(state), ("--as", "jsonl")),
    }
    for form, (line, options) in formats.items():
        (tmp_path / form).write_text(f"{line}\n")
        collection = ("--collection", str(tmp_path / f"{form}.db"))
        cli("init", *collection).fine()
        done = cli("import", "judgements", str(tmp_path / form), *options, *collection)
        if n_bytes == 1024:
            done.fine()
            exported = cli("export", "qrels", "me", *collection).fine().out
            assert exported == f"1 0 {name} 1\n"
        else:
            assert "expected an id of at most 1,024 bytes, got 1,025" in done.failed(1).err, form


UMBRELA = {"query": "moth", "passage": "Rain is wet."}


@pytest.mark.parametrize(
    ("form", "line", "fault", "hint"),
    [
        (
            "umbrela",
            UMBRELA | {"judgment": 0},
            "grade 0 without `prediction`",
            "umbrela judge --include-trace keeps both, and says which answers could not be read",
        ),
        (
            "answers",
            UMBRELA | {"judgment": 0},
            "grade 0 without `prediction`",
            "umbrela judge --include-trace keeps both, and says which answers could not be read",
        ),
        (
            "answers",
            {"qid": "q", "docid": "d", "judgment": -1},
            "of the scale (0, 1, 2), got -1",
            "`grade` is null",
        ),
        (
            "answers",
            {"qid": "q", "docid": "d", "rating": "0.900"},
            "whole number in `rating`",
            "`grade` is null",
        ),
        (None, {"qid": "q", "docid": "d", "rating": "1"}, "a model's answers", "--as umbrela or answers"),
    ],
)
def test_an_answer_without_a_grade_is_never_grade_0(
    cli: Cli, tmp_path: Path, form: str | None, line: dict[str, object], fault: str, hint: str
) -> None:
    """What does not say whether the answer could be read is refused, with what says it."""
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(line) + "\n")
    collection = ("--collection", str(tmp_path / "c.db"))
    cli("init", *collection).fine()
    options = () if form is None else ("--as", form)
    told = cli("import", "judgements", str(file), "--judge", "m", *options, *collection).failed(1).err
    assert fault in told.splitlines()[0]
    assert hint in told.splitlines()[-1]
    assert cli("export", "judgements", *collection).fine().out == ""


def test_failed_answers_of_umbrela_are_known_among_answers(cli: Cli, tmp_path: Path) -> None:
    """`result_status` 0 is no grade 0, whichever of the two formats is named."""
    file = tmp_path / "a.jsonl"
    line = {"qid": "q", "docid": "d", "judgment": 0, "prediction": "Sorry.", "result_status": 0}
    file.write_text(json.dumps(line) + "\n")
    collection = ("--collection", str(tmp_path / "c.db"))
    cli("init", *collection).fine()
    options = ("--judge", "m", "--as", "answers", *collection)
    assert "1 no-grade" in cli("import", "judgements", str(file), *options).fine().err


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("red shoes\nblue hat\n", "each line begins with the id of its topic, and a tab: 1<TAB>red shoes"),
        ("query\nred shoes\n", "the first line names no column of ids: add one, as in id,query"),
        ("Query,Notes\nred shoes,x\n", "the first line names no column of ids: add one, as in id,query"),
    ],
)
def test_queries_without_ids_are_told(cli: Cli, here: Path, text: str, hint: str) -> None:
    """No word of a query is taken for the id of its topic."""
    (here / "t").write_text(text)
    cli("init").fine()
    assert f"hint: {hint}\n" in cli("import", "topics", "t").failed(1).err


@pytest.mark.parametrize(
    ("text", "command", "title"),
    [
        ("1 red shoes\n2 blue hat\n", r"sed 's/  */\t/' t", "red shoes"),
        ("1,red shoes, high\n2,blue hat\n", r"sed 's/, */\t/' t", "red shoes, high"),
        ("1, red shoes\n2, blue hat\n", r"sed 's/, */\t/' t", "red shoes"),
        ("1\tred shoes\n2 blue hat\n", r"sed '/\t/!s/  */\t/' t", "red shoes"),
    ],
)
def test_what_is_to_be_typed_for_topics_makes_them_topics(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, command: str, title: str
) -> None:
    """The tab comes where the id ends, whatever stands there."""
    monkeypatch.chdir(tmp_path)
    Path("t").write_text(text)
    cli("init").fine()
    told = cli("import", "topics", "t").failed(1).err
    typed = told[told.index("hint: ") :].partition(": ")[2].partition(": ")[2].strip()
    assert typed.startswith(command)
    Path("mended").write_bytes(subprocess.run(["sh", "-c", typed], capture_output=True, check=True).stdout)
    cli("import", "topics", "mended").fine()
    first = cli("show", "topics", "--format", "json").fine().json()[0]
    assert (first["topic"], first["title"]) == ("1", title)
