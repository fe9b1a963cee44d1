"""`pooler export`: what comes out is what was judged, and nothing that was not."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Action, Decision
from tests.helpers.run import JUDGES, Cli, by_rule, read_lines, read_trec, write


@pytest.mark.parametrize("judge", JUDGES)
def test_imported_qrels_come_out_as_they_went_in(cli: Cli, judged: Path, judge: str) -> None:
    """The export of one judge has the bytes of the file that was imported."""
    cli("export", "qrels", judge, "--out", "out.txt").fine()
    original = (judged / "judgements" / f"{judge}.qrels").read_bytes()
    assert (judged / "out.txt").read_bytes() == original
    assert cli("export", "qrels", judge).fine().out.encode() == original


def test_codes_and_iterations_survive_the_round_trip(cli: Cli, here: Path) -> None:
    """Lines of "pooled, not judged" and every iteration label come back with `--unjudged -1`."""
    lines = ["1 0 a 0", "1 0 b -1", "1 0.5 c 2", '9 2 "d" 1', "10 0 001 -1", "10 x 1 1", "NA 1 NA 0"]
    write(here / "in.qrels", *lines)
    cli("init", "--scale", "0-2").fine()
    said = cli("import", "judgements", "in.qrels", "--judge", "me", "--code", "-1=unjudged").fine()
    assert "in.qrels: 5 judgements added of me" in said.err
    assert "2 lines of 2 documents pooled but not judged: pool unjudged-me" in said.err
    cli("export", "qrels", "--unjudged", "-1", "--out", "out.qrels").fine()
    assert (here / "out.qrels").read_bytes() == (here / "in.qrels").read_bytes()
    without = cli("export", "qrels").fine()
    assert without.out.splitlines() == [line for line in lines if not line.endswith(" -1")]
    assert "pooled and unjudged: 2 documents, left out" in without.err


def test_majority_equals_counting_votes(cli: Cli, judged: Path) -> None:
    """Three judges' plurality, ties low, high or left out, is that of a plain count."""
    votes: dict[tuple[str, str], list[int]] = {}
    for judge in JUDGES:
        for topic, docno, grade in read_trec(judged / "judgements" / f"{judge}.qrels", (0, 2, 3)):
            votes.setdefault((topic, docno), []).append(int(grade))
    top = {pair: Counter(grades).most_common() for pair, grades in votes.items()}
    tied = {pair: [grade for grade, n in counts if n == counts[0][1]] for pair, counts in top.items()}
    n_tied = sum(len(grades) > 1 for grades in tied.values())
    assert n_tied == 3
    for ties, choose in (("low", min), ("high", max)):
        options = ("--aggregate", "majority", "--ties", ties, "--out", "out")
        answer = by_rule(cli, "export", "qrels", *options).fine()
        expected = [f"{topic} 0 {docno} {choose(tied[topic, docno])}" for topic, docno in sorted(tied)]
        assert read_lines(judged / "out") == expected
        assert f"the tie rule decided {n_tied} of them" in answer.err
    answer = by_rule(cli, "export", "qrels", "--aggregate", "majority", "--ties", "unresolved").fine()
    assert len(answer.out.splitlines()) == 84 - n_tied
    assert f"warning: {n_tied} documents left out: undecided" in answer.err
    assert "`pooler adjudicate --unresolved majority` shows them" in answer.err


def test_level_makes_binary_qrels(cli: Cli, judged: Path) -> None:
    """`--level` writes 0 and 1 by the least relevant grade."""
    graded = read_trec(judged / "judgements" / "strict.qrels", (0, 2, 3))
    for options, level in ((["--level", "2"], 2), (["--level", "rigid"], 2), (["--level", "relaxed"], 1)):
        answer = by_rule(cli, "export", "qrels", "strict", *options).fine()
        expected = [f"{topic} 0 {docno} {int(int(grade) >= level)}" for topic, docno, grade in graded]
        assert answer.out.splitlines() == expected


def test_manifest_tells_what_was_left_out(cli: Cli, judged: Path) -> None:
    """Skipped, unjudgeable, unjudged and grade 0 are four numbers in the manifest, none a line."""
    cli("judges", "add", "anna").fine()
    decide(judged, "anna")
    answer = cli("export", "qrels", "anna", "--out", "anna.txt").fine()
    manifest = json.loads((judged / "anna.txt.manifest.json").read_text("utf-8"))
    assert manifest["judges"] == [{"name": "anna", "kind": "human"}]
    assert manifest["by_grade"] == {"0": 1, "2": 1}
    assert manifest["left_out"] == {"undecided": 0, "skipped": 1, "cannot_be_judged": 1}
    assert manifest["pooled_and_unjudged"] == 80
    content = (judged / "anna.txt").read_bytes()
    assert manifest["sha256"] == hashlib.sha256(content).hexdigest()
    assert len(content.splitlines()) == manifest["judged"] == 2
    assert "left out: 1 skipped, 1 cannot be judged" in answer.err
    assert "pooled and unjudged: 80 documents, left out" in answer.err
    filled = cli("export", "qrels", "anna", "--unjudged", "-1").fine().out.splitlines()
    assert Counter(line.split()[3] for line in filled) == {"-1": 80, "0": 1, "2": 1}


