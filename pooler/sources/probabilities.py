"""How likely documents are relevant: probabilities."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pooler.judge_kinds import warn_about_voters
from pooler.messages import Listener, listening, say, warn
from pooler.messages import progress as report_progress
from pooler.sources.judged import Judged
from pooler.sources.source import Source
from pooler.sources.stored import check_no_file_for_a_tag, check_no_files, check_some_run, opened_collection
from pooler.tables import listed
from store.analysis.aggregation import share_probabilities, value_probabilities
from store.analysis.agreement.votes import grade_counts, level_index, n_judges_of
from store.analysis.arrays import cut_by_code
from store.analysis.variation.collection import CollectionVariation, collection_variation
from store.analysis.variation.moments import SUPPOSED, Empty, ProbableRankings, probable_rankings
from store.errors import ArgumentError, PoolerError
from store.formats.pairs import ProbabilityRow, parse_probability, read_probabilities
from store.formats.scale import parse_scale
from store.grades.definition import QrelsDefinition
from store.judging.kinds import Voters
from store.records import Scale
from store.text import counted, natural_key

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments
    from store.collection import Collection

    ByTopic = dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
    """By topic the ids and probabilities of documents."""

HINT = "as in --value 0=0 --value 1=0.8 --value 2=1, or --level 1 for the share of judges"

Values = Mapping[int, float] | Sequence[str]
"""What each grade of a judge is worth: by grade, or as typed, ``1=0.8``."""


def check_any_judged(n_documents: int) -> None:
    """Raise `PoolerError` where judges have graded no document."""
    if not n_documents:
        message = "no judge has judged anything yet"
        raise PoolerError(message, hint="pooler judge makes judgements; pooler import judgements reads them")


def chances(counts: NDArray[np.int64], worth: Mapping[int, float] | None, place: int) -> NDArray[np.float64]:
    """Compute p of documents of how often they have each grade, by what grades are worth.

    Without that, it is the share of their judges at the grade of this place or above.
    """
    if worth is None:
        return share_probabilities(counts, place)
    return value_probabilities(counts, [*worth.values()])


def probabilities_of(
    source: Source, values: Values | None, probabilities: str | None
) -> tuple[Sequence[str], Sequence[str], Sequence[float]]:
    """Return topic, docno and probability of every judged document, topics in natural order.

    Of a collection's judges each document that one graded, whether a run has it or not.
    """
    if probabilities is not None or source.is_of_files:
        with listening(Listener()):  # what there is to say was said
            loaded = load_probable(
                source, values=values, probabilities=probabilities, keep_zero=True, empty="zero"
            )
        rankings = loaded.rankings
        places = [
            (topic, document)
            for topic, judged in enumerate(rankings.judged)
            for document in np.flatnonzero(judged).tolist()
        ]
        p = [float(rankings.probabilities[topic][document]) for topic, document in places]
        return [rankings.topics[topic] for topic, _ in places], loaded.docnos(places), p
    with opened_collection(source.collection) as opened:
        worth = parse_values(values, opened.scale) if values else None
        cut = source.level_of_judges(opened.scale)
        # Every opinion counts, of primary judges and others: a rule but the default one is asked for.
        judges, kinds = source.whose.judges, source.whose.kinds
        every = QrelsDefinition(aggregate="min", judges=judges, kinds=kinds, without_rulings=True)
        tallied = opened.grades.all_votes(every)
        place = level_index(opened.scale, cut)
    return (
        [tallied.topics[code] for code in tallied.topic_codes[tallied.rows].tolist()],
        [tallied.docnos[code] for code in tallied.docno_codes[tallied.rows].tolist()],
        chances(tallied.counts, worth, place).tolist(),
    )


def parse_values(values: Values, scale: Scale | Sequence[int]) -> dict[int, float]:
    """Read what grades are worth, by grade or as in ``1=0.8``; letters of an NTCIR scale are names, too.

    One probability for every grade of the scale, ascending.

    >>> parse_values(["2=1", "0=0", "1=.8"], (0, 1, 2))
    {0: 0.0, 1: 0.8, 2: 1.0}
    >>> parse_values({0: 0, 1: 0.5}, (0, 1))
    {0: 0.0, 1: 0.5}
    """
    texts = _texts(values)
    grades = scale if isinstance(scale, Sequence) else scale.values
    names = {grade: str(grade) for grade in grades}
    if not isinstance(scale, Sequence):
        names |= {one.value: one.label.partition(":")[0] for one in scale.grades if ":" in one.label}
    has_letters = any(name != str(grade) for grade, name in names.items())
    known = {str(grade): grade for grade in grades} | {name: grade for grade, name in names.items()}
    given: dict[int, float] = {}
    for text in texts:
        grade, equals, number = text.partition("=")
        if not equals or grade not in known:
            listed = ", ".join(names.values()) if has_letters else list(grades)
            raise ArgumentError("values", f"must be GRADE=P with a grade of {listed}", text)
        if known[grade] in given:
            raise ArgumentError("values", "must name each grade once", text)
        p = parse_probability(number)
        if p is None:
            raise ArgumentError("values", "must have a probability from 0 to 1", text)
        given[known[grade]] = p
    missing = [grade for grade in grades if grade not in given]
    if missing:
        words = ", ".join(names[grade] for grade in missing)
        hint = f"as in {' '.join(f'--value {name}=P' for name in names.values())}" if has_letters else HINT
        requirement = f"must be given for every grade of the scale; {words} is missing"
        raise ArgumentError("values", requirement, ", ".join(texts), hint=hint)
    return {grade: given[grade] for grade in grades}


def _texts(values: Values | None) -> list[str]:
    if isinstance(values, Mapping):
        return [f"{grade}={p}" for grade, p in values.items()]
    return [*(values or ())]


def parse_unjudged(unjudged: float | str) -> float:
    """Read how likely an unjudged document is relevant.

    >>> parse_unjudged("0.05")
    0.05
    """
    p = parse_probability(str(unjudged))
    if p is None:
        raise ArgumentError("unjudged", "must be a probability from 0 to 1", unjudged)
    return p


TOLD = 0.001
"""Probability of no relevant document above which a topic is named."""
FLAGGED = 0.5
"""Probability above which a topic had better not be one."""


def empty_words(topics: Sequence[str], varied: CollectionVariation) -> list[str]:
    """Say in how many topics nothing may be relevant, above .001 and above .5; sure ones come first."""
    return [words for words, _ in _sentences(topics, varied)]


def say_empty(topics: Sequence[str], varied: CollectionVariation) -> None:
    """Say it on stderr; topics that are likely to be empty are warned of."""
    for words, is_warning in _sentences(topics, varied):
        (warn if is_warning else say)(words)


def _sentences(topics: Sequence[str], varied: CollectionVariation) -> Iterator[tuple[str, bool]]:
    chances = dict(zip(topics, varied.none_relevant.tolist(), strict=True))
    if varied.empty == "zero":
        sure = [topic for topic, chance in chances.items() if chance == 1]
        chances = {topic: chance for topic, chance in chances.items() if chance < 1}
        if sure:
            place = f"in {len(sure):,} of {counted(len(topics), 'topic')}"
            rule = "AP is 0 there (--empty given|zero)"
            yield f"{place} no document can be relevant ({listed(sure, 3)}); {rule}", True
    topics_told = [topic for topic, chance in chances.items() if chance > TOLD]
    if not topics_told:
        return
    most = max(topics_told, key=chances.__getitem__)
    rule = "are left out" if varied.empty == "given" else "count with an AP of 0"
    place = "it is possible that nothing is relevant"
    most_likely = f"most likely in {most}: {_percent(chances[most])}"
    where = f"in {len(topics_told):,} of {counted(len(topics), 'topic')} {place} ({most_likely})"
    yield f"{where}; such outcomes {rule} (--empty given|zero)", False
    flagged = [topic for topic in topics_told if chances[topic] > FLAGGED]
    if flagged:
        likely = "it is more likely than not that nothing is relevant; better leave the topic out"
        yield f"{listed(flagged, 3)}: {likely}", True


def _percent(chance: float) -> str:
    """Write a probability in per cent, with a digit more where it is small."""
    return f"{chance:.0%}" if chance >= 0.1 else f"{chance:.1%}"


_FILES_HINT = "run files need --qrels FILE or --probabilities FILE; without them, RUN is the tag of a run"
_VARY = "--value says what one judge's grade is worth"
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class Probable:
    """Runs beside probabilities, and what their documents are called."""

    rankings: ProbableRankings
    ranked: RankedDocuments
    unranked: Mapping[tuple[str, int], str]
    """Docno by topic and id of the documents that are in no run file; empty for a collection."""
    voters: Voters
    """Whose grades these are, and who was left out; for files unknown."""
    n_left_out: int
    """Topics that are not among `rankings`, as no document of theirs can be relevant."""
    collection: str | Collection | None
    """Where docnos are that `ranked` lacks; ``None`` = the runs are files."""
    settings: Mapping[str, Any]
    """What was read, and what makes the probabilities."""

    def docnos(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Return what documents are called, by topic and document of `rankings`."""
        ids = [int(self.rankings.ids[topic][document]) for topic, document in places]
        if self.collection is not None:
            with opened_collection(self.collection) as opened:
                names = opened.documents.names(ids)
            return [names[one] for one in ids]
        topics = self.rankings.topics
        return [
            self.ranked.docnos[one] if one in self.ranked.docnos else self.unranked[topics[topic], one]
            for (topic, _), one in zip(places, ids, strict=True)
        ]


