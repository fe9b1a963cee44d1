"""What a command prints is what the function of the same name returns: to the last digit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pooler as p
from pooler.cli.render import Format, Output, render
from tests.cli.conftest import Cli

Made = Callable[[Any], Any]
"""Of an open collection, the result."""


def strict(collection: Any, **more: Any) -> Any:
    """Name the runs with the judgements of one judge."""
    return p.source(collection, judge="strict", **more)


FILES = ("runs/bm25-words.run", "runs/tfidf-words.run")
QRELS = "judgements/strict.qrels"

COMMANDS: dict[str, Made] = {
    "agreement": lambda c: p.agreement(c),
    "agreement strict lenient --level 1 --by-topic": lambda c: p.agreement(
        c, judges=["strict", "lenient"], levels=[1], by_topic=True
    ),
    "agreement strict lenient --plan 0.2": lambda c: p.plan_sharing(c, 0.2, judges=["strict", "lenient"]),
    "agreement --matters": lambda c: p.disagreement_matters(c),
    f"agreement {QRELS} judgements/lenient.qrels --scale 0-2": lambda _c: p.agreement(
        p.source(judgements=[QRELS, "judgements/lenient.qrels"], scale="0-2")
    ),
    f"diff {QRELS} judgements/lenient.qrels {' '.join(FILES)} --by-topic --list": lambda _c: p.compare_qrels(
        QRELS, "judgements/lenient.qrels", runs=FILES
    ),
    "evaluate --judge strict -m AP -m nDCG@5 -m NumRel": lambda c: p.evaluate(
        strict(c), ["AP", "nDCG@5", "NumRel"]
    ),
    "evaluate --judge strict --by-topic": lambda c: p.evaluate(strict(c)),
    f"evaluate --qrels {QRELS} {' '.join(FILES)}": lambda _c: p.evaluate((FILES, QRELS)),
    "compare bm25-words tfidf-words --judge strict": lambda c: p.compare(
        strict(c), "bm25-words", "tfidf-words"
    ),
    "compare --all --judge strict": lambda c: p.compare(strict(c)),
    "sensitivity --depth 5 --judge strict": lambda c: p.sensitivity(strict(c), depth=5),
    "sensitivity --judge strict --by-topic --flips 3": lambda c: p.sensitivity(strict(c), flips=3),
    "sensitivity --judge strict --pairs": lambda c: p.sensitivity_pairs(strict(c)),
    "sensitivity --judge strict --each": lambda c: p.sensitivity_each(strict(c)),
    "sensitivity --judge strict --missing 2": lambda c: p.missing_bounds(strict(c), 2),
    "sensitivity --judge strict --missing 2 --pairs": lambda c: p.missing_pairs(strict(c), 2),
    "required-difference --variance .01,.05": lambda _c: p.required_difference(variance=[0.01, 0.05]),
    "required-difference --all --judge strict": lambda c: p.required_difference(strict(c)),
    "ap-properties": lambda _c: p.ap_properties(),
    "ap-properties --rank 101 --relevant 10,50": lambda _c: p.ap_properties(relevant=[10, 50], rank=101),
    "variation": lambda c: p.variation(c),
    "next --limit 5": lambda c: p.next_documents(c, limit=5),
    "diagnose --judge strict": lambda c: p.diagnose(strict(c)),
    "provenance": lambda c: p.provenance(c),
    "replay --judge strict -s take -s mtf --depth 10 --budgets 5,10": lambda c: p.replay(
        strict(c), ["take", "mtf"], depth=10, budgets=[5, 10]
    ),
    "check runs/bm25-words.run": lambda _c: p.check_runs("runs/bm25-words.run"),
    "status": lambda c: p.status(c),
    "effort --by-topic": lambda c: p.effort(c, by_topic=True),
    "history": lambda c: p.history(c),
    "history G01 KG-E-002": lambda c: p.history(c, "G01", "KG-E-002"),
    "history G01 --judge strict --limit 3": lambda c: p.history(c, "G01", judges=["strict"], limit=3),
    "list runs": lambda c: p.listing(c, "runs"),
    "list judges": lambda c: p.listing(c, "judges"),
    "judges erase strict --dry-run": lambda c: p.erasing(c, "strict"),
    "guidelines list": lambda c: p.listing(c, "guidelines"),
    "rejudge --judge strict --why text": lambda c: p.outdated(c, judges=["strict"], why=["text"]),
    "adjudicate --list --summary": lambda c: p.disagreements(c),
    "adjudicate --list --names --cell 0,2 --judges strict,middle": lambda c: p.disagreements(
        c, cell=(0, 2), judges=["strict", "middle"], names=True
    ),
    "adjudicate --summary --unresolved majority --level 1": lambda c: p.disagreements(
        c, unresolved="majority", level=1
    ),
    "verify": lambda c: p.verify(c),
    "show run bm25-words": lambda c: p.details(c, "run", "bm25-words"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_command_prints_what_the_function_returns(
    cli: Cli, judged: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Every table and fact that the command writes is the function's, cell by cell."""
    printed = cli(*shlex.split(command), "--format", "json").fine().whole()
    with p.open_collection("collection.db") as collection:
        result = COMMANDS[command](collection)
        capsys.readouterr()
        render(result, Output(fmt=Format.JSON))
    made = json.loads(capsys.readouterr().out)
    assert len(repr(result).splitlines()) == 2
    assert result._repr_html_().startswith("<table>")
    tables = [name for name in printed if name not in ("settings", "warnings")]
    assert tables
    for name in tables:
        assert printed[name] == made[name], name
    assert printed.get("warnings", []) == made.get("warnings", [])
