r"""Outcomes of judging in which no document of a topic is relevant, and AP is not defined.

Kishida (2001) does not speak of them: in the paper's data they do not occur. Two rules:

``given``
    The law given that some document is relevant, in every topic: AP is defined in all that is left,
    as everywhere else, and topics stay independent of each other.
``zero``
    AP counts as 0, as trec_eval has it for a topic of the qrels without a relevant document.

Where a document is surely relevant, both are the same. Where none can be, ``given`` has no law and
such a topic has to be left out, while with ``zero`` its AP is 0 for certain, and counts in means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.errors import ArgumentError

Empty = Literal["given", "zero"]
"""What becomes of outcomes without a relevant document."""


def chance_of_any(probabilities: NDArray[np.float64]) -> float:
    """Compute 1 - P(R = 0) of independent documents, with all its digits where it is small.

    In [0, 1]; 0 only where every probability is.

    Examples
    --------
    >>> chance_of_any(np.array([0.5, 0.5])), chance_of_any(np.array([1e-20]))
    (0.75, 1e-20)
    """
    if (probabilities == 1).any():
        return 1.0
    return float(-np.expm1(np.log1p(-probabilities).sum()))


def chance_left(probabilities: NDArray[np.float64], empty: Empty) -> float:
    """Return the probability of a topic's outcomes that count by the rule: 1 with ``zero``."""
    if empty not in ("given", "zero"):
        raise ArgumentError("empty", "must be given or zero", empty)
    return 1.0 if empty == "zero" else chance_of_any(probabilities)


def check_chances(probabilities: Sequence[ArrayLike], empty: Empty) -> None:
    """Raise `ArgumentError` if a topic, of which these are the probabilities, has no outcome that counts."""
    for place, p in enumerate(probabilities):
        if not chance_left(np.asarray(p, dtype=np.float64), empty):
            requirement = "must each have a document that may be relevant, or `empty` be zero"
            raise ArgumentError("topics", requirement, place)
