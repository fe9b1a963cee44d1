"""Why a number or an interval does not exist: a code in its place, and its sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from store.text import counted

REASONS = {
    # Agreement of judges.
    "one-judge": "one judge graded at all",
    "no-common-docs": "no document was graded by both, or by all",
    "one-doc": "one document says nothing about chance",
    "single-grade": "one and the same grade was used throughout",
    "no-relevant": "no judge found a relevant document",
    "one-topic": "one topic says nothing about other topics",
    "no-variation": "the same number in every resample",
    "mostly-undefined": "most resamples have no number",
    "no-standard-error": "no standard error, so no interval: of a sample one judged document of a topic,"
    " or an estimated variance below 0",
    # A judge audited against people.
    "one-human": "one person graded, and the test leaves each of two or more out in turn",
    "too-few-topics": "two topics or more are needed",
    "too-few-runs": "fewer than three runs have no order to speak of",
    "same-difference": "the same difference everywhere, so no t",
    "no-texts": "no document that both graded has a text here, so lengths are not known",
    "one-length": "all documents have one length",
    "no-others": "there is nothing to compare with",
    # Scores from samples.
    "no-strata": "the sample has no strata, so no xinfAP, infNDCG, iP@k and infAP",
    "no-probabilities": "the sample has no inclusion probabilities, so no statAP",
    "not-sampled": "no document of the topic's sample is judged",
    "uneven-sample": "the share judged differs between strata, so no infAP",
    "not-linear": "the measure is no sum over documents, so no interval for these topics, but for topics"
    " like these",
    "lone-judgement": "a stratum of several documents has one judged document, so no variance",
    "no-mean": "a sum over topics is no mean, so it has no interval",
    # What a random sample says of recall.
    "no-sample": "nothing was judged at random, so no bound",
    "sample-unjudged": "nothing of the random sample is judged yet",
    "sample-contradicted": "more was found by other ways than the random sample allows: it is one of the few"
    " that are wrong, or was not drawn or judged at random",
    # What strategies find, and orders of runs.
    "none-in-union": "no relevant document is among the first of any run",
    "no-judgements": "no judgement was spent",
    "fewer-than-two": "an order needs two runs with a score",
    "all-tied": "all are equal, so there is no order",
    "no-common-topics": "no topic has all the scores that are compared",
    # How many topics, and how reliable they are.
    "no-spread": "nothing varies from topic to topic, or fewer than two topics have a score",
    "too-many-topics": "more than a million topics would be needed",
    "fewer-than-three-runs": "components need three runs or more",
    "fewer-than-three-topics": "components need three topics or more",
    "fewer-than-two-runs": "a test needs two runs",
    "fewer-than-two-topics": "a test needs two topics",
    "no-residual": "every topic only shifts all scores alike, so there is nothing to measure chance by",
    # How documents of pools stand.
    "no-collection": "without a collection, the state of documents is not known",
    # Scores where judging has gaps.
    "no-bounds": "the lowest and the highest value of this measure are not known",
    "no-documents": "the run has no document for any topic",
    "no-pairs": "no topic has both a relevant document of the run and another one",
    "no-not-relevant": "every document of the collection is relevant",
    "list-too-short": "every list of the run ends above rank R",
    "none-retrieved": "no list of the run has a relevant document",
}
"""Codes and what they mean where they stand in a cell that people see."""

OF_PAIRS = {
    "no-difference": "no topic has a difference that does not round to 0",
    "no-topics": "no topic where both runs have a score",
    "one-topic": "one topic where both runs have a score",
    "no-variation": "the same difference in every topic",
}
"""What `TestReason` of `store.analysis` means of two runs."""


def joined(codes: Iterable[str | None]) -> str | None:
    """Write the codes there are, each once; ``None`` where there is none."""
    return ", ".join(dict.fromkeys(filter(None, codes))) or None


def undefined_pairs(reasons: Iterable[str | None]) -> str:
    """Say in how many pairs a number is undefined, and why, each reason in a sentence; nothing where none is.

    Several reasons of one pair are parted by a comma and a blank.

    >>> undefined_pairs([None, "no-variation", None])
    '-: undefined in 1 pair (the same difference in every topic).'
    >>> undefined_pairs([None, None])
    ''
    """
    counts = Counter(one for reason in reasons if reason for one in reason.split(", "))
    parts = [f"in {counted(count, 'pair')} ({OF_PAIRS[reason]})" for reason, count in counts.items()]
    return f"-: undefined {', '.join(parts)}." if parts else ""
