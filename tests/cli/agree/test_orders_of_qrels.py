"""`pooler agreement orders` of qrels by name: union and intersection of judges beside the judges."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import kendalltau

import pooler as p
from tests.cli.oracles import average_precision, mean, read_qrels, read_run
from tests.helpers.run import JUDGES, Cli

NAMES = (*JUDGES, "union", "intersection")


def test_union_and_intersection_beside_the_judges(cli: Cli, judged: Path) -> None:
    """MAP is trec_eval's of grades put together by hand, tau SciPy's; mixtures draw from the judges alone."""
    for number, name in enumerate(("union", "intersection")):
        unknown = cli("agreement", "orders", *NAMES[: 4 + number]).failed(1).err
        assert f"unknown qrels `{name}`" in unknown
        cli(*unknown.rpartition("hint: pooler ")[2].split()).fine()
    assert "from 1 to 100000" in cli("agreement", "orders", "--mixtures", "100001").failed(2).err
    grades = {judge: read_qrels(judged / "judgements" / f"{judge}.qrels") for judge in JUDGES}
    for name, rule in (("union", max), ("intersection", min)):
        grades[name] = {
            topic: {docno: rule(grades[judge][topic][docno] for judge in JUDGES) for docno in of_topic}
            for topic, of_topic in grades["strict"].items()
        }
    expected: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    runs = {path.stem: read_run(path) for path in (judged / "runs").iterdir()}
    ap = {name: {run: average_precision(grades[name], runs[run]) for run in runs} for name in NAMES}
    common = set.intersection(*(set(of[run]) for of in ap.values() for run in runs))
    for name in NAMES:
        expected[name] = {run: mean(ap[name][run][topic] for topic in common) for run in runs}
    how = ("--mixtures", "300", "--order", "trec9", "--format", "json")
    shown = cli("agreement", "orders", *NAMES, *how).fine()
    tables = shown.whole()
    assert tables["settings"]["qrels"] == [*JUDGES, "union@1", "intersection@1"]
    for name in NAMES:
        got = {row["run"]: row[f"map_judge_{name}"] for row in tables["run_scores"]}
        assert got == pytest.approx(expected[name], abs=1e-12)
    taus = {(row["first"], row["second"]): row["tau"] for row in tables["order_pairs"]}
    assert len(taus) == 10
    for (first, second), tau in taus.items():
        x, y = ([round(expected[name][run], 12) for run in runs] for name in (first, second))
        assert tau == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
    of_judges = cli("agreement", "orders", *JUDGES, *how).fine().whole()
    for row in tables["mixtures"]:
        row["min_judges"] = len(JUDGES)
    assert (tables["mixtures"], tables["swaps"]) == (of_judges["mixtures"], of_judges["swaps"])
    assert f"Drawn are {', '.join(JUDGES)}." in cli("agreement", "orders", *NAMES).fine().out


def test_versions_and_rules_at_a_level(cli: Cli, judged: Path) -> None:
    """Old versions and rules of a level are compared, all drawn; one name, or an unknown one, is refused."""
    lines = (judged / "judgements" / "middle.qrels").read_text("utf-8").splitlines(keepends=True)
    Path("half.qrels").write_text("".join(lines[1::2]), "utf-8")
    cli("import", "judgements", "half.qrels", "--judge", "half").fine()
    both = ("--judge", "strict", "--judge", "middle")
    cli("qrels", "define", "twice", "--aggregate", "max", *both).fine()
    rule = ("--aggregate", "majority", "--ties", "low", "--binary-first")
    cli("qrels", "define", "twice", *rule, *both).fine()
    names = ("twice@1", "twice@2", "half")
    found = p.agreement_orders("collection.db", *names, level=2, mixtures=20)
    assert (found.order.n_left_out, found.drawn) == (0, [0, 1, 2])
    for name, scores in zip(names, found.order.judges, strict=True):
        how = ("--qrels", name, "--level", "2", "--format", "json", "--table", "measures")
        rows = cli("evaluate", *how).fine().json()
        assert dict(zip(found.runs, scores.scores or (), strict=True)) == pytest.approx(
            {row["run"]: row["value"] for row in rows}
        )
    assert "must be two names or more" in cli("agreement", "orders", "twice").failed(1).err
    assert "unknown qrels `twise`" in cli("agreement", "orders", "strict", "twise").failed(1).err
