"""Who judged, in words: people, models and files of unknown making are not alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pooler.results import table as results
from pooler.telling import warn
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.grades.opinions import AllVotes
    from store.grades.qrels import FinalQrels

_NOUNS = {
    "human": ("person", "people"),
    "model": ("model", "models"),
    "imported": ("imported judge", "imported judges"),
    "adjudicator": ("adjudicator", "adjudicators"),
}


def kinds_words(counts: Mapping[str, int]) -> str:
    """Write counts of kinds; empty for none.

    Examples
    --------
    >>> kinds_words({"human": 1, "model": 3})
    '1 person, 3 models'
    """
    return ", ".join(counted(count, *_NOUNS[kind]) for kind, count in counts.items())


def mixed(counts: Mapping[str, int], what: str = "vote together") -> str:
    """Say that judges of several kinds do something; empty where they are of one kind.

    Examples
    --------
    >>> mixed({"human": 3, "model": 2})
    'judges of several kinds vote together: 3 people, 2 models'
    """
    return f"judges of several kinds {what}: {kinds_words(counts)}" if counts else ""


def mixture_sentence(counts: Mapping[str, int], what: str = "vote together") -> list[str]:
    """Say the same as `mixed`, as a sentence of a text: a list of one, or of none."""
    return [f"{mixed(counts, what).capitalize()}."] if counts else []


def models_sentence(models: Sequence[str]) -> list[str]:
    """Say that no person judged, where all who vote are models: a list of one sentence, or of none.

    Examples
    --------
    >>> models_sentence(["gpt"]), models_sentence([])
    (['No person votes here: gpt is a model.'], [])
    >>> models_sentence(["gpt", "qwen"])
    ['No person votes here: all 2 judges are models.']
    """
    if not models:
        return []
    who = f"{models[0]} is a model" if len(models) == 1 else f"all {len(models):,} judges are models"
    return [f"No person votes here: {who}."]


def tell_kinds(counts: Mapping[str, int], what: str = "vote together") -> None:
    """Warn on stderr where judges of several kinds do something together."""
    if counts:
        warn(mixed(counts, what))


def kinds_cell(counts: Mapping[str, int]) -> str:
    """Write counts of kinds as one cell of a table for programs.

    Examples
    --------
    >>> kinds_cell({"human": 1, "model": 3})
    'human=1 model=3'
    """
    return " ".join(f"{kind}={count}" for kind, count in counts.items())


def with_kinds(table: results.Table, counts: Mapping[str, int]) -> results.Table:
    """Add a column on the kinds of judges who voted, where they were several: people do not see it."""
    if not counts:
        return table
    column = results.Column("kinds", show="never")
    data = {**table.data, "kinds": [kinds_cell(counts)] * len(table)}
    return replace(table, columns=[*table.columns, column], data=data)


def view_with_kinds(view: results.View, counts: Mapping[str, int]) -> results.View:
    """Say in a heading which kinds of judges voted, where they were several."""
    if not counts:
        return view
    title = view.table.title if view.title is None else view.title
    words = f"by {kinds_words(counts)} together"
    return replace(view, title=f"{title} (judged {words})" if title else f"Judged {words}")


def who_judged(final: FinalQrels, all_votes: AllVotes | None = None) -> str:
    """Say in a few words whose grades these are, as `majority of 3 judges, ties low`.

    With `all_votes`, also how many votes documents have, where they have not all as many.
    """
    policy = final.policy
    if policy.rule is None and not final.judges:
        return f"rulings of {', '.join(final.adjudicators)}"
    if policy.rule is None:
        words = f"judge {final.judges[0]}"
        words += "" if policy.level is None else f", relevant from grade {policy.level}"
    else:
        words = f"{final.rule} of {counted(len(final.judges), 'judge')}{_votes_each(all_votes)}"
    words += "" if final.ties is None else f", ties {final.ties}"
    if policy.rule is not None and policy.level is not None:
        if policy.rule == "sum":
            words += f", relevant from {policy.level}"
        elif policy.collapse == "before":
            words = f"each judge's grades collapsed at level {policy.level}, then {words}"
        else:
            words += f", then collapsed at level {policy.level}"
    return words + ("; rulings win" if final.n_ruled + final.n_ruled_cannot else "")


def _votes_each(all_votes: AllVotes | None) -> str:
    """Write how many votes documents have, as ` (1 to 3 votes a document)`; empty where as many."""
    if all_votes is None or not all_votes.votes.n_documents:
        return ""
    n_votes = all_votes.counts.sum(axis=1)
    low, high = int(n_votes.min()), int(n_votes.max())
    return "" if low == high else f" ({low:,} to {high:,} votes a document)"


def erased_words(opened: Collection) -> str:
    """Say how much of erased judges is gone; empty when nobody was erased."""
    from store.judging.erasing import removed_words

    return removed_words(one.judgements for one in opened.erasures.all())


def erased_facts(opened: Collection) -> dict[str, Any]:
    """Return the same for a manifest: an empty mapping when nobody was erased."""
    found = opened.erasures.all()
    if not found:
        return {}
    return {"erased": {"judges": len(found), "judgements": sum(one.judgements for one in found)}}
