"""What is wrong with a run file, and what is odd about it.

Faults are those of `pooler.reading.strict`: no pool is built from a file that has one. Oddities are told as
warnings, one a kind, each with a count and its first example.

============= ====================================================================================
code          warning
============= ====================================================================================
ties          documents of a topic have equal scores, so that docnos order them
ties-at-cut   such documents stand on both sides of the depth
rank-order    the stated ranks order a topic differently from the scores
rank-number   stated ranks are not integers
rank-zero     stated ranks start at 0
short-topic   a topic has fewer documents than the depth; without a depth, fewer than 10
missing-topic the file has no document for a known topic
q0            the second field is neither `Q0` nor `0`
look-alike    docnos of the file, or of those before it, differ in Unicode normal form alone
============= ====================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.reading.blocks import TieAtCut, take_top
from pooler.reading.strict import ParsedRun, ParsedTopic, parse_run, quoted, whole_ranks
from store.errors import ArgumentError, Fault, FaultList
from store.ranking import Order, check_order, compared_scores, rank_order
from store.text import look_alike_words, look_alikes, natural_key

FEW_DOCUMENTS = 10
"""A topic with fewer documents is short, whatever the depth will be."""


@dataclass(frozen=True, slots=True)
class RunWarning:
    """One kind of oddity of a run file."""

    code: str
    message: str
    """What, how often, and the first example."""
    count: int
    """Topics, but documents for ``ties`` and lines for ``rank-number`` and ``q0``."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What `check_run` found."""

    path: str
    tag: str
    """Empty when no line has six fields."""
    sha256: str
    """Hash of the uncompressed file."""
    n_lines: int
    """Lines of the file, blank ones too."""
    n_topics: int
    n_documents: int
    """Lines without a fault."""
    faults: tuple[Fault, ...]
    """The first ones, in file order."""
    fault_counts: dict[str, int]
    """All faults by code."""
    warnings: tuple[RunWarning, ...]
    ties_at_cut: tuple[TieAtCut, ...]
    """Every topic with a tie across the depth; empty without a depth."""
    hint: str | None = None
    """What to do about the faults."""

    @property
    def n_faults(self) -> int:
        """Count of all faults."""
        return sum(self.fault_counts.values())


def check_run(
    path: str,
    *,
    known_topics: Set[str] | None = None,
    known_docnos: Container[str] | None = None,
    depth: int | None = None,
    order: Order = "trec",
    lenient: bool = False,
    met: set[str] | None = None,
) -> RunReport:
    """Find every fault and oddity of a run file.

    `depth`: ranks a pool would take, for ties at the cut; `met`: docnos beyond ASCII of files checked before,
    to which those of this one are added.
    """
    if depth is not None and depth < 1:
        raise ArgumentError("depth", "must be an integer >= 1", depth)
    check_order(order)
    faults = _CountedFaults(path)
    parsed = parse_run(path, faults, lenient=lenient, known_topics=known_topics, known_docnos=known_docnos)
    columns = [_TopicColumns(topic) for topic in parsed.topics if topic.docnos]
    cut_ties = [] if depth is None else _ties_at_cut(parsed.tag, columns, depth, order)
    return RunReport(
        path=path,
        tag=parsed.tag,
        sha256=parsed.sha256,
        n_lines=parsed.n_lines,
        n_topics=len(parsed.topics),
        n_documents=sum(len(topic.docnos) for topic in columns),
        faults=tuple(faults.kept),
        fault_counts=dict(faults.by_code),
        warnings=(
            *_score_oddities(columns, cut_ties, depth, order),
            *_rank_oddities(columns, order),
            *_other_oddities(parsed, columns, depth, known_topics, set() if met is None else met),
        ),
        ties_at_cut=tuple(cut_ties),
        hint=parsed.hint,
    )


