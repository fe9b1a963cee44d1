"""The pictures of the documentation show what the program shows today.

`pytest tests/test_pictures.py --freeze` draws them anew.
"""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

import pooler as p
from store.records import JudgeKind
from tests.readme_blocks import ROOT
from tests.screens.sitting import judging, press, strips

PICTURES = ROOT / "docs" / "pictures"
MOST_BYTES = 100_000


def words_of(lines: Iterable[str]) -> list[str]:
    """Return lines of a terminal without blanks and without what is a time of day."""
    bare = (re.sub(r"\d\d:\d\d:\d\d|\s|[▁▂▃▄▅▆▇█]", "", line) for line in lines)
    return [line for line in bare if line]


def words(drawing: str) -> list[str]:
    """Return the lines of a terminal that was drawn."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(
        r'<text class="[^"]*-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', drawing
    ):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    lines = ("".join(text for _, text in sorted(row)) for _, row in sorted(rows.items()))
    return words_of(lines)


def from_here(drawing: str) -> str:
    """Return a drawing that asks no other host for its letters: whatever fixed font is there does."""
    drawing = re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r"<!--.*?-->", "", drawing)
    drawing = re.sub(r"font-family: ?[^;]*;", "font-family: monospace;", drawing)
    return re.sub(r"[ \t]+$", "", drawing, flags=re.MULTILINE)


async def test_judging_screen_is_the_one_in_the_picture(
    imported_garden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    """The words of judging.svg are those of the screen on the sample collection, two documents judged."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    file = shutil.copy(imported_garden / "collection.db", tmp_path)
    with p.open_collection(file) as collection:
        collection.judges.add("alice", JudgeKind.HUMAN)
        async with judging(collection, topic="G01", size=(96, 20)) as pilot:
            await press(pilot, "0", "2")
            shown = [strip.text for strip in strips(pilot)]
            drawing = from_here(pilot.app.export_screenshot(title="pooler judge --judge alice"))
    if pytestconfig.getoption("--freeze"):
        (PICTURES / "judging.svg").write_text(drawing, "utf-8")
    picture = (PICTURES / "judging.svg").read_text("utf-8")
    assert words(picture) == words_of(shown)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", picture)
    assert len(picture.encode()) < MOST_BYTES
