"""The contracts of imports are those of the design; what the house asks of files, names and tests.

That the program keeps the contracts is for `lint-imports`, which `.ci/run` runs.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = sorted(chain.from_iterable((ROOT / name).rglob("*.py") for name in ("pooler", "judge_ui", "store")))


def test_contracts_cover_what_the_design_says() -> None:
    """The contracts are there: rooms of all levels, no circle, arithmetic, screen, blindness."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    kinds = [contract["type"] for contract in contracts]
    assert kinds == ["layers"] * 4 + ["acyclic_siblings"] + ["forbidden"] * 4
    assert all(contract.get("exhaustive") for contract in contracts[1:4])
    assert not any("ignore_imports" in contract for contract in contracts[:5])
    assert settings["tool"]["importlinter"]["exclude_type_checking_imports"] is False
    sources = {name for one in contracts[5:] for name in one["source_modules"]}
    assert {"store.analysis", "store.ranking", "pooler.strategies", "judge_ui"} <= sources


def test_a_class_name_is_used_once() -> None:
    """But for messages of widgets, which are named within their widget."""
    texts = (path.read_text("utf-8") for path in PROGRAM)
    names = Counter(chain.from_iterable(re.findall(r"^class (\w+)", text, re.MULTILINE) for text in texts))
    assert [name for name, n in names.items() if n > 1] == []


def test_files_and_folders_are_of_a_size_to_be_read() -> None:
    """1,000 lines a file, 25 files a folder, and no line kept from the formatter without its reason."""
    texts = {path: path.read_text("utf-8") for path in PROGRAM if "migrations" not in path.parts}
    assert [path.name for path, text in texts.items() if text.count("\n") > 1_000] == []
    folders = Counter(path.parent for path in texts if path.name != "__init__.py")
    assert [folder.name for folder, n in folders.items() if n > 25] == []
    kept = [line for text in texts.values() for line in text.splitlines() if "# fmt: skip" in line]
    assert len(kept) <= 20
    assert [line for line in kept if not re.search(r"# fmt: skip  # \w", line)] == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_a_page_names_exist(page: str) -> None:
    """Whole paths as they are; shortened ones as the end of some file's or folder's path."""
    rooms = [path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "venv"))]
    places = chain(ROOT.iterdir(), chain.from_iterable(room.rglob("*") for room in rooms))
    known = {f"/{path.relative_to(ROOT).as_posix()}" for path in places}
    text = (ROOT / page).read_text("utf-8")
    named = set(re.findall(r"\b[\w/-]+/[\w/-]*\.(?:py|md|toml|txt)\b|\b\w+/(?=[\s`])|\b[a-z]\w*\.py\b", text))
    assert [
        one for one in sorted(named) if not any(path.endswith(f"/{one.rstrip('/')}") for path in known)
    ] == []


DOORS = ("pooler", "store.collection", "store.records", "store.errors", "tests")
"""What a test may import of the program: its API, an open collection, records and errors; and helpers."""
MATHEMATICS = ("store.analysis.", "store.ranking", "pooler.strategies.")
"""What a test may import beside an oracle."""
DEEP = ROOT / "tests" / "deep_imports.txt"
MOST_DEEP = 85
"""Files that import deeper, as `deep_imports.txt` lists them: this number only falls."""
_TEXT = re.compile('""".*?"""', re.DOTALL)
_IMPORT = re.compile(
    r"^ *(?:from|import) ((?:pooler|store|judge_ui)\b[\w., ]*?)(?: import | as |$)", re.MULTILINE
)


def deep_imports(path: Path) -> list[str]:
    """Return the modules of the program that a test imports beyond its doors and the mathematics."""
    imported = _IMPORT.findall(_TEXT.sub("", path.read_text("utf-8")))
    modules = {name.strip() for names in imported for name in names.split(",")}
    return sorted(name for name in modules if name not in DOORS and not f"{name}.".startswith(MATHEMATICS))


def test_tests_meet_the_program_at_its_doors() -> None:
    """A test that imports a module of the program's inside is listed, and the list only shrinks."""
    files = [path for path in (ROOT / "tests").rglob("*.py") if not {"helpers", "benchmarks"} & {*path.parts}]
    found = {path.relative_to(ROOT).as_posix(): deep_imports(path) for path in sorted(files)}
    lines = [f"{name}: {' '.join(modules)}" for name, modules in found.items() if modules]
    listed = DEEP.read_text("utf-8").splitlines()
    assert set(lines) - set(listed) == set(), "import a door of the program, or a helper"
    assert set(listed) - set(lines) == set(), f"take these out of {DEEP.name}"
    assert len(listed) <= MOST_DEEP