def decide(folder: Path, judge: str) -> list[str]:
    """Judge topic G01 at the desk: 0, 2, skip, cannot, note only; return the docnos."""
    with Collection(str(folder / "collection.db")) as opened:
        desk = opened.desk(judge)
        docnos = [task.docno for task in desk.queue("G01")][:5]
        actions: list[dict[str, object]] = [
            {"action": Action.JUDGE, "grade": 0},
            {"action": Action.JUDGE, "grade": 2},
            {"action": Action.SKIP},
            {"action": Action.CANNOT, "reason": "cut off\x1b[31m"},
            {"action": Action.NOTE, "note": "ask the topic's author: \u202e?"},
        ]
        for docno, action in zip(docnos, actions, strict=True):
            desk.record(Decision("G01", docno, **action))  # type: ignore[arg-type]
        desk.leave()
    return docnos


def test_judgements_are_exported_with_all_that_is_known(cli: Cli, judged: Path) -> None:
    """One JSON object a line: state, grade, reason and note of each, as they were given."""
    cli("judges", "add", "anna").fine()
    docnos = decide(judged, "anna")
    lines = cli("export", "judgements", "anna").fine().out.splitlines()
    rows = {row["docno"]: row for row in map(json.loads, lines)}
    assert list(rows) == sorted(docnos)
    first, second, third, fourth, fifth = (rows[docno] for docno in docnos)
    assert (first["state"], first["grade"]) == ("judged", 0)
    assert (second["state"], second["grade"]) == ("judged", 2)
    assert (third["state"], third["grade"]) == ("skipped", None)
    assert (fourth["state"], fourth["reason"]) == ("cannot", "cut off\x1b[31m")
    assert (fifth["state"], fifth["note"]) == ("unjudged", "ask the topic's author: \u202e?")
    assert all("\x1b" not in line for line in lines)
    everything = cli("export", "judgements", "--out", "all.jsonl").fine()
    assert everything.out == ""
    assert len(read_lines(judged / "all.jsonl")) == 3 * 84 + 5


def test_pool_is_exported_as_it_was_written(cli: Cli, judged: Path) -> None:
    """A pool of the collection comes out with the bytes, manifest too, that `pool --out` wrote."""
    options = ("--depth", "3", "--name", "other", "--seed", "5")
    cli("pool", *options, "--out", "then.txt").fine()
    cli("export", "pool", "--name", "other", "--out", "now.txt").fine()
    for suffix in ("", ".manifest.json"):
        then, now = (judged / f"{name}.txt{suffix}" for name in ("then", "now"))
        assert now.read_bytes() == then.read_bytes()
    assert cli("export", "pool").fine().out.splitlines() == sorted(
        cli("pool", "--runs", "runs.tsv", "--depth", "5").out.splitlines()
    )


def test_scale_with_one_relevant_grade_has_no_rigid_level(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """On a binary scale rigid is refused, and the hint says what there is instead."""
    collection_of("binary", me=["1 0 a 1", "1 0 b 0"])
    refused = cli("export", "qrels", "--level", "rigid").failed(1)
    assert "`--level` must be relaxed on a scale with one relevant grade" in refused.err
    assert "hint: relaxed is grade 1" in refused.err
    assert cli("export", "qrels", "--level", "relaxed").fine().out == "1 0 a 1\n1 0 b 0\n"


def test_mixed_rounds_of_judges_become_iteration_0(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Where judges worked in different rounds the iteration is 0, and told; else it stays."""
    collection_of(me=["1 1 a 1", "1 2 b 1"], you=["1 2 a 1", "1 2 b 1"])
    answer = by_rule(cli, "export", "qrels", "--aggregate", "majority", "--ties", "low").fine()
    assert answer.out == "1 0 a 1\n1 2 b 1\n"
    assert "judged in different rounds: 1 document, iteration 0" in answer.err


def test_unjudged_documents_carry_the_round_of_their_pool(cli: Cli, judged: Path) -> None:
    """The iteration of a document that nobody looked at is that of the pool it is in."""
    cli("pool", "--depth", "6", "--name", "second", "--round", "2").fine()
    lines = cli("export", "qrels", "strict", "--unjudged", "-1").fine().out.splitlines()
    rounds = {line.split()[1] for line in lines if line.endswith(" -1")}
    assert rounds == {"2"}
