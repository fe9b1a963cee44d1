"""Votes of a collection and of files, one judge's grades, and samples."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.votes import PopulationVotes, Votes
from store.analysis.arrays import Grades, grades_by_topic
from store.analysis.measures.sampled import (
    GRADED,
    NOT_SAMPLED,
    UNGRADED,
    SampledPool,
    sampled_rankings,
    statap_scores,
    stratified_scores,
)
from store.collection import Collection
from store.db.engine import reading
from store.db.keys import topic_keys
from store.errors import ArgumentError, PoolerError, StoreError, UnknownNameError
from store.formats.prels import StatapRow, XinfapRow
from store.formats.scale import scale_to_json
from store.grades.definition import QrelsDefinition
from store.grades.file_votes import FileVotes
from store.grades.sampled import fetch_sampled_pools, statap_pools, xinfap_pools
from store.records import Action, JudgeKind, Judgement, Pool, PoolEntry, Qrel, Ranking, Run, State
from store.text import natural_key
from tests.helpers.full_collection import fill
from tests.helpers.graded_votes import votes_of
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, parse_scale

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


def fill_votes(collection: Collection, *, seed: int = 1) -> None:
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


@pytest.mark.parametrize("seed", range(2))
def test_votes_are_the_current_grades_of_judgements(collection: Collection, seed: int) -> None:
    """The newest revision counts, whatever came before; adjudicators are no judges here."""
    fill_votes(collection, seed=seed)
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
    fill_votes(collection)
    assert collection.grades.votes(["zoe", "bob", "zoe"]).votes.judges == ("zoe", "bob")
    assert collection.grades.votes([]).votes.judges == ()
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        collection.grades.votes(["ann", "eve"])


def test_judge_without_a_grade_is_left_out_unless_named(collection: Collection) -> None:
    """Who has not begun, or only skipped, is no judge of agreement by default."""
    fill_votes(collection)
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


SCALE = parse_scale("0-2")
NO_GRADE = {"s": State.SKIPPED, "c": State.CANNOT, "u": State.UNJUDGED}
KINDS = {"ann": JudgeKind.HUMAN, "bob": JudgeKind.HUMAN, "eve": JudgeKind.ADJUDICATOR}
Said = dict[tuple[str, str, str], str]
"""Topic, docno, judge: a grade, or a letter of `NO_GRADE`."""
SAID: st.SearchStrategy[Said] = st.dictionaries(
    st.tuples(
        st.sampled_from(["9", "10", "A"]),
        st.sampled_from(["d1", "d2", "d3"]),
        st.sampled_from(["ann", "bob"]),
    ),
    st.sampled_from(["0", "1", "2", "s", "c", "u"]),
    max_size=14,
)


def judgements(said: Said) -> list[Judgement]:
    """Turn the dictionary into records."""
    return [
        Judgement(topic, docno, judge, NO_GRADE.get(what, State.JUDGED),
                  None if what in NO_GRADE else int(what))
        for (topic, docno, judge), what in said.items()
    ]  # fmt: skip


def file_votes(said: Said, kinds: dict[str, JudgeKind] = KINDS) -> FileVotes:
    """Make votes of one file that names its judges."""
    votes = FileVotes()
    votes.scale = SCALE
    votes.add_judgements(judgements(said), kinds)
    return votes


def graded(found: PopulationVotes, docnos: Sequence[str]) -> dict[tuple[str, str, str], int]:
    """Return who gave which grade, by name."""
    votes = found.votes
    return {
        (
            votes.topics[votes.topic_codes[document]],
            docnos[found.document_numbers[document]],
            votes.judges[judge],
        ): votes.scale_values[place]
        for document, judge, place in zip(
            votes.documents.tolist(), votes.judge_codes.tolist(), votes.places.tolist(), strict=True
        )
    }


@given(said=SAID, least=st.integers(1, 2))
def test_votes_are_the_grades_that_were_given(said: Said, least: int) -> None:
    """Every grade is there under its names, and nothing that is none; states are counted apart."""
    votes = file_votes(said)
    found = votes.votes(["ann", "bob"], least=least)
    n_graders: dict[tuple[str, str], int] = {}
    for (topic, docno, _), what in said.items():
        n_graders[topic, docno] = n_graders.get((topic, docno), 0) + (what not in NO_GRADE)
    expected = {
        key: int(what) for key, what in said.items() if what not in NO_GRADE and n_graders[key[:2]] >= least
    }
    assert graded(found, list(votes.docnos)) == expected
    for code, judge in enumerate(("ann", "bob")):
        mine = [what for (_, _, name), what in said.items() if name == judge]
        assert found.skipped[code] == mine.count("s")
        assert found.cannot[code] == mine.count("c")
        assert found.graded[code] == sum(what not in NO_GRADE for what in mine)


def test_topics_are_in_natural_order_whatever_the_files() -> None:
    """Topic 9 comes before 10, and a topic of no chosen judge does not come."""
    said = {("10", "d1", "ann"): "1", ("9", "d1", "ann"): "1", ("A", "d1", "bob"): "1",
            ("9", "d1", "bob"): "2"}  # fmt: skip
    votes = file_votes(said)
    assert votes.votes().votes.topics == ("9", "10", "A")
    assert votes.votes(["ann"], least=1).votes.topics == ("9", "10")


def test_who_is_measured_by_default() -> None:
    """Adjudicators are not, nor those without a grade unless the user named them."""
    said = {("9", "d1", "ann"): "1", ("9", "d1", "bob"): "s", ("9", "d1", "eve"): "1"}
    votes = file_votes(said)
    votes.add_judgements([], {"cy": JudgeKind.IMPORTED}, is_named=True)
    assert votes.votes().votes.judges == ("ann",)
    assert [one.name for one in votes.voters().left_out] == ["cy"]
    assert votes.voters(kinds=["human", "imported"]).voting == ("ann", "cy")
    files = file_votes({})
    files.add_judgements([], {"cy": JudgeKind.IMPORTED, "di": JudgeKind.HUMAN}, is_named=True)
    assert files.votes().votes.judges == ("cy", "di")  # the user named them all
    assert votes.votes(["eve", "bob", "eve"]).votes.judges == ("eve", "bob")
    assert [judge.name for judge in votes.judges()] == ["ann", "bob", "eve", "cy"]


def test_docnos_of_runs_keep_their_numbers() -> None:
    """Documents that rankings number have the same numbers in votes; others come after."""
    votes = FileVotes({"d3": 0, "d1": 1})
    votes.scale = SCALE
    said = {("9", docno, judge): "1" for docno in ("d1", "d2") for judge in ("ann", "bob")}
    votes.add_judgements(judgements(said), KINDS)
    assert votes.votes().document_numbers.tolist() == [1, 2]


def test_what_files_do_not_say_is_refused() -> None:
    """A judge who is not there, a judge twice."""
    votes = file_votes({("9", "d1", "ann"): "1"})
    with pytest.raises(UnknownNameError, match="unknown judge `ane`; known: `ann`"):
        votes.votes(["ane"])
    with pytest.raises(ArgumentError, match="in one file only, but got 'ann'"):
        votes.add_judgements([], {"ann": JudgeKind.HUMAN})
    with pytest.raises(ArgumentError, match="`scale` must be set"):
        FileVotes().votes()


@pytest.mark.parametrize("seed", range(2))
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


ENTRIES = [
    PoolEntry("10", "a", 0, stratum=1, inclusion_probability=1.0),
    PoolEntry("10", "b", 1, stratum=2, inclusion_probability=0.5),
    PoolEntry("10", "c", 2, stratum=2, inclusion_probability=0.5, sampled=False),
    PoolEntry("10", "d", 3, stratum=2, inclusion_probability=0.5),
    PoolEntry("10", "e", 4, stratum=2, inclusion_probability=0.5, sampled=False),
    PoolEntry("9", "a", 0, stratum=1, inclusion_probability=1.0),
]
QRELS = [Qrel("10", "a", 1), Qrel("10", "b", 2), Qrel("10", "c", 1), Qrel("10", "x", 1), Qrel("9", "a", 0)]
"""One that was not sampled, one that is not pooled; `d` of topic 10 waits."""
XINFAP = [
    XinfapRow("10", "0", "a", 1, 1),
    XinfapRow("10", "0", "b", 2, 2),
    XinfapRow("10", "0", "c", 2, -1),
    XinfapRow("10", "0", "d", 2, -1),
    XinfapRow("10", "0", "e", 2, -1),
    XinfapRow("9", "0", "a", 1, 0),
]
STATAP = [StatapRow("10", "a", 1, 0, 1.0), StatapRow("10", "b", 2, 1, 0.5), StatapRow("9", "a", 0, 0, 1.0)]
"""What prels files say of the same pool."""


def pools_of(name: str, pool: str, grades: Grades) -> dict[str, SampledPool]:
    """Fetch a pool in a session of its own."""
    with engine_of(name) as engine, reading(engine) as session:
        topics = topic_keys()
        topics.refresh(session)
        return fetch_sampled_pools(session, topics, pool, grades)


@pytest.fixture
def filled(collection: Collection) -> Collection:
    """Hold a sampled pool, judgements of one judge, and a run."""
    rankings = [
        Ranking("10", ["c", "b", "z", "a", "d"], np.arange(5.0, 0, -1), None),
        Ranking("9", ["a"], np.array([1.0]), None),
    ]
    collection.runs.add(Run("r", rankings, "0" * 64))
    collection.pools.add(Pool(ENTRIES, {"strategy": "stratified"}, name="sample"))
    collection.judgements.add({"ann": QRELS}, kind=JudgeKind.HUMAN)
    return collection


def test_four_standings_stay_apart(filled: Collection, collection_name: str) -> None:
    """Graded, waiting, not sampled though judged; what is not pooled is not there."""
    sole = filled.grades.sole(QrelsDefinition())
    assert sole is not None
    pools = pools_of(collection_name, "sample", sole.by_topic)
    assert list(pools) == ["9", "10"]
    names = filled.runs.ranked().docnos
    pool = pools["10"]
    assert pool.strata is not None
    assert pool.inclusion is not None
    found = {
        names[number]: tuple(
            column[place].item() for column in (pool.states, pool.grades, pool.strata, pool.inclusion)
        )
        for place, number in enumerate(pool.documents.tolist())
    }
    assert found == {
        "a": (GRADED, 1, 1, 1.0),
        "b": (GRADED, 2, 2, 0.5),
        "c": (NOT_SAMPLED, 0, 2, 0.5),
        "d": (UNGRADED, 0, 2, 0.5),
        "e": (NOT_SAMPLED, 0, 2, 0.5),
    }
    assert (pools["9"].states.tolist(), pools["9"].grades.tolist()) == ([GRADED], [0])


def test_collection_and_files_give_the_same_scores(filled: Collection, collection_name: str) -> None:
    """One judge's grades, the final qrels as grades, and rows of both kinds of file."""
    ranked = filled.runs.ranked()
    sole = filled.grades.sole(QrelsDefinition())
    assert sole is not None
    final = grades_by_topic(ranked, filled.grades.final(QrelsDefinition()).rows)
    pools = [pools_of(collection_name, "sample", sole.by_topic), pools_of(collection_name, "sample", final)]
    pools += [xinfap_pools(ranked, XINFAP), statap_pools(ranked, STATAP)]
    arrays = [sampled_rankings(ranked.tags, ranked.rankings, one, cutoff=1000) for one in pools]
    assert {one.topics for one in arrays} == {("9", "10")}
    stratified = [stratified_scores(one, cutoffs=(), max_retrieved=1000, level=1) for one in arrays[:3]]
    for scores in stratified:
        # Relevant: b at rank 2 for four, below c of its stratum (a third), and a at rank 4.
        expected = (4 * (1 + 1 / 3) / 2 + (1 + 2 * 1 / 1) / 4) / 5
        assert scores.n_relevant.tolist() == [0.0, 5.0]
        assert scores.inf_ap[0, 1] == pytest.approx(expected, abs=3e-5)
        assert scores.inf_ap[0, 1] == stratified[0].inf_ap[0, 1]
    for one in (*arrays[:2], arrays[3]):
        assert statap_scores(one, level=1).n_relevant.tolist() == [0.0, 3.0]
        by_hand = (2 * 1 / 2 + (1 + 2) / 4) / 3
        assert statap_scores(one, level=1).stat_ap[0, 1] == pytest.approx(by_hand, rel=1e-14)


