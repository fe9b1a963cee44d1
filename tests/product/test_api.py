"""The API: every name explained, what actions say, a notebook's way, other libraries, and datasets."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import warnings
from collections import namedtuple
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pooler
import pooler as p
from pooler.sources.source import Source
from store.collection import Collection
from store.errors import ArgumentError, PoolerError, StoreError
from store.records import Action, Decision, JudgeKind
from tests.helpers.cf_collection import load_judgements
from tests.helpers.run import START, Cli, by_rule, copy_garden, qrels_of, run_inside, write
from tests.helpers.trec_covid import data_path
from tests.helpers.wine import make, work


@pytest.mark.parametrize("name", pooler.__all__)
def test_every_public_name_is_there_and_explained(name: str) -> None:
    """It is imported, is listed, and says what it is."""
    found = getattr(pooler, name)
    assert found.__name__ == name
    assert found.__doc__
    assert name in dir(pooler)


def test_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="nope"):
        _ = pooler.nope


@pytest.mark.parametrize("shape", ["store.py", "store/__init__.py"])
def test_store_of_somebody_else_is_named_in_a_line(shape: str, tmp_path: Path) -> None:
    """Both the command and the notebook say where it is, and what to do; nothing of it is imported."""
    other = tmp_path / shape
    other.parent.mkdir(exist_ok=True)
    other.write_text("raise SystemExit('somebody else was imported')")
    for code, last in (
        (START, "error: another `store` stands before pooler's own"),
        ("import pooler; pooler.evaluate", "ImportError: another `store` stands before pooler's own"),
    ):
        ran = subprocess.run(
            [sys.executable, "-c", code, "status"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stdout) == (1, "")
        line = ran.stderr.splitlines()[-1]
        assert line.startswith(f"{last}: {other}")
        assert "an environment of its own" in line


PLACE = "collection.db"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a collection of the sample's topics and runs."""
    monkeypatch.chdir(tmp_path)
    copy_garden(tmp_path)
    p.init(PLACE, "0-2")
    p.import_topics(PLACE, "topics.jsonl")
    p.import_runs(PLACE, runs="runs.tsv")
    return tmp_path


