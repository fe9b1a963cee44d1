"""The tables of `pooler diagnose`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pooler.cli.agreement_words import legend
from pooler.cli.console import Cell, Column, Format, Table, counted
from pooler.cli.diagnosis_words import conclusions
from pooler.cli.dossier import emit_dossier
from store.analysis.diagnosis import DepthPool, Diagnosis, LeftOut
from store.analysis.leave_out import NOT_RANKED

LEAST_RANKS = 20
"""Ranks that are shown where nobody says how many, however shallow the pool."""
_SOURCES = {
    "given": "as given",
    "pool": "as the collection was pooled",
    "inferred": "as the judgements look",
}


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


def show(
    found: Diagnosis,
    groups: Mapping[str, str],
    fmt: Format,
    *,
    judged_at: int,
    by_group: bool | None = None,
    by_topic: bool = False,
    by_rank: bool = False,
    by_contributors: bool = False,
    limit: int | None = None,
    scores: Sequence[Table] = (),
) -> None:
    """Print the facts of the pool, a row for every run, more tables, and what follows."""
    left = chosen_left(found, by_group=by_group)
    tables = [runs_table(found, left, groups, fmt, judged_at), *scores]
    if by_topic:
        tables.append(topics_table(found))
    if by_rank:
        tables.append(ranks_table(found, limit))
    if by_contributors and found.pool is not None:
        tables.append(contributors_table(found))
    follows = legend(f"- {sentence}" for sentence in conclusions(found, left, judged_at))
    tables[-1].caption = f"{tables[-1].caption}\n\n{follows}"
    emit_dossier(facts(found, left), tables, fmt)


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
    found: Diagnosis,
    left: LeftOut | None,
    groups: Mapping[str, str],
    fmt: Format,
    judged_at: int,
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
        " whatever the unjudged documents of the run's own list are.",
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
        + "; rank, late: the place among all runs, and then."
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
        words.append("new: those that no run of the pool has further up; down to the rank"
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
