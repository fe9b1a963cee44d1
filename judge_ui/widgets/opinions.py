"""The judges' grades and notes above the document, each judge a letter."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from judge_ui.session.messages import brief_tail, history_words, opinion_head, opinion_marks, opinion_tail
from judge_ui.widgets.laid_out import MarkedText, strong
from store.judging.disagreements import Disagreement
from store.records import Scale
from store.wrapping import cell_width, cut, pad

MOST_LINES = 5
"""Opinions that have a line each; more of them share one."""

_GAP = "  "


class OpinionsBox(Widget):
    """A line for each judge: the letter, the grade, and what there is room for of the rest."""

    DEFAULT_CSS = """
    OpinionsBox {
        height: auto;
        width: 1fr;
    }
    """

    def __init__(self, scale: Scale, hints: str) -> None:
        super().__init__()
        self._scale = scale
        self._hints = hints
        self._found: Disagreement | None = None
        self._trouble = ""

    def show(self, found: Disagreement | None, trouble: str = "") -> None:
        """Show another disagreement, or say why it could not be read."""
        self._found, self._trouble = found, trouble
        self.refresh(layout=True)

    def render(self) -> Content:
        """Draw the lines; the last one is underlined, and ends in the hints."""
        room = max(self.size.width - 2, 8)
        lines = [(self._trouble, "", "")]
        if self._found is not None:
            is_tall = self.screen.has_class("-tall")
            lines = _opinions_in(self._found, self._scale, is_tall=is_tall)
        drawn: list[Content] = []
        for place, (head, tail, brief) in enumerate(lines):
            is_last = place == len(lines) - 1
            beside = room - cell_width(head) - len(_GAP)
            fits = cell_width(self._hints) <= min(beside, room // 2)
            right = self._hints if is_last and fits else ""
            left = room - cell_width(right) - (len(_GAP) if right else 0)
            head = cut(head, left)
            room_left = left - cell_width(head)
            said = tail if cell_width(_GAP + tail) <= room_left else brief
            rest = pad(f"{_GAP}{said}" if said else "", room_left)
            rule = " underline" if is_last else ""
            end = f"{_GAP}{right} " if right else " "
            drawn.append(Content.assemble((" " + head, "bold" + rule), (rest + end, rule.strip())))
        return Content("\n").join(drawn)


def _opinions_in(found: Disagreement, scale: Scale, *, is_tall: bool) -> list[tuple[str, str, str]]:
    """Write a disagreement in few lines: of each what stands out, the rest of it, and that in fewer words."""
    lines = [(opinion_marks(found.opinions, scale), "", "")]
    if is_tall and len(found.opinions) <= MOST_LINES:
        lines = [(opinion_head(one, scale), opinion_tail(one), brief_tail(one)) for one in found.opinions]
    words = history_words(found, scale)
    return [*lines, (words, "", "")] if words else lines


def opinions_text(found: Disagreement, scale: Scale) -> MarkedText:
    """Write a disagreement in full: every note and every passage."""
    marked_text = MarkedText("")
    for one in found.opinions:
        marked_text += strong(opinion_head(one, scale)) + MarkedText("\n")
        if one.note.strip():
            marked_text += MarkedText(one.note.strip("\n") + "\n")
        for passage in one.passages:
            marked_text += MarkedText(f'passage: "{passage.text}"\n')
        marked_text += MarkedText("\n")
    words = history_words(found, scale)
    return marked_text + strong(words) + MarkedText("\n\n" if words else "")
