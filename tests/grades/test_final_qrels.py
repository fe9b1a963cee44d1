"""One grade a document: an account of all others, other choices, a notebook, and whole outputs by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pooler as p
from pooler.sources.judgement_files import FileReading
from pooler.sources.source import Source
from store.analysis.aggregation import TIES
from store.errors import ArgumentError, PoolerError
from store.grades import Aggregate
from store.grades.definition import QrelsDefinition
from store.grades.opinions import CurrentRuling, gather
from store.grades.qrels import Change, FinalQrels, decide, flips_of
from store.judging.disagreements import Settlement
from store.records import Grade, Judgement, Qrel, Scale, State, Ties
from tests.helpers.run import Cli, by_rule, write
from tests.helpers.world import make_scale, parse_scale

SCALE = parse_scale("0-2")
JUNK = make_scale(tuple(Grade(value, str(value), key) for value, key in ((-2, "j"), (0, "0"), (1, "1"))))


def final_qrels(
    judgements: Sequence[Judgement],
    scale: Scale,
    definition: QrelsDefinition | None = None,
    level: int | None = None,
    *,
    adjudicators: Collection[str] = (),
    rulings: Sequence[CurrentRuling] = (),
) -> FinalQrels:
    """Choose the grade of every judged document, by default the only judge's and rulings."""
    definition = definition or QrelsDefinition()
    definition.check()
    definition.check_scale(scale, level)
    all_votes = gather(judgements, scale, definition, adjudicators=adjudicators, rulings=rulings)
    return decide(all_votes, definition, level)


def made(
    docno: str, judge: str, grade: int | None, state: State = State.JUDGED, iteration: str = "0"
) -> Judgement:
    """Make a judgement of topic 1."""
    return Judgement("1", docno, judge, state, grade, iteration=iteration)


def test_only_judge_needs_no_name() -> None:
    """One judge's grades are taken as they are, iterations too, in natural order of topics."""
    rows = [
        Judgement("10", "b", "me", State.JUDGED, 2, iteration="3"),
        Judgement("9", "z", "me", State.JUDGED, 0),
        Judgement("10", "a", "me", State.JUDGED, 1),
    ]
    final = final_qrels(rows, SCALE)
    assert final.rows == [Qrel("9", "z", 0), Qrel("10", "a", 1), Qrel("10", "b", 2, "3")]
    assert (final.judges, final.rule, final.ties) == (("me",), "single judge", None)


def test_several_judges_must_be_chosen_from() -> None:
    """Judges who differ leave a document undecided where no rule is said; one who only skipped is none."""
    rows = [made("a", "me", 1), made("a", "you", 0)]
    final = final_qrels(rows, SCALE)
    assert (final.rows, final.left_out, final.n_undecided) == ([], {("1", "a"): "undecided"}, 1)
    assert final.rule == "primary judge, else equal grades"
    skipped = made("a", "you", None, State.SKIPPED)
    assert final_qrels([rows[0], skipped], SCALE).rows == [Qrel("1", "a", 1)]


def test_majority_of_three_on_a_scale_with_junk() -> None:
    """The most frequent grade wins, negative ones too; a tie goes as asked."""
    votes = {"a": (-2, -2, 1), "b": (-2, 0, 1), "c": (0, 1, 1)}
    rows = [
        made(docno, judge, grade)
        for docno, grades in votes.items()
        for judge, grade in zip("xyz", grades, strict=True)
    ]
    low = final_qrels(rows, JUNK, QrelsDefinition(aggregate="majority", ties="low"))
    high = final_qrels(rows, JUNK, QrelsDefinition(aggregate="majority", ties="high"))
    none = final_qrels(rows, JUNK, QrelsDefinition(aggregate="majority", ties="unresolved"))
    assert [row.grade for row in low.rows] == [-2, -2, 1]
    assert [row.grade for row in high.rows] == [-2, 1, 1]
    assert [(row.docno, row.grade) for row in none.rows] == [("a", -2), ("c", 1)]
    assert (low.n_decided_by_ties, low.left_out) == (1, {})
    assert (none.n_decided_by_ties, none.left_out) == (0, {("1", "b"): "undecided"})


def test_nothing_judged_is_an_error() -> None:
    """Without any grade there are no qrels, whatever else was decided."""
    with pytest.raises(PoolerError, match="nothing is judged yet"):
        final_qrels([], SCALE)
    with pytest.raises(PoolerError, match="judge `me` has judged nothing"):
        final_qrels(
            [made("a", "me", None, State.CANNOT)],
            SCALE,
            QrelsDefinition(judges=("me",), without_rulings=True),
        )


