"""`store.final_qrels`: one grade a document, and an account of every document without one."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.aggregation import Ties
from store.errors import ArgumentError, PoolerError
from store.final_qrels import final_qrels
from store.records import Grade, Judgement, Qrel, Scale, State
from store.scale import make_scale, parse_scale

SCALE = parse_scale("0-2")
JUNK = make_scale(
    tuple(Grade(value, str(value), key) for value, key in ((-2, "j"), (0, "0"), (1, "1")))
)


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
    assert final.pairs == {("9", "z"), ("10", "a"), ("10", "b")}


def test_several_judges_must_be_chosen_from() -> None:
    """With several judges the caller says whose grades are meant; one who only skipped is none."""
    rows = [made("a", "me", 1), made("a", "you", 0)]
    with pytest.raises(PoolerError, match=r"2 judges judged \(me, you\); whose grades are meant\?"):
        final_qrels(rows, SCALE)
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
    low = final_qrels(rows, JUNK, aggregate="majority", ties="low")
    high = final_qrels(rows, JUNK, aggregate="majority", ties="high")
    none = final_qrels(rows, JUNK, aggregate="majority", ties="unresolved")
    assert [row.grade for row in low.rows] == [-2, -2, 1]
    assert [row.grade for row in high.rows] == [-2, 1, 1]
    assert [(row.docno, row.grade) for row in none.rows] == [("a", -2), ("c", 1)]
    assert (low.n_decided_by_ties, low.left_out) == (1, {})
    assert (none.n_decided_by_ties, none.left_out) == (0, {("1", "b"): "tied"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"judge": "me", "aggregate": "majority"}, "`--judge` and --aggregate exclude each other"),
        ({"aggregate": "mean", "ties": "low"}, "`--aggregate` must be majority"),
        ({"aggregate": "majority"}, "`--ties` must be low, high or unresolved with --aggregate"),
        ({"ties": "low"}, "`--ties` is a rule of --aggregate majority"),
        ({"judge": "me", "ties": "low"}, "`--ties` is a rule of --aggregate majority"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, str], said: str) -> None:
    """An option that would be ignored, or cannot be used, is told."""
    with pytest.raises(ArgumentError, match=said):
        final_qrels([made("a", "me", 1)], SCALE, **options)  # type: ignore[arg-type]


def test_nothing_judged_is_an_error() -> None:
    """Without any grade there are no qrels, whatever else was decided."""
    with pytest.raises(PoolerError, match="nothing is judged yet"):
        final_qrels([], SCALE)
    with pytest.raises(PoolerError, match="judge `me` has judged nothing"):
        final_qrels([made("a", "me", None, State.CANNOT)], SCALE, judge="me")


judgements = st.lists(
    st.builds(
        lambda docno, judge, standing, iteration: made(
            docno, judge, standing[1], standing[0], iteration
        ),
        st.sampled_from("abc"),
        st.sampled_from("xyz"),
        st.one_of(
            st.sampled_from([0, 1, 2]).map(lambda grade: (State.JUDGED, grade)),
            st.sampled_from([State.SKIPPED, State.CANNOT, State.UNJUDGED]).map(
                lambda state: (state, None)
            ),
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
        counts["tied"] += len(best) > 1
        if len(best) > 1 and ties == "unresolved":
            counts["unresolved"] += 1
            continue
        rounds = {one.iteration for one in ones if one.state is State.JUDGED}
        counts["mixed"] += len(rounds) > 1
        grade = best[-1] if ties == "high" else best[0]
        expected.append(Qrel("1", docno, grade, rounds.pop() if len(rounds) == 1 else "0"))
    if not any(one.state is State.JUDGED for one in rows):
        with pytest.raises(PoolerError):
            final_qrels(rows, SCALE, aggregate="majority", ties=ties)
        return
    final = final_qrels(rows, SCALE, aggregate="majority", ties=ties)
    assert final.rows == expected
    assert final.count_left_out("skipped") == counts["skipped"]
    assert final.count_left_out("cannot") == counts["cannot"]
    assert final.count_left_out("tied") == counts["unresolved"]
    assert final.n_decided_by_ties == (0 if ties == "unresolved" else counts["tied"])
    assert final.n_mixed_iterations == counts["mixed"]


def test_order_of_judgements_changes_nothing() -> None:
    """The same judgements in any order give the same qrels."""
    rows = [made(docno, judge, grade) for (docno, judge), grade in
            zip(product("ab", "xyz"), (0, 1, 2, 2, 2, 0), strict=True)]  # fmt: skip
    forwards = final_qrels(rows, SCALE, aggregate="majority", ties="low")
    assert final_qrels(rows[::-1], SCALE, aggregate="majority", ties="low") == forwards


def test_scale_decides_what_a_grade_is() -> None:
    """A grade that the declared scale does not have is refused, not ranked."""
    wrong = Scale(SCALE.grades[:2], 1, None)
    with pytest.raises(ArgumentError, match="`grade` must be one of"):
        final_qrels([made("a", "me", 2)], wrong)
