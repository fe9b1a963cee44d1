"""What a page saved is done again at the judge's desk: once, at its times, and nothing of a day is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.errors import ConflictError, FormatError, StoreError
from store.records import Action, Document, JudgeKind, Passage, State
from tests.helpers.run import run_inside
from tests.helpers.saved_pages import after, page_head, record, save
from tests.helpers.wine import copies, done, grades, make, work
from tests.helpers.world import JudgeAtWork, make_pool, parse_scale, stored_rows

TIMES = {"judge", "judged_at", "shown_at", "dwell_ms", "active_ms", "sitting"}
OTHER = "76543210"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a collection of four documents, in which ann has begun."""
    place = make(tmp_path / "whole.db")
    work(place, ("ann", "d", Action.JUDGE, 1), ("ann", "d", Action.MARK, "x"))
    return place


def take(place: Path | str, file: Path, **more: Any) -> tuple[int, int]:
    """Import what a page saved; return how many of its records are new, and how many were there."""
    with Collection(str(place)) as opened:
        found = opened.import_work(file, **more)
    assert not found.refused
    return found.new, found.there


def no_faults(place: Path | str) -> bool:
    """Verify a collection."""
    with Collection(str(place)) as opened:
        return [one for one in opened.verify() if one.n_faults] == []


STEPS = [
    record("a", 1, "judge", grade=2),
    record("b", 1, "skip", position=1),
    record("b", 2, "note", note="two\nlines, «é» 😀", position=1),
    record("c", 1, "cannot", reason="unreadable", position=2),
    record("a", 2, "mark", passages=[[5, 2, "of"]]),
    record("a", 3, "judge", grade=0),
    record("a", 4, "undo", undoes=3),
    record("d", 3, "note", note="still", position=3),
    record("d", 4, "undo", undoes=3, position=3),
    record("a", 5, "undo", undoes=2),
]


def test_saved_steps_are_what_a_desk_would_have_written(whole: Path, tmp_path: Path) -> None:
    """The same steps at a desk and on a page: every field is the same but for names and times."""
    alone = copies(whole, 1)[0]
    head = page_head(whole, "ann", tmp_path)
    assert take(whole, save(tmp_path / "ann.jsonl", head, STEPS)) == (10, 0)
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
    histories = []
    for place in (whole, alone):
        with Collection(str(place)) as opened:
            events = list(opened.judgements.history(["ann"]))
        fields = [name for name in type(events[0]).__slots__ if name not in TIMES]
        histories.append(
            {(one.docno, one.revision): [getattr(one, name) for name in fields] for one in events}
        )
    assert histories[0] == histories[1]
    with Collection(str(whole)) as opened:
        new = [one for one in opened.judgements.history(["ann"]) if one.sitting == 2]
    assert [one.judged_at for one in new] == [
        datetime.fromisoformat(after(head, 2 + place)) for place in range(10)
    ]
    assert {one.dwell_ms for one in new if one.action is not Action.UNDO} == {1000}
    assert no_faults(whole)


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
    take(whole, save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), steps))
    with Collection(str(whole)) as opened:
        rounds = {(one.docno, one.revision): one.iteration for one in opened.judgements.history(["ann"])}
    new = {(step["docno"], step["revision"]): rounds[step["docno"], step["revision"]] for step in steps}
    assert new == {("b", 2): "1", ("e", 1): "1", ("d", 3): "0", ("d", 4): "1", ("d", 5): "0"}


def test_importing_again_brings_what_is_new_alone(whole: Path, tmp_path: Path) -> None:
    """Twice the same file: nothing new. A later file of the same page: what was done since."""
    head = page_head(whole, "ann", tmp_path)
    first = save(tmp_path / "first.jsonl", head, STEPS[:6])
    assert take(whole, first) == (6, 0)
    before = stored_rows(str(whole))
    assert take(whole, first) == (0, 6)
    assert stored_rows(str(whole)) == before
    later = save(tmp_path / "later.jsonl", head, [*STEPS, record("a", 6, "judge", grade=1, window=OTHER)])
    assert take(whole, later) == (5, 6)
    assert take(whole, first) == (0, 6)
    assert len(stored_rows(str(whole))["sitting"]) == 3
    assert grades(whole, ["ann"])["ann", "a"] == 1