def test_an_action_says_what_it_did(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In numbers, and in the sentences of the command; a collection may be open, or be named."""
    with p.open_collection(PLACE) as opened:
        done = p.import_judgements(opened, Path("judgements/strict.qrels"), judge="ann", kind="human")
    assert done.counts == {"added": 84, "unchanged": 0, "replaced": 0}
    assert done.messages == ("judgements/strict.qrels: 84 judgements added of ann",)
    assert repr(done) == done.messages[0]
    assert done.settings["judge"] == "ann"
    again = p.import_judgements(PLACE, "judgements/strict.qrels", judge="ann", kind="human")
    assert again.counts["unchanged"] == 84
    assert p.import_docs(PLACE, "documents.jsonl", all_texts=True).counts["added"] == 106
    assert p.judges_add(PLACE, "ben").messages == ("judge ben (human) added",)
    assert capfd.readouterr() == ("", "")


def test_a_code_is_returned_and_not_printed(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Who has it judges as this judge: it stands in the result alone, and in no settings."""
    p.judges_add(PLACE, ["ann", "ben"])
    done = p.judges_code(PLACE, "ann")
    (code,) = done.written
    with p.open_collection(PLACE) as opened:
        access = opened.codes.judge_of(code)
    assert access is not None
    assert access.judge == "ann"
    assert code not in repr(done)
    assert p.judges_code(PLACE, "ben", revoke=True).written == ()
    assert capfd.readouterr() == ("", "")


def test_an_erased_judge_is_gone_without_a_question(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A dry run counts what then goes."""
    p.import_judgements(PLACE, "judgements/strict.qrels", judge="ann")
    would = p.judges_erase(PLACE, "ann", dry_run=True)
    assert would.counts["judgements"] == 84
    assert p.judges_erase(PLACE, "ann").counts == would.counts
    with pytest.raises(p.UnknownNameError, match="unknown judge `ann`"):
        p.judges_erase(PLACE, "ann")
    assert capfd.readouterr() == ("", "")


def test_a_file_is_refused_with_all_its_faults(made: Path) -> None:
    """Nothing of it is in the collection; a warning is in the result."""
    Path("bad.qrels").write_text("G01 0 KG-E-002 9\nG01 0 KG-E-008 x\n")
    with pytest.raises(p.FormatError) as refused:
        p.import_judgements(PLACE, "bad.qrels", judge="ann")
    assert [fault.line for fault in refused.value.faults] == [1, 2]
    Path("zero.qrels").write_text("G01 0 KG-E-002 0\nG01 0 KG-E-008 0\n")
    done = p.import_judgements(PLACE, "zero.qrels", judge="ann")
    assert "every grade is 0" in done.warnings[0]
    assert repr(done).endswith(f"warning: {done.warnings[0]}")


def test_a_backup_is_a_collection_again(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What was there is kept; a judge who was erased since does not come back unasked."""
    p.import_judgements(PLACE, "judgements/strict.qrels", judge="ann")
    assert p.backup(PLACE, "monday.backup").counts["events"] == 84
    p.judges_erase(PLACE, "ann")
    with pytest.raises(p.StoreError):
        p.restore(PLACE, "monday.backup", replace=True)
    done = p.restore(PLACE, "monday.backup", replace=True, with_erased=True)
    assert (done.counts["events"], Path(done.counts["kept"]).is_file()) == (84, True)
    assert p.verify(PLACE).n_faults == 0
    assert capfd.readouterr() == ("", "")


def test_an_export_is_a_file_or_lines_in_the_result(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same bytes both ways; a file has its manifest, and is not replaced by another's lines."""
    p.import_judgements(PLACE, "judgements/strict.qrels", judge="ann")
    lines = p.export_judgements(PLACE, "ann").written
    done = p.export_judgements(PLACE, ["ann"], out=Path("j.jsonl"))
    assert (len(lines), done.counts["judgements"], done.written) == (84, 84, ())
    assert Path("j.jsonl").read_text("utf-8") == "".join(f"{line}\n" for line in lines)
    assert Path("j.jsonl.manifest.json").is_file()
    with pytest.raises(p.PoolerError, match="is not an earlier result"):
        p.export_judgements(PLACE, out="topics.jsonl")
    assert p.import_judgements(PLACE, "j.jsonl", form="jsonl").counts["unchanged"] == 84
    graded = Path("judgements/strict.qrels").read_text("utf-8").splitlines()
    binary = p.export_qrels(PLACE, level=1).written
    assert [line[-1] == "1" for line in binary].count(True) == sum(line[-1] > "0" for line in graded) == 32
    with pytest.raises(p.ArgumentError, match="where 2 files are written"):
        p.export_qrels(PLACE, level=[1, 2], out="q.txt")
    assert p.export_collection(PLACE, "published", without_runs=True).counts["judgement"] == 84
    assert p.import_collection("again.db", Path("published")).counts["judgement"] == 84
    assert capfd.readouterr() == ("", "")


def test_faults_are_counted_with_examples(here: Path) -> None:
    """A whole collection has none; of a damaged one every check tells its faults."""
    place = make(here / "collection.db")
    work(place, ("ann", "a", Action.JUDGE, 1))
    with p.open_collection(str(place)) as collection:
        assert (p.verify(collection).n_faults, p.verify(collection).checks[0].name) == (0, "file")
    with closing(sqlite3.connect(place)) as opened:
        opened.execute("UPDATE judgement SET grade = 7")
        opened.commit()
    found = p.verify(place)
    assert found.n_faults == sum(one.n_faults for one in found.checks) > 0
    assert found.table("verify").cells("faults") == [one.n_faults for one in found.checks]
    assert any("grade 7" in example for one in found.checks for example in one.examples)


@pytest.mark.slow
def test_measuring_trec_covid_in_a_few_lines() -> None:
    """Runs and qrels of the first round: AP of each run equals pytrec_eval's, topic by topic."""
    import polars as pl
    import pytrec_eval

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


@pytest.mark.slow
def test_agreement_of_cf_judges_is_as_published(tmp_path: Path) -> None:
    """Two of the four judges of Cystic Fibrosis: kappa by hand from their cross table."""
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_doubts_are_warnings_of_the_result_and_nothing_is_printed(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the command line says on stderr a notebook reads in the result."""
    with p.open_collection("collection.db") as collection:
        found = p.sensitivity(p.source(collection, qrels="strict"), depth=3)
    assert found.warnings == ("depth 3 is not that of the pool (5)",)
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_list_is_what_its_members_are(judged: Path) -> None:
    """Tags and files are given one by one or as one list; 0 is 0.0, as typed."""
    source = p.source("runs/*.run", qrels="judgements/strict.qrels")
    two: Any = ["bm25-words", "rm3-bigrams"]
    one_by_one, listed = (p.compare(source, *given) for given in (two, [two]))
    assert listed.settings == one_by_one.settings
    two_files: Any = ["runs/bm25-words.run", "runs/rm3-bigrams.run"]
    assert p.check(two_files).settings == p.check(*two_files).settings
    assert repr(p.variation(source, unjudged=0).settings["unjudged"]) == "0.0"


@pytest.mark.slow
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


@pytest.mark.slow
def test_frames_of_every_table_have_its_rows(judged: Path) -> None:
    """pandas, polars and Arrow take every column there is."""
    import pandas as pd

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


@pytest.mark.slow
def test_files_in_a_notebook(judged: Path) -> None:
    """Scores as arrays and frames; whose documents move whose score."""
    import polars as pl

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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_trec_covid_and_cf_from_files_to_a_report(tmp_path: Path) -> None:
    """A pool, agreement, sensitivity and a report, each equal to its command."""
    import polars as pl

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


IDS = st.sets(st.sampled_from(["1", "2", "01", "02", "a", "A", "a.txt", "a.1"]), min_size=1, max_size=3)


@given(IDS, IDS, st.booleans())
def test_topics_that_do_not_meet_are_never_joined_in_silence(
    ours: set[str], theirs: set[str], pool: bool
) -> None:
    """In `evaluate` and in `pool`: none in common is an error, and every id that is alone is named."""
    run, other = ({topic: {"d": 1.0} for topic in sorted(topics)} for topics in (ours, theirs))

    def join() -> Any:
        return p.pool({"x": run, "y": other}) if pool else p.evaluate(p.source({"x": run}, qrels=other))

    if ours.isdisjoint(theirs):
        with pytest.raises(p.PoolerError, match="no topic of"):
            join()
        return
    told = [words for words in join().warnings if "topic" in words]
    assert bool(told) == (ours != theirs)
    # Pools name the first three.
    assert pool or {name for name in ours ^ theirs if f"`{name}`" in "".join(told)} == ours ^ theirs


@given(IDS, IDS)
def test_documents_of_which_none_is_judged_are_refused(ours: set[str], theirs: set[str]) -> None:
    """Some unjudged ones are usual; the docnos of a run on disk are read as those in memory."""
    measured = p.source({"x": {"1": dict.fromkeys(sorted(ours), 1.0)}}, qrels={"1": dict.fromkeys(theirs, 1)})
    if ours.isdisjoint(theirs):
        with pytest.raises(p.PoolerError, match="no document of the runs is in the qrels"):
            p.evaluate(measured)
    else:
        assert p.evaluate(measured).warnings == ()


TWO = ["1 Q0 FT-1 1 2 x", "1 Q0 FT-2 2 1 x"]
FORM = "documents whose docnos differ only in Unicode normal form (NFC, NFD): 1"


@pytest.mark.parametrize(
    ("run", "qrels", "code", "words"),
    [
        (["101 Q0 d 1 1 x"], ["101.1 0 d 1"], 1, "`.N` at the end, 1 of 1 would meet (`101` and `101.1`)"),
        (["1 Q0 d 1 1 x"], ["001 0 d 1"], 1, "no topic of the runs is in ./q: `1` here, `001` there"),
        (["1 Q0 d 1 1 x", "03 Q0 d 1 1 x"], ["1 0 d 1", "3 0 d 1"], 0, "would meet (`03` and `3`)"),
        (TWO, ["1 0 ft-1 1"], 1, "in one case, 1 of 2 would meet (`FT-1` and `ft-1`)"),
        (TWO, ["1 0 ft-1.txt 1"], 1, "by several such changes, 1 of 2 would meet (`FT-1` and `ft-1.txt`)"),
        ([*TWO, "2 Q0 d.txt 1 1 x"], ["1 0 FT-2 1", "2 0 d 1"], 0, "1 ranking, as of run x, without"),
        (["1 Q0 cafe\u0301 1 2 x", "1 Q0 b 2 1 x"], ["1 0 caf\u00e9 1", "1 0 b 1"], 0, FORM),
        (TWO, ["1 0 other 1"], 1, "write them alike in both, or name sources that belong together"),
    ],
)  # fmt: skip
def test_files_are_measured_only_where_ids_meet(
    run: list[str], qrels: list[str], code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would make them meet is said; a run beside it that has no judged document is named."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x.run", *run)
    write(tmp_path / "q", *qrels)
    answer = run_inside("evaluate", "x.run", "--qrels", "./q")
    assert (answer.code, words in answer.err) == (code, True), answer.err
    write(tmp_path / "y.run", *(f"{line.split()[0]} Q0 {line.split()[2]} 1 1 y" for line in qrels))
    both = run_inside("evaluate", "x.run", "y.run", "--qrels", "./q").fine()
    assert "run x" in both.err or FORM in both.err or "of the runs not in ./q" in both.err, both.err


def test_runs_of_a_pool_and_of_a_collection_are_joined_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two spellings of a topic or of all documents are refused, those of one ranking are told."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x.run", "1 Q0 FT-1 1 1 x", "2 Q0 FT-2 1 1 x")
    write(tmp_path / "zeros.run", "01 Q0 FT-1 1 1 y")
    write(tmp_path / "case.run", "1 Q0 ft-1 1 1 y", "2 Q0 ft-2 1 1 y")
    write(tmp_path / "some.run", "1 Q0 ft-1 1 1 y", "2 Q0 FT-2 1 1 y")
    run_inside("init", "--scale", "0-1").fine()
    run_inside("import", "runs", "x.run").fine()
    for name, code, words in (
        ("zeros", 1, "no topic of run x is in the other runs: `1`, `2` here, `01` there"),
        ("case", 1, "no document of run x is one of the other runs"),
        ("some", 0, "2 rankings, as of run x, without a document of the other runs; in one case"),
    ):
        answer = run_inside("pool", "x.run", f"{name}.run")
        assert (answer.code, words in answer.err) == (code, True), answer.err
        run_inside("import", "runs", f"{name}.run", "--replace").fine()
        answer = run_inside("pool", "--name", name)
        assert (answer.code, words in answer.err) == (code, True), answer.err


def frames(library: str) -> tuple[Any, Any]:
    """Return a run and qrels as data frames, or Arrow tables, with PyTerrier's columns."""
    module = pytest.importorskip(library)
    frame = module.table if library == "pyarrow" else module.DataFrame
    ids = {"qid": ["1", "1"], "docno": ["10", "b"]}
    return frame(ids | {"score": [0.4, 0.5]}), frame(ids | {"label": [1, 0]})


Scored = namedtuple("Scored", "query_id doc_id score")
Judged = namedtuple("Judged", "query_id doc_id relevance iteration")


class Ranx:
    """What ranx holds runs and qrels in."""

    name = "bm25"

    def __init__(self, held: dict[str, dict[str, float]]) -> None:
        self.held = held

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return it as a dictionary."""
        return self.held


RUN = {"1": {"10": 0.4, "b": 0.5}}


@pytest.mark.parametrize(
    ("run", "qrels", "tag"),
    [
        (RUN, {"1": {"10": 1, "b": 0}}, "run"),
        ({1: {10: 0.4, "b": 0.5}}, {1: {10: 1.0}}, "run"),
        ({"r": {1: {10: 0.4, "b": 0.5}}}, [(1, 10, 1), ("1", "b", 0)], "r"),
        ([Scored("1", "10", 0.4), Scored("1", "b", 0.5)], [Judged("1", "10", 1, "0")], "run"),
        (Ranx(RUN), Ranx({"1": {"10": 1}}), "bm25"),
        ([Ranx(RUN)], Ranx({"1": {"10": 1}}), "bm25"),
        ("pandas", None, "run"),
        ("polars", None, "run"),
        ("pyarrow", None, "run"),
    ],
)
def test_what_other_libraries_hold_is_measured(run: Any, qrels: Any, tag: str) -> None:
    """The relevant document is the second of two: AP is 1/2."""
    if qrels is None:
        run, qrels = frames(run)
        assert p.evaluate(p.source({"r": run}, qrels=qrels)).mean.tolist() == [[0.5]]
    found = p.evaluate(p.source(run, qrels=qrels), ["AP"])
    assert (found.runs, found.mean.tolist()) == ((tag,), [[0.5]])


@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        (RUN, {}, "`qrels` must judge one document or more"),
        (RUN, {"1": {"10": 1.5}}, "`qrels` must hold whole numbers: topic `1`, document `10`, but got 1.5"),
        (RUN, {"1": {"10": "1"}}, "`qrels` must hold finite numbers: topic `1`, document `10`, but got '1'"),
        (RUN, {"1": {1.5: 1}}, "`qrels` must have ids that are text or whole numbers, but got 1.5"),
        (RUN, {"1": {"": 1}}, "`qrels` must have ids of 1 to 1,024 bytes, but got ''"),
        (RUN, {"1": {"é" * 513: 1}}, "`qrels` must have ids of 1 to 1,024 bytes, but got 'é"),
        (RUN, {"1": ["10"]}, "{topic: {docno: grade}}, and topic `1` is no mapping, but got ['10']"),
        (RUN, [("1", "10")], "rows of topic, docno and grade, but got ('1', '10')"),
        (RUN, 7, "rows of topic, docno and grade, but got 7"),
        (RUN, {1: {"10": 1}, "1": {"10": 1}}, "`qrels` must name a document once for topic 1, but got '10'"),
        (7, {"1": {"10": 1}}, "`runs` must be files, {tag: {topic: {docno: score}}}, or one run, but got 7"),
        ({"1": {"10": float("nan")}}, {"1": {"10": 1}}, "`runs` must hold finite numbers"),
        (RUN, {"101.1": {"10": 1}}, "no topic of the runs is in the qrels"),
    ],
)  # fmt: skip
def test_what_has_another_shape_is_named_in_a_sentence(run: Any, qrels: Any, words: str) -> None:
    """Nothing is guessed, and no foreign exception comes through."""
    with pytest.raises(p.PoolerError) as caught:
        p.evaluate(p.source(run, qrels=qrels))
    assert words in str(caught.value)


def test_a_frame_with_a_column_of_names_is_one_run() -> None:
    """Its attribute `name` is that column then, and no name of the run."""
    import pandas

    frame = pandas.DataFrame({"qid": ["1"], "docno": ["10"], "score": [1.0], "name": ["x"]})
    assert p.evaluate(p.source(frame, qrels={"1": {"10": 1}})).runs == ("run",)


def test_measures_of_ir_measures_are_taken() -> None:
    """As they write themselves."""
    import ir_measures

    measure = ir_measures.AP @ 10
    assert p.evaluate(p.source(RUN, qrels={"1": {"10": 1}}), [measure]).measures == ("AP@10",)


def test_judgements_are_one_file_or_several(tmp_path: Path) -> None:
    """The letters of one name are no files, and grades in memory have another argument."""
    write(tmp_path / "a.qrels", "1 0 10 1", "1 0 11 0")
    assert p.source(judgements=str(tmp_path / "a.qrels")).judgements == (str(tmp_path / "a.qrels"),)
    in_memory: Any = {"ann": {"1": {"10": 1}}}
    for grades in (in_memory, [in_memory]):
        with pytest.raises(p.ArgumentError, match="`judgements` must be files of grades"):
            p.source(judgements=grades)


def test_a_frame_without_the_columns_is_named() -> None:
    """By the columns it has."""
    import pandas

    frame = pandas.DataFrame({"qid": ["1"], "doc": ["10"]})
    with pytest.raises(p.ArgumentError, match="with a column docno or doc_id or docid, but got"):
        p.source(frame, qrels={"1": {"10": 1}})


def test_several_judges_are_measured_by_a_rule(tmp_path: Path) -> None:
    """Of a: 1 1 0, of b: 0 1, tied, of c: 0 0 1; AP of c, b, a is 1/3 with ties low, 7/12 high."""
    for name, a, b, c in (("ann", 1, 0, 0), ("bob", 1, 1, 0), ("cid", 0, None, 1)):
        lines = [
            f"1 0 {docno} {grade}" for docno, grade in zip("abc", (a, b, c), strict=True) if grade is not None
        ]
        write(tmp_path / name, *lines)
    files = [tmp_path / name for name in ("ann", "bob", "cid")]
    run = {"1": {"c": 3.0, "b": 2.0, "a": 1.0}}
    p.init(tmp_path / "c.db", "0-1")
    with p.open_collection(tmp_path / "c.db") as made:
        found = [(p.source(run, judgements=files, qrels=p.Qrels(aggregate="majority", ties=ties)), ap)
                 for ties, ap in (("low", 1 / 3), ("high", (1 / 2 + 2 / 3) / 2))]  # fmt: skip
        for source, ap in found:
            assert p.evaluate(source).mean.tolist() == [[pytest.approx(ap)]]
        with pytest.raises(p.ArgumentError, match="`ties` must be low, high or unresolved"):
            p.evaluate(p.source(run, judgements=files, qrels=p.Qrels(aggregate="majority")))
        write(tmp_path / "x.run", "1 Q0 c 1 3 x", "1 Q0 b 2 2 x", "1 Q0 a 3 1 x")
        place = f"{tmp_path}/c.db"
        run_inside("import", "runs", f"{tmp_path}/x.run", "--collection", place).fine()
        for name in ("ann", "bob", "cid"):
            run_inside(
                "import", "judgements", f"{tmp_path}/{name}", "--judge", name, "--collection", place
            ).fine()
        rule = p.Qrels(aggregate="majority", ties="high")
        assert p.evaluate(p.source(made, qrels=rule)).mean.tolist() == [[pytest.approx(7 / 12)]]


MAJORITY = {"qrels": pooler.Qrels(aggregate="majority", ties="low")}


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Forget what a test registers, and keep the files of ir_datasets in its folder."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    before = dict(ir_datasets.registry._registered)
    yield
    ir_datasets.registry._registered.clear()
    ir_datasets.registry._registered.update(before)
    pooler.datasets._registered.clear()


def lines_of(dataset: Any) -> list[str]:
    """Return the qrels of a dataset as lines; that models alone judged the sample collection is warned of."""
    with pytest.warns(UserWarning, match="no person judged: 3 models count"):
        found = list(dataset.qrels_iter())
    return [f"{one.query_id} {one.iteration} {one.doc_id} {one.relevance}" for one in found]


@pytest.mark.usefixtures("registry")
def test_dataset_has_what_the_collection_has(cli: Cli, judged: Path) -> None:
    """Documents with a text, topics, and the qrels of `export qrels`, line by line."""
    import ir_datasets

    dataset = pooler.datasets.register("collection.db", **MAJORITY)
    assert dataset.dataset_id() == "pooler/collection"
    assert ir_datasets.load("pooler/collection") is dataset
    by_rule(cli, "export", "qrels", "--aggregate", "majority", "--ties", "low", "--out", "q.txt").fine()
    assert lines_of(dataset) == (judged / "q.txt").read_text("utf-8").splitlines()
    assert dataset.qrels_defs() == {0: "not relevant", 1: "partially relevant", 2: "relevant"}
    with Collection("collection.db") as opened:
        pooled = {entry.docno for entry in opened.pools.get("pool").entries}
        texts = {docno: opened.documents.get(docno) for docno in pooled}
    docs = list(dataset.docs_iter())
    assert {one.doc_id: (one.title, one.text) for one in docs} == {
        docno: (one.title, one.text) for docno, one in texts.items()
    }
    assert dataset.docs_count() == len(docs) == 74
    assert dataset.queries.lookup("G02").title == "watering balcony tomatoes"
    assert dataset.queries.lookup("G02").default_text() == "watering balcony tomatoes"


@pytest.mark.usefixtures("registry")
def test_documents_are_sliced_and_looked_up(judged: Path) -> None:
    """As every dataset of ir_datasets: by number, by slice, by name."""
    dataset = pooler.datasets.register("collection.db")
    docs = list(dataset.docs_iter())
    assert dataset.docs[3] == docs[3] == dataset.docs_store().get(docs[3].doc_id)
    assert list(dataset.docs_iter()[2:40:5]) == docs[2:40:5]
    assert dataset.docs_iter()[-1] == docs[-1]
    assert dataset.docs_store().get_many(["none", docs[0].doc_id]) == {docs[0].doc_id: docs[0]}
    with pytest.raises(KeyError):
        dataset.docs_store().get("none")


@pytest.mark.usefixtures("registry")
def test_qrels_are_as_the_collection_is_when_they_are_read(judged: Path) -> None:
    """A judgement that came later is there; what is skipped or cannot be judged is no grade."""
    with Collection("collection.db") as opened:
        opened.judges.add("anna", JudgeKind.HUMAN)
        people = pooler.Qrels(kinds=["human"])
        mine = pooler.datasets.register(opened, "mine")
        with pytest.raises(PoolerError, match="28 documents undecided"):  # no person yet, and no rule
            list(mine.qrels_iter())
        dataset = pooler.datasets.register(opened, "mine", qrels=people)
        desk = opened.desk("anna")
        first, second, third, fourth = [task.docno for task in desk.queue("G01")][:4]
        desk.record(Decision("G01", first, Action.JUDGE, grade=2))
        desk.record(Decision("G01", second, Action.JUDGE, grade=0))
        desk.record(Decision("G01", third, Action.SKIP))
        desk.record(Decision("G01", fourth, Action.CANNOT, reason="no text"))
        desk.leave()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = {one.doc_id: one.relevance for one in dataset.qrels_iter()}
    assert found == {first: 2, second: 0}


@pytest.mark.usefixtures("registry")
def test_people_and_models_are_mixed_only_where_they_are_named(judged: Path) -> None:
    """People alone count; with kinds, those named, and it is a Python warning whose grades these are."""
    with Collection("collection.db") as opened:
        opened.judgements.add({"anna": [pooler.read_qrels("judgements/strict.qrels")[0]]}, JudgeKind.HUMAN)
    alone = pooler.datasets.register("collection.db", "alone")
    with pytest.raises(PoolerError, match="people graded 1 document and models 84"):
        list(alone.qrels_iter())
    rule = pooler.Qrels(kinds=["model"], aggregate="majority", ties="low")
    models = pooler.datasets.register("collection.db", "models", qrels=rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(list(models.qrels_iter())) == 84


@pytest.mark.usefixtures("registry")
def test_ir_measures_takes_the_dataset(judged: Path, cli: Cli) -> None:
    """Its qrels measure a run as the exported file does."""
    import ir_measures

    dataset = pooler.datasets.register(pooler.source(collection="collection.db", qrels="strict"))
    run = list(ir_measures.read_trec_run("runs/bm25-words.run"))
    cli("export", "qrels", "strict", "--out", "q.txt").fine()
    measure = ir_measures.nDCG @ 10
    expected = ir_measures.calc_aggregate([measure], ir_measures.read_trec_qrels("q.txt"), run)
    assert ir_measures.calc_aggregate([measure], dataset.qrels_iter(), run) == expected


@pytest.mark.usefixtures("registry")
def test_name_is_taken_over_from_ourselves_alone(judged: Path) -> None:
    """A cell of a notebook runs twice; a name of another dataset is refused."""
    first = pooler.datasets.register("collection.db", "x")
    second = pooler.datasets.register(Path("collection.db"), "x", **MAJORITY)
    assert first is second
    assert len(lines_of(first)) == 84
    with pytest.raises(ArgumentError, match="must not be that of another dataset"):
        pooler.datasets.register("collection.db", "vaswani")
    with pytest.raises(StoreError):
        pooler.datasets.register("none.db")
    with pytest.raises(ArgumentError, match="must be a collection"):
        pooler.datasets.register(pooler.source("runs/bm25-words.run", qrels="judgements/strict.qrels"))


@pytest.mark.usefixtures("registry")
def test_without_ir_datasets_it_is_said_what_to_install(
    judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module is imported without it; registering says what it needs."""
    for name in [one for one in sys.modules if one.partition(".")[0] == "ir_datasets"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    pooler.datasets._handlers.cache_clear()
    with pytest.raises(PoolerError, match="ir_datasets is not installed") as error:
        pooler.datasets.register("collection.db")
    assert error.value.hint == "pip install 'pooler[datasets]'"


def test_entry_point_leads_to_the_provider() -> None:
    """PyTerrier loads this name and calls it."""
    (found,) = [one for one in entry_points(group="pyterrier.dataset_provider") if one.name == "pooler"]
    assert found.load() is pooler.datasets.PyTerrierDatasets


@pytest.mark.usefixtures("registry")
@pytest.mark.filterwarnings("default")
def test_pyterrier_reads_a_collection(judged: Path) -> None:
    """By what was registered, and by the file; its frames have qid, docno and label."""
    pyterrier = pytest.importorskip("pyterrier", reason="peer absent: python-terrier")
    pooler.datasets.register("collection.db", **MAJORITY)
    dataset = pyterrier.get_dataset("pooler:collection")
    qrels = dataset.get_qrels()
    assert len(qrels) == 84
    assert (qrels.qid[0], qrels.docno[0], qrels.label[0]) == ("G01", "KG-E-002", 0)
    assert dataset.get_topics("title").set_index("qid")["query"]["G02"] == "watering balcony tomatoes"
    docs = list(dataset.get_corpus_iter(verbose=False, start=2, count=3))
    assert [one["docno"] for one in docs] == ["KG-E-004", "KG-E-005", "KG-E-006"]
    loaded = dataset.text_loader("title").transform(qrels[:1])
    assert loaded.title[0] == "Mung bean sprouts in a jar"
    assert len(pyterrier.get_dataset("pooler:collection.db").get_topics("narrative")) == 8
    with pytest.raises(KeyError, match="not found in provider 'pooler'"):
        pyterrier.get_dataset("pooler:none.db")
