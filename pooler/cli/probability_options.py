"""How likely documents are relevant: the options that say so; `pooler.cli.probable` loads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from store.errors import ArgumentError

HINT = "as in --value 0=0 --value 1=0.8 --value 2=1, or --level 1 for the share of judges"
BY_RANK = "by-rank"

ValueOption = Annotated[
    list[str] | None,
    typer.Option(
        "--value",
        metavar="GRADE=P",
        help="What a judge's grade is worth: the probability, from 0 to 1, that the document is"
        " relevant. Once for every grade of the scale. Default: the share of judges at the level.",
        show_default=False,
    ),
]
ProbabilitiesOption = Annotated[
    str | None,
    typer.Option(
        "--probabilities",
        metavar="FILE",
        help="Take the probabilities from a file, `topic docno p`, as `export probabilities`"
        " writes it. RUN may be files then, without --qrels.",
        show_default=False,
    ),
]
UnjudgedOption = Annotated[
    str,
    typer.Option(
        "--unjudged",
        metavar="P|by-rank",
        help="How likely a document is relevant that a run retrieved and nobody judged: one"
        " probability for all, or by its best rank, as a curve fitted to the judged ones says.",
    ),
]


def parse_values(texts: Sequence[str], grades: Sequence[int]) -> dict[int, float]:
    """Read what `--value` was given.

    Parameters
    ----------
    texts : sequence of str
        As in ``1=0.8``.
    grades : sequence of int
        The grades there are, ascending.

    Returns
    -------
    dict of int to float
        One probability for every grade, grades ascending.

    Raises
    ------
    ArgumentError
        If a text is no grade with a probability, or a grade is missing or there twice.

    Examples
    --------
    >>> parse_values(["2=1", "0=0", "1=.8"], (0, 1, 2))
    {0: 0.0, 1: 0.8, 2: 1.0}
    """
    from store.formats.probabilities import parse_probability

    known = {str(grade): grade for grade in grades}
    given: dict[int, float] = {}
    for text in texts:
        grade, equals, number = text.partition("=")
        if not equals or grade not in known:
            requirement = f"must be GRADE=P with a grade of {list(grades)}"
            raise ArgumentError("--value", requirement, text)
        if known[grade] in given:
            raise ArgumentError("--value", "must name each grade once", text)
        p = parse_probability(number)
        if p is None:
            raise ArgumentError("--value", "must have a probability from 0 to 1", text)
        given[known[grade]] = p
    missing = [grade for grade in grades if grade not in given]
    if missing:
        words = ", ".join(map(str, missing))
        requirement = f"must be given for every grade of the scale; {words} is missing"
        raise ArgumentError("--value", requirement, ", ".join(texts), hint=HINT)
    return {grade: given[grade] for grade in grades}


def parse_unjudged(text: str) -> float | None:
    """Read `--unjudged`.

    Returns
    -------
    float or None
        A probability; ``None`` = by rank.

    Raises
    ------
    ArgumentError
        If it is neither.

    Examples
    --------
    >>> parse_unjudged("0.05"), parse_unjudged("by-rank")
    (0.05, None)
    """
    from store.formats.probabilities import parse_probability

    if text == BY_RANK:
        return None
    p = parse_probability(text)
    if p is None:
        raise ArgumentError("--unjudged", f"must be a probability from 0 to 1, or {BY_RANK}", text)
    return p
