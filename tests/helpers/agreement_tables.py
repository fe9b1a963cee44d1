"""Published agreement tables of two judges and of many, with the digits that were printed.

In tables of two, rows are the first judge, columns the second. A number is a string, with as many
digits as its source prints; `assert_prints` compares to half a unit of the last one. "Published" is
what the publication says; "recomputed" is what at least one of scikit-learn, statsmodels, irrCAC
(Python 0.4.4, and the fixtures of the R package), krippendorff and NLTK gives for the same table.
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
    kappas: tuple[tuple[str, str], ...]
    """(weights, kappa)."""
    observed: str | None = None
    """Unweighted observed agreement, published."""
    expected: str | None = None
    """Unweighted agreement expected by chance, published."""
    others: tuple[tuple[str, str], ...] = ()
    """(name of another coefficient, value)."""

    @property
    def table(self) -> NDArray[np.int64]:
        """The counts as an array."""
        return np.array(self.counts, dtype=np.int64)


KAPPA_TABLES = (
    # C. D. Manning, P. Raghavan, H. Schütze, Introduction to Information Retrieval, 2008, table
    # 8.2, relevant before not relevant. Published to 3 digits: P(A) .925, P(E) .665, kappa .776.
    # The book's kappa is Scott's pi (.775910); Cohen's, recomputed: .776119.
    KappaTable(
        "ir-book",
        "Manning, Raghavan and Schütze 2008, table 8.2",
        ((300, 20), (10, 70)),
        (("none", "0.776"), ("none", "0.776119")),
        observed="0.925",
        expected="0.665",
        others=(
            ("pi", "0.776"),
            ("pi", "0.775910"),
            ("s", "0.85"),
            ("ac1", "0.887271"),
            ("alpha_nominal", "0.776190"),
        ),
    ),
    # R. Artstein, M. Poesio, Inter-Coder Agreement for Computational Linguistics, 2008,
    # Computational Linguistics 34(4). Published to 3 digits: kappa .348, pi .341, S .400;
    # recomputed to 6.
    KappaTable(
        "artstein-poesio",
        "Artstein and Poesio 2008",
        ((20, 10), (20, 50)),
        (("none", "0.348"), ("none", "0.347826")),
        others=(
            ("pi", "0.341"),
            ("pi", "0.340659"),
            ("s", "0.400"),
            ("ac1", "0.449541"),
            ("alpha_nominal", "0.343956"),
        ),
    ),
    # J. Cohen, A Coefficient of Agreement for Nominal Scales, 1960, p. 45. Published: Po .70,
    # Pe .41, kappa .492; recomputed to 6 digits, weighted ones too.
    KappaTable(
        "cohen",
        "Cohen 1960, p. 45",
        ((88, 14, 18), (10, 40, 10), (2, 6, 12)),
        (("none", "0.492"), ("none", "0.491525"), ("linear", "0.473684"), ("quadratic", "0.454545")),
        observed="0.70",
        expected="0.41",
        others=(
            ("pi", "0.487179"),
            ("s", "0.55"),
            ("ac1", "0.575972"),
            ("ac2", "0.638554"),
            ("alpha_nominal", "0.488462"),
            ("alpha_ordinal", "0.493520"),
            ("alpha_interval", "0.445833"),
        ),
    ),
    # The same paper, p. 37; AC1 and AC2 are fixtures of the R package irrCAC 1.4.
    KappaTable(
        "cohen-37",
        "Cohen 1960, p. 37; R irrCAC",
        ((25, 12, 3), (13, 2, 15), (12, 16, 2)),
        (),
        others=(("ac1", "-0.04797"), ("ac2", "0.18310")),
    ),
    # SAS/STAT manual, PROC FREQ with the AGREE option, printout kept in statsmodels' tests.
    # Published to 4 digits: .4842, linear .4701; quadratic recomputed to 6.
    KappaTable(
        "sas",
        "SAS/STAT manual, PROC FREQ",
        ((0, 4, 1), (0, 8, 0), (0, 1, 5)),
        (("none", "0.4842"), ("linear", "0.4701"), ("quadratic", "0.450161")),
    ),
    # A. Agresti, Modelling Patterns of Agreement and Disagreement, 1992, and Landis and Koch's
    # data on slides. Published to 3 digits: .493; recomputed to 4.
    KappaTable(
        "agresti",
        "Agresti 1992",
        ((22, 2, 2, 0), (5, 7, 14, 0), (0, 2, 36, 0), (0, 1, 17, 10)),
        (("none", "0.493"), ("none", "0.4930")),
    ),
    # Paradox of kappa, test-suite of DKPro Statistics. Published to 4 digits: AC1 .8658, pi .6078;
    # all recomputed to 6.
    KappaTable(
        "paradox",
        "DKPro Statistics",
        ((8, 1), (0, 1)),
        (("none", "0.615385"),),
        others=(("pi", "0.6078"), ("pi", "0.607843"), ("ac1", "0.8658"), ("ac1", "0.865772")),
    ),
    # Fixture of the R package irrCAC, AC1 .808; all recomputed to 6 digits.
    KappaTable(
        "skewed",
        "R irrCAC",
        ((80, 7), (8, 5)),
        (("none", "0.314442"),),
        others=(("s", "0.70"), ("ac1", "0.808"), ("ac1", "0.808000")),
    ),
    # Test-suite of DKPro Statistics, made with the R package irrCAC.
    KappaTable(
        "four-grades",
        "DKPro Statistics",
        ((20, 5, 1, 0), (4, 15, 6, 1), (0, 5, 18, 4), (0, 1, 3, 12)),
        (),
        others=(("ac1", "0.58046"), ("ac2", "0.84028")),
    ),
    # R. L. Brennan, D. J. Prediger, Coefficient Kappa, 1981. Published to 2 digits: .27, S .40;
    # recomputed to 6.
    KappaTable(
        "brennan-prediger",
        "Brennan and Prediger 1981",
        ((50, 0, 0), (10, 10, 10), (20, 0, 0)),
        (("none", "0.27"), ("none", "0.272727")),
        others=(("s", "0.40"),),
    ),
    # Test of size in DKPro Statistics' test-suite. Published to 3 digits: .590, pi .585; recomputed
    # to 6.
    KappaTable(
        "size",
        "DKPro Statistics",
        ((9000, 1000), (9000, 81001)),
        (("none", "0.590"), ("none", "0.590165")),
        others=(("pi", "0.585"), ("pi", "0.584718")),
    ),
)

# Raters 2 and 3 of the `anxiety` data of the R package irr, scale 1 to 6; neither ever gives 5.
ANXIETY = ("36462424332333221334", "21443216111233113322")
# R irr's kappa2, kept in statsmodels' tests: weights by the grades that occur. 7 to 10 digits.
ANXIETY_OCCURRING = (("none", "-0.006289308"), ("linear", "0.1459075"), ("quadratic", "0.2520325"))
# scikit-learn's cohen_kappa_score with labels=[1, 2, 3, 4, 5, 6]: weights by the declared scale.
ANXIETY_DECLARED = (("none", "-0.006289308"), ("linear", "0.1262136"), ("quadratic", "0.2297980"))

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


@dataclass(frozen=True, slots=True)
class JudgesTable:
    """Grades of many judges, one string a document, and what is known of their coefficients."""

    name: str
    source: str
    scale: tuple[int, ...]
    documents: tuple[str, ...]
    """One digit a judge; ``.`` for a document that the judge did not grade."""
    coefficients: tuple[tuple[str, str], ...]
    """(name, value)."""


def _words(documents: str) -> tuple[str, ...]:
    """Part documents that are written with blanks between them."""
    return tuple(documents.split())


def _transposed(*judges: str) -> tuple[str, ...]:
    """Turn one string a judge into one string a document."""
    return tuple(map("".join, zip(*judges, strict=True)))


def _written_out(counts: str) -> tuple[str, ...]:
    """Turn counts of the grades 1, 2, ... into grades; documents are parted by strokes."""
    return tuple(
        "".join(str(grade) * int(count) for grade, count in enumerate(document.split(), start=1))
        for document in counts.split("/")
    )


JUDGES_TABLES = (
    # J. L. Fleiss, Measuring Nominal Scale Agreement Among Many Raters, 1971, 30 patients, 6
    # raters. Published: kappa .430, to which statsmodels, NLTK and irrCAC give 6 digits; AC1 and
    # S by irrCAC, alpha by krippendorff.
    JudgesTable(
        "fleiss",
        "Fleiss 1971",
        (1, 2, 3, 4, 5),
        _words(
            "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444"
            " 222333 144444 224445 333335 111455 111112 224444 133555 555555 244444 224555 114444"
            " 144445 222224 111155 224444 133333 555555"
        ),
        (
            ("fleiss", "0.430"),
            ("fleiss", "0.430245"),
            ("alpha_nominal", "0.433410"),
            ("ac1", "0.447885"),
            ("s", "0.444444"),
        ),
    ),
    # Wikipedia, Fleiss' kappa, 10 subjects, 14 raters. Published: .210; recomputed to 6 digits.
    JudgesTable(
        "fleiss-14",
        "Wikipedia, Fleiss' kappa",
        (1, 2, 3, 4, 5),
        _written_out(
            "0 0 0 0 14/0 2 6 4 2/0 0 3 5 6/0 3 9 2 0/2 2 8 1 1/7 7 0 0 0/3 2 6 3 0/2 5 3 2 2/"
            "6 5 2 1 0/0 2 2 3 7"
        ),
        (("fleiss", "0.210"), ("fleiss", "0.209931")),
    ),
    # K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, 4 observers, 12 units.
    # Published: .743, .815, .849; recomputed by krippendorff; generalised Fleiss and AC1 by irrCAC.
    JudgesTable(
        "krippendorff",
        "Krippendorff 2011",
        (1, 2, 3, 4, 5),
        _transposed("123321412...", "1233224125.3", ".3332342251.", "12332441251."),
        (
            ("alpha_nominal", "0.743"),
            ("alpha_nominal", "0.743421"),
            ("alpha_ordinal", "0.815"),
            ("alpha_ordinal", "0.81539"),
            ("alpha_interval", "0.849"),
            ("alpha_interval", "0.849107"),
            ("fleiss", "0.76117"),
            ("ac1", "0.77544"),
        ),
    ),
    # The same paper, two observers, 10 binary units: .095.
    JudgesTable(
        "krippendorff-binary",
        "Krippendorff 2011",
        (0, 1),
        _transposed("1100000000", "0110010100"),
        (("alpha_nominal", "0.095"), ("alpha_nominal", "0.095238")),
    ),
    # A. F. Hayes, K. Krippendorff, Answering the Call for a Standard Reliability Measure for Coding
    # Data, 2007, 5 judges, 40 units. Published: ordinal .7598; the others by krippendorff and
    # irrCAC.
    JudgesTable(
        "hayes",
        "Hayes and Krippendorff 2007",
        (0, 1, 2, 3),
        _words(
            "112.2 1101. 2333. .00.0 000.0 000.0 102.1 1.20. 222.2 2111. .100. 0000. 1222. 33223"
            " 111.1 111.1 212.2 1233. 1101. 000.0 0011. 00.00 2333. 0000. 12.22 0111. 00010 1212."
            " 1122. 112.2 110.0 2121. 22.22 3222. 222.2 223.2 222.2 22.12 2222. 111.1"
        ),
        (
            ("alpha_ordinal", "0.7598"),
            ("alpha_ordinal", "0.75983"),
            ("alpha_nominal", "0.47651"),
            ("alpha_interval", "0.75738"),
            ("fleiss", "0.46968"),
            ("ac1", "0.50935"),
            ("ac2", "0.84764"),
        ),
    ),
)

# Kappa of every category of Fleiss 1971 against the rest, recomputed to 4 digits; the paper, by
# hand, has .248 .248 .517 .470 .565.
FLEISS_CATEGORIES = ("0.2448", "0.2448", "0.5200", "0.4711", "0.5661")
