"""An empty collection."""

from __future__ import annotations

from typing import Annotated

from pooler.command import Option, Place, command
from pooler.messages import say
from pooler.result import Done
from pooler.version import __version__
from store.formats.scale import parse_scale


@command
def init(
    collection: Place,
    scale: Annotated[str, Option("--scale LOW-HIGH|binary|ntcir|FILE")] = "0-2",
    *,
    name: Annotated[str, Option(default="its file")] = "",
) -> Done:
    """Make an empty collection with a declared scale of grades.

    Example: pooler init --scale 0-3 --collection herbs.db

    scale : The grades: 0-2, binary, ntcir (C, B, A, S), or a TOML file of [[grade]] tables (value, label,
        key).
    name : Name of the collection.

    Raises
    ------
    StoreError
        If something is there already.
    ArgumentError, FormatError
        If the scale cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import pooler as p
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     p.init(f"{folder}/wine.db", "0-1")
    ...     with p.open_collection(f"{folder}/wine.db") as made:
    ...         made.scale.values
    made /...wine.db; grades: 0 not relevant [0], 1 relevant [1]
    (0, 1)
    """
    from store.collection import Collection
    from store.db.engine import usual_name

    declared, where = parse_scale(scale), str(collection)
    label, program = name or usual_name(where), f"pooler {__version__}"
    with Collection.create(where, name=label, scale=declared, program=program) as made:
        grades = ", ".join(f"{grade.value} {grade.label} [{grade.key}]" for grade in declared.grades)
        say(f"made {made.where}; grades: {grades}")
    return Done()
