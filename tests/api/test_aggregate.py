"""`aggregate` and `collapse`: the qrels and manifests that the commands write, from a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
from pooler.results.judgement_files import FileReading
from pooler.results.source import Source
from store.analysis.aggregation import TIES, Ties
from tests.helpers.run import Cli, by_rule, write

FILES = ["judgements/strict.qrels", "judgements/lenient.qrels", "judgements/middle.qrels"]


@pytest.mark.parametrize("ties", TIES)
def test_aggregate_writes_what_the_command_does(cli: Cli, judged: Path, ties: Ties) -> None:
    """Qrels and manifest of a collection are the same bytes."""
    by_rule(cli, "export", "qrels", "--aggregate", "majority", "--ties", ties, "--out", "by_command").fine()
    with p.open_collection("collection.db") as collection:
        made = p.aggregate(collection, ties=ties)
    made.write("by_function")
    for end in ("", ".manifest.json"):
        assert Path(f"by_function{end}").read_bytes() == Path(f"by_command{end}").read_bytes()
    assert len(made.qrels) == made.decisions["judged"] == len(made.table("qrels"))
    assert made.decisions["tied"] == len(made.table("left_out"))
    assert (ties == "unresolved") == any("tied" in one for one in made.warnings)


def test_collapse_of_files_writes_what_the_command_does(cli: Cli, judged: Path) -> None:
    """So are those of files, whichever comes first, the rule or the level; a rigid level needs a scale."""
    how = ("--aggregate", "median", "--ties", "low", "--binary-first", "--rigid", "--scale", "0-2")
    cli("export", "qrels", *FILES, *how, "--out", "by_command").fine()
    source = p.source(judgements=FILES, scale="0-2")
    made = p.collapse(source, "rigid", order="before", rule="median", ties="low")
    made.write("by_function", manifest="beside.json")
    assert Path("by_function").read_bytes() == Path("by_command").read_bytes()
    assert Path("beside.json").read_bytes() == Path("by_command.manifest.json").read_bytes()
    with pytest.raises(p.ArgumentError, match="declared scale"):
        p.collapse(p.source(judgements=FILES), "rigid", rule="max")


def test_judge_and_policy_of_a_source_count(cli: Cli, judged: Path) -> None:
    """One judge's own grades come of a source that names the judge; of several a rule must be given."""
    alone = cli("export", "qrels", "strict").fine().out
    with p.open_collection("collection.db") as collection:
        assert p.aggregate(p.source(collection, judge="strict"), rule=None).text == alone
        with pytest.raises(p.PoolerError, match="whose grades are meant"):
            p.collapse(collection, 1)
        with pytest.raises(p.ArgumentError, match="`ties` must be low, high"):
            p.aggregate(collection)
        with pytest.raises(p.UnknownNameError, match="nobody"):
            p.aggregate(collection, rule="max", of=["nobody"])
    assert p.aggregate(p.source(qrels=FILES[0]), rule=None).text == alone


def test_no_judgement_is_invented(tmp_path: Path) -> None:
    """Grade 0, unjudged, skipped, impossible and tied documents stay apart; others are nowhere."""
    ann = write(tmp_path / "ann.qrels", "1 0 a 0", "1 0 b 2", "1 0 c -1", "1 0 d -2", "1 0 e -3", "1 0 f 1")
    bob = write(tmp_path / "bob.qrels", "1 0 a 0", "1 0 b 0", "1 0 c -1", "1 0 d -2", "1 0 f 1")
    reading = FileReading(codes=["-1=unjudged", "-2=skipped", "-3=cannot"])
    source = Source(judgements=[str(ann), str(bob)], reading=reading)
    made = p.aggregate(source, ties="unresolved", unjudged=-9)
    assert [(one.docno, one.grade) for one in made.qrels] == [("a", 0), ("f", 1)]
    assert made.text.splitlines() == ["1 0 a 0", "1 0 c -9", "1 0 f 1"]
    left_out = {row["docno"]: row["state"] for row in made.table("left_out").to_records()}
    assert left_out == {"b": "tied", "c": "unjudged", "d": "skipped", "e": "cannot"}
    assert made.decisions == {
        "judged": 2, "by_ruling": 0, "by_tie_rule": 0, "tied": 1, "skipped": 1, "cannot": 1, "unjudged": 1,
    }  # fmt: skip
