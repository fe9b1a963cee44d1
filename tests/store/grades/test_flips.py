"""`store.grades.qrels`: what another choice would have made of it, against making it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from store.grades import Aggregate
from store.grades.definition import QrelsDefinition
from store.grades.opinions import CurrentRuling, gather
from store.grades.qrels import Change, FinalQrels, decide, flips_of
from store.records import Judgement, State
from tests.helpers.world import parse_scale
from tests.store.grades.deciding import final_qrels

SCALE = parse_scale("0-2")
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


def test_document_that_another_order_would_grade_is_added() -> None:
    """0 1 2 is tied and left out; collapsed first it is relevant to two of three, and has a 1."""
    rows = judgements_of({("a", "x"): 0, ("a", "y"): 1, ("a", "z"): 2})
    policy = QrelsDefinition(aggregate="majority", ties="unresolved")
    flips = flips_of(gather(rows, SCALE, policy), policy, None, (1, 2))
    assert flips[0].grades == Change(added=1)
    assert flips[-1].relevance == {1: Change(added=1), 2: Change(added=1)}
    assert flips[-1].relevance[1].to_json() == {"added": 1, "removed": 0, "changed": 0}


def test_rules_without_a_choice_have_no_flips() -> None:
    """A single judge and sums have neither ties nor an order of collapsing."""
    rows = judgements_of({("a", "x"): 1})
    for policy in (QrelsDefinition(), QrelsDefinition(aggregate="sum")):
        assert flips_of(gather(rows, SCALE, policy), policy, None, (1, 2)) == []
