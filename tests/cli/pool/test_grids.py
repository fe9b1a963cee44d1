"""`pooler pool --strategy grid` and `topicgrid`: a model's grades draw the sample."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.run import Cli, read_lines, write

TOPICS = ("1", "2", "3")
DOCNOS = tuple("abcdefghij")


@pytest.fixture
def runs(here: Path) -> Path:
    """Write two runs of three topics with ten documents each, and a model's grades but for one document."""
    for tag, docnos in {"x": DOCNOS, "y": DOCNOS[::-1][:4]}.items():
        rows = [
            f"{topic} Q0 {docno} 1 {-rank} {tag}" for topic in TOPICS for rank, docno in enumerate(docnos)
        ]
        write(here / f"{tag}.run", *rows)
    graded = [(topic, docno) for topic in TOPICS for docno in DOCNOS if (topic, docno) != ("2", "j")]
    write(here / "gpt.qrels", *(f"{topic} 0 {docno} {ord(docno) % 2}" for topic, docno in graded))
    return here


def grid(cli: Cli, *options: str) -> tuple[list[str], dict[str, Any]]:
    """Draw a sample of the run files; return its lines and its manifest."""
    fixed = ["x.run", "y.run", "--param", "model=gpt.qrels", "--total-budget", "21", "-o", "p.txt"]
    cli("pool", *fixed, *options).fine()
    return read_lines(Path("p.txt")), json.loads(Path("p.txt.manifest.json").read_text())


@pytest.mark.parametrize("name", ["grid", "topicgrid"])
def test_a_grid_is_drawn_again_and_says_by_what(cli: Cli, runs: Path, name: str) -> None:
    """The budget is met, a seed gives the same again; the manifest has the hash of the grades."""
    lines, manifest = grid(cli, "-s", name, "--seed", "1")
    assert len(lines) == 21
    assert grid(cli, "-s", name, "--seed", "1") == (lines, manifest)
    assert grid(cli, "-s", name, "--seed", "2")[0] != lines
    assert manifest["parameters"] == {"depth": 100, "model": "gpt", "model_level": 1}
    told = "".join(
        f"{topic} {docno} {ord(docno) % 2}\n"
        for topic in TOPICS
        for docno in DOCNOS
        if (topic, docno) != ("2", "j")
    )
    sha256 = hashlib.sha256(told.encode()).hexdigest()
    assert manifest["model_grades"] == {"pairs": 29, "without_grade": 1, "sha256": sha256}
    assert (runs / "p.txt").exists()


def test_other_grades_are_another_plan(cli: Cli, runs: Path) -> None:
    """A grade changed in the file changes the hash, and so the manifest."""
    _, before = grid(cli, "-s", "grid", "--seed", "1")
    lines = [line.replace("1 0 a 1", "1 0 a 0") for line in read_lines(runs / "gpt.qrels")]
    write(runs / "gpt.qrels", *lines)
    _, after = grid(cli, "-s", "grid", "--seed", "1")
    assert before["model_grades"]["sha256"] != after["model_grades"]["sha256"]


def test_strata_of_a_grid_are_over_all_topics(cli: Cli, runs: Path) -> None:
    """Every document of a stratum has the same chance, the share of it that is drawn; two or more of each."""
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "x.run", "y.run").fine()
    cli("import", "judgements", "gpt.qrels", "--judge", "gpt", "--kind", "model").fine()
    write(runs / "ann.qrels", *(f"{topic} 0 {docno} 0" for topic in TOPICS for docno in DOCNOS))
    cli("import", "judgements", "ann.qrels", "--judge", "ann", "--kind", "human").fine()
    options = ["--param", "model=gpt", "--total-budget", "21", "--seed", "1"]
    cli("pool", "-s", "grid", "--name", "wide", *options).fine()
    cli("pool", "-s", "topicgrid", "--name", "narrow", *options).fine()
    for name in ("wide", "narrow"):
        sampled: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        prels = cli("export", "prels", "--pool", name, "--as", "xinfap", "--judge", "ann").fine()
        for line in prels.out.splitlines():
            topic, _, _, stratum, rel = line.split()
            key = stratum if name == "wide" else f"{topic} {stratum}"
            sizes[key] += 1
            sampled[key] += rel != "-1"
        assert sum(sizes.values()) == 30
        assert sum(sampled.values()) == 21
        assert all(sampled[key] >= min(2, size) for key, size in sizes.items())
        assert len(sizes) > (4 if name == "wide" else 8)


def test_a_grid_asks_for_a_model(cli: Cli, runs: Path) -> None:
    """A person, an unknown judge and one who graded nothing are refused; so is a second, different, plan."""
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "x.run", "y.run").fine()
    cli("import", "judgements", "gpt.qrels", "--judge", "gpt", "--kind", "model").fine()
    cli("judges", "add", "ann").fine()
    cli("judges", "add", "idle", "--kind", "model").fine()
    options = ["-s", "grid", "--total-budget", "21", "--seed", "1"]
    assert (
        "must be a judge of kind model, not human"
        in cli("pool", *options, "--param", "model=ann").failed(1).err
    )
    assert "unknown judge `gtp`; known: `gpt`" in cli("pool", *options, "--param", "model=gtp").failed(1).err
    assert "idle has graded nothing" in cli("pool", *options, "--param", "model=idle").failed(1).err
    cli("pool", *options, "--param", "model=gpt").fine()
    assert "already there, unchanged" in cli("pool", *options, "--param", "model=gpt").fine().err
    write(runs / "more.qrels", "2 0 j 1")
    cli("import", "judgements", "more.qrels", "--judge", "gpt", "--kind", "model").fine()
    answer = cli("pool", *options, "--param", "model=gpt").failed(3)
    assert "the model's grades" in answer.err


def test_a_grid_can_be_compared_and_replaced_and_not_replayed(cli: Cli, runs: Path) -> None:
    """Two grids are compared; a replacement takes the model from the old pool; a sample has no order."""
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "x.run", "y.run").fine()
    cli("import", "judgements", "gpt.qrels", "--judge", "gpt", "--kind", "model").fine()
    options = ("-s", "grid", "--param", "model=gpt", "--total-budget", "21")
    cli("pool", *options, "--seed", "1", "--name", "one").fine()
    cli("pool", *options, "--seed", "2", "--name", "two").fine()
    cli("pool", "diff", "one", "two").fine()
    cli("pool", "--replace", "--name", "one", "--total-budget", "18").fine()
    shown = cli("show", "pool", "one", "--format", "json").fine().whole()["facts"]
    assert (shown["documents"], shown["model"], shown["model_level"]) == (18, "gpt", 1)
    answer = cli("replay", "-s", "grid:model=gpt", "--judge", "gpt").failed(1)
    assert "must order documents; a sample, drawn at once, has no order to replay" in answer.err
    assert runs.exists()
