"""`pooler export`: what evaluators, and other programs, read."""

from __future__ import annotations

import typer

from pooler.cli.export_collection import whole_collection
from pooler.cli.export_judgements import judgements
from pooler.cli.export_ntcir import ntcir
from pooler.cli.export_pool import pool
from pooler.cli.export_prels import prels
from pooler.cli.export_probabilities import probabilities
from pooler.cli.export_qrels import qrels
from pooler.cli.export_work import work

app = typer.Typer(help="Write what evaluators read.", no_args_is_help=True)
app.command("qrels")(qrels)
app.command("ntcir")(ntcir)
app.command("prels")(prels)
app.command("probabilities")(probabilities)
app.command("pool")(pool)
app.command("judgements")(judgements)
app.command("collection")(whole_collection)
app.command("work")(work)
