"""`pooler duplicates`: near-duplicate documents, and how alike they were graded."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.console import check_out
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, KindsOption, kinds_of
from pooler.cli.render import Output, render
from pooler.cli.signature import command, option
from pooler.messages import say
from store.errors import ArgumentError
from store.text import counted


@command
def duplicates(
    threshold: Annotated[
        str, option("--threshold J", "Least Jaccard of two documents' shingles, in (0, 1].")
    ] = "0.8",
    topics: Annotated[
        list[str] | None, option("--topic TOPIC", "Compare grades of this topic alone; may be repeated.")
    ] = None,
    classes: Annotated[
        str | None,
        option(
            "--classes FILE",
            "Compare all texts of the collection, pooled or not, and write the clusters here: a line `docno"
            " class` each document.",
        ),
    ] = None,
    kinds: KindsOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Find near-duplicate documents, and compare their grades.

    Every pair of pooled documents with a Jaccard coefficient of J or more is found; a cluster is the
    documents that such pairs join. With the FILE of --classes, `pooler pool --one-of FILE` pools one document
    of each, and `pooler export qrels --one-of FILE` gives its grade to the others.

    Example: pooler duplicates

    Example: pooler duplicates --classes near.txt
    """
    from pooler.results.pool.duplicates import Duplicates
    from pooler.results.pool.duplicates import duplicates as find
    from store.collection import Collection

    output.check(tables=Duplicates.NAMES)
    if classes == "-":
        raise ArgumentError("--classes", "must be a file: tables go to stdout", classes)
    check_out(classes, None)
    with Collection(collection) as opened:
        found = find(
            opened, threshold=threshold, topics=topics or (), kinds=kinds_of(kinds), pooled=classes is None
        )
    render(found, output)
    if classes is not None:
        facts = found.facts()
        found.write(classes)
        n_classes = counted(facts["clusters"], "class", "classes")
        say(f"{classes}: {counted(facts['in_clusters'], 'document')} in {n_classes}")
    elif found.labels:
        say("--classes FILE writes the clusters, of which `pooler pool --one-of` pools one document each")
