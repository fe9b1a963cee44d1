"""`pooler design overlap`: documents that judges share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.run import Cli, qrels_of


def test_narrower_interval_needs_more_documents(cli: Cli, judged: Path) -> None:
    """Of two judges who judged; before judging, an assumption will do."""

    def documents(width: str) -> int | None:
        rows = cli("design", "overlap", "strict", "lenient", "--width", width, "--format", "json")
        number: int | None = rows.fine().json()[0]["documents"]
        return number

    wide, narrow = documents("0.3"), documents("0.2")
    assert wide is not None
    assert narrow is not None
    assert wide < narrow
    assert "per topic" in cli("design", "overlap").fine().out
    assumed = cli("design", "overlap", "--assume", "0.5,0.3", "--format", "json")
    assert assumed.fine().json()[0]["documents"] == 343  # relevant: .3 of each judge's documents


def test_files_give_what_the_collection_gives(cli: Cli, judged: Path) -> None:
    """A file a judge, and one of them as the reference."""
    files = [f"judgements/{name}.qrels" for name in ("strict", "lenient", "middle")]
    names = ["strict", "lenient", "middle"]
    for against in ((), ("--against", "middle")):
        options = (*against, "--width", "0.2", "--format", "json")
        stored = cli("design", "overlap", *names, *options).fine().json()
        assert (
            cli("design", "overlap", *names, *qrels_of(*files), "--scale", "0-2", *options).fine().json()
            == stored
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--assume", "x"), "`--assume` must be a kappa and a share of relevant"),
        (("--assume", "0.5,0.3", "strict"), "`--assume` is for a plan before anybody judged"),
        (("--width", "3"), "`--width` must be a number from 0.001 to 2, but got '3'"),
        (("--against", "nobody"), "unknown judge `nobody`"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, judged: Path, options: tuple[str, ...], words: str) -> None:
    """In one line that names the option."""
    failed = cli("design", "overlap", *options)
    assert failed.code in (1, 2)
    assert words in failed.err
    assert failed.out == ""
