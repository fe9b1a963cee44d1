"""Runs go out of a collection byte for byte as they were handed in."""

from __future__ import annotations

import gzip
import hashlib
import os
import threading
import zlib
from pathlib import Path

import pytest

from store.collection import Collection
from tests.golden.kept import unpack
from tests.helpers.run import Cli
from tests.helpers.world import carry, change_stored
from tests.trec_covid import data_path

HEAD = "# ir_metadata.start\n# actor: {team: g}\n# ir_metadata.end\n"
FORMS = {
    "shortest": "1 Q0 a 1 12.5 {}\n1 Q0 b 2 3.0 {}\n2 Q0 a 1 1e-05 {}\n",
    "shortest-tabs": "1\tQ0\ta\t1\t12.5\t{}\n1\tQ0\tb\t2\t3.0\t{}\n",
    "bare": "1 Q0 a 1 12.5 {}\n1 Q0 b 2 3 {}\n",
    "bare-tabs": "1\tQ0\ta\t1\t1000\t{}\n1\tQ0\tb\t2\t-3.5\t{}\n",
    "fixed": "1 Q0 a 1 12.340 {}\n1 Q0 b 2 3.125 {}\n",
    "fixed-tabs": "1\tQ0\ta\t1\t12.3400\t{}\n2\tQ0\tb\t1\t-3.1251\t{}\n",
    "four": "1 Q0 a 1 12.5000 {}\n1 Q0 b 2 3.1200 {}\n",
    "four-tabs": "1\tQ0\ta\t1\t12.0000\t{}\n1\tQ0\tb\t2\t3.0000\t{}\n",
    "six": "1 Q0 a 1 12.340000 {}\n1 Q0 b 2 3.000000 {}\n",
    "nine": "1 Q0 a 1 0.123456780 {}\n1 Q0 b 2 0.000000001 {}\n",
}
OTHERS = {
    "partly-bare": "1 Q0 a 1 12.0 {}\n1 Q0 b 2 3 {}\n2 Q0 a 1 2 {}\n",
    "digits": "1 Q0 a 1 0.12345678901234567890123 {}\n1 Q0 b 2 0.1 {}\n",
    "zeros": "1 Q0 a 1 1.50000000 {}\n1 Q0 b 2 1.25000000 {}\n",
    "exponents": "1 Q0 a 1 1.250000e+01 {}\n1 Q0 b 2 3.000000e-02 {}\n",
    "signs": "1 Q0 a 1 +2.5 {}\n1 Q0 b 2 .5 {}\n1 Q0 c 3 -0.0 {}\n",
    "late-other": "1 Q0 a 1 2.5 {}\n1 Q0 b 2 1.5 {}\n2 Q0 a 1 2.50 {}\n",
    "topics": "10 Q0 a 1 2.5 {}\n9 Q0 b 1 1.5 {}\n",
    "mixed": "1 Q0 a 1 2.5 {}\n1\tQ0\tb\t2\t1.5\t{}\n",
    "tab-in-line": "1 Q0 a 1\t2.5 {}\n1 Q0 b 2\t1.5 {}\n",
    "blanks": "1 Q0   a 1 2.5 {}\n 1 Q0 b 2 1.5 {} \n",
    "windows": "1 Q0 a 1 2.5 {}\r\n1 Q0 b 2 1.5 {}\r\n",
    "open-end": "1 Q0 a 1 2.5 {}\n1 Q0 b 2 1.5 {}",
    "empty-lines": "\n1 Q0 a 1 2.5 {}\n\n1 Q0 b 2 1.5 {}\n\n",
    "empty-end": "1 Q0 a 1 2.5 {}\n1 Q0 b 2 1.5 {}\n\n",
    "zero": "1 0 a 1 2.5 {}\n1 0 b 2 1.5 {}\n",
    "ranks": "1 Q0 a 01 2.5 {}\n1 Q0 b 02 1.5 {}\n",
    "no-ranks": "1 Q0 a first 2.5 {}\n1 Q0 b then 1.5 {}\n",
}
"""What a collection cannot make anew of numbers."""
LENIENT = {
    "more": "1 Q0 a 1 2.5 {} by bm25\n1 Q0 b 2 1.5 {}\n",
    "comments": "# made on Monday\n1 Q0 a 1 2.5 {}\n# its end\n1 Q0 b 2 1.5 {}\n",
    "split": "1 Q0 a 1 2.5 {}\n2 Q0 b 1 1.5 {}\n1 Q0 c 2 1.5 {}\n",
    "marked": "1 Q0 a 1 2.5 {}\n1 Q0 b 2 1.5 {}\n",
    "tags": "1 Q0 a 1 2.5 other\n1 Q0 b 2 1.5 {0}\n1 Q0 c 2 1.5 {0}\n",
}
"""Accepted with `--lenient` alone."""


def written(text: str, name: str, head: str = HEAD) -> bytes:
    """Return a run file of a form."""
    return (head + text.replace("{0}", name).replace("{}", name)).encode()


