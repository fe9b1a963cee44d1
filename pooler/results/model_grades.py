"""Grades of one model: of a collection's judge, or of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.records import JudgeKind

if TYPE_CHECKING:
    from pooler.pools.plan import ModelGrades
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


def named_grades_of_model(opened: Collection, name: str) -> ModelGrades:
    """Return the same by topic and docno."""
    by_topic = grades_of_model(opened, name)
    every = {number for ids, _ in by_topic.values() for number in ids.tolist()}
    docnos = opened.documents.names(sorted(every))
    return {
        topic: {docnos[number]: grade for number, grade in zip(ids.tolist(), grades.tolist(), strict=True)}
        for topic, (ids, grades) in by_topic.items()
    }


def grades_of_file(text: str, *, lenient: bool) -> tuple[str, ModelGrades]:
    """Return the name of a model and its grades, of a qrels file or ``NAME=FILE``; negative ones are none."""
    from pooler.results.judgement_files import named_file, read_given_qrels

    named = named_file(text)
    found: dict[str, dict[str, int]] = {}
    for row in read_given_qrels(named.file, lenient=lenient).rows:
        if row.code >= 0:
            found.setdefault(row.topic, {})[row.docno] = row.code
    return str(named.judge), found