def load_probable(
    source: Source,
    *,
    cutoff: int = 1000,
    values: Values | None = None,
    probabilities: str | Path | None = None,
    unjudged: float | str = 0,
    keep_zero: bool = False,
    extra_relevant: int = 0,
    empty: Empty = "given",
    judged: Judged | None = None,
) -> Probable:
    """Read runs and how likely their documents are relevant, and say where that is from.

    Of a collection the judges and the level count; what else says whose judgements count is about one grade a
    document, and there is none here. With a file of `probabilities`, runs that are neither of a collection
    nor beside qrels are files alone. `values`: default the share of judges at the level, by default the
    relaxed one; of qrels, 1 at the level and 0 below. `empty`: whether topics in which no document can be
    relevant are left out, which is said, or stay with an AP of 0. `judged`: what was read of the source
    already.

    Topics are those with a judgement or a line of probabilities, in natural order.
    """
    default = parse_unjudged(unjudged)
    probabilities = None if probabilities is None else os.fspath(probabilities)
    texts = _texts(values)
    if probabilities is not None and texts:
        raise ArgumentError("values", "and --probabilities exclude each other", texts[0])
    read = _load(source, texts, probabilities, judged)
    probable = probable_rankings(
        list(read.found),
        read.ranked.tags,
        read.ranked.rankings,
        read.found,
        cutoff=cutoff,
        unjudged=default,
        keep_zero=keep_zero,
        extra_relevant=extra_relevant,
    )
    _say_what_varies(probable, unjudged, read.ranked)
    kept = probable if empty == "zero" else with_chances(probable)
    n_left_out = len(probable.topics) - len(kept.topics)
    settings = {
        "values": tuple(texts) or None,
        "probabilities": probabilities,
        "unjudged": unjudged,
        "extra_relevant": extra_relevant,
        "empty": empty,
        "cutoff": cutoff,
        **source.named(),
        "level": read.level,
        "order": source.order,
        **read.voters.to_json(),
    }
    where = None if read.unranked is not None else source.collection
    return Probable(kept, read.ranked, read.unranked or {}, read.voters, n_left_out, where, settings)