def runs_of(folder: Path) -> dict[str, bytes]:
    """Read the run files of an export."""
    return {path.stem: path.read_bytes() for path in (folder / "runs").iterdir()}


def out_and_in(
    cli: Cli,
    here: Path,
    files: dict[str, bytes],
    *options: str,
    collection: str = "collection.db",
    again: str = "again.db",
) -> tuple[dict[str, bytes], str]:
    """Return the run files of an export, and what was said; the export comes back and gives itself again."""
    (here / "in").mkdir()
    for name, content in files.items():
        (here / "in" / f"{name}.run").write_bytes(content)
    cli("init", "--scale", "0-1", "--collection", collection).fine()
    cli("import", "runs", *sorted((here / "in").iterdir()), *options, "--collection", collection).fine()
    said = cli("export", "collection", "out", "--collection", collection).fine().err
    cli("import", "collection", "out", "--collection", again).fine()
    cli("export", "collection", "out2", "--collection", again).fine()
    assert (here / "out" / "manifest.json").read_bytes() == (here / "out2" / "manifest.json").read_bytes()
    for one in (collection, again):
        assert "no fault found" in cli("verify", "--collection", one).fine().out
    return runs_of(here / "out"), said


def kept_of(name: str) -> dict[str, int | None]:
    """Return how many bytes of each run are kept as text."""
    with Collection(name) as opened:
        texts = {run.tag: opened.runs.get(run).as_handed_in for run in opened.runs.all()}
    return {tag: None if text is None else len(text) for tag, text in texts.items()}


