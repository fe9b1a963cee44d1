"""What a model judge is, and what it answered: two records, and what stands in files and tables for them.

A model judge is one model, asked with one prompt under one set of parameters, read by one parser and shown
one cut of topic and document: another of any of these is another judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

from store.errors import ArgumentError

MOCK = "mock"
"""The judge, its model and its server that are built in, and no language model."""
NOT_STATED = "not stated"
"""A value like any other: who does not know a revision says so."""


class Unreadable(StrEnum):
    """Why an answer has no grade; the pair cannot be judged then, and its grade is never 0."""

    REFUSAL = "refusal"
    TRUNCATED = "truncated"
    """Cut off before its end."""
    EMPTY = "empty"
    NOT_JSON = "not-json"
    NO_GRADE = "no-grade"
    OFF_SCALE = "off-scale"
    """A number that is no grade of the scale; never its first digit."""
    TWO_GRADES = "two-grades"
    """It names grades that differ, or comes in several choices."""
    TOO_LONG = "too-long"
    """The document does not fit; nothing was asked."""


class Asked(StrEnum):
    """What an answer was asked for."""

    JUDGE = "judge"
    """A judgement: the only one that leads to an event."""
    REPEAT = "repeat"
    """Whether the judge says the same again."""
    CANARY_ORDER = "canary-order"
    """Of a copy of the document with an instruction in it. Canaries are no judgements of any document."""
    CANARY_WORDS = "canary-words"
    """Of a copy with the topic's words in it."""
    CANARY_TITLE = "canary-title"
    """Of a copy with the topic's title as its heading."""


CANARIES = (Asked.CANARY_ORDER, Asked.CANARY_WORDS, Asked.CANARY_TITLE)


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Who a model judge is; all but the family is part of its hash."""

    model: str
    """The id, as it is sent."""
    revision: str = NOT_STATED
    """Hash or commit of the weights."""
    endpoint: str = NOT_STATED
    """The kind of server, as ``chat-completions``."""
    host: str = NOT_STATED
    """Of the server, with its port where it has one; never credentials."""
    prompt_sha256: str = NOT_STATED
    """Of the template's bytes; see `prompt_hash`."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """All that are sent, temperature too, and none that are implied; JSON values only."""
    parser: str = NOT_STATED
    """The rule that turns an answer into a grade."""
    parser_version: str = NOT_STATED
    grade_map: Mapping[int, int] = field(default_factory=dict)
    """What the parser's grades become on the collection's scale; empty = they stay."""
    topic_fields: tuple[str, ...] = ()
    """What of a topic is shown: of title, description, narrative; empty = not stated."""
    document_fields: tuple[str, ...] = ()
    """What of a document is shown: of title, text; empty = not stated."""
    max_characters: int | None = None
    """At most so many of a document; ``None`` = all."""
    cut: str = "never"
    """How a longer document is cut; ``never`` = it cannot be judged."""
    family: str = ""
    """Declared: models of one family are not independent judges. Not part of the hash."""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ArgumentError("model", "must name a model", self.model)
        if "@" in self.host or "/" in self.host:
            raise ArgumentError("host", "must be a host, without credentials or path", "(not shown)")
        self.canonical()

    def values(self) -> dict[str, Any]:
        """Return what the hash is of, as JSON values."""
        return {
            "model": self.model,
            "revision": self.revision,
            "endpoint": {"kind": self.endpoint, "host": self.host},
            "prompt": self.prompt_sha256,
            "parameters": dict(self.parameters),
            "parser": {
                "name": self.parser,
                "version": self.parser_version,
                "map": {str(old): new for old, new in self.grade_map.items()},
            },
            "shown": {
                "topic": list(self.topic_fields),
                "document": list(self.document_fields),
                "max_characters": self.max_characters,
                "cut": self.cut,
            },
        }

    def canonical(self) -> str:
        """Return the canonical JSON: keys sorted, no blanks, no escapes but those that JSON needs.

        >>> ModelIdentity("m", parameters={"temperature": 0}).canonical()[:57]
        '{"endpoint":{"host":"not stated","kind":"not stated"},"mo'
        """
        try:
            return json.dumps(
                self.values(), sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
            )
        except (TypeError, ValueError) as error:
            raise ArgumentError("parameters", f"must be values of JSON ({error})", "others") from error

    @property
    def sha256(self) -> str:
        """The identity hash: SHA-256 of the canonical JSON in UTF-8."""
        return sha256(self.canonical().encode("utf-8", "surrogatepass")).hexdigest()

    @classmethod
    def of_canonical(cls, text: str, *, family: str = "") -> ModelIdentity:
        """Read an identity from its JSON; raise `ValueError` where it is none."""
        try:
            values = json.loads(text)
            endpoint, parser, shown = values["endpoint"], values["parser"], values["shown"]
            return cls(
                model=values["model"],
                revision=values["revision"],
                endpoint=endpoint["kind"],
                host=endpoint["host"],
                prompt_sha256=values["prompt"],
                parameters=values["parameters"],
                parser=parser["name"],
                parser_version=parser["version"],
                grade_map={int(old): int(new) for old, new in parser["map"].items()},
                topic_fields=tuple(shown["topic"]),
                document_fields=tuple(shown["document"]),
                max_characters=shown["max_characters"],
                cut=shown["cut"],
                family=family,
            )
        except (KeyError, TypeError, AttributeError, ArgumentError) as error:
            raise ValueError(f"not the identity of a model judge ({error})") from error