judgements = st.lists(
    st.builds(
        lambda docno, judge, document_states, iteration: made(
            docno, judge, document_states[1], document_states[0], iteration
        ),
        st.sampled_from("abc"),
        st.sampled_from("xyz"),
        st.one_of(
            st.sampled_from([0, 1, 2]).map(lambda grade: (State.JUDGED, grade)),
            st.sampled_from([State.SKIPPED, State.CANNOT, State.UNJUDGED]).map(lambda state: (state, None)),
        ),
        st.sampled_from(["0", "0.5"]),
    ),
    unique_by=lambda one: (one.docno, one.judge),
    max_size=9,
)


@given(rows=judgements, ties=st.sampled_from(["low", "high", "unresolved"]))
def test_every_document_is_accounted_for(rows: list[Judgement], ties: Ties) -> None:
    """Counted by hand, each document is a row, tied, skipped, impossible, or untouched."""
    by_docno: dict[str, list[Judgement]] = {}
    for row in rows:
        by_docno.setdefault(row.docno, []).append(row)
    expected, counts = [], Counter[str]()
    for docno in sorted(by_docno):
        ones = by_docno[docno]
        votes = Counter(one.grade for one in ones if one.state is State.JUDGED)
        states = {one.state for one in ones}
        if not votes:
            counts["cannot"] += State.CANNOT in states
            counts["skipped"] += State.SKIPPED in states and State.CANNOT not in states
            continue
        best = sorted(grade for grade, n in votes.items() if n == max(votes.values()))
        counts["undecided"] += len(best) > 1
        if len(best) > 1 and ties == "unresolved":
            counts["unresolved"] += 1
            continue
        rounds = {one.iteration for one in ones if one.state is State.JUDGED}
        counts["mixed"] += len(rounds) > 1
        grade = best[-1] if ties == "high" else best[0]
        expected.append(Qrel("1", docno, grade, rounds.pop() if len(rounds) == 1 else "0"))
    if not any(one.state is State.JUDGED for one in rows):
        with pytest.raises(PoolerError):
            final_qrels(rows, SCALE, QrelsDefinition(aggregate="majority", ties=ties))
        return
    final = final_qrels(rows, SCALE, QrelsDefinition(aggregate="majority", ties=ties))
    assert final.rows == expected
    assert final.count_left_out("skipped") == counts["skipped"]
    assert final.count_left_out("cannot") == counts["cannot"]
    assert final.count_left_out("undecided") == counts["unresolved"]
    assert final.n_decided_by_ties == (0 if ties == "unresolved" else counts["undecided"])
    assert final.n_mixed_iterations == counts["mixed"]


def test_order_of_judgements_changes_nothing() -> None:
    """The same judgements in any order give the same qrels."""
    rows = [made(docno, judge, grade) for (docno, judge), grade in
            zip(product("ab", "xyz"), (0, 1, 2, 2, 2, 0), strict=True)]  # fmt: skip
    policy = QrelsDefinition(aggregate="majority", ties="low")
    forwards, backwards = (final_qrels(said, SCALE, policy) for said in (rows, rows[::-1]))
    assert forwards.rows == backwards.rows
    assert forwards.n_decided_by_ties == backwards.n_decided_by_ties == 1


def test_scale_decides_what_a_grade_is() -> None:
    """A grade that the declared scale does not have is refused, not ranked."""
    wrong = Scale(SCALE.grades[:2], 1, None)
    with pytest.raises(ArgumentError, match="`grade` must be one of"):
        final_qrels([made("a", "me", 2)], wrong)


def of_judges(votes: dict[str, tuple[int | None, ...]]) -> list[Judgement]:
    """Make judgements of judges x, y, z, ...; ``None`` = not judged."""
    return [
        made(docno, judge, grade)
        for docno, grades in votes.items()
        for judge, grade in zip("wxyz", grades, strict=False)
        if grade is not None
    ]


