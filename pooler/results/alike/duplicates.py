"""duplicates: near-duplicate documents of pools, what is carried over, contradicting grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, ClassVar

from pooler.results.alike.carried import carried_table
from pooler.results.alike.texts import Compared, compare_texts
from pooler.results.judge_kinds import tell_heard
from pooler.results.result import Progress, Result, frozen, heard, taken
from pooler.results.table import DOCNO, GRADE, JUDGE, REASON, TOPIC, Column, Table, View
from store.errors import ArgumentError
from store.judging.kinds import check_kinds
from store.records import State
from store.text import counted, natural_key

if TYPE_CHECKING:
    from fractions import Fraction

    from store.analysis.duplicates.clusters import PairConsistency
    from store.collection import Collection
    from store.judging.carried import Alike, CarriedOver

Pair = tuple[str, str]
"""Topic and docno."""
THRESHOLD = 0.8
"""That of `store.analysis.duplicates.join`, which is loaded later, as settings show it."""


def duplicates(
    collection: Collection,
    *,
    threshold: float | str | Fraction = THRESHOLD,
    topics: Sequence[str] = (),
    kinds: Sequence[str] = (),
    carry: bool = False,
    release: bool = False,
    progress: Progress | None = None,
) -> Duplicates:
    """Find near-duplicates among the documents of pools, and say how alike they were graded.

    Parameters
    ----------
    collection : Collection
        Open; to carry over or to release, for writing. Documents to be judged, or looked at, are compared
        that have a text.
    threshold : float, str or Fraction, default=0.8
        Least Jaccard of the shingles of two documents, above 0 and at most 1.
    topics : sequence of str, optional
        What is carried over, released and told of judgements is of these; default all.
    kinds : sequence of {"human", "model", "imported"}, optional
        Whose grades are compared; default as everywhere: people, where one has graded.
    carry : bool, default=False
        Show one document of near-duplicates in the place of the others that nobody has looked at yet.
        Only a document that is near to the one shown itself is carried over, whatever chain of others joins
        them. What is carried over stays unjudged.
    release : bool, default=False
        Show every document itself again; nothing is compared.

    Returns
    -------
    Duplicates
        Clusters, their documents, what is carried over, how alike near-duplicates were graded, and
        contradictions: two near-duplicates that each have one grade, and not the same.

    Raises
    ------
    ArgumentError
        If the threshold is not in (0, 1], or both `carry` and `release` are asked for.
    UnknownNameError
        If there is no such topic.

    Notes
    -----
    Every pair is found: `store.analysis.duplicates.join.near_pairs`.

    Examples
    --------
    >>> from store.collection import Collection
    >>> with Collection("collection.db") as opened:  # doctest: +SKIP
    ...     duplicates(opened).facts()["clusters"]
    3
    """
    from store.analysis.duplicates.join import as_threshold

    least = as_threshold(threshold)
    if carry and release:
        raise ArgumentError("carry", "and release exclude each other", None)
    with heard(progress) as said:
        done = None
        _ = collection.duplicates.all(topics)  # topics are known, before anything takes its time
        if release:
            done = collection.duplicates.release(topics)
        compared = compare_texts(None if release else collection, least)
        if carry:
            done = collection.duplicates.carry(_to_carry(collection, compared, topics))
        judged = _Judged.of(collection, topics, kinds)
        grades = judged.consistency(compared)
        contradictions = judged.contradictions(compared)
    return Duplicates(
        compared=compared,
        carried=tuple(collection.duplicates.all(topics, standing=not release)),
        consistency=tuple(grades),
        contradictions=tuple(contradictions),
        done=done,
        settings=frozen(
            collection=collection.name,
            threshold=str(threshold),
            topics=[*topics],
            carry=carry,
            release=release,
            **judged.kinds,
        ),
        warnings=said.warnings,
    )


def _to_carry(collection: Collection, compared: Compared, topics: Sequence[str]) -> list[Alike]:
    """Choose for every topic which documents of a cluster are shown, and in whose place."""
    from store.analysis.duplicates.clusters import stand_ins
    from store.judging.carried import Alike

    looked_at, kept = collection.duplicates.looked_at(), collection.duplicates.kept()
    gone = {(topic, document) for topic, document, _ in kept}
    shown_for_others = {(topic, source) for topic, _, source in kept}
    cluster_of = {
        int(compared.ids[place]): (number, place)
        for number, places in enumerate(compared.clusters)
        for place in places
    }
    members: dict[tuple[int, int], list[int]] = {}
    for topic, document in collection.duplicates.pooled(topics):
        cannot = State.CANNOT in looked_at.get((topic, document), ())
        if document in cluster_of and (topic, document) not in gone and not cannot:
            number, place = cluster_of[document]
            members.setdefault((topic, number), []).append(place)
    several = {key: places for key, places in members.items() if len(places) > 1}
    pairs = {(topic, int(compared.ids[place])) for (topic, _), places in several.items() for place in places}
    runs = _runs_with(collection, pairs)
    found = []
    for (topic, _), places in sorted(several.items()):

        def rank(place: int, topic: int = topic) -> tuple[Any, ...]:
            pair = (topic, int(compared.ids[place]))
            is_graded, is_shown = State.JUDGED in looked_at.get(pair, ()), pair in shown_for_others
            return not is_graded, not is_shown, pair not in looked_at, -runs[pair], compared.docnos[place]

        def near(one: int, other: int) -> bool:
            return compared.alike(one, other) is not None

        for source, others in stand_ins(places, rank, near):
            for place in others:
                pair = (topic, int(compared.ids[place]))
                alike = compared.alike(source, place)
                if alike is None or pair in looked_at or pair in shown_for_others:
                    continue
                hashes = compared.sha256[place], compared.sha256[source]
                found.append(Alike(*pair, int(compared.ids[source]), *alike, *hashes))
    return found


def _runs_with(collection: Collection, pairs: set[tuple[int, int]]) -> Counter[tuple[int, int]]:
    """Count the runs that retrieved each document of a topic, by row ids."""
    counts: Counter[tuple[int, int]] = Counter()
    if not pairs:
        return counts
    documents: dict[int, set[int]] = {}
    for topic, document in pairs:
        documents.setdefault(topic, set()).add(document)
    with collection.as_it_stands() as inside:
        numbers = dict(inside.topics.ids)
    for (_, name), ids in collection.runs.ranked(docnos=False).rankings.items():
        if wanted := documents.get(numbers.get(name, 0)):
            counts.update((numbers[name], one) for one in wanted.intersection(ids.tolist()))
    return counts


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two near-duplicates of a topic that have each one grade, of all who graded it, and not the same."""

    topic: str
    first: str
    second: str
    similarity: float
    first_grade: int
    second_grade: int
    first_ruled: bool
    """Whether the grade is an adjudicator's ruling."""
    second_ruled: bool

    @property
    def is_settled(self) -> bool:
        """Whether an adjudicator has ruled on both: they differ by decision."""
        return self.first_ruled and self.second_ruled


