"""Scores of the runs of a source by measures, as every command has them; the best run by some topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pooler.messages import say
from pooler.result import Progress, Result, collect_warnings, facts_view, frozen_settings
from pooler.sources.source import Measurable, Source, source_of
from pooler.tables import RUN, Column, Table, View
from store.analysis.measures.names import MeasureName, Scores, parse_measure
from store.analysis.measures.names import evaluate as score
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.text import counted

if TYPE_CHECKING:
    from store.analysis.significance.folds import Split


def known_measure(measure: str | MeasureName, *, level: int = 1) -> MeasureName:
    """Read a measure's name as `parse_measure` does, and say where an unknown one is looked up."""
    try:
        return measure if isinstance(measure, MeasureName) else parse_measure(str(measure), level=level)
    except UnknownNameError as error:
        error.hint = error.hint or "pooler show measures"
        raise


def measured(
    source: Source, names: Sequence[MeasureName], cutoff: int | None, threshold: float | None = None
) -> tuple[GradedRankings, list[Scores]]:
    """Score runs by measures, each named once; see `evaluate` of `cutoff` and `threshold`."""
    look = 1000 if cutoff is None else cutoff
    deep = [name for name in names if cutoff is None and (name.cutoff or 0) > look]
    plain = [name for name in names if name not in deep]
    rankings = _retrieved(source, look, threshold)
    scores = dict(zip(plain, score(rankings, plain), strict=True))
    if deep:  # some look deeper than the others
        further = _retrieved(source, max(name.cutoff or 0 for name in deep), threshold)
        scores |= dict(zip(deep, score(further, deep), strict=True))
    return rankings, [scores[name] for name in names]


def _retrieved(source: Source, cutoff: int, threshold: float | None) -> GradedRankings:
    """Return rankings beside grades, without the documents whose score is below a threshold."""
    rankings = source.graded(cutoff)
    if threshold is None:
        return rankings
    is_in = list_scores(source, rankings, cutoff) >= threshold  # NaN is not
    return replace(
        rankings,
        grades=np.where(is_in, rankings.grades, 0),
        judged=rankings.judged & is_in,
        lengths=np.count_nonzero(is_in, axis=-1),
        open=None if rankings.open is None else rankings.open & is_in,
    )


def list_scores(source: Source, rankings: GradedRankings, cutoff: int) -> NDArray[np.float64]:
    """Return scores by rank, as grades in shape (n_runs, n_topics, width); NaN below the end of a list."""
    n_out = max(map(len, source.left_out.values()), default=0)
    runs = source.tops(cutoff + n_out, scores=True, tags=rankings.tags)
    places = [rankings.tags.index(run.tag) for run in runs.feeding]
    found = np.full(rankings.grades.shape, np.nan)
    for column, topic in enumerate(rankings.topics):
        if topic not in runs.topics:
            continue
        of_topic = runs.of_topic(topic, scores=True)
        scores = of_topic.rankings.scores
        assert scores is not None  # they were asked for
        left_out = source.left_out.get(topic, ())
        is_in = np.array([docno not in left_out for docno in of_topic.docnos] + [True])  # padding is last
        for row, run in enumerate(of_topic.runs):
            length = int(rankings.lengths[places[run], column])
            own = scores[row][is_in[of_topic.rankings.documents[row]]]
            found[places[run], column, :length] = own[:length]
    return found


