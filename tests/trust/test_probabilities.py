"""`pooler variation --table probabilities`: several judges' grades as probabilities of relevance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.run import JUDGES, Cli, read_trec, write, write_run

VALUES = ("--value", "0=0", "--value", "1=0.8", "--value", "2=1")
TABLE = ("--table", "probabilities", "--format", "tsv")


def table(cli: Cli, *options: str) -> list[tuple[str, str, float]]:
    """Return topic, docno and probability of each row."""
    rows = cli("variation", *options, *TABLE).fine().tsv()
    return [(row["topic"], row["docno"], float(row["p"])) for row in rows]


@pytest.mark.vector("Kishida 2001, table 4")
def test_two_judges_give_the_papers_table(cli: Cli, collection_of: Callable[..., None], here: Path) -> None:
    """Six pairs of grades are 1, .9, .5, .8, .4 and 0; one judge alone gives the grade's value."""
    pairs = {"a": (2, 2), "b": (2, 1), "c": (0, 2), "d": (1, 1), "e": (1, 0), "f": (0, 0)}
    collection_of(
        me=[f"1 0 {docno} {one}" for docno, (one, _) in pairs.items()] + ["2 0 a 1"],
        you=[f"1 0 {docno} {two}" for docno, (_, two) in pairs.items()],
    )
    cli("import", "runs", write_run(here, "r", {"1": "ab"})).fine()
    assert table(cli, *VALUES) == [
        ("1", "a", 1), ("1", "b", 0.9), ("1", "c", 0.5), ("1", "d", 0.8), ("1", "e", 0.4), ("1", "f", 0),
        ("2", "a", 0.8),
    ]  # fmt: skip


def test_share_of_judges_is_a_plain_share(cli: Cli, judged: Path) -> None:
    """At a level, p is the number of judges there over the number of judges."""
    votes: dict[tuple[str, ...], list[bool]] = {}
    for judge in JUDGES:
        for topic, docno, grade in read_trec(judged / "judgements" / f"{judge}.qrels", (0, 2, 3)):
            votes.setdefault((topic, docno), []).append(int(grade) >= 2)
    found = table(cli, "--level", "rigid")
    assert [row[:2] for row in found] == sorted(votes)
    assert [p for *_, p in found] == [sum(votes[pair]) / 3 for pair in sorted(votes)]


def test_some_judges_and_no_adjudicator(cli: Cli, judged: Path) -> None:
    """A definition chooses judges, and an adjudicator's ruling changes no probability."""
    cli("qrels", "define", "two", "--judge", "strict", "--judge", "lenient").fine()
    options = ("--level", "1", "--qrels", "two")
    before = table(cli, *options)
    assert {p for *_, p in before} == {0, 0.5, 1}
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    cli("adjudicate", "--judge", "zoe", "--plain", stdin=b"\n2\n2\nq\n").fine()
    assert table(cli, *options) == before
    assert "`--judge` must be judges" in cli("qrels", "define", "ruled", "--judge", "zoe").failed(1).err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (VALUES[:4], "must be given for every grade of the scale; 2 is missing"),
        ((*VALUES, "--value", "1=1"), "`--value` must name each grade once"),
        (("--value", "3=1"), "`--value` must be GRADE=P with a grade of [0, 1, 2]"),
        (("--value", "1"), "`--value` must be GRADE=P"),
        (("--value", "1=1.5"), "`--value` must have a probability from 0 to 1"),
        (("--value", "1=nan"), "`--value` must have a probability from 0 to 1"),
        (("--level", "3"), "`--level` must be above 0 and at most 2"),
    ],
)
def test_what_gives_no_probability_is_refused(
    cli: Cli, judged: Path, options: tuple[str, ...], said: str
) -> None:
    """Every grade has a value, or a level says who counts."""
    assert said in cli("variation", *options).failed(1).err


def test_the_table_is_read_and_written_again(cli: Cli, judged: Path) -> None:
    """A file of it loses nothing by being read, and there is a header in it."""
    for number, options in enumerate((("--level", "1"), VALUES)):
        file = f"p{number}.tsv"
        cli("variation", *options, *TABLE, "--out", file).fine()
        assert len((judged / file).read_text("utf-8").splitlines()) == 85
        assert sorted(table(cli, "--probabilities", file)) == sorted(table(cli, *options))


def test_the_table_of_several_kinds_is_read_too(
    cli: Cli, collection_of: Callable[..., None], here: Path
) -> None:
    """Where people and imported judges were asked for there is a column on them, of two words a cell."""
    collection_of(me=["1 0 a 1", "1 0 b 0"])
    write(here / "you.qrels", "1 0 a 0", "1 0 b 1")
    cli("import", "judgements", "you.qrels", "--judge", "you", "--kind", "human").fine()
    cli("import", "runs", write_run(here, "r", {"1": "ab"})).fine()
    cli("qrels", "define", "all", "--aggregate", "max", "--kinds", "human,imported").fine()
    cli("variation", "--qrels", "all", *TABLE, "--out", "p.tsv").fine()
    assert (here / "p.tsv").read_text("utf-8").splitlines()[0] == "topic\tdocno\tp\tkinds"
    assert table(cli, "--probabilities", "p.tsv") == [("1", "a", 0.5), ("1", "b", 0.5)]
    write(here / "bare.tsv", "1 a 0.5 people")
    assert "expected 3 fields" in cli("variation", "--probabilities", "bare.tsv").failed(1).err
    told = " ".join(cli("variation", "--qrels", "me").fine().out.split())
    assert "MAP as judged is by the grades of me alone; all else is by those of all judges" in told
