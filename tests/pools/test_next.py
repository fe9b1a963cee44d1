"""`pooler pool next`: what a judgement would settle, and the pool that judges follow."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from store.analysis.pools.stopping import least_sample
from tests.helpers.oracles import first_documents, read_qrels, runs_of
from tests.helpers.run import JUDGES, Cli
from tests.trust.outcomes import outcome_table
from tests.trust.test_variation import topics_of

ORDER = ("--order", "trec9")
PAIR = ("bm25-words", "rm3-words-title")
NEAR = ("bm25-words", "lm-words-full")
"""A pair that another judging may swap."""
SURE = ("--confidence", "0.9999")


def test_gain_is_the_variance_that_a_judgement_takes_away(cli: Cli, judged: Path) -> None:
    """By enumeration: variance of the difference, less what is left of it, on average."""
    options = ("--unjudged", "0", *SURE, *ORDER, "--format", "json")
    rows = cli("pool", "next", *NEAR, *options).fine().json()
    tags = sorted(runs_of(judged))
    pair = [tags.index(tag) for tag in NEAR]
    expected: dict[float, int] = {}
    whole = 0.0
    topics = topics_of(judged).values()
    for p, ranks in topics:
        table = outcome_table(ranks[pair])
        before = table.spread(p, 0, 1)
        whole += before / len(topics) ** 2
        for place in np.flatnonzero((p > 0) & (p < 1)):
            left = 0.0
            for value, weight in ((1.0, p[place]), (0.0, 1 - p[place])):
                known = p.copy()
                known[place] = value
                left += weight * table.spread(known, 0, 1)
            gain = (before - left) / len(topics) ** 2
            if gain > 1e-15:
                expected[gain] = expected.get(gain, 0) + 1
    gains = [row["gain"] for row in rows]
    assert gains == sorted(gains, reverse=True)
    assert gains == pytest.approx(
        [gain for gain in sorted(expected, reverse=True) for _ in range(expected[gain])]
    )
    assert [row["share"] for row in rows] == pytest.approx([gain / whole for gain in gains])
    assert rows[-1]["so_far"] == pytest.approx(sum(gains) / whole)
    assert rows[-1]["so_far"] <= 1 + 1e-9


def test_rows_name_documents_and_where_runs_have_them(cli: Cli, judged: Path) -> None:
    """Ranks are those of the run files; unjudged documents have the probability that is given."""
    rows = cli("pool", "next", *PAIR, *ORDER, "--unjudged", ".2", "--format", "json").fine().json()
    runs, qrels = runs_of(judged), read_qrels(judged / "judgements" / "strict.qrels")
    assert {row["judged"] for row in rows} == {True, False}
    for row in rows:
        for name, tag in zip("ab", PAIR, strict=True):
            listed = first_documents(runs[tag], row["topic"], 1000)
            place = listed.index(row["docno"]) + 1 if row["docno"] in listed else None
            assert row[f"rank_{name}"] == place
        assert row["judged"] == (row["docno"] in qrels[row["topic"]])
    assert {row["p"] for row in rows if not row["judged"]} == {0.2}


def test_pool_is_judged_in_this_order(cli: Cli, judged: Path) -> None:
    """A pool of the first documents; judges see each topic's the most telling first."""
    options = ("--limit", "12", "--format", "json")
    rows = cli("pool", "next", *options, "--name", "second").fine().json()
    assert len(rows) == 12
    again = cli("pool", "next", *options, "--name", "second").fine()
    assert "pool `second`: 12 documents of 6 topics, already there, unchanged" in again.err
    facts = cli("show", "pools", "second", "--format", "json").fine().out
    assert '"strategy"' in facts
    cli("judges", "add", "ann").fine()
    topic = rows[0]["topic"]
    expected = [row["docno"] for row in rows if row["topic"] == topic]
    listed = cli("export", "pool", "--name", "second").fine().out.splitlines()
    assert [line.split()[1] for line in listed if line.split()[0] == topic] == expected


def test_runs_are_taken_out_of_other_pools_beside_it(cli: Cli, judged: Path) -> None:
    """What was chosen by its gain hangs on every run: that pool keeps its documents, and it is said."""
    cli("pool", "next", "--limit", "5", "--name", "second").fine()
    said = cli("pool", "drop", "bm25-words", "--dry-run").fine().err
    assert "pool `second` keeps its documents: what `next` chose depends on every run" in said
    assert "would leave the pools" in said


