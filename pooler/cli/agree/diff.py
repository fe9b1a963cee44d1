"""`pooler diff`: two qrels files compared, and what their difference means for runs."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import CodeOption, CutoffOption, LenientOption, OrderOption, RunsOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option


@command
def diff(
    before: Annotated[str, argument("A.qrels", "The older qrels file.")],
    after: Annotated[str, argument("B.qrels", "The newer qrels file.")],
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run files, to see what the difference does to their order.")
    ] = None,
    listed: RunsOption = None,
    by_topic: Annotated[bool, option("--by-topic -q", "One row per topic that differs.")] = False,
    list_: Annotated[bool, option("--list", "One row per document that differs.")] = False,
    level: Annotated[int, option("--level", "Least grade that counts as relevant.")] = 1,
    codes: CodeOption = None,
    cutoff: CutoffOption = 1000,
    order: OrderOption = "trec",
    lenient: LenientOption = False,
    *,
    output: Output,
) -> None:
    """Compare two qrels files, grade by grade.

    Not listed, listed as unjudged (the code -1) and judged are three states: a document listed as
    unjudged in A and graded in B counts as judged now, not as added. "Became" and "ceased" count
    changed grades that cross --level. With runs: MAP under both files, each over its own topics with a
    relevant document; Kendall's tau-b; tau_AP weighted by the first places of A's order (back: of B's);
    and the pairs of runs that swap. Needs no collection.

    Example: pooler diff judgements/lenient.qrels judgements/strict.qrels runs/bm25-words.run --by-topic
    """
    from pooler.results.agree.differences import compare_qrels

    output.check()
    found = compare_qrels(
        before,
        after,
        runs=runs or (),
        listed=listed,
        level=level,
        codes=codes or (),
        cutoff=cutoff,
        order=order,
        lenient=lenient,
    )
    asked = {"topics": by_topic, "differences": list_}
    render(found, output, *(name for name in found.names() if asked.get(name, True)))
