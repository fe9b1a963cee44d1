"""`pooler audit` of three models on the TREC 2021 Deep Learning track: what other programs measured there.

The numbers are of NumPy, SciPy, scikit-learn and pytrec_eval; no code of this project had a part in them.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.model_judges import JUDGES, PEOPLE_LEVEL, dl21, grades_of, run_paths
from tests.helpers.run import Tables, run_inside, write

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("audit")]
"""One process has what `of_runs` found."""
MEASURES = ("AP", "P@10", "nDCG@10")
CONFUSION = {
    "umbrela": [[2641, 1105, 469, 123], [315, 1223, 1037, 488], [46, 556, 1082, 657], [0, 38, 372, 676]],
    "gpt-4o": [[3467, 867, 0, 0], [1027, 2036, 0, 0], [199, 2142, 0, 0], [19, 1067, 0, 0]],
    "llama": [[2366, 1972, 0, 0], [655, 2408, 0, 0], [275, 2066, 0, 0], [78, 1008, 0, 0]],
}
"""Documents: NIST's grades in rows, the model's in columns."""
KAPPAS = {
    "umbrela": {
        (1, 1): (0.5829, 0.519, 0.647),
        (1, 2): (0.4978, 0.416, 0.578),
        (1, 3): (0.2149, 0.150, 0.294),
        (2, 1): (0.2871, 0.230, 0.342),
        (2, 2): (0.4725, 0.398, 0.543),
        (2, 3): (0.3467, 0.246, 0.454),
        (3, 1): (0.0820, 0.049, 0.122),
        (3, 2): (0.2222, 0.140, 0.306),
        (3, 3): (0.3644, 0.231, 0.483),
    },
    "gpt-4o": {
        (1, 1): (0.5994, 0.531, 0.663),
        (2, 1): (0.4494, 0.381, 0.512),
        (3, 1): (0.1520, 0.091, 0.225),
    },
    "llama": {(1, 1): (0.4050, 0.350, 0.464), (2, 1): (0.2320, 0.185, 0.281), (3, 1): (0.0739, 0.045, 0.110)},
}
"""Kappa at NIST's level and the model's, and its percentiles over 2,000 resamples of topics."""
SHARES = {"umbrela": (0.723, 0.453, 0.180), "gpt-4o": (0.565,), "llama": (0.688,)}
"""Documents relevant by the model, by its level."""
CALIBRATION = {
    "umbrela": ((0.0153, 0.2033, 0.4912, 0.6857), (0.136, 0.838, 1.458, 1.970)),
    "gpt-4o": ((0.0463, 0.5250), None),
    "llama": ((0.1046, 0.4124), None),
}
"""By the model's grade, the share that NIST graded 2 or 3, and NIST's mean grade."""
KAPPA_TOPICS = {
    "umbrela": (0.041, 0.253, 0.418, 0.590, 0.848),
    "gpt-4o": (0.037, 0.227, 0.358, 0.520, 0.871),
    "llama": (0.011, 0.089, 0.179, 0.256, 0.598),
}
"""Kappa by topic: least, quartiles, greatest."""
SCORES = {  # NIST, umbrela, gpt-4o, llama; AP, P@10, nDCG@10
    "p_bm25": ".1357 .3547 .4458 .1947 .5358 .5863 .2006 .6434 .6564 .2247 .8170 .8272",
    "NLE_P_v1": ".3923 .6642 .7347 .4374 .8925 .8813 .4033 .9245 .9385 .3556 .9491 .9563",
    "pash_f1": ".3193 .6698 .7494 .3751 .8849 .8850 .3619 .9358 .9530 .3231 .9453 .9523",
    "TUW_TAS-B_ANN": ".1932 .4566 .5426 .2436 .6528 .6868 .2588 .7642 .7856 .2255 .8226 .8288",
    "watprp": ".1728 .4491 .5493 .2238 .6321 .6851 .2292 .7226 .7407 .2445 .8849 .8931",
    "yorku21_a": ".3309 .6151 .6965 .3602 .8585 .8399 .3328 .8830 .9029 .3106 .9434 .9484",
}
"""Means over 53 topics by pytrec_eval."""
ORDERS = {  # tau-b, tau_AP, runs at the top, their tau-b, place of NIST's best run, mean bias
    ("umbrela", "AP"): (0.9017, 0.8889, 10, 0.8667, 1, 0.0459),
    ("umbrela", "P@10"): (0.9035, 0.7834, 11, 0.5745, 2, 0.2084),
    ("umbrela", "nDCG@10"): (0.9241, 0.8826, 10, 0.9524, 1, 0.1419),
    ("gpt-4o", "AP"): (0.8249, 0.7869, 10, 0.7778, 1, 0.0423),
    ("gpt-4o", "P@10"): (0.8836, 0.8193, 11, 0.6401, 1, 0.2778),
    ("gpt-4o", "nDCG@10"): (0.9056, 0.8569, 10, 0.9048, 1, 0.2111),
    ("llama", "AP"): (0.7081, 0.6809, 10, 0.6889, 1, 0.0358),
    ("llama", "P@10"): (0.7842, 0.6738, 11, 0.5455, 2, 0.3731),
    ("llama", "nDCG@10"): (0.7918, 0.6711, 10, 0.5714, 2, 0.2980),
}
BIASES = {  # least bias, of which run, greatest, of which run, runs off the mean, correlation
    ("umbrela", "P@10"): (0.0811, "uogTrPCP", 0.2509, "NLE_P_quick", 1, 0.64),
    ("gpt-4o", "P@10"): (0.1189, "uogTrPCP", 0.3377, "watprd", 1, 0.04),
    ("llama", "P@10"): (0.2396, None, 0.5019, "watprd", 10, -0.57),
    ("llama", "AP"): (-0.0367, "NLE_P_v1", 0.1010, None, 11, None),
}
PAIRS = {  # both, opposite, vanishes (turned), appears (turned), neither in the same, in opposite directions
    ("umbrela", "P@10"): (1341, 0, 81, 1, 95, 1, 339, 97),
    ("umbrela", "AP"): (1348, 0, 74, 0, 145, 2, 292, 94),
    ("umbrela", "nDCG@10"): (1405, 0, 49, 0, 90, 1, 336, 73),
    ("gpt-4o", "P@10"): (1303, 0, 119, 1, 100, 5, 321, 110),
    ("llama", "P@10"): (1054, 1, 367, 44, 149, 31, 246, 136),
    ("llama", "AP"): (1199, 30, 193, 58, 339, 108, 103, 89),
}
ORDER_INTERVALS = {  # percentiles of tau-b, of all runs and of the best, and the mean of NIST's own order
    "P@10": (0.824, 0.908, 0.168, 0.927, 0.897),
    "AP": (0.783, 0.926, 0.556, 0.956, 0.893),
    "nDCG@10": (0.866, 0.930, 0.381, 1.0, 0.907),
}
"""Of umbrela."""
FAVOURS = {  # gain of 58 runs over the 5 that are no neural ones in P@10; odds ratio of their documents
    "umbrela": (0.0215, -0.019, 0.061, 1.106, 0.865, 1.395),
    "gpt-4o": (-0.0118, -0.053, 0.030, 1.076, 0.815, 1.402),
    "llama": (-0.0677, -0.106, -0.030, 1.035, 0.835, 1.268),
}
TRADITIONAL = {"p_bm25", "p_bm25rm3", "paug_bm25", "paug_bm25rm3", "bl_bcai_p_trad"}
SORTED = [  # run, who sorted it, who judges, NIST's score and place, the judge's, own bias, t
    ("p_bm25", "llama", "llama", 0.3943, 49, 1.0, 1, 0.2289, 9.91),
    ("p_bm25", "gpt-4o", "gpt-4o", 0.4736, 34, 0.9604, 1, 0.2057, 9.26),
    ("p_bm25", "umbrela", "umbrela", 0.5717, 16, 0.9434, 1, 0.1607, 5.77),
    ("p_bm25", "umbrela", "gpt-4o", 0.5717, 16, 0.9283, 4, 0.0776, 3.88),
    ("yorku21_a", "llama", "llama", 0.6208, 5, 1.0, 1, 0.0060, 0.22),
]
APART = {("llama", 49), ("umbrela", 16)}
"""Those of them that are also left out: by the judge who sorted them, and by another of its kind."""


def audited(judge: str, *options: str | Path, runs: Sequence[str | Path] = ()) -> Tables:
    """Audit a model against NIST."""
    file, level = JUDGES[judge]
    found = run_inside(
        *("audit", f"{judge}={dl21(file)}", *runs, "--qrels", dl21("nist.qrels.gz")),
        *("--level", str(PEOPLE_LEVEL), "--model-level", str(level), "--format", "json", *options),
    )
    tables = found.fine().json()
    assert isinstance(tables, Tables)
    return tables


@cache
def of_runs(judge: str, resamples: int = 100, seed: int = 1) -> Tables:
    """Audit a model with all runs and three measures."""
    measures = [word for name in MEASURES for word in ("-m", name)]
    drawn = ("--resamples", str(resamples), "--seed", str(seed))
    return audited(judge, *measures, *drawn, runs=run_paths())


def row_of(rows: list[dict[str, Any]], **cells: Any) -> dict[str, Any]:
    """Return the only row with these cells."""
    [found] = [row for row in rows if all(row[name] == cell for name, cell in cells.items())]
    return found


def same(number: float, printed: float, digits: int = 4) -> bool:
    """Say whether a number is the printed one, to its last digit."""
    return abs(number - printed) <= 0.5 * 10**-digits + 1e-9


@pytest.mark.parametrize("judge", JUDGES)
def test_grades_are_as_other_programs_find_them(judge: str) -> None:
    """Confusion, kappa at every two levels, shares, what a grade is worth, kappa by topic."""
    found = of_runs(judge)
    table = [[0] * 4 for _ in range(4)]
    for row in found["confusion"]:
        table[row["human"]][row["model"]] = row["documents"]
    assert table == CONFUSION[judge]
    if judge == "umbrela":
        for weights, kappa in (("none", 0.3463), ("linear", 0.4928), ("quadratic", 0.6220)):
            assert same(found.facts[f"kappa_{weights}"], kappa)
    for (human, model), (kappa, *_) in KAPPAS[judge].items():
        row = row_of(found["levels"], human=human, model=model)
        assert same(row["kappa"], kappa), (human, model)
        assert same(row["model_share"], SHARES[judge][model - 1], 3)
    others = [row for row in found["levels"] if (row["human"], row["model"]) not in KAPPAS[judge]]
    assert {(row["kappa"], row["reason"]) for row in others} <= {(None, "single-grade")}
    relevant, means = CALIBRATION[judge]
    assert all(same(row["relevant"], share) for row, share in zip(found["grades"], relevant, strict=True))
    if means is not None:
        assert all(same(row["mean"], mean, 3) for row, mean in zip(found["grades"], means, strict=True))
    kappas = sorted(row["kappa"] for row in found["topics"])
    assert len(kappas) == 53  # so that the quartiles are three of them
    assert all(
        same(kappas[place], one, 3)
        for place, one in zip((0, 13, 26, 39, 52), KAPPA_TOPICS[judge], strict=True)
    )


@pytest.mark.parametrize("judge", JUDGES)
def test_scores_orders_and_pairs_are_as_other_programs_find_them(judge: str) -> None:
    """Scores by both; tau-b of all runs and of the best; bias; pairs that differ significantly."""
    found = of_runs(judge)
    place = [*JUDGES].index(judge) + 1
    for tag, text in SCORES.items():
        printed = [float(word) for word in text.split()]
        for number, measure in enumerate(MEASURES):
            row = row_of(found["runs"], run=tag, measure=measure)
            assert same(row["human"], printed[number]), (tag, measure)
            assert same(row["model"], printed[3 * place + number]), (tag, measure)
    for measure in MEASURES:
        tau, _, n_top, tau_top, best, mean_bias = ORDERS[judge, measure]
        order, bias = (row_of(found[name], measure=measure) for name in ("orders", "bias"))
        assert (order["topics"], order["runs"], order["top"], order["best_place"]) == (53, 63, n_top, best)
        assert same(order["tau_b"], tau)
        assert same(order["tau_top"], tau_top)
        assert same(bias["bias"], mean_bias)
        if (judge, measure) in BIASES:
            least, least_run, most, most_run, n_off, correlation = BIASES[judge, measure]
            assert same(bias["least"], least)
            assert same(bias["most"], most)
            assert least_run in (None, bias["least_run"])
            assert most_run in (None, bias["most_run"])
            assert bias["off"] == n_off
            assert correlation is None or same(bias["correlation"], correlation, 2)


@pytest.mark.parametrize(("judge", "measure"), PAIRS)
def test_pairs_are_as_other_programs_find_them(judge: str, measure: str) -> None:
    """Every count, but for means that are level: those programs gave them the sign of their last bit.

    In P@10 some means are level. Here they have no direction, so that fewer pairs turn; with all of them
    taken to turn there would be more than the other programs have.
    """
    found = of_runs(judge)
    row = row_of(found["pairs"], measure=measure)
    both, opposite, vanishes, turned, appears, also_turned, neither, against = PAIRS[judge, measure]
    assert (row["both"], row["opposite"], row["vanishes"], row["appears"]) == (
        *(both, opposite, vanishes, appears),
    )
    assert row["neither"] + row["neither_opposite"] == neither + against
    at_most = (turned, also_turned, against)
    counted = (row["vanishes_turned"], row["appears_turned"], row["neither_opposite"])
    if measure != "P@10":
        assert counted == at_most
        return
    level = n_level(found["runs"], measure)
    assert all(low <= high <= low + level for low, high in zip(counted, at_most, strict=True))


def n_level(rows: list[dict[str, Any]], measure: str) -> int:
    """Count the pairs of runs that are level by one of the two, from their scores."""
    scores = [(round(row["human"], 9), round(row["model"], 9)) for row in rows if row["measure"] == measure]
    pairs = [(one, other) for place, one in enumerate(scores) for other in scores[:place]]
    return sum(one[0] == other[0] or one[1] == other[1] for one, other in pairs)


@pytest.mark.parametrize(("judge", "measure"), ORDERS)
def test_tau_ap_is_the_published_one(judge: str, measure: str) -> None:
    """Published with every tied pair half right, of all nine; here those tied by both judges are right.

    In P@10 and nDCG@10 there are some: pair by pair, both values follow from the printed scores.
    """
    found = of_runs(judge)
    rows = [row for row in found["runs"] if row["measure"] == measure]
    scores = [(round(row["model"], 9), round(row["human"], 9)) for row in rows]
    assert same(tau_ap_with_ties(scores, tied_in_both=0.5), ORDERS[judge, measure][1])
    expected = tau_ap_with_ties(scores, tied_in_both=1.0)
    assert row_of(found["orders"], measure=measure)["tau_ap"] == pytest.approx(expected, abs=1e-12)


def tau_ap_with_ties(scores: list[tuple[float, float]], *, tied_in_both: float) -> float:
    """Compute tau_AP of pairs (estimate, truth) from the mean of every place over the orders of tied runs."""

    def right(above: tuple[float, float], below: tuple[float, float]) -> float:
        signs = [(one > other) - (one < other) for one, other in zip(above, below, strict=True)]
        if signs == [0, 0]:
            return tied_in_both
        return 0.5 if 0 in signs else float(signs[0] == signs[1])

    total, ahead = 0.0, list[tuple[float, float]]()
    for level in sorted({one for one, _ in scores}, reverse=True):
        level_runs = [one for one in scores if one[0] == level]
        for place in range(len(ahead), len(ahead) + len(level_runs)):
            for number, run in enumerate(level_runs if place else ()):
                beside = [right(other, run) for at, other in enumerate(level_runs) if at != number]
                among = (place - len(ahead)) * sum(beside) / max(len(beside), 1)
                total += (sum(right(one, run) for one in ahead) + among) / place / len(level_runs)
        ahead += level_runs
    return 2 * total / (len(scores) - 1) - 1


WITHIN = {"kappa": 0.009, "gain": 0.006, "tau": 0.008, "top": 0.05, "odds": 0.03}
"""How far limits of 2,000 resamples may lie from printed ones, which are of as many at most.

