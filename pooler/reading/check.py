"""What is wrong with a run file, and what is odd about it.

Faults are those of `pooler.reading.strict`: no pool is built from a file that has one. Oddities become
warnings, one a kind, each with a count and its first example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.reading.blocks import LineFacts, stream_rankings
from pooler.reading.fields import DOCNO, Q0, RANK, WORD, SuspicionError
from pooler.reading.parallel import share_files
from pooler.reading.strict import ParsedRun, parse_run, quoted, whole_ranks
from pooler.reading.tops import TieAtCut, is_ranked
from store.errors import Fault, FaultList, PoolerError
from store.formats.lines import is_regular_file
from store.ranking import check_order, compared_scores, rank_order, ties_at_cut
from store.records import Order
from store.text import counted, look_alike_words, look_alikes, natural_key

FEW_DOCUMENTS = 10
_Q0_WORDS = np.frombuffer(b"Q0".ljust(WORD, b"\0") + b"0".ljust(WORD, b"\0"), "<u8")


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
    sha256: str
    n_lines: int
    n_topics: int
    n_documents: int
    faults: tuple[Fault, ...]
    fault_counts: dict[str, int]
    warnings: tuple[RunWarning, ...]
    ties_at_cut: tuple[TieAtCut, ...]
    """Every topic with a tie across the depth; empty without a depth."""
    hint: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    rising: tuple[str, ...] = ()
    """Topics where a score is above the one before it in the file."""

    @property
    def n_faults(self) -> int:
        """Count of all faults."""
        return sum(self.fault_counts.values())


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What is asked of run files; topics and docnos that are ``None`` are not known, and no fault."""

    known_topics: Set[str] | None = None
    known_docnos: Container[str] | None = None
    depth: int | None = None
    order: Order = "trec"
    lenient: bool = False
    titles: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        check_order(self.order)


def check_run(path: str, **asked: Any) -> RunReport:
    """Find every fault and oddity of a run file; what is asked is named as of `CheckOptions`."""
    return _with_look_alikes(_check_alone(path, CheckOptions(**asked)), set())


def check_files(
    paths: Sequence[str], asked: CheckOptions, progress: Callable[[int], None]
) -> Iterator[RunReport | PoolerError]:
    """Check run files as `check_run` does; an error is of one that cannot be opened."""
    met: set[str] = set()
    for checked in share_files(partial(_check_alone, asked=asked), paths, paths, progress=progress):
        yield checked if isinstance(checked, PoolerError) else _with_look_alikes(checked, met)


_Checked = tuple[RunReport, set[str]]
"""A report without look-alikes, and the docnos beyond ASCII, among which they are."""


def _check_alone(path: str, asked: CheckOptions) -> _Checked:
    # A pipe cannot be read a second time, so it is read slowly at once.
    if is_regular_file(path):
        try:
            return _check_fast(path, asked)
        except SuspicionError:
            pass
    return _check_slowly(path, asked)


def _check_fast(path: str, asked: CheckOptions) -> _Checked:
    facts, odd, parsed = LineFacts(), _Oddities(asked), ParsedRun()
    for whole in stream_rankings(path, facts):
        ranks, q0 = whole.ranks, whole.column(Q0)
        odd.add(whole.topic, whole.column(DOCNO), whole.scores, ranks)
        if ranks is None:
            odd.add_ranks(whole.column(RANK).packed().split(b"\n"), count(whole.line))
        if (is_odd := ~np.isin(q0.words()[0], _Q0_WORDS)).any():
            row = int(is_odd.argmax())
            parsed.odd_q0 = parsed.odd_q0 or (whole.line + row, quoted(q0[row].decode()))
            parsed.n_odd_q0 += int(np.count_nonzero(is_odd))
        if not (asked.known_docnos is None and facts.is_ascii):
            odd.add_docnos(whole.docnos)
    topics = [topic.decode() for topic in facts.topics]
    known = asked.known_topics
    if odd.has_unknown or not (known is None or all(topic in known for topic in topics)):
        raise SuspicionError("an unknown topic or docno")
    parsed.tag, parsed.sha256 = facts.tag.decode(), facts.digest.hexdigest()
    parsed.n_lines = facts.n_comments + facts.n_lines
    parsed.notes = facts.notes
    return odd.report(path, parsed, topics, _CountedFaults(path))


