"""`pooler.pools.runs` and `pooler.pools.runs`: runs at one depth, from files or from a collection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooler.pools.runs import FileRuns, RunSet, stored_runs
from pooler.reading.strict import read_run
from pooler.reading.tops import read_tops
from store.collection import Collection
from store.errors import ArgumentError, PoolerError
from store.ranking import ORDERS, Order
from tests.helpers.world import parse_scale
from tests.strategies import RunText, examples, run_texts


def contents(runs: RunSet, *, scores: bool) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Return docnos and scores in rank order, by topic and run tag."""
    found = {}
    for topic in runs.topics:
        of_topic = runs.of_topic(topic, scores=scores)
        rankings, by_tag = of_topic.rankings, {}
        assert rankings.topic == topic
        assert of_topic.docnos == sorted(of_topic.docnos)
        assert rankings.n_documents == len(of_topic.docnos)
        for row, place in enumerate(of_topic.runs):
            numbers = rankings.documents[row]
            numbers = numbers[numbers >= 0]
            assert (rankings.documents[row, numbers.size :] == -1).all()
            worth = np.zeros(numbers.size)
            if rankings.scores is not None:
                worth = rankings.scores[row, : numbers.size]
                assert np.isnan(rankings.scores[row, numbers.size :]).all()
            docnos = [of_topic.docnos[number] for number in numbers.tolist()]
            tag = runs.feeding[place].tag
            by_tag[tag] = list(zip(docnos, worth.tolist(), strict=True))
        assert list(by_tag) == sorted(by_tag)
        found[topic] = by_tag
    return found


@pytest.mark.slow
@given(
    texts=st.lists(run_texts(), min_size=1, max_size=3, unique_by=lambda text: text.tag),
    depth=st.integers(1, 4),
    order=st.sampled_from(ORDERS),
)
@settings(max_examples=examples(25))
def test_a_collection_gives_what_its_files_give(
    tmp_path_factory: pytest.TempPathFactory, texts: list[RunText], depth: int, order: Order
) -> None:
    """Topics, documents, scores, ties, lengths and facts are the same from files and collection."""
    folder = tmp_path_factory.mktemp("runs")
    files = []
    for number, text in enumerate(texts):
        files.append(str(folder / f"{number}.run"))
        Path(files[-1]).write_bytes(text.content)
    from_files = FileRuns(read_tops(files, depth, order=order))
    name = str(folder / "c.db")
    with Collection.create(name, name="c", scale=parse_scale("0-1"), program="t") as collection:
        for file in files:
            collection.runs.add(read_run(file))
        stored = stored_runs(collection, depth=depth, order=order, scores=True)
        assert stored.topics == from_files.topics
        assert contents(stored, scores=True) == contents(from_files, scores=True)
        assert stored.ties_at_cut() == from_files.ties_at_cut()
        assert sorted(stored.lengths().tolist()) == sorted(from_files.lengths().tolist())
        assert stored.runs == from_files.runs
        assert (stored.depth, stored.order) == (from_files.depth, from_files.order)
        without = stored_runs(collection, depth=depth, order=order)
        with pytest.raises(ArgumentError, match="`scores` must have been loaded"):
            without.of_topic(without.topics[0], scores=True)


def write(folder: Path, tag: str, *lines: str) -> str:
    """Write a run of `topic docno score` lines and return its path."""
    path = folder / f"{tag}.run"
    rows = [line.split() for line in lines]
    text = "".join(f"{topic} Q0 {docno} 1 {score} {tag}\n" for topic, docno, score in rows)
    path.write_text(text)
    return str(path)


def test_runs_that_do_not_contribute_feed_nothing(tmp_path: Path) -> None:
    """Neither their topics nor their documents are there, but they stand among the runs."""
    name = str(tmp_path / "c.db")
    with Collection.create(name, name="c", scale=parse_scale("0-1"), program="t") as collection:
        with pytest.raises(PoolerError, match="there is no run in the collection"):
            stored_runs(collection, depth=1, order="trec")
        collection.runs.add(read_run(write(tmp_path, "x", "1 a 2", "1 b 1")))
        late = read_run(write(tmp_path, "late", "2 c 1"))
        object.__setattr__(late, "contributes", False)
        collection.runs.add(late)
        runs = stored_runs(collection, depth=5, order="trec")
        assert runs.topics == ["1"]
        assert [(run.tag, run.contributes, run.n_documents) for run in runs.runs] == [
            ("late", False, 1),
            ("x", True, 2),
        ]
        # Named ones all contribute: a pool keeps the runs it was made from.
        named = stored_runs(collection, depth=5, order="trec", tags=["late"])
        assert named.topics == ["2"]
        assert [run.contributes for run in named.runs] == [True]


def test_a_deep_depth_makes_no_wide_arrays(tmp_path: Path) -> None:
    """Arrays are as wide as the longest ranking of the topic, not as the depth."""
    path = write(tmp_path, "x", "1 a 2", "1 b 1", "2 c 1")
    runs = FileRuns(read_tops([path], 1000))
    assert runs.of_topic("1").rankings.documents.shape == (1, 2)
    assert runs.of_topic("2").rankings.documents.shape == (1, 1)


def test_scores_come_when_they_are_asked_for(tmp_path: Path) -> None:
    """Rankings have no scores unless the caller wants them."""
    runs = FileRuns(read_tops([write(tmp_path, "x", "1 a 2", "1 b 1")], 2))
    assert runs.of_topic("1").rankings.scores is None
    scores = runs.of_topic("1", scores=True).rankings.scores
    assert scores is not None
    assert scores.tolist() == [[2.0, 1.0]]
