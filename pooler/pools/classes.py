"""Classes of near-duplicates, as a file names them: one document of a class is pooled for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from store.formats.pairs import read_labels

Classes = str | Path | Mapping[str, str]
"""A file of lines `docno class`, or the class of each docno."""


def read_classes(given: Classes, known: Container[str] | None = None) -> Mapping[str, str]:
    """Return the class of every document that a file names, or raise `FormatError` of all its faults at once.

    `known`: docnos of a collection; a line of any other is a fault.
    """
    return given if isinstance(given, Mapping) else read_labels(str(given), "class", known=known)


def classes_facts(classes: Mapping[str, str]) -> dict[str, Any]:
    """Say in a manifest which classes these were: how many, and the hash of their sorted lines."""
    lines = sorted(f"{docno} {label}\n" for docno, label in classes.items())
    digest = hashlib.sha256("".join(lines).encode())
    return {"documents": len(classes), "classes": len({*classes.values()}), "sha256": digest.hexdigest()}
