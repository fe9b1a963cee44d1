"""Rows of a plot in plain characters: a label, what is drawn, and notes to the right of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pooler.cli.line_breaks import broken

LEAST_AREA = 12
"""Columns that are drawn in, at least."""
_LEAST_LABEL, _GOOD_AREA = 8, 16
_GAP, _NOTE_GAP = 2, 2


@dataclass(frozen=True, slots=True)
class Layout:
    """How the columns of a terminal are shared out."""

    label: int
    area: int
    notes: tuple[int, ...]
    """Widths of the notes that fit."""

    @property
    def left(self) -> int:
        """Columns to the left of what is drawn."""
        return self.label + _GAP

    def header(self, heading: str, headings: Sequence[str]) -> list[str]:
        """Write the headings of labels and notes; nothing if there are none."""
        return self.row(heading, [""], headings) if heading or any(headings) else []

    def row(
        self, label: str, areas: Sequence[str], notes: Sequence[str], *, wall: str = ""
    ) -> list[str]:
        """Write one label with what is drawn and its notes; what is longer goes on below.

        Parameters
        ----------
        label : str
            Folded to its columns.
        areas : sequence of str
            What is drawn, or words, line by line.
        notes : sequence of str
            One for every heading; stand in the first line.
        wall : str, optional
            One character between labels and what is drawn.
        """
        from rich.cells import cell_len

        beside = "".join(
            " " * (_NOTE_GAP + width - cell_len(note)) + note
            for note, width in zip(notes, self.notes, strict=False)
        )
        lines = []
        for part, area in zip_longest(broken(label, self.label), areas, fillvalue=""):
            blanks = self.label - cell_len(part)
            free = self.area - cell_len(area)
            lines.append(f"{part}{' ' * blanks}{wall:>{_GAP}}{area}{' ' * free}{beside}".rstrip())
            beside = ""
        return lines


def share_out(
    labels: Sequence[str],
    notes: Sequence[Sequence[str]],
    headings: Sequence[str],
    width: int,
    *,
    least: int = LEAST_AREA,
) -> Layout:
    """Share out the columns: labels give way to what is drawn, then the last notes are left out.

    Parameters
    ----------
    labels : sequence of str
        With their heading.
    notes : sequence of sequences of str
        For every label, one for every heading.
    headings : sequence of str
        Of the notes.
    width : int
        Columns of all.
    least : int, default=LEAST_AREA
        Columns to draw in.

    Examples
    --------
    >>> share_out(["run", "bm25-words"], [["0.31"]], ["MAP"], 80)
    Layout(label=10, area=62, notes=(4,))
    >>> share_out(["run", "bm25-words"], [["0.31"]], ["MAP"], 24)
    Layout(label=8, area=14, notes=())
    """
    from rich.cells import cell_len

    full = max(map(cell_len, labels))
    beside = [
        max(cell_len(heading), *(cell_len(one[place]) for one in notes))
        for place, heading in enumerate(headings)
    ]
    while True:
        room = width - _GAP - sum(one + _NOTE_GAP for one in beside)
        label = min(full, max(_LEAST_LABEL, min(room - _GOOD_AREA, room // 2)))
        if room - label >= least or not beside:
            return Layout(label, max(room - label, least), tuple(beside))
        beside.pop()


def side_by_side(entries: Iterable[str], width: int) -> list[str]:
    """Put entries in lines, as many as fit; one that fits in none is folded.

    Examples
    --------
    >>> side_by_side(["# judged", ". unjudged", "! cannot be judged"], 20)
    ['# judged  . unjudged', '! cannot be judged']
    """
    from rich.cells import cell_len

    lines: list[str] = []
    for entry in entries:
        if lines and cell_len(f"{lines[-1]}  {entry}") <= width:
            lines[-1] += f"  {entry}"
        else:
            lines += broken(entry, width)
    return lines
