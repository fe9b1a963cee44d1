"""Which document comes next: drawn as the strategy itself draws, or chosen by what it would settle."""

from __future__ import annotations

import math
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
from store.analysis.pools.stopping import least_sample
from store.collection import Collection
from store.content.pools import Draw
from store.errors import PoolerError, StoreError
from store.records import Action, Decision, JudgeKind
from tests.helpers.oracles import first_documents, read_qrels, runs_of
from tests.helpers.outcomes import outcome_table, topics_of
from tests.helpers.run import JUDGES, Cli
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
    for _ in range(DEPTH):
        draw_next(collection, drawing, graded)
    assert drawn(collection) == expected[:DEPTH]


def test_what_is_drawn_to_the_end_is_drawn_once(collection: Collection) -> None:
    """Every document of the runs' first ones comes, and after the last one none."""
    add_live(collection, "mtf", {})
    graded = outcomes()
    drawing = LiveDrawing(collection)
    while draw_next(collection, drawing, graded) is not None:
        pass
    assert drawn(collection) == directly("mtf", {}, graded)[0]
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


ORDER = ("--order", "trec9")
PAIR = ("bm25-words", "rm3-words-title")
NEAR = ("bm25-words", "lm-words-full")
"""A pair that another judging may swap."""
SURE = ("--confidence", "0.9999")


def test_gain_is_the_variance_that_a_judgement_takes_away(cli: Cli, judged: Path) -> None:
    """By enumeration: variance of the difference, less what is left of it, on average."""
    options = ("--unjudged", "0", *SURE, *ORDER, "--format", "json")
    rows = cli("pool", "next", *NEAR, *options).fine().json()
    tags = sorted(runs_of(judged))
    pair = [tags.index(tag) for tag in NEAR]
    expected: dict[float, int] = {}
    whole = 0.0
    topics = topics_of(judged).values()
    for p, ranks in topics:
        table = outcome_table(ranks[pair])
        before = table.spread(p, 0, 1)
        whole += before / len(topics) ** 2
        for place in np.flatnonzero((p > 0) & (p < 1)):
            left = 0.0
            for value, weight in ((1.0, p[place]), (0.0, 1 - p[place])):
                known = p.copy()
                known[place] = value
                left += weight * table.spread(known, 0, 1)
            gain = (before - left) / len(topics) ** 2
            if gain > 1e-15:
                expected[gain] = expected.get(gain, 0) + 1
    gains = [row["gain"] for row in rows]
    assert gains == sorted(gains, reverse=True)
    assert gains == pytest.approx(
        [gain for gain in sorted(expected, reverse=True) for _ in range(expected[gain])]
    )
    assert [row["share"] for row in rows] == pytest.approx([gain / whole for gain in gains])
    assert rows[-1]["so_far"] == pytest.approx(sum(gains) / whole)
    assert rows[-1]["so_far"] <= 1 + 1e-9


def test_rows_name_documents_and_where_runs_have_them(cli: Cli, judged: Path) -> None:
    """Ranks are those of the run files; unjudged documents have the probability that is given."""
    rows = cli("pool", "next", *PAIR, *ORDER, "--unjudged", ".2", "--format", "json").fine().json()
    runs, qrels = runs_of(judged), read_qrels(judged / "judgements" / "strict.qrels")
    assert {row["judged"] for row in rows} == {True, False}
    for row in rows:
        for name, tag in zip("ab", PAIR, strict=True):
            listed = first_documents(runs[tag], row["topic"], 1000)
            place = listed.index(row["docno"]) + 1 if row["docno"] in listed else None
            assert row[f"rank_{name}"] == place
        assert row["judged"] == (row["docno"] in qrels[row["topic"]])
    assert {row["p"] for row in rows if not row["judged"]} == {0.2}


def test_pool_is_judged_in_this_order(cli: Cli, judged: Path) -> None:
    """A pool of the first documents; judges see each topic's the most telling first."""
    options = ("--limit", "12", "--format", "json")
    rows = cli("pool", "next", *options, "--name", "second").fine().json()
    assert len(rows) == 12
    again = cli("pool", "next", *options, "--name", "second").fine()
    assert "pool `second`: 12 documents of 6 topics, already there, unchanged" in again.err
    facts = cli("show", "pools", "second", "--format", "json").fine().out
    assert '"strategy"' in facts
    cli("judges", "add", "ann").fine()
    topic = rows[0]["topic"]
    expected = [row["docno"] for row in rows if row["topic"] == topic]
    listed = cli("export", "pool", "--name", "second").fine().out.splitlines()
    assert [line.split()[1] for line in listed if line.split()[0] == topic] == expected


