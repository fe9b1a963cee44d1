"""Commands of a report that need no collection to be looked at."""

from __future__ import annotations

from types import SimpleNamespace

from pooler.cli.report.commands import Commands
from pooler.cli.source_options import GivenPrinted as Given


def test_no_password_is_shown() -> None:
    """The URL stays what it was without it, and the page says so."""
    ctx = SimpleNamespace(get_parameter_source=lambda _: SimpleNamespace(name="ENVIRONMENT"),
                          command=SimpleNamespace(params=[]), params={})  # fmt: skip
    for url, shown in (
        ("postgresql://u:s3cret@host:1/db?options=-csearch_path%3Dx",
         "'postgresql://u@host:1/db?options=-csearch_path%3Dx'"),
        ("postgresql://u@host/db?password=s3cret&sslmode=require",
         "'postgresql://u@host/db?sslmode=require'"),
    ):  # fmt: skip
        commands = Commands(Given(ctx=ctx, collection=url), {})  # type: ignore[arg-type]
        assert commands.leaves_password
        assert commands.of_collection("status") == f"pooler status --collection {shown}"
