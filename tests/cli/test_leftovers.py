"""Commands killed without warning: what they leave is named by `verify`, and goes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.helpers.run import Cli, environment, program

_SLOW = """
import time
import store.db.files as whole_files
import store.keeping.directory.write as writing
def slow(*arguments):
    print("now", flush=True)
    time.sleep(60)
whole_files.synchronise = writing.write_all_qrels = slow
"""
"""Stops a command when most is written, and nothing has its name yet."""

COMMANDS = {
    "export collection": ("export", "collection", "one"),
    "backup": ("backup", "b"),
    "export work": ("export", "work", "--judge", "strict", "--out", "b"),
    "export judgements": ("export", "judgements", "--out", "b"),
    "restore": ("restore", "made.backup", "--collection", "b"),
    "import collection": ("import", "collection", "made", "--collection", "b"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_command_leaves_what_the_next_one_removes(cli: Cli, judged: Path, name: str) -> None:
    """After `kill -9` a hidden file or folder is there; the same command again removes it."""
    cli("backup", "made.backup").fine()
    cli("export", "collection", "made").fine()
    before = {path.name for path in judged.iterdir()}
    command = [program()[0], "-c", f"{_SLOW}{program()[2]}", *COMMANDS[name]]
    with subprocess.Popen(command, cwd=judged, env=environment({}), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"now\n"
        assert "note" not in cli("verify").fine().err
        process.kill()
    left = {path.name for path in judged.glob(".*")} - before
    assert left
    assert all(one.startswith((".b.", ".one.")) for one in left)
    (note,) = cli("verify").fine().err.splitlines()
    assert note.removeprefix("note: ").split()[0] in left
    assert "left by a command that was killed; the next one that writes there removes it" in note
    cli(*COMMANDS[name]).fine()
    after = {path.name for path in judged.iterdir() if not path.name.startswith("coll")} - before
    assert after in ({"one"}, {"b"}, {"b", "b.manifest.json"})
    assert "note" not in cli("verify").fine().err
