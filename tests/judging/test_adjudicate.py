"""`pooler adjudicate` and its desk: what judges differ on, what is seen of them, and what a ruling does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.errors import UnknownNameError
from store.judging.adjudication import AdjudicationDesk
from store.judging.disagreements import Disagreement, Opinion, Selection, Settlement
from store.records import Action, Decision, Document, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.fixtures import made_once
from tests.helpers.places import held_place
from tests.helpers.run import JUDGES, Cli, by_rule, read_trec
from tests.helpers.world import JudgeAtWork, make_pool, make_run, named_rows, statements

NAMES = ("annabella", "gpt-9000", "oldqrels", "zoe")


@pytest.fixture
def collection_name(tmp_path: Path) -> str:
    """Name a place on SQLite alone: `test_disagreements` has queues and rulings on PostgreSQL, too."""
    return str(tmp_path / "collection.db")


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection of three judges and an adjudicator who disagree on a and b of topic 1."""
    for name in ("annabella", "gpt-9000", "oldqrels"):
        collection.judges.add(name, JudgeKind.HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    collection.topics.add([Topic("1", "wine")])
    collection.runs.add(make_run("bm25", {"1": [("a", 2.0), ("b", 1.0), ("c", 0.5)]}))
    collection.pools.add(make_pool({"1": ["c", "b", "a"]}, round="3", run_tags=("bm25",)))
    collection.documents.add([Document("a", "A", "text\r\nof a"), Document("b", "B", "b")])
    for name, grades in (("annabella", (0, 1, 1)), ("gpt-9000", (2, 0, 1)), ("oldqrels", (2, 0, 1))):
        sitting = judge(collection, name)
        for docno, grade in zip("abc", grades, strict=True):
            sitting.grade(docno, grade)
    return collection


def judge(collection: Collection, name: str, topic: str = "1") -> JudgeAtWork:
    """Sit down as a judge."""
    return JudgeAtWork(collection.desk(name), topic)


def adjudicate(collection: Collection, *, topic: str = "1", **wanted: Any) -> JudgeAtWork:
    """Sit down as the adjudicator."""
    return JudgeAtWork(collection.adjudication_desk("zoe", selection=Selection(**wanted)), topic)


def view(sitting: JudgeAtWork, docno: str) -> Disagreement:
    """Return what an adjudicator sees of the judges."""
    assert isinstance(sitting.desk, AdjudicationDesk)
    return sitting.desk.disagreement(sitting.topic, docno)


def test_queue_is_what_judges_disagree_on(ready: Collection) -> None:
    """Documents come by docno, whatever their place in the pool; the agreed one is not there."""
    sitting = adjudicate(ready)
    assert list(sitting.tasks) == ["a", "b"]
    (line,) = sitting.desk.inbox()
    assert (line.topic, line.title, line.documents, line.left) == ("1", "wine", 2, 2)


def test_opinions_are_grades_reasons_notes_and_passages(ready: Collection) -> None:
    """Each judge is a letter with all that was decided and said; passages fit the page."""
    first, second = judge(ready, "annabella"), judge(ready, "gpt-9000")
    first.act("a", Action.CANNOT, reason="torn")
    first.act("a", Action.NOTE, note="page 2\nis gone")
    marked = Passage(5, 2, "of")
    second.act("a", Action.MARK, passages=(marked,))
    sitting = adjudicate(ready)
    found = view(sitting, "a")
    assert [one.letter for one in found.opinions] == ["A", "B", "C"]
    said = {(one.state, one.grade, one.reason, one.note, one.passages) for one in found.opinions}
    assert said == {
        (State.CANNOT, None, "torn", "page 2\nis gone", ()),
        (State.JUDGED, 2, "", "", (marked,)),
        (State.JUDGED, 2, "", "", ()),
    }
    assert (found.gap, found.status) == (None, Settlement.OPEN)
    page = sitting.desk.page("a")
    assert page.text is not None
    assert page.text[marked.start : marked.end] == "of"


def test_opinions_cannot_steer_a_terminal(ready: Collection) -> None:
    """Notes and reasons of judges are sanitised for display."""
    evil = "a\x1b]0;owned\x07\u202e\0\nb"
    sitting = judge(ready, "annabella")
    sitting.act("a", Action.CANNOT, reason=evil)
    sitting.act("a", Action.NOTE, note=evil)
    opinions = view(adjudicate(ready), "a").opinions
    (shown,) = [one for one in opinions if one.state is State.CANNOT]
    assert shown.note == "a␛]0;owned␇\ufffd␀\nb"
    assert shown.reason == "a␛]0;owned␇\ufffd␀ b"


def test_letter_of_a_judge_changes_from_document_to_document(collection: Collection) -> None:
    """Nobody is A throughout: on 40 documents each of two judges is A on some."""
    docnos = [f"d{number}" for number in range(40)]
    for name, grade in (("ann", 0), ("bob", 1)):
        qrels = [Qrel("1", docno, grade) for docno in docnos]
        collection.judgements.add({name: qrels}, JudgeKind.HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    sitting = adjudicate(collection)
    grades_of_a = [view(sitting, docno).opinions[0].grade for docno in docnos]
    assert 8 <= sum(one == 0 for one in grades_of_a) <= 32
    again = adjudicate(collection)
    assert [view(again, docno).opinions[0].grade for docno in docnos] == grades_of_a


def test_outcome_is_the_adjudicators_own_judgement(ready: Collection, collection_name: str) -> None:
    """A decision is one more event, of the round the judges worked in; nothing else changes."""
    before = named_rows(collection_name, "judgement")
    sitting = adjudicate(ready)
    task = sitting.act("a", Action.JUDGE, grade=1, note="in between", position=0)
    assert (task.state, task.grade, task.note, task.revision) == (State.JUDGED, 1, "in between", 1)
    *others, event = named_rows(collection_name, "judgement")
    assert others == before
    assert (event["state"], event["grade"], event["iteration"]) == ("judged", 1, "3")
    assert event["display_order"] == "docno opinions of human:0,2,2"
    assert stored(ready) == {"a": (State.JUDGED, 1)}
    assert view(sitting, "a").status is Settlement.SETTLED
    assert [line.left for line in sitting.desk.inbox()] == [1]


def test_work_at_the_desk_is_a_judges(ready: Collection) -> None:
    """Skip, can't, note, passages and undo do what they do in judging."""
    sitting = adjudicate(ready)
    marked = (Passage(0, 4, "text"),)
    assert sitting.act("a", Action.SKIP).state is State.SKIPPED
    assert sitting.act("a", Action.CANNOT, reason="torn").reason == "torn"
    assert sitting.act("a", Action.NOTE, note="n").state is State.CANNOT
    assert sitting.act("a", Action.MARK, passages=marked).passages == marked
    assert sitting.grade("a", 2).grade == 2
    assert view(sitting, "a").status is Settlement.SETTLED
    undone = [sitting.undo() for _ in range(5)]
    assert [task and (task.state, task.note, task.passages) for task in undone] == [
        (State.CANNOT, "n", marked),
        (State.CANNOT, "n", ()),
        (State.CANNOT, "", ()),
        (State.SKIPPED, "", ()),
        (State.UNJUDGED, "", ()),
    ]
    assert view(sitting, "a").status is Settlement.OPEN
    assert sitting.undo() is None
    with pytest.raises(UnknownNameError, match="unknown grade `3`"):
        sitting.grade("a", 3)


def test_changed_disagreement_comes_again(ready: Collection) -> None:
    """It is without a decision until it is decided anew; the old outcome stays stored till then."""
    adjudicate(ready).grade("a", 2)
    judge(ready, "oldqrels").grade("a", 1)
    sitting = adjudicate(ready)
    assert (sitting.tasks["a"].state, sitting.tasks["a"].grade) == (State.UNJUDGED, None)
    found = view(sitting, "a")
    assert (found.status, found.outcome, found.outcome_on) == (Settlement.CHANGED, 2, (0, 2, 2))
    assert [line.left for line in sitting.desk.inbox()] == [2]
    assert stored(ready) == {"a": (State.JUDGED, 2)}
    assert sitting.act("a", Action.NOTE, note="look").state is State.UNJUDGED
    assert stored(ready) == {"a": (State.JUDGED, 2)}
    assert sitting.grade("a", 2).state is State.JUDGED
    assert view(sitting, "a").status is Settlement.SETTLED
    assert adjudicate(ready).tasks["a"].grade == 2


def test_undo_brings_the_changed_disagreement_back(ready: Collection) -> None:
    """What an undo restores rests on the verdicts it was decided on, not on those of the undo."""
    adjudicate(ready).grade("a", 2)
    judge(ready, "oldqrels").grade("a", 1)
    sitting = adjudicate(ready)
    sitting.grade("a", 0)
    undone = sitting.undo()
    assert undone is not None
    assert (undone.state, undone.grade) == (State.UNJUDGED, None)
    assert view(sitting, "a").outcome == 2
    assert stored(ready) == {"a": (State.JUDGED, 2)}
    assert adjudicate(ready).tasks["a"].state is State.UNJUDGED


def test_change_under_the_adjudicators_eyes_is_noticed(ready: Collection) -> None:
    """A ruling rests on what was shown, not on what a judge decided a moment before it."""
    sitting = adjudicate(ready)
    judge(ready, "oldqrels").grade("a", 1)
    sitting.grade("a", 2)
    assert view(sitting, "a").status is Settlement.SETTLED
    assert {one.grade for one in view(sitting, "a").opinions} == {0, 2}
    (task, _) = sitting.look()
    assert task.state is State.UNJUDGED
    assert {one.grade for one in view(sitting, "a").opinions} == {0, 1, 2}


def test_agreement_takes_a_document_off_the_queue(ready: Collection) -> None:
    """When judges come to agree there is nothing to decide; the outcome stays stored till it is taken back.

    Judges who return to their grades need no new ruling.
    """
    sitting = adjudicate(ready)
    sitting.grade("b", 0)
    other = judge(ready, "annabella")
    other.grade("b", 0)
    assert list(adjudicate(ready).tasks) == ["a"]
    other.undo()
    assert adjudicate(ready).tasks["b"].grade == 0
    other.grade("b", 0)
    assert stored(ready) == {"b": (State.JUDGED, 0)}
    undone = sitting.undo()
    assert undone is not None
    assert undone.state is State.UNJUDGED
    assert stored(ready) == {"b": (State.UNJUDGED, None)}


def test_settled_by_another_adjudicator_is_not_shown(ready: Collection) -> None:
    """Adjudicators share the work: what one has settled the other is spared, until it changes."""
    ready.judges.add("yan", JudgeKind.ADJUDICATOR)
    JudgeAtWork(ready.adjudication_desk("yan"), "1").grade("a", 2)
    assert list(adjudicate(ready).tasks) == ["b"]
    judge(ready, "oldqrels").grade("a", 1)
    sitting = adjudicate(ready)
    assert (list(sitting.tasks), sitting.tasks["a"].state) == (["a", "b"], State.UNJUDGED)
    assert view(sitting, "a").outcome == 2
    sitting.grade("a", 0)
    assert list(JudgeAtWork(ready.adjudication_desk("yan"), "1").tasks) == ["a", "b"]


def test_a_ruling_over_one_whose_answer_was_lost_is_no_conflict(ready: Collection) -> None:
    """The sitting has seen neither: the second is the ruling."""
    desk = adjudicate(ready).desk
    desk.record(Decision("1", "a", Action.JUDGE, 2))
    assert desk.record(Decision("1", "a", Action.JUDGE, 0)).grade == 0
    assert stored(ready) == {"a": (State.JUDGED, 0)}


def test_selection_cuts_queue_and_inbox(ready: Collection) -> None:
    """Gap and cell choose documents; all opinions of a chosen one are shown."""
    assert list(adjudicate(ready, gap=2).tasks) == ["a"]
    assert list(adjudicate(ready, cell=(0, 1)).tasks) == ["b"]
    sitting = adjudicate(ready, gap=2, cell=(0, 2))
    assert list(sitting.tasks) == ["a"]
    assert len(view(sitting, "a").opinions) == 3
    assert [line.documents for line in sitting.desk.inbox()] == [1]
    assert adjudicate(ready, gap=3).desk.inbox() == []


def test_selection_can_be_changed_at_the_desk(ready: Collection) -> None:
    """Cells are counted whatever cell is wanted, and lead to its documents."""
    sitting = adjudicate(ready, gap=2)
    assert isinstance(sitting.desk, AdjudicationDesk)
    sitting.grade("a", 2)
    counts = [(one.cell, one.documents, one.settled) for one in sitting.desk.cells()]
    assert counts == [((0, 1), 1, 0), ((0, 2), 1, 1)]
    sitting.desk.select(Selection(cell=(0, 1)))
    sitting.look()
    assert list(sitting.tasks) == ["b"]
    with pytest.raises(UnknownNameError):
        sitting.desk.select(Selection("9"))
    assert sitting.desk.selection == Selection(cell=(0, 1))


def test_adjudicator_needs_no_place(ready: Collection, collection_name: str) -> None:
    """Where documents are assigned to judges, adjudicators decide all the same."""
    held_place(collection_name, "1", "b", "annabella")
    sitting = adjudicate(ready)
    assert list(sitting.tasks) == ["a", "b"]
    assert sitting.grade("a", 1).state is State.JUDGED
    assert sitting.undo() is not None
    assert (sitting.desk.claim("1"), sitting.desk.claimable("1"), sitting.desk.undrawn("1")) == (False, 0, 0)
    sitting.desk.leave()


def stored(collection: Collection) -> dict[str, tuple[State, int | None]]:
    """Return the adjudicator's stored judgements by docno."""
    return {one.docno: (one.state, one.grade) for one in collection.judgements.current(["zoe"])}


FORBIDDEN = re.compile(
    r"\b(runs?|rankings?|pool\w*|manifest|scores?|ranks?|priority|stratum|inclusion_probability"
    r"|purpose)\b"
)


def test_desk_is_blind(ready: Collection) -> None:
    """No judge's name is read or given, and no statement names a run, a score or a pool."""
    judge(ready, "annabella").act("a", Action.NOTE, note="mine")
    given: list[object] = []
    with statements() as sent:
        sitting = adjudicate(ready)
        desk = sitting.desk
        assert isinstance(desk, AdjudicationDesk)
        given += [desk.inbox(), desk.topic("1"), sitting.look(), desk.cells(), desk.page("a")]
        given += [sitting.grade("a", 1), view(sitting, "a"), view(sitting, "b")]
        given += [sitting.act("b", Action.SKIP), sitting.act("b", Action.NOTE, note="n")]
        given += [sitting.undo(), desk.events(), desk.events_of("1", "a"), sitting.look()]
        desk.leave()
    written = repr(given)
    assert "mine" in written
    for name in NAMES[:3]:
        assert name not in written
    for statement, parameters in sent:
        assert not FORBIDDEN.search(statement), statement
        assert "judge.name" not in statement or "zoe" in repr(parameters), statement
        for name in NAMES[:3]:
            assert name not in repr(parameters)


def test_desk_has_no_door_to_the_rest(ready: Collection) -> None:
    """To a judge's desk it adds six words, and an opinion has no place for a name."""
    added = set(dir(ready.adjudication_desk("zoe"))) - set(dir(ready.desk("annabella")))
    words = {name for name in added if not name.startswith("_")}
    assert words == {"cells", "disagreement", "given", "select", "selection", "voters"}
    fields = Opinion.__dataclass_fields__
    assert set(fields) == {"letter", "state", "grade", "reason", "note", "passages"}


Pairs = dict[tuple[str, str], dict[str, int]]


@pytest.fixture
@made_once
def garden_with_zoe(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection, its three judges' grades in it, with an adjudicator."""
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    return judged


def graded(folder: Path) -> Pairs:
    """Return every judge's grade by (topic, docno)."""
    pairs: Pairs = {}
    for judge in JUDGES:
        for topic, docno, grade in read_trec(folder / "judgements" / f"{judge}.qrels", (0, 2, 3)):
            pairs.setdefault((topic, docno), {})[judge] = int(grade)
    return pairs


def disputed(folder: Path) -> Pairs:
    """Return the documents whose judges differ."""
    return {pair: grades for pair, grades in graded(folder).items() if len({*grades.values()}) > 1}


def test_list_has_every_document_that_judges_graded_otherwise(cli: Cli, garden_with_zoe: Path) -> None:
    """Topic, document, grades as A, B, C, and gap of each; of no other document."""
    rows = cli("adjudicate", "--table", "disagreements", "--format", "json").fine().json()
    expected = disputed(garden_with_zoe)
    assert {(row["topic"], row["docno"]) for row in rows} == set(expected)
    for row in rows:
        grades = list(expected[row["topic"], row["docno"]].values())
        shown = [one.split("=") for one in row["grades"]]
        assert [letter for letter, _ in shown] == ["A", "B", "C"]
        assert sorted(int(grade) for _, grade in shown) == sorted(grades)
        assert row["gap"] == max(grades) - min(grades)
        assert (row["status"], row["outcome"]) == ("open", None)
    assert [row["topic"] for row in rows] == sorted(row["topic"] for row in rows)


def test_names_are_told_to_the_organiser_alone(cli: Cli, garden_with_zoe: Path) -> None:
    """Without --names no judge's name is in the list; with it every letter has its judge."""
    plain = cli("adjudicate", "--table", "disagreements", "--format", "json").fine()
    assert not any(judge in plain.out for judge in JUDGES)
    expected = disputed(garden_with_zoe)
    rows = cli("adjudicate", "--table", "disagreements", "--names", "--format", "json").fine().json()
    for row, before in zip(rows, plain.json(), strict=True):
        grades = dict(one.split("=") for one in row["grades"])
        judges = dict(one.split("=") for one in row["judges"])
        assert {judges[letter]: int(grades[letter]) for letter in grades} == (
            expected[row["topic"], row["docno"]]
        )
        assert row["grades"] == before["grades"]
    sitting = cli("adjudicate", "--judge", "zoe", "--names").failed(1)
    assert "`--names` is of the list, without --judge" in sitting.err


@pytest.mark.parametrize(
    ("options", "is_wanted"),
    [
        (("--gap", "2"), lambda grades: max(grades.values()) - min(grades.values()) >= 2),
        (("--unresolved", "majority"), lambda grades: len(set(grades.values())) == len(grades)),
    ],
)
def test_options_choose_disagreements(
    cli: Cli, garden_with_zoe: Path, options: tuple[str, ...], is_wanted: Callable[[dict[str, int]], bool]
) -> None:
    """Gap and rule cut the list down to what plain comparisons of the files say."""
    rows = cli("adjudicate", "--table", "disagreements", *options, "--format", "json").fine().json()
    expected = {pair for pair, grades in disputed(garden_with_zoe).items() if is_wanted(grades)}
    assert expected
    assert {(row["topic"], row["docno"]) for row in rows} == expected


def test_summary_counts_documents_by_two_grades(cli: Cli, garden_with_zoe: Path) -> None:
    """A document counts once for every two different grades that its judges gave."""
    rows = cli("adjudicate", "--table", "cells", "--format", "json").fine().json()
    expected = Counter(
        cell
        for grades in graded(garden_with_zoe).values()
        for cell in combinations(sorted({*grades.values()}), 2)
    )
    assert {(row["first"], row["second"]): row["documents"] for row in rows} == expected


def test_typed_decisions_are_the_adjudicators(cli: Cli, garden_with_zoe: Path) -> None:
    """What is typed in line mode is stored under the adjudicator, and listed as the outcome."""
    first, second, third = sorted(disputed(garden_with_zoe))[:3]
    topic = first[0]
    assert {second[0], third[0]} == {topic}
    typed = b"2\nc\n1\ns\nq\n"
    answer = cli("adjudicate", "--judge", "zoe", "--topic", topic, "--plain", stdin=typed).fine()
    assert answer.out.endswith("zoe: 3 decisions in this sitting, all saved\n")
    assert not any(judge in answer.out for judge in JUDGES)
    rows = cli("adjudicate", "--table", "disagreements", "--topic", topic, "--format", "json").fine().json()
    told = {row["docno"]: (row["status"], row["outcome"]) for row in rows}
    assert told[first[1]] == ("settled", 2)
    assert told[second[1]] == ("settled", "cannot")
    assert told[third[1]] == ("open", None)
    cells = cli("adjudicate", "--table", "cells", "--topic", topic, "--format", "json").fine().json()
    expected = Counter(
        cell
        for pair in (first, second)
        for cell in combinations(sorted({*graded(garden_with_zoe)[pair].values()}), 2)
    )
    assert {(row["first"], row["second"]): row["settled"] for row in cells if row["settled"]} == (expected)
    assert sum(row["as_2"] + row["as_cannot"] for row in cells) == expected.total()
    named = cli("adjudicate", "--table", "disagreements", "--names", "--format", "tsv").fine().tsv()
    assert {row["adjudicator"] for row in named} == {"", "zoe"}


def test_answers_that_open_no_topic_are_counted(cli: Cli, garden_with_zoe: Path) -> None:
    """A script that answers before a topic is open is told so, shortly; Enter opens one."""
    answer = cli("adjudicate", "--judge", "zoe", "--plain", stdin=b"0\n1\n\n2\nq\n").fine()
    assert "1 decision in this sitting" in answer.out
    rows = cli("adjudicate", "--table", "disagreements", "--format", "json").fine().json()
    assert [row["outcome"] for row in rows if row["status"] == "settled"] == [2]
    assert "`0` is none of these topics\n" in answer.out
    assert "2 answers ignored" in answer.err


def test_nothing_of_the_judges_changes(cli: Cli, garden_with_zoe: Path) -> None:
    """Adjudicating overwrites nothing: every judge's export is as it was."""
    before = [cli("export", "judgements", judge).fine().out for judge in JUDGES]
    cli("adjudicate", "--judge", "zoe", "--plain", stdin=b"\n2\n1\n0\nq\n").fine()
    assert [cli("export", "judgements", judge).fine().out for judge in JUDGES] == before
    assert cli("export", "judgements", "zoe").fine().out.count('"state": "judged"') == 3


def test_changed_and_unneeded_outcomes_are_listed(
    cli: Cli, collection_of: Callable[..., None], here: Path
) -> None:
    """The list tells an outcome of another disagreement, and one that nobody needs any more."""
    collection_of(me=["1 0 a 0", "1 0 b 0", "1 0 c 0"], you=["1 0 a 2", "1 0 b 2", "1 0 c 2"])
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    cli("adjudicate", "--judge", "zoe", "--topic", "1", "--plain", stdin=b"1\n1\n1\n").fine()
    (here / "you.qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 2\n", "utf-8")
    cli("import", "judgements", "you.qrels", "--judge", "you", "--replace").fine()
    rows = cli("adjudicate", "--table", "disagreements", "--format", "json").fine().json()
    assert [(row["docno"], row["status"], row["outcome"]) for row in rows] == [
        ("a", "changed since", 1),
        ("b", "no longer needed", 1),
        ("c", "settled", 1),
    ]
    table = cli("adjudicate").fine().out
    assert "3 documents: 1 changed since, 1 no longer needed, 1 settled" in table


def test_letters_of_the_scale_name_grades(cli: Cli, collection_of: Callable[..., None]) -> None:
    """On a scale of letters people read letters; programs get values."""
    collection_of("ntcir", me=["1 0 a 3", "1 0 b 1"], you=["1 0 a 0", "1 0 b 0"])
    (row,) = cli("adjudicate", "--table", "disagreements", "--gap", "3", "--format", "json").fine().json()
    assert (row["docno"], sorted(one[2:] for one in row["grades"])) == ("a", ["0", "3"])
    table = cli("adjudicate").fine().out + cli("adjudicate", "--table", "cells").fine().out
    assert "=S" in table
    assert "as S" in table


def test_nothing_to_adjudicate_is_said(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Where judges agree, or no disagreement is of the kind, there is nothing to sit down for."""
    collection_of(me=["1 0 a 1", "1 0 b 0"], you=["1 0 a 1", "1 0 b 1"])
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    refused = cli("adjudicate", "--judge", "zoe", "--gap", "2", "--plain").failed(1)
    assert "no disagreement of that kind is left for `zoe`" in refused.err
    assert "hint: pooler adjudicate" in refused.err
    assert "no disagreement of that kind" in cli("adjudicate", "--gap", "2").fine().out
    assert cli("adjudicate", "--table", "disagreements", "--gap", "2", "--format", "json").fine().json() == []


def test_list_without_two_judges_says_so(cli: Cli, here: Path) -> None:
    """Nobody or one judge has judged: nothing is said to have been decided alike."""
    cli("init", "--scale", "0-2").fine()
    few = "no disagreement: fewer than two judges have judged; "
    assert f"{few}no judge has so far" in cli("adjudicate").fine().out
    (here / "q").write_text("1 0 a 1\n")
    cli("import", "judgements", "q", "--judge", "me").fine()
    assert f"{few}only one judge has so far" in cli("adjudicate").fine().out
    (here / "z").write_text("2 0 a 1\n")
    cli("import", "judgements", "z", "--judge", "zoe", "--kind", "adjudicator").fine()
    told = cli("adjudicate", "--topic", "1").fine().out
    assert f"{few}only one judge has so far" in told
    cli("judges", "add", "you").fine()
    assert few in cli("adjudicate", "--gap", "1").fine().out
    cli("import", "judgements", "q", "--judge", "it").fine()
    alike = "no disagreement: wherever two judges decided, they decided the same"
    told = cli("adjudicate", "--topic", "1", "--gap", "1").fine().out
    assert "no disagreement of that kind" in told
    assert few not in told
    (here / "collection.db").unlink()
    cli("init", "--scale", "0-2").fine()
    for judge in ("me", "it"):
        cli("import", "judgements", "q", "--judge", judge).fine()
    assert alike in cli("adjudicate").fine().out


def test_who_cannot_sit_down_is_told_why(cli: Cli, garden_with_zoe: Path) -> None:
    """A judge who is not there or is disabled, a topic and qrels that are not, are refused."""
    assert "unknown topic `G99`" in cli("adjudicate", "--topic", "G99").failed(1).err
    assert "unknown qrels `martian`" in cli("adjudicate", "--qrels", "martian").failed(1).err
    assert "unknown judge `nosuch`" in cli("adjudicate", "--judge", "nosuch", "--plain").failed(1).err
    cli("judges", "disable", "zoe").fine()
    assert "disabled" in cli("adjudicate", "--judge", "zoe", "--plain").failed(3).err


@pytest.mark.parametrize("rule", ["majority", "median"])
def test_unresolved_is_what_the_export_leaves_out(cli: Cli, garden_with_zoe: Path, rule: str) -> None:
    """List, summary and queue hold the documents that `--ties unresolved` leaves out, no other."""
    exported = by_rule(cli, "export", "qrels", "--aggregate", rule, "--ties", "unresolved").fine()
    kept = {tuple(line.split()[::2]) for line in exported.out.splitlines()}
    left_out = {pair for pair in graded(garden_with_zoe) if pair not in kept}
    command = ("adjudicate", "--unresolved", rule)
    assert (f"pooler {' '.join(command)}" in exported.err) == bool(left_out)
    found = cli(*command, "--format", "json").fine().json()
    assert {(row["topic"], row["docno"]) for row in found["disagreements"]} == left_out
    assert bool(found["cells"]) == bool(left_out)


def test_unresolved_documents_are_settled_one_by_one(cli: Cli, garden_with_zoe: Path) -> None:
    """The queue has the three ties alone; once they are ruled on the export has all documents."""
    command = ("adjudicate", "--unresolved", "majority")
    topics = [row["topic"] for row in cli(*command, "--format", "json").fine().json()["disagreements"]]
    for topic in topics:
        cli(*command, "--judge", "zoe", "--topic", topic, "--plain", stdin=b"1\nq\n").fine()
    rows = cli(*command, "--format", "json").fine().json()["disagreements"]
    assert [(row["status"], row["outcome"]) for row in rows] == [("settled", 1)] * 3
    rule = ("--aggregate", "majority", "--ties", "unresolved")
    # An adjudicator is a person, and the judges are models.
    refused = by_rule(cli, "export", "qrels", *rule).failed(1)
    assert "people graded 3 documents and models 84: whose grades count?" in refused.err
    answer = by_rule(cli, "export", "qrels", *rule, "--kinds", "human,model").fine()
    assert len(answer.out.splitlines()) == 84
    assert "unresolved\n" not in answer.err.replace("ties unresolved", "")