def choose(
    source: Measurable,
    measure: str | MeasureName = "AP",
    *,
    folds: int | None = None,
    seed: int | None = None,
    cutoff: int | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Choose the best run on some topics, and score it on the others.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is measured: two runs or more.
    measure : str, default="AP"
        What is best, named as for `evaluate`.
    folds : int, optional
        Parts of the topics, at least 2: each is tested on once, after the choice on all others.
        Default as many as there are topics, which leaves one out at a time.
    seed : int, optional
        Shuffles the topics; by default folds are neighbouring topics.
    cutoff : int, optional
        As for `evaluate`.

    Raises
    ------
    ArgumentError
        If there are fewer topics than folds.
    PoolerError
        If there are not two runs, or not two topics where all runs have a score.

    Notes
    -----
    Topics where a run has no score are left out. Of runs that are equally good the one named first
    is chosen. `test_mean` is over all topics, each scored by the run that was chosen without it;
    `spread` is the standard deviation (n - 1) of the means of the folds. The mean of the run chosen
    on all topics is an optimistic estimate: the same topics chose it and score it.

    Examples
    --------
    Run a is best on topics 1 and 2 together, and chosen without topic 3, on which it fails:

    >>> qrels = {topic: {"x": 1, "y": 0} for topic in "123"}
    >>> first, second = {"x": 2.0, "y": 1.0}, {"y": 2.0, "x": 1.0}
    >>> runs = {"a": {"1": first, "2": first, "3": second}, "b": {"1": second, "2": first, "3": first}}
    >>> found = choose((runs, qrels))
    >>> found.chosen, found.test.tolist(), found.train.tolist()
    (('b', 'a', 'a'), [0.5, 1.0, 0.5], [1.0, 0.75, 1.0])
    >>> round(found.test_mean, 4), round(found.mean_of_all, 4)
    (0.6667, 0.8333)
    """
    if folds is None and seed is not None:
        raise ArgumentError("seed", "is for folds: leaving one out has no chance in it", seed)
    with collect_warnings(progress) as collected:
        found = source_of(source)
        known_measure(measure)
        name = known_measure(measure, level=found.level)
        rankings, (scores,) = measured(found, [name], cutoff)
        usable = np.asarray(~np.isnan(scores.values).any(axis=0))
        if len(rankings.tags) < 2:
            raise PoolerError("there is one run, so there is nothing to choose", hint="name two runs or more")
        n_topics = int(usable.sum())
        if n_topics < 2:
            common = f"every run has a score ({name}) on {counted(n_topics, 'topic')}"
            message = f"{common}; a choice is tested on 2 or more"
            raise PoolerError(message, hint="judge more topics, or leave out a run")
        if n_topics < usable.size:
            say(
                f"{usable.size - n_topics} of {usable.size} judged topics left out: a run has no {name} there"
            )
    if folds is not None and folds > n_topics:
        raise ArgumentError("folds", f"must be at most the {n_topics} topics", folds)
    from store.analysis.significance.folds import topic_folds

    splits = topic_folds(n_topics, n_topics if folds is None else folds, seed=seed)
    return Choice(
        runs=tuple(rankings.tags),
        topics=tuple(topic for topic, is_in in zip(rankings.topics, usable.tolist(), strict=True) if is_in),
        values=scores.values[:, usable],
        splits=splits,
        settings=frozen_settings(
            measure=str(name), folds=folds, seed=seed, cutoff=cutoff, **found.settings()
        ),
        warnings=collected.warnings,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Choice(Result):
    """Runs chosen on some topics and tested on others.

    Tables: `folds`, a row a fold; `runs`, a row a run: how often it was chosen.
    """

    runs: tuple[str, ...]
    """Axis of runs."""
    topics: tuple[str, ...]
    """Axis of topics: those where every run has a score."""
    values: NDArray[np.float64]
    """Shape (n_runs, n_topics)."""
    splits: Sequence[Split]
    """Topics trained and tested on, by fold."""

    @property
    def places(self) -> list[int]:
        """Place of the run chosen for each fold."""
        return [_best(self.values[:, split.train]) for split in self.splits]

    @property
    def chosen(self) -> tuple[str, ...]:
        """Run chosen for each fold."""
        return tuple(self.runs[place] for place in self.places)

    @property
    def train(self) -> NDArray[np.float64]:
        """Shape (n_folds,): mean of the chosen run on the topics that chose it."""
        pairs = zip(self.places, self.splits, strict=True)
        return np.array([self.values[place, split.train].mean() for place, split in pairs])

    @property
    def test(self) -> NDArray[np.float64]:
        """Shape (n_folds,): mean of the chosen run on the topics tested on."""
        pairs = zip(self.places, self.splits, strict=True)
        return np.array([self.values[place, split.test].mean() for place, split in pairs])

    @property
    def test_mean(self) -> float:
        """Mean over all topics, each scored by the run chosen without it."""
        sizes = [split.test.size for split in self.splits]
        return float(np.average(self.test, weights=sizes))

    @property
    def spread(self) -> float:
        """Standard deviation of the means of folds."""
        return float(np.std(self.test, ddof=1))

    @property
    def best_of_all(self) -> str:
        """Run chosen on all topics."""
        return self.runs[_best(self.values)]

    @property
    def mean_of_all(self) -> float:
        """Mean of that run on all topics."""
        return float(self.values[_best(self.values)].mean())

    def facts(self) -> Mapping[str, Any]:
        """Return the means, and how often the choice is that of all topics."""
        return {
            "test_mean": self.test_mean,
            "spread": self.spread,
            "train_mean": float(self.train.mean()),
            "chosen_on_all_topics": self.best_of_all,
            "its_mean": self.mean_of_all,
            "folds_that_choose_it": self.chosen.count(self.best_of_all),
            "folds": len(self.splits),
            "topics": len(self.topics),
        }

    def _tables(self) -> Iterator[Table]:
        best = [self.values[:, split.test].mean(axis=1) for split in self.splits]
        columns: dict[Column, Any] = {
            Column("fold", "int"): list(range(1, len(self.splits) + 1)),
            RUN: list(self.chosen),
            Column("train", "float", about="mean of the run on the topics that chose it"): self.train,
            Column("test", "float", about="its mean on the topics of the fold"): self.test,
            Column("best", "float", about="mean of the run that is best on the topics of the fold"): [
                float(means.max()) for means in best
            ],
            Column("best_run", heading="of run", about="that run"): [
                self.runs[int(means.argmax())] for means in best
            ],
            Column("topics", "texts", about="of the fold", most=24): [
                [self.topics[topic] for topic in split.test] for split in self.splits
            ],
        }
        measure = self.settings["measure"]
        note = (
            f"Chosen on other topics, runs have a mean {measure} of {self.test_mean:.4f}, with a standard"
            f" deviation of {self.spread:.4f} between folds; the run chosen on all topics has"
            f" {self.mean_of_all:.4f} there."
        )
        folds = Table.of_columns("folds", columns)
        yield folds.seen_as(facts_view({"measure": measure, **self.facts()}, [note]), View(folds))
        columns = {
            RUN: list(self.runs),
            Column("chosen", "int", about="folds that choose the run"): [
                self.chosen.count(run) for run in self.runs
            ],
            Column("mean", "float", about="on all topics"): self.values.mean(axis=1),
        }
        runs = Table.of_columns("runs", columns)
        yield runs.seen_as(rows=runs.order("mean", descending=True))


def _best(values: NDArray[np.float64]) -> int:
    means = values.mean(axis=1)
    # Equal but for the order of adding is equal.
    return int(np.argmax(means >= means.max() - 1e-12))
