"""The report in a browser: all is drawn, nothing is fetched, and it fits a telephone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.run import Cli

pytestmark = [pytest.mark.chromium, pytest.mark.slow]

OPTIONS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
    --disable-background-networking --disable-component-update --virtual-time-budget=2000
""".split()  # noqa: SIM905 - a list of words would be a screen long

SHOWN = """
    [...page.querySelectorAll('figure')].filter(figure => figure.querySelector('svg'))
    .map(figure => [...figure.querySelectorAll('svg')]
        .filter(one => one.getBoundingClientRect().height > 20).length).join(' ')
"""
"""How many drawings of each figure are on the page."""


def browse(folder: Path, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page in a browser without a window and a profile of its own."""
    profile = f"--user-data-dir={folder / 'profile'}"
    address = page.resolve().as_uri()
    return subprocess.run(
        ["chromium", *OPTIONS, profile, *options, address],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def measured(folder: Path, page: Path, script: str, width: int) -> str:
    """Let a script see the page in a frame of a width, and return what it says."""
    frame = folder / "frame.html"
    frame.write_text(
        f'<iframe id="f" src="{page.name}" style="width:{width}px;height:900px;border:0"></iframe>'
        f"<p id=said></p><script>onload = () => {{ const page = document.getElementById('f')"
        f".contentDocument; document.getElementById('said').textContent = {script}; }}</script>",
        "utf-8",
    )
    ran = browse(folder, frame, "--allow-file-access-from-files", "--dump-dom")
    said = re.search(r'<p id="said">([^<]*)</p>', ran.stdout)
    assert said is not None, ran.stderr[-2000:]
    return said[1]


@pytest.mark.parametrize("width", [320, 1280])
def test_report_is_drawn_whole_and_fetches_nothing(width: int, cli: Cli, judged: Path) -> None:
    """Every figure has a size, the page is no wider than its frame, and no address is asked."""
    cli("report", "trust.html", "--depth", "5", "--qrels", "strict").fine()
    page = judged / "trust.html"
    shown = measured(judged, page, SHOWN, width).split()
    assert len(shown) > 10
    assert set(shown) == {"1"}
    assert int(measured(judged, page, "page.documentElement.scrollWidth", width)) <= width
    entries = "document.getElementById('f').contentWindow.performance.getEntriesByType('resource')"
    assert measured(judged, page, f"{entries}.length", width) == "0"


def test_printed_page_is_small(cli: Cli, judged: Path) -> None:
    """Hatched bars stay lines on paper: as pictures they make some 4 MB of the same page."""
    cli("report", "trust.html", "--depth", "5", "--qrels", "strict").fine()
    paper = judged / "trust.pdf"
    browse(judged, judged / "trust.html", f"--print-to-pdf={paper}")
    assert paper.read_bytes().startswith(b"%PDF")
    assert paper.stat().st_size < 1_000_000


@pytest.mark.parametrize("width", [390, 1280])
def test_page_of_a_run_hides_nothing_in_a_box(width: int, cli: Cli, judged: Path) -> None:
    """Charts and the tables below them are seen whole, in letters of 10 pixels or more."""
    cli("report", "runs", "pages", "--for", "bm25-words", "--qrels", "strict", "-m", "AP", "-m", "P@5").fine()
    boxes = "[...page.querySelectorAll('figure .drawing, figure .scroll')]"
    hidden = "one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1"
    script = f"{boxes}.length + ' ' + {boxes}.filter(one => {hidden}).length"
    page = judged / "pages/bm25-words.html"
    assert measured(judged / "pages", page, script, width) == "4 0"
    letters = "page.querySelector('figure svg').getBoundingClientRect().width * 13 / 430"
    assert float(measured(judged / "pages", page, letters, width)) >= 10
