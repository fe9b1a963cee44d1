"""Copies of a collection that were judged apart, merged: real files, real desks, both engines."""

from __future__ import annotations

import itertools
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from store.collection import Collection
from store.content.draws import Draw
from store.db.engine import collection_url, writing
from store.db.tables import RUN
from store.errors import ArgumentError, ConflictError, SchemaError, StoreError, UnknownNameError
from store.keeping.copying import copy_collection
from store.keeping.merge.copies import SettleRule, Take
from store.keeping.merge.histories import HowToSettle
from store.keeping.merge.merge import merge as merge_into
from store.keeping.verify import verify
from store.records import Action, Document, JudgeKind, State, Topic
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, make_run, stored_rows
from tests.store.drawing import Watched, adaptive_pool, ends
from tests.store.keeping.merge.apart import (
    DOCNOS,
    JUDGES,
    bytes_of,
    copies,
    done,
    export,
    grades,
    make,
    merge,
    work,
)
from tests.store.places import held_place, let_lapse, places
from tests.strategies import examples

JUDGE, SKIP, CANNOT, NOTE, MARK, UNDO = (
    Action.JUDGE, Action.SKIP, Action.CANNOT, Action.NOTE, Action.MARK, Action.UNDO,
)  # fmt: skip
APART = (
    [("ann", "a", JUDGE, 1), ("ann", "b", JUDGE, 2), ("bob", "a", NOTE, "one"),
     ("ann", "c", CANNOT, "torn"), ("ann", "d", JUDGE, 0)],
    [("ann", "a", JUDGE, 2), ("ann", "b", SKIP, ""), ("bob", "a", MARK, "x"),
     ("ann", "c", CANNOT, "blank"), ("ann", "d", UNDO, None), ("cy", "a", JUDGE, 0)],
    [("ann", "a", JUDGE, 0), ("bob", "b", JUDGE, 1), ("bob", "b", UNDO, None)],
)  # fmt: skip
"""What is done on three copies; `a` is a conflict of ann's."""


@pytest.fixture
def apart(tmp_path: Path) -> list[Path]:
    """Make three copies of a collection, each judged on."""
    made = copies(make(tmp_path / "whole.db"), 3)
    for place, steps in zip(made, APART, strict=True):
        work(place, *steps)
    return made


def test_any_order_gives_the_same_bytes(apart: list[Path], tmp_path: Path) -> None:
    """`export collection` of three copies is the same in all six orders, and all at once."""
    with Collection(str(apart[1])) as opened:
        opened.pools.add(make_pool({"1": ["a", "x"]}, name="later", round="1"))
        opened.guidelines.add("# Two\n")
    with Collection(str(apart[2])) as opened:
        ranked = {"1": [("y", 2.0), ("a", 1.0)], "2": [("x", 1.0)]}
        opened.runs.add(make_run("bm25", ranked, sha256="0" * 64))
        opened.pools.add(make_pool({"1": ["y"]}, name="late", run_tags=("bm25",)))
        opened.documents.add([Document("y", "y", "text of y")])
    exports = []
    for order in itertools.permutations(apart):
        place = tmp_path / f"{len(exports)}.db"
        shutil.copy(order[0], place)
        if exports:
            merge(place, order[1], rule=SettleRule.LATEST)
            merge(place, order[2], rule=SettleRule.LATEST)
        else:
            merge(place, *order[1:], rule=SettleRule.LATEST)
        assert [one for one in verify(collection_url(str(place))) if one.n_faults] == []
        exports.append(export(place, tmp_path / f"export-{len(exports)}"))
    assert all(one == exports[0] for one in exports)
    assert {"runs.tsv", "pools/late.tsv"} <= exports[0].keys()


def test_merging_twice_changes_no_row(apart: list[Path]) -> None:
    """The same copies once more, or the collection's own descendant: every row stays."""
    place = apart[0]
    assert not merge(place, *apart[1:], rule=SettleRule.HIGHEST).is_nothing_new
    before = stored_rows(str(place))
    child = shutil.copy(place, place.with_name("child.db"))
    for others in (apart[1:], [apart[2]], [child]):
        again = merge(place, *others)
        assert again.is_done
        assert again.is_nothing_new
        assert stored_rows(str(place)) == before