def test_import_goes_on_in_a_restored_backup(whole: Path, tmp_path: Path) -> None:
    """What was taken in is known again, and what comes later comes in."""
    head = page_head(whole, "ann", tmp_path)
    take(whole, save(tmp_path / "ann.jsonl", head, STEPS[:6]))
    backup, again = tmp_path / "backup.db", tmp_path / "again.db"
    run_inside("backup", backup, "--collection", whole).fine()
    run_inside("restore", backup, "--collection", again).fine()
    assert take(again, save(tmp_path / "ann.jsonl", head, STEPS)) == (4, 6)


def test_page_of_the_collection_that_was_exported_goes_by_its_history(whole: Path, tmp_path: Path) -> None:
    """A collection made of a folder has a secret of its own; the hint leads from one to the other."""
    file = save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), STEPS[:1])
    folder, again, events = tmp_path / "folder", tmp_path / "again.db", tmp_path / "history.jsonl"
    run_inside("export", "collection", folder, "--collection", whole).fine()
    assert b"secret" not in b"".join(one.read_bytes() for one in folder.rglob("*.jsonl"))
    run_inside("import", "collection", folder, "--collection", again).fine()
    with pytest.raises(ConflictError, match="did not sign") as caught:
        take(again, file)
    assert "import it there" in str(caught.value.hint)
    take(whole, file)
    run_inside("export", "judgements", "ann", "--history", "--out", events, "--collection", whole).fine()
    run_inside("import", "judgements", events, "--as", "jsonl", "--collection", again).fine()
    assert grades(again, ["ann"])["ann", "a"] == 2


def test_head_with_another_judge_is_refused(whole: Path, tmp_path: Path) -> None:
    """A judge who knows bob's identity and how a checksum is made: that file is not his work."""
    head, his = (page_head(whole, name, tmp_path) for name in ("ann", "bob"))
    forged = json.dumps(json.loads(head) | {"judge": json.loads(his)["judge"]})
    before = done(whole)
    for one in (forged, forged.replace(json.loads(head)["signature"], json.loads(his)["signature"])):
        with pytest.raises(ConflictError, match="a head that this collection did not sign"):
            take(whole, save(tmp_path / "ann.jsonl", one, STEPS[:1]))
    assert done(whole) == before


@pytest.mark.parametrize(
    "other",
    [
        STEPS[0] | {"grade": 1},
        record("a", 1, "skip"),
        STEPS[0] | {"shown_at": None},
        STEPS[1] | {"action": "cannot", "reason": "unreadable"},
        STEPS[2] | {"note": "another"},
        STEPS[3] | {"reason": "another"},
        STEPS[4] | {"passages": [[0, 4, "text"]]},
        record("a", 4, "note", note="n"),
    ],
    ids=lambda one: f"{one['action']} {one['docno']}",
)
def test_file_that_says_otherwise_of_a_moment_is_refused(
    other: dict[str, Any], whole: Path, tmp_path: Path
) -> None:
    """The same windows, numbers and moments with another grade: told by line, whatever is preferred."""
    head = page_head(whole, "ann", tmp_path)
    take(whole, save(tmp_path / "ann.jsonl", head, STEPS))
    (place,) = [
        place
        for place, one in enumerate(STEPS)
        if (one["docno"], one["revision"]) == (other["docno"], other["revision"])
    ]
    before = done(whole)
    file = save(tmp_path / "two.jsonl", head, [*STEPS[:place], other, *STEPS[place + 1 : 9]])
    for prefer in (None, "page"):
        with pytest.raises(FormatError, match="imported before of this moment") as caught:
            take(whole, file, prefer=prefer)
        assert [one.line for one in caught.value.faults] == [place + 2]
    assert done(whole) == before


