"""`pooler diff`: two files without a collection, and what the difference does to runs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.helpers.run import Cli, write
from tests.trec_covid import data_path


@pytest.fixture
def files(here: Path) -> Path:
    """Write two qrels and two runs of one topic, and a topic that one of the qrels has alone."""
    write(here / "a", "1 0 x 1", "1 0 y 0", "1 0 u -1", "1 0 v -1", "001 0 x 1", "1 0 w 2")
    write(here / "b", "1 0 x 0", "1 0 y 1", "1 0 u 0", "1 0 n 2", "001 1 x 1", "1 0 w -1")
    write(here / "p.run", "1 Q0 x 1 3 p", "1 Q0 y 2 2 p", "001 Q0 x 1 1 p")
    write(here / "q.run", "1 Q0 y 1 3 q", "1 Q0 x 2 2 q", "001 Q0 x 1 1 q")
    return here


def test_what_became_of_each_document_is_counted(cli: Cli, files: Path) -> None:
    """Added, removed, changed, judged and unjudged since: by hand from the lines above."""
    found = cli("qrels", "diff", "./a", "./b", "--format", "json").fine().json()
    counts = {row["what"]: row["documents"] for row in found["summary"]}
    assert counts == {
        "same": 1, "added": 1, "removed": 0, "changed": 2, "now judged": 1, "now unjudged": 1,
        "listed unjudged": 0, "unlisted unjudged": 1, "recoded unjudged": 0,
        "became relevant": 1, "ceased to be relevant": 1, "same but for the iteration": 1,
    }  # fmt: skip
    assert {(row["before"], row["after"]): row["documents"] for row in found["pairs"]} == {
        (1, 0): 1, (0, 1): 1, (-1, 0): 1, (-1, None): 1, (1, 1): 1, (2, -1): 1, (None, 2): 1
    }  # fmt: skip
    assert [(row["docno"], row["what"]) for row in found["differences"]] == [
        ("n", "added"),
        ("u", "now judged"),
        ("v", "unlisted unjudged"),
        ("w", "now unjudged"),
        ("x", "changed"),
        ("y", "changed"),
    ]
    assert [row["topic"] for row in found["topics"]] == ["1"]
    table = cli("qrels", "diff", "./a", "./b").fine().out
    assert "not listed" in table
    assert "recoded" not in table


def test_effect_on_runs_is_a_hand_calculation(cli: Cli, files: Path) -> None:
    """Two relevant of w, x with R = 2, then y, n: the runs change places, MAP by hand.

    Under A topic 1 has x and w relevant: p has 1/1 of 2, so AP 1/2; q 1/2 of 2, 1/4. Topic 001: 1.
    Under B topic 1 has y and n: p 1/4, q 1/2.
    """
    found = cli("qrels", "diff", "./a", "./b", "p.run", "q.run", "--format", "json").fine().json()
    told = {row["run"]: (row["map_before"], row["map_after"]) for row in found["runs"]}
    assert told == {"p": (0.75, 0.625), "q": (0.625, 0.75)}
    [order] = found["order"]
    assert (order["tau_b"], order["tau_ap"], order["swapped"]) == (-1, -1, 1)
    assert [row["place_before"] for row in found["runs"]] == [1, 2]
    evaluated = (
        cli("evaluate", "--qrels", "./b", "p.run", "--table", "measures", "--format", "json").fine().json()
    )
    assert evaluated[0]["value"] == told["p"][1]


def test_level_and_negative_grades_are_choices(cli: Cli, files: Path) -> None:
    """At level 2 nobody finds w, alone relevant under A; negative grades leave nothing unjudged."""
    found = cli("qrels", "diff", "./a", "./b", "p.run", "q.run", "--level", "2", "--format", "json").fine()
    assert {row["map_before"] for row in found.json()["runs"]} == {0}
    found = cli("qrels", "diff", "./a", "./b", "--code", "-1=grade", "--format", "json").fine()
    counts = {row["what"]: row["documents"] for row in found.json()["summary"]}
    assert (counts["changed"], counts["removed"], counts["now judged"]) == (4, 1, 0)


def test_grades_made_binary_first_are_compared_at_the_level(cli: Cli, here: Path) -> None:
    """The lower of two grades, relevant or not, beside the higher and beside a file: by hand."""
    cli("init", "--scale", "0-2").fine()
    for judge, z in (("ann", 1), ("bob", 0)):
        write(here / judge, "1 0 x 2", "1 0 y 1", f"1 0 z {z}")
        cli("import", "judgements", judge, "--judge", judge, "--kind", "human").fine()
    cli("qrels", "define", "low", "--aggregate", "min", "--binary-first").fine()
    cli("qrels", "define", "high", "--aggregate", "max").fine()
    write(here / "file", "1 0 x 2", "1 0 y 0", "1 0 z -1")
    for other, level, became, differ in (
        ("high", "1", 1, [("z", 0, 1)]),
        ("high", "2", 0, []),
        ("./file", "1", 0, [("y", 1, 0), ("z", 0, -1)]),
    ):
        found = cli("qrels", "diff", "low", other, "--level", level, "--format", "json").fine()
        assert [(row["docno"], row["before"], row["after"]) for row in found.json()["differences"]] == differ
        assert {"what": "became relevant", "documents": became} in found.json()["summary"]
        assert f"both are compared as relevant (1) or not (0) at level {level}" in found.err


def test_undefined_order_has_a_reason(cli: Cli, files: Path) -> None:
    """Nothing relevant at level 3, and one run alone, are dashes with a reason."""
    found = cli("qrels", "diff", "./a", "./b", "p.run", "q.run", "--level", "3", "--format", "json").fine()
    [order] = found.json()["order"]
    assert (order["tau_b"], order["swapped"], order["reason"]) == (None, None, "no-relevant")
    assert {row["reason"] for row in found.json()["runs"]} == {"no-relevant"}
    [order] = cli("qrels", "diff", "./a", "./b", "p.run", "--format", "json").fine().json()["order"]
    assert (order["tau_ap"], order["swapped"], order["reason"]) == (None, None, "fewer-than-two")


def test_same_file_differs_in_nothing(cli: Cli, files: Path) -> None:
    """No difference is said as such."""
    found = cli("qrels", "diff", "./a", "./a", "p.run", "q.run", "--format", "json").fine().json()
    assert found["summary"][0] == {"what": "same", "documents": 6}
    assert found["order"][0]["tau_b"] == 1
    assert "changed" in cli("qrels", "diff", "./a", "./a").fine().out


def test_bad_files_are_refused_with_their_line(cli: Cli, files: Path) -> None:
    """A file with a fault is not compared."""
    write(files / "bad", "1 0 x 1", "1 0 x")
    assert "bad:2: expected 4 fields" in cli("qrels", "diff", "./a", "./bad").failed(1).err


def test_real_qrels_against_a_plain_walk(cli: Cli, here: Path) -> None:
    """TREC-COVID's round 1 against itself with every tenth grade flipped, counted by hand here."""
    text = gzip.decompress(data_path("qrels-rnd1.txt.gz").read_bytes()).decode()
    rows = [line.split() for line in text.splitlines()]
    other = [[*row[:3], "2" if row[3] == "0" else "0"] if place % 10 == 0 else row
             for place, row in enumerate(rows)]  # fmt: skip
    write(here / "a", *(" ".join(row) for row in rows))
    write(here / "b", *(" ".join(row) for row in other))
    found = cli("qrels", "diff", "./a", "./b", "--format", "json").fine().json()
    counts = {row["what"]: row["documents"] for row in found["summary"]}
    assert counts["changed"] == sum(x[3] != y[3] for x, y in zip(rows, other, strict=True))
    assert counts["same"] + counts["changed"] == len(rows)
