"""Exported qrels as other evaluators read them; and files of samples, byte for byte."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.oracles import average_precision, measured_ap, read_qrels, read_run
from tests.helpers.run import Cli, read_lines, write

SCALE = """\
relaxed = 1
[[grade]]
value = -2
label = "junk"
[[grade]]
value = 0
label = "not relevant"
[[grade]]
value = 1
label = "relevant"
[[grade]]
value = 2
label = "highly relevant"
"""
QRELS = [
    *('01 0 "q" 2', "01 0 7#1 0", "01 0 NA 1", "01 0 日本 -2"),
    *('1 0.5 "q" 0', "1 0.5 NA 1", "1 0.5 a_1 -2", "1 0.5 nan 1"),
    *("9 0 zz 0", "10 0 a.b 1"),
]
"""Topics that are one number, ids that look like something else, junk, a topic without relevant
documents, one that no run has."""

RUN = [
    *("01 Q0 日本 1 9 odd", '01 Q0 "q" 2 8 odd', "01 Q0 NA 3 7.5 odd", "01 Q0 none 4 1 odd"),
    *("1 Q0 a_1 1 3 odd", "1 Q0 NA 2 2 odd", '1 Q0 "q" 3 1e-3 odd', "9 Q0 zz 1 1 odd"),
]
TIED = [line.replace(" odd", " tied").replace(" 7.5 ", " 8.0 ").replace(" 3 tied", " 2 tied")
        for line in RUN]  # fmt: skip
"""The same with ties, which trec_eval orders by docno descending."""

FORMS = [[], ["--level", "1"], ["--level", "rigid"]]
"""Graded, relevant from the least relevant grade on, and relevant from the next."""


def values(cli: Cli, *options: str) -> dict[tuple[str, str], float]:
    """Return the AP of every run and topic that has one, as `pooler evaluate` prints it."""
    rows = cli("evaluate", "-m", "AP", "--by-topic", "--format", "json", *options).fine().json()
    return {
        (row["run"], row["topic"]): row["value"]
        for row in rows
        if row["topic"] != "all" and row["value"] is not None
    }


def exported(cli: Cli, *options: str) -> Path:
    """Export qrels to a file."""
    cli("export", "qrels", "--out", "exported.txt", *options).fine()
    return Path("exported.txt")


@pytest.fixture
def odd(cli: Cli, here: Path) -> Path:
    """Work beside a collection with a negative grade, odd ids, and two runs."""
    write(here / "scale.toml", SCALE)
    (here / "runs").mkdir()
    write(here / "runs" / "odd.run", *RUN)
    write(here / "runs" / "tied.run", *TIED)
    cli("init", "--scale", "scale.toml").fine()
    cli("import", "runs", *sorted((here / "runs").iterdir())).fine()
    cli("import", "judgements", write(here / "q", *QRELS), "--judge", "me").fine()
    return here


@contextmanager
def peer(name: str) -> Iterator[Any]:
    """Import a program that is no part of the test tools, with the warnings it gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module(name)
        except ImportError:
            pytest.skip(f"{name} is absent")
        yield module


def check_trec_eval(cli: Cli, folder: Path, judge: str, form: list[str]) -> None:
    """Compare every run and topic with pytrec_eval and ir_measures, which read the files."""
    qrels = exported(cli, judge, *form)
    ours = values(cli, "--qrels", judge, "--order", "trec9", *form)
    grades = {line.split()[3] for line in read_lines(qrels)}
    assert (grades <= {"0", "1"}) == bool(form)
    compared = 0
    for path in sorted((folder / "runs").iterdir()):
        expected = average_precision(read_qrels(qrels), read_run(path))
        measured = measured_ap(qrels, path)
        assert expected.keys() == {topic for run, topic in ours if run == path.stem}
        for topic, value in expected.items():
            assert ours[path.stem, topic] == pytest.approx(value, abs=1e-12)
            assert measured[topic] == pytest.approx(value, abs=1e-12)
            compared += 1
    assert compared == len(ours) > 0


