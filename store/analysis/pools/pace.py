"""What judging costs in time: a judge's pace, and how long the rest will take.

Times are active times, without pauses: minutes at the desk, not until a date. This module loads no
numpy: there are few times, and a look at how far judging has come is to be quick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Times = Sequence[float] | NDArray[np.float64] | NDArray[np.int64]

LEAST_DECISIONS = 5
"""A forecast rests on at least so many decisions."""
RECENT_DECISIONS = 100
"""A forecast rests on no more than so many, the newest."""
COVERAGE = 0.9
"""Share of forecasts whose interval is meant to hold the time it really takes."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """How long the documents that are left will take."""

    left: int
    """Documents."""
    seconds: float | None
    """Active time; ``None`` = too few decisions to say."""
    low: float | None
    high: float | None
    """Ends of the interval around `seconds`; ``None`` as `seconds` is."""
    n: int
    """Decisions it rests on."""
    pace: float | None
    """Mean active seconds a decision; ``None`` = too few decisions, also where nothing is left."""


def forecast(active_ms: Times, left: int) -> Forecast:
    r"""Forecast from a judge's own pace how long the documents left will take.

    A total is what is asked for, so the pace is a mean: a median would leave out what the few long documents
    cost. It is the mean of the newest decisions alone, since judges get faster.

    Parameters
    ----------
    active_ms : sequence of float or ndarray, length n_decisions
        Active time of each decision in milliseconds, at least 0, the newest last.
    left : int
        Documents without a decision, at least 0.

    Returns
    -------
    Forecast
        In seconds. No number below `LEAST_DECISIONS` decisions, but 0 where nothing is left.

    Notes
    -----
    With mean m and standard deviation s of the n newest times, the time for L documents is :math:`L m`. It is
    uncertain for two reasons: the mean of n decisions is not the judge's mean, and L documents are not all
    documents. Relative to :math:`L m` the standard error of both is

    .. math:: r = \frac{s}{m} \sqrt{\frac{1}{n} + \frac{1}{L}}

    (the prediction interval of a mean of L further values, [1]_ section 2.4). The interval is :math:`L m \,
    e^{\pm t r}` with t the quantile of Student's distribution with n - 1 degrees of freedom: taken on the
    logarithm (delta method), since times have a long right tail and a forecast below 0 means nothing. The
    times are taken to be independent: where a judge keeps getting slower or faster, or the documents left are
    longer than those before, the interval is too narrow. O(n).

    References
    ----------
    .. [1] G. J. Hahn and W. Q. Meeker, *Statistical Intervals: A Guide for Practitioners*, Wiley, 1991.

    Examples
    --------
    >>> made = forecast([30_000, 50_000, 20_000, 60_000, 40_000], 90)
    >>> made.pace, made.seconds, made.n
    (40.0, 3600.0, 5)
    >>> round(made.low), round(made.high)  # r = 0.3953 sqrt(1/5 + 1/90), t = 2.1318
    (2444, 5302)
    >>> forecast([30_000, 50_000], 90).seconds is None
    True
    """
    seconds = [float(time) / 1000 for time in active_ms[-RECENT_DECISIONS:]]
    n = len(seconds)
    pace = fmean(seconds) if n >= LEAST_DECISIONS else None
    if left == 0:
        return Forecast(0, 0.0, 0.0, 0.0, n, pace)
    if pace is None:
        return Forecast(left, None, None, None, n, None)
    total = pace * left
    if total == 0:
        return Forecast(left, 0.0, 0.0, 0.0, n, pace)
    deviation = math.sqrt(math.fsum((one - pace) ** 2 for one in seconds) / (n - 1))
    relative = deviation / pace * math.sqrt(1 / n + 1 / left)
    factor = math.exp(student_quantile((1 + COVERAGE) / 2, n - 1) * relative)
    return Forecast(left, total, total / factor, total * factor, n, pace)


def student_quantile(probability: float, degrees: int) -> float:
    """Approximate a quantile of Student's t distribution; it spares the judging screen the loading of scipy.

    Expansion 26.7.5 of M. Abramowitz and I. A. Stegun, *Handbook of Mathematical Functions*, 1964, p. 949, in
    powers of 1/degrees, with four terms: within 0.1 % of the quantile for probabilities between 0.9 and 0.975
    and at least 4 degrees of freedom; with fewer it is too coarse.

    >>> round(student_quantile(0.95, 4), 3), round(student_quantile(0.95, 100), 3)  # as in the tables
    (2.132, 1.66)
    """
    x = NormalDist().inv_cdf(probability)
    terms = (  # [1] 26.7.5
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92_160,
    )
    return math.fsum((x, *(term / degrees**power for power, term in enumerate(terms, start=1))))


def duration_words(seconds: float) -> str:
    """Return a time in seconds, finite and at least 0, in words no more exact than a forecast is.

    To the minute below an hour, to ten minutes below ten hours, then to the hour.

    >>> duration_words(40), duration_words(720), duration_words(6500), duration_words(7200)
    ('under a minute', 'about 12 min', 'about 1 h 50', 'about 2 h')
    >>> duration_words(40 * 3600 + 900)
    'about 40 h'
    """
    if seconds < 60:
        return "under a minute"
    minutes = math.floor(seconds / 60 + 0.5)
    if minutes < 60:
        return f"about {minutes} min"
    tens = math.floor(seconds / 600 + 0.5)
    hours, rest = divmod(tens, 6)
    if hours < 10:
        return f"about {hours} h {rest}0" if rest else f"about {hours} h"
    return f"about {math.floor(seconds / 3600 + 0.5):,} h"
