"""`import pooler`: quick, and each name where it is said to be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pooler
from tests.helpers.run import START


def in_a_process(code: str) -> str:
    """Return what a new interpreter prints."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def test_import_loads_neither_arrays_nor_sql_nor_screens() -> None:
    """Nothing is loaded before a name is used."""
    heavy = "{'numpy', 'scipy', 'sqlalchemy', 'rich', 'typer', 'textual', 'pandas'}"
    code = f"import pooler, sys; dir(pooler); print(sorted({heavy} & set(sys.modules)))"
    assert in_a_process(code) == "[]"


def test_measuring_files_loads_no_sql() -> None:
    """Files in a notebook need no database."""
    code = (
        "import pooler as p, sys; "
        "p.sensitivity(({'a': {'1': {'x': 1}}}, {'1': {'x': 1}}), depth=1, r='pool').table('sensitivity'); "
        "print(sorted({'sqlalchemy', 'textual', 'rich', 'typer'} & set(sys.modules)))"
    )
    assert in_a_process(code) == "[]"


@pytest.mark.parametrize("name", pooler.__all__)
def test_every_public_name_is_there_and_explained(name: str) -> None:
    """It is imported, is listed, and says what it is."""
    found = getattr(pooler, name)
    assert found.__name__ == name
    assert found.__doc__
    assert name in dir(pooler)


def test_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="nope"):
        _ = pooler.nope


@pytest.mark.parametrize("shape", ["store.py", "store/__init__.py"])
def test_store_of_somebody_else_is_named_in_a_line(shape: str, tmp_path: Path) -> None:
    """Both the command and the notebook say where it is, and what to do; nothing of it is imported."""
    other = tmp_path / shape
    other.parent.mkdir(exist_ok=True)
    other.write_text("raise SystemExit('somebody else was imported')")
    for code, last in (
        (START, "error: another `store` stands before pooler's own"),
        ("import pooler; pooler.evaluate", "ImportError: another `store` stands before pooler's own"),
    ):
        ran = subprocess.run(
            [sys.executable, "-c", code, "status"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stdout) == (1, "")
        line = ran.stderr.splitlines()[-1]
        assert line.startswith(f"{last}: {other}")
        assert "an environment of its own" in line
