"""`pooler required-difference`: tables 7 and 8 of Kishida (2001), rounded up as they are there."""

from __future__ import annotations

from pathlib import Path
from statistics import variance

import pytest
from scipy import stats

from tests.cli.edited_qrels import STRICT, runs_of, with_relevant
from tests.cli.oracles import Scores, average_precision, first_documents, mean, read_qrels
from tests.helpers.run import Cli
from tests.vectors.kishida_tables import N_TOPICS, TABLE_7, TABLE_8


def grids_of(text: str) -> list[dict[str, list[str]]]:
    """Return the cells of every grid, by the variance."""
    return [
        {line.split()[0]: line.split()[1:] for line in block.splitlines()[3:]}
        for block in text.strip().split("\n\n")
    ]


def test_table_7_is_printed_as_in_the_paper(cli: Cli) -> None:
    """All 80 cells."""
    shares = ",".join(TABLE_7)
    grids = grids_of(cli("required-difference", "--variation", shares).fine().out)
    expected = [{key: list(cells) for key, cells in table.items()} for table in TABLE_7.values()]
    assert grids == expected


def test_table_8_is_printed_as_in_the_paper(cli: Cli) -> None:
    """All 40 cells; Q and H go together."""
    drops = [key.split() for key in TABLE_8]
    q, h = (",".join(values) for values in zip(*drops, strict=True))
    grids = grids_of(cli("required-difference", "-Q", q, "-H", h).fine().out)
    expected = [{key: list(cells) for key, cells in table.items()} for table in TABLE_8.values()]
    assert grids == expected