Eight seeds give limits of kappa a standard deviation of .001 to .003, of tau-b .001 to .002, of tau-b of
the best .02, where a step from one value to the next is .04. The two sides differ by both errors, and the
worst of thirty limits by about three of them.
"""


@pytest.mark.slow
@pytest.mark.parametrize("judge", JUDGES)
def test_resampled_limits_are_those_of_other_programs(judge: str, tmp_path: Path) -> None:
    """Percentiles over topics of kappa, of the gain of a group, and of an odds ratio."""
    found = audited(judge, "--runs", listed_runs(tmp_path), "-m", "P@10")
    assert found.settings["resamples"] == 2000
    for (human, model), (_, *printed) in KAPPAS[judge].items():
        row = row_of(found["levels"], human=human, model=model)
        assert (row["low"], row["high"]) == pytest.approx(printed, abs=WITHIN["kappa"]), (human, model)
    gain, *gains, odds, low, high = FAVOURS[judge]
    group, documents = row_of(found["groups"], kind="uses", name="lm"), row_of(found["documents"], name="lm")
    assert same(group["gain"], gain)
    assert (group["runs"], group["others"]) == (58, 5)
    assert (group["low"], group["high"]) == pytest.approx(gains, abs=WITHIN["gain"])
    assert same(documents["odds_ratio"], odds, 3)
    assert (documents["low"], documents["high"]) == pytest.approx((low, high), abs=WITHIN["odds"])


@pytest.mark.slow
def test_resampled_orders_are_those_of_other_programs() -> None:
    """Percentiles of tau-b of all runs and of the best, and the order of NIST on resampled topics."""
    found = of_runs("umbrela", 2000)
    for measure, (low, high, top_low, top_high, ceiling) in ORDER_INTERVALS.items():
        row = row_of(found["orders"], measure=measure)
        assert (row["tau_b_low"], row["tau_b_high"]) == pytest.approx((low, high), abs=WITHIN["tau"])
        assert (row["tau_top_low"], row["tau_top_high"]) == pytest.approx(
            (top_low, top_high), abs=WITHIN["top"]
        )
        assert row["ceiling"] == pytest.approx(ceiling, abs=0.0015)


def listed_runs(folder: Path) -> Path:
    """List the runs: five use no model, the others one."""
    rows = [f"{path}\t{'none' if path.stem in TRADITIONAL else 'lm'}" for path in run_paths()]
    return write(folder / "runs.tsv", "file\tmodels", *rows)


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if place else ()) for place, case in enumerate(SORTED)]
)
def test_a_run_sorted_by_a_judge_is_found_out(tmp_path: Path, case: tuple[Any, ...]) -> None:
    """Put in a judge's order a poor run comes first by that judge; it is reported apart unless asked for."""
    tag, sorter, judge, human, human_place, model, model_place, own, t = case
    grades = grades_of(sorter)
    topics: dict[str, list[list[str]]] = {}
    with gzip.open(dl21("runs") / f"{tag}.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            topics.setdefault(line.split()[0], []).append(line.split())
    rows = []
    for topic, ranking in topics.items():
        ranking.sort(key=lambda row: -grades.get((topic, row[2]), -1))  # stable; unjudged last
        rows += [f"{topic} Q0 {row[2]} {place} {-place} sorted" for place, row in enumerate(ranking, start=1)]
    write(tmp_path / "sorted.run", *rows)
    names = [f"{path}\tnone" for path in run_paths()]
    listed = write(tmp_path / "runs.tsv", "file\tmodels", *names, f"sorted.run\t{sorter}")
    options: tuple[str | Path, ...] = ("--runs", listed, "-m", "P@10", "--resamples", "100")
    options += ("--family", sorter)
    found = audited(judge, *options, "--circular")
    row = row_of(found["runs"], run="sorted")
    assert same(row["human"], human)
    assert same(row["model"], model)
    assert (row["human_place"], row["model_place"], row["circular"]) == (human_place, model_place, True)
    assert same(row["own"], own)
    assert same(row["t"], t, 2)
    if (sorter, human_place) not in APART:
        return
    apart = audited(judge, *options)
    [order] = apart["orders"]
    assert order["runs"] == 63
    assert same(order["tau_b"], ORDERS[judge, "P@10"][0])
    assert row_of(apart["runs"], run="sorted")["circular"]
    assert same(row_of(apart["bias"], measure="P@10")["bias"], ORDERS[judge, "P@10"][5])


def test_verdict_says_which_threshold_of_whom() -> None:
    """A GPT-4 judge orders runs as other topics would; which of the best is best it does not know."""
    says = [
        (row["says"], row["measure"], row["threshold"], row["source"])
        for row in of_runs("umbrela")["verdict"]
    ]
    assert says[0][0] == "Cannot replace people, for the reasons that follow"
    assert any("one person graded" in words and "Calderon" in source for words, _, _, source in says)
    told = {(words, measure) for words, measure, _, _ in says}
    assert ("Orders these runs about as another set of topics would", "P@10") in told
    assert ("Says nothing about the order of the best 11 runs", "P@10") in told
    drifted = "Its relevant (1+) is people's 1+, not 2+: the scale has drifted"
    assert drifted in [row["says"] for row in of_runs("gpt-4o")["verdict"]]
    assert not any("drifted" in words for words, _ in told)
    worse = [row for row in of_runs("gpt-4o")["verdict"] if "less well than another set" in row["says"]]
    assert "P@10" in [row["measure"] for row in worse]
