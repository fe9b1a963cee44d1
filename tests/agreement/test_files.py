"""`pooler agreement` and `export qrels` of bare files: what a collection with the same judgements answers."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.helpers import cf_collection
from tests.helpers.run import (
    GARDEN,
    JUDGES,
    Cli,
    Outcome,
    by_rule,
    qrels_of,
    read_lines,
    read_trec,
    run_inside,
    write,
)
from tests.helpers.shared_data import shared_data

FILES = tuple(str(GARDEN / "judgements" / f"{judge}.qrels") for judge in JUDGES)


def both(folder: Path, judges: tuple[str, ...], files: tuple[Path | str, ...], *options: str) -> Any:
    """Ask a collection and files the same; return what the files answer, when it is the same."""
    stored = run_inside("agreement", *judges, *options, "--collection", folder / "collection.db")
    bare = run_inside("agreement", *qrels_of(*files), *options)
    assert bare.fine().out == stored.fine().out
    return bare


def filled(folder: Path, scale: str, files: dict[str, Path | str], *options: str) -> Path:
    """Import one file a judge into a new collection; return its folder."""
    place = ("--collection", folder / "collection.db")
    run_inside("init", "--scale", scale, *place).fine()
    for judge, file in files.items():
        run_inside("import", "judgements", file, "--judge", judge, *options, *place).fine()
    return folder


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import the three judges of the sample collection, and its runs."""
    folder = tmp_path_factory.mktemp("garden")
    filled(folder, "0-2", dict(zip(JUDGES, FILES, strict=True)))
    runs = sorted((GARDEN / "runs").iterdir())
    run_inside("import", "runs", *runs, "--collection", folder / "collection.db").fine()
    return folder


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--by-topic", "--format", "json"),
        ("--resamples", "200", "--seed", "7"),
        ("--resamples", "0", "--table", "pairs", "--format", "tsv"),
        ("--against", "strict", "--level", "1"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_files_answer_as_a_collection_does(garden: Path, options: tuple[str, ...]) -> None:
    """Every option gives the same bytes of the files as of a collection they were imported into."""
    fast = () if "--resamples" in options else ("--resamples", "100")
    both(garden, JUDGES, FILES, *options, *fast)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (
            ["1 0 d001.txt 1", "1 0 d002.txt 0"],
            "without an ending such as `.txt`, 2 of 3 would meet (`d001` and",
        ),
        (["01 0 d001 1"], "no topic of judge a is in the other judges: `1`, `2` here, `01` there"),
        (["3 0 d001 1"], "no document is judged by two of the judges: a, b"),
        (["1 0 d009 1"], "no document is judged by two of the judges: a, b"),
    ],
)
def test_files_of_judges_whose_ids_do_not_meet_are_refused(here: Path, other: list[str], told: str) -> None:
    """With both sides, and the change that would make them meet; one document in two files is enough."""
    write(here / "a.qrels", "1 0 d001 1", "1 0 d002 0", "2 0 d003 1")
    write(here / "b.qrels", *other)
    assert told in run_inside("agreement", *qrels_of("a.qrels", "b.qrels")).failed(1).err
    write(here / "b.qrels", *other, "2 0 d003 0")
    run_inside("agreement", *qrels_of("a.qrels", "b.qrels")).fine()


def test_order_of_runs_is_compared_from_files(garden: Path) -> None:
    """With run files it prints what it prints of runs in the collection."""
    runs = sorted(map(str, (GARDEN / "runs").iterdir()))
    stored = run_inside("agreement", "orders", *JUDGES, "--mixtures", "20", "--format", "json",
                        "--collection", garden / "collection.db")  # fmt: skip
    named = [word for run in runs for word in ("--run", run)]
    bare = run_inside("agreement", "orders", *qrels_of(*FILES), *named, "--mixtures", "20",
                      "--format", "json")  # fmt: skip
    assert bare.fine().json() == stored.fine().json()
    assert "no run is named" in run_inside("agreement", "orders", *qrels_of(*FILES)).failed(1).err


@pytest.mark.slow
def test_cf_files_answer_as_their_collection(tmp_path: Path) -> None:
    """Four judges of 4,819 documents each: the same JSON both ways."""
    files = cf_collection.write_qrels(tmp_path)
    filled(tmp_path, "0-2", dict(files))
    both(tmp_path, tuple(files), tuple(files.values()), "--resamples", "0", "--format", "json")


