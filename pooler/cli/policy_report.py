"""Words and manifest entries on how several judges' grades became one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooler.cli.console import counted, say, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.collection import Collection
    from store.final_qrels import FinalQrels
    from store.flips import Flip
    from store.policy import Policy


def who_judged(final: FinalQrels) -> str:
    """Say in a few words whose grades these are, as `majority of 3 judges, ties low`."""
    policy = final.policy
    if policy.rule is None and not final.judges:
        return f"rulings of {', '.join(final.adjudicators)}"
    if policy.rule is None:
        words = f"judge {final.judges[0]}"
        words += "" if policy.level is None else f", relevant from grade {policy.level}"
    else:
        words = f"{final.rule} of {counted(len(final.judges), 'judge')}"
    words += "" if final.ties is None else f", ties {final.ties}"
    if policy.rule is not None and policy.level is not None:
        if policy.rule == "sum":
            words += f", relevant from {policy.level}"
        elif policy.collapse == "before":
            words = f"each judge's grades collapsed at level {policy.level}, then {words}"
        else:
            words += f", then collapsed at level {policy.level}"
    return words + ("; rulings win" if final.n_ruled + final.n_ruled_cannot else "")


def judge_facts(opened: Collection, judges: Sequence[str], policy: Policy) -> dict[str, Any]:
    """Return the entries of a manifest that say who voted, and whom the policy left out."""
    kinds = {judge.name: judge.kind.value for judge in opened.judges()}
    facts: dict[str, Any] = {"judges": [{"name": name, "kind": kinds[name]} for name in judges]}
    if policy.of:
        others = sorted(kinds.keys() - set(policy.of))
        facts["judges_left_out"] = [name for name in others if kinds[name] != "adjudicator"]
    return facts


def policy_facts(
    opened: Collection, final: FinalQrels, flips: Sequence[Flip] = ()
) -> dict[str, Any]:
    """Return the entries of a manifest that say whose grades these are and how they became one."""
    policy = final.policy
    facts: dict[str, Any] = {
        **judge_facts(opened, final.judges, policy),
        **policy.to_json(),
        "decided_by_tie_rule": final.n_decided_by_ties if final.ties else 0,
        "adjudication": {
            "adjudicators": list(final.adjudicators),
            "decided": final.n_ruled,
            "cannot_be_judged": final.n_ruled_cannot,
            "changed_since": final.n_rulings_changed,
            "no_disagreement": final.n_rulings_unneeded,
        },
    }
    if flips:
        facts["other_choices"] = [
            {
                flip.option: flip.value,
                **({} if flip.grades is None else {"changed_grades": flip.grades}),
                "changed_relevance": {str(level): n for level, n in flip.relevance.items()},
            }
            for flip in flips
        ]
    if policy.rule == "sum":
        facts["with_fewer_judges"] = final.n_fewer_votes
    if policy.rule == "mean":
        facts["means_rounded_up_from_half"] = final.n_decided_by_ties
    if final.n_iterations is not None:
        facts["dawid_skene"] = {
            "iterations": final.n_iterations,
            "converged": final.converged,
            "below_three_votes": final.n_fewer_votes,
            "equally_probable_taken_low": final.n_decided_by_ties,
        }
    return facts


def tell_decisions(final: FinalQrels, flips: Sequence[Flip] = ()) -> None:
    """Say on stderr what the tie rule decided, and what other choices would change."""
    n_tied = final.n_decided_by_ties
    if final.ties is not None and final.ties != "unresolved":
        say(f"the tie rule decided {n_tied:,} of them")
    elif final.rule == "mean" and n_tied:
        say(f"half-way between two grades, rounded up: {counted(n_tied, 'document')}")
    elif final.n_iterations is not None and n_tied:
        say(f"two grades equally probable, the lower taken: {counted(n_tied, 'document')}")
    is_tied = n_tied or final.count_left_out("tied")
    for flip in flips:
        if flip.option == "collapse" or is_tied:
            say(f"  --{flip.option} {flip.value} would {_would(flip, final)}")


def _would(flip: Flip, final: FinalQrels) -> str:
    """Say what one other choice would do."""
    n_most = max(flip.relevance.values(), default=0) if flip.grades is None else flip.grades
    if not n_most:
        return "change nothing"
    if flip.option == "ties" and flip.value == "unresolved":
        return f"leave {counted(n_most, 'document')} out"
    if flip.option == "ties" and final.ties == "unresolved":
        return f"add {counted(n_most, 'document')}"
    parts = [] if flip.grades is None else [counted(n_most, "grade")]
    if flip.relevance:
        parts.append(f"the relevance of {_by_level(flip.relevance)}")
    return f"change {', and '.join(parts)}"


def _by_level(relevance: dict[int, int]) -> str:
    """Write counts by level, as `3 documents at level 1, 1 at level 2`."""
    first, *others = relevance.items()
    words = [f"{counted(first[1], 'document')} at level {first[0]}"]
    return ", ".join([*words, *(f"{count:,} at level {level}" for level, count in others)])


def tell_rulings(final: FinalQrels) -> None:
    """Say on stderr what adjudicators decided, and which of it may be out of date."""
    n_ruled = final.n_ruled + final.n_ruled_cannot
    if not n_ruled:
        return
    cannot = f", {final.n_ruled_cannot:,} of them: cannot be judged" if final.n_ruled_cannot else ""
    say(f"rulings of adjudicators decided {counted(n_ruled, 'document')}{cannot}")
    if final.n_rulings_changed:
        n_changed = counted(final.n_rulings_changed, "ruling")
        warn(f"{n_changed} made before judges decided otherwise; `pooler adjudicate --list` shows"
             " them as changed since")  # fmt: skip
    if final.n_rulings_unneeded:
        n_unneeded = counted(final.n_rulings_unneeded, "document")
        say(f"rulings on documents that judges do not differ on: {n_unneeded}")


def tell_few_votes(final: FinalQrels) -> None:
    """Warn on stderr where a rule had fewer votes than it wants."""
    n_fewer = counted(final.n_fewer_votes, "document")
    if final.rule == "sum" and final.n_fewer_votes:
        warn(f"{n_fewer} with fewer judges than others: their sums are low for that alone")
    if final.n_iterations is None:
        return
    say(f"Dawid-Skene: {counted(final.n_iterations, 'iteration')}")
    if not final.converged:
        warn("Dawid-Skene had not converged at its limit of iterations")
    if final.n_fewer_votes:
        warn(f"{n_fewer} with fewer than three votes, where Dawid-Skene does worse than median")


def tell_tied(final: FinalQrels) -> None:
    """Warn on stderr of tied documents left out, and name the command that settles them."""
    n_tied = final.count_left_out("tied")
    if not n_tied:
        return
    policy = final.policy
    # The command counts the votes of all judges, or of two.
    is_exact = len(policy.of) in (0, 2)
    command = "pooler adjudicate" + (f" --unresolved {final.rule}" if is_exact else "")
    if is_exact and policy.collapse == "before" and policy.level is not None:
        command += f" --level {policy.level}"
    if len(policy.of) == 2:
        command += f" --judges {','.join(policy.of)}"
    warn(f"{counted(n_tied, 'document')} left out: tied votes, unresolved")
    say(f"  `{command} --list` shows them, --judge NAME settles them")
