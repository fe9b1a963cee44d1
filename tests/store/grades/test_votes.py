"""Votes from the store: what `Collection.judgements` says, read without its objects."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from store.analysis.agreement.votes import Votes
from store.collection import Collection
from store.errors import StoreError, UnknownNameError
from store.formats.scale import parse_scale, scale_to_json
from store.records import Action, JudgeKind, Qrel, State
from tests.helpers.world import JudgeAtWork, change_stored, make_pool, statements
from tests.store.analysis.graded import votes_of

HUMAN = JudgeKind.HUMAN
DOCNOS = [f"d{number:02d}" for number in range(12)]


def grades_of(votes: Votes) -> list[tuple[str, dict[str, int]]]:
    """Give topic and grades by judge of every document of two grades or more, sorted."""
    found: list[tuple[str, dict[str, int]]] = [
        (votes.topics[code], {}) for code in votes.topic_codes.tolist()
    ]
    for document, judge, place in zip(
        votes.documents.tolist(), votes.judge_codes.tolist(), votes.places.tolist(), strict=True
    ):
        found[document][1][votes.judges[judge]] = votes.scale_values[place]
    return sorted((one for one in found if len(one[1]) > 1), key=repr)


def fill(collection: Collection, *, seed: int = 1) -> None:
    """Let three judges grade, skip, refuse, undo and grade again; an adjudicator too."""
    draw = random.Random(seed)
    collection.pools.add(make_pool({"10": DOCNOS, "9": DOCNOS[:5]}, name="main"))
    for judge in ("bob", "ann", "cy"):
        collection.judges.add(judge, HUMAN)
    for _ in range(2):  # a second sitting revises some of the first
        for judge in ("bob", "ann", "cy"):
            for topic, docnos in (("10", DOCNOS), ("9", DOCNOS[:5])):
                sitting = JudgeAtWork(collection.desk(judge), topic)
                for docno in draw.sample(docnos, k=len(docnos) * 2 // 3):
                    action = draw.choice([Action.JUDGE] * 6 + [Action.SKIP, Action.CANNOT])
                    if action is Action.JUDGE:
                        sitting.grade(docno, draw.randrange(3))
                    else:
                        sitting.act(docno, action, reason="torn")
                    if draw.random() < 0.2:
                        sitting.undo()
                sitting.desk.leave()
    ruled = [Qrel("10", docno, 0) for docno in DOCNOS]
    collection.judgements.add({"zoe": ruled}, JudgeKind.ADJUDICATOR)


@pytest.mark.parametrize("seed", range(3))
def test_votes_are_the_current_grades_of_judgements(collection: Collection, seed: int) -> None:
    """The newest revision counts, whatever came before; adjudicators are no judges here."""
    fill(collection, seed=seed)
    judgements = [one for one in collection.judgements.current() if one.judge != "zoe"]
    made = collection.grades.votes()
    assert made.votes.judges == ("ann", "bob", "cy")
    assert made.votes.topics == ("9", "10")
    expected = votes_of(judgements, collection.scale.values)
    assert grades_of(made.votes) == grades_of(expected)
    for state, counted in (
        (State.JUDGED, made.graded), (State.SKIPPED, made.skipped), (State.CANNOT, made.cannot),
    ):  # fmt: skip
        assert counted.tolist() == [
            sum((one.judge, one.state) == (judge, state) for one in judgements) for judge in made.votes.judges
        ]
    assert max(one.revision for one in judgements) > 1


def test_named_judges_come_as_they_are_named(collection: Collection) -> None:
    """Names choose, in their order and each once; an adjudicator may be one of them."""
    fill(collection)
    assert collection.grades.votes(["zoe", "bob", "zoe"]).votes.judges == ("zoe", "bob")
    assert collection.grades.votes([]).votes.judges == ()
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        collection.grades.votes(["ann", "eve"])


def test_judge_without_a_grade_is_left_out_unless_named(collection: Collection) -> None:
    """Who has not begun, or only skipped, is no judge of agreement by default."""
    fill(collection)
    collection.judges.add("dan", HUMAN)
    JudgeAtWork(collection.desk("dan"), "9").act("d00", Action.SKIP)
    assert "dan" not in collection.grades.votes().votes.judges
    named = collection.grades.votes(["dan", "ann"])
    assert named.votes.judges == ("dan", "ann")
    assert (named.graded.tolist()[0], named.skipped.tolist()[0]) == (0, 1)


def test_empty_collection_and_one_of_rulings_alone_have_no_votes(collection: Collection) -> None:
    """Nothing judged is no error here."""
    assert collection.grades.votes().votes.judges == ()
    collection.judgements.add({"zoe": [Qrel("1", "a", 1)]}, JudgeKind.ADJUDICATOR)
    made = collection.grades.votes()
    assert (made.votes.judges, made.n_documents) == ((), 0)


def test_votes_take_one_query_for_all_judgements(collection: Collection) -> None:
    """The number of statements does not grow with the judgements."""
    fill(collection)
    with statements() as sent:
        collection.grades.votes()
    reads = [statement for statement, _ in sent if "FROM judgement" in statement]
    assert len(reads) == 2  # who graded anything, and the judgements


def test_values_below_zero_are_grades_like_others(collection_name: str, collection: Collection) -> None:
    """A grade of -2 is no state: the two never share a number."""
    scale = json.dumps(scale_to_json(parse_scale("-2-1")))
    change_stored(collection_name, "UPDATE collection SET scale = :scale", renews=True, scale=scale)
    with Collection(collection_name) as again:
        again.judgements.add({"ann": [Qrel("1", "a", -2)], "bob": [Qrel("1", "a", -1)]}, HUMAN)
        made = again.grades.votes()
    assert grades_of(made.votes) == [("1", {"ann": -2, "bob": -1})]
    assert not np.any([made.skipped, made.cannot])


@pytest.mark.slow
def test_driver_failure_while_reading_is_an_error_of_the_store(tmp_path: Path) -> None:
    """A damaged page that the driver's own cursor meets is told as everything else is."""
    file = tmp_path / "c.db"
    with Collection.create(str(file), name="c", scale=parse_scale("0-2"), program="test") as made:
        qrels = [Qrel("1", f"d{number}", number % 3) for number in range(20_000)]
        made.judgements.add({"ann": qrels, "bob": qrels}, HUMAN)
        where = made.grades.votes()
    assert where.n_documents == 20_000
    content = bytearray(file.read_bytes())
    middle = slice(len(content) // 3, len(content) * 2 // 3)
    content[middle] = b"\xff" * len(content[middle])
    file.write_bytes(content)
    with Collection(str(file)) as made, pytest.raises(StoreError, match="damaged"):
        made.grades.votes()
