"""Diagnose: tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pooler.pools.replay import JudgedTopic, judged_topics
from pooler.results.agree.people import legend
from pooler.results.printed import Cell, Column, Format, Table
from pooler.strategies import STRATEGIES, find_strategy
from pooler.strategies.kinds import AnyStrategy, FixedStrategy, ParameterValue, SamplingStrategy
from pooler.strategies.rankings import TopicRankings, descending
from pooler.telling import say, warn
from store.analysis.pools.contributions import NO_DOCUMENT
from store.analysis.pools.diagnosis import DepthPool, Diagnosis, LeftOut
from store.analysis.pools.leave_out import NOT_RANKED
from store.analysis.pools.readings import Readings, coverage, readings
from store.analysis.rankings import JudgedRankings
from store.collection import Collection
from store.errors import PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pooler.cli.source_options import GivenPrinted as Given
    from pooler.results.source import Judged
    from store.analysis.measures.names import MeasureName
    from store.analysis.measures.table import Scores
    from store.analysis.pools.diagnosis import Diagnosis

LEAST_RANKS = 20
"""Ranks that are shown where nobody says how many, however shallow the pool."""
_SOURCES = {"given": "as given", "pool": "as the collection was pooled", "inferred": "as the judgements look"}


SIBLINGS_FALL = ", when the other runs of its group have lost theirs too"
"""What the place of a run is that is left out with its group."""


def chosen_left(found: Diagnosis, *, by_group: bool | None = None) -> LeftOut | None:
    """Return the groups left out, or the runs where they are asked for or no group fed with two.

    ``None`` where there is no pool.
    """
    pool = found.pool
    if pool is None:
        return None
    groups = pool.by_group
    if groups is None or by_group is False or not (by_group or has_siblings(pool)):
        return pool.by_run
    return groups


def has_siblings(pool: DepthPool) -> bool:
    """Say whether some group fed the pool with several runs."""
    if pool.by_group is None:
        return False
    owners = pool.by_group.scores.withdrawn.owners[pool.contributing]
    return np.unique(owners).size < owners.size


def facts(found: Diagnosis, left: LeftOut | None) -> dict[str, Cell]:
    """Say what the pool is, for `emit_dossier`."""
    rankings, pool = found.rankings, found.pool
    n_topics = len(rankings.topics)
    known: dict[str, Cell] = {
        "diagnosis": f"{counted(len(rankings.tags), 'run')}, {counted(n_topics, 'topic')}",
        "judged": int(found.topics.judged.sum()),
        "relevant": int(found.topics.relevant.sum()),
    }
    if pool is None or left is None:
        return known | {"depth": None, "reason": found.reason}
    errors, missed, alone = left.errors, pool.missed, pool.by_run
    of_groups = left is pool.by_group
    known |= {
        "depth": pool.depth,
        "depth_known": _SOURCES[pool.source],
        "contributing_runs": int(pool.contributing.sum()),
        "runs_known": _SOURCES["given" if found.knows_runs else "inferred"],
        "pool": pool.n_pairs,
        "pool_judged": pool.n_judged,
        "pool_unjudged": pool.n_unjudged,
        "judged_outside_pool": pool.n_outside,
        "left_out": "whole groups" if of_groups else "single runs",
        "unique": int(left.unique.sum()),
        "mean_change_left_out": errors.mae,
        "rank_changes_left_out": errors.sre,
        "rank_changes_significant": errors.sre_significant,
        "tau_all_left_out": errors.tau_b.tau,
        "tau_ap_all_left_out": errors.tau_ap.tau,
        "newcomer_loses": left.adjusted.bias,
        **(
            {
                "unique_by_run": int(alone.unique.sum()),
                "mean_change_by_run": alone.errors.mae,
                "newcomer_loses_by_run": alone.adjusted.bias,
            }
            if of_groups
            else {}
        ),
        "relevant_to_twice_the_depth": missed.expected,
        "relevant_low": missed.low,
        "relevant_high": missed.high,
        "relevant_known_there": missed.n_known,
    }
    return known if missed.reason is None else known | {"reason": missed.reason}


def runs_table(
    found: Diagnosis, left: LeftOut | None, groups: Mapping[str, str], fmt: Format, judged_at: int
) -> Table:
    """Make a row for every run, in the order of the rankings."""
    scores, pool = found.scores, found.pool
    lower, _, upper = scores.bounds.means()
    change, by_run, n_withdrawn = np.empty(0), np.empty(0), np.empty(0, np.int64)
    feeding: set[int] = set()
    if pool is not None and left is not None:
        change, n_withdrawn = left.scores.difference(), left.scores.withdrawn.n_judged()
        by_run = pool.by_run.scores.difference()
        feeding = {*left.scores.withdrawn.owners[pool.contributing].tolist()}
    rows: list[Mapping[str, Cell]] = []
    for run, tag in enumerate(found.rankings.tags):
        row: dict[str, Cell] = {
            "run": tag, "group": groups.get(tag) or None,
            "ap": _number(scores.ap.overall[run]), "bpref": _number(scores.bpref.overall[run]),
            "condensed": _number(scores.condensed_ap.overall[run]),
            "judged": _number(scores.judged.overall[run]),
            "low": _number(lower[run]), "high": _number(upper[run]),
        }  # fmt: skip
        if pool is not None and left is not None:
            late = left.scores
            name = int(late.withdrawn.owners[run])
            feeds = bool(pool.contributing[run])
            is_late = name in feeding
            row |= {
                "contributes": feeds, "unique": int(left.unique[name]) if feeds else None,
                "unique_relevant": int(left.unique_relevant[name]) if feeds else None,
                "ap_left_out": _number(late.score_after[run]) if is_late else None,
                "change": _number(change[run]) if is_late else None,
                "rank": _rank(late.rank_before[run]),
                "rank_left_out": _rank(late.rank_after[run]) if is_late else None,
                "tau": _number(late.tau_b[name]) if is_late else None,
                "adjusted": _number(left.adjusted.scores[run]),
            }  # fmt: skip
            if left is pool.by_group:
                row["change_by_run"] = _number(by_run[run]) if feeds else None
            if not pool.is_whole:
                row |= {
                    "withdrawn": int(n_withdrawn[name]) if feeds else None,
                    "withdrawn_relevant": int(late.n_relevant[name]) if feeds else None,
                    "lacking": int(late.withdrawn.n_lacking[name]) if feeds else None,
                }
        rows.append(row)
    columns = [
        Column("run"), Column("group", can_go=True), Column("contributes", "fed", can_go=True),
        Column("judged", f"judged@{judged_at}"), Column("ap", "AP"), Column("bpref", can_go=True),
        Column("condensed", "judged AP", can_go=True), Column("low"), Column("high"),
        Column("unique"), Column("unique_relevant", "relevant"),
        Column("withdrawn", "gone"), Column("withdrawn_relevant", "relevant gone"),
        Column("lacking"), Column("ap_left_out"),
        Column("change"), Column("change_by_run", "by run", can_go=True),
        Column("rank"), Column("rank_left_out", "late"), Column("tau"),
        Column("adjusted", can_go=True),
    ]  # fmt: skip
    there = {name for row in rows for name in row}
    hidden = {"ap_left_out", "tau"} if fmt is Format.TABLE else set()
    if fmt is Format.TABLE and (pool is None or pool.contributing.all()):
        hidden.add("adjusted")
    shown = [column for column in columns if column.name in there - hidden]
    return Table("runs", shown, rows, caption=legend(_words(found, left, judged_at)))


def _words(found: Diagnosis, left: LeftOut | None, judged_at: int) -> list[str]:
    """Say what the columns mean."""
    words = [
        f"judged@{judged_at}: share of the first {judged_at:,} documents that are judged. judged"
        " AP: AP of the judged documents alone. low, high: the least and the most that AP could be,"
        " whatever the unjudged documents of the run's own list are."
    ]
    pool = found.pool
    if pool is None or left is None:
        return words
    of_groups = left is pool.by_group
    who = "no other group" if of_groups else "no other run"
    words.append(
        f"unique, relevant: documents, and relevant ones, that {who} brought to the pool."
        " change: of AP, had they not been judged"
        + ("; by run: without what the run alone brought, whatever its group did" * of_groups)
        + "; rank, late: the place among all runs, and then"
        + (SIBLINGS_FALL if of_groups else "")
        + "."
        + ("" if pool.contributing.all() else " -: the run fed no pool.")
    )
    if not pool.is_whole:
        words.append(
            "gone, relevant gone: judged documents that the pool does not hold if it is made"
            f" without the {'group' if of_groups else 'run'}; lacking: unjudged ones that it holds"
            " then."
        )
    if not pool.contributing.all():
        words.append(
            "adjusted: AP, and for runs that fed no pool the mean loss of those that did besides"
            " (Webber and Park), if the former are like the latter."
        )
    return words


def topics_table(found: Diagnosis) -> Table:
    """Make a row for every topic; without a pool, what is of the pool is undefined."""
    counts, has_pool = found.topics, found.pool is not None
    of_pool = {
        "pooled": counts.pooled,
        "pool_judged": counts.pool_judged,
        "pool_relevant": counts.pool_relevant,
        "pool_not_relevant": counts.pool_not_relevant,
        "pool_unjudged": counts.pool_unjudged,
        "outside": counts.outside,
    }
    rows: list[Mapping[str, Cell]] = []
    for place, topic in enumerate(found.rankings.topics):
        row: dict[str, Cell] = {
            "topic": topic,
            "judged": int(counts.judged[place]),
            "relevant": int(counts.relevant[place]),
        }
        row |= {name: int(cells[place]) if has_pool else None for name, cells in of_pool.items()}
        rows.append(row)
    columns = [
        Column("topic"), Column("pooled", "in pool"), Column("pool_judged", "judged there"),
        Column("pool_relevant", "relevant there"), Column("pool_not_relevant", "not relevant"),
        Column("pool_unjudged", "unjudged there"),
        Column("judged", "judged in all"), Column("relevant", "relevant in all"),
        Column("outside"),
    ]  # fmt: skip
    if not has_pool:
        columns = [column for column in columns if column.name not in of_pool]
    return Table("topics", columns, rows)


def contributors_table(found: Diagnosis) -> Table:
    """Make a row for each number of runs that brought some document of the pool."""
    rows: list[Mapping[str, Cell]] = []
    if found.pool is not None:
        brought = found.pool.brought
        counts = zip(brought.documents, brought.judged, brought.relevant, strict=True)
        rows = [
            {"runs": runs, "documents": int(documents), "judged": int(judged),
             "relevant": int(relevant)}
            for runs, (documents, judged, relevant) in enumerate(counts)
            if documents
        ]  # fmt: skip
    columns = [Column("runs"), Column("documents"), Column("judged"), Column("relevant")]
    words = "documents of the pool that so many of the runs brought"
    return Table("contributors", columns, rows, caption=words)


def ranks_table(found: Diagnosis, limit: int | None = None) -> Table:
    """Make a row for every rank down to a limit.

    Parameters
    ----------
    found : Diagnosis
        Of runs and a pool; without a pool, what entered it is left out.
    limit : int, optional
        Ranks that are shown. Default: twice the pool's depth, and `LEAST_RANKS` at least.
    """
    pool, counts = found.pool, found.ranks
    width = counts.documents.size
    if limit is None:
        limit = max(LEAST_RANKS, 0 if pool is None else 2 * pool.depth)
    unjudged, shares = counts.unjudged, counts.unjudged_share()
    rows: list[Mapping[str, Cell]] = []
    for place in range(min(limit, width)):
        row: dict[str, Cell] = {
            "rank": place + 1,
            "documents": int(counts.documents[place]),
            "judged": int(counts.judged[place]),
            "unjudged": int(unjudged[place]),
            "share_unjudged": _number(shares[place]),
        }
        if pool is not None:
            # The runs that fed the pool may all end above the others.
            row |= {
                name: int(cells[:, place : place + 1].sum())
                for name, cells in (
                    ("entering", pool.first.documents),
                    ("entering_judged", pool.first.judged),
                    ("entering_relevant", pool.first.relevant),
                )
            }
        rows.append(row)
    columns = [
        Column("rank"), Column("documents"), Column("judged"), Column("unjudged"),
        Column("share_unjudged", "share unjudged"),
    ]  # fmt: skip
    words = ["documents: those that the runs have at the rank, over all topics."]
    if pool is not None:
        columns += [
            Column("entering", "new"), Column("entering_judged", "new judged"),
            Column("entering_relevant", "new relevant"),
        ]  # fmt: skip
        of_them = "they" if pool.is_whole else "some of them"
        words.append("new: those that no run of the pool has further up; down to rank"
                     f" {pool.depth:,} {of_them} entered the pool.")  # fmt: skip
    if width > limit:
        words.append(f"{width - limit:,} more ranks: --limit {width}")
    return Table("ranks", columns, rows, caption=legend(words))


def _number(value: float) -> float | None:
    """Return a number, or ``None`` where it is undefined."""
    return None if np.isnan(value) else float(value)


def _rank(rank: int) -> int | None:
    """Return a rank, or ``None`` of a run without a score."""
    return None if rank == NOT_RANKED else int(rank)


MEASURES = ("AP", "nDCG@10", "P@10", "RBP(p=0.8)")
NO_BOUNDS = "no-bounds"
NO_POOL = "no-pool"
CODES = {
    NO_BOUNDS: "the least and the most of this measure are not known",
    NO_POOL: "infAP needs to know which unjudged documents were pooled; --depth N says it",
    "no-relevant": "no topic has a relevant document",
    "no-documents": "the run has no document for any topic",
    "no-pairs": "no topic has a relevant document of the run and another",
    "no-not-relevant": "every document of the collection is relevant",
    "list-too-short": "every list of the run ends above rank R",
}


def scale_of(given: Given, judged: Judged, found: Diagnosis) -> tuple[int, ...]:
    """Return the grades that an unjudged document could have got.

    Those of the declared scale; without one, and where grades were added up, those that were given,
    0 and the least that is relevant.
    """
    if given.qrels is not None and given.scale is not None:
        from store.formats.scale import parse_scale

        return parse_scale(given.scale).values
    if given.qrels is None and given.aggregate != "sum":
        if given.collapse == "before":
            return 0, 1
        from store.collection import Collection

        with Collection(given.collection) as opened:
            return opened.scale.values
    seen = (grades.tolist() for grades in found.graded.judged_grades)
    return tuple(sorted({0, judged.level, *chain.from_iterable(seen)}))


def scores_tables(
    found: Diagnosis, measures: Sequence[MeasureName], scale: Sequence[int], fmt: Format
) -> list[Table]:
    """Make a row for each run and measure; for people, a table for each measure."""
    everything = readings(found.graded, measures, scale=scale)
    columns = [
        Column("run"), Column("score", "as judged"), Column("judged_only"), Column("low"),
        Column("high"), Column("residual", "RBP residual"), Column("reason"),
    ]  # fmt: skip
    caption = _readings_words(everything, scale)
    if fmt is not Format.TABLE:
        columns.insert(1, Column("measure"))
        rows = list(chain.from_iterable(_rows(one, found.rankings.tags) for one in everything))
        return [Table("scores", columns, rows, caption=caption)]
    tables = [Table(str(one.scores.measure), columns, _rows(one, found.rankings.tags)) for one in everything]
    tables[-1].caption = caption
    return tables


def coverage_table(found: Diagnosis, level: int, judged_at: int) -> Table:
    """Make a row for each run: how much of it is judged, and the measures made for gaps."""
    pooled = None if found.pool is None else found.pool.holds
    of_runs = coverage(found.graded, level=level, cutoff=judged_at, pooled=pooled)
    rows: list[Mapping[str, Cell]] = []
    for run, tag in enumerate(found.rankings.tags):
        no_pool = NO_POOL if pooled is None else _why(of_runs.inferred_ap, run)
        judged = _number(of_runs.judged[run])
        none = "no-documents" if judged is None else None
        rows.append({
            "run": tag, "bpref": _number(of_runs.bpref.overall[run]),
            "infap": None if no_pool else _number(of_runs.inferred_ap.overall[run]),
            "judged": judged, "unj": _number(of_runs.unjudged[run]),
            "reason": _joined(_why(of_runs.bpref, run), no_pool, none),
        })  # fmt: skip
    columns = [
        Column("run"), Column("bpref"), Column("infap", "infAP"),
        Column("judged", f"judged@{judged_at}"), Column("unj", f"unj_{judged_at}"),
        Column("reason"),
    ]  # fmt: skip
    words = [
        "bpref passes over what is unjudged. infAP takes an unjudged document of the pool to be as"
        " likely relevant as the judged ones above it, which holds for a random sample of the pool,"
        " and one outside for not relevant.",
        f"judged@{judged_at}, as ir_measures has it: share of judged documents among the first"
        f" {judged_at:,} that there are. unj_{judged_at}, as trec_eval has it: share of"
        f" {judged_at:,} ranks that hold an unjudged document; where a list is shorter, the ranks"
        " below its end hold none.",
        *_codes(rows),
    ]
    return Table("coverage", columns, rows, title="runs and gaps", caption=legend(words))


def _rows(one: Readings, tags: Sequence[str]) -> list[Mapping[str, Cell]]:
    """Make the rows of one measure."""
    rows: list[Mapping[str, Cell]] = []
    for run, tag in enumerate(tags):
        rows.append({
            "run": tag, "measure": str(one.scores.measure),
            "score": _of_run(one.scores, run, one.scores.overall),
            "judged_only": _of_run(one.judged_only, run, one.judged_only.overall),
            "low": _of_run(one.scores, run, one.low),
            "high": _of_run(one.scores, run, one.high),
            "residual": _of_run(one.scores, run, one.residual),
            "reason": _joined(
                _why(one.scores, run), _why(one.judged_only, run),
                NO_BOUNDS if one.low is None else None,
            ),
        })  # fmt: skip
    return rows


def _readings_words(everything: Sequence[Readings], scale: Sequence[int]) -> str:
    """Say what the columns mean."""
    words = [
        "as judged: unjudged documents count as not relevant. judged only: they are deleted and"
        " the others move up, which favours runs that did not feed the pool. low, high: over all"
        f" grades from {min(scale)} to {max(scale)} that the unjudged documents of the lists may"
        " have."
    ]
    if any(one.residual is not None for one in everything):
        words.append(
            "RBP residual: what unjudged documents could add, and all that would follow below the"
            " end of each list; high looks at the list as it stands."
        )
    rows = [row for one in everything for row in _rows(one, ("",) * one.scores.overall.size)]
    return legend([*words, *_codes(rows)])


def _codes(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """Explain the reasons that stand in some rows."""
    seen = {code for row in rows for code in str(row["reason"] or "").split(", ")}
    return [f"{code}: {words}." for code, words in CODES.items() if code in seen]


def _of_run(scores: Scores, run: int, values: NDArray[np.float64] | None) -> float | int | None:
    """Return a value of a run, a count as a whole number; ``None`` where it is undefined."""
    if values is None or not scores.n_defined[run] or np.isnan(values[run]):
        return None
    return int(values[run]) if scores.is_sum else float(values[run])


def _why(scores: Scores, run: int) -> str | None:
    """Say why a run has no score."""
    return None if scores.n_defined[run] else scores.reason(run, 0)


def _joined(*reasons: str | None) -> str | None:
    """Write several reasons, each once."""
    return ", ".join(dict.fromkeys(reason for reason in reasons if reason)) or None


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a pool of a fixed size was made."""

    strategy: FixedStrategy
    parameters: Mapping[str, ParameterValue]
    depth: int
    budget: int | None
    """Documents of each topic; ``None`` = all."""
    runs: frozenset[str]
    """Tags of the runs that fed it."""
    sizes: Mapping[str, int]
    """Documents of each topic that it had."""

    def plan(self, judged: Judged, rankings: JudgedRankings, advance: Callable[[int], None]) -> PoolPlan:
        """Make the plan, and make sure that it makes the pool that was judged.

        Raises
        ------
        PoolerError
            If it does not.
        """
        if self.runs != {*judged.feeding}:
            other = sorted(self.runs ^ {*judged.feeding})[0]
            did = "fed it and is not here" if other in self.runs else "is here and did not feed it"
            message = f"the pool cannot be made again: run `{other}` {did}"
            raise PoolerError(message, hint="--repool needs all runs that contribute, as they did")
        topics = judged_topics(
            judged.ranked, judged.qrels, level=judged.level, depth=self.depth, feeding=self.runs
        )
        feeding = np.array([tag in self.runs for tag in rankings.tags])
        plan = PoolPlan(self, rankings, topics, feeding=feeding, advance=advance)
        whole = plan(np.ones(len(rankings.tags), np.bool_))
        for topic, pool in zip(rankings.topics, whole, strict=True):
            there, was = int(np.count_nonzero(pool)), self.sizes.get(topic, 0)
            if there != was:
                message = (
                    f"the pool cannot be made again: topic `{topic}` has {there:,} documents, and had {was:,}"
                )
                raise PoolerError(message, hint="runs have changed since the pool was made")
        return plan


