"""What new documents would cost: judgements by judge, and hours at the pace measured so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pooler.assigning import AssignmentOptions, plan_assignment
from store.analysis.effort import Forecast, forecast
from store.errors import PoolerError
from store.seats import Existing

if TYPE_CHECKING:
    from store.prospects import Prospects

NO_JUDGES = "no-judges"
"""There is nobody whose judgements could be counted."""
NO_PLAN = "plan-cannot-be-continued"
"""The documents cannot be assigned as they were last: judges are missing, say."""
NOT_ASSIGNED = "not-assigned"
"""Documents of adaptive pools cannot be assigned, and judges are shown what is assigned alone."""
NO_TIMES = "too-few-times"
"""Nobody has decided on enough documents to have a pace."""
OTHERS_TIMES = "pace-of-all-judges"
"""The judge has no pace of their own yet."""


@dataclass(frozen=True, slots=True)
class Share:
    """What falls to one judge."""

    judge: str | None
    """``None`` = whoever claims it, or nobody is known."""
    judgements: int | None
    """``None`` = not known, see `reason`."""
    pace: float | None
    """Mean active seconds a decision."""
    seconds: float | None
    """Active time of all; ``None`` = not known, see `reason`."""
    reason: str | None = None
    is_at_most: bool = False
    """Whether the number is the most there can be: an adaptive pool may draw less."""


def judging_cost(
    prospects: Prospects, times: Mapping[str, Sequence[int]], *, drawable: int = 0
) -> list[Share]:
    """Count the judgements that new documents ask for, and forecast their time.

    Parameters
    ----------
    prospects : Prospects
        The new documents, who decided on them already, and how documents are assigned.
    times : mapping of str to sequence of int
        Active times of the latest decisions by judge, in milliseconds, the newest last.
    drawable : int, default=0
        Documents more that an adaptive pool may draw.

    Returns
    -------
    list of Share
        One a judge, by name; whoever claims comes last.

    Notes
    -----
    Where nothing is assigned, every judge is shown every document, but for those that he or she
    has decided on. Else it is counted what `pooler assign --add`, with the options and the judges
    of the newest plan, would give; places that documents have already count as they are. The pace
    is that of `store.analysis.effort.forecast`, so that hours agree with `pooler status`.

    Examples
    --------
    >>> from store.prospects import Prospects
    >>> from store.seats import Assignable
    >>> new = (Assignable("1", "a"), Assignable("1", "b", decided=frozenset({"ann"})))
    >>> shares = judging_cost(Prospects(new, ("ann", "ben"), None), {"ann": [60_000] * 5})
    >>> [(one.judge, one.judgements, one.seconds, one.reason) for one in shares]
    [('ann', 1, 60.0, None), ('ben', 2, 120.0, 'pace-of-all-judges')]
    """
    if not prospects.documents and not drawable:
        return []
    if prospects.plan is None and not prospects.judges:
        return [Share(None, None, None, None, NO_JUDGES)]
    if prospects.plan is not None and drawable:
        return [Share(None, None, None, None, NOT_ASSIGNED)]
    if prospects.plan is None:
        counts: dict[str | None, int] = {
            judge: drawable + sum(judge not in one.decided for one in prospects.documents)
            for judge in prospects.judges
        }
    else:
        try:
            counts = _by_plan(prospects, prospects.plan)
        except PoolerError:
            return [Share(None, None, None, None, NO_PLAN)]
    everybody = [one for judge in prospects.judges for one in times.get(judge, ())]
    return [
        _share(judge, counts[judge], times, everybody, is_at_most=bool(drawable))
        for judge in sorted(counts, key=lambda name: (name is None, name or ""))
    ]


def total_seconds(shares: Iterable[Share]) -> float | None:
    """Add up the times; ``None`` when one of them is not known."""
    seconds = [share.seconds for share in shares]
    known = [one for one in seconds if one is not None]
    return sum(known) if len(known) == len(seconds) else None


def _by_plan(prospects: Prospects, plan: Mapping[str, Any]) -> dict[str | None, int]:
    """Count the judgements that a plan, continued, would ask for."""
    known = {name: plan[name] for name in _OPTIONS if name in plan}
    # A plan that named a judge who is anonymous now has lost its seed: any other does.
    options = AssignmentOptions(**{"seed": 0, **known}, existing=Existing.ADD)
    named = plan.get("judges")
    of_plan = set(named) if isinstance(named, list) else set()
    judges = [judge for judge in prospects.judges if judge in of_plan] or prospects.judges
    decided = {(one.topic, one.docno): one.decided for one in prospects.documents}
    counts: Counter[str | None] = Counter(
        place.judge
        for place in plan_assignment(prospects.documents, judges, options).places
        if place.judge not in decided[place.topic, place.docno]
    )
    for one in prospects.documents:
        if one.has_place:
            counts.update(one.holders - one.decided)
            counts[None] += one.n_open
    return {judge: n for judge, n in counts.items() if n}


def _share(
    judge: str | None,
    judgements: int,
    times: Mapping[str, Sequence[int]],
    everybody: Sequence[int],
    *,
    is_at_most: bool,
) -> Share:
    """Forecast the time of one judge, at the pace of all where there is none of their own."""
    own: Forecast | None = None if judge is None else forecast(times.get(judge, ()), judgements)
    reason = None
    if own is None or own.pace is None:
        own = forecast(everybody, judgements)
        reason = NO_TIMES if own.pace is None else OTHERS_TIMES
    return Share(judge, judgements, own.pace, own.seconds, reason, is_at_most)


_OPTIONS = ("seed", "by", "per_document", "overlap", "overlap_judges", "calibration", "lease_s")
"""Of a plan's manifest; the order before judges changes no number."""
