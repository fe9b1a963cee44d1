"""Measures by their names, as users type them: ``P@10``, ``nDCG(dcg='exp-log2')@10``, ``AP(rel=2)``.

The names and their form are those of ir_measures where it has the measure: a name, parameters in
parentheses, and after ``@`` the cutoff, or for IPrec the recall. The same text means the same
measure there, with four exceptions, each for a reason:

- without ``rel`` the level of relevance is the one the caller gives, not always 1, and RBP has
  one, while there it then has graded gains;
- ``SetF(beta=2.0)`` is the textbook's F, in which recall weighs beta times as much as precision;
  trec_eval, and ir_measures with it, leaves beta unsquared, so that its 4.0 is our 2.0;
- a measure of a set, such as ``SetF``, may have a cutoff, which ir_measures gives to none of them;
- ``dcg`` may also be ``jarvelin`` or ``exp-jarvelin``: the discount of the original article.

``AP(condensed)`` is AP of the list without its unjudged documents: ``AP(judged_only=True)`` there, which is
read, too, and trec_eval's with -J.

Each is defined in the file of its idea, beside this one: `average_precision`, `ranked`, `gain`,
`confusion`. Names belong to functions by the table `MEASURES`. How far a score can be
known with documents unjudged is in `bounds`; a new reason needs its words in `pooler.reasons`.

An undefined score is a reason, never a number, and does not enter the mean:

================ ================================================================================
no-relevant      the topic has no relevant document
no-documents     the run has no document for the topic, so none that could be judged
no-pairs         the run has not both a relevant and another document to compare
no-not-relevant  every document of the collection is relevant
list-too-short   the run ends above rank R
none-retrieved   the run has none of the topic's relevant documents
================ ================================================================================

Measures of a judged sample, `Definition.is_sampled`, are computed by `estimates`, of which the last four
reasons are.

A run without documents for a topic that has relevant ones scores 0 there, as with trec_eval -c;
were it left out, a run could gain by not answering. Precision at a cutoff, precision of the list,
reciprocal rank, ERR and success are 0, not undefined, for a topic without relevant documents; gdeval passes
over such a topic.

A grade below 0 is a judgement to Judged, as it is to ir_measures; to Bpref, infAP, Unjudged, RBPResidual
and condensed lists it is none, as it is to trec_eval. -1 of qrels is no grade unless it is declared to be, so
that it is not judged, where ir_measures says it is.

Where trec_eval 9, pytrec_eval or ir_measures define a measure, it is theirs if documents are in order
``trec9`` of `store.ranking`: equal scores, rounded to 32 bits, by docno descending. In order ``trec``, of
trec_eval 10, scores that only this rounding ties stand apart. What is meant to differ is listed above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from math import inf
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import one_of
from store.analysis.measures import confusion as sets
from store.analysis.measures import ranked
from store.analysis.measures.average_precision import (
    average_precision,
    expected_average_precision,
    least_average_precision,
    log_average_precision,
    mean_average_precision,
    own_n_relevant,
)
from store.analysis.measures.confusion import area_of_rankings
from store.analysis.measures.gain import (
    Discount,
    Gain,
    discounted_gain,
    expected_reciprocal_rank,
    normalised_gain,
    normalised_reciprocal_rank,
    q_measure,
    rank_biased_precision,
    rbp_residual,
    stopping_chances,
)
from store.analysis.measures.ranked import bpref_of, eleven_point, inferred_ap_of, interpolated_precision
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError, UnknownNameError

Reason = Literal[
    "no-relevant", "no-documents", "no-pairs", "no-not-relevant", "list-too-short", "none-retrieved",
    "no-strata", "no-probabilities", "uneven-sample", "not-sampled",
]  # fmt: skip  # a family a line
"""Why a score is undefined; which measures have which, the table in the head of this file."""

Dcg = Literal["log2", "exp-log2", "jarvelin", "exp-jarvelin"]
DCGS: tuple[Dcg, ...] = get_args(Dcg)

_PERSISTENCE = 0.8
"""The p of ir_measures."""
_HIGHEST = 4
"""The highest grade of gdeval, and with it of ir_measures."""


@dataclass(frozen=True, slots=True)
class MeasureName:
    """One measure with all its parameters; make it with `parse_measure`."""

    name: str
    """A key of `MEASURES`."""
    cutoff: int | None = None
    """Ranks that count, at least 1; ``None`` = all."""
    recall: Fraction | None = None
    """In [0, 1], exactly as typed."""
    rel: int | None = None
    """Least grade that counts as relevant; ``None`` where grades play no part, or as gains."""
    beta: float = 1.0
    """How much more recall weighs than precision; in Q, what gains weigh."""
    dcg: Dcg = "log2"
    """Discount and gain."""
    docs: int | None = None
    """Documents of the collection."""
    alpha: float | None = None
    """Weight of precision, instead of `beta`."""
    p: float = _PERSISTENCE
    """Persistence, at least 0 and below 1: how likely the next rank is looked at."""
    max: int = _HIGHEST
    """Highest grade of the scale, from 1 to 1,000: what a grade is worth in ERR is told by it."""
    condensed: bool = False
    """Whether unjudged documents are taken out of the list first."""

    @property
    def level(self) -> int:
        """Least relevant grade; gains count grades above 0."""
        return 1 if self.rel is None else self.rel

    @property
    def gain(self) -> Gain:
        """What a grade is worth, of `dcg`."""
        return "exponential" if self.dcg.startswith("exp-") else "grade"

    @property
    def discount(self) -> Discount:
        """What a rank weighs, of `dcg`."""
        return "log2" if self.dcg.endswith("log2") else "jarvelin"

    def __str__(self) -> str:
        """Write the name in its shortest form, with the default ``rel`` of ir_measures, 1.

        Text that both know is ``repr(ir_measures.parse_measure(text))``, but for ``condensed``, their
        ``judged_only=True``.
        """
        shown = []
        if self.rel is not None and (self.rel != 1 or MEASURES[self.name].is_rel_shown):
            shown.append(f"rel={self.rel}")
        if self.beta != 1:
            shown.append(f"beta={_plain(self.beta)}")
        if self.alpha is not None:
            shown.append(f"alpha={_plain(self.alpha)}")
        if self.dcg != "log2":
            shown.append(f"dcg={self.dcg!r}")
        if self.docs is not None:
            shown.append(f"docs={self.docs}")
        if self.p != _PERSISTENCE:
            shown.append(f"p={_plain(self.p)}")
        if self.max != _HIGHEST:
            shown.append(f"max={self.max}")
        if self.condensed:
            shown.append("condensed")
        at = f"@{self.cutoff}" if self.cutoff is not None else ""
        if self.recall is not None:
            at = f"@{_plain(float(self.recall))}"
        return self.name + (f"({','.join(shown)})" if shown else "") + at


class GradedLists:
    """Graded rankings, with what several measures need made once."""

    def __init__(self, rankings: GradedRankings) -> None:
        self.rankings = rankings
        self._reached = cache(rankings.relevant)
        self._n_relevant = cache(rankings.n_relevant)
        self._condensed = cache(lambda least: GradedLists(ranked.condensed(rankings, least)))

    def of(self, name: MeasureName) -> GradedLists:
        """Return the lists that the measure is of: these, or condensed ones."""
        return self._condensed(min(0, name.level)) if name.condensed else self

    def relevant(self, name: MeasureName) -> NDArray[np.bool_]:
        """Return the relevant ranks at the measure's level, down to its cutoff."""
        return self._reached(name.level)[..., : name.cutoff]

    def judged(self, name: MeasureName) -> NDArray[np.bool_]:
        """Return the ranks judged as trec_eval counts, grade 0 or above, down to the cutoff."""
        return self._reached(0)[..., : name.cutoff]

    def lengths(self, name: MeasureName) -> NDArray[np.int64]:
        """Return the ranks filled down to the measure's cutoff."""
        lengths = self.rankings.lengths
        return lengths if name.cutoff is None else np.minimum(lengths, name.cutoff)

    def n_relevant(self, name: MeasureName) -> NDArray[np.int64]:
        """Return R of each topic at the measure's level."""
        return self._n_relevant(name.level)