def moments(probable: ProbableRankings, empty: Empty = "given") -> CollectionVariation:
    """Compute what `collection_variation` does of all topics, and show how far that has come."""
    with report_progress("topics", len(probable.topics)) as advance:
        return collection_variation(probable.by_topic(), empty=empty, progress=advance)


def with_chances(probable: ProbableRankings) -> ProbableRankings:
    """Leave out the topics in which no document can be relevant, and say how many there are."""
    kept = [bool(one.any()) for one in probable.probabilities]
    if not any(kept):
        message = "no document can be relevant"
        hint = "--level sets the least relevant grade, --value how likely a grade is relevant, --unjudged an"
        raise PoolerError(message, hint=f"{hint} unjudged document")
    if not all(kept):
        say(without_words(kept.count(False)))
    of_topics = ("topics", "probabilities", "ranks", "ids", "judged")
    kept_of: dict[str, Any] = {one: tuple(compress(getattr(probable, one), kept)) for one in of_topics}
    return replace(probable, **kept_of)


def without_words(n_left_out: int) -> str:
    """Say how many topics are left out since none of their documents can be relevant."""
    return f"{counted(n_left_out, 'topic')} left out, as no document there can be relevant"


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """Runs, and how likely documents are relevant."""

    ranked: RankedDocuments
    found: ByTopic
    unranked: Mapping[tuple[str, int], str] | None = None
    """Names that no run has; ``None`` = of a collection."""
    voters: Voters = field(default_factory=Voters)
    """Whose grades these are; for files unknown."""
    level: int | None = None
    """Least grade that is relevant, where that decides."""