def test_judges_who_share_nothing_are_as_on_one_machine(tmp_path: Path) -> None:
    """Each judge on a copy of their own: the merge is what one machine would hold."""
    alone, start = make(tmp_path / "alone.db"), make(tmp_path / "start.db")
    steps: dict[str, list[Any]] = {
        "ann": [("ann", "a", JUDGE, 1), ("ann", "b", SKIP, "later"), ("ann", "a", JUDGE, 2),
                ("ann", "a", UNDO, None)],
        "bob": [("bob", "a", CANNOT, "torn"), ("bob", "b", MARK, "x"), ("bob", "b", JUDGE, 0)],
        "cy": [("cy", "d", NOTE, "備考"), ("cy", "d", UNDO, None), ("cy", "a", JUDGE, 0)],
    }  # fmt: skip
    work(alone, *itertools.chain(*steps.values()))
    made = copies(start, 3)
    for place, own in zip(made, steps.values(), strict=True):
        work(place, *own)
    found = merge(start, *made)
    assert (found.is_done, found.conflicts) == (True, [])
    assert done(start) == done(alone)
    assert [(one.judge, one.new, one.there) for one in found.judges] == [
        ("ann", 4, 0), ("bob", 3, 0), ("cy", 3, 0),
    ]  # fmt: skip


def test_events_of_both_copies_are_told_as_new_or_there(tmp_path: Path) -> None:
    """Of a grade that two copies changed apart, each has the old event, there already, and a new one."""
    start = make(tmp_path / "whole.db")
    work(start, ("ann", "a", JUDGE, 0))
    made = copies(start, 2)
    for grade, place in enumerate(made, start=1):
        work(place, ("ann", "a", JUDGE, grade))
    [count] = merge(start, *made, rule=SettleRule.HIGHEST).judges
    assert (count.judge, count.new, count.there) == ("ann", 2, 2)


@pytest.mark.slow
@settings(max_examples=examples(20))
@given(data=st.data())
def test_histories_of_any_making_merge_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """1 to 3 judges on 2 or 3 copies, with merges in between and work after them."""
    folder = tmp_path_factory.mktemp("any")
    made = copies(make(folder / "whole.db"), data.draw(st.integers(2, 3)))
    step = st.tuples(st.sampled_from(JUDGES), st.sampled_from(DOCNOS[:2]),
                     st.sampled_from([JUDGE, JUDGE, SKIP, CANNOT, NOTE, MARK, UNDO]),
                     st.integers(0, 2))  # fmt: skip
    for _ in range(data.draw(st.integers(2, 4))):
        copy = data.draw(st.sampled_from(made))
        if data.draw(st.integers(0, 3)):
            work(copy, *data.draw(st.lists(step, min_size=1, max_size=5)))
        else:
            merge(copy, *(one for one in made if one is not copy), rule=SettleRule.LOWEST)
    found = []
    for number, order in enumerate((made, made[::-1])):
        place = folder / f"result-{number}.db"
        shutil.copy(order[0], place)
        for other in order[1:]:
            assert merge(place, other, rule=SettleRule.LOWEST).is_done
        assert [one for one in verify(collection_url(str(place))) if one.n_faults] == []
        with Collection(str(place)) as opened:
            found.append(list(opened.judgements.history()))
    assert found[0] == found[1]


def test_conflict_without_a_rule_changes_nothing(apart: list[Path]) -> None:
    """All conflicts are told - what each copy says, what rules would choose - and no byte moves."""
    before = bytes_of(apart)
    found = merge(apart[0], *apart[1:])
    assert not found.is_done
    [conflict] = found.conflicts
    assert (conflict.topic, conflict.docno, conflict.judge) == ("1", "a", "ann")
    assert [(one.copies, one.outcome.grade) for one in conflict.versions] == [
        (("this collection",), 1), ((str(apart[1]),), 2), ((str(apart[2]),), 0),
    ]  # fmt: skip
    assert {rule.value: take.grade for rule, take in conflict.would.items()} == {
        "latest": 0, "earliest": 1, "highest": 2, "lowest": 0, "unjudged": None,
    }  # fmt: skip
    assert bytes_of(apart) == before


