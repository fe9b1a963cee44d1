"""Qrels as files: as imported, by rules of several judges, as NTCIR has them, as samples."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.formats.qrels import read_qrels
from store.judging.disagreements import Selection
from store.records import Action, Decision
from tests.helpers.fixtures import made_once
from tests.helpers.run import JUDGES, Cli, Outcome, by_rule, read_lines, read_run_list, read_trec, write


def grades_of(folder: Path) -> dict[tuple[str, str], list[int]]:
    """Return the grades of all judges of the sample collection, ascending, by document."""
    grades: dict[tuple[str, str], list[int]] = {}
    for judge in JUDGES:
        for topic, docno, grade in read_trec(folder / "judgements" / f"{judge}.qrels", (0, 2, 3)):
            grades.setdefault((topic, docno), []).append(int(grade))
    return {pair: sorted(some) for pair, some in sorted(grades.items())}


@pytest.mark.parametrize(
    ("rule", "choose"),
    [
        ("median --ties low", lambda grades: grades[1]),
        ("mean", lambda grades: (2 * sum(grades) + 3) // 6),
        ("min", min),
        ("max", max),
        ("sum", sum),
    ],
)
def test_rules_of_three_judges_are_plain_arithmetic(
    cli: Cli, judged: Path, rule: str, choose: Callable[[list[int]], int]
) -> None:
    """Every rule writes what a line of Python makes of the three files, and names itself."""
    answer = by_rule(cli, "export", "qrels", "--aggregate", *rule.split(), "--out", "out").fine()
    expected = [f"{topic} 0 {docno} {choose(grades)}" for (topic, docno), grades in grades_of(judged).items()]
    assert read_lines(judged / "out") == expected
    assert f"{rule.split()[0]} of 3 judges" in answer.err
    assert manifest_of(judged / "out")["rule"] == rule.split()[0]


def manifest_of(path: Path) -> dict[str, Any]:
    """Read the manifest beside a file."""
    content: dict[str, Any] = json.loads((path.parent / f"{path.name}.manifest.json").read_bytes())
    return content


def test_several_levels_are_several_files(cli: Cli, judged: Path) -> None:
    """One command writes the grades and each level; each file reads back, each has a manifest."""
    options = ("--aggregate", "median", "--ties", "low", "--graded", "--level", "rigid", "--level", "1")
    answer = by_rule(cli, "export", "qrels", *options, "--out", "q.{level}.txt").fine()
    graded = {pair: grades[1] for pair, grades in grades_of(judged).items()}
    for name, level in (("graded", None), ("1", 1), ("2", 2)):
        path = judged / f"q.{name}.txt"
        found = {row.topic + row.docno: row.code for row in read_qrels(str(path)).rows}
        assert found == {
            "".join(pair): grade if level is None else int(grade >= level) for pair, grade in graded.items()
        }
        manifest = manifest_of(path)
        assert manifest["level"] == level
        assert manifest["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"{name}: 84 documents judged" in answer.err
    assert manifest_of(judged / "q.1.txt")["binary_first"] is False
    assert answer.out == ""
    single = by_rule(cli, "export", "qrels", *options[:4], "--level", "rigid", "--out", "{level}.txt").fine()
    assert (judged / "2.txt").read_bytes() == (judged / "q.2.txt").read_bytes()
    assert "2:" not in single.err


def test_report_and_manifest_tell_what_other_choices_would_change(cli: Cli, judged: Path) -> None:
    """Documents that hang on the tie rule and on the order of collapsing are counted by hand."""
    tied = [grades for grades in grades_of(judged).values() if len(set(grades)) == 3]
    assert tied == [[0, 1, 2]] * 3
    options = ("--aggregate", "majority", "--ties", "low")
    answer = by_rule(cli, "export", "qrels", *options, "--out", "graded.txt").fine()
    # At level 1 a tied document is 0 by its lowest grade, and relevant to two of three judges.
    nothing = {"added": 0, "removed": 0, "changed": 0}
    otherwise, gone = nothing | {"changed": 3}, nothing | {"removed": 3}
    assert manifest_of(judged / "graded.txt")["other_choices"] == [
        {"ties": "high", "grades": otherwise, "relevance": {"1": otherwise, "2": otherwise}},
        {"ties": "unresolved", "grades": gone, "relevance": {"1": gone, "2": gone}},
        {"binary_first": True, "relevance": {"1": otherwise, "2": nothing}},
    ]
    assert "--ties high would change 3 grades, and the relevance of 3 documents at" in answer.err
    assert "--ties unresolved would leave 3 documents out" in answer.err
    assert "--binary-first would change the relevance of 3 documents at level 1" in answer.err
    before = by_rule(cli, "export", "qrels", *options, "--level", "1", "--binary-first", "--out", "b")
    assert "each judge's grades binary at level 1, then majority of 3 judges" in before.fine().err
    one, other = (read_trec(judged / name, (0, 2, 3)) for name in ("graded.txt", "b"))
    assert sum((int(row[2]) >= 1) != int(then[2]) for row, then in zip(one, other, strict=True)) == 3
    assert manifest_of(judged / "b")["binary_first"] is True
    open_ = by_rule(cli, "export", "qrels", *options[:3], "unresolved").fine()
    assert "--ties low would add 3 documents\n" in open_.err
    # Each has one 0, one 1 and one 2: collapsed first, two of three agree at either level.
    added = "--binary-first would add 3 documents at level 1, 3 at level 2\n"
    assert added in open_.err
    at_1 = by_rule(cli, "export", "qrels", *options[:3], "unresolved", "--level", "1", "--out", "c").fine()
    assert "--ties high would add 3 documents at level 1\n" in at_1.err
    assert manifest_of(judged / "c")["other_choices"][-1] == {
        "binary_first": True, "relevance": {"1": nothing | {"added": 3}},
    }  # fmt: skip


def test_ties_are_warned_of_once_for_all_levels(cli: Cli, judged: Path) -> None:
    """Several files of one rule have one warning on ties, and one command that settles them."""
    options = ("--aggregate", "majority", "--ties", "unresolved", "--graded", "--level", "1",
               "--level", "2", "--out", "q.{level}")  # fmt: skip
    told = by_rule(cli, "export", "qrels", *options).fine().err
    assert told.count("3 documents left out: undecided") == 1
    assert told.count("pooler adjudicate --unresolved majority") == 1
    # Three judges cannot be tied on two grades.
    told = by_rule(cli, "export", "qrels", *options, "--binary-first").fine().err
    assert "documents left out, 3 graded, 0 at level 1, 0 at level 2: undecided" in told
    assert told.count("pooler adjudicate") == 1


def test_rulings_win_unless_they_are_left_out(cli: Cli, judged: Path) -> None:
    """An adjudicator has no vote: the ruling is the grade, and `cannot` leaves the document out."""
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    options = ("--aggregate", "majority", "--ties", "unresolved", "--kinds", "human,model")
    before = by_rule(cli, "export", "qrels", *options).fine().out
    tied = (
        cli("adjudicate", "--unresolved", "majority", "--table", "disagreements", "--format", "json")
        .fine()
        .json()
    )
    pairs = [(row["topic"], row["docno"]) for row in tied]
    with Collection(str(judged / "collection.db")) as opened:
        desk = opened.adjudication_desk("zoe", selection=Selection(unresolved="majority"))
        for (topic, docno), grade in zip(pairs, (1, None, 2), strict=True):
            desk.queue(topic)
            action = Action.CANNOT if grade is None else Action.JUDGE
            desk.record(Decision(topic, docno, action, grade))
        desk.leave()
    answer = by_rule(cli, "export", "qrels", *options, "--out", "out").fine()
    added = set(read_lines(judged / "out")) - set(before.splitlines())
    assert added == {f"{pairs[0][0]} 0 {pairs[0][1]} 1", f"{pairs[2][0]} 0 {pairs[2][1]} 2"}
    assert "rulings: 2 documents decided, 1 found impossible to judge" in answer.err
    assert "left out: 0 skipped, 1 cannot be judged" in answer.err
    manifest = manifest_of(judged / "out")
    assert manifest["adjudication"] == {
        "adjudicators": ["zoe"], "decided": 2, "cannot_be_judged": 1, "changed_since": 0,
        "no_disagreement": 0,
    }  # fmt: skip
    assert [judge["name"] for judge in manifest["judges"]] == list(JUDGES)
    assert by_rule(cli, "export", "qrels", *options, "--without-rulings").fine().out == before
    lenient = (judged / "judgements" / "lenient.qrels").read_text("utf-8")
    assert cli("export", "qrels", "lenient").fine().out == lenient
    with_rulings = by_rule(cli, "export", "qrels", "--judge", "lenient").fine()
    assert len(with_rulings.out.splitlines()) == 83
    assert "judge lenient; rulings win" in with_rulings.err
    refused = by_rule(cli, "export", "qrels", "--aggregate", "sum", "--kinds", "human,model").failed(1)
    assert "must be another rule where rulings stand" in refused.err
    assert "`--judge` must be judges" in by_rule(cli, "export", "qrels", "--judge", "zoe").failed(1).err
    # A judge who decides otherwise leaves the ruling standing, and it is told.
    topic, docno = pairs[0]
    lines = [f"{topic} 0 {docno} {grade}" for grade in (0, 1, 2)]
    own = next(line for line in lines if line in lenient)
    line = next(line for line in lines if line != own)
    write(judged / "new.qrels", line)
    cli("import", "judgements", "new.qrels", "--judge", "lenient", "--kind", "model", "--replace"
        ).fine()  # fmt: skip
    again = by_rule(cli, "export", "qrels", *options, "--out", "again").fine()
    assert "warning: 1 ruling made before judges changed their decision" in again.err
    assert manifest_of(judged / "again")["adjudication"]["changed_since"] == 1
    assert (judged / "again").read_bytes() == (judged / "out").read_bytes()


def test_ruling_that_judges_no_longer_differ_on_still_counts(
    cli: Cli, collection_of: Callable[..., None], here: Path
) -> None:
    """Once made, a ruling is the grade until it is taken back; the report says it is not needed."""
    collection_of(me=["1 0 a 0"], you=["1 0 a 2"])
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    cli("adjudicate", "--judge", "zoe", "--topic", "1", "--plain", stdin=b"1\ny\n").fine()
    write(here / "you.qrels", "1 0 a 0")
    cli("import", "judgements", "you.qrels", "--judge", "you", "--replace").fine()
    answer = by_rule(cli, "export", "qrels", "--aggregate", "max").fine()
    assert answer.out == "1 0 a 1\n"
    assert "rulings on documents that judges agree on: 1 document" in answer.err


def test_graded_file_beside_binary_ones_is_not_collapsed(cli: Cli, judged: Path) -> None:
    """With `--binary-first` the graded file is the rule's, the binary one of binary votes."""
    rule = ("--aggregate", "majority", "--ties", "low")
    several = ("--graded", "--level", "1", "--binary-first", "--out", "q.{level}")
    by_rule(cli, "export", "qrels", *rule, *several).fine()
    by_rule(cli, "export", "qrels", *rule, "--out", "graded").fine()
    by_rule(cli, "export", "qrels", *rule, "--level", "1", "--binary-first", "--out", "one").fine()
    assert (judged / "q.graded").read_bytes() == (judged / "graded").read_bytes()
    assert (judged / "q.1").read_bytes() == (judged / "one").read_bytes()
    refused = by_rule(cli, "export", "qrels", *rule, "--binary-first").failed(1)
    assert "`--binary-first` must come with a level" in refused.err


