"""Answers read, by hand: what is a grade, what is none and why, probabilities of grades."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from pooler.model_client.parse import (
    NotACompletionError,
    grade_probabilities,
    read_grade,
    read_reason,
    read_reply,
)
from store.model_judge import Unreadable
from tests.model_server import completion

SCALE = (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"grade": 2}', 2),
        (' {"grade":0}\n', 0),
        ('{"why": "because 3", "grade": 1}', 1),
        ("3", 3),
        ('```json\n{"grade": 2}\n```', 2),
        ('{"grade": 2}{"grade": 2}', 2),
        ("4", Unreadable.OFF_SCALE),
        ("12", Unreadable.OFF_SCALE),
        ("-1", Unreadable.OFF_SCALE),
        ('{"grade": 7}', Unreadable.OFF_SCALE),
        ('{"grade": 1.5}', Unreadable.OFF_SCALE),
        ('{"grade": 2.0}', Unreadable.OFF_SCALE),
        ('{"grade": 1e0}', Unreadable.OFF_SCALE),
        ('{"grade": NaN}', Unreadable.NOT_JSON),
        ("-Infinity", Unreadable.NOT_JSON),
        ('{"grade": ' + "9" * 10_000 + "}", Unreadable.OFF_SCALE),
        ('{"grade": "2"}', Unreadable.NO_GRADE),
        ('"2"', Unreadable.NO_GRADE),
        ('{"grade": true}', Unreadable.NO_GRADE),
        ('{"grade": null}', Unreadable.NO_GRADE),
        ('{"relevance": 2}', Unreadable.NO_GRADE),
        ("[2]", Unreadable.NO_GRADE),
        ("{}", Unreadable.NO_GRADE),
        ('{"grade": 1, "grade": 2}', Unreadable.TWO_GRADES),
        ('{"grade": 1}\n{"grade": 2}', Unreadable.TWO_GRADES),
        ("1, 2", Unreadable.TWO_GRADES),
        ("The grade is 2.", Unreadable.NOT_JSON),
        ("2 of 3", Unreadable.NOT_JSON),
        ('{"grade": 2', Unreadable.NOT_JSON),
        ("[" * 100_000, Unreadable.NOT_JSON),
    ],
)
def test_a_grade_is_an_integer_of_the_scale(content: str, expected: object) -> None:
    """What is none has its reason; no digit is picked out of anything."""
    assert read_grade(content, SCALE) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"grade": 2, "reason": " It says so. "}', "It says so."),
        ('```json\n{"reason": "水", "grade": 2}\n```', "水"),
        ('{"grade": 9, "reason": "off the scale"}', "off the scale"),
        ('{"grade": 2} {"reason": "later"}', "later"),
        ('{"grade": 2, "reason": ["a", "list"]}', ""),
        ('{"grade": 2, "why": "another key"}', ""),
        ("2", ""),
        ("Since it says so: 2", ""),
        ("[" * 100_000, ""),
    ],
)
def test_a_reason_is_text_beside_the_grade(content: str, expected: str) -> None:
    """It changes no grade, and nothing is made up where there is none."""
    assert read_reason(content) == expected
    assert read_reply(completion(content), SCALE).note == expected


def test_a_scale_of_two_digits_and_negative_grades() -> None:
    """Values are those of the scale; a map goes before it."""
    assert read_grade('{"grade": -2}', (-2, 0, 10)) == -2
    assert read_grade("10", (-2, 0, 10)) == 10
    assert read_grade("3", (0, 1), {2: 1, 3: 1}) == 1
    assert read_grade("4", (0, 1), {2: 1, 3: 1}) is Unreadable.OFF_SCALE


MAP = {0: 0, 1: 0, 2: 1, 3: 2}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"grade": 2}', 1),
        ('{"grade": 1}', 0),
        ('{"grade": 3} {"grade": 3}', 2),
        ('{"grade": 2.0}', Unreadable.OFF_SCALE),
        ('{"grade": 2} {"grade": 2.0}', Unreadable.OFF_SCALE),
        ('{"grade": 0}{"grade": 1}', Unreadable.TWO_GRADES),
        ('{"grade": 4}', Unreadable.OFF_SCALE),
    ],
)
def test_a_map_is_of_what_the_model_said(content: str, expected: int | Unreadable) -> None:
    """Two grades stay two though the map makes them one, and a fraction is none."""
    assert read_grade(content, (0, 1, 2), MAP) == expected


def test_a_grade_that_a_map_does_not_name_is_off_the_scale() -> None:
    """Though the collection's own scale has it; its probability counts no more than a word's."""
    assert read_grade('{"grade": 2}', (0, 1, 2), {0: 0, 3: 1}) is Unreadable.OFF_SCALE
    tokens = [{"token": "3", "top_logprobs": top(("3", 0.6), ("2", 0.2), ("0", 0.2))}]
    chances, mass = grade_probabilities("3", tokens, (0, 1, 2), {0: 0, 3: 1})
    assert chances == pytest.approx({0: 0.25, 1: 0.75, 2: 0.0})
    assert mass == pytest.approx(0.8)


def top(*pairs: tuple[str, float]) -> list[dict[str, Any]]:
    """Write the likeliest tokens of a place."""
    return [{"token": token, "logprob": math.log(share)} for token, share in pairs]


SHARES = (("2", 0.5), (" 2", 0.05), ("1", 0.25), ("0", 0.1), ("The", 0.1))


def test_probabilities_are_those_of_the_example_by_hand() -> None:
    """M = .90; p = 1/9, 5/18, 11/18 of 0, 1, 2; expected grade 3/2; P(2 or more) = 11/18."""
    tokens = [
        {"token": '{"', "logprob": 0.0, "top_logprobs": top(("3", 0.9))},
        {"token": 'grade":', "logprob": 0.0, "top_logprobs": []},
        {"token": " 2", "logprob": math.log(0.5), "top_logprobs": top(*SHARES)},
        {"token": "}", "logprob": 0.0, "top_logprobs": []},
    ]
    chances, mass = grade_probabilities('{"grade": 2}', tokens, SCALE)
    assert chances is not None
    assert mass == pytest.approx(0.9, rel=1e-12)
    assert chances == pytest.approx({0: 1 / 9, 1: 5 / 18, 2: 11 / 18, 3: 0}, rel=1e-12)
    assert sum(grade * share for grade, share in chances.items()) == pytest.approx(3 / 2)
    assert sum(share for grade, share in chances.items() if grade >= 2) == pytest.approx(11 / 18)


def test_little_mass_gives_no_probabilities() -> None:
    """Of .49 nothing follows; .5 is enough."""
    for share, is_enough in ((0.49, False), (0.5, True)):
        tokens = [{"token": "2", "top_logprobs": top(("2", share), ("x", 1 - share))}]
        chances, mass = grade_probabilities("2", tokens, SCALE)
        assert (chances is not None) is is_enough
        assert mass == pytest.approx(share)


@pytest.mark.parametrize(
    "tokens", [[], [{"token": "3"}], [{"token": "2"}], [{}], ["2"], [{"token": "2", "top_logprobs": [{}]}]]
)
def test_tokens_that_are_not_those_of_the_answer_say_nothing(tokens: list[Any]) -> None:
    """The grade stands without them."""
    assert grade_probabilities("2", tokens, SCALE) == (None, None)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion(None), Unreadable.EMPTY),
        (completion("  \n"), Unreadable.EMPTY),
        (completion(None, message={"refusal": "no"}), Unreadable.REFUSAL),
        (completion("2", finish="content_filter"), Unreadable.REFUSAL),
        (completion("2", finish="length"), Unreadable.TRUNCATED),
        (completion(None, finish="tool_calls"), Unreadable.EMPTY),
    ],
)
def test_reasons_of_replies(body: bytes, reason: Unreadable) -> None:
    """Refused, cut off and empty go before what is in the text."""
    reply = read_reply(body, SCALE)
    assert (reply.grade, reply.unreadable) == (None, reason)


def test_usage_is_read_where_it_is_one() -> None:
    """Counts as the server gives them; what is no count is not known."""
    reply = read_reply(completion("2", system_fingerprint="fp"), SCALE)
    assert (reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) == (90, 10, 7)
    assert (reply.reasoning_tokens, reply.served_model, reply.fingerprint) == (None, "stub-1", "fp")
    odd = {
        "choices": [{"message": {"content": "2"}}],
        "usage": {"prompt_tokens": -1, "completion_tokens": True},
    }
    reply = read_reply(json.dumps(odd).encode(), SCALE)
    assert (reply.grade, reply.prompt_tokens, reply.completion_tokens) == (2, None, None)


def test_several_choices_are_no_grade() -> None:
    """Which of them is the answer is not known, even where they say the same."""
    choice = json.loads(completion("2"))["choices"]
    reply = read_reply(completion("2", choices=choice * 2), SCALE)
    assert (reply.grade, reply.unreadable) == (None, Unreadable.TWO_GRADES)
    assert read_reply(completion("2", choices=choice), SCALE).grade == 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b"null",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"error": {"message": "busy"}}',
        b'{"choices": [{"message": null}]}',
        completion("2")[:60],
        completion("2", logprob=math.nan),
    ],
)
def test_other_bodies_are_no_reply(body: bytes) -> None:
    """They failed on their way."""
    with pytest.raises(NotACompletionError):
        read_reply(body, SCALE)
