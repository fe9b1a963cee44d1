"""Files of a model's answers: what each line says, written by hand from the formats' own code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from store.errors import FaultList
from store.formats import LabelsFormat
from store.formats.labels import answer_lines, read_labels, umbrela_lines
from store.model_judge import Answer, Asked, Unreadable
from tests.helpers.world import parse_scale

SCALE = parse_scale("0-3")


def read(
    folder: Path, form: LabelsFormat, *lines: dict[str, Any], mapping: dict[int, int] | None = None
) -> tuple[list[Answer], list[str]]:
    """Read lines, and return answers and what is wrong with them."""
    file = folder / "labels.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    faults = FaultList("f")
    found = read_labels(str(file), form, SCALE, mapping or {}, faults).labels
    answers = [Answer("m", one.topic or "", one.docno or "", **one.values) for one in found]
    return answers, [f"{one.line}: {one.message}" for one in faults.kept]


U: dict[str, Any] = {"model": "gpt-4o", "query": "q", "passage": "p"}
GRADE_0 = (0, None)
OUTCOMES: list[tuple[dict[str, Any], tuple[int | None, str | None]]] = [
    ({"prediction": "##final score: 2", "judgment": 2, "result_status": 1}, (2, None)),
    ({"prediction": "##final score: 0", "judgment": 0, "result_status": 1}, GRADE_0),
    # What umbrela could not read it writes as 0: the flag says so, where there is one ...
    ({"prediction": "I cannot help.", "judgment": 0, "result_status": 0}, (None, "no-grade")),
    ({"prediction": "0 reasons to answer", "judgment": 0, "result_status": 0}, (None, "no-grade")),
    ({"prediction": " ", "judgment": 0, "result_status": 0}, (None, "empty")),
    # ... and where it was dropped, an answer without any 0 in it.
    ({"prediction": "I cannot help.", "judgment": 0}, (None, "no-grade")),
    ({"prediction": "In 2010, 10.0 % of them", "judgment": 0}, (None, "no-grade")),
    ({"prediction": "", "judgment": 0}, (None, "empty")),
    ({"prediction": "O: 0", "judgment": 0}, GRADE_0),
    ({"prediction": '{"O": 0}', "judgment": 0}, GRADE_0),
    ({"prediction": "The score is 0.", "judgment": 0}, GRADE_0),
    ({"prediction": "no flag, another grade", "judgment": 3}, (3, None)),
]


@pytest.mark.parametrize(("line", "outcome"), OUTCOMES)
def test_umbrela_never_makes_a_failure_0(
    line: dict[str, Any], outcome: tuple[int | None, str | None], tmp_path: Path
) -> None:
    """Its valid flag is honoured, written or not."""
    [answer], told = read(tmp_path, "umbrela", U | line)
    assert told == []
    assert (answer.grade, answer.unreadable) == outcome
    assert answer.body.decode() == line["prediction"]
    assert answer.served_model == "gpt-4o"


def test_map_reads_grades_and_probabilities(tmp_path: Path) -> None:
    """By hand: 2 and 3 become 1, and so do their shares, 1/4 + 1/8."""
    line = {"topic": 7, "docno": "d", "grade": "3", "probabilities": {"0": 0.625, "2": 0.25, "3": 0.125}}
    [answer], told = read(tmp_path, "answers", line, mapping={2: 1, 3: 1})
    assert told == []
    assert (answer.topic, answer.grade, answer.probabilities) == ("7", 1, {0: 0.625, 1: 0.375})


A = {"topic": "1", "docno": "d"}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({**A, "grade": 4}, "expected a grade of the scale (0, 1, 2, 3), got 4"),
    ({**A, "grade": 1.5}, "expected a whole number in `grade`, got 1.5"),
    ({**A, "grade": True}, "expected a whole number in `grade`, got True"),
    ({**A, "grade": "two"}, "expected a whole number in `grade`, got 'two'"),
    ({**A, "grade": 1, "unreadable": "refusal"}, "expected a grade or `unreadable`, got 1 and 'refusal'"),
    ({**A, "grade": 1, "error": "timeout"}, "expected a grade or `error`, got 1 and an error"),
    ({**A, "unreadable": "tired"}, "expected `unreadable` to be one of refusal, truncated, empty, not-json,"
     " no-grade, off-scale, two-grades, too-long, got 'tired'"),
    ({**A, "grade": 1, "probabilities": {"1": 0.5}}, "expected `probabilities` that sum to 1, got 0.5"),
    ({**A, "grade": 1, "probabilities": {"1": 0.5, "9": 0.5}},
     "expected probabilities of grades of the scale (0, 1, 2, 3), got one of 9"),
    ({**A, "grade": 1, "probabilities": [1]},
     "expected an object of grades and their shares in `probabilities`"),
    ({**A, "grade": 1, "cost": -1}, "expected a number of at least 0 in `cost`, got -1"),
    ({**A, "grade": 1, "prompt_tokens": "9"},
     "expected a whole number of at least 0 in `prompt_tokens`, got '9'"),
    # castorini/nuggetizer, "assign", of a document: its keys name a pair, and grade nothing.
    ({"qid": "1", "text": "q", "docid": "d", "candidate_text": "p", "nuggets": [
        {"text": "n", "importance": "vital", "assignment": "support"}]},
     "expected a grade, got nuggets: those that are supported give no grade of a document"),
    ({"docno": "d", "grade": 1}, "expected `topic`, or the text of it, got neither"),
    ({"topic": "1", "docno": "a b", "grade": 1}, "`docno`: expected an id without blanks, got 'a b'"),
    ({**A, "grade": 1, "asked": "why"}, "expected `asked` to be one of judge, repeat, canary-order,"
     " canary-words, canary-title, got 'why'"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_what_a_line_cannot_be(line: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Told by its line, and read no further."""
    _, told = read(tmp_path, "answers", {**A, "grade": 0}, line)
    assert f"2: {message}" in told


