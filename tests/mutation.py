"""Mutation testing: change one place of the program, and see whether a test that executes it fails.

    .venv/bin/python -m tests.mutation lines.db                 # run the suite, note who executes what
    .venv/bin/coverage report --data-file=lines.db              # the same run: which branches no test takes
    .venv/bin/python -m tests.mutation lines.db --count 30 --only store/analysis --tests tests/transcripts

A mutant meets at most 30 of the tests that execute its line, those first that execute least else, in a fork
and in a copy of the project. For a seed mutants are the same as long as only texts of the program change.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import multiprocessing
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple

import coverage

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("pooler", "store", "judge_ui")
MOST_TESTS, MOST_SECONDS = 30, 240.0  # of one mutant; what takes longer is killed
DATABASE = "POOLER_CONTEXTS"  # tells a run of the suite where to write which test executes which line
LIBRARIES = "pytest hypothesis numpy scipy.stats sqlmodel alembic.command typer rich.table textual.pilot"
SWAPS = {"Lt": "LtE", "Gt": "GtE", "Eq": "NotEq", "Is": "IsNot", "In": "NotIn", "And": "Or", "Add": "Sub"}
SWAPS |= {"Mult": "Div", "FloorDiv": "Div", "BitAnd": "BitOr"}
OTHER = {getattr(ast, one): getattr(ast, two) for pair in SWAPS.items() for one, two in (pair, pair[::-1])}
_GROUP = re.compile(r"@\w+$")  # which `--dist loadgroup` adds to the name of a test
NO_CODE = {"annotation", "returns", "decorator_list", "type_params"}


class Mutant(NamedTuple):
    """One change of one place."""

    path: str
    line: int
    kind: str
    source: str


def code(node: ast.AST) -> Iterator[ast.AST]:
    """Go through a tree, but for types, texts, and what only type checkers read."""
    match node:
        case ast.JoinedStr() | ast.If(test=ast.Name("TYPE_CHECKING")) | ast.keyword(arg="strict"):
            return
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in NO_CODE:
                yield from code(child)


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may stand in the place of a node, with a word for each."""
    match node:
        case ast.If(test=test) | ast.While(test=test):
            yield "negated", ast.UnaryOp(ast.Not(), test)
        case ast.Compare(left, [operator], right) if type(operator) in OTHER:
            yield "operator", ast.Compare(left, [OTHER[type(operator)]()], right)
        case ast.BoolOp(operator, values):
            yield "operator", ast.BoolOp(OTHER[type(operator)](), values)
        case ast.BinOp(left, operator, right) if type(operator) in OTHER:
            yield "operator", ast.BinOp(left, OTHER[type(operator)](), right)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield "sign", operand
        case ast.Constant(value=bool(value)):
            yield "value", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "value", ast.Constant(value + 1)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield "nothing", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "nothing", ast.Pass()
        case ast.Call(function, [*most, a, b], keywords) if type(a) is type(b) is not ast.Constant:
            if ast.dump(a) != ast.dump(b):
                yield "exchanged", ast.Call(function, [*most, b, a], keywords)


