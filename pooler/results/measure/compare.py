"""The tables of `pooler compare`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.results.agree.people import legend
from pooler.results.printed import Cell, Column, Format, Table
from store.analysis.significance.normality import NormalityPicture, normality_picture
from store.text import counted

_DIGITS = 4
_UNROUNDED = 1e-12
"""Differences closer than this are equal but for rounding errors."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Scores of runs, and how they are to be compared."""

    tags: Sequence[str]
    topics: Sequence[str]
    scores: NDArray[np.float64]
    """Shape (n_runs, n_topics); NaN = undefined."""
    measure: str
    alpha: float
    """Level of significance."""
    resolution: float
    """What differences are rounded to for the tests that count."""

    def both_defined(self) -> NDArray[np.bool_]:
        """Tell in which topics the first two runs have a score, shape (n_topics,)."""
        return np.asarray(np.isfinite(self.scores[:2]).all(axis=0))

    def differences(self) -> NDArray[np.float64]:
        """Return the first run's scores less the second's, where both are defined."""
        first, second = self.scores[:2, self.both_defined()]
        return np.asarray(first - second)


def of_two(compared: Compared, fmt: Format, *, seed: int) -> list[Table]:
    """Make the tables of two runs: their means, and every test of the difference."""
    return [_means(compared, fmt), _tests(compared, fmt, seed)]


def _means(compared: Compared, fmt: Format) -> Table:
    """Make the table of the difference."""
    from store.analysis.significance.t_tests import paired_t
    from store.analysis.undiscovered.required import required_difference

    differences = compared.differences()
    first, second = compared.scores[:2, compared.both_defined()]
    outcome = paired_t(differences, level=1 - compared.alpha)
    better = int((differences > compared.resolution / 2).sum())
    worse = int((differences < -compared.resolution / 2).sum())
    n_topics = differences.size
    columns = [
        Column("a", "A"), Column("b", "B"), Column("measure"), Column("topics"),
        Column("mean_a", "mean A"), Column("mean_b", "mean B"), Column("difference", "A - B"),
        Column("low"), Column("high"), Column("variance"), Column("needed"),
        Column("effect_size", "effect", digits=2),
        Column("better_a", "A > B"), Column("better_b", "B > A"), Column("same"),
    ]  # fmt: skip
    needed = None
    if outcome.variance is not None:
        needed = float(required_difference(outcome.variance, n_topics, alpha=compared.alpha))
    row: dict[str, Cell] = {
        "a": compared.tags[0], "b": compared.tags[1], "measure": compared.measure,
        "topics": n_topics,
        "mean_a": float(first.mean()) if n_topics else None,
        "mean_b": float(second.mean()) if n_topics else None,
        "difference": outcome.difference, "low": outcome.low, "high": outcome.high,
        "variance": outcome.variance, "needed": needed,
        "effect_size": outcome.effect_size, "better_a": better, "better_b": worse,
        "same": n_topics - better - worse,
    }  # fmt: skip
    caption = legend([
        f"low, high: {1 - compared.alpha:.0%} interval of A - B. needed: what it would have to be"
        f" for p <= {compared.alpha:g} by t2 (eq. 23). effect: A - B in standard deviations of the"
        " differences of topics."
    ])  # fmt: skip
    title = (
        f"{compared.measure} of A = {compared.tags[0]} and B = {compared.tags[1]}"
        f" over {counted(n_topics, 'topic')}"
    )
    left_out = {"a", "b", "measure", "topics", "variance"} if fmt is Format.TABLE else set()
    shown = [column for column in columns if column.name not in left_out]
    return Table("difference", shown, [row], title=title, caption=caption)


def _tests(compared: Compared, fmt: Format, seed: int) -> Table:
    """Make the table of tests."""
    from store.analysis.significance.randomisation import randomisation_test, studentised_bootstrap
    from store.analysis.significance.t_tests import paired_t, unpaired_t
    from store.analysis.significance.wilcoxon import wilcoxon_test

    differences = compared.differences()
    first, second = compared.scores[:2, compared.both_defined()]
    rows: list[dict[str, Cell]] = []
    for name, of_t in (("t2: paired t", paired_t(differences)),
                       ("t1: unpaired t", unpaired_t(first, second))):  # fmt: skip
        rows.append({"test": name, "statistic": of_t.t, "p": of_t.p, "reason": of_t.reason})
    ranks = wilcoxon_test(differences, resolution=compared.resolution)
    unrounded = wilcoxon_test(differences, resolution=_UNROUNDED)
    rows.append({"test": "Wilcoxon signed ranks", "p": ranks.p, "reason": ranks.reason,
                 "statistic": None if ranks.p is None else ranks.positive,
                 "rounded_to": compared.resolution, "p_unrounded": unrounded.p})  # fmt: skip
    exact = randomisation_test(differences, resolution=compared.resolution)
    rows.append({"test": "exact randomisation", "p": exact.p, "reason": exact.reason,
                 "rounded_to": compared.resolution})  # fmt: skip
    bootstrap = studentised_bootstrap(differences[None, :], seed=seed)
    p = float(bootstrap.p[0])
    rows.append({"test": "studentised bootstrap", "p": None if np.isnan(p) else p,
                 "reason": rows[0]["reason"] if np.isnan(p) else None})  # fmt: skip
    for row in rows:
        significant = row["p"]
        assert significant is None or isinstance(significant, float)
        row["significant"] = None if significant is None else significant <= compared.alpha
    columns = [Column("test"), Column("statistic"), Column("p"),
               Column("significant", f"p <= {compared.alpha:g}"), Column("reason")]  # fmt: skip
    if not any(row["reason"] for row in rows):
        columns.pop()
    if fmt is not Format.TABLE:
        columns += [Column("rounded_to"), Column("p_unrounded")]
    caption = legend([
        "All two-sided. Wilcoxon and randomisation are exact, on differences rounded to"
        f" {compared.resolution:g}; the bootstrap drew {bootstrap.resamples:,} resamples (--seed"
        f" {seed}). t1 takes topics for independent samples, which they are not: it is here for"
        " comparison."
    ])  # fmt: skip
    return Table("tests", columns, list[Mapping[str, Cell]](rows), caption=caption)


