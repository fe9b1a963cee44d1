"""What `pooler agreement` was asked for, checked and resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pooler.cli.console import Cell
from store.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from store.analysis.bands import Bands
    from store.analysis.pair_stacks import IntervalKind
    from store.analysis.populations import PopulationVotes
    from store.collection import Collection
    from store.policy import Policy
    from store.records import Scale

Pair = tuple[str, str]

ALL_LABELS = "(all labels)"
"""Every label of the others, each compared with the reference; no judge's name has a blank."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be computed."""

    scale: Scale
    levels: tuple[int, ...]
    """Least relevant grades, by value, ascending."""
    has_levels: bool
    """Whether they were asked for by name."""
    kind: IntervalKind
    resamples: int
    seed: int
    bands: Bands | None
    by_topic: bool

    @property
    def level_indices(self) -> list[int]:
        """The levels as indices into the scale."""
        from store.analysis.collapse import level_index

        return [level_index(self.scale, level) for level in self.levels]

    def level_at(self, index: int | None) -> int | None:
        """Return the level of an index; ``None`` = graded."""
        return None if index is None else self.scale.values[index]


def check_options(
    policy: Policy, *, against: str | None, plan: float | None, assume: str | None, matters: bool
) -> None:
    """Refuse options that do not go together."""
    if policy.rule is not None:
        if against is None:
            requirement = "is compared with a judge: --against JUDGE"
            raise ArgumentError("--aggregate", requirement, policy.rule)
        if policy.rule == "sum":
            requirement = "must give grades of the scale; sums are none"
            raise ArgumentError("--aggregate", requirement, "sum")
    # Each level that is asked for is one it could collapse at.
    replace(policy, level=1 if policy.collapse == "before" else None).check()
    if plan is not None and matters:
        raise ArgumentError("--plan", "and --matters exclude each other", plan)
    if assume is not None and plan is None:
        raise ArgumentError("--assume", "is a part of --plan, which is absent", assume)
    if matters and against is not None:
        raise ArgumentError("--matters", "and --against exclude each other", against)


def resolve_levels(
    scale: Scale, levels: Sequence[int], *, rigid: bool, relaxed: bool, all_of_them: bool
) -> tuple[int, ...]:
    """Resolve the levels; by default all of the scale, or its relaxed and rigid one."""
    from store.analysis.collapse import levels_of

    found = levels_of(scale, levels=levels, rigid=rigid, relaxed=relaxed)
    given = tuple(level for level in found if level is not None)
    if given:
        return given
    if all_of_them:
        return scale.values[1:]
    both = [scale.relaxed, *([] if scale.rigid is None else [scale.rigid])]
    return tuple(dict.fromkeys(both))


def chosen_judges(
    opened: Collection, names: Sequence[str] | None, against: str | None
) -> list[str] | None:
    """Return the judges to be measured; ``None`` = those who graded."""
    known = [judge.name for judge in opened.judges()]
    for name in (*(names or ()), *([] if against is None else [against])):
        if name not in known:
            raise UnknownNameError("judge", name, known)
    if names:
        return list(dict.fromkeys([*names, *([] if against is None else [against])]))
    if against is None:
        return None
    others = opened.votes().votes.judges
    return list(dict.fromkeys([*others, against]))


def settings_of(
    votes: PopulationVotes, asked: Asked, *, against: str | None, policy: Policy
) -> dict[str, Any]:
    """Say what was measured, and how: for programs and for the manifest."""
    from pooler import __version__

    has_rule = policy.rule is not None
    return {
        "program": f"pooler {__version__}",
        "population": votes.population,
        "unlisted_as": None if votes.default is None else asked.scale.values[votes.default],
        "unlisted": int(votes.filled.sum()),
        "documents": votes.n_documents,
        "topics": votes.n_topics,
        "judges": list(votes.votes.judges),
        "scale": list(asked.scale.values),
        "levels": list(asked.levels),
        "interval": asked.kind,
        "interval_level": None if asked.kind == "none" else 0.95,
        "resamples": asked.resamples if asked.kind in ("topic", "item") else None,
        "seed": asked.seed,
        "bands": asked.bands,
        "against": against,
        "aggregate": policy.rule,
        "ties": policy.ties,
        "collapse": policy.collapse if has_rule else None,
    }


def flat(value: Any) -> Cell:
    """Write a list as one cell."""
    cell: Cell = " ".join(map(str, value)) if isinstance(value, list) else value
    return cell
