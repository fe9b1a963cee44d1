"""`pooler report runs`: a page a run, whose numbers are other programs', and no other run's name."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pooler
from tests.helpers.run import Cli, write

OF_FILES = ("--qrels", "judgements/strict.qrels", "--depth", "5")
OUTCOMES = ("relevant", "not_relevant", "unjudged", "skipped", "cannot_be_judged", "undecided", "not_pooled")


def cells(page: Path) -> Iterator[list[str]]:
    """Yield the rows of the tables of a page, which is well-formed XML."""
    root = ElementTree.fromstring(page.read_text("utf-8").partition("\n")[2])
    for body in root.iter("tbody"):
        yield from (["".join(cell.itertext()) for cell in row] for row in body)


def is_named(word: str, page: Path) -> bool:
    """Return whether a word stands anywhere in the bytes of a page, be it in a command or an attribute."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", page.read_text("utf-8")) is not None


@pytest.mark.parametrize("n_runs", [9, 8])
def test_scores_are_those_of_pytrec_eval(cli: Cli, garden: Path, n_runs: int) -> None:
    """Of every run, topic and measure, beside best, upper median and worst; on the page as in the table."""
    import pytrec_eval
    from scipy import stats

    files = sorted(garden.glob("runs/*.run"))[:n_runs]
    measures = {"AP": "map", "nDCG@10": "ndcg_cut_10"}
    options = ("-m", "AP", "-m", "nDCG@10", "--order", "trec9", *OF_FILES)
    done = cli("report", "runs", "pages", *files, *options, "--format", "json").fine().json()
    with Path("judgements/strict.qrels").open(encoding="utf-8") as lines:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(lines), set(measures.values()))
    found = {}
    for file in files:
        with file.open(encoding="utf-8") as lines:
            found[file.stem] = evaluator.evaluate(pytrec_eval.parse_run(lines))
    assert len(done["topics"]) == n_runs * 8 * 2
    for row in done["topics"]:
        name = measures[row["measure"]]
        scores = sorted(of_run[row["topic"]][name] for of_run in found.values())
        expected = (found[row["run"]][row["topic"]][name], scores[-1], scores[n_runs // 2], scores[0])
        assert [row[one] for one in ("score", "best", "median", "worst")] == pytest.approx(
            expected, abs=1e-12
        )
        shown = [row["topic"], *(f"{value:.4f}" for value in expected)]
        assert shown in [one[:5] for one in cells(garden / "pages" / f"{row['run']}.html")]
    for row in done["summary"]:
        means = {tag: np.mean([one["map"] for one in of_run.values()]) for tag, of_run in found.items()}
        assert row["AP"] == pytest.approx(means[row["run"]], abs=1e-12)
        assert row["AP_place"] == 1 + sum(one > means[row["run"]] + 1e-9 for one in means.values())
        values = [one["map"] for one in found[row["run"]].values()]
        ends = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert (row["AP_low"], row["AP_high"]) == pytest.approx(ends, abs=1e-12)
    header, *lines = (garden / "pages-summary.tsv").read_text("utf-8").splitlines()
    assert header.split("\t")[:3] == ["run", "page", "AP"]
    assert [float(line.split("\t")[2]) for line in lines] == [row["AP"] for row in done["summary"]]


def of_ranks(*by_run: Sequence[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make runs a, b, ... that have the only relevant document of each topic at these ranks; 0 = nowhere."""
    filler = [f"n{number}" for number in range(4)]
    runs: dict[str, Any] = {}
    for tag, ranks in zip("abcd", by_run, strict=False):
        runs[tag] = {}
        for topic, rank in enumerate(ranks):
            listed = [*filler[: rank - 1], "r", *filler[rank - 1 :]] if rank else filler
            runs[tag][str(topic)] = {docno: -float(place) for place, docno in enumerate(listed)}
    return runs, {str(topic): {"r": 1, "n0": 0} for topic in range(len(by_run[0]))}


def test_median_is_the_upper_one_of_an_even_number() -> None:
    """Reciprocal ranks 1, 1/2, 1/4 and 0 by hand; of three runs it is the one in the middle."""
    for ranks, median in (((1, 2, 4, 0), 0.5), ((1, 2, 0), 0.5), ((1, 0), 1.0), ((2,), 0.5)):
        found = pooler.report_runs(of_ranks(*([rank] for rank in ranks)), measures="RR")
        assert set(found.table("topics").cells("median")) == {median}, ranks


def test_place_and_its_interval_are_those_of_the_binomial_law() -> None:
    """Of topics drawn again, `b` is ahead where it wins more than half: of 1 in 5 often, of 1 in 10 never."""
    from scipy import stats

    for n, ends in ((5, (1, 2)), (10, (1, 1))):
        ahead = stats.binom.sf(n // 2, n, 1 / n)
        assert (ahead > 0.025) == (ends == (1, 2))
        ranks = [1] * (n - 1) + [2], [2] * (n - 1) + [1], [1] * (n - 1) + [2]
        summary = pooler.report_runs(of_ranks(*ranks), measures="RR").table("summary").to_records()
        assert [row["RR_place"] for row in summary] == [1, 3, 1]  # equal runs share the better place
        assert (summary[0]["RR_place_low"], summary[0]["RR_place_high"]) == ends


def made(cli: Cli, folder: Path) -> None:
    """Make two runs of seven documents, the last in both, and the list that says they fed the pool."""
    for tag in ("mine", "theirs"):
        docnos = [f"{tag[0]}{number}" for number in range(1, 7)] + ["shared"]
        write(folder / f"{tag}.run", *[f"1 Q0 {docno} 1 {-at} {tag}" for at, docno in enumerate(docnos)])
    write(folder / "runs.tsv", "file\tcontributes", "mine.run\tyes", "theirs.run\tyes")


def test_what_judging_found_keeps_its_states_apart(cli: Cli, here: Path) -> None:
    """A document a state, of files by codes, of a collection by what judges did; others' are not named."""
    made(cli, here)
    write(here / "ann", "1 0 m1 1", "1 0 m2 0", "1 0 m3 -1", "1 0 m4 -3", "1 0 m5 -2", "1 0 shared 1")
    write(here / "ben", "1 0 m1 0", "1 0 m2 0", "1 0 m6 1", "1 0 shared 1")
    codes = ("--code", "-2=cannot", "--code", "-3=skipped", "--code", "-1=unjudged")
    of_files = ("--qrels", "./ann", "--runs", "runs.tsv", "--depth", "7", *codes)
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "7").fine()
    for judge, more in (("ann", codes), ("ben", ())):
        cli("import", "judgements", judge, "--judge", judge, *more).fine()
    for options, counts in ((of_files, (1, 1, 1, 1, 1, 0, 1)), ((), (1, 1, 1, 1, 1, 1, 0))):
        done = cli("report", "runs", "pages", *options, "--format", "json").fine().json()
        mine, theirs = done["summary"]
        assert tuple(mine[f"unique_{name}"] for name in OUTCOMES) == counts, options
        assert (mine["unique"], theirs["unique"]) == (6, 6)
        brought = [row for row in done["brought_alone"] if row["run"] == "mine"]
        assert [(row["docno"], row["rank"]) for row in brought] == [(f"m{n}", n) for n in range(1, 7)]
        for row in brought:
            shown = [row["topic"], row["docno"], str(row["rank"]), row["outcome"]]
            assert shown in [one[:4] for one in cells(here / "pages/mine.html")]
        assert not any(is_named(f"t{number}", here / "pages/mine.html") for number in range(1, 7))


@pytest.mark.parametrize(
    "options",
    [
        ("--runs", "runs.tsv", *OF_FILES),
        ("runs/bm25-words.run", "runs/lm-words-full.run", "runs/rm3-bigrams.run", *OF_FILES),
        ("--qrels", "strict"),
        ("bm25-words", "lm-words-full", "rm3-bigrams", "--qrels", "strict", "--depth", "5"),
    ],
)
def test_no_other_run_is_named_unless_asked(cli: Cli, judged: Path, options: tuple[str, ...]) -> None:
    """Neither its tag nor its file stands anywhere on a page, which is for all to read."""
    done = cli("report", "runs", "pages", *options, "--format", "json").fine().json()
    tags = [row["run"] for row in done["summary"]]
    for tag in tags:
        page = judged / "pages" / f"{tag}.html"
        assert is_named(tag, page)
        assert [one for one in tags if one != tag and is_named(one, page)] == []
        assert page.stat().st_mode & 0o044 == 0o044
        assert ("No person votes here: strict is a model." in page.read_text("utf-8")) == (
            "strict" in options
        )
    cli("report", "runs", "pages", "--names", "--for", tags[0], *options).fine()
    assert any(is_named(one, judged / "pages" / f"{tags[0]}.html") for one in tags[1:])


def test_flips_and_what_runs_brought_are_those_of_other_commands(cli: Cli, judged: Path) -> None:
    """MAP with documents at rank 6 relevant is that of `sensitivity`; unique ones are those of `diagnose`."""
    options = ("--qrels", "strict", "--depth", "5", "--format", "json")
    summary = {row["run"]: row for row in cli("report", "runs", "p", *options).fine().json()["summary"]}
    for row in cli("sensitivity", *options).fine().json():
        page = (judged / "p" / f"{row['run']}.html").read_text("utf-8")
        told = re.search(
            r"unjudged document on (\d) topics?\.(?: .*? would be ([.\d]+) instead of ([.\d]+),)?", page
        )
        assert told is not None
        assert int(told[1]) == row["unjudged"]
        if row["unjudged"]:
            assert told.groups()[1:] == (f"{row['map_after']:.4f}", f"{row['map_before']:.4f}")
    for row in cli("diagnose", *options, "--by", "run").fine().json()["runs"]:
        of_run = summary[row["run"]]
        assert (row["unique"], row["unique_relevant"]) == (of_run["unique"], of_run["unique_relevant"])


def head_of(page: Path) -> str:
    """Return the words above the contents of a page."""
    text = page.read_text("utf-8")
    return html.unescape(re.sub("<[^>]+>", "", text[text.index("<h1>") : text.index("<nav")]))


def test_a_page_says_what_it_is_of(cli: Cli, here: Path) -> None:
    """Collection, qrels, judgements, ties and pool; and the command on it, typed by who has files alone."""
    for tag, docnos in (("mine", "abc"), ("late", "cba")):
        write(here / f"{tag}.run", *[f"{topic} Q0 {one} 1 1 {tag}" for topic in "12" for one in docnos])
    write(here / "runs.tsv", "file\tcontributes", "mine.run\tyes", "late.run\tno")
    write(here / "ann", "1 0 a 2", "1 0 b 1", "2 0 a 1", "2 0 b 2")
    cli("init", "--scale", "0-2", "--name", "harvest").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "2", "--order", "docno-asc").fine()
    cli("import", "judgements", "ann", "--judge", "ann").fine()
    cli("import", "topics", write(here / "topics.tsv", "1\tlate frost", "2\tseed")).fine()
    options = ("--level", "2", "--order", "trec9", "--format", "json")
    (row, _) = cli("report", "runs", "pages", *options).fine().json()["summary"]
    mine, late = head_of(here / "pages/mine.html"), head_of(here / "pages/late.html")
    assert mine.startswith("Run mine in harvest")
    for words in (
        "Collection: harvest. Qrels: official@1, 4 judgements; relevant = grade 2 or more.",
        "scores have 32 bits, as in trec_eval 9.0.4 (--order trec9).",
        "Depth of the pool: 2, of 1 run, equal scores by docno, ascending.",
        "and place 1 (95%).",
        "brought to the pool: 4.",
    ):
        assert words in mine, words
    assert "brought to the pool: not counted. This run fed no pool." in late
    assert "its place would be 1." in late
    assert ["1 late frost", "0.3333"] in [one[:2] for one in cells(here / "pages/mine.html")]
    cli("export", "qrels", "--out", "some.qrels").fine()
    [command] = re.findall("pooler (evaluate RUN-FILE .*? QRELS-FILE[^.]*)", mine)
    typed = shlex.split(command.replace("RUN-FILE", "mine.run").replace("QRELS-FILE", "some.qrels"))
    Path("collection.db").rename("away.db")
    scores = {one["topic"]: one["value"] for one in cli(*typed, "--format", "json").fine().json()}
    assert scores == pytest.approx({"1": 1 / 3, "2": 1 / 2, "all": 5 / 12})
    assert row["AP(rel=2)"] == pytest.approx(5 / 12)


def test_names_of_files_are_safe(cli: Cli, here: Path) -> None:
    """Whatever a tag holds, its page is a file of the folder, and none is written over another's."""
    tags = ["A", "a", "../up", "語"]
    for number, tag in enumerate(tags):
        write(here / f"{number}.run", f"1 Q0 d{number} 1 1 {tag}")
    write(here / "q.qrels", "1 0 d0 1")
    cli("report", "runs", "pages", *(f"{number}.run" for number in range(4)), "--qrels", "q.qrels").fine()
    expected = {"A.html", "a-2.html", "up.html", "run.html"}
    assert {path.name for path in (here / "pages").iterdir()} == expected


def test_what_cannot_be_is_refused(cli: Cli, garden: Path) -> None:
    """A run that is none, a measure without a mean, and whatever else is there; nothing is written then."""
    words = ("report", "runs", "pages", "--runs", "runs.tsv", *OF_FILES)
    assert "unknown run" in cli(*words, "--for", "bm25-word").failed(1).err
    assert "mean over topics" in cli(*words, "-m", "NumRet").failed(1).err
    assert "runs.tsv" in cli("report", "runs", "runs.tsv", *words[3:]).failed(1).err
    assert not (garden / "pages").exists()
    (garden / "pages").mkdir()
    for name in ("pages-summary.tsv", "pages/bm25-words.html"):
        (garden / name).write_text("mine\n", "utf-8")
        cli(*words).failed(1)
        assert [path.read_text("utf-8") for path in (*garden.glob("pages-*"), *garden.glob("pages/*"))] == [
            "mine\n"
        ]
        (garden / name).unlink()