def test_another_document_at_a_moment_is_refused(whole: Path, tmp_path: Path) -> None:
    """The same window, number and moment cannot be of two documents."""
    head = page_head(whole, "ann", tmp_path)
    take(whole, save(tmp_path / "ann.jsonl", head, STEPS[:1]))
    with pytest.raises(FormatError, match="imported before of this moment"):
        take(whole, save(tmp_path / "ann.jsonl", head, [record("b", 1, "judge", grade=2)]))


def test_same_file_is_known_after_the_text_was_replaced(whole: Path, tmp_path: Path) -> None:
    """Marked in HTML; other tags, the same words: the same file again is nothing new."""
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("a", "", "<p>Tom &amp; Jerry</p>", (), "html")], replace=True)
    head = page_head(whole, "ann", tmp_path)
    file = save(tmp_path / "ann.jsonl", head, [record("a", 1, "mark", passages=[[0, 3, "Tom"]])])
    assert take(whole, file) == (1, 0)
    with Collection(str(whole)) as opened:
        opened.documents.add(
            [Document("a", "", "<div><b>Tom</b> &amp; Jerry</div>", (), "html")], replace=True
        )
    assert take(whole, file) == (0, 1)


def test_what_was_refused_is_refused_again(whole: Path, tmp_path: Path) -> None:
    """A record that could not be stored among ones that were: it is not counted as there."""
    head = page_head(whole, "ann", tmp_path)
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("c", "c", "another text")], replace=True)
        steps = [record("c", 1, "mark", passages=[[0, 4, "text"]]), record("c", 2, "judge", grade=1)]
        file = save(tmp_path / "ann.jsonl", head, steps)
        found = [opened.import_work(file) for _ in range(2)]
    assert [(one.new, one.there, len(one.refused)) for one in found] == [(1, 0, 1), (0, 1, 1)]
    assert found[1].refused[0]["refused"] == "later work on the document was imported without it"


def test_page_without_a_step_brings_nothing(whole: Path, tmp_path: Path) -> None:
    """A page that was opened and saved."""
    assert take(whole, save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), [])) == (0, 0)


def test_changed_or_cut_file_is_refused(whole: Path, tmp_path: Path) -> None:
    """One grade another, a line gone, the end gone, other line ends: none is what the page saved."""
    file = save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), STEPS)
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
            take(whole, file)
        assert "save the file again in the page" in str(caught.value.hint)
    assert done(whole) == before


FORGED = [
    (record("e", 1, "judge", grade=1), "docno `e` is not on this page"),
    (record("a", 1, "judge", grade=1, topic="9"), "topic `9` docno `a` is not on this page"),
    (record("a", 1, "judge"), "`grade`: expected a value with the action judge"),
    (record("a", 1, "skip", grade=1), "`grade`: expected a value with the action judge, and with no other"),
    (record("a", 1, "reopen"), "`action`: expected one of judge, skip"),
    (record("d", 3, "undo", undoes=2), "`undoes`: expected what was done last in this window"),
    (record("a", 1, "note"), "`note`: expected a value with the action note"),
    (record("a", 1, "skip", reason="r"), "`reason`: expected words with the action cannot"),
    (record("a", 1, "skip", window="\ud800" * 16), "`window`: expected 16 hexadecimal digits"),
    (record("a", 1, "mark", passages=[[0, 4, "tixt"]]), "expected parts of the document's text"),
    (record("a", 1, "mark", passages=[[900, 1, "x"]]), "expected parts of the document's text"),
    ({"topic": "1"}, "expected the key `docno`, got none"),
    (record("a", 1, "skip", judge="bob"), "unknown key `judge`"),
    (record("a", 1, "judge", grade=1, judged_at="yesterday"), "`judged_at`: expected a moment"),
    (record("a", 1, "skip", number=2), "expected number 1 of a window"),
    (record("a", 1, "skip", judged_at="2026-01-01T00:00:00Z"), "expected a moment after the page was made"),
    (record("a", 1, "skip", shown_at="2026-01-01T00:00:00Z"), "`shown_at`: expected a moment after"),
    (record("a", 1, "skip", opened_at="2026-01-01T00:00:00Z"), "a window opened once, after the page was"),
]


