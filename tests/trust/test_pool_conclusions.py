"""`pooler.commands.trust.conclusions`: what is concluded, of collections small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pooler.commands.trust.conclusions import conclusions
from pooler.commands.trust.diagnose import Diagnosis, chosen_left
from pooler.sources.source import Source
from pooler.tables import Table
from store.analysis.pools.diagnosis import PoolDiagnosis, diagnose
from store.analysis.rankings import graded_rankings, judged_rankings

Lists = dict[tuple[str, str], list[int]]
Grades = dict[str, dict[int, int]]


def diagnosed(lists: Lists, grades: Grades, **options: object) -> PoolDiagnosis:
    """Diagnose small lists; relevant = grade 1 or more."""
    tags = list(dict.fromkeys(tag for tag, _ in lists))
    ranked = {key: np.array(one, dtype=np.int64) for key, one in lists.items()}
    ids = {topic: np.array([*one], dtype=np.int64) for topic, one in grades.items()}
    codes = {topic: np.array([*one.values()], dtype=np.int64) for topic, one in grades.items()}
    return diagnose(
        judged_rankings([*grades], tags, ranked,
                        {topic: (ids[topic], codes[topic] >= 1) for topic in grades}, cutoff=1000),
        graded_rankings([*grades], tags, ranked,
                        {topic: (ids[topic], codes[topic]) for topic in grades}, cutoff=1000),
        level=1, **options,  # type: ignore[arg-type]  # the tests' own keywords
    )  # fmt: skip


def table(found: PoolDiagnosis, name: str) -> Table:
    """Return a table of what was found."""
    settings = {"limit": None}
    made = Diagnosis(analysed=found, left_out=None, conclusions=(), source=Source(), settings=settings)
    return made.table(name)


def said(found: PoolDiagnosis, *, by: str | None = None, judged_at: int = 2) -> str:
    """Return all conclusions in one text."""
    return " ".join(conclusions(found, chosen_left(found, by=by), judged_at))


ALL = np.ones(3, np.bool_)
LISTS: Lists = {
    ("a", "t"): [1, 2, 3],
    ("b", "t"): [1, 4, 5],
    ("c", "t"): [6, 1, 7],
    ("a", "u"): [1, 2],
    ("b", "u"): [2, 1],
    ("c", "u"): [1, 2],
}
WHOLE: Grades = {"t": {1: 1, 2: 0, 4: 1, 6: 0}, "u": {1: 0, 2: 0}}
"""The pool of depth 2 of all runs."""


def test_whole_pool() -> None:
    """All judged; `b` alone brought 4, and without it has 1 alone of R = 1."""
    text = said(diagnosed(LISTS, WHOLE, depth=2, contributing=ALL, judged_at=2))
    assert "All 6 documents of the pool, the first 2 documents of each of 3 runs, are" in text
    # AP of `b` is 1 before and after; `a` and `c` have nothing relevant of their own.
    late = "Had it been submitted late, no pooled run would lose any MAP"
    assert f"{late}; 0 of 3 runs would change place." in text
    assert "No run would lose 5 % of its AP or more" in text
    # At rank 2 three documents came: 2 and 4 of t, 2 of u would be first already.
    assert "Rank 2, the last of the pool, still brought 1 relevant document among 2" in text
    assert "(50 %; 5 % or more is a sign that the pool ended too early). With so few, the share" in text
    assert "cannot be estimated: a pool of fewer than three ranks shows no trend" in text
    assert "1 topic has no relevant document and no AP: u." in text
    assert "1 topic has fewer than 5 relevant documents" in text
    assert "Every run has at least 90 % of the first 2 documents judged." in text
    # Of three judged at the last rank none is relevant: less than 5 %, and nothing more.
    none: Grades = {"t": {1: 1, 2: 0, 4: 0, 6: 0}, "u": {1: 0, 2: 0}}
    text = said(diagnosed(LISTS, none, depth=2, contributing=ALL))
    assert "(0 %; 5 % or more would be a sign that the pool ended too early)" in text


def test_pool_with_gaps() -> None:
    """Unjudged ones are counted, and what is judged outside."""
    grades: Grades = {"t": {1: 1, 2: 0, 9: 1}, "u": {1: 0}}
    text = said(diagnosed(LISTS, grades, depth=2, contributing=ALL, judged_at=2))
    assert "3 of 6 pooled documents (50 %) are unjudged; the pool is the first 2 documents" in text
    assert "1 judged document is not in the pool and came from elsewhere" in text
    # Of a: 1, 2 of t and 1 of u: 3/4. b: 1 of t, 1 of u: 2/4. c: 1 of t, 1 of u: 2/4.
    assert "3 of 3 runs have less than 90 % of the first 2 documents judged" in text
    assert "b (50 %), c (50 %), a (75 %)" in text
    # Where more than a fifth of the pool is unjudged, nothing is told of deeper ranks.
    assert "cannot be estimated: " in text
    assert "(more than 20 %), and so is the trend" in text


def test_pool_that_is_hardly_the_one_judged() -> None:
    """Depth 1 explains 3 of 6 judgements at most: here 2 of 6."""
    grades: Grades = {"t": {1: 1, 2: 0, 3: 0, 4: 0, 5: 1, 6: 0}}
    lists = {key: one for key, one in LISTS.items() if key[1] == "t"}
    text = said(diagnosed(lists, grades, depth=1, contributing=ALL))
    assert "Most judged documents, 4 of 6, are not in the pool (more than 50 %)" in text


def test_runs_that_suffer_are_named() -> None:
    """`b` without 4: AP from (1/2)(1/2) to 0 of R = 1, in place 3 behind `a` and `c`."""
    lists: Lists = {("a", "t"): [1, 2], ("b", "t"): [3, 4], ("c", "t"): [2, 1]}
    grades: Grades = {"t": {1: 1, 2: 0, 3: 0, 4: 1}}
    found = diagnosed(lists, grades, depth=2, contributing=ALL)
    text = said(found)
    # a: 1/2, b: 1/4, c: 1/4; the loss is .25 for one of three.
    assert "would lose 0.083 of MAP on average and 0.25 at most (b)" in text
    assert "1 of 3 runs would lose 5 % of their AP or more: b (0.25, 100 %)." in text
    assert "change place" in text
    grouped = diagnosed(lists, grades, depth=2, contributing=ALL, groups=["g", "h", "g"])  # fmt: skip
    text = said(grouped)
    # Without g, 1 is gone: `a` and `c` lose all they have, .5 and .25.
    assert "Had it been submitted late, with its whole group, a pooled run would lose 0.33" in text
    assert "3 of 3 runs would lose 5 % of their AP or more: a (0.50, 100 %)" in text
    assert "one at a time they would lose 0.083 on average and 0.25 at most (b)." in text
    # 1 is shared by siblings alone, and 4 is of `b` alone, which has none.
    alone = "were brought by one group only, 1 (50 %) by one run only."
    assert f"2 of 2 relevant documents of the pool (100 %) {alone}" in text
    assert said(grouped, by="run") == said(found)


def test_groups_of_one_run_are_runs() -> None:
    """Siblings of which one fed the pool shield nobody: nothing is said of groups."""
    lists: Lists = {("a", "t"): [1, 2], ("b", "t"): [3, 4], ("c", "t"): [2, 1]}
    fed = np.array([True, True, False])
    options: dict[str, object] = {"depth": 2, "contributing": fed}
    grades: Grades = {"t": {1: 1, 2: 0, 3: 0, 4: 1}}
    text = said(diagnosed(lists, grades, groups=["g", "h", "g"], **options))
    assert "group" not in text
    assert text == said(diagnosed(lists, grades, **options))


def test_a_guess_that_leaves_most_outside_is_withheld() -> None:
    """Only `a` has its first document judged; 5 of 6 judged ones came from elsewhere."""
    lists: Lists = {("a", "t"): [1, 20, 2], ("b", "t"): [30, 2]}
    grades: Grades = {"t": {1: 1, 2: 0, 3: 0, 4: 0, 5: 1, 6: 0}}
    found = diagnosed(lists, grades)
    text = said(found)
    assert "from these runs it would be the first document of 1 run, but 5 of 6 judged" in text
    assert "documents (83.3 %; more than 50 %) are not among those" in text
    assert "--depth N can state how deep the pool is; --runs FILE with a column" in text
    assert found.pool is None
    assert found.reason == "bad-guess"
    assert not {"late", "guess", "final", "P@1"} & {*text.replace(".", " ").split()}
    assert all(cell is None for row in table(found, "topics").to_records()
               for name, cell in row.items() if name.startswith("pool"))  # fmt: skip
    # The depth is known, and that all runs fed it is a guess: of 1, 20, 30 and 2 two are judged.
    assert "(66.7 %; more" in said(diagnosed(lists, grades, depth=2))
    assert "--depth N" not in said(diagnosed(lists, grades, depth=2))
    # Somebody knows both: it is concluded, and doubted.
    told = said(diagnosed(lists, grades, depth=1, contributing=np.array([True, False])))
    assert "Most judged documents, 5 of 6, are not in the pool" in told
    # One of two judged documents outside is half of them, and no more.
    half = diagnosed(lists, {"t": {1: 1, 3: 0}})
    assert half.pool is not None
    assert half.pool.n_outside == 1


@pytest.mark.parametrize(("n_shared", "words"), [
    # Without its own first document, `a` has n relevant ones at ranks 2 to n + 1, of R = n: AP
    # falls from 1 to 1 - (H(n + 1) - 1) / n, by 21.4 % of n = 9, and by 4.6 % of n = 80.
    (9, "1 of 2 runs would lose 5 % of their AP or more: a (0.21, 21.4 %)."),
    (80, "No run would lose 5 % of its AP or more"),
])  # fmt: skip
def test_share_that_counts_as_suffering(n_shared: int, words: str) -> None:
    """One document of its own at rank 1, and the others shared."""
    shared = [*range(1, n_shared + 1)]
    lists: Lists = {("a", "t"): [0, *shared], ("b", "t"): shared}
    grades = {"t": dict.fromkeys([0, *shared], 1)}
    found = diagnosed(lists, grades, depth=n_shared + 1, contributing=ALL[:2])
    assert words in said(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no run has its first document judged in every topic"),
        ({"depth": 2, "contributing": np.zeros(3, np.bool_)}, "no run that fed it"),
    ],
)
def test_no_pool_says_why(options: dict[str, object], words: str) -> None:
    """Without a pool nothing is said of newcomers, and tables have no column of it."""
    grades: Grades = {"t": {7: 1}, "u": {9: 0}}
    found = diagnosed(LISTS, grades, **options)
    text = said(found)
    assert f"There is no depth pool to look at: {words}" in text
    assert "submitted late" not in text
    assert [column.name for column in table(found, "topics").columns] == [
        "topic", "judged", "relevant",
    ]  # fmt: skip
    assert "pooled" not in table(found, "topics").data
    assert "entering" not in table(found, "ranks").to_records()[0]


def test_limits_of_order() -> None:
    """Nothing unjudged: no run can pass another; all unjudged: any can."""
    grades: Grades = {"t": {1: 1, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0}}
    lists = {key: one for key, one in LISTS.items() if key[1] == "t" and key[0] != "b"}
    options = {"depth": 2, "contributing": ALL[:2]}
    text = said(diagnosed(lists, grades, **options))
    assert "overlap for none of 1 pair" in text
    assert "have limits that do not meet" not in text
    assert "Whether or not its own unjudged documents are relevant, the MAP of a run lies" in text
    few: Grades = {"t": {1: 1}}
    assert "These limits overlap for 1 of 1 pair" in said(diagnosed(lists, few, **options))


def test_nothing_retrieved() -> None:
    """Runs without any document of the judged topics: a reason, no numbers, no error."""
    found = diagnosed({("a", "z"): [1]}, {"t": {1: 1}}, depth=3, contributing=ALL[:1])
    assert found.reason == "no-documents"
    assert "no run has a document for any judged topic" in said(found)
    assert "--depth" not in said(found)  # it would bring none
    assert len(table(found, "ranks")) == 0


def test_final_measures_are_named() -> None:
    """A whole pool settles what looks no deeper; one document unjudged, and it does not."""
    grades: Grades = {"t": dict.fromkeys(range(1, 8), 1), "u": dict.fromkeys(range(1, 8), 0)}
    whole = {"depth": 2, "contributing": ALL}
    final = "P@2, and any other measure that looks only at the first 2 and"
    assert final in said(diagnosed(LISTS, grades, **whole))
    del grades["t"][1]
    text = said(diagnosed(LISTS, grades, **whole))
    assert final not in text
    assert "try --order" not in text


def test_depth_that_somebody_knows_is_taken_for_all_runs() -> None:
    """Holes in every run: all are taken to have fed the pool, and that is said."""
    grades: Grades = {"t": {1: 1, 3: 0, 4: 1}, "u": {2: 1, 4: 0}}
    found = diagnosed(LISTS, grades, depth=2)
    assert found.pool is not None
    assert found.pool.contributing.all()
    assert "No run has all of its first 2 documents judged in every topic" in said(found)


def test_runs_that_fed_the_pool_are_told_from_others() -> None:
    """Below the pool's depth it is no wonder that documents are unjudged."""
    grades: Grades = {"t": {1: 1}, "u": {1: 0}}
    fed = np.array([True, False, False])
    text = said(diagnosed(LISTS, grades, depth=1, contributing=fed, judged_at=2))
    assert "of them fed the pool, which is 1 deep" in text
    assert "Doubt first the scores of runs that fed no pool" in text
