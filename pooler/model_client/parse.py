"""From a reply to a grade, or to the reason why there is none; probabilities of grades.

A grade is an integer: of ``{"grade": 2}``, or the reply itself. Nothing is guessed from words, and no first
digit is taken for a number. What cannot be read is never 0. Text at ``reason``, beside the grade, is the
judgement's note.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from store.model_judge import Reply, Unreadable

PARSER, PARSER_VERSION = "json-grade", "1"
"""Part of a judge's identity: a change of the rule raises the version."""
MIN_MASS = 0.5
"""Less than this given to all grades together says nothing about the rest."""
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n?\s*```", re.DOTALL | re.IGNORECASE)
_GRADE_KEY = re.compile(r'"grade"\s*:\s*')
_BLANK_OR_QUOTE = " \t\r\n\"'"


class NotACompletionError(ValueError):
    """A body that is no reply of a model; the request has failed on its way."""


def read_reply(body: bytes, scale: Sequence[int], grade_map: Mapping[int, int] | None = None) -> Reply:
    """Read a body; `NotACompletionError`: it is none of a chat completion."""
    try:
        # Parsed whole in any case: an integer of ten thousand digits would be refused by Python.
        found = json.loads(body, parse_int=_integer, parse_constant=_no_number)
        choice, *others = found["choices"]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise NotACompletionError("the body is no chat completion") from error
    if isinstance(content, list):
        content = "".join(
            one["text"] for one in content if isinstance(one, dict) and isinstance(one.get("text"), str)
        )
    finish = choice.get("finish_reason")
    known: dict[str, Any] = {
        "served_model": _text(found.get("model")),
        "fingerprint": _text(found.get("system_fingerprint")),
        "finish_reason": _text(finish),
        **_usage(found.get("usage")),
    }
    if refusal or finish == "content_filter":
        return Reply(unreadable=Unreadable.REFUSAL, **known)
    if finish == "length":
        return Reply(unreadable=Unreadable.TRUNCATED, **known)
    if others:
        return Reply(unreadable=Unreadable.TWO_GRADES, **known)
    if not isinstance(content, str) or not content.strip():
        return Reply(unreadable=Unreadable.EMPTY, **known)
    grade = read_grade(content, scale, grade_map)
    known["note"] = read_reason(content)
    if isinstance(grade, Unreadable):
        return Reply(unreadable=grade, **known)
    chances, mass = None, None
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, dict) and isinstance(logprobs.get("content"), list):
        chances, mass = grade_probabilities(content, logprobs["content"], scale, grade_map)
    return Reply(grade=grade, probabilities=chances, mass=mass, **known)


def read_grade(
    content: str, scale: Sequence[int], grade_map: Mapping[int, int] | None = None
) -> int | Unreadable:
    """Read the grade of an answer's text.

    >>> read_grade('{"grade": 2}', [0, 1, 2, 3]), read_grade("12", [0, 1, 2, 3])
    (2, <Unreadable.OFF_SCALE: 'off-scale'>)
    """
    try:
        decoded = _decoded(content)
    except (ValueError, RecursionError):
        return Unreadable.NOT_JSON
    values: list[Any] = []
    for value in decoded:
        values += [one for key, one in value if key == "grade"] if isinstance(value, _Pairs) else [value]
    numbers = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    # What the model said, before a map makes two grades of its scale one.
    if len(set(numbers)) > 1:
        return Unreadable.TWO_GRADES
    if not numbers or len(numbers) < len(values):
        return Unreadable.NO_GRADE
    known = _known_grades(scale, grade_map)
    if not all(isinstance(one, int) and one in known for one in numbers):
        return Unreadable.OFF_SCALE
    return known[int(numbers[0])]


def read_reason(content: str) -> str:
    """Read why a model gave its grade; empty where it does not say, or what it says is no JSON.

    >>> read_reason('{"reason": "names two traps", "grade": 2}'), read_reason("2")
    ('names two traps', '')
    """
    try:
        pairs = [pair for value in _decoded(content) if isinstance(value, _Pairs) for pair in value]
    except (ValueError, RecursionError):
        return ""
    return "\n".join(one.strip() for key, one in pairs if key == "reason" and isinstance(one, str))


def _decoded(content: str) -> list[Any]:
    """Return the JSON values of an answer's text, of which there may be several."""
    text = content.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1].strip()
    values: list[Any] = []
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=_integer, parse_constant=_no_number)
    place = 0
    while place < len(text):
        value, place = decoder.raw_decode(text, place)
        values.append(value)
        place += len(text[place:]) - len(text[place:].lstrip(" \t\r\n,;"))
    return values


def grade_probabilities(
    content: str, tokens: Sequence[Any], scale: Sequence[int], grade_map: Mapping[int, int] | None = None
) -> tuple[dict[int, float] | None, float | None]:
    """Return the probability of each grade where the grade stands in an answer, and their mass before that.

    Of the tokens that could have stood there, those that are exactly a grade, but for blanks and quotes.
    ``None`` for both: the place is not found. ``None`` for the first alone: the mass is below 1/2.
    """
    place = _grade_place(content)
    at = _token_at(tokens, place, content)
    if at is None:
        return None, None
    by_name = {str(said): grade for said, grade in _known_grades(scale, grade_map).items()}
    sums = dict.fromkeys(scale, 0.0)
    try:
        for one in at["top_logprobs"]:
            name = one["token"].strip(_BLANK_OR_QUOTE)
            if name in by_name:
                sums[by_name[name]] += math.exp(min(float(one["logprob"]), 0.0))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None, None
    mass = sum(sums.values())
    if not 0 < mass <= 1 + 1e-6:
        return None, None
    if mass < MIN_MASS:
        return None, mass
    return {grade: part / mass for grade, part in sums.items()}, min(mass, 1.0)


def _known_grades(scale: Sequence[int], grade_map: Mapping[int, int] | None) -> dict[int, int]:
    """Return the grades that a model may give, and what each is on the scale: with a map those of the map."""
    given = grade_map or {grade: grade for grade in scale}
    return {said: grade for said, grade in given.items() if grade in scale}


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of an object, in order, keys that come twice too."""


def _integer(digits: str) -> int | float:
    """Read an integer; one that is far off every scale is infinite."""
    return int(digits) if len(digits) < 19 else math.inf


def _no_number(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(name)


def _grade_place(content: str) -> int | None:
    keys = list(_GRADE_KEY.finditer(content))
    if keys:
        return keys[-1].end()
    bare = re.search(r"-?\d", content)
    return bare.start() if bare else None


def _token_at(tokens: Sequence[Any], place: int | None, content: str) -> Mapping[str, Any] | None:
    """Return the token that holds a character; ``None`` where tokens are not those of the content."""
    if place is None or not all(
        isinstance(one, dict) and isinstance(one.get("token"), str) for one in tokens
    ):
        return None
    if not "".join(one["token"] for one in tokens).startswith(content):
        return None
    end = 0
    for one in tokens:
        end += len(one["token"])
        if place < end:
            return cast("Mapping[str, Any]", one)
    return None


def _usage(usage: Any) -> dict[str, int | None]:
    """Return the tokens that a reply counts; ``None`` = it does not say."""
    outer = usage if isinstance(usage, dict) else {}
    prompt, completion = (
        details if isinstance(details := outer.get(f"{name}_tokens_details"), dict) else {}
        for name in ("prompt", "completion")
    )
    return {
        "prompt_tokens": _count(outer.get("prompt_tokens")),
        "cached_tokens": _count(prompt.get("cached_tokens")),
        "completion_tokens": _count(outer.get("completion_tokens")),
        "reasoning_tokens": _count(completion.get("reasoning_tokens")),
    }


def _count(value: Any) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value < 2**31 else None


def _text(value: Any) -> str:
    return value[:200] if isinstance(value, str) else ""