def test_trial_tells_all_and_changes_nothing(apart: list[Path]) -> None:
    """`dry_run` counts what would come; the same without it then does just that."""
    before = bytes_of(apart)
    trial = merge(apart[0], *apart[1:], rule=SettleRule.LATEST, dry_run=True)
    assert (trial.is_done, bytes_of(apart)) == (False, before)
    real = merge(apart[0], *apart[1:], rule=SettleRule.LATEST)
    assert (trial.judges, trial.copies) == (real.judges, real.copies)
    assert grades(apart[0])["ann", "a"] == 0
    assert bytes_of(apart[1:]) == before[1:]
    ann = real.judges[0]
    assert (ann.new, dict(ann.settled)) == (5, {"latest": 1, "decision": 2})


def test_merge_is_no_trial_unless_asked(tmp_path: Path) -> None:
    """Without `dry_run`, what a copy has is there afterwards."""
    start = make(tmp_path / "whole.db")
    [other] = copies(start, 1)
    work(other, ("ann", "a", JUDGE, 2))
    with engine_of(str(start)) as engine:
        assert merge_into(engine, [(collection_url(str(other)), "other")], HowToSettle()).is_done
    assert grades(start)["ann", "a"] == 2


def test_rules_and_hands_settle(apart: list[Path]) -> None:
    """Unjudged puts it back before the judge; by hand goes before the rule."""
    start = apart[0].with_name("again.db")
    shutil.copy(apart[0], start)
    merge(apart[0], *apart[1:], rule=SettleRule.UNJUDGED)
    assert grades(apart[0])["ann", "a"] == "unjudged"
    with Collection(str(apart[0])) as opened:
        assert opened.desk("ann").inbox()[0].left == 1
    takes = {("1", "a", "ann"): Take(State.JUDGED, 1)}
    with Collection(str(start)) as opened_again:
        others = [str(place) for place in apart[1:]]
        found = opened_again.merge(others, HowToSettle(SettleRule.HIGHEST, takes))
        assert found.conflicts[0].settled == "by hand"
        assert grades(start)["ann", "a"] == 1
        assert opened_again.merge(others, HowToSettle(None, takes)).is_nothing_new
        for wrong, error in (
            ({("1", "b", "ann"): Take(State.JUDGED, 1)}, UnknownNameError),
            ({("1", "a", "ann"): Take(State.CANNOT)}, ConflictError),
        ):
            with pytest.raises(error):
                opened_again.merge(others, HowToSettle(None, wrong))


def test_judge_at_work_sees_a_merge_as_another_machine(apart: list[Path]) -> None:
    """A desk that was open finds its document changed, and goes on with all others."""
    with Collection(str(apart[0])) as opened:
        sitting = JudgeAtWork(opened.desk("ann"), "1")
        sitting.grade("d", 1)
        merge(apart[0], *apart[1:], rule=SettleRule.LATEST)
        with pytest.raises(ConflictError, match="somewhere else"):
            sitting.grade("a", 2)
        sitting.look()
        assert sitting.grade("a", 2).grade == 2
        assert sitting.undo() is not None
        assert sitting.tasks["a"].grade == 0
    assert [one for one in verify(collection_url(str(apart[0]))) if one.n_faults] == []


