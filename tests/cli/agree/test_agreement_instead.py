"""`pooler agreement orders`, and what `agreement` refuses."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from store.grades.votes import CollectionGrades
from tests.helpers.run import JUDGES, Cli


def judge_topics(folder: Path, cli: Cli, **topics: str) -> None:
    """Import what each new judge finds of some topics: the grades of `middle`."""
    all_lines = (folder / "judgements" / "middle.qrels").read_text("utf-8").splitlines()
    for judge, wanted in topics.items():
        path = folder / f"{judge}.qrels"
        kept = [line for line in all_lines if line.split()[0] in wanted.split()]
        path.write_text("".join(f"{line}\n" for line in kept), "utf-8")
        cli("import", "judgements", path, "--judge", judge).fine()


def test_orders_compares_the_order_of_runs(cli: Cli, judged: Path) -> None:
    """Each judge's MAP of the runs is what `evaluate` prints, and orders are compared."""
    answer = cli("agreement", "orders", "--mixtures", "50", "--format", "json").fine().json()
    assert set(answer) == {"run_scores", "order_pairs", "mixtures", "swaps"}
    for judge in JUDGES:
        rows = cli("evaluate", "--qrels", judge, "--table", "measures", "--format", "json").fine().json()
        expected = {row["run"]: row["value"] for row in rows}
        got = {row["run"]: row[f"map_judge_{judge}"] for row in answer["run_scores"]}
        assert got == pytest.approx(expected, abs=1e-12)
    assert [(row["first"], row["second"]) for row in answer["order_pairs"]] == [
        *itertools.combinations(JUDGES, 2)
    ]
    shown = cli("agreement", "orders").fine().out
    assert "1,000 mixtures, seed 1" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--aggregate", "max"), "is compared with a judge: --against JUDGE"),
        (("--against", "strict", "--aggregate", "sum"), "must give grades of the scale"),
        (("--against", "strict", "--aggregate", "majority"), "`--ties` must be low, high or"),
        (("--against", "nobody"), "unknown judge `nobody`"),
        (("--level", "3"), "`--level` must be above 0"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    cli: Cli, judged: Path, options: tuple[str, ...], message: str
) -> None:
    """The message names the option and what it needs; nothing is computed."""
    assert message in cli("agreement", *options).failed(1).err


def test_orders_without_a_common_topic_takes_topics_of_two_judges(cli: Cli, judged: Path) -> None:
    """Who lacks how many topics is said, and what to type; judges' own means are not compared."""
    judge_topics(judged, cli, anna="G01 G02 G03", bert="G04 G05", carl="G04 G05 G06")
    ran = cli("agreement", "orders", "anna", "bert", "carl", "strict").fine()
    # Documents that two graded are of G01 to G06, where `strict` found something everywhere.
    assert "warning: no topic has a score under every judge" in ran.err
    for words in ("anna lacks", "bert lacks", "carl lacks", "agreement orders anna strict"):
        assert words in ran.err
    assert "6 topics with a score under two judges or more are used" in ran.err
    assert "No columns for judges, because their topics differ." in ran.out
    answer = cli("agreement", "orders", "anna", "bert", "carl", "strict", "--format", "json")
    tables = answer.fine().json()
    assert {row["map_judge_anna"] for row in tables["run_scores"]} == {None}
    assert [(row["topics"], row["min_judges"]) for row in tables["mixtures"]] == [(6, 2)] * 2


def test_orders_of_judges_of_other_topics_says_so(cli: Cli, judged: Path) -> None:
    """Two judges without a common topic have no order of runs to compare, and advice."""
    judge_topics(judged, cli, anna="G01", bert="G02")
    for judge, grades in (("cora", (1, 0)), ("dora", (0, 1))):
        path = judged / f"{judge}.qrels"
        found = [f"G0{topic} 0 KG-E-002 {grade}\n" for topic, grade in enumerate(grades, 1)]
        path.write_text("".join(found), "utf-8")
        cli("import", "judgements", path, "--judge", judge).fine()
    ran = cli("agreement", "orders", "cora", "dora").fine()
    assert "(nothing judged or nothing relevant: cora lacks 1, dora lacks 1)" in ran.err
    assert "let them judge the same topics" in ran.err
    assert "MAP of the runs" not in ran.out
    assert "no-common-topics: no topic has all the scores that are compared." in ran.out
    said = cli("agreement", "orders", "anna", "bert").fine().err
    assert "the judges share no document, so no run has a score" in said


def test_orders_tables_fit_80_columns_and_say_what_they_hold(cli: Cli, judged: Path) -> None:
    """Least and greatest are of mixtures, by their headings; tau_AP has one spelling."""
    shown = cli("agreement", "orders").fine()
    assert [line for line in shown.out.splitlines() if len(line) > 80] == []
    assert "mix min  mix max" in shown.out
    words = " ".join(shown.out.split())
    assert "mix min: least MAP in the mixtures of judges below. mix max: the greatest." in words
    assert "back: tau_AP with the first judge's order taken as the true one" in words
    assert "tau_ap" not in shown.out
    assert shown.err == "warning: no person judged: 3 models count\n"


def test_needing_two_judges_is_told_by_who_is_there(cli: Cli, collection_of: Callable[..., None]) -> None:
    """One judge, named or not, gets words; nobody at all gets the same ones either way."""
    collection_of()
    for name in ("alice", "bob"):
        cli("judges", "add", name).fine()
    for names in ((), ("alice",), ("alice", "bob")):
        said = cli("agreement", *names).failed(1).err
        assert "error: there is nothing to measure: no judge has graded a document yet\n" in said


def test_one_judge_is_told_to_name_another(cli: Cli, judged: Path) -> None:
    """The error says who is there and what to do."""
    said = cli("agreement", "strict").failed(1).err
    assert "agreement needs two judges, but there is only `strict`" in said
    assert "name another judge, or none" in said
    for name in ("alice", "bob"):
        cli("judges", "add", name).fine()
    said = cli("agreement", "alice", "bob").failed(1).err
    assert "none of them has graded a document" in said


def test_adjudicator_among_the_judges_is_warned_of(cli: Cli, judged: Path) -> None:
    """Whoever saw the others' opinions does not agree by chance."""
    path = judged / "judgements" / "strict.qrels"
    cli("import", "judgements", path, "--judge", "zoe", "--kind", "adjudicator").fine()
    for options in (("zoe", "strict"), ("--against", "zoe")):
        said = cli("agreement", *options).fine().err
        assert "zoe is an adjudicator, who saw the others' opinions" in said
    assert "adjudicator" not in cli("agreement").fine().err


def test_votes_are_fetched_once_against_a_judge(
    cli: Cli, judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge who graded is among those who did: one query finds them all."""
    fetch, calls = CollectionGrades.votes, []

    def counted(self: CollectionGrades, *arguments: object, **options: object) -> object:
        calls.append(arguments)
        return fetch(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(CollectionGrades, "votes", counted)
    cli("agreement", "--against", "strict").fine()
    assert len(calls) == 1
