"""`pooler/__init__.pyi`: what editors and type checkers see of names that are found when they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler

STUB = Path(pooler.__file__).with_suffix(".pyi")
HEAD = '"""Names of the API, for editors and type checkers: `tests/product/test_stub.py --freeze`."""\n\n'
TAIL = "\n__all__: list[str]\n\ndef foreign_store() -> str: ...\n"


def test_stub_has_every_public_name(pytestconfig: pytest.Config) -> None:
    """Each name is imported from where it is."""
    places = [(pooler._where()[name], name) for name in pooler.__all__]
    places = sorted([*places, ("pooler.version", "__version__"), ("pooler", "datasets")])
    expected = HEAD + "".join(f"from {module} import {name} as {name}\n" for module, name in places) + TAIL
    if pytestconfig.getoption("--freeze"):
        STUB.write_text(expected, "utf-8")
    assert STUB.read_text("utf-8") == expected