def topic_table(compared: Compared) -> Table:
    """Make the table of both scores by topic."""
    columns = [Column("topic"), Column("score_a", compared.tags[0]),
               Column("score_b", compared.tags[1]), Column("difference", "A - B")]  # fmt: skip
    table = Table("topics", columns)
    defined = compared.both_defined()
    for place, topic in enumerate(compared.topics):
        first, second = (float(score) for score in compared.scores[:2, place])
        cells = (first, second, first - second) if defined[place] else (None, None, None)
        table.rows.append({"topic": topic, "score_a": cells[0], "score_b": cells[1],
                           "difference": cells[2]})  # fmt: skip
    return table


def picture_of(compared: Compared) -> NormalityPicture:
    """Lay the differences beside the normal curve."""
    return normality_picture(compared.differences())


def normality_table(compared: Compared) -> Table:
    """Make the table of the points of figure 3."""
    picture = picture_of(compared)
    columns = [Column("difference"), Column("share"), Column("standardised"), Column("normal")]
    lists = picture.differences, picture.shares, picture.standardised, picture.normal
    names = [column.name for column in columns]
    rows = [dict(zip(names, map(_defined, values), strict=True)) for values in zip(*lists, strict=True)]
    return Table("normality", columns, list[Mapping[str, Cell]](rows))


def of_pairs(
    compared: Compared,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    fmt: Format,
    *,
    seed: int,
    advance: Callable[[int], None],
) -> Table:
    """Make the table of pairs of runs, with p-values adjusted for the number of pairs.

    People see fewer columns, so that it fits a screen.
    """
    from store.analysis.significance.pairs import compare_pairs, holm
    from store.analysis.significance.tukey import randomised_tukey_test, tukey_test

    found = compare_pairs(compared.scores, pairs=pairs, resolution=compared.resolution,
                          level=1 - compared.alpha, progress=advance)  # fmt: skip
    common = compared.scores[:, np.isfinite(compared.scores).all(axis=0)]
    tukey, randomised = tukey_test(common), randomised_tukey_test(common, seed=seed)
    at = found.first, found.second
    lists: dict[str, NDArray[np.float64]] = {
        "difference": found.difference, "low": found.low, "high": found.high,
        "effect_size": found.effect_size, "p_t": found.p_t, "p_wilcoxon": found.p_wilcoxon,
        "p_randomisation": found.p_randomisation, "p_holm": holm(found.p_randomisation),
        "p_tukey": tukey.p[at], "p_tukey_randomised": randomised.p[at],
    }  # fmt: skip
    columns = [
        Column("a", "A"), Column("b", "B"), Column("topics"), Column("difference", "A - B"),
        Column("low"), Column("high"), Column("effect_size", "effect", digits=2),
        Column("p_t", "p t"), Column("p_wilcoxon", "Wilcoxon"),
        Column("p_randomisation", "exact"), Column("p_holm", "Holm"),
        Column("p_tukey", "HSD"), Column("p_tukey_randomised", "random. HSD"),
    ]  # fmt: skip
    rows: list[Mapping[str, Cell]] = []
    for place, (first, second) in enumerate(zip(*at, strict=True)):
        rows.append({
            "a": compared.tags[first], "b": compared.tags[second],
            "topics": int(found.n_topics[place]),
            **{name: _defined(values[place]) for name, values in lists.items()},
        })  # fmt: skip
    if fmt is Format.TABLE:
        left_out = {"effect_size", "p_t", "p_wilcoxon", "p_tukey_randomised"}
        left_out |= {"topics"} if len(set(found.n_topics.tolist())) == 1 else set()
        columns = [column for column in columns if column.name not in left_out]
    caption = _pairs_caption(compared, lists, found.n_topics, seed)
    return Table("pairs", columns, rows, caption=caption)


def _pairs_caption(
    compared: Compared, lists: Mapping[str, NDArray[np.float64]], n_topics: NDArray[np.int64], seed: int
) -> str:
    """Say what the columns are and how many pairs differ."""
    n_differ = {name: int((p <= compared.alpha).sum()) for name, p in lists.items()}
    fewest, most = int(n_topics.min()), int(n_topics.max())
    topics = counted(most, "topic") if fewest == most else f"{fewest} to {most} topics"
    return legend([
        f"{compared.measure} over {topics}; low, high: {1 - compared.alpha:.0%} interval of A - B."
        " exact: p of the randomisation test as if the pair were the only one, on differences"
        f" rounded to {compared.resolution:g}; Holm: the same, adjusted for the number of pairs;"
        " HSD: Tukey's p, which allows for all runs. json and tsv have more tests.",
        f"Of {counted(len(n_topics), 'pair')}, {n_differ['p_randomisation']:,} differ at"
        f" {compared.alpha:g} taken alone; {n_differ['p_holm']:,} by Holm,"
        f" {n_differ['p_tukey']:,} by HSD, {n_differ['p_tukey_randomised']:,} by HSD from"
        f" permutations (--seed {seed}).",
    ])  # fmt: skip


def _defined(value: float) -> float | None:
    """Return a number, or ``None`` for NaN."""
    return None if np.isnan(value) else float(value)
