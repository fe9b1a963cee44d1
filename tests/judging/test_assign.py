"""Who gets which document: exactly k judges each, even loads and pairs, and the seed's own bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.assigning import AssignmentOptions, plan_assignment
from store.errors import ArgumentError, PoolerError
from store.records import Assignable, Existing, Place, Purpose

PEOPLE = ("ann", "ben", "cat", "dan", "eve")
ANN = ["ann"]
Pair = tuple[str, str]


def pooled(**sizes: int) -> list[Assignable]:
    """Make topics t1, t2, ... of so many documents."""
    return [
        Assignable(topic, f"{topic}-{number:03d}") for topic, size in sizes.items() for number in range(size)
    ]


def judges_of(documents: Iterable[Assignable], places: Iterable[Place]) -> dict[Pair, list[str]]:
    """List who has each document, those who hold a place already included."""
    having = {(one.topic, one.docno): sorted(one.holders) for one in documents}
    for place in places:
        having[place.topic, place.docno].append(place.judge or "-")
    return having


def loads_of(places: Iterable[Place]) -> Counter[str | None]:
    """Count the places of every judge."""
    return Counter(place.judge for place in places)


@st.composite
def pools(draw: st.DrawFn) -> list[Assignable]:
    """Draw up to 3 topics of up to 8 documents, some decided on by judges and others."""
    documents = []
    for topic in draw(st.lists(st.sampled_from(["1", "01", "9", "10", "日本"]), unique=True)):
        docnos = draw(st.lists(st.text("aB-1日", min_size=1, max_size=3), unique=True, max_size=8))
        for docno in docnos:
            decided = draw(st.frozensets(st.sampled_from([*PEOPLE, "gone"]), max_size=3))
            decided = decided if draw(st.booleans()) else frozenset()
            holders = decided if draw(st.booleans()) else frozenset[str]()
            documents.append(Assignable(topic, docno, decided=decided, holders=holders))
    return documents


@st.composite
def export_choice(draw: st.DrawFn, n_judges: int, *, lease_s: int | None = None) -> AssignmentOptions:
    """Draw options that so many judges can fulfil."""
    per_document = draw(st.integers(1, n_judges))
    overlap = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])) if per_document < n_judges else 0.0
    more = st.none() | st.integers(per_document + 1, n_judges) if overlap else st.none()
    return AssignmentOptions(
        seed=draw(st.integers(0, 5)),
        by="document" if lease_s else draw(st.sampled_from(["document", "topic"])),
        per_document=per_document,
        overlap=overlap,
        overlap_judges=draw(more),
        calibration=draw(st.integers(0, 2)),
        order=draw(st.sampled_from(["docno", "random"])),
        lease_s=lease_s,
    )


@given(data=st.data(), documents=pools())
def test_every_document_has_exactly_as_many_judges_as_it_should(
    data: st.DataObject, documents: list[Assignable]
) -> None:
    """K judges, M of an overlap document, all of a calibration document, or all who decided."""
    n_judges = data.draw(st.integers(1, 5))
    lease_s = data.draw(st.sampled_from([None, 60]))
    options = data.draw(export_choice(n_judges, lease_s=lease_s))
    people = PEOPLE[:n_judges]
    plan = plan_assignment(documents, people, options)
    purposes = {(place.topic, place.docno): place.purpose for place in plan.places}
    most = options.overlap_judges or options.per_document + 1
    for one in documents:
        having = judges_of(documents, plan.places)[one.topic, one.docno]
        named = [judge for judge in having if judge != "-"]
        assert len(set(named)) == len(named)
        assert one.decided <= set(named)
        assert set(named) <= one.decided | set(people)
        if lease_s is not None:
            assert set(named) == one.decided
        if (one.topic, one.docno) not in purposes:  # no place to make: those who decided suffice
            assert len(having) == len(one.decided) >= options.per_document
            continue
        size = {
            Purpose.PRIMARY: options.per_document,
            Purpose.OVERLAP: most,
            Purpose.CALIBRATION: len(one.decided | set(people)),
        }[purposes[one.topic, one.docno]]
        assert len(having) == max(size, len(one.decided))
    sizes = Counter(one.topic for one in documents)
    counts = plan.manifest["documents"]
    assert counts["calibration"] == sum(min(options.calibration, n) for n in sizes.values())
    # Halves up, of what calibration left.
    shares = {topic: (2 * n * int(options.overlap * 10) + 10) // 20 for topic, n in sizes.items()}
    assert counts["overlap"] == sum(
        min(shares[topic], max(0, n - options.calibration)) for topic, n in sizes.items()
    )
    assert sum(counts.values()) == len(documents)
    assert plan.lease_s == lease_s


@given(data=st.data(), sizes=st.lists(st.integers(1, 30), min_size=1, max_size=3))
def test_loads_differ_by_at_most_one(data: st.DataObject, sizes: list[int]) -> None:
    """Where nothing is decided, no judge has two documents more than another; in a topic, three."""
    n_judges = data.draw(st.integers(1, 5))
    options = replace(data.draw(export_choice(n_judges)), by="document")
    documents = pooled(**{f"t{number}": size for number, size in enumerate(sizes)})
    plan = plan_assignment(documents, PEOPLE[:n_judges], options)
    loads = loads_of(plan.places)
    counts = [loads[judge] for judge in PEOPLE[:n_judges]]
    assert max(counts) - min(counts) <= 1
    for number in range(len(sizes)):
        of_topic = loads_of(place for place in plan.places if place.topic == f"t{number}")
        counts = [of_topic[judge] for judge in PEOPLE[:n_judges]]
        assert max(counts) - min(counts) <= 2


@pytest.mark.parametrize("n_judges", [3, 4, 5, 6, 8])
@pytest.mark.parametrize("per_document", [2, 3])
def test_pairs_of_judges_share_documents_evenly(n_judges: int, per_document: int) -> None:
    """Over 600 documents, any two judges share as many as any other two, but for four at most."""
    people = [f"j{number}" for number in range(n_judges)]
    documents = pooled(a=201, b=67, c=332)
    plan = plan_assignment(documents, people, AssignmentOptions(seed=5, per_document=per_document))
    together: Counter[Pair] = Counter()
    for having in judges_of(documents, plan.places).values():
        together.update(combinations(sorted(having), 2))
    counts = [together[pair] for pair in combinations(people, 2)]
    assert sum(counts) == 600 * per_document * (per_document - 1) // 2
    assert max(counts) - min(counts) <= 4


@given(data=st.data(), documents=pools())
def test_same_arguments_give_the_same_plan(data: st.DataObject, documents: list[Assignable]) -> None:
    """Neither the sequence of the documents nor that of the judges changes a byte."""
    n_judges = data.draw(st.integers(1, 5))
    options = data.draw(export_choice(n_judges, lease_s=data.draw(st.sampled_from([None, 60]))))
    people = list(PEOPLE[:n_judges])
    plan = plan_assignment(documents, people, options)
    shuffled = data.draw(st.permutations(documents)), data.draw(st.permutations(people))
    assert plan_assignment(*shuffled, options) == plan


@pytest.mark.parametrize(
    "wish",
    [
        {"per_document": 2},
        {"by": "topic"},
        {"calibration": 2},
        {"overlap": 0.3},
        {"per_document": 5, "order": "random"},
    ],
    ids=str,
)
def test_another_seed_gives_another_plan(wish: dict[str, object]) -> None:
    """All that chance decides hangs on the seed."""
    documents = pooled(a=12, b=12, c=12, d=12)
    options = AssignmentOptions(seed=1, **wish)  # type: ignore[arg-type]  # drawn from a table
    other = replace(options, seed=2)
    assert (
        plan_assignment(documents, PEOPLE, options).places != plan_assignment(documents, PEOPLE, other).places
    )


@given(
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=6),
    per_document=st.integers(1, 4),
    seed=st.integers(0, 3),
)
def test_by_topic_whole_topics_go_to_the_same_judges(sizes: list[int], per_document: int, seed: int) -> None:
    """All documents of a topic have K judges; loads differ by the largest topic at most."""
    documents = pooled(**{f"t{number}": size for number, size in enumerate(sizes)})
    options = AssignmentOptions(seed=seed, by="topic", per_document=per_document)
    plan = plan_assignment(documents, PEOPLE[:4], options)
    by_topic: dict[str, set[frozenset[str]]] = {}
    for (topic, _), having in judges_of(documents, plan.places).items():
        by_topic.setdefault(topic, set()).add(frozenset(having))
    assert {len(teams) for teams in by_topic.values()} == {1}
    assert {len(team) for teams in by_topic.values() for team in teams} == {per_document}
    loads = loads_of(plan.places)
    counts = [loads[judge] for judge in PEOPLE[:4]]
    assert max(counts) - min(counts) <= max(sizes)


@pytest.mark.parametrize("seed", range(8))
def test_by_topic_the_largest_topics_are_given_away_first(seed: int) -> None:
    """Two judges of topics of 1, 1 and 2 documents get two each, whatever the seed."""
    options = AssignmentOptions(seed=seed, by="topic")
    plan = plan_assignment(pooled(a=1, b=1, c=2), PEOPLE[:2], options)
    assert loads_of(plan.places) == {"ann": 2, "ben": 2}


def test_by_topic_goes_to_those_who_began_it() -> None:
    """A topic goes to whoever decided most in it; what another decided stays with the other."""
    began = {"t-000": {"ben"}, "t-001": {"ben"}, "t-002": {"cat"}}
    documents = [replace(one, decided=frozenset(began.get(one.docno, ()))) for one in pooled(t=6)]
    options = AssignmentOptions(seed=1, by="topic")
    having = judges_of(documents, plan_assignment(documents, PEOPLE[:3], options).places)
    assert list(having.values()) == [["ben"], ["ben"], ["cat"], ["ben"], ["ben"], ["ben"]]


def test_by_topic_added_documents_go_to_the_topics_judges() -> None:
    """Documents pooled later go to those who have the topic already."""
    for judge in PEOPLE:
        old = [replace(one, holders=frozenset({judge})) for one in pooled(t=4)]
        new = [Assignable("t", f"late-{number}") for number in range(3)]
        options = AssignmentOptions(seed=1, by="topic", existing=Existing.ADD)
        plan = plan_assignment([*old, *new], PEOPLE, options)
        assert [(place.docno, place.judge) for place in plan.places] == [
            (f"late-{number}", judge) for number in range(3)
        ]


def test_by_topic_overlap_brings_other_judges() -> None:
    """Overlap documents of a topic go to its judges, and to others evenly; calibration to all."""
    documents = pooled(t=40)
    options = AssignmentOptions(seed=1, by="topic", overlap=0.5, overlap_judges=3, calibration=2)
    plan = plan_assignment(documents, PEOPLE, options)
    loads = sorted(loads_of(plan.places).values())
    # One has all 40; the 20 of overlap bring two others each, the 2 of calibration all four.
    assert loads == [12, 12, 12, 12, 40]


def test_adding_leaves_documents_with_a_place_alone() -> None:
    """With `ADD`, one place is enough to be left alone: named, or open."""
    documents = [
        Assignable("t", "named", holders=frozenset({"ann"})),
        Assignable("t", "open", n_open=1),
        Assignable("t", "decided", decided=frozenset({"ann"}), holders=frozenset({"ann"})),
        Assignable("t", "begun", decided=frozenset({"ann"})),
        Assignable("t", "new"),
    ]
    options = AssignmentOptions(seed=1, per_document=2, existing=Existing.ADD)
    having = judges_of(documents, plan_assignment(documents, PEOPLE[:2], options).places)
    assert having["t", "named"] == having["t", "decided"] == ["ann"]
    assert having["t", "open"] == []
    assert sorted(having["t", "begun"]) == sorted(having["t", "new"]) == ["ann", "ben"]


def test_order_by_docno_is_bytewise() -> None:
    """Docnos ascend by their bytes, in every judge's queue."""
    docnos = ["a", "B", "é", "日本", "a-1", "\U0001f377", "\uff21"]
    documents = [Assignable("t", docno) for docno in docnos]
    plan = plan_assignment(documents, ["ann"], AssignmentOptions(seed=1))
    assert [place.docno for place in plan.places] == sorted(docnos, key=str.encode)
    assert [place.position for place in plan.places] == list(range(7))
    assert {place.display_order for place in plan.places} == {"docno"}


