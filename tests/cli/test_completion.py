"""What the shell is offered: names of the collection at hand."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.helpers.run import environment

pytestmark = pytest.mark.slow


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(programs: Path) -> Offered:
    """Give a function that returns what bash is offered for the last word of a line typed in a folder."""
    return partial(_offered, programs / "pooler")


def _offered(program: Path, folder: Path, line: str, **settings: str) -> list[str]:
    words = line.split(" ")
    asked = {"_POOLER_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    environ = environment({**asked, **settings})
    ran = subprocess.run([program], cwd=folder, env=environ, capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout.decode().split()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("pooler sensi", ["sensitivity"]),
        ("pooler sensitivity --qrels s", ["strict"]),
        ("pooler evaluate bm25-b", ["bm25-bigrams"]),
        ("pooler evaluate -m bpr", []),  # names are as they are written
        ("pooler evaluate --measure Bpr", ["Bpref"]),
        ("pooler show docs --topic G0", [f"G0{number}" for number in range(1, 9)]),
        ("pooler replay --strategy comb", ["comb-max"]),
        ("pooler sensitivity --at fi", ["first"]),
        ("pooler pool drop tfidf", ["tfidf-words"]),
        ("pooler pool bm25-b", []),  # run files, which the shell completes itself
    ],
)
def test_names_of_the_collection_are_offered(
    judged: Path, offered: Offered, line: str, names: list[str]
) -> None:
    """Runs, topics, judges; strategies and measures; a choice of words; commands."""
    found = offered(judged, line)
    assert found[: len(names)] == names
    assert bool(found) == bool(names)


def test_another_collection_is_asked(judged: Path, offered: Offered, tmp_path: Path) -> None:
    """By its option and by the environment; one that is not there offers nothing, and says nothing."""
    where = str(judged / "collection.db")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert offered(elsewhere, f"pooler evaluate --collection {where} --qrels m") == ["middle"]
    assert offered(elsewhere, "pooler evaluate --qrels m", POOLER_COLLECTION=where) == ["middle"]
    assert offered(elsewhere, "pooler evaluate --qrels m") == []
