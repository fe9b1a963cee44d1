"""`pooler diagnose --repool`: runs left out by `pooler pool` itself, without them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.cli.edited_qrels import STRICT, runs_of
from tests.cli.oracles import average_precision, first_documents, mean, read_qrels
from tests.helpers.run import Cli, read_run_list

Pairs = set[tuple[str, str]]
ORDER = ("--order", "trec9")


def pool_of(cli: Cli, rows: Iterable[dict[str, str]], *options: str) -> Pairs:
    """Pool the files of some runs, and return the pairs."""
    files = [row["file"] for row in rows if row["contributes"] == "yes"]
    lines = cli("pool", *files, *ORDER, *options, "--out", "-").fine().out.splitlines()
    return {(topic, docno) for topic, docno in map(str.split, lines)}


def with_pool(cli: Cli, *options: str) -> None:
    """Let the collection have one pool, made in this way."""
    cli("unpool", "--pool", "pool").fine()
    cli("pool", "--name", "other", *ORDER, *options).fine()


@pytest.mark.parametrize(
    "options",
    [
        ("--strategy", "take", "--depth", "20", "--budget", "7"),
        ("--strategy", "rrf", "--param", "k=10", "--depth", "15", "--budget", "6"),
        ("--strategy", "borda", "--depth", "10", "--budget", "5"),
        ("--depth", "6", "--budget", "4"),
    ],
)
def test_pool_of_fixed_size_is_made_again(cli: Cli, judged: Path, options: tuple[str, ...]) -> None:
    """What is gone without each run, what is lacking, and AP of the run without the former."""
    with_pool(cli, *options)
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
    listed = read_run_list(judged / "runs.tsv")
    whole = pool_of(cli, listed, *options)
    found = cli("diagnose", *STRICT, "--repool", "--by-run", "--format", "json").fine().dossier()
    known = {(topic, docno) for topic, grades in qrels.items() for docno in grades}
    assert (found["pool"], found["pool_judged"]) == (len(whole), len(whole & known))
    assert found["relevant_to_twice_the_depth"] is None
    depth = int(options[options.index("--depth") + 1])
    feeding = [row["run"] for row in found["runs"] if row["contributes"]]
    tops = {
        tag: {(topic, docno) for topic in runs[tag] for docno in first_documents(runs[tag], topic, depth)}
        for tag in feeding
    }
    for row in found["runs"]:
        tag = row["run"]
        if not row["contributes"]:
            assert (row["withdrawn"], row["lacking"]) == (None, None)
            continue
        others = set().union(*(tops[other] for other in feeding if other != tag))
        assert row["unique"] == len((whole & tops[tag]) - others), tag
        without = pool_of(cli, [one for one in listed if one["tag"] != tag], *options)
        gone = (whole - without) & known
        left = {
            topic: {docno: grade for docno, grade in grades.items() if (topic, docno) not in gone}
            for topic, grades in qrels.items()
        }
        assert row["withdrawn"] == len(gone), tag
        assert row["withdrawn_relevant"] == sum(qrels[topic][docno] > 0 for topic, docno in gone)
        assert row["lacking"] == len(without - whole - known)
        late = mean(average_precision(left, runs[tag]).values())
        assert row["ap_left_out"] == pytest.approx(late)


def test_groups_are_left_out_of_the_pool_whole(cli: Cli, judged: Path) -> None:
    """All runs of a group at once."""
    options = ("--strategy", "take", "--depth", "20", "--budget", "7")
    with_pool(cli, *options)
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    listed = read_run_list(judged / "runs.tsv")
    known = {(topic, docno) for topic, grades in qrels.items() for docno in grades}
    whole = pool_of(cli, listed, *options)
    found = cli("diagnose", *STRICT, "--repool", "--by-group", "--format", "json").fine().dossier()
    for group in {row["group"] for row in listed if row["contributes"] == "yes"}:
        without = pool_of(cli, [one for one in listed if one["group"] != group], *options)
        rows = [row for row in found["runs"] if row["group"] == group and row["contributes"]]
        assert {row["withdrawn"] for row in rows} == {len((whole - without) & known)}
    text = cli("diagnose", *STRICT, "--repool", "--by-group").fine().out
    assert "gone: judged documents" in text
    assert "nothing is estimated" in text


@pytest.mark.parametrize(
    ("options", "diagnose", "reason"),
    [
        (("--strategy", "comb-sum", "--depth", "9", "--budget", "5"), (), "looks at scores"),
        (("--strategy", "take", "--depth", "9", "--total-budget", "40"), (), "was shared among"),
        (("--strategy", "mtf", "--depth", "9", "--budget", "5"), (), "on judgements"),
        (("--strategy", "uniform", "--depth", "9", "--budget", "9", "--seed", "1"), (),
         "or on chance"),
        (("--strategy", "take", "--depth", "9", "--budget", "5"), ("--depth", "8"), "is 9, not 8"),
        (("--strategy", "take", "--depth", "9", "--budget", "5"), ("--order", "docno-asc"),
         "in order trec9"),
        (("--strategy", "take", "--depth", "9", "--budget", "5"), ("bm25-words",), "fed it and is"),
    ],
)  # fmt: skip
def test_pool_that_cannot_be_made_again_says_why(
    cli: Cli, judged: Path, options: tuple[str, ...], diagnose: tuple[str, ...], reason: str
) -> None:
    """Refused with the reason; without --repool there is a diagnosis, and a warning."""
    with_pool(cli, *options)
    refused = cli("diagnose", *STRICT, "--repool", *diagnose)
    assert refused.code == 1
    assert "made again" in refused.err
    assert reason in refused.err
    warned = cli("diagnose", *STRICT).fine().err
    assert "warning: pool `other` was made by" in warned
    assert "warning" not in cli("diagnose", *STRICT, "--depth", "5").fine().err


def test_pool_beside_others_is_not_made_again(cli: Cli, judged: Path) -> None:
    """Which of them was judged for what nobody knows."""
    cli("pool", "--name", "other", "--strategy", "take", "--depth", "9", "--budget", "5").fine()
    refused = cli("diagnose", *STRICT, "--repool")
    assert refused.code == 1
    assert "there are other pools too" in refused.err


def test_what_is_not_pooled_is_nobody_s_first_document(cli: Cli, here: Path) -> None:
    """Of a and c, one of each run: `b` and `d`, which the budget leaves out, make no document shared."""
    for tag, docnos in (("one", "ab"), ("two", "cd")):
        (here / tag).write_text("".join(f"1 Q0 {d} {r} {9 - r} {tag}\n" for r, d in enumerate(docnos)))
    (here / "q").write_text("1 0 a 1\n1 0 c 0\n")
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "one", "two").fine()
    cli("pool", "--name", "pool", "--strategy", "take", "--depth", "2", "--budget", "2").fine()
    cli("import", "judgements", "q", "--judge", "ann", "--allow-unknown").fine()
    found = cli("diagnose", "--repool", "--by-run", "--format", "json").fine().dossier()
    assert (found["pool"], [row["unique"] for row in found["runs"]]) == (2, [1, 1])