def _check_slowly(path: str, asked: CheckOptions) -> _Checked:
    faults, odd = _CountedFaults(path), _Oddities(asked)
    known: dict[str, Any] = {"known_topics": asked.known_topics, "known_docnos": asked.known_docnos}
    parsed = parse_run(path, faults, lenient=asked.lenient, titles=asked.titles, **known)
    for topic in filter(lambda topic: topic.docnos, parsed.topics):
        ranks = whole_ranks(topic.ranks)
        odd.add(topic.topic, topic.docnos, np.array(topic.scores), ranks)
        if ranks is None:
            odd.add_ranks(topic.ranks, [topic.lines[docno] for docno in topic.docnos])
        odd.add_docnos(topic.docnos)
    return odd.report(path, parsed, [topic.topic for topic in parsed.topics], faults)


def _with_look_alikes(checked: _Checked, met: set[str]) -> RunReport:
    report, docnos = checked
    met |= docnos
    found = look_alikes(sorted(docnos), met)
    if not found:
        return report
    warning = RunWarning("look-alike", look_alike_words(found), len(found))
    return replace(report, warnings=(*report.warnings, warning))


def with_faults(report: RunReport, faults: Iterable[Fault]) -> RunReport:
    """Add faults that are not the reader's."""
    more = tuple(faults)
    counts = Counter(report.fault_counts) + Counter(one.code for one in more)
    return replace(report, faults=(*report.faults, *more), fault_counts=dict(counts)) if more else report


