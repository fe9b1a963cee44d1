"""Whole outputs, byte for byte: pools, annotated pool, manifest and qrels of a tiny collection.

The expected files in `tests/golden/two_runs` are written by hand after the README there; the
manifests' hashes are those of the program sha256sum.
"""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.helpers.run import Cli

CASE = Path(__file__).resolve().parents[1] / "golden" / "two_runs"


def expected(name: str) -> bytes:
    """Return the bytes of an expected file; `@VERSION@` stands for the program's version."""
    return (CASE / "expected" / name).read_bytes().replace(b"@VERSION@", version("pooler").encode())


@pytest.fixture
def case(here: Path) -> Path:
    """Work in a copy of the input."""
    shutil.copytree(CASE / "input", here, dirs_exist_ok=True)
    return here


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pool.txt", []),
        ("pool-docno-asc.txt", ["--order", "docno-asc"]),
        ("pool-rank.txt", ["--order", "rank"]),
        ("annotated.txt", ["--annotated"]),
    ],
)
def test_pool_has_the_expected_bytes(cli: Cli, case: Path, name: str, options: list[str]) -> None:
    """The pool of two runs at depth 2, and of a third that does not contribute, is as by hand."""
    cli("pool", "--runs", "runs.tsv", "--depth", "2", "--out", "got", *options).fine()
    assert (case / "got").read_bytes() == expected(name)


def test_manifest_has_the_expected_bytes(cli: Cli, case: Path) -> None:
    """The manifest of that pool is as by hand, keys sorted."""
    cli("pool", "--runs", "runs.tsv", "--depth", "2", "--out", "got").fine()
    assert (case / "got.manifest.json").read_bytes() == expected("pool.txt.manifest.json")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("majority-low.qrels", ["low"]),
        ("majority-high-relaxed-unjudged.qrels", ["high", "--level", "relaxed", "--unjudged", "-1"]),
        ("ann.qrels", ["ann"]),
    ],
)
def test_qrels_have_the_expected_bytes(cli: Cli, case: Path, name: str, options: list[str]) -> None:
    """Three judges in one file, exported in three ways, are as by hand."""
    cli("init", "--scale", "0-2", "--name", "golden").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "2").fine()
    cli("import", "judgements", "judges.txt", "--judge-column", "2").fine()
    for ties in ("low", "high"):
        cli("qrels", "define", ties, "--aggregate", "majority", "--ties", ties).fine()
    cli("export", "qrels", *options, "--out", "got").fine()
    assert (case / "got").read_bytes() == expected(name)
    if name == "majority-low.qrels":
        assert (case / "got.manifest.json").read_bytes() == expected(f"{name}.manifest.json")
