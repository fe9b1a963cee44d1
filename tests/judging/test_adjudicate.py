"""`pooler adjudicate`: what judges disagree on, who may settle it, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from tests.helpers.run import JUDGES, Cli, by_rule, read_trec

Pairs = dict[tuple[str, str], dict[str, int]]


@pytest.fixture
def garden_with_zoe(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection, its three judges' grades in it, with an adjudicator."""
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    return judged


def graded(folder: Path) -> Pairs:
    """Return every judge's grade by (topic, docno)."""
    pairs: Pairs = {}
    for judge in JUDGES:
        for topic, docno, grade in read_trec(folder / "judgements" / f"{judge}.qrels", (0, 2, 3)):
            pairs.setdefault((topic, docno), {})[judge] = int(grade)
    return pairs


def disputed(folder: Path) -> Pairs:
    """Return the documents whose judges differ."""
    return {pair: grades for pair, grades in graded(folder).items() if len({*grades.values()}) > 1}


def test_list_has_every_document_that_judges_graded_otherwise(cli: Cli, garden_with_zoe: Path) -> None:
    """Topic, document, grades as A, B, C, and gap of each; of no other document."""
    rows = cli("adjudicate", "--table", "disagreements", "--format", "json").fine().json()
    expected = disputed(garden_with_zoe)
    assert {(row["topic"], row["docno"]) for row in rows} == set(expected)
    for row in rows:
        grades = list(expected[row["topic"], row["docno"]].values())
        shown = [one.split("=") for one in row["grades"]]
        assert [letter for letter, _ in shown] == ["A", "B", "C"]
        assert sorted(int(grade) for _, grade in shown) == sorted(grades)
        assert row["gap"] == max(grades) - min(grades)
        assert (row["status"], row["outcome"]) == ("open", None)
    assert [row["topic"] for row in rows] == sorted(row["topic"] for row in rows)


def test_names_are_told_to_the_organiser_alone(cli: Cli, garden_with_zoe: Path) -> None:
    """Without --names no judge's name is in the list; with it every letter has its judge."""
    plain = cli("adjudicate", "--table", "disagreements", "--format", "json").fine()
    assert not any(judge in plain.out for judge in JUDGES)
    expected = disputed(garden_with_zoe)
    rows = cli("adjudicate", "--table", "disagreements", "--names", "--format", "json").fine().json()
    for row, before in zip(rows, plain.json(), strict=True):
        grades = dict(one.split("=") for one in row["grades"])
        judges = dict(one.split("=") for one in row["judges"])
        assert {judges[letter]: int(grades[letter]) for letter in grades} == (
            expected[row["topic"], row["docno"]]
        )
        assert row["grades"] == before["grades"]
    sitting = cli("adjudicate", "--judge", "zoe", "--names").failed(1)
    assert "`--names` is of the list, without --judge" in sitting.err


@pytest.mark.parametrize(
    ("options", "is_wanted"),
    [
        (("--gap", "2"), lambda grades: max(grades.values()) - min(grades.values()) >= 2),
        (("--unresolved", "majority"), lambda grades: len(set(grades.values())) == len(grades)),
    ],
)
def test_options_choose_disagreements(
    cli: Cli, garden_with_zoe: Path, options: tuple[str, ...], is_wanted: Callable[[dict[str, int]], bool]
) -> None:
    """Gap and rule cut the list down to what plain comparisons of the files say."""
    rows = cli("adjudicate", "--table", "disagreements", *options, "--format", "json").fine().json()
    expected = {pair for pair, grades in disputed(garden_with_zoe).items() if is_wanted(grades)}
    assert expected
    assert {(row["topic"], row["docno"]) for row in rows} == expected


def test_summary_counts_documents_by_two_grades(cli: Cli, garden_with_zoe: Path) -> None:
    """A document counts once for every two different grades that its judges gave."""
    rows = cli("adjudicate", "--table", "cells", "--format", "json").fine().json()
    expected = Counter(
        cell
        for grades in graded(garden_with_zoe).values()
        for cell in combinations(sorted({*grades.values()}), 2)
    )
    assert {(row["first"], row["second"]): row["documents"] for row in rows} == expected


