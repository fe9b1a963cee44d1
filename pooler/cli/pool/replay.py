"""`pooler replay`: what strategies would have found on topics that have been judged."""

from __future__ import annotations

from typing import Annotated, Literal

from pooler.cli.render import Output, PlotOption, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ArgumentError


@command
def replay(
    given: SourceOptions,
    output: Output,
    *,
    strategies: Annotated[
        list[str] | None,
        option(
            "--strategy -s NAME[:PARAM=VALUE,...]",
            "A strategy to follow, or FILE.py:function; may be repeated, as in -s take -s rrf:k=30.",
            show_default="take, rrf, borda, rbp-a, mtf, hedge, max-mean, mm-ns, rbp-b",
        ),
    ] = None,
    depth: Annotated[
        int, option("--depth -d -N", "Documents taken from each run for each topic.", min=1)
    ] = 100,
    budgets: Annotated[
        str | None,
        option(
            "--budgets N,...",
            "Judgements per topic at which to compare; `all` goes to the last document.",
            show_default="10, 20, 50, 100, 200, 500 ... all",
        ),
    ] = None,
    unjudged: Annotated[
        Literal["pass", "nonrelevant"],
        option(
            "--unjudged",
            "A document without a judgement is skipped at no cost (pass), or costs a judgement and counts as"
            " not relevant (nonrelevant).",
        ),
    ] = "pass",
    by_topic: Annotated[bool, option("--by-topic -q", "One row per topic and strategy.")] = False,
    plot: PlotOption = None,
    seed: Annotated[int | None, option("--seed", "Seed of random strategies.", min=0)] = None,
) -> None:
    """Repeat the judging in each strategy's order, and compare them.

    Every topic gets the same budget of judgements. `take` is depth pooling that stops at the budget,
    the one to beat; `depth` lists the whole pool, documents of most runs first. Runs that do not
    contribute (as recorded in the collection or in --runs) are scored but not pooled.

    tau-b and tau_AP compare two orders of all runs by MAP: by the judgements spent so far, and by all
    judgements.

    Example: pooler replay --depth 5 --qrels alice -s take -s rrf:k=10 --budgets 5,10,all --plot found.svg
    """
    from pooler.results.pool import replay as results

    output.check(plot=plot)
    found = results.replay(
        given.source(),
        strategies or (),
        depth=depth,
        budgets=None if budgets is None else _parse_budgets(budgets),
        unjudged=unjudged,
        seed=seed,
        cutoff=given.cutoff,
    )
    render(found, output, "topics" if by_topic else "replay", plot=plot)


def _parse_budgets(text: str) -> list[int | None]:
    """Read what `--budgets` was given; ``None`` is `all`."""
    budgets: list[int | None] = []
    for part in text.split(","):
        word = part.strip()
        if word == "all":
            budgets.append(None)
        elif word.isascii() and word.isdigit() and int(word) >= 1:
            budgets.append(int(word))
        else:
            raise ArgumentError("--budgets", "must be integers >= 1, or `all`, with commas", text)
    return budgets
