"""`pooler.files`: no command writes over what is not its own earlier result."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from pooler.files import check_manifest, check_out, earlier_result
from store.errors import PoolerError
from tests.helpers.run import Cli, write

COMMANDS = {
    "qrels": ("export", "qrels", "strict"),
    "pool": ("export", "pool"),
    "annotated": ("export", "pool", "--annotated", "--qrels", "strict"),
    "judgements": ("export", "judgements"),
    "history": ("export", "judgements", "--history"),
    "ntcir": ("export", "qrels", "strict", "--as", "ntcireval"),
    "files": ("pool", "--runs", "runs.tsv", "--depth", "3"),
    "collection": ("pool", "--depth", "5"),
}
"""Commands that write a result and its manifest, on the sample collection."""

REPLACED = {
    "qrels": "single judge strict",
    "pool": "84 documents by strategy depth",
    "annotated": "84 documents by strategy depth",
    "judgements": "252 judgements",
    "history": "252 judgement events",
    "ntcir": "single judge strict",
    "collection": "84 documents by strategy depth",
}
"""What each is said to have replaced."""


@pytest.mark.parametrize("name", COMMANDS)
def test_collection_is_never_written_over(cli: Cli, judged: Path, name: str) -> None:
    """As result and as manifest the collection is refused, before any work; nothing changes."""
    before = (judged / "collection.db").read_bytes()
    refused = cli(*COMMANDS[name], "--out", "collection.db").failed(1).err
    assert "collection.db: already exists, and is not an earlier result (it is a database)" in refused
    assert "hint: name another file, or remove this one first" in refused
    if name not in ("pool", "annotated"):
        refused = cli(*COMMANDS[name], "--out", "q", "--manifest", "collection.db").failed(1).err
        assert "collection.db: already exists, and is not the manifest of an earlier result" in refused
        assert not (judged / "q").exists()
    assert (judged / "collection.db").read_bytes() == before


@pytest.mark.parametrize("name", COMMANDS)
def test_earlier_result_is_replaced_and_told(cli: Cli, judged: Path, name: str) -> None:
    """The second time the same command replaces its own result, and says so on stderr."""
    write(judged / "q", "mine")
    assert "q: already exists, and is not an earlier result (it has no q.manifest.json)" in (
        cli(*COMMANDS[name], "--out", "q").failed(1).err
    )
    (judged / "q").write_text("", "utf-8")
    assert "replaced" not in cli(*COMMANDS[name], "--out", "q").fine().err
    assert (judged / "q").stat().st_size
    told = cli(*COMMANDS[name], "--out", "q").fine().err
    assert f"q: replaced an earlier result ({REPLACED.get(name, '')}" in told
    (judged / "q.manifest.json").write_text('{"mine": 1}', "utf-8")
    refused = cli(*COMMANDS[name], "--out", "q").failed(1).err
    assert "q.manifest.json: already exists, and is not the manifest of an earlier result" in refused


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("n_named", [0, 1])
def test_what_a_killed_command_left_is_no_obstacle(
    cli: Cli, judged: Path, name: str, n_named: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before its first or its second file has its name: the same command goes through."""
    named, replace = [], Path.replace

    def stop(self: Path, target: Path) -> Path:
        if len(named) == n_named:
            raise KeyboardInterrupt
        named.append(target.name)
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", stop)
        assert cli(*COMMANDS[name], "--out", "q").code == 130
    assert named == ["q.manifest.json"][:n_named]
    cli(*COMMANDS[name], "--out", "q").fine()
    assert (judged / "q").stat().st_size


def test_pool_that_was_imported_can_be_exported_twice(cli: Cli, here: Path) -> None:
    """Its plan is another's; the manifest beside the file is pooler's all the same."""
    cli("init", "--scale", "0-2").fine()
    write(here / "q", "10 0 d1 2")
    cli("import", "judgements", "q", "--judge", "me", "--as-pool", "official").fine()
    for said in (False, True):
        told = cli("export", "pool", "--name", "official", "--out", "p").fine().err
        assert ("p: replaced an earlier result" in told) == said