@pytest.mark.slow
def test_judge_at_work_on_a_server_loses_nothing(apart: list[Path], postgres_url: str) -> None:
    """While copies are merged, a desk waits or is told of a conflict; what was saved is there."""
    copy_collection(collection_url(str(apart[0])), collection_url(postgres_url))
    stop, saved, broken = threading.Event(), [], []

    def judge() -> None:
        with Collection(postgres_url) as opened:
            sitting = JudgeAtWork(opened.desk("ann"), "1")
            while not stop.is_set():
                for docno in ("a", "b"):
                    try:
                        task = sitting.grade(docno, len(saved) % 3)
                        saved.append((docno, task.grade, task.judged_at))
                    except ConflictError:
                        sitting.look()
                    except BaseException as error:
                        broken.append(error)
                        raise

    thread = threading.Thread(target=judge)
    thread.start()
    try:
        for other in (apart[1], apart[2], apart[1]):
            time.sleep(0.1)
            assert merge(postgres_url, other, rule=SettleRule.LATEST).is_done
    finally:
        stop.set()
        thread.join(30)
    assert broken == []
    assert len(saved) > 2
    with Collection(postgres_url) as opened:
        there = {(one.docno, one.grade, one.judged_at) for one in opened.judgements.history(["ann"])}
    assert there.issuperset(saved)
    assert [one for one in verify(collection_url(postgres_url)) if one.n_faults] == []


@pytest.mark.slow
def test_copies_meet_on_either_engine(apart: list[Path], postgres_url: str, tmp_path: Path) -> None:
    """A PostgreSQL copy into a file, and a file into PostgreSQL: the same bytes both ways."""
    copy_collection(collection_url(str(apart[1])), collection_url(postgres_url))
    merge(apart[0], postgres_url, apart[2], rule=SettleRule.EARLIEST)
    merge(postgres_url, apart[2], apart[0], rule=SettleRule.EARLIEST)
    files = export(apart[0], tmp_path / "file")
    assert export(postgres_url, tmp_path / "server") == files
    assert merge(postgres_url, apart[0]).is_nothing_new
    assert merge(apart[0], postgres_url).is_nothing_new


@pytest.mark.slow
def test_rulings_and_draws_do_not_go_by_the_order_of_merging(tmp_path: Path) -> None:
    """The later ruling of two adjudicators counts, and the grade that has stood the longest.

    Zoe ruled 2 on one laptop and then Yan 0 on another; Ann gave 1 before Cy gave 0.
    """
    start = make(tmp_path / "whole.db")
    with Collection(str(start)) as opened:
        for name in ("zoe", "yan"):
            opened.judges.add(name, JudgeKind.ADJUDICATOR)
        opened.pools.add(adaptive_pool({"1": "ab"}, budget=1))
        assert opened.pools.draw("live", "1", ends("ab")) == "a"
    work(start, ("ann", "b", JUDGE, 0), ("bob", "b", JUDGE, 2))
    made = copies(start, 2)
    for place, adjudicator, ruling, (judge, grade) in zip(
        made, ("zoe", "yan"), (2, 0), (("ann", 1), ("cy", 0)), strict=True
    ):
        work(place, (judge, "a", JUDGE, grade))
        with Collection(str(place)) as opened:
            JudgeAtWork(opened.adjudication_desk(adjudicator), "1").grade("b", ruling)
    for number, order in enumerate((made, made[::-1])):
        place = Path(shutil.copy(start, tmp_path / f"merged-{number}.db"))
        for other in order:
            assert merge(place, other).is_done
        with Collection(str(place)) as opened:
            names = opened.disagreements.judge_names()
            [ruling] = [one.ruling for one in opened.disagreements.all() if one.docno == "b"]
            assert ruling is not None
            assert (names[ruling.judge], ruling.given_grade) == ("yan", 0)
            told = Watched(lambda _draws: None)
            opened.pools.add(adaptive_pool({"1": "a"}, budget=2, name="more"))
            assert opened.pools.draw("more", "1", lambda _draws: "a") == "a"
            opened.pools.draw("more", "1", told)
            assert told.told == [Draw("a", 1)]