def test_judges_left_out_are_named(cli: Cli, judged: Path) -> None:
    """`--judge` aggregates some judges; the manifest names the others."""
    options = ("--aggregate", "min", "--judge", "strict", "--judge", "lenient", "--out", "out")
    by_rule(cli, "export", "qrels", *options).fine()
    manifest = manifest_of(judged / "out")
    assert [judge["name"] for judge in manifest["judges"]] == ["lenient", "strict"]
    assert manifest["judges_left_out"] == ["middle"]
    assert "unknown judge `mid`" in by_rule(cli, "export", "qrels", "--judge", "mid").failed(1).err


def test_sum_and_dawid_skene_tell_of_documents_with_few_judges(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """Sums of fewer judges are lower for that alone; Dawid-Skene wants three votes a document."""
    lines = ["1 0 a 1", "1 0 b 0", "1 0 c 2"]
    collection_of(me=lines, you=lines, them=lines[:2])
    added = by_rule(cli, "export", "qrels", "--aggregate", "sum", "--level", "4").fine()
    assert added.out == "1 0 a 0\n1 0 b 0\n1 0 c 1\n"
    assert "sum of 3 judges (2 to 3 votes a document), relevant from 4" in added.err
    assert "warning: 1 document with fewer judges than others" in added.err
    estimated = by_rule(cli, "export", "qrels", "--aggregate", "dawid-skene").fine()
    assert estimated.out == "1 0 a 1\n1 0 b 0\n1 0 c 2\n"
    assert "warning: 1 document with fewer than three votes" in estimated.err
    refused = by_rule(cli, "export", "qrels", "--aggregate", "dawid-skene", "--judge", "me", "--judge", "you")
    assert "needs votes of at least 3 judges, and has 2" in refused.failed(1).err
    assert "`--level` must be above 0 and at most 6" in (
        by_rule(cli, "export", "qrels", "--aggregate", "sum", "--level", "7").failed(1).err
    )


def test_measures_follow_the_same_rules(cli: Cli, judged: Path) -> None:
    """`evaluate` on the collection equals `evaluate` on the exported binary file."""
    for rule in (
        ("--aggregate", "median", "--ties", "high", "--level", "2"),
        ("--aggregate", "majority", "--ties", "low", "--level", "1", "--binary-first"),
        ("--aggregate", "sum", "--level", "3"),
        ("--aggregate", "dawid-skene", "--judge", "strict", "--judge", "middle", "--judge", "lenient",
         "--level", "1"),
    ):  # fmt: skip
        stored = by_rule(cli, "evaluate", *rule, "--table", "measures", "--format", "json").fine().json()
        (judged / "q.txt").unlink(missing_ok=True)
        by_rule(cli, "export", "qrels", *rule, "--out", "q.txt").fine()
        files = [row["file"] for row in read_run_list(judged / "runs.tsv")]
        filed = (
            by_rule(cli, "evaluate", "--qrels", "q.txt", *files, "--table", "measures", "--format", "json")
            .fine()
            .json()
        )
        values = {row["run"]: row["value"] for row in stored}
        assert {row["run"]: row["value"] for row in filed} == values
        assert len(values) == len(files) > 1
    refused = by_rule(cli, "evaluate", "--aggregate", "sum").failed(1)
    assert "`--level` must say which sum of grades is relevant" in refused.err


def test_ties_of_three_judges_of_more_have_no_command_of_their_own(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """Where three of four judges vote, their ties are not what `--unresolved` lists."""
    collection_of(a=["1 0 x 0"], b=["1 0 x 1"], c=["1 0 x 2"], d=["1 0 x 2"])
    rule = ("export", "qrels", "--aggregate", "majority", "--ties", "unresolved")
    some = by_rule(cli, *rule, "--judge", "a", "--judge", "b", "--judge", "c").fine()
    assert "`pooler adjudicate` shows them" in some.err
    assert by_rule(cli, *rule).fine().out == "1 0 x 2\n"


def test_votes_a_document_are_told_where_they_differ(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Four judges of whom one alone saw a document are no majority of four there."""
    both = ["1 0 a 1", "1 0 b 0"]
    collection_of(a=both, b=both, c=both, d=[*both, "1 0 c 1"])
    rule = ("--aggregate", "majority", "--ties", "low")
    told = by_rule(cli, "export", "qrels", *rule).fine().err
    assert "majority of 4 judges (1 to 4 votes a document), ties low" in told
    assert (
        "; majority of 3 judges, ties low"
        in by_rule(cli, "export", "qrels", *rule, "--judge", "a", "--judge", "b", "--judge", "c").fine().err
    )


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


LINES = ["2 0 d1 3", "2 0 d2 2", "10 0 d1 1", "10 0 d0 0"]

RIGID = "2\tS\td1\t1\n2\tA\td2\t1\n10\tC\td0\t0\n10\tB\td1\t0\n"
"""By hand of `LINES`: S and A are relevant; topics in natural order, docnos bytewise."""

RELAXED = "2\tS\td1\t1\n2\tA\td2\t1\n10\tC\td0\t0\n10\tB\td1\t1\n"
LEVELS = "2 d1 L3\n2 d2 L2\n10 d0 L0\n10 d1 L1\n"


@pytest.fixture
def lettered(here: Path, collection_of: Callable[..., None]) -> Path:
    """Work beside a collection of the scale of NTCIR, one judge in it."""
    collection_of("ntcir", me=LINES)
    return here


def test_letters_go_into_two_files(cli: Cli, lettered: Path) -> None:
    """The rigid and the relaxed file differ in the last column; the manifest has both hashes."""
    told = cli("export", "qrels", "--as", "ntcir2", "--out", "n").fine()
    assert (lettered / "n.rigid").read_text("utf-8") == RIGID
    assert (lettered / "n.relaxed").read_text("utf-8") == RELAXED
    assert "4 documents judged (1 x 0, 1 x 1, 1 x 2, 1 x 3); judge me" in told.err
    facts = json.loads((lettered / "n.manifest.json").read_text("utf-8"))
    assert facts["files"] == [
        {"reading": name, "level": level, "sha256": hashlib.sha256(text.encode()).hexdigest()}
        for name, level, text in (("rigid", 2, RIGID), ("relaxed", 1, RELAXED))
    ]
    assert (facts["rule"], facts["judged"]) == ("single judge", 4)
    assert facts["letters"] == {"0": "C", "1": "B", "2": "A", "3": "S"}
    again = cli("export", "qrels", "--as", "ntcir2", "--out", "n").fine().err
    assert "n.rigid: replaced an earlier result" in again
    assert "n.relaxed: replaced an earlier result" in again


@pytest.mark.parametrize(
    ("form", "name", "content"),
    [("ntcir2", "rigid", RIGID), ("ntcir2", "relaxed", RELAXED), ("ntcireval", "levels", LEVELS)],
)
def test_files_come_back_byte_for_byte(cli: Cli, here: Path, form: str, name: str, content: str) -> None:
    """A file that is imported and exported has its bytes again; its grades are the scale's."""
    cli("init", "--scale", "ntcir").fine()
    (here / "in").write_text(content, "utf-8", newline="")
    cli("import", "judgements", "in", "--as", form, "--judge", "me").fine()
    assert cli("export", "qrels").fine().out == "2 0 d1 3\n2 0 d2 2\n10 0 d0 0\n10 0 d1 1\n"
    cli("export", "qrels", "--as", form, "--out", "out").fine()
    out = "out" if form == "ntcireval" else f"out.{name}"
    assert (here / out).read_bytes() == content.encode()


def test_levels_go_to_stdout_and_may_be_sums(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Two judges' grades 0 to 2 give L0 to L4, as in the NTCIR WWW tasks."""
    collection_of(a=["1 0 d1 2", "1 0 d2 1", "1 0 d3 0"], b=["1 0 d1 2", "1 0 d2 2", "1 0 d3 0"])
    told = by_rule(cli, "export", "qrels", "--as", "ntcireval", "--aggregate", "sum").fine()
    assert told.out == "1 d1 L4\n1 d2 L3\n1 d3 L0\n"
    assert "sum of 2 judges" in told.err
    majority = ("--aggregate", "majority", "--ties", "unresolved")
    told = by_rule(cli, "export", "qrels", "--as", "ntcireval", *majority).fine()
    assert told.out == "1 d1 L2\n1 d3 L0\n"
    assert "1 document left out: undecided" in told.err


def test_rounds_that_are_not_written_are_told(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Judging rounds have no place in these files, and stderr says so."""
    collection_of(me=["1 1 d1 2", "1 2 d2 1"])
    told = cli("export", "qrels", "--as", "ntcireval").fine().err
    assert "these files cannot say which of 2 rounds a document was judged in" in told


def test_letters_may_be_named_at_export(cli: Cli, here: Path, collection_of: Callable[..., None]) -> None:
    """On a scale of digits `--letters` says which letter each grade has, lowest first."""
    collection_of(me=["1 0 d1 2", "1 0 d2 1", "1 0 d3 0"])
    options = ("export", "qrels", "--as", "ntcir2", "--out", "n", "--letters")
    cli(*options, "cBA").fine()
    assert (here / "n.rigid").read_text("utf-8") == "1\tA\td1\t1\n1\tB\td2\t0\n1\tC\td3\t0\n"
    facts = json.loads((here / "n.manifest.json").read_text("utf-8"))
    assert facts["letters"] == {"0": "C", "1": "B", "2": "A"}
    for letters in ("CB", "CBAS", "CBb", "CB1", "CBÄ", ""):
        refused = cli(*options, letters).failed(1).err
        assert "`--letters` must be 3 different letters, one for each of 0, 1, 2" in refused
    refused = cli("export", "qrels", "--as", "ntcireval", "--letters", "CBA").failed(1).err
    assert "`--letters` is for --as ntcir2" in refused


def test_options_that_cannot_be_are_refused(cli: Cli, lettered: Path) -> None:
    """NTCIR-2 needs a name for its two files, and grades of the scale; no file is harmed."""
    for out in ([], ["--out", "-"]):
        refused = by_rule(cli, "export", "qrels", "--as", "ntcir2", *out).failed(1).err
        assert "`--out` must be given with --as ntcir2" in refused
    options = ("--as", "ntcir2", "--out", "n")
    refused = by_rule(cli, "export", "qrels", *options, "--aggregate", "sum").failed(1).err
    assert "`--as` must be defined with --relaxed and --rigid: a sum has no letter of the scale" in refused
    write(lettered / "n.relaxed", "mine")
    assert "n.relaxed: already exists" in by_rule(cli, "export", "qrels", *options).failed(1).err
    assert (lettered / "n.relaxed").read_text("utf-8") == "mine\n"
    assert not (lettered / "n.rigid").exists()


XINFAP = [
    "51 0 d1 1 1",
    "51 0 d2 1 0",
    "51 0 d3 1 2",
    "51 0 d4 2 -1",
    "51 0 d5 2 1",
    "51 0 d6 2 0",
    "51 0 d7 2 -1",
]
"""The strata on which `sample_eval.pl` was run."""

STATAP = [
    "1 clueweb09-en0003-55-31884 0 0 1",
    "1 clueweb09-en0009-84-37392 0 1 0.0136322534877696",
    "10 GX225-79-9870332 1 1 0.568969759822883",
    "10 GX253-98-16418961 0 4 0.165904710473544",
    "50 clueweb09-en0007-05-20194 0 1 1",
    "50 clueweb09-en0011-00-00001 2 2 0.25",
]
"""Lines of the Web track 2009 and the Million Query track 2007, and two of methods 4 and 2."""


@pytest.fixture
@made_once
def empty(cli: Cli, here: Path) -> Path:
    """Work beside an empty collection of scale 0-2."""
    cli("init", "--scale", "0-2").fine()
    return here


def bring(cli: Cli, kind: str, *options: str) -> Outcome:
    """Import `p` as the sample of `me`."""
    return cli("import", "judgements", "p", "--as", kind, "--judge", "me", *options)


def written(cli: Cli, kind: str, *options: str) -> list[str]:
    """Return the lines of an exported sample of `me`."""
    return by_rule(cli, "export", "prels", "--as", kind, "--qrels", "me", *options).fine().out.splitlines()


@pytest.mark.vector("sample_eval.pl")
def test_xinfap_file_comes_out_as_it_went_in(cli: Cli, empty: Path) -> None:
    """Bytes, and on the way: 7 listed, 5 sampled, 3/3 and 2/4 of the strata."""
    write(empty / "p", *XINFAP)
    answer = bring(cli, "xinfap").fine()
    assert "p: 5 judgements added of me" in answer.err
    assert "p: pool sample-me: 5 documents sampled, 2 not sampled" in answer.err
    cli("export", "prels", "--as", "xinfap", "--pool", "sample-me", "--out", "out").fine()
    assert (empty / "out").read_bytes() == (empty / "p").read_bytes()
    with Collection("collection.db") as opened:
        entries = {entry.docno: entry for entry in opened.pools.get("sample-me").entries}
    assert {docno: entry.stratum for docno, entry in entries.items()} == {
        **dict.fromkeys(["d1", "d2", "d3"], 1),
        **dict.fromkeys(["d4", "d5", "d6", "d7"], 2),
    }
    assert {entry.inclusion_probability for entry in list(entries.values())} == {1.0, 0.5}
    assert [docno for docno, entry in entries.items() if not entry.sampled] == ["d4", "d7"]


@pytest.mark.vector("ir_datasets, tests of clueweb09/en/trec-web-2009 and gov2/trec-mq-2007")
def test_statap_file_comes_out_as_it_went_in(cli: Cli, empty: Path) -> None:
    """Bytes: probabilities to the last digit, and methods other than 0 and 1."""
    write(empty / "p", *STATAP)
    bring(cli, "statap", "--as-pool", "mq").fine()
    assert written(cli, "statap", "--pool", "mq") == STATAP
    with Collection("collection.db") as opened:
        manifest = opened.pools.get("mq").manifest
    # Method 1 with probability 1 is not what the rule gives either.
    assert manifest["methods"] == {
        "1": {"50": ["clueweb09-en0007-05-20194"]},
        "2": {"50": ["clueweb09-en0011-00-00001"]},
        "4": {"10": ["GX253-98-16418961"]},
    }


def test_iterations_negative_grades_and_stratum_0_survive(cli: Cli, here: Path) -> None:
    """Rounds of judged and unjudged lines, a junk grade, empty strata: the same bytes."""
    lines = [
        "9 0.5 a 0 -2",
        "9 1 b 0 -1",
        "9 0.5 c 7 -1",
        "9 2 d 7 -1",
        "10 1 a 1 2",
        "10 1 b 1 -1",
        "10 0.5 c 2 0",
    ]
    write(here / "p", *lines)
    cli("init", "--scale", "-2-2").fine()
    bring(cli, "xinfap").fine()
    assert written(cli, "xinfap", "--pool", "sample-me") == lines
    with Collection("collection.db") as opened:
        pool = opened.pools.get("sample-me")
    assert pool.round == "0.5"  # 3 lines, as 1 has: the lesser one
    chances = {(one.topic, one.docno): one.inclusion_probability for one in pool.entries}
    assert chances["9", "c"] is None  # nothing of stratum 7 was sampled
    assert chances["9", "b"] == 0.5


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("xinfap", ["--strategy", "stratified", "--param", "strata=1:2,3:5:0.5", "--budget", "9"]),
        ("xinfap", ["--strategy", "uniform", "--budget", "5"]),
        ("statap", ["--strategy", "uniform", "--budget", "7"]),
        ("statap", ["--strategy", "statap", "--budget", "4"]),
        ("xinfap", ["--strategy", "statap", "--budget", "3"]),
    ],
)
def test_drawn_sample_goes_round(cli: Cli, judged: Path, kind: str, options: list[str]) -> None:
    """Pool, judge, export; import into another collection; export: the same bytes."""
    cli("pool", *options, "--depth", "5", "--seed", "3", "--name", "drawn").fine()
    export = ("export", "prels", "--as", kind, "--qrels", "strict")
    cli(*export, "--pool", "drawn", "--out", "first").fine()
    first = (judged / "first").read_bytes()
    other = ("--collection", "other.db")
    cli("init", "--scale", "0-2", *other).fine()
    cli("import", "judgements", "first", "--as", kind, "--judge", "strict", *other).fine()
    second = cli(*export, "--pool", "sample-strict", *other).fine()
    assert second.out.encode() == first
    assert "warning" not in second.err
    # And what the file says is what the pool and the judge say.
    grades = {
        (topic, docno): grade
        for topic, docno, grade in read_trec(judged / "judgements" / "strict.qrels", (0, 2, 3))
    }
    with Collection("collection.db") as opened:
        entries = opened.pools.get("drawn").entries
    expected = []
    for one in sorted(entries, key=lambda one: (one.topic, one.docno)):
        grade = grades[one.topic, one.docno]
        if kind == "xinfap":
            code = grade if one.sampled else "-1"
            expected.append(f"{one.topic} 0 {one.docno} {one.stratum} {code}")
        elif one.sampled and one.inclusion_probability is not None:
            method = int(one.inclusion_probability < 1)
            chance = repr(one.inclusion_probability).removesuffix(".0")
            expected.append(f"{one.topic} {one.docno} {grade} {method} {chance}")
    assert first.decode().splitlines() == expected


def judge_by_hand(name: str) -> None:
    """Judge topic 51 at the desk: 2, skip, cannot; leave the rest."""
    with Collection("collection.db") as opened:
        desk = opened.desk(name)
        actions: list[dict[str, object]] = [
            {"action": Action.JUDGE, "grade": 2},
            {"action": Action.SKIP},
            {"action": Action.CANNOT, "reason": "cut off"},
        ]
        tasks = [task.docno for task in desk.queue("51")]
        assert tasks == ["d1", "d2", "d3", "d5", "d6"]  # what was not sampled is never shown
        for docno, action in zip(tasks, actions, strict=False):
            desk.record(Decision("51", docno, **action))  # type: ignore[arg-type]
        desk.leave()


def test_sampled_documents_without_a_grade_are_told_by_reason(cli: Cli, empty: Path) -> None:
    """Skipped, unjudgeable, unjudged and judged-though-not-sampled are four numbers on stderr."""
    write(empty / "p", *XINFAP)
    bring(cli, "xinfap", "--as-pool", "s").fine()
    cli("judges", "add", "anna").fine()
    judge_by_hand("anna")
    write(empty / "more", "51 0 d4 1", "51 0 d9 2", "52 0 d9 0")
    cli("import", "judgements", "more", "--judge", "anna", "--kind", "human").fine()
    export = ("export", "prels", "--pool", "s", "--qrels", "anna")
    answer = cli(*export, "--as", "xinfap", "--out", "x").fine()
    assert read_lines(empty / "x") == ["51 0 d1 1 2"] + [
        f"51 0 d{number} {1 if number < 4 else 2} -1" for number in range(2, 8)
    ]
    reasons = "4 documents (2 unjudged, 1 skipped, 1 cannot be judged)"
    assert f"sampled but without a grade: {reasons}, written with -1, as if not sampled" in answer.err
    assert "judged but not sampled: 1 document, written with -1" in answer.err
    assert "judged but not in this pool: 2 documents, left out" in answer.err
    assert "5 documents sampled of 7 in pool s, 1 judged (1 x 2); judge anna" in answer.err
    facts = json.loads((empty / "x.manifest.json").read_text("utf-8"))
    assert facts["sampled_without_grade"] == {"unjudged": 2, "skipped": 1, "cannot": 1, "undecided": 0}
    assert (facts["listed"], facts["sampled"], facts["judged"]) == (7, 5, 1)
    assert (facts["judged_not_sampled"], facts["judged_outside_the_pool"]) == (1, 2)
    assert facts["columns"] == ["topic", "iteration", "docno", "stratum", "rel"]
    assert facts["sha256"] == hashlib.sha256((empty / "x").read_bytes()).hexdigest()
    answer = cli(*export, "--as", "statap").fine()
    assert answer.out == "51 d1 2 0 1\n"
    assert f"sampled but without a grade: {reasons}, left out" in answer.err
    assert "judged but not sampled: 1 document, left out" in answer.err


def test_votes_of_several_judges_become_one_grade(cli: Cli, empty: Path) -> None:
    """Ties go low, high, or leave a sampled document without a grade, which is told."""
    write(empty / "p", "51 0 a 1 2", "51 0 b 1 1", "51 0 c 1 -1")
    bring(cli, "xinfap", "--as-pool", "s").fine()
    write(empty / "q", "51 0 a 0", "51 0 b 1")
    cli("import", "judgements", "q", "--judge", "you").fine()
    export = ("export", "prels", "--as", "xinfap", "--pool", "s", "--aggregate", "majority")
    for ties, grade in (("low", 0), ("high", 2), ("unresolved", -1)):
        answer = by_rule(cli, *export, "--ties", ties).fine()
        assert answer.out.splitlines() == [f"51 0 a 1 {grade}", "51 0 b 1 1", "51 0 c 1 -1"]
        assert ("without a grade: 1 document (1 undecided)" in answer.err) == (grade == -1)
    assert "official@1: 1 document undecided" in cli(*export[:6]).failed(1).err


def test_minus_one_in_a_statap_file_is_sampled_and_unjudged(cli: Cli, empty: Path) -> None:
    """It makes a pool entry with its probability and no judgement."""
    write(empty / "p", "1 a 1 1 0.5", "1 b -1 1 0.25")
    answer = bring(cli, "statap").fine()
    assert "p: pool sample-me: 2 documents sampled" in answer.err
    assert "p: sampled but not judged: 1 document" in answer.err
    assert written(cli, "statap", "--pool", "sample-me") == ["1 a 1 1 0.5"]
    [row] = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [row[name] for name in ("pooled", "judged", "unjudged")] == [2, 1, 1]


def test_grade_minus_one_of_the_scale_has_no_place_in_xinfap(cli: Cli, here: Path) -> None:
    """In statap it is a grade; in xinfap it would mean "not sampled", and is refused."""
    cli("init", "--scale", "-1-1").fine()
    write(here / "p", "1 a -1 1 0.5", "1 b 1 1 0.5")
    bring(cli, "statap").fine()
    assert written(cli, "statap", "--pool", "sample-me") == read_lines(here / "p")
    write(here / "p", "1 0 a 1 0", "1 0 b 1 1", "1 0 c 1 -1")
    bring(cli, "xinfap", "--as-pool", "x", "--replace").fine()
    write(here / "q", "1 0 a -1")
    cli("import", "judgements", "q", "--judge", "me", "--replace").fine()
    refused = cli("export", "prels", "--as", "xinfap", "--pool", "x", "--qrels", "me").failed(1)
    assert "grade -1 of the scale would mean `not sampled` in an xinfap file" in refused.err


def test_map_code_lenient_and_gzip_work_as_for_qrels(cli: Cli, empty: Path) -> None:
    """Options of `import judgements` mean the same for samples."""
    text = "# by hand\n1 0 a 1 9\n1 0 b 1 -2 gray\n1 0 c 1 -1\n"
    (empty / "p").write_bytes(gzip.compress(text.encode()))
    bring(cli, "xinfap", "--map", "9=2", "--code", "-2=unjudged").failed(1)
    answer = bring(cli, "xinfap", "--map", "9=2", "--code", "-2=unjudged", "--lenient").fine()
    assert "text after field 5 was ignored on 1 lines; is it a prels file?" in answer.err
    assert "p: pool sample-me: 2 documents sampled, 1 not sampled" in answer.err
    assert "p: sampled but not judged: 1 document" in answer.err
    lines = written(cli, "xinfap", "--pool", "sample-me")
    assert lines == ["1 0 a 1 2", "1 0 b 1 -1", "1 0 c 1 -1"]


def test_same_file_again_changes_nothing(cli: Cli, empty: Path) -> None:
    """A second import adds neither judgement nor pool; another file gets a pool of its own."""
    write(empty / "p", *XINFAP)
    bring(cli, "xinfap").fine()
    assert "nothing new, 5 judgements already there of me" in bring(cli, "xinfap").fine().err
    with Collection("collection.db") as opened:
        assert [pool.name for pool in opened.pools.all()] == ["sample-me"]
    write(empty / "p", *XINFAP[:-1])
    assert "pool sample-me-2" in bring(cli, "xinfap").fine().err
    refused = bring(cli, "xinfap", "--as-pool", "sample-me").failed(3)
    assert "there is another pool named `sample-me`" in refused.err


def test_what_cannot_be_is_refused_in_words(cli: Cli, judged: Path) -> None:
    """Pools that are no samples, unknown pools, no format, and columns that name no judge."""
    export = ("export", "prels", "--qrels", "strict")
    refused = cli(*export, "--as", "xinfap").failed(1)
    assert "pool `pool` has no strata" in refused.err
    refused = cli(*export, "--as", "statap").failed(1)
    assert "pool `pool` has no inclusion probabilities" in refused.err
    assert "unknown pool `poll`" in cli(*export, "--as", "statap", "--pool", "poll").failed(1).err
    cli(*export).failed(2)
    cli(*export, "--as", "trec").failed(2)
    write(judged / "p", *STATAP)
    column = cli("import", "judgements", "p", "--as", "statap", "--judge-column", "2").failed(1)
    assert "`--judge-column` is for qrels; no column of a sample names a judge" in column.err
    bring(cli, "statap", "--allow-unknown").fine()
    both = ("--kinds", "model,imported")
    refused = by_rule(cli, "export", "prels", "--as", "xinfap", "--pool", "sample-me", *both).failed(1)
    assert "28 documents undecided" in refused.err
    refused = cli(*export, "--as", "xinfap", "--pool", "sample-me").failed(1)
    assert "pool `sample-me` has no strata" in refused.err