def test_typed_decisions_are_the_adjudicators(cli: Cli, garden_with_zoe: Path) -> None:
    """What is typed in line mode is stored under the adjudicator, and listed as the outcome."""
    first, second, third = sorted(disputed(garden_with_zoe))[:3]
    topic = first[0]
    assert {second[0], third[0]} == {topic}
    typed = b"2\nc\n1\ns\nq\n"
    answer = cli("adjudicate", "--judge", "zoe", "--topic", topic, "--plain", stdin=typed).fine()
    assert answer.out.endswith("zoe: 3 decisions in this sitting, all saved\n")
    assert not any(judge in answer.out for judge in JUDGES)
    rows = cli("adjudicate", "--table", "disagreements", "--topic", topic, "--format", "json").fine().json()
    told = {row["docno"]: (row["status"], row["outcome"]) for row in rows}
    assert told[first[1]] == ("settled", 2)
    assert told[second[1]] == ("settled", "cannot")
    assert told[third[1]] == ("open", None)
    cells = cli("adjudicate", "--table", "cells", "--topic", topic, "--format", "json").fine().json()
    expected = Counter(
        cell
        for pair in (first, second)
        for cell in combinations(sorted({*graded(garden_with_zoe)[pair].values()}), 2)
    )
    assert {(row["first"], row["second"]): row["settled"] for row in cells if row["settled"]} == (expected)
    assert sum(row["as_2"] + row["as_cannot"] for row in cells) == expected.total()
    named = cli("adjudicate", "--table", "disagreements", "--names", "--format", "tsv").fine().tsv()
    assert {row["adjudicator"] for row in named} == {"", "zoe"}


def test_answers_that_open_no_topic_are_counted(cli: Cli, garden_with_zoe: Path) -> None:
    """A script that answers before a topic is open is told so, shortly; Enter opens one."""
    answer = cli("adjudicate", "--judge", "zoe", "--plain", stdin=b"0\n1\n\n2\nq\n").fine()
    assert "1 decision in this sitting" in answer.out
    assert "`0` is none of these topics\n" in answer.out
    assert "2 answers ignored" in answer.err


def test_nothing_of_the_judges_changes(cli: Cli, garden_with_zoe: Path) -> None:
    """Adjudicating overwrites nothing: every judge's export is as it was."""
    before = [cli("export", "judgements", judge).fine().out for judge in JUDGES]
    cli("adjudicate", "--judge", "zoe", "--plain", stdin=b"\n2\n1\n0\nq\n").fine()
    assert [cli("export", "judgements", judge).fine().out for judge in JUDGES] == before
    assert cli("export", "judgements", "zoe").fine().out.count('"state": "judged"') == 3


def test_changed_and_unneeded_outcomes_are_listed(
    cli: Cli, collection_of: Callable[..., None], here: Path
) -> None:
    """The list tells an outcome of another disagreement, and one that nobody needs any more."""
    collection_of(me=["1 0 a 0", "1 0 b 0", "1 0 c 0"], you=["1 0 a 2", "1 0 b 2", "1 0 c 2"])
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    cli("adjudicate", "--judge", "zoe", "--topic", "1", "--plain", stdin=b"1\n1\n1\n").fine()
    (here / "you.qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 2\n", "utf-8")
    cli("import", "judgements", "you.qrels", "--judge", "you", "--replace").fine()
    rows = cli("adjudicate", "--table", "disagreements", "--format", "json").fine().json()
    assert [(row["docno"], row["status"], row["outcome"]) for row in rows] == [
        ("a", "changed since", 1),
        ("b", "no longer needed", 1),
        ("c", "settled", 1),
    ]
    table = cli("adjudicate").fine().out
    assert "3 documents: 1 changed since, 1 no longer needed, 1 settled" in table


def test_letters_of_the_scale_name_grades(cli: Cli, collection_of: Callable[..., None]) -> None:
    """On a scale of letters people read letters; programs get values."""
    collection_of("ntcir", me=["1 0 a 3", "1 0 b 1"], you=["1 0 a 0", "1 0 b 0"])
    (row,) = cli("adjudicate", "--table", "disagreements", "--gap", "3", "--format", "json").fine().json()
    assert (row["docno"], sorted(one[2:] for one in row["grades"])) == ("a", ["0", "3"])
    table = cli("adjudicate").fine().out + cli("adjudicate", "--table", "cells").fine().out
    assert "=S" in table
    assert "as S" in table


def test_own_keys_decide_in_line_mode(cli: Cli, garden_with_zoe: Path) -> None:
    """A keymap is the adjudicator's as it is a judge's."""
    typed = b"\nd\nq\n"
    options = ("--plain", "--keymap", "home-row")
    answer = cli("adjudicate", "--judge", "zoe", *options, stdin=typed).fine()
    assert answer.out.endswith("zoe: 1 decision in this sitting, all saved\n")
    rows = cli("adjudicate", "--table", "disagreements", "--format", "json").fine().json()
    assert [row["outcome"] for row in rows if row["status"] == "settled"] == [2]


