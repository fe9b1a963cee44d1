"""Commands of a report that need no collection to be looked at."""

from __future__ import annotations

import pytest

from pooler.sources.command_lines import CommandLines
from pooler.sources.source import Source
from store.records import Qrel


def test_no_password_is_shown() -> None:
    """The URL stays what it was without it, and the page says so."""
    for url, shown in (
        ("postgresql://u:s3cret@host:1/db?options=-csearch_path%3Dx",
         "'postgresql://u@host:1/db?options=-csearch_path%3Dx'"),
        ("postgresql://u@host/db?password=s3cret&sslmode=require",
         "'postgresql://u@host/db?sslmode=require'"),
    ):  # fmt: skip
        commands = CommandLines(Source(collection=url), {})
        assert commands.leaves_password
        assert commands.of_collection("status") == f"pooler status --collection {shown}"


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (Source(), ""),
        (Source(collection="collection.db"), ""),
        (Source(["a", "b"], collection="x.db", level="rigid"), "--level rigid --collection x.db a b"),
        (Source(qrels="ann"), "--qrels ann"),
        (Source(qrels="official@2", level=2), "--qrels official@2 --level 2"),
        (Source(["a.run"], qrels="./q", scale="0-3", level="relaxed", order="docno-asc", lenient=True),
         "--qrels ./q --level relaxed --order docno-asc --scale 0-3 --lenient a.run"),
        (Source(qrels="./q", listed="runs.tsv"), "--qrels ./q --runs runs.tsv"),
    ],
)  # fmt: skip
def test_a_command_names_what_a_source_is_of(source: Source, options: str) -> None:
    """Every option that is not the default, and no other."""
    assert CommandLines(source, {}).of_runs("diagnose") == f"pooler diagnose {options}".rstrip()


def test_what_is_in_memory_has_no_command() -> None:
    """No command line could name it."""
    assert CommandLines(Source(["a.run"], qrels=[Qrel("1", "d", 1)]), {}).of_runs("diagnose") == ""


def test_the_cutoff_and_values_stand_in_commands() -> None:
    """As they were given."""
    commands = CommandLines(Source(), {}, cutoff=20, values=("0=.1", "1=.9"))
    assert commands.of_probabilities("variation", "--by", "pair") == (
        "pooler variation --by pair --value 0=.1 --value 1=.9 --cutoff 20"
    )