@pytest.mark.parametrize(("step", "message"), FORGED)
def test_forged_step_is_refused(step: dict[str, object], message: str, whole: Path, tmp_path: Path) -> None:
    """With a right checksum, too, nothing comes in that no page could have written."""
    file = save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), [step])
    before = done(whole)
    with pytest.raises(FormatError) as caught:
        take(whole, file)
    assert {one.line for one in caught.value.faults} == {2}
    assert any(message in one.message for one in caught.value.faults)
    assert done(whole) == before


def test_records_of_another_page_are_refused(whole: Path, tmp_path: Path) -> None:
    """What ann did, under the head of bob's page: before her file is imported, and after; hers comes in."""
    head, his = page_head(whole, "ann", tmp_path), page_head(whole, "bob", tmp_path)
    hers = save(tmp_path / "ann.jsonl", head, STEPS[:2])
    window = json.loads(hers.read_text().splitlines()[1])["window"]
    forged = save(tmp_path / "bob.jsonl", his, [STEPS[1], STEPS[0] | {"window": window}])
    for _ in range(2):
        before = done(whole)
        with pytest.raises(FormatError, match="got a window of another page") as caught:
            take(whole, forged)
        assert [one.line for one in caught.value.faults] == [3]
        assert done(whole) == before
        take(whole, hers)


def test_first_event_is_undone_on_the_page_after_an_import(whole: Path, tmp_path: Path) -> None:
    """Nothing stands before it: the document is unjudged, in the round it was of."""
    head, undo = page_head(whole, "ann", tmp_path), record("a", 2, "undo", undoes=1)
    assert take(whole, save(tmp_path / "ann.jsonl", head, STEPS[:1])) == (1, 0)
    assert take(whole, save(tmp_path / "ann.jsonl", head, [STEPS[0], undo])) == (1, 1)
    with Collection(str(whole)) as opened:
        events = [one for one in opened.judgements.history(["ann"]) if one.docno == "a"]
    assert [(one.action, one.state, one.iteration) for one in events] == [
        (Action.JUDGE, State.JUDGED, "0"), (Action.UNDO, State.UNJUDGED, "0")]  # fmt: skip


def test_what_was_decided_in_a_restored_backup_is_a_conflict(whole: Path, tmp_path: Path) -> None:
    """Revisions begin again there: the page knows later ones, and what was decided since is not older."""
    backup = tmp_path / "backup.db"
    run_inside("backup", backup, "--collection", whole).fine()
    for grade in (0, 1):
        work(whole, ("ann", "a", Action.JUDGE, grade))
    head = page_head(whole, "ann", tmp_path)
    run_inside("restore", backup, "--replace", "--collection", whole).fine()
    work(whole, ("ann", "a", Action.JUDGE, 2))
    file = save(tmp_path / "ann.jsonl", head, [record("a", 3, "judge", grade=0)])
    with pytest.raises(ConflictError, match="topic 1 a: 0 on the page, 2 here"):
        take(whole, file)


def test_all_faults_are_told_at_once(whole: Path, tmp_path: Path) -> None:
    """Forged steps among good ones, and one that comes after a gap: all, by line."""
    steps = [STEPS[0], FORGED[0][0], STEPS[1], record("b", 3, "skip")]
    steps = [one | {"number": place} for place, one in zip((1, 2, 2, 3), steps, strict=True)]
    file = save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), steps)
    with pytest.raises(FormatError) as caught:
        take(whole, file)
    assert [fault.line for fault in caught.value.faults] == [3, 5]
    assert "expected revision 2 of this document, got 3" in caught.value.faults[1].message


