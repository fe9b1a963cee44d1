"""`pooler export probabilities`: several judges' grades as probabilities of relevance."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.run import JUDGES, Cli, by_rule, read_lines, read_trec

VALUES = ("--value", "0=0", "--value", "1=0.8", "--value", "2=1")


@pytest.mark.vector("Kishida 2001, table 4")
def test_two_judges_give_the_papers_table(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Six pairs of grades are 1, .9, .5, .8, .4 and 0; one judge alone gives the grade's value."""
    pairs = {"a": (2, 2), "b": (2, 1), "c": (0, 2), "d": (1, 1), "e": (1, 0), "f": (0, 0)}
    collection_of(
        me=[f"1 0 {docno} {one}" for docno, (one, _) in pairs.items()] + ["2 0 a 1"],
        you=[f"1 0 {docno} {two}" for docno, (_, two) in pairs.items()],
    )
    answer = cli("export", "probabilities", *VALUES).fine()
    assert answer.out.splitlines() == [
        "1 a 1", "1 b 0.9", "1 c 0.5", "1 d 0.8", "1 e 0.4", "1 f 0", "2 a 0.8",
    ]  # fmt: skip
    assert "7 documents, mean value of grades, 2 judges, 1 to 2 a document" in answer.err


def test_share_of_judges_is_a_plain_share(cli: Cli, judged: Path) -> None:
    """At a level, p is the number of judges there over the number of judges."""
    votes: dict[tuple[str, ...], list[bool]] = {}
    for judge in JUDGES:
        for topic, docno, grade in read_trec(judged / "judgements" / f"{judge}.qrels", (0, 2, 3)):
            votes.setdefault((topic, docno), []).append(int(grade) >= 2)
    cli("export", "probabilities", "--level", "rigid", "--out", "p.txt").fine()
    lines = [line.split() for line in read_lines(judged / "p.txt")]
    assert [tuple(line[:2]) for line in lines] == sorted(votes)
    for topic, docno, p in lines:
        assert float(p) == pytest.approx(sum(votes[topic, docno]) / 3)
    manifest = json.loads((judged / "p.txt.manifest.json").read_text("utf-8"))
    assert (manifest["level"], manifest["values"], manifest["documents"]) == (2, None, 84)
    assert manifest["by_number_of_judges"] == {"3": 84}
    assert manifest["sha256"] == hashlib.sha256((judged / "p.txt").read_bytes()).hexdigest()


def test_some_judges_and_no_adjudicator(cli: Cli, judged: Path) -> None:
    """A definition chooses judges, and an adjudicator's ruling changes no probability."""
    options = ("export", "probabilities", "--level", "1", "--judge", "strict", "--judge", "lenient")
    before = by_rule(cli, *options, "--manifest", "m.json").fine().out
    manifest = json.loads((judged / "m.json").read_text("utf-8"))
    assert manifest["judges_left_out"] == ["middle"]
    assert {line.split()[2] for line in before.splitlines()} == {"0", "0.5", "1"}
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    cli("adjudicate", "--judge", "zoe", "--plain", stdin=b"\n2\n2\nq\n").fine()
    assert by_rule(cli, *options).fine().out == before
    assert "`--judge` must be judges" in by_rule(cli, "export", "probabilities", *VALUES, "--judge", "zoe"
                                          ).failed(1).err  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "error: `--value` must be given for every grade, or a level instead\nhint: as in"),
        ((*VALUES, "--level", "1"), "`--value` cannot be combined with a level: either of the two says"),
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
    """Either every grade has a value, or a level says who counts."""
    assert said in by_rule(cli, "export", "probabilities", *options).failed(1).err
