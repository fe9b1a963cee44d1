"""Kishida (2001) redone on a collection: its tables and figures, each with what it says here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from pooler.results.judge_kinds import tell_heard
from pooler.results.measures.compare import normality_plot
from pooler.results.paper.judged_pair import (
    STATES,
    AtRank,
    OwnScore,
    document_chances,
    higher_two,
    put_together,
    rows_of,
    scores_of_judge,
    states_at_rank,
)
from pooler.results.result import Progress, Result, frozen, heard
from pooler.results.source import Source, source_of
from pooler.results.table import RUN, TOPIC, Column, Plot, Table, View
from pooler.results.variation.discovery import Discoveries, discoveries_of, moments_of_pair
from pooler.results.variation.probabilities import Values, parse_values
from pooler.telling import progress as telling
from store.analysis.agreement.matters import judge_average_precisions
from store.analysis.agreement.populations import PopulationVotes
from store.analysis.collapse import level_index
from store.analysis.measures.chance import (
    expected_average_precision,
    least_average_precision,
    variance_of_average_precision,
)
from store.analysis.significance.normality import NormalityPicture, normality_picture, shapiro_wilk
from store.analysis.significance.t_tests import TTest, normal_p, paired_t, unpaired_t
from store.analysis.undiscovered.required import required_difference, round_up
from store.analysis.undiscovered.sensitivity import discovery_effect_below, discovery_range
from store.analysis.variation.collection import (
    CollectionVariation,
    VariedPairs,
    difference_variance,
    pair_components,
    run_components,
)
from store.analysis.variation.discovery import Flip, Gain
from store.analysis.variation.law import difference_interval, map_skewness
from store.analysis.variation.lists import Empty
from store.analysis.variation.order import order_probabilities
from store.analysis.variation.simulation import SimulatedMaps, simulate_maps
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.judging.kinds import check_kinds
from store.text import counted, percent

if TYPE_CHECKING:
    from store.collection import Collection
    from store.records import Scale

TOPICS = (30, 50, 100, 150)
"""Of tables 7 and 8, beside the collection's own number."""
SMALL_SHARE = 0.1
"""Share of the variance, and of a MAP, below which the paper calls an effect small (its section 5)."""
MOVED = 0.01
"""Difference of p from which on it is said to move."""