@pytest.mark.parametrize(
    ("rule", "ties", "grades"),
    [
        ("majority", "low", [0, 2]),
        ("majority", "high", [1, 2]),
        ("median", "low", [0, 2]),
        ("median", "high", [1, 2]),
        ("mean", None, [1, 1]),
        ("min", None, [0, 0]),
        ("max", None, [1, 2]),
        ("sum", None, [2, 4]),
    ],
)
def test_rules_give_what_they_say(rule: Aggregate, ties: Ties | None, grades: list[int]) -> None:
    """Of 0 0 1 1 and of 0 2 2, by hand; a mean of 4/3 is 1, of 2/4 is 1."""
    rows = of_judges({"a": (0, 0, 1, 1), "b": (0, 2, 2)})
    final = final_qrels(rows, SCALE, QrelsDefinition(aggregate=rule, ties=ties))
    assert [row.grade for row in final.rows] == grades
    assert (final.rule, final.ties, final.judges) == (rule, ties, ("w", "x", "y", "z"))
    assert final.outcome.n_fewer_votes == (1 if rule == "sum" else 0)
    # The majority of a and its median are tied; its mean is half-way.
    assert final.n_decided_by_ties == (1 if rule in ("majority", "median", "mean") else 0)


def test_level_is_a_cut_before_or_after() -> None:
    """0 0 1 2 is 0 by majority, but half of the judges find it relevant: a tie, if collapsed."""
    rows = of_judges({"a": (0, 0, 1, 2), "b": (1, 1, 0, 2)})
    choices: list[tuple[bool, Ties, list[int]]] = [
        (False, "low", [0, 1]),
        (False, "high", [0, 1]),
        (True, "low", [0, 1]),
        (True, "high", [1, 1]),
    ]
    for first, ties, expected in choices:
        policy = QrelsDefinition(aggregate="majority", ties=ties, binary_first=first)
        assert [row.grade for row in final_qrels(rows, SCALE, policy, 1).rows] == expected
    open_ = QrelsDefinition(aggregate="majority", ties="unresolved", binary_first=True)
    assert final_qrels(rows, SCALE, open_, 1).left_out == {("1", "a"): "undecided"}
    assert [row.grade for row in final_qrels(rows[:1], SCALE, QrelsDefinition(), 1).rows] == [0]
    with pytest.raises(ArgumentError, match="`binary_first` must come with a level"):
        final_qrels(rows, SCALE, open_)


def test_level_of_sums_is_one_of_the_sums() -> None:
    """A level is checked against what judges' grades can add up to, not against the scale."""
    rows = of_judges({"a": (2, 2, 1), "b": (1, 0, 1)})
    final = final_qrels(rows, SCALE, QrelsDefinition(aggregate="sum"), 5)
    assert [(row.docno, row.grade) for row in final.rows] == [("a", 1), ("b", 0)]
    for level in (0, 7):
        with pytest.raises(ArgumentError, match="`level` must be above 0 and at most 6, as sums"):
            final_qrels(rows, SCALE, QrelsDefinition(aggregate="sum"), level)


RULED = [
    CurrentRuling("1", "a", 2, "zoe"),
    CurrentRuling("1", "b", None, "zoe", Settlement.CHANGED),
    CurrentRuling("1", "d", 1, "yan", Settlement.UNNEEDED),
]


@pytest.mark.parametrize("rule", ["majority", "median", "mean", "min", "max"])
def test_ruling_wins_over_every_rule(rule: Aggregate) -> None:
    """Where a ruling stands it is the grade, or leaves the document out; else the rule decides."""
    votes = {"a": (0, 0, 0), "b": (1, 1, 1), "c": (0, 0, 0), "d": (None, None, None)}
    rows = [*of_judges(votes), made("a", "zoe", 2), made("b", "zoe", None, State.CANNOT),
            made("d", "yan", 1, iteration="3"), made("e", "zoe", None, State.SKIPPED)]  # fmt: skip
    policy = QrelsDefinition(aggregate=rule, ties="low" if rule in ("majority", "median") else None)
    final = final_qrels(rows, SCALE, policy, adjudicators={"zoe", "yan"}, rulings=RULED)
    assert final.rows == [Qrel("1", "a", 2), Qrel("1", "c", 0), Qrel("1", "d", 1, "3")]
    assert final.left_out == {("1", "b"): "cannot", ("1", "e"): "skipped"}
    assert (final.judges, final.adjudicators) == (("w", "x", "y"), ("yan", "zoe"))
    assert (final.n_ruled, final.n_ruled_cannot) == (2, 1)
    assert (final.n_rulings_changed, final.n_rulings_unneeded) == (1, 1)
    without = replace(policy, without_rulings=True)
    plain = final_qrels(rows, SCALE, without, adjudicators={"zoe", "yan"}, rulings=RULED)
    assert [(row.docno, row.grade) for row in plain.rows] == [("a", 0), ("b", 1), ("c", 0)]
    assert (plain.left_out, plain.n_ruled, plain.adjudicators) == ({}, 0, ())
    final = final_qrels(rows, SCALE, policy, 2, adjudicators={"zoe", "yan"}, rulings=RULED)
    assert [(row.docno, row.grade) for row in final.rows] == [("a", 1), ("c", 0), ("d", 0)]


