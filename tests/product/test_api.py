"""The API: quick to import, every name explained, and what a command prints."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import pooler
import pooler as p
from store.records import Action
from tests.helpers.run import START, copy_garden
from tests.helpers.wine import make, work


@pytest.mark.parametrize("name", pooler.__all__)
def test_every_public_name_is_there_and_explained(name: str) -> None:
    """It is imported, is listed, and says what it is."""
    found = getattr(pooler, name)
    assert found.__name__ == name
    assert found.__doc__
    assert name in dir(pooler)


def test_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="nope"):
        _ = pooler.nope


@pytest.mark.parametrize("shape", ["store.py", "store/__init__.py"])
def test_store_of_somebody_else_is_named_in_a_line(shape: str, tmp_path: Path) -> None:
    """Both the command and the notebook say where it is, and what to do; nothing of it is imported."""
    other = tmp_path / shape
    other.parent.mkdir(exist_ok=True)
    other.write_text("raise SystemExit('somebody else was imported')")
    for code, last in (
        (START, "error: another `store` stands before pooler's own"),
        ("import pooler; pooler.evaluate", "ImportError: another `store` stands before pooler's own"),
    ):
        ran = subprocess.run(
            [sys.executable, "-c", code, "status"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stdout) == (1, "")
        line = ran.stderr.splitlines()[-1]
        assert line.startswith(f"{last}: {other}")
        assert "an environment of its own" in line


PLACE = "collection.db"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a collection of the sample's topics and runs."""
    monkeypatch.chdir(tmp_path)
    copy_garden(tmp_path)
    p.init(PLACE, "0-2")
    p.import_topics(PLACE, "topics.jsonl")
    p.import_runs(PLACE, runs="runs.tsv")
    return tmp_path


def test_an_action_says_what_it_did(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In numbers, and in the sentences of the command; a collection may be open, or be named."""
    with p.open_collection(PLACE) as opened:
        done = p.import_judgements(opened, Path("judgements/strict.qrels"), judge="ann", kind="human")
    assert done.counts == {"added": 84, "unchanged": 0, "replaced": 0}
    assert done.messages == ("judgements/strict.qrels: 84 judgements added of ann",)
    assert repr(done) == done.messages[0]
    assert done.settings["judge"] == "ann"
    again = p.import_judgements(PLACE, "judgements/strict.qrels", judge="ann", kind="human")
    assert again.counts["unchanged"] == 84
    assert p.import_docs(PLACE, "documents.jsonl", all_texts=True).counts["added"] == 106
    assert p.judges_add(PLACE, "ben").messages == ("judge ben (human) added",)
    assert capfd.readouterr() == ("", "")


def test_a_code_is_returned_and_not_printed(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Who has it judges as this judge: it stands in the result alone, and in no settings."""
    p.judges_add(PLACE, ["ann", "ben"])
    done = p.judges_code(PLACE, "ann")
    (code,) = done.written
    with p.open_collection(PLACE) as opened:
        access = opened.codes.judge_of(code)
    assert access is not None
    assert access.judge == "ann"
    assert code not in repr(done)
    assert p.judges_code(PLACE, "ben", revoke=True).written == ()
    assert capfd.readouterr() == ("", "")


def test_an_erased_judge_is_gone_without_a_question(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A dry run counts what then goes."""
    p.import_judgements(PLACE, "judgements/strict.qrels", judge="ann")
    would = p.judges_erase(PLACE, "ann", dry_run=True)
    assert would.counts["judgements"] == 84
    assert p.judges_erase(PLACE, "ann").counts == would.counts
    with pytest.raises(p.UnknownNameError, match="unknown judge `ann`"):
        p.judges_erase(PLACE, "ann")
    assert capfd.readouterr() == ("", "")


def test_a_file_is_refused_with_all_its_faults(made: Path) -> None:
    """Nothing of it is in the collection; a warning is in the result."""
    Path("bad.qrels").write_text("G01 0 KG-E-002 9\nG01 0 KG-E-008 x\n")
    with pytest.raises(p.FormatError) as refused:
        p.import_judgements(PLACE, "bad.qrels", judge="ann")
    assert [fault.line for fault in refused.value.faults] == [1, 2]
    Path("zero.qrels").write_text("G01 0 KG-E-002 0\nG01 0 KG-E-008 0\n")
    done = p.import_judgements(PLACE, "zero.qrels", judge="ann")
    assert "every grade is 0" in done.warnings[0]
    assert repr(done).endswith(f"warning: {done.warnings[0]}")


def test_a_backup_is_a_collection_again(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What was there is kept; a judge who was erased since does not come back unasked."""
    p.import_judgements(PLACE, "judgements/strict.qrels", judge="ann")
    assert p.backup(PLACE, "monday.backup").counts["events"] == 84
    p.judges_erase(PLACE, "ann")
    with pytest.raises(p.StoreError):
        p.restore(PLACE, "monday.backup", replace=True)
    done = p.restore(PLACE, "monday.backup", replace=True, with_erased=True)
    assert (done.counts["events"], Path(done.counts["kept"]).is_file()) == (84, True)
    assert p.verify(PLACE).n_faults == 0
    assert capfd.readouterr() == ("", "")


def test_an_export_is_a_file_or_lines_in_the_result(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same bytes both ways; a file has its manifest, and is not replaced by another's lines."""
    p.import_judgements(PLACE, "judgements/strict.qrels", judge="ann")
    lines = p.export_judgements(PLACE, "ann").written
    done = p.export_judgements(PLACE, ["ann"], out=Path("j.jsonl"))
    assert (len(lines), done.counts["judgements"], done.written) == (84, 84, ())
    assert Path("j.jsonl").read_text("utf-8") == "".join(f"{line}\n" for line in lines)
    assert Path("j.jsonl.manifest.json").is_file()
    with pytest.raises(p.PoolerError, match="is not an earlier result"):
        p.export_judgements(PLACE, out="topics.jsonl")
    assert p.import_judgements(PLACE, "j.jsonl", form="jsonl").counts["unchanged"] == 84
    graded = Path("judgements/strict.qrels").read_text("utf-8").splitlines()
    binary = p.export_qrels(PLACE, level=1).written
    assert [line[-1] == "1" for line in binary].count(True) == sum(line[-1] > "0" for line in graded) == 32
    with pytest.raises(p.ArgumentError, match="where 2 files are written"):
        p.export_qrels(PLACE, level=[1, 2], out="q.txt")
    assert p.export_collection(PLACE, "published", without_runs=True).counts["judgement"] == 84
    assert p.import_collection("again.db", Path("published")).counts["judgement"] == 84
    assert capfd.readouterr() == ("", "")


def test_faults_are_counted_with_examples(here: Path) -> None:
    """A whole collection has none; of a damaged one every check tells its faults."""
    place = make(here / "collection.db")
    work(place, ("ann", "a", Action.JUDGE, 1))
    with p.open_collection(str(place)) as collection:
        assert (p.verify(collection).n_faults, p.verify(collection).checks[0].name) == (0, "file")
    with closing(sqlite3.connect(place)) as opened:
        opened.execute("UPDATE judgement SET grade = 7")
        opened.commit()
    found = p.verify(place)
    assert found.n_faults == sum(one.n_faults for one in found.checks) > 0
    assert found.table("verify").cells("faults") == [one.n_faults for one in found.checks]
    assert any("grade 7" in example for one in found.checks for example in one.examples)