def prompt_hash(prompt: str) -> str:
    """Return the SHA-256 of a prompt's bytes."""
    return sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered, as it is read; exactly one of `grade` and `unreadable` is set."""

    grade: int | None = None
    unreadable: Unreadable | None = None
    served_model: str = ""
    """The id that the server answered with; empty = none."""
    fingerprint: str = ""
    """Of the system, as the server answered."""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    """Of `prompt_tokens`."""
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    """Of `completion_tokens`."""
    probabilities: Mapping[int, float] | None = None
    """Of grades of the scale; they sum to 1. ``None`` = not asked for, or `mass` is below 1/2."""
    mass: float | None = None
    """What the model gave to all grades together, in (0, 1]."""
    note: str = ""
    """The model's own words, where they are kept with the judgement; empty = none were given."""


@dataclass(frozen=True, slots=True)
class Answer(Reply):
    """One request to a model, and what came of it.

    Neither `grade` nor `unreadable` is set where the request failed on its way for good: that is no judgement
    at all.
    """

    judge: str
    topic: str
    docno: str
    asked: Asked = Asked.JUDGE
    topic_version: int | None = None
    document_sha256: str | None = None
    """Hash of the document's title and text, as stored; ``None`` = not known."""
    request_sha256: str = ""
    """Of the request's body; empty = not known."""
    attempt: int = 1
    """From 1; failed ones before it are counted."""
    sent_at: datetime | None = None
    """UTC; ``None`` = not known, as are the next."""
    received_at: datetime | None = None
    status: int | None = None
    """Of HTTP; ``None`` = no reply."""
    body: bytes = b""
    """What the server sent, byte for byte."""
    cost: float | None = None
    """In the currency of the prices that were given; ``None`` = not known."""

    def __post_init__(self) -> None:
        if self.grade is not None and self.unreadable is not None:
            raise ArgumentError("answer", "must have a grade or a reason, not both", self.unreadable)

    @property
    def is_judgement(self) -> bool:
        """Whether it leads to a judgement event."""
        return self.asked is Asked.JUDGE and (self.grade is not None or self.unreadable is not None)

    @property
    def seconds(self) -> float | None:
        """From the request to the end of the reply; ``None`` = not known."""
        if self.sent_at is None or self.received_at is None:
            return None
        return (self.received_at - self.sent_at).total_seconds()
