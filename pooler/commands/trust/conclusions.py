"""What follows from a diagnosis, in sentences: for `pooler diagnose` and the report."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pooler.tables import listed
from store.analysis.pools.diagnosis import (
    GUESSABLE,
    MOSTLY_OUTSIDE,
    DepthPool,
    LeftOut,
    PoolDiagnosis,
    overlaps,
)
from store.analysis.pools.leave_out import SIGNIFICANT
from store.analysis.run_order import TIED_MAP
from store.text import counted, percent, rough

SUFFERS = 0.05
"""Share of its own AP from which on a run that loses it is named."""
WELL_JUDGED = 0.9
"""Share of the first documents below which a run is named for being judged poorly."""
FEW_RELEVANT = 5
"""Relevant documents below which the AP of a topic hangs on single ones."""
FEW_ENTERING = 100
"""Documents of the last rank below which their share of relevant ones is a rough one."""
STILL_RELEVANT = 0.05
"""Share of relevant documents among what the last rank brought from which on a pool ended early."""
FEW_UNJUDGED = 0.1
"""Share of unjudged documents in a pool below which equal scores may be why they were not pooled."""
MOSTLY_JUDGED = 0.95
"""Share of judged documents down to a rank from which on the pool may have been that deep."""


class Alarm(str):
    """A conclusion about what may be wrong; a plain text neither alarms nor reassures."""

    __slots__ = ()


class Comfort(str):
    """A conclusion that reassures."""

    __slots__ = ()


REASONS = {
    "no-documents": "no run has a document for any judged topic",
    "all-judged": "every list is judged to its end",
    "none-judged": "no run has its first document judged in every topic, so the judgements do not"
    " look like the first documents of some runs",
    "no-contributing-run": "no run that fed it is known; a list of runs (--runs FILE) can say which did",
}
"""Why there is no pool to look at."""
NO_GUESS = {
    "fewer-than-three-depths": "a pool of fewer than three ranks shows no trend",
    "no-relevant": "the pool holds no relevant document",
    "not-falling": "deeper ranks bring as many relevant documents as the first ones, or more",
}
"""Why there is no guess of what lies below the pool."""


def conclusions(found: PoolDiagnosis, left: LeftOut | None, judged_at: int) -> Iterator[str]:
    """Say what a careful organiser concludes, in whole sentences with their numbers, those on the pool first.

    A threshold stands in the sentence that depends on it. `judged_at`: the ranks of ``found.scores.judged``.
    """
    pool = found.pool
    if pool is None or left is None:
        yield _no_pool(found)
    else:
        yield from _pool_judged(found, pool)
        yield from _guessed(found, pool)
        yield from _uniques(pool, left)
        yield from _newcomers(found, pool, left)
        yield from _deeper(pool)
    yield from _limits(found)
    yield from _topics(found)
    yield from _poorly_judged(found, judged_at)


def _no_pool(found: PoolDiagnosis) -> str:
    guess = found.bad_guess
    if guess is not None:
        first = "first document" if guess.depth == 1 else f"first {guess.depth:,} documents"
        n_judged = int(found.topics.judged.sum())
        options = ["--depth N can state how deep the pool is"] if guess.is_depth_guessed else []
        if not found.knows_runs:
            options.append("--runs FILE with a column `contributes` can say which runs fed it")
        return Alarm(
            f"Nothing is concluded about the pool: from these runs it would be the {first} of"
            f" {counted(guess.n_runs, 'run')}, but {guess.n_outside:,} of"
            f" {counted(n_judged, 'judged document')} ({percent(guess.n_outside, n_judged)}; more than"
            f" {percent(MOSTLY_OUTSIDE, 1)}) are not among those, so other runs or ranks made it."
            f" {'; '.join(options)}."
        )
    hint = " --depth N says how deep the pool is." if found.reason in ("all-judged", "none-judged") else ""
    return Alarm(f"There is no depth pool to look at: {REASONS[str(found.reason)]}.{hint}")


def _pool_judged(found: PoolDiagnosis, pool: DepthPool) -> Iterator[str]:
    n_runs = int(pool.contributing.sum())
    first = "first document" if pool.deepest == 1 else f"first {pool.span} documents"
    what = f"the {first} of {'each of ' if n_runs > 1 else ''}{counted(n_runs, 'run')}"
    unjudged = pool.n_unjudged
    if unjudged:
        few = pool.n_open < unjudged < FEW_UNJUDGED * pool.n_pairs
        order = (
            f" So few (under {percent(FEW_UNJUDGED, 1)}) may be due to equal scores put in another order"
            " when the pool was made: try --order."
        )
        yield Alarm(
            f"{unjudged:,} of {counted(pool.n_pairs, 'pooled document')}"
            f" ({percent(unjudged, pool.n_pairs)}) are unjudged; the pool is {what}. Scores count them as"
            " not relevant: look at their limits and at bpref as well, or judge the rest." + order * few
        )
    else:
        yield Comfort(f"All {counted(pool.n_pairs, 'document')} of the pool, {what}, are judged.")
        whose = "that run" if n_runs == 1 else f"these {n_runs:,} runs"
        but = "a grade changes; AP, recall and nDCG are not, since they also depend on what was missed"
        what = f"P@{pool.depth:,}"
        if pool.depth > 1:
            what += f", and any other measure that looks only at the first {pool.depth:,} and does not ask"
            what += " how many relevant documents there are,"
        ranks = np.minimum(found.rankings.lengths, pool.depth)[pool.contributing].sum()
        if ranks == found.graded.judged[pool.contributing, :, : pool.depth].sum():
            yield f"{what} is final for {whose} unless {but}."
        else:
            yield (
                "Equal scores are in another order here than in the pool (--order): not all of the first"
                f" {pool.depth:,} documents by score are judged."
            )
    n_judged = int(found.topics.judged.sum())
    if pool.n_outside > MOSTLY_OUTSIDE * n_judged:
        reached, deeper = found.ranks.judged_down_to(MOSTLY_JUDGED), ""
        if reached is not None and reached[0] > pool.deepest:
            rank, documents, judged = reached
            share = percent(judged, documents)
            deeper = f" Down to rank {rank:,}, {share} of the documents of all runs are judged."
        order = "" if pool.source == "pool" else ", or were equal scores put in another order (--order)"
        yield Alarm(
            f"Most judged documents, {pool.n_outside:,} of {n_judged:,}, are not in the pool (more than"
            f" {percent(MOSTLY_OUTSIDE, 1)}), so this is hardly the pool that was judged. Is its depth"
            f" different (--depth), did other runs feed it (--runs){order}?{deeper}"
        )
    elif pool.n_outside:
        verb = "is" if pool.n_outside == 1 else "are"
        yield (
            f"{counted(pool.n_outside, 'judged document')} {verb} not in the pool and came from elsewhere:"
            " other runs, deeper ranks, another round."
        )


def _guessed(found: PoolDiagnosis, pool: DepthPool) -> Iterator[str]:
    what, options = [], []
    if pool.source == "inferred":
        what.append(f"that the pool has depth {pool.depth:,}")
        options.append("--depth N")
    if not found.inferred.pooled[pool.contributing].all() and not found.knows_runs:
        yield Alarm(
            f"No run has all of its first {pool.depth:,} documents judged in every topic, so all runs are"
            " assumed to have fed the pool. --runs FILE with a column `contributes` can say."
        )
        return
    if not found.knows_runs:
        runs = int(pool.contributing.sum())
        what.append(f"that {'this run' if runs == 1 else f'these {runs:,} runs'} fed the pool")
        options.append("--runs FILE with a column `contributes`")
    if what:
        verb = "is a guess" if len(what) == 1 else "are guesses"
        yield (
            f"{' and '.join(what).capitalize()} {verb} from the judgements: the first documents of"
            f" these runs are judged in every topic. {' and '.join(options)} can say."
        )


def _newcomers(found: PoolDiagnosis, pool: DepthPool, left: LeftOut) -> Iterator[str]:
    if left.mean_loss is None or left.worst is None:
        return
    of_groups = left is pool.by_group
    late, tags = left.scores, found.rankings.tags
    loss = -late.difference()
    errors = left.errors
    late_is = f"Had it been submitted late{', with its whole group' * of_groups}"
    rows = np.flatnonzero(pool.contributing & ~np.isnan(loss))
    moved = f"{left.n_moved:,} of {counted(errors.n_runs, 'run')} would change place."
    loses = "no pooled run would lose any MAP"
    if loss[left.worst] > TIED_MAP:
        loses = f"a pooled run would lose {rough(left.mean_loss)} of MAP on average and"
        loses += f" {rough(loss[left.worst])} at most ({tags[left.worst]})"
    yield f"{late_is}, {loses}; {moved}"
    alone = pool.by_run
    if of_groups and alone.mean_loss is not None and alone.worst is not None:
        most, worst = -float(alone.scores.difference()[alone.worst]), tags[alone.worst]
        one = f"they would lose {rough(alone.mean_loss)} on average and {rough(most)} at most ({worst})"
        yield (
            "Runs are left out with their whole group, since runs of one group bring the same documents and"
            f" shield each other; one at a time {one if most > TIED_MAP else 'none would'}."
        )
    if errors.sre:
        n_topics = counted(int((found.topics.relevant > 0).sum()), "topic")
        past = errors.sre_significant
        placed = ", with each ranked among the present scores of all others" * of_groups
        yield (
            f"In all{placed}, runs would move by {counted(errors.sre, 'place')},"
            f" {past or 'none'} of them past a run whose scores differ significantly (paired t-test"
            f" over {n_topics}, p < {SIGNIFICANT})."
        )
    suffering = losing(pool, left)
    bound = percent(SUFFERS, 1)
    if not suffering.size:
        fair = ": a new run like them is treated fairly; about one unlike them, nothing is known."
        if pool.n_judged < pool.n_pairs:
            fair = ", but not all that they brought was judged: new runs may lose more."
        yield Comfort(f"No run would lose {bound} of its AP or more{fair}")
        return
    order = suffering[np.argsort(-loss[suffering], kind="stable")].tolist()
    shares = [percent(loss[row], late.score_before[row]) for row in order]
    names = [f"{tags[row]} ({rough(loss[row])}, {share})" for row, share in zip(order, shares, strict=True)]
    yield Alarm(
        f"{len(order):,} of {counted(len(rows), 'run')} would lose {bound} of their AP or more:"
        f" {listed(names)}. A new system that differs as much from the others would be scored too low by"
        " as much: judge what only it brings before comparing it."
    )


def losing(pool: DepthPool, left: LeftOut) -> NDArray[np.int64]:
    """Return the runs of the pool that would lose `SUFFERS` of their AP or more, had they come late."""
    return np.flatnonzero(pool.contributing & (np.nan_to_num(-left.scores.relative(), nan=0.0) >= SUFFERS))


def _uniques(pool: DepthPool, left: LeftOut) -> Iterator[str]:
    relevant, alone = int(pool.brought.relevant.sum()), int(pool.brought.relevant[1])
    if not relevant:
        return
    number, by = alone, "one run only"
    if left is pool.by_group:
        number = int(left.unique_relevant.sum())
        by = f"one group only, {alone:,} ({percent(alone, relevant)}) by one run only"
    yield (
        f"{number:,} of {counted(relevant, 'relevant document')} of the pool"
        f" ({percent(number, relevant)}) were brought by {by}."
    )


def _deeper(pool: DepthPool) -> Iterator[str]:
    last = pool.missed.depth - 1
    entering = int(pool.first.judged[:, last].sum())
    relevant = int(pool.first.relevant[:, last].sum())
    if entering:
        is_many = relevant >= STILL_RELEVANT * entering
        mark = f"{percent(STILL_RELEVANT, 1)} or more {'is' if is_many else 'would be'}"
        few = " With so few, the share is a rough one." if entering < FEW_ENTERING else ""
        whose = "of the pool" if pool.depth == pool.deepest else "that all runs of the pool share"
        weight = Alarm if is_many else Comfort
        yield weight(
            f"Rank {last + 1:,}, the last {whose}, {'still ' * is_many}brought"
            f" {counted(relevant, 'relevant document')} among {entering:,} judged ones"
            f" ({percent(relevant, entering)}; {mark} a sign that the pool ended too early).{few}"
        )
    if pool.missed.reason == "pool-unjudged":
        share = percent(pool.n_unjudged, pool.n_pairs)
        yield (
            f"What lies below the pool cannot be estimated: {share} of it are unjudged (more than"
            f" {percent(1 - GUESSABLE, 1)}), and so is the trend."
        )
        return
    missed = pool.missed
    if missed.expected is None or missed.low is None or missed.high is None:
        yield f"What lies below the pool cannot be estimated: {NO_GUESS[str(missed.reason)]}."
        return
    lists_end = "" if missed.n_unjudged else " because their lists end there"
    gaps = (
        ", and probably too low because not all of the pool was judged"
        if pool.n_judged < pool.n_pairs
        else ""
    )
    yield (
        f"If deeper ranks keep bringing fewer at the same rate, ranks {missed.depth + 1:,} to"
        f" {missed.to_depth:,} hold some {missed.expected:,.0f} relevant documents ({missed.low:,.0f} to"
        f" {missed.high:,.0f}; {missed.n_known:,} are known, and these runs have {missed.n_unjudged:,}"
        f" unjudged documents there{lists_end}): a guess about unseen documents{gaps}, never"
        " a number to score with."
    )


def _limits(found: PoolDiagnosis) -> Iterator[str]:
    lower, scores, upper = found.scores.bounds.means()
    met = overlaps(lower, scores, upper)
    if not met.n_pairs:
        return
    width = rough(float(np.nanmedian(upper - lower)))
    pairs = counted(met.n_pairs, "pair")
    own = (
        "Whether or not its own unjudged documents are relevant, the MAP of a run lies between two limits,"
        f" {width} apart for the median run. Relevant documents that only other runs, or none, retrieved"
        " are not allowed for; they would lower every run that lacks them."
    )
    if not met.n_overlapping:
        yield Comfort(f"{own} These limits overlap for none of {pairs} of neighbours by MAP.")
        return
    every = counted(met.n_all_pairs, "pair")
    apart = f"those of {met.n_settled:,} of all {every} of runs do not"
    if not met.n_settled:
        apart = f"so do those of all {every} of runs"
    yield Alarm(
        f"{own} These limits overlap for {met.n_overlapping:,} of {pairs} of neighbours by MAP; {apart}."
    )


def _topics(found: PoolDiagnosis) -> Iterator[str]:
    relevant, topics = found.topics.relevant, found.rankings.topics
    none = [topics[one] for one in np.flatnonzero(relevant == 0)]
    few = [topics[one] for one in np.flatnonzero((relevant > 0) & (relevant < FEW_RELEVANT))]
    if none:
        yield Alarm(f"{_verb(len(none), 'topic')} no relevant document and no AP: {listed(none)}.")
    if few:
        yield Alarm(
            f"{_verb(len(few), 'topic')} fewer than {FEW_RELEVANT} relevant documents, so that a single one"
            f" moves their AP much: {listed(few)}."
        )


def _poorly_judged(found: PoolDiagnosis, judged_at: int) -> Iterator[str]:
    shares, tags = found.scores.judged.overall, found.rankings.tags
    known = np.flatnonzero(~np.isnan(shares))
    poorly = known[shares[known] < WELL_JUDGED]
    if not known.size:
        return
    what = f"{percent(WELL_JUDGED, 1)} of the first {judged_at:,} documents judged"
    if not poorly.size:
        yield Comfort(f"Every run has at least {what}.")
        return
    order = poorly[np.argsort(shares[poorly], kind="stable")].tolist()
    names = listed([f"{tags[row]} ({percent(shares[row], 1)})" for row in order])
    has, whose = ("has", "its") if len(order) == 1 else ("have", "their")
    of_runs = f"{len(order):,} of {counted(known.size, 'run')} {has} less than {what}"
    pool = found.pool
    if pool is None or judged_at <= pool.depth:
        yield Alarm(f"{of_runs}; {whose} scores are in doubt: {names}.")
        return
    n_fed = int(pool.contributing[poorly].sum())
    others = [row for row in order if not pool.contributing[row]]
    fed = ""
    if n_fed and others:
        fed = f"{n_fed:,} of them fed the pool, which is {pool.span} deep, {len(others):,} did not."
    yield Alarm(f"{of_runs}; {fed or f'the pool is {pool.span} deep.'}")
    if others:
        worst = listed([f"{tags[row]} ({percent(shares[row], 1)})" for row in others])
        yield Alarm(f"Doubt first the scores of runs that fed no pool: {worst}.")


def _verb(number: int, noun: str) -> str:
    return f"{counted(number, noun)} {'has' if number == 1 else 'have'}"
