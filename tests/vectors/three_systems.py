"""Scores of three systems on 20 topics: T. Sakai (in Japanese), 2015, table 5.1, as kept in elinor.

Published with them: paired t of X and Y 2.116, p .048, effect size .473, interval .0742 to either
side; two-way analysis of variance F 2.475, p .098; Tukey's effect sizes .507, .676, .169.
Recomputed (scipy, statsmodels, elinor): t 2.11576, p .047797, F 2.47495, p .097635, exact
randomisation .065918, studentised bootstrap .050, paired Tukey .2567 .0957 .8550, randomised Tukey
.307 .107 .889 (20,000 permutations), Holm .1434 .2463 .5218, Wilcoxon .0372 on two digits.
"""

from __future__ import annotations

import numpy as np

X = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
Y = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10
Z = np.array([0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]) / 10
SCORES = np.array([X, Y, Z])
