"""Near-duplicate documents, the classes that they make, contradicting grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, QrelsName, Stored, command
from pooler.files import WritesFile, check_out
from pooler.judge_kinds import warn_about_voters
from pooler.messages import progress, say
from pooler.result import Later, Message, Result, fields_of, frozen_settings
from pooler.tables import DOCNO, GRADE, JUDGE, REASON, TOPIC, Column, Table
from pooler.version import __version__
from store.analysis.duplicates import (
    NearPairs,
    ShingleSets,
    as_threshold,
    components,
    least_shared,
    near_pairs,
    pair_consistency,
    shingle_sets,
)
from store.errors import ArgumentError, UnknownNameError
from store.formats.pairs import classes_facts
from store.text import counted, natural_key

if TYPE_CHECKING:
    from store.collection import Collection

Pair = tuple[str, str]


@command
def duplicates(
    collection: Stored,
    *,
    threshold: Annotated[
        float | str | Fraction, Option("--threshold J", read=lambda _name, text: text)
    ] = "0.8",
    topics: Annotated[Sequence[str], Option("--topic TOPIC", default="all")] = (),
    classes: Annotated[str | None, Option("--classes FILE")] = None,
    qrels: QrelsName = None,
) -> Duplicates:
    """Find near-duplicate documents, and compare their grades.

    Every pair of pooled documents with a Jaccard coefficient of J or more is found; a cluster is the
    documents that such pairs join. With the FILE of --classes, `pooler pool --one-of FILE` pools one document
    of each, and `pooler export qrels --one-of FILE` gives its grade to the others.

    Example: pooler duplicates

    Example: pooler duplicates --classes near.txt

    threshold : Least Jaccard of two documents' shingles, in (0, 1].
    topics : Compare grades of this topic alone; may be repeated.
    classes : Compare all texts of the collection, pooled or not, and write the clusters here: a line `docno
        class` each document.

    Raises
    ------
    ArgumentError
        If the threshold is not in (0, 1].
    UnknownNameError
        If there is no such topic.

    Notes
    -----
    Every pair is found: `store.analysis.duplicates.near_pairs`.

    Examples
    --------
    >>> from pooler import duplicates
    >>> duplicates("collection.db").facts()["clusters"]  # doctest: +SKIP
    3
    """
    if classes == "-":
        raise ArgumentError("classes", "must be a file: tables go to stdout", classes)
    check_out(classes, None)
    least = as_threshold(threshold)
    known = [one.topic for one in collection.topics.all()]
    for topic in topics:
        if topic not in known:
            raise UnknownNameError("topic", topic, known)
    compared = _compare(collection, least, pooled=classes is None)
    judged = _Judged.of(collection, topics, qrels)
    found = Duplicates(
        compared=compared,
        consistency=tuple(judged.consistency(compared)),
        contradictions=tuple(judged.contradictions(compared)),
        settings=frozen_settings(collection=collection.name, threshold=str(threshold), **judged.kinds),
    )
    if classes is not None:
        found.write(classes)
    return found


@dataclass(frozen=True, eq=False)
class Compared:
    """Documents by docno, and how alike they are; places are those of `docnos`."""

    docnos: tuple[str, ...]
    sets: ShingleSets
    pairs: NearPairs
    """Of documents that are no `twins` of an earlier one."""
    threshold: Fraction
    without_text: int

    @cached_property
    def clusters(self) -> list[list[int]]:
        """Places of the documents of every cluster of two or more, by the first docno."""
        members: dict[int, list[int]] = {}
        for place, first in enumerate(components(self.pairs, self.sets.twins).tolist()):
            members.setdefault(first, []).append(place)
        return [places for places in members.values() if len(places) > 1]

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The number of its cluster, from 1, of every document that has near-duplicates."""
        numbered = enumerate(self.clusters, 1)
        return {self.docnos[place]: str(number) for number, places in numbered for place in places}

    @cached_property
    def _near(self) -> dict[tuple[int, int], float]:
        columns = (self.pairs.first, self.pairs.second, self.pairs.shared, self.pairs.united)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return {(first, second): shared / united for first, second, shared, united in rows}

    def similarity(self, one: int, other: int) -> float | None:
        """Return the Jaccard coefficient of two documents that are near; ``None`` = they are not."""
        first, second = sorted((int(self.sets.twins[one]), int(self.sets.twins[other])))
        if first == second:
            return 1.0 if self.sets.sizes[first] else None
        return self._near.get((first, second))


