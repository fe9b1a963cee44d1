"""Adaptive pools at work: through a collection, the draws are those of the strategy itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pooler.pools.live import AdaptivePool, LiveDrawing, start_strategy
from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import stored_runs
from pooler.strategies import STRATEGIES, find_strategy
from pooler.strategies.kinds import Adaptive, AdaptiveStrategy, ParameterValue
from pooler.strategies.rankings import rankings_of
from store.collection import Collection
from store.content.pools import Draw
from store.errors import PoolerError, StoreError
from store.records import Action, Decision, JudgeKind
from tests.helpers.world import make_pool, make_run, parse_scale

LEVEL = 2
DEPTH = 7
SEED = 42
TOPIC = "T1"
RUNS = ("bm25", "lm", "rm3", "tfidf", "zero")

ROWS: list[Any] = [
    pytest.param(name, {}, id=name) for name, row in STRATEGIES.items() if isinstance(row, AdaptiveStrategy)
]
ROWS += [
    pytest.param("depth-then", {"then": "thompson", "first": 2}, id="depth-then-thompson"),
    pytest.param("depth-then", {"then": "hedge", "first": 1}, id="depth-then-hedge"),
    pytest.param("mm-ns", {"rho": 0.5}, id="mm-ns-0.5"),
]
every_row = pytest.mark.parametrize(("name", "parameters"), ROWS)

Outcomes = Mapping[str, int | None]
"""By docno the grade it will be given; ``None`` = it will be skipped."""


def ranked_lists() -> dict[str, list[str]]:
    """Return what each run found for the topic, the first three runs alike in part."""
    dice = np.random.default_rng(20010101)
    docnos = [f"d{number:02}" for number in range(24)]
    lists = {}
    for number, tag in enumerate(RUNS):
        first = 3 * number
        lists[tag] = [docnos[place] for place in first + dice.permutation(12 if number else 8)]
    return lists


def outcomes() -> dict[str, int | None]:
    """Return the grades: some hits, some below the level, some skipped."""
    dice = np.random.default_rng(42)
    grades: tuple[int | None, ...] = (0, 1, 1, 2, 3, 3, None)
    return {f"d{number:02}": grades[dice.integers(len(grades))] for number in range(24)}


def directly(
    name: str, parameters: Mapping[str, ParameterValue], graded: Outcomes
) -> tuple[list[str], Adaptive]:
    """Drive the strategy itself, on arrays, to its end."""
    lists = ranked_lists()
    rankings, docnos = rankings_of([lists[tag][:DEPTH] for tag in sorted(RUNS)], topic=TOPIC)
    row = find_strategy(name)
    assert isinstance(row, AdaptiveStrategy)
    complete = row.complete(parameters)
    seed = {"seed": SEED} if row.needs_seed_for(complete) else {}
    state = row.start(rankings, **seed, **complete)
    sequence = []
    while (chosen := state.choose()) is not None:
        sequence.append(docnos[chosen])
        grade = graded[docnos[chosen]]
        state.observe(chosen, None if grade is None else grade >= LEVEL)
    return sequence, state


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    """Make a collection of five runs and two judges; graded 0 to 3."""
    where = str(tmp_path / "collection.db")
    with Collection.create(where, name="x", scale=parse_scale("0-3"), program="x") as made:
        for tag, docnos in ranked_lists().items():
            ranked = [(docno, float(-place)) for place, docno in enumerate(docnos)]
            other = [(docno, float(place)) for place, docno in enumerate(docnos)]
            made.runs.add(make_run(tag, {TOPIC: ranked, "T2": other}))
        for judge in ("ann", "bob"):
            made.judges.add(judge, JudgeKind.HUMAN)
        yield made


def add_live(
    collection: Collection, strategy: str, parameters: Mapping[str, ParameterValue], **other: Any
) -> dict[str, Any]:
    """Make the pool `live` and return its manifest."""
    runs = stored_runs(collection, depth=DEPTH, order="trec")
    options: dict[str, Any] = {"name": "live", "seed": SEED, "level": LEVEL, **other}
    plan = Plan(strategy=strategy, parameters=dict(parameters), **options)
    pool = PoolBuild(runs, plan, version="test").whole()
    collection.pools.add(pool)
    return pool.manifest


def draw_next(
    collection: Collection, drawing: LiveDrawing, graded: Outcomes, judge: str = "ann"
) -> str | None:
    """Draw a document for the topic and decide on it; ``None`` = there was none."""
    if not drawing.draw(TOPIC):
        return None
    desk = collection.desk(judge)
    last = desk.queue(TOPIC)[-1]
    grade = graded[last.docno]
    action = Action.SKIP if grade is None else Action.JUDGE
    desk.record(Decision(TOPIC, last.docno, action, grade=grade))
    return last.docno


def drawn(collection: Collection, pool: str = "live") -> list[str]:
    """Return the documents drawn for the topic, in order."""
    entries = [one for one in collection.pools.get(pool).entries if one.sampled and one.topic == TOPIC]
    return [one.docno for one in sorted(entries, key=lambda one: one.position)]


@every_row
def test_draws_while_judging_are_the_strategys_own(
    collection: Collection, name: str, parameters: dict[str, ParameterValue]
) -> None:
    """Judged document by document, the pool draws what the strategy chooses on the same arrays."""
    add_live(collection, name, parameters)
    graded = outcomes()
    expected, _ = directly(name, parameters, graded)
    assert len(expected) > DEPTH
    drawing = LiveDrawing(collection)
    while draw_next(collection, drawing, graded) is not None:
        pass
    assert drawn(collection) == expected
    assert not drawing.draw(TOPIC)


@every_row
def test_state_is_rebuilt_when_an_earlier_grade_has_changed(
    collection: Collection, name: str, parameters: dict[str, ParameterValue]
) -> None:
    """After a changed or undone grade the next choice is that of a strategy told so from the start.

    The documents drawn before stay; the strategy is told of those it would not have chosen, too.
    """
    manifest = add_live(collection, name, parameters)
    runs = stored_runs(collection, depth=DEPTH, order="trec")
    of_topic = runs.of_topic(TOPIC)
    graded = outcomes()
    expected, _ = directly(name, parameters, graded)
    before = [Draw(docno, graded[docno]) for docno in expected[:10]]
    pool = AdaptivePool(runs, manifest)
    assert pool.choose(TOPIC, before) == expected[10]
    for place in range(10):
        for changed in (None, 0, 3):
            after = [*before[:place], Draw(expected[place], changed), *before[place + 1 :]]
            state = start_strategy(manifest, of_topic.rankings)
            for draw in after:
                relevant = None if draw.grade is None else draw.grade >= LEVEL
                state.observe(of_topic.docnos.index(draw.docno), relevant)
            chosen = state.choose()
            assert chosen is not None
            assert pool.choose(TOPIC, after) == of_topic.docnos[chosen]
    assert pool.choose(TOPIC, before) == expected[10]
    assert pool.choose(TOPIC, before[:4]) == expected[4]


def test_changed_grade_changes_what_is_drawn_next(collection: Collection) -> None:
    """Move-To-Front by hand: a hit undone sends it to the next run, a hit stays with its run."""
    add_live(collection, "mtf", {})
    lists = ranked_lists()
    first = lists["bm25"][:2]
    other = next(docno for docno in lists["lm"] if docno != first[0])
    drawing = LiveDrawing(collection)
    assert draw_next(collection, drawing, {first[0]: 3}) == first[0]
    desk = collection.desk("ann")
    (task,) = desk.queue(TOPIC)
    desk.record(Decision(TOPIC, task.docno, Action.JUDGE, grade=1, seen_revision=task.revision))
    assert drawing.draw(TOPIC)
    assert drawn(collection) == [first[0], other]
    assert other != first[1]


def test_level_decides_what_is_a_hit(collection: Collection) -> None:
    """The same grades reward from the pool's level on, and no lower."""
    graded = dict.fromkeys(outcomes(), 1)
    rewarding, _ = directly("mtf", {}, dict.fromkeys(graded, LEVEL))
    without, _ = directly("mtf", {}, dict.fromkeys(graded, 0))
    assert rewarding != without
    for name, level, expected in (("low", 1, rewarding), ("high", 2, without)):
        add_live(collection, "mtf", {}, name=name, level=level)
        runs = stored_runs(collection, depth=DEPTH, order="trec")
        manifest = next(pool.manifest for pool in collection.pools.all() if pool.name == name)
        pool = AdaptivePool(runs, manifest)
        draws: list[Draw] = []
        while (docno := pool.choose(TOPIC, draws)) is not None:
            draws.append(Draw(docno, graded[docno]))
        assert [draw.docno for draw in draws] == expected


