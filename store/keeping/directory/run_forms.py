"""The few forms in which programs write run files, so that a run goes out as it was handed in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Scores = Literal["shortest", "bare", "fixed", "six"]


@dataclass(frozen=True, slots=True)
class RunForm:
    """How the lines of a run file look."""

    separator: Literal[" ", "\t"] = " "
    scores: Scores = "shortest"
    """Shortest; shortest with whole numbers bare; the decimals that the longest needs; six decimals."""

    def score_texts(self, scores: Iterable[float], decimals: int) -> Iterable[str]:
        """Write scores; `decimals` is for fixed ones.

        Examples
        --------
        >>> (
        ...     [*RunForm(scores="bare").score_texts([3.0, 2.5], 0)],
        ...     [*RunForm(scores="fixed").score_texts([3.0], 2)],
        ... )
        (['3', '2.5'], ['3.00'])
        """
        if self.scores in ("fixed", "six"):
            decimals = 6 if self.scores == "six" else decimals
            return (f"{score:.{decimals}f}" for score in scores)
        if self.scores == "bare":
            return (repr(score).removesuffix(".0") for score in scores)
        return map(repr, scores)


OWN = RunForm()
"""What is written where nothing else is known."""
FORMS = tuple(
    RunForm(separator, scores) for scores in ("shortest", "bare", "fixed", "six") for separator in (" ", "\t")
)


def decimals_of(scores: Iterable[float]) -> int:
    """Return how many decimals the longest score needs.

    Examples
    --------
    >>> decimals_of([3.0, 2.25, 1e-05])
    5
    """
    needed = 0
    for text in map(repr, scores):
        if "e" in text:
            exponent = Decimal(text).normalize().as_tuple().exponent
            needed = max(needed, -int(exponent))
        elif not text.endswith(".0"):
            needed = max(needed, len(text) - text.index(".") - 1)
    return needed
