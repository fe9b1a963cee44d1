"""One judge's documents as a collection of their own, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.collection import Collection
from store.db.engine import collection_url
from store.errors import ConflictError, StoreError, UnknownNameError
from store.keeping.merge.copies import SettleRule
from store.keeping.verify import verify
from store.keeping.work_copy import HandedOut
from store.records import Action, Document, JudgeKind
from tests.helpers.world import JudgeAtWork, change_stored, make_pool, make_run, parse_scale, stored_rows
from tests.store.drawing import adaptive_pool
from tests.store.keeping.merge.apart import copies, done, grades, make, merge, work
from tests.store.places import held_place


def hand_out(place: Path | str, judge: str, file: Path) -> HandedOut:
    """Make a judge's part."""
    with Collection(str(place)) as opened:
        return opened.hand_out(judge, file, program="x 1")


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a collection with runs, two pools and judgements of two judges."""
    place = make(tmp_path / "whole.db")
    with Collection(str(place)) as opened:
        opened.runs.add(make_run("bm25", {"1": [("c", 2.0), ("a", 1.0)]}, sha256="0" * 64))
        later = make_pool({"1": ["z", "a"], "2": ["b"]}, name="later", round="7",
                          run_tags=("bm25",),
                          manifest={"out_order": "random", "seed": 5, "runs": []})  # fmt: skip
        opened.pools.add(later)
        opened.documents.add([Document("z", "z", None)])
        opened.desk("ann").set_terms("1", ("vin", "blanc"))
    work(place, ("ann", "a", Action.JUDGE, 1), ("ann", "a", Action.UNDO, None),
         ("ann", "b", Action.MARK, "x"), ("bob", "a", Action.CANNOT, "bob was here"))  # fmt: skip
    return place


def test_part_has_what_its_judge_needs_and_nothing_else(whole: Path, tmp_path: Path) -> None:
    """Queue, texts, guidelines, own events - no run, no rank, no other judge, not by id either."""
    file = tmp_path / "ann.db"
    made = hand_out(whole, "ann", file)
    assert made == HandedOut(
        topics=2, documents=6, unjudged=6, skipped=0, without_text=1, events=3, elsewhere=0
    )
    tables = stored_rows(str(file))
    for empty in ("run", "ranking", "pool_run", "pool_topic", "assignment", "assignment_plan"):
        assert tables[empty] == []
    assert [row[1] for row in tables["judge"]] == ["ann"]
    assert b"bob" not in file.read_bytes()
    assert b"bm25" not in file.read_bytes()
    # Row ids of documents go by docno: the order in which runs brought them is not to be had.
    docnos = [row[1] for row in sorted(tables["document"])]
    assert docnos == sorted(docnos)
    assert {row[4:7] for row in tables["pool_entry"]} == {(None, None, None)}
    assert [one for one in verify(collection_url(str(file))) if one.n_faults] == []
    with Collection(str(whole)) as there, Collection(str(file)) as here:
        for topic in ("1", "2"):
            assert here.desk("ann").queue(topic) == there.desk("ann").queue(topic)
        assert here.desk("ann").terms("1") == ("vin", "blanc")
        assert here.desk("ann").page("a").text == "text of a"
        assert here.guidelines.all() == there.guidelines.all()
        assert list(here.judgements.history()) == list(there.judgements.history(["ann"]))


def test_work_on_a_part_comes_back_and_nothing_else(whole: Path, tmp_path: Path) -> None:
    """What was judged on the part is as if judged here; no pool, place or document is new."""
    alone = copies(whole, 1)[0]
    file = tmp_path / "ann.db"
    hand_out(whole, "ann", file)
    steps = [("ann", "a", Action.JUDGE, 2), ("ann", "z", Action.SKIP, "later"),
             ("ann", "b", Action.CANNOT, "torn")]  # fmt: skip
    work(file, *steps)
    work(alone, *steps)
    before = stored_rows(str(whole))
    found = merge(whole, file)
    assert (found.is_done, found.copies[0].is_part) == (True, True)
    assert done(whole) == done(alone)
    after = stored_rows(str(whole))
    changed = {table for table in after if after[table] != before[table]}
    assert changed == {"judgement", "passage", "sitting"}
    with Collection(str(whole)) as there, Collection(str(alone)) as other:
        rounds = [{(one.docno, one.revision): (one.iteration, one.display_order)
                   for one in opened.judgements.history(["ann"])} for opened in (there, other)]  # fmt: skip
    assert rounds[0] == rounds[1]
    assert merge(whole, file).is_nothing_new


def test_assigned_documents_are_the_part(whole: Path, tmp_path: Path) -> None:
    """Where documents are assigned, only the judge's own are in it, in their order."""
    held_place(str(whole), "1", "cba", "ann", display_order="random:9", purpose="overlap")
    held_place(str(whole), "1", "d", "bob")
    held_place(str(whole), "1", "z", None, lease_s=60)
    file = tmp_path / "ann.db"
    made = hand_out(whole, "ann", file)
    assert (made.documents, made.elsewhere) == (3, 1)
    with Collection(str(file)) as opened:
        assert [task.docno for task in opened.desk("ann").queue("1")] == ["c", "b", "a"]
    assert {row[5] for row in stored_rows(str(file))["assignment"]} == {"primary"}
    work(file, ("ann", "c", Action.JUDGE, 2))
    before = stored_rows(str(whole))["assignment"]
    assert merge(whole, file).is_done
    assert stored_rows(str(whole))["assignment"] == before
    assert grades(whole)["ann", "c"] == 2