def test_document_of_no_run_is_passed_over(collection: Collection) -> None:
    """A draw the runs know nothing of, as of a pool changed by hand, does not stop the strategy."""
    manifest = add_live(collection, "mtf", {})
    pool = AdaptivePool(stored_runs(collection, depth=DEPTH, order="trec"), manifest)
    first = pool.choose(TOPIC, [])
    assert pool.choose(TOPIC, [Draw("nowhere", 3)]) == first


def test_budget_is_not_exceeded(collection: Collection) -> None:
    """The pool stops at its budget, the strategy having more."""
    add_live(collection, "mtf", {}, budget=3)
    graded = outcomes()
    drawing = LiveDrawing(collection)
    sequence = [draw_next(collection, drawing, graded) for _ in range(4)]
    assert sequence == [*directly("mtf", {}, graded)[0][:3], None]


def test_run_that_was_replaced_is_refused(collection: Collection) -> None:
    """Draws of a pool whose runs have changed are not continued; nothing is drawn."""
    add_live(collection, "mtf", {})
    graded = outcomes()
    draw_next(collection, LiveDrawing(collection), graded)
    before = drawn(collection)
    collection.runs.add(make_run("lm", {TOPIC: [("d01", 1.0)]}, sha256="other"), replace=True)
    drawing = LiveDrawing(collection)
    for _ in range(2):
        with pytest.raises(PoolerError, match="the runs of pool `live` have changed since") as why:
            drawing.draw(TOPIC)
        assert why.value.hint == "make another pool: its draws cannot be continued"
    assert drawn(collection) == before


