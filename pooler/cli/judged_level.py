"""The least grade that counts as relevant: of files, and of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.errors import ArgumentError

if TYPE_CHECKING:
    from store.policy import Policy
    from store.records import Scale


def level_of_files(scale: Scale | None, *, level: int | None, rigid: bool, relaxed: bool) -> int:
    """Return the least relevant grade of files: 1, or the relaxed one of their scale."""
    from store.analysis.collapse import level_of

    if scale is not None:
        cut = level_of(scale, level=level, rigid=rigid, relaxed=relaxed)
        return scale.relaxed if cut is None else cut
    if rigid or relaxed:
        hint = "--scale 0-3 or --scale ntcir declares it; or --level N"
        name = "--rigid" if rigid else "--relaxed"
        raise ArgumentError(name, "needs a declared scale", None, hint=hint)
    return 1 if level is None else level


def level_of_collection(
    scale: Scale, policy: Policy, *, level: int | None, rigid: bool, relaxed: bool
) -> int:
    """Return the least relevant grade, by default the relaxed one; of sums, the least sum."""
    from store.analysis.collapse import level_of, levels_of

    if policy.rule != "sum":
        cut = level_of(scale, level=level, rigid=rigid, relaxed=relaxed)
        return scale.relaxed if cut is None else cut
    levels_of(scale, rigid=rigid, relaxed=relaxed, sums=True)
    if level is None:
        requirement = "must say which sum of grades is relevant, with --aggregate sum"
        raise ArgumentError("--level", requirement, None)
    return level
