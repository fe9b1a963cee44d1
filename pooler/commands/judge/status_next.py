"""The one line to type next: worked out from how far a collection has come."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pooler.sources.stored import DEFAULT_COLLECTION
from store.judging.disagreements import Settlement
from store.records import Judge, JudgeKind

if TYPE_CHECKING:
    from store.collection import Collection
    from store.content.documents import TextCounts
    from store.content.pools import StoredPool
    from store.judging.disagreements import Case
    from store.judging.progress import Unclaimed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """How far a collection has come: what decides which command is next."""

    topics: int = 0
    """Named by a topics file."""
    runs: int = 0
    pools: int = 0
    unpooled: int = 0
    """Runs that may feed a pool, have fed none, and have documents that no pool has."""
    without_text: int = 0
    judges: int = 0
    people: int = 0
    left: Sequence[str] = ()
    """People who have something left to judge."""
    models: Sequence[str] = ()
    """Models that can be asked, and have something left."""
    judgements: int = 0
    untouched: bool = False
    """Whether every judge has something left: a document perhaps nobody has judged."""
    assigned: bool = False
    unassigned: int = 0
    """Pooled documents without a judge, once any is assigned."""
    adjudicator: str = ""
    disputes: int = 0
    """Documents that judges differ on, not settled as they stand."""
    has_rule: bool = False
    """Whether the default qrels say what becomes of different grades."""


def next_command(stage: Stage) -> str:
    """Return what to type next, without `pooler`; words in capitals are for the user to fill in.

    >>> next_command(Stage())
    'import topics FILE'
    >>> next_command(Stage(topics=50, runs=9, pools=1, judges=1, left=["ann"]))
    'judge --judge ann'
    """
    waits = bool(stage.left or stage.models or not stage.judges or stage.untouched)
    is_new = not stage.judgements
    steps = {
        "import topics FILE": is_new and not stage.topics,
        "import runs RUN...": is_new and not (stage.runs or stage.pools),
        "pool": is_new and not stage.pools,
        "pool --add": stage.pools and stage.unpooled,
        "import docs FILE": waits and stage.without_text,
        "judges add NAME": not stage.judges or (stage.untouched and not (stage.people or stage.models)),
        "assign --per-document 1": is_new and len(stage.left) > 1 and not stage.assigned,
        "assign --add": stage.unassigned,
        "serve": len(stage.left) > 1,
        f"judge --judge {' '.join(stage.left)}": stage.left,
        f"ask {' '.join(stage.models[:1])}": stage.models,
        f"adjudicate --judge {stage.adjudicator}": stage.disputes and stage.adjudicator,
        "qrels define official --aggregate majority --ties low": stage.disputes and not stage.has_rule,
        "export qrels --out qrels.txt": stage.judgements,
    }
    return next((line for line, holds in steps.items() if holds), "judges add NAME")


def typed(command: str, where: str) -> str:
    """Return a line as it is typed; it names the collection where that is not named or found without.

    >>> typed("pool", "collection.db")
    'pooler pool'
    >>> typed("pool", "postgresql+psycopg://ann:***@host/wine")
    'pooler pool --collection postgresql+psycopg://ann@host/wine'
    """
    place = os.environ.get("POOLER_COLLECTION") or DEFAULT_COLLECTION
    if _bare(place) == _bare(where):
        return f"pooler {command}"
    return f"pooler {command} --collection {shlex.quote(where.replace(':***@', '@'))}"


def _bare(place: str) -> str:
    """Return of a URL host and database, which is what is shown of it besides the user; else the file."""
    is_url = "://" in place
    return place.partition("://")[2].rpartition("@")[2].partition("?")[0] if is_url else place


def stage_of(
    collection: Collection,
    *,
    judges: Sequence[Judge],
    left: dict[str, int],
    unjudged: dict[str, int],
    judgements: int,
    unclaimed: Unclaimed,
    cases: Sequence[Case] | None,
    pools: Sequence[StoredPool],
    texts: TextCounts,
) -> Stage:
    """Gather what decides.

    `cases`: disagreements, where they are known; else they are read where they may decide, which is once
    there is nothing left to judge. `pools`: those in use.
    """
    runs = collection.runs.all()
    fed = {run["tag"] for pool in pools for run in pool.manifest.get("runs", ())}
    late = [run.tag for run in runs if run.contributes and run.tag not in fed]
    described = [one.judge for one in collection.models.all() if one.identity is not None]
    adjudicators = [one.name for one in judges if one.kind is JudgeKind.ADJUDICATOR and not one.disabled]
    people = [one.name for one in judges if one.kind is JudgeKind.HUMAN and not one.disabled]
    at_work = [name for name in people if left.get(name) or unclaimed.open_places]
    rule = collection.qrels.named().definition
    has_rule = rule.aggregate is not None or rule.judges != ()
    if cases is None:
        cases = () if at_work or has_rule else collection.disagreements.all(collection.disputes())
    return Stage(
        topics=len(collection.topics.listed()),
        runs=len(runs),
        pools=len(pools),
        unpooled=_count_unpooled(collection, pools, late) if fed and late else 0,
        without_text=texts.missing + texts.missing_undrawn,
        judges=len(unjudged),
        people=len(people),
        left=at_work,
        models=[name for name in described if unjudged.get(name)],
        judgements=judgements,
        untouched=min(unjudged.values(), default=0) > 0,
        assigned=unclaimed.is_assigned,
        unassigned=sum(unclaimed.unassigned.values()),
        adjudicator=(adjudicators or [""])[0],
        disputes=sum(
            one.is_disagreement and one.status in (Settlement.OPEN, Settlement.CHANGED) for one in cases
        ),
        has_rule=has_rule,
    )


def _count_unpooled(collection: Collection, pools: Sequence[StoredPool], late: Sequence[str]) -> int:
    """Count the runs that have a document no pool has, as deep as the newest pool goes."""
    plan = pools[-1].manifest
    depth = plan.get("parameters", {}).get("depth", 1)
    top = collection.runs.top(late, depth=depth, order=plan.get("order", "trec"))
    pooled = collection.pools.pairs()
    return sum(
        any((topic, one) not in pooled for topic, row in zip(top.topics, of_run, strict=True) for one in row)
        for of_run in ([row[row >= 0].tolist() for row in ids] for ids in top.ids)
    )
