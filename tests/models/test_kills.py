"""Two programs ask models about the documents of one collection, and are killed again and again.

Both ask for one model judge, or each for its own; the server is that of `tests.helpers.model_server`. However often
a program is killed (`kill -9`, at moments from a fixed seed), every pair of a judge is stored once, with the
grade that the server gave, and is asked again only if its answer was on its way at a kill. 500 documents and
20 kills on SQLite and on PostgreSQL: `pytest -m long tests/models/test_kills.py`, which prints its
figures.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from store.collection import Collection
from store.model_judge import Asked
from store.records import Document, Topic
from tests.helpers.model_server import COMPLETION_TOKENS, PROMPT_TOKENS, ModelServer, Request, model_server
from tests.helpers.run import environment, program, run_inside
from tests.helpers.world import make_pool, new_collection, stored_rows
from tests.models.test_ask import TEMPLATE, identity_at

SECRET = "sk-Kept_From_Everybody-42"
CONCURRENCY = 4
PRICE = (2.0, 10.0)
N_TOPICS = 5
KEY = {"THE_KEY": SECRET}


def fill(name: str, server: ModelServer, n: int, judges: list[str]) -> dict[str, int]:
    """Make a collection of so many documents; return the grade the server has for each."""
    grades = {f"d{number:05}": number % 3 for number in range(n)}
    pools: dict[str, list[str]] = {str(topic): [] for topic in range(N_TOPICS)}
    for number, docno in enumerate(grades):
        pools[str(number % N_TOPICS)].append(docno)
    with new_collection(name) as made:
        made.topics.add([Topic(topic, f"title {topic}") for topic in pools])
        made.pools.add(make_pool(pools))
        made.documents.add(
            [Document(docno, text=f"GRADE:{grade} NAME:{docno}") for docno, grade in grades.items()]
        )
        for judge in judges:
            stated = identity_at(server, parameters={"stop": [judge], "max_tokens": 20})
            made.models.add(judge, stated, prompt=TEMPLATE)
    return grades


def judge_of(request: Request) -> str:
    """Return the judge for whom a request was made, which its parameters tell."""
    (judge,) = request.body["stop"]
    return str(judge)


def run_and_kill(name: str, folder: Path, judges: list[str], n: int, kills: int, delay_s: float) -> str:
    """Judge with two programs that are killed, until all is judged; check everything; return the figures."""
    rng, began = random.Random(26), time.monotonic()
    with model_server() as server:
        server.delay_s = delay_s
        grades = fill(name, server, n, judges)
        options = ["--endpoint", server.base, "--yes", "--collection", name]
        options += ["--key-env", "THE_KEY", "--price", "{},{}".format(*PRICE)]
        said = folder / "said.txt"

        def begin(which: int) -> subprocess.Popen[bytes]:
            start = [*program(), "ask", judges[which % len(judges)], *options]
            with said.open("ab") as words:
                return subprocess.Popen(start, stdout=words, stderr=words, env=environment(KEY))

        n_pairs = n * len(judges)
        running = [begin(0), begin(1)]
        killed = 0
        while killed < kills:
            reached = len(server.requests) + rng.randint(n_pairs // (2 * kills), n_pairs // kills)
            while len(server.requests) < reached and any(one.poll() is None for one in running):
                time.sleep(0.005)
            which = rng.randrange(2)
            if running[which].poll() is None:
                running[which].kill()
                running[which].wait()
                killed += 1
            elif all(one.poll() is not None for one in running):
                break
            running[which] = begin(which)
        for one in running:
            assert one.wait(timeout=600) == 0, said.read_text()
        # What is done is done: the same command again asks nothing.
        n_requests = len(server.requests)
        assert begin(0).wait(timeout=60) == 0, said.read_text()
        assert len(server.requests) == n_requests
        asked = Counter((judge_of(one), one.name) for one in server.requests)
        # What is stored is what was asked for last: a request after it would be one of an answered pair.
        last = {(judge_of(one), one.name): sha256(one.raw).hexdigest() for one in server.requests}
        # The key is nowhere but in the requests.
        assert all(one.headers["Authorization"] == f"Bearer {SECRET}" for one in server.requests)
    with Collection(name) as opened:
        answers = {judge: opened.models.answers(judge) for judge in judges}
        stood = opened.judgements.current()
        n_events = len(list(opened.judgements.history()))
        work = {one.judge: one for one in opened.models.work()}
    # Everything is judged once, as the server said.
    assert killed == kills
    assert n_events == len(stood) == n_pairs
    assert {(one.judge, one.docno): one.grade for one in stood} == {
        (judge, docno): grade for judge in judges for docno, grade in grades.items()
    }
    found = [one for own in answers.values() for one in own if one.asked is Asked.JUDGE]
    assert len(found) == n_pairs
    assert {(one.judge, one.docno): one.request_sha256 for one in found} == last
    # Whoever was asked again had no answer: it was on its way, at most so many at each kill.
    again = asked.total() - n_pairs
    assert again <= killed * CONCURRENCY
    # Cost is that of the usages that are stored.
    each = (PROMPT_TOKENS * PRICE[0] + COMPLETION_TOKENS * PRICE[1]) / 1e6
    for judge in judges:
        cost = sum(one.cost or 0 for one in answers[judge])
        assert work[judge].cost == pytest.approx(cost, rel=1e-12) == pytest.approx(n * each, rel=1e-9)
        assert work[judge].prompt_tokens == n * PROMPT_TOKENS
    assert SECRET not in repr(stored_rows(name))
    for kept in folder.iterdir():
        assert SECRET.encode() not in kept.read_bytes(), kept
    run_inside("verify", "--collection", name).fine()
    return (
        f"{killed} kills: {asked.total()} requests, {again} of them again, {n_events} judgements of {n_pairs}"
        f" pairs, none doubled, in {time.monotonic() - began:.0f} s"
    )


@pytest.mark.parametrize(
    ("judges", "n", "kills", "delay_s"),
    [
        pytest.param(["m"], 150, 3, 0.05, marks=pytest.mark.slow),
        pytest.param(["m"], 500, 20, 0.3, marks=pytest.mark.long),
        pytest.param(["m", "other"], 500, 20, 0.3, marks=pytest.mark.long),
    ],
    ids=["one judge, briefly", "one judge", "two judges"],
)
def test_no_pair_is_stored_twice_after_kills(
    collection_name: str,
    judges: list[str],
    n: int,
    kills: int,
    delay_s: float,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two programs at once, killed while they ask: every pair once, as the server said."""
    figures = run_and_kill(collection_name, tmp_path, judges, n, kills, delay_s)
    with capsys.disabled():
        print(f"\n{figures}")  # noqa: T201 - figures for whoever runs it by hand
