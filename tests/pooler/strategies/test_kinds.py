"""`pooler.strategies.kinds`: parameters, and the rows of the table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.kinds import FixedStrategy, Parameter, ParameterValue
from store.errors import ArgumentError, UnknownNameError

FREE = Parameter("weight", 1.5, "any number")
WHOLE = Parameter("depth", 10, "an integer", type=int, least=1, most=100)
OPEN = Parameter("p", None, "a probability", least=0, most=1, is_open=True)
NAMED = Parameter("arm", "ucb", "which rule", type=str)
STRATEGY = FixedStrategy(
    name="toy",
    summary="a toy",
    source="Nobody 1900",
    parameters=(WHOLE, OPEN, NAMED),
    values=lambda rankings, **_: np.zeros(rankings.n_documents),
)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (FREE, "-2.5e3", -2500.0),
        (FREE, "7", 7.0),
        (WHOLE, "1", 1),
        (WHOLE, "100", 100),
        (OPEN, "0.001", 0.001),
        (NAMED, "thompson", "thompson"),
        (NAMED, "60", "60"),
    ],
)
def test_parse_good_text_is_a_value_of_the_type(
    parameter: Parameter, text: str, value: ParameterValue
) -> None:
    """Text becomes a number or stays text, as the parameter says."""
    parsed = parameter.parse(text)
    assert parsed == value
    assert type(parsed) is parameter.type


@pytest.mark.parametrize(
    ("parameter", "text", "requirement"),
    [
        (FREE, "much", "`weight` must be a number, but got 'much'"),
        (FREE, "nan", "`weight` must be a number, but got nan"),
        (FREE, "inf", "`weight` must be a number, but got inf"),
        (FREE, "", "`weight` must be a number, but got ''"),
        (WHOLE, "0", "`depth` must be an integer >= 1 and <= 100, but got 0"),
        (WHOLE, "101", "`depth` must be an integer >= 1 and <= 100, but got 101"),
        (WHOLE, "2.0", "`depth` must be an integer >= 1 and <= 100, but got '2.0'"),
        (OPEN, "0", "`p` must be a number > 0 and < 1, but got 0.0"),
        (OPEN, "1", "`p` must be a number > 0 and < 1, but got 1.0"),
    ],
)
def test_parse_bad_text_says_what_it_must_be(parameter: Parameter, text: str, requirement: str) -> None:
    """A value that cannot be used is refused with what it must be and what it was."""
    with pytest.raises(ArgumentError) as caught:
        parameter.parse(text)
    assert str(caught.value) == requirement


@given(value=st.floats() | st.integers(-200, 200))
def test_check_accepts_exactly_what_is_within_bounds(value: float) -> None:
    """Closed bounds are allowed, open ones are not, and an integer is no 2.0."""

    def accepts(parameter: Parameter) -> bool:
        try:
            return parameter.check(value) == value
        except ArgumentError:
            return False

    assert accepts(FREE) == math.isfinite(value)
    assert accepts(WHOLE) == (isinstance(value, int) and 1 <= value <= 100)
    assert accepts(OPEN) == (0 < value < 1)
    assert not accepts(NAMED)


def test_check_text_for_a_number_is_refused() -> None:
    """Text is no number, even where it looks like one."""
    with pytest.raises(ArgumentError, match="must be an integer >= 1 and <= 100, but got '5'"):
        WHOLE.check("5")
    with pytest.raises(ArgumentError, match="`arm` must be a name, but got 5"):
        NAMED.check(5)


def test_complete_adds_defaults_in_the_order_of_the_row() -> None:
    """What is not given has its default; what is given is checked."""
    completed = STRATEGY.complete({"p": 0.5, "depth": 3})
    assert list(completed.items()) == [("depth", 3), ("p", 0.5), ("arm", "ucb")]
    with pytest.raises(ArgumentError, match="`depth` must be an integer"):
        STRATEGY.complete({"p": 0.5, "depth": 0})


def test_complete_without_what_must_be_given_is_refused() -> None:
    """A parameter without a default is asked for, with what it is."""
    with pytest.raises(ArgumentError, match="`p` must be given: a probability"):
        STRATEGY.complete({})


def test_complete_unknown_name_lists_the_parameters() -> None:
    """A name the strategy does not know is told with those it does, the nearest first."""
    message = "unknown parameter of `toy` `dept`; known: `depth`, "
    with pytest.raises(UnknownNameError, match=message):
        STRATEGY.complete({"p": 0.5, "dept": 5})


@pytest.mark.parametrize("text", ["1" + "0" * 400, "-1" + "0" * 400])
@pytest.mark.parametrize("kind", [int, float])
def test_numbers_beyond_all_measure_are_refused(text: str, kind: type[int] | type[float]) -> None:
    """A number that float64 does not hold is refused in words."""
    with pytest.raises(ArgumentError, match="`n` must be"):
        Parameter("n", 1, "a number", type=kind).parse(text)


def test_a_truth_value_is_no_number() -> None:
    """True is not 1."""
    with pytest.raises(ArgumentError, match="`n` must be an integer"):
        Parameter("n", 1, "a number", type=int).check(True)
