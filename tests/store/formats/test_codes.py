"""`store.formats.scale`: what the codes of a qrels file mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, ContradictionError, FaultList, FormatError
from store.formats.scale import (
    MEANINGS,
    Meaning,
    RepeatCounts,
    Repeats,
    decode_rows,
    parse_codes,
    parse_map,
    settle_repeats,
)
from store.formats.tables import GradedRow
from store.records import Qrel, State
from tests.helpers.world import parse_scale

SCALE = parse_scale("0-2")


def test_codes_are_read() -> None:
    """Each `CODE=unjudged` gives one code; repeating it changes nothing."""
    assert parse_codes([]) == {}
    assert parse_codes(["-1=unjudged", "9=unjudged", "-1=unjudged"]) == {
        -1: Meaning.UNJUDGED,
        9: Meaning.UNJUDGED,
    }
    assert parse_codes(["-2=unjudgeable", "0=grade"]) == {-2: Meaning.CANNOT, 0: Meaning.GRADE}
    with pytest.raises(ContradictionError, match=r"must give a code one meaning \(it has skipped\)"):
        parse_codes(["-2=skipped", "-2=cannot"])


@pytest.mark.parametrize(
    "text",
    [
        *("", "-1", "=unjudged", "-=unjudged", "--1=unjudged", "+1=unjudged", "1.0=unjudged"),
        *("²=unjudged", "٣=unjudged", "-1=junk", "-1=unjudged ", " -1=unjudged"),
        f"{'1' * 5000}=unjudged",
    ],
)
def test_other_codes_are_refused(text: str) -> None:
    """Anything but an integer and the word is refused, with what is meant instead."""
    words = "not-pooled, unjudged, skipped, cannot, grade, unjudgeable, but got"
    with pytest.raises(ArgumentError, match=f"`codes` must be CODE=MEANING, an integer and one of {words}"):
        parse_codes([text])


def test_every_word_of_a_meaning_is_read() -> None:
    """Each meaning has its word, and what cannot be judged has two."""
    assert {word: parse_codes([f"5={word}"])[5] for word in MEANINGS} == {
        "not-pooled": Meaning.NOT_POOLED,
        "unjudged": Meaning.UNJUDGED,
        "skipped": Meaning.SKIPPED,
        "cannot": Meaning.CANNOT,
        "unjudgeable": Meaning.CANNOT,
        "grade": Meaning.GRADE,
    }


def test_maps_are_read() -> None:
    """Each `FROM=TO` gives one entry; a chain is not followed, so 10 and 3 can change places."""
    assert parse_map([], {}) == {}
    assert parse_map(["10=3", "3=10", "-2=0"], {}) == {10: 3, 3: 10, -2: 0}


@pytest.mark.parametrize("texts", [["3"], ["3="], ["=3"], ["a=1"], ["1=1.5"], ["1=2=3"], ["1=²"]])
def test_other_maps_are_refused(texts: list[str]) -> None:
    """Anything but two integers is refused."""
    with pytest.raises(ArgumentError, match="`mapped` must be FROM=TO, two integers"):
        parse_map(texts, {})


def test_a_grade_is_read_as_one_other() -> None:
    """Two answers for one grade contradict each other; the same twice is no fault."""
    assert parse_map(["1=2", "1=2"], {}) == {1: 2}
    with pytest.raises(
        ContradictionError, match="must read a grade as one other \\(it has 2\\), but got '1=3'"
    ):
        parse_map(["1=2", "1=3"], {})


def test_what_is_no_grade_is_not_mapped() -> None:
    """A code is read as a grade, or is none: of both said, neither wins in silence."""
    codes = {-2: Meaning.SKIPPED, -1: Meaning.GRADE}
    assert parse_map(["-1=0"], codes) == {-1: 0}
    words = "--code -2=skipped says that it is none, but got '-2=0'"
    with pytest.raises(ContradictionError, match=words):
        parse_map(["-1=0", "-2=0"], codes)


def test_lines_become_judgements_by_judge() -> None:
    """Judged, unjudged, mapped: each line is one of them, and the iteration stays."""
    rows = [
        GradedRow(1, "t", "1", "a", "me", 2),
        GradedRow(2, "t", "0.5", "b", "me", -1),
        GradedRow(3, "t", "2", "c", "me", 10),
    ]
    faults = FaultList("q")
    decoded = decode_rows(rows, SCALE, codes={-1: Meaning.UNJUDGED}, mapping={10: 1}, faults=faults)
    assert decoded.judged == {"me": [Qrel("t", "a", 2, "1"), Qrel("t", "c", 1, "2")]}
    assert [*decoded.listed] == [("t", "b")]
    assert decoded.pairs == [("t", "a"), ("t", "b"), ("t", "c")]
    assert not faults


def test_unjudged_wins_over_a_map() -> None:
    """A code that is declared unjudged is not looked up in the map."""
    rows = [GradedRow(1, "t", "0", "a", "me", -1)]
    faults = FaultList("q")
    decoded = decode_rows(rows, SCALE, codes={-1: Meaning.UNJUDGED}, mapping={-1: 0}, faults=faults)
    assert (decoded.judged, [*decoded.listed]) == ({"me": []}, [("t", "a")])


def test_judge_column_is_no_iteration() -> None:
    """When column 2 names the judge, judgements are of round 0, and pairs stand once."""
    rows = [
        GradedRow(1, "t", "0", "a", "ann", 2),
        GradedRow(2, "t", "0", "a", "bob", -1),
        GradedRow(3, "t", "0", "a", "cid", -1),
    ]
    decoded = decode_rows(rows, SCALE, codes={-1: Meaning.UNJUDGED}, faults=FaultList("q"))
    assert decoded.judged == {"ann": [Qrel("t", "a", 2, "0")], "bob": [], "cid": []}
    assert [*decoded.listed] == decoded.pairs == [("t", "a")]


def test_codes_off_the_scale_are_faults_with_their_lines() -> None:
    """Every code that is no grade is told with its line, and the grade it was mapped to."""
    rows = [
        GradedRow(4, "t", "0", "a", "me", 3),
        GradedRow(7, "t", "0", "b", "me", -1),
        GradedRow(8, "t", "0", "c", "me", 1),
    ]
    faults = FaultList("q")
    decoded = decode_rows(rows, SCALE, mapping={3: 5}, faults=faults)
    assert decoded.judged == {"me": [Qrel("t", "c", 1)]}
    with pytest.raises(FormatError) as refused:
        faults.raise_if_any()
    assert refused.value.message == (
        "q:4: expected a grade of the scale (0, 1, 2), got 5\n"
        "q:7: expected a grade of the scale (0, 1, 2), got -1"
    )


codes = st.integers(-2, 4)


@given(
    rows=st.lists(
        st.builds(GradedRow, st.integers(1, 9), st.sampled_from("12"), st.sampled_from("xy"),
                  st.sampled_from("abcd"), st.sampled_from(["ann", "bob"]), codes),
        max_size=8, unique_by=(lambda row: (row.topic, row.docno),),
    ),
    unjudged=st.sets(codes, max_size=2),
    mapping=st.dictionaries(codes, codes, max_size=3),
)  # fmt: skip
def test_every_line_is_exactly_one_of_judged_unjudged_and_fault(
    rows: list[GradedRow], unjudged: set[int], mapping: dict[int, int]
) -> None:
    """Counted one by one, no line is lost, doubled, or turned into another kind."""
    faults = FaultList("q")
    decoded = decode_rows(
        rows, SCALE, codes=dict.fromkeys(unjudged, Meaning.UNJUDGED), mapping=mapping, faults=faults
    )
    judged: dict[str, list[Qrel]] = {}
    left, n_faults = [], 0
    for row in rows:
        of_judge = judged.setdefault(row.judge, [])
        if row.code in unjudged:
            left.append((row.topic, row.docno))
        elif mapping.get(row.code, row.code) not in (0, 1, 2):
            n_faults += 1
        else:
            grade = mapping.get(row.code, row.code)
            qrel = Qrel(row.topic, row.docno, grade, row.iteration)
            of_judge.append(qrel)
    assert decoded.judged == judged
    assert sorted(decoded.listed) == sorted(set(left))
    assert faults.count == n_faults
    assert sorted(decoded.pairs) == sorted({(row.topic, row.docno) for row in rows})


SAID = [  # line, docno, judge, code
    *[(1, "a", "ann", 1), (2, "a", "ann", 1), (3, "b", "ann", 0), (4, "b", "ann", 2)],
    *[(5, "b", "ann", 1), (6, "b", "bob", 0), (7, "c", "bob", -1), (8, "c", "bob", 2)],
]


@pytest.mark.parametrize(
    ("rule", "ann", "bob", "unjudged", "dropped"),
    [
        ("first", {"a": 1, "b": 0}, {"b": 0}, ["c"], 3),
        ("last", {"a": 1, "b": 1}, {"b": 0, "c": 2}, [], 3),
        ("highest", {"a": 1, "b": 2}, {"b": 0, "c": 2}, [], 3),
        ("drop", {"a": 1}, {"b": 0}, [], 5),
    ],
)
def test_repeats_are_settled_by_the_rule(
    rule: Repeats, ann: dict[str, int], bob: dict[str, int], unjudged: list[str], dropped: int
) -> None:
    """Of rows that differ the rule's one counts; alike are one; judges are apart."""
    rows = [GradedRow(line, "t", "0", docno, judge, code) for line, docno, judge, code in SAID]
    faults = FaultList("q")
    decoded = decode_rows(rows, SCALE, codes={-1: Meaning.UNJUDGED}, repeats=rule, faults=faults)
    found = {name: {one.docno: one.grade for one in of} for name, of in decoded.judged.items()}
    assert found == {"ann": ann, "bob": bob}
    assert [docno for _, docno in decoded.listed] == unjudged
    assert decoded.repeats == RepeatCounts(n_same=1, n_differing=2, n_dropped=dropped, first_same=2)
    assert not faults


