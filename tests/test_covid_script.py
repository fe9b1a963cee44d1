"""The script that makes a collection of what TREC-COVID published, from end to end."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.trec_covid import data_path, leaderboard
from tests.readme_blocks import ROOT

_DAY = re.compile(r"(?<=Written by pooler )\S+ on [0-9-]+")
FILES = ("topics.covid-round1.xml", "qrels-rnd1.txt.gz", "leaderboard.csv", "runs-top120")


def made(folder: Path, programs: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    words = [sys.executable, ROOT / "docs" / "trec_covid.py", *files, folder]
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    return subprocess.run([*map(str, words)], env=env, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_it_makes_the_same_bytes_twice(programs: Path, tmp_path: Path) -> None:
    """All but the collection; scores are the official ones, qrels those that were published."""
    files = [data_path(name) for name in FILES]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        ran = made(folder, programs, *files)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "143 of 143 runs have the P@5 and nDCG@10 that were published" in ran.stdout
    names = [{path.name for path in folder.iterdir()} for folder in folders]
    assert names[0] == names[1] > {"report.html", "scores.tsv", "round1.qrels"}
    for name in names[0] - {"collection.db", "runs"}:
        one, two = (_DAY.sub("", (folder / name).read_text("utf-8")) for folder in folders)
        assert one == two, name
    with (folders[0] / "scores.tsv").open(encoding="utf-8", newline="") as lines:
        scores = {row["run"]: row["value"] for row in csv.DictReader(lines, delimiter="\t")}
    assert scores.keys() == leaderboard().keys()


def test_missing_runs_are_named_before_anything_is_made(programs: Path, tmp_path: Path) -> None:
    """A folder of runs that lacks some of the leaderboard's is refused, and so is one that is there."""
    files = [data_path(name) for name in FILES[:3]]
    (tmp_path / "runs").mkdir()
    ran = made(tmp_path / "new", programs, *files, tmp_path / "runs")
    assert ran.returncode == 1
    assert ran.stderr.startswith("143 runs are not in the folder of runs: 10x10.prf.unipd.it, ")
    assert not (tmp_path / "new").exists()
    assert made(tmp_path, programs, *files, tmp_path / "runs").stderr.startswith("usage: ")