def _compare(collection: Collection, threshold: Fraction, *, pooled: bool) -> Compared:
    n_texts, without_text = collection.documents.count_texts(pooled=pooled)
    docnos: list[str] = []

    def words() -> Iterator[str]:
        for docno, text in collection.documents.texts(pooled=pooled):
            docnos.append(docno)
            yield text

    with progress("texts", n_texts) as advance:
        sets = shingle_sets(words(), advance=advance)
    lacking = f"; {counted(without_text, 'document')} without a text" if without_text else ""
    if without_text and not n_texts:
        lacking += ": pooler import docs FILE imports the texts"
    say(f"{counted(n_texts, 'text')}, {int(sets.sizes.sum()):,} shingles compared{lacking}")
    return Compared(tuple(docnos), sets, near_pairs(sets, threshold), threshold, without_text)


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The grades of the judges who count."""

    votes: Mapping[Pair, Mapping[str, int]]
    rulings: Mapping[Pair, int | None]
    """``None`` = ruled that it cannot be judged."""
    values: Sequence[int]
    kinds: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, collection: Collection, topics: Sequence[str], qrels: str | None) -> _Judged:
        found = collection.grades.all_votes(collection.qrels.named(qrels).definition)
        warn_about_voters(found.voters, is_headed=True)
        pairs = found.pairs
        votes: dict[Pair, dict[str, int]] = {}
        places = found.rows[found.votes.documents].tolist() if found.votes.n_documents else []
        graded = zip(places, found.votes.judge_codes.tolist(), found.votes.places.tolist(), strict=True)
        for index, judge, place in graded:
            if not topics or pairs[index][0] in topics:
                votes.setdefault(pairs[index], {})[found.votes.judges[judge]] = found.scale.values[place]
        rulings = {pairs[index]: one.given_grade for index, one in found.rulings.items()}
        return cls(votes, rulings, found.scale.values, found.voters.to_json())

    def _near(self, compared: Compared) -> Iterator[tuple[str, str, str, float]]:
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
                similarity = compared.similarity(place_of[first], place_of[second])
                if similarity is not None:
                    yield topic, first, second, similarity

    def consistency(self, compared: Compared) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of how alike the grades of some pairs are."""
        by_judge: dict[str, list[tuple[int, int]]] = {}
        by_two: list[tuple[int, int]] = []
        for topic, first, second, _ in self._near(compared):
            ones, others = self.votes.get((topic, first), {}), self.votes.get((topic, second), {})
            for judge in sorted(ones.keys() & others.keys()):
                by_judge.setdefault(judge, []).append((ones[judge], others[judge]))
            by_two += [(ones[a], others[b]) for a in ones for b in others if a != b]
        same = [pair for votes in self.votes.values() for pair in combinations(votes.values(), 2)]
        groups: list[tuple[str, str | None, list[tuple[int, int]]]]
        groups = [("near-duplicates, one judge", judge, by_judge[judge]) for judge in sorted(by_judge)]
        if len(by_judge) > 1:
            groups.append(("near-duplicates, one judge", None, [*chain(*by_judge.values())]))
        if by_two:
            groups.append(("near-duplicates, two judges", None, by_two))
        if same and (by_judge or by_two):
            groups.append(("one document, two judges", None, same))
        for of, who, pairs in groups:
            found = pair_consistency(pairs, self.values)
            yield {"of": of, "judge": who, "share": found.share} | fields_of(found)

    def contradictions(self, compared: Compared) -> Iterator[Mapping[str, Any]]:
        """Yield near-duplicates of a topic that have each one grade of all judges, and not the same."""
        for topic, first, second, similarity in self._near(compared):
            (one, by_one), (other, by_other) = self._grade(topic, first), self._grade(topic, second)
            if one is not None and other is not None and one != other:
                grades = {"grade": one, "other_grade": other, "settled": by_one and by_other}
                yield {"topic": topic, "docno": first, "other": second, "similarity": similarity} | grades

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
class Duplicates(WritesFile, Result):
    """Near-duplicates of a collection.

    Tables: `clusters`; `documents`, a row a document of a cluster; `consistency`, how alike near-duplicates
    were graded; `contradictions`.
    """

    compared: Compared
    """All that was compared, and every near pair."""
    consistency: tuple[Mapping[str, Any], ...]
    contradictions: tuple[Mapping[str, Any], ...]

    def _tables(self) -> Iterator[Later]:
        yield Later(self._clusters)
        yield Later(self._documents)
        yield Later(self._consistency)
        yield Later(self._contradictions)

    def closing(self) -> Sequence[Message]:
        """Return where the classes are, or what writes them."""
        classes = self.settings["classes"]
        if classes is not None:
            n_classes = counted(len(self.compared.clusters), "class", "classes")
            return [("say", f"{classes}: {counted(len(self.labels), 'document')} in {n_classes}")]
        words = "--classes FILE writes the clusters, of which `pooler pool --one-of` pools one document each"
        return [("say", words)] if self.labels else []

    @property
    def labels(self) -> Mapping[str, str]:
        """The number of its cluster of every document that has near-duplicates."""
        return self.compared.labels

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What is written beside the classes."""
        facts = {name: self.facts()[name] for name in ("threshold", "without_text")}
        program = {"tool": "pooler", "version": __version__, "collection": self.settings["collection"]}
        return {**program, **facts, "compared": len(self.compared.docnos), **classes_facts(self.labels)}

    def file_lines(self) -> Iterator[str]:
        """Return the clusters as classes, a line `docno class` each document."""
        return (f"{docno} {label}" for docno, label in self.labels.items())

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
            "contradictions": len(self.contradictions),
        }

    def shown(self) -> tuple[str, ...]:
        """Return the tables that have something to say."""
        return ("clusters", *(name for name in ("consistency", "contradictions") if getattr(self, name)))

    def _clusters(self) -> Table:
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
        notes = [
            f"{counted(facts['documents'], 'document')} compared: {facts['in_clusters']:,} in"
            f" {counted(len(rows), 'cluster')} of near-duplicates (Jaccard {facts['threshold']:g} or more)"
        ]
        if any(row["least"] is None for row in rows):
            notes.append("no least Jaccard: the cluster has too many pairs to compare")
        if any(row["least"] is not None and row["least"] < facts["threshold"] for row in rows):
            notes.append(
                "a least Jaccard below that: a chain of documents joins the two, each near to the next"
            )
        table = Table.of_rows("clusters", _CLUSTERS, rows, title="Near-duplicates", notes=notes)
        return table.seen_as(of_rows="cluster")

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

    def _consistency(self) -> Table:
        note = "Near-duplicates should fare as one document does with two judges: far below, judging drifts."
        title = "Grades of near-duplicates"
        return Table.of_rows("consistency", _CONSISTENCY, self.consistency, title=title, notes=[note])

    def _contradictions(self) -> Table:
        title = "Near-duplicates with different grades"
        return Table.of_rows("contradictions", _CONTRADICTIONS, self.contradictions, title=title)
