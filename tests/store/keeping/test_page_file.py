"""What a page saved becomes a part, and goes every way a part does."""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from store.collection import Collection
from store.db.engine import collection_url
from store.errors import ConflictError, FormatError, StoreError
from store.event import FIELDS
from store.keeping.merge.copies import SettleRule
from store.keeping.page_file import head_of, is_page_file
from store.keeping.verify import verify
from store.records import Action, Document, JudgeKind, Passage
from tests.golden.kept import unpack, unpack_today
from tests.helpers.world import JudgeAtWork, make_pool, parse_scale, stored_rows
from tests.store.keeping.merge.apart import copies, done, grades, make, merge, work
from tests.store.keeping.saved_pages import page_part, record, save

TIMES = {"judge", "judged_at", "shown_at", "dwell_ms", "active_ms", "sitting"}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a collection of four documents, in which ann has begun."""
    place = make(tmp_path / "whole.db")
    work(place, ("ann", "d", Action.JUDGE, 1), ("ann", "d", Action.MARK, "x"))
    return place


STEPS = [
    record("a", 1, "judge", grade=2),
    record("b", 1, "skip"),
    record("b", 2, "note", note="two\nlines, «é» 😀"),
    record("c", 1, "cannot", reason="unreadable"),
    record("a", 2, "mark", passages=[[5, 2, "of"]]),
    record("a", 3, "judge", grade=0),
    record("a", 4, "undo", undoes=3),
    record("d", 3, "note", note="still"),
    record("d", 4, "undo", undoes=3),
    record("a", 5, "undo", undoes=2),
]


def test_saved_steps_are_what_a_desk_would_have_written(whole: Path, tmp_path: Path) -> None:
    """The same steps at a desk and on a page: every field is the same but for names and times."""
    alone = copies(whole, 1)[0]
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), STEPS)
    assert is_page_file(file)
    found = merge(whole, file)
    assert (found.is_done, found.copies[0].is_part, found.copies[0].name) == (True, True, str(file))
    assert [(one.judge, one.new) for one in found.judges] == [("ann", 10)]
    with Collection(str(alone)) as opened:
        sitting = JudgeAtWork(opened.desk("ann"), "1")
        for step in STEPS:
            if step["action"] == "undo":
                sitting.undo()
                continue
            said = {name: step[name] for name in ("grade", "reason", "note", "dropped_keys")}
            said["passages"] = step["passages"] and tuple(Passage(*one) for one in step["passages"])
            place = "abcd".index(step["docno"])
            sitting.act(step["docno"], Action(step["action"]), position=place, **said)
        sitting.desk.leave()
    fields = [name for name in FIELDS if name not in TIMES]
    histories = []
    for place in (whole, alone):
        with Collection(str(place)) as opened:
            histories.append(
                {
                    (one.docno, one.revision): [getattr(one, name) for name in fields]
                    for one in opened.judgements.history(["ann"])
                }
            )
    assert histories[0] == histories[1]
    with Collection(str(whole)) as opened:
        new = [one for one in opened.judgements.history(["ann"]) if one.judged_at.month == 3]
    assert {(one.dwell_ms, one.active_ms, one.sitting) for one in new} == {(1000, 900, 1)}
    assert [one for one in verify(collection_url(str(whole))) if one.n_faults] == []


def test_decision_of_a_later_round_is_of_that_round(whole: Path, tmp_path: Path) -> None:
    """Noted in round 0, decided in round 1: of round 1, as at a desk; a note and an undo leave the round."""
    work(whole, ("ann", "b", Action.NOTE, "n"))
    with Collection(str(whole)) as opened:
        opened.pools.withdraw("pool")
        opened.pools.add(make_pool({"1": ["b", "d", "e"]}, name="later", round="1"))
    steps = [
        record("b", 2, "judge", grade=2),
        record("e", 1, "judge", grade=1),
        record("d", 3, "note", note="still"),
        record("d", 4, "judge", grade=0),
        record("d", 5, "undo", undoes=4),
    ]
    merge(whole, save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), steps))
    with Collection(str(whole)) as opened:
        rounds = {(one.docno, one.revision): one.iteration for one in opened.judgements.history(["ann"])}
    new = {(step["docno"], step["revision"]): rounds[step["docno"], step["revision"]] for step in steps}
    assert new == {("b", 2): "1", ("e", 1): "1", ("d", 3): "0", ("d", 4): "1", ("d", 5): "0"}


def test_merging_again_brings_what_is_new_alone(whole: Path, tmp_path: Path) -> None:
    """Twice the same file: nothing new. A later file of the same page: what was done since."""
    head = page_part(whole, "ann", tmp_path)
    first = save(tmp_path / "first.jsonl", head, STEPS[:3])
    assert merge(whole, first).is_done
    assert merge(whole, first).is_nothing_new
    later = save(tmp_path / "later.jsonl", head, STEPS)
    assert [(one.new, one.there) for one in merge(whole, later, first).judges] == [(7, 10)]  # 5 + 5
    assert merge(whole, first, later, later).is_nothing_new
    assert len(stored_rows(str(whole))["sitting"]) == 2


def test_page_without_a_step_brings_nothing(whole: Path, tmp_path: Path) -> None:
    """A page that was opened and saved."""
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), [])
    assert merge(whole, file).is_nothing_new


def test_changed_or_cut_file_is_refused(whole: Path, tmp_path: Path) -> None:
    """One grade another, a line gone, the end gone, other line ends: none is what the page saved."""
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), STEPS)
    good, before = file.read_bytes(), done(whole)
    lines = good.splitlines(keepends=True)
    for bad in (
        good.replace(b'"grade": 2', b'"grade": 1'),
        b"".join(lines[:2] + lines[3:]),
        good[:-30],
        good[: len(good) // 2],
        b"".join(lines[:-1]),
        good.replace(b"\n", b"\r\n"),
        lines[0],
        lines[0][:40],
    ):
        file.write_bytes(bad)
        with pytest.raises(FormatError, match="changed, or cut, since") as caught:
            merge(whole, file)
        assert "save the file again in the page" in str(caught.value.hint)
    assert done(whole) == before


FORGED = [
    (record("a", 1, "judge", grade=7), "`grade`: expected one of 0, 1, 2, got 7"),
    (record("e", 1, "judge", grade=1), "docno `e` is not in this part"),
    (record("a", 1, "judge", grade=1, topic="9"), "topic `9` docno `a` is not in this part"),
    (record("b", 2, "judge", grade=1), "expected revision 1 of this document, got 2"),
    (record("d", 2, "judge", grade=1), "expected revision 3 of this document, got 2"),
    (record("a", 1, "judge"), "`grade`: expected a value with the action judge"),
    (record("a", 1, "skip", grade=1), "`grade`: expected a value with the action judge, and with no other"),
    (record("a", 1, "reopen"), "`action`: expected one of judge, skip"),
    (record("a", 1, "settle", grade=1), "`action`: expected one of judge, skip"),
    (record("d", 3, "undo", undoes=2), "`undoes`: expected what was done last in this sitting"),
    (record("a", 1, "note"), "`note`: expected a value with the action note"),
    (record("a", 1, "mark", passages=[[0, 4, "tixt"]]), "expected parts of the document's text"),
    (record("a", 1, "mark", passages=[[900, 1, "x"]]), "expected parts of the document's text"),
    ({"topic": "1"}, "expected the key `docno`, got none"),
    (record("a", 1, "skip", judge="bob"), "unknown key `judge`"),
    (record("a", 1, "judge", grade=1, judged_at="yesterday"), "`judged_at`: expected a moment"),
]


@pytest.mark.parametrize(("step", "message"), FORGED)
def test_forged_step_is_refused(step: dict[str, object], message: str, whole: Path, tmp_path: Path) -> None:
    """With a right checksum, too, nothing comes in that no page could have written."""
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), [step])
    before = done(whole)
    with pytest.raises(FormatError) as caught:
        merge(whole, file)
    assert {one.line for one in caught.value.faults} == {2}
    assert any(message in one.message for one in caught.value.faults)
    assert done(whole) == before


def test_all_faults_are_told_at_once(whole: Path, tmp_path: Path) -> None:
    """Two forged steps among good ones: both, by line."""
    steps = [STEPS[0], FORGED[1][0], STEPS[1], FORGED[0][0] | {"docno": "c"}]
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), steps)
    with pytest.raises(FormatError) as caught:
        merge(whole, file)
    assert [fault.line for fault in caught.value.faults] == [3, 5]


def test_page_of_another_collection_is_refused(whole: Path, tmp_path: Path) -> None:
    """Made at another moment, with other judges of the same names."""
    other = make(tmp_path / "other.db", name="beer")
    steps = [record("a", 1, "mark", passages=[[0, 4, "text"]])]
    file = save(tmp_path / "ann.jsonl", page_part(other, "ann", tmp_path), steps)
    with pytest.raises(ConflictError, match=r"ann.jsonl is another collection \(`beer`"):
        merge(whole, file)


def test_page_made_before_the_guidelines_changed_says_so(whole: Path, tmp_path: Path) -> None:
    """It is merged; every judgement is of the version that its judge read, and is listed as outdated."""
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), [STEPS[0]])
    with Collection(str(whole)) as opened:
        opened.guidelines.add("# Two\n")
    assert merge(whole, file).is_done
    with Collection(str(whole)) as opened:
        (event,) = [one for one in opened.judgements.history(["ann"]) if one.docno == "a"]
    assert (event.guideline_version, event.grade) == (1, 2)


def test_page_made_before_a_text_changed_is_refused(whole: Path, tmp_path: Path) -> None:
    """As a part is: what was judged is no longer what is here."""
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), STEPS[:2])
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("b", "b", "another text")], replace=True)
    with pytest.raises(ConflictError, match="document `b` has another text"):
        merge(whole, file)


def test_page_goes_to_no_copy_without_the_texts(tmp_path: Path) -> None:
    """What was saved has the hashes of texts alone, and these must not become a document's."""
    place = Collection.create(str(tmp_path / "w.db"), name="w", scale=parse_scale("0-2"), program="x")
    with place as made:
        made.judges.add("ann", JudgeKind.HUMAN)
        made.pools.add(make_pool({"1": ["a"]}))
    without = copies(tmp_path / "w.db", 1)[0]
    with Collection(str(tmp_path / "w.db")) as made:
        made.documents.add([Document("a", "a", "text of a")])
    file = save(tmp_path / "ann.jsonl", page_part(tmp_path / "w.db", "ann", tmp_path),
                [record("a", 1, "mark", passages=[[0, 4, "text"]])])  # fmt: skip
    with pytest.raises(ConflictError, match="document `a` has no text here, and was judged with one"):
        merge(without, file)
    assert merge(tmp_path / "w.db", file).is_done


