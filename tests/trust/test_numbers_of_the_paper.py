"""The paper's tables 7 and 8, and the list of errata: each wrong number beside what the code computes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import store.analysis
from store.analysis.clusters import cluster_scores
from store.analysis.measures.average_precision import average_precision, least_average_precision, swap_effect
from store.analysis.measures.confusion import e_measure
from store.analysis.measures.gain import ideal_gain, normalised_gain
from store.analysis.significance.t_tests import paired_t_of_moments, unpaired_t_of_moments
from store.analysis.undiscovered import relative_drop, required_difference, round_up
from store.analysis.variation.collection import Components
from tests.vectors.agreement_tables import assert_prints
from tests.vectors.kishida_tables import MISPRINTED, N_TOPICS, N_TOPICS_OF_TABLE_6, TABLE_6, TABLE_7, TABLE_8


@pytest.mark.vector("Kishida 2001, tables 7 and 8: four decimals, rounded up")
def test_every_cell_of_tables_7_and_8() -> None:
    """All 120 printed cells are eq. 23 and 24 rounded up; 61 of them are not the nearest."""
    n_cells = n_nearest = 0
    for title, rows in (TABLE_7 | TABLE_8).items():
        drops = (
            {"variation_share": float(title)}
            if title in TABLE_7
            else dict(zip(("difference_drop", "variance_drop"), map(float, title.split()), strict=True))
        )
        for variance, printed in rows.items():
            values = required_difference(float(variance), np.array(N_TOPICS), **drops)
            for digits, value in zip(printed, values.tolist(), strict=True):
                assert f"{float(round_up(value)):.4f}" == digits
                n_cells += 1
                n_nearest += f"{value:.4f}" == digits
    assert (n_cells, n_cells - n_nearest) == (120, 61)


@pytest.mark.vector("Kishida 2001, sections 4.2.2, 4.3 and 5; recomputed")
def test_numbers_of_the_running_text() -> None:
    """5.01% and 5.37% are needed; K is 3.5%, 6.2% and 13%; undiscovered documents take 17%."""
    without, within = (float(required_difference(s2, 53)) for s2 in (0.0330, 0.03300 + 0.00487))
    assert_prints("0.05007143", without)
    assert_prints("0.05363900", within)
    assert_prints("0.05358940", float(required_difference(0.0378, 53)))
    assert round_up([without, within]).tolist() == [0.0501, 0.0537]
    judging, topics = np.array([0.00188, 0.00299, 0.00487]), np.array([0.05171, 0.04558, 0.0378 - 0.00487])
    shares = Components(np.zeros(3), topics, judging, 53).share
    for digits, share in zip(("0.03508", "0.06156", "0.129"), shares.tolist(), strict=True):
        assert_prints(digits, share)
    assert_prints("0.01170", 0.27973 - 0.26803)
    assert_prints("0.01969", 0.32588 - 0.30619)
    drops = relative_drop(
        [0.27973, 0.32588, 0.32588 - 0.27973, 0.0330], [0.26803, 0.30619, 0.30619 - 0.26803, 0.0294]
    )
    for digits, drop in zip(("0.0418", "0.0604", "0.173", "0.109"), drops.tolist(), strict=True):
        assert_prints(digits, drop)
    # Table 7 against table 8, variance .03 and 50 topics: 4.93% grows to 5.5%.
    wider = required_difference(0.03, 50, difference_drop=0.15, variance_drop=0.10)
    assert_prints("0.0550", float(round_up(wider)))


@pytest.mark.parametrize(("variance", "n_topics", "alpha"), [(0.03, 50, 0.05), (0.2, 7, 0.01)])
def test_required_difference_is_just_significant(variance: float, n_topics: int, alpha: float) -> None:
    """A paired t test of the difference that eq. 23 requires has p = alpha."""
    needed = float(required_difference(variance, n_topics, alpha=alpha))
    assert paired_t_of_moments(needed, variance, n_topics).p == pytest.approx(alpha, rel=1e-9)


def power_of(difference: float, variance: float, n_topics: int) -> float:
    """Compute the power of the two-sided 5% paired t test, exactly."""
    shift = difference / np.sqrt(variance / n_topics)
    limit = stats.t.ppf(0.975, n_topics - 1)
    above = stats.nct.sf(limit, n_topics - 1, shift)
    return float(above + stats.nct.cdf(-limit, n_topics - 1, shift))


@pytest.mark.parametrize("n_topics", [30, 50, 150])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.9, 0.95])
def test_wanted_power_is_had(n_topics: int, power: float) -> None:
    """The noncentral t has the wanted power at the returned difference, to within .007."""
    needed = float(required_difference(0.04, n_topics, power=power))
    assert power_of(needed, 0.04, n_topics) == pytest.approx(power, abs=0.007)


def test_rounding_up_leaves_whole_digits() -> None:
    """A number with so many digits stays, whatever its last bit."""
    assert round_up([0.1 + 0.2, 0.3, 0.30001, 0.0], 4).tolist() == [0.3, 0.3, 0.3001, 0.0]
    assert float(round_up(0.123, 2)) == 0.13


ERRATA = " ".join((store.analysis.__doc__ or "").split())
SLIDES = np.array([4, 1, 4, 2, 1])


def ap(text: str) -> float:
    """Compute AP of a string of ones and zeros, R being its ones."""
    relevant = np.array([letter == "1" for letter in text])
    return float(average_precision(relevant, np.array(text.count("1"))))


def t1_of_misprint(variance_b: str) -> float | None:
    """Compute t1 of the misprinted column of table 6 from table 5."""
    column = TABLE_6[MISPRINTED]
    difference = float(column.map_a) - float(column.map_b)
    variance_a = sum(map(float, column.variance_a))
    return unpaired_t_of_moments(difference, variance_a, float(variance_b), N_TOPICS_OF_TABLE_6).t


def mean_of_judges(maps: list[str]) -> float:
    """Average the MAPs of the four judged columns of table 6."""
    judged = [value for value, name in zip(maps, TABLE_6, strict=True) if "judge" in name]
    assert len(judged) == 4
    return math.fsum(map(float, judged)) / 4


def slides_ndcg(grades: list[int]) -> float:
    """Compute nDCG with the discount of the slides."""
    return float(normalised_gain(np.array([grades]), [SLIDES], discount="jarvelin")[0])


def slides_dcg(grades: list[int]) -> float:
    """Compute DCG with the discount of the slides: none at rank 1, log2 of the rank below."""
    return sum(grade / max(math.log2(rank), 1) for rank, grade in enumerate(grades, start=1))


CLUSTERS = np.array([[5, 1, 1], [1, 4, 3], [2, 2, 6]])


@pytest.mark.vector("the paper, the articles and the slides, printed and recomputed")
@pytest.mark.parametrize(
    ("entry", "printed", "corrected", "computed"),
    [
        ("1110000001 (.85)", "111000001", ".85", ap("1110000001")),
        ("as it stands has .8611", "111000001", ".8611", ap("111000001")),
        ("1011100000 (.8042)", "101110000", ".8042", ap("1011100000")),
        (".0567, .3118 and 1 for", "table 3", ".0567", least_average_precision(100, 10)),
        (".0567, .3118 and 1 for", "table 3", ".3118", least_average_precision(100, 50)),
        ("gives t1 1.0943", "1.0583", "1.0943", t1_of_misprint("0.05288")),
        ("would give 1.0585", ".05288", "1.0585", t1_of_misprint("0.05988")),
        ("is 12.9%", '"about 12%"', "12.9", 100 * 0.00487 / 0.0378),
        (".28410 and .33441", ".27973", ".28410", mean_of_judges([one.map_b for one in TABLE_6.values()])),
        (".28410 and .33441", ".32588", ".33441", mean_of_judges([one.map_a for one in TABLE_6.values()])),
        ("1 - 2 / (1/P + 1/R), 0", ".5 for a perfect set", "0", e_measure(1.0, 1.0)),
        ("is 10.1925", "10.70", "10.1925", ideal_gain([SLIDES], discount="jarvelin")[0]),
        ("is .8785", ".83", ".8785", slides_ndcg([4, 1, 4, 2, 1])),
        ("exact logarithms, 6.9846", "6.98 is", "6.9846", slides_dcg([1, 1, 2, 4, 4])),
        ("give 6.99", "of two decimals that it shows", "6.99", 1 + 1 + 2 / 1.58 + 4 / 2 + 4 / 2.32),
        ("gives .05364", "5.37%", ".05364", required_difference(0.03787, 53)),
        ("that table 6 has for it, .05359", ".0378 ", ".05359", required_difference(0.0378, 53)),
        ("is .6853", ".65", ".6853", slides_ndcg([1, 1, 2, 4, 4])),
        ("gives .6 and .6", ".598, F .599", ".6", cluster_scores(CLUSTERS).inverse_purity),
        ("gives .6 and .6", ".598, F .599", ".6", cluster_scores(CLUSTERS).f),
    ],
)
def test_numbers_of_the_list_are_computed(entry: str, printed: str, corrected: str, computed: float) -> None:
    """What is printed and what is right stand in the list, and the right one is what comes out."""
    assert entry in ERRATA
    assert printed in ERRATA
    assert corrected in entry
    assert_prints(corrected, float(computed))


def test_swap_by_the_printed_rule_is_nothing() -> None:
    """11000 to 10100: eq. 6 twice on the first ranking cancels; S falls by 1/3."""
    relevant = np.array([True, True, False, False, False])
    assert "11000 to 10100 would change S by 0, but it falls by 1/3" in ERRATA
    assert float(swap_effect(relevant, 2, 2, 3)) * 2 == pytest.approx(-1 / 3, rel=1e-14)
