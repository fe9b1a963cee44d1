"""The judging screen: the full-screen app around one session."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.theme import Theme

from judge_ui.keys import key_table
from judge_ui.screens.inbox import InboxScreen
from judge_ui.session import JudgingSession
from judge_ui.widgets.too_small import LEAST_HEIGHT, LEAST_WIDTH

THEME = Theme(
    name="terminal",
    # The terminal's own colours: right on dark and on light, and as its owner wants them.
    ansi=True,
    primary="ansi_blue",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={"ansi-background": "ansi_default", "ansi-foreground": "ansi_default"},
)


WIDTHS = [(0, "-tiny"), (LEAST_WIDTH, "-narrow"), (60, "-usual"), (120, "-wide")]
HEIGHTS = [(0, "-flat"), (LEAST_HEIGHT, "-short"), (16, "-middling"), (20, "-tall")]
"""Least columns or rows, and the class that every screen has from there on."""


class JudgeApp(App[None]):
    """The full-screen app.

    Parameters
    ----------
    session : JudgingSession
        What it drives; the caller ends it. A topic that is open is shown at once.
    """

    CSS_PATH = "judge_ui.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q,ctrl+c", "quit", "Quit", show=False, priority=True)
    ]
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    def __init__(self, session: JudgingSession) -> None:
        # Said here and not by the theme alone: Textual chooses what NO_COLOR does before it knows
        # the theme, and would draw black on black.
        super().__init__(ansi_color=True)
        self._session = session
        self._keys = key_table(session.scale)
        self.register_theme(THEME)
        self.theme = THEME.name

    def get_default_screen(self) -> InboxScreen:
        """Begin with the topics."""
        return InboxScreen(self._session, self._keys)


def run_app(session: JudgingSession) -> int:
    """Run the full screen until the judge quits.

    Parameters
    ----------
    session : JudgingSession
        What it drives; the caller ends it.

    Returns
    -------
    int
        0, or 1 when the screen failed and has shown why.
    """
    app = JudgeApp(session)
    app.run()
    return app.return_code or 0