def test_ruling_settles_a_tie() -> None:
    """A tied document with a ruling is neither unresolved nor the tie rule's doing."""
    rows = [*of_judges({"a": (0, 2), "b": (0, 2)}), made("a", "zoe", 1)]
    for ties, n_decided, left_out in (("low", 1, {}), ("unresolved", 0, {("1", "b"): "undecided"})):
        final = final_qrels(
            rows, SCALE, QrelsDefinition(aggregate="majority", ties=ties),  # type: ignore[arg-type]
            adjudicators={"zoe"}, rulings=[CurrentRuling("1", "a", 1, "zoe")],
        )  # fmt: skip
        assert final.rows[0] == Qrel("1", "a", 1)
        assert (final.n_decided_by_ties, final.left_out) == (n_decided, left_out)


def test_judge_named_alone_is_not_ruled_over() -> None:
    """`judge` takes one judge's own grades; the only voter's grades give way to rulings."""
    rows = [made("a", "me", 0), made("b", "me", 0), made("a", "zoe", 2)]
    given_ = {"adjudicators": {"zoe"}, "rulings": [CurrentRuling("1", "a", 2, "zoe")]}
    own = final_qrels(rows, SCALE, QrelsDefinition(judges=("me",), without_rulings=True), **given_)  # type: ignore[arg-type]
    assert [row.grade for row in own.rows] == [0, 0]
    assert (own.judges, own.n_ruled) == (("me",), 0)
    only = final_qrels(rows, SCALE, QrelsDefinition(), **given_)  # type: ignore[arg-type]
    assert [row.grade for row in only.rows] == [2, 0]
    hers = final_qrels(rows, SCALE, QrelsDefinition(judges=("zoe",), without_rulings=True), **given_)  # type: ignore[arg-type]
    assert hers.rows == [Qrel("1", "a", 2)]


def test_judges_that_are_named_vote_alone() -> None:
    """`of` leaves the others' votes and skips out of account."""
    rows = [*of_judges({"a": (0, 2, 2)}), made("b", "x", None, State.SKIPPED)]
    policy = QrelsDefinition(aggregate="min", judges=("x", "y"))
    final = final_qrels(rows, SCALE, policy)
    assert (final.rows, final.judges) == ([Qrel("1", "a", 2)], ("x", "y"))
    assert final.left_out == {("1", "b"): "skipped"}
    assert final_qrels(rows, SCALE, QrelsDefinition(judges=("w",))).rows == [Qrel("1", "a", 0)]
    with pytest.raises(PoolerError, match="nothing is judged by zoe"):
        final_qrels(rows, SCALE, QrelsDefinition(judges=("zoe",)))


def test_sums_and_rulings_are_not_mixed() -> None:
    """A ruling is a grade and no sum of grades: one must be left out, and the hint says how."""
    rows = of_judges({"a": (0, 2)})
    rulings = [CurrentRuling("1", "a", 1, "zoe")]
    with pytest.raises(ArgumentError, match="must be another rule where rulings stand") as caught:
        final_qrels(rows, SCALE, QrelsDefinition(aggregate="sum"), rulings=rulings)
    assert caught.value.hint == "--without-rulings leaves the rulings out"
    alone = final_qrels(rows, SCALE, QrelsDefinition(aggregate="sum", without_rulings=True), rulings=rulings)
    assert [row.grade for row in alone.rows] == [2]


def test_rulings_alone_are_qrels() -> None:
    """Where nobody but an adjudicator judged, the rulings are the grades."""
    final = final_qrels(
        [made("a", "zoe", 1)], SCALE, adjudicators={"zoe"},
        rulings=[CurrentRuling("1", "a", 1, "zoe")],
    )  # fmt: skip
    assert (final.rows, final.judges, final.adjudicators) == ([Qrel("1", "a", 1)], (), ("zoe",))


def test_dawid_skene_tells_how_it_went() -> None:
    """Iterations, and documents with fewer votes than three, are told; two judges are refused."""
    rows = of_judges({"a": (0, 0, 0), "b": (1, 1, 1), "c": (1, 1), "d": (0, 0, 1)})
    final = final_qrels(rows, SCALE, QrelsDefinition(aggregate="dawid-skene"))
    assert [row.grade for row in final.rows] == [0, 1, 1, 0]
    assert final.outcome.n_fewer_votes == 1
    assert final.outcome.estimate is not None
    assert final.outcome.estimate.converged
    assert final.outcome.estimate.n_iterations > 0
    with pytest.raises(PoolerError, match="at least 3 judges, and has 2"):
        final_qrels(of_judges({"a": (0, 1)}), SCALE, QrelsDefinition(aggregate="dawid-skene"))


