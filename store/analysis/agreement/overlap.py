"""Agreement without chance: same grades, same relevant documents, of two judges or of many.

Overlap is the share of documents relevant to all among those relevant to anybody, over the
documents that every judge graded; its mean over topics is Voorhees' measure of disagreement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.kappa import Numbers, Reason, divide
from store.analysis.agreement.votes import Votes, collapse_votes, grade_counts


@dataclass(frozen=True, slots=True)
class MacroOverlap:
    """The mean of topics' overlaps."""

    value: float | None
    """In [0, 1]; ``None`` when no topic has an overlap."""
    reason: Reason | None
    n_topics: int
    """Topics that have one; left out are those without a common, or without a relevant document."""


class RelevantCounts(NamedTuple):
    """Documents that all judges graded, topic by topic; each of shape (n_topics,) and int64."""

    common: NDArray[np.int64]
    """Graded by every judge."""
    both: NDArray[np.int64]
    """Of these, relevant to every judge."""
    either: NDArray[np.int64]
    """Of these, relevant to at least one."""


def relevant_to_all(votes: Votes, level_index: int) -> RelevantCounts:
    """Count, topic by topic, the documents that all of ``votes.judges`` graded, and found relevant.

    `level_index` is the place of the least relevant grade, as for `collapse_votes`.
    """
    counts = grade_counts(collapse_votes(votes, level_index))
    of_all = counts.sum(axis=1) == len(votes.judges)
    relevant = counts[of_all, 1]
    topics = votes.topic_codes[of_all]
    n_topics = len(votes.topics)
    return RelevantCounts(
        np.bincount(topics, minlength=n_topics),
        np.bincount(topics[relevant == len(votes.judges)], minlength=n_topics),
        np.bincount(topics[relevant > 0], minlength=n_topics),
    )


def macro_overlap(counts: RelevantCounts) -> MacroOverlap:
    """Average the overlap over the topics that have one, as Voorhees does [1]_; of two judges or of many.

    Counts of two judges come from their tables, of any number from `relevant_to_all`. When no topic has an
    overlap: ``no-relevant``, or ``no-common-docs`` when no topic has a common document.

    References
    ----------
    .. [1] E. M. Voorhees, "Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness",
       *Information Processing & Management* 36(5), 697-716, 2000, doi:10.1016/S0306-4573(00)00010-8.

    Examples
    --------
    >>> macro_overlap(RelevantCounts(*np.array([[7, 3, 4], [1, 3, 0], [2, 3, 0]])))
    MacroOverlap(value=0.75, reason=None, n_topics=2)
    """
    defined = counts.either > 0
    n_topics = int(defined.sum())
    if not n_topics:
        return MacroOverlap(None, "no-relevant" if counts.common.any() else "no-common-docs", 0)
    mean = math.fsum(counts.both[defined] / counts.either[defined]) / n_topics
    return MacroOverlap(mean, None, n_topics)


def macro_sums(counts: RelevantCounts) -> NDArray[np.float64]:
    """Turn counts into sums for resampling topics: overlap, or 0, and whether there is one; (n_topics, 2).

    The ratio of the sums over topics is the macro overlap.
    """
    defined = counts.either > 0
    overlaps = np.where(defined, counts.both / np.maximum(counts.either, 1), 0.0)
    return np.stack([overlaps, defined.astype(np.float64)], axis=-1)


def stacked_raw(tables: Numbers) -> NDArray[np.float64]:
    """Return the share of documents with the same grade, of tables (..., n_grades, n_grades).

    NaN without documents.

    Examples
    --------
    >>> float(stacked_raw(np.array([[20, 5], [10, 15]])))
    0.7
    """
    return divide(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def stacked_specific(tables: Numbers) -> NDArray[np.float64]:
    """Return, for each grade, how likely the other judge gives it when one does, shape (..., n_grades).

    Twice the documents to which both gave it, over how often either judge gave it; NaN for a grade that
    no judge gave. Of the grade "relevant" it is positive agreement, the Dice coefficient of the two judges'
    sets of relevant documents.

    Examples
    --------
    >>> stacked_specific(np.array([[70, 10], [20, 300]])).tolist()
    [0.8235294117647058, 0.9523809523809523]
    """
    same = np.diagonal(tables, axis1=-2, axis2=-1)
    return divide(2 * same, tables.sum(axis=-1) + tables.sum(axis=-2))


def stacked_overlap(tables: Numbers) -> NDArray[np.float64]:
    """Return the Jaccard coefficient of two judges' sets of relevant documents, of tables (..., 2, 2).

    Documents relevant to both over those relevant to at least one; NaN without relevant documents.

    Examples
    --------
    >>> float(stacked_overlap(np.array([[70, 10], [20, 300]]))) == 300 / 330
    True
    """
    return divide(tables[..., 1, 1], tables.sum(axis=(-2, -1)) - tables[..., 0, 0])
