"""A notebook's way: real files in, arrays, frames and pages out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import pytrec_eval

import pooler as p
from pooler.sources.source import Source
from tests.helpers.cf_collection import DATA as CF
from tests.helpers.cf_collection import load_judgements
from tests.helpers.run import qrels_of, run_inside
from tests.helpers.trec_covid import data_path

pytestmark = pytest.mark.slow


def test_measuring_trec_covid_in_a_few_lines() -> None:
    """Runs and qrels of the first round: AP of each run equals pytrec_eval's, topic by topic."""
    runs = p.read_runs(str(data_path("runs-top120")) + "/[A-C]*.gz")
    qrels = p.read_qrels(data_path("qrels-rnd1.txt.gz"))
    found = p.evaluate(p.source(runs, qrels=qrels, order="trec9"), ["AP", "P@5"])
    assert found.values.shape == (2, len(runs), 30)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels.to_dict(), {"map", "P_5"})
    for row, (tag, run) in enumerate(runs.to_dict().items()):
        theirs = evaluator.evaluate(run)
        for column, topic in enumerate(found.topics):
            scores = theirs.get(topic, {"map": 0.0, "P_5": 0.0})
            ours = found.values[:, row, column]
            assert ours == pytest.approx([scores["map"], scores["P_5"]], abs=1e-9), (tag, topic)
    frame = found.table("measures").to_pandas()
    best = frame[frame.measure == "AP"].nlargest(1, "value").run.item()
    assert best == found.runs[int(np.argmax(found.mean[0]))]
    assert pl.DataFrame(found.table("measures")).height == len(frame) == 2 * len(runs)


def test_agreement_of_cf_judges_is_as_published(tmp_path: Path) -> None:
    """Two of the four judges of Cystic Fibrosis: kappa by hand from their cross table."""
    if not CF.exists():
        pytest.skip("the Cystic Fibrosis collection is not here")
    by_judge: dict[str, list[str]] = {}
    for one in load_judgements():
        by_judge.setdefault(one.judge, []).append(f"{one.topic} 0 {one.docno} {one.grade}\n")
    names = ("REW", "JBW")
    files = [f"{name}={tmp_path / name}" for name in names]
    for name in names:
        (tmp_path / name).write_text("".join(by_judge[name]))
    found = p.agreement(p.source(judgements=files, scale="0-2"), resamples=0)
    counts = np.array([
        [row["second_0"], row["second_1"], row["second_2"]]
        for row in found.table("cross_tables").to_records()
    ])  # fmt: skip
    agreed = np.trace(counts) / counts.sum()
    chance = counts.sum(axis=0) @ counts.sum(axis=1) / counts.sum() ** 2
    pairs = found.table("pairs")
    [graded] = pairs.where([level is None for level in pairs.cells("level")]).to_records()
    assert graded["kappa"] == pytest.approx((agreed - chance) / (1 - chance), abs=1e-12)
    assert graded["n"] == counts.sum() == 4819


def test_a_report_is_that_of_the_command(judged: Path) -> None:
    """The same page, byte for byte, of files and of an open collection; written, and shown."""
    run_inside("report", "theirs.html", "--qrels", "strict", "--title", "T").fine()
    with p.open_collection("collection.db") as collection:
        found = p.report(p.source(collection, qrels="strict"), "ours.html", title="T")
    assert Path("ours.html").read_bytes() == Path("theirs.html").read_bytes()
    assert found.html == Path("ours.html").read_text("utf-8")
    titles = [section.title for section in found.sections]
    assert titles[0] == "In short"
    assert {"What this report is about", "The pool"} < set(titles)
    assert repr(found).startswith("Report: T\nsections: In short, ")
    assert found._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    files = p.report(p.source("runs/*.run", qrels="judgements/strict.qrels"), depth=5, title="T")
    run_inside(
        "report", "files.html", "--qrels", "judgements/strict.qrels", "--depth", "5", "--title", "T",
        *sorted(map(str, Path("runs").glob("*.run"))),
    ).fine()  # fmt: skip
    assert files.html == Path("files.html").read_text("utf-8")