def paper(
    source: Source | Collection | tuple[Any, Any],
    a: str | None = None,
    b: str | None = None,
    *,
    rank: int | None = None,
    values: Values | None = None,
    levels: Sequence[int] | None = None,
    judges: Sequence[str] | None = None,
    kinds: Sequence[str] = (),
    scenario: Gain = "own",
    flip: Flip = "not-relevant",
    empty: Empty = "given",
    simulate: int | None = None,
    seed: int = 1,
    alpha: float = 0.05,
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> Paper:
    """Redo Kishida (2001) for two runs of a collection: tables 1 to 8, figures 1 to 3, section 4.3.

    Parameters
    ----------
    source : Source or Collection
        Runs and what several judges said: a collection, or runs with `judgements`, one file a judge.
    a, b : str, optional
        Tags of two runs, in any order: A is the one with the higher expected MAP. Default the two
        runs with the highest.
    rank : int, optional
        N + 1, from 1; default one more than the pools' depth, where they have one.
    values : mapping of int to float, optional
        Table 4: what each grade of a judge is worth, the probability, in [0, 1], that the document is
        relevant; every grade of the scale. p is the mean over judges. Default the share of judges at
        the lowest level.
    levels : sequence of int, optional
        Least grades that are relevant, for the judges' own MAPs; default every grade but the lowest.
    judges : sequence of str, optional
        Judge 1, judge 2 and so on; default all people who graded, adjudicators apart; where there are
        none imported judges, else models.
    kinds : sequence of {"human", "model", "imported"}, optional
        Judges of these kinds, together.
    scenario, flip : optional
        Of the documents at rank N + 1 of B, as for `discoveries`; the default is the paper's section 4.3.
    empty : {"given", "zero"}, optional
        As for `variation`.
    simulate : int, optional
        Judge at random so many times, as the paper did, from 2: its numbers stand beside the exact ones.
    seed : int, optional
        Of the simulation, from 0.
    alpha : float, optional
        Level of significance of tables 7 and 8, two-sided, in (0, 1).
    cutoff : int, optional
        Ranks that are looked at.

    Returns
    -------
    Paper
        A table for each of the paper's, and what its section 5 would say.

    Raises
    ------
    PoolerError
        If there are fewer than two runs, nothing is judged, or no document can be relevant.
    UnknownNameError
        If a run or a judge is not known.
    ArgumentError
        If one run alone is named, or a number is out of its range.

    Notes
    -----
    Exact where the paper simulates; see `variation`. Two runs of 50 topics take about a second.

    Examples
    --------
    >>> import pooler
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    >>> pooler.paper(pooler.source(runs, qrels={"1": {"x": 1}}), rank=2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    store.errors.PoolerError: qrels have one grade per document, ...
    """
    if (a is None) != (b is None):
        raise ArgumentError("b", "must be named with `a`, or neither", a or b)
    if a is not None and a == b:
        raise ArgumentError("b", "must be another run than `a`", b)
    if not 0 < alpha < 1:
        raise ArgumentError("alpha", "must be above 0 and below 1", alpha)
    _check(rank, levels, cutoff, scenario, flip, simulate, seed)
    with heard(progress) as said:
        found = source_of(source)
        rank = 1 + found.pool_depth(None) if rank is None else rank
        with found.judging() as opinions:
            scale = opinions.scale
            kinds = check_kinds(kinds) or found.kinds
            if judges and kinds:
                requirement = "and judges that are named exclude each other"
                raise ArgumentError("kinds", requirement, ",".join(kinds))
            heard_of = opinions.grades.heard(judges or (), kinds)
            votes = opinions.grades.votes(judges or heard_of.voters, population="graded")
            tell_heard(heard_of, "judge together")
            ranked = opinions.rankings()
            made = put_together(ranked, votes, scale, rank, values, cutoff, empty)
            loaded = replace(made, collection=opinions.collection)
            for tag in (a, b):
                if tag is not None and tag not in ranked.tags:
                    raise UnknownNameError("run", tag, ranked.tags)
            if len(ranked.tags) < 2:
                message = f"there is one run, `{ranked.tags[0]}`: the paper compares two"
                raise PoolerError(message, hint="name another run")
            pair = higher_two(loaded.rankings, a, b, empty)
            cuts = [*(scale.values[1:] if levels is None else dict.fromkeys(levels))]
            scores = {
                level: judge_average_precisions(
                    votes.votes,
                    votes.document_numbers,
                    [ranked.tags[run] for run in pair],
                    ranked.rankings,
                    level_index=level_index(scale, level),
                    cutoff=cutoff,
                )
                for level in cuts
            }
            first, second = pair
            two = rows_of(loaded.rankings, pair)
            topics = list(zip(two.probabilities, two.ranks, strict=True))
            discovered = discoveries_of(
                replace(loaded, rankings=two),
                [1],
                rank=rank,
                flip=flip,
                gain=scenario,
                pairs=True,
                empty=empty,
            )
            sides = ((topics, discovered.before), (discovered.found[0].topics, discovered.after[0]))
            limits = tuple(difference_interval(*side) for side in sides)
            skewness = tuple(
                tuple(map_skewness(*side, *which) for which in ((0,), (1,), (0, 1)))
                for side, (_, _, law) in zip(sides, limits, strict=True)
                if law != "normal"
            )
            at_rank = states_at_rank(loaded.rankings, pair, rank)
            documents = scores_of_judge(
                ranked, votes, [ranked.tags[run] for run in pair], scale, cuts[0], rank
            )
        simulated = None
        if simulate is not None:
            with telling("judgings", 2 * simulate) as advance:
                how: dict[str, Any] = {"repetitions": simulate, "seed": seed, "empty": empty}
                before = simulate_maps(topics, **how, progress=advance)
                simulated = before, simulate_maps(discovered.found[0].topics, **how, progress=advance)
    settings = frozen(
        **found.named(),
        a=ranked.tags[first],
        b=ranked.tags[second],
        judges=[*votes.votes.judges],
        levels=cuts,
        values=None if values is None else parse_values(values, scale),
        rank=rank,
        scenario=scenario,
        flip=flip,
        empty=empty,
        simulate=simulate,
        seed=seed,
        alpha=alpha,
        cutoff=cutoff,
        order=found.order,
        **heard_of.to_json(),
    )
    chosen = {"rank": rank, "flip": flip, "scenario": scenario}
    return Paper(
        runs=(ranked.tags[first], ranked.tags[second]),
        topics=two.topics,
        judges=tuple(votes.votes.judges),
        scale=scale,
        votes=votes,
        scores=scores,
        p=document_chances(votes, scale, values),
        varied=discovered.before,
        discovered=discovered.said(chosen, ()),
        limits=limits,
        skewness=skewness,
        at_rank=at_rank,
        own=documents,
        simulated=simulated,
        settings=settings,
        warnings=said.warnings,
    )


@dataclass(frozen=True, slots=False, eq=False, repr=False, kw_only=True)
class Paper(Result):
    """Tables and figures of the paper for two runs of a collection.

    Tables: `verdicts`, what its section 5 says, true or false here; `table_1` to `table_8`, `figure_1` to
    `figure_3`, `section_4_3`, in the paper's order; `topics`, the moments they rest on.
    """

    runs: tuple[str, str]
    """A, with the higher expected MAP, and B."""
    topics: Sequence[str]
    judges: Sequence[str]
    scale: Scale = field(repr=False)
    votes: PopulationVotes = field(repr=False)
    scores: Mapping[int, NDArray[np.float64]] = field(repr=False)
    """By level the AP of A and B by every judge, shape (n_topics, 2, n_judges); NaN where R = 0."""
    p: NDArray[np.float64] = field(repr=False)
    """Of every judged document, in [0, 1]."""
    varied: CollectionVariation = field(repr=False)
    """Moments of A and B, in this order."""
    discovered: Discoveries = field(repr=False)
    limits: Sequence[tuple[float, float, str]] = field(repr=False)
    """Of A - B if judged again, at 95%, and the law they are by: as judged, and with the documents found."""
    skewness: Sequence[Sequence[float]] = field(repr=False)
    """Of A, B and A - B, as judged and found; nothing where documents are too many for all outcomes."""
    at_rank: Sequence[AtRank] = field(repr=False)
    own: Sequence[OwnScore] = field(repr=False)
    simulated: tuple[SimulatedMaps, SimulatedMaps] | None = field(repr=False)
    """As judged, and with the documents found."""

    NAMES: ClassVar[tuple[str, ...]] = (
        "verdicts", "table_1", "table_2", "table_3", "figure_1", "figure_2", "table_4", "table_5",
        "table_6", "figure_3", "section_4_3", "table_7", "table_8", "topics",
    )  # fmt: skip

    def shown(self) -> tuple[str, ...]:
        """Return what `pooler paper` shows: what stands in the paper."""
        return self.NAMES[:-1]

    def facts(self) -> Mapping[str, Any]:
        """Return the test of normality of figure 3, and how far its two curves are apart."""
        w, p = shapiro_wilk(self.picture.differences)
        return {"w": w, "p_normality": p, "largest_distance": self.picture.largest_distance}

    def title(self, name: str) -> str:
        """Return what a table or figure is called."""
        return TITLES[name].format(rank=self.rank)

    @property
    def rank(self) -> int:
        """The rank below the pool."""
        return int(self.settings["rank"])

    @cached_property
    def tested(self) -> VariedPairs:
        """The difference of A and B in the model, and its tests."""
        return pair_components(self.varied, (np.array([0]), np.array([1])))

    @cached_property
    def picture(self) -> NormalityPicture:
        """Figure 3: expected differences by topic beside the normal curve."""
        return normality_picture(self.varied.mean[0] - self.varied.mean[1])

    @cached_property
    def by_judge(self) -> list[tuple[int, str, NDArray[np.float64]]]:
        """Level, judge, and AP of A and B, shape (2, n), over the topics where both have one."""
        found = []
        for number, judge in enumerate(self.judges):
            for level, scores in self.scores.items():
                own = scores[:, :, number]
                found.append((level, judge, own[~np.isnan(own).any(axis=1)].T))
        return found

    def drawings(self) -> dict[str, Plot]:
        """Return the figures by name; figure 3 where the differences have a law."""
        parts = run_components(self.varied)
        variances = {
            RUN: self.runs,
            Column("topic_variance", "float", "topics"): parts.topic_variance,
            Column("judging_variance", "float", "judging"): parts.judging_variance,
        }
        found = {
            "figure_1": Plot(
                table=Table.of_columns("figure_1", variances),
                kind="stacks",
                label="run",
                parts=("topic_variance", "judging_variance"),
                axis="variance of AP",
                title=self.title("figure_1"),
            ),
            "figure_2": Plot(
                table=self._table("figure_2"),
                kind="stacks",
                label="run",
                parts=[state.replace(" ", "_") for state in STATES],
                axis="topics",
                title=self.title("figure_2"),
                words=[f"{mark} {state}" for mark, state in zip(".?-+#", STATES, strict=True)],
            ),
        }
        for one in normality_plot(self.picture, "expected difference"):
            found["figure_3"] = replace(one, title=self.title("figure_3"))
        return found

    def plots(self) -> tuple[Plot, ...]:
        """Return figures 2 and 3: figure 1 has two numbers a run."""
        return tuple(plot for name, plot in self.drawings().items() if name != "figure_1")

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        view = View(table, title=self.title(name))
        if name in ("table_1", "table_2") and len(self.topics) > MOST_TOPICS:
            return [replace(view, limit=MOST_TOPICS)]
        return [view]

    def _verdicts(self) -> Table:
        """Say which statements of the paper's section 5 hold here."""
        tested, parts = self.tested, run_components(self.varied)
        t1, t2 = abs(float(tested.t1_removed[0])), abs(float(tested.t2_removed[0]))
        shares = parts.share
        (one,) = self.discovered.compared or ()
        then = self.discovered.mean_found[0]
        drops = (self.varied.map_mean - then) / self.varied.map_mean
        p = tested.p_values()["t2_removed"][0]
        after = one.after.p_values()["t2_removed"][0]
        rows = [
            ("pairing the topics makes the test sharper: |t2| > |t1|", t2 > t1, f"{_told(t2)}, {_told(t1)}"),
            (
                f"judging is a small part of the variance: below {SMALL_SHARE:.0%} in A and B",
                bool((shares < SMALL_SHARE).all()),
                ", ".join(map(_percent, shares)),
            ),
            (
                f"found documents move each MAP by less than {SMALL_SHARE:.0%}",
                bool((np.abs(drops) < SMALL_SHARE).all()),
                ", ".join(f"{-drop:+.1%}" for drop in drops),
            ),
            (
                f"and yet they move p of the paired test by more than {MOVED:g}",
                bool(abs(after - p) > MOVED),
                f"{_told(p)} to {_told(after)}",
            ),
        ]
        columns = [
            Column("statement", about="of section 5 of the paper"),
            Column("holds", "bool", "here"),
            Column("numbers"),
        ]
        false = sum(not holds for _, holds, _ in rows)
        words = "All four hold here, too." if not false else f"{false} of the 4 statements do not hold here."
        data = [dict(zip(("statement", "holds", "numbers"), row, strict=True)) for row in rows]
        return Table.of_rows("verdicts", columns, data, notes=[words, *_ALWAYS])

    def _chance(self, name: str, of: Callable[..., NDArray[np.float64]], heading: str) -> Table:
        """Set the AP of both runs (eq. 1) beside what chance gives for their N and R."""
        rows = []
        for one in self.own:
            known = one.retrieved > 0
            numbers = (np.array([max(one.n_documents, 1)]), np.array([max(one.retrieved, 1)]))
            rows.append(
                {
                    "run": one.run,
                    "topic": one.topic,
                    "documents": one.n_documents,
                    "relevant": one.retrieved,
                    "ap": one.own,
                    "value": float(of(*numbers)[0]) if known else None,
                    "sd": float(np.sqrt(variance_of_average_precision(*numbers)[0])) if known else None,
                }
            )
        columns = [
            RUN,
            TOPIC,
            Column("documents", "int", "N", "documents that the run lists"),
            Column("relevant", "int", "R", "relevant ones among them"),
            Column("ap", "float", "AP", "by eq. 1, with that R"),
            Column("value", "float", heading),
            Column("sd", "float", show="never" if name == "table_1" else "always"),
        ]
        return Table.of_rows(name, columns, rows, notes=[self._chance_words(name, rows), self._who()])

    def _chance_words(self, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
        """Say how the runs do beside chance."""
        known = [row for row in rows if row["ap"] is not None]
        of_all = f"of {counted(len(known), 'list')} with a relevant document"
        if name == "table_1":
            n_worst = sum(row["ap"] <= row["value"] + 1e-12 for row in known)
            return f"{n_worst:,} {of_all} {_are(n_worst)} as bad as they could be."
        n_chance = sum(row["ap"] <= row["value"] + 2 * row["sd"] for row in known)
        return f"{n_chance:,} {of_all} {_are(n_chance)} no better than a random order (+ 2 sd)."

    def _who(self) -> str:
        """Say by whose judgement."""
        level = next(iter(self.scores))
        return f"By judge {self.judges[0]}, relevant = grade {level} or more."

    def _table_1(self) -> Table:
        return self._chance("table_1", least_average_precision, "least (eq. 4)")

    def _table_2(self) -> Table:
        return self._chance("table_2", expected_average_precision, "random (eq. 5)")

    def _table_3(self) -> Table:
        """Make cells of quartiles of R and AP, with what eq. 19 gives there."""
        r = np.array([one.relevant for one in self.own if one.relevant])
        ap = np.array([one.ap for one in self.own if one.ap is not None])
        rows = []
        quarters = (0.25, 0.5, 0.75)
        counts = sorted({round(float(one)) for one in np.quantile(r, quarters)}) if r.size else []
        for count in counts:
            for before in sorted({float(one) for one in np.quantile(ap, quarters)}):
                limits = discovery_range(count, before, self.rank)
                least = float(least_average_precision(self.rank - 1, count)) if count < self.rank else 2.0
                occurs = before >= least - 1e-12
                rows.append(
                    {
                        "relevant": count,
                        "ap": before,
                        "change": discovery_effect_below(count, before, self.rank) if occurs else None,
                        "low": None if limits is None else limits[0],
                        "high": None if limits is None else limits[1],
                    }
                )
        columns = [
            Column("relevant", "int", "R", "quartiles of the topics' relevant documents"),
            Column("ap", "float", "AP", "quartiles of the AP of both runs"),
            Column("change", "float", "eq. 20", "- where it cannot occur: all R above already give more", 5),
            Column("low", "float", "least", "by eq. 19, whatever is not retrieved", 5),
            Column("high", "float", "greatest", digits=5),
        ]
        real = [one.change for one in self.own if one.change is not None]
        words = (
            f"A relevant document at rank {self.rank:,} would move one topic's AP by"
            f" {min(real):+.4f} to {max(real):+.4f}, {float(np.mean(real)):+.4f} on average, in"
            f" {counted(len(real), 'list')}."
            if real
            else f"No list has a document at rank {self.rank:,} that is not relevant already."
        )
        return Table.of_rows("table_3", columns, rows, notes=[words, self._who()])

    def _figure_1(self) -> Table:
        """Count what the two processes, choosing topics and judging, add to the uncertainty of MAP."""
        parts = run_components(self.varied)
        own = self.votes.votes
        each = np.bincount(own.documents, minlength=own.n_documents)
        n_topics = len(self.topics)
        topic_sd, judging_sd = np.sqrt(parts.topic_variance / n_topics), parts.by_judging
        rows = [
            {"what": "topics", "value": str(n_topics)},
            {"what": "judged documents", "value": f"{own.n_documents:,}"},
            {
                "what": "of them may be relevant or not (0 < p < 1)",
                "value": f"{int(((self.p > 0) & (self.p < 1)).sum()):,}",
            },
            {"what": "judges a document", "value": _span(each)},
            *(
                {"what": f"sd of the MAP of {name} by {which}", "value": _told(float(sd[run]), 4)}
                for run, name in enumerate("AB")
                for which, sd in (("choice of topics", topic_sd), ("judging", judging_sd))
            ),
        ]
        share = parts.share
        words = (
            f"Of the variance of the MAP of A, {_percent(1 - share[0])} is the choice of topics and"
            f" {_percent(share[0])} judging; of B {_percent(1 - share[1])} and {_percent(share[1])}."
        )
        columns = [Column("what", heading="two processes"), Column("value")]
        return Table.of_rows("figure_1", columns, rows, notes=[words])

    def _figure_2(self) -> Table:
        """Count what stands at rank N + 1."""
        rows = [
            {"run": run, **{state.replace(" ", "_"): one.states[state] for state in STATES},
             "elsewhere": one.elsewhere}
            for run, one in zip(self.runs, self.at_rank, strict=True)
        ]  # fmt: skip
        about = {
            "none": "topics in which the list is shorter",
            "unjudged": "nobody judged the document",
            "no chance": "judged, and p is 0",
            "either way": "0 < p < 1",
            "relevant": "p is 1",
        }
        columns = [
            RUN,
            *(Column(state.replace(" ", "_"), "int", about=about[state]) for state in STATES),
            Column("elsewhere", "int", about="of the unjudged ones, those that another run retrieved"),
        ]
        n_topics = len(self.topics)
        words = (
            f"Rank {self.rank:,} of B is unjudged in {self.at_rank[1].states['unjudged']:,} of"
            f" {counted(n_topics, 'topic')}, of A in {self.at_rank[0].states['unjudged']:,}."
        )
        return Table.of_rows("figure_2", columns, rows, notes=[words])

    def _table_4(self) -> Table:
        """Count documents by the grades of their judges."""
        own = self.votes.votes
        patterns: dict[tuple[int, ...], list[float]] = {}
        starts = np.searchsorted(own.documents, np.arange(own.n_documents + 1))
        for document in range(own.n_documents):
            grades = own.places[starts[document] : starts[document + 1]]
            key = tuple(sorted((own.scale_values[place] for place in grades.tolist()), reverse=True))
            patterns.setdefault(key, []).append(float(self.p[document]))
        rows = [
            {"grades": [*key], "judges": len(key), "documents": len(found), "p": found[0]}
            for key, found in sorted(
                patterns.items(), key=lambda item: (-len(item[0]), [-g for g in item[0]])
            )
        ]
        n_open = int(((self.p > 0) & (self.p < 1)).sum())
        words = f"{counted(n_open, 'document')} ({percent(n_open, self.p.size)}) may turn out either way."
        columns = [
            Column("grades", "ints", about="of the judges of a document, in any order"),
            Column("judges", "int", show="if_varied"),
            Column("documents", "int"),
            Column("p", "float", about="how likely such a document is relevant"),
        ]
        return Table.of_rows("table_4", columns, rows, notes=[words])

    def _table_5(self) -> Table:
        """Make a row for every judge and level, and one for the model."""
        rows: list[dict[str, Any]] = []
        for level, judge, scores in self.by_judge:
            for run, own in zip(self.runs, scores, strict=True):
                rows.append(
                    {
                        "run": run, "judge": judge, "level": level, "topics": own.size,
                        "mean": float(own.mean()) if own.size else None,
                        "variance": float(own.var(ddof=1)) if own.size > 1 else None,
                    }
                )  # fmt: skip
        parts = run_components(self.varied)
        for number, run in enumerate(self.runs):
            topic, judging = float(parts.topic_variance[number]), float(parts.judging_variance[number])
            rows.append(
                {
                    "run": run, "judge": "(model)", "level": None, "topics": len(self.topics),
                    "mean": float(parts.mean[number]), "variance": topic + judging,
                    "topic_variance": topic, "judging_variance": judging,
                    "share": float(parts.share[number]),
                }
            )  # fmt: skip
            if self.simulated is not None:
                rows.append(
                    {
                        "run": run, "judge": "(simulated)", "level": None, "topics": len(self.topics),
                        "mean": float(self.simulated[0].moments.mean[number]),
                        "judging_variance": float(
                            self.simulated[0].moments.covariance[number, number] * len(self.topics)
                        ),
                    }
                )  # fmt: skip
        columns = [
            RUN,
            Column("judge"),
            Column("level", "int", about="least relevant grade"),
            Column("topics", "int", show="if_varied"),
            Column("mean", "float", "MAP"),
            Column("variance", "float", "s2", "over topics, of the model with judging included"),
            Column("topic_variance", "float", "by topics", "of the expected AP, over topics"),
            Column(
                "judging_variance", "float", "by judging", "mean over topics; simulated: L times that of MAP"
            ),
            Column("share", "float", about="how much of the variance is by judging"),
        ]
        a, b = map(_percent, parts.share)
        words = f"Judging makes up {a} of the variance of A, {b} of B."
        return Table.of_rows("table_5", columns, rows, notes=[words, self._names()])

    def _names(self) -> str:
        return f"A = {self.runs[0]}, B = {self.runs[1]}."

    def _table_6(self) -> Table:
        """Test the difference by every judge and level, and in the model."""
        rows: list[dict[str, Any]] = []
        for level, judge, (first, second) in self.by_judge:
            rows.append({"judge": judge, "level": level, "topics": first.size, **_tests(first, second)})
        tested, parts = self.tested, self.tested.components
        moments = moments_of_pair(self.varied, 0, 1, tested)
        p = tested.p_values()
        for which in ("removed", "included"):
            judged = which == "included"
            variance = parts.topic_variance[0] + (parts.judging_variance[0] if judged else 0.0)
            t1, t2 = (float(getattr(tested, f"{name}_{which}")[0]) for name in ("t1", "t2"))
            rows.append(
                {
                    "judge": f"(model, judging {which})", "level": None, "topics": len(self.topics),
                    "difference": float(parts.mean[0]), "variance": float(variance),
                    "t1": t1, "p_normal_t1": normal_p(t1), "p_t1": float(p[f"t1_{which}"][0]),
                    "t2": t2, "p_normal_t2": normal_p(t2), "p_t2": float(p[f"t2_{which}"][0]),
                    "covariance": moments["covariance_topics"]
                    + (moments["covariance_judging"] if judged else 0.0),
                    "variance_a": moments["topic_variance_a"]
                    + (moments["judging_variance_a"] if judged else 0.0),
                    "variance_b": moments["topic_variance_b"]
                    + (moments["judging_variance_b"] if judged else 0.0),
                }
            )  # fmt: skip
        columns = [
            Column("judge"),
            Column("level", "int"),
            Column("topics", "int", show="if_varied"),
            Column("difference", "float", "A - B"),
            *(Column(name, "float", show="never") for name in ("variance_a", "variance_b", "covariance")),
            Column("t1", "float", about="of two samples (eq. 8)", digits=3),
            Column("p_normal_t1", "float", show="never"),
            Column("p_t1", "float", "p(t1)", digits=3),
            Column("variance", "float", "s2", "of the differences by topic"),
            Column("t2", "float", about="of pairs (eq. 9)", digits=3),
            Column("p_normal_t2", "float", show="never"),
            Column("p_t2", "float", "p(t2)", digits=3),
        ]
        removed, included = (float(p[f"t2_{which}"][0]) for which in ("removed", "included"))
        words = (
            f"Pairing the topics takes p from {_told(float(p['t1_included'][0]))} to {_told(included)};"
            f" taking the judging out, to {_told(removed)}."
        )
        return Table.of_rows("table_6", columns, rows, notes=[words, self._names()])

    def _figure_3(self) -> Table:
        """List the expected differences with the two curves."""
        picture = self.picture
        w, p = shapiro_wilk(picture.differences)
        words = (
            "The differences do not vary."
            if picture.reason
            else f"Shapiro and Wilk's W is {w:.4f}, p {_told(p)}: the differences look"
            f" {'unlike' if p < 0.05 else 'like'} a normal law at 5%; the curves are at most"
            f" {picture.largest_distance:.3f} apart."
            if p is not None
            else "There are too few topics for a test of normality."
        )
        columns = {
            Column("difference", "float", "E(A - B)", "of a topic"): picture.differences,
            Column("share", "float", about="topics whose difference is no larger"): picture.shares,
            Column("normal", "float", about="normal curve of the same mean and variance"): picture.normal,
        }
        return Table.of_columns("figure_3", columns, notes=[words])

    def _section_4_3(self) -> Table:
        """Set both runs before and after beside each other."""
        row: dict[str, Any] = self.discovered.table("pairs").to_records()[0]
        names = (
            ("MAP of A", "mean_a"), ("MAP of B", "mean_b"), ("A - B", "difference"),
            ("variance of the differences by topics", "topic_variance"),
            ("and by judging", "judging_variance"),
            ("K", "k"), ("t2, judging removed", "t2_removed"), ("its p", "p_t2_removed"),
            ("how likely another judging puts B above A", "reversed"),
        )  # fmt: skip
        rows: list[dict[str, Any]] = [
            {"what": what, "before": row[name], "found": row[f"{name}_found"]} for what, name in names
        ]
        by_normal = [float(order_probabilities(one)[1, 0]) for one in (self.varied, self.discovered.after[0])]
        rows.append({"what": "the same by the normal law", "before": by_normal[0], "found": by_normal[1]})
        for what, end in (("A - B if judged again: at least (95%)", 0), ("and at most", 1)):
            rows.append({"what": what, "before": self.limits[0][end], "found": self.limits[1][end]})
        if len(self.skewness) == 2:
            for place, of in enumerate(("A", "B", "A - B")):
                judged, then = (one[place] for one in self.skewness)
                rows.append({"what": f"skewness of {of} if judged again", "before": judged, "found": then})
        for side, found in zip(("simulated", "simulated_found"), self.simulated or (), strict=False):
            own = [*found.moments.mean, -np.diff(found.moments.mean)[0]]
            (a, both), (_, b) = found.moments.covariance
            spread = difference_variance(a, b, both) * len(self.topics)
            for place, number in ((0, own[0]), (1, own[1]), (2, own[2]), (4, spread), (8, found.above[1, 0])):
                rows[place][side] = float(number)
        columns = [
            Column("what", heading="of A and B"),
            Column("before", "float", "as judged"),
            Column("simulated", "float", show="if_any"),
            Column("found", "float", "if found"),
            Column("simulated_found", "float", "simulated", show="if_any"),
        ]
        q, h = row["q"], row["h_removed"]
        turns = "the order turns" if row["turns"] else "the order stays"
        if row["difference"] == 0:
            turns = "there was no order"
        drop = "" if q is None or np.isnan(q) else f" (Q = {q:.2f})"
        n_found = counted(row["found"], "topic")
        settings = (self.settings["scenario"], self.settings["flip"])
        papers = "as in the paper" if settings == ("own", "not-relevant") else f"{settings[0]}, {settings[1]}"
        words = (
            f"Had the document at rank {self.rank:,} of B been relevant in {n_found} ({papers}), the"
            f" difference would be {row['difference_found']:.4f} instead of {row['difference']:.4f}{drop}, p"
            f" {_told(row['p_t2_removed_found'])} instead of {_told(row['p_t2_removed'])}; {turns}."
        )
        notes = [
            words,
            f"H, by which the variance falls: {_told(h, 2)} judging removed, {_told(row['h_included'], 2)}"
            " included.",
            "That all of them are relevant is a worst case, no likelihood.",
        ]
        if any(law == "normal" for _, _, law in self.limits):
            notes.append("The limits of A - B are by the normal law: there are too many outcomes to list.")
        return Table.of_rows("section_4_3", columns, rows, notes=notes)

    def _needed(self, name: str) -> Table:
        """Compute the differences needed with the pair's own variance, K, Q and H."""
        (one,) = self.discovered.compared or ()
        parts = self.tested.components
        whole = float(parts.topic_variance[0] + parts.judging_variance[0])
        k = float(parts.share[0])
        alpha = self.settings["alpha"]
        rows: list[dict[str, Any]] = []
        for share, words in ((0.0, "included"), (k, "removed")):
            q = h = 0.0
            if name == "table_8":
                q, h = one.difference_drop, one.variance_drop(judging=words == "included")
            for n_topics in dict.fromkeys((len(self.topics), *TOPICS)):
                needs = n_topics > 1 and q < 1 and whole > 0 and np.isfinite([whole, q, h, share]).all()
                y = (
                    required_difference(
                        whole,
                        n_topics,
                        variation_share=share,
                        difference_drop=q,
                        variance_drop=h,
                        alpha=alpha,
                    )
                    if needs
                    else None
                )
                rows.append(
                    {
                        "judging": words, "variance": whole, "k": share, "q": q, "h": h, "topics": n_topics,
                        "difference": None if y is None else float(y),
                        "rounded": None if y is None else float(round_up(y)),
                        "reason": None if y is not None else self._why_none(q),
                    }
                )  # fmt: skip
        is_8 = name == "table_8"
        columns = [
            Column("judging"),
            Column("variance", "float", "s2", show="never" if is_8 else "always"),
            Column("k", "float", "K", "share of it that is left out", digits=3),
            Column("q", "float", "Q", digits=3, show="always" if is_8 else "never"),
            Column("h", "float", "H", digits=3, show="always" if is_8 else "never"),
            Column("topics", "int", "L"),
            Column("difference", "float", show="never"),
            Column("rounded", "float", "needed", f"for significance at {alpha:g}, rounded up"),
            Column("reason", show="if_any"),
        ]
        own = rows[0]
        have = abs(float(parts.mean[0]))
        if own["rounded"] is None:
            words = f"None: {_WHY[own['reason']]}."
        else:
            reached = "reach it" if have >= own["difference"] else "do not reach it"
            words = (
                f"With {counted(len(self.topics), 'topic')} a difference of {own['rounded']:.4f} is needed;"
                f" A and B, {have:.4f} apart, {reached}."
            )
        return Table.of_rows(name, columns, rows, notes=[words])

    def _topics(self) -> Table:
        """Give the moments of every topic, before and after, and the document of B that is found."""
        after = self.discovered.after[0]
        flipped = {
            row["topic"]: row["docno"]
            for row in self.discovered.table("documents").to_records()
            if row["found"]
        }
        columns = {
            TOPIC: self.topics,
            Column("mean_a", "float", "E(A)", "expected AP"): self.varied.mean[0],
            Column("mean_b", "float", "E(B)"): self.varied.mean[1],
            Column("variance_a", "float", "V(A)", "by judging"): self.varied.covariance[:, 0, 0],
            Column("variance_b", "float", "V(B)"): self.varied.covariance[:, 1, 1],
            Column("covariance", "float", "Cov"): self.varied.covariance[:, 0, 1],
            Column("docno", about="the document of B that is found relevant"): [
                flipped.get(topic) for topic in self.topics
            ],
            Column("mean_a_found", "float", "E(A) then"): after.mean[0],
            Column("mean_b_found", "float", "E(B) then"): after.mean[1],
        }
        return Table.of_columns("topics", columns)

    def _why_none(self, q: float) -> str:
        """Say why no difference can be said to be needed."""
        if len(self.topics) < 2:
            return "one-topic"
        if q >= 1:
            return "order-turns"
        return "no-difference" if np.isnan(q) else "no-variation"

    def _table_7(self) -> Table:
        return self._needed("table_7")

    def _table_8(self) -> Table:
        return self._needed("table_8")


MOST_TOPICS = 16
"""Rows of tables 1 and 2 that people see."""
TITLES = {
    "topics": "Moments by topic",
    "verdicts": "What the paper would say of this collection",
    "table_1": "Table 1: AP beside the least there can be",
    "table_2": "Table 2: AP beside that of a random order",
    "table_3": "Table 3: change of AP by one relevant document at rank {rank:,}",
    "figure_1": "Figure 1: two processes, the choice of topics and judging",
    "figure_2": "Figure 2: the documents at rank {rank:,}",
    "table_4": "Table 4: how likely documents are relevant, by their judges' grades",
    "table_5": "Table 5: MAP and variance, by judge and by the model",
    "table_6": "Table 6: tests of the difference of A and B",
    "figure_3": "Figure 3: expected differences by topic, and the normal curve",
    "section_4_3": "Section 4.3: the documents at rank {rank:,} of B found relevant",
    "table_7": "Table 7: difference needed (eq. 23)",
    "table_8": "Table 8: difference needed if the documents at rank {rank:,} were found (eq. 24)",
}
_WHY = {
    "one-topic": "one topic has no variance",
    "order-turns": "the order turns",
    "no-difference": "A and B do not differ",
    "no-variation": "nothing varies",
}
_ALWAYS = ("Judgements of different documents are taken for independent, and p from few judges is coarse.",)


def _told(number: float | None, digits: int = 3) -> str:
    """Write a number; a dash = it is not defined, and no digit is shown as 0 that is none."""
    if number is None or np.isnan(number):
        return "-"
    least = 10.0**-digits
    return f"below {least:g}" if 0 < number < least / 2 else f"{number:.{digits}f}"


def _percent(share: float) -> str:
    """Write a share; a dash = it is not defined."""
    return "-" if np.isnan(share) else f"{share:.1%}"


def _check(
    rank: int | None,
    levels: Sequence[int] | None,
    cutoff: int,
    scenario: str,
    flip: str,
    simulate: int | None,
    seed: int,
) -> None:
    """Raise `ArgumentError` for an argument out of its range, before anything is read."""
    if rank is not None and (rank != int(rank) or not 1 <= rank <= cutoff):
        raise ArgumentError("rank", f"must be an integer from 1 to the cutoff, {cutoff:,}", rank)
    if levels is not None and not levels:
        raise ArgumentError("levels", "must be at least one grade", None)
    for name, given, known in (("scenario", scenario, get_args(Gain)), ("flip", flip, get_args(Flip))):
        if given not in known:
            raise ArgumentError(name, f"must be one of {', '.join(known)}", given)
    for name, least, number in (("simulate", 2, simulate), ("seed", 0, seed)):
        if number is not None and number < least:
            raise ArgumentError(name, f"must be an integer >= {least}", number)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _span(numbers: NDArray[np.int64]) -> str:
    """Write from how many to how many."""
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low} to {high}"


def _tests(first: NDArray[np.float64], second: NDArray[np.float64]) -> dict[str, Any]:
    """Return the tests of two runs' scores by one judge."""
    apart: TTest = unpaired_t(first, second)
    together: TTest = paired_t(first - second)
    enough = first.size > 1
    return {
        "difference": together.difference,
        "variance_a": float(first.var(ddof=1)) if enough else None,
        "variance_b": float(second.var(ddof=1)) if enough else None,
        "covariance": float(np.cov(first, second)[0, 1]) if enough else None,
        "t1": apart.t,
        "p_normal_t1": apart.p_normal,
        "p_t1": apart.p,
        "variance": together.variance,
        "t2": together.t,
        "p_normal_t2": together.p_normal,
        "p_t2": together.p,
    }