def test_programs_get_every_digit(cli: Cli) -> None:
    """Without drops it is t times the standard error; a wanted power adds a second quantile."""
    for power in (0.5, 0.8):
        options = ("--variance", "0.03", "--power", str(power), "--format", "json")
        rows = cli("required-difference", *options).fine().json()
        assert [row["topics"] for row in rows] == list(N_TOPICS)
        for row in rows:
            law = stats.t(row["topics"] - 1)
            quantiles = law.ppf(0.975) + (law.ppf(power) if power > 0.5 else 0)
            error = (0.03 / row["topics"]) ** 0.5
            assert row["difference"] == pytest.approx(quantiles * error, rel=1e-10)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-K", "1"), "`--variation` must be at least 0 and below 1"),
        (("-Q", "1"), "`--drop` must be below 1"),
        (("-Q", ".1,.2", "-H", ".1,.2,.3"), "`--variance-drop` must be one number"),
        (("--variance", "-1"), "`--variance` must be at least 0"),
        (("--topics", "1"), "`--topics` must be integers >= 2"),
        (("--alpha", "0"), "`--alpha` must be above 0 and below 1"),
        (("--power", "0.3"), "`--power` must be at least 0.5 and below 1"),
    ],
)
def test_impossible_numbers_are_refused(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    """One line names the option and what it takes."""
    assert words in cli("required-difference", *arguments).failed(1).err


def test_runs_give_their_own_variance_topics_q_and_h(cli: Cli, judged: Path) -> None:
    """Eq. 23 and 24 from AP on qrels in which the lower run's sixth documents are relevant."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
    options = ("--all", "--depth", "5", "-K", "0.1", *STRICT, "--format", "json")
    rows = cli("required-difference", *options).fine().json()
    assert len(rows) == 9 * 8 // 2
    quantile = stats.t(len(qrels) - 1).ppf(0.975)
    for row in rows:
        sixth = {topic: first_documents(runs[row["b"]], topic, 6)[5] for topic in qrels}
        added = {topic: [docno] for topic, docno in sixth.items() if docno not in qrels[topic]}
        (old, s2), (new, s2_new) = (
            moments(judgements, runs[row["a"]], runs[row["b"]])
            for judgements in (qrels, with_relevant(qrels, added))
        )
        assert old >= 0
        needed = quantile * (s2 * 0.9 / len(qrels)) ** 0.5
        assert (row["difference"], row["variance"]) == pytest.approx((old, s2))
        assert (row["topics"], row["k"]) == (len(qrels), 0.1)
        assert row["needed"] == pytest.approx(needed)
        assert row["enough"] == (old >= needed)
        if new <= 0:
            assert row["reason"] == "order-turns"
            assert (row["needed_if_found"], row["enough_if_found"]) == (None, False)
            assert (row["q"], row["turns"]) == (None, True)
            continue
        assert (row["turns"], row["h_of"]) == (False, "judging included")
        assert (row["q"], row["h"]) == pytest.approx((1 - new / old, 1 - s2_new / s2))
        if_found = needed * (s2_new / s2) ** 0.5 * old / new
        if if_found > 1:  # no difference of two MAPs is
            assert row["reason"] == "above-one"
            assert (row["needed_if_found"], row["enough_if_found"]) == (None, False)
            continue
        assert row["needed_if_found"] == pytest.approx(if_found)
        assert row["enough_if_found"] == (old >= if_found)


def test_tables_say_of_which_variance_h_is(cli: Cli) -> None:
    """With K = 0 of the whole, as s2 is; with K of what judging leaves; from Q = 1 on of none."""
    options = ("-Q", "0.1", "-H", "0.1", "--topics", "50", "--variance", "0.03")
    for share, which in (("0", "with judging"), ("0.1", "without judging")):
        text = cli("required-difference", *options, "-K", share).fine().out
        assert f"K={share}, Q=0.1, H=0.1, of the variance {which}" in text
    rows = cli("required-difference", *options, "-K", "0,0.1", "--format", "json").fine().json()
    assert [row["h_of"] for row in rows] == ["judging included", "judging removed"]
    assert "the order turns" in cli("required-difference", "-Q", "1.2").failed(1).err


def moments(qrels: dict[str, dict[str, int]], first: Scores, second: Scores) -> tuple[float, float]:
    """Return mean and variance of the differences of AP of two runs."""
    scores = [average_precision(qrels, run) for run in (first, second)]
    differences = [scores[0][topic] - scores[1][topic] for topic in qrels]
    return mean(differences), variance(differences)


def test_depth_is_the_pools_and_people_are_told_what_is_enough(cli: Cli, judged: Path) -> None:
    """The sample's pool has one depth, which need not be named; two runs give one row."""
    pair = ("bm25-words", "rm3-words-title")
    text = cli("required-difference", *pair, *STRICT).fine().out
    assert text == cli("required-difference", *pair, *STRICT, "--depth", "5").fine().out
    assert "of 1 pair; even with B's documents relevant: " in text
    assert "unjudged documents at rank 6 were relevant" in " ".join(text.split())


def test_judges_give_k(cli: Cli, judged: Path) -> None:
    """The share that `variation --by pair` has for the pair is left out of its variance."""
    options = ("--all", "--qrels", "strict", "--format", "json")
    shares = {
        frozenset((row["a"], row["b"])): row["k"]
        for row in cli("variation", "--by", "pair", "--format", "json").fine().json()
    }
    plain = cli("required-difference", *options).fine().json()
    for row, whole in zip(cli("required-difference", "-K", "judges", *options).fine().json(),
                          plain, strict=True):  # fmt: skip
        assert row["k"] == pytest.approx(shares[frozenset((row["a"], row["b"]))])
        assert row["needed"] == pytest.approx(whole["needed"] * (1 - row["k"]) ** 0.5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--depth", "3"), "`--depth` is for runs: name two, or --all, but got '3'"),
        (("--scenario", "own"), "`--scenario` is for runs"),
        (("--all", "--topics", "5"), "`--topics` cannot be given with runs"),
        (("--all", "-H", ".1"), "`--variance-drop` cannot be given with runs"),
        (("--all", "-K", ".1,.2"), "`--variation` must be one number with runs"),
        (("bm25-words", "--qrels", "strict"), "there is one run, `bm25-words`: a pair needs two"),
    ],
)
def test_tables_and_runs_are_two_things(
    cli: Cli, judged: Path, arguments: tuple[str, ...], words: str
) -> None:
    """Options of the one way are refused with the other."""
    assert words in cli("required-difference", *arguments).failed(1).err


def test_a_row_of_two_runs_fits_80_columns(cli: Cli, judged: Path) -> None:
    """K is one number for all pairs, so that people read it below, and only where it is not 0."""
    files = ("runs/bm25-words.run", "runs/rm3-bigrams.run", "--qrels", "judgements/strict.qrels")
    options = ("required-difference", *files, "--depth", "5")
    plain = cli(*options).fine().out
    assert max(map(len, plain.splitlines())) <= 80
    assert "share K" not in plain
    told = " ".join(cli(*options, "-K", "0.1", "--power", "0.8").fine().out.split())
    assert "with the share K = 0.1 of the variance left out" in told
    assert "finds significant at 0.05 with a probability of 0.8 (eq. 23)" in told
