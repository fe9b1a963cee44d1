"""Labels that models gave: umbrela's files; and ``answers``, an object a line, as other tools have them.

umbrela writes the text of query and passage, the answer (``prediction``), a grade (``judgment``) and, in
later versions, whether the answer could be read (``result_status``). What could not be read has grade 0
there: it is recognised here by that status or, where a file has none, by an answer that does not say 0.
nuggetizer writes which nuggets an answer or document supports, and no grade of it: its lines are refused.

Sources: castorini/umbrela (README, docs/cli-for-agents.md); castorini/nuggetizer (README, "assign").
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from store.errors import FaultList
from store.fields import MOMENT, UnfitValueError, id_fault, topic_fault
from store.formats import LabelsFormat
from store.formats.json_lines import json_line, read_json_lines
from store.model_judge import Answer, Asked, Unreadable
from store.records import Scale

_TOPIC = ("topic", "qid", "query_id")
_DOCNO = ("docno", "docid", "doc_id", "pid")
_GRADE = ("grade", "judgment", "judgement", "label", "rating", "relevance")
_ANSWER = ("answer", "prediction", "response")
_COUNTS = ("status", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
_TEXTS = ("fingerprint", "finish_reason", "request_sha256", "document_sha256")
_READ = frozenset({
    *_TOPIC, *_DOCNO, *_GRADE, *_ANSWER, *_COUNTS, *_TEXTS, "query", "passage", "model", "result_status",
    "reasoning", "unreadable", "error", "asked", "note", "probabilities", "cost", "mass", "sent_at",
    "received_at", "attempt", "topic_version",
})  # fmt: skip  # a name a line would be longer than what reads them
_UMBRELAS = {"query", "passage", "judgment"}
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_SAYS_0 = re.compile(r"(?<![0-9.,-])0(?![0-9.,]*[0-9])")
MAP_HINT = "--map FROM=TO reads one grade as another"
NO_GRADE_HINTS: Mapping[LabelsFormat, str] = {
    "answers": "where there is none, `grade` is null and `unreadable` says why",
    "umbrela": "where there is none, `judgment` is null: the document cannot be judged",
}
_TRACE_HINT = "umbrela judge --include-trace keeps both, and says which answers could not be read"


@dataclass(frozen=True, slots=True)
class Label:
    """One line of a file, before it is known which topic and document it is of."""

    line: int
    topic: str | None
    """``None`` = the file has its text alone."""
    docno: str | None
    query: str = ""
    passage: str = ""
    failed: bool = False
    """The request failed on its way: no judgement."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Answer`."""


@dataclass(frozen=True, slots=True)
class LabelsFile:
    """The labels of a file, and whose they are."""

    labels: list[Label]
    models: tuple[str, ...]
    """Named in the file, sorted."""
    unread: tuple[str, ...] = ()
    """Names in its lines of what is not read, sorted."""


def read_labels(
    path: str, form: LabelsFormat, scale: Scale, mapping: Mapping[int, int], faults: FaultList
) -> LabelsFile:
    """Read a file of labels; all that is wrong with it is added to `faults`, by line.

    `mapping` reads a grade of the file as one of the scale, for probabilities, too.
    """
    labels: list[Label] = []
    models: set[str] = set()
    met: set[str] = set()
    for line, data in read_json_lines(path, faults):
        before = faults.count
        met.update(data)

        def tell(message: str, code: str = "value", line: int = line) -> None:
            faults.add(line, message, code)

        if "nuggets" in data:
            tell("expected a grade, got nuggets: those that are supported give no grade of a document")
        # A line of umbrela may come among answers, and its 0 is no grade there either.
        is_umbrelas = form == "umbrela" or "result_status" in data or data.keys() >= _UMBRELAS
        values = _common(data, tell) | (_umbrela_values if is_umbrelas else _answer_values)(data, tell)
        _put_on_scale(values, scale, mapping, tell)
        topic, docno = (_id(data, keys, tell) for keys in (_TOPIC, _DOCNO))
        query, passage = (_text(data, name, tell) for name in ("query", "passage"))
        for one, text, names in ((topic, query, _TOPIC), (docno, passage, _DOCNO)):
            if one is None and not text:
                tell(f"expected `{names[0]}`, or the text of it, got neither", "fields")
        if model := _text(data, "model", tell):
            models.add(model)
            values["served_model"] = model
        if any(fault.code == "trace" for fault in faults.kept):
            faults.hint = _TRACE_HINT
        if faults.count == before:
            failed = values["grade"] is None and values["unreadable"] is None
            labels.append(Label(line, topic, docno, query, passage, failed, values))
    return LabelsFile(labels, tuple(sorted(models)), tuple(sorted(met - _READ)))


