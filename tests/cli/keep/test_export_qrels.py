"""`pooler export qrels`: several judges' grades made one, and what the choice of rule decided."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.formats.qrels import read_qrels
from store.judging.disagreements import Selection
from store.records import Action, Decision
from tests.helpers.run import JUDGES, Cli, by_rule, read_lines, read_run_list, read_trec, write


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--level", "1", "--graded"), "`--out` must contain {level} where 2 files are written"),
        (("--level", "rigid", "--level", "relaxed", "--out", "q.txt"), "`--out` must contain {level}"),
        (
            ("--level", "rigid", "--level", "relaxed", "--out", "q.{level}", "--manifest", "m.json"),
            "`--manifest` must contain {level}",
        ),
    ],
)
def test_several_files_need_several_names(
    cli: Cli, judged: Path, options: tuple[str, ...], said: str
) -> None:
    """Files of several levels are not written over one another: one error, with what to type."""
    refused = by_rule(cli, "export", "qrels", "strict", *options).failed(1)
    assert said in refused.err
    assert "as in --out qrels.{level}.txt" in refused.err
    assert not list(judged.glob("q*"))


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
