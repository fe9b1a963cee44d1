"""`pooler evaluate`: other programs' numbers from a collection and from files; the qrels that it is given."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pooler as p
from store.errors import PoolerError
from store.records import Run
from tests.helpers.oracles import average_precision, mean, measured_ap, read_qrels, read_run
from tests.helpers.run import GARDEN, Cli, qrels_of, read_lines, read_run_list, write
from tests.helpers.strategies import examples
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


def test_a_measure_deeper_than_the_cutoff_looks_deeper(cli: Cli, here: Path) -> None:
    """P@2000 looks at 2,000 documents and AP at 1,000 still; with --cutoff it is refused."""
    write(here / "q", "1 0 d1500 1", "1 0 d1 1")
    write(here / "x.run", *(f"1 Q0 d{n} {n} {3000 - n} x" for n in range(1, 2501)))
    rows = means(cli, "--qrels", "./q", "x.run", "-m", "P@2000", "-m", "AP")
    assert [row["value"] for row in rows] == [2 / 2000, 0.5]
    words = "must be at most the 1000 ranks that were looked at"
    options = ("--qrels", "./q", "x.run", "-m", "P@2000", "--cutoff", "1000")
    assert words in cli("evaluate", *options).failed(1).err


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
    from scipy.stats import ttest_1samp

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
    import pytrec_eval

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
    Path("ranked.qrels").write_text("1 0 d1 0\n")
    assert "no document" not in cli(*words, "ranked.qrels").fine().err
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


DOCNOS = [f"d{number}" for number in range(8)]
RUN = {docno: float(-place) for place, docno in enumerate(DOCNOS)}
OTHER = {docno: float(place) for place, docno in enumerate(DOCNOS)}
TREC_EVAL = {"infAP": "infAP", "Bpref": "bpref", "AP": "map", "nDCG": "ndcg", "P@3": "P_3"}


def oracle(qrels: dict[str, int], run: dict[str, float]) -> dict[str, float]:
    """Measure one topic; to ir_measures whatever is listed is judged, so -1 is not listed for it."""
    import ir_measures
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator({"1": qrels}, {"infAP", "bpref", "map", "ndcg", "P.3"})
    found = evaluator.evaluate({"1": run})["1"]
    judged, share = {docno: code for docno, code in qrels.items() if code != -1}, ir_measures.Judged @ 3
    values = {name: found[theirs] for name, theirs in TREC_EVAL.items()}
    return values | {"Judged@3": ir_measures.calc_aggregate([share], {"1": judged}, {"1": run})[share]}


codes = st.dictionaries(st.sampled_from([*DOCNOS, "m1", "m2"]), st.integers(-3, 3), min_size=1).filter(
    lambda one: max(one.values()) > 0 and not one.keys().isdisjoint(DOCNOS[:5])
)
"""Some of the five documents that every run has are named: else the ids of the two do not meet."""


@given(codes, st.booleans())
@settings(max_examples=examples(40))
def test_codes_of_every_kind_are_measured_as_the_peers_do(qrels: dict[str, int], short: bool) -> None:
    """From memory, -1 told or not."""
    run = dict(list(RUN.items())[: 5 if short else 8])
    expected = oracle(qrels, run)
    for told in ((), ("-1=unjudged", "-2=grade", "-3=grade")):
        source = p.source({"a": {"1": run}}, qrels={"1": qrels}, codes=told)
        found = p.evaluate(source, list(expected))
        assert found.mean[:, 0].tolist() == pytest.approx(list(expected.values()), abs=1e-9)


@given(codes)
def test_nothing_is_flipped_that_is_judged(qrels: dict[str, int]) -> None:
    """With the codes told, the first unjudged document is the first that has no code but -1."""
    runs = {"a": {"1": RUN}, "b": {"1": OTHER}}
    source = p.source(runs, qrels={"1": qrels}, codes=["-2=grade", "-3=grade"])
    table = p.sensitivity(source, depth=1, at="first").table("topics")
    for tag, docno in zip(table.cells("run"), table.cells("docno"), strict=True):
        ranked = DOCNOS if tag == "a" else DOCNOS[::-1]
        assert docno == [one for one in ranked[1:] if qrels.get(one, -1) == -1][:1]
    if min(qrels.values()) < -1:
        with pytest.raises(PoolerError, match="what does the code -"):
            p.sensitivity(p.source(runs, qrels={"1": qrels}), depth=1)


CODED = {"d0": 0, "d1": -1, "d3": 1, "d4": 1, "d5": -2, "d6": 0, "m1": -3}


@pytest.fixture
def files(here: Path) -> tuple[str, ...]:
    """Qrels with codes of every kind, and two runs."""
    write(here / "q", *[f"1 0 {docno} {code}" for docno, code in CODED.items()])
    for tag, run in (("a", RUN), ("b", OTHER)):
        write(here / f"{tag}.run", *[f"1 Q0 {docno} 1 {score} {tag}" for docno, score in run.items()])
    return ("a.run", "b.run", "--qrels", "./q")


def test_files_are_read_as_memory_and_codes_are_told_in_a_line_each(
    cli: Cli, files: tuple[str, ...], here: Path
) -> None:
    """One line on -1, one warning that names the option for the rest."""
    asked = [word for name in oracle(CODED, RUN) for word in ("--measure", name)]
    for scale in ((), ("--scale", "0-1")):
        found = cli("evaluate", *files, *asked, *scale, "--table", "measures", "--format", "json").fine()
        values = {(row["run"], row["measure"]): row["value"] for row in found.json()}
        for tag, run in (("a", RUN), ("b", OTHER)):
            expected = oracle(CODED, run)
            assert [values[tag, name] for name in expected] == pytest.approx(list(expected.values()))
        assert found.err.splitlines() == [
            "./q: 1 pooled document without a grade (code -1)",
            "warning: ./q: 2 documents with codes -3, -2 counted as judged and not relevant;"
            " --code -3=grade|unjudged|not-pooled|skipped|cannot says what it means",
        ]
    assert p.read_qrels("q").to_dict() == {"1": CODED}
    quiet = cli("evaluate", *files, "--code", "-2=grade", "--code", "-3=grade").fine()
    assert "warning" not in quiet.err
    assert "`--code` is for files" in cli("evaluate", "--code", "-2=grade").failed(1).err
    sample = ("evaluate", "-m", "statAP", "--prels", "q", "--code", "-2=grade")
    assert "`--code` is for files" in cli(*sample).failed(1).err


@pytest.mark.parametrize(
    "command",
    ["sensitivity --depth 1", "diagnose --depth 1", "replay", "pool next", "report made.html --depth 1"],
)
def test_whatever_tells_unjudged_documents_asks_first(cli: Cli, files: tuple[str, ...], command: str) -> None:
    """A code of which nobody said that it is a judgement is refused, with the line to type."""
    refused = cli(*command.split(), *files).failed(1)
    assert "error: ./q: what does the code -3 mean?" in refused.err
    assert "--code -3=unjudged" in refused.err
    told = cli(*command.split(), *files, "--code", "-3=not-pooled", "--code", "-2=grade")
    assert "what does the code" not in told.err


def test_diff_asks_what_codes_below_minus_1_mean(cli: Cli, files: tuple[str, ...], here: Path) -> None:
    """From -2, junk, to 0 a grade changed; where it is unjudged, the document is judged since."""
    write(here / "r", *[f"1 0 {docno} {max(code, 0)}" for docno, code in CODED.items() if docno != "m1"])
    assert "./q: what does the code -3 mean?" in cli("qrels", "diff", "./q", "./r").failed(1).err
    for told, expected in (("grade", (1, 1)), ("unjudged", (0, 2))):
        options = ("--code", f"-2={told}", "--code", "-3=not-pooled", "--format", "json")
        counts = {
            row["what"]: row["documents"]
            for row in cli("qrels", "diff", "./q", "./r", *options).fine().json()["summary"]
        }
        assert (counts["changed"], counts["now judged"], counts["removed"]) == (*expected, 0)


@pytest.mark.parametrize("judges", [("ann",), ("ann", "ben")])
def test_a_collection_knows_what_was_pooled_and_not_judged(
    cli: Cli, here: Path, collection_of: Callable[..., None], judges: tuple[str, ...]
) -> None:
    """What a pool has and nobody graded is -1 to infAP; what no pool has is not; it is counted in a line."""
    graded = {"d0": 0, "d3": 1, "d4": 1}
    lines = [f"1 0 {docno} {grade}" for docno, grade in graded.items()]
    collection_of("0-1", **dict.fromkeys(judges, lines))
    write(here / "a.run", *[f"1 Q0 {docno} 1 {score} a" for docno, score in RUN.items()])
    cli("import", "runs", "a.run").fine()
    cli("pool", "--depth", "4").fine()
    found: Any = cli("evaluate", "-m", "infAP", "-m", "AP", "--table", "measures", "--format", "json").fine()
    expected = oracle({**graded, "d1": -1, "d2": -1}, RUN)
    assert [row["value"] for row in found.json()] == pytest.approx([expected["infAP"], expected["AP"]])
    assert expected["infAP"] != pytest.approx(oracle(graded, RUN)["infAP"])
    for said in (found, cli("sensitivity").fine()):
        assert "2 pooled documents without a grade" in said.err


TWO = tuple(str(GARDEN / "runs" / f"{tag}.run") for tag in ("bm25-words", "tfidf-words"))
GIVEN = ("--qrels", "./q", *TWO)
READERS = [
    ("evaluate", *GIVEN),
    ("evaluate", *GIVEN, "--scale", "0-2"),
    ("compare", *GIVEN),
    ("sensitivity", *GIVEN, "--depth", "5"),
    ("diagnose", *GIVEN),
    ("variation", *GIVEN, "--value", "0=0", "--value", "1=.5", "--value", "2=1"),
    ("pool", "next", *GIVEN, "--value", "0=0", "--value", "1=.5", "--value", "2=1"),
    ("replay", *GIVEN, "-s", "take", "--depth", "10"),
    ("diagnose", *GIVEN, "--depth", "5", "--table", "contributions"),
    ("qrels", "diff", "./q", STRICT),
    ("export", "qrels", "./q", "--level", "1"),
    ("agreement", *qrels_of("./q", STRICT)),
]


def repeated(folder: Path, *more: str) -> int:
    """Write the sample's judgements and more lines to `q`; return the number of the first line."""
    lines = STRICT.read_text("utf-8").splitlines()
    (folder / "q").write_text("\n".join([*lines, *more]) + "\n", "utf-8")
    return len(lines) + 1


