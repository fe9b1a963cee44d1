"""Files with something wrong, beside a copy of the imported sample collection."""

from __future__ import annotations

import gzip
import random
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.helpers.run import write


def make_bad_files(folder: Path) -> None:
    """Write files with something wrong into a copy of the sample collection."""
    run = (folder / "runs" / "bm25-words.run").read_bytes()
    write(folder / "empty", *[])
    (folder / "junk").write_bytes(random.Random(1).randbytes(4096))
    for name in ("runs/bm25-words.run", "topics.jsonl", "documents.jsonl", "runs.tsv"):
        short = gzip.compress((folder / name).read_bytes())[:-200]
        (folder / f"{Path(name).name}.gz").write_bytes(short)
    strict = (folder / "judgements" / "strict.qrels").read_bytes()
    (folder / "strict.gz").write_bytes(gzip.compress(strict)[:-20])
    (folder / "other.run").write_bytes(run.replace(b" 11.118743 ", b" 11.2 "))
    (folder / "unknown-topic.run").write_bytes(run.replace(b"G08 Q0", b"G99 Q0"))
    (folder / "ranks.run").write_bytes(b"G01 Q0 KG-E-001 first 1.0 words\n")
    (folder / "escape.run").write_bytes(b"G01 Q0 KG-E-001 1 1.0 a\x1b]0;owned\x07\n")
    (folder / "nan.run").write_bytes(b"G01 Q0 KG-E-001 1 nan nan\n")
    (folder / "five.run").write_bytes(b"G01 Q0 KG-E-001 1 1.0\n")
    (folder / "twice.run").write_bytes(b"G01 Q0 KG-E-001 1 2 t\nG01 Q0 KG-E-001 2 1 t\n")
    (folder / "latin.run").write_bytes(b"G01 Q0 KG-\xe9 1 1.0 latin\n")
    write(folder / "tag.tsv", "file\ttag", "runs/bm25-words.run\tbm25")
    write(folder / "column.tsv", "file\tgruop", "runs/bm25-words.run\twords")
    write(folder / "missing.tsv", "file", "runs/none.run")
    write(folder / "off.qrels", "G01 0 KG-E-001 2", "G01 0 KG-E-002 3", "G02 0 KG-E-003 -1")
    write(folder / "float.qrels", "G01 0 KG-E-001 1.7")
    write(folder / "five.qrels", "G01 0 KG-E-001 1 0.5")
    write(folder / "twice.qrels", "G01 0 KG-E-001 1", "G01 0 KG-E-001 2")
    write(folder / "new.qrels", "G01 0 KG-E-031 2", "G01 0 KG-E-036 2")
    write(folder / "unknown.qrels", "G99 0 KG-E-001 1", "G01 0 KG-E-901 1")
    write(folder / "new-topics.jsonl", '{"topic": "G01", "title": "another title"}')
    write(folder / "new-documents.jsonl", '{"docno": "KG-E-031", "text": "another text"}')
    write(folder / "no-json.jsonl", '{"topic": "G01",')
    write(folder / "scale.toml", '[[grade]]\nvalue = 0\nlabel = "no"')
    sqlite3.connect(folder / "other.db").close()
    with closing(sqlite3.connect(folder / "other.db")) as other, other:
        other.execute("CREATE TABLE wine (name TEXT)")
    other.close()
    damaged = bytearray((folder / "collection.db").read_bytes())
    damaged[4096:8192] = bytes(4096)
    (folder / "damaged.db").write_bytes(damaged)
