"""Recall and precision at one rank: the article's two users, ranges and signs."""

from __future__ import annotations

import pytest

import pooler as p
from store.errors import PoolerError


def relevant(number: int, topic: str) -> list[str]:
    """Name the relevant documents of a topic."""
    return [f"{topic}-{place}" for place in range(number)]


def test_values_that_can_occur_are_the_articles() -> None:
    """N = 10, |X| = 100: recall to .1 by .01, precision to 1 by .1; |X| = 5: to 1 by .2, to .5 by .1."""
    qrels = {"1": dict.fromkeys(relevant(100, "1"), 1), "2": dict.fromkeys(relevant(5, "2"), 1)}
    found = p.attainable(({"a": {"1": {"x": 1.0}}}, qrels | {"3": {"x": 0}}), 10)
    rows = found.table("attainable").to_records()
    names = ("topic", "measure", "least", "greatest", "step", "reason")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("1", "P@10", 0.0, 1.0, 0.1, None),
        ("1", "R@10", 0.0, 0.1, 0.01, None),
        ("2", "P@10", 0.0, 0.5, 0.1, None),
        ("2", "R@10", 0.0, 1.0, 0.2, None),
        ("3", "P@10", 0.0, 0.0, 0.1, None),
        ("3", "R@10", None, None, None, "no-relevant"),
    ]


def test_signs_of_the_article() -> None:
    """|X| 100 and 20; two documents less, one more: mean recall +.015, mean precision -.05."""
    judged = {"1": relevant(100, "1"), "2": relevant(20, "2")}
    hits = {"after": {"1": 3, "2": 4}, "before": {"1": 5, "2": 3}}
    runs = {
        run: {
            topic: {docno: -float(place) for place, docno in enumerate(judged[topic][:n])}
            for topic, n in of_run.items()
        }
        for run, of_run in hits.items()
    }
    qrels = {topic: dict.fromkeys(docnos, 1) for topic, docnos in judged.items()}
    (row,) = p.mean_signs((runs, qrels), 10).table("signs").to_records()
    assert (row["a"], row["b"]) == ("after", "before")
    assert (row["recall"], row["precision"]) == (pytest.approx(0.015), pytest.approx(-0.05))
    assert (row["recall_sign"], row["precision_sign"]) == ("up", "down")
    assert (row["implied"], row["leaning"], row["topics"]) == ("few", "few", 2)
    (row,) = p.mean_signs((runs, qrels), 10, against="after").table("signs").to_records()
    assert (row["a"], row["recall_sign"], row["precision_sign"]) == ("before", "down", "up")
    assert row["implied"] == "many"


def test_signs_need_two_runs() -> None:
    """One run differs from none."""
    with pytest.raises(PoolerError, match="a comparison needs two"):
        p.mean_signs(({"a": {"1": {"x": 1.0}}}, {"1": {"x": 1}}), 1)
