"""The card of a model judge: a TOML file that says who it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from store.errors import Fault, FormatError, PoolerError
from store.formats.scale import read_toml
from store.model_judge import NOT_STATED, ModelIdentity, prompt_hash

_FIELDS = {"topic": ("title", "description", "narrative"), "doc": ("title", "text")}
"""What a model may be shown."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_shows(value: Any) -> bool:
    known = {f"{one}.{name}" for one, names in _FIELDS.items() for name in names}
    return isinstance(value, list) and all(isinstance(one, str) and one in known for one in value)


def _is_map(value: Any) -> bool:
    def is_grade(text: str) -> bool:
        return text.removeprefix("-").isdecimal()

    return isinstance(value, dict) and all(is_grade(old) and type(new) is int for old, new in value.items())


_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "model": ("the model's id, as the server knows it", _is_text),
    "revision": ("the revision of its weights", _is_text),
    "family": ("the name of a family of models", _is_text),
    "endpoint": ("a kind of server, as chat-completions", _is_text),
    "host": ("a host and port, without a key", _is_text),
    "prompt": ("the file of the template of the prompt", _is_text),
    "parser": ("a rule that reads answers, as json-grade:1", _is_text),
    "shows": (
        f"a list of {', '.join(f'{one}.{name}' for one, names in _FIELDS.items() for name in names)}",
        _is_shows,
    ),
    "max_characters": ("an integer >= 1", _is_count),
    "map": ("a table of grades, as 3 = 2", _is_map),
    "parameters": ("a table of what is sent, as temperature = 0", lambda value: isinstance(value, dict)),
}
"""What each key is, and whether a value is that."""


def read_card(file: str | Path) -> tuple[ModelIdentity, str | None]:
    """Return who a model is by its card, and its prompt where one is named; the file lies beside the card.

    `FormatError` has every fault of the card.
    """
    card = read_toml(str(file))
    faults = [f"expected {', '.join(_KEYS)}; got the key `{name}`" for name in card if name not in _KEYS] + [
        f"`{name}`: expected {what}, got {card[name]!r}"
        for name, (what, is_right) in _KEYS.items()
        if name in card and not is_right(card[name])
    ]
    if "model" not in card:
        faults.append(f"expected the key `model`: {_KEYS['model'][0]}")
    if faults:
        raise FormatError(str(file), [Fault(None, one) for one in faults])
    prompt = None if "prompt" not in card else _read(Path(file).parent / card["prompt"])
    parser, _, version = card.get("parser", "").partition(":")
    topic, document = (
        tuple(one for one in names if f"{noun}.{one}" in card.get("shows", ()))
        for noun, names in _FIELDS.items()
    )
    identity = ModelIdentity(
        model=card["model"],
        revision=card.get("revision", NOT_STATED),
        endpoint=card.get("endpoint", NOT_STATED),
        host=card.get("host", NOT_STATED),
        prompt_sha256=NOT_STATED if prompt is None else prompt_hash(prompt),
        parameters=card.get("parameters", {}),
        parser=parser or NOT_STATED,
        parser_version=version or NOT_STATED,
        grade_map={int(old): new for old, new in card.get("map", {}).items()},
        topic_fields=topic,
        document_fields=document,
        max_characters=card.get("max_characters"),
        cut="end" if "max_characters" in card else "never",
        family=card.get("family", ""),
    )
    return identity, prompt


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        message = f"{file}: {error.strerror}"
        raise PoolerError(message) from error
    except UnicodeDecodeError as error:
        message = f"{file}: expected UTF-8, got the byte {error.object[error.start]:#04x} at {error.start}"
        raise PoolerError(message) from error
