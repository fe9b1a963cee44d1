"""`pooler ask` against a server that fails in every way: what is stored, asked again, and said."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.model_judge import Answer, ModelIdentity, prompt_hash
from store.records import Document, Topic
from tests.helpers.run import Cli, Outcome, environment, program, run_inside
from tests.helpers.world import make_pool, new_collection
from tests.model_server import COMPLETION_TOKENS, PROMPT_TOKENS, ModelServer, model_server

pytestmark = pytest.mark.slow


TEMPLATE = "[system]\nGrade it.\n[user]\n{scale}\n{topic}\n{document}\n"
SECRET = "sk-Very_Secret-0123456789"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Run a server."""
    with model_server() as running:
        yield running


def identity_at(server: ModelServer, **others: Any) -> ModelIdentity:
    """State a model that this server has."""
    known: dict[str, Any] = {
        "endpoint": "chat-completions",
        "host": server.host,
        "prompt_sha256": prompt_hash(TEMPLATE),
        "parameters": {"temperature": 0, "max_tokens": 20},
        "parser": "json-grade",
        "parser_version": "1",
        "topic_fields": ("title",),
        "document_fields": ("title", "text"),
    }
    return ModelIdentity("stub", **known | others)


def fill(file: Path | str, server: ModelServer, texts: dict[str, str], **others: Any) -> str:
    """Make a collection of scale 0-2 with one topic, a pool of documents, and a stated model."""
    with new_collection(str(file)) as made:
        made.topics.add([Topic("1", "slugs on hostas")])
        made.pools.add(make_pool({"1": list(texts)}))
        made.documents.add([Document(docno, text=f"{text} NAME:{docno}") for docno, text in texts.items()])
        made.models.add("m", identity_at(server, **others), prompt=TEMPLATE)
    return str(file)


def judge(file: str, server: ModelServer, *options: str) -> Outcome:
    """Let the model judge."""
    endpoint = () if "--endpoint" in options else ("--endpoint", server.base)
    return run_inside("ask", "m", *endpoint, "--yes", "--collection", file, *options)


def answers(file: str) -> dict[str, Answer]:
    """Return the last answer about each document."""
    with Collection(file) as opened:
        return {one.docno: one for one in opened.models.answers("m")}


def judgements(file: str) -> dict[str, tuple[str, int | None, str]]:
    """Return how each document stands: state, grade, reason."""
    with Collection(file) as opened:
        return {one.docno: (one.state.value, one.grade, one.reason) for one in opened.judgements.current()}


UNREADABLE = {
    "length": "truncated",
    "seven": "off-scale",
    "float": "off-scale",
    "string": "no-grade",
    "true": "no-grade",
    "two": "two-grades",
    "empty": "empty",
    "null": "empty",
    "refusal": "refusal",
    "filter": "refusal",
    "words": "not-json",
    "context": "too-long",
}
FAILED = {
    "hang": "no whole reply within 0.5 s",
    "drip": "no whole reply within 0.5 s",
    "cut-json": "status 200 without a chat completion",
    "html": "status 200 without a chat completion",
    "huge": "a reply of more than 1,048,576 bytes",
    "ever-503": "status 503",
}


@pytest.mark.parametrize("fault", UNREADABLE)
def test_what_cannot_be_read_cannot_be_judged(fault: str, server: ModelServer, tmp_path: Path) -> None:
    """Each has its reason, was asked once, and never is grade 0; the body is kept as it came."""
    file = fill(tmp_path / "c.db", server, {"a": f"FAULT:{fault}", "b": "GRADE:2"})
    told = judge(file, server).fine()
    assert judgements(file) == {"a": ("cannot", None, UNREADABLE[fault]), "b": ("judged", 2, "")}
    assert len(server.times("a")) == 1
    assert f"1 {UNREADABLE[fault]}" in told.err
    assert answers(file)["a"].body
    judge(file, server).fine()
    assert len(server.requests) == 2


