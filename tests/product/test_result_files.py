"""Files that commands write: whole, never over something else, and for whom."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from pooler import messages
from pooler.files import check_manifest, check_out, write_json, write_lines
from pooler.messages import OnTerminal as Stderr
from store.collection import Collection
from store.errors import PoolerError
from store.records import JudgeKind
from tests.helpers.run import Cli, run_inside, write

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
    assert "q: replaced an earlier result" in told
    (judged / "q.manifest.json").write_text('{"mine": 1}', "utf-8")
    refused = cli(*COMMANDS[name], "--out", "q").failed(1).err
    assert "q.manifest.json: already exists, and is not the manifest of an earlier result" in refused


@pytest.mark.parametrize("name", ["qrels", "files"])
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
        ('{"tool": "pooler", "format": "pooler collection"}', False),
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


OnTerminal = Callable[[Callable[[], object]], list[str]]


def test_words_on_stderr_fit_a_terminal_and_are_one_line_elsewhere(
    on_terminal: OnTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long warning is broken at blanks on a terminal; a path in it, and a pipe, are not."""
    path = "/a/long/way/to/" + "x" * 90
    message = f"bm25-words: already there, and left out of pools; --replace lets it contribute {path}"
    lines = on_terminal(lambda: Stderr().warn(message))
    assert lines == [
        "warning: bm25-words: already there, and left out of pools; --replace lets it",
        "contribute",
        path,
    ]
    Stderr().warn(message)
    assert capsys.readouterr().err == f"warning: {message}\n"
    assert on_terminal(lambda: Stderr().say("  indented " + "word " * 20)) == [
        "  indented " + " ".join(["word"] * 14),
        "  " + " ".join(["word"] * 6),
    ]


def test_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    """When the lines break off the old file stays, and no other is left."""
    target = tmp_path / "out.txt"
    target.write_text("old\n", "utf-8")

    def broken() -> Iterator[str]:
        yield "new"
        message = "the lines break off"
        raise PoolerError(message)

    with pytest.raises(PoolerError, match="break off"):
        write_lines(str(target), broken())
    assert target.read_text("utf-8") == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_device_is_written_through(tmp_path: Path) -> None:
    """A device takes the lines; it is not replaced by a file."""
    write_lines("/dev/null", ["x"])
    assert not Path("/dev/null").is_file()


def test_json_file_escapes_what_utf8_cannot_say(tmp_path: Path) -> None:
    """A lone surrogate, as in a file name of other bytes, is a JSON escape in a UTF-8 file."""
    write_json(str(tmp_path / "m.json"), {"file": "caf\udce9", "tag": "é"})
    content = (tmp_path / "m.json").read_bytes().decode("utf-8")
    assert json.loads(content) == {"file": "caf\udce9", "tag": "é"}
    assert "é" in content