def draw(only: str, count: int, seed: int) -> list[Mutant]:
    """Draw places of all program files alike."""
    places: list[tuple[str, str, Any, str, ast.AST]] = []
    for path in sorted(one for package in PACKAGES for one in (ROOT / package).rglob("*.py")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        if name.startswith(only) and "migrations" not in name:
            nodes = code(ast.parse(text))
            places += [(name, text, node, kind, new) for node in nodes for kind, new in changes(node)]
    drawn = random.Random(seed).sample(places, min(count, len(places)))
    return [Mutant(name, node.lineno, kind, _with(text, node, new)) for name, text, node, kind, new in drawn]


def _with(text: str, node: Any, new: ast.AST) -> str:
    """Put a changed node in the place of the old one."""
    lines = text.encode().splitlines(keepends=True)
    node = node.test if isinstance(node, ast.If | ast.While) else node  # `elif` is no place for an `if`
    first, last = node.lineno - 1, node.end_lineno - 1
    written = ast.unparse(ast.fix_missing_locations(new))
    written = f"({written})" if isinstance(new, ast.expr) else written
    before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
    lines[first : last + 1] = [before + written.encode() + after]
    return b"".join(lines).decode()


measured: coverage.Coverage | None = None
if file := os.environ.get(DATABASE):  # as a plugin of pytest, before conftest.py imports the program
    measured = coverage.Coverage(file, data_suffix=True, config_file=False, branch=True, source_pkgs=PACKAGES)
    measured.start()


def pytest_configure(config: Any) -> None:
    """Give each test a context of its own, in each process that runs tests."""
    if measured is None:
        return
    if config.getoption("numprocesses", 0) and not hasattr(config, "workerinput"):
        measured.stop()
        return

    class Contexts:
        def pytest_runtest_logstart(self, nodeid: str) -> None:
            measured.switch_context(_GROUP.sub("", nodeid))

        def pytest_sessionfinish(self) -> None:
            measured.stop()
            measured.save()

    config.pluginmanager.register(Contexts())


def run_suite(database: Path) -> None:
    """Run quick and slow tests with a context a test, and combine what their processes measured."""
    python, settings = sys.executable, {**os.environ, DATABASE: str(database)}
    words = ["-q", "-p", "tests.mutation", "-n", "2", "--dist", "loadgroup", "-m", "not long"]
    subprocess.run([python, "-m", "pytest", *words], cwd=ROOT, env=settings, check=False)
    parts = database.parent.glob(f"{database.name}.*")
    subprocess.run([python, "-m", "coverage", "combine", f"--data-file={database}", *parts], check=True)


def executed(database: Path) -> tuple[dict[tuple[str, int], set[str]], Counter[str]]:
    """Return the tests that execute each line (line 0: any of a file), and how many branches each takes."""
    tests: dict[tuple[str, int], set[str]] = {}
    n_taken: Counter[str] = Counter()
    # A branch goes from a line to a line; negative is where a function is entered or left.
    query = """SELECT path, context, tono FROM arc JOIN file ON file.id = file_id
        JOIN context ON context.id = context_id WHERE context != '' AND tono > 0"""
    with closing(sqlite3.connect(database)) as data:
        for path, test, line in data.execute(query):
            name = next(path[path.rindex(f"/{one}/") + 1 :] for one in PACKAGES if f"/{one}/" in path)
            n_taken[test] += 1
            tests.setdefault((name, line), set()).add(test)
            tests.setdefault((name, 0), set()).add(test)
    return tests, n_taken


def run_tests(copy: Path, tests: list[str]) -> None:
    """Be the fork: run the tests in the copy, and write the first that failed."""
    os.setsid()
    os.chdir(copy)
    for stream in (1, 2):
        os.dup2(os.open(copy.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.path.insert(0, str(copy))
    for name in [one for one in sys.modules if one.partition(".")[0] in (*PACKAGES, "tests")]:
        del sys.modules[name]
    import pytest

    class FirstFailure:
        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                copy.with_suffix(".failed").write_text(report.nodeid)

    quiet = ["-x", "-q", "-m", "", "-p", "no:cacheprovider", "-W", "ignore:Module already imported"]
    os._exit(int(pytest.main([*quiet, *tests], [FirstFailure()]) not in (0, 5)))


def campaign(wanted: list[tuple[Mutant, list[str]]], n_workers: int) -> Iterator[tuple[Mutant, str, str]]:
    """Try every mutant on its tests, each in one of some copies; yield it with what came of it."""
    fork, running = multiprocessing.get_context("fork"), {}
    skipped = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")
    with tempfile.TemporaryDirectory(prefix="mutants-") as made:
        idle = [Path(made) / str(number) / ROOT.name for number in range(n_workers)]
        for copy in idle:
            shutil.copytree(ROOT, copy, ignore=skipped)
            (copy.parent / "shared").symlink_to(ROOT.parent / "shared")
        while wanted or running:
            while wanted and idle:
                (mutant, tests), copy = wanted.pop(), idle.pop()
                copy.with_suffix(".failed").write_text("")
                _write(copy / mutant.path, mutant.source)
                process = fork.Process(target=run_tests, args=(copy, tests))
                process.start()
                running[process.sentinel] = process, mutant, copy, time.monotonic() + MOST_SECONDS
            wait(list(running), timeout=1)
            for sentinel, (process, mutant, copy, end) in list(running.items()):
                is_late = process.is_alive()
                if is_late and time.monotonic() < end:
                    continue
                with suppress(ProcessLookupError):
                    os.killpg(process.pid or 0, signal.SIGKILL)
                process.join()
                _write(copy / mutant.path, (ROOT / mutant.path).read_text("utf-8"))
                del running[sentinel]
                idle.append(copy)
                outcome = "killed" if process.exitcode else "survived"
                yield mutant, outcome, "(time)" if is_late else copy.with_suffix(".failed").read_text()


def _write(path: Path, text: str) -> None:
    """Write a source, without its compiled file, which might be taken for that of the new one."""
    path.write_text(text, "utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def main() -> None:
    """Read the command line; print a line a mutant, and how many were killed."""
    parser = argparse.ArgumentParser(description="Change the program at random: does a test fail?")
    parser.add_argument("contexts", type=Path, help="which test executes which line")
    parser.add_argument("--count", type=int, default=0, help="mutants; without it the contexts are made")
    parser.add_argument("--seed", type=int, default=1)
    for name, of in ("only", "draw from files"), ("tests", "try tests alone"):
        parser.add_argument(f"--{name}", default="", help=f"{of} whose path begins so")
    given = parser.parse_args()
    if not given.count:
        return run_suite(given.contexts.resolve())
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads is not forked
    for name in LIBRARIES.split():
        importlib.import_module(name)
    by_line, n_taken = executed(given.contexts)
    wanted, outcomes = [], Counter[str]()
    for mutant in draw(given.only, given.count, given.seed):
        found = by_line.get((mutant.path, mutant.line)) or by_line.get((mutant.path, 0), set())
        tests = sorted((n_taken[one], one) for one in found if one.startswith(given.tests))[:MOST_TESTS]
        outcomes["no test"] += not tests
        wanted += [(mutant, [name for _, name in tests])] if tests else []
    for mutant, outcome, test in campaign(wanted, n_workers=2):
        outcomes[outcome] += 1
        sys.stdout.write(f"{outcome:9} {mutant.path}:{mutant.line} {mutant.kind} {test}\n")
        sys.stdout.flush()
    sys.stdout.write(", ".join(f"{n} {name}" for name, n in outcomes.items()) + "\n")


if __name__ == "__main__":
    main()
