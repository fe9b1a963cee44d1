"""Files of a model's answers, and judges that are models."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from store.errors import FaultList
from store.formats import LabelsFormat
from store.formats.labels import answer_lines, read_labels, umbrela_lines
from store.model_judge import Answer, Asked, Unreadable
from tests.helpers.run import Outcome, run_inside
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


CARD = """
model = "m"
prompt = "p.txt"
family = "gpt"
parameters = { temperature = 0 }
"""
LINES: list[dict[str, Any]] = [
    {"model": "m", "query": "wine", "passage": "red  wine", "prediction": "final score: 2", "judgment": 2,
     "result_status": 1},
    {"model": "m", "query": "wine", "passage": "beer", "prediction": "no", "judgment": 0, "result_status": 0},
    {"model": "m", "query": "wine", "passage": "T water", "prediction": "0", "judgment": 0},
]  # fmt: skip


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a collection of one topic and three pooled documents, with texts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POOLER_COLLECTION", "c.db")
    Path("t.jsonl").write_text('{"topic": "1", "title": "wine"}\n')
    documents = [
        {"docno": "a", "text": "red wine"},
        {"docno": "b", "text": "beer"},
        {"docno": "c", "title": "T", "text": "water"},
    ]
    lines(documents, "d.jsonl")
    Path("r.run").write_text("1 Q0 a 1 3 r\n1 Q0 b 2 2 r\n1 Q0 c 3 1 r\n")
    for command in ("init --scale 0-2", "import topics t.jsonl", "import runs r.run", "pool --depth 3",
                    "import docs d.jsonl"):  # fmt: skip
        run_inside(*command.split()).fine()
    return tmp_path


def lines(records: list[dict[str, Any]], file: str = "u.jsonl") -> str:
    """Write records, one a line."""
    Path(file).write_text("".join(json.dumps(one) + "\n" for one in records))
    return file


def add(name: str, *more: str, kept: str = CARD) -> Outcome:
    """Add a model by its card, with more lines; the prompt lies beside the card."""
    Path("cards").mkdir(exist_ok=True)
    Path("cards/p.txt").write_bytes("Grade {text}\r\n水".encode())
    Path("cards/card.toml").write_text("\n".join([kept, *more]))
    return run_inside("judges", "add", name, "--model", "cards/card.toml")


def umbrela(*more: str) -> Outcome:
    """Import the file as umbrela's."""
    return run_inside("import", "judgements", "u.jsonl", "--as", "umbrela", "--judge", "u", *more)


def states() -> dict[str, tuple[Any, ...]]:
    """Return how every document stands with its judge."""
    out = run_inside("export", "judgements").fine().out
    rows = [json.loads(line) for line in out.splitlines()]
    return {row["docno"]: (row["state"], row["grade"], row["reason"]) for row in rows}


def test_umbrela_is_found_by_its_texts(asked: Path) -> None:
    """Failures are "cannot be judged" with their reason; who the model was is kept; all comes back."""
    lines(LINES)
    add("u", 'parser = "umbrela"').fine()
    said = umbrela().fine().err
    assert "u.jsonl: 3 answers of u: 3 added\n" in said
    assert "1 answer cannot be read, so the documents cannot be judged: 1 no-grade" in said
    expected = {"a": ("judged", 2, ""), "b": ("cannot", None, "no-grade"), "c": ("judged", 0, "")}
    assert states() == expected
    known = run_inside("show", "judges", "u", "--format", "json").fine().known()
    prompt = hashlib.sha256(Path("cards/p.txt").read_bytes()).hexdigest()
    wanted = {"model": "m", "prompt": prompt, "parameters": ["temperature=0"], "family": "gpt",
              "parser": "umbrela, version not stated", "revision": "not stated", "served_models": [],
              "prompt_text": "Grade {text}\r\n水"}  # fmt: skip
    assert {name: known[name] for name in wanted} == wanted
    assert "3 unchanged" in umbrela().fine().err
    Path("u.jsonl").write_text(run_inside("export", "judgements", "u", "--as", "umbrela").fine().out)
    run_inside("judges", "erase", "u", "--yes").fine()
    assert states() == {}
    umbrela().fine()
    assert states() == expected
    assert "no fault found" in run_inside("verify").fine().out