@pytest.mark.parametrize(
    ("rule", "kept", "alike", "first_same", "dropped"),
    [
        # Codes by line: 1 2 1 2 0.
        ("first", [1], 1, 3, 3),  # line 3 says 1 as well
        ("last", [5], 0, 0, 4),  # nobody else says 0
        ("highest", [2], 1, 4, 3),  # line 4 says 2 as well
        ("drop", [], 0, 0, 5),
    ],
)
def test_line_that_says_what_counts_is_not_left_out(
    rule: Repeats, kept: list[int], alike: int, first_same: int, dropped: int
) -> None:
    """Of lines that differ, those that agree with the one that counts are counted apart."""
    rows = [GradedRow(n, "t", "0", "d", "ann", code) for n, code in enumerate([1, 2, 1, 2, 0], 1)]
    faults = FaultList("q")
    found, counts = settle_repeats(rows, lambda row: (1, row.code), rule, faults)
    assert [row.line for row in found] == kept
    assert counts == RepeatCounts(alike, 1, dropped, 0, first_same)
    assert not faults


def test_repeats_that_differ_are_refused_with_both_lines() -> None:
    """What is alike after the map is no fault; every other line after the first is one."""
    rows = [GradedRow(line, "t", "0", docno, judge, code) for line, docno, judge, code in SAID]
    faults = FaultList("q")
    decoded = decode_rows(rows, SCALE, mapping={-1: 2}, faults=faults)
    assert decoded.repeats.n_refused == 2
    assert [(one.line, one.code) for one in faults.kept] == [(4, "duplicate"), (5, "duplicate")]
    assert faults.kept[0].message.endswith("with grade 2; line 3 has it with grade 0")


def test_a_code_is_any_of_the_five_states() -> None:
    """Not pooled, unjudged, skipped, cannot be judged, grade; nobody is lost who has no grade."""
    rows = [GradedRow(n, "t", "0", f"d{n}", f"j{n}", code) for n, code in enumerate(range(-4, 1))]
    codes = parse_codes(["-4=not-pooled", "-3=unjudged", "-2=skipped", "-1=cannot", "0=grade"])
    decoded = decode_rows(rows, SCALE, codes=codes, faults=FaultList("q"))
    assert decoded.judged == {
        **{f"j{n}": [] for n in range(4)}, "j4": [Qrel("t", "d4", 0)]
    }  # fmt: skip
    assert decoded.pairs == [("t", f"d{n}") for n in range(1, 5)]
    assert ([*decoded.listed], decoded.n_not_pooled) == ([("t", "d1")], 1)
    assert [(one.judge, one.state, one.grade) for one in decoded.states] == [
        ("j2", State.SKIPPED, None), ("j3", State.CANNOT, None)
    ]  # fmt: skip
