"""Manifests of pools as the store keeps them: what two have in common, and what becomes of one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from store.errors import ConflictError


def is_same_plan(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Say whether two manifests are of one plan, whatever version of the program wrote them.

    Examples
    --------
    >>> is_same_plan({"seed": 1, "version": "1"}, {"seed": 1, "version": "2"})
    True
    """
    return {**old, "version": None} == {**new, "version": None}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Say which parts of two plans differ, those of one value with both.

    Examples
    --------
    >>> differences({"seed": 1, "parameters": {"depth": 5}}, {"parameters": {"depth": 7}})
    ' (depth 5, not 7; seed 1, not none)'
    >>> x, other, y = ({"tag": tag, "sha256": file} for tag, file in ("xf", "xg", "yf"))
    >>> differences({"runs": [x]}, {"runs": [other, y]})
    ' (run `x` had another file; no run `y`)'
    """
    plain = (str, int, float, type(None))
    old, new = ({**plan, **plan.get("parameters", {})} for plan in (old, new))
    names = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    said = []
    for name in names:
        values = old.get(name), new.get(name)
        if name in ("parameters", "pairs", "sizes", "topics", "sha256", "version"):
            continue
        if name == "runs":
            said += _different_runs(values[0] or (), values[1] or ())
        elif isinstance(values[0], plain) and isinstance(values[1], plain):
            said.append("{} {}, not {}".format(name, *map(_in_words, values)))
        else:
            said.append(_OF_PARTS.get(name, name))
    return f" ({'; '.join(said)})" if said else ""


_OF_PARTS = {"without": "what it leaves out", "unpooled": "runs taken out of it"}
"""Parts of a plan that are neither numbers nor words."""
_RUNS_NAMED = 5
"""Runs that a message names; it counts the others."""


def _in_words(value: object) -> object:
    """Write a value of a plan; what is not there is none."""
    return "none" if value is None else value


def _different_runs(
    old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Say which runs fed one pool and not the other, or from another file."""
    before, after = ({run["tag"]: run.get("sha256") for run in runs if run.get("contributes", True)}
                     for runs in (old, new))  # fmt: skip
    parts = {
        "run {} had another file": [t for t in before if t in after and before[t] != after[t]],
        "run {} too": [tag for tag in before if tag not in after],
        "no run {}": [tag for tag in after if tag not in before],
    }
    said = []
    for words, tags in parts.items():
        named = ", ".join(f"`{tag}`" for tag in sorted(tags)[:_RUNS_NAMED])
        more = f" and {len(tags) - _RUNS_NAMED:,} more" if len(tags) > _RUNS_NAMED else ""
        said += [words.format(named + more)] if tags else []
    # Groups, file names and runs that fed neither differ as well.
    return said or ["what is known of its runs"]


def name_taken(
    name: str, old: Mapping[str, Any], new: Mapping[str, Any], *, withdrawn: bool
) -> ConflictError:
    """Return the error of a pool whose name another pool has, in use or withdrawn."""
    what = differences(old, new) + (", and it is withdrawn" if withdrawn else "")
    if new.get("strategy") == "imported":
        hint = "another --as-pool NAME gives this one its own name"
    else:
        hint = (
            "--name NEW gives this one its own name; --replace withdraws the other, which keeps its"
            " documents under a new name; --add lists only what no pool has yet"
        )
    return ConflictError(f"there is another pool named `{name}`{what}", hint=hint)


def cannot_replace(name: str) -> ConflictError:
    """Return the error of an adaptive pool that is to take the place of another.

    Judges who are at work on the old one would draw from the new one, by the old one's plan.
    """
    message = f"adaptive pool `{name}` cannot be replaced by another adaptive pool"
    hint = f"pooler unpool --pool {name} withdraws it; --name gives the new one its own name"
    return ConflictError(message, hint=hint)


def without_run(
    manifest: dict[str, Any], tag: str, pairs: Collection[tuple[str, str]]
) -> dict[str, Any]:
    """Return a pool's manifest after a run and these pairs have left it."""
    sizes = Counter(manifest["sizes"])
    sizes.subtract(Counter(topic for topic, _ in pairs))
    return {
        **manifest,
        "runs": [
            {**run, "contributes": run["contributes"] and run["tag"] != tag}
            for run in manifest["runs"]
        ],
        "sizes": dict(sizes),
        "pairs": sum(sizes.values()),
        "unpooled": [*manifest.get("unpooled", []), tag],
    }


def as_json(manifest: Mapping[str, Any]) -> str:
    """Write a manifest; file names in it need not be valid Unicode, so they are escaped."""
    return json.dumps(manifest, sort_keys=True)


def display_order(manifest: Mapping[str, Any]) -> str:
    """Say how positions were chosen, the seed included.

    Examples
    --------
    >>> display_order({"out_order": "random", "seed": 7}), display_order({})
    ('random:7', 'docno')
    """
    order = str(manifest.get("out_order", "docno"))
    return f"{order}:{manifest['seed']}" if order == "random" else order
