"""`export_qrels`: the qrels and manifests that the command writes, from a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
from pooler.sources.judgement_files import FileReading
from pooler.sources.source import Source
from store.analysis.aggregation import TIES, Ties
from tests.helpers.run import Cli, by_rule, write

FILES = ["judgements/strict.qrels", "judgements/lenient.qrels", "judgements/middle.qrels"]


@pytest.mark.parametrize("ties", TIES)
def test_a_collection_writes_what_the_command_does(cli: Cli, judged: Path, ties: Ties) -> None:
    """Qrels and manifest are the same bytes."""
    by_rule(cli, "export", "qrels", "--aggregate", "majority", "--ties", ties, "--out", "by_command").fine()
    with p.open_collection("collection.db") as collection:
        assert p.qrels(collection).found[0].label == "official@1"
        made = p.export_qrels(p.source(collection, qrels="ruled@1"))
        given = p.export_qrels(p.source(collection, qrels=p.Qrels(aggregate="majority", ties=ties)))
    made.write("by_function")
    for end in ("", ".manifest.json"):
        assert Path(f"by_function{end}").read_bytes() == Path(f"by_command{end}").read_bytes()
    assert given.text == made.text
    assert given.settings["qrels"] == {"aggregate": "majority", "ties": ties}
    assert made.settings["qrels"] == "ruled@1"
    assert len(made.qrels) == made.counts["judged"] == len(made.table("qrels"))
    assert made.counts["undecided"] == len(made.table("left_out"))
    assert (ties == "unresolved") == any("undecided" in one for one in made.warnings)


def test_files_write_what_the_command_does(cli: Cli, judged: Path) -> None:
    """So are those of files, made binary first; a rigid level needs a scale."""
    how = ("--aggregate", "median", "--ties", "low", "--binary-first", "--level", "rigid", "--scale", "0-2")
    cli("export", "qrels", *FILES, *how, "--out", "by_command").fine()
    rule = p.Qrels(aggregate="median", ties="low", binary_first=True)
    made = p.export_qrels(p.source(judgements=FILES, scale="0-2", qrels=rule), level="rigid")
    made.write("by_function", manifest="beside.json")
    assert Path("by_function").read_bytes() == Path("by_command").read_bytes()
    assert Path("beside.json").read_bytes() == Path("by_command.manifest.json").read_bytes()
    with pytest.raises(p.ArgumentError, match="declared scale"):
        p.export_qrels(p.source(judgements=FILES, qrels=p.Qrels(aggregate="max")), level="rigid")


def test_qrels_of_a_source_count(cli: Cli, judged: Path) -> None:
    """One judge's own grades come by the judge's name; what judges differ on needs a rule."""
    alone = cli("export", "qrels", "strict").fine().out
    with p.open_collection("collection.db") as collection:
        assert p.export_qrels(p.source(collection, qrels="strict")).text == alone
        with pytest.raises(p.PoolerError, match="official@1: 28 documents undecided"):
            p.export_qrels(collection, level=1)
        with pytest.raises(p.ArgumentError, match="`ties` must be low, high"):
            p.export_qrels(p.source(collection, qrels=p.Qrels(aggregate="majority")))
        with pytest.raises(p.UnknownNameError, match="nobody"):
            p.export_qrels(p.source(collection, qrels=p.Qrels(aggregate="max", judges=["nobody"])))
        made = p.qrels_define(collection, "least", p.Qrels(aggregate="min"))
        assert (made.label, made.is_default) == ("least@1", False)
        assert p.qrels_drop(collection, "least").counts["versions"] == 1
    assert p.export_qrels(p.source(qrels=FILES[0])).text == alone


def test_no_judgement_is_invented(tmp_path: Path) -> None:
    """Grade 0, unjudged, skipped, impossible and undecided documents stay apart; others are nowhere."""
    ann = write(tmp_path / "ann.qrels", "1 0 a 0", "1 0 b 2", "1 0 c -1", "1 0 d -2", "1 0 e -3", "1 0 f 1")
    bob = write(tmp_path / "bob.qrels", "1 0 a 0", "1 0 b 0", "1 0 c -1", "1 0 d -2", "1 0 f 1")
    reading = FileReading(codes=["-1=unjudged", "-2=skipped", "-3=cannot"])
    rule = p.Qrels(aggregate="majority", ties="unresolved")
    source = Source(judgements=[str(ann), str(bob)], reading=reading, qrels=rule)
    made = p.export_qrels(source, unjudged=-9)
    assert [(one.docno, one.grade) for one in made.qrels] == [("a", 0), ("f", 1)]
    assert made.text.splitlines() == ["1 0 a 0", "1 0 c -9", "1 0 f 1"]
    left_out = {row["docno"]: row["state"] for row in made.table("left_out").to_records()}
    assert left_out == {"b": "undecided", "c": "unjudged", "d": "skipped", "e": "cannot"}
    assert made.counts == {
        "judged": 2, "by_ruling": 0, "by_tie_rule": 0,
        "undecided": 1, "skipped": 1, "cannot": 1, "unjudged": 1,
    }  # fmt: skip
