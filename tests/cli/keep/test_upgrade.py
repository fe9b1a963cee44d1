"""`pooler upgrade`: says how the schema stands."""

from __future__ import annotations

from pathlib import Path

from store.db.engine import SCHEMA_REVISION
from tests.golden.kept import unpack
from tests.helpers.run import ROOT, Cli
from tests.helpers.world import stored_rows


def test_current_collection_is_up_to_date(cli: Cli, judged: Path) -> None:
    """A collection of the newest schema is left alone, without a backup."""
    before = sorted(path.name for path in judged.iterdir())
    answer = cli("upgrade").fine()
    assert answer.err == f"collection.db is up to date (schema {SCHEMA_REVISION})\n"
    assert sorted(path.name for path in judged.iterdir()) == before


def test_collection_of_another_version_is_refused_in_a_line(cli: Cli, here: Path) -> None:
    """It says which page carries over what is in it; nothing is changed, and a backup can be made."""
    unpack("written/built.db", here / "collection.db")
    before = stored_rows("collection.db")
    refusal = (
        f"error: collection.db has the schema 0010 of another version; this program has {SCHEMA_REVISION}\n"
        "hint: docs/upgrade.md says how to carry over what is in it\n"
    )
    for command in ("status", "verify", "upgrade"):
        assert cli(command).failed(3).err == refusal
    assert stored_rows("collection.db") == before
    assert (ROOT / "docs" / "upgrade.md").is_file()
