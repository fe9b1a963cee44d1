"""The tables of `pooler diagnose`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pooler.cli.agreement_words import legend
from pooler.cli.console import Cell, Column, Format, Table, counted
from pooler.cli.dossier import emit_dossier
from store.analysis.diagnosis import Diagnosis, LeftOut
from store.analysis.leave_out import NOT_RANKED

_SOURCES = {
    "given": "as given",
    "pool": "as the collection was pooled",
    "inferred": "as the judgements look",
}


def show(
    found: Diagnosis,
    groups: Mapping[str, str],
    fmt: Format,
    *,
    judged_at: int,
    by_group: bool,
) -> None:
    """Print the facts of the pool, and a row for every run."""
    left = None if found.pool is None else found.pool.by_run
    if by_group and found.pool is not None and found.pool.by_group is not None:
        left = found.pool.by_group
    emit_dossier(_facts(found, left), [_runs(found, left, groups, fmt, judged_at)], fmt)


def _facts(found: Diagnosis, left: LeftOut | None) -> dict[str, Cell]:
    """Say what the pool is."""
    rankings, pool = found.rankings, found.pool
    judged = [int(np.count_nonzero(one >= 0)) for one in rankings.standing]
    facts: dict[str, Cell] = {
        "diagnosis": f"{counted(len(rankings.tags), 'run')}, {counted(len(judged), 'topic')}",
        "judged": sum(judged),
        "relevant": int(rankings.n_relevant.sum()),
    }
    if pool is None or left is None:
        return facts | {"depth": None, "reason": found.reason}
    errors, missed = left.errors, pool.missed
    facts |= {
        "depth": pool.depth,
        "depth_known": _SOURCES[pool.source],
        "contributing_runs": int(pool.contributing.sum()),
        "pool": pool.n_pairs,
        "pool_judged": pool.n_judged,
        "judged_outside_pool": pool.n_outside,
        "unique": int(pool.by_run.unique.sum()),
        "mean_change_left_out": errors.mae,
        "rank_changes_left_out": errors.sre,
        "rank_changes_significant": errors.sre_significant,
        "tau_all_left_out": errors.tau_b.tau,
        "tau_ap_all_left_out": errors.tau_ap.tau,
        "newcomer_loses": pool.adjusted.bias,
        "relevant_to_twice_the_depth": missed.expected,
        "relevant_low": missed.low,
        "relevant_high": missed.high,
        "relevant_known_there": missed.n_known,
    }
    if missed.reason is not None:
        facts["reason"] = missed.reason
    return facts


def _runs(
    found: Diagnosis,
    left: LeftOut | None,
    groups: Mapping[str, str],
    fmt: Format,
    judged_at: int,
) -> Table:
    """Make a row for every run."""
    scores, pool = found.scores, found.pool
    lower, _, upper = scores.bounds.means()
    change = None if left is None else left.scores.difference()
    rows: list[Mapping[str, Cell]] = []
    for run, tag in enumerate(found.rankings.tags):
        row: dict[str, Cell] = {
            "run": tag, "group": groups.get(tag) or None,
            "ap": _number(scores.ap.overall[run]), "bpref": _number(scores.bpref.overall[run]),
            "condensed": _number(scores.condensed_ap.overall[run]),
            "judged": _number(scores.judged.overall[run]),
            "low": _number(lower[run]), "high": _number(upper[run]),
        }  # fmt: skip
        if pool is not None and left is not None and change is not None:
            late = left.scores
            name = int(late.withdrawn.owners[run])
            feeds = bool(pool.contributing[run])
            row |= {
                "contributes": feeds, "unique": int(left.unique[name]) if feeds else None,
                "unique_relevant": int(late.n_relevant[name]) if feeds else None,
                "ap_left_out": _number(late.score_after[run]), "change": _number(change[run]),
                "rank": _rank(late.rank_before[run]), "rank_left_out": _rank(late.rank_after[run]),
                "tau": _number(late.tau_b[name]), "adjusted": _number(pool.adjusted.scores[run]),
            }  # fmt: skip
        rows.append(row)
    columns = [
        Column("run"), Column("group", can_go=True), Column("contributes", "fed", can_go=True),
        Column("judged", f"judged@{judged_at}"), Column("ap", "AP"), Column("bpref", can_go=True),
        Column("condensed", "judged AP", can_go=True), Column("low"), Column("high"),
        Column("unique"), Column("unique_relevant", "relevant"), Column("ap_left_out"),
        Column("change"), Column("rank"), Column("rank_left_out", "late"), Column("tau"),
        Column("adjusted"),
    ]  # fmt: skip
    there = {name for row in rows for name in row}
    hidden = {"ap_left_out", "adjusted", "tau"} if fmt is Format.TABLE else set()
    shown = [column for column in columns if column.name in there - hidden]
    return Table("runs", shown, rows, caption=legend(_words(found, left, judged_at)))


def _words(found: Diagnosis, left: LeftOut | None, judged_at: int) -> list[str]:
    """Say what the columns mean, and what follows."""
    words = [
        f"judged@{judged_at}: share of the first {judged_at:,} documents that are judged. judged"
        " AP: AP of the judged documents alone. low, high: the least and the most that AP could be,"
        " whatever the unjudged documents are.",
    ]
    pool = found.pool
    if pool is None or left is None:
        return words
    of_groups = left is pool.by_group
    who = "no other group" if of_groups else "no other run"
    words.append(
        f"unique, relevant: documents, and relevant ones, that {who} brought to the pool."
        " change: of AP, had they not been judged; rank, late: the place among all runs, and then."
    )
    if left.mean_loss is not None and left.worst is not None:
        with_group = " and its group" if of_groups else ""
        errors = left.errors
        words.append(
            f"Late, a run of the pool{with_group} would lose {left.mean_loss:.4f} of AP on average"
            f" and {-left.scores.difference()[left.worst]:.4f} at most"
            f" ({found.rankings.tags[left.worst]}); {left.n_moved:,} of"
            f" {counted(errors.n_runs, 'run')} would change place. Of the"
            f" {counted(errors.sre, 'place')} lost to another run, {errors.sre_significant:,} are"
            " lost to one that is significantly different."
        )
    missed = pool.missed
    if missed.expected is not None and missed.low is not None and missed.high is not None:
        words.append(
            f"If what new depths bring goes on falling as it does, ranks {pool.depth + 1:,} to"
            f" {missed.to_depth:,} hold some {missed.expected:,.0f} relevant documents"
            f" ({missed.low:,.0f} to {missed.high:,.0f}; {missed.n_known:,} are known): a guess."
        )
    return words


def _number(value: float) -> float | None:
    """Return a number, or ``None`` where it is undefined."""
    return None if np.isnan(value) else float(value)


def _rank(rank: int) -> int | None:
    """Return a rank, or ``None`` of a run without a score."""
    return None if rank == NOT_RANKED else int(rank)