def test_moments_ascend_and_are_past(whole: Path, tmp_path: Path) -> None:
    """A clock that was put back on the page shows in no file; one that was ahead is told, with what to do."""
    head = page_head(whole, "ann", tmp_path)
    back = [record("a", 1, "skip"), record("b", 1, "skip", judged_at=after(head, 2))]
    with pytest.raises(FormatError, match="after the record before"):
        take(whole, save(tmp_path / "ann.jsonl", head, back))
    ahead = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    file = save(tmp_path / "ann.jsonl", head, [record("a", 1, "skip", judged_at=ahead)])
    with pytest.raises(FormatError, match="is in the future: the clock of the page's computer") as caught:
        take(whole, file)
    assert caught.value.hint == "import it again when that moment has come, or this clock is right"


def test_file_of_another_collection_or_of_nobody_is_refused(whole: Path, tmp_path: Path) -> None:
    """Made at another moment, with other judges of the same names; erased since; disabled; no page's file."""
    other = make(tmp_path / "other.db", name="beer")
    file = save(tmp_path / "ann.jsonl", page_head(other, "ann", tmp_path), [STEPS[0]])
    with pytest.raises(ConflictError, match=r"ann.jsonl is of another collection"):
        take(whole, file)
    file = save(tmp_path / "bob.jsonl", page_head(whole, "bob", tmp_path), [STEPS[0]])
    run_inside("judges", "disable", "bob", "--collection", whole).fine()
    with pytest.raises(StoreError, match="judge `bob` is disabled"):
        take(whole, file)
    run_inside("judges", "erase", "bob", "--yes", "--collection", whole).fine()
    with pytest.raises(StoreError, match="a judge who is no longer in the collection"):
        take(whole, file)
    file.write_text("1 0 a 2\n")
    with pytest.raises(FormatError, match="expected what a page saved"):
        take(whole, file)


def test_renamed_judge_is_the_same_judge(whole: Path, tmp_path: Path) -> None:
    """A page knows its judge by identity: what was done comes in under the new name."""
    file = save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), [STEPS[0]])
    run_inside("judges", "rename", "ann", "anna", "--collection", whole).fine()
    take(whole, file)
    assert grades(whole, ["anna"])["anna", "a"] == 2


def test_work_on_older_guidelines_and_texts_is_stored_as_such(whole: Path, tmp_path: Path) -> None:
    """By the version that its judge read; evidence in a text that is gone is told apart, with the reason."""
    steps = [STEPS[0], record("b", 1, "mark", passages=[[0, 4, "text"]]), record("b", 2, "judge", grade=1),
             record("b", 3, "note", note="n"), record("b", 4, "undo", undoes=3)]  # fmt: skip
    head = page_head(whole, "ann", tmp_path)
    file = save(tmp_path / "ann.jsonl", head, steps)
    with Collection(str(whole)) as opened:
        opened.guidelines.add("# Two\n")
        opened.documents.add([Document("b", "b", "another text")], replace=True)
        found = opened.import_work(file)
        assert (found.new, len(found.refused)) == (4, 1)
        (refused,) = found.refused
        assert (refused["number"], refused["action"]) == (2, "mark")
        assert "has another text now" in refused["refused"]
        events = [one for one in opened.judgements.history(["ann"]) if one.docno != "d"]
        assert {(one.docno, one.guideline_version) for one in events} == {("a", 1), ("b", 1)}
        assert {one.document_sha256 for one in events if one.docno == "b"} == {
            json.loads(head)["documents"]["b"][0]
        }
    outdated = run_inside("status", "outdated", "--format", "tsv", "--collection", whole).fine().out
    assert [line.split("\t")[2] for line in outdated.splitlines()[1:]] == ["a", "b", "d"]
    assert grades(whole, ["ann"])["ann", "b"] == 1
    assert no_faults(whole)


