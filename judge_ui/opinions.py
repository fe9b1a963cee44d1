"""Disagreements in words: what the judges said, each a letter, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable

from judge_ui.grades import grade_mark, grade_name
from judge_ui.messages import counted
from store.disagreements import CellCount, Disagreement, Opinion, Status
from store.records import Scale
from store.sanitise import sanitise_line
from store.verdicts import Verdict, in_order

CANNOT_MARK = "can't"


def verdict_mark(scale: Scale, verdict: Verdict) -> str:
    """Name a verdict as shortly as can be.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> verdict_mark(parse_scale("ntcir"), 3), verdict_mark(parse_scale("0-2"), None)
    ('S', "can't")
    """
    return CANNOT_MARK if verdict is None else grade_mark(scale, verdict)


def verdict_name(scale: Scale, verdict: Verdict) -> str:
    """Name a verdict in full."""
    return "can't be judged" if verdict is None else grade_name(scale, verdict)


def marks(scale: Scale, verdicts: Iterable[Verdict]) -> str:
    """Name several verdicts as shortly as can be, with commas."""
    return ", ".join(verdict_mark(scale, verdict) for verdict in verdicts)


def opinion_marks(opinions: Iterable[Opinion], scale: Scale) -> str:
    """Write who gave what on one line, in as few cells as can be.

    Examples
    --------
    >>> from store.records import State
    >>> from store.scale import parse_scale
    >>> opinions = [
    ...     Opinion("A", State.JUDGED, 2, "", "sure"),
    ...     Opinion("B", State.CANNOT, None, "torn", ""),
    ... ]
    >>> opinion_marks(opinions, parse_scale("0-2"))
    "A 2  B can't"
    """
    return "  ".join(f"{one.letter} {verdict_mark(scale, one.grade)}" for one in opinions)


def opinion_head(opinion: Opinion, scale: Scale) -> str:
    """Write whose opinion it is, what was decided, and for which reason."""
    reason = f": {opinion.reason}" if opinion.reason else ""
    return f"{opinion.letter}  {verdict_name(scale, opinion.grade)}{reason}"


def opinion_tail(opinion: Opinion) -> str:
    r"""Write on one line what was said beside the decision: the note, and what was marked.

    Examples
    --------
    >>> from store.records import Passage, State
    >>> opinion_tail(Opinion("A", State.JUDGED, 2, "", "see\nbelow", (Passage(0, 3, "oak"),)))
    'see below "oak"'
    """
    quotes = [f'"{one.text}"' for one in opinion.passages]
    return sanitise_line(" ".join([*([opinion.note] if opinion.note else []), *quotes]))


def brief_tail(opinion: Opinion) -> str:
    """Write the same in fewer words: how many passages were marked, and the note."""
    n_passages = len(opinion.passages)
    count = f"[{counted(n_passages, 'passage')}] " if n_passages else ""
    return (count + sanitise_line(opinion.note)).strip()


def opinion_lines(opinion: Opinion, scale: Scale) -> list[str]:
    """Write an opinion in full: the decision, the note, every passage."""
    lines = [opinion_head(opinion, scale)]
    if opinion.note:
        lines += ["note: " + line for line in opinion.note.split("\n") if line.strip()]
    lines += [f'passage: "{sanitise_line(one.text)}"' for one in opinion.passages]
    return lines


def history_words(found: Disagreement, scale: Scale) -> str:
    """Say what became of a disagreement before; empty = nothing.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> history_words(Disagreement((), 1, Status.CHANGED, 2, (0, 2)), parse_scale("0-2"))
    'changed since 0, 2 was settled as 2'
    """
    if found.status is Status.OPEN:
        return ""
    mark = verdict_mark(scale, found.outcome)
    if found.status is Status.CHANGED:
        return f"changed since {marks(scale, found.outcome_on)} was settled as {mark}"
    return f"settled as {mark}"


def cell_name(cell: tuple[Verdict, Verdict], scale: Scale) -> str:
    """Name a cell of the kappa table.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> cell_name((0, None), parse_scale("0-2"))
    "0 / can't"
    """
    return " / ".join(verdict_mark(scale, verdict) for verdict in cell)


def cell_words(count: CellCount, scale: Scale) -> str:
    """Say how many documents a cell has, how many are settled, and as what.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> cell_words(CellCount((0, 2), 5, 3, {2: 2, None: 1}), parse_scale("0-2"))
    "5 documents, 3 settled (as 2: 2, as can't: 1)"
    """
    outcomes = ", ".join(
        f"as {verdict_mark(scale, verdict)}: {count.outcomes[verdict]}"
        for verdict in in_order(count.outcomes)
    )
    more = f" ({outcomes})" if outcomes else ""
    return f"{counted(count.documents, 'document')}, {count.settled} settled{more}"
