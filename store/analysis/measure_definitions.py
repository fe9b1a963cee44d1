"""Which function of which module each name of a measure stands for; `measures` evaluates them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis import confusion as sets
from store.analysis import ranked_measures as ranked
from store.analysis.average_precision import average_precision
from store.analysis.gain import Discount, Gain, discounted_gain, normalised_gain
from store.analysis.graded_rankings import GradedRankings
from store.analysis.incomplete_measures import bpref_of, inferred_ap_of, unjudged_at
from store.analysis.interpolated_precision import eleven_point, interpolated_precision
from store.analysis.measure_names import MeasureName
from store.analysis.q_measure import q_measure
from store.analysis.residuals import rank_biased_precision, rbp_residual
from store.analysis.roc import area_of_rankings
from store.errors import ArgumentError

Reason = Literal["no-relevant", "no-documents", "no-pairs", "no-not-relevant", "list-too-short"]
"""Why a score is undefined; see `measures`."""


class Lists:
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


_Function = Callable[[Lists, MeasureName], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Definition:
    """How a measure is computed, and why it may have no value."""

    function: _Function
    """From lists and parameters to values, shape (n_runs, n_topics); NaN = undefined."""
    needs_relevant: bool = True
    """Whether it is undefined where R = 0, or no grade is above 0."""
    other_reason: Reason | None = None
    """Why it may be undefined otherwise."""
    is_sum: bool = False
    """Whether topics are added up instead of averaged."""


def level_of(name: MeasureName) -> int:
    """Return the least relevant grade; gains count grades above 0."""
    return 1 if name.rel is None else name.rel


def _average_precision(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return average_precision(lists.relevant(name), lists.n_relevant(name))


def _precision(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return ranked.precision_at(lists.relevant(name), _cutoff(name))


def _recall(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return ranked.recall_at(lists.relevant(name), lists.n_relevant(name), _cutoff(name))


def _r_precision(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return ranked.r_precision(lists.relevant(name), lists.n_relevant(name))


def _reciprocal_rank(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return ranked.reciprocal_rank(lists.relevant(name))


def _success(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return ranked.success_at(lists.relevant(name), _cutoff(name))


def _ndcg(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    gain, discount = _gain_and_discount(name)
    return normalised_gain(
        lists.rankings.grades,
        lists.rankings.judged_grades,
        cutoff=name.cutoff,
        gain=gain,
        discount=discount,
    )


def _dcg(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    gain, discount = _gain_and_discount(name)
    return discounted_gain(lists.rankings.grades, cutoff=name.cutoff, gain=gain, discount=discount)


def _q_measure(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return q_measure(
        lists.rankings.grades, lists.rankings.judged_grades, beta=name.beta, cutoff=name.cutoff
    )


def _interpolated_precision(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    if name.recall is None:
        raise ArgumentError("recall", f"must be given for {name.name}", None)
    return interpolated_precision(lists.relevant(name), lists.n_relevant(name), name.recall)


def _eleven_point(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return eleven_point(lists.relevant(name), lists.n_relevant(name))


def _break_even(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return ranked.break_even(lists.relevant(name), lists.n_relevant(name), lists.rankings.lengths)


def _pair_accuracy(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return area_of_rankings(lists.relevant(name), lists.lengths(name))


def _judged(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return ranked.judged_share(lists.rankings.judged, lists.rankings.lengths, name.cutoff)


def _unjudged(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    judged, lengths = lists.judged(name), lists.lengths(name)
    return unjudged_at(judged, lengths, _cutoff(name), convention="trec_eval")


def _bpref(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return bpref_of(lists.rankings, level_of(name))


def _inferred_ap(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return inferred_ap_of(lists.rankings, level_of(name))


def _rbp(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return rank_biased_precision(lists.relevant(name), p=name.p)


def _rbp_residual(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return rbp_residual(lists.judged(name), lists.lengths(name), p=name.p)


def _set_precision(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return sets.precision(_confusion(lists, name), empty="zero")


def _set_recall(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return sets.recall(_confusion(lists, name))


def _set_f(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    both = _set_precision(lists, name), _set_recall(lists, name)
    if name.alpha is not None:
        return sets.f_measure(*both, alpha=name.alpha)
    return sets.f_measure(*both, beta=name.beta)


def _set_e(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return np.asarray(1 - _set_f(lists, name))


def _set_s(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return sets.precision_plus_recall(_set_precision(lists, name), _set_recall(lists, name))


def _set_borko(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return sets.borko(_set_precision(lists, name), _set_recall(lists, name))


def _set_fallout(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return sets.fallout(_confusion(lists, name))


def _set_specificity(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return sets.specificity(_confusion(lists, name))


def _set_generality(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return sets.generality(_confusion(lists, name))


def _set_accuracy(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    return sets.accuracy(_confusion(lists, name))


def _n_retrieved(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    if name.rel is None:
        return lists.rankings.lengths.astype(np.float64)
    return np.asarray(np.count_nonzero(lists.relevant(name), axis=-1), dtype=np.float64)


def _n_relevant(lists: Lists, name: MeasureName) -> NDArray[np.float64]:
    counts = lists.n_relevant(name).astype(np.float64)
    return np.asarray(np.broadcast_to(counts, lists.rankings.lengths.shape))


def _confusion(lists: Lists, name: MeasureName) -> sets.Confusion:
    """Take the whole list for the retrieved set."""
    relevant, n_relevant = lists.relevant(name), lists.n_relevant(name)
    lengths = lists.rankings.lengths
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
    "AP": Definition(_average_precision),
    "P": Definition(_precision, needs_relevant=False),
    "R": Definition(_recall),
    "Rprec": Definition(_r_precision),
    "RR": Definition(_reciprocal_rank, needs_relevant=False),
    "Success": Definition(_success, needs_relevant=False),
    "nDCG": Definition(_ndcg),
    "DCG": Definition(_dcg, needs_relevant=False),
    "Q": Definition(_q_measure),
    "IPrec": Definition(_interpolated_precision),
    "ElevenPoint": Definition(_eleven_point),
    "BreakEven": Definition(_break_even, other_reason="list-too-short"),
    "Accuracy": Definition(_pair_accuracy, other_reason="no-pairs"),
    "Judged": Definition(_judged, needs_relevant=False, other_reason="no-documents"),
    "Unjudged": Definition(_unjudged, needs_relevant=False),
    "Bpref": Definition(_bpref),
    "infAP": Definition(_inferred_ap),
    "RBP": Definition(_rbp, needs_relevant=False),
    "RBPResidual": Definition(_rbp_residual, needs_relevant=False),
    "SetP": Definition(_set_precision, needs_relevant=False),
    "SetR": Definition(_set_recall),
    "SetF": Definition(_set_f),
    "SetE": Definition(_set_e),
    "SetS": Definition(_set_s),
    "SetBorko": Definition(_set_borko),
    "SetFallout": Definition(_set_fallout, needs_relevant=False, other_reason="no-not-relevant"),
    "SetSpecificity": Definition(
        _set_specificity, needs_relevant=False, other_reason="no-not-relevant"
    ),
    "SetGenerality": Definition(_set_generality, needs_relevant=False),
    "SetAccuracy": Definition(_set_accuracy, needs_relevant=False),
    "NumRet": Definition(_n_retrieved, needs_relevant=False, is_sum=True),
    "NumRel": Definition(_n_relevant, needs_relevant=False, is_sum=True),
}
"""How each of `measure_names.SIGNATURES` is computed."""
