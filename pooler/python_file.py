"""Functions of a Python file that a user names, and what is told of their mistakes."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from store.errors import PoolerError, UnknownNameError


def read_source(path: str, hint: str) -> bytes:
    """Read a file; `PoolerError`: it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise PoolerError(f"{path}: {(error.strerror or 'cannot be read').lower()}", hint=hint) from None


def function_of(path: str, name: str, source: bytes, hint: str) -> Callable[..., Any]:
    """Run a file and return a function of it; errors name the file and its line."""
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


def error_words(error: BaseException, path: str) -> str:
    """Say what an error is in one line, with the last line of the file that led to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = error.lineno if isinstance(error, SyntaxError) else (lines or [None])[-1]
    words = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return f"{'' if line is None else f'line {line}: '}{type(error).__name__}: {words}"
