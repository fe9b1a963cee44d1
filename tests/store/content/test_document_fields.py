"""What is known of documents besides title and text: stored, chosen, shown at the desk, carried along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.collection import Collection
from store.content.documents import document_sha256
from store.db.engine import collection_url
from store.errors import ConflictError, PoolerError
from store.keeping.directory import read_directory
from store.keeping.verify import verify
from store.records import Action, Document, ImportReport, JudgeKind, Passage, Topic
from tests.helpers.wine import export, make
from tests.helpers.world import JudgeAtWork, carry, change_stored, make_pool

HTML = "<h1>Oaks</h1>\r\n<p>Tom &amp; <b>Jerry</b>.</p>"
FIELDS = (("url", "http://a\x1b[2J"), ("date", "1991"))
OAKS = Document("a", "Oaks", HTML, FIELDS, "html")


@pytest.fixture
def pooled(collection: Collection) -> Collection:
    """Make a collection whose pool holds a and b."""
    collection.topics.add([Topic("1", "oaks")])
    collection.pools.add(make_pool({"1": ["a", "b"]}))
    collection.judges.add("ann", JudgeKind.HUMAN)
    return collection


def test_fields_go_with_the_text(pooled: Collection) -> None:
    """They come back as they came, and the hash is of title and text as before."""
    assert pooled.documents.add(
        [OAKS, Document("z", "", "x", FIELDS)], fields=["date", "url"]
    ) == ImportReport(added=2, left_out=1)
    assert pooled.documents.get("a") == OAKS
    assert pooled.documents.get("z") == Document("z")
    assert pooled.fields == ("date", "url")
    assert pooled.details.document("a").sha256 == document_sha256(Document("a", "Oaks", HTML))


def test_fields_are_added_and_not_replaced_unasked(pooled: Collection) -> None:
    """More of them is an addition, the same again nothing, another value a conflict as of a text."""
    pooled.documents.add([Document("a", "Oaks", HTML)])
    with_url = Document("a", "Oaks", HTML, FIELDS[:1])
    assert pooled.documents.add([with_url]) == ImportReport(described=1)
    assert pooled.documents.add([OAKS]) == ImportReport(described=1)
    assert pooled.documents.add([with_url]) == ImportReport(unchanged=1)
    assert pooled.documents.get("a") == OAKS
    other = Document("a", "Oaks", HTML, (("date", "1992"),))
    with pytest.raises(ConflictError, match="document `a` exists with another date"):
        pooled.documents.add([other])
    with pytest.raises(ConflictError, match="exists with another markup"):
        pooled.documents.add([Document("a", "Oaks", HTML, (), "markdown")])
    assert pooled.documents.add([other], replace=True) == ImportReport(replaced=1)
    assert pooled.documents.get("a") == Document("a", "Oaks", HTML, (FIELDS[0], ("date", "1992")), "html")


def test_desk_shows_what_was_chosen_in_that_order(pooled: Collection) -> None:
    """Fit for a terminal; a document without text has its fields, too; nothing else is shown."""
    pooled.documents.add(
        [OAKS, Document("b", "", None, (("url", "u"), ("date", " ")))], fields=["date", "url"]
    )
    desk = pooled.desk("ann")
    page = desk.page("a")
    assert page.fields == (("date", "1991"), ("url", "http://a␛[2J"))
    assert page.text == "Oaks\n\nTom & Jerry."
    assert desk.page("b").fields == (("url", "u"),)
    pooled.documents.add([], fields=[])
    assert pooled.desk("ann").page("a").fields == ()
    assert pooled.fields == ()


def test_evidence_is_stored_of_the_raw_text(pooled: Collection) -> None:
    """Marked in what is read, stored with the tags in between, and shown as it was marked."""
    pooled.documents.add([OAKS])
    sitting = JudgeAtWork(pooled.desk("ann"), "1")
    marked = Passage(6, 11, "Tom & Jerry")
    task = sitting.act("a", Action.MARK, passages=(marked,))
    assert task.passages == (marked,)
    (raw,) = next(iter(pooled.judgements.history())).passages
    assert raw == Passage(HTML.index("Tom"), len("Tom &amp; <b>Jerry"), "Tom &amp; <b>Jerry")
    again = {one.docno: one for one in pooled.desk("ann").queue("1")}
    assert again["a"].passages == (marked,)
    assert sitting.act("a", Action.NOTE, note="see").passages == (marked,)
    sitting.desk.leave()


def faults(name: str) -> set[str]:
    """Return the checks that found something."""
    return {one.name for one in verify(collection_url(name)) if one.n_faults}


def test_damaged_fields_are_told(pooled: Collection, collection_name: str) -> None:
    """By the digest of their table, and where they are no JSON or of no known markup."""
    pooled.documents.add([OAKS])
    assert faults(collection_name) == set()
    change_stored(collection_name, "UPDATE document_metadata SET markup = 'odt'")
    assert faults(collection_name) == {"digests", "fields"}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a collection of four documents, one of them with fields and markup."""
    place = make(tmp_path / "whole.db")
    with Collection(str(place)) as opened:
        opened.documents.add([Document("a", "a", "text of a", FIELDS, "html")], fields=["date", "url"])
    return place


def described(place: Path | str) -> tuple[tuple[str, ...], Document | None, Document | None]:
    """Return what a collection shows, and two of its documents."""
    with Collection(str(place)) as opened:
        return opened.fields, opened.documents.get("a"), opened.documents.get("b")


def test_servers_and_directories_carry_fields(whole: Path, tmp_path: Path, postgres_url: str) -> None:
    """And the same collection gives the same files again; without texts there is none of it."""
    expected = described(whole)
    assert expected[0] == ("date", "url")
    files = export(whole, tmp_path / "files")
    first = json.loads(files["documents.jsonl"].splitlines()[0])
    assert (first["markup"], first["metadata"]) == ("html", {"url": "http://a\x1b[2J", "date": "1991"})
    again = tmp_path / "again.db"
    read_directory(str(again), tmp_path / "files")
    assert described(again) == expected
    assert export(again, tmp_path / "more") == files
    carry(str(whole), postgres_url)
    assert described(postgres_url) == expected
    for place in (again, postgres_url):
        assert faults(str(place)) == set()


def test_directory_with_bad_fields_is_refused(whole: Path, tmp_path: Path) -> None:
    """Markup that nobody knows is told."""
    export(whole, tmp_path / "files")
    with Collection(str(whole)) as opened:
        assert opened.fields
    change_stored(str(whole), "UPDATE document_metadata SET markup = 'odt'", renews=True)
    export(whole, tmp_path / "bad")
    with pytest.raises(PoolerError, match=r"tables: fields: `a`: markup odt"):
        read_directory(str(tmp_path / "none.db"), tmp_path / "bad")
    assert not (tmp_path / "none.db").exists()
