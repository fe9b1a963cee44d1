"""The nouns: what they hold by default and the few things they answer."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from store.errors import ArgumentError, UnknownNameError
from store.records import (
    Action,
    Document,
    Grade,
    InboxLine,
    Judge,
    JudgeKind,
    Judgement,
    Pool,
    PoolEntry,
    Qrel,
    QrelColumns,
    Ranking,
    Run,
    Scale,
    State,
    Topic,
)

JUNK = Scale(
    (Grade(-2, "junk", "x"), Grade(0, "no", "0"), Grade(1, "yes", "1"), Grade(2, "very", "2")),
    relaxed=1,
    rigid=2,
)


@pytest.mark.parametrize(
    "noun",
    [
        Topic("1"), Document("a"), JUNK, JUNK.grades[0], PoolEntry("1", "a", 0), Pool([], {}),
        Judge("ann", JudgeKind.HUMAN), Judgement("1", "a", "ann", State.JUDGED, 1),
        Run("tag", [], "hash"),
        Ranking("1", ["a"], np.array([1.0]), None), InboxLine("1", "t", 9, 4, 2, 1, None),
    ],
    ids=lambda noun: type(noun).__name__,
)  # fmt: skip
def test_nouns_cannot_be_changed_or_extended(noun: object) -> None:
    """A record read in one place is the same record in every other."""
    assert dataclasses.is_dataclass(noun)
    name = dataclasses.fields(noun)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(noun, name, None)
    assert not hasattr(noun, "__dict__")


def test_missing_text_is_not_empty_text() -> None:
    """A collection may hold a document's id alone."""
    assert Document("a").text is None
    assert Document("a", text="") != Document("a")


def test_ids_are_text_byte_for_byte() -> None:
    """`001` and `1` are two topics."""
    assert Topic("001") != Topic("1")
    assert len({Qrel("001", "a", 1), Qrel("1", "a", 1)}) == 2


def test_defaults_say_nothing_that_was_not_said() -> None:
    """No probability, stratum, priority, note or time is made up; the iteration is TREC's 0."""
    entry = PoolEntry("1", "a", 0)
    assert (entry.priority, entry.stratum, entry.inclusion_probability) == (None, None, None)
    judgement = Judgement("1", "a", "ann", State.SKIPPED, None)
    assert (judgement.grade, judgement.note, judgement.judged_at) == (None, "", None)
    assert (judgement.iteration, Qrel("1", "a", 0).iteration, Pool([], {}).round) == ("0",) * 3


def test_scale_values_and_labels_are_those_declared() -> None:
    """Negative grades are grades; a value off the scale is named with what is on it."""
    assert JUNK.values == (-2, 0, 1, 2)
    assert JUNK.label(-2) == "junk"
    with pytest.raises(UnknownNameError, match=r"unknown grade `-1`; known: .*`-2`"):
        JUNK.label(-1)


@pytest.mark.parametrize("level", [-1, 0, 1, 2])
def test_level_above_the_lowest_grade_cuts_the_scale(level: int) -> None:
    """Each such level leaves grades on both sides, whether or not it is a grade itself."""
    assert JUNK.check_level(level) == level
    assert any(value < level for value in JUNK.values)
    assert any(value >= level for value in JUNK.values)


@pytest.mark.parametrize("level", [-3, -2, 3])
def test_level_that_makes_all_or_nothing_relevant_is_refused(level: int) -> None:
    """Such a level would turn every document relevant, or none."""
    with pytest.raises(ArgumentError, match=r"`level` must be above -2 and at most 2"):
        JUNK.check_level(level)


def test_inbox_line_leaves_what_has_no_decision() -> None:
    """Of 9 documents, 4 judged, 2 skipped and 1 impossible leave 2."""
    assert InboxLine("1", "t", 9, 4, 2, 1, None).left == 2


def test_stored_words_are_fixed() -> None:
    """These words stand in databases and exports: changing one would orphan them."""
    assert [*JudgeKind] == ["human", "model", "imported", "adjudicator"]
    assert [*State] == ["unjudged", "skipped", "cannot", "judged"]
    assert [*Action] == ["judge", "skip", "cannot", "note", "mark", "undo", "reopen"]


def test_columns_of_qrels_are_their_lines() -> None:
    """Four columns are as long as the lines, give these one by one, and are made of them; none is empty."""
    rows = [Qrel("1", "a", 2), Qrel("1", "b", 0, "7")]
    columns = QrelColumns(["1", "1"], ["a", "b"], [2, 0], ["0", "7"])
    assert ([*columns], len(columns), columns[1], columns[:1]) == (rows, 2, rows[1], rows[:1])
    assert [*QrelColumns.of(rows)] == rows
    assert QrelColumns.of(columns) is columns
    assert [*QrelColumns.of([])] == []
