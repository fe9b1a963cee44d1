"""Errors: what they say, what they carry, and that they survive a process boundary."""

from __future__ import annotations

import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import (
    SHOWN_FAULTS,
    ArgumentError,
    ConflictError,
    Fault,
    FaultList,
    FormatError,
    PoolerError,
    SchemaError,
    StoreError,
    UnknownNameError,
    nearest,
)


def test_every_error_is_a_pooler_error() -> None:
    """One `except` catches whatever a user can put right."""
    for error in (FormatError, ArgumentError, UnknownNameError, StoreError):
        assert issubclass(error, PoolerError)
    assert issubclass(SchemaError, StoreError)
    assert issubclass(ConflictError, StoreError)


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


def test_fault_list_of_exactly_the_shown_number_mentions_no_more() -> None:
    """At the limit nothing is left over."""
    faults = FaultList("a.run")
    for line in range(1, SHOWN_FAULTS + 1):
        faults.add(line, "x")
    with pytest.raises(FormatError) as caught:
        faults.raise_if_any()
    assert "more" not in str(caught.value)


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


def test_format_error_survives_pickling_with_all_it_knows() -> None:
    """A worker process can raise it in its parent."""
    error = FormatError("a.run", [Fault(3, "m", "c")], n_faults=40, hint="h")
    again = pickle.loads(pickle.dumps(error))
    assert (again.path, again.faults, again.n_faults) == ("a.run", (Fault(3, "m", "c"),), 40)
    assert (str(again), again.hint) == (str(error), "h")


@pytest.mark.parametrize("error", [PoolerError("m", hint="h"), StoreError("m", hint="h")])
def test_plain_errors_survive_pickling_with_their_hint(error: PoolerError) -> None:
    """A worker process can raise them in its parent."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.hint) == (type(error), "m", "h")


@pytest.mark.parametrize(
    "error", [ArgumentError("depth", "must be x", 0), UnknownNameError("run", "x", ["y"])]
)
def test_errors_with_names_survive_pickling(error: PoolerError) -> None:
    """A worker process can raise them in its parent."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