def numpy_order(documents: Sequence[str], topic: str, seed: int) -> list[str]:
    """Lay documents at random by numpy's own generator: sorted by its raw bits."""
    source = np.random.SeedSequence(seed, spawn_key=tuple(topic.encode()))
    numbers = np.random.PCG64(source).random_raw(len(documents)).tolist()
    return [docno for _, docno in sorted(zip(numbers, documents, strict=True))]


def test_random_order_is_every_judges_own() -> None:
    """No two judges see the same order, and the seed stored with each gives it again."""
    documents = pooled(t=9, u=7)
    options = AssignmentOptions(seed=3, per_document=5, order="random")
    plan = plan_assignment(documents, PEOPLE, options)
    orders = {}
    for judge, topic in product(PEOPLE, ("t", "u")):
        own = [one for one in plan.places if (one.judge, one.topic) == (judge, topic)]
        ((kind, seed),) = {(place.display_order, place.order_seed) for place in own}
        assert [place.position for place in own] == list(range(len(own)))
        assert (kind, type(seed)) == ("random", int)
        shown = [place.docno for place in own]
        assert shown == numpy_order(sorted(shown), topic, int(seed))
        orders[judge, topic] = tuple(shown)
    assert len(set(orders.values())) == 10


def test_priority_order_falls() -> None:
    """The higher priority first, where equal the greater docno; older pools before later ones."""
    facts = [("a", 1, 0.5), ("b", 1, 0.7), ("c", 1, 0.5), ("d", 2, 0.9), ("e", 1, -1.0)]
    documents = [Assignable("t", docno, pool, priority) for docno, pool, priority in facts]
    for options in (
        AssignmentOptions(seed=1, order="priority"),
        AssignmentOptions(seed=1, order="priority", lease_s=60),
    ):
        plan = plan_assignment(documents, ["ann"], options)
        assert [place.docno for place in plan.places] == ["b", "c", "a", "e", "d"]
        assert {place.display_order for place in plan.places} == {"priority"}