@dataclass(frozen=True, slots=True)
class _GradePairs:
    """How alike the grades of some pairs are."""

    of: str
    judge: str | None
    found: PairConsistency


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The grades of who is heard: what is carried over is not among them."""

    votes: Mapping[Pair, Mapping[str, int]]
    rulings: Mapping[Pair, int | None]
    """``None`` = ruled that it cannot be judged."""
    values: Sequence[int]
    kinds: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, collection: Collection, topics: Sequence[str], kinds: Sequence[str]) -> _Judged:
        """Gather them, of some topics or all."""
        from store.grades.policy import Policy

        found = collection.grades.all_votes(Policy(kinds=check_kinds(kinds)))
        tell_heard(found.heard)
        pairs = found.pairs
        votes: dict[Pair, dict[str, int]] = {}
        places = found.rows[found.votes.documents].tolist() if found.votes.n_documents else []
        graded = zip(places, found.votes.judge_codes.tolist(), found.votes.places.tolist(), strict=True)
        for index, judge, place in graded:
            if not topics or pairs[index][0] in topics:
                votes.setdefault(pairs[index], {})[found.votes.judges[judge]] = found.scale.values[place]
        rulings = {pairs[index]: one.given_grade for index, one in found.rulings.items()}
        return cls(votes, rulings, found.scale.values, found.heard.to_json())

    def _near(self, compared: Compared) -> Iterator[tuple[str, str, str, float]]:
        """Yield topic, two docnos and their Jaccard for all near-duplicates that were both graded."""
        place_of = {docno: place for place, docno in enumerate(compared.docnos)}
        number_of = compared.labels
        members: dict[tuple[str, str], list[str]] = {}
        for topic, docno in [*self.votes, *(one for one in self.rulings if one not in self.votes)]:
            if docno in number_of:
                members.setdefault((topic, number_of[docno]), []).append(docno)
        for (topic, _), docnos in sorted(
            members.items(), key=lambda one: (natural_key(one[0][0]), one[0][1])
        ):
            for first, second in combinations(sorted(docnos), 2):
                alike = compared.alike(place_of[first], place_of[second])
                if alike is not None:
                    yield topic, first, second, alike[0] / alike[1]

    def consistency(self, compared: Compared) -> Iterator[_GradePairs]:
        """Say how alike near-duplicates were graded, by one judge and by two, beside one document by two."""
        from store.analysis.duplicates.clusters import pair_consistency

        by_judge: dict[str, list[tuple[int, int]]] = {}
        by_two: list[tuple[int, int]] = []
        for topic, first, second, _ in self._near(compared):
            ones, others = self.votes.get((topic, first), {}), self.votes.get((topic, second), {})
            for judge in sorted(ones.keys() & others.keys()):
                by_judge.setdefault(judge, []).append((ones[judge], others[judge]))
            by_two += [(ones[a], others[b]) for a in ones for b in others if a != b]
        same = [pair for votes in self.votes.values() for pair in combinations(votes.values(), 2)]
        told: list[tuple[str, str | None, list[tuple[int, int]]]]
        told = [("near-duplicates, one judge", judge, by_judge[judge]) for judge in sorted(by_judge)]
        if len(by_judge) > 1:
            told.append(("near-duplicates, one judge", None, [*chain(*by_judge.values())]))
        if by_two:
            told.append(("near-duplicates, two judges", None, by_two))
        if same and (by_judge or by_two):
            told.append(("one document, two judges", None, same))
        for of, who, pairs in told:
            yield _GradePairs(of, who, pair_consistency(pairs, self.values))

    def contradictions(self, compared: Compared) -> Iterator[Contradiction]:
        """Find the contradictions."""
        for topic, first, second, similarity in self._near(compared):
            (one, by_one), (other, by_other) = self._grade(topic, first), self._grade(topic, second)
            if one is not None and other is not None and one != other:
                yield Contradiction(topic, first, second, similarity, one, other, by_one, by_other)

    def _grade(self, topic: str, docno: str) -> tuple[int | None, bool]:
        """Return the one grade of a document and whether it is ruled; ``None`` = none, or several."""
        if (topic, docno) in self.rulings:
            return self.rulings[topic, docno], True
        grades = set(self.votes.get((topic, docno), {}).values())
        return (grades.pop() if len(grades) == 1 else None), False


_CLUSTERS = (
    Column("cluster", "int"),
    Column("documents", "int"),
    Column("same_words", "int", about="documents with the same words as another one of the cluster"),
    Column("least", "float", about="the least Jaccard of two of its documents", digits=2),
    Column("docnos", "texts", most=60),
)
_DOCUMENTS = (
    Column("cluster", "int"),
    DOCNO,
    Column("twin", about="the first document with the same words, where it is another one"),
)
_CONSISTENCY = (
    Column("of"),
    JUDGE,
    Column("pairs", "int"),
    Column("same", "int", about="pairs with equal grades"),
    Column("share", "float", digits=3),
    Column("alpha", "float", about="Krippendorff's, ordinal", digits=3),
    REASON,
)
_CONTRADICTIONS = (
    TOPIC,
    DOCNO,
    GRADE,
    Column("other"),
    Column("other_grade", "int", "grade"),
    Column("similarity", "float", digits=2),
    Column("settled", "bool", about="an adjudicator ruled on both", show="if_varied", usual=(False,)),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Duplicates(Result):
    """Near-duplicates of a collection.

    Tables: `clusters`; `documents`, a row a document of a cluster; `carried`, what is carried over;
    `consistency`, how alike near-duplicates were graded; `contradictions`.
    """

    compared: Compared
    """All that was compared, and every near pair."""
    carried: tuple[CarriedOver, ...]
    """Not judged: see `store.judging.carried`."""
    consistency: tuple[_GradePairs, ...]
    contradictions: tuple[Contradiction, ...]
    done: int | None
    """Documents that were carried over, or released; ``None`` = nothing of the sort was asked for."""

    NAMES: ClassVar[tuple[str, ...]] = ("clusters", "documents", "carried", "consistency", "contradictions")

    @property
    def labels(self) -> Mapping[str, str]:
        """The number of its cluster of every document that has near-duplicates."""
        return self.compared.labels

    @property
    def disputed(self) -> list[Pair]:
        """Topic and docno of both sides of every contradiction that no adjudicator has settled, each once."""
        pairs = [
            (one.topic, docno)
            for one in self.contradictions
            if not one.is_settled
            for docno in (one.first, one.second)
        ]
        return list(dict.fromkeys(pairs))

    def facts(self) -> Mapping[str, Any]:
        """Count documents, clusters and what they come to."""
        clusters, twins = self.compared.clusters, self.compared.sets.twins.tolist()
        members = [*chain(*clusters)]
        return {
            "threshold": float(self.compared.threshold),
            "documents": len(self.compared.docnos),
            "without_text": self.compared.without_text,
            "clusters": len(clusters),
            "in_clusters": len(members),
            "same_words": sum(twins[place] != place for place in members),
            "near_pairs": int(self.compared.pairs.first.size),
            "carried": sum(one.holds and one.is_pooled for one in self.carried),
            "contradictions": len(self.contradictions),
        }

    def shown(self) -> tuple[str, ...]:
        """Return the tables that have something to say."""
        first = "carried" if self.settings.get("release") else "clusters"
        full = [name for name in self.NAMES[2:] if getattr(self, name)]
        return tuple(dict.fromkeys([first, *full]))

    def sentences(self) -> Iterator[str]:
        """Say what was done, and what could be."""
        if self.settings["carry"]:
            yield f"{counted(self.done or 0, 'document')} carried over: shown to no judge, and not judged"
        elif self.settings["release"]:
            yield f"{counted(self.done or 0, 'document')} released: shown to judges again"
        elif self.compared.clusters:
            yield "nothing is changed; --carry shows one document in the place of its near-duplicates"
        if self.disputed:
            n_open = counted(len(self.disputed), "document")
            yield f"{n_open} of contradictions to settle: pooler adjudicate --duplicates --judge NAME"

    def _clusters(self) -> Table:
        from store.analysis.duplicates.clusters import least_shared

        compared, rows = self.compared, []
        for number, places in enumerate(compared.clusters, 1):
            least = least_shared(compared.sets, places)
            twins = Counter(int(compared.sets.twins[place]) for place in places)
            rows.append(
                {
                    "cluster": number,
                    "documents": len(places),
                    "same_words": sum(n for n in twins.values() if n > 1),
                    "least": None if least is None else least[0] / least[1],
                    "docnos": [compared.docnos[place] for place in places],
                }
            )
        facts = self.facts()
        n_compared = counted(facts["documents"], "document")
        notes = [
            f"{n_compared} compared: {facts['in_clusters']:,} in {counted(len(rows), 'cluster')} of"
            f" near-duplicates (Jaccard {facts['threshold']:g} or more)"
        ]
        if any(row["least"] is None for row in rows):
            notes.append("no least Jaccard: the cluster has too many pairs to compare")
        if any(row["least"] is not None and row["least"] < facts["threshold"] for row in rows):
            notes.append(
                "a least Jaccard below that: a chain of documents joins the two, each near to the next"
            )
        return Table.of_rows("clusters", _CLUSTERS, rows, title="Near-duplicates", notes=notes)

    def _documents(self) -> Table:
        compared = self.compared
        rows = [
            {
                "cluster": number,
                "docno": compared.docnos[place],
                "twin": None if (twin := int(compared.sets.twins[place])) == place else compared.docnos[twin],
            }
            for number, places in enumerate(compared.clusters, 1)
            for place in places
        ]
        return Table.of_rows("documents", _DOCUMENTS, rows)

    def _carried(self) -> Table:
        return carried_table(self.carried)

    def _consistency(self) -> Table:
        rows = [
            {"of": one.of, "judge": one.judge, "share": one.found.share} | taken(one.found)
            for one in self.consistency
        ]
        note = "Near-duplicates should fare as one document does with two judges: far below, judging drifts."
        title = "Grades of near-duplicates"
        return Table.of_rows("consistency", _CONSISTENCY, rows, title=title, notes=[note])

    def _contradictions(self) -> Table:
        return Table.of_records(
            "contradictions",
            _CONTRADICTIONS,
            self.contradictions,
            title="Near-duplicates with different grades",
            docno=lambda one: one.first,
            grade=lambda one: one.first_grade,
            other=lambda one: one.second,
            other_grade=lambda one: one.second_grade,
            settled=lambda one: one.is_settled,
        )

    def _views(self, name: str) -> Sequence[View]:
        return [View(self._table(name), of_rows="cluster" if name == "clusters" else "row")]
