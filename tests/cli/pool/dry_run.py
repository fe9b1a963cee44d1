"""What `pooler pool --dry-run` says, as numbers."""

from __future__ import annotations

import re

_PART = re.compile(
    r"^(new|leaving|staying): ([\d,]+) documents?(?:: ([\d,]+) judged, ([\d,]+) cannot be judged,"
    r" ([\d,]+) skipped, ([\d,]+) unjudged)?",
    re.MULTILINE,
)
_OUTSIDE = re.compile(r"^judged outside every pool: ([\d,]+) before, ([\d,]+) after$", re.MULTILINE)
_COST = re.compile(r"^(?:at most )?([\d,]+) judgements?: ", re.MULTILINE)


def number(text: str | None) -> int:
    """Read a number with commas; nothing is 0."""
    return int((text or "0").replace(",", ""))


def planned(words: str) -> dict[str, tuple[int, ...]]:
    """Return documents, judged, cannot, skipped and unjudged by part; outside before and after; the cost."""
    found = {part[1]: tuple(map(number, part.groups()[1:])) for part in _PART.finditer(words)}
    outside, cost = _OUTSIDE.search(words), _COST.search(words)
    assert outside is not None
    return found | {
        "outside": tuple(map(number, outside.groups())),
        "cost": (number(cost[1] if cost else None),),
    }
