"""What other programs read of a collection: exported qrels, a BEIR folder, TREC's files."""

from __future__ import annotations

import importlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.records import Document, Topic
from tests.helpers.oracles import average_precision, measured_ap, read_qrels, read_run
from tests.helpers.run import Cli, by_rule, read_lines, write

OFFICIAL = "trec/qrels/official.qrels"
MAJORITY = ("--aggregate", "majority", "--ties", "low")


@contextmanager
def peer(name: str) -> Iterator[Any]:
    """Import a program that may be absent, with the warnings it gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module(name)
        except ImportError:
            pytest.skip(f"peer absent: {name}")
        yield module


@pytest.fixture
def ir_datasets() -> Any:
    """Load ir_datasets, which takes a second, where it is wanted."""
    return pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")


def local(path: Path) -> Any:
    """Return a file as ir_datasets takes it."""
    from ir_datasets.util import LocalDownload

    return LocalDownload(path)


def documents_of(judged: Path) -> dict[str, tuple[str, str]]:
    """Return title and text of the documents in the sample collection's own file, by docno."""
    lines = (judged / "documents.jsonl").read_text("utf-8").splitlines()
    return {one["docno"]: (one["title"], one["text"]) for one in map(json.loads, lines)}


@pytest.fixture
def folders(cli: Cli, judged: Path) -> Path:
    """Work beside a BEIR folder and TREC's files of the sample collection."""
    cli("import", "docs", "documents.jsonl", "--all").fine()
    for layout in ("beir", "trec"):
        by_rule(cli, "export", "collection", layout, "--as", layout, *MAJORITY).fine()
    return judged


