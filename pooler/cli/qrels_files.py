"""Options on files of qrels: graded, or binary at levels, each with its manifest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import check_out, write_json, write_lines
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.results.agree.aggregate import QrelsResult

LEVEL = "{level}"
"""What stands in a file name for the level."""

QrelsOutOption = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Default stdout. {level} in it becomes graded, 1, 2, ..."
    ),
]
QrelsLevelsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--level",
        metavar="N",
        help="Least grade (or sum of grades) that counts as relevant: 0 and 1 are written; may"
        " be repeated, with {level} in --out.",
        show_default=False,
    ),
]
GradedOption = Annotated[bool, typer.Option("--graded", help="Write the grades, too, beside binary qrels.")]
UnjudgedOption = Annotated[
    int | None,
    typer.Option(
        "--unjudged",
        metavar="CODE",
        help="Also write pooled documents that nobody looked at, with this code (as -1).",
        show_default=False,
    ),
]
ManifestOption = Annotated[
    str | None, typer.Option("--manifest", metavar="FILE", help="Default: the file, .manifest.json added.")
]


def check_files(wanted: Sequence[int | None], out: str | None, manifest: str | None) -> None:
    """Refuse before any work that several files have one name, or one that cannot be written."""
    if len(wanted) > 1:
        known = ", ".join(map(_level_word, wanted))
        for name, path in (("--out", out), ("--manifest", manifest)):
            if LEVEL not in (path or "") and (name == "--out" or path is not None):
                requirement = f"must contain {LEVEL} where {len(wanted)} files are written"
                hint = f"as in --out qrels.{LEVEL}.txt: {LEVEL} becomes {known}"
                raise ArgumentError(name, requirement, path, hint=hint)
    for level in wanted:
        check_out(_path_at(out, level), _path_at(manifest, level))


def write_files(made: Sequence[QrelsResult], out: str | None, manifest: str | None) -> None:
    """Write qrels, each with its manifest unless it goes to stdout."""
    for one in made:
        path, beside = (_path_at(given, one.final.policy.level) for given in (out, manifest))
        write_lines(path, one.text.splitlines(), manifest=beside)
        if manifest is not None or path not in (None, "-"):
            write_json(beside or f"{path}.manifest.json", one.manifest, private=True)


def _path_at(template: str | None, level: int | None) -> str | None:
    """Put the level into the name of a file."""
    return None if template is None else template.replace(LEVEL, _level_word(level))


def _level_word(level: int | None) -> str:
    """Say what stands for `LEVEL`."""
    return "graded" if level is None else str(level)
