"""Every test whose expected values were published, or printed by another program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from docs.generate.markdown import code, heading, plain, table

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "tests/trust/test_variation": "Varying judgements",
    "tests/trust/test_audit": "A judge audited against people",
    "tests/trust": "Undiscovered relevant documents, and errors of the sources",
    "tests/comparing": "Tests of significance, orders of runs",
    "tests/agreement": "Agreement of judges, and one grade of several",
    "tests/measures": "Measures",
    "tests/pools": "Pools and strategies",
    "tests/collection": "Files and rank orders",
    "tests/files": "Files and rank orders",
    "tests/screens": "The judging screen",
    "tests": "The rest",
}
"""What the tests of a folder are about: the first that is above it decides."""


def page() -> str:
    """Return a table for every subject: source, what is compared, and the test."""
    found: dict[str, list[list[str]]] = {title: [] for title in ROOMS.values()}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        for test, source, about in _vectors(path):
            title = next(title for room, title in ROOMS.items() if name.startswith(f"{room}/"))
            found[title].append([plain(source), plain(about), f"{code(name)}<br>{code(test)}"])
    lines: list[str] = []
    for title, rows in found.items():
        lines += heading(3, title, f"vectors {title}")
        lines += table(["Source", "What is compared", "Test"], rows)
    return "\n".join(lines)


def _vectors(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the tests of a file that are marked: name, source, and the first line of what each says."""
    text = path.read_text("utf-8")
    if "pytest.mark.vector" not in text:
        return
    tree = ast.parse(text)
    names = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.vector":
                given = mark.args[0]
                source = names.get(given.id, given) if isinstance(given, ast.Name) else given
                about = (ast.get_docstring(node) or "").split("\n\n")[0]
                yield node.name, str(ast.literal_eval(source)), about
            elif isinstance(mark, ast.Call) and "parametrize" in ast.unparse(mark.func):
                sources = {
                    ast.literal_eval(one.args[0])
                    for one in ast.walk(mark)
                    if isinstance(one, ast.Call)
                    and ast.unparse(one.func) == "pytest.mark.vector"
                    and isinstance(one.args[0], ast.Constant)
                }
                about = (ast.get_docstring(node) or "").split("\n\n")[0]
                for source in sorted(sources):
                    yield node.name, str(source), about
