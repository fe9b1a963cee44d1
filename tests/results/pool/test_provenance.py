"""`provenance`: counts by run and topic, of memory, files and collections."""

from __future__ import annotations

import pytest

from pooler.results.pool.provenance import provenance
from pooler.results.source import source
from store.errors import ArgumentError, UnknownNameError

RUNS = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"a": 1.0}}, "y": {"1": {"b": 3.0}}}
QRELS = {"1": {"a": 1, "c": 0, "b": 2}}


def test_arrays_have_a_run_and_a_topic() -> None:
    """Tables are sums of them over topics; a level says what is relevant."""
    found = provenance((RUNS, QRELS), depth=3)
    assert found.topics == ["1", "2"]
    assert found.documents.tolist() == [[3, 1], [1, 0]]
    assert found.unique.tolist() == [[2, 1], [0, 0]]
    assert found.unique_judged.tolist() == [[2, 0], [0, 0]]
    assert found.unique_relevant.tolist() == [[1, 0], [0, 0]]
    assert found.table("contributions").to_dict()["documents"] == [4, 1]
    strict = provenance(source(RUNS, qrels=QRELS, level=2), depth=3)
    assert strict.relevant.sum() == 2  # b, once of each run
    assert strict.settings["level"] == 2


def test_depths_and_documents_are_tables_of_their_own() -> None:
    """Documents are listed where they are asked for, with their scores."""
    found = provenance((RUNS, {}), depth=2)
    assert found.table("depths").to_dict()["new"] == [3, 0]
    with pytest.raises(UnknownNameError):
        found.table("documents")
    listed = provenance((RUNS, {}), depth=1, by="document")
    assert listed.table("documents").to_dict()["docno"] == ["a", "b", "a"]
    lines = listed.lines()
    assert lines is not None
    assert next(lines) == "1 a x - 1 3.0"


def test_a_depth_is_a_rank() -> None:
    """Nothing is taken from less than the first rank."""
    with pytest.raises(ArgumentError, match="depth"):
        provenance((RUNS, {}), depth=0)
