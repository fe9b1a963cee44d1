"""Who judged, in words: people, models and files of unknown making are not alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from pooler import tables as results
from pooler.messages import note, warn
from store.grades.definition import is_file_word
from store.judging.kinds import SORTS, WORDS, Voters, is_mixed, sorts_words
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.grades.definition import NamedQrels
    from store.grades.qrels import FinalQrels


def own_grades_hint(judge: str) -> str:
    """Say how a judge's own grades are measured with where the name reads as a file."""
    return f"pooler qrels define NAME --judge {quote(judge)} names that judge's own grades"


def warn_about_name(judge: str) -> None:
    """Warn where `--qrels` would take a judge's name for a file."""
    if is_file_word(judge):
        warn(f"--qrels {quote(judge)} would be a file: {own_grades_hint(judge)}")


_NOUNS = {
    "human": ("person", "people"),
    "model": ("model", "models"),
    "imported": ("imported judge", "imported judges"),
    "adjudicator": ("adjudicator", "adjudicators"),
}


def kinds_words(counts: Mapping[str, int]) -> str:
    """Write counts of kinds; empty for none.

    >>> kinds_words({"human": 1, "model": 3})
    '1 person, 3 models'
    """
    return ", ".join(counted(count, *_NOUNS[kind]) for kind, count in counts.items())


def judged_by(counts: Mapping[str, int]) -> str:
    """Say whose judgements these are, of several sorts or of one.

    >>> judged_by({"human": 2, "model": 3}), judged_by({"model": 3})
    ('people and models: 2 people, 3 models', '3 models')
    """
    words = kinds_words(counts)
    return f"{sorts_words(counts)}: {words}" if is_mixed(counts) else words


def voters_words(voters: Voters, what: str = "vote together", *, others: bool = False) -> str:
    """Say whose judgements count where that may surprise; empty where people count, or were named.

    `others`: somebody who was named is not among them.

    >>> from store.judging.kinds import choose_voters
    >>> from store.records import Judge, JudgeKind
    >>> judges = [
    ...     Judge("ann", JudgeKind.HUMAN),
    ...     Judge("gpt", JudgeKind.MODEL),
    ...     Judge("qwen", JudgeKind.MODEL),
    ... ]
    >>> voters_words(choose_voters(judges, {"ann", "gpt", "qwen"}))
    'people alone count (1 person); left out: 2 models (qrels define --kinds human,model counts both)'
    >>> voters_words(choose_voters(judges, {"gpt"}))
    'no person judged: 1 model counts'
    >>> voters_words(choose_voters(judges, {"ann", "gpt", "qwen"}, kinds=["human", "model"]))
    'people and models vote together: 1 person, 2 models'
    """
    counts, left_out = voters.counts, voters.counts_left_out
    if is_mixed(counts):
        return f"{sorts_words(counts)} {what}: {kinds_words(counts)}"
    if voters.is_named or not counts:
        return ""
    people = not counts.keys().isdisjoint(SORTS["human"])
    words = f"people alone count ({kinds_words(counts)})"
    if not people:
        verb = "counts" if sum(counts.values()) == 1 else "count"
        words = f"no {'other ' * others}person judged: {kinds_words(counts)} {verb}"
    if left_out:
        both = {**counts, **left_out}
        kinds = ",".join(sort for sort in WORDS if not both.keys().isdisjoint(SORTS[sort]))
        all_ = "both" if kinds.count(",") == 1 else "all"
        words += f"; left out: {kinds_words(left_out)} (qrels define --kinds {kinds} counts {all_})"
    elif people:
        return ""
    return words


def voters_sentence(voters: Voters) -> list[str]:
    """Say the same as a sentence of a text: a list of one, or of none."""
    words = voters_words(voters)
    return [f"{words[0].upper()}{words[1:]}."] if words else []


def warn_about_voters(
    voters: Voters, what: str = "vote together", *, others: bool = False, is_headed: bool = False
) -> None:
    """Say the same on stderr, and in the warnings of a result.

    `is_headed`: of a result that is headed by whom it is judged, where several kinds are: it is said there.
    """
    if words := voters_words(voters, what, others=others):
        (note if is_headed and is_mixed(voters.counts) else warn)(words)


