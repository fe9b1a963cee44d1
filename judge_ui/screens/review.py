"""Going over some documents of a topic again, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Review:
    """Documents to go over.

    Examples
    --------
    >>> review = Review("skipped", ["d2", "d5"])
    >>> review.here, review.where
    ('d2', '1 of 2 skipped')
    >>> review.go(1), review.here, review.go(1), review.here
    (True, 'd5', False, 'd5')
    """

    what: str
    """What they have in common, as in ``skipped``."""
    docnos: Sequence[str]
    """At least one, in display order."""
    at: int = 0

    @property
    def here(self) -> str:
        """The document that is gone over."""
        return self.docnos[self.at]

    @property
    def where(self) -> str:
        """How far it has come, in words."""
        return f"{self.at + 1} of {len(self.docnos)} {self.what}"

    def go(self, step: int) -> bool:
        """Go to the next document, or back; False where there is none."""
        if not 0 <= self.at + step < len(self.docnos):
            return False
        self.at += step
        return True
