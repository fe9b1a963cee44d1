"""The residual collection: what is left of runs and qrels without the documents that were judged before."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from pooler.messages import say, warn
from pooler.sources.judged import Judged
from store.errors import PoolerError
from store.text import counted, natural_key

MOST_NAMED = 10
"""Topics that are named."""


def residual(judged: Judged, before: Mapping[str, Set[str]], where: str) -> Judged:
    """Leave the documents that were judged before out of rankings, qrels and pools; ranks close up.

    `before` has docnos by topic, and `where` is the name of their qrels; `PoolerError`: no judgement is left.
    Topics that lose every judgement are gone. The residual collection of G. Salton and C. Buckley, "Improving
    retrieval performance by relevance feedback", *JASIS* 41(4), 288-297, 1990; TREC-COVID measured its rounds
    2 to 5 so.
    """
    import numpy as np

    ids = judged.ranked.ids
    numbers = {
        topic: np.array([ids[one] for one in docnos if one in ids], np.int64)
        for topic, docnos in before.items()
    }
    none = np.empty(0, np.int64)
    rankings = {
        key: documents[~np.isin(documents, numbers.get(key[1], none))]
        for key, documents in judged.ranked.rankings.items()
    }
    pooled = {
        topic: documents[~np.isin(documents, numbers.get(topic, none))]
        for topic, documents in judged.pooled.items()
    }
    qrels = [one for one in judged.qrels if one.docno not in before.get(one.topic, ())]
    n_rows = len(judged.qrels) - len(qrels)
    n_ranked = sum(one.size for one in judged.ranked.rankings.values())
    n_out = n_ranked - sum(one.size for one in rankings.values())
    say(
        f"without {where}: {n_rows:,} of {counted(len(judged.qrels), 'judgement')} and {n_out:,} of"
        f" {counted(n_ranked, 'ranked document')} left out"
    )
    if not qrels:
        message = f"no judgement is left: every document of the qrels is judged in {where}, too"
        raise PoolerError(message, hint="--without names the qrels of earlier rounds alone")
    if not (n_rows or n_out):
        warn(f"no document that is judged in {where} is in the runs or the qrels for the same topic")
    gone = {one.topic for one in judged.qrels} - {one.topic for one in qrels}
    if emptied := tuple(sorted(gone, key=natural_key)):
        named = ", ".join(emptied[:MOST_NAMED]) + ", ..." * (len(emptied) > MOST_NAMED)
        n_topics = counted(len(emptied), "topic")
        warn(f"{n_topics} not measured, as every judged document is in {where}: {named}")
    ranked = replace(judged.ranked, rankings=rankings)
    return replace(judged, ranked=ranked, qrels=qrels, pooled=pooled, emptied=emptied)
