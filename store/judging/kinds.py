"""Who counts where no judge is named: people, models and imported files mix only on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.records import Judge, JudgeKind
from store.text import counted

SORTS: Mapping[str, tuple[JudgeKind, ...]] = {
    "human": (JudgeKind.HUMAN, JudgeKind.ADJUDICATOR),
    "imported": (JudgeKind.IMPORTED,),
    "model": (JudgeKind.MODEL,),
}
"""Kinds that may be asked for, and what counts with each; of several that are there the first counts."""

WORDS = {"human": "people", "model": "models", "imported": "imported judges"}
"""Sorts of judges in words, in the order in which they are named."""


def check_kinds(kinds: Sequence[str] | None) -> tuple[str, ...]:
    """Return kinds, each once; raise `ArgumentError` for what is none. A text may name several.

    Examples
    --------
    >>> check_kinds("human,model"), check_kinds(["model"]), check_kinds(None)
    (('human', 'model'), ('model',), ())
    """
    kinds = kinds.split(",") if isinstance(kinds, str) else kinds or ()
    for kind in kinds:
        if kind not in SORTS:
            requirement = "must be human, model or imported, or several with commas"
            raise ArgumentError("kinds", requirement, kind, hint="adjudicators count with human")
    return tuple(dict.fromkeys(kinds))


@dataclass(frozen=True)
class Voters:
    """Whose judgements count, and whose do not for want of being asked for."""

    judges: tuple[Judge, ...] = ()
    """Who counts, whether or not they graded anything."""
    graders: frozenset[str] = frozenset()
    """Judges who have graded something, counting or not."""
    left_out: tuple[Judge, ...] = ()
    """Who graded, and is of another kind than those who count; empty where judges or kinds were named."""
    is_named: bool = False
    """Whether judges or kinds were named."""
    kinds: tuple[str, ...] = ()
    """The kinds that were named; none, where judges were, or nothing was."""

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the judges who count."""
        return frozenset(judge.name for judge in self.judges)

    @property
    def voting(self) -> tuple[str, ...]:
        """Who counts and has graded, but for adjudicators, who do not vote."""
        return tuple(
            one.name
            for one in self.judges
            if one.name in self.graders and one.kind is not JudgeKind.ADJUDICATOR
        )

    @property
    def voting_kinds(self) -> frozenset[JudgeKind]:
        """Kinds whose decisions count: those that were named, graded or not; else those of who counts."""
        named = {kind for sort in self.kinds for kind in SORTS[sort]}
        return frozenset((named or {one.kind for one in self.judges}) - {JudgeKind.ADJUDICATOR})

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind count and have graded."""
        return count_kinds(one for one in self.judges if one.name in self.graders)

    @property
    def counts_if_mixed(self) -> dict[str, int]:
        """The same where the user mixed kinds, or named them; else nothing."""
        counts = self.counts
        return counts if self.kinds or is_mixed(counts) else {}

    @property
    def counts_left_out(self) -> dict[str, int]:
        """How many of each kind are left out."""
        return count_kinds(self.left_out)

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return what settings and manifests say: nothing where no kind was mixed, named or left out."""
        facts = {"kinds": self.counts_if_mixed, "kinds_left_out": self.counts_left_out}
        return {name: counts for name, counts in facts.items() if counts}

    def without(self, name: str) -> Voters:
        """Return the same where a judge is not left out, but of use otherwise."""
        return replace(self, left_out=tuple(one for one in self.left_out if one.name != name))

    @property
    def models(self) -> tuple[str, ...]:
        """Who counts and has graded, where all of them are models; else none."""
        return self.voting if set(self.counts) == {JudgeKind.MODEL} else ()


def count_kinds(judges: Iterable[Judge]) -> dict[str, int]:
    """Count judges by kind, people first."""
    found = Counter(judge.kind for judge in judges)
    return {kind.value: found[kind] for kind in JudgeKind if found[kind]}


def is_mixed(counts: Mapping[str, int]) -> bool:
    """Return whether counts by kind are of more than one sort: adjudicators are people."""
    return sum(not counts.keys().isdisjoint(kinds) for kinds in SORTS.values()) > 1


def kinds_of(voters: Voters) -> tuple[str, ...]:
    """Name the sorts that count, as `--kinds` does; nothing where all do, or none does."""
    sorts = voters.kinds or sorts_of(one.kind for one in voters.judges)
    return () if len(sorts) == len(SORTS) else sorts


def sorts_of(kinds: Iterable[JudgeKind]) -> tuple[str, ...]:
    """Name the sorts that kinds of judges are of."""
    found = set(kinds)
    return tuple(sort for sort, of in SORTS.items() if not found.isdisjoint(of))


def sorts_words(counts: Mapping[str, int]) -> str:
    """Name the sorts of judges that counts are of, people first; adjudicators are people.

    Examples
    --------
    >>> sorts_words({"human": 2, "model": 3}), sorts_words({"adjudicator": 1, "model": 1, "imported": 2})
    ('people and models', 'people, models and imported judges')
    """
    found = [name for sort, name in WORDS.items() if not counts.keys().isdisjoint(SORTS[sort])]
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def check_share(documents: Mapping[JudgeKind, int], voters: Voters) -> None:
    """Raise `PoolerError` where those who count graded less than half of what another kind graded.

    `documents`: how many judges of each kind graded, also those who do not count; no kinds are named.
    """
    counts = {sort: sum(documents.get(kind, 0) for kind in of) for sort, of in SORTS.items()}
    (here,) = sorts_of(one.kind for one in voters.judges) or ("",)
    most = max(counts, key=lambda sort: counts[sort])
    if not here or 2 * counts[here] >= counts[most]:
        return
    message = (
        f"{WORDS[here]} graded {counted(counts[here], 'document')} and {WORDS[most]} {counts[most]:,}:"
        " whose grades count?"
    )
    hint = f"pooler qrels define official --kinds {most} takes these; {here} those, {here},{most} both"
    raise PoolerError(message, hint=hint)


def choose_voters(
    judges: Iterable[Judge],
    graders: Collection[str],
    *,
    of: Sequence[str] = (),
    kinds: Sequence[str] = (),
    rulings: bool = False,
) -> Voters:
    """Choose whose judgements count: the one place where that is decided.

    Judges that are named (`of`), or of kinds that are; otherwise people, where one has graded
    anything; else imported judges; else models. Without any grade, those that are registered count
    as if they had graded, and none is left out. `rulings`: whether adjudicators have a say, who
    are people, and have it beside judges that are named, too.
    """
    known = {judge.name: judge for judge in judges}
    graded = frozenset(graders)
    able = [one for one in known.values() if rulings or one.kind is not JudgeKind.ADJUDICATOR]
    if of:
        for name in of:
            if name not in known:
                raise UnknownNameError("judge", name, list(known))
        named = {known[name].name for name in of}
        chosen = [
            one
            for one in known.values()
            if one.name in named or (rulings and one.kind is JudgeKind.ADJUDICATOR)
        ]
        return Voters(tuple(chosen), graded, is_named=True)
    if named_kinds := check_kinds(kinds):
        wanted = {kind for name in named_kinds for kind in SORTS[name]}
        chosen = [one for one in able if one.kind in wanted]
        return Voters(tuple(chosen), graded, is_named=True, kinds=named_kinds)
    present = [one for one in able if one.name in graded]
    first: tuple[JudgeKind, ...] = next(
        (sort for sort in SORTS.values() if any(one.kind in sort for one in present or able)), ()
    )
    return Voters(
        judges=tuple(one for one in able if one.kind in first),
        graders=graded,
        left_out=tuple(one for one in present if one.kind not in first),
    )