def test_dawid_skene_learns_from_rulings() -> None:
    """Where three judges gave 0 and the ruling was 2, their 0 on another document is read as 2."""
    rows = of_judges({"a": (0, 0, 0), "b": (1, 1, 1), "c": (0, 0, 0)})
    rulings = [CurrentRuling("1", "a", 2, "zoe")]
    taught = final_qrels(rows, SCALE, QrelsDefinition(aggregate="dawid-skene"), rulings=rulings)
    assert [row.grade for row in taught.rows] == [2, 1, 2]
    untaught = final_qrels(
        rows, SCALE, QrelsDefinition(aggregate="dawid-skene", without_rulings=True), rulings=rulings
    )
    assert [row.grade for row in untaught.rows] == [0, 1, 0]


RULES: list[Aggregate] = ["majority", "median", "mean", "min", "max"]
Cells = dict[tuple[str, str], int]
"""Grade by (docno, judge)."""
cells_of_judges = st.dictionaries(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("wxyz")), st.integers(0, 2), min_size=1
)


def judgements_of(cells: Cells) -> list[Judgement]:
    """Make judgements of topic 1."""
    return [Judgement("1", *pair, State.JUDGED, grade) for pair, grade in cells.items()]


def relevance(final: FinalQrels, level: int) -> dict[str, bool]:
    """Say which graded documents are relevant; of binary qrels, level 1 is."""
    return {row.docno: row.grade >= level for row in final.rows}


def difference(one: dict[str, bool] | dict[str, int], other: dict[str, bool] | dict[str, int]
               ) -> Change:  # fmt: skip
    """Count the keys that come, that go, and that stay with another value."""
    stay = one.keys() & other.keys()
    return Change(
        added=len(other.keys() - one.keys()),
        removed=len(one.keys() - other.keys()),
        changed=sum(one[key] != other[key] for key in stay),
    )


@given(cells_of_judges, st.sampled_from(RULES), st.data())
def test_flips_equal_making_the_qrels_otherwise(cells: Cells, rule: Aggregate, data: st.DataObject) -> None:
    """Every count is that of comparing two whole sets of qrels; a ruling changes nothing."""
    rows = judgements_of(cells)
    docnos = sorted({docno for docno, _ in cells})
    ruled = data.draw(st.dictionaries(st.sampled_from(docnos), st.sampled_from([None, 0, 2])))
    rulings = [CurrentRuling("1", docno, given_grade, "zoe") for docno, given_grade in ruled.items()]
    ties = data.draw(st.sampled_from(["low", "high", "unresolved"]))
    policy = QrelsDefinition(aggregate=rule, ties=ties if rule in ("majority", "median") else None)

    def made(other: QrelsDefinition, level: int | None = None) -> FinalQrels:
        return final_qrels(rows, SCALE, other, level, rulings=rulings)

    def grades(other: QrelsDefinition, level: int | None = None) -> dict[str, int]:
        return {row.docno: row.grade for row in made(other, level).rows}

    flips = flips_of(gather(rows, SCALE, policy, rulings=rulings), policy, None, (1, 2))
    assert [flip.option for flip in flips] == ["ties"] * (0 if policy.ties is None else 2) + ["binary_first"]
    for flip in flips[:-1]:
        other = replace(policy, ties=flip.value)  # type: ignore[arg-type]
        assert flip.grades == difference(grades(policy), grades(other))
        for level, count in flip.relevance.items():
            one, two = (relevance(made(chosen), level) for chosen in (policy, other))
            assert count == difference(one, two)
    for level, count in flips[-1].relevance.items():
        orders = [replace(policy, binary_first=first) for first in (False, True)]
        assert count == difference(grades(orders[0], level), grades(orders[1], level))
        for chosen, flip in ((one, flips_of(gather(rows, SCALE, one, rulings=rulings), one, level)[-1])
                             for one in orders):  # fmt: skip
            turned = chosen is orders[1]
            back = Change(count.removed, count.added, count.changed)
            assert flip.relevance == {level: back if turned else count}
            assert flip.value != chosen.binary_first