class _CountedFaults(FaultList):
    """Faults of one file, counted by code."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.by_code: Counter[str] = Counter()

    def add(self, line: int | None, message: str, code: str = "format") -> None:
        """Add one fault."""
        self.by_code[code] += 1
        super().add(line, message, code)

    def put_instead(self, message: str, code: str, *, hint: str) -> None:
        """Forget the faults so far, and tell one of the whole file in their place."""
        self.by_code.clear()
        super().put_instead(message, code, hint=hint)


class _TopicColumns:
    """The lines of one topic as arrays."""

    def __init__(self, parsed: ParsedTopic) -> None:
        self.topic = parsed.topic
        self.docnos = parsed.docnos
        self.lines = parsed.lines
        self.rank_fields = parsed.ranks
        self.scores: NDArray[np.float64] = np.array(parsed.scores)
        self.ranks = whole_ranks(parsed.ranks)


def _score_oddities(
    columns: Iterable[_TopicColumns], cut_ties: list[TieAtCut], depth: int | None, order: Order
) -> Iterator[RunWarning]:
    """Tell documents that share their score with another of their topic, and ties across the depth."""
    n_documents, topics = 0, []
    for topic in columns:
        _, counts = np.unique(compared_scores(topic.scores, order), return_counts=True)
        n_tied = int(counts[counts > 1].sum())
        if n_tied:
            n_documents += n_tied
            topics.append(topic.topic)
    if topics:
        yield RunWarning(
            "ties", f"{n_documents} documents have tied scores, in {_first_of(topics)}", n_documents
        )
    if cut_ties:
        first, *others = cut_ties
        message = (
            f"{first.n_in + first.n_out} documents tied at depth {depth} in topic {first.topic}:"
            f" {first.n_in} in, {first.n_out} out"
        )
        if others:
            message += f"; ties there in {len(others)} more topic{'s' if len(others) > 1 else ''}"
        yield RunWarning("ties-at-cut", message, len(cut_ties))


def _ties_at_cut(tag: str, columns: Iterable[_TopicColumns], depth: int, order: Order) -> list[TieAtCut]:
    """List the topics with a tie across the depth."""
    found = []
    for topic in columns:
        if order == "rank" and topic.ranks is None:
            continue
        top = take_top(
            topic.docnos, topic.scores, topic.ranks, depth=depth, order=order, n_documents=len(topic.docnos)
        )
        if top.n_tied_in:
            found.append(TieAtCut(tag, topic.topic, top.n_tied_in, top.n_tied_out))
    return found


def _rank_oddities(columns: Iterable[_TopicColumns], order: Order) -> Iterator[RunWarning]:
    """Tell stated ranks in another order than the scores, that are no integers, and that start at 0."""
    by_score: Order = "trec" if order in ("rank", "file") else order
    unordered, from_zero = [], []
    n_odd, example, odd_example = 0, "", ""
    for topic in columns:
        if topic.ranks is None:
            for docno, rank in zip(topic.docnos, topic.rank_fields, strict=True):
                if whole_ranks([rank]) is None:
                    if not n_odd:
                        text = quoted(rank.decode("utf-8", "backslashreplace"))
                        odd_example = f"first on line {topic.lines[docno]}: {text}"
                    n_odd += 1
            continue
        if topic.ranks.min() == 0:
            from_zero.append(topic.topic)
        stated = rank_order(topic.docnos, topic.scores, topic.ranks, order="rank")
        scored = rank_order(topic.docnos, topic.scores, order=by_score)
        unlike = np.flatnonzero(stated != scored)
        if unlike.size:
            place = int(unlike[0])
            ranked, valued = (quoted(topic.docnos[int(places[place])]) for places in (stated, scored))
            example = example or f"{ranked} is number {place + 1} by rank, {valued} by score"
            unordered.append(topic.topic)
    if unordered:
        what = f"the stated ranks disagree with the scores (order `{by_score}`)"
        yield RunWarning("rank-order", f"{what} in {_first_of(unordered)}: {example}", len(unordered))
    if n_odd:
        yield RunWarning("rank-number", f"{n_odd} stated ranks are not integers, {odd_example}", n_odd)
    if from_zero:
        yield RunWarning("rank-zero", f"stated ranks start at 0 in {_first_of(from_zero)}", len(from_zero))


def _other_oddities(
    parsed: ParsedRun,
    columns: Iterable[_TopicColumns],
    depth: int | None,
    known_topics: Set[str] | None,
    met: set[str],
) -> Iterator[RunWarning]:
    """Tell topics with few documents or none, unusual second fields, and docnos that look the same."""
    enough = FEW_DOCUMENTS if depth is None else depth
    short = [topic for topic in columns if len(topic.docnos) < enough]
    if short:
        topics = _first_of([topic.topic for topic in short])
        message = f"fewer than {enough} documents in {topics}: {len(short[0].docnos)} in the first"
        yield RunWarning("short-topic", message, len(short))
    missing = sorted((known_topics or set()) - {topic.topic for topic in parsed.topics}, key=natural_key)
    if missing:
        yield RunWarning("missing-topic", f"no documents for {_first_of(missing)}", len(missing))
    if parsed.odd_q0 is not None:
        line, text = parsed.odd_q0
        message = f"the second field is not `Q0` on {parsed.n_odd_q0} lines, first on line {line}"
        yield RunWarning("q0", f"{message}: {text}", parsed.n_odd_q0)
    docnos = {docno for topic in columns for docno in topic.docnos if not docno.isascii()}
    met |= docnos
    if found := look_alikes(sorted(docnos), met):
        yield RunWarning("look-alike", look_alike_words(found), len(found))


def _first_of(topics: list[str]) -> str:
    """Name the first topic and count the others."""
    return f"topic {topics[0]}" + (f" and {len(topics) - 1} more" if len(topics) > 1 else "")