_Function = Callable[[GradedLists, MeasureName], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Definition:
    """A measure: its parameters, how it is computed, and why it may have no value."""

    summary: str
    """What it is, in a few words."""
    function: _Function
    """From lists and parameters to values, shape (n_runs, n_topics); NaN = undefined."""
    at: Literal["cutoff", "recall"] | None = None
    """What stands after ``@``; ``None`` = nothing may."""
    is_at_required: bool = False
    parameters: tuple[str, ...] = ("rel",)
    """Of ``rel``, ``beta``, ``alpha``, ``dcg``, ``p``, ``max`` and ``docs``, the ones it takes; it needs
    `docs` where it takes it."""
    is_rel_shown: bool = False
    """Whether `rel` is written even if it is 1, since without it ir_measures means another."""
    needs_relevant: bool = True
    """Whether it is undefined where R = 0, or no grade is above 0."""
    other_reason: Reason | None = None
    """Why it may be undefined otherwise."""
    is_sum: bool = False
    """Whether topics are added up instead of averaged."""
    is_geometric: bool = False
    """Whether values are logarithms, and the mean is the exponential of theirs."""
    can_condense: bool = True
    """Whether it takes ``condensed``, too; not where it is of what is unjudged."""
    is_sampled: bool = False
    """Whether it is estimated from a judged sample, as `estimates` does."""


def _interpolated_precision(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    if name.recall is None:
        raise ArgumentError("recall", f"must be given for {name.name}", None)
    return interpolated_precision(lists.relevant(name), lists.n_relevant(name), name.recall)


def _of_ranks(function: Callable[[NDArray[np.bool_], NDArray[np.int64]], NDArray[np.float64]]) -> _Function:
    """Make a measure of the relevant ranks and R."""
    return lambda lists, name: function(lists.relevant(name), lists.n_relevant(name))


def _of_collection(
    summary: str, ratio: Callable[[sets.Confusion], NDArray[np.float64]], other_reason: Reason | None = None
) -> Definition:
    """Define a ratio of the confusion table that needs the size of the collection."""
    return Definition(
        summary,
        lambda lists, name: ratio(_confusion(lists, name)),
        "cutoff",
        parameters=("rel", "docs"),
        needs_relevant=False,
        other_reason=other_reason,
    )


def _cell(summary: str, name: str, *parameters: str) -> Definition:
    return Definition(
        summary,
        lambda lists, measure: getattr(_confusion(lists, measure), name).astype(np.float64),
        "cutoff",
        parameters=("rel", *parameters),
        needs_relevant=False,
        is_sum=True,
    )


def _of_sample(summary: str, **how: Any) -> Definition:
    def refused(_: GradedLists, name: MeasureName) -> NDArray[np.float64]:
        requirement = "must not be one of a judged sample, which `evaluate` alone takes"
        raise ArgumentError("measure", requirement, str(name))

    return Definition(summary, refused, parameters=(), is_sampled=True, can_condense=False, **how)


def _of_own_list(
    function: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]],
) -> _Function:
    """Make a measure of the length of the list and its relevant documents; without one there is no value."""
    return lambda lists, name: function(
        np.maximum(lists.lengths(name), 1), own_n_relevant(lists.relevant(name))
    )