@pytest.mark.slow
def test_model_judges_answer_as_their_collection(tmp_path: Path) -> None:
    """NIST and two model judges, compressed files with documents missing."""
    names = {"nist": "qrels.dl20-passage.txt.gz", "umbrella": "umbrella_gpt-4_zeroshot_dl20.txt.gz",
             "gpt4": "binary_gpt4_dl20.txt.gz"}  # fmt: skip
    files = {judge: shared_data(f"dl20-nist-vs-llm/{name}") for judge, name in names.items()}
    filled(tmp_path, "0-4", dict(files))
    named = tuple(f"{judge}={path}" for judge, path in files.items())
    place = ("--collection", tmp_path / "collection.db")
    options = ("--against", "nist", "--resamples", "100", "--format", "json")
    # The judge that others are compared with stands last.
    stored = run_inside("agreement", "umbrella", "gpt4", "nist", *options, *place).fine()
    bare = run_inside("agreement", *qrels_of(*named), *options, "--scale", "0-4").fine()
    assert bare.out == stored.out


def refused(*files: str | Path, options: tuple[str, ...] = ()) -> Outcome:
    """Measure agreement of files; return how it was refused."""
    answer = run_inside("agreement", *qrels_of(*files), *options).failed(1)
    assert not answer.out
    return answer


def test_a_code_that_may_be_a_grade_is_asked_about(here: Path) -> None:
    """-1 is pooled and unjudged unless the scale has it; what is below is asked about."""
    a = write(here / "a.qrels", "1 0 d1 1", "1 0 d2 -1")
    b = write(here / "b.qrels", "1 0 d1 1", "1 0 d2 0")
    graded = run_inside("agreement", *qrels_of(a, b), "--scale", "-1-1", "--format", "json").fine().json()
    assert graded.settings["documents"] == 2
    unjudged = run_inside("agreement", *qrels_of(a, b), "--format", "json").fine()
    assert "a.qrels: code -1 is pooled and unjudged" in unjudged.err
    named = run_inside("agreement", *qrels_of(a, b), "--code", "-1=unjudged", "--format", "json").fine()
    assert (unjudged.json().settings["documents"], named.out) == (1, unjudged.out)
    write(a, "1 0 d1 1", "1 0 d2 -2")
    answer = refused(a, b)
    assert "what does the code -2 mean?" in answer.err
    assert "--code -2=unjudged" in answer.err


def test_faults_of_a_file_are_told_by_line(here: Path) -> None:
    """Files are read as for an import, comments passed over; nothing is measured of a file with a fault."""
    a = write(here / "a.qrels", "1 0 d1 1", "1 0 d1 2", "1 0 d2", "# no", "1 0 d3 1.5")
    answer = refused(a, FILES[0])
    assert re.findall(r"a\.qrels:(\d+):", answer.err) == ["2", "3", "5"]
    assert "gone.qrels: no such file" in refused(here / "gone.qrels", FILES[0]).err
    assert "error: gone.qrels: no such file" in refused("x=gone.qrels", FILES[0]).err


def test_two_files_of_one_name_need_names(here: Path) -> None:
    """Equal names are refused with how to name them; `NAME=FILE` names a judge."""
    for folder in ("one", "two"):
        (here / folder).mkdir()
        write(here / folder / "ann.qrels", "1 0 d1 1", f"1 0 d2 {int(folder == 'one')}")
    first, second = here / "one" / "ann.qrels", here / "two" / "ann.qrels"
    answer = refused(first, second)
    assert "would both be judge `ann`" in answer.err
    assert f"NAME=FILE names the judge of a file, as in ann-2={second}" in answer.err
    tables = run_inside("agreement", *qrels_of(first, f"bob={second}"), "--format", "json").fine().json()
    assert [row["judge"] for row in tables["judges"]] == ["ann", "bob"]
    assert "one word" in refused(first, f"a b={second}").err


def test_one_file_says_how_it_could_be_two_judges(here: Path) -> None:
    """One file of one judge is not enough, and the message says what would be."""
    answer = refused(FILES[0])
    assert "agreement needs two judges, but there is only `lenient`" in answer.err
    assert "--judge-column 2" in answer.err
    empty = write(here / "empty.qrels", "1 0 d1 -1")
    assert "no judge has graded" in refused(empty, options=("--code", "-1=unjudged")).err