def test_two_answers_of_one_judge_are_a_conflict(whole: Path, tmp_path: Path) -> None:
    """On the page and here meanwhile: settled like any two copies."""
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), [STEPS[0]])
    work(whole, ("ann", "a", Action.JUDGE, 0))
    found = merge(whole, file)
    assert len(found.open_conflicts) == 1
    assert str(file) in {name for one in found.open_conflicts for two in one.versions for name in two.copies}
    assert merge(whole, file, rule=SettleRule.HIGHEST).is_done
    assert grades(whole)["ann", "a"] == 2


def test_passages_are_of_the_raw_text(tmp_path: Path) -> None:
    """Carriage returns, controls and wide characters: what is stored is where the raw text has it."""
    raw = "a\r\nb\x1b[2J 😀 end.\r\nלילה\u202e tail"
    shown = "a\nb␛[2J 😀 end.\nלילה\ufffd tail"
    place = Collection.create(str(tmp_path / "w.db"), name="w", scale=parse_scale("0-2"), program="x")
    with place as made:
        made.judges.add("ann", JudgeKind.HUMAN)
        made.pools.add(make_pool({"1": ["a"]}))
        made.documents.add([Document("a", "a", raw)])
    marked = [[start, len(part), part] for part in ("b␛[2J 😀 end.", "לילה\ufffd")
              for start in (shown.index(part),)]  # fmt: skip
    file = save(tmp_path / "ann.jsonl", page_part(tmp_path / "w.db", "ann", tmp_path),
                [record("a", 1, "mark", passages=marked), record("a", 2, "judge", grade=1)])  # fmt: skip
    assert merge(tmp_path / "w.db", file).is_done
    with Collection(str(tmp_path / "w.db")) as made:
        events = list(made.judgements.history())
        (task,) = made.desk("ann").queue("1")
    for event in events:
        assert [raw[one.start : one.start + one.length] for one in event.passages] == [
            "b\x1b[2J 😀 end.", "לילה\u202e"]  # fmt: skip
        assert all(raw[one.start : one.start + one.length] == one.text for one in event.passages)
    assert [[one.start, one.length, one.text] for one in task.passages] == marked


