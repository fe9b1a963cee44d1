"""Who is heard where nobody is named: people, models and files of unknown making never mix unasked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from store.errors import ArgumentError, UnknownNameError
from store.records import Judge, JudgeKind

SORTS: Mapping[str, tuple[JudgeKind, ...]] = {
    "human": (JudgeKind.HUMAN, JudgeKind.ADJUDICATOR),
    "imported": (JudgeKind.IMPORTED,),
    "model": (JudgeKind.MODEL,),
}
"""Kinds that may be asked for, and what counts with each; of several that are there the first is heard."""

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
class Heard:
    """Whose judgements count, and whose do not for want of being asked for."""

    judges: tuple[Judge, ...] = ()
    """Who is heard, whether or not they graded anything."""
    graders: frozenset[str] = frozenset()
    """Judges who have graded something, heard or not."""
    left_out: tuple[Judge, ...] = ()
    """Who graded, and is of another kind than those heard; nobody where judges or kinds were named."""
    is_named: bool = False
    """Whether judges or kinds were named."""
    kinds: tuple[str, ...] = ()
    """The kinds that were named; none, where judges were, or nothing was."""

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of who is heard."""
        return frozenset(judge.name for judge in self.judges)

    @property
    def voters(self) -> tuple[str, ...]:
        """Who is heard and has graded, but for adjudicators, who do not vote."""
        return tuple(
            one.name
            for one in self.judges
            if one.name in self.graders and one.kind is not JudgeKind.ADJUDICATOR
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind are heard and have graded."""
        return count_kinds(one for one in self.judges if one.name in self.graders)

    @property
    def told(self) -> dict[str, int]:
        """The same where the user mixed kinds, or named them; else nothing."""
        counts = self.counts
        return counts if self.kinds or is_mixed(counts) else {}

    @property
    def counts_left_out(self) -> dict[str, int]:
        """How many of each kind are left out."""
        return count_kinds(self.left_out)

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return what settings and manifests say: nothing where no kind was mixed, named or left out."""
        said = {"kinds": self.told, "kinds_left_out": self.counts_left_out}
        return {name: counts for name, counts in said.items() if counts}

    def without(self, name: str) -> Heard:
        """Return the same where a judge is not left out, but of use otherwise."""
        return replace(self, left_out=tuple(one for one in self.left_out if one.name != name))

    @property
    def models(self) -> tuple[str, ...]:
        """Who is heard and has graded, where all of them are models; else nobody."""
        return self.voters if set(self.counts) == {JudgeKind.MODEL} else ()


def count_kinds(judges: Iterable[Judge]) -> dict[str, int]:
    """Count judges by kind, people first."""
    found = Counter(judge.kind for judge in judges)
    return {kind.value: found[kind] for kind in JudgeKind if found[kind]}


def is_mixed(counts: Mapping[str, int]) -> bool:
    """Say whether counts by kind are of more than one sort: adjudicators are people."""
    return sum(not counts.keys().isdisjoint(kinds) for kinds in SORTS.values()) > 1


def kinds_of(heard: Heard) -> tuple[str, ...]:
    """Name the sorts that are heard, as `--kinds` does; nothing where all are, or nobody is."""
    sorts = heard.kinds or sorts_of(one.kind for one in heard.judges)
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


def hear(
    judges: Iterable[Judge],
    graders: Collection[str],
    *,
    of: Sequence[str] = (),
    kinds: Sequence[str] = (),
    rulings: bool = False,
) -> Heard:
    """Choose whose judgements count: the one place where that is decided.

    Judges that are named (`of`), or of kinds that are; otherwise people, where one has graded
    anything; else imported judges; else models. Without any grade, those that are registered count
    as if they had graded, and nobody is left out. `rulings`: whether adjudicators have a say, who
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
        return Heard(tuple(chosen), graded, is_named=True)
    if named_kinds := check_kinds(kinds):
        wanted = {kind for name in named_kinds for kind in SORTS[name]}
        chosen = [one for one in able if one.kind in wanted]
        return Heard(tuple(chosen), graded, is_named=True, kinds=named_kinds)
    present = [one for one in able if one.name in graded]
    first: tuple[JudgeKind, ...] = next(
        (sort for sort in SORTS.values() if any(one.kind in sort for one in present or able)), ()
    )
    return Heard(
        judges=tuple(one for one in able if one.kind in first),
        graders=graded,
        left_out=tuple(one for one in present if one.kind not in first),
    )
