"""Whether runs differ: two by every test, or every pair with p-values adjusted for their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Measured, Option, Seed, Share, command
from pooler.commands.measure.measured import known_measure, measured
from pooler.commands.measure.verdict import Referee, RunVerdict
from pooler.messages import progress, say, warn
from pooler.result import Result, fields_of, frozen_settings
from pooler.sources.stored import check_named
from pooler.tables import (
    DIFFERENCE,
    REASON_OF_PAIR,
    RUN_B,
    TOPIC,
    TOPICS_HIDDEN,
    VARIANCE_HIDDEN,
    Column,
    Plot,
    Table,
    cells_where,
    hidden,
)
from store.analysis.measures.names import MEASURES
from store.analysis.significance.folds import MeanChanges, mean_changes
from store.analysis.significance.pairs import RunPairs, compare_pairs, holm, randomised_tukey_test, tukey_test
from store.analysis.significance.randomisation import (
    RESAMPLES,
    randomisation_test,
    sign_test,
    studentised_bootstrap,
    wilcoxon_test,
)
from store.analysis.significance.t_tests import (
    NormalityPicture,
    check_requirement,
    normal_p,
    normality_picture,
    paired_t,
    unpaired_t,
    welch_t,
)
from store.analysis.undiscovered import required_difference
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.text import counted

_UNROUNDED = 1e-12
"""Differences closer than this are equal but for rounding errors."""


@command
def compare(
    source: Measured,
    *runs: Annotated[str, Option(hidden=True)],
    against: Annotated[str | None, Option("--against TAG")] = None,
    measure: Annotated[Sequence[str], Option("--measure -m MEASURE", default="AP")] = ("AP",),
    require: Annotated[Literal["better", "not-worse"] | None, Option("--require", default="none")] = None,
    margin: Annotated[float | None, Option("--margin D", above=0, default="none")] = None,
    alpha: Share = 0.05,
    resolution: float = 1e-4,
    seed: Seed = 1,
    cutoff: Cutoff = None,
) -> Comparison:
    """Test whether runs differ, in pairs or all at once.

    Two runs get every test: t, signed ranks, exact randomisation, bootstrap; and last a verdict, whether the
    second may replace the first, which `--require` makes the exit code: 0 it holds, 5 it does not, 6
    undecided. More runs get a row a pair, with p-values adjusted for the number of pairs by Holm's method and
    by Tukey's HSD, and an F test of all. Runs are compared over the topics for which both have a score; a run
    without documents for a topic scores 0 there. By P@N or R@N, a sentence says what changes of both imply.

    Example: pooler compare bm25-words rm3-words-title --qrels alice

    Example: pooler compare --qrels alice -m nDCG@10

    runs : Tags, in the order in which pairs are formed; default all.
    against : Compare the other runs with this one only.
    measure : What to compare by. Of two runs it may be repeated: the verdict is the worst of all, the tables
        are of the first.
    require : What the second of two runs has to be, by the t interval of its mean less that of the first:
        better (from above 0 on; up to 0 fails), or not-worse (from above -D on; up to below -D fails).
    margin : The difference that matters: not-worse needs it, and a verdict says how many topics find it.
    alpha : Level of significance, two-sided; intervals cover 1 - alpha, of not-worse 1 - 2 alpha.
    resolution : For the exact randomisation test and Wilcoxon's test, differences are rounded to
        multiples of this: scores closer than that count as equal.
    seed : Seed of the bootstrap and of the randomised Tukey test.

    Raises
    ------
    ArgumentError
        If one run alone is named, or one twice; if something is required, or several measures are named,
        for other than two runs; if `not-worse` has no margin, or an alpha of .5 or more.
    UnknownNameError
        If a measure or a run is not known.
    PoolerError
        If there is one run only.

    Notes
    -----
    Eq. 9 and 23 of Kishida (2001); Tukey's HSD and its randomised form; Holm. By P@N or R@N, two runs also
    get `Comparison.changes`. The randomisation test is exact, by counting sums on the resolution:
    O(topics^2 / resolution) a pair.

    Examples
    --------
    >>> from pooler import compare
    >>> runs = {"a": {"1": {"x": 2.0}, "2": {"x": 1.0}}, "b": {"1": {"y": 2.0}, "2": {"x": 1.0}}}
    >>> found = compare((runs, {"1": {"x": 1}, "2": {"x": 1}}), "a", "b")
    >>> found.difference.tolist(), found.p_randomisation.tolist()
    ([0.5], [1.0])
    >>> found.verdict.outcome, found.verdict.to_judge, found.verdict.difference
    ('judge first', 1, -0.5)
    """
    check_named(runs)
    check_requirement(require, margin=margin, alpha=alpha)
    [*map(known_measure, measure)]
    names = [*dict.fromkeys(known_measure(one, level=source.level) for one in measure or ("AP",))]
    if margin is not None and len({MEASURES[one.name].is_geometric for one in names}) > 1:
        requirement = "is of logarithms by GMAP, of scores by other measures: compare by these alone"
        raise ArgumentError("margin", requirement, margin)
    rankings, (scores, *further) = measured(source, names, cutoff)
    name = names[0]
    if MEASURES[name.name].is_geometric:
        say(f"{name} is compared by logarithms of AP: exp(A - B) = {name} of A / {name} of B")
    if len(rankings.tags) < 2:
        message = f"there is one run, `{rankings.tags[0]}`: a comparison needs two"
        raise PoolerError(message, hint="name another run")
    if n_without := int(scores.lacks_relevant.sum()):
        say(f"{counted(n_without, 'topic')} without a relevant document: no {name} there")
    tags = [*(runs or rankings.tags)]
    for tag in (*tags, *([] if against is None else [against])):
        if tag not in rankings.tags:
            raise UnknownNameError("run", tag, rankings.tags)
    rows = [rankings.tags.index(tag) for tag in tags]
    values = scores.values[rows]
    if n_missing := int((rankings.lengths[rows] == 0).any(axis=0).sum()):
        warn(f"in {counted(n_missing, 'topic')} a run has no documents and scores as if it had found nothing")
    is_two = len(tags) == 2 and against is None
    if not is_two and (require is not None or len(names) > 1):
        raise ArgumentError(
            "require" if require else "measure", "needs two runs, A and B", require or measure
        )
    pairs = None
    if against is not None:
        if against not in tags:
            raise UnknownNameError("run", against, tags)
        base = tags.index(against)
        others = np.array([row for row in range(len(tags)) if row != base], dtype=np.int64)
        pairs = others, np.full(others.size, base, dtype=np.int64)
    n_pairs = len(tags) * (len(tags) - 1) // 2 if pairs is None else len(pairs[0])
    with progress("pairs of runs", n_pairs) as advance:
        tested = compare_pairs(values, pairs=pairs, resolution=resolution, level=1 - alpha, progress=advance)
    changes = verdict = None
    if is_two:
        each = {one: found.values[rows] for one, found in zip(names, (scores, *further), strict=True)}
        referee = Referee(source=source, cutoff=cutoff, require=require, margin=margin, alpha=alpha)
        verdict = referee.of_pair((tags[0], tags[1]), each)
    if is_two and name.name in ("P", "R") and (n_relevant := rankings.n_relevant(name.level)).any():
        usable = n_relevant > 0
        rank = name.cutoff or 1
        found_at = values * (rank if name.name == "P" else n_relevant)
        moved = np.rint(found_at[0, usable] - found_at[1, usable]).astype(np.int64)
        changes = mean_changes(n_relevant[usable].tolist(), moved.tolist(), cutoff=rank)
    return Comparison(
        **fields_of(tested),
        runs=tuple(tags),
        topics=tuple(rankings.topics),
        values=values,
        changes=changes,
        verdict=verdict,
        settings=frozen_settings(measure=str(name), measures=[*map(str, names)], **source.settings()),
    )


def needed_for_pairs(pairs: RunPairs, alpha: float) -> NDArray[np.float64]:
    """Return the difference that a paired t test finds significant, of each pair (eq. 23); NaN = none."""
    known = np.array([reason is None for reason in pairs.t_reasons], dtype=np.bool_)
    needed = np.full(known.size, np.nan)
    needed[known] = required_difference(pairs.variance[known], pairs.n_topics[known], alpha=alpha)
    return needed


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Comparison(Result, RunPairs):
    """Tests of pairs of runs.

    Tables: `pairs`, a row a pair; of two runs instead `difference` and `tests`, `topics` with both
    scores, and `normality`, the points of figure 3 of Kishida (2001).
    """

    runs: Sequence[str]
    """Axis to which `first` and `second` are indices."""
    topics: Sequence[str]
    """Axis of topics."""
    values: NDArray[np.float64]
    """Scores, shape (n_runs, n_topics); NaN = undefined."""
    changes: MeanChanges | None = None
    """From B to A, of mean recall and precision at a rank, where two runs are compared by one of them."""
    verdict: RunVerdict | None = None
    """What the comparison comes to; ``None`` = of more than two runs, or with each against one."""

    SHOWN = 2
    HAS_TOPICS = True

    def _tables(self) -> Iterator[Table]:
        if self.verdict is None:
            yield self._of_pairs()
            return
        yield self._difference()
        yield self._tests()
        yield self._of_topics()
        picture = self.picture
        columns = {
            Column("difference", "float"): picture.differences,
            Column("share", "float"): picture.shares,
            Column("standardised", "float"): picture.standardised,
            Column("normal", "float"): picture.normal,
        }
        yield Table.of_columns("normality", columns)

    def _common(self, *rows: int) -> NDArray[np.float64]:
        """Return the scores of some runs, or of all, where every one of them has one."""
        values = self.values[[*rows]] if rows else self.values
        return np.asarray(values[:, np.isfinite(values).all(axis=0)])

    def facts(self) -> Mapping[str, Any]:
        """Return the verdict on two runs; of pairs F of the analysis of variance by run and topic, with p."""
        if self.verdict is not None:
            return {"verdict": self.verdict.to_json()}
        tested = tukey_test(self._common())
        return {} if tested.reason else {"f": tested.f, "p_of_f": tested.p_of_f}

    def last_line(self) -> str:
        """Return the verdict."""
        return "" if self.verdict is None else self.verdict.text

    @property
    def exit_code(self) -> int:
        """5 where what was required does not hold, 6 where nothing can be said of it, else 0."""
        return {"fails": 5, "undecided": 6}.get("" if self.verdict is None else self.verdict.outcome, 0)

    @property
    def picture(self) -> NormalityPicture:
        """The differences of the first two runs beside the normal curve."""
        first, second = self._common(0, 1)
        return normality_picture(first - second)

    def plots(self) -> tuple[Plot, ...]:
        """Return the differences of two runs beside the normal curve, where they have one."""
        return normality_plot(self.picture, "difference") if self.verdict is not None else ()

    def _difference(self) -> Table:
        alpha, resolution = self.settings["alpha"], self.settings["resolution"]
        first, second = self._common(0, 1)
        differences = first - second
        n_topics = differences.size
        outcome = paired_t(differences, level=1 - alpha)
        better = int((differences > resolution / 2).sum())
        worse = int((differences < -resolution / 2).sum())
        variance_a, variance_b, covariance = self._moments(0, 1)
        needed = None
        if outcome.variance is not None:
            needed = float(required_difference(outcome.variance, n_topics, alpha=alpha))
        title = (
            f"{self.settings['measure']} of A = {self.runs[0]} and B = {self.runs[1]}"
            f" over {counted(n_topics, 'topic')}"
        )
        columns = {
            Column("a", heading="A", show="never"): [self.runs[0]],
            Column("b", heading="B", show="never"): [self.runs[1]],
            hidden("measure", "text"): [self.settings["measure"]],
            TOPICS_HIDDEN: [n_topics],
            Column("mean_a", "float", "mean A"): [float(first.mean()) if n_topics else None],
            Column("mean_b", "float", "mean B"): [float(second.mean()) if n_topics else None],
            DIFFERENCE: [outcome.difference],
            Column("low", "float", about=f"lower end of the {1 - alpha:.0%} interval of A - B"): [
                outcome.low
            ],
            Column("high", "float", about="its upper end"): [outcome.high],
            VARIANCE_HIDDEN: [outcome.variance],
            hidden("variance_a"): [variance_a],
            hidden("variance_b"): [variance_b],
            hidden("covariance"): [covariance],
            Column(
                "needed", "float", about=f"the A - B that would be needed for p <= {alpha:g} by t2 (eq. 23)"
            ): [needed],
            Column(
                "effect_size",
                "float",
                "effect",
                digits=2,
                about="A - B divided by the standard deviation of the differences by topic",
            ): [outcome.effect_size],
            Column("better_a", "int", "A > B"): [better],
            Column("better_b", "int", "B > A"): [worse],
            Column("same", "int"): [n_topics - better - worse],
        }
        notes = []
        if covariance is not None:
            notes = [
                f"Variances over topics: {variance_a:.4f} of A (s_A^2), {variance_b:.4f} of B"
                f" (s_B^2), covariance {covariance:.4f}; {outcome.variance:.4f} of A - B."
            ]
        if self.changes is not None:
            rank, changes = self.settings["measure"].partition("@")[2], self.changes
            implied = {
                None: "nothing about which topics gain",
                "neither": "that gains lean to no topics",
                "few": "that gains lean to topics with few relevant documents",
                "many": "that gains lean to topics with many relevant documents",
            }[changes.implied]
            notes.append(
                f"From B to A, over topics with a relevant document, mean R@{rank} changes by"
                f" {changes.recall:+.4f} and mean P@{rank} by {changes.precision:+.4f}: the two signs imply"
                f" {implied}."
            )
        return Table.of_columns("difference", columns, title=title, notes=notes)

    def _tests(self) -> Table:
        alpha, resolution, seed = (self.settings[name] for name in ("alpha", "resolution", "seed"))
        first, second = self._common(0, 1)
        differences = first - second
        students = {
            "t2: paired t": paired_t(differences),
            "t1: unpaired t": unpaired_t(first, second),
            "Welch's t, unequal variances": welch_t(first, second),
        }
        signs = sign_test(differences, resolution=resolution)
        ranks = wilcoxon_test(differences, resolution=resolution)
        unrounded = wilcoxon_test(differences, resolution=_UNROUNDED)
        exact = randomisation_test(differences, resolution=resolution)
        bootstrap = studentised_bootstrap(differences[None, :], seed=seed)
        p_bootstrap = None if np.isnan(bootstrap[0]) else float(bootstrap[0])
        names = ("test", "statistic", "p", "reason", "rounded_to", "p_unrounded", "df", "p_normal")
        made: list[tuple[Any, ...]] = []
        for name, one in students.items():
            freedom = None if one.t is None else one.degrees_of_freedom
            made.append((name, one.t, one.p, one.reason, None, None, freedom, one.p_normal))
        made.append(("sign test", signs.ahead, signs.p, signs.reason, resolution))
        made.append(("Wilcoxon signed ranks", ranks.ahead, ranks.p, ranks.reason, resolution, unrounded.p))
        made.append(("exact randomisation", None, exact.p, exact.reason, resolution))
        why = students["t2: paired t"].reason if p_bootstrap is None else None
        made.append(("studentised bootstrap", None, p_bootstrap, why))
        rows = [dict(zip(names, row, strict=False)) for row in made]
        for row in rows:
            row["significant"] = None if row["p"] is None else row["p"] <= alpha
        columns = [
            Column("test"),
            Column("statistic", "float"),
            Column("p", "float"),
            Column("significant", "bool", f"p <= {alpha:g}"),
            REASON_OF_PAIR,
            *map(hidden, ("rounded_to", "p_unrounded", "df", "p_normal")),
        ]
        note = (
            "All tests are two-sided. Signs, Wilcoxon and randomisation are exact, on differences rounded to"
            f" {resolution:g}; the bootstrap drew {RESAMPLES:,} resamples (--seed {seed}). t1"
            " and Welch's t treat the topics of A and B as independent samples, which they are not: they are"
            " given for comparison."
        )
        by_normal = "; ".join(
            f"{short} {one.degrees_of_freedom:.4g} and {one.p_normal:.3g}"
            for short, one in zip(("t2", "t1", "Welch's t"), students.values(), strict=True)
            if one.p_normal is not None
        )
        words = [f"Degrees of freedom, and p by the normal law instead: {by_normal}."] if by_normal else []
        return Table.of_rows("tests", columns, rows, notes=[*words, note])

    def _of_topics(self) -> Table:
        known = np.isfinite(self.values[:2]).all(axis=0)
        first, second = np.where(known, self.values[:2], np.nan)
        columns = {
            TOPIC: self.topics,
            Column("score_a", "float", self.runs[0]): first,
            Column("score_b", "float", self.runs[1]): second,
            DIFFERENCE: first - second,
        }
        return Table.of_columns("topics", columns)

    def _of_pairs(self) -> Table:
        alpha, resolution, seed = (self.settings[name] for name in ("alpha", "resolution", "seed"))
        common = self._common()
        tukey = tukey_test(common)
        at = self.first, self.second
        exact, by_holm = self.p_randomisation, holm(self.p_randomisation)
        by_hsd, by_random_hsd = tukey.p[at], randomised_tukey_test(common, seed=seed)[at]
        differ = [f"{int((p <= alpha).sum()):,}" for p in (exact, by_holm, by_hsd, by_random_hsd)]
        fewest, most = int(self.n_topics.min()), int(self.n_topics.max())
        over = counted(most, "topic") if fewest == most else f"{fewest} to {most} topics"
        notes = [
            f"Of {counted(self.first.size, 'pair')}, {differ[0]} differ at {alpha:g} taken singly,"
            f" {differ[1]} by Holm, {differ[2]} by HSD, {differ[3]} by HSD from permutations"
            f" (--seed {seed}).",
            f"{self.settings['measure']} over {over}. json and tsv have more tests.",
        ]
        if tukey.reason is None:
            verdict = "differ" if tukey.p_of_f <= alpha else "do not differ"
            notes.append(
                f"Analysis of variance by run and topic: F = {tukey.f:.4g}, p = {tukey.p_of_f:.3g}: the runs"
                f" {verdict} at {alpha:g}."
            )
        variances = [self._moments(one, other) for one, other in zip(*at, strict=True)]
        columns = {
            Column("a", heading="A"): [self.runs[run] for run in self.first],
            RUN_B: [self.runs[run] for run in self.second],
            Column("topics", "int", show="never" if fewest == most else "always"): self.n_topics,
            DIFFERENCE: self.difference,
            Column("low", "float", about=f"lower end of the {1 - alpha:.0%} interval of A - B"): self.low,
            Column("high", "float", about="its upper end"): self.high,
            Column("effect_size", "float", "effect", digits=2, show="never"): self.effect_size,
            VARIANCE_HIDDEN: self.variance,
            hidden("needed"): needed_for_pairs(self, alpha),
            hidden("variance_a"): [one for one, _, _ in variances],
            hidden("variance_b"): [one for _, one, _ in variances],
            hidden("covariance"): [one for _, _, one in variances],
            hidden("t"): self.t,
            hidden("df", "int"): cells_where(~np.isnan(self.t), self.n_topics - 1),
            Column("p_t", "float", "p t", show="never"): self.p_t,
            hidden("p_normal"): [*map(normal_p, self.t.tolist())],
            Column("p_wilcoxon", "float", "Wilcoxon", show="never"): self.p_wilcoxon,
            Column(
                "p_randomisation",
                "float",
                "exact",
                "p of the randomisation test as if this were the only pair, on differences rounded to"
                f" {resolution:g}",
            ): exact,
            Column("p_holm", "float", "Holm", "the same, adjusted for the number of pairs"): by_holm,
            Column("p_tukey", "float", "HSD", "Tukey's p, which allows for all runs"): by_hsd,
            Column("p_tukey_randomised", "float", "random. HSD", show="never"): by_random_hsd,
        }
        return Table.of_columns("pairs", columns, notes=notes)

    def _moments(self, first: int, second: int) -> tuple[float | None, float | None, float | None]:
        """Return the variances of two runs, and their covariance, over the topics where both have a score."""
        both = self._common(first, second)
        if both.shape[1] < 2:
            return None, None, None
        ((one, between), (_, other)) = np.cov(both).tolist()
        return one, other, between


_POINTS = 1000
"""Of a curve that is drawn, between which it is straight."""


def normality_plot(picture: NormalityPicture, what: str) -> tuple[Plot, ...]:
    """Draw differences over topics beside the normal curve, where they have one."""
    if picture.reason is not None:
        return ()
    grid = np.linspace(picture.differences[0], picture.differences[-1], _POINTS)
    below = np.searchsorted(picture.differences, grid, side="right")
    of_curve = Column("normal", "float", "normal curve of the same mean and variance")
    columns = {
        Column("difference", "float", what): np.concatenate([picture.differences, grid]),
        Column("share", "float", "topics"): np.concatenate([picture.shares, picture.shares[below - 1]]),
        of_curve: np.concatenate([picture.normal, picture.curve(grid)]),
    }
    table = Table.of_columns("curve", columns).sort("difference")
    return (
        Plot(
            table=table,
            kind="lines",
            label="difference",
            parts=("share", "normal"),
            stepped=("share",),
            axis=f"Share of {picture.n_topics} topics whose {what} is no larger",
            ends=(0, 1),
            title=f"Share of topics by {what}",
            below=f"The two curves are at most {picture.largest_distance:.3f} apart.",
        ),
    )
