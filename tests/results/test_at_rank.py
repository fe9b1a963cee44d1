"""Recall and precision at one rank: the article's two users, ranges and signs."""

from __future__ import annotations

import pytest

import pooler as p


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
    for measure in ("P@10", "R@10"):
        found = p.compare((runs, qrels), "after", "before", measure=measure)
        changes = found.changes
        assert changes is not None
        assert (changes.recall, changes.precision) == (pytest.approx(0.015), pytest.approx(-0.05))
        assert changes.implied == "few"
        (said,) = (note for note in found.table("difference").notes if "signs" in note)
        assert "mean R@10 changes by +0.0150 and mean P@10 by -0.0500" in said
        assert "few relevant documents" in said
    again = p.compare((runs, qrels), "before", "after", measure="P@10").changes
    assert again is not None
    assert (again.recall < 0 < again.precision, again.implied) == (True, "many")
    assert p.compare((runs, qrels), "after", "before").changes is None
    assert p.compare((runs, qrels), measure="P@10", against="before").changes is None


def test_signs_of_precision_leave_out_topics_without_a_relevant_document() -> None:
    """There is no recall; and no change of recall where nothing is relevant at all."""
    runs = {"a": {"1": {"x": 1.0}, "2": {"u": 1.0}}, "b": {"1": {"y": 1.0}, "2": {"v": 1.0}}}
    found = p.compare((runs, {"1": {"x": 1}, "2": {"u": 0}}), "a", "b", measure="P@1").changes
    assert found is not None
    assert (found.recall, found.precision, found.implied) == (1.0, 1.0, None)
    assert p.compare((runs, {"1": {"x": 0}}), "a", "b", measure="P@1").changes is None
