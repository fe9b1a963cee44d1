"""Runs beside the probabilities that their documents are relevant, of a collection or of files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING

from pooler.cli.console import counted, say, warn
from pooler.cli.fitted_curve import fitted_curve
from pooler.cli.judge_kinds import kind_counts, tell_kinds
from pooler.cli.policy_options import names_collection
from pooler.cli.probability_options import BY_RANK, parse_unjudged, parse_values
from pooler.cli.runs_given import entries_of, read_entries
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pooler.cli.given import Given
    from pooler.cli.judged import Judged
    from store.analysis.probable_rankings import ProbableRankings, RankRule
    from store.arrays import RankedDocuments
    from store.tallied_collection import TalliedCollection

    ByTopic = dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
    """By topic the ids and probabilities of documents."""

_FILES_HINT = (
    "--qrels FILE or --probabilities FILE goes with run files; without, RUN is a run tag of a"
    " collection"
)
_VARY = "--value says what one judge's grade is worth"
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class Probable:
    """Runs beside probabilities, and what their documents are called."""

    rankings: ProbableRankings
    ranked: RankedDocuments
    unranked: Mapping[tuple[str, int], str]
    """Docno by topic and id of the documents that are in no run file; empty for a collection."""
    kinds: Mapping[str, int]
    """Judges of each kind whose grades these are, where there are several kinds."""
    collection: str | None
    """Where docnos are that `ranked` lacks; ``None`` = the runs are files."""

    def docnos(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Return what documents are called, by topic and document of `rankings`."""
        ids = [int(self.rankings.ids[topic][document]) for topic, document in places]
        if self.collection is not None:
            from store.collection import Collection

            with Collection(self.collection) as opened:
                names = opened.docnos(ids)
            return [names[one] for one in ids]
        topics = self.rankings.topics
        return [
            self.ranked.docnos[one] if one in self.ranked.docnos
            else self.unranked[topics[topic], one]
            for (topic, _), one in zip(places, ids, strict=True)
        ]  # fmt: skip


def load_probable(
    given: Given,
    *,
    values: Sequence[str] | None = None,
    probabilities: str | None = None,
    unjudged: str = "0",
    keep_zero: bool = False,
    extra_relevant: int = 0,
    judged: Judged | None = None,
) -> Probable:
    """Read runs and how likely their documents are relevant, and say on stderr where that is from.

    Parameters
    ----------
    given : Given
        Of a collection `of`, `level`, `rigid` and `relaxed` count here; the other options on whose
        judgements count are about one grade a document, and there is none here.
    values : sequence of str, optional
        What `--value` was given. Default: the share of judges at the level, by default the relaxed
        one; of qrels, 1 at the level and 0 below.
    probabilities : str, optional
        The file of `--probabilities`. Without `--qrels` the runs are files when some are listed,
        or when the first RUN is a file and no collection is named on the command line.
    unjudged : str, default="0"
        What `--unjudged` was given.
    keep_zero, extra_relevant
        As for `store.analysis.probable_rankings.probable_rankings`.
    judged : Judged, optional
        What `given.load` gave, if it was called, so that no run is read twice; it may be without
        docnos for a collection.

    Returns
    -------
    Probable
        Topics are those in which a document may be relevant, in natural order; how many others
        there are is said.

    Raises
    ------
    ArgumentError
        If options do not go together or have no meaning on the scale.
    FormatError, PoolerError
        If a file has faults; if nothing is judged, or nothing may be relevant; if no curve by rank
        can be fitted.
    """
    from store.analysis.probable_rankings import probable_rankings

    default = parse_unjudged(unjudged)
    if probabilities is not None and values:
        raise ArgumentError("--value", "and --probabilities exclude each other", values[0])
    kinds: dict[str, int] = {}
    ranked, found, unranked = _load(given, values or (), probabilities, judged, kinds)
    topics = list(found)
    rule: float | RankRule
    rule = fitted_curve(ranked, found, given.cutoff) if default is None else default
    probable = probable_rankings(
        topics, ranked.tags, ranked.rankings, found,
        cutoff=given.cutoff, unjudged=rule, keep_zero=keep_zero, extra_relevant=extra_relevant,
    )  # fmt: skip
    _say_what_varies(probable, unjudged, ranked)
    where = None if unranked is not None else given.collection
    return Probable(_with_chances(probable), ranked, unranked or {}, kinds, where)