def models_sentence(models: Sequence[str]) -> list[str]:
    """Say that no person judged, where all who vote are models: a list of one sentence, or of none.

    >>> models_sentence(["gpt"]), models_sentence([])
    (['No person votes here: gpt is a model.'], [])
    >>> models_sentence(["gpt", "qwen"])
    ['No person votes here: all 2 judges are models.']
    """
    if not models:
        return []
    who = f"{models[0]} is a model" if len(models) == 1 else f"all {len(models):,} judges are models"
    return [f"No person votes here: {who}."]


def with_kinds(table: results.Table, counts: Mapping[str, int]) -> results.Table:
    """Add a column on the kinds of judges who voted, where they were mixed or named: people do not see it."""
    if not counts:
        return table
    cell = " ".join(f"{kind}={count}" for kind, count in counts.items())
    columns = [*table.columns, results.hidden("kinds", "text")]
    return replace(table, columns=columns, data={**table.data, "kinds": [cell] * len(table)})


def view_with_kinds(view: results.View, counts: Mapping[str, int]) -> results.View:
    """Say in a heading which kinds of judges voted, where they were mixed or named."""
    if not counts:
        return view
    title = view.table.title if view.title is None else view.title
    words = f"by {judged_by(counts)}"
    return replace(view, title=f"{title} (judged {words})" if title else f"Judged {words}")


def who_judged(final: FinalQrels, *, counts_votes: bool = False) -> str:
    """Say in a few words whose grades these are, as `majority of 3 judges, ties low`.

    `counts_votes`: also how many votes the documents with a grade have, where they have not all as many.
    """
    aggregate, level = final.definition.aggregate, final.level
    if aggregate is None and not final.judges:
        return f"rulings of {', '.join(final.adjudicators)}"
    if aggregate is None and len(final.judges) == 1:
        words = f"judge {final.judges[0]}"
        words += "" if level is None else f", relevant from grade {level}"
    else:
        rule = f"{final.rule} of " if aggregate else ""
        words = f"{rule}{counted(len(final.judges), 'judge')}"
        if counts_votes:
            n_votes = final.all_votes.counts.sum(axis=1)[final.outcome.is_given[final.all_votes.rows]]
            if n_votes.size and (low := int(n_votes.min())) < (high := int(n_votes.max())):
                words += f" ({low:,} to {high:,} votes a document)"
        words += "" if aggregate else ", the primary one, or their equal grades"
        words += "" if final.ties is None else f", ties {final.ties}"
        if level is not None and aggregate == "sum":
            words += f", relevant from {level}"
        elif level is not None and final.definition.binary_first:
            words = f"each judge's grades binary at level {level}, then {words}"
        elif level is not None:
            words += f", then binary at level {level}"
    return words + ("; rulings win" if final.n_ruled + final.n_ruled_cannot else "")


def warn_about_qrels(opened: Collection, named: NamedQrels, final: FinalQrels) -> None:
    """Warn of documents that are undecided, of judges who are erased, of judgements that are gone."""
    if n := final.n_undecided:
        warn(f"{named.label}: {counted(n, 'document')} undecided, left out: {named.undecided_hint}")
    if n := len(named.definition.erased):
        warn(f"{named.label}: {counted(n, 'judge')} who counted {'was' if n == 1 else 'were'} erased")
    if n := opened.qrels.missing_events(named.definition):
        warn(f"{named.label}: not as it was defined: {counted(n, 'judgement event')} of then gone")


def erased_words(opened: Collection) -> str:
    """Say how much of erased judges is gone; empty when no judge was erased."""
    from store.judging.erasing import removed_words

    return removed_words(one.judgements for one in opened.erasures.all())


def erased_facts(opened: Collection) -> dict[str, Any]:
    """Return the same for a manifest: an empty mapping when no judge was erased."""
    found = opened.erasures.all()
    if not found:
        return {}
    return {"erased": {"judges": len(found), "judgements": sum(one.judgements for one in found)}}
