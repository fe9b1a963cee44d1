"""Who model judges are, and what they answered, to files and back."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from store.db.tables import ANSWER, MODEL_JUDGE
from store.fields import HASH, MOMENT, UnfitValueError
from store.keeping.directory.tables import (
    JSON_TEXT,
    TIME,
    FileColumn,
    FileTable,
    Incoming,
    Kind,
    Outgoing,
    or_none,
    word,
)
from store.model_judge import Asked, ModelIdentity, Unreadable, prompt_hash
from store.text import natural_key


def _identity(values: dict[str, Any]) -> str:
    """Return the canonical JSON of an identity, or say why it is none."""
    try:
        return ModelIdentity.of_canonical(json.dumps(values)).canonical()
    except ValueError as error:
        raise UnfitValueError(str(error)) from error


def _written_body(body: bytes) -> str | dict[str, str]:
    """Write a body as text where it is UTF-8."""
    raw = zlib.decompress(body) if body else b""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


def _read_body(value: str | dict[str, Any]) -> bytes:
    """Read what `_written_body` wrote."""
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogatepass")
    else:
        try:
            raw = base64.b64decode(value["base64"], validate=True)
        except (KeyError, TypeError, binascii.Error) as error:
            message = "expected text, or the key base64"
            raise UnfitValueError(message) from error
    return zlib.compress(raw, 9) if raw else b""


_COUNT = Kind(types=(int, type(None)))
_NUMBER = Kind(types=(float, int, type(None)))
_CHANCES = Kind(
    lambda value: None if value is None else json.loads(value),
    lambda value: None if value is None else json.dumps(value),
    (dict, type(None)),
)
_AT = or_none(Kind(TIME.write, MOMENT.read), None)
MODELS = FileTable(
    "models.jsonl",
    "who judges of kind model are, as stated",
    (
        FileColumn("judge", JSON_TEXT, into="judge_id", of="judges"),
        FileColumn("sha256", JSON_TEXT, " (of the canonical JSON of "),
        FileColumn("identity", Kind(json.loads, _identity, (dict,)), "), "),
        FileColumn("family", JSON_TEXT, " (declared), "),
        FileColumn("prompt", Kind(types=(str, type(None)))),
        FileColumn("stated_at", TIME),
    ),
    into="model_judge",
    counts="models",
    key=("judge_id",),
    again="expected each judge once",
)
ANSWERS = FileTable(
    "answers.jsonl",
    "what models answered; a judgement has the judge, topic, docno and moment of its answer",
    (
        FileColumn("judge", JSON_TEXT, into="judge_id", of="judges"),
        FileColumn("topic", JSON_TEXT, into="topic_id", of="topics"),
        FileColumn("docno", JSON_TEXT, into="document_id", of="documents"),
        FileColumn("asked", word(Asked), f" ({', '.join(Asked)}), "),
        FileColumn("judged_at", _AT),
        FileColumn("grade", _COUNT, " or "),
        FileColumn("unreadable", or_none(word(Unreadable), None), " (why there is no grade), "),
        FileColumn("probabilities", _CHANCES, " of grades and their "),
        FileColumn("mass", _NUMBER),
        FileColumn("topic_version", _COUNT),
        FileColumn("document_sha256", or_none(Kind(read=HASH.read), None)),
        FileColumn("request_sha256", JSON_TEXT),
        FileColumn("attempt", Kind(types=(int,))),
        FileColumn("sent_at", _AT),
        FileColumn("received_at", _AT),
        FileColumn("status", _COUNT, " (of HTTP), "),
        FileColumn("served_model", JSON_TEXT),
        FileColumn("fingerprint", JSON_TEXT),
        FileColumn("finish_reason", JSON_TEXT),
        FileColumn("prompt_tokens", _COUNT),
        FileColumn("cached_tokens", _COUNT),
        FileColumn("completion_tokens", _COUNT),
        FileColumn("reasoning_tokens", _COUNT),
        FileColumn("cost", _NUMBER),
        FileColumn("body", Kind(_written_body, _read_body, (str, dict)), " (as the server sent it)"),
    ),
    into="answer",
    counts="answers",
)


def write_models(out: Outgoing) -> None:
    """Write who model judges are, by name."""
    rows = out.session.execute(select(MODEL_JUDGE)).mappings()
    MODELS.write(out, sorted(rows, key=lambda row: natural_key(out.judges[row["judge_id"]])))


def read_models(coming: Incoming) -> None:
    """Read what `write_models` wrote; a hash or prompt that is not the identity's is a fault."""
    MODELS.fill(coming, _model_fault)


def _model_fault(row: Mapping[str, Any]) -> str | None:
    """Say what of a model judge is not its identity's."""
    known = ModelIdentity.of_canonical(row["identity"])
    if known.sha256 != row["sha256"]:
        return "`sha256`: expected that of the identity"
    if row["prompt"] is not None and prompt_hash(row["prompt"]) != known.prompt_sha256:
        return "`prompt`: expected the one whose hash the identity has"
    return None


def write_answers(out: Outgoing) -> None:
    """Write every answer, in an order of content; without bodies where texts or notes are left out."""
    rows: list[dict[str, Any]] = [dict(row) for row in out.session.execute(select(ANSWER)).mappings()]
    if not (out.export_choice.texts and out.export_choice.notes):
        # A model quotes what it was shown, and says why.
        rows = [{**row, "body": b""} for row in rows]

    def order(row: Mapping[Any, Any]) -> tuple[Any, ...]:
        names = out.judges[row["judge_id"]], out.topics[row["topic_id"]]
        content = (repr(value) for name, value in row.items() if name[-2:] != "id" and name != "checksum")
        return (*map(natural_key, names), out.documents[row["document_id"]], *content)

    ANSWERS.write(out, sorted(rows, key=order))


def read_answers(coming: Incoming) -> None:
    """Read what `write_answers` wrote."""
    ANSWERS.fill(coming, lambda row: coming.grade_fault(row["grade"]))