def test_answers_go_round(asked: Path) -> None:
    """Written, erased and read again: the same answers."""
    record = {"topic": "1", "docno": "a", "grade": 1, "probabilities": {"0": 0.25, "1": 0.75}, "mass": 0.5,
              "answer": "1", "prompt_tokens": 90, "completion_tokens": 1, "cost": 0.25}  # fmt: skip
    lines([record, {"topic": "1", "docno": "b", "grade": None, "unreadable": "refusal"},
           {"topic": "1", "docno": "c", "error": "timeout"}])  # fmt: skip
    form = ("import", "judgements", "u.jsonl", "--as", "answers", "--judge", "u")
    add("u").fine()
    said = run_inside(*form).fine().err
    assert "1 request failed on the way: no judgement" in said
    assert states() == {"a": ("judged", 1, ""), "b": ("cannot", None, "refusal")}
    out = run_inside("export", "judgements", "u", "--as", "answers").fine().out
    assert json.loads(out.splitlines()[0]) == record
    [row] = run_inside("status", "effort", "--format", "json").fine().json()["models"]
    assert (row["judged"], row["unreadable"], row["failed"], row["cost"]) == (1, 1, 1, 0.25)
    assert (row["prompt_tokens"], row["cached_tokens"], row["cost_each"]) == (90, None, 0.25)
    assert "could not be read: 1 refusal" in run_inside("status", "effort").fine().out
    run_inside("judges", "erase", "u", "--yes").fine()
    Path("u.jsonl").write_text(out)
    run_inside(*form).fine()
    assert run_inside("export", "judgements", "u", "--as", "answers").fine().out == out


def test_what_is_not_read_is_named(asked: Path) -> None:
    """A misspelt or unknown name is told, once for all lines; where there is none nothing is said."""
    answer = {"topic": "1", "docno": "a", "grade": 1}
    file = lines([answer | {"tokens_in": 3, "Cost": 1}, answer | {"docno": "b", "tokens_in": 4}], "x.jsonl")
    into = ("import", "judgements", file, "--as", "answers", "--judge", "u")
    assert "x.jsonl: not read: `Cost`, `tokens_in`\n" in run_inside(*into).fine().err
    lines([answer | {"cost": 1}], "x.jsonl")
    assert "not read" not in run_inside(*into, "--replace").fine().err


def test_lost_distinction_is_not_written(asked: Path) -> None:
    """What --map made one grade of two cannot be umbrela's again."""
    lines([LINES[0], {**LINES[1], "judgment": 3, "result_status": 1}])
    assert "u.jsonl:2: expected a grade of the scale (0, 1, 2), got 3" in umbrela().err
    add("u", "map = { 3 = 2 }").fine()
    umbrela().fine()
    assert states()["b"] == ("judged", 2, "")
    said = run_inside("export", "judgements", "u", "--as", "umbrela").err
    assert "grades 2 and 3 of `u` were read as 2, and cannot be told apart any more" in said
    # Another map is another parser, and so another judge.
    assert "model judge `u` is another one" in umbrela("--map", "3=1").failed(3).err
    assert "model judge `u` is another one: parser" in add("u", "map = { 3 = 1 }").failed(3).err
    umbrela("--map", "3=2").fine()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"passage": "gin"}, "u.jsonl:2: expected the passage of one docno, and none has this text"),
        ({"query": "beer"}, "u.jsonl:2: expected the query of one topic, and none has this text"),
        ({"passage": "red wine"}, "u.jsonl:2: expected topic 1 `a` once, and line 1 has it, too"),
        ({"docid": "zz"}, "u.jsonl: 1 of 1 docno (1 line) not in the collection: `zz`"),
        ({"model": "n"}, "u.jsonl: expected the answers of one model, got those of 2: m, n"),
    ],
)
def test_faults_are_told_by_line_and_nothing_is_kept(
    change: dict[str, str], message: str, asked: Path
) -> None:
    """A file is imported whole or not at all, and its judge is not there either."""
    lines([LINES[0], LINES[1] | change])
    assert message in umbrela().err
    assert states() == {}
    assert "no judges" in run_inside("show", "judges").fine().out


