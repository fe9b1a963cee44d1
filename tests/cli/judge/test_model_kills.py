"""Two programs of one model, killed again and again: what is asked again, and what is kept."""

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
from tests.cli.judge.test_model import TEMPLATE, identity_at
from tests.helpers.run import environment, program
from tests.helpers.world import make_pool, new_collection
from tests.model_server import COMPLETION_TOKENS, PROMPT_TOKENS, ModelServer, model_server

SECRET = "sk-Kept_From_Everybody-42"
CONCURRENCY = 4
PRICE = (2.0, 10.0)


def fill(file: Path, server: ModelServer, n: int, n_topics: int) -> dict[str, int]:
    """Make a collection of so many documents; return the grade the server has for each."""
    topics = [str(number) for number in range(1, n_topics + 1)]
    grades = {f"d{number:05}": number % 3 for number in range(n)}
    pools: dict[str, list[str]] = {topic: [] for topic in topics}
    for number, docno in enumerate(grades):
        pools[topics[number % n_topics]].append(docno)
    with new_collection(str(file)) as made:
        made.topics.add([Topic(topic, f"title {topic}") for topic in topics])
        made.pools.add(make_pool(pools))
        made.documents.add(
            [Document(docno, text=f"GRADE:{grade} NAME:{docno}") for docno, grade in grades.items()]
        )
        made.models.add("m", identity_at(server), prompt=TEMPLATE)
    return grades


def run_and_kill(folder: Path, n: int, n_topics: int, kills: int, *, delay_s: float) -> dict[str, int]:
    """Judge with two programs that are killed, until all is judged; check everything; return counts."""
    rng = random.Random(26)
    file = folder / "c.db"
    with model_server() as server:
        server.delay_s = delay_s
        grades = fill(file, server, n, n_topics)
        start = [*program(), "judge", "--model", "m", "--endpoint", server.base, "--yes"]
        start += ["--collection", str(file), "--key-env", "THE_KEY", "--price", "{},{}".format(*PRICE)]
        said = folder / "said.txt"

        def begin() -> subprocess.Popen[bytes]:
            with said.open("ab") as words:
                return subprocess.Popen(
                    start, stdout=words, stderr=words, env=environment({"THE_KEY": SECRET})
                )

        running = [begin(), begin()]
        killed = 0
        while killed < kills:
            reached = len(server.requests) + rng.randint(n // (2 * kills), n // kills)
            while len(server.requests) < reached and any(one.poll() is None for one in running):
                time.sleep(0.005)
            which = rng.randrange(2)
            if running[which].poll() is None:
                running[which].kill()
                running[which].wait()
                killed += 1
            elif all(one.poll() is not None for one in running):
                break
            running[which] = begin()
        for one in running:
            assert one.wait(timeout=600) == 0, said.read_text()
        asked = Counter(one.name for one in server.requests)
        with Collection(str(file)) as opened:
            answers = [one for one in opened.models.answers("m") if one.asked is Asked.JUDGE]
            stood = opened.judgements.current()
            events = list(opened.judgements.history())
            (work,) = opened.models.work()
    # Everything is judged once, as the server said.
    assert {one.docno: one.grade for one in stood} == grades
    assert len(events) == len(stood) == len(answers) == n
    # Whoever was asked again had no answer: it was on its way, at most so many at each kill.
    again = sum(asked.values()) - n
    assert set(asked) == set(grades)
    assert again <= killed * CONCURRENCY
    # What is stored is what was asked for last: a request after it would be one of an answered pair.
    last = {one.name: sha256(one.raw).hexdigest() for one in server.requests}
    assert {one.docno: one.request_sha256 for one in answers} == last
    # Cost is that of the usages that are stored.
    each = (PROMPT_TOKENS * PRICE[0] + COMPLETION_TOKENS * PRICE[1]) / 1e6
    assert work.cost == pytest.approx(sum(one.cost or 0 for one in answers), rel=1e-12)
    assert work.cost == pytest.approx(n * each, rel=1e-9)
    assert work.prompt_tokens == n * PROMPT_TOKENS
    # The key is nowhere but in the requests.
    assert all(one.headers["Authorization"] == f"Bearer {SECRET}" for one in server.requests)
    for kept in folder.iterdir():
        assert SECRET.encode() not in kept.read_bytes(), kept
    return {"killed": killed, "requests": sum(asked.values()), "again": again, "judgements": len(stood)}


@pytest.mark.slow
def test_three_kills_of_two_programs(tmp_path: Path) -> None:
    """150 documents."""
    assert run_and_kill(tmp_path, 150, 3, 3, delay_s=0.05)["killed"] == 3


@pytest.mark.long
def test_twenty_kills_of_two_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """2,000 documents of ten topics."""
    found = run_and_kill(tmp_path, 2000, 10, 20, delay_s=0.03)
    with capsys.disabled():
        print(found)  # noqa: T201 - figures for whoever runs it by hand
    assert found["killed"] == 20
