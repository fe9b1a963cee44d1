"""`pooler duplicates`: near-duplicate documents of pools, and what is carried over."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, KindsOption, kinds_of
from pooler.cli.render import Output, render
from pooler.cli.signature import command, option
from pooler.telling import say
from store.errors import ContradictionError


@command
def duplicates(
    threshold: Annotated[
        str, option("--threshold J", "Least Jaccard of two documents' shingles, in (0, 1].")
    ] = "0.8",
    topics: Annotated[
        list[str] | None,
        option(
            "--topic TOPIC", "Carry over, release and compare grades of this topic alone; may be repeated."
        ),
    ] = None,
    carry: Annotated[
        bool, option("--carry", "Show judges one document in the place of its near-duplicates.")
    ] = False,
    release: Annotated[bool, option("--release", "Show every document itself again.")] = False,
    kinds: KindsOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Find near-duplicate documents, and say how alike they were graded.

    Every pair of documents in pools with a Jaccard of J or more is found, none by chance. With --carry
    documents that nobody has looked at are no longer shown where a near-duplicate is; they stay unjudged.
    `pooler export qrels --carried` writes the grade of the document that was shown for them, too, and marks
    it. It is no judgement, and counts nowhere else. Documents of adaptive and sampled pools are not carried
    over.

    Example: pooler duplicates

    Example: pooler duplicates --carry --topic G01
    """
    from pooler.results.alike.duplicates import Duplicates
    from pooler.results.alike.duplicates import duplicates as find
    from store.collection import Collection

    if carry and release:
        raise ContradictionError("--carry", "excludes --release", None)
    output.check(tables=Duplicates.NAMES)
    with Collection(collection) as opened:
        found = find(
            opened,
            threshold=threshold,
            topics=topics or (),
            kinds=kinds_of(kinds),
            carry=carry,
            release=release,
        )
    render(found, output)
    for sentence in found.sentences():
        say(sentence)