def test_a_file_where_judges_are_named_is_asked_for_with_its_option(here: Path, judged: Path) -> None:
    """A judge's name is never a file; files and names do not mix, and what is of files alone says so."""
    write(judged / "strict", "G01 0 KG-E-002 1")
    run_inside("agreement", "strict", "lenient", "--resamples", "0").fine()
    for word in ("./strict", "ann=strict"):
        answer = run_inside("agreement", word, "lenient").failed(1)
        assert f"{word} is a file, not the name of a judge" in answer.err
        assert f"--qrels {word}" in answer.err
    mixed = refused("official", "./strict")
    assert "must be files, or one name of qrels" in mixed.err
    assert "must be one name of qrels" in refused("official", "strict").err
    scale = run_inside("agreement", "lenient", "middle", "--scale", "0-2").failed(1)
    assert "`--scale` is for files, and these are judges of a collection" in scale.err
    both = run_inside("agreement", *qrels_of("./strict"), "--collection", "collection.db").failed(1)
    assert "`--collection` and --qrels FILE exclude each other" in both.err


def test_standard_input_and_pipes_are_files(cli: Cli, here: Path) -> None:
    """`-` is a file whose judge is named stdin; a named pipe can be read once and is."""
    data = Path(FILES[0]).read_bytes()
    rows = cli("agreement", *qrels_of("-", FILES[1]), "--format", "json", stdin=data).fine().json()["judges"]
    assert [row["judge"] for row in rows] == ["stdin", "middle"]
    named = cli("agreement", *qrels_of("ann=-", FILES[1]), "--format", "json", stdin=data).fine().json()
    assert named["judges"][0]["judge"] == "ann"
    pipe = here / "pipe.qrels"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    rows = run_inside("agreement", *qrels_of(pipe, FILES[1]), "--format", "json").fine().json()["judges"]
    writer.join()
    assert [row["judge"] for row in rows] == ["pipe", "middle"]


STRICT = GARDEN / "judgements" / "strict.qrels"


def exported(folder: Path, *options: str) -> str:
    """Return what a collection exports."""
    place = ("--collection", folder / "collection.db")
    return by_rule(run_inside, "export", "qrels", *options, *place).fine().out


def export_refused(*arguments: str | Path) -> Outcome:
    """Export; return how it was export_refused."""
    answer = run_inside("export", "qrels", *arguments).failed(1)
    assert not answer.out
    return answer


@pytest.mark.parametrize("level", [1, 2])
def test_grades_from_the_level_on_become_1(level: int) -> None:
    """Every line of a file is there with 1 or 0, counted in plain sight, and nothing else."""
    answer = run_inside("export", "qrels", STRICT, "--level", str(level)).fine()
    rows = read_trec(STRICT, (0, 1, 2, 3))
    expected = {(topic, it, docno, str(int(int(grade) >= level))) for topic, it, docno, grade in rows}
    assert {tuple(line.split(" ")) for line in answer.out.splitlines()} == expected
    counts = Counter(int(row[3]) for row in rows)
    assert f"84 judgements ({counts[0]} x 0, {counts[1]} x 1, {counts[2]} x 2)" in answer.err
    n_relevant = sum(count for grade, count in counts.items() if grade >= level)
    assert f"84 documents judged ({84 - n_relevant} x 0, {n_relevant} x 1)" in answer.err


@pytest.mark.parametrize(
    "options",
    [
        ("--judge", "strict", "--level", "2"),
        ("--aggregate", "majority", "--ties", "low", "--level", "1"),
        ("--aggregate", "majority", "--ties", "unresolved", "--level", "1"),
        ("--aggregate", "majority", "--ties", "high", "--level", "2", "--binary-first"),
        ("--aggregate", "median", "--ties", "high", "--level", "rigid"),
        ("--aggregate", "mean", "--level", "relaxed"),
        ("--aggregate", "min", "--level", "1"),
        ("--aggregate", "max", "--level", "2", "--judge", "strict", "--judge", "lenient"),
        ("--aggregate", "sum", "--level", "4"),
        ("--aggregate", "dawid-skene", "--level", "1"),
        ("--aggregate", "median", "--ties", "low", "--graded"),
    ],
    ids=" ".join,
)
def test_several_files_give_what_their_collection_exports(garden: Path, options: tuple[str, ...]) -> None:
    """Every rule, tie rule and order of collapsing gives the bytes that `export qrels` writes."""
    bare = run_inside("export", "qrels", *FILES, *options, "--scale", "0-2").fine()
    assert bare.out == exported(garden, *options)


