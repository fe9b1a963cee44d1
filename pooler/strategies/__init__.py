"""How documents are chosen for judging: a kind a file, the table of them all, and anybody's own.

A strategy is pure: the rankings of one topic in, documents out (`pooler.strategies.kinds`).

Anybody's own is a function of a Python file, named ``FILE.py:function``. It is called for each topic with
the `TopicRankings`, scores included, and its parameters by keyword, and returns a value for each document.
Its parameters are those of its signature after the first; a default says what type one has, and one without
must be given, a number.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.strategies.adaptive import ADAPTIVE, depth_then_strategy
from pooler.strategies.fixed import FIXED
from pooler.strategies.kinds import AnyStrategy, FixedStrategy, Parameter
from pooler.strategies.rankings import TopicRankings
from pooler.strategies.sampling import SAMPLING
from store.errors import PoolerError, UnknownNameError

_OWN = re.compile(r"(.+\.py):([^:]*)")


def is_own(name: str) -> bool:
    """Return whether a name is that of a function of a file.

    >>> is_own("mine.py:early"), is_own("rrf")
    (True, False)
    """
    return _OWN.fullmatch(name) is not None


def own_strategy(name: str) -> FixedStrategy:
    """Return the strategy that a function of a file is; errors name the file and its line."""
    path, function = name.rsplit(":", 1)
    hint = "--strategy FILE.py:function names a file as it is seen from here"
    return _read(path, function, read_source(path, hint))


def read_source(path: str, hint: str) -> bytes:
    """Read a Python file; `PoolerError`: it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise PoolerError(f"{path}: {(error.strerror or 'cannot be read').lower()}", hint=hint) from None


def function_of(path: str, name: str, source: bytes, hint: str) -> Callable[..., Any]:
    """Run a Python file, and return a function of it; errors name the file and its line."""
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    known = sys.modules.setdefault(module.__name__, module)  # dataclasses look their module up
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise PoolerError(f"{path}: {error_words(error, path)}") from error
    finally:
        if known is module:
            del sys.modules[module.__name__]
    found = {one: value for one, value in vars(module).items() if inspect.isroutine(value)}
    if name not in found:
        raise UnknownNameError("function", name, found, hint=hint)
    return found[name]


@cache
def _read(path: str, function: str, source: bytes) -> FixedStrategy:
    name = f"{Path(path).name}:{function}"
    hint = f"--strategy {path}:FUNCTION names a function of the file"
    call = function_of(path, function, source, hint)
    return FixedStrategy(
        name=name,
        summary=(inspect.getdoc(call) or "").partition("\n")[0],
        source=path,
        parameters=_parameters(call, name),
        uses_scores=True,
        values=_checked(call, name, path),
        sha256=hashlib.sha256(source).hexdigest(),
    )


def _parameters(call: Callable[..., Any], name: str) -> tuple[Parameter, ...]:
    found = []
    for one in [*inspect.signature(call).parameters.values()][1:]:
        default = None if one.default is one.empty else one.default
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) or not (
            default is None or type(default) in (int, float, str)
        ):
            message = f"`{name}`: parameter `{one.name}` must have a name, and be a number or a text"
            raise PoolerError(message, hint="def function(rankings, *, k=60.0): ...")
        type_ = float if default is None else type(default)
        found.append(Parameter(one.name, default, "a number", type=type_))
    return tuple(found)


def _checked(call: Callable[..., Any], name: str, path: str) -> Callable[..., NDArray[np.float64]]:
    def values(rankings: TopicRankings, **parameters: Any) -> NDArray[np.float64]:
        for array in (rankings.documents, rankings.scores):
            if array is not None:
                array.flags.writeable = False  # the pool is counted from the same arrays
        try:
            found = np.asarray(call(rankings, **parameters), dtype=np.float64)
        except Exception as error:
            raise PoolerError(f"`{name}`, topic `{rankings.topic}`: {error_words(error, path)}") from error
        if found.shape != (rankings.n_documents,) or not np.isfinite(found).all():
            message = (
                f"`{name}`, topic `{rankings.topic}`: must return {rankings.n_documents:,} finite numbers"
            )
            raise PoolerError(message, hint="one for each document: shape (rankings.n_documents,)")
        return found

    return values


def error_words(error: BaseException, path: str) -> str:
    """Say what an error is in one line, with the last line of the file that led to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = error.lineno if isinstance(error, SyntaxError) else (lines or [None])[-1]
    words = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return f"{'' if line is None else f'line {line}: '}{type(error).__name__}: {words}"


_LISTED: tuple[AnyStrategy, ...] = (*FIXED, *ADAPTIVE, depth_then_strategy(ADAPTIVE), *SAMPLING)
STRATEGIES = {strategy.name: strategy for strategy in _LISTED}
"""Every strategy by name, in the order they are listed."""


def find_strategy(name: str) -> AnyStrategy:
    """Return the strategy of that name, or of that function; `UnknownNameError` lists those there are.

    >>> find_strategy("depth").source
    'Sparck Jones and van Rijsbergen 1975'
    """
    if is_own(name):
        return own_strategy(name)
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownNameError("strategy", name, STRATEGIES) from None


def chooses_at_once(name: str | None) -> bool:
    """Return whether a strategy, as a manifest names it, values all documents at once, by no chance."""
    return name is not None and (is_own(name) or isinstance(STRATEGIES.get(name), FixedStrategy))