def test_part_and_whole_that_differ_are_a_conflict(whole: Path, tmp_path: Path) -> None:
    """The judge went on in both: settled like any two copies."""
    file = tmp_path / "ann.db"
    hand_out(whole, "ann", file)
    work(file, ("ann", "a", Action.JUDGE, 2))
    work(whole, ("ann", "a", Action.JUDGE, 0))
    assert len(merge(whole, file).open_conflicts) == 1
    assert merge(whole, file, rule=SettleRule.HIGHEST).is_done
    assert grades(whole)["ann", "a"] == 2


def test_part_of_a_server_comes_back_to_it(postgres_url: str, tmp_path: Path) -> None:
    """A part of a PostgreSQL collection is a file, and merges back."""
    scale = parse_scale("0-2")
    with Collection.create(postgres_url, name="w", scale=scale, program="x") as made:
        made.pools.add(make_pool({"1": ["a", "b"]}))
        made.documents.add([Document("a", "a", "text")])
        made.judges.add("ann", JudgeKind.HUMAN)
        JudgeAtWork(made.desk("ann"), "1").grade("b", 0)
    file = tmp_path / "ann.db"
    assert hand_out(postgres_url, "ann", file).events == 1
    work(file, ("ann", "a", Action.JUDGE, 2), ("ann", "b", Action.JUDGE, 1))
    assert merge(postgres_url, file).is_done
    assert grades(postgres_url, ["ann"]) == {("ann", "a"): 2, ("ann", "b"): 1}


def test_what_cannot_be_handed_out_is_refused(whole: Path, tmp_path: Path) -> None:
    """A file that is there, nobody, nothing to judge, a judge disabled, an adjudicator, a part."""
    file = tmp_path / "ann.db"
    hand_out(whole, "ann", file)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="already exists") as caught:
        hand_out(whole, "ann", file)
    assert "nothing is overwritten" in str(caught.value.hint)
    assert file.read_bytes() == before
    new = tmp_path / "new.db"
    with Collection(str(whole)) as opened:
        opened.judges.add("zoe", JudgeKind.ADJUDICATOR)
        opened.judges.add("eve", JudgeKind.HUMAN)
        opened.judges.set_disabled(["cy"], disabled=True)
    held_place(str(whole), "1", "a", "ann")
    for name, match in (("cy", "disabled"), ("zoe", "adjudicator"), ("eve", "there is no document for")):
        with pytest.raises(StoreError, match=match):
            hand_out(whole, name, new)
    with pytest.raises(UnknownNameError, match="unknown judge `nan`"):
        hand_out(whole, "nan", new)
    with pytest.raises(ConflictError, match="one judge's part"):
        hand_out(file, "ann", new)
    with pytest.raises(ConflictError, match="takes nothing in"):
        merge(file, whole)
    with pytest.raises(StoreError, match="there is no folder"):
        hand_out(whole, "ann", tmp_path / "none" / "x.db")
    assert not new.exists()


def test_documents_still_to_be_drawn_are_counted(whole: Path, tmp_path: Path) -> None:
    """An adaptive pool draws in the whole collection alone; the part says how many may come."""
    with Collection(str(whole)) as opened:
        opened.pools.add(adaptive_pool({"1": ["q", "r"]}, budget=2))
        opened.pools.draw("live", "1", lambda _drawn: "r")
    made = hand_out(whole, "ann", tmp_path / "ann.db")
    assert (made.documents, made.elsewhere) == (7, 1)


def test_strange_document_in_a_part_is_refused(whole: Path, tmp_path: Path) -> None:
    """A part that somebody put a document into brings no new document in."""
    file = tmp_path / "ann.db"
    hand_out(whole, "ann", file)
    change_stored(str(file), "UPDATE document SET docno = 'strange' WHERE docno = 'b'")
    with pytest.raises(ConflictError, match="document `strange` is not here"):
        merge(whole, file)