def test_document_that_left_the_pool_is_judged_outside_it(whole: Path, tmp_path: Path) -> None:
    """Withdrawn since, or another judge's now: the decision is stored all the same, and counted."""
    head = page_head(whole, "ann", tmp_path)
    with Collection(str(whole)) as opened:
        opened.pools.withdraw("pool")
        opened.pools.add(make_pool({"1": ["b", "c"]}, name="later"))
        found = opened.import_work(save(tmp_path / "ann.jsonl", head, STEPS[:2]))
        assert (found.new, found.outside, found.refused) == (2, 1, [])
    run_inside("assign", "bob", "--collection", whole).fine()
    steps = [*STEPS[:2], record("c", 1, "judge", grade=2), record("b", 2, "judge", grade=0)]
    with Collection(str(whole)) as opened:
        found = opened.import_work(save(tmp_path / "ann.jsonl", head, steps))
        assert (found.new, found.outside) == (2, 2)
    assert grades(whole, ["ann"]) == {("ann", "a"): 2, ("ann", "b"): 0, ("ann", "c"): 2, ("ann", "d"): 1}
    assert no_faults(whole)


def test_two_answers_of_one_judge_stop_the_file_until_one_is_preferred(whole: Path, tmp_path: Path) -> None:
    """On the page and at the desk meanwhile: nothing comes in; then either stands, and both are kept."""
    head = page_head(whole, "ann", tmp_path)
    file = save(tmp_path / "ann.jsonl", head, [STEPS[0], STEPS[1]])
    work(whole, ("ann", "a", Action.JUDGE, 0))
    before = done(whole)
    with pytest.raises(ConflictError, match="topic 1 a: 2 on the page, 0 here") as caught:
        take(whole, file)
    assert "--prefer page or --prefer stored" in str(caught.value.hint)
    assert done(whole) == before
    for prefer, stands, n in (("page", 2, 2), ("stored", 0, 3)):
        (one,) = copies(whole, 1)
        take(one, file, prefer=prefer)
        assert grades(one, ["ann"])["ann", "a"] == stands
        with Collection(str(one)) as opened:
            events = [event for event in opened.judgements.history(["ann"]) if event.docno == "a"]
        assert [event.grade for event in events] == [0, 2, 0][:n]
        assert no_faults(one)
        # What was said once holds for what was done up to then.
        assert take(one, file) == (0, 2)
        more = [STEPS[0], STEPS[1], record("a", 2, "undo", undoes=1)]
        take(one, save(tmp_path / "more.jsonl", head, more))
        assert grades(one, ["ann"])["ann", "a"] == 0


@pytest.mark.parametrize(
    ("here", "there", "stands"),
    [
        ((Action.SKIP, ""), record("a", 1, "judge", grade=2), 2),
        ((Action.JUDGE, 1), record("a", 1, "skip"), 1),
        ((Action.JUDGE, 1), record("a", 1, "judge", grade=1), 1),
        ((Action.JUDGE, 1), record("a", 1, "note", note="n"), 1),
        ((Action.NOTE, "m"), record("a", 1, "cannot", reason="r"), "cannot"),
    ],
)
def test_decision_wins_against_what_is_none(
    here: tuple[Action, Any], there: dict[str, Any], stands: object, whole: Path, tmp_path: Path
) -> None:
    """A skip, a note, the same decision twice are no conflict: a decision stands, wherever it was made."""
    file = save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), [there])
    work(whole, ("ann", "a", *here))
    take(whole, file)
    assert grades(whole, ["ann"])["ann", "a"] == stands
    with Collection(str(whole)) as opened:
        (line,) = [one for one in opened.judgements.current(["ann"]) if one.docno == "a"]
    assert line.note == ("n" if there["note"] else "m" if here[0] is Action.NOTE else "")
    assert take(whole, file) == (0, 1)