@pytest.mark.parametrize("form", FORMS)
def test_trec_eval_reads_the_sample_collection(cli: Cli, judged: Path, form: list[str]) -> None:
    """pytrec_eval and ir_measures give the AP that `pooler evaluate` gives."""
    check_trec_eval(cli, judged, "middle", form)


@pytest.mark.parametrize("form", FORMS)
def test_trec_eval_reads_odd_ids_and_negative_grades(cli: Cli, odd: Path, form: list[str]) -> None:
    """Junk is not relevant, topics `1` and `01` are two, and ties are ordered the same."""
    check_trec_eval(cli, odd, "me", form)


def test_graded_export_has_the_lines_of_the_import(cli: Cli, odd: Path) -> None:
    """Negative grades, iterations and ids come out as they went in."""
    assert read_lines(exported(cli)) == QRELS


@pytest.mark.parametrize("folder", ["judged", "odd"])
@pytest.mark.parametrize("form", FORMS)
def test_ranx_reads_exported_qrels(
    cli: Cli, request: pytest.FixtureRequest, folder: str, form: list[str]
) -> None:
    """Ranx gives the same AP on every topic in which no two documents have one score."""
    with peer("ranx") as ranx:
        where: Path = request.getfixturevalue(folder)
        judge = ["me" if folder == "odd" else "middle"]
        ours = values(cli, "--qrels", *judge, *form)
        qrels = ranx.Qrels.from_file(str(exported(cli, *judge, *form)), kind="trec")
        compared = 0
        for path in sorted((where / "runs").iterdir()):
            run = ranx.Run.from_file(str(path), kind="trec")
            ranx.evaluate(qrels, run, "map", return_mean=False, make_comparable=True)
            scores = {
                topic: [float(line.split()[4]) for line in read_lines(path) if line.split()[0] == topic]
                for topic in run.scores["map"]
            }
            for topic, value in run.scores["map"].items():
                if len(set(scores[topic])) == len(scores[topic]) and (path.stem, topic) in ours:
                    assert value == pytest.approx(ours[path.stem, topic], abs=1e-12)
                    compared += 1
        assert compared > 0


@pytest.mark.parametrize("form", FORMS)
def test_trectools_reads_exported_qrels(cli: Cli, judged: Path, form: list[str]) -> None:
    """Trectools, which orders ties by docno ascending, gives the AP of that order."""
    with peer("trectools") as trectools:
        ours = values(cli, "--qrels", "middle", "--order", "docno-asc", *form)
        qrels = trectools.TrecQrel(str(exported(cli, "middle", *form)))
        compared = 0
        for path in sorted((judged / "runs").iterdir()):
            found = trectools.TrecEval(trectools.TrecRun(str(path)), qrels)
            table = found.get_map(per_query=True, trec_eval=False)
            for topic, value in table["MAP@1000"].items():
                if (path.stem, topic) in ours:
                    assert value == pytest.approx(ours[path.stem, topic], abs=1e-12)
                    compared += 1
        assert compared == len(ours) > 0


XINFAP = """\
51 0 d1 1 1
51 0 d2 1 0
51 0 d4 2 -1
51 0 d5 2 2
52 1 d1 1 -1
52 1 d2 1 0
"""
STATAP = """\
10 GX225-79-9870332 1 1 0.568969759822883
10 GX253-98-16418961 0 1 0.165904710473544
10 GX9 2 0 1
9999 GX237-19-4725226 1 3 0.659520100607628
"""


@pytest.mark.parametrize(("kind", "content"), [("xinfap", XINFAP), ("statap", STATAP)])
def test_prels_come_back_byte_for_byte(cli: Cli, here: Path, kind: str, content: str) -> None:
    """A sample that is imported and exported has the bytes of its file, in both formats."""
    cli("init", "--scale", "0-2").fine()
    (here / "p").write_text(content, "utf-8", newline="")
    cli("import", "judgements", "p", "--as", kind, "--judge", "me", "--as-pool", "s").fine()
    cli("export", "prels", "--as", kind, "--pool", "s", "--qrels", "me", "--out", "again").fine()
    assert (here / "again").read_bytes() == content.encode()
