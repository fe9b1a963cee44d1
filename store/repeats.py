"""What a judge said more than once of one document, and which of it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from store.errors import FaultList
from store.formats.judged_tables import GradedRow, duplicate_words


class Repeats(StrEnum):
    """What becomes of a topic, docno and judge that come twice and not alike."""

    REFUSE = "refuse"
    """Every line after the first is a fault."""
    FIRST = "first"
    LAST = "last"
    HIGHEST = "highest"
    """The highest grade; a code that is no grade is below all grades."""
    DROP = "drop"
    """None of the lines counts."""


@dataclass(frozen=True, slots=True)
class RepeatCounts:
    """How often judgements came again."""

    n_alike: int = 0
    """Lines that say what an earlier one of the same topic, docno and judge says."""
    n_differing: int = 0
    """Topics, docnos and judges of which lines say different things."""
    n_dropped: int = 0
    """Lines of `n_differing` that do not count."""
    n_refused: int = 0
    """Lines told as faults."""


def settle_repeats(
    rows: Iterable[GradedRow],
    meaning: Callable[[GradedRow], tuple[int, int]],
    rule: Repeats,
    faults: FaultList,
) -> tuple[list[GradedRow], RepeatCounts]:
    """Keep one row of each topic, docno and judge.

    Parameters
    ----------
    rows : iterable of GradedRow
        In file order.
    meaning : callable
        What a row says, so that rows that say the same are equal and a higher grade is greater.
    rule : Repeats
        Which of rows that differ counts. Those that are alike are one row under every rule.
    faults : FaultList
        Where `Repeats.REFUSE` tells the lines that differ from the first, with the code
        ``duplicate``.

    Returns
    -------
    list of GradedRow
        In the order in which their topics, docnos and judges first came.
    RepeatCounts

    Examples
    --------
    >>> rows = [GradedRow(n, "t", "0", "d", "ann", code) for n, code in enumerate([1, 2, 1], 1)]
    >>> def meaning(row):
    ...     return 1, row.code
    >>> kept, counts = settle_repeats(rows, meaning, Repeats.HIGHEST, FaultList("f"))
    >>> [row.code for row in kept], counts.n_differing, counts.n_dropped
    ([2], 1, 2)
    """
    groups: dict[tuple[str, str, str], GradedRow | list[GradedRow]] = {}
    for row in rows:
        key = (row.topic, row.docno, row.judge)
        known = groups.setdefault(key, row)
        if isinstance(known, list):
            known.append(row)
        elif known is not row:
            groups[key] = [known, row]
    kept: list[GradedRow] = []
    n_alike = n_differing = n_dropped = n_refused = 0
    for group in groups.values():
        if not isinstance(group, list):
            kept.append(group)
            continue
        first = meaning(group[0])
        others = [row for row in group if meaning(row) != first]
        if not others:
            n_alike += len(group) - 1
            kept.append(group[0])
            continue
        n_differing += 1
        if rule is Repeats.REFUSE:
            n_refused += len(others)
            for row in others:
                faults.add(row.line, duplicate_words(row, group[0]), "duplicate")
        if rule is Repeats.DROP:
            n_dropped += len(group)
            continue
        n_dropped += len(group) - 1
        if rule is Repeats.HIGHEST:
            kept.append(max(group, key=meaning))
        else:
            kept.append(group[-1 if rule is Repeats.LAST else 0])
    return kept, RepeatCounts(n_alike, n_differing, n_dropped, n_refused)
