"""What an import did, counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Counts of one imported file."""

    added: int = 0
    unchanged: int = 0
    """There already, the same."""
    replaced: int = 0
    without_text: int = 0
    """Documents whose docno was kept and whose text was not: they are in no pool."""
    float_grades: int = 0
    """Grades written as integral floats (`2.0`)."""
    unjudged: int = 0
    """Lines that say "pooled, not judged"."""

    @property
    def changed(self) -> bool:
        """Whether the collection is another one than before."""
        return bool(self.added or self.replaced or self.unjudged)
