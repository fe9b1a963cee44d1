"""Who may read what a command makes: its owner alone, where judges are named in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import JudgeKind
from tests.helpers.run import Cli

pytestmark = pytest.mark.slow


@pytest.fixture(params=[0o022, 0o077], ids=["022", "077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Work under a umask."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    """Return who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


NAMED = {
    "backup": ("backup", "x"),
    "export judgements": ("export", "judgements", "--out", "x"),
    "history": ("export", "judgements", "--history", "--out", "x"),
    "report": ("report", "x", "--depth", "5", "--qrels", "strict"),
    "restore": ("restore", "made.backup", "--collection", "x"),
    "import collection": ("import", "collection", "made", "--collection", "x"),
    "init": ("init", "--collection", "x"),
}
"""Commands that make a file `x` with the names of judges."""

PUBLIC = {
    "qrels": ("export", "qrels", "strict"),
    "ntcir": ("export", "qrels", "strict", "--as", "ntcireval"),
    "annotated": ("export", "pool", "--annotated", "--qrels", "strict"),
    "pool": ("export", "pool"),
}
"""Commands that make one without, and a manifest; all but the last one's names judges."""


@pytest.mark.parametrize("name", NAMED)
def test_files_with_names_are_their_owners(cli: Cli, judged: Path, umask: int, name: str) -> None:
    """Whatever the umask: nobody else may read them; nor their manifests."""
    assert umask
    cli("qrels", "define", "official", "--aggregate", "min").fine()
    cli("backup", "made.backup").fine()
    cli("export", "collection", "made").fine()
    cli(*NAMED[name]).fine()
    made = [path for path in judged.iterdir() if path.name.startswith("x")]
    assert {mode(path) for path in made} == {0o600}, made


@pytest.mark.parametrize("name", PUBLIC)
def test_files_without_names_are_as_the_umask_says(cli: Cli, judged: Path, umask: int, name: str) -> None:
    """Qrels and pools are for whom the umask lets; the manifest that names judges is not."""
    cli(*PUBLIC[name], "--out", "x").fine()
    assert mode(judged / "x") == 0o666 & ~umask
    named = mode(judged / "x.manifest.json")
    assert named == (0o666 & ~umask if name == "pool" else 0o600)


def test_manifest_of_prels_is_its_owners(cli: Cli, judged: Path, umask: int) -> None:
    """The prels are as the umask says; whose grades they have is not for all to read."""
    options = ("--strategy", "stratified", "--param", "strata=1:3:1,4:20:0.3", "--depth", "20")
    cli("pool", *options, "--seed", "1", "--name", "s").fine()
    cli("export", "prels", "--as", "xinfap", "--pool", "s", "--qrels", "strict", "-o", "x").fine()
    assert mode(judged / "x") == 0o666 & ~umask
    assert mode(judged / "x.manifest.json") == 0o600


def test_log_of_a_collection_is_as_private(cli: Cli, here: Path, umask: int) -> None:
    """What SQLite keeps beside a collection that is open has its mode."""
    assert umask
    cli("init").fine()
    with Collection("collection.db") as opened:
        opened.judges.add("ann", JudgeKind.HUMAN)
        beside = list(here.iterdir())
        assert {path.name for path in beside} == {"collection.db", "collection.db-shm", "collection.db-wal"}
        assert {mode(path) for path in beside} == {0o600}


@pytest.mark.parametrize("export_choice", [(), ("--anonymised",)])
def test_exported_directory(cli: Cli, judged: Path, umask: int, export_choice: tuple[str, ...]) -> None:
    """Folders and files are their owner's alone, unless judges have other names in them."""
    cli("qrels", "define", "official", "--aggregate", "min").fine()
    cli("export", "collection", "made", *export_choice).fine()
    everything = [judged / "made", *(judged / "made").rglob("*")]
    hidden = umask if export_choice else 0o077
    for path in everything:
        assert mode(path) == (0o777 if path.is_dir() else 0o666) & ~hidden, path


REPLACING = {
    "backup": ("backup", "x", "--replace"),
    "export judgements": ("export", "judgements", "--out", "x"),
    "qrels": ("export", "qrels", "strict", "--out", "x"),
}
"""Commands that put something in the place of `x`."""


@pytest.mark.parametrize("earlier", [0o664, 0o640, 0o400])
@pytest.mark.parametrize("name", REPLACING)
def test_replaced_file_keeps_its_mode(cli: Cli, judged: Path, name: str, earlier: int) -> None:
    """Whoever opened a file to others, or closed it, need not do it again."""
    cli("backup", "made.backup").fine()
    cli(*(word for word in REPLACING[name] if word != "--replace")).fine()
    (judged / "x").chmod(earlier)
    cli(*REPLACING[name]).fine()
    assert mode(judged / "x") == earlier


def test_restored_collection_keeps_its_mode(cli: Cli, judged: Path) -> None:
    """What is saved of it before is its owner's alone."""
    cli("backup", "b").fine()
    (judged / "collection.db").chmod(0o660)
    cli("restore", "b", "--replace").fine()
    assert mode(judged / "collection.db") == 0o660
    assert mode(judged / "collection.db.replaced") == 0o600


def test_damaged_collection_leaves_its_mode_to_the_restored_one(cli: Cli, judged: Path) -> None:
    """`restore` puts a backup in its place, readable for the same accounts."""
    cli("backup", "b").fine()
    place = judged / "collection.db"
    place.write_bytes(place.read_bytes()[:50_000])
    place.chmod(0o660)
    cli("restore", "b", "--replace").fine()
    assert (mode(place), mode(judged / "collection.db.damaged")) == (0o660, 0o660)
