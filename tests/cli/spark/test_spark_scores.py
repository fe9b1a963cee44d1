"""`evaluate` by Spark: topic by topic, and to the last bit what one machine says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pooler as p
from store.analysis.measures.table import MEASURES
from tests.benchmarks.generate import generate
from tests.helpers.run import Cli, write, write_run
from tests.trec_covid import data_path, leaderboard

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.xdist_group("spark")]
ALL = [
    *("AP", "AP(rel=2)@20", "OwnAP", "P@10", "R@50", "Rprec", "RR", "Success@3", "nDCG@10", "nDCG"),
    *("DCG", "Q", "Q(beta=2)@15", "IPrec@0.3", "ElevenPoint", "BreakEven", "Accuracy", "Judged@10"),
    *("Unjudged@10", "Bpref", "infAP", "RBP", "RBPResidual", "SetP", "SetR", "SetF", "SetE", "SetS"),
    *("SetBorko", "SetFallout(docs=100000)", "SetSpecificity(docs=100000)", "SetGenerality(docs=100000)"),
    *("SetAccuracy(docs=100000)", "NumRet", "NumRel", "P@1200"),
]


def test_every_measure_is_among_those_that_are_compared() -> None:
    """A measure that is new is compared, too."""
    assert {name.partition("@")[0].partition("(")[0] for name in ALL} == set(MEASURES)


def test_every_measure_has_the_same_bits(tmp_path: Path, master: str) -> None:
    """Runs of unequal length, a topic that no run has, one without a relevant document, deep cutoffs."""
    files = [str(file) for file in generate(tmp_path, runs=5, topics=6, documents=150, seed=3)]
    topics, docnos = zip(
        *(line.split()[0:3:2] for line in Path(files[0]).read_text().splitlines()), strict=True
    )
    lines = [
        f"{topic} 0 {docno} {max(0, number % 5 - 1)}"
        for number, (topic, docno) in enumerate(zip(topics, docnos, strict=True))
        if number % 3 == 0
    ]
    qrels = write(tmp_path / "qrels", *lines, "none 0 d1 1", f"{topics[0]} 0 elsewhere 3", "zero 0 d1 0")
    short = write_run(tmp_path, "short", {topics[0]: "abc", "zero": "d"})
    source = p.source([*files, str(tmp_path / short)], qrels=qrels, level=1)
    here, there = (
        p.evaluate(source, ALL, engine=engine, master=where)
        for engine, where in (("python", None), ("spark", master))
    )
    assert (there.runs, there.topics, there.measures) == (here.runs, here.topics, here.measures)
    assert there.topics[-1] == "zero"
    assert there.missing.tolist() == here.missing.tolist()
    assert there.settings == here.settings
    for one, other in zip(here.scores, there.scores, strict=True):
        assert other.values.tobytes() == one.values.tobytes(), one.measure
        assert other.overall.tobytes() == one.overall.tobytes(), one.measure
        assert other.n_defined.tolist() == one.n_defined.tolist()
    assert there.reasons == here.reasons


@pytest.mark.parametrize(
    "options", ["--by-topic", "-m P@5 -m Judged@10 --format json", "--scale 0-2 --rigid", "--r own --lenient"]
)
def test_command_prints_the_same(cli: Cli, garden: Path, master: str, options: str) -> None:
    """Tables, words and files of the sample collection; names that a list gives the runs."""
    names = [
        f"runs/{file.name}\trun {n}".replace(" ", "-") for n, file in enumerate((garden / "runs").glob("*"))
    ]
    write(garden / "named.tsv", "file\tname", *names)
    arguments = ("evaluate", "--qrels", "judgements/strict.qrels", "--runs", "named.tsv", *options.split())
    here = cli(*arguments).fine()
    assert cli(*arguments, "--engine", "spark", "--master", master) == here


@pytest.mark.parametrize("what", ["twice", "qrels", "fault", "deep", "no-runs"])
def test_what_is_wrong_is_told_alike(cli: Cli, here: Path, master: str, what: str) -> None:
    """Two runs of one tag, a fault in qrels or a run, a measure deeper than the cutoff, no run."""
    good = write_run(here, "good", {"1": "abc"})
    again = write(here / "again.run", "1 Q0 a 1 3 good").name
    bad = write(here / "bad.run", "1 Q0 a 1 3 bad", "1 Q0 b 2 x bad").name
    qrels = write(here / "qrels", "1 0 a 1", *(["1 0 b much"] if what == "qrels" else [])).name
    runs = {"twice": (good, again), "fault": (good, bad), "no-runs": ()}.get(what, (good,))
    arguments = (
        "evaluate",
        "--qrels",
        qrels,
        *runs,
        "-m",
        "P@10",
        "--cutoff",
        "5" if what == "deep" else "10",
    )
    one = cli(*arguments).failed(1)
    assert cli(*arguments, "--engine", "spark", "--master", master) == one


def test_trec_covid_has_the_official_scores(master: str) -> None:
    """The runs that are here whole: nDCG@10 and MAP of the leaderboard, to its four decimals."""
    files = sorted(map(str, data_path("runs-full").glob("*.gz")))
    source = p.source(files, qrels=data_path("qrels-rnd1.txt.gz"), level=1, order="trec9", lenient=True)
    found = p.evaluate(source, ["nDCG@10", "AP"], engine="spark", master=master)
    official = [[float(leaderboard()[run][name]) for run in found.runs] for name in ("ndcg@10", "MAP")]
    assert np.abs(found.mean - np.array(official)).max() < 0.00006