def test_clocks_order_nothing_that_events_order(tmp_path: Path) -> None:
    """A laptop a year behind: its second decision still comes after its first."""
    start = make(tmp_path / "whole.db")
    work(start, ("ann", "a", JUDGE, 0))
    [late] = copies(start, 1)
    work(late, ("ann", "a", JUDGE, 2))
    change_stored(str(late), "UPDATE judgement SET judged_at = '2001-01-01 00:00:00.000000',"
                       " checksum = NULL WHERE revision = 2")  # fmt: skip
    assert merge(start, late).conflicts == []
    assert grades(start)["ann", "a"] == 2


# What cannot come together


def test_what_differs_is_refused_with_every_difference(tmp_path: Path) -> None:
    """Another text, run, pool, guideline of one name or number: all are told, and nothing moves."""
    start = make(tmp_path / "whole.db")
    [other] = copies(start, 1)
    for place, word in ((start, "here"), (other, "there")):
        with Collection(str(place)) as opened:
            opened.guidelines.add(f"# {word}\n")
            opened.runs.add(make_run("bm25", {"1": [("a", 1.0)]}, sha256=word))
            opened.pools.add(make_pool({"1": ["a"]}, name="p", round=word))
            opened.documents.add([Document("a", "a", word)], replace=True)
            opened.topics.add([Topic("2", word)])
            opened.judges.add("dee", JudgeKind.HUMAN if word == "here" else JudgeKind.MODEL)
    before = bytes_of([start, other])
    with pytest.raises(ConflictError) as caught:
        merge(start, other)
    told = caught.value.message.splitlines()
    expected = ("judge `dee` is of kind model, here human", "topic `2` has another text",
                "document `a` has another text", "version 2 of the guidelines has another text",
                "run `bm25` is another file",
                "pool `p` has another round or order there")  # fmt: skip
    assert len(told) == len(expected)
    for line, words in zip(told, expected, strict=True):
        assert line.startswith(f"{other}: {words}")
    assert "nothing was merged" in str(caught.value.hint)
    assert bytes_of([start, other]) == before


def test_other_collections_are_refused_in_one_line(tmp_path: Path) -> None:
    """Another collection, another scale, itself, nothing, something else, an older schema."""
    start = make(tmp_path / "whole.db")
    before = start.read_bytes()
    with pytest.raises(ConflictError, match=r"beer.db is another collection \(`beer`, made "):
        merge(start, make(tmp_path / "beer.db", name="beer"))
    [scaled, old] = copies(start, 2)
    change_stored(str(scaled), "UPDATE collection SET scale = replace(scale, 'relevant', 'good')")
    with pytest.raises(ConflictError, match="another scale"):
        merge(start, scaled)
    change_stored(str(old), "UPDATE alembic_version SET version_num = '0003'")
    with pytest.raises(SchemaError, match="older schema 0003") as caught:
        merge(start, old)
    assert f"pooler upgrade --collection {old}" in str(caught.value.hint)
    link = tmp_path / "link.db"
    link.symlink_to(start)
    with pytest.raises(ArgumentError, match="must be another collection than this one"):
        merge(start, link)
    with pytest.raises(StoreError, match="there is no collection at"):
        merge(start, tmp_path / "none.db")
    (tmp_path / "text").write_text("no database")
    with pytest.raises(StoreError, match="text"):
        merge(start, tmp_path / "text")
    assert start.read_bytes() == before


def test_nothing_is_left_beside_a_copy(apart: list[Path]) -> None:
    """Reading leaves no log behind, and the bytes as they were."""
    before = bytes_of(apart[1:])
    merge(apart[0], *apart[1:], rule=SettleRule.LATEST)
    assert bytes_of(apart[1:]) == before
    beside = {path.name for path in apart[0].parent.iterdir()}
    assert not {name for name in beside if name.endswith(("-wal", "-shm"))}


# Everything beside judgements


