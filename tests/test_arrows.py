"""Who may import whom: the contracts in pyproject.toml, read by import-linter."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_arrows_point_one_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every contract of import-linter is kept by the source as it stands."""
    api = pytest.importorskip("importlinter.cli", reason="import-linter is not installed")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])  # it puts the working folder there
    config = str(ROOT / "pyproject.toml")
    code = api.lint_imports(config_filename=config, cache_dir=str(tmp_path), no_cache=True)
    assert code == 0


def test_contracts_cover_what_the_design_says() -> None:
    """The contracts are there: rooms of all levels, no circle, arithmetic, screen, blindness."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    kinds = [contract["type"] for contract in contracts]
    assert kinds == ["layers"] * 4 + ["acyclic_siblings"] + ["forbidden"] * 4
    assert all(contract.get("exhaustive") for contract in contracts[1:4])
    assert not any("ignore_imports" in contract for contract in contracts[:5])
    sources = {name for one in contracts[5:] for name in one["source_modules"]}
    assert {"store.analysis", "store.ranking", "pooler.strategies", "judge_ui"} <= sources
