"""What a command prints is what the function of the same name returns: to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli


def test_estimates_of_a_sampled_pool(cli: Cli, judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same rows, topic by topic too, of the collection and of its exported sample."""
    drawn = ("--strategy", "stratified", "--param", "strata=1:2,3:9:0.4", "--budget", "12", "--seed", "3")
    cli("pool", *drawn, "--name", "drawn").fine()
    told = cli("estimate", "--pool", "drawn", "--qrels", "strict", "--by-topic", "--format", "json").fine()
    with p.open_collection("collection.db") as collection:
        found = p.estimate(p.source(collection, qrels="strict"), pool="drawn")
    whole = told.whole()
    assert found.table("runs").to_records() == whole["runs"]
    assert found.table("by_topic").to_records() == whole["by_topic"]
    assert dict(found.facts()) == whole["facts"]
    assert found.mean["xinfap"].shape == (9,)
    assert found.warnings == tuple(whole["warnings"])


def test_corrected_scores_of_a_sample(cli: Cli, judged: Path) -> None:
    """`estimate --with-model` prints what `corrected` returns."""
    cli(
        "pool", "--strategy", "uniform", "--depth", "5", "--budget", "8", "--seed", "3", "--name", "drawn"
    ).fine()
    asked = ("--with-model", "lenient", "--qrels", "strict", "-m", "P@5", "-m", "AP")
    told = cli("estimate", *asked, "--pairs", "--by-topic", "--format", "json").fine().whole()
    with p.open_collection("collection.db") as collection:
        judges = p.source(collection, qrels="strict")
        found = p.corrected(judges, "lenient", measures=["P@5", "AP"])
    for name in ("runs", "measures", "pairs", "by_topic"):
        assert found.table(name).to_records() == told[name], name
    assert dict(found.facts()) == told["facts"]
    assert found.warnings == tuple(told["warnings"])
    assert "strict is a model, not a person" in " ".join(found.warnings)
