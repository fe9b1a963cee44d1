"""`pooler variation` where judges really differ: four people on CF, model judges on llmjudge.

The exact moments beside 20,000 judgings by chance, which know nothing of the quadrature.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests import cf_collection
from tests.helpers.run import GARDEN, Cli

LLMJUDGE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "llmjudge" / "scores"
JUDGED_BY = ("--monte-carlo", "20000", "--seed", "3", "--format", "json")
RANKERS = ("Olz-gpt4o", "h2oloo-fewself", "RMITIR-llama70B", "willia-umbrela1", "TREMA-nuggets")
"""Model judges whose grades order the passages: the runs. The others say how likely each is."""


def check_agreement(runs: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> None:
    """Compare with the simulation: means and deviations, and how often pairs swap."""
    n_judgings = 20_000
    for row in runs:
        assert row["sd"] > 0
        assert row["moments_error"] <= 1e-12
        assert row["mc_mean"] == pytest.approx(row["mean"], abs=5 * row["sd"] / n_judgings**0.5)
        assert row["mc_sd"] == pytest.approx(row["sd"], rel=5 / math.sqrt(2 * n_judgings))
    for row in pairs:
        error = math.sqrt(max(row["reversed"] * (1 - row["reversed"]), 1e-4) / n_judgings)
        # Beside chance: what the normal law is off by.
        assert row["simulated"] == pytest.approx(row["reversed"], abs=5 * error + 0.02)


NAMES = frozenset({"24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35"})
"""Topics of CF that are looked at."""


def cystic_fibrosis(cli: Cli, folder: Path, tags: frozenset[str]) -> None:
    """Make a collection of four judges, and of runs by the sample collection's ranking code."""
    documents = [
        {"docno": one.docno, "title": one.title or "", "text": one.text or ""}
        for one in cf_collection.load_documents()
    ]
    topics = [
        {"topic": one.topic, "title": one.title, "description": "", "narrative": ""}
        for one in cf_collection.load_topics()
        if one.topic in NAMES
    ]
    ranking = ranking_code()
    cli("init", "--scale", "0-2").fine()
    for spec in ranking.RUNS:
        if spec.tag in tags:
            path = folder / f"{spec.tag}.run"
            path.write_text(ranking.render_run(spec, documents, topics), encoding="utf-8")
            cli("import", "runs", path).fine()
    for judge, path in cf_collection.write_qrels(folder).items():
        kept = [line for line in path.read_text("utf-8").splitlines() if line.split()[0] in NAMES]
        path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        cli("import", "judgements", path, "--judge", judge).fine()


@pytest.mark.slow
def test_four_judges_of_cystic_fibrosis(cli: Cli, tmp_path: Path) -> None:
    """Runs made of the collection's own text by the sample collection's ranking code."""
    cystic_fibrosis(cli, tmp_path, frozenset({"bm25-words", "tfidf-words"}))
    runs = cli("variation", *JUDGED_BY).fine().json()
    assert {row["topics"] for row in runs} == {len(NAMES)}
    check_agreement(runs, cli("variation", "--by", "pair", *JUDGED_BY).fine().json())


def ranking_code() -> ModuleType:
    """Load the program that makes the sample collection's runs."""
    spec = importlib.util.spec_from_file_location("ranking_code", GARDEN / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def grades_of(judge: str) -> list[tuple[str, str, int]]:
    """Return topic, passage and grade of one model judge."""
    with gzip.open(LLMJUDGE / f"{judge}.txt.gz", "rt", encoding="utf-8") as lines:
        return [(topic, passage, int(grade))
                for topic, _, passage, grade in map(str.split, lines)]  # fmt: skip


@pytest.mark.slow
def test_model_judges_of_passages(cli: Cli, here: Path) -> None:
    """Runs: passages by one model's grade, ties by docno; p: the other models at 2 or more."""
    if not LLMJUDGE.exists():
        pytest.skip("the model judges of llmjudge are not here")
    others = sorted(
        path.name.removesuffix(".txt.gz")
        for path in LLMJUDGE.iterdir()
        if path.name.removesuffix(".txt.gz") not in RANKERS
    )
    votes: Counter[tuple[str, str]] = Counter()
    pairs = {(topic, passage) for topic, passage, _ in grades_of(others[0])}
    for judge in others:
        votes.update((topic, passage) for topic, passage, grade in grades_of(judge) if grade >= 2)
    lines = [f"{topic} {passage} {votes[topic, passage] / len(others)!r}\n"
             for topic, passage in sorted(pairs)]  # fmt: skip
    Path("p.txt").write_text("".join(lines), encoding="utf-8")
    for judge in RANKERS:
        by_topic: dict[str, list[tuple[int, str]]] = {}
        for topic, passage, grade in grades_of(judge):
            by_topic.setdefault(topic, []).append((-grade, passage))
        listed = [
            f"{topic} Q0 {passage} {rank} {5000 - rank} {judge}\n"
            for topic, graded in by_topic.items()
            for rank, (_, passage) in enumerate(sorted(graded), start=1)
        ]
        Path(f"{judge}.run").write_text("".join(listed), encoding="utf-8")
    files = [f"{judge}.run" for judge in RANKERS]
    options = (*files, "--probabilities", "p.txt", *JUDGED_BY)
    runs = cli("variation", *options).fine().json()
    assert len(runs) == len(RANKERS)
    assert {row["topics"] for row in runs} == {25}
    found = cli("variation", "--by", "pair", *options).fine().json()
    check_agreement(runs, found)
    assert any(row["reversed"] > 0.05 for row in found), json.dumps(found)