def _with_chances(probable: ProbableRankings) -> ProbableRankings:
    """Leave out the topics in which no document can be relevant, and say how many there are."""
    kept = [bool(one.any()) for one in probable.probabilities]
    if not any(kept):
        message = "no document has a chance to be relevant"
        raise PoolerError(message, hint="--level, --value or --unjudged says when it has one")
    if not all(kept):
        without = counted(kept.count(False), "topic")
        say(f"{without} left out, in which no document can be relevant")
    return replace(
        probable,
        topics=tuple(compress(probable.topics, kept)),
        probabilities=tuple(compress(probable.probabilities, kept)),
        ranks=tuple(compress(probable.ranks, kept)),
        ids=tuple(compress(probable.ids, kept)),
        judged=tuple(compress(probable.judged, kept)),
    )


def _load(
    given: Given,
    values: Sequence[str],
    probabilities: str | None,
    judged: Judged | None,
    kinds: dict[str, int],
) -> tuple[RankedDocuments, ByTopic, dict[tuple[str, int], str] | None]:
    """Read runs and probabilities by whichever way the options name, and names no run has.

    How many judges of each kind there are goes into `kinds`, where there are several kinds.
    """
    from store.arrays import ranked_documents

    if given.qrels is not None:
        judged = judged or given.load()
        if probabilities is None:
            pairs = [(one.topic, one.docno) for one in judged.qrels]
            found = _of_grades(given, values, judged)
            return judged.ranked, found, _unranked(pairs, judged.ranked.ids)
        return judged.ranked, *_of_file(probabilities, judged.ranked.ids, lenient=given.lenient)
    if probabilities is not None and _are_files(given):
        _check_no_judgements(given)
        entries = entries_of(given.runs or [], given.listed)
        runs = read_entries(entries, lenient=given.lenient)
        ranked = ranked_documents(runs, order=given.order.value)
        return ranked, *_of_file(probabilities, ranked.ids, lenient=given.lenient)
    given.check()
    return *_of_collection(given, values, probabilities, judged, kinds), None


def _of_collection(
    given: Given,
    values: Sequence[str],
    probabilities: str | None,
    judged: Judged | None,
    kinds: dict[str, int],
) -> tuple[RankedDocuments, ByTopic]:
    """Read runs of a collection, and the probabilities by its judges or of a file."""
    from store.tallied_collection import TalliedCollection

    runs = given.runs or []
    files = [run for run in runs if Path(run).is_file()]
    if files and "://" not in given.collection and not Path(given.collection).exists():
        message = f"{files[0]} is a file, and there is nothing to measure it with"
        raise PoolerError(message, hint=_FILES_HINT)
    with TalliedCollection(given.collection) as opened:
        tags = {run.tag for run in opened.runs()}
        for file in files:
            if file not in tags:
                message = f"{file} is a file, and no run tag of the collection"
                raise PoolerError(message, hint=_FILES_HINT)
        if not tags:
            message = "there is no run in the collection"
            raise PoolerError(message, hint="pooler import runs")
        if probabilities is not None:
            ids = opened.document_ids()
            found, _ = _of_file(probabilities, ids, lenient=given.lenient)
        else:
            found, mixture = _of_judges(opened, given, values)
            if judged is None or judged.kinds != mixture:
                tell_kinds(mixture)
            kinds |= mixture
        if judged is not None:
            return judged.ranked, found
        return opened.ranked_documents(runs, order=given.order.value, docnos=False), found


def _are_files(given: Given) -> bool:
    """Say whether runs are files where probabilities are one, and no qrels are named."""
    if names_collection(given.ctx):
        return False
    return given.listed is not None or any(Path(run).is_file() for run in (given.runs or [])[:1])


def _check_no_judgements(given: Given) -> None:
    """Refuse options on judgements where there are run files and probabilities alone."""
    options = {
        "--judge": given.judge,
        "--aggregate": given.aggregate,
        "--ties": given.ties,
        "--collapse": given.collapse,
        "--of": given.of or None,
        "--without-rulings": given.without_rulings or None,
        "--level": given.level,
        "--rigid": given.rigid or None,
        "--relaxed": given.relaxed or None,
        "--scale": given.scale,
    }
    for name, value in options.items():
        if value is not None:
            requirement = "is of judgements; the file already says how likely a document is"
            raise ArgumentError(
                name, f"{requirement} relevant", None, hint="--qrels FILE adds them"
            )