def test_a_report_of_what_is_in_memory_names_no_command(judged: Path) -> None:
    """Its figures and tables are those of the files; no command line could print them."""
    runs, qrels = p.read_runs("runs/*.run"), p.read_qrels("judgements/strict.qrels")
    found = p.report((runs, qrels), depth=5, values={0: 0.1, 1: 0.7, 2: 0.9})
    assert "The same numbers" not in found.html
    assert "MAP if judged again" in found.html
    assert found.page.title == "Can these judgements be trusted?"
    Path("run.html").write_text("1 Q0 d 1 2 tag\n")
    with pytest.raises(p.ArgumentError, match="`path` must be new, or a page"):
        found.write("run.html")
    assert Path("run.html").read_text() == "1 Q0 d 1 2 tag\n"


def test_the_same_of_files_of_memory_and_of_a_collection(judged: Path) -> None:
    """Who measures cannot tell where runs and judgements come from."""
    files = p.source("runs/*.run", qrels="judgements/strict.qrels", level=1)
    memory = p.source(p.read_runs("runs/*.run"), qrels=p.read_qrels("judgements/strict.qrels"), level=1)
    dicts = p.source(
        p.read_runs("runs/*.run").to_dict(), qrels=p.read_qrels("judgements/strict.qrels").to_dict(), level=1
    )
    with p.open_collection("collection.db") as collection:
        stored = p.source(collection, qrels="strict", level=1)
        tables = [
            {row["run"]: row for row in p.sensitivity(one, depth=5).table("sensitivity").to_records()}
            for one in (files, memory, dicts, stored)
        ]
    assert tables[0] == tables[1] == tables[2] == tables[3]


def test_results_say_what_was_done(judged: Path) -> None:
    """Settings with every parameter; two lines of text; a table in a notebook; steps are counted."""
    steps: list[int] = []
    found = p.sensitivity(
        p.source("runs/*.run", qrels="judgements/strict.qrels"), depth=5, by="pair", progress=steps.append
    )
    assert sum(steps) == 8 + 9  # topics tested, and run files read
    assert dict(found.settings)["depth"] == 5
    assert len(repr(found).splitlines()) == 2
    assert " of 9 runs, 8 topics\n" in repr(found)
    assert found._repr_html_().startswith("<table>")
    with pytest.raises(TypeError):
        found.settings["depth"] = 6  # type: ignore[index]  # frozen


