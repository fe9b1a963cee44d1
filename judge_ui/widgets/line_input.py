"""A field for one line of text that cannot take what could steer a terminal."""

from __future__ import annotations

from textual.widgets import Input

from store.sanitise import BIDI_CONTROLS

TYPED = rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff{BIDI_CONTROLS}]*"
"""What may be typed or pasted."""


class LineInput(Input):
    """The field.

    Parameters
    ----------
    value : str, default=""
        What it begins with.
    placeholder : str, default=""
        What it shows while it is empty.
    is_selected : bool, default=False
        Whether the first key typed takes the place of `value`.
    disabled : bool, default=False
        Whether it takes no keys yet.
    id : str, optional
        Of the widget.
    """

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        is_selected: bool = False,
        disabled: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(
            value,
            placeholder,
            restrict=TYPED,
            select_on_focus=is_selected,
            disabled=disabled,
            id=id,
        )
        self.cursor_blink = False
