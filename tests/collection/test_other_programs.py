"""Collections as other programs read them: a BEIR folder, TREC's files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import pytrec_eval

from store.collection import Collection
from store.records import Document, Topic
from tests.helpers.run import Cli, by_rule

ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
MAJORITY = ("--aggregate", "majority", "--ties", "low")


def local(path: Path) -> Any:
    """Return a file as ir_datasets takes it."""
    return ir_datasets.util.LocalDownload(path)


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


def test_beir_folder_is_read_by_ir_datasets(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    lines = (folders / "trec/qrels/official.qrels").read_text("utf-8").splitlines()
    assert grades == [(a, c, int(d)) for a, _, c, d in map(str.split, lines)]
    assert len(grades) == 84


def test_trec_files_are_read_by_ir_datasets_and_by_pooler(cli: Cli, folders: Path) -> None:
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


def test_markup_in_texts_is_text(cli: Cli, here: Path) -> None:
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


def average_precision(folders: Path) -> dict[str, dict[str, float]]:
    """Return AP of every run by tag and topic, by pytrec_eval, of TREC's files."""
    with (folders / "trec/qrels/official.qrels").open(encoding="utf-8") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"map"})
    found = {}
    for path in sorted((folders / "trec/runs").glob("*.run")):
        with path.open(encoding="utf-8") as file:
            scores = evaluator.evaluate(pytrec_eval.parse_run(file))
        found[path.stem] = {topic: one["map"] for topic, one in scores.items()}
    return found


def test_trec_files_are_measured_alike_by_pytrec_eval_and_ir_measures(cli: Cli, folders: Path) -> None:
    """Two programs read qrels and runs, and pooler the same folder: one AP."""
    expected = average_precision(folders)
    assert len(expected) == 9
    qrels = list(ir_measures.read_trec_qrels(str(folders / "trec/qrels/official.qrels")))
    for tag, by_topic in expected.items():
        run = ir_measures.read_trec_run(str(folders / f"trec/runs/{tag}.run"))
        own = {one.query_id: one.value for one in ir_measures.iter_calc([ir_measures.AP], qrels, run)}
        assert own == pytest.approx(by_topic)
    asked = ("--by-topic", "--measure", "AP", "--format", "json", "--table", "topics")
    rows = [one for one in by_rule(cli, "evaluate", *MAJORITY, *asked).json() if one["topic"] != "all"]
    assert len(rows) == 9 * 8
    for row in rows:
        assert row["value"] == pytest.approx(expected[row["run"]][row["topic"]])


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")  # of numba, in ranx
def test_trec_files_are_measured_alike_by_ranx(folders: Path) -> None:
    """Ranx reads them, too."""
    ranx = pytest.importorskip("ranx", reason="peer absent: ranx")
    expected = average_precision(folders)
    qrels = ranx.Qrels.from_file(str(folders / "trec/qrels/official.qrels"), kind="trec")
    for tag, by_topic in expected.items():
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
    own = folders / "trec/qrels/official.qrels"
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