@pytest.mark.parametrize("head", [HEAD, ""])
def test_each_form_comes_out_as_it_went_in(cli: Cli, here: Path, head: str) -> None:
    """Tabs or blanks; shortest, bare, fixed scores."""
    files = {name: written(text, name, head) for name, text in FORMS.items()}
    found, said = out_and_in(cli, here, files)
    assert found == files
    assert "byte for byte" not in said
    for name in ("collection.db", "again.db"):
        assert {length is not None for length in kept_of(name).values()} == {bool(head)}
    again = {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
    listed = (here / "out" / "runs.tsv").read_text("utf-8")
    assert all(one in listed for one in again.values())


def test_other_forms_are_told(cli: Cli, here: Path) -> None:
    """Blanks and tabs in one file: written with blanks, and said."""
    found, said = out_and_in(cli, here, {"mixed": b"1 Q0 a 1 2.50 mixed\n1\tQ0\tb\t2\t1.0 mixed\n"})
    assert found == {"mixed": b"1 Q0 a 1 2.5 mixed\n1 Q0 b 2 1.0 mixed\n"}
    assert "1 run not byte for byte as handed in (mixed): " in said


@pytest.mark.parametrize("engines", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_file_with_a_header_comes_out_whatever_it_looks_like(
    cli: Cli, here: Path, engines: str, request: pytest.FixtureRequest
) -> None:
    """Its text is kept; `verify` has nothing against it."""
    files = {name: written(text, name) for name, text in (FORMS | OTHERS).items()}
    files["windows-head"] = written(OTHERS["windows"], "windows-head", HEAD.replace("\n", "\r\n"))
    where = "collection.db" if engines == "sqlite" else request.getfixturevalue("postgres_url")
    found, said = out_and_in(cli, here, files, collection=where)
    assert found == files
    assert "byte for byte" not in said
    kept = kept_of(where)
    assert None not in kept.values()
    assert kept_of("again.db") == kept
    copied = here / "copied.db"
    carry(where, str(copied))
    assert kept_of(str(copied)) == kept
    cli("export", "collection", "trec", "--as", "trec", "--collection", where).fine()
    bare = {name: content[content.index(b"end") + 3 :].lstrip(b"\r")[1:] for name, content in files.items()}
    assert runs_of(here / "trec") == bare


def test_file_that_is_read_leniently_comes_out_too(cli: Cli, here: Path) -> None:
    """What lenient reading passes over is in the text; also of a file that is compressed."""
    files = {name: written(text, name) for name, text in LENIENT.items()}
    files["marked"] = b"\xef\xbb\xbf" + files["marked"]
    found, _ = out_and_in(cli, here, files, "--lenient")
    assert found == files
    (here / "zipped.run.gz").write_bytes(gzip.compress(written(OTHERS["blanks"], "zipped")))
    cli("import", "runs", "zipped.run.gz").fine()
    cli("export", "collection", "out3").fine()
    assert runs_of(here / "out3") == files | {"zipped": written(OTHERS["blanks"], "zipped")}


def test_file_from_a_pipe_comes_out_too(cli: Cli, here: Path) -> None:
    """What can be read but once is kept while it is read, where it has a header."""
    cli("init", "--scale", "0-1").fine()
    files = {name: written((FORMS | OTHERS)[name], name) for name in ("blanks", "bare")}
    files["headless"] = written(OTHERS["blanks"], "headless", "")
    files["marked"] = b"\xef\xbb\xbf" + written(LENIENT["marked"], "marked")
    for name, content in files.items():
        os.mkfifo(here / f"{name}.pipe")
        writer = threading.Thread(target=(here / f"{name}.pipe").write_bytes, args=(content,))
        writer.start()
        cli("import", "runs", f"{name}.pipe", "--lenient").fine()
        writer.join()
    kept = kept_of("collection.db")
    assert {name for name, length in kept.items() if length is None} == {"headless"}
    cli("export", "collection", "out").fine()
    found = runs_of(here / "out")
    assert found.pop("headless") != files.pop("headless")
    assert found == files


def test_longest_header_after_a_mark_comes_back(cli: Cli, here: Path) -> None:
    """65,536 bytes, and three before them that are read leniently."""
    fill = "# # " + "x" * ((1 << 16) - len(HEAD) - len("# # \n")) + "\n"
    head = HEAD.replace("# actor", f"{fill}# actor")
    files = {"long": b"\xef\xbb\xbf" + written(OTHERS["blanks"], "long", head)}
    assert len(head) == 1 << 16
    assert out_and_in(cli, here, files, "--lenient")[0] == files


def test_older_collection_takes_the_text_when_the_file_comes_again(cli: Cli, here: Path) -> None:
    """Upgraded it has none, and tells so; the rankings and the pool stay; another file takes its place."""
    unpack("schemas/0009.db", here / "collection.db")
    cli("upgrade").fine()
    said = "# tag: b\n# actor:\n#   team: beds\n# method:\n#   models: none\n"
    head = f"# ir_metadata.start\n{said}# ir_metadata.end\n"
    file = head + "2 Q0 d4 1 9.50 b\n2 Q0 d5 2 8.5 b\n1\tQ0\td2 1 9 b\n1 Q0 d3  2 8 b\n"
    (here / "b.run").write_text(file)
    assert "1 run not byte for byte as handed in (b): " in cli("export", "collection", "before").fine().err
    assert "0 already there, 1 replaced" in cli("import", "runs", "b.run", "--allow-unknown").fine().err
    assert "1 already there, 0 replaced" in cli("import", "runs", "b.run", "--allow-unknown").fine().err
    assert "byte for byte" not in cli("export", "collection", "out").fine().err
    assert runs_of(here / "out")["b"] == file.encode()
    assert "no fault found" in cli("verify").fine().out
    (here / "b.run").write_text(head + "1 Q0 d2 1 9.5 b\n")
    cli("import", "runs", "b.run", "--replace", "--allow-unknown").fine()
    cli("export", "collection", "after").fine()
    assert runs_of(here / "after")["b"] == (head + "1 Q0 d2 1 9.5 b\n").encode()


@pytest.mark.parametrize("damage", ["bit", "cut", "other"])
def test_damaged_text_is_told(cli: Cli, here: Path, collection_name: str, damage: str) -> None:
    """`verify` finds it by the checksum of the row; an export stops, whatever the checksum says."""
    (here / "blanks.run").write_bytes(written(OTHERS["blanks"], "blanks"))
    on = ("--collection", collection_name)
    cli("init", "--scale", "0-1", *on).fine()
    cli("import", "runs", "blanks.run", *on).fine()
    with Collection(collection_name) as opened:
        text = opened.runs.get(opened.runs.all()[0]).as_handed_in or b""
    assert zlib.decompress(text, wbits=31) == written(OTHERS["blanks"], "blanks")
    flipped = bytes([text[40] ^ 1])
    damaged = {"bit": text[:40] + flipped + text[41:], "cut": text[:-20], "other": gzip.compress(b"another")}
    value = damaged[damage].hex()
    literal = f"'\\x{value}'::bytea" if "://" in collection_name else f"x'{value}'"
    change_stored(collection_name, f"UPDATE run SET as_handed_in = {literal}")
    told = cli("verify", *on)
    assert (told.code, "has 1 fault" in told.err, "run `blanks`" in told.out) == (1, True, True)
    refused = cli("export", "collection", "out", *on).failed(3)
    assert (
        "error: run `blanks`: the text that is kept of its file is damaged: expected SHA-256" in refused.err
    )
    assert "pooler restore BACKUP" in refused.err
    assert not (here / "out").exists()
    cli("import", "runs", "blanks.run", *on).fine()
    assert "no fault found" in cli("verify", *on).fine().out


@pytest.mark.slow
def test_runs_of_trec_covid_come_out_as_they_went_in(cli: Cli, here: Path) -> None:
    """One of more digits than a number holds, three with whole scores bare on some lines, too."""
    folder = data_path("runs-top120")
    files = {
        path.name[:-3]: HEAD.encode() + gzip.decompress(path.read_bytes()) for path in folder.glob("*.gz")
    }
    assert len(files) == 143
    found, said = out_and_in(cli, here, files)
    assert {name for name in files if found[name] != files[name]} == set()
    assert "byte for byte" not in said