@pytest.mark.slow
def test_cf_files_give_what_their_collection_exports(tmp_path: Path) -> None:
    """Four judges of 4,819 documents: two of four found relevant, the same bytes both ways."""
    files = cf_collection.write_qrels(tmp_path)
    filled(tmp_path, "0-2", dict(files))
    options = ("--aggregate", "majority", "--ties", "high", "--binary-first", "--level", "1")
    bare = run_inside("export", "qrels", *files.values(), *options).fine()
    assert bare.out == exported(tmp_path, *options)
    assert sum(line.endswith(" 1") for line in bare.out.splitlines()) == 2267


def test_several_levels_are_several_files(garden: Path, here: Path) -> None:
    """With {level} in --out every level is a file of its own, with a manifest that says how."""
    options = ("--aggregate", "median", "--ties", "low", "--graded", "--level", "1", "--level", "2")
    run_inside("export", "qrels", *FILES, *options, "--out", "q.{level}.txt").fine()
    place = ("--collection", garden / "collection.db")
    by_rule(run_inside, "export", "qrels", *options, "--out", "e.{level}.txt", *place).fine()
    for level in ("graded", "1", "2"):
        assert (here / f"q.{level}.txt").read_bytes() == (here / f"e.{level}.txt").read_bytes()
        made, there = (
            json.loads((here / f"{name}.{level}.txt.manifest.json").read_text("utf-8")) for name in "qe"
        )
        assert [file["judge"] for file in made.pop("files")] == list(JUDGES)
        assert there.pop("collection")
        assert made.pop("qrels") == "qrels"
        assert there.pop("qrels").startswith("ruled@")
        assert made == there
    assert "must contain {level}" in export_refused(*FILES, *options, "--out", "q.txt").err


def test_iterations_and_ids_survive_byte_for_byte(here: Path) -> None:
    """The second column stays; topics, docnos are text: 001 is not 1, NA and quotes are ids."""
    lines = ("001 0.5 NA 2", "1 2 'x\"y 0", "1 2 NA 1", "é 3 日本#2 2")
    write(here / "q.qrels", *lines)
    answer = run_inside("export", "qrels", here / "q.qrels", "--level", "2").fine()
    assert sorted(answer.out.splitlines()) == sorted(
        ["001 0.5 NA 1", "1 2 'x\"y 0", "1 2 NA 0", "é 3 日本#2 1"]
    )


def test_judges_of_different_rounds_leave_iteration_0(here: Path) -> None:
    """A document that two files have in different rounds has iteration 0, and they are counted."""
    a = write(here / "a.qrels", "1 1 d1 2", "1 1 d2 0")
    b = write(here / "b.qrels", "1 2 d1 1", "1 1 d2 1")
    answer = run_inside("export", "qrels", a, b, "--aggregate", "max", "--level", "1").fine()
    assert answer.out.splitlines() == ["1 0 d1 1", "1 1 d2 1"]
    assert "judged in different rounds: 1 document, iteration 0" in answer.err


def test_documents_pooled_and_not_judged_stay_so(here: Path) -> None:
    """A line with the code of unjudged documents becomes no grade; --unjudged writes it again."""
    a = write(here / "a.qrels", "1 0 d1 2", "1 7 d2 -1", "1 0 d3 -1")
    b = write(here / "b.qrels", "1 0 d1 1", "1 0 d3 0")
    one = run_inside("export", "qrels", a, "--level", "1", "--code", "-1=unjudged").fine()
    assert run_inside("export", "qrels", a, "--level", "1").fine().out == one.out
    assert one.out == "1 0 d1 1\n"
    assert "pooled and unjudged: 2 documents, left out" in one.err
    written = run_inside("export", "qrels", a, "--level", "1", "--code", "-1=unjudged", "--unjudged", "-1")
    assert written.fine().out.splitlines() == ["1 0 d1 1", "1 7 d2 -1", "1 0 d3 -1"]
    both = run_inside("export", "qrels", a, b, "--aggregate", "min", "--level", "1", "--code",
                      "-1=unjudged", "--unjudged", "-2").fine()  # fmt: skip
    assert both.out.splitlines() == ["1 0 d1 1", "1 7 d2 -2", "1 0 d3 0"]
    graded = run_inside("export", "qrels", a, "--level", "1", "--scale", "-1-2").fine()
    assert graded.out.splitlines() == ["1 0 d1 1", "1 7 d2 0", "1 0 d3 0"]