def test_pool_after_another_is_given_out_alone(cli: Cli, judged: Path) -> None:
    """Judges see older pools first: that is said, and the command that is named leads past them."""
    rows = cli("pool", "next", "--limit", "12", "--format", "json").fine().json()
    said = cli("pool", "next", "--limit", "12", "--name", "second").fine().err
    command = "pooler assign JUDGE --pool second --order priority"
    assert f"`{command}` hands out only these" in said
    assert "once they are judged, `pooler pool next`" in said
    cli("judges", "add", "ann").fine()
    cli(*command.replace("JUDGE", "ann").split()[1:]).fine()
    topic = rows[0]["topic"]
    expected = [row["docno"] for row in rows if row["topic"] == topic]
    keys = "2\n" * (len(expected) - 1) + "q\n"
    shown = cli("judge", "--judge", "ann", "--plain", "--topic", topic, stdin=keys.encode()).fine().out
    places = [shown.index(f"Document {docno}") for docno in expected]
    assert places == sorted(places)


def test_what_is_settled_is_said(cli: Cli, judged: Path) -> None:
    """Two runs far apart are settled, and no document is asked for on their account."""
    far = cli("pool", "next", "bm25-stems-full", "rm3-words-title", "--unjudged", "0").fine()
    assert "the order of the two runs is settled at 0.95" in far.err
    assert far.out == ""
    assert "the order needs no further judgements" in far.err
    near = cli("pool", "next", *PAIR, "--unjudged", ".2").fine()
    assert "the order of the two runs is not settled at 0.95" in near.err
    assert "nothing needs judging" not in near.err
    many = cli("pool", "next", "--unjudged", "0").fine()
    n_settled = int(many.err.split(" of 36 pairs of runs are settled")[0].split()[-1])
    assert 0 < n_settled < 36


def test_files_have_the_same_documents(cli: Cli, judged: Path) -> None:
    """From run files and a file of probabilities; documents that no run has keep their names."""
    cli("variation", "--level", "1", "--table", "probabilities", "--format", "tsv", "--out", "p.txt").fine()
    with Path("p.txt").open("a", encoding="utf-8") as file:
        file.write("G01\tnobody-has-this\t0.5\n")
    runs = [f"runs/{tag}.run" for tag in NEAR]
    options = ("--unjudged", "0", *SURE, "--format", "json")
    rows = cli("pool", "next", *runs, "--probabilities", "p.txt", *options).fine().json()
    assert [row["best_rank"] for row in rows if row["docno"] == "nobody-has-this"] == [None]
    own = cli("pool", "next", *NEAR, *options).fine().json()
    assert [(row["topic"], row["docno"]) for row in rows if row["topic"] != "G01"] == [
        (row["topic"], row["docno"]) for row in own if row["topic"] != "G01"
    ]
    assert all(math.isclose(row["p"], round(row["p"] * 3) / 3, abs_tol=1e-6) for row in own)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bm25-words",), "there is one run, `bm25-words`: an order needs two"),
        (("--confidence", "0.5"), "`--confidence` must be a number > 0.5"),
        (
            ("runs/bm25-words.run", "runs/lm-words-full.run", "--qrels",
             "judgements/strict.qrels", "--name", "x"),
            "`--name` needs a collection",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(cli: Cli, judged: Path, arguments: tuple[str, ...], words: str) -> None:
    """In one line."""
    assert words in cli("pool", "next", *arguments).failed(1).err


def test_recall_without_a_sample_counts_one_of_what_nobody_judged(cli: Cli, judged: Path) -> None:
    """Drawn of all that the runs retrieved and no judge graded, topic by topic."""
    rows = cli("status", "recall", "--target", ".8", "--format", "json").fine().json()
    runs = runs_of(judged)
    qrels = [read_qrels(judged / "judgements" / f"{name}.qrels") for name in JUDGES]
    assert len(rows) == len(qrels[0])
    for row in rows:
        graded = {docno for one in qrels for docno in one[row["topic"]]}
        relevant = {docno for one in qrels for docno, grade in one[row["topic"]].items() if grade >= 1}
        listed = {docno for run in runs.values() for docno in first_documents(run, row["topic"], 1000)}
        assert (row["found"], row["reason"]) == (len(relevant), "no-sample")
        assert row["needed"] == least_sample(len(listed - graded), len(relevant), 0.8)
