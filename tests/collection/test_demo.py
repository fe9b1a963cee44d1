"""`pooler demo`: the whole chain in a minute, and nothing left behind."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest

from pooler.commands.start.demo import NEXT, STEPS
from tests.helpers.run import GARDEN, Cli


def test_demo_runs_the_chain_and_leaves_nothing(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step succeeds, well under a minute, and neither folder nor collection is left."""
    temporary = here / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("POOLER_COLLECTION", "mine.db")
    started = time.monotonic()
    answer = cli("demo").fine()
    assert time.monotonic() - started < 60
    for _, command in STEPS:
        assert f"$ {command}\n" in answer.err
    assert "agreement on grades" in answer.out
    assert list(temporary.iterdir()) == []
    assert [path.name for path in here.iterdir()] == ["tmp"]


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [False, True])
def test_kept_demo_is_a_collection_to_go_on_with(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """`--keep` makes the folder, or fills an empty one; the commands named last work there."""
    if is_there:
        (here / "garden").mkdir()
    cli("demo", "--keep", "garden").fine()
    assert not list((here / "garden").glob("collection.db-*"))
    monkeypatch.chdir(here / "garden")
    for line in NEXT:
        command = line.partition("#")[0].split()
        assert command[0] == "pooler"
        cli(*command[1:]).fine()
    qrels = (here / "garden" / "qrels.txt").read_text("utf-8").splitlines()
    assert len(qrels) == 84
    assert (here / "garden" / "runs.tsv").read_bytes() == (GARDEN / "runs.tsv").read_bytes()


def test_filled_folder_is_refused_and_kept(cli: Cli, here: Path) -> None:
    """`--keep` refuses a folder with something in it and leaves that alone."""
    (here / "garden").mkdir()
    (here / "garden" / "mine.txt").write_text("mine", "utf-8")
    refused = cli("demo", "--keep", "garden").failed(1)
    assert "garden already exists and is not empty" in refused.err
    assert [path.name for path in (here / "garden").iterdir()] == ["mine.txt"]


def test_demo_that_cannot_be_kept_says_why(cli: Cli, here: Path) -> None:
    """A place where no folder can be made is an error in words."""
    (here / "file").write_text("", "utf-8")
    assert "file/garden" in cli("demo", "--keep", "file/garden").failed(1).err
