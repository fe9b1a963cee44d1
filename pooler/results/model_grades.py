"""Grades of one model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.records import JudgeKind

if TYPE_CHECKING:
    from store.analysis.arrays import Grades
    from store.collection import Collection


def grades_of_model(opened: Collection, name: str, option: str = "model") -> Grades:
    """Return the grades of a judge of kind model, by topic and document id; nothing graded is an error."""
    from store.grades.policy import Policy

    kinds = {judge.name: judge.kind for judge in opened.grades.judges()}
    if name not in kinds:
        raise UnknownNameError("judge", name, list(kinds))
    if kinds[name] is not JudgeKind.MODEL:
        requirement = f"must be a judge of kind model, not {kinds[name].value}"
        raise ArgumentError(option, requirement, name, hint="`pooler list judges` says who is of which kind")
    found = opened.grades.sole(Policy(judge=name))
    if found is None:
        message = f"{name} has graded nothing"
        raise PoolerError(message, hint="a model grades all pooled documents first")
    return found.by_topic