@pytest.mark.parametrize("command", READERS, ids=lambda words: words[0])
def test_lines_that_say_what_an_earlier_one_says_count_once(
    command: tuple[str, ...], cli: Cli, here: Path
) -> None:
    """The result is that of the file without them, and they are told once."""
    repeated(here)
    plain = cli(*command).fine()
    assert "not counted" not in plain.err
    lines = STRICT.read_text("utf-8").splitlines()
    number = repeated(here, lines[3], lines[0], lines[3])
    told = cli(*command).fine()
    assert told.out == plain.out
    words = f"./q: 3 lines not counted (first: line {number}): repeats of another line\n"
    assert told.err.count(words) == told.err.count("not counted") == 1
    is_evaluator = command[0] not in ("export", "agreement")
    assert (f"warning: {words}" in told.err) == is_evaluator


@pytest.mark.parametrize("options", [(), ("--scale", "0-1")], ids=["codes", "scale"])
def test_two_grades_of_a_document_are_refused_with_all_other_faults(
    options: tuple[str, ...], cli: Cli, here: Path
) -> None:
    """Each is told with its line and the line it contradicts; what is alike is no fault."""
    lines = ("1 0 a 1", "1 0 b 0", "1 0 a 1", "1 0 a 0", "1 0 c", "1 0 b 1", "1 0 d 2")
    (here / "q").write_text("\n".join(lines) + "\n")
    told = cli("evaluate", *GIVEN, *options).failed(1).err
    places = re.findall(r"^(?:error: )?./q:([0-9]+): ", told, re.MULTILINE)
    assert places == ["4", "5", "6"] + (["7"] if options else [])
    assert "docno `a` with grade 0; line 1 has it with grade 1" in told
    assert "docno `b` with grade 1; line 2 has it with grade 0" in told
    assert "not counted" not in told
    assert ("--scale declares" in told) == bool(options)