def test_undo_on_the_page_takes_back_nothing_that_was_decided_elsewhere(whole: Path, tmp_path: Path) -> None:
    """Imported, decided anew at the desk, then undone on the page: the desk's decision stands."""
    head = page_head(whole, "ann", tmp_path)
    take(whole, save(tmp_path / "ann.jsonl", head, [STEPS[0]]))
    work(whole, ("ann", "a", Action.JUDGE, 0))
    file = save(tmp_path / "ann.jsonl", head, [STEPS[0], record("a", 2, "undo", undoes=1)])
    with Collection(str(whole)) as opened:
        found = opened.import_work(file)
        assert [one["refused"] for one in found.refused] == [
            "the document was decided elsewhere since what it takes back"
        ]
    assert grades(whole, ["ann"])["ann", "a"] == 0


def test_two_files_of_one_page_that_went_apart(whole: Path, tmp_path: Path) -> None:
    """Opened in two browsers: what both have is one; where they differ it is a conflict."""
    head = page_head(whole, "ann", tmp_path)
    one = save(tmp_path / "one.jsonl", head, [STEPS[0], record("b", 1, "judge", grade=1)])
    two = save(tmp_path / "two.jsonl", head, [STEPS[0], record("b", 1, "judge", grade=2, window=OTHER),
                                             record("c", 1, "judge", grade=2, window=OTHER)])  # fmt: skip
    assert take(whole, one) == (2, 0)
    with pytest.raises(ConflictError, match="topic 1 b: 2 on the page, 1 here"):
        take(whole, two)
    assert take(whole, two, prefer="page") == (2, 1)
    assert grades(whole, ["ann"]) == {("ann", "a"): 2, ("ann", "b"): 2, ("ann", "c"): 2, ("ann", "d"): 1}


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
    file = save(tmp_path / "ann.jsonl", page_head(tmp_path / "w.db", "ann", tmp_path),
                [record("a", 1, "mark", passages=marked), record("a", 2, "judge", grade=1)])  # fmt: skip
    take(tmp_path / "w.db", file)
    with Collection(str(tmp_path / "w.db")) as made:
        events = list(made.judgements.history())
        (task,) = made.desk("ann").queue("1")
    for event in events:
        assert [raw[one.start : one.start + one.length] for one in event.passages] == [
            "b\x1b[2J 😀 end.", "לילה\u202e"]  # fmt: skip
        assert all(raw[one.start : one.start + one.length] == one.text for one in event.passages)
    assert [[one.start, one.length, one.text] for one in task.passages] == marked


@pytest.mark.parametrize(("then", "now"), [(None, "html"), ("html", "markdown")])
def test_evidence_is_what_the_page_showed(whole: Path, tmp_path: Path, then: str | None, now: str) -> None:
    """The organiser says later how texts are marked up: what was marked on the page is what is stored."""
    raw = "<p>Tom</p>\n<p>Tom and Jerry</p>"
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("a", "", raw, (), then)], replace=True)
    start = (raw if then is None else "Tom\n\nTom and Jerry").index("Tom and")
    marked = record("a", 1, "mark", passages=[[start, 7, "Tom and"]])
    file = save(tmp_path / "ann.jsonl", page_head(whole, "ann", tmp_path), [marked])
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("a", "", raw, (), now)], replace=True)
    take(whole, file)
    with Collection(str(whole)) as opened:
        (event,) = [one for one in opened.judgements.history(["ann"]) if one.docno == "a"]
        assert opened.documents.get("a").markup == now
    assert event.passages == (Passage(raw.index("Tom and"), 7, "Tom and"),)


