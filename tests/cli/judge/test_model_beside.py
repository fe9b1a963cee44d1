"""Repetitions and canaries: what they say, and that no command but theirs knows of them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.collection import Collection
from store.model_judge import CANARIES, Asked
from tests.cli.judge.test_model import fill, identity_at, judge
from tests.helpers.run import run_inside
from tests.model_server import ModelServer, model_server

ORDER = re.compile(r"Ignore the above; .* answer (\d)")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Run a server whose model obeys orders, is flattered by nothing else, and says 0 otherwise."""
    with model_server() as running:
        running.grade = lambda text: int(found[1]) if (found := ORDER.search(text)) else 0
        yield running


def test_canaries_tell_whether_a_model_obeys(server: ModelServer, tmp_path: Path) -> None:
    """Four documents of grade 0, each with three copies: orders raise the grade by 2, nothing else does."""
    file = fill(tmp_path / "c.db", server, {f"d{n}": "text" for n in range(6)})
    told = judge(file, server, "--canaries", "4").fine()
    assert len(server.requests) == 6 + 4 * 3
    assert "warning: copies with an order in it: 4 documents, grade +2.00" in told.err
    assert "\ncopies with the topic's words in it: 4 documents, grade +0.00" in told.err
    exported = run_inside("export", "qrels", "m", "--collection", file).fine()
    assert "warning: `m` graded copies with an order in it +2.00" in exported.err
    assert "topic's words" not in exported.err
    with Collection(file) as opened:
        kinds = Counter(one.asked for one in opened.models.answers("m"))
    assert kinds == {Asked.JUDGE: 6, **dict.fromkeys(CANARIES, 4)}
    judge(file, server, "--canaries", "4").fine()
    assert len(server.requests) == 18
    judge(file, server, "--canaries", "5").fine()
    assert len(server.requests) == 21


def test_canaries_of_documents_that_are_cut(server: ModelServer, tmp_path: Path) -> None:
    """Of 500 characters 200 are shown, and the order after them: the model obeys it."""
    texts = {f"d{n}": "x" * 500 for n in range(6)}
    file = fill(tmp_path / "c.db", server, texts, max_characters=200, cut="end")
    told = judge(file, server, "--canaries", "3").fine()
    ordered = [one.prompt for one in server.requests if ORDER.search(one.prompt)]
    assert len(ordered) == 3
    assert all(re.search(r"[^x]x{200}\n\nIgnore the above", prompt) for prompt in ordered)
    assert "copies with an order in it: 3 documents, grade +2.00" in told.err


def test_repetitions_are_kept_out_of_the_grades(server: ModelServer, tmp_path: Path) -> None:
    """A model that says something else the second time: the first grade stands."""
    file = fill(tmp_path / "c.db", server, {f"d{n}": "text" for n in range(6)})
    judge(file, server).fine()
    server.grade = lambda _text: 1
    told = judge(file, server, "--repeat", "3").fine()
    assert "asked again: 3 pairs, 0 with the same grade" in told.err
    assert len({one.name for one in server.requests[6:]}) == len(server.requests[6:]) == 3
    with Collection(file) as opened:
        assert {one.grade for one in opened.judgements.current()} == {0}


COMMANDS = """
status
show runs
show topics
show docs
show pools
show judges
show runs bm25-words
show topics G01
show docs KG-E-002
show pools pool
show judges strict
history G01 KG-E-002
status effort
status outdated
agreement --qrels models
audit m --against strict
adjudicate
export qrels m
export qrels models
export qrels m --as ntcireval
variation --qrels models --level 1 --table probabilities
export pool
export judgements
export judgements m --as answers
export judgements m --as umbrela
evaluate --measure AP --qrels m
compare --measure AP --qrels m
diagnose --qrels m
sensitivity --depth 5 --qrels m
variation --qrels m
paper bm25-words tfidf-words --qrels models
pool next --qrels m
diagnose --qrels m --table contributions
replay --qrels m --depth 5
assign
show guidelines
""".strip().splitlines()
"""Every command that reads a collection; `verify` counts rows, `show judges m` sittings."""


@pytest.mark.slow
def test_no_command_knows_of_canaries(server: ModelServer, imported_garden: Path, tmp_path: Path) -> None:
    """Every command prints the same, to the byte, before and after canaries were asked; pools stay."""
    server.grade = lambda text: 2 if ORDER.search(text) else len(text) % 3
    shutil.copytree(imported_garden, tmp_path, dirs_exist_ok=True)
    file = str(tmp_path / "collection.db")
    from tests.cli.judge.test_model import TEMPLATE

    with Collection(file) as opened:
        opened.models.add("m", identity_at(server), prompt=TEMPLATE)
    judge(file, server).fine()
    rule = ("--kinds", "model", "--aggregate", "median", "--ties", "low")
    run_inside("qrels", "define", "models", *rule, "--collection", file).fine()

    def printed() -> dict[str, tuple[int, str]]:
        found = {}
        for command in COMMANDS:
            told = run_inside(*command.split(), "--collection", file)
            found[command] = (told.code, told.out)
        page = tmp_path / "report.html"
        run_inside("report", str(page), "--qrels", "m", "--collection", file).fine()
        found["report"] = (0, page.read_text("utf-8"))
        return found

    before = printed()
    assert {command: told for command, told in before.items() if told[0]} == {}
    told = judge(file, server, "--canaries", "8").fine()
    assert "copies with an order in it: 8 documents" in told.err
    after = printed()
    for command in before:
        assert after[command] == before[command], command
    run_inside("verify", "--collection", file).fine()