def test_pool_that_is_no_sample_has_neither(collection: Collection, collection_name: str) -> None:
    """A depth pool; nothing judged; and a pool there is not."""
    collection.pools.add(make_pool({"1": ["a", "b"]}))
    pool = pools_of(collection_name, "pool", {})["1"]
    assert (pool.strata, pool.inclusion) == (None, None)
    assert pool.states.tolist() == [UNGRADED, UNGRADED]
    with pytest.raises(UnknownNameError, match="pool"):
        pools_of(collection_name, "none", {})


def test_negative_rels_of_a_stratified_file(filled: Collection) -> None:
    """As the program has it none is sampled; by choice -1 alone is not."""
    ranked = filled.runs.ranked()
    rows = [XinfapRow("10", "0", docno, 1, code) for docno, code in (("a", -2), ("b", -1))]
    assert xinfap_pools(ranked, rows)["10"].states.tolist() == [NOT_SAMPLED] * 2
    pool = xinfap_pools(ranked, rows, negatives_judged=True)["10"]
    by_document = dict(zip(pool.documents.tolist(), pool.states.tolist(), strict=True))
    assert by_document == {ranked.ids["a"]: GRADED, ranked.ids["b"]: NOT_SAMPLED}


def test_methods_of_a_statap_file(filled: Collection) -> None:
    """Two methods that chose a document make it certain; -999 is no judgement."""
    ranked = filled.runs.ranked()
    rows = [
        StatapRow("10", "a", 1, 2, 0.1),
        StatapRow("10", "b", -2, 1, 0.25),
        StatapRow("10", "new", -999, 4, 0.5),
    ]
    pool = statap_pools(ranked, rows)["10"]
    order = [pool.documents.tolist().index(ranked.ids[docno]) for docno in "ab"]
    assert pool.inclusion is not None
    assert pool.inclusion[order].tolist() == [1.0, 0.25]
    assert pool.states[order].tolist() == [GRADED, GRADED]
    assert sorted(pool.states.tolist()) == [NOT_SAMPLED, GRADED, GRADED]
    told = statap_pools(ranked, rows, collisions_certain=False)["10"].inclusion
    assert told is not None
    assert told[order].tolist() == [0.1, 0.25]