def test_manifest_of_judgements_says_what_was_written(cli: Cli, judged: Path) -> None:
    """Counts, hash, format, and whether it is the history; one line on stderr says how many."""
    told = cli("export", "judgements", "strict", "middle", "--out", "j").fine().err
    assert told == "168 judgements of 2 judges: 168 judged\n"
    facts = json.loads((judged / "j.manifest.json").read_text("utf-8"))
    del facts["version"]
    assert facts == {
        "tool": "pooler", "collection": "collection", "format": "jsonl", "history": False,
        "judgements": 168, "by_judge": {"middle": 84, "strict": 84},
        "by_state": {"judged": 168, "skipped": 0, "cannot": 0, "unjudged": 0},
        "sha256": hashlib.sha256((judged / "j").read_bytes()).hexdigest(),
    }  # fmt: skip
    options = ("--history", "--as", "tsv", "--out", "h", "--manifest", "m.json")
    told = cli("export", "judgements", "strict", *options).fine().err
    assert told == "84 judgement events of 1 judge: 84 judge\n"
    facts = json.loads((judged / "m.json").read_text("utf-8"))
    assert (facts["events"], facts["by_action"], facts["format"]) == (84, {"judge": 84}, "tsv")
    assert facts["history"] is True
    assert facts["sha256"] == hashlib.sha256((judged / "h").read_bytes()).hexdigest()
    assert cli("export", "judgements", "strict").fine().err.startswith("84 judgements of 1 judge")


@pytest.mark.parametrize(
    ("content", "is_ours"),
    [
        ('{"tool": "pooler"}', True),
        ('{"program": "pooler 0.1.0"}', True),
        ('{"program": "poolerx"}', False),
        ('{"tool": "trec_eval"}', False),
        ('{"tool": "pooler", "format": "pooler collection directory"}', False),
        ('["pooler"]', False),
        ("1 0 a 1\n", False),
        ("[" * 100_000, False),
        ("\xff", False),
        ("", True),
    ],
)
def test_manifest_is_replaced_when_it_is_ours(tmp_path: Path, content: str, is_ours: bool) -> None:
    """An object that names pooler, and is not what holds a directory together; or nothing."""
    path = tmp_path / "m.json"
    path.write_text(content, "latin-1")
    if is_ours:
        check_manifest(str(path))
        return
    with pytest.raises(PoolerError, match="already exists, and is not the manifest"):
        check_manifest(str(path))


def test_result_and_manifest_are_two_files(tmp_path: Path) -> None:
    """One place, however it is written, cannot take both."""
    (tmp_path / "b").mkdir()
    with pytest.raises(PoolerError, match="cannot be both the result and its manifest"):
        check_out(str(tmp_path / "a"), str(tmp_path / "b" / ".." / "a"))


def test_words_on_an_earlier_result_are_of_its_manifest(tmp_path: Path) -> None:
    """A rule is told with its judges, ties and level; without a manifest nothing is told of it."""
    out, beside = tmp_path / "q", tmp_path / "m"
    assert earlier_result(str(out), str(beside)) is None
    write(out, "1 0 a 1")
    assert earlier_result(str(out), str(beside)) == f"{out}: replaced an earlier result"
    facts = {"tool": "pooler", "rule": "majority", "judges": [{}] * 3, "ties": "low", "level": 1}
    beside.write_text(json.dumps(facts), "utf-8")
    said = earlier_result(str(out), str(beside))
    assert said == f"{out}: replaced an earlier result (majority of 3 judges, ties low, level 1)"


@pytest.mark.parametrize("form", ["table", "tsv"])
def test_a_dash_is_stdout_of_a_table_and_no_place_for_a_file(cli: Cli, judged: Path, form: str) -> None:
    """A table goes to stdout; what is a file or a folder of its own is refused."""
    shown = cli("show", "runs", "--format", form).fine().out
    assert cli("show", "runs", "--format", form, "--out", "-").fine().out == shown
    cli("judges", "add", "ann").fine()
    for words in ("backup -", "export work ann --out -", "export work --all -", "export collection -",
                  "restore collection.db --collection -"):  # fmt: skip
        assert "stands for standard output" in cli(*words.split()).err.splitlines()[0], words
    assert not (judged / "-").exists()


def test_a_limit_takes_the_same_rows_in_every_form(cli: Cli, judged: Path) -> None:
    """The best run stands first, of one measure and of several; a sorted table as it is sorted."""
    best = (
        cli("evaluate", "-m", "AP", "--qrels", "strict", "--limit", "1").fine().out.splitlines()[2].split()[0]
    )
    for more in (["-m", "AP"], ["-m", "AP", "-m", "P@5"]):
        found = cli("evaluate", *more, "--qrels", "strict", "--limit", "1", "--format", "json").fine().json()
        assert [row["run"] for row in found["measures"]] == [best]
    least = cli("evaluate", "-m", "AP", "--qrels", "strict", "--limit", "1", "--sort", "value").fine().out
    found = cli("evaluate", "-m", "AP", "--qrels", "strict", "--limit", "1", "--sort", "value",
                "--format", "json").fine().json()  # fmt: skip
    assert found["measures"][0]["run"] == least.splitlines()[2].split()[0] != best