@pytest.fixture
def mixed(tmp_path: Path) -> list[str | Run]:
    """Name a run in memory between two files."""
    for tag in ("z", "a"):
        (tmp_path / f"{tag}.run").write_text(f"1 Q0 x 1 2.0 {tag}\n1 Q0 y 2 1.0 {tag}\n")
    (tmp_path / "m.run").write_text("1 Q0 y 1 2.0 m\n1 Q0 x 2 1.0 m\n")
    return [str(tmp_path / "z.run"), p.read_runs(tmp_path / "m.run")["m"], str(tmp_path / "a.run")]


@pytest.fixture(params=["file", "memory"])
def one_relevant(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Name qrels in a file, and in memory."""
    if request.param == "memory":
        return {"1": {"x": 1}}
    (tmp_path / "some.qrels").write_text("1 0 x 1\n")
    return tmp_path / "some.qrels"


def test_runs_of_files_and_memory_stay_in_the_order_given(mixed: list[str | Run], one_relevant: Any) -> None:
    """Whatever measures them has one order of runs, that in which they were named; pools go by tags."""
    source = p.source(mixed, qrels=one_relevant)
    assert source.judged.feeding == source.rankings.tags == source.arrays().tags == ("z", "m", "a")
    assert [run.tag for run in source.tops(1).runs] == ["a", "m", "z"]
    assert {tag: Path(file).stem for tag, file in source.judged.files.items()} == {"z": "z", "a": "a"}


def test_what_is_measured_first_changes_nothing(mixed: list[str | Run], one_relevant: Any) -> None:
    """Measures read less of files than what tells documents apart; each has what it needs, in any order."""
    files = [one for one in mixed if isinstance(one, str)]
    first, second = (p.source(files, qrels=one_relevant) for _ in range(2))
    values = p.evaluate(first, ["AP", "P@1"]).mean.tolist()
    docnos = {number: docno for docno, number in first.judged.ranked.ids.items()}
    assert second.judged.ranked.docnos == first.judged.ranked.docnos == docnos
    assert set(docnos.values()) == {"x", "y"}
    assert values == p.evaluate(second, ["AP", "P@1"]).mean.tolist() == [[1.0, 1.0]] * 2
    for source in (first, second):
        assert source.arrays().documents.tolist() == [[[0, 1]], [[0, 1]]]
