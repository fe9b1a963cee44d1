"""Options of the commands that change pools."""

from __future__ import annotations

from typing import Annotated

import typer

ByTopicOption = Annotated[
    bool, typer.Option("--by-topic", "-q", help="With --dry-run: topic by topic, too.")
]
