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

from store.analysis.agreement.kappa import Numbers, Reason, Share, check_table, divide, share
from store.analysis.agreement.votes import Votes, collapse_votes, grade_counts
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class MacroOverlap:
    """The mean of topics' overlaps."""

    value: float | None
    """In [0, 1]; ``None`` when no topic has an overlap."""
    reason: Reason | None
    n_topics: int
    n_no_relevant: int
    """Topics left out because no judge found a relevant document."""
    n_no_common_docs: int
    """Topics left out because no document was graded by all."""


class RelevantCounts(NamedTuple):
    """Documents that all judges graded, topic by topic; each of shape (n_topics,) and int64."""

    common: NDArray[np.int64]
    """Graded by every judge."""
    both: NDArray[np.int64]
    """Of these, relevant to every judge."""
    either: NDArray[np.int64]
    """Of these, relevant to at least one."""


def raw_agreement(table: NDArray[np.int64]) -> Share:
    """Return the share of documents with the same grade; reason ``no-common-docs``.

    Examples
    --------
    >>> raw_agreement(np.array([[20, 5], [10, 15]])).value
    0.7
    """
    table = check_table(table)
    n_documents = int(table.sum())
    return share(int(np.trace(table)), n_documents, n_documents, "no-common-docs")


def marginals(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count how often the first and the second judge gave each grade, shapes (n_grades,)."""
    table = check_table(table)
    return table.sum(axis=1), table.sum(axis=0)


def specific_agreement(table: NDArray[np.int64]) -> tuple[Share, ...]:
    """Return, for each grade, how likely the other judge gives it when one does.

    Parameters
    ----------
    table : ndarray of int64, shape (n_grades, n_grades)
        Documents judged by both, of two judges; of many, the ordered pairs of votes.

    Returns
    -------
    tuple of Share
        One a grade: twice the documents to which both gave it, over how often either judge gave it;
        ``n_documents`` counts those that at least one judge gave it. Reasons: ``no-common-docs``, else
        ``no-relevant`` for a grade that nobody gave.

    Examples
    --------
    >>> [one.value for one in specific_agreement(np.array([[70, 10], [20, 300]]))]
    [0.8235294117647058, 0.9523809523809523]
    """
    table = check_table(table)
    reason: Reason = "no-relevant" if table.sum() else "no-common-docs"
    given = (table.sum(axis=0) + table.sum(axis=1)).tolist()
    same = np.diagonal(table).tolist()
    return tuple(share(2 * k, total, total - k, reason) for k, total in zip(same, given, strict=True))


def overlap(table: NDArray[np.int64]) -> Share:
    """Return the Jaccard coefficient of the two judges' sets of relevant documents.

    Parameters
    ----------
    table : ndarray of int64, shape (2, 2)
        Documents judged by both: not relevant, relevant. `ArgumentError` for another shape.

    Returns
    -------
    Share
        Documents relevant to both over those relevant to at least one (``n_documents``). Reasons:
        ``no-common-docs``, else ``no-relevant`` when neither judge found any.

    Examples
    --------
    >>> overlap(np.array([[70, 10], [20, 300]])).value == 300 / 330
    True
    """
    common, both, either = (int(counts[0]) for counts in relevant_in(np.asarray(table)[np.newaxis]))
    return share(both, either, either, "no-relevant" if common else "no-common-docs")


def positive_agreement(table: NDArray[np.int64]) -> Share:
    """Return the Dice coefficient of the two judges' sets of relevant documents.

    Twice the documents relevant to both, over the sizes of both sets added up; all else as in
    `overlap`. It is `specific_agreement` of the grade "relevant".

    Examples
    --------
    >>> positive_agreement(np.array([[70, 10], [20, 300]])).value == 600 / 630
    True
    """
    common, both, either = (int(counts[0]) for counts in relevant_in(np.asarray(table)[np.newaxis]))
    reason: Reason = "no-relevant" if common else "no-common-docs"
    return share(2 * both, both + either, either, reason)


def relevant_in(tables: NDArray[np.int64]) -> RelevantCounts:
    """Count two judges' relevant documents, one entry a table.

    Parameters
    ----------
    tables : ndarray of int64, shape (n_topics, 2, 2)
        Documents judged by both: not relevant, relevant. `ArgumentError` for another shape and for what is no
        count.

    Returns
    -------
    RelevantCounts
    """
    stack = np.asarray(tables)
    if stack.ndim != 3 or stack.shape[1:] != (2, 2):
        raise ArgumentError("tables", "must be 2 x 2", f"shape {stack.shape[1:]}")
    if not np.issubdtype(stack.dtype, np.integer) or stack.min(initial=0) < 0:
        raise ArgumentError("tables", "must hold counts >= 0", stack.tolist())
    common = stack.sum(axis=(1, 2))
    return RelevantCounts(common, stack[:, 1, 1], common - stack[:, 0, 0])


def relevant_to_all(votes: Votes, level_index: int) -> RelevantCounts:
    """Count, topic by topic, the documents that all judges graded, and found relevant.

    Parameters
    ----------
    votes : Votes
        Every one of ``votes.judges`` must have graded a document for it to count.
    level_index : int
        Index into the scale of the least relevant grade, from 1 to ``n_grades - 1``; else `ArgumentError`.

    Returns
    -------
    RelevantCounts
        Topics as in ``votes.topics``.
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
    """Average the overlap over topics, as Voorhees does [1]_; of two judges or of many.

    Parameters
    ----------
    counts : RelevantCounts
        What `relevant_in` counts of two judges' tables, `relevant_to_all` of any number of judges.

    Returns
    -------
    MacroOverlap
        The mean over the topics that have an overlap, and how many have none. When none has one:
        ``no-relevant``, or ``no-common-docs`` when no topic has a common document.

    References
    ----------
    .. [1] E. M. Voorhees, "Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness",
       *Information Processing & Management* 36(5), 697-716, 2000, doi:10.1016/S0306-4573(00)00010-8.

    Examples
    --------
    >>> tables = np.array([[[5, 0], [1, 1]], [[0, 0], [0, 3]], [[4, 0], [0, 0]]])
    >>> macro_overlap(relevant_in(tables))
    MacroOverlap(value=0.75, reason=None, n_topics=2, n_no_relevant=1, n_no_common_docs=0)
    """
    defined = counts.either > 0
    n_topics = int(defined.sum())
    no_common = int(np.count_nonzero(counts.common == 0))
    no_relevant = len(counts.common) - n_topics - no_common
    if not n_topics:
        reason: Reason = "no-relevant" if no_relevant else "no-common-docs"
        return MacroOverlap(None, reason, 0, no_relevant, no_common)
    mean = math.fsum(counts.both[defined] / counts.either[defined]) / n_topics
    return MacroOverlap(mean, None, n_topics, no_relevant, no_common)


def macro_sums(counts: RelevantCounts) -> NDArray[np.float64]:
    """Turn counts into sums for resampling topics: overlap, or 0, and whether there is one; (n_topics, 2).

    `stacked_macro_overlap` of the sum over topics is the macro overlap.
    """
    defined = counts.either > 0
    overlaps = np.where(defined, counts.both / np.maximum(counts.either, 1), 0.0)
    return np.stack([overlaps, defined.astype(np.float64)], axis=-1)


def stacked_macro_overlap(sums: Numbers) -> NDArray[np.float64]:
    """Average topics' overlaps from weighted `macro_sums`, shape (..., 2); NaN without a topic."""
    return divide(sums[..., 0], sums[..., 1])


def stacked_raw(tables: Numbers) -> NDArray[np.float64]:
    """Give `raw_agreement` of a stack, shape (..., n_grades, n_grades); NaN without documents."""
    return divide(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def stacked_specific(tables: Numbers) -> NDArray[np.float64]:
    """Give `specific_agreement` of a stack, shape (..., n_grades); NaN for a grade not given."""
    same = np.diagonal(tables, axis1=-2, axis2=-1)
    return divide(2 * same, tables.sum(axis=-1) + tables.sum(axis=-2))


def stacked_overlap(tables: Numbers) -> NDArray[np.float64]:
    """Give `overlap` of a stack, shape (..., 2, 2); NaN without relevant documents."""
    return divide(tables[..., 1, 1], tables.sum(axis=(-2, -1)) - tables[..., 0, 0])