def test_names_and_erasures_travel(tmp_path: Path) -> None:
    """The name given last stands; who was erased on one copy is erased, and never comes back.

    What is counted is what there was where the judge was erased, one judgement: what other copies
    still have of it would depend on the order of merging.
    """
    start = make(tmp_path / "whole.db")
    work(start, ("ann", "a", JUDGE, 1), ("bob", "a", JUDGE, 1))
    [first, second, third] = copies(start, 3)
    with Collection(str(first)) as opened:
        opened.judges.rename("ann", "anna")
        opened.erasures.erase("bob")
    work(second, ("ann", "b", JUDGE, 2), ("bob", "b", JUDGE, 2))
    sought = ((start, (first, second)), (third, (second, first)), (first, (second,)),
              (second, (first,)))  # fmt: skip
    for place, others in sought:
        found = merge(place, *others)
        assert found.is_done
        assert grades(place, ["anna"]) == {("anna", "a"): 1, ("anna", "b"): 2}
        with Collection(str(place)) as opened:
            assert [one.name for one in opened.judges.all()] == ["anna", "cy"]
        if place is not second:
            [left] = [copy for copy in found.copies if copy.name == str(second)]
            assert left.left_out == {"events of judges who were erased": 2}
        assert found.erased == ([] if place is first else ["bob"])
    tombstones = {place: stored_rows(str(place))["erasure"] for place, _ in sought}
    assert {len(rows) for rows in tombstones.values()} == {1}
    assert {rows[0][3:5] for rows in tombstones.values()} == {(1, 1)}
    assert {rows[0][1] for rows in tombstones.values()} == {tombstones[first][0][1]}


@pytest.mark.parametrize("n_first", [0, 1, 2])
def test_erased_judge_counts_alike_in_any_order(tmp_path: Path, n_first: int) -> None:
    """Copies that still have different work of an erased judge, merged before or after."""
    start = make(tmp_path / "whole.db")
    [erased, *others] = copies(start, 3)
    with Collection(str(erased)) as opened:
        opened.erasures.erase("bob")
    work(others[0], ("bob", "a", JUDGE, 1), ("bob", "b", JUDGE, 1), ("ann", "a", JUDGE, 1))
    work(others[1], ("bob", "c", JUDGE, 2))
    order = [*others[:n_first], erased, *others[n_first:]]
    for other in order:
        merge(start, other)
    with Collection(str(start)) as opened:
        assert [(one.judgements, one.events) for one in opened.erasures.all()] == [(0, 0)]
        assert [one.name for one in opened.judges.all()] == ["ann", "cy"]
        assert [one.judge for one in opened.judgements.history()] == ["ann"]


def test_notes_taken_away_on_one_copy_do_not_come_back(tmp_path: Path) -> None:
    """Made anonymous without notes: an older copy brings the work, none of the old words.

    Not in events made there later that had kept a note; a new note is new, and comes.
    """
    start = make(tmp_path / "whole.db")
    work(start, ("ann", "a", JUDGE, 1), ("ann", "a", NOTE, "ask Eve"), ("ann", "b", CANNOT, "torn"))
    [bare, older] = copies(start, 2)
    with Collection(str(bare)) as opened:
        opened.judges.anonymise(["ann"], without_notes=True)
    work(older, ("ann", "a", JUDGE, 2), ("ann", "c", NOTE, "new"), ("ann", "b", MARK, "x"))
    found = []
    for place, others in ((start, (older, bare)), (older, (bare,)), (bare, (older,))):
        copy = Path(shutil.copy(place, place.with_suffix(".merged")))
        told = merge(copy, *others)
        assert (told.n_emptied, told.conflicts) == ({start: 2, older: 4, bare: 0}[place], [])
        assert merge(copy, *others).is_nothing_new
        if place is not start:
            assert not any(word in copy.read_bytes() for word in (b"ask Eve", b"torn"))
        found.append(done(copy))
    assert found[0] == found[1] == found[2]
    assert [one[9] for one in found[0] if one[9]] == ["new"]
    assert [one[8] for one in found[0] if one[8]] == []
    assert [(one[1:4]) for one in found[0]] == [
        ("a", 1, "judge"), ("a", 2, "note"), ("a", 3, "judge"), ("b", 1, "cannot"),
        ("b", 2, "mark"), ("c", 1, "note"),
    ]  # fmt: skip


