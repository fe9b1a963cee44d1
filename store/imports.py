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
    """Documents that the file has no text of; one that is there already stays."""
    texts: int = 0
    """Documents that were there without a text, and have one now."""
    left_out: int = 0
    """Documents whose docno was kept and whose text was not: they are in no pool."""

    def __add__(self, other: ImportReport) -> ImportReport:
        """Add the counts of two reports."""
        return ImportReport(
            self.added + other.added,
            self.unchanged + other.unchanged,
            self.replaced + other.replaced,
            self.without_text + other.without_text,
            self.texts + other.texts,
            self.left_out + other.left_out,
        )

    @property
    def total(self) -> int:
        """All of the file."""
        return self.added + self.unchanged + self.replaced + self.texts

    @property
    def changed(self) -> bool:
        """Whether the collection is another one than before."""
        return bool(self.added or self.replaced or self.texts)
