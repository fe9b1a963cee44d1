"""`pooler init`: an empty collection with a declared scale."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.run import Cli, write


@pytest.mark.parametrize(
    ("scale", "values"), [("0-2", "0 1 2"), ("binary", "0 1"), ("ntcir", "0 1 2 3"), ("-2-1", "-2 -1 0 1")]
)
def test_scale_is_declared(cli: Cli, here: Path, scale: str, values: str) -> None:
    """The grades of the scale are said on stderr and are columns of the status."""
    answer = cli("init", "--scale", scale).fine()
    assert (answer.out, answer.err.startswith("made collection.db; grades: ")) == ("", True)
    cli("judges", "add", "anna").fine()
    header = cli("status", "--format", "tsv").fine().out.splitlines()[0].split("\t")
    assert [name for name in header if name.startswith("grade_")] == [
        f"grade_{value}" for value in values.split()
    ]


def test_scale_comes_from_a_toml_file(cli: Cli, here: Path) -> None:
    """A TOML file of [[grade]] tables declares values, labels and keys."""
    write(
        here / "scale.toml",
        *('[[grade]]\nvalue = -2\nlabel = "junk"\nkey = "j"', '[[grade]]\nvalue = 0\nlabel = "no"'),
        '[[grade]]\nvalue = 1\nlabel = "yes"\nkey = "y"',
    )
    said = cli("init", "--scale", "scale.toml").fine().err
    assert "grades: -2 junk [j], 0 no [0], 1 yes [y]" in said


def test_collection_has_a_name(cli: Cli, here: Path) -> None:
    """Its name is its file's unless it is given."""
    cli("init", "--collection", "wine.db").fine()
    assert cli("status", "--collection", "wine.db").fine().out.startswith("wine (wine.db)\n")
    cli("init", "--collection", "beer.db", "--name", "Beer & wine").fine()
    told = cli("status", "--collection", "beer.db").fine().out
    assert told.startswith("Beer & wine (beer.db)\n")


def test_postgresql_holds_a_collection(cli: Cli, postgres_url: str, garden: Path) -> None:
    """On PostgreSQL the same commands give the same pool and the same qrels as on SQLite."""
    options = ("--collection", postgres_url)
    cli("init", *options).fine()
    cli("import", "runs", "--runs", "runs.tsv", *options).fine()
    cli("pool", "--depth", "5", "--out", "stored.txt", *options).fine()
    cli("pool", "--runs", "runs.tsv", "--depth", "5", "--out", "files.txt").fine()
    for suffix in ("", ".manifest.json"):
        stored, files = (garden / f"{name}.txt{suffix}" for name in ("stored", "files"))
        assert stored.read_bytes() == files.read_bytes()
    strict = "judgements/strict.qrels"
    cli("import", "judgements", strict, "--judge", "strict", *options).fine()
    assert cli("export", "qrels", *options).fine().out == (garden / strict).read_text("utf-8")
    assert "already holds a collection" in cli("init", *options).failed(3).err
