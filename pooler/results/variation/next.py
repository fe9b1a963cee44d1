"""Next: the documents whose judgement settles the order of the runs soonest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.messages import progress as report_progress
from pooler.messages import say
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Measurable, Source, opened_collection, source_of
from pooler.results.table import TOPIC, Column, Table, hidden
from pooler.results.variation.probabilities import Probable, Values, load_probable, say_empty
from pooler.version import __version__
from store.analysis.variation.collection import collection_variation
from store.analysis.variation.lists import Empty
from store.analysis.variation.next import next_documents as most_telling
from store.errors import ArgumentError, PoolerError
from store.records import Pool, PoolEntry
from store.text import counted, natural_key


def next_documents(
    source: Measurable,
    *,
    limit: int | None = 20,
    confidence: float = 0.95,
    values: Values | None = None,
    probabilities: str | None = None,
    unjudged: float | str = 0.1,
    empty: Empty = "given",
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> NextDocuments:
    """Find the documents whose judgement would settle the order of the runs soonest.

    Parameters
    ----------
    source, values, probabilities, empty, cutoff, progress
        As for `variation`.
    limit : int, optional
        Documents at most, from 1; ``None`` = all that would tell something.
    confidence : float, optional
        Above 0.5 and below 1: pairs of runs whose order another judging keeps with this probability
        are settled, and no document is asked for on their account.
    unjudged : float, default=0.1
        How likely an unjudged document that a run retrieved is relevant.

    Returns
    -------
    NextDocuments
        The documents, the most telling first.

    Raises
    ------
    ArgumentError
        If `confidence` is out of its range.
    PoolerError
        If there is one run only; as `variation` besides.

    Notes
    -----
    The gain is the variance of the differences of MAP that a certain judgement takes away, on
    average, added up over the pairs that are not settled: as if a judgement told for certain
    whether the document is relevant.

    Examples
    --------
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    >>> found = next_documents((runs, {"1": {"x": 1, "y": 1}}), values={1: 0.5}, unjudged=0)
    >>> found.topic, sorted(found.docno)
    (('1', '1'), ['x', 'y'])
    """
    with collect_warnings(progress) as collected:
        if not 0.5 < confidence < 1:
            raise ArgumentError("confidence", "must be above 0.5 and below 1", confidence)
        whole = source_of(source)
        if probabilities is None:
            whole.refuse_codes()
        loaded = load_probable(
            whole, values=values, probabilities=probabilities, unjudged=unjudged, empty=empty, cutoff=cutoff
        )
        probable = loaded.rankings
        if len(probable.tags) < 2:
            message = f"there is one run, `{probable.tags[0]}`: an order needs two"
            raise PoolerError(message, hint="name another run")
        topics = probable.by_topic()
        with report_progress("topics", 2 * len(topics)) as advance:
            varied = collection_variation(topics, empty=empty, progress=advance)
            found = most_telling(topics, varied, confidence=confidence, progress=advance)
        say_empty(probable.topics, varied)
        _say_what_is_settled(found.n_unsettled, len(probable.tags), confidence)
        chosen = slice(limit)
        places = list(zip(found.topic[chosen].tolist(), found.document[chosen].tolist(), strict=True))
        gain = found.gain[chosen]
        ranks = [probable.ranks[topic][:, document] for topic, document in places]
        share = gain / found.variance if gain.size else gain
        result = NextDocuments(
            runs=probable.tags,
            topic=tuple(probable.topics[topic] for topic, _ in places),
            docno=tuple(loaded.docnos(places)),
            p=np.array([probable.probabilities[topic][document] for topic, document in places]),
            judged=np.array([probable.judged[topic][document] for topic, document in places], dtype=bool),
            ranks=np.array(ranks).reshape(len(places), len(probable.tags)),
            gain=gain,
            share=share,
            n_telling=found.gain.size,
            unsettled=found.unsettled,
            loaded=loaded,
            source=whole,
            settings=frozen_settings(**loaded.settings, confidence=confidence, limit=limit),
            warnings=collected.warnings,
        )
    return result


def _say_what_is_settled(n_unsettled: int, n_runs: int, confidence: float) -> None:
    n_pairs = n_runs * (n_runs - 1) // 2
    n_settled = n_pairs - n_unsettled
    if n_pairs == 1:
        words = "is" if n_settled else "is not"
        say(f"the order of the two runs {words} settled at {confidence:g}")
    else:
        say(f"{n_settled:,} of {counted(n_pairs, 'pair')} of runs are settled at {confidence:g}")
    if n_settled == n_pairs:
        say("the order needs no further judgements")


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class NextDocuments(Result):
    """Documents by what their judgement would tell, the most telling first; table: `next`."""

    runs: Sequence[str]
    topic: Sequence[str]
    docno: Sequence[str]
    p: NDArray[np.float64]
    """How likely each document is relevant, shape (n,), above 0 and below 1."""
    judged: NDArray[np.bool_]
    """Whether somebody judged it, shape (n,)."""
    ranks: NDArray[np.float64]
    """In each run, shape (n, n_runs), from 1; inf = not retrieved."""
    gain: NDArray[np.float64]
    """Variance that its judgement takes away on average, shape (n,)."""
    share: NDArray[np.float64]
    """Of all variance of the differences that are not settled, shape (n,), in [0, 1]."""
    n_telling: int
    """Documents that would tell something, beyond the limit, too."""
    unsettled: NDArray[np.bool_]
    """Pairs whose order is not settled, shape (n_runs, n_runs), symmetric."""
    loaded: Probable = field(repr=False)
    source: Source = field(repr=False)

    NAMES: ClassVar[tuple[str, ...]] = ("next",)

    def __len__(self) -> int:
        return len(self.docno)

    def as_pool(self, name: str) -> Pool:
        """Make a pool of the documents, in this order within each topic, for `collection.pools.add`.

        `ArgumentError`: the runs are files.
        """
        if self.loaded.collection is None:
            raise ArgumentError("pool", "needs a collection, but there are only files", name)
        by_topic: dict[str, list[tuple[str, float]]] = {}
        for topic, docno, gain in zip(self.topic, self.docno, self.gain.tolist(), strict=True):
            by_topic.setdefault(topic, []).append((docno, gain))
        entries = [
            PoolEntry(topic, docno, position, priority=gain)
            for topic in sorted(by_topic, key=natural_key)
            for position, (docno, gain) in enumerate(by_topic[topic])
        ]
        with opened_collection(self.source.collection) as opened:
            runs = opened.runs.all()
        facts: dict[str, Any] = {
            "tool": "pooler",
            "version": __version__,
            "strategy": "next",
            "name": name,
            "round": "0",
            "order": self.source.order,
            "out_order": "priority",
            "parameters": {
                "confidence": self.settings["confidence"],
                "unjudged": str(self.settings["unjudged"]),
                "limit": len(self),
                **({"empty": "zero"} if self.settings["empty"] == "zero" else {}),
            },
            "runs": [
                {
                    "tag": run.tag,
                    "group": run.group,
                    "contributes": run.tag in self.runs,
                    "file": run.file,
                    "sha256": run.sha256,
                }
                for run in runs
            ],
            "sizes": {topic: len(some) for topic, some in by_topic.items()},
            "pairs": len(self),
            "topics": len(by_topic),
            **self.loaded.voters.to_json(),
        }
        return Pool(entries, facts, name=name, run_tags=tuple(self.runs))

    def _table(self, name: str) -> Table:
        of_two = len(self.runs) == 2
        what = "between the two runs" if of_two else "between runs whose order is not settled"
        share = f"part of the uncertainty (variance) {what} that judging it with certainty removes on average"
        columns: dict[Column, Any] = {
            TOPIC: self.topic,
            Column("docno", most=32): self.docno,
            Column("p", "float", about="how likely the document is relevant"): self.p,
            Column("judged", "bool"): self.judged,
        }
        if of_two:
            columns |= {
                Column("rank_a", "int", "in A", "its rank"): _ranks(self.ranks[:, 0]),
                Column("rank_b", "int", "in B", "its rank"): _ranks(self.ranks[:, 1]),
            }
        columns |= {
            Column("best_rank", "int", show="never" if of_two else "always"): (
                _ranks(self.ranks.min(axis=1, initial=np.inf))
            ),
            Column("share", "float", about=share): self.share,
            Column(
                "so_far", "float", about="the least share that this row and all rows above remove together"
            ): (np.cumsum(self.share)),
            hidden("gain"): self.gain,
        }
        notes = [
            f"{len(self):,} of {counted(self.n_telling, 'document')} that would change anything.",
            *([f"A: {self.runs[0]}, B: {self.runs[1]}."] if of_two else []),
        ]
        return Table.of_columns(name, columns, notes=notes)


def _ranks(ranks: NDArray[np.float64]) -> list[int | None]:
    return [int(rank) if rank < np.inf else None for rank in ranks]
