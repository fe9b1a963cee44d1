"""Model judges: identities by hand, answers that become judgements or none, on both engines."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from store.collection import Collection
from store.errors import ArgumentError, ConflictError, StoreError, UnknownNameError
from store.model_judge import Answer, Asked, ModelIdentity, Unreadable, prompt_hash
from store.records import Document, JudgeKind, Qrel, State, Topic
from tests.helpers.places import held_place
from tests.helpers.world import make_pool

PROMPT = "Query: {title}\nPassage: {text}\n{水} 0-2?"
SENT = datetime(2026, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC)
IDENTITY = ModelIdentity(
    "gpt-4o-2024-08-06",
    endpoint="chat-completions",
    host="api.example.org:8443",
    prompt_sha256=prompt_hash(PROMPT),
    parameters={"temperature": 0, "seed": 7, "max_tokens": 20},
    parser="json-grade",
    parser_version="1",
    topic_fields=("title",),
    document_fields=("title", "text"),
    max_characters=8000,
    cut="end",
    family="gpt",
)


def answer(docno: str, **other: Any) -> Answer:
    """Make an answer of judge `gpt` on topic 1."""
    known: dict[str, Any] = {"sent_at": SENT, "received_at": SENT + timedelta(seconds=1.5), "status": 200}
    return Answer(
        "gpt", "1", docno, request_sha256=hashlib.sha256(docno.encode()).hexdigest(), **known | other
    )


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection with a pool of four documents, guidelines, and a stated model."""
    collection.topics.add([Topic("1", "wine")])
    collection.pools.add(make_pool({"1": list("abcd")}, round="7"))
    collection.documents.add([Document(docno, text=f"text of {docno}") for docno in "abcd"])
    collection.guidelines.add("for people")
    assert collection.models.add("gpt", IDENTITY, prompt=PROMPT)
    return collection


def test_hash_is_of_the_canonical_json() -> None:
    """By hand: keys sorted, UTF-8, no blanks; the family is not in it."""
    prompt = hashlib.sha256(PROMPT.encode()).hexdigest()
    text = (
        '{"endpoint":{"host":"api.example.org:8443","kind":"chat-completions"},"model":"gpt-4o-2024-08-06",'
        '"parameters":{"max_tokens":20,"seed":7,"temperature":0},'
        '"parser":{"map":{},"name":"json-grade","version":"1"},'
        f'"prompt":"{prompt}","revision":"not stated",'
        '"shown":{"cut":"end","document":["title","text"],"max_characters":8000,"topic":["title"]}}'
    )
    assert IDENTITY.canonical() == text
    assert IDENTITY.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert replace(IDENTITY, family="").sha256 == IDENTITY.sha256
    assert ModelIdentity.of_canonical(text, family="gpt") == IDENTITY
    assert '"日"' in replace(IDENTITY, revision="日").canonical()