def test_only_a_persons_part_is_taken(whole: Path, tmp_path: Path) -> None:
    """A whole collection, a part of a model, an adjudicator's, and no database: none is a page's."""
    part = tmp_path / "p.db"
    with Collection(str(whole)) as opened:
        opened.hand_out("ann", part, program="x")
    for statement in (
        "UPDATE judge SET kind = 'model'",
        "UPDATE judge SET kind = 'adjudicator'",
        "UPDATE pool SET manifest = '{}'",
    ):
        with closing(sqlite3.connect(part, isolation_level=None)) as connection:
            connection.execute(statement)
        file = save(tmp_path / "x.jsonl", head_of(part), [])
        with pytest.raises(FormatError, match=r"x\.jsonl:1: expected the part of one judge"):
            merge(whole, file)
    for packed in ("", "AAAA", base64.b64encode(zlib.compress(b"SQLite" * 9)[:-3]).decode()):
        file = save(tmp_path / "y.jsonl", json.dumps({"pooler_page": 1, "part": packed}), [])
        with pytest.raises(FormatError, match="expected the part that the page holds"):
            merge(whole, file)
    file = save(tmp_path / "z.jsonl", head_of_bytes(b"no database " * 50), [])
    with pytest.raises(StoreError):
        merge(whole, file)