def _check_grades(lists: GradedLists, name: MeasureName) -> None:
    highest = max((int(one.max(initial=0)) for one in lists.rankings.judged_grades), default=0)
    if highest > name.max:
        example = replace(name, max=highest)
        raise ArgumentError("measure", f"must name the highest grade there is, as in `{example}`", str(name))


def _err(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    _check_grades(lists, name)
    grades = lists.rankings.grades[..., : name.cutoff]
    return expected_reciprocal_rank(stopping_chances(grades, highest=name.max))


def _nerr(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    _check_grades(lists, name)
    found = lists.rankings
    return normalised_reciprocal_rank(found.grades, found.judged_grades, highest=name.max, cutoff=name.cutoff)


def _set_precision(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    return np.nan_to_num(sets.precision(_confusion(lists, name)))  # 0 of an empty list, as in trec_eval


def _both(lists: GradedLists, name: MeasureName) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return _set_precision(lists, name), sets.recall(_confusion(lists, name))


def _set_f(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    if name.alpha is not None:
        return sets.f_measure(*_both(lists, name), alpha=name.alpha)
    return sets.f_measure(*_both(lists, name), beta=name.beta)


def _n_retrieved(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    if name.rel is None:
        return lists.rankings.lengths.astype(np.float64)
    return np.asarray(np.count_nonzero(lists.relevant(name), axis=-1), dtype=np.float64)


def _n_relevant(lists: GradedLists, name: MeasureName) -> NDArray[np.float64]:
    counts = lists.n_relevant(name).astype(np.float64)
    return np.asarray(np.broadcast_to(counts, lists.rankings.lengths.shape))


def _confusion(lists: GradedLists, name: MeasureName) -> sets.Confusion:
    """Return the confusion table with the list down to the cutoff as the retrieved set."""
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
    if name.cutoff is None:
        raise ArgumentError("cutoff", f"must be given for {name.name}", None)
    return name.cutoff


MEASURES: dict[str, Definition] = {
    "AP": Definition("average precision", _of_ranks(average_precision), "cutoff"),
    "OwnAP": Definition(
        "average precision with R of the documents that the run retrieved (Kishida 2001, eq. 1)",
        _of_ranks(lambda relevant, _: average_precision(relevant, own_n_relevant(relevant))),
        "cutoff",
        other_reason="none-retrieved",
    ),
    "GMAP": Definition(
        "geometric mean of AP over topics, of .00001 where it is less; by topic the natural logarithm",
        _of_ranks(log_average_precision),
        is_geometric=True,
    ),
    "LeastAP": Definition(
        "OwnAP of the same list with its relevant documents last (Kishida 2001, eq. 4)",
        _of_own_list(least_average_precision),
        "cutoff",
        other_reason="none-retrieved",
    ),
    "RandomAP": Definition(
        "OwnAP expected of the same list in random order (Kishida 2001, eq. 5)",
        _of_own_list(expected_average_precision),
        "cutoff",
        other_reason="none-retrieved",
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
    "Rprec": Definition("precision at rank R", _of_ranks(ranked.r_precision)),
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
    "nDCG": Definition(
        "normalised discounted gain",
        lambda lists, name: normalised_gain(
            lists.rankings.grades,
            lists.rankings.judged_grades,
            cutoff=name.cutoff,
            gain=name.gain,
            discount=name.discount,
        ),
        "cutoff",
        parameters=("dcg",),
    ),
    "CG": Definition(
        "cumulated gain, not discounted",
        lambda lists, name: discounted_gain(lists.rankings.grades, cutoff=name.cutoff, discount="none"),
        "cutoff",
        parameters=(),
        needs_relevant=False,
    ),
    "nCG": Definition(
        "cumulated gain divided by that of the ideal list",
        lambda lists, name: normalised_gain(
            lists.rankings.grades, lists.rankings.judged_grades, cutoff=name.cutoff, discount="none"
        ),
        "cutoff",
        parameters=(),
    ),
    "DCG": Definition(
        "discounted gain",
        lambda lists, name: discounted_gain(
            lists.rankings.grades, cutoff=name.cutoff, gain=name.gain, discount=name.discount
        ),
        "cutoff",
        parameters=("dcg",),
        needs_relevant=False,
    ),
    "Q": Definition(
        "Q-measure, AP with gains that weigh beta",
        lambda lists, name: q_measure(
            lists.rankings.grades, lists.rankings.judged_grades, beta=name.beta, cutoff=name.cutoff
        ),
        "cutoff",
        parameters=("beta",),
    ),
    "ERR": Definition(
        "expected reciprocal rank; max is the highest grade of the scale, 4 in gdeval",
        _err,
        "cutoff",
        parameters=("max",),
        needs_relevant=False,
    ),
    "nERR": Definition(
        "ERR divided by that of the ideal list; NERR8 to NERR11 of ir_measures are others",
        _nerr,
        "cutoff",
        parameters=("max",),
    ),
    "IPrec": Definition(
        "interpolated precision at a recall", _interpolated_precision, "recall", is_at_required=True
    ),
    "ElevenPoint": Definition(
        "interpolated precision, mean over recalls 0, 0.1, ..., 1", _of_ranks(eleven_point)
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
        can_condense=False,
    ),
    "Unjudged": Definition(
        "unjudged documents / N, as unj_N of trec_eval",
        lambda lists, name: ranked.unjudged_share(lists.judged(name), lists.lengths(name), _cutoff(name)),
        "cutoff",
        is_at_required=True,
        parameters=(),
        needs_relevant=False,
        can_condense=False,
    ),
    "Bpref": Definition(
        "preferences for relevant documents kept, unjudged ones passed over",
        lambda lists, name: bpref_of(lists.rankings, name.level),
    ),
    "infAP": Definition(
        "average precision inferred from a sample of the pool",
        lambda lists, name: inferred_ap_of(lists.rankings, name.level),
    ),
    "xinfAP": _of_sample("average precision, from a judged sample with strata, as in sample_eval.pl"),
    "infNDCG": _of_sample("nDCG, likewise"),
    "iP": _of_sample("precision, likewise", at="cutoff", is_at_required=True, needs_relevant=False),
    "statAP": _of_sample("average precision, from a judged sample with probabilities, as in statAP_MQ_eval"),
    "RBP": Definition(
        "rank-biased precision; in ir_measures, without rel, gains are graded",
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
        can_condense=False,
    ),
    "SetP": Definition("precision of the list", _set_precision, "cutoff", needs_relevant=False),
    "SetR": Definition(
        "recall of the list", lambda lists, name: sets.recall(_confusion(lists, name)), "cutoff"
    ),
    "SetF": Definition(
        "F of the list; beta=2 is beta=4 in ir_measures and trec_eval, which leave it unsquared",
        _set_f,
        "cutoff",
        parameters=("rel", "beta", "alpha"),
    ),
    "SetE": Definition(
        "1 - F of the list",
        lambda lists, name: np.asarray(1 - _set_f(lists, name)),
        "cutoff",
        parameters=("rel", "beta", "alpha"),
    ),
    "SetS": Definition(
        "precision + recall of the list",
        lambda lists, name: sets.precision_plus_recall(*_both(lists, name)),
        "cutoff",
    ),
    "SetBorko": Definition(
        "precision + recall - 1 of the list", lambda lists, name: sets.borko(*_both(lists, name)), "cutoff"
    ),
    "SetFallout": _of_collection("not relevant documents retrieved", sets.fallout, "no-not-relevant"),
    "SetSpecificity": _of_collection("1 - fallout", sets.specificity, "no-not-relevant"),
    "SetGenerality": _of_collection("documents that are relevant", sets.generality),
    "SetAccuracy": _of_collection("documents on the right side", sets.accuracy),
    "TP": _cell("documents retrieved and relevant", "true_positive"),
    "FP": _cell("documents retrieved, not relevant", "false_positive"),
    "FN": _cell("documents relevant, not retrieved", "false_negative"),
    "TN": _cell("documents neither retrieved nor relevant", "true_negative", "docs"),
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
    """Shape (n_runs,): mean over the defined topics, for counts their sum, for logarithms the exponential of
    the mean; NaN = none is."""
    n_defined: NDArray[np.int64]
    """Shape (n_runs,): topics that `overall` is over."""
    is_sum: bool
    """Whether `overall` is a sum."""
    lacks_relevant: NDArray[np.bool_]
    """Shape (n_topics,): topics without a relevant document, where the measure needs one."""
    other_reason: Reason | None
    """Why a value is NaN that does not lack a relevant document."""

    def reason(self, run: int, topic: int) -> Reason | None:
        """Return why the value at these places in `values` is undefined; ``None`` when there is one."""
        if not self.values.shape[1]:
            return "no-relevant"  # no topic is judged
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
        `UnknownNameError` if no measure has the name, `ArgumentError` if a measure's cutoff is above that of
        the rankings, or another of its parameters cannot be used on them.

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
    if name.name not in MEASURES:
        raise UnknownNameError("measure", name.name, MEASURES)
    definition = MEASURES[name.name]
    reach = lists.rankings.cutoff
    if name.cutoff is not None and name.cutoff > reach:
        requirement = f"of {name} must be at most the {reach} ranks that were looked at"
        raise ArgumentError("cutoff", requirement, name.cutoff)
    lists = lists.of(name)
    values = np.asarray(definition.function(lists, name), dtype=np.float64)
    lacks = np.zeros(values.shape[-1], dtype=np.bool_)
    if definition.needs_relevant:
        lacks = lists.n_relevant(name) == 0
    mean, n_defined = mean_average_precision(values)
    if definition.is_geometric:
        mean = np.exp(mean)
    return Scores(
        measure=name,
        values=values,
        overall=np.nansum(values, axis=-1) if definition.is_sum else mean,
        n_defined=n_defined,
        is_sum=definition.is_sum,
        lacks_relevant=lacks,
        other_reason=definition.other_reason,
    )


def _plain(number: float) -> str:
    """Write a number in full, without an exponent."""
    return "inf" if number == inf else format(Decimal(repr(number)), "f")


ALIASES: dict[str, str] = {
    "MAP": "AP",
    "Precision": "P",
    "Recall": "R",
    "RPrec": "Rprec",
    "MRR": "RR",
    "BPref": "Bpref",
    "NDCG": "nDCG",
    "NumRelRet": "NumRet",
    "F": "SetF",
    "E": "SetE",
    "AUC": "Accuracy",
}
"""Other names, as ir_measures has them, but for the last three, of textbooks; NumRelRet is NumRet of relevant
documents."""

_ELSEWHERE = {
    "11pt_avg": "ElevenPoint",
    "average_precision": "AP",
    "gm_map": "GMAP",
    "hit_rate": "Success",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_ret": "NumRet",
    "r_precision": "Rprec",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "set_f": "SetF",
    "set_p": "SetP",
    "set_recall": "SetR",
}
"""Names that trec_eval, pytrec_eval and ranx have for the very same, in lower case."""
_WITH_CUTOFF = {
    "p": "P",
    "recall": "R",
    "success": "Success",
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "unj": "Unjudged",
    "iprec_at_recall": "IPrec",
}
"""Those of trec_eval that go on with `_` or `.` and a cutoff, or a recall."""
_NOT_QUITE = {
    "f": "`SetF` is the F of the whole list, `SetF@10` of its first ranks; beta weighs recall: SetF(beta=2)",
    "iprec_at_recall": "with a recall, as in `IPrec@0.1` or `iprec_at_recall_0.1`",
    "ndcg_burges": "`nDCG(dcg='exp-log2')` has gains of 2**grade - 1",
    "ndcg_cut": "with a cutoff, as in `nDCG@10` or `ndcg_cut_10`",
    "map_cut": "with a cutoff, as in `AP@10` or `map_cut_10`",
    "nerr": "`nERR@10` is ERR by that of the ideal list; NERR8 to NERR11 of ir_measures are other measures",
}
"""What to type for names that mean almost the same elsewhere, in lower case, without a number."""

_NAMES = {name.lower(): name for name in (*ALIASES, *MEASURES)}
_FORM = re.compile(r"\s*([\w.-]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*(\S+))?\s*", re.ASCII)
_TURNED = re.compile(r"(\s*[\w-]+\s*)(@\s*[^\s()]+)\s*(\([^()]*\))\s*", re.ASCII)
"""A name with its parameters behind the cutoff."""
_TREC_EVAL = re.compile(rf"\s*({'|'.join(_WITH_CUTOFF)})[_.]([0-9.]+)\s*", re.ASCII | re.I)
_NUMBER_BEHIND = re.compile(r"_?[0-9.]+$", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
_MOST = 1000
"""Highest grade of a scale: 2 to its power is a float64."""
_DECIMAL = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})", re.ASCII)


def parse_measure(text: str, *, level: int = 1) -> MeasureName:
    """Read the name of a measure.

    Parameters
    ----------
    text : str
        As in ``P@10``, ``AP(rel=2)``, ``RR(rel=2)@10``, ``nDCG(dcg='exp-log2')@10``,
        ``IPrec@0.1``, ``SetF(beta=2)``, ``SetFallout(docs=100000)``. Upper and lower case are the
        same in names; spaces between the parts are skipped; parameters may stand behind the cutoff. A
        measure of a list may be of a condensed one: ``AP(condensed)``, ``nDCG(judged_only=True)@10``.
        Names of trec_eval that mean the same are known: ``P_5``, ``ndcg_cut_10``, ``recip_rank``.
    level : int, default=1
        Least relevant grade where the text has no ``rel``.

    Returns
    -------
    MeasureName
        With every parameter filled in. `UnknownNameError` if no measure, or no parameter of this measure,
        has the name; `ArgumentError` if the text has another form, or a value cannot be used.

    Examples
    --------
    >>> str(parse_measure("ndcg_cut_10")), str(parse_measure("AP", level=2))
    ('nDCG@10', 'AP(rel=2)')
    >>> parse_measure("P")
    Traceback (most recent call last):
        ...
    store.errors.ArgumentError: `measure` P needs a cutoff, as in `P@10`, but got 'P'
    """
    plain = _TURNED.sub(r"\1\3\2", text)
    if found := _TREC_EVAL.fullmatch(text):
        plain = f"{_WITH_CUTOFF[found[1].lower()]}@{found[2]}"
    form = _FORM.fullmatch(plain)
    if form is None:
        requirement = "must be a name, as in `AP`, `P@10` or `nDCG(dcg='exp-log2')@10`"
        raise ArgumentError("measure", requirement, text)
    typed, listed, at = form.groups()
    key = typed.lower().replace("-", "_")
    typed = _ELSEWHERE.get(key) or _NAMES.get(key, typed)
    name = ALIASES.get(typed, typed)
    if name not in MEASURES:
        hint = _NOT_QUITE.get(_NUMBER_BEHIND.sub("", key))
        raise UnknownNameError("measure", typed, [*MEASURES, *ALIASES], hint=hint)
    measure = MEASURES[name]
    values = _parameters(name, measure, listed, text)
    if at is not None:
        if measure.at is None:
            raise ArgumentError("measure", f"{name} takes nothing after `@`", text)
        if measure.at in values:
            raise ArgumentError("measure", f"must have one {measure.at}", text)
        values[measure.at] = at
    if measure.is_at_required and measure.at not in values:
        example = "0.1" if measure.at == "recall" else "10"
        raise ArgumentError("measure", f"{name} needs a {measure.at}, as in `{name}@{example}`", text)
    if "docs" in measure.parameters and "docs" not in values:
        requirement = f"{name} needs the size of the collection, as in `{name}(docs=100000)`"
        raise ArgumentError("measure", requirement, text)
    if "alpha" in values and "beta" in values:
        raise ArgumentError("measure", "must have one of `beta` and `alpha`", text)
    if name == "Q" and values.get("beta") == "inf":
        raise ArgumentError("measure", "Q needs a beta that is a number", text)
    rel = level if "rel" in measure.parameters and typed != "NumRet" else None
    try:
        return MeasureName(
            name, **{"rel": rel} | {key: _READERS[key](value) for key, value in values.items()}
        )
    except ArgumentError as error:
        # Its name may be that of an option, which was not given.
        requirement = f"{text.strip()}: {error.name} {error.requirement}"
        raise ArgumentError("measure", requirement, error.got) from None


def _parameters(name: str, measure: Definition, listed: str | None, text: str) -> dict[str, str]:
    known = [*measure.parameters, *([measure.at] if measure.at else [])]
    if measure.can_condense:
        known.append("condensed")
    values: dict[str, str] = {}
    for part in listed.split(",") if listed and listed.strip() else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key == "condensed" and not equals:
            equals, value = "=", "True"
        if not key or not equals or not value:
            raise ArgumentError("measure", "must have parameters as in `AP(rel=2)`", text)
        typed, key = key, "condensed" if key == "judged_only" else key
        if key not in known:
            raise UnknownNameError(f"parameter of {name}", typed, known)
        if key in values:
            raise ArgumentError("measure", f"must have `{key}` once", text)
        values[key] = value
    return values


def _integer(name: str, value: str, *, least: int | None) -> int:
    if not _INTEGER.fullmatch(value) or (least is not None and int(value) < least):
        at_least = "" if least is None else f" >= {least}"
        many = "" if len(value) < 10 else " of at most 9 digits"
        raise ArgumentError(name, f"must be an integer{at_least}{many}", value)
    return int(value)


def _highest(value: str) -> int:
    if not _INTEGER.fullmatch(value) or not 1 <= int(value) <= _MOST:
        raise ArgumentError("max", f"must be an integer from 1 to {_MOST}", value)
    return int(value)


def _truth(value: str) -> bool:
    if value not in ("True", "False"):
        raise ArgumentError("condensed", "must be True or False", value)
    return value == "True"


def _decimal(name: str, value: str, requirement: str, is_so: Callable[[Fraction], bool]) -> Fraction:
    if not _DECIMAL.fullmatch(value) or not is_so(Fraction(value)):
        raise ArgumentError(name, requirement, value)
    return Fraction(value)


def _share(name: str, value: str) -> Fraction:
    return _decimal(name, value, "must be between 0 and 1", lambda number: number <= 1)


def _dcg(value: str) -> Dcg:
    """Read a discount and gain, quoted or not."""
    unquoted = value[1:-1] if value[0] in "'\"" and value[-1] == value[0] else value
    return one_of("dcg", unquoted, DCGS)


_READERS: dict[str, Callable[[str], Any]] = {
    "cutoff": partial(_integer, "cutoff", least=1),
    "recall": partial(_share, "recall"),
    "rel": partial(_integer, "rel", least=None),
    "beta": lambda value: (
        inf if value == "inf" else float(_decimal("beta", value, "must be a number >= 0", lambda _: True))
    ),
    "dcg": _dcg,
    "docs": partial(_integer, "docs", least=1),
    "alpha": lambda value: float(_share("alpha", value)),
    "p": lambda value: float(_decimal("p", value, "must be at least 0 and below 1", lambda p: p < 1)),
    "max": _highest,
    "condensed": _truth,
}
"""How the value of each parameter is read."""