def test_three_different_grades_hang_on_everything() -> None:
    """0 1 2 is 0, or 2, or left out; collapsed first it is relevant to two of three."""
    rows = judgements_of({("a", "x"): 0, ("a", "y"): 1, ("a", "z"): 2})
    policy = QrelsDefinition(aggregate="majority", ties="low")
    all_votes = gather(rows, SCALE, policy)
    assert decide(all_votes, policy, 1).rows[0].grade == 0
    flips = flips_of(all_votes, policy, 1)
    assert [(flip.option, flip.value, flip.grades, flip.relevance) for flip in flips] == [
        ("ties", "high", None, {1: Change(changed=1)}),
        ("ties", "unresolved", None, {1: Change(removed=1)}),
        ("binary_first", True, None, {1: Change(changed=1)}),
    ]


def test_rules_without_a_choice_have_no_flips() -> None:
    """A single judge and sums have neither ties nor an order of collapsing."""
    rows = judgements_of({("a", "x"): 1})
    for policy in (QrelsDefinition(), QrelsDefinition(aggregate="sum")):
        assert flips_of(gather(rows, SCALE, policy), policy, None, (1, 2)) == []


FILES = ["judgements/strict.qrels", "judgements/lenient.qrels", "judgements/middle.qrels"]


@pytest.mark.parametrize("ties", TIES)
def test_a_collection_writes_what_the_command_does(cli: Cli, judged: Path, ties: Ties) -> None:
    """Qrels and manifest are the same bytes."""
    by_rule(cli, "export", "qrels", "--aggregate", "majority", "--ties", ties, "--out", "by_command").fine()
    with p.open_collection("collection.db") as collection:
        assert p.qrels(collection).found[0].label == "official@1"
        made = p.export_qrels(p.source(collection, qrels="ruled@1"))
        given = p.export_qrels(p.source(collection, qrels=p.Qrels(aggregate="majority", ties=ties)))
    made.write("by_function")
    for end in ("", ".manifest.json"):
        assert Path(f"by_function{end}").read_bytes() == Path(f"by_command{end}").read_bytes()
    assert given.text == made.text
    assert given.settings["qrels"] == {"aggregate": "majority", "ties": ties}
    assert made.settings["qrels"] == "ruled@1"
    assert len(made.qrels) == made.counts["judged"] == len(made.table("qrels"))
    assert made.counts["undecided"] == len(made.table("left_out"))
    assert (ties == "unresolved") == any("undecided" in one for one in made.warnings)


def test_files_write_what_the_command_does(cli: Cli, judged: Path) -> None:
    """So are those of files, made binary first; a rigid level needs a scale."""
    how = ("--aggregate", "median", "--ties", "low", "--binary-first", "--level", "rigid", "--scale", "0-2")
    cli("export", "qrels", *FILES, *how, "--out", "by_command").fine()
    rule = p.Qrels(aggregate="median", ties="low", binary_first=True)
    made = p.export_qrels(p.source(judgements=FILES, scale="0-2", qrels=rule), level="rigid")
    made.write("by_function", manifest="beside.json")
    assert Path("by_function").read_bytes() == Path("by_command").read_bytes()
    assert Path("beside.json").read_bytes() == Path("by_command.manifest.json").read_bytes()
    with pytest.raises(p.ArgumentError, match="declared scale"):
        p.export_qrels(p.source(judgements=FILES, qrels=p.Qrels(aggregate="max")), level="rigid")


def test_qrels_of_a_source_count(cli: Cli, judged: Path) -> None:
    """One judge's own grades come by the judge's name; what judges differ on needs a rule."""
    alone = cli("export", "qrels", "strict").fine().out
    with p.open_collection("collection.db") as collection:
        assert p.export_qrels(p.source(collection, qrels="strict")).text == alone
        with pytest.raises(p.PoolerError, match="official@1: 28 documents undecided"):
            p.export_qrels(collection, level=1)
        with pytest.raises(p.ArgumentError, match="`ties` must be low, high"):
            p.export_qrels(p.source(collection, qrels=p.Qrels(aggregate="majority")))
        with pytest.raises(p.UnknownNameError, match="nobody"):
            p.export_qrels(p.source(collection, qrels=p.Qrels(aggregate="max", judges=["nobody"])))
        made = p.qrels_define(collection, "least", p.Qrels(aggregate="min"))
        assert (made.label, made.is_default) == ("least@1", False)
        assert p.qrels_drop(collection, "least").counts["versions"] == 1
    assert p.export_qrels(p.source(qrels=FILES[0])).text == alone


