"""Worked examples: of varying judgements (exact fractions, or two methods that agree), and three systems.

The first are from the derivation of the exact model, section 6; X1 to X5 are one topic, X6 is three.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

NOT = math.inf


@dataclass(frozen=True)
class Example:
    """What is printed of one worked example."""

    p: str
    ranks: list[list[float]]
    mean: list[Fraction]
    covariance: list[float] | None = None
    """Variance of A, covariance, variance of B; of one run its variance."""
    above: float | None = None
    gradient: list[list[float]] = field(default_factory=list)


EXAMPLES = {
    "X1": Example(".5 .5", [[1, 2]], [Fraction(5, 8)], [11 / 64], gradient=[[0.75, 0.25]]),
    "X2": Example(
        ".5 .5", [[1, NOT], [2, 1]], [Fraction(3, 8), Fraction(5, 8)],
        [11 / 64, 1 / 64, 11 / 64], above=0.25,
        gradient=[[0.75, -0.25]],
    ),
    "X3": Example(
        ".9 .5 1 .8 .4 .5", [[1, 2, 3, 5, 8, NOT], [2, 1, NOT, 3, 4, 10]],
        [Fraction(255131, 360000), Fraction(240061, 450000)],
        [0.028587965964506, 0.022972868419753, 0.035413445667901], above=0.887,
        gradient=[[0.340555555556, 0.191973333333, 0.089294722222,
                   0.000090277778, -0.046368055556, -0.176752222222]],
    ),
    "X4": Example(
        ".1 .2 .05 .3", [[1, 2, 3, 4], [4, 3, 2, NOT]],
        [Fraction(9929, 40000), Fraction("0.094140972222222")],
        [0.089717914189815, 0.033506857170139, 0.023007592125289], above=0.4897,
    ),
    "X5": Example(
        "0 1 .4 .9 0 .8 .5 1", [[1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1]],
        [Fraction(700267, 1260000), Fraction(2485439, 3150000)],
        [0.006143822726757, 0.002888442312169, 0.010806692696296],
        gradient=[[0.295348922902, 0.178041269841, 0.139081349206, 0.097642857143,
                   0.076998367347, 0.046757936508, 0.033379365079, 0.002077777778]],
    ),
}  # fmt: skip
NEAR = 0.51e-12
"""Half a unit of the last printed digit of twelve, the fewest there are."""
X6 = (
    (".9 .5 1 .8 .4", [[1, 2, 3, 5, 8], [2, 1, NOT, 3, 4]]),
    (".5 .4 .8 1", [[1, 4, 2, 9], [3, 1, NOT, 2]]),
    (".4 .5 .9 .5 .8", [[2, 1, 4, NOT, 7], [1, 5, 3, 2, NOT]]),
)
"""Probabilities and the ranks in run A and run B, of three topics."""
X6_MEANS = [[0.797073333333333, 0.549444444444444, 0.466411904761905], [0.553394444444444, 0.525, 0.474520]]
X6_VARIANCES = [
    [0.023307451906173, 0.048558333333333, 0.049204614092971],
    [0.039245800277778, 0.052199074074074, 0.051903247378],
]
X6_COVARIANCES = [0.022382511567901, 0.007652777777778, 0.013854326126984]
X6_MAP = [0.604309894179894, 0.517638148148148]
X6_TOPIC_VARIANCE = [0.029591908267229, 0.001595942143621]
X6_JUDGING_VARIANCE = [0.040356799777492, 0.047782707243210]
X6_OF_MEAN = [0.023316236014907, 0.016459549795610]
X6_DIFFERENCE = {
    "mean": 0.086671746031746,
    "topic_variance": 0.018753349141068,
    "judging_variance": 0.058879763372260,
    "share": 0.758436206743,
}
X6_TESTS = {
    "t1_removed": 0.850051918307,
    "t1_included": 0.434578424882,
    "t2_removed": 1.096222605237,
    "t2_included": 0.538783979595,
}
X6_ABOVE = {"exact": 0.7450588, "tied": 0.00023328, "normal": 0.731931275414}
X = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
Y = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10
Z = np.array([0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]) / 10
SCORES = np.array([X, Y, Z])
"""Scores of three systems on 20 topics: T. Sakai (in Japanese), 2015, table 5.1, as kept in elinor.

Published with them: paired t of X and Y 2.116, p .048, effect size .473, interval .0742 to either
side; two-way analysis of variance F 2.475, p .098; Tukey's effect sizes .507, .676, .169.
Recomputed (scipy, statsmodels, elinor): t 2.11576, p .047797, F 2.47495, p .097635, exact
randomisation .065918, studentised bootstrap .050, paired Tukey .2567 .0957 .8550, randomised Tukey
.307 .107 .889 (20,000 permutations), Holm .1434 .2463 .5218, Wilcoxon .0372 on two digits.
"""
