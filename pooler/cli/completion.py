"""What the shell completes: runs, topics, judges and pools of the collection at hand; strategies, measures.

An option's name means the same in every command, so its values are completed by its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING, Any

import typer
from typer.models import ArgumentInfo, OptionInfo

from pooler.sources.source import DEFAULT_COLLECTION
from store.errors import PoolerError
from store.grades.definition import is_file_word

if TYPE_CHECKING:
    from store.collection import Collection


def add_completion(found: Any) -> None:
    """Let the options of a command complete their values."""
    parameters = signature(found).parameters
    for parameter in parameters.values():
        if "qrels" not in parameters and parameter.name == "runs":
            continue  # run files
        for info in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(info, OptionInfo | ArgumentInfo):
                info.autocompletion = _of(info, parameter.name)


def _of(info: OptionInfo | ArgumentInfo, name: str) -> Callable[..., list[str]] | None:
    """Return what completes a parameter; ``None`` = the shell itself, with files."""
    if isinstance(info, ArgumentInfo):
        return _ARGUMENTS.get(info.metavar or name.upper())
    names = [one for one in (info.default, *(info.param_decls or ())) if isinstance(one, str)]
    return next((_OPTIONS[one] for one in names if one in _OPTIONS), None)


def _from_collection(names: Callable[[Collection], Iterable[str]]) -> Callable[..., list[str]]:
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        if is_file_word(str(ctx.params.get("qrels") or "")):  # then runs are files
            return []
        where = ctx.params.get("collection") or os.environ.get("POOLER_COLLECTION") or DEFAULT_COLLECTION
        with suppress(PoolerError, OSError):
            from store.collection import Collection

            with Collection(where) as opened:
                return [name for name in names(opened) if name.startswith(incomplete)]
        return []

    return complete


def _strategies(incomplete: str) -> list[str]:
    from pooler.strategies import STRATEGIES

    return [name for name in STRATEGIES if name.startswith(incomplete)]


def _measures(incomplete: str) -> list[str]:
    from store.analysis.measures.names import ALIASES, MEASURES

    return sorted(name for name in {*MEASURES, *ALIASES} if name.startswith(incomplete))


_runs = _from_collection(lambda opened: (run.tag for run in opened.runs.all()))
_topics = _from_collection(lambda opened: (topic.topic for topic in opened.topics.all()))
_judges = _from_collection(lambda opened: (judge.name for judge in opened.judges.all()))
_qrels = _from_collection(
    lambda opened: {one.name for one in opened.qrels.all()} | {one.name for one in opened.judges.all()}
)
_pools = _from_collection(lambda opened: (pool.name for pool in opened.pools.all()))

_OPTIONS: dict[str, Callable[..., list[str]]] = {
    "--against": _judges,
    "--judge": _judges,
    "--measure": _measures,
    "--pool": _pools,
    "--qrels": _qrels,
    "--strategy": _strategies,
    "--topic": _topics,
}
_ARGUMENTS: dict[str, Callable[..., list[str]]] = {
    "JUDGE": _judges,
    "JUDGE...": _judges,
    "RUN": _runs,
    "RUN...": _runs,
    "TAG": _runs,
    "TOPIC": _topics,
}