def test_topics_keep_every_text(tmp_path: Path) -> None:
    """A text corrected on one copy is the text of now; one version with two texts is a fault."""
    start = make(tmp_path / "whole.db")
    [first, second] = copies(start, 2)
    with Collection(str(first)) as opened:
        opened.topics.add([Topic("1", "wine and cheese", "d", "n")], replace=True)
    assert merge(start, first).copies[0].changed["topics"] == 1
    with Collection(str(start)) as opened:
        assert opened.topics.all()[0].title == "wine and cheese"
    assert [row[1] for row in stored_rows(str(start))["topic_version"]] == [1]
    with Collection(str(second)) as opened:
        opened.topics.add([Topic("1", "beer", "d", "n")], replace=True)
    with pytest.raises(ConflictError, match="topic `1` has another text as version 2"):
        merge(start, second)


def test_longer_draws_of_an_adaptive_pool_stand(tmp_path: Path) -> None:
    """What one copy drew further is drawn; different draws are refused, naming the pool."""
    start = make(tmp_path / "whole.db")
    with Collection(str(start)) as opened:
        opened.pools.add(adaptive_pool({"1": "abcd"}, budget=3))
        opened.pools.draw("live", "1", ends("abcd"))
    [further, otherwise] = copies(start, 2)
    with Collection(str(further)) as opened:
        opened.pools.draw("live", "1", ends("abcd"))
        opened.pools.draw("live", "1", ends("abcd"))
    with Collection(str(otherwise)) as opened:
        opened.pools.draw("live", "1", lambda _drawn: "b")
    assert merge(start, further).copies[0].new["draws"] == 2
    with Collection(str(start)) as opened:
        drawn = [entry.docno for entry in opened.pools.get("live").entries if entry.sampled]
        with Collection(str(further)) as there:
            assert opened.pools.get("live").entries == there.pools.get("live").entries
    assert drawn == ["a", "d", "c"]
    assert merge(further, start).is_nothing_new
    with pytest.raises(ConflictError, match="pool `live` has other documents there"):
        merge(start, otherwise)


def test_withdrawn_on_either_side_is_withdrawn(tmp_path: Path) -> None:
    """A pool withdrawn, a run taken out and a judge disabled on one copy are so in all."""
    start = make(tmp_path / "whole.db")
    with Collection(str(start)) as opened:
        opened.runs.add(make_run("bm25", {"1": [("a", 1.0)]}))
    [other] = copies(start, 1)
    with Collection(str(other)) as opened:
        opened.pools.withdraw("pool")
        opened.judges.set_disabled(["cy"], disabled=True)
    with engine_of(str(other)) as engine, writing(engine) as session:
        session.execute(update(RUN).values(contributes=False))
    before = stored_rows(str(other))
    merge(other, start)
    assert stored_rows(str(other)) == before
    [brought] = merge(start, other).copies
    assert brought.changed == {"pools": 1, "runs": 1, "judges": 1}
    for table in ("pool", "run", "judge"):
        assert stored_rows(str(start))[table] == stored_rows(str(other))[table]


def test_claimed_places_never_become_more_than_their_plan(tmp_path: Path) -> None:
    """Of one place, claimed here and decided there, the decision holds it: nobody else comes in."""
    start = make(tmp_path / "whole.db")
    held_place(str(start), "1", "ab", None, lease_s=600)
    [first, second] = copies(start, 2)
    with Collection(str(first)) as opened:
        sitting = JudgeAtWork(opened.desk("ann"), "1")
        assert sitting.desk.claim("1")
    with Collection(str(second)) as opened:
        desk = opened.desk("bob")
        assert desk.claim("1")
        JudgeAtWork(desk, "1").grade("a", 1)
    let_lapse(str(first), "ann")
    found = []
    for place, other in ((first, second), (second, first)):
        merged = str(shutil.copy(place, place.with_suffix(".merged")))
        assert merge(Path(merged), other).is_done
        held = [(docno, judge) for _, docno, judge, _ in places(merged)]
        assert held == [("a", "bob"), ("b", "bob")]
        found.append(places(merged))
        assert {until for _, docno, _, until in places(merged) if docno == "a"} == {None}
    assert found[0] == found[1]