@pytest.mark.parametrize("fault", FAILED)
def test_what_fails_on_its_way_is_no_judgement(fault: str, server: ModelServer, tmp_path: Path) -> None:
    """The pair stays unjudged, is asked again by the next command, and the failure is kept."""
    file = fill(tmp_path / "c.db", server, {"a": f"FAULT:{fault}", "b": "GRADE:2"})
    options = ("--retries", "0", "--timeout", "0.5")
    told = judge(file, server, *options).fine()
    assert judgements(file) == {"b": ("judged", 2, "")}
    assert f"failed, and stays unjudged: 1 {FAILED[fault]}" in told.err
    failed = answers(file)["a"]
    assert (failed.grade, failed.unreadable) == (None, None)
    judge(file, server, *options).fine()
    assert len(server.times("a")) == 2
    assert len(server.times("b")) == 1


def test_a_body_that_is_cut_is_truncated(server: ModelServer, tmp_path: Path) -> None:
    """40 bytes of more, in every try: it cannot be judged, what came is kept, and it is asked no more."""
    file = fill(tmp_path / "c.db", server, {"a": "FAULT:cut", "b": "GRADE:2"})
    told = judge(file, server, "--retries", "1").fine()
    assert "cannot be judged: 1 truncated" in told.err
    assert judgements(file) == {"a": ("cannot", None, "truncated"), "b": ("judged", 2, "")}
    kept = answers(file)["a"]
    assert (kept.attempt, kept.status, len(kept.body)) == (2, 200, 40)
    judge(file, server, "--retries", "1").fine()
    assert len(server.times("a")) == 2


def test_the_deadline_is_over_the_whole_request(server: ModelServer, tmp_path: Path) -> None:
    """A byte each 20 ms would take some 6 s: each attempt ends after half a second."""
    file = fill(tmp_path / "c.db", server, {"a": "FAULT:drip"})
    began = time.monotonic()
    judge(file, server, "--retries", "0", "--timeout", "0.5").fine()
    assert 0.5 <= time.monotonic() - began < 3


@pytest.mark.parametrize(("fault", "least_s"), [("wait", 1.0), ("wait-date", 1.0), ("once-500", 0.0)])
def test_a_retry_waits_as_long_as_the_server_asks(
    fault: str, least_s: float, server: ModelServer, tmp_path: Path
) -> None:
    """Seconds or a date of HTTP; the second request is the first to the byte, and one judgement is made."""
    file = fill(tmp_path / "c.db", server, {"a": f"FAULT:{fault} GRADE:2"})
    told = judge(file, server).fine()
    first, second = server.times("a")
    assert second - first >= least_s
    assert server.requests[0].raw == server.requests[1].raw
    assert judgements(file) == {"a": ("judged", 2, "")}
    assert answers(file)["a"].attempt == 2
    assert "1 retry" in told.err


def test_others_wait_too_where_a_limit_is_used_up(server: ModelServer, tmp_path: Path) -> None:
    """`x-ratelimit-remaining-requests: 0` with a reset of 1.2 s holds the next request back."""
    file = fill(tmp_path / "c.db", server, dict.fromkeys("ab", "FAULT:used-up"))
    judge(file, server, "--concurrency", "1").fine()
    first, second = server.requests
    assert second.at - first.at >= 1.2


def test_too_long_a_wait_stops_the_run(server: ModelServer, tmp_path: Path) -> None:
    """An hour is more than `--max-wait`: nothing is stored, the exit code says so, and it can go on."""
    file = fill(tmp_path / "c.db", server, {"a": "FAULT:wait-long", "b": "FAULT:wait-long"})
    told = judge(file, server, "--concurrency", "1").failed(1)
    assert "asks to wait 3,600 s" in told.err
    assert len(server.requests) == 1
    assert judgements(file) == {}


def test_refused_for_ever_stops_the_run(server: ModelServer, tmp_path: Path) -> None:
    """After the retries 429 ends the run; the other documents are not tried."""
    file = fill(tmp_path / "c.db", server, dict.fromkeys("abc", "FAULT:wait-ever"))
    told = judge(file, server, "--concurrency", "1", "--retries", "1").failed(1)
    assert "refuses more requests (429), 2 times in a row" in told.err
    assert "hint: the same command goes on from here; --rate N asks less often" in told.err
    assert len(server.requests) == 2
    assert judgements(file) == {}


