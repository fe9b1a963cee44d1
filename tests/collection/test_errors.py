"""Errors and nouns: what they say and carry, and that they survive a process boundary."""

from __future__ import annotations

import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import (
    SHOWN_FAULTS,
    ArgumentError,
    Fault,
    FaultList,
    FormatError,
    PoolerError,
    StoreError,
    UnknownNameError,
    nearest,
)
from store.records import Action, Grade, JudgeKind, Qrel, QrelColumns, Scale, State


def test_pooler_error_carries_its_hint_apart_from_its_message() -> None:
    """The hint is a second line, not part of the sentence."""
    error = StoreError("it is locked", hint="wait")
    assert (str(error), error.message, error.hint) == ("it is locked", "it is locked", "wait")
    assert PoolerError("x").hint is None
    assert traceback.format_exception_only(error)[-2:] == [
        "store.errors.StoreError: it is locked\n",
        "hint: wait\n",
    ]


def test_format_error_says_path_line_and_message_of_each_fault() -> None:
    """A fault of the whole file has no line number."""
    error = FormatError("a.run", [Fault(3, "expected x, got y", "x"), Fault(None, "empty")])
    assert str(error) == "a.run:3: expected x, got y\na.run: empty"
    assert (error.path, error.line, error.n_faults) == ("a.run", 3, 2)
    assert error.faults[1] == Fault(None, "empty", "format")
    assert FormatError("a.run", []).line is None


def test_fault_list_keeps_the_first_and_counts_all() -> None:
    """A file of a million bad lines costs twenty-five messages."""
    faults = FaultList("a.run")
    assert not faults
    faults.raise_if_any()
    for line in range(1, 31):
        faults.add(line, f"fault {line}", "x")
    assert (len(faults), len(faults.kept)) == (30, SHOWN_FAULTS)
    with pytest.raises(FormatError) as caught:
        faults.raise_if_any(hint="do this")
    lines = str(caught.value).splitlines()
    assert lines[0] == "a.run:1: fault 1"
    assert lines[24] == "a.run:25: fault 25"
    assert lines[25:] == ["a.run: and 5 more faults"]
    assert caught.value.hint == "do this"


def test_argument_error_says_requirement_and_value() -> None:
    """The value is shown as Python writes it, so that a blank or a digit string is seen."""
    assert str(ArgumentError("depth", "must be an integer >= 1", 0)) == (
        "`depth` must be an integer >= 1, but got 0"
    )
    assert ArgumentError("--order", "must be x", "trec ").message.endswith("but got 'trec '")


def test_unknown_name_error_lists_what_is_known_nearest_first() -> None:
    """A typing mistake finds its name at the front; at most ten are listed."""
    error = UnknownNameError("judge", "alcie", ["bob", "alice", "carol"])
    assert str(error) == "unknown judge `alcie`; known: `alice`, `bob`, `carol`"
    assert error.known == ["alice", "bob", "carol"]
    many = UnknownNameError("topic", "x", map(str, range(12)))
    assert str(many).endswith(" and 2 more")
    assert str(many).count("`") == 2 + 2 * 10
    assert str(UnknownNameError("run", "x", [])) == "unknown run `x`; there is no run yet"


def test_known_names_that_are_not_close_are_in_natural_order() -> None:
    """Whatever order they come in, as those of a set do: numbers by value."""
    topics = {f"G{number}" for number in range(1, 13)}
    error = UnknownNameError("topic", "web", topics)
    assert error.known == [f"G{number}" for number in range(1, 13)]
    listed = "`G1`, `G2`, `G3`, `G4`, `G5`, `G6`, `G7`, `G8`, `G9`, `G10` and 2 more"
    assert str(error) == f"unknown topic `web`; known: {listed}"


@given(st.text(), st.lists(st.text(), unique=True))
def test_nearest_loses_no_name_and_puts_the_name_itself_first(name: str, known: list[str]) -> None:
    """It sorts, it does not choose; what is equal to the name is most like it."""
    ordered = nearest(name, known)
    assert sorted(ordered) == sorted(known)
    if name in known:
        assert ordered[0].lower() == name.lower()


def test_faults_of_several_checks_are_in_line_order() -> None:
    """What a later check tells of an earlier line comes first, also among more than are kept."""
    faults = FaultList("f")
    for line in range(10, 40):
        faults.add(line, "short")
    faults.add(None, "damaged")
    faults.add(12, "unknown")
    faults.add(3, "unknown")
    faults.add(3, "grade")
    faults.add(39, "grade")
    with pytest.raises(FormatError) as refused:
        faults.raise_if_any()
    kept = [(fault.line, fault.message) for fault in refused.value.faults]
    # 25 of 35: two of line 3, lines 10 to 12, the later one of line 12, lines 13 to 31.
    assert kept == [
        *[(3, "unknown"), (3, "grade"), (10, "short"), (11, "short"), (12, "short")],
        *[(12, "unknown"), *[(line, "short") for line in range(13, 32)]],
    ]
    assert refused.value.n_faults == 35
    few = FaultList("f")
    few.hint = "look again"
    few.add(None, "damaged")
    few.add(2, "short")
    with pytest.raises(FormatError) as refused:
        few.raise_if_any()
    assert str(refused.value) == "f:2: short\nf: damaged"
    assert refused.value.hint == "look again"


JUNK = Scale(
    (Grade(-2, "junk", "x"), Grade(0, "no", "0"), Grade(1, "yes", "1"), Grade(2, "very", "2")),
    relaxed=1,
    rigid=2,
)


def test_scale_values_and_labels_are_those_declared() -> None:
    """Negative grades are grades; a value off the scale is named with what is on it."""
    assert JUNK.values == (-2, 0, 1, 2)
    assert JUNK.label(-2) == "junk"
    with pytest.raises(UnknownNameError, match=r"unknown grade `-1`; known: .*`-2`"):
        JUNK.label(-1)


def test_a_level_leaves_grades_on_both_sides() -> None:
    """Another would turn every document relevant, or none; it need not be a grade itself."""
    assert [JUNK.check_level(level) for level in (-1, 0, 1, 2)] == [-1, 0, 1, 2]
    for level in (-3, -2, 3):
        with pytest.raises(ArgumentError, match=r"`level` must be above -2 and at most 2"):
            JUNK.check_level(level)


def test_columns_of_qrels_are_their_lines() -> None:
    """Four columns are as long as the lines, give these one by one, and are made of them; none is empty."""
    rows = [Qrel("1", "a", 2), Qrel("1", "b", 0, "7")]
    columns = QrelColumns(["1", "1"], ["a", "b"], [2, 0], ["0", "7"])
    assert ([*columns], len(columns), columns[1], columns[:1]) == (rows, 2, rows[1], rows[:1])
    assert [*QrelColumns.of(rows)] == rows
    assert QrelColumns.of(columns) is columns
    assert [*QrelColumns.of([])] == []


def test_stored_words_are_fixed() -> None:
    """These words stand in databases and exports: changing one would orphan them."""
    assert [*JudgeKind] == ["human", "model", "imported", "adjudicator"]
    assert [*State] == ["unjudged", "skipped", "cannot", "judged"]
    assert [*Action] == ["judge", "skip", "cannot", "note", "mark", "undo", "reopen"]


@pytest.mark.parametrize(
    "error",
    [
        FormatError("a.run", [Fault(3, "m", "c")], n_faults=40, hint="h"),
        StoreError("m", hint="h"),
        ArgumentError("depth", "must be x", 0),
        UnknownNameError("run", "x", ["y"]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling_with_all_they_know(error: PoolerError) -> None:
    """A worker process can raise them in its parent."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