def test_only_the_sampled_document_needs_a_probability(collection: Collection, collection_name: str) -> None:
    """One that was not sampled may lack it, as of a stratum of which nothing was."""
    entries = [
        PoolEntry("1", "a", 0, stratum=1, inclusion_probability=0.5),
        PoolEntry("1", "b", 1, stratum=2, sampled=False),
        PoolEntry("2", "a", 0, stratum=1),
        PoolEntry("2", "b", 1, stratum=1, inclusion_probability=0.5, sampled=False),
        PoolEntry("3", "a", 0, stratum=2, sampled=False),
    ]
    collection.pools.add(Pool(entries, {"strategy": "stratified"}, name="sample"))
    pools = pools_of(collection_name, "sample", {})
    inclusion = pools["1"].inclusion
    assert inclusion is not None
    assert np.isnan(inclusion).tolist() == [False, True]
    assert (pools["2"].inclusion, pools["3"].inclusion) == (None, None)
    assert all(one.strata is not None for one in pools.values())


def test_documents_that_two_choices_took_are_certain(filled: Collection) -> None:
    """The manifest of an imported file notes method 2; other methods leave probabilities alone."""
    methods = {"2": {"10": ["b", "gone"]}, "4": {"10": ["d"]}, "1": {"9": ["a"]}}
    filled.pools.add(Pool(ENTRIES, {"strategy": "imported", "methods": methods}, name="two"))
    name, pools = filled.grades.sampled_pools({}, "two")
    assert name == "two"
    names = filled.runs.ranked().docnos
    inclusion = pools["10"].inclusion
    assert inclusion is not None
    numbers = pools["10"].documents.tolist()
    found = {names[one]: chance for one, chance in zip(numbers, inclusion.tolist(), strict=True)}
    assert found == {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.5, "e": 0.5}


