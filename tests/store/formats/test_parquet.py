"""`store.formats.syntax.parquet`: files that other programs wrote, and what is wrong with some."""

from __future__ import annotations

import io
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from pooler.reading.strict import read_run
from store.errors import FaultList, FormatError, PoolerError
from store.formats.documents import read_documents
from store.formats.qrels import read_qrels
from store.formats.syntax.lines import open_bytes
from store.formats.syntax.parquet import form_of, to_parquet
from store.formats.topics import read_topics
from store.records import Document, Topic


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Give a function that writes columns by pandas, and returns the path."""

    def write(name: str, **columns: Any) -> str:
        pd.DataFrame(columns).to_parquet(tmp_path / name)
        return str(tmp_path / name)

    return write


def text_of(path: str) -> str:
    """Return the text that a file stands for."""
    with open_bytes(path) as file:
        return file.read().decode()


def test_frame_of_pyterrier_is_a_run(written: Any) -> None:
    """Columns qid, docno, rank, score; the tag is the name of the file; what else there is is passed over."""
    columns = {"qid": ["1", "1"], "docid": [7, 8], "docno": ["a", "b"], "rank": [0, 1]}
    path = written("bm 25.parquet", **columns, score=[2.5, 1.0], query=["x", "x"])
    assert text_of(path) == "1 Q0 a 0 2.5 bm_25\n1 Q0 b 1 1.0 bm_25\n"
    run = read_run(path)
    assert (run.tag, run.rankings[0].docnos, run.rankings[0].scores.tolist()) == (
        "bm_25",
        ["a", "b"],
        [2.5, 1.0],
    )


def test_frame_of_ranx_is_a_run_without_ranks(written: Any) -> None:
    """Columns q_id, doc_id, score: there are no ranks to state."""
    path = written("x.parquet", q_id=["1"], doc_id=["a"], score=[0.5])
    assert text_of(path) == "1 Q0 a - 0.5 x\n"
    assert read_run(path).rankings[0].ranks is None


@pytest.mark.parametrize("grades", ["label", "relevance", "grade"])
def test_frame_with_grades_is_qrels(written: Any, grades: str) -> None:
    """Numbers as ids are text, and whole floats grades, as pandas has them beside a missing value."""
    path = written("x.parquet", query_id=[1, 2], doc_id=["a", "b"], **{grades: [2.0, 0.0]})
    assert [row[1:] for row in read_qrels(path).rows] == [("1", "0", "a", 2), ("2", "0", "b", 0)]
    assert form_of(path) == "qrels"


def test_polars_writes_topics_and_documents(tmp_path: Path) -> None:
    """Other columns are an object a row; null is no value."""
    pl.DataFrame({"qid": ["1"], "query": ["a\nb"], "narrative": [None]}).write_parquet(tmp_path / "t.parquet")
    pl.DataFrame({"docno": ["d"], "title": ["T"], "text": ["x\x00"]}).write_parquet(tmp_path / "d.parquet")
    assert read_topics(str(tmp_path / "t.parquet")) == [Topic("1", "a\nb")]
    assert list(read_documents(str(tmp_path / "d.parquet"))) == [Document("d", "T", "x\x00")]


def test_ids_that_are_none_are_told_by_row(written: Any) -> None:
    """A blank, nothing, a fraction: each is told with its row, and all at once."""
    path = written("x.parquet", topic=["1"] * 4, docno=["a b", None, "c", ""], score=[1.0] * 4)
    with pytest.raises(FormatError) as error:
        read_run(path)
    assert [(one.line, one.message) for one in error.value.faults] == [
        (1, "expected text without blanks or a whole number in `docno`, got 'a b'"),
        (2, "expected text without blanks or a whole number in `docno`, got None"),
        (4, "expected text without blanks or a whole number in `docno`, got ''"),
    ]


def test_grades_and_scores_are_checked_as_in_text(written: Any) -> None:
    """What is no grade, and a document twice, is told as of a file of text, with the row."""
    faults = FaultList("x")
    read_qrels(written("q.parquet", qid=["1", "1"], docno=["a", "b"], label=[1.5, 1.0]), faults=faults)
    assert [one.line for one in faults.kept] == [1]
    with pytest.raises(FormatError, match=r":2: document `a` is in topic `1` already"):
        read_run(written("r.parquet", qid=["1", "1"], docno=["a", "a"], score=[1.0, 2.0]))


def test_other_kinds_of_numbers_are_numbers(written: Any) -> None:
    """DuckDB has 1.5 as a decimal, and pandas ranks as floats beside a missing one."""
    ids = {"qid": ["1", "1"], "docno": ["a", "b"]}
    path = written("x.parquet", **ids, rank=[1.0, None], score=[Decimal("2.50"), Decimal("1.00")])
    assert text_of(path) == "1 Q0 a 1 2.50 x\n1 Q0 b - 1.00 x\n"
    assert read_run(path).rankings[0].scores.tolist() == [2.5, 1.0]


def test_row_is_one_line_whatever_is_in_it(written: Any) -> None:
    """A text with a line end brings no second document or judgement."""
    ids = {"qid": ["1", "1"], "docno": ["a", "b"]}
    with pytest.raises(FormatError, match=":2: expected a finite number as score") as error:
        read_run(written("x.parquet", **ids, score=["3", "2 x\n1 Q0 c 3 1"]))
    assert len(error.value.faults) == 1
    faults = FaultList("x")
    read_qrels(written("q.parquet", **ids, grade=["1", "1\n1 0 c 2"]), faults=faults)
    assert [one.line for one in faults.kept] == [2]


@pytest.mark.parametrize("kept", [5, 400, -1])
def test_damaged_file_is_told(written: Any, kept: int) -> None:
    """A file that was cut off is told as damaged, whoever reads it."""
    path = Path(written("x.parquet", qid=[str(n) for n in range(999)], docno=["a"] * 999, label=[1] * 999))
    path.write_bytes(path.read_bytes()[:kept])
    faults = FaultList("x")
    read_qrels(str(path), faults=faults)
    assert faults.kept[0].message.startswith("parquet data is damaged: ")
    with pytest.raises(FormatError, match="parquet data is damaged"):
        read_run(str(path))


def test_pipe_is_read(written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input has no end to begin with: it is kept until it has come."""
    data = Path(written("x.parquet", qid=["1"], docno=["a"], label=[1])).read_bytes()

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(data), encoding="utf-8"))
    assert [row.docno for row in read_qrels("-").rows] == ["a"]


