"""The part of a report on models that judged beside people: what their grades would do in people's place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pooler.reporting.figures import page_table
from pooler.reporting.page import Section

if TYPE_CHECKING:
    from pooler.reporting.material import Material
    from pooler.reporting.page import PageTable


def models(material: Material) -> Section | None:
    """Show the verdict on every model that graded what people graded, too."""
    stored = material.stored
    if stored is None or not stored.audits:
        return None
    return Section("Models against people", tuple(_models(material)))


def _models(material: Material) -> Iterator[str | PageTable]:
    """Yield verdicts, or why there is none."""
    stored = material.stored
    assert stored is not None
    yield "What each model's grades would do in people's place, over the documents that both graded."
    refused: dict[str, list[str]] = {}
    for name, found in stored.audits.items():
        if isinstance(found, str):
            refused.setdefault(found, []).append(name)
            continue
        settings = found.settings
        options = [word for person in settings["against"] for word in ("--against", person)]
        for option in ("aggregate", "ties"):
            options += [f"--{option}", settings[option]] if settings[option] is not None else []
        options += ["--level", str(settings["level"])]
        table = found.table("verdict")
        yield page_table(
            table,
            caption=f"{table.title}. {' '.join(table.notes)}",
            command=material.commands.of_collection("audit", *options, judges=[name]),
        )
    for why, names in refused.items():
        yield f"{', '.join(names)}: {why}."
