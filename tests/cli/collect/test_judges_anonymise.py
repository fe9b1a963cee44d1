"""`pooler judges anonymise`: asked for, counted, and not to be taken back."""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers.run import Cli
from tests.helpers.world import stored_rows

NOTED = {"topic": "G01", "docno": "KG-E-002", "judge": "carla", "kind": "human", "state": "judged",
         "grade": 1, "reason": "", "note": "as my sister Dora says", "iteration": "0"}  # fmt: skip


def test_nothing_happens_without_a_yes(cli: Cli, judged: Path) -> None:
    """Nobody there to answer, or another answer, changes nothing."""
    before = stored_rows("collection.db")
    for stdin in (b"", b"no\n", b"y\n"):
        refused = cli("judges", "anonymise", "strict", stdin=stdin).failed(1)
        assert "Make 1 judge anonymous: strict? This cannot be taken back" in refused.err
        assert "error: nothing was changed: the answer was not yes" in refused.err
        assert "hint: --yes goes on without asking" in refused.err
    assert stored_rows("collection.db") == before
    cli("judges", "anonymise", "strict", "strikt", "--yes").failed(1)
    assert stored_rows("collection.db") == before


def test_names_are_gone_and_grades_are_not(cli: Cli, judged: Path) -> None:
    """New names by chance, the same grades, nothing of the old names in the file."""
    before = cli("agreement", "--format", "json").fine().json()
    answer = cli("judges", "anonymise", "strict", "lenient", stdin=b"yes\n").fine()
    assert answer.out == ""
    assert "2 judges are judge-1, judge-2 now; who is who is not recorded here" in answer.err
    told = answer.err.split("backups and exports made before are unchanged: ")[1]
    assert "they still show who it was, since they share an identity number" in told
    assert "`pooler export collection --anonymise` leaves it out" in told
    assert "backups and exports made before still tell who it was" in " ".join(
        cli("judges", "anonymise", "--help").fine().out.split()
    )
    assert "no byte of what was removed is left in it" in answer.err
    names = {row["judge"] for row in cli("judges", "list", "--format", "json").fine().json()}
    assert names == {"judge-1", "judge-2", "middle"}
    content = (judged / "collection.db").read_bytes()
    assert b"strict" not in content
    assert b"lenient" not in content
    after = cli("agreement", "--format", "json").fine().json()
    assert sorted(map(kappa, before["pairs"])) == sorted(map(kappa, after["pairs"]))
    # Who is nobody already keeps the name in an anonymised export.
    cli("judges", "anonymise", "middle", "--yes").fine()
    out = cli("export", "collection", "out", "--anonymise").fine()
    assert "they keep these names" in out.err


def kappa(row: dict[str, object]) -> str:
    """Return what a pair of judges has in common, whoever they are and which is first."""
    return json.dumps([row["n"], row["kappa"]])


def test_notes_stay_and_are_said_or_go(cli: Cli, judged: Path) -> None:
    """Words of the judge may name somebody: how many, how to see them, how to remove them."""
    (judged / "notes.jsonl").write_text(json.dumps(NOTED) + "\n", "utf-8")
    cli("import", "judgements", "notes.jsonl", "--format", "jsonl").fine()
    answer = cli("judges", "anonymise", "carla", "--yes").fine()
    assert "1 note or reason of theirs stays, and may contain names" in answer.err
    assert "pooler export judgements judge-1 --history shows them" in answer.err
    assert "Dora" in cli("export", "judgements", "judge-1", "--history").fine().out
    answer = cli("judges", "anonymise", "judge-1", "--without-notes", "--yes").fine()
    assert "1 note or reason of theirs removed" in answer.err
    assert "Dora" not in cli("export", "judgements", "judge-1", "--history").fine().out
    assert b"Dora" not in (judged / "collection.db").read_bytes()


def test_dry_run_says_who_would_be_renamed(cli: Cli, judged: Path) -> None:
    """Nobody is asked, nothing is written; a judge who is not there is a mistake all the same."""
    (judged / "n.jsonl").write_text(json.dumps(NOTED) + "\n")
    cli("import", "judgements", "n.jsonl", "--format", "jsonl").fine()
    before = stored_rows("collection.db")
    told = cli("judges", "anonymise", "carla", "lenient", "--dry-run", "--yes").fine()
    words = "2 judges would be renamed to the first free of judge-1, judge-2, ..., at random: "
    assert f"{words}carla, lenient\n" in told.err
    assert "1 note or reason of theirs would stay, and may contain names" in told.err
    assert told.err.endswith("nothing was changed: this is --dry-run\n")
    gone = cli("judges", "anonymise", "carla", "--dry-run", "--without-notes").fine()
    assert "1 note or reason of theirs would be removed" in gone.err
    refused = cli("judges", "anonymise", "strikt", "--dry-run").failed(1)
    assert "unknown judge `strikt`" in refused.err
    assert stored_rows("collection.db") == before