def test_comments_above_a_run_stay_above_it(tmp_path: Path) -> None:
    """Lines that begin with # say who made it: they are in no row, and come back."""
    text = "# ir_metadata.start\n# tag: é\n# ir_metadata.end\n1 Q0 a 1 2.5 x\n1 Q0 b - 1.0 x\n"
    (tmp_path / "x.run").write_text(text, "utf-8")
    to_parquet(tmp_path / "x.run", tmp_path / "x.parquet", "run")
    assert pl.read_parquet(tmp_path / "x.parquet").rows() == [
        ("1", "a", 1, 2.5, "x"),
        ("1", "b", None, 1.0, "x"),
    ]
    assert text_of(str(tmp_path / "x.parquet")) == text


def test_topic_called_par1_is_text(tmp_path: Path) -> None:
    """A run whose first topic is PAR1 is a run."""
    (tmp_path / "x.run").write_text("PAR1 Q0 a 1 1.0 x\n", "utf-8")
    assert read_run(str(tmp_path / "x.run")).rankings[0].topic == "PAR1"


def test_without_pyarrow_it_is_said_what_to_install(written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading, and writing before anything is there."""
    path = written("x.parquet", qid=["1"], docno=["a"], label=[1])
    for name in [one for one in sys.modules if one.startswith("pyarrow")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PoolerError, match="need the Python package `pyarrow`") as error:
        read_qrels(path)
    assert error.value.hint == "pip install 'pooler[arrow]'"
