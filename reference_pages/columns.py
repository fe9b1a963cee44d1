"""Every column of every table that a command prints, as commands on the sample collection give them."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pooler as p
from pooler.cli.main import run
from pooler.results.table import Column
from reference_pages.column_words import meaning
from reference_pages.markdown import code, heading, plain, table
from store.errors import PoolerError

ROOT = Path(__file__).resolve().parents[1]
GARDEN = ROOT / "sample_collections" / "kitchen_garden"

_PAIR = ["bm25-words", "tfidf-words"]

Made = Callable[[Any], Any]
"""Of an open collection, the result of a command."""
MORE: dict[str, Made] = {
    "agreement --plan": lambda c: p.plan_sharing(c, 0.2, judges=["strict", "lenient"], every_level=False),
    "audit --runs": lambda c: p.audit(c, "strict", "lenient", uses={"rm3-bigrams": ["strict"]}),
    "check --rules": lambda _c: p.check_runs("runs/bm25-words.run", rules="track.toml"),
    "diagnose": lambda c: p.diagnose(_strict(c), by_group=False, measures=["AP", "RBP(p=0.8)"]),
    "estimate": lambda c: p.estimate(_strict(c), pool="drawn"),
    "estimate --with-model": lambda c: p.corrected(_strict(c), "lenient", pool="sampled"),
    "export probabilities": lambda c: p.probabilities(c, values={0: 0, 1: 0.5, 2: 1}),
    "next": lambda c: p.next_documents(p.source(_PAIR, collection=c)),
    "pool": lambda _c: p.pool(
        "runs/*.run", depth=20, strategy="stratified", strata="1:2,3:9:0.4", budget=12, seed=3
    ),
    "pool diff": lambda c: p.compare_pools("pool", "pool-2", collection=c),
    "sensitivity": lambda c: p.sensitivity(_strict(c), depth=5, flips=3),
    "sensitivity --at worst": lambda c: p.sensitivity_pairs(_strict(c), at="worst"),
    "variation": lambda c: p.variation(c, pairs=True, simulate=200),
}
"""What no test of `tests/api/test_commands.py` asks for and still prints columns of its own."""
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


def _strict(collection: Any) -> Any:
    return p.source(collection, judge="strict")


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


def _make_collection() -> None:
    """Import the sample collection as `collection.db`, and put other collections beside it."""
    shutil.copytree(GARDEN, ".", dirs_exist_ok=True)
    judges = [
        f"import judgements judgements/{name}.qrels --judge {name} --kind model"
        for name in ("strict", "lenient", "middle")
    ]
    drawn = (
        "pool --strategy stratified --param strata=1:2,3:9:0.4 --depth 20 --budget 12 --seed 3 --name drawn"
    )
    sampled = "pool --strategy uniform --depth 5 --budget 8 --seed 1 --name sampled"
    first = [
        "init --scale 0-2",
        "import topics topics.jsonl",
        "import runs --runs runs.tsv",
        "pool --depth 5",
    ]
    for command in [*first, "import docs documents.jsonl", *judges]:
        assert run([*shlex.split(command), "--collection", "collection.db"]) == 0, command
    assert run(["restore", "collection.db", "--collection", "sampled.db"]) == 0
    for command in (drawn, sampled):
        assert run([*shlex.split(command), "--collection", "sampled.db"]) == 0, command
    assert run(["restore", "collection.db", "--collection", "taken.db"]) == 0
    for command in ("unpool --pool pool", "pool --strategy take --depth 5 --budget 8 --name taken"):
        assert run([*shlex.split(command), "--collection", "taken.db"]) == 0, command
    unpack = import_module("tests.golden.kept").unpack_upgraded
    unpack("written/built.db", Path("built.db"))
    Path("track.toml").write_text("depth = 100\n", "utf-8")
    Path("clusters.txt").write_text("d1 a\nd2 a\nd3 b\n", "utf-8")
    Path("classes.txt").write_text("d1 red\nd2 white\nd3 white\n", "utf-8")


Columns = dict[str, Column]
"""By name."""


def tables() -> dict[tuple[str, str], Columns]:
    """Return the columns of every table, by the command that prints it and its name."""
    asked: dict[str, Made] = import_module("tests.api.test_commands").COMMANDS
    commands: dict[str, Any] = import_module("tests.test_readme").COMMANDS
    found: dict[tuple[str, str], Columns] = {}
    waiting = [*asked.items(), *MORE.items()]
    with tempfile.TemporaryDirectory() as folder, _inside(Path(folder)):
        _make_collection()
        made: set[str] = set()
        for path in (
            "collection.db",
            "sampled.db",
            "taken.db",
            "built.db",
        ):  # with other judges, or other pools
            with p.open_collection(path) as collection:
                for asked_for, make in waiting:
                    with contextlib.suppress(PoolerError):
                        result = make(collection)
                        made.add(asked_for)
                        words = max(
                            (one for one in commands if f"{asked_for} ".startswith(f"{one} ")), key=len
                        )
                        for one in result.tables():
                            known = found.setdefault((words, one.name), {})
                            known.update({it.name: it for it in one.columns if it.name not in known})
        assert made == {one for one, _ in waiting}, {one for one, _ in waiting} - made
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
    told = ": ".join(filter(None, (heading_, about))) or column.name.replace("_", " ")
    return [code(column.name), KINDS[column.kind], plain(told)]
