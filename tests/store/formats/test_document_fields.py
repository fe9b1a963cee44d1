"""Fields of documents in every format: those wanted are taken, the others are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.errors import FormatError
from store.formats.texts import Fields, read_documents
from store.records import Document

JSONL = """{"docno": "1", "title": "t", "text": "x", "URL": "http://a", "authors": ["Ann", "B"], "year": 2001}
{"docno": "2", "text": "y", "url": "", "date": null, "year": 3.5, "free": true, "vector": [[1]]}
"""
TREC = """<DOC><DOCNO>1</DOCNO><HEADLINE>Oaks</HEADLINE><URL>http://a</URL>
<DATE>
<P>May 1, 1991</P>
</DATE>
<TEXT>Some <URL>inside</URL> text.</TEXT><PUB>The Times</PUB></DOC>
"""
TSV = "docno\ttitle\turl\ttext\tdate\n1\tOaks\thttp://a\tSome text.\t1991\n2\t\t\tMore.\t\n"


def read(tmp_path: Path, text: str, *wanted: str) -> tuple[list[Document], Fields]:
    """Read a file of some text."""
    file = tmp_path / "docs"
    file.write_text(text, encoding="utf-8")
    fields = Fields(wanted)
    return list(read_documents(str(file), fields=fields)), fields


def test_json_values_become_text(tmp_path: Path) -> None:
    """Names in any case, lists joined, numbers and truth as JSON writes them; what is empty is none."""
    documents, fields = read(tmp_path, JSONL, "year", "url", "authors", "free", "date")
    assert [one.fields for one in documents] == [
        (("year", "2001"), ("url", "http://a"), ("authors", "Ann; B")),
        (("year", "3.5"), ("free", "true")),
    ]
    assert fields.missing == ["date"]
    assert dict(fields.left_out) == {"vector": 1}


def test_nothing_is_taken_unasked_and_all_is_counted(tmp_path: Path) -> None:
    """Without a wish documents are as they were, and every other key is counted where it has a value."""
    documents, fields = read(tmp_path, JSONL)
    assert documents == [Document("1", "t", "x"), Document("2", "", "y")]
    assert dict(fields.left_out) == {"URL": 1, "authors": 1, "year": 2, "free": 1, "vector": 1}


def test_a_value_that_is_none_is_a_fault(tmp_path: Path) -> None:
    """With its line; nothing of the file counts."""
    with pytest.raises(FormatError) as refused:
        read(tmp_path, JSONL, "vector")
    assert "2: expected text, a number or a list of these in `vector`" in str(refused.value)


def test_elements_outside_the_text_are_fields(tmp_path: Path) -> None:
    """Of TREC's records: on one line, without tags; not what is in the text, nor the title."""
    documents, fields = read(tmp_path, TREC, "date", "url")
    assert documents[0].fields == (("date", "May 1, 1991"), ("url", "http://a"))
    assert (documents[0].title, documents[0].text) == ("Oaks", "Some \ninside\n text.")
    assert [*fields.left_out] == ["p", "pub"] or [*fields.left_out] == ["pub"]


def test_named_columns_are_fields(tmp_path: Path) -> None:
    """A line on top may name any; a row has to have them all."""
    documents, fields = read(tmp_path, TSV, "date", "url")
    assert documents == [
        Document("1", "Oaks", "Some text.", (("date", "1991"), ("url", "http://a"))),
        Document("2", "", "More."),
    ]
    assert not fields.left_out
    with pytest.raises(FormatError) as refused:
        read(tmp_path, TSV + "3\tt\tu\n", "url")
    assert "4: expected 5 fields (docno, title, url, text, date), got 3" in str(refused.value)


@pytest.mark.parametrize(
    "first", ["docno\ttitle\tScore of it!\ttext", "docno\ttext\ttext", "docno\turl\tdate"]
)
def test_other_lines_on_top_are_documents(tmp_path: Path, first: str) -> None:
    """Without a text among the columns, with a name twice or with what is no name, it is no header."""
    documents, _ = read(tmp_path, first + "\n1\ta\tb\n")
    assert documents[0].docno == "docno"


def test_many_names_are_not_remembered_for_ever(tmp_path: Path) -> None:
    """A file with another key in every line counts a thousand of them."""
    lines = "".join(f'{{"docno": "{n}", "text": "", "k{n}": "x"}}\n' for n in range(1500))
    _, fields = read(tmp_path, lines)
    assert len(fields.left_out) == 1000
