"""Every column of every table that a command prints, as commands on the sample collection give them."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pooler as p
from docs.generate.column_words import meaning
from docs.generate.markdown import code, heading, plain, table
from pooler.cli.main import run
from pooler.tables import Column

ROOT = Path(__file__).resolve().parents[2]
Maker = Callable[[Any], Any]
"""Of an open collection, the result of a command."""


def _alice(collection: Any) -> Any:
    """Return a source of the judgements of one judge of the garden."""
    return p.source(collection, qrels="alice")


MORE: tuple[tuple[str, Maker], ...] = (
    ("adjudicate", lambda c: p.adjudicate(c, names=True)),
    ("agreement orders", lambda c: p.agreement_orders(c)),
    ("audit", lambda c: p.audit(c, "gpt", "alice", uses={"rm3-bigrams": ["gpt"]})),
    ("check", lambda _c: p.check("runs/bm25-words.run", rules="track.toml")),
    ("pool diff", lambda c: p.pool_diff({("G01", "NOTE-01")}, "pool", collection=c)),
    ("evaluate", lambda c: p.evaluate(_alice(c), leaderboards=["board.txt"])),
    ("evaluate", lambda c: p.attainable(_alice(c), 5)),
    ("evaluate", lambda c: p.choose(_alice(c), folds=3)),
    ("evaluate", lambda c: p.evaluate_curves(_alice(c))),
    ("evaluate", lambda _c: p.list_measures()),
    ("pool next", lambda c: p.pool_next(p.source(["bm25-words", "tfidf-words"], collection=c))),
    ("pool", lambda _c: p.list_strategies()),
    (
        "pool",
        lambda _c: p.pool(
            "runs/*.run",
            depth=20,
            strategy="stratified",
            parameters={"strata": "1:2,3:9:0.4"},
            budget=12,
            seed=3,
        ),
    ),
    ("paper least", lambda _c: p.swap_of_ranks([1, 2], 2, 3)),
    ("sensitivity", lambda c: p.sensitivity(_alice(c), depth=5, flips=3)),
    ("sensitivity", lambda c: p.sensitivity(_alice(c), depth=5, by="pair")),
    ("variation", lambda c: p.variation(c, by="pair", simulate=200)),
)
KINDS = {
    "text": "text",
    "int": "whole number",
    "float": "number",
    "bool": "yes or no",
    "moment": "time",
    "day": "time",
    "instant": "time",
    "given_grade": "grade, or a word where none could be given",
    "texts": "list of texts",
    "ints": "list of whole numbers",
    "records": "list of objects",
}


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in a folder, and print nothing."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        os.chdir(before)


Columns = dict[str, Column]
"""By name."""


def tables() -> dict[tuple[str, str], Columns]:
    """Return the columns of every table, by the command that prints it and its name."""
    gallery = import_module("tests.helpers.gallery")
    found: dict[tuple[str, str], Columns] = {}

    def take(command: str, result: Any) -> None:
        for one in map(result.table, result.all_names()):
            known = found.setdefault((command, one.name), {})
            known.update({it.name: it for it in one.columns if it.name not in known})

    with tempfile.TemporaryDirectory() as folder, _inside(Path(folder)):
        gallery.plant(Path.cwd() / "garden")
        for number, example in enumerate(gallery.EXAMPLES):
            if "--table" in example.options and "--port" not in example.options:
                shutil.copytree("garden", str(number))
                with contextlib.chdir(str(number)), gallery.noting() as returned:
                    run(example.words(Path()))
                    for result in returned:
                        take(example.command, result)
        with contextlib.chdir("garden"), p.open_collection("collection.db") as collection:
            Path("track.toml").write_text("depth = 100\n", "utf-8")
            Path("board.txt").write_text("bm25-words M G01 1\nlm-words-full M G01 0\n", "utf-8")
            for command, make in MORE:
                take(command, make(collection))
    return found


def section() -> str:
    """Return tables and their columns, by command."""
    found = tables()
    lines: list[str] = []
    for command in sorted({words for words, _ in found}):
        lines += heading(3, f"pooler {command}", f"columns of {command}")
        for words, name in found:
            if words == command:
                lines += [f"Table {code(name)}:", ""]
                rows = [_row(column) for column in found[words, name].values()]
                lines += table(["Column", "Kind", "What it holds"], rows)
    return "\n".join(lines)


def _row(column: Column) -> list[str]:
    heading_, about = (
        column.heading.strip(),
        column.about or meaning(f"{column.name} {column.kind}") or meaning(column.name),
    )
    words = ": ".join(filter(None, (heading_, about))) or column.name.replace("_", " ")
    return [code(column.name), KINDS[column.kind], plain(words)]
