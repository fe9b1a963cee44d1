"""`store.codes`: what the codes of a qrels file mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.codes import decode_rows, graded_rows, parse_codes, parse_map
from store.errors import ArgumentError, FaultList, FormatError
from store.formats.qrels import QrelRow
from store.records import Qrel
from store.scale import parse_scale

SCALE = parse_scale("0-2")


def test_codes_are_read() -> None:
    """Each `CODE=unjudged` gives one code; repeating it changes nothing."""
    assert parse_codes([]) == set()
    assert parse_codes(["-1=unjudged", "9=unjudged", "-1=unjudged"]) == {-1, 9}


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
    with pytest.raises(ArgumentError, match="`--code` must be CODE=unjudged with an integer"):
        parse_codes([text])


def test_maps_are_read() -> None:
    """Each `FROM=TO` gives one entry; a chain is not followed, so 10 and 3 can change places."""
    assert parse_map([]) == {}
    assert parse_map(["10=3", "3=10", "-2=0"]) == {10: 3, 3: 10, -2: 0}


@pytest.mark.parametrize(
    "texts", [["3"], ["3="], ["=3"], ["a=1"], ["1=1.5"], ["1=2", "1=3"], ["1=2=3"], ["1=²"]]
)
def test_other_maps_are_refused(texts: list[str]) -> None:
    """Anything but two integers, or two answers for one code, is refused."""
    with pytest.raises(ArgumentError, match="`--map` must be FROM=TO, two integers"):
        parse_map(texts)


def test_lines_become_judgements_by_judge() -> None:
    """Judged, unjudged, mapped: each line is one of them, and the iteration stays."""
    rows = [
        QrelRow(1, "t", "1", "a", 2),
        QrelRow(2, "t", "0.5", "b", -1),
        QrelRow(3, "t", "2", "c", 10),
    ]
    faults = FaultList("q")
    decoded = decode_rows(
        graded_rows(rows, judge="me"), SCALE, unjudged={-1}, mapping={10: 1}, faults=faults
    )
    assert decoded.judged == {"me": [Qrel("t", "a", 2, "1"), Qrel("t", "c", 1, "2")]}
    assert decoded.unjudged == [("t", "b")]
    assert decoded.pairs == [("t", "a"), ("t", "b"), ("t", "c")]
    assert not faults


def test_unjudged_wins_over_a_map() -> None:
    """A code that is declared unjudged is not looked up in the map."""
    rows = [QrelRow(1, "t", "0", "a", -1)]
    faults = FaultList("q")
    decoded = decode_rows(
        graded_rows(rows, judge="me"), SCALE, unjudged={-1}, mapping={-1: 0}, faults=faults
    )
    assert (decoded.judged, decoded.unjudged) == ({}, [("t", "a")])


def test_judge_column_is_no_iteration() -> None:
    """When column 2 names the judge, judgements are of round 0, and pairs stand once."""
    rows = [
        QrelRow(1, "t", "ann", "a", 2),
        QrelRow(2, "t", "bob", "a", -1),
        QrelRow(3, "t", "cid", "a", -1),
    ]
    named = graded_rows(rows, judge=None, judge_column=2)
    decoded = decode_rows(named, SCALE, unjudged={-1}, faults=FaultList("q"))
    assert decoded.judged == {"ann": [Qrel("t", "a", 2, "0")]}
    assert decoded.unjudged == decoded.pairs == [("t", "a")]


def test_codes_off_the_scale_are_faults_with_their_lines() -> None:
    """Every code that is no grade is told with its line, and the grade it was mapped to."""
    rows = [
        QrelRow(4, "t", "0", "a", 3),
        QrelRow(7, "t", "0", "b", -1),
        QrelRow(8, "t", "0", "c", 1),
    ]
    faults = FaultList("q")
    decoded = decode_rows(graded_rows(rows, judge="me"), SCALE, mapping={3: 5}, faults=faults)
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
        st.builds(QrelRow, st.integers(1, 9), st.sampled_from("12"), st.sampled_from("xy"),
                  st.sampled_from("abcd"), codes),
        max_size=8,
    ),
    unjudged=st.sets(codes, max_size=2),
    mapping=st.dictionaries(codes, codes, max_size=3),
    by_column=st.booleans(),
)  # fmt: skip
def test_every_line_is_exactly_one_of_judged_unjudged_and_fault(
    rows: list[QrelRow], unjudged: set[int], mapping: dict[int, int], by_column: bool
) -> None:
    """Counted one by one, no line is lost, doubled, or turned into another kind."""
    faults = FaultList("q")
    named = graded_rows(
        rows, judge=None if by_column else "me", judge_column=2 if by_column else None
    )
    decoded = decode_rows(named, SCALE, unjudged=unjudged, mapping=mapping, faults=faults)
    judged: dict[str, list[Qrel]] = {}
    left, n_faults = [], 0
    for row in rows:
        if row.code in unjudged:
            left.append((row.topic, row.docno))
        elif mapping.get(row.code, row.code) not in (0, 1, 2):
            n_faults += 1
        else:
            grade = mapping.get(row.code, row.code)
            qrel = Qrel(row.topic, row.docno, grade, "0" if by_column else row.iteration)
            judged.setdefault(row.iteration if by_column else "me", []).append(qrel)
    assert decoded.judged == judged
    assert sorted(decoded.unjudged) == sorted(set(left))
    assert faults.count == n_faults
    assert sorted(decoded.pairs) == sorted({(row.topic, row.docno) for row in rows})
