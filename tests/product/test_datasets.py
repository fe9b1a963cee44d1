"""`pooler.datasets`: a collection as a dataset of ir_datasets, and of PyTerrier."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import pooler
from store.collection import Collection
from store.errors import ArgumentError, PoolerError, StoreError
from store.records import Action, Decision, JudgeKind
from tests.helpers.run import Cli, by_rule

MAJORITY = {"qrels": pooler.Qrels(aggregate="majority", ties="low")}


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Forget what a test registers, and keep the files of ir_datasets in its folder."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    before = dict(ir_datasets.registry._registered)
    yield
    ir_datasets.registry._registered.clear()
    ir_datasets.registry._registered.update(before)
    pooler.datasets._registered.clear()


def lines_of(dataset: Any) -> list[str]:
    """Return the qrels of a dataset as lines; that models alone judged the sample collection is warned of."""
    with pytest.warns(UserWarning, match="no person judged: 3 models count"):
        found = list(dataset.qrels_iter())
    return [f"{one.query_id} {one.iteration} {one.doc_id} {one.relevance}" for one in found]


def test_dataset_has_what_the_collection_has(cli: Cli, judged: Path) -> None:
    """Documents with a text, topics, and the qrels of `export qrels`, line by line."""
    import ir_datasets

    dataset = pooler.datasets.register("collection.db", **MAJORITY)
    assert dataset.dataset_id() == "pooler/collection"
    assert ir_datasets.load("pooler/collection") is dataset
    by_rule(cli, "export", "qrels", "--aggregate", "majority", "--ties", "low", "--out", "q.txt").fine()
    assert lines_of(dataset) == (judged / "q.txt").read_text("utf-8").splitlines()
    assert dataset.qrels_defs() == {0: "not relevant", 1: "partially relevant", 2: "relevant"}
    with Collection("collection.db") as opened:
        pooled = {entry.docno for entry in opened.pools.get("pool").entries}
        texts = {docno: opened.documents.get(docno) for docno in pooled}
    docs = list(dataset.docs_iter())
    assert {one.doc_id: (one.title, one.text) for one in docs} == {
        docno: (one.title, one.text) for docno, one in texts.items()
    }
    assert dataset.docs_count() == len(docs) == 74
    assert dataset.queries.lookup("G02").title == "watering balcony tomatoes"
    assert dataset.queries.lookup("G02").default_text() == "watering balcony tomatoes"


def test_documents_are_sliced_and_looked_up(judged: Path) -> None:
    """As every dataset of ir_datasets: by number, by slice, by name."""
    dataset = pooler.datasets.register("collection.db")
    docs = list(dataset.docs_iter())
    assert dataset.docs[3] == docs[3] == dataset.docs_store().get(docs[3].doc_id)
    assert list(dataset.docs_iter()[2:40:5]) == docs[2:40:5]
    assert dataset.docs_iter()[-1] == docs[-1]
    assert dataset.docs_store().get_many(["none", docs[0].doc_id]) == {docs[0].doc_id: docs[0]}
    with pytest.raises(KeyError):
        dataset.docs_store().get("none")


def test_qrels_are_as_the_collection_is_when_they_are_read(judged: Path) -> None:
    """A judgement that came later is there; what is skipped or cannot be judged is no grade."""
    with Collection("collection.db") as opened:
        opened.judges.add("anna", JudgeKind.HUMAN)
        people = pooler.Qrels(kinds=["human"])
        mine = pooler.datasets.register(opened, "mine")
        with pytest.raises(PoolerError, match="28 documents undecided"):  # no person yet, and no rule
            list(mine.qrels_iter())
        dataset = pooler.datasets.register(opened, "mine", qrels=people)
        desk = opened.desk("anna")
        first, second, third, fourth = [task.docno for task in desk.queue("G01")][:4]
        desk.record(Decision("G01", first, Action.JUDGE, grade=2))
        desk.record(Decision("G01", second, Action.JUDGE, grade=0))
        desk.record(Decision("G01", third, Action.SKIP))
        desk.record(Decision("G01", fourth, Action.CANNOT, reason="no text"))
        desk.leave()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = {one.doc_id: one.relevance for one in dataset.qrels_iter()}
    assert found == {first: 2, second: 0}


def test_people_and_models_are_mixed_only_where_they_are_named(judged: Path) -> None:
    """People alone count; with kinds, those named, and it is a Python warning whose grades these are."""
    with Collection("collection.db") as opened:
        opened.judgements.add({"anna": [pooler.read_qrels("judgements/strict.qrels")[0]]}, JudgeKind.HUMAN)
    alone = pooler.datasets.register("collection.db", "alone")
    with pytest.raises(PoolerError, match="people graded 1 document and models 84"):
        list(alone.qrels_iter())
    rule = pooler.Qrels(kinds=["model"], aggregate="majority", ties="low")
    models = pooler.datasets.register("collection.db", "models", qrels=rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(list(models.qrels_iter())) == 84


def test_ir_measures_takes_the_dataset(judged: Path, cli: Cli) -> None:
    """Its qrels measure a run as the exported file does."""
    import ir_measures

    dataset = pooler.datasets.register(pooler.source(collection="collection.db", qrels="strict"))
    run = list(ir_measures.read_trec_run("runs/bm25-words.run"))
    cli("export", "qrels", "strict", "--out", "q.txt").fine()
    measure = ir_measures.nDCG @ 10
    expected = ir_measures.calc_aggregate([measure], ir_measures.read_trec_qrels("q.txt"), run)
    assert ir_measures.calc_aggregate([measure], dataset.qrels_iter(), run) == expected


def test_name_is_taken_over_from_ourselves_alone(judged: Path) -> None:
    """A cell of a notebook runs twice; a name of another dataset is refused."""
    first = pooler.datasets.register("collection.db", "x")
    second = pooler.datasets.register(Path("collection.db"), "x", **MAJORITY)
    assert first is second
    assert len(lines_of(first)) == 84
    with pytest.raises(ArgumentError, match="must not be that of another dataset"):
        pooler.datasets.register("collection.db", "vaswani")
    with pytest.raises(StoreError):
        pooler.datasets.register("none.db")
    with pytest.raises(ArgumentError, match="must be a collection"):
        pooler.datasets.register(pooler.source("runs/bm25-words.run", qrels="judgements/strict.qrels"))


def test_without_ir_datasets_it_is_said_what_to_install(
    judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module is imported without it; registering says what it needs."""
    for name in [one for one in sys.modules if one.partition(".")[0] == "ir_datasets"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    pooler.datasets._handlers.cache_clear()
    with pytest.raises(PoolerError, match="ir_datasets is not installed") as error:
        pooler.datasets.register("collection.db")
    assert error.value.hint == "pip install 'pooler[datasets]'"


def test_entry_point_leads_to_the_provider() -> None:
    """PyTerrier loads this name and calls it."""
    (found,) = [one for one in entry_points(group="pyterrier.dataset_provider") if one.name == "pooler"]
    assert found.load() is pooler.datasets.PyTerrierDatasets


@pytest.mark.filterwarnings("default")
def test_pyterrier_reads_a_collection(judged: Path) -> None:
    """By what was registered, and by the file; its frames have qid, docno and label."""
    pyterrier = pytest.importorskip("pyterrier", reason="peer absent: python-terrier")
    pooler.datasets.register("collection.db", **MAJORITY)
    dataset = pyterrier.get_dataset("pooler:collection")
    qrels = dataset.get_qrels()
    assert len(qrels) == 84
    assert (qrels.qid[0], qrels.docno[0], qrels.label[0]) == ("G01", "KG-E-002", 0)
    assert dataset.get_topics("title").set_index("qid")["query"]["G02"] == "watering balcony tomatoes"
    docs = list(dataset.get_corpus_iter(verbose=False, start=2, count=3))
    assert [one["docno"] for one in docs] == ["KG-E-004", "KG-E-005", "KG-E-006"]
    loaded = dataset.text_loader("title").transform(qrels[:1])
    assert loaded.title[0] == "Mung bean sprouts in a jar"
    assert len(pyterrier.get_dataset("pooler:collection.db").get_topics("narrative")) == 8
    with pytest.raises(KeyError, match="not found in provider 'pooler'"):
        pyterrier.get_dataset("pooler:none.db")