Tell = Callable[..., None]


def _umbrela_values(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Read the outcome of a line of umbrela; grade 0 of an answer that could not be read is none."""
    grade = _grade_of(data, tell)
    prediction = _text(data, "prediction", tell)
    status = data.get("result_status")
    if status is not None and (isinstance(status, bool) or status not in (0, 1)):
        tell(f"expected `result_status` 0 or 1, got {status!r}")
    if status is None and grade == 0 and "prediction" not in data:
        message = (
            "grade 0 without `prediction` or `result_status`: it may be an answer that could not be read"
        )
        tell(message, "trace")
    unread = status == 0 or (status is None and grade == 0 and not _SAYS_0.search(prediction))
    why = (Unreadable.NO_GRADE if prediction.strip() else Unreadable.EMPTY) if unread else None
    if grade is None and why is None:
        why = Unreadable.NO_GRADE
    note = _text(data, "reasoning", tell)
    return {"grade": None if why else grade, "unreadable": why, "body": _bytes(prediction), "note": note}


def _answer_values(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    grade = _grade_of(data, tell)
    why: Unreadable | None = None
    if (reason := data.get("unreadable")) is not None:
        try:
            why = Unreadable(reason)
        except ValueError:
            tell(f"expected `unreadable` to be one of {', '.join(Unreadable)}, got {reason!r}")
        if grade is not None:
            tell(f"expected a grade or `unreadable`, got {grade} and {reason!r}")
    elif grade is None and data.get("error") is None:
        why = Unreadable.NO_GRADE
    elif grade is not None and data.get("error") is not None:
        tell(f"expected a grade or `error`, got {grade} and an error")
    asked = data.get("asked")
    if asked is not None and asked not in set(Asked):
        tell(f"expected `asked` to be one of {', '.join(Asked)}, got {asked!r}")
        asked = None
    text = next((_text(data, key, tell) for key in _ANSWER if key in data), "")
    return {
        "asked": Asked.JUDGE if asked is None else Asked(asked),
        "grade": grade,
        "unreadable": why,
        "body": _bytes(text),
        "note": _text(data, "note", tell),
    }


def _common(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    values: dict[str, Any] = {"probabilities": _chances(data.get("probabilities"), tell)}

    def take(names: Sequence[str], fits: Callable[[Any], bool], what: str) -> None:
        for name in names:
            number = data.get(name, 1 if name == "attempt" else None)
            if number is not None and not fits(number):
                tell(f"expected {what} in `{name}`, got {number!r}")
            values[name] = number

    take(_COUNTS, partial(_is_whole, least=0), "a whole number of at least 0")
    take(("cost", "mass"), _is_number, "a number of at least 0")
    for name in ("sent_at", "received_at"):
        try:
            values[name] = None if data.get(name) is None else MOMENT.read(data[name])
        except UnfitValueError as error:
            tell(f"`{name}`: {error}")
    for name in _TEXTS:
        text = _text(data, name, tell)
        values[name] = text or (None if name == "document_sha256" else "")
    take(("attempt", "topic_version"), partial(_is_whole, least=1), "a whole number of at least 1")
    return values


def _put_on_scale(values: dict[str, Any], scale: Scale, mapping: Mapping[int, int], tell: Tell) -> None:
    known = ", ".join(map(str, scale.values))
    grade = values["grade"]
    if grade is not None:
        values["grade"] = mapping.get(grade, grade)
        if values["grade"] not in scale.values:
            # What is below every grade is rather a sign that there is none.
            code = "no-grade" if grade < min(0, *scale.values) else "grade"
            tell(f"expected a grade of the scale ({known}), got {grade}", code)
    chances = values["probabilities"]
    if chances is not None:
        shares: dict[int, float] = {}
        for one, share in chances.items():
            shares[mapping.get(one, one)] = shares.get(mapping.get(one, one), 0.0) + share
        if odd := sorted(set(shares) - set(scale.values)):
            tell(f"expected probabilities of grades of the scale ({known}), got one of {odd[0]}", "grade")
        values["probabilities"] = shares


def _chances(value: Any, tell: Tell) -> dict[int, float] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not value:
        tell("expected an object of grades and their shares in `probabilities`")
        return None
    if any(not _WHOLE.fullmatch(grade) or not _is_number(share) for grade, share in value.items()):
        tell("expected whole numbers and shares of at least 0 in `probabilities`")
        return None
    if abs(math.fsum(value.values()) - 1) > 1e-6:
        tell(f"expected `probabilities` that sum to 1, got {math.fsum(value.values()):g}")
        return None
    return {int(grade): float(share) for grade, share in value.items()}


def _grade_of(data: Mapping[str, Any], tell: Tell) -> int | None:
    """Read a grade: a whole number, or text of one; null and none are none."""
    key = next((one for one in _GRADE if data.get(one) is not None), None)
    if key is None:
        return None
    value = data[key]
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if _is_whole(value):
        return int(value)
    tell(f"expected a whole number in `{key}`, got {value!r}", "grade")
    return None


def _id(data: Mapping[str, Any], keys: Sequence[str], tell: Tell) -> str | None:
    key = next((one for one in keys if data.get(one) is not None), None)
    if key is None:
        return None
    value = str(data[key]) if _is_whole(data[key]) else data[key]
    fault = (
        (topic_fault if keys is _TOPIC else id_fault)(value) if isinstance(value, str) else "expected text"
    )
    if fault:
        tell(f"`{key}`: {fault}", "id")
        return None
    return str(value)


def _text(data: Mapping[str, Any], key: str, tell: Tell) -> str:
    value = data.get(key)
    if value is None or isinstance(value, str):
        return value or ""
    tell(f"expected text in `{key}`, got {value!r}")
    return ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_whole(value: Any, *, least: int = -(2**31) + 1) -> bool:
    """Return whether a value is a whole number that both databases hold."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number of at least 0."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def answer_lines(answers: Iterable[Answer]) -> Iterator[str]:
    """Write answers, one JSON object a line; what is not known is left out, but for grade."""
    for one in answers:
        why = None if one.unreadable is None else one.unreadable.value
        has_failed = one.grade is None and why is None
        chances = one.probabilities
        fields = {
            "topic": one.topic,
            "docno": one.docno,
            "grade": one.grade,
            "unreadable": why,
            "error": "no reply" if has_failed else None,
            "asked": None if one.asked is Asked.JUDGE else one.asked.value,
            "probabilities": None if chances is None else {str(grade): chances[grade] for grade in chances},
            "mass": one.mass,
            "answer": one.body.decode("utf-8", "replace") or None,
            "note": one.note or None,
            "model": one.served_model or None,
            "cost": one.cost,
            "attempt": None if one.attempt == 1 else one.attempt,
            "topic_version": one.topic_version,
            **{name: getattr(one, name) for name in _COUNTS},
            **{name: getattr(one, name) or None for name in _TEXTS},
            **{name: _moment(getattr(one, name)) for name in ("sent_at", "received_at")},
        }
        yield json_line(
            {name: value for name, value in fields.items() if value is not None or name == "grade"}
        )


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def umbrela_lines(
    answers: Iterable[Answer], texts: Callable[[str, str], tuple[str, str]], back: Mapping[int, int]
) -> Iterator[str]:
    """Write judgements as umbrela does; ``qid`` and ``docid``, which it passes over, name topic and document.

    `texts` gives query and passage of a topic and docno; `back` reads a grade as umbrela's. What has no grade
    has 0 there, and `result_status` 0 says that it is none.
    """
    for one in answers:
        fields = {
            "model": one.served_model,
            **dict(zip(("query", "passage"), texts(one.topic, one.docno), strict=True)),
            "prediction": one.body.decode("utf-8", "replace"),
            "judgment": 0 if one.grade is None else back.get(one.grade, one.grade),
            "result_status": int(one.grade is not None),
            "qid": one.topic,
            "docid": one.docno,
        }
        yield json_line(fields | ({"reasoning": one.note} if one.note else {}))
