"""What `pooler pool` says of a pool on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooler.cli.adaptive_words import idle_words, way_out
from pooler.cli.console import counted, say, warn

if TYPE_CHECKING:
    from collections.abc import Set

    from pooler.pool_statistics import PoolStatistics
    from store.seats import Workloads

BARE_SHOWN = 10
"""Topics without a pooled document are named up to this many."""
TOPICS_SHOWN = 60
"""Pool sizes are listed topic by topic up to this many topics."""


def report(facts: PoolStatistics, manifest: dict[str, Any]) -> None:
    """Say how large a pool is, where ties were cut, and how far runs overlap."""
    depth, strategy = manifest["parameters"]["depth"], manifest["strategy"]
    sizes = list(facts.sizes.values())
    n_runs = sum(run["contributes"] for run in manifest["runs"])
    least, most = min(sizes, default=0), max(sizes, default=0)
    spread = f", {least:,} to {most:,} a topic" if least < most else f", {most:,} a topic"
    by = "" if strategy == "depth" else f"{strategy}, "
    say(f"{counted(facts.total, 'pair')} to judge in {counted(len(sizes), 'topic')}{spread};"
        f" {by}depth {depth} of {counted(n_runs, 'run')}")  # fmt: skip
    if len(sizes) <= TOPICS_SHOWN:
        say("  " + ", ".join(f"{topic}: {size:,}" for topic, size in facts.sizes.items()))
    alone = facts.overlap.get(1, 0)
    if facts.total:
        returned = sum(count * pairs for count, pairs in facts.overlap.items())
        say(f"{alone:,} of them ({_percent(alone, facts.total)}) come from one run only; on average"
            f" {returned / facts.total:.1f} runs bring a document")  # fmt: skip
    if facts.n_not_sampled:
        say(f"{counted(facts.n_not_sampled, 'pair')} more stand in the strata, not sampled (in a"
            " collection, `pooler export prels` lists them)")  # fmt: skip
    warn_of_runs(facts, manifest)


def warn_of_bare_topics(known: Set[str], pooled: Set[str], retrieved: Set[str]) -> None:
    """Warn of topics that have no pooled document, and of those that no run retrieved any for.

    Parameters
    ----------
    known : set of str
        Topics that a topics file named; empty = there is none, and nothing to warn of.
    pooled : set of str
        Topics with a document in any pool, or one that may be drawn.
    retrieved : set of str
        Topics of the runs that contribute.
    """
    from store.natural_order import natural_key

    bare = sorted(known - pooled, key=natural_key)
    if not bare:
        return
    named = ", ".join(bare[:BARE_SHOWN])
    named += f" and {len(bare) - BARE_SHOWN:,} more" if len(bare) > BARE_SHOWN else ""
    words = f"{len(bare):,} of {counted(len(known), 'topic')} without a pooled document: {named}"
    n_missed = len(set(bare) - retrieved)
    if n_missed:
        which = "" if n_missed == len(bare) else f" for {n_missed:,} of them"
        words += f"; no contributing run has a document{which}"
    warn(words)


def _percent(part: int, whole: int) -> str:
    """Write a share in whole percent; 0% is none of it, and 100% all.

    Examples
    --------
    >>> _percent(59_694, 59_846), _percent(1, 1_000), _percent(1, 4), _percent(7, 7)
    ('over 99%', 'under 1%', '25%', '100%')
    """
    if part == 0 or part == whole:
        return f"{part / whole:.0%}"
    if 200 * part <= whole:
        return "under 1%"
    if 200 * (whole - part) <= whole:
        return "over 99%"
    return f"{part / whole:.0%}"


def report_adaptive(
    facts: PoolStatistics,
    manifest: dict[str, Any],
    budgets: dict[str, int],
    *,
    workloads: Workloads,
) -> None:
    """Say what an adaptive pool will draw from; warn that nobody draws where anything is assigned.

    Parameters
    ----------
    facts : PoolStatistics
        Of the runs.
    manifest : dict
        The pool's.
    budgets : dict of str to int
        The most documents that may be drawn, by topic.
    workloads : Workloads
        What is assigned to judges.
    """
    depth, strategy = manifest["parameters"]["depth"], manifest["strategy"]
    n_runs = sum(run["contributes"] for run in manifest["runs"])
    verb = "could" if workloads.is_assigned else "will"
    say(f"{strategy} {verb} draw up to {counted(sum(budgets.values()), 'document')} in"
        f" {counted(len(budgets), 'topic')}, one by one as they are judged; a hit is grade"
        f" {manifest['level']} or more; depth {depth} of {counted(n_runs, 'run')}")  # fmt: skip
    warn_of_runs(facts, manifest, budgets)
    if workloads.is_assigned:
        warn(f"{idle_words([manifest['name']])}; {way_out(workloads)}")


def warn_of_runs(
    facts: PoolStatistics, manifest: dict[str, Any], budgets: dict[str, int] | None = None
) -> None:
    """Warn of ties at the cut, short rankings, budgets that cannot be spent, constant scores."""
    depth = manifest["parameters"]["depth"]
    if facts.ties_at_cut:
        worst = max(facts.ties_at_cut, key=lambda tie: tie.n_in + tie.n_out)
        warn(
            f"{len(facts.ties_at_cut):,} of {facts.n_rankings:,} rankings tie across depth"
            f" {depth}, so the order decided, as in: {worst.n_in + worst.n_out} documents of run"
            f" {worst.tag} in topic {worst.topic}: {worst.n_in} in, {worst.n_out} out"
        )
    if facts.n_short:
        warn(
            f"{facts.n_short:,} of {facts.n_rankings:,} rankings have fewer than {depth} documents"
        )
    if facts.n_below_budget:
        warn(
            f"{counted(facts.n_below_budget, 'topic')} of {len(facts.sizes):,} have fewer documents"
            " than the budget: all are taken"
        )
    if manifest.get("total_budget", 0) > max(facts.total, sum((budgets or {}).values())):
        warn(f"there are fewer documents than the budget of {manifest['total_budget']:,}")
    if facts.n_constant:
        warn(
            f"{facts.n_constant:,} of {facts.n_rankings:,} rankings have one score throughout,"
            " which counts as 0.5"
        )
