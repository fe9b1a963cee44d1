"""Every measure by its name; scores of runs and topics.

Each is defined in the file of its idea, beside this one: `average_precision`, `ranked`, `gain`,
`incomplete`, `residuals`, `confusion`. Names are read by `names`, and belong to functions by the
table below.

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
is told in `names`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures import confusion as sets
from store.analysis.measures import ranked
from store.analysis.measures.average_precision import (
    average_precision,
    mean_average_precision,
    own_average_precision,
)
from store.analysis.measures.confusion import area_of_rankings
from store.analysis.measures.gain import Discount, Gain, discounted_gain, normalised_gain, q_measure
from store.analysis.measures.incomplete import bpref_of, inferred_ap_of, unjudged_at
from store.analysis.measures.ranked import eleven_point, interpolated_precision
from store.analysis.measures.residuals import rank_biased_precision, rbp_residual
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from store.analysis.measures.names import MeasureName

    _Function = Callable[["GradedLists", MeasureName], NDArray[np.float64]]

Reason = Literal["no-relevant", "no-documents", "no-pairs", "no-not-relevant", "list-too-short"]
"""Why a score is undefined; see `measures`."""


class GradedLists:
    """Graded rankings, with what several measures need made once."""

    def __init__(self, rankings: GradedRankings) -> None:
        self.rankings = rankings
        self._relevant: dict[int, NDArray[np.bool_]] = {}
        self._n_relevant: dict[int, NDArray[np.int64]] = {}

    def relevant(self, name: MeasureName) -> NDArray[np.bool_]:
        """Return the relevant ranks at the measure's level, down to its cutoff."""
        return self._reached(level_of(name))[..., : name.cutoff]

    def judged(self, name: MeasureName) -> NDArray[np.bool_]:
        """Return the ranks judged as trec_eval counts, grade 0 or above, down to the cutoff."""
        return self._reached(0)[..., : name.cutoff]

    def lengths(self, name: MeasureName) -> NDArray[np.int64]:
        """Return the ranks filled down to the measure's cutoff."""
        lengths = self.rankings.lengths
        return lengths if name.cutoff is None else np.minimum(lengths, name.cutoff)

    def n_relevant(self, name: MeasureName) -> NDArray[np.int64]:
        """Return R of each topic at the measure's level."""
        level = level_of(name)
        if level not in self._n_relevant:
            self._n_relevant[level] = self.rankings.n_relevant(level)
        return self._n_relevant[level]

    def _reached(self, level: int) -> NDArray[np.bool_]:
        """Return the ranks with a grade from a level on."""
        if level not in self._relevant:
            self._relevant[level] = self.rankings.relevant(level)
        return self._relevant[level]


@dataclass(frozen=True, slots=True)
class Definition:
    """What a measure is, what it can be told, how it is computed, and why it may have no value."""

    summary: str
    """What it is, in a few words."""
    function: _Function
    """From lists and parameters to values, shape (n_runs, n_topics); NaN = undefined."""
    at: Literal["cutoff", "recall"] | None = None
    """What stands after ``@``; ``None`` = nothing may."""
    is_at_required: bool = False
    parameters: tuple[str, ...] = ("rel",)
    """Of ``rel``, ``beta``, ``alpha``, ``dcg``, ``p`` and ``docs``, the ones it takes; it needs
    `docs` where it takes it."""
    is_rel_shown: bool = False
    """Whether `rel` is written even if it is 1, since without it ir_measures means another."""
    needs_relevant: bool = True
    """Whether it is undefined where R = 0, or no grade is above 0."""
    other_reason: Reason | None = None
    """Why it may be undefined otherwise."""
    is_sum: bool = False
    """Whether topics are added up instead of averaged."""


def level_of(name: MeasureName) -> int:
    """Return the least relevant grade; gains count grades above 0."""
    return 1 if name.rel is None else name.rel