def test_other_pools_are_drawn_from_beside_a_refused_one(collection: Collection) -> None:
    """The pool made instead is drawn from; only when it has no more is the refusal told."""
    add_live(collection, "mtf", {})
    collection.runs.add(make_run("zero", {TOPIC: [("x", 2.0), ("y", 1.0)]}, sha256="other"), replace=True)
    add_live(collection, "max-mean", {}, name="instead", budget=2)
    drawing = LiveDrawing(collection)
    assert drawing.draw(TOPIC)
    assert drawing.draw(TOPIC)
    assert (len(drawn(collection, "instead")), drawn(collection)) == (2, [])
    with pytest.raises(PoolerError, match="the runs of pool `live` have changed since"):
        drawing.draw(TOPIC)


def test_run_added_later_changes_nothing(collection: Collection) -> None:
    """A pool is drawn from the runs it was made of."""
    add_live(collection, "hedge", {})
    graded = outcomes()
    collection.runs.add(make_run("aaa", {TOPIC: [("d23", 2.0), ("new", 1.0)]}))
    drawing = LiveDrawing(collection)
    while draw_next(collection, drawing, graded) is not None:
        pass
    assert drawn(collection) == directly("hedge", {}, graded)[0]


def test_older_pool_is_drawn_first(collection: Collection) -> None:
    """Pools without draws are passed by; the newer adaptive pool follows the older one's last."""
    collection.pools.add(make_pool({TOPIC: ["d00"]}, name="fixed"))
    add_live(collection, "mtf", {}, budget=2)
    add_live(collection, "hedge", {}, name="second", budget=2)
    drawing = LiveDrawing(collection)
    sizes = []
    while drawing.draw(TOPIC):
        sizes.append((len(drawn(collection)), len(drawn(collection, "second"))))
    assert sizes == [(1, 0), (2, 0), (2, 1), (2, 2)]
    assert not drawing.draw("none")


def test_strategy_that_is_not_adaptive_is_refused(collection: Collection) -> None:
    """A manifest changed by hand is told of, rather than failing in the strategy."""
    manifest = add_live(collection, "mtf", {})
    runs = stored_runs(collection, depth=DEPTH, order="trec")
    with pytest.raises(PoolerError, match="strategy `depth` of pool `live` is not adaptive"):
        AdaptivePool(runs, {**manifest, "strategy": "depth"}).choose(TOPIC, [])


def test_trouble_with_the_collection_is_no_refusal(collection: Collection, tmp_path: Path) -> None:
    """A file that is gone is told as it is and tried again, and no younger pool goes first."""
    add_live(collection, "mtf", {}, budget=2)
    add_live(collection, "hedge", {}, name="second", budget=2)
    drawing = LiveDrawing(collection)
    file = tmp_path / "collection.db"
    collection.close()
    away = file.rename(tmp_path / "away.db")
    with pytest.raises(StoreError):
        drawing.draw(TOPIC)
    collection.close()
    file.unlink(missing_ok=True)
    away.rename(file)
    assert drawing.draw(TOPIC)
    assert (len(drawn(collection)), len(drawn(collection, "second"))) == (1, 0)
