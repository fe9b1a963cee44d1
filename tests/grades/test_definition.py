"""How judges' grades become one: which choices go together, what is written of them, and versions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from store.collection import Collection
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.grades.definition import AGGREGATES, QrelsDefinition
from store.records import Grade, JudgeKind, Qrel
from tests.helpers.world import bring, make_scale, parse_scale

EVEN = make_scale(tuple(Grade(value, str(value), str(value)) for value in (0, 2, 4)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kinds": "human", "judges": "you"}, "`kinds` and --judge exclude each other"),
        ({"kinds": "robot"}, "`kinds` must be human, model or imported"),
        ({"aggregate": "mode"}, "`aggregate` must be one of primary, majority, median, mean, min, max"),
        ({"aggregate": "majority"}, "`ties` must be low, high or unresolved with --aggregate maj"),
        ({"aggregate": "median"}, "`ties` must be low, high or unresolved with --aggregate median"),
        ({"aggregate": "median", "ties": "first"}, "`ties` must be one of low, high, unresolved"),
        ({"aggregate": "mean", "ties": "low"}, "`ties` needs --aggregate majority or median, not mean"),
        ({"ties": "low"}, "`ties` needs --aggregate majority or median"),
        ({"votes": 0}, "`votes` must be an integer >= 1"),
        ({"aggregate": "sum", "binary_first": True}, "`binary_first` must not be asked for with"),
        ({"aggregate": "max", "primary": {"1": "ann"}}, "`primary` needs --aggregate primary"),
        ({"relaxed": 2}, "`relaxed` needs --aggregate sum"),
        ({"aggregate": "max", "rigid": 2}, "`rigid` needs --aggregate sum"),
        ({"aggregate": "sum", "rigid": 2}, "`rigid` must come with --relaxed"),
        ({"aggregate": "sum", "rigid": 2, "relaxed": 3}, "`rigid` must come with --relaxed"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(options: dict[str, Any], said: str) -> None:
    """A choice that would be ignored, or cannot be used, is told by the name of its option."""
    with pytest.raises(ArgumentError, match=said):
        QrelsDefinition(**options).check()


def test_every_rule_can_be_chosen() -> None:
    """Each rule goes with what it needs."""
    for rule in AGGREGATES:
        ties: Any = "low" if rule in ("majority", "median") else None
        QrelsDefinition(aggregate=rule, ties=ties, binary_first=rule != "sum").check()


def test_mean_needs_a_scale_without_gaps() -> None:
    """On grades 0, 2, 4 a mean may be 1, which is no grade; of binary votes it never is."""
    with pytest.raises(ArgumentError, match="must be another rule on a scale with gaps") as caught:
        QrelsDefinition(aggregate="mean").check_scale(EVEN)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("a mean may be 1, which is no grade")
    QrelsDefinition(aggregate="mean", binary_first=True).check_scale(EVEN)
    QrelsDefinition(aggregate="mean").check_scale(parse_scale("-2-2"))
    with pytest.raises(ArgumentError, match="`map` must be of grades of the scale, 0, 2, 4, but got 1"):
        QrelsDefinition(map={2: 1}).check_scale(EVEN)  # type: ignore[arg-type]  # a mapping is taken


def test_levels_are_the_scales_or_of_sums_their_own() -> None:
    """Rigid and relaxed are read off the scale; of sums off the definition, and never guessed."""
    ntcir, binary = parse_scale("ntcir"), parse_scale("binary")
    graded, sums = QrelsDefinition(), QrelsDefinition(aggregate="sum")
    assert [graded.level_named(ntcir, one) for one in ("rigid", "relaxed", 3, None)] == [2, 1, 3, None]
    assert graded.level_on(ntcir, None) == 1
    own = replace(sums, relaxed=2, rigid=4)
    assert [own.level_named(ntcir, one) for one in ("rigid", "relaxed", 9)] == [4, 2, 9]
    assert own.level_on(ntcir, None) == 2
    with pytest.raises(ArgumentError, match="must say which sum of grades is relevant"):
        sums.level_on(ntcir, None)
    with pytest.raises(ArgumentError, match="`level` must be a number: the qrels are sums"):
        sums.level_named(ntcir, "rigid")
    with pytest.raises(ArgumentError, match="`level` must be above 0 and at most 1"):
        graded.level_named(binary, 2)
    with pytest.raises(ArgumentError, match="must be relaxed on a scale with one relevant grade"):
        graded.level_named(binary, "rigid")


def test_json_says_what_is_not_the_default_and_is_read_back() -> None:
    """A definition in the folder of a collection, or in a manifest, is the same definition."""
    assert QrelsDefinition().to_json() == {}
    full = QrelsDefinition(
        aggregate="primary", votes=2, map={1: 0}, judges=["ann", "ann"], without_rulings=True,  # type: ignore[arg-type]
        pool="p", as_of="2026-03-01", without_topics=["14"], primary={"1": "ann"},  # type: ignore[arg-type]
    )  # fmt: skip
    assert full.judges == ("ann",)
    assert full.as_of is not None
    assert full.as_of.astimezone().isoformat()[:19] == "2026-03-01T23:59:59"
    assert full.to_json()["map"] == {"1": 0}
    assert QrelsDefinition.from_json(full.to_json()) == full
    with pytest.raises(ArgumentError, match="`as_of` must be now, or a moment like 2026-03-01"):
        QrelsDefinition(as_of="yesterday")  # type: ignore[arg-type]


def test_official_is_there_from_the_start_and_has_versions(collection: Collection) -> None:
    """Version 1 is the default; defining the name again makes version 2, and version 1 stays."""
    (first,) = collection.qrels.all()
    assert (first.label, first.is_default, first.definition) == ("official@1", True, QrelsDefinition())
    made = collection.qrels.define("official", QrelsDefinition(aggregate="max"))
    assert (made.label, made.is_default) == ("official@2", True)
    assert collection.qrels.named().label == "official@2"
    assert collection.qrels.named("official@1").definition == QrelsDefinition()
    with pytest.raises(PoolerError, match="there is no version 3 of `official`: the newest is 2"):
        collection.qrels.named("official@3")
    with pytest.raises(PoolerError, match="`official` stays: every collection has it"):
        collection.qrels.drop("official")
    assert not [one for one in collection.verify() if one.n_faults]


def test_a_definition_never_becomes_the_default_by_being_made(collection: Collection) -> None:
    """Only `default` moves the mark, and a new version of the default takes it along."""
    made = collection.qrels.define("strict", QrelsDefinition(aggregate="min"))
    assert not made.is_default
    assert collection.qrels.named().label == "official@1"
    collection.qrels.define("strict", QrelsDefinition(aggregate="max"))
    assert collection.qrels.named().label == "official@1"
    moved = collection.qrels.define("strict", QrelsDefinition(), default=True)
    assert (moved.label, moved.definition) == ("strict@2", QrelsDefinition(aggregate="max"))
    assert [one.label for one in collection.qrels.all() if one.is_default] == ["strict@2"]
    collection.qrels.define("official", QrelsDefinition(aggregate="min"))
    assert collection.qrels.named().label == "strict@2"
    with pytest.raises(PoolerError, match="`strict` stays: it is the default"):
        collection.qrels.drop("strict")
    collection.qrels.define("official", QrelsDefinition(), default=True)
    assert collection.qrels.drop("strict") == 2
    assert not [one for one in collection.verify() if one.n_faults]


def test_names_of_judges_and_of_qrels_never_meet(collection: Collection) -> None:
    """A judge's name stands for that judge's own grades, so that no definition can have it."""
    collection.judgements.add({"ann": [Qrel("1", "a", 1)]}, kind=JudgeKind.HUMAN)
    own = collection.qrels.named("ann")
    assert (own.label, own.definition.sole) == ("ann", "ann")
    with pytest.raises(ArgumentError, match="must not be the name of a judge, but got 'ann'"):
        collection.qrels.define("ann", QrelsDefinition())
    with pytest.raises(PoolerError, match="`official` is the name of qrels of the collection"):
        collection.judges.add("official", JudgeKind.HUMAN)
    for name in ("a.b", "a/b", "a=b", "a@1", "-", "-x"):
        with pytest.raises(ArgumentError, match=r"must be without / \. = @"):
            collection.qrels.define(name, QrelsDefinition())
    with pytest.raises(UnknownNameError):
        collection.qrels.define("x", QrelsDefinition(judges=("bob",)))
    with pytest.raises(UnknownNameError, match="unknown qrels `bob`; known: `ann`, `official`"):
        collection.qrels.named("bob")


def test_a_judge_is_held_by_identity(collection: Collection) -> None:
    """A definition follows a judge to another name, and one of an erased judge stays and says so."""
    rows = {"ann": [Qrel("1", "a", 1)], "bob": [Qrel("1", "a", 0)]}
    collection.judgements.add(rows, kind=JudgeKind.HUMAN)
    collection.qrels.define("anns", QrelsDefinition(judges=("ann",), primary={"1": "ann"}))  # type: ignore[arg-type]
    collection.judges.rename("ann", "zoe")
    definition = collection.qrels.named("anns").definition
    assert (definition.judges, definition.primary) == (("zoe",), (("1", "zoe"),))
    assert collection.grades.final(definition).rows == [Qrel("1", "a", 1)]
    collection.erasures.erase("zoe")
    definition = collection.qrels.named("anns").definition
    assert (definition.judges, len(definition.erased)) == ((), 1)
    with pytest.raises(PoolerError, match="the judges who are named were erased"):
        collection.grades.final(definition)


@pytest.mark.parametrize("kind", [JudgeKind.HUMAN, JudgeKind.ADJUDICATOR])
def test_what_comes_in_later_does_not_count_as_of_a_moment(collection: Collection, kind: JudgeKind) -> None:
    """A grade or ruling, done before the moment; nor does one with the row id of an event that is gone."""
    collection.judgements.add({"ann": [Qrel("1", "a", 1)], "bob": [Qrel("1", "a", 0)]}, kind=JudgeKind.HUMAN)
    rule = QrelsDefinition(aggregate="max", as_of="now")  # type: ignore[arg-type]  # a moment is taken as text
    empty = collection.qrels.define("early", replace(rule, as_of=datetime(2000, 1, 1, tzinfo=UTC)))
    made = collection.qrels.define("then", rule).definition
    (own,) = collection.judgements.history(["ann"])
    late = [replace(own, judge="zoe", grade=2, judged_at=datetime(2020, 1, 1, tzinfo=UTC))]
    bring(collection, late, kind)
    assert collection.grades.final(collection.qrels.named("then").definition).rows == [Qrel("1", "a", 1)]
    assert collection.grades.final(replace(made, events=None)).rows == [Qrel("1", "a", 2)]
    assert collection.qrels.missing_events(made) == 0
    with pytest.raises(PoolerError, match="nothing is judged yet"):
        collection.grades.final(empty.definition)
    collection.qrels.define("then", rule)
    for judge in ("zoe", "bob"):
        collection.erasures.erase(judge)
    bring(collection, late, kind)
    for version in ("then@1", "then@2"):
        found = collection.grades.final(collection.qrels.named(version).definition)
        assert found.rows == [Qrel("1", "a", 1)]
