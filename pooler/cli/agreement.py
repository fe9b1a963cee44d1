"""`pooler agreement`: how far judges agree, pair by pair."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import Cell, Column, Format, Table, emit
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FormatOption,
    LevelOption,
    RelaxedOption,
    RigidOption,
)
from store.errors import PoolerError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.analysis.agreement import KappaResult, PairAgreement, Share, TableAgreement
    from store.records import Scale


def agreement(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="JUDGE...", help="Two or more judges; default all."),
    ] = None,
    level: LevelOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    by_topic: Annotated[bool, typer.Option("--by-topic", help="One row a topic, too.")] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="The cross table of grades of every pair, too.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Measure agreement over the documents that both judges of a pair have graded.

    Kappa is Cohen's: unweighted, linear and quadratic on the declared scale, and at a binary
    level. Positive agreement is 2a/(2a+b+c), overlap a/(a+b+c) of the relevant documents. A
    coefficient that does not exist is a reason, never a number.

    Example: pooler agreement --level 1 --by-topic
    """
    from store.analysis.agreement import pair_agreement
    from store.analysis.collapse import level_index, level_of
    from store.analysis.grade_matrix import grade_matrix, pair_tables
    from store.collection import Collection

    with Collection(collection) as opened:
        scale = opened.scale
        known = [judge.name for judge in opened.judges()]
        for name in names or []:
            if name not in known:
                raise UnknownNameError("judge", name, known)
        judgements = opened.judgements(names or None)
    cut = level_of(scale, level=level, rigid=rigid, relaxed=relaxed)
    cut = scale.relaxed if cut is None else cut
    matrix = grade_matrix(judgements, scale.values)
    judges = list(dict.fromkeys(names)) if names else list(matrix.judges)
    if len(judges) < 2:
        message = f"agreement needs two judges, and there is {', '.join(judges) or 'none'}"
        raise PoolerError(message, hint="pooler judges list; pooler import judgements")
    summary = Table(
        "agreement", _columns(by_topic), title=f"Agreement; relevant = grade {cut} or more"
    )
    cross = Table("cross_tables", [Column("first"), Column("second"), Column("first_grade"),
                                   *(Column(f"second_{value}", f"second: {value}")
                                     for value in scale.values)])  # fmt: skip
    for first, second in combinations(judges, 2):
        present = {first, second} <= set(matrix.judges)
        grid = pair_tables(matrix, first, second) if present else _no_tables(scale)
        result = pair_agreement(grid, level_index(scale, cut))
        pair: dict[str, Cell] = {"first": first, "second": second}
        summary.rows.append({**pair, "topic": "all", **_row(result.overall), **_macro(result)})
        if by_topic and present:
            summary.rows += [
                {**pair, "topic": topic, **_row(one)}
                for topic, one in zip(matrix.topics, result.topics, strict=True)
                if one.n_documents
            ]
        for place, value in enumerate(scale.values):
            counts = result.overall.table[place].tolist()
            cells = {f"second_{other}": count
                     for other, count in zip(scale.values, counts, strict=True)}  # fmt: skip
            cross.rows.append({**pair, "first_grade": value, **cells})
    if fmt is Format.TABLE:
        graded, binary = _for_people(summary, cut, by_topic=by_topic)
        emit([graded, binary, *([cross] if tables else [])], fmt)
    else:
        emit([summary, cross] if tables or fmt is Format.JSON else [summary], fmt)


def _for_people(summary: Table, level: int, *, by_topic: bool) -> tuple[Table, Table]:
    """Cut the wide table in two that fit a terminal; empty columns are left out."""
    keys = ("first", "second", "topic", "n") if by_topic else ("first", "second", "n")
    grades: tuple[str, ...] = ("raw", "kappa", "kappa_se", "linear", "quadratic")
    grades += ("first_marginals", "second_marginals")
    relevant: tuple[str, ...] = ("binary_raw", "binary", "positive", "overlap")
    relevant += ("macro_overlap", "macro_topics")
    columns = {column.name: column for column in summary.columns}
    used = {name for row in summary.rows for name, cell in row.items() if cell is not None}
    made = []
    for title, names in (
        ("Agreement on grades", (*keys, *grades, "reason")),
        (f"Agreement on relevant (grade {level} or more) or not", (*keys, *relevant)),
    ):
        shown = [columns[name] for name in names if name in used]
        made.append(Table("agreement", shown, summary.rows, title=title))
    made[0].caption = (
        "N: documents graded by both; skipped and unjudgeable ones have no grade."
        " 1st, 2nd: how often each grade was given, lowest first."
    )
    made[
        1
    ].caption = "positive 2a/(2a+b+c), overlap a/(a+b+c) over all documents; macro: mean of topics."
    return made[0], made[1]


def _columns(by_topic: bool) -> list[Column]:  # noqa: FBT001 - private
    """Name the columns of the summary."""
    columns = [Column("first"), Column("second")]
    columns += [Column("topic")] if by_topic else []
    columns += [
        Column("n", "N"), Column("raw", "same"), Column("kappa"),
        Column("kappa_se", "s.e."), Column("linear"), Column("quadratic", "quad."),
        Column("binary", "kappa"), Column("binary_raw", "same"),
        Column("positive"), Column("overlap"), Column("macro_overlap", "macro"),
        Column("macro_topics", "topics"), Column("first_marginals", "1st"),
        Column("second_marginals", "2nd"), Column("reason"),
    ]  # fmt: skip
    return columns


def _row(one: TableAgreement) -> dict[str, Cell]:
    """Turn one table's coefficients into cells; the first reason stands for all."""
    kappas = (one.kappa, one.linear, one.quadratic, one.binary.kappa)
    shares = (one.raw, one.binary.raw, one.binary.positive, one.binary.overlap)
    reasons = dict.fromkeys(
        _named(name, result)
        for name, result in zip(("kappa", "linear", "quadratic", "binary"), kappas, strict=True)
        if result.reason
    )
    reasons |= dict.fromkeys(
        _named(name, share)
        for name, share in zip(("raw", "raw", "positive", "overlap"), shares, strict=True)
        if share.reason
    )
    return {
        "n": one.n_documents,
        "raw": one.raw.value,
        "kappa": one.kappa.kappa,
        "kappa_se": one.kappa.standard_error,
        "linear": one.linear.kappa,
        "quadratic": one.quadratic.kappa,
        "binary": one.binary.kappa.kappa,
        "binary_raw": one.binary.raw.value,
        "positive": one.binary.positive.value,
        "overlap": one.binary.overlap.value,
        "first_marginals": "/".join(map(str, one.first_marginals.tolist())),
        "second_marginals": "/".join(map(str, one.second_marginals.tolist())),
        "reason": ", ".join(reasons) or None,
    }


def _named(name: str, result: KappaResult | Share) -> str:
    """Say which coefficient is missing and why; one reason for all needs no name."""
    return f"{name}: {result.reason}"


def _macro(result: PairAgreement) -> dict[str, Cell]:
    """Turn the mean overlap of topics into cells."""
    macro = result.macro_overlap
    return {"macro_overlap": macro.value, "macro_topics": macro.n_topics}


def _no_tables(scale: Scale) -> NDArray[np.int64]:
    """Make the tables of two judges who share nothing."""
    from numpy import int64, zeros

    return zeros((1, len(scale.values), len(scale.values)), dtype=int64)