CHANGES: list[dict[str, Any]] = [
    {"model": "gpt-4o"},
    {"revision": "abc"},
    {"endpoint": "completions"},
    {"host": "localhost"},
    {"prompt_sha256": prompt_hash(PROMPT + " ")},
    {"parameters": {**IDENTITY.parameters, "temperature": 0.2}},
    {"parser": "first-digit"},
    {"parser_version": "2"},
    {"grade_map": {2: 1}},
    {"topic_fields": ("title", "narrative")},
    {"document_fields": ("text",)},
    {"max_characters": None},
    {"cut": "middle"},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_another_identity_is_another_judge(change: dict[str, Any], ready: Collection) -> None:
    """Each starred field counts; the same identity again is no news."""
    another = replace(IDENTITY, **change)
    assert another.sha256 != IDENTITY.sha256
    assert not ready.models.add("gpt", IDENTITY)
    with pytest.raises(ConflictError, match="model judge `gpt` is another one: ") as refused:
        ready.models.add("gpt", another)
    assert refused.value.hint == "take another name: it is another judge, and its judgements are others"
    assert ready.models.add("gpt-2", another)


def test_family_is_declared_once(ready: Collection) -> None:
    """It is not in the hash, and stays all the same."""
    with pytest.raises(ConflictError, match="family gpt, not llama"):
        ready.models.add("gpt", replace(IDENTITY, family="llama"))


def test_who_has_not_stated_it_stays_legal(ready: Collection) -> None:
    """A plain import goes on; who it was cannot be stated once it has judged."""
    ready.judgements.add({"old": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    stated = {one.judge: one for one in ready.models.all()}
    assert stated["old"].identity is None
    assert (stated["gpt"].identity, stated["gpt"].prompt) == (IDENTITY, PROMPT)
    with pytest.raises(ConflictError, match="`old` judged before it was described"):
        ready.models.add("old", IDENTITY)
    with pytest.raises(StoreError, match="has no description"):
        ready.model_desk("old")
    ready.judges.add("ann", JudgeKind.HUMAN)
    with pytest.raises(ConflictError, match="there as kind human"):
        ready.models.add("ann", IDENTITY)
    with pytest.raises(ArgumentError, match="prompt"):
        ready.models.add("gpt-3", IDENTITY, prompt="another")


@pytest.mark.parametrize("host", ["user:key@example.org", "example.org/v1"])
def test_no_credentials_in_a_host(host: str) -> None:
    """Nor are they printed."""
    with pytest.raises(ArgumentError) as refused:
        replace(IDENTITY, host=host)
    assert host not in str(refused.value)


def test_answer_and_judgement_are_one(ready: Collection) -> None:
    """A grade is a judgement; what cannot be read is "cannot be judged", with its reason, and never 0."""
    desk = ready.model_desk("gpt")
    assert [task.docno for task in desk.queue("1")] == list("abcd")
    chances = {0: 0.25, 1: 0.5, 2: 0.25}
    full = answer(
        "a", grade=2, body="ça 水".encode(), served_model="gpt-4o-2024-08-06", fingerprint="fp_1",
        finish_reason="stop", prompt_tokens=900, cached_tokens=800, completion_tokens=6, reasoning_tokens=2,
        cost=0.0025, probabilities=chances, mass=0.9, topic_version=1, attempt=3, note="because",
    )  # fmt: skip
    refused = answer("b", unreadable=Unreadable.REFUSAL, body=b"no", prompt_tokens=100, cost=0.0005)
    done = [desk.answer(one) for one in (full, refused)]
    assert [(one.state, one.grade, one.reason) for one in done if one] == [
        (State.JUDGED, 2, ""),
        (State.CANNOT, None, "refusal"),
    ]
    assert desk.answer(answer("c", status=None, attempt=6)) is None
    desk.leave()
    assert ready.models.answers("gpt") == [full, refused, answer("c", status=None, attempt=6)]
    events = {one.docno: one for one in ready.judgements.history()}
    assert {docno: (one.grade, one.note, one.iteration) for docno, one in events.items()} == {
        "a": (2, "because", "7"),
        "b": (None, "", "7"),
    }
    # People's guidelines are not what a model judged by.
    assert events["a"].guideline_version is None
    assert (events["a"].document_sha256, events["a"].topic_version) != (None, None)
    (work,) = ready.models.work()
    assert (work.answers, work.judged, work.unreadable, work.failed) == (3, 1, {"refusal": 1}, 1)
    assert (work.prompt_tokens, work.cached_tokens, work.completion_tokens) == (1000, 800, 6)
    assert (work.cost, work.seconds, work.retries) == (pytest.approx(0.003), 4.5, 7)
    assert (work.first_at, work.last_at) == (events["a"].judged_at, events["b"].judged_at)
    assert ready.verify() is not None
    assert [one.name for one in ready.verify() if one.n_faults] == []


def test_same_answer_is_written_once_and_another_refused(ready: Collection) -> None:
    """A broken connection may send it again; a pair is asked once."""
    desk = ready.model_desk("gpt")
    first = answer("a", grade=1)
    assert desk.answer(first) == desk.answer(first)
    with pytest.raises(ConflictError, match="topic 1 `a` has a judgement of `gpt` already"):
        desk.answer(answer("a", grade=2, sent_at=SENT + timedelta(hours=1)))
    assert len(ready.models.answers("gpt")) == len(list(ready.judgements.current())) == 1
    assert desk.answered(Asked.JUDGE) == {("1", "a")}


def test_canaries_and_repetitions_are_no_judgements(ready: Collection) -> None:
    """They are answers alone, even before the document has a judgement."""
    desk = ready.model_desk("gpt")
    for asked in (Asked.CANARY_ORDER, Asked.REPEAT):
        assert desk.answer(answer("a", asked=asked, grade=2)) is None
        assert desk.answered(asked) == {("1", "a")}
    assert (desk.answered(Asked.JUDGE), list(ready.judgements.current())) == (set(), [])


def test_another_served_model_stops(ready: Collection) -> None:
    """Two models are two judges; nothing of the second answer is stored."""
    desk = ready.model_desk("gpt")
    desk.answer(answer("a", grade=1, served_model="m-1"))
    for one in (desk, ready.model_desk("gpt")):
        with pytest.raises(ConflictError, match="answered as model `m-2`, and before as `m-1`"):
            one.answer(answer("b", grade=1, served_model="m-2"))
    assert len(ready.models.answers("gpt")) == len(list(ready.judgements.current())) == 1


def test_places_are_kept(ready: Collection) -> None:
    """A document that is assigned to somebody else is not the model's; nothing is written."""
    ready.judges.add("ann", JudgeKind.HUMAN)
    held_place(ready.where if "://" not in ready.where else _url(ready), "1", ["a"], "ann")
    held_place(ready.where if "://" not in ready.where else _url(ready), "1", ["b"], "gpt")
    desk = ready.model_desk("gpt")
    assert [task.docno for task in desk.queue("1")] == ["b"]
    with pytest.raises(ConflictError, match="not assigned to you"):
        desk.answer(answer("a", grade=1))
    assert ready.models.answers("gpt") == []
    desk.answer(answer("b", grade=1))


def _url(collection: Collection) -> str:
    """Return the whole URL of a collection."""
    return collection._db.engine.url.render_as_string(hide_password=False)


@pytest.mark.parametrize(
    ("other", "error"),
    [
        ({"grade": 3}, UnknownNameError),
        ({"grade": 1, "probabilities": {0: 0.5, 7: 0.5}}, UnknownNameError),
        ({"grade": 1, "probabilities": {0: 0.5, 1: 0.6}}, ArgumentError),
    ],
)
def test_what_no_answer_can_be(other: dict[str, Any], error: type[Exception], ready: Collection) -> None:
    """A grade off the scale is no grade, nor are shares that do not sum to 1 probabilities."""
    with pytest.raises(error):
        ready.model_desk("gpt").answer(answer("a", **other))
    with pytest.raises(error):
        ready.models.take("gpt", [answer("a", **other)])
    assert list(ready.judgements.current()) == []


def test_two_outcomes_are_none() -> None:
    """A grade and a reason exclude each other."""
    with pytest.raises(ArgumentError):
        answer("a", grade=1, unreadable=Unreadable.EMPTY)


def test_answers_from_elsewhere(ready: Collection) -> None:
    """They come with identity and judgements in one step, or not at all; the same again is no news."""
    judged = [
        replace(one, judge="new")
        for one in (answer("a", grade=0), answer("zz", unreadable=Unreadable.NO_GRADE))
    ]
    done = ready.models.take("new", judged, identity=IDENTITY, prompt=PROMPT)
    assert (done.added, done.unchanged) == (2, 0)
    assert ready.models.take("new", judged).unchanged == 2
    again = [replace(judged[0], grade=1)]
    with pytest.raises(ConflictError, match="1 judgements of `new` are there otherwise: 1 a: 0 -> 1"):
        ready.models.take("new", again)
    assert ready.models.take("new", again, replace=True).replaced == 1
    states = {one.docno: (one.state, one.grade, one.reason) for one in ready.judgements.current()}
    assert states == {"a": (State.JUDGED, 1, ""), "zz": (State.CANNOT, None, "no-grade")}
    assert [one.name for one in ready.verify() if one.n_faults] == []
