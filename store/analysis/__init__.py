r"""Pure arithmetic on arrays: no SQL, no files, no screen.

Docstrings say which shape, range or name an argument has. What readers and commands have checked is not
checked again: `ArgumentError` is raised for a name that is none, and where a docstring says so.

Equation numbers are those of the paper [1]_; E1, E2 and E3 are ours. The sources of the equations
and measures misprint some of them. The code follows the derivation, and this is the one list of
what is known to be wrong, what is printed before what is right.

The paper [1]_:

====================== ===========================================================================
place                  what is printed, and what follows from the derivation
====================== ===========================================================================
eq. 1                  prefactor 1/N; must be 1/R, as in its own worked example; so in the variant
                       without a number that follows
section 2.2.3          ``111000001`` and ``101110000`` have 9 characters for N = 10; 1110000001
                       (.85) and 1011100000 (.8042) are meant; the first as it stands has .8611
section 2.2.3, swaps   the two uses of eq. 6 may not both be taken on the original ranking: 11000 to
                       10100 would change S by 0, but it falls by 1/3; see `swap_effect`
section 3.2            the sample "of h topics" is of L
eq. 14                 the subscript m of E_m is missing
eq. 17, appendix 2     "V_p[V_m(.)]" is no definition of V_pm; the split of the variance is right
eq. 19, 20             nu with a bar, MAP's sign, stands for the AP of one topic
eq. 20                 needs every relevant document above the rank that is flipped; where some are
                       not retrieved, 1/r becomes (1 + those above) / (r (R + 1))
table 3                so AP is at least eq. 4 with N = 100, .0567, .3118 and 1 for R = 10, 50 and
                       100: R = 100 cannot occur, and R = 50 not with AP .1 and .3
simulation, step (a)   uniform random numbers from 0.0 to 0.1; must be 0.0 to 1.0
simulation, step 6     sigma_a^2 for sigma_d^2
eq. 22, simulation     R is the run's own (eq. 2), and ranks 1..N alone are judged; section 4.3 speaks
                       of R of the pool, which is taken here
simulation             "cannot be found analytically": the moments are integrals over one variable
section 4.2.2, eq. 13  does not imply that the model's MAPs, .27973 and .32588, are near the means
                       of the four judged ones, .28410 and .33441: AP is not linear in the
                       judgements
section 4.2.2          K is "about 12%"; .00487/.0378 is 12.9%. Section 5 says it is from 4.3.
                       The moments of figure 3 are in table 6, not 5
table 5                judge 2, relevant and partially relevant, run BKJJBIDS: the variance .05288
                       gives t1 1.0943, not the 1.0583 of table 6, whose p-values fit 1.0583;
                       .05988 would give 1.0585
table 6                "P(t1 < \|z\|)" means P(\|z\| > t1); BKJJDCEU is BKJJDCFU
section 4.3            p = .07 is called a considerable significant difference; it is not
                       significant at 5%
section 4.2.2, 5.37%   follows from .0330 + .00487 = .03787, which gives .05364, and up; from
                       the .0378 that table 6 has for it, .05359
tables 7, 8            no error, but rounded up, not to the nearest; `round_up` of `undiscovered`
section 6              the effect of undiscovered documents "becomes large"; does not is meant, and
                       "section 2.3" is 2.2.3
====================== ===========================================================================

The articles, on E [2]_, on precision and recall [3]_, on their means [4]_:

====================== ===========================================================================
[2]_, E                1 - 1 / (1/P + 1/R), .5 for a perfect set; must be 1 - 2 / (1/P + 1/R), 0
[3]_, errors           false positives of the second kind, false negatives of the first; it is the
                       reverse. "Information Research" is Information Retrieval
[3]_, MRR              mean of 1/rank over every relevant document; only the first one counts
[3]_, DCG              a plain sum of scores by degree of relevance; that is CG, and DCG divides
                       each by a discount that grows with the rank
[3]_, beta             beta = R/P follows from equal slopes of E, and (P^2 + R^2) / (P + R) from it;
                       but it changes with P and R: that is no F of a fixed beta
[4]_, precision        divides by the documents retrieved and by N, which differ where a list is
                       short; here by N, as in trec_eval
[4]_, last table       arrows of mean recall and mean precision are lost: up up, up down, down up,
                       down down; up up and down down imply nothing, see `significance.folds`
====================== ===========================================================================

The slides [5]_:

====================== ===========================================================================
fallout                TN / (TN + FP), which is specificity; must be FP / (FP + TN)
generality             TP / all; must be (TP + FN) / all
F                      b is how much precision outweighs recall; it is the reverse
threshold              "greater than" the threshold in the text, >= in the formula; here >=
MRR                    "no correct answer: MRR = 0"; that is RR of one question, MRR is their mean
DCG5, reversed         6.98 is that of exact logarithms, 6.9846; those of two decimals that it
                       shows give 6.99
IDCG5                  10.70; 4 + 4 + 2/log2(3) + 1/2 + 1/log2(5) is 10.1925 (10.20 with their
                       logarithms of two decimals)
nDCG5                  .83; 8.9544 / 10.1925 is .8785
nDCG5, reversed        called IDCG5, and .65; 6.9846 / 10.1925 is .6853
local purity           the index runs over K true classes, not L; ``purity(1)`` three times is
                       purity(1), (2) and (3)
inverse purity         bounds K and L interchanged, and N where its example has the size of the true
                       class. The example's .598, F .599, weighs each cluster by its size; the
                       standard form gives .6 and .6. See `aggregation.clusters`
====================== ===========================================================================

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment", 2001 (in
   Japanese).
.. [2] "F値の前身はE値?", article on the web (in Japanese).
.. [3] "情報検索システムの評価指標:精度と再現率", article on the web (in Japanese).
.. [4] "recall と precision の定義と意味", article on the web (in Japanese).
.. [5] "11. 評価方法", slides of a lecture (in Japanese).
"""
