"""Every measure by its name, on arrays of runs, topics and ranks.

Each is defined in a module of its own idea: `average_precision`, `ranked_measures`,
`interpolated_precision`, `gain`, `q_measure`, `roc`, `incomplete_measures`, `residuals`,
`confusion`. Names are read by `measure_names`, and belong to functions by `measure_definitions`.

An undefined score is a reason, never a number, and does not enter the mean:

================ ================================================================================
no-relevant      the topic has no relevant document
no-documents     the run has no document for the topic, so none that could be judged
no-pairs         the run has not both a relevant and another document to compare
no-not-relevant  every document of the collection is relevant
list-too-short   the run ends above rank R
================ ================================================================================

A run without documents for a topic that has relevant ones scores 0 there, as with trec_eval -c;
were it left out, a run could gain by not answering. Precision at a cutoff, precision of the list,
reciprocal rank and success are 0, not undefined, for a topic without relevant documents.

A grade below 0 is a judgement to Judged, as it is to ir_measures; to Bpref, infAP, Unjudged and
RBPResidual it is none, as it is to trec_eval.

Where trec_eval 9, pytrec_eval or ir_measures define a measure, it is theirs if documents are in
order ``trec9`` of `store.ranking`: equal scores, rounded to 32 bits, by docno descending. In order
``trec``, of trec_eval 10, scores that only this rounding ties stand apart. What is meant to differ
is told in `measure_names` and `interpolated_precision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.average_precision import mean_average_precision
from store.analysis.graded_rankings import GradedRankings
from store.analysis.measure_definitions import MEASURES, Lists, Reason
from store.analysis.measure_names import MeasureName
from store.errors import ArgumentError, UnknownNameError


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """One measure of all runs and topics, in the order of the `GradedRankings`."""

    measure: MeasureName
    values: NDArray[np.float64]
    """Shape (n_runs, n_topics); NaN = undefined, see `reason`."""
    overall: NDArray[np.float64]
    """Shape (n_runs,): mean over the defined topics, or their sum for counts; NaN = none is."""
    n_defined: NDArray[np.int64]
    """Shape (n_runs,): topics that `overall` is over."""
    is_sum: bool
    """Whether `overall` is a sum."""
    lacks_relevant: NDArray[np.bool_]
    """Shape (n_topics,): topics without a relevant document, where the measure needs one."""
    other_reason: Reason | None
    """Why a value is NaN that does not lack a relevant document."""

    def reason(self, run: int, topic: int) -> Reason | None:
        """Tell why a value is undefined; ``None`` when there is one.

        Parameters
        ----------
        run, topic : int
            Places in `values`.
        """
        if not np.isnan(self.values[run, topic]):
            return None
        return "no-relevant" if self.lacks_relevant[topic] else self.other_reason


def evaluate(rankings: GradedRankings, measures: Sequence[MeasureName]) -> list[Scores]:
    """Score all runs on all topics by several measures.

    Parameters
    ----------
    rankings : GradedRankings
        Runs and grades. Ranks below their cutoff count for no measure.
    measures : sequence of MeasureName
        From `parse_measure`.

    Returns
    -------
    list of Scores
        In the order of `measures`.

    Raises
    ------
    UnknownNameError
        If no measure has the name.
    ArgumentError
        If a measure's cutoff is above that of the rankings, or another of its parameters cannot be
        used on them.

    Notes
    -----
    O(ranks of all runs) a measure; a cutoff makes it that many ranks only.

    Examples
    --------
    Grades 0, 2, 1 and one of grade 1 that was not retrieved; topic t2 has no relevant document:

    >>> from store.analysis.graded_rankings import graded_rankings
    >>> from store.analysis.measure_names import parse_measure
    >>> rankings = graded_rankings(
    ...     ["t1", "t2"],
    ...     ["run"],
    ...     {("run", "t1"): np.array([1, 2, 3]), ("run", "t2"): np.array([1])},
    ...     {
    ...         "t1": (np.array([1, 2, 3, 4]), np.array([0, 2, 1, 1])),
    ...         "t2": (np.array([1]), np.array([0])),
    ...     },
    ...     cutoff=1000,
    ... )
    >>> names = [parse_measure(text) for text in ("AP", "AP(rel=2)", "P@10")]
    >>> for scores in evaluate(rankings, names):
    ...     print(scores.measure, scores.values.round(4).tolist(), scores.overall.round(4).tolist())
    AP [[0.3889, nan]] [0.3889]
    AP(rel=2) [[0.5, nan]] [0.5]
    P@10 [[0.2, 0.0]] [0.1]
    """
    lists = Lists(rankings)
    return [_scores(lists, name) for name in measures]


def _scores(lists: Lists, name: MeasureName) -> Scores:
    """Score by one measure."""
    if name.name not in MEASURES:
        raise UnknownNameError("measure", name.name, MEASURES)
    definition = MEASURES[name.name]
    reach = lists.rankings.cutoff
    if name.cutoff is not None and name.cutoff > reach:
        requirement = f"of {name} must be at most the {reach} ranks that were looked at"
        raise ArgumentError("cutoff", requirement, name.cutoff)
    values = np.asarray(definition.function(lists, name), dtype=np.float64)
    mean, n_defined = mean_average_precision(values)
    lacks = np.zeros(values.shape[-1], dtype=np.bool_)
    if definition.needs_relevant:
        lacks = lists.n_relevant(name) == 0
    return Scores(
        measure=name,
        values=values,
        overall=np.nansum(values, axis=-1) if definition.is_sum else mean,
        n_defined=n_defined,
        is_sum=definition.is_sum,
        lacks_relevant=lacks,
        other_reason=definition.other_reason,
    )
