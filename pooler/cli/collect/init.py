"""`pooler init`: make an empty collection."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.signature import option
from pooler.messages import say


def init(
    collection: CollectionOption = DEFAULT_COLLECTION,
    scale: Annotated[
        str,
        option(
            "--scale LOW-HIGH|binary|ntcir|FILE",
            "The grades: 0-2, binary, ntcir (C, B, A, S), or a TOML file of [[grade]] tables (value, label,"
            " key).",
        ),
    ] = "0-2",
    name: Annotated[str, option("--name", "Name of the collection.", show_default="its file")] = "",
) -> None:
    """Make an empty collection with a declared scale of grades.

    Example: pooler init --scale 0-3 --collection herbs.db
    """
    from pooler.version import __version__
    from store.collection import Collection
    from store.db.engine import usual_name
    from store.formats.scale import parse_scale

    declared = parse_scale(scale)
    label = name or usual_name(collection)
    program = f"pooler {__version__}"
    with Collection.create(collection, name=label, scale=declared, program=program) as made:
        grades = ", ".join(f"{grade.value} {grade.label} [{grade.key}]" for grade in declared.grades)
        say(f"made {made.where}; grades: {grades}")
