"""Every message with its remedy, read from the source: errors, refused values, faults of files, warnings."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from docs.generate.markdown import code, heading, plain, table
from pooler.reasons import OF_PAIRS, REASONS
from store.db.engine import _SQLITE_SAYS
from store.keeping.verify import CHECKS

ROOT = Path(__file__).resolve().parents[2]

DOING = {
    "Reading files": (
        "pooler/reading", "store/formats", "pooler/sources/opening", "pooler/sources/judgement_files",
    ),
    "Starting and importing": ("pooler/commands/start", "store/content"),
    "Pooling": (
        "pooler/pools", "pooler/spark", "pooler/strategies", "pooler/commands/pool",
        "store/analysis/pools", "store/analysis/rankings", "store/analysis/run_order", "store/ranking",
    ),
    "Assigning and judging": (
        "pooler/assigning", "store/judging", "judge_ui", "pooler/commands/judge", "pooler/commands/look",
        "store/overview", "store/history", "store/event", "store/records",
    ),
    "Agreement and one grade": (
        "store/grades", "store/analysis/agreement", "store/analysis/aggregation", "store/analysis/clusters",
        "store/analysis/audit", "pooler/commands/qrels", "pooler/commands/trust/audit", "pooler/qrels_rules",
    ),
    "Measuring and comparing": (
        "store/analysis/measures", "store/analysis/significance", "pooler/sources/source",
        "pooler/sources/stored", "pooler/sources/files",
        "pooler/cli/options", "pooler/commands/measure",
        "store/analysis/corrected",
    ),
    "What the pool missed, and what judging again would change": (
        "store/analysis/undiscovered", "store/analysis/variation", "store/analysis/quadrature",
        "store/analysis/arrays", "store/analysis/arguments", "pooler/pages",
        "pooler/commands/trust",
    ),
    "Keeping and exporting": (
        "store/keeping", "pooler/commands/keep", "pooler/commands/qrels/export", "pooler/files",
    ),
    "Opening a collection": ("store/db", "store/collection"),
    "Options and output": ("pooler", "store"),
}  # fmt: skip
"""What the user was doing, and where in the source that is: the longest path decides."""
_OF_VALUES = {"ArgumentError", "ParameterError", "ContradictionError"}
_OF_FAULTS = {"UnfitFieldError", "UnfitValueError", "Fault", "RunWarning"}
_READABLE = {
    "STRERROR": "REASON",
    "STR": "SCALE",
    "GET": "VERSION",
    "GOT": "TEXT",
    "SHOWN": "TEXT",
    "SPLITLINES": "NAME",
    "BEFORE1": "N",
    "CODE": "GRADE",
    "SHAPE": "N",
    "LARGEST-EXPONENT": "N",
}
"""Words of the source that say little by themselves."""
_WRITERS = {"quoted", "shortened", "shown", "counted", "rough", "percent", "listed"}
"""Functions that write a value, which is better told by its name."""
_METHODS = {
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "capitalize",
    "replace",
    "removeprefix",
    "removesuffix",
    "decode",
}
"""Methods of a text that leave it a text."""
_LEFT_OUT = ("migrations", "store/errors.py", "pooler/messages.py")


@dataclass
class Messages:
    """What is told while the user does one thing."""

    errors: dict[str, str] = field(default_factory=dict)
    """Message and what to do."""
    values: dict[str, str] = field(default_factory=dict)
    faults: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)


class Module:
    """A file of the source, and what its names stand for."""

    def __init__(self, path: Path) -> None:
        self.path = path.relative_to(ROOT).as_posix()
        self.tree = ast.parse(path.read_text("utf-8"))
        self.nodes: list[ast.AST] = [self.tree]
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:
            children = [*ast.iter_child_nodes(node)]
            self.parents |= dict.fromkeys(children, node)
            self.nodes += children
        self.constants = _assigned(self.tree.body)
        self.imports = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in self.nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        self.functions = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        self._locals: dict[ast.AST, dict[str, list[ast.Assign]]] = {}

    def assigned_in(self, function: ast.AST, name: str) -> list[ast.Assign]:
        """Return the statements of a function that assign a name."""
        if function not in self._locals:
            found: dict[str, list[ast.Assign]] = {}
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    found.setdefault(node.targets[0].id, []).append(node)
            self._locals[function] = found
        return self._locals[function].get(name, [])

    @cached_property
    def doing(self) -> str:
        """What the user does that this file serves."""
        starts = ((start, what) for what, known in DOING.items() for start in known)
        return max((len(start), what) for start, what in starts if self.path.startswith(start))[1]


def _assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return the values of the names that statements assign."""
    found: dict[str, ast.expr] = {}
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            found[node.target.id] = node.value
    return found