def _ndcg(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    gain, discount = _gain_and_discount(name)
    return normalised_gain(
        lists.rankings.grades, lists.rankings.judged_grades, cutoff=name.cutoff, gain=gain, discount=discount
    )


def _dcg(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    gain, discount = _gain_and_discount(name)
    return discounted_gain(lists.rankings.grades, cutoff=name.cutoff, gain=gain, discount=discount)


def _interpolated_precision(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    if name.recall is None:
        raise ArgumentError("recall", f"must be given for {name.name}", None)
    return interpolated_precision(lists.relevant(name), lists.n_relevant(name), name.recall)


def _unjudged(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    judged, lengths = lists.judged(name), lists.lengths(name)
    return unjudged_at(judged, lengths, _cutoff(name), convention="trec_eval")


def _set_precision(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    return sets.precision(_confusion(lists, name), empty="zero")


def _set_recall(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    return sets.recall(_confusion(lists, name))


def _set_f(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    both = _set_precision(lists, name), _set_recall(lists, name)
    if name.alpha is not None:
        return sets.f_measure(*both, alpha=name.alpha)
    return sets.f_measure(*both, beta=name.beta)


def _n_retrieved(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    if name.rel is None:
        return lists.rankings.lengths.astype(np.float64)
    return np.asarray(np.count_nonzero(lists.relevant(name), axis=-1), dtype=np.float64)


def _n_relevant(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    counts = lists.n_relevant(name).astype(np.float64)
    return np.asarray(np.broadcast_to(counts, lists.rankings.lengths.shape))


def _confusion(lists: GradedLists, name: MeasureName) -> sets.Confusion:
    """Take the list down to the cutoff for the retrieved set."""
    relevant, n_relevant = lists.relevant(name), lists.n_relevant(name)
    lengths = lists.lengths(name)
    if name.docs is not None:
        missed = n_relevant - np.count_nonzero(relevant, axis=-1)
        seen = int((lengths + missed).max(initial=0))
        if name.docs < seen:
            requirement = f"must be at least the {seen} documents retrieved or relevant for a topic"
            raise ArgumentError("docs", requirement, name.docs)
    return sets.confusion_at(relevant, n_relevant, lengths, n_documents=name.docs)


def _cutoff(name: MeasureName) -> int:
    """Return the cutoff of a measure that cannot do without."""
    if name.cutoff is None:
        raise ArgumentError("cutoff", f"must be given for {name.name}", None)
    return name.cutoff


def _gain_and_discount(name: MeasureName) -> tuple[Gain, Discount]:
    """Take a `dcg` apart."""
    gain: Gain = "exponential" if name.dcg.startswith("exp-") else "grade"
    discount: Discount = "log2" if name.dcg.endswith("log2") else "jarvelin"
    return gain, discount


MEASURES: dict[str, Definition] = {
    "AP": Definition(
        "average precision",
        lambda lists, name: average_precision(lists.relevant(name), lists.n_relevant(name)),
        "cutoff",
    ),
    "OwnAP": Definition(
        "average precision with R of the documents that the run retrieved (Kishida 2001, eq. 1)",
        lambda lists, name: own_average_precision(lists.relevant(name), lists.n_relevant(name)),
        "cutoff",
    ),
    "P": Definition(
        "precision",
        lambda lists, name: ranked.precision_at(lists.relevant(name), _cutoff(name)),
        "cutoff",
        is_at_required=True,
        needs_relevant=False,
    ),
    "R": Definition(
        "recall",
        lambda lists, name: ranked.recall_at(lists.relevant(name), lists.n_relevant(name), _cutoff(name)),
        "cutoff",
        is_at_required=True,
    ),
    "Rprec": Definition(
        "precision at rank R",
        lambda lists, name: ranked.r_precision(lists.relevant(name), lists.n_relevant(name)),
    ),
    "RR": Definition(
        "reciprocal rank of the first relevant document",
        lambda lists, name: ranked.reciprocal_rank(lists.relevant(name)),
        "cutoff",
        needs_relevant=False,
    ),
    "Success": Definition(
        "1 with a relevant document, else 0",
        lambda lists, name: ranked.success_at(lists.relevant(name), _cutoff(name)),
        "cutoff",
        is_at_required=True,
        needs_relevant=False,
    ),
    "nDCG": Definition("normalised discounted gain", _ndcg, "cutoff", parameters=("dcg",)),
    "DCG": Definition("discounted gain", _dcg, "cutoff", parameters=("dcg",), needs_relevant=False),
    "Q": Definition(
        "Q-measure, AP with gains that weigh beta",
        lambda lists, name: q_measure(
            lists.rankings.grades, lists.rankings.judged_grades, beta=name.beta, cutoff=name.cutoff
        ),
        "cutoff",
        parameters=("beta",),
    ),
    "IPrec": Definition(
        "interpolated precision at a recall", _interpolated_precision, "recall", is_at_required=True
    ),
    "ElevenPoint": Definition(
        "interpolated precision, mean over recalls 0, 0.1, ..., 1",
        lambda lists, name: eleven_point(lists.relevant(name), lists.n_relevant(name)),
    ),
    "BreakEven": Definition(
        "where precision equals recall",
        lambda lists, name: ranked.break_even(
            lists.relevant(name), lists.n_relevant(name), lists.rankings.lengths
        ),
        other_reason="list-too-short",
    ),
    "Accuracy": Definition(
        "pairs of retrieved documents in the right order (AUC)",
        lambda lists, name: area_of_rankings(lists.relevant(name), lists.lengths(name)),
        "cutoff",
        other_reason="no-pairs",
    ),
    "Judged": Definition(
        "share of judged documents",
        lambda lists, name: ranked.judged_share(lists.rankings.judged, lists.rankings.lengths, name.cutoff),
        "cutoff",
        parameters=(),
        needs_relevant=False,
        other_reason="no-documents",
    ),
    "Unjudged": Definition(
        "unjudged documents / N, as unj_N of trec_eval",
        _unjudged,
        "cutoff",
        is_at_required=True,
        parameters=(),
        needs_relevant=False,
    ),
    "Bpref": Definition(
        "preferences for relevant documents kept, unjudged ones passed over",
        lambda lists, name: bpref_of(lists.rankings, level_of(name)),
    ),
    "infAP": Definition(
        "average precision inferred from a sample of the pool",
        lambda lists, name: inferred_ap_of(lists.rankings, level_of(name)),
    ),
    "RBP": Definition(
        "rank-biased precision",
        lambda lists, name: rank_biased_precision(lists.relevant(name), p=name.p),
        "cutoff",
        parameters=("rel", "p"),
        is_rel_shown=True,
        needs_relevant=False,
    ),
    "RBPResidual": Definition(
        "what unjudged documents and the end may add to RBP",
        lambda lists, name: rbp_residual(lists.judged(name), lists.lengths(name), p=name.p),
        "cutoff",
        parameters=("p",),
        needs_relevant=False,
    ),
    "SetP": Definition("precision of the list", _set_precision, "cutoff", needs_relevant=False),
    "SetR": Definition("recall of the list", _set_recall, "cutoff"),
    "SetF": Definition("F of the list", _set_f, "cutoff", parameters=("rel", "beta", "alpha")),
    "SetE": Definition(
        "1 - F of the list",
        lambda lists, name: np.asarray(1 - _set_f(lists, name)),
        "cutoff",
        parameters=("rel", "beta", "alpha"),
    ),
    "SetS": Definition(
        "precision + recall of the list",
        lambda lists, name: sets.precision_plus_recall(_set_precision(lists, name), _set_recall(lists, name)),
        "cutoff",
    ),
    "SetBorko": Definition(
        "precision + recall - 1 of the list",
        lambda lists, name: sets.borko(_set_precision(lists, name), _set_recall(lists, name)),
        "cutoff",
    ),
    "SetFallout": Definition(
        "not relevant documents retrieved",
        lambda lists, name: sets.fallout(_confusion(lists, name)),
        "cutoff",
        parameters=("rel", "docs"),
        needs_relevant=False,
        other_reason="no-not-relevant",
    ),
    "SetSpecificity": Definition(
        "1 - fallout",
        lambda lists, name: sets.specificity(_confusion(lists, name)),
        "cutoff",
        parameters=("rel", "docs"),
        needs_relevant=False,
        other_reason="no-not-relevant",
    ),
    "SetGenerality": Definition(
        "documents that are relevant",
        lambda lists, name: sets.generality(_confusion(lists, name)),
        "cutoff",
        parameters=("rel", "docs"),
        needs_relevant=False,
    ),
    "SetAccuracy": Definition(
        "documents on the right side",
        lambda lists, name: sets.accuracy(_confusion(lists, name)),
        "cutoff",
        parameters=("rel", "docs"),
        needs_relevant=False,
    ),
    "NumRet": Definition(
        "documents retrieved; with rel, the relevant ones",
        _n_retrieved,
        is_rel_shown=True,
        needs_relevant=False,
        is_sum=True,
    ),
    "NumRel": Definition("relevant documents of the topic", _n_relevant, needs_relevant=False, is_sum=True),
}
"""The measures by name, in the order in which they are listed."""


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
        """Tell why the value at these places in `values` is undefined; ``None`` when there is one."""
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
        In the order of `measures`. O(ranks of all runs) a measure; a cutoff makes it that many ranks only.

    Raises
    ------
    UnknownNameError
        If no measure has the name.
    ArgumentError
        If a measure's cutoff is above that of the rankings, or another of its parameters cannot be
        used on them.

    Examples
    --------
    Grades 0, 2, 1 and one of grade 1 that was not retrieved; topic t2 has no relevant document:

    >>> from store.analysis.rankings import graded_rankings
    >>> from store.analysis.measures.names import parse_measure
    >>> rankings = graded_rankings(
    ...     ["t1", "t2"],
    ...     ["run"],
    ...     {("run", "t1"): np.array([1, 2, 3]), ("run", "t2"): np.array([1])},
    ...     {"t1": (np.array([1, 2, 3, 4]), np.array([0, 2, 1, 1])), "t2": (np.array([1]), np.array([0]))},
    ...     cutoff=1000,
    ... )
    >>> names = [parse_measure(text) for text in ("AP", "AP(rel=2)", "P@10")]
    >>> for scores in evaluate(rankings, names):
    ...     print(scores.measure, scores.values.round(4).tolist(), scores.overall.round(4).tolist())
    AP [[0.3889, nan]] [0.3889]
    AP(rel=2) [[0.5, nan]] [0.5]
    P@10 [[0.2, 0.0]] [0.1]
    """
    lists = GradedLists(rankings)
    return [_scores(lists, name) for name in measures]


def _scores(lists: GradedLists, name: MeasureName) -> Scores:
    """Score by one measure."""
    if name.name not in MEASURES:
        raise UnknownNameError("measure", name.name, MEASURES)
    definition = MEASURES[name.name]
    reach = lists.rankings.cutoff
    if name.cutoff is not None and name.cutoff > reach:
        requirement = f"of {name} must be at most the {reach} ranks that were looked at"
        raise ArgumentError("cutoff", requirement, name.cutoff)
    values = np.asarray(definition.function(lists, name), dtype=np.float64)
    lacks = np.zeros(values.shape[-1], dtype=np.bool_)
    if definition.needs_relevant:
        lacks = lists.n_relevant(name) == 0
    return _overall(name, values, lacks)


def joined(parts: Sequence[Sequence[Scores]]) -> list[Scores]:
    """Put the scores of parts of the topics together, each part as `evaluate` gave it, at least one.

    The same to the last bit as `evaluate` of all topics: sums go from rank 1 down, so that it does not count
    how much longer other lists are.
    """
    return [
        _overall(
            of_measure[0].measure,
            np.concatenate([one.values for one in of_measure], axis=-1),
            np.concatenate([one.lacks_relevant for one in of_measure]),
        )
        for of_measure in zip(*parts, strict=True)
    ]


def _overall(name: MeasureName, values: NDArray[np.float64], lacks: NDArray[np.bool_]) -> Scores:
    """Average values over the topics, or add them up."""
    definition = MEASURES[name.name]
    mean, n_defined = mean_average_precision(values)
    return Scores(
        measure=name,
        values=values,
        overall=np.nansum(values, axis=-1) if definition.is_sum else mean,
        n_defined=n_defined,
        is_sum=definition.is_sum,
        lacks_relevant=lacks,
        other_reason=definition.other_reason,
    )
