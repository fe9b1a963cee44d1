"""Who is heard where nobody is named."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.judging.disagreements import Selection
from store.judging.kinds import Voters, choose_voters, count_kinds, is_mixed, sorts_words
from store.records import Action, Decision, Judge, JudgeKind, Qrel
from tests.helpers.world import make_pool

ANN, ZOE = Judge("ann", JudgeKind.HUMAN), Judge("zoe", JudgeKind.ADJUDICATOR)
OLD = Judge("old", JudgeKind.IMPORTED)
GPT, QWEN = Judge("gpt", JudgeKind.MODEL), Judge("qwen", JudgeKind.MODEL)
ALL = (ANN, OLD, GPT, QWEN, ZOE)


def names(heard: Voters) -> tuple[list[str], list[str]]:
    """Return who is heard, and who is left out."""
    return [one.name for one in heard.judges], [one.name for one in heard.left_out]


@pytest.mark.parametrize(
    ("graders", "heard", "left_out"),
    [
        ("ann old gpt qwen", ["ann"], ["old", "gpt", "qwen"]),
        ("ann", ["ann"], []),
        ("old gpt", ["old"], ["gpt"]),
        ("gpt qwen", ["gpt", "qwen"], []),
        ("gpt", ["gpt", "qwen"], []),
        ("", ["ann"], []),
    ],
)
def test_one_sort_is_heard(graders: str, heard: list[str], left_out: list[str]) -> None:
    """People before imported judges before models, by who graded; without a grade by who is there."""
    assert names(choose_voters(ALL, graders.split())) == (heard, left_out)


def test_adjudicators_are_people_where_they_have_a_say() -> None:
    """Their rulings are heard with people's votes, before all others, and not in what has no rulings."""
    assert names(choose_voters(ALL, ["ann", "gpt", "zoe"], rulings=True)) == (["ann", "zoe"], ["gpt"])
    assert names(choose_voters(ALL, ["gpt", "zoe"], rulings=True)) == (["ann", "zoe"], ["gpt"])
    assert names(choose_voters(ALL, ["gpt", "zoe"])) == (["gpt", "qwen"], [])
    assert choose_voters(ALL, ["gpt", "zoe"], rulings=True).voting == ()


def test_who_is_named_is_heard_and_nobody_is_left_out() -> None:
    """Names mix whom they will; kinds are human (with adjudicators), model and imported."""
    graded = ["ann", "old", "gpt", "zoe"]
    named = choose_voters(ALL, graded, of=["gpt", "ann"])
    assert names(named) == (["ann", "gpt"], [])
    assert (named.counts_if_mixed, named.to_json()) == (
        {"human": 1, "model": 1},
        {"kinds": {"human": 1, "model": 1}},
    )
    mixed = choose_voters(ALL, graded, kinds=["model", "human"], rulings=True)
    assert names(mixed) == (["ann", "gpt", "qwen", "zoe"], [])
    assert mixed.counts == {"human": 1, "model": 1, "adjudicator": 1}
    models = choose_voters(ALL, graded, kinds=["model"], rulings=True)
    assert names(models) == (["gpt", "qwen"], [])
    assert (models.counts_if_mixed, models.models) == ({"model": 1}, ("gpt",))
    assert choose_voters(ALL, graded).to_json() == {"kinds_left_out": {"model": 1, "imported": 1}}
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        choose_voters(ALL, graded, of=["eve"])
    with pytest.raises(ArgumentError, match="`kinds` must be human, model or imported"):
        choose_voters(ALL, graded, kinds=["adjudicator"])


def test_people_and_adjudicators_are_no_mixture() -> None:
    """They are of one sort, in counts and in words."""
    assert not is_mixed({"human": 2, "adjudicator": 1})
    assert is_mixed({"model": 2, "adjudicator": 1})
    assert count_kinds(ALL) == {"human": 1, "model": 2, "imported": 1, "adjudicator": 1}
    assert sorts_words(count_kinds(ALL)) == "people, models and imported judges"


def test_a_collection_hears_who_has_a_grade_now(collection: Collection) -> None:
    """A grade that was undone is none; a ruling that nothing can be judged is one; on both databases."""
    area = collection.grades
    assert area.voters() == choose_voters((), ())
    collection.pools.add(make_pool({"1": ["a", "b"]}))
    collection.judgements.add({"gpt": [Qrel("1", "a", 1), Qrel("1", "b", 0)]}, JudgeKind.MODEL)
    collection.judgements.add({"old": [Qrel("1", "a", 0)]}, JudgeKind.IMPORTED)
    collection.judges.add("ann", JudgeKind.HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    assert names(area.voters(rulings=True)) == (["old"], ["gpt"])
    desk = collection.desk("ann")
    desk.queue("1")
    desk.record(Decision("1", "a", Action.JUDGE, 2))
    assert names(area.voters()) == (["ann"], ["gpt", "old"])
    assert area.final(QrelsDefinition()).rows == [Qrel("1", "a", 2)]  # half of what a model graded
    assert area.votes().votes.judges == ("ann",)
    desk.undo()
    desk.leave()
    assert names(area.voters()) == (["old"], ["gpt"])
    ruling = collection.adjudication_desk("zoe", selection=Selection(kinds=("imported", "model")))
    ruling.queue("1")
    ruling.record(Decision("1", "a", Action.CANNOT, None))
    ruling.leave()
    with pytest.raises(PoolerError, match="people graded 0 documents and models 2"):
        area.voters(rulings=True)
    with pytest.raises(PoolerError, match="people graded 0 documents and models 2"):
        area.final(QrelsDefinition())
    assert area.final(QrelsDefinition(kinds=("human",))).left_out == {("1", "a"): "cannot"}
    both = QrelsDefinition(aggregate="majority", ties="low", kinds=("human", "model"))
    assert area.final(both).rows == [Qrel("1", "b", 0)]
    assert area.final(both).all_votes.voters.counts_if_mixed == {"model": 1, "adjudicator": 1}