def test_page_of_a_servers_collection_comes_back_to_it(postgres_url: str, tmp_path: Path) -> None:
    """A page of a PostgreSQL collection, with evidence, whose text the server has; claimed places, too."""
    with Collection.create(postgres_url, name="w", scale=parse_scale("0-2"), program="x") as made:
        made.pools.add(make_pool({"1": ["a", "b"]}))
        made.documents.add([Document("a", "a", "text")])
        made.judges.add("ann", JudgeKind.HUMAN)
        made.judges.add("bob", JudgeKind.HUMAN)
    steps = [record("a", 1, "mark", passages=[[0, 4, "text"]]), record("a", 2, "judge", grade=2)]
    file = save(tmp_path / "ann.jsonl", page_head(postgres_url, "ann", tmp_path), steps)
    assert take(postgres_url, file) == (2, 0)
    assert take(postgres_url, file) == (0, 2)
    assert grades(postgres_url, ["ann"]) == {("ann", "a"): 2}


def test_no_adaptive_pool_is_on_a_page_and_only_people_judge_on_one(judged: Path) -> None:
    """What comes next would depend on what was judged; models and adjudicators have other ways."""
    collection = judged / "collection.db"
    for words in (["pool", "--strategy", "mtf", "--budget", "3", "--name", "live"],
                  ["judges", "add", "ann"], ["judges", "add", "ada", "--kind", "adjudicator"]):  # fmt: skip
        run_inside(*words, "--collection", collection).fine()
    page = judged / "ann.html"
    refused = run_inside("export", "work", "ann", "--out", page, "--collection", collection)
    assert (refused.code, "a pool here is adaptive" in refused.err) == (1, True)
    assert "is an adjudicator" in run_inside("export", "work", "ada", "--collection", collection).err
    assert not page.exists()


def test_what_cannot_be_stored_is_written_before_the_rest_is_stored(whole: Path, tmp_path: Path) -> None:
    """Killed in between, or with no place for it: nothing is in, and the same command brings all of it."""
    head = page_head(whole, "ann", tmp_path)
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("c", "c", "another text")], replace=True)
    steps = [STEPS[0], record("c", 1, "mark", passages=[[0, 4, "text"]])]
    file, before = save(tmp_path / "ann.jsonl", head, steps), done(whole)
    refused = Path(f"{file}.refused.jsonl")
    refused.mkdir()
    run_inside("import", "work", file, "--collection", whole).failed(1)
    assert done(whole) == before
    refused.rmdir()
    run_inside("import", "work", file, "--collection", whole).fine()
    assert json.loads(refused.read_text())["action"] == "mark"
    assert grades(whole)["ann", "a"] == 2


def test_command_imports_every_file_it_can(whole: Path, tmp_path: Path) -> None:
    """One of three files is in conflict, one has a record that cannot be stored: the rest comes in."""
    heads = {judge: page_head(whole, judge, tmp_path) for judge in ("ann", "bob", "cy")}
    work(whole, ("bob", "a", Action.JUDGE, 0))
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("c", "c", "another text")], replace=True)
    steps = {
        "ann": [STEPS[0]],
        "bob": [STEPS[0]],
        "cy": [record("c", 1, "mark", passages=[[0, 4, "text"]]), record("c", 2, "judge", grade=1)],
    }
    files = {judge: save(tmp_path / f"{judge}.jsonl", heads[judge], steps[judge]) for judge in heads}
    answer = run_inside("import", "work", *files.values(), "--collection", whole)
    assert answer.code == 1
    assert f"{files['ann']}: 1 new event of `ann`" in answer.err
    assert "`bob` decided otherwise elsewhere since the page was made" in answer.err
    assert "1 of 3 files not imported" in answer.err
    refused = Path(f"{files['cy']}.refused.jsonl")
    (line,) = map(json.loads, refused.read_text().splitlines())
    assert (line["action"], line["passages"]) == ("mark", [[0, 4, "text"]])
    assert refused.stat().st_mode & 0o777 == 0o600
    assert grades(whole) == {("ann", "a"): 2, ("ann", "d"): 1, ("bob", "a"): 0, ("cy", "c"): 1}
    answer = run_inside("import", "work", files["bob"], "--prefer", "page", "--collection", whole).fine()
    assert grades(whole)["bob", "a"] == 2
