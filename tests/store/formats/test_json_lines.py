"""`store.formats.json_lines`: one object a line, whatever text is in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.formats.json_lines import NoObjectError, json_line, read_json_object

texts = st.text(st.characters(exclude_categories=()), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@given(st.dictionaries(texts, values, max_size=4))
def test_what_is_written_is_one_line_of_utf8_that_any_json_reader_reads_back(data: dict[str, object]) -> None:
    """A line has no line end and no lone surrogate, and says what JSON's own module says."""
    line = json_line(data)
    assert line.splitlines() == [line]
    line.encode("utf-8")
    plain = json.loads(json.dumps(data))  # joins surrogate pairs, as JSON must
    if len(plain) == len(data):
        assert json.loads(line) == read_json_object(line) == plain


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("é 日本", "é 日本"),
        ('a"b\\c\n\t\x1b', '\\"b\\\\c\\n\\t\\u001b'),
        ("\u202e\u2028\x7f\x9b", "\\u202e\\u2028\\u007f\\u009b"),
        ("\ud800 and \udc80", "\\ud800 and \\udc80"),
        ("\ud83d\ude00", "\U0001f600"),
    ],
)
def test_text_stands_as_it_is_unless_it_could_harm(text: str, written: str) -> None:
    """Letters of all languages stay; controls, line separators and lone surrogates are escaped."""
    assert written in json_line({"note": text})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a JSON object, got: Expecting value at column 1"),
        ("{", "expected a JSON object, got: Expecting property name"),
        ("[1]", "expected a JSON object, got a list"),
        ('"a"', "expected a JSON object, got text"),
        ("null", "expected a JSON object, got null"),
        ("true", "expected a JSON object, got true"),
        ("2.5", "expected a JSON object, got 2.5"),
        ('{"a": NaN}', "expected a JSON object, got NaN in it"),
        ('{"a": -Infinity}', "expected a JSON object, got -Infinity in it"),
        ('{"a": 1, "b": 2, "a": 1}', "expected each key once, got `a` twice"),
        ('{"a": {"b": 1, "b": 1}}', "expected each key once, got `b` twice"),
        ("[" * 100_000, "expected a JSON object, got too large a number or too deep a nesting"),
        ("1" * 5000, "expected a JSON object, got too large a number or too deep a nesting"),
    ],
)
def test_what_is_no_object_is_refused(text: str, message: str) -> None:
    """Everything but one JSON object with distinct keys is refused, and named."""
    with pytest.raises(NoObjectError) as refused:
        read_json_object(text)
    assert str(refused.value).startswith(message)
