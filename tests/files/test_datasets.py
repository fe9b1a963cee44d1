"""`pooler import ... irds:NAME`: what is on this machine; nothing is downloaded."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from store.collection import Collection
from store.records import Document, Topic
from tests.helpers.run import Cli, write

ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")


class Page(NamedTuple):
    """A document as a crawl has it."""

    doc_id: str
    url: str
    raw: bytes

    def default_text(self) -> str:
        """Return its text."""
        return self.raw.decode()


class Pages(ir_datasets.formats.BaseDocs):  # type: ignore[misc] # it has no types
    """Documents without any field of a known name."""

    def docs_iter(self) -> Iterator[Page]:
        """Yield one."""
        yield Page("p1", "http://p1", b"read \xc3\xa9")

    def docs_cls(self) -> type:
        """Return their kind."""
        return Page


class PartQrels(ir_datasets.formats.BaseQrels):  # type: ignore[misc]
    """Judgements of parts of topics."""

    def qrels_iter(self) -> Iterator[object]:
        """Yield one."""
        yield ir_datasets.formats.TrecSubQrel("1", "p1", 1, "2")

    def qrels_cls(self) -> type:
        """Return their kind."""
        return ir_datasets.formats.TrecSubQrel  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def dataset(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register datasets of files in this folder; whoever opens a connection fails."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(here / "home"))

    def refuse(*_: object) -> None:
        pytest.fail("asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    write(here / "docs.tsv", "d1\tfirst text", "d2\tsecond text")
    write(here / "queries.tsv", "1\twhat is first", "2\twhat is second")
    write(here / "qrels.txt", "1 0 d1 1", "1 0 d2 0", "2 R2 d2 1")
    before = dict(ir_datasets.registry._registered)
    made = ir_datasets.create_dataset(
        *map(str, (here / "docs.tsv", here / "queries.tsv", here / "qrels.txt"))
    )
    ir_datasets.registry.register("local/two", made)
    ir_datasets.registry.register("local/pages", ir_datasets.Dataset(Pages(), PartQrels()))
    yield
    ir_datasets.registry._registered.clear()
    ir_datasets.registry._registered.update(before)


def test_dataset_is_a_collection(cli: Cli, here: Path) -> None:
    """Topics, documents and judgements come in as from files, and go out again as they were."""
    cli("init", "--scale", "0-1").fine()
    said = cli("import", "topics", "irds:local/two").fine().err
    assert "irds:local/two#queries: 2 topics added" in said
    cli("import", "judgements", "irds:local/two", "--judge", "nist", "--as-pool", "all").fine()
    cli("import", "docs", "irds:local/two").fine()
    with Collection("collection.db") as made:
        assert made.topics.all() == [Topic("1", "what is first"), Topic("2", "what is second")]
        assert made.documents.get("d2") == Document("d2", "", "second text")
        assert made.judges.all()[0].kind == "imported"
    cli("export", "qrels", "--out", "again.txt").fine()
    assert (here / "again.txt").read_text("utf-8") == (here / "qrels.txt").read_text("utf-8")


def test_documents_of_unknown_fields_have_their_text(cli: Cli) -> None:
    """What the dataset calls a document's text is its text; fields are wanted by name, as of files."""
    cli("init").fine()
    said = cli("import", "docs", "irds:local/pages", "--all", "--fields", "url").fine().err
    assert "fields left out: raw (1 document)" in said
    with Collection("collection.db") as made:
        assert made.documents.get("p1") == Document("p1", "", "read é", (("url", "http://p1"),))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("topics", "irds:vaswani"), "irds:vaswani: its topics are not on this machine: http"),
        (("docs", "irds:beir/scifact"), "irds:beir/scifact: its documents are not on this machine"),
        (("docs", "irds:aquaint"), "its documents are not on this machine: "),
        (("topics", "irds:local/tow"), "unknown dataset of ir_datasets `local/tow`; known: `local/two`"),
        (("topics", "irds:local/pages"), "irds:local/pages has no topics; it has documents, judgements"),
        (("judgements", "irds:local/pages", "--judge", "x"), "expected judgements with one grade a"),
        (("topics", "irds:"), "unknown dataset of ir_datasets ``"),
    ],
)
def test_what_is_absent_is_said_and_nothing_is_written(cli: Cli, arguments: list[str], message: str) -> None:
    """One line, with what to do; the collection stays as it was."""
    cli("init").fine()
    refused = cli("import", *arguments)
    assert refused.code == 1
    assert message in refused.err
    assert "Traceback" not in refused.err
    with Collection("collection.db") as made:
        assert (made.topics.all(), made.documents.listed()) == ([], set())


def test_hint_says_how_it_comes_here(cli: Cli) -> None:
    """What ir_datasets can fetch, and what a publisher hands out."""
    cli("init").fine()
    said = cli("import", "topics", "irds:vaswani").err
    assert "hint: ir_datasets export vaswani queries > /dev/null downloads it" in said
    said = cli("import", "docs", "irds:aquaint").err
    assert "hint: its publisher hands it out: see https://ir-datasets.com/aquaint.html" in said
    assert "hint: `ir_datasets list` names them" in cli("import", "topics", "irds:vaswny").err
    listed = subprocess.run([sys.executable, "-m", "ir_datasets", "list"], capture_output=True, check=True)
    assert b"vaswani" in listed.stdout.split()


def test_without_ir_datasets_it_is_said_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """An extra, named."""
    cli("init").fine()
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    refused = cli("import", "topics", "irds:vaswani")
    assert "ir_datasets is not installed" in refused.err
    assert "hint: pip install 'pooler[datasets]'" in refused.err