def recipe_of(manifest: Mapping[str, Any], *, order: str) -> Recipe | str:
    """Read how a pool was made.

    Parameters
    ----------
    manifest : mapping
        Of the pool.
    order : str
        The rank order that runs are read in now.

    Returns
    -------
    Recipe or str
        A string says why it cannot be made again without a run.
    """
    strategy: AnyStrategy | None = None
    if manifest.get("tool") == "pooler":
        strategy = find_strategy(manifest["strategy"])
    why = None
    if strategy is None:
        why = "it was not made here"
    elif not isinstance(strategy, FixedStrategy):
        why = f"what `{strategy.name}` draws next hangs on judgements or on chance"
    elif strategy.uses_scores:
        why = f"`{strategy.name}` looks at scores, which are not read here"
    elif "total_budget" in manifest:
        why = "its budget was shared among all topics, judged or not"
    elif "without" in manifest:
        why = "it left out what another pool had"
    elif manifest["order"] != order:
        why = f"its runs were in order {manifest['order']} (--order {manifest['order']})"
    if why is not None or not isinstance(strategy, FixedStrategy):
        return why or ""
    parameters = dict(manifest["parameters"])
    depth = parameters.pop("depth")
    return Recipe(
        strategy=strategy,
        parameters=strategy.complete(parameters),
        depth=depth,
        budget=manifest.get("budget"),
        runs=frozenset(run["tag"] for run in manifest["runs"] if run["contributes"]),
        sizes=manifest["sizes"],
    )