def test_doubts_are_warnings_of_the_result_and_nothing_is_printed(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the command line says on stderr a notebook reads in the result."""
    with p.open_collection("collection.db") as collection:
        found = p.sensitivity(p.source(collection, qrels="strict"), depth=3)
    assert found.warnings == ("depth 3 is not that of the pool (5)",)
    assert capsys.readouterr() == ("", "")


def test_errors_name_arguments_as_python_does(judged: Path) -> None:
    """No option of the command line in an error about an argument."""
    source = p.source("runs/*.run", qrels="judgements/strict.qrels")
    with pytest.raises(p.ArgumentError, match=r"^`depth` must be an integer"):
        p.sensitivity(source, depth=0)
    with pytest.raises(p.ArgumentError, match=r"^`alpha` must be between 0 and 1"):
        p.compare(source, alpha=2)
    for score in ("high", None, float("nan"), float("inf")):
        with pytest.raises(p.ArgumentError, match=r"^`runs` must hold finite numbers: topic `1`,"):
            p.evaluate(({"a": {"1": {"x": score}}}, {"1": {"x": 1}}))
    for runs, qrels, name in (
        ({}, {"1": {"x": 1}}, "runs"),
        ({"a": {"1": ["x"]}}, {"1": {"x": 1}}, "runs"),
        ({"a": {"1": {"x": 1.0}}}, {"1": {"x": 0.5}}, "qrels"),
        ({"a": {"1": {"x": 1.0}}}, {"1": {"x": "1"}}, "qrels"),
    ):
        with pytest.raises(p.ArgumentError, match=f"^`{name}` must"):
            p.evaluate((runs, qrels))
    with pytest.raises(p.ArgumentError, match=r"^`source` must be a source, a collection"):
        p.evaluate(None)  # type: ignore[arg-type]
    with pytest.raises(p.ArgumentError, match=r"^`tags` are of a collection"):
        p.source("runs/*.run", ["bm25-words"], qrels="judgements/strict.qrels")
    with pytest.raises(p.ArgumentError, match=r"^`order` must be one of"):
        p.source("runs/*.run", qrels="judgements/strict.qrels", order="treq")  # type: ignore[arg-type]
    with pytest.raises(p.PoolerError, match="qrels have one grade per document"):
        p.agreement(source)
    with pytest.raises(p.ArgumentError, match=r"^`prels` must name the judged sample"):
        p.evaluate(source, "statAP")
    assert p.evaluate(source, "AP").mean.shape == (1, 9)
    assert repr(p.list_strategies()).startswith("Shown\ntables: ")
    with pytest.raises(p.ArgumentError, match=r"^`measures` must name one or more"):
        p.evaluate(source, [])
    with pytest.raises(p.ArgumentError, match=r"^`runs` must name two, or none"):
        p.compare(source, "bm25-words")
    with pytest.raises(p.ArgumentError, match=r"^`runs` must name each run once"):
        p.compare(source, "bm25-words", "bm25-words")
    with pytest.raises(p.UnknownNameError, match="unknown measure `NDGC`"):
        p.evaluate(source, ["NDGC@10"])
    with pytest.raises(p.PoolerError, match=r"none\.run: no such file"):
        p.evaluate(("none.run", "judgements/strict.qrels"))


def test_a_list_is_what_its_members_are(judged: Path) -> None:
    """Tags and files are given one by one or as one list; 0 is 0.0, as typed."""
    source = p.source("runs/*.run", qrels="judgements/strict.qrels")
    two: Any = ["bm25-words", "rm3-bigrams"]
    one_by_one, listed = (p.compare(source, *given) for given in (two, [two]))
    assert listed.settings == one_by_one.settings
    two_files: Any = ["runs/bm25-words.run", "runs/rm3-bigrams.run"]
    assert p.check(two_files).settings == p.check(*two_files).settings
    assert repr(p.variation(source, unjudged=0).settings["unjudged"]) == "0.0"


def test_what_other_runs_lack_is_no_doubt_about_two(judged: Path) -> None:
    """A third run without a topic is nothing to say of the two that are compared."""
    runs = p.read_runs("runs/*.run").to_dict()
    gap = {tag: dict(topics) for tag, topics in runs.items()}
    del gap["tfidf-words"]["G01"]
    source = p.source(gap, qrels="judgements/strict.qrels")
    found = p.compare(source, "bm25-words", "rm3-bigrams")
    assert found.warnings == ()
    assert found.settings["runs"] == ("bm25-words", "rm3-bigrams")
    assert p.compare(source, "bm25-words", "tfidf-words").warnings == (
        "in 1 topic a run has no documents and scores as if it had found nothing",
    )


def test_frames_of_every_table_have_its_rows(judged: Path) -> None:
    """pandas, polars and Arrow take every column there is."""
    with p.open_collection("collection.db") as collection:
        source: Source = p.source(collection, qrels="strict")
        results = [
            p.evaluate(source), p.sensitivity(source, depth=5), p.agreement(collection), p.status(collection),
            p.show_pools(collection), p.diagnose(("runs/*.run", {})), p.diagnose(source),
        ]  # fmt: skip
        for result in results:
            for table in result.tables():
                assert isinstance(table.to_pandas(), pd.DataFrame)
                assert table.to_polars().to_dicts() == [
                    {name: list(cell) if isinstance(cell, tuple) else cell for name, cell in row.items()}
                    for row in table.to_records()
                ]
                assert table.to_arrow().num_rows == len(table)


def test_files_in_a_notebook(judged: Path) -> None:
    """Scores as arrays and frames; whose documents move whose score."""
    s = p.source("runs/*.run", qrels="judgements/strict.qrels", level=1)
    e = p.evaluate(s, ["AP", "nDCG@10"])
    assert e.mean.shape == (2, 9)
    frame = e.table("measures").to_pandas()
    assert pl.DataFrame(e.table("measures"))["value"].to_list() == frame.value.tolist()
    w = p.sensitivity(s, depth=5)
    assert np.abs(w.map_after - w.map_before).max(axis=1).shape == (9,)
    head = w.table("sensitivity").sort("change", descending=True).head(5).to_records()
    assert [row["change"] for row in head] == sorted((w.map_after - w.map_before).diagonal())[:-6:-1]
    assert w._repr_html_().startswith("<table>")


def test_a_collection_in_a_notebook(judged: Path) -> None:
    """What follows from a diagnosis, what runs need, what to judge next, and a report."""
    with p.open_collection("collection.db") as c:
        s = p.source(c, qrels="strict", level=1)
        assert p.diagnose(s).conclusions[0].startswith("All 84 documents of the pool")
        assert p.paper_difference(variance=[0.01, 0.05]).difference.shape == (1, 2, 4)
        n = p.pool_next(c, limit=5)
        assert c.pools.add(n.as_pool("round 2"))
        assert [len(pool.manifest["sizes"]) > 0 for pool in c.pools.all() if pool.name == "round 2"]
        p.report(s, "trust.html")
    assert Path("trust.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_many_judges_in_a_notebook(judged: Path) -> None:
    """Coefficients by pair and level, the same as the table's; qrels with their manifest."""
    with p.open_collection("collection.db") as c:
        a = p.agreement(c, levels=[1, 2])
        assert a.levels == (None, 1, 2)
        assert a.compared == (("lenient", "middle"), ("lenient", "strict"), ("middle", "strict"))
        pairs = a.table("pairs")
        for place, level in enumerate(a.levels):
            rows = pairs.where([one == level for one in pairs.cells("level")]).to_dict()
            for name in ("raw", "kappa", "quadratic", "overlap"):
                cells = [np.nan if cell is None else cell for cell in rows[name]]
                assert np.array_equal(a.pairs[name][place], np.array(cells, float), equal_nan=True)
        low, high = a.intervals["kappa"][1, 0]
        assert low < a.pairs["kappa"][1, 0] < high
        assert a.all_judges["alpha_nominal"].shape == (3,)
        assert p.agreement_orders(c).tau_b.min() <= 1


def test_trec_covid_and_cf_from_files_to_a_report(tmp_path: Path) -> None:
    """A pool, agreement, sensitivity and a report, each equal to its command."""
    if not CF.exists():
        pytest.skip("the Cystic Fibrosis collection is not here")
    runs, qrels = str(data_path("runs-top120") / "[AB]*.gz"), str(data_path("qrels-rnd1.txt.gz"))
    files = {name: tmp_path / name for name in ("REW", "JBW")}
    for name, file in files.items():
        lines = [f"{one.topic} 0 {one.docno} {one.grade}\n" for one in load_judgements() if one.judge == name]
        file.write_text("".join(lines))

    s = p.source(runs, qrels=qrels)
    pool = p.pool(runs, depth=7)
    w = p.sensitivity(s, depth=7)
    a = p.agreement(p.source(judgements=[f"{name}={file}" for name, file in files.items()], scale="0-2"))
    pool.write(tmp_path / "pool.txt")
    p.report(s, tmp_path / "trust.html", depth=7, title="Round 1")
    changes = w.table("sensitivity").to_pandas()
    pairs = pl.DataFrame(a.table("pairs"))

    names = sorted(map(str, data_path("runs-top120").glob("[AB]*.gz")))
    run_inside("pool", *names, "--depth", "7", "--out", tmp_path / "theirs.txt").fine()
    assert (tmp_path / "pool.txt").read_bytes() == (tmp_path / "theirs.txt").read_bytes()
    of_files = ("--qrels", qrels, "--depth", "7")
    told = run_inside("sensitivity", *names, *of_files, "--format", "json").fine().json()
    assert changes.change.tolist() == [row["change"] for row in told]
    judges = [f"{name}={file}" for name, file in files.items()]
    told = run_inside("agreement", *qrels_of(*judges), "--scale", "0-2", "--format", "json").fine().json()
    assert pairs["kappa"].to_list() == [row["kappa"] for row in told["pairs"]]
    run_inside("report", tmp_path / "theirs.html", *of_files, "--title", "Round 1", *names).fine()
    assert (tmp_path / "trust.html").read_bytes() == (tmp_path / "theirs.html").read_bytes()
