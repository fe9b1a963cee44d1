"""The sample collection with a mirror: two documents of a topic under other docnos, one edited."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.run import Cli

MIRRORS = {"MIRROR-002": "KG-E-002", "MIRROR-031": "KG-E-031"}
"""Docnos, and whose texts they have."""


def add_mirror(cli: Cli, here: Path) -> None:
    """Let a late run bring the mirror into a pool of its own; nobody has looked at it."""
    source = {line.split('"')[3]: line for line in (here / "documents.jsonl").read_text("utf-8").splitlines()}
    lines = [source[docno].replace(docno, mirror) for mirror, docno in MIRRORS.items()]
    lines[0] = lines[0].replace("Rinse three spoonfuls", "Wash three spoonfuls")
    assert "Wash" in lines[0]
    (here / "mirror.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    ranked = ["MIRROR-031", "MIRROR-002", "KG-E-031"]
    run = [f"G01 Q0 {docno} {rank} {9 - rank} mirror\n" for rank, docno in enumerate(ranked, 1)]
    (here / "mirror.run").write_text("".join(run), "utf-8")
    cli("import", "runs", "mirror.run", "--allow-unknown").fine()
    cli("pool", "--add", "--depth", "5").fine()
    cli("import", "docs", "mirror.jsonl").fine()