def test_grade_0_that_nobody_can_check_is_refused(tmp_path: Path) -> None:
    """Without flag and answer it may be a failure."""
    _, told = read(tmp_path, "umbrela", U | {"judgment": 0})
    assert told == [
        "1: grade 0 without `prediction` or `result_status`: it may be an answer that could not be read"
    ]


def test_failures_of_other_tools(tmp_path: Path) -> None:
    """An error is no judgement; null is an answer without a grade, and no 0."""
    lines = [{**A, "error": "timeout"}, {**A, "label": None}, {**A, "unreadable": "off-scale"}]
    answers, told = read(tmp_path, "answers", *lines)
    assert told == []
    outcomes = [(one.grade, one.unreadable, one.is_judgement) for one in answers]
    assert outcomes == [(None, None, False), (None, "no-grade", True), (None, "off-scale", True)]


def test_answers_come_back(tmp_path: Path) -> None:
    """All that is known of an answer, but for the moment of its judgement, is written and read."""
    known = [
        Answer("m", "1", "a", grade=2, note="n", probabilities={0: 0.1, 2: 0.9}, body="水\n2".encode(),
               mass=0.8, served_model="s", fingerprint="fp", finish_reason="stop", prompt_tokens=1,
               cached_tokens=0, completion_tokens=2, reasoning_tokens=1, cost=0.5, request_sha256="ab",
               status=200, attempt=2, topic_version=3),
        Answer("m", "1", "b", unreadable=Unreadable.TRUNCATED),
        Answer("m", "1", "b", asked=Asked.REPEAT, grade=0),
        Answer("m", "1", "c", status=503),
    ]  # fmt: skip
    lines = [json.loads(line) for line in answer_lines(known)]
    assert lines[1] == {"topic": "1", "docno": "b", "grade": None, "unreadable": "truncated"}
    assert read(tmp_path, "answers", *lines) == (known, [])


def test_umbrela_comes_back(tmp_path: Path) -> None:
    """With the keys that its own viewer wants, and grade 0 and status 0 of what has no grade."""
    known = [
        Answer("m", "1", "a", grade=2, body=b"2", served_model="gpt-4o"),
        Answer("m", "1", "b", unreadable=Unreadable.NO_GRADE, body=b"no", served_model="gpt-4o"),
    ]
    lines = [json.loads(line) for line in umbrela_lines(known, lambda topic, docno: (topic, docno), {2: 3})]
    wanted = {"model", "query", "passage", "prediction", "judgment", "result_status"}
    assert all(wanted <= line.keys() for line in lines)
    assert [(line["judgment"], line["result_status"]) for line in lines] == [(3, 1), (0, 0)]
    assert read(tmp_path, "umbrela", *lines, mapping={3: 2}) == (known, [])