def test_runs_are_taken_out_of_other_pools_beside_it(cli: Cli, judged: Path) -> None:
    """What was chosen by its gain hangs on every run: that pool keeps its documents, and it is said."""
    cli("pool", "next", "--limit", "5", "--name", "second").fine()
    said = cli("pool", "drop", "bm25-words", "--dry-run").fine().err
    assert "pool `second` keeps its documents: what `next` chose depends on every run" in said
    assert "would leave the pools" in said


def test_pool_after_another_is_given_out_alone(cli: Cli, judged: Path) -> None:
    """Judges see older pools first: that is said, and the command that is named leads past them."""
    rows = cli("pool", "next", "--limit", "12", "--format", "json").fine().json()
    said = cli("pool", "next", "--limit", "12", "--name", "second").fine().err
    command = "pooler assign JUDGE --pool second --order priority"
    assert f"`{command}` hands out only these" in said
    assert "once they are judged, `pooler pool next`" in said
    cli("judges", "add", "ann").fine()
    cli(*command.replace("JUDGE", "ann").split()[1:]).fine()
    topic = rows[0]["topic"]
    expected = [row["docno"] for row in rows if row["topic"] == topic]
    keys = "2\n" * (len(expected) - 1) + "q\n"
    shown = cli("judge", "--judge", "ann", "--plain", "--topic", topic, stdin=keys.encode()).fine().out
    places = [shown.index(f"Document {docno}") for docno in expected]
    assert places == sorted(places)


def test_what_is_settled_is_said(cli: Cli, judged: Path) -> None:
    """Two runs far apart are settled, and no document is asked for on their account."""
    far = cli("pool", "next", "bm25-stems-full", "rm3-words-title", "--unjudged", "0").fine()
    assert "the order of the two runs is settled at 0.95" in far.err
    assert far.out == ""
    assert "the order needs no further judgements" in far.err
    near = cli("pool", "next", *PAIR, "--unjudged", ".2").fine()
    assert "the order of the two runs is not settled at 0.95" in near.err
    assert "nothing needs judging" not in near.err
    many = cli("pool", "next", "--unjudged", "0").fine()
    n_settled = int(many.err.split(" of 36 pairs of runs are settled")[0].split()[-1])
    assert 0 < n_settled < 36


def test_files_have_the_same_documents(cli: Cli, judged: Path) -> None:
    """From run files and a file of probabilities; documents that no run has keep their names."""
    cli("variation", "--level", "1", "--table", "probabilities", "--format", "tsv", "--out", "p.txt").fine()
    with Path("p.txt").open("a", encoding="utf-8") as file:
        file.write("G01\tnobody-has-this\t0.5\n")
    runs = [f"runs/{tag}.run" for tag in NEAR]
    options = ("--unjudged", "0", *SURE, "--format", "json")
    rows = cli("pool", "next", *runs, "--probabilities", "p.txt", *options).fine().json()
    assert [row["best_rank"] for row in rows if row["docno"] == "nobody-has-this"] == [None]
    own = cli("pool", "next", *NEAR, *options).fine().json()
    assert [(row["topic"], row["docno"]) for row in rows if row["topic"] != "G01"] == [
        (row["topic"], row["docno"]) for row in own if row["topic"] != "G01"
    ]
    assert all(math.isclose(row["p"], round(row["p"] * 3) / 3, abs_tol=1e-6) for row in own)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bm25-words",), "there is one run, `bm25-words`: an order needs two"),
        (("--confidence", "0.5"), "`--confidence` must be a number > 0.5"),
        (
            ("runs/bm25-words.run", "runs/lm-words-full.run", "--qrels",
             "judgements/strict.qrels", "--name", "x"),
            "`--name` needs a collection",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(cli: Cli, judged: Path, arguments: tuple[str, ...], words: str) -> None:
    """In one line."""
    assert words in cli("pool", "next", *arguments).failed(1).err


def test_recall_without_a_sample_counts_one_of_what_nobody_judged(cli: Cli, judged: Path) -> None:
    """Drawn of all that the runs retrieved and no judge graded, topic by topic."""
    rows = cli("status", "recall", "--target", ".8", "--format", "json").fine().json()
    runs = runs_of(judged)
    qrels = [read_qrels(judged / "judgements" / f"{name}.qrels") for name in JUDGES]
    assert len(rows) == len(qrels[0])
    for row in rows:
        graded = {docno for one in qrels for docno in one[row["topic"]]}
        relevant = {docno for one in qrels for docno, grade in one[row["topic"]].items() if grade >= 1}
        listed = {docno for run in runs.values() for docno in first_documents(run, row["topic"], 1000)}
        assert (row["found"], row["reason"]) == (len(relevant), "no-sample")
        assert row["needed"] == least_sample(len(listed - graded), len(relevant), 0.8)
