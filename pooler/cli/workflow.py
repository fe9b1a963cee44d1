"""The commands, in the order in which they are used, and the app that holds them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pooler.cli.lazy_group import Announced, LazyGroup
from pooler.cli.usage import usage_told

TABLE = {  # the first lines are the commands' own: a test holds them together
    "demo": Announced(
        "pooler.cli.demo:demo",
        "Run the whole chain on a sample collection: from run files to qrels "
        "and what they are worth.",
    ),
    "init": Announced(
        "pooler.cli.init:init",
        "Make an empty collection with a declared scale of grades.",
    ),
    "import": Announced(
        "pooler.cli.import_:app",
        "Bring topics, documents, runs and judgements in.",
    ),
    "check": Announced(
        "pooler.cli.check:check",
        "Check run files: exit code 0 when there is no fault, else 1.",
    ),
    "pool": Announced(
        "pooler.cli.pool:app",
        "Choose the documents to judge from the runs of files, or of a collection.",
    ),
    "provenance": Announced(
        "pooler.cli.provenance:provenance",
        "Show which runs and groups brought what into a depth pool, and the pool at other depths.",
    ),
    "unpool": Announced(
        "pooler.cli.unpool:unpool",
        "Take a run out of the pools it fed, and list what it alone had brought; "
        "or withdraw a pool.",
    ),
    "judges": Announced(
        "pooler.cli.judges:app",
        "The judges of a collection.",
    ),
    "guidelines": Announced(
        "pooler.cli.guidelines:app",
        "The judging guidelines, in versions.",
    ),
    "assign": Announced(
        "pooler.cli.assign:assign",
        "Assign pooled documents to judges, by name or for whoever claims them.",
    ),
    "judge": Announced(
        "pooler.cli.judge:judge",
        "Judge the documents of the pool, one key each.",
    ),
    "status": Announced(
        "pooler.cli.status:status",
        "Show how far each judge has come, and how long the rest will take.",
    ),
    "list": Announced(
        "pooler.cli.list_:app",
        "List what there is, one row a thing, with its counts.",
    ),
    "show": Announced(
        "pooler.cli.show:app",
        "Show everything known of one thing.",
    ),
    "history": Announced(
        "pooler.cli.history:history",
        "Tell who changed what, and when; or of one document of a topic, why it has its grade.",
    ),
    "effort": Announced(
        "pooler.cli.effort:effort",
        "Report what judging cost each judge, which decisions were hasty, and who drifts.",
    ),
    "rejudge": Announced(
        "pooler.cli.rejudge:rejudge",
        "List judgements whose guidelines, or text of topic or document, have changed since.",
    ),
    "agreement": Announced(
        "pooler.cli.agreement:agreement",
        "Measure how far judges agree: all of them together, and every two of them.",
    ),
    "adjudicate": Announced(
        "pooler.cli.adjudicate:adjudicate",
        "Settle disagreements: documents that two judges or more have decided differently.",
    ),
    "export": Announced(
        "pooler.cli.export:app",
        "Write what evaluators read.",
    ),
    "collapse": Announced(
        "pooler.cli.collapse:collapse",
        "Make graded qrels binary, or several judges' files one: as `export qrels`, from files.",
    ),
    "evaluate": Announced(
        "pooler.cli.evaluate:evaluate",
        "Measure runs. The mean is over the judged topics that have a relevant document.",
    ),
    "estimate": Announced(
        "pooler.cli.estimate:estimate",
        "Estimate the scores of runs from a judged sample: xinfAP, infNDCG, statAP and their like.",
    ),
    "compare": Announced(
        "pooler.cli.compare:compare",
        "Test whether runs differ: t, signed ranks, exact randomisation, bootstrap; Tukey, Holm.",
    ),
    "diff": Announced(
        "pooler.cli.diff:diff",
        "Compare two qrels files: what was added, removed and changed, by grade in A and in B.",
    ),
    "diagnose": Announced(
        "pooler.cli.diagnose:diagnose",
        "Tell what a pool owes to its runs, what it missed, and how far scores can move for it.",
    ),
    "report": Announced(
        "pooler.cli.report:report",
        "Write a page that shows whether the collection can be trusted, and how far.",
    ),
    "sensitivity": Announced(
        "pooler.cli.sensitivity:sensitivity",
        "Flip the unjudged documents at rank N+1 to relevant and see what moves.",
    ),
    "variation": Announced(
        "pooler.cli.variation:variation",
        "Tell how far MAP and the order of runs move when the documents are judged anew.",
    ),
    "next": Announced(
        "pooler.cli.next_:next_",
        "List the documents whose judgement would settle the order of the runs soonest.",
    ),
    "required-difference": Announced(
        "pooler.cli.required_difference:required_difference",
        "Print the difference of two MAPs that a paired t test finds significant.",
    ),
    "ap-properties": Announced(
        "pooler.cli.ap_properties:ap_properties",
        "Print what AP is at least, and on average in random order, for any N and R.",
    ),
    "replay": Announced(
        "pooler.cli.replay:replay",
        "Judge again in the order of each strategy: what it finds, and "
        "how soon the run order stands.",
    ),
    "merge": Announced(
        "pooler.cli.merge:merge",
        "Take in what was done on copies of the collection: by judges elsewhere, "
        "in parts handed out.",
    ),
    "backup": Announced(
        "pooler.cli.backup:backup",
        "Save the whole collection as one file, while judges work.",
    ),
    "restore": Announced(
        "pooler.cli.restore:restore",
        "Make a collection of a backup, where there is none or in place of one.",
    ),
    "copy": Announced(
        "pooler.cli.copy_:copy",
        "Copy a whole collection: from a file to a server, or back.",
    ),
    "verify": Announced(
        "pooler.cli.verify:verify",
        "Check the collection against its own rules, and say what to do about each fault.",
    ),
    "upgrade": Announced(
        "pooler.cli.upgrade:upgrade",
        "Back up a collection and migrate it to this program's schema.",
    ),
}
WORKFLOW = tuple(TABLE)
"""The commands in the order in which they are used."""


class ReaderGone(BaseException):
    """Nobody reads stdout any more. Not a BrokenPipeError, of which typer makes exit code 1."""


class Workflow(LazyGroup):
    """Lists the commands in the order in which they are used."""

    table = TABLE

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Read the options of the program; `help COMMAND` is `COMMAND --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        with usage_told():
            return super().make_context(info_name, args, *rest, **extra)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # typer's Context is click's
        """Run a command."""
        try:
            with usage_told():
                return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGone from error


app = typer.Typer(
    name="pooler",
    cls=Workflow,
    help="From submitted runs to relevance judgements that can be trusted - and how far.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # `[[grade]]` is no markup, and paragraphs fill the line
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: pooler demo",
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the flag
    """Print the version and stop."""
    if wanted:
        from pooler import __version__

        typer.echo(f"pooler {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """From submitted runs to relevance judgements that can be trusted - and how far."""