def head_of_bytes(data: bytes) -> str:
    """Pack what is no part."""
    return json.dumps({"pooler_page": 1, "part": base64.b64encode(zlib.compress(data)).decode()})


def test_page_of_an_older_pooler_is_merged(tmp_path: Path) -> None:
    """The part that 0.3 handed out, as a page would hold it: brought up, judged, taken in."""
    whole = unpack_today("written/built.db", tmp_path / "built.db")
    old = unpack("written/part.db", tmp_path / "part.db")
    with closing(sqlite3.connect(old)) as connection:
        (judge,) = connection.execute("SELECT name FROM judge").fetchone()
        topic, docno, latest = connection.execute(
            "SELECT t.number, d.docno, (SELECT coalesce(max(j.revision), 0) FROM judgement j WHERE"
            " j.topic_id = e.topic_id AND j.document_id = e.document_id) FROM pool_entry e"
            " JOIN topic t ON t.id = e.topic_id JOIN document d ON d.id = e.document_id"
        ).fetchone()
    step = record(docno, latest + 1, "note", topic=topic, note="from an old page")
    file = save(tmp_path / "old.jsonl", head_of(old), [step])
    found = merge(whole, file)
    assert found.is_done
    assert ("from an old page", judge) in {row[9:10] + row[:1] for row in done(whole)}


def test_evidence_of_a_page_is_of_the_raw_text(whole: Path, tmp_path: Path) -> None:
    """The page shows markup as readable text, and holds no fields; what is merged stands in the raw one."""
    raw = "<p>Tom &amp; <b>Jerry</b></p>"
    with Collection(str(whole)) as opened:
        fields = (("url", "http://secret.example"),)
        opened.documents.add([Document("a", "", raw, fields, "html")], replace=True)
    head = page_part(whole, "ann", tmp_path)
    packed = json.loads(head)["part"]
    assert b"secret" not in zlib.decompress(base64.b64decode(packed))
    file = save(tmp_path / "ann.jsonl", head, [record("a", 1, "mark", passages=[[4, 7, "& Jerry"]])])
    assert merge(whole, file).is_done
    with Collection(str(whole)) as opened:
        (event,) = [one for one in opened.judgements.history(["ann"]) if one.docno == "a"]
        assert opened.documents.get("a").fields == fields
    ((start, length, text),) = [(one.start, one.length, one.text) for one in event.passages]
    assert (raw[start : start + length], text) == ("&amp; <b>Jerry",) * 2
    assert [one for one in verify(collection_url(str(whole))) if one.n_faults] == []


@pytest.mark.parametrize(("then", "now"), [(None, "html"), ("html", "markdown")])
def test_evidence_is_what_the_page_showed(whole: Path, tmp_path: Path, then: str | None, now: str) -> None:
    """The organiser says later how texts are marked up: what was marked on the page is what is merged."""
    raw = "<p>Tom</p>\n<p>Tom and Jerry</p>"
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("a", "", raw, (), then)], replace=True)
    start = (raw if then is None else "Tom\n\nTom and Jerry").index("Tom and")
    marked = record("a", 1, "mark", passages=[[start, 7, "Tom and"]])
    file = save(tmp_path / "ann.jsonl", page_part(whole, "ann", tmp_path), [marked])
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("a", "", raw, (), now)], replace=True)
    assert merge(whole, file).is_done
    with Collection(str(whole)) as opened:
        (event,) = [one for one in opened.judgements.history(["ann"]) if one.docno == "a"]
        assert opened.documents.get("a").markup == now
    assert event.passages == (Passage(raw.index("Tom and"), 7, "Tom and"),)


def test_page_of_a_servers_collection_comes_back_to_it(postgres_url: str, tmp_path: Path) -> None:
    """A page of a PostgreSQL collection, with evidence, whose text the server has."""
    with Collection.create(postgres_url, name="w", scale=parse_scale("0-2"), program="x") as made:
        made.pools.add(make_pool({"1": ["a", "b"]}))
        made.documents.add([Document("a", "a", "text")])
        made.judges.add("ann", JudgeKind.HUMAN)
    steps = [record("a", 1, "mark", passages=[[0, 4, "text"]]), record("a", 2, "judge", grade=2)]
    file = save(tmp_path / "ann.jsonl", page_part(postgres_url, "ann", tmp_path), steps)
    assert merge(postgres_url, file).is_done
    assert grades(postgres_url, ["ann"]) == {("ann", "a"): 2}