def test_no_judgement_is_invented(tmp_path: Path) -> None:
    """Grade 0, unjudged, skipped, impossible and undecided documents stay apart; others are nowhere."""
    ann = write(tmp_path / "ann.qrels", "1 0 a 0", "1 0 b 2", "1 0 c -1", "1 0 d -2", "1 0 e -3", "1 0 f 1")
    bob = write(tmp_path / "bob.qrels", "1 0 a 0", "1 0 b 0", "1 0 c -1", "1 0 d -2", "1 0 f 1")
    reading = FileReading(codes=["-1=unjudged", "-2=skipped", "-3=cannot"])
    rule = p.Qrels(aggregate="majority", ties="unresolved")
    source = Source(judgements=[str(ann), str(bob)], reading=reading, qrels=rule)
    made = p.export_qrels(source, unjudged=-9)
    assert [(one.docno, one.grade) for one in made.qrels] == [("a", 0), ("f", 1)]
    assert made.text.splitlines() == ["1 0 a 0", "1 0 c -9", "1 0 f 1"]
    left_out = {row["docno"]: row["state"] for row in made.table("left_out").to_records()}
    assert left_out == {"b": "undecided", "c": "unjudged", "d": "skipped", "e": "cannot"}
    assert made.counts == {
        "judged": 2, "by_ruling": 0, "by_tie_rule": 0,
        "undecided": 1, "skipped": 1, "cannot": 1, "unjudged": 1,
    }  # fmt: skip


INPUT = {
    "alpha.run": (
        "9 Q0 a 1 2.5 alpha", "9 Q0 b 2 2.5 alpha", "9 Q0 c 3 2.5 alpha",
        "10 Q0 x/1 1 7 alpha", '10 Q0 "q" 3 3e0 alpha', "10 Q0 z 2 1 alpha",
    ),
    "beta.run": (
        "10 Q0 é 1 0.5 beta", "10 Q0 x/1 2 0.25 beta",
        "9 Q0 b 3 -2 beta", "9 Q0 d 1 -1e-3 beta", "9 Q0 c 2 -1.5 beta",
    ),
    "late.run": ("9 Q0 e 1 1 late",),
    "runs.tsv": ("file\tgroup\tcontributes", "beta.run\t\tyes", "alpha.run\tacme\t", "late.run\tacme\tno"),
    "judges.txt": (
        "9 ann b 2", "9 bob b 1", "9 cid b 1", "9 ann c 0", "9 bob c 2", "9 cid c 1",
        "10 ann x/1 2", "10 bob x/1 0", '10 ann "q" 1',
    ),
}  # fmt: skip
"""Two runs of topics 9 and 10 that feed the pool, a late one, and three judges in column 2."""


@pytest.fixture
def case(here: Path) -> Path:
    """Write these files."""
    for name, lines in INPUT.items():
        write(here / name, *lines)
    return here


def manifest_of(file: str) -> dict[str, Any]:
    """Return a manifest of this version, whose keys are sorted."""
    text = Path(f"{file}.manifest.json").read_text("utf-8")
    facts: dict[str, Any] = json.loads(text)
    assert text == json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert (facts.pop("tool"), facts.pop("version")) == ("pooler", version("pooler"))
    return facts


@pytest.mark.parametrize(
    ("options", "pool"),
    [
        # The first two of alpha and of beta in topic 9, in whose alpha all are level; in topic 10.
        ("", ["9 b", "9 c", "9 d", '10 "q"', "10 x/1", "10 é"]),  # c b, d c; x/1 "q", é x/1
        ("--order docno-asc", ["9 a", "9 b", "9 c", "9 d", '10 "q"', "10 x/1", "10 é"]),  # a b, d c
        ("--order rank", ["9 a", "9 b", "9 c", "9 d", "10 x/1", "10 z", "10 é"]),  # a b, d c; x/1 z, é x/1
        (
            "--annotated",
            [
                "9 b alpha acme 2 2.5", "9 c alpha acme 1 2.5", "9 c beta - 2 -1.5", "9 d beta - 1 -0.001",
                '10 "q" alpha acme 2 3.0', "10 x/1 alpha acme 1 7.0", "10 x/1 beta - 2 0.25",
                "10 é beta - 1 0.5",
            ],
        ),
    ],
)  # fmt: skip
def test_pool_of_two_runs_by_hand(cli: Cli, case: Path, options: str, pool: list[str]) -> None:
    """To depth 2, of what contributes: topic 9 before 10, docnos bytewise (22, 78, c3 a9)."""
    cli("pool", "--runs", "runs.tsv", "--depth", "2", "--out", "got", *options.split()).fine()
    assert (case / "got").read_bytes() == "".join(f"{line}\n" for line in pool).encode()
    if options:
        return
    facts = manifest_of("got")
    assert [(run.pop("tag"), run.pop("sha256")) for run in facts["runs"]] == [  # by sha256sum
        ("alpha", "a11f760fe71848c73d733297967416316b6a1efb227adfb8ca61b5377b0e8cbd"),
        ("beta", "9917694bed8be8aca811683135c72099354f6d4ac56cc04e2a27d43e7c31ffcc"),
        ("late", "cccd1904b5e4a5e41080c6a10901d00e827b4428cc0272a5ab0f4e108633782c"),
    ]
    assert facts == {
        "name": "pool", "round": "0", "strategy": "depth", "parameters": {"depth": 2}, "seed": None,
        "order": "trec", "out_order": "docno", "topics": 2, "pairs": 6, "sizes": {"9": 3, "10": 3},
        "runs": [
            {"file": "alpha.run", "group": "acme", "contributes": True, "documents": 6, "topics": 2},
            {"file": "beta.run", "group": "", "contributes": True, "documents": 5, "topics": 2},
            {"file": "late.run", "group": "acme", "contributes": False, "documents": 1, "topics": 1},
        ],
    }  # fmt: skip


