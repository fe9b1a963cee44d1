"""`pooler copy`: from a file to a server and back, as users see it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.trec_covid import data_path


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_garden_is_the_same_at_three_places(cli: Cli, judged: Path, postgres_url: str) -> None:
    """The sample collection on SQLite, PostgreSQL and SQLite again exports the same bytes."""
    said = cli("copy", "collection.db", postgres_url).fine()
    assert "252 judgement events, 544 rows in all" in said.err
    cli("copy", postgres_url, "last.db").fine()
    exports = []
    for number, place in enumerate(("collection.db", postgres_url, "last.db")):
        cli("export", "collection", f"e{number}", "--collection", place).fine()
        exports.append(bytes_of(judged / f"e{number}"))
        cli("verify", "--collection", place).fine()
    assert exports[0] == exports[1] == exports[2]


def test_refusals(cli: Cli, judged: Path, postgres_url: str) -> None:
    """What cannot be copied is said in one line, with what to do."""
    cli("copy", "collection.db", "collection.db").failed(1)
    cli("copy", "none.db", "new.db").failed(3)
    cli("copy", "collection.db", "runs.tsv").failed(3)
    cli("copy", "collection.db", postgres_url).fine()
    assert "already holds" in cli("copy", "collection.db", postgres_url).failed(3).err
    cli("copy", postgres_url, "no/new.db").failed(3)
    assert not (judged / "new.db").exists()


@pytest.mark.slow
def test_trec_covid_is_the_same_at_three_places(
    cli: Cli, here: Path, postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """TREC-COVID round 1, all runs and grades: the same bytes from all three places."""
    runs = sorted(data_path("runs-top120").glob("*.gz"))
    cli("init", "--scale", "0-2").fine()
    cli("import", "topics", data_path("topics.covid-round1.xml")).fine()
    cli("import", "runs", *runs, "--lenient").fine()
    cli("pool", "--depth", "7").fine()
    cli("import", "judgements", data_path("qrels-rnd1.txt.gz"), "--judge", "nist").fine()
    exports, took = [], []
    places = ("collection.db", postgres_url, "last.db")
    for number, place in enumerate(places):
        if number:
            began = time.monotonic()
            cli("copy", places[number - 1], place).fine()
            took.append(time.monotonic() - began)
        cli("export", "collection", f"e{number}", "--collection", place).fine()
        exports.append(bytes_of(here / f"e{number}"))
    assert exports[0] == exports[1] == exports[2]
    size = (here / "collection.db").stat().st_size / 1e6
    with capsys.disabled():
        sys.stdout.write(f"\n{len(runs)} runs, {size:.0f} MB: to the server {took[0]:.1f} s,"
                         f" back {took[1]:.1f} s\n")  # fmt: skip