def test_two_documents_of_one_text_are_not_guessed(asked: Path) -> None:
    """The passage does not say which it is of."""
    lines([{"docno": "d", "text": "beer"}], "more.jsonl")
    run_inside("import", "docs", "more.jsonl", "--all").fine()
    lines(LINES)
    assert "u.jsonl:2: expected the passage of one docno, and several have this text" in umbrela().err


def test_another_identity_needs_another_name(asked: Path) -> None:
    """What is not stated stays legal, and is said."""
    lines(LINES)
    assert "model `u` is not described" in umbrela().fine().err
    assert "models whose identity is not stated: u" in run_inside("status").fine().out
    assert "`u` judged before it was described" in add("u").failed(3).err
    add("v").fine()
    assert "is stated already, by the same card" in add("v").fine().err
    refused = add("v", kept=CARD.replace("= 0", "= 0.5"))
    assert 'parameters {"temperature": 0}, not {"temperature": 0.5}' in refused.err
    assert "hint: take another name" in refused.err
    add("w", 'revision = "abc"').fine()
    status = run_inside("status").fine().out
    assert "models by family: gpt: v, w; those of one are not independent" in status


@pytest.mark.parametrize(
    "arguments",
    [
        ("judges", "add", "v", "--model", "none.toml"),
        ("judges", "add", "v", "--kind", "human", "--model", "m.toml"),
        ("judges", "add", "v", "w", "--model", "m.toml"),
        ("judges", "add", "v", "--prompt", "p.txt"),
        ("import", "judgements", "u.jsonl", "--judge", "v", "--model", "m.toml"),
        ("import", "judgements", "u.jsonl", "--as", "umbrela"),
        ("import", "judgements", "u.jsonl", "--as", "umbrela", "--judge", "u", "--kind", "human"),
        ("import", "judgements", "u.jsonl", "--as", "umbrela", "--judge", "u", "--code", "1=cannot"),
        ("export", "judgements", "nobody", "--as", "answers"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], asked: Path) -> None:
    """In one line, with nothing done."""
    lines(LINES)
    Path("m.toml").write_text('model = "m"')
    refused = run_inside(*arguments)
    assert refused.code != 0
    assert refused.err.startswith("error: ")
    assert "no judges" in run_inside("show", "judges").fine().out


@pytest.mark.parametrize(
    ("card", "fault"),
    [
        ('prompt = "p.txt"', "expected the key `model`"),
        ('model = "m"\nprompt = "none.txt"', "No such file"),
        ('model = "m"\nparameters = "temperature"', "`parameters`: expected a table"),
        ('model = "m"\nhost = "me:key@example.org"', "must be a host, without credentials"),
        ('model = "m"\nshows = ["topic.rank"]', "`shows`: expected a list of topic.title"),
        ('model = "m"\nmax_characters = 0\nmodell = 3\nmap = { 3 = "two" }', "got the key `modell`"),
    ],
)
def test_faults_of_a_card_are_told_and_no_judge_is_added(card: str, fault: str, asked: Path) -> None:
    """All of a card at once; a key in it is not shown."""
    refused = add("v", kept=card).failed(1)
    assert fault in refused.err
    assert ("max_characters" in refused.err, "`map`" in refused.err) == ("modell" in card,) * 2
    assert "key@" not in refused.err
    assert "no judges" in run_inside("show", "judges").fine().out


def test_what_is_below_every_grade_is_never_read_as_one(asked: Path) -> None:
    """A -1 is rather no grade: the file says so with null, and the hint that."""
    line = {"query": "wine", "passage": "beer", "prediction": "?", "judgment": -1}
    lines([line])
    hint = "hint: where there is none, `judgment` is null: the document cannot be judged"
    assert umbrela().failed(1).err.splitlines() == [
        "error: u.jsonl:1: expected a grade of the scale (0, 1, 2), got -1", hint
    ]  # fmt: skip
    assert hint in umbrela("--map", "-1=0").failed(1).err
    assert "but got '-1=cannot'" in umbrela("--code", "-1=cannot").failed(1).err
    lines([line | {"judgment": None}])
    assert "the documents cannot be judged: 1 no-grade" in umbrela().fine().err