def _load(source: Source, values: Sequence[str], probabilities: str | None, judged: Judged | None) -> _Read:
    if source.is_of_files:
        judged = judged or source.judged
        if probabilities is None:
            pairs = [(one.topic, one.docno) for one in judged.qrels]
            source.warn_of_codes()
            found = _of_grades(source, values, judged)
            level = None if values else judged.level
            return _Read(judged.ranked, found, _unranked(pairs, judged.ranked.ids), level=level)
        return _Read(judged.ranked, *_of_file(probabilities, judged.ranked.ids, lenient=source.lenient))
    if probabilities is not None and source.option("collection") is None:
        ranked = source.file_rankings
        return _Read(ranked, *_of_file(probabilities, ranked.ids, lenient=source.lenient))
    return _of_collection(source, values, probabilities, judged)


def _of_collection(
    source: Source, values: Sequence[str], probabilities: str | None, judged: Judged | None
) -> _Read:
    runs, collection = source.option("runs"), source.collection
    check_no_files(runs, collection, "there is nothing", _FILES_HINT)
    with opened_collection(collection) as opened:
        check_some_run(check_no_file_for_a_tag(opened, runs, _FILES_HINT))
        voters, level = Voters(), None
        if probabilities is not None:
            found, _ = _of_file(probabilities, opened.documents.numbers(), lenient=source.lenient)
        else:
            from store.grades.votes import refuse_adjudicators

            scale = opened.scale
            worth = parse_values(values, scale) if values else None
            cut = source.level_of_judges(scale)
            whose = source.whose
            voters = opened.grades.voters(whose.judges, whose.kinds)
            adjudicators = [one.name for one in voters.judges if one.kind == "adjudicator"]
            refuse_adjudicators(whose.judges, adjudicators)
            graded = opened.grades.votes(voters.voting, least=1)
            votes, counts = graded.votes, grade_counts(graded.votes)
            check_any_judged(votes.n_documents)
            low, high = (end(counts.sum(axis=1)) for end in (np.min, np.max))
            each = f"{low}" + (f" to {high}" if high > low else "")
            how = f"share of judges at grade {cut} or more" if worth is None else "mean value of grades"
            who = f"{counted(n_judges_of(votes), 'judge')}, {each} a document"
            say(f"{counted(votes.n_documents, 'document')}: p = {how}, {who}")
            p = chances(counts, worth, level_index(scale, cut))
            found = cut_by_code(votes.topics, votes.topic_codes, graded.document_numbers, p)
            level = cut if worth is None else None
            if judged is None or judged.voters.to_json() != voters.to_json():
                warn_about_voters(voters, is_headed=True)
        ranked = (
            opened.runs.ranked(runs, order=source.order, docnos=False) if judged is None else judged.ranked
        )
        return _Read(ranked, found, voters=voters, level=level)