def test_a_terminal_that_waits_is_told_until_a_word_comes(
    on_terminal: OnTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent work says that it goes on, and takes that back; work that speaks in time, and a file, do not."""
    monkeypatch.setattr(messages, "SILENCE_S", 0.01)

    def work(*, is_silent: bool) -> None:
        words = Stderr()
        with words.patience():
            time.sleep(0.2 * is_silent)
            words.say("done")

    assert on_terminal(lambda: work(is_silent=True)) == ["working ...", "", "done"]
    assert on_terminal(lambda: work(is_silent=False)) == ["done"]


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
    "annotated": ("export", "pool", "--name", "pool", "--annotated", "--qrels", "strict"),
    "prels": ("export", "prels", "--as", "xinfap", "--pool", "s", "--qrels", "strict"),
    "pool": ("export", "pool", "--name", "pool"),
}
"""Commands that make one without, and a manifest; all but the last one's names judges."""
DRAWN = ("--strategy", "stratified", "--param", "strata=1:3:1,4:20:0.3", "--depth", "20", "--seed", "1")


@pytest.mark.slow
def test_files_with_names_are_their_owners(cli: Cli, judged: Path) -> None:
    """Although the umask lets others read: nobody else may read them; nor their manifests."""
    cli("qrels", "define", "official", "--aggregate", "min").fine()
    cli("backup", "made.backup").fine()
    cli("export", "collection", "made").fine()
    before = os.umask(0o022)
    try:
        for name, command in NAMED.items():
            cli(*command).fine()
            made = [path for path in judged.iterdir() if path.name.startswith("x")]
            assert {mode(path) for path in made} == {0o600}, (name, made)
            for path in made:
                path.unlink()
    finally:
        os.umask(before)


@pytest.mark.slow
def test_files_without_names_are_as_the_umask_says(cli: Cli, judged: Path, umask: int) -> None:
    """Qrels and pools are for whom the umask lets; the manifest that names judges is not."""
    cli("pool", *DRAWN, "--name", "s").fine()
    for name, command in PUBLIC.items():
        cli(*command, "--out", name).fine()
        assert mode(judged / name) == 0o666 & ~umask
        named = mode(judged / f"{name}.manifest.json")
        assert named == (0o666 & ~umask if name == "pool" else 0o600)


@pytest.mark.slow
def test_log_of_a_collection_is_as_private(cli: Cli, here: Path, umask: int) -> None:
    """What SQLite keeps beside a collection that is open has its mode."""
    assert umask
    cli("init").fine()
    with Collection("collection.db") as opened:
        opened.judges.add("ann", JudgeKind.HUMAN)
        beside = list(here.iterdir())
        assert {path.name for path in beside} == {"collection.db", "collection.db-shm", "collection.db-wal"}
        assert {mode(path) for path in beside} == {0o600}


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("name", REPLACING)
def test_replaced_file_keeps_its_mode(cli: Cli, judged: Path, name: str) -> None:
    """Whoever opened a file to others, or closed it, need not do it again."""
    cli(*(word for word in REPLACING[name] if word != "--replace")).fine()
    for earlier in (0o664, 0o640, 0o400):
        (judged / "x").chmod(earlier)
        cli(*REPLACING[name]).fine()
        assert mode(judged / "x") == earlier


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_bytes", "put_by", "its_mode"), [(None, "replaced", 0o600), (50_000, "damaged", 0o660)]
)
def test_restored_collection_keeps_its_mode(
    cli: Cli, judged: Path, n_bytes: int | None, put_by: str, its_mode: int
) -> None:
    """What is saved of a whole one is its owner's alone; a damaged one stays as it was."""
    cli("backup", "b").fine()
    place = judged / "collection.db"
    place.write_bytes(place.read_bytes()[:n_bytes])
    place.chmod(0o660)
    cli("restore", "b", "--replace").fine()
    assert (mode(place), mode(judged / f"collection.db.{put_by}")) == (0o660, its_mode)


@pytest.fixture
def reader(postgres_url: str) -> Iterator[str]:
    """Give the address of a collection for a login that may read its tables and nothing else."""
    run_inside("init", "--scale", "0-2", "--collection", postgres_url).fine()
    url = make_url(postgres_url)
    schema = str(url.query["options"]).partition("search_path=")[2]
    name = f"reader_{uuid.uuid4().hex[:8]}"
    owner = create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with owner.connect() as connection:
        connection.execute(text(f"CREATE ROLE {name} LOGIN"))
        connection.execute(text(f"GRANT USAGE ON SCHEMA {schema} TO {name}"))
        connection.execute(text(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}"))
    yield url.set(username=name, password=None).render_as_string(hide_password=False)
    with owner.connect() as connection:
        connection.execute(text(f"DROP OWNED BY {name}"))
        connection.execute(text(f"DROP ROLE {name}"))
    owner.dispose()


@pytest.mark.slow
def test_what_another_login_may_not_do(reader: str) -> None:
    """One line with the server's reason, and which login to use."""
    answer = run_inside("judges", "add", "bob", "--collection", reader).failed(3)
    (line, hint) = answer.err.splitlines()
    assert ": the server refused it: permission denied for " in line
    assert hint.startswith("hint: use the login that owns the collection")
