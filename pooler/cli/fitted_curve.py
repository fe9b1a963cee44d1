"""How likely unjudged documents are relevant, by their best rank: the curve, and what is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pooler.cli.console import counted, say, warn
from pooler.cli.probability_options import BY_RANK
from store.errors import PoolerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.analysis.rank_probability import RankCurve, Reason
    from store.arrays import RankedDocuments

_SHOWN_RANKS = (1, 10, 100, 1000)
"""Where a curve by rank is told in words."""

_NO_CURVE: dict[Reason, str] = {
    "no-docs": "no judged document was retrieved by a run",
    "all-irrelevant": "every judged document is surely not relevant",
    "all-relevant": "every judged document is surely relevant",
    "one-rank": "all judged documents have the same best rank",
    "separation": "a rank parts the relevant documents from the others, so that no curve is best",
    "not-converged": "the curve is too steep to be fitted",
}


def fitted_curve(
    ranked: RankedDocuments,
    found: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]],
    cutoff: int,
) -> RankCurve:
    """Fit the curve by rank to the judged documents, and say on stderr what it is.

    Raises
    ------
    PoolerError
        If there is no such curve.
    """
    import numpy as np

    from store.analysis.probable_rankings import probable_rankings
    from store.analysis.rank_probability import rank_curve

    own = probable_rankings(
        list(found), ranked.tags, ranked.rankings, found,
        cutoff=cutoff, unjudged=None, keep_zero=True,
    )  # fmt: skip
    best = [own.best_ranks(topic) for topic in range(len(own.topics))]
    curve = rank_curve(np.concatenate(best), np.concatenate(own.probabilities))
    if curve.reason is not None or curve.slope is None:
        why = _NO_CURVE[curve.reason or "not-converged"]
        message = f"--unjudged {BY_RANK} is not possible: {why}"
        hint = "--unjudged P takes one probability for all of them"
        raise PoolerError(message, hint=hint)
    shown = [rank for rank in _SHOWN_RANKS if rank <= cutoff]
    values = curve(shown).tolist()
    words = ", ".join(f"{p:.3g} at {rank}" for rank, p in zip(shown, values, strict=True))
    fitted_to = counted(curve.n_documents, "judged document")
    say(f"unjudged documents: p by best rank, {words}; logit p = {curve.intercept:.3g}"
        f" {curve.slope:+.3g} ln rank (standard errors {curve.intercept_error:.2g},"
        f" {curve.slope_error:.2g}), fitted to {fitted_to}")  # fmt: skip
    if curve.slope > 0:
        warn("the judged documents are the more relevant the lower they rank")
    return curve
