"""What a window may send to the server: read, or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import WSMessage, WSMsgType
from pooler.serving.server import _read_message, _sizes


@pytest.mark.parametrize(
    "text", ["no json", "{}", "[]", "[1, 2]", "null", '["', "[" * 100_000, f"[{'9' * 5000}]", '"stdin"', "\0"]
)
def test_what_makes_no_sense_is_of_no_kind(text: str) -> None:
    """Neither JSON of another shape nor what JSON cannot be, however deep or long."""
    assert _read_message(WSMessage(WSMsgType.TEXT, text, None)) == ("", None)


def test_bytes_are_no_message() -> None:
    """Windows send text."""
    assert _read_message(WSMessage(WSMsgType.BINARY, b'["stdin", "x"]', None)) == ("", None)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"width": 100, "height": 30}, (100, 30)),
        ({"width": "100", "height": "30"}, (100, 30)),
        ({"width": 10**8, "height": 1}, (500, 5)),
        ({"width": 0, "height": 10**30}, (20, 24)),
        ({"width": -100, "height": True}, (80, 24)),
        ({"width": 1e999, "height": "٣٠"}, (80, 30)),
        ({"width": {"x": 1}, "height": None}, (80, 24)),
        ({}, (80, 24)),
    ],
)
def test_size_of_a_window_is_within_bounds(given: dict[str, Any], read: tuple[int, int]) -> None:
    """What is no number is the usual size; what is too small or too large, the nearest that is not."""
    sizes = _sizes(json.loads(json.dumps(given)))
    assert (sizes["width"], sizes["height"]) == read
