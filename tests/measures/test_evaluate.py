"""`pooler evaluate`: the numbers of other programs, from a collection, from files, without another round."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from scipy.stats import ttest_1samp

import pooler as p
from tests.helpers.oracles import average_precision, mean, measured_ap, read_qrels, read_run
from tests.helpers.run import GARDEN, Cli, read_lines, read_run_list, write
from tests.helpers.trec_covid import data_path


def means(cli: Cli, *words: str | Path) -> list[dict[str, Any]]:
    """Return a row a run and measure."""
    found = cli("evaluate", *words, "--table", "measures", "--format", "json").fine()
    rows: list[dict[str, Any]] = found.json()
    return rows


def run_files(folder: Path) -> list[Path]:
    """Return the runs of the sample collection by tag, beneath the working folder."""
    return sorted(path.relative_to(folder) for path in (folder / "runs").iterdir())


@pytest.mark.parametrize("level", [1, 2])
def test_ap_equals_trec_eval_on_the_exported_qrels(cli: Cli, judged: Path, level: int) -> None:
    """Both evaluators read the exported qrels and give the AP of every run and topic."""
    cli("export", "qrels", "strict", "--out", "strict.txt").fine()
    options = ("--qrels", "strict", "--level", str(level), "--by-topic", "--order", "trec9")
    rows = cli("evaluate", *options, "--format", "json").fine().json()
    values = {(row["run"], row["topic"]): row["value"] for row in rows}
    assert len(values) == 9 * 9
    qrels = read_qrels(judged / "strict.txt")
    for path in run_files(judged):
        expected = average_precision(qrels, read_run(path), level=level)
        measured = measured_ap(judged / "strict.txt", path, level=level)
        for topic in qrels:
            value = values[path.stem, topic]
            if topic not in expected:
                assert value is None
                continue
            assert value == pytest.approx(expected[topic], abs=1e-12)
            assert value == pytest.approx(measured[topic], abs=1e-12)
        assert values[path.stem, "all"] == pytest.approx(mean(expected.values()), abs=1e-12)


def test_binary_export_gives_the_ap_of_its_level(cli: Cli, judged: Path) -> None:
    """Qrels exported at the rigid level give, as they are, the AP of `--level rigid`."""
    cli("export", "qrels", "middle", "--level", "rigid", "--out", "rigid.txt").fine()
    assert {line.split()[3] for line in read_lines(judged / "rigid.txt")} == {"0", "1"}
    for row in means(cli, "--qrels", "middle", "--level", "rigid", "--order", "trec9"):
        run = read_run(judged / "runs" / f"{row['run']}.run")
        expected = average_precision(read_qrels(judged / "rigid.txt"), run)
        assert row["value"] == pytest.approx(mean(expected.values()), abs=1e-12)
        assert row["topics"] == len(expected)


@pytest.mark.parametrize("order", ["trec", "trec9", "docno-asc", "rank", "file"])
def test_bare_files_give_what_the_collection_gives(cli: Cli, judged: Path, order: str) -> None:
    """`--qrels FILE RUN...` prints, to the last digit, what the collection with them prints."""
    options = ("--by-topic", "--cutoff", "20", "--order", order, "--format", "json")
    stored = cli("evaluate", *options, "--qrels", "strict").fine()
    files = cli("evaluate", *options, "--qrels", "judgements/strict.qrels", *run_files(judged))
    assert files.fine().json() == stored.json()


def test_cutoff_looks_at_the_first_documents_only(cli: Cli, judged: Path) -> None:
    """AP at a cutoff is that of runs cut there, and R still counts every relevant document."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    for row in means(cli, "--qrels", "strict", "--cutoff", "5", "--order", "trec9"):
        run = read_run(judged / "runs" / f"{row['run']}.run")
        cut = {
            topic: dict(sorted(sorted(scores.items(), reverse=True), key=lambda one: -one[1])[:5])
            for topic, scores in run.items()
        }
        expected = mean(average_precision(qrels, cut).values())
        assert row["value"] == pytest.approx(expected, abs=1e-12)


def test_runs_may_be_named(cli: Cli, judged: Path) -> None:
    """Only the named runs are measured; the mean of one does not depend on the others."""
    everything = cli("evaluate", "--qrels", "strict", "--format", "tsv").fine().tsv()
    some = cli("evaluate", "rm3-bigrams", "bm25-words", "--qrels", "strict", "--format", "tsv")
    names = ["bm25-words", "rm3-bigrams"]
    assert some.fine().tsv() == [row for row in everything if row["run"] in names]


