"""`pooler agreement` of bare files: what a collection with the same judgements answers."""

from __future__ import annotations

import os
import re
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from tests import cf_collection
from tests.agreement.test_measured_agreement import data_path
from tests.helpers.run import GARDEN, JUDGES, Cli, Outcome, qrels_of, read_trec, run_inside, write

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
        ("--level", "2", "--bands", "ir-book", "--format", "json"),
        ("--interval", "item", "--resamples", "200", "--seed", "7"),
        ("--interval", "asymptotic", "--table", "pairs", "--format", "tsv"),
        ("--against", "strict", "--aggregate", "median", "--ties", "low", "--interval", "none"),
        ("--against", "strict", "--aggregate", "majority", "--ties", "high", "--binary-first",
         "--level", "1"),
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


def test_kappa_of_two_files_equals_scikit_learn() -> None:
    """Two files and nothing else give scikit-learn's kappa, plain and quadratic."""
    [row] = [
        row for row in run_inside("agreement", *qrels_of(*FILES[:2]), "--interval", "none", "--format",
                                  "json").fine().json()["pairs"]
        if row["level"] is None
    ]  # fmt: skip
    first, second = ([int(grade) for *_, grade in sorted(read_trec(Path(file), (0, 2, 3)))]
                     for file in FILES[:2])  # fmt: skip
    assert row["kappa"] == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    quadratic = cohen_kappa_score(first, second, weights="quadratic")
    assert row["quadratic"] == pytest.approx(quadratic, abs=1e-12)


@pytest.mark.slow
def test_cf_files_answer_as_their_collection(tmp_path: Path) -> None:
    """Four judges of 4,819 documents each: the same JSON both ways."""
    files = cf_collection.write_qrels(tmp_path)
    filled(tmp_path, "0-2", dict(files))
    both(tmp_path, tuple(files), tuple(files.values()), "--interval", "none", "--format", "json")


@pytest.mark.slow
def test_model_judges_answer_as_their_collection(tmp_path: Path) -> None:
    """NIST and two model judges, compressed files with documents missing."""
    names = {"nist": "qrels.dl20-passage.txt.gz", "umbrella": "umbrella_gpt-4_zeroshot_dl20.txt.gz",
             "gpt4": "binary_gpt4_dl20.txt.gz"}  # fmt: skip
    files = {judge: data_path(f"dl20-nist-vs-llm/{name}") for judge, name in names.items()}
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


def test_a_grade_off_the_declared_scale_is_told_by_its_line(here: Path) -> None:
    """A file that does not fit the scale is refused with every line that does not."""
    a = write(here / "a.qrels", "1 0 d1 1", "1 0 d2 3", "1 0 d3 4")
    answer = refused(a, FILES[0], options=("--scale", "0-2"))
    assert f"{a}:2: expected a grade of the scale (0, 1, 2), got 3" in answer.err
    assert f"{a}:3:" in answer.err
    assert "--map" in answer.err


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--level", "rigid"), "declared scale"),
        (("--level", "7"), "at most 2"),
        (("--against", "nobody"), "unknown judge `nobody`"),
        (("--scale", "7"), "LOW-HIGH"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_files_cannot_answer_is_refused_in_a_line(options: tuple[str, ...], words: str) -> None:
    """An option that needs a collection, or another option, says so; nothing is measured."""
    assert words in refused(*FILES, options=options).err


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
    run_inside("agreement", "strict", "lenient", "--interval", "none").fine()
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


def test_judges_of_files_are_named_as_those_of_a_collection() -> None:
    """Of three files two judges are compared."""
    rows = run_inside("agreement", "strict", "lenient", *qrels_of(*FILES), "--format", "json").fine().json()
    assert [row["judge"] for row in rows["judges"]] == ["strict", "lenient"]


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
