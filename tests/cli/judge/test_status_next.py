"""The line to type next, by how far a collection has come; typed as it stands, it leads to qrels."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from pooler.commands.judge.status_next import Stage, next_command
from tests.helpers.run import Cli, write

BEGUN: dict[str, Any] = {"topics": 2, "runs": 2, "pools": 1}
JUDGED: dict[str, Any] = {**BEGUN, "judges": 1, "people": 1, "judgements": 9}
TWO: dict[str, Any] = {**BEGUN, "judges": 2, "people": 2}
BOTH_LEFT: dict[str, Any] = {**TWO, "left": ["ann", "ben"], "untouched": True}
RULE = "qrels define official --aggregate majority --ties low"
EXPORT = "export qrels --out qrels.txt"
STAGES: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "import topics FILE"),
    "topics alone": ({"topics": 2}, "import runs RUN..."),
    "runs without topics": ({"runs": 2}, "import topics FILE"),
    "no pool": ({"topics": 2, "runs": 2}, "pool"),
    "pool without runs": ({"topics": 2, "pools": 1}, "judges add NAME"),
    "no texts": ({**BEGUN, "without_text": 3}, "import docs FILE"),
    "texts of what is judged": ({**JUDGED, "without_text": 3}, EXPORT),
    "no judges": (BEGUN, "judges add NAME"),
    "one person": ({**BEGUN, "judges": 1, "people": 1, "left": ["ann"]}, "judge --judge ann"),
    "nobody assigned": (BOTH_LEFT, "assign --per-document 1"),
    "nobody assigned, but begun": ({**BOTH_LEFT, "judgements": 1}, "serve"),
    "assigned": ({**BOTH_LEFT, "assigned": True}, "serve"),
    "assigned, one is left": (
        {**TWO, "assigned": True, "left": ["ben"], "judgements": 4},
        "judge --judge ben",
    ),
    "pooled since": ({**TWO, "assigned": True, "unassigned": 3, "judgements": 9}, "assign --add"),
    "late run before judging": ({**BOTH_LEFT, "unpooled": 1}, "pool --add"),
    "late run behind": ({**JUDGED, "unpooled": 1}, "pool --add"),
    "a model is left": ({**BEGUN, "judges": 1, "models": ["llama"], "untouched": True}, "ask llama"),
    "people before models": (
        {**BEGUN, "judges": 2, "people": 1, "left": ["ann"], "models": ["m"]},
        "judge --judge ann",
    ),
    "models that cannot be asked": (
        {**BEGUN, "judges": 1, "judgements": 5, "untouched": True},
        "judges add NAME",
    ),
    "disputes and nobody to settle": ({**JUDGED, "disputes": 2}, RULE),
    "disputes and an adjudicator": (
        {**JUDGED, "disputes": 2, "adjudicator": "zoe"},
        "adjudicate --judge zoe",
    ),
    "disputes under a rule": ({**JUDGED, "disputes": 2, "has_rule": True}, EXPORT),
    "all is judged": (JUDGED, EXPORT),
    "judgements from elsewhere": ({"runs": 2, "judges": 1, "judgements": 9}, EXPORT),
}


@pytest.mark.parametrize(("stage", "line"), STAGES.values(), ids=STAGES)
def test_next_command_follows_from_the_stage(stage: dict[str, Any], line: str) -> None:
    """Each state of a collection has one line, and the line says one thing."""
    assert next_command(Stage(**stage)) == line


def next_of(cli: Cli, *options: str) -> str:
    """Return what `status` ends with, which is what its JSON says."""
    last = cli("status", *options).fine().err.splitlines()[-1]
    assert cli("status", *options, "--format", "json").whole()["facts"] == {
        "next": last.removeprefix("next: ")
    }
    return last.removeprefix("next: pooler ")


def test_the_line_leads_from_an_empty_collection_to_qrels(cli: Cli, here: Path) -> None:
    """Whoever types what `status` says, and fills in what is in capitals, gets qrels of two judges."""
    write(here / "topics.tsv", "1\tbees", "2\twasps")
    write(here / "docs.tsv", *[f"{docno}\ttext of {docno}" for docno in "abc"])
    for tag, docnos in {"x": "ab", "y": "ac"}.items():
        lines = [f"{topic} Q0 {docno} 1 {9 - at} {tag}" for topic in "12" for at, docno in enumerate(docnos)]
        write(here / f"{tag}.run", *lines)
    write(here / "ben.qrels", *[f"{topic} 0 {docno} 2" for topic in "12" for docno in "abc"])
    cli("init").fine()
    typed: list[str] = []

    def step(*filled: str, stdin: bytes = b"") -> None:
        line = next_of(cli)
        typed.append(line)
        words = [word for word in shlex.split(line) if not word.rstrip(".").isupper()]
        cli(*words, *filled, stdin=stdin).fine()

    step("topics.tsv")
    step("x.run")
    step()
    step("docs.tsv")
    step("ann")
    step("--plain", stdin=b"\n1\n1\n\n" * 2 + b"q\n")
    cli("import", "runs", "y.run").fine()
    step()
    step("docs.tsv")
    step("--plain", stdin=b"\n1\n\n" * 2 + b"q\n")
    cli("import", "judgements", "ben.qrels", "--judge", "ben", "--kind", "human").fine()
    step()
    step()
    assert typed == [
        "import topics FILE", "import runs RUN...", "pool", "import docs FILE", "judges add NAME",
        "judge --judge ann", "pool --add", "import docs FILE", "judge --judge ann",
        RULE, EXPORT,
    ]  # fmt: skip
    assert (here / "qrels.txt").read_text() == "".join(
        f"{topic} 0 {docno} 1\n" for topic in "12" for docno in "abc"
    )


def test_a_run_that_brings_nothing_new_is_not_to_be_pooled(cli: Cli, here: Path) -> None:
    """`pool --add` is not said of a run whose documents are in the pool: it would add none, for ever."""
    write(here / "x.run", *[f"1 Q0 {docno} 1 1 x" for docno in "ab"])
    write(here / "y.run", *[f"1 Q0 {docno} 1 1 y" for docno in "ab"])
    cli("init").fine()
    write(here / "t.tsv", "1\tbees")
    cli("import", "topics", "t.tsv").fine()
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("import", "runs", "y.run").fine()
    assert next_of(cli) == "import docs FILE"
    write(here / "z.run", "1 Q0 c 1 1 z")
    cli("import", "runs", "z.run", "--late").fine()
    said = " ".join(cli("status").fine().out.split())
    assert "1 run kept out of pools (z): pooler diagnose tells the cost; pooler import runs FILE" in said
    cli("import", "runs", "z.run", "--replace").fine()
    assert next_of(cli) == "pool --add"
    assert "kept out" not in cli("status").out


def test_the_line_names_a_collection_that_is_not_found_without(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collection of `--collection` stands in the line, in quotes where it must; a set one does not."""
    cli("init", "--collection", "my wine.db").fine()
    assert next_of(cli, "--collection", "my wine.db") == "import topics FILE --collection 'my wine.db'"
    monkeypatch.setenv("POOLER_COLLECTION", "my wine.db")
    assert next_of(cli) == "import topics FILE"


def test_the_program_alone_is_status_where_there_is_a_collection(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a collection it is help."""
    told = cli()
    assert "Usage: pooler" in told.out + told.err
    cli("init", "--collection", "wine.db").fine()
    assert "Usage: pooler" in cli().out + cli().err
    monkeypatch.setenv("POOLER_COLLECTION", "wine.db")
    assert cli().fine().err.endswith("next: pooler import topics FILE\n")
    monkeypatch.delenv("POOLER_COLLECTION")
    cli("init").fine()
    assert cli().fine().err.endswith("next: pooler import topics FILE\n")
