"""What a command prints is what the function of the same name returns: to the last digit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import pooler as p
from pooler.cli.commands import app
from pooler.cli.render import Output, render
from tests.helpers.run import Cli

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
    "audit strict --against lenient": lambda c: p.audit(c, "strict", "lenient"),
    f"audit judgements/middle.qrels {' '.join(FILES)} --qrels {QRELS} --scale 0-2": lambda _c: p.audit(
        p.source(FILES, judgements=["judgements/middle.qrels", QRELS], scale="0-2"), "middle", "strict"
    ),
    f"diff {QRELS} judgements/lenient.qrels {' '.join(FILES)} --by-topic --list": lambda _c: p.compare_qrels(
        QRELS, "judgements/lenient.qrels", runs=FILES
    ),
    "evaluate --judge strict -m AP -m nDCG@5 -m NumRel": lambda c: p.evaluate(
        strict(c), ["AP", "nDCG@5", "NumRel"]
    ),
    "evaluate --judge strict --by-topic": lambda c: p.evaluate(strict(c)),
    f"evaluate --qrels {QRELS} {' '.join(FILES)}": lambda _c: p.evaluate((FILES, QRELS)),
    "evaluate --judge strict --curves": lambda c: p.curves(strict(c), topics=()),
    "evaluate --judge strict --curves --by-topic": lambda c: p.curves(strict(c)),
    "evaluate --judge strict --cut 5 --size 160": lambda c: p.cut(strict(c), 5, size=160),
    f"evaluate --qrels {QRELS} {' '.join(FILES)} --threshold 5": lambda _c: p.cut(
        (FILES, QRELS), threshold=5
    ),
    "evaluate --judge strict --leave-one-out -m nDCG@5": lambda c: p.choose(strict(c), "nDCG@5"),
    "evaluate --judge strict --folds 3 --seed 2": lambda c: p.choose(strict(c), folds=3, seed=2),
    "clusters clusters.txt classes.txt": lambda _c: p.clusters("clusters.txt", "classes.txt"),
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
    "design --variance .05 --difference .1 --topics 20": lambda _c: p.design(
        variance=[0.05], difference=[0.1], topics=[20]
    ),
    "design --judge strict --depths 2,5 --seconds 20": lambda c: p.design(
        strict(c), depths=[2, 5], seconds=20
    ),
    "design --reliability --judge strict -m nDCG@5": lambda c: p.reliability(strict(c), measure="nDCG@5"),
    "required-difference --variance .01,.05": lambda _c: p.required_difference(variance=[0.01, 0.05]),
    "required-difference --all --judge strict": lambda c: p.required_difference(strict(c)),
    "ap-properties": lambda _c: p.ap_properties(),
    "ap-properties --rank 101 --relevant 10,50": lambda _c: p.ap_properties(relevant=[10, 50], rank=101),
    "ap-properties --rank 101 --relevant 50 --as-printed": lambda _c: p.ap_properties(
        relevant=[50], rank=101, as_printed=True
    ),
    "ap-properties --swap 2,3 --ranks 1,2": lambda _c: p.swap_of_ranks([1, 2], 2, 3),
    "evaluate --judge strict --r own": lambda c: p.evaluate(strict(c), "OwnAP"),
    "evaluate --judge strict --attainable 5": lambda c: p.attainable(strict(c), 5),
    "compare --all --signs 5 --judge strict": lambda c: p.mean_signs(
        strict(c), 5, runs=[one.tag for one in c.runs.all()]
    ),
    "variation": lambda c: p.variation(c),
    "variation --discover bm25-words --flip not-relevant --pairs": lambda c: p.discoveries(
        c, "bm25-words", flip="not-relevant", pairs=True
    ),
    "paper bm25-words tfidf-words": lambda c: p.paper(c, "bm25-words", "tfidf-words"),
    "paper --of-kishida": lambda _c: p.paper_of_kishida(),
    "next --limit 5": lambda c: p.next_documents(c, limit=5),
    "next --until recall=.8@.9 --judge strict": lambda c: p.recall_bounds(
        strict(c), confidence=0.9, target=0.8, estimate=True
    ),
    "diagnose --judge strict": lambda c: p.diagnose(strict(c)),
    "provenance": lambda c: p.provenance(c),
    "duplicates": lambda c: p.duplicates(c),
    "evaluate --judge strict --duplicates novelty": lambda c: p.evaluate(strict(c), duplicates="novelty"),
    "adjudicate --list --duplicates": lambda c: p.disagreements(c, duplicates=True),
    "replay --judge strict -s take -s mtf --depth 10 --budgets 5,10": lambda c: p.replay(
        strict(c), ["take", "mtf"], depth=10, budgets=[5, 10]
    ),
    "check runs/bm25-words.run": lambda _c: p.check_runs("runs/bm25-words.run"),
    "status": lambda c: p.status(c),
    "status --recall .9": lambda c: p.recall_bounds(c, confidence=0.9),
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
    "list topics": lambda c: p.listing(c, "topics"),
    "list docs": lambda c: p.listing(c, "docs"),
    "list pools": lambda c: p.listing(c, "pools"),
    "list rounds": lambda c: p.listing(c, "rounds"),
    "pool --list": lambda _c: p.list_strategies(),
    "pool --depth 3 --name new --dry-run": lambda c: p.pool_collection(
        c, depth=3, name="new", dry_run=True
    ),
    "pool diff pool pool": lambda c: p.compare_pools("pool", "pool", collection=c),
    "unpool bm25-words --dry-run": lambda c: p.unpool(c, "bm25-words", dry_run=True),
    "assign --show": lambda c: p.assigned(c),
    "show topic G01": lambda c: p.details(c, "topic", "G01"),
    "show doc KG-E-002": lambda c: p.details(c, "doc", "KG-E-002"),
    "show pool pool": lambda c: p.details(c, "pool", "pool"),
    "show judge strict": lambda c: p.details(c, "judge", "strict"),
    "show run bm25-words": lambda c: p.details(c, "run", "bm25-words"),
}  # fmt: skip


ELSEWHERE = {
    "judges list": "some columns of `list judges`",
    "estimate": "below, with a sampled pool",
    "grant": "tests/roles/test_grant.py: a file has none",
    "merge": "tests/api/test_keeping.py",
}
"""Commands that print tables, and where these are compared instead."""


def test_every_command_that_prints_a_table_is_compared() -> None:
    """A new command stands here, or nobody knows that a notebook gets the same."""
    printing = {name for name, options in _commands(get_command(app)) if "--table" in options}
    compared = {name for name in printing for command in COMMANDS if f"{command} ".startswith(f"{name} ")}
    assert printing - compared == set(ELSEWHERE)
    assert len(printing) > 35


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield every command with its options."""
    if not hasattr(command, "commands") or hasattr(command, "alone"):
        alone = getattr(command, "alone", command)
        yield name, {option for parameter in alone.params for option in parameter.opts}
    for word in list(getattr(command, "commands", ())):
        yield from _commands(command.commands[word], f"{name} {word}".strip())


