"""provenance: which run brought what into a depth pool, and what other depths would give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pooler.messages import say
from pooler.pools.annotated import annotated_rows, annotated_text
from pooler.pools.contents import contributions, depth_curve
from pooler.pools.runs import RunSet
from pooler.results.meeting import check_runs
from pooler.results.pool.options import DEPTH
from pooler.results.result import Progress, Result, collect_warnings, fields_of, frozen_settings
from pooler.results.source import Measurable, source_of
from pooler.results.table import DOCNO, RUN, TOPIC, Column, Table

By = Literal["run", "group", "depth", "document"]


def provenance(
    source: Measurable, *, depth: int | None = None, by: By = "run", progress: Progress | None = None
) -> Provenance:
    """Count what each run, or group of runs, brought into the pool of one depth.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        Runs that do not contribute are passed over. Judgements may be none, as in ``(runs, {})``;
        of a collection a document is relevant when some judge's grade is at least the level.
    depth : int, optional
        Ranks taken from each run and topic, from 1; default 100.
    by : {"run", "group", "depth", "document"}, optional
        Whose contributions are counted: of runs, or of groups, where a run without one is its own;
        what is shown first: those, the pool at every depth, or each document and run.

    Returns
    -------
    Provenance
        Counts by run and topic, and by depth.

    Raises
    ------
    ArgumentError
        If `depth` is below 1, or no run contributes.
    PoolerError
        If there is no run, or a file cannot be read.

    Notes
    -----
    O(n log n) for the n documents within the depth of all runs.

    Examples
    --------
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "z": 1.0}}}
    >>> found = provenance((runs, {"1": {"x": 1, "z": 0}}), depth=2)
    >>> found.runs, found.unique[:, 0].tolist(), found.unique_relevant[:, 0].tolist()
    (['a', 'b'], [1, 1], [1, 0])
    >>> found.by_depth.tolist()
    [[2, 1, 1, 2], [3, 2, 1, 2]]
    """
    depth = DEPTH if depth is None else depth
    asked = source_of(source)
    with collect_warnings(progress) as collected, asked.opened() as found:
        run_set = found.tops(depth, scores=by == "document")
        if asked.is_of_files:
            check_runs(run_set)
        is_relevant, by_whom = found.relevance()
        brought = contributions(run_set, is_relevant, depth=depth, by_group=by == "group")
        curve = depth_curve(run_set, is_relevant)
        if not is_relevant and by != "document":
            say("nothing is judged, so nothing counts as judged or relevant")
    return Provenance(
        **{name: value for name, value in fields_of(brought).items() if name != "names"},
        runs=brought.names,
        topics=run_set.topics,
        by_depth=np.stack([curve.pairs, curve.judged, curve.relevant, curve.unique], axis=1),
        settings=frozen_settings(depth=depth, by=by, **asked.named(), order=found.order, **by_whom.to_json()),
        warnings=collected.warnings,
        run_set=run_set,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Provenance(Result):
    """What runs, or groups of runs, brought into a depth pool.

    Tables: `contributions`, a row a run or group; `depths`, a row a depth; and of `by`
    ``"document"`` `documents`, a row a document and run.
    """

    runs: Sequence[str]
    """Tags, or names of groups."""
    topics: Sequence[str]
    documents: NDArray[np.int64]
    """Shape (runs, topics), as the next five: within the depth, from 0."""
    judged: NDArray[np.int64]
    relevant: NDArray[np.int64]
    unique: NDArray[np.int64]
    """Those that no other run, or group, has."""
    unique_judged: NDArray[np.int64]
    unique_relevant: NDArray[np.int64]
    by_depth: NDArray[np.int64]
    """Shape (depth, 4): pairs of the pool, judged, relevant, and brought by one run alone."""
    run_set: RunSet = field(repr=False)

    NAMES: ClassVar[tuple[str, ...]] = ("contributions", "depths", "documents")

    def names(self) -> tuple[str, ...]:
        """Return the names of the tables: documents are listed only where they were asked for."""
        return self.NAMES if self.settings["by"] == "document" else self.NAMES[:2]

    def shown(self) -> tuple[str, ...]:
        """Return what `by` asks for."""
        return ({"depth": "depths", "document": "documents"}.get(self.settings["by"], "contributions"),)

    def lines(self, *names: str) -> Iterator[str] | None:
        """Return the annotated pool, which may be large, a line at a time."""
        if (names or self.shown()) != ("documents",):
            return None
        return map(annotated_text, annotated_rows(self.run_set))

    def _contributions(self) -> Table:
        what = "group" if self.settings["by"] == "group" else "run"
        groups = {run.tag: run.group for run in self.run_set.feeding}
        columns: dict[Column, Any] = {Column(what): self.runs}
        if what == "run" and any(groups.values()):
            columns[Column("group")] = [groups[run] or None for run in self.runs]
        within = f"pairs of topic and document within depth {self.settings['depth']}"
        columns |= {
            Column("documents", "int", about=within): self.documents.sum(axis=1),
            Column("unique", "int", about=f"those that no other {what} has"): self.unique.sum(axis=1),
            Column("unique_judged", "int"): self.unique_judged.sum(axis=1),
            Column("unique_relevant", "int"): self.unique_relevant.sum(axis=1),
        }
        return Table.of_columns("contributions", columns)

    def _depths(self) -> Table:
        pairs, judged, relevant, of_one_run = self.by_depth.T
        new = "those that the pool one rank less deep does not have"
        columns = {
            Column("depth", "int"): np.arange(1, len(self.by_depth) + 1),
            Column("pairs", "int", about="pairs of topic and document in the pool of that depth"): pairs,
            Column("new", "int", about=new): np.diff(pairs, prepend=0),
            Column("judged", "int"): judged,
            Column("relevant", "int"): relevant,
            Column("of_one_run", "int", about="pairs that only one run brought"): of_one_run,
        }
        return Table.of_columns("depths", columns)

    def _documents(self) -> Table:
        columns = [TOPIC, DOCNO, RUN, Column("group"), Column("rank", "int"), Column("score", "float")]
        return Table.of_rows("documents", columns, (row._asdict() for row in annotated_rows(self.run_set)))
