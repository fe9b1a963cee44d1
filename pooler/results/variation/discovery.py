"""What if a run's documents at rank N+1 were relevant, while judgements vary: the paper's section 4.3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.results.result import Progress, Result, frozen, heard
from pooler.results.source import Measurable, source_of
from pooler.results.table import DOCNO, RUN, RUN_A, RUN_B, TOPIC, TOPICS_UNSEEN, Column, Table, View, unseen
from pooler.results.variation.probabilities import Probable, Values, load_probable, moments, say_empty
from pooler.telling import progress as telling
from store.analysis.run_order import TIED_MAP
from store.analysis.significance.pairs import check_pair
from store.analysis.undiscovered.required import relative_drop
from store.analysis.variation.collection import (
    CollectionVariation,
    VariedPairs,
    pair_components,
    run_components,
)
from store.analysis.variation.discovery import Discovery, Flip, Gain, discovered_variation, discovery
from store.analysis.variation.lists import Empty
from store.analysis.variation.order import OrderProbability, order_probability
from store.errors import UnknownNameError
from store.text import counted

TESTS = ("t1_removed", "t1_included", "t2_removed", "t2_included")
"""The paper's tests of a pair, by `VariedPairs`."""


def discoveries(
    source: Measurable,
    run: str | None = None,
    *,
    rank: int | None = None,
    scenario: Gain = "shared",
    flip: Flip = "unjudged",
    pairs: bool = False,
    values: Values | None = None,
    probabilities: str | None = None,
    unjudged: float | str = 0,
    empty: Empty = "given",
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> Discoveries:
    """Tell what becomes of the expected MAPs and their order if a run's documents at rank N+1 are relevant.

    `sensitivity` asks the same of one fixed set of judgements, with unjudged documents only; here
    judgements vary as in `variation`, and every number is an exact moment of that model.

    Parameters
    ----------
    source, values, probabilities, unjudged, empty, cutoff, progress
        As for `variation`.
    run : str, optional
        Tag of the run whose documents are found relevant; default every run in turn.
    rank : int, optional
        N + 1, from 1; default one more than the pools' depth, where they have one.
    scenario : {"shared", "own"}, optional
        Every run that has the document gains, or that run only; R is one more for all.
    flip : {"unjudged", "not-relevant"}, optional
        Documents that nobody judged; or, as in the paper, all those with no chance of being relevant,
        although judges may have found them not relevant.
    pairs : bool, optional
        Compare that run with every other, before and after; without a run, every two, the lower one's
        documents being found.

    Returns
    -------
    Discoveries
        A row a run whose documents are found; with `pairs` a row for two runs.

    Raises
    ------
    UnknownNameError
        If there is no such run.
    PoolerError
        If the depth is not known, or there is one run and `pairs`; as `variation` besides.

    Notes
    -----
    Section 4.3 of Kishida (2001) is ``scenario="own", flip="not-relevant", pairs=True``. The cost of
    `variation` for each run, over the topics with a document found.

    Examples
    --------
    >>> runs = {"a": {"1": {"x": 2.0}}, "b": {"1": {"x": 1.0, "y": 2.0}}}
    >>> found = discoveries((runs, {"1": {"x": 1}}), "b", rank=2, flip="not-relevant")
    >>> found.flipped.tolist(), found.mean.tolist(), found.mean_found.tolist()
    ([[False]], [1.0, 0.5], [[1.0, 0.5]])
    """
    with heard(progress) as said:
        found = source_of(source)
        rank = 1 + found.pool_depth(None) if rank is None else rank
        loaded = load_probable(
            found,
            values=values,
            probabilities=probabilities,
            unjudged=unjudged,
            keep_rank=rank,
            empty=empty,
            cutoff=cutoff,
            judged=found.read if found.has_one_grade else None,
        )
        tags = loaded.rankings.tags
        if run is not None and run not in tags:
            raise UnknownNameError("run", run, tags)
        if pairs:
            check_pair(tags)
        chosen = range(len(tags)) if run is None else [tags.index(run)]
        result = discoveries_of(loaded, chosen, rank=rank, flip=flip, gain=scenario, pairs=pairs, empty=empty)
    settings = {**loaded.settings, "run": run, "rank": rank, "scenario": scenario, "flip": flip}
    return result.said(settings, said.warnings)


def discoveries_of(
    loaded: Probable,
    chosen: Sequence[int],
    *,
    rank: int,
    flip: Flip,
    gain: Gain,
    pairs: bool = False,
    empty: Empty = "given",
) -> Discoveries:
    """Do what `discoveries` does with what is read already, for some rows of runs."""
    probable = loaded.rankings
    topics = probable.by_topic()
    varied = moments(probable, empty)
    say_empty(probable.topics, varied)
    found = [discovery(probable, run, rank=rank, flip=flip, gain=gain) for run in chosen]
    after: list[CollectionVariation] = []
    with telling("documents found", sum(int(one.flipped.sum()) for one in found)) as advance:
        after += [discovered_variation(one, varied, progress=advance) for one in found]
    compared: list[FoundPair] = []
    if pairs:
        asked = [*_pairs(varied.map_mean, chosen)]
        with telling("pairs of runs", len(asked)) as advance:
            for which, first, second in asked:
                pair = (first, second)
                compared.append(
                    FoundPair(
                        which,
                        *pair,
                        _tested(varied, pair),
                        _tested(after[which], pair),
                        order_probability(topics, *pair, varied=varied),
                        order_probability(found[which].topics, *pair, varied=after[which]),
                    )
                )
                advance(1)
    return Discoveries(
        runs=probable.tags,
        topics=probable.topics,
        found=found,
        mean=varied.map_mean,
        mean_found=np.array([one.map_mean for one in after]),
        before=varied,
        after=after,
        compared=compared if pairs else None,
        loaded=loaded,
    )


def _pairs(mean: NDArray[np.float64], chosen: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield who is found, by place, and both runs, the higher first; of every two, the lower is found."""
    ahead = np.argsort(-mean, kind="stable").tolist()
    if len(chosen) == 1:
        place = ahead.index(chosen[0])
        for other, run in enumerate(ahead):
            if other != place:
                yield 0, *((run, chosen[0]) if other < place else (chosen[0], run))
        return
    for place, second in enumerate(ahead):
        for first in ahead[:place]:
            yield second, first, second


def _tested(varied: CollectionVariation, pair: tuple[int, int]) -> VariedPairs:
    """Test one pair."""
    first, second = pair
    return pair_components(varied, (np.array([first]), np.array([second])))


@dataclass(frozen=True, slots=True, eq=False)
class FoundPair:
    """Two runs before and after documents are found."""

    which: int
    """Whose documents are found: row of `Discoveries.found`."""
    first: int
    """The run with the higher expected MAP before."""
    second: int
    before: VariedPairs
    after: VariedPairs
    order_before: OrderProbability
    order_after: OrderProbability

    @property
    def difference_drop(self) -> float:
        """Q, share by which the difference falls; 1 or more = the order turns, NaN = there is none."""
        return float(relative_drop(self.before.components.mean, self.after.components.mean)[0])

    @property
    def turns(self) -> bool:
        """Whether the lower run comes out above."""
        return bool(self.difference_drop >= 1)

    def variance_drop(self, *, judging: bool) -> float:
        """H, share by which the variance over topics falls, with or without judging; NaN = it is 0."""
        sides = [one.components for one in (self.before, self.after)]
        variances = [one.topic_variance + (one.judging_variance if judging else 0.0) for one in sides]
        return float(relative_drop(*variances)[0])


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Discoveries(Result):
    """Expected MAPs and the order of runs with documents at rank N+1 found relevant.

    Tables: `discovered`, a row a run whose documents are found; `pairs`, a row for two runs, where
    they were asked for; `documents`, a row a document at rank N+1.
    """

    runs: Sequence[str]
    topics: Sequence[str]
    found: Sequence[Discovery] = field(repr=False)
    """Of each run whose documents are found, in the order of `runs`."""
    mean: NDArray[np.float64]
    """Expected MAP before, shape (n_runs,), in [0, 1]."""
    mean_found: NDArray[np.float64]
    """Expected MAP of all runs then, shape (n_found, n_runs)."""
    before: CollectionVariation = field(repr=False)
    after: Sequence[CollectionVariation] = field(repr=False)
    compared: Sequence[FoundPair] | None = field(repr=False)
    """Of pairs; ``None`` = they were not asked for."""
    loaded: Probable = field(repr=False)

    NAMES: ClassVar[tuple[str, ...]] = ("discovered", "pairs", "documents")

    def said(self, settings: dict[str, Any], warnings: tuple[str, ...]) -> Discoveries:
        """Return the same with its settings and warnings."""
        return replace(self, settings=frozen(**settings), warnings=warnings)

    @property
    def flipped(self) -> NDArray[np.bool_]:
        """Topics with a document found, shape (n_found, n_topics)."""
        return np.array([one.flipped for one in self.found]).reshape(len(self.found), len(self.topics))

    def names(self) -> tuple[str, ...]:
        """Return the tables that were asked for."""
        return tuple(name for name in self.NAMES if name != "pairs" or self.compared is not None)

    def _words(self) -> list[str]:
        """Say what was found, and for whom it counts."""
        which = {
            "unjudged": "unjudged",
            "not-relevant": "that have no chance of being relevant, judged or not",
        }[self.settings["flip"]]
        gains = {
            "shared": "every run that has the document gains",
            "own": "only the run that is found gains, the others' R grows",
        }[self.settings["scenario"]]
        is_papers = (self.settings["flip"], self.settings["scenario"]) == ("not-relevant", "own")
        return [
            f"found: documents at rank {self.settings['rank']:,} {which}, become surely relevant; {gains}."
            + (" This is section 4.3 of Kishida (2001)." if is_papers else ""),
            "`pooler sensitivity` flips unjudged documents under fixed judgements, where nothing varies.",
        ]

    def _discovered(self) -> Table:
        """Make a row a run whose documents are found."""
        runs = [one.run for one in self.found]
        before, after = run_components(self.before), [*map(run_components, self.after)]

        def both(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            """Return a moment of each run, as judged and if its documents are found."""
            then = [getattr(one, name)[run] for one, run in zip(after, runs, strict=True)]
            return getattr(before, name)[runs], np.array(then)

        mean, mean_found = both("mean")
        columns: dict[Column, Any] = {
            RUN: [self.runs[run] for run in runs],
            TOPICS_UNSEEN: [len(self.topics)] * len(runs),
            Column("found", "int", about="topics with a document found"): [
                int(one.flipped.sum()) for one in self.found
            ],
            Column("judged", "int", about="of them, documents that judges found not relevant"): [
                int((one.flipped & ~one.unjudged).sum()) for one in self.found
            ],
            Column("elsewhere", "int", about="of them, documents that another run has, too"): [
                int((one.flipped & (one.retrieved.sum(axis=0) > 1)).sum()) for one in self.found
            ],
            Column("mean", "float", "expected", "its mean MAP if judges like these judged again"): mean,
            Column("mean_found", "float", "if found", "the same with its documents relevant"): mean_found,
            Column("change", "float"): mean_found - mean,
        }
        for moment in ("by_judging", "topic_variance", "judging_variance"):
            name = "sd" if moment == "by_judging" else moment
            columns[unseen(name)], columns[unseen(f"{name}_found")] = both(moment)
        columns[Column("swapped", "int", about="pairs of runs whose order by expected MAP turns then")] = [
            _swapped(self.before.map_mean, then.map_mean) for then in self.after
        ]
        return Table.of_columns("discovered", columns, notes=self._words())

    def _pairs(self) -> Table:
        """Make a row for two runs, before and after."""
        assert self.compared is not None
        rows = [self._row(one) for one in self.compared]
        of = "variance over topics"
        columns = [
            RUN_A,
            RUN_B,
            Column("of", about="whose documents are found"),
            TOPICS_UNSEEN,
            Column("found", "int", about="topics with a document found"),
            Column("difference", "float", "A - B", "expected difference of MAP"),
            Column("difference_found", "float", "if found", "the same with the documents relevant"),
            *self._unseen(),
            Column("p_t2_removed", "float", "p", "of the paired t test (eq. 9, two-sided), judging removed"),
            Column("p_t2_removed_found", "float", "p found"),
            Column(
                "q", "float", "Q", "share by which the difference falls; from 1 on the order turns", digits=2
            ),
            Column("h_removed", "float", "H", f"share by which the {of} falls, judging removed", digits=2),
            unseen("h_included"),
            Column("turns", "bool", about="B comes out above A"),
            Column("reversed", "float", about="how likely another judging is to put B above A"),
            Column("reversed_found", "float", "then", "the same with the documents relevant"),
            *map(unseen, ("tied", "tied_found")),
            *(unseen(name, "text") for name in ("law", "law_found")),
            *map(unseen, ("reversed_error", "reversed_error_found")),
        ]
        n_turned = sum(one.turns for one in self.compared)
        notes = [f"The order turns in {n_turned:,} of {counted(len(rows), 'pair')}.", *self._words()]
        if self.settings.get("run") is None and len(self.found) > 1:
            notes.insert(
                1, "Of every two runs the documents of the lower one are found; name a run for its own."
            )
        return Table.of_rows("pairs", columns, rows, notes=notes)

    def _unseen(self) -> list[Column]:
        """Return the columns of moments and tests, for programs."""
        names = [*_MOMENTS, *TESTS, *(f"p_{name}" for name in TESTS if name != "t2_removed")]
        both = [one for name in names for one in (name, f"{name}_found")]
        return [*map(unseen, both), unseen("t2_drop")]

    def _row(self, one: FoundPair) -> dict[str, Any]:
        """Return the cells of two runs."""
        found = self.found[one.which]
        row: dict[str, Any] = {
            "a": self.runs[one.first],
            "b": self.runs[one.second],
            "of": self.runs[found.run],
            "topics": len(self.topics),
            "found": int(found.flipped.sum()),
            "q": one.difference_drop,
            "h_removed": one.variance_drop(judging=False),
            "h_included": one.variance_drop(judging=True),
            "t2_drop": float(relative_drop(one.before.t2_removed, one.after.t2_removed)[0]),
            "turns": one.turns,
        }
        sides = (
            ("", self.before, one.before, one.order_before),
            ("_found", self.after[one.which], one.after, one.order_after),
        )
        for suffix, varied, tested, order in sides:
            moments = moments_of_pair(varied, one.first, one.second, tested)
            row |= {f"{name}{suffix}": cell for name, cell in moments.items()}
            row |= {f"p_{name}{suffix}": float(p[0]) for name, p in tested.p_values().items()}
            row |= {f"{name}{suffix}": float(getattr(tested, name)[0]) for name in TESTS}
            row |= {
                f"reversed{suffix}": order.below,
                f"tied{suffix}": order.tied,
                f"law{suffix}": order.method,
                f"reversed_error{suffix}": order.error,
            }
        return row

    def _documents(self) -> Table:
        """Make a row a document at rank N+1."""
        places = [
            (one, then, topic)
            for one, then in zip(self.found, self.after, strict=True)
            for topic in np.flatnonzero(one.documents >= 0).tolist()
        ]
        documents = [(topic, int(one.documents[topic])) for one, _, topic in places]
        columns = {
            RUN: [self.runs[one.run] for one, _, _ in places],
            TOPIC: [self.topics[topic] for topic, _ in documents],
            DOCNO: self.loaded.docnos(documents),
            Column("judged", "bool"): [not one.unjudged[topic] for one, _, topic in places],
            Column("p", "float", about="how likely it is relevant, before"): [
                one.probabilities[topic] for one, _, topic in places
            ],
            Column("found", "bool", about="it is taken for relevant"): [
                bool(one.flipped[topic]) for one, _, topic in places
            ],
            Column("runs", "int", about="how many have the document"): [
                int(one.retrieved[:, topic].sum()) for one, _, topic in places
            ],
            Column("mean", "float", "expected AP", "of the run in this topic"): [
                self.before.mean[one.run, topic] for one, _, topic in places
            ],
            Column("mean_found", "float", "if found"): [
                then.mean[one.run, topic] for one, then, topic in places
            ],
        }
        return Table.of_columns("documents", columns)

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        is_by_run = name == "discovered"
        return [View(table, rows=table.order("mean", descending=True) if is_by_run else None)]


_MOMENTS = (
    "mean_a",
    "mean_b",
    "topic_variance_a",
    "topic_variance_b",
    "judging_variance_a",
    "judging_variance_b",
    "covariance_topics",
    "covariance_judging",
    "topic_variance",
    "judging_variance",
    "k",
)


def moments_of_pair(
    varied: CollectionVariation, first: int, second: int, tested: VariedPairs
) -> dict[str, float]:
    """Return both runs' moments and their difference's, by column."""
    runs = run_components(varied)
    parts = tested.components
    means = varied.mean[[first, second]]
    return {
        "difference": float(parts.mean[0]),
        "mean_a": float(runs.mean[first]),
        "mean_b": float(runs.mean[second]),
        "topic_variance_a": float(runs.topic_variance[first]),
        "topic_variance_b": float(runs.topic_variance[second]),
        "judging_variance_a": float(runs.judging_variance[first]),
        "judging_variance_b": float(runs.judging_variance[second]),
        "covariance_topics": float(np.cov(means)[0, 1]) if means.shape[1] > 1 else float("nan"),
        "covariance_judging": float(varied.covariance[:, first, second].mean()),
        "topic_variance": float(parts.topic_variance[0]),
        "judging_variance": float(parts.judging_variance[0]),
        "k": float(parts.share[0]),
    }


def _swapped(before: NDArray[np.float64], after: NDArray[np.float64]) -> int:
    """Count pairs of runs whose order is the other one, ties apart."""
    first, second = np.triu_indices(before.size, 1)
    one, two = before[first] - before[second], after[first] - after[second]
    return int(((np.abs(one) > TIED_MAP) & (np.abs(two) > TIED_MAP) & (one * two < 0)).sum())
