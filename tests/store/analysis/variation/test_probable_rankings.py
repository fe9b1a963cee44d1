"""Rankings and probabilities as arrays."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.variation.moments import SUPPOSED, ProbableRankings, probable_rankings
from store.errors import ArgumentError

Lists = dict[tuple[str, str], list[int]]
Chances = dict[str, dict[int, float]]
Document = tuple[int, float, bool, tuple[float, ...]]
"""Id, probability, whether it is its own, and its rank in every run."""


def as_arrays(rankings: Lists) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Put each ranking in an array."""
    return {key: np.array(documents, dtype=np.int64) for key, documents in rankings.items()}


def as_pairs(chances: Chances) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Put each topic's probabilities in two arrays."""
    return {
        topic: (np.array(list(found), dtype=np.int64), np.array(list(found.values()), dtype=float))
        for topic, found in chances.items()
    }


def documents_of(arrays: ProbableRankings, topic: int) -> list[Document]:
    """Return what the arrays say of every document of a topic."""
    return list(
        zip(
            arrays.ids[topic].tolist(),
            arrays.probabilities[topic].tolist(),
            arrays.judged[topic].tolist(),
            map(tuple, arrays.ranks[topic].T.tolist()),
            strict=True,
        )
    )


def by_looking(
    tags: list[str],
    topic: str,
    rankings: Lists,
    own: dict[int, float],
    cutoff: int,
    unjudged: float,
    *,
    keep_zero: bool,
) -> list[Document]:
    """Look every document up in the lists, one at a time."""
    cut = [rankings.get((tag, topic), [])[:cutoff] for tag in tags]
    found: list[Document] = []
    for doc in sorted({*own}.union(*cut)):
        ranks = tuple(one.index(doc) + 1.0 if doc in one else math.inf for one in cut)
        p = own.get(doc, unjudged)
        if p > 0 or keep_zero:
            found.append((doc, p, doc in own, ranks))
    return found


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[str], list[str], Lists, Chances, int]:
    """Draw topics, tags, rankings, probabilities and a cutoff."""
    topics = [f"t{number}" for number in range(draw(st.integers(0, 3)))]
    tags = [f"r{number}" for number in range(draw(st.integers(0, 4)))]
    documents = st.integers(-3, 12)
    ranking = st.lists(documents, unique=True, max_size=8)
    rankings = {(tag, topic): draw(ranking) for tag in tags for topic in topics if draw(st.booleans())}
    p = st.sampled_from([0.0, 1e-3, 0.5, 1.0])
    chances = {topic: draw(st.dictionaries(documents, p)) for topic in topics}
    return topics, tags, rankings, chances, draw(st.integers(1, 10))


@given(
    collections(),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.booleans(),
    st.integers(0, 2),
    st.sampled_from([1, 10**15]),
)
def test_every_document_is_as_the_lists_have_it(
    collection: tuple[list[str], list[str], Lists, Chances, int],
    unjudged: float,
    keep_zero: bool,
    n_more: int,
    spread: int,
) -> None:
    """Ids, probabilities and ranks are those found by looking, and supposed documents come last."""
    topics, tags, rankings, chances, cutoff = collection
    # Ids far apart are coded by another path than dense ones.
    far = {key: [doc * spread for doc in docs] for key, docs in rankings.items()}
    own = {topic: {doc * spread: p for doc, p in found.items()} for topic, found in chances.items()}
    arrays = probable_rankings(
        topics, tags, as_arrays(far), as_pairs(own), cutoff=cutoff, unjudged=unjudged,
        keep_zero=keep_zero, extra_relevant=n_more,
    )  # fmt: skip
    assert (arrays.topics, arrays.tags, arrays.cutoff) == (tuple(topics), tuple(tags), cutoff)
    more = [(SUPPOSED, 1.0, False, (math.inf,) * len(tags))] * n_more
    for column, topic in enumerate(topics):
        expected = by_looking(
            tags, topic, far, own[topic], cutoff, unjudged, keep_zero=keep_zero
        )  # fmt: skip
        assert documents_of(arrays, column) == expected + more
        assert arrays.ranks[column].dtype == arrays.probabilities[column].dtype == np.float64
        assert arrays.ids[column].dtype == np.int64
        assert arrays.judged[column].dtype == np.bool_


