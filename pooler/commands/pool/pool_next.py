"""The documents whose judgement would settle the order of the runs soonest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Limit, Option, command
from pooler.commands.trust.variation import EmptyOption, ProbabilitiesOption, Unjudged, ValuesOption, Varied
from pooler.messages import progress, say
from pooler.result import Result, frozen_settings
from pooler.sources.probabilities import Probable, load_probable, say_empty
from pooler.sources.source import Source, opened_collection
from pooler.tables import TOPIC, Column, Table, hidden
from pooler.version import __version__
from store.analysis.variation.collection import collection_variation, next_documents
from store.errors import ArgumentError, PoolerError
from store.records import Pool, PoolEntry
from store.text import counted, natural_key

LIMIT = 20
"""Documents of a pool, and rows that people see, unless told otherwise."""


@command
def pool_next(
    source: Varied,
    *,
    name: Annotated[str | None, Option("--name")] = None,
    values: ValuesOption = None,
    probabilities: ProbabilitiesOption = None,
    unjudged: Unjudged = 0.1,
    empty: EmptyOption = "given",
    confidence: Annotated[float, Option(above=0.5, most=1)] = 0.95,
    only_unjudged: Annotated[bool, Option("--only-unjudged")] = False,
    cutoff: Cutoff = None,
    limit: Limit = None,
) -> NextDocuments:
    """List the documents that would settle the order of runs soonest.

    Where judges differ, or none judged, a document may be relevant or not, and MAP with it. A row is
    a document, with the part of the variance of the differences between runs that a certain judgement
    of it would remove. Two runs make one comparison; with more, every pair counts that is not settled
    yet. `pooler status recall` counts instead what is to be judged until most of what is relevant is found.

    Example: pooler pool next --limit 50 --name second-look

    Example: pooler pool next bm25-words rm3-words-title --unjudged .2

    name : Add the documents, those of --limit or 20, to the collection as a pool of this name. Documents of
        older pools come first, unless `pooler assign JUDGE --pool NAME --order priority` hands out these.
    confidence : A pair of runs is settled when judging again would keep its order with at least this
        probability; no document is listed for its sake. At 1 every pair counts that judging can change.
    only_unjudged : List only documents that nobody judged.

    Raises
    ------
    PoolerError
        If there is one run only; as `variation` besides.

    Notes
    -----
    The gain is the variance of the differences of MAP that a certain judgement takes away, on
    average, added up over the pairs that are not settled: as if a judgement told for certain
    whether the document is relevant.

    Examples
    --------
    >>> from pooler import pool_next
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    >>> found = pool_next((runs, {"1": {"x": 1, "y": 1}}), values={1: 0.5}, unjudged=0)
    >>> found.topic, sorted(found.docno)
    (('1', '1'), ['x', 'y'])
    """
    if name is not None and (source.is_of_files or source.option("collection") is None):
        raise ArgumentError("name", "needs a collection, but there are only files", name)
    if probabilities is None:
        source.refuse_codes()
    how: dict[str, Any] = {"values": values, "probabilities": probabilities, "unjudged": unjudged}
    loaded = load_probable(source, empty=empty, cutoff=cutoff or 1000, **how)
    probable = loaded.rankings
    if len(probable.tags) < 2:
        message = f"there is one run, `{probable.tags[0]}`: an order needs two"
        raise PoolerError(message, hint="name another run")
    topics = probable.by_topic()
    with progress("topics", 2 * len(topics)) as advance:
        varied = collection_variation(topics, empty=empty, progress=advance)
        found = next_documents(topics, varied, confidence=confidence, progress=advance)
    say_empty(probable.topics, varied)
    n_pairs = len(probable.tags) * (len(probable.tags) - 1) // 2
    n_settled = n_pairs - found.n_unsettled
    if n_pairs == 1:
        say(f"the order of the two runs {'is' if n_settled else 'is not'} settled at {confidence:g}")
    else:
        say(f"{n_settled:,} of {counted(n_pairs, 'pair')} of runs are settled at {confidence:g}")
    if not found.n_unsettled:
        say("the order needs no further judgements")
    every = list(zip(found.topic.tolist(), found.document.tolist(), strict=True))
    judged = np.array([probable.judged[topic][document] for topic, document in every], dtype=bool)
    telling = np.flatnonzero(~(judged & only_unjudged))
    if len(every) and not telling.size:
        n = counted(len(every), "document")
        say(
            f"none of the {n} that would change anything is unjudged; without --only-unjudged they are listed"
        )
    chosen = telling[: limit or (None if name is None else LIMIT)]
    places = [every[one] for one in chosen.tolist()]
    gain = found.gain[chosen]
    ranks = [probable.ranks[topic][:, document] for topic, document in places]
    made = NextDocuments(
        runs=probable.tags,
        topic=tuple(probable.topics[topic] for topic, _ in places),
        docno=tuple(loaded.docnos(places)),
        p=np.array([probable.probabilities[topic][document] for topic, document in places]),
        judged=judged[chosen],
        ranks=np.array(ranks).reshape(len(places), len(probable.tags)),
        gain=gain,
        share=gain / found.variance if gain.size else gain,
        n_telling=telling.size,
        unsettled=found.unsettled,
        loaded=loaded,
        source=source,
        settings=frozen_settings(**dict(loaded.settings, confidence=confidence, only_unjudged=only_unjudged)),
    )
    if name is not None:
        _add_pool(source, name, made)
    return made


def _add_pool(source: Source, name: str, found: NextDocuments) -> None:
    """Add the documents to the collection as a pool, and say what judges see of it."""
    if not len(found):
        say(f"no document would change anything: pool `{name}` was not made")
        return
    pool = found.as_pool(name)
    with opened_collection(source.collection) as opened:
        older = next((one.name for one in opened.pools.all() if not one.withdrawn), name)
        is_new = opened.pools.add(pool)
    documents, topics = counted(len(found), "document"), counted(len(set(found.topic)), "topic")
    say(f"pool `{name}`: {documents} of {topics}{'' if is_new else ', already there, unchanged'}")
    if older != name:
        command_line = f"pooler assign JUDGE --pool {name} --order priority"
        say(f"judges see the documents of older pools first; `{command_line}` hands out only these")
    say("once they are judged, `pooler pool next` says whether the order is settled")


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

    def __len__(self) -> int:
        return len(self.docno)

    def as_pool(self, name: str) -> Pool:
        """Make a pool of the documents, in this order within each topic, for `collection.pools.add`.

        `ArgumentError`: the runs are files.
        """
        if self.loaded.collection is None:
            raise ArgumentError("name", "needs a collection, but there are only files", name)
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
                **({"only_unjudged": True} if self.settings["only_unjudged"] else {}),
            },
            "runs": [
                {"tag": run.tag, "group": run.group, "contributes": run.tag in self.runs}
                | {"file": run.file, "sha256": run.sha256}
                for run in runs
            ],
            "sizes": {topic: len(some) for topic, some in by_topic.items()},
            "pairs": len(self),
            "topics": len(by_topic),
            **self.loaded.voters.to_json(),
        }
        return Pool(entries, facts, name=name, run_tags=tuple(self.runs))

    def lines(self) -> Iterator[str] | None:
        """Return no line where there is no document."""
        return None if len(self) else iter(())

    def _tables(self) -> Iterator[Table]:
        of_two = len(self.runs) == 2
        what = "between the two runs" if of_two else "between runs whose order is not settled"
        share = f"part of the uncertainty (variance) {what} that judging it with certainty removes on average"
        so_far = "the least share that this row and all rows above remove together"
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
            Column("so_far", "float", about=so_far): np.cumsum(self.share),
            hidden("gain"): self.gain,
        }
        shown = len(self) if self.settings["limit"] else min(len(self), LIMIT)
        notes = [
            f"{shown:,} of {counted(self.n_telling, 'document')} that would change anything.",
            *([f"A: {self.runs[0]}, B: {self.runs[1]}."] if of_two else []),
        ]
        table = Table.of_columns("next", columns, notes=notes)
        yield table.seen_as(rows=range(shown))


def _ranks(ranks: NDArray[np.float64]) -> list[int | None]:
    return [int(rank) if rank < np.inf else None for rank in ranks]