def test_a_server_that_is_down_stops_the_run(server: ModelServer, tmp_path: Path) -> None:
    """Five requests in a row that failed for good, and no sixth."""
    file = fill(tmp_path / "c.db", server, dict.fromkeys("abcdefgh", "FAULT:ever-503"))
    told = judge(file, server, "--concurrency", "1", "--retries", "0").failed(1)
    assert "5 requests in a row failed: status 503" in told.err
    assert len(server.requests) == 5


@pytest.mark.parametrize("way", ["env", "file"])
def test_a_refused_key_is_asked_once_and_never_seen(
    way: str, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server gets the key and repeats it in its 401; no stream, file or row holds it."""
    file = fill(tmp_path / "c.db", server, dict.fromkeys("abcdefgh", "FAULT:401"))
    if way == "env":
        monkeypatch.setenv("THE_KEY", SECRET)
        options = ("--key-env", "THE_KEY")
    else:
        (tmp_path / "key").write_text(f"{SECRET}\n")
        (tmp_path / "key").chmod(0o600)
        options = ("--key-file", str(tmp_path / "key"))
    told = judge(file, server, *options).failed(1)
    assert "status 401\n" in told.err
    assert "Incorrect" not in told.err
    assert [one.headers["Authorization"] for one in server.requests] == [f"Bearer {SECRET}"]
    assert SECRET not in told.out + told.err
    (tmp_path / "key").unlink(missing_ok=True)
    for kept in tmp_path.iterdir():
        assert SECRET.encode() not in kept.read_bytes(), kept


def test_parts_of_a_key_are_not_repeated(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that masks the middle alone, with a status that is not about keys: its ends are hidden."""
    file = fill(tmp_path / "c.db", server, {"a": "FAULT:masked"})
    monkeypatch.setenv("THE_KEY", SECRET)
    told = judge(file, server, "--key-env", "THE_KEY").failed(1)
    assert "no model for [key]" in told.err
    assert "hint: look at --endpoint and the model's id" in told.err
    assert SECRET[:4] not in told.err
    assert SECRET[-4:] not in told.err


def test_keys_are_guarded(server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that others may read, an empty variable, and a far host without encryption are refused."""
    file = fill(tmp_path / "c.db", server, {"a": "x"})
    key = tmp_path / "my key"
    key.write_text(SECRET)
    key.chmod(0o640)
    told = judge(file, server, "--key-file", str(key)).failed(1).err
    assert "hint: chmod 600 " in told
    subprocess.run(["sh", "-c", told.partition("hint: ")[2]], check=True)
    monkeypatch.delenv("NO_KEY", raising=False)
    assert "got nothing" in judge(file, server, "--key-env", "NO_KEY").failed(1).err
    far = fill(tmp_path / "far.db", server, {"a": "x"}, host="models.example.org")
    options = ("--endpoint", "http://models.example.org/v1", "--key-file", str(key))
    told = judge(far, server, *options).failed(1)
    assert "not sent to models.example.org without encryption" in told.err
    told = judge(far, server, "--endpoint", f"http://user:{SECRET}@models.example.org/v1").failed(1)
    assert SECRET not in told.err
    assert server.requests == []


def test_no_redirect_and_no_proxy_of_the_environment(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A 307 stops the run; a proxy that the environment names is not used."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    file = fill(tmp_path / "c.db", server, {"a": "FAULT:redirect"})
    told = judge(file, server).failed(1)
    assert "status 307" in told.err
    assert [one.name for one in server.requests] == ["a"]


@pytest.mark.parametrize("fault", ["400"])
def test_a_request_at_fault_is_never_sent_again(fault: str, server: ModelServer, tmp_path: Path) -> None:
    """What the server says is said; nothing more is asked."""
    file = fill(tmp_path / "c.db", server, dict.fromkeys("ab", f"FAULT:{fault}"))
    told = judge(file, server).failed(1)
    assert "no such parameter" in told.err
    assert len(server.requests) == 1
    assert judgements(file) == {}


def test_another_model_stops_the_run(server: ModelServer, tmp_path: Path) -> None:
    """Two ids are two judges: the second one's answer is not stored."""
    file = fill(tmp_path / "c.db", server, {"a": "GRADE:2", "b": "GRADE:2"})
    judge(file, server, "--concurrency", "1").fine()
    with Collection(file) as opened:
        opened.pools.add(make_pool({"1": ["c", "d"]}, name="more"))
        opened.documents.add([Document(one, text=f"NAME:{one} FAULT:other-model") for one in "cd"])
    told = judge(file, server, "--concurrency", "1").failed(3)
    assert "answered as model `stub-2`, and before as `stub-1`" in told.err
    assert judgements(file).keys() == {"a", "b"}
    assert len(server.requests) == 3


def test_a_changed_system_is_told(server: ModelServer, tmp_path: Path) -> None:
    """Fingerprints are kept; more than one in a run is a warning."""
    file = fill(tmp_path / "c.db", server, {"a": "FAULT:fingerprint"})
    judge(file, server).fine()
    assert answers(file)["a"].fingerprint == "fp-2"


def test_nothing_but_topic_and_document_is_sent(server: ModelServer, tmp_path: Path) -> None:
    """No docno, and every nonce but once; parameters as stated and none besides."""
    with new_collection(str(tmp_path / "c.db")) as made:
        made.topics.add([Topic("1", "slugs on hostas", "secret description")])
        made.pools.add(make_pool({"1": ["DOC-77", "DOC-78"]}))
        made.documents.add([Document(f"DOC-{n}", text=f"text {n}") for n in (77, 78)])
        made.models.add("m", identity_at(server), prompt=TEMPLATE)
    judge(str(tmp_path / "c.db"), server).fine()
    assert len(server.requests) == 2
    for one in server.requests:
        assert b"DOC-7" not in one.raw
        assert b"secret description" not in one.raw
        assert one.body.keys() == {"model", "messages", "temperature", "max_tokens"}
        assert one.path == "/v1/chat/completions"
    nonces = [one.prompt.split("<document-")[1].split(">")[0] for one in server.requests]
    assert nonces[0] != nonces[1]


def test_cost_is_that_of_the_stored_usages(server: ModelServer, tmp_path: Path) -> None:
    """By hand: 80 prompt tokens at 2, 10 cached at 1, 7 at 10 a million: 240e-6 each, for three."""
    file = fill(tmp_path / "c.db", server, {"a": "GRADE:2", "b": "GRADE:0", "c": "FAULT:words"})
    told = judge(file, server, "--price", "2,10,1").fine()
    assert sum(one.cost or 0 for one in answers(file).values()) == pytest.approx(3 * 240e-6, rel=1e-12)
    assert "cost 0.000720, 0.000360 a grade" in told.err
    assert f"{3 * PROMPT_TOKENS} prompt, {3 * COMPLETION_TOKENS} completion, 30 cached" in told.err


def test_limits_stop_before_they_are_passed(server: ModelServer, tmp_path: Path) -> None:
    """Each reply has 97 tokens: of 400 there is room for some, never for five."""
    file = fill(tmp_path / "c.db", server, dict.fromkeys("abcdefgh", "GRADE:1"))
    told = judge(file, server, "--max-tokens-total", "400").failed(1)
    used = len(judgements(file)) * (PROMPT_TOKENS + COMPLETION_TOKENS)
    assert 97 <= used <= 400
    assert "--max-tokens-total" in told.err
    told = judge(file, server, "--max-cost", "0.0000001", "--price", "1,1").failed(1)
    assert "--max-cost" in told.err
    judge(file, server).fine()
    assert len(judgements(file)) == len(server.requests) == 8


def test_rate_is_kept(server: ModelServer, tmp_path: Path) -> None:
    """At 300 a minute the fourth request begins 600 ms after the first, whatever the concurrency."""
    file = fill(tmp_path / "c.db", server, dict.fromkeys("abcd", "GRADE:1"))
    judge(file, server, "--rate", "300").fine()
    at = sorted(one.at for one in server.requests)
    assert at[3] - at[0] > 0.5


def test_order_is_shuffled_by_seed_and_not_by_rank(server: ModelServer, tmp_path: Path) -> None:
    """Two collections with one seed are asked in one order, which is not that of the pool."""
    texts = {f"d{n:02}": "GRADE:1" for n in range(20)}
    orders = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        file = fill(tmp_path / f"{name}.db", server, texts)
        judge(file, server, "--concurrency", "1", "--seed", seed).fine()
        orders.append([one.name for one in server.requests[-20:]])
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


def test_first_run_asks_whether_texts_may_be_sent(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a yes nothing is sent; later runs do not ask again."""
    file = fill(tmp_path / "c.db", server, {"a": "GRADE:1"})
    start = [*program(), "ask", "m", "--endpoint", server.base, "--collection", file]
    told = subprocess.run(start, input=b"no\n", capture_output=True, env=environment({}), check=False)
    assert told.returncode == 1
    assert f"will be sent to {server.host}".encode() in told.stderr
    assert server.requests == []
    told = subprocess.run(start, input=b"yes\n", capture_output=True, env=environment({}), check=False)
    assert told.returncode == 0, told.stderr
    with Collection(file) as opened:
        opened.pools.add(make_pool({"1": ["b"]}, name="more"))
        opened.documents.add([Document("b", text="GRADE:1 NAME:b")])
    told = subprocess.run(start, input=b"", capture_output=True, env=environment({}), check=False)
    assert told.returncode == 0, told.stderr
    assert judgements(file).keys() == {"a", "b"}


def test_dry_run_and_prompt_ask_nothing(server: ModelServer, tmp_path: Path) -> None:
    """Requests, characters, tokens and price are told; the prompt is shown as it would be filled in."""
    file = fill(tmp_path / "c.db", server, {"a": "first text", "b": "other text"})
    told = judge(file, server, "--dry-run", "--price", "1,1").fine()
    assert f"2 requests to {server.host}" in told.err
    assert "at most 40 of replies" in told.err  # max_tokens 20, twice
    unlimited = fill(tmp_path / "u.db", server, {"a": "first text"}, parameters={"temperature": 0})
    told = judge(unlimited, server, "--dry-run", "--price", "1,1").fine()
    assert "replies have no limit" in told.err
    assert "at most" not in told.err
    assert "by --price for the prompts alone" in told.err
    shown = judge(file, server, "--show-prompt").fine().out
    assert "[system]\nGrade it.\n[user]\n0: " in shown
    assert "<topic-NONCE>\ntitle: slugs on hostas\n</topic-NONCE>\n<document-NONCE>\n" in shown
    assert server.requests == []
    assert judgements(file) == {}


def test_a_model_that_is_not_stated_so_is_not_asked(server: ModelServer, tmp_path: Path) -> None:
    """Host, parser and what is shown are part of who it is; all that is missing is told at once."""
    file = fill(
        tmp_path / "c.db", server, {"a": "x"}, host="other.example", parser="umbrela", topic_fields=()
    )
    told = judge(file, server).failed(1)
    for words in ("its host is other.example", 'parser = "json-grade:1"', "shows = ["):
        assert words in told.err
    assert server.requests == []


def test_an_example_from_the_collection_is_refused(server: ModelServer, tmp_path: Path) -> None:
    """A prompt with a pooled document and its topic's title would be no test."""
    template = f"{TEMPLATE}[user]\nslugs on hostas: they eat  hostas at night\n[assistant]\n2\n"
    with new_collection(str(tmp_path / "c.db")) as made:
        made.topics.add([Topic("1", "slugs on hostas")])
        made.pools.add(make_pool({"1": ["a", "b"]}))
        made.documents.add([Document("a", text="they eat hostas\nat night"), Document("b", text="else")])
        identity = identity_at(server, prompt_sha256=prompt_hash(template))
        made.models.add("m", identity, prompt=template)
    told = judge(str(tmp_path / "c.db"), server).failed(3)
    assert "the prompt holds a document of topic 1" in told.err
    assert server.requests == []


def test_ctrl_c_finishes_what_is_on_its_way(server: ModelServer, tmp_path: Path) -> None:
    """Requests that were sent are answered and stored; no further one is sent."""
    server.delay_s = 0.5
    file = fill(tmp_path / "c.db", server, {f"d{n}": "GRADE:1" for n in range(12)})
    start = [*program(), "ask", "m", "--endpoint", server.base, "--yes", "--collection", file]
    with subprocess.Popen(start, stderr=subprocess.PIPE, env=environment({})) as process:
        while len(server.requests) < 5:  # the first alone, then four
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert len(server.requests) == 5
    assert len(judgements(file)) == 5
    assert b"5 judgements with a grade" in err
    server.delay_s = 0
    judge(file, server).fine()
    assert len(server.requests) == len(judgements(file)) == 12


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_two_programs_ask_each_pair_once(
    engine: str, server: ModelServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Nothing is assigned, and both see every pair: still each is asked by one of them."""
    server.delay_s = 0.02
    where = tmp_path / "c.db" if engine == "sqlite" else request.getfixturevalue("postgres_url")
    file = fill(where, server, {f"d{n:02}": "GRADE:1" for n in range(40)})
    start = [*program(), "ask", "m", "--endpoint", server.base, "--yes", "--collection", file]
    both = [subprocess.Popen(start, stderr=subprocess.PIPE, env=environment({})) for _ in range(2)]
    for one in both:
        _, err = one.communicate(timeout=60)
        assert one.returncode == 0, err
    assert len(server.requests) == len(judgements(file)) == 40
    assert {one.name for one in server.requests} == set(judgements(file))


def test_a_model_works_at_a_desk_like_everybody(server: ModelServer, tmp_path: Path) -> None:
    """Where documents are assigned it gets its own alone; of open places it claims what is left."""
    file = fill(tmp_path / "c.db", server, {f"d{n}": "GRADE:1" for n in range(10)})
    options = ("--per-document", "1", "--claim", "--collection", file)
    run_inside("judges", "add", "alice", "--collection", file).fine()
    run_inside("assign", *options).fine()
    judge(file, server).fine()
    assert len(judgements(file)) == len(server.requests) == 10


def test_a_model_beside_people_who_have_documents_is_assigned_some(
    server: ModelServer, tmp_path: Path
) -> None:
    """People's assignments stay; the lines that answers name lead to grades of the model, and of others."""
    file = fill(tmp_path / "c.db", server, {f"d{n}": "GRADE:1" for n in range(10)})
    run_inside("judges", "add", "alice", "--collection", file).fine()
    run_inside("assign", "-k", "1", "--collection", file).fine()
    assert "if others are assigned some: pooler assign m\n" in judge(file, server).failed(1).err
    told = run_inside("assign", "m", "--collection", file).failed(3).err
    assert "pooler assign alice m --per-document 2 --replace gives each document 2 judges" in told
    run_inside("assign", "alice", "m", "-k", "2", "--replace", "--collection", file).fine()
    run_inside("judges", "add", "bob", "--collection", file).fine()
    told = run_inside("assign", "bob", "--collection", file).failed(3).err
    assert "pooler assign alice m bob --per-document 3 --replace" in told
    judge(file, server).fine()
    assert len(judgements(file)) == 10


def test_a_parser_that_was_not_stated_is_told_in_words(cli: Cli) -> None:
    """Neither its name nor its version is known, which is one thing to say."""
    cli("init", "--scale", "0-1").fine()
    Path("m.toml").write_text('model = "x"')
    cli("judges", "add", "m", "--model", "m.toml").fine()
    told = cli("ask", "m", "--endpoint", "http://127.0.0.1:1/v1", "--yes").err
    assert 'its parser is not stated (parser = "json-grade:1")' in told
