"""`pooler diagnose` on collections of others, against counts of plain sets and published scores."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.cli.oracles import average_precision, mean, read_qrels, read_run
from tests.conftest import SHARED_DATA
from tests.helpers.run import Cli

pytestmark = pytest.mark.slow

Pairs = set[tuple[str, str]]


def folder_of(name: str) -> Path:
    """Return the folder of a collection, or skip the test."""
    folder = SHARED_DATA / name
    if not folder.is_dir():
        pytest.skip(f"shared data is absent: {name}")
    return folder


def diagnosed(cli: Cli, *options: str | Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return all facts and tables, and the rows of runs by run."""
    found = cli("diagnose", *options, "--format", "json").fine().dossier()
    return found, {row["run"]: row for row in found["runs"]}


def listed(rows: list[tuple[str, ...]], *columns: str) -> str:
    """Write a list of runs beside the test's other files."""
    lines = ["\t".join(columns), *("\t".join(row) for row in rows)]
    Path("runs.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return "runs.tsv"


def first_of(path: Path, depth: int) -> dict[str, list[str]]:
    """Return the first documents of each topic: score descending, ties by docno ascending."""
    topics: dict[str, list[tuple[float, str]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, _, docno, _, score, _ = line.split()
            topics.setdefault(topic, []).append((-float(score), docno))
    return {topic: [docno for _, docno in sorted(one)[:depth]] for topic, one in topics.items()}


def test_trec_covid_pool_is_the_organisers(cli: Cli) -> None:
    """Depth 7 of 56 of 143 runs: the pool, what each brought, and its AP without that, by sets."""
    folder = folder_of("trec-covid-r1")
    with (folder / "leaderboard.csv").open(encoding="utf-8") as file:
        board = list(csv.DictReader(file))
    fed = {row["run"] for row in board if row["contributed judgments"] == "yes"}
    files = {row["run"]: folder / "runs-top120" / f"{row['run']}.gz" for row in board}
    rows = [(str(files[run]), "yes" if run in fed else "no") for run in files]
    found, by_run = diagnosed(
        cli, "--qrels", folder / "qrels-rnd1.txt.gz", "--runs", listed(rows, "file", "contributes"),
        "--depth", "7", "--order", "docno-asc", "--limit", "143",
    )  # fmt: skip
    assert (len(by_run), found["contributing_runs"]) == (143, 56)
    assert (found["pool"], found["pool_judged"], found["judged"]) == (6959, 6959, 8691)
    assert found["judged_outside_pool"] == 8691 - 6959
    # Printed with the data: unjudged of all at rank N + 1.
    ranks = {row["rank"]: (row["unjudged"], row["documents"]) for row in found["ranks"]}
    assert ranks[8] == (1993, 4270)
    assert ranks[11] == (2211, 4262)
    assert ranks[21] == (2532, 4252)
    assert ranks[51] == (3027, 4151)

    qrels = read_qrels(folder / "qrels-rnd1.txt.gz")
    pooled: dict[str, Pairs] = {
        run: {(topic, docno) for topic, one in first_of(files[run], 7).items() for docno in one}
        for run in fed
    }
    times: dict[tuple[str, str], int] = {}
    for pair in (pair for pairs in pooled.values() for pair in pairs):
        times[pair] = times.get(pair, 0) + 1
    n_alone = n_alone_relevant = 0
    for run, pairs in pooled.items():
        alone = {pair for pair in pairs if times[pair] == 1}
        relevant = sum(qrels[topic][docno] > 0 for topic, docno in alone)
        assert (by_run[run]["unique"], by_run[run]["unique_relevant"]) == (len(alone), relevant)
        n_alone, n_alone_relevant = n_alone + len(alone), n_alone_relevant + relevant
    assert found["unique"] == n_alone
    assert found["contributors"][0]["documents"] == n_alone
    assert found["contributors"][0]["relevant"] == n_alone_relevant
    assert sum(row["documents"] for row in found["contributors"]) == len(times)
    for row in found["topics"]:
        assert row["pooled"] == sum(topic == row["topic"] for topic, _ in times)
    for run in ("xj4wang_run1", "poznan_run1", "sab20.1.meta.docs", "OHSU_RUN2"):
        if run not in fed:
            continue
        # trec_eval's order is another one: say the order by scores that have no ties.
        order = first_of(files[run], 1000)
        ranked = {topic: {docno: -float(at) for at, docno in enumerate(one)}
                  for topic, one in order.items()}  # fmt: skip
        left = {
            topic: {docno: grade for docno, grade in grades.items()
                    if (topic, docno) not in pooled[run] or times[topic, docno] > 1}
            for topic, grades in qrels.items()
        }  # fmt: skip
        official = mean(average_precision(qrels, ranked).values())
        late = mean(average_precision(left, ranked).values())
        assert by_run[run]["ap"] == pytest.approx(official)
        assert by_run[run]["ap_left_out"] == pytest.approx(late)


def test_trec_covid_bpref_is_the_leaderboards(cli: Cli) -> None:
    """The 14 whole runs, to the four decimals printed."""
    folder = folder_of("trec-covid-r1")
    with (folder / "leaderboard.csv").open(encoding="utf-8") as file:
        board = {row["run"]: row for row in csv.DictReader(file)}
    files = sorted((folder / "runs-full").iterdir())
    _, by_run = diagnosed(cli, "--qrels", folder / "qrels-rnd1.txt.gz", "--order", "trec9", *files)
    assert len(by_run) == 14
    for run, row in by_run.items():
        assert row["bpref"] == pytest.approx(float(board[run]["bpref"]), abs=0.000051), run
        assert row["ap"] == pytest.approx(float(board[run]["MAP"]), abs=0.000051), run


def test_wtr_pool_has_gaps_where_its_makers_left_them(cli: Cli) -> None:
    """Depth 20 of 7 runs: 7,032 pairs, 83 of them unjudged, in a few topics."""
    folder = folder_of("wtr-pool")
    rows = [(str(path),) for path in sorted((folder / "pool-runs").iterdir())]
    qrels = folder / "rel_table_qrels.txt.gz"
    found, by_run = diagnosed(cli, "--qrels", qrels, "--runs", listed(rows, "file"), "--depth", "20")
    assert (found["pool"], found["pool_judged"]) == (7032, 6949)
    assert (found["pool_unjudged"], found["judged_outside_pool"]) == (83, 0)
    unjudged = {row["topic"]: row["pool_unjudged"] for row in found["topics"]}
    assert [unjudged[topic] for topic in ("28", "2", "40", "9", "16")] == [15, 14, 7, 5, 4]
    assert sum(unjudged.values()) == 83
    assert round(by_run["catchall"]["ap"], 4) == 0.1498
    assert round(by_run["textBefore"]["ap"], 4) == 0.1417
    text = " ".join(
        cli("diagnose", "--qrels", qrels, "--runs", "runs.tsv", "--depth", "20").fine().out.split()
    )
    assert "83 of 7,032 pooled documents (1.2 %) are unjudged" in text


def test_acordar_has_a_pool_that_is_judged_by_less_than_half(cli: Cli) -> None:
    """Files of one tag with blanks, told apart by name: 12,733 of 22,669 are unjudged."""
    folder = folder_of("acordar")
    files = sorted((folder / "runs").iterdir())
    rows = [(str(path), path.name.removesuffix(".txt.gz")) for path in files]
    options = (
        "--qrels", folder / "qrels.txt.gz", "--runs", listed(rows, "file", "name"),
        "--depth", "10", "--lenient",
    )  # fmt: skip
    found, by_run = diagnosed(cli, *options, "-m", "nDCG@10")
    assert len(by_run) == 12
    assert (found["pool"], found["pool_judged"], found["pool_unjudged"]) == (22669, 9936, 12733)
    assert found["judged_outside_pool"] == 735
    gains = {row["run"]: row["score"] for row in found["scores"]}
    assert (round(gains["BM25F"], 4), round(gains["FSDM"], 4)) == (0.5876, 0.6151)
    assert round(by_run["BM25F"]["ap"], 4) == 0.4356
    assert round(by_run["FSDM"]["ap"], 4) == 0.4602
    qrels = read_qrels(folder / "qrels.txt.gz")
    run = read_run(folder / "runs" / "BM25F.txt.gz")
    known = sum(docno in qrels[topic] for topic, one in run.items() for docno in one)
    assert by_run["BM25F"]["judged"] == pytest.approx(known / sum(map(len, run.values())))
    text = " ".join(cli("diagnose", *options).fine().out.split())
    assert "12,733 of 22,669 pooled documents (56.2 %) are unjudged" in text


def test_runs_that_made_no_pool_are_told_nothing_of_it(cli: Cli, here: Path) -> None:
    """TREC-COVID by two runs that fed no pool: what they look like is withheld, and why."""
    folder = folder_of("trec-covid-r1")
    files = [folder / "runs-top120" / f"{tag}.gz" for tag in ("BBGhelani1", "run2")]
    bare = ("--qrels", folder / "qrels-rnd1.txt.gz", *files, "--order", "docno-asc")
    found, rows = diagnosed(cli, *bare)
    assert (found["depth"], found["reason"]) == (None, "bad-guess")
    assert "unique" not in rows["run2"]
    told = " ".join(cli("diagnose", *bare).fine().out.split())
    assert "of 8,691 judged documents" in told
    assert "are not among those, so other runs or ranks made it" in told
    assert "submitted late," not in told
    cli("report", "page.html", *bare).fine()
    page = (here / "page.html").read_text("utf-8")
    assert "Nothing is concluded about the pool: " in page
    assert "What the pool owes to its runs" not in page
    assert "The difference that two runs need" not in page