def test_nothing_to_adjudicate_is_said(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Where judges agree, or no disagreement is of the kind, there is nothing to sit down for."""
    collection_of(me=["1 0 a 1", "1 0 b 0"], you=["1 0 a 1", "1 0 b 1"])
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    refused = cli("adjudicate", "--judge", "zoe", "--gap", "2", "--plain").failed(1)
    assert "no disagreement of that kind is left for `zoe`" in refused.err
    assert "hint: pooler adjudicate" in refused.err
    assert "no disagreement of that kind" in cli("adjudicate", "--gap", "2").fine().out
    assert cli("adjudicate", "--table", "disagreements", "--gap", "2", "--format", "json").fine().json() == []


def test_list_without_two_judges_says_so(cli: Cli, here: Path) -> None:
    """Nobody or one judge has judged: nothing is said to have been decided alike."""
    cli("init", "--scale", "0-2").fine()
    few = "no disagreement: fewer than two judges have judged; "
    assert f"{few}no judge has so far" in cli("adjudicate").fine().out
    (here / "q").write_text("1 0 a 1\n")
    cli("import", "judgements", "q", "--judge", "me").fine()
    assert f"{few}only one judge has so far" in cli("adjudicate").fine().out
    (here / "z").write_text("2 0 a 1\n")
    cli("import", "judgements", "z", "--judge", "zoe", "--kind", "adjudicator").fine()
    told = cli("adjudicate", "--topic", "1").fine().out
    assert f"{few}only one judge has so far" in told
    cli("judges", "add", "you").fine()
    assert few in cli("adjudicate", "--gap", "1").fine().out
    cli("import", "judgements", "q", "--judge", "it").fine()
    alike = "no disagreement: wherever two judges decided, they decided the same"
    told = cli("adjudicate", "--topic", "1", "--gap", "1").fine().out
    assert "no disagreement of that kind" in told
    assert few not in told
    (here / "collection.db").unlink()
    cli("init", "--scale", "0-2").fine()
    for judge in ("me", "it"):
        cli("import", "judgements", "q", "--judge", judge).fine()
    assert alike in cli("adjudicate").fine().out


def test_who_cannot_sit_down_is_told_why(cli: Cli, garden_with_zoe: Path) -> None:
    """A judge who is not there, is disabled or is no adjudicator is refused."""
    assert "unknown judge `nosuch`" in cli("adjudicate", "--judge", "nosuch", "--plain").failed(1).err
    cli("judges", "disable", "zoe").fine()
    assert "disabled" in cli("adjudicate", "--judge", "zoe", "--plain").failed(3).err


def test_impossible_choices_are_refused(cli: Cli, judged: Path) -> None:
    """What cannot be meant is told, with what can."""
    assert "unknown topic `G99`" in cli("adjudicate", "--topic", "G99").failed(1).err
    assert "unknown qrels `martian`" in cli("adjudicate", "--qrels", "martian").failed(1).err


@pytest.mark.parametrize("rule", ["majority", "median"])
def test_unresolved_is_what_the_export_leaves_out(cli: Cli, garden_with_zoe: Path, rule: str) -> None:
    """List, summary and queue hold the documents that `--ties unresolved` leaves out, no other."""
    exported = by_rule(cli, "export", "qrels", "--aggregate", rule, "--ties", "unresolved").fine()
    kept = {tuple(line.split()[::2]) for line in exported.out.splitlines()}
    left_out = {pair for pair in graded(garden_with_zoe) if pair not in kept}
    command = ("adjudicate", "--unresolved", rule)
    assert (f"pooler {' '.join(command)}" in exported.err) == bool(left_out)
    found = cli(*command, "--format", "json").fine().json()
    assert {(row["topic"], row["docno"]) for row in found["disagreements"]} == left_out
    assert bool(found["cells"]) == bool(left_out)


def test_unresolved_documents_are_settled_one_by_one(cli: Cli, garden_with_zoe: Path) -> None:
    """The queue has the three ties alone; once they are ruled on the export has all documents."""
    command = ("adjudicate", "--unresolved", "majority")
    topics = [row["topic"] for row in cli(*command, "--format", "json").fine().json()["disagreements"]]
    for topic in topics:
        cli(*command, "--judge", "zoe", "--topic", topic, "--plain", stdin=b"1\nq\n").fine()
    rows = cli(*command, "--format", "json").fine().json()["disagreements"]
    assert [(row["status"], row["outcome"]) for row in rows] == [("settled", 1)] * 3
    rule = ("--aggregate", "majority", "--ties", "unresolved")
    # An adjudicator is a person, and the judges are models.
    refused = by_rule(cli, "export", "qrels", *rule).failed(1)
    assert "people graded 3 documents and models 84: whose grades count?" in refused.err
    answer = by_rule(cli, "export", "qrels", *rule, "--kinds", "human,model").fine()
    assert len(answer.out.splitlines()) == 84
    assert "unresolved\n" not in answer.err.replace("ties unresolved", "")