class _CountedFaults(FaultList):
    """Faults of one file, counted by code."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.by_code: Counter[str] = Counter()

    def add(self, line: int | None, message: str, code: str = "format") -> None:
        self.by_code[code] += 1
        super().add(line, message, code)

    def put_instead(self, message: str, code: str, *, hint: str) -> None:
        self.by_code.clear()
        super().put_instead(message, code, hint=hint)


class _Oddities:
    """What is odd about the topics of a file, one after another."""

    def __init__(self, asked: CheckOptions) -> None:
        self._asked = asked
        self._by_score: Order = "trec" if asked.order in ("rank", "file") else asked.order
        self._enough = FEW_DOCUMENTS if asked.depth is None else asked.depth
        self._n_tied = self._n_odd_ranks = 0
        self._sizes: dict[str, int] = {}
        self._rising: list[str] = []
        self._tied: list[str] = []
        self._at_cut: list[tuple[str, int, int]] = []
        self._unordered: list[str] = []
        self._unordered_example = self._odd_rank_example = ""
        self._from_zero: list[str] = []
        self._short: list[tuple[str, int]] = []
        self._beyond: set[str] = set()
        self.has_unknown = False
        """Whether a docno is not known."""

    def add(
        self,
        topic: str,
        docnos: Sequence[str] | Sequence[bytes],
        scores: NDArray[np.float64],
        ranks: NDArray[np.int64] | None,
    ) -> None:
        n_documents = len(docnos)
        self._sizes[topic] = n_documents
        if n_documents < self._enough:
            self._short.append((topic, n_documents))
        scored = np.arange(n_documents)
        if not is_ranked(scores, self._by_score):
            scored = rank_order(docnos, scores, order=self._by_score)
            if (scores[1:] > scores[:-1]).any():
                self._rising.append(topic)
        ordered = compared_scores(scores, self._by_score)[scored]
        is_as_next = np.concatenate(([False], ordered[1:] == ordered[:-1], [False]))
        if n_tied := int(np.count_nonzero(is_as_next[1:] | is_as_next[:-1])):
            self._n_tied += n_tied
            self._tied.append(topic)
        depth, order = self._asked.depth, self._asked.order
        if depth is not None and order != "file" and (order != "rank" or ranks is not None):
            n_in, n_out = ties_at_cut(ordered if order != "rank" or ranks is None else np.sort(ranks), depth)
            if n_in:
                self._at_cut.append((topic, n_in, n_out))
        if ranks is None:
            return
        if ranks.min() == 0:
            self._from_zero.append(topic)
        stated = np.argsort(ranks, kind="stable")
        unlike = np.flatnonzero(stated != scored)
        if unlike.size:
            if not self._unordered:
                place = int(unlike[0])
                ranked, valued = (_quoted(docnos[int(places[place])]) for places in (stated, scored))
                self._unordered_example = f"{ranked} is number {place + 1} by rank, {valued} by score"
            self._unordered.append(topic)

    def add_ranks(self, fields: Iterable[bytes], lines: Iterable[int]) -> None:
        for rank, line in zip(fields, lines, strict=False):
            if whole_ranks([rank]) is None:
                if not self._n_odd_ranks:
                    text = quoted(rank.decode("utf-8", "backslashreplace"))
                    self._odd_rank_example = f"first on line {line}: {text}"
                self._n_odd_ranks += 1

    def add_docnos(self, docnos: Sequence[str]) -> None:
        self._beyond.update(docno for docno in docnos if not docno.isascii())
        known = self._asked.known_docnos
        self.has_unknown |= known is not None and not all(docno in known for docno in docnos)

    def report(
        self, path: str, parsed: ParsedRun, topics: Collection[str], faults: _CountedFaults
    ) -> _Checked:
        report = RunReport(
            path=path,
            tag=parsed.tag,
            sha256=parsed.sha256,
            n_lines=parsed.n_lines,
            n_topics=len(topics),
            n_documents=sum(self._sizes.values()),
            faults=tuple(faults.kept),
            fault_counts=dict(faults.by_code),
            warnings=(*self._of_order(), *self._of_file(parsed, topics)),
            ties_at_cut=tuple(TieAtCut(parsed.tag, *one) for one in self._at_cut),
            hint=parsed.hint,
            sizes=self._sizes,
            rising=tuple(self._rising),
        )
        return report, self._beyond

    def _of_order(self) -> Iterator[RunWarning]:
        """Yield warnings of tied scores, ties across the depth, and stated ranks."""
        if self._tied:
            message = f"{self._n_tied:,} documents have tied scores, in {first_of(self._tied)}"
            yield RunWarning("ties", message, self._n_tied)
        if self._at_cut:
            (topic, n_in, n_out), *others = self._at_cut
            message = (
                f"{n_in + n_out:,} documents tied at depth {self._asked.depth} in topic {topic}:"
                f" {n_in:,} in, {n_out:,} out"
            )
            if others:
                message += f"; ties there in {counted(len(others), 'more topic')}"
            yield RunWarning("ties-at-cut", message, len(self._at_cut))
        if self._unordered:
            what = f"the stated ranks disagree with the scores (order `{self._by_score}`)"
            message = f"{what} in {first_of(self._unordered)}: {self._unordered_example}"
            yield RunWarning("rank-order", message, len(self._unordered))
        if self._n_odd_ranks:
            message = f"{self._n_odd_ranks:,} stated ranks are not integers, {self._odd_rank_example}"
            yield RunWarning("rank-number", message, self._n_odd_ranks)
        if self._from_zero:
            message = f"stated ranks start at 0 in {first_of(self._from_zero)}"
            yield RunWarning("rank-zero", message, len(self._from_zero))

    def _of_file(self, parsed: ParsedRun, topics: Collection[str]) -> Iterator[RunWarning]:
        yield from (RunWarning(code, message, 1) for code, message in parsed.notes.items())
        if self._short:
            listed = first_of([topic for topic, _ in self._short])
            message = f"fewer than {self._enough} documents in {listed}: {self._short[0][1]} in the first"
            yield RunWarning("short-topic", message, len(self._short))
        missing = sorted((self._asked.known_topics or set()) - set(topics), key=natural_key)
        if missing:
            yield RunWarning("missing-topic", f"no documents for {first_of(missing)}", len(missing))
        if parsed.odd_q0 is not None:
            line, text = parsed.odd_q0
            message = f"the second field is not `Q0` on {parsed.n_odd_q0:,} lines, first on line {line}"
            yield RunWarning("q0", f"{message}: {text}", parsed.n_odd_q0)


def first_of(topics: Sequence[str]) -> str:
    """Name the first topic and count the others."""
    return f"topic {topics[0]}" + (f" and {len(topics) - 1:,} more" if len(topics) > 1 else "")


def _quoted(docno: str | bytes) -> str:
    return quoted(docno.decode() if isinstance(docno, bytes) else docno)