def would(n_changed: int, n_removed: int = 0) -> dict[str, int]:
    """Say what another choice would do to documents."""
    return {"added": 0, "changed": n_changed, "removed": n_removed}


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        # Votes: 9 b 2 1 1 is 1; 9 c 0 2 1 a tie of three grades; 10 "q" 1; 10 x/1 2 0 a tie.
        ("low", ["9 0 b 1", "9 0 c 0", '10 0 "q" 1', "10 0 x/1 0"]),
        ("high --level relaxed --unjudged -1",
         ["9 0 b 1", "9 0 c 1", "9 0 d -1", '10 0 "q" 1', "10 0 x/1 1", "10 0 é -1"]),
        ("ann", ["9 0 b 2", "9 0 c 0", '10 0 "q" 1', "10 0 x/1 2"]),
    ],
)  # fmt: skip
def test_qrels_of_three_judges_by_hand(cli: Cli, case: Path, options: str, lines: list[str]) -> None:
    """By majority, ties low and high, and of one judge; d and é are pooled and not judged.

    With ties high both ties would change grade and, at either level, relevance; unresolved, both would go.
    Binary first at level 1, 9 c is relevant to two of three judges, and was not; 10 x/1 is a tie again. At
    level 2 b and c are relevant to one of three, x/1 to one of two: none is, as before.
    """
    cli("init", "--scale", "0-2", "--name", "golden").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "2").fine()
    cli("import", "judgements", "judges.txt", "--judge-column", "2").fine()
    for ties in ("low", "high"):
        cli("qrels", "define", ties, "--aggregate", "majority", "--ties", ties).fine()
    cli("export", "qrels", *options.split(), "--out", "got").fine()
    assert (case / "got").read_bytes() == "".join(f"{line}\n" for line in lines).encode()
    if options != "low":
        return
    facts = manifest_of("got")
    # By sha256sum.
    assert facts.pop("sha256") == "289b980e1c041b641256dbbfed2afd3cf32339441b5671486117aafd5e65aeae"
    labels = ("not relevant", "partially relevant", "relevant")
    none = {"adjudicators": [], "cannot_be_judged": 0, "changed_since": 0, "decided": 0, "no_disagreement": 0}
    assert facts == {
        "collection": "golden", "qrels": "low@1", "defined": {"aggregate": "majority", "ties": "low"},
        "rule": "majority", "ties": "low", "rulings": True, "binary_first": False, "level": None,
        "judges": [{"kind": "imported", "name": name} for name in ("ann", "bob", "cid")],
        "scale": {"grades": [{"value": n, "key": str(n), "label": label} for n, label in enumerate(labels)],
                  "relaxed": 1, "rigid": 2},
        "topics": 2, "judged": 4, "by_grade": {"0": 2, "1": 2}, "decided_by_tie_rule": 2,
        "left_out": {"cannot_be_judged": 0, "skipped": 0, "undecided": 0}, "mixed_iterations": 0,
        "pooled_and_unjudged": 2, "unjudged_code": None, "adjudication": none,
        "other_choices": [
            {"ties": "high", "grades": would(2), "relevance": {"1": would(2), "2": would(2)}},
            {"ties": "unresolved", "grades": would(0, 2), "relevance": {"1": would(0, 2), "2": would(0, 2)}},
            {"binary_first": True, "relevance": {"1": would(1), "2": would(0)}},
        ],
    }  # fmt: skip
