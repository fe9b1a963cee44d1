"""What a judge's process does otherwise when a browser shows its screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from store.errors import StoreError

DRIVER = "textual.drivers.web_driver:WebDriver"
_UNREACHABLE = "the collection does not answer as it should; call the organiser if that stays so"

Thing = TypeVar("Thing")


def is_served() -> bool:
    """Return whether a server has started this process to show its screen in a browser."""
    return os.environ.get("TEXTUAL_DRIVER") == DRIVER


def discreet(thing: Thing, where: str) -> Thing:
    """Return a stand-in for a desk, or what draws for it, whose failures do not say where the database is."""
    return cast("Thing", _Discreet(thing, where))


class _Discreet:
    """Passes on whatever it is asked for."""

    def __init__(self, thing: object, where: str) -> None:
        self._thing = thing
        self._where = where

    def __getattr__(self, name: str) -> Any:
        with self._discreetly():
            found = getattr(self._thing, name)
        return self._wrapped(found) if callable(found) else found

    def _wrapped(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def called(*given: Any, **named: Any) -> Any:
            with self._discreetly():
                return method(*given, **named)

        return called

    @contextmanager
    def _discreetly(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            if not error.message.startswith(self._where):
                raise
            raise StoreError(_UNREACHABLE) from error
