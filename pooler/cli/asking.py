"""Asking before something that cannot be taken back."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import say, text_stdin
from store.errors import PoolerError

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Go on without asking.")]


def ask(question: str, *, yes: bool) -> None:
    """Ask on stderr, and read the answer from stdin.

    Parameters
    ----------
    question : str
        What is about to be done, as a question.
    yes : bool
        Whether the answer is known already; then nobody is asked.

    Raises
    ------
    PoolerError
        If the answer is anything but yes, or nobody is there to give one.
    """
    if yes:
        return
    say(f"{question} This cannot be taken back. Type yes to go on:")
    answer = text_stdin().readline().strip()
    if answer.lower() != "yes":
        message = "nothing is changed: the answer was not yes"
        raise PoolerError(message, hint="--yes goes on without asking")
