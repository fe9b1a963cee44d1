"""The list of measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pooler.result import Result
from pooler.tables import Column, Table
from store.analysis.measures.names import ALIASES, DCGS, MEASURES, Definition


def list_measures() -> MeasureList:
    """List the measures, what they can be told, and what else they are called.

    Examples
    --------
    >>> list_measures().table("measures").to_records()[0]["measure"]
    'AP[@N]'
    """
    return MeasureList()


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MeasureList(Result):
    """The measures there are; table: `measures`."""

    def _tables(self) -> Iterator[Table]:
        others: dict[str, list[str]] = {}
        for alias, known in ALIASES.items():
            others.setdefault(known, []).append(alias)
        columns = {
            Column("measure"): [known + _at(measure) for known, measure in MEASURES.items()],
            Column("parameters", "texts"): [
                [f"{parameter}=" for parameter in measure.parameters] for measure in MEASURES.values()
            ],
            Column("also", "texts"): [others.get(known, []) for known in MEASURES],
            Column("summary"): [measure.summary for measure in MEASURES.values()],
        }
        notes = [
            "@N: ranks that count; in brackets where optional. (rel=N): least relevant grade, instead of"
            f" the level. dcg: {', '.join(DCGS)} (the first two as ir_measures; the others of the original"
            " article, which it lacks).",
            "docs: size of the collection. beta: how much more recall counts than precision; in Q, how"
            " much gains count.",
            "Upper and lower case make no difference. Names of trec_eval are known: map, P_5,"
            " ndcg_cut_10, ...",
        ]
        yield Table.of_columns("measures", columns, notes=notes).seen_as(limit=len(MEASURES))


def _at(measure: Definition) -> str:
    if measure.at is None:
        return ""
    at = "@RECALL" if measure.at == "recall" else "@N"
    return at if measure.is_at_required else f"[{at}]"
