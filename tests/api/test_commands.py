"""What a command prints is what the function of the same name returns: to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli


def test_estimates_of_a_sampled_pool(cli: Cli, judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same rows, topic by topic too, and the facts."""
    drawn = ("--strategy", "stratified", "--param", "strata=1:2,3:9:0.4", "--budget", "12", "--seed", "3")
    cli("pool", *drawn, "--name", "drawn").fine()
    names = ["xinfAP", "iP@7", "statAP"]
    measures = [word for name in names for word in ("-m", name)]
    told = cli("evaluate", *measures, "--sample", "drawn", "--qrels", "strict", "--format", "json").fine()
    with p.open_collection("collection.db") as collection:
        found = p.evaluate(p.source(collection, qrels="strict"), names, sample="drawn")
    whole = told.whole()
    for name in ("measures", "topics", "found"):
        assert found.table(name).to_records() == whole[name]
    assert dict(found.facts()) == whole["facts"]
    assert found.mean.shape == (3, 9)
    assert found.warnings == tuple(whole["warnings"])
