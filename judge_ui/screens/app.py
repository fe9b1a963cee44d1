"""The judging screen: the full-screen app around one session."""

from __future__ import annotations

import os
import select
from typing import ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.theme import Theme

from judge_ui.screens.base import LEAST_HEIGHT, LEAST_WIDTH
from judge_ui.screens.dialogs import ConfirmDialog, LineDialog
from judge_ui.screens.inbox import InboxScreen
from judge_ui.session.keys import key_table
from judge_ui.session.messages import decision_mark
from judge_ui.session.session import JudgingSession
from store.text import counted, sanitise_line

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


BEAT_S = 30.0
"""Pause between two signs of life, in seconds."""
LOOK_S = 2.0
"""Pause between two looks whether the terminal is still there, in seconds."""

WIDTHS = [(0, "-tiny"), (LEAST_WIDTH, "-narrow"), (60, "-usual"), (120, "-wide")]
HEIGHTS = [(0, "-flat"), (LEAST_HEIGHT, "-short"), (16, "-middling"), (20, "-tall")]
"""Least columns or rows, and the class that every screen has from there on."""


class JudgeApp(App[None]):
    """The full-screen app; a topic that is open is shown at once."""

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
        return InboxScreen(self._session, self._keys)

    def on_mount(self) -> None:
        self.set_interval(BEAT_S, self._beat)
        if (os.isatty(0) or self.is_web) and hasattr(select, "poll"):
            self.set_interval(LOOK_S, self._leave_without_a_terminal)

    async def action_quit(self) -> None:
        """Quit; ask first where something is not saved, and quit all the same if asked again."""
        session, unwritten, drafts = self._session, self._session.unwritten, self._session.drafts
        if isinstance(self.screen, LineDialog) and self.screen.is_changed:
            self.screen.ask_before_quitting()
            return
        if isinstance(self.screen, QuitDialog) or (unwritten is None and not drafts):
            self.exit()  # a draft stays, for the next sitting
            return

        def answered(key: str | None) -> None:
            if key != "y":
                return
            if unwritten is None:
                drafts.drop()
            else:
                session.retry()  # it may be possible by now
            self.exit()

        if unwritten is None:
            what, them = (
                f"{counted(len(drafts), 'draft')} of a note NOT SAVED",
                "it" if len(drafts) == 1 else "them",
            )
        else:
            mark = decision_mark(unwritten.decision, session.scale)
            what, them = f"NOT SAVED: {mark} for {sanitise_line(unwritten.decision.docno)}", "it"
        self.push_screen(QuitDialog(f"{what}. Quit and lose {them}?"), answered)

    def on_click(self, event: events.Click) -> None:
        """Press the key of the hint that was clicked."""
        key = event.style.meta.get("key")
        if isinstance(key, str):
            self.post_message(events.Key(key, key if len(key) == 1 else None))

    def _beat(self) -> None:
        """Renew the sign of life, unless the database does not answer."""
        if self._session.pending is None:
            self._session.beat()

    def _leave_without_a_terminal(self) -> None:
        """Quit when the terminal, or the server of a browser, has gone without a signal.

        No key can be pressed any more.
        """
        terminal = select.poll()
        terminal.register(0, 0)
        if terminal.poll(0):  # it hung up: nothing else was asked for
            if self._session.pending is not None:
                self._session.retry()
            self.exit()


class QuitDialog(ConfirmDialog):
    """Asks whether to quit and lose what is not saved."""


def run_app(session: JudgingSession) -> int:
    """Run the full screen until the judge quits; return 0, or 1 when it failed and has shown why.

    The caller ends the session.
    """
    app = JudgeApp(session)
    app.run()
    if app.is_web and session.pending is not None:
        session.retry()  # the window went without a question
    return app.return_code or 0