class Reader:
    """Reads expressions as the words they print."""

    def __init__(self) -> None:
        paths = [path for folder in ("pooler", "store", "judge_ui") for path in (ROOT / folder).rglob("*.py")]
        read = [
            path for path in sorted(paths)
            if not any(part in path.relative_to(ROOT).as_posix() for part in _LEFT_OUT)
        ]  # fmt: skip
        gc.disable()  # it would look through all the trees for garbage, again and again
        try:
            self.modules = {one.path: one for one in map(Module, read)}
        finally:
            gc.enable()
        self.errors = self._error_classes()
        self._told_by = self.errors | _OF_VALUES | _OF_FAULTS | {"add", "warn"}

    def _error_classes(self) -> set[str]:
        """Return the errors that people see, by the names of their classes."""
        bases = {
            node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
            for one in [*self.modules.values(), Module(ROOT / "store" / "errors.py")]
            for node in one.nodes
            if isinstance(node, ast.ClassDef)
        }
        found = {"PoolerError"}
        while more := {name for name, of in bases.items() if of & found} - found:
            found |= more
        return found

    def words(self, node: ast.expr | None, module: Module, depth: int = 0) -> str:
        """Return what an expression prints; what is known only when it runs is a word in capitals."""
        if node is None or depth > 6:
            return ""
        if isinstance(node, ast.Constant):
            return "" if node.value is None else str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(
                self.words(part.value if isinstance(part, ast.FormattedValue) else part, module, depth + 1)
                for part in node.values
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.words(node.left, module, depth) + self.words(node.right, module, depth)
        if isinstance(node, ast.IfExp):
            either = [self.words(one, module, depth + 1) for one in (node.body, node.orelse)]
            return _alternatives([one for one in either if one]) if all(either) else f"[{''.join(either)}]"
        if isinstance(node, ast.BoolOp):
            return _alternatives([self.words(one, module, depth + 1) for one in node.values])
        if isinstance(node, ast.Name):
            value = self._value(node, module)
            if value is not None:
                text = self.words(value[0], value[1], depth + 1)
                return text or _capitals(node.id)
            return _capitals(node.id)
        if isinstance(node, ast.Attribute):
            value = self._constant_of(node, module)
            return _capitals(node.attr) if value is None else self.words(value[0], value[1], depth + 1)
        if isinstance(node, ast.Subscript):
            return (
                self.words(node.value, module, depth)
                if isinstance(node.value, ast.Call)
                else _capitals(_last_name(node.value) or "value")
            )
        if isinstance(node, ast.Call):
            return self._call(node, module, depth)
        return _capitals(_last_name(node) or "value")

    def _call(self, node: ast.Call, module: Module, depth: int) -> str:
        name = _last_name(node.func)
        if name == "counted" and len(node.args) > 1:
            noun = self.words(node.args[1], module, depth + 1)
            plural = self.words(node.args[2], module, depth + 1) if len(node.args) > 2 else f"{noun}s"
            return f"N {plural}"
        if name == "len":
            return "N"
        if name == "format" and isinstance(node.func, ast.Attribute):
            return self.words(node.func.value, module, depth + 1)
        if name in _METHODS and isinstance(node.func, ast.Attribute):
            return self.words(node.func.value, module, depth + 1)
        if name == "percent":
            return "N%"
        if name == "join" and isinstance(node.func, ast.Attribute) and node.args:
            inner = node.args[0]
            element = inner.elt if isinstance(inner, ast.GeneratorExp | ast.ListComp) else inner
            text = self.words(element, module, depth + 1)
            return text if text.strip("`") != "" and len(text) < 60 else "NAMES"
        if isinstance(node.func, ast.Name) and (made := self._returned(node.func.id, module)):
            return self.words(made[0], made[1], depth + 2)
        if node.args and not isinstance(node.func, ast.Attribute):
            return _capitals(_last_name(node.args[0]) or name or "value")
        return _capitals(name or "value")

    def _returned(self, name: str, module: Module) -> tuple[ast.expr, Module] | None:
        """Find the words that a function makes, here or where it is imported from."""
        where = module
        if name in module.imports:
            folder, name = module.imports[name]
            where = self.modules.get(f"{folder.replace('.', '/')}.py", module)
        if name not in where.functions or name in _WRITERS:
            return None
        made = [node.value for node in ast.walk(where.functions[name]) if isinstance(node, ast.Return)]
        return next(((one, where) for one in made if one is not None and _is_message(one)), None)

    def _value(self, node: ast.Name, module: Module) -> tuple[ast.expr, Module] | None:
        """Find the text that a name stands for: in the function, the file, or where it is imported from."""
        here: ast.AST | None = node
        while here is not None and not isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef):
            here = module.parents.get(here)
        if here is not None:
            before = [one for one in module.assigned_in(here, node.id) if one.value.lineno <= node.lineno]
            if before:
                nearest = max((one.value for one in before), key=lambda one: one.lineno)
                return (nearest, module) if _has_text(nearest) else None
        if node.id in module.constants:
            value = module.constants[node.id]
            return (value, module) if _has_text(value) else None
        if node.id in module.imports:
            where, name = module.imports[node.id]
            other = self.modules.get(f"{where.replace('.', '/')}.py")
            if other and name in other.constants and _has_text(other.constants[name]):
                return other.constants[name], other
        return None

    def _constant_of(self, node: ast.Attribute, module: Module) -> tuple[ast.expr, Module] | None:
        """Find a constant of another module: `results.HINT`."""
        if isinstance(node.value, ast.Name) and node.value.id in module.imports and node.attr.isupper():
            where, name = module.imports[node.value.id]
            other = self.modules.get(f"{where}.{name}".replace(".", "/") + ".py")
            if other and node.attr in other.constants:
                return other.constants[node.attr], other
        return None

    def by_kind(self) -> dict[str, Messages]:
        """Return everything that is told, by what the user was doing."""
        found = {what: Messages() for what in DOING}
        for module in self.modules.values():
            for node in module.nodes:
                if isinstance(node, ast.Call):
                    self._tell(node, module, found[module.doing])
        for words, hint in _SQLITE_SAYS.values():
            found["Opening a collection"].errors[f"FILE: {re.sub('{(.*?)}', _in_capitals, words)}"] = (
                hint or ""
            )
        return found

    def _tell(self, node: ast.Call, module: Module, by_kind: Messages) -> None:
        name = _last_name(node.func) or ""
        if name not in self._told_by:
            return
        texts = [_one_line(self.words(one, module)) for one in node.args]
        hints = [one.value for one in node.keywords if one.arg == "hint"]
        hint = _one_line(self.words(hints[0], module)) if hints else ""
        if name in _OF_VALUES and len(texts) > 1 and _says(texts[1]):
            given = texts[0] if _says(texts[0]) or texts[0] == "FILE" else "ARGUMENT"
            by_kind.values[f"`{given}` {texts[1]}"] = hint
        elif name in _OF_VALUES:
            return
        elif name == "UnknownNameError" and len(texts) > 1:
            by_kind.errors[f"unknown {texts[0]} `NAME`; known: NAMES"] = (
                hint or "one of the names that it lists"
            )
        elif name == "FormatError" and not hint:
            return
        elif name in self.errors and name != "FormatError" and texts and _says(texts[0]):
            by_kind.errors[texts[0]] = hint
        elif name in _OF_FAULTS and len(texts) > (0 if name.startswith("Unfit") else 1):
            text = texts[0 if name.startswith("Unfit") else 1]
            if _says(text):
                by_kind.faults[text] = None
        elif name == "add" and len(texts) > 1 and "faults" in ast.unparse(node.func):
            if _says(texts[1]):
                by_kind.faults[texts[1]] = None
        elif name == "warn" and texts and _says(texts[0]):
            by_kind.warnings[texts[0]] = None


