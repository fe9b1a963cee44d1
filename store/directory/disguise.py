"""Judges under other names: `judge-1`, `judge-2`, ... wherever a collection names them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from store.natural_order import natural_key

_RANDOM = "random"
_NAMING_KEYS = ("file", "judge", "judges", "name", "pools", "replaced", "round")
"""Keys of manifests under which the name of a judge may stand, alone or within another name."""


class Disguise:
    """New names of judges.

    Parameters
    ----------
    names : mapping of str to str
        Old to new, distinct; empty = everybody keeps the name.

    Examples
    --------
    >>> disguise = Disguise({"ann": "judge-2", "bob": "judge-1"})
    >>> disguise.name("ann"), disguise.within("unjudged-ann"), disguise.within("annotated")
    ('judge-2', 'unjudged-judge-2', 'annotated')
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)
        longest_first = sorted(self._names, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(rf"(?<![^\W_])(?:{alternatives})(?![^\W_])")

    @property
    def is_on(self) -> bool:
        """Whether anybody has another name."""
        return bool(self._names)

    def name(self, judge: str) -> str:
        """Return the name of a judge."""
        return self._names.get(judge, judge)

    def iteration(self, label: str) -> str:
        """Return the label of a round; some files have a judge there. A number stays."""
        return label if label.isdecimal() else self.within(label)

    def order(self, order: str | None) -> str | None:
        """Return how documents lay before a judge, without a seed: it is made of the name."""
        return _RANDOM if self.is_on and order and order.startswith(f"{_RANDOM}:") else order

    def within(self, text: str) -> str:
        """Replace the names of judges that stand in a text as words of their own."""
        if not self._names:
            return text
        return self._pattern.sub(lambda found: self._names[found[0]], text)

    def manifest(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Replace names in the manifest of a pool or an assignment, where it names judges.

        Lists of judges are sorted anew: they would tell the order of the names.
        """
        if not self._names:
            return dict(manifest)
        return {key: self._value(key, value) for key, value in manifest.items()}

    def _value(self, key: str, value: Any) -> Any:
        """Replace names in one value of a manifest."""
        if key not in _NAMING_KEYS:
            return value
        if isinstance(value, str):
            return self.iteration(value) if key == "round" else self.within(value)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return sorted(map(self.within, value), key=natural_key)
        return value


def disguise_of(judges: Iterable[str]) -> Disguise:
    """Give judges new names by chance; nothing tells who is who afterwards."""
    names = list(judges)
    secrets.SystemRandom().shuffle(names)
    return Disguise({name: f"judge-{number}" for number, name in enumerate(names, start=1)})


def are_disguised(judges: Iterable[str]) -> bool:
    """Say whether judges have just the names that `disguise_of` gives.

    Examples
    --------
    >>> are_disguised(["judge-2", "judge-1"]), are_disguised(["judge-1", "ann"])
    (True, False)
    """
    names = list(judges)
    return sorted(names) == sorted(f"judge-{number}" for number in range(1, len(names) + 1))
