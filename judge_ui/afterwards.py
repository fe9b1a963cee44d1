"""What a judge may want at the end of a topic, and the keys for it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from judge_ui.keys import Command


class Afterwards(Enum):
    """What the judge wants after a topic."""

    INBOX = "inbox"
    SKIPPED = "skipped"
    QUICK = "quick"
    UNDO = "undo"
    STAY = "stay"
    QUIT = "quit"


WISHES = {
    Command.INBOX: Afterwards.INBOX,
    Command.SKIP: Afterwards.SKIPPED,
    Command.UNDO: Afterwards.UNDO,
    Command.QUIT: Afterwards.QUIT,
}
"""What commands mean there."""

_OWN_KEYS = {Afterwards.STAY: "daf", Afterwards.QUICK: "rvw"}


def own_keys(meaning: Callable[[str], object]) -> dict[Afterwards, str]:
    """Choose the keys that mean something at the end of a topic alone.

    Parameters
    ----------
    meaning : callable
        Says what a key means elsewhere.

    Returns
    -------
    dict of Afterwards to str
        Of each the first key that is not one of `WISHES` already; empty = there is none.

    Examples
    --------
    >>> own_keys({"d": Command.SKIP}.get)[Afterwards.STAY]
    'a'
    """
    return {
        wish: next((key for key in keys if meaning(key) not in WISHES), "")
        for wish, keys in _OWN_KEYS.items()
    }