def _says(text: str) -> bool:
    """Whether it is more than a placeholder."""
    return bool(re.search(r"[a-z]", text))


def _is_message(node: ast.expr) -> bool:
    """Whether an expression is a text with words of its own, and no call that makes one of others."""
    return isinstance(node, ast.JoinedStr | ast.Constant | ast.BinOp | ast.IfExp) and _has_text(node)


def _one_line(text: str) -> str:
    return " ".join(text.replace("[]", "").replace("()", "").split())


def _alternatives(words: list[str]) -> str:
    return "/".join(dict.fromkeys(words)) if all(len(one) < 40 for one in words) else words[0]


def _has_text(node: ast.expr) -> bool:
    """Whether an expression has words of its own."""
    return any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in ast.walk(node))


def _last_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript | ast.Starred):
        return _last_name(node.value)
    if isinstance(node, ast.Call):
        return _last_name(node.args[0]) if node.args else _last_name(node.func)
    if isinstance(node, ast.BinOp):
        return _last_name(node.left)
    return None


def _in_capitals(found: re.Match[str]) -> str:
    return _capitals(found[1])


def _capitals(name: str) -> str:
    name = name.strip("_")
    if name.startswith("n_") or name in ("count", "number", "n", "size", "total"):
        return "N"
    word = name.replace("_", "-").upper()
    return _READABLE.get(word, word)


