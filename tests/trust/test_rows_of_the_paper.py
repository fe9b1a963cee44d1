"""Smaller rows of the paper on the command line: eq. 1, eq. 6, where eq. 20 holds, table 3 as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
from tests.cli.oracles import first_documents, read_qrels, read_run
from tests.helpers.run import Cli


@pytest.mark.parametrize("cutoff", [5, 1])
def test_own_r_is_of_the_documents_retrieved(cli: Cli, judged: Path, cutoff: int) -> None:
    """Eq. 1 by a loop, on every topic of a run that is cut; a list without a relevant document has none."""
    qrels, run = (
        read_qrels(judged / "judgements" / "strict.qrels"),
        read_run(judged / "runs" / "bm25-words.run"),
    )
    rows = cli(
        "evaluate", "bm25-words", "--qrels", "strict", "-m", "OwnAP", "--cutoff", str(cutoff), "--by-topic",
        "--order", "trec9", "--format", "json",
    ).fine().json()  # fmt: skip
    values = {row["topic"]: row["value"] for row in rows if row["topic"] != "all"}
    assert {row["measure"] for row in rows} == {"OwnAP"}
    for topic, grades in qrels.items():
        flags = [grades.get(docno, 0) >= 1 for docno in first_documents(run, topic, cutoff)]
        precisions = [sum(flags[: place + 1]) / (place + 1) for place, flag in enumerate(flags) if flag]
        expected = pytest.approx(sum(precisions) / len(precisions), abs=1e-12) if precisions else None
        assert values[topic] == expected
    assert (None in values.values()) == (cutoff == 1)


def test_swap_by_equation_6() -> None:
    """The paper's example: 11000 to 10100 loses 1/6 of AP; with both uses on 11000 nothing."""
    (row,) = p.swap_of_ranks([1, 2], 2, 3).table("swap").to_records()
    assert (row["before"], row["after"], row["change"], row["as_printed"]) == pytest.approx(
        (1, 5 / 6, -1 / 6, 0), abs=1e-12
    )
    # 0101 to 1001: (1/2 + 2/4) / 2 becomes (1 + 2/4) / 2.
    found = p.swap_of_ranks([2, 4], 1, 2)
    assert (found.before, found.after) == pytest.approx((0.5, 0.75))
    with pytest.raises(p.ArgumentError, match="must name one relevant rank and one other"):
        p.swap_of_ranks([1, 2], 1, 2)


@pytest.mark.vector("the articles and the slides, printed")
def test_worked_examples_of_the_other_sources_follow_but_for_their_errata() -> None:
    """What does not follow is what the list of errata names."""
    found = p.paper_sources()
    wrong = {one.row for name in ("articles", "slides") for one in found.cells[name] if not one.same}
    assert wrong == {
        "E of a perfect set, P = R = 1", "DCG@5 of 4, 1, 4, 2, 1", "nDCG@5 of 4, 1, 4, 2, 1",
        "nDCG@5 of 1, 1, 2, 4, 4", "IDCG@5",
    }  # fmt: skip
    assert all(one.erratum for name in ("articles", "slides") for one in found.cells[name] if not one.same)
    assert [len(found.cells[name]) for name in ("articles", "slides")] == [13, 33]


def test_where_equation_20_holds(cli: Cli, judged: Path) -> None:
    """True where every relevant document of the topic is among the first five of the run."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    options = ("--depth", "5", "--qrels", "strict", "--by-topic", "--order", "trec9", "--format", "json")
    rows = cli("sensitivity", *options).fine().json()
    for row in rows:
        run = read_run(judged / "runs" / f"{row['run']}.run")
        sixth = first_documents(run, row["topic"], 6)[5:]
        wanted = {docno for docno, grade in qrels[row["topic"]].items() if grade >= 1}
        if not sixth or sixth[0] in qrels[row["topic"]] or not wanted:
            assert row["all_relevant_above"] is None
        else:
            assert row["all_relevant_above"] == (wanted <= set(first_documents(run, row["topic"], 5)))
    assert any(row["all_relevant_above"] is False for row in rows)
    # By hand: a topic whose one relevant document is first, and an unjudged one second.
    (judged / "a.run").write_text("1 Q0 x 1 2 a\n1 Q0 y 2 1 a\n", "utf-8")
    (judged / "q").write_text("1 0 x 1\n", "utf-8")
    (row,) = (
        cli("sensitivity", "a.run", "--qrels", "./q", "--depth", "1", "--by-topic", "--format", "json")
        .fine()
        .json()
    )
    assert row["all_relevant_above"] is True


@pytest.mark.vector("slides, CG: R1 to R5 are 4, 1, 4, 2, 1")
def test_gain_of_the_slides() -> None:
    """4 + 1 + 4 + 2 + 1; of the first three 9; a grade below 0 gains nothing."""
    grades = {"v": 4, "w": 1, "x": 4, "y": 2, "z": 1, "u": -2}
    run = {"a": {"1": {docno: -float(rank) for rank, docno in enumerate(grades)}}}
    source = p.source(run, qrels={"1": grades}, codes=["-2=grade"])
    assert p.evaluate(source, ["CG@5", "CG@3", "CG"]).mean.tolist() == [[12.0], [9.0], [12.0]]
