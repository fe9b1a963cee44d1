"""The list of documents on a screen of its own, where there is no room beside the document."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from judge_ui.keys import Command, KeyTable
from judge_ui.messages import topic_name
from judge_ui.screens.helping import list_help
from judge_ui.session import JudgingSession
from judge_ui.widgets.bars import Bar, progress_words
from judge_ui.widgets.hints import Hint, Hints, Status
from judge_ui.widgets.pool_list import PoolList
from judge_ui.widgets.too_small import TooSmall


class PoolListScreen(Screen[int | None]):
    """The list; gives the place of the document to go to, or ``None``.

    Parameters
    ----------
    session : JudgingSession
        With a topic open.
    keys : KeyTable
        The keys of its scale.
    """

    AUTO_FOCUS = "RowList"

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__()
        self._session = session
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield TooSmall()
        with Vertical(id="work"):
            yield Bar(id="topic-bar")
            yield PoolList(self._session, self._keys, id="pool-list")
            yield Hints(self._keys, self._session.scale, id="hints")

    def on_mount(self) -> None:
        """List the documents."""
        session = self._session
        progress = progress_words(session.judge_name, session.progress)
        self.query_one("#topic-bar", Bar).show(topic_name(session), progress)
        self.query_one(PoolList).show()
        self._show_hints()

    def on_descendant_focus(self) -> None:
        """Say what works now."""
        self._show_hints()

    @on(PoolList.Chosen)
    def _chosen(self, message: PoolList.Chosen) -> None:
        """Give the document."""
        message.stop()
        self.dismiss(message.place)

    @on(PoolList.Left)
    def _left(self) -> None:
        """Give none."""
        self.dismiss(None)

    @on(PoolList.HelpWanted)
    def _help_wanted(self) -> None:
        """Show the keys."""
        self.app.push_screen(list_help(self._keys, self._session.scale))

    def _show_hints(self) -> None:
        """Write the last line."""
        is_finding = self.query_one(PoolList).is_finding
        self.query_one(Hints).show(None, Status(), list_hints(self._keys, is_finding=is_finding))


def list_hints(keys: KeyTable, *, is_finding: bool) -> list[Hint]:
    """Say what works in a list, or in its field for a docno."""
    if is_finding:
        return [("Enter", "or Esc: done")]
    return [
        ("Enter", "go there"),
        ("Tab", "filter"),
        (keys.name(Command.FIND), "find docno"),
        (keys.name(Command.HELP), "help"),
        (keys.name(Command.LIST), "back"),
    ]