@pytest.mark.parametrize("order", ["docno", "random", "priority"])
def test_order_does_not_tell_calibration(order: str) -> None:
    """Calibration and overlap documents lie where they would if they were like all others."""
    documents = [replace(one, priority=float(n % 7)) for n, one in enumerate(pooled(t=20))]
    options = AssignmentOptions(seed=4, per_document=2, order=order)  # type: ignore[arg-type]  # a parameter of the test
    people = PEOPLE[:2]  # both have everything, whatever its purpose
    plain = plan_assignment(documents, people, options)
    hidden = plan_assignment(documents, people, replace(options, calibration=5))
    assert [replace(one, purpose=Purpose.PRIMARY) for one in hidden.places] == plain.places
    assert sum(one.purpose is Purpose.CALIBRATION for one in hidden.places) == 10


def test_places_to_claim_share_one_order() -> None:
    """All places of a document lie at one position of the plan, those of judges who decided too."""
    documents = [*pooled(t=5), Assignable("t", "z", decided=frozenset({"ann"}))]
    options = AssignmentOptions(seed=6, per_document=3, order="random", lease_s=60)
    plan = plan_assignment(documents, PEOPLE[:3], options)
    laid = numpy_order(sorted(one.docno for one in documents), "t", 6)
    assert [(place.docno, place.position) for place in plan.places] == [
        (docno, position) for position, docno in enumerate(laid) for _ in range(3)
    ]
    assert {(place.display_order, place.order_seed) for place in plan.places} == {("random", 6)}
    assert sorted(str(one.judge) for one in plan.places if one.docno == "z") == [
        "None", "None", "ann",
    ]  # fmt: skip


