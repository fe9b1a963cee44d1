"""`--empty`: judgings in which a topic has no relevant document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.run import Cli

P = ("--probabilities", "p.txt")


@pytest.fixture
def two(here: Path) -> tuple[str, ...]:
    """Two topics of two runs; the second may have no relevant document.

    Topic 1: a is surely relevant, A has it second and B first. Topic 2: c is relevant one time of
    four, A has it first and B third.
    """
    Path("a.run").write_text("1 Q0 q 1 2 a\n1 Q0 a 2 1 a\n2 Q0 c 1 1 a\n")
    Path("b.run").write_text("1 Q0 a 1 1 b\n2 Q0 q 1 3 b\n2 Q0 r 2 2 b\n2 Q0 c 3 1 b\n")
    Path("p.txt").write_text("1 a 1\n2 c 0.25\n")
    return ("a.run", "b.run", *P)


def rows_of(cli: Cli, *words: str) -> Any:
    """Return the rows of `variation`."""
    return cli("variation", *words, "--format", "json").fine().json()


@pytest.mark.vector("methods of the project, section 3: E0")
def test_rule_says_which_run_is_ahead(cli: Cli, two: tuple[str, ...]) -> None:
    """Given a relevant document A has .75 and B .6667; with 0 counted .375 and .5417."""
    left_out = cli("variation", *two, "--format", "json").fine()
    assert [row["mean"] for row in left_out.json()] == pytest.approx([3 / 4, 2 / 3])
    assert "in 1 of 2 topics it is possible that nothing is relevant (most likely in 2: 75%)" in (
        left_out.err
    )
    assert "such outcomes are left out (--empty given|zero)" in left_out.err
    assert (
        "2: it is more likely than not that nothing is relevant; better leave the topic out" in left_out.err
    )
    counted = cli("variation", *two, "--empty", "zero", "--format", "json").fine()
    assert [row["mean"] for row in counted.json()] == pytest.approx([3 / 8, 13 / 24])
    assert "such outcomes count with an AP of 0" in counted.err
    for options, ahead in (((), "a"), (("--empty", "zero"), "b")):
        (pair,) = rows_of(cli, "--by", "pair", *two, *options)
        assert pair["a"] == ahead


def test_simulation_has_the_same_rule(cli: Cli, two: tuple[str, ...]) -> None:
    """Given a relevant document nothing varies here; with 0 counted AP of topic 2 does."""
    options = ("--monte-carlo", "4000")
    rows = rows_of(cli, *two, *options)
    assert [row["mc_mean"] for row in rows] == pytest.approx([3 / 4, 2 / 3])
    assert [row["mc_sd"] for row in rows] == pytest.approx([0, 0], abs=1e-12)
    rows = rows_of(cli, *two, *options, "--empty", "zero")
    # The standard error of MAP of A is sqrt(3) / 8 / sqrt(4000) = .0034.
    assert [row["mc_mean"] for row in rows] == pytest.approx([3 / 8, 13 / 24], abs=0.015)


def test_next_has_the_same_rule(cli: Cli, two: tuple[str, ...]) -> None:
    """The one document that may be relevant in a topic is so wherever the topic counts."""
    options = ("--unjudged", "0", "--confidence", "0.99", "--format", "json")
    found = cli("pool", "next", *two, *options).fine()
    assert found.json() == []
    assert "in 1 of 2 topics it is possible" in found.err
    rows = cli("pool", "next", *two, *options, "--empty", "zero").fine().json()
    assert [row["docno"] for row in rows] == ["c"]


def test_little_chances_are_not_told_of(cli: Cli, two: tuple[str, ...]) -> None:
    """P(R = 0) of .0009 is kept to itself, of .0011 not; of .3 without a warning."""
    for p, words in (("0.9991", ""), ("0.9989", "most likely in 2: 0.1%"), ("0.7", "in 2: 30%")):
        Path("p.txt").write_text(f"1 a 1\n2 c {p}\n")
        said = cli("variation", *two).fine().err
        assert words in said
        assert ("nothing is relevant" in said) == bool(words)
        assert "better no topic" not in said


def test_topic_without_a_possible_relevant_document_counts_with_zero(cli: Cli, two: tuple[str, ...]) -> None:
    """Surely empty or nearly so, a topic has an AP of 0 with `zero`, as trec_eval has it.

    Topic 1: A has a, which is relevant half of the time, second, and B first; topic 2 has nothing
    relevant. MAP is x/4 and x/2, of mean 1/8 and 1/4 and standard deviation 1/8 and 1/4.
    """
    options = ("--empty", "zero", "--monte-carlo", "4000", "--format", "json")
    for p, told in (("0", "no document can be relevant (2); AP is 0 there"), ("1e-9", "in 2: 100")):
        Path("p.txt").write_text(f"1 a 0.5\n2 c {p}\n")
        answer = cli("variation", *two, *options).fine()
        assert told in answer.err
        assert "left out" not in answer.err
        rows = answer.json()
        assert [row["topics"] for row in rows] == [2, 2]
        assert [row["mean"] for row in rows] == pytest.approx([1 / 8, 1 / 4], abs=1e-8)
        assert [row["sd"] for row in rows] == pytest.approx([1 / 8, 1 / 4], abs=1e-8)
        # The standard error of MAP of B is 1 / 4 / sqrt(4000) = .004.
        assert [row["mc_mean"] for row in rows] == pytest.approx([1 / 8, 1 / 4], abs=0.016)
        (pair,) = rows_of(cli, "--by", "pair", *two, *options[:-2])
        assert (pair["a"], pair["difference"]) == ("b", pytest.approx(1 / 8, abs=1e-8))


def test_topic_without_a_possible_relevant_document_is_left_out(cli: Cli, two: tuple[str, ...]) -> None:
    """With `given` there is no AP in such a topic, and MAP is over the others; that is told."""
    Path("p.txt").write_text("1 a 0.5\n2 c 0\n")
    answer = cli("variation", *two, "--format", "json").fine()
    assert "1 topic left out, as no document there can be relevant" in answer.err
    assert [row["topics"] for row in answer.json()] == [1, 1]
    assert [row["mean"] for row in answer.json()] == pytest.approx([1 / 2, 1])


def test_next_counts_a_topic_without_a_possible_relevant_document(cli: Cli, two: tuple[str, ...]) -> None:
    """The difference of the MAPs is x/4 over both topics, x of variance 1/4: 1/64 to be gained."""
    Path("p.txt").write_text("1 a 0.5\n2 c 0\n")
    options = ("--unjudged", "0", "--confidence", "0.99", "--format", "json", "--empty", "zero")
    (row,) = cli("pool", "next", *two, *options).fine().json()
    assert (row["topic"], row["docno"]) == ("1", "a")
    assert (row["gain"], row["share"]) == (pytest.approx(1 / 64), pytest.approx(1))


def test_map_as_judged_counts_the_same_topics(cli: Cli, two: tuple[str, ...]) -> None:
    """Where nothing varies the expected MAP is the judged one: (1/2 + 0) / 2 and (1 + 0) / 2.

    Topic 3, which nobody judged, counts by neither rule.
    """
    Path("one.qrels").write_text("1 0 a 1\n2 0 c 0\n")
    with Path("a.run").open("a") as file:
        file.write("3 Q0 c 1 1 a\n")
    for options, expected in (((), [1 / 2, 1]), (("--empty", "zero"), [1 / 4, 1 / 2])):
        rows = rows_of(cli, "--qrels", "one.qrels", *two[:2], *options)
        assert [row["mean"] for row in rows] == expected
        assert [row["judged"] for row in rows] == expected


def test_without_any_possible_relevant_document_map_is_zero(cli: Cli, two: tuple[str, ...]) -> None:
    """MAP is 0 for certain with `zero`, and does not exist otherwise."""
    Path("p.txt").write_text("1 a 0\n2 c 0\n")
    assert "no document can be relevant" in cli("variation", *two).failed(1).err
    answer = cli("variation", *two, "--empty", "zero", "--format", "json").fine()
    assert [(row["mean"], row["low"], row["high"]) for row in answer.json()] == [(0, 0, 0)] * 2
    assert "in 2 of 2 topics no document can be relevant (1, 2); AP is 0 there" in answer.err


@pytest.mark.parametrize(
    ("grade", "words"),
    [
        # Both topics have one document of .25, so that each is empty three times of four.
        (1, ("In 2 of 2 topics it is possible that nothing is relevant (most likely in 1: 75%); such",
             "1, 2: it is more likely than not that nothing is relevant")),
        (0, ("1 topic left out, as no document there can be relevant.",)),
    ],
)  # fmt: skip
def test_a_report_says_so_itself(cli: Cli, two: tuple[str, ...], grade: int, words: tuple[str, ...]) -> None:
    """Its reader has not seen what was said when it was made."""
    Path("one.qrels").write_text(f"1 0 a 1\n2 0 c {grade}\n")
    options = ("--qrels", "one.qrels", "--value", "0=0", "--value", "1=.25", "--depth", "1")
    cli("report", "page.html", *two[:2], *options).fine()
    page = Path("page.html").read_text()
    assert all(one in page for one in words)