def test_topic_without_relevant_documents_has_a_reason(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """A topic in which nothing is relevant has no AP and enters no mean."""
    collection_of(me=["1 0 a 1", "1 0 b 0", "2 0 a 0"])
    write(here / "x.run", "1 Q0 b 1 2 x", "1 Q0 a 2 1 x", "2 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    answer = cli("evaluate", "--by-topic", "--format", "json").fine()
    one, two, mean_row = answer.json()
    assert (one["value"], one["reason"]) == (0.5, None)
    assert (two["topic"], two["value"], two["reason"]) == ("2", None, "no-relevant")
    assert (mean_row["value"], mean_row["topics"]) == (0.5, 1)
    assert "1 of 2 judged topics have no relevant document, so no AP" in answer.err
    assert "no-relevant" in cli("evaluate", "--by-topic").fine().out


@pytest.mark.parametrize(
    ("qrels", "expected"),
    [
        # Without any relevant document there is no mean.
        (["1 0 a 0"], (None, "no-relevant", 0, 0)),
        # A run without a judged topic scores 0 there, as with trec_eval -c.
        (["1 0 a 1", "2 0 a 1", "3 0 a 1"], (1 / 3, None, 3, 2)),
    ],
    ids=["nothing relevant", "topics missing"],
)
def test_topics_of_a_mean(cli: Cli, here: Path, qrels: list[str], expected: tuple[Any, ...]) -> None:
    """Value, reason, topics, and topics that the run lacks; in TSV, too."""
    write(here / "q", *qrels)
    write(here / "x.run", "1 Q0 a 1 1 x")
    [row] = means(cli, "x.run", "--qrels", "./q")
    assert [row[name] for name in ("value", "reason", "topics", "missing")] == pytest.approx(expected)
    [cells] = cli("evaluate", "x.run", "--qrels", "./q", "--format", "tsv").fine().tsv()
    assert (cells["value"] == "", cells["reason"]) == (expected[0] is None, expected[1] or "")


STRICT = GARDEN / "judgements" / "strict.qrels"
BM25 = GARDEN / "runs" / "bm25-words.run"


def test_a_declared_scale_gives_files_their_readings(cli: Cli, judged: Path) -> None:
    """`--scale` lets rigid and relaxed mean of files what they mean of the collection."""
    for reading in ("rigid", "relaxed"):
        stored = means(cli, "bm25-words", "--qrels", "strict", "--level", reading)
        assert means(cli, BM25, "--qrels", STRICT, "--scale", "0-2", "--level", reading) == stored
    assert (
        "`--level` needs a declared scale to be rigid or relaxed, but got 'relaxed'"
        in cli("evaluate", BM25, "--qrels", STRICT, "--level", "relaxed").failed(1).err
    )


def test_a_declared_scale_says_what_negative_codes_are(cli: Cli, here: Path) -> None:
    """Negative values of the scale are grades; what is above 0 and not on it is a fault."""
    topic, _, docno, *_ = read_lines(BM25)[0].split()
    write(here / "q.qrels", f"{topic} 0 {docno} 1", f"{topic} 0 a -2", f"{topic} 0 b -1")
    assert "code" not in cli("evaluate", BM25, "--qrels", "q.qrels", "--scale", "-2-1").fine().err
    write(here / "q.qrels", f"{topic} 0 {docno} 3")
    off = cli("evaluate", BM25, "--qrels", "q.qrels", "--scale", "0-1").failed(1)
    assert "q.qrels:1: expected a grade of the scale (0, 1), got 3" in off.err


@pytest.mark.parametrize("command", [("evaluate",), ("sensitivity", "--depth", "2")])
def test_what_needs_a_collection_is_refused_for_files(cli: Cli, here: Path, command: tuple[str, ...]) -> None:
    """A name of qrels needs a collection; a file that is here is no name."""
    assert "there is no collection" in cli(*command, BM25, "--qrels", "official").failed(3).err
    (here / "official").write_bytes(STRICT.read_bytes())
    answer = cli(*command, BM25, "--qrels", "official").failed(1).err
    assert "error: `official` is the name of no qrels, and a file" in answer
    assert "hint: ./official is the file; pooler qrels define official makes it a name" in answer
    cli(*command, BM25, "--qrels", "./official").fine()
    missing = cli(*command, BM25).failed(1)
    assert "no qrels are named to measure it with" in missing.err
    assert "--qrels FILE" in missing.err
    assert "is for files" in cli(*command, "--scale", "0-2").failed(1).err
    assert "is for files" in cli(*command, "--runs", "runs.tsv").failed(1).err


def test_a_run_file_in_place_of_a_tag_is_told_from_an_unknown_tag(cli: Cli, judged: Path) -> None:
    """The hint names what files need, before anything else is asked for."""
    answer = cli("evaluate", "runs/bm25-words.run").failed(1)
    assert "runs/bm25-words.run is a file, not a run tag of the collection" in answer.err
    assert "run files need --qrels FILE" in answer.err
    assert "unknown run `none`" in cli("evaluate", "none", "--qrels", "strict").failed(1).err


@pytest.mark.parametrize("command", [("evaluate",), ("sensitivity", "--depth", "5")])
def test_a_list_of_runs_names_files(cli: Cli, garden: Path, command: tuple[str, ...]) -> None:
    """`--runs` names the same files as arguments do; one that does not contribute is measured."""
    names = [row["file"] for row in read_run_list(garden / "runs.tsv")]
    named = cli(*command, "--qrels", STRICT, *names, "--format", "tsv").fine()
    listed = cli(*command, "--qrels", STRICT, "--runs", "runs.tsv", "--format", "tsv").fine()
    assert listed.out == named.out
    assert "late-tfidf-bigrams" in listed.out


def test_measures_are_those_of_ir_measures(cli: Cli, judged: Path) -> None:
    """Every value of several measures equals what ir_measures computes from the same files."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    texts = ("AP", "AP(rel=2)", "P@5", "nDCG@10", "RR", "R@20", "Rprec", "Success@1")
    options = [word for text in texts for word in ("-m", text)]
    path = judged / "runs" / "rm3-bigrams.run"
    rows = cli("evaluate", "--qrels", STRICT, path, *options, "--by-topic", "--order", "trec9",
               "--format", "json").fine().json()  # fmt: skip
    qrels, run = list(ir_measures.read_trec_qrels(str(STRICT))), read_run(path)
    measures = {ir_measures.parse_measure(text): text for text in texts}
    expected = {
        (one.query_id, measures[one.measure]): one.value
        for one in ir_measures.iter_calc(list(measures), qrels, run)
    }
    found = {
        (row["topic"], row["measure"]): row["value"]
        for row in rows
        if row["topic"] != "all" and row["value"] is not None
    }
    # ir_measures gives 0 where no document is relevant; here that is a reason.
    assert len(found) >= 8 * len(texts)
    assert {key: expected[key] for key in found} == pytest.approx(found, abs=1e-6)


def test_people_see_a_column_a_measure(cli: Cli, here: Path) -> None:
    """Several measures are columns for people, and rows for programs; counts are whole."""
    options = ("--qrels", STRICT, BM25, "-m", "AP", "-m", "P@5", "-m", "NumRel")
    header, _, line = cli("evaluate", *options).fine().out.splitlines()
    assert header.split() == ["run", "AP", "P@5", "NumRel"]
    rows = means(cli, *options)
    assert [row["measure"] for row in rows] == ["AP", "P@5", "NumRel"]
    shown = line.split()
    assert shown == ["bm25-words", f"{rows[0]['value']:.4f}", f"{rows[1]['value']:.4f}", "32"]


def test_a_measure_deeper_than_the_cutoff_looks_deeper(cli: Cli, here: Path) -> None:
    """P@2000 looks at 2,000 documents and AP at 1,000 still; with --cutoff it is refused."""
    write(here / "q", "1 0 d1500 1", "1 0 d1 1")
    write(here / "x.run", *(f"1 Q0 d{n} {n} {3000 - n} x" for n in range(1, 2501)))
    rows = means(cli, "--qrels", "./q", "x.run", "-m", "P@2000", "-m", "AP")
    assert [row["value"] for row in rows] == [2 / 2000, 0.5]
    words = "must be at most the 1000 ranks that were looked at"
    options = ("--qrels", "./q", "x.run", "-m", "P@2000", "--cutoff", "1000")
    assert words in cli("evaluate", *options).failed(1).err


def test_measures_are_listed_and_unknown_ones_refused(cli: Cli, here: Path) -> None:
    """The list names all of them; a slip of the hand gets a suggestion before anything is read."""
    names = {row["measure"] for row in cli("show", "measures", "--format", "json").fine().json()}
    assert {"AP[@N]", "P@N", "nDCG[@N]", "IPrec@RECALL", "SetF[@N]"} <= names
    for command in ("evaluate", "compare"):
        slip = cli(command, "-m", "NDGC@10", "--qrels", "./q").failed(1).err
        assert "unknown measure `NDGC`" in slip
        assert "hint: pooler show measures" in slip
    refused = cli("evaluate", "-m", "SetF@0").failed(1).err
    assert "`--measure` SetF@0: cutoff must be an integer >= 1, but got '0'" in refused
    assert "P needs a cutoff, as in `P@10`" in cli("evaluate", "-m", "P").failed(1).err


def test_level_of_a_graded_file_is_told(cli: Cli, here: Path) -> None:
    """Grade 1 counts as relevant unless --level says otherwise; a binary file needs no word."""
    write(here / "x.run", "1 Q0 a 1 1 x")
    write(here / "binary", "1 0 a 1")
    write(here / "graded", "1 0 a 1", "1 0 b 2", "1 0 c 0")
    words = "relevant = grade 1 or more; another level with --level\n"
    for command in (("evaluate",), ("sensitivity", "--depth", "1")):
        assert cli(*command, "--qrels", "./graded", "x.run").fine().err == words
        assert not cli(*command, "--qrels", "./graded", "x.run", "--level", "1").fine().err
        assert not cli(*command, "--qrels", "./binary", "x.run").fine().err


def test_means_have_intervals_over_topics(cli: Cli, here: Path) -> None:
    """They are SciPy's one-sample t, for GMAP of the logarithms; columns are added at the end."""
    names = ("AP", "GMAP", "NumRel")
    options = ("--qrels", STRICT, BM25, *(word for name in names for word in ("-m", name)))
    found = cli("evaluate", *options, "--format", "json").fine().whole()
    by_topic = [row for row in found["topics"] if row["topic"] != "all"]
    ap, gmap, count = found["measures"]
    for row in (ap, gmap):
        values = [one["value"] for one in by_topic if one["measure"] == row["measure"]]
        interval = ttest_1samp(values, 0).confidence_interval(0.95)
        limits = np.exp(interval) if row is gmap else interval
        assert [row["low"], row["high"]] == pytest.approx([*limits], rel=1e-12)
    assert [*ap][-3:] == ["low", "high", "interval_reason"]
    assert [count[name] for name in [*ap][-3:]] == [None, None, "no-mean"]
    assert math.log(gmap["value"]) == pytest.approx(
        mean(one["value"] for one in by_topic if one["measure"] == "GMAP"), rel=1e-12
    )
    write(here / "q", "1 0 a 1")
    write(here / "x.run", "1 Q0 a 1 1 x")
    alone = cli("evaluate", "--qrels", "./q", "x.run").fine()
    assert "95 %" not in alone.out
    [row] = cli("evaluate", "--qrels", "./q", "x.run", "--format", "tsv").fine().tsv()
    assert (row["low"], row["interval_reason"]) == ("", "too-few-topics")


def test_curves_of_pipes_and_of_runs_called_otherwise(cli: Cli, here: Path) -> None:
    """Scores are read once more: standard input is kept, and a list may rename runs."""
    rows = cli("evaluate", "curves", "--qrels", STRICT, BM25, "--format", "json").fine().json()
    content = Path(BM25).read_bytes()
    piped = cli("evaluate", "curves", "--qrels", STRICT, "-", "--format", "json", stdin=content).fine()
    write(here / "l.tsv", "file\tname", f"{BM25}\tother")
    listed = cli("evaluate", "curves", "--qrels", STRICT, "--runs", "l.tsv", "--format", "json").fine()
    assert piped.json() == rows
    for name in ("precision_recall", "roc"):
        assert [{**row, "run": "bm25-words"} for row in listed.json()[name]] == rows[name]
        assert {row["run"] for row in listed.json()[name]} == {"other"}


OF_TREC_EVAL = {"map": "AP", "P_10": "P@10", "ndcg_cut_10": "nDCG@10", "bpref": "Bpref", "Rprec": "Rprec"}


def left_of(qrels: Path, before: Path, run: Path) -> dict[str, dict[str, float]]:
    """Return trec_eval's values by topic, of what is left of qrels and run."""
    seen = read_qrels(before)
    left, ranked = (
        {
            topic: {docno: value for docno, value in of.items() if docno not in seen.get(topic, {})}
            for topic, of in given.items()
        }
        for given in (read_qrels(qrels), read_run(run))
    )
    left = {topic: of for topic, of in left.items() if of}
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(left, {*OF_TREC_EVAL}).evaluate(
        ranked
    )
    return found


@pytest.mark.parametrize("tag", ["run1", "sab20.1.meta.docs", "udel_fang_run2"])
def test_round_1_without_what_was_judged_before(cli: Cli, here: Path, tag: str) -> None:
    """Of TREC-COVID, documents of iteration .5 were judged before round 1."""
    run = data_path(f"runs-full/{tag}.gz")
    lines = gzip.decompress(data_path("qrels-rnd1.txt.gz").read_bytes()).decode().splitlines(keepends=True)
    Path("all.qrels").write_text("".join(lines))
    Path("before.qrels").write_text("".join(line for line in lines if line.split()[1] == "0.5"))
    options = [word for name in OF_TREC_EVAL.values() for word in ("-m", name)]
    how = ("--order", "trec9", "--qrels", "all.qrels", "--without", "before.qrels", "--format", "json")
    got = cli("evaluate", run, *options, *how).fine()
    assert "without before.qrels: 2,627 of 8,691 judgements and" in got.err
    whole = got.whole()
    assert whole["settings"]["without"] == "before.qrels"
    values = {(row["topic"], row["measure"]): row["value"] for row in whole["topics"]}
    want = left_of(Path("all.qrels"), Path("before.qrels"), run)
    assert {topic for topic, _ in values} == {*want, "all"}
    for topic, of_topic in want.items():
        for theirs, ours in OF_TREC_EVAL.items():
            assert values[topic, ours] == pytest.approx(of_topic[theirs], abs=1e-12)


SIX = "".join(f"{topic} Q0 d{n} {n} {9 - n} r\n" for topic in "123" for n in range(1, 7))
ALL = "1 0 d2 1\n1 0 d4 2\n1 0 d5 0\n2 0 d1 1\n2 0 d3 0\n3 0 d6 1\n"


def test_ranks_close_up_and_topics_may_be_left_with_nothing(cli: Cli, here: Path) -> None:
    """By hand: of topic 1 d1 and d2 go, so d4 is at rank 2 of d3 d4 d5 d6; topic 2 loses both judgements."""
    Path("r.run").write_text(SIX)
    Path("all.qrels").write_text(ALL)
    Path("old.qrels").write_text("1 0 d2 1\n1 0 d1 0\n2 0 d1 2\n2 0 d3 0\n9 0 d6 1\n")
    words = ("evaluate", "r.run", "--qrels", "all.qrels", "-m", "RR", "-m", "P@2", "--without")
    got = cli(*words, "old.qrels", "--format", "json").fine()
    assert "without old.qrels: 3 of 6 judgements and 4 of 18 ranked documents left out" in got.err
    assert "1 topic not measured, as every judged document is in old.qrels: 2" in got.err
    whole = got.whole()
    assert whole["settings"]["topics_without_judgement"] == ["2"]
    values = {(row["topic"], row["measure"]): row["value"] for row in whole["topics"]}
    assert values == {
        ("1", "RR"): 1 / 2,
        ("1", "P@2"): 1 / 2,
        ("3", "RR"): 1 / 6,
        ("3", "P@2"): 0,
        ("all", "RR"): 1 / 3,
        ("all", "P@2"): 1 / 4,
    }
    # A threshold of 6 keeps d1 to d3 of every list, of which d3 alone is left in topic 1.
    cut = p.evaluate(("r.run", "all.qrels"), ["RR"], without=Path("old.qrels"), threshold=6)
    assert cut.mean.tolist() == [[0.0]]
    cut = p.evaluate(("r.run", "all.qrels"), ["RR"], without={"1": {"d2": 1, "d1": 0}}, threshold=5)
    assert cut.values.tolist() == [[[1 / 2, 1, 0]]]
    Path("far.qrels").write_text("1 0 x 1\n")
    assert "no document that is judged in far.qrels is in the runs" in cli(*words, "far.qrels").fine().err
    refused = cli(*words, "all.qrels").failed(1)
    assert "no judgement is left: every document of the qrels is judged in all.qrels" in refused.err
    assert "`--without` is not for xinfAP" in cli(*words, "old.qrels", "-m", "xinfAP").failed(1).err


def test_qrels_of_a_collection_by_name(cli: Cli, judged: Path) -> None:
    """A name gives what its exported file gives, and stands in the settings with its version."""
    cli("qrels", "define", "round", "--judge", "strict", "--without-topic", "G02").fine()
    cli("export", "qrels", "round", "--out", "round.qrels").fine()
    Path("one.run").write_bytes((judged / "runs" / "late-tfidf-bigrams.run").read_bytes())
    cli("export", "qrels", "middle", "--out", "middle.qrels").fine()
    how = ("--qrels", "middle", "-m", "AP", "--format", "json", "--without")
    got = cli("evaluate", "late-tfidf-bigrams", *how, "round").fine().whole()
    assert got["settings"]["without"] == "round@1"
    assert {row["topic"] for row in got["topics"]} == {"G02", "all"}
    how = ("--qrels", "middle.qrels", "-m", "AP", "--format", "json", "--without", "round.qrels")
    assert cli("evaluate", "one.run", *how).fine().whole()["topics"] == got["topics"]
