"""Whether the ids of two sources that are joined meet, and what would make them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Literal, NamedTuple
from unicodedata import normalize

import numpy as np

from pooler.messages import warn
from store.errors import ArgumentError, PoolerError
from store.text import Pairs, counted, look_alike_words, look_alikes, natural_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.pools.runs import RunSet, TopicRuns
    from store.analysis.arrays import Grades, RankedDocuments
    from store.collection import Collection
    from store.errors import FaultList
    from store.grades.file_votes import FileVotes
    from store.records import Document, Order

_LOOKED_AT = 1000
"""Ids that are tried with every change."""
TRIED = 20
"""Documents of a ranking that are tried: those at the top are the most likely to be judged."""
_GOOD_SHARE = 0.1
"""Of documents that must meet by a change; less may be chance, as of a run most are unjudged."""
_SHOWN = 3
_HINT = "write them alike in both, or name sources that belong together"


class Ids(NamedTuple):
    """Ids, and the source that has them, as a sentence names it."""

    where: str
    names: Set[str]


_CHANGES: dict[str, Callable[[str], str]] = {
    "in one Unicode normal form": partial(normalize, "NFC"),
    "in one case": str.casefold,
    "without quotation marks": lambda name: name.strip("\"'"),
    "without an ending such as `.txt`": partial(re.compile(r"(\.[A-Za-z][A-Za-z0-9]{0,4})+$").sub, ""),
    "without a part `.N` at the end": partial(re.compile(r"\.[0-9]+$").sub, ""),
    "without leading zeros": partial(re.compile(r"(?<![0-9])0+(?=[0-9])").sub, ""),
}
"""What is often done to ids, in words."""


def _change_all(name: str) -> str:
    for change in _CHANGES.values():
        name = change(name)
    return name


@dataclass(frozen=True, slots=True)
class Fit:
    """A change by which ids of two sources would meet."""

    how: str
    n: int
    n_tried: int
    pair: tuple[str, str]
    """One id of each source."""

    @property
    def is_good(self) -> bool:
        """Whether so many would meet that it is not by chance."""
        return self.n >= _GOOD_SHARE * self.n_tried

    def __str__(self) -> str:
        return f"{self.how}, {self.n:,} of {self.n_tried:,} would meet ({_shown(self.pair, ' and ')})"


def find_fit(ours: Iterable[str], theirs: Iterable[str], *, is_good: bool = False) -> Fit | None:
    """Find the change by which most of `ours`, of which the first are tried, would be among `theirs`.

    `is_good`: only one that is.

    >>> print(find_fit(["1", "2"], ["001", "002"]))
    without leading zeros, 2 of 2 would meet (`1` and `001`)
    """
    tried, known = [*islice(ours, _LOOKED_AT)], sorted(theirs, reverse=True)  # the first name wins
    best: Fit | None = None
    for how, change in (_CHANGES | {"by several such changes": _change_all}).items():
        changed = {key: name for name in known if (key := change(name))}
        pairs = [(name, changed[key]) for name in tried if (key := change(name)) in changed]
        pairs = [pair for pair in pairs if pair[0] != pair[1]]
        if len(pairs) > (0 if best is None else best.n):
            best = Fit(how, len(pairs), len(tried), pairs[0])
    return best if best is None or best.is_good or not is_good else None


def check_topics(ours: Ids, theirs: Ids, *, shares: Literal["both", "ours", "fit"] = "both") -> None:
    """Raise `PoolerError` where no topic of one source is in the other; warn where a share is not.

    A share of one side, or of both, may be as it should be: then it is warned of only where a change of ids
    would make more meet.
    """
    if not (ours.names and theirs.names) or ours.names == theirs.names:
        return
    here, there = (
        sorted(one.names - other.names, key=natural_key) for one, other in ((ours, theirs), (theirs, ours))
    )
    fit = find_fit(here, theirs.names) or find_fit(there, ours.names)
    if len(here) == len(ours.names):
        raise no_meeting("topic", ours, theirs, fit)
    if fit is not None or shares == "both" or (shares == "ours" and here):
        warn("; ".join([*_share(here, ours, theirs), *_share(there, theirs, ours), *_told(fit)]))


def no_meeting(noun: str, ours: Ids, theirs: Ids, fit: Fit | None) -> PoolerError:
    """Return the error that no id of one source is in the other."""
    return PoolerError(no_meeting_words(noun, ours, theirs), hint="; ".join([*_told(fit), _HINT]))


def no_meeting_words(noun: str, ours: Ids, theirs: Ids) -> str:
    """Say that no id of one source is in the other, with examples of both."""
    here, there = (_shown(sorted(one.names, key=natural_key)) for one in (ours, theirs))
    return f"no {noun} of {ours.where} is in {theirs.where}: {here} here, {there} there"


def _share(alone: Sequence[str], ours: Ids, theirs: Ids) -> list[str]:
    of_all = counted(len(ours.names), "topic")
    words = f"{len(alone):,} of {of_all} of {ours.where} not in {theirs.where}: {_shown(alone)}"
    return [words] if alone else []


def _told(fit: Fit | None) -> list[str]:
    return [] if fit is None else [str(fit)]


def _shown(names: Sequence[str], between: str = ", ") -> str:
    """Name the first ids, escaped where two that look the same may differ."""
    words = [f"`{name}`" if name.isascii() else ascii(name) for name in names[:_SHOWN]]
    return between.join(words) + (", ..." if len(names) > _SHOWN else "")


def other_forms(docnos: Set[str]) -> set[str]:
    """Return the docnos that look the same as some, in another Unicode normal form."""
    unusual = set() if "".join(docnos).isascii() else {docno for docno in docnos if not docno.isascii()}
    return {normalize(form, docno) for docno in unusual for form in ("NFC", "NFD")} - unusual


def check_measured(
    ranked: RankedDocuments, topics: Ids, docnos: Set[str], tops: Callable[[Sequence[str]], RunSet]
) -> None:
    """Refuse or doubt runs and qrels whose ids do not meet; see `_check_judged`."""
    if not docnos:
        raise ArgumentError("qrels", "must judge one document or more", None)
    numbers = np.fromiter(map(ranked.ids.get, docnos, repeat(-1)), np.int64)
    numbers = numbers[numbers >= 0]
    _check_judged(ranked, topics, numbers, lambda: docnos, tops)
    if forms := {ranked.ids[form]: form for form in other_forms(docnos) if form in ranked.ids}:
        seen = np.unique(np.concatenate([*ranked.rankings.values()]))
        met = [form for number, form in forms.items() if number in seen]
        doubt_forms(look_alikes(met, {*met, *docnos}))


def doubt_forms(found: Pairs) -> None:
    """Warn of docnos that look the same, if any."""
    if found:
        warn(look_alike_words(found))


def check_stored(opened: Collection, ranked: RankedDocuments, grades: Grades, order: Order) -> None:
    """Refuse runs of a collection of which nothing is judged, and doubt those that seem to be."""
    from pooler.pools.runs import stored_runs

    numbers = np.concatenate([np.empty(0, np.int64), *(those for those, _ in grades.values())])
    _check_judged(
        ranked,
        Ids("the judgements", grades.keys()),
        numbers,
        lambda: {*opened.documents.names(numbers.tolist()).values()},
        lambda tags: stored_runs(opened, tags=tags, depth=TRIED, order=order),
        is_live=True,
    )


def _check_judged(
    ranked: RankedDocuments,
    topics: Ids,
    numbers: NDArray[np.integer],
    judged_docnos: Callable[[], Set[str]],
    tops: Callable[[Sequence[str]], RunSet],
    *,
    is_live: bool = False,
) -> None:
    """Raise `PoolerError` where no document of the runs is judged at all, and warn of runs that have none.

    `numbers` are those of the judged documents, whose docnos `judged_docnos` gives; `topics` those that are
    measured; `tops` gives the first documents of some runs. Of single rankings without a judged document, and
    while judging goes on (`is_live`), most is as it should be: these are told only where a change of docnos
    would make many meet.
    """
    met = {topic for _, topic in ranked.rankings}
    check_topics(Ids("the runs", met), topics, shares="fit" if is_live else "both")
    is_judged = np.zeros(int(numbers.max(initial=0)) + 1, np.bool_)
    is_judged[numbers] = True
    n_rankings: Counter[str] = Counter()
    without: dict[str, set[str]] = {}
    for (tag, topic), documents in ranked.rankings.items():
        if topic in topics.names and documents.size:
            n_rankings[tag] += 1
            if not is_judged[documents[documents < is_judged.size]].any():
                without.setdefault(tag, set()).add(topic)
    if not without:
        return
    whole = [tag for tag, those in without.items() if len(those) == n_rankings[tag]]
    judged, runs = Ids(topics.where, judged_docnos()), tops([*without])
    first: dict[str, list[str]] = {tag: [] for tag in without}
    for of_topic in map(runs.of_topic, runs.topics):
        for row, run in enumerate(of_topic.runs):
            tag = runs.feeding[run].tag
            first[tag] += _documents_of(of_topic, row) if of_topic.rankings.topic in without[tag] else []
    if whole:
        ours = [docno for tag in whole for docno in first[tag]]
        fit = find_fit(dict.fromkeys(ours), judged.names)
        is_told = not is_live or (fit is not None and fit.is_good)
        if is_told and len(whole) == len(n_rankings):
            raise no_meeting("document", Ids("the runs", {*ours}), judged, fit)
        if is_told:
            named = f"run {whole[0]}" if len(whole) == 1 else f"{len(whole):,} runs, as {whole[0]}"
            warn("; ".join([no_meeting_words("document", Ids(named, {*ours}), judged), *_told(fit)]))
    some = [tag for tag in without if tag not in whole]
    ours = [docno for tag in some for docno in first[tag]]
    if (fit := find_fit(dict.fromkeys(ours), judged.names, is_good=True)) is not None:
        n_without = counted(sum(len(without[tag]) for tag in some), "ranking")
        warn(f"{n_without}, as of run {some[0]}, without a document of {judged.where}; {fit}")


def check_judges(votes: FileVotes, ranked: RankedDocuments) -> None:
    """Refuse files of which one has no document of the others, where a change of ids would make many meet.

    Judges may have had different documents: without such a change nothing is wrong. Runs must meet them.
    """
    found = votes.votes([one.name for one in votes.judges()], least=1)
    own, docnos = found.votes, [*votes.docnos]
    doubt_forms(look_alikes(docnos, votes.docnos))
    topics, where = {topic for _, topic in ranked.rankings}, "the judgements"
    check_topics(Ids("the runs", topics), Ids(where, votes.topics.keys()), shares="fit")
    judged = Ids(where, {docnos[number] for number in found.document_numbers.tolist()})
    if topics and judged.names and judged.names.isdisjoint(ranked.ids):
        ours = Ids("the runs", ranked.ids.keys())
        raise no_meeting("document", ours, judged, find_fit(ours.names, judged.names))
    is_shared = np.bincount(own.documents, minlength=own.n_documents) > 1
    for code, judge in enumerate(own.judges):
        is_own = own.judge_codes == code
        documents = own.documents[is_own], own.documents[~is_own]
        if is_shared[documents[0]].any():
            continue
        noun, sides = "topic", [{own.topics[code] for code in own.topic_codes[those]} for those in documents]
        if not sides[0].isdisjoint(sides[1]):
            noun = "document"
            sides = [{docnos[number] for number in found.document_numbers[those]} for those in documents]
        fit = find_fit(sorted(sides[0], key=natural_key), sides[1], is_good=True)
        if fit is not None:
            raise no_meeting(noun, Ids(f"judge {judge}", sides[0]), Ids("the other judges", sides[1]), fit)


def add_unknown(opened: Collection, faults: FaultList, topics: Iterable[str], docnos: Iterable[str]) -> bool:
    """Add a fault where judgements name topics or docnos that a collection does not have; say whether.

    Either has a name for each line. Known is what a text, run, pool or judgement has. Without any text, as
    where few of many runs are in, some may be unknown, but not all: some are warned of as shares are.
    """
    n_before, has_runs = len(faults), bool(opened.runs.all())
    for noun, names, listed, known in (
        ("topic", topics, opened.topics.listed(), {one.topic for one in opened.topics.all()}),
        ("docno", docnos, opened.documents.listed(), opened.documents.numbers().keys()),
    ):
        n_lines = Counter(names)
        unknown = [name for name in n_lines if name not in known]
        if not (unknown and known and (listed or has_runs)):
            continue
        fit = find_fit(unknown, known)
        lines = counted(sum(n_lines[name] for name in unknown), "line")
        words = f"{len(unknown):,} of {counted(len(n_lines), noun)} ({lines}) not in the collection"
        words = "; ".join([f"{words}: {_shown(unknown)}", *_told(fit)])
        if listed or len(unknown) == len(n_lines):
            faults.add(None, words, f"unknown-{noun}")
        elif noun == "topic" or (fit is not None and fit.is_good):
            warn(f"{faults.path}: {words}")
    return len(faults) > n_before


def watched(file: str, documents: Iterable[Document], known: Set[str]) -> Iterator[Document]:
    """Yield the documents of a file; doubt it at the end where none of them is known.

    Where a change of docnos would make many known, that is a `PoolerError`.
    """
    unknown: list[str] = []
    n_known = 0
    for document in documents:
        n_known += document.docno in known
        if not n_known and len(unknown) < _LOOKED_AT:
            unknown.append(document.docno)
        yield document
    if known and unknown and not n_known:
        here, there = Ids(file, {*unknown}), Ids("the collection", known)
        if (fit := find_fit(unknown, known, is_good=True)) is not None:
            raise no_meeting("document", here, there, fit)
        warn(no_meeting_words("document", here, there))


def _documents_of(of_topic: TopicRuns, row: int) -> list[str]:
    from store.analysis.pools.contributions import NO_DOCUMENT

    numbers = of_topic.rankings.documents[row, :TRIED]
    return [of_topic.docnos[number] for number in numbers[numbers != NO_DOCUMENT].tolist()]


def _meet(of_topic: TopicRuns, _given: None) -> tuple[list[int], Pairs, dict[int, Fit]]:
    from store.analysis.pools.contributions import NO_DOCUMENT

    docnos, rankings, fits = of_topic.docnos, of_topic.rankings, {}
    # The padding takes the last element.
    n_runs = np.append(rankings.n_returning(), 1)
    for row in np.flatnonzero((n_runs[rankings.documents] == 1).all(axis=1)).tolist():
        own = {docnos[number] for number in rankings.documents[row].tolist() if number != NO_DOCUMENT}
        others = [docno for docno in docnos if docno not in own]
        if (fit := find_fit(_documents_of(of_topic, row), others, is_good=True)) is not None:
            fits[of_topic.runs[row]] = fit
    alike = {} if all(map(str.isascii, docnos)) else look_alikes(docnos, {*docnos})
    return of_topic.runs, alike, fits


def check_runs(runs: RunSet, *, is_live: bool = False) -> None:
    """Raise `PoolerError` where ids of a run that is pooled are in no other one, and warn of doubtful ones.

    Docnos of one run alone are usual: they are told where a change would make them another's. So are topics
    where runs come in rounds (`is_live`).
    """
    found = dict(zip(runs.topics, runs.for_each_topic(_meet, dict.fromkeys(runs.topics)), strict=True))
    of_run: dict[int, set[str]] = {}
    for topic, (places, _, _) in found.items():
        for run in places:
            of_run.setdefault(run, set()).add(topic)
    if len(of_run) < 2:
        return
    where = {run: f"run {runs.feeding[run].tag}" for run in of_run}
    shared = {topic for topic, (places, _, _) in found.items() if len(places) > 1}
    for run, topics in sorted(of_run.items()):
        others = Ids("the other runs", {*chain(*(those for other, those in of_run.items() if other != run))})
        if topics.isdisjoint(shared) and not (is_live and find_fit(topics, others.names) is None):
            check_topics(Ids(where[run], topics), others)
        fits = [those[run] for _, _, those in found.values() if run in those]
        if fits and len(fits) == len(topics):
            message = f"no document of {where[run]} is one of the other runs for the same topic"
            raise PoolerError(message, hint=f"{fits[0]}; {_HINT}")
    if alone := sorted(found.keys() - shared, key=natural_key):
        fit = find_fit(alone, found)
        n_alone = f"{len(alone):,} of {counted(len(found), 'topic')} of one run alone"
        warn("; ".join([f"{n_alone}: {_shown(alone)}", *_told(fit)]))
    doubt_forms({key: pair for _, alike, _ in found.values() for key, pair in alike.items()})
    if doubts := [(where[run], fit) for _, _, those in found.values() for run, fit in those.items()]:
        rankings = counted(len(doubts), "ranking")
        warn(f"{rankings}, as of {doubts[0][0]}, without a document of the other runs; {doubts[0][1]}")
