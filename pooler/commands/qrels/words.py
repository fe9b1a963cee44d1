"""Messages on qrels made of several judgements: who counted, what decided, what is left open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pooler.judge_kinds import who_judged
from pooler.messages import say, warn
from store.judging.kinds import SORTS, Voters, sorts_words
from store.text import counted

if TYPE_CHECKING:
    from store.grades.definition import QrelsDefinition
    from store.grades.opinions import AllVotes
    from store.grades.qrels import FinalQrels, Flip
    from store.records import Judge, Scale


def judge_facts(
    known: Sequence[Judge], judges: Sequence[str], definition: QrelsDefinition, voters: Voters
) -> dict[str, Any]:
    """Return the entries of a manifest that say who voted, and whom the definition or their kind left out."""
    kinds = {judge.name: judge.kind.value for judge in known}
    facts: dict[str, Any] = {"judges": [{"name": name, "kind": kinds[name]} for name in judges]}
    facts |= voters.to_json()
    if voters.counts_if_mixed:
        facts["judged_by"] = sorts_words(voters.counts_if_mixed)
    if definition.judges and definition.sole is None:
        others = sorted(kinds.keys() - set(definition.judges))
        facts["judges_left_out"] = [name for name in others if kinds[name] != "adjudicator"]
    elif voters.left_out:
        facts["judges_left_out"] = sorted(one.name for one in voters.left_out)
    return facts


def rule_facts(known: Sequence[Judge], final: FinalQrels, flips: Sequence[Flip] = ()) -> dict[str, Any]:
    """Return the entries of a manifest that say whose grades these are and how they became one."""
    definition = final.definition
    facts: dict[str, Any] = {
        **judge_facts(known, final.judges, definition, final.all_votes.voters),
        "defined": definition.to_json(),
        **final.to_json(),
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
                **({} if flip.grades is None else {"grades": flip.grades.to_json()}),
                "relevance": {str(level): one.to_json() for level, one in flip.relevance.items()},
            }
            for flip in flips
        ]
    if definition.aggregate == "sum":
        facts["with_fewer_judges"] = final.n_fewer_votes
    if definition.aggregate == "mean":
        facts["means_rounded_up_from_half"] = final.n_decided_by_ties
    if final.n_iterations is not None:
        facts["dawid_skene"] = {
            "iterations": final.n_iterations,
            "converged": final.converged,
            "below_three_votes": final.n_fewer_votes,
            "equally_probable_taken_low": final.n_decided_by_ties,
        }
    return facts


def qrels_facts(
    known: Sequence[Judge], final: FinalQrels, scale: Scale, n_open: int, flips: Sequence[Flip] = ()
) -> dict[str, Any]:
    """Return the entries of a manifest of qrels: whose grades, how many, and what has none."""
    from store.formats.scale import scale_to_json

    return {
        "scale": scale_to_json(scale),
        **rule_facts(known, final, flips),
        "topics": final.n_topics,
        "judged": final.n_documents,
        "by_grade": {str(grade): count for grade, count in final.by_grade.items()},
        "left_out": {
            "undecided": final.count_left_out("undecided"),
            "skipped": final.count_left_out("skipped"),
            "cannot_be_judged": final.count_left_out("cannot"),
        },
        "pooled_and_unjudged": n_open,
    }


def tell_judged(final: FinalQrels, all_votes: AllVotes, label: str = "") -> None:
    """Say how many documents have which grade, and whose."""
    grades = ", ".join(f"{count:,} x {grade}" for grade, count in final.by_grade.items())
    n_judged = counted(final.n_documents, "document")
    say(f"{label}{n_judged} judged ({grades}); {who_judged(final, all_votes)}")


def tell_left_out(final: FinalQrels, n_open: int, code: int | None = None) -> None:
    """Say how many documents have no grade; a code is what unjudged ones are written with."""
    skipped, cannot = (final.count_left_out(reason) for reason in ("skipped", "cannot"))
    if skipped or cannot:
        say(f"left out: {skipped:,} skipped, {cannot:,} cannot be judged")
    if n_open:
        how = "left out" if code is None else f"written with code {code}"
        say(f"pooled and unjudged: {counted(n_open, 'document')}, {how}")


def tell_decisions(final: FinalQrels, flips: Sequence[Flip] = ()) -> None:
    """Say on stderr what the tie rule decided, and what other choices would change."""
    n_tied = final.n_decided_by_ties
    if final.ties is not None and final.ties != "unresolved":
        say(f"the tie rule decided {n_tied:,} of them")
    elif final.rule == "mean" and n_tied:
        say(f"half-way between two grades, rounded up: {counted(n_tied, 'document')}")
    elif final.n_iterations is not None and n_tied:
        say(f"two grades equally probable, the lower taken: {counted(n_tied, 'document')}")
    is_tied = n_tied or final.count_left_out("undecided")
    for flip in flips:
        option = f"--ties {flip.value}" if flip.option == "ties" else _binary_words(turned=bool(flip.value))
        if flip.option != "ties" or is_tied:
            say(f"  {option} would {_would(flip)}")


def _binary_words(*, turned: bool) -> str:
    return "--binary-first" if turned else "without --binary-first: it"


def _would(flip: Flip) -> str:
    if flip.grades is None:
        parts = [
            f"{verb} {_by_level(counts)}"
            for verb, counts in (
                ("add", {level: one.added for level, one in flip.relevance.items()}),
                ("leave out", {level: one.removed for level, one in flip.relevance.items()}),
                ("change the relevance of", _changed(flip)),
            )
            if any(counts.values())
        ]
        return "; ".join(parts) or "change nothing"
    parts = []
    if flip.grades.added:
        parts.append(f"add {counted(flip.grades.added, 'document')}")
    if flip.grades.removed:
        parts.append(f"leave {counted(flip.grades.removed, 'document')} out")
    if flip.grades.changed:
        relevance = _changed(flip)
        words = f"change {counted(flip.grades.changed, 'grade')}"
        if any(relevance.values()):
            words += f", and the relevance of {_by_level(relevance)}"
        parts.append(words)
    return "; ".join(parts) or "change nothing"


def _changed(flip: Flip) -> dict[int, int]:
    return {level: one.changed for level, one in flip.relevance.items()}


def _by_level(numbers: dict[int, int]) -> str:
    """Write counts by level, as `3 documents at level 1, 1 at level 2`; levels with none not."""
    first, *others = [(level, number) for level, number in numbers.items() if number]
    words = [f"{counted(first[1], 'document')} at level {first[0]}"]
    return ", ".join([*words, *(f"{number:,} at level {level}" for level, number in others)])


def tell_rulings(final: FinalQrels) -> None:
    """Say on stderr what adjudicators decided, and which of it may be out of date."""
    if not final.n_ruled + final.n_ruled_cannot:
        return
    say(f"rulings: {rulings_words(final.n_ruled, final.n_ruled_cannot)}")
    if final.n_rulings_changed:
        n_changed = counted(final.n_rulings_changed, "ruling")
        warn(
            f"{n_changed} made before judges changed their decision; `pooler adjudicate` marks them"
            " as changed since"
        )
    if final.n_rulings_unneeded:
        n_unneeded = counted(final.n_rulings_unneeded, "document")
        say(f"rulings on documents that judges agree on: {n_unneeded}")


def rulings_words(n_decided: int, n_cannot: int) -> str:
    """Say what adjudicators did, in the words of the manifest; decided = gave a grade.

    Examples
    --------
    >>> rulings_words(3, 1)
    '3 documents decided, 1 found impossible to judge'
    """
    words = f"{counted(n_decided, 'document')} decided"
    return words + (f", {n_cannot:,} found impossible to judge" if n_cannot else "")


def tell_few_votes(final: FinalQrels) -> None:
    """Warn on stderr where a rule had fewer votes than it wants."""
    n_fewer = counted(final.n_fewer_votes, "document")
    if final.rule == "sum" and final.n_fewer_votes:
        warn(f"{n_fewer} with fewer judges than others: their sums are lower only for that reason")
    if final.n_iterations is None:
        return
    say(f"Dawid-Skene: {counted(final.n_iterations, 'iteration')}")
    if not final.converged:
        warn(
            "Dawid-Skene had not settled when it reached its limit of iterations: grades that are almost"
            " equally probable may come out differently"
        )
    if final.n_fewer_votes:
        warn(
            f"{n_fewer} with fewer than three votes: as a rule of thumb Dawid-Skene needs three; median"
            " may do better there"
        )


def tell_tied(finals: Sequence[FinalQrels], *, has_collection: bool = True) -> None:
    """Warn once of tied documents left out, and name the command that settles them in a collection.

    `finals` differ in the level, and in whether grades are binary first, alone.
    """
    tied = [(final, final.count_left_out("undecided")) for final in finals]
    if not any(number for _, number in tied):
        return
    if len({number for _, number in tied}) == 1:
        words = f"{counted(tied[0][1], 'document')} left out"
    else:
        names = (f"{number:,} {level_name(final.level)}" for final, number in tied)
        words = f"documents left out, {', '.join(names)}"
    warn(f"{words}: undecided")
    if not has_collection:
        return
    final = next(final for final, number in tied if number)
    definition = final.definition
    # The command counts the grades of all judges, as they gave them.
    voters = final.all_votes.voters
    counts_all = not voters.left_out and (not voters.kinds or voters.graders <= voters.names)
    is_exact = not definition.judges and counts_all and final.ties and not definition.binary_first
    command = "pooler adjudicate" + (f" --unresolved {final.rule}" if is_exact else "")
    words = f"  `{command}` shows them, --judge NAME settles them"
    if (
        not definition.judges
        and not definition.without_rulings
        and voters.counts.keys().isdisjoint(SORTS["human"])
    ):
        words += f"; then --kinds human,{','.join(voters.counts)} counts the rulings, too"
    say(words)


def level_name(level: int | None) -> str:
    """Write which file of several is meant."""
    return "graded" if level is None else f"at level {level}"