class PoolPlan:
    """From which runs there are to which documents are pooled: `store.analysis.pools.contributions.Plan`.

    Parameters
    ----------
    recipe : Recipe
        How the pool was made.
    rankings : JudgedRankings
        All runs.
    topics : sequence of JudgedTopic
        The first documents of the runs that feed the pool, topics as in `rankings`.
    feeding : ndarray of bool, shape (n_runs,)
        Which runs those are.
    advance : callable, optional
        Called with 1 for each pool that was made.
    """

    def __init__(
        self,
        recipe: Recipe,
        rankings: JudgedRankings,
        topics: list[JudgedTopic],
        *,
        feeding: NDArray[np.bool_],
        advance: Callable[[int], None] | None = None,
    ) -> None:
        self._recipe = recipe
        self._advance = advance
        # Rows of a topic's rankings are the feeding runs by tag, without those that lack the topic.
        by_tag = sorted(np.flatnonzero(feeding).tolist(), key=rankings.tags.__getitem__)
        self._rows = [
            np.array([row for row in by_tag if rankings.lengths[row, place]], np.int64)
            for place in range(len(topics))
        ]
        self._topics = [topic.rankings for topic in topics]
        self._sizes = [one.size for one in rankings.standing]
        self._codes = []
        for place, (one, rows) in enumerate(zip(self._topics, self._rows, strict=True)):
            codes = np.zeros(one.n_documents, np.int64)
            # The same ranks hold the same documents, by number here and by code there.
            is_there = one.documents != NO_DOCUMENT
            theirs = rankings.documents[rows, place, : one.depth]
            codes[one.documents[is_there]] = theirs[is_there]
            self._codes.append(codes)

    def __call__(self, kept: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """Return the documents that are pooled from the runs that are kept, by code."""
        pools = []
        for one, rows, codes, size in zip(self._topics, self._rows, self._codes, self._sizes, strict=True):
            of_topic = np.zeros(size, np.bool_)
            documents = one.documents[kept[rows]]
            present = np.unique(documents[documents != NO_DOCUMENT])
            if present.size:
                of_topic[codes[present[self._chosen(one, documents, present)]]] = True
            pools.append(of_topic)
        if self._advance is not None:
            self._advance(1)
        return pools

    def _chosen(
        self, topic: TopicRankings, documents: NDArray[np.int32], present: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Return places in `present` of the documents that are pooled."""
        width = int((documents != NO_DOCUMENT).sum(axis=1).max())
        numbers = np.searchsorted(present, documents[:, :width]).astype(np.int32)
        numbers[documents[:, :width] == NO_DOCUMENT] = NO_DOCUMENT
        again = replace(topic, documents=numbers, n_documents=int(present.size))
        values = self._recipe.strategy.values(again, **self._recipe.parameters)
        return descending(values)[: self._recipe.budget]


_HINT = "without --repool, what a run alone brought within the depth is taken away"


def check_pools(given: Given, *, repool: bool, depth: int | None) -> Recipe | None:
    """Say where pools of the collection are no depth pools, and how they can be made again.

    Parameters
    ----------
    given : Given
        What the user named.
    repool : bool
        Whether the pool shall be made again without each run.
    depth : int or None
        That the user named.

    Returns
    -------
    Recipe or None
        With `repool`, how the pool was made; ``None`` = by depth alone.

    Raises
    ------
    PoolerError
        If `repool` and the pool cannot be made again.
    """
    if given.qrels is not None:
        return None
    with Collection(given.collection) as opened:
        pools = [pool for pool in opened.pools.all() if not pool.withdrawn]
    others = [f"pool `{pool.name}` {made}" for pool in pools if (made := made_otherwise(pool.manifest))]
    if not others:
        return None
    what = "; ".join(others)
    if repool:
        recipe: Recipe | str = "there are others beside it"
        if len(pools) == 1:
            recipe = recipe_of(pools[0].manifest, order=given.order.value)
        if isinstance(recipe, Recipe) and depth not in (None, recipe.depth):
            recipe = f"its depth is {recipe.depth:,}, not {depth:,}"
        if isinstance(recipe, str):
            message = f"{what}; it cannot be made again without a run: {recipe}"
            raise PoolerError(message, hint=_HINT)
        return recipe
    if depth is None:
        warn(f"{what}: what follows looks at a depth pool of the same runs; --depth N says which")
    if any(is_sampled(pool.manifest) for pool in pools):
        say("`pooler estimate` scores runs by a sample of a pool")
    return None


def made_otherwise(manifest: Mapping[str, Any]) -> str | None:
    """Say how a pool was made; ``None`` = by depth alone."""
    strategy = manifest.get("strategy")
    budgets = {"documents a topic": manifest.get("budget"), "documents in all": manifest.get("total_budget")}
    limits = [f"{size:,} {what}" for what, size in budgets.items() if size is not None]
    if strategy == "depth" and not limits:
        return None
    by = f"was made by `{strategy}`" if strategy else "was not made here"
    return f"{by} with {limits[0]}" if limits else by


def is_sampled(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a pool is a sample."""
    name = manifest.get("strategy")
    return name in STRATEGIES and isinstance(STRATEGIES[name], SamplingStrategy)