@given(collections(), st.randoms(use_true_random=False))
def test_order_of_runs_and_of_probabilities_decides_nothing(
    collection: tuple[list[str], list[str], Lists, Chances, int], random: Random
) -> None:
    """Permuting runs permutes rows; permuting the documents of a topic changes nothing."""
    topics, tags, rankings, chances, cutoff = collection
    lists, pairs = as_arrays(rankings), as_pairs(chances)
    plain = probable_rankings(topics, tags, lists, pairs, cutoff=cutoff, unjudged=0.5)
    order = random.sample(range(len(tags)), len(tags))
    mixed = {}
    for topic, found in chances.items():
        items = list(found.items())
        random.shuffle(items)
        mixed[topic] = dict(items)
    other = probable_rankings(
        topics, [tags[row] for row in order], lists, as_pairs(mixed), cutoff=cutoff, unjudged=0.5
    )
    for column in range(len(topics)):
        assert plain.ids[column].tolist() == other.ids[column].tolist()
        assert plain.probabilities[column].tolist() == other.probabilities[column].tolist()
        assert plain.ranks[column][order].tolist() == other.ranks[column].tolist()


@pytest.mark.vector("formulas.md, X3")
def test_arrays_of_a_worked_example() -> None:
    """Documents of two runs stand where the example has them; what is sure not relevant is gone."""
    a = [1, 2, 3, 90, 4, 91, 92, 5]
    b = [2, 1, 4, 5, 93, 94, 95, 96, 97, 6]
    own = {1: 0.9, 2: 0.5, 3: 1.0, 4: 0.8, 5: 0.4, 6: 0.5, 90: 0.0, 98: 0.0}
    arrays = probable_rankings(
        ["t"], ["A", "B"], as_arrays({("A", "t"): a, ("B", "t"): b}), as_pairs({"t": own}), cutoff=1000
    )
    assert arrays.probabilities[0].tolist() == [0.9, 0.5, 1.0, 0.8, 0.4, 0.5]
    inf = math.inf
    assert arrays.ranks[0].tolist() == [[1, 2, 3, 5, 8, inf], [2, 1, inf, 3, 4, 10]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cutoff": 0}, "`cutoff` must be an integer >= 1"),
        ({"extra_relevant": -1}, "`extra_relevant` must be an integer >= 0, but got -1"),
        ({"unjudged": 1.5}, "`unjudged` must be from 0 to 1, but got 1.5"),
        ({"unjudged": math.nan}, "`unjudged` must be from 0 to 1, but got nan"),
        ({"probabilities": {}}, "`topics` must all have probabilities, but got 't'"),
        ({"probabilities": as_pairs({"t": {1: 1.01}})}, "`probabilities` must be from 0 to 1"),
        ({"probabilities": as_pairs({"t": {1: math.nan}})}, "`probabilities` must be from 0 to 1"),
        (
            {"probabilities": {"t": (np.array([1, 1]), np.array([0.5, 0.5]))}},
            "`probabilities` must hold each document of a topic once, but got 't'",
        ),
        (
            {"probabilities": {"t": (np.array([1, 2]), np.array([0.5]))}},
            "must hold as many probabilities as ids for topic `t`, but got '1 and 2'",
        ),
        (
            {"rankings": as_arrays({("a", "t"): [4, 4]})},
            "`rankings` must hold each document of a ranking once",
        ),
    ],
)
def test_what_is_no_collection_is_refused(changes: dict[str, object], message: str) -> None:
    """Every argument that cannot be used is told by its name."""
    arguments: dict[str, object] = {
        "topics": ["t"],
        "tags": ["a"],
        "rankings": as_arrays({("a", "t"): [1, 2]}),
        "probabilities": as_pairs({"t": {1: 0.5}}),
        "cutoff": 10,
    }
    with pytest.raises(ArgumentError, match=message):
        probable_rankings(**(arguments | changes))  # type: ignore[arg-type]