def test_only_sampled_pool_needs_no_name(filled: Collection) -> None:
    """A pool that is no sample and one that is withdrawn do not count; of two one is named."""
    filled.pools.add(make_pool({"1": ["a", "b"]}))
    assert filled.grades.sampled_pools({})[0] == "sample"
    filled.pools.add(Pool(ENTRIES[:1], {"strategy": "uniform"}, name="other"))
    with pytest.raises(PoolerError, match="there are 2 sampled pools: other, sample"):
        filled.grades.sampled_pools({})
    filled.pools.withdraw("sample")
    assert filled.grades.sampled_pools({})[0] == "other"
    filled.pools.withdraw("other")
    with pytest.raises(PoolerError, match="there is no sampled pool"):
        filled.grades.sampled_pools({})


def test_what_was_graded_before_the_sample_is_known(collection: Collection) -> None:
    """A document that speaks for the sample was graded after it was drawn."""
    entries = [PoolEntry("1", docno, place, stratum=1) for place, docno in enumerate("ab")]
    collection.judgements.add({"ann": [Qrel("1", "a", 1)]}, HUMAN)
    collection.pools.add(Pool(entries, {"strategy": "uniform"}, name="sample"))
    collection.judgements.add({"bob": [Qrel("1", "b", 1)]}, HUMAN)
    ((topic,), _) = collection.grades.candidates(1)
    assert topic.candidates is not None
    assert topic.candidates.graded.tolist() == [True, True]
    assert sorted(topic.candidates.known.tolist()) == [False, True]


def test_any_round_is_written_as_it_is(collection: Collection) -> None:
    """Rounds are names of an organiser's own, on both engines."""
    rounds = ["50%", "it's", "0", "%s", "é"]
    grades = [Qrel("7", f"d{place}", 1, name) for place, name in enumerate(rounds)]
    collection.judges.add("ann", HUMAN)
    collection.judgements.add({"ann": grades}, HUMAN)
    found = collection.grades.final(QrelsDefinition())
    assert found.rows == grades
