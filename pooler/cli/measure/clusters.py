"""`pooler clusters`: clusters of documents against their classes."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import LenientOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command


@command
def clusters(
    found: Annotated[str, argument("CLUSTERS", "A file of lines `docno cluster`.")],
    classes: Annotated[str, argument("CLASSES", "A file of lines `docno class`.")],
    lenient: LenientOption = False,
    *,
    output: Output,
) -> None:
    """Measure how well clusters of documents fit their classes.

    Purity: the share of documents that belong to the most frequent class of their cluster. Inverse
    purity: the share that lies in the cluster with most documents of their class. F: their harmonic
    mean. Needs no collection; both files name the same documents.

    Example: pooler clusters clusters.txt classes.txt
    """
    from pooler.results.agree.clusters import clusters as measure

    output.check()
    render(measure(found, classes, lenient=lenient), output)