def test_manifest_says_how_it_was_chosen() -> None:
    """Every option, the seed, the judges and the sizes stand in the manifest."""
    options = AssignmentOptions(seed=8, per_document=2, overlap=0.25, calibration=1, lease_s=90)
    plan = plan_assignment(pooled(b=4, a=9), ["ben", "ann"], options)
    assert plan.manifest == {
        "by": "document", "per_document": 2, "overlap": 0.25, "overlap_judges": 3,
        "calibration": 1, "order": "docno", "seed": 8, "lease_s": 90, "existing": "refuse",
        "judges": ["ann", "ben"], "sizes": {"a": 9, "b": 4}, "decided": 0,
        "documents": {"primary": 8, "overlap": 3, "calibration": 2}, "places": 29,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"overlap_judges": 2}, "`overlap_judges` needs --overlap SHARE"),
        (
            {"overlap": 0.5, "overlap_judges": 2, "per_document": 2},
            "`overlap_judges` must be more than --per-document, which is 2, but got 2",
        ),
        ({"by": "topic", "lease_s": 60}, "`by` cannot be `topic` with --claim"),
        ({"per_document": 3}, "`per_document` must be at most the number of judges, which is 2"),
        (
            {"per_document": 2, "overlap": 0.5},
            "`overlap_judges` must be at most the number of judges, which is 2, but got 3",
        ),
        ({"order": "priority"}, "`order` needs priorities, but `t-00"),
    ],
    ids=str,
)
def test_wishes_that_cannot_be_are_refused(wish: dict[str, object], message: str) -> None:
    """Every refusal names the option and what it must be."""
    with pytest.raises(ArgumentError) as caught:
        plan_assignment(
            pooled(t=3),
            ["ann", "ben"],
            AssignmentOptions(**{"seed": 1, **wish}),  # type: ignore[arg-type]  # from a table
        )
    assert message in caught.value.message


def test_nobody_to_assign_to_is_refused() -> None:
    """Without judges nothing can be assigned by name, nor calibration for all of them."""
    for options in (AssignmentOptions(seed=1), AssignmentOptions(seed=1, lease_s=60, calibration=1)):
        with pytest.raises(PoolerError, match="there is no judge") as caught:
            plan_assignment(pooled(t=3), [], options)
        assert caught.value.hint == "pooler judges add NAME"
    claims = AssignmentOptions(seed=1, lease_s=60, per_document=2)
    assert len(plan_assignment(pooled(t=3), [], claims).places) == 6


def test_nothing_to_plan_makes_no_place() -> None:
    """An empty pool, and documents with judges enough, make an empty plan."""
    options = AssignmentOptions(seed=1)
    assert plan_assignment([], ["ann"], options).places == []
    seated = Assignable("t", "d", decided=frozenset({"ann"}), holders=frozenset({"ann"}))
    assert plan_assignment([seated], ["ann", "ben"], options).places == []
