"""`pooler sensitivity` by pair, with documents missing, and document by document."""

from __future__ import annotations

from pathlib import Path
from statistics import variance

import pytest
from scipy.stats import ttest_rel

from store.text import percent, rough
from tests.cli.edited_qrels import STRICT, runs_of, with_relevant
from tests.cli.oracles import average_precision, first_documents, mean, read_qrels
from tests.helpers.run import Cli


def ap_rows(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> list[float]:
    """Return AP by topic, in the order of the qrels."""
    found = average_precision(qrels, run)
    return [found[topic] for topic in qrels]


def test_no_option_alone_is_called_the_experiment_of_the_paper(cli: Cli) -> None:
    """Manual and help say that section 4.3 is another command's."""
    shown = " ".join(cli("sensitivity", "--help").fine().out.split())
    assert "that is `pooler paper A B --table section_4_3`" in shown
    page = Path(__file__).parents[2] / "docs" / "how-to" / "missed.md"
    manual = " ".join(page.read_text("utf-8").split())
    assert "the paper's own experiment, within its model of judging errors, is `paper A B`" in manual
    for text in (shown, manual):
        assert "is the paper's section 4.3)" not in text
        assert "(the paper's section 4.3)" not in text


@pytest.mark.parametrize("scenario", ["shared", "own"])
def test_pairs_are_tested_before_and_after(cli: Cli, judged: Path, scenario: str) -> None:
    """Differences, t2 and p are scipy's on edited qrels; own is like section 4.3."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
    options = ("--depth", "5", "--by", "pair", "--scenario", scenario, *STRICT, "--format", "json")
    rows = cli("sensitivity", *options).fine().json()
    assert len(rows) == 9 * 8 // 2
    added = {}
    for tag, run in runs.items():
        sixth = {topic: first_documents(run, topic, 6)[5] for topic in qrels}
        added[tag] = {t: [docno] for t, docno in sixth.items() if docno not in qrels[t]}
    for row in rows:
        pair = row["a"], row["b"]
        old = [ap_rows(qrels, runs[tag]) for tag in pair]
        assert mean(old[0]) >= mean(old[1])
        peer = ttest_rel(*old)
        assert row["difference"] == pytest.approx(mean(old[0]) - mean(old[1]), abs=1e-12)
        assert (row["t2"], row["p"]) == (pytest.approx(peer.statistic), pytest.approx(peer.pvalue))
        for side, flipped in zip("ab", pair, strict=True):
            edited = with_relevant(qrels, added[flipped])
            new = []
            for tag, before in zip(pair, old, strict=True):
                if scenario == "shared" or tag == flipped:
                    new.append(ap_rows(edited, runs[tag]))
                    continue
                counts = [sum(grade > 0 for grade in qrels[topic].values()) for topic in qrels]
                new.append([
                    ap * n / (n + 1) if topic in added[flipped] else ap
                    for topic, n, ap in zip(qrels, counts, before, strict=True)
                ])  # fmt: skip
            difference = mean(new[0]) - mean(new[1])
            peer = ttest_rel(*new)
            assert row[f"difference_{side}"] == pytest.approx(difference, abs=1e-12)
            assert row[f"t2_{side}"] == pytest.approx(peer.statistic)
            assert row[f"p_{side}"] == pytest.approx(peer.pvalue)
            assert row[f"sign_{side}"] == ("swapped" if difference < 0 else "kept")
            assert row[f"drop_{side}"] == pytest.approx(1 - difference / row["difference"])
            s2, s2_after = (variance([a - b for a, b in zip(*scores, strict=True)]) for scores in (old, new))
            assert row[f"variance_drop_{side}"] == pytest.approx(1 - s2_after / s2)


def test_reports_of_what_is_not_there(cli: Cli, here: Path) -> None:
    """Without a relevant document there is no number but a reason, in every report."""
    (here / "z.qrels").write_text("1 0 d1 0\n")
    (here / "a.run").write_text("1 Q0 d1 1 2 a\n1 Q0 d2 2 1 a\n")
    (here / "b.run").write_text("1 Q0 d9 1 2 b\n1 Q0 d2 2 1 b\n")
    files = ("--qrels", "z.qrels", "a.run", "b.run")
    for options, name, reason in (
        (("--depth", "1"), "map_after", "no-relevant"),
        (("--depth", "1", "--by", "pair"), "difference_b", "no-topics"),
    ):
        rows = cli("sensitivity", *files, *options, "--format", "json").fine().json()
        assert {(row[name], row["reason"]) for row in rows} == {(None, reason)}
        assert cli("sensitivity", *files, *options).fine().out


@pytest.mark.parametrize(
    "options",
    [
        ("--depth", "5"),
        ("--depth", "5", "--flips", "3"),
        ("--depth", "5", "--by-topic"),
        ("--depth", "5", "--by", "pair"),
        ("--depth", "5", "--by", "pair", "--scenario", "own", "--r", "own"),
    ],
)
def test_every_report_fits_80_columns(cli: Cli, judged: Path, options: tuple[str, ...]) -> None:
    """With tags of about ten characters no line is longer, be it a row or words."""
    files = ("runs/bm25-words.run", "runs/rm3-bigrams.run")
    shown = cli("sensitivity", "--qrels", "judgements/strict.qrels", *files, *options).fine().out
    assert max(map(len, shown.splitlines())) <= 80


def test_words_below_the_runs_draw_the_conclusion(cli: Cli, judged: Path) -> None:
    """How far MAP moves and at most how many pairs swap is said, for whose documents, of how many.

    What the columns count is said too, and how R is counted.
    """
    options = ("sensitivity", "--depth", "5", *STRICT)
    rows = cli(*options, "--format", "json").fine().json()
    words = " ".join(cli(*options).fine().out.split())
    changes = sorted((row["change"], row["run"]) for row in rows)
    (least, low), (most, high) = changes[0], changes[-1]
    assert f"MAP changes by {rough(least)} ({low}) to {rough(most)} ({high})." in words
    worst = max(rows, key=lambda row: row["swapped"])
    n_none = sum(row["swapped"] == 0 for row in rows)
    assert worst["swapped"] > 1
    share = percent(worst["swapped"], 36)
    assert (
        f"Of 36 pairs of runs, at most {worst['swapped']} ({share}) are swapped"
        f" by one run's documents ({worst['run']}); those of {n_none} runs swap none."
    ) in words
    assert "unjudged: topics where the run's document at that rank is unjudged." in words
    assert "(scenario shared). R: relevant documents of the topic." in words
    alone = cli(*options, "bm25-words").fine().out
    assert "MAP changes by" in alone
    assert "pairs of runs, at most" not in alone


def test_words_below_pairs_count_both_ways(cli: Cli, judged: Path) -> None:
    """Pairs that come to be significant, and those that cease to be, are two numbers."""
    options = ("sensitivity", "--depth", "5", "--flips", "5", "--by", "pair", *STRICT)
    rows = cli(*options, "--format", "json").fine().json()
    words = " ".join(cli(*options).fine().out.split())
    n = {
        (side, was): sum((row["p"] <= 0.05) == was and (row[f"p_{side}"] <= 0.05) != was for row in rows)
        for side in "ab"
        for was in (False, True)
    }
    assert sum(n.values())
    assert (
        f"Significant at 0.05 as judged: {sum(row['p'] <= 0.05 for row in rows)}; with A's"
        f" documents {n['a', False]} become so and {n['a', True]} cease to be, with B's"
        f" {n['b', False]} become so and {n['b', True]} cease to be."
    ) in words
    swaps = [sum(row[f"sign_{side}"] == "swapped" for row in rows) for side in "ab"]
    assert f"Of 36 pairs, {swaps[0]} swap with A's documents, {swaps[1]} with B's." in words


def test_pairs_without_a_test_are_counted_in_words(cli: Cli, here: Path) -> None:
    """Two runs that are the same have no t2: the reason is below the table, which stays narrow."""
    (here / "z.qrels").write_text("1 0 d1 1\n2 0 d1 1\n")
    for tag in ("aaaaaaaaaa", "bbbbbbbbbb"):
        lines = [f"{topic} Q0 {docno} 1 {4 - n} {tag}" for topic in "12"
                 for n, docno in enumerate(("d1", "d2", "d3"))]  # fmt: skip
        (here / f"{tag}.run").write_text("\n".join(lines) + "\n")
    files = ("--qrels", "z.qrels", "aaaaaaaaaa.run", "bbbbbbbbbb.run")
    shown = cli("sensitivity", "--depth", "1", "--by", "pair", *files).fine().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "-: undefined in 1 pair (the same difference in every topic)." in shown


def test_pairs_nearest_to_a_swap_are_shown_first(cli: Cli, judged: Path) -> None:
    """--limit keeps the least differences after, in that order; what is counted stays all pairs."""
    after = ("difference_a", "difference_b")
    asked = ("sensitivity", "--depth", "5", "--by", "pair", *STRICT)
    every = cli(*asked, "--format", "json").fine().json()
    few = cli(*asked, "--limit", "4", "--format", "json").fine().json()
    least = sorted(min(row[name] for name in after) for row in every)
    assert [min(row[name] for name in after) for row in few] == least[:4]
    assert all(row in every for row in few)
    words = cli(*asked, "--limit", "4").fine().out
    assert "Shown: 4 of 36 pairs, those furthest past a swap" in words
    assert words.count("36 pairs") == 2