def test_of_two_places_one_claimed_leaves_one_open(tmp_path: Path) -> None:
    """A document for two judges: ann holds a place on one copy, nobody any on the other."""
    start = make(tmp_path / "whole.db")
    held_place(str(start), "1", "a", None, lease_s=600)
    columns = "plan_id, topic_id, document_id, purpose, position, display_order"
    change_stored(str(start), f"INSERT INTO assignment ({columns}) SELECT {columns} FROM assignment")
    [first, second] = copies(start, 2)
    with Collection(str(first)) as opened:
        assert opened.desk("ann").claim("1")
    for place, other in ((first, second), (second, first)):
        merged = str(shutil.copy(place, place.with_suffix(".merged")))
        assert merge(Path(merged), other).is_done
        assert sorted((judge or "", docno) for _, docno, judge, _ in places(merged)) == [
            ("", "a"),
            ("ann", "a"),
        ]


def test_places_given_by_name_on_two_copies_are_all_there(tmp_path: Path) -> None:
    """Plans made on both copies stand beside each other; a place in both is one."""
    start = make(tmp_path / "whole.db")
    held_place(str(start), "1", "a", "ann")
    [first, second] = copies(start, 2)
    change_stored(str(first), "DELETE FROM assignment")
    change_stored(str(first), "DELETE FROM assignment_plan")
    held_place(str(first), "1", "ab", "ann")
    held_place(str(second), "1", "c", "bob")
    assert merge(start, first, second).copies[0].new["places"] == 1
    held = [(docno, judge) for _, docno, judge, _ in places(str(start))]
    assert held == [("a", "ann"), ("b", "ann"), ("c", "bob")]
    assert merge(start, first, second).is_nothing_new


def test_sittings_go_on_and_words_are_united(tmp_path: Path) -> None:
    """A sitting that was open when the copy was made ends as the copy knows; words are a union."""
    start = make(tmp_path / "whole.db")
    with Collection(str(start)) as opened:
        desk = opened.desk("ann")
        desk.set_terms("1", ("vin",))
        JudgeAtWork(desk, "1").grade("a", 1)
    [first, second] = copies(start, 2)
    change_stored(str(first), "UPDATE sitting SET ended_at = '2030-01-01 00:00:00.000000',"
                        " seen_at = '2030-01-01 00:00:00.000000'")  # fmt: skip
    for place, word in ((first, "rouge"), (second, "blanc")):
        with Collection(str(place)) as opened:
            opened.desk("ann").set_terms("1", ("vin", word))
    merge(start, first, second)
    with Collection(str(start)) as opened:
        assert opened.desk("ann").terms("1") == ("blanc", "rouge", "vin")
    [sitting] = stored_rows(str(start))["sitting"]
    assert str(sitting[4]).startswith("2030")


def test_damaged_copy_is_refused(apart: list[Path]) -> None:
    """A grade that a bit turned into another one of the scale is not taken in as a decision."""
    # As a disk would: behind the program's back, the checksum as it was.
    change_stored(str(apart[1]), "UPDATE judgement SET grade = 0 WHERE grade = 2")
    before = bytes_of([apart[0]])
    with pytest.raises(StoreError, match="is damaged: a judgement event in it is not as it was"):
        merge(apart[0], apart[1], rule=SettleRule.LATEST)
    assert bytes_of([apart[0]]) == before


def test_interrupted_merge_leaves_nothing(apart: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle takes everything back."""

    class StopError(BaseException):
        """As Ctrl-C is: no ordinary exception."""

    def stop(_label: str, _total: int) -> Any:
        raise StopError

    before = stored_rows(str(apart[0]))
    with pytest.raises(StopError):
        merge(apart[0], apart[1], rule=SettleRule.LATEST, progress=stop)
    assert stored_rows(str(apart[0])) == before
    with engine_of(str(apart[0])) as engine, writing(engine, patience_ms=50):
        pass  # the lock is free
