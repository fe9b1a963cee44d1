"""Tables of what the program knows: measures, strategies, fields of a judgement event."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pooler as p
import store.analysis
from docs.generate.markdown import code, plain, table
from pooler.result import Result
from store.event import EVENT


def _records(result: Result, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    return list(result.table(name).to_records())


def measures() -> str:
    """Return every measure with its parameters and other names."""
    rows = [
        [
            code(row["measure"]),
            " ".join(map(code, row["parameters"])),
            ", ".join(row["also"]),
            plain(row["summary"]),
        ]
        for row in _records(p.list_measures(), "measures")
    ]
    return "\n".join(table(["Measure", "Parameters", "Also called", "What it is"], rows))


def strategies() -> str:
    """Return every pooling strategy with its parameters and source."""
    rows = [
        [
            code(row["strategy"]),
            row["kind"],
            " ".join(map(code, row["parameters"])),
            plain(row["summary"]),
            plain(row["source"]),
        ]
        for row in _records(p.list_strategies(), "strategies")
    ]
    return "\n".join(table(["Strategy", "Kind", "Parameters", "Order of documents", "Source"], rows))


def events() -> str:
    """Return the keys of a judgement event in files."""
    return "\n".join(table(["Key", "What it holds"], [[code(one.name), plain(one.about)] for one in EVENT]))


def errata() -> str:
    """Return what the sources misprint, as the docstring of `store.analysis` lists it."""
    lines: list[str] = []
    rows: list[list[str]] = []
    for line in (inspect.getdoc(store.analysis) or "").splitlines():
        if line.startswith("References"):
            break
        if line.startswith("===="):
            continue
        if line.endswith(":") and not line.startswith(" "):
            lines += [*_errata_table(rows), plain(re.sub(r" ?\[\d\]_", "", line)), ""]
            rows = []
        elif lines and line[:_PLACE].strip():
            rows.append([line[:_PLACE], line[_PLACE:]])
        elif rows and line.strip():
            rows[-1][1] += f" {line.strip()}"
    return "\n".join([*lines, *_errata_table(rows)])


_PLACE = 23
"""Characters of the first column there."""


def _errata_table(rows: list[list[str]]) -> list[str]:
    cells = [
        [re.sub(r"\[(\d)\]_", r"source \1", one.replace("\\|", "|")).replace("``", "`") for one in row]
        for row in rows
    ]
    shown = [[plain(one) for one in row] for row in cells if row[0].strip() != "place"]
    return table(["Place", "What is printed, and what is right"], shown) if shown else []
