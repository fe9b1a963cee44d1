"""Mutation testing: change one place of the source, and see whether a quick test fails.

    .venv/bin/python tests/mutation.py --count 300 --workers 2 --out mutants.jsonl

Every mutant runs in a copy of the working tree, in a fork of this process, which has loaded the
libraries and nothing of the project. The checkout is never changed.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("mutation_equivalent.txt")
PACKAGES = ("pooler", "store", "judge_ui")

SCOPE = {
    "store/analysis": "store/analysis/* store/analysis/*/*",
    "pooler/strategies": "pooler/strategies/*",
    "store/keeping/merge": "store/keeping/merge/*",
    "judging": "store/judging/events judge_ui/session/session",
    "pools": """
        pooler/reading/blocks pooler/reading/docnos pooler/reading/run_list pooler/reading/strict
        pooler/reading/top pooler/pools/* store/content/draws store/content/pools store/content/runs
        store/looking/pool_change store/ranking store/grades/sampled""",
    "aggregation": "store/grades/* store/analysis/arrays store/formats/scale",
}
"""By room: the modules that are mutated, without `.py`."""

HEDGE, TOP = "pooler/strategies/adaptive.py", "pooler/reading/top.py"
SESSION, OPEN = "judge_ui/session/session.py", "judge_ui/session/session.py"
KNOWN = (
    ("hedge-sign", HEDGE, "logs[-1] - mean for", "logs[-1] + mean for"),
    ("redo-untouched", SESSION, "self.touch()\n        attempt = ", "attempt = "),
    ("beat", OPEN, "if self.topic is not None:\n            with", "if True:\n            with"),
    ("own", OPEN, "if self.topic is not None:\n            self.d", "if 1:\n            self.d"),
    ("here", OPEN, "if self.topic is None or self.task is None:", "if False:"),
    ("workers-ignored", TOP, "        workers=workers,\n", "        workers=1,\n"),
    ("workers-mixed", TOP, "(zip(indices, outcomes, strict=True))", "(enumerate(outcomes))"),
    ("workers-too-many", "pooler/reading/parallel.py", "range(workers - 1)]", "range(workers)]"),
)  # fmt: skip
"""Faults by name: the file, what stands there exactly once, and what replaces it."""

PRELOADED = """
    pytest hypothesis numpy scipy.stats scipy.special scipy.optimize sqlmodel alembic.command
    typer rich.table markdown_it textual.app textual.pilot textual.widgets sklearn.metrics"""
"""Libraries that many tests load; what is not installed is left out."""
PRELOADED_ANYWAY = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"

BUDGET_SHARE = 0.6
"""Of a mutant's time limit: what its tests may take unmutated."""

OPERATORS = """
    Lt:<:<= LtE:<=:< Gt:>:>= GtE:>=:> Eq:==:!= NotEq:!=:== Is:is:is_not IsNot:is_not:is
    In:in:not_in NotIn:not_in:in And:and:or Or:or:and Add:+:- Sub:-:+ Mult:*:/ Div:/:*
    FloorDiv://:/ Pow:**:* BitAnd:&:| BitOr:|:&"""
NAMES = """
    min:max any:all minimum:maximum argmin:argmax cumsum:cumprod sum:prod floor:ceil zeros:ones
    nanmin:nanmax fmin:fmax logical_and:logical_or zeros_like:ones_like union1d:intersect1d
    bisect_left:bisect_right startswith:endswith"""
SWAPPED = {
    getattr(ast, kind): (before.replace("_", " "), after.replace("_", " "))
    for kind, before, after in (word.split(":") for word in OPERATORS.split())
}
RENAMED = {a: b for one in NAMES.split() for a, b in (one.split(":"), one.split(":")[::-1])}
FUNCTIONS = {"min", "max", "any", "all"}
SYMMETRIC = {*RENAMED, "gcd", "hypot", "isclose", "allclose", "array_equal"}
"""Functions whose arguments are not exchanged."""
LIBRARY_KEYWORDS = {"axis", "ddof", "default", "initial", "invert", "keepdims", "key", "kind"}
LIBRARY_KEYWORDS |= {"minlength", "reverse", "side", "start", "weights", "where"}
"""Keyword arguments that functions of libraries have a default for."""
IDLE_KEYWORDS = {"strict", "assume_unique"}
"""Keyword arguments that change nothing where the code is right."""
TYPING_CALLS = {"isinstance", "cast", "TypeVar", "NewType", "assert_never"}
NO_CODE = {"annotation", "returns", "decorator_list", "type_params"}
"""Fields of syntax nodes that are not mutated."""

Edit = tuple[int, int, str, str]
"""First byte, byte behind the last, what replaces them, and the kind."""


class Mutant(NamedTuple):
    """One change of one file."""

    path: str
    source: bytes
    start: int
    end: int
    text: str
    kind: str

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.source.count(b"\n", 0, self.start) + 1

    @property
    def name(self) -> str:
        """Path, line, column (from 1, in bytes) and kind."""
        column = self.start - self.source.rfind(b"\n", 0, self.start)
        return f"{self.path}:{self.line}:{column}:{self.kind}"

    @property
    def mutated(self) -> bytes:
        """The changed source."""
        return self.source[: self.start] + self.text.encode() + self.source[self.end :]

    @property
    def lines(self) -> tuple[str, str]:
        """The changed lines before and after, each in one line without indentation."""
        first, last = self.source.rfind(b"\n", 0, self.start) + 1, self.source.find(b"\n", self.end)
        before, after = self.source[first:last], self.mutated[first : last - len(self.source)]
        return " ".join(before.decode().split()), " ".join(after.decode().split())

    @property
    def is_valid(self) -> bool:
        """Whether the changed source is another program."""
        try:
            return ast.dump(ast.parse(self.mutated)) != ast.dump(ast.parse(self.source))
        except SyntaxError:
            return False


class Finder:
    """Finds every edit of one file; `optional` is what `optional_arguments` returns."""

    def __init__(self, source: bytes, optional: Mapping[str, set[str]]) -> None:
        self._source = source
        self._lines = source.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, self._lines))]
        self._optional = optional

    def edits(self) -> Iterator[Edit]:
        """Find them in the order of the syntax tree."""
        for node in self._code(ast.parse(self._source)):
            yield from self._edits(node)

    def _code(self, node: ast.AST) -> Iterator[ast.AST]:
        """Go through a tree, but for words, types, and what is marked as not covered."""
        match node:
            case ast.JoinedStr() | ast.Subscript(value=ast.Name(id="Literal")):
                return
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                return
            case ast.Call(func=ast.Name(id=name)) if name in TYPING_CALLS:
                return
            case ast.keyword(arg=name) if name in IDLE_KEYWORDS:
                return
            case ast.stmt() if b"pragma: no cover" in self._lines[node.lineno - 1]:
                return
        yield node
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and field not in NO_CODE:
                    yield from self._code(child)

    def _edits(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Compare():
                operands = pairwise([node.left, *node.comparators])
                for operator, (left, right) in zip(node.ops, operands, strict=True):
                    yield from self._swap(left, operator, right, "compare")
            case ast.BoolOp():
                for left, right in pairwise(node.values):
                    yield from self._swap(left, node.op, right, "and-or")
            case ast.BinOp() if not (_is_text(node.left) or _is_text(node.right)):
                yield from self._swap(node.left, node.op, node.right, "arithmetic")
            case ast.AugAssign():
                yield from self._swap(node.target, node.op, node.value, "augmented", "=")
            case ast.UnaryOp(op=ast.USub() | ast.Not() as operator):
                n, word = (1, "minus") if isinstance(operator, ast.USub) else (3, "not")
                start, _ = self._span(node)
                yield start, start + n, "", f"no-{word}"
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield from self._negate(test)
            case ast.comprehension(ifs=tests):
                for test in tests:
                    yield from self._negate(test)
            case ast.Constant(value=bool(value)):
                yield *self._span(node), str(not value), "true-false"
            case ast.Constant(value=int(value)):
                if value in (0, 1):
                    yield *self._span(node), str(1 - value), "zero-one"
                if value != 0:
                    yield *self._span(node), str(value + 1), "one-more"
            case ast.Constant(value=float(value)):
                yield *self._span(node), repr(2 * value or 1.0), "float"
            case ast.Name(id=name, ctx=ast.Load()) if name in FUNCTIONS:
                yield *self._span(node), RENAMED[name], "function"
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in RENAMED:
                _, end = self._span(node)
                yield end - len(name), end, RENAMED[name], "function"
            case ast.keyword(arg="side", value=ast.Constant(value="left" | "right" as side)):
                yield *self._span(node.value), repr("right" if side == "left" else "left"), "side"
            case ast.Break() | ast.Continue():
                other = "continue" if isinstance(node, ast.Break) else "break"
                yield *self._span(node), other, f"to-{other}"
            case ast.Slice():
                for bound in filter(None, (node.lower, node.upper)):
                    if not isinstance(getattr(bound, "operand", bound), ast.Constant):
                        yield *self._span(bound), f"({self._text(bound)}) + 1", "slice-more"
                        yield *self._span(bound), f"({self._text(bound)}) - 1", "slice-less"
            case ast.Subscript(slice=ast.Constant(value=0) as index):
                yield *self._span(index), "-1", "last"
            case ast.Subscript(slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))):
                yield *self._span(node.slice), "0", "first"
            case ast.FunctionDef(returns=ast.BinOp(right=ast.Constant(value=None))):
                for one in ast.walk(node):
                    if isinstance(one, ast.Return) and one.value:
                        yield *self._span(one.value), "None", "return-none"
            case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())):
                yield *self._span(node), "pass", "no-call"
            case ast.Call():
                yield from self._arguments(node)

    def _swap(
        self, left: ast.AST, operator: ast.AST, right: ast.AST, kind: str, ending: str = ""
    ) -> Iterator[Edit]:
        """Put another operator between two operands."""
        if type(operator) in SWAPPED:
            before, after = SWAPPED[type(operator)]
            start, stop = self._span(left)[1], self._span(right)[0]
            gap = re.sub(rb"#.*", lambda found: b" " * len(found[0]), self._source[start:stop])
            pattern = re.escape(before + ending).replace(r"\ ", r"\s+")
            if found := re.search(pattern.encode(), gap):
                yield start + found.start(), start + found.end(), after + ending, kind

    def _negate(self, test: ast.expr) -> Iterator[Edit]:
        """Negate a condition, unless another operator or a dropped `not` does the same."""
        match test:
            case ast.UnaryOp(op=ast.Not()):
                return
            case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot()]):
                return
            case ast.Compare(ops=[ast.In() | ast.NotIn()]):
                return
        yield *self._span(test), f"not ({self._text(test)})", "negate"

    def _arguments(self, call: ast.Call) -> Iterator[Edit]:
        """Drop an argument that has a default; exchange neighbours of the same form."""
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        for keyword in call.keywords:
            if keyword.arg in self._optional.get(name, LIBRARY_KEYWORDS):
                start, end = self._span(keyword)
                before, behind = self._source[:start].rstrip(), self._source[end:].lstrip()
                if before.endswith(b","):
                    start = len(before) - 1
                elif behind.startswith(b","):
                    end = len(self._source) - len(behind) + 1
                yield start, end, "", "no-keyword"
        for left, right in pairwise(call.args):
            texts = self._text(left), self._text(right)
            is_alike = type(left) is type(right) and not _is_text(left)
            if is_alike and texts[0] != texts[1] and name not in SYMMETRIC:
                (start, left_end), (right_start, end) = self._span(left), self._span(right)
                between = self._source[left_end:right_start].decode()
                yield start, end, f"{texts[1]}{between}{texts[0]}", "exchange"

    def _span(self, node: Any) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.AST) -> str:
        return self._source[slice(*self._span(node))].decode()


def _is_text(node: ast.AST) -> bool:
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, ast.JoinedStr)


def optional_arguments(trees: Iterable[ast.Module]) -> dict[str, set[str]]:
    """Return what may be left out, by the name of a function or class, wherever it is defined."""
    found: dict[str, set[str]] = {}
    for node in chain.from_iterable(map(ast.walk, trees)):
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            positional = [one.arg for one in (*given.posonlyargs, *given.args)]
            names = positional[len(positional) - len(given.defaults) :]
            named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
            names += [one.arg for one, default in named if default is not None]
        elif isinstance(node, ast.ClassDef):
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and one.value]
            names = [ast.unparse(one.target) for one in fields]
        else:
            continue
        found.setdefault(node.name, set()).update(names)
    return found


class Tree:
    """A copy of the project: its mutants, and which tests see which module."""

    def __init__(self, copy: Path) -> None:
        self._copy = copy
        trees = {
            path.relative_to(copy).as_posix(): ast.parse(path.read_bytes())
            for part in (*PACKAGES, "tests")
            for path in sorted((copy / part).rglob("*.py"))
        }
        self._imports = {path: set(_imported(tree)) for path, tree in trees.items()}
        sources = (tree for path, tree in trees.items() if not path.startswith("tests/"))
        self._optional = optional_arguments(sources)
        self.rooms: dict[str, str] = {}
        for room, names in SCOPE.items():
            for name in names.split():
                paths = sorted(copy.glob(f"{name}.py"))
                if not paths:
                    raise SystemExit(f"SCOPE: there is no {name}.py")
                self.rooms |= {path.relative_to(copy).as_posix(): room for path in paths}

    def mutants(self) -> dict[str, Mutant]:
        """Find every mutant of the scope, by name, in an order that only the sources decide."""
        found: dict[str, Mutant] = {}
        for path in self.rooms:
            source = (self._copy / path).read_bytes()
            for edit in Finder(source, self._optional).edits():
                mutant = Mutant(path, source, *edit)
                found.setdefault(mutant.name, mutant)
        return found

    def patched(self, kind: str, path: str, old: str, new: str) -> Mutant:
        """Replace a text that stands in a file exactly once."""
        source = (self._copy / path).read_bytes()
        if (n_found := source.count(old.encode())) != 1:
            raise SystemExit(f"{path}: {old!r} stands there {n_found} times, not once")
        start = source.index(old.encode())
        return Mutant(path, source, start, start + len(old.encode()), new, kind)

    def tests_of(self, path: str) -> tuple[list[str], list[str], list[str]]:
        """Return the module and the test file named after it, the files that import it, and others.

        The others are those of its room that see what imports it. When there are none of either, they are
        all that see it from nearest by.
        """
        tests = [one for one in self._imports if "/test_" in one]
        named, direct, seen_by = self._named({path}), self._importing({path}), {path}
        nearest: set[str] = set()
        while more := (self._importing(seen_by) | self._named(seen_by)) - seen_by:
            seen_by |= more
            nearest = nearest or seen_by.intersection(tests)
        room = f"tests/{path.rpartition('/')[0]}/"
        others = {one for one in seen_by if one.startswith(room)}
        if direct.isdisjoint(tests) and others.isdisjoint(tests):
            others = nearest
        chosen = ({path, *named}, direct - named, others - direct - named)
        return [path, *sorted(named)], *([one for one in tests if one in each] for each in chosen[1:])

    def _importing(self, paths: set[str]) -> set[str]:
        """Return the files that import one of these."""
        modules = {re.sub(r"(/__init__)?\.py$", "", one).replace("/", ".") for one in paths}
        return {path for path, names in self._imports.items() if names & modules}

    def _named(self, paths: set[str]) -> set[str]:
        """Return the test files named after these, in their room or the one without `pooler`."""
        rooms = {f"tests/{one.removeprefix(start)}" for one in paths for start in ("", "pooler/")}
        return self._imports.keys() & {re.sub(r"([^/]+)$", r"test_\1", one) for one in rooms}


def _imported(node: ast.AST) -> Iterator[str]:
    """Name the modules that a file imports when it runs, and what it takes from them."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Import():
            yield from (one.name for one in node.names)
        case ast.ImportFrom(module=str(module)):
            yield from (module, *(f"{module}.{one.name}" for one in node.names))
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from _imported(child)


@dataclass(eq=False)
class Job:
    """Test files to be run, with a mutant or without, and what came of it."""

    seed: int
    limit: float
    mutant: Mutant | None = None
    tests: Sequence[str] = ()
    outcome: str = "survived"
    test: str = ""
    seconds: float = 0.0
    n_passed: int = 0


class Recorder:
    """A plugin of pytest: the first test that failed, and how many passed."""

    def __init__(self) -> None:
        self.failed = ""
        self.n_passed = 0

    def pytest_configure(self) -> None:
        """Let Hypothesis stop at the first failing example, and fail nothing for being slow."""
        from hypothesis import Phase, settings

        usual = settings.get_profile(settings.get_current_profile_name())
        phases = [Phase.explicit, Phase.generate, Phase.target]
        changed = settings(usual, phases=phases, database=None, deadline=None)
        settings.register_profile("mutation", changed)
        settings.load_profile("mutation")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take in one phase of one test."""
        self.n_passed += report.when == "call" and report.passed
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_collectreport(self, report: Any) -> None:
        """Take in a file, which may not have been importable."""
        self.failed = self.failed or (f"{report.nodeid} (collecting)" if report.failed else "")


class Worker:
    """A copy of the project, and the process that runs tests in it."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.folder, self.copy = folder, folder / ROOT.name
        unwanted = shutil.ignore_patterns(".git", ".venv", "venv", "__pycache__", ".*_cache")
        shutil.copytree(source, self.copy, ignore=unwanted)
        if (shared := ROOT.parent / "shared").is_dir():
            (folder / "shared").symlink_to(shared)
        self.job: Job | None = None
        self._n_mutants = 0
        self._pid = 0
        self._began = 0.0

    def start(self, job: Job) -> None:
        """Mutate the copy, and run the tests in a process group of their own."""
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)
        (self.folder / "tmp").mkdir()
        if job.mutant is not None:
            path = self.copy / job.mutant.path
            path.write_bytes(job.mutant.mutated)
            # A time of its own, so that no compiled file is taken for that of another mutant.
            self._n_mutants += 1
            os.utime(path, (self._n_mutants, self._n_mutants))
        sys.stdout.flush()
        sys.stderr.flush()
        self.job, self._began, self._pid = job, time.monotonic(), os.fork()
        if self._pid == 0:
            run_tests(self.folder, self.copy, job)

    def poll(self) -> Job | None:
        """Return the job if it has ended or its time is up."""
        if (job := self.job) is None:
            return None
        seconds = time.monotonic() - self._began
        ended = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None and seconds < job.limit:
            return None
        self.stop()
        job.seconds += seconds
        try:
            told = json.loads((self.folder / "tmp" / "result.json").read_text("utf-8"))
        except (OSError, ValueError):
            told = {"outcome": "killed", "test": "the process died", "foreign": []}
        if foreign := told.pop("foreign"):
            raise SystemExit(f"imported, but not from the copy: {', '.join(foreign)}")
        vars(job).update(told if ended else {"outcome": "timeout"})
        return job

    def stop(self) -> None:
        """End whatever the job started, and put the source back."""
        if (job := self.job) is None:
            return
        # As long as nobody has waited for the leader, its group is no other's.
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        for process in Path("/proc").glob("[0-9]*"):  # those with a group of their own
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(self.folder):
                    os.kill(int(process.name), signal.SIGKILL)
        if job.mutant is not None:
            self._n_mutants += 1
            path = self.copy / job.mutant.path
            path.write_bytes(job.mutant.source)
            os.utime(path, (self._n_mutants, self._n_mutants))
        self.job = None

    def log(self) -> str:
        """Return the end of what the tests printed."""
        return (self.folder / "tmp" / "log.txt").read_text("utf-8", errors="replace")[-3000:]


def run_tests(folder: Path, copy: Path, job: Job) -> NoReturn:
    """Be the process that runs the tests of a job, and write what came of them."""
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for limited in resource.RLIMIT_AS, resource.RLIMIT_FSIZE:
            resource.setrlimit(limited, (8 << 30, 8 << 30))
        log = os.open(folder / "tmp" / "log.txt", os.O_WRONLY | os.O_CREAT)
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), log, log)):
            os.dup2(file, number)
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        os.environ.pop("PYTEST_ADDOPTS", None)
        os.environ.update(PYTHONPATH=str(copy), TMPDIR=str(folder / "tmp"))
        tempfile.tempdir = None
        import pytest

        recorder = Recorder()
        options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=short", f"-W{PRELOADED_ANYWAY}"]
        options += [f"--basetemp={folder / 'tmp' / 'pytest'}", f"--hypothesis-seed={job.seed}"]
        code = pytest.main([*options, *job.tests], [recorder])
        is_fine = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        told = {
            "outcome": "survived" if is_fine else "killed",
            "test": "" if is_fine else recorder.failed or f"pytest ended with {code!r}",
            "n_passed": recorder.n_passed,
            "foreign": list(foreign_modules(copy)),
        }
        (folder / "tmp" / "result.json").write_text(json.dumps(told), "utf-8")
    except BaseException:  # noqa: BLE001 - this process must not go on as its parent
        traceback.print_exc()
    finally:
        os._exit(0)


def foreign_modules(copy: Path) -> Iterator[str]:
    """Name the modules of the project that were not imported from the copy."""
    for name, module in list(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or copy)
        if name.partition(".")[0] in (*PACKAGES, "tests") and not file.is_relative_to(copy):
            yield name


class Campaign:
    """Runs jobs on several copies, and knows how long every test file takes unmutated."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        self.workers = [Worker(folder / "0", ROOT)]
        for number in range(1, given.workers):
            self.workers.append(Worker(folder / str(number), self.workers[0].copy))
        self.tree = Tree(self.workers[0].copy)
        self._given = given
        self._seconds: dict[str, float] = {}
        self.n_errors = 0

    def try_out(self, jobs: Sequence[Job]) -> Iterator[Job]:
        """Run the tests named after the mutated modules, then for survivors those farther away."""
        left = dict.fromkeys(jobs, BUDGET_SHARE * self._given.timeout)
        for stage in (0, 1, 2):
            files = {job: self.tree.tests_of(job.mutant.path)[stage] for job in jobs if job.mutant}
            self._measure(sorted(set(chain.from_iterable(files.values()))))
            for job in jobs:
                job.tests, job.limit = [], self._given.timeout - job.seconds
                known = [file for file in files[job] if file in self._seconds]
                for file in sorted(known, key=self._seconds.__getitem__) if stage else known:
                    if self._seconds[file] <= left[job]:
                        left[job] -= self._seconds[file]
                        job.tests.append(file)
            survived = [job for job in jobs if not job.tests]
            for job in self._run([job for job in jobs if job.tests]):
                if job.outcome == "survived":
                    survived.append(job)
                else:
                    yield job
            jobs = survived
        for job in jobs:
            job.test = "" if job.n_passed else "no tests"
            yield job

    def _measure(self, files: Iterable[str]) -> None:
        """Run every test file once as it is; one that fails is told and left out."""
        jobs = [
            Job(self._given.seed, self._given.timeout, tests=[file])
            for file in files
            if file not in self._seconds
        ]
        for n_done, job in enumerate(self._run(jobs), start=1):
            tell(f"unmutated {n_done}/{len(jobs)}: {job.seconds:.1f} s {job.tests[0]}")
            if job.outcome != "survived":
                self.n_errors += 1
                tell(f"error: {job.tests[0]} does not pass unmutated: {job.outcome} {job.test}")
            elif job.n_passed:
                self._seconds[job.tests[0]] = job.seconds

    def _run(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Do the jobs, and return them in the order in which they end."""
        waiting = deque(jobs)
        while waiting or any(worker.job for worker in self.workers):
            for worker in self.workers:
                if worker.job is None and waiting:
                    worker.start(waiting.popleft())
                elif job := worker.poll():
                    if job.mutant is None and job.outcome == "killed":
                        tell(worker.log())
                    yield job
            time.sleep(0.01)


def tell(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(f"{text}\n")


def choose_mutants(tree: Tree, given: argparse.Namespace) -> list[tuple[Mutant, int]]:
    """Return the mutants that were asked for, each with a seed for Hypothesis."""
    chosen = [
        (tree.patched(f"{name}#{number + 1}", *texts), given.seed + number)
        for number in range(given.known)
        for name, *texts in KNOWN
    ]
    for patch in given.patch:
        path, _, texts = patch.partition(":")
        chosen.append((tree.patched("patch", path, *texts.split("=>", 1)), given.seed))
    if chosen and not given.name:
        return chosen
    mutants = tree.mutants()
    if unknown := [name for name in given.name if name not in mutants]:
        raise SystemExit(f"no such mutant: {', '.join(unknown)}")
    drawn = [mutants[name] for name in given.name]
    if not drawn:
        drawn = [one for one in mutants.values() if any(part in one.path for part in given.only)]
        random.Random(given.seed).shuffle(drawn)
        drawn = [*islice((one for one in drawn if one.is_valid), given.count)]
    return [*chosen, *((mutant, given.seed) for mutant in drawn)]


def report(records: Sequence[Mapping[str, Any]], rooms: Mapping[str, str]) -> str:
    """Write the table by room, and every survivor as a difference of one line."""
    counts: dict[str, Counter[str]] = {room: Counter() for room in (*SCOPE, "elsewhere", "all")}
    for one in records:
        for room in rooms.get(one["file"], "elsewhere"), "all":
            counts[room].update(["mutants", one["outcome"]])
    columns = ("mutants", "killed", "timeout", "survived", "equivalent")
    lines = [f"{'room':18}" + "".join(f"{name:>11}" for name in columns)]
    for room, count in counts.items():
        if count:
            lines.append(f"{room:18}" + "".join(f"{count[name]:11}" for name in columns))
    for one in records:
        if one["outcome"] == "survived":
            lines += ["", f"@@ {one['mutant']}", f"-{one['before']}", f"+{one['after']}"]
    return "\n".join([*lines, ""])


def run_campaign(campaign: Campaign, given: argparse.Namespace) -> int:
    """Run what was not run yet, write it down, and show the table."""
    equivalent = EQUIVALENT.read_text("utf-8").splitlines() if EQUIVALENT.exists() else []
    old = given.out.read_text("utf-8") if given.out and given.out.exists() else ""
    done = {_key(record): record for record in map(json.loads, old.splitlines())}
    records: list[dict[str, Any]] = []
    wanted: dict[Job, dict[str, Any]] = {}
    for mutant, seed in choose_mutants(campaign.tree, given):
        before, after = mutant.lines
        record = {"mutant": mutant.name, "file": mutant.path, "line": mutant.line}
        record |= {"kind": mutant.kind, "before": before, "after": after}
        if any(line.startswith(f"{mutant.path} | {before} | {after} |") for line in equivalent):
            records.append({**record, "outcome": "equivalent"})
        elif _key(record) in done:
            records.append(done[_key(record)])
        else:
            wanted[Job(seed, given.timeout, mutant)] = record
    gc.collect()
    gc.freeze()  # forks need not go through what is here already
    gc.enable()
    for n_done, job in enumerate(campaign.try_out([*wanted]), start=1):
        record = wanted[job]
        record |= {"outcome": job.outcome, "seconds": round(job.seconds, 2), "test": job.test}
        records.append(record)
        if given.out:
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        told = f"{job.outcome} {job.seconds:.1f} s {record['mutant']} {job.test}"
        tell(f"{n_done}/{len(wanted)} {told}")
    sys.stdout.write(report(records, campaign.tree.rooms))
    return 1 if campaign.n_errors else 0


def _key(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record["mutant"], record["before"], record["after"]


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Run mutants against the quick tests.")
    add = parser.add_argument
    add("--seed", type=int, default=17, help="of the draw, and of Hypothesis")
    add("--count", type=int, default=300, help="mutants drawn")
    add("--workers", type=int, default=2)
    add("--timeout", type=float, default=60, metavar="SECONDS", help="for one mutant")
    add("--out", type=Path, metavar="FILE", help="JSON lines; mutants in it are not run again")
    add("--only", action="append", metavar="PATHPART", help="draw from these files")
    add("--name", action="append", default=[], metavar="PATH:LINE:COLUMN:KIND")
    add("--patch", action="append", default=[], metavar="PATH:OLD=>NEW")
    add("--known", type=int, default=0, metavar="N", help="run the faults of KNOWN, N times each")
    given = parser.parse_args()
    given.only = given.only or [""]
    return given


def main() -> int:
    """Run a campaign; 1 when tests failed without a mutant."""
    given = parse_arguments()
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process with threads is not forked
    sys.path[:] = [one for one in sys.path if Path(one).resolve() not in (ROOT, ROOT / "tests")]
    for name in PRELOADED.split():
        with suppress(ImportError):
            importlib.import_module(name)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="mutants-")).resolve()
    workers: list[Worker] = []
    try:
        campaign = Campaign(folder, given)
        workers = campaign.workers
        return run_campaign(campaign, given)
    finally:
        for worker in workers:
            worker.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
