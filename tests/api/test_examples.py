"""Notebooks as somebody would write them: files, a collection, many judges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pooler as p
from tests.cf_collection import DATA as CF
from tests.cf_collection import load_judgements
from tests.helpers.run import qrels_of, run_inside
from tests.trec_covid import data_path

pytestmark = pytest.mark.slow


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
