"""What every command promises, held on the examples of its own `--help`, in one garden.

A new command is tested by having an example. How one is run the command says itself: one that needs a
terminal gets one, up to its first picture; one that listens answers; one that asks a model has a server.
"""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from store.errors import UnknownNameError
from store.text import sanitise_line
from tests.helpers.gallery import EXAMPLES, MODELS, PEOPLE, Example, noting, plant
from tests.helpers.model_server import ModelServer, model_server
from tests.helpers.pages import serving
from tests.helpers.run import PAGE, PROGRAM, SETTINGS, Outcome, Terminal, controls, environment, run_to
from tests.helpers.terminals import PtyTerminal

NEEDS_TERMINAL = "needs a terminal"
ENDPOINT = "http://127.0.0.1:8000/v1"
"""The server of models that an example names."""
LISTENING = [one for one in EXAMPLES if "--port" in one.options]
ENDING = [one for one in EXAMPLES if one not in LISTENING]
PRINTING = [one for one in ENDING if "--table" in one.options]
"""Examples of commands that print tables."""
BESIDE = ("settings", "facts", "warnings")
"""What JSON has beside tables."""


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    """Serve a model."""
    with model_server() as server:
        yield server


@pytest.fixture(scope="session")
def gardens(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Callable[[str], Path]:
    """Give a function that makes a garden once: `mixed`, of people and models, or `people`, of them alone."""

    @cache
    def garden(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name) / "garden"
        with pytest.MonkeyPatch.context() as patch:
            for setting in SETTINGS:
                patch.delenv(setting, raising=False)
            plant(folder, models=name == "mixed", host=model.host)
        return folder

    return garden


Ask = Callable[..., Outcome]


@pytest.fixture
def ask(
    gardens: Callable[[str], Path], model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Ask:
    """Give a function that runs an example with more words, each time in a new copy of the garden."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)

    def run(example: Example, *more: str, where: str = "mixed", stdout: io.StringIO | None = None) -> Outcome:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        shutil.copytree(gardens(where), folder)
        monkeypatch.chdir(folder)
        words = [word.replace(ENDPOINT, model.base) for word in example.words(folder)]
        if more:
            for option in ("--plot", "--table"):
                if option in words:
                    at = words.index(option)
                    del words[at : at + 2]
            words = [*words, *more]
        return run_to(stdout or io.StringIO(), *words)

    return run


@pytest.mark.parametrize("example", ENDING, ids=lambda one: one.line)
def test_example_runs(example: Example, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 0, no control character; what a terminal is shown fits 80 columns."""
    monkeypatch.setenv("COLUMNS", str(PAGE))
    monkeypatch.setenv("NO_COLOR", "1")
    done = ask(example, stdout=Terminal())
    if NEEDS_TERMINAL in done.err:
        command = [*PROGRAM, *example.words(Path())]
        with PtyTerminal(command, environment=environment({})) as terminal:
            terminal.wait_for("Enter ")
            terminal.until_quiet()
            terminal.send(b"q")
            assert terminal.wait() == 0
        return
    done.fine()
    assert controls(done.out + done.err) == []
    assert {path.name for path in _databases(Path()) if path.stat().st_mode & 0o077} == set()
    assert done.out or done.err
    rows = "\n".join(block.partition("\n─")[2] for block in done.out.split("\n\n"))
    assert [line for line in rows.splitlines() if cell_len(line.rstrip()) > PAGE] == []


def _databases(folder: Path) -> list[Path]:
    """Return collections, backups and work: what its owner alone may read."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if path.read_bytes()[:15] == b"SQLite format 3" or path.suffix == ".work"]


@pytest.mark.parametrize("example", LISTENING, ids=lambda one: one.line)
def test_example_listens(example: Example, gardens: Callable[[str], Path], tmp_path: Path) -> None:
    """It says where judges open it, answers there, and ends at Ctrl-C."""
    shutil.copytree(gardens("mixed"), tmp_path / "garden")
    _, *words = example.words(tmp_path)
    with serving(tmp_path / "garden" / "collection.db", *words) as served:
        if served.origin.startswith("http:"):
            assert urllib.request.urlopen(served.origin, timeout=10).status == 200
        assert served.stop() == 0


@pytest.mark.slow
@pytest.mark.parametrize("example", PRINTING, ids=lambda one: one.line)
def test_json_is_tsv_is_what_a_function_returns(
    example: Example, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of `--format json` are those of a result of `pooler.NAME`; `--format tsv` has their cells."""
    with noting() as returned:
        done = ask(example, "--format", "json")
    if NEEDS_TERMINAL in done.err or "`--format` is for" in done.err:
        return
    tables = {name: rows for name, rows in done.fine().whole().items() if name not in BESIDE}
    made = {name: [one for result in returned for one in _named(result, name)] for name in tables}
    assert tables
    for name, rows in tables.items():
        found = [_as_json(table) for table in made[name]]
        assert rows in [[{key: row[key] for key in rows[0]} for row in one] for one in found], name
    name, rows = next(iter(tables.items()))
    kinds = {column.name: column.kind for column in made[name][0].columns}
    written = ask(example, "--format", "tsv", "--table", name).fine().tsv()
    assert written == [{key: _as_tsv(cell, kinds[key]) for key, cell in row.items()} for row in rows]


def _named(result: Any, name: str) -> list[Any]:
    """Return the table of a result that has a name, where there is one."""
    try:
        return [result.table(name)]
    except UnknownNameError:
        return []


def _as_json(table: Any) -> Any:
    """Return the rows of a table as JSON has them: moments in UTC, to the second or, instants, beyond."""
    exact = {column.name for column in table.columns if column.kind == "instant"}
    rows = [
        {
            name: cell.astimezone(UTC).isoformat(timespec="microseconds" if name in exact else "seconds")
            if isinstance(cell, datetime)
            else cell
            for name, cell in row.items()
        }
        for row in table.to_records()
    ]
    return json.loads(json.dumps(rows))


def _as_tsv(cell: Any, kind: str) -> str:
    """Return a cell of JSON as TSV has it."""
    if cell is None or isinstance(cell, bool):
        return {None: "", True: "true", False: "false"}[cell]
    if isinstance(cell, list):
        return str(len(cell)) if kind == "records" else " ".join(map(str, cell))
    return sanitise_line(cell) if isinstance(cell, str) else str(cell)


ON_FILES = re.compile("--qrels|[.]qrels|[.]prels")
MIXING = [
    one
    for one in ENDING
    if {"--kinds", "--qrels"} & one.options
    and not ON_FILES.search(one.line)
    and not {*MODELS} & {*one.line.split()}
]
"""Examples of commands that make something of the judgements of several judges of a collection."""
SAID = "people alone count (2 people); left out: 3 models (--kinds human,model counts both)"
TOGETHER = "people and models"


@pytest.mark.slow
@pytest.mark.parametrize("example", MIXING, ids=lambda one: one.line)
def test_kinds_never_mix_unasked(example: Example, ask: Ask) -> None:
    """Three models outvote two people: tables and files are as if no model were there, and that is said.

    By qrels, or with `--kinds human,model`, both count, and that is said, too. An example that names a
    judge's qrels is run by the default ones; one that lists judges, or measures each kind by itself, says
    models where they are.
    """
    line = re.sub(f" --qrels ({'|'.join(PEOPLE)})", "", example.line)
    asked = example._replace(line=line)
    more = ["--format", "json"] if "--table" in example.options else []
    alone, beside = ((ask(asked, *more, where=where), _written()) for where in ("people", "mixed"))
    if NEEDS_TERMINAL in beside[0].err:
        return
    made = _made(*beside)
    if SAID not in beside[0].fine().err:
        assert made == _made(*alone) or "model" in beside[0].out
        return
    assert made == _made(*alone)
    assert beside[0].err.count(SAID) == 1
    by_qrels = "--kinds" not in example.options
    counts = ("--qrels", "both") if by_qrels else ("--kinds", "human,model")
    both = ask(asked, *more, *counts).fine(), _written()
    assert TOGETHER in both[0].err
    if by_qrels:
        assert _made(*both) != made or made == ({}, alone[1])


def _written() -> dict[str, bytes]:
    """Return the files of the folder that are for others, by name: no database, page or manifest."""
    files = [one for one in Path().rglob("*") if one.suffix in (".txt", ".qrels", ".rel")]
    return {str(one): one.read_bytes() for one in files}


def _made(done: Outcome, files: dict[str, bytes]) -> tuple[Any, dict[str, bytes]]:
    """Return the tables and files of an answer, without the column that counts kinds."""
    tables = json.loads(done.out) if done.out.startswith("{") else {}
    rows = {name: table for name, table in tables.items() if name not in ("settings", "warnings")}
    for table in rows.values():
        for row in table if isinstance(table, list) else ():
            row.pop("kinds", None)
    return rows, files


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 10))])
def test_no_example_crashes_on_a_damaged_collection(
    seed: int, gardens: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With bits flipped anywhere in the file a command works, or fails in one line."""
    monkeypatch.delenv("POOLER_COLLECTION", raising=False)
    dice = random.Random(seed)
    whole = (gardens("mixed") / "collection.db").read_bytes()
    for number, example in enumerate(ENDING):
        folder = tmp_path / str(number)
        shutil.copytree(gardens("mixed"), folder)
        content = bytearray(whole)
        for _ in range(20 * ((number + seed) % 3) + 1):
            bit = dice.randrange(len(content) * 8)
            content[bit // 8] ^= 1 << bit % 8
        (folder / "collection.db").write_bytes(content)
        monkeypatch.chdir(folder)
        done = run_to(io.StringIO(), *example.words(folder))
        assert done.code in (0, 1, 2, 3), (example.line, done)
        assert "Traceback" not in done.err, (example.line, done.err)
        assert not done.code or "error: " in done.err or done.out, (example.line, done)
        shutil.rmtree(folder)
