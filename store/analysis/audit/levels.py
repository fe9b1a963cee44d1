"""Where one judge's "relevant" lies on another judge's scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import Interval, topic_bootstrap, topic_bootstraps
from store.analysis.agreement.kappa import stacked_chance_corrected
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class CutAgreement:
    """Two judges, each with a cut of his or her own between not relevant and relevant."""

    human: int
    """Least relevant place on the scale of the first judge, from 1."""
    model: int
    """The same of the second."""
    kappa: float | None
    """Cohen's, in [-1, 1]; ``None`` with `reason`."""
    reason: str | None
    """``no-common-docs``, or ``single-grade``: one of the two has documents on one side of the cut only."""
    interval: Interval
    """Over topics."""
    human_share: float | None
    """Share of documents at or above the cut of the first judge, in [0, 1]; ``None`` without documents."""
    model_share: float | None
    """The same of the second."""


def cut_agreements(by_topic: NDArray[np.int64], *, seed: int, resamples: int) -> list[CutAgreement]:
    """Measure how far two judges agree on what is relevant, at every cut of the one and of the other.

    Parameters
    ----------
    by_topic : ndarray of int64, shape (n_topics, n_grades, n_grades)
        Documents counted by topic and grade: the first judge in rows, the second in columns, grades ascend.
    seed, resamples : int
        Of the bootstrap over topics.

    Returns
    -------
    list of CutAgreement
        For each cut of the first judge every cut of the second, both from 1 to ``n_grades - 1``.
        `ArgumentError` if `by_topic` has another shape.

    Notes
    -----
    A cut that leaves a judge one class is undefined here, where kappa by its formula would be 0: it says
    nothing of agreement. O(resamples * n_topics * n_grades**2).

    Examples
    --------
    The second judge gives every document of grade 1 and more a 1: the cut that fits is 1, not 2.

    >>> found = cut_agreements(np.array([[[3, 0, 0], [0, 2, 0], [0, 2, 0]]]), seed=1, resamples=100)
    >>> [(one.human, one.model, one.kappa, one.reason) for one in found if one.model == 1]
    [(1, 1, 1.0, None), (2, 1, 0.461538..., None)]
    >>> found[1].reason
    'single-grade'
    """
    by_topic = np.asarray(by_topic)
    if by_topic.ndim != 3 or by_topic.shape[1] != by_topic.shape[2] or by_topic.shape[1] < 2:
        raise ArgumentError("by_topic", "must be a square table for every topic", by_topic.shape)
    cuts = [(human, model) for human in range(1, by_topic.shape[1]) for model in range(1, by_topic.shape[1])]
    statistics = {str(cut): partial(kappas_at, human=cut[0], model=cut[1]) for cut in cuts}
    intervals = topic_bootstraps(by_topic, statistics, seed=seed, resamples=resamples)
    whole = by_topic.sum(axis=0)
    n = int(whole.sum())
    found = []
    for human, model in cuts:
        kappa = float(kappas_at(whole[np.newaxis], human, model)[0])
        is_defined = bool(np.isfinite(kappa))
        found.append(
            CutAgreement(
                human=human,
                model=model,
                kappa=kappa if is_defined else None,
                reason=None if is_defined else "single-grade" if n else "no-common-docs",
                interval=intervals[str((human, model))],
                human_share=float(whole[human:].sum() / n) if n else None,
                model_share=float(whole[:, model:].sum() / n) if n else None,
            )
        )
    return found


def cut_gain(
    by_topic: NDArray[np.int64], one: tuple[int, int], other: tuple[int, int], *, seed: int, resamples: int
) -> Interval:
    """Bootstrap by how much kappa at two cuts exceeds kappa at two others, over topics.

    Cuts are of the first judge and of the second; the rest is as in `cut_agreements`.
    """
    return topic_bootstrap(
        by_topic,
        lambda tables: kappas_at(tables, *one) - kappas_at(tables, *other),
        seed=seed,
        resamples=resamples,
    )


def kappas_at(tables: NDArray[Any], human: int, model: int) -> NDArray[np.float64]:
    """Return kappa of every table of a stack at two cuts, shape (n_tables,); NaN as in `cut_agreements`."""
    rows = np.stack([tables[:, :human].sum(axis=1), tables[:, human:].sum(axis=1)], axis=1)
    binary = np.stack([rows[..., :model].sum(axis=2), rows[..., model:].sum(axis=2)], axis=2)
    one_class = (binary.sum(axis=1) == 0).any(axis=1) | (binary.sum(axis=2) == 0).any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(one_class, np.nan, stacked_chance_corrected("cohen", binary.astype(np.float64)))
