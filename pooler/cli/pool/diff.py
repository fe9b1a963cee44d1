"""`pooler pool diff`: two pools compared."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option

_POOL_HELP = "A pool of the collection, or a pool file (`topic docno`); ./NAME is always a file."


@command
def diff(
    output: Output,
    *,
    a: Annotated[str, argument("A", _POOL_HELP)],
    b: Annotated[str, argument("B", _POOL_HELP)],
    by_topic: Annotated[bool, option("--by-topic -q", "Also show each topic.")] = False,
    list_: Annotated[bool, option("--list", "One row per document that only one of them has.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Compare two pools: what only A has, only B has, and both; how it stands; who brought it.

    States are those of the whole collection, with all judges together; a document may also be in
    another pool. Outside: judged, but in no pool in use. Not pooled: in no pool, without a grade.
    Where B is a pool of the collection that runs fed, the runs that brought its additional documents
    are named, up to its depth. Files need no collection.

    Example: pooler pool diff pool sample

    Example: pooler pool diff ./pool.txt ./deeper.txt --list
    """
    from pooler.results.pool.diff import compare_pools

    output.check()
    found = compare_pools(a, b, collection=collection)
    asked = {"topics": by_topic, "documents": list_}
    render(found, output, *(name for name in found.names() if asked.get(name, True)))
