"""`pooler evaluate`: trec_eval's average precision, from a collection and from bare files."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from tests.cli.oracles import average_precision, mean, measured_ap, read_qrels, read_run
from tests.helpers.run import GARDEN, Cli, read_lines, read_run_list, write


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
    options = (
        "--qrels",
        "middle",
        "--level",
        "rigid",
        "--order",
        "trec9",
        "--table",
        "measures",
        "--format",
        "json",
    )
    for row in cli("evaluate", *options).fine().json():
        run = read_run(judged / "runs" / f"{row['run']}.run")
        expected = average_precision(read_qrels(judged / "rigid.txt"), run)
        assert (row["value"], row["topics"]) == (
            pytest.approx(mean(expected.values()), abs=1e-12),
            len(expected),
        )


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
    options = (
        "--qrels",
        "strict",
        "--cutoff",
        "5",
        "--order",
        "trec9",
        "--table",
        "measures",
        "--format",
        "json",
    )
    for row in cli("evaluate", *options).fine().json():
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


def test_nothing_relevant_at_all_has_a_reason(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Without any relevant document there is no mean, and JSON and TSV say why."""
    collection_of(me=["1 0 a 0"])
    write(here / "x.run", "1 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    [row] = cli("evaluate", "--table", "measures", "--format", "json").fine().json()
    assert (row["value"], row["reason"], row["topics"]) == (None, "no-relevant", 0)
    [cells] = cli("evaluate", "--format", "tsv").fine().tsv()
    assert (cells["value"], cells["reason"]) == ("", "no-relevant")


def test_missing_topic_counts_as_zero_and_is_told(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """A run without a judged topic scores 0 there, as with trec_eval -c, and the count is shown."""
    collection_of(me=["1 0 a 1", "2 0 a 1", "3 0 a 1"])
    write(here / "x.run", "1 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    [row] = cli("evaluate", "--table", "measures", "--format", "json").fine().json()
    assert (row["value"], row["topics"], row["missing"]) == (pytest.approx(1 / 3), 3, 2)


STRICT = GARDEN / "judgements" / "strict.qrels"
BM25 = GARDEN / "runs" / "bm25-words.run"


def test_a_declared_scale_gives_files_their_readings(cli: Cli, judged: Path) -> None:
    """`--scale` lets rigid and relaxed mean of files what they mean of the collection."""
    for reading in ("rigid", "relaxed"):
        how = ("--level", reading, "--table", "measures", "--format", "json")
        stored = cli("evaluate", "bm25-words", "--qrels", "strict", *how)
        bare = cli("evaluate", BM25, "--qrels", STRICT, "--scale", "0-2", *how).fine()
        assert bare.json() == stored.fine().json()
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
    rows = cli("evaluate", *options, "--table", "measures", "--format", "json").fine().json()
    assert [row["measure"] for row in rows] == ["AP", "P@5", "NumRel"]
    shown = line.split()
    assert shown == ["bm25-words", f"{rows[0]['value']:.4f}", f"{rows[1]['value']:.4f}", "32"]


def test_a_measure_deeper_than_the_cutoff_looks_deeper(cli: Cli, here: Path) -> None:
    """P@2000 looks at 2,000 documents and AP at 1,000 still; with --cutoff it is refused."""
    write(here / "q", "1 0 d1500 1", "1 0 d1 1")
    write(here / "x.run", *(f"1 Q0 d{n} {n} {3000 - n} x" for n in range(1, 2501)))
    rows = cli(
        "evaluate",
        "--qrels",
        "./q",
        "x.run",
        "-m",
        "P@2000",
        "-m",
        "AP",
        "--table",
        "measures",
        "--format",
        "json",
    )
    assert [row["value"] for row in rows.fine().json()] == [2 / 2000, 0.5]
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


def test_columns_that_count_topics_are_told_of(cli: Cli, here: Path) -> None:
    """A mean over two topics, in one of which the run has nothing; the words fit 80 columns."""
    write(here / "x.run", "1 Q0 a 1 1 x")
    write(here / "q", "1 0 a 1", "2 0 a 1")
    row, *words = cli("evaluate", "--qrels", "./q", "x.run").fine().out.splitlines()[2:]
    assert row.split() == ["x", "AP", "0.5000", "-5.853", "to", "6.853", "2", "1"]
    assert words == [
        "95 %: t interval over topics; pooler compare tests whether runs differ.",
        "topics: topics of the mean.",
        "missing: judged topics where the run has no document.",
    ]


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