def test_skipped_and_unjudgeable_documents_are_left_out_and_counted(here: Path) -> None:
    """Documents without a grade in a file of states never become grade 0; rulings are not lost."""
    head = "topic\tdocno\tjudge\tkind\tstate\tgrade\treason\tnote\titeration"
    states = ("judged\t2", "skipped\t", "cannot\t", "unjudged\t")
    cells = [f"1\td{number}\tann\thuman\t{state}\t\t\t0" for number, state in enumerate(states, 1)]
    file = write(here / "all.tsv", head, *cells)
    answer = run_inside("export", "qrels", file, "--input", "tsv", "--level", "1").fine()
    assert answer.out == "1 0 d1 1\n"
    assert "1 skipped, 1 cannot be judged, 1 without a decision" in answer.err
    assert "left out: 1 skipped, 1 cannot be judged" in answer.err
    ruling = "1\td2\teve\tadjudicator\tjudged\t1\t\t\t0"
    file = write(here / "ruled.tsv", head, *cells, ruling)
    assert "--without-rulings" in export_refused(file, "--input", "tsv", "--level", "1").err
    without = run_inside("export", "qrels", file, "--input", "tsv", "--level", "1", "--without-rulings")
    assert without.fine().out == "1 0 d1 1\n"


def test_a_level_beyond_the_grades_needs_no_scale(here: Path) -> None:
    """Grades that happen not to reach the level, or all do, are no fault of the file."""
    write(here / "q.qrels", "1 0 d1 2", "1 0 d2 3")
    for level, relevant in (("1", "1 1"), ("3", "0 1"), ("5", "0 0")):
        answer = run_inside("export", "qrels", here / "q.qrels", "--level", level).fine()
        assert " ".join(line.split()[3] for line in answer.out.splitlines()) == relevant
        is_warned = f"warning: no document is relevant at level {level}" in answer.err
        assert is_warned is (level == "5")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*FILES, "--level", "1"), "28 documents undecided"),
        ((FILES[0], "--level", "rigid"), "needs a declared scale"),
        ((FILES[0], "--scale", "0-2", "--level", "3"), "at most 2"),
        ((FILES[0], "--scale", "0-1", "--level", "1"), "expected a grade of the scale (0, 1)"),
        ((*FILES, "--level", "1", "--aggregate", "majority"), "--ties"),
        ((*FILES, "--level", "1", "--judge", "nobody"), "unknown judge `nobody`"),
        ((*FILES, "--level", "1", "--aggregate", "max", "--judge", "strcit"), "`strict`"),
        ((FILES[0], FILES[0], "--level", "1", "--aggregate", "max"), "would both be judge"),
        ((FILES[0], "--level", "1", "--unjudged", "0"), "negative code"),
        (("gone.qrels", "--level", "1"), "no such file"),
        ((FILES[0], "--level", "1", "--out", "no/such/place"), "there is no folder"),
        ((FILES[0], "--binary-first"), "`--binary-first` must come with a level"),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_refused_in_a_line(here: Path, arguments: tuple[str, ...], words: str) -> None:
    """A wrong option is told in words, and no file is begun."""
    assert words in export_refused(*arguments).err
    assert not list(here.iterdir())


def test_a_qrels_file_is_never_replaced_by_its_collapse(cli: Cli, here: Path) -> None:
    """`--out` over the input is export_refused; over an earlier result it replaces that, and says so."""
    file = write(here / "q.qrels", "1 0 d1 2")
    before = read_lines(file)
    assert "not an earlier result" in export_refused(file, "--level", "1", "--out", file).err
    assert read_lines(file) == before
    for level in ("1", "2"):
        answer = cli("export", "qrels", file, "--level", level, "--out", "out.qrels").fine()
    assert "replaced an earlier result" in answer.err
    answer = cli("export", "qrels", "-", "--level", "1", stdin=file.read_bytes()).fine()
    assert answer.out == "1 0 d1 1\n"
