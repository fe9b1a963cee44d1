"""Votes of judges out of files, against a plain dictionary of who said what."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.votes import PopulationVotes
from store.errors import ArgumentError, UnknownNameError
from store.grades.file_votes import FileVotes
from store.records import JudgeKind, Judgement, State
from tests.helpers.world import parse_scale

SCALE = parse_scale("0-2")
NO_GRADE = {"s": State.SKIPPED, "c": State.CANNOT, "u": State.UNJUDGED}
KINDS = {"ann": JudgeKind.HUMAN, "bob": JudgeKind.HUMAN, "eve": JudgeKind.ADJUDICATOR}

Said = dict[tuple[str, str, str], str]
"""Topic, docno, judge: a grade, or a letter of `NO_GRADE`."""

SAID: st.SearchStrategy[Said] = st.dictionaries(
    st.tuples(
        st.sampled_from(["9", "10", "A"]),
        st.sampled_from(["d1", "d2", "d3"]),
        st.sampled_from(["ann", "bob"]),
    ),
    st.sampled_from(["0", "1", "2", "s", "c", "u"]),
    max_size=14,
)


def judgements(said: Said) -> list[Judgement]:
    """Turn the dictionary into records."""
    return [
        Judgement(topic, docno, judge, NO_GRADE.get(what, State.JUDGED),
                  None if what in NO_GRADE else int(what))
        for (topic, docno, judge), what in said.items()
    ]  # fmt: skip


def file_votes(said: Said, kinds: dict[str, JudgeKind] = KINDS) -> FileVotes:
    """Make votes of one file that names its judges."""
    votes = FileVotes()
    votes.scale = SCALE
    votes.add_judgements(judgements(said), kinds)
    return votes


def graded(found: PopulationVotes, docnos: Sequence[str]) -> dict[tuple[str, str, str], int]:
    """Return who gave which grade, by name."""
    votes = found.votes
    return {
        (
            votes.topics[votes.topic_codes[document]],
            docnos[found.document_numbers[document]],
            votes.judges[judge],
        ): votes.scale_values[place]
        for document, judge, place in zip(
            votes.documents.tolist(), votes.judge_codes.tolist(), votes.places.tolist(), strict=True
        )
    }


@given(said=SAID, least=st.integers(1, 2))
def test_votes_are_the_grades_that_were_given(said: Said, least: int) -> None:
    """Every grade is there under its names, and nothing that is none; states are counted apart."""
    votes = file_votes(said)
    found = votes.votes(["ann", "bob"], least=least)
    n_graders: dict[tuple[str, str], int] = {}
    for (topic, docno, _), what in said.items():
        n_graders[topic, docno] = n_graders.get((topic, docno), 0) + (what not in NO_GRADE)
    expected = {
        key: int(what) for key, what in said.items() if what not in NO_GRADE and n_graders[key[:2]] >= least
    }
    assert graded(found, list(votes.docnos)) == expected
    for code, judge in enumerate(("ann", "bob")):
        mine = [what for (_, _, name), what in said.items() if name == judge]
        assert found.skipped[code] == mine.count("s")
        assert found.cannot[code] == mine.count("c")
        assert found.graded[code] == sum(what not in NO_GRADE for what in mine)


def test_topics_are_in_natural_order_whatever_the_files() -> None:
    """Topic 9 comes before 10, and a topic of no chosen judge does not come."""
    said = {("10", "d1", "ann"): "1", ("9", "d1", "ann"): "1", ("A", "d1", "bob"): "1",
            ("9", "d1", "bob"): "2"}  # fmt: skip
    votes = file_votes(said)
    assert votes.votes().votes.topics == ("9", "10", "A")
    assert votes.votes(["ann"], least=1).votes.topics == ("9", "10")


def test_who_is_measured_by_default() -> None:
    """Adjudicators are not, nor those without a grade unless the user named them."""
    said = {("9", "d1", "ann"): "1", ("9", "d1", "bob"): "s", ("9", "d1", "eve"): "1"}
    votes = file_votes(said)
    votes.add_judgements([], {"cy": JudgeKind.IMPORTED}, is_named=True)
    assert votes.votes().votes.judges == ("ann",)
    assert [one.name for one in votes.voters().left_out] == ["cy"]
    assert votes.voters(kinds=["human", "imported"]).voting == ("ann", "cy")
    files = file_votes({})
    files.add_judgements([], {"cy": JudgeKind.IMPORTED, "di": JudgeKind.HUMAN}, is_named=True)
    assert files.votes().votes.judges == ("cy", "di")  # the user named them all
    assert votes.votes(["eve", "bob", "eve"]).votes.judges == ("eve", "bob")
    assert [judge.name for judge in votes.judges()] == ["ann", "bob", "eve", "cy"]


def test_docnos_of_runs_keep_their_numbers() -> None:
    """Documents that rankings number have the same numbers in votes; others come after."""
    votes = FileVotes({"d3": 0, "d1": 1})
    votes.scale = SCALE
    said = {("9", docno, judge): "1" for docno in ("d1", "d2") for judge in ("ann", "bob")}
    votes.add_judgements(judgements(said), KINDS)
    assert votes.votes().document_numbers.tolist() == [1, 2]


def test_what_files_do_not_say_is_refused() -> None:
    """A judge who is not there, a judge twice."""
    votes = file_votes({("9", "d1", "ann"): "1"})
    with pytest.raises(UnknownNameError, match="unknown judge `ane`; known: `ann`"):
        votes.votes(["ane"])
    with pytest.raises(ArgumentError, match="in one file only, but got 'ann'"):
        votes.add_judgements([], {"ann": JudgeKind.HUMAN})
    with pytest.raises(ArgumentError, match="`scale` must be set"):
        FileVotes().votes()
