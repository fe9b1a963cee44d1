"""Published agreement tables of two judges, with the digits that were printed.

Rows are the first judge, columns the second. A number is a string, with as many digits as its
source prints; `assert_prints` compares to half a unit of the last one. "Published" is what the
publication says; "recomputed" is what at least one of scikit-learn, statsmodels, and irrCAC
(Python 0.4.4, and the fixtures of the R package) gives for the same table.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray


def assert_prints(expected: str, value: float | None) -> None:
    """Assert that `value`, rounded to the digits of `expected`, is `expected`."""
    assert value is not None
    unit = Decimal(1).scaleb(int(Decimal(expected).as_tuple().exponent))
    assert abs(Decimal(value) - Decimal(expected)) <= unit / 2, f"expected {expected}, got {value}"


@dataclass(frozen=True, slots=True)
class KappaTable:
    """A table and what is known of its kappas."""

    name: str
    source: str
    counts: tuple[tuple[int, ...], ...]
    kappas: tuple[tuple[str, str, str | None], ...]
    """(weights, kappa, standard error or ``None`` where no source prints it)."""
    observed: str | None = None
    """Unweighted observed agreement, published."""
    expected: str | None = None
    """Unweighted agreement expected by chance, published."""

    @property
    def table(self) -> NDArray[np.int64]:
        """The counts as an array."""
        return np.array(self.counts, dtype=np.int64)


KAPPA_TABLES = (
    # C. D. Manning, P. Raghavan, H. Schütze, Introduction to Information Retrieval, 2008, table
    # 8.2, relevant before not relevant. Published to 3 digits: P(A) .925, P(E) .665, kappa .776.
    # The book's kappa is Scott's pi (.775910); Cohen's, recomputed: .776119, error .038888.
    KappaTable(
        "ir-book",
        "Manning, Raghavan and Schütze 2008, table 8.2",
        ((300, 20), (10, 70)),
        (("none", "0.776", None), ("none", "0.776119", "0.038888")),
        observed="0.925",
        expected="0.665",
    ),
    # R. Artstein, M. Poesio, Inter-Coder Agreement for Computational Linguistics, 2008,
    # Computational Linguistics 34(4). Published to 3 digits: kappa .348; recomputed to 6.
    KappaTable(
        "artstein-poesio",
        "Artstein and Poesio 2008",
        ((20, 10), (20, 50)),
        (("none", "0.348", None), ("none", "0.347826", "0.095008")),
    ),
    # J. Cohen, A Coefficient of Agreement for Nominal Scales, 1960, p. 45. Published: Po .70,
    # Pe .41, kappa .492; recomputed to 6 digits, weighted ones too.
    KappaTable(
        "cohen",
        "Cohen 1960, p. 45",
        ((88, 14, 18), (10, 40, 10), (2, 6, 12)),
        (
            ("none", "0.492", None),
            ("none", "0.491525", "0.051002"),
            ("linear", "0.473684", "0.054432"),
            ("quadratic", "0.454545", "0.066454"),
        ),
        observed="0.70",
        expected="0.41",
    ),
    # SAS/STAT manual, PROC FREQ with the AGREE option, printout kept in statsmodels' tests.
    # Published to 4 digits: .4842 (.1380), linear .4701 (.1457); quadratic recomputed to 6.
    KappaTable(
        "sas",
        "SAS/STAT manual, PROC FREQ",
        ((0, 4, 1), (0, 8, 0), (0, 1, 5)),
        (
            ("none", "0.4842", "0.1380"),
            ("linear", "0.4701", "0.1457"),
            ("quadratic", "0.450161", "0.192233"),
        ),
    ),
    # A. Agresti, Modelling Patterns of Agreement and Disagreement, 1992, and Landis and Koch's
    # data on slides. Published to 3 digits: .493 (.057); recomputed to 4.
    KappaTable(
        "agresti",
        "Agresti 1992",
        ((22, 2, 2, 0), (5, 7, 14, 0), (0, 2, 36, 0), (0, 1, 17, 10)),
        (("none", "0.493", "0.057"), ("none", "0.4930", "0.0567")),
    ),
    # Paradox of kappa, test-suite of DKPro Statistics; kappa recomputed to 6 digits.
    KappaTable("paradox", "DKPro Statistics", ((8, 1), (0, 1)), (("none", "0.615385", None),)),
    # Fixture of the R package irrCAC; kappa recomputed to 6 digits.
    KappaTable("skewed", "R irrCAC", ((80, 7), (8, 5)), (("none", "0.314442", None),)),
    # R. L. Brennan, D. J. Prediger, Coefficient Kappa, 1981. Published to 2 digits: .27;
    # recomputed to 6.
    KappaTable(
        "brennan-prediger",
        "Brennan and Prediger 1981",
        ((50, 0, 0), (10, 10, 10), (20, 0, 0)),
        (("none", "0.27", None), ("none", "0.272727", None)),
    ),
    # Test of size in DKPro Statistics' test-suite. Published to 3 digits: .590; recomputed to 6.
    KappaTable(
        "size",
        "DKPro Statistics",
        ((9000, 1000), (9000, 81001)),
        (("none", "0.590", None), ("none", "0.590165", None)),
    ),
)

# Raters 2 and 3 of the `anxiety` data of the R package irr, scale 1 to 6; neither ever gives 5.
ANXIETY = ("36462424332333221334", "21443216111233113322")
# R irr's kappa2, kept in statsmodels' tests: weights by the grades that occur. 7 to 10 digits.
ANXIETY_OCCURRING = (
    ("none", "-0.006289308"),
    ("linear", "0.1459075"),
    ("quadratic", "0.2520325"),
)
# scikit-learn's cohen_kappa_score with labels=[1, 2, 3, 4, 5, 6]: weights by the declared scale.
ANXIETY_DECLARED = (
    ("none", "-0.006289308"),
    ("linear", "0.1262136"),
    ("quadratic", "0.2297980"),
)

# Cystic Fibrosis collection, kappas to 4 digits: scikit-learn 1.9.1 cohen_kappa_score. Columns:
# the 4,819 listed pairs unweighted, linear, quadratic, binary at 1, binary at 2; then all 123,900
# pairs (those not listed graded 0 by everybody) unweighted, binary at 1.
CF_KAPPAS = {
    ("REW", "colleagues"): "0.4003 0.5659 0.7202 0.4955 0.6710 0.5996 0.7200",
    ("REW", "post-docs"): "0.4736 0.6266 0.7639 0.5654 0.7146 0.6458 0.7559",
    ("REW", "JBW"): "0.0605 0.1662 0.2732 -0.0537 0.4589 0.4482 0.5289",
    ("colleagues", "post-docs"): "0.3795 0.5512 0.7109 0.5062 0.6199 0.5791 0.7187",
    ("colleagues", "JBW"): "-0.0120 0.0967 0.2079 -0.1106 0.3883 0.3997 0.4896",
    ("post-docs", "JBW"): "0.0539 0.1580 0.2624 -0.0477 0.4431 0.4289 0.5083",
}