def _of_grades(source: Source, values: Sequence[str], judged: Judged) -> ByTopic:
    by_topic = judged.by_topic()
    n_documents = sum(ids.size for ids, _ in by_topic.values())
    if not values:
        say(f"{counted(n_documents, 'document')}: p = 1 at grade {judged.level} or more, else 0")
        return {
            topic: (ids, (grades >= judged.level).astype(np.float64))
            for topic, (ids, grades) in by_topic.items()
        }
    scale = source.option("scale")
    declared: Scale | list[int]
    if scale is not None:
        declared = parse_scale(scale)
        grades_known = list(declared.values)
    else:
        # No scale is declared: a grade may be named that no document of the file has.
        named = {text.partition("=")[0] for text in values}
        there = np.unique(np.concatenate([one for _, one in by_topic.values()])).tolist()
        declared = grades_known = sorted({*there, *map(int, filter(_WHOLE.fullmatch, named))})
    worth = np.array(list(parse_values(values, declared).values()))
    say(f"{counted(n_documents, 'document')}: p = value of the grade")
    return {
        topic: (ids, worth[np.searchsorted(grades_known, grades)])
        for topic, (ids, grades) in by_topic.items()
    }


def _of_file(
    path: str, ids: Mapping[str, int], *, lenient: bool
) -> tuple[ByTopic, dict[tuple[str, int], str]]:
    """Read probabilities; `ids` are the numbers of documents in the rankings."""
    rows = read_probabilities(path, lenient=lenient).rows
    by_topic: dict[str, list[ProbabilityRow]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    unranked = _unranked([(row.topic, row.docno) for row in rows], ids)
    others = {(topic, docno): number for (topic, number), docno in unranked.items()}
    found = {}
    for topic in sorted(by_topic, key=natural_key):
        lines = by_topic[topic]
        numbers = [ids[line.docno] if line.docno in ids else others[topic, line.docno] for line in lines]
        p = np.array([line.p for line in lines], dtype=np.float64)
        found[topic] = (np.array(numbers, dtype=np.int64), p)
    say(f"{counted(len(rows), 'document')}: p as in {path}")
    return found, unranked


def _unranked(pairs: Sequence[tuple[str, str]], ids: Mapping[str, int]) -> dict[tuple[str, int], str]:
    """Name the documents that no run retrieved, by the number that `grades_by_topic` gives them.

    They count in R and need an id all the same: by their place in the topic, after all others.
    """
    first = 1 + max(ids.values(), default=0)
    places: Counter[str] = Counter()
    names = {}
    for topic, docno in pairs:
        if docno not in ids:
            names[topic, first + places[topic]] = docno
        places[topic] += 1
    return names


def _say_what_varies(probable: ProbableRankings, unjudged: float | str, ranked: RankedDocuments) -> None:
    n_open = sum(int(((p > 0) & (p < 1)).sum()) for p in probable.probabilities)
    n_unjudged = sum(
        int((~judged & (p > 0) & (ids != SUPPOSED)).sum())
        for judged, p, ids in zip(probable.judged, probable.probabilities, probable.ids, strict=True)
    )
    if n_unjudged:
        how = f"within rank {probable.cutoff:,} of a run, p = {unjudged}"
        say(f"{counted(n_unjudged, 'unjudged document')} {how}")
    with_runs = {topic for _, topic in ranked.rankings}
    n_without = sum(topic not in with_runs for topic in probable.topics)
    if n_without:
        warn(f"no run has documents for {counted(n_without, 'topic')}, so AP is 0 there")
    if n_open:
        n_topics = counted(len(probable.topics), "topic")
        say(f"{counted(n_open, 'document')} of {n_topics} may be relevant or not (0 < p < 1)")
    else:
        warn(f"every probability is 0 or 1, so nothing varies; {_VARY}")