def test_estimates_of_a_sampled_pool(cli: Cli, judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same rows, topic by topic too, of the collection and of its exported sample."""
    drawn = ("--strategy", "stratified", "--param", "strata=1:2,3:9:0.4", "--budget", "12", "--seed", "3")
    cli("pool", *drawn, "--name", "drawn").fine()
    told = cli("estimate", "--pool", "drawn", "--judge", "strict", "--by-topic", "--format", "json").fine()
    with p.open_collection("collection.db") as collection:
        found = p.estimate(p.source(collection, judge="strict"), pool="drawn")
    whole = told.whole()
    assert found.table("runs").to_records() == whole["runs"]
    assert found.table("by_topic").to_records() == whole["by_topic"]
    assert dict(found.facts()) == whole["facts"]
    assert found.mean["xinfap"].shape == (9,)
    assert found.warnings == tuple(whole["warnings"])


def test_corrected_scores_of_a_grid(cli: Cli, judged: Path) -> None:
    """`estimate --with-model` prints what `corrected` returns."""
    grid = ("--strategy", "grid", "--param", "model=lenient", "--depth", "5", "--total-budget", "60")
    cli("pool", *grid, "--seed", "3", "--name", "drawn").fine()
    asked = ("--with-model", "lenient", "--judge", "strict", "-m", "P@5", "-m", "AP", "--way", "plain")
    told = cli("estimate", *asked, "--pairs", "--by-topic", "--format", "json").fine().whole()
    with p.open_collection("collection.db") as collection:
        judges = p.source(collection, judge="strict")
        found = p.corrected(judges, "lenient", measures=["P@5", "AP"], way="plain")
    for name in ("runs", "measures", "pairs", "by_topic"):
        assert found.table(name).to_records() == told[name], name
    assert dict(found.facts()) == told["facts"]
    assert found.warnings == tuple(told["warnings"])
    assert "strict is a model, not a person" in " ".join(found.warnings)


@pytest.mark.parametrize("command", COMMANDS)
def test_command_prints_what_the_function_returns(
    cli: Cli, judged: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Every table and fact that the command writes is the function's, cell by cell."""
    Path("clusters.txt").write_text("d1 a\nd2 a\nd3 b\n")
    Path("classes.txt").write_text("d1 red\nd2 white\nd3 white\n")
    printed = cli(*shlex.split(command), "--format", "json").fine().whole()
    with p.open_collection("collection.db") as collection:
        result = COMMANDS[command](collection)
        capsys.readouterr()
        render(result, Output(fmt="json"))
    made = json.loads(capsys.readouterr().out)
    assert len(repr(result).splitlines()) == 2
    assert result._repr_html_().startswith("<table>")
    tables = [name for name in printed if name not in ("settings", "warnings")]
    assert tables
    for name in tables:
        assert printed[name] == made[name], name
    assert printed.get("warnings", []) == made.get("warnings", [])
