"""`pooler qrels`: qrels of a collection by name, defined, listed, dropped and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pooler.cli.commands import with_forms
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CodeOption,
    CollectionOption,
    CutoffOption,
    LenientOption,
    OrderOption,
    RuleOptions,
    RunsOption,
)
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say
from store.formats.codes import parse_map
from store.text import counted


@command
def qrels(output: Output, collection: CollectionOption = DEFAULT_COLLECTION) -> None:
    """List the qrels of the collection by name, with their versions.

    `official` is there from the start, and is what is measured with unless --qrels names others: the grade
    of the judge to whom the document is assigned as primary, else the only grade, else equal grades; an
    adjudicator's ruling stands above every rule. A judge's name stands for that judge's own grades.

    Example: pooler qrels
    """
    from pooler.qrels_rules import qrels as list_qrels

    output.check()
    render(list_qrels(collection), output)


@command
def define(
    name: Annotated[str, argument("NAME", "What the qrels are to be called: no judge's name.")],
    *,
    rule: RuleOptions,
    mapped: Annotated[
        list[str] | None, option("--map FROM=TO", "Read one grade as another, before any rule.")
    ] = None,
    pool: Annotated[str | None, option("--pool NAME", "Only documents of this pool.")] = None,
    as_of: Annotated[
        str | None,
        option(
            "--as-of DATE|now",
            "Judgements up to this moment, as 2026-03-01 (its end) or 2026-03-01T18:00.",
            show_default="live: as they stand when they are used",
        ),
    ] = None,
    without_topics: Annotated[
        list[str] | None,
        option("--without-topic TOPIC|FILE", "Leave this topic out, or those of a file, one a line."),
    ] = None,
    relaxed: Annotated[
        int | None, option("--relaxed SUM", "With --aggregate sum: the least sum that is relevant.")
    ] = None,
    rigid: Annotated[
        int | None, option("--rigid SUM", "With --relaxed: the least sum that is highly relevant.")
    ] = None,
    default: Annotated[bool, option("--default", "Measure with these where no qrels are named.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Define qrels: whose judgements count, and how several grades become one.

    Defining a name again makes its next version; earlier ones stay and are named as in official@1. With
    --as-of now the qrels are those of this moment, whatever is judged later.

    Example: pooler qrels define official --aggregate majority --ties low

    Example: pooler qrels define published --aggregate majority --ties low --as-of now
    """
    from pooler.qrels_rules import qrels_define

    definition = rule.definition(
        map=parse_map(mapped or [], {}),
        pool=pool,
        as_of=as_of,
        without_topics=_topics(without_topics or []),
        relaxed=relaxed,
        rigid=rigid,
    )
    qrels_define(collection, name, definition, default=default)


def _topics(words: list[str]) -> list[str]:
    """Return topics that are named, or that files list."""
    found: list[str] = []
    for word in words:
        path = Path(word)
        found += path.read_text("utf-8").split() if path.is_file() else [word]
    return found


@command
def drop(
    name: Annotated[str, argument("NAME", "Not `official`, nor the default.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Drop qrels of the collection, with all their versions.

    Example: pooler qrels drop strict
    """
    from pooler.qrels_rules import qrels_drop

    say(f"`{name}` is dropped: {counted(qrels_drop(collection, name), 'version')}")


@command
def diff(
    before: Annotated[str, argument("A", "The older qrels: a name, or a file.")],
    after: Annotated[str, argument("B", "The newer qrels.")],
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run files, to see what the difference does to their order.")
    ] = None,
    listed: RunsOption = None,
    by_topic: Annotated[bool, option("--by-topic -q", "One row per topic that differs.")] = False,
    list_: Annotated[bool, option("--list", "One row per document that differs.")] = False,
    level: Annotated[int, option("--level N", "Least grade that counts as relevant.")] = 1,
    codes: CodeOption = None,
    cutoff: CutoffOption = 1000,
    order: OrderOption = "trec",
    lenient: LenientOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Compare two qrels, grade by grade: names of the collection's, or files.

    Not listed, listed as unjudged (the code -1) and judged are three states: a document listed as
    unjudged in A and graded in B counts as judged now, not as added. "Became" and "ceased" count
    changed grades that cross --level. With runs: MAP under both, each over its own topics with a
    relevant document; Kendall's tau-b; tau_AP weighted by the first places of A's order (back: of B's);
    and the pairs of runs that swap. Files need no collection.

    Example: pooler qrels diff judgements/lenient.qrels judgements/strict.qrels runs/bm25-words.run --by-topic

    Example: pooler qrels diff strict lenient
    """
    from pooler.results.agree.differences import qrels_diff

    output.check()
    found = qrels_diff(
        before,
        after,
        runs=runs or (),
        listed=listed,
        level=level,
        codes=codes or (),
        cutoff=cutoff,
        order=order,
        lenient=lenient,
        collection=collection,
    )
    asked = {"topics": by_topic, "differences": list_}
    render(found, output, *(name for name in found.names() if asked.get(name, True)))


app = with_forms(qrels, define=define, drop=drop, diff=diff)
