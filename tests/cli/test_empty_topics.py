"""`--empty`: judgings in which a topic has no relevant document."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

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


@pytest.mark.vector("methods of the project, section 3: E0")
def test_rule_says_which_run_is_ahead(cli: Cli, two: tuple[str, ...]) -> None:
    """Given a relevant document A has .75 and B .6667; with 0 counted .375 and .5417."""
    left_out = cli("variation", *two, "--format", "json").fine()
    assert [row["mean"] for row in left_out.json()] == pytest.approx([3 / 4, 2 / 3])
    assert "in 1 of 2 topics it may be that nothing is relevant (most likely in 2: 75%)" in (
        left_out.err
    )
    assert "such judgings are left out (--empty given|zero)" in left_out.err
    assert "2: more likely than not nothing is relevant; better no topic at all" in left_out.err
    counted = cli("variation", *two, "--empty", "zero", "--format", "json").fine()
    assert [row["mean"] for row in counted.json()] == pytest.approx([3 / 8, 13 / 24])
    assert "such judgings count with an AP of 0" in counted.err
    for options, ahead in (((), "a"), (("--empty", "zero"), "b")):
        (pair,) = cli("variation", "--pairs", *two, *options, "--format", "json").fine().json()
        assert pair["a"] == ahead


def test_simulation_has_the_same_rule(cli: Cli, two: tuple[str, ...]) -> None:
    """Given a relevant document nothing varies here; with 0 counted AP of topic 2 does."""
    options = ("--monte-carlo", "4000", "--format", "json")
    rows = cli("variation", *two, *options).fine().json()
    assert [row["mc_mean"] for row in rows] == pytest.approx([3 / 4, 2 / 3])
    assert [row["mc_sd"] for row in rows] == pytest.approx([0, 0], abs=1e-12)
    rows = cli("variation", *two, *options, "--empty", "zero").fine().json()
    # The standard error of MAP of A is sqrt(3) / 8 / sqrt(4000) = .0034.
    assert [row["mc_mean"] for row in rows] == pytest.approx([3 / 8, 13 / 24], abs=0.015)


def test_next_has_the_same_rule(cli: Cli, two: tuple[str, ...]) -> None:
    """The one document that may be relevant in a topic is so wherever the topic counts."""
    options = ("--unjudged", "0", "--confidence", "0.99", "--format", "json")
    found = cli("next", *two, *options).fine()
    assert found.json() == []
    assert "in 1 of 2 topics it may be" in found.err
    rows = cli("next", *two, *options, "--empty", "zero").fine().json()
    assert [row["docno"] for row in rows] == ["c"]


def test_little_chances_are_not_told_of(cli: Cli, two: tuple[str, ...]) -> None:
    """P(R = 0) of .0009 is kept to itself, of .0011 not; of .3 without a warning."""
    for p, words in (("0.9991", ""), ("0.9989", "most likely in 2: 0.1%"), ("0.7", "in 2: 30%")):
        Path("p.txt").write_text(f"1 a 1\n2 c {p}\n")
        said = cli("variation", *two).fine().err
        assert words in said
        assert ("nothing is relevant" in said) == bool(words)
        assert "better no topic" not in said


def test_report_has_the_same_rule(cli: Cli, two: tuple[str, ...]) -> None:
    """Both topics have one document of .25, so that each is empty three times of four."""
    Path("one.qrels").write_text("1 0 a 1\n2 0 c 1\n")
    options = ("--qrels", "one.qrels", "--value", "0=0", "--value", "1=.25", "--depth", "1")
    cli("report", "page.html", *two[:2], *options).fine()
    page = Path("page.html").read_text()
    words = "In 2 of 2 topics it may be that nothing is relevant (most likely in 1: 75%); such"
    assert words in page
    assert "1, 2: more likely than not nothing is relevant" in page
