"""Runs go out of a collection as plain lines, or as the files that were handed in."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from tests.helpers.run import Cli, by_rule

HEAD = "# ir_metadata.start\n# actor: {team: g}\n# ir_metadata.end\n"
FILES = {
    "plain": "1 Q0 a 1 2.5 plain\n1 Q0 b 2 1.5 plain\n",
    "odd": HEAD + "10\tQ0\ta\t1\t2.50\todd\r\n9 Q0  b first 1e-5 odd\r\n9 Q0 a second 1e-6 odd",
}
PLAIN = {"plain": FILES["plain"], "odd": "9 Q0 b 1 1e-05 odd\n9 Q0 a 2 1e-06 odd\n10 Q0 a 1 2.5 odd\n"}


def runs_of(folder: str) -> dict[str, str]:
    """Read the run files of an export."""
    return {path.stem: path.read_bytes().decode() for path in Path(folder, "runs").iterdir()}


def listed(folder: str) -> dict[str, tuple[str, str]]:
    """Return both hashes of every run of an export."""
    head, *rows = (line.split("\t") for line in Path(folder, "runs.tsv").read_text("utf-8").splitlines())
    found = [dict(zip(head, row, strict=True)) for row in rows]
    return {row["tag"]: (row["sha256"], row["submitted_sha256"]) for row in found}


def digests(texts: dict[str, str]) -> dict[str, str]:
    """Hash texts."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def filled(cli: Cli, here: Path) -> None:
    """Make a collection of the files, which lie in `in/`, one of them compressed."""
    (here / "in/late").mkdir(parents=True)
    (here / "in/plain.run").write_text(FILES["plain"], "utf-8")
    (here / "in/late/odd.run.gz").write_bytes(gzip.compress(FILES["odd"].encode()))
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "in/plain.run", "in/late/odd.run.gz").fine()


def test_runs_are_plain_lines_in_the_order_of_the_collection(cli: Cli, here: Path) -> None:
    """Topics in natural order, documents by score, ranks from 1; both hashes stand in the table."""
    filled(cli, here)
    cli("export", "collection", "out").fine()
    assert runs_of("out") == PLAIN
    own, submitted = digests(PLAIN), digests(FILES)
    assert listed("out") == {name: (own[name], submitted[name]) for name in FILES}
    cli("export", "collection", "trec", "--as", "trec").fine()
    assert runs_of("trec") == PLAIN


def test_files_handed_in_are_copied_where_they_are_known(cli: Cli, here: Path) -> None:
    """By their SHA-256, compressed or not, in any folder of it; how many they are is told."""
    filled(cli, here)
    said = cli("export", "collection", "out", "--run-files", "in").fine().err
    assert "as handed in: 2 of 2 runs" in said
    assert runs_of("out") == FILES
    submitted = digests(FILES)
    assert listed("out") == {name: (submitted[name],) * 2 for name in FILES}
    (here / "in/plain.run").write_text("1 Q0 a 1 2.5 plain\n", "utf-8")
    said = cli("export", "collection", "out2", "--run-files", "in").fine().err
    assert "as handed in: 1 of 2 runs" in said
    assert runs_of("out2") == FILES | {"plain": PLAIN["plain"]}
    assert cli("export", "collection", "out3", "--run-files", "in", "--without-runs").code == 1
    assert "`--run-files` must be a folder" in cli("export", "collection", "out3", "--run-files", "gone").err


def test_both_come_back(cli: Cli, here: Path) -> None:
    """A collection made of either folder exports the same runs, and knows what was handed in."""
    filled(cli, here)
    for number, options in enumerate(((), ("--run-files", "in"))):
        by_rule(cli, "export", "collection", f"out{number}", *options).fine()
        there = ("--collection", f"again{number}.db")
        cli("import", "collection", f"out{number}", *there).fine()
        assert "no fault found" in cli("verify", *there).out
        by_rule(cli, "export", "collection", f"back{number}", *there).fine()
        assert runs_of(f"back{number}") == PLAIN
        assert [both[1] for both in listed(f"back{number}").values()] == [*digests(FILES).values()][::-1]