def _of_judges(
    opened: TalliedCollection, given: Given, values: Sequence[str]
) -> tuple[ByTopic, dict[str, int]]:
    """Make probabilities of the grades of a collection's judges, and count judges by kind."""
    from store.analysis.collapse import level_index, level_of
    from store.analysis.relevance_probability import share_probabilities, value_probabilities

    scale = opened.scale
    worth = list(parse_values(values, scale.values).values()) if values else None
    cut = level_of(scale, level=given.level, rigid=given.rigid, relaxed=given.relaxed)
    cut = scale.relaxed if cut is None else cut
    tallied = opened.tallied_grades(tuple(dict.fromkeys(given.of or ())))
    if not tallied.n_documents:
        message = "no judge has judged anything yet"
        raise PoolerError(message, hint="pooler judge, or pooler import judgements")
    place = level_index(scale, cut)
    low, high = tallied.judges_a_document()
    each = f"{low}" + (f" to {high}" if high > low else "")
    how = f"share of judges at grade {cut} or more" if worth is None else "mean value of grades"
    who = f"{counted(len(tallied.judges), 'judge')}, {each} a document"
    say(f"{counted(tallied.n_documents, 'document')}: p = {how}, {who}")
    found = {
        topic: (
            ids,
            share_probabilities(counts, place)
            if worth is None
            else value_probabilities(counts, worth),
        )
        for topic, (ids, counts) in tallied.by_topic.items()
    }
    return found, kind_counts(opened.judges(), tallied.judges)


def _of_grades(given: Given, values: Sequence[str], judged: Judged) -> ByTopic:
    """Make probabilities of one grade a document, of qrels."""
    import numpy as np

    from store.scale import parse_scale

    by_topic = judged.by_topic()
    n_documents = sum(ids.size for ids, _ in by_topic.values())
    if not values:
        say(f"{counted(n_documents, 'document')}: p = 1 at grade {judged.level} or more, else 0")
        return {
            topic: (ids, (grades >= judged.level).astype(np.float64))
            for topic, (ids, grades) in by_topic.items()
        }
    if given.scale is not None:
        grades_known = list(parse_scale(given.scale).values)
    else:
        # No scale is declared: a grade may be named that no document of the file has.
        named = {text.partition("=")[0] for text in values}
        there = np.unique(np.concatenate([one for _, one in by_topic.values()])).tolist()
        grades_known = sorted({*there, *map(int, filter(_WHOLE.fullmatch, named))})
    worth = np.array(list(parse_values(values, grades_known).values()))
    say(f"{counted(n_documents, 'document')}: p = value of the grade")
    return {
        topic: (ids, worth[np.searchsorted(grades_known, grades)])
        for topic, (ids, grades) in by_topic.items()
    }


def _of_file(
    path: str, ids: Mapping[str, int], *, lenient: bool
) -> tuple[ByTopic, dict[tuple[str, int], str]]:
    """Read probabilities; `ids` are the numbers of documents in the rankings."""
    import numpy as np

    from store.formats.probabilities import ProbabilityRow, read_probabilities
    from store.natural_order import natural_key

    rows = read_probabilities(path, lenient=lenient).rows
    by_topic: dict[str, list[ProbabilityRow]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    unranked = _unranked([(row.topic, row.docno) for row in rows], ids)
    others = {(topic, docno): number for (topic, number), docno in unranked.items()}
    found = {}
    for topic in sorted(by_topic, key=natural_key):
        lines = by_topic[topic]
        numbers = [
            ids[line.docno] if line.docno in ids else others[topic, line.docno] for line in lines
        ]
        p = np.array([line.p for line in lines], dtype=np.float64)
        found[topic] = (np.array(numbers, dtype=np.int64), p)
    say(f"{counted(len(rows), 'document')}: p as in {path}")
    return found, unranked


def _unranked(
    pairs: Sequence[tuple[str, str]], ids: Mapping[str, int]
) -> dict[tuple[str, int], str]:
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


def _say_what_varies(probable: ProbableRankings, unjudged: str, ranked: RankedDocuments) -> None:
    """Say how many documents may turn out either way, and warn where none does."""
    from store.analysis.probable_rankings import SUPPOSED

    n_open = sum(int(((p > 0) & (p < 1)).sum()) for p in probable.probabilities)
    n_unjudged = sum(
        int((~judged & (p > 0) & (ids != SUPPOSED)).sum())
        for judged, p, ids in zip(
            probable.judged, probable.probabilities, probable.ids, strict=True
        )
    )
    if n_unjudged and unjudged != BY_RANK:
        how = f"within rank {probable.cutoff:,} of a run, p = {unjudged}"
        say(f"{counted(n_unjudged, 'unjudged document')} {how}")
    with_runs = {topic for _, topic in ranked.rankings}
    n_without = sum(topic not in with_runs for topic in probable.topics)
    if n_without:
        warn(f"no run has documents for {counted(n_without, 'topic')}, and AP is 0 there")
    if n_open:
        n_topics = counted(len(probable.topics), "topic")
        say(f"{counted(n_open, 'document')} of {n_topics} may be relevant or not (0 < p < 1)")
    else:
        warn(f"every probability is 0 or 1, so that nothing varies; {_VARY}")
