"""One judge's grades as arrays: the same pairs and grades as the final qrels."""

from __future__ import annotations

import pytest

from store.analysis.arrays import grades_by_topic
from store.collection import Collection
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.records import JudgeKind, Qrel
from store.text import natural_key
from tests.helpers.world import make_pool
from tests.store.full_collection import fill


@pytest.mark.parametrize("seed", range(5))
def test_grades_of_a_named_judge_are_the_final_ones(collection_name: str, seed: int) -> None:
    """Undone, skipped and changed events included: as `final_qrels` has them, by document id."""
    fill(collection_name, seed=seed)
    with Collection(collection_name) as opened:
        ranked = opened.runs.ranked()
        n_compared = 0
        for judge in opened.judges.all():
            policy = QrelsDefinition(judges=(judge.name,), without_rulings=True)
            sole = opened.grades.sole(policy)
            try:
                rows = opened.grades.final(policy).rows
            except PoolerError:
                assert sole is None
                continue
            assert sole is not None
            assert (sole.judge, sole.n_documents) == (judge.name, len(rows))
            expected = {
                topic: sorted(zip(ids.tolist(), grades.tolist(), strict=True))
                for topic, (ids, grades) in grades_by_topic(ranked, rows).items()
            }
            found = {
                topic: list(zip(ids.tolist(), grades.tolist(), strict=True))
                for topic, (ids, grades) in sole.by_topic.items()
            }
            assert found == expected
            assert list(found) == sorted(found, key=natural_key)
            n_compared += 1
        assert n_compared >= 2


def test_only_judge_needs_no_name(collection: Collection) -> None:
    """While one judge has graded, his are the grades; an adjudicator may have a say."""
    collection.pools.add(make_pool({"1": ["a", "b"]}))
    assert collection.grades.sole(QrelsDefinition()) is None
    collection.judgements.add({"ann": [Qrel("1", "a", 1)]}, kind=JudgeKind.HUMAN)
    collection.judges.add("idle", JudgeKind.HUMAN)
    sole = collection.grades.sole(QrelsDefinition())
    assert sole is not None
    assert (sole.judge, sole.n_documents) == ("ann", 1)
    collection.judges.add("boss", JudgeKind.ADJUDICATOR)
    assert collection.grades.sole(QrelsDefinition()) is None
    assert collection.grades.sole(QrelsDefinition(judges=("ann",), without_rulings=True)) is not None
    with pytest.raises(UnknownNameError):
        collection.grades.sole(QrelsDefinition(judges=("nobody",), without_rulings=True))


def test_several_judges_and_rules_are_left_to_the_final_qrels(collection: Collection) -> None:
    """Two judges with grades, a rule, chosen voters; and choices that do not go together."""
    by_judge = {"ann": [Qrel("1", "a", 1)], "bob": [Qrel("1", "a", 2)]}
    collection.judgements.add(by_judge, kind=JudgeKind.HUMAN)
    assert collection.grades.sole(QrelsDefinition()) is None
    assert collection.grades.sole(QrelsDefinition(aggregate="max")) is None
    assert collection.grades.sole(QrelsDefinition(votes=1)) is None
    with pytest.raises(ArgumentError, match="`ties`"):
        collection.grades.sole(QrelsDefinition(judges=("ann",), without_rulings=True, ties="low"))
