"""What is shown instead of everything on a terminal that is too small to judge on."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

LEAST_WIDTH, LEAST_HEIGHT = 40, 10


class TooSmall(Widget):
    """Says so; the style sheet shows it when the screen has class ``-tiny`` or ``-flat``."""

    def render(self) -> Content:
        """Say how large the terminal must be."""
        need = f"{LEAST_WIDTH} columns and {LEAST_HEIGHT} rows"
        return Content(f"terminal too small\nneeded: {need}\nctrl+q quits")