def test_beir_folder_is_read_by_ir_datasets(
    ir_datasets: Any, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its readers of BEIR find every document, topic and grade."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(folders / "home"))
    from ir_datasets.datasets import beir

    docs = beir.BeirDocs("garden", local(folders / "beir/corpus.jsonl"), beir.BeirTitleDoc)
    assert {one.doc_id: (one.title, one.text) for one in docs._docs_iter()} == documents_of(folders)
    query = ir_datasets.formats.GenericQuery
    queries = beir.BeirQueries("garden", local(folders / "beir/queries.jsonl"), query)
    assert queries.queries_dict()["G02"].text == "watering balcony tomatoes"
    qrels = beir.BeirQrels(local(folders / "beir/qrels/test.tsv"), {})
    grades = [(one.query_id, one.doc_id, one.relevance) for one in qrels.qrels_iter()]
    lines = (folders / OFFICIAL).read_text("utf-8").splitlines()
    assert grades == [(a, c, int(d)) for a, _, c, d in map(str.split, lines)]
    assert len(grades) == 84


def test_trec_files_are_read_by_ir_datasets_and_by_pooler(ir_datasets: Any, cli: Cli, folders: Path) -> None:
    """Documents and topics come back with their texts, blanks folded in topics."""
    trec = ir_datasets.formats
    docs = trec.TrecDocs(local(folders / "trec/documents.trec"), docstore_path=str(folders / "store"))
    parsed = docs._docs_iter(folders / "trec/documents.trec")
    texts = {one.doc_id: " ".join(one.text.split()) for one in parsed}
    own = documents_of(folders)
    assert texts == {docno: " ".join(" ".join(both).split()) for docno, both in own.items()}
    queries = trec.TrecQueries(local(folders / "trec/topics.trec")).queries_dict()
    assert queries["G03"].title == "smelly kitchen compost"
    assert queries["G03"].description.startswith("How can I compost peelings")
    cli("init", "--scale", "0-2", "--collection", "new.db").fine()
    cli("import", "topics", "trec/topics.trec", "--collection", "new.db").fine()
    cli("import", "docs", "trec/documents.trec", "--all", "--collection", "new.db").fine()
    with Collection("collection.db") as first, Collection("new.db") as second:
        assert folded(second.topics.all()) == folded(first.topics.all())
        docnos = first.documents.with_texts()
        assert folded(second.documents.read(docnos)) == folded(first.documents.read(docnos))
        assert len(docnos) == 106


def folded(records: Iterable[Any]) -> list[tuple[str, ...]]:
    """Return what topics or documents say, every run of blanks one."""
    return [tuple(" ".join(str(value).split()) for value in astuple(one)) for one in records]


def test_markup_in_texts_is_text(ir_datasets: Any, cli: Cli, here: Path) -> None:
    """What looks like a tag or an entity comes back as it was, by both readers."""
    cli("init", "--scale", "0-1").fine()
    text = "if a < b && b > c: print('</TEXT> &amp; <DOC>')"
    (here / "d.jsonl").write_text(
        json.dumps({"docno": "x", "title": "R&D <b>", "text": text}) + "\n", "utf-8"
    )
    (here / "t.tsv").write_text("1\tR&D <title> of x\n", "utf-8")
    cli("import", "docs", "d.jsonl", "--all").fine()
    cli("import", "topics", "t.tsv").fine()
    cli("export", "collection", "trec", "--as", "trec").fine()
    (doc,) = ir_datasets.formats.TrecDocs(local(here / "x"))._docs_iter(here / "trec/documents.trec")
    assert doc.text.split() == f"R&D <b> {text}".split()
    cli("init", "--scale", "0-1", "--collection", "new.db").fine()
    cli("import", "docs", "trec/documents.trec", "--all", "--collection", "new.db").fine()
    cli("import", "topics", "trec/topics.trec", "--collection", "new.db").fine()
    with Collection("new.db") as made:
        assert made.documents.get("x") == Document("x", "R&D <b>", text)
        assert made.topics.all() == [Topic("1", "R&D <title> of x")]


def folder_ap(folders: Path) -> dict[str, dict[str, float]]:
    """Return AP of every run by tag and topic, by pytrec_eval, of TREC's files."""
    qrels = read_qrels(folders / OFFICIAL)
    runs = sorted((folders / "trec/runs").glob("*.run"))
    return {path.stem: average_precision(qrels, read_run(path)) for path in runs}


def test_trec_files_are_measured_alike_by_other_programs(cli: Cli, folders: Path) -> None:
    """pytrec_eval and ir_measures read qrels and runs, and pooler the same folder: one AP."""
    expected = folder_ap(folders)
    assert len(expected) == 9
    for tag, by_topic in expected.items():
        measured = measured_ap(folders / OFFICIAL, folders / f"trec/runs/{tag}.run")
        assert measured == pytest.approx(by_topic)
    asked = ("--by-topic", "--measure", "AP", "--format", "json", "--table", "topics")
    rows = [one for one in by_rule(cli, "evaluate", *MAJORITY, *asked).json() if one["topic"] != "all"]
    assert len(rows) == 9 * 8
    for row in rows:
        assert row["value"] == pytest.approx(expected[row["run"]][row["topic"]])


def test_trec_files_are_measured_alike_by_ranx(folders: Path) -> None:
    """Ranx reads them, too."""
    with peer("ranx") as ranx:
        qrels = ranx.Qrels.from_file(str(folders / OFFICIAL), kind="trec")
        for tag, by_topic in folder_ap(folders).items():
            run = ranx.Run.from_file(str(folders / f"trec/runs/{tag}.run"), kind="trec")
            ranx.evaluate(qrels, run, "map", make_comparable=True)
            assert dict(run.scores["map"]) == pytest.approx(by_topic)


def test_data_card_tells_how_it_was_judged(folders: Path) -> None:
    """Both folders have the card: sizes, whose qrels, pools, kinds of judges, and their own files alone."""
    for layout, files in (
        ("beir", {"corpus.jsonl", "queries.jsonl"}),
        ("trec", {"documents.trec", "topics.trec"}),
    ):
        card = (folders / layout / "README.md").read_text("utf-8")
        assert "| judges | 3 |" in card
        assert "Judges of kind model: 3." in card
        assert "majority, ties low" in card
        assert "84 entries by strategy depth, depth 5" in card
        named = {name for name in re.findall(r"^\| `([^`]+)` \|", card, re.MULTILINE) if "qrels" not in name}
        assert named == files | ({"runs/", "runs.tsv"} if layout == "trec" else set())
        assert "judgements.jsonl" not in card


def test_documents_without_texts_are_told(cli: Cli, judged: Path) -> None:
    """What a folder is without is said, and a BEIR folder is not without texts."""
    said = by_rule(cli, "export", "collection", "beir", "--as", "beir", "--judge", "strict").fine().err
    assert "left out: 32 documents without a text" in said
    refused = cli("export", "collection", "bare", "--as", "beir", "--without-texts")
    assert (refused.code, (judged / "bare").exists()) == (1, False)
    cli("export", "collection", "trec", "--as", "trec", "--without-texts", "--without-runs").fine()
    assert {path.name for path in (judged / "trec").iterdir()} == {
        "topics.trec", "qrels", "qrels.json", "README.md", "manifest.json",
    }  # fmt: skip


def test_a_beir_folder_has_the_default_qrels_as_its_split(cli: Cli, judged: Path) -> None:
    """Its readers ask for the split `test`; other definitions are not among them."""
    cli("qrels", "define", "least", "--aggregate", "min").fine()
    by_rule(cli, "export", "collection", "beir", "--as", "beir", *MAJORITY).fine()
    assert [path.name for path in (judged / "beir/qrels").iterdir()] == ["test.tsv"]


def test_beir_folder_comes_in_again(cli: Cli, folders: Path) -> None:
    """Topics with their description and narrative, documents with their fields, grades."""
    cli("init", "--scale", "0-2", "--collection", "new.db").fine()
    there = ("--collection", "new.db")
    cli("import", "topics", "beir/queries.jsonl", *there).fine()
    said = cli("import", "docs", "beir/corpus.jsonl", "--all", *there).fine().err
    assert "left out" not in said
    lines = (folders / "beir/qrels/test.tsv").read_bytes().partition(b"\n")[2]
    columns = ("--columns", "topic,docno,grade", "--judge", "all")
    cli("import", "judgements", "-", *columns, *there, stdin=lines).fine()
    by_rule(cli, "export", "qrels", "--out", "again.qrels", *there).fine()
    own = folders / OFFICIAL
    assert (folders / "again.qrels").read_text("utf-8") == own.read_text("utf-8")
    with Collection("collection.db") as first, Collection("new.db") as second:
        assert second.topics.all() == first.topics.all()
        docnos = first.documents.with_texts()
        assert list(second.documents.read(docnos)) == list(first.documents.read(docnos))


def test_fields_of_documents_are_metadata_of_beir(cli: Cli, here: Path) -> None:
    """They go out in `metadata`, and come in from there by name."""
    cli("init").fine()
    document = {"docno": "x", "title": "T", "text": "t", "url": "http://x"}
    (here / "d.jsonl").write_text(json.dumps(document) + "\n", "utf-8")
    cli("import", "docs", "d.jsonl", "--all", "--fields", "url").fine()
    cli("export", "collection", "beir", "--as", "beir").fine()
    (line,) = (here / "beir/corpus.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line) == {"_id": "x", "title": "T", "text": "t", "metadata": {"url": "http://x"}}
    cli("init", "--collection", "new.db").fine()
    cli("import", "docs", "beir/corpus.jsonl", "--all", "--fields", "url", "--collection", "new.db").fine()
    with Collection("new.db") as made:
        assert made.documents.get("x") == Document("x", "T", "t", (("url", "http://x"),))


def test_judgements_in_the_place_of_qrels_are_told(cli: Cli, judged: Path) -> None:
    """Rows of every judge are no qrels: one line says so, and not one a row."""
    cli("export", "judgements", "--out", "j.jsonl").fine()
    refused = cli("evaluate", "--qrels", "j.jsonl", "runs/bm25-words.run")
    assert refused.code == 1
    assert "this looks like a file of every judge's judgements; expected qrels" in refused.err


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


both = pytest.mark.parametrize(("folder", "judge"), [("judged", "middle"), ("odd", "me")])


@both
@pytest.mark.parametrize("form", FORMS)
def test_trec_eval_reads_exported_qrels(
    cli: Cli, request: pytest.FixtureRequest, folder: str, judge: str, form: list[str]
) -> None:
    """pytrec_eval and ir_measures give the AP of every run and topic that `pooler evaluate` gives.

    Junk is not relevant, topics `1` and `01` are two, and ties are ordered the same.
    """
    where: Path = request.getfixturevalue(folder)
    qrels = exported(cli, judge, *form)
    ours = values(cli, "--qrels", judge, "--order", "trec9", *form)
    grades = {line.split()[3] for line in read_lines(qrels)}
    assert (grades <= {"0", "1"}) == bool(form)
    compared = 0
    for path in sorted((where / "runs").iterdir()):
        expected = average_precision(read_qrels(qrels), read_run(path))
        measured = measured_ap(qrels, path)
        assert expected.keys() == {topic for run, topic in ours if run == path.stem}
        for topic, value in expected.items():
            assert ours[path.stem, topic] == pytest.approx(value, abs=1e-12)
            assert measured[topic] == pytest.approx(value, abs=1e-12)
            compared += 1
    assert compared == len(ours) > 0


def test_graded_export_has_the_lines_of_the_import(cli: Cli, odd: Path) -> None:
    """Negative grades, iterations and ids come out as they went in."""
    assert read_lines(exported(cli)) == QRELS


@both
@pytest.mark.parametrize("form", FORMS)
def test_ranx_reads_exported_qrels(
    cli: Cli, request: pytest.FixtureRequest, folder: str, judge: str, form: list[str]
) -> None:
    """Ranx gives the same AP on every topic in which no two documents have one score."""
    with peer("ranx") as ranx:
        where: Path = request.getfixturevalue(folder)
        ours = values(cli, "--qrels", judge, *form)
        qrels = ranx.Qrels.from_file(str(exported(cli, judge, *form)), kind="trec")
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