@cache
def _reader() -> Reader:
    """Read the source once for all pages."""
    return Reader()


def page() -> str:
    """Return the sections of the page."""
    lines: list[str] = []
    for what, by_kind in _reader().by_kind().items():
        lines += heading(2, what, what)
        if by_kind.errors:
            rows = [
                [plain(message), plain(hint)] for message, hint in sorted(by_kind.errors.items(), key=_order)
            ]
            lines += table(["Message", "What to do"], rows)
        if by_kind.values:
            lines += ["Values that cannot be used:", ""]
            rows = [
                [plain(message), plain(hint)] for message, hint in sorted(by_kind.values.items(), key=_order)
            ]
            lines += table(["Value", "What to do"], rows)
        for title, messages in (
            ("Faults of a file, each with its line:", by_kind.faults),
            ("Warnings:", by_kind.warnings),
        ):
            if messages:
                lines += [title, "", *(f"- {plain(one)}" for one in sorted(messages, key=_sort_key)), ""]
    return "\n".join(lines)


def _order(item: tuple[str, str]) -> str:
    return _sort_key(item[0])


def _sort_key(text: str) -> str:
    return re.sub(r"[^a-z ]", "", text.lower())


def reasons() -> str:
    """Return the table of reasons that stand in the place of a number."""
    rows = [[code(name), plain(text)] for name, text in REASONS.items()]
    rows += [[code(name), f"{plain(text)} (of two runs)"] for name, text in OF_PAIRS.items()]
    return "\n".join(table(["Reason", "What it means"], rows))


def checks() -> str:
    """Return the table of what `pooler verify` looks at."""
    sentences = dict(_sentences())
    rows = [
        [code(one.name), plain(one.what), "<br>".join(map(plain, sentences[one.name])), plain(one.advice)]
        for one in CHECKS
    ]
    return "\n".join(table(["Check", "Of each of the", "Faults", "What to do"], rows))


def _sentences() -> Iterator[tuple[str, list[str]]]:
    """Yield each check with the faults it tells that stand in its row."""
    reader = _reader()
    module = reader.modules["store/keeping/verify.py"]
    functions = {node.name: node for node in module.tree.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _last_name(node.func) == "Check":
            name = reader.words(node.args[0], module)
            found = [
                reader.words(one.args[1], module)
                for one in ast.walk(node)
                if isinstance(one, ast.Call)
                and _last_name(one.func) in ("rows", "events")
                and len(one.args) > 1
            ]
            named = [
                functions[one.id]
                for one in ast.walk(node)
                if isinstance(one, ast.Name) and one.id in functions
            ]
            for function in named:
                for one in ast.walk(function):
                    value = one.value if isinstance(one, ast.Return | ast.Yield) else None
                    if value is not None and _has_text(value):
                        found.append(reader.words(value, module))
            texts = (_one_line(re.sub(r"\{\d\}", "…", text)) for text in found)
            yield name, [text for text in dict.fromkeys(texts) if _says(text) and "SELECT" not in text]
